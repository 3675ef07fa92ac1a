/*
 * encode_inline.h: a header's DWs to a record, for whoever makes records: the
 * device and the generator.  The formats are told in decode_inline.h; this
 * is written down a second time from the specification (hisi_ptt.rst, "Format"),
 * so that one can be held against the other.
 *
 * Of header DW0 a 4DW record keeps Fmt[1:0] Type T9 T8 TH, the relaxed-ordering bit
 * (SO), Length; and 11 bits of time.
 */
#ifndef TALLY_PTT_ENCODE_INLINE_H
#define TALLY_PTT_ENCODE_INLINE_H

#include <string.h>

#include "base/base.h"

static inline void ptt_put_le32(uint8_t *to, uint32_t v)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	v = __builtin_bswap32(v);
#endif
	memcpy(to, &v, sizeof(v));
}

/* A header's four DWs: on most machines one load and one store. */
static inline void ptt_put_header(uint8_t *to, const uint32_t dw[static 4])
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	for (int i = 0; i < 4; i++)
		ptt_put_le32(to + 4 * i, dw[i]);
#else
	memcpy(to, dw, 16);
#endif
}

/* 32 bytes at `to`. */
static inline void ptt_encode_8dw(uint8_t *to, uint32_t prefix, const uint32_t dw[static 4], uint32_t time)
{
	ptt_put_le32(to, UINT32_MAX);
	ptt_put_le32(to + 4, prefix);
	ptt_put_header(to + 8, dw);
	ptt_put_le32(to + 24, 0);
	ptt_put_le32(to + 28, time);
}

/* 16 bytes at `to`.  RO, TH and T8 are bits 13, 16 and 19 of header DW0; they come side by side as bits 4 to 6 of
 * their product with 2^4 + 2^2 + 2^0, in which no two sums of bits meet. */
static inline void ptt_encode_4dw(uint8_t *to, const uint32_t dw[static 4], uint32_t time)
{
	const uint32_t dw0 = dw[0], flags = (dw0 >> 13 & 0x49) * 0x15 & 0x70;

	ptt_put_header(to, dw);
	ptt_put_le32(to, (dw0 & 0x7f800000) << 1 |     /* Fmt[1:0] Type T9 */
				 flags << 17 |         /* T8 TH SO */
				 (dw0 & 0x3ff) << 11 | /* Length */
				 (time & 0x7ff));
}

#endif
