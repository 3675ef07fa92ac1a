/*
 * table.c: rows in three forms: columns for people, an object a line, separated values.
 *
 * One list of cells serves all three.  Text has its columns as wide as their widest
 * cell; a column of words is to the left, figures to the right, and the last column
 * is not filled up: of words it goes on below where a terminal ends.  A utilisation is coloured where the reader asked for colours: what is
 * hot should be seen before it is read.
 */
#include <stdio.h>
#include <string.h>

#include "ask/ask_int.h"

#define HOT 0.8
#define WARM 0.5
#define WORDS_LEAST 24u /* columns of a terminal for a last column of words */

void tbl_row(struct tbl *t, const struct an_cell *cells)
{
	for (uint32_t i = 0; i < t->ncols; i++) {
		struct an_cell *c = VEC_NEW(t->cell, t->n, t->cap);

		if (!c) {
			t->words.failed = true;
			t->n -= i; /* no half rows */
			return;
		}
		*c = cells[i];
		if (c->s) {
			c->s = arena_strdup(&t->words, c->s);
			c->none |= !c->s;
		}
	}
}

const char *tbl_text(struct tbl *t, const char *fmt, ...)
{
	va_list ap;
	const char *s;

	va_start(ap, fmt);
	s = arena_vprintf(&t->words, fmt, ap);
	va_end(ap);
	return s ? s : "";
}

void tbl_free(struct tbl *t)
{
	mem_free(t->cell);
	arena_free(&t->words);
	t->cell = NULL;
	t->n = t->cap = 0;
}

size_t tbl_columns(const struct tally_out *how)
{
	return how->columns ? how->columns : TBL_ENDLESS;
}

static uint8_t unit_of(const struct tbl *t, uint32_t column, const struct an_cell *c)
{
	return c->unit != AN_DEFAULT ? c->unit : t->col[column].unit;
}

/* ---- text ---------------------------------------------------------------------------------- */

static void tbl_put_figure(const struct tbl *t, uint32_t column, const struct an_cell *c, struct buf *to)
{
	buf_clear(to);
	if (c->none)
		buf_putc(to, '-');
	else if (t->seconds >> column & 1)
		buf_printf(to, "%.3f", c->d);
	else
		an_figure(to, unit_of(t, column, c), c);
}

static bool is_shown(const struct tbl *t, uint32_t column)
{
	return !(t->text_skips >> column & 1);
}

static uint32_t last_shown(const struct tbl *t)
{
	uint32_t last = 0;

	for (uint32_t c = 0; c < t->ncols; c++)
		if (is_shown(t, c))
			last = c;
	return last;
}

/* False: memory is out. */
static bool tbl_measure_columns(const struct tbl *t, size_t *width, struct buf *tmp)
{
	bool ok = true;

	for (uint32_t c = 0; c < t->ncols; c++)
		width[c] = strlen(t->col[c].title);
	for (uint32_t i = 0; i < t->n; i++) {
		tbl_put_figure(t, i % t->ncols, &t->cell[i], tmp);
		ok &= !tmp->failed;
		if (tmp->n > width[i % t->ncols])
			width[i % t->ncols] = tmp->n;
	}
	for (uint32_t c = 0; t->keep && c < t->ncols; c++) {
		if (width[c] < t->keep[c])
			width[c] = t->keep[c];
		t->keep[c] = width[c];
	}
	return ok;
}

static const char *colour_of(const struct tbl *t, uint32_t column, const struct an_cell *c, const struct tally_out *how)
{
	if (!how->colour || !(t->heat >> column & 1) || c->none)
		return NULL;
	return c->d >= HOT ? "\033[31m" : c->d >= WARM ? "\033[33m" : "\033[32m";
}

struct place {
	size_t width;
	bool left, last;
	const char *colour;
};
static void put_cell(struct buf *to, const char *text, const struct place *p)
{
	size_t n = strlen(text), fill = p->width > n ? p->width - n : 0;

	if (!p->left)
		buf_printf(to, "%*s", (int)fill, "");
	buf_printf(to, "%s%s%s", p->colour ? p->colour : "", text, p->colour ? "\033[0m" : "");
	while (p->last && to->n && to->p[to->n - 1] == ' ')
		to->n--;
	if (p->left && !p->last)
		buf_printf(to, "%*s", (int)fill, "");
	buf_puts(to, p->last ? "\n" : "  ");
}

static bool is_left(const struct tbl *t, uint32_t column)
{
	return t->col[column].unit == AN_TEXT || t->col[column].unit == AN_FLAG;
}

/* Where the words of the last column begin, if what does not fit a terminal can go on in lines of its own there; else 0. */
static size_t words_at(const struct tbl *t, const size_t *width, size_t columns)
{
	const uint32_t last = last_shown(t);
	size_t at = 0;

	for (uint32_t c = 0; c < last; c++)
		at += is_shown(t, c) ? width[c] + 2 : 0;
	return t->col[last].unit == AN_TEXT && at + WORDS_LEAST <= columns ? at : 0;
}

static void text_rows(const struct tbl *t, struct buf *to, const struct tally_out *how, bool header,
		      const size_t *width)
{
	const size_t columns = tbl_columns(how), at = words_at(t, width, columns);
	const uint32_t last = last_shown(t);
	struct buf tmp = { 0 };

	for (uint32_t c = 0; header && c < t->ncols; c++)
		if (is_shown(t, c))
			put_cell(to, t->col[c].title, &(struct place){ width[c], is_left(t, c), c == last, NULL });
	for (uint32_t i = 0; i < t->n; i++) {
		uint32_t c = i % t->ncols;

		if (!is_shown(t, c))
			continue;
		tbl_put_figure(t, c, &t->cell[i], &tmp);
		to->failed |= tmp.failed;
		if (c == last && at && at + tmp.n > columns)
			buf_wrap(to, tmp.p, at, at, columns, "");
		else
			put_cell(to, tmp.p ? tmp.p : "",
				 &(struct place){ width[c], is_left(t, c), c == last,
						  colour_of(t, c, &t->cell[i], how) });
	}
	buf_free(&tmp);
}

static void put_text(const struct tbl *t, struct buf *to, const struct tally_out *how, bool header)
{
	size_t *width = mem_alloc((t->ncols + 1) * sizeof(*width));
	struct buf tmp = { 0 };

	to->failed |= !width;
	if (!width)
		return;
	to->failed |= !tbl_measure_columns(t, width, &tmp);
	if (t->title && header)
		buf_printf(to, "%s\n", t->title);
	text_rows(t, to, how, header, width);
	buf_free(&tmp);
	mem_free(width);
}

/* ---- for programs ----------------------------------------------------------------------------- */

static void put_json(const struct tbl *t, struct buf *to)
{
	for (uint32_t i = 0; i < t->n; i++) {
		uint32_t c = i % t->ncols;

		if (!c)
			buf_printf(to, "{\"type\":\"%s\"", t->type);
		buf_printf(to, ",\"%s\":", t->col[c].key);
		an_figure_json(to, unit_of(t, c, &t->cell[i]), &t->cell[i]);
		if (c == t->ncols - 1)
			buf_puts(to, "}\n");
	}
}

static void put_csv(const struct tbl *t, struct buf *to, char separator, bool header)
{
	struct buf tmp = { 0 };

	if (header)
		buf_printf(to, "type%c", separator);
	for (uint32_t c = 0; header && c < t->ncols; c++)
		buf_printf(to, "%s%c", t->col[c].key, c == t->ncols - 1 ? '\n' : separator);
	for (uint32_t i = 0; i < t->n; i++) {
		const struct an_cell *cell = &t->cell[i];
		uint8_t unit = unit_of(t, i % t->ncols, cell);

		buf_clear(&tmp);
		if (i % t->ncols == 0)
			buf_printf(to, "%s%c", t->type, separator);
		if (!cell->none && (unit == AN_TEXT || unit == AN_DIGITS))
			buf_puts(&tmp, cell->s ? cell->s : "");
		else if (!cell->none)
			an_figure_json(&tmp, unit, cell);
		to->failed |= tmp.failed;
		an_csv_cell(to, tmp.p ? tmp.p : "", tmp.n, separator);
		buf_putc(to, i % t->ncols == t->ncols - 1 ? '\n' : separator);
	}
	buf_free(&tmp);
}

void tbl_put(struct tbl *t, struct buf *to, const struct tally_out *how, bool header)
{
	to->failed |= t->words.failed;
	if (how->format == TALLY_FORMAT_JSON)
		put_json(t, to);
	else if (how->format == TALLY_FORMAT_CSV)
		put_csv(t, to, how->separator ? how->separator : ',', header);
	else
		put_text(t, to, how, header);
}
