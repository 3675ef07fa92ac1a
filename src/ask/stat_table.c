/*
 * stat_table.c: the table of counts that hypervisors' counters and CPU events share.
 *
 * For programs a row has always the same columns, and four more behind them as soon as CPU events are among what is
 * counted.  Text is for 80 columns: what no row has anything for is left out, an interval's table
 * has what came in it, and the last one the sum.
 */
#include <string.h>

#include "ask/stat_int.h"

enum { C_TIME, C_DELTA, C_VALUE, C_UNIT, C_ID, C_NAME, C_SHARE, C_SPREAD, C_NOTE, TEXT_COLUMNS }; /* of text */
#define PLAIN_COLUMNS 10u /* for programs, without CPU events */

static const struct an_column text_col[TEXT_COLUMNS] = {
	{ "time", "TIME", AN_NUMBER },    { "delta", "DELTA", AN_COUNT },   { "value", "SINCE START", AN_COUNT },
	{ "unit", "UNIT", AN_TEXT },      { "id", "ID", AN_TEXT },          { "name", "NAME", AN_TEXT },
	{ "share", "COUNTED", AN_SHARE }, { "spread", "SPREAD", AN_SHARE }, { "why", "", AN_TEXT },
};
static const struct an_column program_col[STAT_COLUMNS] = {
	{ "time", "", AN_NUMBER },   { "delta", "", AN_COUNT },      { "value", "", AN_COUNT },
	{ "unit", "", AN_TEXT },     { "id", "", AN_TEXT },          { "name", "", AN_TEXT },
	{ "selector", "", AN_TEXT }, { "raw", "", AN_COUNT },        { "status", "", AN_TEXT },
	{ "why", "", AN_TEXT },      { "share", "", AN_NUMBER },     { "spread", "", AN_NUMBER },
	{ "metric", "", AN_NUMBER }, { "metric_unit", "", AN_TEXT },
};

void stat_table_open(struct stat_table *t, const struct tally_out *to, bool cpu)
{
	bool text = to->format == TALLY_FORMAT_TEXT;

	t->to = *to;
	t->cpu = cpu;
	memcpy(t->col, text ? text_col : program_col, text ? sizeof(text_col) : sizeof(program_col));
	t->t = (struct tbl){ .type = "count",
			     .col = t->col,
			     .seconds = text,
			     .keep = t->keep,
			     .ncols = text ? TEXT_COLUMNS :
				      cpu  ? STAT_COLUMNS :
					     PLAIN_COLUMNS };
	if (!text)
		t->t.keep = NULL;
}

static struct an_cell stat_cell_only(bool there, struct an_cell c)
{
	return there ? c : AN_NONE;
}

static struct an_cell stat_cell_words(const char *s)
{
	return AN_S(s ? s : "");
}

static void text_row(struct stat_table *t, double seconds, const struct stat_figure *f)
{
	const struct an_cell row[TEXT_COLUMNS] = {
		AN_D(seconds),
		f->delta,
		f->value,
		stat_cell_words(f->unit),
		stat_cell_words(f->id),
		stat_cell_words(f->name),
		stat_cell_only(f->cpu, f->share),
		stat_cell_only(f->cpu, f->spread),
		stat_cell_words(f->note ? f->note : f->why),
	};
	bool whole = !f->cpu || f->share.none || f->share.d > 0.9995;

	t->shown |= (uint32_t)!whole << C_SHARE | (uint32_t)(f->cpu && !f->spread.none) << C_SPREAD;
	t->shown |= (uint32_t)(strcmp(f->id, "all") && strcmp(f->id, "-")) << C_ID;
	tbl_row(&t->t, row);
}

void stat_table_row(struct stat_table *t, double seconds, const char *selector, const struct stat_figure *f)
{
	if (t->to.format == TALLY_FORMAT_TEXT)
		text_row(t, seconds, f);
	else
		tbl_row(&t->t, (struct an_cell[]){ AN_D(seconds), f->delta, f->value, stat_cell_words(f->unit),
						   stat_cell_words(f->id), stat_cell_words(f->name),
						   stat_cell_words(selector), f->raw, stat_cell_words(f->status),
						   stat_cell_words(f->why), stat_cell_only(f->cpu, f->share),
						   stat_cell_only(f->cpu, f->spread), stat_cell_only(f->cpu, f->metric),
						   f->cpu && f->metric_unit ? AN_S(f->metric_unit) : AN_NONE });
}

static uint32_t left_out(const struct stat_table *t)
{
	uint32_t never = 1u << C_SHARE | 1u << C_SPREAD;

	if (!t->cpu)
		return never;
	if (t->kind == STAT_INTERVAL)
		never |= 1u << C_VALUE;
	else
		never |= 1u << C_TIME | 1u << C_DELTA;
	return (never | 1u << C_ID) & ~t->shown;
}

void stat_table_put(struct stat_table *t, struct buf *to, bool first)
{
	bool text = t->to.format == TALLY_FORMAT_TEXT;

	if (text) {
		t->col[C_VALUE].title = t->cpu ? "COUNT" : "SINCE START";
		t->t.text_skips = left_out(t);
	}
	if (text && !first && t->t.n)
		buf_putc(to, '\n');
	if (t->t.n || t->t.words.failed)
		tbl_put(&t->t, to, &t->to, first || text);
	tbl_free(&t->t);
	t->t.words = (struct arena){ 0 };
}

void stat_table_close(struct stat_table *t)
{
	tbl_free(&t->t);
}
