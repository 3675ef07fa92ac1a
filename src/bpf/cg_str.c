/*
 * cg_str.c: strings.
 *
 * A string is an object: NUL-terminated, zero-padded to its bound.  That makes
 * equal strings equal words, so comparing goes by words; and
 * probe_read_kernel_str() copies, cuts and measures in one call.
 * What must look at each byte is a loop in a function that all clauses of a
 * program share (below).
 */
#include <string.h>

#include "bpf/cg_int.h"

void cg_slen(struct cg *g, const struct ir_ins *i)
{
	cg_lea(g, R1, R7, (int32_t)cg_work_copy(g));
	cg_imm(g, R2, i->s);
	cg_addr(g, R3, i->p, i->P);
	cg_ins(g, I_CALL(probe_read_kernel_str));
	cg_ins(g, I_ALU_IMM(SUB, R0, 1));
	cg_done(g, i->d, R0);
}

/* Words of big-endian order compare as the bytes do. */
static void str_emit_differ(struct cg *g, const struct ir_ins *i)
{
	uint32_t more = cg_label(g), end = cg_label(g);

	cg_ins(g, I_BE(R1, 64));
	cg_ins(g, I_BE(R2, 64));
	cg_jcc(g, I_JMP_REG(JGT, R1, R2, 0), more);
	cg_imm(g, R0, -1);
	cg_jmp(g, end);
	cg_put(g, more);
	cg_imm(g, R0, 1);
	cg_put(g, end);
	cg_done(g, i->d, R0);
}

/* How many bytes a comparison looks at: the shorter bound ends in a NUL, so when its words are equal, the strings
 * are. */
static uint32_t str_compared(const struct cg *g, const struct ir_ins *i)
{
	const uint32_t bound = i->q ? (uint32_t)i->i : (uint32_t)((strlen(g->p->lit[i->x]) + 8) & ~(size_t)7);

	return i->s < bound ? i->s : bound;
}

/*
 * How much of a string that the program reads must be zero behind its NUL.  All of it, where it is a key or a variable,
 * and in a record, which would hand out what this memory had before.  What only measures it ends at the NUL, and what
 * compares it goes by words up to the shorter bound.
 */
uint32_t cg_str_padded(const struct cg *g, const struct ir_ins *read)
{
	const uint32_t whole = (read->s + 7) & ~7u;
	uint32_t most = 0;

	if (g->p->obj[read->o].kind != IR_OBJ_TEMP || read->o == g->clause->record || read->O)
		return whole;
	for (uint32_t k = 0; k < g->clause->nins; k++) {
		const struct ir_ins *i = &g->clause->ins[k];
		uint32_t looks = 0;

		if (i->o != read->o && i->p != read->o && i->q != read->o)
			continue;
		if (i->op == IR_SCMP)
			looks = str_compared(g, i) + i->P;
		else if (i->op != IR_SLEN && i->op != IR_OREADSTR && i->op != IR_OSTORE)
			return whole;
		most = looks > most ? looks : most;
	}
	return most < whole ? most : whole;
}

void cg_scmp(struct cg *g, const struct ir_ins *i)
{
	const char *lit = i->q ? NULL : g->p->lit[i->x];
	size_t litlen = lit ? strlen(lit) : 0;
	uint32_t n = str_compared(g, i), diff = cg_label(g), end = cg_label(g);
	struct cg_at p = cg_obj(g, i->p, i->P, R4), q = { 0 };

	if (i->q)
		q = cg_obj(g, i->q, 0, R5);
	for (uint32_t k = 0; k < n; k += 8) {
		uint64_t w = 0;

		cg_ins(g, I_LOAD(DW, R1, p.base, p.off + (int32_t)k));
		if (i->q) {
			cg_ins(g, I_LOAD(DW, R2, q.base, q.off + (int32_t)k));
		} else {
			memcpy(&w, lit + k, litlen - k < 8 ? litlen - k : 8);
			cg_imm(g, R2, (int64_t)w);
		}
		cg_jcc(g, I_JMP_REG(JNE, R1, R2, 0), diff);
	}
	cg_imm(g, R0, 0);
	cg_done(g, i->d, R0);
	cg_jmp(g, end);
	cg_put(g, diff);
	str_emit_differ(g, i);
	cg_put(g, end);
}

/* o (bound s, zeroed) = R2 bytes at most of p from R1 on; R1 is below p's bound. */
static void str_emit_cut(struct cg *g, const struct ir_ins *i)
{
	uint32_t fits = cg_label(g);

	cg_jcc(g, I_JMP_IMM(JLT, R2, (int32_t)i->s, 0), fits);
	cg_imm(g, R2, i->s - 1);
	cg_put(g, fits);
	cg_ins(g, I_ALU_IMM(ADD, R2, 1));
	cg_addr(g, R3, i->p, i->P);
	cg_ins(g, I_ALU_REG(ADD, R3, R1));
	cg_addr(g, R1, i->o, i->O);
	cg_ins(g, I_CALL(probe_read_kernel_str));
}

void cg_ssub(struct cg *g, const struct ir_ins *i)
{
	uint32_t end = cg_label(g);

	cg_zero(g, cg_obj(g, i->o, i->O, R4), i->s);
	cg_mov(g, R1, cg_use(g, i->a, R1));
	cg_mov(g, R2, cg_use(g, i->b, R2));
	cg_jcc(g, I_JMP_IMM(JGE, R1, (int32_t)i->i, 0), end);
	str_emit_cut(g, i);
	cg_put(g, end);
}

void cg_sjoin(struct cg *g, const struct ir_ins *i)
{
	uint32_t end = cg_label(g), some = cg_label(g);

	cg_zero(g, cg_obj(g, i->o, 0, R4), i->s);
	cg_addr(g, R1, i->o, 0);
	cg_imm(g, R2, i->i);
	cg_addr(g, R3, i->p, 0);
	cg_ins(g, I_CALL(probe_read_kernel_str));
	cg_jcc(g, I_JMP_IMM(JSGT, R0, 0, 0), some);
	cg_imm(g, R0, 1);
	cg_put(g, some);
	cg_ins(g, I_ALU_IMM(SUB, R0, 1));
	cg_jcc(g, I_JMP_IMM(JGE, R0, (int32_t)i->i, 0), end);
	cg_addr(g, R1, i->o, 0);
	cg_ins(g, I_ALU_REG(ADD, R1, R0));
	cg_imm(g, R2, i->x);
	cg_addr(g, R3, i->q, 0);
	cg_ins(g, I_CALL(probe_read_kernel_str));
	cg_put(g, end);
}

/* ---- functions with loops over bytes --------------------------------------------------
 *
 * index() and the two that take paths apart look at each byte.  Their loops are callbacks of bpf_loop(), whose body
 * the verifier walks once; and they lie in functions of their own with global linkage, which it walks once for all
 * calls, on any arguments.  So what a script pays for one more index() is the call.
 *
 * A function gets the address of scratch memory, where its state lies (WORK_I ...), and those of one or two strings.
 * It is made for the longest strings of the program: where a string ends, it stops, and does not read what lies
 * behind.  A callback's body is some steps without a branch: what would be one becomes a mask of ones or zeros, and
 * steps behind the end change nothing.  Then it returns 1, and the loop ends.
 */
#define STEPS 8u        /* of index() in a callback */
#define STRIDE 16u      /* bytes of a path in a callback */
enum { FP_LOOP = -24 }; /* in a function: scratch memory and strings, for its callbacks */

/* A place is masked to a power of 2 that may be above the bound.  It never is there, but the verifier
 * believes the mask: so there is room behind the memory, as much as the longest bound (g->slack). */
uint32_t cg_power_of_2(uint32_t n)
{
	uint32_t p = STRIDE;

	while (p < n)
		p *= 2;
	return p;
}

/* reg = reg == 0 ? -1 : 0, for reg below 2^63: a mask */
static void if_zero(struct cg *g, uint8_t reg)
{
	cg_ins(g, I_ALU_IMM(SUB, reg, 1));
	cg_ins(g, I_ALU_IMM(ARSH, reg, 63));
}

/* reg = reg == 0 ? 0 : -1, for reg below 2^63 */
static void if_not_zero(struct cg *g, uint8_t reg)
{
	cg_ins(g, I_NEG(reg));
	cg_ins(g, I_ALU_IMM(ARSH, reg, 63));
}

/* to = mask ? from : to; from is lost */
static void set_if(struct cg *g, uint8_t to, uint8_t from, uint8_t mask)
{
	cg_ins(g, I_ALU_REG(SUB, from, to));
	cg_ins(g, I_ALU_REG(AND, from, mask));
	cg_ins(g, I_ALU_REG(ADD, to, from));
}

/* to = byte `at` of the string at `base`; `at` was masked, so that the verifier sees its bound. */
static void byte_of(struct cg *g, uint8_t to, uint8_t base, uint8_t at)
{
	cg_mov(g, to, base);
	cg_ins(g, I_ALU_REG(ADD, to, at));
	cg_ins(g, I_LOAD(B, to, to, 0));
}

/* reg, which is below n, in the verifier's sight too */
static void below_power_of_2(struct cg *g, uint8_t reg, uint32_t n)
{
	cg_ins(g, I_ALU_IMM(AND, reg, (int32_t)cg_power_of_2(n) - 1));
}

/* The label of a function; it is made when the program's clauses are. */
static uint32_t function_label(struct cg *g, enum cg_fn fn)
{
	if (!g->fn[fn].used) {
		g->fn[fn].used = true;
		g->fn[fn].label = cg_label(g);
		g->fn[fn].line = g->line;
	}
	return g->fn[fn].label;
}

static void function_put(struct cg *g, uint32_t label, uint8_t nargs)
{
	struct img_func *f = &g->func[g->nfuncs++];

	assert(g->nfuncs <= IMG_FUNCS_MOST);
	cg_put(g, label);
	*f = (struct img_func){ .ins = g->nins,
				.nargs = nargs,
				.arg_bytes = { cg_work_copy(g), cg_power_of_2(g->work_text),
					       cg_power_of_2(g->work_needle) } };
}

/* Begins a function of nargs addresses: R7, R8 (and R9) and the stack from FP_LOOP on keep them. */
static void function_begin(struct cg *g, enum cg_fn fn, uint8_t nargs, uint32_t out)
{
	g->line = g->fn[fn].line;
	function_put(g, g->fn[fn].label, nargs);
	for (uint8_t k = 0; k < nargs; k++) /* the verifier asks for it: a caller could pass NULL */
		cg_jcc(g, I_JMP_IMM(JEQ, R1 + k, 0, 0), out);
	for (uint8_t k = 0; k < nargs; k++) {
		cg_mov(g, R7 + k, R1 + k);
		cg_ins(g, I_STORE(DW, R10, FP_LOOP + 8 * k, R7 + k));
	}
}

/* At least `turns` steps of a callback, whose label it returns. */
static uint32_t function_loop(struct cg *g, uint32_t turns, uint32_t stride)
{
	uint32_t body = cg_label(g);

	cg_imm(g, R1, (turns + stride - 1) / stride);
	cg_func(g, R2, body);
	cg_lea(g, R3, R10, FP_LOOP);
	cg_imm(g, R4, 0);
	cg_ins(g, I_CALL(loop));
	return body;
}

static void callback_begin(struct cg *g, uint32_t label, uint8_t nargs)
{
	function_put(g, label, 0);
	for (uint8_t k = 0; k < nargs; k++)
		cg_ins(g, I_LOAD(DW, R7 + k, R2, 8 * k));
}

/* Returns 1, which ends the loop, when `live` is 0; while it is -1, 0. */
static void callback_end(struct cg *g, uint8_t live)
{
	cg_mov(g, R0, live);
	cg_ins(g, I_ALU_IMM(ADD, R0, 1));
	cg_ins(g, I_ALU_IMM(AND, R0, 1));
	cg_ins(g, I_EXIT());
}

/* ---- index(): Knuth, Morris and Pratt's search ----------------------------------------
 *
 * i is a place in the text (when the table is built: in the needle itself), j how
 * many bytes of the needle match before it; F[j] is where to go on after a mismatch, F[0] = 0.
 */

enum kmp_walk { KMP_TABLE, KMP_FIRST, KMP_LAST };

/* to = address of F's entry for a prefix of `at` bytes */
static void fail_of(struct cg *g, uint8_t to, uint8_t at)
{
	cg_mov(g, to, at);
	cg_ins(g, I_ALU_IMM(LSH, to, 1));
	cg_ins(g, I_ALU_REG(ADD, to, R7));
}

/* When the needle has matched whole before i, and begins where it may (not behind WORK_K), that place is the last so
 * far; the search goes on from the longest prefix that also ends here. */
static void kmp_note_match(struct cg *g)
{
	below_power_of_2(g, R6, g->work_needle);
	byte_of(g, R4, R9, R6);
	if_zero(g, R4); /* R4: the needle has ended */
	cg_mov(g, R3, R5);
	cg_ins(g, I_ALU_REG(SUB, R3, R6));
	cg_ins(g, I_LOAD(DW, R1, R7, WORK_K));
	cg_ins(g, I_ALU_REG(SUB, R1, R3));
	cg_ins(g, I_ALU_IMM(ARSH, R1, 63));
	cg_ins(g, I_ALU_IMM(XOR, R1, -1)); /* R1: it may begin there */
	cg_ins(g, I_ALU_REG(AND, R1, R4));
	cg_ins(g, I_LOAD(DW, R2, R7, WORK_LAST));
	set_if(g, R2, R3, R1);
	cg_ins(g, I_STORE(DW, R7, WORK_LAST, R2));
	fail_of(g, R1, R6);
	cg_ins(g, I_LOAD(H, R1, R1, WORK_FAIL));
	set_if(g, R6, R1, R4);
}

/* One step: compares byte i (R5) of the text (R8) with byte j (R6) of the needle (R9) and moves on, or back; R0 says
 * whether neither string had ended (of the last match: the text).  For the table, the needle is the text, and F[i + 1]
 * is written: j + 1 after a match, else 0 (and again when j has come back to a match). */
static void kmp_step(struct cg *g, enum kmp_walk walk)
{
	const bool table = walk == KMP_TABLE;

	below_power_of_2(g, R5, table ? g->work_needle : g->work_text);
	below_power_of_2(g, R6, g->work_needle);
	byte_of(g, R3, table ? R9 : R8, R5);
	byte_of(g, R4, R9, R6);
	cg_mov(g, R0, R3);
	if (walk == KMP_FIRST)
		cg_ins(g, I_ALU_REG(MUL, R0, R4));
	if_not_zero(g, R0); /* R0: neither string has ended */
	cg_ins(g, I_ALU_REG(XOR, R3, R4));
	if_zero(g, R3); /* R3: equal */
	cg_ins(g, I_ALU_REG(AND, R3, R0));
	if (table) {
		fail_of(g, R1, R5);
		cg_mov(g, R4, R6);
		cg_ins(g, I_ALU_IMM(ADD, R4, 1));
		cg_ins(g, I_ALU_REG(AND, R4, R3));
		cg_ins(g, I_STORE(H, R1, WORK_FAIL + 2, R4));
	}
	cg_mov(g, R4, R6); /* i goes on when equal, or live and j == 0 */
	if_zero(g, R4);
	cg_ins(g, I_ALU_REG(AND, R4, R0));
	cg_ins(g, I_ALU_REG(OR, R4, R3));
	cg_ins(g, I_ALU_REG(SUB, R5, R4));
	fail_of(g, R4, R6); /* j = equal ? j + 1 : live ? F[j] : j */
	cg_ins(g, I_LOAD(H, R4, R4, WORK_FAIL));
	cg_mov(g, R1, R0);
	cg_ins(g, I_ALU_REG(XOR, R1, R3));
	set_if(g, R6, R4, R1);
	cg_ins(g, I_ALU_REG(SUB, R6, R3));
}

static void kmp_callback(struct cg *g, uint32_t label, enum kmp_walk walk)
{
	callback_begin(g, label, 3);
	cg_ins(g, I_LOAD(DW, R5, R7, WORK_I));
	cg_ins(g, I_LOAD(DW, R6, R7, WORK_J));
	for (uint32_t k = 0; k < STEPS; k++) {
		if (walk == KMP_LAST)
			kmp_note_match(g);
		kmp_step(g, walk);
	}
	cg_ins(g, I_STORE(DW, R7, WORK_I, R5));
	cg_ins(g, I_STORE(DW, R7, WORK_J, R6));
	callback_end(g, R0);
}

/* R0 = where needle R3 begins in text R2, from WORK_K on (or, the last time, up to there); or -1. */
static void function_index(struct cg *g, enum cg_fn fn)
{
	const enum kmp_walk walk = fn == CG_FN_INDEX ? KMP_FIRST : KMP_LAST;
	uint32_t out = cg_label(g), table, search;

	function_begin(g, fn, 3, out);
	cg_ins(g, I_STORE_IMM(DW, R7, WORK_I, 1));
	cg_ins(g, I_STORE_IMM(DW, R7, WORK_J, 0));
	cg_ins(g, I_STORE_IMM(W, R7, WORK_FAIL, 0));
	table = function_loop(g, 2 * g->work_needle + 2, STEPS);
	if (walk == KMP_FIRST) {
		cg_ins(g, I_LOAD(DW, R1, R7, WORK_K));
		cg_ins(g, I_STORE(DW, R7, WORK_I, R1));
	} else {
		cg_ins(g, I_STORE_IMM(DW, R7, WORK_I, 0));
		cg_ins(g, I_STORE_IMM(DW, R7, WORK_LAST, -1));
	}
	cg_ins(g, I_STORE_IMM(DW, R7, WORK_J, 0));
	search = function_loop(g, 2 * g->work_text + 2, STEPS);
	if (walk == KMP_FIRST) {
		cg_ins(g, I_LOAD(DW, R2, R7, WORK_J));
		below_power_of_2(g, R2, g->work_needle);
		byte_of(g, R4, R9, R2);
		cg_jcc(g, I_JMP_IMM(JNE, R4, 0, 0), out);
		cg_ins(g, I_LOAD(DW, R0, R7, WORK_I));
		cg_ins(g, I_ALU_REG(SUB, R0, R2));
	} else { /* a match that ends with the text was not noted by a step */
		cg_ins(g, I_LOAD(DW, R5, R7, WORK_I));
		cg_ins(g, I_LOAD(DW, R6, R7, WORK_J));
		kmp_note_match(g);
		cg_ins(g, I_LOAD(DW, R0, R7, WORK_LAST));
	}
	cg_ins(g, I_EXIT());
	cg_put(g, out);
	cg_imm(g, R0, -1);
	cg_ins(g, I_EXIT());
	kmp_callback(g, table, KMP_TABLE);
	kmp_callback(g, search, walk);
}

static void index_call(struct cg *g, const struct ir_ins *i, enum cg_fn fn)
{
	cg_ins(g, I_STORE(DW, R7, WORK_K, cg_use(g, i->a, R1)));
	cg_mov(g, R1, R7);
	cg_addr(g, R2, i->p, 0);
	cg_addr(g, R3, i->q, 0);
	cg_call(g, function_label(g, fn));
	cg_done(g, i->d, R0);
}

void cg_sindex(struct cg *g, const struct ir_ins *i)
{
	index_call(g, i, CG_FN_INDEX);
}

void cg_srindex(struct cg *g, const struct ir_ins *i)
{
	index_call(g, i, CG_FN_RINDEX);
}

/* ---- strtok(): spans of bytes ------------------------------------------------------------
 *
 * A table has a 1 for each byte that the needle has.  WORK_J is what a byte's entry is exclusively or'ed with, to
 * be 1 while the walk goes on: 0 for a span of bytes in the needle, 1 for one of others.  The NUL's entry is WORK_J
 * itself, so every walk stops there, and a place that stopped stays.
 */

static void span_set_callback(struct cg *g, uint32_t label)
{
	callback_begin(g, label, 3);
	cg_mov(g, R5, R1);
	cg_ins(g, I_ALU_IMM(MUL, R5, STEPS));
	cg_ins(g, I_ALU_IMM(AND, R5, (int32_t)(cg_power_of_2(g->work_needle) - STEPS)));
	cg_ins(g, I_ALU_REG(ADD, R9, R5));
	for (uint32_t k = 0; k < STEPS; k++) {
		cg_ins(g, I_LOAD(B, R3, R9, k));
		cg_mov(g, R4, R7);
		cg_ins(g, I_ALU_REG(ADD, R4, R3));
		cg_ins(g, I_STORE_IMM(B, R4, WORK_FAIL, 1));
	}
	if_not_zero(g, R3);
	callback_end(g, R3);
}

static void span_callback(struct cg *g, uint32_t label)
{
	callback_begin(g, label, 3);
	cg_ins(g, I_LOAD(DW, R5, R7, WORK_I));
	cg_ins(g, I_LOAD(DW, R6, R7, WORK_J));
	for (uint32_t k = 0; k < STEPS; k++) {
		below_power_of_2(g, R5, g->work_text);
		byte_of(g, R3, R8, R5);
		cg_mov(g, R4, R7);
		cg_ins(g, I_ALU_REG(ADD, R4, R3));
		cg_ins(g, I_LOAD(B, R4, R4, WORK_FAIL));
		cg_ins(g, I_ALU_REG(XOR, R4, R6));
		cg_ins(g, I_ALU_REG(ADD, R5, R4));
	}
	cg_ins(g, I_STORE(DW, R7, WORK_I, R5));
	cg_ins(g, I_NEG(R4));
	callback_end(g, R4);
}

/* R0 = where the span of text R2 ends that begins at WORK_K. */
static void function_span(struct cg *g)
{
	uint32_t out = cg_label(g), set, walk;

	function_begin(g, CG_FN_SPAN, 3, out);
	cg_zero(g, (struct cg_at){ R7, WORK_FAIL }, 256);
	set = function_loop(g, g->work_needle, STEPS);
	cg_ins(g, I_LOAD(DW, R1, R7, WORK_J));
	cg_ins(g, I_STORE(B, R7, WORK_FAIL, R1));
	cg_ins(g, I_LOAD(DW, R1, R7, WORK_K));
	cg_ins(g, I_STORE(DW, R7, WORK_I, R1));
	walk = function_loop(g, g->work_text, STEPS);
	cg_ins(g, I_LOAD(DW, R0, R7, WORK_I));
	cg_ins(g, I_EXIT());
	cg_put(g, out);
	cg_imm(g, R0, 0);
	cg_ins(g, I_EXIT());
	span_set_callback(g, set);
	span_callback(g, walk);
}

void cg_sspan(struct cg *g, const struct ir_ins *i)
{
	cg_ins(g, I_STORE_IMM(DW, R7, WORK_J, i->cond == IR_NE));
	index_call(g, i, CG_FN_SPAN);
}

/* ---- cleanpath() --------------------------------------------------------------------------
 *
 * A step looks at byte i of the path.  Of a slash and what is behind it, one of two slashes and "/." are left out;
 * "/.." makes the walk (k = 1) go back by a step for each byte to the slash before, which goes, too.  Everything else
 * is written at j.
 */

/* to = byte i + n of the path */
static void clean_look(struct cg *g, uint8_t to, int32_t n)
{
	cg_mov(g, R4, R5);
	cg_ins(g, I_ALU_IMM(ADD, R4, n));
	below_power_of_2(g, R4, g->work_text);
	byte_of(g, to, R8, R4);
}

/* i goes on by n, and the walk too. */
static void clean_skip(struct cg *g, int32_t n, bool back)
{
	cg_ins(g, I_ALU_IMM(ADD, R5, n));
	cg_ins(g, I_STORE(DW, R7, WORK_I, R5));
	if (back)
		cg_ins(g, I_STORE_IMM(DW, R7, WORK_K, 1));
	cg_imm(g, R0, 0);
	cg_ins(g, I_EXIT());
}

/* Writes R3 at j, which goes on; the walk does, too. */
static void clean_write(struct cg *g)
{
	cg_mov(g, R4, R9);
	cg_ins(g, I_ALU_REG(ADD, R4, R6));
	cg_ins(g, I_STORE(B, R4, 0, R3));
	cg_ins(g, I_ALU_IMM(ADD, R6, 1));
	cg_ins(g, I_STORE(DW, R7, WORK_J, R6));
	cg_imm(g, R0, 0);
	cg_ins(g, I_EXIT());
}

static void clean_callback(struct cg *g, uint32_t label)
{
	uint32_t forward = cg_label(g), there = cg_label(g), put = cg_label(g), one = cg_label(g), two = cg_label(g),
		 up = cg_label(g), end = cg_label(g), more = cg_label(g);

	callback_begin(g, label, 3);
	cg_ins(g, I_LOAD(DW, R5, R7, WORK_I));
	below_power_of_2(g, R5, g->work_text);
	cg_ins(g, I_LOAD(DW, R6, R7, WORK_J));
	below_power_of_2(g, R6, g->work_needle);
	cg_ins(g, I_LOAD(DW, R1, R7, WORK_K));
	cg_jcc(g, I_JMP_IMM(JEQ, R1, 0, 0), forward);
	cg_jcc(g, I_JMP_IMM(JEQ, R6, 0, 0), there);
	cg_ins(g, I_ALU_IMM(SUB, R6, 1));
	below_power_of_2(g, R6, g->work_needle); /* it is: Linux 6.1 does not conclude from R6 != 0 that R6 - 1 >= 0 */
	cg_ins(g, I_STORE(DW, R7, WORK_J, R6));
	byte_of(g, R3, R9, R6);
	cg_jcc(g, I_JMP_IMM(JEQ, R3, '/', 0), there);
	cg_imm(g, R0, 0);
	cg_ins(g, I_EXIT());
	cg_put(g, there); /* at the end, the slash stays */
	cg_ins(g, I_STORE_IMM(DW, R7, WORK_K, 0));
	clean_look(g, R3, 0);
	cg_jcc(g, I_JMP_IMM(JNE, R3, 0, 0), more);
	cg_imm(g, R3, '/');
	clean_write(g);
	cg_put(g, more);
	cg_imm(g, R0, 0);
	cg_ins(g, I_EXIT());
	cg_put(g, forward);
	clean_look(g, R3, 0);
	cg_jcc(g, I_JMP_IMM(JEQ, R3, 0, 0), end);
	cg_jcc(g, I_JMP_IMM(JNE, R3, '/', 0), put);
	clean_look(g, R1, 1);
	cg_jcc(g, I_JMP_IMM(JEQ, R1, '/', 0), one);
	cg_jcc(g, I_JMP_IMM(JNE, R1, '.', 0), put);
	clean_look(g, R1, 2);
	cg_jcc(g, I_JMP_IMM(JEQ, R1, '/', 0), two);
	cg_jcc(g, I_JMP_IMM(JNE, R1, '.', 0), put);
	clean_look(g, R1, 3);
	cg_jcc(g, I_JMP_IMM(JEQ, R1, '/', 0), up);
	cg_jcc(g, I_JMP_IMM(JEQ, R1, 0, 0), up);
	cg_put(g, put);
	cg_ins(g, I_ALU_IMM(ADD, R5, 1));
	cg_ins(g, I_STORE(DW, R7, WORK_I, R5));
	clean_write(g);
	cg_put(g, one);
	clean_skip(g, 1, false);
	cg_put(g, two);
	clean_skip(g, 2, false);
	cg_put(g, up);
	clean_skip(g, 3, true);
	cg_put(g, end);
	cg_imm(g, R0, 1);
	cg_ins(g, I_EXIT());
}

/* Text R2, a path, is written to R3 clean. */
static void function_clean(struct cg *g)
{
	uint32_t out = cg_label(g), walk;

	function_begin(g, CG_FN_CLEAN, 3, out);
	for (int16_t k = WORK_I; k <= WORK_K; k += 8)
		cg_ins(g, I_STORE_IMM(DW, R7, k, 0));
	walk = function_loop(g, 2 * g->work_text + 2, 1); /* each byte written, and each taken back */
	cg_ins(g, I_LOAD(DW, R1, R7, WORK_J));
	below_power_of_2(g, R1, g->work_needle);
	cg_ins(g, I_ALU_REG(ADD, R1, R9));
	cg_ins(g, I_STORE_IMM(B, R1, 0, 0));
	cg_put(g, out);
	cg_imm(g, R0, 0);
	cg_ins(g, I_EXIT());
	clean_callback(g, walk);
}

void cg_sclean(struct cg *g, const struct ir_ins *i)
{
	cg_mov(g, R1, R7);
	cg_addr(g, R2, i->p, 0);
	cg_addr(g, R3, i->o, 0);
	cg_call(g, function_label(g, CG_FN_CLEAN));
}

/* ---- basename() and dirname() (POSIX basename(3)) ------------------------------------- */

/*
 * One walk finds: i the start and j the end of the last component, k the end of
 * the one before it (0: none).  A component starts where a byte other than a
 * slash comes at 0 or behind one, that is, when it is not at j, the end of the
 * component so far; at 0, j is 0 too, but i = 0 and k = 0 are right already.
 * A callback has in R8 the address of its first byte and in R5 that byte's place, in R7 i, in R6 j, on its stack k,
 * and in R9 -1 until the end, then 0.
 */
enum { FP_WORK = -8, FP_K = -16 };

static void component_step(struct cg *g, uint32_t n)
{
	cg_mov(g, R4, R5);
	cg_ins(g, I_ALU_IMM(ADD, R4, (int32_t)n));
	cg_ins(g, I_LOAD(B, R3, R8, n));
	cg_mov(g, R0, R3);
	if_not_zero(g, R0);
	cg_ins(g, I_ALU_REG(AND, R9, R0));
	cg_ins(g, I_ALU_IMM(XOR, R3, '/')); /* R3: part of a component */
	if_not_zero(g, R3);
	cg_ins(g, I_ALU_REG(AND, R3, R9));
	cg_mov(g, R0, R6); /* R0: begins one */
	cg_ins(g, I_ALU_REG(XOR, R0, R4));
	if_not_zero(g, R0);
	cg_ins(g, I_ALU_REG(AND, R0, R3));
	cg_mov(g, R1, R4); /* then i = this place, k = j */
	set_if(g, R7, R1, R0);
	cg_ins(g, I_LOAD(DW, R2, R10, FP_K));
	cg_mov(g, R1, R6);
	set_if(g, R2, R1, R0);
	cg_ins(g, I_STORE(DW, R10, FP_K, R2));
	cg_ins(g, I_ALU_IMM(ADD, R4, 1)); /* a part of it: j = behind this place */
	set_if(g, R6, R4, R3);
}

static void components_callback(struct cg *g, uint32_t label)
{
	callback_begin(g, label, 2);
	cg_ins(g, I_STORE(DW, R10, FP_WORK, R7));
	cg_mov(g, R5, R1);
	cg_ins(g, I_ALU_IMM(MUL, R5, STRIDE));
	cg_ins(g, I_ALU_IMM(AND, R5, (int32_t)(cg_power_of_2(g->work_text) - STRIDE)));
	cg_ins(g, I_ALU_REG(ADD, R8, R5));
	cg_ins(g, I_LOAD(DW, R6, R7, WORK_J));
	cg_ins(g, I_LOAD(DW, R1, R7, WORK_K));
	cg_ins(g, I_STORE(DW, R10, FP_K, R1));
	cg_ins(g, I_LOAD(DW, R7, R7, WORK_I));
	cg_imm(g, R9, -1);
	for (uint32_t n = 0; n < STRIDE; n++)
		component_step(g, n);
	cg_ins(g, I_LOAD(DW, R2, R10, FP_WORK));
	cg_ins(g, I_STORE(DW, R2, WORK_I, R7));
	cg_ins(g, I_STORE(DW, R2, WORK_J, R6));
	cg_ins(g, I_LOAD(DW, R1, R10, FP_K));
	cg_ins(g, I_STORE(DW, R2, WORK_K, R1));
	callback_end(g, R9);
}

/* Finds the components of path R2. */
static void function_components(struct cg *g)
{
	uint32_t out = cg_label(g), body;

	function_begin(g, CG_FN_COMPONENTS, 2, out);
	for (int16_t w = WORK_I; w <= WORK_K; w += 8)
		cg_ins(g, I_STORE_IMM(DW, R7, w, 0));
	body = function_loop(g, g->work_text, STRIDE);
	cg_put(g, out);
	cg_imm(g, R0, 0);
	cg_ins(g, I_EXIT());
	components_callback(g, body);
}

/* o = "/" when p begins with one, else "." */
static void root_or_dot(struct cg *g, const struct ir_ins *i)
{
	uint32_t end = cg_label(g);
	struct cg_at to = cg_obj(g, i->o, i->O, R4);

	cg_ins(g, I_STORE_IMM(B, to.base, to.off, '/'));
	cg_addr(g, R1, i->p, 0);
	cg_ins(g, I_LOAD(B, R1, R1, 0));
	cg_jcc(g, I_JMP_IMM(JEQ, R1, '/', 0), end);
	cg_ins(g, I_STORE_IMM(B, to.base, to.off, '.'));
	cg_put(g, end);
}

static void path_part(struct cg *g, const struct ir_ins *i, int16_t from, int16_t to)
{
	uint32_t none = cg_label(g), end = cg_label(g);

	cg_zero(g, cg_obj(g, i->o, i->O, R4), i->s);
	cg_mov(g, R1, R7);
	cg_addr(g, R2, i->p, 0);
	cg_call(g, function_label(g, CG_FN_COMPONENTS));
	cg_ins(g, I_LOAD(DW, R2, R7, to));
	cg_jcc(g, I_JMP_IMM(JEQ, R2, 0, 0), none);
	cg_imm(g, R1, 0);
	if (from >= 0) {
		cg_ins(g, I_LOAD(DW, R1, R7, from));
		cg_jcc(g, I_JMP_IMM(JGE, R1, (int32_t)i->i, 0), end);
		cg_ins(g, I_ALU_REG(SUB, R2, R1));
	}
	str_emit_cut(g, i);
	cg_jmp(g, end);
	cg_put(g, none);
	root_or_dot(g, i);
	cg_put(g, end);
}

void cg_sbase(struct cg *g, const struct ir_ins *i)
{
	path_part(g, i, WORK_I, WORK_J);
}

void cg_sdir(struct cg *g, const struct ir_ins *i)
{
	path_part(g, i, -1, WORK_K);
}

void cg_functions(struct cg *g)
{
	if (g->fn[CG_FN_INDEX].used)
		function_index(g, CG_FN_INDEX);
	if (g->fn[CG_FN_RINDEX].used)
		function_index(g, CG_FN_RINDEX);
	if (g->fn[CG_FN_COMPONENTS].used)
		function_components(g);
	if (g->fn[CG_FN_SPAN].used)
		function_span(g);
	if (g->fn[CG_FN_CLEAN].used)
		function_clean(g);
}
