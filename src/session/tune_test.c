/*
 * tune_test.c: the search against arithmetic and against the model's forecast, and what is there after it failed.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "session/platform_test_int.h"

/* ---- a device that is arithmetic ------------------------------------------------------------------- */

#define ROOM (1u << 20)
#define READS 40u
#define DEVICE "hisi_ptt0_2"

struct bench {
	struct ptt_pmus_ops op;
	struct ptt_pmu pmu;
	struct ptt_filter filter[2];
	uint32_t value[PTT_TUNES], first[PTT_TUNES];
	/* What a setting gives: writes of 256 bytes in a trace, and ticks of an answer by direction (2, 3). */
	uint32_t (*writes)(const struct bench *b);
	uint32_t (*ticks)(const struct bench *b, uint32_t direction);
	uint32_t reads[2];                    /* that are answered in direction 2, 3 */
	uint64_t a[8], chance;                /* for those two */
	bool delta;                           /* Time is since the record before */
	/* What goes wrong, at which call from 1 on; 0: never. */
	uint32_t sets, bad_set, bad_sets;     /* bad_sets: so many from there on */
	uint32_t starts, bad_start, gone_at, stop_at;
	bool takes_bad_sets;
	int get_rc, stop_rc;
	/* a trace */
	bool tracing, given;
	uint32_t direction, now, n;
	volatile int stop_word;
	uint8_t p[ROOM];
	struct buf out, notes;
};

static void put_record(struct bench *b, uint32_t dw0, uint32_t dw1, uint32_t dw2, uint32_t after)
{
	uint32_t dw[4] = { dw0, dw1, dw2, 0 };

	b->now += after;
	dw[0] |= (b->delta ? after : b->now) & 0x7ff;
	assert_true(b->n + sizeof(dw) <= ROOM);
	memcpy(b->p + b->n, dw, sizeof(dw));
	b->n += sizeof(dw);
}

static void put_read(struct bench *b, uint32_t tag, uint32_t ticks)
{
	put_record(b, 16u << 11, 0x100u << 16 | tag << 8 | 0xff, 0x1000, 10);
	put_record(b, 2u << 30 | 0xau << 25 | 16u << 11, 64, 0x100u << 16 | tag << 8, ticks);
}

static void fill(struct bench *b)
{
	uint32_t writes = b->writes ? b->writes(b) : 0, reads = b->ticks ? b->reads[b->direction - 2] : 0;

	b->n = 0;
	for (uint32_t i = 0; i < reads; i++)
		put_read(b, i % 256, b->ticks(b, b->direction));
	for (uint32_t i = 0; i < writes; i++)
		put_record(b, 2u << 30 | 64u << 11, 0x100u << 16 | 0xff, i * 256, 5);
}

static int bench_list(void *arg, const struct ptt_pmu **ret, uint32_t *n, struct err *e)
{
	struct bench *b = arg;

	(void)e;
	*ret = &b->pmu;
	*n = 1;
	return 0;
}

static int bench_get(void *arg, uint32_t i, enum ptt_tune t, uint32_t *value, struct err *e)
{
	struct bench *b = arg;

	assert_int_equal(i, 0);
	*value = b->value[t];
	return b->get_rc ? err_set(e, (enum tally_err)-b->get_rc, "may not be read") : 0;
}

static int bench_set(void *arg, uint32_t i, enum ptt_tune t, uint32_t value, struct err *e)
{
	struct bench *b = arg;
	bool bad = ++b->sets >= b->bad_set && b->bad_set && b->sets < b->bad_set + b->bad_sets;

	assert_int_equal(i, 0);
	if (!bad || b->takes_bad_sets)
		b->value[t] = value;
	return bad ? err_set(e, TALLY_EBUSY, "it is busy") : 0;
}

static int bench_start(void *arg, const struct ptt_pmu *p, const struct ptt_ask *ev, size_t ring, struct err *e)
{
	struct bench *b = arg;

	(void)p, (void)ring;
	if (++b->starts == b->bad_start)
		return err_set(e, TALLY_EBUSY, "%s traces already", b->pmu.name);
	assert_int_equal(ev->filter, 0x80005);
	assert_int_equal(ev->type, 7);
	assert_int_equal(ev->format, 0);
	b->direction = ev->direction;
	b->tracing = true;
	b->given = false;
	if (b->starts == b->stop_at)
		b->stop_word = 1;
	return 0;
}

static int bench_next(void *arg, struct ptt_aux *a, int timeout_ms, struct err *e)
{
	struct bench *b = arg;

	(void)timeout_ms;
	if (b->starts == b->gone_at)
		return err_set(e, TALLY_EEND, "the device is gone");
	if (b->tracing || b->given)
		return 0;
	fill(b);
	*a = (struct ptt_aux){ .p = b->p, .n = b->n };
	return b->given = true;
}

static int bench_stop(void *arg, struct err *e)
{
	struct bench *b = arg;

	b->tracing = false;
	return b->stop_rc ? err_set(e, (enum tally_err)-b->stop_rc, "it does not stop") : 0;
}

static uint64_t bench_advance(void *arg, uint64_t ns)
{
	(void)arg;
	return ns;
}

static void bench_close(void *arg)
{
	(void)arg;
}

static void start_from(struct bench *b, const uint32_t v[static PTT_TUNES])
{
	memcpy(b->value, v, sizeof(b->value));
	memcpy(b->first, v, sizeof(b->first));
}

static const uint32_t at_reset[PTT_TUNES] = { 1, 1, 1, 0, 2 };

static struct bench *bench_new(void)
{
	struct bench *b = mem_alloc(sizeof(*b));

	b->op = (struct ptt_pmus_ops){ "a bench", bench_list, bench_get, bench_set, bench_start, bench_next, bench_stop, bench_advance,
				       bench_close };
	b->filter[0] = (struct ptt_filter){ "0000:00:10.0", 0x80001, true };
	b->filter[1] = (struct ptt_filter){ "0000:00:11.0", 0x80004, true };
	b->pmu = (struct ptt_pmu){ .name = DEVICE, .type = 30, .cpus = "0", .nfilters = 2, .filter = b->filter };
	b->reads[0] = b->reads[1] = READS;
	b->chance = 1;
	b->bad_sets = 1;
	start_from(b, at_reset);
	return b;
}

static void bench_free(struct bench *b)
{
	buf_free(&b->out);
	buf_free(&b->notes);
	mem_free(b);
}

static uint32_t chance(struct bench *b, uint32_t below)
{
	b->chance = b->chance * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(b->chance >> 33) % below;
}

static int bench_note(void *arg, const char *s, size_t n)
{
	struct bench *b = arg;

	buf_put(&b->notes, s, n);
	return 0;
}

/* On "kunpeng" the bench is a model in this process: time passes as it is told to. On "local" it is a device. */
static struct tally_platform *around(struct bench *b, const char *on)
{
	struct tally_platform_opts o = { .size = sizeof(o), .on = on, .note = bench_note, .arg = b };
	struct tally_platform *p = NULL;

	assert_int_equal(tally_platform_open(&p, &o), 0);
	if (strcmp(on, "kunpeng"))
		b->op.advance = NULL;
	plat_give_ptt(p, &(struct ptt_pmus){ .arg = b, .op = &b->op });
	return p;
}

static struct tally_tuning asked(struct bench *b, uint32_t goal)
{
	buf_clear(&b->out);
	return (struct tally_tuning){
		.size = sizeof(struct tally_tuning), .device = DEVICE, .goal = goal, .duration_ns = 100000, .stop = &b->stop_word,
		.to = { .size = sizeof(struct tally_out), .out = put, .arg = &b->out },
	};
}

static int tune(struct bench *b, uint32_t goal)
{
	struct tally_platform *p = around(b, "kunpeng");
	struct tally_tuning o = asked(b, goal);
	int rc = tally_tune(p, &o);

	if (rc < 0)
		print_message("%s\n", tally_platform_error(p));
	tally_platform_close(p);
	return rc;
}

static void as_it_was(const struct bench *b)
{
	assert_memory_equal(b->value, b->first, sizeof(b->value));
}

/* ---- what settings give --------------------------------------------------------------------------------- */

static uint32_t weight(uint32_t v)
{
	return 1u << v;
}

/* A full direction as the model has it: payload over time, by weights, and the watermark. a[0..2]: bytes of a packet
 * of each type, a[3..5]: its time, a[6]: that of a posting. */
static uint32_t full_direction(const struct bench *b)
{
	uint64_t bytes = 0, time = 0, mark = 1u << 2 * b->value[PTT_TUNE_tx_alloc_buf_level];

	for (int i = 0; i < 3; i++) {
		bytes += 1000 * weight(b->value[i]) * b->a[i];
		time += weight(b->value[i]) * (1000 * b->a[3 + i] + 1000 * b->a[6] / mark);
	}
	return (uint32_t)(bytes * 4000 / time);
}

static uint32_t flat(const struct bench *b)
{
	(void)b;
	return 1000;
}

static uint32_t noisy(const struct bench *b)
{
	return 1000 + chance((struct bench *)b, 50);
}

static uint32_t faster_each_time(const struct bench *b)
{
	return 1000 + 20 * b->starts;
}

static uint32_t slower_each_time(const struct bench *b)
{
	return 4000 - 40 * b->starts;
}

static uint32_t hardly_better(const struct bench *b)
{
	return 10000 + 20 * b->value[PTT_TUNE_qos_tx_cpl];
}

/* Best: cpl 2, p 0. */
static uint32_t by_weights(const struct bench *b)
{
	return 1000 + 100 * b->value[PTT_TUNE_qos_tx_cpl] - 50 * b->value[PTT_TUNE_qos_tx_p];
}

/* Answers that leave wait for the outbound watermark, those that come for the inbound one. */
static uint32_t by_watermarks(const struct bench *b, uint32_t direction)
{
	return 300 + 100 * b->value[direction == 2 ? PTT_TUNE_tx_alloc_buf_level : PTT_TUNE_rx_alloc_buf_level];
}

/* ---- the search ------------------------------------------------------------------------------------------- */

static void at(uint32_t v[static PTT_TUNES], uint32_t i)
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
			b->a[k] = chance(b, 3) ? 4 * chance(b, 64) : 0;
		b->a[chance(b, 3)] = 256;
		for (int k = 0; k < 3; k++)
			b->a[3 + k] = 6 + b->a[k] / 4;
		b->a[6] = 12;
		for (uint32_t s = 0; s < 243; s++) {
			at(b->value, s);
			most = full_direction(b) > most ? full_direction(b) : most;
		}
		at(from, chance(b, 243));
		start_from(b, from);
		assert_int_equal(tune(b, TALLY_GOAL_THROUGHPUT), 0);
		if (full_direction(b) * 100 < most * 99)
			fail_msg("%d: %u, and %u can be had: %s", i, full_direction(b), most, b->out.p);
		assert_true(full_direction(b) * 1000 >= (memcpy(b->value, from, sizeof(from)), full_direction(b)) * 1000);
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
		assert_int_equal(tune(b, TALLY_GOAL_LATENCY), 0);
		assert_memory_equal(b->value, ((const uint32_t[]){ 1, 1, 1, 0, 0 }), sizeof(b->value));
		has(&b->out, delta ? "since the record before" : "absolute");
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
	assert_int_equal(tune(b, TALLY_GOAL_LATENCY), 0);
	assert_memory_equal(b->value, ((const uint32_t[]){ 1, 1, 1, 2, 0 }), sizeof(b->value));
	b->reads[1] = READS;
	b->reads[0] = 0;
	start_from(b, (const uint32_t[]){ 1, 1, 1, 2, 2 });
	assert_int_equal(tune(b, TALLY_GOAL_LATENCY), 0);
	assert_memory_equal(b->value, ((const uint32_t[]){ 1, 1, 1, 0, 2 }), sizeof(b->value));
	bench_free(b);
}

static void what_is_not_better_is_left_alone(void **state)
{
	static uint32_t (*const same[])(const struct bench *b) = { flat, faster_each_time, slower_each_time, hardly_better };
	struct bench *b = bench_new();

	(void)state;
	for (size_t i = 0; i < COUNT(same); i++) {
		b->writes = same[i];
		b->starts = 0;
		assert_int_equal(tune(b, TALLY_GOAL_THROUGHPUT), 0);
		as_it_was(b);
		has(&b->out, "Nothing better was found in ");
		has_not(&b->out, "best");
		assert_int_equal(b->notes.n, 0);
	}
	bench_free(b);
}

/* Ten settings or more are tried, each comes out better once in 70 times at most. */
static void chance_is_seldom_taken_for_a_gain(void **state)
{
	struct bench *b = bench_new();
	uint32_t changed = 0;

	(void)state;
	b->writes = noisy;
	for (int i = 0; i < 100; i++) {
		start_from(b, at_reset);
		assert_int_equal(tune(b, TALLY_GOAL_THROUGHPUT), 0);
		changed += memcmp(b->value, b->first, sizeof(b->value)) != 0;
	}
	assert_in_range(changed, 0, 15);
	bench_free(b);
}

static void few_of_the_settings_are_measured(void **state)
{
	struct bench *b = bench_new();

	(void)state;
	b->writes = flat;
	assert_int_equal(tune(b, TALLY_GOAL_THROUGHPUT), 0);
	assert_int_equal(b->starts, 1 + 2 + 3 * 2);           /* what is there; rx up; each weight up and down */
	start_from(b, (const uint32_t[]){ 2, 2, 2, 2, 2 });
	b->starts = 0;
	assert_int_equal(tune(b, TALLY_GOAL_THROUGHPUT), 0);
	assert_int_equal(b->starts, 1 + 3 * 2);
	bench_free(b);
}

/* ---- against the model's own forecast ------------------------------------------------------------------------ */

struct model { const char *load; uint32_t goal; uint64_t duration_ns; };

static uint64_t promise(const struct model *m, const uint32_t v[static PTT_TUNES])
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

static void tune_model(const struct model *m, uint32_t seed, const uint32_t from[static PTT_TUNES])
{
	struct tally_platform_opts o = { .size = sizeof(o) };
	struct tally_platform *p;
	uint32_t found[PTT_TUNES], v[PTT_TUNES];
	struct tally_tuning t = {
		.size = sizeof(t), .device = DEVICE, .goal = m->goal, .duration_ns = m->duration_ns, .to.size = sizeof(t.to),
	};
	uint64_t most = 0;
	char on[64];

	snprintf(on, sizeof(on), "kunpeng,load=%s,seed=%u", m->load, seed);
	o.on = on;
	assert_int_equal(tally_platform_open(&p, &o), 0);
	set_all(p, from);
	assert_int_equal(tally_tune(p, &t), 0);
	read_all(p, found);
	tally_platform_close(p);
	for (uint32_t i = 0; i < 243; i++) {
		at(v, i);
		most = promise(m, v) > most ? promise(m, v) : most;
	}
	if (promise(m, found) * 100 < most * 99)
		fail_msg("%s from %u%u%u%u%u: %u%u%u%u%u promises %llu, not %llu", on, from[0], from[1], from[2], from[3], from[4],
			 found[0], found[1], found[2], found[3], found[4], (unsigned long long)promise(m, found),
			 (unsigned long long)most);
}

static void the_model_is_tuned_to_what_its_forecast_says_is_best(void **state)
{
	static const struct model models[] = {
		{ "storage", TALLY_GOAL_THROUGHPUT, 600000 }, { "contended", TALLY_GOAL_THROUGHPUT, 600000 },
		{ "ingest", TALLY_GOAL_THROUGHPUT, 600000 }, { "mixed", TALLY_GOAL_LATENCY, 10000000 },
		{ "nvme", TALLY_GOAL_LATENCY, 3000000 },
	};
	static const uint32_t from[][PTT_TUNES] = { { 1, 1, 1, 0, 2 }, { 0, 2, 2, 0, 0 }, { 2, 0, 2, 2, 1 } };

	(void)state;
	for (size_t i = 0; i < COUNT(models); i++)
		for (size_t k = 0; k < COUNT(from); k++)
			tune_model(&models[i], (uint32_t)(1 + 10 * k + i), from[k]);
}

/* ---- what is there after a failure ---------------------------------------------------------------------------- */

/* Tunes; it fails as said, and what was there is there. */
static void fails(struct bench *b, int code, const char *words)
{
	struct tally_platform *p = around(b, "kunpeng");
	struct tally_tuning o = asked(b, TALLY_GOAL_THROUGHPUT);

	assert_int_equal(tally_tune(p, &o), -code);
	said(p, words);
	said(p, "; hisi_ptt0_2 is as it was");
	as_it_was(b);
	assert_int_equal(b->out.n, 0);
	tally_platform_close(p);
}

static struct bench *bench_with_a_way(void)
{
	struct bench *b = bench_new();

	b->writes = by_weights;
	return b;
}

static uint32_t calls_of_a_whole_run(bool sets)
{
	struct bench *b = bench_with_a_way();
	uint32_t n;

	assert_int_equal(tune(b, TALLY_GOAL_THROUGHPUT), 0);
	assert_memory_equal(b->value, ((const uint32_t[]){ 2, 1, 0, 0, 2 }), sizeof(b->value));
	n = sets ? b->sets : b->starts;
	bench_free(b);
	assert_true(n > 20);
	return n;
}

static void a_set_that_fails_is_undone(void **state)
{
	uint32_t n = calls_of_a_whole_run(true);

	(void)state;
	for (uint32_t i = 1; i <= n; i++)
		for (int kind = 0; kind < 4; kind++) {
			struct bench *b = bench_with_a_way();

			b->bad_set = i;
			b->takes_bad_sets = kind & 1;
			b->bad_sets = kind & 2 ? 3 : 1;
			fails(b, TALLY_EBUSY, "it is busy");
			bench_free(b);
		}
}

static void what_could_not_be_put_back_is_said(void **state)
{
	struct bench *b = bench_with_a_way();
	struct tally_platform *p = around(b, "kunpeng");
	struct tally_tuning o = asked(b, TALLY_GOAL_THROUGHPUT);

	(void)state;
	b->bad_set = 2;
	b->bad_sets = UINT32_MAX - 2;
	assert_int_equal(tally_tune(p, &o), -TALLY_EBUSY);
	said(p, "hisi_ptt0_2/rx_alloc_buf_level: it is busy; not put back: rx_alloc_buf_level=0");
	tally_platform_close(p);
	bench_free(b);
}

static void a_trace_that_fails_is_undone(void **state)
{
	uint32_t n = calls_of_a_whole_run(false);

	(void)state;
	for (uint32_t i = 1; i <= n; i++) {
		struct bench *b = bench_with_a_way();

		b->bad_start = i;
		fails(b, TALLY_EBUSY, "hisi_ptt0_2 traces already");
		b->bad_start = b->starts = 0;
		b->gone_at = i;
		fails(b, TALLY_EEND, "the device is gone");
		b->gone_at = b->starts = 0;
		b->stop_at = i;
		fails(b, TALLY_EEND, "interrupted");
		bench_free(b);
	}
}

static int stop_at_fifth(void *arg, uint64_t done, uint64_t total)
{
	(void)arg;
	assert_int_equal(total, 0);
	return done == 5 ? -1 : 0;
}

static void who_watches_may_stop_it(void **state)
{
	struct bench *b = bench_with_a_way();
	struct tally_platform *p = around(b, "kunpeng");
	struct tally_tuning o = asked(b, TALLY_GOAL_THROUGHPUT);

	(void)state;
	o.progress = stop_at_fifth;
	assert_int_equal(tally_tune(p, &o), -TALLY_EEND);
	said(p, "interrupted");
	assert_int_equal(b->starts, 4);
	as_it_was(b);
	tally_platform_close(p);
	bench_free(b);
}

static void a_table_that_nobody_takes_is_a_failure(void **state)
{
	struct bench *b = bench_with_a_way();
	struct tally_platform *p = around(b, "kunpeng");
	struct tally_tuning o = asked(b, TALLY_GOAL_THROUGHPUT);

	(void)state;
	o.to.out = refuse;
	assert_int_equal(tally_tune(p, &o), -TALLY_EIO);
	as_it_was(b);
	o.dry_run = 1;
	assert_int_equal(tally_tune(p, &o), -TALLY_EIO);
	tally_platform_close(p);
	bench_free(b);
}

static void out_of_memory_is_undone(void **state)
{
	long live, n;

	(void)state;
	for (n = 1; ; n++) {
		struct bench *b = bench_with_a_way();
		struct tally_platform *p = around(b, "kunpeng");
		struct tally_tuning o = asked(b, TALLY_GOAL_THROUGHPUT);
		int rc;

		buf_puts(&b->out, "");
		live = mem_live();
		mem_fail_at(n);
		rc = tally_tune(p, &o);
		if (!mem_failed()) {
			mem_fail_at(0);
			assert_int_equal(rc, 0);
			tally_platform_close(p);
			bench_free(b);
			break;
		}
		mem_fail_at(0);
		if (rc < 0) {
			assert_int_equal(rc, -TALLY_ENOMEM);
			as_it_was(b);
		}
		tally_platform_close(p);
		bench_free(b);
		assert_true(mem_live() < live);
	}
	assert_int_equal(mem_live(), 0);
	assert_true(n > 20);
}

/* ---- commands ---------------------------------------------------------------------------------------------------- */

static int tune_command(struct bench *b, const char *on, char *const argv[], struct tally_platform **p, int *status)
{
	struct tally_tuning o;
	int rc;

	*p = around(b, on);
	o = asked(b, TALLY_GOAL_THROUGHPUT);
	o.argv = argv;
	o.duration_ns = 0;
	rc = tally_tune(*p, &o);
	*status = o.status;
	return rc;
}

static void a_command_that_dies_ends_it(void **state)
{
	static char *const argv[][4] = {
		{ "sh", "-c", "kill -KILL $$" }, { "sh", "-c", "exit 126" }, { "/no/such/command" }, { "/" },
	};
	static const struct { int code, status; const char *words; } rows[] = {
		{ TALLY_EIO, 137, "the command ended with status 137; hisi_ptt0_2 is as it was" },
		{ TALLY_EIO, 126, "the command ended with status 126" },
		{ TALLY_EINVAL, 127, "failed to start '/no/such/command'" }, { TALLY_EINVAL, 126, "failed to start '/'" },
	};
	struct tally_platform *p;
	int status;

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct bench *b = bench_with_a_way();

		assert_int_equal(tune_command(b, i & 1 ? "local" : "kunpeng", argv[i], &p, &status), -rows[i].code);
		said(p, rows[i].words);
		assert_int_equal(status, rows[i].status);
		as_it_was(b);
		tally_platform_close(p);
		bench_free(b);
	}
}

/* A script that counts its runs in a file, and in the fourth does as $0 says. */
static void in_the_fourth_run(const char *what, const char *words, int status)
{
	char path[] = "/tmp/tally-tune-XXXXXX", script[256];
	char *const argv[] = { "sh", "-c", script, NULL };
	struct bench *b = bench_with_a_way();
	struct tally_platform *p;
	int got;

	close(mkstemp(path));
	snprintf(script, sizeof(script), "echo >>%s; [ $(wc -l <%s) -ne 4 ] || %s", path, path, what);
	assert_int_equal(tune_command(b, "kunpeng", argv, &p, &got), -TALLY_EIO);
	said(p, words);
	assert_int_equal(got, status);
	assert_true(b->sets > 0);
	as_it_was(b);
	unlink(path);
	tally_platform_close(p);
	bench_free(b);
}

static void a_command_that_does_not_do_the_same_ends_it(void **state)
{
	(void)state;
	in_the_fourth_run("kill -KILL $$", "the command ended with status 137", 137);
	in_the_fourth_run("exit 3", "the command ended with status 3, and with 0 before", 0);
}

/* Not a model: time passes by itself, and a guard stands by. */
static void nothing_stays_behind(void **state)
{
	static char *const argv[] = { "sh", "-c", "exit 1", NULL };
	struct bench *b = bench_with_a_way();
	struct tally_platform *p;
	int status;

	(void)state;
	b->writes = hardly_better;
	(void)tune_command(b, "local", argv, &p, &status);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
	tally_platform_close(p);
	bench_free(b);
}

/* ---- how it looks -------------------------------------------------------------------------------------------------- */

static void looks(struct bench *b, struct tally_tuning *o, const char *want)
{
	struct tally_platform *p = around(b, "kunpeng");

	buf_clear(&b->out);
	assert_int_equal(tally_tune(p, o), 0);
	assert_string_equal(b->out.p, want);
	tally_platform_close(p);
}

static void the_table_has_three_forms(void **state)
{
	struct bench *b = bench_with_a_way();
	struct tally_tuning o = asked(b, TALLY_GOAL_THROUGHPUT);

	(void)state;
	looks(b, &o,
	      "hisi_ptt0_2 for throughput: the payload per second\n"
	      "\n"
	      " cpl  np   p  rx  tx  times     MiB/s  latency  answered   spread    change\n");
	bench_free(b);
}

static void latency_is_shown_by_who_asked(void **state)
{
	struct bench *b = bench_new();
	struct tally_tuning o = asked(b, TALLY_GOAL_LATENCY);

	(void)state;
	b->ticks = by_watermarks;
	looks(b, &o, "");
	bench_free(b);
}

static void a_dry_run_touches_nothing(void **state)
{
	struct bench *b = bench_with_a_way();
	struct tally_tuning o = asked(b, TALLY_GOAL_THROUGHPUT);

	(void)state;
	o.dry_run = 1;
	looks(b, &o, "");
	assert_int_equal(b->sets, 0);
	assert_int_equal(b->starts, 0);
	bench_free(b);
}

/* ---- options --------------------------------------------------------------------------------------------------------- */

static void what_cannot_be_tuned_is_refused(void **state)
{
	struct bench *b = bench_with_a_way();
	struct tally_platform *p = around(b, "local");
	struct tally_tuning o = asked(b, TALLY_GOAL_THROUGHPUT);

	(void)state;
	o.duration_ns = 0;
	assert_int_equal(tally_tune(p, &o), -TALLY_EINVAL);
	said(p, "nothing to measure: give a command, or a duration");
	o.duration_ns = 1000;
	o.device = "hisi_ptt0_3";
	assert_int_equal(tally_tune(p, &o), -TALLY_EINVAL);
	said(p, "did you mean 'hisi_ptt0_2'?");
	o.device = DEVICE;
	o.goal = 7;
	assert_int_equal(tally_tune(p, &o), -TALLY_EINVAL);
	o.goal = TALLY_GOAL_LATENCY;
	b->writes = NULL;
	assert_int_equal(tally_tune(p, &o), -TALLY_ENOTSUP);
	said(p, "no request was answered meanwhile");
	o.goal = TALLY_GOAL_THROUGHPUT;
	assert_int_equal(tally_tune(p, &o), -TALLY_ENOTSUP);
	said(p, "no payload crossed the links meanwhile");
	b->get_rc = -TALLY_EPERM;
	assert_int_equal(tally_tune(p, &o), -TALLY_EPERM);
	said(p, "may not be read");
	b->get_rc = 0;
	b->pmu.nfilters = 0;
	assert_int_equal(tally_tune(p, &o), -TALLY_ENOTSUP);
	said(p, "hisi_ptt0_2 has no root port that could be traced");
	assert_int_equal(b->sets, 0);
	tally_platform_close(p);
	bench_free(b);
}

static void structs_of_other_versions_are_taken_if_they_say_nothing_new(void **state)
{
	struct { struct tally_tuning t; uint64_t more; } o = { .t = { .size = sizeof(o), .device = DEVICE, .dry_run = 1 }, .more = 1 };
	struct bench *b = bench_with_a_way();
	struct tally_platform *p = around(b, "kunpeng");

	(void)state;
	o.t.to.size = sizeof(o.t.to);
	assert_int_equal(tally_tune(p, &o.t), -TALLY_EINVAL);
	said(p, "options of a newer library");
	o.more = 0;
	assert_int_equal(tally_tune(p, &o.t), 0);
	o.t.size = offsetof(struct tally_tuning, time);
	o.t.time = 77;
	o.t.dry_run = 0;
	assert_int_equal(tally_tune(p, &o.t), -TALLY_ENOTSUP);        /* goal 0 is latency, and nobody reads here */
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
		cmocka_unit_test(chance_is_seldom_taken_for_a_gain),
		cmocka_unit_test(few_of_the_settings_are_measured),
		cmocka_unit_test(the_model_is_tuned_to_what_its_forecast_says_is_best),
		cmocka_unit_test(a_set_that_fails_is_undone),
		cmocka_unit_test(what_could_not_be_put_back_is_said),
		cmocka_unit_test(a_trace_that_fails_is_undone),
		cmocka_unit_test(who_watches_may_stop_it),
		cmocka_unit_test(a_table_that_nobody_takes_is_a_failure),
		cmocka_unit_test(out_of_memory_is_undone),
		cmocka_unit_test(a_command_that_dies_ends_it),
		cmocka_unit_test(a_command_that_does_not_do_the_same_ends_it),
		cmocka_unit_test(nothing_stays_behind),
		cmocka_unit_test(the_table_has_three_forms),
		cmocka_unit_test(latency_is_shown_by_who_asked),
		cmocka_unit_test(a_dry_run_touches_nothing),
		cmocka_unit_test(what_cannot_be_tuned_is_refused),
		cmocka_unit_test(structs_of_other_versions_are_taken_if_they_say_nothing_new),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
