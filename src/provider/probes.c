/*
 * probes.c: the table of probes and the way from a description to its probes.
 *
 * A probe comes into being when its name is first asked for, and keeps its id.
 * A literal name goes to the providers, each of which may make it.  A pattern, or no
 * name at all, finds what a listing of its providers shows (each event once, with a
 * usual count; the usual rates), and what was named before.
 * Most probes are unanchored: their module and function are empty, so a description that
 * wants a certain one does not even ask their providers.  Those with places (modules, functions) are made all
 * at once, when one of their names may be meant.
 */
#include <stdio.h>
#include <string.h>

#include "provider/provider_int.h"

#define COUNTERS_MOST 64u /* of a CPU: the kernel's drivers keep its counters in a word of so many bits */

static const struct provider *const providers[] = {
#define PROVIDER(name) &prov_##name,
#include "provider/provider.def"
#undef PROVIDER
};

static_assert(COUNT(providers) <= 32, "a bit for each");

const struct provider *provider_at(uint32_t i)
{
	return i < COUNT(providers) ? providers[i] : NULL;
}

/* A copy, since the options' strings belong to the caller; NULL stays NULL. */
static bool probes_keep_string(struct arena *a, const char **s)
{
	return !*s || (*s = arena_strdup(a, *s));
}

/* Whether what fires is of this machine's kernel: not a file of records, a platform with a hypervisor, or the vm. */
static bool probes_is_here(const struct probes *t)
{
	return (!t->opts.records || t->opts.lists) && !t->opts.transport && !t->opts.vm;
}

int probes_open(struct probes **ret, const struct prov_opts *o)
{
	struct probes *t = mem_alloc(sizeof(*t));
	struct err e = { 0 };
	int rc = -TALLY_ENOMEM;

	if (!t)
		return rc;
	if (o)
		t->opts = *o;
	t->machine = arena_alloc(&t->arena, sizeof(*t->machine));
	if (!t->machine || !probes_keep_string(&t->arena, &t->opts.sysfs) ||
	    !probes_keep_string(&t->arena, &t->opts.conf) ||
	    (probes_is_here(t) && !t->opts.sysfs && k_types_open(&t->types) < 0) ||
	    (rc = providers[0]->offer(t, &e)) < 0) {
		probes_close(t);
		return rc;
	}
	*ret = t;
	return 0;
}

void probes_set(struct probes *t, uint64_t cpc_min, bool cpc_exclusive, enum k_functions functions,
		enum prov_waits waits)
{
	t->opts.waits = waits;
	t->opts.functions = functions;
	t->opts.cpc_min = cpc_min;
	t->opts.cpc_exclusive = cpc_exclusive;
}

void probes_close(struct probes *t)
{
	if (!t)
		return;
	map_free(&t->by_name);
	map_free(&t->args);
	for (uint32_t i = 0; i < t->processes.n; i++)
		user_process_close(t->processes.v[i]);
	mem_free(t->processes.v);
	map_free(&t->tracepoints);
	if (t->machine)
		mem_free(t->machine->core);
	k_types_close(t->types);
	mem_free(t->probe);
	arena_free(&t->arena);
	mem_free(t);
}

const struct probe *probes_get(const struct probes *t, uint32_t id)
{
	return id && id <= t->n ? t->probe[id - 1] : NULL;
}

const struct d_args *probe_args(const struct probe *p, uint32_t index)
{
	return !p               ? NULL :
	       p->prov->row     ? point_row_args(p, index) :
	       p->prov->args_of ? p->prov->args_of(p, index) :
				  NULL;
}

uint32_t probes_count(const struct probes *t)
{
	return t->n;
}

struct arena *probes_arena(struct probes *t)
{
	return &t->arena;
}

struct k_types *probes_types(const struct probes *t)
{
	return t->types;
}

int probes_functions(struct probes *t, struct err *why)
{
	if (t->functions == K_FUNCTIONS_UNKNOWN)
		t->functions = k_functions_trial(t->types, t->opts.functions, &t->functions_why);
	return t->functions < 0 && why ? err_set(why, -t->functions, "%s", t->functions_why.text) : t->functions;
}

const struct probe *probes_find(const struct probes *t, const struct provider *p, const char *name)
{
	char key[512];
	int n = snprintf(key, sizeof(key), "%s:::%s", p->name, name);

	return n < 0 || (size_t)n >= sizeof(key) ? NULL : map_get(&t->by_name, key, (size_t)n);
}

/* "provider:module:function:name": one for each of hundreds of probes, so without printf(). */
static char *probe_key(struct arena *a, const char *prov, const char *mod, const char *func, const char *name)
{
	const char *const part[] = { prov, mod, func, name };
	size_t n = 0;
	char *key, *at;

	for (size_t i = 0; i < COUNT(part); i++)
		n += strlen(part[i]) + 1;
	at = key = arena_alloc(a, n);
	for (size_t i = 0; key && i < COUNT(part); i++) {
		at = stpcpy(at, part[i]);
		*at++ = i + 1 < COUNT(part) ? ':' : '\0';
	}
	return key;
}

struct probe *probes_add_of(struct probes *t, const struct provider *p, const char *prov_name, const char *mod,
			    const char *func, const char *name)
{
	char *key = probe_key(&t->arena, prov_name, mod, func, name);
	size_t key_n = key ? strlen(key) : 0;
	struct probe *pr = key ? map_get(&t->by_name, key, key_n) : NULL, **slot;
	void **at;

	if (pr || !key)
		return pr;
	pr = arena_alloc(&t->arena, sizeof(*pr));
	if (!pr || !(at = map_at(&t->by_name, key, key_n)))
		return NULL;
	slot = VEC_NEW(t->probe, t->n, t->cap);
	if (!slot)
		return NULL; /* the key stays without a value: as good as absent */
	*pr = (struct probe){ .id = t->n,
			      .prov = p,
			      .prov_name = prov_name,
			      .mod = mod,
			      .func = func,
			      .name = key + key_n - strlen(name) };
	*slot = pr;
	*at = pr;
	return pr;
}

struct probe *probes_add_at(struct probes *t, const struct provider *p, const char *mod, const char *func,
			    const char *name)
{
	return probes_add_of(t, p, p->name, mod, func, name);
}

struct probe *probes_add(struct probes *t, const struct provider *p, const char *name)
{
	return probes_add_at(t, p, "", "", name);
}

static uint32_t provider_bit(const struct provider *p)
{
	uint32_t i = 0;

	while (providers[i] != p)
		i++;
	return UINT32_C(1) << i;
}

/* ---- matching ------------------------------------------------------------------- */

static bool is_pattern(const char *s)
{
	return s[strcspn(s, "*?[\\")] != 0;
}

/* A file of records, or a platform with a hypervisor, has no events of this machine, and the vm nothing that has a
 * place. */
static bool has_its_events(const struct probes *t, const struct probe *p)
{
	const bool elsewhere = t->opts.records || t->opts.transport;

	return p->prov->has_places || p->place ? probes_is_here(t) : p->arm != ARM_EVENT || !elsewhere;
}

/* Whether a probe of that provider may be where the description says, and called so. */
static bool provider_may_have(const struct provider *p, const struct d_probedesc *d)
{
	if (!text_glob(d->prov, p->name) || p->is_of_process)
		return false;
	if (!p->has_places)
		return text_glob(d->mod, "") && text_glob(d->func, "");
	for (const char *const *name = p->each_name; name && *name; name++)
		if (text_glob(d->name, *name))
			return true;
	return !p->each_name;
}

/* of: of that provider alone; NULL: of all. */
static int match_made(const struct probes *t, const struct provider *of, const struct d_probedesc *d,
		      int (*add)(void *arg, uint32_t id), void *arg)
{
	int found = 0, rc;

	for (uint32_t i = 0; i < t->n; i++) {
		const struct probe *p = t->probe[i];

		if (!text_glob(d->prov, p->prov_name) || !text_glob(d->mod, p->mod) || !text_glob(d->func, p->func) ||
		    !text_glob(d->name, p->name) || !has_its_events(t, p) || (of && p->prov != of) ||
		    (p->by_name && strcmp(d->func, p->func)) || p->is_later)
			continue;
		rc = add(arg, p->id);
		if (rc < 0)
			return rc;
		found++;
	}
	return found;
}

/* What a listing of it should show is made; of one with places once, since there is no more. Of one that has too many,
 * what the description names. */
static int provider_offer(struct probes *t, const struct provider *p, const struct d_probedesc *d, struct err *e)
{
	const uint32_t bit = provider_bit(p);
	int rc;

	if (p->offer_some)
		return p->offer_some(t, d, e);
	assert(p->row || p->offer); /* provider.h: one of the three */
	rc = p->has_places && (t->offered & bit) ? 0 : p->row ? point_offer_rows(t, p, e) : p->offer(t, e);

	if (rc >= 0)
		t->offered |= bit;
	return rc;
}

/* Asks one provider. Its reason is kept in *why unless the name is a bare word that was meant for
 * nobody in particular. */
static int probes_ask_provider(struct probes *t, const struct provider *p, const struct d_probedesc *d,
			       int (*add)(void *arg, uint32_t id), void *arg, struct err *why)
{
	struct err e = { 0 };
	int rc = p->has_places ? provider_offer(t, p, d, &e) : p->name_probe(t, d->name, add, arg, &e);

	if (p->has_places && rc >= 0)
		return match_made(t, p, d, add, arg);
	if (rc == -TALLY_ENOMEM)
		return err_oom(why);
	if (rc >= 0)
		return rc;
	if (!e.code)
		return rc; /* from add(): the caller's own */
	if (*d->prov || strchr(d->name, '-') || p->has_bare_names)
		err_set(why, e.code, "%s: %s", p->name, e.text);
	return 0;
}

/* The first reason counts. */
static int match_name(struct probes *t, const struct d_probedesc *d, int (*add)(void *arg, uint32_t id), void *arg,
		      struct err *why)
{
	int found = 0, rc;

	for (size_t i = 0; i < COUNT(providers); i++) {
		struct err e = { 0 };

		if (!provider_may_have(providers[i], d))
			continue;
		rc = probes_ask_provider(t, providers[i], d, add, arg, &e);
		if (e.code && (rc < 0 || !why->code))
			*why = e;
		if (rc < 0)
			return rc;
		found += rc;
		if (rc > 0 && providers[i]->is_alone)
			break;
	}
	return found || !why->code ? found : -why->code;
}

/* What a pattern may find: what a listing of the provider shows. */
static int offer_matching(struct probes *t, const struct d_probedesc *d, struct err *why)
{
	int rc = 0;

	for (size_t i = 0; i < COUNT(providers) && rc >= 0; i++)
		if (provider_may_have(providers[i], d))
			rc = provider_offer(t, providers[i], d, why);
	return rc;
}

/* Parts are counted from the right: what was meant for the provider stands for a module, or a function. */
static int why_shifted(const struct d_probedesc *d, struct err *why)
{
	const char *first = *d->mod ? d->mod : d->func;

	for (size_t i = 0; *first && i < COUNT(providers); i++) {
		const struct provider *p = providers[i];
		const size_t n = strlen(p->name);

		if (strncmp(first, p->name, n) || first[n + (p->is_of_process ? strspn(first + n, "0123456789") : 0)])
			continue;
		return err_set(why, TALLY_ENOPROBE,
			       "%.60s is a provider, and a description with one has four parts; did you mean "
			       "%.60s::%.60s:%.60s?",
			       first, first, *d->mod ? d->func : "", d->name);
	}
	if (!*first)
		return 0;
	return err_set(
		why, TALLY_ENOPROBE,
		"no provider has it: \"%.60s\" stands for a %s; with a provider it is PROVIDER:MODULE:FUNCTION:NAME",
		first, *d->mod ? "module" : "function");
}

/* Of the providers that the description names: the first that has a reason why it finds nothing. */
static int why_nothing_matches(const struct probes *t, const struct d_probedesc *d, struct err *why)
{
	int rc = *d->prov ? 0 : why_shifted(d, why);

	for (size_t i = 0; i < COUNT(providers) && *d->prov && rc == 0; i++)
		if (!text_glob(d->prov, providers[i]->name))
			continue;
		else if (providers[i]->row)
			rc = point_row_why_none(providers[i], t, d, why);
		else if (providers[i]->why_none)
			rc = providers[i]->why_none(t, d, why);
	return rc;
}

static int no_provider(const char *name, struct err *why)
{
	struct buf all = { 0 };
	int rc;

	for (size_t i = 0; i < COUNT(providers); i++)
		buf_printf(&all, "%s%s", !i ? "" : i + 1 < COUNT(providers) ? ", " : " or ", providers[i]->name);
	rc = all.failed ? err_oom(why) :
			  err_set(why, TALLY_ENOPROBE, "no provider \"%s\" (expected one of %s)", name, all.p);
	buf_free(&all);
	return rc;
}

/* What is wrong with a description before any provider is asked: no such provider, or a module or function. */
int prov_misspelt(const char *what, const char *word, struct text_names names, struct err *why)
{
	const struct err_tail near = err_near("", word, names);

	return *near.text ? err_set(why, TALLY_ENOPROBE, "no %s \"%s\"%s", what, word, near.text) : 0;
}

static int no_place(const struct d_probedesc *d, struct err *why)
{
	const char *names[COUNT(providers)];
	bool known = false, place = false;
	int rc;

	for (size_t i = 0; i < COUNT(providers); i++) {
		names[i] = providers[i]->name;
		known |= text_glob(d->prov, names[i]);
		place |= provider_may_have(providers[i], d) ||
			 (*d->prov && text_glob(d->prov, names[i]) &&
			  (providers[i]->has_places || providers[i]->is_of_process));
	}
	if (!known) {
		rc = prov_misspelt("provider", d->prov, TEXT_NAMES(names, COUNT(names)), why);
		return rc < 0 ? rc : no_provider(d->prov, why);
	}
	if (!place)
		return err_set(
			why, TALLY_ENOPROBE,
			"such probes have no module and no function here: write PROVIDER:::NAME, with three colons");
	return 0;
}

int probes_provider(const struct probes *t, const char *name, struct err *why)
{
	const struct d_probedesc d = { .prov = name, .mod = "", .func = "", .name = "" };
	int rc = no_place(&d, why);

	return rc < 0 ? rc : why_nothing_matches(t, &d, why);
}

/* Asks the providers of processes: how many, 0 when the description is not for them, negative with the first's
 * reason. */
static int match_process(struct probes *t, const struct d_probedesc *d, int (*add)(void *arg, uint32_t id), void *arg,
			 struct err *why)
{
	struct err first = { 0 };
	int found = 0;

	for (size_t i = 0; i < COUNT(providers); i++) {
		struct err e = { 0 };
		int rc = providers[i]->match ? providers[i]->match(t, d, add, arg, &e) : 0;

		if (rc < 0 && (!e.code || rc == -TALLY_ENOMEM)) { /* the caller's own */
			*why = e;
			return rc;
		}
		if (rc < 0 && !first.code)
			first = e;
		found += rc > 0 ? rc : 0;
	}
	if (!found && first.code)
		*why = first;
	return found || !first.code ? found : -first.code;
}

void probes_refuse_as(struct probes *t, enum d_tag tag)
{
	t->refusal = tag;
}

enum d_tag probes_refusal(const struct probes *t)
{
	return t->refusal;
}

int probes_match(struct probes *t, const struct d_probedesc *desc, int (*add)(void *arg, uint32_t id), void *arg,
		 struct err *why)
{
	struct err reason = { 0 };
	int rc;

	t->refusal = D_PDESC_ZERO;
	rc = match_process(t, desc, add, arg, why);
	if (rc)
		return rc;
	rc = no_place(desc, why);

	if (rc < 0)
		return rc;

	if (!*desc->name || is_pattern(desc->name)) {
		rc = offer_matching(t, desc, why);
		if (rc >= 0)
			rc = match_made(t, NULL, desc, add, arg);
		return rc ? rc : why_nothing_matches(t, desc, why);
	}
	rc = match_name(t, desc, add, arg, &reason);
	if (rc < 0 && reason.code)
		err_set(why, reason.code, "%s", reason.text);
	return rc ? rc : why_nothing_matches(t, desc, why);
}

int probes_offer(struct probes *t, struct err *e)
{
	static const struct d_probedesc all = { .prov = "", .mod = "", .func = "", .name = "" };
	int rc = 0;

	for (size_t i = 0; i < COUNT(providers) && rc >= 0; i++)
		rc = provider_offer(t, providers[i], &all, e);
	return rc;
}

/* ---- enabling together -------------------------------------------------------------- */

/* How many of the probes take a hardware counter. */
static uint32_t enabled_counters(const struct probes *t, const uint32_t *ids, uint32_t n)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < n; i++) {
		const struct probe *p = probes_get(t, ids[i]);

		count += p && p->nevents && p->event->counter;
	}
	return count;
}

int probes_compatible(const struct probes *t, const uint32_t *ids, uint32_t n, struct err *why)
{
	const uint32_t counters = enabled_counters(t, ids, n);
	int rc = 0;

	if (counters > COUNTERS_MOST)
		return err_set(
			why, TALLY_EBUSY,
			"%u probes need a hardware counter each, and no CPU has more than %u: name the events, e.g. %s",
			counters, COUNTERS_MOST, "cpc:::cpu_cycles-all-1000000");
	for (size_t i = 0; i < COUNT(providers) && rc == 0; i++)
		if (providers[i]->compatible)
			rc = providers[i]->compatible(t, ids, n, why);
	return rc;
}
