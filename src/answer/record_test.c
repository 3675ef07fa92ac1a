/* record_test.c: prefixes, trace() in its columns, stacks and listings. */
#include "answer/test_int.h"

static void header_and_prefix_stand_in_columns(void **state)
{
	(void)state;
	struct buf b = { 0 };
	an_header(&b);
	an_prefix(&b, 0, 1, "", "BEGIN");
	buf_putc(&b, '\n');
	an_prefix(&b, 127, 123456, "a_function_with_a_long_name", "cpu_clock-all-70000");
	assert_text(&b, "CPU     ID                    FUNCTION:NAME\n"
			"  0      1                           :BEGIN \n"
			"127 123456 a_function_with_a_long_name:cpu_clock-all-70000 ");
}

static void integers_stand_in_columns_of_their_size(void **state)
{
	(void)state;
	static const struct {
		struct an_value v;
		const char *loud, *quiet;
	} row[] = {
		{ INT(-1, 8), "                  -1", "-1" },
		{ INT(INT64_MIN, 8), " -9223372036854775808", "-9223372036854775808" },
		{ UINT(UINT64_MAX, 8), " 18446744073709551615", "18446744073709551615" },
		{ INT(-7, 4), "         -7", "-7" },
		{ UINT(-7, 4), " 4294967289", "4294967289" },
		{ INT(-7, 2), "    -7", "-7" },
		{ UINT(65535, 2), " 65535", "65535" },
		{ INT(-7, 1), "  -7", "-7" },
		{ UINT(255, 1), " 255", "255" },
	};
	for (size_t i = 0; i < COUNT(row); i++) {
		struct buf b = { 0 };
		an_trace(&b, &row[i].v, false);
		assert_text(&b, row[i].loud);
		an_trace(&b, &row[i].v, true);
		assert_text(&b, row[i].quiet);
	}
}

static void strings_and_symbols_are_padded(void **state)
{
	(void)state;
	struct buf b = { 0 };
	struct an_value s = STR("bash"), sym = SYM(SLOT_KFUNC, "vmlinux`schedule", 0xffff);
	struct an_value nameless = { .kind = SLOT_UADDR, .i = 0x401567 };
	an_trace(&b, &s, false);
	assert_text(&b, "  bash                             ");
	an_trace(&b, &s, true);
	assert_text(&b, "bash");
	an_trace(&b, &sym, false);
	assert_text(&b, "  vmlinux`schedule                                  ");
	an_trace(&b, &sym, true);
	assert_text(&b, "  vmlinux`schedule                                  ");
	an_trace(&b, &nameless, true);
	assert_text(&b, "  0x401567                                          ");
}

static void strings_end_at_their_length_or_at_nul(void **state)
{
	(void)state;
	struct buf b = { 0 };
	char raw[8] = { 'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h' };
	struct an_value full = { .kind = SLOT_STRING, .s = raw, .len = 8 }, empty = STR("");
	an_trace(&b, &full, true);
	assert_text(&b, "abcdefgh");
	raw[3] = '\0';
	an_trace(&b, &full, true);
	assert_text(&b, "abc");
	an_trace(&b, &empty, true);
	assert_text(&b, "");
}

static void bytes_are_a_dump_also_if_they_could_be_read(void **state)
{
	(void)state;
	struct buf b = { 0 };
	struct an_value text = BYTES("eth0\0\0\0\0"), raw = BYTES("\x01\x02xyz\xff"
								  "0123456789abc");
	an_trace(&b, &text, true);
	assert_text(&b, "\n             0  1  2  3  4  5  6  7  8  9  a  b  c  d  e  f  0123456789abcdef\n"
			"         0: 65 74 68 30 00 00 00 00                          eth0....\n");
	an_trace(&b, &raw, false);
	assert_text(&b, "\n             0  1  2  3  4  5  6  7  8  9  a  b  c  d  e  f  0123456789abcdef\n"
			"         0: 01 02 78 79 7a ff 30 31 32 33 34 35 36 37 38 39  ..xyz.0123456789\n"
			"        10: 61 62 63                                         abc\n");
}

/* With the option rawbytes. */
static void text_that_is_asked_for_raw_is_a_dump_of_all_its_bytes(void **state)
{
	(void)state;
	struct buf b = { 0 };
	struct an_value text = { .kind = SLOT_STRING, .s = "eth0\0x", .len = 6 }, none = { .kind = SLOT_STRING };
	an_trace(&b, &text, true);
	assert_text(&b, "eth0");
	text.raw = true;
	an_trace(&b, &text, true);
	assert_text(&b, "\n             0  1  2  3  4  5  6  7  8  9  a  b  c  d  e  f  0123456789abcdef\n"
			"         0: 65 74 68 30 00 78                                eth0.x\n");
	none.raw = true; /* no bytes to dump */
	an_trace(&b, &none, true);
	assert_text(&b, "");
}

/* Text is what a terminal shows and moves by; bytes are text, too, with nothing but zeros behind it. */
static void what_is_printable_ends_at_the_control_characters(void **state)
{
	(void)state;
	for (int c = 1; c < 256; c++) {
		const char text[] = { 'a', (char)c, '\0' };
		const struct an_value v = { .kind = SLOT_STRING, .s = text, .len = sizeof(text) };
		const bool shown = (c >= 7 && c <= 13) || (c >= 32 && c != 127);

		if (an_printable(&v) != shown)
			fail_msg("byte 0x%02x", c);
	}
	static const struct {
		const char *s;
		uint32_t len;
		bool printable;
	} row[] = { { "ab", 2, true },  { "a\0\0", 3, true }, { "a\0b", 3, false }, { "a\0\0b", 4, false },
		    { "\0", 1, false }, { "\0a", 2, false },  { "", 0, false },     { "a\x01", 2, false } };
	for (size_t i = 0; i < COUNT(row); i++) {
		struct an_value v = { .kind = SLOT_BYTES, .s = row[i].s, .len = row[i].len };

		if (an_printable(&v) != row[i].printable)
			fail_msg("bytes of row %zu", i);
		v.kind = SLOT_STRING; /* which ends at its first zero */
		if (an_printable(&v) != (row[i].printable || !memchr(row[i].s, 1, row[i].len)))
			fail_msg("string of row %zu", i);
	}
}

static void names_cannot_drive_a_terminal(void **state)
{
	(void)state;
	struct buf b = { 0 };
	struct an_value name = STR("\033[2J"), utf8 = STR("caf\xc3\xa9");
	static const char *const frames[] = { "lib`f\033[1m+0x1" };
	struct an_value stack = STACK(SLOT_USTACK, frames, NULL);
	an_trace(&b, &name, true);
	assert_text(&b, "\n             0  1  2  3  4  5  6  7  8  9  a  b  c  d  e  f  0123456789abcdef\n"
			"         0: 1b 5b 32 4a                                      .[2J\n");
	an_trace(&b, &utf8, true);
	assert_text(&b, "caf\xc3\xa9");
	an_stack(&b, &stack, 0);
	assert_text(&b, "\nlib`f?[1m+0x1\n");
}

static void stacks_are_indented_lines(void **state)
{
	(void)state;
	struct buf b = { 0 };
	static const char *const frames[] = { "vmlinux`schedule+0x1c", "vmlinux`do_idle", "0xffffffff81000000" };
	struct an_value stack = STACK(SLOT_KSTACK, frames, NULL), none = { .kind = SLOT_KSTACK };
	an_trace(&b, &stack, false);
	assert_text(&b, "\n              vmlinux`schedule+0x1c\n              vmlinux`do_idle\n"
			"              0xffffffff81000000\n");
	an_stack(&b, &stack, 2);
	assert_text(&b, "\n  vmlinux`schedule+0x1c\n  vmlinux`do_idle\n  0xffffffff81000000\n");
	an_stack(&b, &none, 14);
	assert_text(&b, "\n");
}

static void listing_puts_the_name_last(void **state)
{
	(void)state;
	struct buf b = { 0 };
	an_list_header(&b);
	an_list_row(&b, 1, "dtrace", "", "", "BEGIN");
	an_list_row(&b, 22, "cpc", "", "", "PAPI_tot_ins-all-1000000000");
	assert_text(
		&b,
		"   ID   PROVIDER            MODULE                          FUNCTION NAME\n"
		"    1     dtrace                                                     BEGIN\n"
		"   22        cpc                                                     PAPI_tot_ins-all-1000000000\n");
}

static void running_out_of_memory_is_remembered(void **state)
{
	(void)state;
	struct an_value v = STR("bash");
	for (long n = 1;; n++) {
		struct buf b = { 0 };
		mem_fail_at(n);
		an_prefix(&b, 0, 1, "", "BEGIN");
		an_trace(&b, &v, false);
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
		cmocka_unit_test(header_and_prefix_stand_in_columns),
		cmocka_unit_test(integers_stand_in_columns_of_their_size),
		cmocka_unit_test(strings_and_symbols_are_padded),
		cmocka_unit_test(strings_end_at_their_length_or_at_nul),
		cmocka_unit_test(bytes_are_a_dump_also_if_they_could_be_read),
		cmocka_unit_test(text_that_is_asked_for_raw_is_a_dump_of_all_its_bytes),
		cmocka_unit_test(what_is_printable_ends_at_the_control_characters),
		cmocka_unit_test(names_cannot_drive_a_terminal),
		cmocka_unit_test(stacks_are_indented_lines),
		cmocka_unit_test(listing_puts_the_name_last),
		cmocka_unit_test(running_out_of_memory_is_remembered),
	};
	return cmocka_run_group_tests_name("record", tests, NULL, NULL);
}
