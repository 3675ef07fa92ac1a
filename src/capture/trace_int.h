/*
 * trace_int.h: one trace of a PTT device, for those who keep it (record.c), who judge by it (tune.c), and who count
 * what comes (watch.c).
 */
#ifndef TALLY_CAPTURE_TRACE_INT_H
#define TALLY_CAPTURE_TRACE_INT_H

#include "platform/platform.h"

/* What is to be traced. */
struct plat_traced {
	const struct ptt_pmu *pmu; /* as plat_ptt_list() gave it: until that is called again */
	struct ptt_ask ask;
	size_t ring; /* bytes */
};
/* Of an event as perf writes it, and a ring ("16M"; NULL: the usual one). Errors as tally_record(), words are p's. */
int plat_trace_check(struct tally_platform *p, const char *event, const char *ring, struct plat_traced *ret);

/* A trace, and where its bytes go. */
struct plat_trace {
	const char *event;        /* as perf writes it */
	const char *ring;         /* "16M", or NULL */
	char *const *argv;        /* the command, or NULL */
	uint64_t duration_ns;     /* of the platform's own time; 0: no limit */
	const volatile int *stop; /* NULL: nobody stops it */
	/* The device traces, the command does not run yet; NULL. Negative: undone. */
	int (*started)(void *arg, const struct ptt_pmu *pmu, const struct ptt_ask *ask);
	/* Takes committed bytes, a->n of them or none, and what is known to be lost before them. Negative: the trace
	 * ends, and plat_trace() returns it. */
	int (*take)(void *arg, const struct ptt_aux *a);
	/* Now and then, whether bytes came or not; NULL. Negative as take(). */
	int (*tick)(void *arg);
	void *arg;
	/* results */
	uint64_t bytes, records, lost;
	uint64_t ns;        /* of the platform's own time, from start to stop */
	int status;         /* of the command: 0 without one */
	bool stopped;       /* *stop was set */
	bool ended_command; /* it was told to end, and `status` says how it did */
};
/* Runs until the command has ended (or *stop, or the duration), and hands over all that was committed, in every case.
 * Errors as tally_record(); the words are p's. */
int plat_trace(struct tally_platform *p, struct plat_trace *t);

/* watch.c: counts a device's packets. p, whose open may have failed, is the watch's from here on, and closed with it,
 * or at once when *ret is NULL: memory is out. */
struct watch;
struct watch_opts;
int capture_watch_begin(struct watch **ret, struct tally_platform *p, const struct watch_opts *o);

#endif
