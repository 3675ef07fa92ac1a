/*
 * watch_test.c: each invariant of a trace at the last record that it holds for, and at the first that breaks it, with
 * the words.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "ptt/handmade_int.h"
#include "ptt/watch.h"

#define WHO (0x0113u << 16) /* 01:02.3 */
/* Fmt, Type, length, time, DW1 to DW3. */
#define H(a, b, c, d, e, f, g)                                                            \
	{                                                                                 \
		.fmt = a, .type = b, .length = c, .time = d, .dw1 = e, .dw2 = f, .dw3 = g \
	}
#define ROW(...)                              \
	{                                     \
		.line = __LINE__, __VA_ARGS__ \
	}

/* All that an event can select. */
static const struct ptt_watched all_8dw = {
	.name = "t", .ask = { .direction = 2, .type = 7, .format = 1 }, .is_asked = true, .time = PTT_TIME_ABS
};

static struct ptt_watch *watch_of(const struct ptt_watched *t)
{
	struct ptt_watch *w = NULL;
	struct err e = { 0 };

	assert_int_equal(ptt_watch_open(&w, &e), 0);
	ptt_watch_begin(w, 3, t);
	return w;
}

static void watch_one(struct ptt_watch *w, enum ptt_format format, const struct handmade *h, uint64_t offset)
{
	uint8_t p[32];

	handmade(p, format, h);
	ptt_watch_records(w, 3, (uint8_t)format, p, format * 4u, offset);
}

/* words NULL: it holds. Words that begin with "? " are those of an invariant that is unknown. */
static void is_so(const struct ptt_watch *w, enum ptt_invariant of, const char *words, int line)
{
	struct err e = { 0 };
	const enum ptt_verdict is = ptt_watch_invariant(w, of, &e);
	const bool unknown = words && words[0] == '?';
	const enum ptt_verdict want = !words ? PTT_HOLDS : unknown ? PTT_UNKNOWN : PTT_BROKEN;

	if (is != want || (words && strcmp(e.text, words + 2 * unknown) != 0))
		fail_msg("row of line %d: %s is %s: %s", line, ptt_invariants[of].name,
			 is == PTT_HOLDS  ? "held" :
			 is == PTT_BROKEN ? "broken" :
					    "unknown",
			 e.text);
	if (is == PTT_BROKEN)
		assert_int_equal(e.code, TALLY_ESTATE);
	if (is == PTT_UNKNOWN)
		assert_int_equal(e.code, TALLY_ENOTSUP);
}

/* ---- what nobody tells ------------------------------------------------------------------------------ */

static void without_evidence_an_invariant_is_unknown_and_says_what_lacks(void **state)
{
	static const struct {
		enum ptt_invariant of;
		const char *words;
	} want[] = {
		{ PTT_INVARIANT_records_have_markers, "? there is no record of 8DW" },
		{ PTT_INVARIANT_types_exist, "? there is no such packet" },
		{ PTT_INVARIANT_only_what_was_selected, "? nothing tells what was selected" },
		{ PTT_INVARIANT_lengths_fit_types, "? there is no such packet" },
		{ PTT_INVARIANT_enables_fit_lengths, "? there is no such packet" },
		{ PTT_INVARIANT_addresses_fit_pages, "? there is no such packet" },
		{ PTT_INVARIANT_completions_end_at_boundaries, "? there is no such packet" },
		{ PTT_INVARIANT_times_in_order, "? nothing tells what Time counts from" },
		{ PTT_INVARIANT_times_within_span, "? nothing tells how long the trace took" },
		{ PTT_INVARIANT_answers_within_requests,
		  "? no trace has enough requests together with their completions" },
		{ PTT_INVARIANT_reads_get_what_they_ask,
		  "? no trace has enough reads together with their completions" },
		{ PTT_INVARIANT_byte_counts_fall, "? no trace has enough reads together with their completions" },
		{ PTT_INVARIANT_completions_go_on, "? no trace has enough reads together with their completions" },
		{ PTT_INVARIANT_packets_are_the_links, "? nothing tells what the link carried" },
		{ PTT_INVARIANT_bytes_are_the_links, "? nothing tells what the link carried" },
		{ PTT_INVARIANT_tunables_in_range, "? nothing tells the tunables" },
	};
	struct ptt_watch *w = watch_of(&all_8dw);

	(void)state;
	static_assert(COUNT(want) == PTT_INVARIANT_COUNT, "each of them");
	for (uint32_t i = 0; i < COUNT(want); i++)
		is_so(w, want[i].of, want[i].words, (int)i);
	assert_int_equal(ptt_watch_seen(w), 0);
	ptt_watch_close(w);
	ptt_watch_close(NULL);
}

static void every_failing_allocation_is_told(void **state)
{
	(void)state;
	for (long n = 1;; n++) {
		const long live = mem_live();
		struct ptt_watch *w = NULL;
		struct err e = { 0 };
		int rc;

		mem_fail_at(n);
		rc = ptt_watch_open(&w, &e);
		const bool failed = mem_failed();
		mem_fail_at(0);
		if (!failed) {
			assert_int_equal(rc, 0);
			ptt_watch_close(w);
			assert_int_equal(mem_live(), live);
			assert_true(n > 1);
			return;
		}
		assert_int_equal(rc, -TALLY_ENOMEM);
		assert_null(w);
		assert_string_equal(e.text, "out of memory");
		assert_int_equal(mem_live(), live);
	}
}

/* ---- a record alone ----------------------------------------------------------------------------------- */

enum { RD = 0x00, RDLK = 0x01, IO = 0x02, CFG0 = 0x04, CFG1 = 0x05, CPL = 0x0a, ADD = 0x0c, SWAP = 0x0d, CAS = 0x0e };
#define NO_SUCH "? there is no such packet"

struct record_row {
	int line;
	struct handmade h;
	const char *words;
};

static void rows_are_so(enum ptt_invariant of, const struct record_row *row, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct ptt_watch *w = watch_of(&all_8dw);

		watch_one(w, PTT_8DW, &row[i].h, 0x40);
		is_so(w, of, row[i].words, row[i].line);
		assert_int_equal(ptt_watch_seen(w), 1);
		ptt_watch_close(w);
	}
}

static void a_type_that_there_is_not_breaks_an_invariant_and_checks_no_other(void **state)
{
	static const struct record_row row[] = {
		ROW(.h = H(0, RD, 1, 0, 0xf, 0, 0)),
		ROW(.h = H(1, 0x10, 0, 0, 0x20, 0, 0)),
		ROW(.h = H(3, 0x1f, 1, 0, 0, 0, 0), .words = "t, record at 0x40: Fmt 3, Type 0x1f are reserved"),
		ROW(.h = H(4, 0x11, 1, 0, 0, 0, 0), .words = "t, record at 0x40: Fmt 4, Type 0x11 are reserved"),
	};
	struct ptt_watch *w = watch_of(&all_8dw);

	(void)state;
	rows_are_so(PTT_INVARIANT_types_exist, row, COUNT(row));
	watch_one(w, PTT_8DW, &row[2].h, 0);
	is_so(w, PTT_INVARIANT_only_what_was_selected, "? nothing tells what was selected", __LINE__);
	is_so(w, PTT_INVARIANT_lengths_fit_types, NO_SUCH, __LINE__);
	is_so(w, PTT_INVARIANT_enables_fit_lengths, NO_SUCH, __LINE__);
	ptt_watch_close(w);
}

static void a_length_is_one_that_the_type_may_have(void **state)
{
#define BROKEN(text) .words = "t, record at 0x40: " text
	static const struct record_row row[] = {
		ROW(.h = H(0, IO, 1, 0, 0xf, 0, 0)),
		ROW(.h = H(0, IO, 2, 0, 0xff, 0, 0), BROKEN("IORd of 2 DWs; it has one")),
		ROW(.h = H(2, IO, 2, 0, 0xff, 0, 0), BROKEN("IOWr of 2 DWs; it has one")),
		ROW(.h = H(0, CFG0, 1, 0, 0xf, 0, 0)),
		ROW(.h = H(0, CFG0, 2, 0, 0xff, 0, 0), BROKEN("CfgRd0 of 2 DWs; it has one")),
		ROW(.h = H(2, CFG1, 0, 0, 0xff, 0, 0), BROKEN("CfgWr1 of 1024 DWs; it has one")),
		ROW(.h = H(2, ADD, 1, 0, 0, 0, 0)),
		ROW(.h = H(2, ADD, 2, 0, 0, 0, 0)),
		ROW(.h = H(2, ADD, 3, 0, 0, 0, 0), BROKEN("FetchAdd32 of 3 DWs")),
		ROW(.h = H(2, ADD, 4, 0, 0, 0, 0), BROKEN("FetchAdd32 of 4 DWs")),
		ROW(.h = H(3, ADD, 4, 0, 0, 1, 0), BROKEN("FetchAdd64 of 4 DWs")),
		ROW(.h = H(2, SWAP, 2, 0, 0, 0, 0)),
		ROW(.h = H(2, SWAP, 4, 0, 0, 0, 0), BROKEN("Swap32 of 4 DWs")),
		ROW(.h = H(3, SWAP, 8, 0, 0, 1, 0), BROKEN("Swap64 of 8 DWs")),
		ROW(.h = H(2, CAS, 1, 0, 0, 0, 0), BROKEN("CAS32 of 1 DWs")),
		ROW(.h = H(2, CAS, 2, 0, 0, 0, 0)),
		ROW(.h = H(2, CAS, 4, 0, 0, 0, 0)),
		ROW(.h = H(2, CAS, 3, 0, 0, 0, 0), BROKEN("CAS32 of 3 DWs")),
		ROW(.h = H(2, CAS, 5, 0, 0, 0, 0), BROKEN("CAS32 of 5 DWs")),
		ROW(.h = H(2, CAS, 6, 0, 0, 0, 0), BROKEN("CAS32 of 6 DWs")),
		ROW(.h = H(2, CAS, 8, 0, 0, 0, 0)),
		ROW(.h = H(2, CAS, 9, 0, 0, 0, 0), BROKEN("CAS32 of 9 DWs")),
		ROW(.h = H(2, CAS, 16, 0, 0, 0, 0), BROKEN("CAS32 of 16 DWs")),
		ROW(.h = H(3, CAS, 8, 0, 0, 1, 0)),
		ROW(.h = H(3, CAS, 10, 0, 0, 1, 0), BROKEN("CAS64 of 10 DWs")),
		ROW(.h = H(0, CPL, 0, 0, 1 << 13 | 4, WHO, 0)),
		ROW(.h = H(2, CPL, 1, 0, 1 << 13 | 4, WHO, 0), BROKEN("CplD with status 1 has data")),
		ROW(.h = H(2, CPL, 1, 0, 4 << 13 | 4, WHO, 0), BROKEN("CplD with status 4 has data")),
		ROW(.h = H(2, CPL, 1, 0, 4, WHO, 0), .words = NO_SUCH),
		ROW(.h = H(0, RD, 3, 0, 0xff, 0, 0), .words = NO_SUCH),
		ROW(.h = H(3, 0x10, 3, 0, 0x20, 0, 0), .words = NO_SUCH),
	};

	(void)state;
	rows_are_so(PTT_INVARIANT_lengths_fit_types, row, COUNT(row));
}

static void byte_enables_fit_the_length(void **state)
{
	static const struct record_row row[] = {
		ROW(.h = H(0, RD, 1, 0, 0x0f, 0, 0)),
		ROW(.h = H(0, RD, 1, 0, 0x00, 0, 0)),
		ROW(.h = H(0, RD, 1, 0, 0x05, 0, 0)),
		ROW(.h = H(0, RD, 1, 0, 0x1f, 0, 0), BROKEN("MRd32 of one DW enables bytes 1 of a last")),
		ROW(.h = H(3, RD, 1, 0, 0x80, 1, 0), BROKEN("MWr64 of one DW enables bytes 8 of a last")),
		ROW(.h = H(2, RD, 2, 0, 0xff, 0, 4)),
		ROW(.h = H(2, RD, 2, 0, 0xf0, 0, 0),
		    BROKEN("MWr32 of 2 DWs enables bytes 0 of the first, f of the last")),
		ROW(.h = H(2, RD, 2, 0, 0x0f, 0, 0),
		    BROKEN("MWr32 of 2 DWs enables bytes f of the first, 0 of the last")),
		ROW(.h = H(2, RD, 2, 0, 0xa5, 0x1008, 0)),
		ROW(.h = H(2, RD, 2, 0, 0xa5, 0x1004, 0),
		    BROKEN("MWr32 of 2 DWs enables bytes 5 of the first, a of the last")),
		ROW(.h = H(2, RD, 3, 0, 0xa5, 0x1008, 0),
		    BROKEN("MWr32 of 3 DWs enables bytes 5 of the first, a of the last")),
		ROW(.h = H(2, IO, 1, 0, 0x1f, 0, 0), BROKEN("IOWr of one DW enables bytes 1 of a last")),
		ROW(.h = H(0, CFG0, 1, 0, 0x2f, 0, 0), BROKEN("CfgRd0 of one DW enables bytes 2 of a last")),
		ROW(.h = H(2, ADD, 1, 0, 0x1f, 0, 0), .words = NO_SUCH),
		ROW(.h = H(3, CAS, 2, 0, 0x0f, 1, 0), .words = NO_SUCH),
		ROW(.h = H(2, CPL, 1, 0, 4, WHO, 0), .words = NO_SUCH),
		ROW(.h = H(1, 0x10, 0, 0, 0x20, 0, 0), .words = NO_SUCH),
	};

	(void)state;
	rows_are_so(PTT_INVARIANT_enables_fit_lengths, row, COUNT(row));
}

/* Of 3 DWs, first to last enabled byte: the first DW ends with its last byte, the last begins with its first. */
static void enabled_bytes_are_contiguous(void **state)
{
	static const uint16_t firsts = 1 << 0xf | 1 << 0xe | 1 << 0xc | 1 << 8;
	static const uint16_t lasts = 1 << 0xf | 1 << 7 | 1 << 3 | 1 << 1;

	(void)state;
	for (uint32_t enables = 0; enables < 256; enables++) {
		struct ptt_watch *w = watch_of(&all_8dw);
		const struct handmade h = H(0, RD, 3, 0, enables, 0x1000, 0);
		struct err e;
		const bool holds = (firsts >> (enables & 0xf) & 1) && (lasts >> (enables >> 4) & 1);

		watch_one(w, PTT_8DW, &h, 0);
		if ((ptt_watch_invariant(w, PTT_INVARIANT_enables_fit_lengths, &e) == PTT_HOLDS) != holds)
			fail_msg("byte enables 0x%02x", enables);
		ptt_watch_close(w);
	}
}

static void a_request_stays_within_its_page_and_has_the_shorter_address(void **state)
{
	static const struct record_row row[] = {
		ROW(.h = H(0, RD, 4, 0, 0xff, 0xff0, 0)),
		ROW(.h = H(0, RD, 4, 0, 0xff, 0xff4, 0), BROKEN("MRd32 of 4 DWs at 0xff4 goes beyond 4 KB")),
		ROW(.h = H(2, RD, 0, 0, 0xff, 0x3000, 0)),
		ROW(.h = H(2, RD, 0, 0, 0xff, 0x3004, 0), BROKEN("MWr32 of 1024 DWs at 0x3004 goes beyond 4 KB")),
		ROW(.h = H(2, ADD, 2, 0, 0, 0xffc, 0), BROKEN("FetchAdd32 of 2 DWs at 0xffc goes beyond 4 KB")),
		ROW(.h = H(1, RD, 1, 0, 0xf, 1, 0x1ffc)),
		ROW(.h = H(1, RD, 2, 0, 0xff, 1, 0x1ffc), BROKEN("MRd64 of 2 DWs at 0x100001ffc goes beyond 4 KB")),
		ROW(.h = H(1, RD, 1, 0, 0xf, 0, 0xfffffffc), BROKEN("MRd64 at 0xfffffffc, which has 32 bits")),
		ROW(.h = H(0, IO, 1, 0, 0xf, 0xffc, 0), .words = NO_SUCH),
		ROW(.h = H(2, CPL, 1, 0, 4, WHO, 0), .words = NO_SUCH),
	};

	(void)state;
	rows_are_so(PTT_INVARIANT_addresses_fit_pages, row, COUNT(row));
}

static void a_completion_ends_with_its_read_or_at_a_boundary(void **state)
{
	static const struct record_row row[] = {
		ROW(.h = H(2, CPL, 1, 0, 4, WHO, 0)),
		ROW(.h = H(2, CPL, 1, 0, 1, WHO, 0)),
		ROW(.h = H(2, CPL, 2, 0, 5, WHO, 0)),
		ROW(.h = H(2, CPL, 2, 0, 4, WHO, 0), BROKEN("2 DWs for the last 4 bytes")),
		ROW(.h = H(2, CPL, 1, 0, 1, WHO | 3, 0)),
		ROW(.h = H(2, CPL, 2, 0, 4, WHO | 1, 0)),
		ROW(.h = H(2, CPL, 2, 0, 3, WHO | 1, 0), BROKEN("2 DWs for the last 3 bytes")),
		ROW(.h = H(2, CPL, 16, 0, 128, WHO | 0x40, 0)),
		ROW(.h = H(2, CPL, 8, 0, 33, WHO | 0x20, 0)),
		ROW(.h = H(2, CPL, 8, 0, 128, WHO | 0x21, 0)),
		ROW(.h = H(2, CPL, 9, 0, 37, WHO | 0x20, 0), BROKEN("36 of 37 bytes from lower address 0x20 on")),
		ROW(.h = H(2, CPL, 8, 0, 128, WHO | 0x10, 0), BROKEN("32 of 128 bytes from lower address 0x10 on")),
		ROW(.h = H(2, CPL, 8, 0, 1 << 12 | 128, WHO | 0x10, 0), .words = NO_SUCH), /* BCM: who knows */
		ROW(.h = H(2, CPL, 2, 0, 1 << 13 | 4, WHO, 0), .words = NO_SUCH),
		ROW(.h = H(0, CPL, 0, 0, 128, WHO | 0x10, 0), .words = NO_SUCH),
		ROW(.h = H(0, RD, 1, 0, 0xf, 0, 0), .words = NO_SUCH),
	};

	(void)state;
	rows_are_so(PTT_INVARIANT_completions_end_at_boundaries, row, COUNT(row));
}
#undef BROKEN

static void a_record_of_8dw_has_its_marker_and_a_word_of_0(void **state)
{
	static const struct {
		int line;
		uint32_t dw0, dw6;
		const char *words;
	} row[] = {
		ROW(.dw0 = UINT32_MAX),
		ROW(.dw0 = 0x7fffffff, .words = "t, record at 0x40: DW0 is 0x7fffffff"),
		ROW(.dw0 = UINT32_MAX, .dw6 = 1, .words = "t, record at 0x40: DW6 is 0x00000001"),
	};
	const struct handmade h = H(0, RD, 1, 0, 0xf, 0, 0);

	(void)state;
	for (size_t i = 0; i < COUNT(row); i++) {
		struct ptt_watch *w = watch_of(&all_8dw);
		uint8_t p[64] = { 0 };

		handmade(p + 32, PTT_8DW, &h);
		handmade_dw(p + 32, row[i].dw0);
		handmade_dw(p + 56, row[i].dw6);
		ptt_watch_records(w, 3, PTT_8DW, p, sizeof(p), 0x20); /* the first one is padding */
		is_so(w, PTT_INVARIANT_records_have_markers, row[i].words, row[i].line);
		assert_int_equal(ptt_watch_seen(w), 1);
		ptt_watch_close(w);
	}
}

/* ---- what was selected -------------------------------------------------------------------------------- */

static void a_trace_holds_what_was_selected(void **state)
{
	static const struct handmade of[] = { H(2, RD, 1, 0, 0xf, 0, 0), H(0, RD, 1, 0, 0xf, 0, 0),
					      H(2, CPL, 1, 0, 4, WHO, 0) };
	static const char *const names[] = { "MWr32", "MRd32", "CplD" };

	(void)state;
	for (uint32_t direction = 0; direction < 4; direction++)
		for (uint32_t type = 0; type < 8; type++)
			for (uint32_t format = 0; format < 2; format++)
				for (uint32_t k = 0; k < 3; k++) {
					struct ptt_watched t = all_8dw;
					char words[80];

					t.ask.direction = (uint8_t)direction;
					t.ask.type = (uint8_t)type;
					t.ask.format = (uint8_t)format;
					struct ptt_watch *w = watch_of(&t);
					/* 8DW of direction 3 has completions alone */
					const bool is = (type >> k & 1) && (direction < 3 || format == 0 || k == 2);

					snprintf(words, sizeof(words), "t, record at 0x0: %s, which was not selected",
						 names[k]);
					watch_one(w, format ? PTT_8DW : PTT_4DW, &of[k], 0);
					is_so(w, PTT_INVARIANT_only_what_was_selected, is ? NULL : words,
					      (int)(direction << 8 | type << 4 | format));
					ptt_watch_close(w);
				}
}

static void where_nobody_knows_the_event_no_packet_is_one_too_many(void **state)
{
	const struct handmade h = H(0, RD, 1, 0, 0xf, 0, 0);
	struct ptt_watched t = all_8dw;

	(void)state;
	t.is_asked = false;
	t.ask.type = 0;
	struct ptt_watch *w = watch_of(&t);
	watch_one(w, PTT_8DW, &h, 0);
	is_so(w, PTT_INVARIANT_only_what_was_selected, "? nothing tells what was selected", __LINE__);
	is_so(w, PTT_INVARIANT_types_exist, NULL, __LINE__);
	ptt_watch_close(w);
}

/* ---- time ----------------------------------------------------------------------------------------------- */

static void watch_times(struct ptt_watch *w, enum ptt_format format, uint32_t first, uint32_t second)
{
	const struct handmade a = H(0, RD, 1, first, WHO | 0xf, 0, 0),
			      b = H(0, RD, 1, second, WHO | 1 << 8 | 0xf, 0, 0);

	watch_one(w, format, &a, 0);
	watch_one(w, format, &b, 0x20);
}

static void records_come_in_the_order_of_their_times(void **state)
{
	static const struct {
		int line;
		uint32_t time, first, second;
		enum ptt_format format;
		const char *words;
	} row[] = {
		ROW(PTT_TIME_ABS, 10, 10, PTT_8DW),
		ROW(PTT_TIME_ABS, 10, 11, PTT_8DW),
		ROW(PTT_TIME_ABS, 10, 9, PTT_8DW, "t, record at 0x20: Time is 9 behind 10"),
		ROW(PTT_TIME_ABS, UINT32_MAX, 0, PTT_8DW),
		ROW(PTT_TIME_ABS, 0, INT32_MAX, PTT_8DW),
		ROW(PTT_TIME_ABS, 0, 1u << 31, PTT_8DW, "t, record at 0x20: Time is 2147483648 behind 0"),
		ROW(PTT_TIME_DELTA, 10, 9, PTT_8DW, "? nothing tells what Time counts from"),
		ROW(PTT_TIME_AUTO, 10, 9, PTT_8DW, "? nothing tells what Time counts from"),
		ROW(PTT_TIME_ABS, 10, 9, PTT_4DW, "? nothing tells what Time counts from"),
	};

	(void)state;
	for (size_t i = 0; i < COUNT(row); i++) {
		struct ptt_watched t = all_8dw;

		t.time = (uint8_t)row[i].time;
		struct ptt_watch *w = watch_of(&t);
		watch_times(w, row[i].format, row[i].first, row[i].second);
		is_so(w, PTT_INVARIANT_times_in_order, row[i].words, row[i].line);
		ptt_watch_close(w);
	}
}

static void behind_a_gap_time_may_go_back(void **state)
{
	const struct handmade a = H(0, RD, 1, 10, WHO | 0xf, 0, 0), b = H(0, RD, 1, 9, WHO | 0xf, 0, 0);
	const struct ptt_gap gap = { .why = PTT_GAP_OFFSETS };
	struct ptt_watch *w = watch_of(&all_8dw);

	(void)state;
	watch_one(w, PTT_8DW, &a, 0);
	ptt_watch_gap(w, 3, &gap);
	watch_one(w, PTT_8DW, &b, 0x20);
	is_so(w, PTT_INVARIANT_times_in_order, "? nothing tells what Time counts from", __LINE__);
	ptt_watch_close(w);
}

static void a_trace_spans_no_more_time_than_it_took(void **state)
{
	struct ptt_link at[4] = { { .ns = 1000 }, { .ns = 1001 }, { .ns = 1099 }, { .ns = 1100 } };

	(void)state;
	for (uint32_t ticks = 0; ticks < 103; ticks++) {
		struct ptt_watch *w = watch_of(&all_8dw);
		char words[80];

		snprintf(words, sizeof(words), "t, record at 0x20: %u ticks in 100 ns", ticks);
		watch_times(w, PTT_8DW, UINT32_MAX - 50, UINT32_MAX - 50 + ticks);
		ptt_watch_link(w, 3, at);
		is_so(w, PTT_INVARIANT_times_within_span,
		      ticks == 0  ? "? nothing tells how long the trace took" :
		      ticks > 100 ? words :
				    NULL,
		      (int)ticks);
		ptt_watch_close(w);
	}
}

/* ---- requests and completions --------------------------------------------------------------------------- */

static struct handmade read_of(uint32_t tag, uint32_t dws, uint32_t address)
{
	return (struct handmade)H(0, RD, dws, 0, WHO | tag << 8 | (dws > 1 ? 0xff : 0xf), address, 0);
}

static struct handmade answer_of(uint32_t tag, uint32_t dws, uint32_t byte_count, uint32_t lower)
{
	return (struct handmade)H(2, CPL, dws, 0, byte_count & 0xfff, WHO | tag << 8 | lower, 0);
}

static void watch_all(struct ptt_watch *w, enum ptt_format format, const struct handmade *h, size_t n)
{
	for (size_t i = 0; i < n; i++)
		watch_one(w, format, &h[i], 0x20 * i);
}

#define AGAIN "t, record at 0x40: a completion for requester 01:02.3, tag 0x5, which was answered before"

static void a_request_is_answered_once(void **state)
{
	const struct handmade h[] = { read_of(5, 1, 0), answer_of(5, 1, 4, 0), answer_of(5, 1, 4, 0) };
	const struct handmade failed[] = { read_of(5, 1, 0), H(0, CPL, 0, 0, 1 << 13 | 4, WHO | 5 << 8, 0),
					   H(0, CPL, 0, 0, 1 << 13 | 4, WHO | 5 << 8, 0) };
	struct ptt_watch *w = watch_of(&all_8dw);

	(void)state;
	watch_all(w, PTT_8DW, h, 2);
	is_so(w, PTT_INVARIANT_answers_within_requests, NULL, __LINE__);
	is_so(w, PTT_INVARIANT_reads_get_what_they_ask, NULL, __LINE__);
	is_so(w, PTT_INVARIANT_byte_counts_fall, NULL, __LINE__);
	is_so(w, PTT_INVARIANT_completions_go_on, NULL, __LINE__);
	watch_one(w, PTT_8DW, &h[2], 0x40);
	is_so(w, PTT_INVARIANT_answers_within_requests, AGAIN, __LINE__);
	is_so(w, PTT_INVARIANT_reads_get_what_they_ask, NULL, __LINE__);
	ptt_watch_close(w);
	w = watch_of(&all_8dw);
	watch_all(w, PTT_8DW, failed, COUNT(failed));
	is_so(w, PTT_INVARIANT_answers_within_requests, AGAIN, __LINE__);
	is_so(w, PTT_INVARIANT_reads_get_what_they_ask, "? no trace has enough reads together with their completions",
	      __LINE__);
	ptt_watch_close(w);
}

/* Requests from before the trace, or from before a gap, may be answered in it; then only a new one is judged. */
static void answers_of_requests_that_the_trace_lacks_break_nothing(void **state)
{
	const struct handmade h[] = { read_of(5, 1, 0), answer_of(5, 1, 4, 0), answer_of(5, 1, 4, 0) };
	const struct ptt_gap gap = { .why = PTT_GAP_OFFSETS };
	static const char unknown[] = "? no trace has enough requests together with their completions";
	struct ptt_watch *w = watch_of(&all_8dw);

	(void)state;
	watch_one(w, PTT_8DW, &h[1], 0);
	is_so(w, PTT_INVARIANT_answers_within_requests, unknown, __LINE__);
	watch_one(w, PTT_8DW, &h[0], 0);
	ptt_watch_gap(w, 3, &gap);
	watch_one(w, PTT_8DW, &h[1], 0);
	is_so(w, PTT_INVARIANT_answers_within_requests, unknown, __LINE__);
	watch_all(w, PTT_8DW, h, COUNT(h));
	is_so(w, PTT_INVARIANT_answers_within_requests, AGAIN, __LINE__);
	ptt_watch_close(w);
}

static void only_a_trace_of_both_has_transactions(void **state)
{
	static const struct {
		int line;
		uint32_t direction, type;
		bool is_asked, is_judged;
	} row[] = {
		ROW(2, 7, true, true),  ROW(2, 6, true, true),  ROW(2, 5, true, false), ROW(2, 3, true, false),
		ROW(0, 7, true, false), ROW(1, 7, true, false), ROW(3, 7, true, false), ROW(2, 7, false, false),
	};
	const struct handmade h[] = { read_of(5, 1, 0), answer_of(5, 1, 4, 0), answer_of(5, 1, 4, 0) };

	(void)state;
	for (size_t i = 0; i < COUNT(row); i++) {
		struct ptt_watched t = all_8dw;

		t.ask.direction = (uint8_t)row[i].direction;
		t.ask.type = (uint8_t)row[i].type;
		t.is_asked = row[i].is_asked;
		struct ptt_watch *w = watch_of(&t);
		watch_all(w, PTT_8DW, h, COUNT(h));
		is_so(w, PTT_INVARIANT_answers_within_requests,
		      row[i].is_judged ? AGAIN : "? no trace has enough requests together with their completions",
		      row[i].line);
		ptt_watch_close(w);
	}
}

static void behind_a_gap_whose_place_nobody_knows_no_answer_is_judged(void **state)
{
	const struct handmade h[] = { read_of(5, 1, 0), answer_of(5, 1, 4, 0), answer_of(5, 1, 4, 0) };
	const struct ptt_gap gap = { .why = PTT_GAP_CUT_SOMEWHERE };
	struct ptt_watch *w = watch_of(&all_8dw);

	(void)state;
	ptt_watch_gap(w, 3, &gap);
	watch_all(w, PTT_8DW, h, COUNT(h));
	is_so(w, PTT_INVARIANT_answers_within_requests,
	      "? no trace has enough requests together with their completions", __LINE__);
	ptt_watch_begin(w, 3, &all_8dw);
	watch_all(w, PTT_8DW, h, COUNT(h));
	is_so(w, PTT_INVARIANT_answers_within_requests, AGAIN, __LINE__);
	ptt_watch_close(w);
}

/* 16384 are followed; with one more the oldest is given up, and its answer would look like one too many. */
static void with_more_open_requests_than_are_followed_no_answer_is_judged(void **state)
{
	enum { MOST = 16384 };

	(void)state;
	for (uint32_t more = 0; more < 2; more++) {
		struct ptt_watch *w = watch_of(&all_8dw);
		const struct handmade answer = H(2, CPL, 1, 0, 4, 0, 0);

		for (uint32_t i = 0; i < MOST + more; i++) {
			const struct handmade h = H(0, RD, 1, 0, i << 8 | 0xf, 0, 0);
			watch_one(w, PTT_8DW, &h, 0);
		}
		watch_one(w, PTT_8DW, &answer, 0);
		watch_one(w, PTT_8DW, &answer, 0);
		is_so(w, PTT_INVARIANT_answers_within_requests,
		      more ? "? no trace has enough requests together with their completions" :
			     "t, record at 0x0: a completion for requester 00:00.0, tag 0x0, which was answered before",
		      (int)more);
		ptt_watch_close(w);
	}
}

static void completions_of_a_read_go_on_where_the_one_before_ended(void **state)
{
	/* 128 bytes from 0x1040 on, in two pieces */
	static const struct {
		int line;
		uint32_t first_lower, first_count, second_lower, second_count, second_dws;
		enum ptt_invariant of;
		const char *words;
	} row[] = {
		ROW(0x40, 128, 0x00, 64, 16, PTT_INVARIANT_completions_go_on),
		ROW(0x40, 128, 0x00, 64, 16, PTT_INVARIANT_byte_counts_fall),
		ROW(0x40, 128, 0x00, 64, 16, PTT_INVARIANT_reads_get_what_they_ask),
		ROW(0x44, 128, 0x00, 64, 16, PTT_INVARIANT_completions_go_on,
		    "t, record at 0x20: lower address 0x44, where 0x40 is next"),
		ROW(0x40, 128, 0x40, 64, 16, PTT_INVARIANT_completions_go_on,
		    "t, record at 0x40: lower address 0x40, where 0x0 is next"),
		ROW(0x40, 124, 0x00, 64, 16, PTT_INVARIANT_byte_counts_fall,
		    "t, record at 0x20: byte count 124, of 128 bytes that were asked for and 0 that came"),
		ROW(0x40, 128, 0x00, 60, 15, PTT_INVARIANT_byte_counts_fall,
		    "t, record at 0x40: byte count 60, of 128 bytes that were asked for and 64 that came"),
		ROW(0x40, 128, 0x00, 60, 15, PTT_INVARIANT_reads_get_what_they_ask,
		    "t, record at 0x40: 128 bytes were asked for, and 124 came"),
	};

	(void)state;
	for (size_t i = 0; i < COUNT(row); i++) {
		struct ptt_watch *w = watch_of(&all_8dw);
		const struct handmade h[] = {
			read_of(5, 32, 0x1040), answer_of(5, 16, row[i].first_count, row[i].first_lower),
			answer_of(5, row[i].second_dws, row[i].second_count, row[i].second_lower)
		};

		watch_all(w, PTT_8DW, h, COUNT(h));
		is_so(w, row[i].of, row[i].words, row[i].line);
		ptt_watch_close(w);
	}
}

/* Byte enables move the start of a read, and shorten it. */
static void a_read_is_answered_from_its_first_enabled_byte_on(void **state)
{
	const struct handmade h[] = { H(0, RD, 2, 0, WHO | 5 << 8 | 0x1c, 0x1048, 0), answer_of(5, 2, 3, 0x4a) };
	struct ptt_watch *w = watch_of(&all_8dw);

	(void)state;
	watch_all(w, PTT_8DW, h, COUNT(h));
	is_so(w, PTT_INVARIANT_completions_go_on, NULL, __LINE__);
	is_so(w, PTT_INVARIANT_byte_counts_fall, NULL, __LINE__);
	is_so(w, PTT_INVARIANT_reads_get_what_they_ask, NULL, __LINE__);
	ptt_watch_close(w);
}

/* With BCM the byte count is that of one packet. */
static void a_modified_byte_count_is_held_against_nobody(void **state)
{
	const struct handmade h[] = { read_of(5, 32, 0x1040), answer_of(5, 16, 64, 0x44), answer_of(5, 16, 64, 0x44) };
	struct handmade bcm[3];
	struct ptt_watch *w = watch_of(&all_8dw);

	(void)state;
	for (uint32_t i = 0; i < 3; i++) {
		bcm[i] = h[i];
		bcm[i].dw1 |= i ? 1 << 12 : 0;
	}
	watch_all(w, PTT_8DW, bcm, COUNT(bcm));
	is_so(w, PTT_INVARIANT_byte_counts_fall, "? no trace has enough reads together with their completions",
	      __LINE__);
	is_so(w, PTT_INVARIANT_completions_go_on, "? no trace has enough reads together with their completions",
	      __LINE__);
	is_so(w, PTT_INVARIANT_reads_get_what_they_ask, NULL, __LINE__);
	ptt_watch_close(w);
}

static void a_tag_is_used_again_once_its_read_is_answered(void **state)
{
	const struct handmade h[] = { read_of(5, 32, 0x40), answer_of(5, 16, 128, 0x40), read_of(5, 32, 0x40) };
	const struct handmade unanswered[] = { h[0], h[2], h[1], answer_of(5, 16, 64, 0x00) };
	struct ptt_watch *w = watch_of(&all_8dw);

	(void)state;
	watch_all(w, PTT_8DW, h, COUNT(h));
	is_so(w, PTT_INVARIANT_reads_get_what_they_ask,
	      "t, record at 0x40: requester 01:02.3 uses tag 0x5 again, of whose 128 bytes 64 came", __LINE__);
	ptt_watch_close(w);
	w = watch_of(&all_8dw);
	watch_all(w, PTT_8DW, unanswered, COUNT(unanswered)); /* it may have timed out */
	is_so(w, PTT_INVARIANT_reads_get_what_they_ask, NULL, __LINE__);
	ptt_watch_close(w);
}

/* Answers of what is no read have no address to go on from. */
static void an_atomic_request_is_answered_with_what_it_likes(void **state)
{
	const struct handmade h[] = { H(2, ADD, 2, 0, WHO | 5 << 8, 0x1040, 0), answer_of(5, 1, 4, 0x10) };
	struct ptt_watch *w = watch_of(&all_8dw);

	(void)state;
	watch_all(w, PTT_8DW, h, COUNT(h));
	is_so(w, PTT_INVARIANT_answers_within_requests, NULL, __LINE__);
	is_so(w, PTT_INVARIANT_completions_go_on, "? no trace has enough reads together with their completions",
	      __LINE__);
	is_so(w, PTT_INVARIANT_reads_get_what_they_ask, "? no trace has enough reads together with their completions",
	      __LINE__);
	ptt_watch_close(w);
}

/* 4DW holds packets between devices twice, so the first request of a tag may be the second record of one before. */
static void in_4dw_a_tag_is_judged_from_its_second_request_on(void **state)
{
	const struct handmade whole[] = { read_of(5, 1, 0), answer_of(5, 1, 4, 0) };
	const struct handmade wrong[] = { read_of(5, 1, 0x40), answer_of(5, 1, 4, 0) };
	static const char unknown[] = "? no trace has enough reads together with their completions";
	struct ptt_watched t = all_8dw;

	(void)state;
	t.ask.format = 0;
	struct ptt_watch *w = watch_of(&t);
	watch_all(w, PTT_4DW, wrong, COUNT(wrong));
	is_so(w, PTT_INVARIANT_completions_go_on, unknown, __LINE__);
	watch_all(w, PTT_4DW, whole, COUNT(whole));
	is_so(w, PTT_INVARIANT_completions_go_on, NULL, __LINE__);
	watch_all(w, PTT_4DW, wrong, COUNT(wrong));
	is_so(w, PTT_INVARIANT_completions_go_on, "t, record at 0x20: lower address 0x0, where 0x40 is next", __LINE__);
	ptt_watch_close(w);
}

/* A gap may hide the first record of a request: then it begins anew. */
static void in_4dw_a_gap_makes_the_next_request_of_a_tag_the_first(void **state)
{
	const struct handmade whole[] = { read_of(5, 1, 0), answer_of(5, 1, 4, 0) };
	const struct handmade wrong[] = { read_of(5, 1, 0x40), answer_of(5, 1, 4, 0) };
	const struct ptt_gap gap = { .why = PTT_GAP_OFFSETS };
	struct ptt_watched t = all_8dw;

	(void)state;
	t.ask.format = 0;
	struct ptt_watch *w = watch_of(&t);
	for (uint32_t i = 0; i < 2; i++)
		watch_all(w, PTT_4DW, whole, COUNT(whole));
	ptt_watch_gap(w, 3, &gap);
	watch_all(w, PTT_4DW, wrong, COUNT(wrong));
	is_so(w, PTT_INVARIANT_completions_go_on, NULL, __LINE__);
	ptt_watch_close(w);
}

/* ---- gaps ------------------------------------------------------------------------------------------------- */

static void damage_between_records_breaks_the_invariant_of_markers_and_no_other_gap_does(void **state)
{
	(void)state;
	for (uint32_t why = PTT_GAP_OFFSETS; why <= PTT_GAP_SHORT; why++) {
		const struct ptt_gap gap = { .why = (uint8_t)why, .bytes = 17, .passed = 5 };
		struct ptt_watch *w = watch_of(&all_8dw);

		ptt_watch_gap(w, 3, &gap);
		is_so(w, PTT_INVARIANT_records_have_markers,
		      why == PTT_GAP_DAMAGE ? "t, record at 0x0: 17 bytes behind it are no record" :
					      "? there is no record of 8DW",
		      (int)why);
		ptt_watch_close(w);
	}
}

/* ---- the link --------------------------------------------------------------------------------------------- */

/* n packets of each class; writes and completions have 4 bytes of data. */
static void watch_some(struct ptt_watch *w, enum ptt_format format, uint32_t n)
{
	const struct handmade of[] = { H(2, RD, 1, 0, 0xf, 0, 0), H(0, RD, 1, 0, WHO | 1 << 8 | 0xf, 0, 0),
				       H(2, CPL, 1, 0, 4, WHO | 2 << 8, 0) };

	for (uint32_t i = 0; i < n; i++)
		for (uint32_t k = 0; k < COUNT(of); k++)
			watch_one(w, format, &of[k], 0);
}

/* Counts are read before and after each end of the trace: at least what is between the inner readings, at most what is
 * between the outer ones. */
static void a_trace_holds_what_the_link_carried_between_the_readings(void **state)
{
	(void)state;
	for (uint32_t n = 5; n < 19; n++) {
		struct ptt_watched t = all_8dw;
		struct ptt_link at[4] = { 0 };
		char packets[100], bytes[100];

		t.ask.direction = 0;
		t.ask.type = 1;
		for (uint32_t i = 0; i < 4; i++) {
			static const uint32_t read[4] = { 10, 12, 20, 25 }; /* 8 to 15 */
			at[i].ns = 1000 * i;
			at[i].tlps[0][PTT_CLASS_P] = read[i];
			at[i].bytes[0][PTT_CLASS_P] = 4 * read[i];
			at[i].tlps[1][PTT_CLASS_P] = 77 * i; /* the other way */
		}
		struct ptt_watch *w = watch_of(&t);
		watch_some(w, PTT_8DW, n);
		ptt_watch_link(w, 3, at);
		snprintf(packets, sizeof(packets),
			 "t, record at 0x0: the trace holds %u posted requests, the link carried %u", n,
			 n < 8 ? 8 : 15);
		snprintf(bytes, sizeof(bytes),
			 "t, record at 0x0: the trace holds %u bytes of posted requests, the link carried %u", 4 * n,
			 n < 8 ? 32 : 60);
		is_so(w, PTT_INVARIANT_packets_are_the_links, n < 8 || n > 15 ? packets : NULL, (int)n);
		is_so(w, PTT_INVARIANT_bytes_are_the_links, n < 8 || n > 15 ? bytes : NULL, (int)n);
		ptt_watch_close(w);
	}
}

/* Which classes of which way a trace of an event has: a count of its own for each tells. Completions of two sorts count
 * as one type (hisi_ptt.rst, "Direction"). */
static void an_event_says_which_counts_of_the_link_its_trace_holds(void **state)
{
	enum { P = 1, NP = 2, A = 4, B = 8, IN = 1, OUT = 16 };
	static const uint32_t has[2][4] = {
		{ (P | NP | A | B) * IN, (P | NP | A | B) * OUT, (P | NP | B) * IN + (P | NP | A | B) * OUT,
		  A * IN + (P | NP | A | B) * OUT },
		{ (P | NP | A | B) * IN, (P | NP | A | B) * OUT, (P | NP | B) * IN, A * IN },
	};
	static const uint32_t of[3] = { P * IN + P * OUT, NP * IN + NP * OUT, (A | B) * IN + (A | B) * OUT };
	static const char *const names[3] = { "posted requests", "non-posted requests", "completions" };

	(void)state;
	for (uint32_t format = 0; format < 2; format++)
		for (uint32_t direction = 0; direction < 4; direction++)
			for (uint32_t type = 0; type < 3; type++) {
				struct ptt_watched t = all_8dw;
				struct ptt_link at[4] = { 0 };
				const uint32_t carried = has[format][direction] & of[type];
				char packets[100], bytes[100];

				t.ask.direction = (uint8_t)direction;
				t.ask.format = (uint8_t)format;
				t.ask.type = (uint8_t)(1u << type);
				for (uint32_t k = 0; k < 8; k++)
					for (uint32_t i = 2; i < 4; i++) {
						at[i].tlps[k / 4][k % 4] = 1u << k;
						at[i].bytes[k / 4][k % 4] = 1000u << k;
					}
				struct ptt_watch *w = watch_of(&t);
				ptt_watch_link(w, 3, at);
				snprintf(packets, sizeof(packets),
					 "t, record at 0x0: the trace holds 0 %s, the link carried %u", names[type],
					 carried);
				snprintf(bytes, sizeof(bytes),
					 "t, record at 0x0: the trace holds 0 bytes of %s, the link carried %u",
					 names[type], 1000 * carried);
				is_so(w, PTT_INVARIANT_packets_are_the_links,
				      carried ? packets : "? nothing tells what the link carried",
				      (int)(format << 8 | direction << 4 | type));
				is_so(w, PTT_INVARIANT_bytes_are_the_links,
				      carried ? bytes : "? nothing tells what the link carried",
				      (int)(format << 8 | direction << 4 | type));
				ptt_watch_close(w);
			}
}

static void a_trace_with_a_gap_is_not_held_against_the_link(void **state)
{
	const struct ptt_gap gap = { .why = PTT_GAP_OFFSETS };
	struct ptt_link at[4] = { 0 };
	struct ptt_watch *w = watch_of(&all_8dw);

	(void)state;
	at[3].tlps[0][PTT_CLASS_P] = at[2].tlps[0][PTT_CLASS_P] = 5;
	ptt_watch_gap(w, 3, &gap);
	ptt_watch_link(w, 3, at);
	is_so(w, PTT_INVARIANT_packets_are_the_links, "? records were lost", __LINE__);
	is_so(w, PTT_INVARIANT_bytes_are_the_links, "? records were lost", __LINE__);
	ptt_watch_begin(w, 3, &all_8dw); /* the next one is whole, and breaks it */
	ptt_watch_link(w, 3, at);
	is_so(w, PTT_INVARIANT_packets_are_the_links,
	      "t, record at 0x0: the trace holds 0 posted requests, the link carried 5", __LINE__);
	ptt_watch_gap(w, 3, &gap);
	ptt_watch_link(w, 3, at);
	is_so(w, PTT_INVARIANT_packets_are_the_links,
	      "t, record at 0x0: the trace holds 0 posted requests, the link carried 5", __LINE__);
	ptt_watch_close(w);
}

/* ---- tunables ------------------------------------------------------------------------------------------- */

static void a_tunable_is_0_1_or_2_and_the_first_that_is_not_is_told(void **state)
{
	struct ptt_watch *w = watch_of(&all_8dw);
	char words[100];

	(void)state;
	for (uint32_t i = 0; i < 3; i++)
		ptt_watch_tunable(w, "hisi_ptt0_2", (enum ptt_tune)0, i);
	is_so(w, PTT_INVARIANT_tunables_in_range, NULL, __LINE__);
	ptt_watch_tunable(w, "hisi_ptt0_2", (enum ptt_tune)1, 3);
	snprintf(words, sizeof(words), "hisi_ptt0_2/%s is 3", ptt_tunables[1].name);
	is_so(w, PTT_INVARIANT_tunables_in_range, words, __LINE__);
	ptt_watch_tunable(w, "hisi_ptt0_4", (enum ptt_tune)0, 4);
	ptt_watch_tunable(w, "hisi_ptt0_4", (enum ptt_tune)0, 1);
	is_so(w, PTT_INVARIANT_tunables_in_range, words, __LINE__);
	ptt_watch_close(w);
}

static void of_many_records_that_break_an_invariant_the_first_is_told(void **state)
{
	const struct handmade h = H(3, 0x1f, 1, 0, 0, 0, 0);
	struct ptt_watch *w = watch_of(&all_8dw);

	(void)state;
	watch_one(w, PTT_8DW, &h, 0x1000);
	watch_one(w, PTT_8DW, &h, 0x2000);
	is_so(w, PTT_INVARIANT_types_exist, "t, record at 0x1000: Fmt 3, Type 0x1f are reserved", __LINE__);
	assert_int_equal(ptt_watch_seen(w), 2);
	ptt_watch_close(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_evidence_an_invariant_is_unknown_and_says_what_lacks),
		cmocka_unit_test(every_failing_allocation_is_told),
		cmocka_unit_test(a_type_that_there_is_not_breaks_an_invariant_and_checks_no_other),
		cmocka_unit_test(a_length_is_one_that_the_type_may_have),
		cmocka_unit_test(byte_enables_fit_the_length),
		cmocka_unit_test(enabled_bytes_are_contiguous),
		cmocka_unit_test(a_request_stays_within_its_page_and_has_the_shorter_address),
		cmocka_unit_test(a_completion_ends_with_its_read_or_at_a_boundary),
		cmocka_unit_test(a_record_of_8dw_has_its_marker_and_a_word_of_0),
		cmocka_unit_test(a_trace_holds_what_was_selected),
		cmocka_unit_test(where_nobody_knows_the_event_no_packet_is_one_too_many),
		cmocka_unit_test(records_come_in_the_order_of_their_times),
		cmocka_unit_test(behind_a_gap_time_may_go_back),
		cmocka_unit_test(a_trace_spans_no_more_time_than_it_took),
		cmocka_unit_test(a_request_is_answered_once),
		cmocka_unit_test(answers_of_requests_that_the_trace_lacks_break_nothing),
		cmocka_unit_test(only_a_trace_of_both_has_transactions),
		cmocka_unit_test(behind_a_gap_whose_place_nobody_knows_no_answer_is_judged),
		cmocka_unit_test(with_more_open_requests_than_are_followed_no_answer_is_judged),
		cmocka_unit_test(completions_of_a_read_go_on_where_the_one_before_ended),
		cmocka_unit_test(a_read_is_answered_from_its_first_enabled_byte_on),
		cmocka_unit_test(a_modified_byte_count_is_held_against_nobody),
		cmocka_unit_test(a_tag_is_used_again_once_its_read_is_answered),
		cmocka_unit_test(an_atomic_request_is_answered_with_what_it_likes),
		cmocka_unit_test(in_4dw_a_tag_is_judged_from_its_second_request_on),
		cmocka_unit_test(in_4dw_a_gap_makes_the_next_request_of_a_tag_the_first),
		cmocka_unit_test(damage_between_records_breaks_the_invariant_of_markers_and_no_other_gap_does),
		cmocka_unit_test(a_trace_holds_what_the_link_carried_between_the_readings),
		cmocka_unit_test(an_event_says_which_counts_of_the_link_its_trace_holds),
		cmocka_unit_test(a_trace_with_a_gap_is_not_held_against_the_link),
		cmocka_unit_test(a_tunable_is_0_1_or_2_and_the_first_that_is_not_is_told),
		cmocka_unit_test(of_many_records_that_break_an_invariant_the_first_is_told),
	};

	return cmocka_run_group_tests_name("ptt: watch", tests, NULL, NULL);
}
