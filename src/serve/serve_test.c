/* Tests of serve.c: what calls refuse. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "serve/serve_int.h"

static uint64_t test_clock(void *arg)
{
	return *(uint64_t *)arg;
}

/* The words of a refusal are of the last call; one that is done has none. */
static void each_refusal_of_a_platform_has_words_of_its_own(void **state)
{
	const struct tally_serve_opts o = { .size = sizeof(o), .clock = test_clock, .arg = &(uint64_t){ 0 } };
	struct tally_serve *s;

	(void)state;
	assert_int_equal(tally_serve_open(&s, &o), 0);
	assert_int_equal(tally_serve_platform(s, NULL, NULL, NULL), -TALLY_EINVAL);
	assert_string_equal(tally_serve_error(s), "local: nothing to count: no event and no view");
	assert_int_equal(tally_serve_platform(s, "power", "gpci/entitled/", "partitions"), -TALLY_EINVAL);
	assert_string_equal(tally_serve_error(s), "power: events and a view cannot be combined");
	assert_int_equal(tally_serve_platform(s, "power", NULL, "partitions"), 0);
	assert_string_equal(tally_serve_error(s), "");
	assert_int_equal(tally_serve_platform(s, "power", NULL, "partitions"), -TALLY_EINVAL);
	assert_string_equal(tally_serve_error(s),
			    "power: two of one name; give each platform once, with all its events");
	tally_serve_close(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_refusal_of_a_platform_has_words_of_its_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
