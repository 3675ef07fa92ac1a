/*
 * tally/tally.h: ask CPU events a question in D, from C.
 *
 * A trace goes through these calls in this order:
 *
 *	tally_trace_open    a handle
 *	tally_trace_option  "strsize=64", "quiet": what -x and #pragma D option take
 *	tally_trace_source  D text, once or more
 *	tally_trace_compile source to programs; probes are looked up here
 *	tally_trace_go      loads, runs BEGIN, arms the probes, starts the command
 *	tally_trace_work    waits and hands output to `out`; until it returns 1
 *	tally_trace_stop    disarms, runs END, hands over what is left
 *	tally_trace_close
 *
 * A call out of order is -TALLY_ESTATE and changes nothing; the words say which comes first.
 *
 * Every function that can fail returns a negative enum tally_err; the words are
 * tally_trace_error(): complete as dtrace(1) prints them, without the
 * program's name in front.  The library never prints, never exits and reads
 * no environment; a handle belongs to one thread.
 */
#ifndef TALLY_TALLY_H
#define TALLY_TALLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tally/error.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tally_trace; /* opaque: made by _open, dead after _close */

/* Takes bytes of output. Returns 0, or negative to end the run (a broken pipe). */
typedef int tally_write_fn(void *arg, const char *text, size_t n);

/* How answers look. Each call says which of these it has; another one is -TALLY_EINVAL. */
enum tally_format {
	TALLY_FORMAT_TEXT,
	TALLY_FORMAT_JSON,      /* one object a line */
	TALLY_FORMAT_CSV,       /* with a header row */
	TALLY_FORMAT_PERF,      /* PTT blocks as `perf report -D` of perf 7.2 prints them */
	TALLY_FORMAT_PERF_SPEC, /* the older text, which hisi_ptt.rst shows */
	TALLY_FORMAT_FOLDED,    /* stacks, one a line, for flame graphs */
	TALLY_FORMAT_HTML,      /* one page, which needs nothing else */
	TALLY_FORMAT_PARQUET,
	TALLY_FORMAT_PPROF, /* a profile of pprof, in gzip */
};

struct tally_trace_opts {
	size_t size;              /* sizeof at the caller: lets us grow */
	tally_write_fn *out;      /* answers; NULL: dropped */
	tally_write_fn *note;     /* what dtrace prints on stderr ("matched 1 probe", drops, run-time errors):
						 * whole lines without the program's name; NULL: dropped */
	void *arg;                /* for both */
	const char *sysfs, *conf; /* fake tree and configuration for tests; NULL: the real ones */
	uint32_t format;          /* TALLY_FORMAT_TEXT, _JSON, _FOLDED, _HTML, _PPROF */
	uint32_t flags;           /* TALLY_TRACE_*; unknown bits are refused */
	const volatile int *stop; /* set, by a signal handler too, when the run is to end: heard while programs are
				   * loaded, and of _on("unix:PATH") as tally_platform_opts has it; NULL */
	/* of a format that is one document of aggregations (_FOLDED, _HTML, _PPROF): what the program prints, as text;
	 * `out` gets the document, from _stop. NULL: dropped */
	tally_write_fn *print;
};
#define TALLY_TRACE_DESTRUCTIVE 1u /* -w */
#define TALLY_TRACE_EMPTY_OK 2u    /* -Z */
/* Runs BEGIN, ERROR, tick and END in user space, without privileges and on a virtual clock: waiting takes no
 * time, the run is over when nothing is left that could fire. Probes of events are refused by _go. */
#define TALLY_TRACE_VM 4u
/* -v: each CPU on which firings were lost has a note, however few they were. Without it those that lost less than 0.5 %
 * share one, which "quiet" leaves out. */
#define TALLY_TRACE_VERBOSE 8u
/* `out` is a terminal: control bytes of strings and characters that the script prints are shown as \x1b, for they may
 * come from anybody's process or file. Those of its formats pass; option "rawctl" lets all pass. */
#define TALLY_TRACE_TERMINAL 16u
/* Destructive actions are refused by _go, whoever allowed them: for a program with more rights than its user. */
#define TALLY_TRACE_HARMLESS 32u
/* Texts that scripts of dtrace(1) compare are word for word its own, also where tally has a better one. */
#define TALLY_TRACE_COMPAT 64u
/* Records begin with FUNCTION:NAME, without the CPU and the id, which differ from run to run: for output that is
 * compared. */
#define TALLY_TRACE_UNNUMBERED 128u
/* Histograms also keep the sum of their values, which costs an addition at each firing: struct tally_row has it. */
#define TALLY_TRACE_SUMS 256u
/* Of aggregations only what printa() asks for is printed, and nothing at the end: for who reads them by _walk. */
#define TALLY_TRACE_PRINTA_ONLY 512u

/* Of the library, "0.2.0"; the string is the library's. */
TALLY_API const char *tally_version(void);

/* opts NULL: all defaults. -TALLY_ENOMEM, -TALLY_EINVAL (unknown flag, unknown bytes in opts). */
TALLY_API int tally_trace_open(struct tally_trace **ret, const struct tally_trace_opts *opts);
/* In any state; a command that still runs is killed. NULL is fine. */
TALLY_API void tally_trace_close(struct tally_trace *t);
/* The words of the last call that failed, good until the next call; "" when none has. */
TALLY_API const char *tally_trace_error(const struct tally_trace *t);
/* The line that explains it further, or "". */
TALLY_API const char *tally_trace_reason(const struct tally_trace *t);

/* name and value as after -x; value NULL: a flag. -TALLY_EINVAL: no such option, or not a value for it. */
TALLY_API int tally_trace_option(struct tally_trace *t, const char *name, const char *value);
/* i-th option's name and one line of help, for completion and docs; false past the last. */
TALLY_API bool tally_option(unsigned i, const char **name, const char **help);

/* name: file for messages, NULL for text of the command line (-n). The text is copied. */
TALLY_API int tally_trace_source(struct tally_trace *t, const char *name, const char *text, size_t n);
/* $0 (script), $1 ... $argc. Copied. -TALLY_ESTATE: they were given before. */
TALLY_API int tally_trace_args(struct tally_trace *t, const char *script, int argc, char *const *argv);
/* --on, before _compile and once: "local"; "vm" (as TALLY_TRACE_VM); or a file of records, whose probes are ptt's: a
 * perf.data file with PTT data or bare records, and keys behind it: "x.data,time=delta,format=8dw". The run is over
 * when all records have fired; it needs no privileges. -TALLY_EINVAL: neither a platform nor a file, or no such key;
 * -TALLY_ECORRUPT: a file without records; -TALLY_EIO; -TALLY_ESTATE: one was given before. */
TALLY_API int tally_trace_on(struct tally_trace *t, const char *platform);
/* -c: a command, split as a shell does, which is $target; it starts in _go. -TALLY_ESTATE: one was given before. */
TALLY_API int tally_trace_command(struct tally_trace *t, const char *command);
/* -p: a process, which is $target. -TALLY_EINVAL: there is none of that number; -TALLY_ESTATE: one was given before. */
TALLY_API int tally_trace_process(struct tally_trace *t, int pid);
/* --dump, before _compile: which hands the result of that pass (parse bind type lower check bpf) to `out`.
 * -TALLY_ESTATE: one was given before. */
TALLY_API int tally_trace_dump(struct tally_trace *t, const char *pass);

/* The sources to programs; probes are looked up here. -TALLY_ESYNTAX, -TALLY_EINVAL, ...: the words name the line,
 * _reason what would help. */
TALLY_API int tally_trace_compile(struct tally_trace *t);
/* -l: hands the list of the probes of the sources (or of all providers when there are none) to `out`.
 * Before _compile or after it. */
TALLY_API int tally_trace_list(struct tally_trace *t, bool verbose);
/* -P, -m, -f, -n: a description for a listing or to enable, predicate and actions behind it. Its last word is that part
 * of a probe's name, and those before it may stand in front: with TALLY_PART_FUNCTION "read", ":read" or
 * "syscall::read". Copied. */
enum tally_part { TALLY_PART_PROVIDER, TALLY_PART_MODULE, TALLY_PART_FUNCTION, TALLY_PART_NAME };
TALLY_API int tally_trace_probe(struct tally_trace *t, uint32_t part, const char *text);
/* -v of a run: the program stability report (text) to `out`. */
TALLY_API int tally_trace_report(struct tally_trace *t);

/* -TALLY_EBUSY, -TALLY_ENOTSUP, -TALLY_EPERM ...: a probe can't be enabled; nothing was printed, and _go can be
 * tried again. -TALLY_EINVAL: the command can't be run (status 126 or 127). */
TALLY_API int tally_trace_go(struct tally_trace *t);
/* 0: go on; 1: the run is over (exit(), the command ended, the process of -p ended). Ends early on a signal. */
TALLY_API int tally_trace_work(struct tally_trace *t, int timeout_ms);
/* Disarms the probes, runs END, hands over what is left and what was lost. -TALLY_EIO: `out` did not take it. */
TALLY_API int tally_trace_stop(struct tally_trace *t);
/* After _stop: exit(n)'s status if it was called; else the command's, as a shell gives it; else 0, as before _stop. */
TALLY_API int tally_trace_status(const struct tally_trace *t);

/* ---- aggregations, after _stop or between calls of _work ------------------------------ */
struct tally_key {        /* one element of a tuple */
	const char *text; /* as printed: a string, a symbol, "" for a number; stacks: frames joined by '\n' */
	int64_t number;   /* a number, or the raw address */
	bool is_number;
};
struct tally_bucket {
	int64_t from, count;
};
struct tally_row {
	const char *name, *function; /* "" for @; "count", "quantize", ... */
	const struct tally_key *key;
	uint32_t nkeys;
	int64_t value; /* as printed (avg and stddev: computed) */
	const struct tally_bucket *bucket;
	uint32_t nbuckets;    /* histograms: the buckets that are not empty */
	uint32_t aggregation; /* its number, in the order of tally_trace_aggregations() */
	int64_t sum, count; /* avg, and with TALLY_TRACE_SUMS histograms: what was added, and how many times; else 0 */
};
/* Calls row for each row of each aggregation, sorted as printed. What row gets lives until it returns. A negative
 * return of row ends the walk and is returned. */
TALLY_API int tally_trace_walk(struct tally_trace *t, int (*row)(void *arg, const struct tally_row *r), void *arg);

/* What an aggregation is, known once the sources are compiled. */
struct tally_aggregation {
	const char *name, *function; /* as in struct tally_row */
	const char *const
		*key; /* the elements of its tuple as the first clause that adds to it writes them: "execname" */
	uint32_t nkeys;
	bool has_stack;      /* one of them is a stack */
	const int64_t *last; /* histograms: the greatest value of each bucket but the last, which has none */
	uint32_t nlast;
	const char *comment; /* the comment directly in front of that clause, as one line; "" */
};
/* After _compile: calls each for each aggregation, in the order of their first use. What each gets lives until it
 * returns. A negative return ends the walk and is returned. */
TALLY_API int tally_trace_aggregations(struct tally_trace *t, int (*each)(void *arg, const struct tally_aggregation *a),
				       void *arg);

/* After _go: a descriptor that poll(2) finds readable when _work has something to do, besides what is due after some
 * time (drops, CPUs that come and go: call _work once a second); it belongs to the trace. -TALLY_ENOTSUP: a run in user
 * space or over records. */
TALLY_API int tally_trace_fd(struct tally_trace *t);
/* Between calls of _work and after _stop: calls each for each kind of drop ("principal", "aggregation" ... as in JSON),
 * also those of which there was none, with what was dropped since _go, and for "firings", which are the program's. */
TALLY_API int tally_trace_drops(struct tally_trace *t, int (*each)(void *arg, const char *kind, uint64_t count),
				void *arg);

struct tally_loss {        /* how firings compare with the events that were counted */
	const char *probe; /* its full name */
	uint32_t cpu;
	uint64_t counted, period, firings, lost; /* lost = counted / period - firings, never below 0 */
};
/* Between calls of _work, where the last firings may still hide a loss, and after _stop: calls each for each probe and
 * CPU where events were counted. A negative return of each ends the walk and is returned. */
TALLY_API int tally_trace_losses(struct tally_trace *t, int (*each)(void *arg, const struct tally_loss *l), void *arg);

#ifdef __cplusplus
}
#endif

#endif
