/*
 * lockstat.c: locks of the kernel that are taken and given back (Dynamic Tracing Guide, "lockstat Provider"), from its
 * functions.
 *
 * A lock of which the function is put into its callers by the compiler is not seen.  That a thread waited for one, the
 * kernel tells at two tracepoints, where the wait begins and where it ends: those probes are at the second, and know
 * the time (bpf/cg_wait.c).
 */
#include "provider/provider_int.h"

#define LOCK(type)                                                \
	{                                                         \
		.value = type " *", .text = "(" type " *)__word0" \
	}
static const struct d_args mutex_args[] = { LOCK("struct mutex") },
			   error_args[] = { LOCK("struct mutex"), { .value = "int", .text = "(int)__word1" } },
			   spin_args[] = { LOCK("spinlock_t") },
			   rw_args[] = { LOCK("rwlock_t"), { .value = "int", .text = "(int)__word1" } };
#define WAITED                                                   \
	{                                                        \
		.value = "uint64_t", .text = "(uint64_t)__word1" \
	}
#define READS                                          \
	{                                              \
		.value = "int", .text = "(int)__word2" \
	}
static const struct d_args mutex_wait_args[] = { LOCK("struct mutex"), WAITED },
			   spin_wait_args[] = { LOCK("spinlock_t"), WAITED },
			   rw_spin_args[] = { LOCK("rwlock_t"), WAITED, READS },
			   rw_block_args[] = { LOCK("struct rw_semaphore"), WAITED, READS };

#define ENTRY(function)                                         \
	{                                                       \
		.name = function, .at = POINT_ENTRY, .nargs = 1 \
	}
#define RETURN(function)                                         \
	{                                                        \
		.name = function, .at = POINT_RETURN, .nargs = 1 \
	}
/* It has the lock when its result is that. */
#define RETURN_IF(function, number_test)                                                          \
	{                                                                                         \
		.name = function, .at = POINT_RETURN, .nargs = 1, .has_result = true,             \
		.when = { { .word = POINT_RESULT, .bytes = 4, .test = number_test } }, .nwhen = 1 \
	}
/* The four ways of a lock for readers and writers: plain, and without soft interrupts or interrupts. */
enum { RW_WRITER, RW_READER };
#define RW_POINT(function, point_at, kind)                                                       \
	{                                                                                        \
		.name = function, .at = point_at, .nargs = 1, .constant_at = 1, .constant = kind \
	}
#define RW_POINTS(function, irq_function, at, kind)                                       \
	RW_POINT("_raw_" function, at, kind), RW_POINT("_raw_" function "_bh", at, kind), \
		RW_POINT("_raw_" function "_irq", at, kind), RW_POINT("_raw_" irq_function, at, kind)
#define FUNCTION "a probe at a function of the kernel (CONFIG_FUNCTION_TRACER)"
#define FEXIT "a probe at the return of a function of the kernel (fexit: CONFIG_FUNCTION_TRACER)"

/* The thread has the lock: it was not a signal that ended the wait. */
#define WAIT(kind)                                                           \
	.point = { { .name = "contention_end",                               \
		     .nargs = 2,                                             \
		     .wait = kind,                                           \
		     .when = { { .word = 1, .bytes = 4, .test = WHEN_EQ } }, \
		     .nwhen = 1 } },                                         \
	.lacks = "the tracepoints contention_begin and contention_end (Linux 5.19)"

static const struct point_row lockstat_rows[] = {
	{ .name = "adaptive-acquire",
	  .point = { RETURN("mutex_lock"), RETURN_IF("mutex_lock_interruptible", WHEN_EQ),
		     RETURN_IF("mutex_lock_killable", WHEN_EQ), RETURN_IF("mutex_trylock", WHEN_NE) },
	  POINT_ARGS(mutex_args),
	  .lacks = FEXIT },
	{ .name = "adaptive-acquire-error",
	  .point = { RETURN_IF("mutex_lock_interruptible", WHEN_NE), RETURN_IF("mutex_lock_killable", WHEN_NE) },
	  POINT_ARGS(error_args),
	  .lacks = FEXIT },
	{ .name = "adaptive-release", .point = { ENTRY("mutex_unlock") }, POINT_ARGS(mutex_args), .lacks = FUNCTION },
	{ .name = "spin-acquire",
	  .point = { RETURN("_raw_spin_lock"), RETURN("_raw_spin_lock_bh"), RETURN("_raw_spin_lock_irq"),
		     RETURN("_raw_spin_lock_irqsave") },
	  POINT_ARGS(spin_args),
	  .lacks = FEXIT },
	{ .name = "spin-release",
	  .point = { ENTRY("_raw_spin_unlock"), ENTRY("_raw_spin_unlock_bh"), ENTRY("_raw_spin_unlock_irq"),
		     ENTRY("_raw_spin_unlock_irqrestore") },
	  POINT_ARGS(spin_args),
	  .lacks = FUNCTION },
	{ .name = "rw-acquire",
	  .point = { RW_POINTS("read_lock", "read_lock_irqsave", POINT_RETURN, RW_READER),
		     RW_POINTS("write_lock", "write_lock_irqsave", POINT_RETURN, RW_WRITER) },
	  POINT_ARGS(rw_args),
	  .lacks = FEXIT },
	{ .name = "rw-release",
	  .point = { RW_POINTS("read_unlock", "read_unlock_irqrestore", POINT_ENTRY, RW_READER),
		     RW_POINTS("write_unlock", "write_unlock_irqrestore", POINT_ENTRY, RW_WRITER) },
	  POINT_ARGS(rw_args),
	  .lacks = FUNCTION },
	{ .name = "adaptive-block", WAIT(WAIT_MUTEX_BLOCK), POINT_ARGS(mutex_wait_args) },
	{ .name = "adaptive-spin", WAIT(WAIT_MUTEX_SPIN), POINT_ARGS(mutex_wait_args) },
	{ .name = "spin-spin", WAIT(WAIT_SPINLOCK), POINT_ARGS(spin_wait_args) },
	{ .name = "rw-block", WAIT(WAIT_RW_BLOCK), POINT_ARGS(rw_block_args) },
	{ .name = "rw-spin", WAIT(WAIT_RW_SPIN), POINT_ARGS(rw_spin_args) },
};

const struct provider prov_lockstat = {
	.name = "lockstat",
	.help = "locks of the kernel: adaptive-block, spin-spin, rw-block, adaptive-acquire ...",
	.is_long = true,
	.has_places = true,
	PROV_EVOLVING(DEP_ISA),
	.row = lockstat_rows,
	.nrows = COUNT(lockstat_rows),
};
