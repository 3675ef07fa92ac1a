/* pwrite_test.c: what is written can be read at every moment, by us and by perf. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "ptt/pdata_test_int.h"

/* ---- killed ----------------------------------------------------------------------- */

static void a_killed_writer_leaves_every_commit_and_part_of_the_next(void **state)
{
	struct ptt_device dev[2] = { two_devices[0], device_of_format(PTT_8DW) };
	struct buf b = { 0 };
	struct bytes_out out = { .arg = &b, .put = memory_put, .patch = memory_patch };
	struct ptt_writer *w = NULL;
	struct err e = { 0 };
	uint8_t p[10 * 32];
	struct got g;

	(void)state;
	dev[1].pmu_type++;
	records(p, 10, PTT_8DW, 7);
	assert_int_equal(ptt_writer_open(&w, &out, dev, 2, &e), 0);
	g = read_all(&b);
	assert_int_equal(g.open, 0);
	assert_int_equal(g.ndev, 2);
	for (uint64_t i = 1; i <= 3; i++) {
		uint64_t told;

		assert_int_equal(ptt_writer_aux(w, i % 2, p, sizeof(p), 0), 0);
		g = read_all(&b);
		assert_int_equal(g.bytes[0] + g.bytes[1], i * sizeof(p));
		assert_string_equal(g.lost.words, "");
		/* Killed within a commit: the header does not tell of it yet. */
		told = pdata_u64((uint8_t *)b.p + 48);
		set64(&b, 48, told - 64 - 48 - sizeof(p));
		b.n -= 40;
		g = read_all(&b);
		assert_int_equal(g.bytes[0] + g.bytes[1], i * sizeof(p) - 64);
		assert_int_equal(g.lost.cut_bytes, 40);
		b.n += 40;
		set64(&b, 48, told);
	}
	ptt_writer_close(w);
	buf_free(&b);
}

/* ---- failing ---------------------------------------------------------------------- */

static int put_nothing(void *arg, const void *p, size_t n)
{
	size_t *room = arg;

	(void)p;
	if (n > *room)
		return -TALLY_EIO;
	*room -= n;
	return 0;
}

static int patch_nothing(void *arg, uint64_t off, const void *p, size_t n)
{
	(void)arg, (void)off, (void)p, (void)n;
	return 0;
}

static void a_full_disk_is_told_by_the_call_that_met_it(void **state)
{
	(void)state;
	for (size_t most = 0; most < 2000; most += 50) {
		size_t room = most;
		struct bytes_out out = { .arg = &room, .put = put_nothing, .patch = patch_nothing };
		struct ptt_writer *w = NULL;
		struct err e = { 0 };
		uint8_t p[256] = { 0 };
		int rc = ptt_writer_open(&w, &out, two_devices, 2, &e);

		if (rc == 0)
			rc = ptt_writer_aux(w, 0, p, sizeof(p), 0);
		if (rc == 0)
			rc = ptt_writer_close(w);
		else
			ptt_writer_close(w);
		assert_int_equal(rc, room == most || rc ? -TALLY_EIO : 0);
	}
}

static void a_device_that_is_not_there_is_refused(void **state)
{
	size_t room = 1 << 20;
	struct bytes_out out = { .arg = &room, .put = put_nothing };
	struct ptt_writer *w = NULL;
	struct err e = { 0 };

	(void)state;
	assert_int_equal(ptt_writer_open(&w, &out, two_devices, 0, &e), -TALLY_EINVAL);
	assert_int_equal(ptt_writer_open(&w, &out, two_devices, PDATA_DEVICES_MOST + 1, &(struct err){ 0 }),
			 -TALLY_EINVAL);
	assert_int_equal(ptt_writer_open(&w, &out, two_devices, 2, &(struct err){ 0 }), 0);
	assert_int_equal(ptt_writer_aux(w, 2, NULL, 0, 0), -TALLY_EINVAL);
	assert_int_equal(ptt_writer_close(w), 0);
}

static int write_once(void)
{
	size_t room = 1 << 20;
	struct bytes_out out = { .arg = &room, .put = put_nothing, .patch = patch_nothing };
	struct ptt_writer *w = NULL;
	struct err e = { 0 };
	int rc = ptt_writer_open(&w, &out, two_devices, 2, &e), end;

	for (uint32_t i = 0; i < 100 && rc == 0; i++)
		rc = ptt_writer_aux(w, 0, "0123456789abcdef", 16, 0);
	end = rc == 0 || w ? ptt_writer_close(w) : 0;
	return rc ? rc : end;
}

static void every_failing_allocation_is_told(void **state)
{
	(void)state;
	for (long n = 1;; n++) {
		long live = mem_live();
		bool failed;
		int rc;

		mem_fail_at(n);
		rc = write_once();
		failed = mem_failed();
		mem_fail_at(0);
		assert_int_equal(mem_live(), live);
		if (!failed)
			break;
		assert_int_equal(rc, -TALLY_ENOMEM);
	}
}

/* ---- what the recorder knew -------------------------------------------------------- */

/* A file of two devices whose clocks are known, and one of which nobody knows. */
static struct buf clock_file(bool patchable)
{
	struct ptt_device dev[3] = { two_devices[0], two_devices[1], { .name = "hisi_ptt4_0", .pmu_type = 14 } };
	struct buf b = { 0 };
	struct bytes_out out = { .arg = &b, .put = memory_put, .patch = patchable ? memory_patch : NULL };
	struct ptt_writer *w = NULL;
	uint8_t p[32];

	dev[0].time = PTT_TIME_ABS;
	dev[1].time = PTT_TIME_DELTA;
	records(p, 1, PTT_8DW, 1);
	assert_int_equal(ptt_writer_open(&w, &out, dev, 3, &(struct err){ 0 }), 0);
	for (uint32_t d = 0; d < 3; d++)
		assert_int_equal(ptt_writer_aux(w, d, p, sizeof(p), 0), 0);
	assert_int_equal(ptt_writer_close(w), 0);
	return b;
}

static void what_the_recorder_knew_of_the_clock_is_in_the_file(void **state)
{
	(void)state;
	for (int patchable = 0; patchable < 2; patchable++) {
		struct buf b = clock_file(patchable);
		struct got g = read_all(&b);

		assert_int_equal(g.ndev, 3);
		assert_int_equal(g.dev[0].time, PTT_TIME_ABS);
		assert_int_equal(g.dev[1].time, PTT_TIME_DELTA);
		assert_int_equal(g.dev[2].time, PTT_TIME_AUTO);
		assert_false(g.dev[0].tag14);
		assert_true(g.dev[1].tag14);
		/* Any other word there is somebody else's. */
		set64(&b, record_at(&b, PDATA_R_AUXTRACE_INFO, 0) + 32, 1);
		g = read_all(&b);
		assert_int_equal(g.dev[0].time, PTT_TIME_AUTO);
		buf_free(&b);
	}
}

/* ---- perf's opinion --------------------------------------------------------------- */

/* The sizes that perf prints of what is in the file; "" when it refuses it. */
static struct buf perf_says(const struct buf *b, bool pipe)
{
	char path[] = "/tmp/tally-pwrite-test-XXXXXX", command[256];
	int fd = mkstemp(path);
	struct buf text = { 0 };
	char line[4096];
	FILE *f;

	assert_true(fd >= 0 && write(fd, b->p, b->n) == (ssize_t)b->n);
	close(fd);
	if (pipe)
		snprintf(command, sizeof(command), "cat %s | perf report -D -i - 2>/dev/null", path);
	else
		snprintf(command, sizeof(command), "perf report -D -i %s 2>/dev/null </dev/null", path);
	f = popen(command, "r");
	while (f && fgets(line, sizeof(line), f)) {
		unsigned long long size;
		char *at = strstr(line, "HISI PTT data: size ");

		if (at && sscanf(at, "HISI PTT data: size %llu", &size) == 1)
			buf_printf(&text, "%llu ", size);
	}
	if (f)
		pclose(f);
	unlink(path);
	buf_puts(&text, "");
	return text;
}

static void perf_or_skip(void)
{
	if (system("perf version >/dev/null 2>&1") == 0)
		return;
	print_message("skipped: perf is not installed\n");
	skip();
}

static void assert_perf(const struct buf *b, bool pipe, const char *want)
{
	struct buf text = perf_says(b, pipe);

	assert_string_equal(text.p ? text.p : "", want);
	buf_free(&text);
}

static void perf_accepts_the_file_and_agrees_on_the_sizes(void **state)
{
	struct buf b;

	(void)state;
	perf_or_skip();
	b = two_device_file(true);
	assert_perf(&b, false, "1280 960 1280 960 1280 960 ");
	buf_free(&b);
}

static void perf_accepts_the_pipe_format(void **state)
{
	struct buf b;

	(void)state;
	perf_or_skip();
	b = two_device_file(false);
	assert_perf(&b, true, "1280 960 1280 960 1280 960 ");
	buf_free(&b);
}

static void perf_accepts_a_file_that_tells_of_the_clock(void **state)
{
	struct buf b, pipe;

	(void)state;
	perf_or_skip();
	b = clock_file(true);
	pipe = clock_file(false);
	assert_perf(&b, false, "32 32 32 ");
	assert_perf(&pipe, true, "32 32 32 ");
	buf_free(&b);
	buf_free(&pipe);
}

static void perf_accepts_what_a_killed_writer_left(void **state)
{
	struct buf b;
	size_t third;

	(void)state;
	perf_or_skip();
	b = two_device_file(true);
	third = record_at(&b, PDATA_R_AUXTRACE, 3);
	memset(b.p + 72, 0, 32);
	set64(&b, 48, record_at(&b, PDATA_R_AUX, 3) - pdata_u64((uint8_t *)b.p + 40));
	b.n = third + 100;
	assert_perf(&b, false, "1280 960 1280 ");
	buf_free(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_killed_writer_leaves_every_commit_and_part_of_the_next),
		cmocka_unit_test(a_full_disk_is_told_by_the_call_that_met_it),
		cmocka_unit_test(a_device_that_is_not_there_is_refused),
		cmocka_unit_test(every_failing_allocation_is_told),
		cmocka_unit_test(what_the_recorder_knew_of_the_clock_is_in_the_file),
		cmocka_unit_test(perf_accepts_a_file_that_tells_of_the_clock),
		cmocka_unit_test(perf_accepts_the_file_and_agrees_on_the_sizes),
		cmocka_unit_test(perf_accepts_the_pipe_format),
		cmocka_unit_test(perf_accepts_what_a_killed_writer_left),
	};

	return cmocka_run_group_tests_name("ptt: pwrite", tests, NULL, NULL);
}
