/*
 * truth_test.c: `report --json` of 200 traces against a truth that shares nothing with what it is held against.
 *
 * A trace is made here, packet by packet, and each packet knows its transaction.  So the truth needs no tags: what is recorded
 * of a transaction is looked up, and its figures are added up in the plainest way.  Traces are of both formats and
 * both times, of one device or two, with holes, with AUX data cut anywhere, and with packets between devices that are
 * recorded at both ports.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "capture/capture.h"

enum { TRACES = 200, TXNS = 300, EVENTS = 8 * TXNS, WHO = 3, DEVICES = 2 };

enum what { ASK, ANSWER, WRITE };
struct event {
	uint64_t time;             /* of the machine */
	uint64_t seen;             /* as records tell it */
	uint32_t txn, bytes, left; /* left: Byte Count */
	uint8_t what, who;
	bool second, gone; /* at the other port; in a hole */
};
struct txn {
	uint64_t asked, first, done;
	bool seen, answered, cut;
	uint8_t who, pieces;
};
struct world {
	uint64_t random;
	struct event e[EVENTS];
	uint32_t n, ntxn;
	struct txn t[TXNS + 1];
	uint64_t holes, hole_bytes;
	uint32_t hole[2][2]; /* events from and to */
	uint32_t nholes;
};
/* What a report should say. */
struct truth {
	uint64_t records, posted, non_posted, completions, answered, unanswered, cut, behind, holes, hole_bytes,
		seconds, span;
	uint64_t reads[WHO], writes[WHO], read_bytes[WHO], written[WHO], latency[DEVICES * TXNS], nlatency, first_sum,
		ticks, peak;
	double mean;
};

static uint32_t below(struct world *w, uint32_t n)
{
	w->random = w->random * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)((w->random >> 33) % n);
}

/* ---- a trace ------------------------------------------------------------------------------------------- */

static void add(struct world *w, uint64_t time, enum what what, uint32_t txn, uint32_t who, uint32_t bytes,
		uint32_t left, bool second)
{
	w->e[w->n++] = (struct event){ .time = time,
				       .what = (uint8_t)what,
				       .txn = txn,
				       .who = (uint8_t)who,
				       .bytes = bytes,
				       .left = left,
				       .second = second };
}

static int by_time(const void *a, const void *b)
{
	const struct event *x = a, *y = b;

	return (x->time > y->time) - (x->time < y->time);
}

/* Each time is another one, and no gap is 2048 or more: packets that find their moment taken come later. */
static void make(struct world *w, bool peers)
{
	uint64_t now = 1000;

	for (uint32_t i = 0; i < TXNS; i++, now += 60 + below(w, 500)) {
		uint32_t who = below(w, WHO), bytes = 64u << below(w, 4), pieces = bytes > 128 ? 1 + below(w, 2) : 1;
		uint64_t wait = 400 + below(w, 1500), later = peers && who == 1 ? 90 + below(w, 60) : 0;

		add(w, now + below(w, 40), WRITE, i, who, 64, 0, false);
		add(w, now, ASK, i, who, bytes, 0, false);
		if (later)
			add(w, now + later, ASK, i, who, bytes, 0, true);
		if (below(w, 100) == 0)
			continue; /* never answered */
		for (uint32_t k = 0; k < pieces; k++) {
			uint32_t size = bytes / pieces, left = bytes - k * size;
			uint64_t at = now + later + wait + 200ull * k;

			add(w, at, ANSWER, i, who, size, left, false);
			if (later)
				add(w, at + later, ANSWER, i, who, size, left, true);
		}
	}
	qsort(w->e, w->n, sizeof(*w->e), by_time);
	for (uint32_t i = 1; i < w->n; i++)
		if (w->e[i].time <= w->e[i - 1].time)
			w->e[i].time = w->e[i - 1].time + 1;
}

static void make_holes(struct world *w, uint32_t n)
{
	for (; w->nholes < n; w->nholes++) {
		uint32_t from = (w->nholes + 1) * w->n / 3 + below(w, 50), to = from + 5 + below(w, 60);

		w->hole[w->nholes][0] = from;
		w->hole[w->nholes][1] = to;
		for (uint32_t i = from; i < to; i++)
			w->e[i].gone = true;
	}
}

/* Of a read of 64 bits, a write of 64 bits, a completion with data (PCI Express r5.0, 2.2). */
static void encode(const struct event *e, bool wide, uint32_t time, uint8_t *to)
{
	uint32_t tag = e->what == WRITE ? 0 : e->txn % 1024, high = (tag >> 9 & 1) << 23 | (tag >> 8 & 1) << 19;
	uint32_t id = (0x100u + e->who) << 16 | (tag & 0xff) << 8, len = e->bytes / 4, dw[8] = { 0 };
	uint32_t h[4] = { (e->what == ASK ?
				   0x20u :
			   e->what == WRITE ?
				   0x60u :
				   0x4au) << 24 |
				  high | len,
			  id | 0xff, 1 + e->who, (e->txn + 1) * 4096 };

	if (e->what == ANSWER) {
		h[1] = 0x00800000 | e->left;
		h[2] = id;
		h[3] = 0;
	}
	if (wide) {
		dw[0] = UINT32_MAX;
		memcpy(&dw[2], h, sizeof(h));
		dw[7] = time;
	} else {
		dw[0] = (h[0] >> 29 & 3) << 30 | (h[0] >> 24 & 0x1f) << 25 | (h[0] >> 23 & 1) << 24 |
			(h[0] >> 19 & 1) << 23 | len << 11 | (time & 0x7ff);
		memcpy(&dw[1], &h[1], 12);
	}
	memcpy(to, dw, wide ? 32 : 16);
}

/* The device's records in commits: cut anywhere, and with the holes left out. */
static void record(struct world *w, struct ptt_writer *out, uint32_t device, bool wide, bool delta)
{
	size_t size = wide ? 32 : 16, from = 0, n = 0;
	static uint8_t bytes[EVENTS * 32];
	uint64_t last = w->e[0].time, lost = 0;

	for (uint32_t i = 0; i <= w->n; i++) {
		bool end = i == w->n || w->e[i].gone;

		while (from < n) { /* a hole ends a commit, and chance does */
			size_t piece = below(w, 4) ? n - from : below(w, (uint32_t)(n - from)) + 1;
			if (!end && n - from < 40 * size)
				break;
			assert_int_equal(ptt_writer_aux(out, device, bytes + from, piece, 0), 0);
			from += piece;
		}
		if (i == w->n)
			break;
		uint64_t step = w->e[i].time - last;
		last = w->e[i].time;
		if (w->e[i].gone) {
			lost++;
			continue;
		}
		if (lost)
			ptt_writer_lost(out, device, lost * size);
		lost = 0;
		encode(&w->e[i], wide, (uint32_t)(delta ? step : w->e[i].time), bytes + n);
		n += size;
	}
}

/* ---- the truth ------------------------------------------------------------------------------------------ */

/* Over a hole only the last step is known of deltas, and of 11 bits only what is left. */
static void times(struct world *w, bool wide, bool delta)
{
	uint64_t now = 0, recorded = w->e[0].time;

	for (uint32_t i = 0; i < w->n; i++) {
		uint64_t step = w->e[i].time - (delta && i ? w->e[i - 1].time : recorded);
		if (w->e[i].gone)
			continue;
		now += wide ? step : step & 0x7ff;
		recorded = w->e[i].time;
		w->e[i].seen = now;
	}
}

static int by_value(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static void add_up(struct world *w, size_t size, struct truth *t)
{
	uint64_t open[WHO] = { 0 }, span = 0, ticks = 0, peak = 0, hole = 0, last_hole = 0;
	bool heard[WHO] = { false };

	for (uint32_t i = 0; i < w->n; i++) {
		struct event *e = &w->e[i];
		struct txn *x = &w->t[e->txn];

		if (e->gone) {
			hole++;
			for (uint32_t k = 0; k < TXNS && hole == 1; k++)
				if (w->t[k].seen && !w->t[k].answered && !w->t[k].cut) {
					w->t[k].cut = true;
					t->cut++;
					ticks += span - w->t[k].asked;
					open[w->t[k].who]--;
				}
			t->hole_bytes += size;
			t->holes += hole == 1;
			last_hole = 1;
			continue;
		}
		hole = 0;
		t->records++;
		t->seconds += e->second;
		span = e->seen;
		if (e->second)
			continue;
		if (e->what == WRITE) {
			t->posted++;
			t->writes[e->who]++;
			t->written[e->who] += e->bytes;
		} else if (e->what == ASK) {
			*x = (struct txn){ .asked = span, .seen = true, .who = e->who };
			t->non_posted++;
			t->reads[e->who]++;
			open[e->who]++;
		} else {
			t->completions++;
			t->read_bytes[e->who] += e->bytes;
			if (!x->seen || x->cut) {
				assert_int_equal(last_hole, 1);
				t->behind++;
				continue;
			}
			heard[e->who] = true;
			x->first = x->pieces++ ? x->first : span - x->asked;
		}
		uint64_t all = 0;
		for (uint32_t k = 0; k < WHO; k++)
			all += heard[k] ? open[k] : 0;
		peak = all > peak ? all : peak;
		if (e->what == ANSWER && e->left == e->bytes) {
			x->answered = true;
			t->answered++;
			t->latency[t->nlatency++] = span - x->asked;
			t->first_sum += x->first;
			ticks += span - x->asked;
			open[e->who]--;
		}
	}
	for (uint32_t k = 0; k < TXNS; k++)
		if (w->t[k].seen && !w->t[k].answered && !w->t[k].cut) {
			t->unanswered++;
			ticks += span - w->t[k].asked;
		}
	if (span && (double)ticks / (double)span > t->mean) {
		t->mean = (double)ticks / (double)span;
		t->peak = peak;
	}
	t->span = span > t->span ? span : t->span;
}

/* ---- the report ------------------------------------------------------------------------------------------- */

static int put(void *arg, const char *s, size_t n)
{
	buf_put(arg, s, n);
	return 0;
}

/* The number of key in the line of JSON that begins with `head`; 0 where it isn't. */
static double number(const struct buf *json, const char *head, const char *key)
{
	const char *p = strstr(json->p, head), *end = p ? strchr(p, '\n') : NULL;
	char text[64];

	snprintf(text, sizeof(text), "\"%s\":", key);
	const char *at = p ? strstr(p, text) : NULL;
	if (!at || at > end)
		return 0;
	return strncmp(at + strlen(text), "true", 4) == 0 ? 1 : strtod(at + strlen(text), NULL);
}

#define SUMMARY "{\"type\":\"summary\""
#define IS(json, key, want)                                                                                       \
	do {                                                                                                      \
		double got_ = number(json, SUMMARY, key);                                                         \
		if (got_ != (double)(want))                                                                       \
			fail_msg("trace %u: %s is %.0f, should be %.0f: %s", trace, key, got_, (double)(want),    \
				 strstr(json->p, "{\"type\":\"lost") ? strstr(json->p, "{\"type\":\"lost") : ""); \
	} while (0)

static void near(uint32_t trace, const char *what, double got, double want, double within)
{
	if (got < want * (1 - within) - 1e-6 || got > want * (1 + within) + 1e-6)
		fail_msg("trace %u: %s is %f, should be %f", trace, what, got, want);
}

static uint64_t rank(const struct truth *t, uint32_t per_mille)
{
	return t->latency[(t->nlatency * per_mille + 999) / 1000 - 1];
}

static void judge(uint32_t trace, const struct buf *json, struct truth *t, uint32_t devices)
{
	static const char last[] = "{\"type\":\"latency\",\"to\":\"last completion\"",
			  first[] = "{\"type\":\"latency\",\"to\":\"first completion\"";
	uint64_t sum = 0;

	IS(json, "records", t->records);
	IS(json, "posted", t->posted);
	IS(json, "non_posted", t->non_posted);
	IS(json, "completions", t->completions);
	IS(json, "answered", t->answered);
	IS(json, "unanswered", t->unanswered);
	IS(json, "cut", t->cut);
	IS(json, "behind_hole", t->behind);
	IS(json, "holes", t->holes);
	IS(json, "hole_bytes", t->hole_bytes);
	IS(json, "span_at_least", t->holes != 0);
	IS(json, "seconds", t->seconds);
	IS(json, "devices", devices);
	IS(json, "span", t->span);
	IS(json, "outstanding_peak", t->peak);
	for (const char *const *key = (const char *const[]){ "orphans", "tag_reuse", "given_up", "failed",
							     "unanswerable", "padding", NULL };
	     *key; key++)
		IS(json, *key, 0);
	near(trace, "outstanding_mean", number(json, SUMMARY, "outstanding_mean"), t->mean, 1e-6);
	qsort(t->latency, t->nlatency, sizeof(*t->latency), by_value);
	for (uint64_t i = 0; i < t->nlatency; i++)
		sum += t->latency[i];
	assert_true(number(json, last, "requests") == (double)t->nlatency);
	assert_true(number(json, last, "min") == (double)t->latency[0]);
	assert_true(number(json, last, "max") == (double)t->latency[t->nlatency - 1]);
	near(trace, "mean", number(json, last, "mean"), (double)sum / (double)t->nlatency, 1e-6);
	near(trace, "mean to the first", number(json, first, "mean"), (double)t->first_sum / (double)t->nlatency, 1e-6);
	near(trace, "p50", number(json, last, "p50"), (double)rank(t, 500), 0.01);
	near(trace, "p90", number(json, last, "p90"), (double)rank(t, 900), 0.01);
	near(trace, "p99", number(json, last, "p99"), (double)rank(t, 990), 0.01);
	near(trace, "p999", number(json, last, "p999"), (double)rank(t, 999), 0.01);
	for (uint32_t k = 0; k < WHO && devices == 1; k++) {
		char head[64];

		snprintf(head, sizeof(head), "{\"type\":\"requester\",\"requester\":\"01:00.%u\"", k);
		assert_true(number(json, head, "reads") == (double)t->reads[k]);
		assert_true(number(json, head, "writes") == (double)t->writes[k]);
		assert_true(number(json, head, "read_bytes") == (double)t->read_bytes[k]);
		assert_true(number(json, head, "written_bytes") == (double)t->written[k]);
	}
}

static int memory_put(void *arg, const void *p, size_t n)
{
	buf_put(arg, p, n);
	return 0;
}

static void one_trace(uint32_t trace)
{
	bool wide = trace & 1, delta = trace >> 1 & 1, peers = trace % 5 == 0 && !wide;
	uint32_t devices = 1 + trace % 3 / 2, holes = peers ? 0 : trace / 4 % 3;
	struct ptt_device dev[DEVICES] = {
		{ .name = "hisi_ptt0_2",
		  .pmu_type = 11,
		  .config = 0x07280001ull | (uint64_t)wide << 32,
		  .time = delta ? PTT_TIME_DELTA : PTT_TIME_ABS },
		{ .name = "hisi_ptt2_0",
		  .pmu_type = 13,
		  .config = 0x07280001ull | (uint64_t)wide << 32,
		  .time = delta ? PTT_TIME_DELTA : PTT_TIME_ABS },
	};
	struct buf file = { 0 }, json = { 0 };
	struct bytes_out out = { .arg = &file, .put = memory_put };
	static struct world w;
	static struct truth t;
	struct ptt_writer *writer;
	struct err e = { 0 };
	char path[] = "/tmp/tally-truth-XXXXXX";
	int fd = mkstemp(path);

	t = (struct truth){ 0 };
	assert_int_equal(ptt_writer_open(&writer, &out, dev, devices, &e), 0);
	for (uint32_t d = 0; d < devices; d++) {
		w = (struct world){ .random = trace * 2 + d + 1 };
		make(&w, peers);
		make_holes(&w, holes);
		record(&w, writer, d, wide, delta);
		times(&w, wide, delta);
		add_up(&w, wide ? 32 : 16, &t);
	}
	assert_int_equal(ptt_writer_close(writer), 0);
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
		if (threads == 2) /* a bound then */
			t.peak = (uint64_t)number(&json, SUMMARY, "outstanding_peak");
		judge(trace, &json, &t, devices);
		tally_ptt_close(h);
	}
	unlink(path);
	buf_free(&json);
	buf_free(&file);
}

static void every_figure_of_200_traces_is_the_truth(void **state)
{
	(void)state;
	for (uint32_t trace = 0; trace < TRACES; trace++)
		one_trace(trace);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(every_figure_of_200_traces_is_the_truth) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
