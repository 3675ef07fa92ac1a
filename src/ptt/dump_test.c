/* dump_test.c: goldens of every form of text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "facts/tlp_field_value.h"
#include "ptt/dump.h"
#include "ptt/handmade_int.h"

#define BOTH(f) for (enum ptt_format f = PTT_4DW; f <= PTT_8DW; f += PTT_4DW)

static struct tlp decode(enum ptt_format f, const struct handmade *h)
{
	const struct ptt_decode_opts o = { .format = f, .time = PTT_TIME_ABS };
	struct ptt_clock c = { .now = 1000, .started = true };
	struct tlp t = { .offset = 64 };
	uint8_t p[32];

	handmade(p, f, h);
	ptt_decode(p, &o, &c, &t);
	return t;
}

static void expect(struct buf *b, const char *want)
{
	assert_false(b->failed);
	assert_string_equal(b->p, want);
	buf_clear(b);
}

static const struct line {
	enum ptt_format f;
	struct handmade h;
	const char *want;
} lines[] = {
	{ PTT_8DW,
	  { .fmt = 3, .length = 1, .dw1 = 0x01001e0f, .dw2 = 4, .dw3 = 0x02810040, .time = 2 },
	  "        1002 hisi_ptt0_2  MWr64        01:00.0   0x01e     1     4 f/0 0x402810040\n" },
	{ PTT_8DW,
	  { .fmt = 0,
	    .length = 0,
	    .dw1 = 0xff1f21ff,
	    .dw2 = 0x40001000,
	    .tag_high = 3,
	    .dw0 = 7u << 20 | 1 << 18 | 3 << 12 | 1 << 10 | 1 << 14 | 1 << 15 | 1 << 17 },
	  "        1000 hisi_ptt0_2  MRd32        ff:03.7   0x321  1024     - f/f 0x40001000"
	  " tc 7 ns ro ido translation request td ep ln\n" },
	{ PTT_4DW,
	  { .fmt = 2, .length = 2, .dw1 = 0x0100ab12, .dw2 = 0x1002, .th = 1, .so = 1 },
	  "        1000 hisi_ptt0_2  MWr32        01:00.0   0x0ab     2     2 2/1 0x1000 so th ph 2 st 0xab\n" },
	{ PTT_8DW,
	  { .fmt = 1, .length = 4, .dw1 = 0x0100010f, .prefix = 0x91312345, .dw0 = 3 << 10 },
	  "        1000 hisi_ptt0_2  MRd64        01:00.0   0x001     4     - f/0 0x0 at 3 (reserved)"
	  " prefix 0x91312345 pasid 0x12345 exec priv\n" },
	{ PTT_8DW,
	  { .fmt = 1, .length = 4, .dw1 = 0x0100010f, .prefix = 0x90550000 },
	  "        1000 hisi_ptt0_2  MRd64        01:00.0   0x001     4     - f/0 0x0 prefix 0x90550000 ExtTPH\n" },
	{ PTT_8DW,
	  { .fmt = 1, .length = 4, .dw1 = 0x0100010f, .prefix = 0x12345678 },
	  "        1000 hisi_ptt0_2  MRd64        01:00.0   0x001     4     - f/0 0x0 prefix 0x12345678 reserved\n" },
	{ PTT_4DW,
	  { .fmt = 2, .type = 4, .length = 1, .dw1 = 0x0000040f, .dw2 = 0x01080e54 },
	  "        1000 hisi_ptt0_2  CfgWr0       00:00.0   0x004     1     4 f/0 01:01.0 reg 0xe54\n" },
	{ PTT_4DW,
	  { .fmt = 0, .type = 2, .length = 1, .dw1 = 0x00000401, .dw2 = 0x3f8 },
	  "        1000 hisi_ptt0_2  IORd         00:00.0   0x004     1     - 1/0 0x3f8\n" },
	{ PTT_4DW,
	  { .fmt = 2, .type = 0x0a, .length = 2, .dw1 = 0x02000005, .dw2 = 0x01001e02 },
	  "        1000 hisi_ptt0_2  CplD         01:00.0   0x01e     2     5 -   SC from 02:00.0 byte count 5"
	  " lower address 0x2\n" },
	{ PTT_4DW,
	  { .fmt = 0, .type = 0x0a, .dw1 = 0x02007004, .dw2 = 0x01001e00 },
	  "        1000 hisi_ptt0_2  Cpl          01:00.0   0x01e     -     - -   reserved status 3 from 02:00.0"
	  " byte count 4 lower address 0x0 bcm\n" },
	{ PTT_4DW,
	  { .fmt = 1, .type = 0x10, .dw1 = 0x01000030 },
	  "        1000 hisi_ptt0_2  Msg          01:00.0   0x000     -     - -   ERR_COR code 0x30 to RC\n" },
	{ PTT_4DW,
	  { .fmt = 3, .type = 0x12, .length = 1, .dw1 = 0x0100007f, .dw2 = 0x02000001, .dw3 = 0x08000000 },
	  "        1000 hisi_ptt0_2  MsgD         01:00.0   0x000     1     4 -   Vendor_Defined_1 code 0x7f DRS"
	  " by ID 02:00.0 dw2 0x02000001 dw3 0x08000000\n" },
	{ PTT_4DW,
	  { .fmt = 1, .type = 0x16, .dw1 = 0x01000055 },
	  "        1000 hisi_ptt0_2  Msg          01:00.0   0x000     -     - -   reserved code 0x55 reserved"
	  " route 6\n" },
	{ PTT_4DW,
	  { .fmt = 3, .type = 0x1f, .length = 9, .dw1 = 1, .dw2 = 2, .dw3 = 3 },
	  "        1000 hisi_ptt0_2  reserved     -         -         9     - -   header fmt 3 type 0x1f"
	  " dw1 0x00000001 dw2 0x00000002 dw3 0x00000003\n" },
};

static void a_line_says_what_its_type_has(void **state)
{
	struct buf b = { 0 };

	(void)state;
	for (size_t i = 0; i < COUNT(lines); i++) {
		struct tlp t = decode(lines[i].f, &lines[i].h);
		ptt_dump_line(&b, &t, "hisi_ptt0_2");
		expect(&b, lines[i].want);
	}
	buf_free(&b);
}

/* The column of the header's words and of a line's fields. */
static void the_header_stands_over_its_columns(void **state)
{
	static const char *const column[] = { "DEVICE", "TYPE", "REQUESTER", "TAG", "BE ", "WHAT" };
	struct buf b = { 0 };

	(void)state;
	ptt_dump_line_header(&b);
	for (size_t i = 0; i < COUNT(column); i++) {
		size_t at = (size_t)(strstr(b.p, column[i]) - b.p);
		assert_true(lines[0].want[at - 1] == ' ' && lines[0].want[at] != ' ');
	}
	assert_int_equal(strstr(b.p, "BYTES") + 4 - b.p, strstr(lines[0].want, " 4 f/0") + 1 - lines[0].want);
	buf_free(&b);
}

static void a_name_from_a_file_cannot_break_a_line(void **state)
{
	struct tlp t = decode(PTT_4DW, &lines[10].h);
	struct buf b = { 0 };

	(void)state;
	ptt_dump_line(&b, &t, "\033[2Ja\nb0123456789012345678901234567890123456789");
	assert_non_null(strstr(b.p, " ?[2Ja?b"));
	assert_ptr_equal(strchr(b.p, '\n'), b.p + b.n - 1);
	buf_clear(&b);
	ptt_dump_json(&b, &t, "a\"\n");
	assert_non_null(strstr(b.p, "\"device_name\":\"a\\\"\\n\"}\n"));
	buf_clear(&b);
	ptt_dump_csv(&b, &t, "a\"b;c", ';');
	assert_non_null(strstr(b.p, ";\"a\"\"b;c\"\n"));
	buf_free(&b);
}

static void json_has_every_field_as_a_number(void **state)
{
	struct tlp t = decode(PTT_8DW, &lines[0].h);
	struct buf b = { 0 }, want = { 0 };

	(void)state;
	for (unsigned i = 0; i < tlp_nfields; i++)
		buf_printf(&want, "%s\"%s\":%llu", i == 0 ? "{" : ",", tlp_fields[i].name,
			   (unsigned long long)tlp_field_value(&tlp_fields[i], &t));
	buf_puts(&want, ",\"type_name\":\"MWr64\",\"requester_text\":\"01:00.0\",\"device_name\":\"d\"}\n");
	ptt_dump_json(&b, &t, "d");
	expect(&b, want.p);
	buf_free(&b);
	buf_free(&want);
}

static void csv_has_a_column_for_every_field(void **state)
{
	struct tlp t = decode(PTT_8DW, &lines[0].h);
	struct buf b = { 0 }, names = { 0 }, values = { 0 };

	(void)state;
	for (unsigned i = 0; i < tlp_nfields; i++) {
		buf_printf(&names, "%s,", tlp_fields[i].name);
		buf_printf(&values, "%llu,", (unsigned long long)tlp_field_value(&tlp_fields[i], &t));
	}
	buf_puts(&names, "type_name,requester_text,device_name\n");
	buf_puts(&values, "MWr64,01:00.0,d\n");
	ptt_dump_csv_header(&b, ',');
	expect(&b, names.p);
	ptt_dump_csv(&b, &t, "d", ',');
	expect(&b, values.p);
	buf_free(&b);
	buf_free(&names);
	buf_free(&values);
}

static void numbers_of_any_size_are_whole(void **state)
{
	struct buf b = { 0 };
	struct tlp t;

	(void)state;
	memset(&t, 0xff, sizeof(t));
	ptt_dump_line(&b, &t, "d");
	ptt_dump_json(&b, &t, "d");
	assert_non_null(strstr(b.p, "\"time\":18446744073709551615,"));
	ptt_dump_csv(&b, &t, "d", ',');
	buf_free(&b);
}

static void a_segment_stands_before_the_bus(void **state)
{
	char text[PTT_BDF_MOST];

	(void)state;
	ptt_bdf_text(text, 0, 0x0113);
	assert_string_equal(text, "01:02.3");
	ptt_bdf_text(text, 0x12, 0xffff);
	assert_string_equal(text, "0012:ff:1f.7");
}

/* ---- what perf prints ------------------------------------------------------------- */
#define PAD "                                 "

static void perf_text_of_4dw_is_that_of_perf(void **state)
{
	uint8_t p[32], *end = p;
	struct buf b = { 0 };

	(void)state;
	end = handmade(end, PTT_4DW,
		       &(struct handmade){
			       .fmt = 3, .length = 64, .time = 2, .dw1 = 0x010135ff, .dw2 = 0x4, .dw3 = 0x78e51000 });
	handmade(end, PTT_4DW,
		 &(struct handmade){ .fmt = 3,
				     .type = 0x1f,
				     .length = 0x3ff,
				     .time = 0x7ff,
				     .tag_high = 3,
				     .th = 1,
				     .so = 1,
				     .dw1 = 0xa5 });
	const struct ptt_chunk c = { .p = p, .n = 32, .format = PTT_4DW, .first = true, .total = 0x100009 };
	ptt_dump_perf(&b, &c, false);
	expect(&b, ". ... HISI PTT data: size 1048576 bytes\n"
		   ".  00000000: c0 02 00 02" PAD "Format 3 Type 0 T9 0 T8 0 TH 0 SO 0 Length 40 Time 2\n"
		   ".  00000004: 01 01 35 ff" PAD "Header DW1\n"
		   ".  00000008: 00 00 00 04" PAD "Header DW2\n"
		   ".  0000000c: 78 e5 10 00" PAD "Header DW3\n"
		   ".  00000010: ff ff ff ff" PAD "Format 3 Type 1f T9 1 T8 1 TH 1 SO 1 Length 3ff Time 7ff\n"
		   ".  00000014: 00 00 00 a5" PAD "Header DW1\n"
		   ".  00000018: 00 00 00 00" PAD "Header DW2\n"
		   ".  0000001c: 00 00 00 00" PAD "Header DW3\n");
	buf_free(&b);
}

static void perf_text_of_8dw_is_that_of_perf(void **state)
{
	struct buf b = { 0 };
	uint8_t p[32];

	(void)state;
	handmade(p, PTT_8DW,
		 &(struct handmade){ .fmt = 3,
				     .length = 64,
				     .dw1 = 0x010135ff,
				     .dw2 = 4,
				     .dw3 = 0x78e51000,
				     .prefix = 0x910b3fa7,
				     .time = 0xffff0002 });
	const struct ptt_chunk c = { .p = p, .n = 32, .format = PTT_8DW, .at = 0x12345660, .total = 999 };
	ptt_dump_perf(&b, &c, false);
	expect(&b, ".  12345664: 91 0b 3f a7" PAD "Prefix\n"
		   ".  12345668: 60 00 00 40" PAD "Header DW0\n"
		   ".  1234566c: 01 01 35 ff" PAD "Header DW1\n"
		   ".  12345670: 00 00 00 04" PAD "Header DW2\n"
		   ".  12345674: 78 e5 10 00" PAD "Header DW3\n"
		   ".  1234567c: ff ff 00 02" PAD "Time\n");
	buf_free(&b);
}

static void spec_text_is_that_of_the_manual(void **state)
{
	struct handmade h = { .fmt = 3, .length = 1, .dw1 = 0x01001e0f, .dw2 = 4, .dw3 = 0x02810040 };
	struct buf b = { 0 };
	uint8_t p[64];

	(void)state;
	h.time = 0x4c033;
	handmade(p, PTT_8DW, &h);
	h.time = 2;
	handmade(p + 32, PTT_8DW, &h);
	const struct ptt_chunk c = { .p = p, .n = 64, .format = PTT_8DW, .first = true, .total = 4194304 };
	ptt_dump_perf(&b, &c, true);
	expect(&b, ". ... HISI PTT data: size 4194304 bytes\n"
		   ".  00000000: 00 00 00 00" PAD "Prefix\n"
		   ".  00000004: 01 00 00 60" PAD "Header DW0\n"
		   ".  00000008: 0f 1e 00 01" PAD "Header DW1\n"
		   ".  0000000c: 04 00 00 00" PAD "Header DW2\n"
		   ".  00000010: 40 00 81 02" PAD "Header DW3\n"
		   ".  00000014: 33 c0 04 00" PAD "Time\n"
		   ".  00000020: 00 00 00 00" PAD "Prefix\n"
		   ".  00000024: 01 00 00 60" PAD "Header DW0\n"
		   ".  00000028: 0f 1e 00 01" PAD "Header DW1\n"
		   ".  0000002c: 04 00 00 00" PAD "Header DW2\n"
		   ".  00000030: 40 00 81 02" PAD "Header DW3\n"
		   ".  00000034: 02 00 00 00" PAD "Time\n");
	buf_free(&b);
}

static void spec_text_of_4dw_has_the_bytes_of_memory(void **state)
{
	struct buf b = { 0 };
	uint8_t p[16];

	(void)state;
	handmade(p, PTT_4DW, &(struct handmade){ .fmt = 3, .length = 64, .time = 2, .dw1 = 0x010135ff });
	const struct ptt_chunk c = { .p = p, .n = 16, .format = PTT_4DW };
	ptt_dump_perf(&b, &c, true);
	expect(&b, ".  00000000: 02 00 02 c0" PAD "Format 3 Type 0 T9 0 T8 0 TH 0 SO 0 Length 40 Time 2\n"
		   ".  00000004: ff 35 01 01" PAD "Header DW1\n"
		   ".  00000008: 00 00 00 00" PAD "Header DW2\n"
		   ".  0000000c: 00 00 00 00" PAD "Header DW3\n");
	buf_free(&b);
}

/* The block in which lines are collected is left many times. */
static void a_long_chunk_is_printed_to_its_end(void **state)
{
	enum { RECORDS = 3000 };
	uint8_t *p = mem_alloc(RECORDS * 32);
	struct buf b = { 0 };

	(void)state;
	assert_non_null(p);
	BOTH(f)
	{
		size_t lines_of = f == PTT_8DW ? 6 : 4, seen = 0;
		const struct ptt_chunk c = { .p = p, .n = RECORDS * 4 * f + 7, .format = f };
		ptt_dump_perf(&b, &c, false);
		for (size_t i = 0; i < b.n; i++)
			seen += b.p[i] == '\n';
		assert_int_equal(seen, RECORDS * lines_of);
		assert_int_equal(strlen(b.p), b.n);
		buf_clear(&b);
	}
	buf_free(&b);
	mem_free(p);
}

static void memory_that_runs_out_is_remembered(void **state)
{
	struct tlp t = decode(PTT_8DW, &lines[0].h);
	const uint8_t p[64] = { 0 };
	const struct ptt_chunk c = { .p = p, .n = 64, .format = PTT_8DW, .first = true };
	const long before = mem_live();

	(void)state;
	for (long n = 1;; n++) {
		struct buf b = { 0 };
		mem_fail_at(n);
		ptt_dump_line(&b, &t, "d");
		ptt_dump_json(&b, &t, "d");
		ptt_dump_csv_header(&b, ',');
		ptt_dump_csv(&b, &t, "a,b", ',');
		ptt_dump_perf(&b, &c, false);
		bool failed = mem_failed();
		assert_int_equal(b.failed, failed);
		buf_free(&b);
		assert_int_equal(mem_live(), before);
		if (!failed)
			break;
	}
	mem_fail_at(0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_line_says_what_its_type_has),
		cmocka_unit_test(the_header_stands_over_its_columns),
		cmocka_unit_test(a_name_from_a_file_cannot_break_a_line),
		cmocka_unit_test(json_has_every_field_as_a_number),
		cmocka_unit_test(csv_has_a_column_for_every_field),
		cmocka_unit_test(numbers_of_any_size_are_whole),
		cmocka_unit_test(a_segment_stands_before_the_bus),
		cmocka_unit_test(perf_text_of_4dw_is_that_of_perf),
		cmocka_unit_test(perf_text_of_8dw_is_that_of_perf),
		cmocka_unit_test(spec_text_is_that_of_the_manual),
		cmocka_unit_test(spec_text_of_4dw_has_the_bytes_of_memory),
		cmocka_unit_test(a_long_chunk_is_printed_to_its_end),
		cmocka_unit_test(memory_that_runs_out_is_remembered),
	};
	return cmocka_run_group_tests_name("ptt: dump", tests, NULL, NULL);
}
