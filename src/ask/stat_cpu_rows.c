/*
 * stat_cpu_rows.c: what CPU events came to: figures, what they mean beside each other, and their rows.
 *
 * A figure is of an interval, of all the time, or the mean of several runs.  Where the kernel let events take turns
 * it is scaled up by the time that it was enabled over the time that it ran, as perf does, and the share is shown.
 * Spread is the standard deviation of the runs over their mean.
 *
 * A metric puts a figure into the ratio that people ask for: to the event beside it that it is a part of, or to
 * the time of the clock that was counted with it.  Both must have counted in the same mode, on the same CPU; a ratio
 * that can't be is left out.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "ask/stat_cpu_int.h"
#include "facts/event.h"

enum of { OF_INTERVAL, OF_ALL, OF_RUNS };
struct rows {
	struct stat_cpu *c;
	struct stat_table *t;
	enum of of;
};

/* ---- figures ------------------------------------------------------------------------------------------- */

struct amount {
	double v, share;
	bool none;
}; /* share: NAN: it never was enabled */

static struct k_count rows_count_less(const struct k_count *a, const struct k_count *b)
{
	uint64_t running = a->running_ns - b->running_ns;

	/* What a CPU's part of a task's time is was reckoned anew with each reading. */
	return (struct k_count){ a->value - b->value,
				 a->enabled_ns < b->enabled_ns ? running : a->enabled_ns - b->enabled_ns, running };
}

static struct amount amount_of(const struct k_count *k)
{
	return (struct amount){ cpu_scaled(k),
				k->enabled_ns ? fmin((double)k->running_ns / (double)k->enabled_ns, 1) : NAN,
				k->enabled_ns && !k->running_ns };
}

static struct amount rows_slot_amount(const struct rows *r, const struct cpu_event *ev, const struct cpu_slot *s)
{
	struct k_count d = rows_count_less(&s->now, &s->before);
	struct amount all = amount_of(&s->now);

	if (r->of == OF_INTERVAL) {
		all = amount_of(&d);
		all.none |= cpu_spans_cover(ev, r->c->before_ns, r->c->now_ns);
	} else if (r->of == OF_RUNS) {
		all.v = s->mean;
	}
	return all;
}

static double rows_seconds(const struct rows *r)
{
	const struct stat_cpu *c = r->c;

	if (r->of == OF_INTERVAL)
		return (double)(c->now_ns - c->before_ns) / 1e9;
	return (r->of == OF_RUNS ? c->mean_ns : (double)c->now_ns) / 1e9;
}

/* ---- metrics --------------------------------------------------------------------------------------------- */

struct metric {
	double v;
	const char *unit;
}; /* v: NAN: there is none */

static bool rows_event_is(const struct cpu_event *ev, uint32_t type, uint64_t config)
{
	return ev->is.n && ev->ev[0].type == type && (ev->ev[0].config & UINT32_MAX) == config;
}

static bool same_mode(const struct cpu_event *a, const struct cpu_event *b)
{
	return a->is.clock || b->is.clock ||
	       (a->ev[0].exclude_user == b->ev[0].exclude_user && a->ev[0].exclude_kernel == b->ev[0].exclude_kernel);
}

/* What that event came to in the same slot; NAN: it was not counted. */
static double rows_value_beside(const struct rows *r, const struct cpu_event *ev, uint32_t slot, uint32_t type,
				uint64_t config)
{
	const struct stat_cpu *c = r->c;

	for (uint32_t i = 0; i < c->n; i++) {
		const struct cpu_event *to = &c->ev[i];

		if (to->rc == 0 && to->slot && rows_event_is(to, type, config) && same_mode(ev, to) &&
		    slot < to->nslots && to->slot[slot].cpu == ev->slot[slot].cpu) {
			struct amount a = rows_slot_amount(r, to, &to->slot[slot]);

			return a.none ? NAN : a.v;
		}
	}
	return NAN;
}

/* Seconds of the clock that was counted, too. */
static double counted_seconds(const struct rows *r, const struct cpu_event *ev, uint32_t slot)
{
	double ns = rows_value_beside(r, ev, slot, EVENT_TYPE_SW, 1);

	return (isnan(ns) ? rows_value_beside(r, ev, slot, EVENT_TYPE_SW, 0) : ns) / 1e9;
}

static struct metric rows_metric_ratio(double a, double b, const char *unit)
{
	return (struct metric){ b > 0 ? a / b : NAN, unit };
}

static struct metric rows_metric_part(double a, double b, const char *unit)
{
	return a <= b ? rows_metric_ratio(100 * a, b, unit) : (struct metric){ NAN, NULL };
}

enum { HW_CYCLES, HW_INSTRUCTIONS, HW_REFERENCES, HW_MISSES, HW_BRANCHES, HW_BRANCH_MISSES, HW_BUS, HW_FRONT, HW_BACK };

static struct metric rows_metric_hardware(const struct rows *r, const struct cpu_event *ev, uint32_t slot, double v)
{
	switch (ev->ev[0].config & UINT32_MAX) {
	case HW_CYCLES:
		return rows_metric_ratio(v / 1e9, counted_seconds(r, ev, slot), "GHz");
	case HW_INSTRUCTIONS:
		return rows_metric_ratio(v, rows_value_beside(r, ev, slot, EVENT_TYPE_HW, HW_CYCLES), "insn/cycle");
	case HW_MISSES:
		return rows_metric_part(v, rows_value_beside(r, ev, slot, EVENT_TYPE_HW, HW_REFERENCES),
					"% of references");
	case HW_BRANCH_MISSES:
		return rows_metric_part(v, rows_value_beside(r, ev, slot, EVENT_TYPE_HW, HW_BRANCHES), "% of branches");
	case HW_FRONT:
	case HW_BACK:
		return rows_metric_part(v, rows_value_beside(r, ev, slot, EVENT_TYPE_HW, HW_CYCLES), "% of cycles");
	default:
		return (struct metric){ NAN, NULL };
	}
}

static struct metric per_second(double v, double s)
{
	double rate = s > 0 ? v / s : NAN;

	return rate >= 1e9 ? (struct metric){ rate / 1e9, "G/s" } :
	       rate >= 1e6 ? (struct metric){ rate / 1e6, "M/s" } :
	       rate >= 1e3 ? (struct metric){ rate / 1e3, "K/s" } :
			     (struct metric){ rate, "/s" };
}

static struct metric rows_metric(const struct rows *r, const struct cpu_event *ev, uint32_t slot, double v)
{
	struct metric m = { NAN, NULL };
	uint64_t config = ev->ev[0].config & UINT32_MAX;

	if (ev->is.clock)
		m = rows_metric_ratio(v / 1e9, rows_seconds(r), "CPUs");
	else if (ev->ev[0].type == EVENT_TYPE_HW)
		m = rows_metric_hardware(r, ev, slot, v);
	else if (ev->ev[0].type == EVENT_TYPE_CACHE && config >> 16 == CACHE_MISS)
		m = rows_metric_part(v, rows_value_beside(r, ev, slot, EVENT_TYPE_CACHE, config & 0xffff),
				     "% of accesses");
	if (isnan(m.v) && !ev->is.clock && !ev->is.unit)
		m = per_second(v, counted_seconds(r, ev, slot));
	if (ev->is.clock && m.v > k_ncpus_possible() * 1.01)
		m.v = NAN;
	return m;
}

/* ---- rows --------------------------------------------------------------------------------------------------- */

static struct an_cell rows_value_cell(const struct cpu_event *ev, double v)
{
	if (ev->is.unit)
		return (struct an_cell){ .unit = AN_RATIO, .d = v * ev->is.scale };
	return (struct an_cell){ .unit = ev->is.clock ? AN_MILLIS : AN_COUNT, .u = (uint64_t)llround(v), .d = v };
}

static const char *unit_of(const struct cpu_event *ev)
{
	static const uint64_t cycles[] = { HW_CYCLES, HW_BUS, HW_FRONT, HW_BACK, 9 /* ref-cycles */ };

	if (ev->is.unit || ev->is.clock)
		return ev->is.unit ? ev->is.unit : "ns";
	for (size_t i = 0; i < COUNT(cycles); i++)
		if (rows_event_is(ev, EVENT_TYPE_HW, cycles[i]))
			return "cycles";
	return "events";
}

/* What the kernel's events count, or where another is from. */
static const char *rows_text(const struct cpu_event *ev)
{
	const struct event *e;

	for (uint32_t i = 0; (e = event_at(i)) != NULL; i++)
		if (e->perf && rows_event_is(ev, e->type, e->config))
			return e->text;
	return ev->is.source;
}

/* All rows of a table are of one time, in seconds. */
static double row_time(const struct rows *r)
{
	return (r->of == OF_RUNS ? r->c->mean_ns : (double)r->c->now_ns) / 1e9;
}

/* What text has in its last column. */
static const char *note_of(const struct rows *r, const char *status, const char *why, const struct metric *m)
{
	if (!strcmp(status, "invalidated"))
		return arena_text(&r->t->t.words, "invalidated, %s", why);
	if (!strcmp(status, "offline"))
		return arena_text(&r->t->t.words, "offline %s", why);
	if (strcmp(status, "ok"))
		return arena_text(&r->t->t.words, "<%s>", status);
	if (isnan(m->v))
		return "";
	return arena_text(&r->t->t.words, m->v < 10 ? "%.3f %s" : m->v < 1000 ? "%.1f %s" : "%.0f %s", m->v, m->unit);
}

static void slot_row(const struct rows *r, const struct cpu_event *ev, uint32_t slot)
{
	const struct cpu_slot *s = &ev->slot[slot];
	struct amount a = rows_slot_amount(r, ev, s), all = r->of == OF_RUNS ? a : amount_of(&s->now);
	struct metric m = a.none ? (struct metric){ NAN, NULL } : rows_metric(r, ev, slot, a.v);
	const char *status, *why;
	char span[128];

	cpu_spans_text(ev, r->of == OF_INTERVAL ? r->c->before_ns : 0, r->c->now_ns, span, sizeof(span));
	status = *span ? "invalidated" : s->offline ? "offline" : a.none ? "not counted" : "ok";
	why = *span      ? span :
	      s->offline ? arena_text(&r->t->t.words, "since %.3f s", (double)s->since_ns / 1e9) :
	      a.none     ? "other sessions held the counters all the time" :
			   "";
	stat_table_row(r->t, row_time(r), ev->is.name,
		       &(struct stat_figure){ .cpu = true,
					      .unit = unit_of(ev),
					      .unit_brief = ev->is.clock && !ev->is.unit ? "ms" : NULL,
					      .id = s->cpu < 0 ? "all" : arena_text(&r->t->t.words, "cpu=%d", s->cpu),
					      .name = ev->name,
					      .status = status,
					      .why = why,
					      .delta = a.none ? AN_NONE : rows_value_cell(ev, a.v),
					      .value = all.none ? AN_NONE : rows_value_cell(ev, all.v),
					      .raw = r->of == OF_RUNS ? AN_NONE : AN_U(s->now.value),
					      .share = isnan(a.share) ? AN_NONE : AN_D(a.share),
					      .spread = r->of == OF_RUNS && s->mean > 0 ?
								AN_D(sqrt(s->m2 / (r->c->runs - 1)) / s->mean) :
								AN_NONE,
					      .metric = isnan(m.v) ? AN_NONE : AN_D(m.v),
					      .metric_unit = isnan(m.v) ? NULL : m.unit,
					      .family = arena_text(&r->t->t.words, "cpc_%s", ev->name),
					      .text = rows_text(ev),
					      .grows = true,
					      .note = note_of(r, status, why, &m) });
}

static const char *status_of(const struct cpu_event *ev)
{
	return ev->rc == -TALLY_EPERM ? "not permitted" : ev->rc == -TALLY_EBUSY ? "busy" : "not supported";
}

static void reason_row(const struct rows *r, const struct cpu_event *ev)
{
	stat_table_row(r->t, row_time(r), ev->is.name,
		       &(struct stat_figure){ .cpu = true,
					      .unit = "",
					      .id = "-",
					      .name = ev->name,
					      .status = status_of(ev),
					      .why = ev->why.text,
					      .delta = AN_NONE,
					      .value = AN_NONE,
					      .raw = AN_NONE,
					      .share = AN_NONE,
					      .spread = AN_NONE,
					      .metric = AN_NONE,
					      .note = arena_text(&r->t->t.words, "<%s>", status_of(ev)) });
}

void stat_cpu_rows(struct stat_cpu *c, struct stat_table *t)
{
	const struct rows r = { c, t, t->kind == STAT_INTERVAL ? OF_INTERVAL : c->runs > 1 ? OF_RUNS : OF_ALL };

	for (uint32_t i = 0; i < c->n; i++) {
		const struct cpu_event *ev = &c->ev[i];

		if (ev->rc < 0)
			reason_row(&r, ev);
		for (uint32_t k = 0; ev->rc == 0 && k < ev->nslots; k++)
			slot_row(&r, ev, k);
	}
}

/* ---- below ---------------------------------------------------------------------------------------------------- */

/* Short commands take a millisecond: below a second there is one digit more. */
static void put_seconds(struct buf *to, const char *before, double s, const char *what)
{
	buf_printf(to, "%s%.*f s %s", before, s < 1 ? 4 : 3, s, what);
}

/* What people read of a row of sums: its cells are time, spread, user, system, runs, status. */
static void sum_put_line(struct an_emit *e, const struct an_rows *t, const struct an_cell *row)
{
	const bool means = row[4].u > 1;

	(void)t;
	put_seconds(e->to, "\n", row[0].d, "elapsed");
	if (means)
		buf_printf(e->to, " +- %.1f %%", row[1].d * 100);
	if (!row[2].none) {
		put_seconds(e->to, ", ", row[2].d, "user");
		put_seconds(e->to, ", ", row[3].d, "system");
	}
	if (means)
		buf_printf(e->to, ": means of %llu runs", (unsigned long long)row[4].u);
	buf_putc(e->to, '\n');
}

void stat_cpu_sum(struct stat_cpu *c, struct an_emit *e)
{
	static const struct an_column col[] = {
		{ "time", "", AN_NUMBER },   { "spread", "", AN_NUMBER }, { "user", "", AN_NUMBER },
		{ "system", "", AN_NUMBER }, { "runs", "", AN_COUNT },    { "status", "", AN_NUMBER },
	};
	static const struct an_layout line = { .row = sum_put_line };
	struct an_rows t = { .type = "run", .col = col, .ncols = COUNT(col), .text = &line };
	const double spread = c->runs > 1 && c->mean_ns > 0 ? sqrt(c->m2_ns / (c->runs - 1)) / c->mean_ns : 0;
	const bool command = c->o->argv;

	if (!c->runs)
		return;
	an_rows_add_for(&t, AN_NOT_FOR_CSV,
			(struct an_cell[]){ AN_D(c->mean_ns / 1e9), c->runs > 1 ? AN_D(spread) : AN_NONE,
					    command ? AN_D(c->user_ns / c->runs / 1e9) : AN_NONE,
					    command ? AN_D(c->system_ns / c->runs / 1e9) : AN_NONE, AN_U(c->runs),
					    command ? AN_D(c->status) : AN_NONE });
	(void)an_rows_put(e, &t, true);
	an_rows_free(&t);
}

/* One note a reason, with all whose it is. */
void stat_cpu_reasons(struct stat_cpu *c)
{
	for (uint32_t i = 0; i < c->n && !c->said; i++) {
		struct buf names = { 0 };
		bool first = c->ev[i].rc < 0;

		for (uint32_t k = 0; k < c->n; k++)
			if (c->ev[k].rc < 0 && !strcmp(c->ev[k].why.text, c->ev[i].why.text)) {
				first &= k >= i;
				buf_printf(&names, "%s%s", names.n ? ", " : "", c->ev[k].name);
			}
		if (first && !names.failed && !strncmp(c->ev[i].why.text, names.p, names.n) &&
		    c->ev[i].why.text[names.n] == ' ')
			plat_note(c->p, "%s", c->ev[i].why.text); /* it names the event itself */
		else if (first && !names.failed)
			plat_note(c->p, "%s: %s", names.p, c->ev[i].why.text);
		buf_free(&names);
	}
	c->said = true;
}
