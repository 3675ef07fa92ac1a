/* machine_log_test.c: lines of traces that ended: bounded, and nothing left untold. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "platform/machine_log.h"

struct heard {
	uint64_t lines, traces, seen;
	char last[256];
};

/* A line of one trace, or of several: their number and their packets are added up. */
static int hear(void *arg, const char *text, size_t n)
{
	struct heard *h = arg;
	unsigned long long more = 1, seen = 0;
	const char *counts;

	assert_true(n < sizeof(h->last));
	memcpy(h->last, text, n);
	h->last[n] = '\0';
	if (sscanf(h->last, "%llu more trace", &more) != 1)
		more = 1;
	counts = strstr(h->last, "ended");
	assert_non_null(counts);
	counts = strchr(counts, ':');
	assert_non_null(counts);
	assert_int_equal(sscanf(counts, ": %llu packets seen", &seen), 1);
	h->lines++;
	h->traces += more;
	h->seen += seen;
	return 0;
}

/* As many as a client makes that does nothing else: a start and a stop each 2 ms. */
static void a_client_that_starts_and_stops_traces_does_not_fill_the_log(void **state)
{
	const struct ptt_dev_counts c = { .seen = 3, .recorded = 2, .lost = 1 };
	const uint64_t step = 2000000, n = 25000, windows = n * step / MACHINE_LOG_NS;
	struct heard h = { 0 };
	struct machine_log l = { .note = hear, .arg = &h };

	(void)state;
	for (uint64_t i = 0; i < n; i++)
		machine_log_trace(&l, 7 + i * step, "hisi_ptt0_2", &c);
	assert_int_equal(h.lines, windows * (MACHINE_LOG_LINES + 1) - 1);
	assert_true(h.traces < n);
	machine_log_end(&l);
	assert_int_equal(h.lines, windows * (MACHINE_LOG_LINES + 1));
	assert_int_equal(h.traces, n);
	assert_int_equal(h.seen, n * c.seen);
	assert_string_equal(
		h.last,
		"4980 more traces ended within 10 s: 14940 packets seen, 9960 recorded, 4980 lost, 0 buffers\n");
	machine_log_end(&l);
	assert_int_equal(h.traces, n);
}

static void what_a_window_left_out_is_told_when_it_is_over_though_no_trace_ends(void **state)
{
	const struct ptt_dev_counts c = { .seen = 1 };
	struct heard h = { 0 };
	struct machine_log l = { .note = hear, .arg = &h };

	(void)state;
	for (uint32_t i = 0; i <= MACHINE_LOG_LINES; i++)
		machine_log_trace(&l, 5, "d", &c);
	machine_log_passed(&l, 4 + MACHINE_LOG_NS);
	assert_int_equal(h.lines, MACHINE_LOG_LINES);
	machine_log_passed(&l, 5 + MACHINE_LOG_NS);
	assert_int_equal(h.lines, MACHINE_LOG_LINES + 1);
	assert_string_equal(h.last, "1 more trace ended within 10 s: 1 packets seen, 0 recorded, 0 lost, 0 buffers\n");
	machine_log_trace(&l, 6 + MACHINE_LOG_NS, "d", &c);
	assert_int_equal(h.lines, MACHINE_LOG_LINES + 2);
	machine_log_end(&l);
	assert_int_equal(h.lines, MACHINE_LOG_LINES + 2);
}

static void few_traces_have_a_line_each_and_nobody_need_listen(void **state)
{
	const struct ptt_dev_counts c = { .seen = 5, .recorded = 4, .lost = 1, .buffers = 2 };
	struct heard h = { 0 };
	struct machine_log l = { .note = hear, .arg = &h }, deaf = { 0 };

	(void)state;
	for (uint64_t i = 0; i < 100; i++) {
		machine_log_trace(&l, i * MACHINE_LOG_NS / MACHINE_LOG_LINES, "hisi_ptt0_0", &c);
		machine_log_trace(&deaf, i, "hisi_ptt0_0", &c);
	}
	machine_log_end(&l);
	machine_log_end(&deaf);
	assert_int_equal(h.lines, 100);
	assert_string_equal(h.last, "hisi_ptt0_0: a trace ended: 5 packets seen, 4 recorded, 1 lost, 2 buffers\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_client_that_starts_and_stops_traces_does_not_fill_the_log),
		cmocka_unit_test(what_a_window_left_out_is_told_when_it_is_over_though_no_trace_ends),
		cmocka_unit_test(few_traces_have_a_line_each_and_nobody_need_listen),
	};

	return cmocka_run_group_tests_name("platform: machine log", tests, NULL, NULL);
}
