/* printa_test.c: formats over rows, and aggregations joined by key. */
#include "answer/test_int.h"

#define KEYS(...)                                 \
	(const struct an_value[]){ __VA_ARGS__ }, \
		sizeof((const struct an_value[]){ __VA_ARGS__ }) / sizeof(struct an_value)

static int print(struct buf *b, const char *format, const struct an_agg *const *aggs, uint32_t n,
		 const struct an_sort *how, struct err *e)
{
	struct arena arena = { 0 };
	struct fmt f = { 0 };
	int rc = fmt_parse(&arena, format, strlen(format), &f, e);
	if (rc == 0)
		rc = an_agg_printa(b, &f, aggs, n, AN_STACKINDENT, how, e);
	arena_free(&arena);
	return rc;
}

static void assert_printa(const char *want, const char *format, const struct an_agg *const *aggs, uint32_t n,
			  const struct an_sort *how, int line)
{
	struct buf b = { 0 };
	struct err e = { 0 };
	if (print(&b, format, aggs, n, how, &e) != 0)
		fail_msg("line %d: %s", line, e.text);
	assert_text_at(&b, want, __FILE__, line);
}
#define ASSERT_PRINTA(want, format, how, ...)                                    \
	do {                                                                     \
		const struct an_agg *const list_[] = { __VA_ARGS__ };            \
		assert_printa(want, format, list_, COUNT(list_), how, __LINE__); \
	} while (0)

static struct an_row misses[] = {
	{ KEYS(STR("cc"), INT(1, 4)), .sum = 5 },
	{ KEYS(STR("sh"), INT(2, 4)), .sum = 9 },
};
static struct an_row cycles[] = {
	{ KEYS(STR("ld"), INT(3, 4)), .sum = 70 },
	{ KEYS(STR("sh"), INT(2, 4)), .sum = 40 },
};
static const struct an_agg m = { .name = "m", .fn = AGG_COUNT, .row = misses, .nrows = 2 };
static const struct an_agg c = { .name = "c", .fn = AGG_SUM, .value_signed = true, .row = cycles, .nrows = 2 };

static void a_format_is_applied_to_each_row_in_order(void **state)
{
	(void)state;
	ASSERT_PRINTA("cc/1:     5 5 5%\nsh/2:     9 9 9%\n", "%s/%d: %@5u %@x %@d%%\n", NULL, &m);
	ASSERT_PRINTA("cc 5\nsh 9\n", "%s %@d\n", NULL, &m); /* not all keys need be used */
	ASSERT_PRINTA("--", "-", NULL, &m);
	ASSERT_PRINTA("[5      ][9      ]", "[%-7@d]", NULL, &m);
}

static void joined_aggregations_count_zero_where_they_miss(void **state)
{
	(void)state;
	ASSERT_PRINTA("ld 0 70 70\ncc 5 0 0\nsh 9 40 40\n", "%s %@d %@d %@d\n", NULL, &m, &c);
}

static void joined_rows_are_sorted_as_the_options_say(void **state)
{
	(void)state;
	ASSERT_PRINTA("cc 0 5,sh 40 9,ld 70 0,", "%s %@d %@d,", NULL, &c, &m);
	ASSERT_PRINTA("cc 5 0,sh 9 40,ld 0 70,", "%s %@d %@d,", (&(struct an_sort){ .aggpos = 1 }), &m, &c);
	ASSERT_PRINTA("sh,ld,cc,", "%s,", (&(struct an_sort){ .by_key = true, .reverse = true }), &m, &c);
	ASSERT_PRINTA("cc,sh,ld,", "%s,", (&(struct an_sort){ .by_key = true, .keypos = 1 }), &m, &c);
}

static void equal_values_are_told_apart_by_the_next_aggregation(void **state)
{
	(void)state;
	struct an_row one[] = { { KEYS(STR("a")), .sum = 1 }, { KEYS(STR("b")), .sum = 1 } };
	struct an_row two[] = { { KEYS(STR("a")), .sum = 8 }, { KEYS(STR("b")), .sum = 7 } };
	const struct an_agg x = { .name = "x", .fn = AGG_COUNT, .row = one, .nrows = 2 };
	const struct an_agg y = { .name = "y", .fn = AGG_COUNT, .row = two, .nrows = 2 };
	ASSERT_PRINTA("b a ", "%s ", NULL, &x, &y);
}

static void without_a_format_values_stand_in_columns(void **state)
{
	(void)state;
	struct buf b = { 0 };
	struct err e = { 0 };
	const struct an_agg *const list[] = { &m, &c };
	assert_int_equal(an_agg_printa(&b, NULL, list, 2, AN_STACKINDENT, NULL, &e), 0);
	assert_text(
		&b,
		"  ld                                                        3                0               70\n"
		"  cc                                                        1                5                0\n"
		"  sh                                                        2                9               40\n");
}

static void aggregations_without_keys_are_one_row(void **state)
{
	(void)state;
	struct an_row one[] = { { .sum = 3 } }, two[] = { { .n = 2, .sum = 9 } };
	const struct an_agg x = { .name = "x", .fn = AGG_COUNT, .row = one, .nrows = 1 };
	const struct an_agg y = { .name = "y", .fn = AGG_AVG, .row = two, .nrows = 1 };
	ASSERT_PRINTA("3 of 4\n", "%@d of %@d\n", NULL, &x, &y);
	ASSERT_PRINTA("                3                4\n", "", NULL, &x, &y);
}

static void stacks_join_by_their_frames_and_print_with_k(void **state)
{
	(void)state;
	static const char *const f[] = { "a`f", "a`main" }, *const same[] = { "a`f", "a`main" };
	struct an_row one[] = { { KEYS(STACK(SLOT_USTACK, f, NULL)), .sum = 1 } };
	struct an_row two[] = { { KEYS(STACK(SLOT_USTACK, same, NULL)), .sum = 2 } };
	const struct an_agg x = { .name = "x", .fn = AGG_COUNT, .row = one, .nrows = 1 };
	const struct an_agg y = { .name = "y", .fn = AGG_COUNT, .row = two, .nrows = 1 };
	ASSERT_PRINTA("\na`f\na`main\n1 2\n", "%k%@d %@d\n", NULL, &x, &y);
	ASSERT_PRINTA("\n  a`f\n  a`main\n1\n", "%-2k%@d\n", NULL, &x);
}

static void histograms_are_drawn_whatever_the_conversion(void **state)
{
	(void)state;
	static const int64_t bucket[] = { [QUANTIZE_ZERO] = 1 };
	struct an_row row[] = { { KEYS(STR("sh")), .bucket = bucket, .nbuckets = COUNT(bucket) } };
	const struct an_agg q = { .name = "q", .fn = AGG_QUANTIZE, .row = row, .nrows = 1 };
	ASSERT_PRINTA("sh:\n           value  ------------- Distribution ------------- count    \n"
		      "              -1 |                                         0        \n"
		      "               0 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@ 1        \n"
		      "               1 |                                         0        \n.",
		      "%s:%@d.", NULL, &q);
	ASSERT_PRINTA("sh 0:\n           value  ------------- Distribution ------------- count    \n"
		      "              -1 |                                         0        \n"
		      "               0 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@ 1        \n"
		      "               1 |                                         0        \n",
		      "%s %@d:%@d", NULL, &(struct an_agg){ .name = "e", .fn = AGG_COUNT }, &q);
}

static void nothing_is_printed_of_nothing(void **state)
{
	(void)state;
	const struct an_agg none = { .name = "e", .fn = AGG_COUNT };
	ASSERT_PRINTA("", "%s %@d\n", NULL, &none);
	ASSERT_PRINTA("", "%s %@d\n", NULL, &none, &none);
}

static void keys_that_do_not_fit_are_refused(void **state)
{
	(void)state;
	struct an_row row[] = { { KEYS(STR("sh")), .sum = 1 } };
	const struct an_agg one = { .name = "one", .fn = AGG_COUNT, .row = row, .nrows = 1 };
	const struct an_agg *const list[] = { &m, &one };
	struct buf b = { 0 };
	struct err e = { 0 };
	assert_int_equal(print(&b, "%s", list, 2, NULL, &e), -TALLY_EINVAL);
	assert_string_equal(e.text, "printa( ): @m and @one do not have matching key signatures");
	e = (struct err){ 0 };
	assert_int_equal(print(&b, "%s %d %d", list, 1, NULL, &e), -TALLY_EINVAL);
	assert_string_equal(e.text, "printa( ): the format takes 3 keys, @m has 2");
	assert_int_equal(b.n, 0);
	buf_free(&b);
}

static void running_out_of_memory_is_told(void **state)
{
	(void)state;
	const struct an_agg *const list[] = { &m, &c };
	struct arena arena = { 0 };
	struct fmt f;
	assert_int_equal(fmt_parse(&arena, "%s %@d %@d\n", 11, &f, NULL), 0);
	long before = mem_live();
	for (long n = 1;; n++) {
		struct buf b = { 0 };
		struct err e = { 0 };
		mem_fail_at(n);
		int rc = an_agg_printa(&b, &f, list, 2, AN_STACKINDENT, NULL, &e);
		bool failed = mem_failed();
		mem_fail_at(0);
		assert_true(rc == 0 || rc == -TALLY_ENOMEM);
		assert_int_equal(rc < 0 || b.failed, failed);
		buf_free(&b);
		assert_int_equal(mem_live(), before);
		if (!failed)
			break;
	}
	arena_free(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_format_is_applied_to_each_row_in_order),
		cmocka_unit_test(joined_aggregations_count_zero_where_they_miss),
		cmocka_unit_test(joined_rows_are_sorted_as_the_options_say),
		cmocka_unit_test(equal_values_are_told_apart_by_the_next_aggregation),
		cmocka_unit_test(without_a_format_values_stand_in_columns),
		cmocka_unit_test(aggregations_without_keys_are_one_row),
		cmocka_unit_test(stacks_join_by_their_frames_and_print_with_k),
		cmocka_unit_test(histograms_are_drawn_whatever_the_conversion),
		cmocka_unit_test(nothing_is_printed_of_nothing),
		cmocka_unit_test(keys_that_do_not_fit_are_refused),
		cmocka_unit_test(running_out_of_memory_is_told),
	};
	return cmocka_run_group_tests_name("printa", tests, NULL, NULL);
}
