/*
 * operator.c: the types of binary operators and of assignments.
 *
 * Pointers are the one subtlety: an integer added to a pointer is multiplied by the
 * size of what it points to here, so that code generation knows addresses only, and
 * the difference of two pointers is divided by it.
 */
#include "dlang/decl_int.h"
#include "dlang/parse_int.h"
#include "dlang/type_int.h"

static const char *const op_texts[OP_NOPS] = {
#define X(tag, text) [OP_##tag] = text,
	N_OPS(X)
#undef X
};
static const char *const assign_texts[OP_NOPS] = {
	[OP_NONE] = "=", [OP_ADD] = "+=", [OP_SUB] = "-=", [OP_MUL] = "*=",  [OP_DIV] = "/=",  [OP_MOD] = "%=",
	[OP_AND] = "&=", [OP_OR] = "|=",  [OP_XOR] = "^=", [OP_SHL] = "<<=", [OP_SHR] = ">>=",
};

const char *op_text(const struct d_node *n)
{
	if (n->kind == N_INCDEC)
		return n->ival > 0 ? "++" : "--";
	return n->kind == N_ASSIGN ? assign_texts[n->op] : op_texts[n->op];
}

static int op_refuse_incompatible(struct d_unit *u, const struct d_node *n)
{
	return d_fail(u, n->line, D_OP_INCOMPAT, "operands have incompatible types: \"%s\" %s \"%s\"",
		      type_name(u, n->a->type), op_text(n), type_name(u, n->b->type));
}

/* ---- sums and pointers --------------------------------------------------- */

static bool points_to_size(struct d_unit *u, const struct d_type *t)
{
	return t->kind == TY_PTR && type_complete(u, t->to) == 0 && t->to->size != 0 && !t->to->incomplete;
}

/* *np, an integer, becomes 8 bytes times `size`. */
static int op_scale_pointer(struct d_unit *u, struct d_node **np, uint32_t size)
{
	int rc = convert(u, np, u->base[B_LONG]);
	if (rc < 0 || size == 1)
		return rc;
	if ((*np)->kind == N_INT)
		return fold_int(u, np, (int64_t)((uint64_t)(*np)->ival * size));
	struct d_node *n = node_new(u, N_BIN, (*np)->line);
	struct d_node *by = node_int(u, (*np)->line, u->base[B_LONG], size);
	if (n == NULL || by == NULL)
		return -TALLY_ENOMEM;
	n->op = OP_MUL;
	n->type = u->base[B_LONG];
	n->a = *np;
	n->b = by;
	*np = n;
	return 0;
}

static int pointer_difference(struct d_unit *u, struct d_node **np)
{
	struct d_node *n = *np, *d = node_new(u, N_BIN, n->line);
	uint32_t size = n->a->type->to->size;
	if (d == NULL)
		return -TALLY_ENOMEM;
	n->type = u->base[B_LONG];
	int rc = convert(u, &n->a, n->type);
	if (rc < 0 || (rc = convert(u, &n->b, n->type)) < 0)
		return rc;
	d->op = OP_DIV;
	d->type = n->type;
	d->a = n;
	d->b = node_int(u, n->line, n->type, size);
	if (size != 1)
		*np = d;
	return d->b == NULL ? -TALLY_ENOMEM : 0;
}

static int op_usual_conversions(struct d_unit *u, struct d_node **np);

int type_sum(struct d_unit *u, struct d_node **np)
{
	struct d_node *n = *np;
	int rc = decay(u, &n->a);
	if (rc < 0 || (rc = decay(u, &n->b)) < 0)
		return rc;
	if (ty_is_int(n->a->type) && ty_is_int(n->b->type))
		return op_usual_conversions(u, np);
	if (n->op == OP_ADD && ty_is_int(n->a->type) && n->b->type->kind == TY_PTR) {
		struct d_node *swap = n->a;
		n->a = n->b;
		n->b = swap;
	}
	if (n->op == OP_ADD && ty_is_int(n->a->type) && n->b->type->kind == TY_STRING) {
		struct d_node *swap = n->a;
		n->a = n->b;
		n->b = swap;
	}
	if (n->op == OP_ADD && n->a->type->kind == TY_STRING && ty_is_int(n->b->type)) {
		n->type = n->a->type;
		return convert(u, &n->b, u->base[B_LONG]);
	}
	if (points_to_size(u, n->a->type) && ty_is_int(n->b->type)) {
		n->type = n->a->type;
		return op_scale_pointer(u, &n->b, n->type->to->size);
	}
	if (n->op == OP_SUB && points_to_size(u, n->a->type) && ptr_compatible(n->a->type, n->b->type))
		return pointer_difference(u, np);
	return op_refuse_incompatible(u, n);
}

/* ---- arithmetic ---------------------------------------------------------- */

static int op_fold_constant(struct d_unit *u, struct d_node **np)
{
	struct d_node *n = *np;
	if ((n->op == OP_DIV || n->op == OP_MOD) && n->b->kind == N_INT && n->b->ival == 0)
		return d_fail(u, n->line, D_DIV_ZERO, "expression contains division by zero");
	if (n->a->kind != N_INT || n->b->kind != N_INT)
		return 0;
	/* For comparisons the type of the operands decides, not the node's. */
	return fold_int(u, np, fold_binary(n->op, n->a->type, n->a->ival, n->b->ival));
}

/* A sum or product of int constants that no int holds is a long, as the constant that is its value would be:
 * 30 * 1000000000 are the nanoseconds of half a minute. */
static const struct d_type *op_constant_type(struct d_unit *u, const struct d_node *n, const struct d_type *t)
{
	if (t != u->base[B_INT] || n->a->kind != N_INT || n->b->kind != N_INT)
		return t;
	int64_t v = n->op == OP_ADD ? n->a->ival + n->b->ival :
		    n->op == OP_SUB ? n->a->ival - n->b->ival :
		    n->op == OP_MUL ? n->a->ival * n->b->ival :
				      0;
	return v == (int32_t)v ? t : u->base[B_LONG];
}

/* The usual arithmetic conversions, and folding. */
static int op_usual_conversions(struct d_unit *u, struct d_node **np)
{
	struct d_node *n = *np;
	bool compares = n->op >= OP_EQ && n->op <= OP_GE;
	int rc;
	n->type = compares ? type_common(u, n->a, n->b) : op_constant_type(u, n, type_arithmetic(u, n->a, n->b));
	if ((rc = convert(u, &n->a, n->type)) < 0 || (rc = convert(u, &n->b, n->type)) < 0)
		return rc;
	return op_fold_constant(u, np);
}

static int integers_only(struct d_unit *u, const struct d_node *n)
{
	bool arithmetic = n->op == OP_MUL || n->op == OP_DIV;
	if (ty_is_int(n->a->type) && ty_is_int(n->b->type))
		return 0;
	if (arithmetic)
		return d_fail(u, n->line, D_OP_ARITH, "operator %s requires operands of arithmetic type", op_text(n));
	return d_fail(u, n->line, D_OP_INT, "operator %s requires operands of integral type", op_text(n));
}

/* What a constant shifted left needs: a longer type where its own would lose bits, as a literal of that value has. */
static const struct d_type *shifted_constant_type(struct d_unit *u, const struct d_node *n, const struct d_type *t)
{
	const struct d_type *wide = u->base[t->is_signed ? B_LONG : B_ULONG];
	if (n->op != OP_SHL || n->a->kind != N_INT || n->b->kind != N_INT)
		return t;
	return fold_binary(OP_SHL, t, n->a->ival, n->b->ival) == fold_binary(OP_SHL, wide, n->a->ival, n->b->ival) ?
		       t :
		       wide;
}

static int type_shift(struct d_unit *u, struct d_node **np)
{
	struct d_node *n = *np;
	int rc = integers_only(u, n);
	if (rc < 0)
		return rc;
	n->type = shifted_constant_type(u, n, type_promote(u, n->a));
	if ((rc = convert(u, &n->a, n->type)) < 0)
		return rc;
	return op_fold_constant(u, np);
}

static int type_comparison(struct d_unit *u, struct d_node **np)
{
	struct d_node *n = *np;
	int rc = 0;
	if (n->a->type->kind == TY_STRING && is_null_pointer(n->b))
		rc = null_string(u, &n->b);
	else if (n->b->type->kind == TY_STRING && is_null_pointer(n->a))
		rc = null_string(u, &n->a);
	if (rc < 0)
		return rc;
	const struct d_type *a = n->a->type, *b = n->b->type;
	if ((a->kind == TY_STRING || b->kind == TY_STRING) && ty_is_strcompat(a) && ty_is_strcompat(b)) {
		if ((rc = to_string(u, &n->a)) == 0)
			rc = to_string(u, &n->b);
	} else if (ty_is_int(a) && ty_is_int(b)) {
		if ((rc = op_usual_conversions(u, &n)) < 0)
			return rc;
		*np = n;
	} else {
		if ((rc = decay(u, &n->a)) < 0 || (rc = decay(u, &n->b)) < 0)
			return rc;
		a = n->a->type;
		b = n->b->type;
		if (!ptr_compatible(a, b) && !(a->kind == TY_PTR && ty_is_int(b)) &&
		    !(ty_is_int(a) && b->kind == TY_PTR))
			return op_refuse_incompatible(u, n);
		if ((rc = convert(u, &n->a, u->base[B_VOIDPTR])) < 0 ||
		    (rc = convert(u, &n->b, u->base[B_VOIDPTR])) < 0)
			return rc;
	}
	n->type = u->base[B_INT];
	return rc;
}

static int type_logical(struct d_unit *u, struct d_node **np)
{
	struct d_node *n = *np;
	int rc = decay(u, &n->a);
	if (rc < 0 || (rc = decay(u, &n->b)) < 0)
		return rc;
	if (!ty_is_scalar(n->a->type) || !ty_is_scalar(n->b->type))
		return d_fail(u, n->line, D_OP_SCALAR, "operator %s requires operands of scalar type", op_text(n));
	n->type = u->base[B_INT];
	return op_fold_constant(u, np);
}

int cook_operator(struct d_unit *u, struct d_node **np)
{
	struct d_node *n = *np;
	if (n->a->kind == N_AGG || n->b->kind == N_AGG)
		return d_fail(u, n->line, D_OP_INCOMPAT,
			      "operands have incompatible types: an aggregation is no value");
	int rc = cook_value(u, &n->a);
	if (rc < 0 || (rc = cook_value(u, &n->b)) < 0)
		return rc;
	switch (n->op) {
	case OP_ADD:
	case OP_SUB:
		return type_sum(u, np);
	case OP_SHL:
	case OP_SHR:
		return type_shift(u, np);
	case OP_EQ:
	case OP_NE:
	case OP_LT:
	case OP_LE:
	case OP_GT:
	case OP_GE:
		return type_comparison(u, np);
	case OP_LAND:
	case OP_LOR:
	case OP_LXOR:
		return type_logical(u, np);
	default:
		rc = integers_only(u, n);
		return rc < 0 ? rc : op_usual_conversions(u, np);
	}
}

/* ---- assignment ---------------------------------------------------------- */

/* The left side: typed, or with type NULL when it is a variable that has none yet. */
static int cook_left(struct d_unit *u, struct d_node *n)
{
	struct d_node *a = n->a;
	int rc = a->kind == N_VAR ? cook_var(u, a, true) : cook(u, &n->a);
	if (rc < 0)
		return rc;
	a = n->a;
	const struct d_node *root = place_root(a);
	if (a->kind == N_BUILTIN || a->kind == N_STRBUILTIN ||
	    (root != NULL && root->kind == N_DEREF && !scratch_points(root->a)) || in_string(a))
		return d_fail(u, n->line, D_OP_WRITE, "operator %s can only be applied to a writable variable",
			      op_text(n));
	if (root == NULL)
		return d_fail(u, n->line, D_OP_LVAL, "operator %s requires modifiable lvalue as an operand",
			      op_text(n));
	return 0;
}

/* Gives a variable the type of what is assigned to it for the first time. */
static int op_infer_variable(struct d_unit *u, struct d_node *var, const struct d_node *from)
{
	struct d_sym *s = var->sym;
	const struct d_type *t = from->type;
	if (t->kind == TY_STRING)
		t = type_string(u, u->strsize);
	else if (t->kind == TY_ARRAY || t->kind == TY_FUNC)
		return d_fail(u, var->line, D_OP_ARRFUN, "operator = may not be applied to operand of type \"%s\"",
			      type_name(u, t));
	else if (!ty_is_scalar(t) && !ty_is_sou(t))
		return d_fail(u, var->line, D_OP_INCOMPAT, "operands have incompatible types: \"%s\" = \"%s\"", s->name,
			      type_name(u, t));
	if (t == NULL)
		return -TALLY_ENOMEM;
	s->type = t;
	var->type = t;
	return 0;
}

static int assign_plain(struct d_unit *u, struct d_node *n)
{
	int rc = n->a->type == NULL ? op_infer_variable(u, n->a, n->b) : 0;
	if (rc < 0)
		return rc;
	const struct d_type *t = n->type = n->a->type;
	if (t->kind == TY_ARRAY)
		return d_fail(u, n->line, D_OP_ARRFUN, "operator = may not be applied to operand of type \"%s\"",
			      type_name(u, t));
	if (t->kind == TY_PTR && (rc = decay(u, &n->b)) < 0)
		return rc;
	if (t->kind == TY_STRING && n->b->kind == N_INT && n->b->ival == 0 && (rc = null_string(u, &n->b)) < 0)
		return rc;
	if (ty_is_sou(t) && n->b->kind == N_INT && n->b->ival == 0 && n->a->kind == N_VAR && n->a->sym->nkeys != 0) {
		n->b->type = t; /* frees it */
		return 0;
	}
	if (ty_is_int(t) && is_null_pointer(n->b) && (n->b = node_int(u, n->b->line, t, 0)) == NULL)
		return -TALLY_ENOMEM;
	if (t->kind == TY_FLOAT || !assignable(t, n->b))
		return op_refuse_incompatible(u, n);
	if (t->kind == TY_PTR && ty_is_sou(t->to) && n->b->type->kind == TY_PTR && n->b->type->translated &&
	    !t->translated)
		return xlate_refuse_kept(u, n->line);
	if (ty_is_sou(t) && !has_bytes(n->b) && n->b->kind != N_ASSIGN && n->b->kind != N_COMMA)
		return d_fail(u, n->line, D_UNSUPPORTED, "assigning a computed struct is not supported yet");
	if (t->kind == TY_STRING && (rc = to_string(u, &n->b)) < 0)
		return rc;
	const struct d_node *var = place_root(n->a);
	const bool holds_strings = t->kind == TY_STRING || (ty_is_sou(t) && n->b->kind != N_INT);
	if (holds_strings && var != NULL && var->kind == N_VAR && (string_nullable(n->b) || has_bytes(n->b)))
		var->sym->nullable = true; /* a variable may become so behind this */
	return (rc = convert(u, &n->b, t)) < 0 ? rc : scratch_assign(u, n);
}

static int assign_pointer(struct d_unit *u, struct d_node *n)
{
	if (!points_to_size(u, n->a->type))
		return d_fail(u, n->line, D_OP_VFPTR, "operator %s requires left-hand scalar operand of known size",
			      op_text(n));
	if (!ty_is_int(n->b->type))
		return op_refuse_incompatible(u, n);
	n->opty = n->a->type;
	return op_scale_pointer(u, &n->b, n->a->type->to->size);
}

static int assign_op(struct d_unit *u, struct d_node *n)
{
	bool sum = n->op == OP_ADD || n->op == OP_SUB, shift = n->op == OP_SHL || n->op == OP_SHR;
	int rc;
	if (n->a->type == NULL) /* counts from zero, as x++ does */
		n->a->sym->type = n->a->type = type_named(u, "int64_t");
	n->type = n->a->type;
	if (sum && n->type->kind == TY_PTR)
		return assign_pointer(u, n);
	if (sum && (!ty_is_int(n->type) || !ty_is_int(n->b->type)))
		return op_refuse_incompatible(u, n);
	if ((rc = integers_only(u, n)) < 0)
		return rc;
	if ((n->op == OP_DIV || n->op == OP_MOD) && n->b->kind == N_INT && n->b->ival == 0)
		return d_fail(u, n->line, D_DIV_ZERO, "expression contains division by zero");
	n->opty = shift ? type_promote(u, n->a) : type_arithmetic(u, n->a, n->b);
	return shift ? 0 : convert(u, &n->b, n->opty);
}

int cook_assign(struct d_unit *u, struct d_node **np)
{
	struct d_node *n = *np;
	if (n->a->kind == N_AGG)
		return d_fail(u, n->line, D_OP_LVAL, "operator %s requires modifiable lvalue as an operand",
			      op_text(n));
	int rc = cook_value(u, &n->b);
	if (rc < 0 || (rc = cook_left(u, n)) < 0)
		return rc;
	return n->op == OP_NONE ? assign_plain(u, n) : assign_op(u, n);
}

int assign_hidden(struct d_unit *u, struct d_node **value, struct d_node **kept)
{
	struct d_node *n = *value, *assign = node_new(u, N_ASSIGN, n->line), *left = var_hidden(u, n->type, n->line),
		      *var;
	if (assign == NULL || left == NULL || (var = node_clone(u, left, NULL)) == NULL)
		return -TALLY_ENOMEM;
	assign->a = left;
	assign->b = n;
	assign->type = n->type;
	*value = assign;
	*kept = var;
	return scratch_assign(u, assign);
}

int cook_incdec(struct d_unit *u, struct d_node **np)
{
	struct d_node *n = *np;
	if (n->a->kind == N_AGG)
		return d_fail(u, n->line, D_OP_LVAL, "operator %s requires modifiable lvalue as an operand",
			      op_text(n));
	int rc = cook_left(u, n);
	if (rc < 0)
		return rc;
	if (n->a->type == NULL)
		n->a->sym->type = n->a->type = type_named(u, "int64_t");
	n->type = n->a->type;
	if (!ty_is_scalar(n->type))
		return d_fail(u, n->line, D_OP_SCALAR, "operator %s requires operand of scalar type", op_text(n));
	if (n->type->kind == TY_PTR && !points_to_size(u, n->type))
		return d_fail(u, n->line, D_OP_VFPTR, "operator %s requires an operand of known size", op_text(n));
	if (n->type->kind == TY_PTR)
		n->ival *= n->type->to->size;
	return 0;
}
