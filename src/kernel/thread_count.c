/*
 * thread_count.c: what counters count for each thread, for vcounter(), and the time at which it came to its CPU, for
 * vtimestamp.
 *
 * A counter counts for its CPU.  What it counts between the moment at which a thread comes to the CPU and the one at
 * which it leaves is the thread's.  So a program at the tracepoint sched_switch adds that to the thread that leaves,
 * and writes down where the next one begins (struct img_thread_count).  It is attached only where a program asks for
 * vcounter() or vtimestamp.
 *
 * The kernel does not tell of every switch: some threads are switched without this program being run.  But it counts
 * for each thread how often it left a CPU (nvcsw, nivcsw), and has counted this time when it tells of it.  A thread
 * that comes with one count and leaves with any other than the next was away in between; what the CPU counted then may
 * be another thread's, so it is nobody's, and is counted as lost.  A thread that was never seen before has nothing to
 * lose: it begins when it is first seen.
 *
 * For vtimestamp it keeps with the thread that comes what the scheduler has booked for it (bpf/cg_time.c).
 */
#include <bpf/btf.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "kernel/code_int.h"
#include "kernel/kernel_int.h"
#include "kernel/libbpf_int.h"

#define TRACEPOINT "sched_switch"
enum { SWITCH_PREV = 8, SWITCH_NEXT = 16 }; /* its arguments, in the context; the first is `preempt` */
enum { CPU_THIS = -1, STORAGE_CREATE = 1 };

struct counter_facts {
	int threads, times, drops,
		event[D_COUNTERS_MOST]; /* maps; -1: there is none; event: the counter is not a thread's */
	uint32_t ncounters, drops_row;
	int16_t voluntary, involuntary;                     /* of task_struct: how often the thread left a CPU */
	int16_t booked, queue, runqueue, clock, clock_task; /* of task_struct, task_struct, cfs_rq, rq, rq */
};

enum {                /* below the frame pointer */
       AT_READ = -24, /* what a counter says: its value first */
       AT_ROW = -32,
       AT_VALUES = -32, /* below it for each counter: its value, and whether there is one */
};
#define AT_VALUE(x) (AT_VALUES - 16 * ((int)(x) + 1))
#define AT_IS_READ(x) (AT_VALUE(x) + 8)
#define OF(x, member) ((int16_t)((x) * sizeof(struct img_thread_count) + offsetof(struct img_thread_count, member)))

static void code_read_counters(struct code *c, const struct counter_facts *f)
{
	for (uint32_t x = 0; x < f->ncounters; x++)
		if (f->event[x] >= 0)
			PUT(I_STORE_IMM(DW, R10, AT_IS_READ(x), 0), I_STORE_IMM(DW, R10, AT_VALUE(x), 0),
			    MAP(R1, f->event[x]), I_MOV32_IMM(R2, CPU_THIS), AT(R3, AT_READ), I_MOV_IMM(R4, -AT_READ),
			    I_CALL(perf_event_read_value), I_JMP_IMM(JNE, R0, 0, 3), I_LOAD(DW, R1, R10, AT_READ),
			    I_STORE(DW, R10, AT_VALUE(x), R1), I_STORE_IMM(DW, R10, AT_IS_READ(x), 1));
}

/* A slice of the thread in R8 is lost: told if anybody has asked for it, else remembered until somebody does. */
static void code_count_loss(struct code *c, const struct counter_facts *f, uint32_t x)
{
	uint32_t asked, end;

	PUT(I_LOAD(DW, R1, R8, OF(x, asked)));
	asked = code_jump(c, I_JMP_IMM(JNE, R1, 0, 0));
	PUT(I_LOAD(DW, R1, R8, OF(x, lost)), I_ALU_IMM(ADD, R1, 1), I_STORE(DW, R8, OF(x, lost), R1));
	end = code_jump(c, I_JUMP(0));
	code_land(c, asked);
	PUT(I_STORE_IMM(W, R10, AT_ROW, (int32_t)f->drops_row), MAP(R1, f->drops), AT(R2, AT_ROW),
	    I_CALL(map_lookup_elem), I_JMP_IMM(JEQ, R0, 0, 3), I_LOAD(DW, R1, R0, offsetof(struct img_drops, slices)),
	    I_ALU_IMM(ADD, R1, 1), I_STORE(DW, R0, offsetof(struct img_drops, slices), R1));
	code_land(c, end);
}

/* R8 = what the map knows of the thread in R7, R9 = how often it left a CPU. Returns the jump for when there is no
 * memory for it. */
static uint32_t code_find_thread(struct code *c, const struct counter_facts *f, int map, int which)
{
	uint32_t none;

	PUT(I_LOAD(DW, R7, R6, which), MAP(R1, map), I_MOV_REG(R2, R7), I_MOV_IMM(R3, 0), I_MOV_IMM(R4, STORAGE_CREATE),
	    I_CALL(task_storage_get));
	none = code_jump(c, I_JMP_IMM(JEQ, R0, 0, 0));
	PUT(I_MOV_REG(R8, R0), I_LOAD(DW, R9, R7, f->voluntary), I_LOAD(DW, R1, R7, f->involuntary),
	    I_ALU_REG(ADD, R9, R1));
	return none;
}

/* Counter x of the thread in R8 leaves the CPU. */
static void code_leave(struct code *c, const struct counter_facts *f, uint32_t x)
{
	uint32_t unknown, lost[3], added;

	PUT(I_LOAD(DW, R1, R8, OF(x, state)));
	unknown = code_jump(c, I_JMP_IMM(JEQ, R1, THREAD_UNKNOWN, 0));
	lost[0] = code_jump(c, I_JMP_IMM(JNE, R1, THREAD_ON_CPU, 0));
	PUT(I_LOAD(DW, R1, R10, AT_IS_READ(x)));
	lost[1] = code_jump(c, I_JMP_IMM(JEQ, R1, 0, 0));
	PUT(I_LOAD(DW, R1, R8, OF(x, switches)), I_ALU_IMM(ADD, R1, 1));
	lost[2] = code_jump(c, I_JMP_REG(JNE, R1, R9, 0));
	PUT(I_STORE_IMM(DW, R8, OF(x, state), THREAD_CHANGING), I_LOAD(DW, R1, R10, AT_VALUE(x)),
	    I_LOAD(DW, R2, R8, OF(x, base)), I_ALU_REG(SUB, R1, R2), I_LOAD(DW, R2, R8, OF(x, sum)),
	    I_ALU_REG(ADD, R2, R1), I_STORE(DW, R8, OF(x, sum), R2));
	added = code_jump(c, I_JUMP(0));
	for (size_t i = 0; i < COUNT(lost); i++)
		code_land(c, lost[i]);
	code_count_loss(c, f, x);
	code_land(c, unknown);
	code_land(c, added);
	PUT(I_STORE(DW, R8, OF(x, switches), R9), I_STORE_IMM(DW, R8, OF(x, state), THREAD_OFF_CPU));
}

/* It comes to the CPU. Where the counter can't be read, it stays away, and what it does there is lost when it
 * leaves. */
static void code_come(struct code *c, const struct counter_facts *f, uint32_t x)
{
	uint32_t left, unread;

	PUT(I_LOAD(DW, R1, R8, OF(x, state)));
	left = code_jump(c, I_JMP_IMM(JNE, R1, THREAD_ON_CPU, 0));
	code_count_loss(c, f, x);
	code_land(c, left);
	PUT(I_STORE_IMM(DW, R8, OF(x, state), THREAD_OFF_CPU), I_LOAD(DW, R1, R10, AT_IS_READ(x)));
	unread = code_jump(c, I_JMP_IMM(JEQ, R1, 0, 0));
	PUT(I_LOAD(DW, R1, R10, AT_VALUE(x)), I_STORE(DW, R8, OF(x, base), R1), I_STORE(DW, R8, OF(x, switches), R9),
	    I_STORE_IMM(DW, R8, OF(x, state), THREAD_ON_CPU));
	code_land(c, unread);
}

static void code_count_slices(struct code *c, const struct counter_facts *f)
{
	uint32_t none;

	code_read_counters(c, f);
	none = code_find_thread(c, f, f->threads, SWITCH_PREV);
	for (uint32_t x = 0; x < f->ncounters; x++)
		if (f->event[x] >= 0)
			code_leave(c, f, x);
	code_land(c, none);
	none = code_find_thread(c, f, f->threads, SWITCH_NEXT);
	for (uint32_t x = 0; x < f->ncounters; x++)
		if (f->event[x] >= 0)
			code_come(c, f, x);
	code_land(c, none);
}

#define TIME_OF(member) ((int16_t)offsetof(struct img_thread_time, member))

static void code_begin_slice(struct code *c, const struct counter_facts *f)
{
	const uint32_t none = code_find_thread(c, f, f->times, SWITCH_NEXT);

	PUT(I_CALL(ktime_get_ns), I_STORE(DW, R8, TIME_OF(began_ns), R0), I_STORE(DW, R8, TIME_OF(switches), R9),
	    I_LOAD(DW, R1, R7, f->booked), I_STORE(DW, R8, TIME_OF(booked_ns), R1), I_LOAD(DW, R1, R7, f->queue),
	    I_LOAD(DW, R1, R1, f->runqueue), I_LOAD(DW, R2, R1, f->clock), I_LOAD(DW, R1, R1, f->clock_task),
	    I_ALU_REG(SUB, R2, R1), I_STORE(DW, R8, TIME_OF(stolen_ns), R2));
	code_land(c, none);
}

static void on_switch(struct code *c, const struct counter_facts *f)
{
	PUT(I_MOV_REG(R6, R1));
	if (f->times >= 0)
		code_begin_slice(c, f);
	if (f->threads >= 0)
		code_count_slices(c, f);
}

/* ---- this kernel and this run --------------------------------------------------------- */

static int16_t counter_field(const struct k_run *k, const char *type, const char *field, bool *all)
{
	const int64_t at = k->btf.header ? btf_field(&k->btf, type, field) : -1;

	*all &= at >= 0;
	return (int16_t)at;
}

static int counter_facts_find(const struct k_run *k, struct counter_facts *f, struct err *e)
{
	bool all = true;

	*f = (struct counter_facts){ .threads = -1, .times = -1, .drops = -1, .drops_row = k->nprogs };
	for (uint32_t x = 0; x < D_COUNTERS_MOST; x++)
		f->event[x] = -1;
	for (uint32_t i = 0; i < k->nmaps; i++)
		if (k->map[i].use == IMG_THREADS) {
			f->threads = k->map[i].fd;
			f->ncounters = k->map[i].value_size / sizeof(struct img_thread_count);
		} else if (k->map[i].use == IMG_TIMES) {
			f->times = k->map[i].fd;
		} else if (k->map[i].use == IMG_VCOUNTER) {
			f->event[k->map[i].id] = k->map[i].fd;
		} else if (k->map[i].use == IMG_DROPS) {
			f->drops = k->map[i].fd;
		}
	f->voluntary = counter_field(k, "task_struct", "nvcsw", &all);
	f->involuntary = counter_field(k, "task_struct", "nivcsw", &all);
	if (f->times >= 0) {
		f->booked = counter_field(k, "task_struct", "se.sum_exec_runtime", &all);
		f->queue = counter_field(k, "task_struct", "se.cfs_rq", &all);
		f->runqueue = counter_field(k, "cfs_rq", "rq", &all);
		f->clock = counter_field(k, "rq", "clock", &all);
		f->clock_task = counter_field(k, "rq", "clock_task", &all);
	}
	if (all && (f->threads < 0 || f->drops >= 0))
		return 0;
	return err_set(e, TALLY_ENOTSUP,
		       "vcounter() and vtimestamp require the kernel's type information (BTF) of task_struct");
}

static int thread_count_load(const struct k_run *k, const struct code *c, struct err *e)
{
	const uint32_t id = k_btf_find_kind(&k->btf, "btf_trace_" TRACEPOINT, BTF_KIND_TYPEDEF);
	LIBBPF_OPTS(bpf_prog_load_opts, o, .expected_attach_type = BPF_TRACE_RAW_TP, .attach_btf_id = id);
	int prog;

	if (!id)
		return err_set(e, TALLY_ENOTSUP,
			       "this kernel has no tracepoint " TRACEPOINT ", which vcounter() and vtimestamp require");
	prog = bpf_prog_load(BPF_PROG_TYPE_TRACING, "thread_count", "Dual MIT/GPL",
			     (const struct bpf_insn *)(const void *)c->ins, c->n, &o);
	if (prog >= 0)
		return prog;
	return errno == EPERM ? rights_bpf("watching switches of threads", e) :
				err_set(e, TALLY_ENOTSUP,
					"the kernel refused the BPF program that watches switches of threads: %s",
					strerror(errno));
}

int thread_counts_open(struct k_run *k, struct err *e)
{
	struct counter_facts f;
	struct code c = { 0 };
	int rc = counter_facts_find(k, &f, e), prog;

	if (rc < 0)
		return rc;
	on_switch(&c, &f);
	code_end(&c);
	prog = thread_count_load(k, &c, e);
	if (prog < 0)
		return prog;
	k->thread_count = bpf_raw_tracepoint_open(NULL, prog);
	rc = k->thread_count < 0 ?
		     err_set(e, TALLY_EIO, "attaching to tracepoint " TRACEPOINT " failed: %s", strerror(errno)) :
		     0;
	close(prog);
	return rc;
}
