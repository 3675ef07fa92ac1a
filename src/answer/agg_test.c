/* agg_test.c: values, order and lines of aggregations. */
#include "answer/test_int.h"

#define KEYS(...)                                 \
	(const struct an_value[]){ __VA_ARGS__ }, \
		sizeof((const struct an_value[]){ __VA_ARGS__ }) / sizeof(struct an_value)

static void assert_agg(const struct an_agg *a, const char *want, int line)
{
	struct buf b = { 0 };
	an_agg_print(&b, a, AN_STACKINDENT);
	assert_text_at(&b, want, __FILE__, line);
}
#define ASSERT_AGG(a, want) assert_agg(a, want, __LINE__)

/* dtrace_cpc.txt, example 1: @[execname] = count().  Values end at column 69, as the formats of the language give. */
static void spec_example_1_is_printed_in_its_order(void **state)
{
	(void)state;
	struct an_row rows[] = {
		{ KEYS(STR("sshd")), .sum = 8114 },
		{ KEYS(STR("init")), .sum = 138 },
		{ KEYS(STR("thunderbird-bin")), .sum = 2370 },
		{ KEYS(STR("dtrace")), .sum = 175 },
		{ KEYS(STR("run-mozilla.sh")), .sum = 306 },
	};
	struct an_agg a = { .name = "", .fn = AGG_COUNT, .row = rows, .nrows = COUNT(rows) };
	an_agg_sort(&a, NULL);
	ASSERT_AGG(&a, "  init                                                            138\n"
		       "  dtrace                                                          175\n"
		       "  run-mozilla.sh                                                  306\n"
		       "  thunderbird-bin                                                2370\n"
		       "  sshd                                                           8114\n");
}

/* dtrace_cpc.txt, examples 2 and 3: func(arg0), ufunc(arg1). */
static void spec_examples_2_and_3_show_functions(void **state)
{
	(void)state;
	struct an_row rows[] = {
		{ KEYS(SYM(SLOT_KFUNC, "unix`do_copy_fault_nta", 1)), .sum = 27803554 },
		{ KEYS(SYM(SLOT_KFUNC, "genunix`vpm_sync_pages", 2)), .sum = 478948 },
		{ KEYS(SYM(SLOT_UFUNC, "brendan`func_gamma", 3)), .sum = 930 },
	};
	struct an_agg a = { .name = "", .fn = AGG_COUNT, .row = rows, .nrows = COUNT(rows) };
	an_agg_sort(&a, NULL);
	ASSERT_AGG(&a, "  brendan`func_gamma                                              930\n"
		       "  genunix`vpm_sync_pages                                       478948\n"
		       "  unix`do_copy_fault_nta                                     27803554\n");
}

/* dtrace_cpc.txt, section 1: @[ustack()] = count(). */
static void a_stack_key_takes_lines_and_the_value_follows(void **state)
{
	(void)state;
	static const char *const frames[] = { "foo`work+0x12", "foo`main+0x4", "libc.so.6`__libc_start_main+0x80" };
	struct an_row rows[] = { { KEYS(STACK(SLOT_USTACK, frames, NULL)), .sum = 17 } };
	struct an_agg a = { .name = "", .fn = AGG_COUNT, .row = rows, .nrows = 1 };
	ASSERT_AGG(&a, "\n              foo`work+0x12\n              foo`main+0x4\n"
		       "              libc.so.6`__libc_start_main+0x80\n               17\n");
	struct buf b = { 0 };
	an_agg_print(&b, &a, 2);
	assert_text(&b, "\n  foo`work+0x12\n  foo`main+0x4\n  libc.so.6`__libc_start_main+0x80\n"
			"               17\n");
}

static void integer_keys_have_columns_of_their_size(void **state)
{
	(void)state;
	struct an_row rows[] = { { KEYS(INT(-1, 8), INT(-2, 4), UINT(3, 2), INT(-4, 1), UINT(-1, 4)), .sum = -5 },
				 { KEYS(INT(-3, 8), INT(2, 4), INT(-1, 2), INT(4, 1), UINT(0, 4)), .sum = -5 } };
	struct an_agg a = { .name = "", .fn = AGG_SUM, .value_signed = true, .row = rows, .nrows = 2 };
	ASSERT_AGG(&a, "               -1       -2     3 252 4294967295               -5\n"
		       "               -3        2 65535   4        0               -5\n");
}

static void an_empty_aggregation_prints_nothing(void **state)
{
	(void)state;
	struct an_agg a = { .name = "x", .fn = AGG_COUNT };
	an_agg_sort(&a, NULL);
	ASSERT_AGG(&a, "");
}

static void a_histogram_ends_with_an_empty_line(void **state)
{
	(void)state;
	int64_t bucket[QUANTIZE_BUCKETS] = { [64] = 2 };
	struct an_row rows[] = { { KEYS(STR("bash")), .bucket = bucket, .nbuckets = QUANTIZE_BUCKETS } };
	struct an_agg a = { .name = "", .fn = AGG_QUANTIZE, .row = rows, .nrows = 1 };
	ASSERT_AGG(&a, "  bash                                              \n"
		       "           value  ------------- Distribution ------------- count    \n"
		       "               0 |                                         0        \n"
		       "               1 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@ 2        \n"
		       "               2 |                                         0        \n"
		       "\n");
}

/* ---- values -------------------------------------------------------------------- */

static int64_t shown(uint8_t fn, bool value_signed, int64_t normal, struct an_row r)
{
	const struct an_agg a = { .name = "", .fn = fn, .value_signed = value_signed, .normal = normal };
	return an_agg_value(&a, &r);
}

static void values_are_computed_and_normalized(void **state)
{
	(void)state;
	assert_int_equal(shown(AGG_COUNT, false, 1, (struct an_row){ .sum = 7 }), 7);
	assert_int_equal(shown(AGG_COUNT, false, 0, (struct an_row){ .sum = 7 }), 7);
	assert_int_equal(shown(AGG_SUM, true, 2, (struct an_row){ .sum = -7 }), -3);
	assert_true((uint64_t)shown(AGG_SUM, false, 2, (struct an_row){ .sum = -2 }) == UINT64_MAX / 2);
	assert_int_equal(shown(AGG_SUM, true, -1, (struct an_row){ .sum = INT64_MIN }), INT64_MIN);
	assert_int_equal(shown(AGG_AVG, true, 1, (struct an_row){ .n = 3, .sum = 10 }), 3);
	assert_int_equal(shown(AGG_AVG, true, 1, (struct an_row){ .n = 3, .sum = -10 }), -3);
	assert_int_equal(shown(AGG_AVG, true, 2, (struct an_row){ .n = 3, .sum = 21 }), 3);
	assert_int_equal(shown(AGG_AVG, true, 1, (struct an_row){ 0 }), 0);
	assert_int_equal(shown(AGG_MIN, true, 1, (struct an_row){ .sum = INT64_MIN }), INT64_MIN);
}

static void stddev_is_the_root_of_a_128_bit_variance(void **state)
{
	(void)state;
	/* 1 2 3 4: squares 30, 30 / 4 = 7, average 2: root of 3 */
	assert_int_equal(shown(AGG_STDDEV, true, 1, (struct an_row){ .n = 4, .sum = 10, .sq_lo = 30 }), 1);
	/* 1000 1010 1021 990, as DTrace has it: 1010660 - 1005 * 1005 = 635 */
	assert_int_equal(shown(AGG_STDDEV, true, 1, (struct an_row){ .n = 4, .sum = 4021, .sq_lo = 4042641 }), 25);
	/* 0 and 2^40: squares 2^80 */
	struct an_row wide = { .n = 2, .sum = 1LL << 40, .sq_hi = 1 << 16 };
	assert_int_equal(shown(AGG_STDDEV, true, 1, wide), 1LL << 39);
	assert_int_equal(shown(AGG_STDDEV, true, 2, wide), 1LL << 38);
	/* INT64_MIN once: squares 2^126 */
	struct an_row least = { .n = 1, .sum = INT64_MIN, .sq_hi = 1ULL << 62 };
	assert_int_equal(shown(AGG_STDDEV, true, 1, least), 0);
	struct an_row most = { .n = 1, .sum = 0, .sq_hi = UINT64_MAX, .sq_lo = UINT64_MAX };
	assert_true((uint64_t)shown(AGG_STDDEV, true, 1, most) == UINT64_MAX);
	assert_int_equal(shown(AGG_STDDEV, true, 1, (struct an_row){ 0 }), 0);
}

static void histograms_are_worth_label_times_count(void **state)
{
	(void)state;
	int64_t q[QUANTIZE_BUCKETS] = { [61] = 3, [66] = 2, [63] = 9 };
	struct an_row r = { .bucket = q, .nbuckets = QUANTIZE_BUCKETS };
	assert_int_equal(shown(AGG_QUANTIZE, true, 1, r), 2 * 4 - 3 * 2);
	q[126] = INT64_MAX;
	assert_int_equal(shown(AGG_QUANTIZE, true, 1, r), INT64_MAX);
	const struct an_agg l = { .name = "", .fn = AGG_LQUANTIZE, .lq = { 10, 20, 5 } };
	int64_t buckets[4] = { 1, 1, 1, 1 }; /* below 10 counts as 9, from 20 on as 21 */
	r = (struct an_row){ .bucket = buckets, .nbuckets = 4 };
	assert_int_equal(an_agg_value(&l, &r), 9 + 10 + 15 + 21);
}

/* ---- order --------------------------------------------------------------------- */

static void assert_order(struct an_agg *a, const struct an_sort *s, const char *want, int line)
{
	struct buf b = { 0 };
	an_agg_sort(a, s);
	for (uint32_t i = 0; i < a->nrows; i++) {
		buf_puts(&b, i > 0 ? " " : "");
		for (uint32_t k = 0; k < a->row[i].nkeys; k++)
			an_bare(&b, &a->row[i].key[k]);
	}
	assert_text_at(&b, want, __FILE__, line);
}
#define ASSERT_ORDER(a, s, want) assert_order(a, s, want, __LINE__)

static void rows_are_sorted_by_value_then_key(void **state)
{
	(void)state;
	struct an_row rows[] = {
		{ KEYS(STR("b"), INT(1, 4)), .sum = 2 },
		{ KEYS(STR("c"), INT(-3, 4)), .sum = -1 },
		{ KEYS(STR("a"), INT(2, 4)), .sum = 2 },
		{ KEYS(STR("a"), INT(-2, 4)), .sum = 2 },
	};
	struct an_agg a = { .name = "", .fn = AGG_SUM, .value_signed = true, .row = rows, .nrows = COUNT(rows) };
	ASSERT_ORDER(&a, NULL, "c-3 a2 a-2 b1");
	ASSERT_ORDER(&a, (&(struct an_sort){ .reverse = true }), "b1 a-2 a2 c-3");
	ASSERT_ORDER(&a, (&(struct an_sort){ .by_key = true }), "a2 a-2 b1 c-3");
	ASSERT_ORDER(&a, (&(struct an_sort){ .by_key = true, .keypos = 1 }), "b1 a2 c-3 a-2");
	ASSERT_ORDER(&a, (&(struct an_sort){ .by_key = true, .keypos = 9 }), "a2 a-2 b1 c-3");
	a.value_signed = false; /* -1 is the greatest now */
	ASSERT_ORDER(&a, NULL, "a2 a-2 b1 c-3");
}

static void negative_keys_of_every_size_come_behind_the_others(void **state)
{
	(void)state;
	static const uint8_t width[] = { 1, 2, 4, 8 };
	for (size_t i = 0; i < COUNT(width); i++) {
		struct an_row rows[] = {
			{ KEYS(INT(-1, width[i])), .sum = 1 },
			{ KEYS(INT(1, width[i])), .sum = 1 },
			{ KEYS(INT(-2, width[i])), .sum = 1 },
			{ KEYS(INT(0, width[i])), .sum = 1 },
		};
		struct an_agg a = { .name = "", .fn = AGG_COUNT, .row = rows, .nrows = COUNT(rows) };
		ASSERT_ORDER(&a, NULL, "0 1 -2 -1");
	}
}

static void unsigned_keys_are_compared_unsigned(void **state)
{
	(void)state;
	struct an_row rows[] = { { KEYS(UINT(-1, 4)), .sum = 1 }, { KEYS(UINT(5, 4)), .sum = 1 } };
	struct an_agg a = { .name = "", .fn = AGG_COUNT, .row = rows, .nrows = 2 };
	ASSERT_ORDER(&a, NULL, "5 4294967295");
}

static void averages_are_sorted_as_averages(void **state)
{
	(void)state;
	struct an_row rows[] = {
		{ KEYS(STR("x")), .n = 1, .sum = 10 },
		{ KEYS(STR("y")), .n = 100, .sum = 200 },
		{ KEYS(STR("z")), .n = 1, .sum = -1 },
	};
	struct an_agg a = { .name = "", .fn = AGG_AVG, .row = rows, .nrows = 3 };
	ASSERT_ORDER(&a, NULL, "z y x");
}

static void histograms_are_sorted_by_weight_then_by_their_zeros(void **state)
{
	(void)state;
	static const int64_t heavy[QUANTIZE_BUCKETS] = { [70] = 1 }, light[QUANTIZE_BUCKETS] = { [64] = 3 },
			     zeros[QUANTIZE_BUCKETS] = { [64] = 3, [63] = 1 };
	struct an_row rows[] = {
		{ KEYS(STR("heavy")), .bucket = heavy, .nbuckets = QUANTIZE_BUCKETS },
		{ KEYS(STR("a-zeros")), .bucket = zeros, .nbuckets = QUANTIZE_BUCKETS },
		{ KEYS(STR("light")), .bucket = light, .nbuckets = QUANTIZE_BUCKETS },
	};
	struct an_agg a = { .name = "", .fn = AGG_QUANTIZE, .row = rows, .nrows = 3 };
	ASSERT_ORDER(&a, NULL, "light a-zeros heavy");
}

static void stacks_and_symbols_have_an_order(void **state)
{
	(void)state;
	static const char *const f[] = { "f", "main" }, *const g[] = { "f" };
	const struct an_value v[] = { STACK(SLOT_USTACK, f, NULL),
				      STACK(SLOT_USTACK, g, NULL),
				      SYM(SLOT_KSYM, "a`b", 9),
				      SYM(SLOT_KSYM, "a`c", 1),
				      { .kind = SLOT_KSYM, .i = 1 },
				      { .kind = SLOT_KSYM, .i = -1 },
				      BYTES("a\0b"),
				      BYTES("a\0c"),
				      BYTES(""),
				      BYTES("a") };
	for (size_t i = 0; i < COUNT(v); i += 2) {
		assert_true(an_compare(&v[i], &v[i]) == 0);
		assert_true((an_compare(&v[i], &v[i + 1]) < 0) == (i > 0));
		assert_true((an_compare(&v[i + 1], &v[i]) < 0) == (i == 0));
	}
}

static void every_function_has_its_name(void **state)
{
	(void)state;
	for (uint8_t fn = 0; fn < AGG_NFN; fn++)
		assert_true(an_agg_function(fn)[0] != '\0');
	assert_string_equal(an_agg_function(AGG_LLQUANTIZE), "llquantize");
	assert_string_equal(an_agg_function(AGG_NFN), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(spec_example_1_is_printed_in_its_order),
		cmocka_unit_test(spec_examples_2_and_3_show_functions),
		cmocka_unit_test(a_stack_key_takes_lines_and_the_value_follows),
		cmocka_unit_test(integer_keys_have_columns_of_their_size),
		cmocka_unit_test(an_empty_aggregation_prints_nothing),
		cmocka_unit_test(a_histogram_ends_with_an_empty_line),
		cmocka_unit_test(values_are_computed_and_normalized),
		cmocka_unit_test(stddev_is_the_root_of_a_128_bit_variance),
		cmocka_unit_test(histograms_are_worth_label_times_count),
		cmocka_unit_test(rows_are_sorted_by_value_then_key),
		cmocka_unit_test(negative_keys_of_every_size_come_behind_the_others),
		cmocka_unit_test(unsigned_keys_are_compared_unsigned),
		cmocka_unit_test(averages_are_sorted_as_averages),
		cmocka_unit_test(histograms_are_sorted_by_weight_then_by_their_zeros),
		cmocka_unit_test(stacks_and_symbols_have_an_order),
		cmocka_unit_test(every_function_has_its_name),
	};
	return cmocka_run_group_tests_name("agg", tests, NULL, NULL);
}
