/*
 * page_json.c: a page as JSON lines.  Every object says in "type" what it is; the
 * first one names the schema.  A table's row is an object of its own, so
 * that `grep '"type":"requester"'` is all that a script needs.  Series and heat
 * maps are one object each, with arrays.
 */
#include <string.h>

#include "answer/answer.h"
#include "answer/page_int.h"

static void string(struct buf *to, const char *s)
{
	buf_json_str(to, s ? s : "", s ? strlen(s) : 0);
}

static void head(struct buf *to, const char *type)
{
	buf_puts(to, "{\"type\":");
	string(to, type);
}

static void member(struct buf *to, const char *key, uint8_t unit, const struct an_cell *c)
{
	buf_printf(to, ",\"%s\":", key);
	an_figure_json(to, unit, c);
}

static void facts(struct buf *to, const struct an_part *p)
{
	head(to, p->key);
	for (uint32_t i = 0; i < p->nfacts; i++)
		member(to, p->fact[i].key, p->fact[i].unit, &p->fact[i].cell);
	buf_puts(to, "}\n");
}

static void table(struct buf *to, const struct an_part *p)
{
	const struct an_table *t = &p->table;

	for (uint32_t r = 0; r < an_nrows(t); r++) {
		head(to, p->key);
		for (uint32_t c = 0; c < t->ncols; c++)
			member(to, t->col[c].key, t->col[c].unit, &t->cell[r * t->ncols + c]);
		buf_puts(to, "}\n");
	}
	if (t->left_out) {
		head(to, "left_out");
		buf_puts(to, ",\"of\":");
		string(to, p->key);
		buf_printf(to, ",\"rows\":%llu}\n", (unsigned long long)t->left_out);
	}
}

static void bars(struct buf *to, const struct an_part *p)
{
	head(to, p->key);
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
	buf_puts(to, "]}\n");
}

static void lines(struct buf *to, const struct an_part *p)
{
	const struct an_lines *l = &p->lines;

	head(to, p->key);
	buf_printf(to, ",\"from\":%llu,\"step\":%llu,\"unit\":\"%s\",\"series\":[", (unsigned long long)l->from,
		   (unsigned long long)l->step, an_unit_names[l->unit]);
	for (uint32_t i = 0; i < l->nlines && l->n; i++) {
		buf_puts(to, i ? ",{\"name\":" : "{\"name\":");
		string(to, l->line[i].key);
		buf_puts(to, ",\"values\":[");
		for (uint32_t x = 0; x < l->n; x++) {
			buf_puts(to, x ? "," : "");
			an_line_json(to, &l->line[i], l->line[i].v[x]);
		}
		buf_puts(to, "]}");
	}
	buf_puts(to, "]}\n");
}

static void heat(struct buf *to, const struct an_part *p)
{
	const struct an_heat *h = &p->heat;

	head(to, p->key);
	buf_printf(to, ",\"from\":%llu,\"step\":%llu,\"unit\":\"%s\",\"rows\":[", (unsigned long long)h->from,
		   (unsigned long long)h->step, an_unit_names[h->unit]);
	for (uint32_t y = 0; y < h->ny; y++) {
		buf_printf(to, "%s{\"from\":%llu,\"counts\":[", y ? "," : "", (unsigned long long)h->low[y]);
		for (uint32_t x = 0; x < h->nx; x++)
			buf_printf(to, "%s%u", x ? "," : "", h->count[(size_t)y * h->nx + x]);
		buf_puts(to, "]}");
	}
	buf_puts(to, "]}\n");
}

static void words(struct buf *to, const struct an_part *p)
{
	static const char *const kind[] = { [AN_NOTE] = "note", [AN_CANNOT] = "cannot_tell", [AN_LOST] = "lost" };

	head(to, kind[p->words]);
	buf_puts(to, ",\"about\":");
	string(to, p->key);
	buf_puts(to, ",\"text\":");
	string(to, p->text);
	buf_puts(to, "}\n");
}

void an_page_json(struct buf *to, const struct an_page *p)
{
	static void (*const form[])(struct buf *, const struct an_part *) = {
		[AN_PART_FACTS] = facts, [AN_PART_TABLE] = table, [AN_PART_BARS] = bars,
		[AN_PART_LINES] = lines, [AN_PART_HEAT] = heat,   [AN_PART_WORDS] = words,
	};

	buf_printf(to, "{\"schema\":%d,\"type\":", AN_JSON_SCHEMA);
	string(to, p->key);
	buf_puts(to, ",\"title\":");
	string(to, p->title);
	buf_puts(to, "}\n");
	for (uint32_t i = 0; i < p->nparts; i++)
		form[p->part[i]->kind](to, p->part[i]);
}
