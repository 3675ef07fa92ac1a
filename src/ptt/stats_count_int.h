/*
 * stats_count_int.h: what counting one record (stats.c) and counting a chunk
 * of them (stats_chunk.c) have in common, for packets of any provenance: so all
 * of it takes numbers, and never the address of a decoded record.
 */
#ifndef TALLY_PTT_STATS_COUNT_INT_H
#define TALLY_PTT_STATS_COUNT_INT_H

#include "ptt/stats_int.h"

#define RARE(x) __builtin_expect(!!(x), 0)

/* Whose: a requester_key(). */
static inline void add_to_page(struct ptt_stats *s, uint64_t page, uint64_t whose, bool several, uint64_t tlps,
			       uint64_t read, uint64_t written)
{
	struct sketch_entry *e = sketch_at(&s->pages, page);

	sketch_own(e, (uint32_t)(whose >> 32), (uint16_t)whose, several);
	e->n += tlps;
	e->a += read;
	e->b += written;
}

/* how: PAGE_READ or PAGE_WRITE; r: the row of `whose`. */
static inline void add_page(struct ptt_stats *s, struct stats_requester *r, unsigned how, uint64_t whose,
			    uint64_t address, uint32_t bytes)
{
	struct page_run *run = &r->run[how];

	if (address >> 12 != run->page) {
		run_flush(s, run, how, whose, r == &s->requester[PTT_STATS_ROWS]);
		run->page = address >> 12;
	}
	run->tlps++;
	run->bytes += bytes;
}

/* Single writes to one address, from time to time; perhaps MSIs. */
static inline void add_target(struct ptt_stats *s, uint64_t address, uint64_t whose, bool several, uint64_t writes,
			      uint64_t first, uint64_t last)
{
	struct sketch_entry *e = sketch_at(&s->targets, address);

	sketch_own(e, (uint32_t)(whose >> 32), (uint16_t)whose, several);
	e->a = e->n == 0 || first < e->a ? first : e->a;
	e->b = last > e->b ? last : e->b;
	e->n += writes;
}

static inline void add_read(struct stats_requester *r, uint32_t whole)
{
	r->asked_bytes += whole;
	if (RARE(whole > r->largest_read))
		r->largest_read = whole;
}

static inline void add_write(struct stats_requester *r, uint32_t whole, uint32_t bytes)
{
	r->written_bytes += bytes;
	if (RARE(whole > r->largest_write))
		r->largest_write = whole;
}

/* One whole DW. */
static inline bool is_target(uint32_t whole, uint32_t bytes)
{
	return whole == 4 && bytes == 4;
}

static inline void add_completion(struct stats_requester *r, struct stats_completer *c, uint32_t whole, uint32_t bytes,
				  uint32_t status)
{
	r->read_bytes += bytes;
	c->bytes += bytes;
	c->status[status]++;
	if (RARE(whole > c->largest))
		c->largest = whole;
}

/* A completion that is not its read's last ends on a multiple of the read completion boundary, of 64 or 128
 * bytes (2.3.1.1). */
static inline void add_piece(struct ptt_stats *s, uint32_t byte_count, uint32_t bytes, uint32_t lower, uint32_t whole,
			     bool bcm)
{
	uint32_t end = (lower & ~3u) + whole;
	uint32_t where = (END_128 + (end >> 6 & 1)) | (end % 64 != 0 ? END_ODD : 0);
	/* Which one is the last can't be foreseen, so there is no branch. */
	uint32_t last = (byte_count <= bytes) | (bytes == 0) | bcm;

	s->ends[where & (last - 1)]++;
}
static_assert(END_LAST == 0 && END_64 == END_128 + 1 && END_ODD == (END_128 | END_64), "as add_piece() computes it");

#endif
