/*
 * xlate.c: inline definitions, translators, and the libraries that hold them.
 *
 * Both are kept as unbound trees. Each use copies the tree, with the arguments in place of its parameters, and the
 * copy is bound and typed as if it had been written there. So a member of a translated struct costs what its
 * expression costs, and an unused member costs nothing. Definitions that use each other twice double with each step, so
 * the nodes of a program are counted, and D_MAX_NODES is the end.
 *
 * A definition of the program is checked where it stands, on a copy whose parameters are zeroes of their types.
 * Definitions of libraries are not, since a library is parsed whole when one of its names is used.
 */
#include "dlang/decl_int.h"
#include "dlang/parse_int.h"
#include "dlang/type_int.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define XLATE_DEPTH 64 /* of definitions within definitions */

/* ---- copies ------------------------------------------------------------------- */

static struct d_node *clone_list(struct d_unit *u, const struct d_node *n, struct d_node *c, const struct d_params *p)
{
	if (n->narg == 0)
		return c;
	c->arg = arena_alloc(&u->arena, n->narg * sizeof(*c->arg));
	if (c->arg == NULL) {
		d_nomem(u);
		return NULL;
	}
	for (uint32_t i = 0; i < n->narg; i++)
		if ((c->arg[i] = node_clone(u, n->arg[i], p)) == NULL)
			return NULL;
	return c;
}

struct d_node *node_clone(struct d_unit *u, const struct d_node *n, const struct d_params *p)
{
	for (uint32_t i = 0; n->kind == N_IDENT && n->scope == SCOPE_NONE && p != NULL && i < p->n; i++)
		if (p->arg[i] != NULL && strcmp(p->name[i], n->str) == 0)
			return node_clone(u, p->arg[i], NULL);
	struct d_node *c = node_take(u, n->line);
	if (c == NULL)
		return NULL;
	*c = *n;
	if ((n->a != NULL && (c->a = node_clone(u, n->a, p)) == NULL) ||
	    (n->b != NULL && (c->b = node_clone(u, n->b, p)) == NULL) ||
	    (n->c != NULL && (c->c = node_clone(u, n->c, p)) == NULL))
		return NULL;
	return clone_list(u, n, c, p);
}

/* n as a value of type t, where a cast can make it one. */
static struct d_node *node_as(struct d_unit *u, struct d_node *n, const struct d_type *t)
{
	if (n->kind == N_XLATE || (!ty_is_scalar(t) && t->kind != TY_STRING))
		return n;
	struct d_node *c = node_new(u, N_CAST, n->line);
	if (c != NULL) {
		c->a = n;
		c->type = t;
		c->implied = true;
	}
	return c;
}

/* Something of type t that nothing is known of. */
static struct d_node *node_of_type(struct d_unit *u, const struct d_type *t, uint32_t line)
{
	if (ty_is_scalar(t))
		return node_int(u, line, t, 0);
	if (t->kind == TY_STRING) {
		struct d_node *s = node_new(u, N_STR, line);
		if (s != NULL)
			s->str = "";
		return s;
	}
	struct d_node *d = node_new(u, N_DEREF, line);
	const struct d_type *ptr = type_ptr(u, t);
	if (d == NULL || ptr == NULL)
		return NULL;
	d->a = node_int(u, line, ptr, 0);
	return d->a != NULL ? d : NULL;
}

/* A copy of the tree that `name` is defined with, bound and typed: into *np. */
static int cook_sample(struct d_unit *u, const char *name, const struct d_node *expr, const struct d_params *p,
		       struct d_node **np)
{
	u->used = name;
	*np = node_clone(u, expr, p);
	int rc = *np != NULL ? bind_expression(u, *np) : -TALLY_ENOMEM;
	if (rc == 0)
		rc = cook_value(u, np);
	u->used = NULL;
	return rc;
}

/* ---- inline ------------------------------------------------------------------------ */

struct d_inline *inline_find(const struct d_unit *u, const char *name)
{
	return map_get(&u->inlines, name, strlen(name));
}

void inline_tell_itself(const struct d_unit *u, const char *name)
{
	if (u->used != NULL && u->why != NULL && strcmp(u->used, name) == 0)
		err_set(u->why, TALLY_ESYNTAX,
			"an inline cannot name itself: it stands for its expression, and D has no recursion");
}

/* Whether n may be the value of something that is defined with type t. */
static bool definition_fits(const struct d_type *t, const struct d_node *n)
{
	return assignable(t, n) || (ty_is_strcompat(t) && ty_is_strcompat(n->type));
}

static int inline_check(struct d_unit *u, const struct d_inline *d)
{
	struct d_params p = d->params;
	struct d_node *n;
	p.arg = arena_alloc(&u->arena, (p.n + 1) * sizeof(*p.arg));
	if (p.arg == NULL)
		return d_nomem(u);
	for (uint32_t i = 0; i < p.n; i++)
		if ((p.arg[i] = node_of_type(u, p.type[i], d->line)) == NULL)
			return -TALLY_ENOMEM;
	if (d->expr->kind == N_XLATE && ty_is_sou(d->type) && types_same(d->type, d->expr->ty_arg))
		return 0; /* each member is looked at where it is taken */
	int rc = cook_sample(u, d->name, d->expr, &p, &n);
	if (rc < 0)
		return rc;
	if (definition_fits(d->type, n))
		return 0;
	return d_fail(u, d->line, D_OP_INCOMPAT, "inline %s definition uses incompatible types: \"%s\" = \"%s\"",
		      d->name, type_name(u, d->type), type_name(u, n->type));
}

int inline_define(struct d_unit *u, struct d_inline *d)
{
	const struct d_inline *before = inline_find(u, d->name);
	int rc = before == NULL && !u->in_library ? inline_check(u, d) : 0;
	if (rc < 0)
		return rc;
	if (before != NULL)
		return d_fail(u, d->line, D_DECL_IDRED,
			      "identifier redefined: %s\n\t current: inline definition\n\tprevious: %s inline", d->name,
			      before->params.n != 0 ? "associative array" : "scalar");
	if (is_builtin(d->name) && !u->in_library)
		return d_fail(u, d->line, D_DECL_IDRED,
			      "identifier redefined: %s\n\t current: inline definition\n\tprevious: built-in variable",
			      d->name);
	if (!u->in_library && sym_get(u, SYM_GLOBAL, d->name, d->line, false) != NULL)
		return d_fail(u, d->line, D_DECL_IDRED,
			      "identifier redefined: %s\n\t current: inline definition\n\tprevious: variable", d->name);
	if (!u->in_library && map_get(&u->consts, d->name, strlen(d->name)) != NULL)
		return d_fail(u, d->line, D_DECL_IDRED,
			      "identifier redefined: %s\n\t current: inline definition\n\tprevious: enumerator",
			      d->name);
	if (!u->in_library && call_is_of_dtrace(d->name))
		return d_fail(u, d->line, D_DECL_IDRED,
			      "identifier redefined: %s\n\t current: inline definition\n\tprevious: function ",
			      d->name);
	void **at = map_at(&u->inlines, d->name, strlen(d->name));
	if (at == NULL)
		return d_nomem(u);
	*at = d;
	return 0;
}

static bool node_mentions(const struct d_node *n, const char *name)
{
	const struct d_node *const kid[] = { n->a, n->b, n->c };
	bool found = n->kind == N_IDENT && n->scope == SCOPE_NONE && strcmp(n->str, name) == 0;
	for (size_t i = 0; i < COUNT(kid) && !found; i++)
		found = kid[i] != NULL && node_mentions(kid[i], name);
	for (uint32_t i = 0; i < n->narg && !found; i++)
		found = node_mentions(n->arg[i], name);
	return found;
}

/* Whether what n names is defined by d in the end. The inlines in between are looked at once, and put into way, the
 * last first. */
static bool inline_leads_to(struct d_unit *u, const struct d_node *n, const struct d_inline *d, unsigned depth,
			    struct buf *way)
{
	struct d_inline *named = n->kind == N_IDENT && n->scope == SCOPE_NONE ? inline_find(u, n->str) : NULL;
	const struct d_node *const kid[] = { n->a, n->b, n->c };
	bool found = named != NULL && named == d;
	if (named != NULL && !found && !named->followed && depth < XLATE_DEPTH) {
		named->followed = true;
		found = inline_leads_to(u, named->expr, d, depth + 1, way);
		if (found)
			buf_printf(way, " is used by %.60s (line %u of %.100s), which", named->name, named->line,
				   named->file);
	}
	for (size_t i = 0; i < COUNT(kid) && !found; i++)
		found = kid[i] != NULL && inline_leads_to(u, kid[i], d, depth, way);
	for (uint32_t i = 0; i < n->narg && !found; i++)
		found = inline_leads_to(u, n->arg[i], d, depth, way);
	return found;
}

/* Definitions go too deep at d, or for ever: only libraries can define names by each other, since a program's
 * definition is looked at where it stands. */
static int inline_refuse_depth(struct d_unit *u, const struct d_inline *d, uint32_t line)
{
	struct buf way = { 0 };
	int rc;
	if (d != NULL && inline_leads_to(u, d->expr, d, 0, &way))
		rc = d_fail(u, line, D_SYNTAX,
			    "definitions use each other: %.60s (line %u of %.100s)%.*s is used by %.60s", d->name,
			    d->line, d->file, (int)way.n, way.n != 0 ? way.p : "", d->name);
	else
		rc = d_fail(u, line, D_SYNTAX, "definitions are nested too deeply: more than %d levels", XLATE_DEPTH);
	buf_free(&way);
	return rc;
}

/* The copy of a definition's tree is bound, one level below what uses the name; d: of this inline, or NULL. */
static int bind_copy(struct d_unit *u, const struct d_inline *d, struct d_node *copy, uint32_t line)
{
	if (u->expansions == XLATE_DEPTH)
		return inline_refuse_depth(u, d, line);
	u->expansions++;
	int rc = bind_expression(u, copy);
	u->expansions--;
	return rc;
}

/* Argument i as a value of its parameter's type: it is no cast, and says so where the types don't go together. */
static struct d_node *inline_argument(struct d_unit *u, const struct d_inline *d, struct d_node *n, uint32_t i)
{
	struct d_node *c = n->kind == N_XLATE ? n : node_new(u, N_CAST, n->line);
	if (c == NULL || c == n)
		return c;
	c->a = n;
	c->type = d->params.type[i];
	c->implied = true;
	c->str = d->name;
	c->key = i + 1;
	c->constant = i == 0 && builtin_elements(d->name) != 0;
	return c;
}

/* The definition's tree with those arguments; one that it doesn't use is looked at before its value. */
static struct d_node *inline_value(struct d_unit *u, const struct d_inline *d, const struct d_params *p)
{
	struct d_node *c = node_clone(u, d->expr, p);
	for (uint32_t i = p->n; c != NULL && c->kind != N_XLATE && i-- > 0;) {
		struct d_node *both;
		if (node_mentions(d->expr, p->name[i]))
			continue;
		both = node_new(u, N_COMMA, d->line);
		if (both == NULL)
			return NULL;
		both->a = p->arg[i];
		both->b = c;
		both->implied = true;
		c = both;
	}
	return c != NULL ? node_as(u, c, d->type) : NULL;
}

static int inline_put(struct d_unit *u, struct d_node *n, const struct d_inline *d)
{
	struct d_params p = d->params;
	uint32_t line = n->line;
	if (n->kind == N_IDENT && p.n != 0)
		return d_fail(u, line, D_IDENT_BADREF, "associative array '%s' may not be referenced as scalar",
			      d->name);
	if (n->narg != p.n)
		return d_fail(u, line, D_PROTO_LEN, "%s[ ] prototype mismatch: %u arg%s passed, %u expected", d->name,
			      n->narg, n->narg == 1 ? "" : "s", p.n);
	p.arg = arena_alloc(&u->arena, (p.n + 1) * sizeof(*p.arg));
	if (p.arg == NULL)
		return d_nomem(u);
	for (uint32_t i = 0; i < p.n; i++)
		if ((p.arg[i] = inline_argument(u, d, n->arg[i], i)) == NULL)
			return -TALLY_ENOMEM;
	struct d_node *c = inline_value(u, d, &p);
	if (c == NULL)
		return -TALLY_ENOMEM;
	*n = *c;
	n->line = line;
	return bind_copy(u, d, n, line);
}

int inline_expand(struct d_unit *u, struct d_node *n, struct d_inline *d)
{
	const char *outer = u->used;
	if (outer == NULL)
		u->used = d->name;
	int rc = inline_put(u, n, d);
	u->used = outer;
	return rc;
}

/* ---- translators ------------------------------------------------------------------- */

static const struct d_xmember *xmember_find(const struct d_translator *t, const char *name)
{
	for (const struct d_xmember *m = t->members; m != NULL; m = m->next)
		if (strcmp(m->name, name) == 0)
			return m;
	return NULL;
}

/* Of several that would do, one of the very type. */
const struct d_translator *translator_find(const struct d_unit *u, const struct d_type *to, const struct d_type *from)
{
	const struct d_translator *near = NULL;
	for (const struct d_translator *t = u->translators; t != NULL; t = t->next) {
		if (!types_same(t->to, to))
			continue;
		if (types_same(t->from, from))
			return t;
		if ((ty_is_int(t->from) && ty_is_int(from)) || ptr_compatible(t->from, from))
			near = t;
	}
	return near;
}

static int xmember_check(struct d_unit *u, const struct d_translator *t, const struct d_xmember *m)
{
	struct d_node *arg = node_of_type(u, t->from, m->line), *n;
	const char *param = t->param;
	const struct d_params p = { .name = &param, .arg = &arg, .n = 1 };
	const struct d_type *as = type_of_member(u, t->to, m->name);
	if (arg == NULL || u->arena.failed)
		return -TALLY_ENOMEM;
	if (as == NULL)
		return d_fail(u, m->line, D_XLATE_MEMB, "translator member %s is not a member of %s%s", m->name,
			      type_name(u, t->to), near_member(u, t->to, m->name));
	if (xmember_find(t, m->name) != m)
		return d_fail(u, m->line, D_XLATE_REDECL, "translator member %s is defined twice", m->name);
	int rc = cook_sample(u, m->name, m->expr, &p, &n);
	if (rc < 0)
		return rc;
	if (definition_fits(as, n))
		return 0;
	return d_fail(u, m->line, D_XLATE_INCOMPAT,
		      "translator member %s definition uses incompatible types: \"%s\" = \"%s\"", m->name,
		      type_name(u, as), type_name(u, n->type));
}

int translator_define(struct d_unit *u, struct d_translator *t)
{
	if (type_complete(u, t->to) < 0)
		return -TALLY_ENOMEM;
	if (!ty_is_sou(t->to))
		return d_fail(u, t->line, D_XLATE_SOU, "translator output type must be a struct or union");
	if (t->to->incomplete)
		return d_fail(u, t->line, D_XLATE_SOU, "incomplete struct/union/enum %s%s", type_name(u, t->to),
			      near_type(u, t->to));
	for (const struct d_translator *o = u->translators; o != NULL; o = o->next)
		if (types_same(o->to, t->to) && types_same(o->from, t->from))
			return d_fail(u, t->line, D_XLATE_REDECL, "translator from %s to %s has already been declared",
				      type_name(u, t->from), type_name(u, t->to));
	for (const struct d_xmember *m = u->in_library ? NULL : t->members; m != NULL; m = m->next) {
		int rc = xmember_check(u, t, m);
		if (rc < 0)
			return rc;
	}
	t->next = u->translators;
	u->translators = t;
	return 0;
}

static int xlate_translator(struct d_unit *u, const struct d_node *x, const struct d_translator **ret)
{
	const struct d_type *to = x->ty_arg->kind == TY_PTR ? x->ty_arg->to : x->ty_arg;
	struct d_node *arg = node_clone(u, x->a, NULL);
	if (arg == NULL)
		return -TALLY_ENOMEM;
	int rc = cook_value(u, &arg);
	if (rc < 0)
		return rc;
	*ret = translator_find(u, to, arg->type);
	if (*ret != NULL)
		return 0;
	return d_fail(u, x->line, D_XLATE_NONE, "cannot translate from \"%s\" to \"%s\"", type_name(u, arg->type),
		      type_name(u, x->ty_arg));
}

/*
 * A member that a library declares and can't give has its reason there, in an inline string of this name and the
 * member's: inline string __without_pr_poolid = "Linux has no resource pools". What several members have in common is a
 * string of its own, and theirs name it. Without one the message says no more than DTrace's.
 */
#define XLATE_REASON "__without_"

static int xlate_refuse_member(struct d_unit *u, const struct d_node *n)
{
	char name[sizeof(XLATE_REASON) + 64];
	snprintf(name, sizeof(name), XLATE_REASON "%s", n->str);
	const struct d_inline *why = inline_find(u, name);
	if (why != NULL && why->expr->kind == N_IDENT)
		why = inline_find(u, why->expr->str);
	const bool told = why != NULL && why->expr->kind == N_STR;
	return d_fail(u, n->line, D_XLATE_NOCONV, "translator does not define conversion for member: %s%s%s", n->str,
		      told ? ": " : "", told ? why->expr->str : "");
}

/* *np is a member of the N_XLATE below it: its expression takes its place, bound and not typed yet. */
static int xlate_unfold(struct d_unit *u, struct d_node **np)
{
	const struct d_node *n = *np, *x = n->a;
	const struct d_translator *t;
	int rc = xlate_translator(u, x, &t);
	if (rc < 0)
		return rc;
	const struct d_xmember *m = xmember_find(t, n->str);
	const struct d_type *as = type_of_member(u, t->to, n->str);
	if (u->arena.failed)
		return d_nomem(u);
	if (as == NULL)
		return d_fail(u, n->line, D_TYPE_MEMBER, "%s is not a member of %s%s", n->str, type_name(u, t->to),
			      near_member(u, t->to, n->str));
	if (m == NULL)
		return xlate_refuse_member(u, n);
	struct d_node *arg = node_clone(u, x->a, NULL);
	if (arg == NULL || (arg = node_as(u, arg, t->from)) == NULL)
		return -TALLY_ENOMEM;
	const char *param = t->param;
	const struct d_params p = { .name = &param, .arg = &arg, .n = 1 };
	struct d_node *c = node_clone(u, m->expr, &p);
	if (c == NULL || (c = node_as(u, c, as)) == NULL)
		return -TALLY_ENOMEM;
	*np = c;
	return bind_copy(u, NULL, c, n->line);
}

int xlate_member(struct d_unit *u, struct d_node **np)
{
	const char *outer = u->used;
	if (outer == NULL)
		u->used = (*np)->str;
	int rc = xlate_unfold(u, np);
	u->expansions++;
	if (rc == 0)
		rc = cook(u, np);
	u->expansions--;
	u->used = outer;
	return rc;
}

/*
 * *np is the struct that a member is taken of. If it is a member of a translation, what it is made of takes its place:
 * so of curpsinfo->pr_start.tv_sec, where pr_start is a translation too, nothing but tv_sec is computed.
 */
int xlate_inner(struct d_unit *u, struct d_node **np)
{
	struct d_node *n = *np;
	int rc = n->kind == N_MEMBER ? xlate_inner(u, &n->a) : 0;
	if (rc < 0)
		return rc;
	const bool member =
		n->kind == N_MEMBER ? xlate_dereferenced(&n->a) : n->kind == N_ARROW && n->a->kind == N_XLATE;
	return member ? xlate_unfold(u, np) : 0;
}

int xlate_refuse_kept(struct d_unit *u, uint32_t line)
{
	return d_fail(
		u, line, D_UNSUPPORTED,
		"a translated pointer leads to no struct once it is kept: keep the struct (x = *pointer) or a member");
}

/* The translation of *p to a struct is that of p to a pointer. */
bool xlate_dereferenced(struct d_node **np)
{
	struct d_node *n = *np;
	if (n->kind == N_DEREF && n->a->kind == N_XLATE && n->a->ty_arg->kind == TY_PTR) {
		n->a->ty_arg = n->a->ty_arg->to;
		*np = n->a;
	}
	return (*np)->kind == N_XLATE;
}

/* ---- structs as a whole ---------------------------------------------------------- */

/* An array is no operand of D's =, but as a member it is copied: bytes of the same type, or text for an array of
 * char. */
static int whole_array(struct d_unit *u, struct d_node *n)
{
	int rc = cook(u, &n->a);
	if (rc < 0 || (rc = cook(u, &n->b)) < 0)
		return rc;
	n->type = n->a->type;
	if (types_same(n->type, n->b->type) && n->type->size == n->b->type->size && has_bytes(n->b))
		return 0;
	if (!ty_is_char_array(n->type) || !ty_is_strcompat(n->b->type))
		return d_fail(u, n->line, D_UNSUPPORTED,
			      "member %s of a translated struct is a computed array: take the other members", n->str);
	rc = to_string(u, &n->b);
	return rc < 0 ? rc : convert(u, &n->b, type_string(u, n->type->size));
}

/* to.name = translated.name */
static int whole_member(struct d_unit *u, const struct d_node *to, const struct d_node *translated, const char *name,
			struct d_node **ret)
{
	struct d_node *assign = node_new(u, N_ASSIGN, translated->line), *side[2];
	const struct d_node *of[2] = { to, translated };
	for (int i = 0; i < 2; i++) {
		side[i] = node_new(u, N_MEMBER, translated->line);
		if (assign == NULL || side[i] == NULL || (side[i]->a = node_clone(u, of[i], NULL)) == NULL)
			return -TALLY_ENOMEM;
		side[i]->str = name;
	}
	assign->a = side[0];
	assign->b = side[1];
	assign->str = name;
	*ret = assign;
	const struct d_type *t = type_of_member(u, to->type, name);
	return t != NULL && t->kind == TY_ARRAY ? whole_array(u, assign) : cook(u, ret);
}

/*
 * A struct as a whole is a variable of the firing, which is zero at first, and each member that has a conversion is
 * assigned to it. What is translated is computed once.
 */
static int xlate_whole(struct d_unit *u, struct d_node *x, const struct d_translator *t)
{
	uint32_t cap = 0;
	struct d_node *from = node_clone(u, x, NULL), *n = x->a;
	int rc = from == NULL ? -TALLY_ENOMEM : cook_value(u, &n);
	if (rc < 0)
		return rc;
	if (ty_is_scalar(n->type) && n->kind != N_INT && n->kind != N_BUILTIN) {
		if ((rc = assign_hidden(u, &n, &from->a)) < 0)
			return rc;
		if (D_PUSH(u, x->arg, x->narg, cap, n) < 0)
			return -TALLY_ENOMEM;
	}
	x->type = t->to;
	if ((x->a = var_hidden(u, t->to, x->line)) == NULL)
		return -TALLY_ENOMEM;
	for (const struct d_xmember *m = t->members; m != NULL; m = m->next)
		if ((rc = whole_member(u, x->a, from, m->name, &n)) < 0 || D_PUSH(u, x->arg, x->narg, cap, n) < 0)
			return rc < 0 ? rc : -TALLY_ENOMEM;
	return 0;
}

/*
 * As a value a translated pointer is the pointer that was translated.  It can be compared and printed; behind it there
 * is no struct of the type that it was translated to.
 */
int cook_xlate(struct d_unit *u, struct d_node **np)
{
	struct d_node *x = *np, *c;
	const struct d_translator *t;
	struct d_type *ptr;
	int rc = xlate_translator(u, x, &t);
	if (rc < 0)
		return rc;
	if (x->ty_arg->kind != TY_PTR)
		return xlate_whole(u, x, t);
	if ((ptr = type_new(u, TY_PTR)) == NULL)
		return -TALLY_ENOMEM;
	*ptr = *x->ty_arg;
	ptr->translated = true;
	if ((c = node_clone(u, x->a, NULL)) == NULL || (c = node_as(u, c, ptr)) == NULL)
		return -TALLY_ENOMEM;
	*np = c;
	return cook(u, np);
}

/* ---- libraries ---------------------------------------------------------------------------- */

static bool text_has_word(const char *text, size_t n, const char *word)
{
	const size_t len = strlen(word);
	for (const char *p = text, *end = text + n; (p = memmem(p, (size_t)(end - p), word, len)) != NULL; p++) {
		bool before = p > text && (isalnum((unsigned char)p[-1]) || p[-1] == '_');
		bool after = p + len < end && (isalnum((unsigned char)p[len]) || p[len] == '_');
		if (!before && !after)
			return true;
	}
	return false;
}

/* Parses library i, as if it stood in front of the program. */
static int library_parse(struct d_unit *u, uint32_t i, const struct d_library *l)
{
	struct d_src s = { .name = arena_strdup(&u->arena, l->name),
			   .text = arena_strndup(&u->arena, l->text, l->n),
			   .len = l->n,
			   .part = D_PART_NAME,
			   .is_library = true };
	const struct {
		uint32_t source, depth;
		bool in_library;
		const char *region, *header;
	} here = { u->cur_source, u->depth, u->in_library, u->region, u->header };
	void **at = map_at(&u->libraries, &i, sizeof(i));
	if (s.name == NULL || s.text == NULL || at == NULL || D_PUSH(u, u->src, u->nsrcs, u->capsrcs, s) < 0)
		return d_nomem(u);
	*at = u;
	u->in_library = true;
	u->region = NULL;
	int rc = parse_source(u, u->nsrcs - 1);
	if (rc < 0)
		return rc; /* the message is of the library */
	u->cur_source = here.source;
	u->depth = here.depth;
	u->in_library = here.in_library;
	u->region = here.region;
	u->header = here.header;
	return 0;
}

int library_need(struct d_unit *u, const char *word)
{
	struct d_library l;
	int rc = 0;
	for (uint32_t i = 0; u->env.dlibrary != NULL && rc == 0 && u->env.dlibrary(u->env.arg, i, &l); i++)
		if (map_get(&u->libraries, &i, sizeof(i)) == NULL && text_has_word(l.text, l.n, word))
			rc = library_parse(u, i, &l);
	return rc;
}

int libraries_of_user(struct d_unit *u)
{
	struct d_library l;
	int rc = 0;
	for (uint32_t i = 0; u->env.dlibrary != NULL && rc == 0 && u->env.dlibrary(u->env.arg, i, &l); i++)
		if (l.of_user && map_get(&u->libraries, &i, sizeof(i)) == NULL)
			rc = library_parse(u, i, &l);
	return rc;
}

int library_require(struct d_unit *u, const char *name, size_t n)
{
	struct d_library l;
	for (uint32_t i = 0; u->env.dlibrary != NULL && u->env.dlibrary(u->env.arg, i, &l); i++) {
		const char *slash = strrchr(l.name, '/'), *base = slash != NULL ? slash + 1 : l.name;
		if (strlen(base) != n || memcmp(base, name, n) != 0)
			continue;
		return map_get(&u->libraries, &i, sizeof(i)) != NULL ? 1 : library_parse(u, i, &l) < 0 ? -1 : 1;
	}
	return 0;
}
