/*
 * decode_inline.h: decoding of one record, for loops that look at every record
 * of a trace.  ptt_decode() of ptt.h is the same thing out of line.
 *
 * The idea: Fmt and Type choose a shape (decode.c makes one a row of
 * tlp_type.def), and the shape is masks.  Every field is computed for every
 * record and masked to 0 where the type does not have it, so that a mixed trace
 * costs no mispredicted branches.  Everything is inline, so that a caller's record stays in
 * registers and the fields it ignores cost nothing.  Only the two things that are rare are
 * branches: processing hints and the newer layout.
 *
 *	8DW  DW0 all ones, DW1 prefix, DW2-5 header, DW6 0, DW7 Time
 *	4DW  DW0 Fmt[31:30] Type[29:25] T9[24] T8[23] TH[22] SO[21] Length[20:11] Time[10:0],
 *	     DW1-3 header DW1-3
 *	header DW0 (8DW)  Fmt[31:29] Type[28:24] T9[23] TC[22:20] T8[19] Attr2[18] LN[17] TH[16] TD[15]
 *	     EP[14] Attr[13:12] AT[11:10] Length[9:0]
 *
 * DWs are little-endian; byte 0 of a TLP header is bits 31:24 of its DW
 * (hisi_ptt.rst, "Format").  Header DW1 to DW3: PCIe base specification r5.0, 2.2.
 */
#ifndef TALLY_PTT_DECODE_INLINE_H
#define TALLY_PTT_DECODE_INLINE_H

#include <string.h>

#include "ptt/ptt.h"

/* Out of line these would pass a dozen values through memory. */
#define PTT_INLINE static inline __attribute__((always_inline))

/* What a row of tlp_type.def has: each mask is all ones over a field that is there and 0 else. */
struct ptt_shape {
	uint64_t address; /* over DW2:DW3 after the shift */
	uint32_t dw1;
	uint32_t length;  /* over the 11 bits of a length */
	uint32_t data;    /* over the size of the payload */
	uint32_t enabled; /* over the bytes that byte enables take away */
	uint32_t limit;   /* 0 where the byte count limits the payload, else all ones */
	uint32_t cpl;     /* over what only completions have */
	uint16_t requester, completer, reg;
	uint16_t tag; /* over 10 bits */
	uint8_t be, code, route;
	uint8_t address_shift;
	uint8_t row, class;
	uint8_t hint; /* enum ptt_hint */
	/* the newer layout (decode.c): from which DW, 2 or 3, or 0 when it adds nothing */
	uint8_t wide, segment_shift, tag_shift;
	uint64_t wide_address; /* what is left of the address */
};
enum ptt_hint { PTT_NO_HINT, PTT_HINT_AS_TAG, PTT_HINT_AS_ENABLES, PTT_HINT_ALONE };
extern const struct ptt_shape ptt_shapes[]; /* by tlp_row_of[] */

/* Header DW0, of either format. */
struct ptt_head {
	uint32_t kind; /* Fmt << 5 | Type */
	uint32_t length, tag_high, th;
};

PTT_INLINE uint32_t ptt_le32(const uint8_t *p)
{
	uint32_t v;
	memcpy(&v, p, sizeof(v));
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	v = __builtin_bswap32(v);
#endif
	return v;
}

/* All ones for 0, and 0 for what is below 2^31: a comparison that cannot become a branch. */
PTT_INLINE uint32_t ptt_zero_mask(uint32_t v)
{
	return (uint32_t)((int32_t)(v - 1) >> 31);
}

/* Of a Time of 32 bits that is behind the last one. A stray is as late as the record before; behind some of them the
 * clock goes on from here. */
uint64_t ptt_clock_back(struct ptt_clock *c, uint32_t raw);

/* The first record starts the clock at 0, whatever it says: what came before it isn't known. */
PTT_INLINE uint64_t ptt_clock_step(struct ptt_clock *c, uint32_t raw, uint32_t mask, bool delta)
{
	uint32_t step = delta ? raw : (raw - c->last) & mask;

	if (__builtin_expect(!delta && step >> 31 && c->started, 0))
		return ptt_clock_back(c, raw);
	c->strays = 0;
	c->now += c->started ? step : 0;
	c->last = raw;
	c->started = true;
	return c->now;
}

/* How many of the bytes of a payload's first and last DW its byte enables leave out; with one DW the last
 * enables don't count (2.2.5). */
PTT_INLINE uint32_t ptt_disabled_bytes(uint32_t dw1, uint32_t length)
{
	const uint64_t zero_bits = 0x0112122312232334; /* of each nibble, nibble 0 lowest */
	uint32_t first = (uint32_t)(zero_bits >> (dw1 << 2 & 0x3c)) & 7;
	uint32_t last = (uint32_t)(zero_bits >> (dw1 >> 2 & 0x3c)) & 7;
	return first + (last & (uint32_t)((int32_t)(1 - length) >> 31));
}

/* Of a read: where its first byte is in its DW, and how many it asks for: holes between enabled bytes count (2.3.1.1,
 * table 2-38). */
PTT_INLINE uint32_t ptt_read_first(const struct tlp *t)
{
	return t->first_be ? (uint32_t)__builtin_ctz(t->first_be) : 0;
}

PTT_INLINE uint32_t ptt_read_bytes(const struct tlp *t)
{
	const uint32_t last = t->length_dw == 1 ? t->first_be : t->last_be;

	if (!last) /* a read of no byte is answered with one */
		return t->length_dw == 1 ? 1 : 4 * t->length_dw - ptt_read_first(t);
	return 4 * t->length_dw - ptt_read_first(t) - (uint32_t)(__builtin_clz(last) - 28);
}

/* A completion's payload ends with the request's bytes or with the packet, and starts at the lower address;
 * byte count and lower address are 0 for all else (2.3.1.1). */
PTT_INLINE uint32_t ptt_payload(const struct tlp *t, const struct ptt_shape *s, uint32_t dw1)
{
	uint32_t n = t->length_dw * 4 - (ptt_disabled_bytes(dw1, t->length_dw) & s->enabled) - (t->lower_address & 3);
	uint32_t limit = t->byte_count | s->limit;
	return (n < limit ? n : limit) & s->data;
}

/* Steering tags stand where a request does not need what is there else: a write's tag, a read's and an
 * atomic's byte enables, which are then taken as all set (2.2.7.1). */
PTT_INLINE void ptt_decode_hints(struct tlp *t, const struct ptt_shape *s, uint32_t dw1, uint32_t low)
{
	if (s->hint == PTT_NO_HINT)
		return;
	t->ph = low & 3;
	if (s->hint == PTT_HINT_AS_TAG) {
		t->st = (uint8_t)(dw1 >> 8);
	} else if (s->hint == PTT_HINT_AS_ENABLES) {
		t->st = (uint8_t)dw1;
		t->first_be = 0xf;
		t->last_be = t->length_dw > 1 ? 0xf : 0;
	}
}

PTT_INLINE void ptt_decode_wide(struct tlp *t, const struct ptt_shape *s, uint32_t dw2, uint32_t dw3)
{
	uint32_t from = s->wide == 2 ? dw2 : dw3;
	bool holds_id = t->route == 1 || t->route == 2;
	bool same_segment = s->cpl != 0 && (dw3 & 0x8000) == 0;

	if (s->wide == 0 || holds_id)
		return;
	t->segment = from >> (same_segment ? 16 : s->segment_shift) & 0xff;
	t->tag |= (from >> s->tag_shift & 0xf) << 10;
	t->address &= s->wide_address;
}

PTT_INLINE void ptt_decode_header(const uint8_t *p, const struct ptt_head *h, bool tag14, struct tlp *t)
{
	const struct ptt_shape *s = &ptt_shapes[tlp_row_of[h->kind]];
	uint32_t dw1 = ptt_le32(p), dw2 = ptt_le32(p + 4), dw3 = ptt_le32(p + 8);
	uint32_t swap = (dw1 ^ dw2) & s->cpl; /* ids: the asker's in `ask`, the other's in `answer` */
	uint32_t ask = dw1 ^ swap, answer = dw2 ^ swap;
	uint32_t route = h->kind & s->route;
	uint32_t by_id = ptt_zero_mask(route ^ 2);

	t->type_index = s->row;
	t->class = s->class;
	t->fmt = (uint8_t)(h->kind >> 5);
	t->type = h->kind & 0x1f;
	t->header_dw = 3 + (h->kind >> 5 & 1);
	t->dw1 = dw1 & s->dw1;
	t->address = ((uint64_t)dw2 << 32 | dw3) >> s->address_shift & s->address;
	t->requester = (uint16_t)(ask >> 16 & s->requester);
	t->tag = (ask >> 8 & 0xff & s->tag) | (h->tag_high & s->tag);
	t->completer = (uint16_t)(answer >> 16 & (s->completer | by_id));
	t->reg = (uint16_t)(dw2 & s->reg);
	t->first_be = (uint8_t)(dw1 & s->be);
	t->last_be = (uint8_t)(dw1 >> 4 & s->be);
	t->code = (uint8_t)(dw1 & s->code);
	t->route = (uint8_t)route;
	t->status = (uint8_t)(dw1 >> 13 & 7 & s->cpl);
	t->bcm = (uint8_t)(dw1 >> 12 & 1 & s->cpl);
	t->byte_count = (uint16_t)((((dw1 - 1) & 0xfff) + 1) & s->cpl);
	t->lower_address = (uint8_t)(dw2 & 0x7f & s->cpl);
	t->length_dw = (((h->length - 1) & 0x3ff) + 1) & s->length;
	t->bytes = ptt_payload(t, s, dw1);
	t->segment = 0;
	t->th = (uint8_t)h->th;
	t->ph = t->st = 0;
	if (__builtin_expect(h->th, 0))
		ptt_decode_hints(t, s, dw1, s->address_shift ? dw2 : dw3);
	if (__builtin_expect(tag14, 0))
		ptt_decode_wide(t, s, dw2, dw3);
}

PTT_INLINE void ptt_decode_8dw(const uint8_t *p, const struct ptt_decode_opts *o, struct ptt_clock *c, struct tlp *t)
{
	uint32_t prefix = ptt_le32(p + 4), dw0 = ptt_le32(p + 8);
	uint32_t pasid = prefix & ptt_zero_mask(prefix >> 24 ^ 0x91);
	const struct ptt_head h = {
		.kind = dw0 >> 24,
		.length = dw0 & 0x3ff,
		.tag_high = (dw0 >> 14 & 0x200) | (dw0 >> 11 & 0x100),
		.th = dw0 >> 16 & 1,
	};
	t->time = ptt_clock_step(c, ptt_le32(p + 28), UINT32_MAX, o->time == PTT_TIME_DELTA);
	t->prefix = prefix;
	t->pasid = pasid & 0xfffff;
	t->pasid_exec = pasid >> 20 & 1;
	t->pasid_priv = pasid >> 21 & 1;
	t->tc = dw0 >> 20 & 7;
	t->attr = (dw0 >> 12 & 3) | (dw0 >> 16 & 4);
	t->at = dw0 >> 10 & 3;
	t->td = dw0 >> 15 & 1;
	t->ep = dw0 >> 14 & 1;
	t->ln = dw0 >> 17 & 1;
	t->dws = PTT_8DW;
	ptt_decode_header(p + 12, &h, o->tag14, t);
}

PTT_INLINE void ptt_decode_4dw(const uint8_t *p, const struct ptt_decode_opts *o, struct ptt_clock *c, struct tlp *t)
{
	uint32_t dw0 = ptt_le32(p);
	const struct ptt_head h = {
		.kind = dw0 >> 25,
		.length = dw0 >> 11 & 0x3ff,
		.tag_high = dw0 >> 15 & 0x300,
		.th = dw0 >> 22 & 1,
	};
	t->time = ptt_clock_step(c, dw0 & 0x7ff, 0x7ff, o->time == PTT_TIME_DELTA);
	t->prefix = t->pasid = 0;
	t->pasid_exec = t->pasid_priv = 0;
	t->attr = dw0 >> 20 & 2;
	t->tc = t->at = t->td = t->ep = t->ln = 0;
	t->dws = PTT_4DW;
	ptt_decode_header(p + 4, &h, o->tag14, t);
}

PTT_INLINE void ptt_decode_inline(const uint8_t *p, const struct ptt_decode_opts *o, struct ptt_clock *c, struct tlp *t)
{
	if (o->format == PTT_8DW)
		ptt_decode_8dw(p, o, c, t);
	else
		ptt_decode_4dw(p, o, c, t);
}

PTT_INLINE void ptt_decode_in_inline(const uint8_t *p, const uint8_t *end, const struct ptt_decode_opts *o,
				     struct ptt_clock *c, struct tlp *t)
{
	const struct ptt_clock before = *c;

	ptt_decode_inline(p, o, c, t);
	if (o->format != PTT_8DW || o->time == PTT_TIME_DELTA)
		return;
	c->doubt = 0;
	if (__builtin_expect(end - p < 64, 0)) {
		c->doubt = before.started && c->strays == 0 ? c->last - before.last : 0;
	} else if (__builtin_expect((ptt_le32(p + 60) - ptt_le32(p + 28)) >> 31, 0) && before.started &&
		   c->strays == 0 && ptt_time_is_stray(p, end, before.last)) {
		*c = before;
		t->time = before.now;
	} else if (__builtin_expect(!before.started, 0) && end - p >= 96 && (ptt_le32(p + 60) - c->last) >> 31 &&
		   (ptt_le32(p + 92) - c->last) >> 31) {
		c->last = ptt_le32(p + 60);
	}
}

#endif
