/*
 * history.c: what the aggregations of the service were over time: history_int.h has the idea and the form of a step.
 *
 * Rows are found again by what they show: the key as JSON, or of stacks the numbers of their names, since rows that
 * differ in addresses alone are one path (answer/flame.h). A series is dead when a step has no row for it, and its
 * number is not used again.
 *
 * If memory ran out in a step, readers would have another state than ours. So its text is dropped with the
 * whole past, and readers, who find the next step missing, begin anew with the state.
 */
#include <stdio.h>
#include <string.h>

#include "answer/flame.h"
#include "serve/history_int.h"

enum history_kind { KIND_COUNT, KIND_SUM, KIND_GAUGE, KIND_HISTOGRAM, KIND_STACKS };
enum history_part {
	PART_AGGS,
	PART_GONE,
	PART_NAMES,
	PART_NEW,
	PART_DEAD,
	PART_VALUES,
	PART_BUCKETS,
	PART_FOLDED,
	PARTS
};

struct history_series {
	uint32_t id, nbuckets;
	bool seen;
	int64_t value, next;    /* at the step before, and at this one */
	int64_t *bucket, *more; /* the same of its buckets */
};
struct history_agg {
	uint32_t id, nseries, nnames;
	enum history_kind kind;
	char *definition;             /* its member of "aggs" */
	struct map series;            /* key -> struct history_series */
	struct history_series *other; /* of the keys that have none of their own; NULL: there was none */
	uint64_t folded, folded_before;
	struct map names; /* frame and text of a stack's name -> its number + 1 */
};
struct history_program {
	char *name, *words; /* words: its member of "programs" */
	uint64_t generation, fired;
	bool stays;
	struct buf lost; /* "kind",n of each kind of which there was one */
	struct history_agg **agg;
	uint32_t naggs, capaggs;
};
struct history {
	struct history_opts o;
	uint64_t step_ns;
	struct history_program **program;
	uint32_t nprograms, capprograms;
	uint32_t ids;      /* of aggregations and series that were given out */
	size_t text_bytes; /* of keys and names */
	struct history_past {
		uint64_t ns;
		struct buf text;
	} past[HISTORY_STEPS + 1]; /* [number % COUNT] */
	uint64_t oldest, newest;
	size_t bytes;
	/* of the step at hand */
	struct history_program *at;
	uint64_t now_ns;
	bool changed, failed; /* changed: the programs' words */
	struct buf part[PARTS];
};

/* ---- life -------------------------------------------------------------------------- */

int history_open(struct history **ret, const struct history_opts *o)
{
	struct history *h = mem_alloc(sizeof(*h));

	if (!h)
		return -TALLY_ENOMEM;
	h->o = *o;
	h->step_ns = o->span_ns / HISTORY_STEPS;
	if (h->step_ns < SECOND_NS)
		h->step_ns = SECOND_NS;
	h->oldest = 1;
	*ret = h;
	return 0;
}

static void series_free(struct history_series *s)
{
	if (s) {
		mem_free(s->bucket);
		mem_free(s->more);
	}
	mem_free(s);
}

static void agg_free(struct history *h, struct history_agg *a)
{
	const void *key;
	size_t i = 0, len;
	void *val;

	while (map_next(&a->series, &i, &key, &len, &val)) {
		h->text_bytes -= len;
		series_free(val);
	}
	i = 0;
	while (map_next(&a->names, &i, &key, &len, &val))
		h->text_bytes -= len;
	map_free(&a->series);
	map_free(&a->names);
	series_free(a->other);
	mem_free(a->definition);
	mem_free(a);
}

/* An element of a part of the step, as printf has it. */
static void PRINTF_LIKE(3, 4) step_put(struct history *h, enum history_part part, const char *fmt, ...)
{
	struct buf *to = &h->part[part];
	va_list ap;

	if (to->n)
		buf_putc(to, ',');
	va_start(ap, fmt);
	buf_vprintf(to, fmt, ap);
	va_end(ap);
}

static void program_forget_aggs(struct history *h, struct history_program *p)
{
	for (uint32_t i = 0; i < p->naggs; i++) {
		step_put(h, PART_GONE, "%u", p->agg[i]->id);
		agg_free(h, p->agg[i]);
	}
	mem_free(p->agg);
	p->agg = NULL;
	p->naggs = p->capaggs = 0;
}

static void program_free(struct history *h, struct history_program *p)
{
	program_forget_aggs(h, p);
	buf_free(&p->lost);
	mem_free(p->name);
	mem_free(p->words);
	mem_free(p);
}

static void history_forget_oldest(struct history *h)
{
	struct history_past *p = &h->past[h->oldest++ % COUNT(h->past)];

	h->bytes -= p->text.n;
	buf_free(&p->text);
}

void history_close(struct history *h)
{
	if (!h)
		return;
	for (uint32_t i = 0; i < h->nprograms; i++)
		program_free(h, h->program[i]);
	mem_free(h->program);
	while (h->oldest <= h->newest)
		history_forget_oldest(h);
	for (uint32_t i = 0; i < PARTS; i++)
		buf_free(&h->part[i]);
	mem_free(h);
}

/* ---- what readers get ----------------------------------------------------------------- */

uint64_t history_step_ns(const struct history *h)
{
	return h->step_ns;
}

uint64_t history_newest(const struct history *h)
{
	return h->newest;
}

size_t history_bytes(const struct history *h)
{
	return h->bytes;
}

const struct buf *history_step(const struct history *h, uint64_t number)
{
	return number >= h->oldest && number <= h->newest ? &h->past[number % COUNT(h->past)].text : NULL;
}

static void history_put_programs(const struct history *h, struct buf *to)
{
	buf_puts(to, ",\"programs\":[");
	for (uint32_t i = 0; i < h->nprograms; i++)
		buf_printf(to, "%s%s", i ? "," : "", h->program[i]->words ? h->program[i]->words : "[]");
	buf_putc(to, ']');
}

static void history_put_fares(const struct history *h, struct buf *to)
{
	const char *before = "";

	buf_puts(to, ",\"fired\":[");
	for (uint32_t i = 0; i < h->nprograms; i++)
		buf_printf(to, "%s%llu", i ? "," : "", (unsigned long long)h->program[i]->fired);
	buf_puts(to, "],\"lost\":[");
	for (uint32_t i = 0; i < h->nprograms; i++)
		for (size_t k = 0; k < h->program[i]->lost.n; k += strlen(h->program[i]->lost.p + k) + 1) {
			buf_printf(to, "%s[%u,%s]", before, i, h->program[i]->lost.p + k);
			before = ",";
		}
	buf_putc(to, ']');
}

static void history_put_parts(struct buf *to, const struct buf *part)
{
	static const char *const names[PARTS] = { "aggs", "gone", "names", "new", "dead", "d", "b", "folded" };

	for (uint32_t i = 0; i < PARTS; i++) {
		if (part[i].n)
			buf_printf(to, ",\"%s\":[%s]", names[i], part[i].p);
		to->failed |= part[i].failed;
	}
}

/* ---- series ------------------------------------------------------------------------------- */

static void series_put_changes(struct history *h, const struct history_series *s, int64_t value, const int64_t *bucket)
{
	if (value)
		step_put(h, PART_VALUES, "%u,%lld", s->id, (long long)value);
	for (uint32_t b = 0; bucket && b < s->nbuckets; b++)
		if (bucket[b])
			step_put(h, PART_BUCKETS, "%u,%u,%lld", s->id, b, (long long)bucket[b]);
}

/* Room for n buckets, which are 0. */
static bool series_grow(struct history_series *s, uint32_t n)
{
	int64_t *bucket, *more;

	if (n <= s->nbuckets)
		return true;
	bucket = mem_grow(s->bucket, n * sizeof(*bucket));
	s->bucket = bucket ? bucket : s->bucket;
	more = mem_grow(s->more, n * sizeof(*more));
	s->more = more ? more : s->more;
	if (!bucket || !more)
		return false;
	memset(bucket + s->nbuckets, 0, (n - s->nbuckets) * sizeof(*bucket));
	memset(more + s->nbuckets, 0, (n - s->nbuckets) * sizeof(*more));
	s->nbuckets = n;
	return true;
}

static struct history_series *agg_other(struct history *h, struct history_agg *a)
{
	if (!a->other) {
		a->other = mem_alloc(sizeof(*a->other));
		if (!a->other)
			return NULL;
		a->other->id = ++h->ids;
		step_put(h, PART_NEW, "[%u,%u,null]", a->id, a->other->id);
	}
	return a->other;
}

/* The series of this key, which is made if it is not there; `other` where there are too many. NULL: out of memory. */
static struct history_series *agg_series(struct history *h, struct history_agg *a, const struct buf *key)
{
	const char *text = key->p ? key->p : "";
	struct history_series *s = key->failed ? NULL : map_get(&a->series, text, key->n);
	void **slot;

	if (s || key->failed)
		return s;
	if (a->nseries >= h->o.keys || h->text_bytes + key->n > h->o.text_bytes) {
		a->folded++;
		return agg_other(h, a);
	}
	s = mem_alloc(sizeof(*s));
	slot = s ? map_at(&a->series, text, key->n) : NULL;
	if (!slot) {
		mem_free(s);
		return NULL;
	}
	*slot = s;
	s->id = ++h->ids;
	a->nseries++;
	h->text_bytes += key->n;
	step_put(h, PART_NEW, "[%u,%u%s%s]", a->id, s->id, key->n ? "," : "", text);
	return s;
}

/* What a series has become; then what was next is what it is. */
static void series_step(struct history *h, struct history_series *s)
{
	for (uint32_t b = 0; b < s->nbuckets; b++) {
		const int64_t now = s->more[b];

		s->more[b] = (int64_t)((uint64_t)now - (uint64_t)s->bucket[b]);
		s->bucket[b] = now;
	}
	series_put_changes(h, s, (int64_t)((uint64_t)s->next - (uint64_t)s->value), s->more);
	s->value = s->next;
}

static void series_begin(struct history_series *s)
{
	s->seen = false;
	s->next = 0;
	for (uint32_t b = 0; b < s->nbuckets; b++)
		s->more[b] = 0;
}

/* Takes those out that this step has no row for. */
static int agg_bury(struct history *h, struct history_agg *a)
{
	struct map kept = { 0 };
	const void *key;
	size_t i = 0, len;
	void *val, **slot;

	while (map_next(&a->series, &i, &key, &len, &val)) {
		if (!((struct history_series *)val)->seen)
			continue;
		slot = map_at(&kept, key, len);
		if (!slot) {
			map_free(&kept);
			return -TALLY_ENOMEM;
		}
		*slot = val;
	}
	i = 0;
	while (map_next(&a->series, &i, &key, &len, &val)) {
		struct history_series *s = val;

		if (s->seen)
			continue;
		step_put(h, PART_DEAD, "%u", s->id);
		h->text_bytes -= len;
		a->nseries--;
		series_free(s);
	}
	map_free(&a->series);
	a->series = kept;
	return 0;
}

/* ---- rows ------------------------------------------------------------------------------------ */

static int agg_take_rows(struct history *h, struct history_agg *a, const struct an_agg *from)
{
	struct buf key = { 0 };
	int rc = 0;

	for (uint32_t i = 0; rc >= 0 && i < from->nrows; i++) {
		const struct an_row *r = &from->row[i];
		struct history_series *s;

		buf_clear(&key);
		for (uint32_t k = 0; k < r->nkeys; k++) {
			buf_puts(&key, k ? "," : "");
			an_json_value(&key, &r->key[k]);
		}
		s = agg_series(h, a, &key);
		if (!s || (a->kind == KIND_HISTOGRAM && !series_grow(s, r->nbuckets))) {
			rc = -TALLY_ENOMEM;
			break;
		}
		s->seen = true;
		if (a->kind != KIND_HISTOGRAM && (s != a->other || a->kind != KIND_GAUGE))
			s->next = (int64_t)((uint64_t)s->next + (uint64_t)an_agg_value(from, r));
		for (uint32_t b = 0; a->kind == KIND_HISTOGRAM && b < r->nbuckets; b++) {
			s->more[b] = (int64_t)((uint64_t)s->more[b] + (uint64_t)r->bucket[b]);
			s->next = (int64_t)((uint64_t)s->next + (uint64_t)r->bucket[b]);
		}
	}
	buf_free(&key);
	return rc;
}

/* The number of a stack's name + 1; 0: out of memory, or of room for names. */
static uint32_t agg_name(struct history *h, struct history_agg *a, const struct an_flame_name *name)
{
	struct buf key = { 0 }, text = { 0 };
	void **slot = NULL;
	uint32_t number;

	buf_putc(&key, (char)('0' + name->frame));
	buf_puts(&key, name->text);
	number = key.failed ? 0 : (uint32_t)(uintptr_t)map_get(&a->names, key.p, key.n);
	if (!number && !key.failed && h->text_bytes + key.n <= h->o.text_bytes)
		slot = map_at(&a->names, key.p, key.n);
	if (slot) {
		number = ++a->nnames;
		*slot = (void *)(uintptr_t)number;
		h->text_bytes += key.n;
		buf_json_str(&text, name->text, strlen(name->text));
		step_put(h, PART_NAMES, "[%u,[%u,%s]]", a->id, (unsigned)name->frame, text.p ? text.p : "\"\"");
		h->failed |= text.failed;
	}
	h->failed |= key.failed;
	buf_free(&key);
	buf_free(&text);
	return number;
}

/* The numbers of the names from the root's children down to the node. */
static bool agg_path(struct history *h, struct history_agg *a, const struct an_flame *f, uint32_t node, struct buf *key)
{
	uint32_t path[1024], n = 0;

	for (uint32_t at = node; at != f->tree[0].root; at = f->node[at].parent) {
		if (n == COUNT(path))
			return false;
		path[n++] = f->node[at].name;
	}
	buf_clear(key);
	while (n) {
		const uint32_t number = agg_name(h, a, &f->name[path[--n]]);

		if (!number)
			return false;
		buf_printf(key, "%s%u", key->n ? "," : "", number - 1);
	}
	return true;
}

static int agg_take_stacks(struct history *h, struct history_agg *a, const struct an_agg *from)
{
	struct an_flame f = { 0 };
	struct buf key = { 0 };
	uint32_t depth;
	int rc = 0;

	an_flame_add(&f, from);
	an_flame_sort(&f);
	if (f.failed)
		rc = -TALLY_ENOMEM;
	for (uint32_t at = rc < 0 ? 0 : an_flame_next(&f, &f.tree[0], 0, &depth); rc >= 0 && at;
	     at = an_flame_next(&f, &f.tree[0], at, &depth)) {
		struct history_series *s;

		if (!f.node[at].self)
			continue;
		if (agg_path(h, a, &f, at, &key)) {
			s = agg_series(h, a, &key);
		} else {
			a->folded++;
			s = agg_other(h, a);
		}
		if (s) {
			s->seen = true;
			s->next = (int64_t)((uint64_t)s->next + (uint64_t)f.node[at].self);
		}
		rc = s ? 0 : -TALLY_ENOMEM;
	}
	an_flame_free(&f);
	buf_free(&key);
	return rc;
}

int history_take(struct history *h, uint32_t number, const struct an_agg *from)
{
	struct history_agg *a = h->at && number < h->at->naggs ? h->at->agg[number] : NULL;
	const void *key;
	uint32_t n = 0;
	size_t i = 0, len;
	void *val;
	int rc;

	if (!a)
		return 0;
	while (map_next(&a->series, &i, &key, &len, &val))
		series_begin(val);
	if (a->other)
		series_begin(a->other);
	a->folded = 0;
	rc = a->kind == KIND_STACKS && from->nrows ? agg_take_stacks(h, a, from) : agg_take_rows(h, a, from);
	i = 0;
	while (map_next(&a->series, &i, &key, &len, &val)) {
		n += !((struct history_series *)val)->seen;
		if (((struct history_series *)val)->seen)
			series_step(h, val);
	}
	if (a->other)
		series_step(h, a->other);
	if (a->folded != a->folded_before)
		step_put(h, PART_FOLDED, "[%u,%llu]", a->id, (unsigned long long)a->folded);
	a->folded_before = a->folded;
	if (rc >= 0 && n)
		rc = agg_bury(h, a);
	h->failed |= rc < 0;
	return rc;
}

/* ---- programs ---------------------------------------------------------------------------------- */

static void facts_put(struct buf *to, const struct history_facts *f)
{
	const char *const word[] = { f->name, f->state, f->reason, f->file };

	for (size_t i = 0; i < COUNT(word); i++) {
		buf_putc(to, i ? ',' : '[');
		buf_json_str(to, word[i], strlen(word[i]));
	}
	buf_putc(to, ']');
}

static struct history_program *history_find_program(struct history *h, const char *name)
{
	struct history_program *p, **slot;

	for (uint32_t i = 0; i < h->nprograms; i++)
		if (!strcmp(h->program[i]->name, name))
			return h->program[i];
	p = mem_alloc(sizeof(*p));
	if (p)
		p->name = mem_strdup(name);
	slot = p && p->name ? VEC_NEW(h->program, h->nprograms, h->capprograms) : NULL;
	if (!slot) {
		if (p)
			mem_free(p->name);
		mem_free(p);
		return NULL;
	}
	*slot = p;
	return p;
}

void history_begin(struct history *h, uint64_t now_ns)
{
	h->now_ns = now_ns;
	h->at = NULL;
	h->changed = h->failed = false;
	for (uint32_t i = 0; i < h->nprograms; i++)
		h->program[i]->stays = false;
	for (uint32_t i = 0; i < PARTS; i++)
		buf_clear(&h->part[i]);
}

int history_program(struct history *h, const struct history_facts *f)
{
	struct history_program *p = history_find_program(h, f->name);
	struct buf words = { 0 };
	bool is_new;

	h->at = p;
	facts_put(&words, f);
	if (!p || words.failed) {
		h->failed = true;
		buf_free(&words);
		return -TALLY_ENOMEM;
	}
	is_new = !p->words || p->generation != f->generation;
	if (!p->words || strcmp(p->words, words.p) != 0) {
		h->changed = true;
		mem_free(p->words);
		p->words = mem_strdup(words.p);
		h->failed |= !p->words;
	}
	buf_free(&words);
	if (is_new)
		program_forget_aggs(h, p);
	p->generation = f->generation;
	p->stays = true;
	p->fired = 0;
	buf_clear(&p->lost);
	return h->failed ? -TALLY_ENOMEM : is_new;
}

static enum history_kind agg_kind(const struct tally_aggregation *a)
{
	static const struct {
		const char *function;
		enum history_kind kind, of_stacks;
	} kinds[] = {
		{ "count", KIND_COUNT, KIND_STACKS },          { "sum", KIND_SUM, KIND_STACKS },
		{ "quantize", KIND_HISTOGRAM, KIND_STACKS },   { "lquantize", KIND_HISTOGRAM, KIND_STACKS },
		{ "llquantize", KIND_HISTOGRAM, KIND_STACKS },
	};

	for (size_t i = 0; i < COUNT(kinds); i++)
		if (!strcmp(a->function, kinds[i].function))
			return a->has_stack ? kinds[i].of_stacks : kinds[i].kind;
	return KIND_GAUGE;
}

int history_define(struct history *h, const struct tally_aggregation *a)
{
	static const char *const kinds[] = { "count", "sum", "gauge", "histogram", "stacks" };
	struct history_agg *g = mem_alloc(sizeof(*g)), **slot;
	struct buf b = { 0 };

	if (!g) {
		h->failed = true;
		return -TALLY_ENOMEM;
	}
	g->id = ++h->ids;
	g->kind = agg_kind(a);
	buf_printf(&b, "{\"id\":%u,\"program\":", g->id);
	buf_json_str(&b, h->at->name, strlen(h->at->name));
	buf_puts(&b, ",\"name\":");
	buf_json_str(&b, a->name, strlen(a->name));
	buf_printf(&b, ",\"function\":\"%s\",\"kind\":\"%s\",\"help\":", a->function, kinds[g->kind]);
	buf_json_str(&b, a->comment, strlen(a->comment));
	for (uint32_t k = 0; k < a->nkeys; k++) {
		buf_puts(&b, k ? "," : ",\"keys\":[");
		buf_json_str(&b, a->key[k], strlen(a->key[k]));
	}
	buf_puts(&b, a->nkeys ? "]" : ",\"keys\":[]");
	for (uint32_t i = 0; i < a->nlast; i++) /* the least value of each bucket but the first */
		buf_printf(&b, "%s%lld", i ? "," : ",\"lows\":[", (long long)a->last[i] + 1);
	buf_puts(&b, a->nlast ? "]}" : "}");
	g->definition = b.failed ? NULL : mem_strdup(b.p);
	buf_free(&b);
	slot = g->definition ? VEC_NEW(h->at->agg, h->at->naggs, h->at->capaggs) : NULL;
	if (!slot) {
		h->failed = true;
		mem_free(g->definition);
		mem_free(g);
		return -TALLY_ENOMEM;
	}
	*slot = g;
	step_put(h, PART_AGGS, "%s", g->definition);
	return 0;
}

void history_drop(struct history *h, const char *kind, uint64_t count)
{
	if (!h->at)
		return;
	if (!strcmp(kind, "firings")) {
		h->at->fired = count;
	} else if (count) {
		buf_printf(&h->at->lost, "\"%s\",%llu", kind, (unsigned long long)count);
		buf_putc(&h->at->lost, '\0');
		h->failed |= h->at->lost.failed;
	}
}

/* ---- the end of a step --------------------------------------------------------------------------- */

int history_end(struct history *h)
{
	struct buf text = { 0 };
	uint32_t n = 0;

	for (uint32_t i = 0; i < h->nprograms; i++) {
		if (h->program[i]->stays) {
			h->program[n++] = h->program[i];
			continue;
		}
		h->changed = true;
		program_free(h, h->program[i]);
	}
	h->nprograms = n;
	h->at = NULL;
	buf_printf(&text, "{\"t\":%llu", (unsigned long long)(h->now_ns / 1000000));
	if (h->changed)
		history_put_programs(h, &text);
	history_put_fares(h, &text);
	history_put_parts(&text, h->part);
	buf_putc(&text, '}');
	h->newest++;
	if (h->failed || text.failed) {
		buf_free(&text);
		while (h->oldest < h->newest)
			history_forget_oldest(h);
		h->oldest = h->newest + 1;
		return -TALLY_ENOMEM;
	}
	if (h->newest - h->oldest >= COUNT(h->past))
		history_forget_oldest(h);
	h->past[h->newest % COUNT(h->past)] = (struct history_past){ h->now_ns, text };
	h->bytes += text.n;
	while (h->oldest < h->newest &&
	       (h->bytes > h->o.bytes || h->now_ns - h->past[h->oldest % COUNT(h->past)].ns >
						 h->o.span_ns)) /* also of a clock that was set back */
		history_forget_oldest(h);
	return 0;
}

/* ---- the state ------------------------------------------------------------------------------------- */

static void agg_put_state(struct history *h, const struct history_agg *a)
{
	const char **name = mem_alloc((a->nnames + 1) * sizeof(*name));
	size_t *length = mem_alloc((a->nnames + 1) * sizeof(*length)), i = 0, len;
	struct buf text = { 0 };
	const void *key;
	void *val;

	h->failed |= !name || !length;
	step_put(h, PART_AGGS, "%s", a->definition);
	while (!h->failed && map_next(&a->names, &i, &key, &len, &val)) {
		name[(uintptr_t)val - 1] = key;
		length[(uintptr_t)val - 1] = len;
	}
	for (uint32_t k = 0; !h->failed && k < a->nnames; k++) {
		buf_clear(&text);
		buf_json_str(&text, name[k] + 1, length[k] - 1);
		h->failed |= text.failed;
		step_put(h, PART_NAMES, "[%u,[%c,%s]]", a->id, name[k][0], text.p ? text.p : "\"\"");
	}
	i = 0;
	while (map_next(&a->series, &i, &key, &len, &val)) {
		const struct history_series *s = val;

		step_put(h, PART_NEW, "[%u,%u%s%.*s]", a->id, s->id, len ? "," : "", (int)len, (const char *)key);
		series_put_changes(h, s, s->value, s->bucket);
	}
	if (a->other) {
		step_put(h, PART_NEW, "[%u,%u,null]", a->id, a->other->id);
		series_put_changes(h, a->other, a->other->value, a->other->bucket);
	}
	if (a->folded)
		step_put(h, PART_FOLDED, "[%u,%llu]", a->id, (unsigned long long)a->folded);
	buf_free(&text);
	mem_free(length);
	mem_free(name);
}

int history_put_state(struct history *h, struct buf *to)
{
	const struct history_past *oldest = &h->past[h->oldest % COUNT(h->past)];

	h->failed = false;
	for (uint32_t i = 0; i < PARTS; i++)
		buf_clear(&h->part[i]);
	for (uint32_t i = 0; i < h->nprograms; i++)
		for (uint32_t k = 0; k < h->program[i]->naggs; k++)
			agg_put_state(h, h->program[i]->agg[k]);
	buf_puts(to, "{\"version\":");
	buf_json_str(to, tally_version(), strlen(tally_version()));
	buf_printf(to, ",\"t\":%llu,\"step\":%llu,\"span\":%llu,\"reach\":%llu",
		   (unsigned long long)(h->now_ns / 1000000), (unsigned long long)(h->step_ns / 1000000),
		   (unsigned long long)(h->o.span_ns / 1000000),
		   (unsigned long long)(h->oldest <= h->newest ? (h->now_ns - oldest->ns) / 1000000 : 0));
	history_put_programs(h, to);
	history_put_fares(h, to);
	history_put_parts(to, h->part);
	buf_putc(to, '}');
	to->failed |= h->failed;
	return to->failed ? -TALLY_ENOMEM : 0;
}
