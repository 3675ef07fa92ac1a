/* losses_test.c: which losses are told, and in which words. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "session/session.h"
#include "session/session_int.h"

static int take(void *arg, const char *text, size_t n)
{
	buf_put(arg, text, n);
	buf_putc(arg, '\n'); /* a note is a line */
	return 0;
}

static const struct provider nobody = { .name = "cpc" };
static const struct probe probe = { .prov = &nobody, .mod = "", .func = "", .name = "p" };

/* What is said, on stderr or in JSON, of these losses. */
static char *said(struct lost *lost, uint32_t n, uint32_t form, uint32_t flags, bool quiet)
{
	static char text[2048];
	struct buf notes = { 0 };
	const struct tally_trace_opts o = {
		.size = sizeof(o), .note = take, .arg = &notes, .format = form, .flags = flags
	};
	struct tally_trace *t;

	assert_int_equal(tally_trace_open(&t, &o), 0);
	t->lost = lost;
	t->nlost = n;
	t->opt.v[OPT_quiet] = quiet;
	losses_report(t);
	snprintf(text, sizeof(text), "%.*s%.*s", (int)notes.n, notes.n ? notes.p : "", (int)t->out.n,
		 t->out.n ? t->out.p : "");
	t->lost = NULL;
	tally_trace_close(t);
	buf_free(&notes);
	return text;
}

#define LOST(cpu_, lost_, of)                                                                       \
	{                                                                                           \
		.probe = &probe, .cpu = cpu_, .lost = lost_, .firings = (of) - (lost_), .period = 1 \
	}

static void one_to_three_firings_of_a_second_no_longer_bury_a_big_loss(void **state)
{
	struct lost l[] = { LOST(0, 1, 997), LOST(1, 3, 997), LOST(2, 500, 1000), LOST(3, 0, 997), LOST(4, 2, 997) };

	(void)state;
	assert_string_equal(
		said(l, COUNT(l), TALLY_FORMAT_TEXT, 0, false),
		"500 of 1000 firings of p lost on CPU 2: 50.0 %\n"
		"6 firings lost in small numbers on each CPU (less than 0.5 % of a probe's, or up to 3 and less than 5 %); -v shows where\n");
	assert_string_equal(said(l, COUNT(l), TALLY_FORMAT_TEXT, 0, true),
			    "500 of 1000 firings of p lost on CPU 2: 50.0 %\n");
	assert_string_equal(
		said(l, 1, TALLY_FORMAT_TEXT, 0, false),
		"1 firing lost in small numbers on each CPU (less than 0.5 % of a probe's, or up to 3 and less than 5 %); -v shows where\n");
	assert_string_equal(said(l, 1, TALLY_FORMAT_TEXT, 0, true), "");
}

static void verbose_and_json_have_every_cpu(void **state)
{
	struct lost l[] = { LOST(0, 1, 1000), LOST(1, 3, 997) };
	const char *json = said(l, COUNT(l), TALLY_FORMAT_JSON, 0, true);

	(void)state;
	assert_non_null(
		strstr(json, "\"cpu\":0,\"counted\":0,\"period\":1,\"firings\":999,\"lost\":1,\"share\":0.001}"));
	assert_non_null(strstr(json, "\"cpu\":1,"));
	assert_string_equal(
		said(l, COUNT(l), TALLY_FORMAT_TEXT, TALLY_TRACE_VERBOSE, true),
		"1 of 1000 firings of p lost on CPU 0: 0.10 %\n3 of 997 firings of p lost on CPU 1: 0.30 %\n");
}

static void one_to_three_firings_of_a_hundred_have_no_line_of_their_own(void **state)
{
	struct lost l[] = { LOST(0, 1, 97), LOST(1, 3, 98) }, many[] = { LOST(0, 4, 97) }, most[] = { LOST(0, 3, 5) };

	(void)state;
	assert_string_equal(said(l, COUNT(l), TALLY_FORMAT_TEXT, 0, true), "");
	assert_string_equal(
		said(l, COUNT(l), TALLY_FORMAT_TEXT, 0, false),
		"4 firings lost in small numbers on each CPU (less than 0.5 % of a probe's, or up to 3 and less than 5 %); -v shows where\n");
	assert_string_equal(said(many, 1, TALLY_FORMAT_TEXT, 0, true), "4 of 97 firings of p lost on CPU 0: 4.1 %\n");
	assert_string_equal(said(most, 1, TALLY_FORMAT_TEXT, 0, true), "3 of 5 firings of p lost on CPU 0: 60.0 %\n");
}

static void from_half_a_per_cent_on_a_loss_is_told(void **state)
{
	struct lost at[] = { LOST(0, 5, 1000) }, below[] = { LOST(0, 4, 1000) }, all[] = { LOST(1, 99, 99) };

	(void)state;
	assert_string_equal(said(at, 1, TALLY_FORMAT_TEXT, 0, true), "5 of 1000 firings of p lost on CPU 0: 0.50 %\n");
	assert_string_equal(said(below, 1, TALLY_FORMAT_TEXT, 0, true), "");
	assert_string_equal(said(all, 1, TALLY_FORMAT_TEXT, 0, true),
			    "99 of 99 firings of p lost on CPU 1: 100.0 % (the kernel sent none from there)\n");
}

/* What losses_add() keeps of two CPUs on which the probe fired 10 and 20 times. */
static void add(struct tally_trace *t, const struct probe *p, const struct k_account *a, uint32_t n)
{
	const struct img_drops fired[] = { { .firings = 10 }, { .firings = 20 } };

	assert_int_equal(losses_add(t, p, a, n, fired, COUNT(fired)), 0);
}

static void more_firings_than_were_counted_are_no_loss_of_18446744073709551613(void **state)
{
	const struct k_account a[] = { { .cpu = 0, .period = 100, .counted = 799 },
				       { .cpu = 1, .period = 100, .counted = 2000 } };
	struct tally_trace t = { 0 };

	(void)state;
	add(&t, &probe, a, COUNT(a));
	assert_int_equal(t.nlost, 2);
	assert_int_equal(t.lost[0].firings, 10);
	assert_int_equal(t.lost[0].lost, 0);
	assert_int_equal(t.lost[1].lost, 0);
	mem_free(t.lost);
}

static void events_of_a_cpu_that_lead_to_one_probe_are_added_up(void **state)
{
	const struct k_account a[] = { { .cpu = 1, .period = 100, .counted = 1999 },
				       { .cpu = 1, .period = 10, .counted = 59 },
				       { .cpu = 0, .period = 0, .freq = 99, .counted = 5000 },
				       { .cpu = 2, .period = 1, .counted = 5000 } };
	struct tally_trace t = { 0 };

	(void)state;
	add(&t, &probe, a, COUNT(a));
	assert_int_equal(t.nlost, 1); /* of a frequency nothing is claimed, nor of a CPU that isn't looked at */
	assert_int_equal(t.lost[0].cpu, 1);
	assert_int_equal(t.lost[0].counted, 2058);
	assert_int_equal(t.lost[0].period, 10);
	assert_int_equal(t.lost[0].lost, 19 + 5 - 20);
	assert_ptr_equal(t.lost[0].probe, &probe);
	mem_free(t.lost);
}

static void events_that_are_not_counted_are_claimed_nothing_of(void **state)
{
	const struct k_account a[] = { { .cpu = 0, .period = 1, .counted = 5000 } };
	struct k_event event[] = { { .uncounted = false }, { .uncounted = true } };
	struct probe p = probe;
	struct tally_trace t = { 0 };

	(void)state;
	p.event = event;
	p.nevents = 2;
	add(&t, &p, a, 1);
	assert_int_equal(t.nlost, 0);
	p.nevents = 1;
	add(&t, &p, a, 1);
	assert_int_equal(t.nlost, 1);
	mem_free(t.lost);
}

/* A probe is looked at several times: a CPU has one row of it, and what fires late doesn't make a loss good. */
static void a_loss_that_was_seen_is_not_taken_back(void **state)
{
	const struct k_account had[] = { { .cpu = 0, .period = 100, .counted = 1500 } },
			       late[] = { { .cpu = 0, .period = 100, .counted = 1200 } },
			       more[] = { { .cpu = 0, .period = 100, .counted = 1600 } };
	struct probe other = probe;
	struct tally_trace t = { 0 };

	(void)state;
	add(&t, &probe, had, 1);
	assert_int_equal(t.lost[0].lost, 5);
	add(&t, &probe, late, 1);
	assert_int_equal(t.nlost, 1);
	assert_int_equal(t.lost[0].counted, 1200);
	assert_int_equal(t.lost[0].lost, 5);
	add(&t, &probe, more, 1);
	assert_int_equal(t.nlost, 1);
	assert_int_equal(t.lost[0].lost, 6);
	add(&t, &other, late, 1);
	assert_int_equal(t.nlost, 2);
	assert_int_equal(t.lost[1].lost, 2);
	assert_int_equal(t.lost[0].lost, 6);
	mem_free(t.lost);
}

static void a_loss_that_finds_no_memory_is_an_error(void **state)
{
	const struct k_account a[] = { { .cpu = 0, .period = 100, .counted = 1500 } };
	const struct img_drops fired[] = { { .firings = 10 } };
	struct tally_trace t = { 0 };

	(void)state;
	mem_fail_at(1);
	assert_int_equal(losses_add(&t, &probe, a, 1, fired, 1), -TALLY_ENOMEM);
	mem_fail_at(0);
	assert_int_equal(t.nlost, 0);
	mem_free(t.lost);
}

/* Drops of two CPUs, which the test sets. */
static struct img_drops dropped[2];

static int walk_drops(void *maps, uint32_t map, int (*each)(void *arg, const void *key, const void *value), void *arg)
{
	(void)maps;
	return each(arg, &map, dropped);
}

static struct maps maps_of_drops(struct engine *g)
{
	static const struct map_ops ops = { .walk = walk_drops };

	(void)g;
	return (struct maps){ .ops = &ops, .ncpus = COUNT(dropped) };
}

/* What is said of drops at this second. */
static const char *told(struct tally_trace *t, struct buf *notes, uint64_t second)
{
	buf_clear(notes);
	assert_int_equal(drops_report_due(t, second * 1000000000), 0);
	return notes->n ? notes->p : "";
}

static void drops_are_told_as_they_grow_or_seldom_with_all_since(void **state)
{
	static const struct engine_ops ops = { .maps = maps_of_drops };
	struct buf notes = { 0 };
	const struct tally_trace_opts o = { .size = sizeof(o), .note = take, .arg = &notes };
	struct engine engine = { .ops = &ops };
	struct img_map map = { .use = IMG_DROPS, .max_entries = 1 };
	struct bpf_image img = { .map = &map, .nmaps = 1 };

	(void)state;
	for (int seldom = 0; seldom < 2; seldom++) {
		struct tally_trace *t;

		memset(dropped, 0, sizeof(dropped));
		assert_int_equal(tally_trace_open(&t, &o), 0);
		t->eng = &engine;
		t->img = &img;
		if (seldom)
			session_tell_drops_seldom(t, UINT64_C(60000000000));
		assert_string_equal(told(t, &notes, 1), "");
		dropped[0].aggs = 3;
		dropped[1].aggs = 4;
		dropped[1].dynvars = 1;
		assert_string_equal(told(t, &notes, 2),
				    seldom ? "7 aggregation drops\n1 dynamic variable drop\n" :
					     "3 aggregation drops on CPU 0\n4 aggregation drops on CPU 1\n"
					     "1 dynamic variable drop\n");
		dropped[0].aggs = 5;
		assert_string_equal(told(t, &notes, 3), seldom ? "" : "2 aggregation drops on CPU 0\n");
		dropped[1].aggs = 5;
		assert_string_equal(told(t, &notes, 61), seldom ? "" : "1 aggregation drop on CPU 1\n");
		assert_string_equal(told(t, &notes, 62), seldom ? "3 aggregation drops\n" : "");
		assert_string_equal(told(t, &notes, 200), "");
		dropped[0].aggs = 6; /* after a while without one it is told at once */
		assert_string_equal(told(t, &notes, 201),
				    seldom ? "1 aggregation drop\n" : "1 aggregation drop on CPU 0\n");
		mem_free(t->drops);
		t->drops = NULL;
		t->eng = NULL;
		t->img = NULL;
		tally_trace_close(t);
	}
	buf_free(&notes);
	assert_int_equal(mem_live(), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(more_firings_than_were_counted_are_no_loss_of_18446744073709551613),
		cmocka_unit_test(events_of_a_cpu_that_lead_to_one_probe_are_added_up),
		cmocka_unit_test(a_loss_that_was_seen_is_not_taken_back),
		cmocka_unit_test(a_loss_that_finds_no_memory_is_an_error),
		cmocka_unit_test(events_that_are_not_counted_are_claimed_nothing_of),
		cmocka_unit_test(one_to_three_firings_of_a_second_no_longer_bury_a_big_loss),
		cmocka_unit_test(one_to_three_firings_of_a_hundred_have_no_line_of_their_own),
		cmocka_unit_test(verbose_and_json_have_every_cpu),
		cmocka_unit_test(from_half_a_per_cent_on_a_loss_is_told),
		cmocka_unit_test(drops_are_told_as_they_grow_or_seldom_with_all_since),
	};

	return cmocka_run_group_tests_name("session: losses", tests, NULL, NULL);
}
