/*
 * type.c: the algebra of types.
 *
 * The data model is LP64: int 4, long and pointers 8 bytes; char is signed.
 * Types are made when they are needed and compared by structure, but for
 * structs, unions and enums, which are the same only when they are the same
 * object, as in C.  A string carries its bound in bytes, so that two strings of different
 * bounds are one type to the rules of the language and two to the code generator.
 */
#include "dlang/type_int.h"

#include <string.h>

static const struct {
	const char *name;
	uint8_t kind;
	bool is_signed;
	uint8_t size;
} base_types[B_N] = {
	[B_VOID] = { "void", TY_VOID, false, 0 },
	[B_BOOL] = { "_Bool", TY_INT, false, 1 },
	[B_CHAR] = { "char", TY_INT, true, 1 },
	[B_UCHAR] = { "unsigned char", TY_INT, false, 1 },
	[B_SHORT] = { "short", TY_INT, true, 2 },
	[B_USHORT] = { "unsigned short", TY_INT, false, 2 },
	[B_INT] = { "int", TY_INT, true, 4 },
	[B_UINT] = { "unsigned int", TY_INT, false, 4 },
	[B_LONG] = { "long", TY_INT, true, 8 },
	[B_ULONG] = { "unsigned long", TY_INT, false, 8 },
	[B_LLONG] = { "long long", TY_INT, true, 8 },
	[B_ULLONG] = { "unsigned long long", TY_INT, false, 8 },
	[B_FLOAT] = { "float", TY_FLOAT, true, 4 },
	[B_DOUBLE] = { "double", TY_FLOAT, true, 8 },
	[B_LDOUBLE] = { "long double", TY_FLOAT, true, 16 },
	[B_VOIDPTR] = { NULL, TY_PTR, false, 8 },
};

/* Types with names of their own from the start: DTrace Guide, chapter on types. */
static const struct {
	const char *name;
	uint8_t base;
} typedefs[] = {
	{ "int8_t", B_CHAR },      { "int16_t", B_SHORT },       { "int32_t", B_INT },   { "int64_t", B_LONG },
	{ "uint8_t", B_UCHAR },    { "uint16_t", B_USHORT },     { "uint32_t", B_UINT }, { "uint64_t", B_ULONG },
	{ "uchar_t", B_UCHAR },    { "ushort_t", B_USHORT },     { "uint_t", B_UINT },   { "ulong_t", B_ULONG },
	{ "u_char", B_UCHAR },     { "u_short", B_USHORT },      { "u_int", B_UINT },    { "u_long", B_ULONG },
	{ "longlong_t", B_LLONG }, { "u_longlong_t", B_ULLONG }, { "intptr_t", B_LONG }, { "uintptr_t", B_ULONG },
	{ "intmax_t", B_LONG },    { "uintmax_t", B_ULONG },     { "size_t", B_ULONG },  { "ssize_t", B_LONG },
	{ "ptrdiff_t", B_LONG },   { "off_t", B_LONG },          { "time_t", B_LONG },   { "hrtime_t", B_LLONG },
	{ "clock_t", B_LONG },     { "mode_t", B_UINT },         { "pid_t", B_INT },     { "id_t", B_UINT },
	{ "uid_t", B_UINT },       { "gid_t", B_UINT },          { "dev_t", B_ULONG },   { "ino_t", B_ULONG },
	{ "zoneid_t", B_INT },     { "processorid_t", B_INT },   { "psetid_t", B_INT },  { "caddr_t", B_VOIDPTR },
	{ "bool", B_BOOL },        { "boolean_t", B_INT },
};

struct d_type *type_new(struct d_unit *u, enum ty_kind kind)
{
	struct d_type *t = arena_alloc(&u->arena, sizeof(*t));
	if (t == NULL) {
		d_nomem(u);
		return NULL;
	}
	t->kind = (uint8_t)kind;
	return t;
}

/* A typedef keeps its own name in messages, and is otherwise the type that it names. */
static int typedef_add(struct d_unit *u, const char *name, uint8_t base)
{
	void **at = map_at(&u->types, name, strlen(name));
	struct d_type *t = type_new(u, TY_VOID);
	if (at == NULL || t == NULL)
		return d_nomem(u);
	*t = *u->base[base];
	t->name = name;
	*at = t;
	return 0;
}

int types_init(struct d_unit *u)
{
	for (unsigned i = 0; i < B_N; i++) {
		struct d_type *t = type_new(u, base_types[i].kind);
		if (t == NULL)
			return -TALLY_ENOMEM;
		t->is_signed = base_types[i].is_signed;
		t->is_bool = i == B_BOOL;
		t->size = t->align = base_types[i].size;
		t->name = base_types[i].name;
		t->to = i == B_VOIDPTR ? u->base[B_VOID] : NULL;
		u->base[i] = t;
	}
	for (unsigned i = 0; i < COUNT(typedefs); i++) {
		int rc = typedef_add(u, typedefs[i].name, typedefs[i].base);
		if (rc < 0)
			return rc;
	}
	return 0;
}

const struct d_type *type_named(const struct d_unit *u, const char *name)
{
	return map_get(&u->types, name, strlen(name));
}

const struct d_type *type_ptr(struct d_unit *u, const struct d_type *to)
{
	struct d_type *t = type_new(u, TY_PTR);
	if (t != NULL) {
		t->to = to;
		t->size = t->align = 8;
	}
	return t;
}

const struct d_type *type_of_user(struct d_unit *u, const struct d_type *t)
{
	if (t->kind != TY_PTR || t->user)
		return t;
	struct d_type *copy = type_new(u, TY_PTR);
	if (copy != NULL) {
		*copy = *t;
		copy->user = true;
	}
	return copy;
}

const struct d_type *type_string(struct d_unit *u, uint64_t bytes)
{
	struct d_type *t = type_new(u, TY_STRING);
	if (t != NULL) {
		t->size = (uint32_t)((bytes + 7) & ~7ull);
		t->align = 8;
		t->name = "string";
	}
	return t;
}

const struct d_type *type_array(struct d_unit *u, const struct d_type *of, uint32_t n)
{
	struct d_type *t = type_new(u, TY_ARRAY);
	if (t != NULL) {
		t->to = of;
		t->n = n;
		t->size = n * of->size;
		t->align = of->align;
	}
	return t;
}

struct d_type *type_tagged(struct d_unit *u, enum ty_kind kind, const char *tag)
{
	static const char *const words[] = { [TY_STRUCT] = "struct", [TY_UNION] = "union", [TY_ENUM] = "enum" };
	const char *name = arena_printf(&u->arena, "%s %s", words[kind], tag != NULL ? tag : "(anonymous)");
	void **at = name == NULL || tag == NULL ? NULL : map_at(&u->tags, name, strlen(name));
	if (at != NULL && *at != NULL)
		return *at;
	struct d_type *t = type_new(u, kind);
	if (name == NULL || t == NULL || (tag != NULL && at == NULL)) {
		d_nomem(u);
		return NULL;
	}
	t->name = name;
	t->incomplete = true;
	if (tag != NULL && strchr(tag, '`') != NULL)
		t->module = arena_strndup(&u->arena, tag, strcspn(tag, "`"));
	if (at != NULL)
		*at = t;
	return t;
}

const struct d_type *type_stack(struct d_unit *u, bool user, uint16_t frames)
{
	struct d_type *t = type_new(u, TY_STACK);
	if (t != NULL) {
		t->user = user;
		t->frames = frames;
		t->name = user ? "ustack" : "stack";
	}
	return t;
}

const struct d_type *type_sym(struct d_unit *u, enum slot_kind kind)
{
	static const char *const names[] = {
		[SLOT_KSYM] = "sym",    [SLOT_KFUNC] = "func",  [SLOT_KMOD] = "mod",
		[SLOT_KADDR] = "addr",  [SLOT_UADDR] = "uaddr", [SLOT_USYM] = "usym",
		[SLOT_UFUNC] = "ufunc", [SLOT_UMOD] = "umod",   [SLOT_ULINE] = "uline",
	};
	struct d_type *t = type_new(u, TY_SYM);
	if (t != NULL) {
		t->sym = (uint8_t)kind;
		t->name = names[kind];
	}
	return t;
}

/* ---- comparing ----------------------------------------------------------- */

bool types_same(const struct d_type *a, const struct d_type *b)
{
	while (a != b) {
		if (a->kind != b->kind)
			return false;
		switch (a->kind) {
		case TY_INT:
		case TY_FLOAT:
			return a->size == b->size && a->is_signed == b->is_signed && a->is_bool == b->is_bool;
		case TY_VOID:
		case TY_STRING:
			return true;
		case TY_STACK:
			return a->user == b->user;
		case TY_SYM:
			return a->sym == b->sym;
		case TY_ARRAY:
			if (a->n != b->n)
				return false;
			/* fallthrough */
		case TY_PTR:
			a = a->to;
			b = b->to;
			break;
		default:
			return false;
		}
	}
	return true;
}

bool ptr_compatible(const struct d_type *a, const struct d_type *b)
{
	return a->kind == TY_PTR && b->kind == TY_PTR &&
	       (a->to->kind == TY_VOID || b->to->kind == TY_VOID || types_same(a->to, b->to));
}

unsigned bit_field_width(const struct d_node *n)
{
	while (n->kind == N_ASSIGN || n->kind == N_INCDEC || n->kind == N_COMMA)
		n = n->kind == N_COMMA ? n->b : n->a;
	return n->kind == N_MEMBER ? n->bits : 0;
}

/* C leaves open what a bit-field wider than int is: its declared type here, as with clang. */
const struct d_type *type_promote(const struct d_unit *u, const struct d_node *n)
{
	const struct d_type *t = n->type;
	unsigned bits = bit_field_width(n);
	if (t->kind == TY_ENUM || t->size < 4 || (bits != 0 && bits < 32))
		return u->base[B_INT];
	return bits == 32 ? u->base[t->is_signed ? B_INT : B_UINT] : t;
}

static const struct d_type *type_of_higher_rank(const struct d_type *a, const struct d_type *b)
{
	if (a->size != b->size)
		return a->size > b->size ? a : b;
	return a->is_signed ? b : a;
}

const struct d_type *type_common(const struct d_unit *u, const struct d_node *a, const struct d_node *b)
{
	return type_of_higher_rank(type_promote(u, a), type_promote(u, b));
}

static bool type_is_narrow(const struct d_node *n)
{
	return n->type->kind == TY_INT && n->type->size < 4 && !n->type->is_bool && bit_field_width(n) == 0;
}

const struct d_type *type_arithmetic(const struct d_unit *u, const struct d_node *a, const struct d_node *b)
{
	return type_is_narrow(a) && type_is_narrow(b) ? type_of_higher_rank(a->type, b->type) : type_common(u, a, b);
}

int64_t type_extend(const struct d_type *t, uint64_t v)
{
	if (t->is_bool)
		return v != 0;
	if (t->size >= 8 || t->size == 0)
		return (int64_t)v;
	unsigned shift = 64 - t->size * 8;
	return t->is_signed ? (int64_t)(v << shift) >> shift : (int64_t)(v << shift >> shift);
}

/* ---- slots --------------------------------------------------------------- */

struct slot d_slot_of(const struct d_type *t, bool in_key)
{
	struct slot s = { .size = 8 };
	switch (t->kind) {
	case TY_STRING:
		s.kind = SLOT_STRING;
		s.size = t->size;
		break;
	case TY_STACK:
		s.kind = t->user ? SLOT_USTACK : SLOT_KSTACK;
		s.frames = t->frames;
		s.size = (in_key ? 8u : t->frames * 8u) + (t->user ? SLOT_WHERE_BYTES : 0u);
		break;
	case TY_SYM:
		s.kind = t->sym;
		s.size = t->sym >= SLOT_UADDR ? SLOT_WHERE_BYTES + 8 : 8;
		break;
	case TY_FLOAT:
		s.kind = SLOT_FLOAT;
		s.width = (uint8_t)t->size;
		s.size = (t->size + 7) & ~7u;
		break;
	case TY_STRUCT:
	case TY_UNION:
	case TY_ARRAY:
		s.kind = SLOT_BYTES;
		s.bytes = t->size;
		s.size = (t->size + 7) & ~7u;
		break;
	default:
		s.kind = SLOT_INT;
		s.width = (uint8_t)t->size;
		s.is_signed = t->is_signed;
	}
	return s;
}

/* ---- names --------------------------------------------------------------- */

const char *type_name(struct d_unit *u, const struct d_type *t)
{
	const char *s = t->name;
	if (s == NULL) {
		const char *of = t->to != NULL && t->to->name != NULL ? t->to->name : NULL;
		if (of == NULL && t->to != NULL)
			of = t->to->kind == TY_PTR || t->to->kind == TY_ARRAY ? type_name(u, t->to) : "function";
		if (t->kind == TY_PTR)
			s = arena_printf(&u->arena, "%s *", of);
		else if (t->kind == TY_ARRAY)
			s = arena_printf(&u->arena, "%s [%u]", of, t->n);
		else if (t->kind == TY_FUNC)
			s = arena_printf(&u->arena, "%s()", of != NULL ? of : "function");
		else if (t->kind == TY_ASSOC)
			s = arena_printf(&u->arena, "%s []", of != NULL ? of : "array");
		else
			s = t->kind == TY_AGG ? "aggregation" : "(anonymous)";
	}
	return s != NULL ? s : "(type)";
}
