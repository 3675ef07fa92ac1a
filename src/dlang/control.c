/*
 * control.c: lines that start with '#'.
 *
 * Options take effect when a source is added, long before it is compiled:
 * `-c` and buffers are set up in between.  So each source is walked twice: early,
 * for #pragma D option alone, by a scanner that knows comments and literals and
 * nothing else; and by the lexer for the rest.  Rules: DTrace Guide, "Program
 * Structure" (pragmas) and "Stability" (attributes, binding, depends_on).
 */
#include "dlang/parse_int.h"
#include "dlang/type_int.h"
#include "facts/stability.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

struct words {
	struct d_unit *u;
	const char *p, *end;
	uint32_t line;
};

/* The next word (or the inside of a string) of the line; *n is 0 at its end. */
static const char *control_next_word(struct words *w, size_t *n, bool *quoted)
{
	while (w->p < w->end && isspace((unsigned char)*w->p))
		w->p++;
	*quoted = w->p < w->end && *w->p == '"';
	if (*quoted)
		w->p++;
	const char *start = w->p;
	while (w->p < w->end && (*quoted ? *w->p != '"' : !isspace((unsigned char)*w->p) && *w->p != '"'))
		w->p++;
	*n = (size_t)(w->p - start);
	if (*quoted && w->p < w->end)
		w->p++;
	return start;
}

static bool is_word(const char *s, size_t n, const char *want)
{
	return n == strlen(want) && memcmp(s, want, n) == 0;
}

static int pragma_option(struct words *w)
{
	size_t n, extra;
	bool quoted;
	struct err e = { 0 };
	const char *s = control_next_word(w, &n, &quoted), *eq = memchr(s, '=', n), *value = NULL;
	if (n == 0 || quoted)
		return d_fail(w->u, w->line, D_PRAGMA_MALFORM, "malformed #pragma option <option>=<val>");
	control_next_word(w, &extra, &quoted);
	if (extra != 0 || quoted)
		return d_fail(w->u, w->line, D_PRAGMA_MALFORM, "superfluous arguments specified for #pragma option");
	char *name = arena_strndup(&w->u->arena, s, eq != NULL ? (size_t)(eq - s) : n);
	if (eq != NULL)
		value = arena_strndup(&w->u->arena, eq + 1, n - (size_t)(eq + 1 - s));
	if (name == NULL || (eq != NULL && value == NULL))
		return d_nomem(w->u);
	int rc = w->u->env.option != NULL ? w->u->env.option(w->u->env.arg, name, value, &e) : 0;
	if (rc >= 0)
		return 0;
	if (value == NULL)
		return d_fail(w->u, w->line, D_PRAGMA_OPTSET, "failed to set option '%s': %s", name, e.text);
	return d_fail(w->u, w->line, D_PRAGMA_OPTSET, "failed to set option '%s' to '%s': %s", name, value, e.text);
}

/* The words, each with a blank behind it. */
static int pragma_error(struct words *w)
{
	char text[300] = "";
	size_t at = 0, n;
	bool quoted;
	for (const char *s; s = control_next_word(w, &n, &quoted), n != 0 || quoted;)
		if (n < sizeof(text) - at - 2)
			at += (size_t)snprintf(text + at, sizeof(text) - at, "%.*s ", (int)n, s);
	return d_fail(w->u, w->line, D_PRAGERR, "#error: %s", text);
}

/* The program can't do without something, which is not there for this reason. */
static int pragma_require(struct words *w, const char *class, size_t nclass, const char *name, size_t n,
			  const char *why)
{
	if (w->u->why != NULL)
		err_set(w->u->why, TALLY_ENOPROBE, "%s", why);
	return d_fail(w->u, w->line, D_PRAGMA_DEPEND, "program requires %.*s %.*s", (int)nclass, class,
		      (int)(n > 60 ? 60 : n), name);
}

static int pragma_require_asked(struct words *w, const char *class, const char *name, size_t n,
				int (*ask)(void *arg, const char *name, struct err *e))
{
	struct err e = { 0 };
	char *s = arena_strndup(&w->u->arena, name, n);
	if (s == NULL)
		return d_nomem(w->u);
	int rc = ask != NULL ? ask(w->u->env.arg, s, &e) : 0;
	return rc < 0 ? pragma_require(w, class, strlen(class), name, n, e.text) : 0;
}

static int pragma_depends(struct words *w)
{
	size_t nclass, nname;
	bool quoted;
	const char *class = control_next_word(w, &nclass, &quoted), *name = control_next_word(w, &nname, &quoted);
	if (nclass == 0 || nname == 0)
		return d_fail(w->u, w->line, D_PRAGMA_MALFORM, "malformed #pragma depends_on <class> <name>");
	bool provider = is_word(class, nclass, "provider");
	if (!provider && !is_word(class, nclass, "module") && !is_word(class, nclass, "library"))
		return d_fail(w->u, w->line, D_PRAGMA_INVAL, "invalid class %.*s specified by #pragma depends_on",
			      (int)(nclass > 60 ? 60 : nclass), class);
	if (is_word(class, nclass, "module"))
		return pragma_require_asked(w, "module", name, nname, w->u->env.module);
	if (provider)
		return pragma_require_asked(w, "provider", name, nname, w->u->env.provider);
	int rc = library_require(w->u, name, nname);
	if (rc != 0)
		return rc < 0 ? rc : 0;
	return pragma_require(w, class, nclass, name, nname,
			      "no D library of that name is in the directories of -L, -x libdir and -x syslibdir");
}

/* Whether the name is one of D's is known when all is read. */
static int pragma_about(struct words *w, const char *pragma, const char *name, size_t n)
{
	struct d_about *a = arena_alloc(&w->u->arena, sizeof(*a));
	if (a == NULL || (a->name = arena_strndup(&w->u->arena, name, n)) == NULL)
		return d_nomem(w->u);
	a->pragma = pragma;
	a->line = w->line;
	a->source = w->u->cur_source;
	a->next = w->u->abouts;
	w->u->abouts = a;
	return 0;
}

/* Stability of the name, of the data, class, with a / between them; what is left out at the end is the highest. */
static bool attributes_are_known(const char *s, size_t n)
{
	const char *const end = s + n;
	for (unsigned part = 0; s < end; part++) {
		const unsigned nwords = part == 2 ? DEPS : part < 2 ? STABS : 0;
		const char *slash = memchr(s, '/', (size_t)(end - s));
		const size_t len = (size_t)((slash != NULL ? slash : end) - s);
		unsigned i = 0;
		for (; i < nwords; i++) {
			const char *word = part == 2 ? dep_text(i) : stab_text(i);
			if (strlen(word) == len && strncasecmp(word, s, len) == 0)
				break;
		}
		if (i == nwords)
			return false;
		s += len + (slash != NULL);
	}
	return true;
}

/* NAME PART: of all that it provides, or of a part of its probes' names */
static int pragma_provider(struct words *w)
{
	static const char *const parts[] = { "provider", "module", "function", "name", "args" };
	size_t nname, n, i = 0;
	bool quoted;
	const char *name = control_next_word(w, &nname, &quoted), *part = control_next_word(w, &n, &quoted);
	if (nname == 0 || n == 0)
		return d_fail(w->u, w->line, D_PRAGMA_MALFORM,
			      "malformed #pragma attributes <attributes> provider <name> <component>");
	while (i < COUNT(parts) && !is_word(part, n, parts[i]))
		i++;
	return i < COUNT(parts) ? 0 :
				  d_fail(w->u, w->line, D_PRAGMA_INVAL,
					 "invalid component \"%.*s\" in attribute #pragma for provider %.*s",
					 (int)(n > 60 ? 60 : n), part, (int)(nname > 60 ? 60 : nname), name);
}

/* Of a name, or "provider NAME ...": of the probes of one that the program itself defines. */
static int pragma_attributes(struct words *w)
{
	size_t n, nident;
	bool quoted;
	const char *attributes = control_next_word(w, &n, &quoted);
	const char *name = control_next_word(w, &nident, &quoted);
	if (n == 0 || nident == 0)
		return d_fail(w->u, w->line, D_PRAGMA_MALFORM, "malformed #pragma attributes <attributes> <ident>");
	if (!attributes_are_known(attributes, n))
		return d_fail(w->u, w->line, D_PRAGMA_INVAL,
			      "invalid attributes %.*s specified by #pragma attributes (as Stable/Evolving/Common)",
			      (int)(n > 60 ? 60 : n), attributes);
	return is_word(name, nident, "provider") ? pragma_provider(w) : pragma_about(w, "attributes", name, nident);
}

/* Up to three numbers, with dots between them. */
static bool version_is_known(const char *s, size_t n)
{
	const char *const end = s + n;
	for (unsigned part = 0; part < 3; part++) {
		const char *const begin = s;
		while (s < end && isdigit((unsigned char)*s))
			s++;
		if (s == begin)
			return false;
		if (s == end)
			return true;
		if (*s++ != '.')
			return false;
	}
	return false;
}

static int pragma_binding(struct words *w)
{
	size_t n, nident;
	bool quoted, ident_quoted;
	const char *version = control_next_word(w, &n, &quoted);
	const char *name = control_next_word(w, &nident, &ident_quoted);
	if (n == 0 || nident == 0 || !quoted)
		return d_fail(w->u, w->line, D_PRAGMA_MALFORM, "malformed #pragma binding \"version\" <ident>");
	if (!version_is_known(version, n))
		return d_fail(w->u, w->line, D_PRAGMA_INVAL, "invalid version string %.*s specified by #pragma binding",
			      (int)(n > 60 ? 60 : n), version);
	return pragma_about(w, "binding", name, nident);
}

static int pragma_ident(struct words *w)
{
	(void)w;
	return 0;
}

enum { DIRECTIVE, PRAGMA, PRAGMA_D };

static const struct {
	const char *name;
	int least; /* stands after "#", "#pragma", "#pragma D" */
	int (*run)(struct words *w);
} pragmas[] = {
	{ "attributes", PRAGMA_D, pragma_attributes }, { "binding", PRAGMA_D, pragma_binding },
	{ "depends_on", PRAGMA_D, pragma_depends },    { "error", DIRECTIVE, pragma_error },
	{ "ident", DIRECTIVE, pragma_ident },          { "option", PRAGMA_D, pragma_option },
};

static int control_refuse_unknown(struct words *w, int kind, const char *s, size_t n)
{
	int shown = n > 60 ? 60 : (int)n;
	if (kind == PRAGMA)
		return 0; /* other compilers' pragmas are none of ours */
	if (kind == DIRECTIVE)
		return d_fail(w->u, w->line, D_PRAGCTL_INVAL, "invalid control directive: #%.*s", shown, s);
	if (w->u->why != NULL)
		err_set(w->u->why, TALLY_ESYNTAX,
			"D has the pragmas attributes, binding, depends_on, error, ident, line and option");
	return d_fail(w->u, w->line, D_PRAGMA_INVAL, "invalid D pragma: %.*s", shown, s);
}

/* What a preprocessor calls the source itself, and what is in no file. */
static bool line_is_of_source(const char *file, size_t n)
{
	return n == 0 || *file == '<' || is_word(file, n, "/dev/stdin");
}

/* #line N "file", or # N "file" as a preprocessor writes it: the number of the next line, and where it is from */
static int line_directive(struct words *w, const char *s, size_t n, uint32_t *line)
{
	uint32_t v = 0;
	bool quoted;
	for (size_t i = 0; i < n; i++) {
		if (!isdigit((unsigned char)s[i]) || v > UINT32_MAX / 20)
			n = 0;
		v = v * 10 + (uint32_t)(s[i] - '0');
	}
	if (n == 0)
		return d_fail(w->u, w->line, D_PRAGMA_MALFORM, "malformed #line <line> [ [\"file\"] state ]");
	*line = v;
	const char *file = control_next_word(w, &n, &quoted);
	w->u->header = quoted && !line_is_of_source(file, n) ? arena_strndup(&w->u->arena, file, n) : NULL;
	return 0;
}

int d_control(struct d_unit *u, const char *text, size_t len, uint32_t *line, bool early)
{
	struct words w = { u, text + 1, text + len, *line - 1 };
	int kind = DIRECTIVE;
	size_t n;
	bool quoted;
	const char *s = control_next_word(&w, &n, &quoted);
	if (n == 0 && !quoted)
		return 0;
	if (is_word(s, n, "pragma")) {
		kind = PRAGMA;
		s = control_next_word(&w, &n, &quoted);
		if (is_word(s, n, "D")) {
			kind = PRAGMA_D;
			s = control_next_word(&w, &n, &quoted);
		}
	}
	bool option = kind == PRAGMA_D && is_word(s, n, "option");
	if (option != early)
		return 0;
	bool renumbers = is_word(s, n, "line");
	if (renumbers)
		s = control_next_word(&w, &n, &quoted);
	if (renumbers || (n != 0 && isdigit((unsigned char)*s)))
		return line_directive(&w, s, n, line);
	for (size_t i = 0; i < COUNT(pragmas); i++)
		if (kind >= pragmas[i].least && is_word(s, n, pragmas[i].name))
			return pragmas[i].run(&w);
	return control_refuse_unknown(&w, kind, s, n);
}

/* Past a comment or literal that starts at p, or p itself when there is none. */
static const char *skip_quiet(const char *p, const char *end)
{
	if (p[0] == '/' && p[1] == '/') {
		const char *nl = memchr(p, '\n', (size_t)(end - p));
		return nl != NULL ? nl : end;
	}
	if (p[0] == '/' && p[1] == '*') {
		for (p += 2; p < end && !(p[0] == '*' && p[1] == '/'); p++)
			;
		return p < end ? p + 2 : end;
	}
	if (*p == '"') {
		for (p++; p < end && *p != '"' && *p != '\n'; p++)
			if (*p == '\\' && p + 1 < end && p[1] != '\n')
				p++;
		return p < end && *p == '"' ? p + 1 : p;
	}
	return p;
}

int d_control_early(struct d_unit *u, const struct d_src *s)
{
	const char *p = s->text, *end = s->text + s->len, *counted = p;
	bool at_line_start = true;
	uint32_t line = 1;
	int rc = 0;
	while (p < end && rc == 0) {
		if (*p == '#' && at_line_start) {
			const char *nl = memchr(p, '\n', (size_t)(end - p));
			for (nl = nl != NULL ? nl : end; counted < p; counted++)
				line += *counted == '\n';
			uint32_t next = line + 1;
			rc = d_control(u, p, (size_t)(nl - p), &next, true);
			p = nl;
			continue;
		}
		const char *q = skip_quiet(p, end);
		at_line_start = q == p ? *p == '\n' || (at_line_start && isspace((unsigned char)*p)) : at_line_start;
		p = q == p ? p + 1 : q;
	}
	return rc;
}
