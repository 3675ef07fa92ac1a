/* emit_json.c: answers as JSON lines: an object for each row, whose members are the columns' keys. */
#include <string.h>

#include "answer/emit_int.h"

static void json_begin(struct an_emit *e, struct an_rows *t, bool first)
{
	(void)e;
	(void)t;
	(void)first;
}

static void json_record(struct an_emit *e, struct an_rows *t, const struct an_cell *row)
{
	const char *before = "{";

	if (t->type) {
		buf_printf(e->to, "{\"type\":\"%s\"", t->type);
		before = ",";
	}
	for (uint32_t c = 0; c < t->ncols; c++) {
		if (t->json_skips >> c & 1 || (t->sparse && row[c].none))
			continue;
		buf_printf(e->to, "%s\"%s\":", before, t->col[c].key);
		an_figure_json(e->to, t->col[c].unit, &row[c]);
		before = ",";
	}
	buf_puts(e->to, "}\n");
}

static void json_end(struct an_emit *e, struct an_rows *t)
{
	(void)e;
	(void)t;
}

const struct an_ops an_json_ops = { .begin = json_begin, .record = json_record, .end = json_end, .programs = true };
