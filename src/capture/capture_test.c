/*
 * capture_test.c: the calls of tally/ptt.h, over generated traces.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "capture/capture.h"
#include "capture/page_int.h"
#include "ptt/gen.h"

#define RECORDS 3000u
#define CONFIG_8DW 0x107280001ull /* filter 0x80001, all types, completions, 8DW */

struct env {
	char raw[64], again[64], other[64], nothing[64];
	struct ptt_gen_truth truth; /* of raw; its tables are gone */
	struct buf out, notes;
};

static int put(void *arg, const char *s, size_t n)
{
	buf_put(arg, s, n);
	return 0;
}

static int refuse(void *arg, const char *s, size_t n)
{
	(void)arg, (void)s, (void)n;
	return -1;
}

static void write_file(char *path, const void *p, size_t n)
{
	strcpy(path, "/tmp/tally-ptt-XXXXXX");
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, p, n), (ssize_t)n);
	close(fd);
}

/* `most`: bytes of a write and of a read; 0: as the generator has them. */
static void generate(char *path, uint64_t seed, uint32_t most, struct ptt_gen_truth *truth)
{
	static uint8_t bytes[RECORDS * 32];
	struct ptt_gen *g;

	assert_int_equal(ptt_gen_open(&g,
				      &(struct ptt_gen_opts){
					      .seed = seed, .faults = 1000, .mps = most, .mrrs = most }),
			 0);
	size_t n = ptt_gen_fill(g, bytes, sizeof(bytes));
	write_file(path, bytes, n);
	if (truth)
		*truth = *ptt_gen_truth(g);
	ptt_gen_close(g);
}

static int setup(void **state)
{
	struct env *v = calloc(1, sizeof(*v));

	generate(v->raw, 1, 0, &v->truth);
	generate(v->again, 1, 0, NULL);
	generate(v->other, 2, 128, NULL);
	write_file(v->nothing, "no trace", 8);
	*state = v;
	return 0;
}

static int teardown(void **state)
{
	struct env *v = *state;

	unlink(v->raw);
	unlink(v->again);
	unlink(v->other);
	unlink(v->nothing);
	buf_free(&v->out);
	buf_free(&v->notes);
	free(v);
	return 0;
}

static struct tally_ptt *opened(struct env *v, const char *path)
{
	struct tally_ptt_opts o = { .size = sizeof(o), .note = put, .arg = &v->notes, .raw = PTT_8DW };
	struct tally_ptt *t = NULL;

	buf_clear(&v->out);
	buf_clear(&v->notes);
	assert_int_equal(tally_ptt_open(&t, &o), 0);
	assert_int_equal(tally_ptt_file(t, path), 0);
	return t;
}

static struct tally_ptt_dump_opts dump_opts(struct env *v, uint32_t form)
{
	return (struct tally_ptt_dump_opts){
		.size = sizeof(struct tally_ptt_dump_opts), .out = put, .arg = &v->out, .format = form
	};
}

static struct tally_ptt_report_opts report_opts(struct env *v, uint32_t form)
{
	return (struct tally_ptt_report_opts){
		.size = sizeof(struct tally_ptt_report_opts), .out = put, .arg = &v->out, .format = form
	};
}

static uint64_t count_of(const struct buf *b, const char *what)
{
	uint64_t n = 0;

	for (const char *p = b->p; p && (p = strstr(p, what)); p++)
		n++;
	return n;
}

/* The number behind "key": in the first line of that type. */
static uint64_t json_number(const struct buf *b, const char *type, const char *key)
{
	char text[64];

	snprintf(text, sizeof(text), "{\"type\":\"%s\"", type);
	const char *p = strstr(b->p, text);
	assert_non_null(p);
	snprintf(text, sizeof(text), "\"%s\":", key);
	p = strstr(p, text);
	assert_non_null(p);
	return strtoull(p + strlen(text), NULL, 10);
}

/* The same of all lines of that type. */
static uint64_t json_sum(const struct buf *b, const char *type, const char *key)
{
	char head[64], text[64];
	uint64_t sum = 0;

	snprintf(head, sizeof(head), "{\"type\":\"%s\"", type);
	snprintf(text, sizeof(text), "\"%s\":", key);
	for (const char *p = b->p; (p = strstr(p, head)) && (p = strstr(p, text));)
		sum += strtoull(p + strlen(text), NULL, 10);
	return sum;
}

/* ---- the tests ------------------------------------------------------------------------ */

static void unknown_options_are_refused(void **state)
{
	struct tally_ptt_opts o = { .size = sizeof(o), .flags = 1u << 31 };
	struct {
		struct tally_ptt_opts o;
		uint64_t newer;
	} longer = { .o = { .size = sizeof(longer) }, .newer = 1 };
	struct tally_ptt *t = NULL;

	(void)state;
	assert_int_equal(tally_ptt_open(&t, &o), -TALLY_EINVAL);
	o = (struct tally_ptt_opts){ .size = sizeof(o), .raw = 5 };
	assert_int_equal(tally_ptt_open(&t, &o), -TALLY_EINVAL);
	o = (struct tally_ptt_opts){ .size = sizeof(o), .time = 9 };
	assert_int_equal(tally_ptt_open(&t, &o), -TALLY_EINVAL);
	assert_int_equal(tally_ptt_open(&t, &longer.o), -TALLY_EINVAL);
	longer.newer = 0;
	assert_int_equal(tally_ptt_open(&t, &longer.o), 0);
	tally_ptt_close(t);
	assert_int_equal(tally_ptt_open(&t, NULL), 0);
	tally_ptt_close(t);
	tally_ptt_close(NULL);
}

static void a_file_that_is_no_trace_is_refused_with_words(void **state)
{
	struct env *v = *state;
	struct tally_ptt *t = NULL;

	assert_int_equal(tally_ptt_open(&t, NULL), 0);
	assert_int_equal(tally_ptt_file(t, "/no/such/file"), -TALLY_EIO);
	assert_non_null(strstr(tally_ptt_error(t), "/no/such/file"));
	tally_ptt_close(t);
	assert_int_equal(tally_ptt_open(&t, NULL), 0);
	assert_int_equal(tally_ptt_file(t, v->nothing), -TALLY_ECORRUPT);
	assert_non_null(strstr(tally_ptt_error(t), v->nothing));
	tally_ptt_close(t);
}

static void calls_out_of_order_are_refused(void **state)
{
	static const char file_first[] = "tally_ptt_file() comes first";
	struct env *v = *state;
	const struct tally_ptt_report_opts o = report_opts(v, TALLY_FORMAT_TEXT);
	const struct tally_ptt_dump_opts d = dump_opts(v, TALLY_FORMAT_TEXT);
	const struct tally_ptt_export_opts x = {
		.size = sizeof(x), .out = put, .arg = &v->out, .format = TALLY_FORMAT_CSV
	};
	struct tally_ptt *t = NULL, *full = opened(v, v->raw);

	assert_int_equal(tally_ptt_open(&t, NULL), 0);
	assert_int_equal(tally_ptt_report(t, &o), -TALLY_ESTATE);
	assert_non_null(strstr(tally_ptt_error(t), file_first));
	assert_int_equal(tally_ptt_dump(t, &d), -TALLY_ESTATE);
	assert_non_null(strstr(tally_ptt_error(t), file_first));
	assert_int_equal(tally_ptt_export(t, &x), -TALLY_ESTATE);
	assert_non_null(strstr(tally_ptt_error(t), file_first));
	assert_int_equal(tally_ptt_compare(t, full, &o), -TALLY_ESTATE);
	assert_non_null(strstr(tally_ptt_error(full), file_first));
	assert_int_equal(tally_ptt_compare(full, t, &o), -TALLY_ESTATE);
	assert_non_null(strstr(tally_ptt_error(t), file_first));
	tally_ptt_close(t);
	assert_int_equal(tally_ptt_file(full, v->raw), -TALLY_ESTATE);
	assert_non_null(strstr(tally_ptt_error(full), "there is a file already"));
	tally_ptt_close(full);
}

static void after_a_file_that_is_refused_another_can_be_given(void **state)
{
	struct env *v = *state;
	const struct tally_ptt_dump_opts d = dump_opts(v, TALLY_FORMAT_TEXT);
	const struct tally_ptt_opts o = { .size = sizeof(o), .raw = PTT_8DW };
	struct tally_ptt *t = NULL;

	assert_int_equal(tally_ptt_open(&t, &o), 0);
	assert_int_equal(tally_ptt_file(t, "/no/such/file"), -TALLY_EIO);
	assert_int_equal(tally_ptt_file(t, "/dev/null"), -TALLY_ECORRUPT);
	assert_int_equal(tally_ptt_dump(t, &d), -TALLY_ESTATE);
	assert_int_equal(tally_ptt_file(t, v->raw), 0);
	assert_int_equal(tally_ptt_dump(t, &d), 0);
	tally_ptt_close(t);
}

static void forms_that_a_call_does_not_have_are_refused(void **state)
{
	struct env *v = *state;
	struct tally_ptt *t = opened(v, v->raw);
	struct tally_ptt_dump_opts d = dump_opts(v, TALLY_FORMAT_HTML);
	struct tally_ptt_report_opts r = report_opts(v, TALLY_FORMAT_PERF);
	struct tally_ptt_export_opts x = { .size = sizeof(x), .out = put, .arg = &v->out, .format = TALLY_FORMAT_HTML };

	assert_int_equal(tally_ptt_dump(t, &d), -TALLY_EINVAL);
	assert_int_equal(tally_ptt_report(t, &r), -TALLY_EINVAL);
	assert_int_equal(tally_ptt_export(t, &x), -TALLY_EINVAL);
	x.format = TALLY_FORMAT_PARQUET;
	assert_int_equal(tally_ptt_export(t, &x), -TALLY_EINVAL);
	d = dump_opts(v, TALLY_FORMAT_PERF);
	d.filter = "1";
	assert_int_equal(tally_ptt_dump(t, &d), -TALLY_EINVAL);
	tally_ptt_close(t);
}

static void a_dump_has_a_line_for_every_record(void **state)
{
	struct env *v = *state;
	struct tally_ptt *t = opened(v, v->raw);
	struct tally_ptt_dump_opts o = dump_opts(v, TALLY_FORMAT_TEXT);

	assert_int_equal(tally_ptt_dump(t, &o), 0);
	assert_int_equal(count_of(&v->out, "\n"), v->truth.records + 1);
	assert_non_null(strstr(v->notes.p, "times are read as absolute"));
	buf_clear(&v->out);
	o = dump_opts(v, TALLY_FORMAT_CSV);
	o.separator = ';';
	assert_int_equal(tally_ptt_dump(t, &o), 0);
	assert_int_equal(count_of(&v->out, "\n"), v->truth.records + 1);
	assert_memory_equal(v->out.p, "time;offset;", 12);
	tally_ptt_close(t);
}

static void a_filter_keeps_what_it_asks_for(void **state)
{
	struct env *v = *state;
	struct tally_ptt *t = opened(v, v->raw);
	struct tally_ptt_dump_opts o = dump_opts(v, TALLY_FORMAT_JSON);

	o.filter = "args[0]->class == 1";
	assert_int_equal(tally_ptt_dump(t, &o), 0);
	assert_int_equal(count_of(&v->out, "\n"), v->truth.requests);
	assert_int_equal(count_of(&v->out, "\"class\":1,"), v->truth.requests);
	o.filter = "nonsense +";
	assert_int_equal(tally_ptt_dump(t, &o), -TALLY_ESYNTAX);
	assert_int_equal(tally_ptt_error(t)[0] != '\0', 1);
	tally_ptt_close(t);
}

static void a_filter_that_faults_says_how_often(void **state)
{
	struct env *v = *state;
	struct tally_ptt *t = opened(v, v->raw);
	struct tally_ptt_dump_opts o = dump_opts(v, TALLY_FORMAT_JSON);
	char want[120];

	o.filter = "1 / (class == 1 ? 0 : 1)";
	assert_int_equal(tally_ptt_dump(t, &o), 0);
	assert_int_equal(count_of(&v->out, "\n"), v->truth.records - v->truth.requests);
	snprintf(want, sizeof(want), "the filter failed for %llu records, which are left out: divide-by-zero\n",
		 (unsigned long long)v->truth.requests);
	assert_non_null(strstr(v->notes.p, want));
	tally_ptt_close(t);
}

static void a_file_without_a_record_is_refused(void **state)
{
	struct env *v = *state;
	struct tally_ptt_opts o = { .size = sizeof(o), .raw = PTT_8DW };
	struct tally_ptt_dump_opts d = dump_opts(v, TALLY_FORMAT_TEXT);
	struct tally_ptt_report_opts r = report_opts(v, TALLY_FORMAT_TEXT);
	static const char zeros[640];
	struct tally_ptt *t;
	char path[64];

	for (size_t n = 0; n <= sizeof(zeros); n += sizeof(zeros)) {
		write_file(path, zeros, n);
		assert_int_equal(tally_ptt_open(&t, &o), 0);
		assert_int_equal(tally_ptt_file(t, path), n ? 0 : -TALLY_ECORRUPT);
		if (n)
			assert_int_equal(tally_ptt_dump(t, &d), -TALLY_ECORRUPT);
		for (r.threads = 1; n && r.threads < 3; r.threads++)
			assert_int_equal(tally_ptt_report(t, &r), -TALLY_ECORRUPT);
		assert_non_null(strstr(tally_ptt_error(t), "no PTT record"));
		tally_ptt_close(t);
		unlink(path);
	}
}

static void a_report_says_the_truth(void **state)
{
	struct env *v = *state;
	struct tally_ptt *t = opened(v, v->raw);
	struct tally_ptt_report_opts o = report_opts(v, TALLY_FORMAT_JSON);

	assert_int_equal(tally_ptt_report(t, &o), 0);
	assert_memory_equal(v->out.p, "{\"schema\":1,", 12);
	assert_int_equal(json_number(&v->out, "summary", "records"), v->truth.records);
	assert_int_equal(json_number(&v->out, "summary", "non_posted"), v->truth.requests);
	assert_int_equal(json_number(&v->out, "summary", "answered"), v->truth.answered);
	assert_int_equal(json_number(&v->out, "summary", "failed"), v->truth.failed);
	assert_int_equal(json_number(&v->out, "summary", "unanswered"), v->truth.outstanding);
	assert_int_equal(json_number(&v->out, "summary", "given_up"),
			 v->truth.requests - v->truth.answered - v->truth.outstanding);
	assert_int_equal(json_sum(&v->out, "requester", "unanswered"), v->truth.outstanding);
	assert_int_equal(json_sum(&v->out, "requester", "given_up"), json_number(&v->out, "summary", "given_up"));
	assert_int_equal(json_number(&v->out, "summary", "unexpected_completions"),
			 v->truth.fault[PTT_FAULT_UNEXPECTED_CPL]);
	assert_int_equal(json_number(&v->out, "summary", "span"), v->truth.now);
	assert_int_equal(json_number(&v->out, "summary", "outstanding_peak"), v->truth.peak);
	tally_ptt_close(t);
}

/* The reader skips what is zero between records of a file. */
/* A perf.data of two devices with the same records, so that all their rows are alike but for the device. */
static void two_devices_alike(char *path, const char *first, const char *second)
{
	static uint8_t bytes[RECORDS * 32];
	struct ptt_device d[2] = { { .pmu_type = 11, .config = CONFIG_8DW },
				   { .pmu_type = 12, .config = CONFIG_8DW, .cpu = 1 } };
	struct ptt_writer *w;
	struct bytes_out out;
	struct ptt_gen *g;
	struct err e = { 0 };

	assert_int_equal(ptt_gen_open(&g, &(struct ptt_gen_opts){ .seed = 3, .faults = 1000 }), 0);
	size_t n = ptt_gen_fill(g, bytes, sizeof(bytes));
	ptt_gen_close(g);
	write_file(path, "", 0);
	snprintf(d[0].name, sizeof(d[0].name), "%s", first);
	snprintf(d[1].name, sizeof(d[1].name), "%s", second);
	assert_int_equal(file_out_open(&out, path, &e), 0);
	assert_int_equal(ptt_writer_open(&w, &out, d, 2, &e), 0);
	for (uint32_t i = 0; i < 2; i++)
		assert_int_equal(ptt_writer_aux(w, i, bytes, n, 0), 0);
	assert_int_equal(ptt_writer_close(w), 0);
	assert_int_equal(file_out_close(&out), 0);
}

static int line_order(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Of lines that begin with a requester, a page or an address, that is: of rows of tables. */
static uint32_t rows_alike(struct buf *b)
{
	static char *line[4096];
	uint32_t n = 0, alike = 0;

	for (char *p = strtok(b->p, "\n"); p; p = strtok(NULL, "\n"))
		if (n < COUNT(line) && (strstr(p, ":0") == p + 4 || strstr(p, "0x") == p + 2))
			line[n++] = p;
	assert_true(n > 8);
	qsort(line, n, sizeof(line[0]), line_order);
	for (uint32_t i = 1; i < n; i++)
		alike += !strcmp(line[i - 1], line[i]);
	return alike;
}

static void rows_of_two_devices_never_look_the_same(void **state)
{
	static const char *const name[][2] = { { "hisi_ptt0_2", "hisi_ptt1_2" }, { "", "" } };
	struct env *v = *state;
	char path[64];

	for (size_t i = 0; i < COUNT(name); i++) {
		two_devices_alike(path, name[i][0], name[i][1]);
		for (uint32_t columns = 60; columns <= 200; columns += 20) {
			struct tally_ptt_opts in = { .size = sizeof(in), .note = put, .arg = &v->notes };
			struct tally_ptt_report_opts o = report_opts(v, TALLY_FORMAT_TEXT);
			struct tally_ptt *t = NULL;

			buf_clear(&v->out);
			o.columns = columns;
			assert_int_equal(tally_ptt_open(&t, &in), 0);
			assert_int_equal(tally_ptt_file(t, path), 0);
			assert_int_equal(tally_ptt_report(t, &o), 0);
			assert_int_equal(rows_alike(&v->out), 0);
			tally_ptt_close(t);
		}
		unlink(path);
	}
}

static void padding_is_said_once(void **state)
{
	struct env *v = *state;
	static uint8_t p[100 * 32];
	struct tally_ptt_report_opts o = report_opts(v, TALLY_FORMAT_JSON);
	char path[64];
	FILE *f = fopen(v->raw, "rb");

	assert_non_null(f);
	assert_int_equal(fread(p, 1, sizeof(p), f), sizeof(p));
	fclose(f);
	memset(p + 40 * 32, 0, 10 * 32);
	write_file(path, p, sizeof(p));
	for (o.threads = 1; o.threads < 3; o.threads++) {
		struct tally_ptt *t = opened(v, path);
		assert_int_equal(tally_ptt_report(t, &o), 0);
		assert_int_equal(json_number(&v->out, "summary", "records"), 90);
		assert_int_equal(json_number(&v->out, "summary", "padding"), 10);
		assert_int_equal(count_of(&v->out, "padding"), 1);
		tally_ptt_close(t);
	}
	unlink(path);
}

/* What was assumed is said with each answer: who reads the second has not read the first. */
static void each_call_says_what_its_times_were_taken_for(void **state)
{
	struct env *v = *state;
	struct tally_ptt_dump_opts o = dump_opts(v, TALLY_FORMAT_TEXT);
	struct tally_ptt *t = opened(v, v->raw);

	for (uint32_t i = 1; i <= 3; i++) {
		assert_int_equal(tally_ptt_dump(t, &o), 0);
		assert_int_equal(count_of(&v->notes, ": times are read as "), i);
	}
	tally_ptt_close(t);
}

static void two_threads_say_the_same_as_one(void **state)
{
	struct env *v = *state;
	struct tally_ptt *t = opened(v, v->raw);
	struct tally_ptt_report_opts o = report_opts(v, TALLY_FORMAT_JSON);
	static const char *const keys[] = { "records", "span",       "posted",   "answered",
					    "failed",  "unanswered", "given_up", "unexpected_completions" };
	uint64_t one[COUNT(keys)];

	assert_int_equal(tally_ptt_report(t, &o), 0);
	for (size_t i = 0; i < COUNT(keys); i++)
		one[i] = json_number(&v->out, "summary", keys[i]);
	buf_clear(&v->out);
	o.threads = 2;
	assert_int_equal(tally_ptt_report(t, &o), 0);
	for (size_t i = 0; i < COUNT(keys); i++)
		assert_int_equal(json_number(&v->out, "summary", keys[i]), one[i]);
	tally_ptt_close(t);
}

/* Reads of one DW that are answered after 450 ticks, 12345 ticks apart, in 11 bits of time. */
static void write_sparse(char *path)
{
	uint32_t dw[400][4];

	for (uint32_t i = 0; i < COUNT(dw); i += 2) {
		uint32_t from = 0x01000000 | (i & 0xff) << 8, at = i / 2 * 12345;

		memcpy(dw[i], (uint32_t[4]){ 1 << 11 | (at & 0x7ff), from | 0xf, 0x1000, 0 }, 16);
		memcpy(dw[i + 1], (uint32_t[4]){ 2u << 30 | 0xau << 25 | 1 << 11 | ((at + 450) & 0x7ff), 4, from, 0 },
		       16);
	}
	write_file(path, dw, sizeof(dw));
}

static uint64_t in_report(struct env *v, const char *path, uint32_t form, uint32_t time, const char *what)
{
	struct tally_ptt_opts o = { .size = sizeof(o), .note = put, .arg = &v->notes, .raw = PTT_4DW, .time = time };
	struct tally_ptt_report_opts r = report_opts(v, form);
	struct tally_ptt *t = NULL;

	buf_clear(&v->out);
	assert_int_equal(tally_ptt_open(&t, &o), 0);
	assert_int_equal(tally_ptt_file(t, path), 0);
	assert_int_equal(tally_ptt_report(t, &r), 0);
	tally_ptt_close(t);
	return count_of(&v->out, what);
}

static void no_latency_of_a_weak_guess_is_unmarked(void **state)
{
	struct env *v = *state;
	char path[64];

	write_sparse(path);
	assert_true(in_report(v, path, TALLY_FORMAT_TEXT, TALLY_PTT_TIME_FOUND, "found weakly") > 0);
	assert_int_equal(count_of(&v->out, "Latency in ticks (doubtful"), 1);
	assert_int_equal(count_of(&v->out, "completion, in ticks (doubtful"), 2);
	assert_int_equal(count_of(&v->out, "Latency over time (doubtful"), 1);
	assert_true(count_of(&v->out, "Latencies are doubtful") >= 2);
	assert_true(in_report(v, path, TALLY_FORMAT_HTML, TALLY_PTT_TIME_FOUND, "Latency over time (doubtful") > 0);
	assert_int_equal(in_report(v, path, TALLY_FORMAT_JSON, TALLY_PTT_TIME_FOUND, "\"time_known\":\"found weakly\""),
			 4);
	assert_int_equal(json_number(&v->out, "latency", "max"), 450); /* absolute, when nothing is proven */
	assert_int_equal(in_report(v, path, TALLY_FORMAT_TEXT, TALLY_PTT_TIME_ABS, "doubtful"), 0);
	unlink(path);
}

static void a_span_that_wraps_unseen_is_at_least_that(void **state)
{
	struct env *v = *state;
	char path[64];

	write_sparse(path);
	assert_int_equal(in_report(v, path, TALLY_FORMAT_TEXT, TALLY_PTT_TIME_ABS, "ticks from first to last    >= "),
			 1);
	assert_int_equal(count_of(&v->out, "Sparse: "), 1);
	assert_int_equal(in_report(v, path, TALLY_FORMAT_JSON, TALLY_PTT_TIME_ABS, "\"sparse\":true"), 1);
	unlink(path);
}

static void without_matching_there_is_no_latency(void **state)
{
	struct env *v = *state;
	struct tally_ptt *t = opened(v, v->raw);
	struct tally_ptt_report_opts o = report_opts(v, TALLY_FORMAT_JSON);

	o.flags = TALLY_PTT_NO_MATCH;
	assert_int_equal(tally_ptt_report(t, &o), 0);
	assert_non_null(strstr(v->out.p, "\"matched\":false,\"answered\":null"));
	assert_null(strstr(v->out.p, "{\"type\":\"latency"));
	tally_ptt_close(t);
}

/* Of a trace from whose middle a third is missing; through a pipe, which can be read but once, if so. */
static void report_cut(struct env *v, bool piped)
{
	struct tally_ptt_opts o = { .size = sizeof(o), .raw = PTT_8DW };
	struct tally_ptt_report_opts r = report_opts(v, TALLY_FORMAT_JSON);
	static uint8_t bytes[RECORDS * 32];
	char path[64];
	struct tally_ptt *t = NULL;
	FILE *f = fopen(v->raw, "r");
	size_t n = fread(bytes, 32, RECORDS, f), third = n / 3;
	int fd[2] = { -1, -1 };
	pid_t child = -1;

	fclose(f);
	memmove(bytes + third * 32, bytes + 2 * third * 32, (n - 2 * third) * 32);
	n -= third;
	if (piped) {
		assert_int_equal(pipe(fd), 0);
		child = fork();
		if (child == 0) {
			close(fd[0]);
			_exit(write(fd[1], bytes, n * 32) != (ssize_t)n * 32);
		}
		close(fd[1]);
		snprintf(path, sizeof(path), "/dev/fd/%d", fd[0]);
	} else {
		write_file(path, bytes, n * 32);
	}
	buf_clear(&v->out);
	assert_int_equal(tally_ptt_open(&t, &o), 0);
	assert_int_equal(tally_ptt_file(t, path), 0);
	if (tally_ptt_report(t, &r) != 0)
		fail_msg("%s: %s", path, tally_ptt_error(t));
	tally_ptt_close(t);
	if (piped) {
		int status = -1;

		close(fd[0]);
		assert_int_equal(waitpid(child, &status, 0), child);
		assert_int_equal(status, 0);
	} else {
		unlink(path);
	}
	assert_int_equal(json_number(&v->out, "summary", "records"), n);
}

static void a_cut_trace_is_counted_whole_also_when_it_comes_but_once(void **state)
{
	report_cut(*state, false);
	report_cut(*state, true);
}

static void a_trace_does_not_differ_from_itself(void **state)
{
	struct env *v = *state;
	struct tally_ptt *a = opened(v, v->raw), *b = opened(v, v->again), *c;
	struct tally_ptt_report_opts o = report_opts(v, TALLY_FORMAT_JSON);

	assert_int_equal(tally_ptt_compare(a, b, &o), 0);
	assert_null(strstr(v->out.p, "{\"type\":\"change\""));
	tally_ptt_close(b);
	c = opened(v, v->other);
	assert_int_equal(tally_ptt_compare(a, c, &o), 0);
	assert_non_null(strstr(v->out.p, "{\"type\":\"change\""));
	tally_ptt_close(a);
	tally_ptt_close(c);
}

/* It was marked on the page alone, by its error that is larger. */
static void a_consequence_within_its_error_is_marked_in_text_and_json(void **state)
{
	const struct ptt_report r = { .records = 1 };
	const struct ptt_lost lost = { 0 };
	const struct ptt_page_in in = { .r = &r, .lost = &lost, .file = "a", .top = 10 };
	const struct ptt_change v[] = {
		{ .what = "x",
		  .unit = "ticks",
		  .a = 1,
		  .b = 1.2,
		  .change = 0.2,
		  .error = 0.05,
		  .finding = true,
		  .role = PTT_ROLE_CAUSE },
		{ .what = "y",
		  .unit = "ticks",
		  .a = 1,
		  .b = 1.01,
		  .change = 0.01,
		  .error = 0.02,
		  .finding = true,
		  .role = PTT_ROLE_CONSEQUENCE },
	};
	const struct an_text_opts o = { 0 };
	const struct ptt_page_in other = in;

	(void)state;
	for (uint32_t n = 1; n <= 2; n++) {
		struct an_page p = { 0 };
		struct buf text = { 0 }, json = { 0 };

		ptt_page_changes(&p, &in, &other, v, n);
		an_page_text(&text, &p, &o);
		an_page_json(&json, &p);
		assert_true((strstr(text.p, "within +/-") != NULL) == (n == 2));
		assert_non_null(strstr(json.p, "\"role\":\"cause\",\"within_error\":false"));
		assert_true((strstr(json.p, "\"role\":\"consequence\",\"within_error\":true") != NULL) == (n == 2));
		buf_free(&text);
		buf_free(&json);
		an_page_free(&p);
	}
}

static void an_output_that_is_refused_ends_the_call(void **state)
{
	struct env *v = *state;
	struct tally_ptt *t = opened(v, v->raw);
	struct tally_ptt_dump_opts d = dump_opts(v, TALLY_FORMAT_JSON);
	struct tally_ptt_report_opts r = report_opts(v, TALLY_FORMAT_HTML);

	d.out = r.out = refuse;
	assert_int_equal(tally_ptt_dump(t, &d), -TALLY_EIO);
	assert_int_equal(tally_ptt_report(t, &r), -TALLY_EIO);
	tally_ptt_close(t);
}

static int progress_stops(void *arg, uint64_t done, uint64_t total)
{
	(void)arg, (void)done, (void)total;
	return -1;
}

static void progress_can_stop_it(void **state)
{
	struct env *v = *state;
	struct tally_ptt_opts o = { .size = sizeof(o), .progress = progress_stops, .raw = PTT_8DW };
	struct tally_ptt_report_opts r = report_opts(v, TALLY_FORMAT_TEXT);
	struct tally_ptt *t;

	r.threads = 2;
	assert_int_equal(tally_ptt_open(&t, &o), 0);
	assert_int_equal(tally_ptt_file(t, v->raw), 0);
	assert_int_equal(tally_ptt_report(t, &r), -TALLY_EEND);
	tally_ptt_close(t);
}

static void duckdb_that_is_not_there_is_said(void **state)
{
	struct env *v = *state;
	struct tally_ptt *t = opened(v, v->raw);
	struct tally_ptt_export_opts x = { .size = sizeof(x),
					   .out = put,
					   .arg = &v->out,
					   .sql = "SELECT 1",
					   .duckdb = "/no/such/libduckdb.so",
					   .format = TALLY_FORMAT_TEXT };

	assert_int_equal(tally_ptt_export(t, &x), -TALLY_ENOTSUP);
	assert_non_null(strstr(tally_ptt_error(t), "tally doctor"));
	tally_ptt_close(t);
}

static int whole_run(struct env *v)
{
	struct tally_ptt_opts o = { .size = sizeof(o), .raw = PTT_8DW };
	struct tally_ptt_report_opts r = report_opts(v, TALLY_FORMAT_HTML);
	struct tally_ptt_dump_opts d = dump_opts(v, TALLY_FORMAT_TEXT);
	struct tally_ptt *t = NULL;
	int rc = tally_ptt_open(&t, &o);

	r.out = NULL;
	d.out = NULL;
	if (rc >= 0)
		rc = tally_ptt_file(t, v->raw);
	if (rc >= 0)
		rc = tally_ptt_report(t, &r);
	if (rc >= 0)
		rc = tally_ptt_dump(t, &d);
	tally_ptt_close(t);
	return rc;
}

static void every_failed_allocation_is_reported_and_leaks_nothing(void **state)
{
	struct env *v = *state;
	long before;

	buf_free(&v->out);
	buf_free(&v->notes);
	before = mem_live();
	for (long n = 1;; n += n < 100 ? 1 : n / 16) { /* all of the first, then ever fewer */
		mem_fail_at(n);
		int rc = whole_run(v);
		bool failed = mem_failed();

		mem_fail_at(0);
		assert_int_equal(mem_live(), before);
		if (!failed)
			break;
		assert_int_equal(rc, -TALLY_ENOMEM);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(unknown_options_are_refused),
		cmocka_unit_test(a_file_that_is_no_trace_is_refused_with_words),
		cmocka_unit_test(calls_out_of_order_are_refused),
		cmocka_unit_test(after_a_file_that_is_refused_another_can_be_given),
		cmocka_unit_test(forms_that_a_call_does_not_have_are_refused),
		cmocka_unit_test(a_dump_has_a_line_for_every_record),
		cmocka_unit_test(a_filter_keeps_what_it_asks_for),
		cmocka_unit_test(a_filter_that_faults_says_how_often),
		cmocka_unit_test(a_file_without_a_record_is_refused),
		cmocka_unit_test(a_report_says_the_truth),
		cmocka_unit_test(rows_of_two_devices_never_look_the_same),
		cmocka_unit_test(padding_is_said_once),
		cmocka_unit_test(each_call_says_what_its_times_were_taken_for),
		cmocka_unit_test(two_threads_say_the_same_as_one),
		cmocka_unit_test(no_latency_of_a_weak_guess_is_unmarked),
		cmocka_unit_test(a_span_that_wraps_unseen_is_at_least_that),
		cmocka_unit_test(without_matching_there_is_no_latency),
		cmocka_unit_test(a_cut_trace_is_counted_whole_also_when_it_comes_but_once),
		cmocka_unit_test(a_trace_does_not_differ_from_itself),
		cmocka_unit_test(a_consequence_within_its_error_is_marked_in_text_and_json),
		cmocka_unit_test(an_output_that_is_refused_ends_the_call),
		cmocka_unit_test(progress_can_stop_it),
		cmocka_unit_test(duckdb_that_is_not_there_is_said),
		cmocka_unit_test(every_failed_allocation_is_reported_and_leaks_nothing),
	};

	return cmocka_run_group_tests_name("capture: ptt", tests, setup, teardown);
}
