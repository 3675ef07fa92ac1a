/*
 * answer: how answers look: records, aggregations, histograms and stacks as
 * dtrace(1) prints them, as JSON lines and as folded stacks.  Knows no
 * provider and no platform: values come in as `struct an_value`, bytes go out
 * into a buffer.  Widths and wording are those of dtrace(1), exactly.
 *
 * Out of memory: `failed` of the buffer is set and the text is cut short.
 * Dates are in the time zone of the process.  No state; any thread.
 */
#ifndef TALLY_ANSWER_H
#define TALLY_ANSWER_H

#include "base/base.h"
#include "facts/bucket.h"
#include "facts/format.h"
#include "facts/shape.h"
#include "facts/slot.h"

/* A value ready to be shown.  Symbols are already names.  What trace() can't show
 * as text (a string or bytes with control characters) becomes a hex dump, as dtrace
 * does it; printf() has such strings as they are, unless a terminal would obey them. */
struct an_value {
	uint8_t kind;  /* enum slot_kind */
	uint8_t width; /* INT: 1 2 4 8; 0 counts as 8. FLOAT: 4 8 16, its bytes in s */
	bool is_signed;
	bool visible; /* it goes to a terminal: control bytes of its text are shown as \x1b */
	bool raw;     /* STRING, BYTES: traced as bytes, not as text */
	int64_t i;    /* INT; raw address for symbols */
	/* STRING, BYTES: bytes, a NUL ends a string early.  The text of a symbol; NULL: it has no name
	 * and prints as address.  An INT that %a or %A prints has the name here, too. */
	const char *s;
	uint32_t len;
	/* Stacks, innermost first: the text of each frame, and its function without offset for folded
	 * stacks (NULL, or single NULLs: the text serves). */
	const char *const *frame;
	uint32_t nframes;
	const char *const *func;
	const char *const *file; /* the path of each frame's module; NULL, or single NULLs: it is not known */
};

/* ---- records ------------------------------------------------------------------- */
void an_header(struct buf *to); /* the line CPU ID FUNCTION:NAME */
void an_prefix(struct buf *to, uint32_t cpu, uint32_t id, const char *func, const char *name);
void an_place(struct buf *to, const char *func, const char *name); /* the column FUNCTION:NAME alone */
/* The same with flowindent: CPU, unless unnumbered, and FUNCTION; the functions, indented by `depth` blanks behind an
 * arrow. */
enum an_flow { AN_FLOW_NONE, AN_FLOW_IN, AN_FLOW_OUT };
void an_flow_header(struct buf *to, bool unnumbered);
void an_flow_prefix(struct buf *to, uint32_t depth, enum an_flow flow, bool syscall, const char *func,
		    const char *name);
/* trace() and the symbol statements (which keep their column when quiet). */
void an_trace(struct buf *to, const struct an_value *v, bool quiet);
#define AN_STACKINDENT 14 /* stackindent's default */
/* stack() and ustack() as statements: an empty line's end, then a line for each frame. */
void an_stack(struct buf *to, const struct an_value *v, unsigned indent);
/* print(): n bytes of a type, in lines; pointer: where they lay, or NULL. */
void an_print_typed(struct buf *to, const struct shape *s, const uint64_t *pointer, const void *bytes, uint32_t n);
/* printf: values in the order of the format's arguments, stars included.  A missing one prints nothing. */
void an_printf(struct buf *to, const struct fmt *f, const struct an_value *v, uint32_t n);

/* ---- aggregations -------------------------------------------------------------- */
/* One row: keys and the merged value. */
struct an_row {
	const struct an_value *key;
	uint32_t nkeys;
	int64_t n, sum; /* count, sum, min, max: in sum; avg, stddev: n and sum; min, max: n is 0 if there is none */
	uint64_t epoch; /* clear() and trunc() that set it back raise this: what is counted is what came since */
	uint64_t sq_lo, sq_hi; /* stddev: sum of squares */
	const int64_t *bucket;
	uint32_t nbuckets; /* counts from bucket 0 on; past the end: 0 */
	long double
		weight; /* an_agg_sort() finds it once, for what it compares is not at hand: avg, stddev, histograms */
};
struct an_agg {
	const char *name; /* without @ */
	uint8_t fn;       /* enum agg_fn */
	struct lquantize lq;
	struct llquantize llq;
	int64_t normal;              /* normalize() divisor, 1 or 0 = none */
	bool value_signed;           /* sum, min, max: prints as signed */
	bool zoom;                   /* the longest bar of a histogram is whole */
	const char *const *key_name; /* the elements of the tuple as the program writes them; NULL: not known */
	const char *time;            /* of its JSON lines, as SQL has it; NULL: they have none */
	struct an_row *row;
	uint32_t nrows;
};
const char *an_agg_function(uint8_t fn); /* "count", "quantize": as D names it */
/* The number shown: normalized; avg and stddev computed.  Histograms: the sum of label x count, which
 * they are sorted by, kept within 64 bits. */
int64_t an_agg_value(const struct an_agg *a, const struct an_row *r);

/* Rows are sorted by value, ascending; equal ones by key. */
struct an_sort {
	bool by_key;     /* aggsortkey: by key */
	bool reverse;    /* aggsortrev: the other way round */
	uint32_t keypos; /* aggsortkeypos: the key that counts first */
	uint32_t aggpos; /* aggsortpos: of several aggregations, whose value counts first */
};
void an_agg_sort(struct an_agg *a, const struct an_sort *how); /* how NULL: all default */

/* printa(@a), and what is left at exit: a line for each row.  The empty line that dtrace prints before
 * is the caller's. */
void an_agg_print(struct buf *to, const struct an_agg *a, unsigned stackindent);

/* printa with a format, once for each row.  Several aggregations of the same keys are joined: a row for each key that
 * one of them has (a missing one counts 0), sorted as `how` says (NULL: as they come by default); the first %@ shows
 * the first aggregation and so on, the last one from then on.  A single aggregation is printed in the order that its
 * rows have.  f NULL or empty: keys and values in columns; the empty line before is the caller's. -TALLY_EINVAL: keys
 * don't match, or the format wants more keys than there are.  -TALLY_ENOMEM. */
int an_agg_printa(struct buf *to, const struct fmt *f, const struct an_agg *const *aggs, uint32_t n,
		  unsigned stackindent, const struct an_sort *how, struct err *e);

/* ---- other forms --------------------------------------------------------------- */
#define AN_JSON_SCHEMA 1
/* Integers as numbers; strings and symbols as strings; bytes as hex digits, or as text if they are
 * printable; stacks as an array of frames, innermost first. */
void an_json_value(struct buf *to, const struct an_value *v);
/* A line for each row:
 *	{"type":"aggregation","name":..,"function":"count","keys":[..],"names":[..],"value":..}
 * "names" are those of the keys, where both are known and there are some. An average has its "sum" and "count", too.
 * Histograms have "buckets":[{"from":..,"to":..,"count":..}] in place of "value": those that are not
 * empty; from and to are inclusive, null where there is no bound. */
void an_json_agg(struct buf *to, const struct an_agg *a);
/* Folded stacks (flame graph input), a line for each path of the trees, which are sorted: names joined by ';'; a blank;
 * the value.  Of several trees a path begins with the label of its own.  Where there are frames of processes and of the
 * kernel, the kernel's end with "_[k]". */
struct an_flame;
void an_folded_put(struct buf *to, const struct an_flame *f);

/* ---- listing ------------------------------------------------------------------- */
void an_list_header(struct buf *to);
void an_list_row(struct buf *to, uint32_t id, const char *prov, const char *mod, const char *func, const char *name);

#endif
