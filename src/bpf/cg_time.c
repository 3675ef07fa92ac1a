/*
 * cg_time.c: vtimestamp, the CPU time of the thread.
 *
 * The scheduler books a thread's time when the thread leaves its CPU, and now and then before: at each tick, and when
 * somebody asks for it. So what it has booked is exact at a switch alone.  A program at sched_switch
 * (kernel/thread_count.c) keeps with the thread that comes what is booked for it then, and the time.  While it runs,
 * its time is that and what has passed since, less what interrupts and the hypervisor took, by which the clock of
 * threads of its CPU (clock_task) falls behind the other one (clock).
 *
 * Nothing adds up over several slices: the next one begins with what the scheduler has booked then.  Where a switch was
 * not seen, which the thread's number of switches shows, or is in progress, the value is what is booked: never too
 * large.  What was taken is known to the scheduler a little later than it happened, so a value may be too large by
 * that.  The latest one is kept, and none is below it.
 */
#include <string.h>

#include "bpf/cg_int.h"

enum { STORAGE_CREATE = 1 };
enum { /* on the stack */
       FP_SWITCHES = FP_TMP,
       FP_NOW = FP_TMP + 8,
       FP_TIME = FP_KEY, /* address of the thread's img_thread_time */
};
#define TIME_OF(member) ((int16_t)offsetof(struct img_thread_time, member))

/* R0 = the task_struct, as a pointer that the verifier lets a program read through. */
static void time_task(struct cg *g)
{
	if (cg_has_subject(g))
		cg_ins(g, I_LOAD(DW, R0, R6, (int16_t)(8 * (cg_point(g)->subject - 1))));
	else
		cg_ins(g, I_CALL(get_current_task_btf));
}

static void time_field(struct cg *g, uint8_t to, uint8_t from, const char *type, const char *field)
{
	cg_struct_named(g, type, field);
	cg_ins(g, I_LOAD(DW, to, from, 0));
}

/* to = how often the thread at `task` left a CPU. */
static void time_switches(struct cg *g, uint8_t to, uint8_t tmp, uint8_t task)
{
	time_field(g, to, task, "task_struct", "nvcsw");
	time_field(g, tmp, task, "task_struct", "nivcsw");
	cg_ins(g, I_ALU_REG(ADD, to, tmp));
}

/* R1 = what is booked by now, R5 = what this CPU's clock of threads is behind, R2 = switches, last of all. */
static void time_read(struct cg *g)
{
	time_task(g);
	time_field(g, R1, R0, "task_struct", "se.sum_exec_runtime");
	time_field(g, R4, R0, "task_struct", "se.cfs_rq");
	time_field(g, R4, R4, "cfs_rq", "rq");
	time_field(g, R5, R4, "rq", "clock");
	time_field(g, R4, R4, "rq", "clock_task");
	cg_ins(g, I_ALU_REG(SUB, R5, R4));
	time_switches(g, R2, R3, R0);
}

/* R1 = the time of the thread that runs, of which time_read() has asked; to `booked` where nothing is to be added. */
static void time_in_slice(struct cg *g, uint32_t booked)
{
	uint32_t seen = cg_label(g);

	cg_ins(g, I_LOAD(DW, R4, R10, FP_SWITCHES));
	cg_jcc(g, I_JMP_REG(JNE, R4, R2, 0), booked);
	cg_ins(g, I_LOAD(DW, R3, R10, FP_TIME));
	cg_ins(g, I_LOAD(DW, R4, R3, TIME_OF(began_ns)));
	cg_jcc(g, I_JMP_IMM(JNE, R4, 0, 0), seen);
	if (g->probe->cls != IMG_POINT || strcmp(cg_point(g)->name, "sched_switch")) { /* there it is about to leave */
		cg_ins(g, I_LOAD(DW, R4, R10, FP_NOW));
		cg_ins(g, I_STORE(DW, R3, TIME_OF(switches), R2));
		cg_ins(g, I_STORE(DW, R3, TIME_OF(booked_ns), R1));
		cg_ins(g, I_STORE(DW, R3, TIME_OF(stolen_ns), R5));
		cg_ins(g, I_STORE(DW, R3, TIME_OF(began_ns), R4));
	}
	cg_jmp(g, booked);
	cg_put(g, seen);
	cg_ins(g, I_LOAD(DW, R0, R3, TIME_OF(switches)));
	cg_jcc(g, I_JMP_REG(JNE, R0, R2, 0), booked);
	cg_ins(g, I_LOAD(DW, R0, R10, FP_NOW));
	cg_ins(g, I_ALU_REG(SUB, R0, R4));
	cg_ins(g, I_ALU_REG(SUB, R0, R5));
	cg_ins(g, I_LOAD(DW, R4, R3, TIME_OF(stolen_ns)));
	cg_ins(g, I_ALU_REG(ADD, R0, R4));
	cg_ins(g, I_LOAD(DW, R4, R3, TIME_OF(booked_ns)));
	cg_ins(g, I_ALU_REG(ADD, R0, R4));
	cg_jcc(g, I_JMP_REG(JSLE, R0, R1, 0), booked);
	cg_mov(g, R1, R0);
}

void cg_vtimestamp(struct cg *g)
{
	uint32_t booked = cg_label(g), none = cg_label(g), end = cg_label(g);

	if (g->o->arch == &bpf_arch_vm) { /* nothing switches there */
		cg_task(g);
		cg_struct_field(g, "task_struct", "se.sum_exec_runtime", 8);
		return;
	}
	time_task(g);
	time_switches(g, R1, R2, R0);
	cg_ins(g, I_STORE(DW, R10, FP_SWITCHES, R1));
	cg_mov(g, R2, R0);
	cg_map(g, R1, cg_map_index(g, IMG_TIMES, 0));
	cg_imm(g, R3, 0);
	cg_imm(g, R4, STORAGE_CREATE);
	cg_ins(g, I_CALL(task_storage_get));
	cg_jcc(g, I_JMP_IMM(JEQ, R0, 0, 0), none);
	cg_ins(g, I_STORE(DW, R10, FP_TIME, R0));
	cg_ins(g, I_CALL(ktime_get_ns));
	cg_ins(g, I_STORE(DW, R10, FP_NOW, R0));
	time_read(g);
	if (!cg_has_subject(g)) /* which does not run yet */
		time_in_slice(g, booked);
	cg_put(g, booked);
	cg_ins(g, I_LOAD(DW, R3, R10, FP_TIME));
	cg_ins(g, I_LOAD(DW, R0, R3, TIME_OF(last_ns)));
	cg_jcc(g, I_JMP_REG(JSGE, R0, R1, 0), end);
	cg_ins(g, I_STORE(DW, R3, TIME_OF(last_ns), R1));
	cg_mov(g, R0, R1);
	cg_jmp(g, end);

	cg_put(g, none); /* there is no memory to keep anything with the thread */
	time_task(g);
	time_field(g, R0, R0, "task_struct", "se.sum_exec_runtime");
	cg_put(g, end);
	cg_forget(g, R0);
}
