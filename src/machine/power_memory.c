/*
 * power_memory.c: the memory traffic of a window, limited by links and controllers.
 *
 * A partition moves bytes for each tick of work, to the chips that hold its memory. A byte for another chip goes over
 * cables: between nodes A to C to the chip of the same number, then W to Z inside that node. Each cable and each
 * memory controller has a capacity for a window.
 *
 * So the traffic of all pairs of chips never has to be known: the first way depends on the chip and on the node of the
 * memory, the second on the chip's number and on the memory's chip. A partition with memory everywhere asks each chip
 * of it for the same share, whoever asks, and its flows are added up by number first.
 *
 *	1. Demand: what all partitions would move and complete without limits.
 *	2. If that exceeds the capacity of a cable or a controller, its pace is the capacity divided by the demand.
 *	3. A program accesses all of its memory evenly, so its pace on a chip is that of the slowest path from
 *	   there to any of its memory. It completes fewer instructions in the same cycles, and moves fewer bytes: its
 *	   CPI rises.
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
	memset(m->share, 0, sizeof(m->share));
	for (uint32_t i = 0; i < p->nchips; i++)
		if (m->lmbs[i])
			m->reach[q->nreach++] = (struct preach){
				.chip = (uint16_t)i,
				.node = p->chip[i].node,
				.share = (uint32_t)((uint64_t)m->lmbs[i] * ONE / q->c.memory_lmbs),
				.even = (uint32_t)((uint64_t)m->even[i] * ONE / m->lmbs[i]),
			};
	for (uint32_t i = 0; i < q->nreach; i++)
		left -= m->reach[i].share;
	if (q->nreach)
		m->reach[q->nreach - 1].share += left;
	for (uint32_t i = 0; i < q->nreach; i++)
		m->share[m->reach[i].node] += m->reach[i].share;
	q->near = m->reach[0];
}

/* ---- flows ---------------------------------------------------------------------------------------------- */

/* The partition moves so much to and from a chip's memory. */
static inline void controllers_add(struct power *p, const struct ppart *q, const struct preach *to, uint64_t bytes)
{
	struct pcontroller *mc = p->chip[to->chip].mc;
	const uint64_t even = share_of(bytes, to->even), written = share_of(bytes, q->written),
		       written_even = share_of(written, to->even);

	mc[0].need += even;
	mc[1].need += bytes - even;
	mc[0].written += written_even;
	mc[1].written += written - written_even;
}

/* A partition with memory on many chips asks for it evenly: what goes to a chip of memory from all chips of a number is
 * one amount. */
static void flows_spread(struct power *p, const struct ppart *q)
{
	const struct pflow *flow = &p->flow[q->first_flow], *end = flow + q->nflow;
	const struct pmemory *m = q->memory;
	uint64_t all = 0, by_fabric[FABRICS_MOST] = { 0 };

	for (; flow < end; flow++) {
		all += flow->bytes;
		by_fabric[flow->fabric] += flow->bytes;
		for (uint32_t n = 0; n < p->nodes; n++)
			p->traffic[way_between_nodes(flow->chip, n)] += share_of(flow->bytes, m->share[n]);
	}
	for (const struct preach *to = m->reach, *last = to + q->nreach; to < last; to++) {
		for (uint32_t f = 0; f < p->chips; f++)
			p->traffic[way_in_node(f, to->chip)] += share_of(by_fabric[f], to->share);
		controllers_add(p, q, to, share_of(all, to->share));
	}
}

/* The partition's flows on their ways and at the controllers. */
static inline void flows_add(struct power *p, const struct ppart *q)
{
	const struct pflow *flow = &p->flow[q->first_flow], *end = flow + q->nflow;
	uint64_t all = 0;

	if (q->nreach != 1) {
		flows_spread(p, q);
		return;
	}
	for (; flow < end; flow++) {
		p->traffic[way_between_nodes(flow->chip, q->near.node)] += flow->bytes;
		p->traffic[way_in_node(flow->fabric, q->near.chip)] += flow->bytes;
		all += flow->bytes;
	}
	controllers_add(p, q, &q->near, all);
}

/* What each cable is to carry. */
static void traffic_gather(struct power *p)
{
	for (struct pcable *c = p->cable, *end = c + p->ncables; c < end; c++) {
		c->need = p->traffic[c->way[0]] + p->traffic[c->way[1]];
		p->traffic[c->way[0]] = p->traffic[c->way[1]] = 0;
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
	for (uint32_t i = 0; i < p->nchips; i++)
		for (uint32_t m = 0; m < CONTROLLERS; m++) {
			struct pcontroller *mc = &p->chip[i].mc[m];

			mc->pace = pace_of(mc->need, CONTROLLER_MOST);
			mc->need = mc->written = 0;
		}
	for (const struct pcable *c = p->cable, *end = c + p->ncables; c < end; c++)
		p->pace[c->way[0]] = p->pace[c->way[1]] = pace_of(c->need, LINK_MOST);
}

/* How fast a partition gets on by the controllers of its memory, and by the ways to it from the chips of each
 * number. */
static void pace_of_memory(const struct power *p, const struct ppart *q, uint32_t pace[FABRICS_MOST])
{
	uint32_t all = ONE;

	for (uint32_t i = 0; i < q->nreach; i++) {
		const struct preach *to = &q->memory->reach[i];
		const struct pcontroller *mc = p->chip[to->chip].mc;

		if (to->even)
			all = pace_least(all, mc[0].pace);
		if (to->even < ONE)
			all = pace_least(all, mc[1].pace);
	}
	for (uint32_t f = 0; f < p->chips; f++) {
		pace[f] = all;
		for (uint32_t i = 0; i < q->nreach; i++)
			pace[f] = pace_least(pace[f], p->pace[way_in_node(f, q->memory->reach[i].chip)]);
	}
}

/* The same by the ways from a chip to the nodes of its memory. */
static uint32_t pace_of_nodes(const struct power *p, const struct ppart *q, uint32_t from)
{
	uint32_t pace = ONE;

	for (uint32_t n = 0; n < p->nodes; n++)
		if (q->memory->share[n])
			pace = pace_least(pace, p->pace[way_between_nodes(from, n)]);
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
		*flow = (struct pflow){ q->busy * q->c.bytes_per_tick, core->chip, core->fabric, 1 };
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
			*flow++ = (struct pflow){ sharing_next(&moved, ticks, last), core->chip, core->fabric,
						  k + 1 - begun };
			begun = k + 1;
		}
	}
	q->nflow = (uint32_t)(flow - &p->flow[q->first_flow]);
}

/* The instructions that it did not complete after all are taken back, and it moves less. */
static void work_slow_down(struct power *p, struct ppart *q)
{
	const struct piece *at = &p->piece[q->first], *end = at + q->npiece;
	struct sharing s = sharing_of(q->instructions, q->ran, q->npiece);
	uint32_t pace_memory[FABRICS_MOST];
	uint64_t ticks = 0;

	pace_of_memory(p, q, pace_memory);
	for (struct pflow *f = &p->flow[q->first_flow]; at < end; f++) {
		const uint32_t pace = pace_least(pace_memory[f->fabric], pace_of_nodes(p, q, f->chip));

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
	traffic_gather(p);
	if (is_saturated(p)) {
		pace_find(p);
		for (uint32_t i = 0; i < p->nparts; i++) {
			struct ppart *q = &p->part[i];

			if (!q->nflow)
				continue;
			work_slow_down(p, q);
			flows_add(p, q);
		}
		traffic_gather(p);
	}
	traffic_count(p);
}
