/*
 * stats_test.c: the report against the truth of generated traces, in every
 * figure: chunk by chunk, record by record, and in shards.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/range.h"
#include "ptt/gen.h"
#include "ptt/handmade_int.h"
#include "ptt/stats.h"
#include "ptt/stats_record.h"

enum { RECORDS = 60000, CHUNK_RECORDS = 1777 };

/* ---- a trace and ways of counting it ------------------------------------------------------------- */

struct trace {
	struct ptt_gen *gen;
	struct ptt_decode_opts decode;
	uint8_t *p;
	size_t n;
};

static struct trace trace_make(struct ptt_gen_opts o, size_t records)
{
	struct trace t = { .decode = { .tag14 = o.tag14 } };

	t.decode.format = o.format ? o.format : PTT_8DW;
	t.decode.time = o.time ? o.time : PTT_TIME_ABS;
	t.n = records * t.decode.format * 4;
	t.p = mem_alloc(t.n);
	assert_int_equal(ptt_gen_open(&t.gen, &o), 0);
	assert_int_equal(ptt_gen_fill(t.gen, t.p, t.n), t.n);
	return t;
}

static void trace_free(struct trace *t)
{
	ptt_gen_close(t->gen);
	mem_free(t->p);
}

static void count_chunks(struct ptt_stats *s, const struct trace *t)
{
	size_t most = CHUNK_RECORDS * t->decode.format * 4u;

	for (size_t at = 0; at < t->n; at += most) {
		struct ptt_chunk c = { .p = t->p + at,
				       .n = t->n - at < most ? t->n - at : most,
				       .format = t->decode.format,
				       .offset = at };
		ptt_stats_chunk(s, &c, &t->decode);
	}
}

static void count_records(struct ptt_stats *s, const struct trace *t)
{
	struct ptt_clock clock = { 0 };
	struct tlp tlp;

	for (size_t at = 0; at < t->n; at += t->decode.format * 4) {
		ptt_decode(t->p + at, &t->decode, &clock, &tlp);
		tlp.device = 0;
		tlp.offset = at;
		ptt_stats_record(s, &tlp);
	}
}

enum way { BY_CHUNK, BY_RECORD, BY_TWO, BY_THREE };

/* The counted trace; *r borrows from it. */
static struct ptt_stats *count(const struct trace *t, bool match, enum way way, const struct ptt_report **r)
{
	uint32_t shards = way == BY_TWO ? 2 : way == BY_THREE ? 3 : 1;
	struct ptt_stats *s[3];

	for (uint32_t i = 0; i < shards; i++) {
		struct ptt_stats_opts o = { .match = match, .shard = i, .shards = shards };
		assert_int_equal(ptt_stats_open(&s[i], &o), 0);
		if (way == BY_RECORD)
			count_records(s[i], t);
		else
			count_chunks(s[i], t);
		ptt_stats_time(s[i], 0, (enum ptt_time)t->decode.time, true, false);
	}
	for (uint32_t i = 1; i < shards; i++) {
		assert_int_equal(ptt_stats_merge(s[0], s[i]), 0);
		ptt_stats_close(s[i]);
	}
	assert_int_equal(ptt_stats_finish(s[0], r), 0);
	return s[0];
}

/* ---- the truth, figure by figure ------------------------------------------------------------------- */

static void check_hist(const struct ptt_hist *h, const struct ptt_hist *want)
{
	if (want->n == 0) {
		assert_true(h == NULL || h->n == 0);
		return;
	}
	assert_non_null(h);
	assert_memory_equal(h, want, sizeof(*h));
}

static void check_types(const struct ptt_report *r, const struct ptt_gen_truth *t)
{
	uint32_t rows = 0;

	for (unsigned i = 0; i < COUNT(t->type); i++)
		rows += t->type[i].tlps != 0;
	assert_int_equal(r->ntypes, rows);
	for (uint32_t i = 0; i < r->ntypes; i++) {
		const struct ptt_type_row *y = &r->type[i];
		assert_int_equal(y->tlps, t->type[y->type_index].tlps);
		assert_int_equal(y->dws, t->type[y->type_index].dws);
		assert_int_equal(y->bytes, t->type[y->type_index].bytes);
		assert_int_equal(y->relaxed, t->type[y->type_index].relaxed);
		assert_true(i == 0 || r->type[i - 1].tlps >= y->tlps);
	}
}

static void check_traffic(const struct ptt_report *r, const struct ptt_gen_truth *t)
{
	uint64_t payload = 0, useful = 0, tlps = 0, header = 4 * (t->prefixes + t->digests);

	for (unsigned i = 0; i < TLP_ROW_reserved; i++) {
		const struct tlp_type *y = tlp_type_at(i);
		tlps += t->type[i].tlps;
		header += t->type[i].tlps * (y->fmt & 1 ? 16 : 12);
		payload += y->data ? 4 * t->type[i].dws : 0;
		useful += y->data ? t->type[i].bytes : 0;
	}
	assert_int_equal(r->traffic.tlps, tlps);
	assert_int_equal(r->traffic.payload_bytes, payload);
	assert_int_equal(r->traffic.useful_bytes, useful);
	assert_int_equal(r->traffic.header_bytes, header);
	assert_int_equal(r->traffic.framing_bytes, 8 * tlps);
	assert_true(r->efficiency == (double)useful * 1000 / (double)(payload + header + 8 * tlps));
	assert_int_equal(r->ordered + r->relaxed, tlps);
}

static const struct ptt_gen_requester *who_is(const struct ptt_gen_truth *t, uint16_t id)
{
	for (uint32_t i = 0; i < t->nrequesters; i++)
		if (t->requester[i].id == id)
			return &t->requester[i];
	fail_msg("no requester %x", id);
	return NULL;
}

static void check_requesters(const struct ptt_report *r, const struct ptt_gen_truth *t)
{
	uint64_t bytes = UINT64_MAX;

	assert_int_equal(r->nrequesters, t->nrequesters);
	for (uint32_t i = 0; i < r->nrequesters; i++) {
		const struct ptt_requester_row *q = &r->requester[i];
		const struct ptt_gen_requester *w = who_is(t, q->requester);
		assert_int_equal(q->segment, w->segment);
		assert_memory_equal(q->kind, w->kind, sizeof(q->kind));
		assert_int_equal(q->written_bytes, w->written_bytes);
		assert_int_equal(q->asked_bytes, w->asked_bytes);
		assert_int_equal(q->read_bytes, w->read_bytes);
		assert_int_equal(q->largest_write, w->largest_write);
		assert_int_equal(q->largest_read, w->largest_read);
		assert_true(q->written_bytes + q->read_bytes <= bytes);
		bytes = q->written_bytes + q->read_bytes;
		if (!r->matched)
			continue;
		assert_int_equal(q->answered, w->answered);
		assert_int_equal(q->failed, w->failed);
		assert_int_equal(q->unanswered, w->outstanding);
		assert_int_equal(q->given_up, w->given_up);
		assert_true(r->peak_is_bound ? q->outstanding_peak >= w->peak : q->outstanding_peak == w->peak);
		check_hist(q->latency, &w->latency);
	}
}

static void check_completers(const struct ptt_report *r, const struct ptt_gen_truth *t)
{
	uint32_t found = 0, there = 0;

	for (uint32_t k = 0; k < t->ncompleters; k++) {
		there += t->completer[k].completions != 0;
		for (uint32_t i = 0; i < r->ncompleters; i++) {
			const struct ptt_completer_row *c = &r->completer[i];
			if (c->completer != t->completer[k].id)
				continue;
			assert_int_equal(c->completions, t->completer[k].completions);
			assert_int_equal(c->bytes, t->completer[k].bytes);
			assert_memory_equal(c->status, t->completer[k].status, sizeof(c->status));
			found++;
		}
	}
	assert_int_equal(found, there);
	assert_int_equal(r->ncompleters, there);
}

static void check_pages(const struct ptt_report *r, const struct ptt_gen_truth *t)
{
	uint64_t last = UINT64_MAX;

	assert_true(r->pages_exact);
	assert_int_equal(r->npages, r->pages_known);
	for (uint32_t i = 0; i < r->npages; i++) {
		const struct ptt_page_row *p = &r->page[i];
		assert_true(p->tlps <= last);
		last = p->tlps;
		const struct ptt_gen_requester *w = who_is(t, p->requester);
		if (p->address == (w->msi_address & ~0xfffull))
			continue; /* check_targets() */
		assert_false(p->several);
		size_t page = (p->address - w->base) / 4096 + (size_t)(w - t->requester) * t->npages;
		assert_int_equal(p->tlps, t->page[page].tlps);
		assert_int_equal(p->read_bytes, t->page[page].read_bytes);
		assert_int_equal(p->written_bytes, t->page[page].written_bytes);
	}
}

static void check_targets(const struct ptt_report *r, const struct ptt_gen_truth *t)
{
	uint64_t shared = 0;
	uint32_t sharers = 0, found = 0;

	for (uint32_t i = 2; i < t->nrequesters; i += 2) {
		shared += t->requester[i].msis;
		sharers += t->requester[i].msis != 0;
	}
	for (uint32_t i = 0; i < r->ntargets; i++) {
		const struct ptt_target_row *g = &r->target[i];
		const struct ptt_gen_requester *w = who_is(t, g->requester);
		if (g->address != w->msi_address)
			continue;
		found++;
		assert_int_equal(g->x86_msi, w->msi_address >> 20 == 0xfee);
		assert_int_equal(g->several, !g->x86_msi && sharers > 1);
		assert_int_equal(g->writes, g->x86_msi ? w->msis : shared);
		assert_true(g->last <= r->span && g->first < g->last);
		assert_int_equal(g->mean_interval, (g->last - g->first) / (g->writes - 1));
	}
	assert_true(found >= t->nrequesters / 2);
}

static void check_faults(const struct ptt_report *r, const struct ptt_gen_truth *t)
{
	for (unsigned f = 0; f < PTT_FAULTS; f++) {
		uint64_t want = f == PTT_FAULT_UNANSWERED ? t->outstanding : t->fault[f];
		if (!r->matched && (f <= PTT_FAULT_EVICTED || f == PTT_FAULT_UNEXPECTED_CPL))
			want = 0;
		assert_int_equal(r->fault_count[f], want);
	}
	for (uint32_t i = 0; i < r->nfaults; i++) {
		const struct ptt_fault_row *f = &r->fault[i];
		assert_true(i == 0 || f[-1].nth < f->nth || f[-1].fault < f->fault || f[-1].offset < f->offset);
		assert_true(f->nth < PTT_STATS_SAMPLE || f->nth == UINT8_MAX);
		if (r->matched && f->fault >= PTT_FAULT_UR && f->fault <= PTT_FAULT_CRS) {
			assert_true(f->has_request);
			assert_true(f->request_offset < f->offset && f->latency <= f->time);
		}
	}
}

static void check_matched(const struct ptt_report *r, const struct ptt_gen_truth *t)
{
	uint64_t opened = 0, done = 0, good = 0;

	assert_int_equal(r->requests, t->requests);
	assert_int_equal(r->answered, t->answered);
	assert_int_equal(r->failed, t->failed);
	assert_int_equal(r->outstanding_ticks, t->outstanding_ticks + t->outstanding * (t->now - t->level_since));
	check_hist(r->latency, &t->latency);
	check_hist(r->latency_first, &t->latency_first);
	assert_memory_equal(r->split.pieces, t->pieces, sizeof(t->pieces));
	assert_true(r->peak_is_bound ? r->outstanding_peak >= t->peak : r->outstanding_peak == t->peak);
	for (uint32_t i = 0; i < r->nbins; i++) {
		opened += r->bin[i].opened;
		done += r->bin[i].done;
		for (unsigned k = 0; k < COUNT(r->bin[i].latency); k++)
			good += r->bin[i].latency[k];
	}
	assert_int_equal(opened, t->requests);
	assert_int_equal(done, t->answered);
	assert_int_equal(good, t->latency.n);
}

static void check(const struct ptt_report *r, const struct ptt_gen_truth *t)
{
	uint64_t tlps = 0, bytes = 0, messages = 0;

	assert_int_equal(r->records, t->records);
	assert_int_equal(r->span, t->now);
	assert_int_equal(r->padding, 0);
	check_types(r, t);
	check_traffic(r, t);
	check_requesters(r, t);
	check_completers(r, t);
	check_pages(r, t);
	check_targets(r, t);
	check_faults(r, t);
	assert_memory_equal(r->size, t->size, sizeof(t->size));
	assert_int_equal(r->split.ends_128, t->split_128);
	assert_int_equal(r->split.ends_64, t->split_64);
	assert_int_equal(r->split.ends_odd, 0);
	for (uint32_t i = 0; i < r->nbins; i++) {
		tlps += r->bin[i].tlps;
		bytes += r->bin[i].bytes;
	}
	assert_int_equal(tlps, t->records);
	assert_int_equal(bytes, r->traffic.payload_bytes);
	assert_true(r->nbins * r->bin_ticks > r->span && (r->nbins - 1) * r->bin_ticks <= r->span);
	assert_memory_equal(r->message_code, t->message_code, sizeof(t->message_code));
	for (unsigned i = 0; i < 256; i++)
		messages += t->message_code[i];
	assert_int_equal(r->messages, messages);
	assert_int_equal(r->nmessages, messages < PTT_STATS_LOG ? messages : PTT_STATS_LOG);
	if (r->matched)
		check_matched(r, t);
}

static void check_all_ways(struct ptt_gen_opts o)
{
	struct trace t = trace_make(o, RECORDS);

	for (enum way way = BY_CHUNK; way <= BY_THREE; way++)
		for (int match = 0; match < 2; match++) {
			const struct ptt_report *r;
			struct ptt_stats *s = count(&t, match, way, &r);
			assert_int_equal(r->matched, match);
			check(r, ptt_gen_truth(t.gen));
			ptt_stats_close(s);
		}
	trace_free(&t);
}

static void wide_records_with_absolute_time_that_wraps_are_told_truly(void **state)
{
	(void)state;
	check_all_ways((struct ptt_gen_opts){ .seed = 1, .faults = 2000, .first_time = 0xfffff000 });
}

static void wide_records_with_delta_time_are_told_truly(void **state)
{
	(void)state;
	check_all_ways((struct ptt_gen_opts){ .seed = 2, .faults = 2000, .time = PTT_TIME_DELTA, .first_time = 77 });
}

static void narrow_records_with_absolute_time_are_told_truly(void **state)
{
	(void)state;
	check_all_ways((struct ptt_gen_opts){ .seed = 3, .faults = 2000, .format = PTT_4DW, .rcb = 128, .mps = 512 });
}

static void narrow_records_with_delta_time_are_told_truly(void **state)
{
	(void)state;
	check_all_ways((struct ptt_gen_opts){ .seed = 4,
					      .faults = 2000,
					      .format = PTT_4DW,
					      .time = PTT_TIME_DELTA,
					      .mps = 128,
					      .mrrs = 4096,
					      .requesters = 20,
					      .tags = 256 });
}

static void wide_tags_and_segments_are_told_truly(void **state)
{
	(void)state;
	check_all_ways((struct ptt_gen_opts){ .seed = 5, .faults = 2000, .tag14 = true, .tags = 5000 });
	check_all_ways(
		(struct ptt_gen_opts){ .seed = 6, .faults = 2000, .tag14 = true, .tags = 5000, .format = PTT_4DW });
}

static void few_tags_that_are_used_again_are_told_truly(void **state)
{
	(void)state;
	check_all_ways((struct ptt_gen_opts){ .seed = 7, .faults = 100000, .tags = 4, .requesters = 3 });
}

/* ---- what is inferred, and what is said ------------------------------------------------------------------ */

static void limits_are_inferred(void **state)
{
	struct trace t = trace_make((struct ptt_gen_opts){ .mps = 512, .mrrs = 2048, .rcb = 128 }, RECORDS);
	const struct ptt_report *r;
	struct ptt_stats *s = count(&t, false, BY_CHUNK, &r);

	(void)state;
	assert_int_equal(r->split.mps, 512);
	assert_int_equal(r->split.mrrs, 2048);
	assert_int_equal(r->split.rcb, 128);
	ptt_stats_close(s);
	trace_free(&t);
}

static bool says(const struct ptt_report *r, enum ptt_note what)
{
	for (uint32_t i = 0; i < r->nnotes; i++)
		if (r->note[i].note == what)
			return true;
	return false;
}

/* Only records of some classes, as a direction or a type filter leaves them. */
static void keep_only(struct trace *t, unsigned classes)
{
	size_t kept = 0;

	for (size_t at = 0; at < t->n; at += 32) {
		struct ptt_clock clock = { 0 };
		struct tlp tlp;
		ptt_decode(t->p + at, &t->decode, &clock, &tlp);
		if (classes >> tlp.class & 1) {
			memmove(t->p + kept, t->p + at, 32);
			kept += 32;
		}
	}
	t->n = kept;
}

static void a_missing_direction_is_said(void **state)
{
	static const struct {
		unsigned classes;
		enum ptt_note note;
	} cases[] = {
		{ 1 << TLP_P | 1 << TLP_NP, PTT_NOTE_NO_COMPLETIONS },
		{ 1 << TLP_CPL, PTT_NOTE_NO_REQUESTS },
	};

	(void)state;
	for (unsigned i = 0; i < COUNT(cases); i++) {
		struct trace t = trace_make((struct ptt_gen_opts){ .seed = 8 }, 5000);
		const struct ptt_report *r;
		keep_only(&t, cases[i].classes);
		struct ptt_stats *s = count(&t, true, BY_CHUNK, &r);
		assert_true(says(r, cases[i].note));
		assert_false(says(r, PTT_NOTE_TIME_UNSURE));
		ptt_stats_close(s);
		trace_free(&t);
	}
}

/* Removes the completions to one requester: the first that asked. */
static void silence_one(struct trace *t)
{
	size_t kept = 0;
	int who = -1;

	for (size_t at = 0; at < t->n; at += 32) {
		struct ptt_clock clock = { 0 };
		struct tlp tlp;
		ptt_decode(t->p + at, &t->decode, &clock, &tlp);
		if (who < 0 && tlp.class == TLP_NP)
			who = tlp.requester;
		if (tlp.class != TLP_CPL || tlp.requester != who) {
			memmove(t->p + kept, t->p + at, 32);
			kept += 32;
		}
	}
	t->n = kept;
}

static void a_requester_that_is_never_answered_is_said(void **state)
{
	struct trace t = trace_make((struct ptt_gen_opts){ .seed = 8 }, 5000);
	const struct ptt_report *r;
	struct ptt_stats *s = count(&t, true, BY_CHUNK, &r);

	(void)state;
	assert_false(says(r, PTT_NOTE_SILENT));
	ptt_stats_close(s);
	silence_one(&t);
	s = count(&t, true, BY_CHUNK, &r);
	assert_true(says(r, PTT_NOTE_SILENT));
	assert_true(r->answered > 0);
	ptt_stats_close(s);
	trace_free(&t);
}

/* All completions come from a bus on which the one that nobody answers is not: a device's fault, and no host's way. */
static void a_device_that_is_never_answered_was_taken_for_a_host_and_hidden(void **state)
{
	struct trace t = trace_make((struct ptt_gen_opts){ .seed = 8 }, 5000);
	struct ptt_clock clock = { 0 };
	const struct ptt_report *r;
	struct ptt_stats *s;

	(void)state;
	silence_one(&t);
	for (size_t at = 0; at < t.n; at += 32) {
		struct tlp tlp;

		ptt_decode(t.p + at, &t.decode, &clock, &tlp);
		if (tlp.class == TLP_CPL)
			t.p[at + 15] = 0xfe; /* the completer's bus */
	}
	s = count(&t, true, BY_CHUNK, &r);
	assert_false(says(r, PTT_NOTE_SILENT));
	assert_int_equal(r->unanswerable, 0);
	assert_true(r->peak_at_least); /* what it had open was there besides the others' */
	assert_true(r->fault_count[PTT_FAULT_UNANSWERED] + r->fault_count[PTT_FAULT_EVICTED] +
			    r->fault_count[PTT_FAULT_REUSED] >=
		    16);
	ptt_stats_close(s);
	trace_free(&t);
}

/* 200 reads in direction 2 of 4DW. Of every 40th the first record is repeated: by the device, which got no answer, so
 * it comes once then, or never. Or all packets are seen twice, between devices. */
static void a_read_that_was_asked_again_was_a_duplicate_and_its_loss_was_hidden(void **state)
{
	enum { READS = 200, WHO = 0x0100 };
	enum { NONE, AGAIN, AGAIN_FOR_NOTHING, LAST_AGAIN, PEERS, WAYS };
	static uint8_t bytes[4 * READS * 16];

	(void)state;
	for (uint32_t way = NONE; way < WAYS; way++) {
		const struct ptt_stats_opts o = { .match = true };
		const struct ptt_decode_opts d = { .format = PTT_4DW, .time = PTT_TIME_ABS };
		const struct ptt_report *r;
		struct ptt_stats *s;
		uint8_t *p = bytes;
		uint32_t t = 0;

		for (uint32_t i = 0; i < READS; i++) {
			const uint32_t from = (uint32_t)WHO << 16 | (i % 32) << 8;
			const struct handmade read = {
				.type = 0, .length = 1, .dw1 = from | 0xf, .dw2 = 0x1000 + 64 * i
			};
			const struct handmade answer = { .fmt = 2,
							 .type = 0x0a,
							 .length = 1,
							 .dw1 = 0x0080u << 16 | 4,
							 .dw2 = from | (64 * i & 0x7f) };
			const bool again = way == LAST_AGAIN ? i == READS - 20 : way != NONE && i % 40 == 20;
			struct handmade h = read;

			h.time = t += 300;
			p = handmade(p, PTT_4DW, &h);
			h.time = t += 300;
			if (again || way == PEERS)
				p = handmade(p, PTT_4DW, &h);
			h = answer;
			h.time = t += 300;
			if (!again || way != AGAIN_FOR_NOTHING)
				p = handmade(p, PTT_4DW, &h);
			h.time = t += 300;
			if (way == PEERS)
				p = handmade(p, PTT_4DW, &h);
		}
		const struct ptt_chunk c = { .p = bytes,
					     .n = (size_t)(p - bytes),
					     .format = PTT_4DW,
					     .coverage = PTT_COVERAGE_KNOWN | PTT_COVERAGE_DUPLICATES };
		assert_int_equal(ptt_stats_open(&s, &o), 0);
		ptt_stats_chunk(s, &c, &d);
		assert_int_equal(ptt_stats_finish(s, &r), 0);
		assert_int_equal(r->answered, way == AGAIN_FOR_NOTHING ? READS - 5 : READS);
		assert_int_equal(r->duplicates == 0, way == NONE);
		uint64_t binned = 0;
		for (uint32_t i = 0; i < r->nbins; i++)
			binned += r->bin[i].tlps;
		assert_int_equal(binned, r->traffic.tlps);
		if (r->twice_unsure != (way != NONE && way != PEERS) ||
		    r->twice_unsure != says(r, PTT_NOTE_TWICE_UNSURE))
			fail_msg("way %u: %s", way, r->twice_unsure ? "unsure" : "sure");
		assert_int_equal(r->may_mispair, r->twice_unsure);
		ptt_stats_close(s);
	}
}

/* Reads with relaxed ordering, each third one without, and their answers: each record `times` times. */
static struct ptt_stats *count_times(uint32_t times, const struct ptt_report **r)
{
	enum { READS = 60, WHO = 0x0100 };
	static uint8_t bytes[READS * 2 * 2 * 32];
	const struct ptt_stats_opts o = { .match = true };
	const struct ptt_decode_opts d = { .format = PTT_8DW, .time = PTT_TIME_ABS };
	struct ptt_stats *s;
	uint8_t *p = bytes;

	for (uint32_t i = 0; i < READS; i++) {
		const uint32_t from = (uint32_t)WHO << 16 | (i % 32) << 8, relaxed = i % 3 ? 1u << 13 : 0;
		const struct handmade pair[] = {
			{ .length = 4, .dw0 = relaxed, .dw1 = from | 0xff, .dw2 = 0x1000 + 256 * i },
			{ .fmt = 2, .type = 0x0a, .length = 4, .dw0 = relaxed, .dw1 = 0x0080u << 16 | 16, .dw2 = from },
		};

		for (uint32_t k = 0; k < 2 * times; k++) {
			struct handmade h = pair[k / times];

			h.time = 1200 * i + 600 * (k / times) + 100 * (k % times);
			p = handmade(p, PTT_8DW, &h);
		}
	}
	const struct ptt_chunk c = { .p = bytes,
				     .n = (size_t)(p - bytes),
				     .format = PTT_8DW,
				     .coverage = PTT_COVERAGE_KNOWN | PTT_COVERAGE_DUPLICATES };
	assert_int_equal(ptt_stats_open(&s, &o), 0);
	ptt_stats_chunk(s, &c, &d);
	assert_int_equal(ptt_stats_finish(s, r), 0);
	return s;
}

/* Packets between devices that are seen at both ports: their second records count in no figure. */
static void what_is_seen_at_both_ports_counts_once_in_each_figure(void **state)
{
	const struct ptt_report *a, *b;
	struct ptt_stats *once = count_times(1, &a), *twice = count_times(2, &b);

	(void)state;
	assert_int_equal(a->duplicates, 0);
	assert_int_equal(b->duplicates, a->records);
	assert_memory_equal(&b->traffic, &a->traffic, sizeof(a->traffic));
	assert_memory_equal(b->kind, a->kind, sizeof(a->kind));
	assert_memory_equal(b->cls, a->cls, sizeof(a->cls));
	assert_int_equal(a->relaxed, 80);
	assert_int_equal(a->ordered, 40);
	assert_int_equal(b->relaxed, a->relaxed);
	assert_int_equal(b->ordered, a->ordered);
	assert_int_equal(b->read_bytes, a->read_bytes);
	assert_int_equal(b->read_enabled, a->read_enabled);
	assert_int_equal(b->ntypes, a->ntypes);
	for (uint32_t i = 0; i < a->ntypes; i++) {
		const struct ptt_type_row *x = &a->type[i], *y = &b->type[i];

		assert_true(x->type_index == y->type_index && x->kind == y->kind && x->tlps == y->tlps &&
			    x->dws == y->dws && x->bytes == y->bytes && x->relaxed == y->relaxed);
		assert_int_equal(x->relaxed, 40);
	}
	for (uint32_t i = 0; i < PTT_SIZES; i++)
		assert_memory_equal(b->size[i], a->size[i], sizeof(a->size[i]));
	assert_int_equal(b->requester[0].tlps, a->requester[0].tlps);
	assert_int_equal(b->requester[0].asked_bytes, a->requester[0].asked_bytes);
	assert_int_equal(b->requester[0].read_bytes, a->requester[0].read_bytes);
	assert_int_equal(b->completer[0].completions, a->completer[0].completions);
	assert_int_equal(b->completer[0].bytes, a->completer[0].bytes);
	assert_memory_equal(b->completer[0].status, a->completer[0].status, sizeof(a->completer[0].status));
	assert_int_equal(b->npages, a->npages);
	for (uint32_t i = 0; i < a->npages; i++)
		assert_int_equal(b->page[i].tlps, a->page[i].tlps);
	ptt_stats_close(once);
	ptt_stats_close(twice);
}

/* Requests of one device and completions for another one: what two directions of two sides look like. */
static void completions_of_the_other_side_are_said(void **state)
{
	struct trace a = trace_make((struct ptt_gen_opts){ .seed = 8 }, 5000);
	struct trace b = trace_make((struct ptt_gen_opts){ .seed = 9, .tag14 = true, .first_time = 1u << 30 }, 5000);
	struct ptt_stats_opts o = { .match = true };
	struct ptt_stats *s;
	const struct ptt_report *r;

	(void)state;
	keep_only(&a, 1 << TLP_NP);
	keep_only(&b, 1 << TLP_CPL);
	assert_int_equal(ptt_stats_open(&s, &o), 0);
	count_chunks(s, &a);
	count_chunks(s, &b);
	assert_int_equal(ptt_stats_finish(s, &r), 0);
	assert_true(says(r, PTT_NOTE_OTHER_SIDE));
	assert_true(says(r, PTT_NOTE_TIME_UNSURE));
	ptt_stats_close(s);
	trace_free(&a);
	trace_free(&b);
}

static void nothing_is_a_report_too(void **state)
{
	struct ptt_stats *s;
	const struct ptt_report *r;

	(void)state;
	assert_int_equal(ptt_stats_open(&s, NULL), 0);
	assert_int_equal(ptt_stats_finish(s, &r), 0);
	assert_int_equal(r->records, 0);
	assert_int_equal(r->nnotes, 1);
	assert_int_equal(r->note[0].note, PTT_NOTE_EMPTY);
	assert_int_equal(ptt_stats_finish(s, &r), -TALLY_ESTATE);
	ptt_stats_close(s);
}

static void padding_is_counted_and_skipped(void **state)
{
	struct trace t = trace_make((struct ptt_gen_opts){ .seed = 10, .format = PTT_4DW }, 1000);
	const struct ptt_report *r;

	(void)state;
	memset(t.p + 500 * 16, 0, 500 * 16);
	for (enum way way = BY_CHUNK; way <= BY_THREE; way++) {
		if (way == BY_RECORD)
			continue; /* the caller's there */
		struct ptt_stats *s = count(&t, true, way, &r);
		assert_int_equal(r->padding, 500);
		assert_int_equal(r->records, 500);
		ptt_stats_close(s);
	}
	trace_free(&t);
}

static void devices_are_told_apart(void **state)
{
	struct trace t = trace_make((struct ptt_gen_opts){ .seed = 11 }, 3000);
	struct ptt_stats_opts o = { .match = true };
	struct ptt_stats *s;
	const struct ptt_report *r;

	(void)state;
	assert_int_equal(ptt_stats_open(&s, &o), 0);
	for (size_t at = 0; at < t.n; at += 3200) /* the same bytes for both, in turn */
		for (uint32_t device = 0; device < 2; device++) {
			struct ptt_chunk c = { .p = t.p + at,
					       .n = 3200,
					       .offset = 2 * at + 3200 * device,
					       .format = PTT_8DW,
					       .device = device };
			ptt_stats_chunk(s, &c, &t.decode);
		}
	assert_int_equal(ptt_stats_finish(s, &r), 0);
	const struct ptt_gen_truth *w = ptt_gen_truth(t.gen);
	assert_int_equal(r->ndevices, 2);
	assert_int_equal(r->device[0].records, w->records);
	assert_int_equal(r->device[1].records, w->records);
	assert_int_equal(r->device[1].span, w->now);
	assert_int_equal(r->nrequesters, 2 * w->nrequesters);
	assert_int_equal(r->answered, 2 * w->answered);
	assert_int_equal(r->outstanding_peak, w->peak);
	assert_int_equal(r->latency->sum, 2 * w->latency.sum);
	assert_true(says(r, PTT_NOTE_CLOCKS));
	ptt_stats_close(s);
	trace_free(&t);
}

/* Counted in so many parts: the same bytes for two devices, and half of them for a third, in turn. */
static struct ptt_stats *count_devices(const struct trace *t, uint32_t parts, const struct ptt_report **r)
{
	struct ptt_stats *s[3];

	for (uint32_t i = 0; i < parts; i++) {
		struct ptt_stats_opts o = { .match = true, .shard = i, .shards = parts };
		assert_int_equal(ptt_stats_open(&s[i], &o), 0);
		for (size_t at = 0; at < t->n; at += 3200)
			for (uint32_t device = 0; device < (at < t->n / 2 ? 3 : 2); device++) {
				struct ptt_chunk c = { .p = t->p + at,
						       .n = 3200,
						       .offset = 3 * at + 3200 * device,
						       .format = PTT_8DW,
						       .device = device };
				ptt_stats_chunk(s[i], &c, &t->decode);
			}
	}
	for (uint32_t i = 1; i < parts; i++) {
		assert_int_equal(ptt_stats_merge(s[0], s[i]), 0);
		ptt_stats_close(s[i]);
	}
	assert_int_equal(ptt_stats_finish(s[0], r), 0);
	return s[0];
}

static void outstanding_requests_are_those_of_one_device(void **state)
{
	struct trace t = trace_make((struct ptt_gen_opts){ .seed = 11 }, 20000);
	const struct ptt_gen_truth *w = ptt_gen_truth(t.gen);
	uint64_t ticks = w->outstanding_ticks + w->outstanding * (w->now - w->level_since);
	const struct ptt_report *r;

	(void)state;
	for (uint32_t parts = 1; parts <= 3; parts++) {
		struct ptt_stats *s = count_devices(&t, parts, &r);
		for (uint32_t i = 0; i < 2; i++) {
			assert_int_equal(r->device[i].outstanding_ticks, ticks);
			assert_true(r->peak_is_bound ? r->device[i].outstanding_peak >= w->peak :
						       r->device[i].outstanding_peak == w->peak);
		}
		double mean = (double)r->outstanding_ticks / (double)r->outstanding_span;
		for (uint32_t i = 0; i < 3; i++)
			assert_true((double)r->device[i].outstanding_ticks / (double)r->device[i].span <= mean);
		assert_true(mean <= r->outstanding_peak);
		for (uint32_t i = 0; i < r->nbins; i++)
			assert_true(r->bin[i].outstanding_ticks <= r->bin[i].outstanding_peak * r->bin_ticks);
		ptt_stats_close(s);
	}
	trace_free(&t);
}

static void addresses_of_two_devices_are_apart(void **state)
{
	struct trace t = trace_make((struct ptt_gen_opts){ .seed = 11 }, 2000);
	const struct ptt_report *one, *r;
	struct ptt_stats *alone = count(&t, true, BY_CHUNK, &one);

	(void)state;
	assert_true(one->npages > 10 && one->ntargets > 0);
	for (uint32_t parts = 1; parts <= 3; parts++) {
		struct ptt_stats *s = count_devices(&t, parts, &r);
		assert_true(r->pages_exact && r->pages_known > 2 * one->pages_known &&
			    r->pages_known < 3 * one->pages_known);
		for (uint32_t device = 0; device < 2; device++) {
			assert_int_equal(r->page[device].device, device);
			assert_int_equal(r->page[device].address, one->page[0].address);
			assert_int_equal(r->page[device].tlps, one->page[0].tlps);
			assert_int_equal(r->page[device].written_bytes, one->page[0].written_bytes);
			assert_int_equal(r->target[device].device, device);
			assert_int_equal(r->target[device].address, one->target[0].address);
			assert_int_equal(r->target[device].writes, one->target[0].writes);
		}
		ptt_stats_close(s);
	}
	ptt_stats_close(alone);
	trace_free(&t);
}

/* The highest addresses that a header can hold, and more devices than have rows. */
static void every_address_of_every_device_is_kept(void **state)
{
	struct tlp t = { .class = TLP_P,
			 .type_index = TLP_ROW_MWr64,
			 .length_dw = 1,
			 .bytes = 4,
			 .dws = 8,
			 .first_be = 15,
			 .address = ~3ull };
	const struct ptt_report *r;
	struct ptt_stats *s;

	(void)state;
	for (uint32_t device = 0; device < 100; device += 9) {
		assert_int_equal(ptt_stats_open(&s, NULL), 0);
		t.device = device;
		ptt_stats_record(s, &t);
		ptt_stats_record(s, &t);
		assert_int_equal(ptt_stats_finish(s, &r), 0);
		assert_int_equal(r->npages, 1);
		assert_int_equal(r->page[0].address, ~0xfffull);
		assert_int_equal(r->page[0].device, device);
		assert_int_equal(r->ntargets, 1);
		assert_int_equal(r->target[0].address, ~3ull);
		ptt_stats_close(s);
	}
}

/* A write of one byte is one byte, as it is for its requester and in what the link carried usefully. */
static void a_page_has_the_bytes_that_are_enabled_and_not_whole_double_words(void **state)
{
	struct tlp write = {
		.class = TLP_P, .type_index = TLP_ROW_MWr32, .length_dw = 1, .bytes = 1, .dws = 8, .first_be = 4
	};
	struct tlp read = {
		.class = TLP_NP, .type_index = TLP_ROW_MRd32, .length_dw = 2, .dws = 8, .first_be = 8, .last_be = 3
	};
	const struct ptt_report *r;
	struct ptt_stats *s;

	(void)state;
	assert_int_equal(ptt_stats_open(&s, NULL), 0);
	ptt_stats_record(s, &write);
	ptt_stats_record(s, &read);
	assert_int_equal(ptt_stats_finish(s, &r), 0);
	assert_int_equal(r->page[0].written_bytes, 1);
	assert_int_equal(r->page[0].written_bytes, r->requester[0].written_bytes);
	assert_int_equal(r->page[0].read_bytes, 3);
	assert_int_equal(r->page[0].read_bytes, r->requester[0].asked_bytes);
	ptt_stats_close(s);
}

/* In both layouts of the loop: by chunk and one by one. */
static void what_nobody_knows_is_not_poisoned(void **state)
{
	struct trace t = trace_make((struct ptt_gen_opts){ .seed = 3 }, 1);
	const struct ptt_report *r;

	(void)state;
	memcpy(t.p + 8, (const uint8_t[]){ 0x00, 0x40, 0x00, 0xff }, 4); /* Fmt 111 Type 11111, EP */
	for (enum way way = BY_CHUNK; way <= BY_RECORD; way++) {
		struct ptt_stats *s = count(&t, true, way, &r);
		assert_int_equal(r->fault_count[PTT_FAULT_RESERVED], 1);
		assert_int_equal(r->fault_count[PTT_FAULT_POISONED], 0);
		ptt_stats_close(s);
	}
	trace_free(&t);
}

/* ---- bounds -------------------------------------------------------------------------------------------------- */

static void more_requesters_than_rows_share_one(void **state)
{
	struct tlp t = { .class = TLP_P, .type_index = TLP_ROW_MWr32, .length_dw = 2, .bytes = 8, .dws = 8 };
	struct ptt_stats *s;
	const struct ptt_report *r;

	(void)state;
	assert_int_equal(ptt_stats_open(&s, NULL), 0);
	for (uint32_t i = 0; i < 3 * PTT_STATS_ROWS; i++) {
		t.requester = (uint16_t)i;
		ptt_stats_record(s, &t);
	}
	assert_int_equal(ptt_stats_finish(s, &r), 0);
	assert_int_equal(r->nrequesters, PTT_STATS_ROWS + 1);
	assert_true(r->requester[PTT_STATS_ROWS].others);
	assert_int_equal(r->requester[PTT_STATS_ROWS].tlps, 2 * PTT_STATS_ROWS);
	assert_int_equal(r->requester[PTT_STATS_ROWS].written_bytes, 2 * 8 * PTT_STATS_ROWS);
	assert_true(says(r, PTT_NOTE_ROWS_CUT));
	ptt_stats_close(s);
}

/* Ten busy pages among a hundred thousand that are touched once. */
static void frequent_pages_survive_a_flood(void **state)
{
	struct tlp t = { .class = TLP_P, .type_index = TLP_ROW_MWr64, .length_dw = 2, .bytes = 8, .dws = 8 };
	struct ptt_stats *s;
	const struct ptt_report *r;

	(void)state;
	assert_int_equal(ptt_stats_open(&s, NULL), 0);
	for (uint64_t i = 0; i < 100000; i++) {
		t.requester = 1;
		t.address = (i + 1000) << 12;
		ptt_stats_record(s, &t);
		t.requester = 2;
		t.address = i % 10 << 12;
		ptt_stats_record(s, &t);
	}
	assert_int_equal(ptt_stats_finish(s, &r), 0);
	assert_false(r->pages_exact);
	assert_true(r->pages_error < 200000 / (PTT_STATS_PAGES / 16));
	for (uint32_t i = 0; i < 10; i++) {
		assert_int_equal(r->page[i].requester, 2);
		assert_uint_in_range(r->page[i].tlps, 10000 - r->pages_error, 10000);
	}
	assert_true(says(r, PTT_NOTE_PAGES_CUT));
	for (uint32_t i = 0; i < r->nnotes; i++) /* there were no targets to be too low */
		assert_true(r->note[i].note != PTT_NOTE_PAGES_CUT || strstr(r->note[i].text, "targets") == NULL);
	ptt_stats_close(s);
}

/* One count gives up the oldest of all, parts the oldest of theirs. */
static void parts_that_have_no_room_say_so(void **state)
{
	struct trace t = trace_make((struct ptt_gen_opts){ .seed = 12 }, 5000);
	struct ptt_stats *s[2];
	const struct ptt_report *r;

	(void)state;
	for (uint32_t parts = 1; parts <= 2; parts++)
		for (uint32_t most = 2; most <= 65536; most *= 32768) {
			for (uint32_t i = 0; i < parts; i++) {
				struct ptt_stats_opts o = {
					.match = true, .most_outstanding = most, .shard = i, .shards = parts
				};
				assert_int_equal(ptt_stats_open(&s[i], &o), 0);
				count_chunks(s[i], &t);
			}
			if (parts == 2) {
				assert_int_equal(ptt_stats_merge(s[0], s[1]), 0);
				ptt_stats_close(s[1]);
			}
			assert_int_equal(ptt_stats_finish(s[0], &r), 0);
			assert_int_equal(r->fault_count[PTT_FAULT_EVICTED] != 0, most == 2);
			assert_int_equal(says(r, PTT_NOTE_EVICTED), parts == 2 && most == 2);
			ptt_stats_close(s[0]);
		}
	trace_free(&t);
}

/* Any bytes at all: the sanitizers look on. */
static void random_bytes_are_counted(void **state)
{
	uint8_t *p = mem_alloc(1 << 16);
	uint64_t x = 1;

	(void)state;
	for (int way = 0; way < 16; way++) {
		struct ptt_stats_opts o = { .match = way & 1, .most_outstanding = 16, .shards = way & 2 ? 2 : 0 };
		struct ptt_decode_opts d = { .format = way & 4 ? PTT_4DW : PTT_8DW, .tag14 = way & 8 };
		struct ptt_stats *s;
		const struct ptt_report *r;
		for (int i = 0; i < 1 << 16; i++) {
			x = x * 6364136223846793005u + 1442695040888963407u;
			p[i] = (uint8_t)(x >> 56);
		}
		assert_int_equal(ptt_stats_open(&s, &o), 0);
		struct ptt_chunk c = { .p = p, .n = 1 << 16, .format = d.format, .device = (uint32_t)way * 1000 };
		ptt_stats_chunk(s, &c, &d);
		ptt_stats_chunk(s, &c, &d);
		assert_int_equal(ptt_stats_finish(s, &r), 0);
		ptt_stats_close(s);
	}
	mem_free(p);
}

/* ---- records that are missing ------------------------------------------------------------------------------------ */

/* Three stretches of a trace, of which the second is missing: alone and in two shards. */
static void a_gap_ends_what_was_open_and_no_latency_spans_it(void **state)
{
	(void)state;
	for (uint32_t shards = 1; shards <= 2; shards++) {
		enum { PART = 10000 * 32 };
		struct trace t = trace_make((struct ptt_gen_opts){ .seed = 31, .faults = 500 }, 10000);
		uint64_t open = ptt_gen_truth(t.gen)->outstanding, requests = ptt_gen_truth(t.gen)->requests, before,
			 unanswered = 0;
		uint64_t records = 20000, cut = 0;
		uint8_t *more = mem_alloc(PART);
		struct ptt_stats *s[2];
		const struct ptt_report *r;

		assert_true(open > 0);
		ptt_gen_fill(t.gen, more, PART);
		before = ptt_gen_truth(t.gen)->requests;
		ptt_gen_fill(t.gen, more, PART);
		requests += ptt_gen_truth(t.gen)->requests - before;
		for (uint32_t i = 0; i < shards; i++) {
			struct ptt_stats_opts o = { .match = true, .shard = i, .shards = shards > 1 ? shards : 0 };
			struct ptt_chunk c = { .p = more,
					       .n = PART,
					       .format = PTT_8DW,
					       .offset = 2 * PART,
					       .gap = { .bytes = PART, .why = PTT_GAP_OFFSETS } };
			assert_int_equal(ptt_stats_open(&s[i], &o), 0);
			count_chunks(s[i], &t);
			ptt_stats_chunk(s[i], &c, &t.decode);
		}
		if (shards == 2)
			assert_int_equal(ptt_stats_merge(s[0], s[1]), 0);
		assert_int_equal(ptt_stats_finish(s[0], &r), 0);
		for (uint32_t i = 0; i < r->nrequesters; i++) {
			unanswered += r->requester[i].unanswered + r->requester[i].given_up;
			cut += r->requester[i].cut;
		}
		assert_int_equal(r->records, records);
		assert_int_equal(r->requests, requests);
		assert_int_equal(r->cut, open);
		assert_int_equal(cut, open);
		assert_int_equal(r->answered + unanswered + r->cut, requests);
		assert_true(r->latency->most <= ptt_gen_truth(t.gen)->latency.most);
		assert_true(r->after_gap > 0 && r->fault_count[PTT_FAULT_UNEXPECTED_CPL] < 20);
		assert_int_equal(r->gaps, 1);
		assert_int_equal(r->ngaps, 1);
		assert_int_equal(r->gap[0].cut, open);
		assert_int_equal(r->gap[0].bytes, PART);
		assert_int_equal(r->gap[0].offset, 2 * PART);
		assert_int_equal(r->gap_bytes, PART);
		assert_int_equal(r->device[0].gaps, 1);
		ptt_stats_close(s[0]);
		if (shards == 2)
			ptt_stats_close(s[1]);
		mem_free(more);
		trace_free(&t);
	}
}

/* ---- memory and times that go wrong --------------------------------------------------------------------------- */

static int run_once(const struct trace *t)
{
	struct ptt_stats_opts o = { .match = true, .track = true, .most_outstanding = 1000, .shards = 2 };
	struct ptt_stats *s[2] = { NULL, NULL };
	const struct ptt_report *r;
	int rc = 0;

	for (o.shard = 0; o.shard < 2 && rc >= 0; o.shard++)
		if ((rc = ptt_stats_open(&s[o.shard], &o)) >= 0)
			count_chunks(s[o.shard], t);
	if (rc >= 0)
		rc = ptt_stats_merge(s[0], s[1]);
	if (rc >= 0)
		rc = ptt_stats_finish(s[0], &r);
	ptt_stats_close(s[0]);
	ptt_stats_close(s[1]);
	return rc;
}

static void every_failing_allocation_is_reported_and_leaks_nothing(void **state)
{
	struct trace t = trace_make((struct ptt_gen_opts){ .seed = 12, .faults = 1000 }, 2000);
	long before = mem_live();

	(void)state;
	for (long n = 1;; n++) {
		mem_fail_at(n);
		int rc = run_once(&t);
		bool reached = mem_failed();
		mem_fail_at(0);
		assert_int_equal(mem_live(), before);
		if (!reached) {
			assert_int_equal(rc, 0);
			break;
		}
		assert_int_equal(rc, -TALLY_ENOMEM);
	}
	trace_free(&t);
}

/* A step back counted as a wrap: the span became 2^32 ticks longer, without a word. */
static void one_time_stamp_with_a_flipped_bit_was_a_wrap_of_the_counter(void **state)
{
	static const uint32_t at[] = { 0, 1, 2, 511, 512, 513, 2500, 4998 };
	static const unsigned bits[] = { 31, 30, 27, 20 };

	(void)state;
	for (int match = 0; match < 2; match++)
		for (enum way way = BY_CHUNK; way <= BY_THREE; way++)
			for (size_t i = 0; i < COUNT(at) * COUNT(bits); i++) {
				struct trace t =
					trace_make((struct ptt_gen_opts){ .seed = 8, .no_pauses = true }, 5000);
				const uint32_t record = at[i % COUNT(at)];
				const uint8_t bit = (uint8_t)(1u << bits[i / COUNT(at)] % 8);
				const struct ptt_report *r;

				if (way == BY_RECORD || (record == 0 && bits[i / COUNT(at)] != 31)) {
					trace_free(&t); /* a first one that is too early is like a pause behind it */
					continue;
				}
				t.p[record * 32 + 28 + bits[i / COUNT(at)] / 8] ^= bit;
				struct ptt_stats *s = count(&t, match, way, &r);
				if (r->span + 200 < ptt_gen_truth(t.gen)->now || r->span > ptt_gen_truth(t.gen)->now)
					fail_msg("record %u, bit %u: %llu ticks", record, bits[i / COUNT(at)],
						 (unsigned long long)r->span);
				assert_int_equal(r->strays, 1);
				assert_true(says(r, PTT_NOTE_TIME_ORDER));
				ptt_stats_close(s);
				trace_free(&t);
			}
}

/* Of bare records nothing tells whether their completions could be there. */
static void requests_of_bare_8dw_were_faults_without_a_doubt(void **state)
{
	struct trace t = trace_make((struct ptt_gen_opts){ .seed = 8 }, 5000);
	const struct ptt_report *r;

	(void)state;
	keep_only(&t, 1 << TLP_NP);
	struct ptt_stats *s = count(&t, true, BY_CHUNK, &r);
	assert_int_equal(says(r, PTT_NOTE_UNKNOWN_DIRECTION), r->fault_count[PTT_FAULT_UNANSWERED] +
									      r->fault_count[PTT_FAULT_REUSED] +
									      r->fault_count[PTT_FAULT_EVICTED] !=
								      0);
	ptt_stats_close(s);
	trace_free(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(wide_records_with_absolute_time_that_wraps_are_told_truly),
		cmocka_unit_test(wide_records_with_delta_time_are_told_truly),
		cmocka_unit_test(narrow_records_with_absolute_time_are_told_truly),
		cmocka_unit_test(narrow_records_with_delta_time_are_told_truly),
		cmocka_unit_test(wide_tags_and_segments_are_told_truly),
		cmocka_unit_test(few_tags_that_are_used_again_are_told_truly),
		cmocka_unit_test(limits_are_inferred),
		cmocka_unit_test(a_missing_direction_is_said),
		cmocka_unit_test(completions_of_the_other_side_are_said),
		cmocka_unit_test(a_requester_that_is_never_answered_is_said),
		cmocka_unit_test(a_device_that_is_never_answered_was_taken_for_a_host_and_hidden),
		cmocka_unit_test(what_is_seen_at_both_ports_counts_once_in_each_figure),
		cmocka_unit_test(a_read_that_was_asked_again_was_a_duplicate_and_its_loss_was_hidden),
		cmocka_unit_test(nothing_is_a_report_too),
		cmocka_unit_test(padding_is_counted_and_skipped),
		cmocka_unit_test(devices_are_told_apart),
		cmocka_unit_test(outstanding_requests_are_those_of_one_device),
		cmocka_unit_test(addresses_of_two_devices_are_apart),
		cmocka_unit_test(every_address_of_every_device_is_kept),
		cmocka_unit_test(a_page_has_the_bytes_that_are_enabled_and_not_whole_double_words),
		cmocka_unit_test(what_nobody_knows_is_not_poisoned),
		cmocka_unit_test(more_requesters_than_rows_share_one),
		cmocka_unit_test(frequent_pages_survive_a_flood),
		cmocka_unit_test(parts_that_have_no_room_say_so),
		cmocka_unit_test(random_bytes_are_counted),
		cmocka_unit_test(a_gap_ends_what_was_open_and_no_latency_spans_it),
		cmocka_unit_test(every_failing_allocation_is_reported_and_leaks_nothing),
		cmocka_unit_test(one_time_stamp_with_a_flipped_bit_was_a_wrap_of_the_counter),
		cmocka_unit_test(requests_of_bare_8dw_were_faults_without_a_doubt),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
