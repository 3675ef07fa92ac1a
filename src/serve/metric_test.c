/* Tests of metric.c: names, labels, types, series and their limit, histograms. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "serve/serve_int.h"

static const struct metric_reading text_at_5 = { FORMAT_TEXT, 5000000000 };

static void metric_of(struct metric *m, const char *name, const char *function, const char *const *key, uint32_t nkeys,
		      uint32_t most)
{
	const struct tally_aggregation a = {
		.name = name, .function = function, .key = key, .nkeys = nkeys, .comment = ""
	};
	struct err e = { 0 };

	*m = (struct metric){ 0 };
	assert_int_equal(metric_open(m, "prog", &a, most, &e), 0);
}

static void give_epoch(struct metric *m, const struct metric_reading *r, const char *key, int64_t value, uint64_t epoch)
{
	const struct tally_key k = { .text = key };
	const struct tally_row row = { .key = &k, .nkeys = 1, .value = value, .sum = value, .count = value };

	assert_int_equal(metric_add(m, r, "prog", &row, epoch), 0);
}

static void give(struct metric *m, const struct metric_reading *r, const char *key, int64_t value)
{
	give_epoch(m, r, key, value, 0);
}

/* A reading of the keys a, b ..., as many as there are values; 0: that key is not in it. */
static void read_at(struct metric *m, uint64_t ns, const int64_t *value, uint32_t n)
{
	const struct metric_reading r = { FORMAT_OPENMETRICS, ns };

	metric_begin(m, &r);
	for (uint32_t i = 0; i < n; i++)
		if (value[i])
			give(m, &r, (const char[]){ (char)('a' + i), '\0' }, value[i]);
	assert_int_equal(metric_end(m, &r, "prog"), 0);
}

#define READ_AT(m, seconds, ...)                                                \
	read_at(m, (uint64_t)((seconds)*1e9), (const int64_t[]){ __VA_ARGS__ }, \
		sizeof((const int64_t[]){ __VA_ARGS__ }) / sizeof(int64_t))

/* Likewise, of the same epoch each. */
static void read_epoch_at(struct metric *m, uint64_t ns, const int64_t *value, uint32_t n, uint64_t epoch)
{
	const struct metric_reading r = { FORMAT_OPENMETRICS, ns };

	metric_begin(m, &r);
	for (uint32_t i = 0; i < n; i++)
		give_epoch(m, &r, (const char[]){ (char)('a' + i), '\0' }, value[i], epoch);
	assert_int_equal(metric_end(m, &r, "prog"), 0);
}

/* labels: those behind the program's. */
static void expect_created(const struct metric *m, const char *labels, const char *seconds)
{
	char line[128];

	snprintf(line, sizeof(line), "tally_n_created{program=\"prog\",%s} %s\n", labels, seconds);
	if (!m->samples.p || !strstr(m->samples.p, line))
		fail_msg("no %sin\n%s", line, m->samples.p ? m->samples.p : "");
}

static void names_follow_from_aggregations(void **state)
{
	static const struct {
		const char *name, *function, *is, *unit;
	} row[] = {
		{ "faults", "count", "tally_faults", "" },
		{ "faults_total", "count", "tally_faults", "" },
		{ "", "sum", "tally_prog", "" },
		{ "read_ns", "quantize", "tally_read_seconds", "seconds" },
		{ "wait_us", "avg", "tally_wait_seconds", "seconds" },
		{ "_ns", "avg", "tally__ns", "" },
		{ "slower_than_10_ms", "count", "tally_slower_than_10_ms", "" }, /* a number of events */
		{ "spent_ms", "sum", "tally_spent_seconds", "seconds" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(row); i++) {
		struct metric m;

		metric_of(&m, row[i].name, row[i].function, NULL, 0, 10);
		assert_string_equal(m.name, row[i].is);
		assert_string_equal(m.unit, row[i].unit);
		metric_close(&m);
	}
}

static void labels_are_the_last_names_of_their_expressions(void **state)
{
	static const char *const key[] = { "execname",
					   "args[0]->requester",
					   "ufunc(arg1)",
					   "this->x",
					   "curpsinfo->pr_fname",
					   "pid",
					   "pid",
					   "le",
					   "(int)arg0",
					   "vmlinux`jiffies",
					   "\"a b\"",
					   "-1" },
				 *const is[] = { "execname", "requester", "ufunc",     "x",       "pr_fname", "pid",
						 "pid_2",    "le_2",      "_int_arg0", "jiffies", "key",      "key_2" };
	struct metric m;

	(void)state;
	metric_of(&m, "a", "count", key, COUNT(key), 10);
	for (size_t i = 0; i < COUNT(is); i++)
		assert_string_equal(m.label[i], is[i]);
	metric_close(&m);
}

static void a_key_that_is_a_number_is_a_label_too(void **state)
{
	static const char *const names[] = { "pid", "execname" };
	const struct tally_key k[] = { { .is_number = true, .number = -7, .text = "no" }, { .text = "sh" } };
	const struct tally_row row = { .key = k, .nkeys = 2, .value = 3, .sum = 3, .count = 3 };
	struct metric m;

	(void)state;
	metric_of(&m, "n", "count", names, 2, 10);
	metric_begin(&m, &text_at_5);
	assert_int_equal(metric_add(&m, &text_at_5, "prog", &row, 0), 0);
	assert_int_equal(metric_end(&m, &text_at_5, "prog"), 0);
	assert_string_equal(m.samples.p, "tally_n_total{program=\"prog\",pid=\"-7\",execname=\"sh\"} 3\n");
	metric_close(&m);
}

static void stacks_are_no_labels(void **state)
{
	static const struct {
		const char *function, *where;
	} row[] = { { "count", "/folded has" },
		    { "sum", "/folded has" },
		    { "quantize", "/folded has" },
		    { "avg", "the page has" },
		    { "max", "the page has" } };

	(void)state;
	for (size_t i = 0; i < COUNT(row); i++) {
		const struct tally_aggregation a = {
			.name = "s", .function = row[i].function, .has_stack = true, .comment = ""
		};
		struct metric m = { 0 };
		struct err e = { 0 };

		assert_int_equal(metric_open(&m, "prog", &a, 10, &e), -TALLY_ENOTSUP);
		assert_non_null(strstr(e.text, "@s has a stack"));
		assert_non_null(strstr(e.text, row[i].where));
	}
}

static void keys_beyond_the_limit_are_one_series_and_counted(void **state)
{
	static const char *const key[] = { "execname" };
	struct metric m;

	(void)state;
	metric_of(&m, "n", "count", key, 1, 2);
	for (int turn = 0; turn < 2; turn++) { /* those that were first stay, also when another is larger */
		metric_begin(&m, &text_at_5);
		give(&m, &text_at_5, "a", 10 + turn);
		give(&m, &text_at_5, "b", 5);
		give(&m, &text_at_5, "c", 3 + 90 * turn);
		give(&m, &text_at_5, "d", 1);
		assert_int_equal(metric_end(&m, &text_at_5, "prog"), 0);
		assert_int_equal(m.others, 2);
	}
	assert_string_equal(m.samples.p, "tally_n_total{program=\"prog\",execname=\"a\"} 11\n"
					 "tally_n_total{program=\"prog\",execname=\"b\"} 5\n"
					 "tally_n_total{program=\"prog\",execname=\"\",other=\"true\"} 94\n");
	/* a key that is gone leaves its place */
	metric_begin(&m, &text_at_5);
	give(&m, &text_at_5, "c", 93);
	give(&m, &text_at_5, "a", 11);
	assert_int_equal(metric_end(&m, &text_at_5, "prog"), 0);
	metric_begin(&m, &text_at_5);
	give(&m, &text_at_5, "c", 93);
	give(&m, &text_at_5, "a", 11);
	assert_int_equal(metric_end(&m, &text_at_5, "prog"), 0);
	assert_int_equal(m.others, 0);
	metric_close(&m);
}

static void the_extreme_of_many_keys_is_an_extreme(void **state)
{
	static const char *const key[] = { "execname" };
	static const struct {
		const char *function, *value;
	} row[] = { { "min", "} 2\n" }, { "max", "} 9\n" } };

	(void)state;
	for (size_t i = 0; i < COUNT(row); i++) {
		struct metric m;

		metric_of(&m, "n", row[i].function, key, 1, 1);
		metric_begin(&m, &text_at_5);
		give(&m, &text_at_5, "a", 100);
		give(&m, &text_at_5, "b", 9);
		give(&m, &text_at_5, "c", 2);
		assert_int_equal(metric_end(&m, &text_at_5, "prog"), 0);
		assert_non_null(strstr(m.samples.p, row[i].value));
		metric_close(&m);
	}
}

static void what_the_first_reading_has_was_created_when_the_program_began(void **state)
{
	static const char *const key[] = { "execname" };
	static const char *const functions[] = { "count", "avg", "quantize" };

	(void)state;
	for (size_t i = 0; i < COUNT(functions); i++) {
		struct metric m;

		metric_of(&m, "n", functions[i], key, 1, 1);
		metric_count_since(&m, 1500000000);
		READ_AT(&m, 9, 7, 3);
		expect_created(&m, "execname=\"a\"", "1.500");
		expect_created(&m, "execname=\"\",other=\"true\"", "1.500");
		metric_close(&m);
	}
}

static void a_key_that_is_new_was_created_after_the_reading_that_had_it_not(void **state)
{
	static const char *const key[] = { "execname" };
	struct metric m;

	(void)state;
	metric_of(&m, "n", "count", key, 1, 5);
	metric_count_since(&m, 1000000000);
	READ_AT(&m, 2, 7);
	READ_AT(&m, 3, 8);
	READ_AT(&m, 4, 9, 5);
	expect_created(&m, "execname=\"a\"", "1.000");
	expect_created(&m, "execname=\"b\"", "3.000");
	metric_close(&m);
}

/* It was one of the others since the reading at 3. */
static void a_key_that_gets_a_place_counted_since_all_keys_had_one(void **state)
{
	static const char *const key[] = { "execname" };
	struct metric m;

	(void)state;
	metric_of(&m, "n", "count", key, 1, 2);
	metric_count_since(&m, 1000000000);
	READ_AT(&m, 2, 7, 3);
	READ_AT(&m, 3, 7, 3, 2);
	expect_created(&m, "execname=\"\",other=\"true\"", "2.000");
	READ_AT(&m, 4, 7, 0, 5, 4);
	expect_created(&m, "execname=\"\",other=\"true\"", "2.000");
	READ_AT(&m, 5, 7, 0, 5, 4);
	expect_created(&m, "execname=\"c\"", "2.000");
	expect_created(&m, "execname=\"\",other=\"true\"", "4.000"); /* it fell */
	metric_close(&m);
}

static void a_counter_that_falls_was_created_after_the_last_reading(void **state)
{
	static const char *const key[] = { "execname" };
	struct metric m;

	(void)state;
	metric_of(&m, "n", "count", key, 1, 5);
	metric_count_since(&m, 500000000);
	READ_AT(&m, 1.5, 7);
	READ_AT(&m, 2, 8);
	expect_created(&m, "execname=\"a\"", "0.500");
	READ_AT(&m, 3, 3);
	expect_created(&m, "execname=\"a\"", "2.000");
	metric_close(&m);
}

static void nothing_was_created_later_than_now_also_when_the_clock_was_set_back(void **state)
{
	static const char *const key[] = { "execname" };
	struct metric m;

	(void)state;
	metric_of(&m, "n", "count", key, 1, 5);
	metric_count_since(&m, 2000000000);
	READ_AT(&m, 3, 7);
	READ_AT(&m, 1, 3, 4);
	expect_created(&m, "execname=\"a\"", "1.000");
	expect_created(&m, "execname=\"b\"", "1.000");
	metric_close(&m);
}

/* More than it had: that tells nothing. */
static void a_key_that_was_gone_begins_anew(void **state)
{
	static const char *const key[] = { "execname" };
	struct metric m;

	(void)state;
	metric_of(&m, "n", "count", key, 1, 5);
	metric_count_since(&m, 500000000);
	READ_AT(&m, 1, 5, 1);
	READ_AT(&m, 2, 0, 1); /* trunc() */
	for (int reading = 0; reading < 2; reading++) {
		READ_AT(&m, 3 + reading, 7 + reading, 1);
		expect_created(&m, "execname=\"a\"", "2.000");
		expect_created(&m, "execname=\"b\"", "0.500");
	}
	metric_close(&m);
}

/* Whether it has what it had, or more: that tells nothing. Of each type of metric that has a beginning. */
static void a_key_of_a_later_epoch_begins_anew(void **state)
{
	static const char *const key[] = { "execname" }, *const function[] = { "count", "avg" };
	static const int64_t last[] = { 9 };
	static const struct metric_reading at_3 = { FORMAT_OPENMETRICS, 3000000000 };

	(void)state;
	for (size_t i = 0; i <= COUNT(function); i++) {
		const struct tally_aggregation histogram = { .name = "n",
							     .function = "lquantize",
							     .key = key,
							     .nkeys = 1,
							     .last = last,
							     .nlast = COUNT(last),
							     .comment = "" };
		struct metric m = { 0 };
		struct err e = { 0 };

		if (i < COUNT(function))
			metric_of(&m, "n", function[i], key, 1, 5);
		else
			assert_int_equal(metric_open(&m, "prog", &histogram, 5, &e), 0);
		metric_count_since(&m, 500000000);
		READ_AT(&m, 1, 5, 5, 5);
		READ_AT(&m, 2, 5, 5, 5);
		metric_begin(&m, &at_3);
		give_epoch(&m, &at_3, "a", 5, 1);
		give_epoch(&m, &at_3, "b", 8, 2);
		give_epoch(&m, &at_3, "c", 8, 0);
		assert_int_equal(metric_end(&m, &at_3, "prog"), 0);
		expect_created(&m, "execname=\"a\"", "2.000");
		expect_created(&m, "execname=\"b\"", "2.000");
		expect_created(&m, "execname=\"c\"", "0.500");
		read_epoch_at(&m, 4000000000, (const int64_t[]){ 5, 9 }, 2, 2);
		expect_created(&m, "execname=\"a\"", "3.000");
		expect_created(&m, "execname=\"b\"", "2.000");
		metric_close(&m);
	}
}

/* They are known together: while one of them counts on, so does their series. */
static void the_other_keys_begin_anew_when_all_of_them_are_of_a_later_epoch(void **state)
{
	static const char *const key[] = { "execname" };
	static const struct metric_reading at_3 = { FORMAT_OPENMETRICS, 3000000000 };
	struct metric m;

	(void)state;
	metric_of(&m, "n", "count", key, 1, 1);
	metric_count_since(&m, 500000000);
	READ_AT(&m, 1, 5, 2, 1);
	READ_AT(&m, 2, 5, 2, 1);
	metric_begin(&m, &at_3);
	give_epoch(&m, &at_3, "a", 5, 0);
	give_epoch(&m, &at_3, "b", 7, 1);
	give_epoch(&m, &at_3, "c", 1, 0);
	assert_int_equal(metric_end(&m, &at_3, "prog"), 0);
	expect_created(&m, "execname=\"\",other=\"true\"", "0.500");
	for (uint64_t reading = 4; reading < 6; reading++) {
		read_epoch_at(&m, reading * 1000000000, (const int64_t[]){ 6, 7, 7 }, 3, 1);
		expect_created(&m, "execname=\"a\"", "3.000");
		expect_created(&m, "execname=\"\",other=\"true\"", "3.000");
	}
	metric_close(&m);
}

/* Which keys there are, is not known then. */
static void a_reading_that_failed_makes_no_key_new(void **state)
{
	const struct metric_reading failed = { FORMAT_OPENMETRICS, 2000000000 };
	static const char *const key[] = { "execname" };
	struct metric m;

	(void)state;
	metric_of(&m, "n", "count", key, 1, 2);
	metric_count_since(&m, 500000000);
	READ_AT(&m, 1, 5, 1);
	metric_begin(&m, &failed);
	READ_AT(&m, 3, 7, 1);
	expect_created(&m, "execname=\"a\"", "0.500");
	expect_created(&m, "execname=\"b\"", "0.500");
	metric_close(&m);
}

/* Bytes that are no UTF-8 look alike. A series twice is refused by some readers, and merged by others. */
static void keys_that_look_alike_are_one_series_and_the_others(void **state)
{
	static const char *const key[] = { "execname" };
	const struct metric_reading r = { FORMAT_TEXT, 5 };
	struct metric m;

	(void)state;
	metric_of(&m, "n", "count", key, 1, 5);
	for (int reading = 0; reading < 2; reading++) {
		metric_begin(&m, &r);
		give(&m, &r, "y\xff", 7);
		give(&m, &r, "y\xfe", 5);
		give(&m, &r, "z", 2);
		give(&m, &r, "y\xfd", 1);
		assert_int_equal(metric_end(&m, &r, "prog"), 0);
		assert_string_equal(m.samples.p, "tally_n_total{program=\"prog\",execname=\"y\xef\xbf\xbd\"} 7\n"
						 "tally_n_total{program=\"prog\",execname=\"z\"} 2\n"
						 "tally_n_total{program=\"prog\",execname=\"\",other=\"true\"} 6\n");
		assert_int_equal(m.others, 2);
	}
	metric_close(&m);
}

/* A day in which each minute has CHURN_KEYS keys that no minute before had; the program forgets them with trunc(). */
#define CHURN_KEYS 200u
#define CHURN_MINUTES (24u * 60)

static void a_day_of_keys_that_come_and_go_costs_what_an_hour_does(void **state)
{
	static const char *const key[] = { "execname" };
	struct metric_reading r = { FORMAT_TEXT, 0 };
	const uint32_t most = 3 * CHURN_KEYS / 2;
	struct metric m;
	long in_an_hour = 0;
	size_t text_in_an_hour = 0;

	(void)state;
	metric_of(&m, "n", "count", key, 1, most);
	for (uint32_t minute = 0; minute < CHURN_MINUTES; minute++) {
		char name[32], line[96];

		r.now_ns = (minute + 1) * UINT64_C(60000000000);
		metric_begin(&m, &r);
		for (uint32_t k = 0; k < CHURN_KEYS; k++) {
			snprintf(name, sizeof(name), "worker-%06u", minute * CHURN_KEYS + k);
			give(&m, &r, name, minute + 1);
		}
		assert_int_equal(metric_end(&m, &r, "prog"), 0);
		/* each key is there once, or is one of the others: what a reader adds up is what was counted */
		snprintf(line, sizeof(line), "tally_n_total{program=\"prog\",execname=\"%s\"} %u\n", name, minute + 1);
		assert_true(strstr(m.samples.p, line) != NULL || m.others > 0);
		assert_true(m.nseries <= most);
		assert_true(m.others <= 2 * CHURN_KEYS - most);
		if (m.others) {
			snprintf(line, sizeof(line), "other=\"true\"} %llu\n",
				 (unsigned long long)m.others * (minute + 1));
			assert_non_null(strstr(m.samples.p, line));
		}
		if (minute < 60) {
			in_an_hour = mem_live() > in_an_hour ? mem_live() : in_an_hour;
			text_in_an_hour = m.samples.cap > text_in_an_hour ? m.samples.cap : text_in_an_hour;
		}
		assert_true(mem_live() <= in_an_hour);
		assert_true(m.samples.cap <= 2 * text_in_an_hour);
	}
	metric_close(&m);
	assert_int_equal(mem_live(), 0);
}

/* Buckets to 9, 19, 29 and above; of two keys, whose buckets are those that either has. */
static void buckets_are_cumulative_and_the_same_in_each_series(void **state)
{
	static const int64_t last[] = { -1, 9, 19, 29 };
	static const char *const key[] = { "execname" };
	const struct tally_aggregation a = { .name = "h_ms",
					     .function = "lquantize",
					     .key = key,
					     .nkeys = 1,
					     .last = last,
					     .nlast = COUNT(last),
					     .comment = "How long." };
	const struct tally_key k[] = { { .text = "a" }, { .text = "b" } };
	const struct tally_bucket one[] = { { 0, 3 }, { 20, 2 } }, two[] = { { 10, 1 }, { 30, 4 } };
	const struct tally_row row[] = {
		{ .key = &k[0], .nkeys = 1, .bucket = one, .nbuckets = 2, .sum = 50, .count = 5 },
		{ .key = &k[1], .nkeys = 1, .bucket = two, .nbuckets = 2, .sum = 140, .count = 5 },
	};
	struct metric m = { 0 };
	struct err e = { 0 };

	(void)state;
	assert_int_equal(metric_open(&m, "p", &a, 10, &e), 0);
	metric_begin(&m, &text_at_5);
	for (size_t i = 0; i < COUNT(row); i++)
		assert_int_equal(metric_add(&m, &text_at_5, "p", &row[i], 0), 0);
	assert_int_equal(metric_end(&m, &text_at_5, "p"), 0);
	for (size_t i = 0; i < COUNT(k); i++) {
		static const int64_t n[][3] = { { 3, 3, 5 }, { 0, 1, 1 } };
		static const char *const le[] = { "0.009", "0.019", "0.029" };
		char line[128];

		for (size_t b = 0; b < COUNT(le); b++) {
			snprintf(line, sizeof(line),
				 "tally_h_seconds_bucket{program=\"p\",execname=\"%s\",le=\"%s\"} %lld\n", k[i].text,
				 le[b], (long long)n[i][b]);
			assert_non_null(strstr(m.samples.p, line));
		}
		snprintf(line, sizeof(line), "execname=\"%s\",le=\"+Inf\"} 5\n", k[i].text);
		assert_non_null(strstr(m.samples.p, line));
	}
	assert_null(strstr(m.samples.p, "le=\"-0.001\""));
	assert_non_null(strstr(m.samples.p, "tally_h_seconds_sum{program=\"p\",execname=\"b\"} 0.14\n"));
	metric_close(&m);
}

/* Readers take a sum that falls for a new beginning. */
static void a_histogram_of_negative_values_has_no_sum(void **state)
{
	static const int64_t last[] = { -1, 9 };
	const struct tally_aggregation a = {
		.name = "h", .function = "quantize", .last = last, .nlast = 2, .comment = ""
	};
	const struct tally_bucket bucket[] = { { -1, 3 } };
	const struct tally_row row = { .bucket = bucket, .nbuckets = 1, .sum = -3, .count = 3 };
	const struct metric_reading open = { FORMAT_OPENMETRICS, 5 };
	struct metric m = { 0 };
	struct err e = { 0 };

	(void)state;
	assert_int_equal(metric_open(&m, "p", &a, 10, &e), 0);
	metric_begin(&m, &text_at_5);
	assert_int_equal(metric_add(&m, &text_at_5, "p", &row, 0), 0);
	assert_int_equal(metric_end(&m, &text_at_5, "p"), 0);
	assert_non_null(strstr(m.samples.p, "tally_h_count{program=\"p\"} 3\n"));
	assert_null(strstr(m.samples.p, "_sum"));
	metric_begin(&m, &open);
	assert_int_equal(metric_add(&m, &open, "p", &row, 0), 0);
	assert_int_equal(metric_end(&m, &open, "p"), 0);
	assert_non_null(strstr(m.samples.p, "tally_h_bucket{program=\"p\",le=\"+Inf\"} 3\n"));
	assert_null(strstr(m.samples.p, "_sum"));
	assert_null(strstr(m.samples.p, "_count")); /* only with a sum there */
	metric_close(&m);
}

static void every_failed_allocation_is_survived(void **state)
{
	static const char *const key[] = { "execname" };
	const struct tally_aggregation a = { .name = "n", .function = "avg", .key = key, .nkeys = 1, .comment = "" };
	const struct tally_key k[] = { { .text = "a" }, { .text = "b" } };
	const long live = mem_live();

	(void)state;
	for (long n = 1;; n++) {
		struct metric m = { 0 };
		struct err e = { 0 };
		int rc;

		mem_fail_at(n);
		rc = metric_open(&m, "p", &a, 1, &e);
		if (rc >= 0)
			metric_begin(&m, &text_at_5);
		for (size_t i = 0; rc >= 0 && i < COUNT(k); i++)
			rc = metric_add(&m, &text_at_5, "p",
					&(struct tally_row){ .key = &k[i], .nkeys = 1, .sum = 1, .count = 1 }, 0);
		if (rc >= 0)
			rc = metric_end(&m, &text_at_5, "p");
		bool failed = mem_failed();

		mem_fail_at(0);
		metric_close(&m);
		assert_int_equal(mem_live(), live);
		if (!failed)
			break;
		assert_int_equal(rc, -TALLY_ENOMEM);
	}
}

static void figures_are_counters_gauges_and_histograms_with_their_own_labels(void **state)
{
	static const int64_t last[] = { 0, 1, 3 };
	static const uint64_t bucket[] = { 0, 2, 0, 5 };
	static const struct watch_buckets buckets = { .last = last, .bucket = bucket, .nlast = 3, .n = 7, .sum = 99 };
	static const struct {
		struct watch_figure f;
		const char *name, *help, *samples;
	} row[] = {
		{ { .family = "gpci_entitled_capped",
		    .text = "what it consumed",
		    .unit = "PURR cycles",
		    .grows = true,
		    .value = { .unit = AN_COUNT, .u = UINT64_C(9007199254740993) },
		    .label = { { "partition", "3" } },
		    .nlabels = 1 },
		  "tally_gpci_entitled_capped",
		  "what it consumed (PURR cycles)",
		  "tally_gpci_entitled_capped_total{platform=\"a\\\"b\",partition=\"3\"} 9007199254740993\n" },
		{ { .family = "cpc_cpu-clock:u",
		    .text = "time",
		    .unit = "ns",
		    .grows = true,
		    .value = { .unit = AN_MILLIS, .u = 1500000000 } },
		  "tally_cpc_cpu_clock_u_seconds",
		  "time (here in seconds)",
		  "tally_cpc_cpu_clock_u_seconds_total{platform=\"a\\\"b\"} 1.5\n" },
		{ { .family = "cec_pool", .text = "share", .unit = "ratio", .value = { .unit = AN_SHARE, .d = 0.25 } },
		  "tally_cec_pool_ratio",
		  "share",
		  "tally_cec_pool_ratio{platform=\"a\\\"b\"} 0.25\n" },
		{ { .family = "ptt_latency_ticks",
		    .text = "time",
		    .unit = "ticks",
		    .grows = true,
		    .buckets = &buckets,
		    .label = { { "type", "MRd64" } },
		    .nlabels = 1 },
		  "tally_ptt_latency_ticks",
		  "time (ticks)",
		  "tally_ptt_latency_ticks_bucket{platform=\"a\\\"b\",type=\"MRd64\",le=\"1.0\"} 2\n"
		  "tally_ptt_latency_ticks_bucket{platform=\"a\\\"b\",type=\"MRd64\",le=\"3.0\"} 2\n"
		  "tally_ptt_latency_ticks_bucket{platform=\"a\\\"b\",type=\"MRd64\",le=\"+Inf\"} 7\n"
		  "tally_ptt_latency_ticks_count{platform=\"a\\\"b\",type=\"MRd64\"} 7\n"
		  "tally_ptt_latency_ticks_sum{platform=\"a\\\"b\",type=\"MRd64\"} 99\n" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(row); i++) {
		struct watch_figure none = row[i].f;
		struct metric m = { 0 };

		none.value.none = true;
		assert_int_equal(metric_open_figure(&m, &row[i].f, 10), 0);
		assert_string_equal(m.name, row[i].name);
		assert_string_equal(m.help, row[i].help);
		metric_begin(&m, &text_at_5);
		assert_int_equal(metric_add_figure(&m, &text_at_5, "a\"b", &none), 0);
		assert_int_equal(m.samples.n, 0);
		for (int twice = 0; twice < 2; twice++)
			assert_int_equal(metric_add_figure(&m, &text_at_5, "a\"b", &row[i].f), 0);
		assert_int_equal(metric_end(&m, &text_at_5, "a\"b"), 0);
		assert_string_equal(m.samples.p, row[i].samples);
		metric_close(&m);
	}
}

static void a_figure_that_was_not_known_counted_since_its_platform_does(void **state)
{
	struct watch_figure f = { .family = "purr", .text = "cycles", .unit = "", .grows = true };
	const struct metric_reading r[] = { { FORMAT_OPENMETRICS, 2000000000 }, { FORMAT_OPENMETRICS, 3000000000 } };
	struct metric m = { 0 };

	(void)state;
	f.value = (struct an_cell){ .unit = AN_COUNT, .none = true };
	assert_int_equal(metric_open_figure(&m, &f, 10), 0);
	metric_count_since(&m, 1500000000);
	for (size_t i = 0; i < COUNT(r); i++) {
		metric_begin(&m, &r[i]);
		assert_int_equal(metric_add_figure(&m, &r[i], "power", &f), 0);
		assert_int_equal(metric_end(&m, &r[i], "power"), 0);
		f.value = (struct an_cell){ .unit = AN_COUNT, .u = 7 };
	}
	assert_non_null(strstr(m.samples.p, "tally_purr_created{platform=\"power\"} 1.500\n"));
	metric_close(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_follow_from_aggregations),
		cmocka_unit_test(labels_are_the_last_names_of_their_expressions),
		cmocka_unit_test(a_key_that_is_a_number_is_a_label_too),
		cmocka_unit_test(stacks_are_no_labels),
		cmocka_unit_test(keys_beyond_the_limit_are_one_series_and_counted),
		cmocka_unit_test(the_extreme_of_many_keys_is_an_extreme),
		cmocka_unit_test(what_the_first_reading_has_was_created_when_the_program_began),
		cmocka_unit_test(a_key_that_is_new_was_created_after_the_reading_that_had_it_not),
		cmocka_unit_test(a_key_that_gets_a_place_counted_since_all_keys_had_one),
		cmocka_unit_test(a_counter_that_falls_was_created_after_the_last_reading),
		cmocka_unit_test(nothing_was_created_later_than_now_also_when_the_clock_was_set_back),
		cmocka_unit_test(a_reading_that_failed_makes_no_key_new),
		cmocka_unit_test(a_key_that_was_gone_begins_anew),
		cmocka_unit_test(a_key_of_a_later_epoch_begins_anew),
		cmocka_unit_test(the_other_keys_begin_anew_when_all_of_them_are_of_a_later_epoch),
		cmocka_unit_test(a_day_of_keys_that_come_and_go_costs_what_an_hour_does),
		cmocka_unit_test(buckets_are_cumulative_and_the_same_in_each_series),
		cmocka_unit_test(a_histogram_of_negative_values_has_no_sum),
		cmocka_unit_test(keys_that_look_alike_are_one_series_and_the_others),
		cmocka_unit_test(figures_are_counters_gauges_and_histograms_with_their_own_labels),
		cmocka_unit_test(a_figure_that_was_not_known_counted_since_its_platform_does),
		cmocka_unit_test(every_failed_allocation_is_survived),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
