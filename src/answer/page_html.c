/*
 * page_html.c: a page for a browser: one file, which asks the network for
 * nothing.
 *
 * Figures stand in the document itself, in table cells and in data-v, so a
 * program can read back what a person sees; only pictures are drawn by the
 * script.  Names come from files of others: they are escaped, and should one slip through, the
 * content security policy forbids all scripts but the page's own and all
 * loading.
 */
#include <string.h>

#include "answer/page_flame_script.h"
#include "answer/page_flame_style.h"
#include "answer/page_int.h"
#include "answer/page_script.h"
#include "answer/page_style.h"

/* Escaped, also for attributes in double quotes. */
void an_html_put_text(struct buf *to, const char *s)
{
	static const char marks[] = "<>&\"";
	static const char *const names[] = { "&lt;", "&gt;", "&amp;", "&quot;" };

	for (; s && *s; s++) {
		const char *at = strchr(marks, *s);

		if (at)
			buf_puts(to, names[at - marks]);
		else
			buf_putc(to, (unsigned char)*s < 0x20 || *s == 0x7f ? '?' : *s);
	}
}

/* The figure as data-v: the number itself, the bare text, nothing when there is none. */
static void value_of(struct buf *to, uint8_t unit, const struct an_cell *c)
{
	struct buf tmp = { 0 };

	buf_puts(to, " data-v=\"");
	if (an_is_text(an_unit_of(c, unit)))
		an_html_put_text(to, c->none ? "" : c->s);
	else if (!c->none)
		an_figure_json(&tmp, unit, c);
	buf_put(to, tmp.p ? tmp.p : "", tmp.n);
	buf_putc(to, '"');
	to->failed |= tmp.failed;
	buf_free(&tmp);
}

static void html_put_cell(struct buf *to, uint8_t unit, const struct an_cell *c)
{
	struct buf tmp = { 0 };

	an_figure(&tmp, unit, c);
	an_html_put_text(to, tmp.p);
	to->failed |= tmp.failed;
	buf_free(&tmp);
}

static void html_put_facts(struct buf *to, const struct an_part *p)
{
	buf_printf(to, "<dl data-part=\"%s\">\n", p->key);
	for (uint32_t i = 0; i < p->nfacts; i++) {
		const struct an_fact *f = &p->fact[i];

		buf_puts(to, "<div><dt>");
		an_html_put_text(to, f->title);
		buf_printf(to, "</dt><dd data-key=\"%s\"", f->key);
		value_of(to, f->unit, &f->cell);
		buf_putc(to, '>');
		html_put_cell(to, f->unit, &f->cell);
		buf_puts(to, "</dd></div>\n");
	}
	buf_puts(to, "</dl>\n");
}

static const char *html_unit_alignment(uint8_t unit)
{
	return an_is_text(unit) ? " class=\"t\"" : "";
}

static void html_put_table(struct buf *to, const struct an_part *p)
{
	const struct an_table *t = &p->table;

	buf_printf(to, "<div class=\"scroll\"><table data-part=\"%s\">\n<thead><tr>", p->key);
	for (uint32_t c = 0; c < t->ncols; c++) {
		buf_printf(to, "<th%s data-key=\"%s\">", html_unit_alignment(t->col[c].unit), t->col[c].key);
		an_html_put_text(to, t->col[c].title);
		buf_puts(to, "</th>");
	}
	buf_puts(to, "</tr></thead>\n<tbody>\n");
	for (uint32_t i = 0; i + t->ncols <= t->ncells; i += t->ncols) {
		buf_puts(to, "<tr>");
		for (uint32_t c = 0; c < t->ncols; c++) {
			buf_printf(to, "<td%s", html_unit_alignment(t->col[c].unit));
			value_of(to, t->col[c].unit, &t->cell[i + c]);
			buf_putc(to, '>');
			html_put_cell(to, t->col[c].unit, &t->cell[i + c]);
			buf_puts(to, "</td>");
		}
		buf_puts(to, "</tr>\n");
	}
	buf_puts(to, "</tbody></table></div>\n");
	if (t->left_out)
		buf_printf(to, "<p class=\"small\">and %llu more</p>\n", (unsigned long long)t->left_out);
}

static void html_put_bars(struct buf *to, const struct an_part *p)
{
	uint64_t all = an_bars_total(&p->bars), most = 1;

	for (uint32_t i = 0; i < p->bars.n; i++)
		most = p->bars.bar[i].count > most ? p->bars.bar[i].count : most;
	buf_printf(to, "<table class=\"bars\" data-part=\"%s\"><tbody>\n", p->key);
	for (uint32_t i = 0; i < p->bars.n; i++) {
		const struct an_bar *b = &p->bars.bar[i];
		struct buf tmp = { 0 };

		an_bar_label(&tmp, p->bars.unit, b);
		buf_printf(to, "<tr><th data-v=\"%llu\">", (unsigned long long)b->from);
		an_html_put_text(to, tmp.p);
		buf_printf(to, "</th><td class=\"b\"><i style=\"width:%.2f%%\"></i></td><td data-v=\"%llu\">",
			   100.0 * (double)b->count / (double)most, (unsigned long long)b->count);
		an_count(to, b->count);
		buf_printf(to, "</td><td>%.1f %%</td></tr>\n", all ? 100.0 * (double)b->count / (double)all : 0.0);
		to->failed |= tmp.failed;
		buf_free(&tmp);
	}
	buf_puts(to, "</tbody></table>\n");
}

/* Data of a picture: text that is no markup. '<' is escaped, so it cannot end the element. */
void an_html_put_script_string(struct buf *to, const char *s)
{
	struct buf tmp = { 0 };

	buf_json_str(&tmp, s ? s : "", s ? strlen(s) : 0);
	for (size_t i = 0; i < tmp.n; i++)
		if (tmp.p[i] == '<')
			buf_puts(to, "\\u003c");
		else
			buf_putc(to, tmp.p[i]);
	to->failed |= tmp.failed;
	buf_free(&tmp);
}

static void html_put_picture(struct buf *to, const struct an_part *p, uint64_t from, uint64_t step)
{
	buf_printf(to, "<figure data-part=\"%s\"><canvas role=\"img\" aria-label=\"", p->key);
	an_html_put_text(to, p->title);
	buf_printf(to, "\"></canvas><output></output>\n<script type=\"application/json\">{\"from\":%llu,\"step\":%llu",
		   (unsigned long long)from, (unsigned long long)step);
}

static void html_put_lines(struct buf *to, const struct an_part *p)
{
	const struct an_lines *l = &p->lines;

	html_put_picture(to, p, l->from, l->step);
	if (l->over) {
		buf_puts(to, ",\"over\":");
		an_html_put_script_string(to, l->over);
	}
	buf_puts(to, ",\"series\":[");
	for (uint32_t i = 0; i < l->nlines; i++) {
		buf_puts(to, i ? ",\n{\"name\":" : "\n{\"name\":");
		an_html_put_script_string(to, l->line[i].key);
		buf_puts(to, ",\"title\":");
		an_html_put_script_string(to, l->line[i].title);
		buf_puts(to, ",\"values\":[");
		for (uint32_t x = 0; x < l->n; x++) {
			buf_puts(to, x ? "," : "");
			an_line_json(to, &l->line[i], l->line[i].v[x]);
		}
		buf_puts(to, "]}");
	}
	buf_puts(to, "]}</script></figure>\n");
}

static void html_put_heat(struct buf *to, const struct an_part *p)
{
	const struct an_heat *h = &p->heat;
	uint32_t first, end;

	an_heat_rows(h, &first, &end);
	html_put_picture(to, p, h->from, h->step);
	buf_puts(to, ",\"rows\":[");
	for (uint32_t y = first; y < end; y++) {
		buf_printf(to, "%s\n{\"from\":%llu,\"counts\":[", y > first ? "," : "", (unsigned long long)h->low[y]);
		for (uint32_t x = 0; x < h->nx; x++)
			buf_printf(to, "%s%u", x ? "," : "", h->count[(size_t)y * h->nx + x]);
		buf_puts(to, "]}");
	}
	buf_puts(to, "]}</script></figure>\n");
}

static void html_put_literal(struct buf *to, const struct an_part *p)
{
	const char *line = p->literal ? p->literal : "";

	buf_printf(to, "<pre data-part=\"%s\">", p->key);
	for (size_t n; *line; line += n + (line[n] == '\n')) {
		struct buf text = { 0 };

		n = strcspn(line, "\n");
		buf_put(&text, line, n);
		buf_puts(&text, "");
		an_html_put_text(to, text.p);
		buf_putc(to, '\n');
		to->failed |= text.failed;
		buf_free(&text);
	}
	buf_puts(to, "</pre>\n");
}

static void html_put_words(struct buf *to, const struct an_part *p)
{
	static const char *const kind[] = { [AN_NOTE] = "note", [AN_CANNOT] = "cannot", [AN_LOST] = "lost" };
	static const char *const said[] = { [AN_NOTE] = "", [AN_CANNOT] = "Can't be told: ", [AN_LOST] = "Lost: " };

	buf_printf(to, "<li class=\"%s\" data-part=\"%s\"><b>%s</b>", kind[p->words], p->key, said[p->words]);
	an_html_put_text(to, p->text);
	buf_puts(to, "</li>\n");
}

static void html_put_section(struct buf *to, const struct an_part *p, uint32_t number)
{
	static void (*const form[])(struct buf *, const struct an_part *) = {
		[AN_PART_FACTS] = html_put_facts,     [AN_PART_TABLE] = html_put_table,
		[AN_PART_BARS] = html_put_bars,       [AN_PART_LINES] = html_put_lines,
		[AN_PART_HEAT] = html_put_heat,       [AN_PART_FLAME] = an_html_put_flame,
		[AN_PART_LITERAL] = html_put_literal,
	};

	buf_printf(to, "<section id=\"s%u\">\n<h2>", number);
	an_html_put_text(to, p->title);
	buf_puts(to, "</h2>\n");
	form[p->kind](to, p);
	if (p->text) {
		buf_puts(to, "<p class=\"small\">");
		an_html_put_text(to, p->text);
		buf_puts(to, "</p>\n");
	}
	buf_puts(to, "</section>\n");
}

/* Runs of words become lists. */
static void html_put_body(struct buf *to, const struct an_page *p)
{
	bool list = false;

	for (uint32_t i = 0; i < p->nparts; i++) {
		bool is_words = p->part[i]->kind == AN_PART_WORDS;

		if (is_words != list)
			buf_puts(to, is_words ? "<section><ul>\n" : "</ul></section>\n");
		list = is_words;
		if (is_words)
			html_put_words(to, p->part[i]);
		else if (!an_part_is_empty(p->part[i]))
			html_put_section(to, p->part[i], i);
	}
	if (list)
		buf_puts(to, "</ul></section>\n");
}

static void html_put_contents(struct buf *to, const struct an_page *p)
{
	buf_puts(to, "<nav>\n");
	for (uint32_t i = 0; i < p->nparts; i++) {
		if (p->part[i]->kind == AN_PART_WORDS || an_part_is_empty(p->part[i]))
			continue;
		buf_printf(to, "<a href=\"#s%u\">", i);
		an_html_put_text(to, p->part[i]->title);
		buf_puts(to, "</a>\n");
	}
	buf_puts(to, "</nav>\n");
}

/* A page without a flame graph carries nothing of one. */
static bool html_has_flame(const struct an_page *p)
{
	for (uint32_t i = 0; i < p->nparts; i++)
		if (p->part[i]->kind == AN_PART_FLAME)
			return true;
	return false;
}

void an_page_html(struct buf *to, const struct an_page *p)
{
	const bool flame = html_has_flame(p);

	buf_printf(to,
		   "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
		   "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
		   "style-src 'unsafe-inline'; script-src 'sha256-" AN_PAGE_SCRIPT_HASH "'%s; "
		   "base-uri 'none'; form-action 'none'\">\n"
		   "<meta name=\"viewport\" content=\"width=device-width\">\n<title>",
		   flame ? " 'sha256-" AN_FLAME_SCRIPT_HASH "'" : "");
	an_html_put_text(to, p->title);
	buf_puts(to, "</title>\n<style>" AN_PAGE_STYLE);
	buf_puts(to, flame ? "\n" AN_FLAME_STYLE : "");
	buf_puts(to, "</style>\n</head>\n<body>\n<header>\n<h1>");
	an_html_put_text(to, p->title);
	buf_puts(to, "</h1>\n");
	html_put_contents(to, p);
	buf_printf(to, "</header>\n<main data-page=\"%s\">\n", p->key);
	html_put_body(to, p);
	buf_puts(to, "</main>\n<script>" AN_PAGE_SCRIPT "</script>\n");
	if (flame)
		buf_puts(to, "<script>" AN_FLAME_SCRIPT "</script>\n");
	buf_puts(to, "</body>\n</html>\n");
}
