/*
 * tally/platform.h: platforms, from C: what can be listed, read, set, recorded, tuned.
 *
 * A platform is what `--on` names: "local" (this machine), a model in this
 * process ("kunpeng,seed=7,load=nvme", "batoka", "power,firmware=8"), another process's
 * ("unix:PATH"), or a file of what was saved of one ("./reply").  Calls come in this order:
 *
 *	tally_platform_open     a handle
 *	tally_list, tally_get, tally_set, tally_record, tally_tune, tally_stat, tally_check
 *	tally_platform_close
 *
 * The handle of an open that failed has words and nothing else: a call with it is -TALLY_ESTATE.
 *
 * Every function that can fail returns a negative enum tally_err; the words are
 * tally_platform_error().  What a call found out besides is written to its result, a
 * struct of its own whose size the caller sets, also when the call failed; NULL: nobody
 * wants to know.  The library never prints, never exits and reads no
 * environment; a handle belongs to one thread, but for the `stop` words, which any
 * thread or signal handler may set.
 */
#ifndef TALLY_PLATFORM_H
#define TALLY_PLATFORM_H

#include <stdbool.h>

#include <tally/ptt.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tally_platform; /* opaque: made by _open, dead after _close */

struct tally_platform_opts {
	size_t size;          /* sizeof at the caller: lets us grow */
	const char *on;       /* NULL: "local" */
	const char *sysfs;    /* of "local": another root than /sys (tests); NULL: /sys */
	tally_write_fn *note; /* warnings, whole lines; NULL: dropped */
	void *arg;
	uint32_t profile;         /* enum tally_profile */
	uint32_t flags;           /* must be 0 */
	const char *load;         /* of a model: as load= in `on`; NULL */
	uint64_t run_ns;          /* of a model: how long it runs before tally_get() reads hypervisor counters; 0: as
					       * long as its row says (tally-get(1)) */
	const volatile int *stop; /* set: a server behind a socket that does not answer has 2 s in all to do so, however
					       * much is left to be asked; NULL */
	uint32_t answer_ms; /* how long a server behind a socket may take to answer; 0: 10 s, and `stop` as it says.
				   * Once it took longer, all that is still asked has a quarter of that. */
};
/* DRIVER: the Linux driver's (PTT); OPENSPARC: the genuine Niagara hypervisor's (sun4v). */
enum tally_profile { TALLY_PROFILE_SPEC, TALLY_PROFILE_DRIVER, TALLY_PROFILE_OPENSPARC };

/* On failure too *ret is a handle, for its words (NULL only for -TALLY_ENOMEM). -TALLY_EINVAL: no such platform, key or
 * value; -TALLY_EIO: nobody answers at the socket. Whether the machine has the hardware is asked later. */
TALLY_API int tally_platform_open(struct tally_platform **ret, const struct tally_platform_opts *opts);
/* A model goes with it. NULL is fine. */
TALLY_API void tally_platform_close(struct tally_platform *p);
/* The words of the last call that failed, good until the next call; "" when it did not. */
TALLY_API const char *tally_platform_error(const struct tally_platform *p);

/* where answers go, and how they look; it stands inside other structs, so its layout is fixed */
struct tally_out {
	size_t size;
	tally_write_fn *out;
	void *arg;
	uint32_t format; /* TALLY_FORMAT_TEXT, _JSON, _CSV */
	char separator;  /* of CSV; 0: a comma */
	uint8_t raw;     /* tally_get() of hypervisor counters: the bytes, as hexadecimal digits */
	uint8_t colour;  /* text: utilisation in colours */
	/* Text: of a terminal that is to show it, 255 at most; words go on below their own column. 0: a row is one
	 * line. */
	uint8_t columns;
};

/* What there is. kind "ptt", "vfalls", "mmustat", "gpci": what this platform has of them, and allows; pattern: a glob
 * over names, or NULL. kind "probes", "events", "registers", "requests", "tunables", "machines", "loads", "views": what
 * is known by name, wherever it is; pattern: a glob over names, or any part of what is told of them. Any other kind,
 * without a pattern, is a pattern over all of the latter. kind NULL: which kinds there are. -TALLY_EINVAL: no such
 * kind, or nothing matches (with the nearest name); -TALLY_ENOTSUP: this machine has no such hardware (the words name a
 * model that has). */
TALLY_API int tally_list(struct tally_platform *p, const char *kind, const char *pattern, bool verbose,
			 const struct tally_out *to);
/* Hands on each name of a kind ("probes" to "views"; "kinds": the kinds themselves), for completion: nothing is tried,
 * so this takes milliseconds. Of cpc's probes "cpc:::EVENT-MODE-". Of this platform: "selectors" that tally_get()
 * takes, "countable": events of tally_stat(), "terms": what an event of tally_record() may hold, behind its device;
 * "keys": what goes behind the platform's name. -TALLY_EINVAL: no such kind. */
TALLY_API int tally_names(struct tally_platform *p, const char *kind, void (*each)(void *arg, const char *name),
			  void *arg);
/* Reads "vfalls/zam0_lpu_a_pcr/", "gpci/entitled,partition=2/", "mmustat/all/" (tally-get(1)); "hisi_ptt0_2/qos_tx_cpl"
 * or, with the name left out, all of "hisi_ptt0_2"; several are parted by blanks, and nothing is handed over when one
 * fails. -TALLY_EINVAL: no such device or tunable (with the nearest name); -TALLY_EPERM; -TALLY_EBUSY;
 * -TALLY_ENOTSUP. */
TALLY_API int tally_get(struct tally_platform *p, const char *selector, const struct tally_out *to);
/* Sets "hisi_ptt0_2/qos_tx_cpl=2", "vfalls/l2_cr=3", "gpci/mmcrh=0x1200". As tally_get(); -TALLY_EINVAL also: not a
 * value. */
TALLY_API int tally_set(struct tally_platform *p, const char *assignment);

/* The loads of a model ("kunpeng"), as its key load= takes them: NULL past the last, or where it has none; *text: what
 * it is. */
TALLY_API const char *tally_load(const char *machine, uint32_t i, const char **text);

/* why the end of a recording is missing */
enum tally_cut {
	TALLY_CUT_NONE,
	TALLY_CUT_READER, /* whoever read standard output went away: no error, and a command was ended */
	TALLY_CUT_FAILED, /* with an error: what was not written by then is gone, nobody knows how much */
};
struct tally_record_opts {
	size_t size;
	const char *event;           /* "hisi_ptt0_2/filter=0x80001,type=1,direction=1,format=1/" */
	const char *path;            /* of the file; NULL: "perf.data"; "-": standard output, in perf's pipe format */
	const char *ring;            /* size of the AUX ring, "16M"; NULL: 16 MiB */
	char *const *argv;           /* the command whose life is recorded; NULL: until *stop or duration */
	uint64_t duration_ns;        /* of the platform's own time; 0: no limit */
	const volatile int *stop;    /* set: end cleanly; NULL */
	tally_progress_fn *progress; /* bytes recorded so far; total is 0 */
	void *arg;
};
struct tally_record_result {
	size_t size;
	uint64_t bytes, records, lost;
	int32_t status; /* of the command: as a shell has it (128 + n: a signal; 126, 127) */
	uint32_t gaps;  /* places where an unknown number of records is missing besides `lost` */
	uint32_t cut;   /* enum tally_cut; FAILED is one of the gaps */
	uint32_t zero;
};
/* Errors: -TALLY_EINVAL (the event), -TALLY_ENOTSUP, -TALLY_EPERM, -TALLY_EBUSY (another trace), -TALLY_EIO (the file;
 * what was committed is in it), -TALLY_EEND (the device was lost; the same). */
TALLY_API int tally_record(struct tally_platform *p, const struct tally_record_opts *opts,
			   struct tally_record_result *ret);

/* Counters over time: those of hypervisors, and CPU events of this machine, any number of them in one table.
 *
 * Which events are whose: "vfalls/...", "mmustat/...", "gpci/..." and, but on "local", "hv_gpci/..." are the
 * platform's; all others are CPU events of this machine: "cycles,page-faults:u,PAPI_l2_dcm,r01c7,cpu/event=0x3c/"
 * (tally-stat(1)). NULL, without a view: a useful set of CPU events.
 *
 * CPU events are counted of whole CPUs (cpustat), or else of tasks (cputrack): of argv[] and what it starts, of
 * processes with all their threads and what those start, or of single threads. The call ends when the command, or all
 * tasks, have ended.
 *
 * Who counts in hardware holds a lease of the counters (but with TALLY_STAT_SHARE): whole CPUs are refused while a D
 * session counts, tasks lose their counters from when a D session, or counting of whole CPUs, begins until it ends, and
 * their rows say "invalidated" with the span.
 *
 * Time is the platform's own: a model's passes as fast as it goes, and exactly; but with neither count nor duration, or
 * beside CPU events, it keeps to the clock of the wall. */
struct tally_stat_more {
	struct tally_platform *platform;
	const char *events;
};
struct tally_stat_opts {
	size_t size;
	const char *events;       /* "vfalls/zam0_lpu_a,event=clock_cycles/,gpci/entitled/"; NULL with a view */
	const char *view;         /* "cec", "partitions", "processors", "links"; NULL with events */
	uint64_t interval_ns;     /* 0: one table at the end; with count 1 s */
	uint64_t duration_ns;     /* 0: no limit */
	uint32_t count;           /* of intervals; 0: no limit */
	uint32_t flags;           /* TALLY_STAT_... */
	const volatile int *stop; /* set: a last table, and the end; NULL */
	struct tally_out to;      /* a table an interval */
	/* of CPU events */
	char *const *argv;                  /* a command; NULL */
	const int32_t *pids;                /* processes, npids of them; with a command: those, as long as it runs */
	const int32_t *tids;                /* threads, ntids of them */
	const char *cpus;                   /* whole CPUs, but only these: "0,2-4"; NULL */
	const struct tally_stat_more *more; /* further platforms with their events, nmore of them */
	uint32_t npids, ntids, nmore;
	uint32_t repeat; /* so often the command runs: means and their spread; 0: once */
	/* A model passes time: nanoseconds of this interval that are over, and all of it, often while it is slow. What
	 * is returned is not looked at: `stop` ends it. */
	tally_progress_fn *progress; /* NULL */
	void *arg;
};
struct tally_stat_result {
	size_t size;
	uint32_t invalidated; /* events that were without a counter for some of the time */
	int32_t status; /* of the command: as a shell has it (128 + n: a signal; 126, 127); of several runs the first
					       * that is not 0 */
};
#define TALLY_STAT_EACH 1u    /* each strand on its own, where an event names none */
#define TALLY_STAT_SYSTEM 2u  /* CPU events of all CPUs, also with a command */
#define TALLY_STAT_PER_CPU 4u /* and each CPU on its own */
#define TALLY_STAT_SHARE 8u   /* no lease: the kernel lets events take turns, and counts are scaled up */
/* The names of views: NULL past the last; *text: what it shows, and how it is computed. */
TALLY_API const char *tally_stat_view(uint32_t i, const char **text);
/* What can't be counted here is a row with the reason; when nothing can: -TALLY_EPERM, -TALLY_ENOTSUP, -TALLY_EBUSY.
 * -TALLY_EBUSY also: the counters are held by another, or there are too few of them for all events; nothing was
 * counted, and the command has not run. -TALLY_EINVAL: events or options, or the command can't be started (see status);
 * -TALLY_EEND: the platform is gone; -TALLY_EIO. */
TALLY_API int tally_stat(struct tally_platform *p, const struct tally_stat_opts *opts, struct tally_stat_result *ret);

/* The invariants that a platform's counters obey, over one interval; of ptt also a recording's traces. */
struct tally_check_opts {
	size_t size;
	const char *what; /* "gpci", "vfalls", "mmustat", "ptt" */
	/* between the readings, of all rounds and traces; 0: 1 s, of models of sun4v 10 ms, of PTT 50 ms */
	uint64_t interval_ns;
	const volatile int *stop;
	struct tally_out to; /* a row an invariant */
};
struct tally_check_result {
	size_t size;
	uint32_t holds, broken, unknown; /* so many invariants */
	uint32_t zero;
};
/* A broken invariant is no error: `broken` counts them. -TALLY_EINVAL: there are no invariants of `what`;
 * -TALLY_ENOTSUP: nothing was checked, or nothing can be; the rest as tally_stat(). */
TALLY_API int tally_check(struct tally_platform *p, const struct tally_check_opts *opts,
			  struct tally_check_result *ret);

enum tally_goal { TALLY_GOAL_LATENCY, TALLY_GOAL_THROUGHPUT };
struct tally_tune_opts {
	size_t size;
	const char *device;   /* "hisi_ptt0_2" */
	char *const *argv;    /* the command, run for each measurement; NULL: duration_ns is measured */
	uint64_t duration_ns; /* of one measurement at most; 0: no limit, but 20 ms of a model without a command */
	uint32_t goal;        /* enum tally_goal */
	uint32_t dry_run;     /* 1: say what would be tried */
	const volatile int *stop;
	struct tally_out to;         /* the table */
	tally_progress_fn *progress; /* a measurement begins: which, from 1; total is 0 */
	void *arg;
	uint32_t time;   /* enum tally_ptt_time: what the Time of a record counts from */
	uint32_t one_in; /* at most one run in so many keeps a setting without effect; 0: 1000 */
};
struct tally_tune_result {
	size_t size;
	int32_t status; /* of the command that ended it: 128 + n, 126, 127; else 0 */
	uint32_t zero;
};
/* Leaves the best setting, or what was there when nothing is better, or on any failure. -TALLY_EEND: *stop was set;
 * the rest as tally_record(). */
TALLY_API int tally_tune(struct tally_platform *p, const struct tally_tune_opts *opts, struct tally_tune_result *ret);

/* Runs a model for outside clients until *stop. At least one interface. */
struct tally_machine_opts {
	size_t size;
	const char *machine;   /* "kunpeng,seed=7" */
	const char *listen;    /* UNIX socket of the local protocol; NULL */
	const char *vfio_user; /* UNIX socket of one PTT device as a vfio-user function; NULL */
	const char *sysfs;     /* empty directory for the PMUs' files through FUSE; NULL */
	const char *device;    /* of vfio_user: "hisi_ptt0_2", or NULL */
	const volatile int *stop;
	tally_write_fn *note; /* which interfaces are open; NULL */
	void *arg;
	/* of machines with a hypervisor: niagara, maramba, batoka, power */
	const char *guests;      /* file: who may have what (tally-machine(1)); NULL: everybody all */
	const char *run;         /* image of machine code that is the only guest, under Unicorn; NULL */
	tally_write_fn *console; /* takes what it prints; NULL: dropped */
	uint32_t opensparc;      /* sun4v: 1: as TALLY_PROFILE_OPENSPARC */
	uint32_t zero;
};
struct tally_machine_result {
	size_t size;
	int32_t status; /* that the image ended with, 0..255 */
	uint32_t zero;
};
/* -TALLY_EINVAL, -TALLY_EIO (words name the interface; or what the image did), -TALLY_ENOTSUP (no FUSE, no Unicorn),
 * -TALLY_EPERM, -TALLY_EEND (*stop ended an image). Words go to err[n]. */
TALLY_API int tally_machine_run(const struct tally_machine_opts *opts, struct tally_machine_result *ret, char *err,
				size_t n);

#ifdef __cplusplus
}
#endif

#endif
