/*
 * stats_chunk.c: counting chunks, straight from their bytes.
 *
 * What costs most here is a branch that nobody can foresee, and which kind a packet is of is one; then the number of
 * instructions.  So a chunk is counted in blocks, each in passes.  The first pass looks at the time and header DW0, and
 * sorts the records without branching, by the types that make up nearly all of a trace: reads and writes of memory with
 * either size of address, and completions with data.  For each sort a loop then counts its records in their cells
 * (stats_cell.c) and finds out what cells don't say.  In such a loop everything about type and layout is a constant; it
 * reads the bits itself (decode_inline.h has them all) because computing the whole of struct tlp takes longer than
 * counting it.  The rest (other types, processing hints, poison, the newer layout, more requesters than there are
 * banks) is decoded in full and counted by stats.c.  Matching, where there is any, goes last and in the order of the
 * file.
 *
 * Sharding.  Without matching, records are independent but for the clock: each shard counts whole chunks in turn, and
 * runs the clock through the others, which takes as long as reading them.  With matching, a request and
 * its completions must meet: they go by a hash of what they have in common, everything else by whole chunks too.
 */
#include "ptt/match_int.h"
#include "ptt/stats_chunk_int.h"

/* 1 or 0. By where requests and their completions agree: the requester and the low byte of the tag. */
FLAT uint32_t is_mine(const struct pass *a, const struct stats_head *h, const uint8_t *p, unsigned dws)
{
	return a->mine[h->matched][(raw_id(p, dws, h->id_at) >> 8) * 0x9e3779b1u >> 24];
}

/* rest: whether what doesn't match is this shard's. */
static void chunk_set_share(struct pass *a, uint32_t shard, uint32_t shards, bool rest)
{
	a->shard = shard;
	memset(a->mine[0], rest, sizeof(a->mine[0]));
	for (uint32_t i = 0; i < 256; i++)
		a->mine[1][i] = i * shards >> 8 == shard;
}

/* ---- first pass ------------------------------------------------------------------------------------- */

/* A step of half the range or more always reaches beyond it. */
FLAT uint64_t time_limit(uint64_t bin_end, uint64_t now, bool counts)
{
	return counts && bin_end > now && bin_end - now > INT32_MAX ? now + INT32_MAX : bin_end;
}

/* Of a step back: when the record before it went too far, its time is that of the one before that, and the clock as
 * there.  p is the record behind it, of a pass that may look back as far as `begin`. */
FLAT bool undo_stray(const uint8_t *p, const uint8_t *begin, uint64_t *now, uint32_t *last)
{
	const size_t record = 4 * PTT_8DW;

	if ((size_t)(p - begin) < 2 * record || is_padding(p - record, PTT_8DW) || is_padding(p - 2 * record, PTT_8DW))
		return false;
	const uint32_t before = raw_time(p - 2 * record, PTT_8DW), far = *last - before;
	if (*last != raw_time(p - record, PTT_8DW) || raw_time(p, PTT_8DW) - before >= far || far > *now)
		return false;
	*now -= far;
	*last = before;
	return true;
}

/* Time goes back to what has passed already: what was open ends there, and the clock goes on as it is. */
static void time_goes_back(struct pass *a, const uint8_t *p, uint32_t back)
{
	const struct ptt_chunk here = { .device = a->device,
					.format = PTT_8DW,
					.offset = a->offset + (size_t)(p - a->p),
					.gap = { .why = PTT_GAP_TIME } };

	count_gap(a->s, a->d, &here, PTT_TIME_ABS);
	a->d->ahead += back;
	a->d->moved = true;
	a->gaps = a->s->match != NULL ? *match_gaps(a->s->match, a->device) : 0;
}

/* As many records from p on as make a block. Returns where it ended. Neither sort nor shard can be foreseen, so there
 * is no branch for them: what is not kept is overwritten by the next. */
FLAT const uint8_t *block_heads(struct pass *a, struct block *b, const uint8_t *p, unsigned dws, bool match,
				bool shards, bool delta)
{
	const uint8_t *end = (size_t)(a->end - p) > BLOCK * 4 * dws ? p + BLOCK * 4 * dws : a->end;
	const uint8_t **tail[SORT_OTHER + 1], **matched = b->matched.p;
	uint64_t *times = b->time;
	const bool counts = dws == PTT_8DW && !delta;
	uint64_t now = a->d->clock.now, bin_end = time_limit(a->d->bin_end, now, counts), padding = 0;
	uint32_t last = a->d->clock.last, mines = 0;

	for (unsigned sort = 0; sort <= SORT_OTHER; sort++)
		tail[sort] = b->sorted[sort].p;
	b->p = p;
	for (; p < end; p += 4 * dws, times++) {
		__builtin_prefetch((const void *)((uintptr_t)p + AHEAD));
		if (is_padding(p, dws)) {
			padding++;
			continue;
		}
		uint32_t raw = raw_time(p, dws), dw0 = raw_head(p, dws), mine = 1;
		uint64_t time = later(now, last, raw, delta ? 0 : UINT32_MAX, dws);
		if (RARE(time >= bin_end)) {
			if (counts && (raw - last) >> 31 && (p + 32 == a->end || !ptt_time_is_stray(p, a->end, last)) &&
			    undo_stray(p, b->p, &now, &last)) {
				a->d->strays++;
				times[-1] = now;
				time = later(now, last, raw, UINT32_MAX, dws);
			}
			if (counts && ptt_time_is_stray(p, a->end, last)) {
				a->d->strays++;
				raw = last;
				time = now;
			}
			if (time >= bin_end && p != b->p)
				break;
			if (counts && (raw - last) >> 31 && last - raw <= now) {
				time_goes_back(a, p, last - raw);
				time = now;
			}
			bin_at(a->s, a->d, time);
			bin_end = time_limit(a->d->bin_end, time, counts);
		}
		*times = now = time;
		last = delta ? 0 : raw;
		const struct stats_head *h = &a->head[raw_code(dw0, dws)];
		uint32_t sort = raw_unusual(dw0, dws) ? SORT_OTHER : h->sort;
		if (shards) {
			mine = is_mine(a, h, p, dws);
			mines += mine;
		}
		if (match) {
			*matched = p;
			matched += h->matched & mine;
		}
		*tail[sort] = p;
		tail[sort] += mine;
	}
	a->d->clock.now = now;
	a->d->clock.last = last;
	a->s->padding += a->shard == 0 ? padding : 0;
	b->tlps = shards ? mines : (size_t)(times - b->time) - padding;
	b->payload = 0;
	for (unsigned sort = 0; sort <= SORT_OTHER; sort++)
		b->sorted[sort].n = (uint32_t)(tail[sort] - b->sorted[sort].p);
	b->matched.n = (uint32_t)(matched - b->matched.p);
	return p;
}

/* ---- the passes of each sort -------------------------------------------------------------------------------- */

static void count_in_full(const struct pass *a, struct block *b, const uint8_t *p)
{
	struct tlp t;

	decode_at(a, b, p, &t);
	count_record(a->s, a->d, &t);
	b->payload += t.length_dw & a->s->payload[t.type_index];
	bool matched = a->s->match != NULL && (t.class == TLP_NP || t.class == TLP_CPL);
	if ((t.ep | t.status) && !matched)
		fault_rare(a->s, &t, NULL);
}

/* Of a record whose requester has no bank. 0: there is none left, and the record was counted in full. */
static uint32_t bank_or_in_full(const struct pass *a, struct block *b, const uint8_t *p, uint16_t id)
{
	uint32_t bank = bank_new(a->s, id);

	if (bank == 0)
		count_in_full(a, b, p);
	return bank;
}

/* Digest and prefix, in DWs; only 8DW tells. */
FLAT uint32_t raw_extra(const uint8_t *p, uint32_t dw0, unsigned dws)
{
	return dws == PTT_8DW ? (dw0 >> 15 & 1) + (ptt_le32(p + 4) != 0) : 0;
}

FLAT void block_requests(const struct pass *a, struct block *b, unsigned sort, unsigned dws)
{
	struct ptt_stats *const s = a->s;
	const struct list *list = &b->sorted[sort];
	const uint8_t *target[BLOCK];
	const bool write = sort >= SORT_MWR32;
	const unsigned shift = sort & 1 ? 0 : 32;
	uint64_t payload = 0, extra = 0;
	size_t targets = 0;

	for (const uint8_t *const *at = list->p, *const *end = at + list->n; at < end; at++) {
		const uint8_t *p = *at;
		uint32_t dw0 = raw_head(p, dws), dw1 = raw_dw(p, dws, 1), length = raw_length(dw0, dws);
		const struct stats_enables enables = s->enables[(dw1 & 0xff) | (uint32_t)(length == 1) << 8];
		uint32_t bank = s->near[dw1 >> 16];

		if (RARE(bank == 0) && (bank = bank_or_in_full(a, b, p, (uint16_t)(dw1 >> 16))) == 0)
			continue;
		s->cell[bank * BANK_CELLS + raw_cell(dw0, sort, dws)]++;
		s->bank_disabled[bank][sort] += enables.disabled;
		add_to_page(s, (raw_address(p, dws, shift) >> 12) + a->place, a->key | dw1 >> 16, 1)->sum[write] +=
			4 * length - enables.disabled;
		extra += raw_extra(p, dw0, dws);
		if (write) {
			payload += length;
			target[targets] = p;
			targets += enables.whole;
		}
	}
	b->payload += payload;
	s->extra_bytes += 4 * extra;
	for (size_t k = 0; k < targets; k++) {
		const uint8_t *p = target[k];
		uint64_t time = time_of(a, b, p);
		add_target(s, raw_address(p, dws, shift) + a->place, a->key | raw_dw(p, dws, 1) >> 16, 1, time, time);
	}
}
static_assert(PAGE_READ == 0 && PAGE_WRITE == 1, "the index above");

static void fault_at(const struct pass *a, const struct block *b, const uint8_t *p)
{
	struct tlp t;

	decode_at(a, b, p, &t);
	fault_rare(a->s, &t, NULL);
}

/* Of one completer, of completions that went well. */
struct completed {
	uint64_t n, bytes;
	uint32_t dw1, largest;
}; /* largest: in DWs; of dw1 only the completer */

static void completed_flush(const struct pass *a, struct completed d)
{
	struct stats_completer *c;

	if (d.n == 0)
		return;
	c = completer_at(a->s, completer_key(a->device, (uint16_t)(d.dw1 >> 16)));
	c->bytes += d.bytes;
	c->status[0] += d.n;
	if (4 * d.largest > c->largest)
		c->largest = 4 * d.largest;
}

/* A completion that failed, or whose Byte Count was modified. */
static void completed_oddly(const struct pass *a, const struct block *b, const uint8_t *p, uint32_t bytes,
			    uint32_t length, uint32_t dw1)
{
	struct stats_completer *c = completer_at(a->s, completer_key(a->device, (uint16_t)(dw1 >> 16)));

	add_completion(c, 1, 4 * length, bytes, dw1 >> 13 & 7);
	if (a->s->match == NULL && dw1 >> 13 & 7)
		fault_at(a, b, p);
}

/* What is added to four counts of 16 bits for a completion, by the DW in which it ends; from 32 on for its read's
 * last. */
#define ONE(end) (1ull << 16 * (end))
static const uint64_t end_count[64] = {
	[0] = ONE(END_128),         [1 ... 15] = ONE(END_ODD),   [16] = ONE(END_64),
	[17 ... 31] = ONE(END_ODD), [32 ... 63] = ONE(END_LAST),
};

/* The payload ends with what was asked for or with the packet, and starts at the lower address. */
FLAT void block_completions(const struct pass *a, struct block *b, unsigned dws)
{
	struct ptt_stats *const s = a->s;
	const struct list *list = &b->sorted[SORT_CPLD];
	struct completed d = { 0 };
	uint64_t payload = 0, extra = 0, ends = 0;

	for (const uint8_t *const *at = list->p, *const *end = at + list->n; at < end; at++) {
		const uint8_t *p = *at;
		uint32_t dw0 = raw_head(p, dws), dw1 = raw_dw(p, dws, 1), dw2 = raw_dw(p, dws, 2);
		uint32_t length = raw_length(dw0, dws), bank = s->near[dw2 >> 16];
		uint32_t byte_count = ((dw1 - 1) & 0xfff) + 1, carried = 4 * length - (dw2 & 3);
		uint32_t bytes = carried < byte_count ? carried : byte_count;
		uint32_t last = (byte_count <= carried) << 5;
		uint64_t end = end_count[(((dw2 >> 2) + length) & 31) | last];
		if (RARE(bank == 0) && (bank = bank_or_in_full(a, b, p, (uint16_t)(dw2 >> 16))) == 0)
			continue;
		s->cell[bank * BANK_CELLS + raw_cell(dw0, SORT_CPLD, dws)]++;
		s->bank_completed[bank] += bytes;
		payload += length;
		extra += raw_extra(p, dw0, dws);
		if (RARE((dw1 ^ d.dw1) & 0xfffff000)) { /* hardly ever another one */
			if (dw1 & 0xf000) {
				completed_oddly(a, b, p, bytes, length, dw1);
				ends += dw1 >> 12 & 1 ? ONE(END_LAST) : end;
				continue;
			}
			completed_flush(a, d);
			d = (struct completed){ .dw1 = dw1 & 0xffff0000 };
		}
		d.n++;
		d.bytes += bytes;
		d.largest = length > d.largest ? length : d.largest;
		ends += end;
	}
	completed_flush(a, d);
	b->payload += payload;
	s->extra_bytes += 4 * extra;
	for (unsigned e = 0; e < ENDS; e++)
		s->ends[e] += ends >> 16 * e & 0xffff;
}

static void block_others(const struct pass *a, struct block *b)
{
	for (uint32_t k = 0; k < b->sorted[SORT_OTHER].n; k++)
		count_in_full(a, b, b->sorted[SORT_OTHER].p[k]);
}

/* ---- chunks --------------------------------------------------------------------------------------------- */

FLAT void chunk_loop(struct pass *a, unsigned dws, bool match, bool shards, bool delta)
{
	struct block b;

	for (const uint8_t *p = a->p; p < a->end;) {
		p = block_heads(a, &b, p, dws, match, shards, delta);
		block_requests(a, &b, SORT_MRD32, dws);
		block_requests(a, &b, SORT_MRD64, dws);
		block_requests(a, &b, SORT_MWR32, dws);
		block_requests(a, &b, SORT_MWR64, dws);
		block_completions(a, &b, dws);
		block_others(a, &b);
		if (b.tlps != 0) {
			a->d->bin->tlps += b.tlps;
			a->d->bin->bytes += 4 * b.payload;
		}
		if (match)
			(dws == PTT_8DW ? block_match_8dw : block_match_4dw)(a, &b);
		if (RARE(a->s->track != NULL))
			track_records(a->s, a->d, (size_t)(p - b.p) / (4 * dws));
	}
}

/* Only the clock goes on. Of deltas padding adds nothing. */
FLAT void skip_loop(struct pass *a, unsigned dws, bool delta)
{
	const bool counts = dws == PTT_8DW && !delta;
	uint64_t now = a->d->clock.now;
	uint32_t last = a->d->clock.last;

	for (const uint8_t *p = a->p, *end = a->end; p < end; p += 4 * dws) {
		__builtin_prefetch((const void *)((uintptr_t)p + AHEAD));
		if (!delta && is_padding(p, dws))
			continue;
		uint32_t raw = raw_time(p, dws);
		if (RARE(counts && p == a->p && ptt_time_is_stray(p, end, last))) {
			a->d->strays++;
			continue;
		}
		if (RARE(counts && (raw - last) >> 31)) {
			if ((p + 32 == end || !ptt_time_is_stray(p, end, last)) && undo_stray(p, a->p, &now, &last))
				a->d->strays++;
			if (ptt_time_is_stray(p, end, last)) {
				a->d->strays++;
				continue;
			}
			if ((raw - last) >> 31 && last - raw <= now) {
				a->d->clock.now = now;
				time_goes_back(a, p, last - raw);
				last = raw;
			}
		}
		now = later(now, last, raw, delta ? 0 : UINT32_MAX, dws);
		last = delta ? 0 : raw;
	}
	a->d->clock.now = now;
	a->d->clock.last = last;
}

/* What is known beforehand is a constant. */
#define BY_TIME(name, loop, ...)                     \
	static void name(struct pass *a)             \
	{                                            \
		if (a->absolute)                     \
			loop(a, __VA_ARGS__, false); \
		else                                 \
			loop(a, __VA_ARGS__, true);  \
	}
BY_TIME(chunk_8dw, chunk_loop, PTT_8DW, false, false)
BY_TIME(chunk_4dw, chunk_loop, PTT_4DW, false, false)
BY_TIME(chunk_8dw_matched, chunk_loop, PTT_8DW, true, false)
BY_TIME(chunk_4dw_matched, chunk_loop, PTT_4DW, true, false)
BY_TIME(chunk_8dw_shared, chunk_loop, PTT_8DW, true, true)
BY_TIME(chunk_4dw_shared, chunk_loop, PTT_4DW, true, true)
BY_TIME(skip_8dw, skip_loop, PTT_8DW)
BY_TIME(skip_4dw, skip_loop, PTT_4DW)

/* Behind a gap Time may go back, as AUX data came in another order, or forward over what was there before: the clock
 * does neither. */
static void clock_pass_gap(struct stats_device *d, const struct ptt_chunk *c)
{
	d->moved |= c->gap.why == PTT_GAP_BACK;
	if (c->format == PTT_4DW) { /* what data that comes late or was there says of the time between is nothing */
		if (c->gap.why == PTT_GAP_BACK || (c->gap.why == PTT_GAP_OFFSETS && c->gap.bytes == 0))
			d->clock.last = raw_time(c->p, PTT_4DW);
		return;
	}
	const uint32_t raw = raw_time(c->p, PTT_8DW), step = raw - d->clock.last;

	if (step >> 31 && ((uint32_t)-step <= d->clock.now || c->gap.why == PTT_GAP_BACK)) {
		d->ahead += (uint32_t)-step;
		d->moved = true;
		d->clock.last = raw;
	} else if (!(step >> 31)) {
		const uint64_t less = step < d->ahead ? step : d->ahead;
		d->ahead -= less;
		d->clock.last += (uint32_t)less;
	}
}

/* The first record of a device starts its clock at 0: it stood at that record's Time. Nothing but padding starts
 * none. */
static void start_clock(struct pass *a, unsigned dws)
{
	for (const uint8_t *p = a->p; p < a->end && !a->d->clock.started; p += 4 * dws) {
		uint32_t raw = raw_time(p, dws);
		if (dws == PTT_8DW && a->absolute && (size_t)(a->end - p) >= 96 &&
		    (raw_time(p + 32, dws) - raw) >> 31 && (raw_time(p + 64, dws) - raw) >> 31)
			raw = raw_time(p + 32, dws); /* a stray */
		if (!is_padding(p, dws))
			a->d->clock = (struct ptt_clock){ .now = 0 - (uint64_t)(raw & ~a->absolute),
							  .last = raw,
							  .started = true };
	}
}

static void chunk_count(struct ptt_stats *s, const struct ptt_chunk *c, const struct ptt_decode_opts *o)
{
	struct stats_device *d = device_at(s, c->device);
	bool wide = o->format == PTT_8DW;
	struct pass a = {
		.s = s,
		.d = d,
		.p = c->p,
		.head = s->head[o->tag14],
		.key = requester_key(c->device, 0, 0),
		.place = place_key(c->device),
		.offset = c->offset,
		.o = *o,
		.device = c->device,
		.end = c->p + c->n / (4u * o->format) * (4u * o->format),
		.absolute = o->time == PTT_TIME_DELTA ? 0 : UINT32_MAX,
	};

	if (c->n != 0) {
		d->coverage = c->coverage;
		d->config = c->config;
	}
	if (c->gap.why != PTT_GAP_NONE)
		count_gap(s, d, c, o->time);
	if (s->match != NULL)
		ptt_match_twice(s->match, c->device, c->coverage & PTT_COVERAGE_DUPLICATES);
	a.gaps = s->match != NULL ? *match_gaps(s->match, c->device) : 0;
	d->format = o->format;
	if (d->time == PTT_TIME_AUTO)
		d->time = o->time;
	if (c->gap.why == PTT_GAP_BACK || c->gap.why == PTT_GAP_OFFSETS)
		d->late = c->gap.why == PTT_GAP_BACK;
	if (c->gap.why != PTT_GAP_NONE && a.absolute && d->clock.started && a.p < a.end &&
	    !ptt_is_padding(a.p, (enum ptt_format)o->format))
		clock_pass_gap(d, c);
	if (!d->clock.started) {
		d->first_offset = c->offset;
		start_clock(&a, wide ? PTT_8DW : PTT_4DW);
	}
	if ((s->cell_records += c->n / 16) > UINT32_MAX) {
		cells_settle(s);
		s->cell_records = c->n / 16;
	}
	cells_near(s, c->device, wide);
	if (s->match != NULL && c->coverage & PTT_COVERAGE_DUPLICATES && !wide && s->opts.shard == 0)
		twice_posted(s, &a, a.p, a.end);
	bool turn = s->opts.shards < 2 || s->chunks++ % s->opts.shards == s->opts.shard;
	if (s->match != NULL && s->opts.shards > 1) {
		chunk_set_share(&a, s->opts.shard, s->opts.shards, turn);
		(wide ? chunk_8dw_shared : chunk_4dw_shared)(&a);
	} else if (s->match != NULL) {
		(wide ? chunk_8dw_matched : chunk_4dw_matched)(&a);
	} else if (turn) {
		(wide ? chunk_8dw : chunk_4dw)(&a);
	} else {
		(wide ? skip_8dw : skip_4dw)(&a);
	}
}

void ptt_stats_chunk(struct ptt_stats *s, const struct ptt_chunk *c, const struct ptt_decode_opts *o)
{
	struct ptt_chunk piece = *c, rest;

	while (s->opts.nbreaks != 0 && break_cut(s, device_at(s, c->device), &piece, &rest) != 0) {
		chunk_count(s, &piece, o);
		piece = rest;
	}
	chunk_count(s, &piece, o);
}
