/*
 * tick_test.c: how often a tick fires in one turn of a run that is late.
 *
 * An engine in memory has a timer that expired as often as a test says.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "session/session_int.h"

struct fake {
	struct engine base;
	uint64_t expired;
	unsigned fired, drained, fails_at, exits_at; /* at the n-th firing, from 1; 0: never */
	uint64_t slow_ns;                            /* so long takes a firing */
	uint64_t late;                               /* of the trace */
};

static uint64_t fake_timer_fired(struct engine *g, int timer)
{
	struct fake *f = (struct fake *)g;
	uint64_t n = f->expired;

	assert_int_equal(timer, 7);
	f->expired = 0;
	return n;
}

static int fake_fire(struct engine *g, uint32_t prog, struct err *e)
{
	struct fake *f = (struct fake *)g;
	const uint64_t until = f->slow_ns ? k_now_ns() + f->slow_ns : 0;

	assert_int_equal(prog, 0);
	while (until && k_now_ns() < until)
		;
	return ++f->fired == f->fails_at ? err_set(e, TALLY_EIO, "no more") : 0;
}

static int fake_drain(struct engine *g, record_sink *sink, void *arg)
{
	(void)sink;
	(void)arg;
	((struct fake *)g)->drained++;
	return 0;
}

static bool fake_exited(struct engine *g, int *status)
{
	const struct fake *f = (struct fake *)g;

	*status = 3;
	return f->exits_at && f->fired >= f->exits_at;
}

static int fake_wait(struct engine *g, int timeout_ms)
{
	(void)g;
	(void)timeout_ms;
	return 0;
}

static const struct engine_ops fake_ops = { .timer_fired = fake_timer_fired,
					    .fire = fake_fire,
					    .drain = fake_drain,
					    .exited = fake_exited,
					    .wait = fake_wait };

static void take_note(void *arg, const char *text, size_t n)
{
	buf_put(arg, text, n);
	buf_putc(arg, '\n');
}

static const struct provider nobody = { .name = "profile" };

/* One turn of a run with such an engine: what run_work() returned, and what was said in *notes. */
static int turn(struct fake *f, struct buf *notes)
{
	const struct probe probe = { .prov = &nobody, .mod = "", .func = "", .name = "tick-1s" };
	struct tick tick = { .prog = 0, .timer = 7, .probe = &probe };
	struct d_program prog = { 0 };
	struct img_prog progs[1] = { 0 };
	struct bpf_image img = { .prog = progs, .nprogs = 1 };
	struct tally_trace t = {
		.tick = &tick, .nticks = 1, .pidfd = -1, .img = &img, .prog = &prog, .turn_ns = UINT64_MAX
	};
	const struct prov_opts none = { 0 };
	int rc;

	*notes = (struct buf){ 0 };
	f->base.ops = &fake_ops;
	t.eng = &f->base;
	assert_int_equal(an_emit_open(&t.emit, &t.out, &(struct an_how){ .format = TALLY_FORMAT_TEXT }), 0);
	t.emit.say = take_note;
	t.emit.arg = notes;
	t.opt.v[OPT_switchrate] = t.opt.v[OPT_statusrate] = 1000000000;
	assert_int_equal(probes_open(&t.probes, &none), 0);
	progs[0].probe = probes_add(t.probes, &nobody, "tick-1s")->id;
	rc = run_work(&t, 0);
	if (rc < 0)
		buf_puts(notes, t.err.text);
	f->late = t.late_ticks;
	probes_close(t.probes);
	an_emit_close(&t.emit);
	buf_free(&t.out);
	return rc;
}

/* A turn after so many expirations: it fires so often, and says that. */
static void expect_turn(struct fake f, int rc, unsigned fired, const char *said)
{
	struct buf notes;

	assert_int_equal(turn(&f, &notes), rc);
	assert_int_equal(f.fired, fired);
	assert_int_equal(f.drained, rc < 0 ? fired - 1 : fired + 1); /* after each, and at the end of the turn */
	assert_string_equal(notes.p ? notes.p : "", said);
	assert_int_equal(f.late, strtoull(said, NULL, 10));
	buf_free(&notes);
}

static void a_tick_fires_once_for_each_expiration(void **state)
{
	(void)state;
	expect_turn((struct fake){ .expired = 0 }, 0, 0, "");
	expect_turn((struct fake){ .expired = 1 }, 0, 1, "");
	expect_turn((struct fake){ .expired = 64 }, 0, 64, "");
}

static void what_a_late_tick_does_not_make_up_for_is_told_to_the_last_one(void **state)
{
	(void)state;
	expect_turn((struct fake){ .expired = 65 }, 0, 64, "1 firings of tick-1s skipped: the tracer was late\n");
	expect_turn((struct fake){ .expired = 100 }, 0, 64, "36 firings of tick-1s skipped: the tracer was late\n");
}

static void a_tick_that_ends_the_run_fires_no_more_and_skips_nothing(void **state)
{
	(void)state;
	expect_turn((struct fake){ .expired = 100, .exits_at = 3 }, 1, 3, "");
}

static void a_tick_that_fails_fires_no_more_and_skips_nothing(void **state)
{
	(void)state;
	expect_turn((struct fake){ .expired = 100, .fails_at = 2 }, -TALLY_EIO, 2, "failed to fire tick-1s: no more");
}

/* A kernel's clock goes on meanwhile; `k` is there and is not asked anything. */
static void a_tick_that_is_slower_than_its_period_fires_once_a_turn(void **state)
{
	(void)state;
	expect_turn((struct fake){ .expired = 5, .slow_ns = 110000000, .base.k = (struct k_run *)&nobody }, 0, 1,
		    "4 firings of tick-1s skipped: the tracer was late\n");
	expect_turn((struct fake){ .expired = 5, .base.k = (struct k_run *)&nobody }, 0, 5, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_tick_fires_once_for_each_expiration),
		cmocka_unit_test(what_a_late_tick_does_not_make_up_for_is_told_to_the_last_one),
		cmocka_unit_test(a_tick_that_ends_the_run_fires_no_more_and_skips_nothing),
		cmocka_unit_test(a_tick_that_fails_fires_no_more_and_skips_nothing),
		cmocka_unit_test(a_tick_that_is_slower_than_its_period_fires_once_a_turn),
	};

	return cmocka_run_group_tests_name("session: ticks", tests, NULL, NULL);
}
