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
	return 1ull << 63 | (uint64_t)(device & 0x1ffff) << 46 | (uint64_t)segment << 30 | (uint64_t)requester << 14 |
	       (tag & 0x3fff);
}
static inline uint32_t match_key_device(uint64_t key)
{
	return key >> 46 & 0x1ffff;
}
static inline uint16_t match_key_segment(uint64_t key)
{
	return (uint16_t)(key >> 30);
}
static inline uint16_t match_key_requester(uint64_t key)
{
	return (uint16_t)(key >> 14);
}

/* What a completion tells its request. */
struct match_answer {
	uint64_t time;
	uint32_t bytes, length_dw; /* length 0: no data */
	uint16_t byte_count, completer;
	uint8_t status, lower_address;
	bool bcm;
};

/* What a completion says of its request. */
static inline struct match_answer match_answer_of(const struct tlp *t)
{
	return (struct match_answer){
		.time = t->time,
		.bytes = t->bytes,
		.length_dw = t->length_dw,
		.byte_count = t->byte_count,
		.completer = t->completer,
		.status = t->status,
		.lower_address = t->lower_address,
		.bcm = t->bcm,
	};
}

/* Opens a request: PTT_OPENED, PTT_REUSED or PTT_EVICTED. *where is what the caller fills before the next call. With
 * the latter two, *given_up is good until the next call. */
enum ptt_event match_request(struct ptt_match *m, uint64_t key, struct tlp **where, const struct ptt_pair **given_up);
/* Whether it is a request that is open and was seen once: the same packet at its other port. */
bool match_duplicate(struct ptt_match *m, uint64_t key, const struct tlp *t);
/* PTT_NONE, PTT_DUPLICATE, PTT_UNEXPECTED_CPL, PTT_AFTER_GAP, or PTT_DONE and *pair, good until the next call. */
enum ptt_event match_completion(struct ptt_match *m, uint64_t key, const struct match_answer *a,
				const struct ptt_pair **pair);

/* ---- the table, for a loop over many records (stats_pair.c) ----------------------------------------------- */

#define MATCH_NONE UINT32_MAX
#define MATCH_DEVICES 64u /* whose gaps are known apart */

struct match_slot {
	struct ptt_pair pair;
	uint64_t key;
	uint32_t received_dw;
	uint32_t left;         /* of a request that is, or may be, seen twice: Byte Count of the last completion */
	uint16_t seen;         /* of its place, while the table is built anew */
	uint16_t misfit;       /* not 0: the first completion's Lower Address is not that of the read */
	uint32_t older, newer; /* by age, in a ring; `newer` also links free slots */
};
/* What is known of duplicates of a key's request and completions. The rest of the bits is a number: of MATCH_BEHIND the
 * Byte Count of the last completion, and in MATCH_ODD whether the gap before it was of odd number; else how many
 * completions were seen once. */
enum {
	MATCH_TWICE = 1 << 14,  /* the request was seen twice, so its completions are */
	MATCH_MAYBE = 2 << 14,  /* the first one after a gap: its first record may have been before */
	MATCH_BEHIND = 3 << 14, /* no request since the gap, but a completion */
	MATCH_SEEN = 3 << 14,
	MATCH_ODD = 1 << 13,
	MATCH_COUNT = MATCH_ODD - 1
};
/* key 0: empty; slot MATCH_NONE: not open. gaps: of the device, when a request last opened it. seen: as above, or 0. */
struct match_place {
	uint64_t key;
	uint32_t slot;
	uint16_t gaps, seen;
};

struct ptt_match {
	struct match_slot *slot; /* `most` of them, and one from which the list by age starts and where it ends */
	struct match_place *place;
	uint32_t mask, shift;
	uint32_t keys;       /* places that are not empty */
	uint32_t most, used; /* slots */
	uint32_t fresh;      /* slots from here on were never used */
	uint32_t free;
	uint16_t gaps[MATCH_DEVICES]; /* so far, by device */
	bool twice[MATCH_DEVICES];
	bool doubt;     /* of the request that match_request() opened: match_is_doubtful() of the one before */
	uint64_t *once; /* by place: the time of the last completion that was first of two, or should be */
	struct ptt_pair given_up; /* whose slot was taken again at once */
};

/* Calls each() for what match_is_doubtful() says so of now, and since when it waits for a second record. */
void match_doubts(struct ptt_match *m, void (*each)(void *arg, uint64_t key, uint64_t since), void *arg);

/* The place of key, or the empty one where it would go. */
static inline struct match_place *match_find(struct ptt_match *m, uint64_t key)
{
	uint32_t group = (uint32_t)((key >> 2) * 0x9e3779b97f4a7c15ull >> m->shift) & ~3u;
	uint32_t i = group | (key & 3);

	while (m->place[i].key != key && m->place[i].key != 0)
		i = (i + 1) & m->mask;
	return &m->place[i];
}

static inline uint16_t *match_gaps(struct ptt_match *m, uint32_t device)
{
	return &m->gaps[device < MATCH_DEVICES ? device : MATCH_DEVICES - 1];
}

/* A slot for a request, the newest. There must be one: used is less than most. */
static inline uint32_t match_take(struct ptt_match *m)
{
	uint32_t i = m->free, last = m->slot[m->most].older;

	if (i == MATCH_NONE)
		i = m->fresh++;
	else
		m->free = m->slot[i].newer;
	m->slot[i].older = last;
	m->slot[i].newer = m->most;
	m->slot[last].newer = i;
	m->slot[m->most].older = i;
	m->used++;
	return i;
}

/* Of a request that is over: whether a read that went well got other data than it asked for. The completions are
 * another's then. */
static inline bool match_is_misfit(const struct match_slot *s)
{
	const struct tlp *q = &s->pair.request;

	/* hardly any, and the rest is not looked at then */
	if (__builtin_expect((s->misfit | (s->received_dw ^ q->length_dw)) == 0, 1))
		return false;
	return (q->type_index == TLP_ROW_MRd32 || q->type_index == TLP_ROW_MRd64) && s->pair.t.status == 0;
}

/* The slot of what match_completion() gave, whose fields are good as long as the pair is. */
static inline const struct match_slot *match_slot_of(const struct ptt_pair *pair)
{
	static_assert(offsetof(struct match_slot, pair) == 0, "a pair is at the beginning of its slot");
	return (const struct match_slot *)pair;
}

/* The bits of a completion's Lower Address and of an address that must be the same. */
static inline uint16_t match_misfit(uint32_t lower_address, uint64_t address)
{
	return (uint16_t)((lower_address ^ address) & 0x7c);
}

/* Frees a slot, whose place is the caller's to close. */
static inline void match_release(struct ptt_match *m, uint32_t i)
{
	struct match_slot *s = &m->slot[i];

	m->slot[s->older].newer = s->newer;
	m->slot[s->newer].older = s->older;
	s->newer = m->free;
	m->free = i;
	m->used--;
}

#endif
