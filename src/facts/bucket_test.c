/* bucket_test.c: every numbering against the one rule of bucket.h, and the refusals. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/base.h"
#include "facts/bucket_of.h"

/* Values around every power of two, and the ends. */
static const int64_t probes[] = {
	INT64_MIN,
	INT64_MIN + 1,
	-((int64_t)1 << 62) - 1,
	-((int64_t)1 << 62),
	-1000001,
	-1000,
	-999,
	-101,
	-100,
	-99,
	-17,
	-16,
	-15,
	-11,
	-10,
	-9,
	-8,
	-5,
	-4,
	-3,
	-2,
	-1,
	0,
	1,
	2,
	3,
	4,
	5,
	8,
	9,
	10,
	11,
	15,
	16,
	17,
	99,
	100,
	101,
	999,
	1000,
	1000001,
	(int64_t)1 << 62,
	INT64_MAX - 1,
	INT64_MAX,
};

static void quantize_buckets_are_powers_of_two(void **state)
{
	(void)state;
	assert_int_equal(quantize_bucket(0), QUANTIZE_ZERO);
	assert_int_equal(quantize_bucket(1), 64);
	assert_int_equal(quantize_bucket(3), 65);
	assert_int_equal(quantize_bucket(4), 66);
	assert_int_equal(quantize_bucket(-1), 62);
	assert_int_equal(quantize_bucket(-3), 61);
	assert_int_equal(quantize_bucket(INT64_MAX), QUANTIZE_BUCKETS - 1);
	assert_int_equal(quantize_bucket(INT64_MIN), 0);
	assert_int_equal(quantize_bucket(INT64_MIN + 1), 0);
	assert_true(quantize_label(126) == (int64_t)1 << 62);
	assert_true(quantize_label(0) == -((int64_t)1 << 62));
}

static void quantize_follows_the_rule_of_edges(void **state)
{
	(void)state;
	for (uint32_t b = 1; b < QUANTIZE_BUCKETS; b++) {
		assert_int_equal(quantize_bucket(quantize_least(b)), b);
		assert_int_equal(quantize_bucket(quantize_least(b) - 1), b - 1);
		assert_int_equal(quantize_bucket(quantize_label(b)), b);
	}
}

static void lquantize_follows_the_rule_of_edges(void **state)
{
	(void)state;
	const struct lquantize q[] = {
		{ 0, 100, 10 },
		{ -50, 50, 7 },
		{ INT32_MIN, INT32_MAX, 65538 },
		{ 5, 6, 1 },
	};
	for (size_t k = 0; k < COUNT(q); k++) {
		uint32_t last = lquantize_levels(&q[k]) + 1;
		assert_int_equal(lquantize_bucket(&q[k], INT64_MIN), 0);
		assert_int_equal(lquantize_bucket(&q[k], INT64_MAX), last);
		for (uint32_t b = 1; b <= last; b++) {
			assert_int_equal(lquantize_bucket(&q[k], lquantize_least(&q[k], b)), b);
			assert_int_equal(lquantize_bucket(&q[k], lquantize_least(&q[k], b) - 1), b - 1);
		}
	}
}

static void lquantize_ends_at_its_last_whole_level(void **state)
{
	(void)state;
	const struct lquantize q = { 0, 25, 10 };
	assert_int_equal(lquantize_levels(&q), 2);
	assert_int_equal(lquantize_bucket(&q, 19), 2);
	assert_int_equal(lquantize_bucket(&q, 20), 3);
	assert_int_equal(lquantize_label(&q, 3), 20);
}

static const struct llquantize lls[] = {
	{ 10, 0, 6, 20 }, { 10, 0, 6, 10 },   { 10, 0, 6, 5 },  { 10, 0, 3, 1 },  { 10, 0, 2, 100 },
	{ 4, 0, 1, 2 },   { 4, 0, 1, 8 },     { 2, 0, 61, 2 },  { 2, 8, 13, 16 }, { 10, 2, 6, 20 },
	{ 3, 0, 38, 3 },  { 65535, 0, 2, 1 }, { 2, 61, 61, 2 },
};

static void llquantize_edges_are_ascending_and_tell_the_bucket(void **state)
{
	(void)state;
	int64_t edge[LLQUANTIZE_EDGES];
	for (size_t k = 0; k < COUNT(lls); k++) {
		const struct llquantize *q = &lls[k];
		struct err e = { 0 };
		assert_int_equal(llquantize_check(q->factor, q->low, q->high, q->steps, NULL, &e), 0);
		uint32_t n = llquantize_edges(q, edge);
		assert_int_equal(n, llquantize_buckets(q) - 1);
		for (uint32_t i = 0; i < n; i++) {
			assert_true(i == 0 || edge[i - 1] < edge[i]);
			assert_true(llquantize_least(q, i + 1) == edge[i]);
			assert_int_equal(llquantize_bucket(q, edge[i]), i + 1);
			assert_int_equal(llquantize_bucket(q, edge[i] - 1), i);
		}
		for (size_t p = 0; p < COUNT(probes); p++) {
			uint32_t at = 0;
			while (at < n && edge[at] <= probes[p])
				at++;
			assert_int_equal(llquantize_bucket(q, probes[p]), at);
		}
	}
}

static void llquantize_labels_are_those_of_dtrace(void **state)
{
	(void)state;
	/* steps > factor, low magnitude 0: only whole numbers below factor, then steps per magnitude */
	const struct llquantize q = { 4, 0, 1, 8 };
	static const int64_t label[] = {
		-16, -14, -12, -10, -8, -6, -4, -3, -2, -1, 0, 1, 2, 3, 4, 6, 8, 10, 12, 14, 16
	};
	assert_int_equal(llquantize_buckets(&q), COUNT(label));
	for (uint32_t b = 0; b < COUNT(label); b++)
		assert_int_equal(llquantize_label(&q, b), label[b]);
	/* steps < factor */
	const struct llquantize few = { 4, 0, 1, 2 };
	static const int64_t fewer[] = { -16, -8, -4, -2, -1, 0, 1, 2, 4, 8, 16 };
	assert_int_equal(llquantize_buckets(&few), COUNT(fewer));
	for (uint32_t b = 0; b < COUNT(fewer); b++)
		assert_int_equal(llquantize_label(&few, b), fewer[b]);
}

static void llquantize_mirrors_negative_values(void **state)
{
	(void)state;
	const struct llquantize q = { 10, 0, 2, 10 };
	uint32_t mid = llquantize_buckets(&q) / 2;
	for (int64_t v = 0; v < 2000; v++)
		assert_int_equal(mid - llquantize_bucket(&q, -v), llquantize_bucket(&q, v) - mid);
}

static void bad_llquantize_parameters_are_refused(void **state)
{
	(void)state;
	static const struct {
		int line;
		int64_t factor, low, high, steps;
		const char *tag;
	} row[] = {
		{ __LINE__, 1, 0, 6, 10, "D_LLQUANT_FACTORVAL" },
		{ __LINE__, 65536, 0, 1, 10, "D_LLQUANT_FACTORVAL" },
		{ __LINE__, 10, -1, 6, 20, "D_LLQUANT_LMAGVAL" },
		{ __LINE__, 10, 0, 65536, 20, "D_LLQUANT_HMAGVAL" },
		{ __LINE__, 10, 4, 3, 20, "D_LLQUANT_HMAGVAL" },
		{ __LINE__, 10, 0, 18, 10, "D_LLQUANT_HMAGVAL" },
		{ __LINE__, 10, 65535, 65535, 10, "D_LLQUANT_HMAGVAL" },
		{ __LINE__, 10, 0, 6, 0, "D_LLQUANT_STEPVAL" },
		{ __LINE__, 10, 0, 6, 65536, "D_LLQUANT_STEPVAL" },
		{ __LINE__, 10, 0, 6, 3, "D_LLQUANT_STEPVAL" },
		{ __LINE__, 10, 0, 6, 25, "D_LLQUANT_STEPVAL" },
		{ __LINE__, 10, 0, 6, 30, "D_LLQUANT_STEPVAL" },
		{ __LINE__, 10, 1, 6, 80, "D_LLQUANT_STEPVAL" },
		{ __LINE__, 10, 2, 9, 1000, "D_LLQUANT_STEPVAL" }, /* 14400 edges */
	};
	for (size_t i = 0; i < COUNT(row); i++) {
		struct err e = { 0 };
		const char *tag = "";
		int rc = llquantize_check(row[i].factor, row[i].low, row[i].high, row[i].steps, &tag, &e);
		if (rc != -TALLY_EINVAL || strcmp(tag, row[i].tag) != 0 || e.text[0] == '\0')
			fail_msg("row of line %d: %d %s %s", row[i].line, rc, tag, e.text);
	}
	assert_int_equal(llquantize_check(10, 0, 17, 10, NULL, NULL), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(quantize_buckets_are_powers_of_two),
		cmocka_unit_test(quantize_follows_the_rule_of_edges),
		cmocka_unit_test(lquantize_follows_the_rule_of_edges),
		cmocka_unit_test(lquantize_ends_at_its_last_whole_level),
		cmocka_unit_test(llquantize_edges_are_ascending_and_tell_the_bucket),
		cmocka_unit_test(llquantize_labels_are_those_of_dtrace),
		cmocka_unit_test(llquantize_mirrors_negative_values),
		cmocka_unit_test(bad_llquantize_parameters_are_refused),
	};
	return cmocka_run_group_tests_name("bucket", tests, NULL, NULL);
}
