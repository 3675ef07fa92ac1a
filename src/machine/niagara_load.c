/*
 * niagara_load.c: named loads: a strand's next reference, from a few words of state.
 *
 * Strands run in turns of a few hundred cycles, in the order of their number, so they use shared resources at the
 * same time. Turns end at multiples of their length, so the state at a time does not depend on how often the machine
 * was stopped for a reading. Worker i runs on strand i * total / workers: spread over cores and nodes. A worker's
 * references do not depend on the machine, so they are generated ahead, for the host to prefetch what they will
 * access.
 */
#include "machine/niagara_int.h"

#define TURN 400u /* cycles */
#define NODE_BYTES (UINT64_C(1) << 30)
enum { CODE = 0, PAGES_64K = 1, PAGES_4M = 2, PAGES_256M = 3 }; /* of an address: the page size */

struct load {
	struct niagara_load row;
	uint32_t strands;
	load_next *next;
};

static uint64_t load_random(struct worker *w) /* xorshift64* */
{
	w->rng ^= w->rng >> 12;
	w->rng ^= w->rng << 25;
	w->rng ^= w->rng >> 27;
	return w->rng * UINT64_C(0x2545f4914f6cdd1d);
}

static uint64_t load_region_va(uint32_t pages, uint64_t node, uint64_t offset)
{
	return (uint64_t)pages << 48 | node * NODE_BYTES | offset % NODE_BYTES;
}

/* An instruction fetch every so often, from a loop of `bytes`. */
static inline __attribute__((always_inline)) bool load_code_fetch(struct worker *w, struct niagara_ref *r,
								  uint32_t every, uint32_t bytes)
{
	if (w->phase++ % every)
		return false;
	*r = (struct niagara_ref){ .va = load_region_va(CODE, 0,
							0x10000 + (uint64_t)w->id * 0x4000 + w->phase * 32 % bytes),
				   .context = (uint16_t)(w->id + 1),
				   .kind = NIAGARA_FETCH,
				   .bytes = 4,
				   .instructions = 8 };
	return true;
}

static void next_stream(struct niagara *n, struct worker *w, struct niagara_ref *r)
{
	(void)n;
	if (load_code_fetch(w, r, 9, 256))
		return;
	w->at += 8;
	*r = (struct niagara_ref){ .va = load_region_va(PAGES_4M, w->node,
							(uint64_t)w->id % 8 * (32u << 20) +
								(w->at / 2 & ~UINT64_C(7)) % (16u << 20) +
								(w->at & 8 ? 16u << 20 : 0)),
				   .context = 1,
				   .kind = w->at & 8 ? NIAGARA_STORE : NIAGARA_LOAD,
				   .bytes = 8,
				   .instructions = 2 };
}

static void next_random(struct niagara *n, struct worker *w, struct niagara_ref *r)
{
	uint64_t v = load_random(w);

	if (load_code_fetch(w, r, 5, 512))
		return;
	*r = (struct niagara_ref){ .va = load_region_va(PAGES_4M, (v >> 40) % n->kind->nodes, v % (64u << 20) & ~7u),
				   .context = 1,
				   .kind = v >> 60 < 4 ? NIAGARA_STORE : NIAGARA_LOAD,
				   .bytes = 8,
				   .instructions = 3 };
}

static void next_chase(struct niagara *n, struct worker *w, struct niagara_ref *r)
{
	(void)n;
	if (load_code_fetch(w, r, 5, 256))
		return;
	w->at = (w->at * 1103515245u + 12345u + (w->id << 4)) % (1u << 19); /* the next of half a million lines */
	*r = (struct niagara_ref){ .va = load_region_va(CODE, w->node, (8u << 20) + w->at * 64),
				   .context = 1,
				   .kind = NIAGARA_LOAD,
				   .bytes = 8,
				   .instructions = 2 };
}

static void next_pingpong(struct niagara *n, struct worker *w, struct niagara_ref *r)
{
	(void)n;
	w->at++;
	*r = (struct niagara_ref){ .va = load_region_va(PAGES_64K, 0,
							(1u << 20) + w->at / 3 % 16 * 4096 + w->at % 3 * 8),
				   .context = 1,
				   .kind = w->at % 3 == 2 ? NIAGARA_ATOMIC :
					   w->at % 3      ? NIAGARA_STORE :
							    NIAGARA_LOAD,
				   .bytes = 8,
				   .instructions = 4 };
}

static void next_producer(struct niagara *n, struct worker *w, struct niagara_ref *r)
{
	(void)n;
	if (load_code_fetch(w, r, 9, 128))
		return;
	w->at += 8;
	*r = (struct niagara_ref){ .va = load_region_va(PAGES_4M, 0, (64u << 20) + w->at % (1u << 20)),
				   .context = 1,
				   .kind = w->id % 2 ? NIAGARA_LOAD : NIAGARA_STORE,
				   .bytes = 8,
				   .instructions = 2 };
}

static void next_compute(struct niagara *n, struct worker *w, struct niagara_ref *r)
{
	(void)n;
	if (load_code_fetch(w, r, 2, 1024))
		return;
	w->at += 16;
	*r = (struct niagara_ref){ .va = load_region_va(CODE, w->node, 0x200000 + w->id * 0x2000 + w->at % 2048),
				   .context = (uint16_t)(w->id + 1),
				   .kind = w->at % 64 ? NIAGARA_LOAD : NIAGARA_STORE,
				   .bytes = 8,
				   .instructions = 6 };
}

static void next_mixed(struct niagara *n, struct worker *w, struct niagara_ref *r)
{
	uint64_t v = load_random(w), dice = v >> 56;
	bool kernel = dice < 40;
	uint16_t context = kernel ? 0 : (uint16_t)(w->id % 16 + 1);
	uint64_t node = (v >> 40) % n->kind->nodes;

	*r = (struct niagara_ref){
		.context = context, .level = kernel ? NIAGARA_SYSTEM : NIAGARA_USER, .bytes = 8, .instructions = 3
	};
	if (dice % 4 == 0) {
		r->kind = NIAGARA_FETCH;
		r->va = load_region_va(kernel ? PAGES_4M : CODE, 0, v % (512u << 10) & ~31u);
	} else if (dice % 4 == 1) {
		r->kind = v & 1 ? NIAGARA_LOAD : NIAGARA_STORE;
		r->va = load_region_va(kernel ? PAGES_256M : PAGES_64K, w->node,
				       (256u << 20) + w->id * 65536 + ((v >> 8) % 8192 & ~UINT64_C(7)));
	} else {
		r->kind = v % 64 == 0 ? NIAGARA_ATOMIC : v % 4 ? NIAGARA_LOAD : NIAGARA_STORE;
		r->va = load_region_va(kernel       ? PAGES_4M :
				       dice % 8 < 6 ? CODE :
						      PAGES_4M,
				       node, (v >> 10) % (128u << 20) & ~7u);
	}
}

static const struct load loads[] = {
#define NIAGARA_LOAD(name, strands, text) { { #name, text }, strands, next_##name },
#include "machine/niagara_load.def"
#undef NIAGARA_LOAD
};

const struct niagara_load *niagara_load_at(uint32_t i)
{
	return i < COUNT(loads) ? &loads[i].row : NULL;
}

static const struct load *load_find(const char *name, struct err *e)
{
	int i = text_pick("load", name, TEXT_NAMES_OF(loads, row.name), e);

	return i < 0 ? NULL : &loads[i];
}

static void worker_open(struct niagara *n, uint32_t i, uint64_t seed)
{
	const uint32_t strand = (uint32_t)((uint64_t)i * n->nstrands / n->nworkers);
	struct worker *w = &n->worker[i];

	*w = (struct worker){ .rng = (seed * UINT64_C(0x9e3779b97f4a7c15) + i) << 1 | 1,
			      .id = i,
			      .strand = (uint16_t)strand,
			      .node = strand / n->kind->strands_per_node };
	for (uint32_t k = 0; k < AHEAD; k++) {
		n->next(n, w, &w->ahead[k]);
		w->ahead[k].strand = w->strand;
	}
}

int load_open(struct niagara *n, const char *name, uint64_t seed, uint32_t strands, struct err *e)
{
	const struct load *l = load_find(name, e);

	if (!l)
		return -TALLY_EINVAL;
	n->nworkers = strands ? strands : l->strands ? l->strands : n->nstrands;
	if (n->nworkers > n->nstrands)
		return err_set(e, TALLY_EINVAL, "strands=%u: the machine has %u", n->nworkers, n->nstrands);
	n->worker = mem_alloc(n->nworkers * sizeof(*n->worker));
	if (!n->worker)
		return -TALLY_ENOMEM;
	n->next = l->next;
	for (uint32_t i = 0; i < n->nworkers; i++)
		worker_open(n, i, seed);
	return 0;
}

void load_run(struct niagara *n, uint64_t until)
{
	const struct worker *end = n->worker + n->nworkers;

	while (until - n->turns >= TURN) {
		const uint64_t to = n->turns + TURN;

		for (struct worker *w = n->worker; w < end; w++)
			if (now_of(&n->strand[w->strand].cycles) < to) /* else its last turn is not over */
				niagara_turn(n, w, to);
		n->turns = to;
	}
}
