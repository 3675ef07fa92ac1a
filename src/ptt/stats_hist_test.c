/* stats_hist_test.c: buckets, and the percentiles that come of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "ptt/stats.h"

static void buckets_meet_without_gap(void **state)
{
	(void)state;
	for (uint32_t b = 0; b < PTT_HIST_BUCKETS; b++) {
		assert_int_equal(ptt_hist_bucket(ptt_hist_least(b)), b);
		assert_int_equal(ptt_hist_bucket(ptt_hist_most(b)), b);
		assert_true(b == 0 || ptt_hist_least(b) == ptt_hist_most(b - 1) + 1);
		assert_true(ptt_hist_most(b) - ptt_hist_least(b) <= ptt_hist_least(b) / 128);
	}
	assert_int_equal(ptt_hist_most(PTT_HIST_BUCKETS - 1), UINT64_MAX);
}

static void percentiles_are_the_ranks(void **state)
{
	struct ptt_hist h = { 0 };

	(void)state;
	assert_int_equal(ptt_hist_at(NULL, 500), 0);
	assert_int_equal(ptt_hist_at(&h, 500), 0);
	for (uint64_t v = 1; v <= 1000; v++)
		ptt_hist_add(&h, v);
	for (uint32_t per_mille = 1; per_mille <= 1000; per_mille++) {
		uint64_t got = ptt_hist_at(&h, per_mille), most = ptt_hist_most(ptt_hist_bucket(per_mille));
		assert_int_equal(got, most < 1000 ? most : 1000);
	}
	assert_int_equal(h.least, 1);
	assert_int_equal(h.most, 1000);
}

static void place_is(double got, double want)
{
	assert_true(got > want - 1e-9 && got < want + 1e-9);
}

/* The values of a bucket lie evenly in it, each of them as wide as 1. */
static void places_of_small_values_are_the_values(void **state)
{
	struct ptt_hist seven = { 0 }, sixteen = { 0 };
	double at[PTT_PLACES];

	(void)state;
	for (int i = 0; i < 100; i++)
		ptt_hist_add(&seven, 7);
	ptt_hist_places(&seven, NULL, at);
	place_is(at[PTT_AT_P10], 6.6);
	place_is(at[PTT_AT_P50], 7);
	place_is(at[PTT_AT_P90], 7.4);
	place_is(at[PTT_AT_P99], 7.49);
	place_is(at[PTT_AT_MIDDLE], 7);
	for (uint64_t i = 0; i < 1600; i++)
		ptt_hist_add(&sixteen, i % 16);
	ptt_hist_places(&sixteen, NULL, at);
	place_is(at[PTT_AT_P10], 1.1);
	place_is(at[PTT_AT_P50], 7.5);
	place_is(at[PTT_AT_P90], 13.9);
	place_is(at[PTT_AT_P99], 15.34);
	place_is(at[PTT_AT_MIDDLE], 7.5);
	for (uint64_t i = 0; i < 100; i++) /* of what came since, the first ones are none */
		ptt_hist_add(&seven, 11);
	struct ptt_hist first = { 0 };
	for (int i = 0; i < 100; i++)
		ptt_hist_add(&first, 7);
	ptt_hist_places(&seven, &first, at);
	place_is(at[PTT_AT_P50], 11);
	place_is(at[PTT_AT_MIDDLE], 11);
}

/* With eight buckets to a power of two, a shift of all latencies by 11 % between two edges left every percentile as it
 * was. */
static void a_shift_of_two_percent_moves_every_percentile(void **state)
{
	struct ptt_hist a = { 0 }, b = { 0 };

	(void)state;
	for (uint64_t v = 515; v < 560; v++) {
		ptt_hist_add(&a, v);
		ptt_hist_add(&b, v * 102 / 100);
	}
	for (uint32_t per_mille = 1; per_mille <= 1000; per_mille++) {
		uint64_t is = 515 + (45 * per_mille + 999) / 1000 - 1, got = ptt_hist_at(&a, per_mille);
		assert_true(got >= is && got <= is + is / 100);
		assert_true(ptt_hist_at(&b, per_mille) > got);
	}
}

static void a_percentile_that_was_called_a_lower_bound_lay_above_the_rank_by_up_to_a_bucket(void **state)
{
	struct ptt_hist h = { 0 };

	(void)state;
	assert_int_equal(ptt_hist_at_least(NULL, 500), 0);
	assert_int_equal(ptt_hist_at_least(&h, 500), 0);
	for (uint64_t v = 613; v < 1613; v++)
		ptt_hist_add(&h, v);
	for (uint32_t per_mille = 1; per_mille <= 1000; per_mille++) {
		uint64_t is = 612 + per_mille, least = ptt_hist_at_least(&h, per_mille);
		assert_true(least <= is && is - least <= is / 100);
		assert_true(least >= h.least);
		assert_int_equal(ptt_hist_bucket(least), ptt_hist_bucket(is));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(buckets_meet_without_gap),
		cmocka_unit_test(percentiles_are_the_ranks),
		cmocka_unit_test(places_of_small_values_are_the_values),
		cmocka_unit_test(a_percentile_that_was_called_a_lower_bound_lay_above_the_rank_by_up_to_a_bucket),
		cmocka_unit_test(a_shift_of_two_percent_moves_every_percentile),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
