/*
 * cpc.c: the provider of CPU performance counter events (dtrace_cpc.txt).
 *
 * A probe fires on a CPU each time COUNT events happened there in the chosen
 * mode.  Probes are made when they are named: the name is taken apart
 * (cpc_name.c), its event is found on this machine (cpc_event.c), and one trial
 * opening shows whether it can be counted here at all; no other event is touched.
 * So that overflow interrupts can't flood a machine by mistake, COUNT has a
 * minimum, 5000 unless dcpc.conf or an option says otherwise.
 *
 * With a fake sysfs tree (prov_opts.sysfs) nothing is opened: what the tree has
 * is taken to count.
 */
#include <stdio.h>
#include <string.h>

#include "facts/event.h"
#include "provider/provider_int.h"

#define DEFAULT_CONF TALLY_SYSCONFDIR "/tally/dcpc.conf"

static int cpc_minimum_count(struct probes *t, uint64_t *ret, struct err *why)
{
	const struct prov_opts *o = &t->opts;
	int rc = 0;

	*ret = o->cpc_min;
	if (!*ret) {
		*ret = CPC_DEFAULT_MIN;
		rc = cpc_conf_read(o->conf ? o->conf : DEFAULT_CONF, ret, why);
	}
	return rc;
}

static int check_count(struct probes *t, const struct cpc_spec *s, struct err *why)
{
	uint64_t min;
	int rc;

	if (!s->count)
		return 0; /* a frequency: the kernel bounds it (perf_event_max_sample_rate) */
	rc = cpc_minimum_count(t, &min, why);
	if (rc < 0)
		return rc;
	if (s->count < min)
		return err_set(why, TALLY_EINVAL,
			       "count %llu is below the minimum of %llu (-x "
			       "dcpc_min_overflow=N lowers it; write %lluhz for %llu firings a second)",
			       (unsigned long long)s->count, (unsigned long long)min, (unsigned long long)s->count,
			       (unsigned long long)s->count);
	if (s->count > INT64_MAX)
		return err_set(why, TALLY_EINVAL, "count %llu is above the kernel's maximum period, %lld",
			       (unsigned long long)s->count, (long long)INT64_MAX);
	return 0;
}

static void cpc_fill_found(const struct probes *t, const struct cpc_spec *s, struct cpc_found *f)
{
	for (uint32_t i = 0; i < f->n; i++) {
		struct k_event *ev = &f->ev[i];

		ev->period = s->count;
		ev->freq = s->freq;
		ev->exclude_user = s->mode == CPC_KERNEL;
		ev->exclude_kernel = s->mode == CPC_USER;
		ev->uncounted = s->mode != CPC_ALL && event_is_clock(ev->type, ev->config);
		if (s->has_precise)
			ev->precise_ip = s->precise;
		ev->exclusive = ev->counter && t->opts.cpc_exclusive;
	}
}

/* Keeps the events that can be opened here. A missing right is no reason to deny that the event
 * exists: it is named when the probe is enabled. */
static int keep_openable(struct probes *t, const struct cpc_spec *s, struct cpc_found *f, struct err *why)
{
	struct err e = { 0 };
	uint32_t n = 0;

	if (t->opts.sysfs)
		return f->ev[0].counter && !t->machine->ncore ? cpc_no_pmu(why) : 0;
	for (uint32_t i = 0; i < f->n; i++) {
		int rc = k_event_try(&f->ev[i], &e);

		if (rc >= 0 || rc == -TALLY_EPERM)
			f->ev[n++] = f->ev[i];
	}
	f->n = n;
	if (n)
		return 0;
	if (f->ev[0].counter && !t->machine->ncore)
		return cpc_no_pmu(why);
	return err_set(why, (enum tally_err)e.code, "%s cannot be counted here: %s", s->event, e.text);
}

static int cpc_make_probe(struct probes *t, const char *name, uint32_t *id, struct err *why)
{
	struct cpc_found f = { 0 };
	struct cpc_spec s;
	struct probe *p;
	int rc = cpc_parse(name, &s, why);

	if (rc < 0 || (rc = cpc_event(t, &s, &f, why)) < 0 || (rc = check_count(t, &s, why)) < 0)
		return rc;
	cpc_fill_found(t, &s, &f);
	rc = keep_openable(t, &s, &f, why);
	if (rc < 0)
		return rc;
	p = probes_add(t, &prov_cpc, name);
	if (!p)
		return err_oom(why);
	p->arm = ARM_EVENT;
	p->event = f.ev;
	p->nevents = f.n;
	p->has_data = f.has_data;
	p->source = f.source;
	*id = p->id;
	return 0;
}

static int cpc_name(struct probes *t, const char *name, int (*add)(void *arg, uint32_t id), void *arg, struct err *why)
{
	const struct probe *p = probes_find(t, &prov_cpc, name);
	uint32_t id = p ? p->id : 0;
	int rc = p ? 0 : cpc_make_probe(t, name, &id, why);

	if (rc >= 0)
		rc = add(arg, id);
	return rc < 0 ? rc : 1;
}

/* One probe per event that can be counted here. */
static int cpc_offer(struct probes *t, struct err *e)
{
	const char **names;
	uint64_t least;
	uint32_t n, id;
	int rc = cpc_minimum_count(t, &least, e);

	if (rc < 0)
		return rc;
	if (cpc_event_names(t, &names, &n) < 0)
		return err_oom(e);
	for (uint32_t i = 0; i < n && rc != -TALLY_ENOMEM; i++) {
		char name[CPC_NAME + 32];
		struct err why = { 0 };

		snprintf(name, sizeof(name), "%s-all-%llu", names[i],
			 (unsigned long long)cpc_usual_count(names[i], least));
		rc = probes_find(t, &prov_cpc, name) ? 0 : cpc_make_probe(t, name, &id, &why);
	}
	mem_free(names);
	return rc == -TALLY_ENOMEM ? err_oom(e) : 0;
}

/* A pattern such as cpc:::cpu_clock-user-* finds nothing until somebody names a probe: say how. */
static int cpc_why_none(const struct probes *t, const struct d_probedesc *d, struct err *why)
{
	(void)t;
	if (!d->name[strcspn(d->name, "*?[\\")])
		return 0;
	return err_set(why, TALLY_ENOPROBE,
		       "cpc: patterns match what tally trace -l -P cpc lists, one probe for each event; write out %s",
		       "EVENT-MODE-COUNT, e.g. cpu_clock-user-10000000");
}

/* ---- enabling together -------------------------------------------------------------- */

static uint32_t cpc_count_enablings(const struct probes *t, const uint32_t *ids, uint32_t n)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < n; i++) {
		const struct probe *p = probes_get(t, ids[i]);
		bool again = false;

		for (uint32_t j = 0; j < i && !again; j++)
			again = ids[j] == ids[i];
		count += p && p->prov == &prov_cpc && !again;
	}
	return count;
}

/* How many counters a CPU has is the kernel's knowledge: an enabling that finds none free fails when it is attached
 * (pinned events). Who may ask at all is a matter of leases (attach/lease.h). What neither knows is decided here
 * (dtrace_cpc.txt, "Probe Availability"): a PMU that can't tell which of its counters overflowed takes one enabling at
 * a time. Its row of facts/event_pmu.def says so, once an event of the PMU was named. */
static bool cpc_takes_turns(const struct probes *t)
{
	const struct cpc_machine *m = t->machine;
	bool one = t->opts.one_enabling;

	for (uint32_t i = 0; i < m->ncore; i++)
		one |= !event_pmu_of(m->core[i].name)->tells;
	return one;
}

static int cpc_compatible(const struct probes *t, const uint32_t *ids, uint32_t n, struct err *why)
{
	if (!cpc_takes_turns(t) || cpc_count_enablings(t, ids, n) <= 1)
		return 0;
	return err_set(why, TALLY_EBUSY,
		       "cpc: this CPU cannot tell which counter overflowed, so one cpc probe can be enabled at a "
		       "time");
}

const struct provider prov_cpc = {
	.name = "cpc",
	.help = "CPU events: EVENT-MODE[-MASK|-attribute_value...]-COUNT",
	.is_long = true,
	.provider = { STAB_EVOLVING, STAB_EVOLVING, DEP_COMMON },
	.module = { STAB_PRIVATE, STAB_PRIVATE, DEP_UNKNOWN },
	.function = { STAB_PRIVATE, STAB_PRIVATE, DEP_UNKNOWN },
	.names = { STAB_EVOLVING, STAB_EVOLVING, DEP_CPU },
	.args = { STAB_EVOLVING, STAB_EVOLVING, DEP_COMMON },
	.name_probe = cpc_name,
	.offer = cpc_offer,
	.why_none = cpc_why_none,
	.compatible = cpc_compatible,
};
