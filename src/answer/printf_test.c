/* printf_test.c: every conversion, with what surrounds it. */
#include <stdlib.h>
#include <time.h>

#include "answer/test_int.h"

static void print(struct buf *b, const char *format, const struct an_value *v, uint32_t n)
{
	struct arena a = { 0 };
	struct fmt f;
	struct err e = { 0 };
	if (fmt_parse(&a, format, strlen(format), &f, &e) != 0)
		fail_msg("%s: %s", format, e.text);
	an_printf(b, &f, v, n);
	arena_free(&a);
}

#define assert_prints(want, format, ...)                      \
	do {                                                  \
		const struct an_value v_[] = { __VA_ARGS__ }; \
		struct buf b_ = { 0 };                        \
		print(&b_, format, v_, COUNT(v_));            \
		assert_text(&b_, want);                       \
	} while (0)

static void integers_print_as_their_type_says(void **state)
{
	(void)state;
	assert_prints("-1 4294967295 18446744073709551615", "%d %d %i", INT(-1, 4), UINT(-1, 4), UINT(-1, 8));
	assert_prints("255 65535 4294967295", "%u %u %u", INT(-1, 1), INT(-1, 2), INT(-1, 4));
	assert_prints("ff FFFF 37777777777", "%x %X %o", INT(-1, 1), INT(-1, 2), INT(-1, 4));
	assert_prints("-1", "%hhd", INT(-1, 8)); /* size letters change nothing */
	assert_prints("deadbeef", "%p", UINT(0xdeadbeef, 8));
	assert_prints("-9223372036854775808", "%lld", INT(INT64_MIN, 8));
}

static void flags_width_and_precision_work_as_in_c(void **state)
{
	(void)state;
	assert_prints("[   42][42   ][00042][+42][ 42]", "[%5d][%-5d][%05d][%+d][% d]", INT(42, 4), INT(42, 4),
		      INT(42, 4), INT(42, 4), INT(42, 4));
	assert_prints("[0x2a][052][00042][  042]", "[%#x][%#o][%.5d][%5.3d]", INT(42, 4), INT(42, 4), INT(42, 4),
		      INT(42, 4));
	assert_prints("[000000000000002a]", "[%0?p]", UINT(42, 8));
	assert_prints("[42]", "[%'d]", INT(42, 4));
}

static void stars_take_values_of_their_own(void **state)
{
	(void)state;
	assert_prints("[   42]", "[%*d]", INT(5, 4), INT(42, 4));
	assert_prints("[42   ]", "[%*d]", INT(-5, 4), INT(42, 4));
	assert_prints("[   ab]", "[%*.*s]", INT(5, 4), INT(2, 4), STR("abcdef"));
	assert_prints("[abcdef]", "[%.*s]", INT(-2, 4), STR("abcdef"));
}

static void absurd_stars_are_bounded(void **state)
{
	(void)state;
	const struct an_value v[] = { INT(INT64_MIN, 8), STR("x"), INT(INT64_MAX, 8), INT(INT64_MAX, 8), INT(1, 4) };
	struct buf b = { 0 };
	print(&b, "%*s%*.*d", v, COUNT(v));
	assert_int_equal(b.n, 2 * FMT_WIDTH_MAX);
	buf_free(&b);
}

static void strings_are_padded_and_cut(void **state)
{
	(void)state;
	assert_prints("[bash][  bash][bash  ][ba]", "[%s][%6s][%-6s][%.2s]", STR("bash"), STR("bash"), STR("bash"),
		      STR("bash"));
	assert_prints("[abc]", "[%s]", { .kind = SLOT_STRING, .s = "abcdef", .len = 3 });
	assert_prints("[]", "[%s]", STR(""));
	assert_prints("[eth0]", "[%s]", BYTES("eth0\0\0\0\0"));
}

static void unprintables_are_escaped_on_demand(void **state)
{
	(void)state;
	assert_prints("a\\tb\\n\\\"\\\\\\001\\303\\251", "%S", STR("a\tb\n\"\\\x01\xc3\xa9"));
	assert_prints("[A][\\n][\\0][\\377]", "[%C][%C][%C][%C]", INT('A', 1), INT('\n', 1), INT(0, 1), INT(-1, 1));
	assert_prints("[A][  B][C  ]", "[%c][%3c][%-3c]", INT('A', 1), INT('B', 4), INT('C', 1));
	assert_prints("[  \\n]", "[%4S]", STR("\n"));
}

/* For a terminal: what it would obey is shown instead. */
static void what_a_terminal_would_obey_is_shown_by_each_conversion(void **state)
{
	(void)state;
	const struct an_value esc = { .kind = SLOT_INT, .width = 1, .i = 27, .visible = true },
			      letter = { .kind = SLOT_INT, .width = 1, .i = 'A', .visible = true },
			      text = { .kind = SLOT_STRING, .s = "a\x1b", .len = 3, .visible = true };
	const struct an_value v[] = { esc, esc, letter, text, text, text };
	struct buf b = { 0 };
	print(&b, "[%c][%6c][%-3c][%s][%7s][%S]", v, COUNT(v));
	assert_text(&b, "[\\x1b][  \\x1b][A  ][a\\x1b][  a\\x1b][a\\033]");
}

static void symbols_print_as_names_or_addresses(void **state)
{
	(void)state;
	assert_prints("vmlinux`schedule+0x1c", "%a", SYM(SLOT_KADDR, "vmlinux`schedule+0x1c", 0xffff0000));
	assert_prints("[          a.out`main]", "[%20A]", SYM(SLOT_UFUNC, "a.out`main", 0x401000));
	assert_prints("401000 4198400", "%x %d", SYM(SLOT_UFUNC, "a.out`main", 0x401000),
		      SYM(SLOT_UFUNC, "a.out`main", 0x401000));
	assert_prints("0x401000 0x401001", "%A %a", UINT(0x401000, 8), { .kind = SLOT_KSYM, .i = 0x401001 });
	assert_prints("libc.so.6", "%s", SYM(SLOT_UMOD, "libc.so.6", 1));
	/* an integer whose name was looked up for %a */
	assert_prints("vmlinux`main", "%a", { .kind = SLOT_INT, .width = 8, .s = "vmlinux`main", .len = 13, .i = 1 });
	assert_prints("a\\x1b`main 0x1", "%A %A",
		      { .kind = SLOT_INT, .width = 8, .s = "a\x1b`main", .len = 8, .i = 1, .visible = true },
		      { .kind = SLOT_INT, .width = 8, .i = 1, .visible = true });
}

static void stacks_print_as_lines(void **state)
{
	(void)state;
	static const char *const frames[] = { "a`f+0x1", "a`main" };
	assert_prints(":\na`f+0x1\na`main\n", ":%k", STACK(SLOT_USTACK, frames, NULL));
	assert_prints("\n    a`f+0x1\n    a`main\n", "%-4k", STACK(SLOT_USTACK, frames, NULL));
	assert_prints("\n   a`f+0x1\n    a`main\n", "%10k", STACK(SLOT_USTACK, frames, NULL));
}

static void dates_print_in_local_time(void **state)
{
	(void)state;
	setenv("TZ", "CET-1", 1);
	tzset();
	int64_t ns = 1795280400LL * 1000000000 + 5; /* 2026-11-21 17:00:00 UTC */
	assert_prints("2026 Nov 21 18:00:00", "%Y", INT(ns, 8));
	assert_prints("Sat, 21 Nov 2026 18:00:00 CET", "%T", INT(ns, 8));
	assert_prints("1970 Jan  1 01:00:00", "%Y", INT(0, 8));
	assert_prints("[    1970 Jan  1 01:00:00]", "[%24Y]", INT(0, 8));
	assert_prints("2554", "%.4Y", UINT(UINT64_MAX, 8));
}

static void text_and_percent_signs_stay(void **state)
{
	(void)state;
	assert_prints("100% of bash\n", "%d%% of %s\n", INT(100, 4), STR("bash"));
	struct buf b = { 0 };
	print(&b, "plain", NULL, 0);
	assert_text(&b, "plain");
}

static void missing_values_print_nothing(void **state)
{
	(void)state;
	assert_prints("1 [] [", "%d [%s] [%*d", INT(1, 4));
}

static void values_of_another_kind_are_shown_in_their_own_form(void **state)
{
	(void)state;
	static const char *const frames[] = { "f" };
	assert_prints("42", "%s", INT(42, 4));
	assert_prints("\nf\n", "%d", STACK(SLOT_KSTACK, frames, NULL));
	assert_prints("42", "%k", INT(42, 4));
	assert_prints("3", "%f", INT(3, 4));
}

static void running_out_of_memory_is_remembered(void **state)
{
	(void)state;
	static const char *const frames[] = { "a`main" };
	const struct an_value v[] = { STR("a\n"), INT(1, 1), INT(1, 8), STACK(SLOT_KSTACK, frames, NULL), UINT(1, 8) };
	for (long n = 1;; n++) {
		struct arena a = { 0 };
		struct fmt f;
		struct buf b = { 0 };
		assert_int_equal(fmt_parse(&a, "%S%C%Y%9k%a", 11, &f, NULL), 0);
		mem_fail_at(n);
		an_printf(&b, &f, v, COUNT(v));
		bool failed = mem_failed();
		mem_fail_at(0);
		assert_int_equal(b.failed, failed);
		buf_free(&b);
		arena_free(&a);
		assert_int_equal(mem_live(), 0);
		if (!failed)
			break;
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(integers_print_as_their_type_says),
		cmocka_unit_test(flags_width_and_precision_work_as_in_c),
		cmocka_unit_test(stars_take_values_of_their_own),
		cmocka_unit_test(absurd_stars_are_bounded),
		cmocka_unit_test(strings_are_padded_and_cut),
		cmocka_unit_test(unprintables_are_escaped_on_demand),
		cmocka_unit_test(what_a_terminal_would_obey_is_shown_by_each_conversion),
		cmocka_unit_test(symbols_print_as_names_or_addresses),
		cmocka_unit_test(stacks_print_as_lines),
		cmocka_unit_test(dates_print_in_local_time),
		cmocka_unit_test(text_and_percent_signs_stay),
		cmocka_unit_test(missing_values_print_nothing),
		cmocka_unit_test(values_of_another_kind_are_shown_in_their_own_form),
		cmocka_unit_test(running_out_of_memory_is_remembered),
	};
	return cmocka_run_group_tests_name("printf", tests, NULL, NULL);
}
