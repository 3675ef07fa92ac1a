/*
 * lower_expr.c: expressions to IR.
 *
 * A scalar becomes a register that is kept extended as its type says, so each
 * operation that can leave its width behind is followed by an extension.
 */
#include "dlang/lower_int.h"

/* ---- conditions -------------------------------------------------------------------------- */

static enum ir_cond cond_of(uint8_t op, const struct d_type *t)
{
	bool sign = t->kind == TY_STRING || (t->kind != TY_PTR && t->is_signed);

	switch (op) {
	case OP_EQ:
		return IR_EQ;
	case OP_NE:
		return IR_NE;
	case OP_LT:
		return sign ? IR_LT : IR_LTU;
	case OP_LE:
		return sign ? IR_LE : IR_LEU;
	case OP_GT:
		return sign ? IR_GT : IR_GTU;
	default:
		return sign ? IR_GE : IR_GEU;
	}
}

static enum ir_cond lower_opposite_cond(enum ir_cond c)
{
	static const uint8_t to[] = {
		[IR_EQ] = IR_NE, [IR_NE] = IR_EQ,   [IR_LT] = IR_GE,   [IR_LE] = IR_GT,   [IR_GT] = IR_LE,
		[IR_GE] = IR_LT, [IR_LTU] = IR_GEU, [IR_LEU] = IR_GTU, [IR_GTU] = IR_LEU, [IR_GEU] = IR_LTU
	};

	return to[c];
}

static bool is_comparison(const struct d_node *n)
{
	return n->kind == N_BIN && n->op >= OP_EQ && n->op <= OP_GE;
}

static void jump_compare(struct lw *l, const struct d_node *n, bool when, uint32_t label)
{
	enum ir_cond c = cond_of(n->op, n->a->type);
	ir_reg a, b;

	if (n->a->type->kind == TY_STRING) {
		a = lw_string_compare(l, n->a, n->b, n->op != OP_EQ && n->op != OP_NE);
		b = lw_const(l, 0);
	} else {
		a = lw_value(l, n->a);
		b = lw_value(l, n->b);
	}
	lw_jcmp(l, a, when ? c : lower_opposite_cond(c), b, label);
}

static void jump_logic(struct lw *l, const struct d_node *n, bool when, uint32_t label)
{
	/* a && b is false, a || b is true, as soon as one side says so */
	if ((n->op == OP_LOR) == when) {
		lw_jump(l, n->a, when, label);
		lw_jump(l, n->b, when, label);
	} else {
		uint32_t skip = lw_label(l);

		lw_jump(l, n->a, !when, skip);
		lw_jump(l, n->b, when, label);
		lw_put(l, skip);
	}
}

void lw_jump(struct lw *l, const struct d_node *n, bool when, uint32_t label)
{
	if (is_comparison(n)) {
		jump_compare(l, n, when, label);
	} else if (n->kind == N_BIN && (n->op == OP_LAND || n->op == OP_LOR)) {
		jump_logic(l, n, when, label);
	} else if (n->kind == N_UN && n->op == UN_LNOT) {
		lw_jump(l, n->a, !when, label);
	} else if (n->type->kind == TY_STRING) {
		ir_obj o = lw_string_object(l, n);
		struct ir_ins *i = lw_on(l, IR_OLOAD, o, 0, 1);
		ir_reg d = i->d = lw_reg(l);

		lw_jcmp(l, d, when ? IR_NE : IR_EQ, lw_const(l, 0), label);
	} else {
		ir_reg v = lw_value(l, n);

		lw_jcmp(l, v, when ? IR_NE : IR_EQ, lw_const(l, 0), label);
	}
}

static ir_reg lower_truth(struct lw *l, const struct d_node *n)
{
	ir_reg d = lw_reg(l);
	uint32_t yes = lw_label(l), end = lw_label(l);

	lw_jump(l, n, true, yes);
	lw_const_to(l, d, 0);
	lw_jmp(l, end);
	lw_put(l, yes);
	lw_const_to(l, d, 1);
	lw_put(l, end);
	return d;
}

/* ---- operators ------------------------------------------------------------------------------ */

static ir_reg lower_arithmetic(struct lw *l, uint8_t op, const struct d_type *t, ir_reg a, ir_reg b)
{
	bool sign = t->kind != TY_PTR && t->is_signed;

	switch (op) {
	case OP_ADD:
		return lw_extended(l, lw_binary(l, IR_ADD, a, b), t);
	case OP_SUB:
		return lw_extended(l, lw_binary(l, IR_SUB, a, b), t);
	case OP_MUL:
		return lw_extended(l, lw_binary(l, IR_MUL, a, b), t);
	case OP_DIV:
		return lw_extended(l, lw_binary(l, sign ? IR_DIVS : IR_DIVU, a, b), t);
	case OP_MOD:
		return lw_binary(l, sign ? IR_MODS : IR_MODU, a, b);
	case OP_AND:
		return lw_binary(l, IR_AND, a, b);
	case OP_OR:
		return lw_binary(l, IR_OR, a, b);
	case OP_XOR:
		return lw_binary(l, IR_XOR, a, b);
	case OP_SHL:
		return lw_extended(l, lw_binary(l, IR_SHL, a, b), t);
	default:
		return lw_binary(l, sign ? IR_SAR : IR_SHR, a, b);
	}
}

static ir_reg value_binary(struct lw *l, const struct d_node *n)
{
	ir_reg a, b;

	if (is_comparison(n) || n->op == OP_LAND || n->op == OP_LOR)
		return lower_truth(l, n);
	if (n->op == OP_LXOR) {
		a = lower_truth(l, n->a);
		return lw_binary(l, IR_XOR, a, lower_truth(l, n->b));
	}
	a = lw_value(l, n->a);
	b = lw_value(l, n->b);
	return lower_arithmetic(l, n->op, n->type, a, b);
}

static ir_reg value_unary(struct lw *l, const struct d_node *n)
{
	if (n->op == UN_LNOT)
		return lower_truth(l, n);
	return lw_extended(l, lw_unary(l, n->op == UN_NEG ? IR_NEG : IR_NOT, lw_value(l, n->a)), n->type);
}

static ir_reg value_assign(struct lw *l, const struct d_node *n)
{
	struct lw_lhs s = lw_lhs_of(l, n->a);
	ir_reg v;

	if (n->op == OP_NONE) {
		v = lw_value(l, n->b);
	} else {
		ir_reg old = lw_extended(l, lw_lhs_get(l, &s), n->opty), b = lw_value(l, n->b);

		v = lw_extended(l, lower_arithmetic(l, n->op, n->opty, old, b), n->type);
	}
	return lw_lhs_put(l, &s, v);
}

static ir_reg value_incdec(struct lw *l, const struct d_node *n)
{
	struct lw_lhs s = lw_lhs_of(l, n->a);
	ir_reg old = lw_lhs_get(l, &s), new = lw_extended(l, lw_binary(l, IR_ADD, old, lw_const(l, n->ival)), n->type);

	new = lw_lhs_put(l, &s, new);
	return n->pre ? new : old;
}

/* A chain a ? b : c ? d : e has one result: with one for each of its links a long chain would keep as many values
 * alive. */
static ir_reg value_cond(struct lw *l, const struct d_node *n)
{
	ir_reg d = lw_reg(l), v;
	uint32_t end = lw_label(l);

	for (; n->kind == N_COND; n = n->c) {
		uint32_t other = lw_label(l);

		lw_jump(l, n->a, false, other);
		v = lw_value(l, n->b);
		lw_move_to(l, d, v);
		lw_jmp(l, end);
		lw_put(l, other);
	}
	v = lw_value(l, n);
	lw_move_to(l, d, v);
	lw_put(l, end);
	return d;
}

/* caller and its like come from the frames of the stack: the caller's is the second. */
static ir_reg value_builtin(struct lw *l, enum ir_builtin b)
{
	const bool user = b == BI_UCALLER || b == BI_USTACKDEPTH, depth = b == BI_STACKDEPTH || b == BI_USTACKDEPTH;
	const uint32_t most = l->u->env.maxframes != 0 ? l->u->env.maxframes : D_FRAMES_USUAL;
	const uint32_t bytes = depth ? most * 8 : 16;
	struct ir_ins *i;
	ir_obj o;

	if (b < BI_CALLER || b > BI_USTACKDEPTH)
		return lw_builtin(l, b);
	o = lw_temp(l, bytes);
	i = lw_on(l, depth ? IR_STACKDEPTH : IR_OSTACK, o, 0, bytes);
	i->x = user;
	if (!depth)
		i = lw_on(l, IR_OLOAD, o, 8, 8);
	return i->d = lw_reg(l);
}

ir_reg lw_value(struct lw *l, const struct d_node *n)
{
	struct lw_lhs s;
	struct lw_place p;

	switch (n->kind) {
	case N_INT:
		return lw_const(l, n->ival);
	case N_BUILTIN:
		return value_builtin(l, (enum ir_builtin)n->ival);
	case N_UN:
		return value_unary(l, n);
	case N_BIN:
		return value_binary(l, n);
	case N_ASSIGN:
		return value_assign(l, n);
	case N_INCDEC:
		return value_incdec(l, n);
	case N_COND:
		return value_cond(l, n);
	case N_CALL:
		return lw_subr_number(l, n);
	case N_CAST:
		return lw_extended(l, lw_value(l, n->a), n->type);
	case N_COMMA:
		lw_effect(l, n->a);
		return lw_value(l, n->b);
	case N_ADDR:
		p = lw_place_of(l, n->a);
		return lw_address(l, &p);
	case N_ARGS:
		return lw_args_address(l, n->offset);
	default:
		s = lw_lhs_of(l, n);
		return lw_lhs_get(l, &s);
	}
}

/* ---- statements' ends --------------------------------------------------------------------------- */

/* n++, n += e and n -= e of a global whose value nobody reads: added atomically, so that no CPU's count is lost. */
static bool atomic_add(struct lw *l, const struct d_node *n)
{
	const struct d_node *a = n->a;
	ir_reg v;

	if ((n->kind != N_ASSIGN && n->kind != N_INCDEC) || a->kind != N_VAR || a->sym->kind != SYM_GLOBAL ||
	    !ty_is_scalar(a->type) || a->type->size < 4)
		return false;
	if (n->kind == N_INCDEC)
		v = lw_const(l, n->ival);
	else if (n->op == OP_ADD && n->opty->size == a->type->size)
		v = lw_value(l, n->b);
	else if (n->op == OP_SUB && n->opty->size == a->type->size)
		v = lw_unary(l, IR_NEG, lw_value(l, n->b));
	else
		return false;
	lw_on(l, IR_OADD, a->sym->ir, 0, a->type->size)->a = v;
	return true;
}

static void bytes_at(struct lw *l, const struct d_node *n, ir_obj o, uint32_t off)
{
	struct lw_place p = lw_place_of(l, n);
	struct ir_ins *i;

	lw_by_address(l, &p);
	if (p.o) {
		lw_move_bytes(l, o, off, p.o, p.off, n->type->size);
		return;
	}
	if (p.scratch)
		p.index = lw_scratch_address(l, p.index, n->type->size);
	i = lw_on(l, IR_OREAD, o, off, n->type->size);
	i->a = p.index;
	i->x = p.user;
}

/* A struct, union or array to an object: from an object, or read from memory. */
static void bytes_to(struct lw *l, const struct d_node *n, ir_obj o, uint32_t off)
{
	switch (n->kind) {
	case N_INT: /* 0 for a whole variable */
		lw_zero(l, o, off, n->type->size);
		break;
	case N_ASSIGN:
		lw_effect(l, n);
		bytes_at(l, n->a, o, off);
		break;
	case N_COMMA:
		lw_effect(l, n->a);
		bytes_to(l, n->b, o, off);
		break;
	case N_XLATE:
		lw_effect(l, n);
		bytes_at(l, n->a, o, off);
		break;
	default:
		bytes_at(l, n, o, off);
	}
}

static void assign_bytes(struct lw *l, const struct d_node *n)
{
	const uint32_t size = n->type->size, room = (size + 7) & ~7u;
	const struct d_node *a = n->a;
	ir_obj key = lw_is_dyn(a) ? lw_key_of(l, a) : 0, o = lw_temp(l, room);
	struct lw_place p;

	if (room != size || n->b->kind == N_INT)
		lw_zero(l, o, 0, room);
	if (n->b->type->kind == TY_STRING) /* text for an array of char, as long as that is */
		lw_string_slot(l, n->b, o, 0, room, false);
	else if (n->b->kind != N_INT)
		bytes_to(l, n->b, o, 0);
	if (key) {
		lw_dyn_set(l, a, key, o);
		return;
	}
	p = lw_place_of(l, a);
	lw_put_bytes(l, &p, o, size);
}

static void effect_assign(struct lw *l, const struct d_node *n)
{
	if (n->type->kind == TY_STRING) {
		lw_string_assign(l, n);
	} else if (ty_is_scalar(n->type)) {
		if (!atomic_add(l, n))
			value_assign(l, n);
	} else {
		assign_bytes(l, n);
	}
}

void lw_effect(struct lw *l, const struct d_node *n)
{
	uint32_t other, end;

	switch (n->kind) {
	case N_ASSIGN:
		effect_assign(l, n);
		break;
	case N_INCDEC:
		if (!atomic_add(l, n))
			value_incdec(l, n);
		break;
	case N_COMMA:
		lw_effect(l, n->a);
		lw_effect(l, n->b);
		break;
	case N_COND:
		other = lw_label(l);
		end = lw_label(l);
		lw_jump(l, n->a, false, other);
		lw_effect(l, n->b);
		lw_jmp(l, end);
		lw_put(l, other);
		lw_effect(l, n->c);
		lw_put(l, end);
		break;
	case N_XLATE:
		for (uint32_t i = 0; i < n->narg; i++)
			lw_effect(l, n->arg[i]);
		break;
	case N_CAST:
		if (n->type->kind == TY_VOID) {
			lw_effect(l, n->a);
			break;
		}
		/* fall through */
	default:
		if (n->type->kind == TY_STRING)
			lw_string_object(l, n);
		else if (ty_is_scalar(n->type))
			lw_value(l, n);
		else if (n->kind == N_CALL)
			lw_subr_number(l, n);
	}
}

/* ---- slots ------------------------------------------------------------------------------------- */

uint32_t lw_layout(const struct d_type *const *type, uint32_t n, struct slot *slot, uint32_t at, bool in_key)
{
	for (uint32_t k = 0; k < n; k++) {
		slot[k] = d_slot_of(type[k], in_key);
		slot[k].offset = at;
		at += slot[k].size;
	}
	return at;
}

/* Whose user memory, and which of its generations. */
static void where_slot(struct lw *l, ir_obj o, uint32_t at)
{
	if (!l->generation)
		l->generation = lw_builtin(l, BI_GENERATION);
	lw_store8(l, o, at, lw_builtin(l, BI_PID));
	lw_store8(l, o, at + 8, l->generation);
}

static void stack_slot(struct lw *l, const struct slot *s, ir_obj o, bool in_key)
{
	bool user = s->kind == SLOT_USTACK;
	uint32_t at = s->offset;
	struct ir_ins *i;
	ir_reg d;

	if (user) {
		where_slot(l, o, at);
		at += SLOT_WHERE_BYTES;
	}
	if (!in_key) {
		lw_on(l, IR_OSTACK, o, at, s->size - (at - s->offset))->x = user;
		return;
	}
	i = lw_emit(l, IR_STACKID);
	i->x = user;
	i->i = s->frames;
	d = i->d = lw_reg(l);
	lw_store8(l, o, at, d);
}

void lw_slot(struct lw *l, const struct d_node *n, ir_obj o, const struct slot *s, bool in_key)
{
	switch (s->kind) {
	case SLOT_INT:
		lw_store8(l, o, s->offset, lw_value(l, n));
		break;
	case SLOT_STRING:
		lw_string_slot(l, n, o, s->offset, s->size, in_key);
		break;
	case SLOT_BYTES:
	case SLOT_FLOAT:
		lw_zero(l, o, s->offset, s->size);
		bytes_to(l, n, o, s->offset);
		break;
	case SLOT_KSTACK:
	case SLOT_USTACK:
		stack_slot(l, s, o, in_key);
		break;
	case SLOT_KSYM:
	case SLOT_KFUNC:
	case SLOT_KMOD:
	case SLOT_KADDR:
		lw_store8(l, o, s->offset, lw_value(l, n->a));
		break;
	default:
		where_slot(l, o, s->offset);
		lw_store8(l, o, s->offset + SLOT_WHERE_BYTES, lw_value(l, n->a));
	}
}
