/* pdata_test_int.h: files in memory for the tests of the perf.data codec. */
#ifndef TALLY_PTT_PDATA_TEST_INT_H
#define TALLY_PTT_PDATA_TEST_INT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "ptt/memory_test_int.h"
#include "ptt/pdata_int.h"

/* What a reading came to. */
struct got_gap {
	struct ptt_gap gap;
	uint32_t device;
	uint64_t behind;
}; /* behind: bytes of the device before it */
struct got {
	int open, next;
	uint64_t bytes[4], chunks, firsts; /* bytes by device */
	uint8_t format;                    /* of the last chunk */
	uint64_t end;                      /* of the last chunk, in its AUX buffer */
	struct buf data[4];                /* filled when `keep` */
	struct ptt_device dev[4];
	uint32_t ndev;
	struct ptt_lost lost;
	struct got_gap gap[8];
	uint32_t ngaps;
	struct err e;
};

static inline void got_free(struct got *g)
{
	for (size_t i = 0; i < COUNT(g->data); i++)
		buf_free(&g->data[i]);
}

static inline void got_reading(struct got *g, struct ptt_reader *r, bool keep)
{
	const struct ptt_device *dev;
	struct ptt_chunk c;

	while ((g->next = ptt_reader_next(r, &c, &g->e)) == 1) {
		assert_true(c.format == PTT_4DW || c.format == PTT_8DW);
		assert_int_equal(c.n % (c.format * 4), 0);
		assert_true(c.device < COUNT(g->bytes));
		if (c.gap.why != PTT_GAP_NONE && g->ngaps < COUNT(g->gap))
			g->gap[g->ngaps++] = (struct got_gap){ c.gap, c.device, g->bytes[c.device] };
		if (c.n == 0 && c.gap.why != PTT_GAP_NONE)
			continue;
		assert_true(c.first || c.at >= g->end);
		g->end = c.first && c.n == c.format * 4u ? 0 : c.at + c.n; /* it may be made of two pieces */
		g->format = c.format;
		g->bytes[c.device] += c.n;
		g->chunks++;
		g->firsts += c.first;
		if (keep)
			buf_put(&g->data[c.device], c.p, c.n);
	}
	g->ndev = ptt_reader_devices(r, &dev);
	memcpy(g->dev, dev, (g->ndev < 4 ? g->ndev : 4) * sizeof(*dev));
	g->lost = *ptt_reader_lost(r);
}

static inline struct got read_opts(const uint8_t *p, size_t n, bool stream, const struct ptt_reader_opts *o, bool keep)
{
	struct memory m = { .p = p, .n = n, .stream = stream };
	struct bytes_in in = memory_in(&m);
	struct ptt_reader *r = NULL;
	struct got g = { 0 };

	g.open = ptt_reader_open(&r, &in, o, &g.e);
	if (g.open == 0)
		got_reading(&g, r, keep);
	ptt_reader_close(r);
	return g;
}

static inline struct got read_all(const struct buf *b)
{
	return read_opts((const uint8_t *)b->p, b->n, false, NULL, false);
}

/* ---- writing into memory ---------------------------------------------------------- */
static inline int memory_put(void *arg, const void *p, size_t n)
{
	struct buf *b = arg;

	buf_put(b, p, n);
	return b->failed ? -TALLY_ENOMEM : 0;
}

static inline int memory_patch(void *arg, uint64_t off, const void *p, size_t n)
{
	struct buf *b = arg;

	assert(off + n <= b->n);
	memcpy(b->p + off, p, n);
	return 0;
}

static const struct ptt_device two_devices[2] = {
	{ .name = "hisi_ptt0_2", .pmu_type = 11, .config = 0x107280001, .cpu = 3 },
	{ .name = "hisi_ptt2_0", .pmu_type = 13, .config = 0x7200001, .tag14 = true },
};

/* One whose event says the format. */
static inline struct ptt_device device_of_format(enum ptt_format f)
{
	struct ptt_device d = two_devices[0];

	d.config = 0x07280001 | (uint64_t)(f == PTT_8DW) << 32;
	return d;
}

/* n records of 8DW or 4DW, each different: `seed` and its number are in it. */
static inline void records(uint8_t *p, uint32_t n, enum ptt_format f, uint32_t seed)
{
	for (uint32_t i = 0; i < n; i++, p += f * 4) {
		uint32_t dw[8] = { 0x60000001, seed, i, 0x40000000 | i, 0, 0, 0, i };

		if (f == PTT_8DW)
			dw[0] = UINT32_MAX;
		memcpy(p, dw, f * 4);
	}
}

/* Three commits per device, interleaved: 8DW of the first, 4DW of the second. */
static inline struct buf two_device_file(bool patchable)
{
	struct buf b = { 0 };
	struct bytes_out out = { .arg = &b, .put = memory_put, .patch = patchable ? memory_patch : NULL };
	struct ptt_writer *w = NULL;
	struct err e = { 0 };
	uint8_t p[40 * 32];

	assert_int_equal(ptt_writer_open(&w, &out, two_devices, 2, &e), 0);
	for (uint32_t i = 0; i < 3; i++) {
		records(p, 40, PTT_8DW, i);
		assert_int_equal(ptt_writer_aux(w, 0, p, 40 * 32, 0), 0);
		records(p, 60, PTT_4DW, i);
		assert_int_equal(ptt_writer_aux(w, 1, p, 60 * 16, 0), 0);
	}
	assert_int_equal(ptt_writer_close(w), 0);
	return b;
}

static inline void set32(struct buf *b, size_t at, uint32_t v)
{
	memcpy(b->p + at, &v, 4);
}

static inline void set64(struct buf *b, size_t at, uint64_t v)
{
	memcpy(b->p + at, &v, 8);
}

/* Where the n-th record of a type is in a sound file, 0: nowhere. */
static inline size_t record_at(const struct buf *b, uint32_t type, unsigned nth)
{
	const uint8_t *p = (const uint8_t *)b->p;
	size_t at = pdata_u64(p + 8) == PDATA_PIPE_HEADER ? PDATA_PIPE_HEADER : pdata_u64(p + 40);
	size_t end = at == PDATA_PIPE_HEADER ? b->n : at + pdata_u64(p + 48);

	while (at < end) {
		uint32_t is = pdata_u32(p + at);

		if (is == type && nth-- == 0)
			return at;
		at += pdata_u16(p + at + 6) + (is == PDATA_R_AUXTRACE ? pdata_u64(p + at + 8) : 0);
	}
	return 0;
}

#endif
