/*
 * power_link.c: traffic, and what is collected now and then.
 *
 * Chips of a node are joined by W, X, Y, Z, in the order of the others' numbers;
 * nodes by A, B, C, from each chip to the one of the same number.  A byte for a chip of another node goes
 * over A to C first, then inside that node.  A cable carries both directions with one
 * counter, so both ends show the same; what does not fit in a window waits for the next, as long as that is no more
 * than a window's worth: with more a program stalls, and sends less.
 *
 * A collection cycle publishes links and HPMC of one moment; between two of them everybody reads the same.
 * A new MMCRH counts from the next one on: then HPMC1 and 2 start at 0.  All ones: nothing is collected of HPMC, and
 * its record stands still as the last collection left it, but for MMCRH itself.
 */
#include "machine/power_int.h"

#define CYCLES ((uint64_t)POWER_WINDOW * LINK_CLOCK)
#define MMCRH_DEFAULT 0x003c1200u
/* Selectors of HPMC1 and 2: bits 40:46 and 48:54 as IBM numbers them. What they mean is the model's own; others count
 * nothing. */
#define SELECTOR(mmcrh, i) ((mmcrh) >> ((i) ? 9 : 17) & 0x7f)
enum { SELECT_TIME = 0x01, SELECT_CYCLES = 0x1e, SELECT_INSTRUCTIONS = 0x09 };

static void join(struct power *p, uint32_t a, uint32_t link_a, uint32_t b, uint32_t link_b)
{
	p->chip[a].link[link_a] = (struct plink){ .peer = (uint16_t)b, .peer_link = (uint8_t)link_b, .wired = true };
	p->chip[b].link[link_b] = (struct plink){ .peer = (uint16_t)a, .peer_link = (uint8_t)link_a, .wired = true };
}

/* Which of the others j is for i: 0 for the first. */
static uint32_t other(uint32_t i, uint32_t j)
{
	return j < i ? j : j - 1;
}

void power_wire(struct power *p)
{
	for (uint32_t a = 0; a < p->nchips; a++)
		for (uint32_t b = a + 1; b < p->nchips; b++) {
			const struct pchip *x = &p->chip[a], *y = &p->chip[b];

			if (x->node == y->node)
				join(p, a, LINK_W + other(x->fabric, y->fabric), b, LINK_W + other(y->fabric, x->fabric));
			else if (x->fabric == y->fabric)
				join(p, a, LINK_A + other(x->node, y->node), b, LINK_A + other(y->node, x->node));
		}
	p->mmcrh = p->mmcrh_next = MMCRH_DEFAULT;
}

static void need(struct power *p, uint32_t chip, uint32_t link, uint64_t bytes)
{
	struct plink *l = &p->chip[chip].link[link];

	p->chip[chip].need[link] += bytes;
	p->chip[l->peer].need[l->peer_link] += bytes;
}

static void route(struct power *p, uint32_t from, uint32_t to, uint64_t bytes)
{
	const struct pchip *f = &p->chip[from], *t = &p->chip[to];

	if (f->node != t->node) {
		uint32_t link = LINK_A + other(f->node, t->node);

		need(p, from, link, bytes);
		from = f->link[link].peer;
		f = &p->chip[from];
	}
	if (from != to)
		need(p, from, LINK_W + other(f->fabric, t->fabric), bytes);
}

static void carry(struct pchip *c)
{
	for (uint32_t l = 0; l < LINKS; l++) {
		struct plink *k = &c->link[l];
		uint64_t want = k->queue + (c->need[l] + LINK_BYTES - 1) / LINK_BYTES, busy = want < CYCLES ? want : CYCLES;

		k->busy += busy;
		k->queue = want - busy < CYCLES ? want - busy : CYCLES;
		c->need[l] = 0;
	}
}

void power_traffic(struct power *p)
{
	for (uint32_t a = 0; a < p->nchips; a++) {
		uint64_t spread = p->chip[a].spread / p->nchips;

		for (uint32_t b = 0; b < p->nchips; b++) {
			uint64_t bytes = p->traffic[a][b] + spread;

			p->traffic[a][b] = 0;
			p->chip[b].memory_bytes += bytes;
			if (a != b && bytes)
				route(p, a, b, bytes);
		}
	}
	for (uint32_t a = 0; a < p->nchips; a++) {
		carry(&p->chip[a]);
		p->chip[a].spread = 0;
	}
}

/* ---- collection --------------------------------------------------------------------------------------- */

static uint64_t selected(const struct pcore *c, uint64_t selector)
{
	switch (selector) {
	case SELECT_TIME: return c->time;
	case SELECT_CYCLES: return c->cycles;
	case SELECT_INSTRUCTIONS: return c->instructions;
	default: return 0;
	}
}

static void collect_core(struct power *p, uint32_t i, bool changed)
{
	const struct pcore *c = &p->core[i];
	struct hpmc *h = &p->hpmc[i];

	h->now3 = c->instructions;
	h->now4 = c->cycles;
	for (uint32_t k = 0; k < 2; k++) {
		uint64_t value = selected(c, SELECTOR(p->mmcrh, k));

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
		for (uint32_t l = 0; l < LINKS; l++)
			to->idle[c][l] = p->chip[c].link[l].wired ? to->time - p->chip[c].link[l].busy : NONE;
		to->memory_bytes[c] = p->chip[c].memory_bytes;
	}
	collect_hpmc(p);
}
