/* tune_back_test.c: settings that a failed run could not put back are named, each with what it was. */
#include "capture/tune_test_int.h"

/* Those that differ, and the one that nobody knows, since a call for it failed. */
static uint32_t tell_settings(const struct bench *b, const char *error, char *to, size_t room)
{
	uint32_t told = 0;
	size_t n = 0;

	for (unsigned i = 0; i < PTT_TUNES; i++) {
		char failed[80];

		snprintf(failed, sizeof(failed), "%s/%s: it is busy;", DEVICE, ptt_tunables[i].name);
		if (b->value[i] == b->first[i] && strncmp(error, failed, strlen(failed)) != 0)
			continue;
		n += (size_t)snprintf(to + n, room - n, "%s %s=%u", told ? "" : "; not restored:", ptt_tunables[i].name,
				      b->first[i]);
		told++;
	}
	return told;
}

/* From one call on, none is done. */
static void what_could_not_be_put_back_is_said(void **state)
{
	bool one = false, more = false;

	(void)state;
	for (uint32_t bad = 1; bad <= 30; bad++) {
		struct bench *b = bench_with_a_way();
		struct tally_platform *p = bench_platform(b, "kunpeng");
		struct tally_tune_opts o = bench_opts(b, TALLY_GOAL_THROUGHPUT);
		char words[200] = "";
		const char *error;
		uint32_t n;

		b->bad_set = bad;
		b->bad_sets = UINT32_MAX - bad;
		assert_int_equal(tally_tune(p, &o, NULL), -TALLY_EBUSY);
		error = tally_platform_error(p);
		n = tell_settings(b, error, words, sizeof(words));
		assert_non_null(strstr(error, ": it is busy; "));
		assert_string_equal(strstr(error, "; "), words);
		one |= n == 1;
		more |= n > 1;
		tally_platform_close(p);
		bench_free(b);
	}
	assert_true(one && more);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_could_not_be_put_back_is_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
