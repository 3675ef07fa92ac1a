/* dump_test.c: a dump that is handed over in pieces is whole. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/range.h"
#include "capture/capture.h"
#include "ptt/gen.h"

enum { RECORDS = 3000 };

struct taken {
	uint64_t bytes, lines, pieces, longest;
};

static int pieces_take(void *arg, const char *s, size_t n)
{
	struct taken *t = arg;

	for (size_t i = 0; i < n; i++)
		t->lines += s[i] == '\n';
	t->bytes += n;
	t->pieces++;
	t->longest = n > t->longest ? n : t->longest;
	return 0;
}

static int take_one(void *arg, const char *s, size_t n)
{
	struct taken *t = arg;

	return t->pieces ? -1 : pieces_take(arg, s, n);
}

/* A trace of records of 8DW; returns how many records it has. */
static uint64_t trace_write(char *path)
{
	static uint8_t bytes[RECORDS * 32];
	uint64_t records;
	struct ptt_gen *g;
	size_t n;
	int fd;

	assert_int_equal(ptt_gen_open(&g, &(struct ptt_gen_opts){ .seed = 1 }), 0);
	n = ptt_gen_fill(g, bytes, sizeof(bytes));
	records = ptt_gen_truth(g)->records;
	ptt_gen_close(g);
	strcpy(path, "/tmp/tally-dump-XXXXXX");
	fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, n), (ssize_t)n);
	close(fd);
	return records;
}

static int dump_pieces(const char *path, uint32_t form, tally_write_fn *out, struct taken *to)
{
	struct tally_ptt_opts o = { .size = sizeof(o), .raw = PTT_8DW };
	struct tally_ptt_dump_opts d = { .size = sizeof(d), .out = out, .arg = to, .format = form };
	struct tally_ptt *t = NULL;
	int rc;

	memset(to, 0, sizeof(*to));
	assert_int_equal(tally_ptt_open(&t, &o), 0);
	assert_int_equal(tally_ptt_file(t, path), 0);
	rc = tally_ptt_dump(t, &d);
	if (rc < 0)
		assert_non_null(strstr(tally_ptt_error(t), "failed to write the output"));
	tally_ptt_close(t);
	return rc;
}

static void a_dump_in_pieces_has_every_record(void **state)
{
	static const struct {
		uint32_t form, headers;
	} row[] = { { TALLY_FORMAT_TEXT, 1 }, { TALLY_FORMAT_JSON, 0 }, { TALLY_FORMAT_CSV, 1 } };
	struct taken to;
	uint64_t records;
	char path[64];

	(void)state;
	records = trace_write(path);
	for (size_t i = 0; i < COUNT(row); i++) {
		assert_int_equal(dump_pieces(path, row[i].form, pieces_take, &to), 0);
		assert_int_equal(to.lines, records + row[i].headers);
		assert_true(to.pieces > 1);
		assert_uint_in_range(to.longest, PTT_FLUSH_BYTES, PTT_FLUSH_BYTES + 4096);
	}
	unlink(path);
}

static void a_piece_that_is_refused_ends_the_dump(void **state)
{
	struct taken to;
	char path[64];

	(void)state;
	trace_write(path);
	assert_int_equal(dump_pieces(path, TALLY_FORMAT_JSON, take_one, &to), -TALLY_EIO);
	assert_int_equal(to.pieces, 1);
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_dump_in_pieces_has_every_record),
		cmocka_unit_test(a_piece_that_is_refused_ends_the_dump),
	};

	return cmocka_run_group_tests_name("capture: dump", tests, NULL, NULL);
}
