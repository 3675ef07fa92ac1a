/*
 * cg_user.c: programs of places in processes.
 *
 * All probes of a class (functions that begin, functions that return, instructions) are one program, as those of system
 * calls are, and share the table's rows with them (cg_call.c).  Which row a firing is for says the cookie of its
 * place.  A row has beside that of a system call:
 *
 *	u32 pid        in place of compat: the process that is meant; 0: whichever comes there
 *	u64 digits     if clauses ask for probeprov: how long the provider's name is, behind which the process id goes;
 *	               0: it is all there
 *	operands[]     of a place: where each argument lies
 *
 * Arguments of a function are registers, and then words of its stack.  Those of a place are read as its row says: an
 * operand has 16 bytes, of which the program makes sense when it fires, so that a thousand probes with arguments of
 * their own are one program. Where all places of a clause have an argument in the same place, which one place always
 * has, the program reads it there.
 *
 * The kernel may take the CPU away from such a program and give it to another process, which comes to a place itself.
 * So aggregations are added to atomically (cg_agg.c), and scratch memory is divided: each CPU has USERS parts, which
 * programs take and give back.  A word for each holds the thread that has it, by which the parts of a program that is
 * several find it again.  A firing that finds none free is counted as a drop; it takes USERS programs on one CPU, each
 * interrupted within its microsecond.
 */
#include <string.h>

#include "bpf/cg_int.h"

#define USERS CG_SCRATCH_USERS
static_assert((USERS & (USERS - 1)) == 0, "a mask bounds which part it is");

/* struct pt_regs: Linux' arch/x86/include/asm/ptrace.h; the System V ABI's order of arguments */
const struct bpf_regs cg_regs_x86_64 = {
	.arg = { 112, 104, 96, 88, 72, 64 }, .nargs = 6, .stack_args = 8, .result = 80, .sp = 152, .pc = 128, .fp = 32
};
/* arch/arm64/include/uapi/asm/ptrace.h; AAPCS64 */
const struct bpf_regs cg_regs_aarch64 = { .arg = { 0, 8, 16, 24, 32, 40, 48, 56 },
					  .nargs = 8,
					  .stack_args = 0,
					  .result = 0,
					  .sp = 248,
					  .pc = 256,
					  .fp = 232,
					  .lr = 240 };

/* An operand in a row. */
struct user_operand {
	uint8_t kind;
	uint8_t cut;       /* how far its value is shifted up and down again */
	uint8_t is_signed; /* down with its sign */
	uint8_t shift;     /* of the index */
	uint16_t reg, index;
	int64_t value;
};
static_assert(sizeof(struct user_operand) == CG_OPERAND_BYTES, "as programs read it");

void cg_user_operands(uint8_t *to, const struct bpf_place *p)
{
	for (uint32_t i = 0; i < p->noperands; i++) {
		const struct bpf_operand *o = &p->operand[i];
		const struct user_operand u = { .kind = o->kind,
						.cut = (uint8_t)(64 - 8 * o->bytes),
						.is_signed = o->is_signed,
						.shift = o->shift,
						.reg = (uint16_t)o->reg,
						.index = (uint16_t)o->index,
						.value = o->value };

		memcpy(to + i * sizeof(u), &u, sizeof(u));
	}
}

/* The process that all places of this program are of; 0: several, or one that is not known yet. */
static uint32_t user_only_process(const struct cg *g)
{
	uint32_t pid = 0;

	for (uint32_t i = 0; i < g->o->nprobes; i++) {
		const struct bpf_probe *p = &g->o->probe[i];

		if (p->cls != g->probe->cls)
			continue;
		if (p->is_later || !p->pid || (pid && p->pid != pid))
			return 0;
		pid = p->pid;
	}
	return pid <= INT32_MAX ? pid : 0;
}

bool cg_user_has_any(const struct cg *g)
{
	for (uint32_t i = 0; i < g->o->nprobes; i++)
		if (g->o->probe[i].cls == g->probe->cls && !g->o->probe[i].pid)
			return true;
	return false;
}

/* FP_CALL = the row of this place, if the process is the one that is meant, or one that it forked where those are,
 * too. */
void cg_user_begin(struct cg *g, uint32_t leave)
{
	const uint32_t only = g->o->pid_ns || g->o->follow_forks ? 0 : user_only_process(g);
	uint32_t ours = cg_label(g);

	cg_ins(g, I_CALL(get_current_pid_tgid));
	cg_ins(g, I_STORE(DW, R10, FP_WHO, R0));
	if (only) {
		cg_ins(g, I_ALU_IMM(RSH, R0, 32));
		cg_jcc(g, I_JMP_IMM(JNE, R0, (int32_t)only, 0), leave);
	}
	cg_map_value(g, R8, cg_map_index(g, IMG_CALLS, g->probe->cls), 0);
	if (g->row.most > 1) { /* else there is one place, and nothing to tell apart */
		cg_mov(g, R1, R6);
		cg_ins(g, I_CALL(get_attach_cookie));
		cg_jcc(g, I_JMP_IMM(JGE, R0, (int32_t)g->row.most, 0), leave);
		cg_ins(g, I_ALU_IMM(MUL, R0, (int32_t)g->row.bytes));
		cg_ins(g, I_ALU_REG(ADD, R8, R0));
	}
	cg_ins(g, I_STORE(DW, R10, FP_CALL, R8));
	if (only || g->o->pid_ns) /* where the row's id is not the kernel's */
		return;
	cg_ins(g, I_LOAD(W, R9, R8, CG_ROW_PID));
	cg_ins(g, I_LOAD(DW, R0, R10, FP_WHO));
	cg_ins(g, I_ALU_IMM(RSH, R0, 32));
	if (cg_user_has_any(g))
		cg_jcc(g, I_JMP_IMM(JEQ, R9, 0, 0), ours);
	if (!g->o->follow_forks) {
		cg_jcc(g, I_JMP_REG(JNE, R0, R9, 0), leave);
		cg_put(g, ours);
		return;
	}
	cg_jcc(g, I_JMP_REG(JEQ, R0, R9, 0), ours);
	cg_progeny(g, R9);
	cg_jcc(g, I_JMP_IMM(JEQ, R0, 0, 0), leave);
	cg_put(g, ours);
}

/* FP_PART = which part of scratch memory is ours, also in R0 as the map's key; whole: none is yet. The verifier does
 * not learn which, or it would walk the program for each. */
void cg_user_take_scratch(struct cg *g, bool whole, uint32_t leave)
{
	uint32_t found = cg_label(g);

	cg_ins(g, I_LOAD(DW, R9, R10, FP_WHO));
	cg_ins(g, I_STORE_IMM(W, R10, FP_KEY, 0));
	cg_map(g, R1, cg_map_index(g, IMG_BUSY, 0));
	cg_lea(g, R2, R10, FP_KEY);
	cg_ins(g, I_CALL(map_lookup_elem));
	cg_jcc(g, I_JMP_IMM(JEQ, R0, 0, 0), leave);
	cg_mov(g, R8, R0);
	cg_ins(g, I_STORE(DW, R10, FP_BUSY, R8));
	for (int32_t i = 0; i < USERS; i++) {
		uint32_t next = cg_label(g);

		if (whole) {
			cg_imm(g, R0, 0);
			cg_ins(g, I_CMPXCHG(DW, R8, 8 * i, R9));
			cg_jcc(g, I_JMP_IMM(JNE, R0, 0, 0), next);
		} else {
			cg_ins(g, I_LOAD(DW, R0, R8, 8 * i));
			cg_jcc(g, I_JMP_REG(JNE, R0, R9, 0), next);
		}
		cg_imm(g, R9, i);
		cg_jmp(g, found);
		cg_put(g, next);
	}
	cg_count(g, offsetof(struct img_drops, records));
	cg_jmp(g, leave);
	cg_put(g, found);
	cg_forget(g, R9);
	cg_ins(g, I_STORE(DW, R10, FP_PART, R9));
	cg_ins(g, I_ALU_IMM(ADD, R9, CG_SCRATCH_USER));
	cg_mov(g, R0, R9);
}

void cg_user_give_back(struct cg *g)
{
	cg_ins(g, I_LOAD(DW, R1, R10, FP_BUSY));
	cg_ins(g, I_LOAD(DW, R2, R10, FP_PART));
	cg_ins(g, I_ALU_IMM(AND, R2, USERS - 1));
	cg_ins(g, I_ALU_IMM(LSH, R2, 3));
	cg_ins(g, I_ALU_REG(ADD, R1, R2));
	cg_ins(g, I_STORE_IMM(DW, R1, 0, 0));
}

/* R0 = a word of the process; 0 where there is none. R3 = its address. */
static void user_read_word(struct cg *g)
{
	cg_lea(g, R1, R10, FP_TMP);
	cg_imm(g, R2, 8);
	cg_ins(g, I_CALL(probe_read_user)); /* what can't be read is zeros */
	cg_ins(g, I_LOAD(DW, R0, R10, FP_TMP));
}

/* FP_TMP = the register of which the row's operand at off says the offset. */
static void user_read_register(struct cg *g, uint32_t off)
{
	cg_ins(g, I_LOAD(DW, R3, R10, FP_CALL));
	cg_ins(g, I_LOAD(H, R1, R3, (int16_t)off));
	cg_mov(g, R3, R6);
	cg_ins(g, I_ALU_REG(ADD, R3, R1));
	cg_lea(g, R1, R10, FP_TMP);
	cg_imm(g, R2, 8);
	cg_ins(g, I_CALL(probe_read_kernel));
}

/* Whether a register can be read where the context is constant: a whole one, which its upper byte (%ah) is not. */
static bool user_register_is_whole(uint32_t off)
{
	return off % 8 == 0;
}

static bool user_operands_same(const struct bpf_operand *a, const struct bpf_operand *b)
{
	return a->kind == b->kind && a->bytes == b->bytes && a->is_signed == b->is_signed && a->shift == b->shift &&
	       a->reg == b->reg && a->index == b->index && a->value == b->value;
}

/* Where argument n lies, if it is the same at all places of the clause; NULL: only its row says. */
static const struct bpf_operand *user_operand_agreed(const struct cg *g, unsigned n)
{
	const struct bpf_operand *all = NULL;

	for (uint32_t i = 0; i < g->clause->nprobes; i++) {
		const struct bpf_probe *p = cg_probe(g, g->clause->probes[i]);

		if (!p || p->cls != g->probe->cls)
			continue;
		if (p->is_later)
			return NULL;
		for (const struct bpf_place *at = p->place; at; at = at->next) {
			if (n >= at->noperands || (all && !user_operands_same(all, &at->operand[n])))
				return NULL;
			all = &at->operand[n];
		}
	}
	return all && user_register_is_whole(all->reg) && user_register_is_whole(all->index) ? all : NULL;
}

/* R0 = what lies there. */
static void user_operand_direct(struct cg *g, const struct bpf_operand *o)
{
	const int32_t cut = (64 - 8 * o->bytes) & 63;

	if (o->kind <= OPERAND_CONST) {
		cg_imm(g, R0, o->value);
	} else if (o->kind == OPERAND_REG) {
		cg_ins(g, I_LOAD(DW, R0, R6, (int16_t)o->reg));
	} else {
		cg_imm(g, R3, o->value);
		cg_ins(g, I_LOAD(DW, R1, R6, (int16_t)o->reg));
		cg_ins(g, I_ALU_REG(ADD, R3, R1));
		if (o->kind != OPERAND_MEM) {
			cg_ins(g, I_LOAD(DW, R1, R6, (int16_t)o->index));
			cg_ins(g, I_ALU_IMM(LSH, R1, o->shift & 3));
			cg_ins(g, I_ALU_REG(ADD, R3, R1));
		}
		user_read_word(g);
	}
	if (cut) {
		cg_ins(g, I_ALU_IMM(LSH, R0, cut));
		cg_ins(g, o->is_signed ? I_ALU_IMM(ARSH, R0, cut) : I_ALU_IMM(RSH, R0, cut));
	}
}

static void user_operand(struct cg *g, unsigned n)
{
	const uint32_t at = g->row.operands + n * (uint32_t)sizeof(struct user_operand);
	const struct bpf_operand *agreed = user_operand_agreed(g, n);
	uint32_t reg = cg_label(g), constant = cg_label(g), plain = cg_label(g), cut = cg_label(g),
		 is_signed = cg_label(g), end = cg_label(g);

	if (n >= g->row.noperands) {
		cg_imm(g, R0, 0);
		return;
	}
	if (agreed) {
		user_operand_direct(g, agreed);
		return;
	}
	cg_ins(g, I_LOAD(DW, R1, R10, FP_CALL));
	cg_ins(g, I_LOAD(B, R2, R1, (int16_t)(at + offsetof(struct user_operand, kind))));
	cg_ins(g, I_LOAD(DW, R0, R1, (int16_t)(at + offsetof(struct user_operand, value))));
	cg_jcc(g, I_JMP_IMM(JLE, R2, OPERAND_CONST, 0), constant);
	cg_jcc(g, I_JMP_IMM(JEQ, R2, OPERAND_REG, 0), reg);
	cg_ins(g, I_STORE(DW, R10, FP_TMP + 8, R0));
	cg_jcc(g, I_JMP_IMM(JEQ, R2, OPERAND_MEM, 0), plain);
	user_read_register(g, at + offsetof(struct user_operand, index));
	cg_ins(g, I_LOAD(DW, R1, R10, FP_CALL));
	cg_ins(g, I_LOAD(B, R2, R1, (int16_t)(at + offsetof(struct user_operand, shift))));
	cg_ins(g, I_ALU_IMM(AND, R2, 3));
	cg_ins(g, I_LOAD(DW, R0, R10, FP_TMP));
	cg_ins(g, I_ALU_REG(LSH, R0, R2));
	cg_ins(g, I_LOAD(DW, R1, R10, FP_TMP + 8));
	cg_ins(g, I_ALU_REG(ADD, R0, R1));
	cg_ins(g, I_STORE(DW, R10, FP_TMP + 8, R0));
	cg_put(g, plain);
	user_read_register(g, at + offsetof(struct user_operand, reg));
	cg_ins(g, I_LOAD(DW, R3, R10, FP_TMP));
	cg_ins(g, I_LOAD(DW, R1, R10, FP_TMP + 8));
	cg_ins(g, I_ALU_REG(ADD, R3, R1));
	user_read_word(g);
	cg_jmp(g, cut);
	cg_put(g, reg);
	user_read_register(g, at + offsetof(struct user_operand, reg));
	cg_ins(g, I_LOAD(DW, R0, R10, FP_TMP));
	cg_put(g, cut);
	cg_ins(g, I_LOAD(DW, R1, R10, FP_CALL));
	cg_put(g, constant);
	cg_ins(g, I_LOAD(B, R2, R1, (int16_t)(at + offsetof(struct user_operand, cut))));
	cg_ins(g, I_LOAD(B, R3, R1, (int16_t)(at + offsetof(struct user_operand, is_signed))));
	cg_ins(g, I_ALU_IMM(AND, R2, 63));
	cg_ins(g, I_ALU_REG(LSH, R0, R2));
	cg_jcc(g, I_JMP_IMM(JNE, R3, 0, 0), is_signed);
	cg_ins(g, I_ALU_REG(RSH, R0, R2));
	cg_jmp(g, end);
	cg_put(g, is_signed);
	cg_ins(g, I_ALU_REG(ARSH, R0, R2));
	cg_put(g, end);
}

void cg_function_arg(struct cg *g, unsigned n, bool user)
{
	const struct bpf_regs *regs = g->o->arch->regs;

	if (n < regs->nargs) {
		cg_ins(g, I_LOAD(DW, R0, R6, regs->arg[n]));
		return;
	}
	cg_ins(g, I_LOAD(DW, R3, R6, regs->sp));
	cg_ins(g, I_ALU_IMM(ADD, R3, regs->stack_args + 8 * ((int32_t)n - regs->nargs)));
	cg_lea(g, R1, R10, FP_TMP);
	cg_imm(g, R2, 8);
	cg_ins(g, user ? I_CALL(probe_read_user) : I_CALL(probe_read_kernel)); /* what can't be read is zeros */
	cg_ins(g, I_LOAD(DW, R0, R10, FP_TMP));
}

/* R0 = argument n. What a function returned is arg1; from where is not known, so arg0 is 0. */
void cg_user_arg(struct cg *g, unsigned n)
{
	const struct bpf_regs *regs = g->o->arch->regs;

	if (g->probe->cls == IMG_USER_PLACE) {
		user_operand(g, n);
	} else if (g->probe->cls == IMG_USER_RETURN) {
		if (n == 1)
			cg_ins(g, I_LOAD(DW, R0, R6, regs->result));
		else
			cg_imm(g, R0, 0);
	} else {
		cg_function_arg(g, n, true);
	}
}
