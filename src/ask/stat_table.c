/*
 * stat_table.c: the table of counts that hypervisors' counters and CPU events share.
 *
 * For programs a row has always the same columns, and four more behind them as soon as CPU events are among what is
 * counted.  Text is for 80 columns: what no row has anything for is left out, an interval's table
 * has what came in it, and the last one the sum.
 */
#include <string.h>

#include "ask/stat_int.h"

enum {
	C_TIME,
	C_DELTA,
	C_VALUE,
	C_UNIT,
	C_ID,
	C_NAME,
	C_SELECTOR,
	C_RAW,
	C_STATUS,
	C_WHY,
	C_SHARE,
	C_SPREAD,
	C_METRIC,
	C_METRIC_UNIT,
	C_NOTE,
};
#define BIT(column) (UINT64_C(1) << (column))
#define OF_PROGRAMS (BIT(C_SELECTOR) | BIT(C_RAW) | BIT(C_STATUS) | BIT(C_WHY) | BIT(C_METRIC) | BIT(C_METRIC_UNIT))
#define OF_CPU (BIT(C_SHARE) | BIT(C_SPREAD) | BIT(C_METRIC) | BIT(C_METRIC_UNIT))

static const struct an_column stat_col[STAT_COLUMNS] = {
	[C_TIME] = { "time", "TIME", AN_NUMBER },
	[C_DELTA] = { "delta", "DELTA", AN_COUNT },
	[C_VALUE] = { "value", "SINCE START", AN_COUNT },
	[C_UNIT] = { "unit", "UNIT", AN_TEXT },
	[C_ID] = { "id", "ID", AN_TEXT },
	[C_NAME] = { "name", "NAME", AN_TEXT },
	[C_SELECTOR] = { "selector", "", AN_TEXT },
	[C_RAW] = { "raw", "", AN_COUNT },
	[C_STATUS] = { "status", "", AN_TEXT },
	[C_WHY] = { "why", "", AN_TEXT },
	[C_SHARE] = { "share", "COUNTED", AN_SHARE },
	[C_SPREAD] = { "spread", "SPREAD", AN_SHARE },
	[C_METRIC] = { "metric", "", AN_NUMBER },
	[C_METRIC_UNIT] = { "metric_unit", "", AN_TEXT },
	[C_NOTE] = { "", "", AN_TEXT },
};

void stat_table_open(struct stat_table *t, bool cpu)
{
	const uint64_t not_programs = BIT(C_NOTE) | (cpu ? 0 : OF_CPU);

	t->cpu = cpu;
	memcpy(t->col, stat_col, sizeof(stat_col));
	if (cpu)
		t->col[C_VALUE].title = "COUNT";
	t->t = (struct an_rows){ .type = "count",
				 .col = t->col,
				 .ncols = STAT_COLUMNS,
				 .json_skips = not_programs,
				 .csv_skips = not_programs,
				 .seconds = BIT(C_TIME),
				 .keep = t->keep };
}

static struct an_cell stat_cell_only(bool there, struct an_cell c)
{
	return there ? c : AN_NONE;
}

/* Of a row that has a figure: "cpu=3" is whose it is; "all" and "-" are nobody's. */
static int stat_table_take(const struct stat_table *t, const struct stat_figure *f)
{
	const char *is = strchr(f->id, '=');
	char key[32] = "";
	struct watch_figure w = {
		.family = f->family, .text = f->text, .unit = f->unit, .grows = f->grows, .value = f->value
	};

	w.value.unit = an_unit_of(&f->value, t->col[C_VALUE].unit);
	if (f->reg)
		w.label[w.nlabels++] = (struct watch_label){ "register", f->reg };
	if (is && (size_t)(is - f->id) < sizeof(key)) {
		memcpy(key, f->id, (size_t)(is - f->id));
		w.label[w.nlabels++] = (struct watch_label){ key, is + 1 };
	}
	return t->take(t->arg, &w);
}

static struct an_cell stat_cell_words(const char *s)
{
	return AN_S(s ? s : "");
}

void stat_table_row(struct stat_table *t, double seconds, const char *selector, const struct stat_figure *f)
{
	const bool whole = !f->cpu || f->share.none || f->share.d > 0.9995;
	struct an_cell row[STAT_COLUMNS] = {
		[C_TIME] = AN_D(seconds),
		[C_DELTA] = f->delta,
		[C_VALUE] = f->value,
		[C_UNIT] = stat_cell_words(f->unit),
		[C_ID] = stat_cell_words(f->id),
		[C_NAME] = stat_cell_words(f->name),
		[C_SELECTOR] = stat_cell_words(selector),
		[C_RAW] = f->raw,
		[C_STATUS] = stat_cell_words(f->status),
		[C_WHY] = stat_cell_words(f->why),
		[C_SHARE] = stat_cell_only(f->cpu, f->share),
		[C_SPREAD] = stat_cell_only(f->cpu, f->spread),
		[C_METRIC] = stat_cell_only(f->cpu, f->metric),
		[C_METRIC_UNIT] = f->cpu && f->metric_unit ? AN_S(f->metric_unit) : AN_NONE,
		[C_NOTE] = stat_cell_words(f->note ? f->note : f->why),
	};

	if (t->t.words.failed) /* texts of the figure are not there */
		return;
	if (t->take) {
		t->rc = t->rc < 0 ? t->rc : stat_table_take(t, f);
		return;
	}
	row[C_UNIT].brief = f->unit_brief;
	if (!whole)
		t->shown |= BIT(C_SHARE);
	if (f->cpu && !f->spread.none)
		t->shown |= BIT(C_SPREAD);
	if (strcmp(f->id, "all") && strcmp(f->id, "-"))
		t->shown |= BIT(C_ID);
	an_rows_add(&t->t, row);
}

void stat_table_put(struct stat_table *t, struct an_emit *e, bool first)
{
	const uint64_t of_kind = t->kind == STAT_INTERVAL ? BIT(C_VALUE) : BIT(C_TIME) | BIT(C_DELTA);

	/* What text has no room for, or no row has anything for. */
	t->t.text_skips = OF_PROGRAMS | ((BIT(C_SHARE) | BIT(C_SPREAD) | (t->cpu ? BIT(C_ID) : 0)) & ~t->shown) |
			  (t->cpu ? of_kind : 0);
	t->t.apart = !first;
	(void)an_rows_put(e, &t->t, first);
	an_rows_free(&t->t);
	t->t.words = (struct arena){ 0 };
}

void stat_table_close(struct stat_table *t)
{
	an_rows_free(&t->t);
}
