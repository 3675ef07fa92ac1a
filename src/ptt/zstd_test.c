/* zstd_test.c: compressed files and compressed records. libzstd compresses here, loaded as the
 * reader loads it. */
#include <stdlib.h>
#include <zstd.h>

#include "ptt/pdata_test_int.h"

#define PDATA_R_FILLER 68u /* FINISHED_ROUND: says nothing of AUX data */

struct compressor {
	__typeof__(&ZSTD_createCCtx) create;
	__typeof__(&ZSTD_freeCCtx) release;
	__typeof__(&ZSTD_compressStream2) compress;
};

static struct compressor compressor(void)
{
	static const char *const name[] = { "ZSTD_createCCtx", "ZSTD_freeCCtx", "ZSTD_compressStream2" };
	struct compressor c = { 0 };
	void *fn[3];

	if (!library_load("libzstd.so.1", name, fn, 3)) {
		print_message("skipped: libzstd is not installed\n");
		skip();
	}
	memcpy(&c.create, &fn[0], sizeof(fn[0]));
	memcpy(&c.release, &fn[1], sizeof(fn[1]));
	memcpy(&c.compress, &fn[2], sizeof(fn[2]));
	return c;
}

/* One piece of a stream; how many bytes came out. */
static size_t piece(const struct compressor *c, ZSTD_CCtx *cctx, const void *p, size_t n, void *to, size_t room,
		    ZSTD_EndDirective end)
{
	ZSTD_inBuffer in = { p, n, 0 };
	ZSTD_outBuffer out = { to, room, 0 };

	assert_int_equal(c->compress(cctx, &out, &in, end), 0);
	return out.pos;
}

static struct buf compress_file(const struct buf *b)
{
	struct compressor c = compressor();
	ZSTD_CCtx *cctx = c.create();
	size_t room = b->n * 2 + 1024, n;
	char *to = malloc(room);
	struct buf out = { 0 };

	n = piece(&c, cctx, b->p, b->n, to, room, ZSTD_e_end);
	buf_put(&out, to, n);
	c.release(cctx);
	free(to);
	return out;
}

static void a_compressed_file_is_seen_through(void **state)
{
	struct buf b = two_device_file(true), z = compress_file(&b);

	(void)state;
	for (int stream = 0; stream < 2; stream++) {
		struct got g = read_opts((uint8_t *)z.p, z.n, stream, NULL, false);

		assert_int_equal(g.open, 0);
		assert_int_equal(g.bytes[0], 3 * 40 * 32);
		assert_int_equal(g.bytes[1], 3 * 60 * 16);
		assert_string_equal(g.dev[1].name, two_devices[1].name);
		assert_string_equal(g.lost.words, "");
	}
	buf_free(&b);
	buf_free(&z);
}

static void compressed_raw_records_are_seen_through(void **state)
{
	const struct ptt_reader_opts o = { .format = PTT_8DW };
	uint8_t p[64 * 32];
	struct buf b = { 0 }, z;
	struct got g;

	(void)state;
	records(p, 64, PTT_8DW, 1);
	buf_put(&b, p, sizeof(p));
	z = compress_file(&b);
	g = read_opts((uint8_t *)z.p, z.n, false, &o, false);
	assert_int_equal(g.bytes[0], sizeof(p));
	buf_free(&b);
	buf_free(&z);
}

static void a_cut_or_damaged_compressed_file_gives_what_came_before(void **state)
{
	struct buf b = two_device_file(true), z = compress_file(&b);

	(void)state;
	for (size_t cut = 8; cut < z.n; cut += 13) {
		struct got g = read_opts((uint8_t *)z.p, cut, false, NULL, false);

		assert_true(g.open < 0 ? *g.e.text :
					 strstr(g.lost.words, "the compressed file ends early: it is cut") != NULL);
	}
	for (size_t at = 8; at < z.n; at += 29) {
		struct got g;

		z.p[at] ^= 0x55;
		g = read_all(&z);
		assert_true(g.open < 0 ? *g.e.text != 0 : g.next == 0);
		z.p[at] ^= 0x55;
	}
	buf_free(&b);
	buf_free(&z);
}

static void what_is_wrong_with_the_packing_is_said(void **state)
{
	struct buf b = two_device_file(true), z = compress_file(&b);
	size_t n = z.n;
	struct got g;

	(void)state;
	for (int stream = 0; stream < 2; stream++) {
		g = read_opts((uint8_t *)z.p, 8, stream, NULL, false);
		assert_int_equal(g.open, -TALLY_ECORRUPT);
		assert_string_equal(g.e.text, "the compressed file ends early: it is cut");
		g = read_opts((uint8_t *)z.p, n, stream, NULL, false);
		assert_string_equal(g.lost.words, "");
	}
	buf_puts(&z, "not zstd at all");
	for (int stream = 0; stream < 2; stream++) {
		g = read_opts((uint8_t *)z.p, z.n, stream, NULL, false);
		assert_int_equal(g.bytes[0], 3 * 40 * 32);
		assert_string_equal(g.lost.words, "what follows the compressed data is not zstd");
	}
	buf_free(&b);
	buf_free(&z);
}

/* The records of a file but its AUX data, as perf record -z keeps them: one stream, cut anywhere
 * into records. */
static struct buf compress_records(const struct buf *b, uint32_t type, size_t every)
{
	struct compressor c = compressor();
	ZSTD_CCtx *cctx = c.create();
	size_t at = record_at(b, PDATA_R_AUX, 0), end = record_at(b, PDATA_R_AUXTRACE, 0);
	struct buf out = { 0 };
	char to[8192];

	buf_put(&out, b->p, at);
	for (size_t n; at < end; at += n) {
		size_t head = type == PDATA_R_COMPRESSED2 ? 16 : 8, done, pad;
		uint64_t size;

		n = end - at < every ? end - at : every;
		done = piece(&c, cctx, b->p + at, n, to, sizeof(to), ZSTD_e_flush);
		pad = type == PDATA_R_COMPRESSED2 ? -done % 8 : 0;
		size = (uint64_t)type | (head + done + pad) << 48;
		buf_put(&out, &size, 8);
		size = done;
		if (head == 16)
			buf_put(&out, &size, 8);
		buf_put(&out, to, done);
		buf_put(&out, "\0\0\0\0\0\0\0", pad);
	}
	buf_put(&out, b->p + end, b->n - end);
	set64(&out, 48, pdata_u64((uint8_t *)out.p + 48) + out.n - b->n);
	memset(out.p + 72, 0, 32);
	c.release(cctx);
	return out;
}

static struct buf stray_file(void)
{
	const struct ptt_device dev = device_of_format(PTT_4DW);
	struct buf b = { 0 };
	struct bytes_out out = { .arg = &b, .put = memory_put, .patch = memory_patch };
	struct ptt_writer *w = NULL;
	struct err e = { 0 };
	uint8_t p[10 * 16];

	records(p, 10, PTT_4DW, 1);
	assert_int_equal(ptt_writer_open(&w, &out, &dev, 1, &e), 0);
	assert_int_equal(ptt_writer_aux(w, 0, p, 9 * 16 + 9, 0), 0);
	assert_int_equal(ptt_writer_close(w), 0);
	return b;
}

/* Only the AUX record, which is compressed here, tells that the tenth record is none. */
static void compressed_records_tell_the_exact_size(void **state)
{
	static const uint32_t type[] = { PDATA_R_COMPRESSED, PDATA_R_COMPRESSED2 };
	struct buf b = stray_file();

	(void)state;
	for (size_t i = 0; i < COUNT(type); i++)
		for (size_t every = 5; every < 100; every += 30) {
			struct buf z = compress_records(&b, type[i], every);
			struct got g = read_all(&z);

			assert_int_equal(g.bytes[0], 9 * 16);
			assert_int_equal(g.lost.stray_bytes, 9);
			buf_free(&z);
		}
	buf_free(&b);
}

static void damaged_compressed_records_cost_the_exact_size_alone(void **state)
{
	struct buf b = stray_file(), z = compress_records(&b, PDATA_R_COMPRESSED, 100);
	struct got g;

	(void)state;
	memset(z.p + record_at(&z, PDATA_R_COMPRESSED, 0) + 8, 0x77, 8);
	g = read_all(&z);
	assert_int_equal(g.bytes[0], 10 * 16);
	assert_non_null(strstr(g.lost.words, "compressed records could not be read"));
	buf_free(&b);
	buf_free(&z);
}

/* The same in one compressed record whose content is so many bytes: records that nobody reads come first. */
static struct buf compress_behind_filler(const struct buf *b, size_t content)
{
	const size_t most = 32768, at = record_at(b, PDATA_R_AUX, 0), end = record_at(b, PDATA_R_AUXTRACE, 0);
	struct compressor c = compressor();
	ZSTD_CCtx *cctx = c.create();
	char *all = calloc(1, content), to[60000];
	struct buf out = { 0 };
	uint64_t head;

	assert_non_null(all);
	for (size_t to_fill = content - (end - at), n, i = 0; to_fill; to_fill -= n, i += n) {
		n = to_fill < most ? to_fill : most;
		head = PDATA_R_FILLER | (uint64_t)n << 48;
		memcpy(all + i, &head, 8);
	}
	memcpy(all + content - (end - at), b->p + at, end - at);
	buf_put(&out, b->p, at);
	head = piece(&c, cctx, all, content, to, sizeof(to), ZSTD_e_flush);
	buf_put(&out, &(uint64_t){ PDATA_R_COMPRESSED | (8 + head) << 48 }, 8);
	buf_put(&out, to, head);
	buf_put(&out, b->p + end, b->n - end);
	set64(&out, 48, pdata_u64((uint8_t *)out.p + 48) + out.n - b->n);
	memset(out.p + 72, 0, 32);
	c.release(cctx);
	free(all);
	return out;
}

static void a_compressed_record_has_64_mib_of_content_at_most(void **state)
{
	const size_t most = 64u << 20;
	struct buf b = stray_file(), z;
	struct got g;

	(void)state;
	z = compress_behind_filler(&b, most);
	g = read_all(&z);
	assert_int_equal(g.bytes[0], 9 * 16);
	assert_int_equal(g.lost.stray_bytes, 9);
	buf_free(&z);
	z = compress_behind_filler(&b, most + 8);
	g = read_all(&z);
	assert_non_null(strstr(g.lost.words, "compressed records could not be read"));
	buf_free(&z);
	buf_free(&b);
}

static void every_failing_allocation_is_told(void **state)
{
	struct buf b = two_device_file(true), z = compress_file(&b);

	(void)state;
	for (long n = 1;; n++) {
		long live = mem_live();
		struct got g;
		bool failed;

		mem_fail_at(n);
		g = read_all(&z);
		failed = mem_failed();
		mem_fail_at(0);
		assert_int_equal(mem_live(), live);
		if (!failed)
			break;
		assert_true(g.open == -TALLY_ENOMEM || g.next == -TALLY_ENOMEM);
	}
	buf_free(&b);
	buf_free(&z);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_compressed_file_is_seen_through),
		cmocka_unit_test(compressed_raw_records_are_seen_through),
		cmocka_unit_test(a_cut_or_damaged_compressed_file_gives_what_came_before),
		cmocka_unit_test(what_is_wrong_with_the_packing_is_said),
		cmocka_unit_test(compressed_records_tell_the_exact_size),
		cmocka_unit_test(damaged_compressed_records_cost_the_exact_size_alone),
		cmocka_unit_test(a_compressed_record_has_64_mib_of_content_at_most),
		cmocka_unit_test(every_failing_allocation_is_told),
	};

	return cmocka_run_group_tests_name("ptt: zstd", tests, NULL, NULL);
}
