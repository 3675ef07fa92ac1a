/*
 * lower_expr.c: expressions to IR.
 *
 * A scalar becomes a register that is kept extended as its type says, so each
 * operation that can leave its width behind is followed by an extension.  A
 * string is never a value of its own: it is written to where it is wanted
 * (lw_string), so a literal or execname goes straight into a key or record.
 */
#include <string.h>

#include "dlang/lower_int.h"

/* ---- making instructions ---------------------------------------------------- */

struct ir_ins *lw_emit(struct lw *l, enum ir_op op)
{
	struct ir_ins *i = NULL;

	if (l->nins >= LW_INS_MOST)
		l->too_large = true;
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

static ir_obj temp(struct lw *l, uint32_t size)
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

static void jmp(struct lw *l, uint32_t label)
{
	lw_emit(l, IR_JMP)->x = label;
}

static void constant_to(struct lw *l, ir_reg d, int64_t v)
{
	struct ir_ins *i = lw_emit(l, IR_CONST);

	i->d = d;
	i->i = v;
}

static ir_reg constant(struct lw *l, int64_t v)
{
	ir_reg d = lw_reg(l);

	constant_to(l, d, v);
	return d;
}

static ir_reg binary(struct lw *l, enum ir_op op, ir_reg a, ir_reg b)
{
	struct ir_ins *i = lw_emit(l, op);

	i->a = a;
	i->b = b;
	return i->d = lw_reg(l);
}

static ir_reg unary(struct lw *l, enum ir_op op, ir_reg a)
{
	return binary(l, op, a, 0);
}

static void jcmp(struct lw *l, ir_reg a, enum ir_cond cond, ir_reg b, uint32_t label)
{
	struct ir_ins *i = lw_emit(l, IR_JCMP);

	i->a = a;
	i->b = b;
	i->cond = (uint8_t)cond;
	i->x = label;
}

/* a, extended from the low bytes of its type */
static ir_reg extended(struct lw *l, ir_reg a, const struct d_type *t)
{
	struct ir_ins *i;

	if (t->size >= 8 || t->size == 0)
		return a;
	i = lw_emit(l, t->is_signed ? IR_SEXT : IR_ZEXT);
	i->a = a;
	i->s = t->size;
	return i->d = lw_reg(l);
}

static uint32_t literal(struct lw *l, const char *s)
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
static struct ir_ins *object_op(struct lw *l, enum ir_op op, ir_obj o, uint32_t off, uint32_t size)
{
	struct ir_ins *i = lw_emit(l, op);

	i->o = o;
	i->O = off;
	i->s = size;
	return i;
}

static void zero(struct lw *l, ir_obj o, uint32_t off, uint32_t size)
{
	if (size)
		object_op(l, IR_OZERO, o, off, size);
}

static void copy(struct lw *l, ir_obj o, uint32_t off, ir_obj p, uint32_t poff, uint32_t size)
{
	struct ir_ins *i = object_op(l, IR_OCOPY, o, off, size);

	i->p = p;
	i->P = poff;
}

static ir_reg builtin(struct lw *l, enum ir_builtin which)
{
	struct ir_ins *i = lw_emit(l, IR_BUILTIN);

	i->x = which;
	return i->d = lw_reg(l);
}

/* ---- keys and slots ----------------------------------------------------------- */

uint32_t lw_layout(const struct d_type *const *type, uint32_t n, struct slot *slot, uint32_t at, bool in_key)
{
	for (uint32_t k = 0; k < n; k++) {
		slot[k] = d_slot_of(type[k], in_key);
		slot[k].offset = at;
		at += slot[k].size;
	}
	return at;
}

static void store8(struct lw *l, ir_obj o, uint32_t off, ir_reg a)
{
	object_op(l, IR_OSTORE, o, off, 8)->a = a;
}

/* The key object of a thread-local or associative variable at this use. */
static ir_obj key_of(struct lw *l, const struct d_node *n)
{
	const struct d_var *v = &l->p->var[n->sym->ir];
	ir_obj key = temp(l, v->key_size);
	uint32_t at = 0;

	if (v->is_self) {
		store8(l, key, 0, builtin(l, BI_THREAD));
		at = 8;
	}
	for (uint32_t k = 0; k < n->narg; k++) {
		struct slot s = d_slot_of(n->sym->keys[k], true);

		s.offset = at;
		lw_slot(l, n->arg[k], key, &s, true);
		at += s.size;
	}
	return key;
}

static bool is_dyn(const struct d_node *n)
{
	return n->kind == N_VAR && (n->sym->kind == SYM_SELF || n->sym->kind == SYM_ASSOC);
}

static ir_obj dyn_get(struct lw *l, const struct d_node *n, ir_obj key)
{
	ir_obj o = temp(l, l->p->var[n->sym->ir].value_size);
	struct ir_ins *i = lw_emit(l, IR_DYNGET);

	i->o = o;
	i->p = key;
	i->x = n->sym->ir;
	return o;
}

static void dyn_set(struct lw *l, const struct d_node *n, ir_obj key, ir_obj value)
{
	struct ir_ins *i = lw_emit(l, IR_DYNSET);

	i->x = n->sym->ir;
	i->p = key;
	i->o = value;
}

/* ---- places ---------------------------------------------------------------------- */

static ir_reg args_address(struct lw *l, uint32_t off)
{
	struct ir_ins *i = lw_emit(l, IR_ARGS);

	i->O = off;
	return i->d = lw_reg(l);
}

/* A whole struct, or an address that is wanted: args[] has no arrays. */
static void by_address(struct lw *l, struct lw_place *p)
{
	if (p->args)
		*p = (struct lw_place){ .index = args_address(l, p->off) };
}

static struct lw_place place(struct lw *l, const struct d_node *n)
{
	struct lw_place p;

	switch (n->kind) {
	case N_DEREF:
		if (n->a->kind == N_ARGS)
			return (struct lw_place){ .args = true, .off = n->a->offset };
		return (struct lw_place){ .index = lw_value(l, n->a), .user = n->a->type->user };
	case N_MEMBER:
		p = place(l, n->a);
		if (p.o || p.args)
			p.off += n->offset;
		else if (n->offset)
			p.index = binary(l, IR_ADD, p.index, constant(l, n->offset));
		return p;
	case N_INDEX:
		p = place(l, n->a);
		if (p.o) {
			p.index = lw_value(l, n->b);
			p.limit = n->a->type->n;
		} else {
			ir_reg by = binary(l, IR_MUL, lw_value(l, n->b), constant(l, n->a->type->to->size));

			p.index = binary(l, IR_ADD, p.index, by);
		}
		return p;
	default:                              /* N_VAR: global or this */
		return (struct lw_place){ .o = n->sym->ir };
	}
}

static ir_reg args_load(struct lw *l, uint32_t off, uint32_t size)
{
	struct ir_ins *i = lw_emit(l, IR_ARGLOAD);

	i->O = off;
	i->s = size;
	return i->d = lw_reg(l);
}

/* The scalar of type t at p. */
static ir_reg load(struct lw *l, const struct lw_place *p, const struct d_type *t)
{
	bool sign = t->is_signed && t->size < 8;
	struct ir_ins *i;

	if (p->args) {
		ir_reg v = args_load(l, p->off, t->size);

		return sign ? extended(l, v, t) : v;
	}
	if (!p->o) {
		ir_obj o = temp(l, 8);

		i = object_op(l, IR_OREAD, o, 0, t->size);
		i->a = p->index;
		i->x = p->user;
		i = object_op(l, sign ? IR_OLOADS : IR_OLOAD, o, 0, t->size);
	} else if (p->index) {
		i = object_op(l, sign ? IR_OLOADXS : IR_OLOADX, p->o, p->off, t->size);
		i->b = p->index;
		i->i = p->limit;
	} else {
		i = object_op(l, sign ? IR_OLOADS : IR_OLOAD, p->o, p->off, t->size);
	}
	return i->d = lw_reg(l);
}

static void store(struct lw *l, const struct lw_place *p, const struct d_type *t, ir_reg v)
{
	struct ir_ins *i = object_op(l, p->index ? IR_OSTOREX : IR_OSTORE, p->o, p->off, t->size);

	i->a = v;
	i->b = p->index;
	i->i = p->limit;
}

/* Bit-fields: the unit is loaded whole. */
static ir_reg field_get(struct lw *l, const struct d_node *n, ir_reg unit)
{
	ir_reg up = binary(l, IR_SHL, unit, constant(l, 64 - n->bit - n->bits));

	return binary(l, n->type->is_signed ? IR_SAR : IR_SHR, up, constant(l, 64 - n->bits));
}

static ir_reg field_put(struct lw *l, const struct d_node *n, ir_reg unit, ir_reg v)
{
	int64_t mask = (int64_t)((n->bits == 64 ? ~0ull : (1ull << n->bits) - 1) << n->bit);
	ir_reg old = binary(l, IR_AND, unit, constant(l, ~mask));
	ir_reg new = binary(l, IR_AND, binary(l, IR_SHL, v, constant(l, n->bit)), constant(l, mask));

	return binary(l, IR_OR, old, new);
}

/* A left side, read once and written once: the key of a variable is computed once. */
struct lhs {
	const struct d_node *n;
	struct lw_place p;
	ir_obj key;
};

static struct lhs lhs_of(struct lw *l, const struct d_node *n)
{
	if (is_dyn(n))
		return (struct lhs){ .n = n, .key = key_of(l, n) };
	return (struct lhs){ .n = n, .p = place(l, n) };
}

static ir_reg lhs_get(struct lw *l, const struct lhs *s)
{
	const struct d_node *n = s->n;
	struct lw_place p = s->p;
	ir_reg v;

	if (is_dyn(n))
		p = (struct lw_place){ .o = dyn_get(l, n, s->key) };
	v = load(l, &p, n->type);
	return n->kind == N_MEMBER && n->bits ? field_get(l, n, v) : v;
}

static void lhs_put(struct lw *l, const struct lhs *s, ir_reg v)
{
	const struct d_node *n = s->n;

	if (is_dyn(n)) {
		ir_obj o = temp(l, 8);

		store8(l, o, 0, v);
		dyn_set(l, n, s->key, o);
		return;
	}
	if (n->kind == N_MEMBER && n->bits)
		v = field_put(l, n, load(l, &s->p, n->type), v);
	store(l, &s->p, n->type, v);
}

/* ---- strings ------------------------------------------------------------------------ */

/* Copies a string of bound `from` at p into `size` bytes: pads, or cuts and keeps a NUL last. */
static void string_copy(struct lw *l, ir_obj o, uint32_t off, uint32_t size, ir_obj p, uint32_t poff, uint32_t from)
{
	copy(l, o, off, p, poff, from < size ? from : size);
	if (from < size) {
		zero(l, o, off + from, size - from);
	} else if (from > size) {
		ir_reg nul = constant(l, 0);

		object_op(l, IR_OSTORE, o, off + size - 1, 1)->a = nul;
	}
}

/* An object, at offset 0, that holds the string: a variable's own where that will do. */
static ir_obj string_object(struct lw *l, const struct d_node *n)
{
	ir_obj o;

	if (n->kind == N_VAR && !is_dyn(n))
		return n->sym->ir;
	if (is_dyn(n))
		return dyn_get(l, n, key_of(l, n));
	o = temp(l, n->type->size);
	lw_string(l, n, o, 0, n->type->size);
	return o;
}

/* max(v, 0), at most `most` */
static ir_reg clamp(struct lw *l, ir_reg v, int64_t most)
{
	ir_reg d = lw_reg(l), zero_reg = constant(l, 0), top = constant(l, most);
	uint32_t low = lw_label(l), high = lw_label(l), end = lw_label(l);
	struct ir_ins *i;

	jcmp(l, v, IR_LT, zero_reg, low);
	jcmp(l, v, IR_GT, top, high);
	i = lw_emit(l, IR_MOV);
	i->d = d;
	i->a = v;
	jmp(l, end);
	lw_put(l, low);
	constant_to(l, d, 0);
	jmp(l, end);
	lw_put(l, high);
	constant_to(l, d, most);
	lw_put(l, end);
	return d;
}

static ir_reg string_length(struct lw *l, ir_obj p, uint32_t bound)
{
	struct ir_ins *i = lw_emit(l, IR_SLEN);

	i->p = p;
	i->s = bound;
	return i->d = lw_reg(l);
}

/* if (v < 0) v += len; */
static ir_reg from_end(struct lw *l, ir_reg v, ir_reg len)
{
	ir_reg d = lw_reg(l);
	uint32_t done = lw_label(l);
	struct ir_ins *i = lw_emit(l, IR_MOV);

	i->d = d;
	i->a = v;
	jcmp(l, v, IR_GE, constant(l, 0), done);
	i = lw_emit(l, IR_ADD);
	i->d = d;
	i->a = v;
	i->b = len;
	lw_put(l, done);
	return d;
}

/*
 * substr(s, index, length): a negative index counts from the end of s (and what
 * lies before its start is cut off), a negative length leaves so many bytes at the end off.
 */
static void substr(struct lw *l, const struct d_node *n, ir_obj o, uint32_t off, uint32_t size)
{
	ir_obj p = string_object(l, n->arg[0]);
	uint32_t bound = n->arg[0]->type->size;
	ir_reg index = lw_value(l, n->arg[1]), len = string_length(l, p, bound), from = from_end(l, index, len), to, room;
	struct ir_ins *i;

	if (n->narg == 3) {
		ir_reg want = lw_value(l, n->arg[2]), behind = lw_reg(l);
		uint32_t back = lw_label(l), done = lw_label(l);

		jcmp(l, want, IR_LT, constant(l, 0), back);
		i = lw_emit(l, IR_ADD);
		i->d = behind;
		i->a = from;
		i->b = want;
		jmp(l, done);
		lw_put(l, back);
		i = lw_emit(l, IR_ADD);
		i->d = behind;
		i->a = len;
		i->b = want;
		lw_put(l, done);
		to = behind;
	} else {
		to = len;
	}
	from = clamp(l, from, bound);
	room = clamp(l, binary(l, IR_SUB, to, from), bound);
	i = object_op(l, IR_SSUB, o, off, size);
	i->p = p;
	i->i = bound;
	i->a = from;
	i->b = room;
}

static void strjoin(struct lw *l, const struct d_node *n, ir_obj o, uint32_t off, uint32_t size)
{
	ir_obj p = string_object(l, n->arg[0]), q = string_object(l, n->arg[1]);
	uint32_t np = n->arg[0]->type->size, nq = n->arg[1]->type->size;
	ir_obj whole = temp(l, np + nq);
	struct ir_ins *i = object_op(l, IR_SJOIN, whole, 0, np + nq);

	i->p = p;
	i->i = np;
	i->q = q;
	i->x = nq;
	string_copy(l, o, off, size, whole, 0, np + nq);
}

static void path_part(struct lw *l, const struct d_node *n, enum ir_op op, ir_obj o, uint32_t off, uint32_t size)
{
	ir_obj p = string_object(l, n->arg[0]);
	struct ir_ins *i = object_op(l, op, o, off, size);

	i->p = p;
	i->i = n->arg[0]->type->size;
}

static void string_call(struct lw *l, const struct d_node *n, ir_obj o, uint32_t off, uint32_t size)
{
	switch (n->call) {
	case CALL_substr: substr(l, n, o, off, size); break;
	case CALL_strjoin: strjoin(l, n, o, off, size); break;
	case CALL_basename: path_part(l, n, IR_SBASE, o, off, size); break;
	default: path_part(l, n, IR_SDIR, o, off, size);
	}
}

static void string_at(struct lw *l, ir_reg address, bool user, ir_obj o, uint32_t off, uint32_t size)
{
	struct ir_ins *i = object_op(l, IR_OREADSTR, o, off, size);

	i->a = address;
	i->x = user;
}

/* An array of char in an object, which may lie unaligned and need not end in a NUL. */
static void string_array(struct lw *l, const struct d_node *n, ir_obj o, uint32_t off, uint32_t size)
{
	struct lw_place p = place(l, n);
	uint32_t most = n->type->n < size - 1 ? n->type->n : size - 1;

	if (!p.o) {
		string_at(l, p.index, p.user, o, off, n->type->n < size ? (n->type->n + 8) & ~7u : size);
		return;
	}
	zero(l, o, off, size);
	for (uint32_t k = 0; k < most; k++) {
		struct ir_ins *i = object_op(l, IR_OLOAD, p.o, p.off + k, 1);
		ir_reg d = i->d = lw_reg(l);

		object_op(l, IR_OSTORE, o, off + k, 1)->a = d;
	}
}

static void string_cast(struct lw *l, const struct d_node *n, ir_obj o, uint32_t off, uint32_t size)
{
	const struct d_type *from = n->a->type;
	uint32_t own = n->type->size;

	if (own < size)
		zero(l, o, off + own, size - own);
	else
		own = size;
	if (from->kind == TY_STRING && from->size <= own)
		lw_string(l, n->a, o, off, own);
	else if (from->kind == TY_STRING)
		string_copy(l, o, off, own, string_object(l, n->a), 0, from->size);
	else if (from->kind == TY_ARRAY)
		string_array(l, n->a, o, off, own);
	else
		string_at(l, lw_value(l, n->a), from->kind == TY_PTR && from->user, o, off, own);
}

static void string_assign(struct lw *l, const struct d_node *n)
{
	const struct d_node *a = n->a;
	ir_obj v;

	if (is_dyn(a)) {
		ir_obj key = key_of(l, a);

		v = temp(l, a->type->size);
		lw_string(l, n->b, v, 0, a->type->size);
		dyn_set(l, a, key, v);
		return;
	}
	/* through a temporary: the right side may read the left */
	v = string_object(l, n->b);
	struct lw_place p = place(l, a);

	string_copy(l, p.o, p.off, a->type->size, v, 0, n->b->type->size);
}

/* A string of bound `from` in the context: bounds are multiples of 8. */
static void string_args(struct lw *l, uint32_t at, uint32_t from, ir_obj o, uint32_t off, uint32_t size)
{
	uint32_t n = from < size ? from : size;

	for (uint32_t k = 0; k < n; k += 8)
		store8(l, o, off + k, args_load(l, at + k, 8));
	if (from < size) {
		zero(l, o, off + from, size - from);
	} else if (from > size) {
		ir_reg nul = constant(l, 0);

		object_op(l, IR_OSTORE, o, off + size - 1, 1)->a = nul;
	}
}

static void string_place(struct lw *l, const struct d_node *n, ir_obj o, uint32_t off, uint32_t size)
{
	struct lw_place p;

	if (is_dyn(n)) {
		string_copy(l, o, off, size, dyn_get(l, n, key_of(l, n)), 0, n->type->size);
		return;
	}
	p = place(l, n);
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
	jmp(l, end);
	lw_put(l, other);
	lw_string(l, n->c, o, off, size);
	lw_put(l, end);
}

void lw_string(struct lw *l, const struct d_node *n, ir_obj o, uint32_t off, uint32_t size)
{
	switch (n->kind) {
	case N_STR:
		object_op(l, IR_OLIT, o, off, size)->x = literal(l, n->str);
		break;
	case N_STRBUILTIN:
		object_op(l, IR_OBUILTIN, o, off, size)->x = (uint32_t)n->ival;
		break;
	case N_CAST: string_cast(l, n, o, off, size); break;
	case N_CALL: string_call(l, n, o, off, size); break;
	case N_COND: string_cond(l, n, o, off, size); break;
	case N_ASSIGN:
		string_assign(l, n);
		string_place(l, n->a, o, off, size);
		break;
	case N_COMMA:
		lw_effect(l, n->a);
		lw_string(l, n->b, o, off, size);
		break;
	default: string_place(l, n, o, off, size);
	}
}

/* The register that holds the sign of strcmp(a, b). */
static ir_reg string_compare(struct lw *l, const struct d_node *a, const struct d_node *b)
{
	ir_obj p = string_object(l, a), q = b->kind == N_STR ? 0 : string_object(l, b);
	struct ir_ins *i = lw_emit(l, IR_SCMP);
	ir_reg d = lw_reg(l);

	i->p = p;
	i->s = a->type->size;
	i->q = q;
	i->i = b->type->size;
	i->d = d;
	if (!q)
		i->x = literal(l, b->str);
	return d;
}

/* ---- conditions -------------------------------------------------------------------------- */

static enum ir_cond cond_of(uint8_t op, const struct d_type *t)
{
	bool sign = t->kind == TY_STRING || (t->kind != TY_PTR && t->is_signed);

	switch (op) {
	case OP_EQ: return IR_EQ;
	case OP_NE: return IR_NE;
	case OP_LT: return sign ? IR_LT : IR_LTU;
	case OP_LE: return sign ? IR_LE : IR_LEU;
	case OP_GT: return sign ? IR_GT : IR_GTU;
	default: return sign ? IR_GE : IR_GEU;
	}
}

static enum ir_cond opposite(enum ir_cond c)
{
	static const uint8_t to[] = { [IR_EQ] = IR_NE, [IR_NE] = IR_EQ, [IR_LT] = IR_GE, [IR_LE] = IR_GT,
				      [IR_GT] = IR_LE, [IR_GE] = IR_LT, [IR_LTU] = IR_GEU, [IR_LEU] = IR_GTU,
				      [IR_GTU] = IR_LEU, [IR_GEU] = IR_LTU };

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
		a = string_compare(l, n->a, n->b);
		b = constant(l, 0);
	} else {
		a = lw_value(l, n->a);
		b = lw_value(l, n->b);
	}
	jcmp(l, a, when ? c : opposite(c), b, label);
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
		ir_obj o = string_object(l, n);
		struct ir_ins *i = object_op(l, IR_OLOAD, o, 0, 1);
		ir_reg d = i->d = lw_reg(l);

		jcmp(l, d, when ? IR_NE : IR_EQ, constant(l, 0), label);
	} else {
		ir_reg v = lw_value(l, n);

		jcmp(l, v, when ? IR_NE : IR_EQ, constant(l, 0), label);
	}
}

static ir_reg truth(struct lw *l, const struct d_node *n)
{
	ir_reg d = lw_reg(l);
	uint32_t yes = lw_label(l), end = lw_label(l);

	lw_jump(l, n, true, yes);
	constant_to(l, d, 0);
	jmp(l, end);
	lw_put(l, yes);
	constant_to(l, d, 1);
	lw_put(l, end);
	return d;
}

/* ---- operators ------------------------------------------------------------------------------ */

static ir_reg arithmetic(struct lw *l, uint8_t op, const struct d_type *t, ir_reg a, ir_reg b)
{
	bool sign = t->kind != TY_PTR && t->is_signed;

	switch (op) {
	case OP_ADD: return extended(l, binary(l, IR_ADD, a, b), t);
	case OP_SUB: return extended(l, binary(l, IR_SUB, a, b), t);
	case OP_MUL: return extended(l, binary(l, IR_MUL, a, b), t);
	case OP_DIV: return extended(l, binary(l, sign ? IR_DIVS : IR_DIVU, a, b), t);
	case OP_MOD: return binary(l, sign ? IR_MODS : IR_MODU, a, b);
	case OP_AND: return binary(l, IR_AND, a, b);
	case OP_OR: return binary(l, IR_OR, a, b);
	case OP_XOR: return binary(l, IR_XOR, a, b);
	case OP_SHL: return extended(l, binary(l, IR_SHL, a, b), t);
	default: return binary(l, sign ? IR_SAR : IR_SHR, a, b);
	}
}

static ir_reg value_binary(struct lw *l, const struct d_node *n)
{
	ir_reg a, b;

	if (is_comparison(n) || n->op == OP_LAND || n->op == OP_LOR)
		return truth(l, n);
	if (n->op == OP_LXOR) {
		a = truth(l, n->a);
		return binary(l, IR_XOR, a, truth(l, n->b));
	}
	a = lw_value(l, n->a);
	b = lw_value(l, n->b);
	return arithmetic(l, n->op, n->type, a, b);
}

static ir_reg value_unary(struct lw *l, const struct d_node *n)
{
	if (n->op == UN_LNOT)
		return truth(l, n);
	return extended(l, unary(l, n->op == UN_NEG ? IR_NEG : IR_NOT, lw_value(l, n->a)), n->type);
}

static ir_reg value_assign(struct lw *l, const struct d_node *n)
{
	struct lhs s = lhs_of(l, n->a);
	ir_reg v;

	if (n->op == OP_NONE) {
		v = lw_value(l, n->b);
	} else {
		ir_reg old = extended(l, lhs_get(l, &s), n->opty), b = lw_value(l, n->b);

		v = extended(l, arithmetic(l, n->op, n->opty, old, b), n->type);
	}
	lhs_put(l, &s, v);
	return v;
}

static ir_reg value_incdec(struct lw *l, const struct d_node *n)
{
	struct lhs s = lhs_of(l, n->a);
	ir_reg old = lhs_get(l, &s), new = extended(l, binary(l, IR_ADD, old, constant(l, n->ival)), n->type);

	lhs_put(l, &s, new);
	return n->pre ? new : old;
}

static ir_reg value_cond(struct lw *l, const struct d_node *n)
{
	ir_reg d = lw_reg(l), v;
	uint32_t other = lw_label(l), end = lw_label(l);
	struct ir_ins *i;

	lw_jump(l, n->a, false, other);
	v = lw_value(l, n->b);
	i = lw_emit(l, IR_MOV);
	i->d = d;
	i->a = v;
	jmp(l, end);
	lw_put(l, other);
	v = lw_value(l, n->c);
	i = lw_emit(l, IR_MOV);
	i->d = d;
	i->a = v;
	lw_put(l, end);
	return d;
}

static ir_reg value_call(struct lw *l, const struct d_node *n)
{
	ir_obj p = string_object(l, n->arg[0]), q;
	uint32_t bound = n->arg[0]->type->size;
	ir_reg from;
	struct ir_ins *i;

	if (n->call == CALL_strlen)
		return string_length(l, p, bound);
	q = string_object(l, n->arg[1]);
	from = n->narg == 3 ? clamp(l, lw_value(l, n->arg[2]), bound - 1) : constant(l, 0);
	i = lw_emit(l, IR_SINDEX);
	i->p = p;
	i->i = bound;
	i->q = q;
	i->x = n->arg[1]->type->size;
	i->a = from;
	return i->d = lw_reg(l);
}

ir_reg lw_value(struct lw *l, const struct d_node *n)
{
	struct lhs s;
	struct lw_place p;

	switch (n->kind) {
	case N_INT: return constant(l, n->ival);
	case N_BUILTIN: return builtin(l, (enum ir_builtin)n->ival);
	case N_UN: return value_unary(l, n);
	case N_BIN: return value_binary(l, n);
	case N_ASSIGN: return value_assign(l, n);
	case N_INCDEC: return value_incdec(l, n);
	case N_COND: return value_cond(l, n);
	case N_CALL: return value_call(l, n);
	case N_CAST: return extended(l, lw_value(l, n->a), n->type);
	case N_COMMA:
		lw_effect(l, n->a);
		return lw_value(l, n->b);
	case N_ADDR:
		p = place(l, n->a);
		by_address(l, &p);
		return p.index;
	case N_ARGS: return args_address(l, n->offset);
	default:
		s = lhs_of(l, n);
		return lhs_get(l, &s);
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
		v = constant(l, n->ival);
	else if (n->op == OP_ADD && n->opty->size == a->type->size)
		v = lw_value(l, n->b);
	else if (n->op == OP_SUB && n->opty->size == a->type->size)
		v = unary(l, IR_NEG, lw_value(l, n->b));
	else
		return false;
	object_op(l, IR_OADD, a->sym->ir, 0, a->type->size)->a = v;
	return true;
}

/* A struct, union or array to an object: from an object, or read from memory. */
static void bytes_to(struct lw *l, const struct d_node *n, ir_obj o, uint32_t off)
{
	struct lw_place p = place(l, n);
	uint32_t size = n->type->size, whole = size & ~7u;
	struct ir_ins *i;

	by_address(l, &p);
	if (!p.o) {
		i = object_op(l, IR_OREAD, o, off, size);
		i->a = p.index;
		i->x = p.user;
		return;
	}
	if (p.off % 8 == 0 && off % 8 == 0 && whole)
		copy(l, o, off, p.o, p.off, whole);
	else
		whole = 0;
	for (uint32_t k = whole; k < size; k++) {
		i = object_op(l, IR_OLOAD, p.o, p.off + k, 1);
		ir_reg d = i->d = lw_reg(l);

		object_op(l, IR_OSTORE, o, off + k, 1)->a = d;
	}
}

static void effect_assign(struct lw *l, const struct d_node *n)
{
	struct lw_place p;

	if (n->type->kind == TY_STRING) {
		string_assign(l, n);
	} else if (ty_is_scalar(n->type)) {
		if (!atomic_add(l, n))
			value_assign(l, n);
	} else {
		p = place(l, n->a);
		bytes_to(l, n->b, p.o, p.off);
	}
}

void lw_effect(struct lw *l, const struct d_node *n)
{
	uint32_t other, end;

	switch (n->kind) {
	case N_ASSIGN: effect_assign(l, n); break;
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
		jmp(l, end);
		lw_put(l, other);
		lw_effect(l, n->c);
		lw_put(l, end);
		break;
	case N_CAST:
		if (n->type->kind == TY_VOID) {
			lw_effect(l, n->a);
			break;
		}
		/* fall through */
	default:
		if (n->type->kind == TY_STRING)
			string_object(l, n);
		else if (ty_is_scalar(n->type))
			lw_value(l, n);
	}
}

static void stack_slot(struct lw *l, const struct slot *s, ir_obj o, bool in_key)
{
	bool user = s->kind == SLOT_USTACK;
	uint32_t at = s->offset;
	struct ir_ins *i;
	ir_reg d;

	if (user) {
		store8(l, o, at, builtin(l, BI_PID));
		at += 8;
	}
	if (!in_key) {
		object_op(l, IR_OSTACK, o, at, s->size - (user ? 8 : 0))->x = user;
		return;
	}
	i = lw_emit(l, IR_STACKID);
	i->x = user;
	i->i = s->frames;
	d = i->d = lw_reg(l);
	store8(l, o, at, d);
}

void lw_slot(struct lw *l, const struct d_node *n, ir_obj o, const struct slot *s, bool in_key)
{
	switch (s->kind) {
	case SLOT_INT:
		store8(l, o, s->offset, lw_value(l, n));
		break;
	case SLOT_STRING:
		lw_string(l, n, o, s->offset, s->size);
		break;
	case SLOT_BYTES:
		zero(l, o, s->offset, s->size);
		bytes_to(l, n, o, s->offset);
		break;
	case SLOT_KSTACK:
	case SLOT_USTACK:
		stack_slot(l, s, o, in_key);
		break;
	case SLOT_KSYM:
	case SLOT_KFUNC:
	case SLOT_KMOD:
		store8(l, o, s->offset, lw_value(l, n->a));
		break;
	default:
		store8(l, o, s->offset, builtin(l, BI_PID));
		store8(l, o, s->offset + 8, lw_value(l, n->a));
	}
}
