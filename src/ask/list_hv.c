/*
 * list_hv.c: what the interfaces of hypervisors have: registers, events,
 * slots, requests and fields, and what of it this platform and these rights allow.
 *
 * All names come from the tables that the service and the readers are made of.  What is
 * allowed is asked, not computed: each register is read once, each request asked for a record
 * that can't exist, which an allowed one answers differently than a forbidden one.
 */
#include <stdio.h>
#include <string.h>

#include "ask/ask_int.h"
#include "kernel/hv_gpci.h"

static bool is_wanted(const struct list_hv *l, const char *name)
{
	return !l->pattern || text_glob(l->pattern, name);
}

/* A table's rows are out: an empty line between two tables of text. */
static void list_put_table(struct list_hv *l, struct an_rows *t)
{
	t->apart = l->rows;
	if (an_rows_put(&l->p->emit, t, true))
		l->rows += t->n / t->ncols;
	an_rows_free(t);
}

const char *hv_why_not(int rc)
{
	return rc == -TALLY_EPERM   ? "no right" :
	       rc == -TALLY_ENOTSUP ? "not here" :
	       rc == -TALLY_EBUSY   ? "busy" :
	       rc == -TALLY_ESTATE  ? "by index" :
				      "error";
}

/* ---- vfalls: registers -------------------------------------------------------------------------- */

static const char *list_register_where(struct an_rows *t, const struct vf_reg *r)
{
	if (r->cls == VF_SPARC_PCR)
		return "own strand";
	if (r->cls == VF_L2_CR)
		return "own node";
	return arena_text(&t->words, r->cls >= VF_ZAM_PCR ? "chip %u" : "node %u", r->node);
}

static const char *list_register_selects(struct an_rows *t, const struct vf_reg *r)
{
	switch ((enum vf_class)r->cls) {
	case VF_SPARC_PCR:
	case VF_MCU_PCR:
	case VF_ZAM_PCR:
		return arena_text(&t->words, "2 %s events", vf_eventset_name[vf_events_of(r)]);
	case VF_L2_CR:
		return "class of L2 misses";
	case VF_MCU_PIC:
		return "counts, 2 x 31 bits";
	case VF_ZAM_PIC0:
	case VF_ZAM_PIC1:
		return "count, 64 bits";
	}
	return "";
}

static struct an_cell list_address_cell(uint64_t a)
{
	return a ? AN_U(a) : AN_NONE;
}

static int list_registers(struct list_hv *l)
{
	static const struct an_column col[] = {
		{ "number", "NO", AN_COUNT },  { "name", "REGISTER", AN_TEXT }, { "where", "OF", AN_TEXT },
		{ "group", "GROUP", AN_TEXT }, { "local", "LOCAL", AN_HEX },    { "global", "GLOBAL", AN_HEX },
		{ "mask", "BITS", AN_HEX },    { "access", "ACCESS", AN_TEXT }, { "holds", "HOLDS", AN_TEXT },
		{ "why", "WHY NOT", AN_TEXT },
	};
	struct an_rows t = {
		.type = "register", .col = col, .ncols = COUNT(col), .text_skips = l->verbose ? 0 : 1u << 6 | 1u << 9
	};
	struct sun4v_client *c;
	int rc = hv_client_of(l->p, "vfalls", &c);

	if (rc >= 0 && l->p->transport.kind->mmustat)
		rc = plat_fail(l->p, TALLY_ENOTSUP, "%s has no Victoria Falls registers; the model '--on batoka' has",
			       l->p->name);
	for (uint32_t i = 0; rc >= 0 && i < VF_REGS; i++) {
		const struct vf_reg *r = &vf_regs[i];
		struct err e = { 0 };
		char name[24];
		int is;

		vf_lower(name, r->name);
		if (!is_wanted(l, name))
			continue;
		is = vf_probe(c, sun4v_client_home(c), i, &e);
		an_rows_add(&t,
			    (struct an_cell[]){ AN_U(i), AN_S(name), AN_S(list_register_where(&t, r)), AN_S(r->group),
						list_address_cell(r->local), list_address_cell(r->global),
						AN_U(r->mask), AN_S(is < 0 ? hv_why_not(is) : "yes"),
						AN_S(list_register_selects(&t, r)), is < 0 ? AN_S(e.text) : AN_NONE });
	}
	list_put_table(l, &t);
	return rc;
}

/* ---- vfalls: events -------------------------------------------------------------------------------- */

static void list_events(struct list_hv *l)
{
	static const struct an_column col[] = {
		{ "set", "OF", AN_TEXT },     { "name", "EVENT", AN_TEXT },        { "code", "CODE", AN_HEX },
		{ "emask", "EMASK", AN_HEX }, { "modelled", "MODELLED", AN_FLAG }, { "text", "WHAT", AN_TEXT },
	};
	const struct sun4v_kind *kind = hv_kind(l->p, &l->p->transport);
	struct an_rows t = { .type = "event",
			     .col = col,
			     .ncols = COUNT(col),
			     .text_skips = (l->verbose ? 0 : 1u << 3) | (kind ? 0 : 1u << 4) };
	const struct vf_event *v;

	for (uint32_t i = 0; (v = vf_event_at(i)) != NULL; i++)
		if (is_wanted(l, v->name))
			an_rows_add(&t,
				    (struct an_cell[]){ AN_S(vf_eventset_name[v->set]), AN_S(v->name), AN_U(v->code),
							v->emask ? AN_U(v->emask) : AN_NONE,
							kind ? AN_U(niagara_models(kind, v->set, v->code)) : AN_NONE,
							AN_S(v->text) });
	list_put_table(l, &t);
}

static void list_loads(struct list_hv *l)
{
	static const struct an_column col[] = { { "name", "LOAD", AN_TEXT }, { "text", "WHAT", AN_TEXT } };
	struct an_rows t = { .type = "load", .col = col, .ncols = COUNT(col) };
	const char *name, *text;

	for (uint32_t i = 0;
	     l->p->on.row->is == PLAT_MODEL && (name = model_load(l->p->on.row->name, i, &text)) != NULL; i++)
		if (is_wanted(l, name))
			an_rows_add(&t, (struct an_cell[]){ AN_S(name), AN_S(text) });
	list_put_table(l, &t);
}

int hv_list_vfalls(struct list_hv *l)
{
	int rc = list_registers(l);

	if (rc < 0)
		return rc;
	list_events(l);
	list_loads(l);
	return 0;
}

/* ---- mmustat ------------------------------------------------------------------------------------------ */

int hv_list_mmustat(struct list_hv *l)
{
	static const struct an_column col[] = {
		{ "side", "SIDE", AN_TEXT },   { "context", "CONTEXT", AN_TEXT }, { "size", "PAGES", AN_TEXT },
		{ "hits", "HITS AT", AN_HEX }, { "ticks", "TICKS AT", AN_HEX },   { "selector", "SELECTOR", AN_TEXT },
	};
	struct an_rows t = { .type = "slot", .col = col, .ncols = COUNT(col) };
	struct sun4v_client *c;
	const bool saved = l->p->on.path && !l->p->on.row->ptt;
	int rc = saved ? 0 : hv_client_of(l->p, "mmustat", &c);

	if (rc >= 0 && !saved && !l->p->transport.kind->mmustat)
		rc = plat_fail(l->p, TALLY_ENOTSUP, "%s has no MMU statistics; the model '--on niagara' has",
			       l->p->name);
	for (uint32_t i = 0; rc >= 0 && i < MMUSTAT_SLOTS; i++) {
		const char *side = mmustat_slots[i].side ? "dmmu" : "immu";

		if (is_wanted(l, side) || is_wanted(l, mmustat_slots[i].size))
			an_rows_add(&t, (struct an_cell[]){
						AN_S(side), AN_S(mmustat_slots[i].context ? "not 0" : "0"),
						AN_S(mmustat_slots[i].size), AN_U(mmustat_slots[i].at),
						AN_U(mmustat_slots[i].at + 8),
						AN_S(mmustat_slots[i].side ? "mmustat/dmmu/" : "mmustat/immu/") });
	}
	list_put_table(l, &t);
	if (rc >= 0)
		list_loads(l);
	return rc;
}

/* ---- gpci ----------------------------------------------------------------------------------------------- */

static const char *right_name(const struct gpci_request *r)
{
	static const char *const name[] = {
		[GPCI_FREE] = "anybody",
		[GPCI_OWN_FREE] = "own: anybody; all",
		[GPCI_OWN_EXPANDED] = "own: anybody; all+expanded",
		[GPCI_ALL] = "all",
		[GPCI_EXPANDED] = "all+expanded",
		[GPCI_LAB] = "lab",
	};

	return name[r->right];
}

/* Of all its layouts. */
static const char *list_request_levels(struct an_rows *t, const struct gpci_request *r)
{
	const struct gpci_request *s;
	uint8_t since = r->since;

	for (uint32_t i = 0; (s = gpci_request_at(i)) != NULL; i++)
		if (s->number == r->number && s->since < since)
			since = s->since;
	return r->until == UINT8_MAX ? arena_text(&t->words, "%u-", since) :
				       arena_text(&t->words, "%u-%u", since, r->until);
}

/* Setting MMCRH can't be tried: the capabilities say. */
static int may_set(struct hv_transport *transport, struct err *e)
{
	struct gpci_table t;
	int rc = transport->relative ? err_set(e, TALLY_ENOTSUP, "mmcrh: the kernel cannot set it") :
				       gpci_read(&t, transport, gpci_request_find("capabilities"), -1, e);

	if (rc < 0)
		return rc;
	rc = t.n && t.v[0].v[1] & 0x20 ?
		     0 :
		     err_set(e, TALLY_EPERM, "mmcrh: not permitted to this partition (no LAB right)");
	gpci_table_free(&t);
	return rc;
}

/* 0, 1: its own record only; or why not. */
static int list_request_allowed(struct hv_transport *transport, const struct gpci_request *r, struct err *e)
{
	struct gpci_table t;
	struct err own = { 0 };
	int rc;

	if (!gpci_request(r->number, transport->level, 8))
		return err_set(e, TALLY_ENOTSUP, "%s: not in firmware level %u", r->name, transport->level);
	if (!strcmp(r->name, "mmcrh"))
		return may_set(transport, e);
	rc = gpci_read(&t, transport, r, r->index == GPCI_BY_NOTHING ? -1 : INT32_MAX, e);
	if (rc >= 0)
		gpci_table_free(&t);
	if (rc == -TALLY_EPERM && gpci_read(&t, transport, r, -1, &own) >= 0) {
		gpci_table_free(&t);
		return 1;
	}
	return rc == -TALLY_EINVAL ? 0 : rc;
}

/* What may be done: of a kernel's counters it is known how much they grow, not what they are. */
const char *hv_request_access(struct tally_platform *p, const struct gpci_request *r, struct err *e)
{
	const int is = list_request_allowed(&p->transport, r, e);

	if (is < 0)
		return hv_why_not(is);
	*e = (struct err){ 0 };
	if (is)
		return "own only";
	return p->transport.relative && gpci_counts(r) ? "to count" : "yes";
}

static bool is_first_layout(uint32_t i)
{
	return !i || gpci_request_at(i - 1)->number != gpci_request_at(i)->number;
}

static void list_requests(struct list_hv *l)
{
	static const struct an_column col[] = {
		{ "number", "NUMBER", AN_HEX }, { "name", "REQUEST", AN_TEXT },  { "by", "BY", AN_TEXT },
		{ "bytes", "BYTES", AN_COUNT }, { "levels", "LEVELS", AN_TEXT }, { "right", "RIGHT", AN_TEXT },
		{ "title", "TITLE", AN_TEXT },  { "linux", "LINUX", AN_TEXT },   { "access", "HERE", AN_TEXT },
		{ "why", "WHY NOT", AN_TEXT },
	};
	struct an_rows t = {
		.type = "request", .col = col, .ncols = COUNT(col), .text_skips = 1u << 6 | 1u << 7 | 1u << 9
	};
	const struct gpci_request *r;

	for (uint32_t i = 0; (r = gpci_request_at(i)) != NULL; i++) {
		struct err e = { 0 };
		const char *access;

		if (!is_first_layout(i) || !(is_wanted(l, r->name) || is_wanted(l, r->title)))
			continue;
		r = gpci_layout(l->p, &l->p->transport, gpci_request_find(r->name));
		access = hv_request_access(l->p, r, &e);
		an_rows_add(&t,
			    (struct an_cell[]){ AN_U(r->number), AN_S(r->name), AN_S(gpci_key(r) ? gpci_key(r) : "-"),
						AN_U(r->size), AN_S(list_request_levels(&t, r)), AN_S(right_name(r)),
						AN_S(r->title), r->linux_name ? AN_S(r->linux_name) : AN_NONE,
						AN_S(access), *e.text ? AN_S(e.text) : AN_NONE });
	}
	list_put_table(l, &t);
}

/* Of all requests that is a hundred rows and more: people ask for them. */
static void list_fields(struct list_hv *l)
{
	const enum an_for whose = l->verbose || l->pattern ? AN_FOR_ALL : AN_FOR_PROGRAMS;
	static const struct an_column col[] = {
		{ "request", "REQUEST", AN_TEXT }, { "name", "FIELD", AN_TEXT },  { "offset", "AT", AN_HEX },
		{ "bytes", "BYTES", AN_COUNT },    { "kind", "KIND", AN_TEXT },   { "unit", "UNIT", AN_TEXT },
		{ "since", "SINCE", AN_COUNT },    { "linux", "LINUX", AN_TEXT }, { "text", "WHAT", AN_TEXT },
	};
	struct an_rows t = {
		.type = "field", .col = col, .ncols = COUNT(col), .text_skips = l->verbose ? 0 : 1u << 6 | 1u << 7
	};
	const struct gpci_request *r;

	for (uint32_t i = 0; (r = gpci_request_at(i)) != NULL; i++) {
		if (!is_first_layout(i) || !(is_wanted(l, r->name) || is_wanted(l, r->title)))
			continue;
		r = gpci_layout(l->p, &l->p->transport, gpci_request_find(r->name));
		for (uint32_t k = 0; k < r->nfields; k++) {
			const struct gpci_field *f = &r->field[k];
			const char *kind = f->flags & GPCI_F_ID      ? "id" :
					   f->flags & GPCI_F_COUNTER ? "counter" :
								       "value";
			const char *event = r->linux_name && f->linux_name ?
						    arena_text(&t.words, "%s_%s", r->linux_name, f->linux_name) :
						    NULL;

			an_rows_add_for(&t, whose,
					(struct an_cell[]){ AN_S(r->name), AN_S(f->name), AN_U(f->offset),
							    AN_U(f->bytes), AN_S(kind), AN_S(f->unit), AN_U(f->since),
							    event ? AN_S(event) : AN_NONE, AN_S(f->text) });
		}
	}
	list_put_table(l, &t);
}

/* ---- gpci: the kernel's PMU ---------------------------------------------------------------------------- */

static const char *kernel_rights(struct an_rows *t, const struct k_gpci_about *a)
{
	const char *s = arena_text(&t->words, "%s%s%s%s", a->collect_privileged ? " all" : "", a->ga ? " general" : "",
				   a->expanded ? " expanded" : "", a->lab ? " lab" : "");

	return *s ? s + 1 : "none";
}

static void list_formats(struct list_hv *l, const struct k_gpci_about *a)
{
	static const struct an_column col[] = { { "name", "FORMAT", AN_TEXT }, { "place", "BITS", AN_TEXT } };
	struct an_rows t = { .type = "format", .col = col, .ncols = COUNT(col) };

	for (uint32_t i = 0; i < a->nformats; i++)
		an_rows_add(&t, (struct an_cell[]){ AN_S(a->format[i].name), AN_S(a->format[i].place) });
	list_put_table(l, &t);
}

static int list_pmu(struct list_hv *l)
{
	static const struct an_column col[] = {
		{ "name", "PMU", AN_TEXT },
		{ "perf_type", "TYPE", AN_COUNT },
		{ "cpus", "CPUS", AN_TEXT },
		{ "version", "FIRMWARE", AN_COUNT },
		{ "kernel_version", "KERNEL KNOWS", AN_COUNT },
		{ "events", "EVENTS", AN_COUNT },
		{ "rights", "RIGHTS", AN_TEXT },
	};
	struct an_rows t = { .type = "pmu", .col = col, .ncols = COUNT(col) };
	struct k_gpci_about a;
	struct err e = { 0 };
	int rc = k_gpci_about(&a, l->p->sysfs, &e);

	if (rc < 0)
		return hv_failed(l->p, rc, &e);
	if (is_wanted(l, "hv_gpci"))
		an_rows_add(&t,
			    (struct an_cell[]){ AN_S("hv_gpci"), AN_U(a.type), AN_S(a.cpus), AN_U(a.version),
						AN_U(a.kernel_version), AN_U(a.nevents), AN_S(kernel_rights(&t, &a)) });
	list_put_table(l, &t);
	if (l->verbose && !l->pattern)
		list_formats(l, &a);
	return 0;
}

int hv_list_gpci(struct list_hv *l)
{
	struct hv_transport *transport;
	int rc = hv_power_of(l->p, &transport);

	if (rc >= 0 && transport->relative)
		rc = list_pmu(l);
	if (rc < 0)
		return rc;
	list_requests(l);
	list_fields(l);
	list_loads(l);
	return 0;
}
