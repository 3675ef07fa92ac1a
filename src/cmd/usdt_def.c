/*
 * usdt_def.c: the provider definitions of a D source.
 *
 *	provider NAME { probe NAME ( TYPE [NAME], ... ) [: ( TYPE [NAME], ... )] ; ... } ;
 *
 * A type is C's, and is needed for its size and sign alone: so the words of it are looked up, and what is not known is
 * a word of the machine.  A pointer and an array are addresses.  What the arguments are translated to (behind the
 * colon) is for tracers.
 *
 * Refusals carry the tags of the compiler, which reads the same definitions in scripts (src/dlang/defined.c).
 */
#include <stdio.h>
#include <string.h>

#include "cmd/usdt_int.h"

/* ---- words ------------------------------------------------------------------------------ */

struct reader {
	const char *p, *end;
	uint32_t line;
	const char *word; /* the last one read: a name, or one character */
	size_t n;
	bool errtags;
	struct err *e;
};

static bool is_name_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$' ||
	       c == '`';
}

/* Passes over blanks, comments, and lines of the preprocessor and of pragmas. */
static void reader_skip(struct reader *r)
{
	bool at_start = r->line == 0;

	if (at_start)
		r->line = 1;
	while (r->p < r->end) {
		const size_t left = (size_t)(r->end - r->p);

		if (*r->p == '\n') {
			r->line++;
			at_start = true;
			r->p++;
		} else if (*r->p == ' ' || *r->p == '\t' || *r->p == '\r' || *r->p == '\f' || *r->p == '\v') {
			r->p++;
		} else if (at_start && *r->p == '#') {
			while (r->p < r->end && *r->p != '\n')
				r->p++;
		} else if (left > 1 && !memcmp(r->p, "//", 2)) {
			while (r->p < r->end && *r->p != '\n')
				r->p++;
		} else if (left > 1 && !memcmp(r->p, "/*", 2)) {
			for (r->p += 2; r->p < r->end && !(r->p + 1 < r->end && !memcmp(r->p, "*/", 2)); r->p++)
				r->line += *r->p == '\n';
			r->p = r->end - r->p > 2 ? r->p + 2 : r->end;
		} else {
			return;
		}
	}
}

/* The next word, quoted text as one; false at the end. */
static bool reader_next(struct reader *r)
{
	reader_skip(r);
	r->word = r->p;
	if (r->p >= r->end) {
		r->n = 0;
		return false;
	}
	if (is_name_char(*r->p)) {
		while (r->p < r->end && is_name_char(*r->p))
			r->p++;
	} else if (*r->p == '"') {
		for (r->p++; r->p < r->end && *r->p != '"' && *r->p != '\n'; r->p++)
			r->p += *r->p == '\\' && r->p + 1 < r->end;
		r->p += r->p < r->end;
	} else {
		r->p++;
	}
	r->n = (size_t)(r->p - r->word);
	return true;
}

static bool reader_is(const struct reader *r, const char *word)
{
	return r->n == strlen(word) && !memcmp(r->word, word, r->n);
}

static int PRINTF_LIKE(3, 4) reader_refuse(const struct reader *r, const char *tag, const char *fmt, ...)
{
	char words[300];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(words, sizeof(words), fmt, ap);
	va_end(ap);
	return err_set(r->e, TALLY_ESYNTAX, "%s%s%sline %u: %s", r->errtags ? "[" : "", r->errtags ? tag : "",
		       r->errtags ? "] " : "", r->line, words);
}

static int reader_fail(const struct reader *r, const char *expected)
{
	return reader_refuse(r, "D_SYNTAX", "expected %s, found %s%.*s%s", expected, r->n ? "\"" : "",
			     r->n ? (int)(r->n < 60 ? r->n : 60) : 11, r->n ? r->word : "end of file",
			     r->n ? "\"" : "");
}

static int reader_expect(struct reader *r, const char *word)
{
	(void)reader_next(r);
	return reader_is(r, word) ? 0 : reader_fail(r, word);
}

/* The name of a provider or a probe, in which two underscores become one dash. */
static int reader_name(struct reader *r, struct arena *a, const char *what, const char **ret)
{
	size_t dashes = 0;

	(void)reader_next(r);
	if (!r->n || !is_name_char(*r->word) || (*r->word >= '0' && *r->word <= '9'))
		return reader_fail(r, "a name");
	*ret = arena_strndup(a, r->word, r->n);
	if (!*ret)
		return err_oom(r->e);
	for (const char *p = *ret; (p = strstr(p, "__")) != NULL && !strcmp(what, "probe"); p += 2)
		dashes++;
	if (strchr(*ret, '`'))
		return reader_refuse(r, "D_PROV_BADNAME", "a %s's name may not have a scope: %.80s", what, *ret);
	if (r->n - dashes > USDT_NAME_MOST)
		return reader_refuse(r, "D_PROV_BADNAME",
				     "a %s's name may not exceed %d characters, and has %zu: %.80s", what,
				     USDT_NAME_MOST, r->n - dashes, *ret);
	return 0;
}

/* ---- types ------------------------------------------------------------------------------- */

static const struct usdt_type {
	const char *name, *type;
	int bytes;
} usdt_types[] = {
	{ "char", "char", -1 },
	{ "short", "short", -2 },
	{ "int", "int", -4 },
	{ "long", "long", -8 },
	{ "enum", "int", -4 },
	{ "_Bool", "unsigned char", 1 },
	{ "bool", "unsigned char", 1 },
	{ "unsigned", "unsigned int", 4 },
	{ "signed", "int", -4 },
	{ "int8_t", "signed char", -1 },
	{ "int16_t", "short", -2 },
	{ "int32_t", "int", -4 },
	{ "int64_t", "long", -8 },
	{ "uint8_t", "unsigned char", 1 },
	{ "uint16_t", "unsigned short", 2 },
	{ "uint32_t", "unsigned int", 4 },
	{ "uint64_t", "unsigned long", 8 },
	{ "uchar_t", "unsigned char", 1 },
	{ "ushort_t", "unsigned short", 2 },
	{ "uint_t", "unsigned int", 4 },
	{ "ulong_t", "unsigned long", 8 },
	{ "size_t", "unsigned long", 8 },
	{ "ssize_t", "long", -8 },
	{ "uintptr_t", "unsigned long", 8 },
	{ "intptr_t", "long", -8 },
	{ "pid_t", "int", -4 },
	{ "uid_t", "unsigned int", 4 },
	{ "gid_t", "unsigned int", 4 },
};

static const struct usdt_arg usdt_word = { "unsigned long", 8 };

/* Adds a word of its type to what is known of an argument so far. */
static void arg_take_word(struct usdt_arg *a, const struct reader *r, bool *is_unsigned, bool *is_known)
{
	if (reader_is(r, "unsigned"))
		*is_unsigned = true;
	for (size_t i = 0; i < COUNT(usdt_types); i++)
		/* `long int` is long, `unsigned char` is char */
		if (reader_is(r, usdt_types[i].name) &&
		    (!*is_known || !strcmp(a->type, "int") || !strcmp(a->type, "unsigned int"))) {
			if (*is_known && (reader_is(r, "int") || reader_is(r, "signed") || reader_is(r, "unsigned")))
				return;
			*a = (struct usdt_arg){ usdt_types[i].type, usdt_types[i].bytes };
			*is_known = true;
			return;
		}
}

static struct usdt_arg arg_without_sign(struct usdt_arg a)
{
	static const char *const type[] = {
		[1] = "unsigned char", [2] = "unsigned short", [4] = "unsigned int", [8] = "unsigned long"
	};

	a.bytes = a.bytes < 0 ? -a.bytes : a.bytes;
	a.type = type[a.bytes];
	return a;
}

/* One argument, up to the comma or bracket behind it, which is read. *none: it is `void`, or nothing. */
static int arg_parse(struct reader *r, struct usdt_arg *ret, bool *none)
{
	struct usdt_arg a = usdt_word;
	bool is_pointer = false, is_unsigned = false, is_known = false, is_void = false;
	uint32_t words = 0;
	int depth = 0;

	while (reader_next(r) && (depth || (!reader_is(r, ",") && !reader_is(r, ")")))) {
		depth += reader_is(r, "(");
		depth -= reader_is(r, ")");
		is_pointer |= reader_is(r, "*") || reader_is(r, "[") || reader_is(r, "string");
		is_void |= reader_is(r, "void");
		if (reader_is(r, ";") || reader_is(r, "{") || reader_is(r, "}"))
			return reader_fail(r, ")");
		arg_take_word(&a, r, &is_unsigned, &is_known);
		words++;
	}
	if (!r->n)
		return reader_fail(r, ")");
	*none = !words || (is_void && !is_pointer);
	*ret = is_pointer ? usdt_word : is_unsigned ? arg_without_sign(a) : a;
	return 0;
}

/* ---- definitions --------------------------------------------------------------------------- */

static const struct usdt_probe *probe_find(const struct usdt_provider *v, uint32_t n, const char *name)
{
	for (uint32_t i = 0; i < n; i++)
		if (!strcmp(v->probe[i].name, name))
			return &v->probe[i];
	return NULL;
}

static int probe_parse(struct reader *r, struct usdt_def *d, struct usdt_provider *v)
{
	struct usdt_probe *p = VEC_NEW(v->probe, v->n, v->cap);
	struct usdt_arg a;
	bool none;
	int rc = p ? 0 : err_oom(r->e);

	if (rc == 0)
		rc = reader_name(r, &d->text, "probe", &p->name);
	if (rc == 0)
		rc = reader_expect(r, "(");
	while (rc == 0 && (rc = arg_parse(r, &a, &none)) == 0) {
		if (!none && p->nargs == USDT_ARGS_MOST)
			return reader_refuse(r, "D_PROV_PRARGLEN",
					     "probe %s has more than %d arguments: arg0 to arg9 are all there are",
					     p->name, USDT_ARGS_MOST);
		if (!none)
			p->arg[p->nargs++] = a;
		if (reader_is(r, ")"))
			break;
	}
	if (rc < 0)
		return rc;
	(void)reader_next(r);
	if (reader_is(r, ":")) { /* what its arguments are translated to */
		rc = reader_expect(r, "(");
		while (rc == 0 && (rc = arg_parse(r, &a, &none)) == 0 && !reader_is(r, ")"))
			;
		if (rc < 0)
			return rc;
		(void)reader_next(r);
	}
	return reader_is(r, ";") ? 0 : reader_fail(r, ";");
}

/* The last probe of v is new there; a provider that was defined before has it as it was. */
static int probe_compare(const struct reader *r, const struct usdt_provider *v, const struct usdt_provider *before)
{
	const struct usdt_probe *p = &v->probe[v->n - 1], *was;

	if (!before)
		return !probe_find(v, v->n - 1, p->name) ?
			       0 :
			       reader_refuse(r, "D_PROV_PRDUP", "probe %s:::%s is defined twice", v->name, p->name);
	was = probe_find(before, before->n, p->name);
	if (!was)
		return reader_refuse(r, "D_PROV_INCOMPAT", "provider %s is defined again, and had no probe %s", v->name,
				     p->name);
	if (was->nargs != p->nargs)
		return reader_refuse(r, "D_PROV_INCOMPAT",
				     "probe %s:::%s is defined again with %u arguments, and had %u", v->name, p->name,
				     p->nargs, was->nargs);
	for (uint32_t i = 0; i < p->nargs; i++)
		if (strcmp(was->arg[i].type, p->arg[i].type) != 0)
			return reader_refuse(r, "D_PROV_INCOMPAT",
					     "argument %u of probe %s:::%s is defined again as \"%s\", and was \"%s\"",
					     i + 1, v->name, p->name, p->arg[i].type, was->arg[i].type);
	return 0;
}

static int provider_parse(struct reader *r, struct usdt_def *d)
{
	struct usdt_provider *v = VEC_NEW(d->provider, d->n, d->cap);
	const struct usdt_provider *before = NULL;
	int rc = v ? reader_name(r, &d->text, "provider", &v->name) : err_oom(r->e);

	if (rc == 0 && strchr("0123456789", v->name[strlen(v->name) - 1]))
		rc = reader_refuse(
			r, "D_PROV_BADNAME",
			"a provider's name may not end with a digit, since the process id stands behind it: %s",
			v->name);
	for (uint32_t i = 0; rc == 0 && i + 1 < d->n; i++)
		if (!strcmp(d->provider[i].name, v->name))
			before = &d->provider[i];
	if (rc == 0)
		rc = reader_expect(r, "{");
	while (rc == 0) {
		(void)reader_next(r);
		if (reader_is(r, "}"))
			break;
		rc = reader_is(r, "probe") ? probe_parse(r, d, v) : reader_fail(r, "probe, or }");
		if (rc == 0)
			rc = probe_compare(r, v, before);
	}
	if (rc == 0)
		rc = reader_expect(r, ";");
	if (rc == 0 && before) /* once is enough */
		mem_free(d->provider[--d->n].probe);
	return rc;
}

int usdt_def_parse(struct usdt_def *d, const char *text, size_t n, bool errtags, struct err *e)
{
	struct reader r = { .p = text, .end = text + n, .errtags = errtags, .e = e };
	int depth = 0, rc = 0;

	*d = (struct usdt_def){ 0 };
	while (rc == 0 && reader_next(&r)) {
		depth += reader_is(&r, "{");
		depth -= reader_is(&r, "}");
		if (!depth && reader_is(&r, "provider"))
			rc = provider_parse(&r, d);
	}
	if (rc < 0)
		usdt_def_free(d);
	return rc;
}

void usdt_def_free(struct usdt_def *d)
{
	for (uint32_t i = 0; i < d->n; i++)
		mem_free(d->provider[i].probe);
	mem_free(d->provider);
	arena_free(&d->text);
	*d = (struct usdt_def){ 0 };
}
