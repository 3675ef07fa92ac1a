/*
 * get_hv.c: registers, records and MMU statistics, once; registers and MMCRH set.
 *
 * A model starts with its handle, and then there is little to see; so before the first
 * reading it runs for a while (opts.run_ns), with MMU statistics on.
 *
 * Raw is the bytes of the answer, as hexadecimal digits: of gpci the first reply, which
 * holds what fits.  A file of them is a platform (transport_file.c).
 */
#include <stdio.h>
#include <string.h>

#include "ask/ask_int.h"

#define RUN_POWER_NS UINT64_C(1000000000) /* 100 windows of its dispatcher */
#define RUN_SUN4V_NS UINT64_C(10000000)
#define BYTES_A_LINE 32u

struct get {
	struct tally_platform *p;
	bool raw;
	const void **kind; /* of the last table */
};

static void get_put_hex(struct buf *to, const uint8_t *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		buf_printf(to, "%02x%s", p[i], i + 1 == n || i % BYTES_A_LINE == BYTES_A_LINE - 1 ? "\n" : "");
}

/* Rows of a table that may go on from the selector before. */
static void get_put_table(struct get *g, struct an_rows *t, const void *kind)
{
	t->goes_on = true;
	t->apart = *g->kind;
	if (an_rows_put(&g->p->emit, t, *g->kind != kind))
		*g->kind = kind;
	an_rows_free(t);
}

/* A model has run before it is read. */
static int run_model(struct tally_platform *p, struct hv_transport *l)
{
	uint64_t ns = p->o.run_ns ? p->o.run_ns : l->op && l->op->papr ? RUN_POWER_NS : RUN_SUN4V_NS;
	struct sun4v_client *c;
	struct err e = { 0 };
	int rc = 0;

	if (p->on.row->is != PLAT_MODEL || p->has_run)
		return 0;
	p->has_run = true;
	if (l->op->sun4v)
		rc = hv_client_of(p, "mmustat", &c);
	for (uint32_t i = 0; rc >= 0 && i < l->strands && l->kind->mmustat; i++)
		rc = mmustat_start(c, i, &e);
	if (rc < 0)
		return hv_failed(p, rc, &e);
	(void)hv_pass(l, ns, NULL);
	return 0;
}

/* ---- vfalls ------------------------------------------------------------------------------------- */

static bool is_register(const struct sel *s, uint32_t number, const char *name)
{
	uint64_t n;

	return text_u64(s->name, &n) ? n == number : text_glob(s->name, name);
}

static int no_register(struct tally_platform *p, const struct sel *s)
{
	char lower[VF_REGS][24];
	const char *name[VF_REGS];
	uint64_t n;

	if (text_u64(s->name, &n))
		return plat_fail(p, TALLY_EINVAL, "%s: register out of range (valid: 0 to %u)", s->text, VF_REGS - 1);
	for (uint32_t i = 0; i < VF_REGS; i++) {
		vf_lower(lower[i], vf_regs[i].name);
		name[i] = lower[i];
	}
	return plat_fail(p, TALLY_EINVAL, "%s: unknown register '%s'%s", s->text, s->name,
			 err_unknown(s->name, TEXT_NAMES(name, VF_REGS), "; 'tally list vfalls%s' shows them", p->asked)
				 .text);
}

static int vf_sel(struct tally_platform *p, const struct sel *s, struct sun4v_client **c, uint64_t *cpu)
{
	static const char *const keys[] = { "cpu", NULL };
	int rc = hv_client_of(p, "vfalls", c);

	*cpu = rc >= 0 ? sun4v_client_home(*c) : 0;
	if (rc >= 0)
		rc = sel_keys_are(s, keys, &p->err);
	if (rc >= 0)
		rc = pick_strand_of(p, &p->transport, s, cpu);
	return rc;
}

struct vf_value {
	const struct vf_reg *r;
	uint64_t cpu, value;
	bool has_cpu;
	const char *name;
};

/* People read what `set` takes. */
static void vf_put_assignment(struct an_emit *e, const struct an_rows *t, const struct an_cell *row)
{
	const struct vf_value *v = t->arg;
	char cpu[32] = "";

	if (v->has_cpu)
		snprintf(cpu, sizeof(cpu), ",cpu=%llu/", (unsigned long long)v->cpu);
	buf_printf(e->to, "vfalls/%s%s=0x%llx%s%s\n", v->name, cpu, (unsigned long long)v->value, *row[4].s ? "  " : "",
		   row[4].s);
}

static void vf_put(struct get *g, struct vf_value *v)
{
	static const struct an_column col[] = { { "name", "REGISTER", AN_TEXT },
						{ "number", "NO", AN_COUNT },
						{ "cpu", "CPU", AN_COUNT },
						{ "value", "VALUE", AN_HEX },
						{ "fields", "FIELDS", AN_TEXT } };
	static const struct an_layout assignment = { .row = vf_put_assignment };
	struct an_rows t = { .type = "register", .col = col, .ncols = COUNT(col), .text = &assignment, .arg = v };
	struct buf fields = { 0 };
	uint8_t bytes[8];

	vf_fields(v->r, v->value, &fields);
	be64_put(bytes, v->value);
	if (g->raw)
		get_put_hex(&g->p->out, bytes, sizeof(bytes));
	else
		an_rows_add(&t, (struct an_cell[]){ AN_S(v->name), AN_U(v->r->number), AN_U(v->cpu), AN_U(v->value),
						    AN_S(fields.p ? fields.p : "") });
	get_put_table(g, &t, col);
	g->p->out.failed |= fields.failed;
	buf_free(&fields);
}

/* A model's counter of what it does not model stays where it is. Registers that select nothing of SPARC's are 0. */
static void note_unmodelled(struct tally_platform *p, const char *name, const struct vf_reg *control, uint64_t value,
			    uint32_t pic)
{
	const struct sun4v_kind *kind = hv_kind(p, &p->transport);
	const uint32_t code = vf_selected(control, value, pic);

	if (control->cls == VF_L2_CR || (control->cls == VF_SPARC_PCR && !code) || !kind)
		return;
	if (!niagara_models(kind, vf_events_of(control), (uint16_t)code))
		plat_note(p, "%s: event %u (0x%x) is not modelled: its counter does not change", name, pic, code);
}

/* Of a control register both selections, of a counter its own. */
static void note_selected(struct tally_platform *p, struct sun4v_client *c, uint32_t cpu, const char *name,
			  const struct vf_reg *r, uint64_t value)
{
	uint32_t pic;
	const struct vf_reg *control = vf_control_of(r, &pic);

	if (control != r && vf_get(c, cpu, control->number, &value, NULL) < 0)
		return;
	if (r->cls != VF_ZAM_PIC1)
		note_unmodelled(p, name, control, value, 0);
	if (r->cls != VF_ZAM_PIC0)
		note_unmodelled(p, name, control, value, 1);
}

/* Of several registers those that may not be read are said; of one alone that is an error. */
static int get_vfalls(struct get *g, const struct sel *s)
{
	struct tally_platform *p = g->p;
	struct sun4v_client *c;
	uint32_t found = 0, read = 0;
	struct err first = { 0 };
	uint64_t cpu;
	int last = 0, rc = vf_sel(p, s, &c, &cpu);
	bool has_cpu = rc > 0;

	for (uint32_t i = 0; rc >= 0 && i < VF_REGS; i++) {
		struct vf_value v = { .r = &vf_regs[i], .cpu = cpu, .has_cpu = has_cpu };
		struct err e = { 0 };
		char name[24];
		int is;

		vf_lower(name, vf_regs[i].name);
		if (!is_register(s, i, name))
			continue;
		found++;
		v.name = name;
		is = vf_get(c, (uint32_t)cpu, i, &v.value, &e);
		if (is >= 0) {
			read++;
			vf_put(g, &v);
			note_selected(p, c, (uint32_t)cpu, name, v.r, v.value);
			continue;
		}
		last = is;
		(void)err_set(&first, (enum tally_err) - is, "%s", e.text);
	}
	if (rc < 0)
		return rc;
	if (!found)
		return no_register(p, s);
	if (!read)
		return hv_failed(p, last, &first);
	if (read < found)
		plat_note(p, "%s: %u of %u could not be read: %s", s->text, found - read, found, first.text);
	return 0;
}

/* ---- mmustat -------------------------------------------------------------------------------------- */

const char *const mm_size_name[] = { "8K", "64K", "4M", "256M" };

static void mm_raw(struct buf *to, const struct mmustat *m)
{
	uint8_t b[MMUSTAT_BYTES] = { 0 };

	for (uint32_t d = 0; d < 2; d++)
		for (uint32_t x = 0; x < 2; x++)
			for (uint32_t s = 0; s < MMUSTAT_SIZES; s++) {
				be64_put(b + mmustat_slot(d, x, (enum mmustat_size)s), m->at[d][x][s].hits);
				be64_put(b + mmustat_slot(d, x, (enum mmustat_size)s) + 8, m->at[d][x][s].ticks);
			}
	get_put_hex(to, b, sizeof(b));
}

static void mm_rows(struct an_rows *t, const struct mmustat *m, struct an_cell cpu, bool side[2])
{
	for (uint32_t d = 0; d < 2; d++)
		for (uint32_t x = 0; side[d] && x < 2; x++)
			for (uint32_t s = 0; s < MMUSTAT_SIZES; s++)
				an_rows_add(t,
					    (struct an_cell[]){ cpu, AN_S(d ? "dmmu" : "immu"), AN_S(x ? "not 0" : "0"),
								AN_S(mm_size_name[s]), AN_U(m->at[d][x][s].hits),
								AN_U(m->at[d][x][s].ticks) });
}

int mm_sides(struct tally_platform *p, const struct sel *s, bool side[2])
{
	static const char *const names[] = { "immu", "dmmu", "all" };

	side[0] = !strcmp(s->name, "all") || !strcmp(s->name, "immu") || !*s->name;
	side[1] = !strcmp(s->name, "all") || !strcmp(s->name, "dmmu") || !*s->name;
	if (side[0] || side[1])
		return 0;
	return plat_fail(p, TALLY_EINVAL, "%s: invalid name '%s'%s", s->text, s->name,
			 err_unknown(s->name, TEXT_NAMES(names, COUNT(names)), " (expected immu, dmmu or all)").text);
}

static const struct an_column mm_col[] = {
	{ "cpu", "CPU", AN_COUNT },   { "side", "SIDE", AN_TEXT },  { "context", "CONTEXT", AN_TEXT },
	{ "size", "PAGES", AN_TEXT }, { "hits", "HITS", AN_COUNT }, { "ticks", "TICKS", AN_COUNT },
};

/* A strand's statistics as they are, 1; 0: there is no such strand for us: another guest's, or offline. */
static int mm_read(struct sun4v_client *c, const struct hv_transport *l, uint32_t strand, struct mmustat *ret,
		   struct err *e)
{
	struct err none = { 0 };
	int rc = mmustat_read(c, strand, ret, &none);

	if (rc >= 0)
		return 1;
	if (rc != -TALLY_ESTATE)
		return err_set(e, (enum tally_err) - rc, "%s", none.text);
	*ret = (struct mmustat){ 0 }; /* of a buffer that is only just given */
	if (l->op->mmustat || !sun4v_client_has(c, strand))
		return 0;
	rc = mmustat_start(c, strand, e);
	return rc < 0 ? rc : 1;
}

/* Whether nothing is collected there, of statistics that are somebody else's to turn on. */
static bool is_off(const struct hv_transport *l, uint32_t strand)
{
	uint64_t o[6] = { [5] = SUN4V_MMUSTAT_INFO };

	return l->op->mmustat && l->op->sun4v(l->arg, strand, HV_FAST_TRAP, o, NULL) == 0 && o[0] == HV_EOK && !o[1];
}

/* What of n strands is not there, and where nothing is collected. */
static int mm_notes(struct tally_platform *p, const struct sel *s, uint32_t n, uint32_t absent, uint32_t off)
{
	if (absent == n)
		return plat_fail(p, TALLY_EBUSY,
				 n == 1 ? "%s: the strand belongs to another guest, or is offline" :
					  "%s: all strands belong to other guests",
				 s->text);
	if (absent)
		plat_note(p, "%s: %u of %u strands belong to other guests, or are offline", s->text, absent, n);
	if (off)
		plat_note(p, "%s: collection is off on %u of these strands; 'tally stat' turns it on while it runs",
			  s->text, off);
	return 0;
}

static int mm_strands(struct get *g, const struct sel *s, struct an_rows *t, bool side[2])
{
	struct tally_platform *p = g->p;
	struct sun4v_client *c;
	struct err e = { 0 };
	uint64_t cpu = 0;
	uint32_t off = 0, absent = 0;
	int rc = hv_client_of(p, "mmustat", &c), one = rc < 0 ? rc : pick_strand_of(p, &p->transport, s, &cpu);

	if (one < 0)
		return one;
	for (uint32_t i = (uint32_t)cpu; i < (one ? cpu + 1 : p->transport.strands); i++) {
		struct mmustat m;

		rc = mm_read(c, &p->transport, i, &m, &e);
		if (rc < 0)
			return hv_failed(p, rc, &e);
		absent += rc == 0;
		if (rc == 0)
			continue;
		off += is_off(&p->transport, i);
		if (g->raw)
			mm_raw(&p->out, &m);
		else
			mm_rows(t, &m, AN_U(i), side);
	}
	return mm_notes(p, s, one ? 1 : p->transport.strands, absent, off);
}

static int get_mmustat(struct get *g, const struct sel *s)
{
	static const char *const keys[] = { "cpu", NULL };
	struct an_rows t = { .type = "mmustat", .col = mm_col, .ncols = COUNT(mm_col) };
	struct tally_platform *p = g->p;
	struct mmustat m;
	bool side[2];
	int rc = mm_sides(p, s, side);

	if (rc >= 0)
		rc = sel_keys_are(s, keys, &p->err);
	if (rc >= 0 && p->file.is_mmustat) {
		mmustat_decode(p->file.mmustat, &m);
		if (g->raw)
			mm_raw(&p->out, &m);
		else
			mm_rows(&t, &m, AN_NONE, side);
	} else if (rc >= 0) {
		rc = mm_strands(g, s, &t, side);
	}
	if (rc < 0 || g->raw)
		an_rows_free(&t);
	else
		get_put_table(g, &t, mm_col);
	return rc;
}

/* ---- gpci ------------------------------------------------------------------------------------------ */

static bool is_picked(const struct gpci_pick *k, const struct gpci_values *v)
{
	return (k->index < 0 || v->id == (uint64_t)k->index) &&
	       (k->secondary < 0 || v->secondary == (uint64_t)k->secondary);
}

static void value_text(struct buf *to, const struct gpci_field *f, uint64_t v)
{
	if (gpci_is_none(f, v))
		buf_printf(to, "  %-24s %20s\n", f->name, "-");
	else if (f->flags & GPCI_F_HEX)
		buf_printf(to, "  %-24s %#20llx\n", f->name, (unsigned long long)v);
	else if (f->flags & GPCI_F_STATE)
		buf_printf(to, "  %-24s %20s\n", f->name, gpci_state_name(v));
	else
		buf_printf(to, "  %-24s %20llu%s%s\n", f->name, (unsigned long long)v, *f->unit ? " " : "", f->unit);
}

static bool has_field(const struct tally_platform *p, const struct gpci_pick *k, uint32_t i)
{
	const struct gpci_field *f = &k->r->field[i];

	return f->since <= p->transport.level && (k->field < 0 || k->field == (int32_t)i || f->flags & GPCI_F_ID);
}

/* What is picked of a request's records, and the next of them that people are shown. */
struct gpci_records {
	struct get *g;
	const struct gpci_pick *k;
	const struct gpci_table *all;
	uint32_t next;
};

/* People read one field a line: a record has more of them than a terminal has columns. */
static void record_put_lines(struct an_emit *out, const struct an_rows *t, const struct an_cell *row)
{
	struct gpci_records *r = t->arg;
	const struct gpci_pick *k = r->k;
	const struct gpci_values *v;
	struct buf *to = out->to;

	(void)row;
	while (!is_picked(k, &r->all->v[r->next]))
		r->next++;
	v = &r->all->v[r->next++];
	buf_printf(to, "%s", k->r->name);
	if (gpci_key(k->r))
		buf_printf(to, " %s=%llu", gpci_key(k->r), (unsigned long long)v->id);
	if (k->r->index == GPCI_BY_VP)
		buf_printf(to, " vp=%llu", (unsigned long long)v->secondary);
	buf_putc(to, '\n');
	for (uint32_t i = 0; i < k->r->nfields; i++)
		if (has_field(r->g->p, k, i))
			value_text(to, &k->r->field[i], v->v[i]);
	for (uint32_t i = 0; i < v->nelements && k->field < 0; i++) {
		const struct gpci_element *e = &v->element[i];

		buf_printf(to, "  domain %u.%-15u %8u dedicated, %u shared (1/100 cores), %u LMBs\n", e->primary,
			   e->secondary, e->units[0], e->units[1], e->units[2]);
	}
}

/* How many are picked. */
static uint32_t record_rows(struct get *g, const struct gpci_pick *k, const struct gpci_table *all)
{
	static const struct an_layout lines = { .row = record_put_lines };
	struct gpci_records records = { .g = g, .k = k, .all = all };
	struct an_column col[GPCI_FIELDS_MOST + 1] = { { "request", "REQUEST", AN_TEXT } };
	struct an_rows t = { .type = "gpci", .col = col, .ncols = 1, .text = &lines, .arg = &records };
	uint32_t picked = 0;

	for (uint32_t i = 0; i < k->r->nfields; i++)
		if (has_field(g->p, k, i))
			col[t.ncols++] = (struct an_column){ k->r->field[i].name, k->r->field[i].name, AN_COUNT };
	for (uint32_t n = 0; n < all->n; n++) {
		struct an_cell cell[GPCI_FIELDS_MOST + 1] = { AN_S(k->r->name) };
		uint32_t at = 1;

		if (!is_picked(k, &all->v[n]))
			continue;
		picked++;
		for (uint32_t i = 0; i < k->r->nfields; i++)
			if (has_field(g->p, k, i))
				cell[at++] =
					gpci_is_none(&k->r->field[i], all->v[n].v[i]) ? AN_NONE : AN_U(all->v[n].v[i]);
		an_rows_add(&t, cell);
	}
	get_put_table(g, &t, k->r);
	return picked;
}

static void element_rows(struct get *g, const struct gpci_pick *k, const struct gpci_table *all)
{
	static const struct an_column col[] = {
		{ "request", "REQUEST", AN_TEXT },         { "partition", "PARTITION", AN_COUNT },
		{ "primary_domain", "PRIMARY", AN_COUNT }, { "secondary_domain", "SECONDARY", AN_COUNT },
		{ "dedicated", "DEDICATED", AN_COUNT },    { "shared", "SHARED", AN_COUNT },
		{ "memory", "MEMORY", AN_COUNT },
	};
	struct an_rows t = { .type = "gpci_domain", .col = col, .ncols = COUNT(col) };

	for (uint32_t n = 0; n < all->n; n++)
		for (uint32_t i = 0; is_picked(k, &all->v[n]) && i < all->v[n].nelements; i++) {
			const struct gpci_element *e = &all->v[n].element[i];

			an_rows_add_for(&t, AN_FOR_PROGRAMS,
					(struct an_cell[]){ AN_S(k->r->name), AN_U(all->v[n].id), AN_U(e->primary),
							    AN_U(e->secondary), AN_U(e->units[0]), AN_U(e->units[1]),
							    AN_U(e->units[2]) });
		}
	get_put_table(g, &t, col);
}

static int put_records(struct get *g, const struct sel *s, const struct gpci_pick *k, const struct gpci_table *all)
{
	if (!record_rows(g, k, all)) {
		if (!all->n)
			return plat_fail(g->p, TALLY_EINVAL, "%s: the request returned no record", s->text);
		return plat_fail(g->p, TALLY_EINVAL, "%s: no such %s (valid: %llu to %llu)", s->text, gpci_key(k->r),
				 (unsigned long long)all->v[0].id, (unsigned long long)all->v[all->n - 1].id);
	}
	element_rows(g, k, all);
	return 0;
}

/* The first reply, as it came. */
static int gpci_raw(struct get *g, const struct gpci_pick *k)
{
	struct hv_transport *l = &g->p->transport;
	uint64_t r[3] = { PAPR_GPCI, l->base, GPCI_MOST };
	struct gpci_reply rep;
	struct gpci_values v;
	struct err e = { 0 };
	size_t n = GPCI_HEADER;
	int rc;

	gpci_ask(l->memory, GPCI_MOST, k->r->number, k->index == -2 ? (gpci_key(k->r) ? 0 : -1) : (int32_t)k->index,
		 k->secondary < 0 ? 0 : (uint16_t)k->secondary, k->r->to == UINT8_MAX ? 8 : 0);
	rc = l->op->papr(l->arg, 0, r, &e);
	if (rc >= 0 && (int64_t)r[0] == H_AUTHORITY)
		return plat_fail(g->p, TALLY_EPERM, "%s: not permitted to this partition (H_Authority)", k->r->name);
	if (rc >= 0 && (int64_t)r[0] != H_SUCCESS && (int64_t)r[0] != H_PARAMETER)
		return plat_fail(g->p, TALLY_ENOTSUP, "%s: the hypervisor returned %lld", k->r->name, (long long)r[0]);
	if (rc >= 0)
		rc = gpci_reply(&rep, l->memory, GPCI_MOST, &e);
	for (uint32_t i = 0; rc >= 0 && i < rep.returned; i++) {
		rc = gpci_record(k->r, &rep, i, &v, &e);
		if (rc >= 0)
			n += gpci_record_bytes(k->r, &v);
	}
	if (rc < 0)
		return hv_failed(g->p, rc, &e);
	get_put_hex(&g->p->out, l->memory, n < GPCI_MOST ? n : GPCI_MOST);
	return 0;
}

static int get_gpci(struct get *g, const struct sel *s)
{
	struct gpci_table all = { 0 };
	struct gpci_pick k;
	struct hv_transport *l;
	struct err e = { 0 };
	bool own = false;
	int rc = hv_power_of(g->p, &l);

	if (rc >= 0)
		rc = gpci_pick(g->p, l, s, &k);
	if (rc < 0)
		return rc;
	if (!strcmp(k.r->name, "mmcrh"))
		return plat_fail(g->p, TALLY_EINVAL, "%s is write-only; gpci/hpmc/ shows its value", s->text);
	if (l->relative && gpci_counts(k.r))
		return plat_fail(g->p, TALLY_ENOTSUP,
				 "%s: the kernel reports only the growth of its counters: "
				 "use 'tally stat -e gpci/%s/'",
				 k.r->name, k.r->name);
	if (g->raw)
		return gpci_raw(g, &k);
	rc = k.index == -1 ? gpci_read(&all, l, k.r, -1, &e) : gpci_all(&all, l, k.r, &own, &e);
	if (rc < 0)
		return hv_failed(g->p, rc, &e);
	if (own)
		plat_note(g->p, "%s: this partition is permitted to read only its own record", s->text);
	rc = put_records(g, s, &k, &all);
	gpci_table_free(&all);
	return rc;
}

/* ---- get ---------------------------------------------------------------------------------------------- */

static int has_provider(struct tally_platform *p, enum sel_provider provider, struct hv_transport **l)
{
	struct sun4v_client *c;
	int rc = hv_transport_of(p, l);

	if (rc < 0 || (provider == SEL_MMUSTAT && p->file.is_mmustat))
		return rc;
	if (provider == SEL_GPCI || provider == SEL_HV_GPCI)
		return hv_power_of(p, l);
	return hv_client_of(p, provider == SEL_MMUSTAT ? "mmustat" : "vfalls", &c);
}

int hv_get(struct tally_platform *p, const char *s, size_t n, bool raw, const void **kind)
{
	struct get g = { .p = p, .raw = raw, .kind = kind };
	struct hv_transport *l;
	struct sel sel;
	int rc = sel_parse(&sel, s, n, p->asked, &p->err);

	if (rc >= 0)
		rc = has_provider(p, sel.provider, &l);
	if (rc >= 0)
		rc = run_model(p, l);
	if (rc < 0)
		return rc;
	switch (sel.provider) {
	case SEL_VFALLS:
		return get_vfalls(&g, &sel);
	case SEL_MMUSTAT:
		return get_mmustat(&g, &sel);
	default:
		return get_gpci(&g, &sel);
	}
}

/* ---- set ---------------------------------------------------------------------------------------------- */

static int one_register(struct tally_platform *p, const struct sel *s, uint32_t *ret)
{
	for (uint32_t i = 0; i < VF_REGS; i++) {
		char name[24];
		uint64_t n;

		vf_lower(name, vf_regs[i].name);
		if (text_u64(s->name, &n) ? n == i : !strcmp(s->name, name)) {
			*ret = i;
			return 0;
		}
	}
	return no_register(p, s);
}

static int set_vfalls(struct tally_platform *p, const struct sel *s, uint64_t value)
{
	struct sun4v_client *c;
	struct err e = { 0 };
	uint64_t cpu, now;
	uint32_t reg = 0;
	int rc = vf_sel(p, s, &c, &cpu);

	if (rc >= 0)
		rc = one_register(p, s, &reg);
	if (rc < 0)
		return rc;
	rc = vf_set(c, (uint32_t)cpu, reg, value, &e);
	if (rc < 0)
		return hv_failed(p, rc, &e);
	if (value & ~vf_regs[reg].mask && vf_get(c, (uint32_t)cpu, reg, &now, &e) >= 0)
		plat_note(p, "%s is now 0x%llx: the other bits are reserved", s->text, (unsigned long long)now);
	note_selected(p, c, (uint32_t)cpu, s->text, &vf_regs[reg], value & vf_regs[reg].mask);
	plat_note_not_kept(p);
	return 0;
}

static int set_gpci(struct tally_platform *p, const struct sel *s, uint64_t value)
{
	struct hv_transport *l;
	struct err e = { 0 };
	int rc = hv_power_of(p, &l);

	if (rc >= 0 && strcmp(s->name, "mmcrh"))
		rc = plat_fail(p, TALLY_EINVAL, "%s is read-only; gpci/mmcrh can be set", s->text);
	if (rc < 0)
		return rc;
	rc = gpci_set_mmcrh(l, value, &e);
	if (rc < 0)
		return hv_failed(p, rc, &e);
	plat_note(p, "MMCRH becomes 0x%llx at the next collection, and counting restarts; gpci/hpmc/ shows it",
		  (unsigned long long)value);
	plat_note_not_kept(p);
	return 0;
}

int hv_set(struct tally_platform *p, const char *s, size_t n, const char *value)
{
	uint64_t v = UINT64_MAX;
	struct sel sel;
	int rc = sel_parse(&sel, s, n, p->asked, &p->err);

	if (rc < 0)
		return rc;
	if (strcmp(value, "-1") && !text_u64(value, &v))
		return plat_fail(p, TALLY_EINVAL,
				 "%s: invalid value '%s' (expected a number, e.g. 0x1f, or -1 for all bits)", sel.text,
				 value);
	if (sel.provider == SEL_VFALLS)
		return set_vfalls(p, &sel, v);
	if (sel.provider == SEL_MMUSTAT)
		return plat_fail(p, TALLY_EINVAL, "%s is read-only: it is a counter of the hypervisor", sel.text);
	return set_gpci(p, &sel, v);
}
