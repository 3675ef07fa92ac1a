/*
 * match.c: requests are matched with completions.
 *
 * A non-posted request is open from its own packet until the completion that ends it. While it is open nobody else
 * may use its transaction ID (PCIe r5.0, 2.2.6.2), so (device, segment, requester, tag) identifies it. Open requests
 * are in a fixed number of slots, and a table leads from key to slot. Free slots are reused last in, first out, so
 * the few in use stay in cache. The slots in use form a list by age; if none is free, the oldest request is evicted,
 * since it is the least likely to be answered. Nothing is allocated after _open.
 *
 * Tags are reused, so a key that was seen stays in the table without a slot, and neither opening nor ending a request
 * moves anything in it. The table is rebuilt from the open requests, at most a quarter of it, only when three
 * quarters of it are keys. Four neighbouring tags share a cache line.
 *
 * A request ends (2.3.1.1, 2.3.2)
 *   - with a completion without data, or with any status but SC. A root that retries after CRS sends a new request,
 *     so CRS ends the old one;
 *   - with the completion whose Byte Count, which includes this packet, is no more than what this packet carries;
 *   - if Byte Count was modified (BCM: only the first completion, by a PCI-X bridge, counts itself alone), with as many
 *     DWs as its whole answer has.
 *
 * Gaps. Where records of a device are missing (ptt_match_gap) all its open requests end: their completions may be
 * among the missing records, and their tags in use again. A completion after the gap may answer a request in or
 * before it, as long as no request after it used the same key. So each place keeps the number of gaps at the time
 * when it was last opened.
 *
 * Duplicates. A trace of 4DW in direction 2 holds a packet between two devices twice: as it comes in at one port, and
 * as it goes out at the other, later and equal in all but Time. While a request is open nobody else may use its
 * transaction ID, so an equal request is its duplicate (a third one is a reused tag). For its completions Byte Count
 * distinguishes the first record, in which it falls, from the second, which repeats an earlier value. Latency is that
 * of first records, as in 8DW, which has no others. Duplicates may come after the request has ended; the place keeps
 * their number. Each stretch between gaps stands alone: what is seen in it for the first time counts, and may be seen
 * in it a second time. So the first request of a tag after a gap may already be a duplicate, and those of its
 * completions that repeat a Byte Count are duplicates.
 *
 * Doubts. A device that asks again, with the same tag, for what it got no answer to, looks like such a packet, too. But
 * then the completion comes once. So a request that was seen twice, and whose completions were not, may have been two.
 *
 * Nothing is refused: a hostile trace can only make wrong pairs.
 */
#include <string.h>

#include "ptt/match_int.h"

#define MOST_DEFAULT 65536u
#define MOST_LIMIT (1u << 24)

int ptt_match_open(struct ptt_match **ret, uint32_t most_outstanding)
{
	uint32_t most = most_outstanding ? most_outstanding : MOST_DEFAULT, bits = 4;
	struct ptt_match *m = most <= MOST_LIMIT ? mem_alloc(sizeof(*m)) : NULL;

	if (m == NULL)
		return most <= MOST_LIMIT ? -TALLY_ENOMEM : -TALLY_EINVAL;
	while (1u << bits < 4 * most)
		bits++;
	*m = (struct ptt_match){ .mask = (1u << bits) - 1, .shift = 64 - bits, .most = most, .free = MATCH_NONE };
	m->slot = mem_alloc(((size_t)most + 1) * sizeof(*m->slot));
	m->place = mem_alloc(((size_t)m->mask + 1) * sizeof(*m->place));
	m->once = mem_alloc(((size_t)m->mask + 1) * sizeof(*m->once));
	if (m->slot == NULL || m->place == NULL || m->once == NULL) {
		ptt_match_close(m);
		return -TALLY_ENOMEM;
	}
	m->slot[most].older = m->slot[most].newer = most;
	*ret = m;
	return 0;
}

void ptt_match_close(struct ptt_match *m)
{
	if (m == NULL)
		return;
	mem_free(m->slot);
	mem_free(m->place);
	mem_free(m->once);
	mem_free(m);
}

/* ---- keys to slots ---------------------------------------------------------------------------- */

/* Forgets the keys that are not open. */
static void match_rebuild_table(struct ptt_match *m)
{
	for (uint32_t i = m->slot[m->most].newer; i != m->most; i = m->slot[i].newer)
		m->slot[i].seen = match_find(m, m->slot[i].key)->seen;
	memset(m->place, 0, ((size_t)m->mask + 1) * sizeof(*m->place));
	m->keys = m->used;
	for (uint32_t i = m->slot[m->most].newer; i != m->most; i = m->slot[i].newer)
		*match_find(m, m->slot[i].key) =
			(struct match_place){ m->slot[i].key, i, *match_gaps(m, m->slot[i].pair.request.device),
					      m->slot[i].seen };
}

/* The place of key, which is in the table from now on. */
static struct match_place *match_settle_key(struct ptt_match *m, uint64_t key)
{
	struct match_place *p = match_find(m, key);

	if (p->key != 0)
		return p;
	if (m->keys >= m->mask / 4 * 3) {
		match_rebuild_table(m);
		p = match_find(m, key);
	}
	m->keys++;
	*p = (struct match_place){ key, MATCH_NONE, 0, 0 };
	return p;
}

/* ---- slots -------------------------------------------------------------------------------------- */

/* Ends what is at p. Its pair stays in its slot until that is taken again. */
static const struct ptt_pair *match_end(struct ptt_match *m, struct match_place *p)
{
	uint32_t i = p->slot;

	p->slot = MATCH_NONE;
	match_release(m, i);
	return &m->slot[i].pair;
}

/* ---- packets ------------------------------------------------------------------------------------- */

static bool is_twice(const struct ptt_match *m, uint64_t key)
{
	uint32_t device = match_key_device(key);

	return m->twice[device < MATCH_DEVICES ? device : MATCH_DEVICES - 1];
}

static bool match_is_doubtful(struct ptt_match *m, const struct match_place *p)
{
	return (p->seen & MATCH_SEEN) == MATCH_TWICE && p->gaps == *match_gaps(m, match_key_device(p->key)) &&
	       (p->seen & MATCH_COUNT || (p->slot != MATCH_NONE && m->slot[p->slot].pair.t.completions == 0));
}

void match_doubts(struct ptt_match *m, void (*each)(void *arg, uint64_t key, uint64_t since), void *arg)
{
	for (uint32_t i = 0; i <= m->mask; i++) {
		const struct match_place *p = &m->place[i];
		if (p->key != 0 && match_is_doubtful(m, p))
			each(arg, p->key, p->slot != MATCH_NONE ? m->slot[p->slot].pair.request.time : m->once[i]);
	}
}

enum ptt_event match_request(struct ptt_match *m, uint64_t key, struct tlp **where, const struct ptt_pair **given_up)
{
	struct match_place *p = match_settle_key(m, key), *victim = NULL;
	enum ptt_event what = PTT_OPENED;

	m->doubt = match_is_doubtful(m, p);
	if (p->slot != MATCH_NONE) {
		what = PTT_REUSED;
		victim = p;
	} else if (m->used == m->most) {
		what = PTT_EVICTED;
		victim = match_find(m, m->slot[m->slot[m->most].newer].key);
	}
	if (victim != NULL) {
		m->given_up = *match_end(m, victim);
		*given_up = &m->given_up;
	}
	uint16_t gaps = *match_gaps(m, match_key_device(key));
	p->slot = match_take(m);
	p->seen = p->gaps != gaps && is_twice(m, key) ? MATCH_MAYBE : 0;
	p->gaps = gaps;
	struct match_slot *s = &m->slot[p->slot];
	s->key = key;
	s->received_dw = 0;
	s->misfit = 0;
	s->left = UINT32_MAX;
	s->pair.t = (struct tlp_transaction){ 0 };
	s->pair.completer = 0;
	*where = &s->pair.request;
	return what;
}

/* DWs of a whole answer. A compare-and-swap sends two operands, and gets one back (2.2.7). */
static uint32_t answer_dws(const struct tlp *request)
{
	bool two = request->type_index == TLP_ROW_CAS32 || request->type_index == TLP_ROW_CAS64;

	return request->length_dw / (two ? 2 : 1);
}

void ptt_match_twice(struct ptt_match *m, uint32_t device, bool twice)
{
	m->twice[device < MATCH_DEVICES ? device : MATCH_DEVICES - 1] = twice;
}

bool match_duplicate(struct ptt_match *m, uint64_t key, const struct tlp *t)
{
	struct match_place *p = match_find(m, key);

	if (!is_twice(m, key) || p->key == 0 || p->slot == MATCH_NONE || (p->seen & MATCH_SEEN) == MATCH_TWICE)
		return false;
	struct match_slot *s = &m->slot[p->slot];
	const struct tlp *q = &s->pair.request;
	if (s->pair.t.completions != 0 || q->type_index != t->type_index || q->length_dw != t->length_dw ||
	    q->address != t->address || q->reg != t->reg)
		return false;
	p->seen = MATCH_TWICE;
	s->left = UINT32_MAX;
	return true;
}

/* A completion whose request lies in or before the last gap. Where packets come twice, one whose Byte Count has not
 * fallen since the one before it is that one again. */
static enum ptt_event match_behind_gap(struct ptt_match *m, uint64_t key, uint16_t gaps, const struct match_answer *a)
{
	uint16_t mark = MATCH_BEHIND | (gaps & 1 ? MATCH_ODD : 0);

	if (!is_twice(m, key))
		return PTT_AFTER_GAP;
	struct match_place *p = match_settle_key(m, key);
	if ((p->seen & ~MATCH_COUNT) == mark && a->byte_count >= (p->seen & MATCH_COUNT))
		return PTT_DUPLICATE;
	p->seen = (uint16_t)(mark | (a->byte_count & MATCH_COUNT));
	return PTT_AFTER_GAP;
}

static bool is_last(const struct match_slot *s, const struct match_answer *a)
{
	if (a->length_dw == 0 || a->status != 0)
		return true;
	if (a->bcm)
		return s->received_dw >= answer_dws(&s->pair.request);
	return a->byte_count <= 4 * a->length_dw - (a->lower_address & 3u);
}

enum ptt_event match_completion(struct ptt_match *m, uint64_t key, const struct match_answer *a,
				const struct ptt_pair **pair)
{
	struct match_place *p = match_find(m, key);

	if (p->key == 0 || p->slot == MATCH_NONE) {
		uint16_t gaps = *match_gaps(m, match_key_device(key));

		if (gaps != 0 && (p->key == 0 || p->gaps != gaps))
			return match_behind_gap(m, key, gaps, a);
		if (p->key == 0 || (p->seen & MATCH_COUNT) == 0)
			return PTT_UNEXPECTED_CPL;
		p->seen--;
		return PTT_DUPLICATE;
	}
	struct match_slot *s = &m->slot[p->slot];
	if (p->seen != 0 && a->byte_count >= s->left) {
		p->seen -= (p->seen & MATCH_COUNT) != 0;
		return PTT_DUPLICATE;
	}
	if (p->seen != 0) {
		p->seen++;
		m->once[p - m->place] = a->time;
		s->left = a->byte_count;
	}
	struct tlp_transaction *x = &s->pair.t;
	x->latency = a->time - s->pair.request.time;
	/* Which completion is the first can't be foreseen: 0 | latency, without a branch. */
	x->latency_first |= x->latency & (0 - (uint64_t)(x->completions == 0));
	if (x->completions == 0)
		s->misfit = match_misfit(a->lower_address, s->pair.request.address);
	x->completions++;
	x->bytes += a->bytes;
	x->status = a->status; /* one that is not SC is the last */
	s->received_dw += a->length_dw;
	s->pair.completer = a->completer;
	if (!is_last(s, a))
		return PTT_NONE;
	*pair = match_end(m, p);
	return PTT_DONE;
}

enum ptt_event ptt_match_next(struct ptt_match *m, const struct tlp *t, struct ptt_pair *pair)
{
	uint64_t key = match_key(t->device, t->segment, t->requester, t->tag);
	const struct ptt_pair *p = NULL;
	enum ptt_event what = PTT_NONE;

	if (t->class == TLP_NP) {
		struct tlp *where;
		if (match_duplicate(m, key, t))
			return PTT_DUPLICATE;
		what = match_request(m, key, &where, &p);
		*where = *t;
	} else if (t->class == TLP_CPL) {
		const struct match_answer a = match_answer_of(t);
		what = match_completion(m, key, &a, &p);
	}
	if (p != NULL)
		*pair = *p;
	return what;
}

uint32_t ptt_match_gap(struct ptt_match *m, uint32_t device, void (*each)(void *arg, const struct ptt_pair *p),
		       void *arg)
{
	uint32_t n = 0, next;

	++*match_gaps(m, device);
	for (uint32_t i = m->slot[m->most].newer; i != m->most; i = next) {
		next = m->slot[i].newer;
		if (m->slot[i].pair.request.device != device)
			continue;
		if (each != NULL)
			each(arg, &m->slot[i].pair);
		match_end(m, match_find(m, m->slot[i].key));
		n++;
	}
	return n;
}

void ptt_match_rest(struct ptt_match *m, void (*each)(void *arg, const struct ptt_pair *p), void *arg)
{
	for (uint32_t i = m->slot[m->most].newer; i != m->most; i = m->slot[i].newer)
		each(arg, &m->slot[i].pair);
}
