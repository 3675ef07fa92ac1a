/*
 * handmade_int.h: images put together by hand, for tests.
 *
 * Instruction i of a program is "from" line 100 + i of the D source.
 */
#ifndef TALLY_KERNEL_HANDMADE_INT_H
#define TALLY_KERNEL_HANDMADE_INT_H

#include <string.h>

#include "bpf/insn.h"
#include "kernel/kernel_int.h"

struct handmade {
	struct bpf_image img;
	struct img_map map[8];
	struct img_prog prog[4];
	struct bpf_ins ins[4][64];
	uint32_t line[64];
};

static inline void hm_init(struct handmade *h)
{
	memset(h, 0, sizeof(*h));
	h->img.map = h->map;
	h->img.prog = h->prog;
	for (uint32_t i = 0; i < COUNT(h->line); i++)
		h->line[i] = 100 + i;
}

static inline uint32_t hm_map(struct handmade *h, uint8_t type, uint8_t use, uint32_t key, uint32_t value, uint32_t n)
{
	assert(h->img.nmaps < COUNT(h->map));
	h->map[h->img.nmaps] = (struct img_map){
		.type = type, .use = use, .name = "handmade", .key_size = key, .value_size = value, .max_entries = n
	};
	return h->img.nmaps++;
}

static inline uint32_t hm_prog(struct handmade *h, uint8_t cls, const struct bpf_ins *ins, uint32_t n)
{
	assert(h->img.nprogs < COUNT(h->prog) && n <= COUNT(h->line));
	memcpy(h->ins[h->img.nprogs], ins, n * sizeof(*ins));
	h->prog[h->img.nprogs] = (struct img_prog){
		.cls = cls, .name = "hand made", .ins = h->ins[h->img.nprogs], .line = h->line, .nins = n
	};
	return h->img.nprogs++;
}

#define HM_PROG(h, cls, ...) \
	hm_prog(h, cls, (const struct bpf_ins[]){ __VA_ARGS__ }, COUNT(((const struct bpf_ins[]){ __VA_ARGS__ })))

/* r0 = address of the value of `map` at the u32 key in *(u32 *)(r10 - 4); leaves the program when there is none. */
#define HM_LOOKUP(map)                                                                                        \
	I_LD_MAP(R1, map), I_LD64_HI(0), I_MOV_REG(R2, R10), I_ALU_IMM(ADD, R2, -4), I_CALL(map_lookup_elem), \
		I_JMP_IMM(JNE, R0, 0, 2), I_MOV_IMM(R0, 0), I_EXIT()
#define HM_RETURN I_MOV_IMM(R0, 0), I_EXIT()

/* Skips the test, aloud, where this process may not run programs on events. */
#define HM_NEED_RIGHTS()                                             \
	do {                                                         \
		struct err why_ = { 0 };                             \
		if (k_may_run(true, &why_) < 0) {                    \
			print_message("# skipped: %s\n", why_.text); \
			skip();                                      \
		}                                                    \
	} while (0)

#endif
