/*
 * gen_encode.c: packets to headers.  How a header becomes a record is the
 * device's too: encode_inline.h.
 */
#include "ptt/encode_inline.h"
#include "ptt/gen_int.h"

/* Header DW1 to DW3. */
static void encode_header(const struct packet *k, const struct tlp_type *y, uint32_t dw[static 4])
{
	uint32_t ask = (uint32_t)k->requester << 16 | (k->tag & 0xff) << 8;

	dw[1] = ask | (y->layout == TLP_MSG ? k->code : k->be);
	dw[2] = (uint32_t)k->address;
	dw[3] = 0;
	switch (y->layout) {
	case TLP_MEM64:
		dw[2] = (uint32_t)(k->address >> 32);
		dw[3] = (uint32_t)k->address;
		break;
	case TLP_CFG:
		dw[2] = (uint32_t)k->completer << 16 | k->reg;
		break;
	case TLP_MSG:
		dw[2] = k->route == 2 ? (uint32_t)k->completer << 16 : 0;
		break;
	case TLP_COMPLETION:
		dw[1] = (uint32_t)k->completer << 16 | (uint32_t)k->status << 13 | (k->byte_count & 0xfff);
		dw[2] = ask | k->lower;
		break;
	}
}

/* The newer layout's bits 13:10 of the tag, and segments. */
static void encode_wide(const struct packet *k, const struct tlp_type *y, uint32_t dw[static 4])
{
	uint32_t tag = k->tag >> 10 & 0xf, segment = k->segment;

	if (y->layout == TLP_MEM64 || (y->layout == TLP_MSG && k->route != 1 && k->route != 2))
		dw[2] |= segment << 23 | tag << 16;
	else if (y->layout == TLP_MEM32 || y->layout == TLP_IO)
		dw[3] |= segment << 24 | tag;
	else if (y->layout == TLP_CFG)
		dw[3] |= segment << 23 | tag << 16;
	else if (y->layout == TLP_COMPLETION)
		dw[3] |= segment << 24 | 1u << 15 | tag;
}

void gen_encode(const struct packet *k, const struct ptt_gen_opts *o, uint32_t time, uint8_t *to)
{
	const struct tlp_type *y = tlp_type_at(k->row);
	uint32_t t9 = k->tag >> 9 & 1, t8 = k->tag >> 8 & 1, length = k->dws & 0x3ff;
	uint32_t fmt = y->fmt, type = y->type | k->route, dw[4];

	if (y->cls == TLP_RESERVED) /* any code that nobody has */
		fmt = 1, type = 0x0a;
	dw[0] = fmt << 29 | type << 24 | t9 << 23 | t8 << 19 | (uint32_t)k->hints << 16 | (uint32_t)k->digest << 15 |
		(uint32_t)k->poisoned << 14 | (uint32_t)k->relaxed << 13 | length;
	encode_header(k, y, dw);
	if (o->tag14)
		encode_wide(k, y, dw);
	if (o->format == PTT_4DW)
		ptt_encode_4dw(to, dw, time);
	else
		ptt_encode_8dw(to, k->prefix, dw, time);
}
