/*
 * lower_emit.c: the functions with which the lowering writes instructions, objects and labels.
 *
 * If memory or D_OPERATIONS_MOST is exceeded, an instruction goes to a sink, so callers need not check each one; the
 * pass checks once, at its end.
 */
#include <string.h>

#include "dlang/lower_int.h"

struct ir_ins *lw_emit(struct lw *l, enum ir_op op)
{
	struct ir_ins *i = NULL;

	if (l->nins >= D_OPERATIONS_MOST)
		l->too_large = l->too_large ? l->too_large : l->clause_line;
	else
		i = VEC_NEW(l->ins, l->nins, l->ins_cap);
	if (!i) {
		l->failed = true;
		l->sink = (struct ir_ins){ 0 };
		return &l->sink;
	}
	i->op = (uint8_t)op;
	i->line = l->line;
	return i;
}

ir_reg lw_reg(struct lw *l)
{
	return l->nregs++;
}

ir_obj lw_object(struct lw *l, enum ir_objkind kind, uint32_t size, const char *name)
{
	struct ir_object *o = VEC_NEW(l->obj, l->p->nobjs, l->objs_cap);

	if (!o) {
		l->failed = true;
		return 0;
	}
	*o = (struct ir_object){ .kind = (uint8_t)kind, .size = (size + 7) & ~7u, .name = name };
	return l->p->nobjs - 1;
}

ir_obj lw_temp(struct lw *l, uint32_t size)
{
	return lw_object(l, IR_OBJ_TEMP, size, NULL);
}

uint32_t lw_label(struct lw *l)
{
	return l->nlabels++;
}

void lw_put(struct lw *l, uint32_t label)
{
	lw_emit(l, IR_LABEL)->x = label;
}

void lw_jmp(struct lw *l, uint32_t label)
{
	lw_emit(l, IR_JMP)->x = label;
}

void lw_const_to(struct lw *l, ir_reg d, int64_t v)
{
	struct ir_ins *i = lw_emit(l, IR_CONST);

	i->d = d;
	i->i = v;
}

void lw_move_to(struct lw *l, ir_reg d, ir_reg a)
{
	struct ir_ins *i = lw_emit(l, IR_MOV);

	i->d = d;
	i->a = a;
}

ir_reg lw_const(struct lw *l, int64_t v)
{
	ir_reg d = lw_reg(l);

	lw_const_to(l, d, v);
	return d;
}

ir_reg lw_binary(struct lw *l, enum ir_op op, ir_reg a, ir_reg b)
{
	struct ir_ins *i = lw_emit(l, op);

	i->a = a;
	i->b = b;
	return i->d = lw_reg(l);
}

ir_reg lw_unary(struct lw *l, enum ir_op op, ir_reg a)
{
	return lw_binary(l, op, a, 0);
}

void lw_jcmp(struct lw *l, ir_reg a, enum ir_cond cond, ir_reg b, uint32_t label)
{
	struct ir_ins *i = lw_emit(l, IR_JCMP);

	i->a = a;
	i->b = b;
	i->cond = (uint8_t)cond;
	i->x = label;
}

/* a converted to t: extended from the low bytes of t, or for _Bool whether it is not 0. */
ir_reg lw_extended(struct lw *l, ir_reg a, const struct d_type *t)
{
	struct ir_ins *i;

	if (t->is_bool) {
		ir_reg zero = lw_const(l, 0);

		i = lw_emit(l, IR_CMP);
		i->a = a;
		i->b = zero;
		i->cond = IR_NE;
		return i->d = lw_reg(l);
	}
	if (t->size >= 8 || t->size == 0)
		return a;
	i = lw_emit(l, t->is_signed ? IR_SEXT : IR_ZEXT);
	i->a = a;
	i->s = t->size;
	return i->d = lw_reg(l);
}

uint32_t lw_literal(struct lw *l, const char *s)
{
	const char **at;

	for (uint32_t k = 0; k < l->p->nlits; k++)
		if (!strcmp(l->lit[k], s))
			return k;
	at = VEC_NEW(l->lit, l->p->nlits, l->lits_cap);
	if (!at) {
		l->failed = true;
		return 0;
	}
	*at = s;
	return l->p->nlits - 1;
}

/* An object operation on o at off. */
struct ir_ins *lw_on(struct lw *l, enum ir_op op, ir_obj o, uint32_t off, uint32_t size)
{
	struct ir_ins *i = lw_emit(l, op);

	i->o = o;
	i->O = off;
	i->s = size;
	return i;
}

void lw_part(struct ir_ins *i, ir_obj p, uint32_t bound, ir_reg from, ir_reg most)
{
	i->p = p;
	i->i = bound;
	i->a = from;
	i->b = most;
}

void lw_fault(struct lw *l, enum ir_fault fault, ir_reg value)
{
	struct ir_ins *i = lw_emit(l, IR_FAULT);

	i->a = value;
	i->x = fault;
}

void lw_check_below(struct lw *l, ir_reg index, uint32_t n, enum ir_fault fault)
{
	uint32_t good = lw_label(l);

	lw_jcmp(l, index, IR_LTU, lw_const(l, n), good);
	lw_fault(l, fault, index);
	lw_put(l, good);
}

void lw_zero(struct lw *l, ir_obj o, uint32_t off, uint32_t size)
{
	if (size)
		lw_on(l, IR_OZERO, o, off, size);
}

void lw_copy(struct lw *l, ir_obj o, uint32_t off, ir_obj p, uint32_t poff, uint32_t size)
{
	struct ir_ins *i = lw_on(l, IR_OCOPY, o, off, size);

	i->p = p;
	i->P = poff;
}

ir_reg lw_builtin(struct lw *l, enum ir_builtin which)
{
	struct ir_ins *i = lw_emit(l, IR_BUILTIN);

	i->x = which;
	return i->d = lw_reg(l);
}

void lw_store8(struct lw *l, ir_obj o, uint32_t off, ir_reg a)
{
	lw_on(l, IR_OSTORE, o, off, 8)->a = a;
}

/* The largest piece that both offsets, and what is left, allow at once. */
static uint32_t piece_of(uint32_t off, uint32_t poff, uint32_t left)
{
	uint32_t n = 8;

	while (off % n || poff % n || n > left)
		n /= 2;
	return n;
}

void lw_move_bytes(struct lw *l, ir_obj o, uint32_t off, ir_obj p, uint32_t poff, uint32_t size)
{
	uint32_t whole = off % 8 == 0 && poff % 8 == 0 ? size & ~7u : 0;

	if (whole)
		lw_copy(l, o, off, p, poff, whole);
	for (uint32_t k = whole, n; k < size; k += n) {
		n = piece_of(off + k, poff + k, size - k);
		struct ir_ins *i = lw_on(l, IR_OLOAD, p, poff + k, n);
		ir_reg d = i->d = lw_reg(l);

		lw_on(l, IR_OSTORE, o, off + k, n)->a = d;
	}
}
