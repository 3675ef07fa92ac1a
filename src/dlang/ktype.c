/*
 * ktype.c: types of the kernel, made types of D when a program needs them.
 *
 * A kernel has a hundred thousand types, and a script names three. So nothing is read before its name is met, and
 * then only the size of a struct. Its members are read when the first of them is looked up, each with a type that
 * again has only a name and a size.
 *
 * A struct that the program declares and does not define is the kernel's of that name, if there is one: it is
 * completed in place, so that pointers to it stay pointers to one type.
 */
#include "dlang/type_int.h"

#include <string.h>

static const char *const tag_words[] = { [TY_STRUCT] = "struct", [TY_UNION] = "union", [TY_ENUM] = "enum" };

static const struct d_type *base_by_size(struct d_unit *u, const struct d_ktype *k)
{
	static const uint8_t is_signed[] = { [1] = B_CHAR, [2] = B_SHORT, [4] = B_INT, [8] = B_LONG };
	if (k->is_bool && k->size == 1)
		return u->base[B_BOOL];
	if (k->size == 1 && k->name != NULL && strcmp(k->name, "char") == 0)
		return u->base[B_CHAR]; /* a kernel is compiled with unsigned ones, or not: text is text */
	if (k->size == 1 || k->size == 2 || k->size == 4 || k->size == 8)
		return u->base[is_signed[k->size] + (k->is_signed ? 0 : 1)];
	/* an integer of 16 bytes is an array of two to D */
	return type_array(u, u->base[B_ULONG], k->size / 8);
}

/* The alignment isn't told: the largest that the size allows. */
static uint32_t align_of(uint32_t size)
{
	return size % 8 == 0 ? 8 : size % 4 == 0 ? 4 : size % 2 == 0 ? 2 : 1;
}

static void shell_fill(struct d_type *t, const struct d_ktype *k, uint64_t id)
{
	t->size = k->size;
	t->align = align_of(k->size);
	t->is_signed = k->is_signed;
	t->incomplete = k->incomplete;
	t->kernel = k->incomplete ? 0 : id;
}

/* A struct, union or enum: the one of that name, when the program has it without members. */
static const struct d_type *ktype_tagged(struct d_unit *u, const struct d_ktype *k, uint64_t id)
{
	enum ty_kind kind = k->kind == D_KT_STRUCT ? TY_STRUCT : k->kind == D_KT_UNION ? TY_UNION : TY_ENUM;
	bool named = k->name != NULL && k->name[0] != '\0';
	const char *name = arena_printf(&u->arena, "%s %s", tag_words[kind], named ? k->name : "(anonymous)");
	void **at = name == NULL || !named ? NULL : map_at(&u->tags, name, strlen(name));
	struct d_type *t = at != NULL ? *at : NULL;
	if (t != NULL && t->incomplete && !k->incomplete)
		shell_fill(t, k, id);
	if (t != NULL)
		return t;
	t = type_new(u, kind);
	if (t == NULL || name == NULL || (named && at == NULL)) {
		d_nomem(u);
		return NULL;
	}
	t->name = name;
	shell_fill(t, k, id);
	if (at != NULL)
		*at = t;
	return t;
}

static const struct d_type *ktype_make(struct d_unit *u, const struct d_ktype *k, uint64_t id, unsigned depth)
{
	const struct d_type *to;
	struct d_type *t;
	switch (k->kind) {
	case D_KT_INT:
		return base_by_size(u, k);
	case D_KT_FLOAT:
		return u->base[k->size == 4 ? B_FLOAT : k->size == 8 ? B_DOUBLE : B_LDOUBLE];
	case D_KT_PTR:
		if ((to = ktype_import(u, k->to, depth + 1)) == NULL || (t = type_new(u, TY_PTR)) == NULL)
			return NULL;
		t->to = to;
		t->size = t->align = 8;
		t->user = k->user;
		return t;
	case D_KT_ARRAY:
		to = ktype_import(u, k->to, depth + 1);
		return to == NULL ? NULL : type_array(u, to, k->n);
	case D_KT_STRUCT:
	case D_KT_UNION:
	case D_KT_ENUM:
		return ktype_tagged(u, k, id);
	case D_KT_FUNC:
		if ((t = type_new(u, TY_FUNC)) != NULL)
			t->to = ktype_import(u, k->to, depth + 1);
		return t;
	default:
		return u->base[B_VOID];
	}
}

/* A typedef has a name of its own in messages, but for a struct: those are the same when they are one object. */
static const struct d_type *ktype_typedef(struct d_unit *u, const struct d_ktype *k, unsigned depth)
{
	const struct d_type *to = ktype_import(u, k->to, depth + 1);
	struct d_type *t;
	if (to == NULL || ty_is_sou(to) || to->kind == TY_ENUM)
		return to;
	if ((t = type_new(u, TY_VOID)) == NULL)
		return NULL;
	*t = *to;
	t->name = arena_strdup(&u->arena, k->name);
	return t->name == NULL ? NULL : t;
}

const struct d_type *ktype_import(struct d_unit *u, uint64_t id, unsigned depth)
{
	struct d_ktype k;
	const struct d_type *t;
	if (id == 0 || depth > 64 || !u->env.ktypes->get(u->env.ktypes->arg, id, &k))
		return u->base[B_VOID];
	t = map_get(&u->imported, &id, sizeof(id));
	if (t != NULL)
		return t;
	t = k.kind == D_KT_TYPEDEF ? ktype_typedef(u, &k, depth) : ktype_make(u, &k, id, depth);
	void **at = t == NULL ? NULL : map_at(&u->imported, &id, sizeof(id));
	if (at == NULL) {
		d_nomem(u);
		return NULL;
	}
	*at = (void *)(uintptr_t)t;
	return t;
}

/* What must be loaded for a bit-field: the fewest bytes, at their own alignment, that hold it. */
static void bit_field_window(struct d_member *m, const struct d_kmember *k)
{
	for (uint32_t n = 1; n <= 8; n *= 2) {
		uint32_t base = k->bit_offset / 8 & ~(n - 1);
		if (k->bit_offset - base * 8 + k->bits > n * 8 && n < 8)
			continue;
		m->offset = base;
		m->bit = (uint8_t)(k->bit_offset - base * 8);
		m->bits = k->bits;
		m->unit = (uint8_t)n;
		return;
	}
}

static int members_read(struct d_unit *u, struct d_type *t)
{
	struct d_member **end = &t->members;
	struct d_kmember k;
	uint64_t id = t->kernel;
	t->kernel = 0;
	for (uint32_t i = 0; u->env.ktypes->member(u->env.ktypes->arg, id, i, &k); i++) {
		struct d_member *m = arena_alloc(&u->arena, sizeof(*m));
		if (m == NULL)
			return d_nomem(u);
		m->name = arena_strdup(&u->arena, k.name);
		m->type = ktype_import(u, k.type, 0);
		if (m->name == NULL || m->type == NULL)
			return -TALLY_ENOMEM;
		m->offset = k.bit_offset / 8;
		if (k.bits != 0)
			bit_field_window(m, &k);
		*end = m;
		end = &m->next;
	}
	return 0;
}

int type_complete(struct d_unit *u, const struct d_type *ct)
{
	struct d_type *t = (struct d_type *)(uintptr_t)ct; /* the unit's own */
	const struct d_ktypes *k = u->env.ktypes;
	if (k != NULL && t->incomplete && t->name != NULL && (ty_is_sou(t) || t->kind == TY_ENUM)) {
		const char *tag = strrchr(t->name, t->module != NULL ? '`' : ' ');
		uint8_t kind = t->kind == TY_STRUCT ? D_KT_STRUCT : t->kind == TY_UNION ? D_KT_UNION : D_KT_ENUM;
		struct d_ktype row;
		uint64_t id = tag != NULL ? k->find(k->arg, t->module, kind, tag + 1) : 0;
		if (id != 0 && k->get(k->arg, id, &row) && !row.incomplete)
			shell_fill(t, &row, id);
	}
	return t->kernel != 0 && t->kind != TY_ENUM ? members_read(u, t) : 0;
}

const struct d_type *ktype_named(struct d_unit *u, const char *module, const char *name)
{
	const struct d_ktypes *k = u->env.ktypes;
	uint64_t id = k != NULL ? k->find(k->arg, module, D_KT_TYPEDEF, name) : 0;
	return id != 0 ? ktype_import(u, id, 0) : NULL;
}

bool ktype_constant(const struct d_unit *u, const char *name, int64_t *ret)
{
	const struct d_ktypes *k = u->env.ktypes;
	return k != NULL && k->constant(k->arg, name, ret);
}
