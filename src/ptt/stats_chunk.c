/*
 * stats_chunk.c: counting chunks, straight from their bytes.
 *
 * What costs most here is a branch that nobody can foresee, and which kind a
 * packet is of is one.  So a chunk is counted in blocks, each in passes.  The
 * first pass looks at header DW0 and the time, counts what these say, and sorts
 * the records by type without branching.  Then the five types of which nearly
 * all packets are have a loop each, in which everything about the layout of the
 * header is a constant; they read the bits themselves (decode_inline.h has them
 * all) because computing the whole of struct tlp takes longer than counting it.
 * Whatever is unusual (another type, processing hints, poison, the newer layout)
 * is decoded in full and counted by stats.c.  Matching, where there is any, goes
 * last and in the order of the file.
 *
 * Cells of type, relaxed ordering and length hold in one addition what becomes
 * packets, DWs, sizes and shares at the end (chunk_settle).
 *
 * Sharding.  Without matching, records are independent but for the clock:
 * each shard counts whole chunks in turn, and runs the clock through the others,
 * which takes one load and two additions a record.  With matching, a request
 * and its completions must meet: they go by a hash of what they have in
 * common, everything else by its place.
 */
#include "ptt/decode_inline.h"
#include "ptt/match_int.h"
#include "ptt/stats_count_int.h"

#define FLAT static inline __attribute__((always_inline))

/* Cells and loops; LOOP_OTHER for all that has none of its own, LOOP_NONE for what other shards count. */
enum { LOOP_MRD32, LOOP_MRD64, LOOP_MWR32, LOOP_MWR64, LOOP_CPLD, LOOP_OTHER, LOOP_NONE, LOOPS };
static_assert((int)LOOPS == STATS_LOOPS, "room for the cells");
static const uint8_t row_of_loop[LOOP_OTHER] = {
	[LOOP_MRD32] = TLP_ROW_MRd32, [LOOP_MRD64] = TLP_ROW_MRd64, [LOOP_MWR32] = TLP_ROW_MWr32,
	[LOOP_MWR64] = TLP_ROW_MWr64, [LOOP_CPLD] = TLP_ROW_CplD,
};

/* At most so many records that follow each other, all within one bin of the time line. Of those that count, what follows
 * has the number, from the block's first one on. */
enum { BLOCK = 256, AHEAD = 2048 };            /* AHEAD: bytes; hardware stops at the end of a page */
struct block {
	uint32_t place;                       /* of the first, in the chunk */
	uint16_t *end[LOOPS];                 /* of each list */
	uint32_t nmatched;
	uint64_t time[BLOCK];
	uint16_t row[BLOCK];                  /* of its requester */
	uint16_t list[LOOPS][BLOCK];          /* by loop */
	uint16_t matched[BLOCK];              /* requests and completions, in order */
};
static inline uint32_t in_list(const struct block *b, unsigned loop)
{
	return (uint32_t)(b->end[loop] - b->list[loop]);
}

/* What the loops over one chunk have in common. */
struct pass {
	struct ptt_stats *s;
	struct stats_device *d;
	const uint8_t *p;                     /* its bytes */
	const struct stats_head *head;        /* by Fmt << 5 | Type */
	uint64_t key;                         /* of requester 0 */
	uint64_t offset;
	struct ptt_decode_opts o;
	uint32_t device, n;                   /* n: records */
	uint32_t absolute;                    /* all ones unless Time is a delta */
	uint32_t first;                       /* number of the first record in the file */
	uint32_t shard, shards;               /* of the records of this chunk */
};

void chunk_learn(struct ptt_stats *s)
{
	for (unsigned i = 0; i < 256; i++) {
		const struct tlp_type *y = tlp_type_of(i >> 5, i & 0x1f);
		s->head[i] = (struct stats_head){
			.loop = LOOP_OTHER, .matched = y->cls == TLP_NP || y->cls == TLP_CPL,
			.is_cpl = y->cls == TLP_CPL,
		};
		s->head_wide[i] = s->head[i];
		for (uint8_t l = 0; l < LOOP_OTHER; l++)
			if (row_of_loop[l] == tlp_type_index(y))
				s->head[i].loop = l;
		s->disabled[i] = (uint8_t)ptt_disabled_bytes(i, 2);
		s->disabled[256 + i] = (uint8_t)ptt_disabled_bytes(i, 1);
	}
}

/* ---- bits of a record ---------------------------------------------------------------------------- */

FLAT const uint8_t *at(const struct pass *a, uint32_t place, unsigned dws)
{
	return a->p + (size_t)place * 4 * dws;
}

FLAT uint32_t raw_time(const uint8_t *p, unsigned dws)
{
	return dws == PTT_8DW ? ptt_le32(p + 28) : ptt_le32(p) & 0x7ff;
}

/* ptt_clock_step() from the second record on; absolute: all ones unless Time is a delta. */
FLAT uint64_t later(uint64_t now, uint32_t last, uint32_t raw, uint32_t absolute, unsigned dws)
{
	return now + ((raw - (last & absolute)) & (dws == PTT_8DW ? UINT32_MAX : 0x7ff));
}

FLAT uint32_t raw_head(const uint8_t *p, unsigned dws)
{
	return ptt_le32(dws == PTT_8DW ? p + 8 : p);
}

FLAT uint32_t raw_code(uint32_t dw0, unsigned dws)
{
	return dw0 >> (dws == PTT_8DW ? 24 : 25);
}

FLAT uint32_t raw_length(uint32_t dw0, unsigned dws)
{
	return (((dws == PTT_8DW ? dw0 : dw0 >> 11) - 1) & 0x3ff) + 1;
}

/* The place of relaxed ordering and of Length, as it is recorded, in a loop's cells. */
FLAT uint32_t raw_cell(uint32_t dw0, unsigned dws)
{
	return dws == PTT_8DW ? (dw0 >> 3 & 0x400) | (dw0 & 0x3ff) : dw0 >> 11 & 0x7ff;
}

/* Processing hints, and poison where a record tells. */
FLAT bool raw_unusual(uint32_t dw0, unsigned dws)
{
	return dw0 & (dws == PTT_8DW ? 1u << 16 | 1u << 14 : 1u << 22);
}

/* 8DW: prefix and digest, of 4 bytes each. */
FLAT uint32_t raw_extra(const uint8_t *p, uint32_t dw0)
{
	return 4 * ((ptt_le32(p + 4) != 0) + (dw0 >> 15 & 1));
}

FLAT uint32_t raw_dw(const uint8_t *p, unsigned dws, unsigned i)
{
	return ptt_le32(p + (dws == PTT_8DW ? 8 : 0) + 4 * i);
}

FLAT uint32_t raw_disabled(const struct pass *a, uint32_t dw1, uint32_t length)
{
	return a->s->disabled[(dw1 & 0xff) | (uint32_t)(length == 1) << 8];
}

FLAT bool is_padding(const uint8_t *p, unsigned dws)
{
	return RARE(ptt_le32(p) == 0) && ptt_is_padding(p, (enum ptt_format)dws);
}

static void decode_at(const struct pass *a, uint64_t time, uint32_t place, struct tlp *t)
{
	struct ptt_clock none = { 0 };

	ptt_decode(at(a, place, a->o.format), &a->o, &none, t);
	t->device = a->device;
	t->offset = a->offset + (uint64_t)place * 4 * a->o.format;
	t->time = time;
}

/* 1 or 0. By where requests and their completions agree: the requester and the low byte of the tag. */
FLAT uint32_t is_mine(const struct pass *a, const struct stats_head *h, const uint8_t *p, uint32_t place, unsigned dws)
{
	uint32_t id = raw_dw(p, dws, 1 + h->is_cpl) >> 8, pairs = 0 - (uint32_t)h->matched;
	uint32_t by = ((id & pairs) | ((a->first + place) & ~pairs)) * 0x9e3779b1u;

	return (uint64_t)by * a->shards >> 32 == a->shard;
}

/* ---- first pass ------------------------------------------------------------------------------------- */

/* Neither type nor shard can be foreseen: no branches. */
FLAT void head(struct pass *a, struct block *b, const uint8_t *p, uint32_t i, unsigned dws, bool match)
{
	struct ptt_stats *s = a->s;
	uint32_t dw0 = raw_head(p, dws);
	const struct stats_head *h = &a->head[raw_code(dw0, dws)];
	uint32_t loop = raw_unusual(dw0, dws) ? LOOP_OTHER : h->loop;
	uint32_t mine = 1;

	if (match && a->shards > 1) {
		mine = is_mine(a, h, p, b->place + i, dws);
		loop ^= (loop ^ LOOP_NONE) & (mine - 1);
	}
	s->cell[loop][raw_cell(dw0, dws)]++;
	if (dws == PTT_8DW && RARE(raw_extra(p, dw0)))
		s->loop_extra[loop] += raw_extra(p, dw0);
	*b->end[loop]++ = (uint16_t)i;
	if (match) {
		b->matched[b->nmatched] = (uint16_t)i;
		b->nmatched += h->matched & mine;
	}
}

/* As many records from `place` on as make a block. Returns where it ended. */
FLAT uint32_t block_heads(struct pass *a, struct block *b, uint32_t place, unsigned dws, bool match)
{
	uint32_t most = a->n - place < BLOCK ? a->n - place : BLOCK, i = 0;
	uint32_t last = a->d->clock.last, absolute = a->absolute;
	uint64_t now = a->d->clock.now, bin_end = a->d->bin_end, padding = 0;

	b->place = place;
	b->nmatched = 0;
	for (unsigned l = 0; l < LOOPS; l++)
		b->end[l] = b->list[l];
	for (const uint8_t *p = at(a, place, dws); i < most; i++, p += 4 * dws) {
		__builtin_prefetch((const void *)((uintptr_t)p + AHEAD));
		if (is_padding(p, dws)) {
			padding++;
			continue;
		}
		uint32_t raw = raw_time(p, dws);
		uint64_t time = later(now, last, raw, absolute, dws);
		if (RARE(time >= bin_end)) {
			if (i != 0)
				break;
			bin_at(a->s, a->d, time);
			bin_end = a->d->bin_end;
		}
		b->time[i] = now = time;
		last = raw;
		head(a, b, p, i, dws, match);
	}
	a->d->clock.now = now;
	a->d->clock.last = last;
	a->s->padding += a->shard == 0 ? padding : 0;
	return place + i;
}

/* ---- a loop for each type ----------------------------------------------------------------------------- */

/* The row + 1. That of all others isn't remembered: near_device_set() would not find it. */
static uint32_t near_row(const struct pass *a, uint32_t id)
{
	uint32_t row = row_of(&a->s->requesters, a->key | id);

	if (row < PTT_STATS_ROWS)
		a->s->near[id] = (uint16_t)(row + 1);
	return row + 1;
}

static void near_device_set(struct ptt_stats *s, uint32_t device)
{
	for (uint32_t i = 0; s->near_device != device && i < s->requesters.n; i++)
		s->near[(uint16_t)s->requesters.of_row[i]] = 0;
	s->near_device = device;
}

FLAT struct stats_requester *body_requester(const struct pass *a, struct block *b, uint32_t i, uint32_t id,
					    enum ptt_kind kind)
{
	uint32_t row = a->s->near[id];

	if (RARE(row == 0))
		row = near_row(a, id);
	struct stats_requester *r = &a->s->requester[row - 1];
	b->row[i] = (uint16_t)(row - 1);
	r->kind[kind]++;
	return r;
}

/* A shift, not a branch: where both loops are one (match_read), nobody can foresee which it is. */
FLAT uint64_t body_address(const uint8_t *p, unsigned dws, bool wide)
{
	return ((uint64_t)raw_dw(p, dws, 2) << 32 | raw_dw(p, dws, 3)) >> (wide ? 0 : 32) & ~3ull;
}

FLAT void bodies_read(const struct pass *a, struct block *b, unsigned loop, unsigned dws)
{
	uint64_t enabled = 0;

	for (const uint16_t *k = b->list[loop], *end = b->end[loop]; k < end; k++) {
		uint32_t i = *k;
		const uint8_t *p = at(a, b->place + i, dws);
		uint32_t dw1 = raw_dw(p, dws, 1), length = raw_length(raw_head(p, dws), dws);
		struct stats_requester *r = body_requester(a, b, i, dw1 >> 16, PTT_READ);
		enabled += 4 * length - raw_disabled(a, dw1, length);
		add_read(r, 4 * length);
		add_page(a->s, r, PAGE_READ, a->key | dw1 >> 16, body_address(p, dws, loop == LOOP_MRD64), 4 * length);
	}
	a->s->type[row_of_loop[loop]].bytes += enabled;
	a->d->cls[TLP_NP] += in_list(b, loop);
}

/* Returns the payload, in whole DWs. */
FLAT uint64_t bodies_write(const struct pass *a, struct block *b, unsigned loop, unsigned dws)
{
	uint64_t enabled = 0, payload = 0;

	for (const uint16_t *k = b->list[loop], *end = b->end[loop]; k < end; k++) {
		uint32_t i = *k;
		const uint8_t *p = at(a, b->place + i, dws);
		uint32_t dw1 = raw_dw(p, dws, 1), length = raw_length(raw_head(p, dws), dws);
		uint32_t bytes = 4 * length - raw_disabled(a, dw1, length);
		uint64_t address = body_address(p, dws, loop == LOOP_MWR64);
		struct stats_requester *r = body_requester(a, b, i, dw1 >> 16, PTT_WRITE);
		enabled += bytes;
		payload += 4 * length;
		add_write(r, 4 * length, bytes);
		add_page(a->s, r, PAGE_WRITE, a->key | dw1 >> 16, address, 4 * length);
		if (is_target(4 * length, bytes))
			add_target(a->s, address, a->key | dw1 >> 16, false, 1, b->time[i], b->time[i]);
	}
	a->s->type[row_of_loop[loop]].bytes += enabled;
	a->d->cls[TLP_P] += in_list(b, loop);
	return payload;
}

static void fault_at(const struct pass *a, uint64_t time, uint32_t place)
{
	struct tlp t;

	decode_at(a, time, place, &t);
	fault_rare(a->s, &t, NULL);
}

static void orphan_at(const struct pass *a, uint64_t time, uint32_t place)
{
	struct tlp t;

	decode_at(a, time, place, &t);
	fault_add(a->s, PTT_FAULT_ORPHAN, &t, NULL);
}

/* The payload ends with what was asked for or with the packet, and starts at the lower address. */
FLAT uint64_t bodies_completion(const struct pass *a, struct block *b, unsigned dws, bool match)
{
	struct stats_completer *completer = NULL;
	uint64_t total = 0, payload = 0;
	uint32_t id = 0;

	for (const uint16_t *k = b->list[LOOP_CPLD], *end = b->end[LOOP_CPLD]; k < end; k++) {
		uint32_t i = *k;
		const uint8_t *p = at(a, b->place + i, dws);
		uint32_t dw1 = raw_dw(p, dws, 1), dw2 = raw_dw(p, dws, 2);
		uint32_t whole = 4 * raw_length(raw_head(p, dws), dws), byte_count = ((dw1 - 1) & 0xfff) + 1;
		uint32_t carried = whole - (dw2 & 3), bytes = carried < byte_count ? carried : byte_count;
		struct stats_requester *r = body_requester(a, b, i, dw2 >> 16, PTT_COMPLETION);
		total += bytes;
		payload += whole;
		if (completer == NULL || dw1 >> 16 != id) {    /* hardly ever another one */
			id = dw1 >> 16;
			completer = completer_at(a->s, completer_key(a->device, (uint16_t)id));
		}
		add_completion(r, completer, whole, bytes, dw1 >> 13 & 7);
		add_piece(a->s, byte_count, bytes, dw2 & 0x7f, whole, dw1 >> 12 & 1);
		if (!match && RARE(dw1 >> 13 & 7))
			fault_at(a, b->time[i], b->place + i);
	}
	a->s->type[TLP_ROW_CplD].bytes += total;
	a->d->cls[TLP_CPL] += in_list(b, LOOP_CPLD);
	return payload;
}

static uint64_t bodies_other(const struct pass *a, struct block *b)
{
	uint64_t payload = 0;

	for (const uint16_t *k = b->list[LOOP_OTHER], *end = b->end[LOOP_OTHER]; k < end; k++) {
		uint32_t i = *k;
		struct tlp t;
		decode_at(a, b->time[i], b->place + i, &t);
		struct stats_requester *r = count_record(a->s, a->d, &t);
		b->row[i] = (uint16_t)(r ? r - a->s->requester : PTT_STATS_ROWS);
		payload += 4 * t.length_dw & a->s->payload[t.type_index];
		bool later = a->s->match != NULL && (t.class == TLP_NP || t.class == TLP_CPL);
		if ((t.ep | t.status) && !later)
			fault_rare(a->s, &t, NULL);
	}
	return payload;
}

/* ---- matching ------------------------------------------------------------------------------------------ */

static void match_in_full(const struct pass *a, struct stats_requester *r, uint64_t time, uint32_t place)
{
	struct tlp t;

	decode_at(a, time, place, &t);
	const struct ptt_pair *pair = count_matched(a->s, a->d, &t, r);
	if (t.ep | t.status)
		fault_rare(a->s, &t, pair);
}

/* The T9 and T8 of header DW0 above the tag of the DW that has it. */
FLAT uint32_t raw_tag(uint32_t dw0, uint32_t dw, unsigned dws)
{
	return (dw >> 8 & 0xff) |
	       (dws == PTT_8DW ? (dw0 >> 14 & 0x200) | (dw0 >> 11 & 0x100) : dw0 >> 15 & 0x300);
}

/* Of a request only what stats_match.c and stats_fault.c may ask for; all of it is known here. */
FLAT void match_read(const struct pass *a, struct stats_requester *r, uint64_t time, uint32_t place, unsigned loop,
		     unsigned dws)
{
	const uint8_t *p = at(a, place, dws);
	uint32_t dw0 = raw_head(p, dws), dw1 = raw_dw(p, dws, 1), tag = raw_tag(dw0, dw1, dws);
	const struct ptt_pair *given_up = NULL;
	struct tlp *t;
	enum ptt_event what = match_request(a->s->match, match_key(a->device, 0, (uint16_t)(dw1 >> 16), tag), &t,
					    &given_up);

	*t = (struct tlp){
		.time = time, .offset = a->offset + (uint64_t)place * 4 * dws, .device = a->device,
		.address = body_address(p, dws, loop == LOOP_MRD64), .type_index = row_of_loop[loop],
		.class = TLP_NP, .length_dw = raw_length(dw0, dws), .requester = (uint16_t)(dw1 >> 16), .tag = tag,
	};
	count_request(a->s, a->d, r, what, t, given_up);
}

FLAT void match_cpld(const struct pass *a, struct stats_requester *r, uint64_t time, uint32_t place, unsigned dws)
{
	const uint8_t *p = at(a, place, dws);
	uint32_t dw0 = raw_head(p, dws), dw1 = raw_dw(p, dws, 1), dw2 = raw_dw(p, dws, 2);
	uint32_t length = raw_length(dw0, dws), byte_count = ((dw1 - 1) & 0xfff) + 1, carried = 4 * length - (dw2 & 3);
	const struct match_answer answer = {
		.time = time, .bytes = carried < byte_count ? carried : byte_count, .length_dw = length,
		.byte_count = (uint16_t)byte_count, .completer = (uint16_t)(dw1 >> 16),
		.lower_address = dw2 & 0x7f, .bcm = dw1 >> 12 & 1,
	};
	const struct ptt_pair *pair;
	uint64_t key = match_key(a->device, 0, (uint16_t)(dw2 >> 16), raw_tag(dw0, dw2, dws));
	enum ptt_event what = match_completion(a->s->match, key, &answer, &pair);

	if (what == PTT_DONE)
		count_done(a->s, a->d, r, time, pair);
	else if (what == PTT_ORPHAN)
		orphan_at(a, time, place);
}

FLAT void block_matches(const struct pass *a, const struct block *b, unsigned dws)
{
	for (uint32_t k = 0; k < b->nmatched; k++) {
		uint32_t i = b->matched[k], place = b->place + i;
		struct stats_requester *r = &a->s->requester[b->row[i]];
		const uint8_t *p = at(a, place, dws);
		uint32_t dw0 = raw_head(p, dws), loop = a->head[raw_code(dw0, dws)].loop;
		bool failed = loop == LOOP_CPLD && (raw_dw(p, dws, 1) >> 13 & 7);
		if (RARE(raw_unusual(dw0, dws) || failed || loop == LOOP_OTHER))
			match_in_full(a, r, b->time[i], place);
		else if (loop == LOOP_CPLD)
			match_cpld(a, r, b->time[i], place, dws);
		else
			match_read(a, r, b->time[i], place, loop, dws);
	}
}

/* ---- chunks --------------------------------------------------------------------------------------------- */

FLAT void chunk_loop(struct pass *a, unsigned dws, bool match)
{
	struct block b;

	for (uint32_t place = 0; place < a->n; ) {
		uint64_t payload = 0, tlps = 0;
		place = block_heads(a, &b, place, dws, match);
		for (unsigned l = 0; l < LOOP_NONE; l++)
			tlps += in_list(&b, l);
		bodies_read(a, &b, LOOP_MRD32, dws);
		bodies_read(a, &b, LOOP_MRD64, dws);
		payload += bodies_write(a, &b, LOOP_MWR32, dws);
		payload += bodies_write(a, &b, LOOP_MWR64, dws);
		payload += bodies_completion(a, &b, dws, match);
		payload += bodies_other(a, &b);
		if (tlps != 0) {
			a->d->bin->tlps += tlps;
			a->d->bin->bytes += payload;
		}
		if (match)
			block_matches(a, &b, dws);
	}
}

/* Only the clock goes on. */
FLAT void skip_loop(struct pass *a, unsigned dws)
{
	struct ptt_clock clock = a->d->clock;

	for (uint32_t i = 0; i < a->n; i++) {
		const uint8_t *p = at(a, i, dws);
		if (is_padding(p, dws))
			continue;
		uint32_t raw = raw_time(p, dws);
		clock.now = later(clock.now, clock.last, raw, a->absolute, dws);
		clock.last = raw;
	}
	a->d->clock = clock;
}

static void chunk_8dw(struct pass *a) { chunk_loop(a, PTT_8DW, false); }
static void chunk_4dw(struct pass *a) { chunk_loop(a, PTT_4DW, false); }
static void chunk_8dw_matched(struct pass *a) { chunk_loop(a, PTT_8DW, true); }
static void chunk_4dw_matched(struct pass *a) { chunk_loop(a, PTT_4DW, true); }
static void skip_8dw(struct pass *a) { skip_loop(a, PTT_8DW); }
static void skip_4dw(struct pass *a) { skip_loop(a, PTT_4DW); }

/* The first record of a device starts its clock at 0: it stood at that record's Time. Nothing but padding starts none. */
static void start_clock(struct pass *a, unsigned dws)
{
	for (uint32_t i = 0; i < a->n && !a->d->clock.started; i++) {
		const uint8_t *p = at(a, i, dws);
		uint32_t raw = raw_time(p, dws);
		if (!is_padding(p, dws))
			a->d->clock = (struct ptt_clock){ .now = 0 - (uint64_t)(raw & ~a->absolute), .last = raw,
							  .started = true };
	}
}

void ptt_stats_chunk(struct ptt_stats *s, const struct ptt_chunk *c, const struct ptt_decode_opts *o)
{
	struct stats_device *d = device_at(s, c->device);
	bool wide = o->format == PTT_8DW;
	struct pass a = {
		.s = s, .d = d, .p = c->p, .head = o->tag14 ? s->head_wide : s->head,
		.key = requester_key(c->device, 0, 0), .offset = c->offset, .o = *o, .device = c->device,
		.n = (uint32_t)(c->n / (4u * o->format)), .absolute = o->time == PTT_TIME_DELTA ? 0 : UINT32_MAX,
		.first = (uint32_t)(c->offset / (4u * o->format)),
	};

	d->format = o->format;
	if (d->time == PTT_TIME_AUTO)
		d->time = o->time;
	if (!d->clock.started)
		start_clock(&a, wide ? PTT_8DW : PTT_4DW);
	near_device_set(s, c->device);
	if (s->match != NULL) {
		a.shard = s->opts.shard;
		a.shards = s->opts.shards;
	}
	if (s->match != NULL)
		(wide ? chunk_8dw_matched : chunk_4dw_matched)(&a);
	else if (s->opts.shards > 1 && s->chunks++ % s->opts.shards != s->opts.shard)
		(wide ? skip_8dw : skip_4dw)(&a);
	else
		(wide ? chunk_8dw : chunk_4dw)(&a);
}

/* Cells become what a report counts. What went to LOOP_OTHER was counted in full elsewhere. */
void chunk_settle(struct ptt_stats *s)
{
	for (unsigned l = 0; l < LOOP_OTHER; l++) {
		struct stats_type *y = &s->type[row_of_loop[l]];
		for (uint32_t raw = 0; raw < 1024; raw++) {
			uint64_t relaxed = s->cell[l][1024 + raw], tlps = s->cell[l][raw] + relaxed;
			uint32_t n = raw != 0 ? raw : 1024;
			y->tlps += tlps;
			y->dws += tlps * n;
			y->relaxed += relaxed;
			s->size[s->size_of[row_of_loop[l]]][n] += tlps;
		}
		s->extra_bytes += s->loop_extra[l];
	}
}
