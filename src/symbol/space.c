/*
 * space.c: processes as address spaces over time.
 *
 * A process is a chain of spaces, newest first: a new one starts when the pid is born and at every exec. An address
 * is looked up in the space that the process had at the time. So its file is found although the process has called
 * exec since, or has ended, or another has its pid now.
 *
 * What a space maps is its memory. Two processes can share one (clone() with CLONE_VM, vfork()): what one of them
 * maps, the other one has, until either calls exec.
 *
 * The mappings of a memory are sorted and never overlap: a new one cuts the ranges that it covers, and these are
 * remembered with the time of their end (munmap is not reported; the next mapping of the place shows it). A fork
 * shares the parent's list by count until one of them maps something, so a storm of fork and exec copies nothing.
 * What ended before the fork no address of the child can have been in, so the child doesn't inherit it.
 *
 * A firing has the *generation* of its process's mappings in which it saw an address (slot.h): the time of the last
 * loss of an executable mapping before it. The losses are reported too, so a generation has an end. Within a
 * generation nothing is unmapped. So an address that was newly mapped in it was free before, and the new mapping is
 * the one that was seen; otherwise it is the one that existed when the generation began. Two mappings in one
 * generation, missing facts, or a process that had not been read yet: then the mapping counts as gone, and nothing is
 * guessed.
 *
 * Code that mremap() moves keeps its name at its new place. If the new place is not known, it may cover any earlier
 * mapping: until the process is read again, only mappings that came since are certain.
 *
 * Memory: spaces of the dead (ended, or left by exec) queue in order of death, and the oldest are freed when there
 * are too many of them or of all mappings. The lengths of a list, of a past and of a chain are bounded, too: the older
 * half of a past that is full is freed at once. An address in what was freed is forgotten: it is not said to be gone.
 */
#include <string.h>

#include "symbol/symbol_int.h"

struct loss {             /* of an executable mapping */
	uint64_t told_ns; /* the generation that began with it */
	uint64_t at_ns;   /* when the one before ended: earlier, where a mapping took the place */
};
struct maplist {
	uint32_t refs;
	uint32_t n, cap;
	struct mapping *v; /* sorted, apart */
};
struct memory {
	uint32_t refs; /* of spaces */
	uint32_t npast, past_cap, nlosses, losses_cap;
	struct maplist *now;                  /* NULL: nothing; shared with a fork until one side maps */
	struct mapping *past;                 /* cut since: in order of their end */
	struct loss *loss;                    /* in order of time */
	uint64_t known_ns;                    /* all its mappings are known from then on; UINT64_MAX: some only */
	uint64_t past_from_ns, loss_from_ns;  /* what ended before is forgotten, for want of room */
	uint64_t strayed_ns, strayed_from_ns; /* when code moved to where nobody says, last and first */
	uint64_t forked_ns, forked_loss_ns;   /* older mappings are the parent's; its first loss, 0: none */
	struct data data;
};

/* ---- mappings ----------------------------------------------------------------- */

static void maplist_put(struct spaces *s, struct maplist *l)
{
	if (!l || --l->refs)
		return;
	s->nmappings -= l->n;
	mem_free(l->v);
	mem_free(l);
}

static struct maplist *maplist_copy(struct spaces *s, const struct maplist *from)
{
	struct maplist *l = mem_alloc(sizeof(*l));

	if (!l)
		return NULL;
	l->refs = 1;
	if (!from || !from->n)
		return l;
	l->v = mem_alloc(from->n * sizeof(*l->v));
	if (!l->v) {
		mem_free(l);
		return NULL;
	}
	memcpy(l->v, from->v, from->n * sizeof(*l->v));
	l->n = l->cap = from->n;
	s->nmappings += l->n;
	return l;
}

/* The memory's own list, for changing it. */
static struct maplist *maplist_own(struct spaces *s, struct memory *m)
{
	struct maplist *l = m->now;

	if (l && l->refs == 1)
		return l;
	l = maplist_copy(s, m->now);
	if (!l)
		return NULL;
	maplist_put(s, m->now);
	m->now = l;
	return l;
}

static void memory_put(struct spaces *s, struct memory *m)
{
	if (!m || --m->refs)
		return;
	maplist_put(s, m->now);
	data_free(&m->data, &s->nstretches);
	s->nmappings -= m->npast;
	s->nlosses -= m->nlosses;
	mem_free(m->past);
	mem_free(m->loss);
	mem_free(m);
}

/* Index of the first mapping that ends above addr. */
static uint32_t first_above(const struct maplist *l, uint64_t addr)
{
	return l ? SORTED_UPTO(l->v, l->n, end, addr) : 0;
}

static bool same_bytes(const struct mapping *a, const struct mapping *b)
{
	return a->file == b->file && (!a->file || a->start - a->pgoff == b->start - b->pgoff);
}

/* Whether m is a mapping that is known, or a part of one: number *i. */
static bool mapping_is_known(const struct maplist *l, const struct mapping *m, uint32_t *i)
{
	const struct mapping *is;

	*i = first_above(l, m->start);
	is = l && *i < l->n ? &l->v[*i] : NULL;
	return is && is->start <= m->start && is->end >= m->end && same_bytes(is, m);
}

/* A report may repeat what is known: m may say that a mapping which somebody looked at is older than the look, that it
 * was there when somebody looked again, or that it was mapped anew. Whether it says any of that. */
static bool mapping_confirm(struct mapping *is, const struct mapping *m)
{
	const struct mapping was = *is;

	is->looked_ns = m->looked_ns > is->looked_ns ? m->looked_ns : is->looked_ns;
	if (is->start == m->start && is->end == m->end) {
		if (m->from_ns < is->from_ns) {
			is->from_ns = m->from_ns;
			is->told = m->told;
		} else if (m->told) {
			is->again_ns = m->from_ns;
		}
	}
	return is->looked_ns != was.looked_ns || is->from_ns != was.from_ns || is->told != was.told ||
	       is->again_ns != was.again_ns;
}

/* Of number i of what is mapped now. A list that others have, too, stays theirs as it is. */
static bool memory_confirm(struct spaces *s, struct memory *mem, uint32_t i, const struct mapping *m)
{
	struct mapping is = mem->now->v[i];
	struct maplist *l;

	if (!mapping_confirm(&is, m))
		return true;
	l = maplist_own(s, mem);
	if (l)
		l->v[i] = is;
	return l;
}

/* Forgets the older half of what was mapped. */
static void memory_forget_past(struct spaces *s, struct memory *m)
{
	uint32_t n = (m->npast + 1) / 2;

	if (!n)
		return;
	m->past_from_ns = m->past[n - 1].until_ns;
	m->npast -= n;
	s->nmappings -= n;
	memmove(m->past, m->past + n, m->npast * sizeof(*m->past));
}

static struct mapping *memory_remember(struct spaces *s, struct memory *m, const struct mapping *is, uint64_t until_ns)
{
	uint32_t i;

	if (m->npast == MAPPINGS_PAST_MOST || (s->nmappings > SPACES_MAPPINGS_MOST && !s->dead_first))
		memory_forget_past(s, m);
	if (!VEC_NEW(m->past, m->npast, m->past_cap)) { /* the present matters more */
		m->past_from_ns = until_ns > m->past_from_ns ? until_ns : m->past_from_ns;
		return NULL;
	}
	/* who looked may have been ahead of what is told */
	for (i = m->npast - 1; i > 0 && m->past[i - 1].until_ns > until_ns; i--)
		m->past[i] = m->past[i - 1];
	m->past[i] = *is;
	m->past[i].until_ns = until_ns;
	s->nmappings++;
	return &m->past[i];
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

static bool memory_add(struct spaces *s, struct memory *mem, struct mapping m)
{
	struct maplist *l = maplist_own(s, mem);
	uint32_t lo = first_above(l, m.start), hi, n = 0;
	struct mapping by[3];

	if (!l)
		return false;
	hi = first_beyond(l, lo, m.end);
	join_anonymous(l, &lo, &hi, &m);
	if (l->n - (hi - lo) + 3 > MAPPINGS_MOST)
		return false;
	for (uint32_t i = lo; i < hi; i++)
		if (m.file || l->v[i].file)
			memory_remember(s, mem, &l->v[i], m.from_ns);
	n += outside_front(l, lo, hi, m.start, by);
	by[n++] = m;
	n += outside_behind(l, lo, hi, m.end, &by[n]);
	return space_replace(s, l, lo, hi, by, n);
}

/* Takes start to end out of what is mapped. */
static bool memory_cut(struct spaces *s, struct memory *m, uint64_t start, uint64_t end, uint64_t time_ns, bool moved)
{
	struct maplist *l = maplist_own(s, m);
	uint32_t lo = first_above(l, start), hi, n;
	struct mapping by[2];

	if (!l)
		return false;
	hi = first_beyond(l, lo, end);
	for (uint32_t i = lo; i < hi; i++) {
		struct mapping *past = memory_remember(s, m, &l->v[i], time_ns);

		if (past)
			past->moved = moved;
	}
	n = outside_front(l, lo, hi, start, by);
	n += outside_behind(l, lo, hi, end, &by[n]);
	return lo == hi || (l->n - (hi - lo) + n <= MAPPINGS_MOST && space_replace(s, l, lo, hi, by, n));
}

/* What is mapped at addr now, or NULL. */
static const struct mapping *memory_now(const struct memory *m, uint64_t addr)
{
	uint32_t i = first_above(m->now, addr);

	return m->now && i < m->now->n && m->now->v[i].start <= addr ? &m->now->v[i] : NULL;
}

/* What addr was in at a time. The mapping of today serves an earlier time too, when nothing else is
 * known: it may have been there long before somebody looked. */
static const struct mapping *memory_find(const struct memory *m, uint64_t addr, uint64_t time_ns)
{
	const struct mapping *now = memory_now(m, addr);

	if (!time_ns || (now && now->from_ns <= time_ns))
		return now;
	for (uint32_t p = m->npast; p-- > 0 && time_ns < m->past[p].until_ns;) {
		const struct mapping *is = &m->past[p];

		if (addr >= is->start && addr < is->end && is->from_ns <= time_ns)
			return is;
	}
	return now;
}

/* ---- generations ---------------------------------------------------------------- */

static uint64_t newest_mapping_ns(const struct maplist *l)
{
	uint64_t ns = 0;

	for (uint32_t i = 0; l && i < l->n; i++)
		ns = l->v[i].from_ns > ns ? l->v[i].from_ns : ns;
	return ns;
}

static bool loss_add(struct spaces *s, struct memory *m, uint64_t told_ns, uint64_t since_ns)
{
	uint64_t newest = since_ns ? newest_mapping_ns(m->now) : 0;
	struct loss *to;

	if (m->nlosses == LOSSES_MOST || (m->nlosses > 1 && s->nlosses > SPACES_LOSSES_MOST && !s->dead_first)) {
		uint32_t n = m->nlosses / 2 + 1;

		m->loss_from_ns = m->loss[n - 1].told_ns;
		m->nlosses -= n;
		s->nlosses -= n;
		memmove(m->loss, m->loss + n, m->nlosses * sizeof(*m->loss));
	}
	to = VEC_NEW(m->loss, m->nlosses, m->losses_cap);
	if (!to)
		return false;
	s->nlosses++;
	*to = (struct loss){ .told_ns = told_ns,
			     .at_ns = since_ns && newest >= since_ns && newest < told_ns ? newest : told_ns };
	return true;
}

/* Index of the first loss that was told later. */
static uint32_t first_loss_after(const struct memory *m, uint64_t time_ns)
{
	return SORTED_UPTO(m->loss, m->nlosses, told_ns, time_ns);
}

/* Index of the first mapping of the past that ended later. */
static uint32_t first_past_after(const struct memory *m, uint64_t time_ns)
{
	return SORTED_UPTO(m->past, m->npast, until_ns, time_ns);
}

struct sighting {                              /* of an address in a generation */
	uint64_t addr, from_ns, until_ns;      /* the generation */
	const struct mapping *before, *within; /* there when it began; come since */
	bool many; /* several came, of different bytes, or one to where another moved away */
};

/* False: what came to the address later came after the generation. */
static bool sighting_try(struct sighting *g, const struct mapping *m)
{
	if (!m || g->addr < m->start || g->addr >= m->end)
		return true;
	if (m->from_ns <= g->from_ns) {
		if (m->until_ns > g->from_ns)
			g->before = m;
		return true;
	}
	if (m->from_ns >= g->until_ns)
		return false;
	g->many |= g->within && !same_bytes(g->within, m);
	g->many |= g->before && g->before->moved && g->before->until_ns < g->until_ns;
	g->within = m;
	return true;
}

/* What was at the address, of all that is remembered. */
static void sighting_look(struct sighting *g, const struct memory *m, const struct mapping *now)
{
	if (!now || now->from_ns > g->from_ns)
		for (uint32_t p = first_past_after(m, g->from_ns); p < m->npast; p++)
			if (!sighting_try(g, &m->past[p]))
				return;
	sighting_try(g, now);
}

/* Whether facts that got lost may have been about this. */
static bool sighting_in_doubt(const struct memory *m, const struct sighting *g, uint64_t lost_ns)
{
	const uint64_t since_ns = g->before ? g->before->from_ns : 0;
	uint32_t i;

	if (!g->within && m->strayed_ns && since_ns < m->strayed_ns && g->before->looked_ns < m->strayed_ns &&
	    g->until_ns > m->strayed_from_ns)
		return true;
	if (g->within)
		return g->before && lost_ns > g->from_ns && lost_ns < g->within->from_ns;
	if (m->forked_loss_ns && since_ns < m->forked_ns && lost_ns > since_ns && lost_ns > m->forked_loss_ns)
		return true;
	i = first_loss_after(m, since_ns);
	return i < m->nlosses && m->loss[i].told_ns <= g->from_ns && lost_ns > m->loss[i].told_ns;
}

static enum seen memory_seen(const struct memory *mem, uint64_t addr, uint64_t generation_ns, uint64_t lost_ns,
			     struct place *ret)
{
	const bool forgot = generation_ns < mem->past_from_ns || generation_ns < mem->loss_from_ns;
	uint32_t next = first_loss_after(mem, generation_ns);
	const struct mapping *now = memory_now(mem, addr), *m;
	struct sighting g = { .addr = addr,
			      .from_ns = generation_ns,
			      .until_ns = next < mem->nlosses ? mem->loss[next].at_ns : UINT64_MAX };

	sighting_look(&g, mem, now);
	m = g.within ? g.within : g.before;
	/* memory without a file has no name that could be wrong; as it grows it is as old as its youngest part */
	if (!m && now && !now->file)
		m = now;
	else if (forgot && (!m || g.within))
		return SEEN_FORGOTTEN;
	else if (m && (g.many || sighting_in_doubt(mem, &g, lost_ns)))
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
	memory_put(s, sp->memory);
	jit_free(sp->jit);
	jit_free(sp->dump);
	mem_free(sp);
	proc_free_if_empty(s, p);
}

/* An address that was seen in it is forgotten from now on, though nothing else is known of its process. */
static void space_forget(struct spaces *s, struct space *sp)
{
	const uint32_t pid = sp->proc->pid;

	if (!s->forgotten)
		s->forgotten = mem_alloc(SPACES_PIDS_MOST / 8);
	if (s->forgotten && pid < SPACES_PIDS_MOST)
		s->forgotten[pid / 64] |= UINT64_C(1) << pid % 64;
	space_free(s, sp);
	s->evicted++;
}

static void space_evict(struct spaces *s)
{
	uint32_t most = s->dead_most ? s->dead_most : SPACES_DEAD_MOST;

	while (s->dead_first && (s->ndead > most || s->nmappings > SPACES_MAPPINGS_MOST ||
				 s->nlosses > SPACES_LOSSES_MOST || s->nstretches > SPACES_STRETCHES_MOST))
		space_forget(s, s->dead_first);
}

static void space_died(struct spaces *s, struct space *sp)
{
	if (!sp || sp->dead)
		return;
	sp->dead = true;
	sp->lost_ns = s->lost_ns;
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

/* A new space in front of the chain, with an empty memory of which only some is known; the one before it is dead. */
static struct space *space_new(struct spaces *s, uint32_t pid, uint64_t time_ns)
{
	struct proc *p = proc_make(s, pid);
	struct space *sp = p ? mem_alloc(sizeof(*sp)) : NULL;

	if (sp)
		sp->memory = mem_alloc(sizeof(*sp->memory));
	if (!sp || !sp->memory) {
		mem_free(sp);
		if (p)
			proc_free_if_empty(s, p);
		return NULL;
	}
	space_died(s, p->newest);
	sp->proc = p;
	sp->start_ns = time_ns;
	sp->memory->refs = 1;
	sp->memory->known_ns = UINT64_MAX;
	sp->older = p->newest;
	p->newest = sp;
	if (++p->nspaces > SPACES_PER_PROC_MOST)
		space_forget(s, space_oldest(p));
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
	uint32_t i;

	if (m->end <= m->start)
		return true;
	if (!sp && !(sp = space_new(s, pid, 0)))
		return false;
	if (!(mapping_is_known(sp->memory->now, m, &i) ? memory_confirm(s, sp->memory, i, m) :
							 memory_add(s, sp->memory, *m))) {
		s->lost_ns = m->from_ns > s->lost_ns ? m->from_ns : s->lost_ns;
		return false;
	}
	space_evict(s);
	return true;
}

bool spaces_exec(struct spaces *s, uint32_t pid, uint64_t time_ns)
{
	struct space *sp = space_new(s, pid, time_ns);

	if (sp) {
		sp->memory->known_ns = time_ns;
		sp->memory->data.known = true;
		sp->ppid = sp->older ? sp->older->ppid : 0;
	}
	space_evict(s);
	return sp;
}

bool spaces_unmap(struct spaces *s, uint32_t pid, uint64_t time_ns, uint64_t since_ns)
{
	struct space *sp = space_at(proc_get(s, pid), time_ns);

	if (!sp && !(sp = space_new(s, pid, 0)))
		return false;
	return loss_add(s, sp->memory, time_ns, since_ns);
}

static struct memory *memory_of(struct spaces *s, uint32_t pid, uint64_t time_ns)
{
	struct space *sp = space_at(proc_get(s, pid), time_ns);

	if (!sp)
		sp = space_new(s, pid, 0);
	return sp ? sp->memory : NULL;
}

bool spaces_data(struct spaces *s, uint32_t pid, const struct stretch *m)
{
	struct memory *mem = memory_of(s, pid, m->from_ns);

	if (!mem)
		return false;
	data_put(&mem->data, &s->nstretches, m);
	space_evict(s);
	return true;
}

bool spaces_unmapped(struct spaces *s, uint32_t pid, const struct stretch *m)
{
	struct memory *mem = memory_of(s, pid, m->from_ns);

	if (!mem)
		return false;
	data_put(&mem->data, &s->nstretches, m);
	return !mem->now || memory_cut(s, mem, m->start, m->end, m->from_ns, false);
}

bool spaces_heap(struct spaces *s, uint32_t pid, const struct stretch *m)
{
	struct memory *mem = memory_of(s, pid, m->from_ns);

	if (mem)
		data_heap(&mem->data, &s->nstretches, m);
	return mem;
}

/* The part of is that lies in the place of m, at its new one. */
static struct mapping mapping_moved(const struct mapping *is, const struct moving *m, uint64_t time_ns)
{
	const uint64_t end = m->at + (m->len ? m->len : 1);
	struct mapping p = *is;

	if (p.start < m->at) {
		p.pgoff += m->at - p.start;
		p.start = m->at;
	}
	p.end = p.end < end ? p.end - m->at : m->to_len; /* the last one may grow */
	p.end = m->to + (p.end < m->to_len ? p.end : m->to_len);
	p.start += m->to - m->at;
	p.from_ns = time_ns;
	p.looked_ns = p.again_ns = 0;
	p.told = true;
	return p;
}

static bool memory_move(struct spaces *s, struct memory *mem, const struct moving *m, uint64_t time_ns)
{
	const uint64_t end = m->at + (m->len ? m->len : 1);
	uint32_t lo = first_above(mem->now, m->at), n = first_beyond(mem->now, lo, end) - lo;
	struct mapping *part = mem_alloc((n + 1) * sizeof(*part));
	bool good = part != NULL;

	if (good && n)
		memcpy(part, &mem->now->v[lo], n * sizeof(*part));
	good = good && (m->stays || memory_cut(s, mem, m->at, end, time_ns, true));
	for (uint32_t i = 0; good && i < n; i++) {
		const struct mapping p = mapping_moved(&part[i], m, time_ns);

		good = p.start >= p.end || memory_add(s, mem, p);
	}
	mem_free(part);
	return good;
}

bool spaces_move(struct spaces *s, uint32_t pid, const struct moving *m, uint64_t time_ns)
{
	struct space *sp = space_at(proc_get(s, pid), time_ns);
	const uint64_t end = m->at + (m->len ? m->len : 1);
	struct memory *mem = sp ? sp->memory : NULL;
	uint32_t i;

	if (end < m->at || m->to + m->to_len < m->to)
		return true; /* the kernel refuses that */
	if (mem && s->keeps_data)
		data_move(&mem->data, &s->nstretches, m, time_ns);
	if (!mem || !mem->now)
		return true; /* who is not known is looked at when an address needs it */
	i = first_above(mem->now, m->at);
	if (i == mem->now->n || mem->now->v[i].start >= end)
		return true; /* nothing that was executable */
	if (m->to)
		return memory_move(s, mem, m, time_ns);
	mem->strayed_ns = time_ns;
	mem->strayed_from_ns = mem->strayed_from_ns ? mem->strayed_from_ns : time_ns;
	mem->known_ns = UINT64_MAX;
	return m->stays || memory_cut(s, mem, m->at, end, time_ns, true);
}

void spaces_looked(struct spaces *s, uint32_t pid, uint64_t time_ns)
{
	struct space *sp = space_at(proc_get(s, pid), time_ns);

	if (sp && sp->memory->known_ns == UINT64_MAX)
		sp->memory->known_ns = time_ns;
	if (sp)
		data_looked(&sp->memory->data, time_ns);
}

/* The first generation that m or whom it was forked from is known to have begun; 1: longer ago than is remembered. */
static uint64_t memory_first_loss(const struct memory *m)
{
	return m->forked_loss_ns ? m->forked_loss_ns : m->loss_from_ns ? 1 : m->nlosses ? m->loss[0].told_ns : 0;
}

bool spaces_fork(struct spaces *s, uint32_t pid, uint32_t ppid, uint64_t time_ns)
{
	struct space *child = space_new(s, pid, time_ns), *parent = space_at(proc_get(s, ppid), time_ns);

	if (child)
		child->ppid = ppid;
	if (child && parent) {
		struct memory *to = child->memory;
		const struct memory *from = parent->memory;

		to->known_ns = from->known_ns;
		to->strayed_ns = from->strayed_ns;
		to->strayed_from_ns = from->strayed_from_ns;
		to->forked_ns = time_ns;
		to->forked_loss_ns = memory_first_loss(from);
		to->now = from->now;
		if (to->now)
			to->now->refs++;
		data_fork(&to->data, &from->data);
	}
	space_evict(s);
	return child;
}

bool spaces_share(struct spaces *s, uint32_t pid, uint32_t ppid)
{
	const struct proc *child = proc_get(s, pid), *p = proc_get(s, ppid);
	struct space *parent = p ? p->newest : NULL, *sp;

	if (!child || (!parent && !(parent = space_new(s, ppid, 0))))
		return false;
	sp = child->newest;
	if (sp->memory != parent->memory) {
		memory_put(s, sp->memory);
		sp->memory = parent->memory;
		sp->memory->refs++;
	}
	return true;
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

	*ret = sp ? memory_find(sp->memory, addr, time_ns) : NULL;
	if (time_ns)
		return sp;
	for (struct space *old = sp; old && !*ret; old = old->older)
		if ((*ret = memory_find(old->memory, addr, 0)))
			return old;
	return sp;
}

enum seen spaces_seen(const struct spaces *s, uint32_t pid, uint64_t addr, uint64_t generation_ns, struct place *ret)
{
	struct space *sp = space_at(proc_get(s, pid), generation_ns);
	enum seen seen;

	*ret = (struct place){ .space = sp };
	if (!sp)
		return s->forgotten && pid < SPACES_PIDS_MOST && s->forgotten[pid / 64] >> pid % 64 & 1 ?
			       SEEN_FORGOTTEN :
			       SEEN_GONE;
	seen = memory_seen(sp->memory, addr, generation_ns, s->lost_ns, ret);
	if (seen == SEEN_NOTHING || seen == SEEN_EARLIER) {
		const uint64_t known_ns = sp->memory->known_ns;

		return known_ns == UINT64_MAX || (seen == SEEN_EARLIER && known_ns > generation_ns) ? SEEN_GONE :
												      SEEN_NOTHING;
	}
	return seen;
}

/* When facts of it got lost, last: those that got lost after it ended are none of its. */
static uint64_t space_lost_ns(const struct spaces *s, const struct space *sp)
{
	return sp->dead ? sp->lost_ns : s->lost_ns;
}

bool space_data_seen(const struct spaces *s, const struct space *sp, uint64_t addr, uint64_t generation_ns,
		     struct stretch *ret)
{
	const struct memory *m = sp->memory;
	const uint64_t lost_ns = space_lost_ns(s, sp);
	const uint32_t next = first_loss_after(m, generation_ns);
	const uint64_t until_ns = generation_ns && next < m->nlosses ? m->loss[next].at_ns : UINT64_MAX;

	return generation_ns >= m->loss_from_ns &&
	       data_seen(&m->data, addr, generation_ns ? generation_ns : UINT64_MAX - 1, until_ns, ret) &&
	       (ret->since_ns >= lost_ns || ret->looked_ns >= lost_ns);
}

bool spaces_data_strayed(const struct spaces *s, uint32_t pid, uint64_t now_ns)
{
	const struct proc *p = proc_get(s, pid);
	const struct data *d = p ? &p->newest->memory->data : NULL;

	return d && !p->newest->dead && d->strayed_ns && now_ns - d->looked_ns >= DATA_LOOK_NS;
}

bool space_data_may_be_found(const struct spaces *s, const struct space *sp, uint64_t addr)
{
	return !sp->dead && data_may_be_found(&sp->memory->data, addr, s->lost_ns);
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
		if (sp->memory->now && sp->memory->now->n)
			return true;
	return false;
}

uint32_t space_neighbours(const struct space *sp, uint64_t addr, uint64_t ret[2])
{
	const struct maplist *l = sp->memory->now;
	uint32_t above = first_above(l, addr), below = above, n = 0;

	while (below > 0 && !l->v[below - 1].file)
		below--;
	while (l && above < l->n && !l->v[above].file)
		above++;
	if (below > 0)
		ret[n++] = l->v[below - 1].start;
	if (l && above < l->n)
		ret[n++] = l->v[above].start;
	return n;
}

bool space_can_be_read(const struct space *sp)
{
	return !sp || (sp->memory->known_ns == UINT64_MAX && !sp->dead);
}

uint32_t spaces_ancestors(const struct spaces *s, uint32_t pid, uint64_t time_ns, uint32_t *ret, uint32_t most)
{
	uint32_t n = 0;

	for (const struct space *sp = space_at(proc_get(s, pid), time_ns); sp && sp->ppid && n < most;
	     sp = space_at(proc_get(s, ret[n - 1]), time_ns))
		ret[n++] = sp->ppid;
	return n;
}

void spaces_free(struct spaces *s)
{
	for (uint32_t i = 0; i < s->nbuckets; i++)
		while (s->bucket[i])
			space_free(s, s->bucket[i]->newest);
	mem_free(s->bucket);
	mem_free(s->forgotten);
	*s = (struct spaces){ 0 };
}
