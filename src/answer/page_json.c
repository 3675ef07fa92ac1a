/*
 * page_json.c: a page as JSON lines.  Every object says in "type" what it is; the
 * first one names the schema.  A table's row is an object of its own, so
 * that `grep '"type":"requester"'` is all that a script needs.  Series and heat
 * maps are one object each, with arrays.
 */
#include <string.h>

#include "answer/answer.h"
#include "answer/page_int.h"

static void page_json_string(struct buf *to, const char *s)
{
	buf_json_str(to, s ? s : "", s ? strlen(s) : 0);
}

static void page_json_begin(struct buf *to, const char *type)
{
	buf_puts(to, "{\"type\":");
	page_json_string(to, type);
}

static void page_json_member(struct buf *to, const char *key, uint8_t unit, const struct an_cell *c)
{
	buf_printf(to, ",\"%s\":", key);
	an_figure_json(to, unit, c);
}

/* A list of keys, of which this is the n-th. */
static void page_json_list(struct buf *to, const char *list, uint32_t n, const char *key)
{
	if (n == 0)
		buf_printf(to, ",\"%s\":[", list);
	buf_puts(to, n ? "," : "");
	page_json_string(to, key);
}

enum page_mark { MARK_AT_MOST, MARK_AT_LEAST, MARK_APPROXIMATE, MARKS };

static bool page_cell_has(const struct an_cell *c, enum page_mark mark)
{
	const bool has[MARKS] = { [MARK_AT_MOST] = c->at_most && !c->approximate,
				  [MARK_AT_LEAST] = c->at_least && !c->approximate,
				  [MARK_APPROXIMATE] = c->approximate };

	return !c->none && has[mark];
}

static bool page_line_has(const struct an_line *l, enum page_mark mark)
{
	return mark == MARK_APPROXIMATE ? l->approximate : mark == MARK_AT_MOST && l->at_most && !l->approximate;
}

static const char *const page_marks[MARKS] = {
	[MARK_AT_MOST] = "at_most", [MARK_AT_LEAST] = "at_least", [MARK_APPROXIMATE] = "approximate"
};

static void page_json_facts(struct buf *to, const struct an_part *p)
{
	page_json_begin(to, p->key);
	for (uint32_t i = 0; i < p->nfacts; i++)
		page_json_member(to, p->fact[i].key, p->fact[i].unit, &p->fact[i].cell);
	for (uint32_t mark = 0, n; mark < MARKS; mark++) {
		n = 0;
		for (uint32_t i = 0; i < p->nfacts; i++)
			if (page_cell_has(&p->fact[i].cell, mark))
				page_json_list(to, page_marks[mark], n++, p->fact[i].key);
		buf_puts(to, n ? "]" : "");
	}
	buf_puts(to, "}\n");
}

static void page_json_row(struct buf *to, const struct an_part *p, const struct an_cell *cell)
{
	const struct an_table *t = &p->table;

	page_json_begin(to, p->key);
	for (uint32_t c = 0; c < t->ncols; c++)
		page_json_member(to, t->col[c].key, t->col[c].unit, &cell[c]);
	for (uint32_t mark = 0, n; mark < MARKS; mark++) {
		n = 0;
		for (uint32_t c = 0; c < t->ncols; c++)
			if (page_cell_has(&cell[c], mark))
				page_json_list(to, page_marks[mark], n++, t->col[c].key);
		buf_puts(to, n ? "]" : "");
	}
	buf_puts(to, "}\n");
}

static void page_json_table(struct buf *to, const struct an_part *p)
{
	const struct an_table *t = &p->table;

	for (uint32_t r = 0; r < an_nrows(t); r++)
		page_json_row(to, p, &t->cell[r * t->ncols]);
	if (t->left_out) {
		page_json_begin(to, "left_out");
		buf_puts(to, ",\"of\":");
		page_json_string(to, p->key);
		buf_printf(to, ",\"rows\":%llu}\n", (unsigned long long)t->left_out);
	}
}

static void page_json_bars(struct buf *to, const struct an_part *p)
{
	page_json_begin(to, p->key);
	buf_printf(to, ",\"unit\":\"%s\",\"buckets\":[", an_unit_names[p->bars.unit]);
	for (uint32_t i = 0; i < p->bars.n; i++) {
		const struct an_bar *b = &p->bars.bar[i];

		buf_printf(to, "%s{\"from\":%llu,\"to\":", i ? "," : "", (unsigned long long)b->from);
		if (b->to == UINT64_MAX)
			buf_puts(to, "null");
		else
			buf_printf(to, "%llu", (unsigned long long)b->to);
		buf_printf(to, ",\"count\":%llu}", (unsigned long long)b->count);
	}
	buf_printf(to, "]%s}\n", p->approximate ? ",\"approximate\":[\"buckets\"]" : "");
}

/* Closes an array whose elements are steps. */
static void page_json_step(struct buf *to, const struct an_part *p)
{
	buf_puts(to, p->step_at_least ? "],\"at_least\":[\"step\"]" : "]");
}

static void page_json_lines(struct buf *to, const struct an_part *p)
{
	const struct an_lines *l = &p->lines;

	page_json_begin(to, p->key);
	buf_printf(to, ",\"from\":%llu,\"step\":%llu,\"unit\":\"%s\",\"series\":[", (unsigned long long)l->from,
		   (unsigned long long)l->step, an_unit_names[l->unit]);
	for (uint32_t i = 0; i < l->nlines && l->n; i++) {
		buf_puts(to, i ? ",{\"name\":" : "{\"name\":");
		page_json_string(to, l->line[i].key);
		buf_puts(to, ",\"values\":[");
		for (uint32_t x = 0; x < l->n; x++) {
			buf_puts(to, x ? "," : "");
			an_line_json(to, &l->line[i], l->line[i].v[x]);
		}
		buf_puts(to, "]}");
	}
	page_json_step(to, p);
	for (uint32_t mark = 0, n; mark < MARKS; mark++) {
		n = 0;
		for (uint32_t i = 0; i < l->nlines && l->n; i++)
			if (page_line_has(&l->line[i], mark))
				page_json_list(to, page_marks[mark], n++, l->line[i].key);
		buf_puts(to, n ? "]" : "");
	}
	buf_puts(to, "}\n");
}

static void page_json_heat(struct buf *to, const struct an_part *p)
{
	const struct an_heat *h = &p->heat;

	page_json_begin(to, p->key);
	buf_printf(to, ",\"from\":%llu,\"step\":%llu,\"unit\":\"%s\",\"rows\":[", (unsigned long long)h->from,
		   (unsigned long long)h->step, an_unit_names[h->unit]);
	for (uint32_t y = 0; y < h->ny; y++) {
		buf_printf(to, "%s{\"from\":%llu,\"counts\":[", y ? "," : "", (unsigned long long)h->low[y]);
		for (uint32_t x = 0; x < h->nx; x++)
			buf_printf(to, "%s%u", x ? "," : "", h->count[(size_t)y * h->nx + x]);
		buf_puts(to, "]}");
	}
	page_json_step(to, p);
	buf_puts(to, p->approximate ? ",\"approximate\":[\"rows\"]}\n" : "}\n");
}

static void page_json_words(struct buf *to, const struct an_part *p)
{
	static const char *const kind[] = { [AN_NOTE] = "note", [AN_CANNOT] = "cannot_tell", [AN_LOST] = "lost" };

	page_json_begin(to, kind[p->words]);
	buf_puts(to, ",\"about\":");
	page_json_string(to, p->key);
	buf_puts(to, ",\"text\":");
	page_json_string(to, p->text);
	buf_puts(to, "}\n");
}

void an_page_json(struct buf *to, const struct an_page *p)
{
	static void (*const form[])(struct buf *, const struct an_part *) = {
		[AN_PART_FACTS] = page_json_facts, [AN_PART_TABLE] = page_json_table, [AN_PART_BARS] = page_json_bars,
		[AN_PART_LINES] = page_json_lines, [AN_PART_HEAT] = page_json_heat,   [AN_PART_WORDS] = page_json_words,
	};

	buf_printf(to, "{\"schema\":%d,\"type\":", AN_JSON_SCHEMA);
	page_json_string(to, p->key);
	buf_puts(to, ",\"title\":");
	page_json_string(to, p->title);
	buf_puts(to, "}\n");
	for (uint32_t i = 0; i < p->nparts; i++)
		form[p->part[i]->kind](to, p->part[i]);
}
