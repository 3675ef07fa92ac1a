/*
 * cg_point.c: programs at tracepoints and functions of the kernel.
 *
 * The context of a tracepoint is a word for each of its arguments.  At a function it is that of fentry and fexit, whose
 * words helpers of the kernel's read; or, by kprobes, registers.  What a function returned is there at its return, its
 * arguments by fexit alone.  A probe may be part of a tracepoint's firings, those of which all conditions hold, and the
 * program ends before anything is counted where one does not.  A condition compares a word, or what is found when the
 * word is taken for the address of a struct of the kernel.
 *
 * Most probes are about the thread that runs; one about another has a subject, the word that is its task_struct.  There
 * all that D says of the thread is read from that.  The kernel checks such a program with the types of the arguments,
 * since the helper that walks the stack of another thread takes nothing but a pointer of that type; as an operand of D
 * a word is a number.
 */
#include "bpf/cg_int.h"

const struct bpf_point *cg_point(const struct cg *g)
{
	return g->probe->cls == IMG_POINT ? &g->probe->point[g->point] : NULL;
}

bool cg_has_subject(const struct cg *g)
{
	return cg_point(g) && cg_point(g)->subject;
}

bool cg_point_is_typed(const struct cg *g)
{
	return cg_point(g) && (cg_point(g)->subject || (cg_point(g)->at && !g->o->by_kprobe));
}

/* R0 = argument n of the function. */
static void point_function_word(struct cg *g, unsigned n)
{
	if (g->o->by_kprobe) {
		cg_function_arg(g, n, false);
		return;
	}
	cg_mov(g, R1, R6);
	cg_imm(g, R2, n);
	cg_lea(g, R3, R10, FP_TMP);
	cg_ins(g, I_STORE_IMM(DW, R10, FP_TMP, 0));
	cg_ins(g, I_CALL(get_func_arg));
	cg_ins(g, I_LOAD(DW, R0, R10, FP_TMP));
}

/* R0 = what it returned. */
static void point_function_result(struct cg *g)
{
	if (g->o->by_kprobe) {
		cg_ins(g, I_LOAD(DW, R0, R6, g->o->arch->regs->result));
		return;
	}
	cg_mov(g, R1, R6);
	cg_lea(g, R2, R10, FP_TMP);
	cg_ins(g, I_STORE_IMM(DW, R10, FP_TMP, 0));
	cg_ins(g, I_CALL(get_func_ret));
	cg_ins(g, I_LOAD(DW, R0, R10, FP_TMP));
}

/* to = word n, as a number. */
void cg_point_word(struct cg *g, uint8_t to, unsigned n)
{
	if (cg_point(g)->at) {
		if (n == POINT_RESULT)
			point_function_result(g);
		else
			point_function_word(g, n);
		if (to != R0)
			cg_mov(g, to, R0);
		return;
	}
	cg_ins(g, I_LOAD(DW, to, R6, (int16_t)(8 * n)));
	if (cg_has_subject(g)) { /* the verifier no longer knows its type */
		cg_ins(g, I_NEG(to));
		cg_ins(g, I_NEG(to));
	}
}

/* to = its subject, with its type: what the verifier lets a program read from without a helper's call. */
void cg_point_subject(struct cg *g, uint8_t to)
{
	cg_ins(g, I_LOAD(DW, to, R6, (int16_t)(8 * (cg_point(g)->subject - 1))));
}

/* R0 = address of the task_struct of the thread that the probe is about. */
void cg_task(struct cg *g)
{
	if (cg_has_subject(g))
		cg_point_word(g, R0, cg_point(g)->subject - 1u);
	else
		cg_ins(g, I_CALL(get_current_task));
}

/* R0 = argument n; a word that is not there is 0. The result of a function stands behind its arguments, or is argument
 * 1. */
void cg_point_arg(struct cg *g, unsigned n)
{
	const struct bpf_point *p = cg_point(g);

	if (p->call_args)
		cg_call_arg(g, n + p->call_args - 1u);
	else if (p->at == POINT_RETURN && n == (p->nargs ? p->nargs : 1) && p->has_result)
		point_function_result(g);
	else if (p->wait && n)
		cg_ins(g, n > 2 ? I_MOV_IMM(R0, 0) : I_LOAD(DW, R0, R10, n == 1 ? FP_WAIT : FP_READS));
	else if (n < p->nargs)
		cg_point_word(g, R0, n);
	else
		cg_imm(g, R0, n && n == p->constant_at ? p->constant : 0);
}

#define ETHERTYPE_IP 0x0008 /* as the packet has them: in network order */
#define ETHERTYPE_IPV6 0xdd86
#define IPV4_PROTOCOL 9 /* where its header has the protocol */
#define IPV6_NEXT_HEADER 6

/* Goes to `out` unless the sk_buff whose address is R0 holds such a packet. Headers begin at its data when it was
 * received, and somewhere behind its head when it is sent. */
static void when_packet(struct cg *g, const struct bpf_when *w, uint32_t out)
{
	uint32_t is_ip = cg_label(g);

	cg_mov(g, R8, R0);
	cg_struct_field(g, "sk_buff", "protocol", 2);
	cg_imm(g, R9, IPV4_PROTOCOL);
	cg_jcc(g, I_JMP_IMM(JEQ, R0, ETHERTYPE_IP, 0), is_ip);
	cg_jcc(g, I_JMP_IMM(JNE, R0, ETHERTYPE_IPV6, 0), out);
	cg_imm(g, R9, IPV6_NEXT_HEADER);
	cg_put(g, is_ip);
	if (!w->value)
		return;
	if (w->test == WHEN_SENT) {
		cg_mov(g, R0, R8);
		cg_struct_field(g, "sk_buff", "network_header", 2);
		cg_ins(g, I_ALU_REG(ADD, R9, R0));
	}
	cg_mov(g, R0, R8);
	cg_struct_field(g, "sk_buff", w->test == WHEN_SENT ? "head" : "data", 8);
	cg_mov(g, R3, R0);
	cg_ins(g, I_ALU_REG(ADD, R3, R9));
	cg_lea(g, R1, R10, FP_TMP);
	cg_imm(g, R2, 1);
	cg_ins(g, I_STORE_IMM(DW, R10, FP_TMP, 0));
	cg_ins(g, I_CALL(probe_read_kernel));
	cg_ins(g, I_LOAD(DW, R0, R10, FP_TMP));
	cg_jcc(g, I_JMP_IMM(JNE, R0, w->value, 0), out);
}

/* Goes to `out` unless R0 is what the condition wants. */
static void when_test(struct cg *g, const struct bpf_when *w, uint32_t out)
{
	switch (w->test) {
	case WHEN_EQ:
		cg_jcc(g, I_JMP_IMM(JNE, R0, w->value, 0), out);
		break;
	case WHEN_NE:
		cg_jcc(g, I_JMP_IMM(JEQ, R0, w->value, 0), out);
		break;
	case WHEN_LT:
		cg_jcc(g, I_JMP_IMM(JSGE, R0, w->value, 0), out);
		break;
	case WHEN_GE:
		cg_jcc(g, I_JMP_IMM(JSLT, R0, w->value, 0), out);
		break;
	case WHEN_ABOVE:
		cg_jcc(g, I_JMP_IMM(JLE, R0, w->value, 0), out);
		break;
	case WHEN_SET:
		cg_ins(g, I_ALU_IMM(AND, R0, w->value));
		cg_jcc(g, I_JMP_IMM(JEQ, R0, 0, 0), out);
		break;
	case WHEN_CLEAR:
		cg_ins(g, I_ALU_IMM(AND, R0, w->value));
		cg_jcc(g, I_JMP_IMM(JNE, R0, 0, 0), out);
		break;
	case WHEN_SENT:
	case WHEN_RECEIVED:
		when_packet(g, w, out);
		break;
	case WHEN_IN:
		cg_jcc(g, I_JMP_IMM(JGT, R0, 31, 0), out);
		cg_imm(g, R1, w->value);
		cg_ins(g, I_ALU_REG(RSH, R1, R0));
		cg_ins(g, I_ALU_IMM(AND, R1, 1));
		cg_jcc(g, I_JMP_IMM(JEQ, R1, 0, 0), out);
		break;
	}
}

static void when_begin(struct cg *g, const struct bpf_when *w, uint32_t out)
{
	const uint32_t steps = !w->at[0].type ? 0 : !w->at[1].type ? 1 : 2;

	cg_point_word(g, R0, w->word);
	for (uint32_t i = 0; i < steps; i++)
		cg_struct_field(g, w->at[i].type, w->at[i].field, i + 1 < steps ? 8 : w->bytes);
	if (w->bytes && w->bytes < 8) {
		cg_ins(g, I_ALU_IMM(LSH, R0, 64 - 8 * w->bytes));
		cg_ins(g, I_ALU_IMM(ARSH, R0, 64 - 8 * w->bytes));
	}
	when_test(g, w, out);
}

void cg_point_begin(struct cg *g, uint32_t out, bool whole)
{
	const struct bpf_point *p = cg_point(g);

	if (p->at && !g->o->arch->regs) {
		cg_fail(g, D_UNSUPPORTED, "how functions of this machine are called is not known");
		return;
	}
	if (p->in_call)
		cg_call_only(g, p, out);
	for (uint32_t i = 0; i < p->nwhen && whole; i++)
		when_begin(g, &p->when[i], out);
	if (p->wait)
		cg_wait_begin(g, out, whole);
}
