/*
 * shape.c: types of D in the form in which output code needs them (facts/shape.h).
 */
#include <string.h>

#include "dlang/type_int.h"

#define SHAPE_DEPTH_MOST 24 /* of structs within structs */

static struct shape *shape_scalar(struct d_unit *u, const struct d_type *t)
{
	struct shape *s = arena_alloc(&u->arena, sizeof(*s));

	if (s)
		*s = (struct shape){ .kind = t->kind == TY_FLOAT ? SHAPE_FLOAT :
					     t->kind == TY_PTR   ? SHAPE_POINTER :
					     t->kind == TY_ENUM  ? SHAPE_ENUM :
								   SHAPE_INT,
				     .is_signed = t->is_signed,
				     .is_char = t->kind == TY_INT && t->size == 1 && !t->is_bool,
				     .type = t->kind == TY_ENUM && t->name == NULL ? "enum" : type_name(u, t),
				     .size = t->size };
	return s;
}

/* The enumerators of an enum of the kernel, or those that D declared. */
static int shape_names(struct d_unit *u, const struct d_type *t, struct shape *s)
{
	const void *key;
	void *val;
	size_t len;
	uint32_t cap = 0;
	struct shape_name of_kernel;

	for (uint32_t i = 0; t->kernel && u->env.ktypes->enumerator(u->env.ktypes->arg, t->kernel, i, &of_kernel.name,
								    &of_kernel.value);
	     i++) {
		of_kernel.name = arena_strdup(&u->arena, of_kernel.name);
		if (of_kernel.name == NULL || D_PUSH(u, s->name, s->n, cap, of_kernel) < 0)
			return -TALLY_ENOMEM;
	}
	if (t->kernel)
		return 0;

	for (size_t i = 0; map_next(&u->consts, &i, &key, &len, &val);) {
		const struct d_node *n = val;
		const char *name = n->type == t ? arena_strndup(&u->arena, key, len) : NULL;

		if (n->type != t)
			continue;
		if (name == NULL || D_PUSH(u, s->name, s->n, cap, ((struct shape_name){ name, n->ival })) < 0)
			return -TALLY_ENOMEM;
	}
	return 0;
}

static struct shape *shape_make(struct d_unit *u, const struct d_type *t, unsigned depth);

static struct shape *shape_members(struct d_unit *u, const struct d_type *t, struct shape *s, unsigned depth)
{
	uint32_t cap = 0;

	s->kind = SHAPE_STRUCT;
	if (t->name == NULL || strstr(t->name, "(anonymous)") != NULL)
		s->type = t->kind == TY_UNION ? "union" : "struct";
	if (type_complete(u, t) < 0)
		return NULL;
	for (const struct d_member *m = t->members; m != NULL && depth < SHAPE_DEPTH_MOST; m = m->next) {
		struct shape_member to = {
			.name = m->name, .offset = m->offset, .bit = m->bit, .bits = m->bits, .unit = m->unit
		};

		if (m->bits != 0 && *m->name == '\0') /* padding */
			continue;
		if (ty_is_sou(m->type) && type_complete(u, m->type) < 0)
			return NULL;
		if (m->type->size == 0)
			continue;
		to.of = shape_make(u, m->type, depth + 1);
		if (to.of == NULL || D_PUSH(u, s->member, s->n, cap, to) < 0)
			return NULL;
	}
	return s;
}

static struct shape *shape_make(struct d_unit *u, const struct d_type *t, unsigned depth)
{
	struct shape *s = shape_scalar(u, t);

	if (s == NULL || t->kind == TY_INT || t->kind == TY_FLOAT || t->kind == TY_PTR)
		return s;
	if (t->kind == TY_ENUM)
		return shape_names(u, t, s) < 0 ? NULL : s;
	if (ty_is_sou(t))
		return shape_members(u, t, s, depth);
	s->kind = SHAPE_ARRAY;
	s->n = t->kind == TY_STRING ? t->size : t->n;
	s->of = shape_make(u, t->kind == TY_STRING ? u->base[B_CHAR] : t->to, depth + 1);
	return s->of != NULL ? s : NULL;
}

const struct shape *shape_of(struct d_unit *u, const struct d_type *t)
{
	const struct shape *s = shape_make(u, t, 0);

	if (s == NULL)
		(void)d_nomem(u);
	return s;
}
