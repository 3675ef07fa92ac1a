/*
 * cpc_event.c: which perf events a cpc name stands for on this machine.
 *
 * An event is looked for in this order, and the first that knows it decides:
 *
 *	1. the kernel's events and the PAPI names (facts/event.h): generic, so no mask or attribute
 *	2. rHEX, a raw configuration as perf writes it
 *	3. events/ of the core PMUs in sysfs, '-' written as '_'
 *	4. libpfm4's names for the CPU's model (loaded only when we get here)
 *
 * 2 to 4 are the platform's events; their attributes are the fields of the PMU's
 * format/ files.  With several core PMUs (hybrid CPUs) an event becomes one perf
 * event on each PMU that has it; the kernel takes the PMU of a generic event in
 * the upper half of config (perf_event_open(2), PERF_PMU_TYPE_SHIFT).
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "facts/event.h"
#include "provider/provider_int.h"

#define MAX_CORE 8 /* kinds of core in one machine */

struct search {
	struct probes *t;
	const struct cpc_spec *spec;
	struct k_event ev[MAX_CORE];
	uint32_t n;
	char source[256];
};

static int event_refuse_nomem(struct err *why)
{
	return err_oom(why);
}

/* ---- the machine ---------------------------------------------------------------- */

/* The core PMUs, read once. A tree without PMUs is a machine without PMUs. */
static int event_read_machine(struct probes *t, struct cpc_machine **ret, struct err *why)
{
	struct cpc_machine *m = t->machine;
	struct k_pmu *v = NULL;
	struct err e = { 0 };
	uint32_t n = 0, k = 0;

	*ret = m;
	if (m->known)
		return 0;
	if (k_pmus(t->opts.sysfs, &v, &n, &e) == -TALLY_ENOMEM)
		return event_refuse_nomem(why);
	for (uint32_t i = 0; i < n; i++) {
		m->has_ibs |= !strncmp(v[i].name, "ibs_", 4);
		if (v[i].core && k < MAX_CORE)
			v[k++] = v[i];
	}
	m->core = v;
	m->ncore = k;
	m->known = true;
	return 0;
}

/* perf's name as ours. */
static bool same_name(const char *sysfs, const char *ours)
{
	for (; *sysfs && *ours; sysfs++, ours++)
		if ((*sysfs == '-' ? '_' : tolower((unsigned char)*sysfs)) != *ours)
			return false;
	return *sysfs == *ours;
}

int cpc_no_pmu(struct err *why)
{
	char names[160] = "";
	const struct event *ev;

	for (uint32_t i = 0; (ev = event_at(i)); i++)
		if (ev->kind == EVENT_SW && !ev->alias && (ev->flags & EVENT_NEVER) != EVENT_NEVER &&
		    strlen(names) + strlen(ev->name) + 8 < sizeof(names)) {
			strcat(names, ev->name);
			strcat(names, ", ");
		}
	names[strlen(names) - 2] = 0;
	return err_set(why, TALLY_ENOTSUP,
		       "this machine has no hardware PMU (a virtual machine?); software events "
		       "that work: %s",
		       names);
}

/* ---- generic events --------------------------------------------------------------- */

static int refuse_attrs(const struct cpc_spec *s, struct err *why)
{
	bool mask = s->nattrs == 1 && !strcmp(s->attr[0].name, "umask");

	if (!s->nattrs && !s->has_precise)
		return 0;
	return err_set(why, TALLY_EINVAL, "%s is a generic event and takes no %s; only the CPU's own events do",
		       s->event, mask ? "mask" : "attributes");
}

static int refuse_never(const struct cpc_spec *s, const struct event *ev, struct err *why)
{
	if ((ev->flags & EVENT_NEVER) == EVENT_NEVER)
		return err_set(why, TALLY_EINVAL, "%s never fires: %s", s->event, ev->text);
	if (s->mode == CPC_USER && ev->flags & EVENT_NEVER_USER)
		return err_set(why, TALLY_EINVAL,
			       "%s never fires in user mode: it counts what the kernel does (%s); use %s", s->event,
			       ev->text, "kernel or all");
	return 0;
}

static void add_generic(struct search *s, const struct cpc_machine *m, const struct event *ev)
{
	if (ev->kind == EVENT_SW || m->ncore < 2) {
		s->ev[s->n++] =
			(struct k_event){ .type = ev->type, .config = ev->config, .counter = ev->kind != EVENT_SW };
		return;
	}
	for (uint32_t i = 0; i < m->ncore; i++) {
		struct k_event *e = &s->ev[s->n++];

		*e = (struct k_event){ .type = ev->type,
				       .config = ev->config | (uint64_t)m->core[i].type << 32,
				       .counter = true };
		memcpy(e->cpus, m->core[i].cpus, sizeof(e->cpus));
	}
}

static int find_generic(struct search *s, const struct cpc_machine *m, const struct event *ev, struct err *why)
{
	static const char *const kinds[] = {
		[EVENT_HW] = "hardware", [EVENT_SW] = "software", [EVENT_CACHE] = "cache"
	};
	int rc = refuse_never(s->spec, ev, why);

	if (rc < 0)
		return rc;
	add_generic(s, m, ev);
	snprintf(s->source, sizeof(s->source), "perf %s event %s", kinds[ev->kind], ev->perf);
	return 1;
}

/* ---- sysfs events --------------------------------------------------------------------- */

/* The PMU's own spelling of an event; NULL when it has none. */
static int sysfs_name(struct search *s, const struct k_pmu *p, const char *ours, const char **ret, struct err *why)
{
	const char **v;
	uint32_t n;

	*ret = NULL;
	if (k_pmu_names(s->t->opts.sysfs, p, false, &s->t->arena, &v, &n) < 0)
		return event_refuse_nomem(why);
	for (uint32_t i = 0; i < n && !*ret; i++)
		if (same_name(v[i], ours))
			*ret = v[i];
	return 0;
}

/* "NAME,umask=0x1,...": first NULL or a sysfs event; skip: an attribute that has been seen to. */
static int event_encode_terms(struct search *s, const struct k_pmu *p, const char *first, const char *skip,
			      struct k_event *ev, struct err *why)
{
	struct buf b = { 0 };
	int rc;

	buf_puts(&b, first ? first : "");
	for (uint32_t i = 0; i < s->spec->nattrs; i++)
		if (!skip || strcmp(s->spec->attr[i].name, skip))
			buf_printf(&b, "%s%s=0x%llx", b.n ? "," : "", s->spec->attr[i].name,
				   (unsigned long long)s->spec->attr[i].value);
	rc = b.failed ? event_refuse_nomem(why) : k_pmu_encode(s->t->opts.sysfs, p, b.n ? b.p : "", ev, why);
	buf_free(&b);
	return rc;
}

/* On each core PMU that has it. 0: none has it; the reason why it could not be encoded counts only
 * if none could. */
static int find_sysfs(struct search *s, const struct cpc_machine *m, const char *ours, struct err *why)
{
	struct err e = { 0 };
	int rc;

	for (uint32_t i = 0; i < m->ncore; i++) {
		struct k_event *ev = &s->ev[s->n];
		const char *name;

		if (sysfs_name(s, &m->core[i], ours, &name, why) < 0)
			return -TALLY_ENOMEM;
		*ev = (struct k_event){ 0 };
		rc = name ? event_encode_terms(s, &m->core[i], name, NULL, ev, &e) : -TALLY_ENOPROBE;
		if (rc == -TALLY_ENOMEM)
			return event_refuse_nomem(why);
		if (rc < 0)
			continue;
		snprintf(s->source + strlen(s->source), sizeof(s->source) - strlen(s->source), "%s%s/%s/",
			 s->n ? ", " : "", m->core[i].name, name);
		s->n++;
	}
	if (!s->n && e.code)
		return err_set(why, (enum tally_err)e.code, "%s", e.text);
	return s->n > 0;
}

/* ---- raw events -------------------------------------------------------------------------- */

static bool raw_config(const char *event, uint64_t *config)
{
	char hex[20] = "0x";

	if (event[0] != 'r' || !event[1] || strlen(event) > 17)
		return false;
	strcat(hex, event + 1);
	return text_u64(hex, config);
}

static int find_raw(struct search *s, const struct cpc_machine *m, struct err *why)
{
	uint64_t config;
	struct err e = { 0 };
	int rc;

	if (!raw_config(s->spec->event, &config))
		return 0;
	if (!m->ncore)
		return cpc_no_pmu(why);
	for (uint32_t i = 0; i < m->ncore; i++) {
		s->ev[s->n] = (struct k_event){ .config = config };
		rc = event_encode_terms(s, &m->core[i], NULL, NULL, &s->ev[s->n], &e);
		if (rc == -TALLY_ENOMEM)
			return event_refuse_nomem(why);
		s->n += rc >= 0;
	}
	if (!s->n)
		return err_set(why, (enum tally_err)e.code, "%s", e.text);
	snprintf(s->source, sizeof(s->source), "raw event 0x%llx of %s", (unsigned long long)config,
		 s->n > 1 ? "each core PMU" : m->core[0].name);
	return 1;
}

/* ---- libpfm4 ------------------------------------------------------------------------------- */

/* The core PMU that a libpfm4 encoding is for. Where it says just "raw" (Arm), that is clear with
 * one core PMU only. */
static const struct k_pmu *pmu_of(const struct cpc_machine *m, const struct k_event *ev)
{
	for (uint32_t i = 0; i < m->ncore; i++)
		if (m->core[i].type == ev->type)
			return &m->core[i];
	return ev->type == EVENT_TYPE_RAW && m->ncore == 1 ? &m->core[0] : NULL;
}

/* A mask goes to libpfm4 with the name, since many events have no code without one; the rest is
 * fields of the PMU. 0 when libpfm4 is not there or knows no such event, *unknown saying why. */
static int find_pfm(struct search *s, const struct cpc_machine *m, struct err *unknown, struct err *why)
{
	struct k_event *ev = &s->ev[0];
	char name[CPC_NAME + 24];
	const struct k_pmu *p;
	int rc;

	snprintf(name, sizeof(name), "%s", s->spec->event);
	for (uint32_t i = 0; i < s->spec->nattrs; i++)
		if (!strcmp(s->spec->attr[i].name, "umask"))
			snprintf(name, sizeof(name), "%s:0x%llx", s->spec->event,
				 (unsigned long long)s->spec->attr[i].value);
	*ev = (struct k_event){ 0 };
	rc = k_pfm_encode(name, ev, unknown);
	if (rc == -TALLY_ENOTSUP || rc == -TALLY_ENOPROBE)
		return 0;
	if (rc < 0)
		return err_set(why, (enum tally_err)unknown->code, "%s", unknown->text);
	if (!m->ncore)
		return cpc_no_pmu(why);
	p = pmu_of(m, ev);
	if (!p)
		return err_set(why, TALLY_ENOTSUP, "cannot tell which core PMU counts %s", name);
	rc = event_encode_terms(s, p, NULL, "umask", ev, why);
	if (rc < 0)
		return rc;
	s->n = 1;
	snprintf(s->source, sizeof(s->source), "%s through libpfm4", name);
	return 1;
}

/* ---- presets of a CPU model ------------------------------------------------------------------ */

/* One row: 1 found, 0 not this CPU's. */
static int try_preset(struct search *s, const struct cpc_machine *m, const struct event_preset *row, struct err *pfm,
		      struct err *why)
{
	const struct k_pmu *p;
	char name[160];
	int rc;

	if (!*row->pmu)
		return find_sysfs(s, m, row->event, why);
	snprintf(name, sizeof(name), "%s::%s", row->pmu, row->event);
	s->ev[0] = (struct k_event){ 0 };
	rc = k_pfm_encode(name, &s->ev[0], pfm);
	if (rc < 0 || !(p = pmu_of(m, &s->ev[0])))
		return 0;
	s->n = 1;
	snprintf(s->source, sizeof(s->source), "%s through libpfm4", name);
	rc = event_encode_terms(s, p, NULL, NULL, &s->ev[0], why); /* gives it the PMU's type and CPUs */
	return rc < 0 ? rc : 1;
}

static int find_preset(struct search *s, const struct cpc_machine *m, struct err *why)
{
	const struct event_preset *row;
	struct err reason = { 0 };
	int rc = 0;

	for (uint32_t i = 0; m->ncore && (row = event_preset_at(i)) && !rc; i++)
		if (!strcmp(row->name, s->spec->event))
			rc = try_preset(s, m, row, &reason, why);
	if (rc)
		return rc;
	if (!m->ncore)
		cpc_no_pmu(&reason);
	/* That libpfm4 does not know a row's event is no reason: the row is another CPU's. */
	return err_set(why, TALLY_ENOTSUP, "%s (%s) is a generic event that this CPU has no mapping for%s%s",
		       s->spec->event, event_find(s->spec->event)->text, reason.code == TALLY_ENOTSUP ? ": " : "",
		       reason.code == TALLY_ENOTSUP ? reason.text : "");
}

/* ---- names
 * ---------------------------------------------------------------------------------------- */

struct names {
	const char **v;
	uint32_t n, cap;
};

static int add_name(struct names *l, const char *name)
{
	const char **slot = VEC_NEW(l->v, l->n, l->cap);

	if (!slot)
		return -TALLY_ENOMEM;
	*slot = name;
	return 0;
}

static int sysfs_names(struct probes *t, const struct cpc_machine *m, struct names *l)
{
	struct arena *a = &t->arena;
	const char **v;
	uint32_t n;

	for (uint32_t i = 0; i < m->ncore; i++) {
		if (k_pmu_names(t->opts.sysfs, &m->core[i], false, a, &v, &n) < 0)
			return -TALLY_ENOMEM;
		for (uint32_t j = 0; j < n; j++) {
			char *ours = arena_strdup(a, v[j]);

			if (!ours || add_name(l, ours) < 0)
				return -TALLY_ENOMEM;
			for (char *p = ours; *p; p++)
				*p = *p == '-' ? '_' : (char)tolower((unsigned char)*p);
		}
	}
	return 0;
}

static int all_names(struct probes *t, const struct cpc_machine *m, bool listing, struct names *l)
{
	const struct event *ev;
	const char **v;
	uint32_t n;

	for (uint32_t i = 0; (ev = event_at(i)); i++) {
		if (listing &&
		    (ev->alias || (ev->flags & EVENT_NEVER) == EVENT_NEVER || (ev->kind != EVENT_SW && !m->ncore)))
			continue;
		if (add_name(l, ev->name) < 0)
			return -TALLY_ENOMEM;
	}
	if (sysfs_names(t, m, l) < 0)
		return -TALLY_ENOMEM;
	if (!listing || !m->ncore)
		return 0;
	if (k_pfm_names(&t->arena, &v, &n) < 0)
		return -TALLY_ENOMEM;
	for (uint32_t i = 0; i < n; i++)
		if (add_name(l, v[i]) < 0)
			return -TALLY_ENOMEM;
	return 0;
}

int cpc_event_names(struct probes *t, const char ***ret, uint32_t *n)
{
	struct names l = { 0 };
	struct cpc_machine *m;
	struct err e = { 0 };

	if (event_read_machine(t, &m, &e) < 0 || all_names(t, m, true, &l) < 0) {
		mem_free(l.v);
		return -TALLY_ENOMEM;
	}
	*ret = l.v;
	*n = l.n;
	return 0;
}

/* "sched:sched_switch", "syscalls:sys_enter_*": the kernel's tracepoints are in lower case, the masks of libpfm4's
 * events are not. Whether the kernel has one of that name is not looked at. */
static bool is_written_as_tracepoint(const char *event)
{
	static const char word[] = "abcdefghijklmnopqrstuvwxyz0123456789_*?";
	const size_t n = strspn(event, word);

	return n && event[n] == ':' && event[n + 1] && !event[n + 1 + strspn(event + n + 1, word)];
}

/* pfm: what libpfm4 said, used when it has a better idea than our own names, or could not be asked. */
static int unknown_event(struct probes *t, const struct cpc_machine *m, const struct cpc_spec *spec,
			 const struct err *pfm, struct err *why)
{
	const char *event = *spec->written ? spec->written : spec->event, *near, *hint;
	struct names l = { 0 };

	if (is_written_as_tracepoint(event))
		return err_set(why, TALLY_EINVAL,
			       "%s looks like a tracepoint (SYSTEM:NAME), and tally counts only hardware and software "
			       "events; if the kernel has it, perf stat -e '%s' counts it",
			       event, event);
	if (all_names(t, m, false, &l) < 0) {
		mem_free(l.v);
		return event_refuse_nomem(why);
	}
	near = text_nearest(event, TEXT_NAMES(l.v, l.n));
	mem_free(l.v);
	hint = strstr(pfm->text, "; did you mean ");
	if (near)
		return err_set(why, TALLY_EINVAL, "no event \"%s\"; did you mean %s?", event, near);
	if (event[0] == 'r' && (strspn(event + 1, "0123456789") || !event[1 + strspn(event + 1, "abcdefABCDEF")]))
		return err_set(why, TALLY_EINVAL, "no event \"%s\" (a raw code is r and 1 to 16 hexadecimal digits)",
			       event);
	if (m->ncore && pfm->code == TALLY_ENOTSUP)
		return err_set(why, TALLY_ENOTSUP, "no event \"%s\" (%s)", event, pfm->text);
	if (hint || m->ncore)
		return err_set(why, TALLY_EINVAL, "no event \"%s\"%s", event, hint ? hint : "");
	return err_set(why, TALLY_EINVAL, "no event \"%s\" (this machine has no hardware PMU, so no events of its own)",
		       event);
}

static int find_platform(struct search *s, const struct cpc_machine *m, struct err *why)
{
	struct err unknown = { 0 };
	int rc = find_raw(s, m, why);

	if (!rc)
		rc = find_sysfs(s, m, s->spec->event, why);
	if (!rc)
		rc = find_pfm(s, m, &unknown, why);
	return rc ? rc : unknown_event(s->t, m, s->spec, &unknown, why);
}

/* The source, and for a platform's event (m given) the attributes that its PMU has. */
static const char *event_describe(struct search *s, const struct cpc_machine *m)
{
	const struct k_pmu *p = m ? pmu_of(m, &s->ev[0]) : NULL;
	const char **v, *text;
	struct buf b = { 0 };
	uint32_t n = 0;

	if (p && k_pmu_names(s->t->opts.sysfs, p, true, &s->t->arena, &v, &n) < 0)
		return NULL;
	buf_puts(&b, s->source);
	for (uint32_t i = 0; i < n; i++)
		buf_printf(&b, "%s%s", i ? " " : "; attributes: ", v[i]);
	text = b.failed ? NULL : arena_strdup(&s->t->arena, b.p);
	buf_free(&b);
	return text;
}

int cpc_event(struct probes *t, const struct cpc_spec *spec, struct cpc_found *ret, struct err *why)
{
	const struct event *ev = event_find(spec->event), *real = ev ? event_real(ev) : NULL;
	bool preset = ev && ev->kind == EVENT_PRESET;
	struct search s = { .t = t, .spec = spec };
	struct cpc_machine *m = NULL;
	int rc = ev ? refuse_attrs(spec, why) : 0;

	/* A script of software events should not pay for reading about PMUs. */
	if (rc >= 0 && !(real && real->kind == EVENT_SW))
		rc = event_read_machine(t, &m, why);
	if (rc < 0)
		return rc;
	rc = real ? find_generic(&s, m, real, why) : ev ? find_preset(&s, m, why) : find_platform(&s, m, why);
	if (rc < 0)
		return rc;
	ret->ev = arena_alloc(&t->arena, s.n * sizeof(*ret->ev));
	ret->source =
		preset ? arena_printf(&t->arena, "%s: %s", ev->text, s.source) : event_describe(&s, ev ? NULL : m);
	if (!ret->ev || !ret->source)
		return event_refuse_nomem(why);
	memcpy(ret->ev, s.ev, s.n * sizeof(*ret->ev));
	ret->n = s.n;
	ret->has_data = real ? (real->flags & EVENT_DATA) != 0 : m && !m->has_ibs && spec->has_precise && spec->precise;
	return 0;
}
