/*
 * cut_test.c: `report --json` of traces from which records were cut out without a word.
 *
 * Traces are those of truth_test_int.h, but tags are as scarce as in real ones, so a completion behind the cut often
 * meets another's request in front of it.  Sizes, offsets and flags agree, as they do where somebody cut the trace, so
 * only the records can tell.  The truth is about the records that are in the file: whose request and last completion
 * are there was answered, and its latency is what their times say. Each figure is right, or it is marked: `at_most` and
 * not less, or `approximate`.  A trace that nothing was cut out of has no mark.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>
#include <math.h>
#include <cmocka.h>

#include "capture/capture.h"
#include "capture/truth_test_int.h"
#include "capture/truth_value_test_int.h"

enum { TRACES = 240, TAGS = 256 };

/* ---- traces ---------------------------------------------------------------------------------- */

/* Tags that were given back last are taken first, of few or many.  Reads of one tag that follow each other differ in
 * their addresses' low bits: otherwise the completion of the one could not be told from that of the other, by
 * anybody. */
static void tags_assign(struct world *w, uint32_t most)
{
	uint64_t free_at[WHO][TAGS] = { 0 }, last[TXNS] = { 0 };
	uint32_t uses[WHO][TAGS] = { 0 };
	bool begun[TXNS] = { 0 };

	for (uint32_t i = 0; i < w->n; i++)
		if (types[w->e[i].type].class != POSTED)
			last[w->e[i].txn] = w->e[i].time;
	for (uint32_t i = 0; i < w->n; i++) {
		const struct event *e = &w->e[i];
		uint64_t *free = free_at[e->who];
		uint32_t tag = TAGS;

		if (types[e->type].class != NON_POSTED || begun[e->txn])
			continue;
		begun[e->txn] = true;
		for (uint32_t k = 0; k < most; k++)
			if (free[k] < e->time && (tag == TAGS || free[k] > free[tag]))
				tag = k;
		for (uint32_t k = most; tag == TAGS; k++)
			tag = free[k] < e->time ? k : TAGS;
		w->t[e->txn].tag = tag;
		free[tag] = last[e->txn];
		const uint32_t use = uses[e->who][tag]++;
		for (uint32_t k = i; k < w->n; k++)
			if (w->e[k].txn == e->txn && types[w->e[k].type].class != POSTED)
				w->e[k].address += 4 * (use % 16);
	}
}

/* A DMA read's completions are shown where the direction shows those between devices alone: it is between devices
 * then. */
static void world_make(struct world *w, uint32_t trace)
{
	*w = (struct world){ .random = trace * 7 + 1,
			     .wide = trace & 1,
			     .delta = trace >> 1 & 1,
			     .peers = trace >> 2 & 1 || (trace & 1),
			     .told = true,
			     .sound = true,
			     .silent = true,
			     .direction = 2 };
	make_packets(w);
	tags_assign(w, 2u << below(w, 6));
	show_packets(w);
}

static void world_cut(struct world *w)
{
	static const uint32_t sizes[] = { 1, 1, 2, 3, 5, 10, 20, 50, 200 };

	for (uint32_t n = 1 + below(w, 3); n > 0; n--) {
		const uint32_t from = w->n / 20 + below(w, w->n * 9 / 10), most = sizes[below(w, COUNT(sizes))];

		for (uint32_t i = from; i < from + most && i + 5 < w->n; i++)
			w->e[i].missing = true;
	}
	times_seen(w);
}

/* ---- what is true of the records that are there ---------------------------------------------- */

struct figures {
	uint64_t v[TXNS]; /* latencies to the last completion */
	uint32_t n;
	uint64_t answered, span, records;
	double outstanding;
	uint64_t least; /* of all transactions as they were, whether they are in the file or not */
};

static int by_value(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static double figures_rank(const struct figures *f, uint32_t per_mille)
{
	const uint32_t nth = (f->n * per_mille + 999) / 1000;

	return f->n ? (double)f->v[nth ? nth - 1 : 0] : (double)NAN;
}

static double figures_mean(const struct figures *f)
{
	double sum = 0;

	for (uint32_t i = 0; i < f->n; i++)
		sum += (double)f->v[i];
	return f->n ? sum / f->n : (double)NAN;
}

/* The last record of a transaction's last completion, in either of its places. */
static bool event_ends(const struct event *e)
{
	return types[e->type].class == COMPLETION && e->left <= 4 * e->dws;
}

/* All of `who`; WHO: of all. Of a packet that is there twice the first record counts that is in the file. as_were:
 * latencies are what they were, whatever the file knows of it. */
static void count_figures(const struct world *w, uint32_t who, bool as_were, struct figures *f)
{
	const struct event *asked[TXNS] = { 0 }, *done[TXNS] = { 0 };
	uint64_t begun[TXNS] = { 0 }, over[TXNS] = { 0 }; /* as it was, whether it is in the file or not */
	uint64_t first = UINT64_MAX, last = 0;

	*f = (struct figures){ .least = UINT64_MAX };
	for (uint32_t i = 0; i < w->n; i++) {
		const struct event *e = &w->e[i];
		const struct event **to = types[e->type].class == NON_POSTED ? &asked[e->txn] :
					  event_ends(e)                      ? &done[e->txn] :
									       NULL;

		if (types[e->type].class == NON_POSTED && begun[e->txn] == 0)
			begun[e->txn] = e->time;
		if (event_ends(e) && over[e->txn] == 0)
			over[e->txn] = e->time;
		first = i == 0 ? e->time : first;
		last = e->time;
		if (e->missing)
			continue;
		f->records++;
		if (to && !*to)
			*to = e;
	}
	f->span = last - first;
	for (uint32_t i = 0; i < TXNS; i++) {
		if (w->t[i].who == HOST || (who != WHO && w->t[i].who != who) || !asked[i])
			continue;
		f->outstanding += over[i] ? (double)(over[i] - begun[i]) : 0;
		f->least = over[i] && over[i] - begun[i] < f->least ? over[i] - begun[i] : f->least;
		if (!done[i])
			continue;
		f->answered++;
		f->v[f->n++] = as_were ? over[i] - begun[i] : done[i]->seen - asked[i]->seen;
	}
	f->outstanding /= (double)f->span;
	qsort(f->v, f->n, sizeof(*f->v), by_value);
}

/* ---- the report ------------------------------------------------------------------------------ */

struct judge {
	const char *line;
	uint32_t trace, false_figures, marks;
};

static void judge_figure(struct judge *j, const char *key, double is, double within)
{
	const char *p = value_of(j->line, key);
	const bool about = list_has(j->line, "approximate", key), at_most = list_has(j->line, "at_most", key);

	assert_non_null(p);
	const double got = strncmp(p, "null", 4) == 0 ? (double)NAN : strtod(p, NULL);
	const bool right = isnan(got) ? isnan(is) : fabs(got - is) <= within * is + 1e-7;
	/* an average over a span that is a lower bound is approximate in a whole trace, too */
	j->marks += (about || at_most) && !(strcmp(key, "outstanding_mean") == 0 && value_of(j->line, "span_at_least"));
	j->false_figures += !right;
	if (!right && !about && !(at_most && got >= is))
		fail_msg("trace %u: %s is %f, and nothing says that it may not be %f: %.*s", j->trace, key, is, got,
			 (int)strcspn(j->line, "\n"), j->line);
}

static const char *next_line(const char *json, const char *type)
{
	char begin[32];

	snprintf(begin, sizeof(begin), "\n{\"type\":\"%s\",", type);
	const char *p = strstr(json, begin);
	return p ? p + 1 : NULL;
}

static void judge_latencies(struct judge *j, const struct figures *f)
{
	judge_figure(j, "requests", f->n, 0);
	judge_figure(j, "min", figures_rank(f, 0), 0);
	judge_figure(j, "mean", figures_mean(f), 1e-7);
	judge_figure(j, "p50", figures_rank(f, 500), 0.01);
	judge_figure(j, "p90", figures_rank(f, 900), 0.01);
	judge_figure(j, "p99", figures_rank(f, 990), 0.01);
	judge_figure(j, "p999", figures_rank(f, 999), 0.01);
	judge_figure(j, "max", figures_rank(f, 1000), 0);
}

static void judge_summary(struct judge *j, const struct world *w, const struct figures *f)
{
	judge_figure(j, "records", (double)f->records, 0);
	judge_figure(j, "answered", (double)f->answered, 0);
	judge_figure(j, "failed", 0, 0);
	judge_figure(j, "unanswered", 0, 0);
	judge_figure(j, "given_up", 0, 0);
	judge_figure(j, "unexpected_completions", 0, 0);
	judge_figure(j, "tag_reuse", 0, 0);
	if (!w->wide)
		judge_figure(j, "outstanding_mean", f->outstanding, 0.02);
	const double span = (double)number_of(j->line, "span"), is = (double)f->span;
	const bool at_least = value_of(j->line, "span_at_least");
	if (at_least ? span > is : span != is)
		fail_msg("trace %u: ticks are %f, and %f are told%s", j->trace, is, span, at_least ? " at least" : "");
}

static void judge_requesters(struct judge *j, const struct world *w, const char *json)
{
	for (uint32_t who = 0; who < ENDPOINTS; who++) {
		struct figures f;
		char begin[64];

		count_figures(w, who, false, &f);
		snprintf(begin, sizeof(begin), "{\"type\":\"requester\",\"requester\":\"01:00.%u\"", who);
		j->line = strstr(json, begin);
		if (!j->line)
			continue;
		judge_figure(j, "latency_p50", figures_rank(&f, 500), 0.01);
		judge_figure(j, "latency_p99", figures_rank(&f, 990), 0.01);
		judge_figure(j, "latency_max", figures_rank(&f, 1000), 0);
		judge_figure(j, "answered", (double)f.answered, 0);
		judge_figure(j, "unanswered", 0, 0);
		judge_figure(j, "given_up", 0, 0);
	}
}

static int json_put(void *arg, const char *s, size_t n)
{
	buf_put(arg, s, n);
	return 0;
}

static int memory_put(void *arg, const void *p, size_t n)
{
	buf_put(arg, p, n);
	return 0;
}

static void world_report(struct world *w, const char *path, uint32_t threads, struct buf *json)
{
	const uint64_t config = 0x07080001ull | (uint64_t)w->direction << 20 | (uint64_t)w->wide << 32;
	const struct ptt_device dev = { .name = "hisi_ptt0_2",
					.pmu_type = 11,
					.config = config,
					.time = w->delta ? PTT_TIME_DELTA : PTT_TIME_ABS };
	struct tally_ptt_opts o = { .size = sizeof(o) };
	struct tally_ptt_report_opts r = {
		.size = sizeof(r), .out = json_put, .arg = json, .format = TALLY_FORMAT_JSON, .threads = threads
	};
	struct buf file = { 0 };
	struct bytes_out out = { .arg = &file, .put = memory_put };
	struct ptt_writer *writer;
	struct err e = { 0 };
	struct tally_ptt *h;
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_int_equal(ptt_writer_open(&writer, &out, &dev, 1, &e), 0);
	assert_int_equal(record(w, writer, 0), 0);
	assert_int_equal(ptt_writer_close(writer), 0);
	assert_int_equal(fwrite(file.p, 1, file.n, f), file.n);
	fclose(f);
	buf_free(&file);
	assert_int_equal(tally_ptt_open(&h, &o), 0);
	assert_int_equal(tally_ptt_file(h, path), 0);
	assert_int_equal(tally_ptt_report(h, &r), 0);
	tally_ptt_close(h);
}

/* Returns whether the report says that records are missing, or may be. */
static bool trace_judge(struct judge *j, struct world *w, uint32_t threads)
{
	char path[] = "/tmp/tally-cut-XXXXXX";
	struct buf json = { 0 };
	struct figures f;

	close(mkstemp(path));
	world_report(w, path, threads, &json);
	unlink(path);
	count_figures(w, WHO, false, &f);
	j->line = next_line(json.p, "summary");
	assert_non_null(j->line);
	const bool told = value_of(j->line, "records_may_be_missing") || value_of(j->line, "gaps");
	judge_summary(j, w, &f);
	for (const char *p = json.p; (p = next_line(p, "latency")) != NULL;)
		if (text_is(p, "to", "last completion")) {
			j->line = p;
			judge_latencies(j, &f);
		}
	judge_requesters(j, w, json.p);
	buf_free(&json);
	return told;
}

static void figures_of_cut_traces_were_false_without_a_mark(void **state)
{
	struct judge all = { 0 };
	struct world *w = mem_alloc(sizeof(*w));
	uint32_t told = 0;

	(void)state;
	for (uint32_t trace = 0; trace < TRACES; trace++) {
		struct judge j = { .trace = trace };

		world_make(w, trace);
		world_cut(w);
		told += trace_judge(&j, w, 1 + trace % 5 / 4);
		all.false_figures += j.false_figures;
	}
	mem_free(w);
	assert_true(all.false_figures > TRACES); /* there was something to mark */
	assert_true(told > TRACES / 2);
}

static void a_trace_that_nothing_was_cut_out_of_has_no_mark(void **state)
{
	struct world *w = mem_alloc(sizeof(*w));

	(void)state;
	for (uint32_t trace = 0; trace < TRACES; trace++) {
		struct judge j = { .trace = trace };

		world_make(w, trace);
		times_seen(w);
		const bool told = trace_judge(&j, w, 1);
		if (told || j.marks || j.false_figures)
			fail_msg("trace %u: %u marks, %u false figures%s", trace, j.marks, j.false_figures,
				 told ? ", and records are said to be missing" : "");
	}
	mem_free(w);
}

/* The records say the same as of a trace that is whole, so without a sign nobody can know. */
static void latencies_over_missing_deltas_were_too_short_without_a_mark_where_a_sign_was_seen(void **state)
{
	struct world *w = mem_alloc(sizeof(*w));
	struct judge all = { 0 };

	(void)state;
	for (uint32_t trace = 0; trace < 4 * TRACES; trace++) {
		char path[] = "/tmp/tally-cut-XXXXXX";
		struct judge j = { .trace = trace };
		struct buf json = { 0 };
		struct figures f;

		world_make(w, trace);
		if (w->wide && !w->delta)
			continue;
		world_cut(w);
		close(mkstemp(path));
		world_report(w, path, 1, &json);
		unlink(path);
		count_figures(w, WHO, true, &f);
		j.line = next_line(json.p, "summary");
		assert_non_null(j.line);
		const bool told = value_of(j.line, "records_may_be_missing");
		for (const char *p = json.p; told && (p = next_line(p, "latency")) != NULL;)
			if (text_is(p, "to", "last completion")) {
				j.line = p;
				judge_latencies(&j, &f);
			}
		all.false_figures += j.false_figures;
		assert_true(!w->delta || strstr(json.p, "a record that is missing takes its time with it"));
		buf_free(&json);
	}
	mem_free(w);
	assert_true(all.false_figures > TRACES);
}

/* Its latency counts from the other record, at the other port. */
static void a_packet_whose_first_record_is_in_a_gap_made_the_least_latency_too_short_without_a_mark(void **state)
{
	struct world *w = mem_alloc(sizeof(*w));
	uint32_t too_short = 0;

	(void)state;
	for (uint32_t trace = 4; trace < TRACES; trace += 8) { /* 4DW between devices, absolute times */
		char path[] = "/tmp/tally-cut-XXXXXX";
		struct buf json = { 0 };
		struct figures f;
		uint32_t which = 0;

		world_make(w, trace);
		w->silent = false;
		for (uint32_t i = w->n / 4, n = 0; i < w->n && n < 8;
		     i++) { /* the first record of some of their requests */
			const struct event *e = &w->e[i];

			if (types[e->type].class != NON_POSTED || w->t[e->txn].who != 1 || which == e->txn)
				continue;
			which = e->txn;
			w->e[i].missing = true;
			n++;
		}
		times_seen(w);
		close(mkstemp(path));
		world_report(w, path, 1, &json);
		unlink(path);
		count_figures(w, WHO, true, &f);
		for (const char *p = json.p; (p = next_line(p, "latency")) != NULL;)
			if (text_is(p, "to", "last completion")) {
				const bool is = number_of(p, "min") < f.least;

				too_short += is;
				if (is && !list_has(p, "approximate", "min"))
					fail_msg("trace %u: the least latency is told as %lu, and none was below %lu",
						 trace, (unsigned long)number_of(p, "min"), (unsigned long)f.least);
			}
		buf_free(&json);
	}
	mem_free(w);
	assert_true(too_short > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(figures_of_cut_traces_were_false_without_a_mark),
		cmocka_unit_test(latencies_over_missing_deltas_were_too_short_without_a_mark_where_a_sign_was_seen),
		cmocka_unit_test(
			a_packet_whose_first_record_is_in_a_gap_made_the_least_latency_too_short_without_a_mark),
		cmocka_unit_test(a_trace_that_nothing_was_cut_out_of_has_no_mark),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
