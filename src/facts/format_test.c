/* format_test.c: what fmt_parse() makes of formats, and what it refuses. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "facts/format.h"

static struct fmt parse(struct arena *a, const char *text)
{
	struct fmt f;
	struct err e = { 0 };
	if (fmt_parse(a, text, strlen(text), &f, &e) != 0)
		fail_msg("%s: %s", text, e.text);
	return f;
}

static void rows_are_unique_and_described(void **state)
{
	(void)state;
	for (unsigned i = 0; fmt_conv(i) != NULL; i++) {
		assert_ptr_equal(fmt_conv_find(fmt_conv(i)->letter), fmt_conv(i));
		assert_true(fmt_conv(i)->text[0] != '\0' && fmt_conv(i)->proto[0] != '\0');
	}
	assert_null(fmt_conv_find('q'));
	assert_null(fmt_conv_find('\0'));
}

static void text_and_conversions_are_taken_apart(void **state)
{
	(void)state;
	struct arena a = { 0 };
	struct fmt f = parse(&a, "pid %d, 100%% of %s\n");
	assert_int_equal(f.n, 4);
	assert_memory_equal(f.spec[0].text, "pid ", 4);
	assert_int_equal(f.spec[0].conv, 'd');
	assert_int_equal(f.spec[0].arg, FMT_INT);
	assert_int_equal(f.spec[1].conv, '%');
	assert_int_equal(f.spec[1].arg, FMT_NONE);
	assert_int_equal(f.spec[1].text_len, 5);
	assert_int_equal(f.spec[2].arg, FMT_STRING);
	assert_int_equal(f.spec[3].conv, 0);
	assert_memory_equal(f.spec[3].text, "\n", 1);
	assert_int_equal(parse(&a, "").n, 0);
	assert_int_equal(parse(&a, "plain").n, 1);
	arena_free(&a);
}

static void flags_width_and_precision_are_read(void **state)
{
	(void)state;
	struct arena a = { 0 };
	struct fmt_spec s = parse(&a, "%-+ #'012.34lld").spec[0];
	assert_true(s.left && s.plus && s.space && s.alt && s.group && s.zero && !s.agg);
	assert_int_equal(s.width, 12);
	assert_int_equal(s.prec, 34);
	assert_int_equal(s.size, 8);
	s = parse(&a, "%*.*s").spec[0];
	assert_true(s.width_star && s.prec_star);
	assert_int_equal(s.width, -1);
	s = parse(&a, "%-@16u").spec[0];
	assert_true(s.agg && s.left);
	assert_int_equal(s.width, 16);
	assert_int_equal(parse(&a, "%?p").spec[0].width, 16);
	assert_int_equal(parse(&a, "%d").spec[0].prec, -1);
	assert_int_equal(parse(&a, "%.d").spec[0].prec, 0);
	assert_int_equal(parse(&a, "%.08x").spec[0].prec, 8);
	assert_int_equal(parse(&a, "%hhx").spec[0].size, 1);
	assert_int_equal(parse(&a, "%hu").spec[0].size, 2);
	assert_int_equal(parse(&a, "%wc%ws%ls%lc").n, 4);
	assert_int_equal(parse(&a, "%Le").spec[0].arg, FMT_FLOAT);
	arena_free(&a);
}

static void every_conversion_of_the_guide_is_known(void **state)
{
	(void)state;
	struct arena a = { 0 };
	struct fmt f = parse(&a, "%a%A%c%C%d%e%E%f%g%G%i%k%o%p%s%S%T%u%x%X%Y%%%wc%ws%hd%ld%lld%hi%lx%llX");
	assert_int_equal(f.n, 30);
	assert_int_equal(f.spec[0].arg, FMT_ADDR);
	assert_int_equal(f.spec[11].arg, FMT_STACK);
	assert_int_equal(f.spec[13].arg, FMT_INT);
	arena_free(&a);
}

static void bad_formats_are_refused_with_dtraces_words(void **state)
{
	(void)state;
	static const struct {
		const char *format, *words;
	} row[] = {
		{ "%q", "format conversion #1 is undefined: %q" },
		{ "%d %lY", "format conversion #2 is undefined: %lY" },
		{ "%hlx", "format conversion #1 is undefined: %hlx" },
		{ "%lllx", "format conversion #1 is undefined: %lll" },
		{ "%Ld", "format conversion #1 is undefined: %Ld" },
		{ "100%", "format conversion #1 name expected before end of format string" },
		{ "%5", "format conversion #1 name expected before end of format string" },
		{ "%5%", "format conversion #1 cannot be combined with other format flags: %%" },
		{ "%1$d", "format conversion #1 uses unsupported positional format (%n$)" },
		{ "%**d", "format conversion #1 has more than one '*' specified for the output width" },
		{ "%.*.*d", "format conversion #1 has more than one '.' specified" },
		{ "%.**d", "format conversion #1 has more than one '*' specified for the output precision" },
		{ "%99999999999999999999d", "format conversion #1 has a width above 65535" },
		{ "%.65536d", "format conversion #1 has a precision above 65535" },
	};
	for (size_t i = 0; i < COUNT(row); i++) {
		struct arena a = { 0 };
		struct err e = { 0 };
		struct fmt f = { 0 };
		assert_int_equal(fmt_parse(&a, row[i].format, strlen(row[i].format), &f, &e), -TALLY_EINVAL);
		assert_string_equal(e.text, row[i].words);
		assert_null(f.spec);
		arena_free(&a);
	}
}

static void bytes_of_any_kind_are_survived(void **state)
{
	(void)state;
	struct arena a = { 0 };
	struct fmt f;
	struct err e = { 0 };
	assert_int_equal(fmt_parse(&a, "a\0b%d", 5, &f, &e), 0);
	assert_int_equal(f.spec[0].text_len, 3);
	assert_int_equal(fmt_parse(&a, "%\0d", 3, &f, &e), -TALLY_EINVAL);
	arena_free(&a);
}

static void running_out_of_memory_is_told(void **state)
{
	(void)state;
	for (long n = 1;; n++) {
		struct arena a = { 0 };
		struct fmt f;
		struct err e = { 0 };
		mem_fail_at(n);
		int rc = fmt_parse(&a, "%d %s", 5, &f, &e);
		bool failed = mem_failed();
		mem_fail_at(0);
		arena_free(&a);
		if (!failed)
			break;
		assert_int_equal(rc, -TALLY_ENOMEM);
		assert_int_equal(mem_live(), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_are_unique_and_described),
		cmocka_unit_test(text_and_conversions_are_taken_apart),
		cmocka_unit_test(flags_width_and_precision_are_read),
		cmocka_unit_test(every_conversion_of_the_guide_is_known),
		cmocka_unit_test(bad_formats_are_refused_with_dtraces_words),
		cmocka_unit_test(bytes_of_any_kind_are_survived),
		cmocka_unit_test(running_out_of_memory_is_told),
	};
	return cmocka_run_group_tests_name("format", tests, NULL, NULL);
}
