/*
 * emit_text.c: answers for people.
 *
 * A table has its columns as wide as their widest cell; a column of words is to the left, figures to the right, and the
 * last column is not filled up: of words it goes on below where a terminal ends. A utilisation is coloured where the
 * reader asked for colours: what is hot should be seen before it is read.
 */
#include <string.h>

#include "answer/emit_int.h"

#define HOT 0.8
#define WARM 0.5
#define WORDS_LEAST 24u /* columns of a terminal for a last column of words */

/* ---- cells ------------------------------------------------------------------------------ */

static const char *text_figure(struct an_emit *e, const struct an_rows *t, uint32_t column, const struct an_cell *c)
{
	buf_clear(&e->tmp);
	if (c->none)
		buf_putc(&e->tmp, '-');
	else if (t->seconds >> column & 1)
		buf_printf(&e->tmp, "%.3f", c->d);
	else
		an_figure(&e->tmp, t->col[column].unit, c);
	e->to->failed |= e->tmp.failed;
	return e->tmp.p ? e->tmp.p : "";
}

static bool text_column_shown(const struct an_rows *t, uint32_t column)
{
	return !(t->text_skips >> column & 1);
}

static uint32_t text_column_last(const struct an_rows *t)
{
	uint32_t last = 0;

	for (uint32_t c = 0; c < t->ncols; c++)
		if (text_column_shown(t, c))
			last = c;
	return last;
}

/* Where the words of the last column begin, if what does not fit a terminal can go on in lines of its own there; else
 * 0. */
static size_t text_words_at(const struct an_emit *e, const struct an_rows *t)
{
	const uint32_t last = text_column_last(t);
	size_t at = 0;

	for (uint32_t c = 0; c < last; c++)
		at += text_column_shown(t, c) ? e->width[c] + 2 : 0;
	return t->col[last].unit == AN_TEXT && at + WORDS_LEAST <= e->columns ? at : 0;
}

static void text_put_cell(struct an_emit *e, const struct an_rows *t, uint32_t column, const char *text,
			  const char *colour)
{
	const bool left = t->col[column].unit == AN_TEXT || t->col[column].unit == AN_FLAG,
		   last = column == text_column_last(t);
	const size_t n = strlen(text), fill = e->width[column] > n ? e->width[column] - n : 0;
	struct buf *to = e->to;

	if (!left)
		buf_printf(to, "%*s", (int)fill, "");
	buf_printf(to, "%s%s%s", colour ? colour : "", text, colour ? "\033[0m" : "");
	while (last && to->n && to->p[to->n - 1] == ' ')
		to->n--;
	if (left && !last)
		buf_printf(to, "%*s", (int)fill, "");
	buf_puts(to, last ? "\n" : "  ");
}

/* ---- rows --------------------------------------------------------------------------------- */

static void text_measure_columns(struct an_emit *e, const struct an_rows *t)
{
	for (uint32_t c = 0; c < t->ncols; c++)
		e->width[c] = strlen(t->col[c].title);
	for (uint32_t i = 0; i < t->n; i++) {
		const uint32_t c = i % t->ncols;

		if (!an_rows_has(e, &t->cell[i - c]))
			continue;
		(void)text_figure(e, t, c, &t->cell[i]);
		if (e->tmp.n > e->width[c])
			e->width[c] = e->tmp.n;
	}
	for (uint32_t c = 0; t->keep && c < t->ncols; c++) {
		if (e->width[c] < t->keep[c])
			e->width[c] = t->keep[c];
		t->keep[c] = e->width[c];
	}
}

static void text_begin(struct an_emit *e, struct an_rows *t, bool first)
{
	const bool heading = first || !t->goes_on;

	if (t->text) {
		if (t->text->head)
			t->text->head(e, t);
		return;
	}
	if (t->apart && heading)
		buf_putc(e->to, '\n');
	e->width = mem_alloc((t->ncols + 1) * sizeof(*e->width));
	if (!e->width) {
		e->to->failed = true;
		return;
	}
	text_measure_columns(e, t);
	if (t->title && heading)
		buf_printf(e->to, "%s\n", t->title);
	for (uint32_t c = 0; heading && c < t->ncols; c++)
		if (text_column_shown(t, c))
			text_put_cell(e, t, c, t->col[c].title, NULL);
}

static void text_record(struct an_emit *e, struct an_rows *t, const struct an_cell *row)
{
	const uint32_t last = text_column_last(t);
	const size_t at = e->width ? text_words_at(e, t) : 0;

	if (t->text) {
		t->text->row(e, t, row);
		return;
	}
	for (uint32_t c = 0; e->width && c < t->ncols; c++) {
		const bool hot = e->colour && t->heat >> c & 1 && !row[c].none;
		const char *text;

		if (!text_column_shown(t, c))
			continue;
		text = text_figure(e, t, c, &row[c]);
		if (c == last && at && at + e->tmp.n > e->columns)
			buf_wrap(e->to, text, at, at, e->columns, "");
		else
			text_put_cell(e, t, c, text,
				      !hot             ? NULL :
				      row[c].d >= HOT  ? "\033[31m" :
				      row[c].d >= WARM ? "\033[33m" :
							 "\033[32m");
	}
}

static void text_end(struct an_emit *e, struct an_rows *t)
{
	if (t->text && t->text->end)
		t->text->end(e, t);
	mem_free(e->width);
	buf_free(&e->tmp);
	e->width = NULL;
}

/* ---- a trace, as dtrace(1) prints it ------------------------------------------------------- */

/* -F: a probe of the name entry goes in by two, one of the name return comes out; each CPU has its own depth. */
static void text_fire_indented(struct an_emit *e, const struct an_firing *f)
{
	const bool in = !strncmp(f->name, "entry", 5), out = !strncmp(f->name, "return", 6);
	uint32_t *depth;

	while (e->nflow <= f->cpu)
		if (!VEC_NEW(e->flow, e->nflow, e->capflow)) {
			e->to->failed = true;
			return;
		}
	depth = &e->flow[f->cpu];
	if (out && *depth >= 2)
		*depth -= 2;
	if (!e->heading)
		an_flow_header(e->to, e->unnumbered);
	e->heading = true;
	if (!e->unnumbered)
		buf_printf(e->to, "%3u ", f->cpu);
	an_flow_prefix(e->to, *depth,
		       in  ? AN_FLOW_IN :
		       out ? AN_FLOW_OUT :
			     AN_FLOW_NONE,
		       !strcmp(f->prov, "syscall"), f->func, f->name);
	if (in)
		*depth += 2;
}

void an_text_fire(struct an_emit *e, const struct an_firing *f)
{
	if (e->quiet)
		return;
	if (e->flowindent) {
		text_fire_indented(e, f);
		return;
	}
	if (!e->heading && e->unnumbered)
		buf_printf(e->to, "%32s\n", "FUNCTION:NAME");
	else if (!e->heading)
		an_header(e->to);
	e->heading = true;
	if (e->unnumbered)
		an_place(e->to, f->func, f->name);
	else
		an_prefix(e->to, f->cpu, f->id, f->func, f->name);
}

void an_text_trace(struct an_emit *e, const struct an_value *v)
{
	an_trace(e->to, v, e->quiet);
}

void an_text_stack(struct an_emit *e, const struct an_value *v)
{
	an_stack(e->to, v, e->stackindent);
}

void an_text_print(struct an_emit *e, const struct fmt *f, const struct an_value *v, uint32_t n)
{
	an_printf(e->to, f, v, n);
}

void an_text_typed(struct an_emit *e, const struct shape *s, const uint64_t *pointer, const void *bytes, uint32_t n)
{
	an_print_typed(e->to, s, pointer, bytes, n);
}

static int text_printa(struct an_emit *e, const struct an_printa *p, struct err *err)
{
	if (p->f && !p->f->n)
		return 0;
	if (!p->f)
		buf_putc(e->to, '\n');
	return an_agg_printa(e->to, p->f, p->agg, p->n, e->stackindent, &p->sort, err);
}

void an_text_fired(struct an_emit *e, const struct an_firing *f)
{
	(void)f;
	if (!e->quiet)
		buf_putc(e->to, '\n');
}

int an_printa_later(struct an_emit *e, const struct an_printa *p, struct err *err)
{
	(void)e;
	(void)p;
	(void)err;
	return 0;
}

void an_rest_nothing(struct an_emit *e)
{
	(void)e;
}

/* dtrace(1) ends with an empty line, also with -q. */
static void text_rest(struct an_emit *e)
{
	buf_putc(e->to, '\n');
}

static void text_agg(struct an_emit *e, const struct an_agg *a)
{
	an_agg_print(e->to, a, e->stackindent);
}

void an_say_note(struct an_emit *e, const char *s, size_t n)
{
	if (e->say)
		e->say(e->arg, s, n);
}

void an_say_event(struct an_emit *e, const struct an_event *v, const char *words, size_t n)
{
	(void)v;
	an_say_note(e, words, n);
}

static void text_page(struct an_emit *e, const struct an_page *p)
{
	const struct an_text_opts o = { .columns = e->columns == AN_ENDLESS ? 0 : (uint32_t)e->columns,
					.ascii = e->ascii };

	an_page_text(e->to, p, &o);
}

const struct an_ops an_text_ops = {
	.begin = text_begin,
	.record = text_record,
	.end = text_end,
	.fire = an_text_fire,
	.trace = an_text_trace,
	.stack = an_text_stack,
	.print = an_text_print,
	.typed = an_text_typed,
	.printa = text_printa,
	.fired = an_text_fired,
	.rest = text_rest,
	.agg = text_agg,
	.note = an_say_note,
	.event = an_say_event,
	.page = text_page,
};
