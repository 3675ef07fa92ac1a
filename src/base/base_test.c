/* Tests of base: memory that fails on demand, text, maps, patterns. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "base/base.h"

static void every_failed_allocation_is_survived(void **state)
{
	(void)state;
	for (long n = 1;; n++) {
		struct arena a = { 0 };
		struct buf b = { 0 };
		struct map m = { 0 }, of_arena = { .keys = &a };
		long live = mem_live();

		mem_fail_at(n);
		for (int i = 0; i < 3000; i += 100)
			arena_printf(&a, "%0*d", i, i);
		for (int i = 0; i < 100; i++)
			buf_printf(&b, "%d ", i);
		for (int i = 0; i < 100; i++)
			map_at(&m, &i, sizeof(i));
		for (int i = 0; i < 100; i++)
			map_at(&of_arena, &i, sizeof(i));
		bool failed = mem_failed();

		mem_fail_at(0);
		arena_free(&a);
		buf_free(&b);
		map_free(&m);
		map_free(&of_arena);
		assert_int_equal(mem_live(), live);
		if (!failed)
			break;
	}
}

static void arena_memory_is_zero_aligned_and_apart(void **state)
{
	struct arena a = { 0 };
	char *last = NULL;

	(void)state;
	for (size_t n = 1; n < 5000; n += 7) {
		char *p = arena_alloc(&a, n);

		assert_non_null(p);
		assert_int_equal((uintptr_t)p % 16, 0);
		assert_int_equal(p[0], 0);
		assert_int_equal(p[n - 1], 0);
		memset(p, 1, n);
		assert_true(p != last);
		last = p;
	}
	assert_null(arena_alloc(&a, SIZE_MAX));
	assert_true(a.failed);
	arena_reset(&a);
	for (int round = 0; round < 3; round++) {
		char *p = arena_alloc(&a, 100);

		assert_int_equal(p[0], 0);
		memset(p, 1, 100);
		arena_reset(&a);
		assert_non_null(a.head);
	}
	arena_free(&a);
}

static void a_range_holds_what_is_whole_in_it_and_nothing_wraps(void **state)
{
	static const struct {
		int row;
		uint64_t base, bytes, at, n;
		bool holds;
	} rows[] = {
		{ __LINE__, 100, 10, 100, 10, true },
		{ __LINE__, 100, 10, 109, 1, true },
		{ __LINE__, 100, 10, 110, 0, true },
		{ __LINE__, 100, 10, 99, 1, false },
		{ __LINE__, 100, 10, 109, 2, false },
		{ __LINE__, 100, 10, 110, 1, false },
		{ __LINE__, 100, 10, 111, 0, false },
		{ __LINE__, 100, 10, 105, UINT64_MAX, false },
		{ __LINE__, 100, 10, 105, UINT64_MAX - 104, false },
		{ __LINE__, UINT64_MAX - 9, 10, UINT64_MAX, 1, true },
		{ __LINE__, UINT64_MAX - 9, 10, UINT64_MAX, 2, false },
		{ __LINE__, UINT64_MAX - 9, 10, 0, 1, false },
		{ __LINE__, 0, 0, 0, 0, true },
		{ __LINE__, 0, UINT64_MAX, 1, UINT64_MAX, false },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++)
		if (range_holds(rows[i].base, rows[i].bytes, rows[i].at, rows[i].n) != rows[i].holds)
			fail_msg("line %d", rows[i].row);
}

static void what_drives_a_terminal_is_not_seen(void **state)
{
	static const struct {
		const char *in, *out;
	} row[] = {
		{ "plain \303\244 \342\202\254", "plain \303\244 \342\202\254" },
		{ "a\033[31mb\007\n\tc\177", "a?[31mb???c?" },
		{ "\302\233m \302\240", "?m \302\240" },
		{ "\233m \303", "?m ?" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(row); i++) {
		struct buf b = { 0 };

		buf_plain(&b, row[i].in, strlen(row[i].in));
		assert_string_equal(b.p, row[i].out);
		buf_free(&b);
	}
}

static void what_drives_a_terminal_is_shown_byte_by_byte(void **state)
{
	static const struct {
		const char *in, *out;
	} row[] = {
		{ "", "" },
		{ "plain\ttext\n", "plain\ttext\n" },
		{ "\x1b[2J\a", "\\x1b[2J\\x07" },
		{ "a\rb\b\v\f\x7f", "a\\x0db\\x08\\x0b\\x0c\\x7f" },
		{ "\xc2\x9b"
		  "31m\xc2\xa0",
		  "\\xc2\\x9b31m\xc2\xa0" },
		{ "\x9b"
		  "1m",
		  "\\x9b1m" },
		{ "\xc3\xa9\xe2\x82\xac", "\xc3\xa9\xe2\x82\xac" },
		{ "\xe2\x82\x1b", "\\xe2\\x82\\x1b" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(row); i++) {
		struct buf b = { 0 };

		buf_visible(&b, row[i].in, strlen(row[i].in));
		assert_string_equal(b.p ? b.p : "", row[i].out);
		buf_free(&b);
	}
}

static void json_strings_are_escaped_and_bad_utf8_is_replaced(void **state)
{
	static const struct {
		int line;
		const char *in, *out;
	} row[] = {
		{ __LINE__, "plain", "\"plain\"" },
		{ __LINE__, "a\"b\\c\n\t\x01", "\"a\\\"b\\\\c\\n\\t\\u0001\"" },
		{ __LINE__, "\xc3\xa9", "\"\xc3\xa9\"" },
		{ __LINE__, "\xff.", "\"\xef\xbf\xbd.\"" },
		{ __LINE__, "\xc3", "\"\xef\xbf\xbd\"" },
		{ __LINE__, "\xed\xa0\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"" },
		{ __LINE__, "\xf0\x9f\x98\x80", "\"\xf0\x9f\x98\x80\"" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(row); i++) {
		struct buf b = { 0 };

		buf_json_str(&b, row[i].in, strlen(row[i].in));
		if (strcmp(b.p, row[i].out))
			fail_msg("row of line %d: %s", row[i].line, b.p);
		buf_free(&b);
	}
}

/* A text grows by one character at a time, so each length meets each edge of the memory that there is. */
static void what_is_printed_is_whole_however_much_room_there_is(void **state)
{
	char text[600], want[1200];

	(void)state;
	for (size_t n = 0; n < sizeof(text); n++) {
		for (size_t before = 0; before < 300; before += 7) {
			struct buf b = { 0 };

			memset(text, 'x', n);
			text[n] = '\0';
			memset(want, '-', before);
			buf_put(&b, want, before);
			buf_printf(&b, "%s|%d", text, 7);
			snprintf(want + before, sizeof(want) - before, "%s|%d", text, 7);
			assert_int_equal(b.n, before + n + 2);
			assert_string_equal(b.p, want);
			buf_free(&b);
		}
	}
}

static void what_found_no_memory_leaves_the_text_as_it_was(void **state)
{
	char word[1001];

	(void)state;
	memset(word, 'x', 1000);
	word[1000] = '\0';
	for (int by_printf = 0; by_printf < 2; by_printf++) {
		struct buf b = { 0 };

		buf_puts(&b, "before");
		mem_fail_at(1);
		if (by_printf)
			buf_printf(&b, "%s", word);
		else
			buf_puts(&b, word);
		mem_fail_at(0);
		assert_true(b.failed);
		assert_int_equal(b.n, 6);
		assert_string_equal(b.p, "before");
		buf_printf(&b, "%d", 7); /* nor is anything put behind a gap */
		buf_puts(&b, "after");
		assert_string_equal(b.p, "before");
		buf_free(&b);
	}
}

static void a_number_is_written_as_printf_does(void **state)
{
	static const int64_t row[] = { 0, 1, -1, 9, 10, -10, 1234567890, INT64_MAX, INT64_MIN, INT64_MIN + 1 };
	char want[32];

	(void)state;
	for (size_t i = 0; i < COUNT(row); i++) {
		struct buf b = { 0 };

		snprintf(want, sizeof(want), "%lld", (long long)row[i]);
		buf_i64(&b, row[i]);
		assert_string_equal(b.p, want);
		buf_free(&b);
	}
}

static void map_fill_and_find(struct map *m)
{
	size_t i = 0, seen = 0, len;
	const void *key;
	void *val;

	for (uintptr_t k = 1; k <= 10000; k++)
		*map_at(m, &k, sizeof(k)) = (void *)k;
	for (uintptr_t k = 1; k <= 10000; k++)
		assert_ptr_equal(map_get(m, &k, sizeof(k)), (void *)k);
	assert_null(map_get(m, "absent", 6));
	*map_at(m, "", 0) = m;
	assert_ptr_equal(map_get(m, "", 0), m);
	while (map_next(m, &i, &key, &len, &val))
		seen++;
	assert_int_equal(seen, 10001);
}

static void a_map_finds_what_was_put_in_and_nothing_else(void **state)
{
	struct arena a = { 0 };
	struct map m = { 0 }, of_arena = { .keys = &a };

	(void)state;
	map_fill_and_find(&m);
	map_fill_and_find(&of_arena);
	map_free(&m);
	map_free(&of_arena);
	arena_free(&a);
}

static void numbers_are_taken_whole_or_refused(void **state)
{
	uint64_t v;

	(void)state;
	assert_true(text_u64("18446744073709551615", &v) && v == UINT64_MAX);
	assert_true(text_u64("0x1F", &v) && v == 31);
	assert_false(text_u64("18446744073709551616", &v));
	assert_false(text_u64("", &v));
	assert_false(text_u64("0x", &v));
	assert_false(text_u64("12a", &v));
	assert_false(text_u64("-1", &v));
}

/* Each byte as the last digit: the characters beside '0', '9', 'A', 'F', 'a' and 'f' are no digits. */
static void every_byte_is_a_digit_of_its_base_or_of_none(void **state)
{
	static const char hex[] = "0123456789abcdef0123456789ABCDEF";
	char decimal[] = "1?", sixteen[] = "0x1?";

	(void)state;
	for (int c = 1; c < 256; c++) {
		const char *digit = strchr(hex, c);
		const uint64_t value = digit ? (uint64_t)(digit - hex) % 16 : 16;
		uint64_t v;

		decimal[1] = sixteen[3] = (char)c;
		v = 99;
		if (text_u64(decimal, &v) != (value < 10) || v != (value < 10 ? 10 + value : 99))
			fail_msg("byte 0x%02x as a decimal digit", c);
		v = 99;
		if (text_u64(sixteen, &v) != (value < 16) || v != (value < 16 ? 16 + value : 99))
			fail_msg("byte 0x%02x as a hexadecimal digit", c);
	}
}

static void a_number_has_its_base_by_its_beginning(void **state)
{
	uint64_t v;

	(void)state;
	assert_true(text_u64("0", &v) && v == 0);
	assert_true(text_u64("010", &v) && v == 10);
	assert_true(text_u64("0XfF", &v) && v == 255);
	assert_true(text_u64("0xffffffffffffffff", &v) && v == UINT64_MAX);
	assert_false(text_u64("0x10000000000000000", &v));
	assert_false(text_u64("1x2", &v));
	assert_false(text_u64("x2", &v));
	assert_false(text_u64("99999999999999999999", &v));
	assert_false(text_u64(" 1", &v));
	assert_false(text_u64("+1", &v));
	assert_false(text_u64("0x0x1", &v));
}

/* The DTrace Guide, "profile Provider": its suffixes, and hertz without one. */
static void times_have_the_units_of_d(void **state)
{
	static const struct {
		const char *name;
		int64_t ns;
	} row[] = {
		{ "ns", 1 },
		{ "nsec", 1 },
		{ "us", 1000 },
		{ "usec", 1000 },
		{ "ms", 1000000 },
		{ "msec", 1000000 },
		{ "s", 1000000000 },
		{ "sec", 1000000000 },
		{ "m", 60000000000 },
		{ "min", 60000000000 },
		{ "h", 3600000000000 },
		{ "hour", 3600000000000 },
		{ "d", 86400000000000 },
		{ "day", 86400000000000 },
		{ "MSec", 1000000 },
		{ "hz", 0 },
		{ "Hz", 0 },
		{ "", 0 },
		{ "msecs", -1 },
		{ "1", -1 },
		{ " s", -1 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(row); i++)
		if (text_time_unit(row[i].name) != row[i].ns)
			fail_msg("unit \"%s\"", row[i].name);
}

static void globs_match_as_in_d(void **state)
{
	static const struct {
		int line;
		const char *pattern, *s;
		bool match;
	} row[] = {
		{ __LINE__, "", "anything", true },      { __LINE__, "*", "", true },
		{ __LINE__, "tick-*", "tick-1s", true }, { __LINE__, "tick-?", "tick-1s", false },
		{ __LINE__, "[a-c]x", "bx", true },      { __LINE__, "[!a-c]x", "bx", false },
		{ __LINE__, "[]]", "]", true },          { __LINE__, "[a", "[a", true },
		{ __LINE__, "\\*", "*", true },          { __LINE__, "\\*", "a", false },
		{ __LINE__, "a*b*c", "axxbyyc", true },  { __LINE__, "a*b*c", "axxbyy", false },
		{ __LINE__, "abc", "ab", false },        { __LINE__, "ab", "abc", false },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(row); i++)
		if (text_glob(row[i].pattern, row[i].s) != row[i].match)
			fail_msg("row of line %d", row[i].line);
}

#define WORD_LONG 64 /* letters of the longest word that is compared */

static void the_nearest_word_is_near(void **state)
{
	static const char *const words[] = { "cpu_clock", "task_clock", "page_faults" };

	(void)state;
	assert_string_equal(text_nearest("cpu-clock", TEXT_NAMES(words, 3)), "cpu_clock");
	assert_string_equal(text_nearest("PAGE_FAULT", TEXT_NAMES(words, 3)), "page_faults");
	assert_string_equal(text_nearest("conut", TEXT_NAMES(((const char *const[]){ "sum", "count" }), 2)), "count");
	assert_string_equal(text_nearest("tikc", TEXT_NAMES(((const char *const[]){ "tock", "tick" }), 2)), "tick");
	assert_null(text_nearest("zebra", TEXT_NAMES(words, 3)));
	assert_null(text_nearest("", TEXT_NAMES(words, 0)));
}

static void a_word_that_begins_another_is_nearer_than_one_with_other_letters(void **state)
{
	static const char *const words[] = { "ln", "length_dw", "length_in_bytes" };

	(void)state;
	assert_string_equal(text_nearest("len", TEXT_NAMES(words, 3)), "length_dw");
	assert_null(text_nearest("le", TEXT_NAMES(words, 3))); /* two letters are no beginning */
	assert_string_equal(text_nearest("page", TEXT_NAMES(((const char *const[]){ "page_faults", "page" }), 2)),
			    "page");
	assert_string_equal(text_nearest("len",
					 TEXT_NAMES(((const char *const[]){ "length_in_bytes", "length_of" }), 2)),
			    "length_of");
}

static void a_third_of_the_letters_may_differ_and_the_first_of_equals_is_taken(void **state)
{
	static const char *const one[] = { "abcdef" }, *const two[] = { "abcx", "abcy" },
				 *const long_ones[] = { "abcd_1", "abcd_2" };
	static char most[2][WORD_LONG + 2];
	const char *const longest[] = { most[0] };

	(void)state;
	assert_string_equal(text_nearest("abcdxy", TEXT_NAMES(one, 1)), "abcdef");
	assert_null(text_nearest("abcxyz", TEXT_NAMES(one, 1)));
	assert_string_equal(text_nearest("abdef", TEXT_NAMES(one, 1)), "abcdef");
	assert_null(text_nearest("abdxf", TEXT_NAMES(one, 1)));
	assert_string_equal(text_nearest("abcz", TEXT_NAMES(two, 2)), "abcx");
	assert_string_equal(text_nearest("abcd", TEXT_NAMES(long_ones, 2)), "abcd_1");
	/* longer words are compared with nothing */
	memset(most[0], 'a', WORD_LONG);
	memset(most[1], 'a', WORD_LONG);
	most[1][0] = 'b';
	assert_ptr_equal(text_nearest(most[1], TEXT_NAMES(longest, 1)), most[0]);
	most[0][WORD_LONG] = 'a';
	assert_null(text_nearest(most[1], TEXT_NAMES(longest, 1)));
	most[1][WORD_LONG] = 'a';
	assert_null(text_nearest(most[1], TEXT_NAMES(longest, 1)));
	most[0][WORD_LONG] = '\0';
	assert_null(text_nearest(most[1], TEXT_NAMES(longest, 1)));
}

static void a_word_of_several_is_picked_or_named_with_what_there_is(void **state)
{
	static const char *const words[] = { "mixed", "chase" };
	static const struct {
		const char *word, *said;
	} row[] = {
		{ "chas", "load=chas: unknown load; did you mean 'chase'?" },
		{ "", "load=: unknown load (expected one of mixed, chase)" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(row); i++) {
		struct err e = { 0 };

		assert_int_equal(text_pick("load", row[i].word, TEXT_NAMES(words, COUNT(words)), &e), -TALLY_EINVAL);
		assert_string_equal(e.text, row[i].said);
	}
	assert_int_equal(text_pick("load", "chase", TEXT_NAMES(words, COUNT(words)), NULL), 1);
	assert_int_equal(text_pick("load", "chase", TEXT_NAMES(words, 0), &(struct err){ 0 }), -TALLY_EINVAL);
}

static void an_unknown_name_ends_with_the_nearest_or_with_what_there_is(void **state)
{
	static const struct {
		int number;
		const char *name; /* NULL: a row without one */
	} rows[] = { { 1, "mixed" }, { 2, NULL }, { 3, "chase" } };

	(void)state;
	assert_string_equal(err_near("'", "chas", TEXT_NAMES_OF(rows, name)).text, "; did you mean 'chase'?");
	assert_string_equal(err_near("", "mxied", TEXT_NAMES_OF(rows, name)).text, "; did you mean mixed?");
	assert_string_equal(err_near("'", "zebra", TEXT_NAMES_OF(rows, name)).text, "");
	assert_string_equal(err_unknown("chas", TEXT_NAMES_OF(rows, name), "; see %s", "a list").text,
			    "; did you mean 'chase'?");
	assert_string_equal(err_unknown("zebra", TEXT_NAMES_OF(rows, name), "; see %s", "a list").text, "; see a list");
	assert_string_equal(err_unknown("zebra", TEXT_NAMES_OF(rows, name), NULL).text,
			    " (expected one of mixed, chase)");
	assert_string_equal(err_unknown("zebra", (struct text_names){ 0 }, NULL).text, " (expected one of none)");
}

static void the_first_error_stays(void **state)
{
	struct err e = { 0 };

	(void)state;
	assert_int_equal(err_set(&e, TALLY_EINVAL, "first %d", 1), -TALLY_EINVAL);
	assert_int_equal(err_set(&e, TALLY_EIO, "second"), -TALLY_EIO);
	assert_int_equal(e.code, TALLY_EINVAL);
	assert_string_equal(e.text, "first 1");
	assert_int_equal(err_set(NULL, TALLY_EIO, "nowhere"), -TALLY_EIO);
}

static void every_error_has_words(void **state)
{
	(void)state;
	for (int i = 0; i <= TALLY_EEND; i++) {
		assert_string_not_equal(tally_strerror(i), "unknown error");
		assert_string_equal(tally_strerror(-i), tally_strerror(i));
	}
	assert_string_equal(tally_strerror(9999), "unknown error");
}

static void text_is_wrapped_at_blanks_and_never_within_a_word(void **state)
{
	static const struct {
		const char *s;
		size_t at, indent, columns;
		const char *tail, *is;
	} row[] = {
		{ "", 3, 3, 10, "", "\n" },
		{ "one", 0, 0, 80, "", "one\n" },
		{ "one  two", 0, 2, 7, "", "one two\n" },
		{ "one two", 0, 2, 6, "", "one\n  two\n" },
		{ "one two", 4, 2, 8, "", "one\n  two\n" },
		{ "longer-than-that x", 0, 1, 6, "", "longer-than-that\n x\n" },
		{ "do this now", 0, 2, 9, " \\", "do this \\\n  now\n" },
		{ "do $(a b c)=d now", 0, 1, 8, "", "do\n $(a b c)=d\n now\n" },
		{ "do $(a b", 0, 1, 6, "", "do $(a\n b\n" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(row); i++) {
		struct buf b = { 0 };

		buf_wrap(&b, row[i].s, row[i].at, row[i].indent, row[i].columns, row[i].tail);
		assert_string_equal(b.p, row[i].is);
		buf_free(&b);
	}
}

struct grown {
	size_t size;
	uint32_t asked, said;
	uint64_t newer;
};

static void options_of_an_older_and_a_newer_caller_are_understood(void **state)
{
	struct grown ours = { 0 }, newer = { .size = sizeof(newer), .asked = 1, .said = 2, .newer = 3 };
	const size_t older = offsetof(struct grown, said);

	(void)state;
	assert_true(opts_take(&ours, sizeof(ours), &newer));
	assert_memory_equal(&ours, &newer, sizeof(ours));
	ours = (struct grown){ 0 };
	newer.size = older;
	assert_true(opts_take(&ours, sizeof(ours), &newer));
	assert_true(ours.asked == 1 && ours.said == 0 && ours.newer == 0);
	newer.size = sizeof(newer);
	assert_false(opts_take(&ours, older, &newer)); /* what we don't know is set */
	newer.said = 0;
	newer.newer = 0;
	assert_true(opts_take(&ours, older, &newer));
	newer.size = sizeof(size_t) - 1;
	assert_false(opts_take(&ours, sizeof(ours), &newer));
}

static void results_fill_what_the_caller_has_room_for(void **state)
{
	const struct grown ours = { .size = 99, .asked = 1, .said = 2, .newer = 3 };
	struct {
		struct grown to;
		uint64_t newest;
	} bigger = { .newest = 77 };
	struct grown to = { .size = offsetof(struct grown, newer) };

	(void)state;
	opts_give(&to, &ours, sizeof(ours));
	assert_true(to.size == offsetof(struct grown, newer) && to.asked == 1 && to.said == 2 && to.newer == 0);
	bigger.to.size = sizeof(bigger);
	opts_give(&bigger, &ours, sizeof(ours));
	assert_true(bigger.to.size == sizeof(bigger) && bigger.to.newer == 3 && bigger.newest == 0);
	to = (struct grown){ .size = sizeof(size_t) };
	opts_give(&to, &ours, sizeof(ours));
	assert_true(to.asked == 0 && to.newer == 0);
	to.size = 0;
	opts_give(&to, &ours, sizeof(ours));
	opts_give(NULL, &ours, sizeof(ours));
	assert_true(to.asked == 0 && to.newer == 0);
}

static int take_line(void *arg, const char *text, size_t n)
{
	buf_put(arg, text, n);
	return 0;
}

static void noted(struct buf *to, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	note_line(take_line, to, fmt, ap);
	note_line(NULL, NULL, "%%", ap);
	va_end(ap);
}

static void a_note_is_a_whole_line_and_cut_only_when_memory_is_out(void **state)
{
	struct buf b = { 0 };
	char word[2001];

	(void)state;
	memset(word, 'x', 2000);
	word[2000] = '\0';
	noted(&b, "%s", "");
	noted(&b, "%d of %s", 7, "nine");
	assert_string_equal(b.p, "\n7 of nine\n");
	buf_clear(&b);
	for (size_t n = 1020; n < 1026; n++) {
		noted(&b, "%.*s", (int)n, word);
		assert_int_equal(b.n, n + 1);
		assert_int_equal(b.p[n], '\n');
		buf_clear(&b);
	}
	noted(&b, "%s", word);
	assert_int_equal(b.n, 2001);
	buf_clear(&b);
	mem_fail_at(1);
	noted(&b, "%s", word);
	mem_fail_at(0);
	assert_int_equal(b.n, 1023);
	assert_int_equal(b.p[1022], '\n');
	buf_free(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(options_of_an_older_and_a_newer_caller_are_understood),
		cmocka_unit_test(results_fill_what_the_caller_has_room_for),
		cmocka_unit_test(a_note_is_a_whole_line_and_cut_only_when_memory_is_out),
		cmocka_unit_test(a_range_holds_what_is_whole_in_it_and_nothing_wraps),
		cmocka_unit_test(what_drives_a_terminal_is_not_seen),
		cmocka_unit_test(what_drives_a_terminal_is_shown_byte_by_byte),
		cmocka_unit_test(every_failed_allocation_is_survived),
		cmocka_unit_test(arena_memory_is_zero_aligned_and_apart),
		cmocka_unit_test(json_strings_are_escaped_and_bad_utf8_is_replaced),
		cmocka_unit_test(what_is_printed_is_whole_however_much_room_there_is),
		cmocka_unit_test(what_found_no_memory_leaves_the_text_as_it_was),
		cmocka_unit_test(a_number_is_written_as_printf_does),
		cmocka_unit_test(a_map_finds_what_was_put_in_and_nothing_else),
		cmocka_unit_test(numbers_are_taken_whole_or_refused),
		cmocka_unit_test(every_byte_is_a_digit_of_its_base_or_of_none),
		cmocka_unit_test(a_number_has_its_base_by_its_beginning),
		cmocka_unit_test(times_have_the_units_of_d),
		cmocka_unit_test(globs_match_as_in_d),
		cmocka_unit_test(the_nearest_word_is_near),
		cmocka_unit_test(a_third_of_the_letters_may_differ_and_the_first_of_equals_is_taken),
		cmocka_unit_test(a_word_that_begins_another_is_nearer_than_one_with_other_letters),
		cmocka_unit_test(a_word_of_several_is_picked_or_named_with_what_there_is),
		cmocka_unit_test(an_unknown_name_ends_with_the_nearest_or_with_what_there_is),
		cmocka_unit_test(the_first_error_stays),
		cmocka_unit_test(every_error_has_words),
		cmocka_unit_test(text_is_wrapped_at_blanks_and_never_within_a_word),
	};

	return cmocka_run_group_tests_name("base", tests, NULL, NULL);
}
