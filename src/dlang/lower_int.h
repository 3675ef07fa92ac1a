/*
 * lower_int.h: shared by the two halves of the lowering pass.
 */
#ifndef TALLY_DLANG_LOWER_INT_H
#define TALLY_DLANG_LOWER_INT_H

#include "dlang/ast_int.h"

struct lw {
	struct d_unit *u;
	struct d_program *p;
	bool failed;                          /* memory is out, or the clause is too large */
	bool too_large;
	uint32_t objs_cap, lits_cap;
	struct ir_object *obj;
	const char **lit;
	/* the clause in work */
	struct ir_ins *ins, sink;             /* sink takes what no memory is left for */
	uint32_t nins, ins_cap, nregs, nlabels, line;
};

/* More instructions than any clause needs that a kernel would take; bounds the work on hostile sources. */
#define LW_INS_MOST 16384u

/* Where a value lies: an object at an offset, perhaps at an index; in the context at an offset (args);
 * or at an address (neither). */
struct lw_place {
	ir_obj o;
	uint32_t off;
	ir_reg index;                         /* o: 0 or the element's number; else the address */
	uint32_t limit;                       /* elements */
	bool user;                            /* address of user memory */
	bool args;
};

/* lower_expr.c */
struct ir_ins *lw_emit(struct lw *l, enum ir_op op);
ir_reg lw_reg(struct lw *l);
ir_obj lw_object(struct lw *l, enum ir_objkind kind, uint32_t size, const char *name);
uint32_t lw_label(struct lw *l);
void lw_put(struct lw *l, uint32_t label);
ir_reg lw_value(struct lw *l, const struct d_node *n);                 /* of a scalar */
void lw_effect(struct lw *l, const struct d_node *n);                  /* whatever n is, for its effect */
void lw_jump(struct lw *l, const struct d_node *n, bool when, uint32_t label);        /* to label if !!n == when */
void lw_string(struct lw *l, const struct d_node *n, ir_obj o, uint32_t off, uint32_t size);   /* padded to size */
void lw_slot(struct lw *l, const struct d_node *n, ir_obj o, const struct slot *s, bool in_key);
/* Gives slots for types their offsets from `at` on; returns where they end. */
uint32_t lw_layout(const struct d_type *const *type, uint32_t n, struct slot *slot, uint32_t at, bool in_key);

#endif
