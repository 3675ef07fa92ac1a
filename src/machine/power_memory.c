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

/* What the partition's flows are at the controllers, and between chips. */
static inline void flows_add(struct power *p, const struct ppart *q)
{
	const struct preach *to = q->nreach == 1 ? &q->near : q->memory->reach;
	const struct pflow *flow = &p->flow[q->first_flow], *end = flow + q->nflow;

	for (uint32_t n = q->nreach; n--; to++) {
		struct pcontroller *mc = p->chip[to->chip].mc;
		uint64_t all = 0, even = 0, written = 0, written_even = 0;

		for (const struct pflow *f = flow; f < end; f++) {
			uint64_t bytes = share_of(f->bytes, to->share), writes = share_of(bytes, q->written);

			p->traffic[f->chip][to->chip] += bytes;
			all += bytes;
			even += share_of(bytes, to->even);
			written += writes;
			written_even += share_of(writes, to->even);
		}
		mc[0].need += even;
		mc[1].need += all - even;
		mc[0].written += written_even;
		mc[1].written += written - written_even;
	}
}

/* Puts the traffic between chips on their cables, and clears it. What stays on a chip is nowhere asked for. */
static void traffic_route(struct power *p)
{
	for (const struct pdetour *d = p->detour, *end = d + p->ndetours; d < end; d++) {
		uint64_t bytes = p->traffic[d->from][d->to];

		p->traffic[d->from][d->by] += bytes;
		p->traffic[d->by][d->to] += bytes;
		p->traffic[d->from][d->to] = 0;
	}
	for (struct pcable *c = p->cable, *end = c + p->ncables; c < end; c++) {
		c->need = p->traffic[c->a][c->b] + p->traffic[c->b][c->a];
		p->traffic[c->a][c->b] = p->traffic[c->b][c->a] = 0;
	}
}

/* ---- what is too much -------------------------------------------------------------------------------------- */

static bool is_saturated(const struct power *p)
{
	for (const struct pcable *c = p->cable, *end = c + p->ncables; c < end; c++)
		if (c->need > LINK_MOST)
			return true;
	for (uint32_t i = 0; i < p->nchips; i++)
		for (uint32_t m = 0; m < CONTROLLERS; m++)
			if (p->chip[i].mc[m].need > CONTROLLER_MOST)
				return true;
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
	for (uint32_t i = 0; i < p->nchips; i++) {
		p->pace[i][i] = ONE;
		for (uint32_t m = 0; m < CONTROLLERS; m++) {
			struct pcontroller *mc = &p->chip[i].mc[m];

			mc->pace = pace_of(mc->need, CONTROLLER_MOST);
			mc->need = mc->written = 0;
		}
	}
	for (const struct pcable *c = p->cable, *end = c + p->ncables; c < end; c++)
		p->pace[c->a][c->b] = p->pace[c->b][c->a] = pace_of(c->need, LINK_MOST);
	for (const struct pdetour *d = p->detour, *end = d + p->ndetours; d < end; d++)
		p->pace[d->from][d->to] = pace_least(p->pace[d->from][d->by], p->pace[d->by][d->to]);
}

/* How fast a partition gets on by the controllers of its memory. */
static uint32_t pace_of_memory(const struct power *p, const struct ppart *q)
{
	uint32_t pace = ONE;

	for (uint32_t i = 0; i < q->nreach; i++) {
		const struct preach *to = &q->memory->reach[i];
		const struct pcontroller *mc = p->chip[to->chip].mc;

		if (to->even)
			pace = pace_least(pace, mc[0].pace);
		if (to->even < ONE)
			pace = pace_least(pace, mc[1].pace);
	}
	return pace;
}

/* The same by the cables from a chip to its memory. */
static uint32_t pace_from(const struct power *p, const struct ppart *q, uint32_t from)
{
	uint32_t pace = ONE;

	for (uint32_t i = 0; i < q->nreach; i++)
		pace = pace_least(pace, p->pace[from][q->memory->reach[i].chip]);
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

/* Run cycles and instructions of a partition, and of the cores that it ran on, when nothing holds it up; and what it
 * would move, chip after chip: its pieces on a chip mostly stand in a row. */
static void work_count(struct power *p, struct ppart *q)
{
	const struct piece *at = &p->piece[q->first];
	const uint64_t cycles = p->no_run_counts ? 0 : amount_scale(q->run, p->clock_n, p->clock_d, &q->cycle_carry);
	struct pflow *flow = &p->flow[q->first_flow];
	struct sharing c, i, moved;
	uint64_t ticks = 0;
	uint32_t begun = 0;

	q->instructions = amount_scale(cycles, q->c.ipc_n, q->ipc_d, &q->instruction_carry);
	q->run_cycles += cycles;
	q->run_instructions += q->instructions;
	if (q->npiece == 1) { /* as most are on a machine with many partitions */
		struct pcore *core = &p->core[at->core];

		core->cycles += cycles;
		core->instructions += q->instructions;
		*flow = (struct pflow){ q->busy * q->c.bytes_per_tick, core->chip, 1 };
		q->nflow = 1;
		return;
	}
	c = sharing_of(cycles, q->ran, q->npiece);
	i = sharing_of(q->instructions, q->ran, q->npiece);
	moved = sharing_of(q->busy * q->c.bytes_per_tick, q->ran, q->npiece);
	for (uint32_t k = 0; k < q->npiece; k++) {
		struct pcore *core = &p->core[at[k].core];
		const bool last = k + 1 == q->npiece;

		ticks += at[k].ticks;
		core->cycles += sharing_next(&c, ticks, last);
		core->instructions += sharing_next(&i, ticks, last);
		if (last || p->core[at[k + 1].core].chip != core->chip) {
			*flow++ = (struct pflow){ sharing_next(&moved, ticks, last), core->chip, k + 1 - begun };
			begun = k + 1;
		}
	}
	q->nflow = (uint32_t)(flow - &p->flow[q->first_flow]);
}

/* The instructions that it did not complete after all are taken back, and it moves less. */
static void work_slow_down(struct power *p, struct ppart *q)
{
	const uint32_t pace_memory = pace_of_memory(p, q);
	const struct piece *at = &p->piece[q->first], *end = at + q->npiece;
	struct sharing s = sharing_of(q->instructions, q->ran, q->npiece);
	uint64_t ticks = 0;

	for (struct pflow *f = &p->flow[q->first_flow]; at < end; f++) {
		const uint32_t pace = pace_least(pace_memory, pace_from(p, q, f->chip));

		f->bytes = share_of(f->bytes, pace);
		for (const struct piece *next = at + f->npiece; at < next; at++) {
			uint64_t part;

			ticks += at->ticks;
			part = sharing_next(&s, ticks, at + 1 == end);
			part -= share_of(part, pace);
			p->core[at->core].instructions -= part;
			q->run_instructions -= part;
		}
	}
}

/* What the window asked for is done: it fits. */
static void traffic_count(struct power *p)
{
	for (struct pcable *c = p->cable, *end = c + p->ncables; c < end; c++) {
		uint64_t busy = (c->need + LINK_BYTES - 1) / LINK_BYTES;

		c->busy += busy < CYCLES ? busy : CYCLES;
	}
	for (uint32_t i = 0; i < p->nchips; i++)
		for (uint32_t m = 0; m < CONTROLLERS; m++) {
			struct pcontroller *mc = &p->chip[i].mc[m];

			mc->reads += mc->need - mc->written;
			mc->writes += mc->written;
			mc->need = mc->written = 0;
		}
}

void power_work(struct power *p, struct ppart *q)
{
	if (!q->npiece)
		return;
	q->first_flow = p->nflow;
	work_count(p, q);
	if (!q->c.bytes_per_tick)
		q->nflow = 0;
	p->nflow += q->nflow;
	flows_add(p, q);
}

void power_memory(struct power *p)
{
	traffic_route(p);
	if (is_saturated(p)) {
		pace_find(p);
		for (uint32_t i = 0; i < p->nparts; i++) {
			struct ppart *q = &p->part[i];

			if (!q->nflow)
				continue;
			work_slow_down(p, q);
			flows_add(p, q);
		}
		traffic_route(p);
	}
	traffic_count(p);
}
