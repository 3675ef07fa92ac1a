/*
 * tally/ptt.h: what a trace of PCIe packets says, from C.
 *
 * Input is a perf.data file with HiSilicon PTT data, or a file of bare records.
 * Calls come in this order:
 *
 *	tally_ptt_open     a handle
 *	tally_ptt_file     opens the file; "-" is standard input
 *	tally_ptt_dump     its records, one a line;      or
 *	tally_ptt_report   what they say, as text, JSON or a page;      or
 *	tally_ptt_export   as CSV, JSON or Parquet, or the answer of an SQL query
 *	tally_ptt_close
 *
 * A call out of order is -TALLY_ESTATE: one without a file, or a second file for one handle.
 * A pipe can be gone through once: after a dump or a report of "-" the next one
 * is -TALLY_ESTATE, too.  A file can be gone through as often as wanted.  Damage is
 * not an error as long as a record is left: all whole records are used, and what
 * was lost is said (in the report, and through `note`).
 *
 * Every function that can fail returns a negative enum tally_err; the words are
 * tally_ptt_error().  The library never prints, never exits and reads no
 * environment; a handle belongs to one thread.  Memory is bounded whatever the
 * size of the file.
 */
#ifndef TALLY_PTT_API_H
#define TALLY_PTT_API_H

#include <tally/tally.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tally_ptt; /* opaque: made by _open, dead after _close */

/* How far it is, for every chunk of at most 1 MiB; total is 0 when it isn't known (a pipe). Negative: stop, and the
 * call returns -TALLY_EEND. */
typedef int tally_progress_fn(void *arg, uint64_t done, uint64_t total);

enum tally_ptt_time { TALLY_PTT_TIME_FOUND, TALLY_PTT_TIME_ABS, TALLY_PTT_TIME_DELTA };

struct tally_ptt_opts {
	size_t size;                 /* sizeof at the caller: lets us grow */
	tally_write_fn *note;        /* what was found or lost, whole lines; NULL: dropped */
	tally_progress_fn *progress; /* NULL: nobody wants to know */
	void *arg;                   /* for both */
	uint32_t raw;   /* 4, 8: records of so many DWs: bare ones, or a perf.data file's whatever its event says; 0:
	                                * a perf.data file, whose event says it */
	uint32_t time;  /* enum tally_ptt_time: what a record's Time is since */
	uint32_t flags; /* TALLY_PTT_TAG14; unknown bits are refused */
	uint32_t zero;  /* must be 0 */
};
#define TALLY_PTT_TAG14 1u /* the newer layout, of 14-bit tags and segments, whatever the file says */

/* opts NULL: all defaults. -TALLY_ENOMEM; -TALLY_EINVAL: unknown flag, raw or time, or unknown bytes in opts. */
TALLY_API int tally_ptt_open(struct tally_ptt **ret, const struct tally_ptt_opts *opts);
/* NULL is fine. */
TALLY_API void tally_ptt_close(struct tally_ptt *t);
/* The words of the last call that failed, good until the next call; "" when it did not. */
TALLY_API const char *tally_ptt_error(const struct tally_ptt *t);

/* Once; after a failure it can be tried again. -TALLY_EIO: can't be opened or read. -TALLY_ECORRUPT: neither perf.data
 * nor bare records, or no PTT record in it (when all is padding, a later call says so). -TALLY_ESTATE: there is a file
 * already. -TALLY_ENOMEM. */
TALLY_API int tally_ptt_file(struct tally_ptt *t, const char *path);

/* ---- records ---------------------------------------------------------------------------- */
struct tally_ptt_dump_opts {
	size_t size;
	tally_write_fn *out;
	void *arg;
	/* a D predicate over args[0] of ptt:::tlp, with ids as 01:00.0; NULL: all. Faults: a note */
	const char *filter;
	uint32_t format; /* TEXT, JSON, CSV, PERF, PERF_SPEC */
	char separator;  /* of CSV; 0: a comma */
	char zero[3];
};
/* -TALLY_EINVAL: a format that it does not have. -TALLY_ESYNTAX: the filter does not compile. -TALLY_EIO: reading
 * failed, or `out` returned a negative value. -TALLY_EEND: `progress` wanted to stop. -TALLY_ESTATE: no file, or a pipe
 * for the second time. -TALLY_ENOMEM. */
TALLY_API int tally_ptt_dump(struct tally_ptt *t, const struct tally_ptt_dump_opts *opts);
/* The i-th field that a filter may name, and what it means; NULL past the end. Both are constants. */
TALLY_API const char *tally_ptt_filter_field(uint32_t i, const char **help);

/* ---- what they say ------------------------------------------------------------------------ */
struct tally_ptt_report_opts {
	size_t size;
	tally_write_fn *out;
	void *arg;
	uint32_t format;  /* TEXT, JSON, HTML */
	uint32_t flags;   /* TALLY_PTT_NO_MATCH, TALLY_PTT_ASCII, TALLY_PTT_ERRORS */
	uint32_t top;     /* most rows of a table; 0: 10 in TEXT, 100 else */
	uint32_t columns; /* of the terminal, for TEXT; 0: 80 */
	/* CPUs that count together; 0: one. All figures are the same as with one, but peaks of outstanding requests,
	 * which are upper bounds then, tables that were cut, and what is counted of addresses that were too many. */
	uint32_t threads;
	uint32_t zero;
};
#define TALLY_PTT_NO_MATCH 1u /* leave requests and completions apart: faster, no latency */
#define TALLY_PTT_ASCII 2u    /* no block characters in TEXT */
#define TALLY_PTT_ERRORS 4u   /* all errors, not a sample of each kind and requester; of a comparison: nothing */
/* Errors as tally_ptt_dump(). */
TALLY_API int tally_ptt_report(struct tally_ptt *t, const struct tally_ptt_report_opts *opts);
/* What changed from a to b, largest change first. Words of an error are in b. */
TALLY_API int tally_ptt_compare(struct tally_ptt *a, struct tally_ptt *b, const struct tally_ptt_report_opts *opts);

/* ---- tables for others ---------------------------------------------------------------------- */
struct tally_ptt_export_opts {
	size_t size;
	tally_write_fn *out; /* TEXT, CSV, JSON; Parquet is written by DuckDB itself */
	void *arg;
	const char *sql;  /* a query over the table `tlp`, or NULL: the table itself */
	const char *path; /* PARQUET: the file, or the directory when partitioned */
	/* PARQUET: "host,capture,hour", some of these, or NULL. Another trace gets another file, the same one the
	 * same. */
	const char *partition;
	const char *host, *capture, *hour; /* their values; NULL: not known, which a partition refuses */
	const char *duckdb;                /* libduckdb.so; NULL: as the run-time linker finds it */
	uint32_t format;                   /* TEXT (with sql), JSON, CSV, PARQUET */
	char separator;                    /* of CSV; 0: a comma */
	char zero[3];
};
/* Errors as tally_ptt_dump(); -TALLY_ENOTSUP: DuckDB's library is needed and isn't there; -TALLY_ESYNTAX: DuckDB
 * refuses the query, with its words. */
TALLY_API int tally_ptt_export(struct tally_ptt *t, const struct tally_ptt_export_opts *opts);

#ifdef __cplusplus
}
#endif

#endif
