/*
 * watch.h: counters of one platform that somebody looks at from time to time.
 *
 *	watch_open     what tally_stat() counts, but nothing is shown; it counts from here on.  Others count what they
 *	               do, and are opened elsewhere (capture/watch.h); all that follows holds for them too
 *	watch_pass     time goes on: as often as every_ns says
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

#include <tally/platform.h>

#include "answer/page.h"

#define WATCH_LABELS 4u
struct watch_label {
	const char *name, *value;
};
/* Values by size: bucket i has those up to last[i], the one behind them what is above. */
struct watch_buckets {
	const int64_t *last;
	const uint64_t *bucket; /* nlast + 1 */
	uint32_t nlast;
	uint64_t n, sum; /* of all values */
};
struct watch_figure {
	/* what it is wherever it is counted: "gpci_entitled_capped", "vfalls_mem_reads", "cpc_page-faults:u" */
	const char *family;
	const char *text; /* what it counts, of facts; never empty */
	const char *unit; /* "cycles", "ns", "ratio", or "" */
	bool grows;       /* it only grows */
	struct an_cell value;
	const struct watch_buckets *buckets;    /* a histogram, and value is only known or none; NULL */
	struct watch_label label[WATCH_LABELS]; /* whose it is: "partition", "3" */
	uint32_t nlabels;
};
/* What it gets lives until it returns; a value that is none is not known now. A negative return ends the reading. */
typedef int watch_take(void *arg, const struct watch_figure *f);

/* So much was lost since the start. kind: a word; text: what is counted. A negative return ends it. */
typedef int watch_take_loss(void *arg, const char *kind, const char *text, uint64_t count);

/* What whoever counts is to the calls below; the first member of his own struct. */
struct watch {
	const struct watch_ops *ops;
	uint64_t every_ns; /* by the clock: so often time is to go on */
};
struct watch_ops {
	void (*close)(struct watch *w);
	const char *(*error)(const struct watch *w);
	int (*pass)(struct watch *w);
	bool (*is_due)(const struct watch *w);
	int (*read)(struct watch *w, watch_take *take, void *arg);
	int (*losses)(const struct watch *w, watch_take_loss *take, void *arg); /* NULL: nothing can get lost */
	double (*seconds)(const struct watch *w);
};
struct watch_opts {
	const char *on;                                     /* as --on has it; NULL: this machine */
	const char *events;                                 /* or */
	const char *view;                                   /* NULL */
	int (*note)(void *arg, const char *text, size_t n); /* what is said beside figures, whole lines */
	void *arg;                                          /* for note */
	const volatile int *stop;                           /* NULL */
	uint32_t answer_ms;                                 /* as tally_platform_opts has it */
	bool is_sealed; /* rights are given up once it is open: nothing can be opened anew */
};
/* How the platform is opened whose figures those are. */
static inline struct tally_platform_opts watch_platform_opts(const struct watch_opts *o)
{
	return (struct tally_platform_opts){ .size = sizeof(struct tally_platform_opts),
					     .on = o->on,
					     .note = o->note,
					     .arg = o->arg,
					     .stop = o->stop,
					     .answer_ms = o->answer_ms };
}
/* Errors: as tally_platform_open() and tally_stat(). *ret is made also then, for its words; NULL: memory is out. */
int watch_open(struct watch **ret, const struct watch_opts *o);
/* NULL is fine */
static inline void watch_close(struct watch *w)
{
	if (w)
		w->ops->close(w);
}
static inline const char *watch_error(const struct watch *w)
{
	return w->ops->error(w);
}
/* Negative: the platform is gone, or its counters are. */
static inline int watch_pass(struct watch *w)
{
	return w->ops->pass(w);
}
/* Whether a reading tells something new; not before a view's second is over: then the figures of the last one stand. */
static inline bool watch_is_due(const struct watch *w)
{
	return w->ops->is_due(w);
}
static inline int watch_read(struct watch *w, watch_take *take, void *arg)
{
	return w->ops->read(w, take, arg);
}
/* Each kind that there may be, also where nothing of it was lost. */
static inline int watch_losses(const struct watch *w, watch_take_loss *take, void *arg)
{
	return w->ops->losses ? w->ops->losses(w, take, arg) : 0;
}
/* Of the platform's own time, since the start. */
static inline double watch_seconds(const struct watch *w)
{
	return w->ops->seconds(w);
}

#endif
