/*
 * power_dispatch.c: a dispatch window: how much time each partition gets, and where.
 *
 *	1. Demand: of each virtual processor, a share of the window with a swing and a small random part.
 *	2. Dedicated cores: the partition's own work. The rest is its idle time, or, if it donates, free
 *	   for others.
 *	3. Shared, inside the entitlement (capped): the lesser of demand and entitlement; the shared cores have room for
 *	   all entitlements.
 *	4. Shared, beyond (uncapped): the rest of shared cores and donated time, by weight, to partitions that used all
 *	   of their entitlement and may have more.
 *	5. A partition's virtual processors take turns: each gets what it wants as long as the partition's grant lasts,
 *	   and each window begins with another one. A virtual processor waits for the time that it wants and
 *	   does not get.
 *	6. Places: each virtual processor on its home core as far as there is room, then on the nearest cores with room.
 *	7. Run cycles, instructions and traffic follow from the time that ran (power_memory.c).
 *
 * The hypervisor's own work takes time of the cores on which it is done: for each dispatch; for the timer that wakes
 * a virtual processor that gave up its core; for each partition that runs beyond its entitlement; and in each window
 * with a collection cycle. Enough is reserved for all of it before time is granted; a rest of a core's time that is
 * shorter than a dispatch is idle. A partition that keeps its dedicated cores is dispatched once, and needs none of
 * it.
 *
 * All amounts are sums of ticks: time that one partition gets is taken from the others, to the tick. No virtual
 * processor gets more than a window and no core gives more than one, so there is always an order of the pieces in
 * which no virtual processor is on two cores at once (the open shop with preemption); the order itself is not
 * computed.
 */
#include "machine/power_int.h"

#define W POWER_WINDOW
/* Of the hypervisor: half a microsecond to dispatch; the others are shorter. A piece costs at most the first three. */
#define DISPATCH_TICKS 256u
#define TIMER_TICKS 64u
#define OVER_TICKS 128u
#define PIECE_TICKS (DISPATCH_TICKS + TIMER_TICKS + OVER_TICKS)
#define MANAGE_TICKS 512u /* of each core that it dispatches on, in a window with a collection cycle */

struct window {
	struct power *p;
	uint32_t nwant;          /* of p->want */
	uint64_t capped;         /* granted to shared partitions inside their entitlements */
	uint64_t lent;           /* ticks that donating partitions leave */
	uint32_t nshared, nlent; /* cores with room: shared; of donating partitions */
	uint32_t most;           /* ticks that a virtual processor can run: the window but for its dispatch */
	uint32_t manage;         /* ticks of a collection cycle, on each core that the hypervisor dispatches on */
	uint32_t timers, over, managed, kept; /* times of the hypervisor's work; pieces that nobody dispatched */
	uint32_t runners;                     /* virtual processors of shared partitions that want to run */
	uint32_t due;                         /* ticks of its work that the next dispatch does, too */
	uint32_t full[2];                     /* bit: that chip has no such room */
	uint16_t at[2][CHIPS_MOST];           /* of each chip the core where there may be room: shared, lent */
};

static uint64_t dispatch_mix_bits(uint64_t v)
{
	v = (v ^ v >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	v = (v ^ v >> 27) * UINT64_C(0x94d049bb133111eb);
	return v ^ v >> 31;
}

/* ---- demand ------------------------------------------------------------------------------------------- */

/* 0..1000 and back over a period; without one always the middle. */
static uint32_t dispatch_triangle(const struct ppart *q)
{
	uint32_t at = q->period > 1 ? (uint32_t)(q->phase * q->slope >> SLOPE_BITS) : 500;

	return at < 2000 - at ? at : 2000 - at;
}

/* Nobody can run longer than `most`, which is less than a thousandth below the window. */
static void dispatch_demand(const struct power *p, struct ppart *q, uint32_t most)
{
	const int32_t base = q->c.demand + (int32_t)q->c.swing * ((int32_t)dispatch_triangle(q) - 500) / 500;
	const int32_t low = q->c.demand ? base - 20 : -41;
	uint64_t chance = dispatch_mix_bits(p->seed ^ (uint64_t)q->c.id << 48 ^ p->windows), sum = 0;
	uint32_t wanting = 0;

	for (struct pvp *v = q->vp, *end = v + q->c.vps; v < end; v++) {
		const int32_t want = low + (int32_t)((chance >> 32) * 41 >> 32);

		chance = chance * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
		v->want = want <= 0 ? 0 : want >= 1000 ? most : (uint32_t)want * (W / 1000);
		sum += v->want;
		wanting += want > 0;
	}
	q->demand = sum;
	q->wanting = wanting;
	q->phase = q->phase + 1 < q->period ? q->phase + 1 : 0;
	q->grant_capped = q->grant_uncapped = q->ran = 0;
	q->npiece = q->nflow = 0;
}

/* ---- grants --------------------------------------------------------------------------------------------- */

static uint64_t dispatch_entitlement(const struct ppart *q)
{
	return (uint64_t)q->c.entitlement * (W / 100);
}

/* The lesser of demand and entitlement. Who uses all of its entitlement and may have more is noted. */
static void dispatch_claim(struct window *w, struct ppart *q)
{
	const uint64_t most = dispatch_entitlement(q);

	q->grant_capped = q->demand < most ? q->demand : most;
	w->capped += q->grant_capped;
	w->runners += q->wanting;
	if (q->demand > most && !q->c.capped && q->c.weight)
		w->p->want[w->nwant++] = (struct pwant){ q, q->demand - most, q->c.weight };
}

/* By weight; the last few ticks go to the first ones. Each wants more than its share. */
static void dispatch_split_ticks(const struct pwant *want, uint32_t n, uint64_t left, uint64_t weights)
{
	const struct divisor by = divisor(weights);
	uint64_t given = 0;

	for (uint32_t i = 0; i < n; i++) {
		uint64_t share = divided(left * want[i].weight, by);

		want[i].q->grant_uncapped += share;
		given += share;
	}
	for (uint32_t i = 0; given < left; i++, given++)
		want[i].q->grant_uncapped++;
}

/* Hands `left` ticks out: who wants no more than its share by weight gets that, and the others share the rest anew. */
static void by_weight(struct pwant *want, uint32_t n, uint64_t left)
{
	uint32_t kept;

	for (; n && left; n = kept) {
		uint64_t weights = 0, round = left;

		for (uint32_t i = 0; i < n; i++)
			weights += want[i].weight;
		kept = 0;
		for (uint32_t i = 0; i < n; i++) {
			const struct pwant *w = &want[i];

			if (w->need * weights > round * w->weight) {
				if (kept != i)
					want[kept] = *w;
				kept++;
				continue;
			}
			w->q->grant_uncapped += w->need;
			left -= w->need;
		}
		if (kept == n) {
			dispatch_split_ticks(want, n, left, weights);
			return;
		}
	}
}

/* Where entitlements are all of the shared cores, the hypervisor's time is taken from each in proportion. */
static void claims_cut(struct window *w, uint64_t most)
{
	struct power *p = w->p;

	for (uint32_t i = 0; i < p->nparts; i++)
		if (!p->part[i].c.dedicated)
			p->part[i].grant_capped =
				(uint64_t)((unsigned __int128)p->part[i].grant_capped * most / w->capped);
	w->capped = most;
	w->nwant = 0;
}

/* What shared cores have beyond the entitlements that are used, and what dedicated ones donate. */
static void grant_more(struct window *w)
{
	const uint64_t shared = (uint64_t)w->nshared * (W - w->manage);
	/* Pieces, and cores' ends that are too short for one. */
	const uint64_t back = (w->runners + 2 * (uint64_t)(w->nshared + w->nlent)) * PIECE_TICKS;

	if (w->capped && w->capped + back > shared)
		claims_cut(w, shared > back ? shared - back : 0);
	else if (shared + w->lent > w->capped + back)
		by_weight(w->p->want, w->nwant, shared + w->lent - w->capped - back);
}

/* ---- pieces ------------------------------------------------------------------------------------------------ */

/* Of a dispatch, as 0x20 counts them: where from the home core. */
enum { AT_HOME, ON_NODE, ON_CHIP, ELSEWHERE, ON_LENT };

static inline void piece_add(struct power *p, struct pvp *v, uint32_t core, uint32_t ticks)
{
	p->core[core].time += ticks;
	v->last = (uint16_t)core;
	assert(p->npiece < p->cappiece);
	p->piece[p->npiece++] = (struct piece){ core, ticks };
}

static inline void dispatch_count(struct ppart *q, struct pcore *c, uint32_t where)
{
	c->dispatches++;
	q->dispatch[where]++;
}

/* As much as the core has left, which is more than a dispatch costs. */
static inline uint32_t put_on(struct window *w, struct ppart *q, struct pvp *v, uint32_t core, uint32_t ticks,
			      uint32_t where)
{
	struct pcore *c = &w->p->core[core];

	c->left -= DISPATCH_TICKS + w->due;
	w->due = 0;
	ticks = ticks < c->left ? ticks : c->left;
	c->left -= ticks;
	dispatch_count(q, c, where);
	piece_add(w->p, v, core, ticks);
	return ticks;
}

static inline void due_timer(struct window *w, const struct pvp *v)
{
	const uint32_t timer = v->want < w->most;

	w->due += timer * TIMER_TICKS;
	w->timers += timer;
}

static void pieces_begin(const struct power *p, struct ppart *q)
{
	q->first = p->npiece;
}

static void pieces_end(const struct power *p, struct ppart *q)
{
	q->npiece = p->npiece - q->first;
}

/* ---- dedicated cores --------------------------------------------------------------------------------------- */

/* It keeps its cores: the rest is its own idle time. */
static void dedicated_keeps(struct window *w, struct ppart *q)
{
	for (uint32_t v = 0; v < q->c.vps; v++) {
		struct pvp *vp = &q->vp[v];
		struct pcore *c = &w->p->core[vp->home];

		c->state = POWER_DEDICATED;
		c->left = 0;
		if (vp->last == NOBODY)
			dispatch_count(q, c, AT_HOME);
		piece_add(w->p, vp, vp->home, W);
		q->ran += W;
		w->kept++;
	}
}

/* It runs on its own cores; the rest of a core is free for others. */
static void dedicated_donates(struct window *w, struct ppart *q)
{
	for (uint32_t v = 0; v < q->c.vps; v++) {
		struct pvp *vp = &q->vp[v];
		struct pcore *c = &w->p->core[vp->home];

		c->state = POWER_DEDICATED;
		c->left = W - w->manage;
		c->lender = (uint16_t)(q - w->p->part);
		w->managed++;
		if (vp->want) {
			due_timer(w, vp);
			q->ran += put_on(w, q, vp, vp->home, vp->want, AT_HOME);
		}
		w->lent += c->left;
		w->nlent += c->left != 0;
	}
}

static void dedicated_run(struct window *w, struct ppart *q)
{
	pieces_begin(w->p, q);
	if (q->c.donate)
		dedicated_donates(w, q);
	else
		dedicated_keeps(w, q);
	pieces_end(w->p, q);
	q->grant_capped = q->ran;
}

/* ---- places -------------------------------------------------------------------------------------------------- */

/* What finds no room on the chip's cores of a kind. */
static uint32_t fill_chip(struct window *w, struct ppart *q, struct pvp *v, uint32_t chip, uint32_t where,
			  uint32_t ticks)
{
	const uint32_t end = (chip + 1) * w->p->cores_of_chip;
	const bool lent = where == ON_LENT;
	uint16_t *at = &w->at[lent][chip];

	while (ticks && *at < end) {
		struct pcore *c = &w->p->core[*at];

		if (c->left > PIECE_TICKS && (c->state != POWER_SHARED) == lent) {
			uint32_t n = put_on(w, q, v, *at, ticks, where);

			ticks -= n;
			if (lent) {
				c->state = POWER_BORROWED;
				w->p->part[c->lender].donated += n;
			}
		} else if (++*at == end) {
			w->full[lent] |= 1u << chip;
		}
	}
	return ticks;
}

/* Of some chips with room, by bit from a node's first on: the first from `at` on, in a ring. */
static uint32_t chip_next(uint32_t room, uint32_t at)
{
	const uint32_t behind = room & ~0u << at;

	return (uint32_t)__builtin_ctz(behind ? behind : room);
}

/* The chip at home, then those of its node, then the other nodes. */
static uint32_t fill_nearest(struct window *w, struct ppart *q, struct pvp *v, bool lent, uint32_t ticks)
{
	const struct power *p = w->p;
	const uint32_t at = p->core[v->home].chip, chips = (1u << p->chips) - 1;
	const struct pchip *home = &p->chip[at];
	uint32_t node = home->node;

	for (uint32_t n = 0; ticks && n < p->nodes; n++, node = node + 1 < p->nodes ? node + 1 : 0) {
		uint32_t first = node * p->chips, room;

		while (ticks && (room = ~w->full[lent] >> first & chips) != 0) {
			uint32_t chip = first + chip_next(room, home->fabric);
			uint32_t where = lent ? ON_LENT : chip == at ? ON_CHIP : n ? ELSEWHERE : ON_NODE;

			ticks = fill_chip(w, q, v, chip, where, ticks);
		}
	}
	return ticks;
}

/* Shared cores go first: donated time is only used for what is beyond entitlements.  What finds no room. */
static uint32_t dispatch_place_vp(struct window *w, struct ppart *q, struct pvp *v, uint32_t ticks)
{
	const struct pcore *home = &w->p->core[v->home];

	if (home->left > PIECE_TICKS && home->state == POWER_SHARED)
		ticks -= put_on(w, q, v, v->home, ticks, AT_HOME);
	if (ticks)
		ticks = fill_nearest(w, q, v, false, ticks);
	if (ticks)
		ticks = fill_nearest(w, q, v, true, ticks);
	return ticks;
}

/* Each virtual processor that got less than it wanted has waited: at most for the window, and once in it. */
static void waits_count(struct ppart *q, uint32_t served)
{
	uint64_t ticks = q->demand - q->ran, times = q->wanting - served;

	if ((q->c.capped || !q->c.weight) && q->grant_capped == dispatch_entitlement(q)) {
		q->wait_entitlement += ticks;
		q->nwait_entitlement += times;
	} else {
		q->wait_processor += ticks;
		q->nwait_processor += times;
	}
}

/* Each virtual processor gets what it wants as long as the grant lasts; another one begins in each window. */
static void dispatch_spread_vps(struct window *w, struct ppart *q)
{
	uint64_t grant = q->grant_capped + q->grant_uncapped, ran = grant;
	uint32_t at = q->turn < q->c.vps ? q->turn : 0, served = 0;

	q->turn = (uint16_t)(at + 1);
	pieces_begin(w->p, q);
	/* What the hypervisor does for a partition and for a virtual processor in a window is done at the first
	 * dispatch. */
	if (q->grant_uncapped) {
		w->due += OVER_TICKS;
		w->over++;
	}
	while (grant) { /* it is no more than all want */
		struct pvp *vp = &q->vp[at];
		uint32_t n = vp->want < grant ? vp->want : (uint32_t)grant;

		at = at + 1 < q->c.vps ? at + 1 : 0;
		if (!n)
			continue;
		due_timer(w, vp);
		ran -= dispatch_place_vp(w, q, vp, n);
		served += n == vp->want;
		grant -= n;
	}
	pieces_end(w->p, q);
	q->ran = ran;
	waits_count(q, served);
}

/* ---- what follows ---------------------------------------------------------------------------------------------- */

static void dispatch_account(struct ppart *q)
{
	uint64_t own =
		q->c.dedicated && !q->c.donate && q->demand < q->ran ? q->ran - q->demand : 0; /* its idle loop */
	uint64_t idle = own + (q->ran - own) * q->c.snooze / 1000, told = q->c.reports_idle ? idle : 0;

	q->entitled += q->c.dedicated ? (uint64_t)q->c.vps * W : dispatch_entitlement(q);
	q->capped += q->grant_capped;
	q->uncapped += q->grant_uncapped;
	q->idle += told;
	q->run = q->ran - told;
	q->busy = q->ran - idle;
}

static void close_window(const struct window *w)
{
	struct power *p = w->p;

	for (uint32_t i = 0; i < p->ncores; i++)
		p->core[i].idle += p->core[i].left;
	p->hypervisor[HYPERVISOR_DISPATCH] += (uint64_t)(p->npiece - w->kept) * DISPATCH_TICKS;
	p->hypervisor[HYPERVISOR_TIMERS] += (uint64_t)w->timers * TIMER_TICKS;
	p->hypervisor[HYPERVISOR_OVER] += (uint64_t)w->over * OVER_TICKS;
	p->hypervisor[HYPERVISOR_MANAGE] += (uint64_t)w->managed * w->manage;
}

/* Cores are cleared; dedicated partitions run; shared ones say what they want. */
static void open_window(struct window *w)
{
	struct power *p = w->p;

	w->manage = (p->windows + 1) % p->collection ? 0 : MANAGE_TICKS;
	w->most = W - w->manage - PIECE_TICKS;
	p->npiece = p->nflow = 0;
	for (uint32_t i = 0; i < p->ncores; i++) {
		struct pcore *c = &p->core[i];
		bool shared = c->state == POWER_SHARED;

		c->left = shared ? W - w->manage : 0;
		w->nshared += shared;
	}
	w->managed = w->nshared;
	for (uint32_t i = 0; i < p->nchips; i++)
		w->at[0][i] = w->at[1][i] = (uint16_t)(i * p->cores_of_chip);
	for (uint32_t i = 0; i < p->nparts; i++) {
		struct ppart *q = &p->part[i];

		dispatch_demand(p, q, q->c.dedicated && !q->c.donate ? W : w->most);
		if (!q->c.dedicated)
			dispatch_claim(w, q);
		else
			dedicated_run(w, q);
	}
}

/* Partitions are taken in turn, so that it is not always the same ones that run far from home. */
void power_window(struct power *p)
{
	struct window w = { .p = p };
	uint32_t first = p->nparts ? (uint32_t)(p->windows % p->nparts) : 0;

	open_window(&w);
	grant_more(&w);
	for (uint32_t i = 0; i < p->nparts; i++) {
		struct ppart *q = &p->part[first + i < p->nparts ? first + i : first + i - p->nparts];

		if (!q->c.dedicated && q->demand)
			dispatch_spread_vps(&w, q);
		dispatch_account(q);
		power_work(p, q);
	}
	power_memory(p);
	close_window(&w);
}
