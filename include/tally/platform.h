/*
 * tally/platform.h: platforms, from C: what can be listed, read, set, recorded, tuned.
 *
 * A platform is what `--on` names: "local" (this machine), a model in this
 * process ("kunpeng", "kunpeng,seed=7,load=nvme"), or another process's
 * ("unix:PATH").  Calls come in this order:
 *
 *	tally_platform_open     a handle
 *	tally_list, tally_get, tally_set, tally_record, tally_tune
 *	tally_platform_close
 *
 * Every function that can fail returns a negative enum tally_err; the words are
 * tally_platform_error().  The library never prints, never exits and reads no
 * environment; a handle belongs to one thread, but for the `stop` words, which any
 * thread or signal handler may set.
 */
#ifndef TALLY_PLATFORM_H
#define TALLY_PLATFORM_H

#include <stdbool.h>

#include <tally/ptt.h>

struct tally_platform;                        /* opaque: made by _open, dead after _close */

struct tally_platform_opts {
	size_t size;                          /* sizeof at the caller: lets us grow */
	const char *on;                       /* NULL: "local" */
	const char *sysfs;                    /* of "local": another root than /sys (tests); NULL: /sys */
	tally_write_fn *note;                 /* warnings, whole lines; NULL: dropped */
	void *arg;
	uint32_t profile;                     /* enum tally_profile */
	uint32_t flags;                       /* must be 0 */
};
enum tally_profile { TALLY_PROFILE_SPEC, TALLY_PROFILE_DRIVER };

/* On failure too *ret is a handle, for its words (NULL only for -TALLY_ENOMEM). -TALLY_EINVAL: no such platform, key or
 * value; -TALLY_EIO: nobody answers at the socket. Whether the machine has the hardware is asked later. */
TALLY_API int tally_platform_open(struct tally_platform **ret, const struct tally_platform_opts *opts);
TALLY_API void tally_platform_close(struct tally_platform *p);                    /* NULL is fine */
TALLY_API const char *tally_platform_error(const struct tally_platform *p);       /* "" when nothing failed */

struct tally_out {                            /* where answers go, and how they look */
	size_t size;
	tally_write_fn *out;
	void *arg;
	uint32_t form;                        /* TALLY_PTT_TEXT, _JSON, _CSV */
	char separator;                       /* of CSV; 0: a comma */
	char zero[3];
};

/* What of this kind ("ptt") there is, with a pattern over names, or NULL; kind NULL: which kinds there are. -TALLY_EINVAL: no
 * such kind, or nothing matches; -TALLY_ENOTSUP: this machine has no such hardware (the words name a model that has). */
TALLY_API int tally_list(struct tally_platform *p, const char *kind, const char *pattern, bool verbose,
			 const struct tally_out *to);
/* Reads "hisi_ptt0_2/qos_tx_cpl" or, with the name left out, all of "hisi_ptt0_2"; several are parted by blanks, and nothing is
 * handed over when one fails. -TALLY_EINVAL: no such device or tunable
 * (with the nearest name); -TALLY_EPERM; -TALLY_EBUSY; -TALLY_ENOTSUP. */
TALLY_API int tally_get(struct tally_platform *p, const char *selector, const struct tally_out *to);
/* Sets "hisi_ptt0_2/qos_tx_cpl=2". As tally_get(); -TALLY_EINVAL also: not a value. */
TALLY_API int tally_set(struct tally_platform *p, const char *assignment);

struct tally_record {
	size_t size;
	const char *event;                    /* "hisi_ptt0_2/filter=0x80001,type=1,direction=1,format=1/" */
	const char *path;                     /* of the file; NULL: "perf.data"; "-": standard output, in perf's pipe format */
	const char *ring;                     /* size of the AUX ring, "16M"; NULL: 16 MiB */
	char *const *argv;                    /* the command whose life is recorded; NULL: until *stop or duration */
	uint64_t duration_ns;                 /* of the platform's own time; 0: no limit */
	const volatile int *stop;             /* set: end cleanly; NULL */
	tally_progress_fn *progress;          /* bytes recorded so far; total is 0 */
	void *arg;
	/* results */
	uint64_t bytes, records, lost;
	int status;                           /* of the command: as a shell has it (128 + n: a signal; 126, 127) */
	uint32_t gaps;                        /* places where an unknown number of records is missing besides `lost` */
};
/* Errors: -TALLY_EINVAL (the event), -TALLY_ENOTSUP, -TALLY_EPERM, -TALLY_EBUSY (another trace), -TALLY_EIO (the file; what was
 * committed is in it), -TALLY_EEND (the device was lost; the same). */
TALLY_API int tally_record(struct tally_platform *p, struct tally_record *r);

enum tally_goal { TALLY_GOAL_LATENCY, TALLY_GOAL_THROUGHPUT };
struct tally_tuning {
	size_t size;
	const char *device;                   /* "hisi_ptt0_2" */
	char *const *argv;                    /* the command, run for each measurement; NULL: duration_ns is measured */
	uint64_t duration_ns;                 /* of one measurement at most; 0: no limit, but 20 ms of a model without a command */
	uint32_t goal;                        /* enum tally_goal */
	uint32_t dry_run;                     /* 1: say what would be tried */
	const volatile int *stop;
	struct tally_out to;                  /* the table */
	tally_progress_fn *progress;          /* a measurement begins: which, from 1; total is 0 */
	void *arg;
	uint32_t time;                        /* enum tally_ptt_time: what the Time of a record counts from */
	/* results */
	int status;                           /* of the command that ended it: 128 + n, 126, 127; else 0 */
};
/* Leaves the best setting, or what was there when nothing is better, or on any failure. -TALLY_EEND: *stop was set;
 * the rest as tally_record(). */
TALLY_API int tally_tune(struct tally_platform *p, struct tally_tuning *t);

/* Runs a model for outside clients until *stop. At least one door. */
struct tally_machine {
	size_t size;
	const char *machine;                  /* "kunpeng,seed=7" */
	const char *listen;                   /* UNIX socket of the local protocol; NULL */
	const char *vfio_user;                /* UNIX socket of one PTT device as a vfio-user function; NULL */
	const char *sysfs;                    /* empty directory for the PMUs' files through FUSE; NULL */
	const char *device;                   /* of vfio_user: "hisi_ptt0_2", or NULL */
	const volatile int *stop;
	tally_write_fn *note;                 /* which doors are open; NULL */
	void *arg;
};
/* -TALLY_EINVAL, -TALLY_EIO (words name the door), -TALLY_ENOTSUP (no FUSE), -TALLY_EPERM. Words go to err[n]. */
TALLY_API int tally_machine_run(const struct tally_machine *m, char *err, size_t n);

#endif
