/* niagara_trace_test.c: references from text: every form of a line, lines that are none, and pieces of any size. */
#include <stdio.h>

#include "machine/niagara_trace.h"
#include "machine/niagara_int.h"
#include "machine/niagara_test_int.h"

static struct rig r;

struct read {
	uint64_t refs[3], instructions, lines, skipped;
};

/* All of the text in pieces of `piece` bytes. */
static struct read read_in(uint8_t format, const char *text, size_t n, size_t piece)
{
	struct niagara_reader reader = { .format = format, .strand = 3 };
	struct read got;

	rig_open(&r, "batoka", 1, (struct niagara_opts){ 0 });
	for (size_t at = 0; at < n; at += piece)
		niagara_read(&reader, r.n, text + at, piece < n - at ? piece : n - at);
	got = (struct read){ { truth(&r)->refs[0], truth(&r)->refs[1], truth(&r)->refs[2] },
			     truth(&r)->instructions,
			     reader.lines,
			     reader.skipped };
	rig_close(&r);
	return got;
}

static void expect(uint8_t format, const char *line, uint32_t fetches, uint32_t loads, uint32_t stores)
{
	char text[400];
	int n = snprintf(text, sizeof(text), "%s\n", line);
	struct read got = read_in(format, text, (size_t)n, (size_t)n);

	if (got.refs[0] != fetches || got.refs[1] != loads || got.refs[2] != stores)
		fail_msg("'%s': %u %u %u", line, (unsigned)got.refs[0], (unsigned)got.refs[1], (unsigned)got.refs[2]);
	assert_int_equal(got.lines, 1);
	assert_int_equal(got.skipped, fetches + loads + stores == 0);
	assert_int_equal(got.instructions, fetches);
}

static void lackeys_lines_are_understood(void **state)
{
	(void)state;
	expect(NIAGARA_LACKEY, "I  04001000,3", 1, 0, 0);
	expect(NIAGARA_LACKEY, " L 1ffefffe7e,8", 0, 1, 0);
	expect(NIAGARA_LACKEY, " S 1ffefffe7E,16", 0, 0, 1);
	expect(NIAGARA_LACKEY, " M 0421c7cc,4", 0, 1, 1);
	expect(NIAGARA_LACKEY, "I  ffffffffffffffff,15\r", 1, 0, 0);
	expect(NIAGARA_LACKEY, " S 0,512", 0, 0, 1);
}

static void what_is_no_line_of_lackey_is_skipped(void **state)
{
	static const char *const lines[] = {
		"",
		" ",
		"==1234== Lackey, an example Valgrind tool",
		"==1234==",
		"I",
		"I  ",
		"I  ,3",
		"I  1000",
		"I  1000,",
		"I  1000,x",
		"I  1000,3x",
		"I  1000,3 4",
		"I  1000 ,3",
		"I1000,3",
		"X  1000,3",
		"i  1000,3",
		" L 10000000000000000,8",
		" L g,8",
		" L -1,8",
		" L 0x10,8",
		"I  1000,1234",
		"I  1000,-1",
		" L",
		" L ",
		" L 1000;8",
		"\xff\xfe",
		"0 1000",
	};

	(void)state;
	for (uint32_t i = 0; i < COUNT(lines); i++)
		expect(NIAGARA_LACKEY, lines[i], 0, 0, 0);
}

static void dinero_lines_are_understood(void **state)
{
	(void)state;
	expect(NIAGARA_DIN, "0 1000", 0, 1, 0);
	expect(NIAGARA_DIN, "1 7fffABCD", 0, 0, 1);
	expect(NIAGARA_DIN, "2 0", 1, 0, 0);
	expect(NIAGARA_DIN, "2\tffffffffffffffff 4 whatever", 1, 0, 0);
	expect(NIAGARA_DIN, "  0   10\r", 0, 1, 0);
}

static void what_is_no_line_of_dinero_is_skipped(void **state)
{
	static const char *const lines[] = { "",      "0",       "0 ",       "3 1000",   "4 0",
					     "-1 0",  "01 1000", "0 0x1000", "0 g",      "0 10000000000000000",
					     "0 12z", "a 1000",  "01000",    "I  1000,3" };

	(void)state;
	for (uint32_t i = 0; i < COUNT(lines); i++)
		expect(NIAGARA_DIN, lines[i], 0, 0, 0);
}

static void an_address_and_a_strand_are_what_the_line_and_the_reader_say(void **state)
{
	struct niagara_reader reader = { .format = NIAGARA_LACKEY, .strand = 64 };

	(void)state;
	rig_open(&r, "batoka", 2, (struct niagara_opts){ 0 });
	niagara_read(&reader, r.n, " S 7fc0,8\n", 10);
	assert_int_equal(truth(&r)->mcu_reads[0][1], 1); /* bit 12; and node 1 asked */
	assert_int_equal(truth(&r)->served[1], 1);
	assert_int_equal(truth(&r)->refs[NIAGARA_STORE], 1);
	assert_true(now_of(&r.n->strand[64].cycles) > 0);
	reader.strand = UINT16_MAX; /* no such strand: nothing happens */
	niagara_read(&reader, r.n, " S 7fc0,8\n", 10);
	assert_int_equal(truth(&r)->refs[NIAGARA_STORE], 1);
	rig_close(&r);
}

static const char sample[] =
	"==77== Command: ./x\n"
	"I  04001000,3\n"
	" L 1ffefffe7e,8\n"
	"\n"
	"I  0400100c,5\n"
	" M 1ffefffe70,4\r\n"
	"a line that is far too long for any reference, and that goes on and on and on, until it is longer than what a reader keeps "
	"of a line whose end has not come yet I  04001000,3\n"
	" S 1ffefffe60,8\n"
	"I  04001010,2"; /* without an end */

static void pieces_may_end_anywhere(void **state)
{
	const struct read whole = read_in(NIAGARA_LACKEY, sample, sizeof(sample) - 1, sizeof(sample));

	(void)state;
	assert_int_equal(whole.lines, 8);
	assert_int_equal(whole.skipped, 3);
	assert_int_equal(whole.refs[0], 2);
	assert_int_equal(whole.refs[1], 2);
	assert_int_equal(whole.refs[2], 2);
	for (size_t piece = 1; piece < sizeof(sample); piece++) {
		const struct read parts = read_in(NIAGARA_LACKEY, sample, sizeof(sample) - 1, piece);

		assert_memory_equal(&parts, &whole, sizeof(parts));
	}
}

/* The last line counts once its end comes. */
static void a_last_line_without_end_is_kept_until_one_comes(void **state)
{
	struct niagara_reader reader = { .format = NIAGARA_DIN };

	(void)state;
	rig_open(&r, "niagara", 1, (struct niagara_opts){ 0 });
	niagara_read(&reader, r.n, "2 10", 4);
	assert_int_equal(truth(&r)->refs[0], 0);
	niagara_read(&reader, r.n, "", 0);
	niagara_read(&reader, r.n, "00", 2);
	niagara_read(&reader, r.n, "\n", 1);
	assert_int_equal(truth(&r)->refs[0], 1);
	assert_int_equal(reader.lines, 1);
	rig_close(&r);
}

/* As long as a reader keeps, and one more; in one piece and in two the verdict is the same. */
static void a_line_may_be_as_long_as_the_reader_keeps(void **state)
{
	char text[256];

	(void)state;
	for (size_t len = 120; len < 140; len++) {
		const size_t most = sizeof(((struct niagara_reader *)0)->rest);
		struct read whole, parts;

		memset(text, ' ', sizeof(text));
		memcpy(text, "0 1000", 6);
		text[len] = '\n';
		whole = read_in(NIAGARA_DIN, text, len + 1, len + 1);
		parts = read_in(NIAGARA_DIN, text, len + 1, 7);
		assert_memory_equal(&parts, &whole, sizeof(parts));
		assert_int_equal(whole.refs[1], len <= most);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lackeys_lines_are_understood),
		cmocka_unit_test(what_is_no_line_of_lackey_is_skipped),
		cmocka_unit_test(dinero_lines_are_understood),
		cmocka_unit_test(what_is_no_line_of_dinero_is_skipped),
		cmocka_unit_test(an_address_and_a_strand_are_what_the_line_and_the_reader_say),
		cmocka_unit_test(pieces_may_end_anywhere),
		cmocka_unit_test(a_last_line_without_end_is_kept_until_one_comes),
		cmocka_unit_test(a_line_may_be_as_long_as_the_reader_keeps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
