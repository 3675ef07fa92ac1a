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
 *	char text[]    what its clauses ask for of its description: of a call its name, padded to SYSCALL_NAME bytes
 *
 * What is constant in other programs (id, epid, probefunc) is read from the row, whose address lies at FP_CALL.
 * Programs of places in processes have such tables, too (cg_user.c).
 * A task and its registers are kernel types, which the verifier lets us read without a helper's call for each.
 */
#include <stdlib.h>
#include <string.h>

#include "bpf/cg_int.h"

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

const struct bpf_arch bpf_arch_x86_64 = { "x86_64", 128, 176, &x86_64_calls, &cg_regs_x86_64 }; /* struct pt_regs: ip */
const struct bpf_arch bpf_arch_aarch64 = { "aarch64", 256, 280, &aarch64_calls,
					   &cg_regs_aarch64 };              /* struct user_pt_regs: pc */
const struct bpf_arch bpf_arch_riscv64 = { "riscv64", 0, 264, NULL, NULL }; /* struct user_regs_struct: pc */

static int probe_compare_id(const void *id, const void *probe)
{
	const uint32_t a = *(const uint32_t *)id, b = ((const struct bpf_probe *)probe)->id;

	return a < b ? -1 : a > b;
}

const struct bpf_probe *cg_probe(const struct cg *g, uint32_t id)
{
	return bsearch(&id, g->o->probe, g->o->nprobes, sizeof(*g->o->probe), probe_compare_id);
}

static const struct bpf_probe *class_probe(const struct cg *g, uint32_t id)
{
	const struct bpf_probe *p = cg_probe(g, id);

	return p && p->cls == g->probe->cls ? p : NULL;
}

bool cg_clause_fires(const struct cg *g, const struct d_clause *c)
{
	for (uint32_t i = 0; i < c->nprobes; i++)
		if (cg_has_rows(g) ? class_probe(g, c->probes[i]) != NULL : c->probes[i] == g->probe->id)
			return true;
	return false;
}

static const char *probe_text(const struct bpf_probe *p, uint32_t which)
{
	return which == BS_PROBEPROV ? p->prov :
	       which == BS_PROBEMOD  ? p->mod :
	       which == BS_PROBEFUNC ? p->func :
				       p->name;
}

/* Whether a clause asks for that text of its probe, and how much of it. */
static uint32_t row_text_bytes(const struct d_clause *const *clause, uint32_t n, uint32_t which)
{
	uint32_t most = 0;

	for (uint32_t k = 0; k < n; k++)
		for (uint32_t i = 0; i < clause[k]->nins; i++)
			if (clause[k]->ins[i].op == IR_OBUILTIN && clause[k]->ins[i].x == which &&
			    clause[k]->ins[i].s > most)
				most = clause[k]->ins[i].s;
	return (most + 7) & ~7u;
}

/* What a row of the program's table has, and where. */
static void row_plan(struct cg *g, const struct d_clause *const *clause, uint32_t n)
{
	uint32_t at = (CG_ROW_EPID + 4 * n + 7) & ~7u;
	bool is_later = false;

	g->row = (struct img_rows){ .cls = g->probe->cls,
				    .map = cg_map_index(g, IMG_CALLS, g->probe->cls),
				    .n = 2 * SYSCALL_NUMBERS,
				    .most = 2 * SYSCALL_NUMBERS };
	for (uint32_t which = BS_PROBEPROV; which <= BS_PROBENAME; which++) {
		if (cg_is_call(g) && which != BS_PROBEFUNC)
			continue;
		g->row.text[which].off = at;
		g->row.text[which].bytes = cg_is_call(g) ? SYSCALL_NAME : row_text_bytes(clause, n, which);
		at += g->row.text[which].bytes;
	}
	if (cg_is_user(g)) {
		if (g->row.text[BS_PROBEPROV].bytes) {
			g->row.digits = at;
			at += 8;
		}
		g->row.n = 0;
		for (uint32_t i = 0; i < g->o->nprobes; i++) {
			const struct bpf_probe *p = &g->o->probe[i];

			if (p->cls != g->probe->cls)
				continue;
			is_later |= p->is_later;
			for (const struct bpf_place *at = p->place; at; at = at->next) {
				g->row.n++;
				g->row.noperands = at->noperands > g->row.noperands ? at->noperands : g->row.noperands;
			}
		}
		if (is_later && g->probe->cls == IMG_USER_PLACE)
			g->row.noperands = OPERANDS_MOST;
		g->row.most = g->row.n + (is_later ? ROWS_LATER : 0);
		g->row.operands = at;
		at += g->row.noperands * CG_OPERAND_BYTES;
	}
	g->row.bytes = at;
}

/* The text of a probe, of whichever process without the star. Where its id goes, if it is one: else 0. */
static uint64_t row_describe_text(uint8_t *to, uint32_t bytes, const char *s, bool is_any)
{
	size_t n = strlen(s);

	if (is_any && n && s[n - 1] == '*')
		n--;
	if (is_any && bytes >= PROBEPROV_DIGITS && n > bytes - PROBEPROV_DIGITS)
		n = bytes - PROBEPROV_DIGITS;
	memcpy(to, s, n < bytes - 1 ? n : bytes - 1);
	return is_any ? n : 0;
}

/* What a row has whatever its clauses are. who: of a place the process, of a system call whether it is of the second
 * half. */
static void row_describe(const struct img_rows *r, uint8_t *row, const struct bpf_probe *p, uint32_t who)
{
	memcpy(row + CG_ROW_ID, &p->id, sizeof(p->id));
	memcpy(row + CG_ROW_COMPAT, &who, sizeof(who));
	for (uint32_t which = BS_PROBEPROV; which <= BS_PROBENAME; which++)
		if (r->text[which].bytes) {
			const uint64_t digits =
				row_describe_text(row + r->text[which].off, r->text[which].bytes, probe_text(p, which),
						  which == BS_PROBEPROV && r->digits && !p->pid);

			if (digits)
				memcpy(row + r->digits, &digits, sizeof(digits));
		}
}

/* Fills in that row of one clause's probe; the epid is made with the first. */
static uint8_t *row_put(struct cg *g, uint8_t *table, uint32_t number, uint32_t k, uint32_t epid,
			const struct bpf_probe *p)
{
	uint8_t *row = table + (size_t)number * g->row.bytes;

	row_describe(&g->row, row, p, cg_is_user(g) ? p->pid : number >= SYSCALL_NUMBERS);
	memcpy(row + CG_ROW_EPID + 4 * k, &epid, sizeof(epid));
	return row;
}

/* A row for each of its places. */
static void row_put_places(struct cg *g, uint8_t *table, uint32_t k, uint32_t epid, const struct bpf_probe *p)
{
	uint32_t number = p->cookie;

	for (const struct bpf_place *at = p->place; at; at = at->next)
		cg_user_operands(row_put(g, table, number++, k, epid, p) + g->row.operands, at);
}

/* 0: no memory. */
static uint32_t epid_add(struct bpf_image *img, uint32_t probe, uint32_t clause)
{
	struct img_epid *ep = VEC_NEW(img->epid, img->nepids, img->cap_epids);

	if (!ep)
		return 0;
	*ep = (struct img_epid){ probe, clause };
	return img->nepids - 1;
}

static uint32_t epid_new(struct cg *g, uint32_t probe, uint32_t clause)
{
	const uint32_t epid = epid_add(g->img, probe, clause);

	if (!epid)
		cg_oom(g);
	return epid;
}

/* The image keeps how a table is made that has room for more rows. */
static void row_table_keep(struct cg *g, const struct d_clause *const *clause, uint32_t n)
{
	struct img_rows *r = VEC_NEW(g->img->rows, g->img->nrows, g->rows_cap);
	uint32_t *numbers = r ? mem_alloc(n * sizeof(*numbers)) : NULL;

	if (!r || !numbers) {
		g->img->nrows -= r != NULL;
		cg_oom(g);
		return;
	}
	for (uint32_t k = 0; k < n; k++)
		numbers[k] = (uint32_t)(clause[k] - g->p->clause);
	*r = g->row;
	r->clause = numbers;
	r->nclauses = n;
}

int bpf_row_add(struct bpf_image *img, uint32_t rows, void *memory, const struct bpf_probe *p,
		const struct bpf_place *at, bool (*fires)(void *arg, uint32_t clause), void *arg)
{
	struct img_rows *r = &img->rows[rows];
	uint8_t *row = (uint8_t *)memory + (size_t)r->n * r->bytes;
	struct bpf_place cut = *at;

	if (r->n == r->most)
		return -TALLY_EEND;
	row_describe(r, row, p, p->pid);
	if (cut.noperands > r->noperands)
		cut.noperands = (uint8_t)r->noperands;
	cg_user_operands(row + r->operands, &cut);
	for (uint32_t k = 0; k < r->nclauses; k++) {
		const uint32_t epid = fires(arg, r->clause[k]) ? epid_add(img, p->id, r->clause[k]) : 0;

		if (!epid && fires(arg, r->clause[k]))
			return -TALLY_ENOMEM;
		memcpy(row + CG_ROW_EPID + 4 * k, &epid, sizeof(epid));
	}
	return (int)r->n++;
}

static void row_put_call(struct cg *g, uint8_t *table, uint32_t k, uint32_t epid, const struct bpf_probe *p)
{
	const struct bpf_calls *calls = g->o->arch->calls;
	const int16_t own = p->call->number[calls->abi],
		      compat = calls->has_compat ? p->call->number[calls->compat_abi] : SYSCALL_NONE;

	if (own != SYSCALL_NONE)
		row_put(g, table, (uint32_t)own, k, epid, p);
	if (compat != SYSCALL_NONE)
		row_put(g, table, SYSCALL_NUMBERS + (uint32_t)compat, k, epid, p);
}

#define TABLE_MOST (1u << 28) /* bytes: the verifier wants an offset that is far from overflowing */

void cg_row_table(struct cg *g, const struct d_clause *const *clause, uint32_t n)
{
	uint8_t *table;

	if (cg_is_call(g) ? !g->o->arch->calls : !g->o->arch->regs) {
		cg_fail(g, D_UNSUPPORTED, "how programs of this machine call %s is not known",
			cg_is_call(g) ? "the kernel" : "functions");
		return;
	}
	row_plan(g, clause, n);
	if ((uint64_t)g->row.most * g->row.bytes > TABLE_MOST) {
		cg_fail(g, D_LIMIT, "%u probes of one kind are too many: name fewer functions", g->row.most);
		return;
	}
	table = g->failed ? NULL : arena_alloc(&g->img->arena, (size_t)(g->row.n + 1) * g->row.bytes);
	if (!table) {
		cg_oom(g);
		return;
	}
	g->img->map[g->row.map].value_size = g->row.most * g->row.bytes;
	g->img->map[g->row.map].init = table;
	for (uint32_t k = 0; k < n; k++)
		for (uint32_t i = 0; i < clause[k]->nprobes && !g->failed; i++) {
			const struct bpf_probe *p = class_probe(g, clause[k]->probes[i]);
			uint32_t epid =
				p && !p->is_later ? epid_new(g, p->id, (uint32_t)(clause[k] - g->p->clause)) : 0;

			if (p && cg_is_user(g) && !p->is_later)
				row_put_places(g, table, k, epid, p);
			else if (p && !p->is_later)
				row_put_call(g, table, k, epid, p);
		}
	if (g->row.most > g->row.n)
		row_table_keep(g, clause, n);
}

/* R9 = number of the call that runs, behind SYSCALL_NUMBERS for a program of 32 bits. begins: the context is registers
 * and number; else the number is among the registers. */
static void call_number(struct cg *g, bool begins, uint32_t out)
{
	const struct bpf_calls *calls = g->o->arch->calls;

	cg_ins(g, I_CALL(get_current_task_btf));
	cg_mov(g, R8, R0);
	if (begins) {
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
}

/* The context: registers and number, or registers and result. */
void cg_call_begin(struct cg *g, uint32_t out)
{
	call_number(g, g->probe->cls == IMG_ENTRY, out);
	cg_ins(g, I_ALU_IMM(MUL, R9, (int32_t)g->row.bytes));
	cg_map_value(g, R1, cg_map_index(g, IMG_CALLS, g->probe->cls), 0);
	cg_ins(g, I_ALU_REG(ADD, R1, R9));
	cg_ins(g, I_STORE(DW, R10, FP_CALL, R1));
	cg_ins(g, I_LOAD(W, R1, R1, CG_ROW_ID));
	cg_jcc(g, I_JMP_IMM(JEQ, R1, 0, 0), out);
}

/* Where a row's address lies for programs of calls, this one has whether a program of 32 bits calls. */
void cg_call_only(struct cg *g, const struct bpf_point *p, uint32_t out)
{
	const struct bpf_calls *calls = g->o->arch->calls;
	const struct syscall_row *row = syscall_named(p->in_call);
	uint32_t good = cg_label(g);

	if (!calls || !row) {
		cg_fail(g, D_UNSUPPORTED, "how programs of this machine call the kernel is not known");
		return;
	}
	call_number(g, p->call_args, out);
	cg_ins(g, I_STORE(DW, R10, FP_CALL, R8));
	if (row->number[calls->abi] != SYSCALL_NONE)
		cg_jcc(g, I_JMP_IMM(JEQ, R9, row->number[calls->abi], 0), good);
	if (calls->has_compat && row->number[calls->compat_abi] != SYSCALL_NONE)
		cg_jcc(g, I_JMP_IMM(JEQ, R9, SYSCALL_NUMBERS + row->number[calls->compat_abi], 0), good);
	cg_jmp(g, out);
	cg_put(g, good);
}

static void row_load(struct cg *g, uint8_t to, uint32_t off)
{
	cg_ins(g, I_LOAD(DW, to, R10, FP_CALL));
	cg_ins(g, I_LOAD(W, to, to, (int16_t)off));
}

void cg_row_clause(struct cg *g, uint32_t end)
{
	row_load(g, R1, CG_ROW_EPID + 4 * g->epid);
	cg_jcc(g, I_JMP_IMM(JEQ, R1, 0, 0), end);
}

void cg_row_id(struct cg *g, uint8_t to)
{
	row_load(g, to, CG_ROW_ID);
}

void cg_row_epid(struct cg *g, uint8_t to)
{
	row_load(g, to, CG_ROW_EPID + 4 * g->epid);
}

bool cg_row_has_digits(const struct cg *g, uint32_t which)
{
	return which == BS_PROBEPROV && g->row.digits && cg_user_has_any(g);
}

/* The process id, which is in R0, behind the provider's name: as text in one word, its first digit lowest. */
static void row_text_digits(struct cg *g, struct cg_at at, uint32_t n)
{
	uint32_t none = cg_label(g), end = cg_label(g);

	cg_ins(g, I_LOAD(DW, R1, R10, FP_CALL));
	cg_ins(g, I_LOAD(DW, R3, R1, (int16_t)g->row.digits));
	cg_jcc(g, I_JMP_IMM(JEQ, R3, 0, 0), none);
	cg_jcc(g, I_JMP_IMM(JGT, R3, (int32_t)(n - PROBEPROV_DIGITS), 0), none);
	cg_ins(g, I_ALU_REG(ADD, R3, at.base));
	cg_imm(g, R2, 0);
	for (int i = 0; i < PROBEPROV_DIGITS - 1; i++) {
		cg_mov(g, R1, R0);
		cg_ins(g, I_ALU_IMM(DIV, R0, 10));
		cg_mov(g, R5, R0);
		cg_ins(g, I_ALU_IMM(MUL, R5, 10));
		cg_ins(g, I_ALU_REG(SUB, R1, R5));
		cg_ins(g, I_ALU_IMM(ADD, R1, '0'));
		cg_ins(g, I_ALU_IMM(LSH, R2, 8));
		cg_ins(g, I_ALU_REG(OR, R2, R1));
		cg_jcc(g, I_JMP_IMM(JEQ, R0, 0, 0), end);
	}
	cg_put(g, end);
	for (int i = 0; i < PROBEPROV_DIGITS - 1; i++) { /* the verifier has no words across the words of the stack */
		cg_ins(g, I_STORE(B, R3, at.off + i, R2));
		cg_ins(g, I_ALU_IMM(RSH, R2, 8));
	}
	cg_put(g, none);
}

bool cg_row_text(struct cg *g, uint32_t which, struct cg_at at, uint32_t n)
{
	const uint32_t bytes = g->row.text[which].bytes, from = g->row.text[which].off;

	if (!bytes)
		return false;
	cg_ins(g, I_LOAD(DW, R1, R10, FP_CALL));
	for (uint32_t k = 0; k < n; k += 8) {
		if (k < bytes)
			cg_ins(g, I_LOAD(DW, R2, R1, (int16_t)(from + k)));
		else if (k == bytes)
			cg_imm(g, R2, 0);
		cg_ins(g, I_STORE(DW, at.base, at.off + (int32_t)k, R2));
	}
	if (cg_row_has_digits(g, which))
		row_text_digits(g, at, (n + 7) & ~7u);
	return true;
}

/* R0 = arg n of a call that begins; the result of one that ends is arg0 and arg1. */
void cg_call_arg(struct cg *g, unsigned n)
{
	const struct bpf_calls *calls = g->o->arch->calls;
	uint32_t own = cg_label(g), end = cg_label(g);

	if (g->probe->cls == IMG_RETURN && n < 2) {
		cg_ins(g, I_LOAD(DW, R0, R6, 8));
	} else if (g->probe->cls != IMG_RETURN && n < COUNT(calls->arg)) {
		cg_ins(g, I_CALL(get_current_task_btf));
		cg_mov(g, R1, R0);
		cg_ins(g, I_CALL(task_pt_regs));
		if (calls->has_compat) {
			if (cg_is_call(g))
				row_load(g, R1, CG_ROW_COMPAT);
			else
				cg_ins(g, I_LOAD(DW, R1, R10, FP_CALL));
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
