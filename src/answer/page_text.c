/*
 * page_text.c: a page for a terminal.
 *
 * Nothing here is wider than the terminal unless a table has to be.  Series
 * and heat maps have more steps than a line has columns, so neighbours are put
 * together: in a series the largest of them is shown, since a peak is what one
 * looks for; in a heat map their sum, on a logarithmic scale, since a rare
 * slow one must not vanish beside a thousand fast ones.
 */
#include <string.h>

#include "answer/page_int.h"

#define MARGIN 2u
#define LABEL 20u   /* in front of bars, series and heat maps */
#define NUMBERS 24u /* behind bars */
#define LEVELS 8u

static const char *const blocks[2][LEVELS + 1] = {
	{ " ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" },
	{ " ", ".", ":", "-", "=", "+", "*", "#", "@" },
};
static const char *const shades[2][LEVELS + 1] = {
	{ " ", "·", "░", "░", "▒", "▒", "▓", "▓", "█" },
	{ " ", ".", ":", "-", "=", "+", "*", "#", "@" },
};

struct view {
	struct buf *to;
	uint32_t columns;
	bool ascii;
};

static void text_put_blanks(struct buf *to, size_t n)
{
	while (n--)
		buf_putc(to, ' ');
}

/* Columns that a text takes: code points, which is right for what tables hold. */
static size_t text_columns(const char *s, size_t n)
{
	size_t w = 0;

	for (size_t i = 0; i < n; i++)
		w += ((unsigned char)s[i] & 0xc0) != 0x80;
	return w;
}

static void text_put_padded(struct buf *to, const struct buf *b, size_t room, bool right)
{
	size_t w = text_columns(b->p, b->n), pad = w < room ? room - w : 0;

	if (right)
		text_put_blanks(to, pad);
	buf_put(to, b->p ? b->p : "", b->n);
	if (!right)
		text_put_blanks(to, pad);
	to->failed |= b->failed;
}

/* Words, wrapped, each line after the first indented by `indent`; `at` columns are taken already. */
static void text_put_wrapped(const struct view *v, const char *s, size_t indent, size_t at)
{
	bool first = true;

	while (*s) {
		size_t n = strcspn(s, " "), w = text_columns(s, n);

		if (!first && at + 1 + w > v->columns) {
			buf_putc(v->to, '\n');
			text_put_blanks(v->to, indent);
			at = indent;
		} else if (!first) {
			buf_putc(v->to, ' ');
			at++;
		}
		buf_plain(v->to, s, n);
		at += w;
		first = false;
		for (s += n; *s == ' '; s++)
			;
	}
	buf_putc(v->to, '\n');
}

static void text_put_explanation(const struct view *v, const struct an_part *p)
{
	if (!p->text)
		return;
	text_put_blanks(v->to, MARGIN);
	text_put_wrapped(v, p->text, MARGIN, MARGIN);
}

/* ---- tables ------------------------------------------------------------------------ */

static size_t cell_width(struct buf *to, const struct an_table *t, uint32_t c, struct buf *tmp)
{
	size_t most = text_columns(t->col[c].title, strlen(t->col[c].title));

	for (uint32_t r = 0; r < an_nrows(t); r++) {
		buf_clear(tmp);
		an_figure(tmp, t->col[c].unit, &t->cell[r * t->ncols + c]);
		size_t w = text_columns(tmp->p, tmp->n);
		most = w > most ? w : most;
		to->failed |= tmp->failed;
	}
	return most;
}

/* The first column, and those that tell its rows apart: they stand in front of each block. */
static bool column_leads(const struct an_table *t, uint32_t c)
{
	return c == 0 || (c < 32 && t->text_leads >> c & 1);
}

static bool column_is_in_blocks(const struct an_table *t, uint32_t c)
{
	return !column_leads(t, c) && (c >= 32 || !(t->text_skips >> c & 1));
}

static void table_cell(struct buf *to, const struct an_table *t, uint32_t c, size_t room, const struct an_cell *row,
		       struct buf *tmp)
{
	buf_clear(tmp);
	if (row)
		an_figure(tmp, t->col[c].unit, &row[c]);
	else
		buf_puts(tmp, t->col[c].title);
	text_put_blanks(to, MARGIN);
	text_put_padded(to, tmp, room, !an_is_text(t->col[c].unit));
}

/* The columns [from, end) of a row, with those that lead in front. */
static void table_row(struct buf *to, const struct an_table *t, const size_t *room, uint32_t from, uint32_t end,
		      const struct an_cell *row, struct buf *tmp)
{
	for (uint32_t c = 0; c < t->ncols; c++)
		if (column_leads(t, c))
			table_cell(to, t, c, room[c], row, tmp);
	for (uint32_t c = from; c < end; c++)
		if (column_is_in_blocks(t, c))
			table_cell(to, t, c, room[c], row, tmp);
	while (to->n && to->p[to->n - 1] == ' ')
		to->p[--to->n] = '\0';
	buf_putc(to, '\n');
}

/* Where the block ends that begins with column `from`: as many as fit, but one at least. */
static uint32_t block_end(const struct an_table *t, const size_t *room, uint32_t from, uint32_t columns)
{
	bool any = false;
	size_t w = 0;

	for (uint32_t c = 0; c < t->ncols; c++)
		if (column_leads(t, c))
			w += MARGIN + room[c];
	for (uint32_t c = from; c < t->ncols; c++) {
		if (!column_is_in_blocks(t, c))
			continue;
		w += MARGIN + room[c];
		if (w > columns && any)
			return c;
		any = true;
	}
	return t->ncols;
}

/* A table that is too wide goes on below, with the columns that lead again. */
static void blocks_of(struct buf *to, const struct an_table *t, const size_t *room, uint32_t columns, struct buf *tmp)
{
	for (uint32_t from = 1, end; from < t->ncols || from == 1; from = end) {
		end = block_end(t, room, from, columns);
		if (from > 1)
			buf_putc(to, '\n');
		table_row(to, t, room, from, end, NULL, tmp);
		for (uint32_t r = 0; r < an_nrows(t); r++)
			table_row(to, t, room, from, end, &t->cell[r * t->ncols], tmp);
		if (end >= t->ncols)
			break;
	}
}

void an_table_text(struct buf *to, const struct an_table *t, const struct an_text_opts *o)
{
	struct buf tmp = { 0 };
	size_t *room = mem_alloc((t->ncols + 1) * sizeof(*room));

	to->failed |= !room;
	for (uint32_t c = 0; room && c < t->ncols; c++)
		room[c] = cell_width(to, t, c, &tmp);
	if (room && t->ncols)
		blocks_of(to, t, room, o && o->columns ? o->columns : 80, &tmp);
	if (t->left_out) {
		text_put_blanks(to, MARGIN);
		buf_puts(to, "and ");
		an_count(to, t->left_out);
		buf_puts(to, t->left_out == 1 ? " row more\n" : " rows more\n");
	}
	to->failed |= tmp.failed;
	mem_free(room);
	buf_free(&tmp);
}

static void text_put_table(const struct view *v, const struct an_part *p)
{
	struct an_text_opts o = { .columns = v->columns, .ascii = v->ascii };

	an_table_text(v->to, &p->table, &o);
}

static void text_put_facts(const struct view *v, const struct an_part *p)
{
	size_t room = 0;

	for (uint32_t i = 0; i < p->nfacts; i++)
		if (strlen(p->fact[i].title) > room)
			room = strlen(p->fact[i].title);
	for (uint32_t i = 0; i < p->nfacts; i++) {
		struct buf tmp = { 0 };

		text_put_blanks(v->to, MARGIN);
		buf_printf(v->to, "%-*s  ", (int)room, p->fact[i].title);
		an_figure(&tmp, p->fact[i].unit, &p->fact[i].cell);
		text_put_wrapped(v, tmp.p ? tmp.p : "", MARGIN + room + 2, MARGIN + room + 2);
		v->to->failed |= tmp.failed;
		buf_free(&tmp);
	}
}

/* ---- pictures ------------------------------------------------------------------------- */

static uint64_t most_of(const uint64_t *v, uint32_t n)
{
	uint64_t most = 0;

	for (uint32_t i = 0; i < n; i++)
		most = v[i] > most ? v[i] : most;
	return most;
}

static void text_put_label(const struct view *v, const char *text)
{
	struct buf b = { 0 };

	buf_puts(&b, text);
	text_put_blanks(v->to, MARGIN);
	text_put_padded(v->to, &b, LABEL, false);
	buf_free(&b);
}

static void text_put_bars(const struct view *v, const struct an_part *p)
{
	const struct an_bars *b = &p->bars;
	uint64_t all = an_bars_total(b), most = 1;
	uint32_t room = v->columns > MARGIN + LABEL + NUMBERS + 12 ? v->columns - MARGIN - LABEL - NUMBERS : 12;

	for (uint32_t i = 0; i < b->n; i++)
		most = b->bar[i].count > most ? b->bar[i].count : most;
	for (uint32_t i = 0; i < b->n; i++) {
		struct buf tmp = { 0 };
		uint32_t len = (uint32_t)((double)b->bar[i].count / (double)most * room + 0.5);

		an_bar_label(&tmp, b->unit, &b->bar[i]);
		text_put_blanks(v->to, MARGIN);
		text_put_padded(v->to, &tmp, LABEL, true);
		buf_puts(v->to, " |");
		for (uint32_t k = 0; k < len; k++)
			buf_puts(v->to, v->ascii ? "@" : "█");
		text_put_blanks(v->to, room - len);
		buf_clear(&tmp);
		an_count(&tmp, b->bar[i].count);
		text_put_padded(v->to, &tmp, 13, true);
		buf_printf(v->to, " %5.1f %%\n", all ? 100.0 * (double)b->bar[i].count / (double)all : 0.0);
		v->to->failed |= tmp.failed;
		buf_free(&tmp);
	}
}

/* The place in a row of `cols` where step i of n is shown. */
static uint32_t column_of(uint32_t i, uint32_t n, uint32_t cols)
{
	return n > cols ? (uint32_t)((uint64_t)i * cols / n) : i;
}

static uint32_t picture_columns(const struct view *v, uint32_t n)
{
	uint32_t room = v->columns > MARGIN + LABEL + 20 + 18 ? v->columns - MARGIN - LABEL - 18 : 20;

	return n < room ? n : room;
}

static void text_put_axis(const struct view *v, uint64_t from, uint64_t step, uint32_t n)
{
	struct buf b = { 0 };

	buf_puts(&b, "time ");
	an_count(&b, from);
	buf_puts(&b, " to ");
	an_count(&b, from + step * n);
	buf_puts(&b, " ticks, ");
	an_count(&b, step);
	buf_puts(&b, " a step");
	text_put_blanks(v->to, MARGIN);
	buf_put(v->to, b.p, b.n);
	buf_putc(v->to, '\n');
	v->to->failed |= b.failed;
	buf_free(&b);
}

static void one_line(const struct view *v, const struct an_lines *l, const struct an_line *line, uint64_t *col)
{
	uint32_t cols = picture_columns(v, l->n);
	uint64_t most = most_of(line->v, l->n);

	memset(col, 0, cols * sizeof(*col));
	for (uint32_t i = 0; i < l->n; i++) {
		uint64_t *c = &col[column_of(i, l->n, cols)];
		*c = line->v[i] > *c ? line->v[i] : *c;
	}
	text_put_label(v, line->title);
	buf_puts(v->to, " |");
	for (uint32_t i = 0; i < cols; i++) {
		double share = most ? (double)col[i] / (double)most : 0;
		buf_puts(v->to, blocks[v->ascii][col[i] ? 1 + (uint32_t)(share * (LEVELS - 1) + 0.5) : 0]);
	}
	buf_puts(v->to, "| max ");
	an_line_figure(v->to, l->unit, line, most);
	buf_putc(v->to, '\n');
}

static void text_put_lines(const struct view *v, const struct an_part *p)
{
	const struct an_lines *l = &p->lines;
	uint64_t *col = mem_alloc((picture_columns(v, l->n) + 1) * sizeof(*col));

	v->to->failed |= !col;
	for (uint32_t i = 0; col && l->n && i < l->nlines; i++)
		one_line(v, l, &l->line[i], col);
	if (l->n)
		text_put_axis(v, l->from, l->step, l->n);
	mem_free(col);
}

/* The logarithm to base 2, straight between powers of two: near enough for eight shades. */
static double text_log2(uint64_t v)
{
	int bits = 63 - __builtin_clzll(v);

	return bits + ((double)v / (double)(1ull << bits) - 1);
}

static uint64_t heat_most(const struct an_heat *h, uint32_t cols, uint64_t *col)
{
	uint64_t most = 0, row;

	for (uint32_t y = 0; y < h->ny; y++) {
		memset(col, 0, cols * sizeof(*col));
		for (uint32_t x = 0; x < h->nx; x++)
			col[column_of(x, h->nx, cols)] += h->count[(size_t)y * h->nx + x];
		row = most_of(col, cols);
		most = row > most ? row : most;
	}
	return most;
}

static void heat_row(const struct view *v, const struct an_heat *h, uint32_t y, uint32_t cols, uint64_t *col,
		     uint64_t most)
{
	struct buf tmp = { 0 };
	struct an_cell low = AN_U(h->low[y]);

	memset(col, 0, cols * sizeof(*col));
	for (uint32_t x = 0; x < h->nx; x++)
		col[column_of(x, h->nx, cols)] += h->count[(size_t)y * h->nx + x];
	buf_puts(&tmp, v->ascii ? ">= " : "≥ ");
	an_figure(&tmp, h->unit, &low);
	text_put_blanks(v->to, MARGIN);
	text_put_padded(v->to, &tmp, LABEL, true);
	buf_puts(v->to, " |");
	for (uint32_t x = 0; x < cols; x++) {
		double share = col[x] ? text_log2(col[x] + 1) / text_log2(most + 1) : 0;
		buf_puts(v->to, shades[v->ascii][col[x] ? 1 + (uint32_t)(share * (LEVELS - 1) + 0.5) : 0]);
	}
	buf_puts(v->to, "|\n");
	v->to->failed |= tmp.failed;
	buf_free(&tmp);
}

static void text_put_heat(const struct view *v, const struct an_part *p)
{
	const struct an_heat *h = &p->heat;
	uint32_t cols = picture_columns(v, h->nx), first, end;
	uint64_t *col = mem_alloc((cols + 1) * sizeof(*col)), most;

	v->to->failed |= !col;
	if (!col)
		return;
	an_heat_rows(h, &first, &end);
	most = heat_most(h, cols, col);
	for (uint32_t y = end; y-- > first;)
		heat_row(v, h, y, cols, col, most);
	text_put_axis(v, h->from, h->step, h->nx);
	mem_free(col);
}

/* ---- words -------------------------------------------------------------------------------- */

static void text_put_words(const struct view *v, const struct an_part *p)
{
	static const char *const kind[] = {
		[AN_NOTE] = "note: ",
		[AN_CANNOT] = "can't be told: ",
		[AN_LOST] = "lost: ",
	};

	buf_puts(v->to, kind[p->words]);
	text_put_wrapped(v, p->text, MARGIN, strlen(kind[p->words]));
}

void an_page_text(struct buf *to, const struct an_page *p, const struct an_text_opts *o)
{
	static void (*const form[])(const struct view *, const struct an_part *) = {
		[AN_PART_FACTS] = text_put_facts, [AN_PART_TABLE] = text_put_table, [AN_PART_BARS] = text_put_bars,
		[AN_PART_LINES] = text_put_lines, [AN_PART_HEAT] = text_put_heat,   [AN_PART_WORDS] = text_put_words,
	};
	struct view v = { to, o && o->columns ? o->columns : 80, o && o->ascii };
	bool gap = true;

	text_put_wrapped(&v, p->title ? p->title : "", 0, 0);
	for (uint32_t i = 0; i < p->nparts; i++) {
		const struct an_part *part = p->part[i];
		bool quiet = part->kind == AN_PART_WORDS;

		if (an_part_is_empty(part))
			continue; /* an empty table says nothing to people */
		if (!quiet || gap)
			buf_putc(to, '\n');
		if (part->title) {
			buf_puts(to, part->title);
			buf_putc(to, '\n');
		}
		form[part->kind](&v, part);
		if (!quiet)
			text_put_explanation(&v, part);
		gap = !quiet;
	}
}
