/*
 * stats_chunk_test.c: what chunks count is what their records count one by one, whatever the bits: reserved types,
 * bytes that no enable lets through, answers to nobody, more requesters than there are banks, several devices in both
 * formats. (stats_test.c holds both against the truth of well-formed traffic.)
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "ptt/handmade_int.h"
#include "ptt/stats.h"
#include "ptt/stats_record.h"

enum { RECORDS = 600, BYTES = 32 * RECORDS };

static void same(const struct ptt_report *a, const struct ptt_report *b)
{
	assert_true(a->records == b->records && a->span == b->span && a->nbins == b->nbins &&
		    a->bin_ticks == b->bin_ticks);
	assert_true(a->ntypes == b->ntypes && a->ncompleters == b->ncompleters && a->nrequesters == b->nrequesters);
	assert_true(a->requests == b->requests && a->answered == b->answered && a->failed == b->failed);
	assert_true(a->outstanding_peak == b->outstanding_peak && a->outstanding_ticks == b->outstanding_ticks);
	assert_true(a->npages == b->npages && a->pages_known == b->pages_known && a->ntargets == b->ntargets);
	assert_true(memcmp(a->cls, b->cls, sizeof(a->cls)) == 0 && memcmp(a->kind, b->kind, sizeof(a->kind)) == 0);
	assert_true(memcmp(&a->traffic, &b->traffic, sizeof(a->traffic)) == 0 && a->relaxed == b->relaxed);
	assert_true(a->messages == b->messages && a->nmessages == b->nmessages);
	assert_true(memcmp(a->message_code, b->message_code, sizeof(a->message_code)) == 0);
	assert_true(memcmp(&a->split, &b->split, sizeof(a->split)) == 0);
	assert_true(memcmp(a->size, b->size, PTT_SIZES * sizeof(*a->size)) == 0);
	assert_true(memcmp(a->fault_count, b->fault_count, sizeof(a->fault_count)) == 0 && a->nfaults == b->nfaults);
	assert_true(memcmp(a->bin, b->bin, a->nbins * sizeof(*a->bin)) == 0);
	assert_true(memcmp(a->latency, b->latency, sizeof(*a->latency)) == 0);
	assert_true(memcmp(a->latency_first, b->latency_first, sizeof(*a->latency_first)) == 0);
	for (uint32_t i = 0; i < a->nrequesters; i++) {
		const struct ptt_requester_row *x = &a->requester[i], *y = &b->requester[i];
		assert_true(x->device == y->device && x->requester == y->requester && x->segment == y->segment);
		assert_true(memcmp(x->kind, y->kind, sizeof(x->kind)) == 0 && x->asked_bytes == y->asked_bytes);
		assert_true(x->written_bytes == y->written_bytes && x->read_bytes == y->read_bytes);
		assert_true(x->largest_write == y->largest_write && x->largest_read == y->largest_read);
		assert_true(x->answered == y->answered && x->unanswered == y->unanswered && x->given_up == y->given_up);
		assert_true(x->failed == y->failed && x->outstanding_peak == y->outstanding_peak);
	}
	for (uint32_t i = 0; i < a->ncompleters; i++) {
		const struct ptt_completer_row *x = &a->completer[i], *y = &b->completer[i];
		assert_true(x->completer == y->completer && x->completions == y->completions && x->bytes == y->bytes);
		assert_true(memcmp(x->status, y->status, sizeof(x->status)) == 0 && x->largest == y->largest);
	}
	for (uint32_t i = 0; i < a->npages; i++)
		assert_true(memcmp(&a->page[i], &b->page[i], offsetof(struct ptt_page_row, device)) == 0);
}

static void one_by_one(struct ptt_stats *s, const struct ptt_chunk *c, const struct ptt_decode_opts *o,
		       struct ptt_clock *k)
{
	struct tlp t = { 0 };

	for (size_t at = 0; at < c->n; at += 4u * c->format) {
		if (ptt_is_padding(c->p + at, (enum ptt_format)c->format))
			continue;
		ptt_decode(c->p + at, o, k, &t);
		t.device = c->device;
		t.offset = c->offset + at;
		ptt_stats_record(s, &t);
	}
}

static uint32_t below(uint64_t *seed, uint32_t n)
{
	*seed = *seed * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)((*seed >> 33) * n >> 31);
}

static void put(uint8_t *p, uint32_t v)
{
	for (int i = 0; i < 4; i++)
		p[i] = (uint8_t)(v >> 8 * i);
}

/* A header of few requesters, tags and lengths, so that things meet; some have any bits at all. */
static void any_header(uint64_t *seed, uint32_t dw[4], uint32_t requesters)
{
	static const uint8_t types[] = { 0x00, 0x20, 0x40, 0x60, 0x4a, 0x4a, 0x4a, 0x0a, 0x04, 0x4c, 0x34 };
	uint32_t type = types[below(seed, sizeof(types))], who = below(seed, requesters), tag = below(seed, 4);
	uint32_t low = below(seed, 16) ? 0xff : below(seed, 256),
		 length = below(seed, 4) ? 1 + below(seed, 8) : below(seed, 1024);

	for (int i = 0; i < 4; i++)
		dw[i] = below(seed, 1u << 31) << 1 | below(seed, 2);
	if (below(seed, 32) == 0)
		return;
	dw[0] = type << 24 | (dw[0] & 1u << 13) | (below(seed, 16) ? 0 : dw[0] & 0x0f89f000) | length;
	if ((type & 0x1f) == 0x0a) {
		dw[1] = (dw[1] & (below(seed, 8) ? 0x00010fff : 0x0001ffff));
		dw[2] = who << 16 | tag << 8 | (dw[2] & 0x7f);
	} else {
		dw[1] = who << 16 | tag << 8 | low;
		dw[2] &= type & 0x20 ? 3 : 0x7fff;
		dw[3] &= 0x7fff;
	}
}

/* now: Time counts on from there; NULL: it is anything. What is out of order is judged by what follows, which one
 * record alone does not know. */
static void any_records(uint64_t *seed, uint8_t *p, bool wide, uint32_t requesters, uint32_t *now)
{
	uint32_t dw[4];

	for (int n = wide ? RECORDS : 2 * RECORDS; n > 0; n--, p += wide ? 32 : 16) {
		any_header(seed, dw, requesters);
		memset(p, 0, wide ? 32 : 16);
		if (below(seed, 64) == 0)
			continue; /* padding */
		if (wide) {
			put(p, UINT32_MAX);
			put(p + 4, below(seed, 8) ? 0 : 0x91000000 | below(seed, 1 << 20));
			uint32_t time = below(seed, 4) ? below(seed, 64) : below(seed, 1u << 30);
			put(p + 28, now ? *now += time : 2 * time);
		} else {
			dw[0] = (dw[0] & 0x7f800000) << 1 | (dw[0] >> 13 & 1) << 21 | (dw[0] & 0x3ff) << 11 |
				below(seed, 2048);
		}
		for (int i = 0; i < 4; i++)
			put(p + (wide ? 8 : 0) + 4 * i, dw[i]);
	}
}

static struct ptt_decode_opts opts_of(uint32_t how, uint32_t device)
{
	return (struct ptt_decode_opts){ .format = device & 1 ? PTT_4DW : PTT_8DW,
					 .tag14 = how & 8,
					 .time = how & 2 ? PTT_TIME_ABS : PTT_TIME_DELTA };
}

/* Bit 0 of how: with matching; 1: absolute time; 2: many requesters; 3: the newer layout. */
static void check(uint32_t how, uint64_t seed)
{
	const struct ptt_stats_opts so = { .match = how & 1, .most_outstanding = 8 };
	static uint8_t p[BYTES];
	struct ptt_clock clock[4] = { 0 };
	uint32_t now[4] = { 0 };
	struct ptt_stats *s[2];
	const struct ptt_report *r[2];

	assert_int_equal(ptt_stats_open(&s[0], &so), 0);
	assert_int_equal(ptt_stats_open(&s[1], &so), 0);
	for (uint32_t i = 0; i < 6; i++) {
		uint32_t device = below(&seed, 4);
		struct ptt_decode_opts o = opts_of(how, device);
		struct ptt_chunk c = { .p = p, .n = BYTES, .format = o.format, .device = device, .offset = i * BYTES };
		any_records(&seed, p, o.format == PTT_8DW, how & 4 ? 150 : 3, how & 2 ? &now[device] : NULL);
		ptt_stats_chunk(s[0], &c, &o);
		one_by_one(s[1], &c, &o, &clock[device]);
	}
	assert_int_equal(ptt_stats_finish(s[0], &r[0]), 0);
	assert_int_equal(ptt_stats_finish(s[1], &r[1]), 0);
	same(r[0], r[1]);
	ptt_stats_close(s[0]);
	ptt_stats_close(s[1]);
}

static int by_requester(const void *a, const void *b)
{
	const struct ptt_requester_row *x = a, *y = b;
	uint64_t i = (uint64_t)x->device << 32 | (uint32_t)x->segment << 16 | x->requester;
	uint64_t k = (uint64_t)y->device << 32 | (uint32_t)y->segment << 16 | y->requester;
	return i < k ? -1 : i > k;
}

static int by_completer(const void *a, const void *b)
{
	const struct ptt_completer_row *x = a, *y = b;
	uint64_t i = (uint64_t)x->device << 16 | x->completer, k = (uint64_t)y->device << 16 | y->completer;
	return i < k ? -1 : i > k;
}

static int by_page(const void *a, const void *b)
{
	return memcmp(a, b, offsetof(struct ptt_page_row, device));
}

/* Rows that tie come in the order in which they were found, and peaks are upper bounds with several shards: both
 * aside. */
static void without_order_and_peaks(struct ptt_report *r)
{
	struct ptt_requester_row *q = (struct ptt_requester_row *)r->requester;

	qsort(q, r->nrequesters, sizeof(*q), by_requester);
	qsort((void *)r->completer, r->ncompleters, sizeof(*r->completer), by_completer);
	qsort((void *)r->page, r->npages, sizeof(*r->page), by_page);
	for (uint32_t i = 0; i < r->nrequesters; i++)
		q[i].outstanding_peak = 0;
	for (uint32_t i = 0; i < r->nbins; i++)
		((struct ptt_bin *)r->bin)[i].outstanding_peak = 0;
	r->outstanding_peak = 0;
}

static void check_shards(uint32_t how, uint64_t seed, uint32_t shards)
{
	struct ptt_stats_opts so = { .match = how & 1 };
	static uint8_t p[BYTES];
	struct ptt_stats *alone, *s[4];
	uint32_t now[4] = { 0 };
	const struct ptt_report *r[2];

	assert_int_equal(ptt_stats_open(&alone, &so), 0);
	so.shards = shards;
	for (so.shard = 0; so.shard < shards; so.shard++)
		assert_int_equal(ptt_stats_open(&s[so.shard], &so), 0);
	for (uint32_t i = 0; i < 6; i++) {
		uint32_t device = below(&seed, 4);
		struct ptt_decode_opts o = opts_of(how, device);
		struct ptt_chunk c = { .p = p, .n = BYTES, .format = o.format, .device = device, .offset = i * BYTES };
		any_records(&seed, p, o.format == PTT_8DW, how & 4 ? 150 : 3, how & 2 ? &now[device] : NULL);
		ptt_stats_chunk(alone, &c, &o);
		for (uint32_t k = 0; k < shards; k++)
			ptt_stats_chunk(s[k], &c, &o);
	}
	for (uint32_t k = 1; k < shards; k++) {
		assert_int_equal(ptt_stats_merge(s[0], s[k]), 0);
		ptt_stats_close(s[k]);
	}
	assert_int_equal(ptt_stats_finish(alone, &r[0]), 0);
	assert_int_equal(ptt_stats_finish(s[0], &r[1]), 0);
	for (int i = 0; i < 2; i++)
		without_order_and_peaks((struct ptt_report *)r[i]);
	same(r[0], r[1]);
	ptt_stats_close(alone);
	ptt_stats_close(s[0]);
}

static void shards_of_any_records_count_the_same_as_one(void **state)
{
	(void)state;
	/* Any bits in the newer layout have more requesters than there are rows, and which ones have a row may
	 * differ. */
	for (uint32_t how = 0; how < 8; how++)
		for (uint32_t shards = 2; shards <= 4; shards++)
			check_shards(how, how * 1000 + shards, shards);
}

static void any_records_count_the_same_one_by_one(void **state)
{
	(void)state;
	for (uint32_t how = 0; how < 16; how++)
		for (uint64_t seed = 0; seed < 4; seed++)
			check(how, how * 1000 + seed);
}

/* Two messages of each code, and of code 0 one more. */
static void messages_of_each_code_are_counted_by_parts_as_by_one(void **state)
{
	enum { MESSAGES = 2 * 256 + 1, PARTS = 3 };
	static uint8_t bytes[MESSAGES * 32];
	const struct ptt_decode_opts o = { .format = PTT_8DW, .time = PTT_TIME_ABS };
	const struct ptt_chunk c = { .p = bytes, .n = sizeof(bytes), .format = PTT_8DW };
	uint8_t *p = bytes;

	(void)state;
	for (uint32_t i = 0; i < MESSAGES; i++) {
		const struct handmade h = {
			.fmt = 1, .type = 0x14, .time = 100 * i, .dw1 = (0x100 + i % 7) << 16 | (i & 0xff)
		};
		p = handmade(p, PTT_8DW, &h);
	}
	for (uint32_t parts = 1; parts <= PARTS; parts++) {
		struct ptt_stats *s[PARTS];
		const struct ptt_report *r;

		for (uint32_t i = 0; i < parts; i++) {
			const struct ptt_stats_opts so = { .match = true, .shard = i, .shards = parts };

			assert_int_equal(ptt_stats_open(&s[i], &so), 0);
			ptt_stats_chunk(s[i], &c, &o);
		}
		for (uint32_t i = 1; i < parts; i++) {
			assert_int_equal(ptt_stats_merge(s[0], s[i]), 0);
			ptt_stats_close(s[i]);
		}
		assert_int_equal(ptt_stats_finish(s[0], &r), 0);
		assert_int_equal(r->messages, MESSAGES);
		for (uint32_t i = 0; i < 256; i++)
			assert_int_equal(r->message_code[i], i ? 2 : 3);
		ptt_stats_close(s[0]);
	}
}

static void impossible_records_are_ignored(void **state)
{
	struct ptt_stats *s;
	const struct ptt_report *r;

	(void)state;
	assert_int_equal(ptt_stats_open(&s, NULL), 0);
	ptt_stats_record(s, &(struct tlp){ .type_index = 0xff });
	ptt_stats_record(s, &(struct tlp){ .length_dw = 1025 });
	ptt_stats_record(s, &(struct tlp){ .class = 4 });
	ptt_stats_record(s, &(struct tlp){ .status = 8 });
	assert_int_equal(ptt_stats_finish(s, &r), 0);
	assert_int_equal(r->records, 0);
	ptt_stats_close(s);
}

static void merging_what_differs_is_refused(void **state)
{
	struct ptt_stats_opts match = { .match = true };
	struct ptt_stats *a, *b;
	const struct ptt_report *r;

	(void)state;
	assert_int_equal(ptt_stats_open(&a, &match), 0);
	assert_int_equal(ptt_stats_open(&b, NULL), 0);
	assert_int_equal(ptt_stats_merge(a, b), -TALLY_ESTATE);
	assert_int_equal(ptt_stats_finish(b, &r), 0);
	ptt_stats_close(a);
	assert_int_equal(ptt_stats_open(&a, NULL), 0);
	assert_int_equal(ptt_stats_merge(a, b), -TALLY_ESTATE);
	ptt_stats_close(a);
	ptt_stats_close(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_records_count_the_same_one_by_one),
		cmocka_unit_test(messages_of_each_code_are_counted_by_parts_as_by_one),
		cmocka_unit_test(shards_of_any_records_count_the_same_as_one),
		cmocka_unit_test(impossible_records_are_ignored),
		cmocka_unit_test(merging_what_differs_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
