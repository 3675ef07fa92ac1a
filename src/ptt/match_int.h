/*
 * match_int.h: matching for those of this room who do it for every record and
 * have only decoded what it needs: match.c.
 */
#ifndef TALLY_PTT_MATCH_INT_H
#define TALLY_PTT_MATCH_INT_H

#include "ptt/ptt.h"

/* 17 bits of device, 14 of tag: what does not fit is far beyond what a reader yields. The top bit keeps it from 0. */
static inline uint64_t match_key(uint32_t device, uint16_t segment, uint16_t requester, uint32_t tag)
{
	return 1ull << 63 | (uint64_t)(device & 0x1ffff) << 46 | (uint64_t)segment << 30 |
	       (uint64_t)requester << 14 | (tag & 0x3fff);
}

/* What a completion tells its request. */
struct match_answer {
	uint64_t time;
	uint32_t bytes, length_dw;            /* length 0: no data */
	uint16_t byte_count, completer;
	uint8_t status, lower_address;
	bool bcm;
};

/* Opens a request: PTT_OPENED, PTT_REUSED or PTT_CROWDED. *where is what the caller fills before the next call. With the
 * latter two, *given_up is good until the next call. */
enum ptt_event match_request(struct ptt_match *m, uint64_t key, struct tlp **where, const struct ptt_pair **given_up);
/* PTT_NONE, PTT_ORPHAN, or PTT_DONE and *pair, good until the next call. */
enum ptt_event match_completion(struct ptt_match *m, uint64_t key, const struct match_answer *a,
				const struct ptt_pair **pair);

#endif
