/*
 * meter_test.c: what a meter counts of traces that know what is in them (truth_test_int.h), and of bytes that are none.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "capture/meter_int.h"
#include "capture/truth_count_test_int.h"

enum { TRACES = 300, OPEN_MOST = 4096 };

/* ---- traces that know what is in them ------------------------------------------------------------------ */

/* The device's bytes, in commits that end anywhere; whole: they end with a record. */
static void world_feed(struct world *w, struct meter *m, bool whole)
{
	const size_t size = w->wide ? 32 : 16;
	uint64_t last = w->e[0].time;
	struct ptt_aux a = { 0 };
	struct buf bytes = { 0 };

	for (uint32_t i = 0; i < w->n; i++) {
		const uint64_t step = w->e[i].time - last;

		last = w->e[i].time;
		if (w->e[i].missing) {
			a = (struct ptt_aux){ .p = (const uint8_t *)bytes.p, .n = bytes.n, .lost = a.lost };
			assert_int_equal(meter_take(m, &a), 0);
			buf_clear(&bytes);
			for (a.lost = 0; i < w->n && w->e[i].missing; i++)
				a.lost++;
			i--;
			last = w->e[i].time;
			continue;
		}
		encode(w, &w->e[i], (uint32_t)(w->delta ? step : w->e[i].time));
		buf_put(&bytes, (const char *)w->e[i].record, size);
		if (below(w, 8))
			continue;
		a.p = (const uint8_t *)bytes.p;
		a.n = whole || a.lost ? bytes.n : bytes.n - below(w, (uint32_t)size);
		assert_int_equal(meter_take(m, &a), 0);
		a.lost = 0;
		memmove(bytes.p, bytes.p + a.n, bytes.n - a.n);
		bytes.n -= a.n;
	}
	a.p = (const uint8_t *)bytes.p;
	a.n = bytes.n;
	assert_int_equal(meter_take(m, &a), 0);
	buf_free(&bytes);
}

static const struct meter_requester *row_of(const struct meter *m, uint32_t who)
{
	const uint32_t i = m->place[requester_id(who)];

	return i ? m->row[i - 1] : NULL;
}

static const struct meter_cell *cell_of(const struct meter_requester *r, enum type type)
{
	return &r->type[tlp_type_index(tlp_type_of(types[type].fmt_type >> 5, types[type].fmt_type & 0x1f))];
}

static void judge_latencies(uint32_t trace, const struct meter_requester *r, const struct requester *is)
{
	uint64_t n = 0, sum = 0, failed = 0, bucket[METER_BUCKETS] = { 0 };
	const int64_t *last = meter_buckets();

	for (uint32_t i = 0; i < is->latency.n; i++) {
		uint32_t b = 0;

		while (b < METER_BUCKETS - 1 && (uint64_t)last[b] < is->latency.v[i])
			b++;
		bucket[b]++;
	}
	for (uint32_t k = 0; k < METER_TYPES; k++) {
		const struct meter_answers *a = r->type[k].answers;

		for (uint32_t b = 0; a && b < METER_BUCKETS; b++)
			bucket[b] -= a->bucket[b];
		n += a ? a->n : 0;
		sum += a ? a->sum : 0;
		for (uint32_t s = 0; a && s < METER_STATUSES; s++)
			failed += a->failed[s];
	}
	if (n != is->answered - is->failed || failed != is->failed || sum != is->latency.sum)
		fail_msg("trace %u: %llu answered and %llu failed, %llu ticks", trace, (unsigned long long)n,
			 (unsigned long long)failed, (unsigned long long)sum);
	for (uint32_t b = 0; b < METER_BUCKETS; b++)
		assert_int_equal(bucket[b], 0);
}

/* Second records that come before a request of the requester is answered: nothing tells then that they are such. */
static uint64_t early_duplicates(const struct world *w, uint32_t who)
{
	static bool seen[EVENTS];
	uint64_t n = 0;

	memset(seen, 0, sizeof(seen));
	for (uint32_t i = 0; i < w->n; i++) {
		const struct event *e = &w->e[i];

		if (e->missing || e->who != who || types[e->type].class == POSTED)
			continue;
		n += e->pair && seen[e->pair];
		seen[e->pair] = true;
		if (types[e->type].class == COMPLETION && (!e->dws || e->left <= 4 * e->dws))
			return n + 1; /* it may be of a request that nobody saw */
	}
	return n;
}

static void judge_requester(uint32_t trace, const struct world *w, const struct meter *m, const struct requester *is,
			    uint32_t who, uint64_t *early, uint64_t *may_be_twice)
{
	const struct meter_requester *r = row_of(m, who);
	uint64_t packets = 0, twice = 0;

	if (!r) {
		assert_int_equal(is->tlps, 0);
		return;
	}
	for (uint32_t k = 0; k < METER_TYPES; k++) {
		packets += r->type[k].packets;
		twice += r->type[k].twice;
	}
	/* a bound, and a tight one: interrupts are alike, too */
	assert_true(twice >= is->posted_twice);
	*may_be_twice += twice;
	if (w->peers && packets >= is->tlps && packets - is->tlps <= early_duplicates(w, who)) {
		*early += packets - is->tlps;
		if (packets != is->tlps)
			return;
	}
	if (packets != is->tlps)
		fail_msg("trace %u: %llu packets of %u, and %llu there were", trace, (unsigned long long)packets, who,
			 (unsigned long long)is->tlps);
	assert_int_equal(cell_of(r, READ32)->packets + cell_of(r, READ64)->packets, is->reads);
	assert_int_equal(cell_of(r, WRITE32)->packets + cell_of(r, WRITE64)->packets, is->writes);
	assert_int_equal(cell_of(r, WRITE32)->bytes + cell_of(r, WRITE64)->bytes, is->written_bytes);
	assert_int_equal(cell_of(r, ANSWER)->packets + cell_of(r, NO_DATA)->packets, is->completions);
	assert_int_equal(cell_of(r, ANSWER)->bytes, is->read_bytes);
	assert_int_equal(cell_of(r, FETCH_ADD)->packets, is->atomics);
	assert_int_equal(cell_of(r, MESSAGE)->packets, is->messages);
	judge_latencies(trace, r, is);
}

static void judge_losses(uint32_t trace, const struct truth *t, const struct meter *m, uint64_t early)
{
	uint64_t requests = 0,
		 ended = m->count[METER_reused] + m->count[METER_evicted] + m->count[METER_cut] +
			 m->count[METER_hidden],
		 lost = 0, given_up = 0;

	for (uint32_t i = 0; i < t->gaps; i++)
		lost += t->gap[i].bytes / (t->w[0].wide ? 32 : 16);
	assert_int_equal(m->count[METER_lost_records], lost);
	assert_int_equal(m->count[METER_gaps], t->gaps);
	assert_int_equal(m->count[METER_damaged_bytes], 0);
	assert_int_equal(m->count[METER_duplicates] + early, t->d[0].duplicates);
	assert_int_equal(m->count[METER_requestless], t->d[0].requestless);
	assert_int_equal(m->count[METER_after_gap] + m->count[METER_unexpected], t->behind);
	for (uint32_t k = 0; k < WHO; k++) {
		const struct meter_requester *r = row_of(m, k);

		for (enum type type = 0; r && type < TYPES; type++)
			requests += types[type].class == NON_POSTED ? cell_of(r, type)->packets : 0;
		given_up += t->d[0].who[k].given_up;
		ended += t->d[0].who[k].answered + (r ? r->open : 0);
		if (r && k != HOST && !lacks_answers(&t->w[0]))
			assert_int_equal(r->open, t->d[0].who[k].open);
	}
	if (ended != requests)
		fail_msg("trace %u: of %llu requests %llu are told of", trace, (unsigned long long)requests,
			 (unsigned long long)ended);
	if (lacks_answers(&t->w[0]))
		return;
	assert_true(m->count[METER_reused] <= given_up && m->count[METER_cut] <= t->cut);
	assert_true(m->count[METER_reused] + m->count[METER_hidden] >= given_up);
}

static void one_trace(struct truth *t, uint32_t trace)
{
	const bool wide = trace & 1, delta = trace >> 1 & 1;
	const uint8_t direction = (uint8_t)(trace / 4 % 4);
	const uint64_t config = 0x07080001ull | (uint64_t)direction << 20 | (uint64_t)wide << 32;
	struct world *w = &t->w[0];
	uint64_t early = 0, may_be_twice = 0, interrupts = 0;
	struct meter *m;

	memset(t, 0, sizeof(*t));
	*w = (struct world){ .random = trace + 1,
			     .wide = wide,
			     .delta = delta,
			     .peers = trace / 16 % 2,
			     .told = true,
			     .direction = direction };
	t->ndevices = t->step = 1;
	t->step = 1 << 20;
	make_packets(w);
	show_packets(w);
	for (uint32_t k = 1; k <= trace / 3 % 3; k++)
		for (uint32_t i = k * w->n / 3 + below(w, 50), end = i + 5 + below(w, 60); i < end && i + 1 < w->n; i++)
			w->e[i].missing = true;
	times_seen(w);
	assert_int_equal(meter_open(&m, config, delta ? PTT_TIME_DELTA : PTT_TIME_ABS, OPEN_MOST), 0);
	world_feed(w, m, trace % 5 == 0);
	count_device(t, 0);
	assert_int_equal(m->records, t->d[0].records);
	for (uint32_t k = 0; k < WHO; k++)
		judge_requester(trace, w, m, &t->d[0].who[k], k, &early, &may_be_twice);
	for (uint32_t k = 0; k < WHO; k++)
		interrupts += t->d[0].target[k].tlps;
	if (may_be_twice > t->posted_twice + interrupts / 2 + 2)
		fail_msg("trace %u: %llu posted requests may be duplicates, and %llu are", trace,
			 (unsigned long long)may_be_twice, (unsigned long long)t->posted_twice);
	judge_losses(trace, t, m, early);
	meter_close(m);
}

static void what_is_counted_of_300_traces_is_the_truth(void **state)
{
	struct truth *t = mem_alloc(sizeof(*t));

	(void)state;
	for (uint32_t trace = 0; trace < TRACES; trace++)
		one_trace(t, trace);
	mem_free(t);
	assert_int_equal(mem_live(), 0);
}

/* ---- what is handmade ----------------------------------------------------------------------------------------- */

#define WIDE UINT64_C(0x107280001) /* 8DW, direction 2, all types */

/* A record of 8DW of one double word, at p. */
static void put_record(uint8_t *p, enum type type, uint32_t requester, uint32_t tag, uint32_t time)
{
	const bool answer = types[type].class == COMPLETION;
	const uint32_t dw[8] = { UINT32_MAX,
				 0,
				 (uint32_t)types[type].fmt_type << 24 | 1,
				 answer ? 0x80u << 16 | 4 : requester << 16 | tag << 8 | 0x0f,
				 answer ? requester << 16 | tag << 8 : 0x1000,
				 0,
				 0,
				 time };

	memcpy(p, dw, sizeof(dw));
}

static void take(struct meter *m, const void *p, size_t n, uint32_t flags)
{
	assert_int_equal(meter_take(m, &(struct ptt_aux){ .p = p, .n = n, .flags = flags }), 0);
}

static struct meter *wide_meter(void)
{
	struct meter *m;

	assert_int_equal(meter_open(&m, WIDE, PTT_TIME_ABS, OPEN_MOST), 0);
	return m;
}

static void bytes_that_are_no_record_are_counted_and_cut_what_is_open(void **state)
{
	uint8_t p[7 * 32];
	struct meter *m = wide_meter();

	(void)state;
	put_record(p, READ32, 0x100, 1, 100);
	put_record(p + 32, ANSWER, 0x100, 1, 150);
	put_record(p + 64, READ32, 0x100, 2, 200);
	memset(p + 96, 0x5a, 36);
	put_record(p + 132, ANSWER, 0x100, 2, 300);
	put_record(p + 164, WRITE32, 0x100, 0, 310);
	take(m, p, 196, 0);
	assert_int_equal(m->count[METER_damaged_bytes], 36);
	assert_int_equal(m->count[METER_gaps], 1);
	assert_int_equal(m->count[METER_cut], 1);
	assert_int_equal(m->count[METER_after_gap], 1);
	assert_int_equal(m->records, 5);
	assert_int_equal(m->row[0]->type[TLP_ROW_MRd32].answers->n, 1);
	assert_int_equal(m->row[0]->type[TLP_ROW_MRd32].answers->sum, 50);
	assert_int_equal(m->row[0]->open, 0);
	meter_close(m);
	assert_int_equal(mem_live(), 0);
}

static void truncated_commit_is_a_gap_and_its_cut_record_is_damage(void **state)
{
	uint8_t p[96];
	struct meter *m = wide_meter();

	(void)state;
	put_record(p, WRITE32, 0x100, 0, 100);
	put_record(p + 32, WRITE32, 0x100, 0, 110);
	put_record(p + 64, WRITE32, 0x100, 0, 120);
	take(m, p, 44, 0);
	take(m, p + 64, 32, PTT_AUX_TRUNCATED);
	assert_int_equal(m->records, 2);
	assert_int_equal(m->count[METER_gaps], 1);
	assert_int_equal(m->count[METER_damaged_bytes], 12);
	meter_close(m);
}

static void what_nobody_answers_is_hidden_until_its_requester_was_answered(void **state)
{
	uint8_t p[32];
	struct meter *m = wide_meter();

	(void)state;
	for (uint32_t i = 0; i < 3; i++) {
		put_record(p, READ32, 0x100, 1, 100 * i);
		take(m, p, 32, 0);
	}
	assert_int_equal(m->count[METER_hidden], 2);
	put_record(p, ANSWER, 0x100, 1, 400);
	take(m, p, 32, 0);
	for (uint32_t i = 0; i < 3; i++) {
		put_record(p, READ32, 0x100, 1, 500 + 100 * i);
		take(m, p, 32, 0);
	}
	assert_int_equal(m->count[METER_hidden], 2);
	assert_int_equal(m->count[METER_reused], 2);
	assert_int_equal(m->row[0]->open, 1);
	meter_close(m);
}

/* As long as it may run: what is held does not depend on how much came, nor on how many requesters there are. */
static void memory_is_bounded_whatever_comes(void **state)
{
	enum { RECORDS = 4096, ROUNDS = 1000 };
	uint8_t *p = mem_alloc(RECORDS * 32);
	struct meter *m = wide_meter();
	uint64_t held, packets = 0;

	(void)state;
	for (uint32_t i = 0; i < RECORDS; i++)
		put_record(p + 32 * i, i % 3 == 0 ? READ32 : i % 3 == 1 ? ANSWER : WRITE32, i / 3 * 7, i & 0xff, i);
	take(m, p, RECORDS * 32, 0);
	held = meter_bytes_held(m);
	for (uint32_t round = 1; round < ROUNDS; round++)
		take(m, p, RECORDS * 32, round % 10 ? 0 : PTT_AUX_TRUNCATED);
	assert_int_equal(meter_bytes_held(m), held);
	assert_true(held < 10 << 20);
	assert_int_equal(m->rows, METER_REQUESTERS);
	assert_int_equal(m->records, (uint64_t)RECORDS * ROUNDS);
	for (uint32_t i = 0; i <= METER_REQUESTERS; i++)
		for (uint32_t k = 0; k < METER_TYPES; k++)
			packets += m->row[i]->type[k].packets;
	assert_int_equal(packets + m->count[METER_duplicates], m->records);
	assert_true(m->row[METER_REQUESTERS]->type[TLP_ROW_MWr32].packets > ROUNDS);
	meter_close(m);
	mem_free(p);
}

static void without_memory_it_says_so(void **state)
{
	uint8_t p[64];
	int rc = -1;

	(void)state;
	put_record(p, READ32, 0x100, 1, 100);
	put_record(p + 32, ANSWER, 0x100, 1, 150);
	for (uint32_t n = 1; rc < 0; n++) {
		struct meter *m = NULL;

		mem_fail_at(n);
		rc = meter_open(&m, WIDE, PTT_TIME_ABS, OPEN_MOST);
		if (rc >= 0)
			rc = meter_take(m, &(struct ptt_aux){ .p = p, .n = sizeof(p) });
		meter_close(m);
		mem_fail_at(0);
		assert_true(rc == 0 || rc == -TALLY_ENOMEM);
		assert_int_equal(mem_live(), 0);
		assert_true(n < 100);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_counted_of_300_traces_is_the_truth),
		cmocka_unit_test(bytes_that_are_no_record_are_counted_and_cut_what_is_open),
		cmocka_unit_test(truncated_commit_is_a_gap_and_its_cut_record_is_damage),
		cmocka_unit_test(what_nobody_answers_is_hidden_until_its_requester_was_answered),
		cmocka_unit_test(memory_is_bounded_whatever_comes),
		cmocka_unit_test(without_memory_it_says_so),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
