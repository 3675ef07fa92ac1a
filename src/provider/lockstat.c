/*
 * lockstat.c: locks of the kernel that are taken and given back (Dynamic Tracing Guide, "lockstat Provider"), from its functions.
 *
 * A lock of which the function is put into its callers by the compiler is not seen.  How long a thread waited for one takes two places, which a probe
 * has not: the tracepoints contention_begin and contention_end tell of that (sdt.c).
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
#define WAIT \
	"one tracepoint that tells how long a thread waited (rawtp:::contention_begin and contention_end are both ends)"
#define FEXIT "a probe at the return of a function of the kernel (fexit: CONFIG_FUNCTION_TRACER)"

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
	{ .name = "adaptive-block", .lacks = WAIT },
	{ .name = "adaptive-spin", .lacks = WAIT },
	{ .name = "spin-spin", .lacks = WAIT },
	{ .name = "rw-block", .lacks = WAIT },
	{ .name = "rw-spin", .lacks = WAIT },
};

const struct provider prov_lockstat = {
	.name = "lockstat",
	.help = "locks of the kernel: adaptive-acquire, adaptive-release, spin-acquire, rw-acquire ...",
	.is_long = true,
	.has_places = true,
	PROV_EVOLVING(DEP_ISA),
	.row = lockstat_rows,
	.nrows = COUNT(lockstat_rows),
};
