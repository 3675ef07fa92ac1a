/* splice_test.c: whole records that were cut out of AUX data: the place is found, and where none were, none is. */
#include "base/range.h"
#include "ptt/gen.h"
#include "ptt/handmade_int.h"
#include "ptt/pdata_test_int.h"

enum { RECORDS = 20000, CUT = 1000 };

/* A file of one AUX buffer of generated traffic, without CUT records from record `at` on; 0: with all. `sizes`: they
 * say so. */
static struct buf file_without(const struct ptt_gen_opts *o, uint32_t at, bool sizes, bool aux)
{
	const size_t record = o->format * 4u;
	const struct ptt_device d = device_of_format((enum ptt_format)o->format);
	uint8_t *p = mem_alloc(RECORDS * record);
	struct buf b = { 0 };
	struct bytes_out out = { .arg = &b, .put = memory_put, .patch = memory_patch };
	struct ptt_writer *w = NULL;
	struct ptt_gen *g;
	struct err e = { 0 };
	uint32_t n = RECORDS;

	assert_int_equal(ptt_gen_open(&g, o), 0);
	ptt_gen_fill(g, p, RECORDS * record);
	ptt_gen_close(g);
	if (at && sizes) {
		n -= CUT;
		memmove(p + at * record, p + (at + CUT) * record, (n - at) * record);
	}
	assert_int_equal(ptt_writer_open(&w, &out, &d, 1, &e), 0);
	assert_int_equal(ptt_writer_aux(w, 0, p, n * record, 0), 0);
	assert_int_equal(ptt_writer_close(w), 0);
	if (at && !sizes) {
		const size_t from = record_at(&b, PDATA_R_AUXTRACE, 0) + PDATA_AUXTRACE + at * record;

		memmove(b.p + from, b.p + from + CUT * record, b.n - from - CUT * record);
		b.n -= CUT * record;
	}
	if (aux) /* the AUX record as it was before the cut */
		set64(&b, record_at(&b, PDATA_R_AUX, 0) + 16, RECORDS * record);
	mem_free(p);
	return b;
}

/* It was told in front of all the AUX data, at time 0, so latencies spanned it. */
static void whole_records_cut_out_of_the_middle_were_told_at_the_front_and_matching_went_on_over_them(void **state)
{
	static const uint32_t places[] = { 3000, 9500, 17000 };

	(void)state;
	for (uint64_t seed = 1; seed <= 5; seed++)
		for (unsigned f = 0; f < 2; f++)
			for (size_t k = 0; k < COUNT(places); k++) {
				const struct ptt_gen_opts o = { .seed = seed,
								.format = f ? PTT_8DW : PTT_4DW,
								.no_pauses = true };
				const uint32_t record = o.format * 4u;
				struct buf b = file_without(&o, places[k], false, false);
				struct got g = read_all(&b);

				assert_int_equal(g.lost.cut_within, CUT * record);
				assert_int_equal(g.bytes[0], (RECORDS - CUT) * record);
				assert_int_equal(g.ngaps, 1);
				if (g.gap[0].gap.why != PTT_GAP_CUT)
					fail_msg("seed %lu, %u DWs, %u: why %u", (unsigned long)seed, o.format,
						 places[k], g.gap[0].gap.why);
				assert_int_equal(g.gap[0].gap.bytes, CUT * record);
				assert_uint_in_range(g.gap[0].behind / record, places[k] - 64, places[k] + 64);
				if (f)
					assert_int_equal(g.gap[0].behind / record, places[k]);
				buf_free(&b);
			}
}

/* Reads of 128 bytes, each answered in two pieces, 8 and 16 steps later.  Some of them are cut out of the middle: the
 * tags go on as if nothing were missing, and Time does; only each piece is of another address. */
static void pieces_of_another_address_show_the_place(void **state)
{
	enum { READS = 1500, TAGS = 32, STEPS = TAGS, CUT_OUT = 3 * STEPS, AT = 700, FIRST = 8, SECOND = 16 };

	(void)state;
	for (unsigned f = 0; f < 2; f++) {
		const enum ptt_format format = f ? PTT_8DW : PTT_4DW;
		const struct ptt_device d = device_of_format(format);
		const uint32_t record = format * 4u;
		uint8_t *const p = mem_alloc(READS * 3 * record), *to = p;
		uint32_t place = 0;
		struct buf b = { 0 };
		struct bytes_out out = { .arg = &b, .put = memory_put, .patch = memory_patch };
		struct ptt_writer *w = NULL;
		struct err e = { 0 };
		struct got g;

		for (uint32_t i = 0, time = 0; i < READS; i++) {
			if (i == AT)
				place = (uint32_t)(to - p) / record;
			if (i == AT + STEPS)
				time -= 4 * CUT_OUT;
			for (uint32_t k = 0; k < 3; k++) {
				const uint32_t of = i - (k == 0 ? 0 : k == 1 ? FIRST : SECOND);
				const uint32_t who = 0x100u << 16 | of % TAGS << 8, lower = 64 * (of / TAGS & 1);
				struct handmade h = { .length = 32,
						      .dw1 = who | 0xff,
						      .dw2 = 0x10000 + 256 * of + lower };

				if (k > i / FIRST)
					continue;
				if (k)
					h = (struct handmade){ .fmt = 2,
							       .type = 0x0a,
							       .length = 16,
							       .dw1 = 0x80u << 16 | (k == 1 ? 128 : 64),
							       .dw2 = who | ((lower + 64 * (k - 1)) & 0x7f) };
				h.time = time += 4;
				to = handmade(to, format, &h);
			}
		}
		assert_int_equal(ptt_writer_open(&w, &out, &d, 1, &e), 0);
		assert_int_equal(ptt_writer_aux(w, 0, p, (size_t)(to - p), 0), 0);
		assert_int_equal(ptt_writer_close(w), 0);
		const size_t from = record_at(&b, PDATA_R_AUXTRACE, 0) + PDATA_AUXTRACE + place * record;
		memmove(b.p + from, b.p + from + CUT_OUT * record, b.n - from - CUT_OUT * record);
		b.n -= CUT_OUT * record;
		g = read_all(&b);
		assert_int_equal(g.ngaps, 1);
		assert_int_equal(g.gap[0].gap.why, PTT_GAP_CUT);
		assert_int_equal(g.gap[0].gap.bytes, CUT_OUT * record);
		if (g.gap[0].behind / record + 64 < place || g.gap[0].behind / record > place + 64)
			fail_msg("%u DWs: behind %u, not %u", format, (unsigned)(g.gap[0].behind / record), place);
		buf_free(&b);
		mem_free(p);
	}
}

/* No size and no offset told, so nobody did: not a word, and unexpected completions that were the cut's. */
static void whole_records_that_no_size_misses_were_missed_by_nobody(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 20; seed++) {
		const struct ptt_gen_opts o = { .seed = seed, .format = PTT_8DW, .no_pauses = seed % 2 };
		struct buf b = file_without(&o, 9500, true, false);
		struct got g = read_all(&b);

		assert_int_equal(g.bytes[0], (RECORDS - CUT) * 32);
		assert_int_equal(g.ngaps, 1);
		assert_int_equal(g.gap[0].gap.why, PTT_GAP_BROKEN_OFF);
		assert_int_equal(g.gap[0].behind / 32, 9500);
		buf_free(&b);
	}
}

/* ---- records of 4DW off their grid ------------------------------------------------------------------------------- */

/* A file of one AUX buffer of n bytes; its size and offset are right. */
static struct got read_bytes(const uint8_t *p, size_t n)
{
	const struct ptt_device d = device_of_format(PTT_4DW);
	struct buf b = { 0 };
	struct bytes_out out = { .arg = &b, .put = memory_put, .patch = memory_patch };
	struct ptt_writer *w = NULL;
	struct err e = { 0 };
	struct got g;

	assert_int_equal(ptt_writer_open(&w, &out, &d, 1, &e), 0);
	assert_int_equal(ptt_writer_aux(w, 0, p, n, 0), 0);
	assert_int_equal(ptt_writer_close(w), 0);
	g = read_all(&b);
	buf_free(&b);
	return g;
}

static uint8_t *records_4dw(uint64_t seed, size_t n)
{
	const struct ptt_gen_opts o = { .seed = seed, .format = PTT_4DW, .no_pauses = seed % 2 };
	uint8_t *p = mem_alloc(n * 16);
	struct ptt_gen *g;

	assert_int_equal(ptt_gen_open(&g, &o), 0);
	ptt_gen_fill(g, p, n * 16);
	ptt_gen_close(g);
	return p;
}

/* Of 1,024 records the first 64 were looked at, and of less than 65 at the end none. What was off the grid behind them
 * became packets that nobody sent. */
static void bytes_cut_out_of_4dw_left_records_off_the_grid_that_were_told_as_other_packets(void **state)
{
	static const size_t cuts[] = { 4, 5, 8, 12, 15, 100, 1608 }, tails[] = { 5, 12, 40, 173, 380, 1500 };

	(void)state;
	for (uint64_t seed = 1; seed <= 6; seed++)
		for (size_t i = 0; i < COUNT(cuts) * COUNT(tails); i++) {
			const size_t cut = cuts[i % COUNT(cuts)], tail = tails[i / COUNT(cuts)],
				     front = 200 + 250 * seed;
			const size_t at = front * 16 + 4 * (seed % 4), behind = (at + cut + 15) / 16 * 16;
			const size_t n = behind + tail * 16;
			uint8_t *p = records_4dw(seed, n / 16);

			memmove(p + at, p + at + cut, n - at - cut);
			struct got g = read_bytes(p, n - cut);

			mem_free(p);
			if (g.ngaps == 0 && tail < 12 && g.lost.odd_bytes) /* too few to tell where: this is said */
				continue;
			if (g.ngaps != 1 || g.lost.stray_bytes != 0 || g.bytes[0] % 16 != 0)
				fail_msg("seed %lu: %zu bytes cut, %zu records behind them: %u gaps, %lu stray bytes",
					 (unsigned long)seed, cut, tail, g.ngaps, (unsigned long)g.lost.stray_bytes);
			assert_int_equal(g.gap[0].gap.why, PTT_GAP_DAMAGE);
			assert_uint_in_range(g.gap[0].behind / 16, front - 1, front + 6);
			assert_uint_in_range(g.bytes[0] / 16, front + tail - 1, front + tail + 1);
		}
}

/* The sizes agree then: nothing but the records tells. */
static void two_cuts_that_make_whole_records_left_the_records_between_them_off_the_grid(void **state)
{
	enum { FRONT = 1100, N = 3000 };

	(void)state;
	for (uint64_t seed = 1; seed <= 20; seed++) {
		const size_t apart = 500 + 20 * seed, cut = 4 * (1 + seed % 3);
		uint8_t *p = records_4dw(seed, N);

		memmove(p + FRONT * 16, p + FRONT * 16 + cut, (N - FRONT) * 16 - cut);
		const size_t second = (FRONT + apart) * 16, end = (size_t)N * 16 - 16;
		memmove(p + second, p + second + 16 - cut, end - second);
		struct got g = read_bytes(p, end);

		mem_free(p);
		assert_int_equal(g.ngaps, 2);
		assert_uint_in_range(g.gap[0].behind / 16, FRONT - 1, FRONT + 6);
		assert_uint_in_range(g.gap[1].behind / 16, FRONT + apart - 6, FRONT + apart + 6);
	}
}

/* Records of one DW again and again look as good at each of four places: the first of them is taken. */
static void of_places_that_look_as_good_the_first_is_where_records_go_on(void **state)
{
	enum { ALL = 1600, AT = 700 * 16, CUT_OUT = 3, BEHIND = 13 };
	static const uint8_t dw[] = { 0x00, 0x20, 0x00, 0xc0 }; /* MWr64 of 4 DWs */
	uint8_t *p = mem_alloc(ALL * 16);
	size_t n = ALL * 16;
	struct got g;

	(void)state;
	for (size_t i = 0; i < n; i++)
		p[i] = dw[i % 4];
	memmove(p + AT, p + AT + CUT_OUT, n - AT - CUT_OUT);
	n -= CUT_OUT + BEHIND;
	g = read_bytes(p, n);
	assert_int_equal(g.ngaps, 1);
	assert_int_equal(g.gap[0].gap.why, PTT_GAP_DAMAGE);
	assert_int_equal(g.gap[0].gap.passed, 1);
	assert_int_equal(g.gap[0].gap.bytes, 15);
	assert_int_equal(g.gap[0].behind, AT);
	assert_int_equal(g.bytes[0], n - 16);
	mem_free(p);
}

static void a_4dw_trace_whose_last_record_was_cut_off_is_on_its_grid_to_the_end(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 100; seed++) {
		const size_t n = 50 + 37 * seed;
		uint8_t *p = records_4dw(seed, n);
		struct got g = read_bytes(p, n * 16 - 1 - seed % 15);

		mem_free(p);
		assert_int_equal(g.ngaps, 0);
		assert_int_equal(g.bytes[0], n * 16 - 16);
		assert_int_equal(g.lost.odd_bytes, 0);
	}
}

/* Pauses, failures, late and lost answers are no missing records. */
static void a_whole_trace_has_no_gap_whatever_fails_in_it(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 40; seed++) {
		const struct ptt_gen_opts o = { .seed = seed,
						.format = PTT_8DW,
						.tags = seed % 3 ? 64 : 4,
						.requesters = seed % 5 ? 8 : 2,
						.faults = seed % 2 ? 2000 : 0,
						.first_time = seed % 4 ? 0 : UINT32_MAX - 1000 };
		struct buf b = file_without(&o, 0, true, false);
		struct got g = read_all(&b);

		assert_int_equal(g.bytes[0], RECORDS * 32);
		if (g.ngaps)
			fail_msg("seed %lu: a gap behind %lu records", (unsigned long)seed,
				 (unsigned long)g.gap[0].behind / 32);
		buf_free(&b);
	}
}

/* With 2 % of errors of each kind three unexpected completions stand behind some long step in one trace of thirty. */
static void unexpected_completions_that_stood_together_were_told_as_missing_records(void **state)
{
	static const struct {
		uint64_t seed;
		uint32_t tags, requesters;
	} of[] = { { 62, 64, 4 }, { 71, 4, 4 }, { 77, 64, 8 }, { 104, 64, 2 }, { 107, 64, 2 } };

	(void)state;
	for (size_t i = 0; i < COUNT(of); i++) {
		const struct ptt_gen_opts o = { .seed = of[i].seed,
						.format = PTT_8DW,
						.tags = of[i].tags,
						.requesters = of[i].requesters,
						.faults = 20000,
						.pages = of[i].tags == 4 ? 4 : 0,
						.no_pauses = of[i].seed & 4 };
		struct buf b = file_without(&o, 0, true, false);
		struct got g = read_all(&b);

		if (g.ngaps)
			fail_msg("seed %lu: a gap behind %lu records", (unsigned long)o.seed,
				 (unsigned long)g.gap[0].behind / 32);
		buf_free(&b);
	}
}

/* Events of a model's device have type 0, and their ids were passed over: nothing of their AUX records was believed. */
static void aux_records_of_a_models_device_were_passed_over(void **state)
{
	struct ptt_device d = device_of_format(PTT_4DW);
	struct buf b = { 0 };
	struct bytes_out out = { .arg = &b, .put = memory_put, .patch = memory_patch };
	struct ptt_writer *w = NULL;
	struct err e = { 0 };
	uint8_t p[9 * 16 + 9] = { 0 };
	struct got g;

	(void)state;
	d.pmu_type = 0;
	records(p, 9, PTT_4DW, 1);
	p[sizeof(p) - 1] = 1;
	assert_int_equal(ptt_writer_open(&w, &out, &d, 1, &e), 0);
	assert_int_equal(ptt_writer_aux(w, 0, p, sizeof(p), 0), 0);
	assert_int_equal(ptt_writer_close(w), 0);
	g = read_all(&b);
	assert_int_equal(g.bytes[0], 9 * 16);
	assert_int_equal(g.lost.stray_bytes, 9); /* of 16, as the file rounds them up */
	set64(&b, record_at(&b, PDATA_R_AUX, 0) + 16, 100 * 16);
	g = read_all(&b);
	assert_int_equal(g.ngaps, 1);
	assert_int_equal(g.gap[0].gap.why, PTT_GAP_SHORT);
	buf_free(&b);
}

static void aux_records_that_told_of_more_data_than_there_is_were_believed_without_a_word(void **state)
{
	const struct ptt_gen_opts o = { .seed = 3, .format = PTT_4DW };
	struct buf b = file_without(&o, 9500, true, true);
	struct got g = read_all(&b);

	(void)state;
	assert_int_equal(g.ngaps, 1);
	assert_int_equal(g.gap[0].gap.why, PTT_GAP_SHORT);
	assert_int_equal(g.gap[0].gap.bytes, CUT * 16);
	assert_string_equal(g.lost.words, "16000 bytes that AUX records tell of did not come");
	buf_free(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			whole_records_cut_out_of_the_middle_were_told_at_the_front_and_matching_went_on_over_them),
		cmocka_unit_test(pieces_of_another_address_show_the_place),
		cmocka_unit_test(whole_records_that_no_size_misses_were_missed_by_nobody),
		cmocka_unit_test(bytes_cut_out_of_4dw_left_records_off_the_grid_that_were_told_as_other_packets),
		cmocka_unit_test(two_cuts_that_make_whole_records_left_the_records_between_them_off_the_grid),
		cmocka_unit_test(of_places_that_look_as_good_the_first_is_where_records_go_on),
		cmocka_unit_test(a_4dw_trace_whose_last_record_was_cut_off_is_on_its_grid_to_the_end),
		cmocka_unit_test(a_whole_trace_has_no_gap_whatever_fails_in_it),
		cmocka_unit_test(unexpected_completions_that_stood_together_were_told_as_missing_records),
		cmocka_unit_test(aux_records_of_a_models_device_were_passed_over),
		cmocka_unit_test(aux_records_that_told_of_more_data_than_there_is_were_believed_without_a_word),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
