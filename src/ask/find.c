/*
 * find.c: finding things by name: `tally list KIND`, `tally list PATTERN`.
 *
 * Everything that has a name is an entry of one shape: what it is called, whose it is, its
 * code, whether it is to be had here, how it is written, what it is.  Kinds are rows with a
 * walk over the tables that the rest of tally is made of, so nothing is listed that is
 * not known, and nothing is written down twice.
 *
 * A pattern with * ? [ is a glob over names.  Any other is looked for anywhere in an entry, in
 * small letters or capitals, with - and _ alike: who searches knows half a word.
 *
 * Text is laid out for the columns of a terminal: what an entry is goes on in further lines below its own column.
 * Where there is no terminal an entry is one line, for grep.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "ask/find_int.h"

#define NAME_MOST 38u  /* a name beyond pushes its own row alone */
#define TEXT_LEAST 20u /* columns that the text needs beside the others; else it goes below */

static const struct find_kind kinds[] = {
	{ "probes", "probe", "what fires in D, by provider", find_probes },
	{ "events", "event", "CPU events with their codes; events of Victoria Falls", find_events },
	{ "registers", "register", "registers of Victoria Falls, and slots of MMU statistics", find_registers },
	{ "requests", "request", "requests of POWER hypervisors, with their fields", find_requests },
	{ "tunables", "tunable", "tunables of PCIe Tune and Trace", find_tunables },
	{ "machines", "machine", "models in this program, with their keys", find_machines },
	{ "loads", "load", "workloads of the models", find_loads },
	{ "views", "view", "values of 'tally stat --view'", find_views },
};

const struct find_kind *find_kind(uint32_t i)
{
	return i < COUNT(kinds) ? &kinds[i] : NULL;
}

/* ---- what is wanted ------------------------------------------------------------------------ */

static char find_plain_char(char c)
{
	return c == '-' ? '_' : (char)tolower((unsigned char)c);
}

static bool find_has_part(const char *s, const char *part)
{
	for (; s && *s; s++) {
		size_t n = 0;

		while (part[n] && find_plain_char(s[n]) == find_plain_char(part[n]))
			n++;
		if (!part[n])
			return true;
	}
	return !*part;
}

static bool is_wanted(const struct find *f, const struct found *e)
{
	const char *p = f->pattern;

	if (!p)
		return true;
	if (p[strcspn(p, "*?[")])
		return text_glob(p, e->name);
	return find_has_part(e->name, p) || find_has_part(e->of, p) || find_has_part(e->also, p) ||
	       find_has_part(e->use, p) || find_has_part(e->text, p);
}

static const char *find_keep_string(struct find *f, const char *s)
{
	return s && *s ? arena_text(&f->words, "%s", s) : "";
}

void find_near(struct find *f, const char *name)
{
	const char **to = f->each ? NULL : VEC_NEW(f->name, f->nnames, f->capnames);

	f->words.failed |= !to && !f->each;
	if (to)
		*to = find_keep_string(f, name);
}

void find_add(struct find *f, const struct found *e)
{
	struct find_entry *to;

	if (f->each) {
		if (!f->uses || !strcmp(f->uses, e->of))
			f->each(f->arg, f->uses ? e->use : e->name);
		return;
	}
	if (!is_wanted(f, e)) {
		find_near(f, e->name);
		return;
	}
	to = VEC_NEW(f->entry, f->n, f->cap);
	f->words.failed |= !to;
	if (to)
		*to = (struct find_entry){ .kind = f->kind,
					   .f = { find_keep_string(f, e->name), find_keep_string(f, e->of),
						  find_keep_string(f, e->code), find_keep_string(f, e->here),
						  find_keep_string(f, e->use), find_keep_string(f, e->also),
						  find_keep_string(f, e->text) } };
}

/* ---- text ---------------------------------------------------------------------------------------- */

enum { NAME, OF, CODE, HERE, SHOWN, USE = SHOWN, ALSO, TEXT, FIND_COLUMNS };
struct layout {
	uint32_t kind;
	size_t width[SHOWN], at, columns;
};

static const char *find_column_text(const struct found *e, unsigned c)
{
	return c == NAME ? e->name : c == OF ? e->of : c == CODE ? e->code : e->here;
}

static void find_column_title(char to[static 16], uint32_t kind, unsigned c)
{
	static const char *const rest[] = { [OF] = "OF", [CODE] = "CODE", [HERE] = "HERE" };
	size_t n = 0;

	snprintf(to, 16, "%s", c == NAME ? kinds[kind].one : rest[c]);
	for (; to[n]; n++)
		to[n] = (char)toupper((unsigned char)to[n]);
}

/* Columns that no entry of the kind fills have no width. */
static struct layout lay_out(const struct find *f, uint32_t kind, size_t columns)
{
	struct layout l = { .kind = kind, .columns = columns };
	char word[16];

	for (unsigned c = 0; c < SHOWN; c++) {
		for (uint32_t i = 0; i < f->n; i++) {
			size_t n = f->entry[i].kind == kind ? strlen(find_column_text(&f->entry[i].f, c)) : 0;

			n = c == NAME && n > NAME_MOST ? NAME_MOST : n;
			l.width[c] = n > l.width[c] ? n : l.width[c];
		}
		find_column_title(word, kind, c);
		if (l.width[c] && l.width[c] < strlen(word))
			l.width[c] = strlen(word);
		l.at += l.width[c] ? l.width[c] + 2 : 0;
	}
	return l;
}

static size_t longest_word(const char *s)
{
	size_t most = 0;

	for (size_t n; *s; s += n + strspn(s + n, " ")) {
		n = strcspn(s, " ");
		most = n > most ? n : most;
	}
	return most;
}

/* Cells and their text; none of the cells is cut. */
static void put_row(struct buf *to, const struct layout *l, const char *const cells[SHOWN], const char *text)
{
	size_t line = to->n, want = 0, below = 6, at;

	for (unsigned c = 0; c < SHOWN; c++) {
		if (!l->width[c])
			continue;
		at = to->n - line;
		buf_printf(to, "%*s%s", at < want ? (int)(want - at) : at > want ? 2 : 0, "", cells[c]);
		want += l->width[c] + 2;
	}
	while (to->n > line && to->p[to->n - 1] == ' ')
		to->n--;
	if (*text && l->columns == AN_ENDLESS) {
		buf_printf(to, "%*s%s\n", to->n - line + 2 <= l->at ? (int)(l->at - (to->n - line)) : 2, "", text);
	} else if (*text && l->at + TEXT_LEAST <= l->columns && l->at + longest_word(text) <= l->columns &&
		   to->n - line + 2 <= l->at) {
		buf_printf(to, "%*s", (int)(l->at - (to->n - line)), "");
		buf_wrap(to, text, l->at, l->at, l->columns, "");
	} else if (*text) {
		buf_printf(to, "\n%*s", (int)below, "");
		buf_wrap(to, text, below, below, l->columns, "");
	} else {
		buf_putc(to, '\n');
	}
}

static void put_more(struct buf *to, const struct layout *l, const char *what, const char *s)
{
	if (!*s)
		return;
	buf_printf(to, "      %s: ", what);
	buf_wrap(to, s, 6 + strlen(what) + 2, 6 + strlen(what) + 2, l->columns, "");
}

static bool find_same_text(const char *a, const char *b)
{
	return strlen(a) == strlen(b) && find_has_part(a, b);
}

/* The other name that was asked for, which the row would not show. */
static void put_matched(const struct find *f, struct buf *to, const struct layout *l, const char *is, const char *also)
{
	char name[80];
	size_t n;

	for (const char *at = also; f->pattern && *at; at += n + strspn(at + n, ", ")) {
		n = strcspn(at, ",");
		snprintf(name, sizeof(name), "%.*s", (int)n, at);
		if (find_same_text(name, f->pattern) && !find_same_text(name, is))
			put_more(to, l, "also", name);
	}
}

/* The entries of one kind, as people see them. */
struct find_lines {
	const struct find *f;
	struct layout l;
};

static void find_put_head(struct an_emit *e, const struct an_rows *t)
{
	struct find_lines *v = t->arg;
	char head[SHOWN][16];

	v->l = lay_out(v->f, v->l.kind, e->columns);
	for (unsigned c = 0; c < SHOWN; c++)
		find_column_title(head[c], v->l.kind, c);
	buf_puts(e->to, e->to->n ? "\n" : "");
	put_row(e->to, &v->l, (const char *const[SHOWN]){ head[NAME], head[OF], head[CODE], head[HERE] }, "WHAT");
}

static void find_put_line(struct an_emit *e, const struct an_rows *t, const struct an_cell *row)
{
	const struct find_lines *v = t->arg;
	const char *cell[FIND_COLUMNS];

	for (unsigned c = 0; c < FIND_COLUMNS; c++)
		cell[c] = row[c].s ? row[c].s : "";
	put_row(e->to, &v->l, cell, cell[TEXT]);
	if (v->f->verbose) {
		put_more(e->to, &v->l, "as", cell[USE]);
		put_more(e->to, &v->l, "also", cell[ALSO]);
	} else {
		put_matched(v->f, e->to, &v->l, cell[NAME], cell[ALSO]);
	}
}

static struct an_cell find_text_cell(const char *s)
{
	return s && *s ? AN_S(s) : AN_NONE;
}

/* header: no kind went before it. Whether there are any. */
static bool find_put_kind(struct find *f, uint32_t kind, bool header)
{
	static const struct an_column col[FIND_COLUMNS] = {
		[NAME] = { "name", "NAME", AN_TEXT }, [OF] = { "of", "OF", AN_TEXT },
		[CODE] = { "code", "CODE", AN_TEXT }, [HERE] = { "here", "HERE", AN_TEXT },
		[USE] = { "use", "AS", AN_TEXT },     [ALSO] = { "also", "ALSO", AN_TEXT },
		[TEXT] = { "text", "WHAT", AN_TEXT },
	};
	static const struct an_layout layout = { .head = find_put_head, .row = find_put_line };
	struct find_lines lines = { .f = f, .l.kind = kind };
	struct an_rows t = {
		.type = kinds[kind].one, .col = col, .ncols = FIND_COLUMNS, .text = &layout, .arg = &lines
	};
	bool any;

	for (uint32_t i = 0; i < f->n; i++) {
		const struct found *e = &f->entry[i].f;

		if (f->entry[i].kind == kind)
			an_rows_add(&t, (struct an_cell[]){ find_text_cell(e->name), find_text_cell(e->of),
							    find_text_cell(e->code), find_text_cell(e->here),
							    find_text_cell(e->use), find_text_cell(e->also),
							    find_text_cell(e->text) });
	}
	any = an_rows_put(&f->p->emit, &t, header);
	an_rows_free(&t);
	return any;
}

/* ---- lists -------------------------------------------------------------------------------------------------- */

static int find_walk_kind(struct find *f, uint32_t kind)
{
	int rc = 0;

	for (f->kind = 0; f->kind < COUNT(kinds) && rc >= 0; f->kind++)
		if (kind == FIND_ALL || kind == f->kind)
			rc = kinds[f->kind].walk(f);
	return rc < 0 || !f->words.failed ? rc : plat_oom(f->p);
}

static int find_refuse_nothing(struct find *f, uint32_t kind)
{
	struct buf b = { 0 };
	int rc;

	if (kind != FIND_ALL)
		buf_printf(&b, "of kind '%s' ", kinds[kind].name);
	if (f->pattern)
		rc = plat_fail(f->p, TALLY_EINVAL, "nothing %smatches '%s'%s", b.p ? b.p : "", f->pattern,
			       err_near("'", f->pattern, TEXT_NAMES(f->name, f->nnames)).text);
	else
		rc = plat_fail(f->p, TALLY_EINVAL, "nothing %shere", b.p ? b.p : "");
	buf_free(&b);
	return rc;
}

static void find_free(struct find *f)
{
	mem_free(f->entry);
	mem_free(f->name);
	arena_free(&f->words);
}

int find_list(struct tally_platform *p, uint32_t kind, const char *pattern, bool verbose)
{
	struct find f = { .p = p, .pattern = pattern, .all_kinds = kind == FIND_ALL, .verbose = verbose };
	bool header = true;
	int rc = find_walk_kind(&f, kind);

	for (uint32_t i = 0; rc >= 0 && i < COUNT(kinds); i++)
		header &= !find_put_kind(&f, i, header);
	if (rc >= 0 && !f.n)
		rc = find_refuse_nothing(&f, kind);
	find_free(&f);
	return rc;
}

/* What a walk ended with; words that there was no memory for are an error, too. */
static int find_finish(struct find *f, int rc)
{
	if (rc >= 0 && f->words.failed)
		rc = plat_oom(f->p);
	find_free(f);
	return rc;
}

int tally_names(struct tally_platform *p, const char *kind, void (*each)(void *arg, const char *name), void *arg)
{
	static const struct {
		const char *name;
		int (*walk)(struct find *f);
	} names_only[] = {
		{ "selectors", find_selectors }, { "countable", find_countable }, { "keys", find_keys },
		{ "terms", find_terms },         { "providers", find_providers },
	};
	struct find f = { .p = p, .each = each, .arg = arg };
	uint32_t i = 0;
	int rc = plat_enter(p);

	if (rc < 0)
		return rc;
	if (!strcmp(kind, "kinds")) {
		for (i = 0; find_kind(i); i++)
			each(arg, find_kind(i)->name);
		for (i = 0; list_kind(i); i++)
			each(arg, list_kind(i));
		return 0;
	}
	for (size_t k = 0; k < COUNT(names_only); k++)
		if (!strcmp(names_only[k].name, kind))
			return find_finish(&f, names_only[k].walk(&f));
	while (i < COUNT(kinds) && strcmp(kinds[i].name, kind))
		i++;
	if (i == COUNT(kinds))
		return plat_fail(p, TALLY_EINVAL, "unknown kind '%s'; 'tally list' shows the kinds", kind);
	return find_finish(&f, find_walk_kind(&f, i));
}
