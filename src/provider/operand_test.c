/* Tests of operand.c: what assemblers write, and what strangers do. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "provider/provider_int.h"

static void assert_operand(const struct bpf_operand *o, const struct bpf_operand *want, int line)
{
	if (o->kind != want->kind || o->bytes != want->bytes || o->is_signed != want->is_signed ||
	    o->reg != want->reg || o->index != want->index || o->shift != want->shift || o->value != want->value)
		fail_msg("line %d: kind %d bytes %d signed %d reg %d index %d shift %d value %lld", line, o->kind,
			 o->bytes, o->is_signed, o->reg, o->index, o->shift, (long long)o->value);
}

#define IS(machine, text, ...)                                                         \
	do {                                                                           \
		struct bpf_operand o[OPERANDS_MOST];                                   \
		assert_int_equal(usdt_operands(machine, text, o), 1);                  \
		assert_operand(&o[0], &(struct bpf_operand){ __VA_ARGS__ }, __LINE__); \
	} while (0)

static void operands_of_x86_64_are_understood(void **state)
{
	(void)state;
	IS(SYM_X86_64, "-4@%eax", OPERAND_REG, 4, true, 0, 80, 0, 0);
	IS(SYM_X86_64, "8@%r12", OPERAND_REG, 8, false, 0, 24, 0, 0);
	IS(SYM_X86_64, "1@%r9b", OPERAND_REG, 1, false, 0, 64, 0, 0);
	IS(SYM_X86_64, "8@$42", OPERAND_CONST, 8, false, 0, 0, 0, 42);
	IS(SYM_X86_64, "-8@$-42", OPERAND_CONST, 8, true, 0, 0, 0, -42);
	IS(SYM_X86_64, "4@$0xff", OPERAND_CONST, 4, false, 0, 0, 0, 255);
	IS(SYM_X86_64, "8@$0", OPERAND_CONST, 8, false, 0, 0, 0, 0);
	IS(SYM_X86_64, "8@$07", OPERAND_CONST, 8, false, 0, 0, 0, 7);
	IS(SYM_X86_64, "8@$0Xa0", OPERAND_CONST, 8, false, 0, 0, 0, 160);
	IS(SYM_X86_64, "8@$+5", OPERAND_CONST, 8, false, 0, 0, 0, 5);
	IS(SYM_X86_64, "8@0(%rdi)", OPERAND_MEM, 8, false, 0, 112, 0, 0);
	IS(SYM_X86_64, "8@(%rdi)", OPERAND_MEM, 8, false, 0, 112, 0, 0);
	IS(SYM_X86_64, "-2@-16(%rbp)", OPERAND_MEM, 2, true, 0, 32, 0, -16);
	IS(SYM_X86_64, "4@8(%rax,%rcx,4)", OPERAND_MEM_INDEX, 4, false, 2, 80, 88, 8);
	IS(SYM_X86_64, "8@(%rax,%rcx)", OPERAND_MEM_INDEX, 8, false, 0, 80, 88, 0);
	IS(SYM_X86_64, "%rdx", OPERAND_REG, 8, false, 0, 96, 0, 0);
}

static void operands_of_arm64_are_understood(void **state)
{
	(void)state;
	IS(SYM_AARCH64, "-4@w1", OPERAND_REG, 4, true, 0, 8, 0, 0);
	IS(SYM_AARCH64, "8@x30", OPERAND_REG, 8, false, 0, 240, 0, 0);
	IS(SYM_AARCH64, "8@sp", OPERAND_REG, 8, false, 0, 248, 0, 0);
	IS(SYM_AARCH64, "8@42", OPERAND_CONST, 8, false, 0, 0, 0, 42);
	IS(SYM_AARCH64, "-4@-7", OPERAND_CONST, 4, true, 0, 0, 0, -7);
	IS(SYM_AARCH64, "8@[sp]", OPERAND_MEM, 8, false, 0, 248, 0, 0);
	IS(SYM_AARCH64, "4@[x19, 16]", OPERAND_MEM, 4, false, 0, 152, 0, 16);
	IS(SYM_AARCH64, "4@[x19, #-16]", OPERAND_MEM, 4, false, 0, 152, 0, -16);
	IS(SYM_AARCH64, "8@[x1,x2]", OPERAND_MEM_INDEX, 8, false, 0, 8, 16, 0);
}

static void what_is_no_operand_is_none_and_the_others_stay(void **state)
{
	static const char *const bad[] = { "8@",
					   "8@%",
					   "8@%xmm0",
					   "8f@%rax",
					   "3@%rax",
					   "8@$",
					   "8@var(%rip,",
					   "8@8(%rax",
					   "8@8(%rax,%rcx,3)",
					   "8@8(%rax))",
					   "@%rax",
					   "8@%raxx",
					   "8@[x1, w2]",
					   "8@[x31]",
					   "8@x31",
					   "8@[",
					   "8@[sp, 8",
					   "-@%rax",
					   "8@name(%rip)",
					   "8@%abcdefgh",
					   "16@%rax",
					   "99999999999999999999999@%rax" };
	struct bpf_operand o[OPERANDS_MOST];

	(void)state;
	for (enum sym_machine m = SYM_X86_64; m <= SYM_AARCH64; m++)
		for (size_t i = 0; i < COUNT(bad); i++) {
			assert_int_equal(usdt_operands(m, bad[i], o), 1);
			assert_int_equal(o[0].kind, OPERAND_NONE);
		}
	assert_int_equal(usdt_operands(SYM_X86_64, "  4@%eax 8@%xmm1  8@8(%rax, %rcx, 8) 1@$1 ", o), 4);
	assert_int_equal(o[0].kind, OPERAND_REG);
	assert_int_equal(o[1].kind, OPERAND_NONE);
	assert_int_equal(o[2].kind, OPERAND_MEM_INDEX);
	assert_int_equal(o[3].value, 1);
	assert_int_equal(usdt_operands(SYM_X86_64, "", o), 0);
}

static void more_than_ten_operands_are_ten_and_a_long_one_is_none(void **state)
{
	struct bpf_operand o[OPERANDS_MOST];
	char text[400];

	(void)state;
	assert_int_equal(usdt_operands(SYM_X86_64, "8@$1 8@$2 8@$3 8@$4 8@$5 8@$6 8@$7 8@$8 8@$9 8@$10 8@$11 8@$12", o),
			 10);
	assert_int_equal(o[9].value, 10);
	memset(text, '9', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	assert_int_equal(usdt_operands(SYM_X86_64, text, o), 1);
	assert_int_equal(o[0].kind, OPERAND_NONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(operands_of_x86_64_are_understood),
		cmocka_unit_test(operands_of_arm64_are_understood),
		cmocka_unit_test(what_is_no_operand_is_none_and_the_others_stay),
		cmocka_unit_test(more_than_ten_operands_are_ten_and_a_long_one_is_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
