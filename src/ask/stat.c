/*
 * stat.c: counters over time: the options, time, and the loop.
 *
 * A first reading, then after each interval another one and a table.  Deadlines
 * are multiples of the interval since the start, so that what a reading costs does
 * not add up.  In a model time passes only here, and exactly; without an end in sight (neither count
 * nor duration) it keeps to the clock of the wall, for somebody is watching.
 *
 * Each platform is a stat_run of its own, and CPU events are one stat_cpu, whosever platform they were asked
 * beside; rows of all go into one table.  As soon as something of it lives by the wall (a CPU, a machine of
 * another process), all of it does: models are moved on by what has passed.
 */
#include <errno.h>
#include <poll.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "ask/stat_int.h"
#include "kernel/kernel.h"

#define SECOND UINT64_C(1000000000)
#define TURN_MS 100
#define SLICE_NS (SECOND / 10)
#define WATCHED_NS \
	(SECOND / 200) /* of a model, whose progress somebody watches: it may be much slower than the clock */

double stat_seconds(const struct stat_run *s)
{
	return (double)(s->now - s->start) / 1e9;
}

double stat_ticks(const struct stat_run *s)
{
	uint64_t hz = s->transport->tick_hz ? s->transport->tick_hz : POWER_TB_HZ;

	return hz == HV_TICK_UNKNOWN ? NAN : (double)(s->now - s->before) / 1e9 * (double)hz;
}

void stat_put(struct stat_run *s, struct an_rows *t)
{
	t->apart = s->tables;
	(void)an_rows_put(&s->p->emit, t, !s->tables);
	an_rows_free(t);
}

/* ---- what is counted ------------------------------------------------------------------------------ */

/* Where a CPU event of the list ends: a PMU's terms have commas, too. */
static size_t cpu_length(const char *list)
{
	size_t n = strcspn(list, "/,}");
	const char *end = list[n] == '/' ? strchr(list + n + 1, '/') : NULL;

	if (list[n] == '/')
		n = end ? (size_t)(end - list) + 1 + strcspn(end + 1, ",/}") : strlen(list);
	return n;
}

/* hv_gpci is a PMU of Linux, and where that runs on the machine itself it is asked. */
static bool is_hypervisors(const struct stat_run *s, const char *item)
{
	enum sel_provider who = sel_provider(item);

	return who != SEL_OTHER && !(who == SEL_HV_GPCI && s->p->on.row->is == PLAT_LOCAL);
}

static int stat_refuse_still(const struct stat_run *s)
{
	if (s->p->on.row->is != PLAT_SAVED)
		return 0;
	return plat_fail(s->p, TALLY_EINVAL, "%s is a saved reading and does not change: 'tally get' shows it",
			 s->p->name);
}

static int add_hypervisors(struct stat_run *s, const char *item, size_t n)
{
	int rc = stat_refuse_still(s);

	if (rc >= 0)
		rc = hv_transport_of(s->p, &s->transport);
	return rc < 0 ? rc : stat_events_add(s, item, n);
}

/* What no PMU here has was meant for the platform, if that is another one: a word with a slash, the name of a
 * request. */
static int add_cpu(struct stat_all *a, struct stat_run *s, const char *item, size_t n)
{
	int rc = stat_cpu_add(&a->cpu, s->p, &a->o, item, n);
	struct err e = { 0 };
	struct sel sel;
	char word[64];

	if (rc == -TALLY_EINVAL && s->p->on.row->is != PLAT_LOCAL && memchr(item, '/', n) &&
	    sel_parse(&sel, item, n, s->p->asked, &e) < 0)
		s->p->err = e;
	snprintf(word, sizeof(word), "%.*s", (int)(n < sizeof(word) ? n : 0), item);
	if (rc == -TALLY_EINVAL && s->p->on.row->keys == PLAT_POWER && gpci_request_find(word)) {
		err_set(&e, TALLY_EINVAL, "no event \"%s\"; the hypervisor request is gpci/%s/", word, word);
		s->p->err = e;
	}
	return rc;
}

/* A group is perf's word for events that are counted in the same moments. Here all are, unless they share. */
static int check_group(struct stat_all *a, struct stat_run *s, const char *list, const char *open)
{
	if (*list == '{' && open)
		return plat_fail(s->p, TALLY_EINVAL, "'%s': groups cannot be nested", open);
	if (*list == '{' && a->o.flags & TALLY_STAT_SHARE)
		return plat_fail(s->p, TALLY_EINVAL,
				 "'%s': groups and --share cannot be combined: shared events "
				 "take turns one by one; without --share all are counted at once",
				 list);
	if (*list == '}' && !open)
		return plat_fail(s->p, TALLY_EINVAL, "'%s': } without a {", list);
	if (*list == '}' && list[1] && list[1] != ',')
		return plat_fail(s->p, TALLY_EINVAL,
				 "'%s': a group takes no modifier; put it after each event: {cycles:u,instructions:u}",
				 list + 1);
	if (!*list && open)
		return plat_fail(s->p, TALLY_EINVAL, "'%s': } is missing", open);
	return 0;
}

static int add_list(struct stat_all *a, struct stat_run *s, const char *list)
{
	const char *open = NULL; /* where the group begins that we are in */
	int rc = *list ? 0 : plat_fail(s->p, TALLY_EINVAL, "no event: -e is empty");

	while (rc >= 0 && *list) {
		bool hv = is_hypervisors(s, list + (*list == '{'));
		size_t n;

		rc = check_group(a, s, list, open);
		if (rc < 0)
			return rc;
		if (*list == '{')
			open = list++;
		if (*list == '{')
			return check_group(a, s, list, open);
		n = hv ? sel_length(list) : cpu_length(list);
		if (list[n] && !strchr(",}", list[n]))
			return plat_fail(
				s->p, TALLY_EINVAL,
				"'%s' follows '%.*s' without a comma: separate selectors by commas, each with a slash "
				"at its end",
				list + n, (int)n, list);
		rc = hv ? add_hypervisors(s, list, n) : add_cpu(a, s, list, n);
		list += n;
		if (rc >= 0 && *list == '}') {
			rc = check_group(a, s, list++, open);
			open = NULL;
		}
		list += *list == ',';
	}
	return rc < 0 ? rc : check_group(a, s, list, open);
}

static bool has_target(const struct tally_stat_opts *o)
{
	return o->argv || o->npids || o->ntids || o->cpus || o->flags & (TALLY_STAT_SYSTEM | TALLY_STAT_PER_CPU);
}

static int stat_open_runs(struct stat_all *a)
{
	int rc = 0;

	a->run = mem_alloc((a->o.nmore + 1) * sizeof(*a->run));
	if (!a->run)
		return plat_oom(a->p);
	for (; rc >= 0 && a->n <= a->o.nmore; a->n++) {
		struct stat_run *s = &a->run[a->n];
		const char *events = a->n ? a->o.more[a->n - 1].events : a->o.events;

		*s = (struct stat_run){ .p = a->n ? a->o.more[a->n - 1].platform : a->p, .o = a->o };
		if (a->n && (plat_enter(s->p) < 0 || plat_emit_open(s->p, &a->o.to) < 0))
			return -TALLY_ESTATE;
		if (!events && !a->n && !a->o.nmore && !a->o.view) {
			bool tasks = !(a->o.cpus || a->o.flags & TALLY_STAT_SYSTEM) &&
				     (a->o.argv || a->o.npids || a->o.ntids);

			events =
				tasks ? "task-clock,context-switches,cpu-migrations,page-faults,cycles,instructions,branches,branch-misses" :
					"cpu-clock,context-switches,cpu-migrations,page-faults,cycles,instructions,branches,branch-misses";
		}
		rc = events ? add_list(a, s, events) : 0;
	}
	if (rc >= 0 && a->o.view) {
		rc = stat_refuse_still(a->run);
		if (rc >= 0)
			rc = hv_transport_of(a->p, &a->run->transport);
		if (rc >= 0)
			rc = stat_view_open(a->run, a->o.view);
	}
	if (rc < 0)
		return rc;

	/* What was asked for beside the events goes with CPU events only. */
	if (!a->cpu && (a->o.argv || a->o.npids || a->o.ntids || a->o.cpus))
		return plat_fail(a->p, TALLY_EINVAL, "a command, processes or CPUs are given, but no CPU event");
	for (uint32_t i = 0; i < a->n; i++)
		if (a->run[i].transport && a->o.repeat > 1)
			return plat_fail(a->p, TALLY_EINVAL, "-r requires that all events are CPU events");
	return 0;
}

/* ---- readings ----------------------------------------------------------------------------------- */

int stat_all_read(struct stat_all *a)
{
	int rc = a->cpu ? stat_cpu_read(a->cpu) : 0;

	for (uint32_t i = 0; rc >= 0 && i < a->n; i++) {
		struct stat_run *s = &a->run[i];

		if (!s->transport)
			continue;
		s->before = s->now;
		s->now = hv_now(s->transport);
		rc = hv_is_there(s->p, s->transport);
		if (rc >= 0)
			rc = s->view ? stat_view_read(s) : stat_events_read(s);
	}
	return rc;
}

/* Rows of all platforms and of CPU events are one table; MMU statistics have one of their own behind it, a view is
 * alone. */
int stat_all_show(struct stat_all *a, enum stat_kind kind)
{
	bool first = true;
	int rc;

	for (uint32_t i = 0; i < a->n; i++)
		first &= !a->run[i].tables;
	if (a->o.view) {
		stat_view_rows(a->run);
		rc = plat_flush(a->p, &a->o.to);
	} else {
		a->table.kind = kind;
		for (uint32_t i = 0; i < a->n; i++)
			stat_events_rows(&a->run[i], &a->table);
		if (a->cpu)
			stat_cpu_rows(a->cpu, &a->table);
		stat_table_put(&a->table, &a->p->emit, first);
		rc = plat_flush(a->p, &a->o.to);
		for (uint32_t i = 0; rc >= 0 && i < a->n; i++) {
			if (a->run[i].transport)
				stat_mmu_rows(&a->run[i]);
			rc = plat_flush(a->run[i].p, &a->o.to);
		}
	}
	for (uint32_t i = 0; i < a->n; i++)
		a->run[i].tables++;
	return rc;
}

/* ---- time ----------------------------------------------------------------------------------------- */

static bool stat_is_stopped(const struct stat_all *a)
{
	return a->o.stop && *a->o.stop;
}

static bool stat_is_over(const struct stat_all *a)
{
	return a->ended || stat_is_stopped(a);
}

static uint64_t stat_least(uint64_t x, uint64_t y)
{
	return x < y ? x : y;
}

/* A model that is ahead of the clock waits for it. */
static void keep_to_clock(const struct stat_all *a)
{
	for (;;) {
		uint64_t now = k_now_ns() - a->wall;

		if (now >= a->passed || stat_is_stopped(a))
			return;
		(void)poll(NULL, 0,
			   (a->passed - now) / 1000000 < TURN_MS ? (int)((a->passed - now) / 1000000 + 1) : TURN_MS);
	}
}

/* At most so much passes by the wall: how much it was. */
static uint64_t wait_wall(struct stat_all *a, uint64_t ns)
{
	uint64_t end = a->wall + a->passed + ns, now = k_now_ns();

	if (a->cpu && now < end) {
		a->rc = stat_cpu_wait(a->cpu, end - now);
		a->ended = a->rc != 0;
	} else if (now < end) {
		(void)poll(NULL, 0, (int)((end - now + 999999) / 1000000));
	}
	now = k_now_ns() - a->wall;
	return now > a->passed ? stat_least(now - a->passed, ns) : 0;
}

/* Until `until` has passed since the start, or it is over. */
static void pass_until(struct stat_all *a, uint64_t until)
{
	const uint64_t from = a->passed;

	while (a->passed < until && !stat_is_over(a)) {
		uint64_t n = stat_least(until - a->passed, a->o.progress && !a->by_wall ? WATCHED_NS : SLICE_NS);

		if (a->by_wall)
			n = wait_wall(a, n);
		for (uint32_t i = 0; i < a->n; i++)
			if (a->run[i].transport && a->run[i].transport->op->advance)
				(void)hv_pass(a->run[i].transport, n, a->o.stop);
		a->passed += n;
		if (a->keep)
			keep_to_clock(a);
		if (a->o.progress && !a->by_wall && until != UINT64_MAX)
			(void)a->o.progress(a->o.arg, a->passed - from, until - from);
	}
}

static void start_clock(struct stat_all *a)
{
	bool endless = !a->o.count && !a->o.duration_ns;

	a->by_wall = a->cpu;
	for (uint32_t i = 0; i < a->n; i++)
		a->by_wall |= a->run[i].transport && !a->run[i].transport->op->advance;
	a->keep = !a->by_wall && endless;
	a->wall = k_now_ns();
	a->passed = 0;
	a->ended = false;
	a->rc = 0;
	for (uint32_t i = 0; i < a->n; i++)
		a->run[i].start = a->run[i].before = a->run[i].now;
}

/* Where nothing can be counted the table says so, and the first reason is the error. */
static int stat_refuse_nothing(struct stat_all *a)
{
	bool any = a->o.view || (a->cpu && !stat_cpu_none(a->cpu));
	int rc, why = 0;

	for (uint32_t i = 0; i < a->n; i++)
		any |= a->run[i].transport && !stat_events_none(&a->run[i]);
	if (any)
		return 0;
	rc = stat_all_show(a, STAT_ONLY);
	if (rc >= 0 && a->cpu)
		return stat_cpu_why(a->cpu);
	for (uint32_t i = 0; i < a->n && !why; i++)
		why = a->run[i].first_rc;
	return rc < 0 ? rc : plat_fail(a->p, (enum tally_err) - why, "none of these events can be counted here");
}

/* Whether time went on since the last reading. */
static bool stat_time_moved(const struct stat_all *a)
{
	bool any = a->by_wall;

	for (uint32_t i = 0; i < a->n; i++)
		any |= a->run[i].transport && hv_now(a->run[i].transport) != a->run[i].now;
	return any;
}

static int stat_run_intervals(struct stat_all *a)
{
	uint64_t end = a->o.duration_ns ? a->o.duration_ns : UINT64_MAX;
	uint64_t every = a->o.interval_ns ? a->o.interval_ns : a->o.count ? SECOND : end;
	bool alone = every == end;
	int rc = 0;

	for (uint64_t i = 1; rc >= 0 && a->passed < end && !stat_is_over(a) && (!a->o.count || i <= a->o.count); i++) {
		uint64_t next = every > (UINT64_MAX - a->passed) ? end : i > UINT64_MAX / every ? end : i * every;

		pass_until(a, stat_least(next, end));
		if (a->rc < 0)
			return a->rc;
		if (stat_is_stopped(a) && !stat_time_moved(a))
			break;
		rc = stat_all_read(a);
		if (rc >= 0 && !(a->cpu && alone))
			rc = stat_all_show(a, STAT_INTERVAL);
	}
	return rc;
}

/* ---- a run, and all of them ------------------------------------------------------------------------- */

int stat_all_begin(struct stat_all *a)
{
	int rc = a->cpu ? stat_cpu_open(a->cpu) : 0;

	if (rc >= 0)
		rc = stat_all_read(a);
	if (rc >= 0)
		rc = stat_refuse_nothing(a);
	if (rc < 0)
		return rc;
	start_clock(a);
	return 0;
}

static int stat_run_once(struct stat_all *a)
{
	int rc = stat_all_begin(a);

	if (rc < 0)
		return rc;
	if (a->cpu)
		rc = stat_cpu_begin(a->cpu);
	if (rc >= 0)
		rc = stat_run_intervals(a);
	if (a->cpu) {
		int ended = stat_cpu_end(a->cpu);

		rc = rc < 0 ? rc : ended;
	}
	return rc;
}

/* Runs, and what CPU events come to of all of them. People see a sum below intervals, programs can add. */
static int stat_run_all(struct stat_all *a)
{
	const uint32_t n = a->o.repeat ? a->o.repeat : 1;
	const bool intervals = a->o.interval_ns || a->o.count;
	int rc = 0;

	for (uint32_t i = 0; rc >= 0 && i < n && !stat_is_stopped(a); i++)
		rc = stat_run_once(a);
	if (rc < 0 || !a->cpu)
		return rc;
	if (!intervals || !a->p->emit.ops->programs)
		rc = stat_all_show(a, intervals ? STAT_SUMMARY : STAT_ONLY);
	if (rc < 0)
		return rc;
	stat_cpu_sum(a->cpu, &a->p->emit);
	rc = plat_flush(a->p, &a->o.to);
	stat_cpu_reasons(a->cpu);
	return rc;
}

/* ---- the call --------------------------------------------------------------------------------------- */

static int stat_validate(const struct stat_all *a)
{
	const uint32_t known = TALLY_STAT_EACH | TALLY_STAT_SYSTEM | TALLY_STAT_PER_CPU | TALLY_STAT_SHARE;
	const struct tally_stat_opts *o = &a->o;
	const bool whole = o->cpus || o->flags & TALLY_STAT_SYSTEM, tasks = o->npids || o->ntids;
	const char *why = NULL;

	if (o->flags & ~known)
		why = "unknown value in an option of stat";
	else if (o->view && (o->events || o->nmore))
		why = "events and a view cannot be combined";
	else if (!o->view && !o->events && !o->nmore && !has_target(o) && a->p->on.row->is != PLAT_LOCAL)
		why = "nothing to count: no event and no view";
	else if (o->npids && o->ntids)
		why = "processes and threads (-p and -t) cannot be combined";
	else if (whole && tasks)
		why = "whole CPUs and processes (-a or -C, and -p or -t) cannot be combined";
	else if (o->repeat > 1 && !o->argv)
		why = "-r requires a COMMAND";
	else if (o->repeat > 1 && (o->interval_ns || o->count || o->duration_ns))
		why = "-r cannot be combined with -I, --count or --duration: it runs the whole command";
	return why ? plat_fail(a->p, TALLY_EINVAL, "%s", why) : 0;
}

void stat_all_close(struct stat_all *a)
{
	for (uint32_t i = 0; i < a->n; i++) {
		struct stat_run *s = &a->run[i];

		if (s->p->err.code && !a->p->err.code)
			a->p->err = s->p->err;
		stat_view_close(s);
		stat_events_close(s);
	}
	stat_table_close(&a->table);
	stat_cpu_close(a->cpu);
	mem_free(a->run);
}

int stat_all_open(struct stat_all *a)
{
	int rc = stat_validate(a);

	if (rc >= 0)
		rc = stat_open_runs(a);
	stat_table_open(&a->table, a->cpu);
	return rc;
}

int tally_stat(struct tally_platform *p, const struct tally_stat_opts *opts, struct tally_stat_result *ret)
{
	struct tally_stat_result result = { .size = sizeof(result) };
	struct stat_all a = { .p = p };
	int rc;

	rc = plat_enter(p);
	if (rc >= 0)
		rc = plat_take(p, &a.o, sizeof(a.o), opts);
	if (rc >= 0)
		rc = plat_emit_open(p, &a.o.to);
	if (rc < 0)
		return rc;
	rc = stat_all_open(&a);
	if (rc >= 0)
		rc = stat_run_all(&a);
	if (a.cpu)
		stat_cpu_results(a.cpu, &result);
	opts_give(ret, &result, sizeof(result));
	stat_all_close(&a);
	return rc < 0 ? rc : 0;
}
