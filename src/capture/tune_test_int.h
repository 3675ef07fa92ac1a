/*
 * tune_test_int.h: a PTT device that is arithmetic: what a trace of it shows follows from its tunables.
 */
#ifndef TALLY_CAPTURE_TUNE_TEST_INT_H
#define TALLY_CAPTURE_TUNE_TEST_INT_H

#include "platform/fake_ptt_test.h"

#define ROOM (1u << 20)
#define READS 40u
#define DEVICE "hisi_ptt0_2"

struct bench {
	struct ptt_pmus_ops op;
	struct ptt_pmu pmu;
	struct ptt_filter filter[3];
	uint32_t value[PTT_TUNES], first[PTT_TUNES];
	/* What a setting gives: writes of 256 bytes in a trace, and ticks of an answer by direction (2, 3). */
	uint32_t (*writes)(const struct bench *b);
	uint32_t (*ticks)(const struct bench *b, uint32_t direction);
	uint32_t reads[2]; /* that are answered in direction 2, 3 */
	uint32_t peers;    /* that devices make of devices, and direction 3 has, too: of 100 ticks whatever is set */
	uint64_t a[8], chance; /* for those two */
	bool delta;            /* Time is since the record before */
	/* What goes wrong, at which call from 1 on; 0: never. */
	uint32_t sets, bad_set, bad_sets; /* bad_sets: so many from there on */
	uint32_t starts, bad_start, gone_at, stop_at;
	bool takes_bad_sets;
	int get_rc, stop_rc;
	/* a trace */
	bool tracing, given;
	uint32_t direction, now, n, loses;
	uint64_t own_ns;
	volatile int stop_word;
	uint8_t p[ROOM];
	struct buf out, notes;
};

static inline void put_record(struct bench *b, uint32_t dw0, uint32_t dw1, uint32_t dw2, uint32_t after)
{
	uint32_t dw[4] = { dw0, dw1, dw2, 0 };

	b->now += after;
	dw[0] |= (b->delta ? after : b->now) & 0x7ff;
	assert_true(b->n + sizeof(dw) <= ROOM);
	memcpy(b->p + b->n, dw, sizeof(dw));
	b->n += sizeof(dw);
}

enum { BENCH_HOST = 0x80, BENCH_FUNCTION = 0x100 };
static inline void put_read(struct bench *b, uint32_t requester, uint32_t tag, uint32_t ticks)
{
	put_record(b, 16u << 11, requester << 16 | tag << 8 | 0xff, 0x1000, 10);
	put_record(b, 2u << 30 | 0xau << 25 | 16u << 11, 64, requester << 16 | tag << 8, ticks);
}

static inline void bench_fill(struct bench *b)
{
	uint32_t writes = b->writes ? b->writes(b) : 0, reads = b->ticks ? b->reads[b->direction - 2] : 0;

	b->n = 0;
	for (uint32_t i = 0; i < reads; i++)
		put_read(b, b->direction == 3 ? BENCH_HOST : BENCH_FUNCTION, i % 256, b->ticks(b, b->direction));
	for (uint32_t i = 0; b->direction == 3 && i < b->peers; i++)
		put_read(b, BENCH_FUNCTION, i % 256, 100);
	for (uint32_t i = 0; i < writes; i++)
		put_record(b, 2u << 30 | 64u << 11, 0x100u << 16 | 0xff, i * 256, 5);
}

static inline int bench_list(void *arg, const struct ptt_pmu **ret, uint32_t *n, struct err *e)
{
	struct bench *b = arg;

	(void)e;
	*ret = &b->pmu;
	*n = 1;
	return 0;
}

static inline int bench_get(void *arg, uint32_t i, enum ptt_tune t, uint32_t *value, struct err *e)
{
	struct bench *b = arg;

	assert_int_equal(i, 0);
	*value = b->value[t];
	return b->get_rc ? err_set(e, (enum tally_err) - b->get_rc, "may not be read") : 0;
}

static inline int bench_set(void *arg, uint32_t i, enum ptt_tune t, uint32_t value, struct err *e)
{
	struct bench *b = arg;
	bool bad = ++b->sets >= b->bad_set && b->bad_set && b->sets < b->bad_set + b->bad_sets;

	assert_int_equal(i, 0);
	if (!bad || b->takes_bad_sets)
		b->value[t] = value;
	return bad ? err_set(e, TALLY_EBUSY, "it is busy") : 0;
}

static inline int bench_start(void *arg, const struct ptt_pmu *p, const struct ptt_ask *ev, size_t ring, struct err *e)
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

static inline int bench_next(void *arg, struct ptt_aux *a, int timeout_ms, struct err *e)
{
	struct bench *b = arg;

	(void)timeout_ms;
	if (b->starts == b->gone_at)
		return err_set(e, TALLY_EEND, "the device is gone");
	if (b->tracing || b->given)
		return 0;
	bench_fill(b);
	*a = (struct ptt_aux){ .p = b->p, .n = b->n, .lost = b->loses };
	return b->given = true;
}

static inline int bench_stop(void *arg, struct err *e)
{
	struct bench *b = arg;

	b->tracing = false;
	return b->stop_rc ? err_set(e, (enum tally_err) - b->stop_rc, "it does not stop") : 0;
}

static inline uint64_t bench_advance(void *arg, uint64_t ns)
{
	(void)arg;
	return ns;
}

static inline void bench_close(void *arg)
{
	(void)arg;
}

static inline void start_from(struct bench *b, const uint32_t v[static PTT_TUNES])
{
	memmove(b->first, v, sizeof(b->first));
	memcpy(b->value, b->first, sizeof(b->value));
}

#define AT_RESET ((const uint32_t[PTT_TUNES]){ 1, 1, 1, 0, 2 })

static inline struct bench *bench_new(void)
{
	struct bench *b = mem_alloc(sizeof(*b));

	b->op = (struct ptt_pmus_ops){ "a bench",  bench_list,    bench_get,   bench_set, bench_start, bench_next,
				       bench_stop, bench_advance, bench_close, NULL,      NULL };
	b->filter[0] = (struct ptt_filter){ "0000:00:10.0", 0x80001, true };
	b->filter[1] = (struct ptt_filter){ "0000:00:11.0", 0x80004, true };
	b->filter[2] = (struct ptt_filter){ "0000:01:00.0", BENCH_FUNCTION, false };
	b->pmu = (struct ptt_pmu){ .name = DEVICE, .type = 30, .cpus = "0", .nfilters = 3, .filter = b->filter };
	b->reads[0] = b->reads[1] = READS;
	b->chance = 1;
	b->bad_sets = 1;
	start_from(b, AT_RESET);
	return b;
}

static inline void bench_free(struct bench *b)
{
	buf_free(&b->out);
	buf_free(&b->notes);
	mem_free(b);
}

static inline uint32_t bench_chance(struct bench *b, uint32_t below)
{
	b->chance = b->chance * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(b->chance >> 33) % below;
}

static inline int bench_note(void *arg, const char *s, size_t n)
{
	struct bench *b = arg;

	buf_put(&b->notes, s, n);
	return 0;
}

/* On "kunpeng" the bench is a model in this process: time passes as it is told to. On "local" it is a device. */
static inline struct tally_platform *bench_platform(struct bench *b, const char *on)
{
	struct tally_platform_opts o = { .size = sizeof(o), .on = on, .note = bench_note, .arg = b };
	struct tally_platform *p = NULL;

	assert_int_equal(tally_platform_open(&p, &o), 0);
	if (strcmp(on, "kunpeng"))
		b->op.advance = NULL;
	p->ptt = (struct ptt_pmus){ .arg = b, .op = &b->op };
	p->has_ptt = true;
	return p;
}

static inline struct tally_tune_opts bench_opts(struct bench *b, uint32_t goal)
{
	buf_clear(&b->out);
	return (struct tally_tune_opts){
		.size = sizeof(struct tally_tune_opts),
		.device = DEVICE,
		.goal = goal,
		.duration_ns = 100000,
		.stop = &b->stop_word,
		.to = { .size = sizeof(struct tally_out), .out = put, .arg = &b->out },
	};
}

static inline int bench_tune(struct bench *b, uint32_t goal)
{
	struct tally_platform *p = bench_platform(b, "kunpeng");
	struct tally_tune_opts o = bench_opts(b, goal);
	int rc = tally_tune(p, &o, NULL);

	if (rc < 0)
		print_message("%s\n", tally_platform_error(p));
	tally_platform_close(p);
	return rc;
}

static inline void as_it_was(const struct bench *b)
{
	assert_memory_equal(b->value, b->first, sizeof(b->value));
}

/* ---- what settings give --------------------------------------------------------------------------------- */

static inline uint32_t hardly_better(const struct bench *b)
{
	return 10000 + 20 * b->value[PTT_TUNE_qos_tx_cpl];
}

/* Best: cpl 2, p 0. */
static inline uint32_t by_weights(const struct bench *b)
{
	return 1000 + 100 * b->value[PTT_TUNE_qos_tx_cpl] - 50 * b->value[PTT_TUNE_qos_tx_p];
}

static inline struct bench *bench_with_a_way(void)
{
	struct bench *b = bench_new();

	b->writes = by_weights;
	return b;
}

/* ---- how it looks --------------------------------------------------------------------------------------- */

static inline void run_from_first(struct bench *b, struct tally_tune_opts *o, uint32_t form)
{
	struct tally_platform *p = bench_platform(b, "kunpeng");

	buf_clear(&b->out);
	start_from(b, b->first);
	o->to.format = form;
	assert_int_equal(tally_tune(p, o, NULL), 0);
	tally_platform_close(p);
}

static inline void table_looks(struct bench *b, const char *want)
{
	if (strcmp(b->out.p, want))
		fail_msg("%s", b->out.p);
}

#endif
