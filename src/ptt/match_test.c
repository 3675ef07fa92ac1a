/* match_test.c: when requests end, and what becomes of those that don't. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "ptt/match_int.h"
#include "ptt/ptt.h"

static struct ptt_match *m;
static struct ptt_pair pair;

static int open_small(void **state)
{
	(void)state;
	return ptt_match_open(&m, 4);
}

static int close_it(void **state)
{
	(void)state;
	ptt_match_close(m);
	return 0;
}

static struct tlp read_of(uint32_t tag, uint64_t time, uint32_t dws)
{
	return (struct tlp){ .class = TLP_NP,
			     .type_index = TLP_ROW_MRd32,
			     .requester = 0x100,
			     .tag = tag,
			     .time = time,
			     .length_dw = dws };
}

/* A completion with data; `left` is its Byte Count. */
static struct tlp data_for(uint32_t tag, uint64_t time, uint32_t dws, uint32_t left)
{
	return (struct tlp){ .class = TLP_CPL,
			     .type_index = TLP_ROW_CplD,
			     .requester = 0x100,
			     .tag = tag,
			     .time = time,
			     .length_dw = dws,
			     .byte_count = (uint16_t)left,
			     .completer = 0x200,
			     .bytes = left < 4 * dws ? left : 4 * dws };
}

static enum ptt_event next(struct tlp t)
{
	return ptt_match_next(m, &t, &pair);
}

static void one_completion_ends_its_request(void **state)
{
	(void)state;
	assert_int_equal(next(read_of(7, 100, 16)), PTT_OPENED);
	assert_int_equal(m->used, 1);
	assert_int_equal(next(data_for(7, 350, 16, 64)), PTT_DONE);
	assert_int_equal(m->used, 0);
	assert_int_equal(pair.request.time, 100);
	assert_int_equal(pair.t.latency, 250);
	assert_int_equal(pair.t.latency_first, 250);
	assert_int_equal(pair.t.bytes, 64);
	assert_int_equal(pair.t.completions, 1);
	assert_int_equal(pair.completer, 0x200);
}

static void pieces_end_with_the_one_that_has_all_that_is_left(void **state)
{
	(void)state;
	assert_int_equal(next(read_of(7, 0, 48)), PTT_OPENED);
	assert_int_equal(next(data_for(7, 10, 16, 192)), PTT_NONE);
	assert_int_equal(next(data_for(7, 20, 16, 128)), PTT_NONE);
	assert_int_equal(next(data_for(7, 35, 16, 64)), PTT_DONE);
	assert_int_equal(pair.t.latency_first, 10);
	assert_int_equal(pair.t.latency, 35);
	assert_int_equal(pair.t.completions, 3);
	assert_int_equal(pair.t.bytes, 192);
}

/* 64 bytes from address 1 on are 17 DWs: with 3 of the first one 63 bytes are in the first 16. */
static void bytes_before_the_lower_address_do_not_count(void **state)
{
	struct tlp first = data_for(7, 10, 16, 64);

	(void)state;
	first.lower_address = 1;
	assert_int_equal(next(read_of(7, 0, 17)), PTT_OPENED);
	assert_int_equal(next(first), PTT_NONE);
	assert_int_equal(next(data_for(7, 20, 1, 1)), PTT_DONE);
}

static void a_completion_without_data_ends_at_once(void **state)
{
	struct tlp cpl = data_for(7, 10, 0, 4);

	(void)state;
	cpl.type_index = TLP_ROW_Cpl;
	assert_int_equal(next(read_of(7, 0, 1)), PTT_OPENED);
	assert_int_equal(next(cpl), PTT_DONE);
	assert_int_equal(pair.t.status, 0);
	assert_int_equal(pair.t.bytes, 0);
}

static void a_bad_status_ends_a_read_that_was_half_done(void **state)
{
	struct tlp abort = data_for(7, 20, 0, 64);

	(void)state;
	abort.status = 4;
	assert_int_equal(next(read_of(7, 0, 32)), PTT_OPENED);
	assert_int_equal(next(data_for(7, 10, 16, 128)), PTT_NONE);
	assert_int_equal(next(abort), PTT_DONE);
	assert_int_equal(pair.t.status, 4);
	assert_int_equal(pair.t.bytes, 64);
	assert_int_equal(pair.t.completions, 2);
}

static void retry_status_ends_and_the_same_tag_starts_again(void **state)
{
	struct tlp retry = data_for(7, 10, 0, 4);

	(void)state;
	retry.status = 2;
	assert_int_equal(next(read_of(7, 0, 1)), PTT_OPENED);
	assert_int_equal(next(retry), PTT_DONE);
	assert_int_equal(pair.t.status, 2);
	assert_int_equal(next(read_of(7, 20, 1)), PTT_OPENED);
	assert_int_equal(next(data_for(7, 30, 1, 4)), PTT_DONE);
	assert_int_equal(pair.t.latency, 10);
}

/* The first completion's Byte Count is its own size only. */
static void a_modified_byte_count_does_not_end(void **state)
{
	struct tlp first = data_for(7, 10, 16, 64), second = data_for(7, 20, 16, 64);

	(void)state;
	first.bcm = 1;
	assert_int_equal(next(read_of(7, 0, 32)), PTT_OPENED);
	assert_int_equal(next(first), PTT_NONE);
	assert_int_equal(next(second), PTT_DONE);
	assert_int_equal(next(read_of(7, 0, 16)), PTT_OPENED);
	assert_int_equal(next(first), PTT_DONE);
}

/* What it swaps and what it compares with go there, what was there comes back. */
static void a_compare_and_swap_has_half_of_its_length_back(void **state)
{
	struct tlp cas = read_of(7, 0, 4), swap = read_of(8, 0, 4), half = data_for(7, 10, 2, 8);

	(void)state;
	half.bcm = 1;
	for (uint8_t type = TLP_ROW_CAS32; type <= TLP_ROW_CAS64; type++) {
		cas.type_index = type;
		assert_int_equal(next(cas), PTT_OPENED);
		assert_int_equal(next(half), PTT_DONE);
	}
	half.tag = 8;
	swap.type_index = TLP_ROW_Swap32;
	assert_int_equal(next(swap), PTT_OPENED);
	assert_int_equal(next(half), PTT_NONE);
	assert_int_equal(next(half), PTT_DONE);
}

static void keys_differ_in_each_part(void **state)
{
	struct tlp other[4];

	(void)state;
	assert_int_equal(next(read_of(7, 0, 16)), PTT_OPENED);
	for (int i = 0; i < 4; i++)
		other[i] = data_for(7, 10, 16, 64);
	other[0].device = 1;
	other[1].segment = 1;
	other[2].requester = 0x101;
	other[3].tag = 8;
	for (int i = 0; i < 4; i++)
		assert_int_equal(next(other[i]), PTT_UNEXPECTED_CPL);
	assert_int_equal(next(data_for(7, 20, 16, 64)), PTT_DONE);
	assert_int_equal(next(data_for(7, 30, 16, 64)), PTT_UNEXPECTED_CPL);
}

static void a_tag_used_again_while_open_gives_the_first_up(void **state)
{
	(void)state;
	assert_int_equal(next(read_of(7, 1, 16)), PTT_OPENED);
	assert_int_equal(next(read_of(7, 2, 16)), PTT_REUSED);
	assert_int_equal(pair.request.time, 1);
	assert_int_equal(m->used, 1);
	assert_int_equal(next(data_for(7, 10, 16, 64)), PTT_DONE);
	assert_int_equal(pair.request.time, 2);
}

static void the_oldest_gives_way_when_there_is_no_room(void **state)
{
	(void)state;
	for (uint32_t tag = 0; tag < 4; tag++)
		assert_int_equal(next(read_of(tag, tag, 16)), PTT_OPENED);
	assert_int_equal(next(data_for(0, 5, 16, 64)), PTT_DONE);
	assert_int_equal(next(read_of(9, 9, 16)), PTT_OPENED);
	assert_int_equal(next(read_of(10, 10, 16)), PTT_EVICTED);
	assert_int_equal(pair.request.tag, 1);
	assert_int_equal(m->used, 4);
	assert_int_equal(next(data_for(1, 20, 16, 64)), PTT_UNEXPECTED_CPL);
	assert_int_equal(next(data_for(10, 20, 16, 64)), PTT_DONE);
}

static void posted_requests_are_nobodys(void **state)
{
	struct tlp write = read_of(7, 0, 16);

	(void)state;
	write.class = TLP_P;
	assert_int_equal(next(write), PTT_NONE);
	assert_int_equal(m->used, 0);
}

struct seen {
	uint32_t tag[8], n;
};
static void see(void *arg, const struct ptt_pair *p)
{
	struct seen *s = arg;
	s->tag[s->n++] = p->request.tag;
}

static void the_rest_comes_by_age(void **state)
{
	struct seen s = { 0 };

	(void)state;
	for (uint32_t tag = 0; tag < 4; tag++)
		next(read_of(30 - tag, tag, 16));
	next(data_for(29, 9, 16, 64));
	next(read_of(5, 10, 16));
	ptt_match_rest(m, see, &s);
	assert_int_equal(s.n, 4);
	assert_int_equal(s.tag[0], 30);
	assert_int_equal(s.tag[1], 28);
	assert_int_equal(s.tag[2], 27);
	assert_int_equal(s.tag[3], 5);
}

/* More keys than the table holds, of which three stay open all the time. */
static void keys_that_are_done_are_forgotten(void **state)
{
	(void)state;
	for (uint32_t tag = 0; tag < 3; tag++)
		assert_int_equal(next(read_of(tag, tag, 16)), PTT_OPENED);
	for (uint32_t tag = 3; tag < 16000; tag++) {
		assert_int_equal(next(read_of(tag, tag, 16)), PTT_OPENED);
		assert_int_equal(next(data_for(tag, tag, 16, 64)), PTT_DONE);
		assert_int_equal(pair.request.tag, tag);
	}
	for (uint32_t tag = 0; tag < 3; tag++)
		assert_int_equal(next(data_for(tag, 20000, 16, 64)), PTT_DONE);
	assert_int_equal(m->used, 0);
}

static void a_room_beyond_reason_is_refused(void **state)
{
	struct ptt_match *none;

	(void)state;
	assert_int_equal(ptt_match_open(&none, UINT32_MAX), -TALLY_EINVAL);
}

static void every_failing_allocation_is_reported(void **state)
{
	(void)state;
	for (long n = 1;; n++) {
		struct ptt_match *x = NULL;
		mem_fail_at(n);
		int rc = ptt_match_open(&x, 100);
		bool reached = mem_failed();
		mem_fail_at(0);
		assert_int_equal(rc, reached ? -TALLY_ENOMEM : 0);
		ptt_match_close(x);
		if (!reached)
			break;
	}
	assert_int_equal(mem_live(), 0);
}

/* The first record of the request lies before the gap, or in it: the duplicate of its completion was an unexpected
 * completion. */
static void a_duplicate_of_a_completion_after_a_gap_is_not_unexpected(void **state)
{
	(void)state;
	ptt_match_twice(m, 0, true);
	assert_int_equal(next(read_of(1, 100, 16)), PTT_OPENED);
	assert_int_equal(ptt_match_gap(m, 0, NULL, NULL), 1);
	assert_int_equal(next(read_of(1, 200, 16)), PTT_OPENED); /* its second one: nothing tells */
	assert_int_equal(next(data_for(1, 300, 8, 64)), PTT_NONE);
	assert_int_equal(next(data_for(1, 310, 8, 64)), PTT_DUPLICATE);
	assert_int_equal(next(data_for(1, 320, 8, 32)), PTT_DONE);
	assert_int_equal(next(data_for(1, 330, 8, 32)), PTT_DUPLICATE);
	assert_int_equal(next(data_for(1, 340, 8, 32)), PTT_UNEXPECTED_CPL);
	/* The next request is one of two, or of one. */
	assert_int_equal(next(read_of(1, 400, 16)), PTT_OPENED);
	assert_int_equal(next(read_of(1, 410, 16)), PTT_DUPLICATE);
	assert_int_equal(next(data_for(1, 500, 16, 64)), PTT_DONE);
	assert_int_equal(next(data_for(1, 510, 16, 64)), PTT_DUPLICATE);
	/* Where all records of the request are lost, each completion counts once. */
	assert_int_equal(ptt_match_gap(m, 0, NULL, NULL), 0);
	assert_int_equal(next(data_for(2, 600, 8, 64)), PTT_AFTER_GAP);
	assert_int_equal(next(data_for(2, 610, 8, 64)), PTT_DUPLICATE);
	assert_int_equal(next(data_for(2, 620, 8, 32)), PTT_AFTER_GAP);
	assert_int_equal(next(data_for(2, 630, 8, 32)), PTT_DUPLICATE);
}

static void behind_a_gap_a_request_that_is_seen_twice_counts_once(void **state)
{
	(void)state;
	ptt_match_twice(m, 0, true);
	ptt_match_gap(m, 0, NULL, NULL);
	assert_int_equal(next(read_of(1, 100, 16)), PTT_OPENED);
	assert_int_equal(next(read_of(1, 110, 16)), PTT_DUPLICATE);
	assert_int_equal(next(read_of(1, 120, 16)), PTT_REUSED);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_small, close_it)
int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(one_completion_ends_its_request),
		TEST(pieces_end_with_the_one_that_has_all_that_is_left),
		TEST(bytes_before_the_lower_address_do_not_count),
		TEST(a_completion_without_data_ends_at_once),
		TEST(a_bad_status_ends_a_read_that_was_half_done),
		TEST(retry_status_ends_and_the_same_tag_starts_again),
		TEST(a_modified_byte_count_does_not_end),
		TEST(a_compare_and_swap_has_half_of_its_length_back),
		TEST(keys_differ_in_each_part),
		TEST(a_tag_used_again_while_open_gives_the_first_up),
		TEST(the_oldest_gives_way_when_there_is_no_room),
		TEST(posted_requests_are_nobodys),
		TEST(the_rest_comes_by_age),
		TEST(keys_that_are_done_are_forgotten),
		TEST(a_duplicate_of_a_completion_after_a_gap_is_not_unexpected),
		TEST(behind_a_gap_a_request_that_is_seen_twice_counts_once),
		cmocka_unit_test(a_room_beyond_reason_is_refused),
		cmocka_unit_test(every_failing_allocation_is_reported),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
