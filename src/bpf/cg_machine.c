/*
 * cg_machine.c: actions that change the machine: chill(), raise(), stop().
 *
 * A program can't sleep, so chill() reads the clock until the time has come, in a callback of bpf_loop(), which ends
 * after a fixed number of turns whatever the clock shows. A signal goes to the process that fires the probe, as soon as
 * it may be sent. The vm has no process, and its clock stands still during a firing: there the compiler has refused
 * both.
 */
#include "bpf/cg_int.h"

#define CHILL_MOST 500000000  /* ns of one call; DTrace Guide, "chill()" */
#define CHILL_TURNS (1 << 23) /* what the kernel grants a loop */
#define CHILL_READS 8         /* of the clock in each turn, 10 ns or more each */

void cg_chill(struct cg *g, const struct ir_ins *i)
{
	uint32_t fine = cg_label(g);

	assert(g->o->arch != &bpf_arch_vm);
	if (g->chill_loop == NO_LABEL)
		g->chill_loop = cg_label(g);
	cg_mov(g, R1, cg_use(g, i->a, R1));
	cg_jcc(g, I_JMP_IMM(JLE, R1, CHILL_MOST, 0), fine);
	cg_fault(g, FAULT_ILLOP, R1);
	cg_put(g, fine);
	cg_ins(g, I_STORE(DW, R10, FP_TMP, R1));
	cg_ins(g, I_CALL(ktime_get_ns));
	cg_ins(g, I_LOAD(DW, R1, R10, FP_TMP));
	cg_ins(g, I_ALU_REG(ADD, R0, R1));
	cg_ins(g, I_STORE(DW, R10, FP_TMP, R0));
	cg_imm(g, R1, CHILL_TURNS);
	cg_func(g, R2, g->chill_loop);
	cg_lea(g, R3, R10, FP_TMP);
	cg_imm(g, R4, 0);
	cg_ins(g, I_CALL(loop));
}

/* The callback: R2 leads to the time when it is over. */
void cg_chill_function(struct cg *g)
{
	uint32_t wait = cg_label(g);

	if (g->chill_loop == NO_LABEL)
		return;
	g->func[g->nfuncs++] = (struct img_func){ .ins = g->nins };
	assert(g->nfuncs <= IMG_FUNCS_MOST);
	cg_put(g, g->chill_loop);
	cg_ins(g, I_LOAD(DW, R6, R2, 0));
	for (unsigned k = 0; k < CHILL_READS; k++)
		cg_ins(g, I_CALL(ktime_get_ns));
	cg_jcc(g, I_JMP_REG(JLT, R0, R6, 0), wait);
	cg_imm(g, R0, 1);
	cg_ins(g, I_EXIT());
	cg_put(g, wait);
	cg_imm(g, R0, 0);
	cg_ins(g, I_EXIT());
}

void cg_signal(struct cg *g, const struct ir_ins *i)
{
	assert(g->o->arch != &bpf_arch_vm);
	cg_mov(g, R1, cg_use(g, i->a, R1));
	cg_ins(g, I_CALL(send_signal));
}
