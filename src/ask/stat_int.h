/*
 * stat_int.h: what the files of stat share.
 *
 *	stat.c           the options, time, and the loop
 *	stat_table.c     the table that all share
 *	stat_event.c     selectors: what each counts, and its rows
 *	stat_gpci.c      records followed by id
 *	stat_view.c      tables of derived figures
 *	stat_cpu*.c      CPU events (stat_cpu_int.h)
 *	stat_watch.c     figures for who asks when he likes (watch.h)
 */
#ifndef TALLY_ASK_STAT_INT_H
#define TALLY_ASK_STAT_INT_H

#include "ask/ask_int.h"
#include "ask/watch.h"

/* ---- records of one request, followed by id ------------------------------------------------------ */
enum follow_state { FOLLOW_HERE, FOLLOW_CAME, FOLLOW_WENT };
/* a record */
struct followed {
	uint64_t id, secondary;
	uint8_t state; /* enum follow_state: of the last reading */
	uint64_t now[GPCI_FIELDS_MOST];
	uint64_t delta[GPCI_FIELDS_MOST]; /* since the reading before; counters only */
	uint64_t total[GPCI_FIELDS_MOST]; /* since the first reading */
	uint32_t back;                    /* bit: that counter went back since then, so there is no delta */
};
static_assert(GPCI_FIELDS_MOST <= 32, "a bit each");
struct follow {
	const struct gpci_request *r;
	struct followed *v; /* by id, ascending */
	uint32_t n, cap;
	uint32_t readings;
	bool quiet; /* what comes and goes is said of another request */
	bool own;   /* the asker's own record is all there is */
	int rc;     /* of the last reading */
	struct err why;
};
/* Reads all records. What came, went and went back is said through p's notes. Negative: not to be had, see rc and why;
 * or memory is out. */
int follow_read(struct follow *f, struct tally_platform *p, struct hv_transport *l);
void follow_free(struct follow *f);
/* The field's place, or -1. */
int32_t follow_field(const struct follow *f, const char *name);
const struct followed *follow_find(const struct follow *f, uint64_t id);

/* ---- the table that all share ---------------------------------------------------------------------- */
#define STAT_COLUMNS 15u
enum stat_kind { STAT_ONLY, STAT_INTERVAL, STAT_SUMMARY }; /* the one at the end; of an interval; of all of them */
struct stat_table {
	bool cpu; /* CPU events are among what is counted */
	enum stat_kind kind;
	struct an_rows t;
	struct an_column col[STAT_COLUMNS];
	size_t keep[STAT_COLUMNS];
	uint64_t shown; /* bit: a row has something for that column of text */
	/* Rows go there in place of the table; NULL: they make one. */
	watch_take *take;
	void *arg;
	int rc; /* what it returned when it failed */
};
/* a row */
struct stat_figure {
	struct an_cell delta, value, raw;
	const char *unit, *id, *name, *status, *why;
	const char *unit_brief; /* people's, in place of unit; NULL */
	/* what it is wherever it is counted: "gpci_entitled_capped"; its text; whether it only grows; the register;
	 * NULL */
	const char *family, *text, *reg;
	bool grows;
	/* of CPU events */
	bool cpu;
	struct an_cell share, spread, metric;
	const char *metric_unit, *note; /* note: text has it in place of why */
};
void stat_table_open(struct stat_table *t, bool cpu);
void stat_table_row(struct stat_table *t, double seconds, const char *selector, const struct stat_figure *f);
/* The rows so far are out, if there are any. header: it is the first. */
void stat_table_put(struct stat_table *t, struct an_emit *e, bool first);
void stat_table_close(struct stat_table *t);

/* ---- CPU events ---------------------------------------------------------------------------------------- */
struct stat_cpu;
/* One event, n bytes at text; the first makes *c. -TALLY_EINVAL: there is no such event. */
int stat_cpu_add(struct stat_cpu **c, struct tally_platform *p, const struct tally_stat_opts *o, const char *text,
		 size_t n);
/* Finds its tasks, starts the command up to its exec, takes the counters; again for each run of the command. */
int stat_cpu_open(struct stat_cpu *c);
bool stat_cpu_none(const struct stat_cpu *c); /* nothing of it can be counted */
/* Why not, as the handle's error. */
int stat_cpu_why(struct stat_cpu *c);
int stat_cpu_begin(struct stat_cpu *c); /* it counts from here on; the command goes */
/* Waits, at most so long, and sees to leases. 1: the command, or the last task, has ended. */
int stat_cpu_wait(struct stat_cpu *c, uint64_t ns);
int stat_cpu_read(struct stat_cpu *c);
void stat_cpu_rows(struct stat_cpu *c, struct stat_table *t);
/* What text has below the last table, and JSON behind it. */
void stat_cpu_sum(struct stat_cpu *c, struct an_emit *e);
/* What can't be counted and why, as notes; once. */
void stat_cpu_reasons(struct stat_cpu *c);
/* A run has ended: its counts are added to those of the runs before; a command that still goes is waited for, or, when
 * the user stopped it, ended. */
int stat_cpu_end(struct stat_cpu *c);
/* The results: status of the command, how many events were invalidated. */
void stat_cpu_results(const struct stat_cpu *c, struct tally_stat_result *ret);
void stat_cpu_close(struct stat_cpu *c); /* NULL is fine */

/* ---- a run ------------------------------------------------------------------------------------------ */
#define MMU_COLUMNS 12u
struct source;
struct view;
/* what one platform counts */
struct stat_run {
	struct tally_platform *p;
	struct tally_stat_opts o;
	struct hv_transport *transport;
	uint64_t start, before, now; /* nanoseconds of the platform's time: of the first reading, the last two */
	/* events */
	struct source *src;
	uint32_t n, cap;
	struct follow *req; /* each request that is asked for, once */
	uint32_t nreq, capreq;
	uint64_t *mmu;  /* by strand: what was counted before; NULL: nobody asked */
	bool mmu_begun; /* there was a reading */
	size_t keep_mmu[MMU_COLUMNS];
	int first_rc; /* why the first that can't be counted can't */
	/* a view */
	const struct view *view; /* NULL: events */
	struct follow *part;     /* [NEEDS], as view->need */
	size_t keep_view[16];
	uint32_t tables;
};
double stat_seconds(const struct stat_run *s);
/* Timebase ticks between the last two readings; NAN: it is not known how fast they come. */
double stat_ticks(const struct stat_run *s);
/* A table's rows are out. */
void stat_put(struct stat_run *s, struct an_rows *t);

/* all platforms of a call */
struct stat_all {
	struct tally_platform *p; /* the caller's: whose error it is */
	struct tally_stat_opts o;
	struct stat_run *run; /* [0] is the caller's platform */
	uint32_t n;
	struct stat_cpu *cpu; /* NULL: no CPU event */
	struct stat_table table;
	uint64_t wall, passed; /* since the start: what the wall said then; what has passed */
	bool by_wall, keep, ended;
	int rc; /* a wait failed: it is over */
};
/* a->p entered, a->o and its emit are set: opens all that is counted; stat_all_close() in any case. */
int stat_all_open(struct stat_all *a);
int stat_all_begin(struct stat_all *a); /* the first reading; CPU events count from stat_cpu_begin() on */
int stat_all_read(struct stat_all *a);
int stat_all_show(struct stat_all *a, enum stat_kind kind); /* what was read last, as a table */
void stat_all_close(struct stat_all *a);

/* One selector: opens what it counts. */
int stat_events_add(struct stat_run *s, const char *text, size_t n);
int stat_events_read(struct stat_run *s);
void stat_events_rows(struct stat_run *s, struct stat_table *t);
void stat_mmu_rows(struct stat_run *s);          /* a table of their own */
bool stat_events_none(const struct stat_run *s); /* nothing of it can be counted */
void stat_events_close(struct stat_run *s);

int stat_view_open(struct stat_run *s, const char *name);
int stat_view_read(struct stat_run *s);
void stat_view_rows(struct stat_run *s);
void stat_view_close(struct stat_run *s);

/* The k-th request without which view i shows nothing (stat_view.c); NULL past the last. */
const char *stat_view_must(uint32_t i, uint32_t k);

#endif
