/*
 * stat_cpu_lease.c: whose the hardware counters are while we count (attach/lease.h).
 *
 * Whole CPUs hold the counters or are refused.  Processes yield: while a D session or whole CPUs have them, their
 * events are disabled, and the time is kept as a span.  A pinned event may lose its counter to somebody who knows
 * no leases, too (another perf); it is asked for again with each reading, and the span begins at the last
 * reading that went well.
 *
 * A set that doesn't fit is refused whole, before a command runs: whole CPUs find out when they are enabled, and a
 * process' events are tried on ourselves.
 */
#include <stdio.h>
#include <string.h>

#include "ask/stat_cpu_int.h"

static bool takes_counter(const struct cpu_event *ev)
{
	return ev->hardware && cpu_counts(ev);
}

static uint32_t how_many(const struct stat_cpu *c)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < c->n; i++)
		n += takes_counter(&c->ev[i]);
	return n;
}

/* ---- too few ----------------------------------------------------------------------------------------- */

/* why: of the first event that found no counter. */
static int no_room(struct stat_cpu *c, const struct cpu_event *ev, const struct err *why)
{
	uint32_t n = how_many(c);

	return plat_fail(c->p, TALLY_EBUSY,
			 "%u event%s need a hardware counter each, and none is left for '%s': %s; give fewer events, "
			 "or let them take turns with --share (each is counted part of the time and scaled up)",
			 n, n == 1 ? "" : "s", ev->name, why->text);
}

/* The events on this process, all at once. */
static int stat_cpu_try_self(struct stat_cpu *c, struct k_counter **k, uint32_t *failed, struct err *e)
{
	const struct k_target self = { .task = (const int[]){ 0 }, .ntasks = 1, .pinned = true };
	struct k_count got;
	int rc = 0;

	for (uint32_t i = 0; rc >= 0 && i < c->n; i++) {
		struct cpu_event *ev = &c->ev[i];

		*failed = i;
		if (takes_counter(ev) && (rc = k_counter_open(&k[i], ev->ev, ev->is.n, &self, e)) >= 0)
			rc = k_counter_enable(k[i], true, e);
	}
	for (uint32_t i = 0; rc >= 0 && i < c->n; i++) {
		*failed = i;
		if (k[i])
			rc = k_counter_read(k[i], &got, e);
	}
	return rc;
}

static int try_tasks(struct stat_cpu *c)
{
	struct k_counter **k = mem_alloc(c->n * sizeof(struct k_counter *));
	struct err e = { 0 };
	uint32_t failed = 0;
	int rc;

	if (!k)
		return plat_oom(c->p);
	rc = stat_cpu_try_self(c, k, &failed, &e);
	for (uint32_t i = 0; i < c->n; i++)
		k_counter_close(k[i]);
	mem_free(k);
	if (rc == -TALLY_EBUSY)
		return no_room(c, &c->ev[failed], &e);
	return rc == -TALLY_ENOMEM ? cpu_fail(c, rc, &e) : 0;
}

int cpu_lease_fit(struct stat_cpu *c)
{
	for (uint32_t i = 0; c->lease && !c->target.task && i < c->n; i++) {
		struct cpu_event *ev = &c->ev[i];
		struct err e = { 0 };

		if (takes_counter(ev) && k_counter_read(ev->k, ev->got, &e) == -TALLY_EBUSY)
			return no_room(c, ev, &e);
	}
	return 0;
}

/* ---- leases -------------------------------------------------------------------------------------------- */

static int stat_cpu_refuse_held(struct stat_cpu *c, const struct lease_holder *by)
{
	struct buf words = { 0 };
	int rc;

	holder_text(&words, by);
	rc = plat_fail(c->p, TALLY_EBUSY,
		       "the hardware counters are held by %s, so processes cannot be counted until it ends; "
		       "wait for its end, or use --share to let the kernel multiplex",
		       words.p ? words.p : "another process");
	buf_free(&words);
	return rc;
}

int cpu_lease_take(struct stat_cpu *c)
{
	struct lease_holder by = { 0 };
	struct err e = { 0 };
	int rc;

	if (c->o->flags & TALLY_STAT_SHARE || !how_many(c))
		return 0;
	rc = holder_take_at(&c->lease, c->root, c->target.task ? LEASE_PROCESS : LEASE_SYSTEM, &e);
	if (rc < 0)
		return cpu_fail(c, rc, &e);
	if (lease_unkept(c->lease))
		plat_note(c->p, HOLDER_UNKEPT, lease_unkept(c->lease));
	if (lease_shut(c->lease, &by))
		return stat_cpu_refuse_held(c, &by);
	return c->target.task ? try_tasks(c) : 0;
}

/* ---- spans ---------------------------------------------------------------------------------------------- */

static int span_begin(struct stat_cpu *c, struct cpu_event *ev, uint64_t from)
{
	struct cpu_span *s;

	if (ev->lost)
		return 0;
	s = VEC_NEW(ev->span, ev->nspans, ev->capspans);
	if (!s)
		return plat_oom(c->p);
	*s = (struct cpu_span){ from, UINT64_MAX };
	ev->lost = true;
	return 0;
}

static void span_end(struct cpu_event *ev, uint64_t to)
{
	if (ev->lost)
		ev->span[ev->nspans - 1].to = to;
	ev->lost = false;
}

int cpu_lease_look(struct stat_cpu *c)
{
	bool shut = lease_shut(c->lease, NULL);
	uint64_t now = cpu_since(c);
	struct err e = { 0 };
	int rc = 0;

	if (shut == c->shut)
		return 0;
	c->shut = shut;
	for (uint32_t i = 0; rc >= 0 && i < c->n; i++) {
		struct cpu_event *ev = &c->ev[i];

		if (!takes_counter(ev))
			continue;
		rc = k_counter_enable(ev->k, !shut, &e);
		if (rc < 0)
			return cpu_fail(c, rc, &e);
		if (shut)
			rc = span_begin(c, ev, now);
		else
			span_end(ev, now);
	}
	return rc;
}

int cpu_event_lost(struct stat_cpu *c, struct cpu_event *ev, bool lost)
{
	struct err e = { 0 };
	int rc = 0;

	if (c->shut || (!lost && !ev->lost))
		return 0;
	if (!lost) {
		span_end(ev, c->now_ns);
		return 0;
	}
	rc = span_begin(c, ev, c->before_ns);
	if (rc >= 0 && (rc = k_counter_enable(ev->k, true, &e)) < 0)
		rc = cpu_fail(c, rc, &e);
	return rc;
}

void cpu_spans_text(const struct cpu_event *ev, uint64_t from, uint64_t to, char *text, size_t n)
{
	size_t at = 0;

	*text = '\0';
	if (ev->runs_lost > 1 || (ev->runs_lost && !ev->nspans)) {
		snprintf(text, n, "in %u runs", ev->runs_lost);
		return;
	}
	for (uint32_t i = 0; i < ev->nspans && at < n; i++) {
		const struct cpu_span *s = &ev->span[i];
		uint64_t end = s->to < to ? s->to : to;

		if (s->from < to && s->to > from)
			at += (size_t)snprintf(text + at, n - at, "%sfrom %.3f s to %.3f s", at ? ", " : "",
					       (double)s->from / 1e9, (double)end / 1e9);
	}
}

bool cpu_spans_cover(const struct cpu_event *ev, uint64_t from, uint64_t to)
{
	for (uint32_t i = 0; i < ev->nspans; i++)
		if (ev->span[i].from <= from && ev->span[i].to >= to && to > from)
			return true;
	return false;
}
