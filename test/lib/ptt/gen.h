/*
 * gen.h: traffic that looks real, and the truth about it.
 *
 * A root and a few endpoints of one PCIe core talk: DMA reads that complete in
 * pieces, writes, MSIs, atomics, configuration and IO requests, messages, and
 * faults of every kind that a report knows.  The same seed gives the same
 * bytes on every machine.  Everything is counted where it is decided, not where
 * it is encoded, so the truth shares no code with what it is held against.
 *
 * It is the traffic of the modelled device, and what tests and benchmarks
 * measure with; so it is a part of the room and not of its tests.  Bytes in
 * memory only; one generator is one device.
 */
#ifndef TALLY_PTT_GEN_H
#define TALLY_PTT_GEN_H

#include "ptt/stats.h"

#define PTT_GEN_REQUESTERS 64
struct ptt_gen_opts {
	uint64_t seed;
	uint32_t requesters;     /* the root among them; 0: 8; at most PTT_GEN_REQUESTERS */
	uint32_t tags;           /* of each requester; 0: 64; at most 1024, with tag14 16384 */
	uint32_t mps, mrrs, rcb; /* bytes; 0: 256, 512, 64 */
	uint32_t pages;          /* 4 KiB pages that each requester uses; 0: 32 */
	uint32_t faults;         /* of each kind, per million requests */
	uint32_t first_time;     /* the first Time; near 2^32 it soon wraps */
	uint8_t format;          /* enum ptt_format; 0: PTT_8DW */
	uint8_t time;            /* enum ptt_time; AUTO: absolute */
	bool tag14;              /* tags of 14 bits and segments, in the newer layout */
	bool no_pauses;          /* 8DW too has no gap of 2048 ticks or more */
};
struct ptt_gen;

struct ptt_gen_requester {
	uint16_t id, segment;
	uint64_t base; /* its pages are from here */
	uint64_t kind[PTT_KINDS];
	uint64_t written_bytes, asked_bytes, read_bytes;
	uint32_t largest_write, largest_read, outstanding, peak;
	uint64_t answered, given_up, failed; /* given_up: its tag was used again. Unanswered: outstanding */
	uint64_t msi_address, msis;
	struct ptt_hist latency;
};
struct ptt_gen_page {
	uint64_t tlps, read_bytes, written_bytes;
};
struct ptt_gen_completer {
	uint16_t id;
	uint64_t completions, bytes, status[8];
};
/* The truth about what was filled so far. */
struct ptt_gen_truth {
	uint64_t records, now; /* now: time of the last record, the first being 0 */
	struct {
		uint64_t tlps, dws, bytes, relaxed;
	} type[64]; /* by row of tlp_type.def */
	uint64_t size[PTT_SIZES][1025];
	uint64_t prefixes, digests;
	uint64_t message_code[256];
	uint64_t fault[PTT_FAULTS]; /* UNANSWERED: of those outstanding now */
	uint64_t requests, answered, failed;
	uint64_t outstanding, peak;
	uint64_t outstanding_ticks, level_since; /* the sum over time up to level_since */
	uint64_t pieces[17], split_128, split_64;
	struct ptt_hist latency, latency_first;
	uint32_t nrequesters, npages, ncompleters;
	struct ptt_gen_requester *requester;
	struct ptt_gen_page *page; /* npages of each requester */
	struct ptt_gen_completer completer[PTT_GEN_REQUESTERS];
};

/* -TALLY_EINVAL: an option beyond its bounds. */
int ptt_gen_open(struct ptt_gen **ret, const struct ptt_gen_opts *o);
void ptt_gen_close(struct ptt_gen *g);
/* The next records, as many as there is room for. Returns their bytes; there is no end. */
size_t ptt_gen_fill(struct ptt_gen *g, uint8_t *p, size_t n);
const struct ptt_gen_truth *ptt_gen_truth(const struct ptt_gen *g);

#endif
