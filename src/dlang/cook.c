/*
 * cook.c: the pass that gives every expression its type.
 *
 * Works bottom up and in place: cook() types a node, and may put another in its stead
 * (a constant for a sum of constants, a sum of offsets for a chain of members).
 * Where a value goes to something of another type, convert() puts an N_CAST between.
 * A variable that was never declared takes the type of what is first assigned to
 * it; reading it before that is an error.  Rules: C17 6.3 and 6.5; DTrace Guide,
 * "Types, Operators and Expressions".
 */
#include "dlang/decl_int.h"
#include "dlang/type_int.h"
#include "dlang/parse_int.h"

#include <string.h>

/* ---- places -------------------------------------------------------------- */

/* The N_VAR or N_DEREF that a chain of members and subscripts hangs on, or NULL: not a place. */
const struct d_node *place_root(const struct d_node *n)
{
	while (n->kind == N_MEMBER || n->kind == N_INDEX)
		n = n->a;
	return n->kind == N_VAR || n->kind == N_DEREF ? n : NULL;
}

bool has_bytes(const struct d_node *n)
{
	return place_root(n) != NULL || n->kind == N_XLATE;
}

bool in_string(const struct d_node *n)
{
	return n->kind == N_INDEX && n->a->type->kind == TY_STRING;
}

static bool in_memory(const struct d_node *n)
{
	const struct d_node *r = place_root(n);
	return r != NULL && r->kind == N_DEREF;
}

/* An array becomes a pointer to its first element. */
int decay(struct d_unit *u, struct d_node **np)
{
	struct d_node *n = *np;
	if (n->type->kind != TY_ARRAY || place_root(n) == NULL)
		return 0;
	struct d_node *p = node_new(u, N_ADDR, n->line);
	if (p == NULL || (p->type = type_ptr(u, n->type->to)) == NULL)
		return -TALLY_ENOMEM;
	p->a = n;
	*np = p;
	return 0;
}

/* ---- conversions --------------------------------------------------------- */

int fold_int(struct d_unit *u, struct d_node **np, int64_t v)
{
	struct d_node *n = node_int(u, (*np)->line, (*np)->type, v);
	if (n == NULL)
		return -TALLY_ENOMEM;
	*np = n;
	return 0;
}

static int cook_cast_node(struct d_unit *u, struct d_node **np, const struct d_type *to)
{
	struct d_node *n = node_new(u, N_CAST, (*np)->line);
	if (n == NULL)
		return -TALLY_ENOMEM;
	n->a = *np;
	n->type = to;
	*np = n;
	return 0;
}

/* To a type that the caller knows to be possible. */
int convert(struct d_unit *u, struct d_node **np, const struct d_type *to)
{
	struct d_node *n = *np;
	if (types_same(n->type, to) && n->type->size == to->size)
		return 0;
	if (n->kind == N_INT && ty_is_scalar(to)) {
		n->ival = type_extend(to, (uint64_t)n->ival);
		n->type = to;
		return 0;
	}
	const bool null = n->kind == N_INT && n->type->kind == TY_STRING;
	if (to->kind == TY_STRING && (n->kind == N_STR || n->kind == N_STRBUILTIN || null)) {
		n->type = to; /* these can be made in any size */
		if (n->kind == N_STR && n->len >= to->size)
			n->len = to->size - 1;
		return 0;
	}
	return cook_cast_node(u, np, to);
}

int to_string(struct d_unit *u, struct d_node **np)
{
	struct d_node *n = *np;
	uint64_t bound = u->strsize;
	if (n->type->kind == TY_STRING)
		return 0;
	if (n->type->kind == TY_ARRAY && n->type->n + 1ull < bound)
		bound = n->type->n + 1ull;
	if (n->type->kind == TY_ARRAY && place_root(n) == NULL)
		return d_fail(u, n->line, D_UNSUPPORTED, "computed arrays are not supported yet");
	const struct d_type *t = type_string(u, bound);
	if (t == NULL)
		return -TALLY_ENOMEM;
	if (ty_is_int(n->type) && convert(u, np, u->base[B_ULONG]) < 0)
		return -TALLY_ENOMEM;
	return cook_cast_node(u, np, t);
}

static bool is_null(const struct d_node *n)
{
	return n->kind == N_INT && n->ival == 0;
}

int null_string(struct d_unit *u, struct d_node **np)
{
	const struct d_type *t = type_string(u, 1);
	struct d_node *n = t != NULL ? node_int(u, (*np)->line, t, 0) : NULL;
	if (n == NULL)
		return -TALLY_ENOMEM;
	*np = n;
	return 0;
}

bool is_null_pointer(const struct d_node *n)
{
	return n->kind == N_INT && n->type->kind == TY_PTR && n->ival == 0;
}

/* Whether a string may be NULL when the program runs. */
bool string_nullable(const struct d_node *n)
{
	const struct d_node *root;
	switch (n->kind) {
	case N_INT:
		return true;
	case N_CALL:
		return n->call == CALL_strtok || n->call == CALL_strchr || n->call == CALL_strrchr ||
		       n->call == CALL_strstr;
	case N_VAR:
		return n->sym->nullable || n->sym->kind == SYM_SELF || n->sym->kind == SYM_ASSOC;
	case N_MEMBER:
	case N_INDEX: /* an element or member that was never assigned is "" */
		root = place_root(n);
		return root != NULL && root->kind == N_VAR && root->sym->nullable;
	case N_CAST:
		return n->a->type->kind == TY_STRING && string_nullable(n->a);
	case N_COND:
		return string_nullable(n->b) || string_nullable(n->c);
	case N_COMMA:
	case N_ASSIGN:
		return string_nullable(n->b);
	default:
		return false;
	}
}

/* What may be assigned, passed or used as a key where `to` is wanted ("dt_node_is_argcompat"). */
bool assignable(const struct d_type *to, const struct d_node *from)
{
	const struct d_type *t = from->type;
	if (ty_is_int(to))
		return ty_is_int(t);
	if (to->kind == TY_STRING)
		return ty_is_strcompat(t);
	if (to->kind == TY_PTR)
		return ptr_compatible(to, t) || is_null(from);
	return types_same(to, t);
}

/* ---- members ------------------------------------------------------------- */

/* Through at most so many anonymous structs and unions: sources are hostile, and each level is a call. */
#define ANONYMOUS_MOST 32u

static const struct d_member *member_find_below(struct d_unit *u, const struct d_type *t, const char *name,
						uint32_t *offset, unsigned depth)
{
	if (type_complete(u, t) < 0)
		return NULL;
	for (const struct d_member *m = t->members; m != NULL; m = m->next) {
		const struct d_member *in;
		uint32_t base = *offset;
		if (m->name[0] != '\0' && strcmp(m->name, name) == 0) {
			*offset += m->offset;
			return m;
		}
		if (m->name[0] != '\0' || !ty_is_sou(m->type) || depth == 0)
			continue;
		*offset += m->offset;
		if ((in = member_find_below(u, m->type, name, offset, depth - 1)) != NULL)
			return in;
		*offset = base;
	}
	return NULL;
}

/* The member of that name, and the offset at which it is. NULL: there is none. */
static const struct d_member *member_find(struct d_unit *u, const struct d_type *t, const char *name, uint32_t *offset)
{
	*offset = 0;
	return member_find_below(u, t, name, offset, ANONYMOUS_MOST);
}

bool member_offset(struct d_unit *u, const struct d_type *sou, const char *name, uint32_t *ret)
{
	return member_find(u, sou, name, ret) != NULL;
}

const struct d_type *type_of_member(struct d_unit *u, const struct d_type *sou, const char *name)
{
	uint32_t offset;
	const struct d_member *m = member_find(u, sou, name, &offset);
	return m != NULL ? m->type : NULL;
}

static int cook_refuse_member(struct d_unit *u, const struct d_node *n, const struct d_type *t, bool arrow)
{
	if (t->incomplete)
		return d_fail(u, n->line, D_OP_INCOMPLETE,
			      "operator %s cannot be applied to a forward declaration: no %s "
			      "definition is available%s",
			      arrow ? "->" : ".", type_name(u, t), near_type(u, t));
	if (arrow)
		return d_fail(u, n->line, D_OP_SOU,
			      "operator -> cannot be applied to pointer to type \"%s\"; must be "
			      "applied to a struct or union pointer",
			      type_name(u, t));
	return d_fail(u, n->line, D_OP_SOU,
		      "operator . cannot be applied to type \"%s\"; must be applied to a struct "
		      "or union",
		      type_name(u, t));
}

/* n is N_MEMBER over the place n->a, whose type is known. */
static int cook_member(struct d_unit *u, struct d_node *n, bool arrow)
{
	const struct d_type *t = n->a->type;
	uint32_t offset;
	int rc = type_complete(u, t);
	if (rc < 0)
		return rc;
	if (!ty_is_sou(t) || t->incomplete)
		return cook_refuse_member(u, n, t, arrow);
	const struct d_member *m = member_find(u, t, n->str, &offset);
	if (u->arena.failed)
		return d_nomem(u);
	if (m == NULL)
		return d_fail(u, n->line, D_TYPE_MEMBER, "%s is not a member of %s%s", n->str, type_name(u, t),
			      near_member(u, t, n->str));
	if (place_root(n->a) == NULL)
		return d_fail(u, n->line, D_UNSUPPORTED, "members of a computed struct are not supported yet");
	const struct d_node *root = place_root(n->a);
	/* What a process keeps is an address of its own. */
	const bool user = root->kind == N_DEREF && root->a->type->user;
	n->type = user ? type_of_user(u, m->type) : m->type;
	if (n->type == NULL)
		return d_nomem(u);
	n->offset = offset;
	n->bit = m->bit;
	n->bits = m->bits;
	n->unit = m->unit;
	if (n->a->kind == N_MEMBER) {
		n->offset += n->a->offset;
		n->a = n->a->a;
	}
	return 0;
}

static int cook_arrow(struct d_unit *u, struct d_node *n)
{
	int rc = cook_value(u, &n->a);
	if (rc < 0 || (rc = decay(u, &n->a)) < 0)
		return rc;
	if (n->a->type->kind != TY_PTR)
		return d_fail(u, n->line, D_OP_PTR, "operator -> must be applied to a pointer");
	if (n->a->type->translated)
		return xlate_refuse_kept(u, n->line);
	struct d_node *d = node_new(u, N_DEREF, n->line);
	if (d == NULL)
		return -TALLY_ENOMEM;
	d->a = n->a;
	d->type = n->a->type->to;
	n->kind = N_MEMBER;
	n->a = d;
	return cook_member(u, n, true);
}

/* ---- subscripts, * and & ------------------------------------------------- */

static int deref_check(struct d_unit *u, const struct d_node *n, const struct d_type *t)
{
	if (t->kind == TY_PTR && type_complete(u, t->to) < 0)
		return -TALLY_ENOMEM;
	if (t->kind != TY_PTR)
		return d_fail(u, n->line, D_DEREF_NONPTR, "cannot dereference non-pointer type");
	if (t->translated)
		return xlate_refuse_kept(u, n->line);
	if (t->to->kind == TY_VOID)
		return d_fail(u, n->line, D_DEREF_VOID, "cannot dereference pointer to void");
	if (t->to->kind == TY_FUNC)
		return d_fail(u, n->line, D_DEREF_FUNC, "cannot dereference pointer to function");
	if (t->to->incomplete || t->to->size == 0)
		return d_fail(u, n->line, D_OP_INCOMPLETE,
			      "operator * cannot be applied to a forward declaration: no %s "
			      "definition is available%s",
			      type_name(u, t->to), near_type(u, t->to));
	return 0;
}

/* A byte of a string. */
static int index_string(struct d_unit *u, struct d_node *n, struct d_node *i)
{
	const struct d_node *root = place_root(n->a);
	if (i->kind != N_INT && root != NULL && root->kind == N_VAR)
		root->sym->indexed = true;
	n->type = u->base[B_CHAR];
	n->b = i;
	return convert(u, &n->b, u->base[i->type->is_signed ? B_LONG : B_ULONG]);
}

static int cook_deref(struct d_unit *u, struct d_node **np)
{
	struct d_node *n = *np;
	int rc = cook_value(u, &n->a);
	if (rc == 0 && n->a->type->kind == TY_STRING) {
		struct d_node *first = node_int(u, n->line, u->base[B_LONG], 0);
		n->kind = N_INDEX;
		return first == NULL ? -TALLY_ENOMEM : index_string(u, n, first);
	}
	if (rc < 0 || (rc = decay(u, &n->a)) < 0 || (rc = deref_check(u, n, n->a->type)) < 0)
		return rc;
	n->type = n->a->type->to;
	if (n->a->kind == N_ADDR && types_same(n->a->a->type, n->type))
		*np = n->a->a;
	return 0;
}

static int cook_addr(struct d_unit *u, struct d_node **np)
{
	struct d_node *n = *np;
	if (n->a->kind == N_AGG)
		return d_fail(u, n->line, D_ADDROF_VAR, "cannot take address of dynamic variable");
	int rc = cook(u, &n->a);
	if (rc < 0)
		return rc;
	const struct d_node *r = place_root(n->a);
	if (n->a->kind == N_BUILTIN || n->a->kind == N_STRBUILTIN || n->a->kind == N_VAR)
		return d_fail(u, n->line, D_ADDROF_VAR, "cannot take address of dynamic variable");
	if (r == NULL || in_string(n->a))
		return d_fail(u, n->line, D_ADDROF_LVAL, "unacceptable operand for unary & operator");
	if (n->a->kind == N_MEMBER && n->a->bits != 0)
		return d_fail(u, n->line, D_ADDROF_BITFIELD, "cannot take address of bit-field");
	n->type = type_ptr(u, n->a->type);
	if (n->a->kind == N_DEREF) {
		*np = n->a->a; /* &*p */
		return 0;
	}
	return n->type == NULL ? -TALLY_ENOMEM : 0;
}

/* p[i]: *(p + i) */
static int index_pointer(struct d_unit *u, struct d_node *n)
{
	struct d_node *sum = node_new(u, N_BIN, n->line);
	if (sum == NULL)
		return -TALLY_ENOMEM;
	int rc = deref_check(u, n, n->a->type);
	if (rc < 0)
		return rc;
	sum->op = OP_ADD;
	sum->a = n->a;
	sum->b = n->arg[0];
	n->kind = N_DEREF;
	n->type = n->a->type->to;
	n->a = sum;
	return type_sum(u, &n->a);
}

static int index_array(struct d_unit *u, struct d_node *n)
{
	const struct d_type *t = n->a->type;
	struct d_node *i = n->arg[0];
	bool object = !in_memory(n->a);
	n->type = t->to;
	if (i->kind == N_INT && (t->n != 0 || object)) {
		if (i->ival < 0 || i->ival >= t->n)
			return d_fail(u, n->line, D_ARR_BOUNDS, "index outside array bounds: %lld, max %u",
				      (long long)i->ival, t->n - 1);
		n->kind = N_MEMBER;
		n->offset = (uint32_t)i->ival * t->to->size;
		if (n->a->kind == N_MEMBER) {
			n->offset += n->a->offset;
			n->a = n->a->a;
		}
		return 0;
	}
	if (object)
		place_root(n->a)->sym->indexed = true;
	n->b = i;
	return convert(u, &n->b, u->base[i->type->is_signed ? B_LONG : B_ULONG]);
}

static int cook_index(struct d_unit *u, struct d_node *n)
{
	int rc = cook(u, &n->a);
	if (rc < 0 || (rc = cook_value(u, &n->arg[0])) < 0)
		return rc;
	const uint8_t kind = n->a->type->kind;
	if (n->narg > 1 || (kind != TY_ARRAY && kind != TY_PTR && kind != TY_STRING))
		return d_fail(u, n->line, D_ARR_BADREF, "cannot access %s as an associative array",
			      n->str != NULL ? n->str : "expression");
	if (!ty_is_int(n->arg[0]->type))
		return d_fail(u, n->line, D_OP_INT, "operator [ ] requires an operand of integral type");
	if (kind == TY_PTR)
		rc = index_pointer(u, n);
	else if (kind == TY_STRING)
		rc = index_string(u, n, n->arg[0]);
	else if (place_root(n->a) != NULL)
		rc = index_array(u, n);
	else
		rc = d_fail(u, n->line, D_UNSUPPORTED, "subscripts of a computed array are not supported yet");
	n->narg = 0;
	n->arg = NULL;
	return rc;
}

static int cook_cast(struct d_unit *u, struct d_node **np);

/* ---- args[] --------------------------------------------------------------- */

/* A pointer to the struct that a describes: made once, since structs are the same by identity. */
static const struct d_type *args_type(struct d_unit *u, const struct d_args *a)
{
	for (uint32_t i = 0; i < u->nargtypes; i++)
		if (u->argtype[i].args == a)
			return u->argtype[i].ptr;
	struct d_type *t = type_new(u, TY_STRUCT);
	struct d_argtype row = { a, t != NULL ? type_ptr(u, t) : NULL };
	if (row.ptr == NULL || D_PUSH(u, u->argtype, u->nargtypes, u->capargtypes, row) < 0)
		return NULL;
	t->name = a->name;
	t->size = a->size;
	t->align = 8;
	for (uint32_t i = a->nfields; i-- > 0;) {
		const struct d_field *f = &a->field[i];
		struct d_member *m = arena_alloc(&u->arena, sizeof(*m));
		if (m == NULL)
			return NULL;
		m->name = f->name;
		m->offset = f->offset;
		m->type = strcmp(f->type, "string") == 0 ? type_string(u, f->size) : type_named(u, f->type);
		if (m->type == NULL)
			return NULL;
		m->next = t->members;
		t->members = m;
	}
	return row.ptr;
}

const struct d_args d_args_any = { .name = "" };

bool args_are_same(const struct d_args *a, const struct d_args *b)
{
	return a == b || (a && b && a->text && b->text && !strcmp(a->text, b->text) && !strcmp(a->value, b->value));
}

int args_of_clause(struct d_unit *u, const struct d_node *n, int64_t index, const struct d_args **ret)
{
	const struct d_clausenode *c = u->cur_clause;
	const struct d_args *a = NULL;
	bool known = false;
	if (c == NULL)
		return d_fail(
			u, n->line, D_ARGS_NONE,
			"args[ ] may not be referenced in a definition, which has no probe: pass args[%lld] to it",
			(long long)index);
	const struct d_probedesc *d = &c->descs->d;
	for (uint32_t i = 0; i < c->nprobes; i++) {
		const struct d_args *p = NULL;
		if (u->env.args != NULL && index >= 0 && index <= INT32_MAX)
			p = u->env.args(u->env.arg, c->probes[i], (uint32_t)index);
		if (p == &d_args_any)
			continue;
		if (known && !args_are_same(p, a))
			return d_fail(u, n->line, D_ARGS_MULTI,
				      "args[ ] may not be referenced because probe description "
				      "%s:%s:%s:%s matches an unstable set of probes",
				      d->prov, d->mod, d->func, d->name);
		a = p;
		known = true;
	}
	if (a == NULL)
		return d_fail(u, n->line, D_ARGS_IDX, "index %lld is out of range for %s:%s:%s:%s args[ ]",
			      (long long)index, d->prov, d->mod, d->func, d->name);
	*ret = a;
	if (index < 32)
		u->cur_clause->args_used |= UINT32_C(1) << index;
	return 0;
}

/* "struct stat *", "unsigned int", "pid_t": a pointer leads into the process. NULL: no memory, or no such type. */
static const struct d_type *args_value_type(struct d_unit *u, const char *text)
{
	static const struct {
		const char *name;
		uint8_t base;
	} words[] = { { "int", B_INT },   { "unsigned int", B_UINT },   { "char", B_CHAR },
		      { "long", B_LONG }, { "unsigned long", B_ULONG }, { "void", B_VOID } };
	const size_t n = strcspn(text, "*") - (strchr(text, '*') != NULL);
	const char *name = arena_strndup(&u->arena, text, n);
	const struct d_type *t = NULL;
	for (size_t i = 0; name != NULL && i < COUNT(words); i++)
		if (strcmp(name, words[i].name) == 0)
			t = u->base[words[i].base];
	if (name != NULL && strncmp(name, "struct ", 7) == 0)
		t = type_tagged(u, TY_STRUCT, name + 7);
	else if (name != NULL && strncmp(name, "union ", 6) == 0)
		t = type_tagged(u, TY_UNION, name + 6);
	else if (name != NULL && t == NULL && (t = type_named(u, name)) == NULL)
		t = ktype_named(u, NULL, name);
	if (t == NULL)
		t = u->base[text[n] != '\0' ? B_VOID : B_LONG];
	for (const char *star = text + n; t != NULL && (star = strchr(star, '*')) != NULL; star++) {
		struct d_type *p = type_new(u, TY_PTR);
		if (p == NULL)
			return NULL;
		p->to = t;
		p->size = p->align = 8;
		p->user = true;
		t = p;
	}
	return t;
}

/* args[i] that is a value: argN as its type. */
static int cook_args_value(struct d_unit *u, struct d_node **np, const struct d_args *a)
{
	struct d_node *n = *np, *arg = node_new(u, N_BUILTIN, n->line);
	if (arg == NULL)
		return -TALLY_ENOMEM;
	arg->ival = BI_ARG0 + a->arg;
	arg->type = u->base[B_LONG];
	n->kind = N_CAST;
	n->a = arg;
	n->b = NULL;
	n->implied = true;
	n->type = a->ktype != 0 ? ktype_import(u, a->ktype, 0) : args_value_type(u, a->value);
	return n->type == NULL ? d_nomem(u) : cook_cast(u, np);
}

static int cook_args(struct d_unit *u, struct d_node **np)
{
	struct d_node *n = *np;
	const struct d_args *a = NULL;
	int rc = cook_value(u, &n->b);
	if (rc < 0)
		return rc;
	if (n->b->kind != N_INT)
		return d_fail(u, n->line, D_PROTO_ARG,
			      "args[ ] argument #1 is incompatible with prototype: integer constant "
			      "expected");
	if ((rc = defined_expand(u, n, n->b->ival)) != 0)
		return rc < 0 ? rc : cook(u, np);
	if ((rc = args_of_clause(u, n, n->b->ival, &a)) < 0)
		return rc;
	if (a->value != NULL)
		return cook_args_value(u, np, a);
	struct d_clausenode *c = u->cur_clause;
	if (a->base + a->size > c->args_bytes)
		c->args_bytes = a->base + a->size;
	n->offset = a->base;
	n->b = NULL;
	n->type = args_type(u, a);
	return n->type == NULL ? d_nomem(u) : 0;
}

/* ---- sizeof, offsetof ---------------------------------------------------- */

static int cook_sizeof(struct d_unit *u, struct d_node **np)
{
	struct d_node *n = *np;
	const struct d_type *t = n->ty_arg;
	if (n->a != NULL) {
		int rc = cook(u, &n->a);
		if (rc < 0)
			return rc;
		if (n->a->kind == N_MEMBER && n->a->bits != 0)
			return d_fail(u, n->line, D_SIZEOF_BITFIELD, "cannot apply sizeof to a bit-field");
		t = n->a->type;
		if (n->a->kind == N_STR || (n->a->kind == N_INT && n->a->str != NULL)) { /* "text" and NULL */
			int64_t size = n->a->kind == N_STR ? n->a->len + 1 : 4;
			n->type = type_named(u, "size_t");
			return fold_int(u, np, size);
		}
	}
	if (t->incomplete && type_complete(u, t) < 0)
		return -TALLY_ENOMEM;
	if (t->size == 0 && t->incomplete && u->why != NULL)
		err_set(u->why, TALLY_ESYNTAX, "no %s definition is available", type_name(u, t));
	if (t->size == 0)
		return d_fail(u, n->line, D_SIZEOF_TYPE, "cannot apply sizeof to an operand of unknown size%s",
			      near_type(u, t));
	n->type = type_named(u, "size_t");
	return fold_int(u, np, t->kind == TY_STRING && t->size == u->strsize ? u->strmost : t->size);
}

static int cook_offsetof(struct d_unit *u, struct d_node **np)
{
	struct d_node *n = *np;
	uint32_t offset;
	if (type_complete(u, n->ty_arg) < 0)
		return -TALLY_ENOMEM;
	if (!ty_is_sou(n->ty_arg) || n->ty_arg->incomplete)
		return d_fail(u, n->line, D_OFFSETOF_TYPE, "offsetof operand must be of struct or union type, not %s%s",
			      type_name(u, n->ty_arg), near_type(u, n->ty_arg));
	const struct d_member *m = member_find(u, n->ty_arg, n->str, &offset);
	if (m == NULL)
		return d_fail(u, n->line, D_UNKNOWN, "failed to determine offset of %s: Member name not found%s",
			      n->str, near_member(u, n->ty_arg, n->str));
	if (m->bits != 0)
		return d_fail(u, n->line, D_OFFSETOF_BITFIELD, "cannot take offset of a bit-field: %s", n->str);
	n->type = type_named(u, "size_t");
	return fold_int(u, np, offset);
}

/* ---- casts --------------------------------------------------------------- */

static int cast_to_string(struct d_unit *u, struct d_node **np)
{
	struct d_node *n = *np, *a = n->a;
	if (!ty_is_scalar(a->type) && !ty_is_strcompat(a->type)) {
		if (n->str != NULL && n->key == 0)
			return d_fail(u, n->line, D_STRINGOF_TYPE, "cannot apply stringof to a value of type %s",
				      type_name(u, a->type));
		return d_fail(u, n->line, D_CAST_INVAL, "invalid cast expression: \"%s\" to \"string\"",
			      type_name(u, a->type));
	}
	*np = a;
	return to_string(u, np);
}

/* A string stays one where an inline has a char *: nothing of it lies in memory. */
static bool is_text_argument(const struct d_node *n)
{
	return n->key != 0 && n->type->kind == TY_PTR && ty_is_strcompat(n->type) && n->a->type->kind == TY_STRING;
}

/* The argument of an inline, as a key of an associative array. */
static int cook_inline_argument(struct d_unit *u, struct d_node *n)
{
	int rc = ty_is_char_array(n->a->type) ? to_string(u, &n->a) : decay(u, &n->a);
	if (rc < 0)
		return rc;
	if (n->constant && n->a->kind != N_INT)
		return d_fail(u, n->line, D_PROTO_ARG,
			      "%s[ ] argument #1 is incompatible with prototype:\n\tprototype: integer constant\n"
			      "\t argument: %s",
			      n->str, type_name(u, n->a->type));
	if (n->constant && (uint64_t)n->a->ival >= builtin_elements(n->str))
		return d_fail(u, n->line, D_REGS_IDX, "index %lld is out of range for array %s", (long long)n->a->ival,
			      n->str);
	if (!types_same(n->type, n->a->type) && !assignable(n->type, n->a) && !is_text_argument(n))
		return d_fail(u, n->line, D_PROTO_ARG,
			      "%s[ ] key #%u is incompatible with prototype:\n\tprototype: %s\n\t      key: %s", n->str,
			      n->key, type_name(u, n->type), type_name(u, n->a->type));
	return 0;
}

static int cook_cast(struct d_unit *u, struct d_node **np)
{
	struct d_node *n = *np;
	if (n->str != NULL && n->key == 0 && call_is_void(n->a))
		return d_fail(u, n->line, D_STRINGOF_TYPE, "cannot apply stringof to a value of type void");
	if (ty_is_sou(n->type) && call_is_void(n->a))
		return d_fail(u, n->line, D_CAST_INVAL, "invalid cast expression: \"void\" to \"%s\"",
			      type_name(u, n->type));
	int rc = cook_value(u, &n->a);
	if (rc < 0)
		return rc;
	if (n->key != 0 && (rc = cook_inline_argument(u, n)) < 0)
		return rc;
	if (is_text_argument(n)) {
		*np = n->a;
		return 0;
	}
	if (n->type->kind == TY_STRING)
		return cast_to_string(u, np);
	if (n->type->kind == TY_VOID)
		return 0;
	if ((rc = decay(u, &n->a)) < 0)
		return rc;
	const struct d_type *to = n->type;
	if (to->kind == TY_ENUM && (rc = type_complete(u, to)) < 0)
		return rc;
	if (to->kind == TY_ENUM && to->size == 0)
		return d_fail(u, n->line, D_CAST_INVAL, "invalid cast expression: \"%s\" is incomplete%s",
			      type_name(u, to), near_type(u, to));
	bool same = types_same(to, n->a->type) && to->kind != TY_FLOAT;
	if (same && n->implied && bit_field_width(n->a) == 0) {
		*np = n->a;
		return 0;
	}
	if (!same && !(ty_is_scalar(to) && ty_is_scalar(n->a->type)))
		return d_fail(u, n->line, D_CAST_INVAL, "invalid cast expression: \"%s\" to \"%s\"",
			      type_name(u, n->a->type), type_name(u, to));
	if (n->a->kind == N_INT) {
		*np = n->a;
		return convert(u, np, to);
	}
	if (same && !ty_is_scalar(to))
		*np = n->a;
	return 0;
}

/* ---- unary operators and ?: ---------------------------------------------- */

static int cook_unary(struct d_unit *u, struct d_node **np)
{
	struct d_node *n = *np;
	bool action = n->a->kind == N_CALL && d_calls[n->a->call].cls != CC_SUBR;
	if (action)
		n->a->type = u->base[B_VOID];
	int rc = action ? 0 : cook_value(u, &n->a);
	if (rc < 0)
		return rc;
	if (n->op == UN_LNOT) {
		if (!ty_is_scalar(n->a->type))
			return d_fail(u, n->line, D_OP_SCALAR, "operator ! requires an operand of scalar type");
		n->type = u->base[B_INT];
		return n->a->kind == N_INT ? fold_int(u, np, n->a->ival == 0) : 0;
	}
	if (!ty_is_int(n->a->type))
		return n->op == UN_NOT ?
			       d_fail(u, n->line, D_OP_INT, "operator ~ requires an operand of integral type") :
			       d_fail(u, n->line, D_OP_ARITH, "operator %s requires an operand of arithmetic type",
				      op_text(n));
	n->type = type_promote(u, n->a);
	if ((rc = convert(u, &n->a, n->type)) < 0)
		return rc;
	if (n->a->kind == N_INT)
		return fold_int(u, np,
				n->op == OP_PLUS ? n->a->ival :
						   type_extend(n->type, n->op == UN_NEG ? 0 - (uint64_t)n->a->ival :
											  ~(uint64_t)n->a->ival));
	if (n->op == OP_PLUS)
		*np = n->a;
	return 0;
}

/* The type that both arms of ?: come to, NULL if there is none or memory is out. */
static const struct d_type *cond_type(struct d_unit *u, struct d_node *n)
{
	const struct d_type *b = n->b->type, *c = n->c->type;
	if (ty_is_int(b) && ty_is_int(c))
		return b == c && b->kind == TY_ENUM ? b : type_common(u, n->b, n->c);
	if (b->kind == TY_STRING && is_null_pointer(n->c) && null_string(u, &n->c) == 0)
		return b;
	if (c->kind == TY_STRING && is_null_pointer(n->b) && null_string(u, &n->b) == 0)
		return c;
	if ((b->kind == TY_STRING || c->kind == TY_STRING) && ty_is_strcompat(b) && ty_is_strcompat(c)) {
		if (to_string(u, &n->b) < 0 || to_string(u, &n->c) < 0)
			return NULL;
		return n->b->type->size >= n->c->type->size ? n->b->type : n->c->type;
	}
	if (b->kind == TY_VOID && c->kind == TY_VOID)
		return b;
	if (b->kind == TY_PTR && (is_null(n->c) || ptr_compatible(b, c)))
		return c->kind == TY_PTR && b->to->kind == TY_VOID ? c : b;
	return c->kind == TY_PTR && is_null(n->b) ? c : NULL;
}

static int cook_cond(struct d_unit *u, struct d_node **np)
{
	struct d_node *n = *np;
	int rc;
	if (bind_is_action(n->b) || bind_is_action(n->c))
		return d_fail(u, n->line, D_OP_ACT, "action cannot be used in a conditional context");
	if ((rc = cook_value(u, &n->a)) < 0 || (rc = cook_value(u, &n->b)) < 0 || (rc = cook_value(u, &n->c)) < 0)
		return rc;
	if (!ty_is_scalar(n->a->type))
		return d_fail(u, n->line, D_OP_SCALAR, "operator ?: expression must be of scalar type");
	n->type = cond_type(u, n);
	if (u->arena.failed)
		return d_nomem(u);
	if (n->type == NULL)
		return d_fail(u, n->line, D_OP_INCOMPAT, "operator ?: operands must have compatible types");
	if ((rc = convert(u, &n->b, n->type)) < 0 || (rc = convert(u, &n->c, n->type)) < 0)
		return rc;
	if (n->a->kind != N_INT)
		return 0;
	*np = n->a->ival != 0 ? n->b : n->c;
	/* A bit-field would be promoted again: a cast keeps the type that it has here. */
	return bit_field_width(*np) != 0 ? cook_cast_node(u, np, n->type) : 0;
}

/* ---- why operands do not fit --------------------------------------------- */

void cook_tell_leaf(struct d_unit *u, const struct d_node *n)
{
	if (n == NULL || n->written == NULL || u->why == NULL || u->env.no_advice)
		return;
	if (n->kind == N_INT && *n->written == '\'')
		err_set(u->why, TALLY_ESYNTAX,
			"%.60s is a character constant, which is an integer: a string stands "
			"between double quotes",
			n->written);
	else if (n->kind == N_STR && n->written[1] == '$')
		err_set(u->why, TALLY_ESYNTAX, "%s is a string, whatever its text: %s is an integer if its text is one",
			n->written, n->written + 1);
	else if (n->kind == N_STR)
		err_set(u->why, TALLY_ESYNTAX, "%s is \"%.60s\", which is no whole number: it is a string", n->written,
			n->str);
}

/* The innermost node that fails decides; those around it say nothing more. */
int cook_tell_operands(struct d_unit *u, const struct d_node *n, int rc)
{
	const struct d_node *const kid[] = { n->a, n->b, n->c };
	const bool fits = n->kind == N_BIN && n->a->type != NULL && n->b->type != NULL && ty_is_int(n->a->type) &&
			  ty_is_int(n->b->type);
	for (size_t i = 0; i < COUNT(kid) && !fits; i++)
		cook_tell_leaf(u, kid[i]);
	for (uint32_t i = 0; i < n->narg; i++)
		cook_tell_leaf(u, n->arg[i]);
	u->why = NULL;
	return rc;
}

/* ---- all of them --------------------------------------------------------- */

/* A literal too is cut to strsize, as any string is. */
static int cook_leaf_string(struct d_unit *u, struct d_node *n)
{
	if (n->len > u->strmost) {
		n->len = u->strmost;
		n->str = arena_strndup(&u->arena, n->str, n->len);
		if (n->str == NULL)
			return d_nomem(u);
	}
	n->type = type_string(u, n->len + 1ull);
	return n->type == NULL ? -TALLY_ENOMEM : 0;
}

static int cook_kind(struct d_unit *u, struct d_node **np)
{
	struct d_node *n = *np;
	int rc;
	switch (n->kind) {
	case N_INT:
	case N_BUILTIN:
	case N_STRBUILTIN:
		return 0;
	case N_ARGS:
		return cook_args(u, np);
	case N_STR:
		return cook_leaf_string(u, n);
	case N_VAR:
		return cook_var(u, n, false);
	case N_UN:
		return cook_unary(u, np);
	case N_BIN:
		return cook_operator(u, np);
	case N_ASSIGN:
		return cook_assign(u, np);
	case N_INCDEC:
		return cook_incdec(u, np);
	case N_COND:
		return cook_cond(u, np);
	case N_COMMA:
		if ((rc = cook_value(u, &n->a)) < 0 || (rc = cook_value(u, &n->b)) < 0)
			return rc;
		n->type = n->b->type;
		if (n->implied && (n->a->kind == N_INT || n->a->kind == N_STR))
			*np = n->b;
		return 0;
	case N_CAST:
		return cook_cast(u, np);
	case N_XLATE:
		return cook_xlate(u, np);
	case N_MEMBER:
		if ((rc = xlate_inner(u, &n->a)) < 0)
			return rc;
		if (xlate_dereferenced(&n->a))
			return xlate_member(u, np);
		return (rc = cook(u, &n->a)) < 0 ? rc : cook_member(u, n, false);
	case N_ARROW:
		return n->a->kind == N_XLATE ? xlate_member(u, np) : cook_arrow(u, n);
	case N_DEREF:
		return xlate_dereferenced(np) ? cook_xlate(u, np) : cook_deref(u, np);
	case N_ADDR:
		return cook_addr(u, np);
	case N_INDEX:
		return cook_index(u, n);
	case N_SIZEOF:
		return cook_sizeof(u, np);
	case N_OFFSETOF:
		return cook_offsetof(u, np);
	case N_CALL:
		return cook_call(u, np);
	case N_AGG:
		return d_fail(u, n->line, D_CG_DYN, "expression cannot evaluate to result of dynamic type: @%s",
			      n->str);
	default:
		return d_fail(u, n->line, D_UNSUPPORTED, "this expression is not supported yet");
	}
}

int cook(struct d_unit *u, struct d_node **np)
{
	const struct d_node *n = *np;
	int rc = cook_kind(u, np);
	return rc < 0 ? cook_tell_operands(u, n, rc) : 0;
}

/* An operand: what has a value now or (an array) can be turned into one. */
int cook_value(struct d_unit *u, struct d_node **np)
{
	int rc = cook(u, np);
	if (rc == 0 && (*np)->type->kind == TY_ARRAY && !ty_is_char_array((*np)->type))
		rc = decay(u, np);
	return rc;
}

/* ---- clauses -------------------------------------------------------------- */

/* Whether n assigns a variable that has no type yet; `only`: that variable. */
static bool assigns_untyped(const struct d_node *n, const struct d_sym *only)
{
	const bool left = (n->kind == N_ASSIGN || n->kind == N_INCDEC) && n->a->kind == N_VAR;
	const struct d_node *keyed = left ? n->a : n, *const kid[] = { left ? NULL : n->a, n->b, n->c };
	if (left && n->a->sym->type == NULL && (only == NULL || n->a->sym == only))
		return true;
	for (size_t i = 0; i < COUNT(kid); i++)
		if (kid[i] != NULL && assigns_untyped(kid[i], only))
			return true;
	for (uint32_t i = 0; i < keyed->narg; i++)
		if (assigns_untyped(keyed->arg[i], only))
			return true;
	return false;
}

/* Whether the predicate reads a variable, at n or below, that has no type yet and that it does not assign itself. */
static bool reads_untyped(const struct d_node *pred, const struct d_node *n)
{
	const bool left = (n->kind == N_ASSIGN || n->kind == N_INCDEC) && n->a->kind == N_VAR;
	const struct d_node *keyed = left ? n->a : n, *const kid[] = { left ? NULL : n->a, n->b, n->c };
	if (n->kind == N_VAR && n->sym->type == NULL && !assigns_untyped(pred, n->sym))
		return true;
	for (size_t i = 0; i < COUNT(kid); i++)
		if (kid[i] != NULL && reads_untyped(pred, kid[i]))
			return true;
	for (uint32_t i = 0; i < keyed->narg; i++)
		if (reads_untyped(pred, keyed->arg[i]))
			return true;
	return false;
}

static int cook_actions(struct d_unit *u, struct d_clausenode *c)
{
	u->region = "action list";
	return cook_statements(u, c->stmts);
}

static int cook_predicate(struct d_unit *u, struct d_clausenode *c)
{
	u->region = "predicate";
	u->header = c->header;
	int rc = cook_value(u, &c->pred);
	if (rc < 0 || (rc = decay(u, &c->pred)) < 0 || ty_is_scalar(c->pred->type))
		return rc;
	cook_tell_leaf(u, c->pred);
	return d_fail(u, c->pred->line, D_PRED_SCALAR, "predicate result must be of scalar type");
}

/* Actions come before their predicate, as in dtrace(1), unless it gives a variable its type and needs none from
 * them. */
static int cook_clause(struct d_unit *u, struct d_clausenode *c)
{
	u->cur_source = c->source;
	u->cur_clause = c;
	u->order = 0;
	bool first = c->pred != NULL && assigns_untyped(c->pred, NULL) && !reads_untyped(c->pred, c->pred);
	int rc = first ? cook_predicate(u, c) : cook_actions(u, c);
	if (rc == 0 && c->pred != NULL)
		rc = first ? cook_actions(u, c) : cook_predicate(u, c);
	u->region = NULL;
	u->header = NULL;
	return rc;
}

/* Clauses without probes (-Z) are checked like all others; then there is nothing to run them. */
static void drop_unprobed(struct d_unit *u)
{
	struct d_clausenode **at = &u->clauses;
	while (*at != NULL) {
		if ((*at)->nprobes == 0)
			*at = (*at)->next;
		else
			at = &(*at)->next;
	}
}

int d_type(struct d_unit *u)
{
	int rc = 0;
	for (struct d_clausenode *c = u->clauses; c != NULL && rc == 0; c = c->next)
		rc = cook_clause(u, c);
	if (rc == 0)
		rc = widen_keys(u);
	drop_unprobed(u);
	return rc;
}
