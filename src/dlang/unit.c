/*
 * unit.c: a compilation from end to end: sources come in, passes run, a program
 * or a message comes out.
 *
 * Messages are complete as dtrace(1) prints them.  Where they come from decides their
 * form: a file and a line, or the text of a -n and the part of it that failed.
 */
#include "dlang/parse_int.h"
#include "dlang/type_int.h"

#include <stdio.h>
#include <string.h>

/* ---- messages ------------------------------------------------------------ */

const char *d_mark(bool errtags, enum d_tag tag)
{
	static const char *const marks[] = {
#define ERRTAG(tag, text) "[" #tag "] ",
#include "dlang/errtag.def"
#undef ERRTAG
	};
	return errtags ? marks[tag] : "";
}

/* What is to be done about such an error, if no better reason was told before. */
static void unit_tell_fix(struct d_unit *u, enum d_tag tag)
{
	static const char *const fix[D_NTAGS] = {
#define FIX(tag, text) [tag] = text,
#include "dlang/fix.def"
#undef FIX
	};
	if (fix[tag] != NULL && u->why != NULL && !u->env.no_advice)
		err_set(u->why, TALLY_ESYNTAX, "%s", fix[tag]);
}

int d_nomem(struct d_unit *u)
{
	return err_oom(u->err);
}

int d_refuse_source(struct err *e, enum tally_err code, const char *name, const char *text, size_t len,
		    const char *reason)
{
	const char *form = name != NULL ? "failed to compile script" : "invalid probe specifier";
	const char *what = name != NULL ? name : text;
	size_t n = name != NULL ? strlen(name) : len, fixed = strlen(form) + sizeof(" : ") + strlen(reason);
	/* What is refused is cut so that the reason is never lost. */
	size_t room = sizeof(e->text) > fixed ? sizeof(e->text) - fixed : 0;
	bool cut = n > room;
	return err_set(e, code, "%s %.*s%s: %s", form, (int)(cut ? (room > 3 ? room - 3 : 0) : n), what,
		       cut ? "..." : "", reason);
}

int d_fail(struct d_unit *u, uint32_t line, enum d_tag tag, const char *fmt, ...)
{
	const struct d_src *from = &u->src[u->cur_source], *s = from->is_library ? &u->src[0] : from;
	const char *mark = d_mark(u->env.errtags, tag);
	char words[400], where[200] = "", reason[sizeof(words) + sizeof(where) + 48];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(words, sizeof(words), fmt, ap);
	va_end(ap);
	unit_tell_fix(u, tag);
	const char *file = from->is_library ? from->name : line != 0 ? u->header : NULL;
	if (file != NULL)
		snprintf(where, sizeof(where), "\"%.100s\", line %u: ", file, line);
	else if (s->name != NULL && line != 0)
		snprintf(where, sizeof(where), "line %u: ", line);
	else if (s->name == NULL && u->region != NULL)
		snprintf(where, sizeof(where), "in %s: ", u->region);
	snprintf(reason, sizeof(reason), "%s%s%s", mark, where, words);
	return d_refuse_source(u->err, TALLY_ESYNTAX, s->name, s->text, s->len, reason);
}

/* ---- opening, adding, closing -------------------------------------------- */

int d_room(struct d_unit *u, void **v, uint32_t n, uint32_t *cap, size_t size)
{
	if (n < *cap)
		return 0;
	uint32_t want = *cap != 0 ? *cap * 2 : 4;
	void *p = arena_alloc(&u->arena, want * size);
	if (p == NULL)
		return d_nomem(u);
	if (n != 0)
		memcpy(p, *v, n * size);
	*v = p;
	*cap = want;
	return 0;
}

static int unit_start(struct d_unit *u)
{
	struct err e = { 0 };
	u->err = &e;
	u->clause_end = &u->clauses;
	int rc = types_init(u);
	u->err = NULL;
	return rc;
}

int d_open(struct d_unit **ret, const struct d_env *env)
{
	struct d_unit *u = mem_alloc(sizeof(*u));
	if (u == NULL)
		return -TALLY_ENOMEM;
	u->env = *env;
	int rc = unit_start(u);
	if (rc < 0) {
		d_close(u);
		return rc;
	}
	*ret = u;
	return 0;
}

void d_close(struct d_unit *u)
{
	if (u == NULL)
		return;
	map_free(&u->types);
	map_free(&u->tags);
	map_free(&u->consts);
	map_free(&u->vars);
	map_free(&u->imported);
	map_free(&u->inlines);
	map_free(&u->defined);
	map_free(&u->libraries);
	arena_free(&u->arena);
	mem_free(u);
}

/* The first failure decides, whatever those above it made of it. */
static int unit_finish(const struct d_unit *u, int rc)
{
	return rc < 0 && u->err->code != 0 ? -u->err->code : rc;
}

static int source_add(struct d_unit *u, const char *name, enum d_part part, const char *text, size_t len, struct err *e)
{
	const char *why = text_not_utf8(text, len), *called = name != NULL ? name : "of -n";
	char reason[160];

	u->err = e;
	if (why != NULL) {
		snprintf(reason, sizeof(reason), "line 1: %s", why);
		return d_refuse_source(e, TALLY_ESYNTAX, called, NULL, 0, reason);
	}
	if (len > D_SOURCE_MOST) {
		snprintf(reason, sizeof(reason), "larger than %u MB", D_SOURCE_MOST >> 20);
		return d_refuse_source(e, TALLY_ESYNTAX, called, NULL, 0, reason);
	}
	struct d_src s = {
		.name = name != NULL ? arena_strdup(&u->arena, name) : NULL,
		.text = arena_strndup(&u->arena, text, len),
		.len = strnlen(text, len),
		.part = part,
	};
	if (s.text == NULL || (name != NULL && s.name == NULL) || D_PUSH(u, u->src, u->nsrcs, u->capsrcs, s) < 0)
		return d_nomem(u);
	u->cur_source = u->nsrcs - 1;
	if (s.len < len) {
		uint32_t line = 1;
		for (size_t i = 0; i < s.len; i++)
			line += text[i] == '\n';
		return unit_finish(u, d_fail(u, line, D_SYNTAX, "syntax error near \"\\x00\""));
	}
	int rc = d_control_early(u, &s);
	return rc < 0 ? unit_finish(u, rc) : (int)u->nsrcs - 1;
}

int d_source(struct d_unit *u, const char *name, const char *text, size_t len, struct err *e)
{
	return source_add(u, name, D_PART_NAME, text, len, e);
}

int d_source_part(struct d_unit *u, enum d_part part, const char *text, size_t len, struct err *e)
{
	return source_add(u, NULL, part, text, len, e);
}

/* ---- the passes ---------------------------------------------------------- */

static const struct pass {
	const char *name;
	int (*run)(struct d_unit *u);
	bool tree; /* its result is the tree, else the IR */
} passes[] = {
	{ "parse", d_parse, true },  { "bind", d_bind, true },    { "type", d_type, true },
	{ "lower", d_lower, false }, { "check", d_check, false },
};

static void unit_dump_pass(const struct d_unit *u, const struct pass *p)
{
	if (u->env.dump == NULL || u->env.dump_to == NULL || strcmp(u->env.dump, p->name) != 0)
		return;
	if (p->tree)
		d_print(u, u->env.dump_to);
	else
		ir_print(&u->prog, u->env.dump_to);
}

/* Sizes that pragmas may have changed. */
static void read_sizes(struct d_unit *u)
{
	if (u->env.sizes != NULL)
		u->env.sizes(u->env.arg, &u->env);
	uint32_t size = u->env.strsize != 0 ? u->env.strsize : 256;
	if (size > D_STRSIZE_MOST)
		size = D_STRSIZE_MOST;
	u->strsize = (size + 8) & ~7u; /* with its NUL */
	u->strmost = size;
	u->scratchsize = u->env.scratchsize != 0 ? u->env.scratchsize : 256;
	u->stackframes = u->env.stackframes != 0 ? u->env.stackframes : 20;
	u->ustackframes = u->env.ustackframes != 0 ? u->env.ustackframes : 100;
	u->jstackframes = u->env.jstackframes != 0 ? u->env.jstackframes : 50;
}

int d_compile(struct d_unit *u, const struct d_program **ret, struct err *e, struct err *why)
{
	u->err = e;
	u->why = why;
	read_sizes(u);
	for (size_t i = 0; i < COUNT(passes); i++) {
		int rc = passes[i].run(u);
		if (rc < 0)
			return unit_finish(u, rc);
		unit_dump_pass(u, &passes[i]);
		if (i == 0 && u->env.parse_only)
			break;
	}
	*ret = &u->prog;
	return 0;
}
