/*
 * snapshot.c: what the map of an aggregation holds, and how it is cleared
 * without losing a firing.
 *
 * Programs add to the map at any time, also while it is read; user space can
 * neither stop them nor change a value without racing them.  So it never
 * writes a sum: each key has a *baseline* here, and what is shown is the map's value
 * plus the baseline.
 *
 *   clear  baseline = -(value in the snapshot): what came after the snapshot shows
 *          up next time, and sums that are printed and cleared add up to the total.
 *   trunc  takes the key out of the map.  What was counted between the snapshot
 *          and that becomes the baseline, or there is none.  Where a key can't be
 *          taken out (an aggregation without a key), baseline = -value, and the
 *          row is hidden until there is something new.
 *
 * All of a record's actions see one snapshot: printa(@a); clear(@a) clears what
 * it printed.  min() and max() can't be subtracted; they are reset in the map,
 * and what comes between snapshot and reset is forgotten.
 *
 * Who reads a key again and again takes differences, and has to know whether the key was set back meanwhile; its value
 * does not tell, since it may have passed its old one.  So each key has an *epoch*: the number of the clear or trunc
 * since which it counts.  A later epoch than in the last reading is a new beginning.  A key that trunc removes may be
 * added again at any time, and to note the epoch of each removed key would take memory without bound.  Therefore the
 * aggregation has one epoch, which a trunc raises, and the keys that the last trunc left are the exceptions: there are
 * no more of those than keys.  Epochs belong to a snapshot as values do: only the session's thread clears, when it
 * takes a record, and it takes none while it makes a view of a snapshot.
 *
 * A key may be in two maps (cg_agg.c): what is shown is the sum of both, and taking it out takes it out of both.
 *
 * Reading costs: where the kernel has no iterator over maps, a firing on the reading CPU is skipped while the kernel
 * copies a value. So maps are read when an answer is due and at no other time.
 */
#include <string.h>

#include "session/session_int.h"

/* ---- values ------------------------------------------------------------------ */

static bool is_extreme(uint8_t fn)
{
	return fn == AGG_MIN || fn == AGG_MAX;
}

static void add_extreme(uint8_t fn, uint64_t *a, const uint64_t *b)
{
	if (!b[1])
		return;
	if (!a[1] || (fn == AGG_MIN ? (int64_t)b[0] < (int64_t)a[0] : (int64_t)b[0] > (int64_t)a[0]))
		a[0] = b[0];
	a[1] = 1;
}

void agg_add(uint8_t fn, uint64_t *a, const uint64_t *b, bool negative)
{
	uint64_t carry;

	if (is_extreme(fn)) {
		add_extreme(fn, a, b);
		return;
	}
	/* the sum of squares is one number of two words */
	carry = negative ? b[2] > a[2] : b[2] > UINT64_MAX - a[2];
	for (int i = 0; i < AGG_WORDS; i++)
		a[i] += negative ? -b[i] : b[i];
	if (fn == AGG_STDDEV)
		a[3] += negative ? -carry : carry;
}

static bool is_zero(const uint64_t *w)
{
	return !(w[0] | w[1] | w[2] | w[3]);
}

/* Adds the value of all CPUs, as a look-up fills it in. */
static void add_cpus(const struct agg_state *s, const uint64_t *v, uint32_t ncpus, uint64_t *ret)
{
	size_t stride = percpu_size(s->map->value_size, 1) / 8;

	for (uint32_t cpu = 0; cpu < ncpus; cpu++) {
		uint64_t w[AGG_WORDS] = { 0 };

		memcpy(w, v + cpu * stride, s->words * 8);
		agg_add(s->def->fn, ret, w, false);
	}
}

/* ---- baseline ---------------------------------------------------------------------- */

static struct baseline *baseline_get(const struct agg_state *s, const void *key)
{
	return map_get(&s->baseline, key, s->map->key_size);
}

/* Sets it to -value (clear) or to value; NULL value: to nothing. */
static int baseline_set(struct agg_state *s, const void *key, const uint64_t *value, bool negative, bool hidden)
{
	void **slot = map_at(&s->baseline, key, s->map->key_size);
	struct baseline *b;

	if (!slot)
		return -TALLY_ENOMEM;
	b = *slot;
	if (!b) {
		b = mem_alloc(sizeof(*b));
		if (!b)
			return -TALLY_ENOMEM;
		*slot = b;
		s->nbaselines++;
	}
	*b = (struct baseline){ .hidden = hidden };
	if (value && !is_extreme(s->def->fn))
		agg_add(s->def->fn, b->w, value, negative);
	return 0;
}

static void baseline_drop(struct agg_state *s, const void *key)
{
	void **slot = baseline_get(s, key) ? map_at(&s->baseline, key, s->map->key_size) : NULL;

	if (!slot)
		return;
	mem_free(*slot);
	*slot = NULL;
	s->nbaselines--;
}

void baseline_free(struct agg_state *s)
{
	const void *key;
	size_t i = 0, len;
	void *val;

	while (map_next(&s->baseline, &i, &key, &len, &val))
		mem_free(val);
	map_free(&s->baseline);
	map_free(&s->kept);
	s->nbaselines = 0;
}

/* A map never forgets a key; a script that truncates for days must not grow by that. Failing is
 * harmless. */
static void baseline_compact(struct agg_state *s)
{
	struct map fresh = { 0 };
	const void *key;
	size_t i = 0, len;
	void *val, **slot;

	if (s->baseline.n < 1024 || s->baseline.n < 2 * (size_t)s->nbaselines)
		return;
	while (map_next(&s->baseline, &i, &key, &len, &val)) {
		if (!val)
			continue;
		slot = map_at(&fresh, key, len);
		if (!slot) {
			map_free(&fresh);
			return;
		}
		*slot = val;
	}
	map_free(&s->baseline);
	s->baseline = fresh;
}

/* ---- epochs ----------------------------------------------------------------------- */

uint64_t snapshot_epoch(const struct agg_state *s, const void *key)
{
	const void *kept = s->kept.n ? map_get(&s->kept, key, s->map->key_size) : NULL;

	return kept ? (uintptr_t)kept - 1 : s->epoch;
}

/* All keys but those in `kept` were set back. */
static void epoch_begin(struct agg_state *s, const struct map *kept)
{
	map_free(&s->kept);
	s->kept = *kept;
	s->epoch++;
}

/* Notes the epochs of the rows that are not marked; *any: there are others. */
static int epoch_keep(const struct agg_state *s, const bool *rows, struct map *kept, bool *any)
{
	for (uint32_t i = 0; i < s->snap->n; i++) {
		const struct cell *c = &s->snap->cell[i];
		void **slot;

		if (c->gone)
			continue;
		if (rows[c->row]) {
			*any = true;
			continue;
		}
		slot = map_at(kept, c->key, s->map->key_size);
		if (!slot)
			return -TALLY_ENOMEM;
		*slot = (void *)(uintptr_t)(snapshot_epoch(s, c->key) + 1);
	}
	return 0;
}

/* ---- reading ---------------------------------------------------------------------- */

static struct cell *add_cell(struct agg_state *s, const void *key)
{
	struct snapshot *snap = s->snap;
	void **slot = map_at(&snap->index, key, s->map->key_size);
	struct cell *c;

	if (!slot)
		return NULL;
	if (*slot)
		return &snap->cell[(uintptr_t)*slot - 1];
	c = VEC_NEW(snap->cell, snap->n, snap->cap);
	if (!c)
		return NULL;
	c->key = arena_alloc(&snap->arena, s->map->key_size + 1);
	if (!c->key)
		return NULL;
	memcpy((uint8_t *)c->key, key, s->map->key_size);
	*slot = (void *)(uintptr_t)snap->n;
	return c;
}

/* A map that is read, the number-th of its aggregation. */
struct map_reading {
	struct agg_state *s;
	uint32_t ncpus, number;
};

/* A walk may meet a key twice, when others come meanwhile. */
static int take_key(void *arg, const void *key, const void *value)
{
	struct map_reading *r = arg;
	struct cell *c = add_cell(r->s, key);

	if (!c)
		return -TALLY_ENOMEM;
	if (c->in_map > r->number)
		return 0;
	c->in_map = r->number + 1;
	add_cpus(r->s, value, r->ncpus, c->raw);
	return 0;
}

/* Key by key, on one CPU, so that no other loses firings. */
static int look_up_map(struct tally_trace *t, struct map_reading *r, uint32_t map)
{
	struct maps m = t->eng->ops->maps(t->eng);
	const struct img_map *of = r->s->map;
	/* a key that is inserted during the walk may be met, one is never met twice; the bound is
	 * for the worst */
	uint64_t most = 2ull * of->max_entries + 16;
	uint8_t *key = mem_alloc(2 * (size_t)of->key_size), *next = key ? key + of->key_size : NULL;
	uint64_t *value = mem_alloc(percpu_size(of->value_size, m.ncpus));
	int rc = key && value ? 0 : -TALLY_ENOMEM;

	if (t->eng->k)
		k_quiet(t->eng->k, true);
	if (rc >= 0)
		rc = m.ops->next(m.maps, map, NULL, next);
	while (rc >= 0 && most--) {
		memcpy(key, next, of->key_size);
		rc = m.ops->lookup(m.maps, map, key, value);
		if (rc >= 0 && (rc = take_key(r, key, value)) < 0)
			break;
		if (rc >= 0 || rc == -TALLY_EEND) /* a key that was just taken out is no failure, all else is */
			rc = m.ops->next(m.maps, map, key, next);
	}
	if (t->eng->k)
		k_quiet(t->eng->k, false);
	mem_free(key);
	mem_free(value);
	return rc == -TALLY_EEND ? 0 : rc;
}

static int read_map(struct tally_trace *t, struct agg_state *s, uint32_t number)
{
	struct maps m = t->eng->ops->maps(t->eng);
	struct map_reading r = { s, m.ncpus, number };
	int rc = maps_walk(&m, s->imap[number], take_key, &r);

	return rc == -TALLY_ENOTSUP ? look_up_map(t, &r, s->imap[number]) : rc;
}

static int baseline_add(struct agg_state *s)
{
	const void *key;
	size_t i = 0, len;
	void *val;

	while (map_next(&s->baseline, &i, &key, &len, &val))
		if (val && !add_cell(s, key))
			return -TALLY_ENOMEM;
	for (uint32_t n = 0; n < s->snap->n; n++) {
		struct cell *c = &s->snap->cell[n];
		const struct baseline *b = baseline_get(s, c->key);

		memcpy(c->shown, c->raw, sizeof(c->shown));
		if (b && !is_extreme(s->def->fn))
			agg_add(s->def->fn, c->shown, b->w, false);
		/* an aggregation without a key has its value in the map before it ever fired */
		if ((b ? b->hidden : !s->def->key_size) && is_zero(c->shown))
			c->gone = true;
	}
	return 0;
}

int snapshot_take(struct tally_trace *t, struct agg_state *s)
{
	int rc = 0;

	if (s->snap)
		return 0;
	s->snap = mem_alloc(sizeof(*s->snap));
	if (!s->snap)
		return -TALLY_ENOMEM;
	s->snap->index.keys = &s->snap->arena;
	for (uint32_t i = 0; i < s->nmaps && rc >= 0; i++) /* no map: nothing adds to it */
		rc = read_map(t, s, i);
	if (rc >= 0)
		rc = baseline_add(s);
	if (rc < 0)
		snapshot_drop(s);
	return rc;
}

void snapshot_drop(struct agg_state *s)
{
	if (!s->snap)
		return;
	arena_free(&s->snap->arena);
	map_free(&s->snap->index);
	mem_free(s->snap->cell);
	mem_free(s->snap);
	s->snap = NULL;
}

/* ---- clear and trunc ----------------------------------------------------------------- */

static int reset_in_map(struct tally_trace *t, struct agg_state *s, const struct cell *c)
{
	struct maps m = t->eng->ops->maps(t->eng);
	void *zero = mem_alloc(percpu_size(s->map->value_size, m.ncpus));
	int rc = zero ? m.ops->update(m.maps, s->imap[0], c->key, zero) : -TALLY_ENOMEM;

	if (rc >= 0 && s->nmaps > 1)
		rc = m.ops->remove(m.maps, s->imap[1], c->key);
	mem_free(zero);
	return rc == -TALLY_EEND ? 0 : rc;
}

int snapshot_clear(struct tally_trace *t, struct agg_state *s)
{
	int rc = snapshot_take(t, s);

	for (uint32_t i = 0; rc >= 0 && i < s->snap->n; i++) {
		struct cell *c = &s->snap->cell[i];

		if (c->gone)
			continue;
		if (is_extreme(s->def->fn) && c->in_map)
			rc = reset_in_map(t, s, c);
		if (rc >= 0)
			rc = baseline_set(s, c->key, c->raw, true, false);
		memset(c->shown, 0, sizeof(c->shown));
	}
	if (rc >= 0)
		epoch_begin(s, &(struct map){ 0 });
	return rc;
}

/* Out of the map, and what came since the snapshot into the baseline. */
static int take_cell(struct tally_trace *t, struct agg_state *s, struct cell *c)
{
	struct maps m = t->eng->ops->maps(t->eng);
	uint64_t taken[AGG_WORDS] = { 0 }, *value = mem_alloc(percpu_size(s->map->value_size, m.ncpus));
	int rc = value ? -TALLY_EEND : -TALLY_ENOMEM;

	for (uint32_t i = 0; i < s->nmaps && (rc >= 0 || rc == -TALLY_EEND); i++) {
		const int one = m.ops->take(m.maps, s->imap[i], c->key, value);

		if (one >= 0)
			add_cpus(s, value, m.ncpus, taken);
		if (one != -TALLY_EEND)
			rc = one;
	}
	if (rc >= 0) {
		if (!is_extreme(s->def->fn))
			agg_add(s->def->fn, taken, c->raw, true);
		if (is_extreme(s->def->fn) || is_zero(taken))
			baseline_drop(s, c->key);
		else
			rc = baseline_set(s, c->key, taken, false, false);
	}
	mem_free(value);
	return rc;
}

static int hide_cell(struct tally_trace *t, struct agg_state *s, struct cell *c)
{
	if (is_extreme(s->def->fn)) {
		int rc = c->in_map ? reset_in_map(t, s, c) : 0;

		if (rc < 0)
			return rc;
	}
	return baseline_set(s, c->key, c->raw, true, true);
}

int snapshot_trunc(struct tally_trace *t, struct agg_state *s, const bool *rows)
{
	struct map kept = { 0 };
	bool any = false;
	int rc = epoch_keep(s, rows, &kept, &any);

	for (uint32_t i = 0; any && rc >= 0 && i < s->snap->n; i++) {
		struct cell *c = &s->snap->cell[i];

		if (c->gone || !rows[c->row])
			continue;
		rc = !c->in_map ? -TALLY_EEND : s->map->type == IMG_PERCPU_HASH ? take_cell(t, s, c) : -TALLY_ENOTSUP;
		if (rc == -TALLY_EEND) {
			baseline_drop(s, c->key);
			rc = 0;
		} else if (rc < 0 && rc != -TALLY_ENOMEM) {
			rc = hide_cell(t, s, c); /* it stays in the map */
		}
		c->gone = true;
	}
	baseline_compact(s);
	if (any && rc >= 0)
		epoch_begin(s, &kept);
	else
		map_free(&kept);
	return rc;
}
