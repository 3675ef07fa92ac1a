/*
 * insn.c: where instructions begin.
 *
 * A probe on a byte in the middle of an instruction would change what the program does, so an offset is armed only when
 * it is known to be the beginning of one: from the beginning of its function on, each instruction is passed over by its
 * length.  On arm64 that is 4.  On x86-64 it follows from prefixes, opcode, ModRM and immediates (Intel SDM volume 2,
 * chapter 2 and appendix A).  Nothing is guessed: a byte that begins no known instruction ends the walk, and what lies
 * behind it has no offsets.  Tables of jumps that a compiler puts between instructions are the reason: no symbol tells
 * them from code.
 */
#include "provider/provider_int.h"

enum {
	P_NONE = 0,
	P_MODRM = 1,
	P_IMM8 = 2,
	P_IMM16 = 4,
	P_IMM32 = 8 /* 2 bytes with prefix 66 */,
	P_REL32 = 16,
	P_BAD = 32
};

/* One byte of opcode. What stands for prefixes and escapes is never asked for. */
static uint8_t insn_one_byte(uint8_t op)
{
	if (op < 0x40) {
		static const uint8_t row[8] = { P_MODRM, P_MODRM, P_MODRM, P_MODRM, P_IMM8, P_IMM32, P_BAD, P_BAD };

		return row[op & 7];
	}
	switch (op) {
	case 0x60 ... 0x62:
	case 0x82:
	case 0x9a:
	case 0xc4 ... 0xc5:
	case 0xce:
	case 0xd4 ... 0xd6:
	case 0xea:
		return P_BAD;
	case 0x68:
	case 0xa9:
		return P_IMM32;
	case 0x69:
	case 0x81:
	case 0xc7:
		return P_MODRM | P_IMM32;
	case 0x6a:
	case 0x70 ... 0x7f:
	case 0xa8:
	case 0xb0 ... 0xb7:
	case 0xcd:
	case 0xe0 ... 0xe7:
	case 0xeb:
		return P_IMM8;
	case 0x6b:
	case 0x80:
	case 0x83:
	case 0xc0 ... 0xc1:
	case 0xc6:
		return P_MODRM | P_IMM8;
	case 0x63:
	case 0x84 ... 0x8f:
	case 0xd0 ... 0xd3:
	case 0xd8 ... 0xdf:
	case 0xf6 ... 0xf7:
	case 0xfe ... 0xff:
		return P_MODRM;
	case 0xc2:
	case 0xca:
		return P_IMM16;
	case 0xc8:
		return P_IMM16 | P_IMM8;
	case 0xe8 ... 0xe9:
		return P_REL32;
	default:
		return P_NONE;
	}
}

/* 0F and a byte. */
static uint8_t insn_two_byte(uint8_t op)
{
	switch (op) {
	case 0x04:
	case 0x0a:
	case 0x0c:
	case 0x24 ... 0x27:
	case 0x36:
	case 0x39:
	case 0x3b ... 0x3f:
	case 0x78: /* two instructions, with constants and without */
	case 0x7a ... 0x7b:
	case 0xa6 ... 0xa7:
		return P_BAD;
	case 0x20 ... 0x23: /* a byte of ModRM that always means registers */
		return P_IMM8;
	case 0x05 ... 0x09:
	case 0x0b:
	case 0x0e:
	case 0x30 ... 0x35:
	case 0x37:
	case 0x77:
	case 0xa0 ... 0xa2:
	case 0xa8 ... 0xaa:
	case 0xc8 ... 0xcf:
		return P_NONE;
	case 0x0f:
	case 0x70 ... 0x73:
	case 0xa4:
	case 0xac:
	case 0xba:
	case 0xc2:
	case 0xc4 ... 0xc6:
		return P_MODRM | P_IMM8;
	case 0x80 ... 0x8f:
		return P_REL32;
	default:
		return P_MODRM;
	}
}

/* Of the maps of VEX and EVEX. */
static uint8_t insn_vector(uint8_t map, uint8_t op)
{
	switch (map) {
	case 1:
		return op == 0x77 ? P_NONE : insn_two_byte(op) & P_IMM8 ? P_MODRM | P_IMM8 : P_MODRM;
	case 2:
	case 5:
	case 6:
		return P_MODRM;
	case 3:
		return P_MODRM | P_IMM8;
	default:
		return P_BAD;
	}
}

/* ModRM, SIB and displacement at p; 0: they do not fit into n bytes. */
static uint32_t insn_modrm(const uint8_t *p, size_t n)
{
	const uint8_t mod = n ? p[0] >> 6 : 0, rm = n ? p[0] & 7 : 0;
	uint32_t len = 1;

	if (n < 1)
		return 0;
	if (mod == 3)
		return 1;
	if (rm == 4) {
		if (n < 2)
			return 0;
		len = 2;
		if (mod == 0 && (p[1] & 7) == 5)
			len += 4;
	} else if (rm == 5 && mod == 0) {
		len += 4;
	}
	return len + (mod == 1 ? 1 : mod == 2 ? 4 : 0);
}

static uint32_t insn_x86_64(const uint8_t *p, size_t n)
{
	bool narrow = false, address = false, wide = false;
	uint8_t how, op;
	uint32_t at = 0, modrm;

	if (n > 15)
		n = 15;
	for (; at < n; at++) {
		const uint8_t c = p[at];

		if (c == 0x66)
			narrow = true;
		else if (c == 0x67)
			address = true;
		else if (c != 0xf0 && c != 0xf2 && c != 0xf3 && c != 0x2e && c != 0x36 && c != 0x3e && c != 0x26 &&
			 c != 0x64 && c != 0x65)
			break;
	}
	if (at < n && (p[at] & 0xf0) == 0x40)
		wide = p[at++] & 8;
	if (at + 4 >= n && at >= n)
		return 0;
	op = p[at++];
	if (op == 0x0f) {
		if (at >= n)
			return 0;
		op = p[at++];
		if (op == 0x38 || op == 0x3a) {
			how = op == 0x38 ? P_MODRM : P_MODRM | P_IMM8;
			at++;
		} else {
			how = insn_two_byte(op);
		}
	} else if (op == 0xc5 && at + 1 < n) {
		how = insn_vector(1, p[at + 1]);
		at += 2;
	} else if (op == 0xc4 && at + 2 < n) {
		how = insn_vector(p[at] & 0x1f, p[at + 2]);
		at += 3;
	} else if (op == 0x62 && at + 3 < n) {
		how = insn_vector(p[at] & 7, p[at + 3]);
		at += 4;
	} else {
		how = insn_one_byte(op);
		if (op == 0x8f && at < n && p[at] & 0x38)
			return 0; /* XOP */
		if ((op & 0xf8) == 0xb8)
			at += wide ? 8 : narrow ? 2 : 4;
		if ((op & 0xfc) == 0xa0)
			at += address ? 4 : 8;
		if ((op == 0xf6 || op == 0xf7) && at < n && !(p[at] & 0x30))
			how |= op == 0xf6 ? P_IMM8 : P_IMM32;
	}
	if (how & P_BAD ||
	    (how & P_REL32 && narrow && !wide)) /* one maker's processors take 2 bytes then, the other's 4 */
		return 0;
	if (how & P_MODRM) {
		modrm = at < n ? insn_modrm(p + at, n - at) : 0;
		if (!modrm)
			return 0;
		at += modrm;
	}
	at += (how & P_IMM8 ? 1 : 0) + (how & P_IMM16 ? 2 : 0) + (how & P_REL32 ? 4 : 0);
	if (how & P_IMM32)
		at += narrow && !wide ? 2 : 4;
	return at <= n ? at : 0;
}

uint32_t user_insn_length(enum sym_machine machine, const uint8_t *p, size_t n)
{
	if (machine == SYM_X86_64)
		return insn_x86_64(p, n);
	return n >= 4 ? 4 : 0;
}

/* Opcodes of one byte on which Linux places no probe, a bit for each: good_insns_64 of arch/x86/kernel/uprobes.c. The
 * opcode of VEX and EVEX is looked up there as well. */
static const uint16_t insn_refused[16] = { 0x40c0, 0xc0c0, 0xc0c0, 0xc0c0, 0xffff, 0,      0xf0c7, 0,
					   0x0004, 0x0400, 0,      0,      0xf030, 0x0070, 0xf4f0, 0x0c13 };

bool user_insn_is_refused(enum sym_machine machine, const uint8_t *p, size_t n)
{
	size_t at = 0;

	if (machine != SYM_X86_64)
		return false;
	while (at < n && ((p[at] >= 0x64 && p[at] <= 0x67) || p[at] == 0xf2 || p[at] == 0xf3))
		at++;
	if (at < n && ((p[at] & 0xe7) == 0x26 || p[at] == 0xf0)) /* prefixes of segments, and lock */
		return true;
	if (at < n && (p[at] & 0xf0) == 0x40) /* REX */
		at++;
	at += at < n && p[at] == 0xc5 ? 2 : at < n && p[at] == 0xc4 ? 3 : at < n && p[at] == 0x62 ? 4 : 0;
	return at < n && insn_refused[p[at] >> 4] & 1u << (p[at] & 15);
}
