/*
 * fold.c: constants, computed as the program would compute them: in the type of the
 * operation, cut and extended to it, with shifts by the low six bits of their count.
 */
#include "dlang/type_int.h"

static int64_t fold_divide(enum n_op op, const struct d_type *t, int64_t a, int64_t b)
{
	if (!t->is_signed)
		return (int64_t)(op == OP_DIV ? (uint64_t)a / (uint64_t)b : (uint64_t)a % (uint64_t)b);
	if (b == -1) /* INT64_MIN / -1 would trap */
		return op == OP_DIV ? (int64_t)(0 - (uint64_t)a) : 0;
	return op == OP_DIV ? a / b : a % b;
}

static int64_t fold_compare(enum n_op op, bool is_signed, int64_t a, int64_t b)
{
	bool less = is_signed ? a < b : (uint64_t)a < (uint64_t)b;
	switch (op) {
	case OP_EQ:
		return a == b;
	case OP_NE:
		return a != b;
	case OP_LT:
		return less;
	case OP_LE:
		return less || a == b;
	case OP_GT:
		return !less && a != b;
	default:
		return !less;
	}
}

static int64_t fold_shift(enum n_op op, const struct d_type *t, int64_t a, int64_t b)
{
	unsigned by = (unsigned)b & 63;
	if (op == OP_SHL)
		return (int64_t)((uint64_t)a << by);
	return t->is_signed ? a >> by : (int64_t)((uint64_t)a >> by);
}

int64_t fold_binary(enum n_op op, const struct d_type *t, int64_t a, int64_t b)
{
	uint64_t x = (uint64_t)a, y = (uint64_t)b;
	switch (op) {
	case OP_ADD:
		return type_extend(t, x + y);
	case OP_SUB:
		return type_extend(t, x - y);
	case OP_MUL:
		return type_extend(t, x * y);
	case OP_DIV:
	case OP_MOD:
		return type_extend(t, (uint64_t)fold_divide(op, t, a, b));
	case OP_AND:
		return a & b;
	case OP_OR:
		return a | b;
	case OP_XOR:
		return type_extend(t, x ^ y);
	case OP_SHL:
	case OP_SHR:
		return type_extend(t, (uint64_t)fold_shift(op, t, a, b));
	case OP_LAND:
		return a != 0 && b != 0;
	case OP_LOR:
		return a != 0 || b != 0;
	case OP_LXOR:
		return (a != 0) != (b != 0);
	default:
		return fold_compare(op, t->is_signed, a, b);
	}
}
