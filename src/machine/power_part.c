/*
 * power_part.c: partitions: admission, and the cores and memory of each.
 *
 * Cores are shared, or belong to one dedicated partition. Entitlements of shared partitions never sum to more than
 * the shared cores, and memory is allocated in blocks, so every admitted partition gets what it was promised. A
 * change is checked whole before any part of it is done. The consumption of deleted partitions is kept in a sum, so
 * that processors and partitions always balance.
 */
#include "machine/power_int.h"

uint32_t power_place(const struct power *p, uint64_t id)
{
	uint32_t low = 0, high = p->nparts;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (p->part[mid].c.id < id)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

struct ppart *power_part(const struct power *p, uint16_t id)
{
	uint32_t i = power_place(p, id);

	return i < p->nparts && p->part[i].c.id == id ? &p->part[i] : NULL;
}

/* ---- admission ---------------------------------------------------------------------------------------- */

static uint32_t shared_cores(const struct power *p)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < p->ncores; i++)
		n += p->core[i].state == POWER_SHARED;
	return n;
}

/* Hundredths of shared cores that are promised, but for partition `but`. */
static uint64_t part_promised_units(const struct power *p, uint16_t but)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < p->nparts; i++)
		if (!p->part[i].c.dedicated && p->part[i].c.id != but)
			sum += p->part[i].c.entitlement;
	return sum;
}

static int cores_fit(const struct power *p, const struct power_partition *q, struct err *e)
{
	uint32_t shared = shared_cores(p);
	uint64_t taken = part_promised_units(p, q->id);

	if (q->dedicated) {
		if (q->vps > shared || taken > (uint64_t)(shared - q->vps) * 100)
			return err_set(e, TALLY_EBUSY,
				       "partition %u requires %u dedicated cores: "
				       "%u are shared, and %u.%02u of them are entitled to others",
				       q->id, q->vps, shared, (uint32_t)(taken / 100), (uint32_t)(taken % 100));
	} else if (taken + q->entitlement > (uint64_t)shared * 100) {
		return err_set(e, TALLY_EBUSY,
			       "partition %u requires %u.%02u cores: of %u shared ones %u.%02u are entitled to others",
			       q->id, q->entitlement / 100, q->entitlement % 100, shared, (uint32_t)(taken / 100),
			       (uint32_t)(taken % 100));
	}
	return 0;
}

static int memory_fits(const struct power *p, const struct power_partition *q, uint64_t has, struct err *e)
{
	uint64_t left = has;

	for (uint32_t i = 0; i < p->nchips; i++)
		left += p->chip[i].free_lmbs;
	if (q->memory_lmbs > left)
		return err_set(e, TALLY_EBUSY, "partition %u requires %u blocks of memory: %llu are free", q->id,
			       q->memory_lmbs, (unsigned long long)left);
	return 0;
}

static int is_valid(const struct power *p, const struct power_partition *q, struct err *e)
{
	const char *what = !q->id || q->id == NOBODY            ? "its id: 1 to 65534" :
			   !q->vps || q->vps > POWER_CORES_MOST ? "vps: 1 to 480" :
			   !q->dedicated && !q->entitlement     ? "entitlement: it has none" :
			   !q->dedicated && q->entitlement > q->vps * 100u ?
							      "entitlement: more than its virtual processors" :
			   q->home >= p->nchips   ? "home: there is no such chip" :
			   !q->memory_lmbs        ? "memory: it has none" :
			   !q->ipc_d || !q->ipc_n ? "ipc: a fraction above 0" :
			   q->demand > 1000 || q->swing > 1000 || q->snooze > 1000 || q->writes > 1000 ?
						    "demand, swing, snooze, writes: 0 to 1000" :
						    NULL;

	return what ? err_set(e, TALLY_EINVAL, "partition %u: %s", q->id, what) : 0;
}

/* ---- cores ------------------------------------------------------------------------------------------------ */

static void take_core(struct power *p, struct ppart *q, uint32_t core, uint32_t logical)
{
	struct pcore *c = &p->core[core];

	c->state = POWER_DEDICATED;
	c->owner = q->c.id;
	c->logical = (uint16_t)logical;
	q->vp[logical].home = (uint16_t)core;
}

/* 0: its home chip, 1: the same node, 2: elsewhere. */
static uint32_t part_remoteness(const struct power *p, uint16_t home, uint16_t chip)
{
	return chip == home ? 0 : p->chip[chip].node == p->chip[home].node ? 1 : 2;
}

/* A dedicated partition takes shared cores, the nearest ones first; a spread one takes them from all chips in turn. */
static void take_cores(struct power *p, struct ppart *q)
{
	uint32_t got = 0, passes = q->c.spread ? 1 : 3;

	for (uint32_t pass = 0; pass < passes; pass++)
		for (uint32_t i = 0; i < p->ncores && got < q->c.vps; i++) {
			uint32_t core = q->c.spread ? i % p->nchips * p->cores_of_chip + i / p->nchips : i;
			const struct pcore *c = &p->core[core];

			if (c->state == POWER_SHARED && (q->c.spread || part_remoteness(p, q->c.home, c->chip) == pass))
				take_core(p, q, core, got++);
		}
}

/* The shared core that comes first from `at` on, in a ring over n cores; NOBODY. */
static uint16_t shared_from(const struct power *p, uint32_t first, uint32_t n, uint32_t at)
{
	for (uint32_t i = 0; i < n; i++) {
		uint32_t core = first + (at + i) % n;

		if (p->core[core].state == POWER_SHARED)
			return (uint16_t)core;
	}
	return NOBODY;
}

/* A virtual processor of a shared partition is at home on its chip, one core after the other, if that has shared
 * cores. */
static void part_settle_vp(const struct power *p, struct ppart *q, uint32_t v)
{
	uint32_t chip = q->c.spread ? (q->c.id + v) % p->nchips : q->c.home, n = p->cores_of_chip;
	uint16_t core = shared_from(p, chip * n, n, (q->c.id + v) % n);

	if (core == NOBODY)
		core = shared_from(p, 0, p->ncores, chip * n);
	q->vp[v].home = core == NOBODY ? (uint16_t)(chip * n) : core;
}

/* After a dedicated partition took cores: who was at home there moves. */
static void settle_anew(struct power *p)
{
	for (uint32_t i = 0; i < p->nparts; i++) {
		struct ppart *q = &p->part[i];

		for (uint32_t v = 0; !q->c.dedicated && v < q->c.vps; v++)
			if (p->core[q->vp[v].home].state != POWER_SHARED)
				part_settle_vp(p, q, v);
	}
}

/* ---- memory ------------------------------------------------------------------------------------------------- */

/* Of n blocks those of controller 0: addresses alternate, from the controller with more free blocks on; one that has
 * too few gives all it has. */
static uint32_t part_even_blocks(const struct pchip *c, uint64_t room, uint32_t n)
{
	uint64_t odd = room - c->free_even, even = n / 2 + (n % 2 && c->free_even >= odd);

	even = even > c->free_even ? c->free_even : even;
	return (uint32_t)(n - even > odd ? n - odd : even);
}

static uint32_t take_blocks(struct power *p, struct ppart *q, uint32_t chip, uint32_t want)
{
	uint64_t room = p->chip[chip].free_lmbs;
	uint32_t n = want < room ? want : (uint32_t)room, even;

	p->chip[chip].free_lmbs -= n;
	q->memory->lmbs[chip] += n;
	even = part_even_blocks(&p->chip[chip], room, n);
	p->chip[chip].free_even -= even;
	q->memory->even[chip] += even;
	return n;
}

/* Evenly, or on its home chip; what finds no room there goes to the nearest chips that have. memory_fits() was
 * asked. */
static void take_memory(struct power *p, struct ppart *q)
{
	uint32_t want = q->c.memory_lmbs, left = want;

	for (uint32_t i = 0; q->c.spread && i < p->nchips; i++)
		left -= take_blocks(p, q, i, want / p->nchips + (i < want % p->nchips));
	left -= take_blocks(p, q, q->c.home, left);
	for (uint32_t pass = 1; left && pass < 3; pass++)
		for (uint32_t i = 0; i < p->nchips; i++)
			left -= part_remoteness(p, q->c.home, (uint16_t)i) == pass ? take_blocks(p, q, i, left) : 0;
	power_reach(p, q);
}

static void give_memory_back(struct power *p, struct ppart *q)
{
	struct pmemory *m = q->memory;

	for (uint32_t i = 0; i < p->nchips; i++) {
		p->chip[i].free_lmbs += m->lmbs[i];
		p->chip[i].free_even += m->even[i];
	}
	*m = (struct pmemory){ 0 };
}

/* ---- come, go, change ------------------------------------------------------------------------------------------ */

static int part_admit(const struct power *p, const struct power_partition *q, struct err *e)
{
	uint32_t at = power_place(p, q->id);
	int rc = is_valid(p, q, e);

	if (rc == 0 && at < p->nparts && p->part[at].c.id == q->id)
		rc = err_set(e, TALLY_EINVAL, "partition %u: it exists already", q->id);
	if (rc == 0 && p->nparts == POWER_PARTITIONS_MOST)
		rc = err_set(e, TALLY_EBUSY, "partition %u: %u partitions is the maximum", q->id, p->nparts);
	if (rc == 0)
		rc = cores_fit(p, q, e);
	return rc ? rc : memory_fits(p, q, 0, e);
}

/* n more virtual processors.  Those of all partitions stand in one row, without what is not used any more. */
static struct pvp *vps_take(struct power *p, uint32_t n, struct err *e)
{
	uint32_t all = n, at = 0;
	struct pvp *vp;

	for (uint32_t i = 0; i < p->nparts; i++)
		all += p->part[i].c.vps;
	vp = mem_alloc(all * sizeof(*vp));
	if (!vp) {
		err_oom(e);
		return NULL;
	}
	for (uint32_t i = 0; i < p->nparts; i++) {
		struct ppart *q = &p->part[i];

		memcpy(vp + at, q->vp, q->c.vps * sizeof(*vp));
		q->vp = vp + at;
		at += q->c.vps;
	}
	for (uint32_t v = at; v < all; v++)
		vp[v].last = NOBODY;
	mem_free(p->vp);
	p->vp = vp;
	return vp + at;
}

/* Room for the pieces and flows of a window, when partition q's virtual processors are so many. */
static int make_pieces(struct power *p, const struct power_partition *q, struct err *e)
{
	uint32_t n = p->ncores + q->vps;
	struct piece *piece;
	struct pflow *flow;

	for (uint32_t i = 0; i < p->nparts; i++)
		n += p->part[i].c.id == q->id ? 0 : p->part[i].c.vps;
	if (2 * n <= p->cappiece)
		return 0;
	piece = mem_alloc(4 * n * sizeof(*piece));
	flow = piece ? mem_alloc(4 * n * sizeof(*flow)) : NULL;
	if (!flow) {
		mem_free(piece);
		return err_oom(e);
	}
	mem_free(p->piece); /* between windows nothing is in them */
	mem_free(p->flow);
	p->piece = piece;
	p->flow = flow;
	p->cappiece = 4 * n;
	return 0;
}

static void work_as(const struct power *p, struct ppart *q, const struct power_partition *c)
{
	q->c = *c;
	q->period = c->period ? c->period : 1;
	q->slope = (UINT64_C(2000) << SLOPE_BITS) / q->period + 1;
	q->written = c->writes * ONE / 1000;
	q->phase = (uint32_t)(p->windows % q->period);
	if (q->ipc_d.d != c->ipc_d)
		q->instruction_carry = 0; /* it is a part of d */
	q->ipc_d = divisor(c->ipc_d);
}

int power_create(struct power *p, const struct power_partition *c, struct err *e)
{
	struct ppart q = { .since = p->now, .order = p->orders };
	uint32_t at = power_place(p, c->id);
	int rc = part_admit(p, c, e);

	if (rc == 0)
		rc = make_pieces(p, c, e);
	if (rc < 0)
		return rc;
	q.vp = vps_take(p, c->vps, e);
	q.memory = q.vp ? mem_alloc(sizeof(*q.memory)) : NULL;
	if (!q.memory || !VEC_NEW(p->part, p->nparts, p->capparts)) {
		mem_free(q.memory);
		return err_oom(e);
	}
	work_as(p, &q, c);
	take_memory(p, &q);
	if (c->dedicated)
		take_cores(p, &q);
	for (uint32_t v = 0; !c->dedicated && v < c->vps; v++)
		part_settle_vp(p, &q, v);
	memmove(&p->part[at + 1], &p->part[at], (p->nparts - 1 - at) * sizeof(*p->part));
	p->part[at] = q;
	p->orders++;
	if (c->dedicated)
		settle_anew(p);
	return 0;
}

static void part_retire(struct power_retired *r, const struct ppart *q)
{
	r->capped += q->capped;
	r->uncapped += q->uncapped;
	r->donated += q->donated;
	r->run_cycles += q->run_cycles;
	r->run_instructions += q->run_instructions;
	for (uint32_t i = 0; i < COUNT(q->dispatch); i++)
		r->dispatches += q->dispatch[i];
}

int power_delete(struct power *p, uint16_t id, struct err *e)
{
	struct ppart *q = power_part(p, id);
	size_t at;

	if (!q)
		return err_set(e, TALLY_EINVAL, "partition %u: no such partition", id);
	part_retire(&p->retired, q);
	if (q->c.dedicated)
		for (uint32_t i = 0; i < p->ncores; i++)
			if (p->core[i].owner == id) {
				p->core[i].state = POWER_SHARED;
				p->core[i].owner = NOBODY;
				p->core[i].logical = NOBODY;
			}
	give_memory_back(p, q);
	mem_free(q->memory);
	at = (size_t)(q - p->part);
	memmove(q, q + 1, (p->nparts - at - 1) * sizeof(*q));
	p->nparts--;
	return 0;
}

static int may_resize(const struct power *p, const struct ppart *q, const struct power_partition *c, struct err *e)
{
	int rc = is_valid(p, c, e);

	if (rc == 0 && c->dedicated != q->c.dedicated)
		rc = err_set(e, TALLY_EINVAL, "partition %u: type: it cannot change while the partition runs", c->id);
	if (rc == 0 && c->dedicated && c->vps != q->c.vps)
		rc = err_set(e, TALLY_EINVAL, "partition %u: vps: a dedicated partition keeps its %u cores", c->id,
			     q->c.vps);
	if (rc == 0 && !c->dedicated)
		rc = cores_fit(p, c, e);
	return rc ? rc : memory_fits(p, c, q->c.memory_lmbs, e);
}

int power_resize(struct power *p, const struct power_partition *c, struct err *e)
{
	struct ppart *q = power_part(p, c->id);
	struct pvp *vp = NULL;
	uint16_t had;
	int rc = q ? may_resize(p, q, c, e) : err_set(e, TALLY_EINVAL, "partition %u: no such partition", c->id);

	if (rc == 0)
		rc = make_pieces(p, c, e);
	if (rc < 0)
		return rc;
	if (!c->dedicated) {
		vp = vps_take(p, c->vps, e);
		if (!vp)
			return -TALLY_ENOMEM;
	}
	had = q->c.vps;
	give_memory_back(p, q);
	work_as(p, q, c);
	take_memory(p, q);
	if (vp) {
		/* Virtual processors that stay know where they ran. */
		for (uint32_t v = 0; v < had && v < q->c.vps; v++)
			vp[v].last = q->vp[v].last;
		q->vp = vp;
		for (uint32_t v = 0; v < q->c.vps; v++)
			part_settle_vp(p, q, v);
	}
	return 0;
}

uint32_t power_partitions(const struct power *p, const struct power_partition **ret)
{
	struct power *w = (struct power *)p;
	struct power_partition *view = mem_alloc((p->nparts + 1) * sizeof(*view));

	if (!view)
		return 0;
	for (uint32_t i = 0; i < p->nparts; i++)
		view[i] = p->part[i].c;
	mem_free(w->view);
	w->view = view;
	*ret = view;
	return p->nparts;
}
