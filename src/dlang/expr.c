/*
 * expr.c: expressions, by precedence climbing.
 *
 * C's operators and precedence, with ^^ between || and &&, and D's own: stringof,
 * self-> and this->, @name[...] (xlate is in later.c).  Nesting is bounded twice: by
 * the recursion of the parser (D_MAX_DEPTH), and by the depth of the tree (D_MAX_TREE),
 * which a long chain like 1+1+1+... makes deep without any recursion here.  Their number is
 * bounded, too (D_MAX_NODES), with all that later passes copy.
 */
#include "dlang/parse_int.h"
#include "dlang/type_int.h"

#include <ctype.h>
#include <string.h>

int parse_enter(struct parser *ps)
{
	if (ps->u->depth >= D_MAX_DEPTH)
		return d_fail(ps->u, ps->tok.line, D_SYNTAX, "nested too deeply: more than %d levels", D_MAX_DEPTH);
	ps->u->depth++;
	return 0;
}

void parse_leave(struct parser *ps)
{
	ps->u->depth--;
}

int node_count(struct d_unit *u, size_t n, uint32_t line)
{
	if (n <= D_MAX_NODES - u->nodes) {
		u->nodes += (uint32_t)n;
		return 0;
	}
	if (u->used == NULL)
		return d_fail(u, line, D_LIMIT, "the program is too large: more than %d operators and operands",
			      D_MAX_NODES);
	return d_fail(u, line, D_LIMIT, "%s makes the program too large: more than %d operators and operands", u->used,
		      D_MAX_NODES);
}

struct d_node *node_take(struct d_unit *u, uint32_t line)
{
	struct d_node *n;
	if (node_count(u, 1, line) < 0)
		return NULL;
	n = arena_alloc(&u->arena, sizeof(*n));
	if (n == NULL)
		d_nomem(u);
	return n;
}

struct d_node *node_new(struct d_unit *u, enum n_kind kind, uint32_t line)
{
	struct d_node *n = node_take(u, line);
	if (n == NULL)
		return NULL;
	n->kind = (uint8_t)kind;
	n->line = line;
	n->depth = 1;
	return n;
}

struct d_node *node_int(struct d_unit *u, uint32_t line, const struct d_type *t, int64_t v)
{
	struct d_node *n = node_new(u, N_INT, line);
	if (n != NULL) {
		n->type = t;
		n->ival = v;
	}
	return n;
}

static int expr_adopt_child(struct d_unit *u, struct d_node *n, const struct d_node *child)
{
	if (child != NULL && child->depth >= n->depth)
		n->depth = (uint16_t)(child->depth + 1);
	if (n->depth > D_MAX_TREE)
		return d_fail(u, n->line, D_SYNTAX, "expression is too long: more than %d operators in a row",
			      D_MAX_TREE);
	return 0;
}

/* A node over its operands. b and c may be NULL. */
static struct d_node *node_over(struct d_unit *u, enum n_kind kind, uint32_t line, struct d_node *a, struct d_node *b,
				struct d_node *c)
{
	struct d_node *n = node_new(u, kind, line);
	if (n == NULL)
		return NULL;
	n->a = a;
	n->b = b;
	n->c = c;
	if (expr_adopt_child(u, n, a) < 0 || expr_adopt_child(u, n, b) < 0 || expr_adopt_child(u, n, c) < 0)
		return NULL;
	return n;
}

static struct d_node *parse_unary(struct parser *ps);

/* ---- constants ----------------------------------------------------------- */

/* The first type of C's list that holds the value: C17 6.4.4.1. */
static const struct d_type *int_type(struct parser *ps)
{
	static const uint64_t most[] = { INT32_MAX, UINT32_MAX, INT64_MAX, UINT64_MAX, INT64_MAX, UINT64_MAX };
	const struct d_token *t = &ps->tok;
	unsigned i = t->nu + 2u * t->nl, step = t->decimal || t->nu != 0 ? 2 : 1;
	if (t->is_char)
		return ps->u->base[B_INT];
	for (; i < COUNT(most); i += step)
		if (t->ival <= most[i])
			return ps->u->base[B_INT + i];
	d_fail(ps->u, t->line, D_INT_OFLOW,
	       "integer constant 0x%llx cannot be represented in any built-in integral type",
	       (unsigned long long)t->ival);
	return NULL;
}

/* Keeps how a leaf is written, where that is not what it is. False when memory is out. */
static bool expr_keep_spelling(struct parser *ps, struct d_node *n)
{
	const struct d_token *t = &ps->tok;
	if (t->is_char || *t->start == '$')
		n->written = arena_strndup(&ps->u->arena, t->start, (size_t)(t->end - t->start));
	return !ps->u->arena.failed || d_nomem(ps->u) == 0;
}

static struct d_node *int_constant(struct parser *ps)
{
	const struct d_type *t = int_type(ps);
	struct d_node *n = t == NULL ? NULL : node_int(ps->u, ps->tok.line, t, (int64_t)ps->tok.ival);
	if (n != NULL && !expr_keep_spelling(ps, n))
		return NULL;
	if (n != NULL && ps->tok.negative) {
		n = node_over(ps->u, N_UN, n->line, n, NULL, NULL);
		if (n != NULL)
			n->op = UN_NEG;
	}
	return n != NULL && lex_next(ps) == 0 ? n : NULL;
}

/* A leaf that takes the token's text. */
static struct d_node *expr_leaf(struct parser *ps, enum n_kind kind)
{
	struct d_node *n = node_new(ps->u, kind, ps->tok.line);
	if (n == NULL)
		return NULL;
	n->str = ps->tok.str;
	n->len = ps->tok.len;
	return expr_keep_spelling(ps, n) && lex_next(ps) == 0 ? n : NULL;
}

/* ---- lists --------------------------------------------------------------- */

/* Keeps how the next element of an aggregation's tuple is written: from start to the token that follows it. */
static int expr_keep_text(struct parser *ps, struct d_node *n, const char *start)
{
	const char *end = ps->tok.start, *text;
	uint32_t at = n->narg, cap = n->narg; /* full, so that it grows; tuples are short */
	while (end > start && isspace((unsigned char)end[-1]))
		end--;
	text = arena_strndup(&ps->u->arena, start, end > start ? (size_t)(end - start) : 0);
	return text == NULL ? d_nomem(ps->u) : D_PUSH(ps->u, n->key_text, at, cap, text);
}

/* Assignment expressions up to `close`, which is taken; into n->arg. */
static int expr_arguments(struct parser *ps, struct d_node *n, enum d_tok close)
{
	uint32_t cap = 0;
	int rc = accept_token(ps, close);
	while (rc == 0) {
		const char *start = ps->tok.start;
		struct d_node *arg = parse_assignment(ps);
		if (arg == NULL)
			return -TALLY_ESYNTAX;
		if (n->kind == N_AGG && (rc = expr_keep_text(ps, n, start)) < 0)
			return rc;
		if (n->narg == D_MAX_ARGS)
			return d_fail(ps->u, arg->line, D_PROTO_LEN, "more than %d arguments", D_MAX_ARGS);
		if ((rc = expr_adopt_child(ps->u, n, arg)) < 0 || (rc = D_PUSH(ps->u, n->arg, n->narg, cap, arg)) < 0)
			return rc;
		if ((rc = accept_token(ps, close)) == 0)
			rc = expect(ps, T_COMMA);
	}
	return rc < 0 ? rc : 0;
}

/* ---- primaries ----------------------------------------------------------- */

static struct d_node *expr_scoped(struct parser *ps, enum n_scope scope)
{
	if (lex_next(ps) < 0 || expect(ps, T_ARROW) < 0)
		return NULL;
	if (ps->tok.str == NULL || at(ps, T_STR) || at(ps, T_AGG) || at(ps, T_SYMBOL)) {
		lex_syntax(ps);
		return NULL;
	}
	struct d_node *n = expr_leaf(ps, N_IDENT);
	if (n != NULL)
		n->scope = (uint8_t)scope;
	return n;
}

static struct d_node *expr_aggregation(struct parser *ps)
{
	struct d_node *n = expr_leaf(ps, N_AGG);
	if (n == NULL || !at(ps, T_LBRACK))
		return n;
	if (lex_next(ps) < 0 || expr_arguments(ps, n, T_RBRACK) < 0)
		return NULL;
	if (n->narg == 0) {
		lex_syntax(ps);
		return NULL;
	}
	if (at(ps, T_LBRACK)) {
		d_fail(ps->u, n->line, D_AGG_MDIM, "improper attempt to reference @%s as a multi-dimensional array",
		       n->str);
		return NULL;
	}
	return n;
}

/* Whether what is behind the '(' is module`type and not module`symbol: only '*' may stand before
 * the ')', and if there is none, an operand follows. */
static int kernel_cast(const struct parser *ps)
{
	struct parser look = *ps;
	int rc = lex_next(&look);
	bool pointer = at(&look, T_MUL) || symbol_names_tag(ps->tok.str);
	if (rc == 0 && at(&look, T_IDENT) && pointer)
		rc = lex_next(&look);
	while (rc == 0 && at(&look, T_MUL))
		rc = lex_next(&look);
	if (rc == 0)
		rc = accept_token(&look, T_RPAREN);
	return rc <= 0 ? rc : pointer || at(&look, T_INT) || look.tok.str != NULL;
}

/* ( type ) expr, or ( expr ) */
static struct d_node *expr_parenthesis(struct parser *ps)
{
	uint32_t line = ps->tok.line;
	struct d_node *n;
	if (lex_next(ps) < 0)
		return NULL;
	int kernel = at(ps, T_SYMBOL) ? kernel_cast(ps) : 0;
	if (kernel < 0)
		return NULL;
	if (kernel == 0 && !starts_type(ps)) {
		n = parse_expr(ps);
		if (n == NULL || expect(ps, T_RPAREN) < 0)
			return NULL;
		return n;
	}
	const struct d_type *t = parse_type_name(ps);
	if (t == NULL || expect(ps, T_RPAREN) < 0)
		return NULL;
	struct d_node *a = parse_unary(ps);
	n = a == NULL ? NULL : node_over(ps->u, N_CAST, line, a, NULL, NULL);
	if (n != NULL)
		n->type = t;
	return n;
}

/* sizeof ( type ), sizeof expr */
static struct d_node *size_of(struct parser *ps)
{
	struct d_node *n = node_new(ps->u, N_SIZEOF, ps->tok.line);
	if (n == NULL || lex_next(ps) < 0)
		return NULL;
	int type = at(ps, T_LPAREN) ? type_follows(ps) : 0;
	if (type < 0)
		return NULL;
	if (type > 0) {
		n->ty_arg = lex_next(ps) < 0 ? NULL : parse_type_name(ps);
		return n->ty_arg != NULL && expect(ps, T_RPAREN) == 0 ? n : NULL;
	}
	n->a = parse_unary(ps);
	if (n->a == NULL)
		return NULL;
	n->a->measured = n->a->kind == N_IDENT;
	return expr_adopt_child(ps->u, n, n->a) == 0 ? n : NULL;
}

/* offsetof ( type , member ) */
static struct d_node *offset_of(struct parser *ps)
{
	struct d_node *n = node_new(ps->u, N_OFFSETOF, ps->tok.line);
	if (n == NULL || lex_next(ps) < 0 || expect(ps, T_LPAREN) < 0)
		return NULL;
	ps->declares = true;
	bool type = at(ps, T_SYMBOL) || starts_type(ps);
	ps->declares = false;
	if (!type) {
		lex_syntax(ps);
		return NULL;
	}
	n->ty_arg = parse_type_name(ps);
	if (n->ty_arg == NULL || expect(ps, T_COMMA) < 0)
		return NULL;
	n->str = ps->tok.str;
	if (n->str == NULL || at(ps, T_STR)) {
		lex_syntax(ps);
		return NULL;
	}
	return lex_next(ps) == 0 && expect(ps, T_RPAREN) == 0 ? n : NULL;
}

static struct d_node *expr_primary(struct parser *ps)
{
	switch (ps->tok.kind) {
	case T_INT:
		return int_constant(ps);
	case T_STR:
		return expr_leaf(ps, N_STR);
	case T_IDENT:
	case T_probe:
	case T_provider:
	case T_counter:
	case T_import:
		return expr_leaf(ps, N_IDENT);
	case T_SYMBOL:
		return expr_leaf(ps, N_SYMBOL);
	case T_AGG:
		return expr_aggregation(ps);
	case T_this:
		return expr_scoped(ps, SCOPE_THIS);
	case T_self:
		return expr_scoped(ps, SCOPE_SELF);
	case T_LPAREN:
		return expr_parenthesis(ps);
	case T_sizeof:
		return size_of(ps);
	case T_offsetof:
		return offset_of(ps);
	case T_xlate:
		return parse_xlate(ps);
	default:
		lex_syntax(ps);
		return NULL;
	}
}

/* ---- postfix and unary operators ----------------------------------------- */

static struct d_node *expr_member(struct parser *ps, struct d_node *a)
{
	enum n_kind kind = at(ps, T_DOT) ? N_MEMBER : N_ARROW;
	struct d_node *n = node_over(ps->u, kind, ps->tok.line, a, NULL, NULL);
	if (n == NULL || lex_next(ps) < 0)
		return NULL;
	if (ps->tok.str == NULL || at(ps, T_STR) || at(ps, T_AGG) || at(ps, T_SYMBOL)) {
		lex_syntax(ps);
		return NULL;
	}
	n->str = ps->tok.str;
	return lex_next(ps) == 0 ? n : NULL;
}

static struct d_node *index_or_call(struct parser *ps, struct d_node *a)
{
	bool call = at(ps, T_LPAREN);
	struct d_node *n = node_over(ps->u, call ? N_CALL : N_INDEX, a->line, call ? NULL : a, NULL, NULL);
	if (n == NULL || lex_next(ps) < 0 || expr_arguments(ps, n, call ? T_RPAREN : T_RBRACK) < 0)
		return NULL;
	n->str = a->str;
	if (!call && n->narg == 0) {
		lex_syntax(ps);
		return NULL;
	}
	return n;
}

static struct d_node *expr_incdec(struct parser *ps, struct d_node *a, bool pre)
{
	int64_t step = at(ps, T_INC) ? 1 : -1;
	uint32_t line = ps->tok.line;
	if (lex_next(ps) < 0 || (pre && (a = parse_unary(ps)) == NULL))
		return NULL;
	struct d_node *n = node_over(ps->u, N_INCDEC, line, a, NULL, NULL);
	if (n != NULL) {
		n->ival = step;
		n->pre = pre;
	}
	return n;
}

static struct d_node *expr_postfix(struct parser *ps)
{
	struct d_node *n = expr_primary(ps);
	while (n != NULL) {
		switch (ps->tok.kind) {
		case T_LPAREN:
			if (n->kind != N_IDENT || n->scope != SCOPE_NONE) {
				d_fail(ps->u, ps->tok.line, D_FUNC_IDENT,
				       "function designator is not of function type");
				return NULL;
			}
			/* fallthrough */
		case T_LBRACK:
			n = index_or_call(ps, n);
			break;
		case T_DOT:
		case T_ARROW:
			n = expr_member(ps, n);
			break;
		case T_INC:
		case T_DEC:
			n = expr_incdec(ps, n, false);
			break;
		default:
			return n;
		}
	}
	return NULL;
}

static struct d_node *expr_prefix(struct parser *ps, enum n_kind kind, enum n_op op)
{
	uint32_t line = ps->tok.line;
	if (lex_next(ps) < 0)
		return NULL;
	struct d_node *a = parse_unary(ps);
	struct d_node *n = a == NULL ? NULL : node_over(ps->u, kind, line, a, NULL, NULL);
	if (n != NULL)
		n->op = (uint8_t)op;
	return n;
}

static struct d_node *expr_unary(struct parser *ps)
{
	struct d_node *n;
	switch (ps->tok.kind) {
	case T_SUB:
		return expr_prefix(ps, N_UN, UN_NEG);
	case T_ADD:
		return expr_prefix(ps, N_UN, OP_PLUS);
	case T_NOT:
		return expr_prefix(ps, N_UN, UN_NOT);
	case T_LNOT:
		return expr_prefix(ps, N_UN, UN_LNOT);
	case T_MUL:
		return expr_prefix(ps, N_DEREF, OP_NONE);
	case T_AND:
		return expr_prefix(ps, N_ADDR, OP_NONE);
	case T_INC:
	case T_DEC:
		return expr_incdec(ps, NULL, true);
	case T_stringof:
		n = expr_prefix(ps, N_CAST, OP_NONE);
		if (n != NULL && (n->type = type_string(ps->u, ps->u->strsize)) == NULL)
			return NULL;
		if (n != NULL)
			n->str = "stringof";
		return n;
	default:
		return expr_postfix(ps);
	}
}

static struct d_node *parse_unary(struct parser *ps)
{
	if (parse_enter(ps) < 0)
		return NULL;
	struct d_node *n = expr_unary(ps);
	parse_leave(ps);
	return n;
}

/* ---- binary operators ---------------------------------------------------- */

static const struct {
	uint8_t tok, op, level;
} binary[] = {
	{ T_MUL, OP_MUL, 11 },  { T_DIV, OP_DIV, 11 },  { T_MOD, OP_MOD, 11 }, { T_ADD, OP_ADD, 10 },
	{ T_SUB, OP_SUB, 10 },  { T_SHL, OP_SHL, 9 },   { T_SHR, OP_SHR, 9 },  { T_LT, OP_LT, 8 },
	{ T_LE, OP_LE, 8 },     { T_GT, OP_GT, 8 },     { T_GE, OP_GE, 8 },    { T_EQ, OP_EQ, 7 },
	{ T_NE, OP_NE, 7 },     { T_AND, OP_AND, 6 },   { T_XOR, OP_XOR, 5 },  { T_OR, OP_OR, 4 },
	{ T_LAND, OP_LAND, 3 }, { T_LXOR, OP_LXOR, 2 }, { T_LOR, OP_LOR, 1 },
};

/* In a predicate a '/' outside parentheses ends it when what follows can't continue an expression:
 * the end, ';', '{' or another '/'. */
static int ends_predicate(struct parser *ps)
{
	if (!at(ps, T_DIV) || !ps->in_predicate)
		return 0;
	struct parser look = *ps;
	int rc = lex_space(&look);
	if (rc < 0)
		return rc;
	return look.p >= look.end || *look.p == ';' || *look.p == '{' || *look.p == '/';
}

static struct d_node *parse_binary(struct parser *ps, unsigned least)
{
	struct d_node *a = parse_unary(ps);
	while (a != NULL) {
		unsigned i = 0;
		while (i < COUNT(binary) && binary[i].tok != ps->tok.kind)
			i++;
		int stop = ends_predicate(ps);
		if (stop < 0)
			return NULL;
		if (i == COUNT(binary) || binary[i].level < least || stop)
			return a;
		uint32_t line = ps->tok.line;
		if (lex_next(ps) < 0)
			return NULL;
		struct d_node *b = parse_binary(ps, binary[i].level + 1u);
		a = b == NULL ? NULL : node_over(ps->u, N_BIN, line, a, b, NULL);
		if (a != NULL)
			a->op = binary[i].op;
	}
	return NULL;
}

static struct d_node *parse_conditional(struct parser *ps)
{
	struct d_node *a = parse_binary(ps, 1);
	uint32_t line = ps->tok.line;
	if (a == NULL || !at(ps, T_QUESTION))
		return a;
	if (parse_enter(ps) < 0 || lex_next(ps) < 0)
		return NULL;
	struct d_node *b = parse_expr(ps), *c;
	if (b == NULL || expect(ps, T_COLON) < 0 || (c = parse_conditional(ps)) == NULL)
		return NULL;
	parse_leave(ps);
	return node_over(ps->u, N_COND, line, a, b, c);
}

static const struct {
	uint8_t tok, op;
} assigns[] = {
	{ T_ASSIGN, OP_NONE }, { T_ADD_EQ, OP_ADD }, { T_SUB_EQ, OP_SUB }, { T_MUL_EQ, OP_MUL },
	{ T_DIV_EQ, OP_DIV },  { T_MOD_EQ, OP_MOD }, { T_AND_EQ, OP_AND }, { T_OR_EQ, OP_OR },
	{ T_XOR_EQ, OP_XOR },  { T_SHL_EQ, OP_SHL }, { T_SHR_EQ, OP_SHR },
};

struct d_node *parse_assignment(struct parser *ps)
{
	struct d_node *a = parse_conditional(ps), *b;
	uint32_t line = ps->tok.line;
	unsigned i = 0;
	while (i < COUNT(assigns) && assigns[i].tok != ps->tok.kind)
		i++;
	if (a == NULL || i == COUNT(assigns))
		return a;
	if (parse_enter(ps) < 0 || lex_next(ps) < 0 || (b = parse_assignment(ps)) == NULL)
		return NULL;
	parse_leave(ps);
	a = node_over(ps->u, N_ASSIGN, line, a, b, NULL);
	if (a != NULL)
		a->op = assigns[i].op;
	return a;
}

static struct d_node *expr_comma(struct parser *ps)
{
	struct d_node *a = parse_assignment(ps);
	while (a != NULL && at(ps, T_COMMA)) {
		uint32_t line = ps->tok.line;
		struct d_node *b = lex_next(ps) < 0 ? NULL : parse_assignment(ps);
		a = b == NULL ? NULL : node_over(ps->u, N_COMMA, line, a, b, NULL);
	}
	return a;
}

struct d_node *parse_expr(struct parser *ps)
{
	bool predicate = ps->in_predicate;
	ps->in_predicate = false; /* in parentheses a '/' divides */
	struct d_node *n = expr_comma(ps);
	ps->in_predicate = predicate;
	return n;
}

struct d_node *parse_predicate(struct parser *ps)
{
	if (lex_next(ps) < 0) /* the opening '/' was taken as a character */
		return NULL;
	ps->in_predicate = true;
	struct d_node *n = expr_comma(ps);
	ps->in_predicate = false;
	if (n == NULL || at(ps, T_DIV))
		return n;
	lex_syntax(ps);
	return NULL;
}

/* A constant expression: its value, or failure with `what` when it is none. */
int parse_constant(struct parser *ps, int64_t *ret, enum d_tag tag, const char *what)
{
	bool predicate = ps->in_predicate;
	ps->in_predicate = false;
	struct d_node *n = parse_conditional(ps);
	ps->in_predicate = predicate;
	if (n == NULL)
		return -TALLY_ESYNTAX;
	if (bind_constants(ps->u, n) == 0 && cook(ps->u, &n) < 0)
		return -TALLY_ESYNTAX;
	if (n->kind != N_INT)
		return d_fail(ps->u, ps->tok.line, tag, "%s", what);
	*ret = n->ival;
	return 0;
}
