/*
 * pdata.c: reads a perf.data file, whole or damaged, once, forwards.
 *
 * The header is trusted only as far as it is consistent. If it is not, reading fails with words, and nothing is
 * searched for. After it come records; those that are not about AUX data are skipped. AUX data is given out in runs
 * (raw.c), each with its device (pevent.c).
 *
 * Where there is no valid record, the next AUXTRACE record is searched for: its first eight bytes are known, and
 * three of its fields have a known shape. Every step and every search goes forwards, so time is bounded by the file's
 * size, and no content can make a cycle. A file that was cut, or whose recording was killed, gives everything that it
 * holds; what it announces and does not hold is counted.
 *
 * Compressed records (perf record -z) contain a stream of records of its own; AUX data itself is never compressed.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "ptt/pdata_int.h"
#include "ptt/rule.h"

#define ATTR_LEAST 64u
#define ATTR_MOST 4096u
#define ATTRS_MOST 1024u
#define INNER (2 * (PDATA_RECORD_MOST + 1))
#define INNER_MOST (64u << 20) /* content of one compressed record: perf's are far below */
#define IDX_MOST (1u << 20)

/* ---- bytes ------------------------------------------------------------------------ */

/* Where a stream ends that has no byte at `off`. What it forgot can't be read, but was there: the end is behind it. */
static uint64_t stream_end(struct ptt_reader *r, uint64_t off)
{
	uint64_t from = 0;
	const uint8_t *p;

	while (from < off) {
		uint64_t mid = from + (off - from) / 2;

		if (r->in.at(r->in.arg, mid, 1, &p) == 0)
			off = mid;
		else
			from = mid + 1;
	}
	return off;
}

static uint64_t end_at(struct ptt_reader *r, uint64_t off)
{
	if (r->in.size == UINT64_MAX)
		return stream_end(r, off);
	return off < r->in.size ? off : r->in.size;
}

size_t pdata_bytes(struct ptt_reader *r, uint64_t off, size_t n, const uint8_t **p)
{
	int64_t got;

	errno = 0;
	got = r->in.at(r->in.arg, off, n, p);
	if (got < 0) {
		r->read_errno = errno;
		pdata_trouble(r, PDATA_T_READ);
	}
	if (got <= 0 && n)
		r->eof = got < 0 ? off : end_at(r, off);
	else if (got < (int64_t)n)
		r->eof = off + (uint64_t)got;
	return got > 0 ? (size_t)got : 0;
}

void pdata_cut(struct ptt_reader *r, uint64_t end)
{
	if (end < r->promised)
		end = r->promised;
	if (end > r->eof)
		r->lost.cut_bytes += end - r->eof;
	r->at = r->limit = r->eof;
}

/* ---- records ---------------------------------------------------------------------- */

struct record {
	uint32_t type;
	uint16_t misc, size;
	uint64_t at;
};

static struct record record_of(const uint8_t *p, uint64_t at)
{
	return (struct record){ pdata_u32(p), pdata_u16(p + 4), pdata_u16(p + 6), at };
}

static bool record_plausible(const struct record *h)
{
	return h->size >= 8 && h->type != 0 && h->type < PDATA_R_TYPES &&
	       (h->type != PDATA_R_AUXTRACE || h->size >= PDATA_AUXTRACE);
}

/* Whether what stands at p (an AUXTRACE record's first eight bytes) looks like the rest of one. */
static bool is_auxtrace(struct ptt_reader *r, uint64_t at)
{
	const uint8_t *p;

	return pdata_bytes(r, at, PDATA_AUXTRACE, &p) == PDATA_AUXTRACE && pdata_u64(p + 8) != 0 &&
	       pdata_u32(p + 32) < IDX_MOST && pdata_u32(p + 44) == 0;
}

/* The next AUXTRACE record from `at` on, or where the data ends. */
static uint64_t find_auxtrace(struct ptt_reader *r, uint64_t at)
{
	static const uint8_t head[8] = { PDATA_R_AUXTRACE, 0, 0, 0, 0, 0, PDATA_AUXTRACE, 0 };

	for (;;) {
		size_t most = r->limit - at < PTT_WINDOW_MOST ? r->limit - at : PTT_WINDOW_MOST;
		const uint8_t *p, *hit;
		size_t n = pdata_bytes(r, at, most, &p);

		if (n < sizeof(head))
			return at + n;
		hit = memmem(p, n, head, sizeof(head));
		if (!hit) {
			at += n - sizeof(head) + 1;
			continue;
		}
		at += (uint64_t)(hit - p);
		if (is_auxtrace(r, at))
			return at;
		at++;
	}
}

static void pdata_resync(struct ptt_reader *r)
{
	uint64_t to = find_auxtrace(r, r->at + 1);

	r->lost.unknown_records++;
	r->passed_over += to - r->at;
	r->at = to;
}

/* ---- what records say ------------------------------------------------------------- */

/* Which stream lost something isn't known, or where it did: so each did, before its next run. */
static void gap_anywhere(struct ptt_reader *r, enum ptt_gap_why why)
{
	r->gaps++;
	r->gap_why = (uint8_t)why;
}

static void aux_event(struct ptt_reader *r, const uint8_t *p, size_t n)
{
	struct pdata_aux aux;

	if (!pdata_aux(&r->x, p, n, &aux))
		return;
	bool lossy = aux.flags & (PDATA_AUX_TRUNCATED | PDATA_AUX_PARTIAL);
	r->lost.truncated_aux += lossy;
	if (lossy && aux.event && aux.event->ncuts < PDATA_CUTS_MOST) {
		aux.event->cut[aux.event->ncuts].from = aux.offset;
		aux.event->cut[aux.event->ncuts++].to = aux.offset + aux.size;
	} else if (lossy) {
		gap_anywhere(r, PTT_GAP_TRUNCATED);
	}
	if (!aux.event)
		return;
	if (aux.event->aux_end < aux.offset + aux.size)
		aux.event->aux_end = aux.offset + aux.size;
	r->x.latest = aux.event;
}

/* HEADER_ATTR of the pipe format: an attr (its size is in its second word), then its ids. */
static int attr_event(struct ptt_reader *r, const uint8_t *p, size_t n)
{
	size_t size = n >= 8 + ATTR_LEAST ? pdata_u32(p + 12) : 0;
	int rc;

	if (size == 0)
		size = ATTR_LEAST;
	if (size > n - 8 || n < 8 + ATTR_LEAST)
		return 0;
	rc = pdata_attr(&r->x, p + 8, size);
	return rc < 0 ? rc : pdata_attr_ids(&r->x, pdata_u32(p + 8), p + 8 + size, n - 8 - size);
}

/* A whole record that has nothing behind it. Only lack of memory is an error. */
static int pdata_take_event(struct ptt_reader *r, uint32_t type, const uint8_t *p, size_t n)
{
	switch (type) {
	case PDATA_R_AUX:
		aux_event(r, p, n);
		return 0;
	case PDATA_R_LOST:
		r->lost_events += n >= 24 ? pdata_u64(p + 16) : 0;
		gap_anywhere(r, PTT_GAP_LOST);
		return 0;
	case PDATA_R_ATTR:
		return attr_event(r, p, n);
	case PDATA_R_ID_INDEX:
		return pdata_id_index(&r->x, p, n);
	case PDATA_R_AUXTRACE_INFO:
		pdata_auxtrace_info(&r->x, p, n);
		return 0;
	case PDATA_R_EVENT_UPDATE:
		pdata_event_update(&r->x, p, n);
		return 0;
	case PDATA_R_FEATURE:
		if (n >= 16)
			pdata_feature(&r->x, pdata_u64(p + 8), p + 16, n - 16);
		return 0;
	}
	return 0;
}

/* ---- compressed records ----------------------------------------------------------- */

static int inner_open(struct ptt_reader *r)
{
	int rc;

	if (r->inner)
		return 0;
	r->inner = mem_alloc(INNER);
	rc = r->inner ? ptt_zstd_open(&r->zstd) : -TALLY_ENOMEM;
	if (rc == -TALLY_ENOTSUP)
		pdata_trouble(r, PDATA_T_ZSTD_GONE);
	return rc == -TALLY_ENOTSUP ? 0 : rc;
}

/* The records that are whole by now; the rest waits for the next piece of the stream. */
static int inner_events(struct ptt_reader *r)
{
	size_t at = 0;
	int rc = 0;

	while (rc == 0 && r->inner_n - at >= 8) {
		struct record h = record_of(r->inner + at, at);

		if (!record_plausible(&h))
			return -TALLY_ECORRUPT;
		if (h.size > r->inner_n - at)
			break;
		rc = pdata_take_event(r, h.type, r->inner + at, h.size);
		at += h.size;
	}
	r->inner_n -= at;
	memmove(r->inner, r->inner + at, r->inner_n);
	return rc;
}

static int inner_unpack(struct ptt_reader *r, const uint8_t *p, size_t n)
{
	uint64_t out = 0;

	for (;;) {
		size_t room = INNER - r->inner_n;
		int64_t got = ptt_zstd_step(r->zstd, &p, &n, r->inner + r->inner_n, room);
		int rc;

		if (got < 0 || (out += (uint64_t)got) > INNER_MOST)
			return -TALLY_ECORRUPT;
		r->inner_n += (size_t)got;
		rc = inner_events(r);
		if (rc < 0 || (n == 0 && (size_t)got < room))
			return rc;
	}
}

/* COMPRESSED: the rest is a piece of the stream; COMPRESSED2: u64 size, the piece, padding. */
static int pdata_take_compressed(struct ptt_reader *r, uint32_t type, const uint8_t *p, size_t n)
{
	int rc = inner_open(r);

	p += 8;
	n -= 8;
	if (type == PDATA_R_COMPRESSED2) {
		uint64_t size = n >= 8 ? pdata_u64(p) : 0;

		n = n < 8 ? 0 : size < n - 8 ? size : n - 8;
		p += 8;
	}
	if (rc < 0 || !r->zstd || n == 0)
		return rc;
	rc = inner_unpack(r, p, n);
	if (rc != -TALLY_ECORRUPT)
		return rc;
	pdata_trouble(r, PDATA_T_ZSTD);
	ptt_zstd_close(r->zstd);
	r->zstd = NULL;
	return 0;
}

/* ---- AUX data --------------------------------------------------------------------- */

/* Ends the run where an AUX record says that it ends, if that rounds up to the announced size. A size beyond the data
 * is no size: then it is what the AUX record says, rounded up, or, where that is too much as well, what there is. */
static void run_end(struct ptt_reader *r, struct pdata_run *run)
{
	uint64_t told = run->event ? run->event->aux_end : 0, exact = told - run->c.aux_offset;
	uint64_t room = r->limit - run->start;

	if (told < run->c.aux_offset)
		exact = 0;
	if (run->c.total > room) {
		pdata_trouble(r, PDATA_T_LIE);
		run->c.total = exact && exact <= room && (exact + 7) / 8 * 8 <= room ? (exact + 7) / 8 * 8 : room;
	}
	run->rest = run->end = run->start + run->c.total;
	if (r->opts.as_perf)
		return;
	if (exact && run->c.total - exact < 8)
		run->end -= run->c.total - exact;
	else
		run->doubt = run->event != NULL;
}

/* ---- bytes cut out of AUX data -----------------------------------------------------
 * The size of AUX data says where perf records go on.  When none is there, but one a little before, as many bytes were
 * cut out of the data.  In 8DW markers tell where.  In 4DW the records behind the cut begin at another place of the
 * grid of 16 bytes, unless whole records are missing: where those at the old place stop looking like records, and those
 * at the new one start, the cut is. */

#define CUT_MOST (1u << 20)

static unsigned feature_count(const struct ptt_reader *r)
{
	unsigned n = 0;

	for (unsigned i = 0; i < COUNT(r->features); i++)
		n += (unsigned)__builtin_popcountll(r->features[i]);
	return n;
}

/* Whether perf records go on at `at`, which should be `should`: two of them, or the table of features behind the
 * data. */
static bool is_boundary(struct ptt_reader *r, uint64_t at, uint64_t should, bool strict)
{
	const uint8_t *p;

	if (should == r->promised)
		return feature_count(r) == 0 ||
		       (pdata_bytes(r, at, 8, &p) == 8 && pdata_u64(p) == should + 16 * feature_count(r));
	if (pdata_bytes(r, at, 16, &p) < 16)
		return !strict;
	struct record h = record_of(p, at);
	if (!record_plausible(&h) || h.size % 8 || (strict && h.type != PDATA_R_AUX && h.type != PDATA_R_AUXTRACE))
		return false;
	if (h.type == PDATA_R_AUXTRACE)
		return is_auxtrace(r, at);
	if (at + h.size == r->promised || pdata_bytes(r, at + h.size, 8, &p) < 8)
		return !strict;
	h = record_of(p, at + h.size);
	return record_plausible(&h) && (!strict || h.type == PDATA_R_AUXTRACE);
}

/* How many bytes of perf records end right before `at`. */
static uint64_t records_before(struct ptt_reader *r, uint64_t at, uint64_t most)
{
	uint64_t n = 0;
	const uint8_t *p;

	for (uint64_t size = 8; size <= 256 && n + size < most; size += 8) {
		if (pdata_bytes(r, at - n - size, 8, &p) < 8)
			break;
		struct record h = record_of(p, 0);
		if (!record_plausible(&h) || h.size != size || h.type == PDATA_R_AUXTRACE)
			continue;
		n += size;
		size = 0;
	}
	return n;
}

static void run_find_cut(struct ptt_reader *r, struct pdata_run *run, uint32_t device)
{
	uint64_t should = run->rest, most = run->c.total < CUT_MOST ? run->c.total : CUT_MOST, k = 0;
	uint8_t format = r->opts.format ? r->opts.format : ptt_config_format(r->x.dev[device].config);

	if (r->in.size == UINT64_MAX || r->opts.as_perf || is_boundary(r, should, should, false))
		return;
	while (++k < most && !is_boundary(r, should - k, should, true))
		;
	if (should != r->promised)
		k += records_before(r, should - k, most > k ? most - k : 0);
	if (k >= most)
		return;
	run->cut = k;
	run->rest = should - k;
	run->end -= k;
	if (should == r->promised)
		r->limit = run->rest;
	r->lost.cut_within += k;
	if (format == PTT_4DW && k % 16 != 0 && !run->unsure) {
		int64_t gain;

		run->bad_at = pdata_cut_find(r, run->start, run->end, 16 - k % 16, &gain);
		run->bad_to = run->bad_at + 16 - k % 16;
	}
}

/* The stream of a device and buffer. More than there is room for share one, which forgets where it was. */
static struct pdata_stream *stream_of(struct ptt_reader *r, uint32_t device, uint32_t idx)
{
	struct pdata_stream *s = r->stream, *end = s + COUNT(r->stream);

	while (s < end && s->used && (s->device != device || s->idx != idx))
		s++;
	if (s == end) {
		s = &r->stream[idx % COUNT(r->stream)];
		*s = (struct pdata_stream){ .gap = s->gap };
	}
	s->device = device;
	s->idx = idx;
	return s;
}

/* AUXTRACE: u64 size, offset, reference; u32 idx, tid, cpu, 0. */
static void pdata_take_auxtrace(struct ptt_reader *r, const uint8_t *p)
{
	struct pdata_run run = { .start = r->at };
	int d;
	bool sure;

	run.c = (struct ptt_chunk){ .total = pdata_u64(p + 8),
				    .aux_offset = pdata_u64(p + 16),
				    .ref = pdata_u64(p + 24),
				    .idx = pdata_u32(p + 32),
				    .tid = pdata_u32(p + 36),
				    .cpu = pdata_u32(p + 40) };
	d = pdata_device_of(&r->x, run.c.idx, &run.event, &sure);
	run_end(r, &run);
	if (d < 0) {
		r->at = run.rest;
		return;
	}
	if (r->x.ndev == 0) {
		pdata_trouble(r, PDATA_T_NO_INFO);
		pdata_device_add(&r->x, 0, false);
	}
	if (!sure)
		pdata_trouble(r, PDATA_T_DEVICE);
	run.unsure = !sure;
	run.c.device = (uint32_t)d;
	run_find_cut(r, &run, (uint32_t)d);
	run.stream = stream_of(r, run.c.device, run.c.idx);
	if (!r->opts.as_perf && pdata_run_is_repeated(r, run.stream, &run)) {
		r->lost.repeated_bytes += run.end - run.start;
		r->at = run.rest;
		return;
	}
	r->x.dev[d].cpu = run.c.cpu;
	pdata_run_begin(r, &run);
}

/* ---- the walk --------------------------------------------------------------------- */

static int record_handle(struct ptt_reader *r, const struct record *h, const uint8_t *p)
{
	r->at = h->at + h->size;
	switch (h->type) {
	case PDATA_R_AUXTRACE:
		pdata_take_auxtrace(r, p);
		return 0;
	case PDATA_R_TRACING_DATA:
		r->at += h->size >= 12 ? pdata_u32(p + 8) : 0;
		return 0;
	case PDATA_R_COMPRESSED:
	case PDATA_R_COMPRESSED2:
		return pdata_take_compressed(r, h->type, p, h->size);
	}
	return pdata_take_event(r, h->type, p, h->size);
}

static int record_next(struct ptt_reader *r)
{
	uint64_t at = r->at;
	const uint8_t *p;
	struct record h;
	size_t n;

	if (r->limit - at < 8) {
		pdata_resync(r);
		return 0;
	}
	n = pdata_bytes(r, at, 8, &p);
	if (n < 8) {
		/* A recording that was not finished may end at any record. */
		pdata_cut(r, n ? at + 8 : at);
		return 0;
	}
	h = record_of(p, at);
	if (!record_plausible(&h) || h.size > r->limit - at) {
		pdata_resync(r);
		return 0;
	}
	n = pdata_bytes(r, at, h.size, &p);
	if (n < h.size) {
		pdata_cut(r, at + h.size);
		return 0;
	}
	return record_handle(r, &h, p);
}

/* Reads on to AUX data: 1, or to the end: 0. */
static int pdata_advance(struct ptt_reader *r)
{
	int rc = 0;

	while (rc == 0 && !r->run.open && r->at < r->limit)
		rc = record_next(r);
	return rc < 0 ? rc : r->run.open;
}

/* ---- the header ------------------------------------------------------------------- */

struct section {
	uint64_t off, size;
};

static struct section section_of(const uint8_t *p)
{
	return (struct section){ pdata_u64(p), pdata_u64(p + 8) };
}

/* A stream can't go back to its data from farther on. */
static bool before_data(const struct ptt_reader *r, struct section s)
{
	return r->in.size != UINT64_MAX || (s.off <= r->at && s.size <= r->at - s.off);
}

static int attr_ids(struct ptt_reader *r, uint32_t type, struct section ids)
{
	while (ids.size >= 8) {
		size_t most = ids.size < 4096 ? ids.size / 8 * 8 : 4096;
		const uint8_t *p;
		size_t n = pdata_bytes(r, ids.off, most, &p);
		int rc = pdata_attr_ids(&r->x, type, p, n);

		if (rc < 0 || n < most || r->x.ids_seen >= PDATA_IDS_MOST)
			return rc;
		ids.off += n;
		ids.size -= n;
	}
	return 0;
}

/* Each row: an attr, and where its ids are. Where rows are cut, the data behind is, too. */
static int header_attrs(struct ptt_reader *r, struct section attrs, uint64_t row)
{
	uint64_t n = before_data(r, attrs) ? attrs.size / row : 0;
	int rc = 0;

	for (uint64_t i = 0; i < n && i < ATTRS_MOST && rc == 0; i++) {
		struct section ids;
		const uint8_t *p;
		uint32_t type;

		if (pdata_bytes(r, attrs.off + i * row, row, &p) < row)
			return 0;
		ids = section_of(p + row - 16);
		type = pdata_u32(p);
		rc = pdata_attr(&r->x, p, row - 16);
		if (rc == 0 && before_data(r, ids))
			rc = attr_ids(r, type, ids);
	}
	return rc;
}

/* Whether the whole section is there. */
static bool section_whole(struct ptt_reader *r, struct section s)
{
	const uint8_t *p;

	if (r->in.size != UINT64_MAX)
		return s.off <= r->in.size && s.size <= r->in.size - s.off;
	return s.size == 0 || pdata_bytes(r, s.off + s.size - 1, 1, &p) == 1;
}

static void header_feature(struct ptt_reader *r, unsigned feature, struct section s)
{
	const uint8_t *p;
	size_t n;

	if (feature == PDATA_F_PMU_MAPPINGS || feature == PDATA_F_EVENT_DESC) {
		n = pdata_bytes(r, s.off, s.size < PTT_WINDOW_MOST ? s.size : PTT_WINDOW_MOST, &p);
		pdata_feature(&r->x, feature, p, n);
	}
	if (!section_whole(r, s))
		pdata_trouble(r, PDATA_T_FEATURES);
}

static bool feature_set(const struct ptt_reader *r, unsigned i)
{
	return r->features[i / 64] >> i % 64 & 1;
}

/* The table stands at the data's end. */
static void header_features(struct ptt_reader *r)
{
	uint64_t at = r->promised;
	const uint8_t *p;

	for (unsigned i = 0; i < PDATA_FEATURES; i++) {
		if (!feature_set(r, i))
			continue;
		if (pdata_bytes(r, at, 16, &p) < 16) {
			pdata_trouble(r, PDATA_T_FEATURES);
			return;
		}
		header_feature(r, i, section_of(p));
		at += 16;
	}
}

/* A writer that was killed may have left data behind the end that it last told; its features are
 * missing, too. */
static void header_data(struct ptt_reader *r, const uint8_t *p, struct section data)
{
	bool any = false;

	for (unsigned i = 0; i < COUNT(r->features); i++)
		any |= (r->features[i] = pdata_u64(p + 72 + i * 8)) != 0;
	r->limit = r->promised = data.off + data.size;
	if (data.size == 0) {
		pdata_trouble(r, PDATA_T_UNFINISHED);
		r->promised = 0;
	}
	if (data.size == 0 || !any)
		r->limit = UINT64_MAX;
	else if (r->in.size != UINT64_MAX)
		header_features(r);
}

static int header_damaged(struct err *e, const char *what, uint64_t n)
{
	return err_set(e, TALLY_ECORRUPT, "the header is damaged: %s (%llu)", what, (unsigned long long)n);
}

static int header_file(struct ptt_reader *r, const uint8_t *header, struct err *e)
{
	uint8_t p[PDATA_HEADER];
	struct section attrs, data;
	uint64_t size, row, end;
	int rc;

	memcpy(p, header, sizeof(p));
	size = pdata_u64(p + 8);
	row = pdata_u64(p + 16);
	attrs = section_of(p + 24);
	data = section_of(p + 40);
	if (size < PDATA_HEADER || size > ATTR_MOST)
		return header_damaged(e, "its size can't be", size);
	if (row < ATTR_LEAST + 16 || row > ATTR_MOST || row % 8)
		return header_damaged(e, "the size of an attr can't be", row);
	if (attrs.off < PDATA_HEADER || __builtin_add_overflow(attrs.off, attrs.size, &end))
		return header_damaged(e, "no attrs can be at their offset", attrs.off);
	if (data.off < PDATA_HEADER || __builtin_add_overflow(data.off, data.size, &end) || end > INT64_MAX)
		return header_damaged(e, "no data can be at its offset", data.off);
	r->at = data.off;
	rc = header_attrs(r, attrs, row);
	if (rc < 0)
		return err_oom(e);
	header_data(r, p, data);
	return 0;
}

static const char *unpack_trouble(const struct ptt_reader *r)
{
	return r->unpack ? ptt_unpack_trouble(r->unpack) : NULL;
}

static int header_not_perf(const struct ptt_reader *r, const uint8_t *p, size_t n, struct err *e)
{
	if (n < 8 && unpack_trouble(r))
		return err_set(e, TALLY_ECORRUPT, "%s", unpack_trouble(r));
	if (n == 0)
		return err_set(e, TALLY_ECORRUPT, "the file is empty");
	if (n >= 8 && !memcmp(p, "2ELIFREP", 8))
		return err_set(e, TALLY_ENOTSUP, "the file was recorded on a big-endian machine");
	if (n >= 32 && ptt_format_of(p, n) == PTT_8DW)
		return err_set(e, TALLY_ECORRUPT, "not a perf.data file; it looks like raw records of 8DW");
	return err_set(e, TALLY_ECORRUPT,
		       "not a perf.data file; a file of raw records requires --format 4dw or 8dw (with --on: "
		       "FILE,format=4dw)");
}

static int pdata_read_header(struct ptt_reader *r, struct err *e)
{
	const uint8_t *p = NULL;
	size_t n = pdata_bytes(r, 0, PDATA_HEADER, &p);

	if (r->troubles)
		return r->read_errno ? err_set(e, TALLY_EIO, "reading failed: %s", strerror(r->read_errno)) :
				       err_set(e, TALLY_EIO, "reading failed");
	if (n < 8 || memcmp(p, PDATA_MAGIC, 8))
		return header_not_perf(r, p, n, e);
	r->eof = UINT64_MAX;
	if (n >= PDATA_PIPE_HEADER && pdata_u64(p + 8) == PDATA_PIPE_HEADER) {
		r->at = PDATA_PIPE_HEADER;
		r->limit = UINT64_MAX;
		return 0;
	}
	if (n < PDATA_HEADER)
		return err_set(e, TALLY_ECORRUPT, "the header is damaged: it is cut, %zu bytes are left of it", n);
	return header_file(r, p, e);
}

/* ---- what was lost, in words ------------------------------------------------------ */

static void PRINTF_LIKE(2, 3) lost_printf(struct ptt_lost *l, const char *fmt, ...)
{
	size_t n = strlen(l->words);
	va_list ap;

	if (n && n + 2 < sizeof(l->words))
		n += (size_t)snprintf(l->words + n, sizeof(l->words) - n, "; ");
	va_start(ap, fmt);
	vsnprintf(l->words + n, sizeof(l->words) - n, fmt, ap);
	va_end(ap);
}

static void pdata_put_words(struct ptt_reader *r)
{
	static const char *const trouble[] = {
#define X(name, text) text,
		PDATA_TROUBLES(X)
#undef X
	};
	struct ptt_lost *l = &r->lost;
	const struct {
		uint64_t n;
		const char *one, *many;
	} count[] = {
		{ l->cut_bytes, "byte is missing at the end of the file", "bytes are missing at the end of the file" },
		{ l->cut_within, "byte is missing within AUX data: the records of the file go on so much earlier",
		  "bytes are missing within AUX data: the records of the file go on so much earlier" },
		{ l->blank_bytes, "byte in the middle of AUX data is zero: no padding, as records follow",
		  "bytes in the middle of AUX data are zeros: no padding, as records follow" },
		{ l->repeated_bytes, "byte of AUX data is there twice and was passed over",
		  "bytes of AUX data are there twice and were passed over" },
		{ l->untaken_bytes, "byte that AUX records tell of did not come",
		  "bytes that AUX records tell of did not come" },
		{ l->truncated_aux, "AUX buffer is incomplete: the driver lost data while tracing",
		  "AUX buffers are incomplete: the driver lost data while tracing" },
		{ l->damaged_bytes, "byte between records has no marker of 8DW and was passed over",
		  "bytes between records have no marker of 8DW and were passed over" },
		{ l->stray_bytes, "byte at the end of AUX data makes no whole record",
		  "bytes at the ends of AUX data make no whole record" },
		{ r->passed_over, "byte is no perf record and was passed over",
		  "bytes are no perf records and were passed over" },
		{ r->lost_events, "event was lost by the kernel while recording",
		  "events were lost by the kernel while recording" },
	};

	l->words[0] = 0;
	if (unpack_trouble(r))
		lost_printf(l, "%s", unpack_trouble(r));
	for (unsigned i = 0; i < COUNT(count); i++)
		if (count[i].n)
			lost_printf(l, "%llu %s", (unsigned long long)count[i].n,
				    count[i].n == 1 ? count[i].one : count[i].many);
	for (unsigned i = 0; i < COUNT(trouble); i++)
		if (r->troubles >> i & 1)
			lost_printf(l, "%s", trouble[i]);
}

/* In a stream the features come last: late, but in time for who names devices in a summary.  What is
 * compressed is read to its end: only there it shows whether something follows. */
static int pdata_finish(struct ptt_reader *r)
{
	const uint8_t *rest;

	if (r->promised && r->at > r->promised)
		pdata_trouble(r, PDATA_T_UNFINISHED);
	if (r->in.size == UINT64_MAX && r->limit != UINT64_MAX && r->at == r->promised && r->promised) {
		memset(r->x.gave, 0, sizeof(r->x.gave));
		header_features(r);
		r->promised = 0;
	}
	if (r->unpack)
		(void)r->in.at(r->in.arg, UINT64_MAX - 1, 1, &rest);
	pdata_put_words(r);
	return 0;
}

/* ---- the reader ------------------------------------------------------------------- */

static bool starts_compressed(const struct bytes_in *in)
{
	const uint8_t *p = NULL;
	int64_t n = in->at(in->arg, 0, 8, &p);

	return n > 0 && ptt_is_zstd(p, (size_t)n);
}

/* Records alone begin with none of perf's letters: that would be prefixes or a time of 0x46524550. */
static bool starts_with_magic(struct ptt_reader *r)
{
	const uint8_t *p;

	return pdata_bytes(r, 0, 8, &p) == 8 && !memcmp(p, PDATA_MAGIC, 8);
}

static int raw_data(struct ptt_reader *r, struct err *e)
{
	if (!pdata_raw_is(r, (enum ptt_format)r->opts.format))
		return r->opts.format == PTT_4DW ?
			       err_set(e, TALLY_EINVAL,
				       "these are records of 8DW: they begin with its marker (bits 31:11 of DW0 are "
				       "ones), so the format is 8dw, not 4dw") :
			       err_set(e, TALLY_EINVAL,
				       "these are not records of 8DW: none begins with its marker (bits 31:11 of DW0 are ones); use "
				       "the format 4dw for records of 4DW");
	pdata_raw_begin(r);
	return 0;
}

static int first_data(struct ptt_reader *r, struct err *e)
{
	int rc = pdata_read_header(r, e);

	if (rc < 0)
		return rc;
	rc = pdata_advance(r);
	if (rc < 0)
		return err_oom(e);
	pdata_put_words(r);
	if (rc || r->x.ndev || *r->lost.words)
		return 0;
	return r->x.foreign ? err_set(e, TALLY_EINVAL, "no HiSilicon PTT data in this file: its AUX data is of type %u",
				      r->x.foreign) :
			      err_set(e, TALLY_EINVAL, "no HiSilicon PTT data in this file");
}

static int reader_start(struct ptt_reader *r, const struct bytes_in *in, const struct ptt_reader_opts *o, struct err *e)
{
	int rc = 0;

	r->in = *in;
	r->eof = UINT64_MAX;
	if (o)
		r->opts = *o;
	if (starts_compressed(in))
		rc = ptt_unpack_open(&r->unpack, &r->in, in, e);
	if (rc < 0)
		return rc;
	r->raw = r->opts.format && !starts_with_magic(r);
	return r->raw ? raw_data(r, e) : first_data(r, e);
}

int ptt_reader_open(struct ptt_reader **ret, const struct bytes_in *in, const struct ptt_reader_opts *o, struct err *e)
{
	struct ptt_reader *r = mem_alloc(sizeof(*r));
	int rc;

	if (!r)
		return err_oom(e);
	rc = reader_start(r, in, o, e);
	if (rc < 0)
		ptt_reader_close(r);
	else
		*ret = r;
	return rc;
}

void ptt_reader_close(struct ptt_reader *r)
{
	if (!r)
		return;
	ptt_zstd_close(r->zstd);
	ptt_unpack_close(r->unpack);
	mem_free(r->inner);
	pdata_index_free(&r->x);
	mem_free(r);
}

int ptt_reader_next(struct ptt_reader *r, struct ptt_chunk *c, struct err *e)
{
	for (;;) {
		int rc = pdata_run_next(r, c);

		if (rc != 0)
			return rc;
		rc = r->raw ? 0 : pdata_advance(r);
		if (rc < 0)
			return err_oom(e);
		if (rc == 0)
			return pdata_stream_end(r, c) ? 1 : pdata_finish(r);
	}
}

bool ptt_reader_has_data(struct ptt_reader *r)
{
	const uint8_t *p;

	return r->raw ? pdata_bytes(r, 0, 1, &p) == 1 : r->run.open;
}

uint32_t ptt_reader_devices(const struct ptt_reader *r, const struct ptt_device **ret)
{
	*ret = r->x.dev;
	return r->x.ndev;
}

const struct ptt_lost *ptt_reader_lost(const struct ptt_reader *r)
{
	return &r->lost;
}
