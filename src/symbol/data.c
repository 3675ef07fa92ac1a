/*
 * data.c: what the memory of a process is called that holds no code: its heap, its stack, files that it maps to be
 * read.
 *
 * A process maps and unmaps such memory far more often than code, and nobody dates a firing within its generation
 * (slot.h).  So what is kept is not which mapping lay at an address, but which *words* an address had: `now`, the
 * stretches of today, and `past`, where a word has been and from when until when at the most.  An address has the word
 * that is the only one which it can have had in its generation; with two it stays an address.  That is why stretches of
 * one word that touch can be joined: a process that maps and unmaps its memory for ever has a few of them.  A stretch
 * knows since when some of it may have been there, and since when all of it was.
 *
 * A piece of memory that mremap() moved, nobody says where to, has left its place and lies somewhere unknown
 * (`strayed_ns`).  It is seen again when it is unmapped or moved on: then it was at that place, where nothing is
 * known.  Until then it may be wherever nothing is known. If all such pieces had one word, that is the only one in
 * doubt; else it is none.  The same holds before the process was looked at.  (A mapping that a process puts over such a
 * piece itself, with MAP_FIXED, hides it.)
 *
 * What a look at the process found is newer than facts that are told later and have an earlier time: these change
 * nothing there.
 *
 * Memory: a fork shares the list of its parent until one of them maps something.  Of the past DATA_PAST_MOST stretches
 * are kept.  With more, those of one word that touch become one, as if the word had been at all of their places at all
 * of their times: that puts a second word in doubt where there was none, and makes no wrong one right.  Where it does
 * not help, the past is forgotten as a whole, and an address of an earlier generation has only a word that its place
 * has had ever since.  A process with more stretches than MAPPINGS_MOST has no words at all until its next exec.
 */
#include <string.h>

#include "symbol/symbol_int.h"

#define DATA_PAST_MOST 256u

struct stretches {
	uint32_t refs;
	uint32_t n, cap;
	struct stretch *v; /* sorted, apart */
};

/* ---- lists --------------------------------------------------------------------- */

static void stretches_put(struct data *d, uint64_t *count)
{
	struct stretches *l = d->now;

	d->now = NULL;
	if (!l || --l->refs)
		return;
	*count -= l->n;
	mem_free(l->v);
	mem_free(l);
}

/* The memory's own list, for changing it. */
static struct stretches *stretches_own(struct data *d, uint64_t *count)
{
	struct stretches *l;

	if (d->now && d->now->refs == 1)
		return d->now;
	l = mem_alloc(sizeof(*l));
	if (!l)
		return NULL;
	l->refs = 1;
	if (d->now && d->now->n) {
		l->v = mem_alloc(d->now->n * sizeof(*l->v));
		if (!l->v) {
			mem_free(l);
			return NULL;
		}
		memcpy(l->v, d->now->v, d->now->n * sizeof(*l->v));
		l->n = l->cap = d->now->n;
		*count += l->n;
	}
	stretches_put(d, count);
	d->now = l;
	return l;
}

/* Index of the first stretch that ends above addr. */
static uint32_t stretch_above(const struct stretches *l, uint64_t addr)
{
	return l ? SORTED_UPTO(l->v, l->n, end, addr) : 0;
}

/* What is there now, or NULL. */
static const struct stretch *stretch_at(const struct data *d, uint64_t addr)
{
	const uint32_t i = stretch_above(d->now, addr);

	return d->now && i < d->now->n && d->now->v[i].start <= addr ? &d->now->v[i] : NULL;
}

void data_free(struct data *d, uint64_t *count)
{
	stretches_put(d, count);
	*count -= d->npast;
	mem_free(d->past);
	*d = (struct data){ 0 };
}

/* From now on nothing is known of it. */
static void data_give_up(struct data *d, uint64_t *count)
{
	data_free(d, count);
	d->overfull = true;
}

void data_fork(struct data *to, const struct data *from)
{
	to->overfull = from->overfull;
	to->known = from->known;
	to->strayed_ns = from->strayed_ns;
	to->strayed_what = from->strayed_what;
	to->now = from->now;
	if (to->now)
		to->now->refs++;
}

/* ---- the past ------------------------------------------------------------------- */

static bool past_join(struct stretch *to, const struct stretch *p)
{
	if (to->what != p->what || to->shift != p->shift || to->start > p->end || p->start > to->end)
		return false;
	to->start = p->start < to->start ? p->start : to->start;
	to->end = p->end > to->end ? p->end : to->end;
	to->from_ns = p->from_ns < to->from_ns ? p->from_ns : to->from_ns;
	to->until_ns = p->until_ns > to->until_ns ? p->until_ns : to->until_ns;
	return true;
}

/* Makes room: what touches and has one word becomes one, in place and time; where that is not half of it, all of it is
 * forgotten. */
static void past_compact(struct data *d, uint64_t *count, uint64_t now_ns)
{
	uint32_t n = 0, i;

	for (uint32_t p = 0; p < d->npast; p++) {
		for (i = 0; i < n && !past_join(&d->past[i], &d->past[p]); i++)
			;
		if (i == n)
			d->past[n++] = d->past[p];
	}
	if (n > DATA_PAST_MOST / 2) {
		n = 0;
		d->past_from_ns = now_ns;
	}
	*count -= d->npast - n;
	d->npast = n;
}

/* The word of p was there from p->from_ns until then. */
static void data_remember(struct data *d, uint64_t *count, struct stretch p, uint64_t until_ns)
{
	struct stretch *to;

	if (until_ns <= p.from_ns)
		return;
	p.until_ns = until_ns;
	if (d->npast == DATA_PAST_MOST)
		past_compact(d, count, until_ns);
	to = VEC_NEW(d->past, d->npast, d->past_cap);
	if (!to) {
		d->past_from_ns = until_ns;
		return;
	}
	*to = p;
	++*count;
}

/* ---- changes --------------------------------------------------------------------- */

/* Stretches that take the place of others. */
struct renewal {
	struct stretch *v;
	uint32_t n;
};

static void renewal_add(struct renewal *r, const struct stretch *of, uint64_t start, uint64_t end)
{
	struct stretch *last = r->n ? &r->v[r->n - 1] : NULL;

	if (start >= end || !of->what)
		return; /* nothing */
	if (last && last->end == start && last->what == of->what && last->shift == of->shift &&
	    last->looked_ns == of->looked_ns) {
		last->end = end;
		last->from_ns = of->from_ns < last->from_ns ? of->from_ns : last->from_ns;
		last->since_ns = of->since_ns > last->since_ns ? of->since_ns : last->since_ns;
		return;
	}
	r->v[r->n] = *of;
	r->v[r->n].start = start;
	r->v[r->n++].end = end;
}

/* The part of o in the place of m. */
static void renewal_meet(struct data *d, uint64_t *count, struct renewal *r, const struct stretch *o,
			 const struct stretch *m)
{
	struct stretch part = *o;

	part.start = o->start > m->start ? o->start : m->start;
	part.end = o->end < m->end ? o->end : m->end;
	if (o->what == m->what && o->shift == m->shift) {
		part.from_ns = m->from_ns < o->from_ns ? m->from_ns : o->from_ns;
		part.looked_ns = m->looked_ns > o->looked_ns ? m->looked_ns : o->looked_ns;
		renewal_add(r, &part, part.start, part.end);
	} else if (o->looked_ns > m->from_ns) {
		renewal_add(r, &part, part.start, part.end);
		part.what = m->what;
		part.shift = m->shift;
		part.from_ns = m->from_ns;
		if (part.what)
			data_remember(d, count, part, o->looked_ns);
	} else {
		struct stretch new = *m;

		data_remember(d, count, part, m->from_ns);
		new.from_ns = m->looked_ns ? o->from_ns : m->from_ns;
		renewal_add(r, &new, part.start, part.end);
	}
}

/* Puts the list r in the place of v[lo..hi). */
static bool stretches_replace(struct stretches *l, uint64_t *count, uint32_t lo, uint32_t hi, const struct renewal *r)
{
	uint32_t total = l->n - (hi - lo) + r->n, cap = l->cap ? l->cap : 4;
	struct stretch *v = l->v;

	while (cap < total)
		cap *= 2;
	if (cap != l->cap && !(v = mem_grow(l->v, cap * sizeof(*v))))
		return false;
	memmove(v + lo + r->n, v + hi, (l->n - hi) * sizeof(*v));
	memcpy(v + lo, r->v, r->n * sizeof(*v));
	*count += total;
	*count -= l->n;
	l->v = v;
	l->cap = cap;
	l->n = total;
	return true;
}

/* Where nothing is known to be. */
static void renewal_gap(struct data *d, uint64_t *count, struct renewal *r, const struct stretch *m, uint64_t start,
			uint64_t end)
{
	struct stretch part = *m;

	if (m->looked_ns && (d->strayed_ns || !d->known))
		part.from_ns = d->known ? d->strayed_ns : 0; /* it may have come long before */
	renewal_add(r, &part, start, end);
	if (start < end && !m->what && (d->strayed_ns || !d->known))
		data_remember(d, count,
			      (struct stretch){ .start = start, .end = end, .what = d->known ? d->strayed_what : NULL },
			      m->from_ns);
}

static bool data_renew(struct data *d, uint64_t *count, struct stretches *l, const struct stretch *m)
{
	uint32_t lo = stretch_above(l, m->start), hi = lo;
	struct stretch behind = { 0 };
	uint64_t at = m->start;
	struct renewal r = { 0 };
	bool good;

	while (hi < l->n && l->v[hi].start < m->end)
		hi++;
	r.v = mem_alloc((2 * (hi - lo) + 5) * sizeof(*r.v));
	if (!r.v)
		return false;
	if (lo > 0 && l->v[lo - 1].end == m->start && lo--)
		renewal_add(&r, &l->v[lo], l->v[lo].start, l->v[lo].end);
	for (uint32_t i = lo; i < hi; i++) {
		const struct stretch *o = &l->v[i];

		if (o->end <= m->start)
			continue; /* it touches */
		renewal_add(&r, o, o->start, m->start);
		renewal_gap(d, count, &r, m, at, o->start);
		renewal_meet(d, count, &r, o, m);
		at = o->end < m->end ? o->end : m->end;
		behind = *o;
	}
	renewal_gap(d, count, &r, m, at, m->end);
	renewal_add(&r, &behind, m->end, behind.end);
	if (hi < l->n && l->v[hi].start == m->end) {
		renewal_add(&r, &l->v[hi], l->v[hi].start, l->v[hi].end);
		hi++;
	}
	good = l->n - (hi - lo) + r.n <= MAPPINGS_MOST && stretches_replace(l, count, lo, hi, &r);
	mem_free(r.v);
	return good;
}

void data_put(struct data *d, uint64_t *count, const struct stretch *m)
{
	struct stretches *l;

	if (d->overfull || m->start >= m->end)
		return;
	l = stretches_own(d, count);
	if (!l || !data_renew(d, count, l, m))
		data_give_up(d, count);
}

void data_heap(struct data *d, uint64_t *count, const struct stretch *m)
{
	const struct stretch *beyond = stretch_at(d, m->end);
	struct stretch left = { .start = m->end, .from_ns = m->from_ns };

	/* what was the heap's before it shrank */
	if (beyond && beyond->what == m->what) {
		left.end = beyond->end;
		data_put(d, count, &left);
	}
	data_put(d, count, m);
}

/* What is at m's place is at its new one, too. */
static void data_copy(struct data *d, uint64_t *count, const struct moving *m, uint64_t end, uint64_t time_ns)
{
	for (uint64_t at = m->at, next; at < end; at = next) {
		const uint32_t i = stretch_above(d->now, at);
		const struct stretch *above = d->now && i < d->now->n ? &d->now->v[i] : NULL;
		const bool there = above && above->start <= at;
		struct stretch p = { .start = at - m->at + m->to, .from_ns = time_ns, .since_ns = time_ns };

		next = there ? above->end : above ? above->start : end;
		next = next < end ? next : end;
		p.end = next < end && next - m->at < m->to_len ? next - m->at + m->to : m->to + m->to_len;
		p.what = there ? above->what : NULL;
		p.shift = there && above->shift ? above->shift + m->at - m->to : 0;
		data_put(d, count, &p);
	}
}

/* What is in m goes where nobody says. */
static void data_stray(struct data *d, const struct stretch *m, uint64_t time_ns)
{
	const struct stretch *is = stretch_at(d, m->start);
	const char *what = is && is->end >= m->end ? is->what : NULL;

	d->strayed_what = !d->strayed_ns || what == d->strayed_what ? what : NULL;
	d->strayed_ns = d->strayed_ns ? d->strayed_ns : time_ns;
}

void data_move(struct data *d, uint64_t *count, const struct moving *m, uint64_t time_ns)
{
	struct stretch left = { .start = m->at, .end = m->at + (m->len ? m->len : m->to_len), .from_ns = time_ns };

	if (!m->to && !m->stays && m->to_len <= m->len) /* it shrinks where it is */
		left.start += m->to_len;
	else if (m->to)
		data_copy(d, count, m, left.end, time_ns);
	else
		data_stray(d, &left, time_ns);
	if (!m->stays)
		data_put(d, count, &left);
}

void data_looked(struct data *d, uint64_t time_ns)
{
	d->known = true;
	d->looked_ns = time_ns;
	d->strayed_ns = d->strayed_ns > time_ns ? d->strayed_ns : 0;
}

/* ---- questions -------------------------------------------------------------------- */

struct asked { /* of an address in a generation */
	uint64_t addr, from_ns, until_ns;
	struct stretch *ret;
	uint32_t n; /* words that it can have had */
};

static void asked_try(struct asked *a, const struct stretch *m, uint64_t until_ns)
{
	if (a->addr < m->start || a->addr >= m->end || m->from_ns >= a->until_ns || until_ns <= a->from_ns)
		return;
	if (a->n && a->ret->what == m->what) {
		a->ret->moved |= a->ret->shift != m->shift;
		return;
	}
	a->n++;
	*a->ret = *m;
}

bool data_seen(const struct data *d, uint64_t addr, uint64_t from_ns, uint64_t until_ns, struct stretch *ret)
{
	const struct stretch *now = stretch_at(d, addr);
	struct asked a = { .addr = addr, .from_ns = from_ns, .until_ns = until_ns, .ret = ret };

	*ret = (struct stretch){ 0 };
	if (now)
		asked_try(&a, now, UINT64_MAX);
	if (a.n && now->since_ns <= from_ns)
		return true; /* all the time */
	for (uint32_t p = 0; p < d->npast; p++)
		asked_try(&a, &d->past[p], d->past[p].until_ns);
	/* what moved may lie there now */
	if (!now && d->strayed_ns && d->strayed_ns < until_ns && ret->what != d->strayed_what)
		return false;
	return a.n == 1 && ret->what && from_ns >= d->past_from_ns;
}

bool data_may_be_found(const struct data *d, uint64_t addr, uint64_t lost_ns)
{
	const struct stretch *now = stretch_at(d, addr);

	if (d->overfull)
		return false;
	return now ? now->since_ns < lost_ns && now->looked_ns < lost_ns :
		     d->strayed_ns || d->looked_ns < lost_ns || !d->known;
}
