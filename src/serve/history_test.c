/* history_test.c: what a reader can make of the state and of steps, and what the past costs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "serve/history_int.h"

#define SECOND 1000000000ull

static struct history *open_history(uint64_t seconds, size_t bytes, uint32_t keys)
{
	const struct history_opts o = {
		.span_ns = seconds * SECOND, .bytes = bytes, .keys = keys, .text_bytes = 1 << 20
	};
	struct history *h;

	assert_int_equal(history_open(&h, &o), 0);
	return h;
}

static const char *const key_names[] = { "execname" };
static const struct tally_aggregation counted = {
	.name = "n", .function = "count", .key = key_names, .nkeys = 1, .comment = ""
};

/* A step in which `n` keys, from `first` on (k0, k1, ...), have these values; a value of 0: there is no row. */
static int take_keys(struct history *h, uint64_t second, uint32_t first, const int64_t *value, uint32_t n)
{
	struct an_row *row = calloc(n + 1, sizeof(*row));
	struct an_value *key = calloc(n + 1, sizeof(*key));
	char(*text)[16] = calloc(n + 1, sizeof(*text));
	struct an_agg a = { .name = "n", .fn = AGG_COUNT, .row = row };
	const struct history_facts f = { "p", "p.d", "running", "", 1 };
	int rc;

	for (uint32_t i = 0; i < n; i++) {
		if (!value[i])
			continue;
		snprintf(text[i], sizeof(text[i]), "k%u", first + i);
		key[i] = (struct an_value){ .kind = SLOT_STRING, .s = text[i], .len = (uint32_t)strlen(text[i]) };
		row[a.nrows++] = (struct an_row){ .key = &key[i], .nkeys = 1, .sum = value[i] };
	}
	history_begin(h, second * SECOND);
	rc = history_program(h, &f);
	if (rc == 1)
		rc = history_define(h, &counted);
	if (rc >= 0) {
		history_drop(h, "firings", 9);
		history_drop(h, "stack", second);
		rc = history_take(h, 0, &a);
	}
	rc = history_end(h) < 0 ? -TALLY_ENOMEM : rc;
	free(row);
	free(key);
	free(text);
	return rc;
}

static int take_step(struct history *h, uint64_t second, const int64_t *value, uint32_t n)
{
	return take_keys(h, second, 0, value, n);
}

static void a_step_says_what_changed_and_the_state_says_all(void **state)
{
	struct history *h = open_history(600, 1 << 20, 100);
	struct buf b = { 0 };

	(void)state;
	assert_int_equal(take_step(h, 10, (int64_t[]){ 5, 7 }, 2), 0);
	assert_string_equal(
		history_step(h, 1)->p,
		"{\"t\":10000,\"programs\":[[\"p\",\"running\",\"\",\"p.d\"]],\"fired\":[9],\"lost\":[[0,\"stack\",10]],"
		"\"aggs\":[{\"id\":1,\"program\":\"p\",\"name\":\"n\",\"function\":\"count\",\"kind\":\"count\",\"help\":\"\",\"keys\":[\"execname\"]}],"
		"\"new\":[[1,2,\"k0\"],[1,3,\"k1\"]],\"d\":[2,5,3,7]}");
	assert_int_equal(take_step(h, 11, (int64_t[]){ 5, 9 }, 2), 0);
	assert_string_equal(history_step(h, 2)->p,
			    "{\"t\":11000,\"fired\":[9],\"lost\":[[0,\"stack\",11]],\"d\":[3,2]}");
	/* trunc(): the key is gone, and its number is not used again */
	assert_int_equal(take_step(h, 12, (int64_t[]){ 0, 9 }, 2), 0);
	assert_string_equal(history_step(h, 3)->p,
			    "{\"t\":12000,\"fired\":[9],\"lost\":[[0,\"stack\",12]],\"dead\":[2]}");
	assert_int_equal(take_step(h, 13, (int64_t[]){ 1, 9 }, 2), 0);
	assert_non_null(strstr(history_step(h, 4)->p, "\"new\":[[1,4,\"k0\"]],\"d\":[4,1]"));
	assert_int_equal(history_put_state(h, &b), 0);
	assert_non_null(strstr(b.p, "\"reach\":3000"));
	assert_non_null(strstr(b.p, "[1,3,\"k1\"]"));
	assert_non_null(strstr(b.p, "3,9"));
	buf_free(&b);
	history_close(h);
}

static void keys_beyond_the_limit_are_one_and_nothing_is_lost(void **state)
{
	struct history *h = open_history(600, 1 << 20, 2);

	(void)state;
	assert_int_equal(take_step(h, 1, (int64_t[]){ 1, 2, 4, 8 }, 4), 0);
	assert_non_null(strstr(history_step(h, 1)->p, "[1,4,null]"));
	assert_non_null(strstr(history_step(h, 1)->p, "4,12"));
	assert_non_null(strstr(history_step(h, 1)->p, "\"folded\":[[1,2]]"));
	assert_int_equal(take_step(h, 2, (int64_t[]){ 1, 2, 4, 9 }, 4), 0);
	assert_non_null(strstr(history_step(h, 2)->p, "\"d\":[4,1]"));
	history_close(h);
}

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

static void a_program_that_goes_takes_its_aggregations_along(void **state)
{
	struct history *h = open_history(600, 1 << 20, 10);

	(void)state;
	assert_int_equal(take_step(h, 1, (int64_t[]){ 1 }, 1), 0);
	history_begin(h, 2 * SECOND);
	assert_int_equal(history_end(h), 0);
	assert_string_equal(history_step(h, 2)->p,
			    "{\"t\":2000,\"programs\":[],\"fired\":[],\"lost\":[],\"gone\":[1]}");
	history_close(h);
}

static void running_out_of_memory_makes_readers_begin_anew(void **state)
{
	(void)state;
	for (long n = 1;; n++) {
		const struct history_opts o = {
			.span_ns = 600 * SECOND, .bytes = 1 << 20, .keys = 2, .text_bytes = 1 << 20
		};
		struct history *h = NULL;
		bool failed;
		int rc;

		mem_fail_at(n);
		rc = history_open(&h, &o);
		rc = rc < 0 ? rc : take_step(h, 1, (int64_t[]){ 1, 2, 3 }, 3);
		failed = mem_failed();
		mem_fail_at(0);
		assert_true(rc == 0 || failed);
		assert_true(!h || rc == 0 || !history_step(h, 1));
		history_close(h);
		if (!failed)
			break;
	}
	assert_int_equal(mem_live(), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_step_says_what_changed_and_the_state_says_all),
		cmocka_unit_test(keys_beyond_the_limit_are_one_and_nothing_is_lost),
		cmocka_unit_test(an_hour_stays_within_its_memory_and_its_time),
		cmocka_unit_test(days_of_keys_that_come_and_go_cost_what_the_first_half_does),
		cmocka_unit_test(a_program_that_goes_takes_its_aggregations_along),
		cmocka_unit_test(running_out_of_memory_makes_readers_begin_anew),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
