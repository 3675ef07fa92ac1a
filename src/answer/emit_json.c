/*
 * emit_json.c: answers as JSON lines: an object for each row, whose members are the columns' keys; one for each firing
 * that hands values over, and for each printf(). Notes stand among them.
 */
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

/* ---- a trace --------------------------------------------------------------------------- */

static void json_fire(struct an_emit *e, const struct an_firing *f)
{
	(void)f;
	buf_clear(&e->data);
	e->ndata = 0;
}

static void json_trace(struct an_emit *e, const struct an_value *v)
{
	buf_puts(&e->data, e->ndata++ ? "," : "");
	an_json_value(&e->data, v);
}

static void json_put_text(struct an_emit *e, const char *type, const char *s, size_t n)
{
	buf_printf(e->to, "{\"type\":\"%s\",\"text\":", type);
	buf_json_str(e->to, s, n);
	buf_puts(e->to, "}\n");
}

static void json_print(struct an_emit *e, const struct fmt *f, const struct an_value *v, uint32_t n)
{
	buf_clear(&e->tmp);
	an_printf(&e->tmp, f, v, n);
	e->to->failed |= e->tmp.failed;
	json_put_text(e, "printf", e->tmp.p ? e->tmp.p : "", e->tmp.n);
}

static void json_typed(struct an_emit *e, const struct shape *s, const uint64_t *pointer, const void *bytes, uint32_t n)
{
	buf_clear(&e->tmp);
	an_print_typed(&e->tmp, s, pointer, bytes, n);
	e->to->failed |= e->tmp.failed;
	json_put_text(e, "print", e->tmp.p ? e->tmp.p : "", e->tmp.n);
}

static int json_printa(struct an_emit *e, const struct an_printa *p, struct err *err)
{
	(void)err;
	for (uint32_t i = 0; i < p->n; i++)
		an_json_agg(e->to, p->agg[i]);
	return 0;
}

static void json_fired(struct an_emit *e, const struct an_firing *f)
{
	if (!e->ndata && !f->bare)
		return;
	buf_clear(&e->tmp);
	buf_printf(&e->tmp, "%s:%s:%s:%s", f->prov, f->mod, f->func, f->name);
	buf_printf(e->to, "{\"type\":\"record\",\"cpu\":%u,\"id\":%u,\"probe\":", f->cpu, f->id);
	buf_json_str(e->to, e->tmp.p ? e->tmp.p : "", e->tmp.n);
	buf_puts(e->to, ",\"data\":[");
	if (e->data.n)
		buf_put(e->to, e->data.p, e->data.n);
	buf_puts(e->to, "]}\n");
	e->to->failed |= e->data.failed | e->tmp.failed;
}

static void json_rest(struct an_emit *e)
{
	(void)e;
}

static void json_agg(struct an_emit *e, const struct an_agg *a)
{
	an_json_agg(e->to, a);
}

static void json_note(struct an_emit *e, const char *s, size_t n)
{
	json_put_text(e, "note", s, n);
}

static void json_event(struct an_emit *e, const struct an_event *v, const char *words, size_t n)
{
	struct an_rows t = { .type = v->type, .col = v->col, .ncols = v->n };

	(void)words;
	(void)n;
	json_record(e, &t, v->cell);
}

static void json_page(struct an_emit *e, const struct an_page *p)
{
	an_page_json(e->to, p);
}

const struct an_ops an_json_ops = {
	.begin = json_begin,
	.record = json_record,
	.end = json_end,
	.fire = json_fire,
	.trace = json_trace,
	.stack = json_trace,
	.print = json_print,
	.typed = json_typed,
	.printa = json_printa,
	.fired = json_fired,
	.rest = json_rest,
	.agg = json_agg,
	.note = json_note,
	.event = json_event,
	.page = json_page,
	.roomy = true,
	.programs = true,
};
