/*
 * cg_agg.c: aggregations and stack ids.
 *
 * Values are per CPU and at most 32 bytes; a histogram's bucket is the last word of its key, so that memory is taken
 * for the buckets that occur.  A perf program is never interrupted by another on its CPU, so it adds plainly; what the
 * tracer runs itself (BEGIN, END, tick) can be, and adds atomically, and so does a program of a place in a process.  A
 * program of a system call can be interrupted by perf programs only, where there are some.  One at a tracepoint may
 * interrupt any other, so where there is one, all add atomically. A new key is put in as zeros and then found: one way
 * of adding, and a key that another CPU puts in at the same moment is not overwritten.
 *
 * The memory of a new key comes from a stock of the map and the CPU, which kernels since 6.8 keep at a single one and
 * fill up in an interrupt. So where interrupts are off, a second new key finds none.  It goes into a spare map then,
 * whose memory is there from the start, and user space adds both up.  Once there is memory, the same key may go into
 * the first map, too.
 */
#include <string.h>

#include "bpf/cg_int.h"
#include "facts/bucket.h"

/* [R0 + word] += reg */
static void agg_emit_add(struct cg *g, unsigned word, uint8_t reg)
{
	if (g->has_points || g->probe->cls == IMG_TEST || cg_is_user(g) || (cg_is_call(g) && g->has_perf)) {
		cg_ins(g, I_ATOMIC(DW, ADD, R0, 8 * (int)word, reg));
		return;
	}
	cg_ins(g, I_LOAD(DW, R1, R0, 8 * (int)word));
	cg_ins(g, I_ALU_REG(ADD, R1, reg));
	cg_ins(g, I_STORE(DW, R0, 8 * (int)word, R1));
}

static void add_imm(struct cg *g, unsigned word, int32_t v)
{
	cg_imm(g, R2, v);
	agg_emit_add(g, word, R2);
}

static void agg_emit_extreme(struct cg *g, const struct ir_ins *i, bool max)
{
	uint32_t store = cg_label(g), end = cg_label(g);
	uint8_t a = cg_use(g, i->a, R2);

	cg_ins(g, I_LOAD(DW, R1, R0, 8));
	cg_jcc(g, I_JMP_IMM(JEQ, R1, 0, 0), store);
	cg_ins(g, I_LOAD(DW, R1, R0, 0));
	cg_jcc(g, max ? I_JMP_REG(JSGE, R1, a, 0) : I_JMP_REG(JSLE, R1, a, 0), end);
	cg_put(g, store);
	cg_ins(g, I_STORE(DW, R0, 0, a));
	cg_ins(g, I_STORE_IMM(DW, R0, 8, 1));
	cg_put(g, end);
}

/* Adds a * a, 128 bits wide, to words 2 (low) and 3 (high): with a = h * 2^32 + l,
 * a^2 = h^2 * 2^64 + 2hl * 2^32 + l^2. */
static void add_square(struct cg *g, const struct ir_ins *i)
{
	uint32_t positive = cg_label(g), c1 = cg_label(g), c2 = cg_label(g);

	cg_mov(g, R2, cg_use(g, i->a, R2));
	cg_jcc(g, I_JMP_IMM(JSGE, R2, 0, 0), positive);
	cg_ins(g, I_NEG(R2));
	cg_put(g, positive);
	cg_ins(g, I_MOV32_REG(R3, R2));    /* l */
	cg_ins(g, I_ALU_IMM(RSH, R2, 32)); /* h */
	cg_mov(g, R4, R2);
	cg_ins(g, I_ALU_REG(MUL, R4, R3)); /* hl, below 2^63 */
	cg_ins(g, I_ALU_REG(MUL, R2, R2)); /* high = h^2 */
	cg_ins(g, I_ALU_REG(MUL, R3, R3)); /* low = l^2 */
	cg_mov(g, R5, R4);
	cg_ins(g, I_ALU_IMM(RSH, R5, 31)); /* high part of 2hl * 2^32 */
	cg_ins(g, I_ALU_REG(ADD, R2, R5));
	cg_ins(g, I_ALU_IMM(LSH, R4, 33)); /* its low part */
	cg_ins(g, I_ALU_REG(ADD, R3, R4));
	cg_jcc(g, I_JMP_REG(JGE, R3, R4, 0), c1);
	cg_ins(g, I_ALU_IMM(ADD, R2, 1));
	cg_put(g, c1);
	cg_ins(g, I_LOAD(DW, R4, R0, 16));
	cg_ins(g, I_ALU_REG(ADD, R4, R3));
	cg_ins(g, I_STORE(DW, R0, 16, R4));
	cg_jcc(g, I_JMP_REG(JGE, R4, R3, 0), c2);
	cg_ins(g, I_ALU_IMM(ADD, R2, 1));
	cg_put(g, c2);
	agg_emit_add(g, 3, R2);
}

/* Adds the value, as often as its weight says, to word 1. */
static void agg_emit_weighted(struct cg *g, const struct ir_ins *i)
{
	cg_mov(g, R2, cg_use(g, i->a, R2));
	if (i->b) {
		cg_mov(g, R3, cg_use(g, i->b, R3));
		cg_ins(g, I_ALU_REG(MUL, R2, R3));
	}
	agg_emit_add(g, 1, R2);
}

/* Adds the value to what R0 points to. */
static void add_value(struct cg *g, const struct ir_ins *i)
{
	switch (g->p->agg[i->x].fn) {
	case AGG_COUNT:
		add_imm(g, 0, 1);
		break;
	case AGG_SUM:
		agg_emit_add(g, 0, cg_use(g, i->a, R2));
		if (!i->p)
			add_imm(g, 1, 1);
		break;
	case AGG_AVG:
		add_imm(g, 0, 1);
		agg_emit_add(g, 1, cg_use(g, i->a, R2));
		break;
	case AGG_MIN:
	case AGG_MAX:
		agg_emit_extreme(g, i, g->p->agg[i->x].fn == AGG_MAX);
		break;
	case AGG_STDDEV:
		add_imm(g, 0, 1);
		agg_emit_add(g, 1, cg_use(g, i->a, R2));
		add_square(g, i);
		break;
	default:
		if (i->b)
			agg_emit_add(g, 0, cg_use(g, i->b, R2));
		else
			add_imm(g, 0, 1);
		if (g->o->sums)
			agg_emit_weighted(g, i);
	}
}

/* ---- buckets: each leaves its number in R1 -------------------------------------------- */

/* R2 += floor(log2(R1)), R1 > 0: halves the width six times. */
static void log2_of(struct cg *g)
{
	for (int width = 32; width; width /= 2) {
		uint32_t below = cg_label(g);

		if (width == 32) {
			cg_mov(g, R3, R1);
			cg_ins(g, I_ALU_IMM(RSH, R3, 32));
			cg_jcc(g, I_JMP_IMM(JEQ, R3, 0, 0), below);
		} else {
			cg_jcc(g, I_JMP_IMM(JLT, R1, 1 << width, 0), below);
		}
		cg_ins(g, I_ALU_IMM(RSH, R1, width));
		cg_ins(g, I_ALU_IMM(ADD, R2, width));
		cg_put(g, below);
	}
}

static void agg_emit_quantize(struct cg *g)
{
	uint32_t neg = cg_label(g), end = cg_label(g), zero = cg_label(g);

	cg_imm(g, R2, 1);
	cg_jcc(g, I_JMP_IMM(JEQ, R1, 0, 0), zero);
	cg_jcc(g, I_JMP_IMM(JSLT, R1, 0, 0), neg);
	log2_of(g);
	cg_mov(g, R1, R2);
	cg_ins(g, I_ALU_IMM(ADD, R1, QUANTIZE_ZERO));
	cg_jmp(g, end);
	cg_put(g, neg);
	cg_ins(g, I_NEG(R1));
	log2_of(g);
	cg_imm(g, R1, QUANTIZE_ZERO);
	cg_ins(g, I_ALU_REG(SUB, R1, R2));
	cg_jcc(g, I_JMP_IMM(JSGE, R1, 0, 0), end);
	cg_imm(g, R1, 0); /* INT64_MIN */
	cg_jmp(g, end);
	cg_put(g, zero);
	cg_imm(g, R1, QUANTIZE_ZERO);
	cg_put(g, end);
}

static void agg_emit_lquantize(struct cg *g, const struct lquantize *q)
{
	uint32_t under = cg_label(g), over = cg_label(g), end = cg_label(g), levels = lquantize_levels(q);
	int64_t top = q->base + (int64_t)levels * q->step;

	cg_imm(g, R2, q->base);
	cg_jcc(g, I_JMP_REG(JSLT, R1, R2, 0), under);
	cg_imm(g, R3, top);
	cg_jcc(g, I_JMP_REG(JSGE, R1, R3, 0), over);
	cg_ins(g, I_ALU_REG(SUB, R1, R2));
	cg_imm(g, R2, q->step);
	cg_ins(g, I_ALU_REG(DIV, R1, R2));
	cg_ins(g, I_ALU_IMM(ADD, R1, 1));
	cg_jmp(g, end);
	cg_put(g, under);
	cg_imm(g, R1, 0);
	cg_jmp(g, end);
	cg_put(g, over);
	cg_imm(g, R1, levels + 1);
	cg_put(g, end);
}

/* Binary search written out: bucket = how many of edge[lo..hi) are <= R1, plus lo. */
static void agg_emit_search(struct cg *g, const int64_t *edge, uint32_t lo, uint32_t hi, uint32_t end)
{
	uint32_t mid = lo + (hi - lo) / 2, left;

	if (lo == hi) {
		cg_imm(g, R1, lo);
		cg_jmp(g, end);
		return;
	}
	left = cg_label(g);
	cg_imm(g, R2, edge[mid]);
	cg_jcc(g, I_JMP_REG(JSLT, R1, R2, 0), left);
	agg_emit_search(g, edge, mid + 1, hi, end);
	cg_put(g, left);
	agg_emit_search(g, edge, lo, mid, end);
}

static void agg_emit_llquantize(struct cg *g, const struct llquantize *q)
{
	int64_t *edge = mem_alloc(LLQUANTIZE_EDGES * sizeof(*edge));
	uint32_t end = cg_label(g);

	if (!edge) {
		cg_oom(g);
		return;
	}
	agg_emit_search(g, edge, 0, llquantize_edges(q, edge), end);
	cg_put(g, end);
	mem_free(edge);
}

static void agg_emit_bucket(struct cg *g, const struct ir_ins *i)
{
	const struct d_agg *a = &g->p->agg[i->x];
	struct cg_at at;

	cg_mov(g, R1, cg_use(g, i->a, R1));
	if (a->fn == AGG_QUANTIZE)
		agg_emit_quantize(g);
	else if (a->fn == AGG_LQUANTIZE)
		agg_emit_lquantize(g, &a->lq);
	else
		agg_emit_llquantize(g, &a->llq);
	at = cg_obj(g, i->p, a->key_size - 8, R4);
	cg_ins(g, I_STORE(DW, at.base, at.off, R1));
}

#define SPARES_MOST 24u /* aggregations that have a spare map */

/* ---- the aggregation --------------------------------------------------------------------- */

static void agg_emit_find(struct cg *g, const struct ir_ins *i, uint32_t map)
{
	cg_map(g, R1, map);
	if (i->p)
		cg_addr(g, R2, i->p, 0);
	else
		cg_lea(g, R2, R10, FP_KEY);
	cg_ins(g, I_CALL(map_lookup_elem));
}

/* The key, whose value are the zeros at FP_TMP, is put into the map and found there: then to `hit`. */
static void agg_emit_new_key(struct cg *g, const struct ir_ins *i, uint32_t map, uint32_t hit)
{
	cg_map(g, R1, map);
	cg_addr(g, R2, i->p, 0);
	cg_lea(g, R3, R10, FP_TMP);
	cg_imm(g, R4, MAP_NOEXIST);
	cg_ins(g, I_CALL(map_update_elem));
	agg_emit_find(g, i, map);
	cg_jcc(g, I_JMP_IMM(JNE, R0, 0, 0), hit);
}

/* How many probes of the clause can fire in one interrupt: those of events, whose timers may end together. */
static uint32_t agg_firings(const struct cg *g, const struct d_clause *c)
{
	uint32_t n = 0;

	for (uint32_t k = 0; k < g->o->nprobes && g->has_perf; k++)
		for (uint32_t i = 0; g->o->probe[k].cls == IMG_PERF && i < c->nprobes; i++)
			n += g->o->probe[k].id == c->probes[i];
	return n ? n : 1;
}

/* Whether several keys may be new while interrupts are off: firings at tracepoints can follow one another there,
 * several events can fire at once, and a script may have several statements for one firing.  Programs can name so many
 * maps, and aggregations come first. */
static bool agg_wants_spare(const struct cg *g, uint32_t agg)
{
	uint32_t statements = 0;

	if (g->o->arch == &bpf_arch_vm || g->p->naggs > SPARES_MOST)
		return false;
	for (uint32_t c = 0; c < g->p->nclauses; c++)
		for (uint32_t k = 0; k < g->p->clause[c].nins; k++)
			if (g->p->clause[c].ins[k].op == IR_AGG && g->p->clause[c].ins[k].x == agg)
				statements += agg_firings(g, &g->p->clause[c]);
	return g->has_points || (g->has_perf && statements > 1);
}

void cg_agg(struct cg *g, const struct ir_ins *i)
{
	uint32_t map = cg_map_index(g, IMG_AGG, i->x), hit = cg_label(g), end = cg_label(g);

	if (g->p->agg[i->x].fn >= AGG_QUANTIZE)
		agg_emit_bucket(g, i);
	if (!i->p)
		cg_ins(g, I_STORE_IMM(W, R10, FP_KEY, 0));
	agg_emit_find(g, i, map);
	cg_jcc(g, I_JMP_IMM(JNE, R0, 0, 0), hit);
	if (i->p) {
		cg_zero(g, (struct cg_at){ R10, FP_TMP }, 32);
		agg_emit_new_key(g, i, map, hit);
		if (agg_wants_spare(g, i->x))
			agg_emit_new_key(g, i, cg_map_index(g, IMG_SPARE, i->x), hit);
	}
	cg_count(g, offsetof(struct img_drops, aggs));
	cg_jmp(g, end);
	cg_put(g, hit);
	add_value(g, i);
	cg_put(g, end);
}

/* ---- stack ids -------------------------------------------------------------------------------- */

/* The rest of `room` bytes of scratch memory from `at` on, behind those frames whose bytes FP_TMP + 8 has, becomes
 * zeros. */
static void long_stack_pad(struct cg *g, uint32_t at, uint32_t room)
{
	uint32_t top = cg_label(g), end = cg_label(g);

	cg_ins(g, I_LOAD(DW, R5, R10, FP_TMP + 8));
	cg_put(g, top);
	cg_jcc(g, I_JMP_IMM(JGT, R5, (int32_t)room - 8, 0), end);
	cg_lea(g, R2, R7, (int32_t)at);
	cg_ins(g, I_ALU_REG(ADD, R2, R5));
	cg_ins(g, I_STORE_IMM(DW, R2, 0, 0));
	cg_ins(g, I_ALU_IMM(ADD, R5, 8));
	cg_jmp(g, top);
	cg_put(g, end);
}

/* R1 = the hash of a stack, which FP_TMP has then, of 62 bits: to `kept` if that stack is known. */
void cg_long_stack_find(struct cg *g, uint32_t kept)
{
	cg_ins(g, I_ALU_IMM(LSH, R1, 2));
	cg_ins(g, I_ALU_IMM(RSH, R1, 2));
	cg_ins(g, I_STORE(DW, R10, FP_TMP, R1));
	cg_map(g, R1, cg_map_index(g, IMG_LONG_STACKS, 0));
	cg_lea(g, R2, R10, FP_TMP);
	cg_ins(g, I_CALL(map_lookup_elem));
	cg_jcc(g, I_JMP_IMM(JNE, R0, 0, 0), kept);
}

/* Behind it: the frames at cg_frames() are kept under that hash, or to `none` without room. R0 = the id. */
void cg_long_stack_keep(struct cg *g, uint32_t kept, uint32_t none)
{
	cg_map(g, R1, cg_map_index(g, IMG_LONG_STACKS, 0));
	cg_lea(g, R2, R10, FP_TMP);
	cg_lea(g, R3, R7, (int32_t)cg_frames(g));
	cg_imm(g, R4, MAP_ANY);
	cg_ins(g, I_CALL(map_update_elem));
	cg_jcc(g, I_JMP_IMM(JNE, R0, 0, 0), none);
	cg_put(g, kept);
	cg_ins(g, I_LOAD(DW, R0, R10, FP_TMP));
	cg_imm(g, R1, (int64_t)STACK_ID_LONG);
	cg_ins(g, I_ALU_REG(OR, R0, R1));
}

/*
 * The kernel keeps a stack under a hash of few bits and answers EEXIST when
 * another stack is there.  Then the frames are taken and kept in a map of our
 * own under a hash of 62 bits.  The frames go to the end of scratch memory.
 * A stack that is there already costs its walk, the hash of its frames and a look-up.
 */
static void long_stack(struct cg *g, const struct ir_ins *i, uint32_t empty, uint32_t none)
{
	uint32_t bytes = 8 * g->frames, top = cg_label(g), done = cg_label(g), kept = cg_label(g), at = cg_frames(g);

	cg_stack_key_flags(g, R4, i->x);
	cg_lea(g, R2, R7, (int32_t)at);
	cg_imm(g, R3, bytes);
	cg_get_stack(g, i->x);
	cg_jcc(g, I_JMP_IMM(JSLE, R0, 0, 0), empty);
	cg_imm(g, R1, (int64_t)0x9e3779b97f4a7c15);
	cg_imm(g, R4, (int64_t)0xff51afd7ed558ccd);
	cg_imm(g, R5, 0);
	cg_put(g, top);
	cg_jcc(g, I_JMP_REG(JLE, R0, R5, 0), done);
	cg_lea(g, R2, R7, (int32_t)at);
	cg_ins(g, I_ALU_REG(ADD, R2, R5));
	cg_ins(g, I_LOAD(DW, R3, R2, 0));
	cg_ins(g, I_ALU_REG(XOR, R1, R3));
	cg_ins(g, I_ALU_REG(MUL, R1, R4));
	cg_mov(g, R3, R1);
	cg_ins(g, I_ALU_IMM(RSH, R3, 32));
	cg_ins(g, I_ALU_REG(XOR, R1, R3));
	cg_ins(g, I_ALU_IMM(ADD, R5, 8));
	cg_jmp(g, top);
	cg_put(g, done);
	cg_forget(g, R0); /* each way out of the loop has bounds of its own, and would be walked to the end */
	cg_ins(g, I_ALU_IMM(AND, R0, (int32_t)(2 * cg_power_of_2(bytes) - 8)));
	cg_ins(g, I_STORE(DW, R10, FP_TMP + 8, R0));
	cg_long_stack_find(g, kept);
	long_stack_pad(g, at, bytes);
	cg_long_stack_keep(g, kept, none);
}

void cg_stackid(struct cg *g, const struct ir_ins *i)
{
	uint32_t none = cg_label(g), empty = cg_label(g), kept = cg_label(g), end = cg_label(g);

	if (!i->x && g->probe->cls == IMG_TEST) { /* as OSTACK */
		cg_imm(g, R0, -1);
		cg_done(g, i->d, R0);
		return;
	}
	if (cg_unwinds(g, i->x)) {
		cg_unwind_id(g, none, empty);
	} else if (!cg_has_subject(g)) { /* there is no such id of another thread's */
		cg_stack_key_flags(g, R3, i->x);
		cg_mov(g, R1, R6);
		cg_map(g, R2, cg_map_index(g, IMG_STACKS, 0));
		cg_ins(g, I_CALL(get_stackid));
		cg_jcc(g, I_JMP_IMM(JSGE, R0, 0, 0), kept);
		cg_jcc(g, I_JMP_IMM(JEQ, R0, -BPF_EFAULT, 0), empty); /* no such stack: a kernel thread, an idle CPU */
		cg_jcc(g, I_JMP_IMM(JNE, R0, -BPF_EEXIST, 0), none);
	}
	if (!cg_unwinds(g, i->x))
		long_stack(g, i, cg_has_subject(g) ? empty : none, none);
	cg_put(g, kept);
	if (!i->x && cg_stack_has_dispatch(g)) {
		cg_imm(g, R1, (int64_t)STACK_ID_DISPATCH);
		cg_ins(g, I_ALU_REG(OR, R0, R1));
	}
	cg_jmp(g, end);
	cg_put(g, none);
	cg_count(g, offsetof(struct img_drops, stacks));
	cg_put(g, empty);
	cg_imm(g, R0, -1);
	cg_put(g, end);
	cg_done(g, i->d, R0);
}
