/*
 * page.c: building a page.
 *
 * Parts are made in the order in which they are shown.  Texts, bars and series
 * go to the page's arena; rows and facts, whose number isn't known before, grow
 * as vectors.  No function here tells of a failure: memory that is out shows in
 * `arena.failed`, and a page that lacks a part is never handed out by those who
 * look at it.
 */
#include <string.h>

#include "answer/page.h"

void an_page_open(struct an_page *p, const char *key, const char *title)
{
	p->key = key;
	p->title = arena_strdup(&p->arena, title);
}

void an_page_free(struct an_page *p)
{
	for (uint32_t i = 0; i < p->nparts; i++) {
		if (p->part[i]->kind == AN_PART_FACTS)
			mem_free(p->part[i]->fact);
		if (p->part[i]->kind == AN_PART_TABLE)
			mem_free(p->part[i]->table.cell);
	}
	mem_free(p->part);
	arena_free(&p->arena);
	*p = (struct an_page){ 0 };
}

bool an_page_failed(const struct an_page *p)
{
	return p->arena.failed;
}

static struct an_part *page_add_part(struct an_page *p, uint8_t kind, const char *key, const char *title)
{
	struct an_part *part = arena_alloc(&p->arena, sizeof(*part));
	struct an_part **slot = part ? VEC_NEW(p->part, p->nparts, p->capparts) : NULL;

	if (!slot) {
		p->arena.failed = true;
		return NULL;
	}
	*part = (struct an_part){ .kind = kind, .key = key, .title = title };
	return *slot = part;
}

/* A copy in the arena; NULL for nothing or when memory is out. */
static const void *page_copy(struct an_page *p, const void *from, size_t n, size_t size)
{
	void *to = n && n < SIZE_MAX / size ? arena_alloc(&p->arena, n * size) : NULL;

	return to ? memcpy(to, from, n * size) : NULL;
}

struct an_part *an_page_facts(struct an_page *p, const char *key, const char *title)
{
	return page_add_part(p, AN_PART_FACTS, key, title);
}

struct an_part *an_page_table(struct an_page *p, const char *key, const char *title, const struct an_column *col,
			      uint32_t ncols)
{
	struct an_part *part = page_add_part(p, AN_PART_TABLE, key, title);

	if (part)
		part->table = (struct an_table){ .col = col, .ncols = ncols };
	return part;
}

struct an_part *an_page_bars(struct an_page *p, const char *key, const char *title, const struct an_bars *b)
{
	struct an_part *part = page_add_part(p, AN_PART_BARS, key, title);

	if (part) {
		part->bars = *b;
		part->bars.bar = page_copy(p, b->bar, b->n, sizeof(*b->bar));
		part->bars.n = part->bars.bar ? b->n : 0;
	}
	return part;
}

struct an_part *an_page_lines(struct an_page *p, const char *key, const char *title, const struct an_lines *l)
{
	struct an_part *part = page_add_part(p, AN_PART_LINES, key, title);
	struct an_line *line = part ? arena_alloc(&p->arena, (l->nlines + 1) * sizeof(*line)) : NULL;

	if (!line)
		return part;
	part->lines = *l;
	part->lines.line = line;
	for (uint32_t i = 0; i < l->nlines; i++) {
		line[i].key = arena_strdup(&p->arena, l->line[i].key);
		line[i].title = arena_strdup(&p->arena, l->line[i].title);
		line[i].v = page_copy(p, l->line[i].v, l->n, sizeof(*l->line[i].v));
		line[i].by = l->line[i].by;
		line[i].at_most = l->line[i].at_most;
		line[i].approximate = l->line[i].approximate;
		if (!line[i].key || !line[i].title || !line[i].v)
			part->lines.n = 0;
	}
	return part;
}

struct an_part *an_page_heat(struct an_page *p, const char *key, const char *title, const struct an_heat *h)
{
	struct an_part *part = page_add_part(p, AN_PART_HEAT, key, title);

	if (part) {
		part->heat = *h;
		part->heat.low = page_copy(p, h->low, h->ny, sizeof(*h->low));
		part->heat.count = page_copy(p, h->count, (size_t)h->nx * h->ny, sizeof(*h->count));
		if (!part->heat.low || !part->heat.count)
			part->heat.nx = part->heat.ny = 0;
	}
	return part;
}

static const char *page_format_words(struct an_page *p, const char *fmt, va_list ap)
{
	struct buf b = { 0 };
	const char *text;

	buf_vprintf(&b, fmt, ap);
	text = arena_strndup(&p->arena, b.p ? b.p : "", b.n);
	p->arena.failed |= b.failed;
	buf_free(&b);
	return text;
}

struct an_part *an_page_flame(struct an_page *p, const char *key, const char *title, const struct an_flame *f,
			      uint32_t tree)
{
	struct an_part *part = page_add_part(p, AN_PART_FLAME, key, title);

	if (part)
		part->flame = (struct an_flame_picture){ f, tree };
	return part;
}

struct an_part *an_page_literal(struct an_page *p, const char *key, const char *title, const char *lines, size_t n)
{
	struct an_part *part = page_add_part(p, AN_PART_LITERAL, key, title);

	if (part)
		part->literal = arena_strndup(&p->arena, lines, n);
	return part;
}

void an_page_words(struct an_page *p, enum an_words kind, const char *key, const char *fmt, ...)
{
	struct an_part *part = page_add_part(p, AN_PART_WORDS, key, NULL);
	va_list ap;

	if (!part)
		return;
	va_start(ap, fmt);
	part->text = page_format_words(p, fmt, ap);
	va_end(ap);
	part->words = (uint8_t)kind;
}

void an_explain(struct an_page *p, struct an_part *part, const char *fmt, ...)
{
	va_list ap;

	if (!part)
		return;
	va_start(ap, fmt);
	part->text = page_format_words(p, fmt, ap);
	va_end(ap);
}

static struct an_cell page_own_cell(struct an_page *p, struct an_cell c)
{
	if (c.s)
		c.s = arena_strdup(&p->arena, c.s);
	return c;
}

void an_fact(struct an_page *p, struct an_part *facts, const char *key, const char *title, uint8_t unit,
	     struct an_cell c)
{
	struct an_fact *f = facts ? VEC_NEW(facts->fact, facts->nfacts, facts->capfacts) : NULL;

	if (f)
		*f = (struct an_fact){ key, title, unit, page_own_cell(p, c) };
	else
		p->arena.failed = true;
}

void an_row(struct an_page *p, struct an_part *part, const struct an_cell *cells)
{
	struct an_table *t = part ? &part->table : NULL;
	uint32_t whole = t ? t->ncells : 0;

	for (uint32_t i = 0; t && i < t->ncols; i++) {
		struct an_cell *c = VEC_NEW(t->cell, t->ncells, t->capcells);

		if (!c) {
			t->ncells = whole; /* no half a row */
			p->arena.failed = true;
			return;
		}
		*c = page_own_cell(p, cells[i]);
	}
}
