/*
 * kernel_names.c: names of the kernel's functions, as /proc/kallsyms has them.
 *
 * It is read with the first address that is asked for. Modules and programs of BPF come and go while tally runs, and
 * lie close to each other: one that came since would have the name of what lies before it. So for an address that may
 * be of one they are read again: of a program once for each snapshot, since a program may come at any time; of a module
 * where the list of modules is not what it was.
 *
 * What has gone keeps its names, as long as nothing came in its place. Where something did, nobody knows which of the
 * two was meant, and an address has no name: no name is better than a wrong one. The end of a function is where the
 * next one begins, for kallsyms tells no lengths; those of programs are asked for. Without the right to ask, a program
 * that came behind the start of one that has gone is taken to lie behind its end as well: else a program that comes
 * would have no name wherever another one went.
 */
#include <string.h>

#include "symbol/symbol_int.h"

#define FUNCTION_MOST (1u << 20) /* how far a function may reach */
#define LAST_MOST (64u << 10)    /* the last one of a module */
#define AGE_NS UINT64_C(1000000000)
#define KERNEL "vmlinux"
#define PROGRAMS "bpf" /* the module that programs of BPF are of */

void kernel_names_free(struct kernel_names *k)
{
	table_free(&k->t);
	names_free(&k->names);
	map_free(&k->mod_by_name);
	mem_free(k->mods);
}

/* Symbols of a module come together, so the last one seen is nearly always the one. */
static bool kernel_mod_index(struct kernel_names *k, const char *mod, uint16_t *ret)
{
	size_t n = strlen(mod);
	const char **to;
	void **at;

	if (k->nmods && !strcmp(k->mods[k->nmods - 1], mod)) {
		*ret = (uint16_t)(k->nmods - 1);
		return true;
	}
	at = k->nmods < UINT16_MAX ? map_at(&k->mod_by_name, mod, n) : NULL;
	if (!at)
		return false;
	if (!*at) {
		const char *name = names_add(&k->names, mod, n);

		if (!name || !(to = VEC_NEW(k->mods, k->nmods, k->mods_cap)))
			return false;
		*to = name;
		*at = (void *)(uintptr_t)k->nmods; /* index + 1: an absent one is NULL */
	}
	*ret = (uint16_t)((uintptr_t)*at - 1);
	return true;
}

/* False: it is no function, or there is no memory. */
static bool kernel_function(struct kernel_names *k, uint64_t addr, char type, const char *name, const char *mod,
			    struct sym *ret)
{
	*ret = (struct sym){ .start = addr, .rank = RANK_NOSIZE, .end = UINT64_MAX };
	switch (type) {
	case 'T':
		ret->rank |= RANK_GLOBAL;
		break;
	case 't':
		ret->rank |= RANK_LOCAL;
		break;
	case 'W':
	case 'w':
		ret->rank |= RANK_WEAK;
		break;
	default:
		return false;
	}
	if (addr < UINT64_MAX - FUNCTION_MOST)
		ret->end = addr + FUNCTION_MOST;
	ret->name = names_add(&k->names, name, strlen(name));
	return ret->name && kernel_mod_index(k, mod, &ret->mod);
}

static void kernel_take(void *arg, uint64_t addr, char type, const char *name, const char *mod)
{
	struct kernel_names *k = arg;
	struct sym to;

	if (kernel_function(k, addr, type, name, mod, &to))
		table_add(&k->t, &to);
}

static bool kernel_is_of(const struct kernel_names *k, const struct sym *s, const char *mod)
{
	return !strcmp(k->mods[s->mod], mod);
}

static void kernel_take_length(void *arg, uint64_t addr, uint32_t bytes)
{
	struct kernel_names *k = arg;
	const uint32_t i = SORTED_UPTO(k->t.v, k->t.n, start, addr);
	struct sym *s = i ? &k->t.v[i - 1] : NULL;

	if (s && s->start == addr && s->end - addr > bytes && kernel_is_of(k, s, PROGRAMS))
		s->end = addr + bytes;
}

/* A function reaches to the next. The last one before a hole would reach over it. */
static void kernel_arrange(struct kernel_names *k)
{
	table_build(&k->t);
	for (uint32_t i = 0; i < k->t.n; i++) {
		struct sym *s = &k->t.v[i];

		if ((i + 1 == k->t.n || s[1].mod != s->mod) && s->end - s->start > LAST_MOST)
			s->end = s->start + LAST_MOST;
		if (s->name && (!strcmp(s->name, "_etext") || !strcmp(s->name, "_einittext")))
			s->end = s->start;
	}
	k->measured = k_program_functions(kernel_take_length, k);
}

static void kernel_read(struct kernel_names *k)
{
	k->read = true;
	k->looked_ns = k->modules_ns = k_now_ns();
	k->modules = k_modules_hash();
	if (k_kallsyms(kernel_take, k, &k->why) >= 0)
		kernel_arrange(k);
}

/* ---- what comes and goes ------------------------------------------------------------ */

struct comers {
	struct kernel_names *k;
	struct table fresh;
	uint8_t *told; /* of each symbol that is known: enum told, now */
};
enum told { TOLD_NOTHING, TOLD_OTHER, TOLD_SAME };

static void kernel_take_comer(void *arg, uint64_t addr, char type, const char *name, const char *mod)
{
	struct comers *c = arg;
	struct kernel_names *k = c->k;
	const uint32_t i = SORTED_UPTO(k->t.v, k->t.n, start, addr);
	const struct sym *known = i && k->t.v[i - 1].start == addr ? &k->t.v[i - 1] : NULL;
	struct sym to;

	if (!strcmp(mod, KERNEL))
		return;
	if (!known) {
		if (kernel_function(k, addr, type, name, mod, &to))
			table_add(&c->fresh, &to);
	} else if (c->told[i - 1] != TOLD_SAME) {
		c->told[i - 1] = known->name && !strcmp(known->name, name) && kernel_is_of(k, known, mod) ? TOLD_SAME :
													    TOLD_OTHER;
	}
}

static bool kernel_is_gone(const struct comers *c, uint32_t i)
{
	return c->told[i] != TOLD_SAME && !kernel_is_of(c->k, &c->k->t.v[i], KERNEL);
}

/* What has gone and what came, where they are in each other's place. */
static void kernel_doubt(struct comers *c)
{
	struct table *t = &c->k->t;

	for (uint32_t i = 0; i < t->n; i++)
		if (c->told[i] == TOLD_OTHER && kernel_is_gone(c, i))
			t->v[i].name = NULL;
	for (uint32_t f = 0; f < c->fresh.n; f++) {
		struct sym *fresh = &c->fresh.v[f];
		uint32_t i = SORTED_UPTO(t->v, t->n, start, fresh->start);

		if (i && kernel_is_gone(c, i - 1) && t->v[i - 1].end > fresh->start &&
		    (c->k->measured || !kernel_is_of(c->k, fresh, PROGRAMS)))
			fresh->name = NULL;
		for (; i < t->n && t->v[i].name && kernel_is_gone(c, i); i++)
			t->v[i].name = NULL;
	}
}

static void kernel_read_comers(struct kernel_names *k)
{
	struct comers c = { .k = k, .told = mem_alloc(k->t.n + 1) };

	k->looked_ns = k->modules_ns = k_now_ns();
	k->modules = k_modules_hash();
	if (c.told && k_kallsyms(kernel_take_comer, &c, NULL) >= 0) {
		table_sort(&c.fresh);
		kernel_doubt(&c);
		for (uint32_t i = 0; i < c.fresh.n; i++)
			table_add(&k->t, &c.fresh.v[i]);
		if (c.fresh.n)
			kernel_arrange(k);
	}
	table_free(&c.fresh);
	mem_free(c.told);
}

static bool kernel_is_dated(uint64_t looked_ns, uint64_t seen_by_ns)
{
	return seen_by_ns ? looked_ns < seen_by_ns : k_now_ns() - looked_ns > AGE_NS;
}

static bool kernel_modules_changed(struct kernel_names *k)
{
	k->modules_ns = k_now_ns();
	return k_modules_hash() != k->modules;
}

/* Whether an address may be of what came since the names were read. */
static bool kernel_may_have_come(struct kernel_names *k, uint64_t addr, const struct sym *s, uint64_t seen_by_ns)
{
	if (!k->t.n || !(addr >> 63))
		return false;
	/* behind the last function of a module there may be anything */
	if (!s || kernel_is_of(k, s, PROGRAMS) || s + 1 == k->t.v + k->t.n || s[1].mod != s->mod)
		return kernel_is_dated(k->looked_ns, seen_by_ns);
	return !kernel_is_of(k, s, KERNEL) && kernel_is_dated(k->modules_ns, seen_by_ns) && kernel_modules_changed(k);
}

const struct sym *kernel_names_find(struct kernel_names *k, uint64_t addr, uint64_t seen_by_ns, const char **mod)
{
	const struct sym *s;

	if (!k->read)
		kernel_read(k);
	s = table_find(&k->t, addr);
	if (kernel_may_have_come(k, addr, s, seen_by_ns)) {
		kernel_read_comers(k);
		s = table_find(&k->t, addr);
	}
	if (s && (s->name || kernel_is_of(k, s, PROGRAMS)))
		*mod = k->mods[s->mod];
	return s;
}
