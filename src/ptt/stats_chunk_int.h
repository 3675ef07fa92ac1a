/*
 * stats_chunk_int.h: a chunk as it is counted, block by block, and the bits of its records: stats_chunk.c,
 * stats_pair.c.
 */
#ifndef TALLY_PTT_STATS_CHUNK_INT_H
#define TALLY_PTT_STATS_CHUNK_INT_H

#include "ptt/decode_inline.h"
#include "ptt/stats_count_int.h"

#define FLAT static inline __attribute__((always_inline))

/* At most so many records that follow each other, all within one bin of the time line; and lists of those that
 * count. */
enum { BLOCK = 512, AHEAD = 2048 }; /* AHEAD: bytes; hardware stops at the end of a page */
struct list {
	uint32_t n;
	const uint8_t *p[BLOCK];
};
struct block {
	const uint8_t *p;       /* the first */
	uint64_t tlps, payload; /* payload in DWs */
	uint64_t time[BLOCK];   /* of all records, by place */
	struct list sorted[SORT_OTHER + 1];
	struct list matched; /* requests and completions of any type */
};

/* What the loops over one chunk have in common. */
struct pass {
	struct ptt_stats *s;
	struct stats_device *d;
	const uint8_t *p, *end;        /* its records */
	const struct stats_head *head; /* by Fmt << 5 | Type */
	uint64_t key;                  /* of requester 0 */
	uint64_t place;                /* place_key() */
	uint64_t offset;
	struct ptt_decode_opts o;
	uint32_t device;
	uint16_t gaps;        /* of the device, of a pass that matches */
	uint32_t absolute;    /* all ones unless Time is a delta */
	uint32_t shard;       /* of a pass that matches; 0 counts the padding */
	uint8_t mine[2][256]; /* 1 or 0, by whether a record's type is matched, and is_mine()'s hash */
};

/* ---- bits of a record ---------------------------------------------------------------------------- */

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

FLAT uint32_t raw_dw(const uint8_t *p, unsigned dws, unsigned i)
{
	return ptt_le32(p + (dws == PTT_8DW ? 8 : 0) + 4 * i);
}

/* Requester[31:16] Tag[15:8], which are in one DW of all that have them. */
FLAT uint32_t raw_id(const uint8_t *p, unsigned dws, unsigned at)
{
	return ptt_le32(p + (dws == PTT_8DW ? 8 : 0) + at);
}

/* Where in a bank (stats_cell.c). */
FLAT uint32_t raw_cell(uint32_t dw0, unsigned sort, unsigned dws)
{
	return dws == PTT_8DW ? (dw0 & 0x23ff) + (sort << 10) : (dw0 >> 11 & 0x7ff) + (sort << 11);
}

/* A shift, not a branch: nobody can foresee which it is. */
FLAT uint64_t raw_address(const uint8_t *p, unsigned dws, unsigned shift)
{
	uint64_t turned = (uint64_t)raw_dw(p, dws, 3) << 32 | raw_dw(p, dws, 2);

	return (turned << 32 | turned >> 32) >> shift & ~3ull;
}

/* Processing hints, and poison where a record tells. */
FLAT uint32_t raw_unusual(uint32_t dw0, unsigned dws)
{
	return dw0 & (dws == PTT_8DW ? 1u << 16 | 1u << 14 : 1u << 22);
}

FLAT bool is_padding(const uint8_t *p, unsigned dws)
{
	return RARE(ptt_le32(p) == 0) && ptt_is_padding(p, (enum ptt_format)dws);
}

static inline uint64_t time_of(const struct pass *a, const struct block *b, const uint8_t *p)
{
	return b->time[(size_t)(p - b->p) / (4u * a->o.format)];
}

static inline void decode_at(const struct pass *a, const struct block *b, const uint8_t *p, struct tlp *t)
{
	struct ptt_clock none = { 0 };

	ptt_decode(p, &a->o, &none, t);
	t->device = a->device;
	t->offset = a->offset + (size_t)(p - a->p);
	t->time = time_of(a, b, p);
}

/* stats_pair.c. The requests of a block meet their completions; it was counted without that. */
void block_match_8dw(const struct pass *a, const struct block *b);
void block_match_4dw(const struct pass *a, const struct block *b);

/* stats_twice.c. Of records of 4DW from p up to end: counts posted requests that may be duplicates. */
void twice_posted(struct ptt_stats *s, const struct pass *a, const uint8_t *p, const uint8_t *end);

#endif
