/*
 * power_link.c: the cables between chips, and the collection cycles.
 *
 * Chips of a node are joined by W, X, Y, Z, in the order of the others' numbers; nodes by A, B, C, from each chip to
 * the one of the same number. A cable carries both directions with one counter, so both ends show the same.
 *
 * A collection cycle publishes links and HPMC of one moment; between two cycles every reading is the same. A new
 * MMCRH counts from the next cycle on: then HPMC1 and 2 start at 0. All ones: HPMC is not collected, and its record
 * keeps the values of the last collection, except MMCRH itself.
 */
#include "machine/power_int.h"

#define MMCRH_DEFAULT 0x003c1200u
/* Selectors of HPMC1 and 2: bits 40:46 and 48:54 as IBM numbers them. What they mean is the model's own; others count
 * nothing. */
#define SELECTOR(mmcrh, i) ((mmcrh) >> ((i) ? 9 : 17) & 0x7f)
enum { SELECT_TIME = 0x01, SELECT_CYCLES = 0x1e, SELECT_INSTRUCTIONS = 0x09 };

static void link_join_chips(struct power *p, uint32_t a, uint32_t link_a, uint32_t b, uint32_t link_b)
{
	const struct pchip *x = &p->chip[a], *y = &p->chip[b];
	const uint16_t cable = (uint16_t)p->ncables++;
	const bool inside = x->node == y->node;

	p->chip[a].link[link_a] = (struct plink){ .peer = (uint16_t)b, .cable = cable, .wired = true };
	p->chip[b].link[link_b] = (struct plink){ .peer = (uint16_t)a, .cable = cable, .wired = true };
	p->cable[cable] = (struct pcable){
		.way = { (uint16_t)(inside ? way_in_node(x->fabric, b) : way_between_nodes(a, y->node)),
			 (uint16_t)(inside ? way_in_node(y->fabric, a) : way_between_nodes(b, x->node)) },
	};
}

/* Which of the others j is for i: 0 for the first. */
static uint32_t link_other(uint32_t i, uint32_t j)
{
	return j < i ? j : j - 1;
}

void power_wire(struct power *p)
{
	for (uint32_t a = 0; a < p->nchips; a++)
		for (uint32_t b = a + 1; b < p->nchips; b++) {
			const struct pchip *x = &p->chip[a], *y = &p->chip[b];

			if (x->node == y->node)
				link_join_chips(p, a, LINK_W + link_other(x->fabric, y->fabric), b,
						LINK_W + link_other(y->fabric, x->fabric));
			else if (x->fabric == y->fabric)
				link_join_chips(p, a, LINK_A + link_other(x->node, y->node), b,
						LINK_A + link_other(y->node, x->node));
		}
	for (uint32_t w = 0; w < WAYS_MOST; w++)
		p->pace[w] = ONE;
	p->mmcrh = p->mmcrh_next = MMCRH_DEFAULT;
}

/* ---- collection --------------------------------------------------------------------------------------- */

static uint64_t link_selected_count(const struct pcore *c, uint64_t selector)
{
	switch (selector) {
	case SELECT_TIME:
		return c->time;
	case SELECT_CYCLES:
		return c->cycles;
	case SELECT_INSTRUCTIONS:
		return c->instructions;
	default:
		return 0;
	}
}

static void collect_core(struct power *p, uint32_t i, bool changed)
{
	const struct pcore *c = &p->core[i];
	struct hpmc *h = &p->hpmc[i];

	h->now3 = c->instructions;
	h->now4 = c->cycles;
	for (uint32_t k = 0; k < 2; k++) {
		uint64_t value = link_selected_count(c, SELECTOR(p->mmcrh, k));

		if (changed)
			h->programmed_base[k] = value;
		h->programmed[k] = value - h->programmed_base[k];
	}
	if (changed) {
		h->base3 = h->now3;
		h->base4 = h->now4;
	}
}

static void collect_hpmc(struct power *p)
{
	bool changed = p->mmcrh != p->mmcrh_next;

	p->mmcrh = p->mmcrh_next;
	if (p->mmcrh == NONE)
		return;
	if (changed)
		p->mmcrh_since = p->now;
	p->published.mmcrh_elapsed = p->now - p->mmcrh_since;
	for (uint32_t i = 0; i < p->ncores; i++)
		collect_core(p, i, changed);
}

void power_collect(struct power *p)
{
	struct collected *to = &p->published;

	to->time = p->now * LINK_CLOCK;
	for (uint32_t c = 0; c < p->nchips; c++) {
		for (uint32_t l = 0; l < LINKS; l++) {
			const struct plink *k = &p->chip[c].link[l];

			to->idle[c][l] = k->wired ? to->time - p->cable[k->cable].busy : NONE;
		}
		for (uint32_t m = 0; m < CONTROLLERS; m++) {
			to->reads[c][m] = p->chip[c].mc[m].reads;
			to->writes[c][m] = p->chip[c].mc[m].writes;
		}
	}
	collect_hpmc(p);
}
