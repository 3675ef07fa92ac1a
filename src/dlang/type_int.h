/*
 * type_int.h: the algebra of types, and what the parts of bind and type share.
 *
 * Functions that return int: 0, or a negative code with the words in the unit.  Those
 * that take a struct d_node ** may put another node in its place.
 */
#ifndef TALLY_DLANG_TYPE_INT_H
#define TALLY_DLANG_TYPE_INT_H

#include "dlang/ast_int.h"

/* B_INT and what follows up to B_ULLONG: signed, then unsigned, as in C's list for constants. */
enum ty_base {
	B_VOID,
	B_BOOL,
	B_CHAR,
	B_UCHAR,
	B_SHORT,
	B_USHORT,
	B_INT,
	B_UINT,
	B_LONG,
	B_ULONG,
	B_LLONG,
	B_ULLONG,
	B_FLOAT,
	B_DOUBLE,
	B_LDOUBLE,
	B_VOIDPTR,
	B_N,
};
static_assert(B_N <= sizeof(((struct d_unit *)0)->base) / sizeof(void *), "d_unit.base holds them");

/* ---- type.c ---------------------------------------------------------------- */

int types_init(struct d_unit *u); /* base types, and the typedefs D starts with */

/* Constructors return NULL when memory is out. */
struct d_type *type_new(struct d_unit *u, enum ty_kind kind);
const struct d_type *type_ptr(struct d_unit *u, const struct d_type *to);
const struct d_type *type_string(struct d_unit *u, uint64_t bytes); /* rounds up to 8 */
const struct d_type *type_array(struct d_unit *u, const struct d_type *of, uint32_t n);
const struct d_type *type_stack(struct d_unit *u, bool user, uint16_t frames);
const struct d_type *type_sym(struct d_unit *u, enum slot_kind kind);

/* The type of a tag, made incomplete when it is new; tag NULL: one more without a tag. */
struct d_type *type_tagged(struct d_unit *u, enum ty_kind kind, const char *tag);
const struct d_type *type_named(const struct d_unit *u, const char *name); /* NULL: no typedef */
const char *type_name(struct d_unit *u, const struct d_type *t);           /* for messages; never NULL */

static inline bool ty_is_char_array(const struct d_type *t)
{
	return t->kind == TY_ARRAY && t->to->kind == TY_INT && t->to->size == 1;
}
/* What D takes for a string: string, char[], char *. */
static inline bool ty_is_strcompat(const struct d_type *t)
{
	return t->kind == TY_STRING || ty_is_char_array(t) ||
	       (t->kind == TY_PTR && t->to->kind == TY_INT && t->to->size == 1);
}
/* The bounds of strings and the frames of stacks don't count. */
bool types_same(const struct d_type *a, const struct d_type *b);
/* Both PTR, to the same type or one of them to void. */
bool ptr_compatible(const struct d_type *a, const struct d_type *b);
/* a pointer that leads into the process; NULL: no memory */
const struct d_type *type_of_user(struct d_unit *u, const struct d_type *t);
/* The width of the bit-field that gives n its value, or 0.  The value of an assignment is the field's. */
unsigned bit_field_width(const struct d_node *n);
/* Integer promotion, and the common type of a comparison or a choice: C17 6.3.1. */
const struct d_type *type_promote(const struct d_unit *u, const struct d_node *n);
const struct d_type *type_common(const struct d_unit *u, const struct d_node *a, const struct d_node *b);
/* The type of an arithmetic or bitwise operation.  D ranks char and short below int but does not promote two of them to
 * it: the sum of two char is a char. */
const struct d_type *type_arithmetic(const struct d_unit *u, const struct d_node *a, const struct d_node *b);
/* v cut to the type, and extended as it says */
int64_t type_extend(const struct d_type *t, uint64_t v);

/* ---- ktype.c --------------------------------------------------------------- */

/* A struct, union or enum gets what the kernel tells of it, if it has none of its own: then its size and members are
 * there to be looked at. 0 if it is still incomplete, too. */
int type_complete(struct d_unit *u, const struct d_type *t);
const struct d_type *ktype_import(struct d_unit *u, uint64_t id, unsigned depth);
/* The type that the kernel has under a name without a tag, or NULL. module NULL: the kernel proper. */
const struct d_type *ktype_named(struct d_unit *u, const char *module, const char *name);
bool ktype_constant(const struct d_unit *u, const char *name, int64_t *ret); /* of an enum of the kernel */

/* ---- lower_path.c ---------------------------------------------------------- */

int path_find_members(struct d_unit *u, uint32_t line); /* what d_path() reads, before it is lowered */

/* ---- xlate.c --------------------------------------------------------------- */

/* A copy of a tree in which names of p stand for trees. NULL on failure. */
struct d_node *node_clone(struct d_unit *u, const struct d_node *n, const struct d_params *p);
bool bind_is_action(const struct d_node *n); /* an arm of ?: that has no value */
struct d_inline *inline_find(const struct d_unit *u, const char *name);
void inline_tell_itself(const struct d_unit *u, const char *name); /* the reason, if that definition is looked at */
int inline_define(struct d_unit *u, struct d_inline *d);
int inline_expand(struct d_unit *u, struct d_node *n, struct d_inline *d); /* n, with its arguments, becomes the tree */
int translator_define(struct d_unit *u, struct d_translator *t);
/* What translates from one type to the other, or NULL. */
const struct d_translator *translator_find(const struct d_unit *u, const struct d_type *to, const struct d_type *from);
int xlate_member(struct d_unit *u, struct d_node **np); /* N_MEMBER or N_ARROW over N_XLATE */
int xlate_inner(struct d_unit *u, struct d_node **np);  /* what a member is taken of */
int cook_xlate(struct d_unit *u, struct d_node **np);
/* whether it is a translation, after * of one became one to a struct */
bool xlate_dereferenced(struct d_node **np);
/* fails: a kept translated pointer is used as one to a struct */
int xlate_refuse_kept(struct d_unit *u, uint32_t line);
int library_need(struct d_unit *u, const char *word); /* parses the libraries in which the word stands */
int libraries_of_user(struct d_unit *u);              /* parses all that were named for this run */
/* Parses the library of that name: 1, 0 when there is none, negative when it can't be parsed. */
int library_require(struct d_unit *u, const char *name, size_t n);

/* ---- defined.c ------------------------------------------------------------- */

/* A definition of that provider: 1, it was defined before; 0; or negative. */
int defined_begin(struct d_unit *u, const char *prov, uint32_t line);
int defined_add(struct d_unit *u, struct d_defined *d, bool again); /* again: as defined_begin() said */
/* args[index] becomes what the definitions of the clause's probes say: 1, and it is bound; 0: none of the probes is
 * defined. */
int defined_expand(struct d_unit *u, struct d_node *n, int64_t index);

/* ---- fold.c ---------------------------------------------------------------- */

/* a op b of constants that are in one type t already (shifts: b in any). No division by zero. */
int64_t fold_binary(enum n_op op, const struct d_type *t, int64_t a, int64_t b);

/* ---- bind.c ---------------------------------------------------------------- */

int bind_expression(struct d_unit *u, struct d_node *n);
/* Enumerators become constants. 1 when other names are left: no constant expression. */
int bind_constants(struct d_unit *u, struct d_node *n);

/* ---- cook.c: expressions ---------------------------------------------------- */

int cook(struct d_unit *u, struct d_node **np); /* types it and all below */
/* Adds to the refusal of an operand, or of those of n, what it is as it is written: $1, 'c'. Gives back rc. */
void cook_tell_leaf(struct d_unit *u, const struct d_node *n);
int cook_tell_operands(struct d_unit *u, const struct d_node *n, int rc);
/* Whether an argument is the same thing in two probes. */
bool args_are_same(const struct d_args *a, const struct d_args *b);
/* What args[index] is in all probes of the clause; fails where they differ, or have none. */
int args_of_clause(struct d_unit *u, const struct d_node *n, int64_t index, const struct d_args **ret);
int cook_value(struct d_unit *u, struct d_node **np); /* cook, then decay but for char[] */
int decay(struct d_unit *u, struct d_node **np);      /* an array in memory: a pointer */
int convert(struct d_unit *u, struct d_node **np, const struct d_type *to);
int to_string(struct d_unit *u, struct d_node **np);   /* strcompat or INT to TY_STRING */
int null_string(struct d_unit *u, struct d_node **np); /* NULL as a string */
bool is_null_pointer(const struct d_node *n);
bool in_string(const struct d_node *n);                        /* a byte of a string, which can only be read */
int fold_int(struct d_unit *u, struct d_node **np, int64_t v); /* a constant of its type */
bool assignable(const struct d_type *to, const struct d_node *from);
bool member_offset(struct d_unit *u, const struct d_type *sou, const char *name, uint32_t *ret);   /* false: none */
const struct d_type *type_of_member(struct d_unit *u, const struct d_type *sou, const char *name); /* NULL: none */
const struct d_node *place_root(const struct d_node *n); /* N_VAR, N_DEREF; NULL: no place */
bool has_bytes(const struct d_node *n); /* a struct or array that can be copied: a place, or translated */

/* ---- scratch.c ---------------------------------------------------------------------- */

int scratch_assign(struct d_unit *u, const struct d_node *n); /* N_ASSIGN whose sides are typed */

/* ---- operator.c --------------------------------------------------------------- */

int cook_operator(struct d_unit *u, struct d_node **np); /* N_BIN */
int cook_assign(struct d_unit *u, struct d_node **np);
int cook_incdec(struct d_unit *u, struct d_node **np);
/* A value that is used more than once is computed once: *value assigns it to a variable that no script can name, *kept
 * reads that. */
int assign_hidden(struct d_unit *u, struct d_node **value, struct d_node **kept);
int type_sum(struct d_unit *u, struct d_node **np); /* + or - over cooked operands */
const char *op_text(const struct d_node *n);        /* "+", "+=", "++" */

/* ---- call.c, agg.c, printf.c ----------------------------------------------------- */

int cook_statement(struct d_unit *u, struct d_stmt *s);
int cook_statements(struct d_unit *u, struct d_stmt *s); /* and those behind it */
bool call_is_void(const struct d_node *n);
int cook_call(struct d_unit *u, struct d_node **np); /* N_CALL in an expression */
int cook_data(struct d_unit *u, struct d_node **np); /* also stack(), func() ... */
int cook_var(struct d_unit *u, struct d_node *n, bool write);
int widen_keys(struct d_unit *u);                                        /* after all clauses */
int wrap_sym(struct d_unit *u, struct d_node **np, enum slot_kind kind); /* an N_SYMFN */
int check_call(struct d_unit *u, const struct d_node *n);                /* the number of arguments */
/* Argument i must be an aggregation that is assigned somewhere: adds it to s->aggs. */
int agg_arg(struct d_unit *u, struct d_stmt *s, const struct d_node *call, unsigned i, enum d_tag badarg,
	    enum d_tag undefined);
int cook_aggfn(struct d_unit *u, struct d_stmt *s, struct d_node *call);
int cook_printf(struct d_unit *u, struct d_stmt *s, struct d_node *call);
int cook_printa(struct d_unit *u, struct d_stmt *s, struct d_node *call);
/* action.c: whether an action, of enum d_actkind, or an aggregation may stand behind those that the clause had so
 * far */
int action_order(struct d_unit *u, uint8_t kind, uint32_t line);
int action_order_subroutine(struct d_unit *u, uint8_t call, uint32_t line);
int action_order_aggregation(struct d_unit *u, uint32_t line);
bool action_is_destructive(uint8_t kind);
int cook_print(struct d_unit *u, struct d_stmt *s, struct d_node *call);
/* ---- shape.c */
const struct shape *shape_of(struct d_unit *u, const struct d_type *t); /* NULL: memory is out */
int cook_pcap(struct d_unit *u, struct d_stmt *s, struct d_node *call);
int cook_tracemem(struct d_unit *u, struct d_stmt *s, struct d_node *call);
int cook_freopen(struct d_unit *u, struct d_stmt *s, struct d_node *call);

#endif
