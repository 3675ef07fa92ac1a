/*
 * tune_table.c: what was measured, and what came of it.
 *
 * A row is a setting in a view, in the order in which they were first tried.  It shows one
 * measurement, that in the middle of all of this setting by what is to become better; `spread` is how far
 * the others lie apart, against it, and `change` how far it is from what was there.
 */
#include <stdio.h>
#include <string.h>

#include "capture/tune_int.h"

#define COLUMNS 80 /* of a terminal */

struct row {
	const struct measured *m; /* the one in the middle */
	uint32_t times;
	int64_t spread, change; /* per mille, of what is to become better; the latter as people say it */
	bool something, both; /* in all of these measurements, so there is a spread; and in what was there: a change */
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
		[NO_BETTER] = "no better",         [AS_IT_WAS] = "as it was", [TO_COMPARE] = "to compare",
		[MAY_BE_CHANCE] = "may be chance", [BETTER] = "better",
	};

	return first->verdict != AS_IT_WAS && tune_same(&first->s, &t->best) ? "best" : words[first->verdict];
}

static struct row row_of(const struct tune *t, const struct measured *first)
{
	const struct measured *m[MEASURES_MOST], *was[MEASURES_MOST];
	uint32_t n = tune_collect_measured(t, first, m),
		 nwas = tune_collect_measured(t, tune_before(t, first->view), was);
	uint64_t median = tune_cost(t, &m[n / 2]->f), base = tune_cost(t, &was[nwas / 2]->f);
	bool latency = t->o.goal == TALLY_GOAL_LATENCY, something = tune_cost(t, &m[n - 1]->f) != UINT64_MAX;

	return (struct row){
		.m = m[n / 2],
		.times = n,
		.spread = per_mille(tune_cost(t, &m[n - 1]->f) - tune_cost(t, &m[0]->f), median),
		.change = (latency ? per_mille(median, base) : per_mille(base, median)) - 1000,
		.something = something,
		.both = median != UINT64_MAX && base != UINT64_MAX,
		.verdict = verdict_on(t, first),
	};
}

static unsigned long long latency_of(const struct figures *f)
{
	return f->answered ? f->ticks / f->answered : 0;
}

static unsigned long long mib_of(const struct figures *f)
{
	return tune_rate(f) >> 20;
}

/* ---- text --------------------------------------------------------------------------------------------- */

static void text_head(struct tune *t, bool latency)
{
	struct buf *to = &t->p->out;

	buf_printf(to, "%s for %s: %s\n", t->name, latency ? "latency" : "throughput",
		   latency ? "mean ticks from a request to its last completion" : "payload per second");
	if (latency || !t->sure)
		buf_printf(to, "Times are taken as %s%s.\n",
			   t->time == PTT_TIME_ABS ? "absolute" : "since the record before",
			   t->sure ? "" : ", on weak evidence:\nif that is wrong, so are latencies; --time decides");
	buf_printf(to, "\ncpl np  p rx tx times%s  latency  answered   spread    change\n",
		   latency ? " asked by" : "   MiB/s");
}

/* Per mille as "-4.3 %"; of nothing there is no share. */
static void text_share(struct buf *to, bool is, const char *form, int64_t per_mille)
{
	char text[32] = "-  ";

	if (is)
		snprintf(text, sizeof(text), form, (double)per_mille / 10);
	buf_printf(to, "%9s", text);
}

static void text_row(struct buf *to, const struct row *r, bool latency)
{
	const struct figures *f = &r->m->f;

	for (unsigned k = 0; k < PTT_TUNES; k++)
		buf_printf(to, "%3u", r->m->s.v[k]);
	buf_printf(to, "%6u", r->times);
	if (latency)
		buf_printf(to, " %-8s", view_names[r->m->view]);
	else
		buf_printf(to, "%8llu", mib_of(f));
	buf_printf(to, "%9llu%10llu", latency_of(f), (unsigned long long)f->answered);
	text_share(to, r->something, "%.1f %%", r->spread);
	buf_putc(to, ' ');
	text_share(to, r->both, "%+.1f %%", r->change);
	buf_printf(to, "  %s\n", r->verdict);
}

/* In lines that a terminal has. */
static void text_end(struct tune *t)
{
	struct buf *to = &t->p->out;
	char one[48];
	int column;

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

/* ---- JSON and CSV ---------------------------------------------------------------------------------------- */

static void json_setting(struct buf *to, const struct setting *s)
{
	for (unsigned k = 0; k < PTT_TUNES; k++)
		buf_printf(to, ",\"%s\":%u", ptt_tunables[k].name, s->v[k]);
}

static void json_share(struct buf *to, const char *name, bool is, int64_t per_mille)
{
	buf_printf(to, ",\"%s_permille\":", name);
	if (is)
		buf_printf(to, "%lld", (long long)per_mille);
	else
		buf_puts(to, "null");
}

static void json_row(struct buf *to, const struct row *r)
{
	const struct figures *f = &r->m->f;

	buf_puts(to, "{\"type\":\"setting\"");
	json_setting(to, &r->m->s);
	buf_printf(to, ",\"measurements\":%u,\"asked_by\":\"%s\",\"mib_per_s\":%llu,\"latency_ticks\":%llu", r->times,
		   view_names[r->m->view], mib_of(f), latency_of(f));
	buf_printf(to, ",\"answered\":%llu,\"records\":%llu,\"lost\":%llu", (unsigned long long)f->answered,
		   (unsigned long long)f->records, (unsigned long long)f->lost);
	json_share(to, "spread", r->something, r->spread);
	json_share(to, "change", r->both, r->change);
	buf_printf(to, ",\"verdict\":\"%s\"}\n", r->verdict);
}

static void json_end(struct tune *t, bool latency)
{
	struct buf *to = &t->p->out;

	buf_puts(to, "{\"type\":\"tuned\",\"device\":");
	buf_json_str(to, t->name, strlen(t->name));
	buf_printf(to, ",\"for\":\"%s\",\"times\":\"%s\",\"times_sure\":%s,\"measurements\":%u,\"changed\":%s",
		   latency ? "latency" : "throughput", t->time == PTT_TIME_ABS ? "absolute" : "delta",
		   t->sure ? "true" : "false", t->ndone, tune_same(&t->best, &t->before) ? "false" : "true");
	json_setting(to, &t->best);
	buf_printf(to, ",\"wrong_once_in\":%u}\n", t->o.one_in);
}

static void csv_head(struct buf *to, char sep)
{
	for (unsigned k = 0; k < PTT_TUNES; k++)
		buf_printf(to, "%s%c", ptt_tunables[k].name, sep);
	buf_printf(
		to,
		"measurements%1$casked_by%1$cmib_per_s%1$clatency_ticks%1$canswered%1$crecords%1$clost%1$cspread_permille"
		"%1$cchange_permille%1$cverdict\n",
		sep);
}

static void csv_row(struct buf *to, const struct row *r, char sep)
{
	const struct figures *f = &r->m->f;
	const unsigned long long v[] = { mib_of(f), latency_of(f), f->answered, f->records, f->lost };

	for (unsigned k = 0; k < PTT_TUNES; k++)
		buf_printf(to, "%u%c", r->m->s.v[k], sep);
	buf_printf(to, "%u%c%s%c", r->times, sep, view_names[r->m->view], sep);
	for (size_t k = 0; k < COUNT(v); k++)
		buf_printf(to, "%llu%c", v[k], sep);
	if (r->something)
		buf_printf(to, "%lld", (long long)r->spread);
	buf_putc(to, sep);
	if (r->both)
		buf_printf(to, "%lld", (long long)r->change);
	buf_printf(to, "%c%s\n", sep, r->verdict);
}

/* ---- both ------------------------------------------------------------------------------------------------- */

static char tune_csv_separator(const struct tune *t)
{
	return t->o.to.separator ? t->o.to.separator : ',';
}

void tune_table(struct tune *t)
{
	bool latency = t->o.goal == TALLY_GOAL_LATENCY;
	struct buf *to = &t->p->out;

	if (t->o.to.format == TALLY_FORMAT_TEXT)
		text_head(t, latency);
	else if (t->o.to.format == TALLY_FORMAT_CSV)
		csv_head(to, tune_csv_separator(t));
	for (uint32_t i = 0; i < t->ndone; i++) {
		struct row r;

		if (!is_first(t, i))
			continue;
		r = row_of(t, &t->done[i]);
		if (t->o.to.format == TALLY_FORMAT_TEXT)
			text_row(to, &r, latency);
		else if (t->o.to.format == TALLY_FORMAT_JSON)
			json_row(to, &r);
		else
			csv_row(to, &r, tune_csv_separator(t));
	}
	if (t->o.to.format == TALLY_FORMAT_TEXT)
		text_end(t);
	else if (t->o.to.format == TALLY_FORMAT_JSON)
		json_end(t, latency);
}

/* ---- what would be ------------------------------------------------------------------------------------------ */

/* The values worth trying, with something between them: how many. */
static uint32_t tune_put_values(struct tune *t, enum ptt_tune k, const char *between)
{
	uint32_t n = 0;

	for (uint32_t v = 0; v <= PTT_TUNE_MOST; v++)
		if (tune_can_help(t, k, t->before.v[k], v))
			buf_printf(&t->p->out, "%s%u", n++ ? between : "", v);
	return n;
}

static void plan_row(struct tune *t, enum ptt_tune k, uint32_t *all)
{
	const char *name = ptt_tunables[k].name, *view = view_names[tune_view(t, k)];
	struct buf *to = &t->p->out;
	char sep = tune_csv_separator(t);
	uint32_t n;

	switch (t->o.to.format) {
	case TALLY_FORMAT_JSON:
		buf_printf(to, "{\"type\":\"plan\",\"tunable\":\"%s\",\"value\":%u,\"asked_by\":\"%s\",\"tried\":[",
			   name, t->before.v[k], view);
		*all += tune_put_values(t, k, ",");
		buf_puts(to, "]}\n");
		break;
	case TALLY_FORMAT_CSV:
		buf_printf(to, "%s%c%u%c%s%c", name, sep, t->before.v[k], sep, view, sep);
		*all += tune_put_values(t, k, " ");
		buf_putc(to, '\n');
		break;
	default:
		buf_printf(to, "%-18s is %u; would be tried: ", name, t->before.v[k]);
		n = tune_put_values(t, k, ", ");
		buf_puts(to, n ? "\n" : "nothing\n");
		*all += n;
	}
}

void tune_plan(struct tune *t)
{
	unsigned views = t->o.goal == TALLY_GOAL_LATENCY ? VIEWS : 1;
	struct buf *to = &t->p->out;
	uint32_t all = 0;
	char event[96];

	if (t->o.to.format == TALLY_FORMAT_CSV)
		buf_printf(to, "tunable%1$cvalue%1$casked_by%1$ctried\n", tune_csv_separator(t));
	for (unsigned k = 0; k < PTT_TUNES; k++)
		plan_row(t, (enum ptt_tune)k, &all);
	if (t->o.to.format != TALLY_FORMAT_TEXT)
		return;
	buf_printf(to, "\nA measurement is a trace of one of these; there would be %u or more:\n", all + views);
	for (unsigned view = 0; view < views; view++) {
		tune_event(t, (enum view)view, event, sizeof(event));
		buf_printf(to, "  %s\n", event);
	}
}
