/*
 * emit_html.c: answers for a browser: pages; and of a trace a page that is made of its aggregations.
 *
 * Aggregations over stacks that add up are flame graphs, each with a table of its functions; those without a stack are
 * tables; histograms without a stack, and what does not add up, stand as a terminal shows them. What was lost stands
 * first, since it says how far the rest can be trusted, and what was said in passing last.
 */
#include <stdlib.h>
#include <string.h>

#include "answer/answer_int.h"
#include "answer/emit_int.h"

#define FUNCTIONS_SHOWN 100u /* of a graph: its table has those that ran most */
#define WORDS_KEPT 100u      /* of what was said beside: a script may say something at each firing */

static void html_page(struct an_emit *e, const struct an_page *p)
{
	an_page_html(e->to, p);
}

/* ---- what was said -------------------------------------------------------------------- */

static void html_keep_words(struct an_emit *e, enum an_words kind, const char *key, const char *s, size_t n)
{
	if (e->nwords++ < WORDS_KEPT)
		an_page_words(&e->page, kind, key, "%.*s", (int)n, s);
	an_say_note(e, s, n);
}

static void html_note(struct an_emit *e, const char *s, size_t n)
{
	html_keep_words(e, AN_NOTE, "note", s, n);
}

/* An event is a loss, but these: which probes there are, and an error of the program's. */
static void html_event(struct an_emit *e, const struct an_event *v, const char *words, size_t n)
{
	const bool matched = !strcmp(v->type, "matched"), error = !strcmp(v->type, "error");

	html_keep_words(e, matched || error ? AN_NOTE : AN_LOST, matched ? "note" : error ? "error" : "lost", words, n);
}

/* ---- aggregations without a graph ------------------------------------------------------ */

static const char *html_title_of(struct an_emit *e, const struct an_agg *a)
{
	const char *function = an_agg_function(a->fn);

	return a->name && *a->name ? arena_text(&e->page.arena, "@%s: %s()", a->name, function) :
				     arena_text(&e->page.arena, "%s()", function);
}

/* A key or a value; numbers are literals, whatever their sign. */
static struct an_cell html_cell_of(struct an_emit *e, const struct an_value *v)
{
	struct an_cell c = { .unit = v->kind == SLOT_INT || v->kind == SLOT_FLOAT ? AN_LITERAL : AN_TEXT };
	struct buf text = { 0 };

	an_bare(&text, v);
	c.s = text.failed ? NULL : arena_strndup(&e->page.arena, text.p ? text.p : "", text.n);
	e->page.arena.failed |= !c.s;
	buf_free(&text);
	return c;
}

static void html_put_rows(struct an_emit *e, const struct an_agg *a)
{
	const uint32_t nkeys = a->row[0].nkeys;
	struct arena *room = &e->page.arena;
	struct an_column *col = arena_alloc(room, (nkeys + 1) * sizeof(*col));
	struct an_cell *cell = arena_alloc(room, (nkeys + 1) * sizeof(*cell));
	struct an_part *table;

	if (!col || !cell)
		return;
	for (uint32_t k = 0; k < nkeys; k++) {
		const uint8_t kind = a->row[0].key[k].kind;

		col[k] = (struct an_column){ arena_text(room, "key%u", k + 1),
					     nkeys == 1 ? "key" : arena_text(room, "key %u", k + 1),
					     kind == SLOT_INT || kind == SLOT_FLOAT ? AN_LITERAL : AN_TEXT };
	}
	col[nkeys] = (struct an_column){ "value", arena_text(room, "%s()", an_agg_function(a->fn)), AN_COUNT };
	table = an_page_table(&e->page, "aggregation", html_title_of(e, a), col, nkeys + 1);
	for (uint32_t i = a->nrows; i-- > 0;) { /* the highest first */
		const struct an_value v = {
			.kind = SLOT_INT, .width = 8, .is_signed = an_agg_signed(a), .i = an_agg_value(a, &a->row[i])
		};

		for (uint32_t k = 0; k < nkeys; k++)
			cell[k] = html_cell_of(e, &a->row[i].key[k]);
		cell[nkeys] = v.is_signed && v.i < 0 ? html_cell_of(e, &v) : AN_U((uint64_t)v.i);
		an_row(&e->page, table, cell);
	}
}

static void html_put_lines(struct an_emit *e, const struct an_agg *a)
{
	struct buf lines = { 0 };

	an_agg_print(&lines, a, AN_STACKINDENT);
	e->page.arena.failed |= lines.failed;
	(void)an_page_literal(&e->page, "aggregation", html_title_of(e, a), lines.p ? lines.p : "", lines.n);
	buf_free(&lines);
}

static void html_agg(struct an_emit *e, const struct an_agg *a)
{
	const bool stacks = an_flame_has_stacks(a);

	if (stacks && an_flame_takes(a))
		an_flame_add(&e->flame, a);
	else if (a->nrows && !stacks && !an_is_hist(a))
		html_put_rows(e, a);
	else if (a->nrows)
		html_put_lines(e, a);
	e->to->failed |= e->flame.failed | an_page_failed(&e->page);
}

/* ---- graphs ------------------------------------------------------------------------------- */

/* What a name has, itself and with what it called. A function that calls itself is counted once in a path. */
struct html_function {
	int64_t self, total;
	uint32_t name, on_path;
};

static int html_function_order(const void *x, const void *y)
{
	const struct html_function *a = x, *b = y;

	return a->self != b->self   ? AN_ORDER(b->self, a->self) :
	       a->total != b->total ? AN_ORDER(b->total, a->total) :
				      AN_ORDER(a->name, b->name);
}

static bool html_sum_functions(const struct an_flame *f, const struct an_flame_tree *t, const int64_t *total,
			       struct html_function *of)
{
	uint32_t *path = NULL, npath = 0, cappath = 0, depth;

	for (uint32_t i = 0; i < f->nnames; i++)
		of[i].name = i;
	for (uint32_t at = an_flame_next(f, t, 0, &depth); at; at = an_flame_next(f, t, at, &depth)) {
		struct html_function *fn = &of[f->node[at].name];

		while (npath > depth)
			of[path[--npath]].on_path--;
		if (!VEC_NEW(path, npath, cappath)) {
			mem_free(path);
			return false;
		}
		path[depth] = f->node[at].name;
		fn->self += f->node[at].self;
		if (!fn->on_path++)
			fn->total += total[at];
	}
	mem_free(path);
	return true;
}

static void html_put_functions(struct an_emit *e, const struct an_flame_tree *t, const int64_t *total)
{
	static const struct an_column col[] = { { "function", "function", AN_TEXT },
						{ "self", "itself", AN_COUNT },
						{ "self_share", "", AN_SHARE },
						{ "total", "with what it calls", AN_COUNT },
						{ "total_share", "", AN_SHARE } };
	const double all = (double)total[t->root];
	struct html_function *of = mem_alloc((e->flame.nnames + 1) * sizeof(*of));
	struct an_part *table;
	uint32_t n = 0;

	if (!of || !html_sum_functions(&e->flame, t, total, of)) {
		e->page.arena.failed = true;
		mem_free(of);
		return;
	}
	for (uint32_t i = 0; i < e->flame.nnames; i++)
		if (of[i].total && e->flame.name[i].frame != AN_FRAME_KEY)
			of[n++] = of[i];
	qsort(of, n, sizeof(*of), html_function_order);
	table = an_page_table(&e->page, "functions", arena_text(&e->page.arena, "Functions of %s", t->label), col,
			      COUNT(col));
	for (uint32_t i = 0; i < n && i < FUNCTIONS_SHOWN; i++)
		an_row(&e->page, table,
		       (struct an_cell[]){ AN_S(e->flame.name[of[i].name].text), AN_U((uint64_t)of[i].self),
					   AN_D((double)of[i].self / all), AN_U((uint64_t)of[i].total),
					   AN_D((double)of[i].total / all) });
	if (table && n > FUNCTIONS_SHOWN)
		table->table.left_out = n - FUNCTIONS_SHOWN;
	mem_free(of);
}

static void html_put_graphs(struct an_emit *e)
{
	const struct an_flame *f = &e->flame;
	int64_t *total = mem_alloc((f->nnodes + 1) * sizeof(*total));

	if (!total) {
		e->page.arena.failed = true;
		return;
	}
	an_flame_totals(f, total);
	for (uint32_t i = 0; i < f->ntrees; i++) {
		const struct an_flame_tree *t = &f->tree[i];
		const char *unit = an_flame_unit(t);
		struct buf sum = { 0 }, stacks = { 0 };
		struct an_part *part;

		if (!total[t->root])
			continue;
		an_count(&sum, (uint64_t)total[t->root]);
		an_count(&stacks, t->stacks);
		part = an_page_flame(&e->page, "flame",
				     *t->label == '@' ? arena_text(&e->page.arena, "%s: %s()", t->label, t->function) :
							t->label,
				     f, i);
		if (!sum.failed && !stacks.failed)
			an_explain(&e->page, part,
				   "%s%s%s in %s different stack%s. A box is a function, "
				   "below it is what it called; its width is its share.",
				   sum.p, *unit ? " " : "", unit, stacks.p, t->stacks == 1 ? "" : "s");
		e->page.arena.failed |= sum.failed | stacks.failed;
		buf_free(&sum);
		buf_free(&stacks);
		html_put_functions(e, t, total);
	}
	mem_free(total);
}

/* ---- the page ------------------------------------------------------------------------------- */

/* What was lost or failed, graphs with their functions, the other aggregations, what was said in passing. */
static uint32_t html_place_of(const struct an_part *p)
{
	return p->kind == AN_PART_WORDS                                 ? !strcmp(p->key, "note") ? 3 : 0 :
	       p->kind == AN_PART_FLAME || !strcmp(p->key, "functions") ? 1 :
									  2;
}

static void html_order_parts(struct an_page *p)
{
	struct an_part **part = arena_alloc(&p->arena, (p->nparts + 1) * sizeof(struct an_part *));
	uint32_t n = 0;

	for (uint32_t place = 0; part && place <= 3; place++)
		for (uint32_t i = 0; i < p->nparts; i++)
			if (html_place_of(p->part[i]) == place)
				part[n++] = p->part[i];
	if (part)
		memcpy(p->part, part, n * sizeof(struct an_part *));
}

static void html_finish(struct an_emit *e, struct buf *to)
{
	an_page_open(&e->page, "trace", e->title && *e->title ? e->title : "tally trace");
	an_flame_end(e);
	html_put_graphs(e);
	if (e->nwords > WORDS_KEPT)
		an_page_words(&e->page, AN_NOTE, "note", "and %u lines more like these", e->nwords - WORDS_KEPT);
	if (!e->page.nparts)
		an_page_words(&e->page, AN_NOTE, "note", "The program has no aggregation with a value.");
	html_order_parts(&e->page);
	to->failed |= e->flame.failed | an_page_failed(&e->page);
	if (!to->failed)
		an_page_html(to, &e->page);
}

const struct an_ops an_html_ops = {
	AN_TEXT_BESIDE,        .agg = html_agg,   .note = html_note, .event = html_event,
	.finish = html_finish, .page = html_page, .roomy = true,
};
