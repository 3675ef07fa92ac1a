/*
 * watch.h: counters of one platform that somebody looks at from time to time.
 *
 *	watch_open     what tally_stat() counts, but nothing is shown; it counts from here on
 *	watch_pass     time goes on: once a second
 *	watch_read     what there is now, a figure at a time
 *	watch_close
 *
 * Figures are those of tally_stat(), of the same rows: since the start for what only grows, else as it is now; those of
 * a view are of the time since the reading before, of a second at least: until that is over the last ones stand.
 *
 * A model's time keeps to the clock of the wall if the model is as fast as that; if not it falls behind, for a pass
 * takes a tenth of a second at most. watch_seconds() says how far it came.
 *
 * Thread rule: one thread.  Refuses: commands, processes, several platforms in one watch.
 */
#ifndef TALLY_ASK_WATCH_H
#define TALLY_ASK_WATCH_H

#include "answer/page.h"

#define WATCH_LABELS 4u
struct watch_label {
	const char *name, *value;
};
struct watch_figure {
	/* what it is wherever it is counted: "gpci_entitled_capped", "vfalls_mem_reads", "cpc_page-faults:u" */
	const char *family;
	const char *text; /* what it counts, of facts; never empty */
	const char *unit; /* "cycles", "ns", "ratio", or "" */
	bool grows;       /* it only grows */
	struct an_cell value;
	struct watch_label label[WATCH_LABELS]; /* whose it is: "partition", "3" */
	uint32_t nlabels;
};
/* What it gets lives until it returns; a value that is none is not known now. A negative return ends the reading. */
typedef int watch_take(void *arg, const struct watch_figure *f);

struct watch;
struct watch_opts {
	const char *on;                                     /* as --on has it; NULL: this machine */
	const char *events;                                 /* or */
	const char *view;                                   /* NULL */
	int (*note)(void *arg, const char *text, size_t n); /* what is said beside figures, whole lines */
	void *arg;                                          /* for note */
	const volatile int *stop;                           /* NULL */
};
/* Errors: as tally_platform_open() and tally_stat(). *ret is made also then, for its words; NULL: memory is out. */
int watch_open(struct watch **ret, const struct watch_opts *o);
void watch_close(struct watch *w); /* NULL is fine */
const char *watch_error(const struct watch *w);
/* Negative: the platform is gone, or its counters are. */
int watch_pass(struct watch *w);
/* Whether a reading tells something new; not before a view's second is over: then the figures of the last one stand. */
bool watch_is_due(const struct watch *w);
int watch_read(struct watch *w, watch_take *take, void *arg);
double watch_seconds(const struct watch *w); /* of the platform's own time, since the start */

#endif
