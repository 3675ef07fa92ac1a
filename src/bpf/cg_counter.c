/*
 * cg_counter.c: counter() and vcounter(), what a hardware counter has counted.
 *
 * The kernel reads the perf event of this CPU, and says if it does not count.  A counter that is read is never scaled
 * up from a part of the time: it counts always, or the clause faults.
 *
 * vcounter() adds up what was counted while this thread was on a CPU.  At each switch of threads a program
 * (kernel/thread_count.c) adds to the thread that leaves and writes down where the next one begins.  So here it is the
 * sum, and what the CPU has counted since this thread came.  That is true only if both programs have seen the same
 * switches: the kernel counts how often a thread left a CPU, and where its count is another one than ours, a switch was
 * not seen.  Then the thread begins anew from here, and what it did on the CPU before is lost, and counted as lost.
 *
 * A program can be preempted between its look at the thread and that at the counter, so the number of switches is asked
 * for again behind both.
 */
#include <string.h>

#include "bpf/cg_int.h"

#define TRIES 2                                     /* to read without a switch in between */
enum { COUNTER_CPU_THIS = -1, STORAGE_CREATE = 1 }; /* BPF_F_CURRENT_CPU, of 32 bits; BPF_LOCAL_STORAGE_GET_F_CREATE */
struct counter_value {
	uint64_t counter, enabled, running;
}; /* what perf_event_read_value() writes */

enum { /* beside FP_TMP, where the counter's value is */
       FP_SWITCHES = FP_TMP + (int)sizeof(struct counter_value),
       FP_THREAD = FP_KEY, /* address of the thread's img_thread_count of this counter */
};

/* FP_TMP = the value of counter x on this CPU; where it doesn't count, on to `bad`. */
static void counter_read(struct cg *g, enum img_map_use use, uint32_t x, uint32_t bad)
{
	cg_map(g, R1, cg_map_index(g, use, x));
	cg_ins(g, I_MOV32_IMM(R2, COUNTER_CPU_THIS));
	cg_lea(g, R3, R10, FP_TMP);
	cg_imm(g, R4, sizeof(struct counter_value));
	cg_ins(g, I_CALL(perf_event_read_value));
	cg_jcc(g, I_JMP_IMM(JNE, R0, 0, 0), bad);
}

static void counter_fault(struct cg *g, uint32_t bad)
{
	cg_put(g, bad);
	cg_fault(g, FAULT_COUNTER, R10);
}

void cg_counter(struct cg *g, const struct ir_ins *i)
{
	uint32_t bad = cg_label(g), end = cg_label(g);

	counter_read(g, IMG_COUNTER, i->x, bad);
	cg_ins(g, I_LOAD(DW, R0, R10, FP_TMP));
	cg_jmp(g, end);
	counter_fault(g, bad);
	cg_put(g, end);
	cg_done(g, i->d, R0);
}

/* R0 = how often this thread left a CPU. */
static void counter_switches(struct cg *g)
{
	cg_ins(g, I_CALL(get_current_task_btf));
	cg_task_named(g, "nvcsw");
	cg_ins(g, I_LOAD(DW, R1, R0, 0));
	cg_task_named(g, "nivcsw");
	cg_ins(g, I_LOAD(DW, R0, R0, 0));
	cg_ins(g, I_ALU_REG(ADD, R0, R1));
}

/* At this tracepoint, which ours was attached to before, the thread that leaves is still the one that runs. */
static bool counter_sees_switch(const struct cg *g)
{
	return g->probe->cls == IMG_POINT && !strcmp(g->probe->point[g->point].name, "sched_switch");
}

/* R1 = the thread's img_thread_count, R2 = the switches, R3 = the CPU's value. */
static void counter_reload(struct cg *g)
{
	cg_ins(g, I_LOAD(DW, R1, R10, FP_THREAD));
	cg_ins(g, I_LOAD(DW, R2, R10, FP_SWITCHES));
	cg_ins(g, I_LOAD(DW, R3, R10, FP_TMP));
}

/* R0 = what the thread has counted, by its img_thread_count in R1, the switches in R2 and the CPU's value in R3. */
static void counter_of_thread(struct cg *g)
{
	uint32_t asked = cg_label(g), none = cg_label(g), unknown = cg_label(g), end = cg_label(g);

	cg_ins(g, I_LOAD(DW, R4, R1, offsetof(struct img_thread_count, asked)));
	cg_jcc(g, I_JMP_IMM(JNE, R4, 0, 0), asked);
	cg_ins(g, I_STORE_IMM(DW, R1, offsetof(struct img_thread_count, asked), 1));
	cg_drops(g, none);
	cg_ins(g, I_LOAD(DW, R1, R10, FP_THREAD));
	cg_ins(g, I_LOAD(DW, R4, R1, offsetof(struct img_thread_count, lost)));
	cg_ins(g, I_LOAD(DW, R5, R0, offsetof(struct img_drops, slices)));
	cg_ins(g, I_ALU_REG(ADD, R5, R4));
	cg_ins(g, I_STORE(DW, R0, offsetof(struct img_drops, slices), R5));
	cg_put(g, none);
	counter_reload(g);
	cg_put(g, asked);
	cg_ins(g, I_LOAD(DW, R4, R1, offsetof(struct img_thread_count, switches)));
	cg_jcc(g, I_JMP_REG(JNE, R4, R2, 0), unknown);
	cg_ins(g, I_LOAD(DW, R0, R1, offsetof(struct img_thread_count, sum)));
	cg_ins(g, I_LOAD(DW, R4, R1, offsetof(struct img_thread_count, state)));
	if (counter_sees_switch(g))
		cg_jcc(g, I_JMP_IMM(JEQ, R4, THREAD_OFF_CPU, 0), end);
	cg_jcc(g, I_JMP_IMM(JNE, R4, THREAD_ON_CPU, 0), unknown);
	cg_ins(g, I_LOAD(DW, R4, R1, offsetof(struct img_thread_count, base)));
	cg_ins(g, I_ALU_REG(ADD, R0, R3));
	cg_ins(g, I_ALU_REG(SUB, R0, R4));
	cg_jmp(g, end);

	cg_put(g, unknown);
	cg_ins(g, I_LOAD(DW, R4, R1, offsetof(struct img_thread_count, state)));
	cg_ins(g, I_STORE(DW, R1, offsetof(struct img_thread_count, base), R3));
	cg_ins(g, I_STORE(DW, R1, offsetof(struct img_thread_count, switches), R2));
	cg_ins(g, I_STORE_IMM(DW, R1, offsetof(struct img_thread_count, state), THREAD_ON_CPU));
	cg_ins(g, I_LOAD(DW, R0, R1, offsetof(struct img_thread_count, sum)));
	cg_jcc(g, I_JMP_IMM(JEQ, R4, THREAD_UNKNOWN, 0), end);
	cg_count(g, offsetof(struct img_drops, slices));
	counter_reload(g);
	cg_ins(g, I_LOAD(DW, R0, R1, offsetof(struct img_thread_count, sum)));
	cg_put(g, end);
}

void cg_vcounter(struct cg *g, const struct ir_ins *i)
{
	uint32_t bad = cg_label(g), end = cg_label(g);

	if (cg_has_subject(g))
		cg_fail(g, D_UNSUPPORTED,
			"line %u: %s:::%s is about a thread that does not "
			"run yet: vcounter() counts for the one that runs",
			g->line, g->probe->prov, g->probe->name);
	for (int k = 0; k < TRIES; k++) {
		uint32_t again = cg_label(g);

		counter_switches(g);
		cg_ins(g, I_STORE(DW, R10, FP_SWITCHES, R0));
		cg_ins(g, I_CALL(get_current_task_btf));
		cg_mov(g, R2, R0);
		cg_map(g, R1, cg_map_index(g, IMG_THREADS, 0));
		cg_imm(g, R3, 0);
		cg_imm(g, R4, STORAGE_CREATE);
		cg_ins(g, I_CALL(task_storage_get));
		cg_jcc(g, I_JMP_IMM(JEQ, R0, 0, 0), bad);
		cg_ins(g, I_ALU_IMM(ADD, R0, (int32_t)(i->x * sizeof(struct img_thread_count))));
		cg_ins(g, I_STORE(DW, R10, FP_THREAD, R0));
		counter_read(g, IMG_VCOUNTER, i->x, bad);
		counter_switches(g);
		counter_reload(g);
		cg_jcc(g, I_JMP_REG(JNE, R0, R2, 0), k + 1 < TRIES ? again : bad);
		counter_of_thread(g);
		cg_jmp(g, end);
		cg_put(g, again);
	}
	counter_fault(g, bad);
	cg_put(g, end);
	cg_done(g, i->d, R0);
}
