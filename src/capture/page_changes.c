/*
 * page_changes.c: the page of two traces that are compared.
 *
 * Findings come first, each with both figures and the error of their difference; what chance may have made comes behind
 * them, in a table of its own.  Of a latency that is a finding both distributions stand one over the other.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "capture/page_int.h"
#include "ptt/rule.h"

enum { OVERLAYS = 8, OVERLAY_STEPS = 120 };

/* How many per cent of all requests a step has, in thousandths; buckets are spread over the steps that they touch. */
static void hist_spread(const struct ptt_hist *h, uint64_t from, double step, uint64_t v[static OVERLAY_STEPS])
{
	double sum[OVERLAY_STEPS] = { 0 };

	for (uint32_t i = ptt_hist_bucket(h->least); i <= ptt_hist_bucket(h->most); i++) {
		double least = (double)ptt_hist_least(i), most = (double)ptt_hist_most(i) + 1, width = most - least;

		for (double at = least; h->bucket[i] && at < most;) {
			double k = at < (double)from ? -1 : (at - (double)from) / step;
			double end = k < 0 ? (double)from : (double)from + ((double)(uint64_t)k + 1) * step;

			end = end < most ? end : most;
			if (k >= 0 && k < OVERLAY_STEPS)
				sum[(uint32_t)k] += (end - at) / width * (double)h->bucket[i];
			at = end > at ? end : most;
		}
	}
	for (uint32_t k = 0; k < OVERLAY_STEPS; k++)
		v[k] = (uint64_t)(sum[k] * 100000 / (double)h->n + 0.5);
}

/* Both distributions of a latency, but for a few of the slowest. */
static void overlay_figure(struct an_page *p, const struct ptt_change *c)
{
	const struct ptt_hist *a = c->latency_a, *b = c->latency_b;
	uint64_t from = a->least < b->least ? a->least : b->least, va[OVERLAY_STEPS], vb[OVERLAY_STEPS];
	uint64_t to = ptt_hist_at(ptt_hist_at(a, 995) > ptt_hist_at(b, 995) ? a : b, 995),
		 step = (to - from) / OVERLAY_STEPS + 1;
	static const char *const figure[] = { " mean", " middle", " p10", " p50", " p90", " p99" };
	const char *end = NULL;
	char title[96];

	for (size_t i = 0; end == NULL && i < COUNT(figure); i++)
		end = strstr(c->what, figure[i]);
	snprintf(title, sizeof(title), "Both distributions: %.*s", end ? (int)(end - c->what) : 0, c->what);
	hist_spread(a, from, (double)step, va);
	hist_spread(b, from, (double)step, vb);
	const struct an_line line[] = { { .key = "a", .title = "A, % of requests", .v = va, .by = 1000 },
					{ .key = "b", .title = "B, % of requests", .v = vb, .by = 1000 } };
	an_page_lines(p, "distribution", title,
		      &(struct an_lines){ .over = "latency",
					  .from = from,
					  .step = step,
					  .n = OVERLAY_STEPS,
					  .nlines = 2,
					  .unit = AN_NUMBER,
					  .line = line });
}

/* Of each latency that is a finding, once. */
static void overlay_figures(struct an_page *p, const struct ptt_change *change, uint32_t n)
{
	const struct ptt_hist *done[OVERLAYS];
	uint32_t ndone = 0;

	for (uint32_t i = 0; i < n && change[i].finding && ndone < OVERLAYS; i++) {
		uint32_t k = 0;

		while (k < ndone && done[k] != change[i].latency_a)
			k++;
		if (k < ndone || !change[i].latency_a)
			continue;
		done[ndone++] = change[i].latency_a;
		overlay_figure(p, &change[i]);
	}
}

static struct an_cell page_cell_value(bool about, uint8_t bound, double v)
{
	return page_cell_about(about, (struct an_cell){ .d = v,
							.at_most = bound == PTT_BOUND_MOST,
							.at_least = bound == PTT_BOUND_LEAST });
}

/* roles: the changes are findings, which may have a role. */
static void changes_table(struct an_page *p, const struct ptt_page_in *in, bool roles, const struct ptt_change *change,
			  uint32_t n)
{
	static const struct an_column col[] = {
		{ "what", "what", AN_TEXT },  { "a", "A", AN_NUMBER },
		{ "b", "B", AN_NUMBER },      { "change", "change", AN_CHANGE },
		{ "error", "+/-", AN_SHARE }, { "unit", "unit", AN_TEXT },
		{ "role", "role", AN_TEXT },  { "within_error", "within +/-", AN_FLAG },
	};
	static const char *const role[] = {
		[PTT_ROLE_NONE] = "",
		[PTT_ROLE_CAUSE] = "cause",
		[PTT_ROLE_CONSEQUENCE] = "consequence",
	};
	const uint32_t ncols = roles ? COUNT(col) : COUNT(col) - 2;
	struct an_part *t = !n    ? NULL :
			    roles ? an_page_table(p, "change", "Changes", col, ncols) :
				    an_page_table(p, "perhaps_chance", "What two traces of one load may differ by, too",
						  col, ncols);
	uint32_t shown = page_limit_rows(in, n, t), with_role = 0, with_doubt = 0;

	for (uint32_t i = 0; i < shown; i++) {
		const struct ptt_change *c = &change[i];

		bool within = !isinf(c->error) && fabs(c->change) <= c->error;

		with_role += c->role != PTT_ROLE_NONE;
		with_doubt += within;
		an_row(p, t,
		       (struct an_cell[COUNT(col)]){
			       AN_S(c->what), page_cell_value(c->about_a, c->bound_a, c->a),
			       page_cell_value(c->about_b, c->bound_b, c->b),
			       page_cell_about(c->about_a || c->about_b || c->bound_a || c->bound_b, AN_D(c->change)),
			       isinf(c->error) ? AN_NONE : AN_D(c->error), AN_S(c->unit), AN_S(role[c->role]),
			       AN_U(within) });
	}
	if (roles && !with_role)
		page_skip_columns(t, COUNT(col) - 2, COUNT(col) - 2);
	if (roles && !with_doubt)
		page_skip_columns(t, COUNT(col) - 1, COUNT(col) - 1);
	else if (roles)
		an_explain(
			p, t,
			"Within +/-: what a consequence has changed by is no more than chance may make; that it is one "
			"follows from the cause and its sign.");
}

/* What was recorded: format, direction and types of the first device whose event is known. */
static const char *recorded_text(struct an_page *p, const struct ptt_report *r)
{
	const struct ptt_device_row *d = r->ndevices ? &r->device[0] : NULL;
	struct ptt_ask ask;

	if (!d)
		return "nothing";
	if (!d->config)
		return d->format == PTT_8DW ? "8DW of unknown direction and types" :
					      "4DW of unknown direction and types";
	ptt_ask_of_config(&ask, d->config);
	const char *text = arena_printf(&p->arena, "%s of direction %u and type %u",
					d->format == PTT_8DW ? "8DW" : "4DW", ask.direction, ask.type);
	return text ? text : "";
}

static void page_say_unlike(struct an_page *p, const struct ptt_page_in *a, const struct ptt_page_in *b)
{
	an_page_words(p, AN_CANNOT, "format",
		      "A has %s, B has %s: they don't show the same packets, and 11 bits of time "
		      "hide gaps that 32 bits show. Rates, latencies, outstanding requests and errors "
		      "would differ by what was recorded, so only the sizes of packets are compared.",
		      recorded_text(p, a->r), recorded_text(p, b->r));
}

static void page_say_sparse(struct an_page *p, const struct ptt_report *a, const struct ptt_report *b)
{
	an_page_words(
		p, AN_CANNOT, "time",
		"Records of %s are sparse: gaps were longer than the 2047 ticks that 11 bits tell, "
		"and how much longer is not known. So rates and outstanding requests on average are not compared, "
		"means and maxima of latencies are lower bounds, and their percentiles are approximate.",
		a->sparse && b->sparse ? "both" :
		a->sparse              ? "A" :
					 "B");
}

void ptt_page_changes(struct an_page *p, const struct ptt_page_in *a, const struct ptt_page_in *b,
		      const struct ptt_change *change, uint32_t n)
{
	struct an_part *t;
	uint32_t found = 0;

	an_page_open(p, "ptt_comparison", "What changed between two traces");
	t = an_page_facts(p, "files", "Traces");
	an_fact(p, t, "a", "A", AN_TEXT, AN_S(a->file));
	an_fact(p, t, "b", "B", AN_TEXT, AN_S(b->file));
	an_fact(p, t, "a_records", "records of A", AN_COUNT, AN_U(a->r->records));
	an_fact(p, t, "b_records", "records of B", AN_COUNT, AN_U(b->r->records));
	an_fact(p, t, "a_span", "ticks of A", AN_TICKS,
		page_cell_span(a->r->time_sure, a->r->span_at_least, a->r->span));
	an_fact(p, t, "b_span", "ticks of B", AN_TICKS,
		page_cell_span(b->r->time_sure, b->r->span_at_least, b->r->span));
	if (a->r->span_at_least)
		an_fact(p, t, "a_span_at_least", "of A only at least", AN_FLAG, AN_U(1));
	if (b->r->span_at_least)
		an_fact(p, t, "b_span_at_least", "of B only at least", AN_FLAG, AN_U(1));
	if (a->r->may_miss)
		an_fact(p, t, "a_records_may_be_missing", "records of A may be missing", AN_FLAG, AN_U(1));
	if (b->r->may_miss)
		an_fact(p, t, "b_records_may_be_missing", "records of B may be missing", AN_FLAG, AN_U(1));
	if (!ptt_reports_are_alike(a->r, b->r))
		page_say_unlike(p, a, b);
	else if (a->r->sparse || b->r->sparse)
		page_say_sparse(p, a->r, b->r);
	while (found < n && change[found].finding)
		found++;
	changes_table(p, b, true, change, found);
	if (b->pictures)
		overlay_figures(p, change, found);
	changes_table(p, b, false, change + found, n - found);
	if (!n)
		an_page_words(p, AN_NOTE, "change", "No figure that is compared differs.");
	else if (!found)
		an_page_words(p, AN_NOTE, "change", "Nothing differs by more than two traces of one load do.");
	for (uint32_t i = 0; i < a->r->nnotes; i++)
		an_page_words(p, AN_CANNOT, "a", "of A: %s", a->r->note[i].text);
	for (uint32_t i = 0; i < b->r->nnotes; i++)
		an_page_words(p, AN_CANNOT, "b", "of B: %s", b->r->note[i].text);
	if (a->lost->words[0])
		an_page_words(p, AN_LOST, "a", "of A: %s", a->lost->words);
	if (b->lost->words[0])
		an_page_words(p, AN_LOST, "b", "of B: %s", b->lost->words);
}
