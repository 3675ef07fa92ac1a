/*
 * stats_pair.c: the requests of a block meet their completions.
 *
 * match.c does that for one packet; here it is done for all of a block that are as usual: reads of memory whose tag is
 * known and free, and completions of what is open.  A run of these goes in two passes.  The first one, in the order of
 * the file, opens and closes, and follows the level of outstanding requests, all in registers.  Which completion is the
 * last nobody can foresee: so it closes without a branch, and what is over is put on a list.  The second pass counts
 * the list, and frees its slots. Everything else ends a run and goes the long way: decoded in full, to match.c and
 * stats_match.c.
 */
#include "ptt/match_int.h"
#include "ptt/stats_chunk_int.h"

/* What a run found. */
struct run {
	uint32_t n; /* requests that are over */
	uint32_t slot[BLOCK];
	struct stats_requester *requester[BLOCK];
};

/* The T9 and T8 of header DW0, above the rest of the tag. */
FLAT uint32_t raw_tag_above(uint32_t dw0, unsigned dws)
{
	return dws == PTT_8DW ? (dw0 >> 14 & 0x200) | (dw0 >> 11 & 0x100) : dw0 >> 15 & 0x300;
}

/* Not 0: a packet that is unusual, or has one of those bits set. */
FLAT uint32_t raw_rare(uint32_t dw0, unsigned dws)
{
	return raw_unusual(dw0, dws) | (dw0 & (dws == PTT_8DW ? 1u << 23 | 1u << 19 : 3u << 23));
}

/* ---- what is over --------------------------------------------------------------------------------------- */

/* A misfit that the run from the k-th of b->matched on ended: which completion it was is looked for only here. */
static void run_count_misfit(const struct pass *a, const struct block *b, uint32_t k, const struct ptt_pair *p)
{
	const struct tlp *q = &p->request;
	struct tlp t = *q;

	for (bool found = a->s->too_many_signs; !found && k < b->matched.n; k++) {
		decode_at(a, b, b->matched.p[k], &t);
		found = t.class == TLP_CPL && t.requester == q->requester && t.tag == q->tag &&
			t.time == q->time + p->t.latency;
	}
	count_misfit(a->s, a->d, q, t.offset);
}

/* As count_done() does, but for the level. Of the run from the k-th of b->matched on. */
static void run_done(const struct pass *a, const struct block *b, uint32_t from, const struct run *run)
{
	struct ptt_stats *s = a->s;
	struct ptt_bin *bin = a->d->bin;
	struct stats_completer *c = NULL;
	uint32_t id = 0;

	for (uint32_t k = 0; hides_answers(a->d) && k < run->n; k++) {
		const struct ptt_pair *p = &s->match->slot[run->slot[k]].pair;
		level_answered(s, a->d, p->request.time, p->request.time + p->t.latency);
	}
	for (uint32_t k = 0; k < run->n; k++) {
		const struct ptt_pair *p = &s->match->slot[run->slot[k]].pair;
		if (RARE(c == NULL || p->completer != id)) { /* hardly ever another one */
			id = p->completer;
			c = completer_at(s, completer_key(a->device, p->completer));
		}
		count_latency(s, bin, run->requester[k], c, p);
		if (RARE(match_is_misfit(&s->match->slot[run->slot[k]])))
			run_count_misfit(a, b, from, p);
		match_release(s->match, run->slot[k]);
	}
	s->answered += run->n;
	bin->done += run->n;
}

/* ---- opening and closing -------------------------------------------------------------------------------- */

/* Of the request all that stats_match.c and stats_fault.c ask for, and nothing else: to clear all of it took as long as
 * the rest. */
FLAT void run_open(const struct pass *a, struct match_place *e, const uint8_t *p, uint64_t time, uint32_t id,
		   uint32_t tag, const struct stats_head *h, unsigned dws)
{
	struct ptt_match *m = a->s->match;
	uint32_t i = match_take(m);
	struct match_slot *slot = &m->slot[i];
	struct tlp *t = &slot->pair.request;

	e->slot = i;
	e->seen = 0;
	slot->key = e->key;
	slot->received_dw = slot->left = 0;
	slot->misfit = 0;
	slot->pair.t = (struct tlp_transaction){ 0 };
	slot->pair.completer = 0;
	t->time = time;
	t->offset = a->offset + (size_t)(p - a->p);
	t->address = raw_address(p, dws, h->shift);
	t->length_dw = raw_length(raw_head(p, dws), dws);
	t->tag = tag;
	t->device = a->device;
	t->requester = (uint16_t)(id >> 16);
	t->completer = t->segment = t->reg = 0;
	t->type_index = (uint8_t)(TLP_ROW_MRd32 + h->sort);
	t->class = TLP_NP;
}
static_assert(SORT_MRD32 == 0 && SORT_MRD64 == 1 && TLP_ROW_MRd64 == TLP_ROW_MRd32 + 1,
	      "a sum, as a choice is a branch");

/* A completion with data that went well. Returns all ones when it is its read's last, else 0. */
FLAT uint32_t run_answer(struct match_slot *slot, const uint8_t *p, uint64_t time, unsigned dws)
{
	uint32_t dw1 = raw_dw(p, dws, 1), length = raw_length(raw_head(p, dws), dws);
	uint32_t lower = raw_dw(p, dws, 2), byte_count = ((dw1 - 1) & 0xfff) + 1, carried = 4 * length - (lower & 3);
	struct tlp_transaction *x = &slot->pair.t;
	/* Which one is the first can't be foreseen either: all ones of that, else 0. */
	const int64_t first = ((int64_t)x->completions - 1) >> 63;

	x->latency = time - slot->pair.request.time;
	x->latency_first |= x->latency & (uint64_t)first;
	slot->misfit |= match_misfit(lower, slot->pair.request.address) & (uint16_t)first;
	x->completions++;
	x->bytes += carried < byte_count ? carried : byte_count;
	slot->received_dw += length;
	slot->pair.completer = (uint16_t)(dw1 >> 16);
	return 0 - (uint32_t)(byte_count <= carried);
}

/* Of a request that is seen twice, as match_completion() does: whether it is no duplicate. */
FLAT bool run_is_first(struct ptt_match *m, struct match_place *e, const uint8_t *p, uint64_t time, unsigned dws)
{
	const uint32_t byte_count = ((raw_dw(p, dws, 1) - 1) & 0xfff) + 1;
	struct match_slot *slot = &m->slot[e->slot];

	if (byte_count >= slot->left)
		return false;
	e->seen++;
	m->once[e - m->place] = time;
	slot->left = byte_count;
	return true;
}

/* From the k-th of b->matched on. Returns where it ended: at the end, or at one that is not as usual. The level over
 * time is summed up at its changes: one by 1 at a time t adds what is left of the run from t on, which is its end less
 * t. */
FLAT uint32_t run_match(const struct pass *a, const struct block *b, uint32_t k, struct run *run, unsigned dws)
{
	struct ptt_stats *const s = a->s;
	struct ptt_match *const m = s->match;
	struct stats_device *const d = a->d;
	const struct stats_head *const head = a->head;
	const uint8_t *const *const begin = b->matched.p + k, *const *const end = b->matched.p + b->matched.n;
	const uint8_t *const *list = begin;
	const uint64_t base = match_key(a->device, 0, 0, 0);
	uint64_t level = d->level, most = 0;
	uint64_t changed = 0; /* times of what is over, less those of what was opened */
	uint32_t n = 0;

	for (; list < end; list++) {
		const uint8_t *p = *list;
		uint32_t dw0 = raw_head(p, dws);
		const struct stats_head *h = &head[raw_code(dw0, dws)];
		uint64_t time = b->time[(size_t)(p - b->p) / (4 * dws)];
		uint32_t id = raw_id(p, dws, h->id_at), tag = id >> 8 & 0xff, bank = s->near[id >> 16];
		if (RARE(raw_rare(dw0, dws))) {
			if (raw_unusual(dw0, dws))
				break;
			tag |= raw_tag_above(dw0, dws);
		}
		if (RARE(h->sort == SORT_OTHER || bank == 0))
			break;
		struct stats_requester *r = s->bank[bank].requester;
		if (RARE(!r->heard))
			break;
		struct match_place *e = match_find(m, base | (uint64_t)(id >> 16) << 14 | tag);
		if (RARE(e->key == 0))
			break;
		if (h->sort == SORT_CPLD) {
			if (RARE(e->slot == MATCH_NONE || raw_dw(p, dws, 1) & 0xf000))
				break;
			if (e->seen != 0 && !run_is_first(m, e, p, time, dws))
				break;
			run->slot[n] = e->slot;
			run->requester[n] = r;
			const uint32_t over = run_answer(&m->slot[e->slot], p, time, dws);
			e->slot |= over; /* MATCH_NONE */
			n -= over;
			r->outstanding += over;
			level += (uint64_t)(int64_t)(int32_t)over;
			changed += time & (uint64_t)(int64_t)(int32_t)over;
		} else {
			if (RARE(e->slot != MATCH_NONE || m->used == m->most ||
				 (e->gaps ^ a->gaps) | (e->seen & MATCH_COUNT)))
				break;
			run_open(a, e, p, time, id, tag, h, dws);
			level++;
			changed -= time;
			most = level > most ? level : most;
			if (RARE((int32_t)(++r->outstanding - r->peak) > 0))
				r->peak = r->outstanding;
		}
	}
	const uint64_t opened = level - d->level + n;
	s->requests += opened;
	run->n = n;
	if (!hides_answers(d) && list != begin) {
		const uint64_t now = b->time[(size_t)(list[-1] - b->p) / (4 * dws)];
		*d->bin_ticks += level * now - d->level * d->level_since + changed;
		d->level = level;
		d->level_since = now;
		d->bin->opened += opened;
		d->peak = most > d->peak ? most : d->peak;
		if (most > d->bin->outstanding_peak)
			d->bin->outstanding_peak = (uint32_t)most;
	}
	return (uint32_t)(list - b->matched.p);
}

/* ---- the long way --------------------------------------------------------------------------------------- */

static void match_in_full(const struct pass *a, const struct block *b, const uint8_t *p)
{
	struct tlp t;

	decode_at(a, b, p, &t);
	struct stats_requester *r = requester_at(a->s, requester_key(t.device, t.segment, t.requester));
	bool second;
	const struct ptt_pair *pair = count_matched(a->s, a->d, &t, r, &second);
	if ((t.ep | t.status) && !second)
		fault_rare(a->s, &t, pair);
}

FLAT void block_match(const struct pass *a, const struct block *b, unsigned dws)
{
	struct run run;

	for (uint32_t k = 0; k < b->matched.n; k++) {
		level_add(a->s, a->d, time_of(a, b, b->matched.p[k]), 0);
		const uint32_t from = k;

		k = run_match(a, b, from, &run, dws);
		run_done(a, b, from, &run);
		if (k < b->matched.n)
			match_in_full(a, b, b->matched.p[k]);
	}
}

void block_match_8dw(const struct pass *a, const struct block *b)
{
	block_match(a, b, PTT_8DW);
}
void block_match_4dw(const struct pass *a, const struct block *b)
{
	block_match(a, b, PTT_4DW);
}
