/*
 * page: a report as data: facts, tables, histograms, time lines, heat maps and
 * words, built once and shown as text for a terminal, as JSON lines or as one
 * HTML page.  Whoever builds it decides what is said; how it looks is decided
 * here, so the three forms can't disagree about a figure.
 *
 * A part has a key, which names it for programs (`type` in JSON, data-part in
 * HTML), and a title for people.  Texts are copied; everything lives until
 * an_page_free().  Out of memory: `arena.failed` is set, what would have been
 * added is missing, and the caller looks once at the end.
 */
#ifndef TALLY_ANSWER_PAGE_H
#define TALLY_ANSWER_PAGE_H

#include "base/base.h"

struct an_flame;

/* ---- figures --------------------------------------------------------------------- */
/* What a figure is of; which member of the cell holds it. */
enum an_unit {
	AN_DEFAULT, /* of a cell: as its column has it */
	AN_TEXT,    /* s */
	AN_DIGITS,  /* s, to the right */
	AN_FLAG,    /* u: yes, no */
	AN_COUNT,   /* u: 1,234,567 */
	AN_BYTES,   /* u: 12.5 MiB; exact in JSON and in HTML's data-v */
	AN_TICKS,   /* u: as AN_COUNT */
	AN_HEX,     /* u: 0x1f00 */
	AN_SHARE,   /* d, 1.0 is all: 12.5 % */
	AN_RATIO,   /* d: 3.25 */
	AN_CHANGE,  /* d, 0.5 is half as much again: +50.0 % */
	AN_NUMBER,  /* d: whatever it is: 1,234.5 */
	AN_LITERAL, /* s: a number or a truth value as it was written */
	AN_ID,      /* u, which counts nothing: 1234567 */
	AN_MILLIS,  /* u: nanoseconds for programs; d: the same, which people read as milliseconds: 3.25 */
	AN_NUNITS,
};
struct an_cell {
	uint8_t unit; /* AN_DEFAULT, or another one than the column's */
	bool none;    /* there is no figure: "-", null */
	/* an upper bound: people read "<= 12"; a JSON object lists the keys of such members in "at_most" */
	bool at_most;
	bool at_least;    /* a lower bound: ">= 12"; in "at_least" */
	bool approximate; /* it may be off either way: "~ 12"; in "approximate" */
	uint8_t whose;    /* of a row of emit.h: enum an_for */
	uint64_t u;
	double d;
	const char *s;
	const char *brief; /* what people read in place of s; NULL: s */
};
#define AN_S(text) ((struct an_cell){ .s = (text) })
#define AN_U(number) ((struct an_cell){ .u = (number) })
#define AN_D(number) ((struct an_cell){ .d = (number) })
#define AN_NONE ((struct an_cell){ .none = true })
static inline uint8_t an_unit_of(const struct an_cell *c, uint8_t column)
{
	return c->unit != AN_DEFAULT ? c->unit : column;
}
static inline bool an_is_text(uint8_t unit)
{
	return unit == AN_TEXT || unit == AN_DEFAULT;
}
/* The figure as people read it. */
void an_figure(struct buf *to, uint8_t unit, const struct an_cell *c);
/* And as programs do: a JSON value. */
void an_figure_json(struct buf *to, uint8_t unit, const struct an_cell *c);

/* ---- parts ------------------------------------------------------------------------- */
struct an_column {
	const char *key, *title;
	uint8_t unit;
};
/* one named figure */
struct an_fact {
	const char *key, *title;
	uint8_t unit;
	struct an_cell cell;
};
struct an_table {
	const struct an_column *col; /* borrowed: a constant of the caller */
	uint32_t ncols;
	struct an_cell *cell;      /* rows one after the other */
	uint32_t ncells, capcells; /* a multiple of ncols */
	uint64_t left_out;         /* rows that there would be, too */
	uint32_t text_skips;       /* bit k: text leaves column k out (k < 32) */
	uint32_t text_leads;       /* bit k: text has column k behind the first, in each part of a table too wide */
};
struct an_bar {
	uint64_t from, to, count;
}; /* inclusive */
struct an_bars {
	uint8_t unit; /* of from and to */
	const struct an_bar *bar;
	uint32_t n;
};
struct an_line {
	const char *key, *title;
	const uint64_t *v;
	uint64_t by;               /* what values are divided by; 0: they are whole */
	bool at_most, approximate; /* as of a cell: programs read it, people the title */
};
struct an_lines {         /* figures over time: n steps from `from` on */
	const char *over; /* or over this, two lines one over the other; NULL: time, one below the other */
	uint64_t from, step;
	uint32_t n, nlines;
	uint8_t unit; /* of the values */
	const struct an_line *line;
};
/* how many, over time and over a quantity */
struct an_heat {
	uint64_t from, step;
	uint32_t nx, ny;
	uint8_t unit;          /* of low */
	const uint64_t *low;   /* ny: where each row begins, ascending */
	const uint32_t *count; /* [iy * nx + ix] */
};
/* stacks by their share; of the HTML form alone: folded stacks and pprof are forms of their own */
struct an_flame_picture {
	const struct an_flame *f; /* borrowed, sorted */
	uint32_t tree;
};
enum an_words { AN_NOTE, AN_CANNOT, AN_LOST }; /* said in passing; can't be told; is missing */
enum an_part_kind {
	AN_PART_FACTS,
	AN_PART_TABLE,
	AN_PART_BARS,
	AN_PART_LINES,
	AN_PART_HEAT,
	AN_PART_WORDS,
	AN_PART_FLAME, /* these two: HTML */
	AN_PART_LITERAL,
};
struct an_part {
	uint8_t kind;                   /* enum an_part_kind */
	uint8_t words;                  /* enum an_words */
	bool approximate;               /* of bars and heat: as of a cell; programs read it, people the title */
	bool step_at_least;             /* of lines and heat: steps may have been longer; as above */
	const char *key, *title, *text; /* text: an explanation in small print, or the words; may be NULL */
	union {
		struct {
			struct an_fact *fact;
			uint32_t nfacts, capfacts;
		};
		struct an_table table;
		struct an_bars bars;
		struct an_lines lines;
		struct an_heat heat;
		struct an_flame_picture flame;
		const char *literal; /* lines as a terminal shows them */
	};
};
struct an_page {
	struct arena arena;
	const char *key, *title;
	struct an_part **part;
	uint32_t nparts, capparts;
};

/* title is copied; the page is zero before. */
void an_page_open(struct an_page *p, const char *key, const char *title);
void an_page_free(struct an_page *p);
bool an_page_failed(const struct an_page *p);
/* Each adds a part; NULL when memory is out, which the functions below accept. */
struct an_part *an_page_facts(struct an_page *p, const char *key, const char *title);
struct an_part *an_page_table(struct an_page *p, const char *key, const char *title, const struct an_column *col,
			      uint32_t ncols);
/* Bars, values and counts are copied. */
struct an_part *an_page_bars(struct an_page *p, const char *key, const char *title, const struct an_bars *b);
struct an_part *an_page_lines(struct an_page *p, const char *key, const char *title, const struct an_lines *l);
struct an_part *an_page_heat(struct an_page *p, const char *key, const char *title, const struct an_heat *h);
struct an_part *an_page_flame(struct an_page *p, const char *key, const char *title, const struct an_flame *f,
			      uint32_t tree);
struct an_part *an_page_literal(struct an_page *p, const char *key, const char *title, const char *lines, size_t n);
void an_page_words(struct an_page *p, enum an_words kind, const char *key, const char *fmt, ...) PRINTF_LIKE(4, 5);
/* Fills in what a part is made of. */
void an_fact(struct an_page *p, struct an_part *facts, const char *key, const char *title, uint8_t unit,
	     struct an_cell c);
void an_row(struct an_page *p, struct an_part *table, const struct an_cell *cells);
void an_explain(struct an_page *p, struct an_part *part, const char *fmt, ...) PRINTF_LIKE(3, 4);

/* ---- forms --------------------------------------------------------------------------- */
struct an_text_opts {
	uint32_t columns; /* of the terminal; 0: 80 */
	bool ascii;       /* no block characters */
};
void an_page_text(struct buf *to, const struct an_page *p, const struct an_text_opts *o);
/* {"schema":1,"type":KEY,"title":..} first; then an object per table row, and one per other part, with
 * its key as "type". */
void an_page_json(struct buf *to, const struct an_page *p);
/* One self-contained page: no network, and no script but its own (content security policy). */
void an_page_html(struct buf *to, const struct an_page *p);

/* ---- plain tables of text, for what comes without a page ------------------------------- */
void an_table_text(struct buf *to, const struct an_table *t, const struct an_text_opts *o);
void an_csv_cell(struct buf *to, const char *s, size_t n, char separator); /* quoted where RFC 4180 wants it */

#endif
