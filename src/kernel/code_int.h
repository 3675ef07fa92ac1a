/*
 * code_int.h: small programs of our own, written instruction by instruction.
 *
 * What watches mappings and threads for a run is not made from D, so it is no image: it is put together here with the
 * descriptors and offsets of this kernel, and loaded as it is.
 */
#ifndef TALLY_KERNEL_CODE_INT_H
#define TALLY_KERNEL_CODE_INT_H

#include "bpf/insn.h"

struct code {
	struct bpf_ins ins[1024];
	uint32_t n;
};

static inline void code_put(struct code *c, struct bpf_ins i)
{
	if (c->n < COUNT(c->ins))
		c->ins[c->n++] = i;
}

#define PUT(...)                                                          \
	do {                                                              \
		const struct bpf_ins put_these[] = { __VA_ARGS__ };       \
		for (size_t put_i = 0; put_i < COUNT(put_these); put_i++) \
			code_put(c, put_these[put_i]);                    \
	} while (0)

/* Leaves the program if the condition holds; filled in by code_end(). */
#define LEAVE_IF(op, reg, imm) PUT(I_JMP_IMM(op, reg, imm, -1))
#define MAP(reg, fd) I_LD_MAP(reg, fd), I_LD64_HI(0)
#define AT(reg, at) I_MOV_REG(reg, R10), I_ALU_IMM(ADD, reg, at)

static inline void code_end(struct code *c)
{
	for (uint32_t i = 0; i < c->n; i++)
		if (c->ins[i].off == -1 && INS_CLASS(c->ins[i].code) == INS_JMP)
			c->ins[i].off = (int16_t)(c->n - i - 1);
	PUT(I_MOV_IMM(R0, 0), I_EXIT());
}

/* A jump whose place code_land() tells later. */
static inline uint32_t code_jump(struct code *c, struct bpf_ins jump)
{
	code_put(c, jump);
	return c->n - 1;
}

/* The jump at `from` goes to the next instruction. */
static inline void code_land(struct code *c, uint32_t from)
{
	c->ins[from].off = (int16_t)(c->n - from - 1);
}

#endif
