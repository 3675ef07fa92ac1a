/* login_test.c: a stranger who tries passwords keeps nobody else from having his checked. Time is the test's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/range.h"
#include "serve/login_int.h"

#define MS UINT64_C(1000000)
#define SECOND (1000 * MS)
#define BEGAN (1700000000 * SECOND)

static uint64_t address_of(const char *text)
{
	struct sockaddr_in v4 = { .sin_family = AF_INET };
	struct sockaddr_in6 v6 = { .sin6_family = AF_INET6 };

	if (inet_pton(AF_INET, text, &v4.sin_addr) == 1)
		return login_address((struct sockaddr *)&v4);
	assert_int_equal(inet_pton(AF_INET6, text, &v6.sin6_addr), 1);
	return login_address((struct sockaddr *)&v6);
}

/* Tries a wrong password; whether it was checked. */
static bool tries(struct login *l, const char *at, const char *name, uint64_t now_ns)
{
	const struct login_client c = { address_of(at), name };

	if (!login_may_check(l, &c, now_ns))
		return false;
	login_fail(l, &c, now_ns);
	return true;
}

/* Logs in with the right one. */
static bool enters(struct login *l, const char *at, const char *name, uint64_t now_ns)
{
	return login_may_check(l, &(struct login_client){ address_of(at), name }, now_ns);
}

static void who_tries_from_one_address_keeps_no_other_out(void **state)
{
	static const char *const floods[] = { "192.0.2.1", "2001:db8:1:1::%x" };

	(void)state;
	for (size_t i = 0; i < COUNT(floods); i++) {
		struct login l = { 0 };
		uint32_t checked = 0;

		for (uint32_t ms = 0; ms < 120000; ms += 2) {
			char at[64], name[16];

			snprintf(at, sizeof(at), floods[i], ms % 0x10000);
			snprintf(name, sizeof(name), "u%u", ms % 7);
			checked += tries(&l, at, ms % 4 ? name : "alice", BEGAN + ms * MS);
			if (ms % 1000 == 998) {
				assert_true(enters(&l, "192.0.2.2", "alice", BEGAN + ms * MS));
				assert_true(ms < 1000 || enters(&l, "2001:db8:1:2::1", "bob", BEGAN + ms * MS));
			}
		}
		assert_uint_in_range(checked, 120, 250); /* two a second, and the first three */
	}
}

static void addresses_that_failed_wait_for_their_turn(void **state)
{
	struct login l = { 0 };
	uint32_t checked[4] = { 0 };

	(void)state;
	for (uint32_t ms = 0; ms < 60000; ms++)
		for (uint32_t i = 0; i < 4; i++) {
			char at[16];

			snprintf(at, sizeof(at), "192.0.2.%u", i);
			/* the last one asks once a second, and the others all the time */
			if (i < 3 || ms % 1000 == 0)
				checked[i] += tries(&l, at, "alice", BEGAN + ms * MS);
		}
	for (uint32_t i = 0; i < 4; i++)
		assert_uint_in_range(checked[i], 20, 40);
	assert_true(enters(&l, "198.51.100.1", "bob", BEGAN + 60000 * MS - 1));
}

static void many_addresses_that_try_one_name_keep_no_other_name_out(void **state)
{
	struct login l = { 0 };

	(void)state;
	for (uint32_t i = 0; i < 60000; i++) {
		char at[64];

		snprintf(at, sizeof(at), "2001:db8:%x:%x::1", i / 1000, i % 1000);
		(void)tries(&l, at, "alice", BEGAN + i * MS);
		if (i % 1000 == 999 && i > 1000)
			assert_true(enters(&l, "192.0.2.1", "bob", BEGAN + i * MS));
	}
}

static void no_more_are_checked_in_a_second_than_the_service_bears(void **state)
{
	struct login l = { 0 };
	uint32_t checked = 0;

	(void)state;
	for (uint32_t i = 0; i < 100000; i++) {
		char at[64], name[16];

		snprintf(at, sizeof(at), "2001:db8:%x:%x::1", i / 1000, i % 1000);
		snprintf(name, sizeof(name), "u%u", i);
		checked += tries(&l, at, name, BEGAN + i * MS);
	}
	assert_int_equal(checked, 100 * LOGIN_CHECKS);
}

/* Who failed, names that failed, and others: each has his part of a second, whichever comes first. */
static void a_second_has_two_checks_for_those_that_failed_two_for_names_that_did_and_five_in_all(void **state)
{
	static const char *const failed[] = { "192.0.2.1", "192.0.2.2", "192.0.2.3" };

	(void)state;
	for (int others_first = 0; others_first < 2; others_first++) {
		struct login l = { 0 };
		uint32_t others = 0, second = 0;

		for (uint32_t i = 0; i < 9; i++, second++)
			assert_true(tries(&l, failed[i % 3], "alice", BEGAN + second * SECOND));
		second += 10;
		for (uint32_t i = 0; others_first && i < 9; i++)
			others += enters(&l, "198.51.100.1", "bob", BEGAN + second * SECOND);
		for (uint32_t i = 0; i < 3; i++) {
			assert_int_equal(tries(&l, failed[i], "x", BEGAN + second * SECOND), !others && i < 2);
			assert_int_equal(enters(&l, "198.51.100.1", "alice", BEGAN + second * SECOND),
					 !others && i < 2);
		}
		for (uint32_t i = 0; i < 9; i++)
			others += enters(&l, "198.51.100.1", "bob", BEGAN + second * SECOND);
		assert_int_equal(others, others_first ? 5 : 1);
	}
}

static void who_failed_once_makes_nobody_wait(void **state)
{
	struct login l = { 0 };

	(void)state;
	for (uint32_t i = 0; i < 20; i++) {
		char at[16];

		snprintf(at, sizeof(at), "198.51.100.%u", i);
		assert_true(tries(&l, at, i % 2 ? "bob" : "carol", BEGAN + i * SECOND));
	}
	for (uint32_t i = 0; i < 3; i++)
		assert_true(tries(&l, "192.0.2.1", "alice", BEGAN + 20 * SECOND));
	assert_true(tries(&l, "192.0.2.1", "alice", BEGAN + 20 * SECOND + 500 * MS));
}

static void three_slips_are_free_and_a_minute_forgets_them(void **state)
{
	struct login l = { 0 };

	(void)state;
	for (int i = 0; i < 3; i++)
		assert_true(tries(&l, "192.0.2.1", "alice", BEGAN));
	assert_false(tries(&l, "192.0.2.1", "alice", BEGAN + 499 * MS));
	assert_true(tries(&l, "192.0.2.1", "alice", BEGAN + 500 * MS));
	assert_false(tries(&l, "192.0.2.1", "alice", BEGAN + 999 * MS));
	for (int i = 0; i < 3; i++) /* a minute after the last one */
		assert_true(tries(&l, "192.0.2.1", "alice", BEGAN + 60 * SECOND + 500 * MS));
	assert_false(tries(&l, "192.0.2.1", "alice", BEGAN + 60 * SECOND + 500 * MS));
	/* so does a clock that is set back */
	assert_true(tries(&l, "192.0.2.1", "alice", BEGAN - 3600 * SECOND));
}

static void an_address_counts_by_what_its_owner_has_of_it(void **state)
{
	(void)state;
	assert_int_equal(address_of("192.0.2.1"), address_of("::ffff:192.0.2.1"));
	assert_int_not_equal(address_of("::ffff:192.0.2.1"), address_of("::ffff:192.0.2.2"));
	assert_int_equal(address_of("2001:db8:1:2::1"), address_of("2001:db8:1:2:ffff::9"));
	assert_int_not_equal(address_of("2001:db8:1:2::1"), address_of("2001:db8:1:3::1"));
	assert_int_not_equal(address_of("127.0.0.1"), address_of("127.0.0.2"));
	assert_int_equal(login_address(NULL), login_address(&(struct sockaddr){ .sa_family = AF_UNIX }));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_tries_from_one_address_keeps_no_other_out),
		cmocka_unit_test(addresses_that_failed_wait_for_their_turn),
		cmocka_unit_test(many_addresses_that_try_one_name_keep_no_other_name_out),
		cmocka_unit_test(no_more_are_checked_in_a_second_than_the_service_bears),
		cmocka_unit_test(a_second_has_two_checks_for_those_that_failed_two_for_names_that_did_and_five_in_all),
		cmocka_unit_test(who_failed_once_makes_nobody_wait),
		cmocka_unit_test(three_slips_are_free_and_a_minute_forgets_them),
		cmocka_unit_test(an_address_counts_by_what_its_owner_has_of_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
