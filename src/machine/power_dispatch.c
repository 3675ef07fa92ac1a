/*
 * power_dispatch.c: a window: who gets how much, and where.
 *
 *	1. Demand: of each virtual processor, a share of the window with a swing and a little chance.
 *	2. Dedicated cores: the partition's own work. What it does not use is its idle time, or, when it donates, free
 *	   for others.
 *	3. Shared, inside the entitlement (capped): the lesser of demand and entitlement; the shared cores have room for
 *	   all entitlements.
 *	4. Shared, beyond (uncapped): what shared cores have left and what is donated, by weight, to those who used all
 *	   of their entitlement and may have more.
 *	5. Places: each virtual processor on its home core as far as there is room, then on the nearest ones that have some.
 *	6. Run cycles, instructions and traffic follow from what ran, and are split over the places it ran on.
 *
 * All of it is sums of ticks: what one gets another has not, to the tick.  No virtual processor gets more than a
 * window and no core gives more than one, so there is always an order of the pieces in which nobody is on two
 * cores at once (the open shop with preemption); which order it is nobody asks.
 */
#include "machine/power_int.h"

#define W POWER_WINDOW
#define DISPATCH_TICKS 40u                    /* of the hypervisor, per dispatch, where the core has them left */

/* A virtual processor ends at most one piece at home and one elsewhere; all others use a core up. */
struct piece { uint32_t core, ticks; };
#define PIECES_MOST (2 * POWER_CORES_MOST + 2 * POWER_CORES_MOST)

struct window {
	struct power *p;
	uint32_t nwant;                       /* of p->want */
	uint64_t capped;                      /* granted to shared partitions inside their entitlements */
	uint16_t at[2][CHIPS_MOST];           /* of each chip the core where there may be room: shared, lent */
	uint32_t npiece;                      /* of the partition at hand */
	struct piece piece[PIECES_MOST];
};

static uint64_t mix(uint64_t v)
{
	v = (v ^ v >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	v = (v ^ v >> 27) * UINT64_C(0x94d049bb133111eb);
	return v ^ v >> 31;
}

/* ---- demand ------------------------------------------------------------------------------------------- */

/* 0..1000 and back over a period; without one always the middle. */
static uint32_t triangle(const struct ppart *q)
{
	uint32_t at = q->period.d > 1 ? (uint32_t)divided(q->phase * UINT64_C(2000), q->period) : 500;

	return at <= 1000 ? at : 2000 - at;
}

static void demand(const struct power *p, struct ppart *q)
{
	int32_t base = q->c.demand + (int32_t)q->c.swing * ((int32_t)triangle(q) - 500) / 500;

	uint64_t chance = mix(p->seed ^ (uint64_t)q->c.id << 48 ^ p->windows);

	q->demand = 0;
	for (uint32_t v = 0; v < q->c.vps; v++) {
		int32_t want = q->c.demand ? base + (int32_t)((chance >> 32) * 41 >> 32) - 20 : 0;

		chance = chance * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
		want = want < 0 ? 0 : want > 1000 ? 1000 : want;
		q->vp[v].want = (uint32_t)want * (W / 1000);
		q->vp[v].got = 0;
		q->demand += q->vp[v].want;
	}
	q->phase = q->phase + 1 < q->period.d ? q->phase + 1 : 0;
	q->grant_capped = q->grant_uncapped = q->ran = 0;
}

/* ---- grants --------------------------------------------------------------------------------------------- */

static uint64_t entitlement(const struct ppart *q)
{
	return (uint64_t)q->c.entitlement * (W / 100);
}

/* The lesser of demand and entitlement. Who uses all of its entitlement and may have more is noted. */
static void claim(struct window *w, struct ppart *q)
{
	const uint64_t most = entitlement(q);

	q->grant_capped = q->demand < most ? q->demand : most;
	w->capped += q->grant_capped;
	if (q->demand > most && !q->c.capped && q->c.weight)
		w->p->want[w->nwant++] = (struct pwant){ q, q->demand - most, q->c.weight };
}

/* By weight; the last few ticks go to the first ones. Each wants more than its share. */
static void split(const struct pwant *want, uint32_t n, uint64_t left, uint64_t weights)
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
				want[kept++] = *w;
				continue;
			}
			w->q->grant_uncapped += w->need;
			left -= w->need;
		}
		if (kept == n) {
			split(want, n, left, weights);
			return;
		}
	}
}

/* What shared cores have beyond the entitlements that are used, and what dedicated ones donate. */
static void grant_more(struct window *w)
{
	uint64_t left = 0;

	for (uint32_t i = 0; i < w->p->ncores; i++)
		left += w->p->core[i].left;
	by_weight(w->p->want, w->nwant, left - w->capped);
}

/* ---- dedicated cores --------------------------------------------------------------------------------------- */

static void ran(struct window *w, struct ppart *q, struct pvp *v, uint32_t core, uint32_t ticks, uint32_t kind)
{
	struct pcore *c = &w->p->core[core];

	c->time += ticks;
	c->dispatches++;
	v->last = (uint16_t)core;
	q->dispatch[kind]++;
	q->ran += ticks;
	assert(w->npiece < PIECES_MOST);
	w->piece[w->npiece++] = (struct piece){ core, ticks };
}

/* Runs on its own cores; the rest of a core is its own idle time, or free for others. */
static void dedicated(struct window *w, struct ppart *q)
{
	for (uint32_t v = 0; v < q->c.vps; v++) {
		struct pvp *vp = &q->vp[v];
		struct pcore *c = &w->p->core[vp->home];
		uint32_t ticks = q->c.donate ? vp->want : W;

		c->left = W - ticks;
		c->state = POWER_DEDICATED;
		vp->got = ticks;
		if (ticks)
			ran(w, q, vp, vp->home, ticks, 0);
		q->grant_capped += ticks;
	}
}

/* ---- places -------------------------------------------------------------------------------------------------- */

static uint32_t distance(const struct power *p, uint32_t home, uint32_t core)
{
	uint16_t a = p->core[home].chip, b = p->core[core].chip;

	if (home == core)
		return 0;
	return a == b ? 2 : p->chip[a].node == p->chip[b].node ? 1 : 3;        /* secondary is the chip, primary the node */
}

static uint32_t put_on(struct window *w, struct ppart *q, struct pvp *v, uint32_t core, uint32_t ticks)
{
	struct pcore *c = &w->p->core[core];
	uint32_t n = ticks < c->left ? ticks : c->left;
	bool lent = c->state != POWER_SHARED;

	c->left -= n;
	v->got += n;
	ran(w, q, v, core, n, lent ? 4 : distance(w->p, v->home, core));
	if (lent) {
		c->state = POWER_BORROWED;
		power_part(w->p, c->owner)->donated += n;
	}
	return n;
}

/* What finds no room on the chip's cores of a kind. */
static uint32_t fill_chip(struct window *w, struct ppart *q, struct pvp *v, uint32_t chip, bool lent, uint32_t ticks)
{
	const uint32_t end = (chip + 1) * w->p->cores_of_chip;
	uint16_t *at = &w->at[lent][chip];

	while (ticks && *at < end) {
		const struct pcore *c = &w->p->core[*at];

		if (c->left && (c->state != POWER_SHARED) == lent)
			ticks -= put_on(w, q, v, *at, ticks);
		else
			++*at;
	}
	return ticks;
}

/* The chip at home, then those of its node, then the other nodes. */
static uint32_t fill_nearest(struct window *w, struct ppart *q, struct pvp *v, bool lent, uint32_t ticks)
{
	const struct power *p = w->p;
	const struct pchip *home = &p->chip[p->core[v->home].chip];
	uint32_t node = home->node;

	for (uint32_t n = 0; ticks && n < p->nodes; n++, node = node + 1 < p->nodes ? node + 1 : 0) {
		uint32_t fabric = home->fabric;

		for (uint32_t i = 0; ticks && i < p->chips; i++, fabric = fabric + 1 < p->chips ? fabric + 1 : 0)
			ticks = fill_chip(w, q, v, node * p->chips + fabric, lent, ticks);
	}
	return ticks;
}

/* Shared cores go first: donated time is only used for what is beyond entitlements. */
static void place(struct window *w, struct ppart *q, struct pvp *v, uint32_t ticks)
{
	const struct pcore *home = &w->p->core[v->home];

	if (ticks && home->state == POWER_SHARED && home->left)
		ticks -= put_on(w, q, v, v->home, ticks);
	if (ticks)
		ticks = fill_nearest(w, q, v, false, ticks);
	if (ticks)
		fill_nearest(w, q, v, true, ticks);
}

/* Spreads a grant over the partition's virtual processors by what each still wants. */
static void spread(struct window *w, struct ppart *q, uint64_t grant)
{
	for (uint32_t v = 0; grant && v < q->c.vps; v++) {
		uint64_t want = q->vp[v].want - q->vp[v].got, n = want < grant ? want : grant;

		place(w, q, &q->vp[v], (uint32_t)n);
		grant -= n;
	}
}

/* ---- what follows ---------------------------------------------------------------------------------------------- */

static void waits(struct ppart *q)
{
	uint64_t short_of = q->demand - q->ran;

	if (q->c.dedicated || !short_of)
		return;
	if (q->c.capped || !q->c.weight) {
		q->wait_entitlement += short_of;
		q->nwait_entitlement++;
	} else {
		q->wait_processor += short_of;
		q->nwait_processor++;
	}
}

/* Shares an amount out over the pieces, by their ticks: to the last one exact, without a division for each. */
struct sharing { uint64_t amount, rate, done; };
#define RATE_BITS 20u                         /* amounts stay below 2^42, ticks of a window below 2^32 */

static struct sharing sharing(uint64_t amount, uint64_t ran, uint32_t pieces)
{
	return (struct sharing){ .amount = amount, .rate = pieces > 1 ? (amount << RATE_BITS) / ran : 0 };
}

/* The next piece's part: `ticks` ran with it and all before it. */
static uint64_t next_part(struct sharing *s, uint64_t ticks, bool last)
{
	uint64_t upto = last ? s->amount : ticks * s->rate >> RATE_BITS, part = upto - s->done;

	s->done = upto;
	return part;
}

/* n/d of an amount, where what is left over counts the next time. */
static uint64_t scaled(uint64_t amount, uint64_t n, struct divisor d, uint64_t *carry)
{
	uint64_t all = amount * n + *carry, whole = divided(all, d);

	*carry = all - whole * d.d;
	return whole;
}

static void traffic(struct power *p, const struct ppart *q, uint16_t chip, uint64_t bytes)
{
	if (q->local) {
		p->traffic[chip][q->c.home] += bytes;
		return;
	}
	if (q->c.spread) {
		p->chip[chip].spread += bytes;
		return;
	}
	for (uint32_t i = 0; i < p->nchips; i++)
		p->traffic[chip][i] += bytes * q->lmbs[i] / q->c.memory_lmbs;
}

/* What ran is run cycles, instructions and traffic, of the partition and of the cores it ran on. */
static void work(struct window *w, struct ppart *q, uint64_t run, uint64_t busy)
{
	struct power *p = w->p;
	uint64_t cycles = p->no_run_counts ? 0 : scaled(run, p->clock_n, p->clock_d, &q->cycle_carry);
	uint64_t instructions = scaled(cycles, q->c.ipc_n, q->ipc_d, &q->instruction_carry), ticks = 0;
	struct sharing c = sharing(cycles, q->ran, w->npiece), i = sharing(instructions, q->ran, w->npiece);
	struct sharing b = sharing(busy * q->c.bytes_per_tick, q->ran, w->npiece);

	q->run_cycles += cycles;
	q->run_instructions += instructions;
	for (uint32_t k = 0; k < w->npiece; k++) {
		struct pcore *core = &p->core[w->piece[k].core];
		bool last = k + 1 == w->npiece;

		ticks += w->piece[k].ticks;
		core->cycles += next_part(&c, ticks, last);
		core->instructions += next_part(&i, ticks, last);
		traffic(p, q, core->chip, next_part(&b, ticks, last));
	}
}

static void account(struct window *w, struct ppart *q)
{
	uint64_t own = q->c.dedicated && !q->c.donate && q->demand < q->ran ? q->ran - q->demand : 0;     /* its idle loop */
	uint64_t idle = own + (q->ran - own) * q->c.snooze / 1000;

	q->entitled += q->c.dedicated ? (uint64_t)q->c.vps * W : entitlement(q);
	q->capped += q->grant_capped;
	q->uncapped += q->grant_uncapped;
	q->idle += q->c.reports_idle ? idle : 0;
	waits(q);
	work(w, q, q->ran - (q->c.reports_idle ? idle : 0), q->ran - idle);
}

static void close_cores(struct power *p)
{
	for (uint32_t i = 0; i < p->ncores; i++) {
		struct pcore *c = &p->core[i];
		uint64_t hv = (uint64_t)c->dispatches * DISPATCH_TICKS;

		c->all_dispatches += c->dispatches;
		if (c->state < POWER_SHARED)
			continue;
		hv = hv < c->left ? hv : c->left;
		c->firmware += hv;
		c->idle += c->left - hv;
		p->hv_dispatching += hv;
	}
}

/* Cores are cleared; dedicated partitions run; shared ones say what they want. */
static void open_window(struct window *w)
{
	struct power *p = w->p;

	for (uint32_t i = 0; i < p->ncores; i++) {
		p->core[i].left = p->core[i].state == POWER_SHARED ? W : 0;
		p->core[i].dispatches = 0;
	}
	for (uint32_t i = 0; i < p->nchips; i++)
		w->at[0][i] = w->at[1][i] = (uint16_t)(i * p->cores_of_chip);
	for (uint32_t i = 0; i < p->nparts; i++) {
		struct ppart *q = &p->part[i];

		demand(p, q);
		if (!q->c.dedicated) {
			claim(w, q);
			continue;
		}
		w->npiece = 0;
		dedicated(w, q);
		account(w, q);
	}
}

/* Partitions are taken in turn, so that it is not always the same ones that run far from home. */
void power_window(struct power *p)
{
	struct window w;
	uint32_t first = p->nparts ? (uint32_t)(p->windows % p->nparts) : 0;

	w.p = p;
	w.capped = 0;
	w.nwant = 0;
	open_window(&w);
	grant_more(&w);
	for (uint32_t i = 0; i < p->nparts; i++) {
		struct ppart *q = &p->part[first + i < p->nparts ? first + i : first + i - p->nparts];

		if (q->c.dedicated)
			continue;
		w.npiece = 0;
		spread(&w, q, q->grant_capped + q->grant_uncapped);
		account(&w, q);
	}
	close_cores(p);
}
