/*
 * hv.c: probes that fire by a platform's own time for what its hypervisor counts.
 *
 *	gpci:::REQUEST-INTERVAL     every record of a request of H_GetPerformanceCounterInfo (papr_gpci.txt)
 *	vfalls:::sample-INTERVAL    every register that may be read (vf_perf_api.txt)
 *	vfalls:::EVENT-INTERVAL     every unit that counts the event, which is selected for it
 *	mmustat:::sample-INTERVAL   every slot of every strand's MMU statistics (mmustat.txt)
 *
 * A name is understood as far as the platform can serve it: a request that the
 * firmware doesn't have, or that these rights don't give, is asked for once and
 * refused in the hypervisor's words.  All probes of one request share their
 * args[0], so they may share a clause.  Who reads, and when, is the session.
 */
#include <stdio.h>

#include "provider/hv_record.h"
#include "provider/provider_int.h"

#define USUAL "1s" /* interval of the probes of a listing */
#define NAME_MOST 64u
#define BY_DOMAINS 0xb1u /* affinity_by_partition: a record has a row for each domain */

/* ---- all three ----------------------------------------------------------------------------- */

/* "entitled-1s": what stands before the last dash, and the interval behind it. False: no such shape. */
static bool hv_cut_interval(const char *name, char word[static NAME_MOST], const char **interval)
{
	const char *dash = strrchr(name, '-');
	size_t n = dash ? (size_t)(dash - name) : 0;

	if (!n || n >= NAME_MOST)
		return false;
	memcpy(word, name, n);
	word[n] = '\0';
	*interval = dash + 1;
	return true;
}

static int no_line(const char *name, const char *model, struct err *why)
{
	return err_set(why, TALLY_ENOPROBE,
		       "%s fires for what a hypervisor counts, and there is none: give a platform with --on %s", name,
		       model);
}

static struct probe *hv_make_probe(struct probes *t, const struct provider *prov, const char *name, uint64_t ns,
				   struct err *why)
{
	struct probe *p = probes_add(t, prov, name);

	if (!p) {
		err_oom(why);
		return NULL;
	}
	p->arm = ARM_RECORD;
	p->tick_ns = ns;
	return p;
}

static int hv_probe_added(struct probe *p, int (*add)(void *arg, uint32_t id), void *arg)
{
	int rc = p ? add(arg, p->id) : -TALLY_ENOMEM;

	return rc < 0 ? rc : 1;
}

/* A probe has its own args[0], or none yet. */
static const struct d_args *hv_args(const struct probe *p, uint32_t index)
{
	return index ? NULL : p->args;
}

static int hv_ignore_probe(void *arg, uint32_t id)
{
	(void)arg, (void)id;
	return 0;
}

/* For a listing: what can't be had here is left out. */
static int offer_one(struct probes *t, const struct provider *prov, const char *word, struct err *e)
{
	char name[NAME_MOST + sizeof(USUAL)];
	struct err why = { 0 };
	int rc;

	snprintf(name, sizeof(name), "%s-" USUAL, word);
	rc = prov->name_probe(t, name, hv_ignore_probe, NULL, &why);
	return rc == -TALLY_ENOMEM ? err_oom(e) : 0;
}

/* ---- gpci -------------------------------------------------------------------------------------- */

static const struct gpci_request *request_of(const char *word)
{
	const struct gpci_request *r, *found = NULL;

	for (uint32_t i = 0; (r = gpci_request_at(i)) != NULL; i++)
		if (!strcmp(r->name, word))
			found = r;
	return found;
}

static int no_request(const char *word, struct err *why)
{
	const char *names[64], *near;
	const struct gpci_request *r;
	uint32_t n = 0;

	for (; n < COUNT(names) && (r = gpci_request_at(n)) != NULL; n++)
		names[n] = r->name;
	near = text_nearest(word, names, n);
	return near ? err_set(why, TALLY_ENOPROBE, "no request \"%s\"; did you mean %s?", word, near) : 0;
}

/* The layout that this platform answers with. */
static const struct gpci_request *hv_layout(const struct hv_transport *l, const struct gpci_request *r)
{
	const struct gpci_request *here = gpci_request(r->number, l->level, UINT8_MAX);

	return here ? here : r;
}

/* Whether the request is answered at all: asked for the record that is the asker's own. That there is none is no refusal. */
static int hv_request_refused(struct hv_transport *l, const struct gpci_request *r, struct err *why)
{
	struct gpci_table own = { 0 };
	struct err e = { 0 };
	int rc = gpci_read(&own, l, r, -1, &e);

	gpci_table_free(&own);
	return rc >= 0 || rc == -TALLY_EINVAL ? 0 : err_set(why, (enum tally_err) - rc, "%s", e.text);
}

#define OWN(name, text, ctype)                                                                             \
	{                                                                                                  \
		name, ctype, offsetof(struct gpci_context, text), sizeof(((struct gpci_context *)0)->text) \
	}
static const struct d_field gpci_common[] = {
	OWN("ns", ns, "uint64_t"),
	OWN("id", id, "uint64_t"),
	OWN("request", request, "string"),
};
static const struct d_field gpci_domain[] = {
	OWN("element", element, "uint64_t"),
	OWN("primary_domain", domain[0], "uint64_t"),
	OWN("secondary_domain", domain[1], "uint64_t"),
	OWN("dedicated_units", domain[2], "uint64_t"),
	OWN("shared_units", domain[3], "uint64_t"),
	OWN("memory", domain[4], "uint64_t"),
};
#undef OWN

static void put_rows(struct d_field **at, const struct d_field *rows, size_t n)
{
	memcpy(*at, rows, n * sizeof(*rows));
	*at += n;
}

static bool put_fields(struct arena *a, struct d_field **at, const struct gpci_request *r)
{
	for (uint32_t i = 0; i < r->nfields; i++) {
		const struct gpci_field *f = &r->field[i];
		const char *d = f->flags & GPCI_F_COUNTER ? arena_printf(a, "d_%s", f->name) : "";

		if (!d)
			return false;
		*(*at)++ =
			(struct d_field){ f->name, "uint64_t", (uint32_t)offsetof(struct gpci_context, value[i]), 8 };
		if (*d)
			*(*at)++ =
				(struct d_field){ d, "uint64_t", (uint32_t)offsetof(struct gpci_context, delta[i]), 8 };
	}
	return true;
}

static const struct d_args *new_args(struct arena *a, const struct gpci_request *r)
{
	struct d_field *f = arena_alloc(a, (COUNT(gpci_common) + COUNT(gpci_domain) + 2 * r->nfields) * sizeof(*f)),
		       *at = f;
	struct d_args *args = arena_alloc(a, sizeof(*args));
	const char *name = arena_printf(a, "struct gpci_%s", r->name);

	if (!f || !args || !name)
		return NULL;
	put_rows(&at, gpci_common, COUNT(gpci_common));
	if (!put_fields(a, &at, r))
		return NULL;
	if (r->number == BY_DOMAINS)
		put_rows(&at, gpci_domain, COUNT(gpci_domain));
	*args = (struct d_args){ name, f, (uint32_t)(at - f), 0, sizeof(struct gpci_context) };
	return args;
}

/* Another probe's of the same request, or new ones. */
static const struct d_args *args_of_request(struct probes *t, const struct gpci_request *r)
{
	for (uint32_t id = 1; id <= probes_count(t); id++) {
		const struct probe *p = probes_get(t, id);

		if (p->prov == &prov_gpci && p->request == r && p->args)
			return p->args;
	}
	return new_args(probes_arena(t), r);
}

static struct probe *make_gpci(struct probes *t, const char *name, const struct gpci_request *r, uint64_t ns,
			       struct err *why)
{
	const struct d_args *args = args_of_request(t, r);
	const char *source =
		arena_printf(probes_arena(t), "H_GetPerformanceCounterInfo, request 0x%x: %s", r->number, r->title);
	struct probe *p = args && source ? hv_make_probe(t, &prov_gpci, name, ns, why) : NULL;

	if (!p) {
		err_oom(why);
		return NULL;
	}
	p->record = SAMPLE_GPCI;
	p->request = r;
	p->args = args;
	p->source = source;
	return p;
}

static int gpci_name(struct probes *t, const char *name, int (*add)(void *arg, uint32_t id), void *arg, struct err *why)
{
	struct hv_transport *l = probes_opts(t)->transport;
	const struct gpci_request *r;
	char word[NAME_MOST];
	const char *text;
	uint64_t ns;
	int rc;

	if (!hv_cut_interval(name, word, &text))
		return no_request(name, why);
	r = request_of(word);
	if (!r)
		return no_request(word, why);
	if (!l)
		return no_line(name, "power", why);
	if (!l->op->papr)
		return err_set(why, TALLY_ENOPROBE, "%s has none; '--on power' is a model that has", l->op->what);
	if (r == request_of("mmcrh"))
		return err_set(why, TALLY_ENOPROBE,
			       "mmcrh is set, not read: tally set gpci/mmcrh=VALUE; hpmc has its value");
	rc = prov_interval(text, &ns, why);
	r = hv_layout(l, r);
	if (rc >= 0)
		rc = hv_request_refused(l, r, why);
	return rc < 0 ? rc : hv_probe_added(make_gpci(t, name, r, ns, why), add, arg);
}

static int gpci_offer(struct probes *t, struct err *e)
{
	const struct hv_transport *l = probes_opts(t)->transport;
	const struct gpci_request *r;
	int rc = 0;

	for (uint32_t i = 0; l && l->op->papr && rc >= 0 && (r = gpci_request_at(i)) != NULL; i++)
		rc = offer_one(t, &prov_gpci, r->name, e);
	return rc;
}

/* ---- vfalls --------------------------------------------------------------------------------------- */

#define FIELD(member, ctype)                                                                          \
	{                                                                                             \
#member, ctype, offsetof(struct STRUCT, member), sizeof(((struct STRUCT *)0)->member) \
	}
#define STRUCT vf_context
static const struct d_field vf_members[] = {
	FIELD(ns, "uint64_t"),   FIELD(number, "uint64_t"), FIELD(name, "string"),    FIELD(cpu, "uint64_t"),
	FIELD(node, "uint64_t"), FIELD(value, "uint64_t"),  FIELD(delta, "uint64_t"), FIELD(event, "string"),
};
#undef STRUCT
#define STRUCT mmustat_context
static const struct d_field mmustat_members[] = {
	FIELD(ns, "uint64_t"),     FIELD(cpu, "uint64_t"),     FIELD(size, "string"),   FIELD(bytes, "uint64_t"),
	FIELD(context, "string"),  FIELD(side, "string"),      FIELD(hits, "uint64_t"), FIELD(ticks, "uint64_t"),
	FIELD(d_hits, "uint64_t"), FIELD(d_ticks, "uint64_t"),
};
#undef STRUCT
#undef FIELD
static const struct d_args vf_args = { "struct vfalls_register", vf_members, COUNT(vf_members), 0,
				       sizeof(struct vf_context) };
static const struct d_args mmustat_args = {
	"struct mmustat_slot", mmustat_members, COUNT(mmustat_members), 0, sizeof(struct mmustat_context),
};

static bool is_event(const char *word)
{
	const struct vf_event *e;

	for (uint32_t i = 0; (e = vf_event_at(i)) != NULL; i++)
		if (!strcmp(e->name, word) && strcmp(word, "none"))
			return true;
	return false;
}

static int no_event(const char *word, struct err *why)
{
	const char *names[160] = { "sample" }, *near;
	const struct vf_event *e;
	uint32_t n = 1;

	for (; n < COUNT(names) && (e = vf_event_at(n - 1)) != NULL; n++)
		names[n] = e->name;
	near = text_nearest(word, names, n);
	return near ? err_set(why, TALLY_ENOPROBE, "no event \"%s\"; did you mean %s?", word, near) : 0;
}

/* Whether one register at least may be read; for an event, one that selects it. Of a strand's own it is no call that counts. */
static int hv_register_unreadable(struct sun4v_client *c, const char *event, struct err *why)
{
	struct err first = { 0 };
	uint32_t code;

	for (uint32_t i = 0; i < VF_REGS; i++) {
		struct err e = { 0 };
		int rc;

		if (event && !vf_selects(&vf_regs[i], event, &code))
			continue;
		rc = vf_probe(c, sun4v_client_home(c), i, &e);
		if (rc >= 0 || (event && !i && rc == -TALLY_EPERM))
			return 0;
		if (!first.code)
			first = e;
	}
	return err_set(why, first.code, "%s", first.text);
}

static int no_guest(const struct probes *t, const char *name, const char *model, struct err *why)
{
	const struct hv_transport *l = probes_opts(t)->transport;

	if (!l)
		return no_line(name, model, why);
	return err_set(why, TALLY_ENOPROBE, "%s has none; '--on %s' is a model that has", l->op->what, model);
}

static struct probe *make_vfalls(struct probes *t, const char *name, const char *event, uint64_t ns, struct err *why)
{
	const char *word = event ? arena_strdup(probes_arena(t), event) : NULL;
	struct probe *p = word || !event ? hv_make_probe(t, &prov_vfalls, name, ns, why) : NULL;

	if (!p) {
		err_oom(why);
		return NULL;
	}
	p->record = event ? SAMPLE_VF_EVENT : SAMPLE_VFALLS;
	p->vf_event = word;
	p->args = &vf_args;
	p->source = event ? "performance registers, the event selected" : "performance registers as they are";
	return p;
}

static int vfalls_name(struct probes *t, const char *name, int (*add)(void *arg, uint32_t id), void *arg,
		       struct err *why)
{
	struct sun4v_client *c = probes_opts(t)->sun4v;
	char word[NAME_MOST];
	const char *text, *event;
	uint64_t ns;
	int rc;

	if (!hv_cut_interval(name, word, &text))
		return no_event(name, why);
	event = strcmp(word, "sample") ? word : NULL;
	if (event && !is_event(event))
		return no_event(event, why);
	if (!c)
		return no_guest(t, name, "batoka", why);
	rc = prov_interval(text, &ns, why);
	if (rc >= 0)
		rc = hv_register_unreadable(c, event, why);
	return rc < 0 ? rc : hv_probe_added(make_vfalls(t, name, event, ns, why), add, arg);
}

static bool is_again(uint32_t i)
{
	for (uint32_t k = 0; k < i; k++)
		if (!strcmp(vf_event_at(k)->name, vf_event_at(i)->name))
			return true;
	return false;
}

static int vfalls_offer(struct probes *t, struct err *e)
{
	struct err why = { 0 };
	int rc;

	if (!probes_opts(t)->sun4v || hv_register_unreadable(probes_opts(t)->sun4v, NULL, &why) < 0)
		return 0;
	rc = offer_one(t, &prov_vfalls, "sample", e);
	for (uint32_t i = 0; rc >= 0 && vf_event_at(i); i++)
		if (is_event(vf_event_at(i)->name) && !is_again(i))
			rc = offer_one(t, &prov_vfalls, vf_event_at(i)->name, e);
	return rc;
}

/* ---- mmustat -------------------------------------------------------------------------------------- */

static int mmustat_name(struct probes *t, const char *name, int (*add)(void *arg, uint32_t id), void *arg,
			struct err *why)
{
	struct sun4v_client *c = probes_opts(t)->sun4v;
	static const char *const sample = "sample";
	char word[NAME_MOST];
	const char *text;
	struct probe *p;
	uint64_t ns;
	int rc;

	if (!hv_cut_interval(name, word, &text) || strcmp(word, sample))
		return text_nearest(hv_cut_interval(name, word, &text) ? word : name, &sample, 1) ?
			       err_set(why, TALLY_ENOPROBE,
				       "no probe \"%s\"; there is sample-INTERVAL, e.g. sample-" USUAL, name) :
			       0;
	if (!c)
		return no_guest(t, name, "niagara", why);
	rc = prov_interval(text, &ns, why);
	if (rc >= 0)
		rc = mmustat_start(c, sun4v_client_home(c), why);
	if (rc < 0)
		return rc;
	(void)mmustat_stop(c, sun4v_client_home(c), why);
	p = hv_make_probe(t, &prov_mmustat, name, ns, why);
	if (p) {
		p->record = SAMPLE_MMUSTAT;
		p->args = &mmustat_args;
		p->source = "MMU statistics of each strand";
	}
	return hv_probe_added(p, add, arg);
}

static int mmustat_offer(struct probes *t, struct err *e)
{
	return probes_opts(t)->sun4v ? offer_one(t, &prov_mmustat, "sample", e) : 0;
}

/* ---- the rows ----------------------------------------------------------------------------------------- */

#define STABILITIES                                                 \
	.provider = { STAB_EVOLVING, STAB_EVOLVING, DEP_PLATFORM }, \
	.module = { STAB_PRIVATE, STAB_PRIVATE, DEP_UNKNOWN },      \
	.function = { STAB_PRIVATE, STAB_PRIVATE, DEP_UNKNOWN },    \
	.names = { STAB_EVOLVING, STAB_EVOLVING, DEP_PLATFORM },    \
	.args = { STAB_EVOLVING, STAB_EVOLVING, DEP_PLATFORM }, .args_of = hv_args

const struct provider prov_gpci = {
	.name = "gpci",
	.help = "records of a POWER hypervisor: partitions, processors, links",
	.name_probe = gpci_name,
	.offer = gpci_offer,
	STABILITIES,
};
const struct provider prov_vfalls = {
	.name = "vfalls",
	.help = "performance registers of UltraSPARC T2 Plus machines",
	.name_probe = vfalls_name,
	.offer = vfalls_offer,
	STABILITIES,
};
const struct provider prov_mmustat = {
	.name = "mmustat",
	.help = "MMU statistics of UltraSPARC T1: TSB hits by page size and context",
	.name_probe = mmustat_name,
	.offer = mmustat_offer,
	STABILITIES,
};
