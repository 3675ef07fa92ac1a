/* answer_int.h: what the parts of answer/ share. */
#ifndef TALLY_ANSWER_INT_H
#define TALLY_ANSWER_INT_H

#include "answer/answer.h"

/* As comparison functions want it: negative, 0 or positive. */
#define AN_ORDER(l, r) (((l) > (r)) - ((l) < (r)))

/* ---- value.c: values as bare text ------------------------------------------------ */
/* The integer without the bits above its width: what unsigned conversions show. */
uint64_t an_bits(const struct an_value *v);
/* Its decimal digits, signed as its type, right-justified to width. */
void an_decimal(struct buf *to, const struct an_value *v, int width);
/* What a FLOAT is; of fewer bytes than it needs: 0. */
long double an_float(const struct an_value *v);
/* Bytes up to the first NUL; "" for what has no text. */
size_t an_text_len(const struct an_value *v);
/* Whether those bytes may go to a terminal as they are. */
bool an_printable(const struct an_value *v);
/* Text of any value but a stack, without padding; symbols that have no name as 0x address. */
void an_bare(struct buf *to, const struct an_value *v);
/* s with control characters as '?', and the characters of `not` as ':'. */
void an_clean(struct buf *to, const char *s, const char * not );
void an_hexdump(struct buf *to, const void *bytes, size_t n);
/* Orders two values of the same kind: negative, 0, positive. */
int an_compare(const struct an_value *a, const struct an_value *b);
static inline bool an_is_stack(const struct an_value *v)
{
	return v->kind == SLOT_KSTACK || v->kind == SLOT_USTACK;
}

/* ---- record.c -------------------------------------------------------------------- */
/* One element of a key as it stands in an aggregation's line. */
void an_datum(struct buf *to, const struct an_value *v, unsigned stackindent);

/* ---- printf.c -------------------------------------------------------------------- */
/* Width and precision of one conversion, stars filled in; width < 0: none. */
struct an_field {
	int width, prec;
	bool left;
};
/* Reads stars from v[*at] on (n in all) and moves *at past them. */
struct an_field an_field(const struct fmt_spec *f, const struct an_value *v, uint32_t n, uint32_t *at);
void an_convert(struct buf *to, const struct fmt_spec *f, const struct an_field *w, const struct an_value *v);
void an_padded(struct buf *to, const struct an_field *w, const char *s, size_t n);

/* ---- hist.c ---------------------------------------------------------------------- */
bool an_is_hist(const struct an_agg *a);
uint32_t an_hist_buckets(const struct an_agg *a);
int64_t an_hist_count(const struct an_row *r, uint32_t bucket); /* 0 past those that are there */
int64_t an_hist_least(const struct an_agg *a, uint32_t bucket);
/* Sum of label x count, and the count around zero: what histograms are sorted by. */
long double an_hist_weight(const struct an_agg *a, const struct an_row *r);
int64_t an_hist_zero(const struct an_agg *a, const struct an_row *r);
void an_hist(struct buf *to, const struct an_agg *a, const struct an_row *r);

/* ---- agg.c ----------------------------------------------------------------------- */
int64_t an_normalized(const struct an_agg *a, int64_t v);
bool an_agg_signed(const struct an_agg *a); /* whether its value shows as signed */
/* Orders rows by value alone, and by keys alone beginning with keypos. */
int an_row_compare_value(const struct an_agg *a, const struct an_row *l, const struct an_row *r);
int an_row_compare_key(const struct an_row *l, const struct an_row *r, uint32_t keypos);
void an_agg_keys(struct buf *to, const struct an_row *r, unsigned stackindent);
/* The value's column. */
void an_agg_cell(struct buf *to, const struct an_agg *a, const struct an_row *r);

#endif
