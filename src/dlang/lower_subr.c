/*
 * lower_subr.c: subroutines in the IR's own arithmetic.
 *
 * A string is words of eight bytes, zero after its NUL, so a function that treats all bytes alike (toupper()) works
 * on whole words. A function that makes a string of a number writes digits from the end of a temporary, and copies
 * the string out of it.
 */
#include "dlang/lower_int.h"
#include <assert.h>

/* ---- numbers ------------------------------------------------------------------------ */

static ir_reg subr_hton(struct lw *l, const struct d_node *n)
{
	struct ir_ins *i;
	ir_reg a = lw_value(l, n->arg[0]);

	i = lw_emit(l, IR_HTON);
	i->a = a;
	i->s = n->type->size;
	return i->d = lw_reg(l);
}

#define DEV_MINOR_BITS 20 /* linux/kdev_t.h */

/* getmajor(), getminor(): of a number as the kernel keeps it */
static ir_reg subr_device(struct lw *l, const struct d_node *n)
{
	ir_reg dev = lw_value(l, n->arg[0]);

	if (n->call == CALL_getmajor)
		return lw_extended(l, lw_binary(l, IR_SHR, dev, lw_const(l, DEV_MINOR_BITS)), n->type);
	return lw_binary(l, IR_AND, dev, lw_const(l, (1 << DEV_MINOR_BITS) - 1));
}

static ir_reg subr_rand(struct lw *l)
{
	struct ir_ins *i = lw_emit(l, IR_RAND);

	return i->d = lw_reg(l);
}

static ir_reg subr_counter(struct lw *l, const struct d_node *n)
{
	struct ir_ins *i = lw_emit(l, n->call == CALL_vcounter ? IR_VCOUNTER : IR_COUNTER);

	i->x = (uint32_t)n->ival;
	return i->d = lw_reg(l);
}

static ir_reg subr_speculation(struct lw *l)
{
	struct ir_ins *i = lw_emit(l, IR_SPECULATION);

	return i->d = lw_reg(l);
}

/* The first `size` bytes of a lock. */
static ir_reg subr_lock_word(struct lw *l, const struct d_node *n, uint32_t size)
{
	ir_reg address = lw_pointer(l, n->arg[0], size);
	ir_obj o = lw_temp(l, 8);
	struct ir_ins *i = lw_on(l, IR_OREAD, o, 0, size);

	i->a = address;
	i = lw_on(l, IR_OLOAD, o, 0, size);
	return i->d = lw_reg(l);
}

static ir_reg subr_compare(struct lw *l, ir_reg a, enum ir_cond cond, ir_reg b)
{
	struct ir_ins *i = lw_emit(l, IR_CMP);

	i->a = a;
	i->b = b;
	i->cond = (uint8_t)cond;
	return i->d = lw_reg(l);
}

#define MUTEX_FLAGS 7   /* the kernel's kernel/locking/mutex.h: the other bits of the first word are the owner's task */
#define QRW_WRITER 0xff /* include/asm-generic/qrwlock.h: who has it for writing */
#define QRW_WAITING 0x100 /* a writer waits */
#define QRW_READERS 9     /* above these bits they are counted */

/* mutex_...(struct mutex *), rw_...(rwlock_t *): a mutex of Linux spins for a while, and then sleeps, as an adaptive
 * one. */
static ir_reg subr_lock(struct lw *l, const struct d_node *n)
{
	ir_reg word, zero = lw_const(l, 0);

	switch (n->call) {
	case CALL_mutex_type_adaptive:
	case CALL_mutex_type_spin:
		subr_lock_word(l, n, 8);
		return lw_const(l, n->call == CALL_mutex_type_adaptive);
	case CALL_mutex_owner:
	case CALL_mutex_owned:
		word = lw_binary(l, IR_AND, subr_lock_word(l, n, 8), lw_const(l, ~MUTEX_FLAGS));
		return n->call == CALL_mutex_owner ? word : subr_compare(l, word, IR_EQ, lw_builtin(l, BI_CURTHREAD));
	case CALL_rw_read_held:
		word = subr_lock_word(l, n, 4);
		return subr_compare(l, lw_binary(l, IR_SHR, word, lw_const(l, QRW_READERS)), IR_NE, zero);
	case CALL_rw_write_held:
		word = lw_binary(l, IR_AND, subr_lock_word(l, n, 4), lw_const(l, QRW_WRITER));
		return subr_compare(l, word, IR_EQ, lw_const(l, QRW_WRITER));
	default: /* rw_iswriter() */
		word = lw_binary(l, IR_AND, subr_lock_word(l, n, 4), lw_const(l, QRW_WRITER | QRW_WAITING));
		return subr_compare(l, word, IR_NE, zero);
	}
}

static ir_reg subr_progenyof(struct lw *l, const struct d_node *n)
{
	ir_reg pid = lw_value(l, n->arg[0]);
	struct ir_ins *i = lw_emit(l, IR_PROGENY);

	i->a = pid;
	return i->d = lw_reg(l);
}

ir_reg lw_subr_number(struct lw *l, const struct d_node *n)
{
	switch (n->call) {
	case CALL_mutex_owned:
	case CALL_mutex_owner:
	case CALL_mutex_type_adaptive:
	case CALL_mutex_type_spin:
	case CALL_rw_iswriter:
	case CALL_rw_read_held:
	case CALL_rw_write_held:
		return subr_lock(l, n);
	case CALL_counter:
	case CALL_vcounter:
		return subr_counter(l, n);
	case CALL_progenyof:
		return subr_progenyof(l, n);
	case CALL_speculation:
		return subr_speculation(l);
	case CALL_getmajor:
	case CALL_getminor:
		return subr_device(l, n);
	case CALL_strtoll:
		return lw_subr_strtoll(l, n);
	case CALL_rand:
		return lw_extended(l, subr_rand(l), n->type);
	case CALL_htons:
	case CALL_htonl:
	case CALL_htonll:
	case CALL_ntohs:
	case CALL_ntohl:
	case CALL_ntohll:
		return subr_hton(l, n);
	case CALL_alloca:
	case CALL_bcopy:
	case CALL_copyin:
	case CALL_copyinto:
	case CALL_copyout:
	case CALL_copyoutstr:
		return lw_subr_scratch(l, n);
	default:
		return lw_string_number(l, n);
	}
}

/* ---- parts of strings ------------------------------------------------------------------ */

/* o = p from register `from` on, or NULL when that is negative. */
static void subr_cut(struct lw *l, ir_obj p, uint32_t bound, ir_reg from, ir_obj o, uint32_t off, uint32_t size)
{
	uint32_t none = lw_label(l);
	ir_reg most = lw_const(l, bound);

	lw_zero(l, o, off, size);
	lw_store8(l, o, off, lw_const(l, D_NULL_STRING));
	lw_jcmp(l, from, IR_LT, lw_const(l, 0), none);
	lw_part(lw_on(l, IR_SSUB, o, off, size), p, bound, from, most);
	lw_put(l, none);
}

/* The place of q (bound nq) in p, first or last. */
static ir_reg subr_find(struct lw *l, ir_obj p, uint32_t bound, ir_obj q, uint32_t nq, ir_reg from, bool last)
{
	struct ir_ins *i = lw_emit(l, last ? IR_SRINDEX : IR_SINDEX);

	i->p = p;
	i->i = bound;
	i->q = q;
	i->x = nq;
	i->a = from;
	return i->d = lw_reg(l);
}

/* strchr(s, c), strrchr(s, c): c as a string of one; 0 is found where s ends. */
static void subr_strchr(struct lw *l, const struct d_node *n, ir_obj o, uint32_t off, uint32_t size)
{
	ir_obj p = lw_string_argument(l, n->arg[0]), q = lw_temp(l, 8);
	uint32_t bound = n->arg[0]->type->size;
	ir_reg c = lw_binary(l, IR_AND, lw_value(l, n->arg[1]), lw_const(l, 0xff)), from = lw_reg(l);
	uint32_t some = lw_label(l);

	lw_zero(l, q, 0, 8);
	lw_on(l, IR_OSTORE, q, 0, 1)->a = c;
	if (n->call == CALL_strrchr) {
		lw_const_to(l, from, bound);
	} else {
		lw_const_to(l, from, 0);
		lw_jcmp(l, c, IR_NE, lw_const(l, 0), some);
		lw_move_to(l, from, lw_string_length(l, p, bound));
		lw_put(l, some);
	}
	subr_cut(l, p, bound, subr_find(l, p, bound, q, 8, from, n->call == CALL_strrchr), o, off, size);
}

static void subr_strstr(struct lw *l, const struct d_node *n, ir_obj o, uint32_t off, uint32_t size)
{
	ir_obj p = lw_string_argument(l, n->arg[0]), q = lw_string_argument(l, n->arg[1]);
	uint32_t bound = n->arg[0]->type->size;

	subr_cut(l, p, bound, subr_find(l, p, bound, q, n->arg[1]->type->size, lw_const(l, 0), false), o, off, size);
}

/* ---- toupper(), tolower() ---------------------------------------------------------------- */

#define EACH_BYTE 0x0101010101010101ull

/* The ASCII letters from `first` to `last` of a word change their bit 0x20.  A byte b below 0x80 has its top bit set in
 * b + (0x80 - first) when it is not below first, and in b + (0x7f - last) when it is above last. */
static ir_reg subr_change_case(struct lw *l, ir_reg w, char first, char last)
{
	ir_reg low = lw_binary(l, IR_AND, w, lw_const(l, (int64_t)(EACH_BYTE * 0x7f)));
	ir_reg ge = lw_binary(l, IR_ADD, low, lw_const(l, (int64_t)(EACH_BYTE * (0x80 - (unsigned)first))));
	ir_reg gt = lw_binary(l, IR_ADD, low, lw_const(l, (int64_t)(EACH_BYTE * (0x7f - (unsigned)last))));
	ir_reg is = lw_binary(l, IR_XOR, ge, gt);

	is = lw_binary(l, IR_AND, is, lw_unary(l, IR_NOT, w));
	is = lw_binary(l, IR_AND, is, lw_const(l, (int64_t)(EACH_BYTE * 0x80)));
	return lw_binary(l, IR_XOR, w, lw_binary(l, IR_SHR, is, lw_const(l, 2)));
}

static void subr_case(struct lw *l, const struct d_node *n, ir_obj o, uint32_t off, uint32_t size)
{
	const bool upper = n->call == CALL_toupper;

	lw_string_slot(l, n->arg[0], o, off, size, false);
	for (uint32_t k = 0; k < size && k < n->arg[0]->type->size; k += 8) {
		struct ir_ins *i = lw_on(l, IR_OLOAD, o, off + k, 8);
		ir_reg w = i->d = lw_reg(l);

		lw_store8(l, o, off + k, subr_change_case(l, w, upper ? 'a' : 'A', upper ? 'z' : 'Z'));
	}
}

/* ---- lltostr() ------------------------------------------------------------------------------ */

#define LLTOSTR_BYTES 72u /* 64 digits, a prefix, a sign and a NUL, and whole words */

/* A digit as a character: what is above 9 goes on from 'a'. */
ir_reg lw_digit(struct lw *l, ir_reg digit)
{
	ir_reg letter = lw_binary(l, IR_SAR, lw_binary(l, IR_SUB, lw_const(l, 9), digit), lw_const(l, 63));

	letter = lw_binary(l, IR_AND, letter, lw_const(l, 'a' - '0' - 10));
	return lw_binary(l, IR_ADD, lw_binary(l, IR_ADD, digit, lw_const(l, '0')), letter);
}

static uint32_t subr_digits_most(uint32_t base)
{
	uint32_t n = 1;

	for (uint64_t v = UINT64_MAX; v >= base; v /= base)
		n++;
	return n;
}

/* The digits of v from the end of t on; the register that has where they begin. */
static ir_reg subr_digits(struct lw *l, ir_reg v, uint32_t base, ir_obj t)
{
	const uint32_t n = subr_digits_most(base);
	ir_reg at = lw_reg(l), rest = lw_reg(l), by = lw_const(l, base);
	uint32_t done = lw_label(l);

	lw_move_to(l, rest, v);
	for (uint32_t k = 0; k < n; k++) {
		uint32_t place = LLTOSTR_BYTES - 2 - k;
		ir_reg digit = lw_digit(l, lw_binary(l, IR_MODU, rest, by));

		lw_on(l, IR_OSTORE, t, place, 1)->a = digit;
		lw_move_to(l, rest, lw_binary(l, IR_DIVU, rest, by));
		lw_const_to(l, at, place);
		lw_jcmp(l, rest, IR_EQ, lw_const(l, 0), done);
	}
	lw_put(l, done);
	return at;
}

/* lltostr(v), lltostr(v, base): to the base 10 with its sign, to others as the 64 bits are. */
static void subr_lltostr(struct lw *l, const struct d_node *n, ir_obj o, uint32_t off, uint32_t size)
{
	const uint32_t base = n->narg == 2 ? (uint32_t)n->arg[1]->ival : 10;
	ir_obj t = lw_temp(l, LLTOSTR_BYTES);
	ir_reg v = lw_value(l, n->arg[0]), m = lw_reg(l), minus, at, from = lw_reg(l),
	       most = lw_const(l, LLTOSTR_BYTES);
	uint32_t positive = lw_label(l), unsign = lw_label(l);
	struct ir_ins *i;

	lw_zero(l, t, 0, LLTOSTR_BYTES);
	lw_move_to(l, m, v);
	if (base == 10) {
		lw_jcmp(l, v, IR_GE, lw_const(l, 0), positive);
		lw_move_to(l, m, lw_unary(l, IR_NEG, v));
		lw_put(l, positive);
	}
	at = subr_digits(l, m, base, t);
	lw_move_to(l, from, at);
	if (base == 10) {
		lw_jcmp(l, v, IR_GE, lw_const(l, 0), unsign);
		lw_move_to(l, from, lw_binary(l, IR_SUB, at, lw_const(l, 1)));
		minus = lw_const(l, '-');
		i = lw_on(l, IR_OSTOREX, t, 0, 1);
		i->b = from;
		i->i = LLTOSTR_BYTES;
		i->a = minus;
		lw_put(l, unsign);
	}
	lw_part(lw_on(l, IR_SSUB, o, off, size), t, LLTOSTR_BYTES, from, most);
	l->obj[t].indexed = true;
}

/* ---- strtok(), cleanpath() ----------------------------------------------------------------- */

ir_reg lw_string_span(struct lw *l, enum ir_cond cond, ir_obj p, uint32_t bound, ir_obj q, uint32_t nq, ir_reg at)
{
	struct ir_ins *i = lw_emit(l, IR_SSPAN);

	i->cond = (uint8_t)cond;
	i->p = p;
	i->i = bound;
	i->q = q;
	i->x = nq;
	i->a = at;
	return i->d = lw_reg(l);
}

/* strtok(s, delimiters): s is kept until the probe has fired, and how far it was taken apart. */
static void subr_strtok(struct lw *l, const struct d_node *n, ir_obj o, uint32_t off, uint32_t size)
{
	const uint32_t bound = l->u->strsize, nq = n->arg[1]->type->size, none = lw_label(l), done = lw_label(l);
	struct ir_ins *i;
	ir_reg at, from, to, first;
	ir_obj q;

	if (!l->token_text) {
		l->token_text = lw_object(l, IR_OBJ_THIS, bound, "strtok");
		l->token_at = lw_object(l, IR_OBJ_THIS, 8, "strtok_at");
		if (!l->failed)
			l->obj[l->token_text].indexed = true;
	}
	if (n->arg[0]->kind != N_INT) {
		lw_string_slot(l, n->arg[0], l->token_text, 0, bound, false);
		lw_store8(l, l->token_at, 0, lw_const(l, 0));
	}
	q = lw_string_argument(l, n->arg[1]);
	i = lw_on(l, IR_OLOAD, l->token_at, 0, 8);
	at = i->d = lw_reg(l);
	from = lw_string_span(l, IR_EQ, l->token_text, bound, q, nq, at);
	i = lw_on(l, IR_OLOADX, l->token_text, 0, 1);
	i->b = from;
	i->i = bound;
	i->x = 1;
	first = i->d = lw_reg(l);
	lw_zero(l, o, off, size);
	lw_jcmp(l, first, IR_EQ, lw_const(l, 0), none);
	to = lw_string_span(l, IR_NE, l->token_text, bound, q, nq, from);
	lw_store8(l, l->token_at, 0, to);
	to = lw_binary(l, IR_SUB, to, from);
	lw_part(lw_on(l, IR_SSUB, o, off, size), l->token_text, bound, from, to);
	lw_jmp(l, done);
	lw_put(l, none);
	lw_store8(l, l->token_at, 0, from);
	lw_store8(l, o, off, lw_const(l, D_NULL_STRING));
	lw_put(l, done);
}

static void subr_cleanpath(struct lw *l, const struct d_node *n, ir_obj o, uint32_t off, uint32_t size)
{
	const uint32_t bound = n->arg[0]->type->size;
	ir_obj p = lw_string_argument(l, n->arg[0]), clean = lw_temp(l, bound);
	ir_reg from, most;
	struct ir_ins *i = lw_on(l, IR_SCLEAN, clean, 0, bound);

	i->p = p;
	i->i = bound;
	from = lw_const(l, 0);
	most = lw_const(l, bound);
	lw_part(lw_on(l, IR_SSUB, o, off, size), clean, bound, from, most);
}

/* ---- all of them ------------------------------------------------------------------------------ */

/* copyinstr(address, most): a string of the process; what does not fit is cut. */
static void subr_copyinstr(struct lw *l, const struct d_node *n, ir_obj o, uint32_t off, uint32_t size)
{
	uint32_t own = n->type->size < size ? n->type->size : size, most = own;
	ir_reg address = lw_value(l, n->arg[0]);
	struct ir_ins *i;

	if (n->narg == 2 && n->arg[1]->kind == N_INT && n->arg[1]->ival > 0 && n->arg[1]->ival < most)
		most = (uint32_t)n->arg[1]->ival;
	else if (n->narg == 2)
		lw_effect(l, n->arg[1]);
	lw_zero(l, o, off + ((most + 7) & ~7u), size - ((most + 7) & ~7u)); /* the rest is zeroed by what reads */
	i = lw_on(l, IR_OREADSTR, o, off, most);
	i->a = address;
	i->x = 1;
}

/* A blank for each NUL of a word. A byte without its top bit carries into that when 0x7f is added, unless it is 0. */
static ir_reg subr_fill_blanks(struct lw *l, ir_reg w)
{
	ir_reg low = lw_const(l, (int64_t)(EACH_BYTE * 0x7f));
	ir_reg some = lw_binary(l, IR_ADD, lw_binary(l, IR_AND, w, low), low);
	ir_reg none = lw_unary(l, IR_NOT, lw_binary(l, IR_OR, lw_binary(l, IR_OR, some, w), low));

	return lw_binary(l, IR_OR, w, lw_binary(l, IR_SHR, none, lw_const(l, 2)));
}

/*
 * __arguments(address, n): n bytes of the process as one string. They are words that end with a NUL each, as Linux
 * keeps arguments; each NUL but the last becomes a blank. What does not fit is cut.
 */
static void subr_arguments(struct lw *l, const struct d_node *n, ir_obj o, uint32_t off, uint32_t size)
{
	const uint32_t some = lw_label(l), fits = lw_label(l);
	ir_obj t = lw_temp(l, D_ARGUMENTS_BYTES);
	ir_reg address = lw_value(l, n->arg[0]), whole = lw_value(l, n->arg[1]), most = lw_reg(l),
	       zero = lw_const(l, 0);
	struct ir_ins *i;

	lw_move_to(l, most, lw_binary(l, IR_SUB, whole, lw_const(l, 1)));
	lw_jcmp(l, most, IR_GE, zero, some);
	lw_move_to(l, most, zero);
	lw_put(l, some);
	lw_jcmp(l, most, IR_LT, lw_const(l, D_ARGUMENTS_BYTES), fits);
	lw_const_to(l, most, D_ARGUMENTS_BYTES - 1);
	lw_put(l, fits);
	lw_zero(l, t, 0, D_ARGUMENTS_BYTES);
	i = lw_on(l, IR_OREADN, t, 0, 0);
	i->a = address;
	i->b = zero;
	i->e = most;
	i->i = D_ARGUMENTS_BYTES;
	i->x = 1;
	for (uint32_t k = 0; k < D_ARGUMENTS_BYTES; k += 8) {
		i = lw_on(l, IR_OLOAD, t, k, 8);
		lw_store8(l, t, k, subr_fill_blanks(l, i->d = lw_reg(l)));
	}
	lw_part(lw_on(l, IR_SSUB, o, off, size), t, D_ARGUMENTS_BYTES, zero, most);
	l->obj[t].indexed = true;
}

void lw_subr_string(struct lw *l, const struct d_node *n, ir_obj o, uint32_t off, uint32_t size)
{
	switch (n->call) {
	case CALL___arguments:
		subr_arguments(l, n, o, off, size);
		break;
	case CALL_strchr:
	case CALL_strrchr:
		subr_strchr(l, n, o, off, size);
		break;
	case CALL_strstr:
		subr_strstr(l, n, o, off, size);
		break;
	case CALL_toupper:
	case CALL_tolower:
		subr_case(l, n, o, off, size);
		break;
	case CALL_lltostr:
		subr_lltostr(l, n, o, off, size);
		break;
	case CALL_strtok:
		subr_strtok(l, n, o, off, size);
		break;
	case CALL_cleanpath:
		subr_cleanpath(l, n, o, off, size);
		break;
	case CALL_d_path:
		lw_subr_path(l, n, o, off, size);
		break;
	case CALL_inet_ntoa:
	case CALL_inet_ntoa6:
	case CALL_inet_ntop:
	case CALL_link_ntop:
		lw_subr_net(l, n, o, off, size);
		break;
	default:
		assert(n->call == CALL_copyinstr); /* else a row of call.def has no lowering */
		subr_copyinstr(l, n, o, off, size);
	}
}
