/*
 * machine_log.h: what a machine says of traces that ended, however many a client makes of them.
 *
 * A client of a server, or a guest behind it, starts and stops traces as often as it likes, and each that ends is worth
 * a line to whoever runs the machine.  So a window of MACHINE_LOG_NS has MACHINE_LOG_LINES lines at most; traces beyond
 * are added up, and one line tells their sum when the window is over and when the machine ends.
 */
#ifndef TALLY_MACHINE_LOG_H
#define TALLY_MACHINE_LOG_H

#include "base/base.h"
#include "ptt/device.h"

#define MACHINE_LOG_LINES 20u
#define MACHINE_LOG_NS UINT64_C(10000000000)

struct machine_log {
	/* set by the owner, then read-only */
	int (*note)(void *arg, const char *text, size_t n); /* NULL: nobody listens */
	void *arg;
	/* zero at first */
	uint64_t began_ns;         /* the window */
	uint32_t lines;            /* in it */
	uint64_t left_out;         /* traces without a line in it */
	struct ptt_dev_counts sum; /* of them */
};
/* A trace ended at now_ns (of any clock that only goes on). */
void machine_log_trace(struct machine_log *l, uint64_t now_ns, const char *device, const struct ptt_dev_counts *c);
/* Time has passed: a window that is over tells what it left out. */
void machine_log_passed(struct machine_log *l, uint64_t now_ns);
/* The machine ends: the window is over. */
void machine_log_end(struct machine_log *l);

#endif
