/*
 * hist.c: quantize(), lquantize() and llquantize() as bars.
 *
 * The three differ in two things only: which buckets exist, and what stands in front of the bar.  So there is one
 * printer and a row per kind.  A histogram shows its first to its last bucket that is not empty, and one empty bucket
 * more on each side.  Weights may be negative (quantize(x, -1)), so bars grow to the right from the margin, to the left
 * from the other one, or both ways from the middle.  A bar is the share of its count in all, or (zoom) in the largest.
 * Bars are of the counts as they are; only the number behind them is normalized.
 */
#include <stdio.h>

#include "answer/answer_int.h"

#define BAR 40

/* The buckets that are shown. */
struct range {
	uint32_t first, last;
};

struct kind {
	uint32_t (*buckets)(const struct an_agg *a);
	int64_t (*value)(const struct an_agg *a, uint32_t bucket); /* what a count weighs in sorting */
	int64_t (*least)(const struct an_agg *a, uint32_t bucket);
	uint32_t (*zero)(const struct an_agg *a); /* bucket around zero; UINT32_MAX: none */
	void (*label)(struct buf *to, const struct an_agg *a, uint32_t bucket, struct range shown);
	uint32_t (*idle)(const struct an_agg *a); /* first of three shown when all are empty */
};

static void number_label(struct buf *to, const char *sign, int64_t v)
{
	char text[32];
	snprintf(text, sizeof(text), "%s%lld", sign, (long long)v);
	buf_printf(to, "%16s ", text);
}

/* ---- quantize ------------------------------------------------------------------ */

static uint32_t q_buckets(const struct an_agg *a)
{
	(void)a;
	return QUANTIZE_BUCKETS;
}

static int64_t q_value(const struct an_agg *a, uint32_t bucket)
{
	(void)a;
	return quantize_label(bucket);
}

static int64_t q_least(const struct an_agg *a, uint32_t bucket)
{
	(void)a;
	return quantize_least(bucket);
}

static uint32_t q_zero(const struct an_agg *a)
{
	(void)a;
	return QUANTIZE_ZERO;
}

static void q_label(struct buf *to, const struct an_agg *a, uint32_t bucket, struct range shown)
{
	(void)a, (void)shown;
	number_label(to, "", quantize_label(bucket));
}

static uint32_t q_idle(const struct an_agg *a)
{
	(void)a;
	return QUANTIZE_ZERO - 1;
}

/* ---- lquantize ----------------------------------------------------------------- */

static uint32_t lq_buckets(const struct an_agg *a)
{
	return lquantize_levels(&a->lq) + 2;
}

/* What is outside counts as just outside. */
static int64_t lq_value(const struct an_agg *a, uint32_t bucket)
{
	int64_t label = lquantize_label(&a->lq, bucket);
	return bucket == 0 ? label - 1 : bucket == lquantize_levels(&a->lq) + 1 ? label + 1 : label;
}

static int64_t lq_least(const struct an_agg *a, uint32_t bucket)
{
	return lquantize_least(&a->lq, bucket);
}

/* The bucket that is worth 0, if any. */
static uint32_t lq_zero(const struct an_agg *a)
{
	uint32_t b = lquantize_bucket(&a->lq, 0);
	return lq_value(a, b) == 0 ? b : UINT32_MAX;
}

static void lq_label(struct buf *to, const struct an_agg *a, uint32_t bucket, struct range shown)
{
	(void)shown;
	const char *sign = bucket == 0 ? "< " : bucket == lquantize_levels(&a->lq) + 1 ? ">= " : "";
	number_label(to, sign, lquantize_label(&a->lq, bucket));
}

static uint32_t lq_idle(const struct an_agg *a)
{
	(void)a;
	return 0;
}

/* ---- llquantize ---------------------------------------------------------------- */

static uint32_t ll_buckets(const struct an_agg *a)
{
	return llquantize_buckets(&a->llq);
}

static int64_t ll_value(const struct an_agg *a, uint32_t bucket)
{
	return llquantize_label(&a->llq, bucket);
}

static int64_t ll_least(const struct an_agg *a, uint32_t bucket)
{
	return llquantize_least(&a->llq, bucket);
}

static uint32_t ll_zero(const struct an_agg *a)
{
	return ll_buckets(a) / 2;
}

/* The middle one is plain 0 if it holds nothing else, and "< N" if nothing negative is shown. */
static void ll_label(struct buf *to, const struct an_agg *a, uint32_t bucket, struct range shown)
{
	uint32_t mid = ll_zero(a);
	int64_t first = llquantize_label(&a->llq, mid + 1);
	if (bucket != mid)
		number_label(to,
			     bucket == 0       ? "<= " :
			     bucket == 2 * mid ? ">= " :
						 "",
			     llquantize_label(&a->llq, bucket));
	else if (first == 1)
		number_label(to, "", 0);
	else
		number_label(to, shown.first >= mid ? "< " : "abs() < ", first);
}

/* ---- the three ----------------------------------------------------------------- */

static const struct kind kinds[AGG_NFN] = {
	[AGG_QUANTIZE] = { q_buckets, q_value, q_least, q_zero, q_label, q_idle },
	[AGG_LQUANTIZE] = { lq_buckets, lq_value, lq_least, lq_zero, lq_label, lq_idle },
	[AGG_LLQUANTIZE] = { ll_buckets, ll_value, ll_least, ll_zero, ll_label, ll_zero },
};

bool an_is_hist(const struct an_agg *a)
{
	return a->fn < AGG_NFN && kinds[a->fn].buckets != NULL;
}

uint32_t an_hist_buckets(const struct an_agg *a)
{
	return kinds[a->fn].buckets(a);
}

int64_t an_hist_count(const struct an_row *r, uint32_t bucket)
{
	return r->bucket != NULL && bucket < r->nbuckets ? r->bucket[bucket] : 0;
}

int64_t an_hist_least(const struct an_agg *a, uint32_t bucket)
{
	return kinds[a->fn].least(a, bucket);
}

long double an_hist_weight(const struct an_agg *a, const struct an_row *r)
{
	uint32_t n = an_hist_buckets(a);
	long double sum = 0;
	for (uint32_t b = 0; b < n && b < r->nbuckets; b++)
		if (an_hist_count(r, b) != 0)
			sum += (long double)kinds[a->fn].value(a, b) * an_hist_count(r, b);
	return sum;
}

int64_t an_hist_zero(const struct an_agg *a, const struct an_row *r)
{
	return an_hist_count(r, kinds[a->fn].zero(a));
}

static struct range hist_shown_range(const struct an_agg *a, const struct an_row *r)
{
	uint32_t n = an_hist_buckets(a), first = 0, last = n - 1;
	while (first < n && an_hist_count(r, first) == 0)
		first++;
	if (first == n) {
		first = kinds[a->fn].idle(a);
		return (struct range){ first, first + 2 };
	}
	while (an_hist_count(r, last) == 0)
		last--;
	return (struct range){ first - (first > 0), last + (last < n - 1) };
}

/* What the bars are drawn by. */
struct scale {
	long double total; /* of the counts without their signs, or the largest: a whole bar */
	bool up, down;     /* counts above and below zero are there */
};

static struct scale hist_row_scale(const struct an_row *r, struct range of, bool zoom)
{
	struct scale s = { 0 };
	for (uint32_t b = of.first; b <= of.last; b++) {
		long double count = an_hist_count(r, b), size = count < 0 ? -count : count;
		s.up |= count > 0;
		s.down |= count < 0;
		s.total = !zoom ? s.total + size : size > s.total ? size : s.total;
	}
	return s;
}

static void hist_put_repeat(struct buf *to, char c, int n)
{
	for (int i = 0; i < n; i++)
		buf_putc(to, c);
}

static void hist_put_bar(struct buf *to, const struct scale *s, int64_t count)
{
	int room = s->up && s->down ? BAR / 2 : BAR;
	long double size = count < 0 ? -(long double)count : (long double)count;
	int marks = s->total > 0 ? (int)(size * room / s->total + 0.5L) : 0;
	int left = count < 0 ? marks : 0, right = count > 0 ? marks : 0;
	if (s->down) {
		hist_put_repeat(to, ' ', room - left);
		hist_put_repeat(to, '@', left);
	}
	buf_putc(to, '|');
	if (s->up || !s->down) {
		hist_put_repeat(to, '@', right);
		hist_put_repeat(to, ' ', room - right);
	}
}

void an_hist(struct buf *to, const struct an_agg *a, const struct an_row *r)
{
	struct range of = hist_shown_range(a, r);
	struct scale s = hist_row_scale(r, of, a->zoom);
	buf_printf(to, "\n%16s %41s %-9s\n", "value", "------------- Distribution -------------", "count");
	for (uint32_t b = of.first; b <= of.last; b++) {
		int64_t count = an_hist_count(r, b);
		kinds[a->fn].label(to, a, b, of);
		hist_put_bar(to, &s, count);
		buf_printf(to, " %-9lld\n", (long long)an_normalized(a, count));
	}
}
