/*
 * page_flame.c: a flame graph on a page for a browser.
 *
 * The call tree goes out as data, and the script draws of it what is seen. It is a table of names and a list of
 * numbers, a run for each path that has a value, in preorder:
 *
 *	{"unit":"","names":["@x","sh","main"],"kinds":"001","stacks":[common,value,n,name...,...]}
 *
 * A path has its first `common` names from the path before it (the root is not counted: it is names[0]), then the n
 * that follow; kinds has a digit for each name (enum an_frame). Most names are a small number then, and a caller is
 * written once for all that it calls.
 */
#include "answer/flame.h"
#include "answer/page_int.h"

/* Names of the tree in the order in which they are met; number[name] is that place + 1. False: out of memory. */
static bool flame_number_names(const struct an_flame *f, const struct an_flame_tree *t, uint32_t *number,
			       uint32_t **used, uint32_t *nused)
{
	uint32_t cap = 0, depth;

	for (uint32_t at = an_flame_next(f, t, 0, &depth); at; at = an_flame_next(f, t, at, &depth)) {
		const uint32_t name = f->node[at].name;
		uint32_t *slot;

		if (number[name])
			continue;
		slot = VEC_NEW(*used, *nused, cap);
		if (!slot)
			return false;
		*slot = name;
		number[name] = *nused;
	}
	return true;
}

/* A run for each path. The walk goes up from a leaf only, which has a value, so the names since the last run are the
 * end of this path. */
static void flame_put_stacks(struct buf *to, const struct an_flame *f, const struct an_flame_tree *t,
			     const uint32_t *number)
{
	uint32_t depth, npending = 0, cappending = 0, *pending = NULL;
	const char *before = "";

	for (uint32_t at = an_flame_next(f, t, 0, &depth); at; at = an_flame_next(f, t, at, &depth)) {
		uint32_t *slot = at == t->root ? NULL : VEC_NEW(pending, npending, cappending);

		if (slot)
			*slot = number[f->node[at].name] - 1;
		to->failed |= at != t->root && !slot;
		if (!f->node[at].self)
			continue;
		buf_printf(to, "%s%u,%lld,%u", before, depth - npending, (long long)f->node[at].self, npending);
		for (uint32_t i = 0; i < npending; i++)
			buf_printf(to, ",%u", pending[i]);
		before = ",\n";
		npending = 0;
	}
	mem_free(pending);
}

void an_html_put_flame(struct buf *to, const struct an_part *p)
{
	const struct an_flame *f = p->flame.f;
	const struct an_flame_tree *t = &f->tree[p->flame.tree];
	uint32_t *number = mem_alloc((f->nnames + 1) * sizeof(*number)), *used = NULL, nused = 0;

	if (!number || !flame_number_names(f, t, number, &used, &nused)) {
		to->failed = true;
		mem_free(number);
		mem_free(used);
		return;
	}
	buf_printf(
		to,
		"<div class=\"flame\" data-part=\"%s\">\n<div class=\"tools\"><input type=\"search\" spellcheck=\"false\" "
		"autocomplete=\"off\" placeholder=\"Search: text or regular expression\" aria-label=\"Search for names\">"
		"<button type=\"button\" disabled>Reset zoom</button><span class=\"found\" aria-live=\"polite\"></span>"
		"<span class=\"legend\"><i class=\"e\">key</i><i class=\"u\">user</i><i class=\"k\">kernel</i></span></div>\n"
		"<div class=\"stage\"><canvas tabindex=\"0\" role=\"application\" aria-label=\"Flame graph of ",
		p->key);
	an_html_put_text(to, t->label);
	buf_puts(
		to,
		"; arrow keys walk through it, Enter zooms, Escape resets, / searches\"></canvas></div><output></output>\n"
		"<p class=\"told\" aria-live=\"polite\"></p>\n<script type=\"application/json\">{\"unit\":");
	an_html_put_script_string(to, an_flame_unit(t));
	buf_puts(to, ",\"names\":[");
	for (uint32_t i = 0; i < nused; i++) {
		buf_puts(to, i ? ",\n" : "\n");
		an_html_put_script_string(to, f->name[used[i]].text);
	}
	buf_puts(to, "],\n\"kinds\":\"");
	for (uint32_t i = 0; i < nused; i++)
		buf_putc(to, (char)('0' + f->name[used[i]].frame));
	buf_puts(to, "\",\n\"stacks\":[");
	flame_put_stacks(to, f, t, number);
	buf_puts(to, "]}</script></div>\n");
	mem_free(number);
	mem_free(used);
}
