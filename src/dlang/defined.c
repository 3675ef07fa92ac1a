/*
 * defined.c: arguments of static probes, by the provider definitions of a program or a library.
 *
 *	provider NAME { probe NAME ( native arguments ) : ( what scripts see ); };
 *
 * The file of a program tells where an argument lies, its size and its sign, and no more.  Its provider definition has
 * the types, so whoever has that reads args[] with them.  A second list reorders, repeats and leaves out: an argument
 * is the native one of its name, or where it or that has none the native one in its place.  Where its type is another
 * one and a translator leads there, it is translated, else converted.
 *
 * Arguments are the program's: a pointer leads into the process, and a string is read there.  argN stays the native
 * argument N.
 */
#include <stdio.h>
#include <string.h>

#include "dlang/parse_int.h"
#include "dlang/type_int.h"

/* As DTrace has them. */
#define NAME_MOST 63u
#define ARGS_MOST 255u
#define KEY_SIZE (2 * NAME_MOST + 2)

/* ---- definitions ----------------------------------------------------------------- */

/* request__start: request-start */
static const char *defined_name(struct d_unit *u, const char *name)
{
	char *to = arena_strdup(&u->arena, name), *p = to;
	for (; p != NULL && *name != '\0'; p++) {
		const bool dash = name[0] == '_' && name[1] == '_';
		*p = dash ? '-' : *name;
		name += dash ? 2 : 1;
	}
	if (p != NULL)
		*p = '\0';
	return to;
}

/* Which native argument argument i is; the number of them: none. */
static uint32_t defined_native(const struct d_defined *d, uint32_t i)
{
	const char *name = d->is_translated ? d->seen.name[i] : "";
	for (uint32_t k = 0; *name != '\0' && k < d->native.n; k++)
		if (strcmp(d->native.name[k], name) == 0)
			return k;
	return i < d->native.n && (*name == '\0' || *d->native.name[i] == '\0') ? i : d->native.n;
}

/* The length of a probe's key; 0: no definition has such long names. */
static size_t defined_key(char key[KEY_SIZE], const char *prov, const char *name)
{
	const int n = snprintf(key, KEY_SIZE, "%s:%s", prov, name);
	return n > 0 && n < (int)KEY_SIZE ? (size_t)n : 0;
}

static const struct d_defined *defined_find(const struct d_unit *u, const char *prov, const char *name)
{
	char key[KEY_SIZE];
	const size_t n = defined_key(key, prov, name);
	return n > 0 ? map_get(&u->defined, key, n) : NULL;
}

static int defined_check_length(struct d_unit *u, const char *what, const char *name, uint32_t line)
{
	const size_t n = strlen(name);
	return n <= NAME_MOST ?
		       0 :
		       d_fail(u, line, D_PROV_BADNAME, "a %s's name may not exceed %u characters, and has %zu: %.80s",
			      what, NAME_MOST, n, name);
}

int defined_begin(struct d_unit *u, const char *prov, uint32_t line)
{
	const char last = prov[strlen(prov) - 1];
	struct err other = { 0 };
	if (last >= '0' && last <= '9')
		return d_fail(u, line, D_PROV_BADNAME,
			      "a provider's name may not end with a digit, since the process id stands behind it: %s",
			      prov);
	if (!u->in_library && u->env.provider != NULL && u->env.provider(u->env.arg, prov, &other) == 0)
		return d_fail(u, line, D_PROV_INCOMPAT, "provider %s is there already: give yours another name", prov);
	const int rc = defined_check_length(u, "provider", prov, line);
	return rc < 0 ? rc : map_get(&u->defined, prov, strlen(prov)) != NULL;
}

static int defined_check_list(struct d_unit *u, const struct d_defined *d, const char *list, const struct d_params *p)
{
	if (p->n > ARGS_MOST)
		return d_fail(u, d->line, D_PROV_PRARGLEN, "probe %s:::%s has %u %s arguments, and may have %u",
			      d->prov, d->name, p->n, list, ARGS_MOST);
	return 0;
}

/* Each argument of the first list has a name of its own, if it has one. */
static int defined_check_names(struct d_unit *u, const struct d_defined *d)
{
	const struct d_params *p = &d->native;
	for (uint32_t i = 0; i < p->n; i++)
		for (uint32_t k = 0; k < i && *p->name[i] != '\0'; k++)
			if (strcmp(p->name[i], p->name[k]) == 0)
				return d_fail(
					u, d->line, D_DECL_PROTO_FORM,
					"parameter is already declared in probe input prototype: %s, parameter #%u",
					p->name[i], i + 1);
	return 0;
}

static const struct d_type *defined_whole(const struct d_type *t)
{
	while (t->kind == TY_PTR)
		t = t->to;
	return t;
}

/* A type that this script doesn't know: its header has it. Each mention makes another one. */
static bool defined_is_unknown(const struct d_type *t)
{
	t = defined_whole(t);
	return t->kind == TY_STRUCT && t->incomplete && strncmp(t->name, "struct ", 7) != 0;
}

static bool defined_is_same(const struct d_type *a, const struct d_type *b)
{
	return types_same(a, b) || (defined_is_unknown(a) && defined_is_unknown(b) &&
				    strcmp(defined_whole(a)->name, defined_whole(b)->name) == 0);
}

/* Whether an argument becomes one of the other type: an integer, a text, a pointer, or what a translator makes. */
static bool defined_becomes(struct d_unit *u, const struct d_type *from, const struct d_type *to)
{
	const struct d_type *whole = to->kind == TY_PTR ? to->to : to;
	return (ty_is_int(from) && ty_is_int(to)) || (ty_is_strcompat(from) && ty_is_strcompat(to)) ||
	       types_same(from, to) || ptr_compatible(from, to) || defined_is_unknown(from) || defined_is_unknown(to) ||
	       (ty_is_sou(whole) && translator_find(u, whole, from) != NULL);
}

/* Each argument of the second list is one of the first. */
static int defined_check_seen(struct d_unit *u, const struct d_defined *d)
{
	for (uint32_t i = 0; i < d->seen.n; i++) {
		const uint32_t k = defined_native(d, i);
		if (k == d->native.n && *d->seen.name[i] != '\0')
			return d_fail(u, d->line, D_DECL_PROTO_FORM, "probe %s:::%s has no argument that is called %s",
				      d->prov, d->name, d->seen.name[i]);
		if (k == d->native.n)
			return d_fail(
				u, d->line, D_DECL_PROTO_NAME,
				"argument %u of probe %s:::%s is none of its %u arguments: give it the name of one",
				i + 1, d->prov, d->name, d->native.n);
		if (!u->in_library && !defined_becomes(u, d->native.type[k], d->seen.type[i]))
			return d_fail(
				u, d->line, D_PROV_PRXLATOR,
				"argument %u of probe %s:::%s is a \"%s\", and no translator makes a \"%s\" of it",
				i + 1, d->prov, d->name, type_name(u, d->native.type[k]),
				type_name(u, d->seen.type[i]));
	}
	return 0;
}

/* Two lists of a probe that is defined again. */
static int defined_compare_list(struct d_unit *u, const struct d_defined *d, const struct d_params *before,
				const struct d_params *now)
{
	if (before->n != now->n)
		return d_fail(u, d->line, D_PROV_INCOMPAT,
			      "probe %s:::%s is defined again with %u arguments, and had %u", d->prov, d->name, now->n,
			      before->n);
	for (uint32_t i = 0; i < now->n; i++)
		if (!defined_is_same(before->type[i], now->type[i]))
			return d_fail(u, d->line, D_PROV_INCOMPAT,
				      "argument %u of probe %s:::%s is defined again as \"%s\", and was \"%s\"", i + 1,
				      d->prov, d->name, type_name(u, now->type[i]), type_name(u, before->type[i]));
	return 0;
}

/* A provider may be defined again as it was. */
static int defined_compare(struct d_unit *u, const struct d_defined *before, const struct d_defined *now)
{
	int rc = defined_compare_list(u, now, &before->native, &now->native);
	if (rc == 0 && before->is_translated != now->is_translated)
		rc = d_fail(u, now->line, D_PROV_INCOMPAT,
			    "probe %s:::%s is defined again, and only one of both says what its arguments become",
			    now->prov, now->name);
	return rc < 0 ? rc : defined_compare_list(u, now, &before->seen, &now->seen);
}

int defined_add(struct d_unit *u, struct d_defined *d, bool again)
{
	char key[KEY_SIZE];
	d->name = defined_name(u, d->name);
	if (d->name == NULL)
		return d_nomem(u);
	const struct d_defined *twin = defined_find(u, d->prov, d->name);
	int rc = defined_check_length(u, "probe", d->name, d->line);
	if (rc == 0)
		rc = defined_check_list(u, d, "input", &d->native);
	if (rc == 0)
		rc = defined_check_list(u, d, "output", &d->seen);
	if (rc == 0)
		rc = defined_check_names(u, d);
	if (rc == 0)
		rc = defined_check_seen(u, d);
	if (rc == 0 && again && twin == NULL)
		rc = d_fail(u, d->line, D_PROV_INCOMPAT, "provider %s is defined again, and had no probe %s", d->prov,
			    d->name);
	if (rc == 0 && !again && twin != NULL)
		rc = d_fail(u, d->line, D_PROV_PRDUP, "probe %s:::%s is defined twice", d->prov, d->name);
	if (rc < 0 || twin != NULL)
		return rc < 0 ? rc : defined_compare(u, twin, d);
	void **known = map_at(&u->defined, key, defined_key(key, d->prov, d->name));
	if (known != NULL) {
		*known = d;
		known = map_at(&u->defined, d->prov, strlen(d->prov));
	}
	if (known == NULL)
		return d_nomem(u);
	*known = d;
	return 0;
}

/* ---- args[] ------------------------------------------------------------------------ */

struct defined_arg {
	uint32_t native;
	const struct d_type *from, *to;
};

enum { DEFINED_NOT, DEFINED, DEFINED_ANY };

/* DEFINED: *ret is args[index] of the probe; DEFINED_NOT: no definition is about it; DEFINED_ANY: it stands for probes
 * of any kind. */
static int defined_arg_of(struct d_unit *u, const struct d_node *n, uint32_t probe, int64_t index,
			  struct defined_arg *ret)
{
	const char *prov, *name;
	const bool any = u->env.args != NULL && u->env.args(u->env.arg, probe, 0) == &d_args_any;
	int rc;
	if (u->env.defined == NULL || !u->env.defined(u->env.arg, probe, &prov, &name))
		return any ? DEFINED_ANY : DEFINED_NOT;
	if ((rc = library_need(u, prov)) < 0)
		return rc;
	const struct d_defined *d = defined_find(u, prov, name);
	if (d == NULL)
		return any ? DEFINED_ANY : DEFINED_NOT;
	const struct d_params *seen = d->is_translated ? &d->seen : &d->native;
	if (index < 0 || index >= seen->n)
		return d_fail(u, n->line, D_ARGS_IDX,
			      "index %lld is out of range for %s:::%s args[ ]: its definition has %u", (long long)index,
			      prov, name, seen->n);
	ret->native = defined_native(d, (uint32_t)index);
	ret->from = d->native.type[ret->native];
	ret->to = seen->type[index];
	return DEFINED;
}

/* The same in all probes of the clause. */
static int defined_arg_of_clause(struct d_unit *u, const struct d_node *n, int64_t index, struct defined_arg *ret)
{
	const struct d_clausenode *c = u->cur_clause;
	const struct d_probedesc *d = &c->descs->d;
	int first = DEFINED_ANY;
	for (uint32_t i = 0; i < c->nprobes; i++) {
		struct defined_arg a = { 0 };
		const int rc = defined_arg_of(u, n, c->probes[i], index, &a);
		if (rc < 0)
			return rc;
		if (rc == DEFINED_ANY)
			continue;
		if (first == DEFINED_ANY) {
			first = rc;
			*ret = a;
		} else if (rc != first ||
			   (rc == DEFINED && (a.native != ret->native || !types_same(a.from, ret->from) ||
					      !types_same(a.to, ret->to)))) {
			return d_fail(u, n->line, D_ARGS_MULTI,
				      "args[%lld] is not the same thing in all probes "
				      "of %s:%s:%s:%s: give each a clause of its own",
				      (long long)index, d->prov, d->mod, d->func, d->name);
		}
	}
	return first == DEFINED;
}

/* argN */
static struct d_node *defined_value(struct d_unit *u, uint32_t line, uint32_t native)
{
	struct d_node *n = node_new(u, N_IDENT, line);
	if (n != NULL && (n->str = arena_printf(&u->arena, "arg%u", native)) == NULL) {
		d_nomem(u);
		return NULL;
	}
	return n;
}

/* (type)value, or copyinstr(value) */
static struct d_node *defined_convert(struct d_unit *u, struct d_node *value, const struct d_type *type)
{
	struct d_node *n = node_new(u, type->kind == TY_STRING ? N_CALL : N_CAST, value->line);
	if (n == NULL)
		return NULL;
	if (n->kind == N_CAST) {
		n->a = value;
		n->type = type_of_user(u, type);
		return n->type != NULL ? n : NULL;
	}
	n->str = "copyinstr";
	n->arg = arena_alloc(&u->arena, sizeof(*n->arg));
	if (n->arg == NULL) {
		d_nomem(u);
		return NULL;
	}
	n->arg[0] = value;
	n->narg = 1;
	return n;
}

static bool defined_has_translator(const struct d_unit *u, const struct defined_arg *a)
{
	const struct d_type *to = a->to->kind == TY_PTR ? a->to->to : a->to;
	return ty_is_sou(to) && !types_same(a->to, a->from) && translator_find(u, to, a->from) != NULL;
}

int defined_expand(struct d_unit *u, struct d_node *n, int64_t index)
{
	struct defined_arg a = { 0 };
	struct d_node *x;
	int rc = u->cur_clause == NULL ? 0 : defined_arg_of_clause(u, n, index, &a);
	if (rc <= 0)
		return rc;
	x = defined_value(u, n->line, a.native);
	if (x != NULL && a.from->kind != TY_STRING)
		x = defined_convert(u, x, a.from);
	if (x == NULL)
		return -TALLY_ENOMEM;
	if (defined_has_translator(u, &a)) {
		struct d_node *whole = node_new(u, N_XLATE, n->line);
		if (whole == NULL)
			return -TALLY_ENOMEM;
		whole->ty_arg = a.to;
		whole->a = x;
		x = whole;
	} else if ((a.from->kind == TY_STRING || !types_same(a.to, a.from)) &&
		   (x = defined_convert(u, x, a.to)) == NULL) {
		return -TALLY_ENOMEM;
	}
	*n = *x;
	u->cur_clause->args_defined = true;
	rc = bind_expression(u, n);
	return rc < 0 ? rc : 1;
}
