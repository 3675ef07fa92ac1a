/* compare_test.c: what is compared, and in which order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include <math.h>

#include "ptt/gen.h"

static struct ptt_stats *report_of(struct ptt_gen_opts o, const struct ptt_report **r)
{
	struct ptt_stats_opts so = { .match = true };
	struct ptt_decode_opts d = { .format = PTT_8DW, .time = PTT_TIME_ABS };
	struct ptt_chunk c = { .n = 20000 * 32, .format = PTT_8DW };
	uint8_t *p = mem_alloc(c.n);
	struct ptt_gen *g;
	struct ptt_stats *s;

	c.p = p;
	assert_int_equal(ptt_gen_open(&g, &o), 0);
	assert_int_equal(ptt_gen_fill(g, p, c.n), c.n);
	assert_int_equal(ptt_stats_open(&s, &so), 0);
	ptt_stats_chunk(s, &c, &d);
	assert_int_equal(ptt_stats_finish(s, r), 0);
	ptt_gen_close(g);
	mem_free(p);
	return s;
}

static const struct ptt_change *change_of(const struct ptt_change *v, int n, const char *what)
{
	for (int i = 0; i < n; i++)
		if (strcmp(v[i].what, what) == 0)
			return &v[i];
	return NULL;
}

static void a_trace_does_not_differ_from_itself(void **state)
{
	const struct ptt_report *r;
	struct ptt_stats *s = report_of((struct ptt_gen_opts){ .seed = 1 }, &r);
	struct ptt_change *v;

	(void)state;
	assert_int_equal(ptt_compare(&v, r, r), 0);
	mem_free(v);
	ptt_stats_close(s);
}

static void changes_are_found_and_the_largest_comes_first(void **state)
{
	const struct ptt_report *a, *b;
	struct ptt_stats *sa = report_of((struct ptt_gen_opts){ .seed = 1, .no_pauses = true }, &a);
	struct ptt_stats *sb = report_of((struct ptt_gen_opts){ .seed = 1, .no_pauses = true, .mrrs = 2048,
								.faults = 3000, .requesters = 9 }, &b);
	struct ptt_change *v;
	int n = ptt_compare(&v, a, b);

	(void)state;
	assert_true(n > 20);
	const struct ptt_change *mrrs = change_of(v, n, "largest read request");
	assert_non_null(mrrs);
	assert_true(mrrs->a == 512 && mrrs->b == 2048 && mrrs->change == 3);
	const struct ptt_change *ur = change_of(v, n, "unsupported request");
	assert_non_null(ur);
	assert_true(ur->a == 0 && isinf(ur->change));
	assert_non_null(change_of(v, n, "02:00.3 bytes read"));        /* the ninth */
	assert_null(change_of(v, n, "largest payload"));
	double last = INFINITY;
	for (int i = 0; i < n; i++) {
		double factor = v[i].a > v[i].b ? v[i].a / v[i].b : v[i].b / v[i].a;
		assert_true(factor <= last);
		last = factor;
	}
	mem_free(v);
	ptt_stats_close(sa);
	ptt_stats_close(sb);
}

static void empty_reports_are_compared_too(void **state)
{
	static const struct ptt_report none;
	const struct ptt_report *r;
	struct ptt_stats *s = report_of((struct ptt_gen_opts){ .seed = 1 }, &r);
	struct ptt_change *v;

	(void)state;
	int n = ptt_compare(&v, r, &none);
	assert_true(n > 0);
	assert_true(v[0].change == -1);
	mem_free(v);
	n = ptt_compare(&v, &none, r);
	assert_true(isinf(v[0].change));
	mem_free(v);
	ptt_stats_close(s);
}

/* Two devices write alike, the second in a tenth of the time. */
static void a_rate_is_by_the_clock_of_its_device(void **state)
{
	static const struct ptt_report none;
	struct tlp t = { .class = TLP_P, .type_index = TLP_ROW_MWr32, .length_dw = 2, .bytes = 8, .dws = 8, .requester = 8 };
	const struct ptt_report *r;
	struct ptt_stats *s;
	struct ptt_change *v;

	(void)state;
	assert_int_equal(ptt_stats_open(&s, NULL), 0);
	for (uint64_t i = 0; i <= 100; i++)
		for (t.device = 0; t.device < 2; t.device++) {
			t.time = i * (t.device ? 1 : 10);
			ptt_stats_record(s, &t);
		}
	assert_int_equal(ptt_stats_finish(s, &r), 0);
	int n = ptt_compare(&v, r, &none);
	assert_true(change_of(v, n, "00:01.0 bytes written")->a == 808);
	assert_true(change_of(v, n, "1/00:01.0 bytes written")->a == 8080);
	mem_free(v);
	ptt_stats_close(s);
}

static void every_failing_allocation_is_reported(void **state)
{
	static const struct ptt_report none;
	const struct ptt_report *r;
	struct ptt_stats *s = report_of((struct ptt_gen_opts){ .seed = 1 }, &r);
	long before = mem_live();

	(void)state;
	for (long n = 1; ; n++) {
		struct ptt_change *v = NULL;
		mem_fail_at(n);
		int rc = ptt_compare(&v, r, &none);
		bool reached = mem_failed();
		mem_fail_at(0);
		mem_free(v);
		assert_int_equal(mem_live(), before);
		if (!reached)
			break;
		assert_int_equal(rc, -TALLY_ENOMEM);
	}
	ptt_stats_close(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_trace_does_not_differ_from_itself),
		cmocka_unit_test(changes_are_found_and_the_largest_comes_first),
		cmocka_unit_test(empty_reports_are_compared_too),
		cmocka_unit_test(a_rate_is_by_the_clock_of_its_device),
		cmocka_unit_test(every_failing_allocation_is_reported),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
