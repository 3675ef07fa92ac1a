/*
 * list.c: -l and the stability reports of -v, as dtrace(1) prints them; behind them
 * each row of the provider's stability table, and where the event comes from.
 *
 * A probe's stability is the least of its provider's, of its name's, and of
 * module and function where it has one: dtrace_cpc.txt gives cpc's, whose
 * dependency class comes from the name alone (CPU), as module and function are
 * empty.
 */
#include <string.h>

#include "session/session_int.h"

static const char indent[] = "\t\t";

static struct stability stability_least(struct stability a, struct stability b)
{
	return (struct stability){
		.name = a.name < b.name ? a.name : b.name,
		.data = a.data < b.data ? a.data : b.data,
		.dep = a.dep < b.dep ? a.dep : b.dep,
	};
}

static struct stability of_probe(const struct probe *p)
{
	struct stability s = stability_least(p->prov->provider, p->prov->names);

	if (*p->mod)
		s = stability_least(s, p->prov->module);
	if (*p->func)
		s = stability_least(s, p->prov->function);
	return s;
}

static void print_stability(struct buf *to, const char *title, struct stability s)
{
	buf_printf(to, "\n\t%s\n%sIdentifier Names: %s\n%sData Semantics:   %s\n%sDependency Class: %s\n", title,
		   indent, stab_text(s.name), indent, stab_text(s.data), indent, dep_text(s.dep));
}

/* The rows of a provider's stability table (dtrace_cpc.txt has cpc's), each as `#pragma D attributes` writes it. */
static void print_elements(struct buf *to, const struct provider *p)
{
	const struct {
		const char *name;
		struct stability s;
	} rows[] = {
		{ "Provider", p->provider }, { "Module", p->module },  { "Function", p->function },
		{ "Name", p->names },        { "Arguments", p->args },
	};

	buf_puts(to, "\n\tStability\n");
	for (size_t i = 0; i < COUNT(rows); i++)
		buf_printf(to, "%s%-10s %s/%s/%s\n", indent, rows[i].name, stab_text(rows[i].s.name),
			   stab_text(rows[i].s.data), dep_text(rows[i].s.dep));
}

/* brief: as dtrace(1) does, which has neither the table nor the source. */
static void print_verbose(struct buf *to, const struct probe *p, bool brief)
{
	const struct d_args *a;
	uint32_t n = 0;

	print_stability(to, "Probe Description Attributes", of_probe(p));
	print_stability(to, "Argument Attributes", p->prov->args);
	buf_puts(to, "\n\tArgument Types\n");
	for (; (a = probe_args(p, n)) != NULL; n++) {
		buf_printf(to, "%sargs[%u]: %s%s\n", indent, n, a->value ? a->value : a->name, a->value ? "" : " *");
		for (uint32_t i = 0; i < a->nfields; i++)
			buf_printf(to, "%s\t%s %s\n", indent, a->field[i].type, a->field[i].name);
	}
	if (!n)
		buf_printf(to, "%sNone\n", indent);
	if (!brief)
		print_elements(to, p->prov);
	if (!brief && p->source)
		buf_printf(to, "\n\tSource\n%s%s\n", indent, p->source);
	buf_putc(to, '\n');
}

/* "key":"prov:mod:func:name" */
static void list_json_probe(struct buf *to, const char *key, const struct probe *p)
{
	struct buf b = { 0 };

	probe_text(&b, p);
	buf_printf(to, "\"%s\":", key);
	buf_json_str(to, b.p ? b.p : "", b.n);
	to->failed |= b.failed;
	buf_free(&b);
}

static void json_stability(struct buf *to, const char *key, struct stability s)
{
	buf_printf(to, ",\"%s\":{\"names\":\"%s\",\"data\":\"%s\",\"class\":\"%s\"}", key, stab_text(s.name),
		   stab_text(s.data), dep_text(s.dep));
}

static void json_elements(struct buf *to, const struct provider *p)
{
	json_stability(to, "provider_stability", p->provider);
	json_stability(to, "module_stability", p->module);
	json_stability(to, "function_stability", p->function);
	json_stability(to, "name_stability", p->names);
}

static void json_args(struct buf *to, const struct probe *p)
{
	const struct d_args *a;

	buf_puts(to, ",\"args\":[");
	for (uint32_t n = 0; (a = probe_args(p, n)) != NULL; n++) {
		buf_printf(to, "%s{\"type\":\"%s\",\"members\":[", n ? "," : "", a->value ? a->value : a->name);
		for (uint32_t i = 0; i < a->nfields; i++)
			buf_printf(to, "%s{\"name\":\"%s\",\"type\":\"%s\"}", i ? "," : "", a->field[i].name,
				   a->field[i].type);
		buf_puts(to, "]}");
	}
	buf_putc(to, ']');
}

static void list_json(struct buf *to, const struct probe *p, bool verbose)
{
	buf_printf(to, "{\"type\":\"probe\",\"id\":%u,", p->id);
	list_json_probe(to, "probe", p);
	if (verbose) {
		json_stability(to, "stability", of_probe(p));
		json_stability(to, "arguments", p->prov->args);
		json_elements(to, p->prov);
		json_args(to, p);
		if (p->source) {
			buf_puts(to, ",\"source\":");
			buf_json_str(to, p->source, strlen(p->source));
		}
	}
	buf_puts(to, "}\n");
}

static int list_probe(struct tally_trace *t, uint32_t id, bool verbose)
{
	const struct probe *p = probes_get(t->probes, id);

	if (t->emit.ops->programs) {
		list_json(&t->out, p, verbose);
	} else {
		an_list_row(&t->out, p->id, p->prov_name, p->mod, p->func, p->name);
		if (verbose)
			print_verbose(&t->out, p, t->o.flags & TALLY_TRACE_COMPAT && p->prov->has_places);
	}
	return trace_flush_some(t);
}

/* A file of records, or a platform with a hypervisor, has no events of this machine. */
static bool can_fire(const struct tally_trace *t, const struct probe *p)
{
	return !t->records || (p->arm != ARM_EVENT && !p->prov->has_places);
}

static int list_all(struct tally_trace *t, bool verbose)
{
	int rc = probes_offer(t->probes, &t->err);

	for (uint32_t id = 1; rc >= 0 && id <= probes_count(t->probes); id++)
		if (can_fire(t, probes_get(t->probes, id)) && !probes_get(t->probes, id)->by_name)
			rc = list_probe(t, id, verbose);
	return rc;
}

/* Clause by clause, as dtrace(1) does: a probe that two clauses name is listed twice. */
static int list_program(struct tally_trace *t, bool verbose)
{
	int rc = 0;

	for (uint32_t c = 0; rc >= 0 && c < t->prog->nclauses; c++)
		for (uint32_t i = 0; rc >= 0 && i < t->prog->clause[c].nprobes; i++)
			rc = list_probe(t, t->prog->clause[c].probes[i], verbose);
	return rc;
}

void list_note_unmatched(struct tally_trace *t, const struct d_probedesc *d, const struct err *reason)
{
	if (t->unmatched.code)
		trace_note(t, "%s", t->unmatched.text);
	t->unmatched = (struct err){ 0 };
	err_set(&t->unmatched, TALLY_ENOPROBE, "failed to match %s:%s:%s:%s: No probe matches description", d->prov,
		d->mod, d->func, d->name);
	t->why = *reason;
}

int list_probes(struct tally_trace *t, bool verbose)
{
	int rc = 0;

	t->listing = true;
	if (!t->prog && t->nsrc)
		rc = compile_sources(t);
	else if (!t->probes)
		rc = open_probes(t);
	if (rc >= 0 && !t->emit.ops->programs)
		an_list_header(&t->out);
	if (rc >= 0)
		rc = t->prog ? list_program(t, verbose) : list_all(t, verbose);
	if (t->stage == ST_OPEN)
		compile_undo(t);
	if (rc >= 0 && t->unmatched.code && !t->opt.v[OPT_zdefs]) {
		t->err = t->unmatched;
		rc = -t->err.code;
	}
	t->listing = false;
	return rc < 0 ? trace_fail(t, -rc, "%s", tally_strerror(rc)) : 0;
}

/* ---- the report of -v -------------------------------------------------------------- */

/* D's own names are stable; arguments are what their provider says. */
static struct stability of_statements(const struct tally_trace *t, const struct d_clause *c)
{
	struct stability s = { STAB_STABLE, STAB_STABLE, DEP_COMMON };

	for (uint32_t i = 0; i < c->nins; i++)
		if ((c->ins[i].op == IR_BUILTIN && c->ins[i].x >= BI_ARG0) || c->ins[i].op == IR_ARGS ||
		    c->ins[i].op == IR_ARGLOAD)
			for (uint32_t p = 0; p < c->nprobes; p++)
				s = stability_least(s, probes_get(t->probes, c->probes[p])->prov->args);
	return s;
}

static void report_source(struct tally_trace *t, uint32_t source)
{
	struct stability probes = { STAB_STANDARD, STAB_STANDARD, DEP_COMMON }, statements = probes;

	for (uint32_t c = 0; c < t->prog->nclauses; c++) {
		const struct d_clause *cl = &t->prog->clause[c];

		if (cl->source != source)
			continue;
		for (uint32_t i = 0; i < cl->nprobes; i++)
			probes = stability_least(probes, of_probe(probes_get(t->probes, cl->probes[i])));
		statements = stability_least(statements, of_statements(t, cl));
	}
	buf_printf(&t->out, "\nStability attributes for %s %s:\n", t->src[source].name ? "script" : "description",
		   t->src[source].label);
	print_stability(&t->out, "Minimum Probe Description Attributes", probes);
	print_stability(&t->out, "Minimum Statement Attributes", statements);
	buf_putc(&t->out, '\n');
}

int list_report(struct tally_trace *t)
{
	for (uint32_t s = 0; s < t->nsrc; s++)
		report_source(t, s);
	return 0;
}
