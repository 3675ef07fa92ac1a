/* splice_test.c: whole records that were cut out of AUX data: the place is found, and where none were, none is. */
#include "ptt/gen.h"
#include "ptt/pdata_test_int.h"

enum { RECORDS = 20000, CUT = 1000 };

/* A file of one AUX buffer of generated traffic, without CUT records from record `at` on; 0: with all. `sizes`: they say so. */
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
				assert_in_range(g.gap[0].behind / record, places[k] - 64, places[k] + 64);
				if (f)
					assert_int_equal(g.gap[0].behind / record, places[k]);
				buf_free(&b);
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
		cmocka_unit_test(whole_records_that_no_size_misses_were_missed_by_nobody),
		cmocka_unit_test(a_whole_trace_has_no_gap_whatever_fails_in_it),
		cmocka_unit_test(aux_records_of_a_models_device_were_passed_over),
		cmocka_unit_test(aux_records_that_told_of_more_data_than_there_is_were_believed_without_a_word),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
