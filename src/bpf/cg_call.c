/*
 * cg_call.c: programs of system calls.
 *
 * The kernel has one tracepoint for all calls that begin and one for all that end.  A program for each probe would run
 * hundreds of programs at each call, so all probes of a class are one program.  Which of them a firing is for is
 * looked up in a table, a map of one value: its row is found by the call's number, with a second half for the
 * numbers that programs of 32 bits have.  A row:
 *
 *	u32 id         the probe's; 0: it is not enabled, and the program ends
 *	u32 compat     1: in the second half
 *	u32 epid[n]    of each clause; 0: the clause is not for this probe
 *	char func[]    the call's name, padded to SYSCALL_NAME bytes
 *
 * What is constant in other programs (id, epid, probefunc) is read from the row, whose address lies at FP_CALL.
 * A task and its registers are kernel types, which the verifier lets us read without a helper's call for each.
 */
#include <stdlib.h>
#include <string.h>

#include "bpf/cg_int.h"

enum { ROW_ID = 0, ROW_COMPAT = 4, ROW_EPID = 8 };
#define COMPAT_SHIFT 9
static_assert(1u << COMPAT_SHIFT == SYSCALL_NUMBERS, "the second half begins there");

/* offsets in Linux' arch/x86/include/asm/ptrace.h, asm/thread_info.h (TS_COMPAT) */
static const struct bpf_calls x86_64_calls = {
	.abi = SYSCALL_X86_64,
	.compat_abi = SYSCALL_I386,
	.has_compat = true,
	.number = 120,
	.arg = { 112, 104, 96, 56, 72, 64 },
	.compat_arg = { 40, 88, 96, 104, 112, 32 },
	.compat = 16,
	.compat_bit = 1,
};
/* arch/arm64/include/asm/ptrace.h, asm/thread_info.h (TIF_32BIT) */
static const struct bpf_calls aarch64_calls = {
	.abi = SYSCALL_ARM64,
	.number = 280,
	.arg = { 0, 8, 16, 24, 32, 40 },
	.compat = 0,
	.compat_bit = 22,
};

const struct bpf_arch bpf_arch_x86_64 = { "x86_64", 128, &x86_64_calls };    /* struct pt_regs: ip */
const struct bpf_arch bpf_arch_aarch64 = { "aarch64", 256, &aarch64_calls }; /* struct user_pt_regs: pc */
const struct bpf_arch bpf_arch_riscv64 = { "riscv64", 0, NULL };             /* struct user_regs_struct: pc */

static int probe_compare_id(const void *id, const void *probe)
{
	const uint32_t a = *(const uint32_t *)id, b = ((const struct bpf_probe *)probe)->id;

	return a < b ? -1 : a > b;
}

const struct bpf_probe *cg_probe(const struct cg *g, uint32_t id)
{
	return bsearch(&id, g->o->probe, g->o->nprobes, sizeof(*g->o->probe), probe_compare_id);
}

static const struct bpf_probe *call_probe(const struct cg *g, uint32_t id)
{
	const struct bpf_probe *p = cg_probe(g, id);

	return p && p->cls == g->probe->cls ? p : NULL;
}

bool cg_clause_fires(const struct cg *g, const struct d_clause *c)
{
	for (uint32_t i = 0; i < c->nprobes; i++)
		if (cg_is_call(g) ? call_probe(g, c->probes[i]) != NULL : c->probes[i] == g->probe->id)
			return true;
	return false;
}

static uint32_t row_func(uint32_t nclauses)
{
	return (ROW_EPID + 4 * nclauses + 7) & ~7u;
}

/* Fills in the row of that number of one clause's probe; the epid is made with the first. */
static void row_put(struct cg *g, uint8_t *table, uint32_t number, uint32_t k, uint32_t epid, const struct bpf_probe *p)
{
	uint8_t *row = table + (size_t)number * g->calls_row;
	const uint32_t compat = number >= SYSCALL_NUMBERS;

	memcpy(row + ROW_ID, &p->id, sizeof(p->id));
	memcpy(row + ROW_COMPAT, &compat, sizeof(compat));
	memcpy(row + ROW_EPID + 4 * k, &epid, sizeof(epid));
	memcpy(row + g->calls_row - SYSCALL_NAME, p->func, strnlen(p->func, SYSCALL_NAME - 1));
}

static uint32_t epid_new(struct cg *g, uint32_t probe, uint32_t clause)
{
	struct img_epid *ep = VEC_NEW(g->img->epid, g->img->nepids, g->epids_cap);

	if (!ep) {
		cg_oom(g);
		return 0;
	}
	*ep = (struct img_epid){ probe, clause };
	return g->img->nepids - 1;
}

void cg_call_table(struct cg *g, const struct d_clause *const *clause, uint32_t n)
{
	const struct bpf_calls *calls = g->o->arch->calls;
	uint32_t map = cg_map_index(g, IMG_CALLS, g->probe->cls);
	uint8_t *table;

	if (!calls) {
		cg_fail(g, TALLY_ENOTSUP, "how programs of this machine call the kernel is not known");
		return;
	}
	g->calls_row = row_func(n) + SYSCALL_NAME;
	table = g->failed ? NULL : arena_alloc(&g->img->arena, 2ull * SYSCALL_NUMBERS * g->calls_row);
	if (!table) {
		cg_oom(g);
		return;
	}
	g->img->map[map].value_size = 2 * SYSCALL_NUMBERS * g->calls_row;
	g->img->map[map].init = table;
	for (uint32_t k = 0; k < n; k++)
		for (uint32_t i = 0; i < clause[k]->nprobes && !g->failed; i++) {
			const struct bpf_probe *p = call_probe(g, clause[k]->probes[i]);
			const int16_t own = p ? p->call->number[calls->abi] : SYSCALL_NONE,
				      compat = p && calls->has_compat ? p->call->number[calls->compat_abi] :
									SYSCALL_NONE;
			uint32_t epid = p ? epid_new(g, p->id, (uint32_t)(clause[k] - g->p->clause)) : 0;

			if (own != SYSCALL_NONE)
				row_put(g, table, (uint32_t)own, k, epid, p);
			if (compat != SYSCALL_NONE)
				row_put(g, table, SYSCALL_NUMBERS + (uint32_t)compat, k, epid, p);
		}
}

/* The context: registers and number, or registers and result. */
void cg_call_begin(struct cg *g, uint32_t out)
{
	const struct bpf_calls *calls = g->o->arch->calls;

	cg_ins(g, I_CALL(get_current_task_btf));
	cg_mov(g, R8, R0);
	if (g->probe->cls == IMG_ENTRY) {
		cg_ins(g, I_LOAD(DW, R9, R6, 8));
	} else {
		cg_mov(g, R1, R0);
		cg_ins(g, I_CALL(task_pt_regs));
		cg_ins(g, I_LOAD(W, R9, R0, calls->number));
	}
	cg_jcc(g, I_JMP_IMM(JGE, R9, SYSCALL_NUMBERS, 0), out);
	cg_ins(g, I_LOAD(W, R8, R8, calls->compat));
	cg_ins(g, I_ALU_IMM(RSH, R8, calls->compat_bit));
	cg_ins(g, I_ALU_IMM(AND, R8, 1));
	cg_ins(g, I_ALU_IMM(LSH, R8, COMPAT_SHIFT));
	cg_ins(g, I_ALU_REG(ADD, R9, R8));
	cg_ins(g, I_ALU_IMM(MUL, R9, (int32_t)g->calls_row));
	cg_map_value(g, R1, cg_map_index(g, IMG_CALLS, g->probe->cls), 0);
	cg_ins(g, I_ALU_REG(ADD, R1, R9));
	cg_ins(g, I_STORE(DW, R10, FP_CALL, R1));
	cg_ins(g, I_LOAD(W, R1, R1, ROW_ID));
	cg_jcc(g, I_JMP_IMM(JEQ, R1, 0, 0), out);
}

static void row_load(struct cg *g, uint8_t to, uint32_t off)
{
	cg_ins(g, I_LOAD(DW, to, R10, FP_CALL));
	cg_ins(g, I_LOAD(W, to, to, (int16_t)off));
}

void cg_call_clause(struct cg *g, uint32_t end)
{
	row_load(g, R1, ROW_EPID + 4 * g->epid);
	cg_jcc(g, I_JMP_IMM(JEQ, R1, 0, 0), end);
}

void cg_call_id(struct cg *g, uint8_t to)
{
	row_load(g, to, ROW_ID);
}

void cg_call_epid(struct cg *g, uint8_t to)
{
	row_load(g, to, ROW_EPID + 4 * g->epid);
}

void cg_call_func(struct cg *g, struct cg_at at, uint32_t n)
{
	const uint32_t from = g->calls_row - SYSCALL_NAME;

	cg_ins(g, I_LOAD(DW, R1, R10, FP_CALL));
	for (uint32_t k = 0; k < n; k += 8) {
		if (k < SYSCALL_NAME)
			cg_ins(g, I_LOAD(DW, R2, R1, (int16_t)(from + k)));
		else if (k == SYSCALL_NAME)
			cg_imm(g, R2, 0);
		cg_ins(g, I_STORE(DW, at.base, at.off + (int32_t)k, R2));
	}
}

/* R0 = arg n of a call that begins; the result of one that ends is arg0 and arg1. */
void cg_call_arg(struct cg *g, unsigned n)
{
	const struct bpf_calls *calls = g->o->arch->calls;
	uint32_t own = cg_label(g), end = cg_label(g);

	if (g->probe->cls == IMG_RETURN && n < 2) {
		cg_ins(g, I_LOAD(DW, R0, R6, 8));
	} else if (g->probe->cls == IMG_ENTRY && n < COUNT(calls->arg)) {
		cg_ins(g, I_CALL(get_current_task_btf));
		cg_mov(g, R1, R0);
		cg_ins(g, I_CALL(task_pt_regs));
		if (calls->has_compat) {
			row_load(g, R1, ROW_COMPAT);
			cg_jcc(g, I_JMP_IMM(JEQ, R1, 0, 0), own);
			cg_ins(g, I_LOAD(W, R0, R0, calls->compat_arg[n]));
			cg_jmp(g, end);
		}
		cg_put(g, own);
		cg_ins(g, I_LOAD(DW, R0, R0, calls->arg[n]));
		cg_put(g, end);
	} else {
		cg_imm(g, R0, 0);
	}
}

#define ERRNO_MOST 4095 /* Linux' MAX_ERRNO */

/* R0 = why a call that ends failed; 0: it did not. */
void cg_call_errno(struct cg *g)
{
	uint32_t none = cg_label(g), end = cg_label(g);

	if (g->in_error || g->probe->cls != IMG_RETURN) {
		cg_imm(g, R0, 0);
		return;
	}
	cg_ins(g, I_LOAD(DW, R0, R6, 8));
	cg_ins(g, I_NEG(R0));
	cg_jcc(g, I_JMP_IMM(JLE, R0, ERRNO_MOST, 0), end);
	cg_put(g, none);
	cg_imm(g, R0, 0);
	cg_put(g, end);
}
