/*
 * handmade_int.h: records for tests, made from the words that a header has.  Formats:
 * decode_inline.h.
 */
#ifndef TALLY_PTT_HANDMADE_INT_H
#define TALLY_PTT_HANDMADE_INT_H

#include <string.h>

#include "ptt/ptt.h"

struct handmade {
	uint32_t fmt, type, length, time;
	uint32_t dw1, dw2, dw3;
	uint32_t tag_high; /* T9 T8 */
	uint32_t th;
	uint32_t prefix, dw0; /* 8DW: the prefix, and more bits of header DW0 */
	uint32_t so;          /* 4DW */
};

static inline void handmade_dw(uint8_t *p, uint32_t v)
{
	for (int i = 0; i < 4; i++)
		p[i] = (uint8_t)(v >> 8 * i);
}

/* Writes a record of `format` at p and returns what follows. */
static inline uint8_t *handmade(uint8_t *p, enum ptt_format format, const struct handmade *h)
{
	uint32_t t9 = h->tag_high >> 1 & 1, t8 = h->tag_high & 1;
	const uint32_t dw[8] = {
		UINT32_MAX,
		h->prefix,
		h->fmt << 29 | h->type << 24 | t9 << 23 | t8 << 19 | h->th << 16 | (h->length & 0x3ff) | h->dw0,
		h->dw1,
		h->dw2,
		h->dw3,
		0,
		h->time,
	};
	const uint32_t four = (h->fmt & 3) << 30 | h->type << 25 | t9 << 24 | t8 << 23 | h->th << 22 | h->so << 21 |
			      (h->length & 0x3ff) << 11 | (h->time & 0x7ff);

	for (int i = 0; i < (int)format; i++)
		handmade_dw(p + 4 * i, format == PTT_8DW ? dw[i] : i == 0 ? four : dw[i + 2]);
	return p + 4 * format;
}

#endif
