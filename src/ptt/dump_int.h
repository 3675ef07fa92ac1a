/*
 * dump_int.h: numbers to characters, without the cost of printf: a trace has tens of
 * millions of records.  Each function writes at p and returns what follows; the
 * caller's array has room.
 */
#ifndef TALLY_PTT_DUMP_INT_H
#define TALLY_PTT_DUMP_INT_H

#include <string.h>

#include "ptt/dump.h"

extern const char dump_hex[256 * 2 + 1]; /* the two digits of each byte */

static inline char *dump_byte(char *p, uint8_t byte)
{
	memcpy(p, &dump_hex[byte * 2], 2);
	return p + 2;
}

static inline char *dump_hex32(char *p, uint32_t v)
{
	for (int shift = 24; shift >= 0; shift -= 8)
		p = dump_byte(p, (uint8_t)(v >> shift));
	return p;
}

static inline char *dump_text(char *p, const char *s)
{
	size_t n = strlen(s);
	memcpy(p, s, n);
	return p + n;
}

/* Spaces until the column is `width` wide. */
static inline char *dump_pad(char *p, const char *column, int width)
{
	while (p < column + width)
		*p++ = ' ';
	return p;
}

char *dump_hex_short(char *p, uint64_t v); /* no zeros in front */

#endif
