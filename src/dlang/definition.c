/*
 * definition.c: inline, translator and provider definitions, and xlate.
 *
 * Definitions are parsed whole and stored unchanged; xlate.c gives them their meaning, and defined.c that of the probes
 * of a provider. The ';' that ends a definition stays the token: a probe description may follow it.
 */
#include "dlang/decl_int.h"
#include "dlang/parse_int.h"
#include "dlang/type_int.h"

/* A declaration of one thing; *name is NULL when it has none. */
static const struct d_type *typed_name(struct parser *ps, const char **name)
{
	ps->declares = true;
	const struct d_type *t = parse_parameter(ps, name);
	ps->declares = false;
	return t;
}

static const struct d_type *definition_named_type(struct parser *ps, const char **name)
{
	const struct d_type *t = typed_name(ps, name);
	if (t == NULL || *name != NULL)
		return t;
	lex_syntax(ps);
	return NULL;
}

static const struct d_type *definition_nameless_type(struct parser *ps)
{
	const char *name;
	const struct d_type *t = typed_name(ps, &name);
	if (t == NULL || name == NULL)
		return t;
	lex_syntax(ps);
	return NULL;
}

/* inline TYPE NAME = EXPRESSION ; the name may have a tuple: inline string s[int k] = ... */
static int inline_definition(struct parser *ps)
{
	struct d_inline *d = arena_alloc(&ps->u->arena, sizeof(*d));
	if (d == NULL)
		return d_nomem(ps->u);
	const char *file = ps->u->src[ps->u->cur_source].name;
	d->line = ps->tok.line;
	d->file = file != NULL ? file : "-n";
	if (lex_next(ps) < 0)
		return -TALLY_ESYNTAX;
	ps->params = &d->params;
	d->type = definition_named_type(ps, &d->name);
	ps->params = NULL;
	if (d->type == NULL || expect(ps, T_ASSIGN) < 0 || (d->expr = parse_assignment(ps)) == NULL)
		return -TALLY_ESYNTAX;
	if (d->type->kind == TY_FUNC)
		return d_fail(ps->u, d->line, D_SYNTAX,
			      "inline %s has parameters in parentheses: they stand in brackets, %s[ ]", d->name,
			      d->name);
	if (d->type->kind == TY_ASSOC)
		d->type = d->type->to;
	int rc = expect_semicolon(ps);
	return rc < 0 ? rc : inline_define(ps->u, d);
}

/* MEMBER = EXPRESSION ; */
static int translator_member(struct parser *ps, struct d_xmember ***end)
{
	struct d_xmember *m = arena_alloc(&ps->u->arena, sizeof(*m));
	if (m == NULL)
		return d_nomem(ps->u);
	m->line = ps->tok.line;
	m->name = ps->tok.str;
	if (expect(ps, T_IDENT) < 0 || expect(ps, T_ASSIGN) < 0 || (m->expr = parse_assignment(ps)) == NULL)
		return -TALLY_ESYNTAX;
	**end = m;
	*end = &m->next;
	return expect(ps, T_SEMI);
}

/* translator TYPE < TYPE NAME > { members } ; */
static int translator_definition(struct parser *ps)
{
	struct d_translator *t = arena_alloc(&ps->u->arena, sizeof(*t));
	if (t == NULL)
		return d_nomem(ps->u);
	struct d_xmember **end = &t->members;
	if (lex_next(ps) < 0 || (t->to = definition_nameless_type(ps)) == NULL || expect(ps, T_LT) < 0 ||
	    (t->from = definition_named_type(ps, &t->param)) == NULL || expect(ps, T_GT) < 0)
		return -TALLY_ESYNTAX;
	int rc = expect(ps, T_LBRACE);
	while (rc == 0 && !at(ps, T_RBRACE))
		rc = translator_member(ps, &end);
	t->line = ps->tok.line;
	if (rc < 0 || (rc = expect(ps, T_RBRACE)) < 0 || (rc = expect_semicolon(ps)) < 0)
		return rc;
	return translator_define(ps->u, t);
}

static int any_prototype(struct parser *ps, struct d_params *params)
{
	ps->any_type = true;
	bool good = parse_prototype(ps, params);
	ps->any_type = false;
	return good ? 0 : -TALLY_ESYNTAX;
}

/* The name of a provider, or a probe. Only names of the kernel have a scope. */
static int provider_name(struct parser *ps, const char *what, const char **ret)
{
	*ret = ps->tok.str;
	if (at(ps, T_SYMBOL))
		return d_fail(ps->u, ps->tok.line, D_PROV_BADNAME, "a %s's name may not have a scope: %s", what, *ret);
	return expect(ps, T_IDENT);
}

/* probe NAME ( arguments ) : ( what they are translated to ) ; */
static int provider_probe(struct parser *ps, const char *prov, bool again)
{
	struct d_defined *d = arena_alloc(&ps->u->arena, sizeof(*d));
	int rc = d == NULL ? d_nomem(ps->u) : expect(ps, T_probe);
	if (rc < 0)
		return rc;
	d->prov = prov;
	d->line = ps->tok.line;
	rc = provider_name(ps, "probe", &d->name);
	if (rc == 0)
		rc = any_prototype(ps, &d->native);
	if (rc == 0 && (rc = accept_token(ps, T_COLON)) > 0) {
		d->is_translated = true;
		rc = any_prototype(ps, &d->seen);
	}
	if (rc >= 0)
		rc = expect(ps, T_SEMI);
	return rc < 0 ? rc : defined_add(ps->u, d, again);
}

/* provider NAME { probes } ; */
static int provider_definition(struct parser *ps)
{
	int rc = lex_next(ps);
	const uint32_t line = ps->tok.line;
	const char *prov = NULL;
	if (rc == 0)
		rc = provider_name(ps, "provider", &prov);
	if (rc == 0)
		rc = defined_begin(ps->u, prov, line);
	const bool again = rc > 0;
	if (rc >= 0)
		rc = expect(ps, T_LBRACE);
	while (rc == 0 && !at(ps, T_RBRACE))
		rc = provider_probe(ps, prov, again);
	if (rc == 0)
		rc = lex_next(ps);
	return rc < 0 ? rc : expect_semicolon(ps);
}

int parse_definition(struct parser *ps)
{
	static const struct {
		int (*parse)(struct parser *ps);
		const char *form;
		uint8_t token;
	} kinds[] = {
		{ inline_definition,
		  "an inline is: inline TYPE NAME = EXPRESSION; or with keys: inline TYPE NAME[TYPE KEY] = EXPRESSION;",
		  T_inline },
		{ translator_definition, "a translator is: translator TYPE < TYPE NAME > { MEMBER = EXPRESSION; ... };",
		  T_translator },
		{ provider_definition, "a provider definition is: provider NAME { probe NAME(TYPE NAME, ...); ... };",
		  T_provider },
		{ parse_declaration, "a struct is: struct NAME { TYPE MEMBER; ... };", T_struct },
		{ parse_declaration, "a union is: union NAME { TYPE MEMBER; ... };", T_union },
		{ parse_declaration, "an enum is: enum NAME { NAME, NAME = NUMBER, ... };", T_enum },
		{ parse_declaration, "a typedef is: typedef TYPE NAME;", T_typedef },
	};
	size_t i = 0;
	while (i < COUNT(kinds) && !at(ps, kinds[i].token))
		i++;
	if (i == COUNT(kinds))
		return parse_declaration(ps);
	ps->form = kinds[i].form;
	int rc = kinds[i].parse(ps);
	ps->form = NULL;
	return rc;
}

/* xlate < TYPE > ( expression ) */
struct d_node *parse_xlate(struct parser *ps)
{
	struct d_node *n = node_new(ps->u, N_XLATE, ps->tok.line);
	if (n == NULL || lex_next(ps) < 0 || expect(ps, T_LT) < 0 ||
	    (n->ty_arg = definition_nameless_type(ps)) == NULL || expect(ps, T_GT) < 0 || expect(ps, T_LPAREN) < 0 ||
	    (n->a = parse_expr(ps)) == NULL || expect(ps, T_RPAREN) < 0)
		return NULL;
	return n;
}
