/*
 * kunpeng_test_int.h: what passes a core of the kunpeng machine, for its tests.
 *
 * No setting of a trace carries everything, but the machine is the same each time: so it is run once for each of three
 * directions of 8DW, and the three traces, whose Time begins with the same packet, are one by their times.
 */
#ifndef TALLY_MACHINE_KUNPENG_TEST_INT_H
#define TALLY_MACHINE_KUNPENG_TEST_INT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "machine/kunpeng_int.h"

#define CTRL_EN 1u
#define CTRL_8DW (1u << 14)
#define CTRL_ALL (7u << 4 | 0x15u << 16) /* all types, all ports */

struct tape {
	struct buf bytes;
	struct ptt_dev *dev;
};
static inline int tape_dma(void *arg, uint64_t to, const void *p, size_t n)
{
	struct tape *t = arg;

	(void)to;
	buf_put(&t->bytes, p, n);
	return 0;
}

static inline void tape_irq(void *arg)
{
	struct tape *t = arg;

	ptt_dev_write(t->dev, PTT_REG_TRACE_INT_STAT, 0xf);
}

static inline struct kunpeng *machine(const char *load, uint64_t seed)
{
	struct kunpeng *k = NULL;
	struct err e = { 0 };

	assert_int_equal(kunpeng_open(&k, &(struct kunpeng_opts){ .seed = seed, .load = load }, &e), 0);
	return k;
}

/* From now on the device's records go to the tape. */
static inline void tape_start(struct tape *t, struct kunpeng *k, uint32_t core, uint32_t ctrl)
{
	*t = (struct tape){ .dev = kunpeng_device(k, core) };
	ptt_dev_host(t->dev, &(struct ptt_host){ .arg = t, .dma = tape_dma, .irq = tape_irq });
	ptt_dev_write(t->dev, PTT_REG_TRACE_ADDR_SIZE, 1 << 20);
	ptt_dev_write(t->dev, PTT_REG_TRACE_INT_MASK, 0);
	ptt_dev_write(t->dev, PTT_REG_TRACE_CTRL, ctrl | CTRL_EN);
	assert_true(ptt_dev_tracing(t->dev));
}

static inline void tape_stop(struct tape *t)
{
	ptt_dev_write(t->dev, PTT_REG_TRACE_CTRL, 0);
	ptt_dev_read(t->dev, PTT_REG_TRACE_WR_STS);
	ptt_dev_host(t->dev, NULL);
}

static inline void tune(struct kunpeng *k, uint32_t core, enum ptt_tune t, uint32_t value)
{
	ptt_dev_write(kunpeng_device(k, core), PTT_REG_TUNING_CTRL, ptt_tunables[t].code);
	ptt_dev_write(kunpeng_device(k, core), PTT_REG_TUNING_DATA, value);
	assert_int_equal(ptt_dev_tuned(kunpeng_device(k, core), t), value < PTT_TUNE_MOST ? value : PTT_TUNE_MOST);
}

static inline void tune_all(struct kunpeng *k, uint32_t core, const uint8_t tuned[static PTT_TUNES])
{
	for (int t = 0; t < PTT_TUNES; t++)
		tune(k, core, (enum ptt_tune)t, tuned[t]);
}

/* A number below n, for tests. */
static inline uint32_t chance(uint64_t *state, uint32_t n)
{
	*state = *state * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)((*state >> 33) % n);
}

/* A packet as a trace shows it. */
struct seen {
	struct tlp t;
	bool outbound, peer;
};
struct scene {
	struct seen *s;
	uint32_t n, cap;
	struct kunpeng_truth truth;
};
/* What a test does to a machine before time passes, and half-way. */
struct plan {
	const char *load;
	uint64_t seed, ns;
	uint32_t core;
	uint8_t tuned[PTT_TUNES];
	const char *plug[2]; /* goes half-way; comes half-way */
};

static inline void scene_add(struct scene *s, const struct tape *t, uint32_t direction)
{
	const struct ptt_decode_opts o = { .format = PTT_8DW, .time = PTT_TIME_ABS };
	struct ptt_clock clock = { 0 };

	for (size_t at = 0; at < t->bytes.n; at += 32) {
		struct seen *one = VEC_NEW(s->s, s->n, s->cap);
		uint32_t time;
		ptt_decode((const uint8_t *)t->bytes.p + at, &o, &clock, &one->t);
		memcpy(&time, t->bytes.p + at + 28, sizeof(time));
		one->t.time = time; /* since the trace began, whichever record that is */
		one->outbound = direction == 1;
		one->peer = direction == 2 && one->t.class == TLP_CPL;
	}
}

static inline int by_time(const void *a, const void *b)
{
	const struct seen *x = a, *y = b;

	if (x->t.time != y->t.time)
		return x->t.time < y->t.time ? -1 : 1;
	/* The cause of the other first: an answer frees a tag, and what comes in goes out again. */
	if ((x->t.class == TLP_CPL) != (y->t.class == TLP_CPL))
		return x->t.class == TLP_CPL ? -1 : 1;
	return (int)x->outbound - (int)y->outbound;
}

static inline void scene_direction(struct scene *s, const struct plan *p, uint32_t direction)
{
	struct kunpeng *k = machine(p->load, p->seed);
	struct tape t;

	tune_all(k, p->core, p->tuned);
	tape_start(&t, k, p->core, CTRL_ALL | CTRL_8DW | direction << 2);
	kunpeng_run(k, p->ns / 2);
	if (p->plug[0] != NULL)
		assert_int_equal(kunpeng_plug(k, p->plug[0], false, NULL), 0);
	if (p->plug[1] != NULL)
		assert_int_equal(kunpeng_plug(k, p->plug[1], true, NULL), 0);
	kunpeng_run(k, p->ns);
	tape_stop(&t);
	scene_add(s, &t, direction);
	s->truth = *kunpeng_truth(k, p->core);
	buf_free(&t.bytes);
	kunpeng_close(k);
}

/* All packets of a core in their order. */
static inline void scene_take(struct scene *s, const struct plan *p)
{
	*s = (struct scene){ 0 };
	for (uint32_t direction = 1; direction <= 3; direction++)
		scene_direction(s, p, direction);
	if (s->n != 0)
		qsort(s->s, s->n, sizeof(*s->s), by_time);
}

static const uint8_t at_reset[PTT_TUNES] = {
#define PTT_TUNE(name, alias, code, reset, text) reset,
#include "facts/ptt_tune.def"
#undef PTT_TUNE
};

static inline uint64_t all_bytes(const struct kunpeng_truth *t, bool outbound)
{
	return t->bytes[outbound][0] + t->bytes[outbound][1] + t->bytes[outbound][2] + t->bytes[outbound][3];
}

static inline uint64_t all_tlps(const struct kunpeng_truth *t, bool outbound)
{
	return t->tlps[outbound][0] + t->tlps[outbound][1] + t->tlps[outbound][2] + t->tlps[outbound][3];
}

#endif
