/*
 * platform_hv.c: the line of a handle to its hypervisor, and selectors.
 *
 * A selector is PROVIDER/NAME[,key[=value]...]/, with the last slash or without.  In a list a comma parts
 * selectors only behind a slash that ends one, as in perf.  What a name and its keys mean is the provider's; here
 * it is words.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "session/platform_hv_int.h"

#define SLICE_NS 1000000u                     /* of a model's time; bounds how long *stop is unseen */
#define TURN_MS 100

const char *const vf_eventset_name[] = { "sparc", "mcu", "lpu", "gpd", "asu" };

/* ---- the line ------------------------------------------------------------------------------- */

int hv_failed(struct tally_platform *p, int rc, const struct err *e)
{
	return plat_fail(p, (enum tally_err)-rc, "%s", e->text[0] ? e->text : tally_strerror(rc));
}

static int no_counters(struct tally_platform *p, const char *why)
{
	return plat_fail(p, TALLY_ENOTSUP, "%s has no hypervisor counters; '--on batoka' (vfalls), '--on niagara' (mmustat) "
			 "and '--on power' (gpci) are models that have some%s%s", p->name, *why ? ": " : "", why);
}

int hv_line_of(struct tally_platform *p, struct hv_line **ret)
{
	struct err e = { 0 };
	int rc;

	if (!p->has_line) {
		rc = p->on.row->line ? p->on.row->line(p, &p->line, &e) : -TALLY_ENOTSUP;
		if (rc < 0)
			return rc == -TALLY_ENOTSUP && !p->on.path ? no_counters(p, e.text) : hv_failed(p, rc, &e);
		p->has_line = true;
	}
	*ret = &p->line;
	return 0;
}

int hv_client_of(struct tally_platform *p, const char *what, struct sun4v_client **ret)
{
	struct err e = { 0 };
	struct hv_line *l;
	int rc = hv_line_of(p, &l);

	if (rc < 0)
		return rc;
	if (!l->op || !l->op->sun4v)
		return plat_fail(p, TALLY_ENOTSUP, "%s has no %s; '--on %s' is a model that has", p->name, what,
				 strcmp(what, "mmustat") ? "batoka" : "niagara");
	if (!p->client && (rc = sun4v_client_open(&p->client, l, &e)) < 0)
		return hv_failed(p, rc, &e);
	*ret = p->client;
	return 0;
}

int hv_power_of(struct tally_platform *p, struct hv_line **ret)
{
	int rc = hv_line_of(p, ret);

	if (rc < 0)
		return rc;
	if (!(*ret)->op || !(*ret)->op->papr)
		return plat_fail(p, TALLY_ENOTSUP, "%s has no gpci; '--on power' is a model that has", p->name);
	return 0;
}

static uint64_t wall_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

uint64_t hv_now(const struct hv_line *l)
{
	return l->op->now ? l->op->now(l->arg) : wall_ns();
}

int hv_pass(struct hv_line *l, uint64_t ns, const volatile int *stop)
{
	uint64_t end = wall_ns() + ns;

	for (uint64_t left = ns; l->op->advance && left;) {
		uint64_t n = left < SLICE_NS ? left : SLICE_NS;

		if (stop && *stop)
			return 1;
		l->op->advance(l->arg, n);
		left -= n;
	}
	while (!l->op->advance) {
		uint64_t now = wall_ns(), ms = now < end ? (end - now + 999999) / 1000000 : 0;

		if (!ms || (stop && *stop))
			return ms != 0;
		(void)poll(NULL, 0, ms < TURN_MS ? (int)ms : TURN_MS);
	}
	return stop && *stop;
}

const struct sun4v_kind *hv_kind(const struct tally_platform *p, const struct hv_line *l)
{
	return p->on.row->embedded ? sun4v_kind(l->machine, l->sockets) : NULL;
}

/* ---- selectors --------------------------------------------------------------------------------- */

static const struct { const char *name; enum sel_provider provider; } providers[] = {
	{ "vfalls", SEL_VFALLS }, { "mmustat", SEL_MMUSTAT }, { "gpci", SEL_GPCI }, { "hv_gpci", SEL_HV_GPCI },
};

enum sel_provider sel_provider(const char *s)
{
	size_t n = strcspn(s, "/ ,=");

	for (size_t i = 0; i < COUNT(providers); i++)
		if (strlen(providers[i].name) == n && !memcmp(s, providers[i].name, n))
			return providers[i].provider;
	return SEL_OTHER;
}


size_t sel_length(const char *list)
{
	const char *slash = strchr(list, '/');
	const char *end = slash ? strchr(slash + 1, '/') : NULL;

	return end ? (size_t)(end - list) + 1 : strlen(list);
}

static int add_key(struct sel *s, char *word, struct err *e)
{
	char *value = strchr(word, '=');

	if (value)
		*value++ = '\0';
	if (!*word)
		return err_set(e, TALLY_EINVAL, "'%s': a comma with nothing behind it", s->text);
	if (sel_flag(s, word))
		return err_set(e, TALLY_EINVAL, "'%s' has %s twice", s->text, word);
	if (s->nkeys == SEL_KEYS)
		return err_set(e, TALLY_EINVAL, "'%s' has more than %u keys", s->text, SEL_KEYS);
	s->key[s->nkeys].key = word;
	s->key[s->nkeys++].value = value;
	return 0;
}

int sel_parse(struct sel *ret, const char *text, size_t n, struct err *e)
{
	struct sel *s = ret;
	char *slash, *next;
	int rc = 0;

	*s = (struct sel){ .name = "" };
	if (n && text[n - 1] == '/' && memchr(text, '/', n - 1))
		n--;
	if (n > sizeof(s->room) - 2)
		return err_set(e, TALLY_EINVAL, "'%.40s...' is too long for a selector", text);
	snprintf(s->text, sizeof(s->text), "%.*s/", (int)n, text);
	memcpy(s->room, text, n);
	s->room[n] = '\0';
	s->provider = sel_provider(s->room);
	slash = strchr(s->room, '/');
	if (!slash || s->provider == SEL_OTHER)
		return err_set(e, TALLY_EINVAL, "'%s' is no selector: write vfalls/NAME/, mmustat/NAME/ or gpci/NAME/, with keys behind commas",
			       s->room);
	s->name = slash + 1;
	next = strchr(slash, ',');
	if (next)
		*next++ = '\0';
	while (rc >= 0 && next) {
		char *word = next;

		next = strchr(word, ',');
		if (next)
			*next++ = '\0';
		rc = add_key(s, word, e);
	}
	return rc;
}

bool sel_flag(const struct sel *s, const char *key)
{
	for (uint32_t i = 0; i < s->nkeys; i++)
		if (!strcmp(s->key[i].key, key))
			return true;
	return false;
}

const char *sel_value(const struct sel *s, const char *key)
{
	for (uint32_t i = 0; i < s->nkeys; i++)
		if (!strcmp(s->key[i].key, key))
			return s->key[i].value ? s->key[i].value : "";
	return NULL;
}

int sel_number(const struct sel *s, const char *key, uint64_t most, uint64_t *ret, struct err *e)
{
	const char *value = sel_value(s, key);

	if (!value)
		return 0;
	if (!text_u64(value, ret) || *ret > most)
		return err_set(e, TALLY_EINVAL, "%s: %s=%s: a number up to %llu", s->text, key, value, (unsigned long long)most);
	return 1;
}

static int no_key(const struct sel *s, const char *key, const char *const *allowed, size_t n, struct err *e)
{
	const char *near = text_nearest(key, allowed, n);
	struct buf all = { 0 };
	int rc;

	for (size_t i = 0; i < n; i++)
		buf_printf(&all, "%s%s", i ? ", " : "", allowed[i]);
	if (near)
		rc = err_set(e, TALLY_EINVAL, "%s: there is no key '%s'; did you mean '%s'?", s->text, key, near);
	else
		rc = err_set(e, TALLY_EINVAL, "%s: there is no key '%s'; its keys are: %s", s->text, key, all.p ? all.p : "none");
	buf_free(&all);
	return rc;
}

int sel_keys_are(const struct sel *s, const char *const *allowed, struct err *e)
{
	size_t n = 0;

	while (allowed[n])
		n++;
	for (uint32_t i = 0; i < s->nkeys; i++) {
		bool found = false;

		for (size_t k = 0; k < n; k++)
			found |= !strcmp(s->key[i].key, allowed[k]);
		if (!found)
			return no_key(s, s->key[i].key, allowed, n, e);
	}
	return 0;
}

/* ---- vfalls --------------------------------------------------------------------------------------- */

enum vf_eventset vf_set_of(const struct vf_reg *r)
{
	if (r->cls == VF_SPARC_PCR)
		return VF_EVENTS_SPARC;
	if (r->cls == VF_MCU_PCR || r->cls == VF_MCU_PIC)
		return VF_EVENTS_MCU;
	return r->unit == VF_UNIT_GPD ? VF_EVENTS_GPD : r->unit == VF_UNIT_ASU ? VF_EVENTS_ASU : VF_EVENTS_LPU;
}

void vf_lower(char to[static 24], const char *name)
{
	size_t i = 0;

	for (; name[i] && i < 23; i++)
		to[i] = name[i] >= 'A' && name[i] <= 'Z' ? (char)(name[i] + 32) : name[i];
	to[i] = '\0';
}

/* ---- gpci ------------------------------------------------------------------------------------------- */

#define ASKED_VERSION 8u                      /* gpci_read() asks with the highest */

const struct gpci_request *gpci_layout(const struct tally_platform *p, const struct hv_line *l, const struct gpci_request *r)
{
	uint8_t version = p->on.row->line && !strcmp(p->on.row->name, "file") ? p->file.version : ASKED_VERSION;
	const struct gpci_request *here = gpci_request(r->number, l->level, version);

	return here ? here : r;
}

const char *gpci_key(const struct gpci_request *r)
{
	static const char *const key[] = {
		[GPCI_BY_PROCESSOR] = "processor", [GPCI_BY_PARTITION] = "partition", [GPCI_BY_CHIP] = "chip",
		[GPCI_BY_DOMAIN] = "domain", [GPCI_BY_VP] = "partition", [GPCI_BY_NOTHING] = NULL,
	};

	return key[r->index];
}

bool gpci_is_none(const struct gpci_field *f, uint64_t v)
{
	return f->flags & GPCI_F_NONE && v == UINT64_MAX >> (64 - 8 * f->bytes);
}

int gpci_all(struct gpci_table *ret, struct hv_line *l, const struct gpci_request *r, bool *own, struct err *e)
{
	bool maybe_own = r->right == GPCI_OWN_FREE || r->right == GPCI_OWN_EXPANDED;
	bool is_single = r->index == GPCI_BY_NOTHING;
	struct err first = { 0 };
	int rc = gpci_read(ret, l, r, is_single ? -1 : 0, &first);

	*own = false;
	if (rc == -TALLY_EPERM && maybe_own) {
		rc = gpci_read(ret, l, r, -1, e);
		*own = rc >= 0;
		return rc;
	}
	return rc < 0 ? err_set(e, (enum tally_err)-rc, "%s", first.text) : rc;
}

/* "hv_gpci/entitled_capped_..._entitled_cycles": the request, and the field at the end of the name. */
static const struct gpci_request *linux_event(const char *name, const struct gpci_field **field)
{
	const struct gpci_request *r, *found = NULL;

	for (uint32_t i = 0; (r = gpci_request_at(i)) != NULL; i++) {
		size_t n = r->linux_name ? strlen(r->linux_name) : 0;

		if (!n || strncmp(name, r->linux_name, n) || name[n] != '_')
			continue;
		for (uint32_t k = 0; k < r->nfields; k++)
			if (r->field[k].linux_name && !strcmp(r->field[k].linux_name, name + n + 1)) {
				*field = &r->field[k];
				found = r;
			}
	}
	return found;
}

static int no_request(struct tally_platform *p, const struct sel *s)
{
	const struct gpci_request *r;
	const char *name[64], *near;
	size_t n = 0;

	for (uint32_t i = 0; (r = gpci_request_at(i)) != NULL && n < COUNT(name); i++)
		name[n++] = r->name;
	near = s->provider == SEL_GPCI ? text_nearest(s->name, name, n) : NULL;
	if (near)
		return plat_fail(p, TALLY_EINVAL, "%s: there is no request '%s'; did you mean '%s'?", s->text, s->name, near);
	if (s->provider == SEL_HV_GPCI)
		return plat_fail(p, TALLY_EINVAL, "%s: Linux has no event of that name; 'tally list -v gpci' shows them", s->text);
	return plat_fail(p, TALLY_EINVAL, "%s: there is no request '%s'; 'tally list gpci' shows them", s->text, s->name);
}

static int no_field(struct tally_platform *p, const struct sel *s, const struct gpci_request *r, const char *field)
{
	const char *name[GPCI_FIELDS_MOST], *near;

	for (uint32_t i = 0; i < r->nfields; i++)
		name[i] = r->field[i].name;
	near = text_nearest(field, name, r->nfields);
	return plat_fail(p, TALLY_EINVAL, "%s: %s has no field '%s'%s%s%s", s->text, r->name, field, near ? "; did you mean '" : "",
			 near ? near : "; 'tally list -v gpci' shows them", near ? "'?" : "");
}

static int pick_field(struct tally_platform *p, const struct sel *s, const char *field, struct gpci_pick *ret)
{
	ret->field = -1;
	for (uint32_t i = 0; field && i < ret->r->nfields; i++)
		if (!strcasecmp(ret->r->field[i].name, field))
			ret->field = (int32_t)i;
	return field && ret->field < 0 ? no_field(p, s, ret->r, field) : 0;
}

/* index= is every request's; its own name and Linux's mean the same. */
static int pick_index(struct tally_platform *p, const struct sel *s, struct gpci_pick *ret)
{
	static const struct { const char *key; int8_t of; } names[] = {
		{ "index", -1 }, { "processor", GPCI_BY_PROCESSOR }, { "phys_processor_idx", GPCI_BY_PROCESSOR },
		{ "partition", GPCI_BY_PARTITION }, { "sibling_part_id", GPCI_BY_PARTITION }, { "partition_id", GPCI_BY_PARTITION },
		{ "chip", GPCI_BY_CHIP }, { "hw_chip_id", GPCI_BY_CHIP }, { "domain", GPCI_BY_DOMAIN },
	};
	const char *own = gpci_key(ret->r);
	uint8_t index = ret->r->index == GPCI_BY_VP ? GPCI_BY_PARTITION : ret->r->index;

	ret->index = -2;
	for (size_t i = 0; i < COUNT(names); i++) {
		const char *value = sel_value(s, names[i].key);
		uint64_t n;

		if (!value)
			continue;
		if (ret->index != -2)
			return plat_fail(p, TALLY_EINVAL, "%s says twice which record", s->text);
		if (!own || (names[i].of >= 0 && names[i].of != index))
			return plat_fail(p, TALLY_EINVAL, own ? "%s: records of %s are by %s: write %s=N" : "%s: %s has one record: leave the key out",
					 s->text, ret->r->name, own, own);
		if (strcmp(value, "-1") && (!text_u64(value, &n) || n > INT32_MAX))
			return plat_fail(p, TALLY_EINVAL, "%s: %s=%s: a number from 0 up, or -1: your own", s->text, names[i].key, value);
		ret->index = strcmp(value, "-1") ? (int64_t)n : -1;
	}
	return 0;
}

int gpci_pick(struct tally_platform *p, const struct hv_line *l, const struct sel *s, struct gpci_pick *ret)
{
	static const char *const keys[] = { "index", "processor", "partition", "chip", "domain", "vp", "field", "phys_processor_idx",
					    "sibling_part_id", "partition_id", "hw_chip_id", NULL };
	const struct gpci_field *field = NULL;
	const char *name;
	uint64_t vp = 0;
	int rc;

	ret->r = s->provider == SEL_HV_GPCI ? linux_event(s->name, &field) : *s->name ? gpci_request_find(s->name) : NULL;
	if (!ret->r)
		return no_request(p, s);
	ret->r = gpci_layout(p, l, ret->r);
	name = field ? field->name : sel_value(s, "field");
	rc = sel_keys_are(s, keys, &p->err);
	if (rc >= 0)
		rc = pick_index(p, s, ret);
	if (rc >= 0)
		rc = pick_field(p, s, name, ret);
	if (rc >= 0)
		rc = sel_number(s, "vp", UINT16_MAX, &vp, &p->err);
	if (rc > 0 && ret->r->index != GPCI_BY_VP)
		return plat_fail(p, TALLY_EINVAL, "%s: vp= is of affinity_by_vp", s->text);
	ret->secondary = rc > 0 ? (int64_t)vp : -2;
	return rc < 0 ? rc : 0;
}
