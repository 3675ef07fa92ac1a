/*
 * lower_number.c: strtoll().
 *
 * A text of any length has few digits that count: blanks and leading zeros are skipped by the loop that strtok() has,
 * and the digits of 64 bits to the base are taken one after the other, 20 of them to the base 10.
 */
#include "dlang/lower_int.h"

struct number {
	ir_obj text;
	uint32_t bound;
	ir_reg at; /* the byte that is next */
};

/* Behind all bytes that are in `set`. */
static void number_skip(struct lw *l, const struct number *s, const char *set)
{
	const uint32_t room = 8;
	ir_obj q = lw_temp(l, room);
	struct ir_ins *i = lw_on(l, IR_OLIT, q, 0, room);

	i->x = lw_literal(l, set);
	lw_move_to(l, s->at, lw_string_span(l, IR_EQ, s->text, s->bound, q, room, s->at));
}

static ir_reg number_byte(struct lw *l, const struct number *s)
{
	struct ir_ins *i = lw_on(l, IR_OLOADX, s->text, 0, 1);

	i->b = s->at;
	i->i = s->bound;
	i->x = 1;
	return i->d = lw_reg(l);
}

static void number_next(struct lw *l, const struct number *s)
{
	lw_move_to(l, s->at, lw_binary(l, IR_ADD, s->at, lw_const(l, 1)));
}

/* One digit more into v, or to `end` at a byte that is none. */
static void number_digit(struct lw *l, const struct number *s, ir_reg v, int64_t base, uint32_t end)
{
	const uint32_t found = lw_label(l);
	ir_reg c = number_byte(l, s), digit = lw_reg(l), most = lw_const(l, base);

	lw_move_to(l, digit, lw_binary(l, IR_SUB, c, lw_const(l, '0')));
	if (base > 10) {
		lw_jcmp(l, digit, IR_LTU, lw_const(l, 10), found);
		lw_move_to(l, digit, lw_binary(l, IR_SUB, lw_binary(l, IR_OR, c, lw_const(l, 0x20)), lw_const(l, 'a')));
		lw_jcmp(l, digit, IR_GTU, lw_const(l, 25), end);
		lw_move_to(l, digit, lw_binary(l, IR_ADD, digit, lw_const(l, 10)));
	}
	lw_put(l, found);
	lw_jcmp(l, digit, IR_GEU, most, end);
	lw_move_to(l, v, lw_binary(l, IR_ADD, lw_binary(l, IR_MUL, v, most), digit));
	number_next(l, s);
}

/* As strtoll(3), in a base that is known; what 64 bits don't hold wraps. */
ir_reg lw_subr_strtoll(struct lw *l, const struct d_node *n)
{
	const int64_t base = n->narg == 2 ? n->arg[1]->ival : 10;
	const uint32_t end = lw_label(l), digits = lw_label(l), plain = lw_label(l), positive = lw_label(l);
	struct number s = { .text = lw_string_argument(l, n->arg[0]), .bound = n->arg[0]->type->size };
	ir_reg v = lw_reg(l), sign = lw_reg(l), c;
	ir_obj kept;

	s.at = lw_reg(l);
	lw_const_to(l, s.at, 0);
	lw_const_to(l, v, 0);
	number_skip(l, &s, " \t\n\v\f\r");
	lw_move_to(l, sign, number_byte(l, &s));
	lw_jcmp(l, sign, IR_EQ, lw_const(l, '-'), plain);
	lw_jcmp(l, sign, IR_NE, lw_const(l, '+'), digits);
	lw_put(l, plain);
	number_next(l, &s);
	lw_put(l, digits);
	if (base == 16) {
		const uint32_t none = lw_label(l);
		ir_reg first = lw_reg(l);

		lw_move_to(l, first, s.at);
		lw_jcmp(l, number_byte(l, &s), IR_NE, lw_const(l, '0'), none);
		number_next(l, &s);
		c = lw_binary(l, IR_OR, number_byte(l, &s), lw_const(l, 0x20));
		lw_move_to(l, s.at, first);
		lw_jcmp(l, c, IR_NE, lw_const(l, 'x'), none);
		lw_move_to(l, s.at, lw_binary(l, IR_ADD, first, lw_const(l, 2)));
		lw_put(l, none);
	}
	number_skip(l, &s, "0");
	for (uint64_t left = UINT64_MAX; left; left /= (uint64_t)base)
		number_digit(l, &s, v, base, end);
	lw_put(l, end);
	lw_jcmp(l, sign, IR_NE, lw_const(l, '-'), positive);
	lw_move_to(l, v, lw_unary(l, IR_NEG, v));
	lw_put(l, positive);
	/* Each digit is a path of its own on which the verifier knows how large v can be: in memory it forgets that. */
	kept = lw_temp(l, 8);
	if (!l->failed)
		l->obj[kept].indexed = true;
	lw_store8(l, kept, 0, v);
	return lw_on(l, IR_OLOAD, kept, 0, 8)->d = lw_reg(l);
}
