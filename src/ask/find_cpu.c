/*
 * find_cpu.c: probes and CPU events, by name.
 *
 * Whether a CPU event can be had here is tried, for the few that the kernel names itself; those of sysfs and of libpfm4
 * are hundreds and are what this CPU's own PMU has, so of them only the right is tried, once.  A search that does not
 * ask for probes (by a colon) leaves out those that are there for each event, register or request.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "ask/find_int.h"
#include "facts/event.h"
#include "kernel/count.h"
#include "provider/provider.h"

#define PMU_NAME_MOST 100u

/* once for a walk */
struct cpu {
	struct k_pmu *pmu;
	uint32_t npmus, ncore;
	const char *right; /* as find_event_here(), of an event that all machines have */
};

/* ---- rights: to count whole CPUs, as probes do; or own processes, as `tally stat -- COMMAND` does ------------- */

static bool counts_own(const struct k_event *ev)
{
	const int task = getpid();
	const struct k_target own = { .task = &task, .ntasks = 1 };
	struct k_counter *k = NULL;
	struct err e = { 0 };
	int rc = k_counter_open(&k, ev, 1, &own, &e);

	k_counter_close(k);
	return rc >= 0;
}

/* "own only", "user only": of own processes, and of those in user mode. In user mode alone a clock counts all the same,
 * and what happens in the kernel never. */
static const char *right_to(const struct k_event *ev, uint8_t flags)
{
	struct k_event user = *ev;

	user.exclude_kernel = true;
	if (counts_own(ev))
		return "own only";
	if (flags & EVENT_NEVER_USER || !counts_own(&user))
		return "no right";
	return event_is_clock(ev->type, ev->config) ? "own only" : "user only";
}

static const char *try_event(const struct k_event *ev, uint8_t flags)
{
	struct err e = { 0 };
	int rc = k_event_try(ev, &e);

	return rc >= 0 ? "yes" : rc == -TALLY_EPERM ? right_to(ev, flags) : "no";
}

static const char *right_of_any(const struct find *f)
{
	const struct event *ev = event_find("page_faults");

	return f->p->sysfs || f->each ? "yes" :
					try_event(&(struct k_event){ .type = ev->type, .config = ev->config }, 0);
}

static int cpu_open(struct find *f, struct cpu *c)
{
	struct err e = { 0 };

	*c = (struct cpu){ 0 };
	if (k_pmus(f->p->sysfs, &c->pmu, &c->npmus, &e) == -TALLY_ENOMEM)
		return plat_oom(f->p);
	for (uint32_t i = 0; i < c->npmus; i++)
		c->ncore += c->pmu[i].core;
	c->right = right_of_any(f);
	return 0;
}

/* ---- events that the kernel names, and PAPI's -------------------------------------------------- */

static const char *find_event_here(const struct find *f, const struct cpu *c, const struct event *ev)
{
	const struct event *real = event_real(ev);

	if ((ev->flags & EVENT_NEVER) == EVENT_NEVER)
		return "never";
	if ((!real || real->kind != EVENT_SW) && !c->ncore)
		return "no PMU";
	if (!real)
		return "by model";
	if (f->p->sysfs)
		return "yes";
	return try_event(&(struct k_event){ .type = real->type,
					    .config = real->config,
					    .counter = real->kind != EVENT_SW },
			 real->flags);
}

/* perf's spelling, other names, and the presets' events of CPU models. */
static void find_event_aliases(const struct event *ev, struct buf *to)
{
	const struct event_preset *row;
	const struct event *e;

	if (ev->perf && strcmp(ev->perf, ev->name))
		buf_puts(to, ev->perf);
	if (ev->of)
		buf_printf(to, "%s%s", to->n ? ", " : "", ev->of);
	for (uint32_t i = 0; (e = event_at(i)) != NULL; i++)
		if (e->alias && !strcmp(e->of, ev->name))
			buf_printf(to, "%s%s", to->n ? ", " : "", e->name);
	for (uint32_t i = 0; (row = event_preset_at(i)) != NULL; i++)
		if (!strcmp(row->name, ev->name))
			buf_printf(to, "%s%s%s%s", to->n ? ", " : "", row->pmu, *row->pmu ? "::" : "", row->event);
}

static void add_event(struct find *f, const struct cpu *c, const struct event *ev)
{
	static const char *const of[] = {
		[EVENT_HW] = "hardware", [EVENT_SW] = "software", [EVENT_CACHE] = "cache", [EVENT_PRESET] = "PAPI"
	};
	const struct event *real = event_real(ev);
	struct buf more = { 0 };
	char code[40] = "";

	if (real)
		snprintf(code, sizeof(code), "%u:0x%llx", real->type, (unsigned long long)real->config);
	find_event_aliases(ev, &more);
	find_add(f, &(struct found){ .name = ev->name,
				     .of = of[ev->kind],
				     .code = code,
				     .here = f->each ? "" : find_event_here(f, c, ev),
				     .use = arena_text(&f->words, "cpc:::%s-all-1000000", ev->name),
				     .also = more.p,
				     .text = ev->text });
	f->words.failed |= more.failed;
	buf_free(&more);
}

/* ---- events of PMUs ------------------------------------------------------------------------------ */

/* As a probe has them: small letters, _ for -. */
static void probe_name(char *to, size_t n, const char *name)
{
	snprintf(to, n, "%s", name);
	for (; *to; to++)
		*to = *to == '-' ? '_' : *to >= 'A' && *to <= 'Z' ? (char)(*to + 32) : *to;
}

static void add_pmu_event(struct find *f, const struct cpu *c, const struct k_pmu *pmu, const char *name)
{
	/* A PMU that is no CPU's counts for whole CPUs or not at all. */
	const char *here = pmu->core || !strcmp(c->right, "yes") ? c->right : "no right";
	struct k_event ev = { .type = pmu->type };
	struct err e = { 0 };
	char ours[PMU_NAME_MOST], code[96] = "";

	if (k_pmu_encode(f->p->sysfs, pmu, name, &ev, &e) >= 0)
		snprintf(code, sizeof(code), ev.config1 ? "%u:0x%llx,0x%llx" : "%u:0x%llx", ev.type,
			 (unsigned long long)ev.config, (unsigned long long)ev.config1);
	if (pmu->core)
		probe_name(ours, sizeof(ours), name);
	else
		snprintf(ours, sizeof(ours), "%.60s/%.30s/", pmu->name, name);
	find_add(f, &(struct found){ .name = ours,
				     .of = pmu->name,
				     .code = code,
				     .here = here,
				     .use = pmu->core ? arena_text(&f->words, "cpc:::%s-all-1000000", ours) : ours,
				     .also = arena_text(&f->words, "%s/%s/", pmu->name, name),
				     .text = "an event of that PMU" });
}

static int add_pmus(struct find *f, const struct cpu *c)
{
	struct arena a = { 0 };
	const char **name;
	uint32_t n;
	int rc = 0;

	for (uint32_t i = 0; i < c->npmus && rc >= 0; i++) {
		rc = k_pmu_names(f->p->sysfs, &c->pmu[i], false, &a, &name, &n);
		for (uint32_t k = 0; rc >= 0 && k < n; k++)
			add_pmu_event(f, c, &c->pmu[i], name[k]);
	}
	arena_free(&a);
	return rc < 0 ? plat_oom(f->p) : 0;
}

/* libpfm4's names are of use where there is a PMU. A tree of tests has none of this machine's. */
static int add_pfm(struct find *f, const struct cpu *c)
{
	struct arena a = { 0 };
	const char **name;
	uint32_t n = 0;
	int rc = c->ncore && !f->p->sysfs ? k_pfm_names(&a, &name, &n) : 0;

	for (uint32_t i = 0; rc >= 0 && i < n; i++) {
		struct k_event ev = { 0 };
		struct err e = { 0 };
		char code[40] = "takes a mask";

		if (!f->each && k_pfm_encode(name[i], &ev, &e) >= 0)
			snprintf(code, sizeof(code), "%u:0x%llx", ev.type, (unsigned long long)ev.config);
		find_add(f, &(struct found){ .name = name[i],
					     .of = "libpfm4",
					     .code = code,
					     .here = c->right,
					     .use = arena_text(&f->words, "cpc:::%s-all-1000000", name[i]),
					     .text = "the CPU's own event" });
	}
	arena_free(&a);
	return rc < 0 ? plat_oom(f->p) : 0;
}

/* ---- events of Victoria Falls -------------------------------------------------------------------------- */

static int add_vf_events(struct find *f)
{
	const struct vf_event *v;
	const char *here[VF_EVENTS_ASU + 1];
	struct here h;
	int rc = here_vfalls(f, &h);

	for (uint32_t k = 0; rc >= 0 && k < COUNT(here); k++)
		here[k] = here_vf_event(&h, (enum vf_eventset)k);
	for (uint32_t i = 0; rc >= 0 && (v = vf_event_at(i)) != NULL; i++)
		find_add(f, &(struct found){ .name = v->name,
					     .of = arena_text(&f->words, "vfalls %s", vf_eventset_name[v->set]),
					     .code = arena_text(&f->words, "0x%x", v->code),
					     .here = here[v->set],
					     .also = v->emask ? arena_text(&f->words, "mask bits 0x%x", v->emask) : "",
					     .text = v->text });
	return rc;
}

/* Another name is no entry of its own. Who completes a word is offered it, but not the constant of the kernel's
 * header. */
static void add_alias(struct find *f, const char *name)
{
	if (!f->each)
		find_near(f, name);
	else if (strncmp(name, "perf_count_", 11))
		find_add(f, &(struct found){ .name = name });
}

int find_events(struct find *f)
{
	const struct event *ev;
	struct cpu c;
	int rc = cpu_open(f, &c);

	for (uint32_t i = 0; rc >= 0 && (ev = event_at(i)) != NULL; i++)
		if (ev->alias)
			add_alias(f, ev->name);
		else
			add_event(f, &c, ev);
	if (rc >= 0)
		rc = add_pmus(f, &c);
	if (rc >= 0)
		rc = add_pfm(f, &c);
	if (rc >= 0 && !f->each)
		rc = add_vf_events(f);
	mem_free(c.pmu);
	return rc;
}

/* ---- probes ---------------------------------------------------------------------------------------------- */

static bool asks_for_probes(const struct find *f)
{
	return !f->all_kinds || strchr(f->pattern, ':');
}

/* What it takes that programs run here, with and without events; of records nothing, for those are read. */
struct may {
	const char *run, *fire;
};

static const char *may_run(bool events)
{
	struct err e = { 0 };
	int rc = k_may_run(events, &e);

	return rc >= 0 ? "yes" : rc == -TALLY_EPERM ? "no right" : "no";
}

static struct may find_allowed(const struct find *f)
{
	if (f->each || f->p->sysfs)
		return (struct may){ "yes", "yes" };
	return (struct may){ may_run(false), may_run(true) };
}

static const char *here_of(const struct probe *p, const struct may *may)
{
	return p->arm == ARM_RECORD ? "yes" : p->arm == ARM_EVENT ? may->fire : may->run;
}

/* Of a hypervisor's: whether the platform has it, and lets it be read. */
static const char *here_probe(const struct here *h, const struct probe *p)
{
	struct err e = { 0 };
	int rc = h->word || !p->prov->readable ? 0 : p->prov->readable(p, &h->p->transport, h->client, &e);

	return h->word ? h->word : rc < 0 ? hv_why_not(rc) : "yes";
}

static void add_probe(struct find *f, const struct probe *p, const char *on, const char *here)
{
	const char *name = arena_text(&f->words, "%s:%s:%s:%s", p->prov_name, p->mod, p->func, p->name);

	if (p->prov->is_long && (f->each ? !p->prov->has_places : !asks_for_probes(f)))
		return;
	find_add(f, &(struct found){
			    .name = name,
			    .here = here,
			    .use = arena_text(&f->words, "tally trace %s%s-n '%s { ... }'", on, *on ? " " : "", name),
			    .text = p->source });
}

/* Probes of this process' kernel and of records (h: NULL), or of a hypervisor's line. */
static int add_probes(struct find *f, struct hv_transport *transport, struct sun4v_client *sun4v, const char *on,
		      const struct here *h)
{
	struct prov_opts o = {
		.sysfs = f->p->sysfs, .records = !transport, .lists = true, .transport = transport, .sun4v = sun4v
	};
	const struct may may = transport ? (struct may){ 0 } : find_allowed(f);
	struct probes *t = NULL;
	struct err e = { 0 };
	int rc = probes_open(&t, &o);

	if (rc >= 0)
		rc = probes_offer(t, &e);
	for (uint32_t id = 1; rc >= 0 && id <= probes_count(t); id++) {
		const struct probe *p = probes_get(t, id);

		if ((p->prov->model != NULL) == (transport != NULL))
			add_probe(f, p, on, h ? here_probe(h, p) : here_of(p, &may));
	}
	probes_close(t);
	return rc < 0 ? plat_fail(f->p, (enum tally_err) - rc, "%s", e.text[0] ? e.text : tally_strerror(rc)) : 0;
}

/* What a model's hypervisor fires, as the platform of --on may have it, or as who names the model will. */
static int add_model(struct find *f, const char *machine, const struct here *h)
{
	struct model_opts o = { .machine = machine,
				.level = h->word ? MODEL_LEVEL_AS_CONFIGURED : f->p->transport.level };
	struct sun4v_client *c = NULL;
	struct hv_transport transport = { 0 };
	struct err e = { 0 };
	const char *on = arena_text(&f->words, "--on %s", h->word ? machine : f->p->name);
	int rc = transport_open(&transport, &o, &e);

	if (rc >= 0 && !transport.op->papr)
		rc = sun4v_client_open(&c, &transport, &e);
	if (rc < 0)
		(void)plat_fail(f->p, (enum tally_err) - rc, "%s", e.text);
	else
		rc = add_probes(f, &transport, c, on, h);
	sun4v_client_close(c);
	transport_close(&transport);
	return rc;
}

/* EVENT-MODE- of each event: what stands behind it is a number. */
static void each_cpc(void *arg, const char *name)
{
	static const char *const modes[] = { "all", "user", "kernel" };
	struct find *f = arg;
	char probe[PMU_NAME_MOST + 32];

	for (size_t i = 0; i < COUNT(modes) && !strchr(name, '/'); i++) {
		snprintf(probe, sizeof(probe), "cpc:::%s-%s-", name, modes[i]);
		f->each(f->arg, probe);
	}
}

int find_probes(struct find *f)
{
	struct find events = { .p = f->p, .each = each_cpc, .arg = f };
	const struct provider *prov;
	int rc = f->each ? find_events(&events) : 0;

	arena_free(&events.words);
	if (rc >= 0)
		rc = add_probes(f, NULL, NULL, "", NULL);
	for (uint32_t i = 0; rc >= 0 && asks_for_probes(f) && (prov = provider_at(i)) != NULL; i++) {
		struct here h;

		if (!prov->model)
			continue;
		rc = here_model(f, prov->model, &h);
		if (rc >= 0)
			rc = add_model(f, prov->model, &h);
	}
	return rc;
}

int find_providers(struct find *f)
{
	const struct provider *prov;

	for (uint32_t i = 0; (prov = provider_at(i)) != NULL; i++)
		f->each(f->arg, prov->name);
	return 0;
}
