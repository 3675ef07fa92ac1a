/* Tests of serve.c: what calls refuse. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
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

/* What was handed over to listen on is no socket: the cause is the one of the call that failed. */
static void a_socket_that_is_none_is_refused_with_the_cause(void **state)
{
	struct tally_serve_opts o = { .size = sizeof(o), .clock = test_clock, .arg = &(uint64_t){ 0 } };
	struct tally_serve *s;
	char want[128];
	int fd[2];

	(void)state;
	assert_int_equal(pipe(fd), 0);
	o.listen_fd = fcntl(fd[0], F_DUPFD_CLOEXEC, 3); /* 0 is none */
	assert_true(o.listen_fd >= 3);
	assert_int_equal(tally_serve_open(&s, &o), 0);
	assert_int_equal(tally_serve_platform(s, "power", NULL, "partitions"), 0);
	errno = 0;
	assert_int_equal(tally_serve_run(s), -TALLY_EIO);
	snprintf(want, sizeof(want), "failed to listen on the socket that was handed over: %s", strerror(ENOTSOCK));
	assert_string_equal(tally_serve_error(s), want);
	tally_serve_close(s);
	close(o.listen_fd);
	close(fd[0]);
	close(fd[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_refusal_of_a_platform_has_words_of_its_own),
		cmocka_unit_test(a_socket_that_is_none_is_refused_with_the_cause),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
