/*
 * tally/serve.h: D programs and platforms as a service, and what they count over HTTP, in the formats of Prometheus.
 *
 *	tally_serve_open      a handle, nothing listens yet
 *	tally_serve_program   a file with a D program, once or more; or _directory; or _platform
 *	tally_serve_check     compiles them and says which metrics there will be; or
 *	tally_serve_run       listens, arms the probes, answers, until `stop` is set
 *	tally_serve_close
 *
 * Aggregations become metrics: count() is a counter, sum() min() max() stddev() are gauges, avg() is a summary,
 * quantize() and its like are histograms. Each element of the tuple is a label. Programs come from files alone, never
 * over HTTP.
 *
 * A handle belongs to one thread. The library prints nothing; `note` gets what a log should have.
 */
#ifndef TALLY_SERVE_H
#define TALLY_SERVE_H

#include <tally/tally.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TALLY_SERVE_PORT 7347 /* outside the ranges that exporters of Prometheus have shared out */
#define TALLY_SERVE_SERIES 1000

struct tally_serve; /* opaque: made by _open, dead after _close */

struct tally_serve_opts {
	size_t size;                  /* sizeof at the caller: lets us grow */
	const char *listen;           /* "ADDRESS:PORT"; port 0: any; NULL: 127.0.0.1 and TALLY_SERVE_PORT */
	tally_write_fn *note;         /* what happened, whole lines; NULL: dropped */
	void *arg;                    /* for note and clock */
	uint64_t (*clock)(void *arg); /* nanoseconds since 1970; not NULL */
	const volatile int *stop;     /* set, by a signal handler too, when the service is to end; NULL */
	volatile int *reload;         /* set when the programs are to be read again, and cleared then; NULL */
	uint32_t series, flags;       /* most series of an aggregation, 0: TALLY_SERVE_SERIES; TALLY_SERVE_... */
	/* TLS and users, as the exporters of Prometheus have them (tally-serve(1)); without both, other addresses than
	 * those of the loopback network are refused. Read by _run and at each reload. NULL: neither. */
	const char *web;
	/* Of a service manager, as sd_listen_fds(3), sd_notify(3) and sd_watchdog_enabled(3) have them. */
	int listen_fd;        /* a socket that listens, in place of `listen`; 0: none */
	const char *notify;   /* NOTIFY_SOCKET; NULL */
	uint64_t watchdog_ns; /* how often it wants to hear that the service lives; 0: never */
	uint64_t history;     /* seconds that are kept for the page, also while none is open; 0: 600, while one is */
	/* Where profiles are sent to: "http://HOST:PORT" of a server that takes what Pyroscope's agents send. NULL:
	 * nowhere. */
	const char *push;
	uint64_t push_seconds; /* from one profile to the next; 0: 15 */
	/* A directory where what the programs count is kept as Parquet, by aggregation, program, host and hour; NULL:
	 * nowhere. */
	const char *archive;
	uint64_t archive_seconds; /* from one file to the next; 0: 600 */
	const char *host;         /* this one's name there */
	const char *duckdb;       /* libduckdb.so; NULL: as the run-time linker finds it */
};
#define TALLY_SERVE_DROP \
	1u /* gives its capabilities up once the programs run: a reload cannot load those that changed */
#define TALLY_SERVE_FOLDED 2u /* sends folded stacks, and not profiles of pprof */

/* -TALLY_ENOMEM, -TALLY_EINVAL: unknown bytes in opts, no clock, `push` is no URL, `listen` is no address, or without
 * `web` none of the loopback network. *ret is made also then, for its words. */
TALLY_API int tally_serve_open(struct tally_serve **ret, const struct tally_serve_opts *opts);
TALLY_API void tally_serve_close(struct tally_serve *s); /* NULL is fine */
/* The words of the last call that failed; "" when none has. */
TALLY_API const char *tally_serve_error(const struct tally_serve *s);

/* The file is read by _check, _run and at each reload; whoever may write it, other than root and this process's user,
 * is refused. The name without directory and ".d" is the program's. -TALLY_EINVAL: another program has that name. */
TALLY_API int tally_serve_program(struct tally_serve *s, const char *path);
/* All files *.d of a directory, which is looked at again at each reload. -TALLY_EIO: it can't be read. */
TALLY_API int tally_serve_directory(struct tally_serve *s, const char *path);

/* Counters of a platform that tally_platform_open() takes, NULL: this machine; events or a view as tally_stat() has
 * them; CPU events are counted of all CPUs. An event of a PTT device, as tally_record() has it, is a platform of its
 * own, whose name has the device behind a slash. It is opened by _check and _run, and at a reload if it has failed.
 * -TALLY_EINVAL: neither or both of events and view, or the platform is there already. */
TALLY_API int tally_serve_platform(struct tally_serve *s, const char *on, const char *events, const char *view);

/* Compiles the programs and hands a line for each metric to `out`. The number of programs that do not compile;
 * -TALLY_ENOMEM, ... */
TALLY_API int tally_serve_check(struct tally_serve *s, tally_write_fn *out, void *arg);
/* Listens until stop. A program that fails does not end it: tally_up is 0 then, and /status has the reason.
 * -TALLY_ENOTSUP: libmicrohttpd, or libcurl for `push`, is not installed; -TALLY_ESTATE: it ran before; -TALLY_EBUSY:
 * the port is taken, or another service of this host has the archive; -TALLY_EIO; -TALLY_EPERM. */
TALLY_API int tally_serve_run(struct tally_serve *s);

#ifdef __cplusplus
}
#endif

#endif
