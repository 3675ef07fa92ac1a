/*
 * serve_int.h: what the files of serve/ share.
 *
 *	serve.c    the calls of tally/serve.h: which programs there are, the loop, what /status says
 *	program.c  one D program: read, compiled, armed, read again, ended
 *	platform.c one platform whose counters are counted: in the place of a program
 *	metric.c   an aggregation as a metric: its name, type, labels, and its samples as text
 *	format.c   which text a client takes, and how numbers and strings are written in it
 *	web.c      TLS and users, of a file; web_int.h
 *	certificate.c  whether clients will take the certificate; certificate_int.h
 *	login.c    whose password is checked, when many come; login_int.h
 *	service.c  what a service manager is told, and which rights are kept
 *	history.c  what aggregations were over time
 *	live.c     the page and its events
 *	archive.c  what programs count, as Parquet; archive_int.h
 *	profile.c  stacks, folded and as pprof has them
 *	push.c     the same, sent to a server; push_int.h
 *	http.c     libmicrohttpd: requests in, texts out; http_int.h has what is shared about requests
 */
#ifndef TALLY_SERVE_INT_H
#define TALLY_SERVE_INT_H

#include <tally/serve.h>

#include "ask/watch.h"
#include "base/base.h"

/* ---- format.c ------------------------------------------------------------------- */
/* The formats of https://prometheus.io/docs/instrumenting/exposition_formats/ and of OpenMetrics 1.0.0. */
enum format { FORMAT_TEXT, FORMAT_OPENMETRICS };
/* By a client's Accept header (NULL: it sent none), of which n bytes count: the one that it weighs more; text when it
 * weighs both alike. */
enum format format_accepted(const char *accept, size_t n);
const char *format_content_type(enum format f);
/* A number as Go writes it, which readers of OpenMetrics take for the one right way: 0.5, 8.0, 1e+06, +Inf. */
void format_number(struct buf *to, double v);
/* name="value", with what would end the value escaped; bytes that are no UTF-8 become U+FFFD. */
void format_label(struct buf *to, const char *name, const char *value, size_t n);
void format_label_number(struct buf *to, const char *name, int64_t value);
void format_help(struct buf *to, const char *text); /* as the text of # HELP */

/* ---- metric.c ------------------------------------------------------------------- */
enum metric_type { METRIC_COUNTER, METRIC_GAUGE, METRIC_SUMMARY, METRIC_HISTOGRAM };
struct metric {
	/* set by metric_open, then read-only */
	char *name, *help; /* "tally_faults", without _total */
	char *source;      /* what it is a metric of: "@faults", or the family of figures "cpc_cpu-clock" */
	const char *unit;  /* "seconds", "ratio", or "" */
	const char *owner; /* the label that says whose a series is: "program", "platform" */
	double scale;      /* what was counted, divided by it, is in the unit */
	bool real;         /* values are no whole numbers */
	bool forgets;      /* what is not in a reading begins anew when it is again; else it was only not known */
	enum metric_type type;
	enum metric_fold { FOLD_ADD, FOLD_MIN, FOLD_MAX, FOLD_NONE } fold; /* how values of several keys make one */
	char **label;
	uint32_t nlabels, most; /* most: series */
	int64_t *last;          /* of a histogram's buckets but the last */
	uint32_t nlast;
	/* what is known from one reading to the next */
	struct map series; /* text of the labels -> struct metric_series */
	uint32_t nseries;
	uint64_t since_ns; /* when it began to count */
	uint64_t reading;  /* its number; the first is 1 */
	uint32_t nseen;    /* series that it had */
	struct metric_past {
		uint64_t reading, ns; /* ns: when it began; of reading 0: since_ns */
	} complete, whole;       /* the last one that went well, and the last such in which each key had a series */
	uint64_t other_since_ns; /* since when keys are too many; and what those had in the last reading */
	int64_t other_value, other_count;
	uint64_t other_epoch;
	uint32_t first, end; /* the buckets that ever were not empty */
	/* of the reading at hand */
	struct buf samples, labels;  /* labels: of the row at hand */
	struct metric_series *other; /* the keys beyond `most`, as one; NULL: there are none */
	uint64_t others;             /* how many those are */
};
struct metric_reading {
	enum format format;
	uint64_t now_ns; /* since 1970 */
};
/* What the aggregation of a program becomes; m is zeroed. -TALLY_ENOTSUP with the reason: it becomes none (stacks are
 * no labels). */
int metric_open(struct metric *m, const char *program, const struct tally_aggregation *a, uint32_t most, struct err *e);
/* What figures of this family become. */
int metric_open_figure(struct metric *m, const struct watch_figure *f, uint32_t most);
void metric_close(struct metric *m);
/* It counts from here on: nothing was counted before. */
void metric_count_since(struct metric *m, uint64_t ns);
/* A reading: begin, each row, end; then m->samples has the lines. */
void metric_begin(struct metric *m, const struct metric_reading *r);
/* epoch: an_row.epoch of the row */
int metric_add(struct metric *m, const struct metric_reading *r, const char *program, const struct tally_row *row,
	       uint64_t epoch);
int metric_add_figure(struct metric *m, const struct metric_reading *r, const char *platform,
		      const struct watch_figure *f);
int metric_end(struct metric *m, const struct metric_reading *r, const char *program);
/* # HELP, # TYPE and # UNIT. */
void metric_head(struct buf *to, enum format f, const char *name, enum metric_type type, const char *unit,
		 const char *help);
enum own_metric {
#define OWN(name, type, unit, help) OWN_##name,
#include "serve/own.def"
#undef OWN
};
void metric_head_own(struct buf *to, enum format f, enum own_metric which);
bool metric_has_sample(const struct metric *m, const char *name); /* "tally_x_sum" of the histogram tally_x */
bool metric_is_own(const char *name);                             /* "tally_up": the service itself has it */

/* ---- program.c ------------------------------------------------------------------- */
enum program_state { PROGRAM_RUNS, PROGRAM_FAILED, PROGRAM_ENDED };
struct program {
	char *path, *name;
	char *text; /* that was compiled, or NULL */
	size_t n;
	struct tally_trace *trace; /* running, or ended; NULL: it failed, or is a platform */
	enum program_state state;
	struct err why;        /* it does not run; or runs with its old text, since the new one fails */
	struct metric *metric; /* one for each aggregation, in their order; those without a name are none */
	uint32_t nmetrics, capmetrics;
	uint64_t since_ns;        /* when it began to count */
	uint64_t generation;      /* how many texts of it ran: another one has other aggregations */
	struct map archived;      /* rows as the archive read them last; archive.c's */
	bool of_directory, stays; /* stays: found again by a reload */
	struct tally_serve *serve;
	/* of a platform, whose path and name are what --on said */
	bool is_platform, is_capture; /* is_capture: of one of its PTT devices, which stands behind its name */
	char *events, *view;
	struct watch *watch; /* NULL: it failed */
	struct map family;   /* watch_figure.family -> its place in metric + 1 */
	uint64_t passed_ns;  /* when time last passed there, or it was tried last */
	uint64_t retry_ns;   /* it is tried again so long after that; 0: only by a reload */
};
int program_open(struct tally_serve *s, const char *path, struct program **ret);
void program_close(struct program *p);
/* Reads the file and compiles it; 0: it is as it was, or p->trace is compiled; negative with p->why, and what ran goes
 * on. */
int program_load(struct program *p, bool *is_new);
int program_start(struct program *p); /* arms it; negative with p->why */
/* What it has to do, as far as it is due. */
void program_work(struct program *p);
/* Fills the metrics' samples; negative with p->why. */
int program_read(struct program *p, const struct metric_reading *r);
/* It has failed: keeps the words. */
int program_fail(struct program *p, int rc, const char *words, const char *reason);
void program_forget_metrics(struct program *p);
int program_firings_lost(const struct program *p,
			 uint64_t *ret);                 /* of one with a trace; negative: they cannot be read */
const char *program_state_text(const struct program *p); /* "running" */

/* ---- platform.c ------------------------------------------------------------------ */
/* device: a PTT device, of which `events` is an event; NULL. */
int platform_open(struct tally_serve *s, const char *on, const char *device, const char *events, const char *view,
		  struct program **ret);
void platform_close(struct program *p);
/* Begins to count, unless it does; negative with p->why. */
int platform_load(struct program *p);
void platform_work(struct program *p);
uint64_t platform_wait_ns(const struct program *p, uint64_t now); /* until that has something to do, which it has */
int platform_read(struct program *p, const struct metric_reading *r);

/* ---- serve.c ---------------------------------------------------------------------- */
struct tally_serve {
	struct tally_serve_opts o;
	char *directory;
	struct program **program;
	uint32_t nprograms, capprograms;
	struct http *http;
	struct live *live;           /* live_int.h */
	struct profiles *profiles;   /* likewise */
	struct push *push;           /* push_int.h; NULL: nothing is sent */
	struct archive *archive;     /* archive_int.h; NULL: nothing is kept */
	uint64_t scrapes, scrape_ns; /* how many there were, and how long the last one took */
	uint64_t alive_ns;           /* when the service manager last heard that we live */
	bool dropped;                /* capabilities were given up */
	bool unsettled;              /* there are metrics whose names were not held against the others' */
	struct err err;
	struct err refused; /* the directory or web.yml, by the last reload */
};
void serve_note(const struct tally_serve *s, const char *fmt, ...) PRINTF_LIKE(2, 3);
struct web;
void serve_warn(const struct tally_serve *s, const struct web *w);                 /* what was found when it was read */
struct program *serve_find_program(const struct tally_serve *s, const char *name); /* NULL: there is none */
int serve_metrics(struct tally_serve *s, enum format f, struct buf *to);
int serve_status(struct tally_serve *s, struct buf *to);

/* ---- service.c ---------------------------------------------------------------------- */
/* A line or more for the service manager, as sd_notify(3) has them. */
void service_tell(const struct tally_serve *s, const char *fmt, ...) PRINTF_LIKE(2, 3);
void service_tell_alive(struct tally_serve *s); /* if that is due */
void service_raise_rights(bool raised);         /* capabilities: as many as are permitted, or none for a while */
int service_drop_rights(struct err *e);         /* for good */

/* ---- http.c ------------------------------------------------------------------------ */
/* address: "127.0.0.1:7347" or "[::1]:7347". -TALLY_EINVAL: no such; it is not of the loopback network, and that is
 * asked for. */
int http_address(const char *text, bool loopback, struct err *e);
/* Listens at the address, or takes s->o.listen_fd, with what s->o.web has of TLS and users. */
int http_open(struct http **ret, struct tally_serve *s, const char *address, struct err *e);
int http_reload(struct http *h, struct err *e); /* reads s->o.web again; negative: it goes on with what it had */
void http_close(struct http *h);
int http_fd(const struct http *h);      /* readable when http_run() has something to do */
int http_wait_ms(const struct http *h); /* when it has, without that; -1: never */
void http_run(struct http *h);
uint16_t http_port(const struct http *h);

#endif
