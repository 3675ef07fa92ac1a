/*
 * stats_table.c: rows by key, and what is frequent among very many.
 *
 * A trace has few requesters and completers, so they get rows, the first
 * thousand of them; the others share one.  It may have millions of addresses,
 * so those get a sketch: a table that counts exactly until it is full, then
 * takes the same number from every count, and drops those that reach nothing
 * (Misra and Gries, "Finding repeated elements", 1982, with the decrements of
 * half a table done at once).  The number is about the median, so each such
 * sweep is paid for by the hundreds of keys that come before the next; the sum of
 * these numbers bounds every error.
 */
#include <stdlib.h>

#include "ptt/stats_int.h"

/* ---- rows ---------------------------------------------------------------------------------- */

uint32_t row_new(struct row_index *x, uint64_t key)
{
	uint32_t i = (uint32_t)(key * 0x9e3779b97f4a7c15ull >> 52);

	if (x->n == PTT_STATS_ROWS)
		return PTT_STATS_ROWS;
	while (x->key[i] != 0)
		i = (i + 1) % COUNT(x->key);
	x->key[i] = key + 1;
	x->of_row[x->n] = key;
	return x->row[i] = (uint16_t)x->n++;
}

/* ---- sketch ---------------------------------------------------------------------------------- */

int sketch_open(struct sketch *k, uint32_t room)
{
	*k = (struct sketch){ .mask = 2 * room - 1, .shift = (uint32_t)__builtin_clzll(2 * room - 1), .room = room };
	k->entry = mem_alloc(2 * room * sizeof(*k->entry));
	k->spare = mem_alloc(2 * room * sizeof(*k->spare));
	return k->entry && k->spare ? 0 : -TALLY_ENOMEM;
}

void sketch_close(struct sketch *k)
{
	mem_free(k->entry);
	mem_free(k->spare);
}

static struct sketch_entry *sketch_place(const struct sketch *k, struct sketch_entry *table, uint64_t key)
{
	uint32_t i = (uint32_t)(key * 0x9e3779b97f4a7c15ull >> k->shift);

	while (table[i].key != 0 && table[i].key != key)
		i = (i + 1) & k->mask;
	return &table[i];
}

struct sketch_entry *sketch_find(const struct sketch *k, uint64_t key)
{
	struct sketch_entry *e = sketch_place(k, k->entry, key);

	return e->key == key ? e : NULL;
}

static int sketch_ascending(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return (x > y) - (x < y);
}

/* About the median of all counts: that of the first so many, which hashing has shuffled. */
static uint64_t sketch_middle(const struct sketch *k)
{
	uint64_t v[256];
	uint32_t n = 0;

	for (uint32_t i = 0; i <= k->mask && n < COUNT(v); i++)
		if (k->entry[i].n != 0)
			v[n++] = k->entry[i].n;
	qsort(v, n, sizeof(*v), sketch_ascending);
	return v[n / 2];
}

static void sketch_sweep(struct sketch *k)
{
	struct sketch_entry *old = k->entry;
	uint64_t less = sketch_middle(k);

	memset(k->spare, 0, ((size_t)k->mask + 1) * sizeof(*k->spare));
	k->used = 0;
	for (uint32_t i = 0; i <= k->mask; i++)
		if (old[i].n > less) {
			struct sketch_entry *e = sketch_place(k, k->spare, old[i].key);
			*e = old[i];
			e->n -= less;
			k->used++;
		}
	k->entry = k->spare;
	k->spare = old;
	k->error += less;
}

struct sketch_entry *sketch_new(struct sketch *k, uint64_t key)
{
	if (k->used == k->room)
		sketch_sweep(k);
	struct sketch_entry *e = sketch_place(k, k->entry, key);
	*e = (struct sketch_entry){ .key = key };
	k->used++;
	return e;
}

/* The least of several owners stands for them, whichever came first: shards must not matter. */
void sketch_share(struct sketch_entry *e, uint64_t owner)
{
	e->several |= e->n != 0;
	if (e->n == 0 || owner < e->owner)
		e->owner = owner;
}

static int frequent_first(const void *a, const void *b)
{
	const struct sketch_entry *x = a, *y = b;
	if (x->n != y->n)
		return x->n < y->n ? 1 : -1;
	return (x->key > y->key) - (x->key < y->key);
}

uint32_t sketch_sort(struct sketch *k)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i <= k->mask; i++)
		if (k->entry[i].n != 0)
			k->entry[n++] = k->entry[i];
	qsort(k->entry, n, sizeof(*k->entry), frequent_first);
	return n;
}
