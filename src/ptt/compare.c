/*
 * compare.c: what changed between two traces, and which changes are significant.
 *
 * Two traces hardly ever have the same length. So figures that grow with length are compared per thousand ticks, and
 * parts of a whole as shares. For latencies the exact mean is compared; the mean without the 5 % at either end, which
 * a few slow requests do not move; and percentiles, to a fraction of a bucket.
 *
 * Two traces of one load differ in every figure. A difference is a finding if it is large enough to matter, and if
 * chance alone makes one so rarely (compare_chance.c) that over all figures together at most one comparison in a
 * thousand reports a false finding (Holm's procedure). Findings are ordered by the least change that their error
 * allows, the other figures by their p-value; figures that cannot be judged come last.
 *
 * Where records may be missing, values may be off. Errors that missing records look like are not judged then. As many
 * latencies may be of wrong pairs as there are signs of it, so each figure of latencies may be off by as much as that
 * many can move it.
 *
 * Requesters on one link wait for each other. If one requester sends more, the others of its device wait longer: it
 * is the cause, they are consequences. That is claimed only if the signs fit, and if within both traces, too, the
 * others wait longer in blocks in which the link, or that requester, carries more. Otherwise no cause is named.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "ptt/compare_int.h"
#include "ptt/rule.h"

#define FEW 16        /* packets of a row in both traces together */
#define WRONG 0.001   /* comparisons of two traces of one load that have a finding */
#define WORTH 0.001   /* a change that is worth a word */
#define ERROR 0.01    /* how seldom a change is off by more than its error; of findings: of all that are listed */
#define EXPECTED 0.01 /* chance of a consequence, where there is a cause */

/* What a change is of, for who asks for the cause. */
enum of { OF_ELSE, OF_DEMAND, OF_LATENCY, OF_MEAN, OF_OWN };
struct figure {
	struct ptt_change is;
	struct growth g;
	double least; /* of a finding: by how much the logarithm has changed at least, all figures taken together */
	uint32_t device;
	uint8_t of;                            /* enum of */
	const struct ptt_requester_row *a, *b; /* whose; NULL: of all */
};
struct changes {
	struct figure *v;
	uint32_t n, cap;
	bool failed;
	const struct ptt_report *a, *b;
};

/* What its change is off by more so seldom; INFINITY: nobody knows. */
static double figure_error(const struct figure *x, double seldom)
{
	if (x->is.a == 0 || x->is.b == 0 || x->g.df <= 0)
		return (double)INFINITY;
	return x->is.b / x->is.a * (compare_t(x->g.df, seldom) * x->g.error + x->g.grain);
}

static const char unit_rate[] = "per 1000 ticks", unit_ticks[] = "ticks", unit_share[] = "per 1000";

/* What 11 bits of time make of a figure: rates are upper bounds, latencies lower ones. */
static uint8_t figure_bound(const struct ptt_report *r, const char *unit)
{
	if (!r->wraps)
		return PTT_BOUND_NONE;
	return unit == unit_rate ? PTT_BOUND_MOST : unit == unit_ticks ? PTT_BOUND_LEAST : PTT_BOUND_NONE;
}

/* Whether it may be off either way. A share of packets is where some of them may be there twice; of a rate these make a
 * bound. */
static bool figure_about(const struct ptt_report *r, const char *unit)
{
	const bool timed = unit == unit_rate || unit == unit_ticks;

	return r->may_miss || (timed && !r->time_sure) || (unit == unit_share && r->posted_twice != 0);
}

static struct figure *change_add(struct changes *c, const char *unit, const struct sample *a, const struct sample *b,
				 const char *fmt, ...) PRINTF_LIKE(5, 6);
static struct figure *change_add(struct changes *c, const char *unit, const struct sample *a, const struct sample *b,
				 const char *fmt, ...)
{
	struct figure *x = a->value == b->value ? NULL : VEC_NEW(c->v, c->n, c->cap);
	va_list ap;

	c->failed |= a->value != b->value && x == NULL;
	if (x == NULL)
		return NULL;
	*x = (struct figure){ .g = compare_growth(a, b) };
	x->is.about_a = figure_about(c->a, unit);
	x->is.about_b = figure_about(c->b, unit);
	x->is.bound_a = figure_bound(c->a, unit);
	x->is.bound_b = figure_bound(c->b, unit);
	va_start(ap, fmt);
	vsnprintf(x->is.what, sizeof(x->is.what), fmt, ap);
	va_end(ap);
	x->is.unit = unit;
	x->is.a = a->value;
	x->is.b = b->value;
	x->is.change = a->value != 0 ? b->value / a->value - 1 : (double)INFINITY;
	x->is.chance = x->g.chance;
	x->is.error = figure_error(x, ERROR);
	return x;
}

/* ---- the whole -------------------------------------------------------------------------------------------- */

/* A sum over some of what a block has. */
typedef double part_fn(const struct ptt_whole_block *b, unsigned which);

static double part_type(const struct ptt_whole_block *b, unsigned i)
{
	return (double)b->type[i].tlps;
}

static double part_tlps(const struct ptt_whole_block *b, unsigned which)
{
	double sum = 0;

	(void)which;
	for (unsigned i = 0; i < PTT_TYPES; i++)
		sum += (double)b->type[i].tlps;
	return sum;
}

static double part_relaxed(const struct ptt_whole_block *b, unsigned which)
{
	double sum = 0;

	(void)which;
	for (unsigned i = 0; i < PTT_TYPES; i++)
		sum += (double)b->type[i].relaxed;
	return sum;
}

static double part_useful(const struct ptt_whole_block *b, unsigned which)
{
	const struct tlp_type *y;
	double sum = 0;

	(void)which;
	for (unsigned i = 0; (y = tlp_type_at(i)) != NULL; i++)
		sum += y->data ? (double)b->type[i].bytes : 0;
	return sum;
}

/* Header, framing and payload. */
static double part_link(const struct ptt_whole_block *b, unsigned which)
{
	const struct tlp_type *y;
	double sum = (double)b->extra_bytes;

	(void)which;
	for (unsigned i = 0; (y = tlp_type_at(i)) != NULL; i++)
		if (y->cls != TLP_RESERVED)
			sum += (double)b->type[i].tlps * (8 + 4 * (3 + (y->fmt & 1u))) +
			       (y->data ? 4 * (double)b->type[i].dws : 0);
	return sum;
}

static double part_fault(const struct ptt_whole_block *b, unsigned f)
{
	return (double)b->fault[f];
}

static double part_ticks(const struct ptt_whole_block *b, unsigned which)
{
	(void)which;
	return (double)b->ticks;
}

/* One part over another, per thousand; count: of events, perhaps of few. */
static struct sample whole_ratio(const struct ptt_report *r, part_fn *num, part_fn *den, unsigned which, bool count)
{
	double n[PTT_TRACK_BLOCKS] = { 0 }, d[PTT_TRACK_BLOCKS] = { 0 };

	for (uint32_t i = 0; i < r->nwhole; i++) {
		n[i] = num(&r->whole[i], which);
		d[i] = den(&r->whole[i], which);
	}
	struct sample s = compare_ratio(n, d, r->nwhole, 1000);
	for (uint32_t i = 0; count && i < r->nwhole; i++) {
		s.events += n[i];
		s.exposure += d[i];
	}
	return s;
}

static void compare_part(struct changes *c, const char *unit, part_fn *num, part_fn *den, unsigned which, bool count,
			 const char *what)
{
	struct sample a = whole_ratio(c->a, num, den, which, count), b = whole_ratio(c->b, num, den, which, count);

	change_add(c, unit, &a, &b, "%s", what);
}

/* Of the kinds of packets from `first` to `last` (PTT_SIZE_*), in DWs; 0: there is none. */
static uint32_t largest_size(const struct ptt_report *r, unsigned first, unsigned last)
{
	uint32_t most = 0;

	for (unsigned k = first; r->size && k <= last; k++)
		for (uint32_t n = 1024; n > most; n--)
			most = r->size[k][n] ? n : most;
	return most;
}

/* A larger size is certain when there would have been such packets by chance, too. */
static void compare_largest(struct changes *c, unsigned first, unsigned last, const char *what)
{
	const uint32_t a = largest_size(c->a, first, last), b = largest_size(c->b, first, last);
	struct sample sa = { .value = 4 * a, .df = 1000, .exposure = (double)c->a->records },
		      sb = { .value = 4 * b, .df = 1000, .exposure = (double)c->b->records };

	for (unsigned k = first; c->a->size && c->b->size && k <= last; k++)
		for (uint32_t n = (a < b ? a : b) + 1; n <= 1024; n++) {
			sa.events += (double)c->a->size[k][n];
			sb.events += (double)c->b->size[k][n];
		}
	change_add(c, "bytes", &sa, &sb, "%s", what);
}

static struct figure *compare_figure(struct changes *c, const char *unit, double a, double b, const char *what)
{
	return change_add(c, unit, &(struct sample){ .value = a }, &(struct sample){ .value = b }, "%s", what);
}

static void compare_sizes(struct changes *c)
{
	const struct ptt_split *a = &c->a->split, *b = &c->b->split;

	compare_largest(c, PTT_SIZE_WRITE, PTT_SIZE_COMPLETION, "largest payload");
	compare_largest(c, PTT_SIZE_READ, PTT_SIZE_READ, "largest read request");
	compare_figure(c, "bytes", a->rcb, b->rcb, "read completion boundary");
}

/* Whether missing records look like that error. */
static bool is_like_missing(enum ptt_fault f)
{
	return f == PTT_FAULT_UNANSWERED || f == PTT_FAULT_REUSED || f == PTT_FAULT_UNEXPECTED_CPL;
}

static void compare_faults(struct changes *c)
{
	const bool may_miss = c->a->may_miss || c->b->may_miss;

	for (unsigned f = 0; f < PTT_FAULTS; f++) {
		const uint32_t n = c->n;

		compare_part(c, unit_share, part_fault, part_tlps, f, true, ptt_fault_name((enum ptt_fault)f));
		if (c->n == n || !may_miss || !is_like_missing((enum ptt_fault)f))
			continue;
		struct figure *x = &c->v[n];
		x->g.df = 0;
		x->is.chance = 1;
		x->is.error = (double)INFINITY;
	}
}

/* Over a span without a number of turns that nobody knows there are rates; latencies mostly have no turn in them. */
static bool have_rates(const struct changes *c)
{
	return !c->a->sparse && !c->b->sparse;
}

static void compare_whole(struct changes *c)
{
	if (have_rates(c)) {
		compare_part(c, unit_rate, part_tlps, part_ticks, 0, true, "packets");
		compare_part(c, unit_rate, part_useful, part_ticks, 0, false, "payload");
	}
	compare_part(c, unit_share, part_useful, part_link, 0, false, "link efficiency");
	compare_part(c, unit_share, part_relaxed, part_tlps, 0, true, "relaxed ordering");
	compare_faults(c);
}

static void compare_types(struct changes *c)
{
	const struct tlp_type *y;

	for (unsigned i = 0; have_rates(c) && (y = tlp_type_at(i)) != NULL && i < PTT_TYPES; i++)
		compare_part(c, unit_rate, part_type, part_ticks, i, true, y->name);
}

/* ---- latencies -------------------------------------------------------------------------------------------- */

static struct sample mean_of(const struct ptt_track *k)
{
	double n[PTT_TRACK_BLOCKS] = { 0 }, d[PTT_TRACK_BLOCKS] = { 0 };

	for (uint32_t i = 0; i < k->n; i++) {
		n[i] = (double)k->block[i].figure[PTT_SERIES_LATENCY];
		d[i] = (double)k->block[i].figure[PTT_SERIES_ANSWERED];
	}
	return compare_ratio(n, d, k->n, 1);
}

static const double shares[PTT_PLACES] = {
	[PTT_AT_P10] = 0.1, [PTT_AT_P50] = 0.5, [PTT_AT_P90] = 0.9, [PTT_AT_P99] = 0.99
};

/* How many of a block's latencies lie below v. */
static double block_below(const uint32_t coarse[static PTT_COARSE], double v)
{
	double sum = 0;

	for (uint32_t i = 0; i + 1 < PTT_COARSE && (double)ptt_coarse_least(i) < v; i++) {
		double least = (double)ptt_coarse_least(i),
		       share = (v - least) / ((double)ptt_coarse_least(i + 1) - least);
		sum += coarse[i] * (share < 1 ? share : 1);
	}
	return sum;
}

/* Their sum, with what lies beyond low and high moved there. */
static double block_clipped(const uint32_t coarse[static PTT_COARSE], double low, double high)
{
	double sum = 0;

	for (uint32_t i = 0; i + 1 < PTT_COARSE; i++) {
		double v = coarse[i] ? ((double)ptt_coarse_least(i) + (double)ptt_coarse_least(i + 1) - 1) / 2 : 0;
		sum += coarse[i] * (v < low ? low : v > high ? high : v);
	}
	return sum;
}

/* By what each block has below the value: that share's error, as ranks, is the value's.  -1: it is too rare. */
static double error_by_ranks(const struct ptt_hist *h, const struct ptt_track *k, const double *n, unsigned place,
			     double value)
{
	double num[PTT_TRACK_BLOCKS] = { 0 }, low = ptt_hist_quantile(h, 0.05), high = ptt_hist_quantile(h, 0.95);
	bool middle = place == PTT_AT_MIDDLE;

	for (uint32_t i = 0; i < k->n; i++)
		num[i] = middle ? block_clipped(k->coarse[i], low, high) : block_below(k->coarse[i], value);
	double error = compare_ratio(num, n, k->n, 1).error;
	if (middle)
		return error / 0.9;
	if (shares[place] + 2 * error >= 1 || shares[place] - 2 * error <= 0)
		return -1;
	return (ptt_hist_quantile(h, shares[place] + 2 * error) - ptt_hist_quantile(h, shares[place] - 2 * error)) / 4;
}

/* Its value is that of the whole histogram; how far it can be trusted the blocks say: by what each has there, and by
 * how many each has below. The first sees little of what a few blocks have all of, the second of what moves within a
 * bucket. */
static struct sample compare_percentile(const struct ptt_hist *h, const struct ptt_track *k, unsigned place,
					double value)
{
	double num[PTT_TRACK_BLOCKS] = { 0 }, n[PTT_TRACK_BLOCKS] = { 0 }, error;
	uint32_t bucket = ptt_hist_bucket((uint64_t)value);

	for (uint32_t i = 0; i < k->n; i++) {
		n[i] = (double)k->block[i].figure[PTT_SERIES_ANSWERED];
		num[i] = n[i] * k->block[i].at[place];
	}
	struct sample s = compare_ratio(num, n, k->n, 1);
	error = k->coarse ? error_by_ranks(h, k, n, place, value) : -1;
	s.df = error < 0 ? 0 : s.df;
	s.error = error > s.error ? error : s.error;
	double low = (double)ptt_hist_least(bucket), high = (double)ptt_hist_most(bucket);
	low = low < (double)h->least ? (double)h->least : low;
	high = high > (double)h->most ? (double)h->most : high;
	s.value = value < low ? low : value > high ? high : value;
	s.grain = place == PTT_AT_MIDDLE         ? (high - low) * 0.06 :
		  high - s.value > s.value - low ? high - s.value :
						   s.value - low;
	return s;
}

static struct sample share_below(const struct ptt_track *k, double v)
{
	double num[PTT_TRACK_BLOCKS] = { 0 }, n[PTT_TRACK_BLOCKS] = { 0 };

	for (uint32_t i = 0; i < k->n; i++) {
		n[i] = (double)k->block[i].figure[PTT_SERIES_ANSWERED];
		num[i] = block_below(k->coarse[i], v);
	}
	return compare_ratio(num, n, k->n, 1);
}

/* Between two modes a percentile jumps when a few requests move.  So each is taken as all that lies so many errors of
 * its rank around it, and the most errors with which the two have nothing in common tell the chance. */
static double chance_by_ranks(const struct ptt_hist *a, const struct ptt_hist *b, const struct ptt_track *ta,
			      const struct ptt_track *tb, double share, double at_a, double at_b)
{
	bool up = at_b > at_a;
	const struct ptt_hist *low = up ? a : b, *high = up ? b : a;
	double least = 0, most = 60;

	if (ta->coarse == NULL || tb->coarse == NULL)
		return 1;
	struct sample x = share_below(up ? ta : tb, up ? at_a : at_b), y = share_below(up ? tb : ta, up ? at_b : at_a);
	while (most - least > 0.01) {
		double t = (least + most) / 2, each = t / sqrt(2);
		bool apart = ptt_hist_quantile(low, share + each * x.error) <
			     ptt_hist_quantile(high, share - each * y.error);
		*(apart ? &least : &most) = t;
	}
	return compare_t_chance(least, x.df < y.df ? x.df : y.df);
}

static void figure_set_owner(struct figure *x, enum of of, const struct ptt_requester_row *a,
			     const struct ptt_requester_row *b)
{
	if (x == NULL)
		return;
	x->of = (uint8_t)of;
	x->a = a;
	x->b = b;
	x->device = a ? a->device : b ? b->device : 0;
}

static void latency_figure(struct figure *x, enum of of, const struct ptt_hist *a, const struct ptt_hist *b,
			   const struct ptt_requester_row *ra, const struct ptt_requester_row *rb)
{
	figure_set_owner(x, of, ra, rb);
	if (x == NULL)
		return;
	x->is.latency_a = a;
	x->is.latency_b = b;
}

/* How many latencies may be of requests and completions that do not belong together. */
static double wrong_pairs(const struct ptt_report *r)
{
	if (!r->may_mispair)
		return 0;
	return (double)(r->fault_count[PTT_FAULT_UNEXPECTED_CPL] + r->fault_count[PTT_FAULT_REUSED] + r->misfits +
			r->broken + r->gaps + 1);
}

/* How far so many of h may move the mean; or the percentile, whose rank they move. */
static double moved_mean(const struct ptt_hist *h, double wrong)
{
	return wrong < (double)h->n ? wrong / (double)h->n * (double)(h->most - h->least) : (double)h->most;
}

static double moved_place(const struct ptt_hist *h, double wrong, unsigned place)
{
	const double share = wrong / (double)h->n, at = shares[place];

	if (wrong == 0)
		return 0;
	if (place == PTT_AT_MIDDLE)
		return share < 1 ? share / 0.9 * (ptt_hist_quantile(h, 0.95) - ptt_hist_quantile(h, 0.05)) :
				   (double)h->most;
	const double low = ptt_hist_quantile(h, at > share ? at - share : 0),
		     high = ptt_hist_quantile(h, at + share < 1 ? at + share : 1), is = ptt_hist_quantile(h, at);
	return high - is > is - low ? high - is : is - low;
}

/* An estimate of ticks that may have been more bounds nothing. */
static void figure_set_estimate(const struct changes *c, struct figure *x)
{
	x->is.about_a |= c->a->wraps;
	x->is.about_b |= c->b->wraps;
}

static void compare_latency(struct changes *c, const struct ptt_hist *a, const struct ptt_hist *b,
			    const struct ptt_track *ta, const struct ptt_track *tb, const struct ptt_requester_row *ra,
			    const struct ptt_requester_row *rb, const char *of)
{
	static const struct {
		const char *name;
		uint32_t least;
	} place[PTT_PLACES] = {
		{ "middle 90 %", 40 }, { "p10", 200 }, { "p50", 40 }, { "p90", 200 }, { "p99", 2000 },
	};
	const double wrong_a = wrong_pairs(c->a), wrong_b = wrong_pairs(c->b);
	double at_a[PTT_PLACES], at_b[PTT_PLACES];

	if (a == NULL || b == NULL || a->n == 0 || b->n == 0)
		return;
	ptt_hist_places(a, NULL, at_a);
	ptt_hist_places(b, NULL, at_b);
	struct sample sa = mean_of(ta), sb = mean_of(tb);
	sa.value = (double)a->sum / (double)a->n;
	sb.value = (double)b->sum / (double)b->n;
	sa.grain += moved_mean(a, wrong_a);
	sb.grain += moved_mean(b, wrong_b);
	latency_figure(change_add(c, unit_ticks, &sa, &sb, "%s mean", of), OF_MEAN, a, b, ra, rb);
	for (unsigned k = 0; k < PTT_PLACES; k++) {
		if (a->n < place[k].least || b->n < place[k].least)
			continue;
		sa = compare_percentile(a, ta, k, at_a[k]);
		sb = compare_percentile(b, tb, k, at_b[k]);
		sa.grain += moved_place(a, wrong_a, k);
		sb.grain += moved_place(b, wrong_b, k);
		struct figure *x = change_add(c, unit_ticks, &sa, &sb, "%s %s", of, place[k].name);
		double chance =
			x && k != PTT_AT_MIDDLE ? chance_by_ranks(a, b, ta, tb, shares[k], at_a[k], at_b[k]) : 0;
		latency_figure(x, OF_LATENCY, a, b, ra, rb);
		if (x == NULL)
			continue;
		x->is.chance = chance > x->is.chance ? chance : x->is.chance;
		figure_set_estimate(c, x); /* a fraction of a bucket, which may lie above the truth */
	}
	sa = (struct sample){ .value = (double)a->most };
	sb = (struct sample){ .value = (double)b->most };
	change_add(c, unit_ticks, &sa, &sb, "%s max", of);
}

static uint8_t peak_bound(const struct ptt_report *r)
{
	return r->peak_is_bound ? PTT_BOUND_MOST : r->peak_at_least ? PTT_BOUND_LEAST : PTT_BOUND_NONE;
}

static void compare_matched(struct changes *c)
{
	if (!c->a->matched || !c->b->matched)
		return;
	compare_latency(c, c->a->latency, c->b->latency, &c->a->whole_latency, &c->b->whole_latency, NULL, NULL,
			"latency");
	compare_latency(c, c->a->latency_first, c->b->latency_first, &c->a->whole_first, &c->b->whole_first, NULL, NULL,
			"first completion");
	if (c->a->mean_known && c->b->mean_known) {
		struct figure *mean =
			compare_figure(c, "requests", (double)c->a->outstanding_ticks / (double)c->a->outstanding_span,
				       (double)c->b->outstanding_ticks / (double)c->b->outstanding_span,
				       "outstanding requests, mean");
		if (mean != NULL) {
			mean->is.about_a |= c->a->span_at_least;
			mean->is.about_b |= c->b->span_at_least;
		}
	}
	if (c->a->peak_known && c->b->peak_known) {
		struct figure *peak = compare_figure(c, "requests", c->a->outstanding_peak, c->b->outstanding_peak,
						     "outstanding requests, peak");
		if (peak != NULL) {
			peak->is.bound_a = peak_bound(c->a);
			peak->is.bound_b = peak_bound(c->b);
		}
	}
}

/* ---- who is who ----------------------------------------------------------------------------------------- */

static const struct ptt_requester_row *requester_of(const struct ptt_report *r, const struct ptt_requester_row *like)
{
	for (uint32_t i = 0; i < r->nrequesters; i++) {
		const struct ptt_requester_row *q = &r->requester[i];
		if (q->others == like->others && q->device == like->device && q->segment == like->segment &&
		    q->requester == like->requester)
			return q;
	}
	return NULL;
}

static void name_requester(char name[static 40], const struct ptt_requester_row *q)
{
	int n = q->device ? snprintf(name, 40, "%u/", q->device) : 0;

	if (q->segment)
		n += snprintf(name + n, 40 - (size_t)n, "%04x:", q->segment);
	if (q->others)
		snprintf(name, 40, "others");
	else
		snprintf(name + n, 40 - (size_t)n, "%02x:%02x.%u", q->requester >> 8, q->requester >> 3 & 0x1f,
			 q->requester & 7u);
}

/* ---- requesters ------------------------------------------------------------------------------------------------ */

/* The span of the device whose clock it is. */
static uint64_t span_of(const struct ptt_report *r, const struct ptt_requester_row *q)
{
	for (uint32_t i = 0; i < r->ndevices && !q->others; i++)
		if (r->device[i].device == q->device)
			return r->device[i].span;
	return r->span;
}

/* Per thousand ticks; q: NULL where it is in the other trace only, which is like it. */
static struct sample rate_of(const struct ptt_report *r, const struct ptt_requester_row *q,
			     const struct ptt_requester_row *like, enum ptt_series series, uint64_t all)
{
	double n[PTT_TRACK_BLOCKS] = { 0 }, d[PTT_TRACK_BLOCKS] = { 0 }, span = (double)span_of(r, like);
	const struct ptt_track none = { 0 }, *k = q ? &q->track : &none;

	for (uint32_t i = 0; i < k->n; i++) {
		n[i] = (double)k->block[i].figure[series];
		d[i] = (double)k->ticks[i];
	}
	struct sample s = compare_ratio(n, d, k->n, 1000);
	s.value = span > 0 ? (double)all * 1000 / span : 0;
	s.exposure = span;
	if (q != NULL)
		s.events = (double)(q->tlps - q->kind[PTT_COMPLETION]);
	else
		s.df = r->nwhole;
	return s;
}

static void compare_rate(struct changes *c, const struct ptt_requester_row *a, const struct ptt_requester_row *b,
			 enum ptt_series series, uint64_t of_a, uint64_t of_b, const char *name, const char *what)
{
	struct sample sa = rate_of(c->a, a, a ? a : b, series, of_a), sb = rate_of(c->b, b, a ? a : b, series, of_b);

	figure_set_owner(change_add(c, unit_rate, &sa, &sb, "%s %s", name, what), OF_DEMAND, a, b);
}

static uint64_t requests_of(const struct ptt_requester_row *q)
{
	return q->kind[PTT_READ] + q->kind[PTT_WRITE] + q->kind[PTT_ATOMIC];
}

static void compare_requester(struct changes *c, const struct ptt_requester_row *a, const struct ptt_requester_row *b)
{
	static const struct ptt_requester_row none = { 0 };
	const struct ptt_requester_row *x = a ? a : &none, *y = b ? b : &none;
	char name[40], of[64];

	name_requester(name, a ? a : b);
	if (x->tlps + y->tlps < FEW)
		return;
	if (have_rates(c)) {
		compare_rate(c, a, b, PTT_SERIES_REQUESTS, requests_of(x), requests_of(y), name, "requests");
		compare_rate(c, a, b, PTT_SERIES_WRITTEN, x->written_bytes, y->written_bytes, name, "bytes written");
		compare_rate(c, a, b, PTT_SERIES_READ, x->read_bytes, y->read_bytes, name, "bytes read");
	}
	snprintf(of, sizeof(of), "%s latency", name);
	compare_latency(c, x->latency, y->latency, &x->track, &y->track, a, b, of);
}

/* What is each requester's own, where they wait for each other. */
static void compare_own_latency(struct changes *c)
{
	struct compare_pair *v = mem_alloc((c->a->nrequesters + 1) * sizeof(*v));
	char name[40];
	uint32_t n = 0;

	c->failed |= v == NULL;
	for (uint32_t i = 0; v && i < c->a->nrequesters; i++) {
		const struct ptt_requester_row *a = &c->a->requester[i], *b = requester_of(c->b, a);
		if (b != NULL && a->track.n && b->track.n)
			v[n++] = (struct compare_pair){ .a = a, .b = b };
	}
	compare_own(v, n);
	for (uint32_t i = 0; i < n; i++) {
		if (!v[i].own)
			continue;
		name_requester(name, v[i].a);
		struct figure *x =
			change_add(c, unit_ticks, &v[i].own_a, &v[i].own_b, "%s latency mean, others alike", name);
		figure_set_owner(x, OF_OWN, v[i].a, v[i].b);
		if (x)
			figure_set_estimate(c, x);
	}
	mem_free(v);
}

static void compare_requesters(struct changes *c)
{
	for (uint32_t i = 0; i < c->a->nrequesters; i++)
		compare_requester(c, &c->a->requester[i], requester_of(c->b, &c->a->requester[i]));
	for (uint32_t i = 0; i < c->b->nrequesters; i++)
		if (requester_of(c->a, &c->b->requester[i]) == NULL)
			compare_requester(c, NULL, &c->b->requester[i]);
}

/* ---- findings -------------------------------------------------------------------------------- */

static int by_chance(const void *p, const void *q)
{
	const struct figure *x = p, *y = q;

	return (x->is.chance > y->is.chance) - (x->is.chance < y->is.chance);
}

/* The least probable one is held against the bound shared by all, the next against that shared by the rest, and so
 * on. */
static void find_findings(struct changes *c)
{
	uint32_t judged = 0, found = 0;

	for (uint32_t i = 0; i < c->n; i++)
		judged += c->v[i].g.df > 0;
	if (c->n > 1)
		qsort(c->v, c->n, sizeof(*c->v), by_chance);
	for (uint32_t i = 0, k = 0; i < c->n; i++) {
		struct figure *x = &c->v[i];
		if (x->g.df == 0)
			continue;
		if (x->is.chance > WRONG / (judged - k++))
			break;
		x->is.finding = fabs(x->is.change) >= WORTH && (isinf(x->is.error) || fabs(x->is.change) > x->is.error);
		found += x->is.finding;
		x->least = fabs(x->g.log) - (isinf(x->is.change) || x->is.change <= -1 ?
						     0 :
						     compare_t(x->g.df, WRONG / judged) * x->g.error + x->g.grain);
	}
	/* Findings stand out among all that were judged, and so do their errors: so each is given as much more room
	 * (Benjamini and Yekutieli, "False discovery rate-adjusted multiple confidence intervals", 2005). */
	for (uint32_t i = 0; i < c->n; i++)
		if (c->v[i].is.finding) {
			c->v[i].is.error = figure_error(&c->v[i], ERROR * found / judged);
			c->v[i].is.finding = isinf(c->v[i].is.error) || fabs(c->v[i].is.change) > c->v[i].is.error;
		}
}

/* What of a cause's the others would feel: they wait as it asks, and get on as it doesn't.  What is expected needs less
 * proof than a finding out of many; that means follow the link itself has proved. */
static bool figure_follows_cause(const struct figure *x, const struct figure *cause)
{
	bool more = cause->g.log > 0, latency = x->of == OF_LATENCY || x->of == OF_MEAN;

	if (x->g.df == 0 || (x->is.chance > EXPECTED && x->of != OF_MEAN) || fabs(x->is.change) < WORTH ||
	    x->of == OF_ELSE || x->of == OF_OWN || (x->a != NULL && x->device != cause->device))
		return false;
	if (x->a == cause->a)
		return x->a != NULL && latency && (x->g.log > 0) == more;
	return latency ? (x->g.log > 0) == more : (x->g.log > 0) != more;
}

/* By how much more or less the requester moves, in bytes. */
static double figure_bytes_moved(const struct figure *x)
{
	return x->of == OF_DEMAND && x->is.finding && x->a && x->b ? fabs(x->is.b - x->is.a) : 0;
}

/* Whether it waits with the others: then there is a figure of what is its own. */
static bool requester_waits_along(const struct changes *c, const struct ptt_requester_row *a)
{
	for (uint32_t i = 0; i < c->n; i++)
		if (c->v[i].of == OF_OWN && c->v[i].a == a)
			return true;
	return false;
}

/* Who moves most more or less of those that the others' latencies don't contradict. */
static const struct figure *find_cause(const struct changes *c)
{
	const struct figure *cause, *tried = NULL;

	do {
		cause = NULL;
		for (uint32_t i = 0; i < c->n; i++) {
			double moved = figure_bytes_moved(&c->v[i]);
			if (moved > (cause ? figure_bytes_moved(cause) : 0) &&
			    (tried == NULL || moved < figure_bytes_moved(tried)))
				cause = &c->v[i];
		}
		tried = cause;
	} while (cause &&
		 !compare_share(c->a, c->b, cause->a, cause->b, cause->g.log > 0, requester_waits_along(c, cause->a)));
	return cause;
}

static void find_consequences(struct changes *c)
{
	const struct figure *cause = find_cause(c);

	for (uint32_t i = 0; cause && i < c->n; i++) {
		struct figure *x = &c->v[i];
		if (figure_follows_cause(x, cause)) {
			x->is.finding = true;
			x->is.role = PTT_ROLE_CONSEQUENCE;
		} else if (x->is.finding && x->of == OF_DEMAND && x->a == cause->a)
			x->is.role = PTT_ROLE_CAUSE;
	}
}

static int figure_rank(const struct figure *x)
{
	if (!x->is.finding)
		return x->g.df > 0 ? 3 : 4;
	return x->is.role == PTT_ROLE_CAUSE ? 0 : x->is.role == PTT_ROLE_CONSEQUENCE ? 2 : 1;
}

static int surest_first(const void *p, const void *q)
{
	const struct figure *x = p, *y = q;

	if (figure_rank(x) != figure_rank(y))
		return figure_rank(x) - figure_rank(y);
	if (figure_rank(x) < 3)
		return (x->least < y->least) - (x->least > y->least);
	if (x->is.chance != y->is.chance)
		return by_chance(p, q);
	return (isinf(x->is.change) != 0) - (isinf(y->is.change) != 0);
}

/* What an event lets a trace show. */
static uint64_t recorded_as(const struct ptt_device_row *d)
{
	struct ptt_ask ask;

	ptt_ask_of_config(&ask, d->config);
	return d->config ? (uint64_t)d->format << 8 | ask.direction << 4 | (ask.type & 7) : (uint64_t)d->format << 8;
}

/* Whether each device of a has one of b that was recorded so. */
static bool has_all_of(const struct ptt_report *a, const struct ptt_report *b)
{
	for (uint32_t i = 0; i < a->ndevices; i++) {
		const struct ptt_device_row *d = &a->device[i];
		bool found = false;

		for (uint32_t k = 0; k < b->ndevices; k++)
			found |= recorded_as(&b->device[k]) == recorded_as(d) ||
				 ((!d->config || !b->device[k].config) && b->device[k].format == d->format);
		if (!found)
			return false;
	}
	return true;
}

bool ptt_reports_are_alike(const struct ptt_report *a, const struct ptt_report *b)
{
	return a->ndevices == 0 || b->ndevices == 0 || (has_all_of(a, b) && has_all_of(b, a));
}

int ptt_compare(struct ptt_change **ret, const struct ptt_report *a, const struct ptt_report *b)
{
	struct changes c = { .a = a, .b = b };
	struct ptt_change *v;

	compare_sizes(&c);
	if (ptt_reports_are_alike(a, b)) {
		compare_whole(&c);
		compare_matched(&c);
		compare_types(&c);
		compare_requesters(&c);
		compare_own_latency(&c);
	}
	v = c.failed ? NULL : mem_alloc((c.n + 1) * sizeof(*v));
	if (v == NULL) {
		mem_free(c.v);
		return -TALLY_ENOMEM;
	}
	find_findings(&c);
	find_consequences(&c);
	if (c.n > 1)
		qsort(c.v, c.n, sizeof(*c.v), surest_first);
	for (uint32_t i = 0; i < c.n; i++)
		v[i] = c.v[i].is;
	mem_free(c.v);
	*ret = v;
	return (int)c.n;
}
