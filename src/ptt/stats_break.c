/*
 * stats_break.c: records that are missing although no size, offset or flag says so.
 *
 * Whole records can be cut out of AUX data with all its sizes made to agree, and AUX data can be given under another's
 * offset.  What is left are sound records, so only matching shows it: requests in front of the place are never
 * answered, since their completions are missing; completions behind it were never asked for, since their requests are. 
 * Errors of devices look the same one by one, but these are scattered.  At a break several stand together, the lost
 * answers in front of one place and the unexpected completions behind it, within as many records as requests are under
 * way.
 *
 * So matching notes each lost answer (where its request is) and each unexpected completion as a sign.  After the pass
 * each unexpected completion is a candidate: the place is in front of it.  Its score is the number of signs near that
 * fit, minus those near that contradict it.  It is a break when scattered signs would have that score by chance in one
 * trace of ten thousand: signs elsewhere give the mean of a Poisson distribution, and each candidate and each meaning
 * of "near" is a trial.
 *
 * A request that times out looks like a lost answer too, and its late completion like an unexpected one.  But these two
 * are of one tag: while a request is open, a completion of its tag, from wherever, is taken for its answer.  So one of
 * the same tag that is unexpected later comes after the tag was used again, and its request is known.  Such partners
 * contradict a place between them; unexpected completions alone must have none at all.
 *
 * A lost answer is known only when its tag is used again, long after the place was counted.  So whoever counts counts
 * again, with the breaks (struct ptt_stats_opts): there the device has a gap from behind the last lost answer up to the
 * first unexpected completion.  What is left of signs then is told as what it may be, too (stats_note.c).
 *
 * A read that got other data than it asked for is two signs: its own answer is lost, and what it got was not asked
 * for.  Its tag was used again in between, where nobody saw it, so these are no partners.
 *
 * Where nothing was open in front of the place, or the direction of a trace hides answers, unexpected completions alone
 * must do, and then records are missing within 64 in front of the first.  They say nothing at the beginning of a trace,
 * which finds requests under way.
 *
 * Memory is bounded: a trace of more signs than there is room for is one of errors, or of another kind of records.
 */
#include <math.h>
#include <stdlib.h>

#include "ptt/stats_int.h"

enum {
	SIGNS_MOST = 1 << 16,
	WIDTHS = 4, /* meanings of "near": 64 records to either side, and each 4 times the one before */
	WIDTH_LEAST = 64,
	SIGNS_NEAR = 256, /* that are looked at, to either side */
	SAME_KEY = 16,    /* a transaction's signs that lie so close are one */
	SCORE_BOTH = 4,   /* the least that may be a break, of signs of both kinds */
	SCORE_ALONE = 6,  /* unexpected completions alone */
	SCORE_HIDDEN = 3, /* the same where lost answers can't be seen */
	ROUNDS = 8,
};
static const double chance_most = 0.0001;

static void sign_add(struct ptt_stats *s, const struct stats_sign *sign)
{
	struct stats_sign *to = s->nsigns < SIGNS_MOST ? VEC_NEW(s->sign, s->nsigns, s->capsigns) : NULL;

	s->failed |= to == NULL && s->nsigns < SIGNS_MOST;
	s->too_many_signs |= to == NULL;
	if (to != NULL)
		*to = *sign;
}

void break_sign(struct ptt_stats *s, const struct tlp *t, bool lost, bool misfit)
{
	sign_add(s, &(struct stats_sign){
			    .offset = t->offset,
			    .partner = SIGN_ALONE,
			    .key = (misfit ? SIGN_MISFIT : 0) | (uint64_t)t->segment << 32 |
				   (uint64_t)t->requester << 16 | t->tag,
			    .device = t->device,
			    .lost = lost,
		    });
}

void break_merge(struct ptt_stats *into, const struct ptt_stats *from)
{
	into->too_many_signs |= from->too_many_signs;
	for (uint32_t i = 0; i < from->nsigns; i++)
		sign_add(into, &from->sign[i]);
}

/* ---- how probable a score is by chance ----------------------------------------------------------------------- */

/* That a Poisson distribution of this mean gives n or more. */
static double poisson_tail(uint32_t n, double mean)
{
	double term = exp(n * log(mean) - mean - lgamma(n + 1.0)), sum = 0;

	if (n <= mean)
		return 1;
	for (uint32_t k = n; term > sum * 1e-9; k++) {
		sum += term;
		term *= mean / (k + 1);
	}
	return sum < 1 ? sum : 1;
}

/* ---- candidates ------------------------------------------------------------------------------------------------ */

struct candidate {
	uint64_t from, to; /* file offsets: behind the last lost answer, and of the first unexpected completion */
	uint64_t near;     /* bytes */
	double chance;
	uint32_t device;
};

/* The signs of a device, by offset. */
struct signs {
	const struct stats_sign *v;
	const struct stats_device *d;
	uint32_t n, record; /* bytes of a record */
	double records;
};

/* Of the place in front of sign k, with signs up to so many bytes away. */
static struct candidate candidate_at(const struct signs *g, uint32_t k, uint64_t near)
{
	const uint64_t at = g->v[k].offset;
	const bool hidden = hides_answers(g->d);
	struct candidate c = { .from = at, .to = at, .near = near, .chance = 1, .device = g->v[k].device };
	uint32_t lost = 0, unexpected = 0, late = 0, against = 0;

	for (uint32_t i = k; i > 0 && i + SIGNS_NEAR > k && at - g->v[i - 1].offset <= near; i--) {
		const uint64_t late_at = g->v[i - 1].partner;
		if (!g->v[i - 1].lost || (late_at >= at && late_at != SIGN_ALONE && late_at - at < near)) {
			against++;
			continue;
		}
		c.from = lost++ == 0 ? g->v[i - 1].offset + g->record : c.from;
	}
	for (uint32_t i = k; i < g->n && i < k + SIGNS_NEAR && g->v[i].offset - at < near; i++) {
		const bool is_late = !g->v[i].lost && g->v[i].partner < at,
			   is_near = is_late && at - g->v[i].partner <= near;
		late += is_late && !is_near;
		against += g->v[i].lost || is_near;
		unexpected += !g->v[i].lost && !is_near;
	}
	if (lost == 0) {
		unexpected -= late;
		against += late;
		const uint64_t back = WIDTH_LEAST * g->record;
		c.from = at - g->d->first_offset > back ? at - back : at;
	}
	const uint32_t here = lost + unexpected, score = here > against ? here - against : 0;
	const uint32_t least = hidden ? SCORE_HIDDEN : lost ? SCORE_BOTH : SCORE_ALONE;
	if (unexpected < 2 || score < least || (lost == 0 && at - g->d->first_offset < near))
		return c;
	const double elsewhere = (double)(g->n - (here < g->n ? here : g->n) + 1) / g->records;
	c.chance = poisson_tail(score, elsewhere * 2 * (double)near / g->record) * WIDTHS * g->n;
	return c;
}

static int by_chance(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;

	if (x->chance != y->chance)
		return x->chance < y->chance ? -1 : 1;
	return (x->to > y->to) - (x->to < y->to);
}

static uint64_t break_distance(uint64_t a, uint64_t b)
{
	return a < b ? b - a : a - b;
}

/* The most improbable ones, as long as none is near a more improbable one, go to the front. */
static uint32_t candidates_choose(struct candidate *v, uint32_t n)
{
	uint32_t chosen = 0;

	qsort(v, n, sizeof(*v), by_chance);
	for (uint32_t i = 0; i < n && chosen < PTT_BREAKS; i++) {
		bool apart = true;

		for (uint32_t k = 0; k < chosen; k++)
			apart &= v[k].device != v[i].device || break_distance(v[k].to, v[i].to) > v[k].near + v[i].near;
		if (apart)
			v[chosen++] = v[i];
	}
	return chosen;
}

/* Candidates of one device are put behind the `n` that are there; returns how many there are then. */
static uint32_t candidates_add(const struct ptt_stats *s, const struct stats_sign *sign, uint32_t nsigns,
			       struct candidate *to, uint32_t n)
{
	const struct stats_device *d = &s->device[sign->device < PTT_STATS_DEVICES ? sign->device : 0];
	const uint64_t packets = d->cls[TLP_P] + d->cls[TLP_NP] + d->cls[TLP_CPL] + d->cls[TLP_RESERVED];
	const struct signs g = {
		.v = sign, .d = d, .n = nsigns, .record = d->format * 4u, .records = (double)packets + 1
	};

	for (uint32_t k = 0; k < nsigns; k++) {
		struct candidate best = { .chance = 1 };

		for (uint32_t w = 0; w < WIDTHS && !sign[k].lost; w++) {
			const struct candidate c = candidate_at(&g, k, (uint64_t)(WIDTH_LEAST << 2 * w) * g.record);
			best = c.chance < best.chance ? c : best;
		}
		if (best.chance < chance_most)
			to[n++] = best;
	}
	return n;
}

static bool is_explained(const struct stats_sign *sign, const struct candidate *c)
{
	return sign->device == c->device && break_distance(sign->offset, c->to) <= c->near &&
	       sign->lost == (sign->offset < c->to);
}

/* The signs that no break explains move to the front. */
static uint32_t signs_leave(struct stats_sign *sign, uint32_t nsigns, const struct candidate *v, uint32_t n)
{
	uint32_t left = 0;

	for (uint32_t i = 0; i < nsigns; i++) {
		bool explained = false;

		for (uint32_t k = 0; k < n; k++)
			explained |= is_explained(&sign[i], &v[k]);
		if (!explained)
			sign[left++] = sign[i];
	}
	return left;
}

static int by_place(const void *a, const void *b)
{
	const struct stats_sign *x = a, *y = b;

	if (x->device != y->device)
		return x->device < y->device ? -1 : 1;
	return (x->offset > y->offset) - (x->offset < y->offset);
}

/* Sorted, and of the completions of one transaction the first alone. Returns how many are left. */
static uint32_t signs_sort(struct stats_sign *sign, uint32_t n)
{
	uint32_t left = 0;

	qsort(sign, n, sizeof(*sign), by_place);
	for (uint32_t i = 0; i < n; i++) {
		bool seen = false;

		for (uint32_t k = left; k > 0 && k + SAME_KEY > left && !sign[i].lost; k--)
			seen |= !sign[k - 1].lost && sign[k - 1].key == sign[i].key &&
				sign[k - 1].device == sign[i].device;
		if (!seen)
			sign[left++] = sign[i];
	}
	return left;
}

/* An unexpected completion and the last lost answer of its tag in front of it are partners. */
static void signs_pair(struct stats_sign *sign, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t k = i; k > 0 && k + SIGNS_NEAR > i && !sign[i].lost; k--) {
			struct stats_sign *q = &sign[k - 1];

			if (!q->lost || q->key != sign[i].key || q->key & SIGN_MISFIT || q->device != sign[i].device)
				continue;
			if (q->partner == SIGN_ALONE) {
				q->partner = sign[i].offset;
				sign[i].partner = q->offset;
			}
			break;
		}
}

static int by_device(const void *a, const void *b)
{
	const struct ptt_break *x = a, *y = b;

	if (x->device != y->device)
		return x->device < y->device ? -1 : 1;
	return (x->from > y->from) - (x->from < y->from);
}

void ptt_stats_missing(struct ptt_stats *s)
{
	s->place_unknown = true;
}

/* Signs of one break are noise to the others: what a round leaves is judged anew. */
uint32_t ptt_stats_breaks(struct ptt_stats *s, struct ptt_break to[static PTT_BREAKS])
{
	struct candidate *v;
	uint32_t found = 0, n = 1;

	stats_settle(s);
	if (s->nsigns == 0 || s->too_many_signs)
		return 0;
	v = mem_alloc(s->nsigns * sizeof(*v));
	s->failed |= v == NULL;
	if (v == NULL)
		return 0;
	s->nsigns = signs_sort(s->sign, s->nsigns);
	signs_pair(s->sign, s->nsigns);
	for (uint32_t round = 0; round < ROUNDS && n != 0; round++) {
		n = 0;
		for (uint32_t i = 0, end; i < s->nsigns; i = end) {
			for (end = i; end < s->nsigns && s->sign[end].device == s->sign[i].device;)
				end++;
			n = candidates_add(s, &s->sign[i], end - i, v, n);
		}
		n = candidates_choose(v, n);
		for (uint32_t i = 0; i < n && found < PTT_BREAKS; i++)
			to[found++] = (struct ptt_break){ .from = v[i].from, .to = v[i].to, .device = v[i].device };
		s->nsigns = signs_leave(s->sign, s->nsigns, v, n);
	}
	mem_free(v);
	qsort(to, found, sizeof(*to), by_device);
	return found;
}

/* ---- counting with them ---------------------------------------------------------------------------------------- */

/* The next place of the device's breaks in front of which records of the chunk are still to be counted; NULL: there is
 * none. *over: it is the end of a break. */
static const struct ptt_break *break_next(const struct ptt_stats *s, const struct stats_device *d, uint32_t device,
					  bool *over)
{
	const struct ptt_break *b = s->opts.breaks + d->breaks / 2;

	*over = d->breaks % 2;
	while (b < s->opts.breaks + s->opts.nbreaks && b->device < device) {
		b++;
		*over = false;
	}
	return b < s->opts.breaks + s->opts.nbreaks && b->device == device ? b : NULL;
}

size_t break_cut(struct ptt_stats *s, struct stats_device *d, struct ptt_chunk *c, struct ptt_chunk *rest)
{
	const size_t record = c->format * 4u;
	const struct ptt_break *b;
	bool over;

	while ((b = break_next(s, d, c->device, &over)) != NULL) {
		const uint64_t at = over ? b->to : b->from;

		if (at >= c->offset + c->n)
			break;
		const uint64_t front = at > c->offset ? (at - c->offset + record - 1) / record * record : 0;
		if (front >= c->n)
			break;
		const struct ptt_gap gap = { .why = over ? PTT_GAP_BROKEN_END : PTT_GAP_BROKEN_OFF };
		d->breaks = 2 * (uint32_t)(b - s->opts.breaks) + over + 1;
		if (front == 0) { /* what is told of this place says enough */
			if (c->gap.why == PTT_GAP_NONE || (c->gap.why == PTT_GAP_TRUNCATED_END && !over))
				c->gap = gap;
			continue;
		}
		*rest = *c;
		rest->p += front;
		rest->n -= front;
		rest->offset += front;
		rest->gap = gap;
		c->n = front;
		return rest->n;
	}
	return 0;
}
