/*
 * truth_test.c: `report --json` of 200 traces against a truth that shares nothing with what it is held against.
 *
 * The truth counts packets that know their transactions (truth_test_int.h, truth_count_test_int.h).  Every figure that
 * is printed is held against it (truth_line_test_int.h).
 *
 * Traces are of both formats and both times, of one device or two, of all directions, with gaps, with AUX data cut
 * anywhere, and with packets between devices that are recorded at both ports.  Others have pauses that 11 bits of time
 * can't tell: what rests on time is a bound of the truth there and says so, or is unknown.  Each stretch between gaps
 * is taken by itself: a packet counts once in it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>
#include <math.h>
#include <cmocka.h>

#include "capture/capture.h"
#include "capture/truth_count_test_int.h"
#include "capture/truth_line_test_int.h"
enum { TRACES = 200, ROWS = 100, MANY_PAUSES = 60 };

/* ---- the report's tables ---------------------------------------------------------------------------------------- */

static int by_value(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static double rank_of(uint64_t *v, uint32_t n, uint32_t per_mille)
{
	qsort(v, n, sizeof(*v), by_value);
	uint32_t nth = (n * per_mille + 999) / 1000;

	return n ? (double)v[nth ? nth - 1 : 0] : (double)NAN;
}

static double rank(struct latencies *l, uint32_t per_mille)
{
	return rank_of(l->v, l->n, per_mille);
}

struct judge {
	struct truth *t;
	const char *file;
	struct line l;
	bool parts;  /* peaks are bounds */
	bool sparse; /* it says that whole turns of time are certainly missing */
	uint32_t rows[32];
};

static uint64_t sum(const struct truth *t, size_t offset)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < t->ndevices; i++)
		n += *(const uint64_t *)((const char *)&t->d[i] + offset);
	return n;
}
#define SUM(field) sum(t, offsetof(struct device, field))

static uint64_t sum_who(const struct truth *t, size_t offset)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < t->ndevices; i++)
		for (uint32_t k = 0; k < WHO; k++)
			n += *(const uint64_t *)((const char *)&t->d[i].who[k] + offset);
	return n;
}
#define SUM_WHO(field) sum_who(t, offsetof(struct requester, field))

/* Whether records may be missing, for all that matching shows. */
static bool may_miss(const struct truth *t)
{
	return SUM_WHO(given_up) || t->broken ||
	       (t->last.n && t->oldest / 2 > (uint64_t)rank((struct latencies *)&t->last, 1000));
}

/* Whether latencies are in doubt for another reason than time. */
static bool is_in_doubt(const struct truth *t)
{
	return may_miss(t) || (t->gaps && SUM(duplicates));
}

/* Ticks from the first record of a device, which are a lower bound where time has 11 bits, counts deltas or has
 * gaps. */
static void want_moment(struct judge *j, const char *key, uint32_t device, uint64_t told, uint64_t is)
{
	want_marked(&j->l, key, (double)told, 0, is_longer(j->t, device) ? MARK_LEAST : MARK_ANY, (double)is);
}

/* A figure of latencies. What is in doubt is approximate whatever time tells. */
static void want_ticks(struct judge *j, const char *key, double told, double within, double is)
{
	const bool least = tells_too_little(&j->t->w[0]);
	const enum mark mark = !least ? MARK_ANY : is_in_doubt(j->t) ? MARK_ABOUT : MARK_LEAST;

	want_marked(&j->l, key, told, within, mark, is);
}

/* Over a span that is a lower bound an average is approximate, and where whole turns are missing for certain it is
 * unknown. */
static void want_mean(struct judge *j, bool any, bool longer, double told)
{
	if (!any || j->sparse)
		want_near(&j->l, "outstanding_mean", (double)NAN, 0);
	else
		want_marked(&j->l, "outstanding_mean", told, 1e-8, longer ? MARK_ABOUT : MARK_ANY, 0);
}

/* A peak of outstanding requests, which of several parts is a bound; any: there are requests that can be answered. */
static void want_peak(struct judge *j, bool any, uint64_t peak, uint64_t true_peak)
{
	const uint64_t got = number_of(j->l.p, "outstanding_peak");
	const bool least = list_has(j->l.p, "at_least", "outstanding_peak");

	if (!any || lacks_answers(&j->t->w[0]))
		want_near(&j->l, "outstanding_peak", (double)NAN, 0);
	else if (j->parts && got >= true_peak)
		line_want(&j->l, "outstanding_peak", got);
	else if (least || may_miss(j->t)) /* before a requester is answered for the first time */
		want_marked(&j->l, "outstanding_peak", (double)peak, 0, least ? MARK_LEAST : MARK_ABOUT,
			    (double)true_peak);
	else
		line_want(&j->l, "outstanding_peak", true_peak);
}

static double outstanding(const struct device *d)
{
	return d->span ? (double)d->ticks / (double)d->span : 0;
}

static void judge_summary(struct judge *j)
{
	struct truth *t = j->t;
	struct line *l = &j->l;
	const struct device *most = &t->d[0];
	uint64_t span = 0, true_span = 0, pauses = 0, gap_bytes = 0,
		 seen_again = number_of(l->p, "posted_duplicates_at_most");
	const bool longer = any_is_longer(t);

	for (uint32_t i = 0; i < t->ndevices; i++) {
		pauses += t->d[i].pauses;
		true_span = t->d[i].true_span > true_span ? t->d[i].true_span : true_span;
		span = t->d[i].span > span ? t->d[i].span : span;
		most = outstanding(&t->d[i]) > outstanding(most) ? &t->d[i] : most;
	}
	for (uint32_t i = 0; i < t->gaps; i++)
		gap_bytes += t->gap[i].bytes;
	line_want(l, "records", SUM(records));
	line_want(l, "record_bytes", SUM(records) * (t->w[0].wide ? 32 : 16));
	if (SUM(duplicates))
		line_want(l, "duplicates", SUM(duplicates));
	if (value_of(l->p, "posted_duplicates_at_most")) { /* a bound, and a tight one: interrupts are alike, too */
		uint64_t interrupts = 0;
		for (uint32_t i = 0; i < t->ndevices; i++)
			for (uint32_t k = 0; k < WHO; k++)
				interrupts += t->d[i].target[k].tlps;
		if (seen_again < t->posted_twice || seen_again > t->posted_twice + interrupts / 2 + 2)
			fail_msg("trace %u: %llu posted requests may be duplicates, and %llu are", l->trace,
				 (unsigned long long)seen_again, (unsigned long long)t->posted_twice);
		line_want(l, "posted_duplicates_at_most", seen_again);
	} else {
		assert_int_equal(t->posted_twice, 0);
	}
	line_want(l, "padding", 0);
	line_want(l, "devices", t->ndevices);
	want_marked(l, "span", (double)span, 0, longer ? MARK_LEAST : MARK_ANY, (double)true_span);
	if (longer) /* deltas are of the records that are there */
		line_want(l, "span_at_least", 1);
	j->sparse = value_of(l->p, "sparse") != NULL;
	if (j->sparse ? !pauses : pauses > MANY_PAUSES)
		fail_msg("trace %u: of %llu pauses: %.300s", l->trace, (unsigned long long)pauses, l->p);
	if (j->sparse)
		line_want(l, "sparse", 1);
	if (t->gaps) {
		line_want(l, "gaps", t->gaps);
		line_want(l, "gap_bytes", gap_bytes);
		line_want(l, "cut", t->cut);
		line_want(l, "after_gap", t->behind);
	}
	if (may_miss(t))
		line_want(l, "records_may_be_missing", 1);
	line_want(l, "posted", SUM(posted));
	line_want(l, "non_posted", SUM(non_posted));
	line_want(l, "completions", SUM(completions));
	line_want(l, "reserved", 0);
	line_want(l, "matched", 1);
	line_want(l, "answered", SUM_WHO(answered));
	line_want(l, "failed", SUM_WHO(failed));
	line_want(l, "unanswered", SUM_WHO(unanswered));
	line_want(l, "given_up", SUM_WHO(given_up));
	line_want(l, "unanswerable", SUM_WHO(unanswerable));
	line_want(l, "unexpected_completions", 0);
	line_want(l, "requestless", SUM(requestless));
	line_want(l, "tag_reuse", SUM_WHO(given_up));
	const bool any = SUM(non_posted) > SUM_WHO(unanswerable);
	want_mean(j, any, longer, outstanding(most));
	if (j->sparse && t->ndevices > 1)
		want_near(l, "outstanding_peak", (double)NAN, 0);
	else
		want_peak(j, any, most->peak, most->true_peak);
}

static uint32_t device_of(const char *line)
{
	return text_is(line, "device", "hisi_ptt2_0") || text_is(line, "name", "hisi_ptt2_0");
}

static void judge_device(struct judge *j)
{
	const uint32_t device = device_of(j->l.p);
	const struct device *d = &j->t->d[device];
	uint64_t answerable = d->non_posted;

	for (uint32_t k = 0; k < WHO; k++)
		answerable -= d->who[k].unanswerable;
	line_want(&j->l, "records", d->records);
	line_want(&j->l, "posted", d->posted);
	line_want(&j->l, "non_posted", d->non_posted);
	line_want(&j->l, "completions", d->completions);
	want_moment(j, "span", device, d->span, d->true_span);
	line_want(&j->l, "format_dw", j->t->w[0].wide ? 8 : 4);
	want_mean(j, answerable != 0, is_longer(j->t, device), outstanding(d));
	want_peak(j, answerable != 0, d->peak, d->true_peak);
}

/* Whether the bytes of the record are at that place of the file. */
static bool is_place(const struct judge *j, const char *key, const struct event *e)
{
	return memcmp(j->file + number_of(j->l.p, key), e->record, e->whole) == 0;
}

static void judge_place(struct judge *j, const char *key, const struct event *e)
{
	uint64_t at = number_of(j->l.p, key);

	if (!is_place(j, key, e))
		fail_msg("trace %u: %s is not the place: %.200s", j->l.trace, key, j->l.p);
	line_want(&j->l, key, at);
}

static void judge_gap(struct judge *j)
{
	const uint32_t device = device_of(j->l.p);
	const struct world *w = &j->t->w[device];
	const struct gap *h = NULL;

	for (uint32_t i = 0; i < j->t->gaps; i++)
		if (j->t->gap[i].device == device && j->t->gap[i].time == number_of(j->l.p, "time"))
			h = &j->t->gap[i];
	assert_non_null(h);
	want_moment(j, "time", device, h->time, h->true_time);
	line_want(&j->l, "bytes", h->bytes);
	line_want(&j->l, "passed_over", 0);
	line_want(&j->l, "cut", h->cut);
	if (w->wide && !w->delta)
		want_moment(j, "until", device, h->behind->seen, h->behind->time - w->e[0].time);
	else
		want_near(&j->l, "until", (double)NAN, 0);
	judge_place(j, "offset", h->behind);
}

/* Of the last figure: writes that are there twice are in it. */
static void want_about(struct line *l, bool twice)
{
	if (twice)
		l->want[l->n - 1].mark = MARK_ABOUT;
}

static void judge_type(struct judge *j)
{
	const struct truth *t = j->t;
	uint32_t i = 0;

	while (i < TYPES && !text_is(j->l.p, "name", types[i].name))
		i++;
	assert_true(i < TYPES);
	line_want(&j->l, "tlps", t->tlps[i]);
	want_share(&j->l, "share", t->tlps[i], SUM(records) - SUM(duplicates));
	want_about(&j->l, SUM_WHO(posted_twice));
	line_want(&j->l, "posted_duplicates_at_most", number_of(j->l.p, "posted_duplicates_at_most"));
	line_want(&j->l, "bytes", t->bytes[i]);
	want_share(&j->l, "mean", t->bytes[i], t->bytes[i] ? t->tlps[i] : 0);
	want_about(&j->l, number_of(j->l.p, "posted_duplicates_at_most"));
	line_want(&j->l, "relaxed", t->relaxed[i]);
}

static void want_latencies(struct judge *j, struct latencies *of)
{
	want_ticks(j, "latency_p50", rank(of, 500), 0.01, rank_of(of->true_v, of->n, 500));
	want_ticks(j, "latency_p99", rank(of, 990), 0.01, rank_of(of->true_v, of->n, 990));
	want_ticks(j, "latency_max", rank(of, 1000), 0, rank_of(of->true_v, of->n, 1000));
}

static uint32_t who_of(const char *line)
{
	static const char *const name[WHO] = { "01:00.0", "01:00.1", "01:00.2", "00:01.0" };
	uint32_t k = 0;

	while (k < WHO && !text_is(line, "requester", name[k]))
		k++;
	assert_true(k < WHO);
	return k;
}

static void judge_requester(struct judge *j)
{
	struct requester *r = &j->t->d[device_of(j->l.p)].who[who_of(j->l.p)];
	struct line *l = &j->l;

	line_want(l, "tlps", r->tlps);
	line_want(l, "reads", r->reads);
	line_want(l, "writes", r->writes);
	line_want(l, "read_bytes", r->read_bytes);
	line_want(l, "written_bytes", r->written_bytes);
	want_latencies(j, &r->latency);
	line_want(l, "completions", r->completions);
	line_want(l, "atomics", r->atomics);
	line_want(l, "messages", r->messages);
	line_want(l, "answered", r->answered);
	line_want(l, "unanswered", r->unanswered);
	line_want(l, "failed", r->failed);
	want_peak(j, r->peak && !r->unanswerable, r->peak, r->peak);
	line_want(l, "asked_bytes", r->asked_bytes);
	line_want(l, "largest_read", r->largest_read);
	line_want(l, "largest_write", r->largest_write);
	line_want(l, "given_up", r->given_up);
	line_want(l, "cut", r->cut);
	line_want(l, "unanswerable", r->unanswerable);
	line_want(l, "config", 0);
	/* a bound, and a tight one: interrupts are alike, too */
	uint64_t again = number_of(l->p, "posted_duplicates_at_most"),
		 interrupts = j->t->d[device_of(l->p)].target[who_of(l->p)].tlps;
	if (again < r->posted_twice || again > r->posted_twice + interrupts / 2 + 2)
		fail_msg("trace %u: %llu of its posted requests are duplicates: %.300s", l->trace,
			 (unsigned long long)r->posted_twice, l->p);
	line_want(l, "posted_duplicates_at_most", again);
}

static void judge_completer(struct judge *j)
{
	struct completer *c = &j->t->d[device_of(j->l.p)].completer[text_is(j->l.p, "completer", "00:11.0")];

	line_want(&j->l, "completions", c->completions);
	line_want(&j->l, "bytes", c->bytes);
	line_want(&j->l, "largest", c->largest);
	want_latencies(j, &c->latency);
	line_want(&j->l, "ur", c->status[UR]);
	line_want(&j->l, "crs", 0);
	line_want(&j->l, "ca", c->status[CA]);
	line_want(&j->l, "sc", c->status[0]);
}

static struct latencies *latencies_of(struct judge *j)
{
	bool first = text_is(j->l.p, "to", "first completion") || text_is(j->l.p, "type", "latency_first");

	return first ? &j->t->first : &j->t->last;
}

static void judge_latency(struct judge *j)
{
	struct latencies *of = latencies_of(j);
	struct line *l = &j->l;

	line_want(l, "requests", of->n);
	want_ticks(j, "min", rank(of, 0), 0, rank_of(of->true_v, of->n, 0));
	want_ticks(j, "mean", (double)of->sum / of->n, 1e-8, (double)of->true_sum / of->n);
	want_ticks(j, "p50", rank(of, 500), 0.01, rank_of(of->true_v, of->n, 500));
	want_ticks(j, "p90", rank(of, 900), 0.01, rank_of(of->true_v, of->n, 900));
	want_ticks(j, "p99", rank(of, 990), 0.01, rank_of(of->true_v, of->n, 990));
	want_ticks(j, "p999", rank(of, 999), 0.01, rank_of(of->true_v, of->n, 999));
	want_ticks(j, "max", rank(of, 1000), 0, rank_of(of->true_v, of->n, 1000));
}

/* {"from":F,"to":T,"count":N}, ... each of them, and no other count. */
static void judge_buckets(struct judge *j, const uint64_t *v, uint32_t n)
{
	uint32_t counted = 0;

	for (const char *p = strstr(j->l.p, "{\"from\":"); p && p < strchr(j->l.p, '\n');
	     p = strstr(p + 1, "{\"from\":")) {
		uint64_t from = strtoull(p + 8, NULL, 10), to = number_of(p, "to"), in = 0;

		for (uint32_t i = 0; i < n; i++)
			in += v[i] >= from && (v[i] <= to || strncmp(value_of(p, "to"), "null", 4) == 0);
		if (number_of(p, "count") != in)
			fail_msg("trace %u: from %llu are %llu: %.400s", j->l.trace, (unsigned long long)from,
				 (unsigned long long)in, j->l.p);
		counted += (uint32_t)in;
	}
	assert_int_equal(counted, n);
}

/* Steps that may have been longer, and what else a picture marks as a whole. */
static void judge_picture(struct judge *j, const char *whole)
{
	if (value_of(j->l.p, "step"))
		assert_int_equal(list_has(j->l.p, "at_least", "step"), any_is_longer(j->t));
	if (whole && tells_too_little(&j->t->w[0]))
		assert_true(list_has(j->l.p, "approximate", whole));
}

static void judge_pieces(struct judge *j)
{
	static uint64_t v[LATENCIES];
	uint32_t n = 0;

	for (uint32_t i = 0; i < COUNT(j->t->pieces); i++)
		for (uint64_t k = 0; k < j->t->pieces[i]; k++)
			v[n++] = i;
	judge_buckets(j, v, n);
}

/* [N,N,...]; bound: they may be more. */
static void judge_values(struct judge *j, const char *p, const uint64_t *is, double per, bool bound)
{
	uint32_t i = 0;

	for (p = strchr(p, '['); *p != ']'; i++) {
		char *end;
		double got = strtod(p + 1, &end), should = (double)is[i] / per;
		if (i >= BINS || fabs(got - should) > 1e-6 * should + 1e-9) {
			if (i >= BINS || !bound || got < should)
				fail_msg("trace %u: bin %u should be %f, and is %f: %.300s", j->l.trace, i, should, got,
					 p);
		}
		p = end;
	}
	for (; i < BINS; i++)
		assert_int_equal(is[i], 0);
}

static void judge_time_line(struct judge *j)
{
	struct truth *t = j->t;
	uint64_t ticks[BINS] = { 0 }, peak[BINS] = { 0 };
	const char *series = strstr(j->l.p, "\"series\"");
	uint32_t n = 0, shown = 0;

	for (uint32_t d = 0; d < t->ndevices; d++)
		for (uint32_t i = 0; i < BINS; i++) {
			ticks[i] = t->d[d].level_ticks[i] > ticks[i] ? t->d[d].level_ticks[i] : ticks[i];
			peak[i] = t->d[d].level_peak[i] > peak[i] ? t->d[d].level_peak[i] : peak[i];
		}
	const bool any = SUM(non_posted) > SUM_WHO(unanswerable);
	const struct {
		const char *name;
		const uint64_t *v;
		double per;
		bool known;
	} of[] = {
		{ "tlps", t->bin_tlps, 1, true },
		{ "bytes", t->bin_bytes, 1, true },
		{ "requests", t->bin_opened, 1, any },
		{ "outstanding_mean", ticks, (double)t->step, any && !j->sparse },
		{ "outstanding_peak", peak, 1, any && !lacks_answers(&t->w[0]) },
	};
	judge_picture(j, !any || j->sparse ? NULL : "outstanding_mean");
	for (uint32_t k = 0; k < 2 && SUM_WHO(posted_twice); k++)
		assert_true(list_has(j->l.p, "at_most", of[k].name) || list_has(j->l.p, "approximate", of[k].name));
	for (const char *p = series; (p = strstr(p + 1, "{\"name\":")) && p < strchr(j->l.p, '\n'); n++, shown++) {
		while (n < COUNT(of) && !of[n].known)
			n++;
		assert_true(n < COUNT(of) && text_is(p, "name", of[n].name));
		judge_values(j, p, of[n].v, of[n].per, j->parts && n == COUNT(of) - 1);
	}
	assert_int_equal(shown, of[0].known + of[1].known + of[2].known + of[3].known + of[4].known);
}

static void judge_heat(struct judge *j)
{
	assert_int_equal(number_of(j->l.p, "step"), j->t->step);
	judge_picture(j, "rows");
	for (const char *p = strstr(j->l.p, "\"rows\"");
	     (p = strstr(p + 1, "{\"from\":")) && p < strchr(j->l.p, '\n');) {
		uint64_t from = strtoull(p + 8, NULL, 10);
		judge_values(j, p, j->t->heat[from ? 63 - __builtin_clzll(from) : 0], 1, false);
	}
}

static uint32_t fault_of(const char *line)
{
	uint32_t f = 0;

	while (f < FAULTS && !text_is(line, "error", fault_names[f]))
		f++;
	assert_true(f < FAULTS);
	return f;
}

static void judge_error(struct judge *j)
{
	line_want(&j->l, "count", j->t->faults[fault_of(j->l.p)]);
}

static void judge_error_log(struct judge *j)
{
	const struct truth *t = j->t;
	const struct fault_row *r = NULL;

	for (uint32_t i = 0; i < t->nfaults && !r; i++)
		if (t->fault[i].fault == fault_of(j->l.p) && t->fault[i].device == device_of(j->l.p) &&
		    t->fault[i].e->seen == number_of(j->l.p, "time") && is_place(j, "offset", t->fault[i].e))
			r = &t->fault[i];
	if (!r)
		fail_msg("trace %u: no such error: %.300s", j->l.trace, j->l.p);
	bool posted = types[r->e->type].class == POSTED, open = r->x != NULL;
	assert_true(text_is(j->l.p, "packet", types[r->e->type].name));
	assert_int_equal(who_of(j->l.p), r->e->who);
	if (types[r->e->type].class == COMPLETION)
		assert_true(
			text_is(j->l.p, "completer", t->w[r->device].t[r->e->txn].completer ? "00:11.0" : "00:10.0"));
	else
		want_near(&j->l, "completer", (double)NAN, 0);
	want_moment(j, "time", r->device, r->e->seen, r->e->time - t->w[r->device].e[0].time);
	line_want(&j->l, "tag", posted ? 0 : t->w[r->device].t[r->e->txn].tag);
	judge_place(j, "offset", r->e);
	if (!open) {
		want_near(&j->l, "request", (double)NAN, 0);
		want_near(&j->l, "address", (double)NAN, 0);
		want_near(&j->l, "latency", (double)NAN, 0);
		want_near(&j->l, "request_offset", (double)NAN, 0);
		return;
	}
	assert_true(text_is(j->l.p, "request", types[r->x->asked->type].name));
	line_want(&j->l, "address", r->x->asked->address);
	if (r->fault == UNANSWERED || r->e->seen == r->x->asked->seen)
		want_near(&j->l, "latency", (double)NAN, 0);
	else
		want_ticks(j, "latency", (double)(r->e->seen - r->x->asked->seen), 0,
			   (double)(r->e->time - r->x->asked->time));
	judge_place(j, "request_offset", r->x->asked);
}

static void judge_link(struct judge *j)
{
	const struct truth *t = j->t;
	uint64_t payload = 0, useful = 0, headers = t->extra, tlps = 0, relaxed = 0, written, asked;

	for (uint32_t i = 0; i < TYPES; i++) {
		payload += types[i].data ? t->whole[i] : 0;
		useful += types[i].data ? t->bytes[i] : 0;
		headers += t->tlps[i] * (types[i].wide ? 16 : 12);
		tlps += t->tlps[i];
		relaxed += t->relaxed[i];
	}
	written = t->whole[WRITE32] + t->whole[WRITE64];
	asked = t->whole[READ32] + t->whole[READ64];
	line_want(&j->l, "payload_bytes", payload);
	line_want(&j->l, "useful_bytes", useful);
	line_want(&j->l, "header_bytes", headers);
	line_want(&j->l, "framing_bytes", 8 * tlps);
	want_share(&j->l, "efficiency", useful, payload + headers + 8 * tlps);
	want_about(&j->l, SUM_WHO(posted_twice));
	want_share(&j->l, "write_enabled", t->bytes[WRITE32] + t->bytes[WRITE64], written);
	want_about(&j->l, SUM_WHO(posted_twice));
	want_share(&j->l, "read_enabled", t->bytes[READ32] + t->bytes[READ64], asked);
	want_share(&j->l, "relaxed", relaxed, tlps);
	want_about(&j->l, SUM_WHO(posted_twice));
}

static void judge_size(struct judge *j)
{
	static const char *const key[] = { "reads", "writes", "completions" };
	uint64_t from = number_of(j->l.p, "from") / 4, to = number_of(j->l.p, "to") / 4;

	line_want(&j->l, "from", 4 * from);
	line_want(&j->l, "to", 4 * to);
	for (uint32_t k = 0; k < COUNT(key); k++) {
		uint64_t n = 0;
		for (uint64_t i = from; i <= to; i++)
			n += j->t->size[k][i];
		line_want(&j->l, key[k], n);
	}
}

static double limit_of(const uint64_t a[1025], const uint64_t b[1025])
{
	double limit = (double)NAN;

	for (uint32_t i = 1; i <= 1024; i++) {
		limit = a[i] + b[i] && isnan(limit) ? 128 : limit;
		while (a[i] + b[i] && limit < 4 * i)
			limit *= 2;
	}
	return limit;
}

static void judge_split(struct judge *j)
{
	const struct truth *t = j->t;

	want_near(&j->l, "mps", limit_of(t->size[1], t->size[2]), 0);
	want_near(&j->l, "mrrs", limit_of(t->size[0], t->size[0]), 0);
	want_near(&j->l, "rcb", t->ends[1] ? 64 : t->ends[0] ? 128 : (double)NAN, 0);
	line_want(&j->l, "ends_128", t->ends[0]);
	line_want(&j->l, "ends_64", t->ends[1]);
	line_want(&j->l, "ends_odd", t->ends[2]);
}

static void judge_page(struct judge *j)
{
	struct device *d = &j->t->d[device_of(j->l.p)];
	uint64_t address = number_of(j->l.p, "address");
	uint32_t i = 0;

	while (i < d->npages && d->page[i].address != address)
		i++;
	assert_true(i < d->npages);
	line_want(&j->l, "address", address);
	line_want(&j->l, "tlps", d->page[i].tlps);
	line_want(&j->l, "read_bytes", d->page[i].read);
	line_want(&j->l, "written_bytes", d->page[i].written);
	line_want(&j->l, "several", d->page[i].several);
}

static void judge_msi(struct judge *j)
{
	const uint32_t device = device_of(j->l.p);
	struct device *d = &j->t->d[device];
	uint64_t address = number_of(j->l.p, "address"), start = j->t->w[device].e[0].time;
	uint32_t k = 0;

	while (k < WHO && d->target[k].address != address)
		k++;
	assert_true(k < WHO && k == who_of(j->l.p));
	const struct place *p = &d->target[k];
	line_want(&j->l, "address", address);
	line_want(&j->l, "writes", p->tlps);
	const bool longer = is_longer(j->t, device) || j->t->posted_twice;
	const enum mark mark = has_gaps(j->t, device) ? MARK_ABOUT : longer ? MARK_LEAST : MARK_ANY;
	const double steps = (double)(p->tlps - 1), took = (double)p->last - (double)p->first,
		     true_took = (double)p->true_last - (double)p->true_first;
	want_marked(&j->l, "mean_interval", floor(took / steps), 0, mark, true_took / steps);
	want_marked(&j->l, "per_million", took > 0 ? 1e6 * steps / took : (double)NAN, 1e-8,
		    mark == MARK_LEAST ? MARK_MOST : mark, 1e6 * steps / true_took);
	want_moment(j, "first", device, p->first, p->true_first - start);
	want_moment(j, "last", device, p->last, p->true_last - start);
}

static void judge_message(struct judge *j)
{
	line_want(&j->l, "code", INTA);
	line_want(&j->l, "count", j->t->messages);
}

static void judge_message_log(struct judge *j)
{
	const uint32_t device = device_of(j->l.p);
	const struct world *w = &j->t->w[device];
	uint32_t i = 0;

	while (i < w->n && (w->e[i].type != MESSAGE || w->e[i].missing || w->e[i].seen != number_of(j->l.p, "time") ||
			    !is_place(j, "offset", &w->e[i])))
		i++;
	assert_true(i < w->n && who_of(j->l.p) == w->e[i].who);
	want_moment(j, "time", device, w->e[i].seen, w->e[i].time - w->e[0].time);
	line_want(&j->l, "code", INTA);
	judge_place(j, "offset", &w->e[i]);
}

/* How many rows each table must have, and at most ROWS of them are shown. */
static uint64_t rows_of(const struct truth *t, const char *type)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < t->ndevices; i++) {
		const struct device *d = &t->d[i];
		n += strcmp(type, "device") == 0 ? 1 : strcmp(type, "page") == 0 ? d->npages : 0;
		for (uint32_t k = 0; k < WHO; k++)
			n += strcmp(type, "requester") == 0 ? d->who[k].tlps > 0 :
			     strcmp(type, "msi") == 0       ? d->target[k].tlps > 1 :
							      0;
		for (uint32_t k = 0; k < COMPLETERS; k++)
			n += strcmp(type, "completer") == 0 && d->completer[k].completions > 0;
	}
	for (uint32_t i = 0; i < TYPES; i++)
		n += strcmp(type, "tlp_type") == 0 && t->tlps[i];
	for (uint32_t i = 0; i < FAULTS; i++)
		n += strcmp(type, "error") == 0 && t->faults[i];
	n += strcmp(type, "gap") == 0 ? t->gaps : strcmp(type, "error_log") == 0 ? t->nfaults : 0;
	n += strcmp(type, "message") == 0 ? t->messages > 0 : strcmp(type, "message_log") == 0 ? t->messages : 0;
	n += strcmp(type, "latency") == 0 ?
		     2 * (t->last.n > 0) :
		     strcmp(type, "summary") == 0 || strcmp(type, "link") == 0 || strcmp(type, "split") == 0;
	return n;
}

static void judge_left_out(struct judge *j)
{
	char of[32] = "";

	sscanf(value_of(j->l.p, "of"), "\"%31[a-z_]", of);
	uint64_t all = rows_of(j->t, of), rows = number_of(j->l.p, "rows");
	assert_true(strcmp(of, "error_log") == 0 ? rows < all : rows == all - ROWS);
	line_want(&j->l, "rows", rows);
}

static void judge_bars(struct judge *j)
{
	judge_picture(j, "buckets");
	judge_buckets(j, latencies_of(j)->v, latencies_of(j)->n);
}

static const struct {
	const char *type;
	void (*judge)(struct judge *j);
	bool arrays; /* judged by itself */
} tables[] = {
	{ "summary", judge_summary, false },
	{ "device", judge_device, false },
	{ "gap", judge_gap, false },
	{ "tlp_type", judge_type, false },
	{ "requester", judge_requester, false },
	{ "completer", judge_completer, false },
	{ "latency", judge_latency, false },
	{ "latency_last", judge_bars, true },
	{ "latency_first", judge_bars, true },
	{ "time_line", judge_time_line, true },
	{ "latency_heat", judge_heat, true },
	{ "error", judge_error, false },
	{ "error_log", judge_error_log, false },
	{ "link", judge_link, false },
	{ "size", judge_size, false },
	{ "split", judge_split, false },
	{ "pieces", judge_pieces, true },
	{ "page", judge_page, false },
	{ "msi", judge_msi, false },
	{ "message", judge_message, false },
	{ "message_log", judge_message_log, false },
	{ "left_out", judge_left_out, false },
};

/* Every line is of a table that is known; what a trace can't tell is words. */
static void judge_report(uint32_t trace, struct truth *t, const char *json, const char *file, bool parts)
{
	struct judge j = { .t = t, .file = file, .parts = parts };

	for (const char *p = strchr(json, '\n') + 1; *p; p = strchr(p, '\n') + 1) {
		uint32_t k = 0;
		while (k < COUNT(tables) && !text_is(p, "type", tables[k].type))
			k++;
		if (k == COUNT(tables) && text_is(p, "type", "cannot_tell"))
			continue;
		if (k == COUNT(tables))
			fail_msg("trace %u: nobody knows %.200s", trace, p);
		j.l = (struct line){ .trace = trace, .p = p };
		j.rows[k]++;
		tables[k].judge(&j);
		if (!tables[k].arrays)
			line_judge(&j.l);
	}
	for (uint32_t k = 0; k < COUNT(tables); k++) {
		uint64_t rows = rows_of(t, tables[k].type);
		if (strcmp(tables[k].type, "error_log") == 0 ? j.rows[k] > rows || (rows && !j.rows[k]) :
							       rows && j.rows[k] != (rows < ROWS ? rows : ROWS))
			fail_msg("trace %u: %u rows of %s, and %u should be", trace, j.rows[k], tables[k].type,
				 (uint32_t)rows);
	}
}

/* ---- a trace --------------------------------------------------------------------------------- */

static int put(void *arg, const char *s, size_t n)
{
	buf_put(arg, s, n);
	return 0;
}

static int memory_put(void *arg, const void *p, size_t n)
{
	buf_put(arg, p, n);
	return 0;
}

static void make(struct world *w)
{
	make_packets(w);
	show_packets(w);
}

static void make_gaps(struct world *w, uint32_t n)
{
	for (uint32_t k = 1; k <= n; k++) {
		uint32_t from = k * w->n / 3 + below(w, 50), to = from + 5 + below(w, 60);

		for (uint32_t i = from; i < to && to < w->n; i++)
			w->e[i].missing = true;
	}
}

/* pause: as in struct world */
static void trace_write(struct truth *t, uint32_t trace, uint32_t pause, struct buf *file)
{
	static const uint8_t directions[2][5] = { { 2, 2, 0, 3, 2 }, { 2, 1, 0, 0, 3 } }; /* of 8DW 0: nothing tells */
	bool wide = trace & 1, delta = trace >> 1 & 1;
	uint8_t direction = directions[wide][trace / 2 % 5];
	bool told = !wide || direction != 0, peers = told && trace / 4 % 2;
	uint32_t gaps = trace / 3 % 3;
	const uint64_t config = told ? 0x07080001ull | (uint64_t)direction << 20 | (uint64_t)wide << 32 : 0;
	const uint8_t time = delta ? PTT_TIME_DELTA : PTT_TIME_ABS;
	struct ptt_device dev[DEVICES] = {
		{ .name = "hisi_ptt0_2", .pmu_type = 11, .config = config, .time = time },
		{ .name = "hisi_ptt2_0", .pmu_type = 13, .config = config, .time = time },
	};
	struct bytes_out out = { .arg = file, .put = memory_put };
	struct ptt_writer *writer;
	struct err e = { 0 };

	t->ndevices = 1 + trace % 3 / 2;
	assert_int_equal(ptt_writer_open(&writer, &out, dev, t->ndevices, &e), 0);
	for (uint32_t d = 0; d < t->ndevices; d++) {
		struct world *w = &t->w[d];
		*w = (struct world){ .random = trace * 2 + d + 1,
				     .wide = wide,
				     .delta = delta,
				     .peers = peers,
				     .told = told,
				     .direction = direction,
				     .pause = pause };
		make(w);
		make_gaps(w, gaps);
		assert_int_equal(record(w, writer, d), 0);
		times_seen(w);
	}
	assert_int_equal(ptt_writer_close(writer), 0);
}

/* So many bins as there may be, each of a power of two. */
static uint64_t step_of(const struct truth *t)
{
	uint64_t span = 0, step = 1;

	for (uint32_t d = 0; d < t->ndevices; d++)
		span = t->w[d].e[t->w[d].n - 1].seen > span ? t->w[d].e[t->w[d].n - 1].seen : span;
	while (span / step >= BINS)
		step *= 2;
	return step;
}

static void one_trace(struct truth *t, uint32_t trace, uint32_t pause)
{
	struct buf file = { 0 }, json = { 0 };
	char path[] = "/tmp/tally-truth-XXXXXX";
	int fd = mkstemp(path);

	memset(t, 0, sizeof(*t));
	trace_write(t, trace, pause, &file);
	t->step = step_of(t);
	for (uint32_t d = 0; d < t->ndevices; d++)
		count_device(t, d);
	assert_int_equal(write(fd, file.p, file.n), (ssize_t)file.n);
	close(fd);
	for (uint32_t threads = 1; threads <= 2; threads++) {
		struct tally_ptt_opts o = { .size = sizeof(o) };
		struct tally_ptt_report_opts r = {
			.size = sizeof(r), .out = put, .arg = &json, .format = TALLY_FORMAT_JSON, .threads = threads
		};
		struct tally_ptt *h;

		buf_clear(&json);
		assert_int_equal(tally_ptt_open(&h, &o), 0);
		assert_int_equal(tally_ptt_file(h, path), 0);
		assert_int_equal(tally_ptt_report(h, &r), 0);
		judge_report(trace, t, json.p, file.p, threads > 1);
		tally_ptt_close(h);
	}
	unlink(path);
	buf_free(&json);
	buf_free(&file);
}

static void every_figure_of_200_traces_is_the_truth(void **state)
{
	struct truth *t = mem_alloc(sizeof(*t));

	(void)state;
	for (uint32_t trace = 0; trace < TRACES; trace++)
		one_trace(t, trace, 0);
	mem_free(t);
}

/* Every second transaction comes after a pause that 11 bits can't tell, or only a few do, which no rule can find. */
static void every_figure_of_120_sparse_traces_is_the_truth_or_a_bound_of_it_or_unknown(void **state)
{
	struct truth *t = mem_alloc(sizeof(*t));

	(void)state;
	for (uint32_t trace = TRACES; trace < TRACES + 60; trace++) {
		one_trace(t, trace, 2);
		one_trace(t, trace, 60);
	}
	mem_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_figure_of_200_traces_is_the_truth),
		cmocka_unit_test(every_figure_of_120_sparse_traces_is_the_truth_or_a_bound_of_it_or_unknown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
