/* stat_watch_test.c: what whoever looks at counters is handed. */
#include "ask/output_test_int.h"
#include "ask/watch.h"
#include "base/mem_left.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

/* A line of each figure: FAMILY[LABEL=VALUE,...] UNIT, + of what only grows. */
static int figure_take(void *arg, const struct watch_figure *f)
{
	struct buf *to = arg;

	assert_true(f->text && *f->text);
	buf_printf(to, "%s%s", f->family, f->nlabels ? "[" : "");
	for (uint32_t i = 0; i < f->nlabels; i++)
		buf_printf(to, "%s%s=%s", i ? "," : "", f->label[i].name, f->label[i].value);
	buf_printf(to, "%s%s%s%s\n", f->nlabels ? "]" : "", *f->unit ? " " : "", f->unit, f->grows ? " +" : "");
	return 0;
}

static int take_values(void *arg, const struct watch_figure *f)
{
	*(uint64_t *)arg += f->value.none ? 0 : f->value.u;
	return 0;
}

struct refusing {
	uint32_t after, taken;
};

static int take_some(void *arg, const struct watch_figure *f)
{
	struct refusing *r = arg;

	(void)f;
	return ++r->taken > r->after ? -TALLY_EBUSY : 0;
}

static struct watch *watch_open_or_fail(const char *on, const char *events, const char *view)
{
	struct watch *w;

	if (watch_open(&w, &(struct watch_opts){ .on = on, .events = events, .view = view }) < 0)
		fail_msg("%s", watch_error(w));
	return w;
}

static void counts_are_handed_on_with_whose_they_are(void **state)
{
	struct watch *w = watch_open_or_fail("power,load=mixed",
					     "gpci/entitled,partition=3/,gpci/affinity_by_vp,partition=2,vp=1,"
					     "field=processor/",
					     NULL);
	struct buf got = { 0 };

	(void)state;
	assert_true(watch_is_due(w));
	assert_true(w->every_ns > 0);
	assert_int_equal(watch_read(w, figure_take, &got), 0);
	assert_string_equal(got.p, "gpci_entitled_entitled[partition=3] PURR cycles +\n"
				   "gpci_entitled_capped[partition=3] PURR cycles +\n"
				   "gpci_entitled_uncapped[partition=3] PURR cycles +\n"
				   "gpci_entitled_donated[partition=3] PURR cycles +\n"
				   "gpci_entitled_idle[partition=3] PURR cycles +\n"
				   "gpci_affinity_by_vp_processor[partition=2.1]\n");
	buf_free(&got);
	watch_close(w);
}

static void figures_of_a_view_have_its_keys_as_labels(void **state)
{
	struct watch *w = watch_open_or_fail("power,load=donating", NULL, "partitions");
	struct buf got = { 0 };

	(void)state;
	assert_false(watch_is_due(w)); /* nothing has passed */
	assert_int_equal(watch_read(w, figure_take, &got), 0);
	assert_int_equal(strncmp(got.p,
				 "partition_vps[partition=1]\n"
				 "partition_ent[partition=1]\n"
				 "partition_physc[partition=1]\n"
				 "partition_entc[partition=1] ratio\n",
				 27 + 27 + 29 + 34),
			 0);
	assert_null(strstr(got.p, " +"));
	buf_free(&got);
	watch_close(w);
}

static void mmu_statistics_are_told_by_strand_context_and_size(void **state)
{
	struct watch *w = watch_open_or_fail("niagara,load=chase", "mmustat/dmmu,cpu=3/", NULL);
	struct buf got = { 0 };
	uint32_t lines = 0;

	(void)state;
	assert_int_equal(watch_read(w, figure_take, &got), 0);
	for (const char *at = got.p; (at = strchr(at, '\n')); at++)
		lines++;
	assert_int_equal(lines, 2 * 8); /* both sides; what is not counted is none */
	assert_non_null(strstr(got.p, "mmustat_immu_hits_total[cpu=3,context=0,size=8K] +\n"
				      "mmustat_dmmu_hits_total[cpu=3,context=0,size=8K] +\n"));
	assert_non_null(strstr(got.p, "mmustat_dmmu_hits_total[cpu=3,context=not 0,size=256M] +\n"));
	buf_free(&got);
	watch_close(w);
}

static void a_model_goes_on_with_the_clock_and_no_faster(void **state)
{
	struct watch *w = watch_open_or_fail("batoka,load=compute", "vfalls/zam0_gpd,event=clock_cycles/", NULL);
	uint64_t cycles = 0, later = 0;
	double seconds;

	(void)state;
	assert_true(watch_seconds(w) == 0);
	assert_int_equal(watch_read(w, take_values, &cycles), 0);
	assert_int_equal(cycles, 0);
	do {
		assert_int_equal(watch_pass(w), 0);
		assert_int_equal(watch_read(w, take_values, (cycles = 0, &cycles)), 0);
		seconds = watch_seconds(w);
	} while (seconds < 0.003);
	assert_int_equal(cycles % 1200000, 0); /* whole milliseconds */
	assert_int_equal(cycles / 1200000, (uint64_t)(seconds * 1000 + 0.5));
	assert_int_equal(watch_read(w, take_values, &later), 0); /* looking takes none of its time */
	assert_int_equal(later, cycles);
	watch_close(w);
}

static void a_reading_ends_where_it_is_refused(void **state)
{
	static const struct {
		const char *on, *events, *view;
	} rows[] = { { "power,load=mixed", "gpci/entitled/", NULL }, { "power,load=mixed", NULL, "partitions" } };

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct watch *w = watch_open_or_fail(rows[i].on, rows[i].events, rows[i].view);
		struct refusing r = { .after = 3 };

		assert_int_equal(watch_read(w, take_some, &r), -TALLY_EBUSY);
		if (rows[i].view)
			assert_int_equal(r.taken, 4);
		r = (struct refusing){ .after = UINT32_MAX };
		assert_int_equal(watch_read(w, take_some, &r), 0); /* which the next one does not remember */
		assert_true(r.taken > 4);
		assert_int_equal(watch_read(w, NULL, NULL), 0);
		watch_close(w);
	}
}

static void what_can_not_be_watched_has_words(void **state)
{
	static const struct {
		int line;
		const char *on, *events, *view;
		int rc;
		const char *words;
	} rows[] = {
		{ __LINE__, "powr", "gpci/entitled/", NULL, -TALLY_EINVAL, "did you mean 'power'?" },
		{ __LINE__, "power", "gpci/entitlde/", NULL, -TALLY_EINVAL, "did you mean 'entitled'?" },
		{ __LINE__, "power", NULL, "parttions", -TALLY_EINVAL, "did you mean 'partitions'?" },
		{ __LINE__, "power,rights=none", "gpci/dispatch_purr/", NULL, -TALLY_EPERM,
		  "none of these events can be counted here" },
		{ __LINE__, "power,rights=none", NULL, "cec", -TALLY_EPERM, "the view needs dispatch_purr" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct buf notes = { 0 };
		const struct watch_opts o = { .on = rows[i].on,
					      .events = rows[i].events,
					      .view = rows[i].view,
					      .note = buf_take,
					      .arg = &notes };
		struct watch *w;

		if (watch_open(&w, &o) != rows[i].rc || !strstr(watch_error(w), rows[i].words))
			fail_msg("row of line %d: %s", rows[i].line, watch_error(w));
		watch_close(w);
		buf_free(&notes);
	}
	watch_close(NULL);
}

static void memory_that_runs_out_is_an_error(void **state)
{
	static const struct {
		const char *events, *view;
	} rows[] = { { "gpci/entitled,partition=1/", NULL }, { NULL, "processors" } };

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++)
		for (long n = 1;; n++) {
			const struct watch_opts o = { .on = "power,load=idle",
						      .events = rows[i].events,
						      .view = rows[i].view };
			struct buf got = { 0 };
			struct watch *w;
			bool failed;
			int rc;

			mem_fail_at(n);
			rc = watch_open(&w, &o);
			assert_true(w || rc == -TALLY_ENOMEM);
			if (rc >= 0)
				rc = watch_read(w, figure_take, &got);
			failed = mem_failed();
			mem_fail_at(0);
			if (failed && rc != -TALLY_ENOMEM && !got.failed)
				fail_msg("row %zu, allocation %ld: %d", i, n, rc);
			watch_close(w);
			buf_free(&got);
			assert_int_equal(mem_live(), 0);
			if (!failed)
				break;
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(counts_are_handed_on_with_whose_they_are),
		TEST(figures_of_a_view_have_its_keys_as_labels),
		TEST(mmu_statistics_are_told_by_strand_context_and_size),
		TEST(a_model_goes_on_with_the_clock_and_no_faster),
		TEST(a_reading_ends_where_it_is_refused),
		TEST(what_can_not_be_watched_has_words),
		TEST(memory_that_runs_out_is_an_error),
	};

	return cmocka_run_group_tests_name("ask: watch", tests, NULL, NULL);
}
