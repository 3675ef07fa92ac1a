/*
 * page_figure.c: one figure as text.  For people: grouped digits, binary units,
 * per cent.  For programs: the number itself, so that nothing is rounded twice.
 */
#include <stdio.h>
#include <string.h>

#include "answer/page_int.h"

const char *const an_unit_names[AN_NUNITS] = {
	[AN_DEFAULT] = "text",    [AN_TEXT] = "text",   [AN_DIGITS] = "text",   [AN_FLAG] = "flag",
	[AN_COUNT] = "count",     [AN_BYTES] = "bytes", [AN_TICKS] = "ticks",   [AN_HEX] = "hex",
	[AN_SHARE] = "share",     [AN_RATIO] = "ratio", [AN_CHANGE] = "change", [AN_NUMBER] = "number",
	[AN_LITERAL] = "literal", [AN_ID] = "id",       [AN_MILLIS] = "ns",
};

void an_count(struct buf *to, uint64_t v)
{
	char digits[24];
	int n = snprintf(digits, sizeof(digits), "%llu", (unsigned long long)v);

	for (int i = 0; i < n; i++) {
		buf_putc(to, digits[i]);
		if ((n - i) % 3 == 1 && i + 1 < n)
			buf_putc(to, ',');
	}
}

static void figure_put_bytes(struct buf *to, uint64_t v)
{
	static const char *const unit[] = { "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
	double d = (double)v / 1024;
	size_t i = 0;

	if (v < 10240) {
		an_count(to, v);
		buf_puts(to, " B");
		return;
	}
	for (; d >= 999.95 && i + 1 < COUNT(unit); i++)
		d /= 1024;
	buf_printf(to, "%.*f %s", d < 99.995 ? 2 : 1, d, unit[i]);
}

static void figure_put_number(struct buf *to, double d)
{
	if (d - d != 0) /* neither infinite nor no number at all */
		buf_puts(to, "-");
	else if (d >= 1000 && d < 1e18)
		an_count(to, (uint64_t)(d + 0.5));
	else
		buf_printf(to, "%.4g", d);
}

void an_figure(struct buf *to, uint8_t unit, const struct an_cell *c)
{
	const char *s;

	if (c->none) {
		buf_putc(to, '-');
		return;
	}
	if (c->approximate)
		buf_puts(to, "~ ");
	else if (c->at_most)
		buf_puts(to, "<= ");
	else if (c->at_least)
		buf_puts(to, ">= ");
	switch (an_unit_of(c, unit)) {
	case AN_COUNT:
	case AN_TICKS:
		an_count(to, c->u);
		break;
	case AN_FLAG:
		buf_puts(to, c->u ? "yes" : "no");
		break;
	case AN_BYTES:
		figure_put_bytes(to, c->u);
		break;
	case AN_HEX:
		buf_printf(to, "0x%llx", (unsigned long long)c->u);
		break;
	case AN_SHARE:
		buf_printf(to, "%.1f %%", c->d * 100);
		break;
	case AN_RATIO:
		buf_printf(to, "%.2f", c->d);
		break;
	case AN_CHANGE:
		if (c->d - c->d == 0)
			buf_printf(to, "%+.1f %%", c->d * 100);
		else
			buf_puts(to, "new"); /* from nothing */
		break;
	case AN_NUMBER:
		figure_put_number(to, c->d);
		break;
	case AN_ID:
		buf_printf(to, "%llu", (unsigned long long)c->u);
		break;
	case AN_MILLIS:
		buf_printf(to, "%.2f", c->d / 1e6);
		break;
	default:
		s = c->brief ? c->brief : c->s ? c->s : "";
		buf_plain(to, s, strlen(s));
	}
}

void an_figure_json(struct buf *to, uint8_t unit, const struct an_cell *c)
{
	if (c->none) {
		buf_puts(to, "null");
		return;
	}
	switch (an_unit_of(c, unit)) {
	case AN_FLAG:
		buf_puts(to, c->u ? "true" : "false");
		break;
	case AN_COUNT:
	case AN_TICKS:
	case AN_BYTES:
	case AN_HEX:
	case AN_ID:
	case AN_MILLIS:
		buf_printf(to, "%llu", (unsigned long long)c->u);
		break;
	case AN_LITERAL:
		buf_puts(to, c->s);
		break;
	case AN_SHARE:
	case AN_RATIO:
	case AN_CHANGE:
	case AN_NUMBER:
		if (c->d - c->d == 0) /* JSON has no infinity */
			buf_printf(to, "%.9g", c->d);
		else
			buf_puts(to, "null");
		break;
	default:
		buf_json_str(to, c->s ? c->s : "", c->s ? strlen(c->s) : 0);
	}
}

static struct an_cell figure_quotient(const struct an_line *line, uint64_t v)
{
	return AN_D((double)v / (double)line->by);
}

void an_line_figure(struct buf *to, uint8_t unit, const struct an_line *line, uint64_t v)
{
	struct an_cell c = line->by ? figure_quotient(line, v) : AN_U(v);

	an_figure(to, line->by ? AN_NUMBER : unit, &c);
}

void an_line_json(struct buf *to, const struct an_line *line, uint64_t v)
{
	struct an_cell c = line->by ? figure_quotient(line, v) : AN_U(v);

	an_figure_json(to, line->by ? AN_NUMBER : AN_COUNT, &c);
}

void an_bar_label(struct buf *to, uint8_t unit, const struct an_bar *b)
{
	struct an_cell from = AN_U(b->from), last = AN_U(b->to);

	an_figure(to, unit, &from);
	if (b->to == b->from)
		return;
	if (b->to == UINT64_MAX) {
		buf_puts(to, " or more");
		return;
	}
	buf_puts(to, " - ");
	an_figure(to, unit, &last);
}

uint64_t an_bars_total(const struct an_bars *b)
{
	uint64_t all = 0;

	for (uint32_t i = 0; i < b->n; i++)
		all += b->bar[i].count;
	return all;
}

static bool heat_row_counts(const struct an_heat *h, uint32_t y)
{
	for (uint32_t x = 0; x < h->nx; x++)
		if (h->count[(size_t)y * h->nx + x])
			return true;
	return false;
}

void an_heat_rows(const struct an_heat *h, uint32_t *first, uint32_t *end)
{
	*first = 0;
	*end = h->ny;
	while (*end > 0 && !heat_row_counts(h, *end - 1))
		--*end;
	while (*first < *end && !heat_row_counts(h, *first))
		++*first;
}

bool an_part_is_empty(const struct an_part *p)
{
	uint32_t first, end;

	switch (p->kind) {
	case AN_PART_FACTS:
		return !p->nfacts;
	case AN_PART_TABLE:
		return !p->table.ncells;
	case AN_PART_BARS:
		return !an_bars_total(&p->bars);
	case AN_PART_LINES:
		return !p->lines.n || !p->lines.nlines;
	case AN_PART_HEAT:
		an_heat_rows(&p->heat, &first, &end);
		return first == end;
	default:
		return false;
	}
}

void an_csv_cell(struct buf *to, const char *s, size_t n, char separator)
{
	bool quote = false;

	for (size_t i = 0; i < n; i++)
		quote |= s[i] == separator || s[i] == '"' || s[i] == '\n' || s[i] == '\r';
	if (!quote) {
		buf_put(to, s, n);
		return;
	}
	buf_putc(to, '"');
	for (size_t i = 0; i < n; i++) {
		if (s[i] == '"')
			buf_putc(to, '"');
		buf_putc(to, s[i]);
	}
	buf_putc(to, '"');
}
