/*
 * cg_emit.c: the functions with which the generator writes instructions, labels and addresses.
 *
 * After a failure nothing more is written and each of them returns, so the generator looks at `failed` and `too_large`
 * once, at the end. A jump names a label; cg_patch() writes how far it is when all labels have their place. The kernel
 * makes several instructions of some, so a jump that fits here may be too far there: distances are those of the kernel.
 */
#include <stdio.h>
#include <string.h>

#include "bpf/cg_int.h"

int cg_oom(struct cg *g)
{
	g->failed = true;
	return err_oom(g->e);
}

int cg_fail(struct cg *g, enum d_tag tag, const char *fmt, ...)
{
	char words[400];
	va_list ap;

	g->failed = true;
	va_start(ap, fmt);
	vsnprintf(words, sizeof(words), fmt, ap);
	va_end(ap);
	return err_set(g->e, TALLY_ENOTSUP, "%s%s", d_mark(g->o->errtags, tag), words);
}

void cg_ins(struct cg *g, struct bpf_ins i)
{
	struct bpf_ins *at;
	uint32_t *line;

	g->too_large |= g->nins >= D_INSTRUCTIONS_MOST;
	if (g->failed || g->too_large)
		return;
	at = VEC_NEW(g->ins, g->nins, g->ins_cap);
	line = VEC_NEW(g->lines, g->nlines, g->lines_cap);
	if (!at || !line) {
		cg_oom(g);
		return;
	}
	*at = i;
	*line = g->line;
}

void cg_imm(struct cg *g, uint8_t reg, int64_t v)
{
	if (v == (int32_t)v) {
		cg_ins(g, I_MOV_IMM(reg, (int32_t)v));
		return;
	}
	cg_ins(g, I_LD64_LO(reg, v));
	cg_ins(g, I_LD64_HI(v));
}

void cg_mov(struct cg *g, uint8_t to, uint8_t from)
{
	if (to != from)
		cg_ins(g, I_MOV_REG(to, from));
}

void cg_map(struct cg *g, uint8_t reg, uint32_t map)
{
	cg_ins(g, I_LD_MAP(reg, map));
	cg_ins(g, I_LD64_HI(0));
}

void cg_map_value(struct cg *g, uint8_t reg, uint32_t map, uint32_t off)
{
	cg_ins(g, I_LD_MAP_VALUE(reg, map));
	cg_ins(g, I_RAW(0, 0, 0, 0, off));
}

/* ---- labels ---------------------------------------------------------------- */

uint32_t cg_label(struct cg *g)
{
	int32_t *l = VEC_NEW(g->label, g->nlabels, g->label_cap);

	if (!l) {
		cg_oom(g);
		return 0;
	}
	*l = -1;
	return g->nlabels - 1;
}

void cg_put(struct cg *g, uint32_t label)
{
	if (!g->failed)
		g->label[label] = (int32_t)g->nins;
}

void cg_jcc(struct cg *g, struct bpf_ins jump, uint32_t label)
{
	struct cg_fix *f = g->failed ? NULL : VEC_NEW(g->fix, g->nfixes, g->fix_cap);

	if (!f) {
		cg_oom(g);
		return;
	}
	*f = (struct cg_fix){ g->nins, label };
	cg_ins(g, jump);
}

void cg_jmp(struct cg *g, uint32_t label)
{
	cg_jcc(g, I_JUMP(0), label);
}

void cg_call(struct cg *g, uint32_t label)
{
	cg_jcc(g, I_CALL_LOCAL(0), label);
}

void cg_func(struct cg *g, uint8_t reg, uint32_t label)
{
	cg_jcc(g, I_LD_FUNC(reg, 0), label);
	cg_ins(g, I_LD64_HI(0));
}

/* Calls and addresses of functions keep how far it is in 32 bits, jumps in 16. */
static bool ins_names_function(const struct bpf_ins *i)
{
	return i->code == INS_LD_IMM64 || i->code == (INS_JMP | OP_CALL);
}

/* So many instructions the kernel makes of one, at most, when it has verified it (6.1 to 6.18): it tests divisors
 * (verifier.c, chk_and_div and chk_and_mod), puts in the bodies of some helpers (inline_bpf_loop, the map_gen_lookup of
 * arrays), and translates what reads the context. */
static uint32_t ins_in_kernel(const struct bpf_ins *i)
{
	if (INS_CLASS(i->code) == INS_ALU64 && INS_OP(i->code) == OP_DIV)
		return 4;
	if (INS_CLASS(i->code) == INS_ALU64 && INS_OP(i->code) == OP_MOD)
		return 2;
	if (i->code == (INS_JMP | OP_CALL) && i->src == INS_CALL_HELPER)
		return i->imm == HELPER_loop ? 19 : i->imm == HELPER_map_lookup_elem ? 10 : 3;
	return INS_CLASS(i->code) == INS_LDX && i->src == R6 ? 2 : 1;
}

static bool ins_branches(const struct bpf_ins *i)
{
	uint8_t op = INS_OP(i->code);

	return (INS_CLASS(i->code) == INS_JMP || INS_CLASS(i->code) == INS_JMP32) && op != OP_JA && op != OP_CALL &&
	       op != OP_EXIT;
}

/* Where each instruction will lie in the kernel, and where the end; also counts the branches. */
static uint32_t *kernel_places(struct cg *g)
{
	uint32_t *at = mem_alloc((g->nins + 1) * sizeof(*at)), branches = 0;

	for (uint32_t i = 0; at && i < g->nins; i++) {
		at[i + 1] = at[i] + ins_in_kernel(&g->ins[i]);
		branches += ins_branches(&g->ins[i]);
	}
	g->too_large |= branches > D_BRANCHES_MOST;
	return at;
}

/* A jump keeps how far it is in 16 bits. */
static bool jump_spans(int64_t n)
{
	return n == (int16_t)n;
}

void cg_patch(struct cg *g)
{
	uint32_t *at = kernel_places(g);

	if (!at)
		cg_oom(g);
	for (uint32_t i = 0; i < g->nfixes && !g->failed && !g->too_large; i++) {
		uint32_t from = g->fix[i].ins;
		int32_t to = g->label[g->fix[i].label], off = to - (int32_t)from - 1;

		assert(to >= 0);
		if (ins_names_function(&g->ins[from]))
			g->ins[from].imm = off;
		else if (!jump_spans((int64_t)at[to] - at[from + 1]))
			g->too_large = true;
		else
			g->ins[from].off = (int16_t)off;
	}
	mem_free(at);
}

/* ---- registers --------------------------------------------------------------- */

bool cg_small(struct cg *g, ir_reg v, int64_t *imm)
{
	const struct cg_reg *r = &g->reg[v];

	*imm = r->imm;
	return r->in == IN_CONST && r->imm == (int32_t)r->imm;
}

uint8_t cg_use(struct cg *g, ir_reg v, uint8_t tmp)
{
	const struct cg_reg *r = &g->reg[v];

	if (r->in == IN_REG)
		return r->phys;
	if (r->in == IN_CONST)
		cg_imm(g, tmp, r->imm);
	else
		cg_ins(g, I_LOAD(DW, tmp, R10, r->slot));
	return tmp;
}

uint8_t cg_def(struct cg *g, ir_reg v, uint8_t tmp)
{
	return g->reg[v].in == IN_REG ? g->reg[v].phys : tmp;
}

void cg_done(struct cg *g, ir_reg v, uint8_t reg)
{
	const struct cg_reg *r = &g->reg[v];

	if (r->in == IN_REG)
		cg_mov(g, r->phys, reg);
	else if (r->in == IN_SPILL)
		cg_ins(g, I_STORE(DW, R10, r->slot, reg));
}

/* ---- objects -------------------------------------------------------------------- */

struct cg_at cg_obj(struct cg *g, ir_obj o, uint32_t off, uint8_t tmp)
{
	const struct cg_place *pl = &g->place[o];

	if (pl->base)
		return (struct cg_at){ pl->base, pl->off + (int32_t)off };
	cg_map_value(g, tmp, cg_map_index(g, IMG_GLOBALS, 0), (uint32_t)pl->off + off);
	return (struct cg_at){ tmp, 0 };
}

void cg_lea(struct cg *g, uint8_t reg, uint8_t base, int32_t off)
{
	cg_mov(g, reg, base);
	if (off)
		cg_ins(g, I_ALU_IMM(ADD, reg, off));
}

void cg_addr(struct cg *g, uint8_t reg, ir_obj o, uint32_t off)
{
	struct cg_at at = cg_obj(g, o, off, reg);

	cg_lea(g, reg, at.base, at.off);
}

void cg_zero(struct cg *g, struct cg_at at, uint32_t n)
{
	for (uint32_t i = 0; i < n; i += 8)
		cg_ins(g, I_STORE_IMM(DW, at.base, at.off + (int32_t)i, 0));
}

/* Up to this many bytes word by word; beyond, a helper's call is cheaper. */
#define COPY_WORDS_MOST 64u

void cg_copy(struct cg *g, ir_obj dst, uint32_t dst_off, ir_obj src, uint32_t src_off, uint32_t n)
{
	struct cg_at to, from;

	if (n > COPY_WORDS_MOST) {
		cg_addr(g, R1, dst, dst_off);
		cg_imm(g, R2, n);
		cg_addr(g, R3, src, src_off);
		cg_ins(g, I_CALL(probe_read_kernel));
		return;
	}
	to = cg_obj(g, dst, dst_off, R4);
	from = cg_obj(g, src, src_off, R5);
	for (uint32_t i = 0; i < n; i += 8) {
		cg_ins(g, I_LOAD(DW, R3, from.base, from.off + (int32_t)i));
		cg_ins(g, I_STORE(DW, to.base, to.off + (int32_t)i, R3));
	}
}

void cg_bytes(struct cg *g, struct cg_at at, const void *p, size_t n, uint32_t room)
{
	for (uint32_t i = 0; i < room; i += 8) {
		int64_t w = 0;

		if (i < n)
			memcpy(&w, (const char *)p + i, n - i < 8 ? n - i : 8);
		if (w == (int32_t)w) {
			cg_ins(g, I_STORE_IMM(DW, at.base, at.off + (int32_t)i, (int32_t)w));
		} else {
			cg_imm(g, R3, w);
			cg_ins(g, I_STORE(DW, at.base, at.off + (int32_t)i, R3));
		}
	}
}

/*
 * A register that holds one constant on one way and another on the other is the
 * verifier's worst: it never takes the two ways for the same again, so each such
 * choice doubles what it walks.  Adding a zero from memory makes them alike.
 */
void cg_forget(struct cg *g, uint8_t reg)
{
	cg_map_value(g, R5, cg_map_index(g, IMG_CTL, 0), offsetof(struct img_ctl, zero));
	cg_ins(g, I_LOAD(DW, R5, R5, 0));
	cg_ins(g, I_ALU_REG(ADD, reg, R5));
}

/* R0 = this program's drop counters, else to `none`. Where every firing is counted, they are already found; elsewhere
 * only a drop pays for it. */
void cg_drops(struct cg *g, uint32_t none)
{
	if (g->probe->cls == IMG_PERF) {
		cg_ins(g, I_LOAD(DW, R0, R10, FP_DROPS));
		return;
	}
	cg_ins(g, I_STORE_IMM(W, R10, FP_DROPS, (int32_t)g->prog));
	cg_map(g, R1, cg_map_index(g, IMG_DROPS, 0));
	cg_lea(g, R2, R10, FP_DROPS);
	cg_ins(g, I_CALL(map_lookup_elem));
	cg_jcc(g, I_JMP_IMM(JEQ, R0, 0, 0), none);
}

void cg_count(struct cg *g, uint32_t drops_off)
{
	uint32_t none = cg_label(g);

	cg_drops(g, none);
	cg_ins(g, I_LOAD(DW, R1, R0, drops_off));
	cg_ins(g, I_ALU_IMM(ADD, R1, 1));
	cg_ins(g, I_STORE(DW, R0, drops_off, R1));
	cg_put(g, none);
}
