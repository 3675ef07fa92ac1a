/*
 * printa.c: printa() with formats, and with several aggregations at once.
 *
 * Aggregations that are printed together have the same keys.  Their rows are
 * joined by key into one table: a row for each key that any of them has, with a
 * pointer to each aggregation's row or to an empty one, which counts 0.  The
 * table is sorted by one of them (aggsortpos), then by the others in order, then
 * by key.  A single aggregation keeps the order in which its rows come.
 */
#include <stdlib.h>
#include <string.h>

#include "answer/answer_int.h"

struct table {
	const struct an_agg *const *agg;
	uint32_t naggs;
	const struct an_row **cell; /* nrows x naggs; NULL only while joining */
	uint32_t nrows;
	struct an_row *empty; /* a row for each key that some aggregation lacks */
	uint32_t nempty;
	const struct an_sort *how;
};

/* ---- joining ------------------------------------------------------------------- */

static void key_part(struct buf *b, const void *p, size_t n)
{
	uint64_t len = n;
	buf_put(b, &len, sizeof(len));
	buf_put(b, p, n);
}

/* A key as bytes, such that equal keys are equal bytes. Names stand for addresses. */
static void key_bytes(struct buf *b, const struct an_row *r)
{
	buf_clear(b);
	for (uint32_t k = 0; k < r->nkeys; k++) {
		const struct an_value *v = &r->key[k];
		bool named = v->s != NULL && v->kind != SLOT_INT;
		buf_putc(b, (char)v->kind);
		for (uint32_t i = 0; an_is_stack(v) && i < v->nframes; i++)
			key_part(b, v->frame[i], strlen(v->frame[i]));
		if (named)
			key_part(b, v->s, v->kind == SLOT_BYTES ? v->len : an_text_len(v));
		else if (!an_is_stack(v))
			key_part(b, &v->i, sizeof(v->i));
	}
}

static uint32_t row_total(const struct table *t)
{
	uint32_t n = 0;
	for (uint32_t a = 0; a < t->naggs; a++)
		if (__builtin_add_overflow(n, t->agg[a]->nrows, &n))
			return UINT32_MAX;
	return n;
}

/* Puts a row of aggregation a where its key stands in the table, which is new or known. */
static int join_row(struct table *t, struct map *places, struct buf *key, uint32_t a, const struct an_row *r)
{
	key_bytes(key, r);
	void **place = key->failed ? NULL : map_at(places, key->p != NULL ? key->p : "", key->n);
	if (place == NULL)
		return -TALLY_ENOMEM;
	if (*place == NULL)
		*place = &t->cell[(size_t)t->nrows++ * t->naggs];
	((const struct an_row **)*place)[a] = r;
	return 0;
}

static int join_rows(struct table *t)
{
	struct map places = { 0 };
	struct buf key = { 0 };
	int rc = 0;
	for (uint32_t a = 0; a < t->naggs && rc == 0; a++)
		for (uint32_t i = 0; i < t->agg[a]->nrows && rc == 0; i++)
			rc = join_row(t, &places, &key, a, &t->agg[a]->row[i]);
	map_free(&places);
	buf_free(&key);
	return rc;
}

/* Fills the holes of row i with one empty row that has its keys. */
static void fill_row(struct table *t, uint32_t i)
{
	const struct an_row **cell = &t->cell[(size_t)i * t->naggs];
	const struct an_row *some = NULL;
	struct an_row *zero = NULL;
	for (uint32_t a = 0; a < t->naggs && some == NULL; a++)
		some = cell[a];
	for (uint32_t a = 0; a < t->naggs; a++) {
		if (cell[a] != NULL)
			continue;
		if (zero == NULL) {
			zero = &t->empty[t->nempty++];
			*zero = (struct an_row){ .key = some->key, .nkeys = some->nkeys };
		}
		cell[a] = zero;
	}
}

/* ---- order --------------------------------------------------------------------- */

static int compare_joined(const void *l, const void *r, void *arg)
{
	const struct table *t = arg;
	const struct an_row *const *left = l, *const *right = r;
	uint32_t first = t->how->aggpos < t->naggs ? t->how->aggpos : 0;
	int c = t->how->by_key ? an_row_compare_key(left[0], right[0], t->how->keypos) : 0;
	if (c == 0)
		c = an_row_compare_value(t->agg[first], left[first], right[first]);
	for (uint32_t a = 0; a < t->naggs && c == 0; a++)
		c = an_row_compare_value(t->agg[a], left[a], right[a]);
	if (c == 0)
		c = an_row_compare_key(left[0], right[0], t->how->keypos);
	return t->how->reverse ? -c : c;
}

static int table_make(struct table *t)
{
	uint32_t most = row_total(t);
	if (most == UINT32_MAX)
		return -TALLY_ENOMEM;
	if (most == 0)
		return 0;
	t->cell = mem_alloc((size_t)most * t->naggs * sizeof(*t->cell));
	t->empty = mem_alloc((size_t)most * sizeof(*t->empty));
	if (t->cell == NULL || t->empty == NULL)
		return -TALLY_ENOMEM;
	if (t->naggs == 1) {
		for (; t->nrows < most; t->nrows++)
			t->cell[t->nrows] = &t->agg[0]->row[t->nrows];
		return 0;
	}
	int rc = join_rows(t);
	if (rc < 0)
		return rc;
	for (uint32_t i = 0; i < t->nrows; i++)
		fill_row(t, i);
	qsort_r(t->cell, t->nrows, t->naggs * sizeof(*t->cell), compare_joined, t);
	return 0;
}

/* ---- printing ------------------------------------------------------------------ */

static void agg_conversion(struct buf *to, const struct fmt_spec *f, const struct an_field *w, const struct an_agg *a,
			   const struct an_row *r)
{
	struct an_value v = { .kind = SLOT_INT, .width = 8, .is_signed = an_agg_signed(a) };
	if (an_is_hist(a)) {
		an_hist(to, a, r);
		return;
	}
	v.i = an_agg_value(a, r);
	an_convert(to, f, w, &v);
}

static void printa_put_formatted(struct buf *to, const struct table *t, const struct an_row *const *cell,
				 const struct fmt *fmt)
{
	const struct an_value *key = cell[0]->key;
	uint32_t n = cell[0]->nkeys, at = 0, agg = 0;
	for (uint32_t i = 0; i < fmt->n; i++) {
		const struct fmt_spec *f = &fmt->spec[i];
		buf_put(to, f->text, f->text_len);
		if (f->conv == '%')
			buf_putc(to, '%');
		if (f->arg == FMT_NONE)
			continue;
		struct an_field w = an_field(f, key, n, &at);
		if (f->agg) {
			agg_conversion(to, f, &w, t->agg[agg], cell[agg]);
			agg += agg + 1 < t->naggs;
		} else if (at < n) {
			an_convert(to, f, &w, &key[at++]);
		}
	}
}

static uint32_t keys_wanted(const struct fmt *f)
{
	uint32_t n = 0;
	for (uint32_t i = 0; f != NULL && i < f->n; i++) {
		const struct fmt_spec *s = &f->spec[i];
		n += (uint32_t)(s->arg != FMT_NONE && !s->agg) + s->width_star + s->prec_star;
	}
	return n;
}

/* All rows must have as many keys, and enough for the format. */
static int check_keys(const struct an_agg *const *aggs, uint32_t n, const struct fmt *f, struct err *e)
{
	const struct an_agg *first = NULL;
	for (uint32_t a = 0; a < n; a++) {
		if (aggs[a]->nrows == 0)
			continue;
		if (first == NULL)
			first = aggs[a];
		if (aggs[a]->row[0].nkeys != first->row[0].nkeys)
			return err_set(e, TALLY_EINVAL,
				       "printa( ): @%s and @%s do not have "
				       "matching key signatures",
				       first->name, aggs[a]->name);
	}
	if (first != NULL && keys_wanted(f) > first->row[0].nkeys)
		return err_set(e, TALLY_EINVAL, "printa( ): the format takes %u keys, @%s has %u", keys_wanted(f),
			       first->name, first->row[0].nkeys);
	return 0;
}

int an_agg_printa(struct buf *to, const struct fmt *f, const struct an_agg *const *aggs, uint32_t n,
		  unsigned stackindent, const struct an_sort *how, struct err *e)
{
	static const struct an_sort usual;
	struct table t = { .agg = aggs, .naggs = n, .how = how != NULL ? how : &usual };
	int rc = check_keys(aggs, n, f, e);
	if (rc < 0)
		return rc;
	if (table_make(&t) < 0)
		rc = err_oom(e);
	for (uint32_t i = 0; i < t.nrows && rc == 0; i++) {
		const struct an_row *const *cell = &t.cell[(size_t)i * n];
		if (f != NULL && f->n > 0) {
			printa_put_formatted(to, &t, cell, f);
			continue;
		}
		an_agg_keys(to, cell[0], stackindent);
		for (uint32_t a = 0; a < n; a++)
			an_agg_cell(to, aggs[a], cell[a]);
		buf_putc(to, '\n');
	}
	mem_free(t.cell);
	mem_free(t.empty);
	return rc;
}
