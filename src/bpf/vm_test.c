/*
 * vm_test.c: every instruction with the values at its edges, and
 * that nothing outside of a program's memory can be reached.
 */
#include <stdlib.h>

#include "base/range.h"
#include "bpf/vm_test_int.h"
#include "bpf/vm_int.h"

/* ---- arithmetic ----------------------------------------------------- */

#define M32 0xffffffffULL
#define M64 0xffffffffffffffffULL
#define MIN64 0x8000000000000000ULL
#define MIN32 0x80000000ULL

struct alu_row {
	int line;
	uint8_t op;
	uint64_t a, b, r64, r32;
};
#define ROW(op, a, b, r64, r32)                   \
	{                                         \
		__LINE__, OP_##op, a, b, r64, r32 \
	}
static const struct alu_row alu_rows[] = {
	ROW(ADD, M64, 1, 0, 0),
	ROW(ADD, M32, 1, M32 + 1, 0),
	ROW(ADD, MIN64, MIN64, 0, 0),
	ROW(SUB, 0, 1, M64, M32),
	ROW(SUB, MIN64, 1, MIN64 - 1, M32),
	ROW(SUB, 5, 5, 0, 0),
	ROW(MUL, M64, M64, 1, 1),
	ROW(MUL, M32, M32, 0xfffffffe00000001ULL, 1),
	ROW(MUL, MIN64, 2, 0, 0),
	ROW(MUL, 7, 6, 42, 42),
	ROW(DIV, 7, 2, 3, 3),
	ROW(DIV, 7, 0, 0, 0),
	ROW(DIV, M64, 2, MIN64 - 1, 0x7fffffff),
	ROW(DIV, MIN64, M64, 0, 0),
	ROW(DIV, MIN32, M32, 0, 0),
	ROW(DIV, M64, 1ULL << 32, M32, 0),
	ROW(MOD, 7, 4, 3, 3),
	ROW(MOD, 7, 0, 7, 7),
	ROW(MOD, M64, 0, M64, M32),
	ROW(MOD, M64, 10, 5, 5),
	ROW(MOD, 1ULL << 32, 1ULL << 32, 0, 0),
	ROW(OR, 0xf0, 0x0f, 0xff, 0xff),
	ROW(OR, MIN64, 1, MIN64 | 1, 1),
	ROW(AND, M64, MIN32, MIN32, MIN32),
	ROW(AND, 0xf0, 0x0f, 0, 0),
	ROW(XOR, M64, M64, 0, 0),
	ROW(XOR, M64, 0, M64, M32),
	ROW(MOV, 5, M64, M64, M32),
	ROW(MOV, 5, MIN32, MIN32, MIN32),
	ROW(LSH, 1, 63, MIN64, MIN32),
	ROW(LSH, 1, 31, MIN32, MIN32),
	ROW(LSH, 1, 64, 1, 1),
	ROW(LSH, 3, 33, 6ULL << 32, 6),
	ROW(RSH, MIN64, 63, 1, 0),
	ROW(RSH, MIN32, 31, 1, 1),
	ROW(RSH, M64, 32, M32, M32),
	ROW(RSH, M64, 65, M64 >> 1, M32 >> 1),
	ROW(ARSH, MIN64, 63, M64, 0),
	ROW(ARSH, MIN32, 31, 1, M32),
	ROW(ARSH, M64, 64, M64, M32),
	ROW(ARSH, 0x7fffffff, 30, 1, 1),
};

/* 1 when `in`, applied to R6 = a and R7 = b, leaves `want` in R6. */
static int alu_gives(struct bpf_ins in, uint64_t a, uint64_t b, uint64_t want)
{
	return RUN(LD64(R6, a), LD64(R7, b), in, LD64(R2, want), I_MOV_IMM(R0, 0), I_JMP_REG(JNE, R6, R2, 1),
		   I_MOV_IMM(R0, 1), I_EXIT());
}

static void arithmetic_is_that_of_the_standard(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(alu_rows); i++) {
		const struct alu_row *r = &alu_rows[i];
		bool ok = alu_gives(I_RAW(INS_ALU64 | INS_X | r->op, R6, R7, 0, 0), r->a, r->b, r->r64) == 1 &&
			  alu_gives(I_RAW(INS_ALU | INS_X | r->op, R6, R7, 0, 0), r->a, r->b, r->r32) == 1;
		if ((uint64_t)(int64_t)(int32_t)r->b == r->b) /* it fits into an immediate */
			ok = ok && alu_gives(I_RAW(INS_ALU64 | r->op, R6, 0, 0, r->b), r->a, 0, r->r64) == 1 &&
			     alu_gives(I_RAW(INS_ALU | r->op, R6, 0, 0, r->b), r->a, 0, r->r32) == 1;
		if (!ok)
			fail_msg("row of line %d", r->line);
	}
}

static void negation_and_byte_orders_truncate(void **state)
{
	(void)state;
	const uint64_t v = 0x1122334455667788ULL;
	assert_int_equal(alu_gives(I_NEG(R6), 1, 0, M64), 1);
	assert_int_equal(alu_gives(I_NEG(R6), MIN64, 0, MIN64), 1);
	assert_int_equal(alu_gives(I_NEG32(R6), 1, 0, M32), 1);
	assert_int_equal(alu_gives(I_NEG32(R6), M64, 0, 1), 1);
	assert_int_equal(alu_gives(I_BE(R6, 16), v, 0, 0x8877), 1);
	assert_int_equal(alu_gives(I_BE(R6, 32), v, 0, 0x88776655), 1);
	assert_int_equal(alu_gives(I_BE(R6, 64), v, 0, 0x8877665544332211ULL), 1);
	assert_int_equal(alu_gives(I_LE(R6, 16), v, 0, 0x7788), 1);
	assert_int_equal(alu_gives(I_LE(R6, 32), v, 0, 0x55667788), 1);
	assert_int_equal(alu_gives(I_LE(R6, 64), v, 0, v), 1);
	assert_int_equal(alu_gives(I_MOV_IMM(R6, -1), 0, 0, M64), 1);
	assert_int_equal(alu_gives(I_MOV32_IMM(R6, -1), 0, 0, M32), 1);
}

/* ---- jumps ---------------------------------------------------------- */

struct jump_row {
	int line;
	uint8_t op;
	uint64_t a, b;
	bool j64, j32;
};
#define JROW(op, a, b, j64, j32)                  \
	{                                         \
		__LINE__, OP_##op, a, b, j64, j32 \
	}
static const struct jump_row jump_rows[] = {
	JROW(JEQ, 5, 5, 1, 1),      JROW(JEQ, 1ULL << 32, 0, 0, 1), JROW(JEQ, M64, M32, 0, 1),
	JROW(JNE, 5, 5, 0, 0),      JROW(JNE, 1ULL << 32, 0, 1, 0), JROW(JGT, M64, 0, 1, 1),
	JROW(JGT, 5, 5, 0, 0),      JROW(JGT, 1ULL << 32, 1, 1, 0), JROW(JGE, 5, 5, 1, 1),
	JROW(JGE, 0, M64, 0, 0),    JROW(JGE, 1ULL << 32, 1, 1, 0), JROW(JLT, 0, M64, 1, 1),
	JROW(JLT, 5, 5, 0, 0),      JROW(JLT, 1, 1ULL << 32, 1, 0), JROW(JLE, 5, 5, 1, 1),
	JROW(JLE, M64, 0, 0, 0),    JROW(JLE, 1, 1ULL << 32, 1, 0), JROW(JSGT, 0, M64, 1, 1),
	JROW(JSGT, MIN64, 0, 0, 0), JROW(JSGT, 0, MIN32, 0, 1),     JROW(JSGE, M64, M64, 1, 1),
	JROW(JSGE, M64, 0, 0, 0),   JROW(JSGE, MIN32, 0, 1, 0),     JROW(JSLT, M64, 0, 1, 1),
	JROW(JSLT, 0, MIN64, 0, 0), JROW(JSLT, MIN32, 0, 0, 1),     JROW(JSLE, 5, 5, 1, 1),
	JROW(JSLE, MIN64, 0, 1, 1), JROW(JSLE, 0, M64, 0, 0),       JROW(JSET, 6, 2, 1, 1),
	JROW(JSET, 5, 2, 0, 0),     JROW(JSET, MIN64, MIN64, 1, 0),
};

static int jumps(uint8_t code, uint64_t a, uint64_t b, int32_t imm)
{
	return RUN(LD64(R6, a), LD64(R7, b), I_MOV_IMM(R0, 1), I_RAW(code, R6, R7, 1, imm), I_MOV_IMM(R0, 0), I_EXIT());
}

static void jumps_compare_as_they_say(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(jump_rows); i++) {
		const struct jump_row *r = &jump_rows[i];
		bool ok = jumps(INS_JMP | INS_X | r->op, r->a, r->b, 0) == r->j64 &&
			  jumps(INS_JMP32 | INS_X | r->op, r->a, r->b, 0) == r->j32;
		if ((uint64_t)(int64_t)(int32_t)r->b == r->b)
			ok = ok && jumps(INS_JMP | r->op, r->a, 0, (int32_t)r->b) == r->j64 &&
			     jumps(INS_JMP32 | r->op, r->a, 0, (int32_t)r->b) == r->j32;
		if (!ok)
			fail_msg("row of line %d", r->line);
	}
	assert_int_equal(RUN(I_MOV_IMM(R0, 3), I_JUMP(1), I_MOV_IMM(R0, 4), I_EXIT()), 3);
	/* backwards: 5 rounds */
	assert_int_equal(RUN(I_MOV_IMM(R0, 0), I_ALU_IMM(ADD, R0, 1), I_JMP_IMM(JLT, R0, 5, -2), I_EXIT()), 5);
}

/* ---- memory --------------------------------------------------------- */

static void loads_zero_extend_and_stores_truncate(void **state)
{
	(void)state;
	static const struct {
		unsigned bytes;
		uint64_t want;
	} rows[] = { { 1, 0x88 }, { 2, 0x7788 }, { 4, 0x55667788 }, { 8, 0x1122334455667788ULL } };
	for (size_t i = 0; i < COUNT(rows); i++) {
		unsigned n = rows[i].bytes;
		assert_int_equal(RUN(LD64(R6, 0x1122334455667788ULL), I_STORE_N(n, R10, -8, R6),
				     I_LOAD(DW, R7, R10, -8), LD64(R2, rows[i].want), I_MOV_IMM(R0, 0),
				     I_JMP_REG(JNE, R7, R2, 1), I_MOV_IMM(R0, 1), I_EXIT()),
				 1);
		assert_int_equal(RUN(I_STORE_IMM(DW, R10, -8, -1), I_LOAD_N(n, R7, R10, -8),
				     I_LD64_LO(R2, M64 >> (64 - 8 * n)), I_LD64_HI(M64 >> (64 - 8 * n)),
				     I_MOV_IMM(R0, 0), I_JMP_REG(JNE, R7, R2, 1), I_MOV_IMM(R0, 1), I_EXIT()),
				 1);
	}
	assert_int_equal(RUN(I_LOAD(DW, R0, R10, -512), I_EXIT()), 0); /* a stack starts zeroed */
}

/* R0 = 1 when the instruction leaves `mem` in memory that held `old`, and `src` in R6. */
static int atomic_gives(struct bpf_ins in, uint64_t old, uint64_t mem, uint64_t src)
{
	return RUN(LD64(R1, old), I_STORE(DW, R10, -8, R1), LD64(R6, 0x500000003ULL), I_MOV_IMM(R0, 7), in,
		   I_LOAD(DW, R7, R10, -8), LD64(R2, mem), LD64(R3, src), I_JMP_REG(JNE, R7, R2, 3),
		   I_JMP_REG(JNE, R6, R3, 2), I_MOV_IMM(R0, 1), I_EXIT(), I_MOV_IMM(R0, 0), I_EXIT());
}

static void atomics_change_memory_and_fetch(void **state)
{
	(void)state;
	const uint64_t v = 0x500000003ULL, high = 0x900000000ULL;
	assert_int_equal(atomic_gives(I_ATOMIC(DW, ADD, R10, -8, R6), M64, v - 1, v), 1);
	assert_int_equal(atomic_gives(I_ATOMIC(W, ADD, R10, -8, R6), high | M32, high | 2, v), 1);
	assert_int_equal(atomic_gives(I_ATOMIC(DW, OR, R10, -8, R6), 4, v | 4, v), 1);
	assert_int_equal(atomic_gives(I_ATOMIC(DW, AND, R10, -8, R6), 1, 1, v), 1);
	assert_int_equal(atomic_gives(I_ATOMIC(DW, XOR, R10, -8, R6), v, 0, v), 1);
	assert_int_equal(atomic_gives(I_ATOMIC_FETCH(DW, ADD, R10, -8, R6), 10, v + 10, 10), 1);
	assert_int_equal(atomic_gives(I_ATOMIC_FETCH(W, XOR, R10, -8, R6), high | 3, high, 3), 1);
	assert_int_equal(atomic_gives(I_ATOMIC_FETCH(DW, OR, R10, -8, R6), 4, v | 4, 4), 1);
	assert_int_equal(atomic_gives(I_ATOMIC_FETCH(DW, AND, R10, -8, R6), 6, 2, 6), 1);
	assert_int_equal(atomic_gives(I_XCHG(DW, R10, -8, R6), 10, v, 10), 1);
	assert_int_equal(atomic_gives(I_XCHG(W, R10, -8, R6), high | 9, high | 3, 9), 1);
	assert_int_equal(atomic_gives(I_CMPXCHG(DW, R10, -8, R6), 7, v, v), 1);
	assert_int_equal(atomic_gives(I_CMPXCHG(DW, R10, -8, R6), 8, 8, v), 1);
	assert_int_equal(atomic_gives(I_CMPXCHG(W, R10, -8, R6), high | 7, high | 3, v), 1);
	assert_int_equal(RUN(I_STORE_IMM(DW, R10, -8, 42), I_CMPXCHG(DW, R10, -8, R6), I_EXIT()), 42);
}

static void refused(struct bpf_ins in, const char *why)
{
	struct fixture f;
	START(&f, I_LD_MAP(R8, HASH), I_LD64_HI(0), I_MOV_IMM(R2, 8), I_MOV_REG(R9, R10), in, I_EXIT());
	assert_int_equal(run(&f), -TALLY_ECORRUPT);
	if (!strstr(f.e.text, why) || !strstr(f.e.text, "instruction 4 (line 2)"))
		fail_msg("%s, not %s", f.e.text, why);
}

static void access_out_of_bounds_is_refused(void **state)
{
	(void)state;
	refused(I_LOAD(DW, R0, R10, 0), "reads outside");
	refused(I_LOAD(DW, R0, R10, -7), "reads outside");
	refused(I_LOAD(B, R0, R10, -513), "reads outside");
	refused(I_STORE(DW, R10, -4, R0), "writes outside");
	refused(I_STORE_IMM(B, R10, 0, 1), "writes outside");
	refused(I_LOAD(B, R0, R0, 0), "reads outside");   /* null */
	refused(I_LOAD(B, R0, R2, 0), "reads outside");   /* a small number */
	refused(I_LOAD(B, R0, R8, 0), "reads outside");   /* a map is a handle */
	refused(I_LOAD(B, R0, R1, 8), "reads outside");   /* behind the PC */
	refused(I_STORE(B, R1, 0, R0), "writes outside"); /* the context is read-only */
	refused(I_ATOMIC(DW, ADD, R10, 0, R0), "writes outside");
}

static void what_is_no_instruction_is_refused(void **state)
{
	(void)state;
	refused(I_RAW(0, 0, 0, 0, 0), "not an instruction");
	refused(I_RAW(INS_LD | 0x20, 0, 0, 0, 0), "not an instruction");
	refused(I_RAW(INS_LD | 0x40, 0, 0, 0, 0), "not an instruction");
	refused(I_RAW(INS_LD | 0x60, 0, 0, 0, 0), "not an instruction");
	refused(I_RAW(INS_LD | 0x80, 0, 0, 0, 0), "not an instruction");
	refused(I_MOV_IMM(R10, 1), "not an instruction");
	refused(I_MOV_REG(11, R0), "not an instruction");
	refused(I_MOV_REG(R0, 12), "not an instruction");
	refused(I_RAW(INS_ALU64 | OP_MOV | INS_X, R0, R1, 8, 0), "not an instruction");
	refused(I_RAW(INS_ALU64 | OP_END, R0, 0, 0, 16), "not an instruction");
	refused(I_BE(R0, 24), "not an instruction");
	refused(I_RAW(INS_JMP32 | OP_JA, 0, 0, 0, 0), "not an instruction");
	refused(I_RAW(INS_JMP | OP_CALL, 0, 0, 0, 999), "not an instruction");
	refused(I_RAW(INS_JMP | OP_CALL, 0, 2, 0, 1), "not an instruction");
	refused(I_RAW(INS_STX | INS_ATOMIC | INS_DW, R10, R0, -8, OP_SUB), "not an instruction");
	refused(I_RAW(INS_STX | INS_ATOMIC | INS_H, R10, R0, -8, OP_ADD), "not an instruction");
	refused(I_LD_MAP(R0, NMAPS), "not an instruction");
	refused(I_LD64_LO(R0, 1), "not an instruction"); /* EXIT is no second half */
}

static void leaving_the_program_is_refused(void **state)
{
	(void)state;
	struct fixture f;
	START(&f, I_MOV_IMM(R0, 0));
	assert_int_equal(run(&f), -TALLY_ECORRUPT);
	assert_non_null(strstr(f.e.text, "off its end"));
	START(&f, I_JUMP(-2));
	assert_int_equal(run(&f), -TALLY_ECORRUPT);
	START(&f, I_LD64_LO(R0, 0), I_LD64_HI(0), I_JUMP(-2), I_EXIT()); /* into a second half */
	assert_int_equal(run(&f), -TALLY_ECORRUPT);
	assert_non_null(strstr(f.e.text, "not an instruction"));
	START(&f, I_CALL_LOCAL(7), I_EXIT());
	assert_int_equal(run(&f), -TALLY_ECORRUPT);
}

static void endless_programs_end(void **state)
{
	(void)state;
	struct fixture f;
	START(&f, I_JUMP(-1));
	assert_int_equal(run(&f), -TALLY_ECORRUPT);
	assert_non_null(strstr(f.e.text, "too many instructions"));
	START(&f, I_CALL_LOCAL(-1), I_EXIT());
	assert_int_equal(run(&f), -TALLY_ECORRUPT);
	assert_non_null(strstr(f.e.text, "nested too deeply"));
}

/* ---- calls ---------------------------------------------------------- */

static void a_call_keeps_registers_and_has_its_own_stack(void **state)
{
	(void)state;
	assert_int_equal(RUN(I_MOV_IMM(R6, 30), I_STORE_IMM(DW, R10, -8, 5), I_MOV_REG(R1, R10), I_CALL_LOCAL(4),
			     I_LOAD(DW, R1, R10, -8), I_ALU_REG(ADD, R0, R1), I_ALU_REG(ADD, R0, R6), I_EXIT(),
			     /* returns what the caller stored, and its own stack is empty */
			     I_MOV_IMM(R6, 0), I_LOAD(DW, R0, R10, -8), I_STORE_IMM(DW, R10, -8, 99),
			     I_LOAD(DW, R2, R1, -8), I_ALU_REG(ADD, R0, R2), I_EXIT()),
			 40);
}

static void loops_call_back_until_told_to_stop(void **state)
{
	(void)state;
	/* the callback adds its index to what the context points to, and returns 1 at index `stop` */
	for (int stop = 3; stop <= 100; stop += 97) {
		struct bpf_ins prog[] = { I_STORE_IMM(DW, R10, -8, 0),
					  I_MOV_IMM(R1, 10),
					  I_LD_FUNC(R2, 8),
					  I_LD64_HI(0),
					  I_MOV_REG(R3, R10),
					  I_ALU_IMM(ADD, R3, -8),
					  I_MOV_IMM(R4, 0),
					  I_CALL(loop),
					  I_LOAD(DW, R1, R10, -8),
					  I_ALU_IMM(MUL, R0, 100),
					  I_ALU_REG(ADD, R0, R1),
					  I_EXIT(),
					  I_LOAD(DW, R3, R2, 0),
					  I_ALU_REG(ADD, R3, R1),
					  I_STORE(DW, R2, 0, R3),
					  I_MOV_IMM(R0, 0),
					  I_JMP_IMM(JNE, R1, stop, 1),
					  I_MOV_IMM(R0, 1),
					  I_EXIT() };
		prog[2].imm = 12 - 3;
		assert_int_equal(run_prog(prog, COUNT(prog)), stop == 3 ? 406 : 1045);
	}
	assert_int_equal(RUN(I_MOV_IMM(R1, 0), I_LD_FUNC(R2, 0), I_LD64_HI(0), I_MOV_IMM(R4, 0), I_CALL(loop),
			     I_EXIT()),
			 0);
	assert_int_equal(RUN(I_MOV_IMM(R1, 1 << 24), I_LD_FUNC(R2, 0), I_LD64_HI(0), I_MOV_IMM(R4, 0), I_CALL(loop),
			     I_NEG(R0), I_EXIT()),
			 BPF_E2BIG);
	struct fixture f;
	START(&f, I_MOV_IMM(R1, 5), I_MOV_IMM(R2, 5), I_CALL(loop), I_EXIT());
	assert_int_equal(run(&f), -TALLY_ECORRUPT);
	/* a callback that begins the loop that calls it */
	START(&f, I_MOV_IMM(R1, 1), I_LD_FUNC(R2, -2), I_LD64_HI(0), I_MOV_IMM(R4, 0), I_CALL(loop), I_EXIT());
	assert_int_equal(run(&f), -TALLY_ECORRUPT);
	assert_non_null(strstr(f.e.text, "nested too deeply"));
}

/* ---- the rest ------------------------------------------------------- */

static void strings_compare(void **state)
{
	(void)state;
#define STRNCMP(a, b, n)                                                                                              \
	I_STORE_IMM(DW, R10, -16, a), I_STORE_IMM(DW, R10, -8, b), I_MOV_REG(R1, R10), I_ALU_IMM(ADD, R1, -16),       \
		I_MOV_IMM(R2, n), I_MOV_REG(R3, R10), I_ALU_IMM(ADD, R3, -8), I_CALL(strncmp), I_ALU_IMM(ADD, R0, 5), \
		I_EXIT()
	assert_int_equal(RUN(STRNCMP(0x6261, 0x6261, 8)), 5);
	assert_int_equal(RUN(STRNCMP(0x6161, 0x6261, 8)), 4);
	assert_int_equal(RUN(STRNCMP(0x6361, 0x6261, 8)), 6);
	assert_int_equal(RUN(STRNCMP(0x6361, 0x6261, 1)), 5);
	struct fixture f;
	START(&f, STRNCMP(0x6361, -1, 1)); /* no NUL before the end of the stack */
	assert_int_equal(run(&f), -TALLY_ECORRUPT);
}

static void a_test_program_has_no_context(void **state)
{
	(void)state;
	struct fixture f;
	START(&f, I_LOAD(DW, R0, R1, 0), I_EXIT());
	vm_close(f.vm);
	f.prog.cls = IMG_TEST;
	assert_int_equal(vm_open(&f.vm, &f.img, 1, &f.e), 0);
	assert_int_equal(run(&f), -TALLY_ECORRUPT);
}

static void a_record_is_read_within_its_bytes_and_not_written(void **state)
{
	static const struct {
		struct bpf_ins in;
		int rc;
	} rows[] = {
		{ I_LOAD(W, R0, R1, 8), 7 },
		{ I_LOAD(W, R0, R1, 12), -TALLY_ECORRUPT },
		{ I_LOAD(W, R0, R1, 9), -TALLY_ECORRUPT },
		{ I_LOAD(W, R0, R1, -4), -TALLY_ECORRUPT },
		{ I_STORE_IMM(W, R1, 0, 1), -TALLY_ECORRUPT },
	};
	static const uint32_t bytes[] = { 5, 6, 7 };
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct fixture f;
		START(&f, rows[i].in, I_EXIT());
		vm_close(f.vm);
		f.prog.cls = IMG_RECORD;
		f.prog.ins = (struct bpf_ins[]){ rows[i].in, I_EXIT() };
		f.cpu.record = bytes;
		f.cpu.record_bytes = sizeof(bytes);
		assert_int_equal(vm_open(&f.vm, &f.img, 1, &f.e), 0);
		assert_int_equal(run(&f), rows[i].rc);
	}
}

static void impossible_maps_are_refused(void **state)
{
	(void)state;
	static const struct img_map bad[] = {
		{ .type = 9, .name = "type", .key_size = 4, .value_size = 8, .max_entries = 1 },
		{ IMG_ARRAY, 0, 0, "key", 8, 8, 1, NULL },
		{ IMG_HASH, 0, 0, "nokey", 0, 8, 1, NULL },
		{ IMG_HASH, 0, 0, "none", 8, 8, 0, NULL },
		{ IMG_HASH, 0, 0, "huge", 8, 1 << 20, 1 << 25, NULL },
		{ IMG_ARRAY, 0, 0, "value", 4, 1u << 30, 1, NULL },
		{ IMG_STACK_TRACE, 0, 0, "odd", 4, 12, 4, NULL },
		{ IMG_RINGS, 0, 0, "ring", 4, 4, 1000, NULL },
		{ IMG_ARRAY, IMG_GLOBALS, 0, "small", 4, 4, 1, NULL },
	};
	struct fixture f;
	for (size_t i = 0; i < COUNT(bad); i++) {
		START(&f, I_EXIT());
		vm_close(f.vm);
		f.maps[CTL] = bad[i];
		assert_int_equal(vm_open(&f.vm, &f.img, 1, &f.e), -TALLY_EINVAL);
	}
	START(&f, I_EXIT());
	vm_close(f.vm);
	assert_int_equal(vm_open(&f.vm, &f.img, 0, &f.e), -TALLY_EINVAL);
	f.e = (struct err){ 0 };
	f.maps[CTL] = test_maps[RINGS]; /* two of them */
	assert_int_equal(vm_open(&f.vm, &f.img, 1, &f.e), -TALLY_EINVAL);
}

/* There are 2^31 hashes: of so many keys some have one that another has, too. */
static void keys_of_one_hash_are_different_keys(void **state)
{
	enum { KEYS = 200000 };
	struct fixture f;
	struct maps m;
	uint64_t key = 1, value;

	(void)state;
	START(&f, I_EXIT());
	vm_close(f.vm);
	f.maps[CTL] = (struct img_map){ IMG_HASH, 0, 0, "many", 8, 8, KEYS, NULL };
	assert_int_equal(vm_open(&f.vm, &f.img, 1, &f.e), 0);
	m = vm_maps(f.vm);
	for (int put = 1; put >= 0; put--) {
		key = 1;
		for (int i = 0; i < KEYS; i++) {
			key = key * 6364136223846793005u + 1442695040888963407u;
			value = key;
			assert_int_equal(put ? m.ops->update(m.maps, CTL, &key, &value) :
					       m.ops->lookup(m.maps, CTL, &key, &value),
					 0);
			assert_true(value == key);
		}
	}
	vm_close(f.vm);
}

/* What is just possible, and what is one step beyond. */
static void maps_are_possible_up_to_their_limits(void **state)
{
	static const struct {
		int line;
		struct img_map map;
		const char *words; /* NULL: it is possible */
	} row[] = {
		{ __LINE__, { IMG_RINGS, 0, 0, "ring", 4, 4, 64, NULL }, NULL },
		{ __LINE__, { IMG_RINGS, 0, 0, "ring", 4, 4, 32, NULL }, "a ring of 32 bytes is not possible" },
		{ __LINE__, { IMG_RINGS, 0, 0, "ring", 4, 4, 65, NULL }, "a ring of 65 bytes is not possible" },
		{ __LINE__, { IMG_RINGS, 0, 0, "ring", 4, 4, 1u << 31, NULL }, "a ring of 2147483648 bytes" },
		{ __LINE__, { IMG_RINGS, 0, 0, "ring", 8, 4, 64, NULL }, "a ring of 64 bytes is not possible" },
		{ __LINE__, { IMG_RINGBUF, 0, 0, "control", 0, 0, 64, NULL }, NULL },
		{ __LINE__, { IMG_RINGBUF, 0, 0, "control", 4, 0, 64, NULL }, "a ring of 64 bytes is not possible" },
		{ __LINE__, { IMG_PROGS, 0, 0, "progs", 4, 4, 1, NULL }, NULL },
		{ __LINE__, { IMG_PROGS + 1, 0, 0, "more", 4, 4, 1, NULL }, "unknown type" },
		{ __LINE__, { IMG_HASH, 0, 0, "least", 1, 1, 1, NULL }, NULL },
		{ __LINE__, { IMG_HASH, 0, 0, "key", VP_OFFS / 2, 8, 1, NULL }, NULL },
		{ __LINE__, { IMG_HASH, 0, 0, "key", VP_OFFS / 2 + 1, 8, 1, NULL }, "1 entries of" },
		{ __LINE__, { IMG_HASH, 0, 0, "value", 8, VP_OFFS - 8, 1, NULL }, NULL },
		{ __LINE__, { IMG_HASH, 0, 0, "value", 8, VP_OFFS - 7, 1, NULL }, "1 entries of" },
		{ __LINE__, { IMG_HASH, 0, 0, "value", 8, 0, 1, NULL }, "1 entries of 8 and 0 bytes" },
		{ __LINE__, { IMG_ARRAY, 0, 0, "entries", 4, 1, VP_ELEMS / 2 + 1, NULL }, "entries of 4 and 1 bytes" },
		{ __LINE__, { IMG_ARRAY, 0, 0, "key", 8, 8, 1, NULL }, "1 entries of 8 and 8 bytes" },
		{ __LINE__, { IMG_STACK_TRACE, 0, 0, "stack", 4, 8, 1, NULL }, NULL },
		{ __LINE__, { IMG_STACK_TRACE, 0, 0, "stack", 8, 8, 1, NULL }, "1 entries of 8 and 8 bytes" },
		{ __LINE__, { IMG_STACK_TRACE, 0, 0, "stack", 4, 12, 1, NULL }, "1 entries of 4 and 12 bytes" },
		/* 2 CPUs have a copy each, of 16 bytes with the key */
		{ __LINE__,
		  { IMG_PERCPU_HASH, 0, 0, "all", 8, 1 << 16, 1 << 15, NULL },
		  "32768 entries of 8 and 65536" },
		{ __LINE__, { IMG_ARRAY, IMG_GLOBALS, 0, "globals", 4, 8, 1, NULL }, NULL },
		{ __LINE__, { IMG_ARRAY, IMG_GLOBALS, 0, "globals", 4, 7, 1, NULL }, "the globals do not fit" },
		{ __LINE__, { IMG_HASH, IMG_GLOBALS, 0, "globals", 4, 8, 1, NULL }, "the globals do not fit" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(row); i++) {
		struct bpf_image img = { .map = (struct img_map *)(uintptr_t)&row[i].map,
					 .nmaps = 1,
					 .globals_init = (void *)(uintptr_t)test_globals,
					 .globals_size = sizeof(test_globals) };
		struct vm *vm = NULL;
		struct err e = { 0 };
		int rc = vm_open(&vm, &img, 2, &e);

		if (row[i].words ? rc != -TALLY_EINVAL || !strstr(e.text, row[i].words) : rc != 0)
			fail_msg("line %d: %d, \"%s\"", row[i].line, rc, e.text);
		vm_close(vm);
	}
}

/* Keys that are not whole words of 8 bytes, and are looked up from elsewhere in memory. */
static void keys_of_every_size_are_found_again(void **state)
{
	uint8_t key[2][32], value[8] = { 0 };
	struct err e = { 0 };

	(void)state;
	for (uint32_t size = 1; size < 20; size++) {
		struct img_map map = { IMG_HASH, IMG_VAR, 0, "var", size, 8, 100, NULL };
		const struct bpf_image img = { .map = &map, .nmaps = 1 };
		struct vm *vm = NULL;
		struct maps m;

		assert_int_equal(vm_open(&vm, &img, 1, &e), 0);
		m = vm_maps(vm);
		for (uint8_t i = 0; i < 100; i++) {
			memset(key[0], i, sizeof(key[0]));
			value[0] = i;
			assert_int_equal(m.ops->update(m.maps, 0, key[0], value), 0);
		}
		for (uint8_t i = 0; i < 100; i++) {
			memset(key[1], 0xff, sizeof(key[1]));
			memset(key[1] + 1, i, size);
			assert_int_equal(m.ops->lookup(m.maps, 0, key[1] + 1, value), 0);
			assert_int_equal(value[0], i);
		}
		vm_close(vm);
	}
}

static void cpus_and_maps_are_possible_up_to_their_limits(void **state)
{
	struct img_map *map = calloc(VP_REGIONS, sizeof(*map));
	struct bpf_image none = { 0 }, img = { .map = map };
	struct vm *vm = NULL;
	struct err e = { 0 };

	(void)state;
	assert_non_null(map);
	for (uint32_t i = 0; i < VP_REGIONS; i++)
		map[i].type = IMG_PROGS;
	assert_int_equal(vm_open(&vm, &none, 1u << 16, &e), 0);
	vm_close(vm);
	assert_int_equal(vm_open(&vm, &none, (1u << 16) + 1, &e), -TALLY_EINVAL);
	assert_string_equal(e.text, "65537 CPUs and 0 maps are not possible");
	img.nmaps = VP_REGIONS - VR_MAPS;
	assert_int_equal(vm_open(&vm, &img, 1, &e), 0);
	vm_close(vm);
	img.nmaps++;
	assert_int_equal(vm_open(&vm, &img, 1, &e), -TALLY_EINVAL);
	free(map);
}

/* A program goes on in a part of its own class that is there; else it goes on behind the call. */
static void a_tail_call_goes_to_a_part_of_the_same_class(void **state)
{
	static const struct bpf_ins of_part[] = { I_MOV_IMM(R0, 42), I_EXIT() };
	static const struct {
		int line;
		uint32_t map, id, part;
		int rc;
	} row[] = {
		{ __LINE__, CTL, IMG_PERF, 0, 42 },
		{ __LINE__, CTL, IMG_PERF, 1, 7 },
		{ __LINE__, CTL, IMG_PERF, 2, 7 },
		{ __LINE__, CTL, IMG_PERF, UINT32_MAX, 7 },
		{ __LINE__, CTL, IMG_RECORD, 0, 7 },
		{ __LINE__, CTL, IMG_RECORD, 1, 7 },
		{ __LINE__, GLOBALS, IMG_PERF, 0, -TALLY_ECORRUPT },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(row); i++) {
		const struct bpf_ins ins[] = {
			I_LD_MAP(R2, row[i].map), I_LD64_HI(0),     I_MOV_IMM(R3, (int32_t)row[i].part),
			I_CALL(tail_call),        I_MOV_IMM(R0, 7), I_EXIT()
		};
		struct img_prog part[2];
		struct fixture f;
		int rc;

		assert_int_equal(open_fixture(&f, ins, COUNT(ins)), 0);
		vm_close(f.vm);
		part[0] = part[1] = f.prog;
		part[0].ins = part[1].ins = (struct bpf_ins *)(uintptr_t)of_part;
		part[0].nins = part[1].nins = COUNT(of_part);
		part[1].cls = IMG_RECORD;
		f.maps[CTL] = (struct img_map){ IMG_PROGS, IMG_PARTS, row[i].id, "parts", 4, 4, 2, NULL };
		f.img.part = part;
		f.img.nparts = 2;
		assert_int_equal(vm_open(&f.vm, &f.img, 1, &f.e), 0);
		rc = run(&f);
		if (rc != row[i].rc)
			fail_msg("line %d: %d, %s", row[i].line, rc, f.e.text);
	}
}

static void every_failed_allocation_is_survived(void **state)
{
	(void)state;
	struct bpf_ins ins[] = { I_EXIT() };
	struct fixture f;
	for (long n = 1;; n++) {
		long live = mem_live();
		mem_fail_at(n);
		int rc = open_fixture(&f, ins, 1);
		bool failed = mem_failed();
		mem_fail_at(0);
		if (!failed) {
			assert_int_equal(rc, 0);
			break;
		}
		assert_int_equal(rc, -TALLY_ENOMEM);
		assert_int_equal(mem_live(), live);
	}
	vm_close(f.vm);
}

/* Programs of plausible random instructions: most end in an error, none reaches past its memory
 * (the sanitizers watch) and none runs on. vm_fuzz.c does the same with guidance. */
static void random_programs_stay_in_their_memory(void **state)
{
	(void)state;
	static const uint8_t codes[] = { 0xbf, 0xb7, 0x07, 0x0f, 0x7b, 0x79, 0x73, 0x71, 0x62, 0xdb,
					 0x85, 0x18, 0x15, 0x1d, 0x05, 0x25, 0x67, 0x57, 0x95, 0xd4 };
	uint64_t x = 1;
	int ended = 0;
	for (int round = 0; round < 3000; round++) {
		struct bpf_ins ins[64];
		struct fixture f;
		for (size_t i = 0; i < COUNT(ins); i++) {
			x = x * 6364136223846793005ULL + 1442695040888963407ULL;
			uint32_t r = (uint32_t)(x >> 32);
			ins[i] = I_RAW(codes[r % COUNT(codes)], (r >> 8) % 11, (r >> 12) % 11,
				       (int)((r >> 16) % 48) - 24, (r >> 20) % 200);
			if (ins[i].code == INS_LD_IMM64 && i + 1 < COUNT(ins)) {
				ins[i].src = INS_SRC_MAP + r % 2;
				ins[i].imm %= NMAPS;
				ins[++i] = I_LD64_HI(0);
			} else if (ins[i].code == (INS_JMP | OP_CALL)) {
				ins[i].src = 0;
			}
		}
		start(&f, ins, COUNT(ins));
		ended += run(&f) >= 0;
	}
	assert_uint_in_range(ended, 1, 2999);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(arithmetic_is_that_of_the_standard),
		cmocka_unit_test(negation_and_byte_orders_truncate),
		cmocka_unit_test(jumps_compare_as_they_say),
		cmocka_unit_test(loads_zero_extend_and_stores_truncate),
		cmocka_unit_test(atomics_change_memory_and_fetch),
		cmocka_unit_test(access_out_of_bounds_is_refused),
		cmocka_unit_test(what_is_no_instruction_is_refused),
		cmocka_unit_test(leaving_the_program_is_refused),
		cmocka_unit_test(endless_programs_end),
		cmocka_unit_test(a_call_keeps_registers_and_has_its_own_stack),
		cmocka_unit_test(loops_call_back_until_told_to_stop),
		cmocka_unit_test(strings_compare),
		cmocka_unit_test(a_test_program_has_no_context),
		cmocka_unit_test(a_record_is_read_within_its_bytes_and_not_written),
		cmocka_unit_test(impossible_maps_are_refused),
		cmocka_unit_test(keys_of_one_hash_are_different_keys),
		cmocka_unit_test(maps_are_possible_up_to_their_limits),
		cmocka_unit_test(keys_of_every_size_are_found_again),
		cmocka_unit_test(cpus_and_maps_are_possible_up_to_their_limits),
		cmocka_unit_test(a_tail_call_goes_to_a_part_of_the_same_class),
		cmocka_unit_test(every_failed_allocation_is_survived),
		cmocka_unit_test(random_programs_stay_in_their_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
