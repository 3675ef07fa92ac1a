/*
 * sched.c: scheduling (Dynamic Tracing Guide, "sched Provider"), from the kernel's tracepoints.
 *
 * The kernel tells of a switch once, before it: then the thread that goes is the current one.  on-cpu fires there too,
 * but is about the thread that comes: its pid, its execname, its self-> variables.  A thread that goes while it could
 * run was preempted; else it sleeps.  The kernel counts its voluntary and involuntary switches by the same rule.
 */
#include "provider/provider_int.h"

#define TASK(word) "((struct task_struct *)__word" #word ")"
#define LWPSINFO(word)                                                                   \
	{                                                                                \
		.value = "lwpsinfo_t *", .text = "xlate <lwpsinfo_t *> (" TASK(word) ")" \
	}
#define PSINFO(word)                                                                 \
	{                                                                            \
		.value = "psinfo_t *", .text = "xlate <psinfo_t *> (" TASK(word) ")" \
	}
static const struct d_args off_cpu_args[] = { LWPSINFO(2), PSINFO(2) }, wakeup_args[] = { LWPSINFO(0), PSINFO(0) };
#define NUMBER(type, expression)                  \
	{                                         \
		.value = type, .text = expression \
	}
#define CURRENT                                                                  \
	{ .value = "lwpsinfo_t *", .text = "xlate <lwpsinfo_t *> (curthread)" }, \
	{                                                                        \
		.value = "psinfo_t *", .text = "xlate <psinfo_t *> (curthread)"  \
	}
#define QUEUE                                                                                                      \
	{                                                                                                          \
		.value = "cpuinfo_t *", .text = "xlate <cpuinfo_t *> ((processorid_t)((struct rq *)__word0)->cpu)" \
	}
/* A nice value of 0 is priority 120. */
static const struct d_args priority_args[] = { LWPSINFO(0), PSINFO(0), NUMBER("int", "(int)(__word1 + 120)") },
			   queue_args[] = { LWPSINFO(1), PSINFO(1), QUEUE, NUMBER("int", "0") },
			   current_args[] = { CURRENT };

#define ENTRY(function, n)                                      \
	{                                                       \
		.name = function, .at = POINT_ENTRY, .nargs = n \
	}
#define FUNCTION "a probe at a function of the kernel (CONFIG_FUNCTION_TRACER)"
/* A CPU's own thread, which runs when there is no other, is never preempted. */
#define NOT_IDLE                                                                           \
	{                                                                                  \
		.word = 1, .at = { { "task_struct", "pid" } }, .bytes = 4, .test = WHEN_NE \
	}

static const struct point_row sched_rows[] = {
	{ .name = "on-cpu", .point = { { .name = "sched_switch", .nargs = 4, .subject = 3 } } },
	{ .name = "off-cpu", .point = { { .name = "sched_switch", .nargs = 4 } }, POINT_ARGS(off_cpu_args) },
	{ .name = "sleep",
	  .point = { { .name = "sched_switch",
		       .nargs = 4,
		       .when = { { .word = 0, .bytes = 1 }, { .word = 3, .bytes = 4, .test = WHEN_NE } },
		       .nwhen = 2 } } },
	{ .name = "preempt",
	  .point = { { .name = "sched_switch",
		       .nargs = 4,
		       .when = { { .word = 0, .bytes = 1, .test = WHEN_NE }, NOT_IDLE },
		       .nwhen = 2 },
		     { .name = "sched_switch",
		       .nargs = 4,
		       .when = { { .word = 0, .bytes = 1 }, { .word = 3, .bytes = 4 }, NOT_IDLE },
		       .nwhen = 3 } } },
	{ .name = "remain-cpu",
	  .point = { { .name = "sched_exit_tp", .nargs = 1, .when = { { .word = 0, .bytes = 1 } }, .nwhen = 1 } },
	  .lacks = "the tracepoint sched_exit_tp (Linux 6.16)" },
	{ .name = "wakeup", .point = { { .name = "sched_waking", .nargs = 1 } }, POINT_ARGS(wakeup_args) },
	{ .name = "change-pri", .point = { ENTRY("set_user_nice", 2) }, POINT_ARGS(priority_args), .lacks = FUNCTION },
	{ .name = "enqueue",
	  .point = { ENTRY("enqueue_task_fair", 2), ENTRY("enqueue_task_rt", 2), ENTRY("enqueue_task_dl", 2) },
	  POINT_ARGS(queue_args),
	  .lacks = FUNCTION },
	{ .name = "dequeue",
	  .point = { ENTRY("dequeue_task_fair", 2), ENTRY("dequeue_task_rt", 2), ENTRY("dequeue_task_dl", 2) },
	  POINT_ARGS(queue_args),
	  .lacks = FUNCTION },
	{ .name = "surrender",
	  .point = { { .name = "reschedule_entry", .nargs = 1 } },
	  POINT_ARGS(current_args),
	  .lacks = "the tracepoint reschedule_entry (x86)" },
	{ .name = "tick", .point = { ENTRY("scheduler_tick", 0) }, POINT_ARGS(current_args), .lacks = FUNCTION },
	/* since Linux 6.10 */
	{ .name = "tick", .point = { ENTRY("sched_tick", 0) }, POINT_ARGS(current_args), .lacks = FUNCTION },
};

const struct provider prov_sched = {
	.name = "sched",
	.help = "scheduling: on-cpu, off-cpu, sleep, wakeup, preempt, enqueue ...",
	.is_long = true,
	.has_places = true,
	PROV_EVOLVING(DEP_ISA),
	.row = sched_rows,
	.nrows = COUNT(sched_rows),
};
