/*
 * decode.c: the shapes of decode_inline.h, and its functions out of line.
 *
 * Nothing is guessed: a Fmt and Type that tlp_type.def does not know is
 * "reserved", and all that is told of it is Fmt, Type, the bits of header DW0
 * that every TLP has, and DW1 to DW3 as they were recorded.
 *
 * Where a record does not say: 4DW has no Fmt[2], and prefixes are no packets of
 * their own, so it is taken as 0.  The newer layout (tag14) puts bits 13:10 of the
 * tag and a segment into bits of the header that are free otherwise:
 *
 *	64-bit address   DW2  segment [30:23]  tag [19:16]  address 47:32 [15:0]
 *	message          DW2  as above where DW2 is not an id or an address
 *	32-bit address   DW3  segment [31:24]  tag [3:0]
 *	configuration    DW3  segment [30:23]  tag [19:16]: the destination's, which is the requester's too
 *	completion       DW3  destination (the requester's) segment [31:24] where bit 15 says that it is
 *	                      valid, else the completer's [23:16];  tag [3:0]
 */
#include "ptt/decode_inline.h"

/* What the layouts of facts/tlp.h have. */
#define REQUEST .requester = 0xffff, .tag = 0x3ff, .limit = UINT32_MAX
#define MEM32                                                                                           \
	REQUEST, .address = 0xfffffffc, .address_shift = 32, .be = 0xf, .wide = 3, .segment_shift = 24, \
		 .wide_address = UINT64_MAX
#define MEM64                                                                                         \
	REQUEST, .address = ~(uint64_t)3, .be = 0xf, .wide = 2, .segment_shift = 23, .tag_shift = 16, \
		 .wide_address = 0xffffffffffff
#define IO MEM32
#define CFG REQUEST, .completer = 0xffff, .reg = 0xffc, .be = 0xf, .wide = 3, .segment_shift = 23, .tag_shift = 16
#define MSG                                                                                                        \
	REQUEST, .address = UINT64_MAX, .code = 0xff, .route = 7, .wide = 2, .segment_shift = 23, .tag_shift = 16, \
		 .wide_address = UINT64_MAX
#define COMPLETION \
	.requester = 0xffff, .tag = 0x3ff, .completer = 0xffff, .cpl = UINT32_MAX, .wide = 3, .segment_shift = 24
#define UNKNOWN .address = UINT64_MAX, .dw1 = UINT32_MAX, .limit = UINT32_MAX

/* The Length of a message or a completion is reserved when there is no data. */
#define LENGTH(layout, data) (((layout) != TLP_MSG && (layout) != TLP_COMPLETION) || (data) ? 0x7ff : 0)
/* Atomic operands are whole: byte enables don't apply to them.  Messages and completions have none. */
#define IS_ATOMIC(type) ((type) >= 0x0c && (type) <= 0x0e)
#define ENABLED(layout, type) ((layout) <= TLP_CFG && !IS_ATOMIC(type) ? UINT32_MAX : 0)
#define HINT(layout, class, type, data)                                         \
	((layout) != TLP_MEM32 && (layout) != TLP_MEM64 ? PTT_NO_HINT :         \
	 (class) == TLP_P                               ? PTT_HINT_AS_TAG :     \
	 !(data) || IS_ATOMIC(type)                     ? PTT_HINT_AS_ENABLES : \
							  PTT_HINT_ALONE)

const struct ptt_shape ptt_shapes[] = {
	{ UNKNOWN, .row = TLP_ROW_reserved, .class = TLP_RESERVED, .length = 0x7ff },
#define TYPE(name, fmt, type, mask, cls, layout, has_data, text)           \
	[TLP_ROW_##name + 1] = { layout,                                   \
				 .row = TLP_ROW_##name,                    \
				 .class = TLP_##cls,                       \
				 .length = LENGTH(TLP_##layout, has_data), \
				 .data = (has_data) ? UINT32_MAX : 0,      \
				 .enabled = ENABLED(TLP_##layout, type),   \
				 .hint = HINT(TLP_##layout, TLP_##cls, type, has_data) },
#include "facts/tlp_type.def"
#undef TYPE
};

void ptt_decode(const uint8_t *p, const struct ptt_decode_opts *o, struct ptt_clock *c, struct tlp *t)
{
	ptt_decode_inline(p, o, c, t);
}

void ptt_decode_in(const uint8_t *p, const uint8_t *end, const struct ptt_decode_opts *o, struct ptt_clock *c,
		   struct tlp *t)
{
	ptt_decode_in_inline(p, end, o, c, t);
}

/* A 4DW record cannot look so: it would be Fmt 3, Type 1f (hisi_ptt.rst, "Format"). */
enum ptt_format ptt_format_of(const uint8_t *p, size_t n)
{
	return n >= 4 && ptt_is_marker(ptt_le32(p)) ? PTT_8DW : PTT_4DW;
}

bool ptt_is_padding(const uint8_t *p, enum ptt_format f)
{
	uint32_t any = 0;
	for (size_t i = 0; i < (size_t)f; i++)
		any |= ptt_le32(p + 4 * i);
	return any == 0;
}
