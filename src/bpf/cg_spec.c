/*
 * cg_spec.c: speculations, as programs see them (struct img_spec).
 *
 * A callback of bpf_loop() searches for a free one, so the verifier walks the search once, however many there are.
 * All changes of a speculation are atomic and ordered: records are counted before the state is read, and the state is
 * changed before its reader reads the count.
 */
#include <stddef.h>

#include "bpf/cg_int.h"

/* In FP_TMP, while a free one is looked for: its number, and whether one was met that will soon be free. */
enum { LOOK_FOUND = 0, LOOK_BUSY = 8 };

#define SPEC_SHIFT 4
static_assert(sizeof(struct img_spec) == 1u << SPEC_SHIFT, "an element is found by a shift");

/* index = address of that speculation, counted from 0; the verifier must have seen its bound */
static void spec_address(struct cg *g, uint8_t index)
{
	cg_ins(g, I_ALU_IMM(LSH, index, SPEC_SHIFT));
	cg_map_value(g, R3, cg_map_index(g, IMG_SPECS, 0), 0);
	cg_ins(g, I_ALU_REG(ADD, index, R3));
}

void cg_speculation(struct cg *g, const struct ir_ins *i)
{
	uint32_t found = cg_label(g), busy = cg_label(g);

	if (g->spec_loop == NO_LABEL)
		g->spec_loop = cg_label(g);
	cg_ins(g, I_STORE_IMM(DW, R10, FP_TMP + LOOK_FOUND, 0));
	cg_ins(g, I_STORE_IMM(DW, R10, FP_TMP + LOOK_BUSY, 0));
	cg_imm(g, R1, g->o->nspec);
	cg_func(g, R2, g->spec_loop);
	cg_lea(g, R3, R10, FP_TMP);
	cg_imm(g, R4, 0);
	cg_ins(g, I_CALL(loop));
	cg_ins(g, I_LOAD(DW, R1, R10, FP_TMP + LOOK_FOUND));
	cg_jcc(g, I_JMP_IMM(JNE, R1, 0, 0), found);
	cg_ins(g, I_LOAD(DW, R1, R10, FP_TMP + LOOK_BUSY));
	cg_jcc(g, I_JMP_IMM(JNE, R1, 0, 0), busy);
	cg_count(g, offsetof(struct img_drops, spec_unavailable));
	cg_jmp(g, found);
	cg_put(g, busy);
	cg_count(g, offsetof(struct img_drops, spec_busy));
	cg_put(g, found);
	cg_ins(g, I_LOAD(DW, R0, R10, FP_TMP + LOOK_FOUND));
	cg_done(g, i->d, R0);
}

/* The callback: R1 is the index, R2 leads to FP_TMP of the caller. */
void cg_spec_function(struct cg *g)
{
	uint32_t next = cg_label(g), end = cg_label(g);

	if (g->spec_loop == NO_LABEL)
		return;
	g->func[g->nfuncs++] = (struct img_func){ .ins = g->nins };
	assert(g->nfuncs <= IMG_FUNCS_MOST);
	cg_put(g, g->spec_loop);
	cg_mov(g, R5, R1);
	cg_ins(g, I_ALU_IMM(ADD, R5, 1));
	cg_imm(g, R0, 1);
	cg_jcc(g, I_JMP_IMM(JGE, R1, (int32_t)g->o->nspec, 0), end);
	spec_address(g, R1);
	cg_imm(g, R0, SPEC_FREE);
	cg_imm(g, R4, SPEC_ACTIVE);
	cg_ins(g, I_CMPXCHG(DW, R1, offsetof(struct img_spec, state), R4));
	cg_jcc(g, I_JMP_IMM(JNE, R0, SPEC_FREE, 0), next);
	cg_ins(g, I_STORE(DW, R2, LOOK_FOUND, R5));
	cg_imm(g, R0, 1);
	cg_jmp(g, end);
	cg_put(g, next);
	cg_mov(g, R4, R0);
	cg_imm(g, R0, 0);
	cg_jcc(g, I_JMP_IMM(JEQ, R4, SPEC_ACTIVE, 0), end);
	cg_ins(g, I_STORE(DW, R2, LOOK_BUSY, R5));
	cg_put(g, end);
	cg_ins(g, I_EXIT());
}

/* R1 = address of speculation a, or R0 = 0 and on to `none`: 0 is no speculation, and means that. */
static void spec_find(struct cg *g, const struct ir_ins *i, uint32_t none)
{
	uint32_t is = cg_label(g);

	cg_imm(g, R0, 0);
	cg_mov(g, R1, cg_use(g, i->a, R1));
	cg_jcc(g, I_JMP_IMM(JEQ, R1, 0, 0), none);
	cg_ins(g, I_ALU_IMM(SUB, R1, 1));
	cg_jcc(g, I_JMP_IMM(JLT, R1, (int32_t)g->o->nspec, 0), is);
	cg_fault(g, FAULT_ILLOP, R1);
	cg_put(g, is);
	spec_address(g, R1);
}

void cg_speculate(struct cg *g, const struct ir_ins *i)
{
	uint32_t end = cg_label(g);

	spec_find(g, i, end);
	cg_imm(g, R2, 1);
	cg_ins(g, I_ATOMIC_FETCH(DW, ADD, R1, offsetof(struct img_spec, records), R2));
	cg_ins(g, I_LOAD(DW, R2, R1, offsetof(struct img_spec, state)));
	cg_imm(g, R0, 1);
	cg_jcc(g, I_JMP_IMM(JEQ, R2, SPEC_ACTIVE, 0), end);
	cg_imm(g, R2, -1);
	cg_ins(g, I_ATOMIC_FETCH(DW, ADD, R1, offsetof(struct img_spec, records), R2));
	cg_imm(g, R0, 0);
	cg_put(g, end);
	cg_done(g, i->d, R0);
}

void cg_settle(struct cg *g, const struct ir_ins *i)
{
	uint32_t end = cg_label(g), none = cg_label(g);

	spec_find(g, i, end);
	cg_imm(g, R0, SPEC_ACTIVE);
	cg_imm(g, R2, i->x == D_COMMIT ? SPEC_COMMITTED : SPEC_DISCARDED);
	cg_ins(g, I_CMPXCHG(DW, R1, offsetof(struct img_spec, state), R2));
	cg_jcc(g, I_JMP_IMM(JNE, R0, SPEC_ACTIVE, 0), none);
	cg_mov(g, R0, cg_use(g, i->a, R0));
	cg_jmp(g, end);
	cg_put(g, none);
	cg_imm(g, R0, 0);
	cg_put(g, end);
	cg_done(g, i->d, R0);
}

void cg_spec_give_back(struct cg *g, struct cg_at record)
{
	uint32_t end = cg_label(g);

	cg_ins(g, I_LOAD(DW, R1, record.base, record.off + D_RECORD_HDR));
	cg_ins(g, I_ALU_IMM(SUB, R1, 1));
	cg_jcc(g, I_JMP_IMM(JGE, R1, (int32_t)g->o->nspec, 0), end);
	spec_address(g, R1);
	cg_imm(g, R2, -1);
	cg_ins(g, I_ATOMIC_FETCH(DW, ADD, R1, offsetof(struct img_spec, records), R2));
	cg_put(g, end);
}
