/* compare_share_test.c: what is a requester's own when all of a device wait in one queue; as many blocks as there may
 * be. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "ptt/compare_int.h"

enum { OF = 6, ANSWERED = 100, OWN = 1000 };

struct trace {
	struct ptt_block block[OF][PTT_TRACK_BLOCKS];
	uint64_t ticks[PTT_TRACK_BLOCKS];
	struct ptt_requester_row row[OF];
};

/* How long the queue is in a block. */
static uint64_t queue_ticks(uint32_t block, uint32_t shift)
{
	return 400 * ((block * 7 + shift) % 9);
}

/* What one waits in a block: a time of its own, the queue's, and a little that is nobody else's. */
static void trace_make(struct trace *r, uint32_t blocks, uint32_t shift, const uint64_t own[static OF])
{
	memset(r, 0, sizeof(*r));
	for (uint32_t q = 0; q < OF; q++) {
		for (uint32_t i = 0; i < blocks; i++) {
			r->ticks[i] = 1000;
			r->block[q][i].figure[PTT_SERIES_ANSWERED] = ANSWERED;
			r->block[q][i].figure[PTT_SERIES_LATENCY] =
				ANSWERED * (own[q] + queue_ticks(i, shift) + (i * (q + 3)) % 11);
		}
		r->row[q] =
			(struct ptt_requester_row){ .requester = (uint16_t)q,
						    .track = { .block = r->block[q], .ticks = r->ticks, .n = blocks } };
	}
}

static void pairs_make(struct compare_pair *v, const struct trace *a, const struct trace *b)
{
	for (uint32_t q = 0; q < OF; q++)
		v[q] = (struct compare_pair){ .a = &a->row[q], .b = &b->row[q] };
	compare_own(v, OF);
}

static const uint64_t alike[OF] = { OWN, OWN, OWN, OWN, OWN, OWN };

static void who_changed_by_itself_is_found_by_what_is_its_own(void **state)
{
	static const uint64_t one[OF] = { OWN, OWN, 2 * OWN, OWN, OWN, OWN };
	static const uint32_t blocks[] = { PTT_TRACK_BLOCKS / 2 + 2, PTT_TRACK_BLOCKS - 2, PTT_TRACK_BLOCKS };
	static struct trace a, b;

	(void)state;
	for (size_t k = 0; k < COUNT(blocks); k++) {
		struct compare_pair v[OF];

		trace_make(&a, blocks[k], 0, alike);
		trace_make(&b, blocks[k], 5, one);
		pairs_make(v, &a, &b);
		for (uint32_t q = 0; q < OF; q++) {
			const double grown = v[q].own_b.value - v[q].own_a.value;

			assert_true(v[q].measure && v[q].own);
			assert_int_equal(v[q].changed, q == 2);
			assert_true(v[q].own_a.df == blocks[k] - 1);
			assert_true(fabs(grown - (q == 2 ? OWN : 0)) < OWN / 10.0);
		}
	}
}

static void who_has_few_answers_is_no_measure(void **state)
{
	static struct trace a, b;
	struct compare_pair v[OF];

	(void)state;
	trace_make(&a, 10, 0, alike);
	trace_make(&b, 10, 5, alike);
	for (uint32_t i = 0; i < 10; i++)
		a.block[0][i].figure[PTT_SERIES_ANSWERED] = b.block[1][i].figure[PTT_SERIES_ANSWERED] = 20;
	a.block[1][9].figure[PTT_SERIES_ANSWERED] = b.block[1][9].figure[PTT_SERIES_ANSWERED] = 19;
	a.row[2].others = true;
	pairs_make(v, &a, &b);
	assert_true(v[0].measure); /* 200 are enough */
	assert_false(v[1].measure || v[1].own);
	assert_false(v[2].measure || v[2].own);
	assert_true(v[3].measure);
}

/* Of a device with few requesters nobody can say what they have in common. */
static void few_requesters_have_nothing_of_their_own(void **state)
{
	static struct trace a, b;
	struct compare_pair v[OF];

	(void)state;
	for (uint32_t others = 2; others <= 3; others++) {
		trace_make(&a, PTT_TRACK_BLOCKS, 0, alike);
		trace_make(&b, PTT_TRACK_BLOCKS, 5, alike);
		for (uint32_t q = 0; q < OF; q++)
			a.row[q].device = b.row[q].device = q > others;
		pairs_make(v, &a, &b);
		for (uint32_t q = 0; q <= others; q++)
			assert_int_equal(v[q].own, others == 3);
		assert_false(v[OF - 1].own);
	}
}

static void when_most_change_nothing_is_subtracted(void **state)
{
	static const uint64_t many[OF] = { OWN, 2 * OWN, 3 * OWN, 4 * OWN, OWN, 5 * OWN };
	static struct trace a, b;
	struct compare_pair v[OF];

	(void)state;
	trace_make(&a, PTT_TRACK_BLOCKS, 0, alike);
	trace_make(&b, PTT_TRACK_BLOCKS, 5, many);
	pairs_make(v, &a, &b);
	for (uint32_t q = 0; q < OF; q++)
		assert_false(v[q].own);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_changed_by_itself_is_found_by_what_is_its_own),
		cmocka_unit_test(who_has_few_answers_is_no_measure),
		cmocka_unit_test(few_requesters_have_nothing_of_their_own),
		cmocka_unit_test(when_most_change_nothing_is_subtracted),
	};

	return cmocka_run_group_tests_name("ptt: compare_share", tests, NULL, NULL);
}
