/*
 * gpci.c: probes that fire for the records of H_GetPerformanceCounterInfo (papr_gpci.txt).
 *
 *	gpci:::REQUEST-INTERVAL     every record of the request, in ascending order
 *
 * All probes of one request share their args[0], so they may share a clause.
 */
#include <string.h>

#include "provider/hv_record.h"
#include "provider/provider_int.h"

/* What a probe is about. */
struct gpci_probe {
	const struct gpci_request *request; /* as this firmware lays it out */
	const struct d_args *args;
};

static const struct gpci_probe *gpci_of(const struct probe *p)
{
	return p->data;
}

/* ---- names ------------------------------------------------------------------------------------- */

static const struct gpci_request *gpci_request_named(const char *word)
{
	const struct gpci_request *r, *found = NULL;

	for (uint32_t i = 0; (r = gpci_request_at(i)) != NULL; i++)
		if (!strcmp(r->name, word))
			found = r;
	return found;
}

static int gpci_no_request(const char *word, struct err *why)
{
	const char *names[64];
	const struct gpci_request *r;
	uint32_t n = 0;

	for (; n < COUNT(names) && (r = gpci_request_at(n)) != NULL; n++)
		names[n] = r->name;
	return prov_misspelt("request", word, TEXT_NAMES(names, n), why);
}

/* The layout that this platform answers with. */
static const struct gpci_request *gpci_layout_here(const struct hv_transport *l, const struct gpci_request *r)
{
	const struct gpci_request *here = gpci_request(r->number, l->level, UINT8_MAX);

	return here ? here : r;
}

/* Whether the request is answered at all: asked for the record that is the asker's own. That there is none is no
 * refusal. */
static int gpci_request_refused(struct hv_transport *l, const struct gpci_request *r, struct err *why)
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

static void args_put_rows(struct d_field **at, const struct d_field *rows, size_t n)
{
	memcpy(*at, rows, n * sizeof(*rows));
	*at += n;
}

static bool args_put_fields(struct arena *a, struct d_field **at, const struct gpci_request *r)
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

static const struct d_args *gpci_args_make(struct arena *a, const struct gpci_request *r)
{
	struct d_field *f = arena_alloc(a, (COUNT(gpci_common) + COUNT(gpci_domain) + 2 * r->nfields) * sizeof(*f)),
		       *at = f;
	struct d_args *args = arena_alloc(a, sizeof(*args));
	const char *name = arena_printf(a, "struct gpci_%s", r->name);

	if (!f || !args || !name)
		return NULL;
	args_put_rows(&at, gpci_common, COUNT(gpci_common));
	if (!args_put_fields(a, &at, r))
		return NULL;
	if (r->number == GPCI_REQUEST_affinity_by_partition) /* a record has a row for each domain */
		args_put_rows(&at, gpci_domain, COUNT(gpci_domain));
	*args = (struct d_args){
		.name = name, .field = f, .nfields = (uint32_t)(at - f), .base = 0, .size = sizeof(struct gpci_context)
	};
	return args;
}

/* Another probe's of the same request, or new ones. */
static const struct gpci_probe *gpci_probe_of(struct probes *t, const struct gpci_request *r)
{
	struct gpci_probe *mine;

	for (uint32_t id = 1; id <= probes_count(t); id++) {
		const struct probe *p = probes_get(t, id);

		if (p->prov == &prov_gpci && p->data && gpci_of(p)->request == r)
			return gpci_of(p);
	}
	mine = arena_alloc(&t->arena, sizeof(*mine));
	if (!mine)
		return NULL;
	*mine = (struct gpci_probe){ .request = r, .args = gpci_args_make(&t->arena, r) };
	return mine->args ? mine : NULL;
}

static struct probe *gpci_make_probe(struct probes *t, const char *name, const struct gpci_request *r, uint64_t ns,
				     struct err *why)
{
	const struct gpci_probe *data = gpci_probe_of(t, r);
	const char *source =
		arena_printf(&t->arena, "H_GetPerformanceCounterInfo, request 0x%x: %s", r->number, r->title);
	struct probe *p = data && source ? sample_make_probe(t, &prov_gpci, name, ns, why) : NULL;

	if (!p) {
		err_oom(why);
		return NULL;
	}
	p->data = data;
	p->source = source;
	return p;
}

static int gpci_name(struct probes *t, const char *name, int (*add)(void *arg, uint32_t id), void *arg, struct err *why)
{
	struct hv_transport *l = t->opts.transport;
	const struct gpci_request *r;
	char word[SAMPLE_WORD];
	const char *text;
	uint64_t ns;
	int rc;

	if (!sample_cut_interval(name, word, &text))
		return gpci_request_named(name) ? sample_no_interval(name, name, why) : gpci_no_request(name, why);
	r = gpci_request_named(word);
	if (!r)
		return gpci_no_request(word, why);
	if (!l || !l->op->papr)
		return sample_no_platform(t, &prov_gpci, name, why);
	if (r == gpci_request_named("mmcrh"))
		return err_set(why, TALLY_ENOPROBE,
			       "mmcrh is write-only (tally set gpci/mmcrh=VALUE); hpmc has its value");
	rc = prov_interval(text, &ns, why);
	r = gpci_layout_here(l, r);
	if (rc >= 0)
		rc = gpci_request_refused(l, r, why);
	return rc < 0 ? rc : sample_added(gpci_make_probe(t, name, r, ns, why), add, arg);
}

static int gpci_offer(struct probes *t, struct err *e)
{
	const struct hv_transport *l = t->opts.transport;
	const struct gpci_request *r;
	int rc = 0;

	for (uint32_t i = 0; l && l->op->papr && rc >= 0 && (r = gpci_request_at(i)) != NULL; i++)
		rc = sample_offer(t, &prov_gpci, r->name, e);
	return rc;
}

static int gpci_why_none(const struct probes *t, const struct d_probedesc *d, struct err *why)
{
	const struct hv_transport *l = t->opts.transport;

	(void)d;
	return sample_why_none(&prov_gpci, l && l->op->papr, why);
}

static const struct d_args *gpci_args(const struct probe *p, uint32_t index)
{
	return index ? NULL : gpci_of(p)->args;
}

static int gpci_readable(const struct probe *p, struct hv_transport *transport, struct sun4v_client *sun4v,
			 struct err *e)
{
	(void)sun4v;
	return gpci_request_refused(transport, gpci_layout_here(transport, gpci_of(p)->request), e);
}

/* ---- readings ------------------------------------------------------------------------------------ */

/* That there is no record now is fine. */
static int gpci_read_all(const struct sample *s, struct gpci_table *ret, struct err *e)
{
	struct err why = { 0 };
	bool own;
	int rc = gpci_all(ret, s->reader->transport, gpci_of(s->probe)->request, &own, &why);

	return rc >= 0 || rc == -TALLY_EINVAL ? 0 : err_set(e, (enum tally_err) - rc, "%s", why.text);
}

static int gpci_begin(struct sample *s, struct err *e)
{
	s->last = mem_alloc(sizeof(struct gpci_table));
	return s->last ? gpci_read_all(s, s->last, e) : err_oom(e);
}

static int gpci_fire(struct sample *s, uint64_t ns, struct err *e)
{
	struct gpci_table *last = s->last, now = { 0 };
	struct gpci_context c = { 0 };
	int rc = gpci_read_all(s, &now, e);

	for (uint32_t i = 0; rc >= 0 && i < now.n; i++) {
		const struct gpci_values *v = &now.v[i], *before = gpci_table_find(last, v->id, v->secondary);

		for (uint32_t k = 0; rc >= 0 && k < (v->nelements ? v->nelements : 1); k++) {
			gpci_context_fill(&c, gpci_of(s->probe)->request, ns, v, before, k);
			rc = s->reader->take(s->reader->arg, s->prog, &c, sizeof(c));
		}
	}
	if (rc < 0) {
		gpci_table_free(&now);
		return rc;
	}
	gpci_table_free(last);
	*last = now;
	return 0;
}

static void gpci_end(struct sample *s)
{
	if (s->last)
		gpci_table_free(s->last);
	mem_free(s->last);
	s->last = NULL;
}

const struct provider prov_gpci = {
	.name = "gpci",
	.help = "records of a POWER hypervisor: partitions, processors, links",
	.model = "power",
	PROV_EVOLVING(DEP_PLATFORM),
	.name_probe = gpci_name,
	.offer = gpci_offer,
	.why_none = gpci_why_none,
	.args_of = gpci_args,
	.begin = gpci_begin,
	.fire = gpci_fire,
	.end = gpci_end,
	.readable = gpci_readable,
};
