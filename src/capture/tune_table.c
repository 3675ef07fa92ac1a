/*
 * tune_table.c: what was measured, and what came of it.
 *
 * A row is a setting in a view, in the order in which they were first tried.  It shows one
 * measurement, that in the middle of all of this setting by what is to become better; `spread` is how far
 * the others lie apart, against it, and `change` how far it is from what was there.  A verdict is about another
 * difference, `vs best`: how far it was from the best setting until then, in the measurements that decided.
 */
#include <stdio.h>
#include <string.h>

#include "capture/tune_int.h"

#define COLUMNS 80 /* of a terminal */

struct row {
	const struct measured *m; /* the one in the middle */
	uint32_t times;
	int64_t spread, change, step; /* per mille, of what is to become better; the latter two as people say it */
	/* in all of these measurements, so there is a spread; and in what was there: a change; and in the best: a
	 * step */
	bool something, both, judged;
	const char *verdict;
};

static const char *const view_names[VIEWS] = { [VIEW_DEVICES] = "devices", [VIEW_HOST] = "host" };

/* ---- rows ------------------------------------------------------------------------------------------ */

static bool tune_measured_alike(const struct measured *a, const struct measured *b)
{
	return a->view == b->view && tune_same(&a->s, &b->s);
}

static bool is_first(const struct tune *t, uint32_t i)
{
	for (uint32_t k = 0; k < i; k++)
		if (tune_measured_alike(&t->done[k], &t->done[i]))
			return false;
	return true;
}

static int64_t per_mille(uint64_t of, uint64_t than)
{
	return than && of != UINT64_MAX && than != UINT64_MAX ?
		       (int64_t)(((unsigned __int128)of * 1000 + than / 2) / than) :
		       0;
}

/* Sorted by cost, at most MEASURES_MOST of them. */
static uint32_t tune_collect_measured(const struct tune *t, const struct measured *like, const struct measured *ret[])
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < t->ndone; i++) {
		const struct measured *m = &t->done[i];
		uint32_t k = n;

		if (!tune_measured_alike(m, like))
			continue;
		for (; k > 0 && tune_cost(t, &ret[k - 1]->f) > tune_cost(t, &m->f); k--)
			ret[k] = ret[k - 1];
		ret[k] = m;
		n++;
	}
	return n;
}

/* What was there, in this view: always the first of it. */
static const struct measured *tune_before(const struct tune *t, uint8_t view)
{
	uint32_t i = 0;

	while (t->done[i].view != view)
		i++;
	return &t->done[i];
}

static const char *verdict_on(const struct tune *t, const struct measured *first)
{
	static const char *const words[] = {
		[NO_BETTER] = "no better", [AS_IT_WAS] = "as it was", [REFERENCE] = "reference",
		[UNCERTAIN] = "uncertain", [BETTER] = "better",
	};

	return first->verdict != AS_IT_WAS && tune_same(&first->s, &t->best) ? "best" : words[first->verdict];
}

/* What is to become better, as people say it: less latency, more throughput. */
static int64_t tune_change(const struct tune *t, uint64_t cost, uint64_t than)
{
	return (t->o.goal == TALLY_GOAL_LATENCY ? per_mille(cost, than) : per_mille(than, cost)) - 1000;
}

static struct row row_of(const struct tune *t, const struct measured *first)
{
	const struct measured *m[MEASURES_MOST], *was[MEASURES_MOST];
	uint32_t n = tune_collect_measured(t, first, m),
		 nwas = tune_collect_measured(t, tune_before(t, first->view), was);
	uint64_t median = tune_cost(t, &m[n / 2]->f), base = tune_cost(t, &was[nwas / 2]->f);
	bool something = tune_cost(t, &m[n - 1]->f) != UINT64_MAX;

	return (struct row){
		.m = m[n / 2],
		.times = n,
		.spread = per_mille(tune_cost(t, &m[n - 1]->f) - tune_cost(t, &m[0]->f), median),
		.change = tune_change(t, median, base),
		.step = tune_change(t, first->cost, first->best),
		.something = something,
		.both = median != UINT64_MAX && base != UINT64_MAX,
		.judged = first->best && first->cost != UINT64_MAX && first->best != UINT64_MAX,
		.verdict = verdict_on(t, first),
	};
}

/* ---- what was measured ---------------------------------------------------------------------------------- */

enum {
	T_TYPE,
	T_TUNES, /* one of each */
	T_TIMES = T_TUNES + PTT_TUNES,
	T_VIEW,
	T_MIB,
	T_LATENCY,
	T_ANSWERED,
	T_RECORDS,
	T_LOST,
	T_SPREAD,
	T_CHANGE,
	T_STEP,
	T_VERDICT,
	T_COLUMNS
};

static void text_head(struct an_emit *e, const struct an_rows *rows)
{
	const struct tune *t = rows->arg;
	const bool latency = t->o.goal == TALLY_GOAL_LATENCY;
	struct buf *to = e->to;

	buf_printf(to, "%s for %s: %s\n", t->name, latency ? "latency" : "throughput",
		   latency ? "mean ticks from a request to its last completion" : "payload per second");
	if (latency || !t->sure)
		buf_printf(to, "Times are read as %s%s.\n", t->time == PTT_TIME_ABS ? "absolute" : "deltas",
			   t->sure ? "" : ", which is uncertain:\nif it is wrong, so are latencies; --time sets it");
	buf_printf(to, "\ncpl np  p rx tx   n%s latency answered  spread   change vs best\n",
		   latency ? " asked by" : "  MiB/s");
}

/* Per mille as "-4.3 %"; of nothing there is no share. */
static void text_share(struct buf *to, const struct an_cell *c, const char *form)
{
	char text[32] = "-  ";

	if (!c->none)
		snprintf(text, sizeof(text), form, c->d / 10);
	buf_printf(to, "%8s", text);
}

static void text_row(struct an_emit *e, const struct an_rows *rows, const struct an_cell *row)
{
	const struct tune *t = rows->arg;
	struct buf *to = e->to;

	for (unsigned k = 0; k < PTT_TUNES; k++)
		buf_printf(to, "%3u", (unsigned)row[T_TUNES + k].u);
	buf_printf(to, "%4u", (unsigned)row[T_TIMES].u);
	if (t->o.goal == TALLY_GOAL_LATENCY)
		buf_printf(to, " %-8s", row[T_VIEW].s);
	else
		buf_printf(to, "%7llu", (unsigned long long)row[T_MIB].u);
	buf_printf(to, "%8llu%9llu", (unsigned long long)row[T_LATENCY].u, (unsigned long long)row[T_ANSWERED].u);
	text_share(to, &row[T_SPREAD], "%.1f %%");
	buf_putc(to, ' ');
	text_share(to, &row[T_CHANGE], "%+.1f %%");
	text_share(to, &row[T_STEP], "%+.1f %%");
	buf_printf(to, " %s\n", row[T_VERDICT].s);
}

/* In lines that a terminal has. */
static void text_end(struct an_emit *e, const struct an_rows *rows)
{
	const struct tune *t = rows->arg;
	struct buf *to = e->to;
	char one[48];
	int column;

	buf_puts(to, "\nchange: against what was there. vs best: against the best until then, which the\n"
		     "verdict is about. uncertain: better at first, but by no more than chance gives.\n");
	if (tune_same(&t->best, &t->before)) {
		buf_printf(to, "\nNothing better was found in %u measurements: %s is as it was.\n", t->ndone, t->name);
		return;
	}
	buf_printf(to, "\nA setting that does nothing comes out better in one run of %u at most.", t->o.one_in);
	column = snprintf(one, sizeof(one), "Set, after %u measurements:", t->ndone);
	buf_printf(to, "\n%s", one);
	for (unsigned k = 0; k < PTT_TUNES; k++) {
		bool fits;
		int n;

		if (t->best.v[k] == t->before.v[k])
			continue;
		n = snprintf(one, sizeof(one), " %s=%u (was %u)", ptt_tunables[k].name, t->best.v[k], t->before.v[k]);
		fits = column + n <= COLUMNS;
		buf_printf(to, "%s%s", fits ? "" : "\n ", one);
		column = fits ? column + n : n + 1;
	}
	buf_putc(to, '\n');
}

static struct an_cell per_mille_cell(struct an_rows *rows, bool is, int64_t per_mille)
{
	return is ? (struct an_cell){ .s = arena_text(&rows->words, "%lld", (long long)per_mille),
				      .d = (double)per_mille } :
		    AN_NONE;
}

static void tune_put_measured(struct tune *t)
{
	static const struct an_layout layout = { text_head, text_row, text_end };
	struct an_column col[T_COLUMNS] = {
		[T_TYPE] = { "type", "", AN_TEXT },
		[T_TIMES] = { "measurements", "", AN_COUNT },
		[T_VIEW] = { "asked_by", "", AN_TEXT },
		[T_MIB] = { "mib_per_s", "", AN_COUNT },
		[T_LATENCY] = { "latency_ticks", "", AN_COUNT },
		[T_ANSWERED] = { "answered", "", AN_COUNT },
		[T_RECORDS] = { "records", "", AN_COUNT },
		[T_LOST] = { "lost", "", AN_COUNT },
		[T_SPREAD] = { "spread_permille", "", AN_LITERAL },
		[T_CHANGE] = { "change_permille", "", AN_LITERAL },
		[T_STEP] = { "against_best_permille", "", AN_LITERAL },
		[T_VERDICT] = { "verdict", "", AN_TEXT },
	};
	struct an_rows rows = { .col = col, .ncols = T_COLUMNS, .csv_skips = 1u << T_TYPE, .text = &layout, .arg = t };

	for (unsigned k = 0; k < PTT_TUNES; k++)
		col[T_TUNES + k] = (struct an_column){ ptt_tunables[k].name, "", AN_COUNT };
	for (uint32_t i = 0; i < t->ndone; i++) {
		struct an_cell cell[T_COLUMNS];
		const struct figures *f;
		struct row r;

		if (!is_first(t, i))
			continue;
		r = row_of(t, &t->done[i]);
		f = &r.m->f;
		for (unsigned k = 0; k < PTT_TUNES; k++)
			cell[T_TUNES + k] = AN_U(r.m->s.v[k]);
		cell[T_TYPE] = AN_S("setting");
		cell[T_TIMES] = AN_U(r.times);
		cell[T_VIEW] = AN_S(view_names[r.m->view]);
		cell[T_MIB] = AN_U(tune_rate(f) >> 20);
		cell[T_LATENCY] = AN_U(f->answered ? f->ticks / f->answered : 0);
		cell[T_ANSWERED] = AN_U(f->answered);
		cell[T_RECORDS] = AN_U(f->records);
		cell[T_LOST] = AN_U(f->lost);
		cell[T_SPREAD] = per_mille_cell(&rows, r.something, r.spread);
		cell[T_CHANGE] = per_mille_cell(&rows, r.both, r.change);
		cell[T_STEP] = per_mille_cell(&rows, r.judged, r.step);
		cell[T_VERDICT] = AN_S(r.verdict);
		an_rows_add(&rows, cell);
	}
	(void)an_rows_put(&t->p->emit, &rows, true);
	an_rows_free(&rows);
}

/* What came of it, in an object; people read it below the table. */
static void tune_put_result(struct tune *t)
{
	struct an_column col[7 + PTT_TUNES] = {
		{ "device", "", AN_TEXT },
		{ "for", "", AN_TEXT },
		{ "times", "", AN_TEXT },
		{ "times_sure", "", AN_FLAG },
		{ "measurements", "", AN_COUNT },
		{ "changed", "", AN_FLAG },
		[6 + PTT_TUNES] = { "wrong_once_in", "", AN_COUNT },
	};
	struct an_cell cell[COUNT(col)] = {
		AN_S(t->name),
		AN_S(t->o.goal == TALLY_GOAL_LATENCY ? "latency" : "throughput"),
		AN_S(t->time == PTT_TIME_ABS ? "absolute" : "delta"),
		AN_U(t->sure),
		AN_U(t->ndone),
		AN_U(!tune_same(&t->best, &t->before)),
		[6 + PTT_TUNES] = AN_U(t->o.one_in),
	};
	struct an_rows rows = { .type = "tuned", .col = col, .ncols = COUNT(col) };

	for (unsigned k = 0; k < PTT_TUNES; k++) {
		col[6 + k] = (struct an_column){ ptt_tunables[k].name, "", AN_COUNT };
		cell[6 + k] = AN_U(t->best.v[k]);
	}
	an_rows_add_for(&rows, AN_FOR_JSON, cell);
	(void)an_rows_put(&t->p->emit, &rows, true);
	an_rows_free(&rows);
}

void tune_table(struct tune *t)
{
	tune_put_measured(t);
	tune_put_result(t);
}

/* ---- what would be ------------------------------------------------------------------------------------------ */

/* The values worth trying, with something between them. */
static const char *tune_values(const struct tune *t, struct an_rows *rows, enum ptt_tune k, const char *between)
{
	const char *s = "";

	for (uint32_t v = 0; v <= PTT_TUNE_MOST; v++)
		if (tune_can_help(t, k, t->before.v[k], v))
			s = arena_text(&rows->words, "%s%s%u", s, *s ? between : "", v);
	return s;
}

static void plan_row(struct an_emit *e, const struct an_rows *rows, const struct an_cell *row)
{
	(void)rows;
	buf_printf(e->to, "%-18s is %u; would be tried: %s\n", row[1].s, (unsigned)row[2].u,
		   *row[6].s ? row[6].s : "nothing");
}

static void plan_end(struct an_emit *e, const struct an_rows *rows)
{
	struct tune *t = rows->arg;
	const unsigned views = t->o.goal == TALLY_GOAL_LATENCY ? VIEWS : 1;
	uint32_t all = 0;
	char event[96];

	for (unsigned k = 0; k < PTT_TUNES; k++)
		for (uint32_t v = 0; v <= PTT_TUNE_MOST; v++)
			all += tune_can_help(t, (enum ptt_tune)k, t->before.v[k], v);
	buf_printf(e->to, "\nA measurement is a trace of one of these; there would be %u or more:\n", all + views);
	for (unsigned view = 0; view < views; view++) {
		tune_event(t, (enum view)view, event, sizeof(event));
		buf_printf(e->to, "  %s\n", event);
	}
}

void tune_plan(struct tune *t)
{
	static const struct an_column col[] = {
		{ "type", "", AN_TEXT },     { "tunable", "", AN_TEXT },  { "value", "", AN_COUNT },
		{ "asked_by", "", AN_TEXT }, { "tried", "", AN_LITERAL }, { "tried", "", AN_TEXT }, /* JSON's, CSV's */
		{ "", "", AN_TEXT },                                                                /* people's */
	};
	static const struct an_layout layout = { .row = plan_row, .end = plan_end };
	struct an_rows rows = { .col = col,
				.ncols = COUNT(col),
				.json_skips = 1u << 5 | 1u << 6,
				.csv_skips = 1u << 0 | 1u << 4 | 1u << 6,
				.text = &layout,
				.arg = t };

	for (unsigned k = 0; k < PTT_TUNES; k++) {
		const enum ptt_tune is = (enum ptt_tune)k;

		an_rows_add(&rows,
			    (struct an_cell[]){ AN_S("plan"), AN_S(ptt_tunables[k].name), AN_U(t->before.v[k]),
						AN_S(view_names[tune_view(t, is)]),
						AN_S(arena_text(&rows.words, "[%s]", tune_values(t, &rows, is, ","))),
						AN_S(tune_values(t, &rows, is, " ")),
						AN_S(tune_values(t, &rows, is, ", ")) });
	}
	(void)an_rows_put(&t->p->emit, &rows, true);
	an_rows_free(&rows);
}
