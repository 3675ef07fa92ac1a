/*
 * emit.h: answers in the form that was asked for.
 *
 * Who answers says what there is: rows of a table, what a firing handed over, aggregations, what was lost. The form is
 * chosen once, by an_emit_open(), and is a table of functions from then on (struct an_ops): nobody else asks which it
 * is. People and programs do not always get the same: a column, a row or a whole table may be for one of them alone,
 * and people may have a layout that is no table.
 *
 * Out of memory: `failed` of the buffer that is written to is set.
 */
#ifndef TALLY_ANSWER_EMIT_H
#define TALLY_ANSWER_EMIT_H

#include "answer/answer.h"
#include "answer/flame.h"
#include "answer/page.h"
#include "answer/pprof.h"

struct an_emit;
struct an_rows;

/* ---- rows: a table ---------------------------------------------------------------- */
/* Who gets a row. */
enum an_for { AN_FOR_ALL, AN_FOR_PEOPLE, AN_FOR_PROGRAMS, AN_FOR_JSON, AN_NOT_FOR_CSV };
/* How people see a table that they are not to see as columns. */
struct an_layout {
	void (*head)(struct an_emit *e, const struct an_rows *t); /* NULL: nothing stands above */
	void (*row)(struct an_emit *e, const struct an_rows *t, const struct an_cell *row);
	void (*end)(struct an_emit *e, const struct an_rows *t); /* NULL: nothing stands below */
};
struct an_rows {
	const char *type;  /* JSON's first member, CSV's first column; NULL: the columns have it, or nothing has */
	const char *title; /* text: the line above; NULL */
	const struct an_column *col; /* fewer than 64 */
	uint32_t ncols;              /* */
	uint64_t text_skips;         /* bit k: text leaves column k out */
	uint64_t json_skips;         /* bit k: JSON does */
	uint64_t csv_skips;          /* bit k: CSV does */
	uint64_t heat;               /* bit k: column k is a utilisation */
	uint64_t seconds;            /* bit k: column k is seconds */
	/* For who reads single figures: what they are, and bit k: column k says whose the row is; is a figure; is one
	 * that only grows. */
	const char *about;
	uint64_t keys, figures, grows;
	size_t *keep;                 /* [ncols]: text: widths of the tables before, so that columns stay; NULL */
	const struct an_layout *text; /* NULL: columns */
	void *arg;                    /* for the layout */
	bool sparse;                  /* JSON leaves members out that are none */
	bool apart;                   /* text: an empty line stands above the heading */
	bool goes_on;                 /* text: without a heading, unless it is the first of its kind */
	struct an_cell *cell;
	uint32_t n, cap; /* cells */
	struct arena words;
};
/* Texts are copied. Out of memory: words.failed. */
void an_rows_add(struct an_rows *t, const struct an_cell *cells);
void an_rows_add_for(struct an_rows *t, enum an_for whose, const struct an_cell *cells);
/* What there are rows of in this form goes out. first: nothing of this kind went before it. Whether there were any. */
bool an_rows_put(struct an_emit *e, struct an_rows *t, bool first);
void an_rows_free(struct an_rows *t);

/* ---- a trace: firings, what they hand over, aggregations ------------------------------ */
struct an_firing {
	uint32_t cpu, id;
	const char *prov, *mod, *func, *name; /* of the probe */
	bool bare;                            /* nothing is handed over: that it fired is all */
};
struct an_printa {
	const struct fmt *f; /* NULL: columns; of no length: nothing */
	const struct an_agg *const *agg;
	uint32_t n;
	struct an_sort sort; /* they are sorted so */
};
/* What happened or was lost: a row, and words for people. */
struct an_event {
	const char *type;
	const struct an_column *col;
	const struct an_cell *cell;
	uint32_t n;
};
void an_event(struct an_emit *e, const struct an_event *v, const char *fmt, ...) PRINTF_LIKE(3, 4);

/* ---- forms ------------------------------------------------------------------------- */
struct an_ops {
	/* A table: what stands above, its rows, what stands below. NULL: this is no form of tables. */
	void (*begin)(struct an_emit *e, struct an_rows *t, bool first);
	void (*record)(struct an_emit *e, struct an_rows *t, const struct an_cell *row);
	void (*end)(struct an_emit *e, struct an_rows *t);
	/* A firing: it begins; what it traces, a stack, what it prints; it is over. NULL: there is no place for single
	 * firings. */
	void (*fire)(struct an_emit *e, const struct an_firing *f);
	void (*trace)(struct an_emit *e, const struct an_value *v);
	void (*stack)(struct an_emit *e, const struct an_value *v);
	void (*print)(struct an_emit *e, const struct fmt *f, const struct an_value *v, uint32_t n);
	void (*typed)(struct an_emit *e, const struct shape *s, const uint64_t *pointer, const void *bytes, uint32_t n);
	int (*printa)(struct an_emit *e, const struct an_printa *p, struct err *err); /* as an_agg_printa() */
	void (*fired)(struct an_emit *e, const struct an_firing *f);
	/* The last one is over; aggregations follow. */
	void (*rest)(struct an_emit *e);
	void (*agg)(struct an_emit *e, const struct an_agg *a); /* NULL: this is no form of a trace's answers */
	/* Words said beside the answers, and what happened or was lost. */
	void (*note)(struct an_emit *e, const char *s, size_t n);
	void (*event)(struct an_emit *e, const struct an_event *v, const char *words, size_t n);
	/*
	 * A form whose answer is one document, of aggregations, which is written when the run is over; NULL: it is
	 * none. What firings print is text in e->to, which is for people, and no part of the document.
	 */
	void (*finish)(struct an_emit *e, struct buf *to);
	/* A page; NULL: this is no form of pages. */
	void (*page)(struct an_emit *e, const struct an_page *p);
	bool roomy;    /* there is room for pictures and long tables: it is no terminal's */
	bool again;    /* aggregations that a firing printed follow, too */
	bool files;    /* it has the files of frames */
	bool programs; /* it is read by programs: they get every row and figure, and each one whole */
};
struct an_emit {
	/* set by an_emit_open(), then read-only */
	const struct an_ops *ops;
	struct buf *to;
	char separator;
	bool colour;
	bool ascii;
	size_t columns;
	/* set by a trace before its first firing */
	void (*say)(void *arg, const char *s, size_t n); /* where people see words that are no answers; NULL: nowhere */
	void *arg;
	uint32_t stackindent;
	bool quiet, flowindent, unnumbered;
	/* of the firing */
	bool heading; /* the line above all firings was written */
	struct buf data;
	uint32_t ndata;
	uint32_t *flow, nflow, capflow; /* flowindent: how deep each CPU is in */
	/* of a document */
	const char *title; /* borrowed: what the run is called; NULL */
	struct an_flame flame;
	struct an_page page;
	uint32_t nwords; /* that were said beside the answers */
	struct an_pprof about;
	const char **comment; /* the same words, as pprof has them */
	uint32_t ncomments, capcomments;
	/* of the table that is written */
	size_t *width;
	struct buf tmp;
};
struct an_how {
	uint32_t format;  /* enum tally_format */
	char separator;   /* of CSV; 0: a comma */
	bool colour;      /* text: utilisation in colours */
	bool ascii;       /* text: no block characters */
	uint32_t columns; /* text: of the terminal; 0: none shows it */
};
/* -TALLY_EINVAL: there is no such form. */
int an_emit_open(struct an_emit *e, struct buf *to, const struct an_how *how);
void an_emit_close(struct an_emit *e); /* of traces, which may begin again then */
#define AN_ENDLESS (SIZE_MAX / 2)      /* columns, where no terminal shows them */

#endif
