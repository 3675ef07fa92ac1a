/*
 * bucket.c: see bucket.h for the numbering.  Everything is computed from the
 * parameters; no table is kept.  Parameters come from D source, and past dlang's
 * checks and llquantize_check() nothing can overflow.  That
 * refuses what dtrace(1) refuses, in its words, and two things more: an
 * llquantize whose top edge does not fit a signed 64-bit value (no value could
 * reach it), and one with more than LLQUANTIZE_EDGES edges.
 */
#include "facts/bucket.h"
#include "base/base.h"

#define REFUSE(e, tag, name, ...) (*(tag) = (name), err_set(e, TALLY_EINVAL, __VA_ARGS__))

/* ---- quantize ------------------------------------------------------------------ */

int64_t quantize_label(uint32_t bucket)
{
	if (bucket == QUANTIZE_ZERO)
		return 0;
	if (bucket > QUANTIZE_ZERO)
		return (int64_t)1 << (bucket - QUANTIZE_ZERO - 1);
	return -((int64_t)1 << (QUANTIZE_ZERO - 1 - bucket));
}

int64_t quantize_least(uint32_t bucket)
{
	if (bucket == 0)
		return INT64_MIN;
	if (bucket >= QUANTIZE_ZERO)
		return quantize_label(bucket);
	return 2 * quantize_label(bucket) + 1;
}

/* ---- lquantize ----------------------------------------------------------------- */

uint32_t lquantize_levels(const struct lquantize *q)
{
	return (uint32_t)(((int64_t)q->limit - q->base) / q->step);
}

int64_t lquantize_label(const struct lquantize *q, uint32_t bucket)
{
	return bucket == 0 ? q->base : q->base + ((int64_t)bucket - 1) * q->step;
}

int64_t lquantize_least(const struct lquantize *q, uint32_t bucket)
{
	return bucket == 0 ? INT64_MIN : lquantize_label(q, bucket);
}

uint32_t lquantize_bucket(const struct lquantize *q, int64_t v)
{
	uint32_t levels = lquantize_levels(q);
	if (v < q->base)
		return 0;
	if (v >= lquantize_label(q, levels + 1))
		return levels + 1;
	return 1 + (uint32_t)((v - q->base) / q->step);
}

/* ---- llquantize ---------------------------------------------------------------- */

/* factor^n, or 0 when it does not fit a signed 64-bit value. */
static int64_t bucket_power(int64_t factor, int64_t n)
{
	int64_t v = 1;
	for (int64_t i = 0; i < n; i++)
		if (__builtin_mul_overflow(v, factor, &v))
			return 0;
	return v;
}

static bool unit_steps(const struct llquantize *q, uint32_t mag)
{
	return mag == 0 && q->steps > q->factor;
}

/* How many edges magnitude mag adds: those above factor^mag up to factor^(mag+1). */
static uint32_t edges_of(const struct llquantize *q, uint32_t mag)
{
	return unit_steps(q, mag) ? q->factor - 1u : (uint32_t)q->steps - q->steps / q->factor;
}

static uint32_t positive_edges(const struct llquantize *q)
{
	uint32_t m = 1;
	for (uint32_t mag = q->low; mag <= q->high; mag++)
		m += edges_of(q, mag);
	return m;
}

static int64_t positive_edge(const struct llquantize *q, uint32_t j)
{
	int64_t bottom = bucket_power(q->factor, q->low);
	if (j-- == 0)
		return bottom;
	for (uint32_t mag = q->low;; mag++, bottom *= q->factor) {
		uint32_t n = edges_of(q, mag);
		if (j >= n) {
			j -= n;
			continue;
		}
		if (unit_steps(q, mag))
			return 2 + j;
		return bottom * q->factor / q->steps * (q->steps - n + 1 + j);
	}
}

static int steps_check(int64_t factor, int64_t low, int64_t steps, const char **tag, struct err *e)
{
	const char *name = "D_LLQUANT_STEPVAL";
	if (steps < 1 || steps > UINT16_MAX)
		return REFUSE(e, tag, name,
			      "llquantize( ) argument #4 must be an unsigned "
			      "16-bit quantity%s",
			      steps == 0 ? " greater than 0" : "");
	if (steps < factor && factor % steps != 0)
		return REFUSE(e, tag, name,
			      "llquantize( ) argument #4 (steps) must evenly divide "
			      "argument #1 (factor) when steps<factor");
	if (steps <= factor)
		return 0;
	if (steps % factor != 0)
		return REFUSE(e, tag, name,
			      "llquantize( ) argument #4 (steps) must be a multiple "
			      "of argument #1 (factor) when steps>factor");
	if (low == 0 && factor * factor % steps != 0)
		return REFUSE(e, tag, name,
			      "llquantize( ) argument #4 (steps) must evenly divide "
			      "the square of argument #1 (factor) when steps>factor and lmag==0");
	if (low > 0 && bucket_power(factor, low + 1) % steps != 0)
		return REFUSE(e, tag, name,
			      "llquantize( ) argument #4 (steps) must evenly divide "
			      "pow(argument #1 (factor), lmag (argument #2) + 1) "
			      "when steps>factor and lmag>0");
	return 0;
}

int llquantize_check(int64_t factor, int64_t low, int64_t high, int64_t steps, const char **tag, struct err *e)
{
	const char *unused;
	if (tag == NULL)
		tag = &unused;
	if (factor < 2 || factor > UINT16_MAX)
		return REFUSE(e, tag, "D_LLQUANT_FACTORVAL",
			      "llquantize( ) argument #1 must be an "
			      "unsigned 16-bit quantity greater than or equal to 2");
	if (low < 0 || low > UINT16_MAX)
		return REFUSE(e, tag, "D_LLQUANT_LMAGVAL",
			      "llquantize( ) argument #2 must be an unsigned 16-bit quantity");
	if (high < 0 || high > UINT16_MAX)
		return REFUSE(e, tag, "D_LLQUANT_HMAGVAL",
			      "llquantize( ) argument #3 must be an unsigned 16-bit quantity");
	if (high < low)
		return REFUSE(e, tag, "D_LLQUANT_HMAGVAL",
			      "llquantize( ) argument #3 "
			      "(high magnitude) must be at least argument #2 (low magnitude)");
	if (bucket_power(factor, high + 1) == 0)
		return REFUSE(e, tag, "D_LLQUANT_HMAGVAL",
			      "llquantize( ) argument #3 "
			      "(high magnitude) will cause overflow of 64 bits");
	int rc = steps_check(factor, low, steps, tag, e);
	if (rc < 0)
		return rc;
	struct llquantize q = { (uint16_t)factor, (uint16_t)low, (uint16_t)high, (uint16_t)steps };
	if (2 * positive_edges(&q) > LLQUANTIZE_EDGES)
		return REFUSE(e, tag, "D_LLQUANT_STEPVAL",
			      "llquantize( ) argument #4 (steps) "
			      "makes %u buckets; at most %u are possible",
			      llquantize_buckets(&q), LLQUANTIZE_EDGES + 1);
	return 0;
}

uint32_t llquantize_buckets(const struct llquantize *q)
{
	return 2 * positive_edges(q) + 1;
}

int64_t llquantize_label(const struct llquantize *q, uint32_t bucket)
{
	uint32_t mid = positive_edges(q);
	if (bucket == mid)
		return 0;
	return bucket > mid ? positive_edge(q, bucket - mid - 1) : -positive_edge(q, mid - 1 - bucket);
}

int64_t llquantize_least(const struct llquantize *q, uint32_t bucket)
{
	uint32_t mid = positive_edges(q);
	if (bucket == 0)
		return INT64_MIN;
	return bucket > mid ? positive_edge(q, bucket - mid - 1) : 1 - positive_edge(q, mid - bucket);
}

uint32_t llquantize_edges(const struct llquantize *q, int64_t *edge)
{
	uint32_t m = positive_edges(q);
	for (uint32_t j = 0; j < m; j++) {
		int64_t v = positive_edge(q, j);
		edge[m + j] = v;
		edge[m - 1 - j] = 1 - v;
	}
	return 2 * m;
}
