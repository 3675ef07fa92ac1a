/*
 * stat_cpu_int.h: what the files of CPU events share.
 *
 *	stat_cpu.c         events, what they are counted of, readings
 *	stat_cpu_online.c  CPUs that come and go
 *	stat_cpu_lease.c   who holds the counters, and when ours were taken away
 *	stat_cpu_rows.c    figures, metrics, rows
 */
#ifndef TALLY_ASK_STAT_CPU_INT_H
#define TALLY_ASK_STAT_CPU_INT_H

#include "ask/stat_int.h"
#include "kernel/count.h"
#include "platform/holder.h"
#include "provider/provider.h"

struct cpu_span {
	uint64_t from, to;
}; /* nanoseconds since the start; to UINT64_MAX: it goes on */
struct cpu_slot {
	int cpu;      /* -1: all */
	bool offline; /* that CPU, since then */
	uint64_t since_ns;
	struct k_count before, now;
	double mean, m2; /* over the runs that have ended: of what was counted; sum of squared differences */
};
struct cpu_event {
	struct prov_count is;
	const char *name;   /* with :u behind it, where the kernel may not be counted */
	struct k_event *ev; /* is.n of them, of the arena of probes */
	bool hardware;      /* takes a counter */
	int rc;             /* why it can't be counted */
	struct err why;
	struct k_counter *k; /* of this run */
	struct cpu_slot *slot;
	struct k_count *got; /* room for a reading */
	uint32_t nslots;
	struct cpu_span *span; /* when it had no counter */
	uint32_t nspans, capspans;
	bool lost;          /* the last span goes on */
	uint32_t runs_lost; /* in which that happened */
};
struct stat_cpu {
	/* set by the first _add, then read-only */
	struct tally_platform *p;
	const struct tally_stat_opts *o;
	struct probes *probes;
	const char *root;  /* of the places of leases; NULL: the machine's (tests have their own) */
	bool all_hardware; /* tests: software events are pinned and leased as if they took counters */
	/* the events */
	struct cpu_event *ev;
	uint32_t n, cap;
	/* a run */
	struct k_target target;
	int *task;
	uint32_t ntasks, captasks;
	int *watch; /* pidfds of processes */
	uint32_t nwatch, capwatch;
	struct k_child child;
	bool has_child, begun;
	uint64_t start_ns, ended_ns; /* by the wall: of the run; of its command or tasks, 0: they go on */
	uint64_t before_ns, now_ns;  /* since the start: of the last two readings */
	/* CPUs that come and go; not of tasks */
	uint64_t *online; /* bit per CPU, of the last look; the next one's room behind it */
	uint32_t ncpus;
	int (*look)(uint64_t *set, size_t words, struct err *e); /* k_cpus_online(); tests have their own */
	/* leases */
	struct lease *lease;
	bool shut;
	/* all runs */
	uint32_t runs;
	double mean_ns, m2_ns;
	double user_ns, system_ns; /* of the command, per run */
	int status;
	bool said;
};

/* Nanoseconds since the start, of a run that has ended up to its end. */
uint64_t cpu_since(const struct stat_cpu *c);
/* What would have been counted, had it been counted all the time. */
double cpu_scaled(const struct k_count *k);
int cpu_fail(struct stat_cpu *c, int rc, const struct err *e);
bool cpu_counts(const struct cpu_event *ev); /* it can be counted */

/* ---- stat_cpu_online.c ---- */
/* Who is online now; before events are opened. */
int cpu_online_begin(struct stat_cpu *c);
/* Counts those that came, and says who came and went. */
int cpu_online_follow(struct stat_cpu *c);
/* Slots for those of its counter. */
int cpu_slots_grow(struct stat_cpu *c, struct cpu_event *ev);

/* ---- stat_cpu_lease.c ---- */
/* Takes a lease where hardware is counted; -TALLY_EBUSY: held by another, or not all events fit. */
int cpu_lease_take(struct stat_cpu *c);
/* After enabling: whether all have their counters. */
int cpu_lease_fit(struct stat_cpu *c);
/* What has happened to the lease. */
int cpu_lease_look(struct stat_cpu *c);
/* A reading found the event without a counter, or with one. */
int cpu_event_lost(struct stat_cpu *c, struct cpu_event *ev, bool lost);
/* "from 1.203 s to 2.500 s": what of the time from..to it was without a counter; "" when it never was; of several runs
 * in how many that happened. */
void cpu_spans_text(const struct cpu_event *ev, uint64_t from, uint64_t to, char *text, size_t n);
bool cpu_spans_cover(const struct cpu_event *ev, uint64_t from, uint64_t to); /* all of it */
/* A task's event of one CPU is enabled wherever the task is, and runs there alone.  So only over all CPUs does the time
 * say whether it had to take turns; that share is each CPU's. */
void cpu_part_time(const struct stat_cpu *c, struct cpu_event *ev);

#endif
