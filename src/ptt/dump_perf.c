/*
 * dump_perf.c: a chunk as perf prints it, byte for byte, and as hisi_ptt.rst
 * shows it.
 *
 *	. ... HISI PTT data: size 1048576 bytes
 *	.  00000000: c0 02 00 02 <30 spaces>  Format 3 Type 0 T9 0 T8 0 TH 0 SO 0 Length 40 Time 2
 *	.  00000004: 01 01 35 ff <30 spaces>  Header DW1
 *
 * perf (7.2) prints a DW's bytes from bits 31:24 down and its true offset in the AUX
 * buffer; of 8 DWs it leaves out the first and the seventh.  The older text has the bytes
 * in the order of memory, and counts offsets as if the DWs left out weren't there.
 * Where that text's fields of a 4DW record were wrong (they were taken from the wrong end of
 * the DW), ours are as hisi_ptt.rst, "Format" has them.
 *
 * Output is a dozen times the input, so all lines of a record but one are a template into
 * which digits are written, collected in a block that stays in the first-level cache.
 */
#include "ptt/decode_inline.h"
#include "ptt/dump_int.h"

#define SPACES "                              "
static_assert(sizeof(SPACES) == 30 + 1, "ten bytes of perf's hex column stay empty");
#define START ".  00000000: 00 00 00 00 " SPACES
#define LINE(name) START "  " name "\n"
#define DIGITS 3 /* where a line's offset begins */
#define BYTES 13 /* where its bytes do */

/* A line of the template: where it starts, which DW of the record it shows, at which offset. */
struct line {
	uint16_t at;
	uint8_t dw, perf, spec;
};
struct form {
	const char *text;
	const struct line *line;
	uint16_t n, nlines;
	uint8_t record;
};

#define L0 (sizeof(LINE("Prefix")) - 1)
#define L1 (sizeof(LINE("Header DWn")) - 1)
static const struct form eight = {
	LINE("Prefix") LINE("Header DW0") LINE("Header DW1") LINE("Header DW2") LINE("Header DW3") LINE("Time"),
	(const struct line[]){
		{ 0, 1, 0x04, 0x00 },
		{ L0, 2, 0x08, 0x04 },
		{ L0 + L1, 3, 0x0c, 0x08 },
		{ L0 + 2 * L1, 4, 0x10, 0x0c },
		{ L0 + 3 * L1, 5, 0x14, 0x10 },
		{ L0 + 4 * L1, 7, 0x1c, 0x14 },
	},
	L0 + 4 * L1 + sizeof(LINE("Time")) - 1,
	6,
	4 * PTT_8DW,
};
/* The lines behind the first, which is written by perf_put_fields(). */
static const struct form four = {
	LINE("Header DW1") LINE("Header DW2") LINE("Header DW3"),
	(const struct line[]){ { 0, 1, 4, 4 }, { L1, 2, 8, 8 }, { 2 * L1, 3, 12, 12 } },
	3 * L1,
	3,
	4 * PTT_4DW,
};

static inline void perf_put_digits(char *line, uint32_t offset, uint32_t dw, bool spec)
{
	char *p = line + BYTES;
	dump_hex32(line + DIGITS, offset);
	if (spec)
		dw = __builtin_bswap32(dw);
	for (int shift = 24; shift >= 0; shift -= 8)
		p = dump_byte(p, (uint8_t)(dw >> shift)) + 1;
}

static char *perf_put_field(char *p, const char *name, uint32_t v)
{
	p = dump_text(p, name);
	return dump_hex_short(p, v);
}

/* DW0 of a 4DW record, taken apart. */
static char *perf_put_fields(char *p, uint32_t offset, uint32_t dw, bool spec)
{
	memcpy(p, START, sizeof(START) - 1);
	perf_put_digits(p, offset, dw, spec);
	p = perf_put_field(p + sizeof(START) - 1, "  Format ", dw >> 30);
	p = perf_put_field(p, " Type ", dw >> 25 & 0x1f);
	p = perf_put_field(p, " T9 ", dw >> 24 & 1);
	p = perf_put_field(p, " T8 ", dw >> 23 & 1);
	p = perf_put_field(p, " TH ", dw >> 22 & 1);
	p = perf_put_field(p, " SO ", dw >> 21 & 1);
	p = perf_put_field(p, " Length ", dw >> 11 & 0x3ff);
	p = perf_put_field(p, " Time ", dw & 0x7ff);
	*p++ = '\n';
	return p;
}

static char *perf_put_record(char *p, const uint8_t *from, uint32_t offset, const struct form *f, bool spec)
{
	if (f == &four)
		p = perf_put_fields(p, offset, ptt_le32(from), spec);
	memcpy(p, f->text, f->n);
	for (const struct line *l = f->line; l < f->line + f->nlines; l++)
		perf_put_digits(p + l->at, offset + (spec ? l->spec : l->perf), ptt_le32(from + 4 * l->dw), spec);
	return p + f->n;
}

void ptt_dump_perf(struct buf *to, const struct ptt_chunk *c, bool spec)
{
	const struct form *f = c->format == PTT_8DW ? &eight : &four;
	char block[16384], *p = block;

	if (c->first)
		buf_printf(to, ". ... HISI PTT data: size %llu bytes\n",
			   (unsigned long long)(c->total - c->total % f->record));
	for (size_t at = 0; at + f->record <= c->n; at += f->record) {
		if (p > block + sizeof(block) - 1024) {
			buf_put(to, block, (size_t)(p - block));
			p = block;
		}
		p = perf_put_record(p, c->p + at, (uint32_t)(c->at + at), f, spec);
	}
	buf_put(to, block, (size_t)(p - block));
}
