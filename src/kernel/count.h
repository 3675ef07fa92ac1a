/*
 * count.h: events that are counted, not sampled: of whole CPUs, or of tasks with what they start.
 */
#ifndef TALLY_KERNEL_COUNT_H
#define TALLY_KERNEL_COUNT_H

#include "kernel/kernel.h"

struct k_target {
	const int *task; /* threads (0: the caller); NULL: whole CPUs */
	uint32_t ntasks;
	const char *cpus; /* of whole CPUs: only these ("0,2-4"); NULL: all that are online */
	bool each_cpu;    /* a slot for each CPU, else one for all */
	bool inherit;     /* of tasks: also what they start from now on */
	bool on_exec;     /* the task is held before its exec, which is where it begins to count */
	bool pinned;      /* what takes a hardware counter counts always or not at all */
};
/* perf_event_open(2): running is less than enabled when the kernel let events take turns. */
struct k_count {
	uint64_t value, enabled_ns, running_ns;
};

struct k_counter; /* opaque: one event over a whole target */
/* Opens the n forms of one event (one per core PMU), disabled. Tasks that are gone are left out. -TALLY_ENOTSUP,
 * -TALLY_EPERM, -TALLY_EBUSY, -TALLY_EINVAL (the encoding); -TALLY_EEND: no task is left; -TALLY_EIO, -TALLY_ENOMEM. */
int k_counter_open(struct k_counter **ret, const struct k_event *ev, uint32_t n, const struct k_target *t,
		   struct err *e);
void k_counter_close(struct k_counter *c); /* NULL is fine */
/* Lets it count, or not; an event that had lost its counter asks for one again. */
int k_counter_enable(struct k_counter *c, bool on, struct err *e);
/* How many slots there are, and the CPU of one: -1: all. */
uint32_t k_counter_slots(const struct k_counter *c);
int k_counter_cpu(const struct k_counter *c, uint32_t slot);
/* Whole CPUs: takes notice of who is online (bit per CPU). One that went counts no more, and what it came to stays; one
 * that came is counted from now on, in its own slot if it was here before, else in a new one behind the others. What
 * counts a whole device is left alone, for the kernel moves it to another CPU. Fails as k_counter_open(): newcomers may
 * be missing. */
int k_counter_follow(struct k_counter *c, const struct k_event *ev, uint32_t n, const struct k_target *t,
		     const uint64_t *online, struct err *e);
bool k_counter_has(const struct k_counter *c, int cpu); /* whether anything was ever counted on that CPU */
/* A CPU that, as the last reading found, had gone offline and come back meanwhile, so that it counts no more until
 * k_counter_follow(); -1: none. */
int k_counter_lapsed(const struct k_counter *c);
/* What was counted since it was opened, by slot. -TALLY_EBUSY: a pinned event has no counter; the words say on which
 * CPU, and whether the NMI watchdog has one; slots that this concerns stay as they are. */
int k_counter_read(struct k_counter *c, struct k_count *slot, struct err *e);

/* The threads of a process now. -TALLY_EEND: there is none. Array from mem_alloc. */
int k_threads(int pid, int **ret, uint32_t *n);
bool k_thread_is(int tid); /* whether there is such a thread, or process */
/* Whether all of a list of CPUs are online: -TALLY_EINVAL. */
int k_cpus_check(const char *list, struct err *e);

#endif
