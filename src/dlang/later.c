/*
 * later.c: D that is understood and doesn't run yet.
 *
 * Inline definitions, translators, providers, if and else are parsed whole, so that a slip
 * inside them is a syntax error as in dtrace(1), and are refused by name when the clause or
 * definition that holds them is complete.  Of several in one, the first is named: it is
 * what the reader meets first.
 *
 * What they are written in terms of may be out of reach too: psinfo_t is known to the
 * libraries of a kernel.  So where only a type can stand, these take any name for one.
 */
#include "dlang/parse_int.h"
#include "dlang/type_int.h"

#include <stdarg.h>

/* ---- refusing ------------------------------------------------------------ */

int later(struct parser *ps, const struct d_token *where, const char *fmt, ...)
{
	struct buf b = { 0 };
	va_list ap;
	if (ps->refused != NULL && ps->refused_at.start < where->start)
		return 0;
	va_start(ap, fmt);
	buf_vprintf(&b, fmt, ap);
	va_end(ap);
	ps->refused_at = *where;
	ps->refused = b.failed ? NULL : arena_strndup(&ps->u->arena, b.n != 0 ? b.p : "", b.n);
	buf_free(&b);
	return ps->refused == NULL ? d_nomem(ps->u) : 0;
}

int later_refuse(struct parser *ps)
{
	if (ps->refused == NULL)
		return 0;
	return d_fail(ps->u, ps->refused_at.line, D_UNSUPPORTED, "%s", ps->refused);
}

int kernel_type(struct parser *ps)
{
	return d_fail(ps->u, ps->tok.line, D_UNSUPPORTED, "kernel types are not known where this runs: %s",
		      ps->tok.str);
}

/* ---- types and names ----------------------------------------------------- */

/* A declaration of one thing; *name is NULL when it has none. */
static const struct d_type *typed_name(struct parser *ps, const char **name)
{
	ps->any_type = true;
	const struct d_type *t = parse_parameter(ps, name);
	ps->any_type = false;
	return t;
}

static const struct d_type *named(struct parser *ps, const char **name)
{
	const struct d_type *t = typed_name(ps, name);
	if (t == NULL || *name != NULL)
		return t;
	lex_syntax(ps);
	return NULL;
}

static const struct d_type *nameless(struct parser *ps)
{
	const char *name;
	const struct d_type *t = typed_name(ps, &name);
	if (t == NULL || name == NULL)
		return t;
	lex_syntax(ps);
	return NULL;
}

/* The ';' that ends a definition stays the token: a probe description may follow it. */
static int definition_end(struct parser *ps, int rc)
{
	return rc < 0 ? rc : at(ps, T_SEMI) ? 0 : lex_syntax(ps);
}

/* ---- definitions --------------------------------------------------------- */

/* inline TYPE NAME = EXPRESSION ; the name may have a tuple: inline string s[int k] = ... */
static int inline_definition(struct parser *ps)
{
	struct d_token where = ps->tok;
	const char *name;
	if (lex_next(ps) < 0 || named(ps, &name) == NULL || expect(ps, T_ASSIGN) < 0 || parse_assignment(ps) == NULL)
		return -TALLY_ESYNTAX;
	int rc = later(ps, &where, "inline definitions are not supported yet: inline %s", name);
	return definition_end(ps, rc);
}

/* MEMBER = EXPRESSION ; */
static int translator_member(struct parser *ps)
{
	if (expect(ps, T_IDENT) < 0 || expect(ps, T_ASSIGN) < 0 || parse_assignment(ps) == NULL)
		return -TALLY_ESYNTAX;
	return expect(ps, T_SEMI);
}

/* translator TYPE < TYPE NAME > { members } ; */
static int translator_definition(struct parser *ps)
{
	struct d_token where = ps->tok;
	const struct d_type *to, *from;
	const char *name;
	if (lex_next(ps) < 0 || (to = nameless(ps)) == NULL || expect(ps, T_LT) < 0 ||
	    (from = named(ps, &name)) == NULL || expect(ps, T_GT) < 0)
		return -TALLY_ESYNTAX;
	int rc = expect(ps, T_LBRACE);
	while (rc == 0 && !at(ps, T_RBRACE))
		rc = translator_member(ps);
	if (rc < 0 || (rc = expect(ps, T_RBRACE)) < 0)
		return rc;
	rc = later(ps, &where, "translators are not supported yet: translator %s < %s >", type_name(ps->u, to),
		   type_name(ps->u, from));
	return definition_end(ps, rc);
}

static int any_prototype(struct parser *ps)
{
	ps->any_type = true;
	bool good = parse_prototype(ps);
	ps->any_type = false;
	return good ? 0 : -TALLY_ESYNTAX;
}

/* probe NAME ( arguments ) : ( what they are translated to ) ; */
static int provider_probe(struct parser *ps)
{
	int rc = expect(ps, T_probe);
	if (rc == 0)
		rc = expect(ps, T_IDENT);
	if (rc == 0)
		rc = any_prototype(ps);
	if (rc == 0 && (rc = accept_token(ps, T_COLON)) > 0)
		rc = any_prototype(ps);
	return rc < 0 ? rc : expect(ps, T_SEMI);
}

/* provider NAME { probes } ; */
static int provider_definition(struct parser *ps)
{
	struct d_token where = ps->tok;
	int rc = lex_next(ps);
	const char *name = ps->tok.str;
	if (rc == 0)
		rc = expect(ps, T_IDENT);
	if (rc == 0)
		rc = expect(ps, T_LBRACE);
	while (rc == 0 && !at(ps, T_RBRACE))
		rc = provider_probe(ps);
	if (rc < 0 || (rc = expect(ps, T_RBRACE)) < 0)
		return rc;
	rc = later(ps, &where, "provider definitions are not supported yet: provider %s", name);
	return definition_end(ps, rc);
}

int parse_definition(struct parser *ps)
{
	switch (ps->tok.kind) {
	case T_inline:
		return inline_definition(ps);
	case T_translator:
		return translator_definition(ps);
	case T_provider:
		return provider_definition(ps);
	default:
		return parse_declaration(ps);
	}
}

/* ---- expressions --------------------------------------------------------- */

/* xlate < TYPE > ( expression ); the node only keeps its place until the clause is refused. */
struct d_node *parse_xlate(struct parser *ps)
{
	struct d_token where = ps->tok;
	const struct d_type *t;
	if (lex_next(ps) < 0 || expect(ps, T_LT) < 0 || (t = nameless(ps)) == NULL || expect(ps, T_GT) < 0 ||
	    expect(ps, T_LPAREN) < 0 || parse_expr(ps) == NULL || expect(ps, T_RPAREN) < 0 ||
	    later(ps, &where, "translators are not supported yet: xlate < %s >", type_name(ps->u, t)) < 0)
		return NULL;
	return node_int(ps->u, where.line, ps->u->base[B_INT], 0);
}
