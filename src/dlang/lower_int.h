/*
 * lower_int.h: what the files of the lowering pass share.
 */
#ifndef TALLY_DLANG_LOWER_INT_H
#define TALLY_DLANG_LOWER_INT_H

#include "dlang/ast_int.h"

struct lw {
	struct d_unit *u;
	struct d_program *p;
	bool failed;        /* memory is out, or the clause is too large */
	uint32_t too_large; /* the line of that clause, or 0 */
	uint32_t objs_cap, lits_cap;
	struct ir_object *obj;
	const char **lit;
	/* the clause in work */
	struct ir_ins *ins, sink; /* sink takes what no memory is left for */
	uint32_t nins, ins_cap, nregs, nlabels, line, clause_line;
	uint32_t guard;    /* offset in the record of the word that says whether the arm in work was taken; 0: no arm */
	uint32_t end;      /* label behind all that the clause does */
	ir_reg exited;     /* 1 once exit() was called in this clause; 0: it has none */
	ir_obj token_text; /* of strtok(), of all clauses; 0: none so far */
	ir_obj token_at;
	ir_obj scratch; /* the memory of alloca(), or 0: not used so far */
	ir_reg scratch_top;
	uint32_t scratch_at; /* the instruction where both begin */
	ir_reg generation;   /* of the tuple in work, which asks once for it; 0: not yet */
};

/* Where a value lies: an object at an offset, perhaps at an index; in the context at an offset (args);
 * or at an address (neither). */
struct lw_place {
	ir_obj o;
	uint32_t off;
	ir_reg index;           /* o: 0 or the element's number; else the address */
	uint32_t limit, stride; /* elements, and the bytes from one to the next */
	bool user;              /* address of user memory */
	bool args;
	bool scratch;             /* o: 0, index: offset in scratch memory */
	const struct d_node *dyn; /* o is a copy of the value of this variable, at this key */
	ir_obj key;
};

/* A left side, read once and written once: the key of a variable is computed once. */
struct lw_lhs {
	const struct d_node *n;
	struct lw_place p;
	ir_obj key;
};

/* ---- lower_emit.c: each returns the register that has the result -------------------------------- */
struct ir_ins *lw_emit(struct lw *l, enum ir_op op);
ir_reg lw_reg(struct lw *l);
ir_obj lw_object(struct lw *l, enum ir_objkind kind, uint32_t size, const char *name);
ir_obj lw_temp(struct lw *l, uint32_t size);
uint32_t lw_label(struct lw *l);
void lw_put(struct lw *l, uint32_t label);
void lw_jmp(struct lw *l, uint32_t label);
void lw_jcmp(struct lw *l, ir_reg a, enum ir_cond cond, ir_reg b, uint32_t label);
void lw_const_to(struct lw *l, ir_reg d, int64_t v);
void lw_move_to(struct lw *l, ir_reg d, ir_reg a);
ir_reg lw_const(struct lw *l, int64_t v);
ir_reg lw_binary(struct lw *l, enum ir_op op, ir_reg a, ir_reg b);
ir_reg lw_unary(struct lw *l, enum ir_op op, ir_reg a);
ir_reg lw_extended(struct lw *l, ir_reg a, const struct d_type *t); /* converted to a type */
ir_reg lw_builtin(struct lw *l, enum ir_builtin which);
uint32_t lw_literal(struct lw *l, const char *s); /* its number */
/* An operation on an object, at off. */
struct ir_ins *lw_on(struct lw *l, enum ir_op op, ir_obj o, uint32_t off, uint32_t size);
/* Operands of an IR_SSUB: of the string p, whose type has `bound` bytes, at most `most` bytes from byte `from` on. */
void lw_part(struct ir_ins *i, ir_obj p, uint32_t bound, ir_reg from, ir_reg most);
void lw_fault(struct lw *l, enum ir_fault fault, ir_reg value);
/* faults unless index < n, unsigned */
void lw_check_below(struct lw *l, ir_reg index, uint32_t n, enum ir_fault fault);
void lw_zero(struct lw *l, ir_obj o, uint32_t off, uint32_t size);
void lw_copy(struct lw *l, ir_obj o, uint32_t off, ir_obj p, uint32_t poff, uint32_t size);
void lw_store8(struct lw *l, ir_obj o, uint32_t off, ir_reg a);
void lw_move_bytes(struct lw *l, ir_obj o, uint32_t off, ir_obj p, uint32_t poff, uint32_t size); /* aligned or not */

/* ---- lower_once.c --------------------------------------------------------------------------------- */
void lw_once(struct lw *l); /* over all instructions of the clause */

/* ---- lower_place.c -------------------------------------------------------------------------------- */
bool lw_is_dyn(const struct d_node *n);                 /* thread-local or associative: it has a key */
ir_obj lw_key_of(struct lw *l, const struct d_node *n); /* at this use */
ir_obj lw_dyn_get(struct lw *l, const struct d_node *n, ir_obj key);
void lw_dyn_set(struct lw *l, const struct d_node *n, ir_obj key, ir_obj value);
struct lw_place lw_place_of(struct lw *l, const struct d_node *n);
/* Makes it an address: of a whole struct in the context, or at a computed index. */
void lw_by_address(struct lw *l, struct lw_place *p);
ir_reg lw_address(struct lw *l, const struct lw_place *p);
void lw_put_bytes(struct lw *l, const struct lw_place *p, ir_obj from, uint32_t size); /* from the start of `from` */
ir_reg lw_args_address(struct lw *l, uint32_t off);
ir_reg lw_args_load(struct lw *l, uint32_t off, uint32_t size);
struct lw_lhs lw_lhs_of(struct lw *l, const struct d_node *n);
ir_reg lw_lhs_get(struct lw *l, const struct lw_lhs *s);
ir_reg lw_lhs_put(struct lw *l, const struct lw_lhs *s, ir_reg v);

/* ---- lower_scratch.c ------------------------------------------------------------------------------ */
void lw_scratch_begin(struct lw *l); /* where a clause begins, and again behind its predicate */
void lw_scratch_end(struct lw *l);
/* A place in scratch memory becomes one in an object, checked for `size` bytes. */
void lw_scratch_place(struct lw *l, struct lw_place *p, uint32_t size);
ir_reg lw_scratch_address(struct lw *l, ir_reg off, uint32_t size); /* of `size` bytes at an offset, checked */
/* The address that a pointer leads to, of the kernel's memory if the pointer leads into scratch memory. */
ir_reg lw_pointer(struct lw *l, const struct d_node *n, uint32_t size);
ir_reg lw_subr_scratch(struct lw *l, const struct d_node *n); /* alloca(), copyin() and those that return nothing */

/* ---- lower_string.c --------------------------------------------------------------------------------- */
void lw_string(struct lw *l, const struct d_node *n, ir_obj o, uint32_t off, uint32_t size); /* padded to size */
/* An object that holds it, at offset 0: a variable's own where that will do. */
ir_obj lw_string_object(struct lw *l, const struct d_node *n);
ir_reg lw_string_length(struct lw *l, ir_obj p, uint32_t bound);
void lw_string_assign(struct lw *l, const struct d_node *n);
ir_obj lw_string_argument(struct lw *l, const struct d_node *n);      /* the same; NULL faults */
struct lw_place lw_string_byte(struct lw *l, const struct d_node *n); /* N_INDEX over a string */
void lw_string_slot(struct lw *l, const struct d_node *n, ir_obj o, uint32_t off, uint32_t size, bool in_key);
/* The sign of strcmp(a, b), or (!ordered) something that is 0 when they are equal. */
ir_reg lw_string_compare(struct lw *l, const struct d_node *a, const struct d_node *b, bool ordered);
ir_reg lw_string_number(struct lw *l, const struct d_node *n); /* strlen, index, rindex: what they return */

/* ---- lower_subr.c ------------------------------------------------------------------------------------- */
ir_reg lw_subr_number(struct lw *l, const struct d_node *n); /* what a subroutine that is no string returns */
void lw_subr_string(struct lw *l, const struct d_node *n, ir_obj o, uint32_t off, uint32_t size);

ir_reg lw_digit(struct lw *l, ir_reg digit); /* as a character: what is above 9 goes on from 'a' */

/* The first place of p (bound imm) from `at` on whose byte is not in q (cond IR_EQ), or is in q or ends p (IR_NE). */
ir_reg lw_string_span(struct lw *l, enum ir_cond cond, ir_obj p, uint32_t bound, ir_obj q, uint32_t nq, ir_reg at);

/* ---- lower_number.c ----------------------------------------------------------------------------------- */
ir_reg lw_subr_strtoll(struct lw *l, const struct d_node *n);

/* ---- lower_path.c ------------------------------------------------------------------------------------- */
void lw_subr_path(struct lw *l, const struct d_node *n, ir_obj o, uint32_t off, uint32_t size);

/* ---- lower_net.c -------------------------------------------------------------------------------------- */
void lw_subr_net(struct lw *l, const struct d_node *n, ir_obj o, uint32_t off, uint32_t size);

/* ---- lower_expr.c ------------------------------------------------------------------------------------- */
ir_reg lw_value(struct lw *l, const struct d_node *n);                         /* of a scalar */
void lw_effect(struct lw *l, const struct d_node *n);                          /* whatever n is, for its effect */
void lw_jump(struct lw *l, const struct d_node *n, bool when, uint32_t label); /* to label if !!n == when */
void lw_slot(struct lw *l, const struct d_node *n, ir_obj o, const struct slot *s, bool in_key);
/* Gives slots for types their offsets from `at` on; returns where they end. */
uint32_t lw_layout(const struct d_type *const *type, uint32_t n, struct slot *slot, uint32_t at, bool in_key);

#endif
