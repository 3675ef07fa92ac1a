/*
 * agg.c: the values of aggregations, their order, and their lines.
 *
 * The order is dtrace(1)'s: by value as it was aggregated (normalization does
 * not change it), equal values by key.  Histograms weigh each count with its
 * label and, when that ties, compare their counts around zero.
 *
 * stddev is the integer square root of average(x^2) - average(x)^2 in 128 bits,
 * with both averages cut to integers.  A normalized stddev is that divided by
 * the divisor.
 */
#include <float.h>
#include <stdlib.h>

#include "answer/answer_int.h"

const char *an_agg_function(uint8_t fn)
{
	static const char *const names[AGG_NFN] = {
		[AGG_COUNT] = "count",
		[AGG_SUM] = "sum",
		[AGG_AVG] = "avg",
		[AGG_MIN] = "min",
		[AGG_MAX] = "max",
		[AGG_STDDEV] = "stddev",
		[AGG_QUANTIZE] = "quantize",
		[AGG_LQUANTIZE] = "lquantize",
		[AGG_LLQUANTIZE] = "llquantize",
	};
	return fn < AGG_NFN ? names[fn] : "";
}

/* ---- values -------------------------------------------------------------------- */

bool an_agg_signed(const struct an_agg *a)
{
	switch (a->fn) {
	case AGG_COUNT:
	case AGG_STDDEV:
		return false;
	case AGG_SUM:
	case AGG_MIN:
	case AGG_MAX:
		return a->value_signed;
	default:
		return true;
	}
}

/* v / by without the two cases that trap. */
static int64_t agg_divide_safe(int64_t v, int64_t by)
{
	return by == 0 ? 0 : by == -1 ? (int64_t) - (uint64_t)v : v / by;
}

int64_t an_normalized(const struct an_agg *a, int64_t v)
{
	if (a->normal == 0 || a->normal == 1)
		return v;
	if (!an_agg_signed(a) && a->normal > 0)
		return (int64_t)((uint64_t)v / (uint64_t)a->normal);
	return agg_divide_safe(v, a->normal);
}

static uint64_t square_root(unsigned __int128 v)
{
	unsigned __int128 root = 0, bit = (unsigned __int128)1 << 126;
	while (bit > v)
		bit >>= 2;
	for (; bit != 0; bit >>= 2) {
		bool fits = v >= root + bit;
		if (fits)
			v -= root + bit;
		root = (root >> 1) + (fits ? bit : 0);
	}
	return (uint64_t)root;
}

static int64_t agg_row_average(const struct an_row *r)
{
	return agg_divide_safe(r->sum, r->n);
}

static uint64_t agg_row_deviation(const struct an_row *r)
{
	unsigned __int128 squares = (unsigned __int128)r->sq_hi << 64 | r->sq_lo;
	__int128 avg = agg_row_average(r);
	if (r->n <= 0)
		return 0;
	squares /= (uint64_t)r->n;
	unsigned __int128 square = (unsigned __int128)(avg * avg);
	return squares > square ? square_root(squares - square) : 0;
}

int64_t an_agg_value(const struct an_agg *a, const struct an_row *r)
{
	if (an_is_hist(a)) {
		long double weight = an_hist_weight(a, r);
		return weight >= 0x1p63L ? INT64_MAX : weight < -0x1p63L ? INT64_MIN : (int64_t)weight;
	}
	if (a->fn == AGG_STDDEV)
		return an_normalized(a, (int64_t)agg_row_deviation(r));
	if (a->fn == AGG_AVG)
		return agg_divide_safe(an_normalized(a, r->sum), r->n);
	return an_normalized(a, r->sum);
}

/* ---- order --------------------------------------------------------------------- */

static_assert(LDBL_MANT_DIG >= 64, "whole numbers of 64 bits, with a sign or without one, are exact weights");

static long double agg_row_weight(const struct an_agg *a, const struct an_row *r)
{
	if (an_is_hist(a))
		return an_hist_weight(a, r);
	if (a->fn == AGG_STDDEV)
		return (long double)agg_row_deviation(r);
	if (a->fn == AGG_AVG)
		return (long double)agg_row_average(r);
	return an_agg_signed(a) ? (long double)r->sum : (long double)(uint64_t)r->sum;
}

/* Rows that weigh alike. */
static int agg_row_compare_zero(const struct an_agg *a, const struct an_row *l, const struct an_row *r)
{
	return an_is_hist(a) ? AN_ORDER(an_hist_zero(a, l), an_hist_zero(a, r)) : 0;
}

int an_row_compare_value(const struct an_agg *a, const struct an_row *l, const struct an_row *r)
{
	const long double left = agg_row_weight(a, l), right = agg_row_weight(a, r);

	return left != right ? AN_ORDER(left, right) : agg_row_compare_zero(a, l, r);
}

int an_row_compare_key(const struct an_row *l, const struct an_row *r, uint32_t keypos)
{
	uint32_t n = l->nkeys < r->nkeys ? l->nkeys : r->nkeys;
	uint32_t start = keypos < n ? keypos : 0;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t k = i + start < n ? i + start : i + start - n;
		int c = an_compare(&l->key[k], &r->key[k]);
		if (c != 0)
			return c;
	}
	return AN_ORDER(l->nkeys, r->nkeys);
}

struct sorting {
	const struct an_agg *agg;
	const struct an_sort *how;
	bool by_sum;   /* what is shown is `sum` */
	uint64_t flip; /* makes it one without sign, in the same order */
};

static int compare_rows(const void *l, const void *r, void *arg)
{
	const struct sorting *s = arg;
	const struct an_row *left = l, *right = r;
	int c = s->how->by_key ? 0 :
		s->by_sum      ? AN_ORDER((uint64_t)left->sum ^ s->flip, (uint64_t)right->sum ^ s->flip) :
				 AN_ORDER(left->weight, right->weight);
	if (c == 0 && !s->how->by_key)
		c = agg_row_compare_zero(s->agg, left, right);
	if (c == 0)
		c = an_row_compare_key(l, r, s->how->keypos);
	return s->how->reverse ? -c : c;
}

void an_agg_sort(struct an_agg *a, const struct an_sort *how)
{
	static const struct an_sort usual;
	struct sorting s = { .agg = a,
			     .how = how != NULL ? how : &usual,
			     .by_sum = a->fn == AGG_COUNT || a->fn == AGG_SUM || a->fn == AGG_MIN || a->fn == AGG_MAX,
			     .flip = an_agg_signed(a) ? UINT64_C(1) << 63 : 0 };
	for (uint32_t i = 0; !s.how->by_key && !s.by_sum && i < a->nrows; i++)
		a->row[i].weight = agg_row_weight(a, &a->row[i]);
	if (a->nrows > 1)
		qsort_r(a->row, a->nrows, sizeof(*a->row), compare_rows, &s);
}

/* ---- lines --------------------------------------------------------------------- */

void an_agg_keys(struct buf *to, const struct an_row *r, unsigned stackindent)
{
	for (uint32_t k = 0; k < r->nkeys; k++)
		an_datum(to, &r->key[k], stackindent);
}

void an_agg_cell(struct buf *to, const struct an_agg *a, const struct an_row *r)
{
	if (an_is_hist(a))
		an_hist(to, a, r);
	else if (an_agg_signed(a))
		buf_printf(to, " %16lld", (long long)an_agg_value(a, r));
	else
		buf_printf(to, " %16llu", (unsigned long long)an_agg_value(a, r));
}

void an_agg_print(struct buf *to, const struct an_agg *a, unsigned stackindent)
{
	for (uint32_t i = 0; i < a->nrows; i++) {
		an_agg_keys(to, &a->row[i], stackindent);
		an_agg_cell(to, a, &a->row[i]);
		buf_putc(to, '\n');
	}
}
