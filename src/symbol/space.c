/*
 * space.c: processes as address spaces over time.
 *
 * A process is a chain of spaces, newest first: a new one starts when the pid
 * is born and at every exec.  An address is looked up in the space that the
 * process had at the time; so it finds its file although the process has
 * exec'd since, or has ended, or another has its pid now.
 *
 * The mappings of a space are sorted and never overlap: a new one cuts what it
 * covers, and what was cut is remembered with the time of its end (nobody tells
 * of munmap; the next mapping of the place is the notice).  A fork shares the
 * parent's list by count until one of them maps something, so a storm of
 * fork and exec copies nothing.
 *
 * A firing says in which *generation* of its process's mappings it saw an address (slot.h): the time of the last loss of
 * an executable mapping before it.  The losses are told too, so a generation has an end.  In between nothing goes, so an
 * address that was mapped anew meanwhile was free before, and the new mapping is the one that was seen; else it is the
 * one that was there when the generation began.  Two in one generation, a loss of facts, or a process that nobody had
 * looked at yet: then the mapping is gone, and no guess takes its place.
 *
 * Code that mremap() moves is at its new place under its old name, from then on.  Where nobody says which place that is, each
 * mapping of before may be what it covers: until somebody looks, only what came since is certain.
 *
 * Memory: spaces of the dead (ended, or left by exec) queue in order of death
 * and the oldest go when there are too many, or when the mappings of all are too many.
 * A list can grow only so long, a chain as well.
 */
#include <string.h>

#include "symbol/symbol_int.h"

struct loss {             /* of an executable mapping */
	uint64_t told_ns; /* the generation that began with it */
	uint64_t at_ns;   /* when the one before ended: earlier, where a mapping took the place */
};
struct maplist {
	uint32_t refs;
	uint32_t n, cap, npast, past_cap;
	struct mapping *v;    /* now: sorted, apart */
	struct mapping *past; /* cut since: in order of their end */
	struct loss *loss;    /* in order of time */
	uint32_t nlosses, losses_cap;
	uint64_t past_from_ns, loss_from_ns;  /* what ended before is no longer known, for want of room */
	uint64_t strayed_ns, strayed_from_ns; /* when code moved to where nobody says, last and first */
};

/* ---- mappings ----------------------------------------------------------------- */

static void maplist_put(struct spaces *s, struct maplist *l)
{
	if (!l || --l->refs)
		return;
	s->nmappings -= l->n + l->npast;
	mem_free(l->v);
	mem_free(l->past);
	mem_free(l->loss);
	mem_free(l);
}

static bool copy_losses(struct maplist *to, const struct maplist *from)
{
	if (!from->nlosses)
		return true;
	to->loss = mem_alloc(from->nlosses * sizeof(*to->loss));
	if (!to->loss)
		return false;
	memcpy(to->loss, from->loss, from->nlosses * sizeof(*to->loss));
	to->nlosses = to->losses_cap = from->nlosses;
	return true;
}

static bool copy_mappings(struct mapping **to, uint32_t *cap, const struct mapping *from, uint32_t n)
{
	if (!n)
		return true;
	*to = mem_alloc(n * sizeof(**to));
	if (!*to)
		return false;
	memcpy(*to, from, n * sizeof(**to));
	*cap = n;
	return true;
}

static struct maplist *maplist_copy(struct spaces *s, const struct maplist *from)
{
	struct maplist *l = mem_alloc(sizeof(*l));

	if (!l)
		return NULL;
	l->refs = 1;
	if (!from)
		return l;
	if (!copy_mappings(&l->v, &l->cap, from->v, from->n) ||
	    !copy_mappings(&l->past, &l->past_cap, from->past, from->npast) || !copy_losses(l, from)) {
		maplist_put(s, l);
		return NULL;
	}
	l->n = from->n;
	l->npast = from->npast;
	l->past_from_ns = from->past_from_ns;
	l->loss_from_ns = from->loss_from_ns;
	l->strayed_ns = from->strayed_ns;
	l->strayed_from_ns = from->strayed_from_ns;
	s->nmappings += l->n + l->npast;
	return l;
}

/* The space's own list, for changing it. */
static struct maplist *maplist_own(struct spaces *s, struct space *sp)
{
	struct maplist *l = sp->maps;

	if (l && l->refs == 1)
		return l;
	l = maplist_copy(s, sp->maps);
	if (!l)
		return NULL;
	maplist_put(s, sp->maps);
	sp->maps = l;
	return l;
}

/* Index of the first mapping that ends above addr. */
static uint32_t first_above(const struct maplist *l, uint64_t addr)
{
	uint32_t lo = 0, hi = l->n;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (l->v[mid].end <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static bool same_bytes(const struct mapping *a, const struct mapping *b)
{
	return a->file == b->file && (!a->file || a->start - a->pgoff == b->start - b->pgoff);
}

/* It may say that a mapping which somebody looked at is older than the look, or that it was mapped anew. */
static bool says_nothing_new(struct maplist *l, const struct mapping *m)
{
	uint32_t i = l ? first_above(l, m->start) : 0;
	struct mapping *is = l && i < l->n ? &l->v[i] : NULL;

	if (!is || is->start > m->start || is->end < m->end || !same_bytes(is, m))
		return false;
	is->looked_ns = m->looked_ns > is->looked_ns ? m->looked_ns : is->looked_ns;
	if (is->start != m->start || is->end != m->end)
		return true;
	if (m->from_ns < is->from_ns) {
		is->from_ns = m->from_ns;
		is->told = m->told;
	} else if (m->told) {
		is->again_ns = m->from_ns;
	}
	return true;
}

static struct mapping *remember_past(struct spaces *s, struct maplist *l, const struct mapping *m, uint64_t until_ns)
{
	struct mapping *p;

	if (l->npast == MAPPINGS_PAST_MOST) {
		l->past_from_ns = l->past[0].until_ns;
		memmove(l->past, l->past + 1, --l->npast * sizeof(*l->past));
		s->nmappings--;
	}
	p = VEC_NEW(l->past, l->npast, l->past_cap);
	if (!p)
		return NULL; /* the present matters more */
	*p = *m;
	p->until_ns = until_ns;
	s->nmappings++;
	return p;
}

/* Memory without a file grows and changes its rights page by page: what touches becomes one, as old
 * as its youngest part, so that it hides no file that was there before. */
static void join_anonymous(const struct maplist *l, uint32_t *lo, uint32_t *hi, struct mapping *m)
{
	if (m->file)
		return;
	if (*lo > 0 && !l->v[*lo - 1].file && l->v[*lo - 1].end == m->start)
		--*lo;
	if (*hi < l->n && !l->v[*hi].file && l->v[*hi].start == m->end)
		++*hi;
	for (uint32_t i = *lo; i < *hi; i++) {
		const struct mapping *o = &l->v[i];

		if (o->file)
			continue;
		m->from_ns = o->from_ns > m->from_ns ? o->from_ns : m->from_ns;
		m->end = o->end > m->end ? o->end : m->end;
		m->start = o->start < m->start ? o->start : m->start;
	}
}

/* Puts the n of `by` in the place of v[lo..hi). */
static bool space_replace(struct spaces *s, struct maplist *l, uint32_t lo, uint32_t hi, const struct mapping *by,
			  uint32_t n)
{
	uint32_t total = l->n - (hi - lo) + n, cap = l->cap ? l->cap : 4;
	struct mapping *v = l->v;

	while (cap < total)
		cap *= 2;
	if (cap != l->cap && !(v = mem_grow(l->v, cap * sizeof(*v))))
		return false;
	memmove(v + lo + n, v + hi, (l->n - hi) * sizeof(*v));
	memcpy(v + lo, by, n * sizeof(*v));
	s->nmappings += total;
	s->nmappings -= l->n;
	l->v = v;
	l->cap = cap;
	l->n = total;
	return true;
}

/* What of v[lo..hi), which touch start to end, lies outside: in front into by, and the number. */
static uint32_t outside_front(const struct maplist *l, uint32_t lo, uint32_t hi, uint64_t start, struct mapping *by)
{
	if (lo == hi || l->v[lo].start >= start)
		return 0;
	*by = l->v[lo];
	by->end = start;
	return 1;
}

static uint32_t outside_behind(const struct maplist *l, uint32_t lo, uint32_t hi, uint64_t end, struct mapping *by)
{
	if (lo == hi || l->v[hi - 1].end <= end)
		return 0;
	*by = l->v[hi - 1];
	by->pgoff += end - by->start;
	by->start = end;
	return 1;
}

/* Index behind the last mapping that begins below end. */
static uint32_t first_beyond(const struct maplist *l, uint32_t lo, uint64_t end)
{
	while (lo < l->n && l->v[lo].start < end)
		lo++;
	return lo;
}

static bool maplist_add(struct spaces *s, struct maplist *l, struct mapping m)
{
	uint32_t lo = first_above(l, m.start), hi = first_beyond(l, lo, m.end), n = 0;
	struct mapping by[3];

	join_anonymous(l, &lo, &hi, &m);
	if (l->n - (hi - lo) + 3 > MAPPINGS_MOST)
		return false;
	for (uint32_t i = lo; i < hi; i++)
		if (m.file || l->v[i].file)
			remember_past(s, l, &l->v[i], m.from_ns);
	n += outside_front(l, lo, hi, m.start, by);
	by[n++] = m;
	n += outside_behind(l, lo, hi, m.end, &by[n]);
	return space_replace(s, l, lo, hi, by, n);
}

/* Takes start to end out of the list. */
static bool maplist_cut(struct spaces *s, struct maplist *l, uint64_t start, uint64_t end, uint64_t time_ns)
{
	uint32_t lo = first_above(l, start), hi = first_beyond(l, lo, end), n;
	struct mapping by[2];

	for (uint32_t i = lo; i < hi; i++) {
		struct mapping *past = remember_past(s, l, &l->v[i], time_ns);

		if (past)
			past->moved = true;
	}
	n = outside_front(l, lo, hi, start, by);
	n += outside_behind(l, lo, hi, end, &by[n]);
	return lo == hi || (l->n - (hi - lo) + n <= MAPPINGS_MOST && space_replace(s, l, lo, hi, by, n));
}

/* What addr was in at a time. The mapping of today serves an earlier time too, when nothing else is
 * known: it may have been there long before somebody looked. */
static const struct mapping *maplist_find(const struct maplist *l, uint64_t addr, uint64_t time_ns)
{
	uint32_t i = first_above(l, addr);
	const struct mapping *now = i < l->n && l->v[i].start <= addr ? &l->v[i] : NULL;

	if (!time_ns || (now && now->from_ns <= time_ns))
		return now;
	for (uint32_t p = l->npast; p-- > 0;) {
		const struct mapping *m = &l->past[p];

		if (addr >= m->start && addr < m->end && m->from_ns <= time_ns && time_ns < m->until_ns)
			return m;
	}
	return now;
}

/* ---- generations ---------------------------------------------------------------- */

static uint64_t newest_mapping_ns(const struct maplist *l)
{
	uint64_t ns = 0;

	for (uint32_t i = 0; i < l->n; i++)
		ns = l->v[i].from_ns > ns ? l->v[i].from_ns : ns;
	return ns;
}

static bool loss_add(struct maplist *l, uint64_t told_ns, uint64_t since_ns)
{
	uint64_t newest = since_ns ? newest_mapping_ns(l) : 0;
	struct loss *to;

	if (l->nlosses == LOSSES_MOST) {
		l->loss_from_ns = l->loss[LOSSES_MOST / 2].told_ns;
		l->nlosses -= LOSSES_MOST / 2 + 1;
		memmove(l->loss, l->loss + LOSSES_MOST / 2 + 1, l->nlosses * sizeof(*l->loss));
	}
	to = VEC_NEW(l->loss, l->nlosses, l->losses_cap);
	if (!to)
		return false;
	*to = (struct loss){ .told_ns = told_ns,
			     .at_ns = since_ns && newest >= since_ns && newest < told_ns ? newest : told_ns };
	return true;
}

/* Index of the first loss that was told later. */
static uint32_t first_loss_after(const struct maplist *l, uint64_t time_ns)
{
	uint32_t lo = 0, hi = l->nlosses;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (l->loss[mid].told_ns <= time_ns)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

struct sighting {                              /* of an address in a generation */
	uint64_t addr, from_ns, until_ns;      /* the generation */
	const struct mapping *before, *within; /* there when it began; come since */
	bool many; /* several came, of different bytes, or one to where another moved away */
};

static void sighting_try(struct sighting *g, const struct mapping *m)
{
	if (g->addr < m->start || g->addr >= m->end)
		return;
	if (m->from_ns <= g->from_ns) {
		if (m->until_ns > g->from_ns)
			g->before = m;
		return;
	}
	if (m->from_ns >= g->until_ns)
		return;
	g->many |= g->within && !same_bytes(g->within, m);
	g->many |= g->before && g->before->moved && g->before->until_ns < g->until_ns;
	g->within = m;
}

/* Whether facts that got lost may have been about this. */
static bool sighting_in_doubt(const struct maplist *l, const struct sighting *g, uint64_t lost_ns)
{
	uint32_t i;

	if (g->within && g->from_ns < l->loss_from_ns)
		return true;
	if (!g->within && l->strayed_ns && g->before->from_ns < l->strayed_ns && g->before->looked_ns < l->strayed_ns &&
	    g->until_ns > l->strayed_from_ns)
		return true;
	if (g->within)
		return g->before && lost_ns > g->from_ns && lost_ns < g->within->from_ns;
	i = first_loss_after(l, g->before->from_ns);
	return i < l->nlosses && l->loss[i].told_ns <= g->from_ns && lost_ns > l->loss[i].told_ns;
}

static enum seen maplist_seen(const struct maplist *l, uint64_t addr, uint64_t generation_ns, uint64_t lost_ns,
			      struct place *ret)
{
	uint32_t next = first_loss_after(l, generation_ns), i = first_above(l, addr);
	struct sighting g = { .addr = addr,
			      .from_ns = generation_ns,
			      .until_ns = next < l->nlosses ? l->loss[next].at_ns : UINT64_MAX };
	const struct mapping *m;

	for (uint32_t p = 0; p < l->npast; p++)
		sighting_try(&g, &l->past[p]);
	if (i < l->n)
		sighting_try(&g, &l->v[i]);
	m = g.within ? g.within : g.before;
	/* memory without a file has no name that could be wrong; as it grows it is as old as its youngest part */
	if (!m && i < l->n && l->v[i].start <= addr && !l->v[i].file)
		m = &l->v[i];
	else if (m && (g.many || sighting_in_doubt(l, &g, lost_ns)))
		return SEEN_GONE;
	else if (!m && (generation_ns < l->past_from_ns || generation_ns < l->loss_from_ns))
		return SEEN_GONE;
	else if (!m)
		return g.until_ns == UINT64_MAX ? SEEN_NOTHING : SEEN_EARLIER;
	ret->m = m;
	ret->since_ns = m->told && m->from_ns > g.from_ns ? m->from_ns : g.from_ns;
	if (m->again_ns > ret->since_ns && m->again_ns < g.until_ns)
		ret->since_ns = m->again_ns;
	ret->until_ns = m->until_ns < g.until_ns ? m->until_ns : g.until_ns;
	return SEEN_MAPPING;
}

/* ---- processes -------------------------------------------------------------------- */

static struct proc **bucket_of(const struct spaces *s, uint32_t pid)
{
	return &s->bucket[text_hash(&pid, sizeof(pid)) & (s->nbuckets - 1)];
}

static struct proc *proc_get(const struct spaces *s, uint32_t pid)
{
	struct proc *p = s->nbuckets ? *bucket_of(s, pid) : NULL;

	while (p && p->pid != pid)
		p = p->next;
	return p;
}

static bool buckets_double(struct spaces *s)
{
	struct spaces to = { .nbuckets = s->nbuckets ? s->nbuckets * 2 : 64 };

	to.bucket = mem_alloc(to.nbuckets * sizeof(struct proc *));
	if (!to.bucket)
		return false;
	for (uint32_t i = 0; i < s->nbuckets; i++)
		for (struct proc *p = s->bucket[i], *next; p; p = next) {
			struct proc **at = bucket_of(&to, p->pid);

			next = p->next;
			p->next = *at;
			*at = p;
		}
	mem_free(s->bucket);
	s->bucket = to.bucket;
	s->nbuckets = to.nbuckets;
	return true;
}

static struct proc *proc_make(struct spaces *s, uint32_t pid)
{
	struct proc *p = proc_get(s, pid), **at;

	if (p)
		return p;
	if (s->nprocs >= s->nbuckets && !buckets_double(s))
		return NULL;
	p = mem_alloc(sizeof(*p));
	if (!p)
		return NULL;
	p->pid = pid;
	at = bucket_of(s, pid);
	p->next = *at;
	*at = p;
	s->nprocs++;
	return p;
}

static void proc_free_if_empty(struct spaces *s, struct proc *p)
{
	struct proc **at = bucket_of(s, p->pid);

	if (p->newest)
		return;
	while (*at != p)
		at = &(*at)->next;
	*at = p->next;
	mem_free(p);
	s->nprocs--;
}

/* ---- life and death --------------------------------------------------------------- */

static void dead_unlink(struct spaces *s, struct space *sp)
{
	*(sp->dead_prev ? &sp->dead_prev->dead_next : &s->dead_first) = sp->dead_next;
	*(sp->dead_next ? &sp->dead_next->dead_prev : &s->dead_last) = sp->dead_prev;
	s->ndead--;
}

static void space_free(struct spaces *s, struct space *sp)
{
	struct proc *p = sp->proc;
	struct space **at = &p->newest;

	while (*at != sp)
		at = &(*at)->older;
	*at = sp->older;
	p->nspaces--;
	if (sp->dead)
		dead_unlink(s, sp);
	maplist_put(s, sp->maps);
	jit_free(sp->jit);
	mem_free(sp);
	proc_free_if_empty(s, p);
}

static void space_evict(struct spaces *s)
{
	uint32_t most = s->dead_most ? s->dead_most : SPACES_DEAD_MOST;

	while (s->dead_first && (s->ndead > most || s->nmappings > SPACES_MAPPINGS_MOST)) {
		space_free(s, s->dead_first);
		s->evicted++;
	}
}

static void space_died(struct spaces *s, struct space *sp)
{
	if (!sp || sp->dead)
		return;
	sp->dead = true;
	sp->dead_prev = s->dead_last;
	*(s->dead_last ? &s->dead_last->dead_next : &s->dead_first) = sp;
	s->dead_last = sp;
	s->ndead++;
}

static struct space *space_oldest(const struct proc *p)
{
	struct space *sp = p->newest;

	while (sp->older)
		sp = sp->older;
	return sp;
}

/* A new space in front of the chain; the one before it is dead. */
static struct space *space_new(struct spaces *s, uint32_t pid, uint64_t time_ns)
{
	struct proc *p = proc_make(s, pid);
	struct space *sp = p ? mem_alloc(sizeof(*sp)) : NULL;

	if (!sp) {
		if (p)
			proc_free_if_empty(s, p);
		return NULL;
	}
	space_died(s, p->newest);
	sp->proc = p;
	sp->start_ns = time_ns;
	sp->known_ns = UINT64_MAX;
	sp->older = p->newest;
	p->newest = sp;
	if (++p->nspaces > SPACES_PER_PROC_MOST) {
		space_free(s, space_oldest(p));
		s->evicted++;
	}
	return sp;
}

/* The space of a time; NULL when the process was not (known to be) there yet. */
static struct space *space_at(const struct proc *p, uint64_t time_ns)
{
	struct space *sp = p ? p->newest : NULL;

	while (sp && time_ns && sp->start_ns > time_ns)
		sp = sp->older;
	return sp;
}

bool spaces_map(struct spaces *s, uint32_t pid, const struct mapping *m)
{
	struct space *sp = space_at(proc_get(s, pid), m->from_ns);
	struct maplist *l;

	if (m->end <= m->start)
		return true;
	if (!sp && !(sp = space_new(s, pid, 0)))
		return false;
	if (says_nothing_new(sp->maps, m))
		return true;
	l = maplist_own(s, sp);
	if (!l || !maplist_add(s, l, *m))
		return false;
	space_evict(s);
	return true;
}

bool spaces_exec(struct spaces *s, uint32_t pid, uint64_t time_ns)
{
	struct space *sp = space_new(s, pid, time_ns);

	if (sp)
		sp->known_ns = time_ns;
	space_evict(s);
	return sp;
}

bool spaces_unmap(struct spaces *s, uint32_t pid, uint64_t time_ns, uint64_t since_ns)
{
	struct space *sp = space_at(proc_get(s, pid), time_ns);
	struct maplist *l;

	if (!sp && !(sp = space_new(s, pid, 0)))
		return false;
	l = maplist_own(s, sp);
	return l && loss_add(l, time_ns, since_ns);
}

/* The parts of l that lie in the place of m, at their new one. */
static bool maplist_move(struct spaces *s, struct maplist *l, const struct moving *m, uint64_t time_ns)
{
	const uint64_t end = m->at + m->len;
	uint32_t lo = first_above(l, m->at), n = first_beyond(l, lo, end) - lo;
	struct mapping *part = mem_alloc((n + 1) * sizeof(*part));
	bool good = part != NULL;

	if (good && n)
		memcpy(part, &l->v[lo], n * sizeof(*part));
	good = good && maplist_cut(s, l, m->at, end, time_ns);
	for (uint32_t i = 0; good && i < n; i++) {
		struct mapping p = part[i];

		if (p.start < m->at) {
			p.pgoff += m->at - p.start;
			p.start = m->at;
		}
		p.end = p.end < end ? p.end : end;
		p.start += m->to - m->at;
		p.end += m->to - m->at;
		p.end = p.end < m->to + m->to_len ? p.end : m->to + m->to_len;
		p.from_ns = time_ns;
		p.looked_ns = p.again_ns = 0;
		p.told = true;
		good = p.start >= p.end || maplist_add(s, l, p);
	}
	mem_free(part);
	return good;
}

bool spaces_move(struct spaces *s, uint32_t pid, const struct moving *m, uint64_t time_ns)
{
	struct space *sp = space_at(proc_get(s, pid), time_ns);
	const uint64_t end = m->at + m->len;
	struct maplist *l;
	uint32_t i;

	if (end < m->at || m->to + m->to_len < m->to)
		return true; /* the kernel refuses that */
	if (!sp || !sp->maps)
		return true; /* who is not known is looked at when an address needs it */
	i = first_above(sp->maps, m->at);
	if (i == sp->maps->n || sp->maps->v[i].start >= end)
		return true; /* nothing that was executable */
	if (!(l = maplist_own(s, sp)))
		return false;
	if (m->to)
		return maplist_move(s, l, m, time_ns);
	l->strayed_ns = time_ns;
	l->strayed_from_ns = l->strayed_from_ns ? l->strayed_from_ns : time_ns;
	sp->known_ns = UINT64_MAX;
	return maplist_cut(s, l, m->at, end, time_ns);
}

void spaces_looked(struct spaces *s, uint32_t pid, uint64_t time_ns)
{
	struct space *sp = space_at(proc_get(s, pid), time_ns);

	if (sp && sp->known_ns == UINT64_MAX)
		sp->known_ns = time_ns;
}

bool spaces_fork(struct spaces *s, uint32_t pid, uint32_t ppid, uint64_t time_ns)
{
	struct space *child = space_new(s, pid, time_ns), *parent = space_at(proc_get(s, ppid), time_ns);

	if (child && parent)
		child->known_ns = parent->known_ns;
	if (child && parent && parent->maps) {
		child->maps = parent->maps;
		child->maps->refs++;
	}
	space_evict(s);
	return child;
}

void spaces_exit(struct spaces *s, uint32_t pid)
{
	const struct proc *p = proc_get(s, pid);

	if (p)
		space_died(s, p->newest);
	space_evict(s);
}

/* ---- questions ------------------------------------------------------------------- */

struct space *spaces_find(const struct spaces *s, uint32_t pid, uint64_t addr, uint64_t time_ns,
			  const struct mapping **ret)
{
	const struct proc *p = proc_get(s, pid);
	struct space *sp = space_at(p, time_ns);

	*ret = sp && sp->maps ? maplist_find(sp->maps, addr, time_ns) : NULL;
	if (time_ns)
		return sp;
	for (struct space *old = sp; old && !*ret; old = old->older)
		if (old->maps && (*ret = maplist_find(old->maps, addr, 0)))
			return old;
	return sp;
}

enum seen spaces_seen(const struct spaces *s, uint32_t pid, uint64_t addr, uint64_t generation_ns, struct place *ret)
{
	struct space *sp = space_at(proc_get(s, pid), generation_ns);
	enum seen seen;

	*ret = (struct place){ .space = sp };
	if (!sp)
		return SEEN_GONE;
	seen = sp->maps ? maplist_seen(sp->maps, addr, generation_ns, s->lost_ns, ret) : SEEN_NOTHING;
	if (seen == SEEN_NOTHING || seen == SEEN_EARLIER)
		return sp->known_ns == UINT64_MAX || (seen == SEEN_EARLIER && sp->known_ns > generation_ns) ?
			       SEEN_GONE :
			       SEEN_NOTHING;
	return seen;
}

uint64_t space_until(const struct space *sp)
{
	const struct space *next = sp->proc->newest;

	while (next != sp && next->older != sp)
		next = next->older;
	return next == sp ? UINT64_MAX : next->start_ns;
}

bool spaces_knows(const struct spaces *s, uint32_t pid)
{
	const struct proc *p = proc_get(s, pid);

	for (const struct space *sp = p ? p->newest : NULL; sp; sp = sp->older)
		if (sp->maps && sp->maps->n)
			return true;
	return false;
}

void spaces_free(struct spaces *s)
{
	for (uint32_t i = 0; i < s->nbuckets; i++)
		while (s->bucket[i])
			space_free(s, s->bucket[i]->newest);
	mem_free(s->bucket);
	*s = (struct spaces){ 0 };
}
