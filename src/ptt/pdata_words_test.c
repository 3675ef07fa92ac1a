/* pdata_words_test.c: what a reader says in words of what a file did not give: one or many, each once, in order. */
#include <stdio.h>

#include "ptt/pdata_test_int.h"

#define ROW(...)                              \
	{                                     \
		.line = __LINE__, __VA_ARGS__ \
	}

struct commits {
	struct buf b;
	struct ptt_writer *w;
};

/* One device of 8DW, in a file that can be patched, or in the pipe format, which has nothing behind its data. */
static void commits_open(struct commits *c, bool pipe)
{
	const struct ptt_device dev = device_of_format(PTT_8DW);
	struct bytes_out out = { .arg = &c->b, .put = memory_put, .patch = pipe ? NULL : memory_patch };

	*c = (struct commits){ 0 };
	assert_int_equal(ptt_writer_open(&c->w, &out, &dev, 1, &(struct err){ 0 }), 0);
}

static void words_are(struct commits *c, const char *want)
{
	struct memory m = { 0 };
	struct bytes_in in;
	struct ptt_reader *r = NULL;
	struct got g = { 0 };
	struct ptt_chunk chunk;

	if (c->w)
		assert_int_equal(ptt_writer_close(c->w), 0);
	m.p = (const uint8_t *)c->b.p;
	m.n = c->b.n;
	in = memory_in(&m);
	assert_int_equal(ptt_reader_open(&r, &in, NULL, &g.e), 0);
	got_reading(&g, r, false);
	assert_int_equal(g.next, 0);
	assert_string_equal(g.lost.words, want);
	/* The end is still the end, and is told no second time. */
	assert_int_equal(ptt_reader_next(r, &chunk, &g.e), 0);
	assert_string_equal(ptt_reader_lost(r)->words, want);
	ptt_reader_close(r);
	buf_free(&c->b);
}

static void a_whole_file_has_no_words(void **state)
{
	uint8_t p[64];
	struct commits c;

	(void)state;
	records(p, 2, PTT_8DW, 1);
	commits_open(&c, false);
	assert_int_equal(ptt_writer_aux(c.w, 0, p, sizeof(p), 0), 0);
	words_are(&c, "");
}

static void buffers_that_the_driver_lost_are_one_or_many(void **state)
{
	static const char *const want[] = {
		"1 AUX buffer is incomplete: the driver lost data while tracing",
		"2 AUX buffers are incomplete: the driver lost data while tracing",
		"3 AUX buffers are incomplete: the driver lost data while tracing",
	};
	uint8_t p[64];

	(void)state;
	records(p, 2, PTT_8DW, 1);
	for (uint32_t n = 1; n <= COUNT(want); n++) {
		struct commits c;

		commits_open(&c, false);
		for (uint32_t i = 0; i < n; i++)
			assert_int_equal(ptt_writer_aux(c.w, 0, p, sizeof(p), PDATA_AUX_TRUNCATED), 0);
		words_are(&c, want[n - 1]);
	}
}

static void bytes_that_make_no_record_are_one_or_many(void **state)
{
	static const struct {
		int line;
		size_t bytes;
		const char *words;
	} row[] = {
		ROW(64, ""),
		ROW(65, "1 byte at the end of AUX data makes no whole record"),
		ROW(66, "2 bytes at the ends of AUX data make no whole record"),
		ROW(95, "31 bytes at the ends of AUX data make no whole record"),
		ROW(96, ""),
	};
	uint8_t p[96];

	(void)state;
	records(p, 3, PTT_8DW, 1);
	for (size_t i = 0; i < COUNT(row); i++) {
		struct commits c;

		commits_open(&c, false);
		assert_int_equal(ptt_writer_aux(c.w, 0, p, row[i].bytes, 0), 0);
		words_are(&c, row[i].words);
	}
}

static void bytes_between_records_are_one_or_many(void **state)
{
	static const char *const want[] = {
		"1 byte between records has no marker of 8DW and was passed over",
		"2 bytes between records have no marker of 8DW and were passed over",
		"3 bytes between records have no marker of 8DW and were passed over",
	};
	uint8_t p[32 * 20];

	(void)state;
	for (size_t n = 1; n <= COUNT(want); n++) { /* so many are left of a record */
		struct commits c;

		records(p, 20, PTT_8DW, 1);
		memmove(p + 320 + n, p + 352, sizeof(p) - 352);
		commits_open(&c, false);
		assert_int_equal(ptt_writer_aux(c.w, 0, p, sizeof(p) - 32 + n, 0), 0);
		words_are(&c, want[n - 1]);
	}
}

static void what_was_lost_in_several_ways_is_said_in_order(void **state)
{
	uint8_t p[96];
	struct commits c;

	(void)state;
	records(p, 3, PTT_8DW, 1);
	commits_open(&c, false);
	assert_int_equal(ptt_writer_aux(c.w, 0, p, sizeof(p), PDATA_AUX_TRUNCATED), 0);
	assert_int_equal(ptt_writer_aux(c.w, 0, p, 64 + 5, 0), 0);
	words_are(&c, "1 AUX buffer is incomplete: the driver lost data while tracing; "
		      "5 bytes at the ends of AUX data make no whole record");
}

static void bytes_that_a_cut_file_lacks_are_one_or_many(void **state)
{
	static const char *const want[] = {
		"1 byte is missing at the end of the file; 31 bytes at the ends of AUX data make no whole record",
		"2 bytes are missing at the end of the file; 30 bytes at the ends of AUX data make no whole record",
		"3 bytes are missing at the end of the file; 29 bytes at the ends of AUX data make no whole record",
	};
	uint8_t p[96];

	(void)state;
	records(p, 3, PTT_8DW, 1);
	for (size_t cut = 1; cut <= COUNT(want); cut++) {
		struct commits c;

		commits_open(&c, true);
		assert_int_equal(ptt_writer_aux(c.w, 0, p, sizeof(p), 0), 0);
		assert_int_equal(ptt_writer_close(c.w), 0);
		c.w = NULL;
		c.b.n = record_at(&c.b, PDATA_R_AUXTRACE, 0) + 48 + sizeof(p) - cut;
		words_are(&c, want[cut - 1]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_whole_file_has_no_words),
		cmocka_unit_test(buffers_that_the_driver_lost_are_one_or_many),
		cmocka_unit_test(bytes_that_make_no_record_are_one_or_many),
		cmocka_unit_test(bytes_between_records_are_one_or_many),
		cmocka_unit_test(what_was_lost_in_several_ways_is_said_in_order),
		cmocka_unit_test(bytes_that_a_cut_file_lacks_are_one_or_many),
	};

	return cmocka_run_group_tests_name("ptt: pdata words", tests, NULL, NULL);
}
