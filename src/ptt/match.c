/*
 * match.c: requests meet completions.
 *
 * A non-posted request is open from its own packet until the completion that
 * ends it; while it is open nobody else may use its transaction ID (PCIe r5.0,
 * 2.2.6.2), so (device, segment, requester, tag) finds it.  Open requests lie
 * in slots of fixed number, and a table leads from key to slot.  Freed slots
 * are taken again last in, first out, so the few that are in use stay in
 * cache; and the slots in use form a list by age, so that when none is left the
 * oldest request is given up: the one least likely to be answered still.
 * Nothing is allocated after _open.
 *
 * Tags come again and again, so a key that was seen stays in the table without
 * a slot, and neither opening nor ending a request moves anything in it.  Only
 * when three quarters are keys is it built anew from the open requests, which
 * are a quarter at most.  Four neighbouring tags share a cache line.
 *
 * When a request ends (2.3.1.1, 2.3.2):
 *   - with a completion without data, or with any status but SC.  A root that
 *     tries again after CRS sends a new request, so CRS ends the old one;
 *   - with the completion whose Byte Count, which counts what is left and this
 *     packet too, is no more than what this packet carries;
 *   - when Byte Count was modified (BCM: only the first completion, by a PCI-X
 *     bridge, counts itself alone), with as many DWs as were asked for.
 * Never refused: a hostile trace can only make pairs that are wrong.
 */
#include <string.h>

#include "ptt/match_int.h"

#define MOST_DEFAULT 65536u
#define MOST_LIMIT (1u << 24)
#define NONE UINT32_MAX

struct slot {
	struct ptt_pair pair;
	uint64_t key;
	uint32_t received_dw;
	uint32_t older, newer;                /* by age; `newer` also links free slots */
};
struct place { uint64_t key; uint32_t slot; };       /* key 0: empty; slot NONE: not open */

struct ptt_match {
	struct slot *slot;
	struct place *place;
	uint32_t mask, shift;
	uint32_t keys;                        /* places that are not empty */
	uint32_t most, used;                  /* slots */
	uint32_t fresh;                       /* slots from here on were never used */
	uint32_t free, oldest, newest;
	struct ptt_pair given_up;             /* whose slot was taken again at once */
};

int ptt_match_open(struct ptt_match **ret, uint32_t most_outstanding)
{
	uint32_t most = most_outstanding ? most_outstanding : MOST_DEFAULT, bits = 4;
	struct ptt_match *m = most <= MOST_LIMIT ? mem_alloc(sizeof(*m)) : NULL;

	if (m == NULL)
		return most <= MOST_LIMIT ? -TALLY_ENOMEM : -TALLY_EINVAL;
	while (1u << bits < 4 * most)
		bits++;
	*m = (struct ptt_match){ .mask = (1u << bits) - 1, .shift = 64 - bits, .most = most,
				 .free = NONE, .oldest = NONE, .newest = NONE };
	m->slot = mem_alloc(most * sizeof(*m->slot));
	m->place = mem_alloc(((size_t)m->mask + 1) * sizeof(*m->place));
	if (m->slot == NULL || m->place == NULL) {
		ptt_match_close(m);
		return -TALLY_ENOMEM;
	}
	*ret = m;
	return 0;
}

void ptt_match_close(struct ptt_match *m)
{
	if (m == NULL)
		return;
	mem_free(m->slot);
	mem_free(m->place);
	mem_free(m);
}

/* ---- keys to slots ---------------------------------------------------------------------------- */

/* The place of key, or the empty one where it would go. */
static inline struct place *find(struct ptt_match *m, uint64_t key)
{
	uint32_t group = (uint32_t)((key >> 2) * 0x9e3779b97f4a7c15ull >> m->shift) & ~3u;
	uint32_t i = group | (key & 3);

	while (m->place[i].key != key && m->place[i].key != 0)
		i = (i + 1) & m->mask;
	return &m->place[i];
}

/* Forgets the keys that are not open. */
static void rebuild(struct ptt_match *m)
{
	memset(m->place, 0, ((size_t)m->mask + 1) * sizeof(*m->place));
	m->keys = m->used;
	for (uint32_t i = m->oldest; i != NONE; i = m->slot[i].newer)
		*find(m, m->slot[i].key) = (struct place){ m->slot[i].key, i };
}

/* The place of key, which is in the table from now on. */
static struct place *settle(struct ptt_match *m, uint64_t key)
{
	struct place *p = find(m, key);

	if (p->key != 0)
		return p;
	if (m->keys >= m->mask / 4 * 3) {
		rebuild(m);
		p = find(m, key);
	}
	m->keys++;
	*p = (struct place){ key, NONE };
	return p;
}

/* ---- slots -------------------------------------------------------------------------------------- */

static uint32_t take_slot(struct ptt_match *m)
{
	uint32_t i = m->free;

	if (i == NONE)
		i = m->fresh++;
	else
		m->free = m->slot[i].newer;
	m->slot[i].older = m->newest;
	m->slot[i].newer = NONE;
	*(m->newest == NONE ? &m->oldest : &m->slot[m->newest].newer) = i;
	m->newest = i;
	m->used++;
	return i;
}

/* Ends what is at p. Its pair stays in its slot until that is taken again. */
static const struct ptt_pair *end(struct ptt_match *m, struct place *p)
{
	struct slot *s = &m->slot[p->slot];

	*(s->older == NONE ? &m->oldest : &m->slot[s->older].newer) = s->newer;
	*(s->newer == NONE ? &m->newest : &m->slot[s->newer].older) = s->older;
	s->newer = m->free;
	m->free = p->slot;
	m->used--;
	p->slot = NONE;
	return &s->pair;
}

/* ---- packets ------------------------------------------------------------------------------------- */

enum ptt_event match_request(struct ptt_match *m, uint64_t key, struct tlp **where, const struct ptt_pair **given_up)
{
	struct place *p = settle(m, key), *victim = NULL;
	enum ptt_event what = PTT_OPENED;

	if (p->slot != NONE) {
		what = PTT_REUSED;
		victim = p;
	} else if (m->used == m->most) {
		what = PTT_CROWDED;
		victim = find(m, m->slot[m->oldest].key);
	}
	if (victim != NULL) {
		m->given_up = *end(m, victim);
		*given_up = &m->given_up;
	}
	p->slot = take_slot(m);
	struct slot *s = &m->slot[p->slot];
	s->key = key;
	s->received_dw = 0;
	s->pair.t = (struct tlp_transaction){ 0 };
	s->pair.completer = 0;
	*where = &s->pair.request;
	return what;
}

static bool is_last(const struct slot *s, const struct match_answer *a)
{
	if (a->length_dw == 0 || a->status != 0)
		return true;
	if (a->bcm)
		return s->received_dw >= s->pair.request.length_dw;
	return a->byte_count <= 4 * a->length_dw - (a->lower_address & 3u);
}

enum ptt_event match_completion(struct ptt_match *m, uint64_t key, const struct match_answer *a,
				const struct ptt_pair **pair)
{
	struct place *p = find(m, key);

	if (p->key == 0 || p->slot == NONE)
		return PTT_ORPHAN;
	struct slot *s = &m->slot[p->slot];
	struct tlp_transaction *x = &s->pair.t;
	x->latency = a->time - s->pair.request.time;
	/* Which completion is the first can't be foreseen: 0 | latency, without a branch. */
	x->latency_first |= x->latency & (0 - (uint64_t)(x->completions == 0));
	x->completions++;
	x->bytes += a->bytes;
	x->status = a->status;                /* one that is not SC is the last */
	s->received_dw += a->length_dw;
	s->pair.completer = a->completer;
	if (!is_last(s, a))
		return PTT_NONE;
	*pair = end(m, p);
	return PTT_DONE;
}

enum ptt_event ptt_match_next(struct ptt_match *m, const struct tlp *t, struct ptt_pair *pair)
{
	uint64_t key = match_key(t->device, t->segment, t->requester, t->tag);
	const struct ptt_pair *p = NULL;
	enum ptt_event what = PTT_NONE;

	if (t->class == TLP_NP) {
		struct tlp *where;
		what = match_request(m, key, &where, &p);
		*where = *t;
	} else if (t->class == TLP_CPL) {
		const struct match_answer a = {
			.time = t->time, .bytes = t->bytes, .length_dw = t->length_dw,
			.byte_count = t->byte_count, .completer = t->completer, .status = t->status,
			.lower_address = t->lower_address, .bcm = t->bcm,
		};
		what = match_completion(m, key, &a, &p);
	}
	if (p != NULL)
		*pair = *p;
	return what;
}

uint32_t ptt_match_outstanding(const struct ptt_match *m)
{
	return m->used;
}

void ptt_match_rest(struct ptt_match *m, void (*each)(void *arg, const struct ptt_pair *p), void *arg)
{
	for (uint32_t i = m->oldest; i != NONE; i = m->slot[i].newer)
		each(arg, &m->slot[i].pair);
}
