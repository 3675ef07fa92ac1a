/*
 * scratch.c: which pointers lead into scratch memory.
 *
 * alloca() and copyin() give memory that belongs to the clause and ends with it. A pointer into it is not an address
 * but an offset from the start of that memory (the first 8 bytes are unused, so NULL is invalid), and each access
 * compares it with the number of allocated bytes. So the compiler must know for each pointer which kind it is. It
 * follows pointers through sums, casts and variables; a variable holds pointers of one kind only, in all clauses.
 */
#include "dlang/parse_int.h"
#include "dlang/type_int.h"

static bool scratch_type_ok(const struct d_type *t)
{
	return t->kind == TY_PTR || (ty_is_int(t) && t->size == 8);
}

static bool scratch_points_place(const struct d_node *n)
{
	const struct d_node *root = place_root(n);
	return root != NULL && root->kind == N_VAR && root->sym->scratch && scratch_type_ok(n->type);
}

bool scratch_points(const struct d_node *n)
{
	const struct d_node *root;
	switch (n->kind) {
	case N_CALL:
		return d_calls[n->call].result == 'p';
	case N_VAR:
	case N_MEMBER:
	case N_INDEX:
		return scratch_points_place(n);
	case N_ADDR:
		root = place_root(n->a);
		return root != NULL && root->kind == N_DEREF && scratch_points(root->a);
	case N_CAST:
		return scratch_type_ok(n->type) && scratch_points(n->a);
	case N_BIN:
		if (n->op == OP_SUB)
			return scratch_points(n->a) && !scratch_points(n->b);
		return n->op == OP_ADD && (scratch_points(n->a) || scratch_points(n->b));
	case N_ASSIGN:
		return scratch_points(n->op == OP_NONE ? n->b : n->a);
	case N_INCDEC:
		return scratch_points(n->a);
	case N_COND:
		return scratch_points(n->b) || scratch_points(n->c);
	case N_COMMA:
		return scratch_points(n->b);
	default:
		return false;
	}
}

static bool scratch_is_null(const struct d_node *n)
{
	return n->kind == N_INT && n->ival == 0;
}

/* A choice between a pointer into scratch memory and another one. */
static bool scratch_is_mixed(const struct d_node *n)
{
	while (n->kind == N_CAST)
		n = n->a;
	if (n->kind != N_COND || scratch_is_null(n->b) || scratch_is_null(n->c))
		return false;
	return scratch_points(n->b) != scratch_points(n->c) || scratch_is_mixed(n->b) || scratch_is_mixed(n->c);
}

/* The variable of an assignment keeps to one sort of pointers. As in dtrace(1) the line that is told is that of the
 * clause. */
int scratch_assign(struct d_unit *u, const struct d_node *n)
{
	const struct d_node *root = place_root(n->a);
	if (root == NULL || root->kind != N_VAR || !scratch_type_ok(n->a->type))
		return 0;
	struct d_sym *s = root->sym;
	const bool into = scratch_points(n->b);
	if (into && scratch_is_mixed(n->b))
		return d_fail(
			u, n->line, D_ALLOCA_INCOMPAT,
			"ternary conditional with alloca and non-alloca branches cannot be assigned to a variable");
	if (!into && (n->a->type->kind != TY_PTR || scratch_is_null(n->b)))
		return 0;
	if (into ? s->elsewhere : s->scratch)
		return d_fail(u, u->cur_clause->line, D_ALLOCA_INCOMPAT,
			      "%s: cannot reuse the same identifier for both alloca and non-alloca allocations",
			      s->name);
	*(into ? &s->scratch : &s->elsewhere) = true;
	return 0;
}
