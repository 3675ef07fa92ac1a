/* time_test.c: absolute or delta, told from the records alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "ptt/handmade_int.h"

#define N 400
#define BOTH(f) for (enum ptt_format f = PTT_4DW; f <= PTT_8DW; f += PTT_4DW)

static uint32_t chance(uint64_t *seed) /* an LCG: the same on every run */
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(*seed >> 33);
}

static enum ptt_time guess(const uint32_t *times, size_t n, enum ptt_format f, bool *sure)
{
	uint8_t p[N * 32], *end = p;
	assert_true(n <= N);
	for (size_t i = 0; i < n; i++)
		end = handmade(end, f, &(struct handmade){ .time = times[i] });
	return ptt_time_guess(p, (size_t)(end - p), f, sure);
}

/* Gaps of up to `most` ticks, as a counter or as they are. */
static void fill(uint32_t *times, enum ptt_time kind, uint32_t most)
{
	uint64_t seed = most;
	uint32_t now = 0xffff0002;
	for (size_t i = 0; i < N; i++) {
		uint32_t gap = chance(&seed) % most;
		now += gap;
		times[i] = kind == PTT_TIME_ABS ? now : gap;
	}
}

static void a_running_counter_is_absolute(void **state)
{
	static const uint32_t most[] = { 2, 5, 40, 700 };
	uint32_t times[N];
	bool sure;

	(void)state;
	BOTH(f)
	for (size_t i = 0; i < COUNT(most); i++) {
		fill(times, PTT_TIME_ABS, most[i]);
		assert_int_equal(guess(times, N, f, &sure), PTT_TIME_ABS);
		assert_true(sure);
	}
	fill(times, PTT_TIME_ABS, 100000000);
	assert_int_equal(guess(times, N, PTT_8DW, &sure), PTT_TIME_ABS);
	assert_true(sure);
}

static void gaps_are_delta(void **state)
{
	static const uint32_t most[] = { 2, 5, 40, 700 };
	uint32_t times[N];
	bool sure;

	(void)state;
	BOTH(f)
	for (size_t i = 0; i < COUNT(most); i++) {
		fill(times, PTT_TIME_DELTA, most[i]);
		assert_int_equal(guess(times, N, f, &sure), PTT_TIME_DELTA);
		assert_true(sure);
	}
}

static void one_idle_gap_does_not_make_deltas_absolute(void **state)
{
	uint32_t times[N];
	bool sure;

	(void)state;
	fill(times, PTT_TIME_DELTA, 40);
	times[N - 1] = 0x11ea82a;
	assert_int_equal(guess(times, N, PTT_8DW, &sure), PTT_TIME_DELTA);
	assert_true(sure);
}

static void a_counter_may_be_a_little_out_of_order(void **state)
{
	uint32_t times[N];
	bool sure;

	(void)state;
	for (uint32_t i = 0; i < N; i++)
		times[i] = 10 * i + (i % 4 == 1 ? 12 : 0);
	assert_int_equal(guess(times, N, PTT_8DW, &sure), PTT_TIME_ABS);
	assert_false(sure);
}

/* From the manual's sample and from the log of the commit that added the decoder: a data write, then an MSI. */
static void the_known_samples_are_delta_but_too_short_to_be_sure(void **state)
{
	static const uint32_t manual[] = { 0x4c033, 2 }, commit[] = { 0x11ea82a, 0x2ee };
	bool sure = true;

	(void)state;
	assert_int_equal(guess(manual, 2, PTT_8DW, &sure), PTT_TIME_DELTA);
	assert_false(sure);
	sure = true;
	assert_int_equal(guess(commit, 2, PTT_8DW, &sure), PTT_TIME_DELTA);
	assert_false(sure);
}

static void equal_times_are_delta(void **state)
{
	uint32_t times[N];
	bool sure;

	(void)state;
	for (size_t i = 0; i < N; i++)
		times[i] = 4;
	assert_int_equal(guess(times, N, PTT_4DW, &sure), PTT_TIME_DELTA);
	assert_true(sure);
	guess(times, 3, PTT_4DW, &sure);
	assert_false(sure);
	memset(times, 0, sizeof(times));
	guess(times, N, PTT_4DW, &sure);
	assert_false(sure);
}

static void eleven_bits_in_full_use_tell_nothing(void **state)
{
	uint32_t times[N];
	bool sure = true;

	(void)state;
	fill(times, PTT_TIME_ABS, 2048);
	guess(times, N, PTT_4DW, &sure);
	assert_false(sure);
	sure = true;
	fill(times, PTT_TIME_DELTA, 2048);
	guess(times, N, PTT_4DW, &sure);
	assert_false(sure);
}

/* A counter of records that are further apart than its range, and few records of anything. */
static void eleven_bits_that_prove_nothing_are_a_counters(void **state)
{
	uint32_t times[N];
	bool sure = true;

	(void)state;
	for (uint32_t most = 1500; most < 200000; most += most / 7) {
		fill(times, PTT_TIME_ABS, most);
		assert_int_equal(guess(times, N, PTT_4DW, &sure), PTT_TIME_ABS);
		assert_int_equal(guess(times, 10, PTT_4DW, &sure), PTT_TIME_ABS);
		assert_false(sure);
	}
	fill(times, PTT_TIME_DELTA, 700);
	assert_int_equal(guess(times, 10, PTT_4DW, &sure), PTT_TIME_ABS);
	assert_false(sure);
}

static bool is_sparse(uint32_t *times, enum ptt_time kind, uint32_t most, size_t n, enum ptt_format f)
{
	uint8_t p[N * 32], *end = p;

	fill(times, kind, most);
	for (size_t i = 0; i < n; i++)
		end = handmade(end, f, &(struct handmade){ .time = times[i] });
	return ptt_time_is_sparse(p, (size_t)(end - p), f, kind);
}

static void gaps_beyond_the_range_show_by_the_length_of_steps(void **state)
{
	uint32_t times[N];

	(void)state;
	for (enum ptt_time kind = PTT_TIME_ABS; kind <= PTT_TIME_DELTA; kind++) {
		assert_true(is_sparse(times, kind, 2500, N, PTT_4DW));
		assert_true(is_sparse(times, kind, 1000000, N, PTT_4DW));
		assert_true(is_sparse(times, kind, 1000000, 20, PTT_4DW));
		assert_false(is_sparse(times, kind, 40, N, PTT_4DW));
		assert_false(is_sparse(times, kind, 1000, N, PTT_4DW));
		assert_false(is_sparse(times, kind, 1000000, N, PTT_8DW));
		assert_false(is_sparse(times, kind, 1000000, 1, PTT_4DW));
		assert_false(is_sparse(times, kind, 1000000, 0, PTT_4DW));
	}
}

/* Of 2048 in 8192 steps those of the third quarter of the range, and of the fourth, say whether some were longer. */
static void a_few_long_steps_are_chance_and_more_are_gaps(void **state)
{
	static const struct {
		int line;
		uint32_t steps, third, third_step, fourth, fourth_step;
		bool sparse;
	} row[] = {
		{ __LINE__, 100, 0, 0, 0, 0, false },
		{ __LINE__, 100, 100, 1023, 0, 0, false },
		{ __LINE__, 100, 10, 1024, 0, 0, false },
		{ __LINE__, 100, 11, 1024, 0, 0, true },
		{ __LINE__, 100, 11, 1535, 0, 0, true },
		{ __LINE__, 100, 0, 0, 10, 1536, false },
		{ __LINE__, 100, 0, 0, 11, 1536, true },
		{ __LINE__, 100, 0, 0, 11, 2047, true },
		{ __LINE__, 100, 5, 1300, 5, 1800, false },
		{ __LINE__, 100, 5, 1300, 6, 1800, true },
		{ __LINE__, 2048, 0, 0, 15, 1536, false },
		{ __LINE__, 2048, 0, 0, 16, 1536, true },
		{ __LINE__, 2048, 16, 1535, 0, 0, false },
		{ __LINE__, 2048, 29, 1024, 16, 1536, true },
		{ __LINE__, 10240, 31, 1024, 16, 1536, true },
		{ __LINE__, 10240, 32, 1024, 16, 1536, false }, /* twice as many: they become fewer with length */
	};
	static uint8_t p[10241 * 16];

	(void)state;
	for (enum ptt_time kind = PTT_TIME_ABS; kind <= PTT_TIME_DELTA; kind++)
		for (size_t i = 0; i < COUNT(row); i++) {
			uint32_t now = 0;

			for (uint32_t k = 0; k <= row[i].steps; k++) {
				const uint32_t step = k == 0                            ? 0 :
						      k <= row[i].third                 ? row[i].third_step :
						      k <= row[i].third + row[i].fourth ? row[i].fourth_step :
											  511;
				now += step;
				handmade(p + k * 16, PTT_4DW,
					 &(struct handmade){ .time = kind == PTT_TIME_DELTA ? step : now });
			}
			if (ptt_time_is_sparse(p, (row[i].steps + 1) * 16, PTT_4DW, kind) != row[i].sparse)
				fail_msg("row of line %d, time of kind %d", row[i].line, (int)kind);
		}
}

/* Steps that are not looked at are none. */
static void long_steps_between_the_places_that_are_looked_at_are_not_seen(void **state)
{
	static uint8_t p[10241 * 16];

	(void)state;
	for (uint32_t k = 0; k <= 10240; k++)
		handmade(p + k * 16, PTT_4DW, &(struct handmade){ .time = k > 2048 && k <= 8192 ? 2047 : 1 });
	assert_false(ptt_time_is_sparse(p, sizeof(p), PTT_4DW, PTT_TIME_DELTA));
	for (uint32_t k = 8193; k < 8193 + 80; k++)
		handmade(p + k * 16, PTT_4DW, &(struct handmade){ .time = 2047 });
	assert_true(ptt_time_is_sparse(p, sizeof(p), PTT_4DW, PTT_TIME_DELTA));
}

static void nothing_is_no_evidence(void **state)
{
	const uint32_t one = 7;
	bool sure = true;

	(void)state;
	guess(&one, 0, PTT_8DW, &sure);
	assert_false(sure);
	sure = true;
	guess(&one, 1, PTT_4DW, &sure);
	assert_false(sure);
}

/* Bursts with pauses between them: hardly a step is long, and most of the time passed unseen. */
static void bursts_with_pauses_of_more_than_11_bits_were_not_sparse(void **state)
{
	enum { RECORDS = 200000 };
	static uint8_t p[RECORDS * 16];
	uint64_t seed = 5;
	uint32_t now = 0;

	(void)state;
	for (uint32_t i = 0; i < RECORDS; i++) {
		now += i % 500 ? chance(&seed) % 50 : 2000 + chance(&seed) % 20000;
		handmade(p + i * 16, PTT_4DW, &(struct handmade){ .time = now });
	}
	assert_true(ptt_time_is_sparse(p, sizeof(p), PTT_4DW, PTT_TIME_ABS));
	for (uint32_t i = 0; i < RECORDS; i++) {
		now += chance(&seed) % 500;
		handmade(p + i * 16, PTT_4DW, &(struct handmade){ .time = now });
	}
	assert_false(ptt_time_is_sparse(p, sizeof(p), PTT_4DW, PTT_TIME_ABS));
}

/* Whatever chunks the records come in, and whichever of them it is. */
static void one_time_that_is_too_far_ahead_moved_all_times_behind_it(void **state)
{
	enum { RECORDS = 60, STEP = 100 };
	const struct ptt_decode_opts o = { .format = PTT_8DW, .time = PTT_TIME_ABS };
	uint8_t p[RECORDS * 32];

	(void)state;
	for (uint32_t far = 3 * STEP; far < 1u << 31; far *= 7)
		for (uint32_t bad = 0; bad < RECORDS - 1; bad++)
			for (uint32_t piece = 1; piece <= RECORDS; piece += 7) {
				struct ptt_clock clock = { 0 };

				for (uint32_t i = 0; i < RECORDS; i++)
					handmade(p + i * 32, PTT_8DW,
						 &(struct handmade){ .time = 5000 + i * STEP +
									     (i == bad ? far + STEP / 2 : 0) });
				for (uint32_t i = 0; i < RECORDS; i++) {
					const uint32_t end = (i / piece + 1) * piece;
					struct tlp t;

					ptt_decode_in(p + i * 32, p + 32 * (end < RECORDS ? end : RECORDS), &o, &clock,
						      &t);
					if (bad != 0 && i != bad && t.time != i * STEP)
						fail_msg(
							"%u of record %u is too far by %u, pieces of %u: record %u is at %lu",
							bad, bad, far, piece, i, (unsigned long)t.time);
					if (bad == 0 && piece >= 3 && i > 1 && t.time != (i - 1) * STEP)
						fail_msg(
							"the first is too far by %u, pieces of %u: record %u is at %lu",
							far, piece, i, (unsigned long)t.time);
				}
			}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_running_counter_is_absolute),
		cmocka_unit_test(gaps_are_delta),
		cmocka_unit_test(one_idle_gap_does_not_make_deltas_absolute),
		cmocka_unit_test(a_counter_may_be_a_little_out_of_order),
		cmocka_unit_test(the_known_samples_are_delta_but_too_short_to_be_sure),
		cmocka_unit_test(equal_times_are_delta),
		cmocka_unit_test(eleven_bits_in_full_use_tell_nothing),
		cmocka_unit_test(eleven_bits_that_prove_nothing_are_a_counters),
		cmocka_unit_test(gaps_beyond_the_range_show_by_the_length_of_steps),
		cmocka_unit_test(a_few_long_steps_are_chance_and_more_are_gaps),
		cmocka_unit_test(long_steps_between_the_places_that_are_looked_at_are_not_seen),
		cmocka_unit_test(nothing_is_no_evidence),
		cmocka_unit_test(bursts_with_pauses_of_more_than_11_bits_were_not_sparse),
		cmocka_unit_test(one_time_that_is_too_far_ahead_moved_all_times_behind_it),
	};
	return cmocka_run_group_tests_name("ptt: time", tests, NULL, NULL);
}
