/*
 * fake_ptt_test.h: devices that do what a test says, and a platform around them.
 */
#ifndef TALLY_PLATFORM_FAKE_PTT_TEST_H
#define TALLY_PLATFORM_FAKE_PTT_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "platform/platform.h"

#define CHUNK 4096u
#define RECORD 32u

/* ---- devices that do what a test says --------------------------------------------------- */

struct fake {
	struct ptt_pmus_ops op;
	struct ptt_pmu pmu[2];
	struct ptt_filter filter[3];
	uint32_t npmus, value[2][PTT_TUNES];
	int list_rc, get_rc, start_rc, stop_rc;
	/* a trace */
	bool tracing, closed, stuck;
	uint32_t chunks, given, starts, stops; /* that it has in all; handed over */
	uint32_t lost_before;                  /* that chunk (from 1) comes behind a gap of 7 records; 0: none */
	uint32_t gone_after;                   /* it is lost after so many chunks; 0: never */
	uint32_t held;                         /* so many chunks come only with stop() */
	uint64_t ns, ns_per_chunk, slices;     /* embedded */
	volatile int *stop_word;
	uint32_t stop_after; /* sets it after so many chunks */
	uint8_t bytes[CHUNK];
	struct ptt_ask ask;
	size_t ring;
	struct buf out, notes;
};

static inline int fake_list(void *arg, const struct ptt_pmu **ret, uint32_t *n, struct err *e)
{
	struct fake *f = arg;

	if (f->list_rc)
		return err_set(e, (enum tally_err) - f->list_rc, "no hisi_ptt here");
	*ret = f->pmu;
	*n = f->npmus;
	return 0;
}

static inline int fake_get(void *arg, uint32_t i, enum ptt_tune t, uint32_t *value, struct err *e)
{
	struct fake *f = arg;

	if (f->get_rc)
		return err_set(e, (enum tally_err) - f->get_rc, "may not be read");
	*value = f->value[i][t];
	return 0;
}

static inline int fake_set(void *arg, uint32_t i, enum ptt_tune t, uint32_t value, struct err *e)
{
	struct fake *f = arg;

	if (f->get_rc)
		return err_set(e, (enum tally_err) - f->get_rc, "may not be written");
	f->value[i][t] = value > PTT_TUNE_MOST ? PTT_TUNE_MOST : value;
	return 0;
}

static inline int fake_start(void *arg, const struct ptt_pmu *p, const struct ptt_ask *ev, size_t ring, struct err *e)
{
	struct fake *f = arg;

	if (f->start_rc)
		return err_set(e, (enum tally_err) - f->start_rc, "%s traces already", p->name);
	f->starts++;
	f->tracing = true;
	f->ask = *ev;
	f->ring = ring;
	return 0;
}

static inline bool has_chunk(const struct fake *f)
{
	if (f->given >= f->chunks || (f->tracing && f->given + f->held >= f->chunks))
		return false;
	return !f->ns_per_chunk || !f->tracing || f->ns / f->ns_per_chunk > f->given;
}

static inline int fake_next(void *arg, struct ptt_aux *a, int timeout_ms, struct err *e)
{
	struct fake *f = arg;

	(void)timeout_ms;
	if (f->gone_after && f->given >= f->gone_after)
		return err_set(e, TALLY_EEND, "the device is gone");
	if (!has_chunk(f))
		return 0;
	f->given++;
	*a = (struct ptt_aux){ .p = f->bytes, .n = CHUNK };
	if (f->given == f->lost_before)
		*a = (struct ptt_aux){ .p = f->bytes, .n = CHUNK, .flags = PTT_AUX_TRUNCATED, .lost = 7 };
	if (f->stop_word && f->given >= f->stop_after)
		*f->stop_word = 1;
	return 1;
}

static inline int fake_stop(void *arg, struct err *e)
{
	struct fake *f = arg;

	f->stops++;
	f->tracing = false;
	return f->stop_rc ? err_set(e, (enum tally_err) - f->stop_rc, "it does not stop") : 0;
}

static inline uint64_t fake_advance(void *arg, uint64_t ns)
{
	struct fake *f = arg;

	if (f->stuck)
		return 0;
	f->slices++;
	f->ns += ns;
	return ns;
}

static inline void fake_close(void *arg)
{
	struct fake *f = arg;

	f->closed = true;
}

static inline struct fake *fake_new(void)
{
	struct fake *f = mem_alloc(sizeof(*f));

	f->op = (struct ptt_pmus_ops){ "a test",  fake_list, fake_get,   fake_set, fake_start, fake_next,
				       fake_stop, NULL,      fake_close, NULL,     NULL };
	f->filter[0] = (struct ptt_filter){ "0000:00:10.0", 0x80001, true };
	f->filter[1] = (struct ptt_filter){ "0000:00:11.0", 0x80004, true };
	f->filter[2] = (struct ptt_filter){ "0000:01:00.0", 0x100, false };
	f->npmus = 2;
	for (uint32_t i = 0; i < 2; i++) {
		f->pmu[i] = (struct ptt_pmu){ .type = 30 + i, .cpus = "4-7", .nfilters = 3, .filter = f->filter };
		snprintf(f->pmu[i].name, sizeof(f->pmu[i].name), "hisi_ptt0_%u", 2 * i);
		for (unsigned t = 0; t < PTT_TUNES; t++)
			f->value[i][t] = ptt_tunables[t].reset;
	}
	for (size_t i = 0; i < CHUNK; i += RECORD) { /* 8DW: posted writes, a time */
		memset(f->bytes + i, 0xff, 4);
		f->bytes[i + 8 + 3] = 0x60;
		f->bytes[i + 8] = 1;
		f->bytes[i + 28] = (uint8_t)(i / RECORD);
	}
	return f;
}

static inline void fake_free(struct fake *f)
{
	buf_free(&f->out);
	buf_free(&f->notes);
	mem_free(f);
}

/* ---- a platform around them ---------------------------------------------------------------- */

static inline int put(void *arg, const char *s, size_t n)
{
	buf_put(arg, s, n);
	return 0;
}

static inline int put_note(void *arg, const char *s, size_t n)
{
	struct fake *f = arg;

	buf_put(&f->notes, s, n);
	return 0;
}

static inline int refuse(void *arg, const char *s, size_t n)
{
	(void)arg, (void)s, (void)n;
	return -1;
}

static inline struct tally_platform *platform(struct fake *f, const char *on, uint32_t profile)
{
	struct tally_platform_opts o = { .size = sizeof(o), .on = on, .note = put_note, .arg = f, .profile = profile };
	struct tally_platform *p = NULL;

	assert_int_equal(tally_platform_open(&p, &o), 0);
	p->ptt = (struct ptt_pmus){ .arg = f, .op = &f->op };
	p->has_ptt = true;
	return p;
}

static inline struct tally_out text_to(struct fake *f)
{
	buf_clear(&f->out);
	return (struct tally_out){ .size = sizeof(struct tally_out), .out = put, .arg = &f->out };
}

/* The words of the last failure have this in them. */
static inline void said(const struct tally_platform *p, const char *words)
{
	if (!strstr(tally_platform_error(p), words))
		fail_msg("\"%s\" is not in: %s", words, tally_platform_error(p));
}

static inline void has(const struct buf *b, const char *words)
{
	if (!b->p || !strstr(b->p, words))
		fail_msg("\"%s\" is not in: %s", words, b->p ? b->p : "");
}

static inline void has_not(const struct buf *b, const char *words)
{
	if (b->n && strstr(b->p, words))
		fail_msg("\"%s\" is in: %s", words, b->p);
}

#endif
