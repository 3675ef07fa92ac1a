/*
 * aggregate.c: aggregations as rows: printa, clear, trunc, what is left at
 * exit, and the walk of tally.h.
 *
 * A snapshot holds cells, as the programs count them; a *view* holds rows, as
 * they are shown.  Several cells make one row: the buckets of a histogram, and
 * keys that differ in their bytes and not in their names: two addresses of
 * one function, one function in two processes.  Buckets are merged through a
 * hash of the key's bytes, names through one of what is shown: of rows, for a
 * copy of a stack's key would take as much memory as its row.
 */
#include <stdlib.h>
#include <string.h>

#include "session/session_int.h"

#define HISTOGRAM_BYTES (256u << 20) /* most memory for the buckets of one view */

struct view {
	struct an_agg agg;
	uint64_t (*value)[AGG_WORDS]; /* per row */
	struct arena arena;
	struct map by_bytes; /* of a histogram: tuple -> row number + 1 */
	uint32_t *by_name;   /* hash of what is shown -> row number + 1; NULL: no names are in the keys */
	uint32_t nslots;     /* of by_name: a power of two */
};
/* The keys of a row know its number, which they keep when rows are sorted. */
struct row_key {
	uint32_t row;
	struct an_value v[];
};

/* ---- rows ------------------------------------------------------------------------ */

static bool is_histogram(uint8_t fn)
{
	return fn == AGG_QUANTIZE || fn == AGG_LQUANTIZE || fn == AGG_LLQUANTIZE;
}

static bool is_name(uint8_t kind)
{
	return kind != SLOT_INT && kind != SLOT_STRING && kind != SLOT_BYTES;
}

static bool has_names(const struct d_agg *def)
{
	for (uint32_t i = 0; i < def->nkeys; i++)
		if (is_name(def->keys[i].kind))
			return true;
	return false;
}

static uint32_t tuple_size(const struct d_agg *def)
{
	return def->key_size - (is_histogram(def->fn) ? 8 : 0);
}

static uint64_t bucket_of(const struct d_agg *def, const struct cell *c)
{
	uint64_t b;

	memcpy(&b, c->key + tuple_size(def), 8);
	return b;
}

static uint32_t bucket_count(const struct d_agg *def)
{
	if (def->fn == AGG_QUANTIZE)
		return QUANTIZE_BUCKETS;
	return def->fn == AGG_LQUANTIZE ? lquantize_levels(&def->lq) + 2 : llquantize_buckets(&def->llq);
}

/* Equal texts of frames are one pointer (names_begin). */
static uint64_t names_hash(const struct an_value *v, uint32_t n)
{
	uint64_t hash = 0;

	for (uint32_t i = 0; i < n; i++) {
		const uint64_t number = v[i].kind == SLOT_INT ? (uint64_t)v[i].i :
					v[i].len              ? text_hash(v[i].s, v[i].len) :
								0;

		hash = (hash ^ number) * 0x9e3779b97f4a7c15u;
		if (v[i].nframes)
			hash ^= text_hash(v[i].frame, v[i].nframes * sizeof(v[i].frame[0]));
	}
	return hash ^ hash >> 32;
}

static bool names_are_same(const struct an_value *a, const struct an_value *b, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if ((a[i].kind == SLOT_INT && a[i].i != b[i].i) || a[i].len != b[i].len ||
		    a[i].nframes != b[i].nframes || (a[i].len && memcmp(a[i].s, b[i].s, a[i].len) != 0) ||
		    (a[i].nframes && memcmp(a[i].frame, b[i].frame, a[i].nframes * sizeof(a[i].frame[0])) != 0))
			return false;
	return true;
}

static int new_row(struct view *w, const struct d_agg *def, struct row_key *k)
{
	k->row = w->agg.nrows++;
	w->agg.row[k->row] = (struct an_row){ .key = k->v, .nkeys = def->nkeys, .epoch = UINT64_MAX };
	return (int)k->row;
}

/* The row that shows this tuple, made if there is none. */
static int row_by_name(struct tally_trace *t, struct view *w, const struct d_agg *def, const void *key)
{
	struct row_key *k = arena_alloc(&w->arena, sizeof(*k) + def->nkeys * sizeof(k->v[0]));
	uint32_t at;
	int rc = 0;

	if (!k)
		return -TALLY_ENOMEM;
	for (uint32_t i = 0; rc >= 0 && i < def->nkeys; i++)
		rc = slot_value(t, &w->arena, &def->keys[i], key, true, &k->v[i]);
	if (rc < 0)
		return rc;
	if (!w->by_name)
		return new_row(w, def, k);
	at = (uint32_t)names_hash(k->v, def->nkeys) & (w->nslots - 1);
	for (; w->by_name[at]; at = (at + 1) & (w->nslots - 1))
		if (names_are_same(w->agg.row[w->by_name[at] - 1].key, k->v, def->nkeys))
			return (int)(w->by_name[at] - 1);
	rc = new_row(w, def, k);
	w->by_name[at] = (uint32_t)rc + 1;
	return rc;
}

static int row_of_cell(struct tally_trace *t, struct view *w, const struct d_agg *def, const struct cell *c)
{
	void **slot;
	int row;

	if (!is_histogram(def->fn)) /* a cell is a tuple */
		return row_by_name(t, w, def, c->key);
	slot = map_at(&w->by_bytes, c->key, tuple_size(def));
	if (!slot)
		return -TALLY_ENOMEM;
	if (*slot)
		return (int)((uintptr_t)*slot - 1);
	row = row_by_name(t, w, def, c->key);
	if (row >= 0)
		*slot = (void *)(uintptr_t)(row + 1);
	return row;
}

/* ---- values ----------------------------------------------------------------------- */

static void set_value(struct an_row *r, uint8_t fn, const uint64_t *v)
{
	const bool has_n = fn == AGG_AVG || fn == AGG_STDDEV, extreme = fn == AGG_MIN || fn == AGG_MAX;

	r->n = has_n ? (int64_t)v[0] : extreme ? (int64_t)v[1] : 0;
	r->sum = (int64_t)v[has_n];
	if (fn == AGG_STDDEV) {
		r->sq_lo = v[2];
		r->sq_hi = v[3];
	}
}

/* Histograms that are more than fit: the rows that fit are shown, the others are told. */
static void cut_rows(struct tally_trace *t, struct view *w)
{
	uint64_t bytes = 0;
	uint32_t n = 0;

	while (n < w->agg.nrows && (bytes += w->agg.row[n].nbuckets * 8ull) <= HISTOGRAM_BYTES)
		n++;
	trace_note(t, "aggregation @%s: %u of %u histograms are not shown: they take more than %u MB", w->agg.name,
		   w->agg.nrows - n, w->agg.nrows, (unsigned)(HISTOGRAM_BYTES >> 20));
	w->agg.nrows = n;
}

/* Room for the buckets of each row up to its last. */
static int alloc_buckets(struct tally_trace *t, struct view *w, const struct agg_state *s)
{
	uint64_t bytes = 0, limit = bucket_count(s->def);

	for (uint32_t i = 0; i < s->snap->n; i++) {
		const struct cell *c = &s->snap->cell[i];
		uint64_t b = bucket_of(s->def, c);

		if (!c->gone && b < limit && b >= w->agg.row[c->row].nbuckets)
			w->agg.row[c->row].nbuckets = (uint32_t)b + 1;
	}
	for (uint32_t r = 0; r < w->agg.nrows; r++)
		bytes += w->agg.row[r].nbuckets * 8ull;
	if (bytes > HISTOGRAM_BYTES)
		cut_rows(t, w);
	for (uint32_t r = 0; r < w->agg.nrows; r++) {
		w->agg.row[r].bucket = arena_alloc(&w->arena, w->agg.row[r].nbuckets * 8ull + 8);
		if (!w->agg.row[r].bucket)
			return -TALLY_ENOMEM;
	}
	return 0;
}

static int fill_buckets(struct tally_trace *t, struct view *w, const struct agg_state *s)
{
	int rc = alloc_buckets(t, w, s);

	for (uint32_t i = 0; rc >= 0 && i < s->snap->n; i++) {
		const struct cell *c = &s->snap->cell[i];
		const struct an_row *r = &w->agg.row[c->row];

		if (c->gone || c->row >= w->agg.nrows || bucket_of(s->def, c) >= r->nbuckets)
			continue;
		((int64_t *)r->bucket)[bucket_of(s->def, c)] += (int64_t)c->shown[0];
		if (s->words > 1) { /* TALLY_TRACE_SUMS */
			w->agg.row[c->row].n += (int64_t)c->shown[0];
			w->agg.row[c->row].sum += (int64_t)c->shown[1];
		}
	}
	return rc;
}

static int fill_values(struct view *w, const struct agg_state *s)
{
	for (uint32_t i = 0; i < s->snap->n; i++)
		if (!s->snap->cell[i].gone)
			agg_add(s->def->fn, w->value[s->snap->cell[i].row], s->snap->cell[i].shown, false);
	for (uint32_t r = 0; r < w->agg.nrows; r++)
		set_value(&w->agg.row[r], s->def->fn, w->value[r]);
	return 0;
}

static void view_close(struct view *w)
{
	arena_free(&w->arena);
	map_free(&w->by_bytes);
}

/* The rows of an aggregation as its snapshot has them, not sorted; frames: what is to be known of stacks. */
static int view_open(struct tally_trace *t, struct agg_state *s, enum names_frames frames, struct view *w)
{
	const struct d_agg *def = s->def;
	int rc = snapshot_take(t, s);

	if (rc >= 0)
		rc = run_learn_mappings(t);
	*w = (struct view){ .agg = { .name = def->name,
				     .key_name = def->key_text,
				     .fn = def->fn,
				     .lq = def->lq,
				     .llq = def->llq,
				     .normal = s->normal,
				     .zoom = t->opt.v[OPT_aggzoom],
				     .value_signed = def->value_signed } };
	if (rc < 0)
		return rc;
	w->agg.row = arena_alloc(&w->arena, (s->snap->n + 1) * sizeof(*w->agg.row));
	w->value = arena_alloc(&w->arena, (s->snap->n + 1) * sizeof(*w->value));
	for (w->nslots = 16; w->nslots / 2 < s->snap->n; w->nslots *= 2)
		;
	if (has_names(def))
		w->by_name = arena_alloc(&w->arena, w->nslots * sizeof(*w->by_name));
	if (w->arena.failed)
		rc = -TALLY_ENOMEM;
	names_begin(t, &w->arena, frames);
	for (uint32_t i = 0; rc >= 0 && i < s->snap->n; i++) {
		struct cell *c = &s->snap->cell[i];

		if (!c->gone && (rc = row_of_cell(t, w, def, c)) >= 0) {
			struct an_row *r = &w->agg.row[rc];
			const uint64_t epoch = snapshot_epoch(s, c->key);

			c->row = (uint32_t)rc;
			r->epoch = epoch < r->epoch ? epoch : r->epoch;
		}
	}
	names_end(t);
	if (rc >= 0)
		rc = is_histogram(def->fn) ? fill_buckets(t, w, s) : fill_values(w, s);
	if (rc < 0)
		view_close(w);
	return rc < 0 ? rc : 0;
}

/* ---- printing ----------------------------------------------------------------------- */

static struct an_sort agg_sorting(const struct tally_trace *t)
{
	return (struct an_sort){
		.by_key = t->opt.v[OPT_aggsortkey],
		.reverse = t->opt.v[OPT_aggsortrev],
		.keypos = t->opt.v[OPT_aggsortkeypos],
		.aggpos = t->opt.v[OPT_aggsortpos],
	};
}

/* The integers among the keys that the format shows as addresses. */
static int name_keys(struct tally_trace *t, const struct fmt *f, struct view *w)
{
	uint32_t key = 0;
	int rc = 0;

	for (uint32_t i = 0; i < f->n; i++) {
		const struct fmt_spec *s = &f->spec[i];
		const uint32_t k = key;

		if (s->arg == FMT_NONE || s->agg)
			continue;
		key++;
		for (uint32_t r = 0; s->arg == FMT_ADDR && r < w->agg.nrows && rc >= 0; r++) {
			struct an_value *v = (struct an_value *)&w->agg.row[r].key[k];

			if (v->kind == SLOT_INT)
				rc = name_address(t, &w->arena, s->conv == 'A', v);
		}
	}
	return rc;
}

static int print_views(struct tally_trace *t, const struct d_action *a, struct view *w)
{
	const struct an_agg **aggs = arena_alloc(&w->arena, a->naggs * sizeof(*aggs));
	const struct an_printa p = {
		.f = a->fmt_text ? &a->fmt : NULL, .agg = aggs, .n = a->naggs, .sort = agg_sorting(t)
	};
	struct err e = { 0 };
	int rc = 0;

	if (!aggs)
		return -TALLY_ENOMEM;
	for (uint32_t i = 0; i < a->naggs && rc >= 0; i++) {
		aggs[i] = &w[i].agg;
		an_agg_sort(&w[i].agg, &p.sort);
		if (p.f)
			rc = name_keys(t, p.f, &w[i]);
	}
	if (rc < 0)
		return rc;
	rc = t->emit.ops->printa(&t->emit, &p, &e);
	return rc < 0 ? trace_fail(t, -rc, "printa: %s", e.code ? e.text : tally_strerror(rc)) : 0;
}

int aggs_printa(struct tally_trace *t, const struct d_action *a)
{
	struct view *w = mem_alloc(a->naggs * sizeof(*w));
	uint32_t n = 0;
	int rc = w ? 0 : -TALLY_ENOMEM;

	for (; rc >= 0 && n < a->naggs; n++) {
		rc = view_open(t, &t->agg[a->aggs[n]], NAMES_OF_FRAMES, &w[n]);
		if (rc < 0)
			break;
		t->agg[a->aggs[n]].printed = true;
	}
	if (rc >= 0 && n)
		rc = print_views(t, a, w);
	while (n)
		view_close(&w[--n]);
	mem_free(w);
	return rc;
}

static enum names_frames names_of_form(const struct tally_trace *t, const struct d_agg *def)
{
	const bool tree = t->emit.ops->finish && an_flame_takes(&(struct an_agg){ .fn = def->fn });

	return tree ? NAMES_OF_FUNCTIONS : NAMES_OF_FRAMES;
}

/* The aggregations that no printa() showed. What turns the order of rows round turns theirs round, too. */
int aggs_print_rest(struct tally_trace *t)
{
	struct an_sort sort = agg_sorting(t);
	int rc = 0;

	for (uint32_t i = 0; i < t->prog->naggs; i++)
		snapshot_drop(&t->agg[i]);
	if (t->o.flags & TALLY_TRACE_PRINTA_ONLY)
		return 0;
	t->emit.ops->rest(&t->emit);
	for (uint32_t n = 0; rc >= 0 && n < t->prog->naggs; n++) {
		uint32_t i = sort.reverse ? t->prog->naggs - 1 - n : n;
		struct view w;

		if (t->agg[i].printed && !t->emit.ops->again)
			continue;
		rc = view_open(t, &t->agg[i], names_of_form(t, &t->prog->agg[i]), &w);
		if (rc < 0)
			break;
		if (w.agg.nrows) {
			an_agg_sort(&w.agg, &sort);
			t->emit.ops->agg(&t->emit, &w.agg);
		}
		view_close(&w);
		snapshot_drop(&t->agg[i]);
		rc = trace_flush_some(t);
	}
	aggs_forget(t);
	return rc;
}

/* ---- clear and trunc ------------------------------------------------------------------ */

int aggs_clear(struct tally_trace *t, uint32_t agg)
{
	return snapshot_clear(t, &t->agg[agg]);
}

/* n > 0 keeps the n rows of the highest values, n < 0 those of the lowest. */
int aggs_trunc(struct tally_trace *t, uint32_t agg, bool all, int64_t n)
{
	struct agg_state *s = &t->agg[agg];
	uint64_t keep = all ? 0 : n < 0 ? -(uint64_t)n : (uint64_t)n;
	uint32_t first = 0, end;
	struct view w;
	bool *drop;
	int rc = view_open(t, s, NAMES_OF_FRAMES, &w);

	if (rc < 0)
		return rc;
	w.agg.normal = 1;
	an_agg_sort(&w.agg, NULL);
	end = w.agg.nrows;
	if (keep >= end)
		first = end;
	else if (n > 0)
		end -= (uint32_t)keep;
	else
		first = (uint32_t)keep;
	drop = arena_alloc(&w.arena, s->snap->n + 1); /* a view may lack rows of its snapshot: cut_rows() */
	if (drop && all)
		memset(drop, true, s->snap->n);
	for (uint32_t i = first; drop && i < end; i++) {
		const char *v = (const char *)w.agg.row[i].key;

		drop[((const struct row_key *)(v - offsetof(struct row_key, v)))->row] = true;
	}
	rc = drop ? snapshot_trunc(t, s, drop) : -TALLY_ENOMEM;
	view_close(&w);
	return rc;
}

/* ---- life --------------------------------------------------------------------------------- */

int aggs_open(struct tally_trace *t)
{
	t->agg = mem_alloc(t->prog->naggs * sizeof(*t->agg));
	if (!t->agg)
		return trace_nomem(t);
	for (uint32_t i = 0; i < t->prog->naggs; i++) {
		struct agg_state *s = &t->agg[i];
		int map = image_map(t, IMG_AGG, i), spare = image_map(t, IMG_SPARE, i);

		s->def = &t->prog->agg[i];
		s->normal = 1;
		if (map < 0) /* no clause that adds to it matched a probe */
			continue;
		if (t->img->map[map].value_size > AGG_WORDS * 8)
			return trace_fail(t, TALLY_ECORRUPT, "aggregation @%s has a value of %u bytes", s->def->name,
					  t->img->map[map].value_size);
		s->map = &t->img->map[map];
		s->imap[s->nmaps++] = (uint32_t)map;
		if (spare >= 0)
			s->imap[s->nmaps++] = (uint32_t)spare;
		s->words = s->map->value_size / 8;
	}
	return 0;
}

bool aggs_stay(const struct tally_trace *t)
{
	return t->opt.v[OPT_aggrate] > t->opt.v[OPT_switchrate];
}

void aggs_forget(struct tally_trace *t)
{
	for (uint32_t i = 0; i < t->prog->naggs && !aggs_stay(t); i++)
		snapshot_drop(&t->agg[i]);
}

/* Those that somebody printed: the others cost nothing. */
int aggs_look_again(struct tally_trace *t)
{
	int rc = 0;

	for (uint32_t i = 0; i < t->prog->naggs && rc >= 0; i++)
		if (t->agg[i].snap) {
			snapshot_drop(&t->agg[i]);
			rc = snapshot_take(t, &t->agg[i]);
		}
	return rc;
}

void aggs_close(struct tally_trace *t)
{
	for (uint32_t i = 0; t->agg && i < t->prog->naggs; i++) {
		snapshot_drop(&t->agg[i]);
		baseline_free(&t->agg[i]);
	}
	mem_free(t->agg);
	t->agg = NULL;
}

static int64_t bucket_least(const struct d_agg *def, uint32_t b)
{
	return def->fn == AGG_QUANTIZE  ? quantize_least(b) :
	       def->fn == AGG_LQUANTIZE ? lquantize_least(&def->lq, b) :
					  llquantize_least(&def->llq, b);
}

/* The greatest value of each bucket but the last. */
static const int64_t *bucket_lasts(struct arena *a, const struct d_agg *def, uint32_t n)
{
	int64_t *last = arena_alloc(a, (n + 1) * sizeof(*last));

	for (uint32_t b = 0; last && b < n; b++)
		last[b] = bucket_least(def, b + 1) - 1;
	return last;
}

int aggs_each(struct tally_trace *t, int (*each)(void *arg, const struct tally_aggregation *a), void *arg)
{
	int rc = 0;

	for (uint32_t i = 0; rc >= 0 && i < t->prog->naggs; i++) {
		const struct d_agg *def = &t->prog->agg[i];
		struct tally_aggregation g = { .name = def->name,
					       .function = an_agg_function(def->fn),
					       .key = def->key_text,
					       .nkeys = def->nkeys,
					       .comment = def->comment };
		struct arena a = { 0 };

		for (uint32_t k = 0; k < def->nkeys; k++)
			g.has_stack |= def->keys[k].kind == SLOT_KSTACK || def->keys[k].kind == SLOT_USTACK;
		if (is_histogram(def->fn)) {
			g.nlast = bucket_count(def) - 1;
			g.last = bucket_lasts(&a, def, g.nlast);
		}
		rc = a.failed ? trace_nomem(t) : each(arg, &g);
		arena_free(&a);
	}
	return rc < 0 ? rc : 0;
}

/* ---- walk ---------------------------------------------------------------------------------- */

static bool key_text(struct arena *a, const struct an_value *v, struct tally_key *k)
{
	struct buf b = { 0 };

	*k = (struct tally_key){ .text = "", .number = v->i, .is_number = v->kind == SLOT_INT };
	if (v->kind == SLOT_INT)
		return true;
	if (!v->nframes && v->kind != SLOT_BYTES) {
		k->text = arena_strndup(a, v->s, v->len);
		return k->text;
	}
	for (uint32_t i = 0; i < v->nframes; i++)
		buf_printf(&b, "%s%s", i ? "\n" : "", v->frame[i]);
	for (uint32_t i = 0; v->kind == SLOT_BYTES && i < v->len; i++)
		buf_printf(&b, "%02x", (uint8_t)v->s[i]);
	k->text = b.failed ? NULL : arena_strndup(a, b.p ? b.p : "", b.n);
	buf_free(&b);
	return k->text;
}

static int64_t bucket_from(const struct d_agg *def, uint32_t b)
{
	if (def->fn == AGG_QUANTIZE)
		return quantize_label(b);
	if (def->fn == AGG_LLQUANTIZE)
		return llquantize_label(&def->llq, b);
	if (!b)
		return INT64_MIN; /* below the base */
	return def->lq.base + (int64_t)(b - 1) * def->lq.step;
}

static int row_buckets(struct arena *a, const struct d_agg *def, const struct an_row *r, struct tally_row *ret)
{
	struct tally_bucket *b = arena_alloc(a, (r->nbuckets + 1) * sizeof(*b));

	if (!b)
		return -TALLY_ENOMEM;
	ret->bucket = b;
	for (uint32_t i = 0; i < r->nbuckets; i++)
		if (r->bucket[i])
			b[ret->nbuckets++] = (struct tally_bucket){ bucket_from(def, i), r->bucket[i] };
	return 0;
}

struct row_walk {
	const struct tally_trace *t;
	bool (*wants)(void *arg, uint32_t number);
	int (*row)(void *arg, const struct tally_row *r, uint64_t epoch);
	void *arg;
	struct arena arena; /* of the row at hand */
};

static int walk_row(struct row_walk *c, uint32_t number, const struct an_agg *agg, const struct an_row *r)
{
	const struct d_agg *def = &c->t->prog->agg[number];
	struct tally_row out = { .name = def->name,
				 .function = an_agg_function(def->fn),
				 .nkeys = r->nkeys,
				 .aggregation = number,
				 .value = an_agg_value(agg, r),
				 .sum = def->fn == AGG_AVG || is_histogram(def->fn) ? r->sum : 0,
				 .count = def->fn == AGG_AVG || is_histogram(def->fn) ? r->n : 0 };
	struct tally_key *key = arena_alloc(&c->arena, (r->nkeys + 1) * sizeof(*key));
	int rc = key ? row_buckets(&c->arena, def, r, &out) : -TALLY_ENOMEM;

	for (uint32_t i = 0; rc >= 0 && i < r->nkeys; i++)
		if (!key_text(&c->arena, &r->key[i], &key[i]))
			rc = -TALLY_ENOMEM;
	out.key = key;
	if (rc >= 0)
		rc = c->row(c->arg, &out, r->epoch);
	arena_reset(&c->arena);
	return rc;
}

int aggs_views(struct tally_trace *t, bool (*wants)(void *arg, uint32_t number),
	       int (*each)(void *arg, uint32_t number, const struct an_agg *a), void *arg)
{
	struct an_sort sort = agg_sorting(t);
	int rc = 0;

	for (uint32_t i = 0; rc >= 0 && i < t->prog->naggs; i++) {
		struct view w;

		if (wants && !wants(arg, i))
			continue;
		rc = view_open(t, &t->agg[i], NAMES_OF_BOTH, &w);
		if (rc < 0)
			return trace_fail(t, -rc, "%s", tally_strerror(rc));
		an_agg_sort(&w.agg, &sort);
		rc = each(arg, i, &w.agg);
		view_close(&w);
		snapshot_drop(&t->agg[i]);
	}
	return rc < 0 ? rc : 0;
}

static int walk_view(void *arg, uint32_t number, const struct an_agg *a)
{
	int rc = 0;

	for (uint32_t r = 0; rc >= 0 && r < a->nrows; r++)
		rc = walk_row(arg, number, a, &a->row[r]);
	return rc;
}

static bool walk_wants(void *arg, uint32_t number)
{
	const struct row_walk *c = arg;

	return !c->wants || c->wants(c->arg, number);
}

int aggs_walk(struct tally_trace *t, bool (*wants)(void *arg, uint32_t number),
	      int (*row)(void *arg, const struct tally_row *r, uint64_t epoch), void *arg)
{
	struct row_walk c = { .t = t, .wants = wants, .row = row, .arg = arg };
	const int rc = aggs_views(t, walk_wants, walk_view, &c);

	arena_free(&c.arena);
	return rc;
}
