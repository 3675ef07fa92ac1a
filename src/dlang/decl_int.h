/* decl_int.h: what declarations and the rest of the parser share about names. */
#ifndef TALLY_DLANG_DECL_INT_H
#define TALLY_DLANG_DECL_INT_H

#include "dlang/ast_int.h"

/* The variable of that name, made when `create` and there is none (type NULL until it gets one).
 * NULL: none, or out of memory (the unit has failed then). */
struct d_sym *sym_get(struct d_unit *u, enum sym_kind kind, const char *name, uint32_t line, bool create);
/* A variable of the firing that no script can name. NULL: memory is out. */
struct d_node *var_hidden(struct d_unit *u, const struct d_type *t, uint32_t line);
bool is_builtin(const char *name);
bool call_is_of_dtrace(const char *name);    /* a function of D that is not ours alone */
uint64_t builtin_elements(const char *name); /* of an array whose subscripts are constant; 0: of what is none */

/* near.c: "; did you mean NAME?", of the unit's arena, or "" when nothing is near. */
const char *near_name(struct d_unit *u, const char *word);
const char *near_variable(struct d_unit *u, const struct d_sym *s);
const char *near_call(struct d_unit *u, const char *word, bool aggregating);
const char *near_aggregation(struct d_unit *u, const char *word);
const char *near_member(struct d_unit *u, const struct d_type *t, const char *word);
const char *near_type(struct d_unit *u, const struct d_type *t); /* a struct, union or enum that nobody defines */
const char *near_type_name(struct d_unit *u, const char *module, const char *name); /* without a tag */

#endif
