/* timer_test.c: ticks; needs no rights, since an empty image has nothing to load. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "kernel/handmade_int.h"

static struct k_run *opened(void)
{
	struct handmade h;
	struct err e = { 0 };
	struct k_run *k = NULL;

	hm_init(&h);
	if (k_open(&k, &h.img, NULL, &e) < 0)
		fail_msg("%s", e.text);
	return k;
}

static void timer_fires_once_enabled_and_ends_the_wait(void **state)
{
	struct k_run *k = opened();
	struct err e = { 0 };
	int slow = k_timer(k, 3600ull * 1000000000, &e), fast = k_timer(k, 1000, &e);

	(void)state;
	assert_int_equal(slow, 0);
	assert_int_equal(fast, 1);
	assert_int_equal(k_wait(k, 0), 0);
	assert_int_equal(k_timer_fired(k, fast), 0);
	assert_int_equal(k_enable(k, &e), 0);
	assert_int_equal(k_wait(k, -1), 1);
	assert_true(k_timer_fired(k, fast) >= 1);
	assert_int_equal(k_timer_fired(k, slow), 0);
	k_disable(k);
	k_timer_fired(k, fast);
	assert_int_equal(k_wait(k, 0), 0);
	k_close(k);
}

static void timer_that_is_not_there_never_fired(void **state)
{
	struct k_run *k = opened();
	struct err e = { 0 };

	(void)state;
	assert_int_equal(k_timer(k, 0, &e), -TALLY_EINVAL);
	assert_int_equal(k_timer_fired(k, 0), 0);
	assert_int_equal(k_timer_fired(k, -1), 0);
	k_close(k);
}

static void watched_descriptor_ends_the_wait(void **state)
{
	struct k_run *k = opened();
	int p[2];

	(void)state;
	assert_int_equal(pipe(p), 0);
	assert_int_equal(k_watch_fd(k, p[0]), 0);
	assert_int_equal(k_watch_fd(k, p[0]), 0);
	assert_int_equal(k_wait(k, 0), 0);
	assert_int_equal(write(p[1], "x", 1), 1);
	assert_int_equal(k_wait(k, -1), 1);
	assert_true(k_watch_fd(k, -1) < 0);
	k_close(k);
	close(p[0]);
	close(p[1]);
}

static void wall_clock_is_ahead_of_the_monotonic_one(void **state)
{
	int64_t a = k_wall_offset_ns(), b = k_wall_offset_ns();

	(void)state;
	assert_true(a > 0 && b > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(timer_fires_once_enabled_and_ends_the_wait),
		cmocka_unit_test(timer_that_is_not_there_never_fired),
		cmocka_unit_test(watched_descriptor_ends_the_wait),
		cmocka_unit_test(wall_clock_is_ahead_of_the_monotonic_one),
	};

	return cmocka_run_group_tests_name("kernel: timer", tests, NULL, NULL);
}
