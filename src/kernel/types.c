/*
 * types.c: the kernel's types, as its BTF has them, for the compiler of D.
 *
 * The compiler asks by name and follows numbers from there (dlang.h, struct d_ktypes).  BTF of the kernel proper is
 * opened at the first question, that of a module when a name is asked of it; a number says which of them and which type
 * there. A module's BTF goes on where the kernel's ends, so a number below its first is the kernel's.
 *
 * Constness and the like are not handed on.  A declared struct without members is the one of that name that has them.
 */
#include <bpf/btf.h>
#include <dirent.h>
#include <stdio.h>
#include <string.h>

#include "kernel/btf_int.h"
#include "kernel/kernel_int.h"
#include "kernel/task_int.h"

#define MODULES_MOST 256
#define VARIABLES_FEW 1000 /* without CONFIG_KALLSYMS_ALL some marks of the linker's have a name, and no more */

struct k_types {
	struct d_ktypes ops; /* first: the compiler's handle */
	bool tried;
	struct {
		char name[64];
		struct k_btf btf; /* of one that has none, empty */
	} of[MODULES_MOST];       /* [0] the kernel proper */
	uint32_t n;
};

static const struct k_btf *btf_of(const struct k_types *t, uint64_t id)
{
	uint64_t i = id >> 32;

	return i < t->n ? &t->of[i].btf : NULL;
}

uint64_t k_types_number(const struct k_types *t, uint32_t i, uint32_t id)
{
	return i && id < t->of[i].btf.first ? id : (uint64_t)i << 32 | id;
}

const struct k_btf *k_types_btf(const struct k_types *t, uint32_t i)
{
	return i < t->n && t->of[i].btf.header ? &t->of[i].btf : NULL;
}

const char *k_types_module_name(const struct k_types *t, uint32_t i)
{
	return t->of[i].name;
}

static const struct k_btf *kernel_proper(struct k_types *t)
{
	if (!t->tried && k_btf_open(&t->of[0].btf, "/sys/kernel/btf/vmlinux", NULL) == 0)
		t->n = 1;
	t->tried = true;
	return t->n ? &t->of[0].btf : NULL;
}

int k_types_of_module(struct k_types *t, const char *module)
{
	char path[128];

	if (!kernel_proper(t))
		return -1;
	if (!module || !*module || !strcmp(module, "vmlinux"))
		return 0;
	for (uint32_t i = 1; i < t->n; i++)
		if (!strcmp(t->of[i].name, module))
			return t->of[i].btf.header ? (int)i : -1;
	if (t->n == MODULES_MOST || strchr(module, '/') || *module == '.' || strlen(module) >= sizeof(t->of[0].name))
		return -1;
	snprintf(path, sizeof(path), "/sys/kernel/btf/%s", module);
	snprintf(t->of[t->n].name, sizeof(t->of[0].name), "%s", module);
	return k_btf_open(&t->of[t->n++].btf, path, &t->of[0].btf) == 0 ? (int)t->n - 1 : -1;
}

int k_types_modules(struct k_types *t, const char *glob, int (*each)(void *arg, uint32_t i, const char *module),
		    void *arg)
{
	int rc = !kernel_proper(t) ? -TALLY_ENOTSUP : text_glob(glob, "vmlinux") ? each(arg, 0, "vmlinux") : 0;
	DIR *d = rc < 0 ? NULL : opendir("/sys/kernel/btf");
	struct dirent *entry;

	while (d && rc >= 0 && (entry = readdir(d)) != NULL)
		if (*entry->d_name != '.' && strcmp(entry->d_name, "vmlinux") != 0 && text_glob(glob, entry->d_name)) {
			int i = k_types_of_module(t, entry->d_name);

			if (i > 0)
				rc = each(arg, (uint32_t)i, t->of[i].name);
		}
	if (d)
		closedir(d);
	return rc;
}

/* ---- by name --------------------------------------------------------------------------------- */

static bool types_kind_fits(const struct btf_type *b, uint8_t kind)
{
	switch (kind) {
	case D_KT_STRUCT:
		return btf_is_struct(b);
	case D_KT_UNION:
		return btf_is_union(b);
	case D_KT_ENUM:
		return btf_is_any_enum(b);
	default:
		return btf_is_typedef(b) || btf_is_int(b);
	}
}

static uint64_t types_find(void *arg, const char *module, uint8_t kind, const char *name)
{
	struct k_types *t = arg;
	int i = k_types_of_module(t, module);
	uint32_t id = i < 0 ? 0 : k_btf_find(&t->of[i].btf, name, types_kind_fits, kind);

	if (!id && i > 0) { /* a module names the kernel's types, too */
		i = 0;
		id = k_btf_find(&t->of[0].btf, name, types_kind_fits, kind);
	}
	return id ? k_types_number(t, (uint32_t)i, id) : 0;
}

/* A name of b's that differs from `name` by a letter or two is one of these; there are ten thousand others. */
static bool types_look_alike(const char *other, const char *name)
{
	const size_t n = strlen(other), wanted = strlen(name);

	return *other == *name && n + 2 >= wanted && wanted + 2 >= n;
}

static const char *types_near(void *arg, const char *module, uint8_t kind, const char *name)
{
	struct k_types *t = arg;
	const int last = k_types_of_module(t, module);
	const char **names = NULL, **at = NULL, *ret;
	uint32_t n = 0, cap = 0;

	/* those of a module, then the kernel's, whose numbers come first in both */
	for (int i = last; i >= 0; i = i > 0 ? 0 : -1) {
		const struct btf_type *b;

		for (uint32_t id = t->of[i].btf.first; (b = k_btf_type(&t->of[i].btf, id)); id++) {
			const char *other = k_btf_text(&t->of[i].btf, b->name_off);

			if (!types_kind_fits(b, kind) || !types_look_alike(other, name))
				continue;
			if (!(at = VEC_NEW(names, n, cap)))
				break;
			*at = other;
		}
	}
	ret = text_nearest(name, TEXT_NAMES((const char *const *)names, n));
	mem_free(names);
	return ret;
}

/* Enumerator i of an enum; false: there are no more, or b is something else. */
static bool enum_at(const struct k_btf *btf, const struct btf_type *b, uint32_t i, const char **name, int64_t *value)
{
	if (!btf_is_any_enum(b) || i >= btf_vlen(b))
		return false;
	if (btf_is_enum64(b)) {
		*name = k_btf_text(btf, btf_enum64(b)[i].name_off);
		*value = (int64_t)btf_enum64_value(btf_enum64(b) + i);
	} else {
		*name = k_btf_text(btf, btf_enum(b)[i].name_off);
		*value = btf_kflag(b) || b->size == 4 ? btf_enum(b)[i].val : (int64_t)(uint32_t)btf_enum(b)[i].val;
	}
	return true;
}

static bool enum_value(const struct k_btf *btf, const struct btf_type *b, const char *name, int64_t *ret)
{
	const char *other;

	for (uint32_t i = 0; enum_at(btf, b, i, &other, ret); i++)
		if (!strcmp(other, name))
			return true;
	return false;
}

static bool types_constant(void *arg, const char *name, int64_t *ret)
{
	const struct k_btf *btf = kernel_proper(arg);
	const struct btf_type *b;

	for (uint32_t id = 1; btf && (b = k_btf_type(btf, id)); id++)
		if (enum_value(btf, b, name, ret))
			return true;
	return false;
}

/* ---- symbols ------------------------------------------------------------------------------------ */

struct symbol_search {
	const char *module, *name; /* module NULL: any */
	uint64_t address;
	char type;          /* as /proc/kallsyms has it; 0: not found */
	char of[64];        /* the module where it was found */
	char near[128];     /* the name most like it */
	uint32_t variables; /* of the kernel proper, that have a name */
};

static void symbol_looks_alike(struct symbol_search *s, const char *name)
{
	const char *const two[] = { s->near, name };
	const size_t n = strlen(name), wanted = strlen(s->name);

	if (n + 2 < wanted || wanted + 2 < n || n >= sizeof(s->near) || *name != *s->name)
		return;
	if (text_nearest(s->name, TEXT_NAMES(*s->near ? two : two + 1, *s->near ? 2u : 1u)) == name)
		memcpy(s->near, name, n + 1);
}

static void symbol_seen(void *arg, uint64_t address, char type, const char *name, const char *module)
{
	struct symbol_search *s = arg;

	s->variables += strchr("bBdDrR", type) && !strcmp(module, "vmlinux");
	if (s->type || (s->module && strcmp(s->module, module)))
		return;
	if (strcmp(s->name, name)) {
		symbol_looks_alike(s, name);
		return;
	}
	s->address = address;
	s->type = type;
	snprintf(s->of, sizeof(s->of), "%s", module);
}

/* Two facts may help: a kernel without names of variables has names of functions, of which one may be near. */
static int symbol_not_found(const struct symbol_search *s, struct err *why)
{
	static const char no_variables[] =
		"this kernel has no names of its variables: it was built without CONFIG_KALLSYMS_ALL";
	const char *module = s->module ? s->module : "";
	const char *known = s->variables < VARIABLES_FEW ? no_variables : "";

	if (*s->near)
		return err_set(why, TALLY_EINVAL, "%s%sdid you mean %.60s`%s?", known, *known ? "; " : "", module,
			       s->near);
	if (*known)
		return err_set(why, TALLY_ENOTSUP, "%s", known);
	return err_set(why, TALLY_EINVAL, "the kernel has no symbol %.100s%s%.60s: /proc/kallsyms has all", s->name,
		       *module ? " in module " : "", module);
}

static bool is_variable(const struct btf_type *b, uint8_t kind)
{
	(void)kind;
	return btf_is_var(b);
}

static uint64_t symbol_type(struct k_types *t, const char *module, const char *name)
{
	int i = k_types_of_module(t, module);
	uint32_t id = i < 0 ? 0 : k_btf_find(&t->of[i].btf, name, is_variable, 0);

	return id ? k_types_number(t, (uint32_t)i, k_btf_type(&t->of[i].btf, id)->type) : 0;
}

static int types_symbol(void *arg, const char *module, const char *name, struct d_ksymbol *ret, struct err *why)
{
	struct symbol_search s = { .module = module, .name = name };
	struct err refused = { 0 };
	int rc = k_kallsyms(symbol_seen, &s, &refused);

	/* No right helps to a name that is not there. */
	if (rc < 0 && (rc != -TALLY_EPERM || k_kallsyms_names(symbol_seen, &s) < 0 || s.type))
		return err_set(why, (enum tally_err)refused.code, "%s", refused.text);
	if (!s.type)
		return symbol_not_found(&s, why);
	if (!(s.address >> 63))
		return err_set(why, TALLY_ENOTSUP, "%.100s is a per-CPU variable: it has no address of its own", name);
	*ret = (struct d_ksymbol){ .address = s.address, .is_function = strchr("tTwW", s.type) != NULL };
	if (!ret->is_function)
		ret->type = symbol_type(arg, s.of, name);
	return 0;
}

/* ---- by number --------------------------------------------------------------------------------- */

/* Past constness; *user: the address space that a pointer to it reaches. */
static const struct btf_type *types_plain(const struct k_btf *btf, uint32_t *id, bool *user)
{
	const struct btf_type *b = k_btf_type(btf, *id);

	while (b && (btf_is_mod(b) || btf_kind(b) == BTF_KIND_TYPE_TAG)) {
		if (btf_kind(b) == BTF_KIND_TYPE_TAG && !strcmp(k_btf_text(btf, b->name_off), "user"))
			*user = true;
		*id = b->type;
		b = k_btf_type(btf, *id);
	}
	return b;
}

static bool types_get(void *arg, uint64_t number, struct d_ktype *ret)
{
	struct k_types *t = arg;
	const struct k_btf *btf = btf_of(t, number);
	uint32_t id = (uint32_t)number, i = (uint32_t)(number >> 32), to;
	bool user = false;
	const struct btf_type *b = btf && id ? types_plain(btf, &id, &user) : NULL;

	*ret = (struct d_ktype){ .kind = D_KT_VOID };
	if (!b || !id)
		return false;
	ret->name = k_btf_text(btf, b->name_off);
	switch (btf_kind(b)) {
	case BTF_KIND_INT:
		ret->kind = D_KT_INT;
		ret->size = b->size;
		ret->is_signed = btf_int_encoding(b) & BTF_INT_SIGNED;
		ret->is_bool = btf_int_encoding(b) & BTF_INT_BOOL;
		return true;
	case BTF_KIND_FLOAT:
		ret->kind = D_KT_FLOAT;
		ret->size = b->size;
		return true;
	case BTF_KIND_ENUM:
	case BTF_KIND_ENUM64:
		ret->kind = D_KT_ENUM;
		ret->size = b->size;
		ret->is_signed = btf_kflag(b) || b->size == 4;
		return true;
	case BTF_KIND_PTR:
		ret->kind = D_KT_PTR;
		to = b->type;
		if (to)
			types_plain(btf, &to, &ret->user);
		break;
	case BTF_KIND_ARRAY:
		ret->kind = D_KT_ARRAY;
		ret->n = btf_array(b)->nelems;
		to = btf_array(b)->type;
		break;
	case BTF_KIND_TYPEDEF:
		ret->kind = D_KT_TYPEDEF;
		to = b->type;
		break;
	case BTF_KIND_FUNC_PROTO:
		ret->kind = D_KT_FUNC;
		to = b->type;
		break;
	case BTF_KIND_FWD:
		ret->kind = btf_kflag(b) ? D_KT_UNION : D_KT_STRUCT;
		ret->incomplete = true;
		return true;
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		ret->kind = btf_is_union(b) ? D_KT_UNION : D_KT_STRUCT;
		ret->size = b->size;
		return true;
	default:
		return false;
	}
	ret->to = to ? k_types_number(t, i, to) : 0;
	return true;
}

static bool types_member(void *arg, uint64_t number, uint32_t i, struct d_kmember *ret)
{
	struct k_types *t = arg;
	const struct k_btf *btf = btf_of(t, number);
	uint32_t id = (uint32_t)number, of;
	bool user = false;
	const struct btf_type *b = btf ? types_plain(btf, &id, &user) : NULL;
	const struct btf_member *m;

	if (!b || !btf_is_composite(b) || i >= btf_vlen(b))
		return false;
	m = btf_members(b) + i;
	*ret = (struct d_kmember){ .name = k_btf_text(btf, m->name_off),
				   .type = k_types_number(t, (uint32_t)(number >> 32), m->type),
				   .bit_offset = btf_member_bit_offset(b, i),
				   .bits = (uint8_t)btf_member_bitfield_size(b, i) };
	of = m->type;
	b = types_plain(btf, &of, &user);
	if (!ret->bits && b && btf_is_int(b) && btf_int_bits(b) != b->size * 8) {
		ret->bits = btf_int_bits(b); /* as compilers of before 2019 tell a bit-field */
		ret->bit_offset += btf_int_offset(b);
	}
	return true;
}

static bool types_enumerator(void *arg, uint64_t number, uint32_t i, const char **name, int64_t *value)
{
	const struct k_btf *btf = btf_of(arg, number);
	uint32_t id = (uint32_t)number;
	bool user = false;
	const struct btf_type *b = btf ? types_plain(btf, &id, &user) : NULL;

	return b && enum_at(btf, b, i, name, value);
}

/* ---- opening ------------------------------------------------------------------------------------ */

int k_types_open(struct k_types **ret)
{
	struct k_types *t = mem_alloc(sizeof(*t));

	if (!t)
		return -TALLY_ENOMEM;
	t->ops = (struct d_ktypes){ .arg = t,
				    .find = types_find,
				    .near = types_near,
				    .get = types_get,
				    .member = types_member,
				    .constant = types_constant,
				    .enumerator = types_enumerator,
				    .symbol = types_symbol };
	*ret = t;
	return 0;
}

const struct d_ktypes *k_types_ops(const struct k_types *t)
{
	return t ? &t->ops : NULL;
}

void k_types_close(struct k_types *t)
{
	if (!t)
		return;
	for (uint32_t i = t->n; i-- > 0;)
		k_btf_close(&t->of[i].btf);
	mem_free(t);
}
