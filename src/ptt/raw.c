/*
 * raw.c: runs of records: the AUX data of a perf.data file, or a whole raw file.
 *
 * A run is bytes from a start to an end. It is given out in chunks of whole records, at most a window at a time, in
 * place. Its format is that of the event, or of the user; the content is checked against it. The marker of 8DW proves
 * 8DW, as no record of 4DW can have it: if the event says 4DW, the content wins. A missing marker proves only damage.
 * If no format was given, the first records of a stream decide it for the whole stream.
 *
 * Runs of one buffer of a device are a stream: the AUX offsets say where each begins. If one begins after the end of
 * the last, records are missing, and the next chunk says so (struct ptt_gap). If it continues the last run, which
 * ended within a record, the two pieces are joined in the stream and make a chunk of their own. A run that begins
 * within a record whose start was lost has no marker at its start, but markers 32 bytes apart further on, which
 * distinguish it from 4DW too.
 *
 * The marker of every 8DW record is checked. If it is missing, bytes were lost or changed before it, so the next
 * place is searched for from which markers come 32 bytes apart. If that is not a whole number of records away, bytes
 * are missing from the last record before it: its marker is sound, and it is dropped. So each loss costs one record,
 * and skipped bytes are counted.
 *
 * Zero records are padding: older drivers commit whole buffers of which only the front was written. No real record is
 * all zero: in 8DW the first DW is all ones, in 4DW it would be a read of 1024 DWs without a byte enable. So chunks
 * end where zeros begin.
 *
 * The end of AUX data is rounded up to 8 bytes in the file, so a few stray bytes can look like a record that never
 * existed. The AUX record has the exact size. It comes before the data, except for a race in perf: then the last
 * record waits until a look ahead (bounded by a window) has found it.
 *
 * as_perf: none of this except the format, which perf takes from the first DW of each AUX buffer.
 */
#include "ptt/pdata_int.h"
#include "ptt/rule.h"

#define LOOK_AHEAD (256u << 10)
#define PEEK 128u            /* enough for a front that was cut, and three markers */
#define NO_MARKER_LEAST 256u /* bytes without a marker that make another format likelier than damage */

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

static size_t raw_count_zeros(const uint8_t *p, size_t n, size_t record)
{
	size_t i = 0;

	while (i < n && is_zero(p + i, record))
		i += record;
	return i;
}

/* The marker, and not one that begins a byte further on: its lowest bits are reserved, so they needn't be ones. */
static bool is_marked(const uint8_t *p)
{
	uint32_t dw = pdata_u32(p);

	return dw == UINT32_MAX || (ptt_is_marker(dw) && p[4] != 0xff);
}

/* Most records are not zero, and their first DW says so. Of 8DW it is the marker, too: *bad says that it is missing. */
static size_t records_front(const uint8_t *p, size_t n, size_t record, bool *bad)
{
	*bad = false;
	for (size_t i = 0; i < n; i += record) {
		if (record == 4 * PTT_8DW ? is_marked(p + i) : pdata_u32(p + i) != 0)
			continue;
		if (is_zero(p + i, record))
			return i;
		*bad = record == 4 * PTT_8DW;
		if (*bad)
			return i;
	}
	return n;
}

static size_t record_size(const struct pdata_run *run)
{
	return run->c.format * 4u;
}

/* A chunk of n bytes from p on, whose place the caller knows. */
static struct ptt_chunk chunk_of(const struct ptt_reader *r, const uint8_t *p, size_t n)
{
	struct ptt_chunk c = r->run.c;

	c.p = p;
	c.n = n;
	c.config = r->x.dev[c.device].config;
	c.coverage = ptt_config_coverage(c.config, (enum ptt_format)c.format);
	return c;
}

/* ---- gaps ------------------------------------------------------------------------- */

/* Something is lost at this place of the stream: told with the next chunk. */
static void pdata_stream_gap(struct pdata_stream *s, enum ptt_gap_why why, uint64_t bytes)
{
	if (s->gap.why == PTT_GAP_NONE || s->gap.why == PTT_GAP_TRUNCATED_END || (s->gap.bytes == 0 && bytes != 0))
		s->gap.why = (uint8_t)why;
	s->gap.bytes += bytes;
	s->torn = s->ntail != 0;
}

static void gap_take(struct ptt_reader *r, struct pdata_stream *s, struct ptt_chunk *c)
{
	c->gap = s->gap;
	r->lost.gaps += s->gap.why != PTT_GAP_NONE && s->gap.why != PTT_GAP_TRUNCATED_END;
	r->lost.gap_bytes += s->gap.bytes;
	r->lost.gap_bytes -= s->gap.late < r->lost.gap_bytes ? s->gap.late : r->lost.gap_bytes;
	s->gap = (struct ptt_gap){ 0 };
}

/* Where in the file the next AUX record begins or ends that lost data, or the run ends. Within this run all that
 * lies before `at` was told. */
static uint64_t run_stop(const struct ptt_reader *r)
{
	const struct pdata_run *run = &r->run;
	uint64_t stop = run->bad_to ? run->bad_at : run->end, from = run->c.aux_offset + (run->at - run->start);

	if (r->opts.as_perf) /* perf does not look at them */
		return stop;
	if (run->splice_at && run->splice_at < stop)
		stop = run->splice_at;
	for (uint32_t i = 0; run->event && i < run->event->ncuts; i++)
		for (int k = 0; k < 2; k++) {
			uint64_t at = k ? run->event->cut[i].to : run->event->cut[i].from;

			if (at >= from && at - from < stop - run->at)
				stop = run->at + (at - from);
		}
	return stop;
}

/* Forgets what the stream has passed, and says so when something is lost right here. */
static void cuts_pass(struct ptt_reader *r)
{
	struct pdata_run *run = &r->run;
	struct pdata_event *ev = run->event;
	uint64_t here = run->c.aux_offset + (run->at - run->start);

	for (uint32_t i = 0; ev && i < ev->ncuts;) {
		bool begun = ev->cut[i].from <= here, over = ev->cut[i].to <= here;

		if (over)
			pdata_stream_gap(run->stream, PTT_GAP_TRUNCATED_END, 0);
		if (begun) {
			pdata_stream_gap(run->stream, PTT_GAP_TRUNCATED, 0);
			ev->cut[i].from = UINT64_MAX;
		}
		if (over)
			ev->cut[i] = ev->cut[--ev->ncuts];
		else
			i++;
	}
}

/* ---- whole records that are missing in the middle --------------------------------- */

static struct splice_how splice_how_of(const struct ptt_reader *r, uint8_t format)
{
	const struct pdata_run *run = &r->run;
	const struct ptt_device *d = &r->x.dev[run->c.device];
	uint8_t coverage = ptt_config_coverage(d->config, (enum ptt_format)format);

	return (struct splice_how){ .format = format,
				    .counts = run->stream->time == PTT_TIME_ABS,
				    .twice = format == PTT_4DW &&
					     (!(coverage & PTT_COVERAGE_KNOWN) || coverage & PTT_COVERAGE_DUPLICATES),
				    .tag14 = d->tag14 };
}

/* What Time counts from: as the file says, or as records from p on prove. */
static void stream_find_time(struct ptt_reader *r, const uint8_t *p, size_t n, uint8_t format)
{
	struct pdata_stream *s = r->run.stream;
	bool sure = true;

	if (s->time == PTT_TIME_AUTO)
		s->time = r->x.dev[s->device].time;
	if (s->time == PTT_TIME_AUTO)
		s->time = (uint8_t)ptt_time_guess(p, n, (enum ptt_format)format, &sure);
	if (!sure)
		s->time = PTT_TIME_AUTO;
}

/* The file's sizes say that bytes were cut out of this run, and neither markers nor the grid tell where: whole records
 * were. */
static void run_place_cut(struct ptt_reader *r)
{
	struct pdata_run *run = &r->run;
	struct pdata_stream *s = run->stream;
	const uint8_t *p = NULL;
	size_t n =
		pdata_bytes(r, run->start, run->end - run->start < LOOK_AHEAD ? run->end - run->start : LOOK_AHEAD, &p);
	uint8_t format = s->format ? s->format : (uint8_t)ptt_format_of(p, n);
	uint64_t from = run->start + (s->ntail ? format * 4u - s->ntail % (format * 4u) : 0);

	if (run->cut % (format * 4u) != 0)
		return;
	stream_find_time(r, p, n, format);
	const struct splice_how how = splice_how_of(r, format);
	run->splice_at = ptt_splice_find(r, from, run->end, &how);
	run->splice_why = PTT_GAP_CUT;
	if (run->splice_at == 0) {
		run->splice_at = run->start;
		run->splice_why = PTT_GAP_CUT_SOMEWHERE;
	}
}

static void splice_pass(struct ptt_reader *r)
{
	struct pdata_run *run = &r->run;

	run->splice_at = 0;
	pdata_stream_gap(run->stream, (enum ptt_gap_why)run->splice_why, run->told_cut ? 0 : run->cut);
	run->told_cut = true;
}

/* Of n bytes of records at p those in front of a place where others are missing, though no size says so. */
static size_t splice_ahead(struct ptt_reader *r, const uint8_t *p, size_t n)
{
	struct pdata_run *run = &r->run;
	size_t whole;

	if (r->opts.as_perf || run->c.format != PTT_8DW)
		return n;
	stream_find_time(r, p, n, PTT_8DW);
	const struct splice_how how = splice_how_of(r, PTT_8DW);
	whole = ptt_splice_ahead(p, n, &how);
	if (whole < n) {
		run->splice_at = run->at + whole;
		run->splice_why = PTT_GAP_BROKEN_OFF;
	}
	return whole;
}

/* ---- the grid of 8DW -------------------------------------------------------------- */

/* Whether a record of 8DW begins at p, and others follow it, as far as n bytes tell. `sure`: at least one must. */
static bool is_grid(const uint8_t *p, size_t n, bool sure)
{
	if (n < 4 || pdata_u32(p) != UINT32_MAX || (n >= 28 && pdata_u32(p + 24) != 0) || (sure && n < 36))
		return false;
	for (size_t i = 32; i + 4 <= n && i <= 64; i += 32)
		if (!ptt_is_marker(pdata_u32(p + i)) && !is_zero(p + i, n - i < 32 ? n - i : 32))
			return false;
	return true;
}

/* The first place from `at` on where records of 8DW begin, or `end`. A Time that ends in ones may look like the
 * marker's first byte: of neighbours the one on the old grid of DWs is taken, else the last. */
static uint64_t grid_find(struct ptt_reader *r, uint64_t at, uint64_t end, bool sure)
{
	const uint8_t *p = NULL;
	uint64_t origin = at;

	while (at < end) {
		size_t n = pdata_bytes(r, at, end - at < LOOK_AHEAD ? end - at : LOOK_AHEAD, &p);
		size_t last = at + n < end && n > PEEK ? n - PEEK : n, best = n;

		for (size_t i = 0; i < last; i++) {
			if (p[i] != 0xff || !is_grid(p + i, n - i, sure))
				continue;
			best = i;
			for (size_t k = i + 1; k < i + 4 && k < last && (best + (at - origin)) % 4; k++)
				if (is_grid(p + k, n - k, sure))
					best = k;
			return at + best;
		}
		at += last;
		if (n == 0)
			return at;
	}
	return end;
}

/* The marker is missing at `at`, `done` bytes behind the last place that is known to be good. */
static void damage_begin(struct ptt_reader *r, size_t done)
{
	struct pdata_run *run = &r->run;
	const size_t record = 4 * PTT_8DW;
	uint64_t at = run->at + done, from = done >= record ? at - record + 1 : at;
	uint64_t to = grid_find(r, from, run_stop(r), false);

	run->bad_to = to;
	run->bad_at = done >= record && (to - at) % record != 0 ? at - record : at;
}

static void damage_pass(struct ptt_reader *r)
{
	struct pdata_run *run = &r->run;
	uint64_t n = run->bad_to - run->at;

	/* Bytes are missing when records go on at another place of the grid, and then at least what is left of one. */
	uint64_t record = record_size(run), missing = n % record && run->bad_to < run->end ? record - n % record : 0;

	if (!run->told_cut && run->cut)
		missing = run->cut;
	run->told_cut = true;
	r->lost.damaged_bytes += record == 4 * PTT_8DW ? n : 0;
	pdata_stream_gap(run->stream, run->cut ? PTT_GAP_CUT : PTT_GAP_DAMAGE, missing);
	run->stream->gap.passed += n;
	run->at = run->bad_to;
	run->bad_to = 0;
}

/* ---- the grid of 4DW -------------------------------------------------------------- */

enum {
	GRID_STRIDE = 16,       /* one of so many records is looked at */
	GRID_LOOKED = 64,       /* records whose place tells the new grid, */
	GRID_LOOKED_LEAST = 16, /* when there are no more */
	GRID_GAIN = 6, /* by so much records at the end of a run look more like ones on another grid: three do */
};

/* How much a record of 4DW looks like one: 3 is most. */
static int record_score(const uint8_t *p)
{
	uint32_t dw0 = pdata_u32(p), kind = dw0 >> 25;

	return (tlp_row_of[kind] != 0) + ((kind >> 5 & 1) != 0 || pdata_u32(p + 12) == 0) + ((dw0 >> 11 & 0x3ff) != 0);
}

/* The same with the fields of each kind: 6 is most. */
static int record_score_closely(const uint8_t *p)
{
	const uint32_t dw0 = pdata_u32(p), dw1 = pdata_u32(p + 4), dw2 = pdata_u32(p + 8), dw3 = pdata_u32(p + 12);
	const uint32_t kind = dw0 >> 25, length = dw0 >> 11 & 0x3ff, first = dw1 & 0xf, last = dw1 >> 4 & 0xf;
	int fields = 2;

	if ((kind & 0x1f) == 0x0a) /* a completion: a status that there is, and a reserved bit */
		fields = ((1u << (dw1 >> 13 & 7) & 0x17) != 0) + ((dw2 & 0x80) == 0);
	else if ((kind & 0x1f) ==
		 0) /* memory: byte enables that fit the length, and an address that needs this header */
		fields = (length == 1 ? last == 0 : first && last) +
			 (kind & 0x20 ? dw2 != 0 && (dw3 & 3) == 0 : (dw2 & 3) == 0);
	return record_score(p) + fields + ((dw1 >> 16) != 0);
}

static int records_score(const uint8_t *p, size_t records)
{
	int sum = 0;

	for (size_t i = 0; i < records; i++)
		sum += record_score(p + 16 * i);
	return sum;
}

uint64_t pdata_cut_find(struct ptt_reader *r, uint64_t from, uint64_t to, uint64_t shift, int64_t *gain)
{
	uint64_t at = from, best = from;
	int64_t sum = 0, most = 0;
	const uint8_t *p;

	while (to - at >= 16 + shift) {
		size_t n = pdata_bytes(r, at, to - at < PTT_WINDOW_MOST ? to - at : PTT_WINDOW_MOST, &p), i = 0;

		for (; i + 16 + shift <= n; i += 16) {
			sum += record_score_closely(p + i) - record_score_closely(p + i + shift);
			if (sum > most) {
				most = sum;
				best = at + i + 16;
			}
		}
		if (i == 0)
			break;
		at += i;
	}
	*gain = most - sum;
	return best;
}

/* Where records that look like ones begin behind p, when so many at p don't; 0: those at p do, or none does. `likely`:
 * rather there. */
static size_t grid_shift(const uint8_t *p, int looked, size_t likely)
{
	const int here = records_score(p, (size_t)looked);
	size_t best = 0;
	int most = here + looked / 2;

	for (size_t shift = 1; here < 3 * looked - looked / 2 && shift < 16; shift++) {
		const int sum = records_score(p + shift, (size_t)looked);

		if (sum < most || sum < 3 * looked - looked / 8)
			continue;
		best = shift;
		if (shift == likely)
			break;
		most = sum + 1;
	}
	return best;
}

/* The same of n bytes at p, of as many records as there are. */
static size_t grid_look(const uint8_t *p, size_t n, size_t likely)
{
	size_t shift = 0;

	for (int looked = GRID_LOOKED; shift == 0 && looked >= GRID_LOOKED_LEAST; looked /= 2)
		if (n >= ((size_t)looked + 1) * 16)
			shift = grid_shift(p, looked, likely);
	return shift;
}

/* Of the bytes from run->at on those in front of `at`, from where records are off the grid. */
static size_t grid_leave(struct pdata_run *run, uint64_t at, size_t shift)
{
	run->bad_at = at;
	run->bad_to = at + shift;
	return at - run->at;
}

/* At the end of a run whose last `left` bytes make no record: too few may be off the grid to see it without that. */
static size_t grid_check_end(struct ptt_reader *r, size_t n, size_t left)
{
	struct pdata_run *run = &r->run;
	const size_t most = (size_t)2 * GRID_LOOKED * 16;
	int64_t gain;
	uint64_t at = pdata_cut_find(r, run->at + (n > most ? n - most : 0), run->end, left, &gain);

	if (gain >= GRID_GAIN)
		return grid_leave(run, at, left);
	r->lost.odd_bytes += gain > 0 ? run->end - at : 0;
	return n;
}

/* Of n bytes of 4DW at p those in front of a place from which records are off the grid. Where bytes are left over at
 * the run's end, every record is looked at. */
static size_t grid_check(struct ptt_reader *r, const uint8_t *p, size_t n)
{
	struct pdata_run *run = &r->run;
	const size_t left = run->end == UINT64_MAX ? 0 : (run->end - run->at) % 16;
	const size_t step = left ? 16 : (size_t)GRID_STRIDE * 16, back = (left ? 64 : 20) * step;
	uint32_t odd = 0; /* bits: of the last ones looked at */

	if (r->opts.as_perf || run->c.format != PTT_4DW || run->bad_to)
		return n;
	for (size_t i = 0; i + 16 <= n; i += step) {
		const bool is_odd = record_score(p + i) < 3;

		odd = (odd << 1 | is_odd) & 0xf;
		if (!is_odd || __builtin_popcount(odd) < 3)
			continue;
		const size_t shift = grid_look(p + i, n - i, left), to = i + (size_t)GRID_LOOKED * 16;
		int64_t gain;

		if (shift)
			return grid_leave(run,
					  pdata_cut_find(r, run->at + (i > back ? i - back : 0),
							 run->at + (to < n ? to : n), shift, &gain),
					  shift);
		odd = 0;
		if (left && n - i >= (size_t)GRID_LOOKED_LEAST * 16 &&
		    2 * records_score(p + i, GRID_LOOKED_LEAST) < 5 * GRID_LOOKED_LEAST)
			r->lost.odd_bytes += step;
		i = to - step;
	}
	return left && run->at + n + 16 > run->end ? grid_check_end(r, n, left) : n;
}

/* ---- zeros ------------------------------------------------------------------------- */

#define COMMIT (4u << 20) /* a buffer of the device, which older kernels commit whole */

/* Zeros and then records: where no buffer of the device begins there, that is no padding, but something was written
 * over. */
static void zeros_pass(struct ptt_reader *r)
{
	struct pdata_run *run = &r->run;
	const uint64_t zeros = run->zeros, here = run->c.aux_offset + (run->at - run->start);

	run->zeros = 0;
	if (zeros == 0 || r->raw || here % COMMIT == 0)
		return;
	r->lost.padding_records -= zeros / record_size(run);
	r->lost.blank_bytes += zeros;
	pdata_stream_gap(run->stream, PTT_GAP_DAMAGE, 0);
	run->stream->gap.passed += zeros;
}

/* ---- the format ------------------------------------------------------------------- */

/* What the user says, or the event; 0: neither. */
static uint8_t format_said(const struct ptt_reader *r, uint32_t device)
{
	return r->opts.format ? r->opts.format : ptt_config_format(r->x.dev[device].config);
}

/* Whether records of 8DW are near, though none may begin right here. */
static bool is_8dw_ahead(struct ptt_reader *r)
{
	const struct pdata_run *run = &r->run;
	uint64_t end = run->end - run->at < LOOK_AHEAD ? run->end : run->at + LOOK_AHEAD;

	return grid_find(r, run->at, end, true) < end;
}

/* Until a format is known, zeros are taken in units of 4DW: two of them are one record of 8DW. Damage in front of the
 * first record is records_at()'s to find. */
static void raw_settle_format(struct ptt_reader *r, const uint8_t *p, size_t n)
{
	struct pdata_run *run = &r->run;
	uint8_t said = r->opts.as_perf ? 0 : run->stream->format;
	uint64_t skipped = run->at - run->start;
	bool marked = ptt_format_of(p, n) == PTT_8DW;

	run->settled = true;
	if (said == PTT_4DW ? !is_grid(p, n, n >= 36) : said == 0 && !marked && (r->opts.as_perf || !is_8dw_ahead(r)))
		return; /* as it was */
	if (said == PTT_4DW)
		pdata_trouble(r, PDATA_T_MARKED);
	if (run->c.format != PTT_8DW)
		r->lost.padding_records -= skipped / 32;
	run->c.format = PTT_8DW;
}

bool pdata_raw_is(struct ptt_reader *r, enum ptt_format format)
{
	const uint8_t *p = NULL;
	size_t n = pdata_bytes(r, 0, PEEK, &p), skip = raw_count_zeros(p, n - n % 16, 16);
	bool marked = skip + 4 <= n && ptt_format_of(p + skip, n - skip) == PTT_8DW;

	if (skip + 4 > n || marked)
		return marked ? format == PTT_8DW : true;
	if (format == PTT_4DW)
		return true;
	n = pdata_bytes(r, 0, LOOK_AHEAD, &p);
	return grid_find(r, 0, n, n >= 64) < n;
}

/* ---- the end ---------------------------------------------------------------------- */

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
static size_t raw_ask_bytes(struct ptt_reader *r)
{
	struct pdata_run *run = &r->run;
	uint64_t left = run_stop(r) - run->at;
	size_t record = record_size(run);

	if (run->doubt && left == record) {
		look_ahead(r);
		left = run_stop(r) - run->at;
	} else if (run->doubt && left % record == 0 && left) {
		left -= record;
	}
	if (left > PTT_WINDOW_MOST)
		left = PTT_WINDOW_MOST;
	return left - left % record;
}

/* The front of a record whose rest did not come. */
static void tail_drop(struct ptt_reader *r, struct pdata_stream *s)
{
	r->lost.stray_bytes += s->ntail;
	s->ntail = 0;
}

/* Bytes at the end of a run that make no record yet. When the end may be rounded up, zeros are no bytes. */
static void tail_keep(struct ptt_reader *r)
{
	struct pdata_run *run = &r->run;
	struct pdata_stream *s = run->stream;
	uint64_t stop = run_stop(r);
	const uint8_t *p = NULL;
	size_t n = pdata_bytes(r, run->at, stop - run->at, &p);
	bool rounded = run->doubt || !run->event;

	if (n && n < sizeof(s->tail) && !(rounded && is_zero(p, n))) {
		memcpy(s->tail, p, n);
		s->ntail = (uint32_t)n;
		s->torn = false;
		s->tail_at = run->at;
	}
	if (s->ntail && (stop < run->end || r->opts.as_perf))
		tail_drop(r, s);
	run->at = stop;
}

static void run_close(struct ptt_reader *r)
{
	struct pdata_run *run = &r->run;
	struct pdata_stream *s = run->stream;

	if (run->c.format == PTT_8DW && run->c.first && r->lost.damaged_bytes >= run->end - run->start &&
	    run->end - run->start >= NO_MARKER_LEAST)
		pdata_trouble(r, PDATA_T_NO_MARKER);
	s->next = run->c.aux_offset + (run->end - run->start) + run->cut;
	s->rounded = run->doubt || !run->event;
	s->most = s->next > s->most ? s->next : s->most;
	if (run->settled)
		s->format = run->c.format;
	run->open = false;
	r->at = run->rest;
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

/* ---- from run to run -------------------------------------------------------------- */

/* What lies between the stream's last run and this one. */
static void stream_enter(struct ptt_reader *r)
{
	struct pdata_run *run = &r->run;
	struct pdata_stream *s = run->stream;
	uint64_t at = run->c.aux_offset, back = s->next - at;
	struct pdata_event *ev = run->event;

	if (s->rounded && at < s->next && back < 8) {
		s->ntail -= s->ntail < back ? s->ntail : (uint32_t)back;
	} else if (at != s->next) {
		uint64_t end = at + (run->end - run->start), ahead = s->next > s->most ? s->next : s->most;

		/* What lies before the farthest end so far was missing, and is late. */
		pdata_stream_gap(s, at < ahead ? PTT_GAP_BACK : PTT_GAP_OFFSETS, at > ahead ? at - ahead : 0);
		s->missing += at > ahead ? at - ahead : 0;
		if (at < ahead && end <= ahead) {
			uint64_t late = run->end - run->start < s->missing ? run->end - run->start : s->missing;

			s->gap.late += late;
			s->missing -= late;
		}
		for (uint32_t i = 0; ev && i < ev->ncuts; i++) /* what its flag says is told */
			if (ev->cut[i].from == at)
				ev->cut[i] = ev->cut[--ev->ncuts];
	}
	if (s->gaps != r->gaps)
		pdata_stream_gap(s, (enum ptt_gap_why)r->gap_why, 0);
}

/* The size of the record whose front is in s->tail and goes on at p; 0: n bytes more don't tell. */
static size_t tail_record(struct pdata_stream *s, const uint8_t *p, size_t n)
{
	uint8_t dw[4] = { 0 };

	if (s->format == 0 && s->ntail + n < sizeof(dw))
		return 0;
	for (size_t i = 0; s->format == 0 && i < sizeof(dw); i++)
		dw[i] = i < s->ntail ? s->tail[i] : p[i - s->ntail];
	if (s->format == 0)
		s->format = (uint8_t)ptt_format_of(dw, sizeof(dw));
	return s->format * 4u;
}

/* The record that the last run began, whose rest is in front of this one: 1 and a chunk. */
static int tail_join(struct ptt_reader *r, struct ptt_chunk *c)
{
	struct pdata_run *run = &r->run;
	struct pdata_stream *s = run->stream;
	uint64_t most = run_stop(r) - run->at;
	const uint8_t *p = NULL;
	size_t n = pdata_bytes(r, run->at, most < PEEK ? most : PEEK, &p), record, rest;

	if (s->torn) {
		tail_drop(r, s);
		return 0;
	}
	record = tail_record(s, p, n);
	rest = record > s->ntail ? record - s->ntail : record ? 0 : n;
	if (record == 4 * PTT_8DW && n >= rest + 4 && !ptt_is_marker(pdata_u32(p + rest)) && pdata_u32(p + rest) != 0) {
		tail_drop(r, s); /* it does not go on here: records_at() sees to that */
		return 0;
	}
	rest = n < rest ? n : rest;
	if (rest)
		memcpy(s->tail + s->ntail, p, rest);
	run->at += rest;
	s->ntail += (uint32_t)rest;
	if (s->ntail < record || record == 0)
		return 0;
	s->ntail = 0;
	run->c.format = s->format;
	run->settled = true;
	*c = chunk_of(r, s->tail, record);
	c->offset = s->tail_at;
	run->c.first = false;
	gap_take(r, s, c);
	return 1;
}

bool pdata_run_is_repeated(struct ptt_reader *r, struct pdata_stream *s, const struct pdata_run *run)
{
	const uint8_t *p = NULL;
	size_t n = run->end - run->start < PDATA_GAVE_BYTES ? run->end - run->start : PDATA_GAVE_BYTES;
	uint64_t hash = run->c.total;

	n = pdata_bytes(r, run->start, n, &p);
	for (size_t i = 0; i + 8 <= n; i += 8)
		hash = (hash ^ pdata_u64(p + i)) * 0x9e3779b97f4a7c15ull;
	for (uint32_t i = 0; i < s->ngave && i < PDATA_GAVE_MOST; i++)
		if (s->gave[i].offset == run->c.aux_offset && s->gave[i].total == run->c.total &&
		    s->gave[i].hash == hash)
			return true;
	s->gave[s->ngave % PDATA_GAVE_MOST].offset = run->c.aux_offset;
	s->gave[s->ngave % PDATA_GAVE_MOST].total = run->c.total;
	s->gave[s->ngave++ % PDATA_GAVE_MOST].hash = hash;
	return false;
}

void pdata_run_begin(struct ptt_reader *r, const struct pdata_run *run)
{
	struct pdata_stream *s = run->stream;
	const uint8_t *p = NULL;

	r->run = *run;
	r->run.open = true;
	r->run.at = run->start;
	r->run.c.first = true;
	r->run.settled = run->c.format != 0;
	if (!r->opts.as_perf)
		stream_enter(r); /* the first run goes on from 0 */
	if (!s->used || run->unsure)
		s->format = run->unsure ? r->opts.format : format_said(r, run->c.device);
	s->used = true;
	s->gaps = r->gaps;
	if (run->cut && run->bad_to == 0 && !r->opts.as_perf)
		run_place_cut(r);
	if (r->run.settled)
		return;
	r->run.c.format = s->format && !r->opts.as_perf ? s->format : PTT_4DW;
	if (r->opts.as_perf && pdata_bytes(r, run->start, 4, &p) == 4)
		raw_settle_format(r, p, 4);
}

/* AUX records may tell of more data than there is. Of a file that was cut that is no news. */
static void stream_check_end(struct ptt_reader *r, struct pdata_stream *s)
{
	struct pdata_event *event = NULL;
	bool sure;

	if (!s->used || s->ended || r->opts.as_perf || r->lost.cut_bytes || r->raw)
		return;
	s->ended = true;
	if (pdata_device_of(&r->x, s->idx, &event, &sure) < 0 || !event || event->aux_end < s->most + 8)
		return;
	r->lost.untaken_bytes += event->aux_end - s->most;
	pdata_stream_gap(s, PTT_GAP_SHORT, event->aux_end - s->most);
}

int pdata_stream_end(struct ptt_reader *r, struct ptt_chunk *c)
{
	for (struct pdata_stream *s = r->stream; s < r->stream + COUNT(r->stream); s++) {
		tail_drop(r, s);
		stream_check_end(r, s);
		if (s->gap.why == PTT_GAP_NONE || s->gap.why == PTT_GAP_TRUNCATED_END || s->format == 0)
			continue;
		*c = (struct ptt_chunk){ .p = s->tail,
					 .format = s->format,
					 .device = s->device,
					 .idx = s->idx,
					 .offset = r->at < r->eof ? r->at : r->eof,
					 .aux_offset = s->next };
		gap_take(r, s, c);
		return 1;
	}
	return 0;
}

/* ---- chunks ----------------------------------------------------------------------- */

/* Passes over zeros; how many bytes of records stand at the front then, 0 when the window must be
 * taken anew. The last of a full window waits: what follows it says whether it is whole. */
static size_t records_at(struct ptt_reader *r, const uint8_t *p, size_t n)
{
	struct pdata_run *run = &r->run;
	size_t record = record_size(run), skip, front;
	bool bad;

	if (r->opts.as_perf)
		return n;
	skip = raw_count_zeros(p, n, record);
	run->at += skip;
	run->zeros += skip;
	r->lost.padding_records += skip / record;
	if (run->settled && skip)
		return 0;
	if (run->settled)
		zeros_pass(r);
	if (run->settled) {
		front = records_front(p, n, record, &bad);
		if (bad)
			damage_begin(r, front);
		if (bad)
			return 0;
		return front == n && n == PTT_WINDOW_MOST && record == 4 * PTT_8DW ? n - record : front;
	}
	if (skip < n)
		raw_settle_format(r, p + skip, n - skip);
	return 0;
}

static int chunk_give(struct ptt_reader *r, const uint8_t *p, size_t n, struct ptt_chunk *c)
{
	struct pdata_run *run = &r->run;

	*c = chunk_of(r, p, n);
	c->offset = run->at;
	c->at = run->at - run->start;
	run->at += n;
	run->c.first = false;
	gap_take(r, run->stream, c);
	return 1;
}

int pdata_run_next(struct ptt_reader *r, struct ptt_chunk *c)
{
	struct pdata_run *run = &r->run;

	while (run->open) {
		const uint8_t *p = NULL;
		size_t n;

		if (!r->opts.as_perf)
			cuts_pass(r);
		if (run->stream->ntail && run->at == run->start && !r->opts.as_perf && tail_join(r, c))
			return 1;
		if (run->bad_to && run->at == run->bad_at)
			damage_pass(r);
		if (run->splice_at && run->at == run->splice_at)
			splice_pass(r);
		n = raw_ask_bytes(r);
		if (n == 0 && run->at < run->end) {
			tail_keep(r);
			continue;
		}
		if (n == 0) {
			run_close(r);
			/* perf has a header line for AUX data without records, too. */
			return r->opts.as_perf && run->c.first ? chunk_give(r, NULL, 0, c) : 0;
		}
		if (pdata_bytes(r, run->at, n, &p) < n) {
			run_short(r);
			continue;
		}
		n = records_at(r, p, n);
		if (n && (n = grid_check(r, p, n)) != 0 && pdata_bytes(r, run->at, n, &p) == n)
			return chunk_give(r, p, splice_ahead(r, p, n), c);
	}
	return 0;
}

void pdata_raw_begin(struct ptt_reader *r)
{
	struct pdata_run run = { .end = r->in.size, .rest = r->in.size, .stream = &r->stream[0] };

	run.c = (struct ptt_chunk){ .format = r->opts.format, .total = r->in.size, .tid = UINT32_MAX };
	run.c.device = pdata_device_add(&r->x, 0, false);
	pdata_run_begin(r, &run);
}
