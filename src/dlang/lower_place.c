/*
 * lower_place.c: the places of values: variables with keys, members, elements, the context, memory.
 *
 * A place is computed once and then read, written, or both, since a key or an index may have side effects.
 */
#include "dlang/lower_int.h"

/* ---- variables with keys ------------------------------------------------------ */

/* The key object of a thread-local or associative variable at this use.  A user address is the same key in every
 * generation. */
ir_obj lw_key_of(struct lw *l, const struct d_node *n)
{
	const struct d_var *v = &l->p->var[n->sym->ir];
	ir_obj key = lw_temp(l, v->key_size);
	const ir_reg of_tuple = l->generation;
	uint32_t at = 0;

	l->generation = n->narg ? lw_const(l, 0) : 0;
	if (v->is_self) {
		lw_store8(l, key, 0, lw_builtin(l, BI_THREAD));
		at = 8;
	}
	for (uint32_t k = 0; k < n->narg; k++) {
		struct slot s = d_slot_of(n->sym->keys[k], true);

		s.offset = at;
		lw_slot(l, n->arg[k], key, &s, true);
		at += s.size;
	}
	l->generation = of_tuple;
	return key;
}

bool lw_is_dyn(const struct d_node *n)
{
	return n->kind == N_VAR && (n->sym->kind == SYM_SELF || n->sym->kind == SYM_ASSOC);
}

ir_obj lw_dyn_get(struct lw *l, const struct d_node *n, ir_obj key)
{
	ir_obj o = lw_temp(l, l->p->var[n->sym->ir].value_size);
	struct ir_ins *i = lw_emit(l, IR_DYNGET);

	if (!l->failed)
		l->obj[o].indexed = n->sym->indexed;
	i->o = o;
	i->p = key;
	i->x = n->sym->ir;
	return o;
}

void lw_dyn_set(struct lw *l, const struct d_node *n, ir_obj key, ir_obj value)
{
	struct ir_ins *i = lw_emit(l, IR_DYNSET);

	i->x = n->sym->ir;
	i->p = key;
	i->o = value;
}

/* ---- places ---------------------------------------------------------------------- */

ir_reg lw_args_address(struct lw *l, uint32_t off)
{
	struct ir_ins *i = lw_emit(l, IR_ARGS);

	i->O = off;
	return i->d = lw_reg(l);
}

static ir_reg reg_scaled(struct lw *l, ir_reg a, uint32_t n)
{
	return n == 1 ? a : lw_binary(l, IR_MUL, a, lw_const(l, n));
}

ir_reg lw_address(struct lw *l, const struct lw_place *p)
{
	struct ir_ins *i;
	ir_reg d;

	if (p->args)
		return lw_args_address(l, p->off);
	if (!p->o)
		return p->index;
	i = lw_emit(l, IR_OADDR);
	i->o = p->o;
	i->O = p->off;
	d = i->d = lw_reg(l);
	if (!p->index)
		return d;
	lw_check_below(l, p->index, p->limit, FAULT_BADINDEX);
	return lw_binary(l, IR_ADD, d, reg_scaled(l, p->index, p->stride));
}

void lw_by_address(struct lw *l, struct lw_place *p)
{
	if (p->args || (p->o && p->index))
		*p = (struct lw_place){ .index = lw_address(l, p) };
}

/* An element of an array in an object. A second index makes both a number of bytes. */
static void place_index(struct lw *l, struct lw_place *p, const struct d_type *array, ir_reg index)
{
	const uint32_t size = array->to->size;

	if (!p->index) {
		p->index = index;
		p->limit = array->n;
		p->stride = size;
		return;
	}
	lw_check_below(l, p->index, p->limit, FAULT_BADINDEX);
	lw_check_below(l, index, array->n, FAULT_BADINDEX);
	p->index = lw_binary(l, IR_ADD, reg_scaled(l, p->index, p->stride), reg_scaled(l, index, size));
	p->limit = (p->limit - 1) * p->stride + (array->n - 1) * size + 1;
	p->stride = 1;
}

static struct lw_place place_of_variable(struct lw *l, const struct d_node *n)
{
	struct lw_place p = { .o = n->sym->ir };

	if (!lw_is_dyn(n))
		return p;
	p.dyn = n;
	p.key = lw_key_of(l, n);
	p.o = lw_dyn_get(l, n, p.key);
	return p;
}

struct lw_place lw_place_of(struct lw *l, const struct d_node *n)
{
	struct lw_place p;

	switch (n->kind) {
	case N_DEREF:
		if (n->a->kind == N_ARGS)
			return (struct lw_place){ .args = true, .off = n->a->offset };
		return (struct lw_place){ .index = lw_value(l, n->a),
					  .user = n->a->type->user,
					  .scratch = scratch_points(n->a) };
	case N_MEMBER:
		p = lw_place_of(l, n->a);
		if (p.o || p.args)
			p.off += n->offset;
		else if (n->offset)
			p.index = lw_binary(l, IR_ADD, p.index, lw_const(l, n->offset));
		return p;
	case N_INDEX:
		if (n->a->type->kind == TY_STRING)
			return lw_string_byte(l, n);
		p = lw_place_of(l, n->a);
		if (p.o)
			place_index(l, &p, n->a->type, lw_value(l, n->b));
		else
			p.index = lw_binary(l, IR_ADD, lw_address(l, &p),
					    reg_scaled(l, lw_value(l, n->b), n->a->type->to->size));
		p.args = false;
		return p;
	default:
		return place_of_variable(l, n);
	}
}

ir_reg lw_args_load(struct lw *l, uint32_t off, uint32_t size)
{
	struct ir_ins *i = lw_emit(l, IR_ARGLOAD);

	i->O = off;
	i->s = size;
	return i->d = lw_reg(l);
}

/* The type of what is loaded and stored for n: an unsigned integer for a bit-field. */
static const struct d_type *loaded_type(const struct d_node *n, struct d_type *unit)
{
	if (n->kind != N_MEMBER || !n->bits)
		return n->type;
	*unit = (struct d_type){ .kind = TY_INT, .size = n->unit, .align = n->unit };
	return unit;
}

/* The scalar n at p; of a bit-field all that is loaded for it. */
static ir_reg lower_place_load(struct lw *l, const struct lw_place *at, const struct d_node *n)
{
	struct d_type unit;
	const struct d_type *t = loaded_type(n, &unit);
	bool sign = t->is_signed && t->size < 8;
	struct lw_place whole = *at, *p = &whole;
	struct ir_ins *i;

	lw_scratch_place(l, p, t->size);
	if (p->args) {
		ir_reg v = lw_args_load(l, p->off, t->size);

		return sign ? lw_extended(l, v, t) : v;
	}
	if (!p->o) {
		ir_obj o = lw_temp(l, 8);

		i = lw_on(l, IR_OREAD, o, 0, t->size);
		i->a = p->index;
		i->x = p->user;
		i = lw_on(l, sign ? IR_OLOADS : IR_OLOAD, o, 0, t->size);
	} else if (p->index) {
		i = lw_on(l, sign ? IR_OLOADXS : IR_OLOADX, p->o, p->off, t->size);
		i->b = p->index;
		i->i = p->limit;
		i->x = p->stride;
	} else {
		i = lw_on(l, sign ? IR_OLOADS : IR_OLOAD, p->o, p->off, t->size);
	}
	return i->d = lw_reg(l);
}

static void lower_place_store(struct lw *l, const struct lw_place *at, const struct d_node *n, ir_reg v)
{
	struct d_type unit;
	const struct d_type *t = loaded_type(n, &unit);
	struct lw_place whole = *at, *p = &whole;
	struct ir_ins *i;

	lw_scratch_place(l, p, t->size);
	i = lw_on(l, p->index ? IR_OSTOREX : IR_OSTORE, p->o, p->off, t->size);
	i->a = v;
	i->b = p->index;
	i->i = p->limit;
	i->x = p->stride;
}

/* What was computed since the value was copied may have changed the variable: the copy is made again before a part of
 * it changes. */
static void place_refresh(struct lw *l, const struct lw_place *p)
{
	struct ir_ins *i;

	if (!p->dyn)
		return;
	i = lw_emit(l, IR_DYNGET);
	i->o = p->o;
	i->p = p->key;
	i->x = p->dyn->sym->ir;
}

static void place_keep(struct lw *l, const struct lw_place *p)
{
	if (p->dyn)
		lw_dyn_set(l, p->dyn, p->key, p->o);
}

void lw_put_bytes(struct lw *l, const struct lw_place *at, ir_obj from, uint32_t size)
{
	struct lw_place whole = *at, *p = &whole;
	struct ir_ins *i;

	lw_scratch_place(l, p, size);
	place_refresh(l, p);
	if (!p->index)
		lw_move_bytes(l, p->o, p->off, from, 0, size);
	for (uint32_t k = 0, n = 8; p->index && k < size; k += n) {
		while (n > size - k || p->off % n || p->stride % n)
			n /= 2;
		i = lw_on(l, IR_OLOAD, from, k, n);
		ir_reg d = i->d = lw_reg(l);

		i = lw_on(l, IR_OSTOREX, p->o, p->off + k, n);
		i->a = d;
		i->b = p->index;
		i->i = p->limit;
		i->x = p->stride;
	}
	place_keep(l, p);
}

/* The bit-field n of v, from `bit` on: of its unit, which is loaded whole, or of a value that is put into it. */
static ir_reg field_part(struct lw *l, const struct d_node *n, ir_reg v, unsigned bit)
{
	ir_reg up = lw_binary(l, IR_SHL, v, lw_const(l, 64 - bit - n->bits));

	return lw_binary(l, n->type->is_signed ? IR_SAR : IR_SHR, up, lw_const(l, 64 - n->bits));
}

static ir_reg field_put(struct lw *l, const struct d_node *n, ir_reg unit, ir_reg v)
{
	int64_t mask = (int64_t)((n->bits == 64 ? ~0ull : (1ull << n->bits) - 1) << n->bit);
	ir_reg old = lw_binary(l, IR_AND, unit, lw_const(l, ~mask));
	ir_reg new = lw_binary(l, IR_AND, lw_binary(l, IR_SHL, v, lw_const(l, n->bit)), lw_const(l, mask));

	return lw_binary(l, IR_OR, old, new);
}

struct lw_lhs lw_lhs_of(struct lw *l, const struct d_node *n)
{
	if (lw_is_dyn(n))
		return (struct lw_lhs){ .n = n, .key = lw_key_of(l, n) };
	return (struct lw_lhs){ .n = n, .p = lw_place_of(l, n) };
}

ir_reg lw_lhs_get(struct lw *l, const struct lw_lhs *s)
{
	const struct d_node *n = s->n;
	struct lw_place p = s->p;
	ir_reg v;

	if (lw_is_dyn(n))
		p = (struct lw_place){ .o = lw_dyn_get(l, n, s->key) };
	v = lower_place_load(l, &p, n);
	return n->kind == N_MEMBER && n->bits ? field_part(l, n, v, n->bit) : v;
}

/* Returns what the place holds now: the value of an assignment. */
ir_reg lw_lhs_put(struct lw *l, const struct lw_lhs *s, ir_reg v)
{
	const struct d_node *n = s->n;

	if (lw_is_dyn(n)) {
		ir_obj o = lw_temp(l, 8);

		lw_store8(l, o, 0, v);
		lw_dyn_set(l, n, s->key, o);
		return v;
	}
	place_refresh(l, &s->p);
	if (n->kind == N_MEMBER && n->bits) {
		lower_place_store(l, &s->p, n, field_put(l, n, lower_place_load(l, &s->p, n), v));
		v = field_part(l, n, v, 0);
	} else {
		lower_place_store(l, &s->p, n, v);
	}
	place_keep(l, &s->p);
	return v;
}
