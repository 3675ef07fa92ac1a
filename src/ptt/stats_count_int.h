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

static inline void add_page(struct ptt_stats *s, struct stats_requester *r, uint64_t address, uint32_t read,
			    uint32_t written)
{
	if (address >> 12 != r->run_page) {
		run_flush(s, r);
		r->run_page = address >> 12;
	}
	r->run_tlps++;
	r->run_read += read;
	r->run_written += written;
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
	r->largest_read = whole > r->largest_read ? whole : r->largest_read;
}

static inline void add_write(struct stats_requester *r, uint32_t whole, uint32_t bytes)
{
	r->written_bytes += bytes;
	r->largest_write = whole > r->largest_write ? whole : r->largest_write;
}

/* One whole DW. */
static inline bool is_target(uint32_t whole, uint32_t bytes)
{
	return whole == 4 && bytes == 4;
}

static inline void add_completion(struct ptt_stats *s, struct stats_requester *r, uint64_t completer, uint32_t whole,
				  uint32_t bytes, uint32_t status)
{
	struct stats_completer *c = &s->completer[row_of(&s->completers, completer)];

	r->read_bytes += bytes;
	c->bytes += bytes;
	c->status[status]++;
	c->largest = whole > c->largest ? whole : c->largest;
}

/* A completion that is not its read's last ends on a multiple of the read completion boundary, of 64 or 128
 * bytes (2.3.1.1). */
static inline void add_piece(struct ptt_stats *s, uint32_t byte_count, uint32_t bytes, uint32_t lower, uint32_t whole,
			     bool bcm)
{
	uint32_t end = ((lower & ~3u) + whole) % 128;
	bool last = byte_count <= bytes || bytes == 0 || bcm;
	uint32_t where = end == 0 ? END_128 : end == 64 ? END_64 : END_ODD;

	s->ends[last ? END_LAST : where]++;
}

#endif
