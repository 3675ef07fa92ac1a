/*
 * raw_test.c: what a reader makes of AUX data that was cut, damaged or has gaps: every whole record comes, none
 * that never was, and each place where some are missing is told with its size.
 */
#include <stdlib.h>

#include "base/range.h"
#include "ptt/pdata_test_int.h"

#define N 40u /* records of a commit */

struct file {
	struct buf b;
	struct ptt_writer *w;
};

static struct file file_new(enum ptt_format format)
{
	const struct ptt_device dev = device_of_format(format);
	struct file f = { .b = { 0 } };
	struct buf *b = mem_alloc(sizeof(*b));
	struct bytes_out out = { .arg = b, .put = memory_put, .patch = memory_patch };
	struct err e = { 0 };

	assert_int_equal(ptt_writer_open(&f.w, &out, &dev, 1, &e), 0);
	f.b.p = (char *)b; /* until it is whole */
	return f;
}

static struct got file_read(struct file *f, bool keep)
{
	struct buf *b = (struct buf *)f->b.p;
	struct got g;

	assert_int_equal(ptt_writer_close(f->w), 0);
	g = read_opts((const uint8_t *)b->p, b->n, false, NULL, keep);
	assert_int_equal(g.open, 0);
	assert_int_equal(g.next, 0);
	buf_free(b);
	mem_free(b);
	return g;
}

/* ---- the marker of 8DW -------------------------------------------------------------- */

/* Of each size, each part of a record may be missing. None comes that never was; and of those that are whole all do,
 * but for the neighbours of the place: one before it may lack its end, for all that the bytes tell. */
static void bytes_missing_in_8dw_cost_one_record_and_not_all_that_follow(void **state)
{
	uint8_t p[N * 32], all[N * 32];

	(void)state;
	records(all, N, PTT_8DW, 7);
	for (size_t n = 1; n < 32; n++)
		for (size_t at = 10 * 32; at < 11 * 32; at++) {
			struct file f = file_new(PTT_8DW);
			struct got g;
			uint32_t came = 0, next = 0;

			memcpy(p, all, at);
			memcpy(p + at, all + at + n, sizeof(all) - at - n);
			assert_int_equal(ptt_writer_aux(f.w, 0, p, sizeof(all) - n, 0), 0);
			g = file_read(&f, true);
			for (size_t i = 0; i < g.data[0].n; i += 32, came++, next++) {
				while (next < N && memcmp(all + next * 32, g.data[0].p + i, 32))
					next++;
				if (next == N)
					fail_msg("%zu bytes from %zu on: record %u never was", n, at, came);
			}
			bool two = at > 10 * 32 && at + n > 11 * 32; /* the end of one, the front of the next */
			if (came < N - 2 - two || g.gap[0].behind < 9 * 32 || g.gap[0].behind > 10 * 32)
				fail_msg("%zu bytes from %zu on: %u records, the first %llu bytes", n, at, came,
					 (unsigned long long)g.gap[0].behind);
			if (at >= 10 * 32 + 4)
				assert_true(came >= N - 1 - two);
			assert_int_equal(g.ngaps, 1);
			assert_int_equal(g.gap[0].gap.why, PTT_GAP_DAMAGE);
			assert_int_equal(g.lost.damaged_bytes, sizeof(all) - n - g.data[0].n);
			got_free(&g);
		}
}

static void a_marker_that_was_changed_costs_its_record_alone(void **state)
{
	uint8_t p[N * 32];
	struct file f = file_new(PTT_8DW);
	struct got g;

	(void)state;
	records(p, N, PTT_8DW, 7);
	p[20 * 32 + 3] = 0x7f;
	assert_int_equal(ptt_writer_aux(f.w, 0, p, sizeof(p), 0), 0);
	g = file_read(&f, false);
	assert_int_equal(g.bytes[0], (N - 1) * 32);
	assert_int_equal(g.lost.damaged_bytes, 32);
	assert_int_equal(g.gap[0].behind, 20 * 32);
	assert_int_equal(g.gap[0].gap.passed, 32);
	assert_int_equal(g.gap[0].gap.bytes, 0);
}

/* The last record before the damage is the last of one window, what shows it the first of the next. */
static void damage_between_two_windows_is_found(void **state)
{
	size_t n = PTT_WINDOW_MOST + N * 32;
	uint8_t *p = malloc(n);
	struct file f = file_new(PTT_8DW);
	struct got g;

	(void)state;
	records(p, (uint32_t)(n / 32), PTT_8DW, 1);
	memmove(p + PTT_WINDOW_MOST - 5, p + PTT_WINDOW_MOST, N * 32);
	assert_int_equal(ptt_writer_aux(f.w, 0, p, n - 5, 0), 0);
	g = file_read(&f, false);
	assert_int_equal(g.bytes[0], n - 32);
	assert_int_equal(g.lost.damaged_bytes, 27);
	free(p);
}

/* ---- cuts within a record -------------------------------------------------------------- */

static void cut_everywhere(enum ptt_format format)
{
	uint8_t p[N * 32];
	size_t record = format * 4u, n = N * record;

	records(p, N, format, 3);
	for (size_t first = 1; first < 3 * record; first++)
		for (size_t second = 1; second < record; second += 7) {
			struct file f = file_new(format);
			struct got g;

			assert_int_equal(ptt_writer_aux(f.w, 0, p, first, 0), 0);
			assert_int_equal(ptt_writer_aux(f.w, 0, p + first, second, 0), 0);
			assert_int_equal(ptt_writer_aux(f.w, 0, p + first + second, n - first - second, 0), 0);
			g = file_read(&f, true);
			if (g.data[0].n != n || memcmp(g.data[0].p, p, n) || g.format != format || g.ngaps ||
			    g.lost.stray_bytes)
				fail_msg(
					"%u DWs, cut at %zu and %zu: %zu of %zu bytes, %u gaps, stray %llu, damaged %llu",
					format, first, first + second, g.data[0].n, n, g.ngaps,
					(unsigned long long)g.lost.stray_bytes,
					(unsigned long long)g.lost.damaged_bytes);
			got_free(&g);
		}
}

static void an_aux_cut_within_a_record_loses_nothing_and_does_not_turn_8dw_into_4dw(void **state)
{
	(void)state;
	cut_everywhere(PTT_8DW);
	cut_everywhere(PTT_4DW);
}

/* The front of a record may be zeros: the low bits of its time.  They were taken for what rounds up the end, and all
 * that followed was read from the wrong byte on. */
static void an_aux_cut_behind_zero_bytes_of_a_record_loses_nothing(void **state)
{
	uint8_t p[N * 16];

	(void)state;
	records(p, N, PTT_4DW, 3);
	p[16] = 0; /* the time of the second */
	for (size_t cut = 1; cut < 16; cut++) {
		struct file f = file_new(PTT_4DW);
		struct got g;

		memset(p + 17, 0, cut - 1 < 4 ? cut - 1 : 0);
		assert_int_equal(ptt_writer_aux(f.w, 0, p, 16 + cut, 0), 0);
		assert_int_equal(ptt_writer_aux(f.w, 0, p + 16 + cut, sizeof(p) - 16 - cut, 0), 0);
		g = file_read(&f, true);
		assert_int_equal(g.data[0].n, sizeof(p));
		assert_memory_equal(g.data[0].p, p, sizeof(p));
		assert_int_equal(g.lost.stray_bytes, 0);
		got_free(&g);
	}
}

/* What comes after a gap may begin anywhere in a record. */
static void data_that_begins_within_a_record_of_8dw_is_not_taken_for_4dw(void **state)
{
	uint8_t p[N * 32];

	(void)state;
	records(p, N, PTT_8DW, 3);
	p[28] = 9; /* no part of the first is zeros */
	for (size_t cut = 1; cut < 32; cut++) {
		struct file f = file_new(PTT_8DW);
		struct got g;

		assert_int_equal(ptt_writer_aux(f.w, 0, p + cut, sizeof(p) - cut, 0), 0);
		g = file_read(&f, true);
		assert_int_equal(g.format, PTT_8DW);
		assert_true(g.data[0].n == (N - 1) * 32);
		assert_memory_equal(g.data[0].p, p + 32, (N - 1) * 32);
		assert_int_equal(g.lost.damaged_bytes, 32 - cut);
		got_free(&g);
	}
}

/* ---- gaps ----------------------------------------------------------------------------------- */

static void a_jump_of_aux_offsets_is_a_gap_of_that_size(void **state)
{
	uint8_t p[N * 32];
	struct file f = file_new(PTT_8DW);
	struct got g;

	(void)state;
	records(p, N, PTT_8DW, 1);
	assert_int_equal(ptt_writer_aux(f.w, 0, p, sizeof(p), 0), 0);
	assert_int_equal(ptt_writer_aux(f.w, 0, p, sizeof(p), 0), 0);
	ptt_writer_lost(f.w, 0, 96);
	assert_int_equal(ptt_writer_aux(f.w, 0, p, sizeof(p), 0), 0);
	g = file_read(&f, false);
	assert_int_equal(g.ngaps, 1);
	assert_int_equal(g.gap[0].gap.why, PTT_GAP_OFFSETS);
	assert_int_equal(g.gap[0].gap.bytes, 96);
	assert_int_equal(g.gap[0].behind, 2 * sizeof(p));
	assert_int_equal(g.lost.gaps, 1);
	assert_int_equal(g.lost.gap_bytes, 96);
}

static void a_flag_of_truncation_is_a_gap_on_both_sides_and_counts_once(void **state)
{
	uint8_t p[N * 32];
	struct file f = file_new(PTT_8DW);
	struct got g;

	(void)state;
	records(p, N, PTT_8DW, 1);
	for (int i = 0; i < 3; i++)
		assert_int_equal(ptt_writer_aux(f.w, 0, p, sizeof(p), i == 1 ? PDATA_AUX_TRUNCATED : 0), 0);
	ptt_writer_lost(f.w, 0, 64); /* here the offsets say it all */
	assert_int_equal(ptt_writer_aux(f.w, 0, p, sizeof(p), PDATA_AUX_TRUNCATED), 0);
	assert_int_equal(ptt_writer_aux(f.w, 0, p, sizeof(p), 0), 0);
	g = file_read(&f, false);
	assert_int_equal(g.ngaps, 3);
	assert_int_equal(g.gap[0].gap.why, PTT_GAP_TRUNCATED);
	assert_int_equal(g.gap[0].behind, sizeof(p));
	assert_int_equal(g.gap[1].gap.why, PTT_GAP_TRUNCATED_END);
	assert_int_equal(g.gap[1].behind, 2 * sizeof(p));
	assert_int_equal(g.gap[2].gap.why, PTT_GAP_OFFSETS);
	assert_int_equal(g.gap[2].gap.bytes, 64);
	assert_int_equal(g.lost.gaps, 2);
	assert_int_equal(g.lost.truncated_aux, 2);
}

/* What perf prints has no gaps: a flag of truncation made such a reading go on for ever. */
static void as_perf_a_flag_of_truncation_ends_nothing(void **state)
{
	const struct ptt_reader_opts as_perf = { .as_perf = true };
	uint8_t p[N * 32];
	struct file f = file_new(PTT_8DW);
	struct buf *b = (struct buf *)f.b.p;
	struct got g;

	(void)state;
	records(p, N, PTT_8DW, 1);
	assert_int_equal(ptt_writer_aux(f.w, 0, p, sizeof(p), PDATA_AUX_TRUNCATED), 0);
	assert_int_equal(ptt_writer_close(f.w), 0);
	g = read_opts((const uint8_t *)b->p, b->n, false, &as_perf, false);
	assert_int_equal(g.bytes[0], sizeof(p));
	assert_int_equal(g.ngaps, 0);
	buf_free(b);
	mem_free(b);
}

static void a_loss_that_nothing_follows_is_told_with_an_empty_chunk(void **state)
{
	uint8_t p[N * 16];
	struct file f = file_new(PTT_4DW);
	struct got g;

	(void)state;
	records(p, N, PTT_4DW, 1);
	assert_int_equal(ptt_writer_aux(f.w, 0, p, sizeof(p), 0), 0);
	assert_int_equal(ptt_writer_aux(f.w, 0, "", 0, PDATA_AUX_TRUNCATED), 0);
	g = file_read(&f, false);
	assert_int_equal(g.bytes[0], sizeof(p));
	assert_int_equal(g.ngaps, 1);
	assert_int_equal(g.gap[0].behind, sizeof(p));
}

/* Records of 4DW have no marker, so bytes that were cut out of the middle were noticed by nobody: all behind them was
 * read from the wrong byte on. */
static void bytes_cut_out_of_4dw_are_told_with_their_size_and_cost_the_records_there_alone(void **state)
{
	enum { RECORDS = 2000, AT = 700 };
	static const size_t cuts[] = { 1, 4, 15, 17, 100, 1000, 32 };
	static uint8_t p[RECORDS * 16];

	(void)state;
	for (uint32_t i = 0; i < RECORDS; i++) { /* reads and completions, as they are */
		uint32_t dw[4] = { i % 2 ? 0x94000800 | i : 0x40001000 | i, 0x01000000 | i % 64 << 8 | 0xff, i * 4,
				   i % 2 ? 0 : i };
		memcpy(p + i * 16, dw, 16);
	}
	for (size_t c = 0; c < COUNT(cuts); c++)
		for (size_t which = 0; which < 2; which++) { /* the last AUX data, or one before */
			size_t k = cuts[c], lost = (k + 15 + 15) / 16 + 2;
			struct file f = file_new(PTT_4DW);
			struct buf *b = (struct buf *)f.b.p;
			struct got g;

			for (int i = 0; i < 2; i++)
				assert_int_equal(ptt_writer_aux(f.w, 0, p, sizeof(p), 0), 0);
			assert_int_equal(ptt_writer_close(f.w), 0);
			size_t at = record_at(b, PDATA_R_AUXTRACE, (unsigned)which) + PDATA_AUXTRACE + AT * 16 + 5;
			memmove(b->p + at, b->p + at + k, b->n - at - k);
			b->n -= k;
			g = read_opts((const uint8_t *)b->p, b->n, false, NULL, true);
			assert_int_equal(g.lost.cut_within, k);
			assert_non_null(strstr(g.lost.words, "missing within AUX data"));
			assert_int_equal(g.ngaps, 1);
			assert_int_equal(g.gap[0].gap.bytes, k);
			if (g.data[0].n < (2 * RECORDS - lost) * 16)
				fail_msg("%zu bytes: %zu of %d", k, g.data[0].n / 16, 2 * RECORDS);
			if (k % 16 != 0) /* the place, to a few records */
				assert_uint_in_range(g.gap[0].behind / 16, which * RECORDS + AT - 2,
						     which * RECORDS + AT + 2);
			assert_memory_equal(g.data[0].p, p, (AT - 2) * 16);
			assert_memory_equal(g.data[0].p + g.data[0].n - 1000 * 16, p + (RECORDS - 1000) * 16,
					    1000 * 16);
			got_free(&g);
			buf_free(b);
			mem_free(b);
		}
}

/* ---- the format that was said ---------------------------------------------------------------- */

/* The first marker of AUX data decided the format of all of it: one bad byte there made two records of 4DW of each
 * record. */
static void a_bad_byte_in_the_first_marker_costs_one_record_and_does_not_turn_8dw_into_4dw(void **state)
{
	uint8_t p[N * 32];

	(void)state;
	for (int known = 0; known < 2; known++)
		for (uint32_t n = known ? 1 : 4; n <= N; n += n < 4 ? 1 : 12)
			for (size_t bad = 1; bad < 4; bad++) {
				struct file f = file_new(PTT_8DW);
				struct buf *b = (struct buf *)f.b.p;
				struct got g;

				records(p, n, PTT_8DW, 7);
				p[bad] = 0;
				assert_int_equal(ptt_writer_aux(f.w, 0, p, n * 32, 0), 0);
				if (!known) /* the event's config */
					set64(b, pdata_u64((uint8_t *)b->p + 24) + 8, 0);
				g = file_read(&f, true);
				assert_int_equal(g.bytes[0], (n - 1) * 32);
				if (n > 1)
					assert_memory_equal(g.data[0].p, p + 32, (n - 1) * 32);
				assert_int_equal(g.lost.damaged_bytes, 32);
				assert_int_equal(g.lost.gaps, 1);
				assert_non_null(strstr(g.lost.words, "no marker of 8DW"));
				got_free(&g);
			}
}

static void the_event_says_the_format_and_what_contradicts_it_is_told(void **state)
{
	const struct ptt_reader_opts narrow = { .format = PTT_4DW };
	uint8_t p[N * 32];
	struct file f = file_new(PTT_4DW);
	struct buf *b = (struct buf *)f.b.p;
	struct got g;

	(void)state;
	records(p, N, PTT_8DW, 1); /* the marker proves what they are */
	assert_int_equal(ptt_writer_aux(f.w, 0, p, sizeof(p), 0), 0);
	g = file_read(&f, true);
	assert_int_equal(g.format, PTT_8DW);
	assert_int_equal(g.data[0].n, sizeof(p));
	assert_non_null(strstr(g.lost.words, "said to be 4DW"));
	got_free(&g);

	f = file_new(PTT_8DW); /* that it is missing proves nothing */
	b = (struct buf *)f.b.p;
	records(p, N, PTT_4DW, 1);
	assert_int_equal(ptt_writer_aux(f.w, 0, p, N * 16, 0), 0);
	assert_int_equal(ptt_writer_close(f.w), 0);
	g = read_all(b);
	assert_int_equal(g.bytes[0], 0);
	assert_int_equal(g.lost.damaged_bytes, N * 16);
	assert_non_null(strstr(g.lost.words, "--format=4dw reads it as 4DW"));
	g = read_opts((const uint8_t *)b->p, b->n, false, &narrow, false);
	assert_int_equal(g.format, PTT_4DW);
	assert_int_equal(g.bytes[0], N * 16);
	assert_string_equal(g.lost.words, "");
	buf_free(b);
	mem_free(b);
}

static void a_format_that_the_records_deny_is_refused(void **state)
{
	uint8_t p[N * 32];

	(void)state;
	for (enum ptt_format is = PTT_4DW; is <= PTT_8DW; is += PTT_8DW - PTT_4DW)
		for (enum ptt_format said = PTT_4DW; said <= PTT_8DW; said += PTT_8DW - PTT_4DW) {
			const struct ptt_reader_opts o = { .format = (uint8_t)said };
			struct got g;

			memset(p, 0, sizeof(p));
			records(p + 32, N - 2, is, 1);
			g = read_opts(p, sizeof(p), false, &o, false);
			assert_int_equal(g.open, is == said ? 0 : -TALLY_EINVAL);
			if (is != said)
				assert_non_null(strstr(g.e.text, is == PTT_8DW ? "8dw, not 4dw" : "format 4dw"));
		}
}

/* AUX records and data in another order than they were written in: `order`, by their numbers, ends with -1. */
static struct got read_in_order(enum ptt_format format, const int *order)
{
	enum { EACH = 100, PARTS = 4 };
	static uint8_t p[PARTS * EACH * 32];
	const size_t record = format * 4u, part = EACH * record, unit = 64 + PDATA_AUXTRACE + part;
	struct file f = file_new(format);
	struct buf *b = (struct buf *)f.b.p, out = { 0 };
	struct got g;

	records(p, PARTS * EACH, format, 1);
	for (int i = 0; i < PARTS; i++)
		assert_int_equal(ptt_writer_aux(f.w, 0, p + (size_t)i * part, part, 0), 0);
	assert_int_equal(ptt_writer_close(f.w), 0);
	const size_t first = record_at(b, PDATA_R_AUX, 0);
	assert_int_equal(record_at(b, PDATA_R_AUX, 1) - first, unit);
	uint64_t n = 0;
	buf_put(&out, b->p, first);
	for (const int *i = order; *i >= 0; i++, n++)
		buf_put(&out, b->p + first + (size_t)*i * unit, unit);
	set64(&out, 48, first - pdata_u64((uint8_t *)b->p + 40) + n * unit);
	buf_put(&out, b->p + first + PARTS * unit, b->n - first - PARTS * unit);
	g = read_opts((const uint8_t *)out.p, out.n, false, NULL, true);
	assert_int_equal(g.open, 0);
	buf_free(&out);
	buf_free(b);
	mem_free(b);
	return g;
}

static void aux_data_that_is_there_twice_counted_twice(void **state)
{
	static const int order[] = { 0, 1, 1, 2, 3, 0, -1 };

	(void)state;
	for (enum ptt_format f = PTT_4DW; f <= PTT_8DW; f += PTT_4DW) {
		struct got g = read_in_order(f, order);

		assert_int_equal(g.bytes[0], 400 * f * 4);
		assert_int_equal(g.ngaps, 0);
		assert_int_equal(g.lost.repeated_bytes, 200 * f * 4);
		assert_non_null(strstr(g.lost.words, "bytes of AUX data are there twice"));
		got_free(&g);
	}
}

static void aux_data_that_came_late_was_missing_all_the_same(void **state)
{
	static const int order[] = { 0, 2, 1, 3, -1 };

	(void)state;
	for (enum ptt_format f = PTT_4DW; f <= PTT_8DW; f += PTT_4DW) {
		struct got g = read_in_order(f, order);

		assert_int_equal(g.bytes[0], 400 * f * 4);
		assert_int_equal(g.ngaps, 3);
		assert_int_equal(g.gap[0].gap.why, PTT_GAP_OFFSETS);
		assert_int_equal(g.gap[0].gap.bytes, 100 * f * 4);
		assert_int_equal(g.gap[1].gap.why, PTT_GAP_BACK);
		assert_int_equal(g.gap[1].gap.late, 100 * f * 4);
		assert_int_equal(g.gap[2].gap.bytes, 0);
		assert_int_equal(g.lost.gap_bytes, 0);
		got_free(&g);
	}
}

/* All sizes were right, so nobody looked: what stood behind the cut was read as records from the wrong byte on. */
static void records_of_4dw_off_their_grid_were_read_from_the_wrong_byte_on(void **state)
{
	enum { RECORDS = 6000, AT = 2700 };
	static const size_t cuts[] = { 4, 5, 12, 100, 1001 };
	static uint8_t all[RECORDS * 16], p[RECORDS * 16];

	(void)state;
	for (uint32_t i = 0; i < RECORDS; i++) { /* reads and completions, as they are */
		uint32_t dw[4] = { i % 2 ? 0x94000800 | i % 2048 : 0x40001000 | i % 2048,
				   0x01000000 | i % 64 << 8 | 0xff, i * 4, i % 2 ? 0 : i };
		memcpy(all + i * 16, dw, 16);
	}
	for (size_t c = 0; c < COUNT(cuts); c++)
		for (uint32_t at = 0; at <= AT; at += AT) {
			const size_t k = cuts[c], from = at * 16 + (at ? 5 : 0), n = sizeof(all) - k - (at ? 0 : 0);
			struct file f = file_new(PTT_4DW);
			struct got g;

			memcpy(p, all, from);
			memcpy(p + from, all + from + k, n - from);
			assert_int_equal(ptt_writer_aux(f.w, 0, p, n, 0), 0);
			g = file_read(&f, true);
			assert_int_equal(g.ngaps, 1);
			assert_int_equal(g.gap[0].gap.why, PTT_GAP_DAMAGE);
			assert_uint_in_range(g.gap[0].behind / 16, at ? at - 4 : 0, at ? at + 4 : 0);
			assert_memory_equal(g.data[0].p + g.data[0].n - 3000 * 16, all + (RECORDS - 3000) * 16,
					    3000 * 16);
			got_free(&g);
		}
}

static void aux_data_that_begins_behind_its_start_missed_nothing(void **state)
{
	static const int order[] = { 1, 2, 3, -1 };

	(void)state;
	for (enum ptt_format f = PTT_4DW; f <= PTT_8DW; f += PTT_4DW) {
		struct got g = read_in_order(f, order);

		assert_int_equal(g.bytes[0], 300 * f * 4);
		assert_int_equal(g.ngaps, 1);
		assert_int_equal(g.gap[0].gap.why, PTT_GAP_OFFSETS);
		assert_int_equal(g.gap[0].gap.bytes, 100 * f * 4);
		assert_int_equal(g.gap[0].behind, 0);
		got_free(&g);
	}
}

/* ---- what looks like a record of 4DW ---------------------------------------------------- */

enum { MRD32 = 0x00, MRD64 = 0x20, MWR32 = 0x40, MWR64 = 0x60, CPL = 0x0a, CPLD = 0x4a, CPLDLK = 0x4b, CFG = 0x04 };

/* By how much the first of two records looks less like one than the second: what a cut between them would gain. */
static int64_t less_likely(const uint32_t first[4], const uint32_t second[4])
{
	const struct ptt_reader_opts o = { .format = PTT_4DW };
	uint8_t p[32];
	struct memory m = { .p = p, .n = sizeof(p) };
	struct bytes_in in = memory_in(&m);
	struct ptt_reader *r = NULL;
	int64_t gain = -1;

	memcpy(p, first, 16);
	memcpy(p + 16, second, 16);
	assert_int_equal(ptt_reader_open(&r, &in, &o, &(struct err){ 0 }), 0);
	pdata_cut_find(r, 0, sizeof(p), 16, &gain);
	ptt_reader_close(r);
	return gain;
}

/* Each field that no packet has so is a point less. */
static void each_field_that_fits_no_packet_makes_a_record_of_4dw_less_likely(void **state)
{
#define DW0(kind, length) ((uint32_t)(kind) << 25 | (length) << 11)
#define WHO (0x0113u << 16)
	static const uint32_t sound[4] = { DW0(MRD32, 1), WHO | 0xf, 0x1000, 0 };
	static const struct {
		int line, less;
		uint32_t dw[4];
	} row[] = {
		{ __LINE__, 0, { DW0(MRD32, 1), WHO | 0xf, 0x1000, 0 } },
		{ __LINE__, 0, { DW0(MRD32, 1) | 0x7ff, WHO | 0x5, 0xfffffffc, 0 } },
		{ __LINE__, 1, { DW0(MRD32, 1), 0xf, 0x1000, 0 } },
		{ __LINE__, 0, { DW0(MRD32, 1), 1 << 16 | 0xf, 0x1000, 0 } },
		{ __LINE__, 1, { DW0(MRD32, 1), WHO | 0x1f, 0x1000, 0 } },
		{ __LINE__, 1, { DW0(MRD32, 1), WHO | 0x8f, 0x1000, 0 } },
		{ __LINE__, 0, { DW0(MRD32, 2), WHO | 0xff, 0x1000, 0 } },
		{ __LINE__, 0, { DW0(MRD32, 2), WHO | 0x18, 0x1000, 0 } },
		{ __LINE__, 1, { DW0(MRD32, 2), WHO | 0xf, 0x1000, 0 } },
		{ __LINE__, 1, { DW0(MRD32, 2), WHO | 0xf0, 0x1000, 0 } },
		{ __LINE__, 1, { DW0(MRD32, 0), WHO | 0xff, 0x1000, 0 } },
		{ __LINE__, 2, { DW0(MRD32, 0), WHO | 0xf, 0x1000, 0 } },
		{ __LINE__, 1, { DW0(MRD32, 1), WHO | 0xf, 0x1001, 0 } },
		{ __LINE__, 1, { DW0(MRD32, 1), WHO | 0xf, 0x1002, 0 } },
		{ __LINE__, 1, { DW0(MRD32, 1), WHO | 0xf, 0x1000, 4 } },
		{ __LINE__, 0, { DW0(MWR32, 2), WHO | 0xff, 0x1000, 0 } },
		{ __LINE__, 0, { DW0(MRD64, 1), WHO | 0xf, 0x1001, 0x1000 } },
		{ __LINE__, 1, { DW0(MRD64, 1), WHO | 0xf, 0, 0x1000 } },
		{ __LINE__, 1, { DW0(MRD64, 1), WHO | 0xf, 1, 0x1001 } },
		{ __LINE__, 1, { DW0(MWR64, 1), WHO | 0xf, 1, 0x1002 } },
		{ __LINE__, 0, { DW0(CPLD, 1), WHO | 4, WHO | 0x7f, 0 } },
		{ __LINE__, 1, { DW0(CPLD, 1), WHO | 4, WHO | 0x80, 0 } },
		{ __LINE__, 0, { DW0(CPLD, 1), WHO | 1 << 13 | 4, WHO, 0 } },
		{ __LINE__, 0, { DW0(CPLD, 1), WHO | 2 << 13 | 4, WHO, 0 } },
		{ __LINE__, 1, { DW0(CPLD, 1), WHO | 3 << 13 | 4, WHO, 0 } },
		{ __LINE__, 0, { DW0(CPLD, 1), WHO | 4 << 13 | 4, WHO, 0 } },
		{ __LINE__, 1, { DW0(CPLD, 1), WHO | 5 << 13 | 4, WHO, 0 } },
		{ __LINE__, 1, { DW0(CPLD, 1), WHO | 6 << 13 | 4, WHO, 0 } },
		{ __LINE__, 1, { DW0(CPLD, 1), WHO | 7 << 13 | 4, WHO, 0 } },
		{ __LINE__, 2, { DW0(CPLD, 1), WHO | 7 << 13 | 4, WHO | 0x80, 0 } },
		{ __LINE__, 1, { DW0(CPLD, 1), WHO | 4, WHO, 1 } },
		{ __LINE__, 1, { DW0(CPL, 0), WHO | 4, WHO, 0 } },
		{ __LINE__, 0, { DW0(CPLDLK, 1), WHO | 7 << 13 | 4, WHO | 0x80, 0 } },
		{ __LINE__, 0, { DW0(CFG, 1), WHO | 0x1f, 0x1003, 0 } },
		{ __LINE__, 1, { DW0(0x1f, 1), WHO | 0x1f, 0x1003, 0 } },
		{ __LINE__, 3, { DW0(0x1f, 0), WHO | 0x1f, 0x1003, 1 } },
		{ __LINE__, 1, { DW0(0x3f, 1), WHO | 0x1f, 0x1003, 1 } },
	};
	static const uint32_t nothing[4] = { 0x1fu << 25, 0, 0, 1 };

	(void)state;
	for (size_t i = 0; i < COUNT(row); i++)
		if (less_likely(row[i].dw, sound) != row[i].less)
			fail_msg("row of line %d: %lld points less", row[i].line,
				 (long long)less_likely(row[i].dw, sound));
	assert_int_equal(less_likely(sound, sound), 0);
	assert_int_equal(less_likely(sound, nothing), 0);
	assert_int_equal(less_likely(nothing, sound), 4);
#undef DW0
#undef WHO
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bytes_missing_in_8dw_cost_one_record_and_not_all_that_follow),
		cmocka_unit_test(a_marker_that_was_changed_costs_its_record_alone),
		cmocka_unit_test(damage_between_two_windows_is_found),
		cmocka_unit_test(an_aux_cut_within_a_record_loses_nothing_and_does_not_turn_8dw_into_4dw),
		cmocka_unit_test(an_aux_cut_behind_zero_bytes_of_a_record_loses_nothing),
		cmocka_unit_test(data_that_begins_within_a_record_of_8dw_is_not_taken_for_4dw),
		cmocka_unit_test(a_jump_of_aux_offsets_is_a_gap_of_that_size),
		cmocka_unit_test(a_flag_of_truncation_is_a_gap_on_both_sides_and_counts_once),
		cmocka_unit_test(as_perf_a_flag_of_truncation_ends_nothing),
		cmocka_unit_test(a_loss_that_nothing_follows_is_told_with_an_empty_chunk),
		cmocka_unit_test(a_bad_byte_in_the_first_marker_costs_one_record_and_does_not_turn_8dw_into_4dw),
		cmocka_unit_test(bytes_cut_out_of_4dw_are_told_with_their_size_and_cost_the_records_there_alone),
		cmocka_unit_test(the_event_says_the_format_and_what_contradicts_it_is_told),
		cmocka_unit_test(a_format_that_the_records_deny_is_refused),
		cmocka_unit_test(aux_data_that_is_there_twice_counted_twice),
		cmocka_unit_test(aux_data_that_came_late_was_missing_all_the_same),
		cmocka_unit_test(records_of_4dw_off_their_grid_were_read_from_the_wrong_byte_on),
		cmocka_unit_test(aux_data_that_begins_behind_its_start_missed_nothing),
		cmocka_unit_test(each_field_that_fits_no_packet_makes_a_record_of_4dw_less_likely),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
