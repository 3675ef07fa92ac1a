/*
 * table.c: addresses to names.
 *
 * One array sorted by start, one name per start.  Functions may lie inside
 * others (a hand-written loop with an inner entry, a fragment that the linker
 * placed in a gap), so the greatest start below an address need not be its
 * function: each symbol links to the one that encloses its start, and look-up
 * follows the links outwards.  A hostile file may nest as deeply as it has
 * symbols; LINKS_MOST keeps a look-up a look-up.
 *
 * A symbol without a size reaches to the next one, and never past the limit
 * that its maker gave it in `end`.  Inside of a sized function it is only a
 * label, and is dropped.  Where the next one may be missing, nobody knows how
 * far it reaches: then it is the name of its start alone.
 */
#include <stdlib.h>
#include <string.h>

#include "symbol/symbol_int.h"

#define LINKS_MOST 32
#define NAMES_PAGE 65536u

const char *names_add(struct names *p, const char *s, size_t n)
{
	char *to;

	if (n > NAME_MOST)
		n = NAME_MOST;
	if (n + 1 > p->left) {
		p->at = arena_alloc(&p->pages, NAMES_PAGE);
		p->left = p->at ? NAMES_PAGE : 0;
		if (!p->at)
			return NULL;
	}
	to = p->at;
	for (size_t i = 0; i < n; i++)
		to[i] = (unsigned char)s[i] < ' ' || s[i] == 127 ? '?' : s[i];
	to[n] = 0;
	p->at += n + 1;
	p->left -= n + 1;
	p->bytes += n + 1;
	return to;
}

void names_free(struct names *p)
{
	arena_free(&p->pages);
	*p = (struct names){ 0 };
}

bool table_add(struct table *t, const struct sym *s)
{
	struct sym *to = VEC_NEW(t->v, t->n, t->cap);

	if (to)
		*to = *s;
	return to;
}

static int by_start(const void *x, const void *y)
{
	const struct sym *a = x, *b = y;

	return a->start != b->start ? (a->start > b->start) - (a->start < b->start) :
				      (a->link > b->link) - (a->link < b->link);
}

/* Tables mostly come nearly sorted (kallsyms, a map that was appended to): only what is not yet is
 * sorted, and merged from the back, with what is being merged kept aside. Falls back to sorting
 * all when there is no memory. */
void table_sort(struct table *t)
{
	uint32_t left = t->n ? 1 : 0, right;
	struct sym *tail;

	while (left < t->n && t->v[left - 1].start <= t->v[left].start)
		left++;
	right = t->n - left;
	if (!right)
		return;
	tail = left > right ? mem_alloc(right * sizeof(*tail)) : NULL;
	if (!tail) {
		qsort(t->v, t->n, sizeof(*t->v), by_start);
		return;
	}
	memcpy(tail, t->v + left, right * sizeof(*tail));
	qsort(tail, right, sizeof(*tail), by_start);
	for (uint32_t to = t->n; right; to--)
		if (left && t->v[left - 1].start > tail[right - 1].start)
			t->v[to - 1] = t->v[--left];
		else
			t->v[to - 1] = tail[--right];
	mem_free(tail);
}

static bool is_better(const struct sym *x, const struct sym *y)
{
	size_t a, b;

	if (x->rank != y->rank)
		return x->rank < y->rank;
	if (x->link != y->link)
		return x->link > y->link;
	if (!x->name || !y->name)
		return x->name && !y->name;
	a = strspn(x->name, "_");
	b = strspn(y->name, "_");
	return a != b ? a < b : strcmp(x->name, y->name) < 0;
}

/* One symbol per start; no labels inside of sized functions. */
static void table_thin(struct table *t)
{
	uint64_t covered = 0;
	uint32_t kept = 0, next;

	for (uint32_t i = 0; i < t->n; i = next) {
		struct sym best = t->v[i];

		for (next = i + 1; next < t->n && t->v[next].start == best.start; next++)
			if (is_better(&t->v[next], &best))
				best = t->v[next];
		if (best.rank & (RANK_NOSIZE | RANK_NOTYPE)) {
			if (best.start < covered)
				continue;
		} else if (best.end > covered) {
			covered = best.end;
		}
		t->v[kept++] = best;
	}
	t->n = kept;
}

/* Ends of those without a size; links. */
static void table_settle(struct table *t)
{
	uint32_t around = 0;

	for (uint32_t i = 0; i < t->n; i++) {
		struct sym *s = &t->v[i];

		if (s->rank & RANK_NOSIZE && i + 1 < t->n && t->v[i + 1].start < s->end)
			s->end = t->v[i + 1].start;
		while (around && t->v[around - 1].end <= s->start)
			around = t->v[around - 1].link;
		s->link = around;
		around = i + 1;
	}
}

static void table_confine(struct table *t)
{
	for (uint32_t i = 0; i < t->n; i++)
		if (t->v[i].rank & RANK_NOSIZE)
			t->v[i].end = t->v[i].start + 1;
}

void table_build(struct table *t)
{
	if (t->incomplete)
		table_confine(t);
	table_sort(t);
	table_thin(t);
	table_settle(t);
}

const struct sym *table_find(const struct table *t, uint64_t addr)
{
	uint32_t lo = SORTED_UPTO(t->v, t->n, start, addr);

	for (int i = 0; lo && i < LINKS_MOST; i++, lo = t->v[lo - 1].link)
		if (addr < t->v[lo - 1].end)
			return &t->v[lo - 1];
	return NULL;
}

void table_free(struct table *t)
{
	mem_free(t->v);
	*t = (struct table){ 0 };
}
