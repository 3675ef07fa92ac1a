/*
 * raw.c: runs of records: the AUX data of a perf.data file, or a whole raw file.
 *
 * A run is bytes from a start to an end.  It is given out in chunks of whole
 * records, at most a window at a time, in place.  Its format is told by the
 * first DW that is not zero, once, as perf does.
 *
 * Zero records are padding: older drivers commit whole buffers of which only the front was
 * written.  No real record is all zero: in 8DW the first DW is all ones, in 4DW it
 * would be a read of 1024 DWs without a byte enable.  So chunks end where zeros begin.
 *
 * The end of AUX data is rounded up to 8 bytes in the file, and a few stray
 * bytes can so become a record that never was.  The AUX record tells the exact size.
 * It comes before the data, but for a race in perf: then the last record waits until
 * a look ahead (bounded by a window) has found it.
 */
#include "ptt/pdata_int.h"

#define LOOK_AHEAD (256u << 10)

static bool is_zero(const uint8_t *p, size_t n)
{
	uint64_t any = 0, w;

	for (; n >= 8; p += 8, n -= 8) {
		memcpy(&w, p, 8);
		any |= w;
	}
	while (n)
		any |= p[--n];
	return any == 0;
}

static size_t zeros(const uint8_t *p, size_t n, size_t record)
{
	size_t i = 0;

	while (i < n && is_zero(p + i, record))
		i += record;
	return i;
}

/* Most records are not zero, and their first DW says so. */
static size_t not_zeros(const uint8_t *p, size_t n, size_t record)
{
	for (size_t i = 0; i < n; i += record) {
		uint32_t dw;

		memcpy(&dw, p + i, 4);
		if (!dw && is_zero(p + i, record))
			return i;
	}
	return n;
}

static size_t record_size(const struct pdata_run *run)
{
	return run->c.format * 4u;
}

/* Until a format is known, zeros are taken in units of 4DW: two of them are one record of 8DW. */
static void settle(struct ptt_reader *r, const uint8_t *p, size_t n)
{
	struct pdata_run *run = &r->run;
	uint64_t skipped = run->at - run->start;

	run->settled = true;
	if (ptt_format_of(p, n) != PTT_8DW || skipped % 32)
		return;
	run->c.format = PTT_8DW;
	r->lost.padding_records -= skipped / 32;
}

/* An AUX record behind the data that tells where it really ends. */
static void look_ahead(struct ptt_reader *r)
{
	struct pdata_run *run = &r->run;
	const uint8_t *p;
	size_t n = pdata_bytes(r, run->at, LOOK_AHEAD, &p);
	uint64_t off = run->rest - run->at, told = run->c.aux_offset + run->c.total;

	run->doubt = false;
	if (run->end - run->at > n || p[run->end - run->at - 1])
		return;
	for (uint16_t size; off < n && n - off >= 8; off += size) {
		struct pdata_aux aux;

		size = pdata_u16(p + off + 6);
		if (size < 8 || size > n - off || pdata_u32(p + off) == PDATA_R_AUXTRACE)
			return;
		if (pdata_u32(p + off) != PDATA_R_AUX || !pdata_aux(&r->x, p + off, size, &aux))
			continue;
		if (aux.event == run->event && told - (aux.offset + aux.size) < 8) {
			run->end -= told - (aux.offset + aux.size);
			return;
		}
	}
}

/* How much to ask for now: whole records, and the last one alone while its end is in doubt. */
static size_t ask(struct ptt_reader *r)
{
	struct pdata_run *run = &r->run;
	uint64_t left = run->end - run->at;
	size_t record = record_size(run);

	if (run->doubt && left == record) {
		look_ahead(r);
		left = run->end - run->at;
	} else if (run->doubt && left > record) {
		left -= record;
	}
	if (left > PTT_WINDOW_MOST)
		left = PTT_WINDOW_MOST;
	return left - left % record;
}

/* Bytes at the end of a run that make no record. When the end may be rounded up, zeros are no
 * bytes. */
static void stray(struct ptt_reader *r)
{
	const struct pdata_run *run = &r->run;
	const uint8_t *p;
	size_t left = run->end - run->at, n = pdata_bytes(r, run->at, left, &p);

	if (n && !is_zero(p, n))
		r->lost.stray_bytes += n;
}

static void run_close(struct ptt_reader *r)
{
	if (r->run.at < r->run.end)
		stray(r);
	r->run.open = false;
	r->at = r->run.rest;
}

/* The bytes ended within the run: what is there is still given. */
static void run_short(struct ptt_reader *r)
{
	struct pdata_run *run = &r->run;

	if (run->end != UINT64_MAX)
		pdata_cut(r, run->rest);
	run->end = run->rest = r->eof;
	run->doubt = false;
}

void pdata_run_begin(struct ptt_reader *r, const struct pdata_run *run)
{
	const uint8_t *p = NULL;

	r->run = *run;
	r->run.open = true;
	r->run.at = run->start;
	r->run.c.first = true;
	r->run.settled = run->c.format != 0;
	if (r->run.settled)
		return;
	r->run.c.format = PTT_4DW;
	if (r->opts.as_perf && pdata_bytes(r, run->start, 4, &p) == 4)
		settle(r, p, 4);
}

/* Passes over zeros; how many bytes of records stand at the front then, 0 when the window must be
 * taken anew. */
static size_t records_at(struct ptt_reader *r, const uint8_t *p, size_t n)
{
	struct pdata_run *run = &r->run;
	size_t record = record_size(run), skip;

	if (r->opts.as_perf)
		return n;
	skip = zeros(p, n, record);
	run->at += skip;
	r->lost.padding_records += skip / record;
	if (run->settled)
		return skip ? 0 : not_zeros(p, n, record);
	if (skip < n)
		settle(r, p + skip, n - skip);
	return 0;
}

static int chunk_give(struct pdata_run *run, const uint8_t *p, size_t n, struct ptt_chunk *c)
{
	*c = run->c;
	c->p = p;
	c->n = n;
	c->offset = run->at;
	c->at = run->at - run->start;
	run->at += n;
	run->c.first = false;
	return 1;
}

int pdata_run_next(struct ptt_reader *r, struct ptt_chunk *c)
{
	struct pdata_run *run = &r->run;

	while (run->open) {
		const uint8_t *p = NULL;
		size_t n = ask(r);

		if (n == 0) {
			run_close(r);
			/* perf has a header line for AUX data without records, too. */
			return r->opts.as_perf && run->c.first ? chunk_give(run, NULL, 0, c) : 0;
		}
		if (pdata_bytes(r, run->at, n, &p) < n) {
			run_short(r);
			continue;
		}
		n = records_at(r, p, n);
		if (n)
			return chunk_give(run, p, n, c);
	}
	return 0;
}

void pdata_raw_begin(struct ptt_reader *r)
{
	struct pdata_run run = {.end = r->in.size, .rest = r->in.size};

	run.c = (struct ptt_chunk){
	        .format = r->opts.raw_format, .total = r->in.size, .tid = UINT32_MAX};
	run.c.device = pdata_device_add(&r->x, 0, false);
	pdata_run_begin(r, &run);
}
