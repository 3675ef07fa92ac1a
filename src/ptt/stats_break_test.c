/*
 * stats_break_test.c: records that are missing though no size, offset or flag says so.
 *
 * Traffic is generated, and the generator knows the errors in it and the greatest latency.  Then records are cut out,
 * or pieces given in another's place.  What the cut adds to the errors, and a latency over it, are false.
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
#include "ptt/rule.h"

enum { RECORDS = 20000, PIECES = 6, BREAKS_MOST = 4, CUTS = 10 };
static const uint64_t both_ways[2] = { 0x07280001, 0x107280001 }; /* events of direction 2, all types; by format */

struct told {
	uint64_t unexpected, reused, unanswered, most, gaps, cut, after_gap, broken;
	bool may_miss, may_mispair;
};
struct trace {
	struct ptt_gen_opts o;
	uint8_t *p;
	size_t n, record;
	uint64_t most, unexpected, reused; /* as the generator knows them */
};

static struct trace trace_of(const struct ptt_gen_opts *o)
{
	struct trace t = { .o = *o, .record = o->format * 4u };
	struct ptt_gen *g;

	t.n = RECORDS * t.record;
	t.p = mem_alloc(t.n);
	assert_int_equal(ptt_gen_open(&g, o), 0);
	ptt_gen_fill(g, t.p, t.n);
	t.most = ptt_gen_truth(g)->latency.most;
	t.unexpected = ptt_gen_truth(g)->fault[PTT_FAULT_UNEXPECTED_CPL];
	t.reused = ptt_gen_truth(g)->fault[PTT_FAULT_REUSED];
	ptt_gen_close(g);
	return t;
}

static void trace_cut(struct trace *t, uint32_t at, uint32_t n)
{
	memmove(t->p + at * t->record, t->p + (at + n) * t->record, t->n - (at + n) * t->record);
	t->n -= n * t->record;
}

/* Of PIECES pieces the third and the fourth change places. */
static void trace_swap(struct trace *t)
{
	const size_t piece = RECORDS / PIECES * t->record;
	uint8_t *third = mem_alloc(piece), *at = t->p + 2 * piece;

	memcpy(third, at, piece);
	memmove(at, at + piece, piece);
	memcpy(at + piece, third, piece);
	mem_free(third);
}

/* Counted in `shards` parts, with breaks if there are some; *breaks: those that it finds. Bytes [late, ...) come as
 * another piece, of which an offset says that so many bytes before are missing; 0: all comes as one. */
static struct told trace_count(const struct trace *t, uint32_t shards, const struct ptt_break *with, uint32_t nwith,
			       struct ptt_break *breaks, uint32_t *nbreaks, size_t late, uint64_t jump)
{
	const uint64_t config = both_ways[t->o.format == PTT_8DW];
	struct ptt_chunk c = { .p = t->p,
			       .n = late ? late : t->n,
			       .format = t->o.format,
			       .offset = 4096,
			       .config = config,
			       .coverage = ptt_config_coverage(config, (enum ptt_format)t->o.format) };
	const struct ptt_decode_opts o = { .format = t->o.format,
					   .time = t->o.time ? t->o.time : (uint8_t)PTT_TIME_ABS };
	struct ptt_stats *s[2];
	const struct ptt_report *r;

	for (uint32_t i = 0; i < shards; i++) {
		const struct ptt_stats_opts so = {
			.match = true, .shard = i, .shards = shards > 1 ? shards : 0, .breaks = with, .nbreaks = nwith
		};
		struct ptt_chunk rest = c;

		assert_int_equal(ptt_stats_open(&s[i], &so), 0);
		ptt_stats_chunk(s[i], &c, &o);
		rest.p += c.n;
		rest.n = t->n - c.n;
		rest.offset += c.n;
		if (jump)
			rest.gap = (struct ptt_gap){ .why = PTT_GAP_OFFSETS, .bytes = jump };
		if (rest.n)
			ptt_stats_chunk(s[i], &rest, &o);
		if (i)
			assert_int_equal(ptt_stats_merge(s[0], s[i]), 0);
	}
	if (breaks)
		*nbreaks = ptt_stats_breaks(s[0], breaks);
	assert_int_equal(ptt_stats_finish(s[0], &r), 0);
	const struct told told = { .unexpected = r->fault_count[PTT_FAULT_UNEXPECTED_CPL],
				   .reused = r->fault_count[PTT_FAULT_REUSED],
				   .most = r->latency->most,
				   .gaps = r->gaps,
				   .cut = r->cut,
				   .after_gap = r->after_gap,
				   .unanswered = r->fault_count[PTT_FAULT_UNANSWERED],
				   .broken = r->broken,
				   .may_miss = r->may_miss,
				   .may_mispair = r->may_mispair };
	for (uint32_t i = 0; i < shards; i++)
		ptt_stats_close(s[i]);
	return told;
}

/* As a report does: counted, and once more with the breaks that it found. */
static struct told trace_report(const struct trace *t, uint32_t shards, size_t late, uint64_t jump, uint32_t *nbreaks)
{
	struct ptt_break breaks[PTT_BREAKS];
	struct told told = trace_count(t, shards, NULL, 0, breaks, nbreaks, late, jump);

	return *nbreaks ? trace_count(t, shards, breaks, *nbreaks, NULL, NULL, late, jump) : told;
}

/* Either the figures are the truth's, or it is said that they are bounds. */
static bool is_told(const struct trace *t, const struct told *told)
{
	bool is = told->unexpected == t->unexpected && told->reused <= t->reused && told->most <= t->most;

	if (!is && !told->may_miss)
		fail_msg("seed %lu, %u DWs: %lu unexpected, %lu reused, most %lu for %lu, and no word",
			 (unsigned long)t->o.seed, t->o.format, (unsigned long)told->unexpected,
			 (unsigned long)told->reused, (unsigned long)told->most, (unsigned long)t->most);
	return is;
}

static const struct ptt_gen_opts kinds[] = {
	{ .format = PTT_4DW, .time = PTT_TIME_ABS },
	{ .format = PTT_4DW, .time = PTT_TIME_DELTA },
	{ .format = PTT_8DW, .time = PTT_TIME_DELTA },
	{ .format = PTT_8DW, .time = PTT_TIME_ABS },
};

/* How many of CUTS cuts of so many records of a kind leave figures that are false, though told as bounds. */
static uint32_t bounds_of_cuts(const struct ptt_gen_opts *kind, uint32_t cut, uint32_t shards)
{
	uint32_t bounds = 0, nbreaks;

	for (uint64_t seed = 1; seed <= CUTS; seed++) {
		struct ptt_gen_opts o = *kind;
		o.seed = seed;
		struct trace t = trace_of(&o);

		trace_cut(&t, 9500 + 37 * (uint32_t)seed, cut);
		const struct told told = trace_report(&t, shards, 0, 0, &nbreaks);
		bounds += !is_told(&t, &told);
		mem_free(t.p);
	}
	return bounds;
}

static void cuts_in_4dw_or_with_deltas_left_false_unexpected_completions(void **state)
{
	(void)state;
	for (size_t k = 0; k < COUNT(kinds); k++)
		for (uint32_t shards = 1; shards <= 2; shards++) {
			const uint32_t bounds = bounds_of_cuts(&kinds[k], 1000, shards);

			if (bounds > 2)
				fail_msg("%u DWs, time %u: %u", kinds[k].format, kinds[k].time, bounds);
		}
}

static void cuts_of_20_records_left_false_unexpected_completions_and_latencies(void **state)
{
	(void)state;
	for (size_t k = 0; k < COUNT(kinds); k++) {
		const uint32_t bounds = bounds_of_cuts(&kinds[k], 20, 1);

		if (bounds > 4)
			fail_msg("%u DWs, time %u: %u", kinds[k].format, kinds[k].time, bounds);
	}
}

/* One record or two look as a device's error does; then it is said that nobody can tell. */
static void cuts_of_two_records_were_told_as_errors_of_devices(void **state)
{
	(void)state;
	for (size_t k = 0; k < COUNT(kinds); k++)
		(void)bounds_of_cuts(&kinds[k], 2, 1);
}

static void pieces_given_in_each_others_place_left_false_latencies(void **state)
{
	uint32_t bounds = 0, nbreaks;

	(void)state;
	for (size_t k = 0; k < COUNT(kinds); k++)
		for (uint64_t seed = 1; seed <= 8; seed++) {
			struct ptt_gen_opts o = kinds[k];
			o.seed = seed;
			struct trace t = trace_of(&o);

			trace_swap(&t);
			const struct told told = trace_report(&t, 1, 0, 0, &nbreaks);
			bounds += !is_told(&t, &told);
			assert_uint_in_range(told.gaps, 2, BREAKS_MOST);
			mem_free(t.p);
		}
	assert_uint_in_range(bounds, 0, 6);
}

/* The offset of the next piece says how many are missing, but not that they are missing before. */
static void a_cut_in_one_of_several_pieces_was_told_at_the_next_offset_alone(void **state)
{
	uint32_t bounds = 0, nbreaks;

	(void)state;
	for (size_t k = 0; k < COUNT(kinds); k++)
		for (uint64_t seed = 1; seed <= 8; seed++) {
			struct ptt_gen_opts o = kinds[k];
			o.seed = seed;
			struct trace t = trace_of(&o);

			trace_cut(&t, 7500 + 37 * (uint32_t)seed, 500);
			const struct told told = trace_report(&t, 1, 9500 * t.record, 500 * t.record, &nbreaks);
			bounds += !is_told(&t, &told);
			mem_free(t.p);
		}
	assert_uint_in_range(bounds, 0, 6);
}

/* Errors of devices stay errors: they are scattered. */
static void errors_of_devices_were_no_breaks(void **state)
{
	(void)state;
	for (size_t k = 0; k < COUNT(kinds); k++)
		for (uint64_t seed = 1; seed <= 18; seed++) {
			struct ptt_gen_opts o = kinds[k];
			o.seed = seed;
			o.faults = 500u << 2 * (seed % 3);
			o.tags = seed % 2 ? 64 : 4;
			o.requesters = seed % 4 ? 8 : 2;
			struct trace t = trace_of(&o);
			uint32_t nbreaks;
			const struct told told = trace_report(&t, 1, 0, 0, &nbreaks);

			assert_int_equal(nbreaks, 0);
			assert_int_equal(told.unexpected, t.unexpected);
			assert_int_equal(told.may_miss, t.unexpected + told.reused != 0);
			mem_free(t.p);
		}
}

/* It is found where it is: what is open there is cut off, and little else. */
static void a_break_is_where_the_records_are_missing(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 10; seed++) {
		const struct ptt_gen_opts o = { .seed = seed, .format = PTT_4DW };
		const uint32_t at = 9500 + 37 * (uint32_t)seed;
		struct trace t = trace_of(&o);
		struct ptt_break breaks[PTT_BREAKS];
		uint32_t n;

		trace_cut(&t, at, 1000);
		(void)trace_count(&t, 1, NULL, 0, breaks, &n, 0, 0);
		assert_int_equal(n, 1);
		assert_uint_in_range(breaks[0].from, 4096 + (at - 100) * t.record, 4096 + at * t.record);
		assert_uint_in_range(breaks[0].to, 4096 + at * t.record, 4096 + (at + 100) * t.record);
		const struct told told = trace_count(&t, 1, breaks, n, NULL, NULL, 0, 0);
		assert_int_equal(told.gaps, 1);
		assert_uint_in_range(told.cut, 1, 64);
		assert_uint_in_range(told.after_gap, 1, 64);
		mem_free(t.p);
	}
}

/* Records of a trace that is written by hand: reads of 64 bytes and more, and their completions. */
static void trace_add(struct trace *t, const struct handmade *h)
{
	handmade(t->p + t->n, (enum ptt_format)t->o.format, h);
	t->n += t->record;
}

static void add_read(struct trace *t, uint32_t time, uint32_t tag, uint32_t address, uint32_t dws)
{
	trace_add(t, &(struct handmade){
			     .length = dws, .time = time, .dw1 = 0x100u << 16 | tag << 8 | 0xff, .dw2 = address });
}

static void add_part(struct trace *t, uint32_t time, uint32_t tag, uint32_t address, uint32_t dws, uint32_t left)
{
	trace_add(t, &(struct handmade){ .fmt = 2,
					 .type = 10,
					 .length = dws,
					 .time = time,
					 .dw1 = 0x80u << 16 | left,
					 .dw2 = 0x100u << 16 | tag << 8 | (address & 0x7f) });
}

static void add_answer(struct trace *t, uint32_t time, uint32_t tag, uint32_t address, uint32_t dws)
{
	add_part(t, time, tag, address, dws, 4 * dws);
}

static struct trace trace_by_hand(uint8_t format)
{
	struct trace t = { .o = { .format = format, .time = PTT_TIME_ABS }, .record = format * 4u };

	t.p = mem_alloc(RECORDS * t.record);
	return t;
}

/* Of 4000 reads, each answered 16 records later, `late` in the middle are answered when their tags have been used
 * again. */
static struct trace trace_of_timeouts(uint32_t late)
{
	enum { READS = 4000, UNDER_WAY = 8, TAGS = 256, LATER = 350 };
	struct trace t = trace_by_hand(PTT_4DW);
	uint32_t time = 0;

	for (uint32_t i = 0; i < READS + LATER; i++) {
		const uint32_t answered = i - UNDER_WAY, overdue = i - LATER;

		time += 60;
		if (i < READS)
			add_read(&t, time, i % TAGS, 64 * i, 16);
		if (i >= UNDER_WAY && answered < READS && (answered < READS / 2 || answered >= READS / 2 + late))
			add_answer(&t, time + 20, answered % TAGS, 64 * answered, 16);
		if (i >= LATER && overdue >= READS / 2 && overdue < READS / 2 + late)
			add_answer(&t, time + 40, overdue % TAGS, 64 * overdue, 16);
	}
	return t;
}

static void timeouts_whose_completions_came_late_were_told_as_missing_records(void **state)
{
	static const uint32_t late[] = { 3, 6, 12, 24 };

	(void)state;
	for (size_t i = 0; i < COUNT(late); i++) {
		struct trace t = trace_of_timeouts(late[i]);
		uint32_t nbreaks;
		const struct told told = trace_report(&t, 1, 0, 0, &nbreaks);

		assert_int_equal(nbreaks, 0);
		assert_int_equal(told.gaps, 0);
		assert_int_equal(told.unexpected, late[i]);
		assert_int_equal(told.reused, late[i]);
		assert_true(told.may_miss);
		mem_free(t.p);
	}
}

/* 16 reads of one tag. Of the middle one the completion is missing, and of the next one the request, which is as
 * given. */
static bool is_misfit_told(uint8_t format, uint32_t address, uint32_t dws, uint32_t shards)
{
	struct trace t = trace_by_hand(format);
	uint32_t nbreaks;

	for (uint32_t i = 0; i < 16; i++) {
		add_read(&t, 200 * i, 5, 0x1000, 16);
		add_answer(&t, 200 * i + 100, 5, i == 8 ? address : 0x1000, i == 8 ? dws : 16);
	}
	const struct told told = trace_report(&t, shards, 0, 0, &nbreaks);
	mem_free(t.p);
	assert_int_equal(told.unexpected + told.reused, 0);
	return told.may_miss;
}

static void an_answer_of_another_size_or_address_gave_a_latency_without_a_word(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 4; i++) {
		const uint8_t format = i % 2 ? PTT_4DW : PTT_8DW;
		const uint32_t shards = i / 2 + 1;

		assert_false(is_misfit_told(format, 0x1000, 16, shards));
		assert_true(is_misfit_told(format, 0x1040, 16, shards));
		assert_true(is_misfit_told(format, 0x1000, 32, shards));
		assert_true(is_misfit_told(format, 0x1000, 8, shards));
	}
}

static void a_break_that_was_found_left_the_greatest_latency_without_a_mark(void **state)
{
	const struct ptt_gen_opts o = { .seed = 1, .format = PTT_4DW };
	struct trace t = trace_of(&o);
	uint32_t nbreaks;

	(void)state;
	trace_cut(&t, 9537, 1000);
	const struct told told = trace_report(&t, 1, 0, 0, &nbreaks);
	assert_int_equal(told.gaps, 1);
	assert_true(told.may_miss); /* there may be another one that was not */
	mem_free(t.p);
}

/* Reads of four tags of which eight records at a time are under way, so most completions behind a cut meet another
 * request of their tag that is open. All that tells them apart is the address. */
static void a_cut_whose_completions_all_met_open_requests_was_not_found(void **state)
{
	enum { READS = 4000, TAGS = 8 };

	(void)state;
	for (uint32_t shards = 1; shards <= 2; shards++) {
		struct trace t = trace_by_hand(PTT_4DW);
		uint32_t nbreaks, time = 0;

		for (uint32_t i = 0; i < READS + TAGS - 1; i++) {
			time += 60;
			if (i >= TAGS - 1)
				add_answer(&t, time, (i + 1) % TAGS, 4 * (i - TAGS + 1) % 128, 16);
			if (i < READS)
				add_read(&t, time + 20, i % TAGS, 4 * i, 16);
		}
		trace_cut(&t, 4000, 2 * TAGS * 41);
		const struct told told = trace_report(&t, shards, 0, 0, &nbreaks);
		assert_int_equal(nbreaks, 1);
		assert_int_equal(told.gaps, 1);
		assert_int_equal(told.unexpected + told.reused, 0);
		assert_uint_in_range(told.most, 1, 60 * TAGS);
		mem_free(t.p);
	}
}

/* In 8DW of direction 2 most requests are never answered, so a tag that is used again says nothing, but for one whose
 * answer had begun. */
static void an_answer_that_began_and_never_ended_was_no_sign_where_answers_are_hidden(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 8; i++) {
		const bool again = i & 1, rest = i & 2;
		const uint32_t shards = i / 4 + 1;
		struct trace t = trace_by_hand(PTT_8DW);
		uint32_t nbreaks;

		for (uint32_t k = 0; k < 16; k++) {
			add_read(&t, 200 * k, 5, 0x1000, 32);
			add_part(&t, 200 * k + 100, 5, 0x1000, 16, 128);
			if (k != 8 || rest)
				add_part(&t, 200 * k + 120, 5, 0x1040, 16, 64);
			if (k == 8 && !again)
				break;
		}
		if (!again) /* nobody uses the tag again, and it is too late for the rest */
			for (uint32_t k = 0; k < 16; k++)
				add_read(&t, 2000 + 200 * k, 6, 0x2000, 16);
		const struct told told = trace_report(&t, shards, 0, 0, &nbreaks);
		assert_int_equal(told.unexpected + told.reused, 0);
		assert_int_equal(told.may_miss, !rest);
		mem_free(t.p);
	}
}

/* 4000 reads, each answered 16 records later.  In front of the one in the middle so many are never answered, of tags
 * that are used again at the end, and behind it so many completions of other tags were never asked for. */
static struct trace trace_of_signs(uint8_t format, uint32_t at, uint32_t lost, uint32_t unexpected)
{
	enum { READS = 4000, UNDER_WAY = 8, TAGS = 64 };
	struct trace t = trace_by_hand(format);
	uint32_t time = 0;

	for (uint32_t i = 0; i < READS + UNDER_WAY; i++) {
		const uint32_t answered = i - UNDER_WAY;

		for (uint32_t k = 0; i == at && k < lost; k++)
			add_read(&t, time += 20, 0x80 + k, 0x100000 + 64 * k, 16);
		for (uint32_t k = 0; i == at && k < unexpected; k++)
			add_answer(&t, time += 20, 0xc0 + k, 0x200000 + 64 * k, 16);
		for (uint32_t k = 0; i == READS - 100 && k < lost; k++) {
			add_read(&t, time += 20, 0x80 + k, 0x300000 + 64 * k, 16);
			add_answer(&t, time += 20, 0x80 + k, 0x300000 + 64 * k, 16);
		}
		if (i < READS)
			add_read(&t, time += 20, i % TAGS, 64 * i, 16);
		if (i >= UNDER_WAY)
			add_answer(&t, time += 20, answered % TAGS, 64 * answered, 16);
	}
	return t;
}

/* However improbable they are, so few say nothing. */
static void a_break_takes_signs_enough(void **state)
{
	static const struct {
		uint8_t format; /* the event of 8DW hides answers: the unexpected alone must do */
		uint32_t at, lost, unexpected, breaks;
	} row[] = {
		{ PTT_4DW, 2000, 0, 0, 0 }, { PTT_4DW, 2000, 0, 5, 0 }, { PTT_4DW, 2000, 0, 6, 1 },
		{ PTT_4DW, 2000, 1, 2, 0 }, { PTT_4DW, 2000, 2, 2, 1 }, { PTT_4DW, 2000, 1, 3, 1 },
		{ PTT_4DW, 2000, 8, 1, 0 }, { PTT_4DW, 2000, 8, 0, 0 }, { PTT_4DW, 8, 0, 12, 0 },
		{ PTT_8DW, 2000, 0, 2, 0 }, { PTT_8DW, 2000, 0, 3, 1 }, { PTT_8DW, 8, 0, 12, 0 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(row); i++) {
		struct trace t = trace_of_signs(row[i].format, row[i].at, row[i].lost, row[i].unexpected);
		uint32_t n;

		(void)trace_report(&t, 1, 0, 0, &n);
		if (n != row[i].breaks)
			fail_msg("row %zu: %u", i, n);
		mem_free(t.p);
	}
}

/* Each part counts those of its own requesters and tags. */
static void broken_answers_of_all_parts_are_counted(void **state)
{
	enum { TAGS = 16 };

	(void)state;
	for (uint32_t shards = 1; shards <= 2; shards++) {
		struct trace t = trace_by_hand(PTT_8DW);
		uint32_t nbreaks;

		for (uint32_t k = 0; k < 4 * TAGS; k++) {
			add_read(&t, 200 * k, k % TAGS, 0x1000, 32);
			add_part(&t, 200 * k + 100, k % TAGS, 0x1000, 16, 128);
			if (k >= 2 * TAGS || k % TAGS == TAGS - 1)
				add_part(&t, 200 * k + 120, k % TAGS, 0x1040, 16, 64);
		}
		const struct told told = trace_count(&t, shards, NULL, 0, NULL, &nbreaks, 0, 0);
		assert_int_equal(told.broken, 2 * (TAGS - 1));
		mem_free(t.p);
	}
}

static void a_request_whose_completion_was_cut_out_was_unanswered_without_a_mark(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 4; i++) {
		const bool cut = i & 1;
		const uint32_t shards = i / 2 + 1;
		struct trace t = trace_by_hand(PTT_4DW);
		uint32_t nbreaks;

		for (uint32_t k = 0; k < 64; k++) {
			add_read(&t, 200 * k, k % 32 + (k == 8) * 64, 0x1000, 16);
			if (k != 8 || !cut)
				add_answer(&t, 200 * k + 100, k % 32 + (k == 8) * 64, 0x1000, 16);
		}
		add_read(&t, 200 * 64, 1, 0x1000, 16); /* it may still be under way */
		const struct told told = trace_report(&t, shards, 0, 0, &nbreaks);
		assert_int_equal(told.unanswered, 1 + cut);
		assert_int_equal(told.may_miss, cut);
		assert_false(told.may_mispair);
		mem_free(t.p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cuts_in_4dw_or_with_deltas_left_false_unexpected_completions),
		cmocka_unit_test(cuts_of_20_records_left_false_unexpected_completions_and_latencies),
		cmocka_unit_test(cuts_of_two_records_were_told_as_errors_of_devices),
		cmocka_unit_test(pieces_given_in_each_others_place_left_false_latencies),
		cmocka_unit_test(a_cut_in_one_of_several_pieces_was_told_at_the_next_offset_alone),
		cmocka_unit_test(errors_of_devices_were_no_breaks),
		cmocka_unit_test(a_break_is_where_the_records_are_missing),
		cmocka_unit_test(timeouts_whose_completions_came_late_were_told_as_missing_records),
		cmocka_unit_test(an_answer_of_another_size_or_address_gave_a_latency_without_a_word),
		cmocka_unit_test(a_cut_whose_completions_all_met_open_requests_was_not_found),
		cmocka_unit_test(an_answer_that_began_and_never_ended_was_no_sign_where_answers_are_hidden),
		cmocka_unit_test(a_break_takes_signs_enough),
		cmocka_unit_test(broken_answers_of_all_parts_are_counted),
		cmocka_unit_test(a_request_whose_completion_was_cut_out_was_unanswered_without_a_mark),
		cmocka_unit_test(a_break_that_was_found_left_the_greatest_latency_without_a_mark),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
