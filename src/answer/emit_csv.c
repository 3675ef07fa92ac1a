/* emit_csv.c: answers as separated values; a line with the keys of the columns stands above the first table of a
 * kind. */
#include <string.h>

#include "answer/emit_int.h"

static void csv_put_separator(struct an_emit *e, bool *first)
{
	if (!*first)
		buf_putc(e->to, e->separator);
	*first = false;
}

static void csv_begin(struct an_emit *e, struct an_rows *t, bool first)
{
	bool leftmost = true;

	if (!first)
		return;
	if (t->type) {
		csv_put_separator(e, &leftmost);
		buf_puts(e->to, "type");
	}
	for (uint32_t c = 0; c < t->ncols; c++) {
		if (t->csv_skips >> c & 1)
			continue;
		csv_put_separator(e, &leftmost);
		buf_puts(e->to, t->col[c].key);
	}
	buf_putc(e->to, '\n');
}

static void csv_record(struct an_emit *e, struct an_rows *t, const struct an_cell *row)
{
	bool leftmost = true;

	if (t->type) {
		csv_put_separator(e, &leftmost);
		buf_puts(e->to, t->type);
	}
	for (uint32_t c = 0; c < t->ncols; c++) {
		const uint8_t unit = an_unit_of(&row[c], t->col[c].unit);

		if (t->csv_skips >> c & 1)
			continue;
		csv_put_separator(e, &leftmost);
		buf_clear(&e->tmp);
		if (!row[c].none && (unit == AN_TEXT || unit == AN_DIGITS))
			buf_puts(&e->tmp, row[c].s ? row[c].s : "");
		else if (!row[c].none)
			an_figure_json(&e->tmp, unit, &row[c]);
		e->to->failed |= e->tmp.failed;
		an_csv_cell(e->to, e->tmp.p ? e->tmp.p : "", e->tmp.n, e->separator);
	}
	buf_putc(e->to, '\n');
}

static void csv_end(struct an_emit *e, struct an_rows *t)
{
	(void)t;
	buf_free(&e->tmp);
}

const struct an_ops an_csv_ops = { .begin = csv_begin, .record = csv_record, .end = csv_end, .programs = true };
