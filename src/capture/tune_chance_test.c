/* tune_chance_test.c: the chance of so many wins, what a run allows each look at a setting, and the lots. */
#include "capture/tune_int.h"
#include "capture/tune_test_int.h"

/* Every order of two blocks is counted. */
static void the_chance_of_so_many_wins_is_the_share_of_all_orders(void **state)
{
	uint32_t ways[33] = { 0 }, all = 0, sum = 0;

	(void)state;
	for (uint32_t order = 0; order < 1u << 16; order++) {
		uint32_t wins = 0;

		if (__builtin_popcount(order & 0xff) != 4 || __builtin_popcount(order >> 8) != 4)
			continue;
		for (uint32_t i = 0; i < 16; i++)
			for (uint32_t k = i + 1; k < (i | 7) + 1; k++)
				wins += (order >> i & 1) && !(order >> k & 1);
		ways[wins]++;
		all++;
	}
	assert_int_equal(all, 70 * 70);
	for (uint32_t wins = 33; wins-- > 0;) {
		double off = tune_chance(2, wins) - (double)(sum += ways[wins]) / all;

		assert_true(off < 1e-12 && off > -1e-12);
	}
}

static void the_chance_of_all_blocks_together_is_no_more_and_no_less(void **state)
{
	double last = 1;

	(void)state;
	assert_true(tune_chance(TUNE_BLOCKS, 0) > 1 - 1e-12 && tune_chance(TUNE_BLOCKS, 0) < 1 + 1e-12);
	for (uint32_t b = 0; b < TUNE_BLOCKS; b++)
		last /= 70;
	assert_true(tune_chance(TUNE_BLOCKS, TUNE_BLOCKS * TUNE_LOTS * TUNE_LOTS) > last * (1 - 1e-9));
	assert_true(tune_chance(TUNE_BLOCKS, TUNE_BLOCKS * TUNE_LOTS * TUNE_LOTS) < last * (1 + 1e-9));
}

static void a_lot_gives_each_order_as_often(void **state)
{
	uint32_t often[256] = { 0 }, orders = 0;
	uint64_t random = 1;

	(void)state;
	for (int i = 0; i < 70000; i++) {
		bool turn[2 * TUNE_LOTS];
		uint32_t order = 0;

		tune_draw(&random, turn);
		for (int k = 0; k < 8; k++)
			order |= (uint32_t)turn[k] << k;
		often[order]++;
	}
	for (uint32_t order = 0; order < 256; order++) {
		orders += often[order] != 0;
		assert_true(often[order] == 0 || (often[order] > 850 && often[order] < 1150));
	}
	assert_int_equal(orders, 70);
}

/* All looks at all settings together are wrong in one run of so many, and never more often. */
static void what_all_looks_are_allowed_adds_up_to_the_bound(void **state)
{
	static const uint32_t bounds[] = { 20, 1000 };

	(void)state;
	for (size_t b = 0; b < COUNT(bounds); b++) {
		double sum = 0;

		for (uint32_t k = 1; k <= 1000; k++) {
			double off = tune_bound(bounds[b], k) * bounds[b] * TUNE_BLOCKS * k * (k + 1) - 1;

			assert_true(off < 1e-9 && off > -1e-9);
			sum += tune_bound(bounds[b], k) * TUNE_BLOCKS;
		}
		assert_true(sum * bounds[b] < 1 && sum * bounds[b] > 0.998);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_chance_of_so_many_wins_is_the_share_of_all_orders),
		cmocka_unit_test(the_chance_of_all_blocks_together_is_no_more_and_no_less),
		cmocka_unit_test(a_lot_gives_each_order_as_often),
		cmocka_unit_test(what_all_looks_are_allowed_adds_up_to_the_bound),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
