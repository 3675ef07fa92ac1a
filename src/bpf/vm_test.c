/*
 * vm_test.c: every instruction with the values at its edges, every helper, and
 * that nothing outside of a program's memory can be reached.
 */
#include "bpf/insn.h"

#include <setjmp.h>
#include <string.h>
#include <cmocka.h>

enum { CTL, GLOBALS, PERCPU, RINGS, HASH, AGG, STACKS, NMAPS };
static const struct img_map test_maps[NMAPS] = {
	[CTL] = { IMG_ARRAY, IMG_CTL, 0, "ctl", 4, sizeof(struct img_ctl), 1 },
	[GLOBALS] = { IMG_ARRAY, IMG_GLOBALS, 0, "globals", 4, 64, 1 },
	[PERCPU] = { IMG_PERCPU_ARRAY, IMG_SCRATCH, 0, "scratch", 4, 32, 2 },
	[RINGS] = { IMG_RINGS, IMG_RING, 0, "rings", 4, 4, 256 },
	[HASH] = { IMG_HASH, IMG_VAR, 0, "var0", 8, 12, 3 },
	[AGG] = { IMG_PERCPU_HASH, IMG_AGG, 0, "agg0", 16, 8, 4 },
	[STACKS] = { IMG_STACK_TRACE, IMG_STACKS, 0, "stacks", 4, 32, 4 },
};
static const uint8_t test_globals[8] = { 1, 2, 3, 4, 5, 6, 7, 8 };

/* One program over the maps above. */
struct fixture {
	struct bpf_image img;
	struct img_map maps[NMAPS];
	struct img_prog prog;
	uint32_t line[512];
	struct vm *vm;
	struct vm_cpu cpu;
	struct err e;
};

static int open_fixture(struct fixture *f, const struct bpf_ins *ins, uint32_t n)
{
	*f = (struct fixture){ .cpu = { .pid = 1 } };
	memcpy(f->maps, test_maps, sizeof(test_maps));
	for (uint32_t i = 0; i < n && i < COUNT(f->line); i++)
		f->line[i] = i / 2;
	f->prog = (struct img_prog){ .cls = IMG_PERF, .name = "test", .nins = n, .line = f->line,
				     .ins = (struct bpf_ins *)(uintptr_t)ins };
	f->img = (struct bpf_image){ .map = f->maps, .nmaps = NMAPS, .prog = &f->prog, .nprogs = 1,
				     .globals_init = (void *)(uintptr_t)test_globals,
				     .globals_size = sizeof(test_globals) };
	return vm_open(&f->vm, &f->img, 2, &f->e);
}

static void start(struct fixture *f, const struct bpf_ins *ins, uint32_t n)
{
	assert_int_equal(open_fixture(f, ins, n), 0);
}

static int run(struct fixture *f)
{
	f->e = (struct err){ 0 };
	int rc = vm_run(f->vm, 0, &f->cpu, 100000, &f->e);
	vm_close(f->vm);
	return rc;
}

#define PROG(...) ((struct bpf_ins[]){ __VA_ARGS__ })
#define START(f, ...) start(f, PROG(__VA_ARGS__), COUNT(PROG(__VA_ARGS__)))

/* Runs a program over fresh maps: R0, or the error after saying its words. */
static int run_prog(const struct bpf_ins *ins, uint32_t n)
{
	struct fixture f;
	start(&f, ins, n);
	int rc = run(&f);
	if (rc < 0)
		print_message("%s\n", f.e.text);
	return rc;
}
#define RUN(...) run_prog(PROG(__VA_ARGS__), COUNT(PROG(__VA_ARGS__)))
#define LD64(r, v) I_LD64_LO(r, v), I_LD64_HI(v)

/* ---- arithmetic ----------------------------------------------------- */

#define M32 0xffffffffULL
#define M64 0xffffffffffffffffULL
#define MIN64 0x8000000000000000ULL
#define MIN32 0x80000000ULL

struct alu_row { int line; uint8_t op; uint64_t a, b, r64, r32; };
#define ROW(op, a, b, r64, r32) { __LINE__, OP_##op, a, b, r64, r32 }
static const struct alu_row alu_rows[] = {
	ROW(ADD, M64, 1, 0, 0), ROW(ADD, M32, 1, M32 + 1, 0), ROW(ADD, MIN64, MIN64, 0, 0),
	ROW(SUB, 0, 1, M64, M32), ROW(SUB, MIN64, 1, MIN64 - 1, M32), ROW(SUB, 5, 5, 0, 0),
	ROW(MUL, M64, M64, 1, 1), ROW(MUL, M32, M32, 0xfffffffe00000001ULL, 1),
	ROW(MUL, MIN64, 2, 0, 0), ROW(MUL, 7, 6, 42, 42),
	ROW(DIV, 7, 2, 3, 3), ROW(DIV, 7, 0, 0, 0), ROW(DIV, M64, 2, MIN64 - 1, 0x7fffffff),
	ROW(DIV, MIN64, M64, 0, 0), ROW(DIV, MIN32, M32, 0, 0), ROW(DIV, M64, 1ULL << 32, M32, 0),
	ROW(MOD, 7, 4, 3, 3), ROW(MOD, 7, 0, 7, 7), ROW(MOD, M64, 0, M64, M32),
	ROW(MOD, M64, 10, 5, 5), ROW(MOD, 1ULL << 32, 1ULL << 32, 0, 0),
	ROW(OR, 0xf0, 0x0f, 0xff, 0xff), ROW(OR, MIN64, 1, MIN64 | 1, 1),
	ROW(AND, M64, MIN32, MIN32, MIN32), ROW(AND, 0xf0, 0x0f, 0, 0),
	ROW(XOR, M64, M64, 0, 0), ROW(XOR, M64, 0, M64, M32),
	ROW(MOV, 5, M64, M64, M32), ROW(MOV, 5, MIN32, MIN32, MIN32),
	ROW(LSH, 1, 63, MIN64, MIN32), ROW(LSH, 1, 31, MIN32, MIN32), ROW(LSH, 1, 64, 1, 1),
	ROW(LSH, 3, 33, 6ULL << 32, 6), ROW(RSH, MIN64, 63, 1, 0), ROW(RSH, MIN32, 31, 1, 1),
	ROW(RSH, M64, 32, M32, M32), ROW(RSH, M64, 65, M64 >> 1, M32 >> 1),
	ROW(ARSH, MIN64, 63, M64, 0), ROW(ARSH, MIN32, 31, 1, M32), ROW(ARSH, M64, 64, M64, M32),
	ROW(ARSH, 0x7fffffff, 30, 1, 1),
};

/* 1 when `in`, applied to R6 = a and R7 = b, leaves `want` in R6. */
static int alu_gives(struct bpf_ins in, uint64_t a, uint64_t b, uint64_t want)
{
	return RUN(LD64(R6, a), LD64(R7, b), in, LD64(R2, want), I_MOV_IMM(R0, 0),
		   I_JMP_REG(JNE, R6, R2, 1), I_MOV_IMM(R0, 1), I_EXIT());
}

static void arithmetic_is_that_of_the_standard(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(alu_rows); i++) {
		const struct alu_row *r = &alu_rows[i];
		bool ok = alu_gives(I_RAW(INS_ALU64 | INS_X | r->op, R6, R7, 0, 0), r->a, r->b,
				    r->r64) == 1 &&
			  alu_gives(I_RAW(INS_ALU | INS_X | r->op, R6, R7, 0, 0), r->a, r->b,
				    r->r32) == 1;
		if ((uint64_t)(int64_t)(int32_t)r->b == r->b)   /* it fits into an immediate */
			ok = ok &&
			     alu_gives(I_RAW(INS_ALU64 | r->op, R6, 0, 0, r->b), r->a, 0, r->r64) == 1 &&
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

struct jump_row { int line; uint8_t op; uint64_t a, b; bool j64, j32; };
#define JROW(op, a, b, j64, j32) { __LINE__, OP_##op, a, b, j64, j32 }
static const struct jump_row jump_rows[] = {
	JROW(JEQ, 5, 5, 1, 1), JROW(JEQ, 1ULL << 32, 0, 0, 1), JROW(JEQ, M64, M32, 0, 1),
	JROW(JNE, 5, 5, 0, 0), JROW(JNE, 1ULL << 32, 0, 1, 0),
	JROW(JGT, M64, 0, 1, 1), JROW(JGT, 5, 5, 0, 0), JROW(JGT, 1ULL << 32, 1, 1, 0),
	JROW(JGE, 5, 5, 1, 1), JROW(JGE, 0, M64, 0, 0), JROW(JGE, 1ULL << 32, 1, 1, 0),
	JROW(JLT, 0, M64, 1, 1), JROW(JLT, 5, 5, 0, 0), JROW(JLT, 1, 1ULL << 32, 1, 0),
	JROW(JLE, 5, 5, 1, 1), JROW(JLE, M64, 0, 0, 0), JROW(JLE, 1, 1ULL << 32, 1, 0),
	JROW(JSGT, 0, M64, 1, 1), JROW(JSGT, MIN64, 0, 0, 0), JROW(JSGT, 0, MIN32, 0, 1),
	JROW(JSGE, M64, M64, 1, 1), JROW(JSGE, M64, 0, 0, 0), JROW(JSGE, MIN32, 0, 1, 0),
	JROW(JSLT, M64, 0, 1, 1), JROW(JSLT, 0, MIN64, 0, 0), JROW(JSLT, MIN32, 0, 0, 1),
	JROW(JSLE, 5, 5, 1, 1), JROW(JSLE, MIN64, 0, 1, 1), JROW(JSLE, 0, M64, 0, 0),
	JROW(JSET, 6, 2, 1, 1), JROW(JSET, 5, 2, 0, 0), JROW(JSET, MIN64, MIN64, 1, 0),
};

static int jumps(uint8_t code, uint64_t a, uint64_t b, int32_t imm)
{
	return RUN(LD64(R6, a), LD64(R7, b), I_MOV_IMM(R0, 1), I_RAW(code, R6, R7, 1, imm),
		   I_MOV_IMM(R0, 0), I_EXIT());
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
	assert_int_equal(RUN(I_MOV_IMM(R0, 0), I_ALU_IMM(ADD, R0, 1), I_JMP_IMM(JLT, R0, 5, -2),
			     I_EXIT()), 5);
}

/* ---- memory --------------------------------------------------------- */

static void loads_zero_extend_and_stores_truncate(void **state)
{
	(void)state;
	static const struct { unsigned bytes; uint64_t want; } rows[] = {
		{ 1, 0x88 }, { 2, 0x7788 }, { 4, 0x55667788 }, { 8, 0x1122334455667788ULL } };
	for (size_t i = 0; i < COUNT(rows); i++) {
		unsigned n = rows[i].bytes;
		assert_int_equal(RUN(LD64(R6, 0x1122334455667788ULL), I_STORE_N(n, R10, -8, R6),
				     I_LOAD(DW, R7, R10, -8), LD64(R2, rows[i].want),
				     I_MOV_IMM(R0, 0), I_JMP_REG(JNE, R7, R2, 1), I_MOV_IMM(R0, 1),
				     I_EXIT()), 1);
		assert_int_equal(RUN(I_STORE_IMM(DW, R10, -8, -1), I_LOAD_N(n, R7, R10, -8),
				     I_LD64_LO(R2, M64 >> (64 - 8 * n)), I_LD64_HI(M64 >> (64 - 8 * n)),
				     I_MOV_IMM(R0, 0), I_JMP_REG(JNE, R7, R2, 1), I_MOV_IMM(R0, 1),
				     I_EXIT()), 1);
	}
	assert_int_equal(RUN(I_LOAD(DW, R0, R10, -512), I_EXIT()), 0);  /* a stack starts zeroed */
}

/* R0 = 1 when the instruction leaves `mem` in memory that held `old`, and `src` in R6. */
static int atomic_gives(struct bpf_ins in, uint64_t old, uint64_t mem, uint64_t src)
{
	return RUN(LD64(R1, old), I_STORE(DW, R10, -8, R1), LD64(R6, 0x500000003ULL),
		   I_MOV_IMM(R0, 7), in, I_LOAD(DW, R7, R10, -8), LD64(R2, mem), LD64(R3, src),
		   I_JMP_REG(JNE, R7, R2, 3), I_JMP_REG(JNE, R6, R3, 2), I_MOV_IMM(R0, 1), I_EXIT(),
		   I_MOV_IMM(R0, 0), I_EXIT());
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
	refused(I_LOAD(B, R0, R0, 0), "reads outside");         /* null */
	refused(I_LOAD(B, R0, R2, 0), "reads outside");         /* a small number */
	refused(I_LOAD(B, R0, R8, 0), "reads outside");         /* a map is a handle */
	refused(I_LOAD(B, R0, R1, 8), "reads outside");         /* behind the PC */
	refused(I_STORE(B, R1, 0, R0), "writes outside");       /* the context is read-only */
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
	refused(I_LD64_LO(R0, 1), "not an instruction");        /* EXIT is no second half */
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
	START(&f, I_LD64_LO(R0, 0), I_LD64_HI(0), I_JUMP(-2), I_EXIT());      /* into a second half */
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
	assert_int_equal(RUN(I_MOV_IMM(R6, 30), I_STORE_IMM(DW, R10, -8, 5), I_MOV_REG(R1, R10),
			     I_CALL_LOCAL(4), I_LOAD(DW, R1, R10, -8), I_ALU_REG(ADD, R0, R1),
			     I_ALU_REG(ADD, R0, R6), I_EXIT(),
			     /* returns what the caller stored, and its own stack is empty */
			     I_MOV_IMM(R6, 0), I_LOAD(DW, R0, R10, -8), I_STORE_IMM(DW, R10, -8, 99),
			     I_LOAD(DW, R2, R1, -8), I_ALU_REG(ADD, R0, R2), I_EXIT()), 40);
}

static void loops_call_back_until_told_to_stop(void **state)
{
	(void)state;
	/* the callback adds its index to what the context points to, and returns 1 at index `stop` */
	for (int stop = 3; stop <= 100; stop += 97) {
		struct bpf_ins prog[] = {
			I_STORE_IMM(DW, R10, -8, 0), I_MOV_IMM(R1, 10), I_LD_FUNC(R2, 8), I_LD64_HI(0),
			I_MOV_REG(R3, R10), I_ALU_IMM(ADD, R3, -8), I_MOV_IMM(R4, 0), I_CALL(loop),
			I_LOAD(DW, R1, R10, -8), I_ALU_IMM(MUL, R0, 100), I_ALU_REG(ADD, R0, R1), I_EXIT(),
			I_LOAD(DW, R3, R2, 0), I_ALU_REG(ADD, R3, R1), I_STORE(DW, R2, 0, R3),
			I_MOV_IMM(R0, 0), I_JMP_IMM(JNE, R1, stop, 1), I_MOV_IMM(R0, 1), I_EXIT() };
		prog[2].imm = 12 - 3;
		assert_int_equal(run_prog(prog, COUNT(prog)), stop == 3 ? 406 : 1045);
	}
	assert_int_equal(RUN(I_MOV_IMM(R1, 0), I_LD_FUNC(R2, 0), I_LD64_HI(0), I_MOV_IMM(R4, 0),
			     I_CALL(loop), I_EXIT()), 0);
	assert_int_equal(RUN(I_MOV_IMM(R1, 1 << 24), I_LD_FUNC(R2, 0), I_LD64_HI(0), I_MOV_IMM(R4, 0),
			     I_CALL(loop), I_NEG(R0), I_EXIT()), BPF_E2BIG);
	struct fixture f;
	START(&f, I_MOV_IMM(R1, 5), I_MOV_IMM(R2, 5), I_CALL(loop), I_EXIT());
	assert_int_equal(run(&f), -TALLY_ECORRUPT);
}

/* ---- maps ----------------------------------------------------------- */

/* R1 = map, R2 = its key of one word, stored at -16 */
#define KEY(map, key) I_STORE_IMM(DW, R10, -16, key), I_STORE_IMM(DW, R10, -8, 0), I_LD_MAP(R1, map), \
		      I_LD64_HI(0), I_MOV_REG(R2, R10), I_ALU_IMM(ADD, R2, -16)
/* R3 = value stored at -32, R4 = flags */
#define VALUE(v, flags) I_STORE_IMM(DW, R10, -32, v), I_STORE_IMM(DW, R10, -24, 0), I_MOV_REG(R3, R10), \
			I_ALU_IMM(ADD, R3, -32), I_MOV_IMM(R4, flags)
#define UPDATE(map, key, v, flags) KEY(map, key), VALUE(v, flags), I_CALL(map_update_elem)
#define LOOKUP(map, key) KEY(map, key), I_CALL(map_lookup_elem)
#define DELETE(map, key) KEY(map, key), I_CALL(map_delete_elem)

static void hashes_keep_what_was_put(void **state)
{
	(void)state;
	assert_int_equal(RUN(UPDATE(HASH, 7, 70, MAP_ANY), LOOKUP(HASH, 7), I_LOAD(DW, R0, R0, 0),
			     I_EXIT()), 70);
	assert_int_equal(RUN(LOOKUP(HASH, 8), I_EXIT()), 0);
	assert_int_equal(RUN(UPDATE(HASH, 7, 70, MAP_EXIST), I_NEG(R0), I_EXIT()), BPF_ENOENT);
	assert_int_equal(RUN(UPDATE(HASH, 7, 70, 0), UPDATE(HASH, 7, 71, MAP_NOEXIST), I_NEG(R0),
			     I_EXIT()), BPF_EEXIST);
	assert_int_equal(RUN(UPDATE(HASH, 7, 70, 9), I_NEG(R0), I_EXIT()), BPF_EINVAL);
	assert_int_equal(RUN(DELETE(HASH, 7), I_NEG(R0), I_EXIT()), BPF_ENOENT);
	assert_int_equal(RUN(UPDATE(HASH, 7, 70, 0), DELETE(HASH, 7), LOOKUP(HASH, 7), I_EXIT()), 0);
}

static void a_full_hash_is_too_big(void **state)
{
	(void)state;
	assert_int_equal(RUN(UPDATE(HASH, 1, 1, 0), UPDATE(HASH, 2, 2, 0), UPDATE(HASH, 3, 3, 0),
			     UPDATE(HASH, 4, 4, 0), I_NEG(R0), I_EXIT()), BPF_E2BIG);
	/* room is found again, and starts zeroed */
	assert_int_equal(RUN(UPDATE(HASH, 1, -1, 0), UPDATE(HASH, 2, 2, 0), UPDATE(HASH, 3, 3, 0),
			     DELETE(HASH, 1), UPDATE(HASH, 4, 4, 0), LOOKUP(HASH, 4),
			     I_LOAD(DW, R0, R0, 0), I_EXIT()), 4);
}

static void arrays_answer_by_index(void **state)
{
	(void)state;
	assert_int_equal(RUN(LOOKUP(GLOBALS, 0), I_LOAD(B, R0, R0, 3), I_EXIT()), 4);
	assert_int_equal(RUN(LOOKUP(GLOBALS, 1), I_EXIT()), 0);
	assert_int_equal(RUN(I_LD_MAP_VALUE(R1, GLOBALS), I_RAW(0, 0, 0, 0, 2), I_LOAD(H, R0, R1, 0),
			     I_EXIT()), 0x0403);
	assert_int_equal(RUN(UPDATE(PERCPU, 1, 5, MAP_NOEXIST), I_NEG(R0), I_EXIT()), BPF_EEXIST);
	assert_int_equal(RUN(UPDATE(PERCPU, 9, 5, 0), I_NEG(R0), I_EXIT()), BPF_E2BIG);
	assert_int_equal(RUN(DELETE(PERCPU, 1), I_NEG(R0), I_EXIT()), BPF_EINVAL);
	struct fixture f;
	START(&f, I_LD_MAP_VALUE(R1, GLOBALS), I_RAW(0, 0, 0, 0, 60), I_LOAD(DW, R0, R1, 0), I_EXIT());
	assert_int_equal(run(&f), -TALLY_ECORRUPT);
	START(&f, LOOKUP(PERCPU, 0), I_STORE_IMM(DW, R0, 32, 1), I_EXIT());     /* into element 1 */
	assert_int_equal(run(&f), -TALLY_ECORRUPT);
	START(&f, LOOKUP(PERCPU, 1), I_STORE_IMM(B, R0, -1, 1), I_EXIT());
	assert_int_equal(run(&f), -TALLY_ECORRUPT);
}

static void each_cpu_has_its_own_values(void **state)
{
	(void)state;
	struct fixture f;
	uint64_t key[2] = { 7, 0 }, value[2] = { 0, 0 };
	/* adds 10 + cpu to the value of this CPU */
	START(&f, UPDATE(AGG, 7, 0, MAP_NOEXIST), LOOKUP(AGG, 7), I_MOV_REG(R6, R0),
	      I_CALL(get_smp_processor_id), I_ALU_IMM(ADD, R0, 10), I_LOAD(DW, R1, R6, 0),
	      I_ALU_REG(ADD, R1, R0), I_STORE(DW, R6, 0, R1), I_MOV_IMM(R0, 0), I_EXIT());
	for (int i = 0; i < 6; i++) {
		f.cpu.cpu = i % 3 != 0;
		assert_int_equal(vm_run(f.vm, 0, &f.cpu, 1000, &f.e), 0);
	}
	struct maps m = vm_maps(f.vm);
	assert_int_equal(m.ncpus, 2);
	assert_int_equal(m.ops->lookup(m.maps, AGG, key, value), 0);
	assert_int_equal(value[0], 20);
	assert_int_equal(value[1], 44);
	f.cpu.cpu = 2;
	assert_int_equal(vm_run(f.vm, 0, &f.cpu, 1000, &f.e), -TALLY_EINVAL);
	vm_close(f.vm);
}

static void map_arguments_must_be_maps(void **state)
{
	(void)state;
	struct fixture f;
	START(&f, I_MOV_IMM(R1, 5), I_MOV_REG(R2, R10), I_CALL(map_lookup_elem), I_EXIT());
	assert_int_equal(run(&f), -TALLY_ECORRUPT);
	START(&f, KEY(HASH, 1), I_ALU_IMM(ADD, R1, 1), I_CALL(map_lookup_elem), I_EXIT());
	assert_int_equal(run(&f), -TALLY_ECORRUPT);
	START(&f, KEY(HASH, 1), I_ALU_IMM(ADD, R2, 12), I_CALL(map_lookup_elem), I_EXIT());
	assert_int_equal(run(&f), -TALLY_ECORRUPT);
	START(&f, LOOKUP(STACKS, 1), I_EXIT());
	assert_int_equal(run(&f), -TALLY_ECORRUPT);
	START(&f, UPDATE(RINGS, 1, 1, 0), I_EXIT());
	assert_int_equal(run(&f), -TALLY_ECORRUPT);
}

static void maps_can_be_reached_from_outside(void **state)
{
	(void)state;
	struct fixture f;
	START(&f, I_EXIT());
	struct maps m = vm_maps(f.vm);
	char value[16] = "", next[8];
	uint64_t keys[3] = { 11, 22, 33 };
	assert_int_equal(m.ops->next(m.maps, HASH, NULL, next), -TALLY_EEND);
	for (int i = 0; i < 3; i++)
		assert_int_equal(m.ops->update(m.maps, HASH, &keys[i], "value of 12"), 0);
	assert_int_equal(m.ops->update(m.maps, HASH, "12345678", value), -TALLY_ENOMEM);
	assert_int_equal(m.ops->remove(m.maps, HASH, &keys[1]), 0);
	assert_int_equal(m.ops->remove(m.maps, HASH, &keys[1]), -TALLY_EEND);
	assert_int_equal(m.ops->next(m.maps, HASH, NULL, next), 0);
	assert_memory_equal(next, &keys[0], 8);
	assert_int_equal(m.ops->next(m.maps, HASH, next, next), 0);
	assert_memory_equal(next, &keys[2], 8);
	assert_int_equal(m.ops->next(m.maps, HASH, next, next), -TALLY_EEND);
	assert_int_equal(m.ops->take(m.maps, HASH, &keys[2], value), 0);
	assert_string_equal(value, "value of 12");
	assert_int_equal(m.ops->lookup(m.maps, HASH, &keys[2], value), -TALLY_EEND);
	assert_int_equal(m.ops->take(m.maps, HASH, &keys[2], value), -TALLY_EEND);
	uint32_t index = 0, last = 1;
	assert_int_equal(m.ops->next(m.maps, PERCPU, &index, next), 0);
	assert_memory_equal(next, &last, 4);
	assert_int_equal(m.ops->next(m.maps, PERCPU, &last, next), -TALLY_EEND);
	assert_int_equal(m.ops->take(m.maps, PERCPU, &last, value), -TALLY_EINVAL);
	assert_int_equal(m.ops->lookup(m.maps, RINGS, &last, value), -TALLY_EINVAL);
	assert_int_equal(m.ops->lookup(m.maps, NMAPS, &last, value), -TALLY_EINVAL);
	vm_close(f.vm);
}

/* ---- reading memory ------------------------------------------------- */

/* 16 kernel bytes at 0xffff000000000000 and a user string that ends 3 bytes before unreadable memory. */
static int read_memory(void *arg, uint64_t addr, void *to, size_t n, bool user)
{
	static const char kernel[] = "kernel memory!!", text[] = "hi";
	uint64_t base = user ? 0x5000 - sizeof(text) : 0xffff000000000000ULL;
	const char *from = user ? text : kernel;
	size_t size = user ? sizeof(text) : sizeof(kernel);
	(void)arg;
	if (addr < base || addr - base > size || n > size - (addr - base))
		return -1;
	memcpy(to, from + (addr - base), n);
	return 0;
}

/* Reads `size` bytes from addr with helper; R0 is what it returned, R1 the first word of what was read. */
#define READ(helper, size, addr) I_STORE_IMM(DW, R10, -32, -1), I_MOV_REG(R1, R10), \
	I_ALU_IMM(ADD, R1, -32), I_MOV_IMM(R2, size), LD64(R3, addr), I_CALL(helper), I_LOAD(DW, R1, R10, -32)
#define KADDR 0xffff000000000000ULL

static int run_reading(const struct bpf_ins *ins, uint32_t n)
{
	struct fixture f;
	start(&f, ins, n);
	f.cpu.read = read_memory;
	return run(&f);
}
#define RUN_READING(...) run_reading(PROG(__VA_ARGS__), COUNT(PROG(__VA_ARGS__)))

static void memory_is_read_through_the_cpu(void **state)
{
	(void)state;
	assert_int_equal(RUN_READING(READ(probe_read_kernel, 2, KADDR + 3), I_ALU_IMM(AND, R1, 0xffff),
				     I_MOV_REG(R0, R1), I_EXIT()), 'n' | 'e' << 8);
	assert_int_equal(RUN_READING(READ(probe_read, 1, KADDR), I_ALU_IMM(AND, R1, 0xff),
				     I_MOV_REG(R0, R1), I_EXIT()), 'k');
	assert_int_equal(RUN_READING(READ(probe_read, 1, 0x4ffd), I_ALU_IMM(AND, R1, 0xff),
				     I_MOV_REG(R0, R1), I_EXIT()), 'h');
	assert_int_equal(RUN_READING(READ(probe_read_user, 3, 0x4ffd), I_EXIT()), 0);
	assert_int_equal(RUN_READING(READ(probe_read_user, 4, 0x4ffd), I_NEG(R0), I_EXIT()), BPF_EFAULT);
	assert_int_equal(RUN_READING(READ(probe_read_kernel, 8, 16), I_MOV_REG(R0, R1), I_EXIT()), 0);
	assert_int_equal(RUN(READ(probe_read_kernel, 8, KADDR), I_NEG(R0), I_EXIT()), BPF_EFAULT);
	assert_int_equal(RUN_READING(READ(probe_read_kernel, 0, 16), I_EXIT()), 0);
}

static void strings_end_at_their_nul(void **state)
{
	(void)state;
	assert_int_equal(RUN_READING(READ(probe_read_user_str, 32, 0x4ffd), I_EXIT()), 3);
	/* what lies behind the NUL stays as it was */
	assert_int_equal(RUN_READING(READ(probe_read_user_str, 32, 0x4ffd), I_ALU_IMM(RSH, R1, 16),
				     I_ALU_IMM(AND, R1, 0xffff), I_MOV_REG(R0, R1), I_EXIT()), 0xff00);
	assert_int_equal(RUN_READING(READ(probe_read_kernel_str, 4, KADDR), I_EXIT()), 4);
	assert_int_equal(RUN_READING(READ(probe_read_kernel_str, 4, KADDR), I_ALU_IMM(RSH, R1, 16),
				     I_ALU_IMM(AND, R1, 0xffff), I_MOV_REG(R0, R1), I_EXIT()), 'r');
	assert_int_equal(RUN_READING(READ(probe_read_kernel_str, 32, KADDR + 16), I_NEG(R0), I_EXIT()),
			 BPF_EFAULT);
	assert_int_equal(RUN_READING(READ(probe_read_user_str, 0, 0), I_EXIT()), 0);
}

static void own_memory_reads_as_kernel_memory(void **state)
{
	(void)state;
	/* copies the string "hi" from the globals' map to the stack */
	assert_int_equal(RUN(I_LD_MAP_VALUE(R6, GLOBALS), I_LD64_HI(0), I_STORE_IMM(W, R6, 0, 0x6968),
			     I_MOV_REG(R1, R10), I_ALU_IMM(ADD, R1, -8), I_MOV_IMM(R2, 8),
			     I_MOV_REG(R3, R6), I_CALL(probe_read_kernel_str), I_LOAD(H, R1, R10, -8),
			     I_ALU_IMM(MUL, R0, 0x10000), I_ALU_REG(ADD, R0, R1), I_EXIT()), 0x36968);
	/* past its end it faults, and user reads can't see it */
	assert_int_equal(RUN(I_MOV_REG(R1, R10), I_ALU_IMM(ADD, R1, -8), I_MOV_IMM(R2, 8),
			     I_LD_MAP_VALUE(R3, GLOBALS), I_RAW(0, 0, 0, 0, 60),
			     I_CALL(probe_read_kernel), I_NEG(R0), I_EXIT()), BPF_EFAULT);
	assert_int_equal(RUN(I_MOV_REG(R1, R10), I_ALU_IMM(ADD, R1, -8), I_MOV_IMM(R2, 8),
			     I_LD_MAP_VALUE(R3, GLOBALS), I_LD64_HI(0), I_CALL(probe_read_user), I_NEG(R0),
			     I_EXIT()), BPF_EFAULT);
	struct fixture f;
	START(&f, I_MOV_REG(R1, R10), I_MOV_IMM(R2, 8), I_LD_MAP_VALUE(R3, GLOBALS), I_LD64_HI(0),
	      I_CALL(probe_read_kernel), I_EXIT());
	assert_int_equal(run(&f), -TALLY_ECORRUPT);
}

/* ---- who and when --------------------------------------------------- */

static int run_as(const struct bpf_ins *ins, uint32_t n)
{
	struct fixture f;
	start(&f, ins, n);
	f.cpu = (struct vm_cpu){ .cpu = 1, .pid = 100, .tid = 101, .uid = 7, .gid = 8, .ppid = 99,
				 .comm = "fifteen letters", .mono_ns = 12345, .vtime_ns = 777,
				 .pc = 0x123456 };
	return run(&f);
}
#define RUN_AS(...) run_as(PROG(__VA_ARGS__), COUNT(PROG(__VA_ARGS__)))

static void the_cpu_answers_who_and_when(void **state)
{
	(void)state;
	assert_int_equal(RUN_AS(I_CALL(ktime_get_ns), I_EXIT()), 12345);
	assert_int_equal(RUN_AS(I_CALL(get_smp_processor_id), I_EXIT()), 1);
	assert_int_equal(RUN_AS(I_LOAD(DW, R0, R1, 0), I_EXIT()), 0x123456);
	assert_int_equal(RUN_AS(I_CALL(get_current_pid_tgid), I_MOV_REG(R1, R0), I_ALU_IMM(RSH, R1, 32),
				I_ALU32_IMM(MUL, R0, 1000), I_ALU_REG(ADD, R0, R1), I_EXIT()), 101100);
	assert_int_equal(RUN_AS(I_CALL(get_current_uid_gid), I_MOV_REG(R1, R0), I_ALU_IMM(RSH, R1, 32),
				I_ALU32_IMM(MUL, R0, 1000), I_ALU_REG(ADD, R0, R1), I_EXIT()), 7008);
	assert_int_equal(RUN_AS(I_MOV_IMM(R1, 1), I_MOV_IMM(R2, 2), I_MOV_REG(R3, R10),
				I_ALU_IMM(ADD, R3, -8), I_MOV_IMM(R4, 8), I_CALL(get_ns_current_pid_tgid),
				I_LOAD(W, R0, R10, -8), I_LOAD(W, R1, R10, -4), I_ALU_IMM(MUL, R0, 1000),
				I_ALU_REG(ADD, R0, R1), I_EXIT()), 101100);
	assert_int_equal(RUN_AS(I_MOV_REG(R3, R10), I_ALU_IMM(ADD, R3, -8), I_MOV_IMM(R4, 4),
				I_CALL(get_ns_current_pid_tgid), I_NEG(R0), I_EXIT()), BPF_EINVAL);
}

static void execname_is_cut_and_padded(void **state)
{
	(void)state;
#define COMM(size) I_STORE_IMM(DW, R10, -24, -1), I_STORE_IMM(DW, R10, -16, -1), I_MOV_REG(R1, R10), \
	I_ALU_IMM(ADD, R1, -24), I_MOV_IMM(R2, size), I_CALL(get_current_comm)
	assert_int_equal(RUN_AS(COMM(16), I_LOAD(H, R0, R10, -10), I_EXIT()), 's');
	assert_int_equal(RUN_AS(COMM(4), I_LOAD(W, R0, R10, -24), I_EXIT()), 'f' | 'i' << 8 | 'f' << 16);
	assert_int_equal(RUN_AS(COMM(24), I_LOAD(DW, R0, R10, -8), I_EXIT()), 0);
	assert_int_equal(RUN_AS(COMM(0), I_NEG(R0), I_EXIT()), BPF_EINVAL);
}

static void relocated_fields_of_the_task_can_be_read(void **state)
{
	(void)state;
	/* ppid: task->real_parent, then ->tgid */
	struct bpf_ins prog[] = {
		I_CALL(get_current_task), I_MOV_REG(R3, R0), I_ALU_IMM(ADD, R3, 0), I_MOV_REG(R1, R10),
		I_ALU_IMM(ADD, R1, -8), I_MOV_IMM(R2, 8), I_CALL(probe_read_kernel),
		I_LOAD(DW, R3, R10, -8), I_ALU_IMM(ADD, R3, 0), I_MOV_REG(R1, R10),
		I_ALU_IMM(ADD, R1, -8), I_MOV_IMM(R2, 4), I_CALL(probe_read_kernel), I_LOAD(W, R0, R10, -8),
		I_EXIT() };
	struct img_reloc relocs[] = { { 2, "task_struct", "real_parent" }, { 8, "task_struct", "tgid" } };
	struct fixture f;
	start(&f, prog, COUNT(prog));
	vm_close(f.vm);
	f.prog.reloc = relocs;
	f.prog.nrelocs = COUNT(relocs);
	f.cpu.ppid = 4711;
	assert_int_equal(vm_open(&f.vm, &f.img, 1, &f.e), 0);
	assert_int_equal(run(&f), 4711);
	relocs[1].field = "no_such_field";
	assert_int_equal(vm_open(&f.vm, &f.img, 1, &f.e), 0);
	assert_int_equal(run(&f), 0);
}

static void counters_read_as_zero(void **state)
{
	(void)state;
#define COUNTER(size) I_STORE_IMM(DW, R10, -24, -1), I_MOV_REG(R2, R10), I_ALU_IMM(ADD, R2, -24), \
	I_MOV_IMM(R3, size), I_CALL(perf_prog_read_value)
	assert_int_equal(RUN(COUNTER(24), I_LOAD(DW, R1, R10, -24), I_ALU_REG(ADD, R0, R1), I_EXIT()), 0);
	assert_int_equal(RUN(COUNTER(16), I_NEG(R0), I_EXIT()), BPF_EINVAL);
}

/* ---- stacks --------------------------------------------------------- */

static int run_stack(const struct bpf_ins *ins, uint32_t n)
{
	static const uint64_t kernel[] = { 1, 2, 3, 4, 5 }, user[] = { 10, 11 };
	struct fixture f;
	start(&f, ins, n);
	f.cpu.kstack = kernel;
	f.cpu.nkstack = COUNT(kernel);
	f.cpu.ustack = user;
	f.cpu.nustack = COUNT(user);
	return run(&f);
}
#define RUN_STACK(...) run_stack(PROG(__VA_ARGS__), COUNT(PROG(__VA_ARGS__)))
#define STACK(size, flags) I_STORE_IMM(DW, R10, -8, -1), I_MOV_REG(R2, R10), I_ALU_IMM(ADD, R2, -32), \
	I_MOV_IMM(R3, size), I_MOV_IMM(R4, flags), I_CALL(get_stack)
#define STACKID(flags) I_LD_MAP(R2, STACKS), I_LD64_HI(0), I_MOV_IMM(R3, flags), I_CALL(get_stackid)

static void stacks_are_cut_and_skipped(void **state)
{
	(void)state;
	assert_int_equal(RUN_STACK(STACK(32, 0), I_EXIT()), 32);
	assert_int_equal(RUN_STACK(STACK(32, 3), I_LOAD(DW, R1, R10, -24), I_ALU_IMM(MUL, R0, 10),
				   I_ALU_REG(ADD, R0, R1), I_EXIT()), 165);
	assert_int_equal(RUN_STACK(STACK(32, STACK_USER), I_LOAD(DW, R1, R10, -32),
				   I_LOAD(DW, R2, R10, -8), I_ALU_REG(ADD, R0, R1), I_ALU_REG(ADD, R0, R2),
				   I_EXIT()), 26);
	assert_int_equal(RUN_STACK(STACK(32, STACK_USER | 2), I_NEG(R0), I_EXIT()), BPF_EFAULT);
	assert_int_equal(RUN_STACK(STACK(30, 0), I_NEG(R0), I_EXIT()), BPF_EINVAL);
	assert_int_equal(RUN(STACK(32, 0), I_NEG(R0), I_EXIT()), BPF_EFAULT);
}

static void equal_stacks_have_one_id(void **state)
{
	(void)state;
	struct fixture f;
	static const uint64_t frames[] = { 7, 8, 9 };
	uint64_t value[4];
	START(&f, STACKID(0), I_MOV_REG(R6, R0), I_LD_MAP(R2, STACKS), I_LD64_HI(0), I_MOV_IMM(R3, 0),
	      I_CALL(get_stackid), I_JMP_REG(JEQ, R0, R6, 1), I_MOV_IMM(R0, 77), I_EXIT());
	f.cpu.kstack = frames;
	f.cpu.nkstack = 3;
	int id = vm_run(f.vm, 0, &f.cpu, 1000, &f.e);
	assert_in_range(id, 0, 3);
	struct maps m = vm_maps(f.vm);
	uint32_t key = (uint32_t)id;
	assert_int_equal(m.ops->lookup(m.maps, STACKS, &key, value), 0);
	assert_memory_equal(value, ((uint64_t[]){ 7, 8, 9, 0 }), 32);
	assert_int_equal(m.ops->take(m.maps, STACKS, &key, value), 0);
	assert_int_equal(m.ops->lookup(m.maps, STACKS, &key, value), -TALLY_EEND);
	assert_int_equal(m.ops->next(m.maps, STACKS, NULL, &key), -TALLY_EEND);
	vm_close(f.vm);
}

static void different_stacks_may_collide(void **state)
{
	(void)state;
	struct fixture f;
	int collisions = 0, kept = 0;
	START(&f, STACKID(0), I_JMP_IMM(JSGE, R0, 0, 1), I_NEG(R0), I_EXIT());
	for (uint64_t pc = 1; pc < 20; pc++) {
		f.cpu.kstack = &pc;
		f.cpu.nkstack = 1;
		int id = vm_run(f.vm, 0, &f.cpu, 1000, &f.e);
		collisions += id == BPF_EEXIST;
		kept += id < 4;
	}
	assert_int_equal(collisions + kept, 19);
	assert_in_range(kept, 1, 4);
	vm_close(f.vm);
	assert_int_equal(RUN(STACKID(0), I_NEG(R0), I_EXIT()), BPF_EFAULT);
	assert_int_equal(RUN(STACKID(1 << 12), I_NEG(R0), I_EXIT()), BPF_EINVAL);
	START(&f, I_LD_MAP(R2, HASH), I_LD64_HI(0), I_MOV_IMM(R3, 0), I_CALL(get_stackid), I_EXIT());
	assert_int_equal(run(&f), -TALLY_ECORRUPT);
}

/* ---- rings ---------------------------------------------------------- */

/* R6 = the ring of index `i` */
#define RING(i) LOOKUP(RINGS, i), I_MOV_REG(R6, R0), I_MOV_REG(R1, R0)
/* hands over 16 bytes: a word of `v`, a word of zero */
#define OUTPUT(v) I_STORE_IMM(DW, R10, -32, v), I_STORE_IMM(DW, R10, -24, 0), I_MOV_REG(R1, R6), \
	I_MOV_REG(R2, R10), I_ALU_IMM(ADD, R2, -32), I_MOV_IMM(R3, 16), I_MOV_IMM(R4, 0), \
	I_CALL(ringbuf_output)

static void records_come_in_order_and_wrap(void **state)
{
	(void)state;
	struct fixture f;
	const void *rec;
	START(&f, RING(1), OUTPUT(41), OUTPUT(42), I_EXIT());
	for (int i = 0; i < 20; i++) {          /* 48 bytes each time, so it wraps at every place */
		assert_int_equal(vm_run(f.vm, 0, &f.cpu, 1000, &f.e), 0);
		assert_int_equal(vm_ring_next(f.vm, 1, &rec), 16);
		assert_int_equal(*(const uint64_t *)rec, 41);
		assert_int_equal(vm_ring_next(f.vm, 1, &rec), 16);
		assert_int_equal(*(const uint64_t *)rec, 42);
		assert_int_equal(vm_ring_next(f.vm, 1, &rec), 0);
	}
	assert_int_equal(vm_ring_next(f.vm, 0, &rec), 0);
	assert_int_equal(vm_ring_next(f.vm, 3, &rec), 0);
	vm_close(f.vm);
	assert_int_equal(RUN(LOOKUP(RINGS, 2), I_EXIT()), 0);
}

static void a_full_ring_says_again(void **state)
{
	(void)state;
	struct fixture f;
	int rc = 0, n = 0;
	START(&f, RING(0), OUTPUT(1), I_NEG(R0), I_EXIT());
	while ((rc = vm_run(f.vm, 0, &f.cpu, 1000, &f.e)) == 0)
		n++;
	assert_int_equal(rc, BPF_EAGAIN);
	assert_int_equal(n, 10);                /* 240 of 255 bytes */
	vm_close(f.vm);
}

static void reserved_records_show_once_submitted(void **state)
{
	(void)state;
	struct fixture f;
	const void *rec;
#define RESERVE(n) I_MOV_REG(R1, R6), I_MOV_IMM(R2, n), I_MOV_IMM(R3, 0), I_CALL(ringbuf_reserve)
	START(&f, RING(1), RESERVE(8), I_STORE_IMM(DW, R0, 0, 5), I_MOV_REG(R7, R0), RESERVE(8),
	      I_STORE_IMM(DW, R0, 0, 6), I_MOV_REG(R1, R7), I_MOV_REG(R7, R0), I_CALL(ringbuf_discard),
	      I_MOV_REG(R1, R7), I_CALL(ringbuf_submit), I_EXIT());
	assert_int_equal(vm_run(f.vm, 0, &f.cpu, 1000, &f.e), 0);
	assert_int_equal(vm_ring_next(f.vm, 1, &rec), 8);
	assert_int_equal(*(const uint64_t *)rec, 6);
	assert_int_equal(vm_ring_next(f.vm, 1, &rec), 0);
	vm_close(f.vm);

	assert_int_equal(RUN(RING(1), RESERVE(300), I_EXIT()), 0);
	START(&f, RING(1), RESERVE(8), I_EXIT());
	assert_int_equal(run(&f), -TALLY_ECORRUPT);
	assert_non_null(strstr(f.e.text, "never submitted"));
	START(&f, RING(1), RESERVE(8), I_STORE_IMM(DW, R0, 8, 1), I_EXIT());
	assert_int_equal(run(&f), -TALLY_ECORRUPT);
	START(&f, RING(1), I_CALL(ringbuf_submit), I_EXIT());
	assert_int_equal(run(&f), -TALLY_ECORRUPT);
	START(&f, RING(1), RESERVE(8), I_JUMP(-5), I_EXIT());
	assert_int_equal(run(&f), -TALLY_ECORRUPT);
}

static void rings_tell_their_state(void **state)
{
	(void)state;
#define QUERY(what) RING(0), OUTPUT(1), I_MOV_REG(R1, R6), I_MOV_IMM(R2, what), I_CALL(ringbuf_query), I_EXIT()
	assert_int_equal(RUN(QUERY(RING_AVAIL_DATA)), 24);
	assert_int_equal(RUN(QUERY(RING_SIZE)), 256);
	assert_int_equal(RUN(QUERY(RING_CONS_POS)), 0);
	assert_int_equal(RUN(QUERY(RING_PROD_POS)), 24);
	assert_int_equal(RUN(QUERY(9)), 0);
	struct fixture f;
	START(&f, I_LD_MAP(R1, RINGS), I_LD64_HI(0), I_MOV_IMM(R2, 0), I_CALL(ringbuf_query), I_EXIT());
	assert_int_equal(run(&f), -TALLY_ECORRUPT);
}

/* ---- the rest ------------------------------------------------------- */

static void strings_compare(void **state)
{
	(void)state;
#define STRNCMP(a, b, n) I_STORE_IMM(DW, R10, -16, a), I_STORE_IMM(DW, R10, -8, b), I_MOV_REG(R1, R10), \
	I_ALU_IMM(ADD, R1, -16), I_MOV_IMM(R2, n), I_MOV_REG(R3, R10), I_ALU_IMM(ADD, R3, -8), \
	I_CALL(strncmp), I_ALU_IMM(ADD, R0, 5), I_EXIT()
	assert_int_equal(RUN(STRNCMP(0x6261, 0x6261, 8)), 5);
	assert_int_equal(RUN(STRNCMP(0x6161, 0x6261, 8)), 4);
	assert_int_equal(RUN(STRNCMP(0x6361, 0x6261, 8)), 6);
	assert_int_equal(RUN(STRNCMP(0x6361, 0x6261, 1)), 5);
	struct fixture f;
	START(&f, STRNCMP(0x6361, -1, 1));      /* no NUL before the end of the stack */
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
	static const struct { struct bpf_ins in; int rc; } rows[] = {
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
		{ IMG_ARRAY, 0, 0, "key", 8, 8, 1 }, { IMG_HASH, 0, 0, "nokey", 0, 8, 1 },
		{ IMG_HASH, 0, 0, "none", 8, 8, 0 }, { IMG_HASH, 0, 0, "huge", 8, 1 << 20, 1 << 25 },
		{ IMG_ARRAY, 0, 0, "value", 4, 1u << 30, 1 }, { IMG_STACK_TRACE, 0, 0, "odd", 4, 12, 4 },
		{ IMG_RINGS, 0, 0, "ring", 4, 4, 1000 }, { IMG_ARRAY, IMG_GLOBALS, 0, "small", 4, 4, 1 },
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
	f.maps[CTL] = test_maps[RINGS];         /* two of them */
	assert_int_equal(vm_open(&f.vm, &f.img, 1, &f.e), -TALLY_EINVAL);
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
	assert_in_range(ended, 1, 2999);
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
		cmocka_unit_test(hashes_keep_what_was_put),
		cmocka_unit_test(a_full_hash_is_too_big),
		cmocka_unit_test(arrays_answer_by_index),
		cmocka_unit_test(each_cpu_has_its_own_values),
		cmocka_unit_test(map_arguments_must_be_maps),
		cmocka_unit_test(maps_can_be_reached_from_outside),
		cmocka_unit_test(memory_is_read_through_the_cpu),
		cmocka_unit_test(strings_end_at_their_nul),
		cmocka_unit_test(own_memory_reads_as_kernel_memory),
		cmocka_unit_test(the_cpu_answers_who_and_when),
		cmocka_unit_test(execname_is_cut_and_padded),
		cmocka_unit_test(relocated_fields_of_the_task_can_be_read),
		cmocka_unit_test(counters_read_as_zero),
		cmocka_unit_test(stacks_are_cut_and_skipped),
		cmocka_unit_test(equal_stacks_have_one_id),
		cmocka_unit_test(different_stacks_may_collide),
		cmocka_unit_test(records_come_in_order_and_wrap),
		cmocka_unit_test(a_full_ring_says_again),
		cmocka_unit_test(reserved_records_show_once_submitted),
		cmocka_unit_test(rings_tell_their_state),
		cmocka_unit_test(strings_compare),
		cmocka_unit_test(a_test_program_has_no_context),
		cmocka_unit_test(a_record_is_read_within_its_bytes_and_not_written),
		cmocka_unit_test(impossible_maps_are_refused),
		cmocka_unit_test(every_failed_allocation_is_survived),
		cmocka_unit_test(random_programs_stay_in_their_memory),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
