/*
 * find_hv.c: what hypervisors and PCIe devices have, and the models that stand in for them.
 *
 * These are the names of the tables, wherever it is; what the platform of --on has of it and grants, find_here.c asks.
 */
#include <stdio.h>
#include <string.h>

#include "ask/find_int.h"

/* ---- registers ----------------------------------------------------------------------------- */

static void add_slots(struct find *f, const struct here *h)
{
	for (size_t i = 0; i < MMUSTAT_SLOTS; i++) {
		const char *side = mmustat_slots[i].side ? "dmmu" : "immu";

		find_add(f, &(struct found){ .name = side,
					     .of = "mmustat",
					     .code = arena_text(&f->words, "0x%03x", mmustat_slots[i].at),
					     .here = h->word ? h->word : "yes",
					     .use = arena_text(&f->words, "mmustat/%s/", side),
					     .text = arena_text(&f->words, "hits and ticks of %s pages, context %s",
								mmustat_slots[i].size,
								mmustat_slots[i].context ? "not 0" : "0") });
	}
}

static const char *what_register(struct find *f, const struct vf_reg *r)
{
	switch ((enum vf_class)r->cls) {
	case VF_SPARC_PCR:
		return "control of a strand's two counters";
	case VF_L2_CR:
		return "selects the class of L2 misses to count";
	case VF_MCU_PCR:
	case VF_ZAM_PCR:
		return arena_text(&f->words, "control: selects two %s events", vf_eventset_name[vf_events_of(r)]);
	case VF_MCU_PIC:
		return "two counts of 31 bits";
	case VF_ZAM_PIC0:
	case VF_ZAM_PIC1:
		return "a count of 64 bits";
	}
	return "";
}

static void add_registers(struct find *f, const struct here *h)
{
	for (uint32_t i = 0; i < VF_REGS; i++) {
		const struct vf_reg *r = &vf_regs[i];
		char name[24];

		vf_lower(name, r->name);
		find_add(f, &(struct found){ .name = name,
					     .of = "vfalls",
					     .code = arena_text(&f->words, "%u", r->number),
					     .here = here_register(h, i),
					     .use = arena_text(&f->words, "vfalls/%s/", name),
					     .also = r->local ? arena_text(&f->words, "local 0x%llx, global 0x%llx",
									   (unsigned long long)r->local,
									   (unsigned long long)r->global) :
								"",
					     .text = what_register(f, r) });
	}
}

int find_registers(struct find *f)
{
	struct here vfalls, mmustat;
	int rc = here_vfalls(f, &vfalls);

	if (rc >= 0)
		rc = here_mmustat(f, &mmustat);
	if (rc < 0)
		return rc;
	add_registers(f, &vfalls);
	add_slots(f, &mmustat);
	return 0;
}

/* ---- requests and their fields ------------------------------------------------------------------- */

static const char *request_text(struct find *f, const struct gpci_request *r)
{
	return gpci_key(r) ? arena_text(&f->words, "%s; a record for each %s", r->text, gpci_key(r)) :
			     arena_text(&f->words, "%s; one record", r->text);
}

static void add_fields(struct find *f, const struct gpci_request *r, const char *here)
{
	for (uint32_t k = 0; k < r->nfields; k++) {
		const struct gpci_field *d = &r->field[k];

		find_add(f, &(struct found){ .name = arena_text(&f->words, "%s/%s", r->name, d->name),
					     .of = "gpci",
					     .code = arena_text(&f->words, "+0x%x", d->offset),
					     .here = here,
					     .use = arena_text(&f->words, "gpci/%s,%s/", r->name, d->name),
					     .also = r->linux_name && d->linux_name ?
							     arena_text(&f->words, "hv_gpci/%s_%s/", r->linux_name,
									d->linux_name) :
							     "",
					     .text = *d->text ? d->text : d->unit });
	}
}

int find_requests(struct find *f)
{
	const struct gpci_request *r;
	const char *here;
	struct here h;
	int rc = here_gpci(f, &h);

	for (uint32_t i = 0; rc >= 0 && (r = gpci_request_at(i)) != NULL; i++) {
		if (i && gpci_request_at(i - 1)->number == r->number)
			continue; /* another layout of the same */
		here = here_request(&h, r);
		find_add(f, &(struct found){ .name = r->name,
					     .of = "gpci",
					     .code = arena_text(&f->words, "0x%x", r->number),
					     .here = here,
					     .use = arena_text(&f->words, "gpci/%s/", r->name),
					     .also = r->title,
					     .text = request_text(f, r) });
		/* All of them are hundreds: people ask for them. */
		if (f->pattern || f->verbose)
			add_fields(f, gpci_request_find(r->name), here);
	}
	return rc;
}

/* ---- tunables --------------------------------------------------------------------------------------- */

int find_tunables(struct find *f)
{
	struct here h;
	int rc = here_ptt(f, &h);

	for (unsigned t = 0; rc >= 0 && t < PTT_TUNES; t++) {
		const struct ptt_tunable *is = &ptt_tunables[t];

		find_add(f, &(struct found){ .name = is->name,
					     .of = "ptt",
					     .code = arena_text(&f->words, "0x%x", is->code),
					     .here = here_tunable(&h, (enum ptt_tune)t),
					     .use = arena_text(&f->words, "hisi_ptt0_2/%s", is->name),
					     .also = is->alias,
					     .text = arena_text(&f->words, "%s: 0, 1, 2; reset value %u", is->text,
								is->reset) });
	}
	return rc;
}

/* ---- machines, loads, views ----------------------------------------------------------------------------- */

static const char *load_of(const struct plat_row *m, uint32_t i, const char **text)
{
	const struct kunpeng_load *k;

	if (m->keys != PLAT_KUNPENG)
		return model_load(m->name, i, text);
	k = kunpeng_load_at(i);
	*text = k ? k->text : "";
	return k ? k->name : NULL;
}

int find_machines(struct find *f)
{
	const struct plat_row *m;

	for (uint32_t i = 0; (m = plat_row(i)) != NULL; i++) {
		struct buf keys = { 0 };
		const char *key;

		for (uint32_t k = 0; m->is == PLAT_MODEL && (key = plat_key(m, k)) != NULL; k++)
			buf_printf(&keys, "%s%s=", k ? " " : "", key);
		if (m->is == PLAT_MODEL)
			find_add(f, &(struct found){ .name = m->name,
						     .here = "yes",
						     .use = arena_text(&f->words, "--on %s", m->name),
						     .also = keys.p,
						     .text = f->verbose ? m->text :
									  arena_text(&f->words, "%s; keys %s", m->text,
										     keys.p ? keys.p : "") });
		f->words.failed |= keys.failed;
		buf_free(&keys);
	}
	return 0;
}

int find_loads(struct find *f)
{
	const struct plat_row *m;
	const char *name, *text;

	for (uint32_t i = 0; (m = plat_row(i)) != NULL; i++) {
		/* Of names, where --on says of which model, those. */
		if (m->is != PLAT_MODEL || (f->each && f->p->on.row->is == PLAT_MODEL && f->p->on.row != m))
			continue;
		for (uint32_t k = 0; (name = load_of(m, k, &text)) != NULL; k++)
			find_add(f, &(struct found){ .name = name,
						     .of = m->name,
						     .use = arena_text(&f->words, "--on %s --load %s", m->name, name),
						     .text = text });
	}
	return 0;
}

int find_views(struct find *f)
{
	const char *name, *text;
	struct here h;
	int rc = here_gpci(f, &h);

	for (uint32_t i = 0; rc >= 0 && (name = tally_stat_view(i, &text)) != NULL; i++)
		find_add(f, &(struct found){ .name = name,
					     .of = "gpci",
					     .here = here_view(&h, i),
					     .use = arena_text(&f->words, "tally stat --on power --view %s", name),
					     .text = text });
	return rc;
}

/* ---- what completion offers ------------------------------------------------------------------------------ */

/* How a name is written where it is read, each once: of the families that the platform has, or may have. */
static void each_use(void *arg, const char *name)
{
	struct find *f = arg;

	if (strcmp(f->last, name)) {
		f->each(f->arg, name);
		f->last = arena_text(&f->words, "%s", name);
	}
}

static void add_uses(struct find *f, uint8_t family, int (*walk)(struct find *f), const char *of)
{
	const uint8_t keys = f->p->on.row->keys;
	struct find uses = { .p = f->p, .each = each_use, .arg = f, .uses = of };

	f->last = "";
	if (!keys || keys & family)
		walk(&uses);
	f->words.failed |= uses.words.failed;
	arena_free(&uses.words);
}

static void add_mmustat_uses(struct find *f)
{
	add_uses(f, PLAT_NIAGARA, find_registers, "mmustat");
	if (!f->p->on.row->keys || f->p->on.row->keys == PLAT_NIAGARA)
		f->each(f->arg, "mmustat/all/");
}

int find_selectors(struct find *f)
{
	add_uses(f, PLAT_POWER, find_requests, "gpci");
	add_uses(f, PLAT_VFALLS, find_registers, "vfalls");
	add_mmustat_uses(f);
	return 0;
}

static int find_counting_requests(struct find *f)
{
	const struct gpci_request *r;

	for (uint32_t i = 0; (r = gpci_request_at(i)) != NULL; i++)
		if (gpci_counts(r))
			find_add(f, &(struct found){ .of = "gpci", .use = arena_text(&f->words, "gpci/%s/", r->name) });
	return 0;
}

/* An event of a unit, not a register. */
static int find_counting_units(struct find *f)
{
	const struct vf_event *v;
	char unit[24];

	for (uint32_t i = 0; i < VF_REGS; i++) {
		if (!pick_unit_name(unit, &vf_regs[i]))
			continue;
		for (uint32_t k = 0; (v = vf_event_at(k)) != NULL; k++)
			if (v->set == vf_events_of(&vf_regs[i]) && strcmp(v->name, "none") != 0)
				find_add(f, &(struct found){ .of = "vfalls",
							     .use = arena_text(&f->words, "vfalls/%s,event=%s/", unit,
									       v->name) });
	}
	return 0;
}

/* CPU events are this machine's. */
int find_countable(struct find *f)
{
	int rc = f->p->on.row->keys ? 0 : find_events(f);

	if (rc < 0)
		return rc;
	add_uses(f, PLAT_POWER, find_counting_requests, "gpci");
	add_uses(f, PLAT_VFALLS, find_counting_units, "vfalls");
	add_mmustat_uses(f);
	return 0;
}

/* "load=" with what it may be, of the others the name alone: what goes behind --on NAME and a comma. */
int find_keys(struct find *f)
{
	const struct plat_row *m = f->p->on.row;
	const char *key, *name, *text;

	for (uint32_t k = 0; (key = plat_key(m, k)) != NULL; k++) {
		if (strcmp(key, "load"))
			f->each(f->arg, arena_text(&f->words, "%s=", key));
		for (uint32_t i = 0; !strcmp(key, "load") && (name = load_of(m, i, &text)) != NULL; i++)
			f->each(f->arg, arena_text(&f->words, "load=%s", name));
	}
	return 0;
}

int find_terms(struct find *f)
{
	static const char *const all[] = { "type=p",      "type=np",     "type=cpl",   "direction=0", "direction=1",
					   "direction=2", "direction=3", "format=4dw", "format=8dw" };
	const struct ptt_pmu *d;
	uint32_t n;
	int rc = plat_ptt_list(f->p, &d, &n);

	for (uint32_t i = 0; rc >= 0 && i < n; i++) {
		for (uint32_t k = 0; k < d[i].nfilters; k++)
			f->each(f->arg, arena_text(&f->words, "%s/filter=%s", d[i].name, d[i].filter[k].name));
		for (size_t k = 0; k < COUNT(all); k++)
			f->each(f->arg, arena_text(&f->words, "%s/%s", d[i].name, all[k]));
	}
	return rc;
}
