/*
 * parse.c: the outer grammar: clauses, their probe descriptions, statements.
 *
 * In front of a clause the text is read by characters, since a description may
 * hold almost any; a word that is the name of a type begins a declaration instead,
 * up to its first '*' (`int*p;` declares, `int:::*` describes).  After the last
 * description tokens begin.
 */
#include "dlang/decl_int.h"
#include "dlang/parse_int.h"
#include "dlang/type_int.h"

#include <ctype.h>
#include <string.h>

#define FIELD_MOST 256 /* bytes of one part of a probe description */

/* ---- probe descriptions -------------------------------------------------- */

/* Appends s[0..n) with its macros replaced. */
static int parse_expand_macros(struct parser *ps, struct buf *to, const char *s, size_t n)
{
	const char *end = s + n, *text;
	while (s < end) {
		if (*s != '$') {
			buf_putc(to, *s++);
			continue;
		}
		s += s + 1 < end && s[1] == '$' ? 2 : 1; /* $$1 and $1 are the same here */
		const char *name = s;
		bool argument = s < end && isdigit((unsigned char)*s);
		while (s < end && (argument ? isdigit((unsigned char)*s) : isalnum((unsigned char)*s) || *s == '_'))
			s++;
		if (s == name)
			return d_fail(ps->u, ps->line, D_PDESC_INVAL,
				      "invalid probe description: macro variable expected "
				      "after $");
		int rc = lex_macro_text(ps->u, ps->line, name, (size_t)(s - name), &text);
		if (rc < 0)
			return rc;
		buf_puts(to, text);
	}
	return 0;
}

/* The parts of provider:module:function:name, from the right; the last may be another than the name. */
static int parse_split_description(struct parser *ps, struct d_desc *d, char *s)
{
	const char **field[] = { &d->d.prov, &d->d.mod, &d->d.func, &d->d.name };
	d->d = (struct d_probedesc){ "", "", "", "" };
	for (unsigned i = ps->u->src[ps->u->cur_source].part;; i--) {
		char *colon = strrchr(s, ':');
		const char *part = colon != NULL ? colon + 1 : s;
		if (i == 0 || strlen(part) >= FIELD_MOST)
			return d_fail(ps->u, d->line, D_PDESC_INVAL, "invalid probe description \"%.100s\": %s",
				      d->text, i == 0 ? "Overspecified probe description" : "File name too long");
		*field[i - 1] = part;
		if (colon == NULL)
			return 0;
		*colon = '\0';
	}
}

static int parse_description(struct parser *ps, struct d_desc *d, const char *word, uint32_t len)
{
	static const char *const part_words[] = {
		[D_PART_PROVIDER] = "provider",
		[D_PART_MODULE] = "module",
		[D_PART_FUNCTION] = "function",
	};
	const enum d_part part = ps->u->src[ps->u->cur_source].part;
	struct buf b = { 0 };
	uint64_t id;
	int rc = parse_expand_macros(ps, &b, word, len);
	char *s = rc < 0 || b.failed ? NULL : arena_strndup(&ps->u->arena, b.n != 0 ? b.p : "", b.n);
	buf_free(&b);
	if (rc < 0)
		return rc;
	d->text = arena_strndup(&ps->u->arena, word, len);
	if (s == NULL || d->text == NULL)
		return d_nomem(ps->u);
	if (!isdigit((unsigned char)*s))
		return parse_split_description(ps, d, s);
	if (part != D_PART_NAME)
		return d_fail(ps->u, d->line, D_PDESC_INVAL, "probe identifier %.*s not permitted when specifying %ss",
			      (int)strspn(s, "0123456789"), s, part_words[part]);
	if (!text_u64(s, &id))
		return parse_split_description(ps, d, s);
	d->d = (struct d_probedesc){ "", "", "", "" };
	if (id == 0 || id > UINT32_MAX)
		return d_fail(ps->u, d->line, D_PDESC_INVAL, "invalid probe identifier %s: Unknown probe identifier",
			      s);
	d->id = (uint32_t)id;
	return 0;
}

static int syntax_at_cursor(struct parser *ps)
{
	const char *end = ps->p < ps->end ? ps->p + 1 : ps->p;
	ps->tok = (struct d_token){ .line = ps->line, .start = ps->p, .end = end };
	return lex_syntax(ps);
}

static int parse_descriptions(struct parser *ps, struct d_clausenode *c, const char *word, uint32_t len)
{
	struct d_desc **end = &c->descs;
	for (;;) {
		struct d_desc *d = arena_alloc(&ps->u->arena, sizeof(*d));
		if (d == NULL)
			return d_nomem(ps->u);
		d->line = ps->line;
		int rc = parse_description(ps, d, word, len);
		*end = d;
		end = &d->next;
		if (rc < 0 || (rc = lex_space(ps)) < 0)
			return rc;
		if (ps->p >= ps->end || *ps->p != ',')
			return 0;
		ps->p++;
		if ((rc = lex_space(ps)) < 0)
			return rc;
		lex_probe_word(ps, &word, &len);
		if (len == 0)
			return syntax_at_cursor(ps);
	}
}

/* ---- statements ---------------------------------------------------------- */

static int parse_statement(struct parser *ps, struct d_stmt ***end, bool may_be_last);

/* { statements }: the token is '{', and then the '}'. */
static int parse_block(struct parser *ps, struct d_stmt ***end)
{
	int rc = expect(ps, T_LBRACE);
	while (rc == 0 && !at(ps, T_RBRACE))
		rc = parse_statement(ps, end, true);
	return rc;
}

/* What an if or else governs: a block, or a statement that ends with its ';' */
static int parse_arm(struct parser *ps, struct d_stmt ***end)
{
	if (!at(ps, T_LBRACE))
		return parse_statement(ps, end, false);
	int rc = parse_block(ps, end);
	return rc < 0 ? rc : expect(ps, T_RBRACE);
}

/* if ( expression ) arm else arm */
static int parse_conditional(struct parser *ps, struct d_stmt ***end)
{
	struct d_stmt *s = arena_alloc(&ps->u->arena, sizeof(*s)), **arm;
	if (s == NULL)
		return d_nomem(ps->u);
	s->kind = ST_IF;
	s->line = ps->tok.line;
	s->header = ps->u->header;
	int rc = parse_enter(ps);
	if (rc < 0)
		return rc;
	if (lex_next(ps) < 0 || expect(ps, T_LPAREN) < 0 || (s->expr = parse_expr(ps)) == NULL ||
	    expect(ps, T_RPAREN) < 0)
		return -TALLY_ESYNTAX;
	arm = &s->then;
	if ((rc = parse_arm(ps, &arm)) == 0 && (rc = accept_token(ps, T_else)) > 0) {
		arm = &s->other;
		rc = parse_arm(ps, &arm);
	}
	**end = s;
	*end = &s->next;
	parse_leave(ps);
	return rc;
}

/* A word of D or a typedef that says a type: with it C would declare a variable. The kernel's types are not searched
 * for it. */
static bool names_type(const struct parser *ps)
{
	switch (ps->tok.kind) {
	case T_char:
	case T_short:
	case T_int:
	case T_long:
	case T_signed:
	case T_unsigned:
	case T_float:
	case T_double:
	case T_string:
	case T_struct:
	case T_union:
	case T_enum:
	case T_const:
	case T_static:
		return true;
	default:
		return at(ps, T_IDENT) && type_named(ps->u, ps->tok.str) != NULL;
	}
}

/* One statement and its ';', which the last of a block need not have. */
static int parse_statement(struct parser *ps, struct d_stmt ***end, bool may_be_last)
{
	if (at(ps, T_SEMI))
		return lex_next(ps);
	if (at(ps, T_if))
		return parse_conditional(ps, end);
	struct d_stmt *s = arena_alloc(&ps->u->arena, sizeof(*s));
	if (s == NULL)
		return d_nomem(ps->u);
	s->line = ps->tok.line;
	s->header = ps->u->header;
	ps->advice = names_type(ps) ?
			     "variables are declared in front of clauses, or by what is first assigned to them" :
			     NULL;
	s->expr = parse_expr(ps);
	if (s->expr == NULL)
		return -TALLY_ESYNTAX;
	**end = s;
	*end = &s->next;
	int rc = may_be_last && at(ps, T_RBRACE) ? 0 : expect_semicolon(ps);
	ps->advice = NULL;
	return rc < 0 || !at(ps, T_SEMI) ? rc : lex_next(ps);
}

/* On return the cursor is behind the '}' and no token is held. */
static int parse_actions(struct parser *ps, struct d_clausenode *c)
{
	struct d_stmt **end = &c->stmts;
	int rc = lex_next(ps);
	return rc < 0 ? rc : parse_block(ps, &end);
}

/* ---- clauses ------------------------------------------------------------- */

/* "uint32 x;" is taken for a description, since nothing is a type of that name. */
static const char *parse_near_type(struct parser *ps, const struct d_clausenode *c)
{
	const size_t n = strcspn(c->descs->text, ":, \t");
	const char *word = arena_strndup(&ps->u->arena, c->descs->text, n);
	return word != NULL && c->descs->text[n] != ':' ? lex_near_declared(ps, word, ps->p) : "";
}

static int parse_body(struct parser *ps, struct d_clausenode *c)
{
	int rc;
	if (ps->p < ps->end && *ps->p == '/') {
		ps->p++;
		c->pred = parse_predicate(ps);
		if (c->pred == NULL)
			return -TALLY_ESYNTAX;
		if ((rc = lex_space(ps)) < 0)
			return rc;
		/* As in dtrace(1) an operation lies where what is behind it begins, which shows when that is on another
		 * line. */
		if (c->pred->kind == N_BIN)
			c->pred->line = ps->line;
	} else if ((ps->p >= ps->end || *ps->p != '{') && ps->u->src[ps->u->cur_source].name != NULL) {
		return d_fail(ps->u, c->line, D_SYNTAX,
			      "expected predicate and/or actions following probe description%s",
			      parse_near_type(ps, c));
	}
	if (ps->p < ps->end && *ps->p == '{')
		return parse_actions(ps, c);
	if (ps->p < ps->end && *ps->p == ';')
		ps->p++;
	else if (ps->p < ps->end)
		return syntax_at_cursor(ps);
	return 0;
}

/* A word of a comment without the marks at which that begins and ends; no bytes of one that is nothing but marks. */
static size_t comment_word_bare(const char **word, size_t n)
{
	if (n >= 2 && **word == '/' && ((*word)[1] == '*' || (*word)[1] == '/'))
		for (; n != 0 && (**word == '/' || **word == '*'); n--)
			++*word;
	if (n >= 2 && (*word)[n - 2] == '*' && (*word)[n - 1] == '/')
		for (n--; n != 0 && (*word)[n - 1] == '*'; n--)
			;
	return strspn(*word, "/*") < n ? n : 0;
}

/* The comment that lex_space() passed last, without its marks, as one line; "" if there is none, NULL without
 * memory. */
static const char *parse_comment(const struct parser *ps)
{
	struct buf b = { 0 };
	const char *text;

	for (const char *p = ps->comment; p != NULL && p < ps->comment_end;) {
		size_t n = strcspn(p, " \t\r\n"), bare;
		const char *word = p;

		if (p + n > ps->comment_end)
			n = (size_t)(ps->comment_end - p);
		bare = comment_word_bare(&word, n);
		if (bare != 0)
			buf_printf(&b, "%s%.*s", b.n != 0 ? " " : "", (int)bare, word);
		p += n != 0 ? n : 1;
	}
	text = b.failed ? NULL : arena_strndup(&ps->u->arena, b.n != 0 ? b.p : "", b.n);
	buf_free(&b);
	return text;
}

static int parse_clause(struct parser *ps, const char *word, uint32_t len)
{
	struct d_clausenode *c = arena_alloc(&ps->u->arena, sizeof(*c));
	if (c == NULL)
		return d_nomem(ps->u);
	c->line = ps->line;
	c->source = ps->u->cur_source;
	c->header = ps->u->header;
	c->of_library = ps->u->in_library;
	c->comment = parse_comment(ps);
	if (c->comment == NULL)
		return d_nomem(ps->u);
	int rc = parse_descriptions(ps, c, word, len);
	if (rc < 0)
		return rc;
	const char *end = ps->p;
	c->text = arena_strndup(&ps->u->arena, word, (size_t)(end - word));
	struct parser *body = c->descs->next != NULL ? arena_alloc(&ps->u->arena, sizeof(*body)) : NULL;
	if (c->text == NULL || (c->descs->next != NULL && body == NULL))
		return d_nomem(ps->u);
	if (body != NULL)
		*body = *ps;
	c->body = body;
	rc = parse_body(ps, c);
	/* Empty braces too: the guide has one write { } to learn that a probe fired. */
	c->is_default = c->stmts == NULL;
	*ps->u->clause_end = c;
	ps->u->clause_end = &c->next;
	return rc;
}

struct d_clausenode *parse_again(struct d_unit *u, struct d_clausenode *c, struct d_desc *d)
{
	struct d_clausenode *n = arena_alloc(&u->arena, sizeof(*n));
	if (n == NULL) {
		d_nomem(u);
		return NULL;
	}
	*n = (struct d_clausenode){ .line = c->line,
				    .source = c->source,
				    .header = c->header,
				    .of_library = c->of_library,
				    .comment = c->comment,
				    .text = d->text,
				    .descs = d,
				    .body = c->body,
				    .next = c->next };
	struct parser ps = *c->body;
	u->header = c->header;
	if (parse_body(&ps, n) < 0 || node_count(u, (size_t)(ps.p - c->body->p) / D_NODE_TEXT, c->line) < 0)
		return NULL;
	n->is_default = n->stmts == NULL;
	c->next = n;
	if (u->clause_end == &c->next)
		u->clause_end = &n->next;
	return n;
}

/* ---- what stands at the outer level -------------------------------------- */

/* module`word begins a declaration with a kernel's type when a name or '*' is next; else it is a
 * probe's. */
static int begins_with_kernel_type(const struct parser *ps)
{
	struct parser look = *ps;
	int rc = lex_next(&look);
	return rc < 0 ? rc : at(&look, T_IDENT) || at(&look, T_MUL);
}

/* Whether the word at the cursor, up to its first '*', begins a declaration: then its first token
 * is in ps->tok. */
static int begins_declaration(struct parser *ps, const char *word, uint32_t len)
{
	struct parser look = *ps;
	const char *star = memchr(word, '*', len);
	const char *bracket = memchr(word, '[', len);
	size_t n = star != NULL ? (size_t)(star - word) : len;
	if ((bracket != NULL && (size_t)(bracket - word) < n) || (star != NULL && ps->u->env.pspec))
		return 0;
	for (size_t i = 0; i < n; i++)
		if (!isalnum((unsigned char)word[i]) && word[i] != '_' && word[i] != '`')
			return 0;
	if (n == 0 || memchr(word, ':', len) != NULL || isdigit((unsigned char)*word))
		return 0;
	look.p = word;
	int rc = lex_next(&look);
	if (rc < 0)
		return rc;
	switch (look.tok.kind) {
	case T_typedef:
	case T_self:
	case T_this:
	case T_extern:
	case T_static:
	case T_auto:
	case T_register:
	case T_inline:
	case T_translator:
	case T_provider:
		break;
	case T_SYMBOL:
		if ((rc = begins_with_kernel_type(&look)) <= 0)
			return rc;
		break;
	default:
		look.declares = true;
		if (!starts_type(&look))
			return 0;
		look.declares = false;
	}
	*ps = look;
	return 1;
}

static int parse_element(struct parser *ps)
{
	const char *word;
	uint32_t len;
	lex_probe_word(ps, &word, &len);
	if (len == 0)
		return syntax_at_cursor(ps);
	int rc = begins_declaration(ps, word, len);
	if (rc < 0)
		return rc;
	rc = rc > 0 ? parse_definition(ps) : parse_clause(ps, word, len);
	return rc;
}

int parse_source(struct d_unit *u, uint32_t number)
{
	const struct d_src *s = &u->src[number];
	struct parser ps = { .u = u, .p = s->text, .end = s->text + s->len, .line = 1, .at_line_start = true };
	u->cur_source = number;
	u->header = NULL;
	u->depth = 0;
	int rc = lex_space(&ps);
	if (rc == 0 && ps.p >= ps.end && !u->env.no_program_ok)
		return d_fail(u, ps.line, D_EMPTY, "empty D program translation unit");
	while (rc == 0 && ps.p < ps.end)
		if ((rc = parse_element(&ps)) == 0)
			rc = lex_space(&ps);
	if (rc == 0)
		u->header = NULL;
	return rc;
}

int d_parse(struct d_unit *u)
{
	const uint32_t n = u->nsrcs; /* libraries come behind them */
	int rc = u->env.own_libraries ? libraries_of_user(u) : 0;
	for (uint32_t i = 0; i < n && rc == 0; i++)
		rc = parse_source(u, i);
	return rc;
}
