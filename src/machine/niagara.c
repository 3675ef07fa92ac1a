/*
 * niagara.c: references in, time.
 *
 * A reference costs its instructions and what its misses cost; each strand has a
 * clock of its own, the machine's is the farthest one's.  Costs are round figures
 * of such chips, not measurements: they give events an order and queues a
 * length.
 */
#include "machine/niagara_int.h"

static const struct niagara_geometry t1 = {
	.cores = 8,
	.strands = 4,
	.l1i_sets = 128,
	.l1i_ways = 4,
	.l1d_sets = 128,
	.l1d_ways = 4,
	.l2_sets = 4096,
	.l2_ways = 12,
	.itlb = 64,
	.dtlb = 64,
	.hashed = false,
	.walks = false,
};
static const struct niagara_geometry vf = {
	.cores = 8,
	.strands = 8,
	.l1i_sets = 64,
	.l1i_ways = 8,
	.l1d_sets = 128,
	.l1d_ways = 4,
	.l2_sets = 4096,
	.l2_ways = 16,
	.itlb = 64,
	.dtlb = 128,
	.hashed = true,
	.walks = true,
};

int niagara_open(struct niagara **ret, const struct sun4v_kind *kind, const struct niagara_opts *o, struct err *e)
{
	struct niagara *n = mem_alloc(sizeof(*n));
	int rc;

	if (!n)
		return err_oom(e);
	n->kind = kind;
	n->g = kind->mmustat ? &t1 : &vf;
	n->recorded_ticks = o->recorded_ticks;
	n->nstrands = kind->nodes * kind->strands_per_node;
	n->strand = mem_alloc(n->nstrands * sizeof(*n->strand));
	n->tsb = mem_alloc(4 * TSB_ENTRIES * sizeof(*n->tsb));
	rc = n->strand && n->tsb ? cache_open(n) : -TALLY_ENOMEM;
	if (rc == 0) {
		/* Bit 30 with two nodes, 31:30 with more; with three, the fourth quarter is node 0's. */
		for (uint32_t i = 0; i < COUNT(n->home); i++)
			n->home[i] = (uint8_t)(i % n->kind->nodes);
		for (uint32_t i = 0; i < n->nstrands; i++) {
			struct strand *s = &n->strand[i];

			s->node = &n->node[i / n->kind->strands_per_node];
			s->core = &s->node->core[i % n->kind->strands_per_node / n->g->strands];
		}
		count_open(n);
	}
	if (rc == -TALLY_ENOMEM)
		err_oom(e);
	if (rc == 0 && o->load)
		rc = load_open(n, o->load, o->seed ? o->seed : 1, o->strands, e);
	if (rc < 0) {
		niagara_close(n);
		return rc;
	}
	*ret = n;
	return 0;
}

void niagara_close(struct niagara *n)
{
	if (!n)
		return;
	cache_close(n);
	mem_free(n->worker);
	mem_free(n->tsb);
	mem_free(n->strand);
	mem_free(n);
}

void niagara_vcpu(struct niagara *n, uint32_t strand, struct sun4v_vcpu *v)
{
	if (strand < n->nstrands)
		n->strand[strand].vcpu = v;
}

/* ---- references ---------------------------------------------------------------------------------- */

#define HOT static inline __attribute__((always_inline))

/* References of one strand, one after the other: what they add up to, by level, before it goes to the totals. */
struct sums {
	uint64_t refs[4], instructions;
};
struct run {
	struct niagara *n;
	struct strand *s; /* NULL: none yet */
	struct core *c;
	uint64_t at;                     /* the strand's time */
	uint64_t who, context, stamp[2]; /* of the last reference; the stamp of notes: instruction, data */
	struct sums *sums;               /* of its level */
	uint32_t levels;                 /* bits: those that there are sums of */
	struct sums of[LEVELS];
};

/* Strand, context and level in one word, for comparing. */
HOT uint64_t who(const struct niagara_ref *r)
{
	static const struct niagara_ref all = { .strand = UINT16_MAX, .context = UINT16_MAX, .level = UINT8_MAX };
	uint64_t v, mask;

	static_assert(sizeof(*r) == offsetof(struct niagara_ref, strand) + sizeof(v), "the second word of a reference");
	memcpy(&v, (const char *)r + offsetof(struct niagara_ref, strand), sizeof(v));
	memcpy(&mask, (const char *)&all + offsetof(struct niagara_ref, strand), sizeof(mask));
	return v & mask;
}

HOT void run_stamp(struct run *u, bool data)
{
	u->stamp[data] = u->c->tlb[data].generation * CONTEXTS | u->context;
}

HOT void run_begin(struct run *u, struct niagara *n, struct strand *s)
{
	u->n = n;
	u->s = s;
	u->c = s->core;
	u->at = now_of(&s->cycles);
	u->who = UINT64_MAX; /* nobody's */
	u->levels = 0;
}

/* Another context or level. */
HOT void run_turn(struct run *u, const struct niagara_ref *r)
{
	u->who = who(r);
	u->context = r->context % CONTEXTS;
	u->sums = &u->of[r->level];
	if (!(u->levels >> r->level & 1))
		*u->sums = (struct sums){ { 0 }, 0 };
	u->levels |= 1u << r->level;
	run_stamp(u, false);
	run_stamp(u, true);
}

static void run_end(struct run *u)
{
	static const uint8_t own[] = { [NIAGARA_LOAD] = EV_LD, [NIAGARA_STORE] = EV_ST, [NIAGARA_ATOMIC] = EV_ATOMIC };
	struct niagara_truth *t = &u->n->truth;

	for (uint32_t left = u->levels; left; left &= left - 1) {
		const uint32_t level = (uint32_t)__builtin_ctz(left);
		const struct sums *sums = &u->of[level];
		total *event = u->s->event[level];

		t->refs[NIAGARA_FETCH] += sums->refs[NIAGARA_FETCH];
		for (uint32_t kind = NIAGARA_LOAD; kind <= NIAGARA_ATOMIC; kind++) {
			t->refs[kind] += sums->refs[kind];
			add(&event[own[kind]], sums->refs[kind]);
		}
		add(&event[EV_WRITE], sums->refs[NIAGARA_STORE] + sums->refs[NIAGARA_ATOMIC]);
		t->instructions += sums->instructions;
		add(&event[EV_INSTRUCTIONS], sums->instructions);
	}
	atomic_store_explicit(&u->s->cycles, u->at, memory_order_relaxed);
}

/* Of a load or fetch: its block, and where the core has a note of it. */
HOT struct note *note_at(struct core *c, const struct niagara_ref *r, uint64_t context, uint64_t *block)
{
	*block = r->va >> (L1I_BITS - r->kind);
	return &c->note[r->kind][note_of(*block, context)];
}

HOT struct store_note *store_note_at(struct core *c, const struct niagara_ref *r, uint64_t context)
{
	return &c->store_note[note_of(r->va >> LINE_BITS, context)];
}

/* Nearly all references: a place that the core has noted. Its caches replace in turn, so a hit changes nothing
 * there. */
HOT bool is_noted(const struct run *u, const struct niagara_ref *r)
{
	uint64_t block;
	const struct note *note = note_at(u->c, r, u->context, &block);

	return note->block == block && note->stamp == u->stamp[r->kind];
}

/* Where the line of a store is, when nobody is to be told of it; or NO_LINE. */
HOT uint32_t noted_store(const struct run *u, const struct niagara_ref *r)
{
	const struct store_note *note = store_note_at(u->c, r, u->context);

	if (note->block != r->va >> LINE_BITS || note->stamp != u->stamp[1])
		return NO_LINE;
	return cache_owns(u->c, &u->s->node->l2[note->line / WAYS], note->line % WAYS, mmu_physical(r)) ? note->line :
													  NO_LINE;
}

/* What is not noted; what it finds is. */
static __attribute__((noinline)) uint64_t niagara_beyond_note(struct run *u, const struct niagara_ref *r, uint64_t cost)
{
	struct access a = { .n = u->n, .s = u->s, .kind = r->kind, .level = r->level, .cost = cost };
	uint64_t block;
	uint32_t line;

	atomic_store_explicit(&u->s->cycles, u->at, memory_order_relaxed);
	mmu_look_up(&a, r);
	a.pa = mmu_physical(r);
	line = cache_access(&a);
	run_stamp(u, r->kind != NIAGARA_FETCH);
	if (r->kind <= NIAGARA_LOAD) {
		struct note *note = note_at(u->c, r, u->context, &block);

		*note = (struct note){ block, u->stamp[r->kind] };
	} else {
		*store_note_at(u->c, r, u->context) = (struct store_note){ r->va >> LINE_BITS, u->stamp[1], line };
	}
	return a.cost;
}

HOT void run_step(struct run *u, const struct niagara_ref *r)
{
	uint64_t cost = r->instructions ? r->instructions : 1;
	uint32_t line;

	if (r->kind > NIAGARA_ATOMIC)
		return;
	u->sums->refs[r->kind]++;
	u->sums->instructions += r->instructions;
	if (r->kind > NIAGARA_LOAD) {
		line = r->kind == NIAGARA_STORE ? noted_store(u, r) : NO_LINE;
		cost = line == NO_LINE ? niagara_beyond_note(u, r, cost) :
					 cost + cache_store_hit(u->s, line, u->at + cost);
	} else if (!is_noted(u, r)) {
		cost = niagara_beyond_note(u, r, cost);
	}
	u->at += cost;
}

/* The run is over: the machine's clock is the farthest strand's. */
static void run_close(struct run *u)
{
	if (!u->s)
		return;
	run_end(u);
	if (u->at > now_of(&u->n->clock))
		atomic_store_explicit(&u->n->clock, u->at, memory_order_relaxed);
}

/* False: there is no such strand or level. */
static bool run_change(struct run *u, struct niagara *n, const struct niagara_ref *r)
{
	if (r->strand >= n->nstrands || r->level > NIAGARA_HYPER)
		return false;
	if (u->s != &n->strand[r->strand]) {
		run_close(u);
		run_begin(u, n, &n->strand[r->strand]);
	}
	run_turn(u, r);
	return true;
}

void niagara_refs(struct niagara *n, const struct niagara_ref *r, size_t count)
{
	struct run u;

	u.s = NULL;
	u.who = UINT64_MAX;
	for (const struct niagara_ref *end = r + count; r < end; r++)
		if (who(r) == u.who || run_change(&u, n, r))
			run_step(&u, r);
	run_close(&u);
}

/* ---- references of a load ------------------------------------------------------------------------------ */

/* Whether the host likely has what this reference will look at: the core noted it not long ago. */
HOT bool is_warm(struct core *c, const struct niagara_ref *r)
{
	const uint64_t context = r->context % CONTEXTS;
	uint64_t block;

	if (r->kind >= NIAGARA_STORE)
		return store_note_at(c, r, context)->block == r->va >> LINE_BITS;
	return note_at(c, r, context, &block)->block == block;
}

/* That one is done: another one, for when the others ahead are. */
HOT void refill(struct niagara *n, struct worker *w, const struct strand *s, struct niagara_ref *r)
{
	n->next(n, w, r);
	r->strand = w->strand;
	if (!is_warm(s->core, r))
		cache_prefetch(n, s, mmu_physical(r));
}

void niagara_turn(struct niagara *n, struct worker *w, uint64_t until)
{
	struct strand *s = &n->strand[w->strand];
	struct run u;

	run_begin(&u, n, s);
	while (u.at < until) {
		struct niagara_ref *r = &w->ahead[w->done++ % AHEAD];

		if (who(r) != u.who)
			run_turn(&u, r);
		run_step(&u, r);
		refill(n, w, s, r);
	}
	run_end(&u);
}

/* ---- time ---------------------------------------------------------------------------------------------- */

void niagara_run(struct niagara *n, uint64_t cycles)
{
	if (cycles <= now_of(&n->clock))
		return;
	if (n->next)
		load_run(n, cycles);
	atomic_store_explicit(&n->clock, cycles, memory_order_relaxed);
}

uint64_t niagara_now(const struct niagara *n)
{
	return now_of(&n->clock);
}

const struct niagara_truth *niagara_truth(const struct niagara *n)
{
	return &n->truth;
}

void niagara_make_busy(struct niagara *n, uint32_t zambezi, uint32_t count)
{
	atomic_store_explicit(&n->zambezi[zambezi % PLANES].busy, count, memory_order_relaxed);
}
