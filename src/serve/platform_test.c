/* Tests of platform.c: a platform whose memory runs out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "serve/serve_int.h"

static uint64_t test_clock(void *arg)
{
	return *(uint64_t *)arg;
}

static int test_drop_line(void *arg, const char *text, size_t n)
{
	(void)arg;
	(void)text;
	(void)n;
	return 0;
}

/* Counts there, and answers twice. */
static int test_serve(const char *on, const char *events, const char *view, struct buf *page)
{
	uint64_t now_ns = UINT64_C(1700000000000000000);
	const struct tally_serve_opts o = { .size = sizeof(o), .clock = test_clock, .arg = &now_ns };
	struct tally_serve *s = NULL;
	int rc = tally_serve_open(&s, &o);

	if (rc >= 0)
		rc = tally_serve_platform(s, on, events, view);
	if (rc >= 0)
		rc = tally_serve_check(s, test_drop_line, NULL);
	for (int i = 0; rc == 0 && i < 2; i++) {
		now_ns += UINT64_C(2000000000);
		buf_clear(page);
		program_work(s->program[0]);
		rc = serve_metrics(s, FORMAT_OPENMETRICS, page);
	}
	tally_serve_close(s);
	return rc;
}

static uint32_t page_count(const struct buf *page, const char *series)
{
	uint32_t n = 0;

	for (const char *at = page->p; at && (at = strstr(at, series)); at++)
		n++;
	return n;
}

static void every_failed_allocation_of_a_platform_is_survived(void **state)
{
	static const struct {
		const char *on, *events, *view, *series;
	} row[] = {
		{ "power", "gpci/dispatch_purr/", NULL,
		  "tally_gpci_dispatch_purr_processor_time_total{platform=\"power\"," },
		{ "niagara", "mmustat/immu,cpu=0/", NULL, "tally_mmustat_immu_hits_total{platform=\"niagara\"," },
		{ "power", NULL, "partitions", "tally_partition_vps{platform=\"power\"," },
	};
	const long live = mem_live();

	(void)state;
	for (size_t i = 0; i < COUNT(row); i++) {
		uint32_t whole = 0; /* series, with memory enough */

		for (long n = 0, failed = 1; failed; n++) {
			struct buf page = { 0 };
			int rc;

			mem_fail_at(n);
			rc = test_serve(row[i].on, row[i].events, row[i].view, &page);
			failed = !n || mem_failed();
			mem_fail_at(0);
			if (!n)
				whole = page_count(&page, row[i].series);
			assert_true(whole > 0);
			if (!n || !failed)
				assert_int_equal(rc, 0);
			if (rc == 0) /* nothing is left out in silence */
				assert_int_equal(page_count(&page, row[i].series), whole);
			buf_free(&page);
			assert_int_equal(mem_live(), live);
		}
	}
}

/* A platform is looked at again when its period is over, and at once when the clock was set back. */
static void a_platform_waits_for_the_rest_of_its_period(void **state)
{
	uint64_t now_ns = UINT64_C(1700000000000000000), every;
	const struct tally_serve_opts o = { .size = sizeof(o), .clock = test_clock, .arg = &now_ns };
	struct tally_serve *s;

	(void)state;
	assert_int_equal(tally_serve_open(&s, &o), 0);
	assert_int_equal(tally_serve_platform(s, "power", NULL, "partitions"), 0);
	assert_int_equal(tally_serve_check(s, test_drop_line, NULL), 0);
	now_ns += UINT64_C(2000000000);
	program_work(s->program[0]);
	every = platform_wait_ns(s->program[0], now_ns);
	assert_true(every > 1000);
	assert_int_equal(platform_wait_ns(s->program[0], now_ns + 1000), every - 1000);
	assert_int_equal(platform_wait_ns(s->program[0], now_ns + every), 0);
	assert_int_equal(platform_wait_ns(s->program[0], now_ns - 1), 0);
	tally_serve_close(s);
}

struct test_time {
	uint64_t now_ns, reading_ns; /* reading_ns: so long is each look at the clock */
	uint32_t notes;
};

static uint64_t test_slow_clock(void *arg)
{
	struct test_time *t = arg;

	t->now_ns += t->reading_ns;
	return t->now_ns;
}

static int test_count_note(void *arg, const char *text, size_t n)
{
	struct test_time *t = arg;

	t->notes += memmem(text, n, "unix:/nowhere", 13) != NULL;
	return 0;
}

/* A server that is not there is tried again every 2 s, is said to be missing once, and a try that takes long is
 * rare. */
static void a_platform_behind_a_socket_is_tried_again(void **state)
{
	struct test_time t = { .now_ns = UINT64_C(1700000000000000000) };
	const struct tally_serve_opts o = {
		.size = sizeof(o), .clock = test_slow_clock, .note = test_count_note, .arg = &t
	};
	struct tally_serve *s;
	struct program *p;

	(void)state;
	assert_int_equal(tally_serve_open(&s, &o), 0);
	assert_int_equal(tally_serve_platform(s, "unix:/nowhere", NULL, "partitions"), 0);
	assert_int_equal(tally_serve_check(s, test_drop_line, NULL), 1);
	p = s->program[0];
	assert_int_equal(t.notes, 1);
	for (int i = 0; i < 3; i++) {
		const uint64_t tried_ns = p->passed_ns;

		assert_int_equal(platform_wait_ns(p, t.now_ns), UINT64_C(2000000000));
		t.now_ns += UINT64_C(1999999999);
		program_work(p);
		assert_int_equal(p->passed_ns, tried_ns);
		t.now_ns++;
		program_work(p);
		assert_int_equal(p->passed_ns, t.now_ns);
		assert_int_equal(p->state, PROGRAM_FAILED);
		assert_non_null(strstr(p->why.text, "/nowhere"));
		assert_int_equal(t.notes, 1);
	}
	t.now_ns += UINT64_C(2000000000);
	t.reading_ns = UINT64_C(500000000);
	program_work(p); /* it looks at the clock when it begins, and when the try has failed */
	assert_true(p->retry_ns >= UINT64_C(10000000000) && p->retry_ns <= UINT64_C(20000000000));
	tally_serve_close(s);
}

/* What is no server behind a socket stays as it is until a reload. */
static void other_platforms_are_not_tried_again(void **state)
{
	uint64_t now_ns = UINT64_C(1700000000000000000);
	const struct tally_serve_opts o = { .size = sizeof(o), .clock = test_clock, .arg = &now_ns };
	struct tally_serve *s;

	(void)state;
	assert_int_equal(tally_serve_open(&s, &o), 0);
	assert_int_equal(tally_serve_platform(s, "power", "gpci/nothing/", NULL), 0);
	assert_int_equal(tally_serve_check(s, test_drop_line, NULL), 1);
	assert_int_equal(s->program[0]->retry_ns, 0);
	now_ns += UINT64_C(600000000000);
	program_work(s->program[0]);
	assert_int_equal(s->program[0]->state, PROGRAM_FAILED);
	tally_serve_close(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_failed_allocation_of_a_platform_is_survived),
		cmocka_unit_test(a_platform_waits_for_the_rest_of_its_period),
		cmocka_unit_test(a_platform_behind_a_socket_is_tried_again),
		cmocka_unit_test(other_platforms_are_not_tried_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
