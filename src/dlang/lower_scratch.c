/*
 * lower_scratch.c: alloca(), and the functions that copy bytes to and from memory.
 *
 * The scratch memory of a clause is one object. A register counts the allocated bytes, from 8 on, so that 0 stays an
 * invalid pointer; a pointer into the memory is an offset in that object (scratch.c). Each use compares it with the
 * register: an offset before or after the allocated bytes is a bad address, and so are bytes of a load or store that
 * end outside. A copy whose bytes begin inside and end outside has a bad size. The memory is zeroed first, and eight
 * more bytes follow it, so that a string always ends.
 */
#include "dlang/lower_int.h"

#define SCRATCH_NOBODYS 8u /* bytes in front of what is allocated first, and behind what is allocated last */

/* Where the register and the memory get what they begin with, if the clause will use them. */
void lw_scratch_begin(struct lw *l)
{
	if (!l->u->uses_scratch || l->scratch)
		return;
	l->scratch_at = l->nins;
	lw_emit(l, IR_NOP);
	lw_emit(l, IR_NOP);
}

void lw_scratch_end(struct lw *l)
{
	struct ir_ins *i = &l->ins[l->scratch_at];

	if (!l->scratch || l->failed)
		return;
	i[0].op = IR_CONST;
	i[0].d = l->scratch_top;
	i[0].i = SCRATCH_NOBODYS;
	i[1].op = IR_OZERO;
	i[1].o = l->scratch;
	i[1].s = l->obj[l->scratch].size;
	l->scratch = 0;
}

static ir_obj scratch_memory(struct lw *l)
{
	if (!l->scratch) {
		l->scratch = lw_object(l, IR_OBJ_TEMP, l->u->scratchsize + 2 * SCRATCH_NOBODYS, "scratch");
		l->scratch_top = lw_reg(l);
		if (!l->failed)
			l->obj[l->scratch].indexed = true;
	}
	return l->scratch;
}

/* Faults unless n bytes at `off` were allocated. crossing: for those that were in part. */
static void scratch_check(struct lw *l, ir_reg off, ir_reg n, enum ir_fault crossing)
{
	const uint32_t bad = lw_label(l), good = lw_label(l);
	ir_reg left;

	scratch_memory(l);
	lw_jcmp(l, off, IR_LTU, lw_const(l, SCRATCH_NOBODYS), bad);
	lw_jcmp(l, off, IR_GTU, l->scratch_top, bad);
	left = lw_binary(l, IR_SUB, l->scratch_top, off);
	lw_jcmp(l, left, IR_GEU, n, good);
	if (crossing != FAULT_BADADDR) {
		lw_jcmp(l, left, IR_EQ, lw_const(l, 0), bad);
		lw_fault(l, crossing, n);
	}
	lw_put(l, bad);
	lw_fault(l, FAULT_BADADDR, off);
	lw_put(l, good);
}

void lw_scratch_place(struct lw *l, struct lw_place *p, uint32_t size)
{
	if (!p->scratch)
		return;
	scratch_check(l, p->index, lw_const(l, size), FAULT_BADADDR);
	p->scratch = false;
	p->o = scratch_memory(l);
	p->off = 0;
	p->stride = 1;
	p->limit = l->failed ? 1 : l->obj[p->o].size - size + 1;
}

static ir_reg scratch_address_unchecked(struct lw *l, ir_reg off)
{
	struct ir_ins *i = lw_emit(l, IR_OADDR);
	ir_reg d = lw_reg(l);

	i->o = scratch_memory(l);
	i->d = d;
	return lw_binary(l, IR_ADD, d, off);
}

ir_reg lw_scratch_address(struct lw *l, ir_reg off, uint32_t size)
{
	scratch_check(l, off, lw_const(l, size), FAULT_BADADDR);
	return scratch_address_unchecked(l, off);
}

ir_reg lw_pointer(struct lw *l, const struct d_node *n, uint32_t size)
{
	ir_reg v = lw_value(l, n);

	return scratch_points(n) ? lw_scratch_address(l, v, size) : v;
}

/* ---- subroutines --------------------------------------------------------------------- */

/* n bytes more: where they begin. */
static ir_reg scratch_take(struct lw *l, ir_reg n)
{
	const uint32_t most = l->u->scratchsize, bad = lw_label(l), good = lw_label(l);
	ir_reg start, end;

	scratch_memory(l);
	start = lw_binary(l, IR_AND, lw_binary(l, IR_ADD, l->scratch_top, lw_const(l, 7)), lw_const(l, -8));
	end = lw_binary(l, IR_ADD, start, n);
	lw_jcmp(l, n, IR_GTU, lw_const(l, most), bad);
	lw_jcmp(l, end, IR_LEU, lw_const(l, SCRATCH_NOBODYS + most), good);
	lw_put(l, bad);
	lw_fault(l, FAULT_NOSCRATCH, n);
	lw_put(l, good);
	lw_move_to(l, l->scratch_top, end);
	return start;
}

/* Copies n bytes between an object at `off` (at most `most` from its start on) and an address. */
static void scratch_copy(struct lw *l, enum ir_op op, ir_obj o, ir_reg off, ir_reg n, uint32_t most, ir_reg address,
			 bool user)
{
	struct ir_ins *i = lw_emit(l, op);

	i->o = o;
	i->b = off;
	i->e = n;
	i->i = most;
	i->a = address;
	i->x = user;
	l->p->destructive |= op == IR_OWRITEN;
}

static uint32_t scratch_bytes(const struct lw *l)
{
	return l->failed ? 8 : l->obj[l->scratch].size;
}

static void scratch_read(struct lw *l, ir_reg off, ir_reg n, ir_reg address, bool user)
{
	ir_obj o = scratch_memory(l);

	scratch_copy(l, IR_OREADN, o, off, n, scratch_bytes(l), address, user);
}

/* What bytes are copied from: a string's object, or a pointer. */
struct scratch_source {
	ir_obj o; /* of `bound` bytes */
	uint32_t bound;
	ir_reg v; /* an offset of scratch memory, or an address */
	bool scratch;
};

static struct scratch_source source_of(struct lw *l, const struct d_node *n)
{
	struct scratch_source s = { .scratch = scratch_points(n) };

	if (n->type->kind != TY_STRING) {
		s.v = lw_value(l, n);
		return s;
	}
	s.bound = n->type->size > l->u->strsize ? n->type->size : l->u->strsize;
	s.o = lw_temp(l, s.bound);
	lw_string_slot(l, n, s.o, 0, s.bound, false);
	return s;
}

static void scratch_check_size(struct lw *l, ir_reg n, uint32_t most)
{
	uint32_t good = lw_label(l);

	lw_jcmp(l, n, IR_LEU, lw_const(l, most), good);
	lw_fault(l, FAULT_BADSIZE, n);
	lw_put(l, good);
}

/* The address of n bytes of it. */
static ir_reg source_address(struct lw *l, const struct scratch_source *s, ir_reg n)
{
	struct ir_ins *i;

	if (s->o) {
		scratch_check_size(l, n, s->bound);
		i = lw_emit(l, IR_OADDR);
		i->o = s->o;
		return i->d = lw_reg(l);
	}
	if (!s->scratch)
		return s->v;
	scratch_check(l, s->v, n, FAULT_BADSIZE);
	return scratch_address_unchecked(l, s->v);
}

static void scratch_bcopy(struct lw *l, const struct d_node *n)
{
	struct scratch_source s = source_of(l, n->arg[0]);
	ir_reg to = lw_value(l, n->arg[1]), size = lw_value(l, n->arg[2]), from, zero;
	ir_obj between;
	struct ir_ins *i;

	scratch_check(l, to, size, FAULT_BADSIZE);
	from = source_address(l, &s, size);
	if (s.scratch) { /* both may overlap */
		between = lw_temp(l, scratch_bytes(l));
		zero = lw_const(l, 0);
		scratch_copy(l, IR_OREADN, between, zero, size, scratch_bytes(l), from, false);
		i = lw_emit(l, IR_OADDR);
		i->o = between;
		from = i->d = lw_reg(l);
	}
	scratch_read(l, to, size, from, false);
}

static ir_reg scratch_copyin(struct lw *l, const struct d_node *n)
{
	ir_reg from = lw_value(l, n->arg[0]), size = lw_value(l, n->arg[1]), to = scratch_take(l, size);

	scratch_read(l, to, size, from, true);
	return to;
}

static void scratch_copyinto(struct lw *l, const struct d_node *n)
{
	ir_reg from = lw_value(l, n->arg[0]), size = lw_value(l, n->arg[1]), to = lw_value(l, n->arg[2]);

	scratch_check(l, to, size, FAULT_BADSIZE);
	scratch_read(l, to, size, from, true);
}

/* copyout(from, to, size): what lies neither in scratch memory nor in a string goes through a temporary. */
static void scratch_copyout(struct lw *l, const struct d_node *n)
{
	struct scratch_source s = source_of(l, n->arg[0]);
	ir_reg to = lw_value(l, n->arg[1]), size = lw_value(l, n->arg[2]), zero = lw_const(l, 0);

	if (s.scratch) {
		scratch_check(l, s.v, size, FAULT_BADSIZE);
		scratch_copy(l, IR_OWRITEN, scratch_memory(l), s.v, size, scratch_bytes(l), to, true);
		return;
	}
	if (!s.o) {
		s.bound = n->arg[2]->kind == N_INT && n->arg[2]->ival > 0 && n->arg[2]->ival <= l->u->scratchsize ?
				  ((uint32_t)n->arg[2]->ival + 7) & ~7u :
				  l->u->strsize;
		s.o = lw_temp(l, s.bound);
		scratch_copy(l, IR_OREADN, s.o, zero, size, s.bound, s.v, false);
	}
	scratch_copy(l, IR_OWRITEN, s.o, zero, size, s.bound, to, true);
}

/* copyoutstr(s, to, most): the string with its NUL, or so much of it. */
static void scratch_copyoutstr(struct lw *l, const struct d_node *n)
{
	const uint32_t bound = n->arg[0]->type->size, fits = lw_label(l);
	ir_obj o = lw_string_argument(l, n->arg[0]);
	ir_reg to = lw_value(l, n->arg[1]), most = lw_value(l, n->arg[2]), size = lw_reg(l);

	lw_move_to(l, size, lw_binary(l, IR_ADD, lw_string_length(l, o, bound), lw_const(l, 1)));
	lw_jcmp(l, size, IR_LEU, most, fits);
	lw_move_to(l, size, most);
	lw_put(l, fits);
	scratch_copy(l, IR_OWRITEN, o, lw_const(l, 0), size, bound, to, true);
}

ir_reg lw_subr_scratch(struct lw *l, const struct d_node *n)
{
	switch (n->call) {
	case CALL_alloca:
		return scratch_take(l, lw_value(l, n->arg[0]));
	case CALL_copyin:
		return scratch_copyin(l, n);
	case CALL_copyinto:
		scratch_copyinto(l, n);
		return 0;
	case CALL_copyout:
		scratch_copyout(l, n);
		return 0;
	case CALL_copyoutstr:
		scratch_copyoutstr(l, n);
		return 0;
	default:
		scratch_bcopy(l, n);
		return 0;
	}
}
