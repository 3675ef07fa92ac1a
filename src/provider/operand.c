/*
 * operand.c: where the arguments of a static probe lie.
 *
 * The note of a probe has them as the assembler writes operands, one behind the other, each with its size in bytes in
 * front (negative: it is signed):
 *
 *	x86-64   -4@%eax  8@$42  8@-16(%rbp)  4@8(%rax,%rcx,4)
 *	arm64    -4@w0    8@42   8@[sp, 16]   4@x3
 *
 * The text comes out of a file of a stranger.  Nothing is believed: what is no operand of this machine, or is one that
 * a program of the kernel can't read (a symbol, a register of floating point), is there as OPERAND_NONE, and its value
 * is 0.
 */
#include <stdlib.h>
#include <string.h>

#include "provider/provider_int.h"

/* ---- numbers and words ------------------------------------------------------------------ */

/* A number in C's notation at *s, which goes behind it. */
static bool operand_number(const char **s, int64_t *ret)
{
	const char *p = *s + strspn(*s, " ");
	const bool negative = *p == '-';
	unsigned base = 10, digit;
	uint64_t v = 0;
	int n = 0;

	p += *p == '-' || *p == '+';
	if (p[0] == '0' && (p[1] == 'x' || p[1] == 'X')) {
		base = 16;
		p += 2;
	}
	for (;; p++, n++) {
		digit = *p >= '0' && *p <= '9' ? (unsigned)(*p - '0') :
			*p >= 'a' && *p <= 'f' ? (unsigned)(*p - 'a') + 10 :
						 99;
		if (digit >= base || n > 20)
			break;
		v = v * base + digit;
	}
	if (!n)
		return false;
	*ret = (int64_t)(negative ? 0 - v : v);
	*s = p;
	return true;
}

/* The word of letters and digits at *s, which goes behind it, into to. */
static bool operand_word(const char **s, char to[static 8])
{
	size_t n = 0;

	while ((**s >= 'a' && **s <= 'z') || (**s >= '0' && **s <= '9')) {
		if (n == 7)
			return false;
		to[n++] = *(*s)++;
	}
	to[n] = '\0';
	return n > 0;
}

static bool operand_take(const char **s, char c)
{
	while (**s == ' ')
		(*s)++;
	if (**s != c)
		return false;
	(*s)++;
	return true;
}

/* ---- x86-64 ------------------------------------------------------------------------------ */

/* struct pt_regs, arch/x86/include/asm/ptrace.h */
static const struct operand_register {
	const char *name[4]; /* of 8, 4, 2 and 1 byte */
	int16_t offset;
} x86_64_register[] = {
	{ { "rax", "eax", "ax", "al" }, 80 },      { { "rbx", "ebx", "bx", "bl" }, 40 },
	{ { "rcx", "ecx", "cx", "cl" }, 88 },      { { "rdx", "edx", "dx", "dl" }, 96 },
	{ { "rsi", "esi", "si", "sil" }, 104 },    { { "rdi", "edi", "di", "dil" }, 112 },
	{ { "rbp", "ebp", "bp", "bpl" }, 32 },     { { "rsp", "esp", "sp", "spl" }, 152 },
	{ { "r8", "r8d", "r8w", "r8b" }, 72 },     { { "r9", "r9d", "r9w", "r9b" }, 64 },
	{ { "r10", "r10d", "r10w", "r10b" }, 56 }, { { "r11", "r11d", "r11w", "r11b" }, 48 },
	{ { "r12", "r12d", "r12w", "r12b" }, 24 }, { { "r13", "r13d", "r13w", "r13b" }, 16 },
	{ { "r14", "r14d", "r14w", "r14b" }, 8 },  { { "r15", "r15d", "r15w", "r15b" }, 0 },
	{ { "rip", "eip", "ip", "" }, 128 },
};

static bool operand_x86_64_register(const char **s, int16_t *ret)
{
	char word[8];

	if (!operand_take(s, '%') || !operand_word(s, word))
		return false;
	for (size_t i = 0; i < COUNT(x86_64_register); i++)
		for (size_t k = 0; k < 4; k++)
			if (!strcmp(word, x86_64_register[i].name[k])) {
				*ret = x86_64_register[i].offset;
				return true;
			}
	return false;
}

/* disp(%base,%index,scale): all but the base may be missing. */
static bool operand_x86_64_memory(const char *s, struct bpf_operand *o)
{
	int64_t scale = 1;

	o->kind = OPERAND_MEM;
	if (*s != '(' && !operand_number(&s, &o->value))
		return false;
	if (!operand_take(&s, '(') || !operand_x86_64_register(&s, &o->reg))
		return false;
	if (operand_take(&s, ',')) {
		o->kind = OPERAND_MEM_INDEX;
		if (!operand_x86_64_register(&s, &o->index) || (operand_take(&s, ',') && !operand_number(&s, &scale)))
			return false;
	}
	if (scale != 1 && scale != 2 && scale != 4 && scale != 8)
		return false;
	o->shift = (uint8_t)__builtin_ctzll((unsigned long long)scale);
	return operand_take(&s, ')') && !*s;
}

static bool operand_x86_64(const char *s, struct bpf_operand *o)
{
	if (*s == '$') {
		s++;
		o->kind = OPERAND_CONST;
		return operand_number(&s, &o->value) && !*s;
	}
	if (*s == '%') {
		o->kind = OPERAND_REG;
		return operand_x86_64_register(&s, &o->reg) && !*s;
	}
	return operand_x86_64_memory(s, o);
}

/* ---- arm64 -------------------------------------------------------------------------------- */

/* x0 .. x30, w0 .. w30, sp: struct user_pt_regs, arch/arm64/include/uapi/asm/ptrace.h */
static bool operand_aarch64_register(const char **s, int16_t *ret)
{
	char word[8];
	uint64_t n;

	if (!operand_word(s, word))
		return false;
	if (!strcmp(word, "sp") || !strcmp(word, "wsp")) {
		*ret = 248;
		return true;
	}
	if ((*word != 'x' && *word != 'w') || !text_u64(word + 1, &n) || n > 30)
		return false;
	*ret = (int16_t)(8 * n);
	return true;
}

static bool operand_aarch64(const char *s, struct bpf_operand *o)
{
	if (operand_take(&s, '[')) {
		o->kind = OPERAND_MEM;
		if (!operand_aarch64_register(&s, &o->reg))
			return false;
		if (operand_take(&s, ',')) {
			s += strspn(s, " ");
			(void)operand_take(&s, '#');
			if (*s == 'x' || *s == 'w') {
				o->kind = OPERAND_MEM_INDEX;
				if (*s == 'w' || !operand_aarch64_register(&s, &o->index))
					return false;
			} else if (!operand_number(&s, &o->value)) {
				return false;
			}
		}
		return operand_take(&s, ']') && !*s;
	}
	if (*s == 'x' || *s == 'w' || *s == 's') {
		o->kind = OPERAND_REG;
		return operand_aarch64_register(&s, &o->reg) && !*s;
	}
	(void)operand_take(&s, '#');
	o->kind = OPERAND_CONST;
	return operand_number(&s, &o->value) && !*s;
}

/* ---- all of them --------------------------------------------------------------------------- */

#define OPERAND_TEXT 128u

/* One operand without its blanks before and behind: "-4@%eax"; a size alone is no operand. */
static void operand_parse(enum sym_machine machine, const char *s, struct bpf_operand *ret)
{
	struct bpf_operand o = { .bytes = 8 };
	const char *at = strchr(s, '@');
	int64_t size = 8;

	*ret = o;
	if (at) {
		const char *p = s;

		if (!operand_number(&p, &size) || p != at)
			return; /* a size of floating point, 8f, is none of ours */
		s = at + 1;
	}
	o.is_signed = size < 0;
	size = size < 0 ? -size : size;
	if (size != 1 && size != 2 && size != 4 && size != 8)
		return;
	o.bytes = (uint8_t)size;
	ret->bytes = o.bytes;
	ret->is_signed = o.is_signed;
	if (machine == SYM_X86_64 ? operand_x86_64(s, &o) : operand_aarch64(s, &o))
		*ret = o;
}

uint8_t usdt_operands(enum sym_machine machine, const char *args, struct bpf_operand to[static OPERANDS_MOST])
{
	uint8_t n = 0;

	while (n < OPERANDS_MOST) {
		char one[OPERAND_TEXT];
		size_t len = 0;
		int depth = 0;

		args += strspn(args, " ");
		if (!*args)
			break;
		while (args[len] && (args[len] != ' ' || depth > 0)) {
			depth += args[len] == '(' || args[len] == '[';
			depth -= args[len] == ')' || args[len] == ']';
			len++;
		}
		if (len < sizeof(one)) {
			memcpy(one, args, len);
			one[len] = '\0';
			operand_parse(machine, one, &to[n]);
		} else {
			to[n] = (struct bpf_operand){ .bytes = 8 };
		}
		n++;
		args += len;
	}
	return n;
}
