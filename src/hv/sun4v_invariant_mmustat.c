/*
 * sun4v_invariant_mmustat.c: what MMU statistics obey.
 *
 * Hits are TLB misses that a TSB answered, and a strand's PIC counts all TLB misses, so hits are bounded by them; by
 * how much is the guest's handler's to say, or the model's.  A hit takes time, and a strand has no more of it than
 * there was.
 *
 * Buffers and counters are read twice at the beginning and twice at the end, as in sun4v_invariant.c: the hypervisor
 * goes on adding meanwhile.  Hits and ticks of a slot are two words, so one may be a hit behind the other.  A saved
 * buffer is one reading, of what was collected since it was zero.
 */
#include "hv/sun4v_invariant_int.h"

#define SECOND UINT64_C(1000000000)
#define MODEL_HZ UINT64_C(1200000000)
enum { ITLB_MISS = 0xb04, DTLB_MISS = 0xb08, WORDS = MMUSTAT_BYTES / 8 };
enum { FIRST, FIRST_AGAIN, LAST, LAST_AGAIN }; /* readings */

/* ---- readings -------------------------------------------------------------------------------------------- */

static void mmu_decode(struct mmu_reading *to, const uint8_t *bytes)
{
	for (uint32_t i = 0; i < WORDS; i++)
		to->word[i] = be64_get(bytes + i * 8);
}

static int mmu_read(struct sun4v_client *c, uint32_t strand, struct mmu_reading *to, struct err *e)
{
	struct mmustat unused;
	int rc = mmustat_read(c, strand, &unused, e);

	if (rc == 0)
		mmu_decode(to, c->transport->memory + (size_t)strand * MMUSTAT_BYTES);
	return rc;
}

static int mmu_read_all(struct sun4v_watch *w, struct sun4v_client *c, uint32_t when, struct err *e)
{
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && i < w->strands; i++)
		if (w->mmu[i].has)
			rc = mmu_read(c, i, &w->mmu[i].at[when], e);
	return rc;
}

/* Strands that are another guest's, or offline, have no part in it. */
static int mmu_start(struct sun4v_watch *w, struct sun4v_client *c, struct watched_all *ps, struct err *e)
{
	const struct hv_transport *l = c->transport;
	int rc = 0;

	w->all_strands = true;
	for (uint32_t i = 0; rc == 0 && i < w->strands; i++) {
		struct mmu_strand *s = &w->mmu[i];
		struct mmu_reading probe;
		struct err why = { 0 };

		s->has = sun4v_client_has(c, i) &&
			 (l->op->mmustat ? mmu_read(c, i, &probe, &why) : mmustat_start(c, i, &why)) == 0;
		w->all_strands = w->all_strands && s->has;
		for (uint32_t data = 0; rc == 0 && s->has && l->op->asr && data < 2; data++)
			rc = watched_add(ps, c,
					 &(struct vf_counter_ask){ .vcpu = i,
								   .event = data ? DTLB_MISS : ITLB_MISS,
								   .user = true,
								   .system = true },
					 &s->misses[data], e);
	}
	return rc;
}

static uint64_t invariant_unanswered(const struct hv_transport *l)
{
	return l->op->tsb_missed ? l->op->tsb_missed(l->arg) : 0;
}

static int mmu_take(struct sun4v_watch *w, struct sun4v_client *c, struct watched_all *ps,
		    const struct sun4v_watch_opts *o, struct err *e)
{
	const uint64_t before = o->now(o->arg);
	int rc = mmu_start(w, c, ps, e);

	if (rc == 0)
		rc = mmu_read_all(w, c, FIRST, e);
	if (rc == 0)
		rc = watched_begin(ps, e);
	if (rc == 0)
		rc = mmu_read_all(w, c, FIRST_AGAIN, e);
	w->unanswered.lo = invariant_unanswered(c->transport);
	if (rc == 0)
		(void)o->pass(o->arg, o->ns ? o->ns : SECOND);
	if (rc == 0)
		rc = mmu_read_all(w, c, LAST, e);
	if (rc == 0)
		rc = watched_end(ps, e);
	if (rc == 0)
		rc = mmu_read_all(w, c, LAST_AGAIN, e);
	w->unanswered.has = c->transport->op->tsb_missed != NULL;
	w->unanswered.lo = w->unanswered.hi = invariant_unanswered(c->transport) - w->unanswered.lo;
	w->ns = o->now(o->arg) - before;
	return rc;
}

int mmustat_watch(struct sun4v_watch *w, struct sun4v_client *c, const struct sun4v_watch_opts *o, struct err *e)
{
	struct watched_all ps = { .p = mem_alloc(w->strands * 2 * sizeof(struct watched_one)), .why = &w->why, .o = o };
	int rc = 0;

	w->mmu = mem_alloc(w->strands * sizeof(*w->mmu));
	if (!ps.p || !w->mmu)
		rc = err_oom(e);
	else if (!c->mmustat)
		rc = err_set(e, TALLY_ENOTSUP, "%s has no MMU statistics: only Niagara has", c->transport->op->what);
	if (rc == 0)
		rc = mmu_take(w, c, &ps, o, e);
	watched_close(&ps);
	for (uint32_t i = 0; w->mmu && i < w->strands; i++)
		(void)mmustat_stop(c, i, NULL);
	mem_free(ps.p);
	return rc;
}

int sun4v_watch_saved(struct sun4v_watch **ret, const uint8_t buffer[MMUSTAT_BYTES])
{
	struct sun4v_watch *w = mem_alloc(sizeof(*w));

	if (!w)
		return -TALLY_ENOMEM;
	w->of = SUN4V_MMUSTAT;
	w->saved = true;
	w->strands = 1;
	w->mmu = mem_alloc(sizeof(*w->mmu));
	if (!w->mmu) {
		mem_free(w);
		return -TALLY_ENOMEM;
	}
	w->mmu->has = true;
	mmu_decode(&w->mmu->at[LAST], buffer);
	w->mmu->at[LAST_AGAIN] = w->mmu->at[LAST];
	*ret = w;
	return 0;
}

/* ---- sums ---------------------------------------------------------------------------------------------------- */

static struct grown word_grew(const struct mmu_strand *s, uint32_t word)
{
	return (struct grown){ true, s->at[LAST].word[word] - s->at[FIRST_AGAIN].word[word],
			       s->at[LAST_AGAIN].word[word] - s->at[0].word[word] };
}

/* Over all slots of a side; ticks: instead of hits. */
static struct grown side_grew(const struct mmu_strand *s, uint32_t data, bool ticks)
{
	struct grown sum = { true, 0, 0 };

	for (uint32_t context = 0; context < 2; context++)
		for (uint32_t size = 0; size < MMUSTAT_SIZES; size++)
			sum = grown_add(sum,
					word_grew(s, mmustat_slot(data, context, (enum mmustat_size)size) / 8 + ticks));
	return sum;
}

static bool is_reserved(uint32_t word)
{
	for (uint32_t k = 0; k < 4 * MMUSTAT_SIZES; k++) {
		const uint32_t slot = mmustat_slot(k >> 3, k >> 2 & 1, (enum mmustat_size)(k & 3)) / 8;

		if (word == slot || word == slot + 1)
			return false;
	}
	return true;
}

static const char *const sides[] = { "instruction", "data" };

/* ---- the invariants -------------------------------------------------------------------------- */

static enum sun4v_verdict nothing_hit(struct err *e)
{
	return INVARIANT_UNKNOWN(e, "no TSB answered a miss meanwhile");
}

static enum sun4v_verdict mmustat_invariant_counts_grow(const struct sun4v_watch *w, struct err *e)
{
	bool moved = false;

	if (w->saved)
		return INVARIANT_UNKNOWN(e, "there is one reading");
	for (uint32_t i = 0; i < w->strands; i++)
		for (uint32_t k = 1; w->mmu[i].has && k < 4; k++)
			for (uint32_t word = 0; word < WORDS; word++) {
				const uint64_t was = w->mmu[i].at[k - 1].word[word], is = w->mmu[i].at[k].word[word];

				if ((int64_t)(is - was) < 0) /* words wrap */
					return INVARIANT_BROKEN(e, "strand %u: the word at 0x%x was %llu, then %llu", i,
								word * 8, LL(was), LL(is));
				moved = moved || is != was;
			}
	return moved ? SUN4V_HOLDS : nothing_hit(e);
}

static enum sun4v_verdict mmustat_invariant_reserved_words_stay(const struct sun4v_watch *w, struct err *e)
{
	bool moved = w->saved;

	for (uint32_t i = 0; i < w->strands; i++)
		for (uint32_t word = 0; w->mmu[i].has && word < WORDS; word++) {
			const uint64_t is = w->mmu[i].at[LAST_AGAIN].word[word];

			moved = moved || is != w->mmu[i].at[0].word[word];
			if (is_reserved(word) && is != w->mmu[i].at[0].word[word])
				return INVARIANT_BROKEN(e, "strand %u: the reserved word at 0x%x is %llu", i, word * 8,
							LL(is));
		}
	return moved ? SUN4V_HOLDS : nothing_hit(e);
}

static enum sun4v_verdict mmustat_invariant_hits_take_ticks(const struct sun4v_watch *w, struct err *e)
{
	bool moved = false;

	for (uint32_t i = 0; i < w->strands; i++)
		for (uint32_t k = 0; w->mmu[i].has && k < 4 * MMUSTAT_SIZES; k++) {
			const uint32_t slot = mmustat_slot(k >> 3, k >> 2 & 1, (enum mmustat_size)(k & 3)) / 8;
			const struct grown hits = word_grew(&w->mmu[i], slot), ticks = word_grew(&w->mmu[i], slot + 1);

			/* hits are written first: one of them may have its ticks still to come */
			if (ticks.hi + (w->saved ? 0 : 1) < hits.lo || (!hits.hi && ticks.lo))
				return INVARIANT_BROKEN(e, "strand %u, slot at 0x%x: %llu hits took %llu ticks", i,
							slot * 8, LL(hits.lo), LL(ticks.hi));
			moved = moved || hits.hi;
		}
	return moved ? SUN4V_HOLDS : nothing_hit(e);
}

static enum sun4v_verdict mmustat_invariant_ticks_within_time(const struct sun4v_watch *w, struct err *e)
{
	const uint64_t hz = w->tick_hz == HV_TICK_UNKNOWN ? 0 : w->tick_hz ? w->tick_hz : MODEL_HZ;
	const uint64_t most = (uint64_t)((double)w->ns / 1e9 * (double)hz) + 1;
	bool moved = false;

	if (w->saved || !hz)
		return INVARIANT_UNKNOWN(e, w->saved ? "nothing tells how long it was collected" :
						       "nothing tells how fast %%tick is");
	for (uint32_t i = 0; i < w->strands; i++) {
		struct grown spent;

		if (!w->mmu[i].has)
			continue;
		spent = grown_add(side_grew(&w->mmu[i], 0, true), side_grew(&w->mmu[i], 1, true));
		if (spent.lo > most)
			return INVARIANT_BROKEN(e, "strand %u spent %llu ticks of %llu", i, LL(spent.lo), LL(most));
		moved = moved || spent.hi;
	}
	return moved ? SUN4V_HOLDS : nothing_hit(e);
}

static enum sun4v_verdict no_misses(const struct sun4v_watch *w, struct err *e)
{
	return INVARIANT_UNKNOWN(e, "%s", w->why.code ? w->why.text : "nothing tells how many TLB misses there were");
}

static enum sun4v_verdict mmustat_invariant_hits_are_misses(const struct sun4v_watch *w, struct err *e)
{
	bool had = false, moved = false;

	for (uint32_t i = 0; i < w->strands; i++)
		for (uint32_t data = 0; w->mmu[i].has && data < 2; data++) {
			const struct grown hits = side_grew(&w->mmu[i], data, false), misses = w->mmu[i].misses[data];

			if (!misses.has)
				continue;
			had = true;
			if (hits.lo > misses.hi)
				return INVARIANT_BROKEN(e,
							"strand %u: %llu %s misses of the TLB, %llu of them hit a TSB",
							i, LL(misses.hi), sides[data], LL(hits.lo));
			moved = moved || misses.hi;
		}
	return !had ? no_misses(w, e) : moved ? SUN4V_HOLDS : INVARIANT_UNKNOWN(e, "no TLB was missed meanwhile");
}

static enum sun4v_verdict mmustat_invariant_hits_and_misses_are_all(const struct sun4v_watch *w, struct err *e)
{
	struct grown hits = { true, 0, 0 }, misses = { true, 0, 0 };

	if (!w->unanswered.has || !w->all_strands)
		return INVARIANT_UNKNOWN(e, w->unanswered.has ? "some strands are another guest's" :
								"nothing tells how many misses no TSB answered");
	for (uint32_t i = 0; i < w->strands; i++)
		for (uint32_t data = 0; data < 2; data++) {
			hits = grown_add(hits, side_grew(&w->mmu[i], data, false));
			misses = grown_add(misses, w->mmu[i].misses[data]);
		}
	if (!misses.has)
		return no_misses(w, e);
	hits = grown_add(hits, w->unanswered);
	if (hits.lo > misses.hi || misses.lo > hits.hi)
		return INVARIANT_BROKEN(e, "%llu misses of TLBs; hits of TSBs and %llu without one are %llu",
					LL(misses.lo), LL(w->unanswered.lo), LL(hits.hi));
	return misses.hi ? SUN4V_HOLDS : INVARIANT_UNKNOWN(e, "no TLB was missed meanwhile");
}

const struct invariant_row mmustat_invariants[] = {
#define INVARIANT(name, text) { { MMUSTAT_INVARIANT_##name + 1, #name, text }, mmustat_invariant_##name },
	MMUSTAT_INVARIANTS(INVARIANT)
#undef INVARIANT
};
const uint32_t mmustat_invariants_count = COUNT(mmustat_invariants);
