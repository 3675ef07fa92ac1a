/* history_time_test.c: what hours and days of the past cost. */
#include "serve/history_test_int.h"

static void an_hour_stays_within_its_memory_and_its_time(void **state)
{
	const size_t bytes = 4u << 20;
	struct history *h = open_history(3600, bytes, 10000);
	static int64_t value[10000];
	uint64_t second;

	(void)state;
	assert_int_equal(history_step_ns(h), 6 * SECOND);
	/* two hours in which each of 10,000 keys changes at each step */
	for (second = 6; second <= 7200; second += 6) {
		for (uint32_t i = 0; i < COUNT(value); i++)
			value[i] += 1 + i % 3;
		assert_int_equal(take_step(h, second, value, COUNT(value)), 0);
		assert_true(history_bytes(h) <= bytes);
	}
	assert_non_null(history_step(h, history_newest(h)));
	assert_null(history_step(h, 1));
	history_close(h);
	/* and with memory enough the time is the bound */
	h = open_history(3600, bytes, 10000);
	for (second = 6; second <= 7200; second += 6)
		assert_int_equal(take_step(h, second, (int64_t[]){ (int64_t)second }, 1), 0);
	assert_null(history_step(h, history_newest(h) - 601));
	assert_non_null(history_step(h, history_newest(h) - 600));
	history_close(h);
}

/* Two days of --history 24h, a step each 144 seconds: at each step 200 keys go that came two steps before, and 200
 * come. */
static void days_of_keys_that_come_and_go_cost_what_the_first_half_does(void **state)
{
	struct history *h = open_history(86400, 1u << 20, 10000);
	const uint64_t every = history_step_ns(h) / SECOND;
	int64_t value[400];
	long in_half_a_day = 0;
	uint32_t step = 0;

	(void)state;
	assert_int_equal(every, 144);
	for (uint64_t second = every; second <= 2 * 86400; second += every, step++) {
		struct buf b = { 0 };

		for (uint32_t k = 0; k < COUNT(value); k++)
			value[k] = step + 1 + k % 7;
		assert_int_equal(take_keys(h, second, step * 200, value, COUNT(value)), 0);
		assert_true(history_bytes(h) <= 1u << 20);
		assert_int_equal(history_put_state(h, &b), 0);
		assert_true(b.n < 64u << 10); /* 400 keys, and no trace of those before */
		buf_free(&b);
		if (second <= 43200)
			in_half_a_day = mem_live() > in_half_a_day ? mem_live() : in_half_a_day;
		assert_true(mem_live() <= in_half_a_day);
	}
	history_close(h);
	assert_int_equal(mem_live(), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_hour_stays_within_its_memory_and_its_time),
		cmocka_unit_test(days_of_keys_that_come_and_go_cost_what_the_first_half_does),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
