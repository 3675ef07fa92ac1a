/*
 * cg_str.c: strings.
 *
 * A string is an object: NUL-terminated, zero-padded to its bound.  That makes
 * equal strings equal words, so comparing goes by words; and
 * probe_read_kernel_str() copies, cuts and measures in one call.
 * What must look at each byte is a loop with a known number of turns, since
 * Linux 6.1 proves loops by walking them, and it refuses a program in which
 * more than 8,192 branches are open: so such loops hardly branch.
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
static void differ(struct cg *g, const struct ir_ins *i)
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

/* The shorter bound ends in a NUL: when its words are equal, so are the strings. */
void cg_scmp(struct cg *g, const struct ir_ins *i)
{
	const char *lit = i->q ? NULL : g->p->lit[i->x];
	size_t litlen = lit ? strlen(lit) : 0;
	uint32_t bound = i->q ? (uint32_t)i->i : (uint32_t)((litlen + 8) & ~(size_t)7);
	uint32_t n = i->s < bound ? i->s : bound, diff = cg_label(g), end = cg_label(g);
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
	differ(g, i);
	cg_put(g, end);
}

/* o (bound s, zeroed) = R2 bytes at most of p from R1 on; R1 is below p's bound. */
static void cut(struct cg *g, const struct ir_ins *i)
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
	cut(g, i);
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

/* ---- loops over bytes ---------------------------------------------------------------
 *
 * A loop's body has no branch: what would be one becomes a mask of ones or
 * zeros.  Once in LOOP_STRIDE turns a branch leaves a loop that is done; the
 * turns in between, and after the end, change nothing ("live" is 0).
 */
#define LOOP_STRIDE 16u

/* A place is masked to a power of 2 that may be above the bound.  It never is there, but the verifier
 * believes the mask: so there is room behind the memory, as much as the longest bound (g->slack). */
static uint32_t power_of_2(uint32_t n)
{
	uint32_t p = 8;

	while (p < n)
		p *= 2;
	return p;
}

/* reg = reg == 0 ? 1 : 0, for reg below 2^63 */
static void is_zero(struct cg *g, uint8_t reg)
{
	cg_ins(g, I_ALU_IMM(SUB, reg, 1));
	cg_ins(g, I_ALU_IMM(RSH, reg, 63));
}

/* to = byte `at` of o; `at` was masked, so that the verifier sees its bound. */
static void byte_of(struct cg *g, uint8_t to, ir_obj o, uint8_t at, uint8_t tmp)
{
	cg_addr(g, tmp, o, 0);
	cg_ins(g, I_ALU_REG(ADD, tmp, at));
	cg_ins(g, I_LOAD(B, to, tmp, 0));
}

/* reg = [R7 + word], below n */
static void state(struct cg *g, uint8_t reg, int16_t word, uint32_t n)
{
	cg_ins(g, I_LOAD(DW, reg, R7, word));
	cg_ins(g, I_ALU_IMM(AND, reg, (int32_t)power_of_2(n) - 1));
}

/* Begins a loop of `turns` (at least) that R5 counts; the label is its top. */
static uint32_t loop(struct cg *g)
{
	uint32_t top = cg_label(g);

	cg_imm(g, R5, 0);
	cg_put(g, top);
	return top;
}

/* Ends it: back to the top unless all turns are done, or `live` in WORK_L is 0 at a stride's end. */
static void loop_end(struct cg *g, uint32_t top, uint32_t turns, uint32_t stride)
{
	uint32_t out = cg_label(g);

	cg_ins(g, I_ALU_IMM(ADD, R5, (int32_t)stride));
	cg_jcc(g, I_JMP_IMM(JGE, R5, (int32_t)turns, 0), out);
	cg_ins(g, I_LOAD(DW, R1, R7, WORK_L));
	cg_jcc(g, I_JMP_IMM(JNE, R1, 0, 0), top);
	cg_put(g, out);
}

/* ---- index(): Knuth, Morris and Pratt's search ----------------------------------------
 *
 * i is a place in the text (when the table is built: in the needle itself), j how
 * many bytes of the needle match before it; F[j] is where to go on after a mismatch, F[0] = 0.
 */

/* to = address of F's entry for a prefix of `at` bytes */
static void fail_of(struct cg *g, uint8_t to, uint8_t at)
{
	cg_mov(g, to, at);
	cg_ins(g, I_ALU_IMM(LSH, to, 1));
	cg_ins(g, I_ALU_REG(ADD, to, R7));
}

/* One step: compares byte i of `text` with byte j of the needle and moves on, or back.  With `table`,
 * F[i + 1] is written, too: j + 1 after a match, else 0 (and again when j has come back to a match). */
static void kmp_step(struct cg *g, ir_obj text, uint32_t bound, ir_obj needle, uint32_t nbound, bool table)
{
	state(g, R1, WORK_I, bound);
	state(g, R2, WORK_J, nbound);
	byte_of(g, R3, text, R1, R0);
	byte_of(g, R4, needle, R2, R0);
	cg_mov(g, R0, R3);                            /* live: neither string has ended */
	if (!table) {
		cg_ins(g, I_ALU_REG(MUL, R0, R4));
	}
	is_zero(g, R0);
	cg_ins(g, I_ALU_IMM(XOR, R0, 1));
	cg_ins(g, I_STORE(DW, R7, WORK_L, R0));
	cg_ins(g, I_ALU_REG(XOR, R3, R4));
	is_zero(g, R3);                               /* R3: equal */
	cg_ins(g, I_ALU_REG(AND, R3, R0));
	if (table) {
		fail_of(g, R0, R1);
		cg_mov(g, R4, R2);
		cg_ins(g, I_ALU_IMM(ADD, R4, 1));
		cg_ins(g, I_ALU_REG(MUL, R4, R3));
		cg_ins(g, I_STORE(H, R0, WORK_FAIL + 2, R4));
	}
	cg_ins(g, I_LOAD(DW, R0, R7, WORK_L));
	cg_mov(g, R4, R2);                            /* i += equal, or j == 0 while live */
	is_zero(g, R4);
	cg_ins(g, I_ALU_REG(AND, R4, R0));
	cg_ins(g, I_ALU_REG(OR, R4, R3));
	cg_ins(g, I_ALU_REG(ADD, R1, R4));
	cg_ins(g, I_STORE(DW, R7, WORK_I, R1));
	fail_of(g, R4, R2);                           /* j = equal ? j + 1 : live ? F[j] : j */
	cg_ins(g, I_LOAD(H, R4, R4, WORK_FAIL));
	cg_ins(g, I_ALU_REG(SUB, R4, R2));
	cg_mov(g, R1, R0);
	cg_ins(g, I_ALU_REG(XOR, R1, R3));
	cg_ins(g, I_ALU_REG(MUL, R4, R1));
	cg_ins(g, I_ALU_REG(ADD, R2, R4));
	cg_ins(g, I_ALU_REG(ADD, R2, R3));
	cg_ins(g, I_STORE(DW, R7, WORK_J, R2));
}

static void kmp_loop(struct cg *g, const struct ir_ins *i, bool table)
{
	uint32_t n = table ? i->x : (uint32_t)i->i, top = loop(g);

	for (uint32_t k = 0; k < LOOP_STRIDE; k++)
		kmp_step(g, table ? i->q : i->p, n, i->q, i->x, table);
	loop_end(g, top, 2 * n + 2, LOOP_STRIDE);
}

void cg_sindex(struct cg *g, const struct ir_ins *i)
{
	uint32_t none = cg_label(g), end = cg_label(g);

	cg_ins(g, I_STORE_IMM(DW, R7, WORK_I, 1));
	cg_ins(g, I_STORE_IMM(DW, R7, WORK_J, 0));
	cg_ins(g, I_STORE_IMM(W, R7, WORK_FAIL, 0));
	kmp_loop(g, i, true);
	cg_ins(g, I_STORE(DW, R7, WORK_I, cg_use(g, i->a, R1)));
	cg_ins(g, I_STORE_IMM(DW, R7, WORK_J, 0));
	kmp_loop(g, i, false);
	state(g, R2, WORK_J, i->x);
	byte_of(g, R4, i->q, R2, R0);
	cg_jcc(g, I_JMP_IMM(JNE, R4, 0, 0), none);
	cg_ins(g, I_LOAD(DW, R1, R7, WORK_I));
	cg_ins(g, I_ALU_REG(SUB, R1, R2));
	cg_jmp(g, end);
	cg_put(g, none);
	cg_imm(g, R1, -1);
	cg_put(g, end);
	cg_done(g, i->d, R1);
}

/* ---- basename() and dirname() (POSIX basename(3)) ------------------------------------- */

/* [R7 + word] = R0 ? R1 : [R7 + word]; R0 is 0 or 1 */
static void set_if(struct cg *g, int16_t word)
{
	cg_ins(g, I_LOAD(DW, R2, R7, word));
	cg_ins(g, I_ALU_REG(SUB, R1, R2));
	cg_ins(g, I_ALU_REG(MUL, R1, R0));
	cg_ins(g, I_ALU_REG(ADD, R2, R1));
	cg_ins(g, I_STORE(DW, R7, word, R2));
}

/*
 * One walk finds: i the start and j the end of the last component, k the end of
 * the one before it (0: none).  A component starts where a byte other than a
 * slash comes at 0 or behind one, that is, when it is not at j, the end of the
 * component so far; at 0, j is 0 too, but i = 0 and k = 0 are right already.
 */
static void component_step(struct cg *g, const struct ir_ins *i, uint32_t k)
{
	cg_mov(g, R1, R5);
	cg_ins(g, I_ALU_IMM(ADD, R1, (int32_t)k));
	cg_ins(g, I_ALU_IMM(AND, R1, (int32_t)power_of_2((uint32_t)i->i) - 1));
	byte_of(g, R3, i->p, R1, R0);
	cg_mov(g, R0, R3);                            /* live &= byte != 0 */
	is_zero(g, R0);
	cg_ins(g, I_ALU_IMM(XOR, R0, 1));
	cg_ins(g, I_LOAD(DW, R4, R7, WORK_L));
	cg_ins(g, I_ALU_REG(AND, R4, R0));
	cg_ins(g, I_STORE(DW, R7, WORK_L, R4));
	cg_ins(g, I_ALU_IMM(XOR, R3, '/'));           /* R3: part of a component */
	is_zero(g, R3);
	cg_ins(g, I_ALU_IMM(XOR, R3, 1));
	cg_ins(g, I_ALU_REG(AND, R3, R4));
	cg_ins(g, I_LOAD(DW, R0, R7, WORK_J));        /* R0: begins one */
	cg_mov(g, R4, R1);
	cg_ins(g, I_ALU_REG(XOR, R0, R1));
	is_zero(g, R0);
	cg_ins(g, I_ALU_IMM(XOR, R0, 1));
	cg_ins(g, I_ALU_REG(AND, R0, R3));
	set_if(g, WORK_I);
	cg_ins(g, I_LOAD(DW, R1, R7, WORK_J));
	set_if(g, WORK_K);
	cg_mov(g, R0, R3);
	cg_mov(g, R1, R4);
	cg_ins(g, I_ALU_IMM(ADD, R1, 1));
	set_if(g, WORK_J);
}

static void components(struct cg *g, const struct ir_ins *i)
{
	uint32_t top;

	for (int16_t w = WORK_I; w < WORK_L; w += 8)
		cg_ins(g, I_STORE_IMM(DW, R7, w, 0));
	cg_ins(g, I_STORE_IMM(DW, R7, WORK_L, 1));
	top = loop(g);
	for (uint32_t k = 0; k < 8; k++)
		component_step(g, i, k);
	loop_end(g, top, (uint32_t)i->i, 8);
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
	components(g, i);
	cg_ins(g, I_LOAD(DW, R2, R7, to));
	cg_jcc(g, I_JMP_IMM(JEQ, R2, 0, 0), none);
	cg_imm(g, R1, 0);
	if (from >= 0) {
		cg_ins(g, I_LOAD(DW, R1, R7, from));
		cg_jcc(g, I_JMP_IMM(JGE, R1, (int32_t)i->i, 0), end);
		cg_ins(g, I_ALU_REG(SUB, R2, R1));
	}
	cut(g, i);
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
