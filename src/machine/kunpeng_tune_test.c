/* kunpeng_tune_test.c: what tunables do to the traffic, and to which. */
#include "machine/kunpeng_forecast.h"
#include "machine/kunpeng_test_int.h"

#define WARM_NS 60000

/* The truth of one core after `ns` under a setting. */
static struct kunpeng_truth truth_of(const char *load, uint64_t seed, const uint8_t tuned[static PTT_TUNES],
				     uint64_t ns)
{
	struct kunpeng *k = machine(load, seed);

	tune_all(k, 1, tuned);
	kunpeng_run(k, ns);
	struct kunpeng_truth t = *kunpeng_truth(k, 1);
	kunpeng_close(k);
	return t;
}

/* What crossed within `ns`, after the buffers have filled. */
static struct kunpeng_truth truth_steady(const char *load, uint64_t seed, const uint8_t tuned[static PTT_TUNES],
					 uint64_t ns)
{
	struct kunpeng_truth before = truth_of(load, seed, tuned, WARM_NS);
	struct kunpeng_truth t = truth_of(load, seed, tuned, WARM_NS + ns);

	for (int out = 0; out < 2; out++) {
		for (int cls = 0; cls < 4; cls++) {
			t.tlps[out][cls] -= before.tlps[out][cls];
			t.bytes[out][cls] -= before.bytes[out][cls];
		}
	}
	return t;
}

static void some_setting(uint8_t tuned[static PTT_TUNES], uint64_t *r)
{
	for (int t = 0; t < PTT_TUNES; t++)
		tuned[t] = (uint8_t)chance(r, 3);
}

static bool is_within(uint64_t a, uint64_t b, uint64_t percent)
{
	return (a > b ? a - b : b - a) * 100 <= b * percent;
}

/* ---- weights --------------------------------------------------------------------------------------- */

static uint64_t outbound_cpl(const struct kunpeng_truth *t)
{
	return t->tlps[1][PTT_CLASS_CPL_A] + t->tlps[1][PTT_CLASS_CPL_B];
}

static void shares_follow_the_weights(void **state)
{
	uint64_t r = 1;

	(void)state;
	for (uint64_t seed = 1; seed <= 100; seed++) {
		uint8_t tuned[PTT_TUNES];
		some_setting(tuned, &r);
		struct kunpeng_truth t = truth_steady("contended", seed, tuned, 200000);
		uint64_t p = t.tlps[1][PTT_CLASS_P], np = t.tlps[1][PTT_CLASS_NP], cpl = outbound_cpl(&t);
		uint64_t all = p + np + cpl;
		struct kunpeng_forecast f;
		assert_int_equal(kunpeng_forecast(&f, "contended", tuned, NULL), 0);
		assert_true(f.share[0] + f.share[1] + f.share[2] >= 999998);
		assert_true(is_within(p * 1000000 / all, f.share[0], 3));
		assert_true(is_within(np * 1000000 / all, f.share[1], 3));
		assert_true(is_within(cpl * 1000000 / all, f.share[2], 3));
	}
}

static void a_weight_orders_the_share_of_its_type(void **state)
{
	static const enum ptt_tune tunes[] = { PTT_TUNE_qos_tx_p, PTT_TUNE_qos_tx_np, PTT_TUNE_qos_tx_cpl };
	static const enum ptt_class classes[] = { PTT_CLASS_P, PTT_CLASS_NP, PTT_CLASS_CPL_A };

	(void)state;
	for (size_t i = 0; i < COUNT(tunes); i++) {
		uint64_t last = 0;
		for (uint8_t value = 0; value <= PTT_TUNE_MOST; value++) {
			uint8_t tuned[PTT_TUNES];
			memcpy(tuned, at_reset, sizeof(tuned));
			tuned[tunes[i]] = value;
			struct kunpeng_truth t = truth_of("contended", 3, tuned, 250000);
			uint64_t share = t.tlps[1][classes[i]] * 1000 / all_tlps(&t, true);
			assert_true(share > last + 50);
			last = share;
		}
	}
}

static void weights_do_nothing_where_nobody_waits(void **state)
{
	uint8_t tuned[PTT_TUNES];

	(void)state;
	memcpy(tuned, at_reset, sizeof(tuned));
	struct kunpeng_truth before = truth_of("mixed", 3, tuned, 4000000);
	tuned[PTT_TUNE_qos_tx_p] = 0;
	tuned[PTT_TUNE_qos_tx_cpl] = 2;
	struct kunpeng_truth after = truth_of("mixed", 3, tuned, 4000000);
	assert_true(is_within(all_tlps(&after, true), all_tlps(&before, true), 2));
	assert_true(is_within(after.latency_ns / after.latency_count, before.latency_ns / before.latency_count, 2));
}

/* ---- levels ------------------------------------------------------------------------------------------- */

static void levels_order_the_throughput_of_a_full_direction(void **state)
{
	static const struct {
		const char *load;
		enum ptt_tune tune;
		bool outbound;
	} rows[] = {
		{ "storage", PTT_TUNE_tx_alloc_buf_level, true }, { "contended", PTT_TUNE_tx_alloc_buf_level, true },
		{ "ingest", PTT_TUNE_rx_alloc_buf_level, false }, { "full", PTT_TUNE_rx_alloc_buf_level, false },
		{ "full", PTT_TUNE_tx_alloc_buf_level, true },
	};
	uint64_t r = 2;

	(void)state;
	for (uint64_t seed = 1; seed <= 30; seed++) {
		size_t i = seed % COUNT(rows);
		uint8_t tuned[PTT_TUNES];
		uint64_t last = 0;
		some_setting(tuned, &r);
		/* Otherwise the other direction may be what holds the outbound one up. */
		tuned[PTT_TUNE_rx_alloc_buf_level] = 2;
		for (uint8_t level = 0; level <= PTT_TUNE_MOST; level++) {
			tuned[rows[i].tune] = level;
			struct kunpeng_truth t = truth_of(rows[i].load, seed, tuned, 200000);
			assert_true(all_tlps(&t, rows[i].outbound) > last);
			last = all_tlps(&t, rows[i].outbound);
		}
	}
}

static void a_lone_packet_waits_for_the_time_out_at_most(void **state)
{
	(void)state;
	for (uint8_t rx = 0; rx <= PTT_TUNE_MOST; rx++) {
		for (uint8_t tx = 0; tx <= PTT_TUNE_MOST; tx++) {
			uint8_t tuned[PTT_TUNES] = {
				[PTT_TUNE_rx_alloc_buf_level] = rx,
				[PTT_TUNE_tx_alloc_buf_level] = tx,
			};
			struct kunpeng_truth t = truth_of("idle", 1, tuned, 20000000);
			struct kunpeng_forecast f;
			assert_int_equal(kunpeng_forecast(&f, "idle", tuned, NULL), 0);
			assert_int_equal(f.alone_ns[0], rx == 0 ? 0 : TIMEOUT_NS);
			assert_int_equal(f.alone_ns[1], tx == 0 ? 0 : TIMEOUT_NS);
			for (int out = 0; out < 2; out++) {
				assert_true(t.waits[out] > 100);
				assert_true(t.wait_ns[out] <= t.waits[out] * (f.alone_ns[out] + 1));
				assert_true(t.wait_ns[out] >= t.waits[out] * f.alone_ns[out] * 95 / 100);
			}
			assert_true(t.latency_most <= 500 + f.alone_ns[0] + 100);
		}
	}
}

static void a_read_is_answered_sooner_at_level_0_when_little_goes_on(void **state)
{
	uint8_t tuned[PTT_TUNES];
	uint64_t last = 0;

	(void)state;
	memcpy(tuned, at_reset, sizeof(tuned));
	for (uint8_t level = 0; level <= PTT_TUNE_MOST; level++) {
		tuned[PTT_TUNE_tx_alloc_buf_level] = level;
		struct kunpeng_truth t = truth_of("mixed", 2, tuned, 4000000);
		assert_true(t.latency_ns / t.latency_count > last);
		last = t.latency_ns / t.latency_count;
	}
}

/* ---- arithmetic ------------------------------------------------------------------------------------------ */

static void throughput_is_what_arithmetic_says(void **state)
{
	static const char *const loads[] = { "storage", "contended", "ingest" };
	uint64_t r = 4;

	(void)state;
	for (uint64_t seed = 1; seed <= 45; seed++) {
		const char *load = loads[seed % COUNT(loads)];
		bool outbound = strcmp(load, "ingest") != 0;
		uint8_t tuned[PTT_TUNES];
		struct kunpeng_forecast f;
		some_setting(tuned, &r);
		assert_int_equal(kunpeng_forecast(&f, load, tuned, NULL), 0);
		assert_int_equal(f.bytes[!outbound], 0);
		struct kunpeng_truth t = truth_steady(load, seed, tuned, 200000);
		assert_true(is_within(all_bytes(&t, outbound) / 200, f.bytes[outbound], 4));
	}
}

static uint64_t forecast_promise(const char *load, const uint8_t tuned[static PTT_TUNES])
{
	struct kunpeng_forecast f;

	assert_int_equal(kunpeng_forecast(&f, load, tuned, NULL), 0);
	return f.bytes[0] + f.bytes[1];
}

static void setting_at(uint8_t tuned[static PTT_TUNES], uint32_t i)
{
	for (int t = 0; t < PTT_TUNES; t++, i /= 3)
		tuned[t] = (uint8_t)(i % 3);
}

static void the_setting_that_arithmetic_finds_best_is_best(void **state)
{
	static const char *const loads[] = { "storage", "contended" };
	uint64_t r = 9;

	(void)state;
	for (size_t l = 0; l < COUNT(loads); l++) {
		uint8_t best[PTT_TUNES], other[PTT_TUNES];
		setting_at(best, 0);
		for (uint32_t i = 1; i < 243; i++) {
			setting_at(other, i);
			if (forecast_promise(loads[l], other) > forecast_promise(loads[l], best))
				memcpy(best, other, sizeof(best));
		}
		assert_int_equal(best[PTT_TUNE_qos_tx_cpl], 2);
		assert_int_equal(best[PTT_TUNE_qos_tx_p], 0);
		assert_int_equal(best[PTT_TUNE_tx_alloc_buf_level], 2);
		struct kunpeng_truth t = truth_steady(loads[l], 1, best, 200000);
		for (int i = 0; i < 15; i++) {
			setting_at(other, chance(&r, 243));
			struct kunpeng_truth u = truth_steady(loads[l], 1, other, 200000);
			assert_true(all_bytes(&u, true) * 100 <= all_bytes(&t, true) * 101);
		}
	}
}

static void no_arithmetic_is_done_for_what_is_not_full(void **state)
{
	static const char *const loads[] = { "mixed", "idle", "p2p", "full", "nic" };
	struct kunpeng_forecast f;
	struct err e = { 0 };

	(void)state;
	for (size_t i = 0; i < COUNT(loads); i++)
		assert_int_equal(forecast_promise(loads[i], at_reset), 0);
	assert_int_equal(kunpeng_forecast(&f, "nothing", at_reset, &e), -TALLY_EINVAL);
}

/* ---- whose ------------------------------------------------------------------------------------------------ */

static struct buf other_core(bool tuned, uint64_t seed, const char *load)
{
	struct kunpeng *k = machine(load, seed);
	uint64_t r = seed;
	struct tape t;

	tape_start(&t, k, 0, CTRL_ALL | 2 << 2);
	for (int i = 1; i <= 10; i++) {
		for (int j = 0; tuned && j < PTT_TUNES; j++)
			tune(k, 1, (enum ptt_tune)j, chance(&r, 3));
		kunpeng_run(k, (uint64_t)i * 15000);
	}
	tape_stop(&t);
	kunpeng_close(k);
	return t.bytes;
}

static void a_tunable_leaves_the_other_core_byte_for_byte_alike(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 10; seed++) {
		const char *load = kunpeng_load_at(seed % 8)->name;
		struct buf a = other_core(false, seed, load), b = other_core(true, seed, load);
		assert_int_equal(a.n, b.n);
		assert_memory_equal(a.p, b.p, a.n);
		buf_free(&a);
		buf_free(&b);
	}
}

/* Tuned at once, or in the middle of a trace: from there on the shares are the new ones, and the trace goes on. */
static void tuning_works_during_a_trace(void **state)
{
	struct kunpeng *k = machine("contended", 1);
	const struct kunpeng_truth *t = kunpeng_truth(k, 1);
	uint64_t share[2], records;
	struct tape tape;

	(void)state;
	tape_start(&tape, k, 1, CTRL_ALL | 1 << 2);
	for (int i = 0; i < 2; i++) {
		struct kunpeng_truth before = *t;
		kunpeng_run(k, kunpeng_now(k) + 300000);
		uint64_t all = all_tlps(t, true) - all_tlps(&before, true);
		share[i] = (outbound_cpl(t) - outbound_cpl(&before)) * 1000 / all;
		assert_true(ptt_dev_tracing(kunpeng_device(k, 1)));
		tune(k, 1, PTT_TUNE_qos_tx_cpl, 60000);
	}
	records = all_tlps(t, true);
	tape_stop(&tape);
	assert_true(share[0] > 320 && share[0] < 346 && share[1] > 480 && share[1] < 520);
	assert_int_equal(tape.bytes.n / 16, records);
	buf_free(&tape.bytes);
	kunpeng_close(k);
}

/* A packet that waits for a watermark leaves when the level falls below it. */
static void a_lower_level_lets_go_what_waits(void **state)
{
	struct kunpeng *k = machine("contended", 1);

	(void)state;
	for (uint32_t i = 0; i < 300; i++) {
		tune(k, 1, PTT_TUNE_tx_alloc_buf_level, i % 3);
		tune(k, 1, PTT_TUNE_rx_alloc_buf_level, (i / 3) % 3);
		kunpeng_run(k, kunpeng_now(k) + 501);
	}
	assert_true(kunpeng_truth(k, 1)->answered > 500);
	kunpeng_close(k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shares_follow_the_weights),
		cmocka_unit_test(a_weight_orders_the_share_of_its_type),
		cmocka_unit_test(weights_do_nothing_where_nobody_waits),
		cmocka_unit_test(levels_order_the_throughput_of_a_full_direction),
		cmocka_unit_test(a_lone_packet_waits_for_the_time_out_at_most),
		cmocka_unit_test(a_read_is_answered_sooner_at_level_0_when_little_goes_on),
		cmocka_unit_test(throughput_is_what_arithmetic_says),
		cmocka_unit_test(the_setting_that_arithmetic_finds_best_is_best),
		cmocka_unit_test(no_arithmetic_is_done_for_what_is_not_full),
		cmocka_unit_test(a_tunable_leaves_the_other_core_byte_for_byte_alike),
		cmocka_unit_test(tuning_works_during_a_trace),
		cmocka_unit_test(a_lower_level_lets_go_what_waits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
