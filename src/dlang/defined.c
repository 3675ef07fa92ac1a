/*
 * defined.c: arguments of static probes, by the provider definitions of a program or a library.
 *
 *	provider NAME { probe NAME ( native arguments ) : ( what scripts see ); };
 *
 * The file of a program tells where an argument lies, its size and its sign, and no more.  Its provider definition has the types, so
 * whoever has that reads args[] with them.  A second list reorders, repeats and leaves out: an argument is the native one of its name,
 * or where it or that has none the native one in its place.  Where its type is another one and a translator leads there, it is
 * translated, else converted.
 *
 * Arguments are the program's: a pointer leads into the process, and a string is read there.  argN stays the native argument N.
 */
#include <string.h>

#include "dlang/parse_int.h"
#include "dlang/type_int.h"

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

static const struct d_defined *defined_find(const struct d_unit *u, const char *prov, const char *name)
{
	for (const struct d_defined *d = u->defined; d != NULL; d = d->next)
		if (strcmp(d->prov, prov) == 0 && strcmp(d->name, name) == 0)
			return d;
	return NULL;
}

int defined_add(struct d_unit *u, struct d_defined *d)
{
	d->name = defined_name(u, d->name);
	if (d->name == NULL)
		return d_nomem(u);
	if (defined_find(u, d->prov, d->name) != NULL)
		return d_fail(u, d->line, D_DECL_IDRED, "probe %s:::%s is defined twice", d->prov, d->name);
	for (uint32_t i = 0; i < d->seen.n; i++) {
		if (defined_native(d, i) < d->native.n)
			continue;
		if (*d->seen.name[i] != '\0')
			return d_fail(u, d->line, D_SYNTAX, "probe %s:::%s has no argument that is called %s", d->prov,
				      d->name, d->seen.name[i]);
		return d_fail(u, d->line, D_SYNTAX,
			      "argument %u of probe %s:::%s is none of its %u arguments: give it the name of one",
			      i + 1, d->prov, d->name, d->native.n);
	}
	d->next = u->defined;
	u->defined = d;
	return 0;
}

/* ---- args[] ------------------------------------------------------------------------ */

struct defined_arg {
	uint32_t native;
	const struct d_type *from, *to;
};

enum { DEFINED_NOT, DEFINED, DEFINED_ANY };

/* DEFINED: *ret is args[index] of the probe; DEFINED_NOT: no definition is about it; DEFINED_ANY: it stands for probes of any kind. */
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
			return d_fail(
				u, n->line, D_ARGS_MULTI,
				"args[%lld] is not the same thing in all probes of %s:%s:%s:%s: give each a clause of its own",
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
