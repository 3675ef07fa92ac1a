/*
 * map.c: byte strings to pointers; open addressing, doubled at three quarters.
 *
 * Keys are copied. There is no removal: who takes a key out sets its value to NULL, and the key stays. A value's place
 * moves when the table grows, so what map_at() returns holds until the next map_at().
 *
 * The hash mixes well and has no secret: who knows it can choose keys that collide, and each look-up is then a walk
 * over them. So whoever fills a table with a stranger's keys bounds how many it takes.
 */
#include <string.h>

#include "base/base.h"

struct map_slot {
	uint64_t hash;
	size_t len;
	void *val;
	char *key; /* NULL: free */
};

uint64_t text_hash(const void *p, size_t n)
{
	const unsigned char *s = p;
	uint64_t h = 0x9e3779b97f4a7c15u ^ n, w;

	for (; n >= 8; s += 8, n -= 8) {
		memcpy(&w, s, 8);
		h = (h ^ w) * 0xff51afd7ed558ccdu;
		h ^= h >> 32;
	}
	for (w = 0; n; n--)
		w = w << 8 | s[n - 1];
	h = (h ^ w) * 0xc4ceb9fe1a85ec53u;
	return h ^ h >> 29;
}

static struct map_slot *slot_of(struct map_slot *t, size_t cap, uint64_t hash, const void *key, size_t len)
{
	for (size_t i = hash & (cap - 1);; i = (i + 1) & (cap - 1)) {
		struct map_slot *s = &t[i];

		if (!s->key || (s->hash == hash && s->len == len && !memcmp(s->key, key, len)))
			return s;
	}
}

static bool map_double(struct map *m)
{
	size_t cap = m->cap ? m->cap * 2 : 16;
	struct map_slot *t = mem_alloc(cap * sizeof(*t));

	if (!t)
		return false;
	for (size_t i = 0; i < m->cap; i++)
		if (m->slot[i].key)
			*slot_of(t, cap, m->slot[i].hash, m->slot[i].key, m->slot[i].len) = m->slot[i];
	mem_free(m->slot);
	m->slot = t;
	m->cap = cap;
	return true;
}

void **map_at(struct map *m, const void *key, size_t len)
{
	uint64_t hash = text_hash(key, len);
	struct map_slot *s;

	if ((m->n + 1) * 4 > m->cap * 3 && !map_double(m))
		return NULL;
	s = slot_of(m->slot, m->cap, hash, key, len);
	if (!s->key) {
		char *copy = m->keys ? arena_alloc(m->keys, len + 1) : mem_alloc(len + 1);

		if (!copy)
			return NULL;
		if (len)
			memcpy(copy, key, len);
		*s = (struct map_slot){ .hash = hash, .len = len, .key = copy };
		m->n++;
	}
	return &s->val;
}

void *map_get(const struct map *m, const void *key, size_t len)
{
	return m->n ? slot_of(m->slot, m->cap, text_hash(key, len), key, len)->val : NULL;
}

bool map_next(const struct map *m, size_t *i, const void **key, size_t *len, void **val)
{
	while (*i < m->cap) {
		const struct map_slot *s = &m->slot[(*i)++];

		if (!s->key)
			continue;
		*key = s->key;
		*len = s->len;
		*val = s->val;
		return true;
	}
	return false;
}

void map_free(struct map *m)
{
	for (size_t i = 0; i < m->cap && !m->keys; i++)
		mem_free(m->slot[i].key);
	mem_free(m->slot);
	*m = (struct map){ 0 };
}
