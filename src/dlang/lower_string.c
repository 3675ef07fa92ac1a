/*
 * lower_string.c: strings into objects, and numbers from strings.
 *
 * A string is never a value of its own: it is written into an object (lw_string), so a literal or execname goes
 * directly into a key or record. Its bound is its type's size; unused bytes are zero.
 */
#include "dlang/lower_int.h"
#include <assert.h>

/* Behind `from` bytes of a string that were put into `size`: pads, or cuts and keeps a NUL last. */
static void end_string(struct lw *l, ir_obj o, uint32_t off, uint32_t size, uint32_t from)
{
	if (from < size) {
		lw_zero(l, o, off + from, size - from);
	} else if (from > size) {
		ir_reg nul = lw_const(l, 0);

		lw_on(l, IR_OSTORE, o, off + size - 1, 1)->a = nul;
	}
}

/* Copies a string of bound `from` at p into `size` bytes. */
static void string_copy(struct lw *l, ir_obj o, uint32_t off, uint32_t size, ir_obj p, uint32_t poff, uint32_t from)
{
	lw_copy(l, o, off, p, poff, from < size ? from : size);
	end_string(l, o, off, size, from);
}

/* An object, at offset 0, that holds the string: a variable's own where that will do. */
ir_obj lw_string_object(struct lw *l, const struct d_node *n)
{
	ir_obj o;

	if (n->kind == N_VAR && !lw_is_dyn(n))
		return n->sym->ir;
	if (lw_is_dyn(n))
		return lw_dyn_get(l, n, lw_key_of(l, n));
	o = lw_temp(l, n->type->size);
	lw_string(l, n, o, 0, n->type->size);
	return o;
}

/* The first word of a string, as a number. */
static ir_reg string_word(struct lw *l, ir_obj o, uint32_t off)
{
	struct ir_ins *i = lw_on(l, IR_OLOAD, o, off, 8);

	return i->d = lw_reg(l);
}

/* Faults if the string at o is NULL. value: what address that is, or 0: none. */
static void string_check_not_null(struct lw *l, ir_obj o, uint32_t off, ir_reg value)
{
	uint32_t good = lw_label(l);

	if (!value)
		value = lw_const(l, 0);
	lw_jcmp(l, string_word(l, o, off), IR_NE, lw_const(l, D_NULL_STRING), good);
	lw_fault(l, FAULT_BADADDR, value);
	lw_put(l, good);
}

/* An object as lw_string_object() gives it, of a string that must not be NULL. */
ir_obj lw_string_argument(struct lw *l, const struct d_node *n)
{
	ir_obj o = lw_string_object(l, n);

	if (string_nullable(n))
		string_check_not_null(l, o, 0, 0);
	return o;
}

/* A string to a record, where NULL faults, or to a key, where it is "". */
void lw_string_slot(struct lw *l, const struct d_node *n, ir_obj o, uint32_t off, uint32_t size, bool in_key)
{
	uint32_t some;

	lw_string(l, n, o, off, size);
	if (!string_nullable(n))
		return;
	if (!in_key) {
		string_check_not_null(l, o, off, 0);
		return;
	}
	some = lw_label(l);
	lw_jcmp(l, string_word(l, o, off), IR_NE, lw_const(l, D_NULL_STRING), some);
	lw_store8(l, o, off, lw_const(l, 0));
	lw_put(l, some);
}

/* s[i] */
struct lw_place lw_string_byte(struct lw *l, const struct d_node *n)
{
	struct lw_place p = { .o = lw_string_object(l, n->a), .stride = 1, .limit = n->a->type->size };
	ir_reg index = lw_value(l, n->b);

	if (string_nullable(n->a))
		string_check_not_null(l, p.o, 0, index);
	lw_check_below(l, index, p.limit, FAULT_BADADDR);
	if (n->b->kind == N_INT) {
		p.off = n->b->ival >= 0 && n->b->ival < (int64_t)p.limit ? (uint32_t)n->b->ival : 0;
		return p;
	}
	p.index = index;
	if (!l->failed && l->obj[p.o].kind == IR_OBJ_TEMP)
		l->obj[p.o].indexed = true;
	return p;
}

/* s + i: what the string is from that byte on */
static void string_offset(struct lw *l, const struct d_node *n, ir_obj o, uint32_t off, uint32_t size)
{
	ir_obj p = lw_string_object(l, n->a);
	const uint32_t bound = n->a->type->size;
	ir_reg from = lw_value(l, n->b), most;

	if (string_nullable(n->a))
		string_check_not_null(l, p, 0, from);
	lw_check_below(l, from, bound, FAULT_BADADDR);
	most = lw_const(l, bound);
	lw_part(lw_on(l, IR_SSUB, o, off, size), p, bound, from, most);
}

/* max(v, 0), at most `most` */
static ir_reg lower_clamp(struct lw *l, ir_reg v, ir_reg most)
{
	ir_reg d = lw_reg(l), zero_reg = lw_const(l, 0);
	uint32_t low = lw_label(l), high = lw_label(l), end = lw_label(l);

	lw_jcmp(l, v, IR_LT, zero_reg, low);
	lw_jcmp(l, v, IR_GT, most, high);
	lw_move_to(l, d, v);
	lw_jmp(l, end);
	lw_put(l, low);
	lw_const_to(l, d, 0);
	lw_jmp(l, end);
	lw_put(l, high);
	lw_move_to(l, d, most);
	lw_put(l, end);
	return d;
}

ir_reg lw_string_length(struct lw *l, ir_obj p, uint32_t bound)
{
	struct ir_ins *i = lw_emit(l, IR_SLEN);

	i->p = p;
	i->s = bound;
	return i->d = lw_reg(l);
}

/* d = a + b, d given: where two ways meet. */
static void add_to(struct lw *l, ir_reg d, ir_reg a, ir_reg b)
{
	struct ir_ins *i = lw_emit(l, IR_ADD);

	i->d = d;
	i->a = a;
	i->b = b;
}

/* if (v < 0) v += len; */
static ir_reg from_end(struct lw *l, ir_reg v, ir_reg len)
{
	ir_reg d = lw_reg(l);
	uint32_t done = lw_label(l);

	lw_move_to(l, d, v);
	lw_jcmp(l, v, IR_GE, lw_const(l, 0), done);
	add_to(l, d, v, len);
	lw_put(l, done);
	return d;
}

/* Where a part that begins at `from` ends: `want` bytes behind, or so many before the end.  One that begins before the
 * string and would end so many bytes before its end is empty, as in DTrace. */
static ir_reg part_end(struct lw *l, ir_reg from, ir_reg want, ir_reg len)
{
	ir_reg to = lw_reg(l);
	uint32_t back = lw_label(l), done = lw_label(l);

	lw_jcmp(l, want, IR_LT, lw_const(l, 0), back);
	add_to(l, to, from, want);
	lw_jmp(l, done);
	lw_put(l, back);
	add_to(l, to, len, want);
	lw_jcmp(l, from, IR_GE, lw_const(l, 0), done);
	lw_const_to(l, to, 0);
	lw_put(l, done);
	return to;
}

/*
 * substr(s, index, length): a negative index counts from the end of s (and what
 * lies before its start is cut off), a negative length leaves so many bytes at the end off.
 */
static void lower_substr(struct lw *l, const struct d_node *n, ir_obj o, uint32_t off, uint32_t size)
{
	ir_obj p = lw_string_argument(l, n->arg[0]);
	uint32_t bound = n->arg[0]->type->size;
	ir_reg index = lw_value(l, n->arg[1]), len = lw_string_length(l, p, bound), from = from_end(l, index, len);
	ir_reg to = n->narg == 3 ? part_end(l, from, lw_value(l, n->arg[2]), len) : len, room;

	from = lower_clamp(l, from, lw_const(l, bound));
	room = lower_clamp(l, lw_binary(l, IR_SUB, to, from), lw_const(l, bound));
	lw_part(lw_on(l, IR_SSUB, o, off, size), p, bound, from, room);
}

static void lower_strjoin(struct lw *l, const struct d_node *n, ir_obj o, uint32_t off, uint32_t size)
{
	ir_obj p = lw_string_argument(l, n->arg[0]), q = lw_string_argument(l, n->arg[1]);
	uint32_t np = n->arg[0]->type->size, nq = n->arg[1]->type->size;
	ir_obj whole = lw_temp(l, np + nq);
	struct ir_ins *i = lw_on(l, IR_SJOIN, whole, 0, np + nq);

	i->p = p;
	i->i = np;
	i->q = q;
	i->x = nq;
	string_copy(l, o, off, size, whole, 0, np + nq);
}

static void path_part(struct lw *l, const struct d_node *n, enum ir_op op, ir_obj o, uint32_t off, uint32_t size)
{
	ir_obj p = lw_string_argument(l, n->arg[0]);
	struct ir_ins *i = lw_on(l, op, o, off, size);

	i->p = p;
	i->i = n->arg[0]->type->size;
}

static void string_call(struct lw *l, const struct d_node *n, ir_obj o, uint32_t off, uint32_t size)
{
	switch (n->call) {
	case CALL_substr:
		lower_substr(l, n, o, off, size);
		break;
	case CALL_strjoin:
		lower_strjoin(l, n, o, off, size);
		break;
	case CALL_basename:
		path_part(l, n, IR_SBASE, o, off, size);
		break;
	case CALL_dirname:
		path_part(l, n, IR_SDIR, o, off, size);
		break;
	default:
		lw_subr_string(l, n, o, off, size);
	}
}

static void string_at(struct lw *l, ir_reg address, bool user, ir_obj o, uint32_t off, uint32_t size)
{
	struct ir_ins *i = lw_on(l, IR_OREADSTR, o, off, size);

	i->a = address;
	i->x = user;
}

/* An array of char in an object, which may lie unaligned and need not end in a NUL. */
static void string_array(struct lw *l, const struct d_node *n, ir_obj o, uint32_t off, uint32_t size)
{
	struct lw_place p = lw_place_of(l, n);
	uint32_t most = n->type->n < size - 1 ? n->type->n : size - 1;

	lw_by_address(l, &p);
	if (!p.o) {
		if (p.scratch)
			p.index = lw_scratch_address(l, p.index, 1);
		string_at(l, p.index, p.user, o, off, n->type->n < size ? (n->type->n + 8) & ~7u : size);
		return;
	}
	lw_zero(l, o, off, size);
	lw_move_bytes(l, o, off, p.o, p.off, most);
}

static void string_cast(struct lw *l, const struct d_node *n, ir_obj o, uint32_t off, uint32_t size)
{
	const struct d_type *from = n->a->type;
	uint32_t own = n->type->size;

	if (own < size)
		lw_zero(l, o, off + own, size - own);
	else
		own = size;
	if (from->kind == TY_STRING && from->size <= own)
		lw_string(l, n->a, o, off, own);
	else if (from->kind == TY_STRING)
		string_copy(l, o, off, own, lw_string_object(l, n->a), 0, from->size);
	else if (from->kind == TY_ARRAY)
		string_array(l, n->a, o, off, own);
	else
		string_at(l, lw_pointer(l, n->a, 1), from->kind == TY_PTR && from->user, o, off, own);
}

void lw_string_assign(struct lw *l, const struct d_node *n)
{
	const struct d_node *a = n->a;
	ir_obj v;

	if (lw_is_dyn(a)) {
		ir_obj key = lw_key_of(l, a);

		v = lw_temp(l, a->type->size);
		lw_string(l, n->b, v, 0, a->type->size);
		lw_dyn_set(l, a, key, v);
		return;
	}
	/* through a temporary: the right side may read the left */
	struct lw_place p = lw_place_of(l, a);

	v = lw_string_object(l, n->b);
	if (p.dyn || p.index || p.off % 8) {
		ir_obj whole = lw_temp(l, a->type->size);

		string_copy(l, whole, 0, a->type->size, v, 0, n->b->type->size);
		lw_put_bytes(l, &p, whole, a->type->size);
		return;
	}
	string_copy(l, p.o, p.off, a->type->size, v, 0, n->b->type->size);
}

/* A string of bound `from` in the context: bounds are multiples of 8. */
static void string_args(struct lw *l, uint32_t at, uint32_t from, ir_obj o, uint32_t off, uint32_t size)
{
	uint32_t n = from < size ? from : size;

	for (uint32_t k = 0; k < n; k += 8)
		lw_store8(l, o, off + k, lw_args_load(l, at + k, 8));
	end_string(l, o, off, size, from);
}

/* An element at a computed index, whole: read as a string NULL would be "". */
static void string_element(struct lw *l, struct lw_place *p, const struct d_node *n, ir_obj o, uint32_t off,
			   uint32_t size)
{
	const uint32_t bytes = n->type->size;
	ir_obj whole = lw_temp(l, bytes);
	struct ir_ins *i;

	lw_by_address(l, p);
	i = lw_on(l, IR_OREAD, whole, 0, bytes);
	i->a = p->index;
	string_copy(l, o, off, size, whole, 0, bytes);
}

static void string_place(struct lw *l, const struct d_node *n, ir_obj o, uint32_t off, uint32_t size)
{
	struct lw_place p;

	if (lw_is_dyn(n)) {
		string_copy(l, o, off, size, lw_dyn_get(l, n, lw_key_of(l, n)), 0, n->type->size);
		return;
	}
	p = lw_place_of(l, n);
	if (p.o && p.index && string_nullable(n)) {
		string_element(l, &p, n, o, off, size);
		return;
	}
	if (p.o)
		lw_by_address(l, &p);
	if (p.scratch)
		p.index = lw_scratch_address(l, p.index, 1);
	if (p.args)
		string_args(l, p.off, n->type->size, o, off, size);
	else if (p.o)
		string_copy(l, o, off, size, p.o, p.off, n->type->size);
	else
		string_at(l, p.index, p.user, o, off, size);
}

static void string_cond(struct lw *l, const struct d_node *n, ir_obj o, uint32_t off, uint32_t size)
{
	uint32_t other = lw_label(l), end = lw_label(l);

	lw_jump(l, n->a, false, other);
	lw_string(l, n->b, o, off, size);
	lw_jmp(l, end);
	lw_put(l, other);
	lw_string(l, n->c, o, off, size);
	lw_put(l, end);
}

/* A string that was made here has no more than strmost characters: bounds are multiples of 8, strsize need not be
 * one. */
static void string_keep_most(struct lw *l, const struct d_node *n, ir_obj o, uint32_t off, uint32_t size)
{
	uint32_t end = n->type->size < size ? n->type->size : size;
	ir_reg nul;

	if (end <= l->u->strmost + 1)
		return;
	nul = lw_const(l, 0);
	for (uint32_t k = l->u->strmost, n; k < end; k += n) {
		n = (off + k) % 8 == 0 ? 8 : 1;
		lw_on(l, IR_OSTORE, o, off + k, n)->a = nul;
	}
}

void lw_string(struct lw *l, const struct d_node *n, ir_obj o, uint32_t off, uint32_t size)
{
	switch (n->kind) {
	case N_INT: /* NULL */
		lw_zero(l, o, off, size);
		lw_store8(l, o, off, lw_const(l, D_NULL_STRING));
		break;
	case N_BIN:
		string_offset(l, n, o, off, size);
		break;
	case N_STR:
		lw_on(l, IR_OLIT, o, off, size)->x = lw_literal(l, n->str);
		break;
	case N_STRBUILTIN:
		lw_on(l, IR_OBUILTIN, o, off, size)->x = (uint32_t)n->ival;
		break;
	case N_CAST:
		string_cast(l, n, o, off, size);
		string_keep_most(l, n, o, off, size);
		break;
	case N_CALL:
		string_call(l, n, o, off, size);
		string_keep_most(l, n, o, off, size);
		break;
	case N_COND:
		string_cond(l, n, o, off, size);
		break;
	case N_ASSIGN:
		lw_string_assign(l, n);
		string_place(l, n->a, o, off, size);
		break;
	case N_COMMA:
		lw_effect(l, n->a);
		lw_string(l, n->b, o, off, size);
		break;
	default:
		string_place(l, n, o, off, size);
	}
}

/*
 * index(s, needle, from): a negative `from` is 0.  One that is past the end of s finds nothing but the empty
 * needle, which is at the end: so it is the end.  rindex(s, needle, from): the last place that is not behind
 * `from`; with a negative one there is none.
 */
static ir_reg string_index(struct lw *l, const struct d_node *n)
{
	ir_obj p = lw_string_argument(l, n->arg[0]), q = lw_string_argument(l, n->arg[1]);
	uint32_t bound = n->arg[0]->type->size;
	bool last = n->call == CALL_rindex;
	ir_reg from = n->narg == 3 ? lw_value(l, n->arg[2]) : lw_const(l, last ? bound : 0), d;
	ir_reg asked = last && n->narg == 3 ? from : 0;
	struct ir_ins *i;

	if (n->narg == 3)
		from = lower_clamp(l, from, lw_string_length(l, p, bound));
	i = lw_emit(l, last ? IR_SRINDEX : IR_SINDEX);
	i->p = p;
	i->i = bound;
	i->q = q;
	i->x = n->arg[1]->type->size;
	i->a = from;
	d = i->d = lw_reg(l);
	if (asked) /* -1 | d when the sign of what was asked is set */
		d = lw_binary(l, IR_OR, d, lw_binary(l, IR_SAR, asked, lw_const(l, 63)));
	return d;
}

/* s == NULL: whether the string is, in a register that is 0 if so. */
static ir_reg string_differs_from_null(struct lw *l, const struct d_node *n)
{
	ir_obj o = lw_string_object(l, n);

	return lw_binary(l, IR_XOR, string_word(l, o, 0), lw_const(l, D_NULL_STRING));
}

/* NULL is below all strings: d, the sign of strcmp(p, q), becomes what that makes of it. */
static void string_order_null(struct lw *l, ir_reg d, ir_obj p, ir_obj q)
{
	uint32_t left = lw_label(l), done = lw_label(l);
	ir_reg null = lw_const(l, D_NULL_STRING), a = string_word(l, p, 0), b = string_word(l, q, 0);

	lw_jcmp(l, a, IR_EQ, b, done);
	lw_jcmp(l, a, IR_EQ, null, left);
	lw_jcmp(l, b, IR_NE, null, done);
	lw_const_to(l, d, 1);
	lw_jmp(l, done);
	lw_put(l, left);
	lw_const_to(l, d, -1);
	lw_put(l, done);
}

/* The register that holds the sign of strcmp(a, b), or (!ordered) whether they differ. */
ir_reg lw_string_compare(struct lw *l, const struct d_node *a, const struct d_node *b, bool ordered)
{
	if (!ordered && (a->kind == N_INT || b->kind == N_INT))
		return string_differs_from_null(l, a->kind == N_INT ? b : a);
	const bool nulls = ordered && (string_nullable(a) || string_nullable(b));
	ir_obj p = lw_string_object(l, a), q = b->kind == N_STR && !nulls ? 0 : lw_string_object(l, b);
	struct ir_ins *i = lw_emit(l, IR_SCMP);
	ir_reg d = lw_reg(l);

	i->p = p;
	i->s = a->type->size;
	i->q = q;
	i->i = b->type->size;
	i->d = d;
	if (!q)
		i->x = lw_literal(l, b->str);
	if (nulls)
		string_order_null(l, d, p, q);
	return d;
}

ir_reg lw_string_number(struct lw *l, const struct d_node *n)
{
	if (n->call == CALL_strlen)
		return lw_string_length(l, lw_string_argument(l, n->arg[0]), n->arg[0]->type->size);
	assert((n->call == CALL_index || n->call == CALL_rindex) &&
	       "each number of call.def is a case of lw_subr_number()");
	return string_index(l, n);
}
