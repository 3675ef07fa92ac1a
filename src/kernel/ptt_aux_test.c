/* ptt_aux_test.c: the reading of AUX rings, over memory that a pretended kernel writes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "kernel/ptt_aux_int.h"

#define DATA 256u /* 8 records of 32 bytes: it wraps soon */
#define BUFFER PTT_BUFFER_BYTES
#define RING (4ull * BUFFER)

/* The kernel's side. A word at position p of the AUX ring holds p / 8. */
struct pretend {
	struct perf_event_mmap_page page;
	uint8_t data[DATA];
	uint64_t *aux;
	struct aux_ring r;
};

static struct pretend *made(void)
{
	struct pretend *k = mem_alloc(sizeof(*k));

	assert_non_null(k);
	k->aux = mem_alloc(RING);
	assert_non_null(k->aux);
	k->r = aux_ring(&k->page, k->data, DATA, k->aux, RING);
	return k;
}

static void unmade(struct pretend *k)
{
	mem_free(k->aux);
	mem_free(k);
	assert_int_equal(mem_live(), 0);
}

static void record(struct pretend *k, const void *rec, size_t n)
{
	for (size_t i = 0; i < n; i++)
		k->data[(k->page.data_head + i) % DATA] = ((const uint8_t *)rec)[i];
	k->page.data_head += n;
}

static void bytes(struct pretend *k, uint64_t n)
{
	for (uint64_t p = k->page.aux_head; p < k->page.aux_head + n; p += 8)
		k->aux[p % RING / 8] = p / 8;
	k->page.aux_head += n;
}

static void aux_record(struct pretend *k, uint64_t offset, uint64_t size, uint64_t flags)
{
	const struct {
		struct perf_event_header h;
		uint64_t offset, size, flags;
	} rec = { { PERF_RECORD_AUX, 0, 32 }, offset, size, flags };

	record(k, &rec, sizeof(rec));
}

/* As perf_aux_output_end(): the record first. */
static void commit(struct pretend *k, uint64_t n, uint64_t flags)
{
	aux_record(k, k->page.aux_head, n, flags);
	bytes(k, n);
}

/* The next bytes are [from, from + n). */
static void takes_at(int line, struct pretend *k, uint64_t from, uint64_t n, uint32_t flags)
{
	struct ptt_aux a = { 0 };
	int rc = aux_take(&k->r, &a);
	uint64_t first, last;

	if (rc != 1 || a.n != n || a.flags != flags || a.lost)
		fail_msg("line %d: %d, %zu bytes at 0x%llx, flags %u", line, rc, a.n, (unsigned long long)k->r.at - a.n,
			 a.flags);
	memcpy(&first, a.p, 8);
	memcpy(&last, a.p + n - 8, 8);
	if (first != from / 8 || last != (from + n) / 8 - 1)
		fail_msg("line %d: bytes are of 0x%llx to 0x%llx", line, (unsigned long long)first * 8,
			 (unsigned long long)last * 8 + 8);
}
#define takes(k, from, n, flags) takes_at(__LINE__, k, from, n, flags)

static void takes_nothing(struct pretend *k)
{
	struct ptt_aux a = { .n = 7 };

	assert_int_equal(aux_take(&k->r, &a), 0);
	assert_int_equal(a.n, 7);
	assert_false(aux_waiting(&k->r));
}

static void buffers_go_round_the_ring_without_loss(void **state)
{
	struct pretend *k = made();

	(void)state;
	takes_nothing(k);
	for (uint64_t i = 0; i < 40; i++) {
		commit(k, BUFFER, 0);
		assert_true(aux_waiting(&k->r));
		takes(k, i * BUFFER, BUFFER, 0);
		assert_int_equal(k->page.aux_tail, i * BUFFER);
		takes_nothing(k);
		aux_release(&k->r);
		assert_int_equal(k->page.aux_tail, (i + 1) * BUFFER);
		assert_int_equal(k->page.data_tail, k->page.data_head);
	}
	assert_false(k->r.asleep);
	unmade(k);
}

static void small_commits_are_taken_together_up_to_a_buffer(void **state)
{
	struct pretend *k = made();

	(void)state;
	for (int i = 0; i < 6; i++)
		commit(k, BUFFER / 4, 0);
	takes(k, 0, BUFFER, 0);
	takes(k, BUFFER, BUFFER / 2, 0);
	takes_nothing(k);
	unmade(k);
}

static void commit_that_wraps_comes_in_two(void **state)
{
	struct pretend *k = made();

	(void)state;
	commit(k, BUFFER / 2, 0);
	takes(k, 0, BUFFER / 2, 0);
	for (uint64_t at = BUFFER / 2; at < 3ull * BUFFER; at += BUFFER) {
		commit(k, BUFFER, 0);
		takes(k, at, BUFFER, 0);
	}
	aux_release(&k->r);
	commit(k, BUFFER, 0);
	takes(k, RING - BUFFER / 2, BUFFER / 2, 0);
	takes(k, RING, BUFFER / 2, 0);
	takes_nothing(k);
	unmade(k);
}

static void full_ring_puts_the_driver_to_sleep(void **state)
{
	struct pretend *k = made();

	(void)state;
	for (int i = 0; i < 4; i++)
		commit(k, BUFFER, 0);
	takes(k, 0, BUFFER, 0);
	assert_true(k->r.asleep);
	for (uint64_t i = 1; i < 4; i++)
		takes(k, i * BUFFER, BUFFER, 0);
	aux_release(&k->r);
	assert_true(k->r.asleep && aux_can_start(&k->r));
	aux_woken(&k->r);
	assert_false(k->r.asleep);
	takes_nothing(k);
	commit(k, BUFFER, 0);
	takes(k, RING, BUFFER, PTT_AUX_TRUNCATED);
	commit(k, BUFFER, 0);
	takes(k, RING + BUFFER, BUFFER, 0);
	unmade(k);
}

/* The driver looked at the old tail, and we had not yet seen that the ring was full. */
static void ring_that_fills_while_it_is_handed_back_is_noticed(void **state)
{
	struct pretend *k = made();

	(void)state;
	for (int i = 0; i < 3; i++)
		commit(k, BUFFER, 0);
	takes(k, 0, BUFFER, 0);
	assert_false(k->r.asleep);
	commit(k, BUFFER, 0);
	aux_release(&k->r);
	assert_true(k->r.asleep);
	unmade(k);
}

static void less_than_a_buffer_to_the_end_is_sleep_and_no_place_to_start(void **state)
{
	struct pretend *k = made();

	(void)state;
	commit(k, 3 * BUFFER, 0);
	takes(k, 0, BUFFER, 0);
	takes(k, BUFFER, BUFFER, 0);
	takes(k, 2 * BUFFER, BUFFER, 0);
	aux_release(&k->r);
	assert_true(!k->r.asleep && aux_can_start(&k->r));
	commit(k, 32, 0);
	takes(k, 3 * BUFFER, 32, 0);
	aux_release(&k->r);
	assert_true(k->r.asleep);
	assert_false(aux_can_start(&k->r));
	unmade(k);
}

/* The last commit is what was written so far: where it ends says nothing. */
static void last_part_of_a_stopped_trace_is_no_sleep(void **state)
{
	struct pretend *k = made();

	(void)state;
	commit(k, 3 * BUFFER, 0);
	aux_stop(&k->r);
	commit(k, BUFFER - 32, 0);
	for (uint64_t i = 0; i < 3; i++)
		takes(k, i * BUFFER, BUFFER, 0);
	takes(k, 3 * BUFFER, BUFFER - 32, 0);
	aux_release(&k->r);
	assert_false(k->r.asleep);
	unmade(k);
}

static void sleep_before_the_stop_is_not_forgotten(void **state)
{
	struct pretend *k = made();

	(void)state;
	commit(k, RING, 0);
	aux_stop(&k->r);
	assert_true(k->r.asleep);
	unmade(k);
}

static void truncated_commit_marks_what_follows_it(void **state)
{
	struct pretend *k = made();

	(void)state;
	commit(k, 1024, 0);
	commit(k, 1024, PERF_AUX_FLAG_TRUNCATED);
	commit(k, 1024, 0);
	commit(k, 0, PERF_AUX_FLAG_TRUNCATED);
	commit(k, 512, PERF_AUX_FLAG_PARTIAL);
	commit(k, 512, 0);
	takes(k, 0, 2048, 0);
	takes(k, 2048, 1024, PTT_AUX_TRUNCATED);
	takes(k, 3072, 512, PTT_AUX_TRUNCATED);
	takes(k, 3584, 512, PTT_AUX_TRUNCATED);
	takes_nothing(k);
	unmade(k);
}

static void truncation_after_the_last_byte_is_kept(void **state)
{
	struct pretend *k = made();

	(void)state;
	commit(k, 64, 0);
	takes(k, 0, 64, 0);
	commit(k, 0, PERF_AUX_FLAG_TRUNCATED);
	takes_nothing(k);
	assert_true(k->r.gap);
	unmade(k);
}

static void records_wrap_in_the_data_ring(void **state)
{
	const struct perf_event_header odd = { PERF_RECORD_COMM, 0, 24 };
	uint8_t rec[24];
	struct pretend *k = made();

	(void)state;
	memset(rec, 0xff, sizeof(rec));
	memcpy(rec, &odd, sizeof(odd));
	record(k, rec, sizeof(rec)); /* from here on every eighth AUX record wraps */
	for (uint64_t i = 0; i < 32; i++) {
		commit(k, 64, i % 5 == 4 ? PERF_AUX_FLAG_TRUNCATED : 0);
		takes(k, i * 64, 64, i && i % 5 == 0 ? PTT_AUX_TRUNCATED : 0);
		takes_nothing(k);
		aux_release(&k->r);
	}
	assert_int_equal(k->page.data_tail, 24 + 32 * 32);
	unmade(k);
}

static void record_waits_for_its_bytes(void **state)
{
	struct pretend *k = made();

	(void)state;
	aux_record(k, 0, 64, PERF_AUX_FLAG_TRUNCATED);
	takes_nothing(k);
	assert_int_equal(k->page.data_tail, 0);
	bytes(k, 64);
	takes(k, 0, 64, 0);
	assert_int_equal(k->page.data_tail, 32);
	bytes(k, 64);
	takes(k, 64, 64, PTT_AUX_TRUNCATED);
	unmade(k);
}

static void lost_records_lose_no_bytes(void **state)
{
	const struct {
		struct perf_event_header h;
		uint64_t id, lost;
	} lost = { { PERF_RECORD_LOST, 0, 24 }, 1, 3 };
	struct pretend *k = made();

	(void)state;
	bytes(k, 96); /* three commits of which no record came through */
	record(k, &lost, sizeof(lost));
	takes(k, 0, 96, PTT_AUX_TRUNCATED); /* their flags are not known */
	commit(k, 32, 0);
	takes(k, 96, 32, 0);
	unmade(k);
}

static void damaged_records_lose_no_bytes(void **state)
{
	static const uint16_t size[] = { 0, 7, 33, 512, 65535 };

	(void)state;
	for (size_t i = 0; i < COUNT(size); i++) {
		struct pretend *k = made();
		const uint64_t rec[4] = { PERF_RECORD_AUX | (uint64_t)size[i] << 48, UINT64_MAX, UINT64_MAX, -1 };

		record(k, rec, sizeof(rec));
		bytes(k, 64);
		takes(k, 0, 64, PTT_AUX_TRUNCATED);
		assert_int_equal(k->page.data_tail, k->page.data_head);
		commit(k, 64, 0);
		takes(k, 64, 64, 0);
		unmade(k);
	}
}

static void lies_of_records_are_passed_over(void **state)
{
	static const uint64_t lie[][2] = {
		{ 0, RING + 1 }, { UINT64_MAX, 32 }, { UINT64_MAX - 64, 32 }, { 1ull << 40, 32 }, { 0, UINT64_MAX },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(lie); i++) {
		struct pretend *k = made();
		struct ptt_aux a;

		aux_record(k, lie[i][0], lie[i][1], PERF_AUX_FLAG_TRUNCATED);
		bytes(k, 64);
		assert_int_equal(aux_take(&k->r, &a), 1);
		assert_int_equal(a.n, 64);
		assert_int_equal(k->page.data_tail, 32);
		unmade(k);
	}
}

static void data_position_out_of_its_ring_is_passed_over(void **state)
{
	struct pretend *k = made();

	(void)state;
	k->page.data_head = 1ull << 50;
	bytes(k, 64);
	takes(k, 0, 64, PTT_AUX_TRUNCATED);
	assert_int_equal(k->page.data_tail, 1ull << 50);
	commit(k, 32, 0);
	takes(k, 64, 32, 0);
	unmade(k);
}

static void bytes_written_over_are_passed_over_and_marked(void **state)
{
	struct pretend *k = made();

	(void)state;
	for (int i = 0; i < 4; i++)
		bytes(k, BUFFER);
	bytes(k, 48);
	takes(k, 64, BUFFER, PTT_AUX_TRUNCATED); /* the oldest whole record behind position 48 */
	assert_true(k->r.asleep);
	unmade(k);
}

static void position_that_goes_back_is_refused(void **state)
{
	struct pretend *k = made();
	struct ptt_aux a;

	(void)state;
	bytes(k, 64);
	takes(k, 0, 64, 0);
	k->page.aux_head = 32;
	assert_int_equal(aux_take(&k->r, &a), -TALLY_ECORRUPT);
	unmade(k);
}

/* Any records, any positions: what is taken lies in the ring, and we come to an end. */
static void random_memory_never_leads_out_of_the_rings(void **state)
{
	struct pretend *k = made();
	uint64_t x = 88172645463325252ull;

	(void)state;
	for (int i = 0; i < 20000; i++) {
		struct ptt_aux a = { 0 };

		x ^= x << 13, x ^= x >> 7, x ^= x << 17;
		memcpy(k->data + x % (DATA - 8), &x, 8);
		if (x >> 20 & 1)
			k->data[x >> 24 & (DATA - 8)] = PERF_RECORD_AUX;
		k->page.data_head += x >> 32 & 0x7f;
		k->page.aux_head += x >> 40 & 0xfffff;
		while (aux_take(&k->r, &a) > 0)
			assert_true(a.n && a.n <= BUFFER && a.p >= (uint8_t *)k->aux &&
				    a.p + a.n <= (uint8_t *)k->aux + RING);
		if (x >> 60 & 1)
			aux_release(&k->r);
		assert_true(k->page.aux_tail <= k->page.aux_head && k->page.data_tail <= k->page.data_head);
	}
	unmade(k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(buffers_go_round_the_ring_without_loss),
		cmocka_unit_test(small_commits_are_taken_together_up_to_a_buffer),
		cmocka_unit_test(commit_that_wraps_comes_in_two),
		cmocka_unit_test(full_ring_puts_the_driver_to_sleep),
		cmocka_unit_test(ring_that_fills_while_it_is_handed_back_is_noticed),
		cmocka_unit_test(less_than_a_buffer_to_the_end_is_sleep_and_no_place_to_start),
		cmocka_unit_test(last_part_of_a_stopped_trace_is_no_sleep),
		cmocka_unit_test(sleep_before_the_stop_is_not_forgotten),
		cmocka_unit_test(truncated_commit_marks_what_follows_it),
		cmocka_unit_test(truncation_after_the_last_byte_is_kept),
		cmocka_unit_test(records_wrap_in_the_data_ring),
		cmocka_unit_test(record_waits_for_its_bytes),
		cmocka_unit_test(lost_records_lose_no_bytes),
		cmocka_unit_test(damaged_records_lose_no_bytes),
		cmocka_unit_test(lies_of_records_are_passed_over),
		cmocka_unit_test(data_position_out_of_its_ring_is_passed_over),
		cmocka_unit_test(bytes_written_over_are_passed_over_and_marked),
		cmocka_unit_test(position_that_goes_back_is_refused),
		cmocka_unit_test(random_memory_never_leads_out_of_the_rings),
	};

	return cmocka_run_group_tests_name("ptt_aux", tests, NULL, NULL);
}
