/*
 * cg_stack.c: frames of the kernel's stack.
 *
 * A program at a tracepoint is called by the function in which the tracepoint is, but not directly: bpf_trace_runN()
 * called the program, on some kernels __bpf_trace_NAME() that one, and __traceiter_NAME() that one while anybody else
 * listens to the tracepoint.  So how many frames are not the probe's can change between two firings.  The first two
 * never are: the program and bpf_trace_runN(), or on arm64 the program twice.  The program looks at the three behind
 * them: a table (struct img_dispatch, which the kernel's symbols fill) says of an address whether it is in such a
 * function.  Then it asks for the stack without these.
 *
 * The table has the addresses where such functions begin and end, in order.  An address is inside if the number of
 * those that are not above it is odd.  The search is without branches, or the verifier would visit each of its paths.
 * As the same addresses come again and again, the last that was found of each frame is compared first.
 *
 * A stack that is a key is kept with those frames, under an id that says so (STACK_ID_DISPATCH), and who shows it
 * leaves them out: to walk a few frames beforehand costs a third of the whole.
 */
#include "bpf/cg_int.h"

#define NEVER_OURS 2
static_assert((DISPATCH_MOST & (DISPATCH_MOST - 1)) == 0 && 8 * DISPATCH_MOST <= 32768 * 2,
	      "offsets of loads are of 16 bits");

bool cg_stack_has_dispatch(const struct cg *g)
{
	return cg_is_call(g) || (cg_point(g) && !cg_point(g)->at && !cg_has_subject(g));
}

/* A function of the kernel's calls fentry and fexit programs by a trampoline, kprobes have the registers of the
 * function. */
static uint32_t stack_trampoline_frames(const struct cg *g)
{
	return cg_point(g) && cg_point(g)->at && !g->o->by_kprobe ? 2 : 0;
}

/* To `out` if the n-th frame at FP_TMP is in no function of the table. R1 to R5 change. */
static void stack_frame_test(struct cg *g, unsigned n, uint32_t out)
{
	enum { OUTSIDE = offsetof(struct img_dispatch, outside) - offsetof(struct img_dispatch, inside) };
	const uint32_t table = cg_map_index(g, IMG_DISPATCH, 0), next = cg_label(g), found = cg_label(g),
		       last = offsetof(struct img_dispatch, inside) + 8 * n;

	cg_ins(g, I_LOAD(DW, R2, R10, (int16_t)(FP_TMP + 8 * (int)n)));
	cg_map_value(g, R1, table, last);
	cg_ins(g, I_LOAD(DW, R3, R1, 0));
	cg_jcc(g, I_JMP_REG(JEQ, R3, R2, 0), next);
	cg_ins(g, I_LOAD(DW, R3, R1, OUTSIDE));
	cg_jcc(g, I_JMP_REG(JEQ, R3, R2, 0), out);
	cg_map_value(g, R1, table, 0);
	cg_imm(g, R3, 0);
	for (uint32_t step = DISPATCH_MOST / 2; step; step /= 2) { /* R3 bytes of the table are not above */
		cg_mov(g, R4, R1);
		cg_ins(g, I_ALU_REG(ADD, R4, R3));
		cg_ins(g, I_LOAD(DW, R5, R4, (int16_t)(8 * step - 8)));
		cg_mov(g, R4, R2);
		cg_ins(g, I_ALU_REG(SUB, R4, R5)); /* both are of the upper half */
		cg_ins(g, I_ALU_IMM(ARSH, R4, 63));
		cg_ins(g, I_ALU_IMM(XOR, R4, -1));
		cg_ins(g, I_ALU_IMM(AND, R4, (int32_t)(8 * step)));
		cg_ins(g, I_ALU_REG(ADD, R3, R4)); /* Linux 6.1 forgets the bounds of what OR makes */
	}
	cg_map_value(g, R1, table, last);
	cg_ins(g, I_ALU_IMM(AND, R3, 8));
	cg_jcc(g, I_JMP_IMM(JNE, R3, 0, 0), found);
	cg_ins(g, I_STORE(DW, R1, OUTSIDE, R2));
	cg_jmp(g, out);
	cg_put(g, found);
	cg_ins(g, I_STORE(DW, R1, 0, R2));
	cg_put(g, next);
}

/* To FP_TMP: frames behind the first two. */
static void stack_frames(struct cg *g, unsigned n)
{
	cg_mov(g, R1, R6);
	cg_lea(g, R2, R10, FP_TMP);
	cg_imm(g, R3, 8 * n);
	cg_imm(g, R4, NEVER_OURS);
	cg_ins(g, I_CALL(get_stack));
}

/*
 * R0 = how many frames are those that lead from the probe to the program.  Each frame costs time to find: while nobody
 * else listens, one is enough.
 */
static void stack_dispatch_frames(struct cg *g)
{
	uint32_t end = cg_label(g);

	cg_zero(g, (struct cg_at){ R10, FP_TMP }, 8 * DISPATCH_FRAMES); /* some kernels want it written */
	stack_frames(g, 1);
	for (unsigned n = 0; n < DISPATCH_FRAMES; n++) {
		if (n == 1)
			stack_frames(g, DISPATCH_FRAMES);
		cg_imm(g, R0, NEVER_OURS + n);
		stack_frame_test(g, n, end);
	}
	cg_imm(g, R0, NEVER_OURS + DISPATCH_FRAMES);
	cg_put(g, end);
	cg_forget(g, R0);
}

void cg_stack_flags(struct cg *g, uint8_t to, bool user, uint32_t skip)
{
	if (user || !cg_stack_has_dispatch(g)) {
		cg_imm(g, to,
		       user ? STACK_USER | (skip & STACK_SKIP) : (skip + stack_trampoline_frames(g)) & STACK_SKIP);
		return;
	}
	stack_dispatch_frames(g);
	if (skip)
		cg_ins(g, I_ALU_IMM(ADD, R0, (int32_t)skip));
	cg_mov(g, to, R0);
}

void cg_stack_key_flags(struct cg *g, uint8_t to, bool user)
{
	if (!user && cg_stack_has_dispatch(g))
		cg_imm(g, to, NEVER_OURS);
	else
		cg_stack_flags(g, to, user, 0);
}

void cg_get_stack(struct cg *g, bool user)
{
	if (!cg_has_subject(g)) {
		cg_mov(g, R1, R6);
		cg_ins(g, I_CALL(get_stack));
		return;
	}
	if (user)
		cg_fail(g, D_UNSUPPORTED,
			"line %u: %s:::%s is about a thread whose memory the kernel has not switched to yet, "
			"so its user stack can't be walked: take it where the thread goes (off-cpu)",
			g->line, g->probe->prov, g->probe->name);
	cg_point_subject(g, R1);
	cg_ins(g, I_CALL(get_task_stack));
}
