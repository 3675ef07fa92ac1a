/* history_test.c: what a reader can make of the state and of steps. */
#include "serve/history_test_int.h"

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

static int take_histogram(struct history *h, uint64_t second, const int64_t *bucket, uint32_t n)
{
	const struct tally_aggregation defined = {
		.name = "q", .function = "quantize", .key = key_names, .nkeys = 1, .comment = ""
	};
	const struct an_value key = { .kind = SLOT_STRING, .s = "k", .len = 1 };
	struct an_row row = { .key = &key, .nkeys = 1, .bucket = bucket, .nbuckets = n };
	const struct an_agg a = { .name = "q", .fn = AGG_QUANTIZE, .row = &row, .nrows = 1 };
	const struct history_facts f = { "p", "p.d", "running", "", 1 };
	int rc;

	history_begin(h, second * SECOND);
	rc = history_program(h, &f);
	if (rc == 1)
		rc = history_define(h, &defined);
	if (rc >= 0)
		rc = history_take(h, 0, &a);
	return history_end(h) < 0 ? -TALLY_ENOMEM : rc;
}

/* Each step has the differences of those buckets that changed; a histogram may grow. */
static void a_step_has_the_buckets_that_changed(void **state)
{
	struct history *h = open_history(600, 1 << 20, 10);
	struct buf b = { 0 };

	(void)state;
	assert_int_equal(take_histogram(h, 1, (int64_t[]){ 0, 2, 5 }, 3), 0);
	assert_non_null(strstr(history_step(h, 1)->p, "\"new\":[[1,2,\"k\"]],\"d\":[2,7],\"b\":[2,1,2,2,2,5]}"));
	assert_int_equal(take_histogram(h, 2, (int64_t[]){ 0, 3, 5 }, 3), 0);
	assert_non_null(strstr(history_step(h, 2)->p, "\"d\":[2,1],\"b\":[2,1,1]}"));
	assert_int_equal(take_histogram(h, 3, (int64_t[]){ 0, 3, 5, 0, 4 }, 5), 0);
	assert_non_null(strstr(history_step(h, 3)->p, "\"d\":[2,4],\"b\":[2,4,4]}"));
	assert_int_equal(take_histogram(h, 4, (int64_t[]){ 1, 3 }, 2), 0); /* what is behind the end is 0 */
	assert_non_null(strstr(history_step(h, 4)->p, "\"d\":[2,-8],\"b\":[2,0,1,2,2,-5,2,4,-4]}"));
	assert_int_equal(take_histogram(h, 5, (int64_t[]){ 1, 3 }, 2), 0);
	assert_null(strstr(history_step(h, 5)->p, "\"b\""));
	assert_int_equal(history_put_state(h, &b), 0);
	assert_non_null(strstr(b.p, "\"d\":[2,4]"));
	assert_non_null(strstr(b.p, "\"b\":[2,0,1,2,1,3]"));
	buf_free(&b);
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

/* The state is whole, or there is none. */
static void a_state_that_lacks_memory_is_refused(void **state)
{
	const long live = mem_live();
	struct history *h = open_history(600, 1 << 20, 2);
	struct buf whole = { 0 };

	(void)state;
	assert_int_equal(take_step(h, 1, (int64_t[]){ 1, 2, 3 }, 3), 0);
	assert_int_equal(history_put_state(h, &whole), 0);
	history_close(h);
	for (long n = 1, failed = 1; failed; n++) {
		struct buf b = { 0 };
		int rc;

		h = open_history(600, 1 << 20, 2);
		assert_int_equal(take_step(h, 1, (int64_t[]){ 1, 2, 3 }, 3), 0);
		mem_fail_at(n);
		rc = history_put_state(h, &b);
		failed = mem_failed();
		mem_fail_at(0);
		assert_int_equal(rc, failed ? -TALLY_ENOMEM : 0);
		if (!failed)
			assert_string_equal(b.p, whole.p);
		buf_free(&b);
		history_close(h);
	}
	buf_free(&whole);
	assert_int_equal(mem_live(), live);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_step_says_what_changed_and_the_state_says_all),
		cmocka_unit_test(keys_beyond_the_limit_are_one_and_nothing_is_lost),
		cmocka_unit_test(a_step_has_the_buckets_that_changed),
		cmocka_unit_test(a_program_that_goes_takes_its_aggregations_along),
		cmocka_unit_test(running_out_of_memory_makes_readers_begin_anew),
		cmocka_unit_test(a_state_that_lacks_memory_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
