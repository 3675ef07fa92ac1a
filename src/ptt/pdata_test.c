/* pdata_test.c: whole files, cut files, files that lie. */
#include <stdio.h>
#include <stdlib.h>

#include "ptt/pdata_test_int.h"

#define GOLDEN "test/fixture/ptt-8dw-golden.perf.data"

#define assert_words(g, text)                                                      \
	do {                                                                       \
		if (!strstr((g).lost.words, text))                                 \
			fail_msg("\"%s\" is not in \"%s\"", text, (g).lost.words); \
	} while (0)

/* ---- whole ------------------------------------------------------------------------ */

static void is_golden(const struct got *g)
{
	assert_int_equal(g->open, 0);
	assert_int_equal(g->next, 0);
	assert_int_equal(g->bytes[0], 819200);
	assert_int_equal(g->format, PTT_8DW);
	assert_int_equal(g->firsts, 1);
	assert_int_equal(g->ndev, 1);
	assert_string_equal(g->dev[0].name, "hisi_ptt0_2");
	assert_int_equal(g->dev[0].pmu_type, 11);
	assert_int_equal(g->dev[0].config, 0x107280001);
	assert_false(g->dev[0].tag14);
	assert_string_equal(g->lost.words, "");
}

static struct buf file_bytes(const char *path)
{
	struct buf b = { 0 };
	char p[65536];
	FILE *f = fopen(path, "rb");
	size_t n;

	while (f && (n = fread(p, 1, sizeof(p), f)) > 0)
		buf_put(&b, p, n);
	if (f)
		fclose(f);
	return b;
}

static void golden_fixture_is_read_whole(void **state)
{
	struct buf b = file_bytes(GOLDEN);

	(void)state;
	if (!b.n) {
		print_message("skipped: %s is not here (run from the project's top)\n", GOLDEN);
		skip();
	}
	for (int stream = 0; stream < 2; stream++) {
		struct got g = read_opts((uint8_t *)b.p, b.n, stream, NULL, true);

		is_golden(&g);
		assert_memory_equal(g.data[0].p, b.p + 0x6280, 819200);
		got_free(&g);
	}
	buf_free(&b);
}

static void is_two_devices(const struct got *g)
{
	uint8_t p[60 * 16];

	assert_int_equal(g->open, 0);
	assert_int_equal(g->next, 0);
	assert_int_equal(g->bytes[0], 3 * 40 * 32);
	assert_int_equal(g->bytes[1], 3 * 60 * 16);
	assert_int_equal(g->firsts, 6);
	assert_int_equal(g->ndev, 2);
	for (int d = 0; d < 2; d++) {
		assert_string_equal(g->dev[d].name, two_devices[d].name);
		assert_int_equal(g->dev[d].config, two_devices[d].config);
		assert_int_equal(g->dev[d].cpu, two_devices[d].cpu);
		assert_int_equal(g->dev[d].tag14, two_devices[d].tag14);
	}
	assert_string_equal(g->lost.words, "");
	for (uint32_t i = 0; i < 3 && g->data[1].n; i++) {
		records(p, 60, PTT_4DW, i);
		assert_memory_equal(g->data[1].p + i * sizeof(p), p, sizeof(p));
	}
}

static void interleaved_chunks_of_two_devices_are_told_apart(void **state)
{
	(void)state;
	for (int patchable = 0; patchable < 2; patchable++)
		for (int stream = 0; stream < 2; stream++) {
			struct buf b = two_device_file(patchable);
			struct got g = read_opts((uint8_t *)b.p, b.n, stream, NULL, true);

			is_two_devices(&g);
			got_free(&g);
			buf_free(&b);
		}
}

/* What a record of AUX data says of itself is in each of its chunks. */
static void a_chunk_has_what_its_record_says(void **state)
{
	struct buf b = two_device_file(true);
	struct memory m = { .p = (const uint8_t *)b.p, .n = b.n };
	struct bytes_in in;
	struct ptt_reader *r = NULL;
	struct ptt_chunk c;
	struct err e = { 0 };
	uint32_t n = 0;

	(void)state;
	for (uint32_t i = 0; i < 6; i++) {
		const size_t at = record_at(&b, PDATA_R_AUXTRACE, i);

		assert_true(at > 0);
		set64(&b, at + 24, 0x1122334455667700 + i);
		set32(&b, at + 36, 0x8899aa00 + i);
		set32(&b, at + 40, 0xbbccdd00 + i);
	}
	in = memory_in(&m);
	assert_int_equal(ptt_reader_open(&r, &in, NULL, &e), 0);
	while (ptt_reader_next(r, &c, &e) == 1) {
		const size_t at = record_at(&b, PDATA_R_AUXTRACE, n);

		assert_int_equal(c.ref, 0x1122334455667700 + n);
		assert_int_equal(c.tid, 0x8899aa00 + n);
		assert_int_equal(c.cpu, 0xbbccdd00 + n);
		assert_int_equal(c.total, pdata_u64((const uint8_t *)b.p + at + 8));
		assert_int_equal(c.aux_offset, pdata_u64((const uint8_t *)b.p + at + 16));
		assert_int_equal(c.idx, pdata_u32((const uint8_t *)b.p + at + 32));
		assert_int_equal(c.n, n % 2 ? 60 * 16 : 40 * 32);
		assert_int_equal(c.offset, at + 48);
		assert_int_equal(c.at, 0);
		assert_true(c.first);
		n++;
	}
	assert_int_equal(n, 6);
	ptt_reader_close(r);
	buf_free(&b);
}

/* Rows of 96, 144 and 160 bytes are what older and newer perfs write. */
static void attrs_of_any_sane_size_are_read(void **state)
{
	static const size_t row[] = { 80, 112, 160, 512 };

	(void)state;
	for (size_t i = 0; i < COUNT(row); i++) {
		struct buf was = two_device_file(true), b = { 0 };
		size_t data = pdata_u64((uint8_t *)was.p + 40), at = 104 + 16;
		struct got g;

		buf_put(&b, was.p, at);
		for (int d = 0; d < 2; d++) {
			char attr[512] = { 0 };

			memcpy(attr, was.p + at + d * 144, row[i] < 144 ? row[i] - 16 : 128);
			memcpy(attr + row[i] - 16, was.p + at + d * 144 + 128, 16);
			buf_put(&b, attr, row[i]);
		}
		set64(&b, 16, row[i]);
		set64(&b, 32, 2 * row[i]);
		set64(&b, 40, b.n);
		memset(b.p + 72, 0, 32); /* the features have moved */
		buf_put(&b, was.p + data, pdata_u64((uint8_t *)was.p + 48));
		g = read_all(&b);
		is_two_devices(&g);
		buf_free(&was);
		buf_free(&b);
	}
}

static void names_come_from_features_where_no_event_update_has_them(void **state)
{
	struct buf b = two_device_file(true);
	struct got g;

	(void)state;
	set64(&b, record_at(&b, PDATA_R_EVENT_UPDATE, 0) + 8, 0);
	set64(&b, record_at(&b, PDATA_R_EVENT_UPDATE, 1) + 8, 0);
	g = read_all(&b);
	is_two_devices(&g);
	memset(b.p + 72, 0, 32);
	g = read_all(&b);
	assert_string_equal(g.dev[0].name, "ptt0");
	assert_string_equal(g.dev[1].name, "ptt1");
	buf_free(&b);
}

/* ---- the end of AUX data ---------------------------------------------------------- */

static struct buf one_commit(enum ptt_format f, const uint8_t *p, size_t n, uint32_t flags)
{
	const struct ptt_device dev = device_of_format(f);
	struct buf b = { 0 };
	struct bytes_out out = { .arg = &b, .put = memory_put, .patch = memory_patch };
	struct ptt_writer *w = NULL;
	struct err e = { 0 };

	assert_int_equal(ptt_writer_open(&w, &out, &dev, 1, &e), 0);
	assert_int_equal(ptt_writer_aux(w, 0, p, n, flags), 0);
	assert_int_equal(ptt_writer_close(w), 0);
	return b;
}

static void nine_stray_bytes_are_no_record(void **state)
{
	const struct ptt_reader_opts as_perf = { .as_perf = true };
	uint8_t p[10 * 16];
	struct buf b;
	struct got g;

	(void)state;
	records(p, 10, PTT_4DW, 1);
	b = one_commit(PTT_4DW, p, 9 * 16 + 9, 0);
	g = read_all(&b);
	assert_int_equal(g.bytes[0], 9 * 16);
	assert_int_equal(g.lost.stray_bytes, 9);
	assert_words(g, "9 bytes at the ends of AUX data make no whole record");
	g = read_opts((uint8_t *)b.p, b.n, false, &as_perf, false);
	assert_int_equal(g.bytes[0], 10 * 16);
	buf_free(&b);
}

/* perf may read the AUX record after the data that it tells of. */
static void aux_record_behind_its_data_tells_the_size_too(void **state)
{
	uint8_t p[10 * 16];
	struct buf b, c = { 0 };
	struct got g;
	size_t aux, data;

	(void)state;
	records(p, 10, PTT_4DW, 1);
	b = one_commit(PTT_4DW, p, 9 * 16 + 9, 0);
	aux = record_at(&b, PDATA_R_AUX, 0);
	data = record_at(&b, PDATA_R_AUXTRACE, 0);
	buf_put(&c, b.p, aux);
	buf_put(&c, b.p + data, 48 + 10 * 16);
	buf_put(&c, b.p + aux, 64);
	set64(&c, 48, c.n - pdata_u64((uint8_t *)c.p + 40));
	memset(c.p + 72, 0, 32);
	for (int stream = 0; stream < 2; stream++) {
		g = read_opts((uint8_t *)c.p, c.n, stream, NULL, false);
		assert_int_equal(g.bytes[0], 9 * 16);
		assert_int_equal(g.lost.stray_bytes, 9);
	}
	set64(&c, c.n - 64 + 16, 10 * 16);
	g = read_all(&c);
	assert_int_equal(g.bytes[0], 10 * 16);
	assert_string_equal(g.lost.words, "");
	buf_free(&b);
	buf_free(&c);
}

/* In front of other records zeros are what was written over. */
static void zeros_in_the_middle_of_aux_data_counted_as_padding_and_nobody_told_them(void **state)
{
	const struct ptt_reader_opts as_perf = { .as_perf = true };
	static const enum ptt_format formats[] = { PTT_4DW, PTT_8DW };

	(void)state;
	for (size_t i = 0; i < COUNT(formats); i++) {
		size_t record = formats[i] * 4u, n = 100 * record;
		uint8_t *p = calloc(1, n);
		struct buf b;
		struct got g;

		records(p + 3 * record, 50, formats[i], 1);
		memset(p + 7 * record, 0, 2 * record);
		b = one_commit(formats[i], p, n, 0);
		g = read_opts((uint8_t *)b.p, b.n, false, NULL, true);
		assert_int_equal(g.format, formats[i]);
		assert_int_equal(g.bytes[0], 48 * record);
		assert_int_equal(g.lost.padding_records, 47);
		assert_int_equal(g.lost.blank_bytes, 5 * record);
		assert_int_equal(g.firsts, 1);
		assert_words(g, "zeros: no padding, as records follow");
		assert_int_equal(g.ngaps, 2);
		assert_int_equal(g.gap[1].gap.passed, 2 * record);
		assert_int_equal(g.gap[1].behind, 4 * record);
		assert_memory_equal(g.data[0].p, p + 3 * record, 4 * record);
		assert_memory_equal(g.data[0].p + 4 * record, p + 9 * record, 44 * record);
		got_free(&g);
		g = read_opts((uint8_t *)b.p, b.n, false, &as_perf, false);
		assert_int_equal(g.bytes[0], n);
		buf_free(&b);
		free(p);
	}
}

static void all_zero_data_has_no_record_and_a_header_line_as_perf_has_it(void **state)
{
	const struct ptt_reader_opts as_perf = { .as_perf = true };
	uint8_t p[64] = { 0 };
	struct buf b = one_commit(PTT_4DW, p, sizeof(p), 0), c = one_commit(PTT_4DW, p, 8, 0);
	struct got g = read_all(&b);

	(void)state;
	assert_int_equal(g.chunks, 0);
	assert_int_equal(g.lost.padding_records, 4);
	g = read_opts((uint8_t *)c.p, c.n, false, &as_perf, false);
	assert_int_equal(g.chunks, 1);
	assert_int_equal(g.firsts, 1);
	assert_int_equal(g.bytes[0], 0);
	buf_free(&b);
	buf_free(&c);
}

static void truncated_aux_is_counted(void **state)
{
	uint8_t p[32];
	struct buf b;
	struct got g;

	(void)state;
	records(p, 1, PTT_8DW, 1);
	b = one_commit(PTT_8DW, p, sizeof(p), PDATA_AUX_TRUNCATED);
	g = read_all(&b);
	assert_int_equal(g.lost.truncated_aux, 1);
	assert_words(g, "the driver lost data");
	buf_free(&b);
}

static void a_record_larger_than_a_window_is_given_in_pieces(void **state)
{
	size_t n = 3 * (size_t)PTT_WINDOW_MOST + 64;
	uint8_t *p = malloc(n);
	struct buf b;
	struct got g;

	(void)state;
	records(p, (uint32_t)(n / 32), PTT_8DW, 1);
	b = one_commit(PTT_8DW, p, n, 0);
	g = read_opts((uint8_t *)b.p, b.n, true, NULL, true);
	assert_int_equal(g.bytes[0], n);
	assert_true(g.chunks >= 4);
	assert_int_equal(g.firsts, 1);
	assert_int_equal(g.end, n);
	assert_memory_equal(g.data[0].p, p, n);
	got_free(&g);
	buf_free(&b);
	free(p);
}

/* ---- cut files -------------------------------------------------------------------- */

/* What a cut leaves of each device's records, from the whole file's own AUXTRACE records. */
static void expect_cut(const struct buf *b, size_t cut, uint64_t want[2])
{
	size_t at;

	want[0] = want[1] = 0;
	for (unsigned i = 0; (at = record_at(b, PDATA_R_AUXTRACE, i)); i++) {
		const uint8_t *p = (const uint8_t *)b->p + at;
		uint64_t n = pdata_u64(p + 8), room = cut > at + 48 ? cut - at - 48 : 0;
		uint64_t record = pdata_u32(p + 48) == UINT32_MAX ? 32 : 16;

		n = n < room ? n : room;
		want[pdata_u32(p + 32)] += n / record * record;
	}
}

static void cut_at(const struct buf *b, size_t cut, bool stream)
{
	struct got g = read_opts((uint8_t *)b->p, cut, stream, NULL, false);
	size_t data_end = pdata_u64((uint8_t *)b->p + 40) + pdata_u64((uint8_t *)b->p + 48);
	uint64_t want[2];

	if (cut < PDATA_HEADER) {
		assert_true(g.open < 0 && *g.e.text);
		return;
	}
	expect_cut(b, cut, want);
	if (g.open < 0 || g.bytes[0] != want[0] || g.bytes[1] != want[1])
		fail_msg("cut at %zu: %d, %lu and %lu bytes, not %lu and %lu", cut, g.open, g.bytes[0], g.bytes[1],
			 want[0], want[1]);
	if (cut < data_end)
		assert_int_equal(g.lost.cut_bytes, data_end - cut);
	if (cut < b->n && !*g.lost.words)
		fail_msg("cut at %zu: no words", cut);
	assert_int_equal(g.lost.unknown_records, 0);
}

/* 200 places all over the file, and each border of a record with its neighbours. */
static void cut_everywhere(const struct buf *b)
{
	const uint8_t *p = (const uint8_t *)b->p;
	size_t at = pdata_u64(p + 40), end = at + pdata_u64(p + 48);

	for (size_t i = 0; i <= 200; i++)
		cut_at(b, b->n * i / 200, i % 2);
	for (size_t i = 0; at < end; i++) {
		bool data = pdata_u32(p + at) == PDATA_R_AUXTRACE;

		for (size_t d = 0; d < (data ? 100 : 3); d++)
			cut_at(b, at - 1 + d, (i + d) % 2);
		at += pdata_u16(p + at + 6) + (data ? pdata_u64(p + at + 8) : 0);
	}
	for (size_t d = 0; d < 3; d++)
		cut_at(b, end - 1 + d, d % 2);
}

static void cut_two_device_file_gives_every_whole_record(void **state)
{
	struct buf b = two_device_file(true);

	(void)state;
	cut_everywhere(&b);
	buf_free(&b);
}

static void cut_golden_file_gives_every_whole_record(void **state)
{
	struct buf b = file_bytes(GOLDEN);

	(void)state;
	if (!b.n) {
		print_message("skipped: %s is not here (run from the project's top)\n", GOLDEN);
		skip();
	}
	cut_everywhere(&b);
	buf_free(&b);
}

static void cut_pipe_format_gives_every_whole_record(void **state)
{
	struct buf b = two_device_file(false);

	(void)state;
	for (size_t cut = PDATA_PIPE_HEADER; cut < b.n; cut += 7) {
		struct got g = read_opts((uint8_t *)b.p, cut, cut % 2, NULL, false);
		uint64_t want[2];

		expect_cut(&b, cut, want);
		if (cut <= record_at(&b, PDATA_R_AUXTRACE_INFO, 0))
			continue;
		assert_int_equal(g.open, 0);
		assert_int_equal(g.bytes[0], want[0]);
		assert_int_equal(g.bytes[1], want[1]);
	}
	buf_free(&b);
}

static void unfinished_header_is_read_to_the_end_of_the_file(void **state)
{
	struct buf b = two_device_file(true);
	size_t last = record_at(&b, PDATA_R_AUXTRACE, 5);
	struct got g;

	(void)state;
	set64(&b, 48, 0);
	b.n = last + 48 + 60 * 16;
	for (int stream = 0; stream < 2; stream++) {
		g = read_opts((uint8_t *)b.p, b.n, stream, NULL, false);
		assert_int_equal(g.bytes[0], 3 * 40 * 32);
		assert_int_equal(g.bytes[1], 3 * 60 * 16);
		assert_words(g, "the recording was not finished");
	}
	b.n -= 20;
	g = read_all(&b);
	assert_int_equal(g.bytes[1], 3 * 60 * 16 - 32);
	assert_int_equal(g.lost.cut_bytes, 20);
	buf_free(&b);
}

/* ---- lies ------------------------------------------------------------------------- */

static void opens_with(const struct buf *b, int code, const char *text)
{
	struct got g = read_all(b);

	if (g.open != -code || !strstr(g.e.text, text))
		fail_msg("%d \"%s\", not %d \"%s\"", g.open, g.e.text, -code, text);
}

static void what_is_no_perf_data_is_refused_in_words(void **state)
{
	struct buf b = { 0 };

	(void)state;
	opens_with(&b, TALLY_ECORRUPT, "the file is empty");
	for (int i = 0; i < 64; i++)
		buf_putc(&b, (char)0xff);
	opens_with(&b, TALLY_ECORRUPT, "it looks like raw records of 8DW");
	memcpy(b.p, "2ELIFREP", 8);
	opens_with(&b, TALLY_ENOTSUP, "big-endian");
	memcpy(b.p,
	       "\x7f"
	       "ELF....",
	       8);
	opens_with(&b, TALLY_ECORRUPT, "not a perf.data file");
	memcpy(b.p, "PERFILE2", 8);
	opens_with(&b, TALLY_ECORRUPT, "the header is damaged: it is cut, 64 bytes are left of it");
	buf_free(&b);
}

static void a_damaged_header_is_an_error_and_never_searched_for(void **state)
{
	static const struct {
		size_t at;
		uint64_t v;
		const char *text;
	} row[] = {
		{ 8, 0, "its size can't be" },         { 8, 1ull << 63, "its size can't be" },
		{ 16, 0, "size of an attr" },          { 16, 79, "size of an attr" },
		{ 16, 1ull << 63, "size of an attr" }, { 24, 3, "no attrs" },
		{ 32, UINT64_MAX, "no attrs" },        { 40, 0, "no data" },
		{ 40, 1ull << 63, "no data" },         { 48, UINT64_MAX - 100, "no data" },
		{ 48, 1ull << 63, "no data" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(row); i++) {
		struct buf b = two_device_file(true);

		set64(&b, row[i].at, row[i].v);
		opens_with(&b, TALLY_ECORRUPT, row[i].text);
		buf_free(&b);
	}
}

static void a_file_without_ptt_data_is_refused(void **state)
{
	struct buf b = two_device_file(true);

	(void)state;
	set32(&b, record_at(&b, PDATA_R_AUXTRACE_INFO, 0) + 8, 1);
	set32(&b, record_at(&b, PDATA_R_AUXTRACE_INFO, 1) + 8, 1);
	opens_with(&b, TALLY_EINVAL, "no HiSilicon PTT data in this file: its AUX data is of type 1");
	buf_free(&b);
}

static void data_of_a_foreign_pmu_is_passed_over(void **state)
{
	struct buf b = two_device_file(true);
	struct got g;

	(void)state;
	set32(&b, record_at(&b, PDATA_R_AUXTRACE_INFO, 1) + 8, 3);
	for (int stream = 0; stream < 2; stream++) {
		g = read_opts((uint8_t *)b.p, b.n, stream, NULL, false);
		assert_int_equal(g.ndev, 1);
		assert_int_equal(g.bytes[0], 3 * 40 * 32);
		assert_string_equal(g.lost.words, "");
	}
	buf_free(&b);
}

static void data_without_info_is_taken_for_ptt_and_said_so(void **state)
{
	struct buf b = two_device_file(true);
	struct got g;

	(void)state;
	for (int d = 0; d < 2; d++)
		set32(&b, record_at(&b, PDATA_R_AUXTRACE_INFO, 0), 5);
	g = read_all(&b);
	assert_int_equal(g.bytes[0], 3 * 40 * 32 + 3 * 60 * 16);
	assert_words(g, "no AUXTRACE_INFO");
	buf_free(&b);
}

static void without_an_id_index_the_aux_records_tell_the_device(void **state)
{
	struct buf b = two_device_file(true);
	struct got g;

	(void)state;
	set32(&b, record_at(&b, PDATA_R_ID_INDEX, 0), 5);
	g = read_all(&b);
	is_two_devices(&g);
	for (unsigned i = 0; i < 6; i++)
		set32(&b, record_at(&b, PDATA_R_AUX, 0), 5);
	g = read_all(&b);
	assert_int_equal(g.bytes[0], 3 * 40 * 32 + 3 * 60 * 16);
	assert_words(g, "which device");
	buf_free(&b);
}

/* perf opens an event once for each CPU, with an id each, and an AUX record may name any of them. */
static void each_id_of_an_event_tells_the_device(void **state)
{
	struct buf b = two_device_file(true);
	struct got g;

	(void)state;
	set32(&b, record_at(&b, PDATA_R_ID_INDEX, 0), 5);
	for (uint64_t d = 0; d < 2; d++) {
		const size_t attr = 104 + 16 + d * 144;
		uint64_t ids[] = { 7700 + d, 8800 + d, 0 };

		memcpy(&ids[2], b.p + pdata_u64((uint8_t *)b.p + attr + 128), 8);
		set64(&b, attr + 128, b.n);
		set64(&b, attr + 136, sizeof(ids));
		buf_put(&b, ids, sizeof(ids));
	}
	g = read_all(&b);
	is_two_devices(&g);
	buf_free(&b);
}

/* The AUX record's exact size stands against the lie; without one the data is taken as far as it
 * goes. */
static void a_lying_auxtrace_size_loses_nothing_that_aux_records_tell(void **state)
{
	static const uint64_t lie[] = { 1ull << 63, UINT64_MAX, 1ull << 40 };
	struct buf b = two_device_file(true);
	size_t first = record_at(&b, PDATA_R_AUXTRACE, 0);
	struct got g;

	(void)state;
	for (size_t i = 0; i < COUNT(lie); i++) {
		set64(&b, first + 8, lie[i]);
		g = read_all(&b);
		assert_int_equal(g.bytes[0], 3 * 40 * 32);
		assert_int_equal(g.bytes[1], 3 * 60 * 16);
		assert_words(g, "claims more data");
	}
	buf_free(&b);
}

static void records_that_are_none_are_passed_over_to_the_next_data(void **state)
{
	static const uint16_t size[] = { 0, 7, 65535 };
	struct buf b = two_device_file(true);
	size_t at = record_at(&b, PDATA_R_AUX, 2);

	(void)state;
	for (size_t i = 0; i < COUNT(size); i++) {
		struct got g;

		memcpy(b.p + at + 6, &size[i], 2);
		g = read_all(&b);
		assert_int_equal(g.lost.unknown_records, 1);
		assert_int_equal(g.bytes[0], 3 * 40 * 32);
		assert_int_equal(g.bytes[1], 3 * 60 * 16);
		assert_words(g, "are no perf records");
	}
	buf_free(&b);
}

static void damage_to_the_end_of_the_data_ends_the_search(void **state)
{
	struct buf b = two_device_file(true);
	size_t at = record_at(&b, PDATA_R_AUX, 5);
	struct got g;

	(void)state;
	memset(b.p + at, 0xff, 64 + 48);
	g = read_all(&b);
	assert_int_equal(g.bytes[0], 3 * 40 * 32);
	assert_int_equal(g.bytes[1], 2 * 60 * 16);
	assert_int_equal(g.lost.unknown_records, 1);
	buf_free(&b);
}

static void damaged_features_cost_only_names(void **state)
{
	struct buf b = two_device_file(true);
	size_t table = pdata_u64((uint8_t *)b.p + 40) + pdata_u64((uint8_t *)b.p + 48);
	struct got g;

	(void)state;
	set64(&b, table, 1ull << 63);
	set64(&b, table + 24, UINT64_MAX);
	g = read_all(&b);
	assert_int_equal(g.bytes[0], 3 * 40 * 32);
	assert_words(g, "sections after the data are damaged");
	buf_free(&b);
}

static void ids_beyond_the_file_are_no_harm(void **state)
{
	struct buf b = two_device_file(true);
	struct got g;

	(void)state;
	set64(&b, 104 + 16 + 128, 1ull << 63);
	set64(&b, 104 + 16 + 136, UINT64_MAX);
	g = read_all(&b);
	assert_int_equal(g.open, 0);
	assert_int_equal(g.bytes[0] + g.bytes[1], 3 * 40 * 32 + 3 * 60 * 16);
	buf_free(&b);
}

static void a_read_error_ends_the_data_in_words(void **state)
{
	struct buf b = two_device_file(true);
	struct memory m = { .p = (uint8_t *)b.p, .n = b.n };
	struct bytes_in in = memory_in(&m);
	struct ptt_reader *r = NULL;
	struct ptt_chunk c;
	struct err e = { 0 };

	(void)state;
	assert_int_equal(ptt_reader_open(&r, &in, NULL, &e), 0);
	assert_int_equal(ptt_reader_next(r, &c, &e), 1);
	m.fail = true;
	assert_int_equal(ptt_reader_next(r, &c, &e), 0);
	assert_non_null(strstr(ptt_reader_lost(r)->words, "reading failed"));
	ptt_reader_close(r);
	errno = ENOENT; /* of something else, before */
	assert_int_equal(ptt_reader_open(&r, &in, NULL, &e), -TALLY_EIO);
	assert_string_equal(e.text, "reading failed");
	m.cause = EIO;
	e = (struct err){ 0 };
	assert_int_equal(ptt_reader_open(&r, &in, NULL, &e), -TALLY_EIO);
	assert_string_equal(e.text, "reading failed: Input/output error");
	buf_free(&b);
}

/* ---- raw files -------------------------------------------------------------------- */

static void raw_records_are_read_in_the_format_that_is_said(void **state)
{
	const struct ptt_reader_opts o = { .format = PTT_4DW };
	uint8_t p[12 * 16 + 5] = { 0 };

	(void)state;
	records(p, 10, PTT_4DW, 1);
	memset(p + sizeof(p) - 5, 1, 5);
	for (int stream = 0; stream < 2; stream++) {
		struct got g = read_opts(p, sizeof(p), stream, &o, false);

		assert_int_equal(g.open, 0);
		assert_int_equal(g.format, PTT_4DW);
		assert_int_equal(g.bytes[0], 10 * 16);
		assert_int_equal(g.lost.padding_records, 2);
		assert_int_equal(g.lost.stray_bytes, 5);
		assert_string_equal(g.dev[0].name, "ptt0");
		g = read_opts(p, 10 * 16 + 32 + 1, stream, &o, false);
		assert_words(g, "1 byte at the end of AUX data makes no whole record");
	}
}

static void a_perf_data_file_is_not_taken_for_raw_records(void **state)
{
	const struct ptt_reader_opts o = { .format = PTT_8DW };
	struct buf b = { 0 };
	struct got g;

	(void)state;
	buf_put(&b, "PERFILE2........................", 32);
	g = read_opts((const uint8_t *)b.p, b.n, false, &o, false);
	assert_int_equal(g.open, -TALLY_ECORRUPT);
	assert_non_null(strstr(g.e.text, "the header is damaged"));
	buf_free(&b);
}

/* ---- memory ----------------------------------------------------------------------- */

static void every_failing_allocation_is_told(void **state)
{
	struct buf b = two_device_file(false);

	(void)state;
	for (long n = 1;; n++) {
		long live = mem_live();
		struct got g;
		bool failed;

		mem_fail_at(n);
		g = read_all(&b);
		failed = mem_failed();
		mem_fail_at(0);
		assert_int_equal(mem_live(), live);
		if (!failed)
			break;
		assert_true(g.open == -TALLY_ENOMEM || g.next == -TALLY_ENOMEM);
	}
	buf_free(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(golden_fixture_is_read_whole),
		cmocka_unit_test(interleaved_chunks_of_two_devices_are_told_apart),
		cmocka_unit_test(a_chunk_has_what_its_record_says),
		cmocka_unit_test(attrs_of_any_sane_size_are_read),
		cmocka_unit_test(names_come_from_features_where_no_event_update_has_them),
		cmocka_unit_test(nine_stray_bytes_are_no_record),
		cmocka_unit_test(aux_record_behind_its_data_tells_the_size_too),
		cmocka_unit_test(zeros_in_the_middle_of_aux_data_counted_as_padding_and_nobody_told_them),
		cmocka_unit_test(all_zero_data_has_no_record_and_a_header_line_as_perf_has_it),
		cmocka_unit_test(truncated_aux_is_counted),
		cmocka_unit_test(a_record_larger_than_a_window_is_given_in_pieces),
		cmocka_unit_test(cut_two_device_file_gives_every_whole_record),
		cmocka_unit_test(cut_golden_file_gives_every_whole_record),
		cmocka_unit_test(cut_pipe_format_gives_every_whole_record),
		cmocka_unit_test(unfinished_header_is_read_to_the_end_of_the_file),
		cmocka_unit_test(what_is_no_perf_data_is_refused_in_words),
		cmocka_unit_test(a_damaged_header_is_an_error_and_never_searched_for),
		cmocka_unit_test(a_file_without_ptt_data_is_refused),
		cmocka_unit_test(data_of_a_foreign_pmu_is_passed_over),
		cmocka_unit_test(data_without_info_is_taken_for_ptt_and_said_so),
		cmocka_unit_test(without_an_id_index_the_aux_records_tell_the_device),
		cmocka_unit_test(each_id_of_an_event_tells_the_device),
		cmocka_unit_test(a_lying_auxtrace_size_loses_nothing_that_aux_records_tell),
		cmocka_unit_test(records_that_are_none_are_passed_over_to_the_next_data),
		cmocka_unit_test(damage_to_the_end_of_the_data_ends_the_search),
		cmocka_unit_test(damaged_features_cost_only_names),
		cmocka_unit_test(ids_beyond_the_file_are_no_harm),
		cmocka_unit_test(a_read_error_ends_the_data_in_words),
		cmocka_unit_test(raw_records_are_read_in_the_format_that_is_said),
		cmocka_unit_test(a_perf_data_file_is_not_taken_for_raw_records),
		cmocka_unit_test(every_failing_allocation_is_told),
	};

	return cmocka_run_group_tests_name("ptt: pdata", tests, NULL, NULL);
}
