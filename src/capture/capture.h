/*
 * capture.h: what the files behind tally/ptt.h share. Those that ask a device, not a file, are behind
 * tally/platform.h.
 *
 *	file.c    the handle, its file, and going through it once
 *	dump.c    records as text
 *	filter.c  a predicate over records (filter.h)
 *	report.c  counting, and the three forms of a report
 *	page.c    figures to a page: which tables there are (page_int.h)
 *	export.c  tables for others
 *	sql.c     DuckDB: SQL and Parquet (sql_int.h); duck.c: its library; table.c: the trace as a table of it;
 *	          answers.c: aggregations of D programs as tables of it
 *
 *	trace.c   one trace of a device, while a command runs (trace_int.h)
 *	record.c  of that a file
 *	tune*.c   of many the best setting (tune_int.h)
 *	meter.c   packets, counted for as long as they come (meter_int.h)
 *	watch.c   of a device that, for a service (watch.h)
 */
#ifndef TALLY_CAPTURE_CAPTURE_H
#define TALLY_CAPTURE_CAPTURE_H

#include <tally/ptt.h>

#include "base/base.h"
#include "base/file.h"
#include "ptt/ptt.h"

#define PTT_FLUSH_BYTES (256u << 10)

struct tally_ptt {
	/* set by _open, then read-only */
	struct tally_ptt_opts o;
	/* set by _file */
	char *path;
	struct bytes_in in; /* a file's: of the first pass, later ones open it again */
	bool has_in, used;
	bool is_answers;          /* not a trace: what D programs answered, as JSON lines (answers.c) */
	struct ptt_reader *first; /* what the check of the file opened; the first pass takes it */
	/* of the call */
	struct buf out;
	bool noted; /* ptt_pass_notes() was there: one query may scan twice */
	struct err err;
};
int ptt_fail(struct tally_ptt *t, enum tally_err code, const char *fmt, ...) PRINTF_LIKE(3, 4);
int ptt_oom(struct tally_ptt *t);
int ptt_failed_as(struct tally_ptt *t, const struct err *e, int rc); /* with e's words, if it has some */
void ptt_enter(struct tally_ptt *t); /* a call starts: no error yet, nothing to hand over */
void ptt_note(struct tally_ptt *t, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* What is in t->out goes to `out`; -TALLY_EIO when it isn't taken, -TALLY_ENOMEM when it is cut short. */
int ptt_flush(struct tally_ptt *t, tally_write_fn *out, void *arg);
static inline bool ptt_is_pipe(const struct tally_ptt *t)
{
	return t->in.size == UINT64_MAX;
}

/* ---- one pass over the file ------------------------------------------------------------ */
/* one device's records */
struct ptt_stream {
	struct ptt_clock clock;
	struct ptt_decode_opts o;
	uint8_t coverage; /* enum ptt_coverage: bits */
	bool seen, sure;
	bool recorded; /* the file says what Time counts from */
	bool sparse;   /* 4DW: some gaps are longer than Time can tell */
};
struct ptt_pass {
	struct tally_ptt *t;
	struct ptt_reader *r;
	struct bytes_in in; /* this pass's own, when own_in */
	bool own_in;
	struct ptt_stream *dev;
	uint32_t ndev, capdev;
	bool any; /* there was a record */
};
/* Passes may overlap: each has a reader and a window of its own. as_perf: padding too, and sizes as perf sees them. */
int ptt_pass_open(struct ptt_pass *p, struct tally_ptt *t, bool as_perf);
/* 1, *c and the device's *s; 0 at the end. A file without any record: -TALLY_ECORRUPT. */
int ptt_pass_next(struct ptt_pass *p, struct ptt_chunk *c, struct ptt_stream **s);
void ptt_pass_close(struct ptt_pass *p); /* after a failed open, too */
/* Says how times were understood and what the file did not give. */
void ptt_pass_notes(struct ptt_pass *p, bool times);
const char *ptt_device_name(const struct ptt_pass *p, uint32_t device); /* never NULL */

#endif
