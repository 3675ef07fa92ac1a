/*
 * stats_count_int.h: what counting one record (stats.c) and counting a chunk
 * of them (stats_chunk.c) have in common, for packets of any provenance: so all
 * of it takes numbers, and never the address of a decoded record.
 */
#ifndef TALLY_PTT_STATS_COUNT_INT_H
#define TALLY_PTT_STATS_COUNT_INT_H

#include "ptt/stats_int.h"

#define RARE(x) __builtin_expect(!!(x), 0)

/* key: the page's number plus place_key(); owner: a requester_key(). Their bytes are the caller's to add. */
static inline struct sketch_entry *add_to_page(struct ptt_stats *s, uint64_t key, uint64_t owner, uint64_t tlps)
{
	struct sketch_entry *e = sketch_at(&s->pages, key);

	sketch_own(e, owner);
	e->n += tlps;
	return e;
}

/* Single writes to one address, from time to time; perhaps MSIs. key: the address plus place_key(). */
static inline struct sketch_entry *add_target(struct ptt_stats *s, uint64_t key, uint64_t owner, uint64_t writes,
					      uint64_t first, uint64_t last)
{
	struct sketch_entry *e = sketch_at(&s->targets, key);

	sketch_own(e, owner);
	e->sum[TARGET_FIRST] = e->n == 0 || first < e->sum[TARGET_FIRST] ? first : e->sum[TARGET_FIRST];
	e->sum[TARGET_LAST] = last > e->sum[TARGET_LAST] ? last : e->sum[TARGET_LAST];
	e->n += writes;
	return e;
}

/* n packets of so many bytes in whole DWs each, and of so many that count. */
static inline void add_bytes(struct stats_requester *r, enum ptt_kind kind, uint64_t n, uint32_t whole, uint32_t bytes)
{
	r->bytes[kind] += n * bytes;
	if (RARE(whole > r->largest[kind]))
		r->largest[kind] = whole;
}

static inline void add_completion(struct stats_completer *c, uint64_t n, uint32_t whole, uint32_t bytes,
				  uint32_t status)
{
	c->bytes += n * bytes;
	c->status[status] += n;
	if (RARE(whole > c->largest))
		c->largest = whole;
}

/* One whole DW. */
static inline bool is_target(uint32_t whole, uint32_t bytes)
{
	return whole == 4 && bytes == 4;
}

/* A completion that is not its read's last ends on a multiple of the read completion boundary, of 64 or 128
 * bytes (2.3.1.1): END_128, END_64 or END_ODD. No branch: who counts patterns can't foresee it. */
static inline uint32_t piece_end(uint32_t lower, uint32_t whole)
{
	uint32_t end = (lower & ~3u) + whole;

	return (END_128 + (end >> 6 & 1)) | (end % 64 != 0 ? END_ODD : 0);
}
static_assert(END_64 == END_128 + 1 && END_ODD == (END_128 | END_64), "as piece_end() computes it");

#endif
