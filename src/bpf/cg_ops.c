/*
 * cg_ops.c: the IR's arithmetic, branches, builtins, objects and variables.
 *
 * Between two IR operations only R6 (context), R7 (scratch), R8 and R9 (values)
 * hold anything; each operation may use R0-R5 as it likes.
 * Linux 6.1 has no signed division and no sign-extending loads: both are made
 * of what it has.  BPF's own division by zero yields 0, so a divisor is tested first.
 */
#include "bpf/cg_int.h"

/* ---- arithmetic ---------------------------------------------------------------- */

static void ops_emit_alu(struct cg *g, const struct ir_ins *i, uint8_t op)
{
	uint8_t to = cg_def(g, i->d, R1), a;
	int64_t imm;

	if (cg_small(g, i->b, &imm)) {
		a = cg_use(g, i->a, to);
		cg_mov(g, to, a);
		cg_ins(g, I_RAW(INS_ALU64 | op | INS_K, to, 0, 0, imm));
	} else {
		uint8_t b = cg_use(g, i->b, R2);

		if (to == b)
			to = R1;
		a = cg_use(g, i->a, to);
		cg_mov(g, to, a);
		cg_ins(g, I_RAW(INS_ALU64 | op | INS_X, to, b, 0, 0));
	}
	cg_done(g, i->d, to);
}

/* Shift counts are masked to 63 as the hardware does; an immediate beyond would be refused. */
static void ops_emit_shift(struct cg *g, const struct ir_ins *i, uint8_t op)
{
	uint8_t b = cg_use(g, i->b, R2);

	cg_mov(g, R2, b);
	cg_ins(g, I_ALU_IMM(AND, R2, 63));
	cg_mov(g, R1, cg_use(g, i->a, R1));
	cg_ins(g, I_RAW(INS_ALU64 | op | INS_X, R1, R2, 0, 0));
	cg_done(g, i->d, R1);
}

static void ops_emit_divide(struct cg *g, const struct ir_ins *i, uint8_t op, bool is_signed)
{
	uint32_t fine = cg_label(g), apos = cg_label(g), bpos = cg_label(g), done = cg_label(g);
	bool mod = op == OP_MOD;

	cg_mov(g, R1, cg_use(g, i->a, R1));
	cg_mov(g, R2, cg_use(g, i->b, R2));
	cg_jcc(g, I_JMP_IMM(JNE, R2, 0, 0), fine);
	cg_fault(g, FAULT_DIVZERO, R2);
	cg_put(g, fine);
	if (is_signed) {
		/* R3: the sign of the result; the magnitudes divide (INT64_MIN's is 2^63, right as unsigned) */
		cg_mov(g, R3, R1);
		if (!mod)
			cg_ins(g, I_ALU_REG(XOR, R3, R2));
		cg_jcc(g, I_JMP_IMM(JSGE, R1, 0, 0), apos);
		cg_ins(g, I_NEG(R1));
		cg_put(g, apos);
		cg_jcc(g, I_JMP_IMM(JSGE, R2, 0, 0), bpos);
		cg_ins(g, I_NEG(R2));
		cg_put(g, bpos);
	}
	cg_ins(g, I_RAW(INS_ALU64 | op | INS_X, R1, R2, 0, 0));
	if (is_signed) {
		cg_jcc(g, I_JMP_IMM(JSGE, R3, 0, 0), done);
		cg_ins(g, I_NEG(R1));
		cg_put(g, done);
	}
	cg_done(g, i->d, R1);
}

static void op_add(struct cg *g, const struct ir_ins *i)
{
	ops_emit_alu(g, i, OP_ADD);
}
static void op_sub(struct cg *g, const struct ir_ins *i)
{
	ops_emit_alu(g, i, OP_SUB);
}
static void op_mul(struct cg *g, const struct ir_ins *i)
{
	ops_emit_alu(g, i, OP_MUL);
}
static void op_and(struct cg *g, const struct ir_ins *i)
{
	ops_emit_alu(g, i, OP_AND);
}
static void op_or(struct cg *g, const struct ir_ins *i)
{
	ops_emit_alu(g, i, OP_OR);
}
static void op_xor(struct cg *g, const struct ir_ins *i)
{
	ops_emit_alu(g, i, OP_XOR);
}
static void op_shl(struct cg *g, const struct ir_ins *i)
{
	ops_emit_shift(g, i, OP_LSH);
}
static void op_shr(struct cg *g, const struct ir_ins *i)
{
	ops_emit_shift(g, i, OP_RSH);
}
static void op_sar(struct cg *g, const struct ir_ins *i)
{
	ops_emit_shift(g, i, OP_ARSH);
}
static void op_divu(struct cg *g, const struct ir_ins *i)
{
	ops_emit_divide(g, i, OP_DIV, false);
}
static void op_divs(struct cg *g, const struct ir_ins *i)
{
	ops_emit_divide(g, i, OP_DIV, true);
}
static void op_modu(struct cg *g, const struct ir_ins *i)
{
	ops_emit_divide(g, i, OP_MOD, false);
}
static void op_mods(struct cg *g, const struct ir_ins *i)
{
	ops_emit_divide(g, i, OP_MOD, true);
}

static void op_nop(struct cg *g, const struct ir_ins *i)
{
	(void)g;
	(void)i;
}

static void op_const(struct cg *g, const struct ir_ins *i)
{
	uint8_t to = cg_def(g, i->d, R1);

	if (g->reg[i->d].in == IN_CONST)
		return;
	cg_imm(g, to, i->i);
	cg_forget(g, to); /* it is one of several */
	cg_done(g, i->d, to);
}

static void op_mov(struct cg *g, const struct ir_ins *i)
{
	uint8_t from = cg_use(g, i->a, R1);

	if (g->reg[i->a].in == IN_CONST)
		cg_forget(g, from);
	cg_done(g, i->d, from);
}

static void op_neg(struct cg *g, const struct ir_ins *i)
{
	cg_mov(g, R1, cg_use(g, i->a, R1));
	cg_ins(g, I_NEG(R1));
	cg_done(g, i->d, R1);
}

static void op_not(struct cg *g, const struct ir_ins *i)
{
	cg_mov(g, R1, cg_use(g, i->a, R1));
	cg_ins(g, I_ALU_IMM(XOR, R1, -1));
	cg_done(g, i->d, R1);
}

static void ops_emit_extend(struct cg *g, const struct ir_ins *i, uint8_t op)
{
	int bits = 64 - 8 * (int)i->s;

	cg_mov(g, R1, cg_use(g, i->a, R1));
	cg_ins(g, I_ALU_IMM(LSH, R1, bits));
	cg_ins(g, I_RAW(INS_ALU64 | op | INS_K, R1, 0, 0, bits));
	cg_done(g, i->d, R1);
}

static void op_sext(struct cg *g, const struct ir_ins *i)
{
	ops_emit_extend(g, i, OP_ARSH);
}
static void op_zext(struct cg *g, const struct ir_ins *i)
{
	ops_emit_extend(g, i, OP_RSH);
}

static void op_hton(struct cg *g, const struct ir_ins *i)
{
	cg_mov(g, R1, cg_use(g, i->a, R1));
	cg_ins(g, I_BE(R1, 8 * (int)i->s));
	cg_done(g, i->d, R1);
}

static void op_rand(struct cg *g, const struct ir_ins *i)
{
	cg_ins(g, I_CALL(get_prandom_u32));
	cg_done(g, i->d, R0);
}

/* ---- branches -------------------------------------------------------------------- */

static const uint8_t jump_of[] = {
	[IR_EQ] = OP_JEQ,  [IR_NE] = OP_JNE,  [IR_LT] = OP_JSLT, [IR_LE] = OP_JSLE, [IR_GT] = OP_JSGT,
	[IR_GE] = OP_JSGE, [IR_LTU] = OP_JLT, [IR_LEU] = OP_JLE, [IR_GTU] = OP_JGT, [IR_GEU] = OP_JGE,
};

static void jump_if(struct cg *g, const struct ir_ins *i, uint32_t label)
{
	uint8_t a = cg_use(g, i->a, R1), op = jump_of[i->cond];
	int64_t imm;

	if (cg_small(g, i->b, &imm))
		cg_jcc(g, I_RAW(INS_JMP | op | INS_K, a, 0, 0, imm), label);
	else
		cg_jcc(g, I_RAW(INS_JMP | op | INS_X, a, cg_use(g, i->b, R2), 0, 0), label);
}

static void op_cmp(struct cg *g, const struct ir_ins *i)
{
	uint32_t yes = cg_label(g), end = cg_label(g);

	jump_if(g, i, yes);
	cg_imm(g, R1, 0);
	cg_jmp(g, end);
	cg_put(g, yes);
	cg_imm(g, R1, 1);
	cg_put(g, end);
	cg_forget(g, R1);
	cg_done(g, i->d, R1);
}

static void op_jmp(struct cg *g, const struct ir_ins *i)
{
	cg_jmp(g, g->ir_label[i->x]);
}
static void op_jcmp(struct cg *g, const struct ir_ins *i)
{
	jump_if(g, i, g->ir_label[i->x]);
}
static void op_label(struct cg *g, const struct ir_ins *i)
{
	cg_put(g, g->ir_label[i->x]);
}

static void op_fault(struct cg *g, const struct ir_ins *i)
{
	cg_fault(g, (enum ir_fault)i->x, i->a ? cg_use(g, i->a, R1) : R10);
}

/* ---- builtins --------------------------------------------------------------------- */

void cg_struct_named(struct cg *g, const char *type, const char *field)
{
	struct img_reloc *r = g->failed ? NULL : VEC_NEW(g->reloc, g->nrelocs, g->reloc_cap);

	if (r)
		*r = (struct img_reloc){ g->nins, type, field };
	else
		cg_oom(g);
}

void cg_task_named(struct cg *g, const char *field)
{
	cg_struct_named(g, "task_struct", field);
}

void cg_struct_field(struct cg *g, const char *type, const char *field, unsigned n)
{
	cg_mov(g, R3, R0);
	cg_struct_named(g, type, field);
	cg_ins(g, I_ALU_IMM(ADD, R3, 0));
	cg_ins(g, I_STORE_IMM(DW, R10, FP_TMP, 0));
	cg_lea(g, R1, R10, FP_TMP);
	cg_imm(g, R2, (int)n);
	cg_ins(g, I_CALL(probe_read_kernel));
	cg_ins(g, I_LOAD(DW, R0, R10, FP_TMP));
}

static void task_field(struct cg *g, const char *field, unsigned n)
{
	cg_struct_field(g, "task_struct", field, n);
}

/* R0 = the struct pid of the task whose address R0 is, plus its level times the size of a struct upid: `numbers` at
 * that address is the id in the innermost pid namespace that the task is in. */
static void pid_numbers_of_task(struct cg *g)
{
	task_field(g, "thread_pid", 8);
	cg_ins(g, I_STORE(DW, R10, FP_TMP + 8, R0));
	cg_struct_field(g, "pid", "level", 4);
	cg_ins(g, I_ALU_IMM(LSH, R0, 4)); /* struct upid: nr, and the namespace's address */
	cg_ins(g, I_LOAD(DW, R1, R10, FP_TMP + 8));
	cg_ins(g, I_ALU_REG(ADD, R0, R1));
}

/* R0 = process (tgid) or thread id of a thread that does not run here. In a pid namespace as the thread's own counts:
 * the innermost that it is in. */
static void pid_or_tid_of_subject(struct cg *g, bool tid)
{
	cg_task(g);
	if (!g->o->pid_ns) {
		task_field(g, tid ? "pid" : "tgid", 4);
		return;
	}
	if (!tid)
		task_field(g, "group_leader", 8);
	pid_numbers_of_task(g);
	cg_struct_field(g, "pid", "numbers", 4);
}

/* R0 = the process id of the task whose address R0 is, as the tracer's pid namespace counts it; 0: it is in another
 * one. A process has an id in each namespace around its own, too: of those nothing is known here. */
static void pid_of_task(struct cg *g)
{
	uint32_t same = cg_label(g), done = cg_label(g);

	if (!g->o->pid_ns) {
		task_field(g, "tgid", 4);
		return;
	}
	task_field(g, "group_leader", 8);
	pid_numbers_of_task(g);
	cg_struct_named(g, "pid", "numbers");
	cg_ins(g, I_ALU_IMM(ADD, R0, 0));
	cg_ins(g, I_STORE(DW, R10, FP_TMP + 8, R0));
	cg_struct_field(g, "upid", "ns", 8);
	cg_struct_field(g, "pid_namespace", "ns.inum", 4);
	cg_map_value(g, R1, cg_map_index(g, IMG_CTL, 0), offsetof(struct img_ctl, pidns_ino));
	cg_ins(g, I_LOAD(DW, R1, R1, 0));
	cg_jcc(g, I_JMP_REG(JEQ, R0, R1, 0), same);
	cg_imm(g, R0, 0);
	cg_jmp(g, done);
	cg_put(g, same);
	cg_ins(g, I_LOAD(DW, R0, R10, FP_TMP + 8));
	cg_struct_field(g, "upid", "nr", 4);
	cg_put(g, done);
}

/* R0 = process (tgid) or thread id, as the tracer's pid namespace counts them. */
static void pid_or_tid(struct cg *g, bool tid)
{
	uint32_t ctl;

	if (cg_has_subject(g)) {
		pid_or_tid_of_subject(g, tid);
		return;
	}
	if (!g->o->pid_ns) {
		cg_ins(g, I_CALL(get_current_pid_tgid));
		cg_ins(g, tid ? I_MOV32_REG(R0, R0) : I_ALU_IMM(RSH, R0, 32));
		return;
	}
	ctl = cg_map_index(g, IMG_CTL, 0);
	cg_map_value(g, R4, ctl, offsetof(struct img_ctl, pidns_dev));
	cg_ins(g, I_LOAD(DW, R1, R4, 0));
	cg_ins(g, I_LOAD(DW, R2, R4, 8));
	cg_lea(g, R3, R10, FP_TMP);
	cg_imm(g, R4, sizeof(struct ins_pidns));
	cg_ins(g, I_CALL(get_ns_current_pid_tgid));
	cg_ins(g, I_LOAD(W, R0, R10, FP_TMP + (tid ? 0 : 4)));
}

void cg_pid(struct cg *g)
{
	pid_or_tid(g, false);
}

/*
 * The key of a thread's variables: its id in the low bits, above it the time when it began.  Ids are given again, and
 * a thread must not find what a dead one of its id has left; it would if it began a multiple of 73 minutes
 * after that one, to the nanosecond.  Thread 0 is one for each CPU and never ends: its time is the CPU's number.
 */
#define THREAD_ID_BITS 22 /* PID_MAX_LIMIT */

static void bi_thread(struct cg *g)
{
	uint32_t idle = cg_label(g), both = cg_label(g);

	if (cg_has_subject(g)) {
		cg_point_subject(g, R1);
		cg_struct_named(g, "task_struct", "pid");
		cg_ins(g, I_LOAD(W, R0, R1, 0));
	} else if (cg_is_user(g)) {
		cg_ins(g, I_LOAD(W, R0, R10, FP_WHO));
	} else {
		cg_ins(g, I_CALL(get_current_pid_tgid));
		cg_ins(g, I_MOV32_REG(R0, R0));
	}
	cg_ins(g, I_STORE(DW, R10, FP_TMP + 8, R0));
	cg_jcc(g, I_JMP_IMM(JEQ, R0, 0, 0), idle);
	if (cg_is_event(g)) { /* each firing pays for what its entry and its return ask: no helper reads it */
		if (cg_has_subject(g))
			cg_point_subject(g, R0);
		else
			cg_ins(g, I_CALL(get_current_task_btf));
		cg_struct_named(g, "task_struct", "start_time");
		cg_ins(g, I_LOAD(DW, R0, R0, 0));
	} else {
		cg_task(g);
		task_field(g, "start_time", 8);
	}
	cg_jmp(g, both);
	cg_put(g, idle);
	cg_ins(g, I_CALL(get_smp_processor_id));
	cg_ins(g, I_ALU_IMM(ADD, R0, 1));
	cg_put(g, both);
	cg_ins(g, I_ALU_IMM(LSH, R0, THREAD_ID_BITS));
	cg_ins(g, I_LOAD(DW, R1, R10, FP_TMP + 8));
	cg_ins(g, I_ALU_REG(OR, R0, R1));
}

/*
 * The generation of this process's mappings, by its address space: threads, and what vfork() made, share one.  Mostly
 * it stands in the space's place.  What is read there second is read at an address that depends on what was read first,
 * so that no CPU reads it before, when the place was still another's.
 */
void cg_generation(struct cg *g)
{
	static const struct bpf_ins place[] = { IMG_SPACE_PLACE(R2) };
	uint32_t elsewhere = cg_label(g), done = cg_label(g);

	if (!g->o->generations) {
		cg_imm(g, R0, 0);
		return;
	}
	cg_ins(g, I_CALL(get_current_task_btf));
	cg_task_named(g, "mm");
	cg_ins(g, I_LOAD(DW, R0, R0, 0));
	cg_ins(g, I_MOV32_REG(R2, R0));
	for (size_t i = 0; i < COUNT(place); i++)
		cg_ins(g, place[i]);
	cg_map_value(g, R1, cg_map_index(g, IMG_SPACES, 0), 0);
	cg_ins(g, I_ALU_REG(ADD, R1, R2));
	cg_ins(g, I_LOAD(DW, R2, R1, offsetof(struct img_space, mm)));
	cg_jcc(g, I_JMP_REG(JNE, R2, R0, 0), elsewhere);
	cg_ins(g, I_ALU_IMM(AND, R2, 0));
	cg_ins(g, I_ALU_REG(ADD, R1, R2));
	cg_ins(g, I_LOAD(DW, R0, R1, offsetof(struct img_space, began_ns)));
	cg_jmp(g, done);
	cg_put(g, elsewhere);
	cg_ins(g, I_STORE(DW, R10, FP_TMP, R0));
	cg_imm(g, R0, 0);
	cg_jcc(g, I_JMP_IMM(JEQ, R2, 0, 0), done);
	cg_map(g, R1, cg_map_index(g, IMG_GENERATIONS, 0));
	cg_lea(g, R2, R10, FP_TMP);
	cg_ins(g, I_CALL(map_lookup_elem));
	cg_jcc(g, I_JMP_IMM(JEQ, R0, 0, 0), done);
	cg_ins(g, I_LOAD(DW, R0, R0, offsetof(struct img_generation, began_ns)));
	cg_put(g, done);
	cg_forget(g, R0);
}

static void bi_ppid(struct cg *g)
{
	cg_task(g);
	task_field(g, "real_parent", 8);
	pid_of_task(g);
}

static void bi_uid_or_gid(struct cg *g, bool gid)
{
	if (cg_has_subject(g)) {
		cg_task(g);
		task_field(g, "cred", 8);
		cg_struct_field(g, "cred", gid ? "gid" : "uid", 4);
		return;
	}
	cg_ins(g, I_CALL(get_current_uid_gid));
	cg_ins(g, gid ? I_ALU_IMM(RSH, R0, 32) : I_MOV32_REG(R0, R0));
}

static void bi_walltimestamp(struct cg *g)
{
	cg_ins(g, I_CALL(ktime_get_ns));
	cg_map_value(g, R1, cg_map_index(g, IMG_CTL, 0), offsetof(struct img_ctl, wall_offset_ns));
	cg_ins(g, I_LOAD(DW, R1, R1, 0));
	cg_ins(g, I_ALU_REG(ADD, R0, R1));
}

#define ANCESTORS_MOST 48u

/* From this process up to the first one. */
void cg_progeny(struct cg *g, uint8_t pid)
{
	uint32_t yes = cg_label(g), no = cg_label(g), end = cg_label(g);

	cg_ins(g, I_STORE(DW, R10, FP_TMP + 16, pid));
	cg_task(g);
	for (uint32_t k = 0; k < ANCESTORS_MOST; k++) {
		cg_ins(g, I_STORE(DW, R10, FP_TMP + 24, R0));
		pid_of_task(g);
		cg_ins(g, I_LOAD(DW, R1, R10, FP_TMP + 16));
		cg_jcc(g, I_JMP_REG(JEQ, R0, R1, 0), yes);
		if (!g->o->pid_ns) /* there, 0 may be a process of another namespace */
			cg_jcc(g, I_JMP_IMM(JEQ, R0, 0, 0), no);
		cg_ins(g, I_LOAD(DW, R0, R10, FP_TMP + 24));
		task_field(g, "real_parent", 8);
		if (g->o->pid_ns) {
			/* the first task is its own parent */
			cg_ins(g, I_LOAD(DW, R1, R10, FP_TMP + 24));
			cg_jcc(g, I_JMP_REG(JEQ, R0, R1, 0), no);
		}
	}
	cg_put(g, no);
	cg_imm(g, R0, 0);
	cg_jmp(g, end);
	cg_put(g, yes);
	cg_imm(g, R0, 1);
	cg_put(g, end);
}

static void op_progeny(struct cg *g, const struct ir_ins *i)
{
	cg_progeny(g, cg_use(g, i->a, R1));
	cg_forget(g, R0);
	cg_done(g, i->d, R0);
}

/* arg0: the PC when in the kernel, arg1: when in user mode (dtrace_cpc.txt, 2): told apart by the top bit. */
static void bi_pc(struct cg *g, bool user)
{
	uint32_t other = cg_label(g);

	cg_ins(g, I_LOAD(DW, R0, R6, g->o->arch->pc_offset));
	cg_jcc(g, user ? I_JMP_IMM(JSGE, R0, 0, 0) : I_JMP_IMM(JSLT, R0, 0, 0), other);
	cg_imm(g, R0, 0);
	cg_put(g, other);
}

/* Arguments of ERROR (DTrace guide, "dtrace provider"): epid, clause, offset, fault, value. The guide's arg2 is an
 * action; where all actions of a clause are one program it is the number of the clause, which the message has, too. */
static void bi_error_arg(struct cg *g, unsigned n)
{
	static const int16_t off[] = {
		[1] = FP_ERR, [2] = FP_FAULTED, [3] = FP_ERR + 16, [4] = FP_ERR + 16, [5] = FP_ERR + 24
	};

	if (n >= COUNT(off) || !off[n]) {
		cg_imm(g, R0, 0);
		return;
	}
	if (n == 1) {
		cg_ins(g, I_LOAD(W, R0, R10, off[n]));
		cg_ins(g, I_ALU32_IMM(AND, R0, (int32_t)~D_EPID_ERROR));
		return;
	}
	cg_ins(g, n == 5 ? I_LOAD(DW, R0, R10, off[n]) : I_LOAD(W, R0, R10, off[n]));
	if (n == 3)
		cg_ins(g, I_ALU_IMM(RSH, R0, D_FAULT_BITS));
	else if (n == 4)
		cg_ins(g, I_ALU_IMM(AND, R0, (1 << D_FAULT_BITS) - 1));
}

static void bi_arg(struct cg *g, unsigned n)
{
	if (g->in_error)
		bi_error_arg(g, n);
	else if (cg_is_call(g))
		cg_call_arg(g, n);
	else if (g->probe->cls == IMG_POINT)
		cg_point_arg(g, n);
	else if (cg_is_user(g))
		cg_user_arg(g, n);
	else if (n < 2 && g->probe->has_pc)
		bi_pc(g, n == 1);
	else if (n == 2 && g->probe->has_data)
		cg_ins(g, I_LOAD(DW, R0, R6, g->o->arch->data_offset));
	else if (n <= g->probe->more_args && g->probe->cls == IMG_RECORD)
		cg_ins(g, I_LOAD(DW, R0, R6, (int16_t)(8 * n)));
	else
		cg_imm(g, R0, 0);
}

static void op_builtin(struct cg *g, const struct ir_ins *i)
{
	switch (i->x) {
	case BI_THREAD:
		if (!cg_self_find(g))
			bi_thread(g);
		break;
	case BI_GENERATION:
		cg_generation(g);
		break;
	case BI_PID:
		pid_or_tid(g, false);
		break;
	case BI_TID:
		pid_or_tid(g, true);
		break;
	case BI_PPID:
		bi_ppid(g);
		break;
	case BI_UID:
		bi_uid_or_gid(g, false);
		break;
	case BI_GID:
		bi_uid_or_gid(g, true);
		break;
	case BI_CPU:
		cg_ins(g, I_CALL(get_smp_processor_id));
		break;
	case BI_ERRNO:
		cg_call_errno(g);
		break;
	case BI_EPID:
		if (cg_has_rows(g) && !g->in_error)
			cg_row_epid(g, R0);
		else
			cg_imm(g, R0, g->epid);
		break;
	case BI_ID:
		if (cg_has_rows(g) && !g->in_error)
			cg_row_id(g, R0);
		else
			cg_imm(g, R0, g->in_error ? g->o->error_probe : g->probe->id);
		break;
	case BI_TIMESTAMP:
		cg_ins(g, I_CALL(ktime_get_ns));
		break;
	case BI_WALLTIMESTAMP:
		bi_walltimestamp(g);
		break;
	case BI_VTIMESTAMP:
		cg_vtimestamp(g);
		break;
	case BI_CURTHREAD:
		cg_task(g);
		break;
	case BI_USER_REGISTERS:
		if (cg_has_subject(g)) { /* the kernel has those of the current thread only: an address that faults */
			cg_imm(g, R0, 0);
			break;
		}
		cg_ins(g, I_CALL(get_current_task_btf));
		cg_mov(g, R1, R0);
		cg_ins(g, I_CALL(task_pt_regs));
		cg_ins(g, I_NEG(R0));
		cg_ins(g, I_NEG(R0));
		break;
	case BI_IPL:
		cg_imm(g, R0, 0);
		break;
	default:
		bi_arg(g, i->x - BI_ARG0);
		break;
	}
	cg_done(g, i->d, R0);
}

/* args[] are bytes of a record, which is the context. */
static bool has_record(struct cg *g)
{
	if (g->probe->cls != IMG_RECORD || g->in_error)
		cg_fail(g, D_UNSUPPORTED, "line %u: args[] needs a probe that fires for records", g->line);
	return !g->failed;
}

static void op_args(struct cg *g, const struct ir_ins *i)
{
	if (!has_record(g))
		return;
	cg_lea(g, R1, R6, (int32_t)i->O);
	cg_done(g, i->d, R1);
}

static void op_argload(struct cg *g, const struct ir_ins *i)
{
	uint8_t to = cg_def(g, i->d, R1);

	if (!has_record(g))
		return;
	cg_ins(g, I_LOAD_N(i->s, to, R6, (int16_t)i->O));
	cg_done(g, i->d, to);
}

/* ---- objects --------------------------------------------------------------------------- */

#define ZERO_WORDS_MOST 512u /* beyond, a helper's call is shorter: it zeroes what it can't read */

static void op_ozero(struct cg *g, const struct ir_ins *i)
{
	if (i->s > ZERO_WORDS_MOST) {
		cg_addr(g, R1, i->o, i->O);
		cg_imm(g, R2, i->s);
		cg_imm(g, R3, 0);
		cg_ins(g, I_CALL(probe_read_kernel));
		return;
	}
	cg_zero(g, cg_obj(g, i->o, i->O, R4), i->s);
}

static void op_ostore(struct cg *g, const struct ir_ins *i)
{
	struct cg_at at = cg_obj(g, i->o, i->O, R4);
	int64_t imm;

	if (cg_small(g, i->a, &imm))
		cg_ins(g, I_STORE_IMM_N(i->s, at.base, at.off, imm));
	else
		cg_ins(g, I_STORE_N(i->s, at.base, at.off, cg_use(g, i->a, R1)));
}

static void sign_extend(struct cg *g, uint8_t reg, uint32_t bytes)
{
	if (bytes == 8)
		return;
	cg_ins(g, I_ALU_IMM(LSH, reg, 64 - 8 * (int)bytes));
	cg_ins(g, I_ALU_IMM(ARSH, reg, 64 - 8 * (int)bytes));
}

static void ops_emit_load(struct cg *g, const struct ir_ins *i, bool is_signed)
{
	struct cg_at at = cg_obj(g, i->o, i->O, R4);
	uint8_t to = cg_def(g, i->d, R1);

	cg_ins(g, I_LOAD_N(i->s, to, at.base, at.off));
	if (is_signed)
		sign_extend(g, to, i->s);
	cg_done(g, i->d, to);
}

static void op_oload(struct cg *g, const struct ir_ins *i)
{
	ops_emit_load(g, i, false);
}
static void op_oloads(struct cg *g, const struct ir_ins *i)
{
	ops_emit_load(g, i, true);
}

static void op_oadd(struct cg *g, const struct ir_ins *i)
{
	struct cg_at at = cg_obj(g, i->o, i->O, R4);

	cg_ins(g, I_ATOMIC_N(i->s, ADD, at.base, at.off, cg_use(g, i->a, R1)));
}

/* R4 = address of element b; the bound is tested and also masked into the verifier's sight. */
static void ops_emit_element(struct cg *g, const struct ir_ins *i)
{
	uint32_t fine = cg_label(g);

	cg_mov(g, R2, cg_use(g, i->b, R2));
	cg_jcc(g, I_JMP_IMM(JLT, R2, (int32_t)i->i, 0), fine);
	cg_fault(g, FAULT_BADINDEX, R2);
	cg_put(g, fine);
	if (i->x > 1)
		cg_ins(g, I_ALU_IMM(MUL, R2, (int32_t)i->x));
	cg_addr(g, R4, i->o, i->O);
	cg_ins(g, I_ALU_REG(ADD, R4, R2));
}

static void op_ostorex(struct cg *g, const struct ir_ins *i)
{
	ops_emit_element(g, i);
	cg_ins(g, I_STORE_N(i->s, R4, 0, cg_use(g, i->a, R1)));
}

static void ops_emit_loadx(struct cg *g, const struct ir_ins *i, bool is_signed)
{
	ops_emit_element(g, i);
	cg_ins(g, I_LOAD_N(i->s, R1, R4, 0));
	if (is_signed)
		sign_extend(g, R1, i->s);
	cg_done(g, i->d, R1);
}

static void op_oloadx(struct cg *g, const struct ir_ins *i)
{
	ops_emit_loadx(g, i, false);
}
static void op_oloadxs(struct cg *g, const struct ir_ins *i)
{
	ops_emit_loadx(g, i, true);
}

/* Negated twice, an address is a number to the verifier, which a script may compute with. */
static void op_oaddr(struct cg *g, const struct ir_ins *i)
{
	cg_addr(g, R1, i->o, i->O);
	cg_ins(g, I_NEG(R1));
	cg_ins(g, I_NEG(R1));
	cg_done(g, i->d, R1);
}

static void op_ocopy(struct cg *g, const struct ir_ins *i)
{
	cg_copy(g, i->o, i->O, i->p, i->P, i->s);
}

static void op_olit(struct cg *g, const struct ir_ins *i)
{
	const char *s = g->p->lit[i->x];
	size_t n = __builtin_strlen(s);

	cg_bytes(g, cg_obj(g, i->o, i->O, R4), s, n < i->s ? n : i->s - 1, i->s);
}

#define COMM_BYTES 16u /* TASK_COMM_LEN */

static void op_obuiltin(struct cg *g, const struct ir_ins *i)
{
	if (i->x != BS_EXECNAME && cg_has_rows(g) && !g->in_error && cg_row_has_digits(g, i->x))
		cg_pid(g);
	if (i->x != BS_EXECNAME && cg_has_rows(g) && !g->in_error &&
	    cg_row_text(g, i->x, cg_obj(g, i->o, i->O, R4), i->s))
		return;
	if (i->x != BS_EXECNAME) {
		const char *s = cg_prog_builtin(g, i->x);
		size_t n = __builtin_strlen(s);

		cg_bytes(g, cg_obj(g, i->o, i->O, R4), s, n < i->s ? n : i->s - 1, i->s);
		return;
	}
	/* Linux 6.1 leaves what lies behind the NUL */
	cg_zero(g, cg_obj(g, i->o, i->O, R4), i->s);
	if (cg_has_subject(g)) {
		cg_task(g);
		cg_mov(g, R3, R0);
		cg_struct_named(g, "task_struct", "comm");
		cg_ins(g, I_ALU_IMM(ADD, R3, 0));
	}
	cg_addr(g, R1, i->o, i->O);
	cg_imm(g, R2, i->s < COMM_BYTES ? i->s : COMM_BYTES);
	if (cg_has_subject(g))
		cg_ins(g, I_CALL(probe_read_kernel_str));
	else
		cg_ins(g, I_CALL(get_current_comm));
}

/* Reads from an address of the script's; a bad one faults with that address. */
static void read_at(struct cg *g, const struct ir_ins *i, bool str)
{
	uint32_t fine = cg_label(g);
	bool user = i->x == 1;

	if (str || i->s % 8)
		cg_zero(g, cg_obj(g, i->o, i->O, R4), str ? cg_str_padded(g, i) : (i->s + 7) & ~7u);
	cg_mov(g, R3, cg_use(g, i->a, R3));
	cg_addr(g, R1, i->o, i->O);
	cg_imm(g, R2, i->s);
	if (str)
		cg_ins(g, user ? I_CALL(probe_read_user_str) : I_CALL(probe_read_kernel_str));
	else
		cg_ins(g, user ? I_CALL(probe_read_user) : I_CALL(probe_read_kernel));
	cg_jcc(g, I_JMP_IMM(JSGE, R0, 0, 0), fine);
	cg_fault(g, FAULT_BADADDR, cg_use(g, i->a, R3));
	cg_put(g, fine);
}

static void op_oread(struct cg *g, const struct ir_ins *i)
{
	read_at(g, i, false);
}
static void op_oreadstr(struct cg *g, const struct ir_ins *i)
{
	read_at(g, i, true);
}

/* R1 = address of byte b of o, R2 = e: b + e is at most imm, in the verifier's sight too, but that it adds the bounds
 * of both: clause_mark() leaves room for it behind the object. */
static void ops_emit_counted(struct cg *g, const struct ir_ins *i)
{
	uint32_t sized = cg_label(g), placed = cg_label(g), bad = cg_label(g);

	cg_mov(g, R2, cg_use(g, i->e, R2));
	cg_jcc(g, I_JMP_IMM(JLE, R2, (int32_t)i->i, 0), sized);
	cg_fault(g, FAULT_BADSIZE, R2);
	cg_put(g, sized);
	cg_mov(g, R3, cg_use(g, i->b, R3));
	cg_jcc(g, I_JMP_IMM(JGT, R3, (int32_t)i->i, 0), bad);
	cg_imm(g, R4, i->i);
	cg_ins(g, I_ALU_REG(SUB, R4, R3));
	cg_jcc(g, I_JMP_REG(JGE, R4, R2, 0), placed);
	cg_put(g, bad);
	cg_fault(g, FAULT_BADADDR, R3);
	cg_put(g, placed);
	cg_addr(g, R1, i->o, i->O);
	cg_ins(g, I_ALU_REG(ADD, R1, R3));
}

static void op_oreadn(struct cg *g, const struct ir_ins *i)
{
	uint32_t fine = cg_label(g);

	ops_emit_counted(g, i);
	cg_mov(g, R3, cg_use(g, i->a, R3));
	cg_ins(g, i->x ? I_CALL(probe_read_user) : I_CALL(probe_read_kernel));
	cg_jcc(g, I_JMP_IMM(JSGE, R0, 0, 0), fine);
	cg_fault(g, FAULT_BADADDR, cg_use(g, i->a, R3));
	cg_put(g, fine);
}

static void op_owriten(struct cg *g, const struct ir_ins *i)
{
	uint32_t fine = cg_label(g);

	ops_emit_counted(g, i);
	cg_jcc(g, I_JMP_IMM(JLT, R2, 1, 0), fine);
	cg_mov(g, R3, R2);
	cg_mov(g, R2, R1);
	cg_mov(g, R1, cg_use(g, i->a, R1));
	cg_ins(g, I_CALL(probe_write_user));
	cg_jcc(g, I_JMP_IMM(JSGE, R0, 0, 0), fine);
	cg_fault(g, FAULT_BADADDR, cg_use(g, i->a, R3));
	cg_put(g, fine);
}

/* What the tracer runs itself, it runs by a system call: the kernel's frames are not the probe's. */
static void op_ostack(struct cg *g, const struct ir_ins *i)
{
	cg_zero(g, cg_obj(g, i->o, i->O, R4), i->s);
	if (!i->x && g->probe->cls == IMG_TEST) {
		cg_imm(g, R0, 0);
		return;
	}
	if (cg_unwinds(g, i->x)) {
		cg_unwind(g, i->s / 8);
		cg_ins(g, I_STORE(DW, R10, FP_TMP, R0));
		cg_addr(g, R1, i->o, i->O);
		cg_unwind_copy(g, i->s);
		cg_ins(g, I_LOAD(DW, R0, R10, FP_TMP));
		return;
	}
	cg_stack_flags(g, R4, i->x, (uint32_t)i->i);
	cg_addr(g, R2, i->o, i->O);
	cg_imm(g, R3, i->s);
	cg_get_stack(g, i->x);
}

/*
 * A stack ends before its first address of 0, for ustack() as here: where a program keeps no frame pointers, the
 * kernel's walk may go on behind one by what stands in that register.
 */
static void op_stackdepth(struct cg *g, const struct ir_ins *i)
{
	const uint32_t next = cg_label(g), end = cg_label(g);

	op_ostack(g, i);
	cg_addr(g, R1, i->o, i->O);
	cg_imm(g, R0, 0);
	cg_put(g, next);
	cg_jcc(g, I_JMP_IMM(JGE, R0, (int32_t)i->s / 8, 0), end);
	cg_ins(g, I_LOAD(DW, R2, R1, 0));
	cg_jcc(g, I_JMP_IMM(JEQ, R2, 0, 0), end);
	cg_ins(g, I_ALU_IMM(ADD, R1, 8));
	cg_ins(g, I_ALU_IMM(ADD, R0, 1));
	cg_jmp(g, next);
	cg_put(g, end);
	cg_done(g, i->d, R0);
}

/* ---- variables with keys --------------------------------------------------------------- */

static void op_dynget(struct cg *g, const struct ir_ins *i)
{
	uint32_t n = g->p->var[i->x].value_size, none = cg_label(g), end = cg_label(g);
	struct cg_at to;

	if (g->self_at[i->x] != CG_SELF_HASH) {
		cg_self_get(g, i);
		return;
	}
	cg_map(g, R1, cg_map_index(g, IMG_VAR, i->x));
	cg_addr(g, R2, i->p, 0);
	cg_ins(g, I_CALL(map_lookup_elem));
	cg_jcc(g, I_JMP_IMM(JEQ, R0, 0, 0), none);
	if (n > 64) {
		cg_mov(g, R3, R0);
		cg_addr(g, R1, i->o, 0);
		cg_imm(g, R2, n);
		cg_ins(g, I_CALL(probe_read_kernel));
	} else {
		to = cg_obj(g, i->o, 0, R4);
		for (uint32_t k = 0; k < n; k += 8) {
			cg_ins(g, I_LOAD(DW, R3, R0, k));
			cg_ins(g, I_STORE(DW, to.base, to.off + (int32_t)k, R3));
		}
	}
	cg_jmp(g, end);
	cg_put(g, none);
	to = cg_obj(g, i->o, 0, R4);
	cg_zero(g, to, n);
	if (g->p->var[i->x].is_string)
		cg_ins(g, I_STORE_IMM(DW, to.base, to.off, D_NULL_STRING));
	cg_put(g, end);
}

/* A drop ends the clause, without an error; what it had recorded is not told. */
void cg_drop_variable(struct cg *g)
{
	cg_count(g, offsetof(struct img_drops, dynvars));
	if (g->clause->speculates)
		cg_spec_give_back(g, cg_obj(g, g->clause->record, 0, R4));
	cg_jmp(g, g->clause_end);
}

static void op_dynset(struct cg *g, const struct ir_ins *i)
{
	uint32_t n = g->p->var[i->x].value_size, keep = cg_label(g), end = cg_label(g);
	struct cg_at at = cg_obj(g, i->o, 0, R4);

	const int32_t none = g->p->var[i->x].is_string ? D_NULL_STRING : 0;

	if (g->self_at[i->x] != CG_SELF_HASH) {
		cg_self_set(g, i);
		return;
	}
	for (uint32_t k = 0; k < (none ? 8 : n); k += 8) {
		cg_ins(g, I_LOAD(DW, R1, at.base, at.off + (int32_t)k));
		cg_jcc(g, I_JMP_IMM(JNE, R1, none, 0), keep);
	}
	cg_map(g, R1, cg_map_index(g, IMG_VAR, i->x));
	cg_addr(g, R2, i->p, 0);
	cg_ins(g, I_CALL(map_delete_elem));
	cg_jmp(g, end);
	cg_put(g, keep);
	if (!cg_var_room(g, i->x)) {
		cg_drop_variable(g);
		cg_put(g, end);
		return;
	}
	cg_map(g, R1, cg_map_index(g, IMG_VAR, i->x));
	cg_addr(g, R2, i->p, 0);
	cg_addr(g, R3, i->o, 0);
	cg_imm(g, R4, MAP_ANY);
	cg_ins(g, I_CALL(map_update_elem));
	cg_jcc(g, I_JMP_IMM(JEQ, R0, 0, 0), end);
	cg_drop_variable(g);
	cg_put(g, end);
}

/* ---- handing over ------------------------------------------------------------------------- */

static void op_exit(struct cg *g, const struct ir_ins *i)
{
	uint32_t end = cg_label(g);

	cg_map_value(g, R4, cg_map_index(g, IMG_CTL, 0), 0);
	/* The first one gives the status; END, which runs after that, may give another. */
	if (__builtin_strcmp(g->probe->name, "END")) {
		cg_ins(g, I_LOAD(DW, R1, R4, offsetof(struct img_ctl, exited)));
		cg_jcc(g, I_JMP_IMM(JNE, R1, 0, 0), end);
	}
	cg_ins(g, I_STORE(DW, R4, offsetof(struct img_ctl, status), cg_use(g, i->a, R1)));
	cg_ins(g, I_STORE_IMM(DW, R4, offsetof(struct img_ctl, exited), 1));
	cg_put(g, end);
}

static void op_leave(struct cg *g, const struct ir_ins *i)
{
	int64_t imm;

	/* A word of memory instead of a constant: the verifier must not know that the clauses behind are out of
	 * reach. */
	if (cg_small(g, i->a, &imm)) {
		cg_map_value(g, R1, cg_map_index(g, IMG_CTL, 0), offsetof(struct img_ctl, exited));
		cg_ins(g, I_LOAD(DW, R1, R1, 0));
		cg_jcc(g, I_JMP_IMM(JNE, R1, 0, 0), g->out);
		return;
	}
	cg_jcc(g, I_JMP_IMM(JNE, cg_use(g, i->a, R1), 0, 0), g->out);
}

static void op_record(struct cg *g, const struct ir_ins *i)
{
	const struct d_clause *c = g->clause;
	struct cg_at at = cg_obj(g, i->o, 0, R4);

	cg_ins(g, I_CALL(get_smp_processor_id));
	if (cg_has_rows(g) && !g->in_error) {
		cg_row_epid(g, R1);
		cg_ins(g, I_STORE(W, at.base, at.off, R1));
	} else {
		cg_ins(g, I_STORE_IMM(W, at.base, at.off, (int32_t)g->epid));
	}
	cg_ins(g, I_STORE(W, at.base, at.off + 4, R0));
	cg_emit_record(g, at, c->record_size,
		       !cg_is_event(g) || c->control ? CG_RING_CONTROL :
		       c->settles                    ? CG_RING_CPU_WAKE :
						       CG_RING_CPU,
		       c->speculates);
}

/* ---- which is which ---------------------------------------------------------------------------- */

static cg_op *const op[IR_NOPS] = {
	[IR_NOP] = op_nop,
	[IR_CONST] = op_const,
	[IR_MOV] = op_mov,
	[IR_ADD] = op_add,
	[IR_SUB] = op_sub,
	[IR_MUL] = op_mul,
	[IR_DIVU] = op_divu,
	[IR_DIVS] = op_divs,
	[IR_MODU] = op_modu,
	[IR_MODS] = op_mods,
	[IR_AND] = op_and,
	[IR_OR] = op_or,
	[IR_XOR] = op_xor,
	[IR_SHL] = op_shl,
	[IR_SHR] = op_shr,
	[IR_SAR] = op_sar,
	[IR_NEG] = op_neg,
	[IR_NOT] = op_not,
	[IR_SEXT] = op_sext,
	[IR_ZEXT] = op_zext,
	[IR_CMP] = op_cmp,
	[IR_JMP] = op_jmp,
	[IR_JCMP] = op_jcmp,
	[IR_LABEL] = op_label,
	[IR_FAULT] = op_fault,
	[IR_BUILTIN] = op_builtin,
	[IR_ARGS] = op_args,
	[IR_ARGLOAD] = op_argload,
	[IR_OZERO] = op_ozero,
	[IR_OSTORE] = op_ostore,
	[IR_OLOAD] = op_oload,
	[IR_OLOADS] = op_oloads,
	[IR_OADD] = op_oadd,
	[IR_OSTOREX] = op_ostorex,
	[IR_OLOADX] = op_oloadx,
	[IR_OLOADXS] = op_oloadxs,
	[IR_OADDR] = op_oaddr,
	[IR_OCOPY] = op_ocopy,
	[IR_OLIT] = op_olit,
	[IR_OBUILTIN] = op_obuiltin,
	[IR_OREAD] = op_oread,
	[IR_OREADSTR] = op_oreadstr,
	[IR_OSTACK] = op_ostack,
	[IR_STACKDEPTH] = op_stackdepth,
	[IR_STACKID] = cg_stackid,
	[IR_SLEN] = cg_slen,
	[IR_SCMP] = cg_scmp,
	[IR_SSUB] = cg_ssub,
	[IR_SJOIN] = cg_sjoin,
	[IR_SINDEX] = cg_sindex,
	[IR_SBASE] = cg_sbase,
	[IR_SDIR] = cg_sdir,
	[IR_DYNGET] = op_dynget,
	[IR_DYNSET] = op_dynset,
	[IR_AGG] = cg_agg,
	[IR_RECORD] = op_record,
	[IR_EXIT] = op_exit,
	[IR_END] = op_nop,
	[IR_LEAVE] = op_leave,
	[IR_HTON] = op_hton,
	[IR_RAND] = op_rand,
	[IR_SRINDEX] = cg_srindex,
	[IR_SPECULATE] = cg_speculate,
	[IR_SPECULATION] = cg_speculation,
	[IR_SETTLE] = cg_settle,
	[IR_CHILL] = cg_chill,
	[IR_SIGNAL] = cg_signal,
	[IR_PROGENY] = op_progeny,
	[IR_COUNTER] = cg_counter,
	[IR_VCOUNTER] = cg_vcounter,
	[IR_SSPAN] = cg_sspan,
	[IR_SCLEAN] = cg_sclean,
	[IR_OREADN] = op_oreadn,
	[IR_OWRITEN] = op_owriten,
};

void cg_dispatch(struct cg *g, const struct ir_ins *i)
{
	g->line = i->line;
	op[i->op](g, i);
}
