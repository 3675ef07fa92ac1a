/*
 * bind.c: the pass that gives names their meaning.
 *
 * Descriptions become probe ids; identifiers become variables, builtins or
 * constants; calls become rows of call.def; statements get their kind.  A variable
 * comes into being where it is first assigned (or indexed: then it is an associative
 * array), in the order of the source, actions before the predicate of their clause, as
 * in dtrace(1); but what the predicate assigns is known to the actions.  Types are not
 * looked at here.
 */
#include "dlang/decl_int.h"
#include "dlang/parse_int.h"
#include "dlang/type_int.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum builtin_class { BC_INT, BC_WORD, BC_STR, BC_ARRAY, BC_KERNEL, BC_LIBRARY, BC_LATER };
static const struct builtin {
	const char *name, *type;
	uint8_t cls, code;
} builtins[] = {
#define BUILTIN(name, class, type, code) { #name, type, BC_##class, code },
#include "dlang/builtin.def"
#undef BUILTIN
};

const struct d_callrow d_calls[CALL_N] = {
#define CALL(name, class, code, min, max, args, result) \
	[CALL_##name] = { #name, CC_##class, code, min, max, args, result },
#include "dlang/call.def"
#undef CALL
};

static const struct builtin *builtin_find(const char *name)
{
	for (size_t i = 0; i < COUNT(builtins); i++)
		if (strcmp(builtins[i].name, name) == 0)
			return &builtins[i];
	return NULL;
}

bool is_builtin(const char *name)
{
	return builtin_find(name) != NULL || strcmp(name, "NULL") == 0;
}

uint64_t builtin_elements(const char *name)
{
	const struct builtin *b = builtin_find(name);
	return b != NULL && b->cls == BC_LIBRARY ? strtoull(b->type, NULL, 10) : 0;
}

static enum d_call call_find(const char *name)
{
	for (unsigned i = 1; i < CALL_N; i++)
		if (strcmp(d_calls[i].name, name) == 0)
			return i;
	return CALL_NONE;
}

/* A script of DTrace's users may have an inline or a variable with a name of ours. */
bool call_is_of_dtrace(const char *name)
{
	const enum d_call c = call_find(name);
	return c != CALL_NONE && c != CALL_vcounter && c != CALL_uline && c != CALL___arguments;
}

/* ---- probes -------------------------------------------------------------- */

/* what env.probes() adds to */
struct match {
	struct d_unit *u;
	struct d_clausenode *c;
	struct map *seen; /* ids of this clause; the description that had them last */
	struct d_desc *d;
	uint32_t only; /* when a description is a number */
	uint32_t n;
	int rc;
};

static int add_probe(void *arg, uint32_t id)
{
	struct match *m = arg;
	if (m->only != 0 && m->only != id)
		return 0;
	m->n++;
	void **at = map_at(m->seen, &id, sizeof(id));
	if (at == NULL)
		return m->rc = d_nomem(m->u);
	if (*at == m->d)
		return 0;
	m->c->overlap |= *at != NULL;
	*at = m->d;
	return m->rc = D_PUSH(m->u, m->c->probes, m->c->nprobes, m->c->capprobes, id);
}

static int no_probe(struct d_unit *u, const struct d_desc *d, const struct err *reason)
{
	if (reason->code != 0 && reason->code != TALLY_ESYNTAX && u->why != NULL)
		*u->why = *reason;
	if (d->id != 0)
		return d_fail(u, d->line, D_PDESC_INVAL, "invalid probe identifier %u: Unknown probe identifier",
			      d->id);
	if (reason->code == TALLY_ESYNTAX) /* the description itself, not what is there */
		return d_fail(u, d->line, D_PROC_NAME, "%s", reason->text);
	return d_fail(u, d->line, u->env.refusal != NULL ? u->env.refusal(u->env.arg) : D_PDESC_ZERO,
		      "probe description %s:%s:%s:%s does not match any probes", d->d.prov, d->d.mod, d->d.func,
		      d->d.name);
}

static int bind_desc(struct d_unit *u, struct d_clausenode *c, struct d_desc *d, struct map *seen)
{
	struct match m = { .u = u, .c = c, .seen = seen, .d = d, .only = d->id };
	struct err reason = { 0 };
	int rc = u->env.probes(u->env.arg, &d->d, add_probe, &m, &reason);
	if (m.rc < 0 || rc == -TALLY_ENOMEM)
		return d_nomem(u);
	if ((rc < 0 || m.n == 0) && (!u->env.empty_ok || d->id != 0))
		return no_probe(u, d, &reason);
	return 0;
}

static int bind_descs(struct d_unit *u, struct d_clausenode *c)
{
	struct map seen = { 0 };
	int rc = 0;
	for (struct d_desc *d = c->descs; d != NULL && rc == 0; d = d->next) {
		rc = bind_desc(u, c, d, &seen);
		d->nprobes = c->nprobes;
	}
	map_free(&seen);
	return rc;
}

#define ARGUMENTS 10 /* arg0 ... arg9 */
#define ARGUMENTS_ALL ((UINT32_C(1) << ARGUMENTS) - 1)

/* A bit for each argument of the probe that is named below n. */
static uint32_t arguments_named(const struct d_node *n)
{
	uint32_t named = 0;

	if (n == NULL)
		return 0;
	if (n->kind == N_IDENT && strcmp(n->str, "args") == 0)
		return ARGUMENTS_ALL;
	if (n->kind == N_IDENT && strncmp(n->str, "arg", 3) == 0 && isdigit((unsigned char)n->str[3]) &&
	    n->str[4] == '\0')
		return UINT32_C(1) << (n->str[3] - '0');
	if (n->a != NULL && n->a->kind == N_IDENT && strcmp(n->a->str, "args") == 0 && n->narg == 1 &&
	    n->arg[0]->kind == N_INT && n->arg[0]->ival >= 0 && n->arg[0]->ival < ARGUMENTS)
		return UINT32_C(1) << n->arg[0]->ival;
	for (uint32_t i = 0; i < n->narg; i++)
		named |= arguments_named(n->arg[i]);
	return named | arguments_named(n->a) | arguments_named(n->b) | arguments_named(n->c);
}

static uint32_t arguments_of_statements(const struct d_stmt *s)
{
	uint32_t named = 0;

	for (; s != NULL; s = s->next)
		named |=
			arguments_named(s->expr) | arguments_of_statements(s->then) | arguments_of_statements(s->other);
	return named;
}

/* Whether one of those arguments is something else in probe b than in probe a. */
static bool arguments_differ(struct d_unit *u, uint32_t named, uint32_t a, uint32_t b)
{
	const char *prov, *name;

	for (uint32_t i = 0; u->env.args != NULL && i < ARGUMENTS; i++)
		if (named & UINT32_C(1) << i && u->env.args(u->env.arg, a, i) != u->env.args(u->env.arg, b, i))
			return true;
	return u->env.defined != NULL && u->env.defined(u->env.arg, b, &prov, &name);
}

/*
 * As in dtrace(1) a clause of several descriptions is one clause for each.  They stay together, in fewer programs,
 * unless an argument that they name is something else in the probes of the one than in those of the other, or one probe
 * is of several descriptions: it fires the clause once for each.
 */
static int divide_clause(struct d_unit *u, struct d_clausenode *c)
{
	const uint32_t all = c->nprobes,
		       named = c->body != NULL ? arguments_named(c->pred) | arguments_of_statements(c->stmts) : 0;
	uint32_t from = 0;
	bool differ = c->overlap;

	for (uint32_t i = 1; named != 0 && i < all && !differ; i++)
		differ = arguments_differ(u, named, c->probes[0], c->probes[i]);
	c->overlap = false;
	for (struct d_desc *d = c->descs, *next; differ && (next = d->next) != NULL; d = next) {
		if (d->nprobes == from || next->nprobes == d->nprobes)
			continue; /* -Z: what has no probe has no arguments either, and stays with what has */
		struct d_clausenode *n = parse_again(u, c, next);
		if (n == NULL)
			return -TALLY_ESYNTAX;
		n->probes = c->probes + (d->nprobes - from);
		n->nprobes = all - d->nprobes;
		c->nprobes = d->nprobes - from;
		c->text = c->descs->text;
		d->next = NULL;
		from = d->nprobes;
		c = n;
	}
	return 0;
}

/* ---- names --------------------------------------------------------------- */

static const uint8_t scope_kinds[] = { [SCOPE_NONE] = SYM_GLOBAL, [SCOPE_THIS] = SYM_THIS, [SCOPE_SELF] = SYM_SELF };

static int bind_node(struct d_unit *u, struct d_node *n);
static int bind_argument(struct d_unit *u, struct d_node *n, uint32_t index);

/* A pointer to a struct of the kernel. */
static int bind_kernel_builtin(struct d_unit *u, struct d_node *n, const struct builtin *b)
{
	const struct d_type *t = type_tagged(u, TY_STRUCT, b->type);
	if (u->env.ktypes == NULL)
		return d_fail(u, n->line, D_UNSUPPORTED,
			      "variable %s is a pointer into a kernel: there is none where this runs", b->name);
	n->kind = N_BUILTIN;
	n->ival = b->code;
	n->type = t != NULL ? type_ptr(u, t) : NULL;
	return n->type == NULL ? d_nomem(u) : 0;
}

static int bind_builtin(struct d_unit *u, struct d_node *n, const struct builtin *b)
{
	if (b->cls == BC_LIBRARY)
		return d_fail(u, n->line, D_IDENT_UNDEF, "failed to resolve %s: no D library defines it", b->name);
	if (b->cls == BC_LATER)
		return d_fail(u, n->line, D_UNSUPPORTED, "variable %s is not supported yet", b->name);
	if (b->cls == BC_ARRAY)
		return d_fail(u, n->line, D_IDENT_BADREF, "associative array '%s' may not be referenced as scalar",
			      b->name);
	if (b->cls == BC_KERNEL)
		return bind_kernel_builtin(u, n, b);
	if (b->cls == BC_INT && b->code >= BI_ARG0) {
		int rc = bind_argument(u, n, (uint32_t)(b->code - BI_ARG0));
		if (rc != 0)
			return rc < 0 ? rc : 0;
	}
	n->kind = b->cls != BC_STR ? N_BUILTIN : N_STRBUILTIN;
	n->ival = b->code;
	n->type = b->cls != BC_STR ? type_named(u, b->type) : type_string(u, strtoul(b->type, NULL, 10));
	return n->type == NULL ? d_nomem(u) : 0;
}

static int bad_reference(struct d_unit *u, const struct d_node *n, const struct d_sym *s)
{
	return d_fail(u, n->line, D_IDENT_BADREF, "%s '%s' may not be referenced as %s",
		      s->nkeys != 0 ? "associative array" : "scalar", s->name,
		      s->nkeys != 0 ? "scalar" : "associative array");
}

/* ---- args[] ---------------------------------------------------------------- */

static bool is_args(const struct d_node *n)
{
	return n->kind == N_IDENT && n->scope == SCOPE_NONE && strcmp(n->str, "args") == 0;
}

/* n becomes the expression that a provider has for an argument. */
static int args_expand(struct d_unit *u, struct d_node *n, const char *text, bool whole)
{
	struct parser ps = { .u = u, .p = text, .end = text + strlen(text), .line = n->line };
	struct d_node *x;
	if (lex_next(&ps) < 0 || (x = parse_assignment(&ps)) == NULL)
		return -TALLY_ESYNTAX;
	if (!at(&ps, T_END))
		return lex_syntax(&ps);
	*n = !whole && x->kind == N_XLATE ? *x->a : *x;
	return bind_node(u, n);
}

static int bind_args_index(struct d_unit *u, struct d_node *n)
{
	const struct d_args *a;
	int rc;
	if (n->narg != 1)
		return d_fail(u, n->line, D_PROTO_LEN, "args[ ] prototype mismatch: %u args passed, 1 expected",
			      n->narg);
	n->kind = N_ARGS;
	n->b = n->arg[0];
	n->a = NULL;
	n->arg = NULL;
	n->narg = 0;
	rc = bind_node(u, n->b);
	if (rc < 0 || n->b->kind != N_INT || u->cur_clause == NULL)
		return rc;
	if ((rc = defined_expand(u, n, n->b->ival)) != 0)
		return rc < 0 ? rc : 0;
	rc = args_of_clause(u, n, n->b->ival, &a);
	return rc < 0 || a->text == NULL ? rc : args_expand(u, n, a->text, true);
}

/* argN where a provider says what it is: of all probes of the clause the same. 1: it is bound. */
static int bind_argument(struct d_unit *u, struct d_node *n, uint32_t index)
{
	const struct d_clausenode *c = u->cur_clause;
	const struct d_args *first = NULL;
	bool differ = false, expanded = false;
	int rc;
	for (uint32_t i = 0; c != NULL && u->env.args != NULL && i < c->nprobes; i++) {
		const struct d_args *a = u->env.args(u->env.arg, c->probes[i], index);
		expanded |= a != NULL && a->text != NULL;
		differ |= i > 0 && !args_are_same(a, first);
		first = i == 0 ? a : first;
	}
	if (!expanded)
		return 0;
	if (differ)
		return d_fail(u, n->line, D_ARGS_MULTI,
			      "arg%u is not the same thing in all probes of %s:%s:%s:%s: give each a clause of its own",
			      index, c->descs->d.prov, c->descs->d.mod, c->descs->d.func, c->descs->d.name);
	struct d_node *x = node_new(u, N_CAST, n->line);
	if (x == NULL)
		return -TALLY_ENOMEM;
	struct d_node *value = node_new(u, N_INT, n->line);
	if (value == NULL)
		return -TALLY_ENOMEM;
	rc = args_expand(u, value, first->text, false);
	x->a = value;
	x->type = type_named(u, "int64_t");
	*n = *x;
	return rc < 0 ? rc : 1;
}

/* The members of args[0] of the clause's first probe. */
static uint32_t bare_names(const struct d_unit *u, const struct d_field **ret)
{
	const struct d_clausenode *c = u->cur_clause;
	const struct d_args *a = NULL;
	if (c->nprobes != 0 && u->env.args != NULL)
		a = u->env.args(u->env.arg, c->probes[0], 0);
	*ret = a != NULL ? a->field : NULL;
	return a != NULL ? a->nfields : 0;
}

static bool is_bare(const struct d_unit *u, const char *name)
{
	const struct d_field *f;
	uint32_t n = bare_names(u, &f);
	for (uint32_t i = 0; i < n; i++)
		if (strcmp(f[i].name, name) == 0)
			return true;
	return false;
}

/* name: args[0]->name */
static int bind_bare(struct d_unit *u, struct d_node *n)
{
	struct d_node *a = node_new(u, N_ARGS, n->line);
	if (a == NULL || (a->b = node_int(u, n->line, u->base[B_INT], 0)) == NULL)
		return -TALLY_ENOMEM;
	n->kind = N_ARROW;
	n->a = a;
	return 0;
}

/* ---- variables --------------------------------------------------------------- */

static int unknown_name(struct d_unit *u, const struct d_node *n)
{
	const char *type = n->measured ? near_type_name(u, NULL, n->str) : "";
	inline_tell_itself(u, n->str);
	if (n->written != NULL && u->why != NULL)
		err_set(u->why, TALLY_ESYNTAX, "%s is the name %.60s: $%s is a string of its text", n->written, n->str,
			n->written);
	return d_fail(u, n->line, D_IDENT_UNDEF, "failed to resolve %s: Unknown variable name%s", n->str,
		      *type != '\0' ? type : near_name(u, n->str));
}

/* A name that is nothing else may be an enumerator of the kernel. */
static bool bind_kernel_constant(const struct d_unit *u, struct d_node *n)
{
	int64_t v;
	if (n->scope != SCOPE_NONE || !ktype_constant(u, n->str, &v))
		return false;
	n->kind = N_INT;
	n->type = u->base[v == (int32_t)v ? B_INT : B_LONG];
	n->ival = v;
	return true;
}

static int bind_variable(struct d_unit *u, struct d_node *n, bool create)
{
	create |= n->scope != SCOPE_NONE;
	struct d_sym *s = sym_get(u, scope_kinds[n->scope], n->str, n->line, create);
	if (s == NULL && (create || u->arena.failed))
		return -TALLY_ENOMEM;
	if (s == NULL && bind_kernel_constant(u, n))
		return 0;
	if (s == NULL)
		return unknown_name(u, n);
	if (s->nkeys != 0)
		return bad_reference(u, n, s);
	n->kind = N_VAR;
	n->sym = s;
	return 0;
}

/* Numbers with a name from the start. */
static bool bind_known_constant(const struct d_unit *u, struct d_node *n)
{
	static const struct {
		const char *name;
		int64_t value;
	} known[] = {
#define CONSTANT(name, value) { #name, value },
#include "dlang/constant.def"
#undef CONSTANT
	};
	for (size_t i = 0; i < COUNT(known); i++)
		if (strcmp(known[i].name, n->str) == 0) {
			n->kind = N_INT;
			n->type = u->base[B_INT];
			n->ival = known[i].value;
			return true;
		}
	return false;
}

/* A name without a meaning so far, which a library may give it. */
static bool bind_is_unknown(struct d_unit *u, struct d_node *n)
{
	return sym_get(u, SYM_GLOBAL, n->str, 0, false) == NULL && !u->arena.failed && !bind_known_constant(u, n);
}

static int bind_ident(struct d_unit *u, struct d_node *n, bool create)
{
	const struct d_node *constant = map_get(&u->consts, n->str, strlen(n->str));
	const struct builtin *b = builtin_find(n->str);
	if (n->scope != SCOPE_NONE)
		return bind_variable(u, n, create);
	if (u->env.bare_args && is_bare(u, n->str))
		return bind_bare(u, n);
	if (constant != NULL || strcmp(n->str, "NULL") == 0) {
		n->kind = N_INT;
		n->type = constant != NULL ? constant->type : u->base[B_VOIDPTR];
		n->ival = constant != NULL ? constant->ival : 0;
		return 0;
	}
	struct d_inline *d = inline_find(u, n->str);
	if (d == NULL && ((b != NULL && b->cls == BC_LIBRARY) || (b == NULL && !create && bind_is_unknown(u, n)))) {
		int rc = library_need(u, n->str);
		if (rc < 0)
			return rc;
		d = inline_find(u, n->str);
	}
	if (d != NULL)
		return inline_expand(u, n, d);
	if (n->kind == N_INT) /* it was a known constant */
		return 0;
	if (b != NULL)
		return bind_builtin(u, n, b);
	return bind_variable(u, n, create);
}

static int too_many_keys(struct d_unit *u, const struct d_node *n, const struct d_sym *s, uint32_t most)
{
	if (u->why != NULL)
		err_set(u->why, TALLY_EINVAL, "line %u: %.60s[ ] has %u keys, and -x tregs=%u allows %u", n->line,
			s->name, n->narg, most, most);
	return d_fail(u, 0, D_LIMIT, "Insufficient tuple registers to generate code");
}

/* name[...] of a name that isn't known yet, or is known as an associative array */
static int bind_keyed(struct d_unit *u, struct d_node *n, struct d_sym *s)
{
	const uint32_t most = u->env.keys_most != 0 ? u->env.keys_most : D_KEYS_MOST;
	if (n->narg > most)
		return too_many_keys(u, n, s, most);
	if (s->nkeys == 0) {
		s->keys = arena_alloc(&u->arena, n->narg * sizeof(*s->keys));
		if (s->keys == NULL)
			return d_nomem(u);
		s->nkeys = n->narg;
		if (s->kind == SYM_GLOBAL)
			s->kind = SYM_ASSOC;
	}
	n->kind = N_VAR;
	n->sym = s;
	n->a = NULL;
	return 0;
}

static int bind_args(struct d_unit *u, struct d_node *n)
{
	int rc = 0;
	for (uint32_t i = 0; i < n->narg && rc == 0; i++)
		rc = bind_node(u, n->arg[i]);
	return rc;
}

static int bind_index(struct d_unit *u, struct d_node *n)
{
	struct d_node *a = n->a;
	struct d_inline *d = NULL;
	int rc;
	if (is_args(a))
		return bind_args_index(u, n);
	if (a->kind == N_IDENT && a->scope == SCOPE_NONE) {
		const struct builtin *b = builtin_find(a->str);
		d = inline_find(u, a->str);
		if (d == NULL && ((b != NULL && b->cls == BC_LIBRARY) || (b == NULL && u->env.own_libraries)) &&
		    sym_get(u, SYM_GLOBAL, a->str, 0, false) == NULL) {
			if ((rc = library_need(u, a->str)) < 0)
				return rc;
			d = inline_find(u, a->str);
		}
		if (d != NULL && d->params.n != 0)
			return (rc = bind_args(u, n)) < 0 ? rc : inline_expand(u, n, d);
	}
	bool name = a->kind == N_IDENT && d == NULL &&
		    !(a->scope == SCOPE_NONE &&
		      (is_builtin(a->str) || map_get(&u->consts, a->str, strlen(a->str)) != NULL));
	if (name) {
		struct d_sym *s = sym_get(u, scope_kinds[a->scope], a->str, a->line, false);
		bool fresh = s == NULL;
		if (fresh && a->scope == SCOPE_THIS)
			return d_fail(u, n->line, D_ARR_LOCAL,
				      "local variables may not be used as associative arrays: %s", a->str);
		if (fresh && (s = sym_get(u, scope_kinds[a->scope], a->str, a->line, true)) == NULL)
			return -TALLY_ENOMEM;
		if ((fresh || s->nkeys != 0) && (rc = bind_keyed(u, n, s)) < 0)
			return rc;
	}
	if (n->kind != N_VAR && (rc = bind_node(u, a)) < 0)
		return rc;
	return bind_args(u, n);
}

/* ---- expressions --------------------------------------------------------- */

static int bind_member(struct d_unit *u, struct d_node *n)
{
	struct d_node *a = n->a;
	if (a->kind != N_IDENT || a->scope != SCOPE_NONE || strcmp(a->str, "curcpu") != 0)
		return bind_node(u, a);
	if (strcmp(n->str, "cpu_id") != 0)
		return bind_node(u, a);
	n->a = NULL;
	return bind_builtin(u, n, builtin_find("cpu"));
}

/* module`name or `name: what lies at that address, of its type, or else read as an unsigned long. A function is its
 * address. */
static int bind_symbol(struct d_unit *u, struct d_node *n)
{
	const struct d_ktypes *k = u->env.ktypes;
	const char *tick = strchr(n->str, '`');
	const char *module = tick > n->str ? arena_strndup(&u->arena, n->str, (size_t)(tick - n->str)) : NULL;
	const struct d_type *type = u->base[B_ULONG], *ptr;
	struct d_ksymbol s = { 0 };
	struct err why = { 0 };
	if (u->arena.failed)
		return d_nomem(u);
	if (k == NULL)
		return d_fail(u, n->line, D_UNSUPPORTED, "%s is a symbol of a kernel: there is none where this runs",
			      n->str);
	if (k->symbol(k->arg, module, tick + 1, &s, &why) < 0)
		return d_fail(u, n->line, D_IDENT_UNDEF, "failed to resolve %s: Unknown symbol name%s%s", n->str,
			      *why.text != '\0' ? "; " : "", why.text);
	if (s.is_function) {
		n->kind = N_INT;
		n->type = u->base[B_VOIDPTR];
		n->ival = (int64_t)s.address;
		return 0;
	}
	if (s.type != 0)
		type = ktype_import(u, s.type, 0);
	ptr = type != NULL ? type_ptr(u, type) : NULL;
	n->kind = N_DEREF;
	n->a = ptr != NULL ? node_int(u, n->line, ptr, (int64_t)s.address) : NULL;
	return n->a != NULL ? 0 : d_nomem(u);
}

/* & before the name of a function says nothing new. */
static int bind_address(struct d_unit *u, struct d_node *n)
{
	const bool symbol = n->a->kind == N_SYMBOL;
	int rc = bind_node(u, n->a);
	if (rc == 0 && symbol && n->a->kind == N_INT)
		*n = *n->a;
	return rc;
}

static int bind_call(struct d_unit *u, struct d_node *n)
{
	n->call = (uint8_t)call_find(n->str);
	if (n->call == CALL_NONE && inline_find(u, n->str) != NULL && u->why != NULL)
		err_set(u->why, TALLY_ESYNTAX, "%s is an inline: its arguments stand in brackets, %s[ ]", n->str,
			n->str);
	if (n->call == CALL_NONE)
		return d_fail(u, n->line, D_FUNC_UNDEF, "undefined function name: %s%s", n->str,
			      near_call(u, n->str, false));
	return bind_args(u, n);
}

static int bind_agg(struct d_unit *u, struct d_node *n)
{
	n->sym = sym_get(u, SYM_AGG, n->str, n->line, true);
	return n->sym != NULL ? bind_args(u, n) : -TALLY_ENOMEM;
}

static int bind_children(struct d_unit *u, struct d_node *n)
{
	int rc = n->a != NULL ? bind_node(u, n->a) : 0;
	if (rc == 0 && n->b != NULL)
		rc = bind_node(u, n->b);
	if (rc == 0 && n->c != NULL)
		rc = bind_node(u, n->c);
	return rc;
}

static int bind_node(struct d_unit *u, struct d_node *n)
{
	int rc = 0;
	switch (n->kind) {
	case N_IDENT:
		return bind_ident(u, n, false);
	case N_SYMBOL:
		return bind_symbol(u, n);
	case N_ADDR:
		return bind_address(u, n);
	case N_INDEX:
		return bind_index(u, n);
	case N_MEMBER:
	case N_ARROW:
		return bind_member(u, n);
	case N_CALL:
		return bind_call(u, n);
	case N_AGG:
		return bind_agg(u, n);
	case N_ASSIGN:
	case N_INCDEC:
		if (n->a->kind == N_IDENT)
			rc = bind_ident(u, n->a, true);
		else
			rc = bind_node(u, n->a);
		return rc < 0 || n->b == NULL ? rc : bind_node(u, n->b);
	default:
		return bind_children(u, n);
	}
}

int bind_expression(struct d_unit *u, struct d_node *n)
{
	return bind_node(u, n);
}

int bind_constants(struct d_unit *u, struct d_node *n)
{
	switch (n->kind) {
	case N_INT:
	case N_STR:
	case N_OFFSETOF:
		return 0;
	case N_IDENT:
		if (n->scope != SCOPE_NONE)
			return 1;
		if (inline_find(u, n->str) != NULL)
			return bind_ident(u, n, false) < 0 || bind_constants(u, n) != 0;
		if (map_get(&u->consts, n->str, strlen(n->str)) == NULL)
			return !bind_known_constant(u, n) && !bind_kernel_constant(u, n);
		return bind_ident(u, n, false);
	case N_UN:
	case N_BIN:
	case N_COND:
	case N_CAST:
	case N_SIZEOF:
		return (n->a != NULL && bind_constants(u, n->a) != 0) ||
		       (n->b != NULL && bind_constants(u, n->b) != 0) || (n->c != NULL && bind_constants(u, n->c) != 0);
	default:
		return 1;
	}
}

/* ---- statements and clauses ---------------------------------------------- */

static int bind_aggregation(struct d_unit *u, struct d_stmt *s, struct d_node *agg, struct d_node *fn)
{
	if (fn->kind == N_CALL && call_find(fn->str) == CALL_NONE)
		return d_fail(u, fn->line, D_FUNC_UNDEF, "undefined function name: %s%s", fn->str,
			      near_call(u, fn->str, true));
	if (fn->kind != N_CALL || d_calls[call_find(fn->str)].cls != CC_AGG)
		return d_fail(u, s->line, D_AGG_FUNC, "@%s must be assigned the result of an aggregating function",
			      agg->str);
	s->kind = ST_AGG;
	s->agg = sym_get(u, SYM_AGG, agg->str, agg->line, true);
	if (s->agg == NULL)
		return -TALLY_ENOMEM;
	if (!s->agg->has_fn) {
		s->agg->key_text = agg->key_text;
		s->agg->comment = u->cur_clause->comment;
	}
	s->agg->has_fn = true;
	s->key = agg->arg;
	s->nkeys = agg->narg;
	s->expr = fn;
	int rc = bind_args(u, agg);
	return rc < 0 ? rc : bind_call(u, fn);
}

static int bind_statement(struct d_unit *u, struct d_stmt *s)
{
	struct d_node *n = s->expr;
	s->kind = ST_EXPR;
	if (n->kind == N_AGG)
		return d_fail(u, n->line, D_AGG_NULL, "expression has null effect: @%s", n->str);
	if (n->kind == N_ASSIGN && n->op == OP_NONE && n->a->kind == N_AGG)
		return bind_aggregation(u, s, n->a, n->b);
	int rc = bind_node(u, n);
	if (rc == 0 && n->kind == N_CALL && d_calls[n->call].cls != CC_SUBR && d_calls[n->call].cls != CC_AGG &&
	    d_calls[n->call].cls != CC_LATER)
		s->kind = ST_ACT;
	return rc;
}

bool bind_is_action(const struct d_node *n)
{
	uint32_t call = n->kind == N_CALL ? call_find(n->str) : CALL_NONE;

	if (n->kind == N_COND)
		return bind_is_action(n->b) || bind_is_action(n->c);
	return call != CALL_NONE && d_calls[call].cls != CC_SUBR && d_calls[call].cls != CC_AGG &&
	       d_calls[call].cls != CC_LATER;
}

/* As a statement, `x ? trace(1) : printf("none")` is an if: *s becomes one. */
static int bind_conditional_actions(struct d_unit *u, struct d_stmt *s)
{
	struct d_stmt *then = arena_alloc(&u->arena, sizeof(*then)), *other = arena_alloc(&u->arena, sizeof(*other));

	if (then == NULL || other == NULL)
		return d_nomem(u);
	then->header = other->header = s->header;
	then->line = s->expr->b->line;
	then->expr = s->expr->b;
	other->line = s->expr->c->line;
	other->expr = s->expr->c;
	s->kind = ST_IF;
	s->expr = s->expr->a;
	s->then = then;
	s->other = other;
	return 0;
}

static int bind_statements(struct d_unit *u, struct d_stmt *s)
{
	int rc = 0;
	for (; s != NULL && rc == 0; s = s->next) {
		u->header = s->header;
		if (s->kind != ST_IF && s->expr->kind == N_COND && bind_is_action(s->expr))
			rc = bind_conditional_actions(u, s);
		if (rc < 0)
			return rc;
		if (s->kind != ST_IF)
			rc = bind_statement(u, s);
		else if ((rc = bind_node(u, s->expr)) == 0 && (rc = bind_statements(u, s->then)) == 0)
			rc = bind_statements(u, s->other);
	}
	return rc;
}

/* The global variables that the predicate assigns come into being. */
static int bind_assigned(struct d_unit *u, const struct d_node *n)
{
	const struct d_node *const kid[] = { n->a, n->b, n->c }, *a = n->a;
	int rc = 0;
	if ((n->kind == N_ASSIGN || n->kind == N_INCDEC) && a->kind == N_IDENT && a->scope == SCOPE_NONE &&
	    !is_builtin(a->str) && map_get(&u->consts, a->str, strlen(a->str)) == NULL &&
	    !(u->env.bare_args && is_bare(u, a->str)) && sym_get(u, SYM_GLOBAL, a->str, a->line, true) == NULL)
		return d_nomem(u);
	for (size_t i = 0; i < COUNT(kid) && rc == 0; i++)
		rc = kid[i] != NULL ? bind_assigned(u, kid[i]) : 0;
	for (uint32_t i = 0; i < n->narg && rc == 0; i++)
		rc = bind_assigned(u, n->arg[i]);
	return rc;
}

static int bind_clause(struct d_unit *u, struct d_clausenode *c)
{
	u->cur_source = c->source;
	u->header = c->header;
	u->cur_clause = c;
	int rc = c->probes == NULL ? bind_descs(u, c) : 0;
	const bool has_probes = rc == 0;
	if (rc == 0)
		rc = divide_clause(u, c);
	if (rc == 0 && c->pred != NULL)
		rc = bind_assigned(u, c->pred);
	u->region = "action list";
	if (rc == 0)
		rc = bind_statements(u, c->stmts);
	u->region = "predicate";
	u->header = c->header;
	if (c->pred != NULL && has_probes && rc != -TALLY_ENOMEM) {
		/* a wrong name of the predicate is told before one of the actions, behind which it stands */
		const struct err of_actions = *u->err, why = u->why != NULL ? *u->why : *u->err;
		*u->err = (struct err){ 0 };
		if (rc < 0 && u->why != NULL)
			*u->why = (struct err){ 0 };
		int of_predicate = bind_node(u, c->pred);
		if (of_predicate < 0) {
			rc = of_predicate;
		} else {
			*u->err = of_actions;
			if (rc < 0 && u->why != NULL)
				*u->why = why;
		}
	}
	u->region = NULL;
	u->header = NULL;
	if (c->of_library)
		c->nprobes = 0;
	return rc;
}

static bool bind_has_name(struct d_unit *u, const char *name)
{
	return is_builtin(name) || call_find(name) != CALL_NONE || inline_find(u, name) != NULL ||
	       sym_get(u, SYM_GLOBAL, name, 0, false) != NULL || sym_get(u, SYM_AGG, name, 0, false) != NULL;
}

/* Pragmas about names that nothing has. */
static int bind_abouts(struct d_unit *u)
{
	for (const struct d_about *a = u->abouts; a != NULL; a = a->next) {
		if (bind_has_name(u, a->name) || u->arena.failed)
			continue;
		u->cur_source = a->source;
		return d_fail(u, a->line, D_PRAGMA_UNUSED, "unused #pragma %s", a->pragma);
	}
	return 0;
}

int d_bind(struct d_unit *u)
{
	int rc = 0;
	for (struct d_clausenode *c = u->clauses; c != NULL && rc == 0; c = c->next)
		rc = bind_clause(u, c);
	return rc < 0 ? rc : bind_abouts(u);
}
