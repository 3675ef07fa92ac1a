/*
 * trace.c: one trace: a device that records while a command runs.
 *
 * The order makes the trace exact: check the event, fork the command, which waits, start the device, prepare the
 * consumer of the bytes, release the command.  At the end, whatever the reason, the device stops and its remaining
 * bytes are read.
 *
 * Time is the platform's.  On real hardware this function waits for bytes.  A machine in another process is asked for
 * its time, since it may be slower than real time.  In an embedded model time advances only here.  Without a command it
 * advances by exactly the duration, as fast as possible and in equal slices, so the same bytes come each time.  With a
 * command it follows real time; if the model is slower than that, a note says so.
 *
 * If the trace is stopped or fails, a command that still runs gets SIGTERM, and after a
 * while SIGKILL.  After the duration it may finish.
 */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <time.h>

#include "capture/trace_int.h"
#include "kernel/kernel.h"

#define SLICE_NS 1000000u     /* of a model's time; bounds how long *stop is unseen */
#define PACE_MS 2             /* a model that is in time waits that long */
#define CATCH_UP_NS 10000000u /* that a model may be late at the end, and still gets */
#define UNSEEN_NS 10000000u   /* that a machine of another process may be late: it lives in turns, too */
#define TURN_MS 20            /* bounds how long the end of the command is unseen */
#define CHUNKS_PER_TURN 16

struct run {
	struct tally_platform *p;
	struct plat_trace *t;
	struct plat_traced of;
	size_t record_bytes;
	struct k_child child;
	bool has_child, ended; /* it has */
	uint64_t start_ns;     /* by the wall */
	uint64_t own_start_ns; /* by the platform, where its time passes by itself */
};

static int own_ns(struct run *r, uint64_t *ret, struct err *e)
{
	const struct ptt_pmus *ptt = &r->p->ptt;

	*ret = k_now_ns();
	return ptt->op->now ? ptt->op->now(ptt->arg, ret, e) : 0;
}

static int fail_as(struct run *r, int rc, const struct err *e)
{
	return plat_fail(r->p, (enum tally_err) - rc, "%s", e->text[0] ? e->text : tally_strerror(rc));
}

/* ---- before ------------------------------------------------------------------------------- */

int plat_trace_check(struct tally_platform *p, const char *event, const char *ring, struct plat_traced *ret)
{
	struct buf warning = { 0 };
	const struct ptt_pmu *pmu;
	uint32_t n, device;
	int rc = plat_ptt_list(p, &pmu, &n);

	if (rc >= 0)
		rc = ptt_ask_parse(&ret->ask, event, pmu, n, p->profile, &p->err);
	if (rc >= 0)
		rc = plat_ptt_device(p, ret->ask.device, strlen(ret->ask.device), &device);
	if (rc >= 0)
		rc = plat_ptt_list(p, &pmu, &n);
	if (rc < 0)
		return rc;
	ret->pmu = &pmu[device];
	rc = ptt_ask_check(&ret->ask, ret->pmu, p->profile, &p->err, &warning);
	if (rc >= 0 && warning.n)
		plat_note(p, "%s", warning.p);
	buf_free(&warning);
	if (rc >= 0)
		rc = ptt_ring_parse(ring, p->profile, &ret->ring, &p->err);
	ret->ask.config = ptt_ask_config(&ret->ask);
	return rc;
}

static int trace_start_device(struct run *r)
{
	struct err e = { 0 };
	int rc = 0;

	if (r->t->argv) {
		rc = k_child_start_argv(r->t->argv, &r->child, &e);
		r->has_child = rc >= 0;
	}
	if (rc >= 0)
		rc = r->p->ptt.op->start(r->p->ptt.arg, r->of.pmu, &r->of.ask, r->of.ring, &e);
	return rc < 0 ? fail_as(r, rc, &e) : 0;
}

static int trace_release_command(struct run *r)
{
	struct err e = { 0 };
	int rc = own_ns(r, &r->own_start_ns, &e);

	if (rc < 0)
		return fail_as(r, rc, &e);
	r->start_ns = k_now_ns();
	if (!r->has_child || k_child_release(&r->child, &e) >= 0)
		return 0;
	r->ended = true;
	return plat_fail(r->p, TALLY_EINVAL, "failed to start '%s': %s", r->t->argv[0], e.text);
}

/* ---- bytes --------------------------------------------------------------------------------- */

static int trace_take_chunk(struct run *r, const struct ptt_aux *a)
{
	struct plat_trace *t = r->t;
	int rc = t->take(t->arg, a);

	if (rc < 0)
		return plat_fail(r->p, (enum tally_err) - rc, "%s", tally_strerror(rc));
	t->bytes += a->n;
	t->records += a->n / r->record_bytes;
	t->lost += a->lost;
	return 0;
}

/* Takes what is there, at most so many chunks; waits for the first. How many, or negative. */
static int trace_drain_device(struct run *r, int timeout_ms, int most)
{
	struct err e = { 0 };
	struct ptt_aux a;
	int rc = 0, n;

	for (n = 0; n < most; n++) {
		a = (struct ptt_aux){ .p = NULL };
		rc = r->p->ptt.op->next(r->p->ptt.arg, &a, n ? 0 : timeout_ms, &e);
		if (rc < 0)
			return fail_as(r, rc, &e);
		if (rc > 0)
			rc = trace_take_chunk(r, &a);
		else
			break;
		if (rc < 0)
			return rc;
	}
	return n;
}

/* ---- time ----------------------------------------------------------------------------------- */

static void wait_for_child(const struct run *r, int ms)
{
	struct pollfd fd = { .fd = r->has_child ? r->child.pidfd : -1, .events = POLLIN };

	(void)poll(&fd, 1, ms); /* a signal ends it: what it meant is looked at next */
}

static uint64_t trace_least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* A model's time goes on by up to ns; its bytes are taken as they come. */
static int trace_pass_time(struct run *r, uint64_t ns)
{
	const struct ptt_pmus *ptt = &r->p->ptt;

	while (ns) {
		uint64_t slice = ptt->op->advance(ptt->arg, trace_least(ns, SLICE_NS));
		int rc = trace_drain_device(r, 0, INT32_MAX);

		if (rc < 0)
			return rc;
		if (!slice && !rc)
			return plat_fail(r->p, TALLY_EIO, "%s stands still: its time does not advance", ptt->op->what);
		r->t->ns += slice;
		ns -= trace_least(ns, slice);
	}
	return 0;
}

static bool is_paced(const struct run *r)
{
	return r->has_child || !r->t->duration_ns;
}

static int turn_model(struct run *r)
{
	uint64_t due, left = r->t->duration_ns ? r->t->duration_ns - r->t->ns : UINT64_MAX;

	if (!is_paced(r))
		return trace_pass_time(r, trace_least(left, SLICE_NS));
	due = k_now_ns() - r->start_ns;
	due = due > r->t->ns ? due - r->t->ns : 0;
	if (due < SLICE_NS)
		wait_for_child(r, PACE_MS);
	return trace_pass_time(r, trace_least(trace_least(due, left), SLICE_NS));
}

/* How long it is, where time passes by itself. */
static int trace_report_time(struct run *r)
{
	struct err e = { 0 };
	uint64_t now;
	int rc = own_ns(r, &now, &e);

	if (rc < 0)
		return fail_as(r, rc, &e);
	r->t->ns = now - r->own_start_ns;
	return 0;
}

static int trace_turn(struct run *r)
{
	struct plat_trace *t = r->t;
	int rc;

	if (r->p->ptt.op->advance) {
		rc = turn_model(r);
	} else {
		rc = trace_drain_device(r, TURN_MS, CHUNKS_PER_TURN);
		if (rc >= 0)
			rc = trace_report_time(r);
	}
	if (rc >= 0 && t->tick && (rc = t->tick(t->arg)) < 0)
		rc = plat_fail(r->p, (enum tally_err) - rc, "%s", tally_strerror(rc));
	return rc;
}

static bool is_over(struct run *r)
{
	struct plat_trace *t = r->t;

	t->stopped = t->stop && *t->stop;
	if (r->has_child && !r->ended)
		r->ended = k_child_status(&r->child, &t->status) == 1;
	return t->stopped || r->ended || (t->duration_ns && t->ns >= t->duration_ns);
}

/* What should have passed by now. */
static uint64_t due_ns(const struct run *r)
{
	uint64_t wall = k_now_ns() - r->start_ns;

	return r->t->duration_ns ? trace_least(wall, r->t->duration_ns) : wall;
}

/* Less time means less of everything; what is not a hundredth of it would be noise. */
static void trace_report_lag(struct run *r, const char *what, uint64_t due, uint64_t unseen)
{
	uint64_t behind = due - trace_least(due, r->t->ns);

	if (behind > unseen && behind > due / 100)
		plat_note(r->p, "%s is slower than the clock: %.1f ms of %.1f ms passed in it", what,
			  (double)r->t->ns / 1e6, (double)due / 1e6);
}

/* The time that passed since the last turn, when the command was a short one. */
static int catch_up(struct run *r)
{
	struct plat_trace *t = r->t;
	uint64_t due;
	int rc = 0;

	if (!is_paced(r))
		return 0;
	due = due_ns(r);
	rc = trace_pass_time(r, trace_least(due - trace_least(due, t->ns), CATCH_UP_NS));
	if (rc >= 0)
		trace_report_lag(r, "the model", due, 0);
	return rc;
}

static int take_time(struct run *r)
{
	int rc = trace_report_time(r);

	if (rc >= 0 && r->p->ptt.op->now)
		trace_report_lag(r, r->p->ptt.op->what, due_ns(r), UNSEEN_NS);
	return rc;
}

static int trace_go(struct run *r)
{
	int rc = trace_release_command(r);

	while (rc >= 0 && !is_over(r))
		rc = trace_turn(r);
	if (rc < 0)
		return rc;
	return r->p->ptt.op->advance ? catch_up(r) : take_time(r);
}

/* ---- after ------------------------------------------------------------------------------------ */

/* After a failure, too: what was committed is worth having. A device that is gone has no more to say. */
static int trace_finish(struct run *r, int rc)
{
	struct err e = { 0 };
	int stopped = r->p->ptt.op->stop(r->p->ptt.arg, &e);

	if (rc < 0)
		return rc;
	return stopped < 0 ? fail_as(r, stopped, &e) : trace_drain_device(r, 0, INT32_MAX);
}

static void end_child(struct run *r, int rc)
{
	if (!r->has_child)
		return;
	if (rc >= 0 && k_child_wait(&r->child, UINT64_MAX, r->t->stop))
		r->ended = true;
	r->t->ended_command = !r->ended;
	k_child_end(&r->child, K_PATIENCE_NS);
	(void)k_child_status(&r->child, &r->t->status);
}

int plat_trace(struct tally_platform *p, struct plat_trace *t)
{
	struct run r = { .p = p, .t = t };
	int rc = plat_trace_check(p, t->event, t->ring, &r.of);

	r.record_bytes = r.of.ask.format ? 32 : 16;
	t->bytes = t->records = t->lost = t->ns = 0;
	t->status = 0;
	t->stopped = t->ended_command = false;
	if (rc < 0)
		return rc;
	rc = trace_start_device(&r);
	if (rc >= 0) {
		if (t->started && (rc = t->started(t->arg, r.of.pmu, &r.of.ask)) < 0)
			rc = plat_fail(p, (enum tally_err) - rc, "%s", tally_strerror(rc));
		if (rc >= 0)
			rc = trace_go(&r);
		rc = trace_finish(&r, rc);
	}
	end_child(&r, rc);
	return rc < 0 ? rc : 0;
}
