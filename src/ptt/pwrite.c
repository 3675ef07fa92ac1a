/*
 * pwrite.c: writes a perf.data file as it is recorded.
 *
 * The least that perf takes, and what makes the data exact: attrs of 128 bytes (older perfs
 * know no larger ones), an ID_INDEX that gives each device its own buffer, an
 * EVENT_UPDATE with its name, an AUXTRACE_INFO per device, and per commit an
 * AUX record (exact size) and an AUXTRACE record (data, rounded up to 8).  At the end: the events
 * as they are written, the names of the PMUs and an index of the AUXTRACE records.
 *
 * Where what was put can be patched, the header's data size is brought up to date after each
 * commit, so a writer that is killed leaves a file that perf and we read as far as the
 * last commit, and we also what came of the next.  Elsewhere perf's pipe format is written, which
 * has no sizes.
 *
 * The room has no clock: times are 0, and `ref` counts the commits.
 */
#include <stdio.h>

#include "ptt/pdata_int.h"
#include "ptt/rule.h"

#define ATTR_SIZE 128u
#define ROW_SIZE (ATTR_SIZE + 16)
#define SAMPLE_TYPE (PDATA_S_TID | PDATA_S_TIME | PDATA_S_CPU | PDATA_S_IDENTIFIER)
#define SAMPLE_ID 32u /* what that makes of the id behind a record */
#define FIRST_ID 1u
#define STRING_ALIGN 64u /* perf pads its strings */
#define AT_DATA_SIZE 48u /* where the header has it */
#define AT_FEATURES 72u

struct ptt_writer {
	struct bytes_out out;
	struct ptt_device dev[PDATA_DEVICES_MOST];
	uint64_t aux[PDATA_DEVICES_MOST]; /* bytes of AUX data so far: the offset of the next */
	uint32_t ndev;
	uint64_t at, data; /* bytes put so far; where the data section starts */
	struct buf b;      /* what is put together */
	struct buf index;  /* of the AUXTRACE records */
	uint64_t commits;
	int rc; /* the first thing that went wrong: nothing is put after it */
};

static void writer_put16(struct buf *b, uint16_t v)
{
	buf_putc(b, (char)v);
	buf_putc(b, (char)(v >> 8));
}

static void writer_put32(struct buf *b, uint32_t v)
{
	writer_put16(b, (uint16_t)v);
	writer_put16(b, (uint16_t)(v >> 16));
}

static void writer_put64(struct buf *b, uint64_t v)
{
	writer_put32(b, (uint32_t)v);
	writer_put32(b, (uint32_t)(v >> 32));
}

static void put_zeros(struct buf *b, size_t n)
{
	while (n--)
		buf_putc(b, 0);
}

static void put_record(struct buf *b, uint32_t type, size_t size)
{
	writer_put32(b, type);
	writer_put16(b, 0);
	writer_put16(b, (uint16_t)size);
}

static void put_bytes(struct ptt_writer *w, const void *p, size_t n)
{
	if (w->rc == 0 && n)
		w->rc = w->out.put(w->out.arg, p, n);
	w->at += n;
}

/* Puts what was put together. */
static void writer_flush(struct ptt_writer *w)
{
	if (w->b.failed && w->rc == 0)
		w->rc = -TALLY_ENOMEM;
	put_bytes(w, w->b.p, w->b.n);
	buf_clear(&w->b);
}

static void writer_patch64(struct ptt_writer *w, uint64_t off, uint64_t v)
{
	struct buf b = { 0 };

	writer_put64(&b, v);
	if (w->rc == 0)
		w->rc = b.failed ? -TALLY_ENOMEM : w->out.patch(w->out.arg, off, b.p, b.n);
	buf_free(&b);
}

/* ---- what stands before the data -------------------------------------------------- */

static void put_attr(struct buf *b, const struct ptt_device *dev)
{
	writer_put32(b, dev->pmu_type);
	writer_put32(b, ATTR_SIZE);
	writer_put64(b, dev->config);
	writer_put64(b, 1); /* period */
	writer_put64(b, SAMPLE_TYPE);
	writer_put64(b, 0); /* read format */
	writer_put64(b, PDATA_SAMPLE_ID_ALL);
	put_zeros(b, ATTR_SIZE - 48);
}

static void put_header(struct ptt_writer *w)
{
	uint64_t attrs = PDATA_HEADER + w->ndev * 8u;

	w->data = attrs + w->ndev * ROW_SIZE;
	buf_put(&w->b, PDATA_MAGIC, 8);
	writer_put64(&w->b, PDATA_HEADER);
	writer_put64(&w->b, ROW_SIZE);
	writer_put64(&w->b, attrs);
	writer_put64(&w->b, w->ndev * ROW_SIZE);
	writer_put64(&w->b, w->data);
	put_zeros(&w->b, PDATA_HEADER - AT_DATA_SIZE);
	for (uint32_t d = 0; d < w->ndev; d++)
		writer_put64(&w->b, FIRST_ID + d);
	for (uint32_t d = 0; d < w->ndev; d++) {
		put_attr(&w->b, &w->dev[d]);
		writer_put64(&w->b, PDATA_HEADER + d * 8u);
		writer_put64(&w->b, 8);
	}
}

static void put_pipe_header(struct ptt_writer *w)
{
	buf_put(&w->b, PDATA_MAGIC, 8);
	writer_put64(&w->b, PDATA_PIPE_HEADER);
	for (uint32_t d = 0; d < w->ndev; d++) {
		put_record(&w->b, PDATA_R_ATTR, 8 + ATTR_SIZE + 8);
		put_attr(&w->b, &w->dev[d]);
		writer_put64(&w->b, FIRST_ID + d);
	}
}

/* ---- records ---------------------------------------------------------------------- */

static void put_id_index(struct ptt_writer *w)
{
	put_record(&w->b, PDATA_R_ID_INDEX, 16 + w->ndev * 32u);
	writer_put64(&w->b, w->ndev);
	for (uint32_t d = 0; d < w->ndev; d++) {
		writer_put64(&w->b, FIRST_ID + d);
		writer_put64(&w->b, d);
		writer_put64(&w->b, w->dev[d].cpu);
		writer_put64(&w->b, UINT64_MAX); /* no thread */
	}
}

static void put_name(struct buf *b, uint32_t d, const char *name)
{
	size_t n = strlen(name) + 2, padded = (n + 7) / 8 * 8;

	put_record(b, PDATA_R_EVENT_UPDATE, 24 + padded);
	writer_put64(b, PDATA_UPDATE_NAME);
	writer_put64(b, FIRST_ID + d);
	buf_puts(b, name);
	buf_putc(b, '/');
	put_zeros(b, padded - n + 1);
}

/* What perf has there, and what the recorder knows of the device's clock: perf looks no further than its own words. */
static void put_auxtrace_info(struct buf *b, const struct ptt_device *dev)
{
	put_record(b, PDATA_R_AUXTRACE_INFO, dev->time ? 40 : dev->tag14 ? 32 : 24);
	writer_put32(b, PDATA_AUXTRACE_PTT);
	writer_put32(b, 0);
	writer_put64(b, dev->pmu_type);
	if (dev->tag14 || dev->time)
		writer_put64(b, dev->tag14 ? 2 : 0);
	if (dev->time)
		writer_put64(b, dev->time == PTT_TIME_DELTA ? PDATA_TIME_DELTA : PDATA_TIME_ABS);
}

static void put_aux(struct ptt_writer *w, uint32_t d, size_t n, uint32_t flags)
{
	put_record(&w->b, PDATA_R_AUX, 32 + SAMPLE_ID);
	writer_put64(&w->b, w->aux[d]);
	writer_put64(&w->b, n);
	writer_put64(&w->b, flags);
	writer_put64(&w->b, 0); /* process and thread */
	writer_put64(&w->b, 0); /* time */
	writer_put64(&w->b, w->dev[d].cpu);
	writer_put64(&w->b, FIRST_ID + d);
}

static void put_auxtrace(struct ptt_writer *w, uint32_t d, size_t n)
{
	put_record(&w->b, PDATA_R_AUXTRACE, PDATA_AUXTRACE);
	writer_put64(&w->b, (n + 7) / 8 * 8);
	writer_put64(&w->b, w->aux[d]);
	writer_put64(&w->b, w->commits);
	writer_put32(&w->b, d);
	writer_put32(&w->b, UINT32_MAX);
	writer_put32(&w->b, w->dev[d].cpu);
	writer_put32(&w->b, 0);
}

/* ---- features --------------------------------------------------------------------- */

static void put_string(struct buf *b, const char *s)
{
	size_t n = strlen(s), padded = (n + STRING_ALIGN) / STRING_ALIGN * STRING_ALIGN;

	writer_put32(b, (uint32_t)padded);
	buf_put(b, s, n);
	put_zeros(b, padded - n);
}

/* What `perf evlist` prints. */
static void put_event_desc(struct buf *b, const struct ptt_writer *w)
{
	writer_put32(b, w->ndev);
	writer_put32(b, ATTR_SIZE);
	for (uint32_t d = 0; d < w->ndev; d++) {
		struct buf name = { 0 };
		struct ptt_ask ask = { .config = w->dev[d].config };

		static_assert(sizeof(ask.device) == sizeof(w->dev[d].name), "one is copied into the other");
		memcpy(ask.device, w->dev[d].name, sizeof(ask.device));
		ptt_ask_of_config(&ask, w->dev[d].config);
		ptt_ask_text(&ask, &name);
		put_attr(b, &w->dev[d]);
		writer_put32(b, 1);
		put_string(b, name.n ? name.p : "");
		writer_put64(b, FIRST_ID + d);
		b->failed |= name.failed;
		buf_free(&name);
	}
}

static void put_pmu_mappings(struct buf *b, const struct ptt_writer *w)
{
	writer_put32(b, w->ndev);
	for (uint32_t d = 0; d < w->ndev; d++) {
		writer_put32(b, w->dev[d].pmu_type);
		put_string(b, w->dev[d].name);
	}
}

static void put_auxtrace_index(struct buf *b, const struct ptt_writer *w)
{
	writer_put64(b, w->index.n / 16);
	buf_put(b, w->index.p, w->index.n);
	b->failed |= w->index.failed;
}

/* In the order of their bits; first the table of where they are. */
static const struct feature {
	enum pdata_feature bit;
	void (*put)(struct buf *b, const struct ptt_writer *w);
} features[] = {
	{ PDATA_F_EVENT_DESC, put_event_desc },
	{ PDATA_F_PMU_MAPPINGS, put_pmu_mappings },
	{ PDATA_F_AUXTRACE, put_auxtrace_index },
};

static void put_features(struct ptt_writer *w)
{
	uint64_t at = w->at + COUNT(features) * 16, bits = 0;
	struct buf body = { 0 };

	for (size_t i = 0; i < COUNT(features); i++) {
		size_t n = body.n;

		features[i].put(&body, w);
		writer_put64(&w->b, at + n);
		writer_put64(&w->b, body.n - n);
		bits |= (uint64_t)1 << features[i].bit;
	}
	buf_put(&w->b, body.p, body.n);
	w->b.failed |= body.failed;
	buf_free(&body);
	writer_flush(w);
	writer_patch64(w, AT_FEATURES, bits);
}

/* ---- the writer ------------------------------------------------------------------- */

/* The data section's size, so that the file is whole as it stands. */
static void writer_commit(struct ptt_writer *w)
{
	if (w->out.patch)
		writer_patch64(w, AT_DATA_SIZE, w->at - w->data);
}

static void writer_start(struct ptt_writer *w)
{
	if (w->out.patch)
		put_header(w);
	else
		put_pipe_header(w);
	put_id_index(w);
	for (uint32_t d = 0; d < w->ndev; d++)
		put_name(&w->b, d, w->dev[d].name);
	for (uint32_t d = 0; d < w->ndev; d++)
		put_auxtrace_info(&w->b, &w->dev[d]);
	writer_flush(w);
	writer_commit(w);
}

int ptt_writer_open(struct ptt_writer **ret, const struct bytes_out *out, const struct ptt_device *dev, uint32_t ndev,
		    struct err *e)
{
	struct ptt_writer *w;
	int rc;

	if (ndev == 0 || ndev > PDATA_DEVICES_MOST)
		return err_set(e, TALLY_EINVAL, "a trace is of 1 to %u devices, not %u", PDATA_DEVICES_MOST, ndev);
	w = mem_alloc(sizeof(*w));
	if (!w)
		return err_oom(e);
	w->out = *out;
	w->ndev = ndev;
	memcpy(w->dev, dev, ndev * sizeof(*dev));
	writer_start(w);
	rc = w->rc;
	if (rc == 0) {
		*ret = w;
		return 0;
	}
	buf_free(&w->b);
	mem_free(w);
	return err_set(e, (enum tally_err) - rc, "the trace can't be written: %s", tally_strerror(rc));
}

int ptt_writer_aux(struct ptt_writer *w, uint32_t device, const void *p, size_t n, uint32_t flags)
{
	if (device >= w->ndev)
		return -TALLY_EINVAL;
	put_aux(w, device, n, flags);
	if (w->out.patch) {
		writer_put64(&w->index, w->at + w->b.n);
		writer_put64(&w->index, PDATA_AUXTRACE);
	}
	put_auxtrace(w, device, n);
	writer_flush(w);
	put_bytes(w, p, n);
	put_bytes(w, "\0\0\0\0\0\0\0", -n % 8);
	writer_commit(w);
	w->aux[device] += n;
	w->commits++;
	return w->rc;
}

/* AUX offsets count what was there, so they say how much is missing. */
void ptt_writer_lost(struct ptt_writer *w, uint32_t device, uint64_t n)
{
	if (device < w->ndev)
		w->aux[device] += n;
}

int ptt_writer_close(struct ptt_writer *w)
{
	int rc;

	if (!w)
		return 0;
	if (w->out.patch)
		put_features(w);
	rc = w->rc;
	buf_free(&w->b);
	buf_free(&w->index);
	mem_free(w);
	return rc;
}
