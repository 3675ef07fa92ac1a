/* json_test.c: JSON lines and folded stacks of the same aggregations. */
#include "answer/test_int.h"
#include "answer/flame.h"

#define KEYS(...)                                 \
	(const struct an_value[]){ __VA_ARGS__ }, \
		sizeof((const struct an_value[]){ __VA_ARGS__ }) / sizeof(struct an_value)

#define ASSERT_JSON(agg, want)          \
	do {                            \
		struct buf b_ = { 0 };  \
		an_json_agg(&b_, agg);  \
		assert_text(&b_, want); \
	} while (0)
#define ASSERT_FOLDED(agg, want)        \
	do {                            \
		struct buf b_ = { 0 };  \
		put_folded(&b_, agg);   \
		assert_text(&b_, want); \
	} while (0)
#define ASSERT_VALUE(want, ...)                                    \
	do {                                                       \
		struct buf b_ = { 0 };                             \
		an_json_value(&b_, &(struct an_value)__VA_ARGS__); \
		assert_text(&b_, want);                            \
	} while (0)

static const char *const user[] = { "a.out`leaf+0x12", "a.out`main+0x4" }, *const user_func[] = { "a.out`leaf", NULL };
static const char *const kernel[] = { "vmlinux`clear_page+0x1", "vmlinux`do_fault;x" };

static void put_folded(struct buf *to, const struct an_agg *a)
{
	struct an_flame f = { 0 };

	an_flame_add(&f, a);
	an_flame_sort(&f);
	an_folded_put(to, &f);
	an_flame_free(&f);
}

static void values_keep_their_types(void **state)
{
	(void)state;
	ASSERT_VALUE("-1", INT(-1, 4));
	ASSERT_VALUE("18446744073709551615", UINT(-1, 8));
	ASSERT_VALUE("\"a\\\"\\n\\u001b\xef\xbf\xbd\"", STR("a\"\n\033\xff"));
	ASSERT_VALUE("\"\"", { .kind = SLOT_STRING });
	ASSERT_VALUE("\"eth0\"", BYTES("eth0\0\0"));
	ASSERT_VALUE("\"0001ff\"", BYTES("\0\x01\xff"));
	ASSERT_VALUE("\"\"", { .kind = SLOT_BYTES });
	ASSERT_VALUE("\"vmlinux`f\"", SYM(SLOT_KFUNC, "vmlinux`f", 7));
	ASSERT_VALUE("\"0x7\"", { .kind = SLOT_KFUNC, .i = 7 });
	ASSERT_VALUE("[\"a.out`leaf+0x12\",\"a.out`main+0x4\"]", STACK(SLOT_USTACK, user, NULL));
	ASSERT_VALUE("[]", { .kind = SLOT_USTACK });
}

static void a_row_is_an_object_on_a_line(void **state)
{
	(void)state;
	struct an_row rows[] = {
		{ KEYS(STR("bash"), INT(7, 4), STACK(SLOT_USTACK, user, NULL)), .sum = 3 },
		{ .sum = -1 },
	};
	const struct an_agg a = { .name = "x", .fn = AGG_COUNT, .row = rows, .nrows = 2 };
	ASSERT_JSON(&a, "{\"type\":\"aggregation\",\"name\":\"x\",\"function\":\"count\",\"keys\":[\"bash\",7,"
			"[\"a.out`leaf+0x12\",\"a.out`main+0x4\"]],\"value\":3}\n"
			"{\"type\":\"aggregation\",\"name\":\"x\",\"function\":\"count\",\"keys\":[],"
			"\"value\":18446744073709551615}\n");
}

static void values_are_as_printed(void **state)
{
	(void)state;
	struct an_row row = { .n = 4, .sum = -40 };
	const struct an_agg a = { .name = "", .fn = AGG_AVG, .normal = 5, .row = &row, .nrows = 1 };
	ASSERT_JSON(&a, "{\"type\":\"aggregation\",\"name\":\"\",\"function\":\"avg\",\"keys\":[],\"value\":-2,"
			"\"sum\":-8,\"count\":4}\n");
}

static void keys_have_the_names_that_the_program_gave_them(void **state)
{
	static const char *const names[] = { "execname", "args[0]->\"x\"" };

	(void)state;
	struct an_row row = { KEYS(STR("bash"), INT(7, 4)), .sum = 3 };
	const struct an_agg a = { .name = "x", .fn = AGG_COUNT, .key_name = names, .row = &row, .nrows = 1 };
	ASSERT_JSON(&a, "{\"type\":\"aggregation\",\"name\":\"x\",\"function\":\"count\",\"keys\":[\"bash\",7],"
			"\"names\":[\"execname\",\"args[0]->\\\"x\\\"\"],\"value\":3}\n");
}

static void histograms_list_their_buckets_with_bounds(void **state)
{
	(void)state;
	int64_t q[QUANTIZE_BUCKETS] = { [0] = 1, [61] = 2, [63] = 3, [66] = 4, [126] = 5 };
	int64_t l[] = { 1, 0, 2, 3 };
	struct an_row row = { .bucket = q, .nbuckets = QUANTIZE_BUCKETS };
	struct an_agg a = { .name = "q", .fn = AGG_QUANTIZE, .row = &row, .nrows = 1 };
	ASSERT_JSON(&a, "{\"type\":\"aggregation\",\"name\":\"q\",\"function\":\"quantize\",\"keys\":[],\"buckets\":["
			"{\"from\":null,\"to\":-4611686018427387904,\"count\":1},{\"from\":-3,\"to\":-2,\"count\":2},"
			"{\"from\":0,\"to\":0,\"count\":3},{\"from\":4,\"to\":7,\"count\":4},"
			"{\"from\":4611686018427387904,\"to\":null,\"count\":5}]}\n");
	row = (struct an_row){ .bucket = l, .nbuckets = COUNT(l) };
	a = (struct an_agg){ .name = "l", .fn = AGG_LQUANTIZE, .lq = { 0, 20, 10 }, .row = &row, .nrows = 1 };
	ASSERT_JSON(&a, "{\"type\":\"aggregation\",\"name\":\"l\",\"function\":\"lquantize\",\"keys\":[],\"buckets\":["
			"{\"from\":null,\"to\":-1,\"count\":1},{\"from\":10,\"to\":19,\"count\":2},"
			"{\"from\":20,\"to\":null,\"count\":3}]}\n");
	row = (struct an_row){ 0 };
	ASSERT_JSON(&a, "{\"type\":\"aggregation\",\"name\":\"l\",\"function\":\"lquantize\",\"keys\":[],"
			"\"buckets\":[]}\n");
}

static void folded_stacks_start_with_who_and_end_in_the_kernel(void **state)
{
	(void)state;
	struct an_row rows[] = {
		{ KEYS(STACK(SLOT_KSTACK, kernel, NULL), STACK(SLOT_USTACK, user, user_func), STR("my;sh\n"),
		       INT(7, 4)),
		  .sum = 12 },
		{ KEYS(STR("idle"), { .kind = SLOT_USTACK }), .sum = 2 },
		{ KEYS(SYM(SLOT_KFUNC, "vmlinux`f", 1), { .kind = SLOT_UADDR, .i = 0x10 }), .sum = 1 },
	};
	const struct an_agg a = { .name = "", .fn = AGG_COUNT, .row = rows, .nrows = COUNT(rows) };
	ASSERT_FOLDED(&a, "idle 2\n"
			  "my:sh?;7;a.out`main+0x4;a.out`leaf;vmlinux`do_fault:x_[k];vmlinux`clear_page+0x1_[k] 12\n"
			  "vmlinux`f;0x10 1\n");
}

static void folded_rows_without_keys_bear_the_name(void **state)
{
	(void)state;
	int64_t q[QUANTIZE_BUCKETS] = { [63] = 3, [70] = 4 };
	struct an_row row = { .bucket = q, .nbuckets = QUANTIZE_BUCKETS };
	const struct an_agg a = { .name = "sizes", .fn = AGG_QUANTIZE, .row = &row, .nrows = 1 };
	ASSERT_FOLDED(&a, "@sizes 7\n");
	ASSERT_FOLDED(&(struct an_agg){ .name = "none" }, "");
}

static void running_out_of_memory_is_remembered(void **state)
{
	(void)state;
	struct an_row rows[] = { { KEYS(STR("bash"), STACK(SLOT_USTACK, user, NULL)), .sum = 3 } };
	const struct an_agg a = { .name = "x", .fn = AGG_COUNT, .row = rows, .nrows = 1 };
	for (long n = 1;; n++) {
		struct buf b = { 0 };
		mem_fail_at(n);
		an_json_agg(&b, &a);
		put_folded(&b, &a);
		bool failed = mem_failed();
		mem_fail_at(0);
		assert_int_equal(b.failed, failed);
		buf_free(&b);
		assert_int_equal(mem_live(), 0);
		if (!failed)
			break;
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_keep_their_types),
		cmocka_unit_test(a_row_is_an_object_on_a_line),
		cmocka_unit_test(values_are_as_printed),
		cmocka_unit_test(keys_have_the_names_that_the_program_gave_them),
		cmocka_unit_test(histograms_list_their_buckets_with_bounds),
		cmocka_unit_test(folded_stacks_start_with_who_and_end_in_the_kernel),
		cmocka_unit_test(folded_rows_without_keys_bear_the_name),
		cmocka_unit_test(running_out_of_memory_is_remembered),
	};
	return cmocka_run_group_tests_name("json", tests, NULL, NULL);
}
