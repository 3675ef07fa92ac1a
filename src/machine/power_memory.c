/*
 * power_memory.c: the memory traffic of a window, limited by links and controllers.
 *
 * A partition moves bytes for each tick of work, to the chips that hold its memory. A byte for another chip goes over
 * cables: between nodes A to C to the chip of the same number, then W to Z inside that node. Each cable and each
 * memory controller has a capacity for a window.
 *
 *	1. Demand: what all partitions would move and complete without limits.
 *	2. If that exceeds the capacity of a cable or a controller, its pace is the capacity divided by the demand.
 *	3. A program accesses all of its memory evenly, so its pace on a chip is that of the slowest path from
 *	there to any
 *	   of its memory. It completes fewer instructions in the same cycles, and moves fewer bytes: its CPI rises.
 *
 * So bytes on cables, bytes at controllers and instructions come from one count, and no cable or controller ever
 * carries more than its capacity. Waiting below saturation is not modelled.
 */
#include "machine/power_int.h"

#define CYCLES ((uint64_t)POWER_WINDOW * LINK_CLOCK)
/* Shares and paces are cut off below: so many bytes of a window may go astray, and are never asked for. */
#define ROUNDING 4096u
#define LINK_MOST (CYCLES * LINK_BYTES - ROUNDING)
#define CONTROLLER_MOST (CYCLES * CONTROLLER_BYTES - ROUNDING)

static uint64_t share_of(uint64_t bytes, uint32_t share)
{
	return bytes * share / ONE;
}

void power_reach(const struct power *p, struct ppart *q)
{
	struct pmemory *m = q->memory;
	uint32_t left = ONE;

	q->nreach = 0;
	for (uint32_t i = 0; i < p->nchips; i++)
		if (m->lmbs[i])
			m->reach[q->nreach++] = (struct preach){
				.chip = (uint16_t)i,
				.share = (uint32_t)((uint64_t)m->lmbs[i] * ONE / q->c.memory_lmbs),
				.even = (uint32_t)((uint64_t)m->even[i] * ONE / m->lmbs[i]),
			};
	for (uint32_t i = 0; i < q->nreach; i++)
		left -= m->reach[i].share;
	if (q->nreach)
		m->reach[q->nreach - 1].share += left;
	q->near = m->reach[0];
}

/* ---- flows ---------------------------------------------------------------------------------------------- */

static inline void flow_one(struct power *p, const struct ppart *q, const struct preach *to, uint32_t from,
			    uint64_t bytes)
{
	struct pcontroller *mc = p->chip[to->chip].mc;
	uint64_t even = share_of(bytes, to->even), written = share_of(bytes, q->written),
		 written_even = share_of(written, to->even);

	p->traffic[from][to->chip] += bytes;
	mc[0].need += even;
	mc[1].need += bytes - even;
	mc[0].written += written_even;
	mc[1].written += written - written_even;
}

/* The bytes from chip `from`, at its cables and at the controllers. */
static void flow_add(struct power *p, const struct ppart *q, uint32_t from, uint64_t bytes)
{
	if (q->nreach == 1) {
		flow_one(p, q, &q->near, from, bytes);
		return;
	}
	for (uint32_t i = 0; i < q->nreach; i++) {
		const struct preach *to = &q->memory->reach[i];

		flow_one(p, q, to, from, share_of(bytes, to->share));
	}
}

/* The cables from one chip to another: at most two. */
struct cable {
	uint32_t chip, link;
};
static uint32_t route_find(const struct power *p, uint32_t from, uint32_t to, struct cable way[2])
{
	const struct pchip *f = &p->chip[from], *t = &p->chip[to];
	uint32_t n = 0;

	if (f->node != t->node) {
		way[n++] = (struct cable){ from, LINK_A + power_other(f->node, t->node) };
		from = f->link[way[0].link].peer;
		f = &p->chip[from];
	}
	if (from != to)
		way[n++] = (struct cable){ from, LINK_W + power_other(f->fabric, t->fabric) };
	return n;
}

/* Puts the traffic between chips on their cables, and clears it. */
static void traffic_route(struct power *p)
{
	struct cable way[2];

	for (uint32_t a = 0; a < p->nchips; a++)
		for (uint32_t b = 0; b < p->nchips; b++) {
			uint64_t bytes = p->traffic[a][b];

			p->traffic[a][b] = 0;
			if (a == b || !bytes)
				continue;
			for (uint32_t n = route_find(p, a, b, way); n--;) {
				struct plink *l = &p->chip[way[n].chip].link[way[n].link];

				p->chip[way[n].chip].need[way[n].link] += bytes;
				p->chip[l->peer].need[l->peer_link] += bytes;
			}
		}
}

/* ---- what is too much -------------------------------------------------------------------------------------- */

static bool is_saturated(const struct power *p)
{
	for (uint32_t i = 0; i < p->nchips; i++) {
		const struct pchip *c = &p->chip[i];

		for (uint32_t m = 0; m < CONTROLLERS; m++)
			if (c->mc[m].need > CONTROLLER_MOST)
				return true;
		for (uint32_t l = 0; l < LINKS; l++)
			if (c->need[l] > LINK_MOST)
				return true;
	}
	return false;
}

static uint32_t pace_of(uint64_t need, uint64_t most)
{
	return need > most ? (uint32_t)(most * ONE / need) : ONE;
}

static uint32_t pace_least(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/* The paces of cables and controllers by this demand, which is then forgotten. */
static void pace_find(struct power *p)
{
	struct cable way[2];

	for (uint32_t a = 0; a < p->nchips; a++)
		for (uint32_t b = 0; b < p->nchips; b++) {
			p->pace[a][b] = ONE;
			for (uint32_t n = a == b ? 0 : route_find(p, a, b, way); n--;)
				p->pace[a][b] = pace_least(p->pace[a][b],
							   pace_of(p->chip[way[n].chip].need[way[n].link], LINK_MOST));
		}
	for (uint32_t i = 0; i < p->nchips; i++) {
		struct pchip *c = &p->chip[i];

		memset(c->need, 0, sizeof(c->need));
		for (uint32_t m = 0; m < CONTROLLERS; m++) {
			c->mc[m].pace = pace_of(c->mc[m].need, CONTROLLER_MOST);
			c->mc[m].need = c->mc[m].written = 0;
		}
	}
}

/* How fast a partition's work on a chip gets on: as its slowest way to its memory. */
static uint32_t pace_from(const struct power *p, const struct ppart *q, uint32_t from)
{
	uint32_t pace = ONE;

	for (uint32_t i = 0; q->c.bytes_per_tick && i < q->nreach; i++) {
		const struct preach *to = &q->memory->reach[i];

		pace = pace_least(pace, p->pace[from][to->chip]);
		if (to->even)
			pace = pace_least(pace, p->chip[to->chip].mc[0].pace);
		if (to->even < ONE)
			pace = pace_least(pace, p->chip[to->chip].mc[1].pace);
	}
	return pace;
}

/* ---- cycles and instructions ---------------------------------------------------------------------------------- */

/* Shares an amount out over the pieces, by their ticks: to the last one exact, without a division for each. */
struct sharing {
	uint64_t amount, rate, done;
};
#define RATE_BITS 20u /* amounts stay below 2^42, ticks of a window below 2^32 */

static struct sharing sharing_of(uint64_t amount, uint64_t ran, uint32_t pieces)
{
	return (struct sharing){ .amount = amount, .rate = pieces > 1 && amount ? (amount << RATE_BITS) / ran : 0 };
}

/* The next piece's part: `ticks` ran with it and all before it. */
static uint64_t sharing_next(struct sharing *s, uint64_t ticks, bool last)
{
	uint64_t upto = last ? s->amount : ticks * s->rate >> RATE_BITS, part = upto - s->done;

	s->done = upto;
	return part;
}

/* n/d of an amount, where what is left over counts the next time. */
static uint64_t amount_scale(uint64_t amount, uint64_t n, struct divisor d, uint64_t *carry)
{
	uint64_t all = amount * n + *carry, whole = divided(all, d);

	*carry = all - whole * d.d;
	return whole;
}

/* What a partition would move, chip after chip; its pieces on a chip mostly stand in a row. */
static void demand_add(struct power *p, const struct ppart *q, bool saturated)
{
	const struct piece *at = &p->piece[q->first];
	struct sharing s = sharing_of(q->busy * q->c.bytes_per_tick, q->ran, q->npiece);
	uint64_t ticks = 0;

	for (uint32_t i = 0; i < q->npiece; i++) {
		uint16_t chip = p->core[at[i].core].chip;
		bool last = i + 1 == q->npiece;

		ticks += at[i].ticks;
		if (last || p->core[at[i + 1].core].chip != chip) {
			uint64_t bytes = sharing_next(&s, ticks, last);

			flow_add(p, q, chip, saturated ? share_of(bytes, pace_from(p, q, chip)) : bytes);
		}
	}
}

/* Run cycles and instructions of a partition, and of the cores that it ran on, when nothing holds it up. */
static void work_count(struct power *p, struct ppart *q)
{
	const struct piece *at = &p->piece[q->first];
	uint64_t cycles = p->no_run_counts ? 0 : amount_scale(q->run, p->clock_n, p->clock_d, &q->cycle_carry),
		 ticks = 0;
	struct sharing c, i;

	q->instructions = amount_scale(cycles, q->c.ipc_n, q->ipc_d, &q->instruction_carry);
	q->run_cycles += cycles;
	q->run_instructions += q->instructions;
	if (q->npiece == 1) {
		p->core[at->core].cycles += cycles;
		p->core[at->core].instructions += q->instructions;
		return;
	}
	c = sharing_of(cycles, q->ran, q->npiece);
	i = sharing_of(q->instructions, q->ran, q->npiece);
	for (uint32_t k = 0; k < q->npiece; k++) {
		struct pcore *core = &p->core[at[k].core];
		bool last = k + 1 == q->npiece;

		ticks += at[k].ticks;
		core->cycles += sharing_next(&c, ticks, last);
		core->instructions += sharing_next(&i, ticks, last);
	}
}

/* The instructions that it did not complete after all are taken back. */
static void work_slow_down(struct power *p, struct ppart *q)
{
	const struct piece *at = &p->piece[q->first];
	struct sharing s = sharing_of(q->instructions, q->ran, q->npiece);
	uint64_t ticks = 0;

	for (uint32_t k = 0; k < q->npiece; k++) {
		struct pcore *core = &p->core[at[k].core];
		uint64_t part;

		ticks += at[k].ticks;
		part = sharing_next(&s, ticks, k + 1 == q->npiece);
		part -= share_of(part, pace_from(p, q, core->chip));
		core->instructions -= part;
		q->run_instructions -= part;
	}
}

/* What the window asked for is done: it fits. */
static void traffic_count(struct power *p)
{
	for (uint32_t i = 0; i < p->nchips; i++) {
		struct pchip *c = &p->chip[i];

		for (uint32_t l = 0; l < LINKS; l++) {
			uint64_t busy = (c->need[l] + LINK_BYTES - 1) / LINK_BYTES;

			c->link[l].busy += busy < CYCLES ? busy : CYCLES;
			c->need[l] = 0;
		}
		for (uint32_t m = 0; m < CONTROLLERS; m++) {
			c->mc[m].reads += c->mc[m].need - c->mc[m].written;
			c->mc[m].writes += c->mc[m].written;
			c->mc[m].need = c->mc[m].written = 0;
		}
	}
}

void power_work(struct power *p, struct ppart *q)
{
	if (!q->npiece)
		return;
	if (q->npiece == 1)
		flow_add(p, q, p->core[p->piece[q->first].core].chip, q->busy * q->c.bytes_per_tick);
	else if (q->c.bytes_per_tick)
		demand_add(p, q, false);
	work_count(p, q);
}

void power_memory(struct power *p)
{
	traffic_route(p);
	if (is_saturated(p)) {
		pace_find(p);
		for (uint32_t i = 0; i < p->nparts; i++) {
			struct ppart *q = &p->part[i];

			if (!q->c.bytes_per_tick || !q->npiece)
				continue;
			demand_add(p, q, true);
			work_slow_down(p, q);
		}
		traffic_route(p);
	}
	traffic_count(p);
}
