/* emit.c: which forms there are, and the rows that all of them take. */
#include <string.h>

#include <tally/tally.h>

#include "answer/emit_int.h"

static const struct an_ops *const forms[] = {
	[TALLY_FORMAT_TEXT] = &an_text_ops, [TALLY_FORMAT_JSON] = &an_json_ops,
	[TALLY_FORMAT_CSV] = &an_csv_ops,   [TALLY_FORMAT_FOLDED] = &an_folded_ops,
	[TALLY_FORMAT_HTML] = &an_html_ops, [TALLY_FORMAT_PPROF] = &an_pprof_ops,
};

int an_emit_open(struct an_emit *e, struct buf *to, const struct an_how *how)
{
	if (how->format >= COUNT(forms) || !forms[how->format])
		return -TALLY_EINVAL;
	*e = (struct an_emit){
		.ops = forms[how->format],
		.to = to,
		.separator = how->separator ? how->separator : ',',
		.colour = how->colour,
		.ascii = how->ascii,
		.columns = how->columns ? how->columns : AN_ENDLESS,
	};
	return 0;
}

void an_emit_close(struct an_emit *e)
{
	buf_free(&e->data);
	buf_free(&e->tmp);
	an_flame_free(&e->flame);
	an_page_free(&e->page);
	mem_free(e->comment);
	e->comment = NULL;
	e->ncomments = e->capcomments = e->nwords = 0;
	mem_free(e->flow);
	e->flow = NULL;
	e->nflow = e->capflow = 0;
	e->heading = false;
}

void an_event(struct an_emit *e, const struct an_event *v, const char *fmt, ...)
{
	struct buf words = { 0 };
	va_list ap;

	va_start(ap, fmt);
	buf_vprintf(&words, fmt, ap);
	va_end(ap);
	e->to->failed |= words.failed;
	if (!words.failed)
		e->ops->event(e, v, words.p, words.n);
	buf_free(&words);
}

/* ---- rows ---------------------------------------------------------------------------- */

static void rows_keep_text(struct an_rows *t, const char **s)
{
	if (!*s)
		return;
	*s = arena_strdup(&t->words, *s);
	t->words.failed |= !*s;
}

void an_rows_add_for(struct an_rows *t, enum an_for whose, const struct an_cell *cells)
{
	for (uint32_t i = 0; i < t->ncols; i++) {
		struct an_cell *c = VEC_NEW(t->cell, t->n, t->cap);

		if (!c) {
			t->words.failed = true;
			t->n -= i; /* no half rows */
			return;
		}
		*c = cells[i];
		c->whose = (uint8_t)whose;
		rows_keep_text(t, &c->s);
		rows_keep_text(t, &c->brief);
	}
}

void an_rows_add(struct an_rows *t, const struct an_cell *cells)
{
	an_rows_add_for(t, AN_FOR_ALL, cells);
}

bool an_rows_has(const struct an_emit *e, const struct an_cell *row)
{
	switch ((enum an_for)row->whose) {
	case AN_FOR_PEOPLE:
		return !e->ops->programs;
	case AN_FOR_PROGRAMS:
		return e->ops->programs;
	case AN_FOR_JSON:
		return e->ops == &an_json_ops;
	case AN_NOT_FOR_CSV:
		return e->ops != &an_csv_ops;
	case AN_FOR_ALL:
		break;
	}
	return true;
}

bool an_rows_put(struct an_emit *e, struct an_rows *t, bool first)
{
	bool any = false;

	if (t->words.failed) { /* texts of cells are not there */
		e->to->failed = true;
		return false;
	}
	for (uint32_t i = 0; i < t->n; i += t->ncols) {
		if (!an_rows_has(e, &t->cell[i]))
			continue;
		if (!any)
			e->ops->begin(e, t, first);
		any = true;
		e->ops->record(e, t, &t->cell[i]);
	}
	if (any)
		e->ops->end(e, t);
	return any;
}

void an_rows_free(struct an_rows *t)
{
	mem_free(t->cell);
	arena_free(&t->words);
	t->cell = NULL;
	t->n = t->cap = 0;
}
