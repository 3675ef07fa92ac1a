/* tune_test.c: the search, against arithmetic and against the model's own forecast, and how its answers look. */
#include "base/range.h"
#include "machine/kunpeng_forecast.h"
#include "capture/tune_int.h"
#include "capture/tune_test_int.h"

/* ---- what settings give --------------------------------------------------------------------------------- */

static uint32_t weight_of(uint32_t v)
{
	return 1u << v;
}

/* A full direction as the model has it: payload over time, by weights, and the watermark. a[0..2]: bytes of a packet
 * of each type, a[3..5]: its time, a[6]: that of a posting. */
static uint32_t full_direction(const struct bench *b)
{
	uint64_t bytes = 0, time = 0, mark = 1u << 2 * b->value[PTT_TUNE_tx_alloc_buf_level];

	for (int i = 0; i < 3; i++) {
		bytes += 1000 * weight_of(b->value[i]) * b->a[i];
		time += weight_of(b->value[i]) * (1000 * b->a[3 + i] + 1000 * b->a[6] / mark);
	}
	return (uint32_t)(bytes * 4000 / time);
}

static uint32_t rate_flat(const struct bench *b)
{
	(void)b;
	return 1000;
}

static uint32_t rate_noisy(const struct bench *b)
{
	return 1000 + bench_chance((struct bench *)b, 50);
}

static uint32_t faster_each_time(const struct bench *b)
{
	return 1000 + 20 * b->starts;
}

static uint32_t slower_each_time(const struct bench *b)
{
	return 4000 - 40 * b->starts;
}

/* Answers that leave wait for the outbound watermark, those that come for the inbound one. */
static uint32_t by_watermarks(const struct bench *b, uint32_t direction)
{
	return 300 + 100 * b->value[direction == 2 ? PTT_TUNE_tx_alloc_buf_level : PTT_TUNE_rx_alloc_buf_level];
}

/* ---- the search ------------------------------------------------------------------------------------------- */

static void settings_at(uint32_t v[static PTT_TUNES], uint32_t i)
{
	for (int t = 0; t < PTT_TUNES; t++, i /= 3)
		v[t] = i % 3;
}

static void the_best_of_all_243_is_found_from_anywhere(void **state)
{
	struct bench *b = bench_new();

	(void)state;
	b->writes = full_direction;
	for (int i = 0; i < 60; i++) {
		uint32_t from[PTT_TUNES], most = 0;

		for (int k = 0; k < 3; k++)
			b->a[k] = bench_chance(b, 3) ? 4 * bench_chance(b, 64) : 0;
		b->a[bench_chance(b, 3)] = 256;
		for (int k = 0; k < 3; k++)
			b->a[3 + k] = 6 + b->a[k] / 4;
		b->a[6] = 12;
		for (uint32_t s = 0; s < 243; s++) {
			settings_at(b->value, s);
			most = full_direction(b) > most ? full_direction(b) : most;
		}
		settings_at(from, bench_chance(b, 243));
		start_from(b, from);
		assert_int_equal(bench_tune(b, TALLY_GOAL_THROUGHPUT), 0);
		if (full_direction(b) * 100 < most * 99)
			fail_msg("%d: %u, and %u can be had: %s", i, full_direction(b), most, b->out.p);
	}
	bench_free(b);
}

static void latency_is_judged_where_the_answers_pass(void **state)
{
	struct bench *b = bench_new();

	(void)state;
	b->ticks = by_watermarks;
	for (int delta = 0; delta < 2; delta++) {
		b->delta = delta;
		start_from(b, (const uint32_t[]){ 1, 1, 1, 2, 2 });
		assert_int_equal(bench_tune(b, TALLY_GOAL_LATENCY), 0);
		assert_memory_equal(b->value, ((const uint32_t[]){ 1, 1, 1, 0, 0 }), sizeof(b->value));
		has(&b->out, delta ? "deltas" : "absolute");
	}
	bench_free(b);
}

static void a_view_without_answers_judges_nothing(void **state)
{
	struct bench *b = bench_new();

	(void)state;
	b->ticks = by_watermarks;
	b->reads[1] = 0;
	start_from(b, (const uint32_t[]){ 1, 1, 1, 2, 2 });
	assert_int_equal(bench_tune(b, TALLY_GOAL_LATENCY), 0);
	assert_memory_equal(b->value, ((const uint32_t[]){ 1, 1, 1, 2, 0 }), sizeof(b->value));
	b->reads[1] = READS;
	b->reads[0] = 0;
	start_from(b, (const uint32_t[]){ 1, 1, 1, 2, 2 });
	assert_int_equal(bench_tune(b, TALLY_GOAL_LATENCY), 0);
	assert_memory_equal(b->value, ((const uint32_t[]){ 1, 1, 1, 0, 2 }), sizeof(b->value));
	bench_free(b);
}

static void what_is_not_better_is_left_alone(void **state)
{
	static uint32_t (*const same[])(const struct bench *b) = { rate_flat, faster_each_time, slower_each_time,
								   hardly_better };
	struct bench *b = bench_new();

	(void)state;
	for (size_t i = 0; i < COUNT(same); i++) {
		b->writes = same[i];
		b->starts = 0;
		assert_int_equal(bench_tune(b, TALLY_GOAL_THROUGHPUT), 0);
		as_it_was(b);
		has(&b->out, "Nothing better was found in ");
		has_not(&b->out, "% best\n");
		assert_int_equal(b->notes.n, 0);
	}
	bench_free(b);
}

/* Noise of all kinds: alike each time, with outliers, in bursts, and such that drifts. b->a[7] remembers. */
static uint32_t rate_outliers(const struct bench *b)
{
	return bench_chance((struct bench *)b, 8) ? 1000 + bench_chance((struct bench *)b, 20) :
						    600 + bench_chance((struct bench *)b, 400);
}

static uint32_t rate_bursts(const struct bench *b)
{
	return 900 + 200 * (b->starts / 7 % 2) + bench_chance((struct bench *)b, 20);
}

static uint32_t rate_wanders(const struct bench *b)
{
	struct bench *w = (struct bench *)b;

	w->a[7] = (w->a[7] * 9 + bench_chance(w, 1000)) / 10;
	return 900 + (uint32_t)w->a[7];
}

static void a_setting_that_does_nothing_is_believed_in_one_run_of_a_thousand_at_most(void **state)
{
	static uint32_t (*const noises[])(const struct bench *b) = { rate_noisy, rate_outliers, rate_bursts,
								     rate_wanders };
	struct bench *b = bench_new();
	uint32_t changed = 0;

	(void)state;
	for (int i = 0; i < 400; i++) {
		b->writes = noises[i % 4];
		start_from(b, AT_RESET);
		assert_int_equal(bench_tune(b, TALLY_GOAL_THROUGHPUT), 0);
		changed += memcmp(b->value, b->first, sizeof(b->value)) != 0;
	}
	assert_uint_in_range(changed, 0, 1);
	bench_free(b);
}

/* 3 % more with one weight, in noise of as much. */
static uint32_t three_per_cent(const struct bench *b)
{
	return (b->value[PTT_TUNE_qos_tx_p] == 2 ? 1030 : 1000) + bench_chance((struct bench *)b, 31);
}

static void a_gain_of_three_per_cent_is_found_in_noise(void **state)
{
	struct bench *b = bench_new();

	(void)state;
	b->writes = three_per_cent;
	for (int i = 0; i < 40; i++) {
		start_from(b, AT_RESET);
		assert_int_equal(bench_tune(b, TALLY_GOAL_THROUGHPUT), 0);
		assert_int_equal(b->value[PTT_TUNE_qos_tx_p], 2);
	}
	bench_free(b);
}

static void few_of_the_settings_are_measured(void **state)
{
	struct bench *b = bench_new();

	(void)state;
	b->writes = rate_flat;
	assert_int_equal(bench_tune(b, TALLY_GOAL_THROUGHPUT), 0);
	assert_int_equal(b->starts, 1 + 2 + 3 * 2); /* what is there; rx up; each weight up and down */
	start_from(b, (const uint32_t[]){ 2, 2, 2, 2, 2 });
	b->starts = 0;
	assert_int_equal(bench_tune(b, TALLY_GOAL_THROUGHPUT), 0);
	assert_int_equal(b->starts, 1 + 3 * 2);
	bench_free(b);
}

/* More for completions and for non-posted requests is better. Weights 2, 2, 2 are 1, 1, 1; a[7]: how often they were
 * set. */
static uint32_t two_weights(const struct bench *b)
{
	bool completions = b->value[PTT_TUNE_qos_tx_cpl] == 2, reads = b->value[PTT_TUNE_qos_tx_np] == 2;

	if (completions && reads && b->value[PTT_TUNE_qos_tx_p] == 2) {
		((struct bench *)b)->a[7]++;
		return 1000;
	}
	return 1000 + 100 * completions + 100 * reads;
}

static void weights_that_are_all_alike_were_measured_once_more(void **state)
{
	struct bench *b = bench_new();

	(void)state;
	b->writes = two_weights;
	b->a[7] = 0;
	start_from(b, (const uint32_t[]){ 1, 1, 1, 2, 2 });
	assert_int_equal(bench_tune(b, TALLY_GOAL_THROUGHPUT), 0);
	assert_int_equal(b->value[PTT_TUNE_qos_tx_cpl], 2);
	assert_int_equal(b->value[PTT_TUNE_qos_tx_np], 2);
	assert_int_equal(b->a[7], 0);
	bench_free(b);
}

/* ---- against the model's own forecast ------------------------------------------------------------------------ */

struct forecast_case {
	const char *load;
	uint32_t goal;
	uint64_t duration_ns;
};

static uint64_t forecast_promise(const struct forecast_case *m, const uint32_t v[static PTT_TUNES])
{
	struct kunpeng_forecast f;
	uint8_t tuned[PTT_TUNES];

	for (int t = 0; t < PTT_TUNES; t++)
		tuned[t] = (uint8_t)v[t];
	assert_int_equal(kunpeng_forecast(&f, m->load, tuned, NULL), 0);
	return m->goal == TALLY_GOAL_LATENCY ? 10000 - f.alone_ns[0] - f.alone_ns[1] : f.bytes[0] + f.bytes[1];
}

static void set_all(struct tally_platform *p, const uint32_t v[static PTT_TUNES])
{
	char text[64];

	for (int t = 0; t < PTT_TUNES; t++) {
		snprintf(text, sizeof(text), DEVICE "/%s=%u", ptt_tunables[t].name, v[t]);
		assert_int_equal(tally_set(p, text), 0);
	}
}

static void read_all(struct tally_platform *p, uint32_t v[static PTT_TUNES])
{
	struct err e = { 0 };

	for (int t = 0; t < PTT_TUNES; t++)
		assert_int_equal(p->ptt.op->tune_get(p->ptt.arg, 1, (enum ptt_tune)t, &v[t], &e), 0);
}

static void tune_model(const struct forecast_case *m, uint32_t seed, const uint32_t from[static PTT_TUNES])
{
	struct tally_platform_opts o = { .size = sizeof(o) };
	struct tally_platform *p;
	uint32_t found[PTT_TUNES], v[PTT_TUNES];
	struct tally_tune_opts t = {
		.size = sizeof(t),
		.device = DEVICE,
		.goal = m->goal,
		.duration_ns = m->duration_ns,
		.to.size = sizeof(t.to),
	};
	uint64_t most = 0;
	char on[64];

	snprintf(on, sizeof(on), "kunpeng,load=%s,seed=%u", m->load, seed);
	o.on = on;
	assert_int_equal(tally_platform_open(&p, &o), 0);
	set_all(p, from);
	assert_int_equal(tally_tune(p, &t, NULL), 0);
	read_all(p, found);
	tally_platform_close(p);
	for (uint32_t i = 0; i < 243; i++) {
		settings_at(v, i);
		most = forecast_promise(m, v) > most ? forecast_promise(m, v) : most;
	}
	if (forecast_promise(m, found) * 100 < most * 99)
		fail_msg("%s from %u%u%u%u%u: %u%u%u%u%u promises %llu, not %llu", on, from[0], from[1], from[2],
			 from[3], from[4], found[0], found[1], found[2], found[3], found[4],
			 (unsigned long long)forecast_promise(m, found), (unsigned long long)most);
}

static void the_model_is_tuned_to_what_its_forecast_says_is_best(void **state)
{
	static const struct forecast_case models[] = {
		{ "storage", TALLY_GOAL_THROUGHPUT, 600000 }, { "contended", TALLY_GOAL_THROUGHPUT, 600000 },
		{ "ingest", TALLY_GOAL_THROUGHPUT, 600000 },  { "mixed", TALLY_GOAL_LATENCY, 10000000 },
		{ "nvme", TALLY_GOAL_LATENCY, 3000000 },
	};
	static const uint32_t from[][PTT_TUNES] = { { 1, 1, 1, 0, 2 }, { 0, 2, 2, 0, 0 }, { 2, 0, 2, 2, 1 } };

	(void)state;
	for (size_t i = 0; i < COUNT(models); i++)
		for (size_t k = 0; k < COUNT(from); k++)
			tune_model(&models[i], (uint32_t)(1 + 10 * k + i), from[k]);
}

/* ---- how it looks ---------------------------------------------------------------------------- */

static void latency_is_shown_by_who_asked(void **state)
{
	struct bench *b = bench_new();
	struct tally_tune_opts o = bench_opts(b, TALLY_GOAL_LATENCY);

	(void)state;
	b->ticks = by_watermarks;
	start_from(b, (const uint32_t[]){ 1, 1, 1, 1, 0 });
	run_from_first(b, &o, TALLY_FORMAT_TEXT);
	table_looks(b, "hisi_ptt0_2 for latency: mean ticks from a request to its last completion\n"
		       "Times are read as absolute.\n"
		       "\n"
		       "cpl np  p rx tx   n asked by latency answered  spread   change vs best\n"
		       "  1  1  1  1  0   1 devices      300       40   0.0 %   +0.0 %     -   as it was\n"
		       "  1  1  1  1  0  13 host         400       40   0.0 %   +0.0 %     -   as it was\n"
		       "  1  1  1  1  2   1 devices      500       40   0.0 %  +66.7 % +66.7 % no better\n"
		       "  1  1  1  1  1   1 devices      400       40   0.0 %  +33.3 % +33.3 % no better\n"
		       "  1  1  1  0  0  13 host         300       40   0.0 %  -25.0 % -25.0 % best\n"
		       "  1  1  1  2  0   1 host         500       40   0.0 %  +25.0 % +66.7 % no better\n"
		       "  1  1  1  0  0   1 devices      300       40   0.0 %   +0.0 %     -   best\n"
		       "  0  1  1  0  0   1 devices      300       40   0.0 %   +0.0 %  +0.0 % no better\n"
		       "  2  1  1  0  0   1 devices      300       40   0.0 %   +0.0 %  +0.0 % no better\n"
		       "  1  0  1  0  0   1 devices      300       40   0.0 %   +0.0 %  +0.0 % no better\n"
		       "  1  2  1  0  0   1 devices      300       40   0.0 %   +0.0 %  +0.0 % no better\n"
		       "  1  1  0  0  0   1 devices      300       40   0.0 %   +0.0 %  +0.0 % no better\n"
		       "  1  1  2  0  0   1 devices      300       40   0.0 %   +0.0 %  +0.0 % no better\n"
		       "  1  1  1  0  2   1 devices      500       40   0.0 %  +66.7 % +66.7 % no better\n"
		       "  1  1  1  0  1   1 devices      400       40   0.0 %  +33.3 % +33.3 % no better\n"
		       "\n"
		       "change: against what was there. vs best: against the best until then, which the\n"
		       "verdict is about. uncertain: better at first, but by no more than chance gives.\n"
		       "\n"
		       "A setting that does nothing comes out better in one run of 1000 at most.\n"
		       "Set, after 39 measurements: rx_alloc_buf_level=0 (was 1)\n");
	bench_free(b);
}

/* What goes out to a device on behalf of another one is in the trace of the host's requests, and its completions
 * are. */
static void requests_between_devices_were_measured_as_the_hosts(void **state)
{
	struct bench *b = bench_new();
	struct tally_tune_opts o = bench_opts(b, TALLY_GOAL_LATENCY);

	(void)state;
	b->ticks = by_watermarks;
	b->peers = 1000;
	start_from(b, (const uint32_t[]){ 1, 1, 1, 1, 0 });
	run_from_first(b, &o, TALLY_FORMAT_TEXT);
	has(&b->out, "  1  1  1  1  0  13 host         400       40   0.0 %   +0.0 %     -   as it was\n");
	has(&b->out, "  1  1  1  0  0  13 host         300       40   0.0 %  -25.0 % -25.0 % best\n");
	bench_free(b);
}

/* The host's requests are answered with the watermark that was there only. */
static uint32_t hardly_any(const struct bench *b, uint32_t direction)
{
	return direction == 3 && b->value[PTT_TUNE_rx_alloc_buf_level] ? 3000 : 300;
}

static void of_nothing_there_is_no_change_of_minus_100_per_cent(void **state)
{
	struct bench *b = bench_new();
	struct tally_tune_opts o = bench_opts(b, TALLY_GOAL_LATENCY);

	(void)state;
	b->ticks = hardly_any;
	b->reads[0] = 0;
	start_from(b, AT_RESET);
	run_from_first(b, &o, TALLY_FORMAT_TEXT);
	has(&b->out, " 1 devices        0        0     -        -       -   as it was\n");
	has_not(&b->out, "-100.0 %");
	run_from_first(b, &o, TALLY_FORMAT_JSON);
	has(&b->out, "\"spread_permille\":null,\"change_permille\":null,\"against_best_permille\":null,");
	has_not(&b->out, "-1000");
	run_from_first(b, &o, TALLY_FORMAT_CSV);
	has(&b->out, ",,,,as it was\n");
	bench_free(b);
}

static uint32_t rate_few(const struct bench *b)
{
	(void)b;
	return 6;
}

static void what_times_are_and_how_well_that_is_known_is_said(void **state)
{
	static const struct {
		uint32_t asked;
		uint8_t known;
		const char *said;
	} row[] = {
		{ TALLY_PTT_TIME_FOUND, PTT_TIME_AUTO,
		  "Times are read as absolute, which is uncertain:\nif it is wrong, so are latencies" },
		{ TALLY_PTT_TIME_FOUND, PTT_TIME_DELTA, "Times are read as deltas.\n" },
		{ TALLY_PTT_TIME_FOUND, PTT_TIME_ABS, "Times are read as absolute.\n" },
		{ TALLY_PTT_TIME_ABS, PTT_TIME_DELTA, "Times are read as absolute.\n" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(row); i++) {
		struct bench *b = bench_new();
		struct tally_tune_opts o = bench_opts(b, TALLY_GOAL_LATENCY);
		struct tally_platform *p = bench_platform(b, "kunpeng");

		b->ticks = by_watermarks;
		b->reads[0] = b->reads[1] = 3;
		b->writes = rate_few;
		b->pmu.time = row[i].known;
		o.time = row[i].asked;
		assert_int_equal(tally_tune(p, &o, NULL), 0);
		has(&b->out, row[i].said);
		tally_platform_close(p);
		bench_free(b);
	}
}

static void a_dry_run_touches_nothing(void **state)
{
	struct bench *b = bench_new();
	struct tally_tune_opts o = bench_opts(b, TALLY_GOAL_THROUGHPUT);

	(void)state;
	o.dry_run = 1;
	run_from_first(b, &o, TALLY_FORMAT_TEXT);
	table_looks(b, "qos_tx_cpl         is 1; would be tried: 0, 2\n"
		       "qos_tx_np          is 1; would be tried: 0, 2\n"
		       "qos_tx_p           is 1; would be tried: 0, 2\n"
		       "rx_alloc_buf_level is 0; would be tried: 1, 2\n"
		       "tx_alloc_buf_level is 2; would be tried: nothing\n"
		       "\n"
		       "A measurement is a trace of one of these; there would be 9 or more:\n"
		       "  hisi_ptt0_2/filter=0x80005,type=7,direction=2,format=0/\n");
	run_from_first(b, &o, TALLY_FORMAT_JSON);
	has(&b->out,
	    "{\"type\":\"plan\",\"tunable\":\"rx_alloc_buf_level\",\"value\":0,\"asked_by\":\"devices\",\"tried\":[1,2]}\n");
	o.goal = TALLY_GOAL_LATENCY;
	o.to.separator = ';';
	run_from_first(b, &o, TALLY_FORMAT_CSV);
	table_looks(
		b,
		"tunable;value;asked_by;tried\nqos_tx_cpl;1;devices;0 2\nqos_tx_np;1;devices;0 2\nqos_tx_p;1;devices;0 2\n"
		"rx_alloc_buf_level;0;host;1 2\ntx_alloc_buf_level;2;devices;0 1\n");
	assert_int_equal(b->sets, 0);
	assert_int_equal(b->starts, 0);
	bench_free(b);
}

/* As many are lost as come: twice the payload crossed. */
static void what_was_lost_counts_as_if_it_were_like_the_rest(void **state)
{
	struct bench *b = bench_new();
	struct tally_tune_opts o = bench_opts(b, TALLY_GOAL_THROUGHPUT);
	struct tally_platform *p = bench_platform(b, "kunpeng");

	(void)state;
	b->writes = rate_flat;
	b->loses = 1000;
	o.to.format = TALLY_FORMAT_CSV;
	assert_int_equal(tally_tune(p, &o, NULL), 0);
	has(&b->out, "1,1,1,0,2,1,devices,4882,0,0,1000,1000,0,0,,as it was\n");
	tally_platform_close(p);
	bench_free(b);
}

static int own_time(void *arg, uint64_t *ns, struct err *e)
{
	struct bench *b = arg;

	*ns = b->own_ns += 50000;
	return b->gone_at && b->starts >= b->gone_at ? err_set(e, TALLY_EEND, "the machine is gone") : 0;
}

/* 50 us from each look to the next: the trace is over at the third, and a fourth one ends it. */
static void a_machine_that_has_a_time_is_asked_for_it(void **state)
{
	struct bench *b = bench_new();
	struct tally_tune_opts o = bench_opts(b, TALLY_GOAL_THROUGHPUT);
	struct tally_platform *p = bench_platform(b, "local");

	(void)state;
	b->op.now = own_time;
	b->writes = rate_flat;
	o.to.format = TALLY_FORMAT_CSV;
	assert_int_equal(tally_tune(p, &o, NULL), 0);
	has(&b->out, "1,1,1,0,2,1,devices,1627,0,0,1000,0,0,0,,as it was\n");
	b->gone_at = b->starts + 2;
	assert_int_equal(tally_tune(p, &o, NULL), -TALLY_EEND);
	said(p, "the machine is gone; the settings of hisi_ptt0_2 are unchanged");
	tally_platform_close(p);
	bench_free(b);
}

/* ---- options --------------------------------------------------------------------------------- */

static void what_cannot_be_tuned_is_refused(void **state)
{
	struct bench *b = bench_with_a_way();
	struct tally_platform *p = bench_platform(b, "local");
	struct tally_tune_opts o = bench_opts(b, TALLY_GOAL_THROUGHPUT);

	(void)state;
	o.duration_ns = 0;
	assert_int_equal(tally_tune(p, &o, NULL), -TALLY_EINVAL);
	said(p, "nothing to measure: give a command or a duration");
	o.duration_ns = 1000;
	o.device = "hisi_ptt0_3";
	assert_int_equal(tally_tune(p, &o, NULL), -TALLY_EINVAL);
	said(p, "did you mean 'hisi_ptt0_2'?");
	o.device = DEVICE;
	o.goal = 7;
	assert_int_equal(tally_tune(p, &o, NULL), -TALLY_EINVAL);
	o.goal = TALLY_GOAL_LATENCY;
	b->writes = NULL;
	assert_int_equal(tally_tune(p, &o, NULL), -TALLY_ENOTSUP);
	said(p, "nothing to compare: no request was answered");
	o.goal = TALLY_GOAL_THROUGHPUT;
	assert_int_equal(tally_tune(p, &o, NULL), -TALLY_ENOTSUP);
	said(p, "nothing to compare: no payload crossed the links");
	b->get_rc = -TALLY_EPERM;
	assert_int_equal(tally_tune(p, &o, NULL), -TALLY_EPERM);
	said(p, "may not be read");
	b->get_rc = 0;
	b->pmu.nfilters = 0;
	assert_int_equal(tally_tune(p, &o, NULL), -TALLY_ENOTSUP);
	said(p, "hisi_ptt0_2 has no root port to trace");
	assert_int_equal(b->sets, 0);
	tally_platform_close(p);
	bench_free(b);
}

static void structs_of_other_versions_are_taken_if_they_say_nothing_new(void **state)
{
	struct {
		struct tally_tune_opts t;
		uint64_t more;
	} o = { .t = { .size = sizeof(o), .device = DEVICE, .dry_run = 1 }, .more = 1 };
	struct bench *b = bench_with_a_way();
	struct tally_platform *p = bench_platform(b, "kunpeng");

	(void)state;
	o.t.to.size = sizeof(o.t.to);
	assert_int_equal(tally_tune(p, &o.t, NULL), -TALLY_EINVAL);
	said(p, "unknown options: they are of a newer library");
	o.more = 0;
	assert_int_equal(tally_tune(p, &o.t, NULL), 0);
	o.t.size = offsetof(struct tally_tune_opts, time);
	o.t.time = 77;
	o.t.dry_run = 0;
	assert_int_equal(tally_tune(p, &o.t, NULL), -TALLY_ENOTSUP); /* goal 0 is latency, and nobody reads here */
	assert_int_equal(o.t.time, 77);
	tally_platform_close(p);
	bench_free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_best_of_all_243_is_found_from_anywhere),
		cmocka_unit_test(latency_is_judged_where_the_answers_pass),
		cmocka_unit_test(a_view_without_answers_judges_nothing),
		cmocka_unit_test(what_is_not_better_is_left_alone),
		cmocka_unit_test(a_setting_that_does_nothing_is_believed_in_one_run_of_a_thousand_at_most),
		cmocka_unit_test(a_gain_of_three_per_cent_is_found_in_noise),
		cmocka_unit_test(few_of_the_settings_are_measured),
		cmocka_unit_test(weights_that_are_all_alike_were_measured_once_more),
		cmocka_unit_test(the_model_is_tuned_to_what_its_forecast_says_is_best),
		cmocka_unit_test(latency_is_shown_by_who_asked),
		cmocka_unit_test(requests_between_devices_were_measured_as_the_hosts),
		cmocka_unit_test(of_nothing_there_is_no_change_of_minus_100_per_cent),
		cmocka_unit_test(what_times_are_and_how_well_that_is_known_is_said),
		cmocka_unit_test(a_dry_run_touches_nothing),
		cmocka_unit_test(what_was_lost_counts_as_if_it_were_like_the_rest),
		cmocka_unit_test(a_machine_that_has_a_time_is_asked_for_it),
		cmocka_unit_test(what_cannot_be_tuned_is_refused),
		cmocka_unit_test(structs_of_other_versions_are_taken_if_they_say_nothing_new),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
