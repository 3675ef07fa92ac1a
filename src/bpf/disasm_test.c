/*
 * disasm_test.c: the text of each kind of instruction.  Goldens of whole programs rest on it.
 */
#include "bpf/insn.h"

#include <setjmp.h>
#include <string.h>
#include <cmocka.h>

/* The second name fills its array: no NUL is behind it. */
static struct img_map maps[] = {
	{ IMG_ARRAY, IMG_GLOBALS, 0, "globals", 4, 64, 1, NULL },
	{ IMG_HASH,
	  IMG_VAR,
	  0,
	  { 's', 'i', 'x', 't', 'e', 'e', 'n', '_', 'l', 'e', 't', 't', 'e', 'r', 's', '_' },
	  8,
	  8,
	  1,
	  NULL },
};

/* The text of the first of n instructions, without number and newline. */
static void expect(int line, const struct bpf_ins *ins, uint32_t n, const char *want)
{
	struct bpf_image img = { .map = maps, .nmaps = COUNT(maps) };
	struct img_prog prog = { .ins = (struct bpf_ins *)(uintptr_t)ins, .nins = n };
	struct buf b = { 0 };
	bpf_disasm(&img, &prog, &b);
	char *got = b.p + strlen("    0: ");
	*strchr(got, '\n') = 0;
	if (strcmp(got, want))
		fail_msg("line %d: \"%s\", not \"%s\"", line, got, want);
	buf_free(&b);
}
#define EXPECT(want, ...) \
	expect(__LINE__, (struct bpf_ins[]){ __VA_ARGS__ }, COUNT(((struct bpf_ins[]){ __VA_ARGS__ })), want)

static void arithmetic_reads_as_in_c(void **state)
{
	(void)state;
	EXPECT("r1 = 5", I_MOV_IMM(R1, 5));
	EXPECT("w1 = -5", I_MOV32_IMM(R1, -5));
	EXPECT("r1 = r10", I_MOV_REG(R1, R10));
	EXPECT("r1 += -8", I_ALU_IMM(ADD, R1, -8));
	EXPECT("w2 -= w3", I_ALU32_REG(SUB, R2, R3));
	EXPECT("r2 *= 3", I_ALU_IMM(MUL, R2, 3));
	EXPECT("r2 /= r3", I_ALU_REG(DIV, R2, R3));
	EXPECT("r2 %= r3", I_ALU_REG(MOD, R2, R3));
	EXPECT("r2 |= 1", I_ALU_IMM(OR, R2, 1));
	EXPECT("r2 &= 1", I_ALU_IMM(AND, R2, 1));
	EXPECT("r2 ^= 1", I_ALU_IMM(XOR, R2, 1));
	EXPECT("r2 <<= 32", I_ALU_IMM(LSH, R2, 32));
	EXPECT("r2 >>= 32", I_ALU_IMM(RSH, R2, 32));
	EXPECT("r2 s>>= 32", I_ALU_IMM(ARSH, R2, 32));
	EXPECT("r2 = -r2", I_NEG(R2));
	EXPECT("w2 = -w2", I_NEG32(R2));
	EXPECT("r2 = be16 r2", I_BE(R2, 16));
	EXPECT("r2 = le64 r2", I_LE(R2, 64));
}

static void memory_shows_size_and_offset(void **state)
{
	(void)state;
	EXPECT("r1 = *(u64 *)(r6 + 128)", I_LOAD(DW, R1, R6, 128));
	EXPECT("r1 = *(u8 *)(r10 - 1)", I_LOAD(B, R1, R10, -1));
	EXPECT("*(u16 *)(r10 - 2) = r3", I_STORE(H, R10, -2, R3));
	EXPECT("*(u32 *)(r10 - 4) = -1", I_STORE_IMM(W, R10, -4, -1));
	EXPECT("lock *(u64 *)(r1 + 0) += r2", I_ATOMIC(DW, ADD, R1, 0, R2));
	EXPECT("lock *(u32 *)(r1 + 4) |= r2", I_ATOMIC(W, OR, R1, 4, R2));
	EXPECT("r2 = atomic64_fetch_add((u64 *)(r1 + 0), r2)", I_ATOMIC_FETCH(DW, ADD, R1, 0, R2));
	EXPECT("r2 = atomic_fetch_or((u32 *)(r1 + 0), r2)", I_ATOMIC_FETCH(W, OR, R1, 0, R2));
	EXPECT("r2 = atomic64_fetch_and((u64 *)(r1 - 8), r2)", I_ATOMIC_FETCH(DW, AND, R1, -8, R2));
	EXPECT("lock *(u64 *)(r1 + 0) &= r2", I_ATOMIC(DW, AND, R1, 0, R2));
	EXPECT("lock *(u32 *)(r1 + 0) ^= r2", I_ATOMIC(W, XOR, R1, 0, R2));
	EXPECT("r2 = atomic_fetch_xor((u32 *)(r1 + 0), r2)", I_ATOMIC_FETCH(W, XOR, R1, 0, R2));
	EXPECT("r2 = atomic64_xchg((u64 *)(r1 + 8), r2)", I_XCHG(DW, R1, 8, R2));
	EXPECT("r0 = atomic64_cmpxchg((u64 *)(r1 + 0), r0, r2)", I_CMPXCHG(DW, R1, 0, R2));
}

static void jumps_count_from_the_next_instruction(void **state)
{
	(void)state;
	EXPECT("goto pc+3", I_JUMP(3));
	EXPECT("goto pc-1", I_JUMP(-1));
	EXPECT("if r1 == 0 goto pc+2", I_JMP_IMM(JEQ, R1, 0, 2));
	EXPECT("if r1 s> -5 goto pc+2", I_JMP_IMM(JSGT, R1, -5, 2));
	EXPECT("if w1 < w2 goto pc+2", I_JMP32_REG(JLT, R1, R2, 2));
	EXPECT("if r1 & 4 goto pc+0", I_JMP_IMM(JSET, R1, 4, 0));
	EXPECT("call map_lookup_elem#1", I_CALL(map_lookup_elem));
	EXPECT("call unknown#999", I_RAW(INS_JMP | OP_CALL, 0, 0, 0, 999));
	EXPECT("call pc+7", I_CALL_LOCAL(7));
	EXPECT("exit", I_EXIT());
}

static void constants_show_what_they_stand_for(void **state)
{
	(void)state;
	EXPECT("r1 = 0xffffffff00000001 ll", I_LD64_LO(R1, 0xffffffff00000001ULL), I_LD64_HI(0xffffffff00000001ULL));
	EXPECT("r1 = map[globals]", I_LD_MAP(R1, 0), I_LD64_HI(0));
	EXPECT("r1 = map[sixteen_letters_]", I_LD_MAP(R1, 1), I_LD64_HI(0));
	EXPECT("r1 = map[?]", I_LD_MAP(R1, 2), I_LD64_HI(0));
	EXPECT("r1 = map[globals][0]+24", I_LD_MAP_VALUE(R1, 0), I_RAW(0, 0, 0, 0, 24));
	EXPECT("r2 = subprog[pc+9]", I_LD_FUNC(R2, 9), I_LD64_HI(0));
}

static void what_is_no_instruction_shows_its_bytes(void **state)
{
	(void)state;
	EXPECT("unknown code 0x00 dst 1 src 2 off 3 imm 4", I_RAW(0, 1, 2, 3, 4));
	EXPECT("unknown code 0x18 dst 1 src 0 off 0 imm 5", I_LD64_LO(R1, 5));
	EXPECT("unknown code 0xe7 dst 1 src 0 off 0 imm 0", I_RAW(0xe7, 1, 0, 0, 0));
	EXPECT("unknown code 0xe5 dst 1 src 0 off 0 imm 0", I_RAW(0xe5, 1, 0, 0, 0));
	EXPECT("unknown code 0x86 dst 0 src 0 off 0 imm 1", I_RAW(INS_JMP32 | OP_CALL, 0, 0, 0, 1));
	EXPECT("unknown code 0x06 dst 0 src 0 off 2 imm 0", I_RAW(INS_JMP32 | OP_JA, 0, 0, 2, 0));
	EXPECT("unknown code 0x96 dst 0 src 0 off 0 imm 0", I_RAW(INS_JMP32 | OP_EXIT, 0, 0, 0, 0));
	EXPECT("unknown code 0x81 dst 1 src 2 off 0 imm 0", I_RAW(INS_LDX | 0x80, 1, 2, 0, 0));
	EXPECT("unknown code 0xdb dst 1 src 2 off 0 imm 16", I_RAW(0xdb, 1, 2, 0, 0x10));
	EXPECT("unknown code 0xbf dst 1 src 2 off 8 imm 0", I_RAW(0xbf, 1, 2, 8, 0));
}

static void every_helper_has_its_name(void **state)
{
	(void)state;
#define X(name, number) EXPECT("call " #name "#" #number, I_CALL(name));
	INS_HELPERS(X)
#undef X
}

static void a_program_shows_lines_and_relocations(void **state)
{
	(void)state;
	struct bpf_ins ins[] = { I_CALL(get_current_task), I_LD64_LO(R1, 7), I_LD64_HI(0), I_ALU_IMM(ADD, R0, 0),
				 I_EXIT() };
	uint32_t line[] = { 0, 3, 3, 4, 0 };
	struct img_reloc reloc = { 3, "task_struct", "tgid" };
	struct bpf_image img = { .map = maps, .nmaps = COUNT(maps) };
	struct img_prog prog = { .ins = ins, .nins = COUNT(ins), .line = line, .reloc = &reloc, .nrelocs = 1 };
	struct buf b = { 0 };
	bpf_disasm(&img, &prog, &b);
	assert_string_equal(b.p, "    0: call get_current_task#35\n"
				 "    1: r1 = 0x7 ll   ; line 3\n"
				 "    3: r0 += 0   ; line 4, task_struct.tgid\n"
				 "    4: exit\n");
	buf_free(&b);
}

static void a_program_without_lines_is_listed_with_0(void **state)
{
	struct bpf_ins ins[] = { I_EXIT() };
	struct bpf_image img = { .map = maps, .nmaps = COUNT(maps) };
	struct img_prog prog = { .ins = ins, .nins = COUNT(ins) };
	struct buf b = { 0 };

	(void)state;
	bpf_list(&img, &prog, &b);
	assert_string_equal(b.p, "0000 00000: 95 0 0 0000 00000000    exit\n");
	buf_free(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(arithmetic_reads_as_in_c),
		cmocka_unit_test(memory_shows_size_and_offset),
		cmocka_unit_test(jumps_count_from_the_next_instruction),
		cmocka_unit_test(constants_show_what_they_stand_for),
		cmocka_unit_test(what_is_no_instruction_shows_its_bytes),
		cmocka_unit_test(every_helper_has_its_name),
		cmocka_unit_test(a_program_shows_lines_and_relocations),
		cmocka_unit_test(a_program_without_lines_is_listed_with_0),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
