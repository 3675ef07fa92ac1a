/*
 * proc.c: processes and threads (Dynamic Tracing Guide, "proc Provider"), from the kernel's tracepoints.
 *
 * Linux makes a process and a thread by one call, and both are tasks: those that are their process's first thread have
 * a signal for their parent, others have -1.  The end of a process is that of its last thread.  A thread starts when it
 * is switched to and was never switched from; that probe fires before the switch, and is about the thread that comes.
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
#define SIGINFO                                                                                          \
	{                                                                                                \
		.value = "siginfo_t *", .text = "xlate <siginfo_t *> ((struct kernel_siginfo *)__word1)" \
	}
#define NUMBER(expression)                         \
	{                                          \
		.value = "int", .text = expression \
	}

/* A signal that ends the process is made SIGKILL for each of its threads; which it was, the process knows. */
#define ENDS_BY "(curthread->signal->group_exit_code & 0x7f)"
#define HANDLED "(int)(__word0 == SIGKILL && __word1 == 0 && " ENDS_BY " != 0 ? " ENDS_BY " : __word0)"

static const struct d_args create_args[] = { PSINFO(1) }, lwp_args[] = { LWPSINFO(1), PSINFO(1) },
			   exec_args[] = { { .value = "char *", .text = "(userland char *)__word0" } },
			   failure_args[] = { NUMBER("(int)-__word1") }, clear_args[] = { NUMBER("(int)__word1") },
			   exit_args[] = { NUMBER(TASK(0) "->exit_code & 0x80 ? CLD_DUMPED : " TASK(
				   0) "->exit_code & 0x7f ? CLD_KILLED : CLD_EXITED") },
			   send_args[] = { LWPSINFO(2), PSINFO(2), NUMBER("(int)__word0") },
			   handle_args[] = { NUMBER(HANDLED),
					     SIGINFO,
					     { .value = "void *",
					       .text = "(void *)((struct k_sigaction *)__word2)->sa.sa_handler" } },
			   fault_args[] = {
				   NUMBER("__word0 == SIGILL ? FLTILL : __word0 == SIGTRAP ? FLTBPT : "
					  "__word0 == SIGBUS ? FLTACCESS : __word0 == SIGSEGV ? FLTBOUNDS : "
					  "((struct kernel_siginfo *)__word1)->si_code == 1 ? FLTIZDIV : FLTFPE"),
				   SIGINFO
			   };

/* SIGILL, SIGTRAP, SIGBUS, SIGFPE, SIGSEGV: what a fault makes of itself */
#define FAULTS (1 << 4 | 1 << 5 | 1 << 7 | 1 << 8 | 1 << 11)
#define FIRST(n)                                                                                   \
	{                                                                                          \
		.word = n, .at = { { "task_struct", "exit_signal" } }, .bytes = 4, .test = WHEN_GE \
	}
#define NEW_THREAD                                                           \
	{ .word = 2, .at = { { "task_struct", "nvcsw" } }, .bytes = 8 },     \
	{                                                                    \
		.word = 2, .at = { { "task_struct", "nivcsw" } }, .bytes = 8 \
	}

static const struct point_row proc_rows[] = {
	{ .name = "create",
	  .point = { { .name = "sched_process_fork", .nargs = 2, .when = { FIRST(1) }, .nwhen = 1 } },
	  POINT_ARGS(create_args) },
	{ .name = "start",
	  .point = { { .name = "sched_switch",
		       .nargs = 4,
		       .subject = 3,
		       .when = { NEW_THREAD, FIRST(2) },
		       .nwhen = 3 } } },
	{ .name = "exec",
	  .point = { { .name = "sys_enter", .nargs = 2, .in_call = "execve", .call_args = 1 },
		     { .name = "sys_enter", .nargs = 2, .in_call = "execveat", .call_args = 2 } },
	  POINT_ARGS(exec_args) },
	{ .name = "exec-success", .point = { { .name = "sched_process_exec", .nargs = 3 } } },
	{ .name = "exec-failure",
	  .point = { { .name = "sys_exit",
		       .nargs = 2,
		       .in_call = "execve",
		       .when = { { .word = 1, .test = WHEN_LT } },
		       .nwhen = 1 },
		     { .name = "sys_exit",
		       .nargs = 2,
		       .in_call = "execveat",
		       .when = { { .word = 1, .test = WHEN_LT } },
		       .nwhen = 1 } },
	  POINT_ARGS(failure_args) },
	{ .name = "exit",
	  .point = { { .name = "sched_process_exit",
		       .nargs = 2,
		       .when = { { .word = 1, .bytes = 1, .test = WHEN_NE } },
		       .nwhen = 1 } },
	  POINT_ARGS(exit_args) },
	/* before Linux 6.16 */
	{ .name = "exit",
	  .point = { { .name = "sched_process_exit",
		       .nargs = 1,
		       .when = { { .word = 0,
				   .at = { { "task_struct", "signal" }, { "signal_struct", "live" } },
				   .bytes = 4 } },
		       .nwhen = 1 } },
	  POINT_ARGS(exit_args) },
	{ .name = "fault",
	  .point = { { .name = "signal_generate",
		       .nargs = 5,
		       .when = { { .word = 0, .test = WHEN_IN, .value = FAULTS },
				 { .word = 1, .test = WHEN_ABOVE, .value = 2 },
				 { .word = 1,
				   .at = { { "kernel_siginfo", "si_code" } },
				   .bytes = 4,
				   .test = WHEN_GE,
				   .value = 1 } },
		       .nwhen = 3 } },
	  POINT_ARGS(fault_args) },
	{ .name = "lwp-create", .point = { { .name = "sched_process_fork", .nargs = 2 } }, POINT_ARGS(lwp_args) },
	{ .name = "lwp-start",
	  .point = { { .name = "sched_switch", .nargs = 4, .subject = 3, .when = { NEW_THREAD }, .nwhen = 2 } } },
	{ .name = "lwp-exit", .point = { { .name = "sched_process_exit", .nargs = 1 } } },
	{ .name = "signal-send", .point = { { .name = "signal_generate", .nargs = 5 } }, POINT_ARGS(send_args) },
	{ .name = "signal-discard",
	  .point = { { .name = "signal_generate",
		       .nargs = 5,
		       .when = { { .word = 4, .test = WHEN_EQ, .value = 1 } },
		       .nwhen = 1 } },
	  POINT_ARGS(send_args) },
	{ .name = "signal-handle", .point = { { .name = "signal_deliver", .nargs = 3 } }, POINT_ARGS(handle_args) },
	{ .name = "signal-clear",
	  .point = { { .name = "sys_exit",
		       .nargs = 2,
		       .in_call = "rt_sigtimedwait",
		       .when = { { .word = 1, .test = WHEN_GE, .value = 1 } },
		       .nwhen = 1 } },
	  POINT_ARGS(clear_args) },
};

const struct provider prov_proc = {
	.name = "proc",
	.help = "processes, threads and signals: create, exec, exit, signal-send ...",
	.is_long = true,
	.has_places = true,
	PROV_EVOLVING(DEP_ISA),
	.row = proc_rows,
	.nrows = COUNT(proc_rows),
};
