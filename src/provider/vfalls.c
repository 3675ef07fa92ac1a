/*
 * vfalls.c: probes that fire for the performance registers of Victoria Falls (vf_perf_api.txt).
 *
 *	vfalls:::sample-INTERVAL    every register that may be read, as it is
 *	vfalls:::EVENT-INTERVAL     every unit that counts the event, which is selected for it
 *
 * What may be read no more than once in a while (a busy register) is left out and told at the end.
 */
#include <stdio.h>
#include <string.h>

#include "machine/niagara.h"
#include "provider/hv_record.h"
#include "provider/provider_int.h"

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
#undef FIELD
static const struct d_args vf_args = { .name = "struct vfalls_register",
				       .field = vf_members,
				       .nfields = COUNT(vf_members),
				       .base = 0,
				       .size = sizeof(struct vf_context) };

static bool vfalls_is_event(const char *word)
{
	const struct vf_event *e;

	for (uint32_t i = 0; (e = vf_event_at(i)) != NULL; i++)
		if (!strcmp(e->name, word) && strcmp(word, "none"))
			return true;
	return false;
}

static int vfalls_no_event(const char *word, struct err *why)
{
	const char *names[160] = { "sample" };
	const struct vf_event *e;
	uint32_t n = 1;

	for (; n < COUNT(names) && (e = vf_event_at(n - 1)) != NULL; n++)
		names[n] = e->name;
	return prov_misspelt("event", word, TEXT_NAMES(names, n), why);
}

/* Whether one register at least may be read; for an event, one that selects it. Of a strand's own it is no call that
 * counts. */
static int vfalls_register_unreadable(struct sun4v_client *c, const char *event, struct err *why)
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

static struct probe *vfalls_make_probe(struct probes *t, const char *name, const char *event, uint64_t ns,
				       struct err *why)
{
	const char *word = event ? arena_strdup(&t->arena, event) : NULL;
	struct probe *p = word || !event ? sample_make_probe(t, &prov_vfalls, name, ns, why) : NULL;

	if (!p) {
		err_oom(why);
		return NULL;
	}
	p->data = word;
	p->source = event ? "performance registers, the event selected" : "performance registers as they are";
	return p;
}

static int vfalls_name(struct probes *t, const char *name, int (*add)(void *arg, uint32_t id), void *arg,
		       struct err *why)
{
	struct sun4v_client *c = t->opts.sun4v;
	char word[SAMPLE_WORD];
	const char *text, *event;
	uint64_t ns;
	int rc;

	if (!sample_cut_interval(name, word, &text))
		return vfalls_is_event(name) || !strcmp(name, "sample") ? sample_no_interval(name, name, why) :
									  vfalls_no_event(name, why);
	event = strcmp(word, "sample") ? word : NULL;
	if (event && !vfalls_is_event(event))
		return vfalls_no_event(event, why);
	if (!c)
		return sample_no_platform(t, &prov_vfalls, name, why);
	rc = prov_interval(text, &ns, why);
	if (rc >= 0)
		rc = vfalls_register_unreadable(c, event, why);
	return rc < 0 ? rc : sample_added(vfalls_make_probe(t, name, event, ns, why), add, arg);
}

static bool vfalls_event_is_again(uint32_t i)
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

	if (!t->opts.sun4v || vfalls_register_unreadable(t->opts.sun4v, NULL, &why) < 0)
		return 0;
	rc = sample_offer(t, &prov_vfalls, "sample", e);
	for (uint32_t i = 0; rc >= 0 && vf_event_at(i); i++)
		if (vfalls_is_event(vf_event_at(i)->name) && !vfalls_event_is_again(i))
			rc = sample_offer(t, &prov_vfalls, vf_event_at(i)->name, e);
	return rc;
}

static int vfalls_why_none(const struct probes *t, const struct d_probedesc *d, struct err *why)
{
	(void)d;
	return sample_why_none(&prov_vfalls, t->opts.sun4v, why);
}

static const struct d_args *vfalls_args(const struct probe *p, uint32_t index)
{
	(void)p;
	return index ? NULL : &vf_args;
}

static int vfalls_readable(const struct probe *p, struct hv_transport *transport, struct sun4v_client *sun4v,
			   struct err *e)
{
	(void)transport;
	return vfalls_register_unreadable(sun4v, p->data, e);
}

/* ---- readings: the registers as they are ---------------------------------------------------------- */

/* an event's counter of one unit */
struct vfalls_unit {
	const struct vf_reg *r;
	uint32_t cpu;
	struct vf_counter *k;
	uint64_t last;
};
/* What was read last: of every register, or of each unit that counts the event. */
struct vfalls_last {
	struct {
		bool readable;
		uint64_t value;
	} reg[VF_REGS];
	struct vfalls_unit *unit;
	uint32_t nunits, capunits;
	struct buf event; /* what a register is set to count */
};

static int registers_begin(struct sample *s, struct err *e)
{
	struct sun4v_client *c = s->reader->sun4v;
	struct vfalls_last *last = s->last;
	struct err first = { 0 };
	uint32_t refused = 0;
	char note[sizeof(first.text) + 64];

	for (uint32_t i = 0; i < VF_REGS; i++) {
		struct err why = { 0 };
		int rc = vf_get(c, sun4v_client_home(c), i, &last->reg[i].value, &why);

		last->reg[i].readable = rc >= 0 || rc == -TALLY_EBUSY;
		if (rc == -TALLY_EIO || rc == -TALLY_EEND)
			return err_set(e, (enum tally_err) - rc, "%s", why.text);
		if (rc == -TALLY_EPERM && !refused++)
			first = why;
	}
	if (refused) {
		snprintf(note, sizeof(note), "%u register%s may not be read: %s", refused, refused == 1 ? "" : "s",
			 first.text);
		s->reader->note(s->reader->arg, note);
	}
	return 0;
}

static int register_fire(struct sample *s, const struct vf_reg *r, uint64_t ns, struct err *e)
{
	struct prov_reader *reader = s->reader;
	struct vfalls_last *last = s->last;
	uint32_t pic;
	const struct vf_reg *control = vf_control_of(r, &pic);
	struct vf_context c = { 0 };
	struct err why = { 0 };
	uint64_t value = 0;
	int rc = vf_get(reader->sun4v, sun4v_client_home(reader->sun4v), r->number, &value, &why);

	if (rc == -TALLY_EBUSY) {
		reader->busy++;
		return 0;
	}
	if (rc < 0)
		return err_set(e, (enum tally_err) - rc, "%s", why.text);
	c.value = value;
	c.delta = vf_delta(r, value, last->reg[r->number].value);
	last->reg[r->number].value = value;

	buf_clear(&last->event);
	if (last->reg[control->number].readable)
		vf_fields(control, last->reg[control->number].value, &last->event);
	if (last->event.failed)
		return err_oom(e);
	vf_context_fill(&c, r, ns, 0, r->node, last->event.p ? last->event.p : "");
	return reader->take(reader->arg, s->prog, &c, sizeof(c));
}

/* ---- readings: an event --------------------------------------------------------------------------- */

/* 0 also when this unit may not count it: the reason is in e. */
static int unit_open(struct sample *s, const struct vf_reg *r, uint32_t cpu, uint32_t code, struct err *e)
{
	struct vf_counter_ask a = { .vcpu = cpu, .reg = r->number, .event = code, .user = true, .system = true };
	struct vfalls_last *last = s->last;
	struct vf_counter *k;
	struct vfalls_unit *u;
	int rc = vf_counter_open(&k, s->reader->sun4v, &a, e);

	if (rc < 0)
		return rc == -TALLY_EPERM || rc == -TALLY_ENOTSUP ? 0 : rc;
	u = VEC_NEW(last->unit, last->nunits, last->capunits);
	if (!u) {
		vf_counter_close(k);
		return err_oom(e);
	}
	*u = (struct vfalls_unit){ .r = r, .cpu = cpu, .k = k };
	return 0;
}

/* A model in this process is one whose time passes by our calls alone. */
static void note_unmodelled(const struct sample *s, const struct vf_reg *r, uint32_t code)
{
	const struct hv_transport *l = s->reader->transport;
	const struct sun4v_kind *kind = l->op->advance ? l->kind : NULL;
	char note[256];

	if (!kind || niagara_models(kind, vf_events_of(r), (uint16_t)code))
		return;
	snprintf(note, sizeof(note), "vfalls:::%s: this event is not modelled: its counter does not change",
		 s->probe->name);
	s->reader->note(s->reader->arg, note);
}

static int event_begin(struct sample *s, struct err *e)
{
	const struct hv_transport *l = s->reader->transport;
	const struct vfalls_last *last = s->last;
	struct err first = { 0 };
	uint32_t code = 0;
	int rc = 0;

	for (const struct vf_reg *r = vf_regs; rc >= 0 && r < vf_regs + VF_REGS; r++) {
		uint32_t strands = r->cls == VF_SPARC_PCR ? l->strands : 1;

		if (!vf_selects(r, s->probe->data, &code))
			continue;
		for (uint32_t cpu = 0; rc >= 0 && cpu < strands; cpu++)
			if (strands == 1 || sun4v_client_has(s->reader->sun4v, cpu))
				rc = unit_open(s, r, cpu, code, &first);
	}
	if (rc < 0 || !last->nunits)
		return err_set(e, (enum tally_err)(rc < 0 ? -rc : first.code), "%s", first.text);
	note_unmodelled(s, last->unit[0].r, code);
	return 0;
}

static int unit_fire(struct sample *s, struct vfalls_unit *u, uint64_t ns, struct err *e)
{
	struct prov_reader *reader = s->reader;
	struct vf_context c = { 0 };
	struct err why = { 0 };
	uint32_t per_node = reader->transport->strands_per_node;
	int rc = vf_counter_read(u->k, &c.value, &why);

	if (rc == -TALLY_EBUSY) {
		reader->busy++;
		return 0;
	}
	if (rc < 0)
		return err_set(e, (enum tally_err) - rc, "%s", why.text);
	c.delta = c.value - u->last;
	u->last = c.value;
	vf_context_fill(&c, u->r, ns, u->cpu, u->r->number || !per_node ? u->r->node : u->cpu / per_node,
			s->probe->data);
	return reader->take(reader->arg, s->prog, &c, sizeof(c));
}

static int vfalls_begin(struct sample *s, struct err *e)
{
	s->last = mem_alloc(sizeof(struct vfalls_last));
	if (!s->last)
		return err_oom(e);
	return s->probe->data ? event_begin(s, e) : registers_begin(s, e);
}

static int vfalls_fire(struct sample *s, uint64_t ns, struct err *e)
{
	struct vfalls_last *last = s->last;
	int rc = 0;

	for (uint32_t i = 0; rc >= 0 && i < last->nunits; i++)
		rc = unit_fire(s, &last->unit[i], ns, e);
	for (uint32_t i = 0; rc >= 0 && i < VF_REGS; i++)
		if (last->reg[i].readable)
			rc = register_fire(s, &vf_regs[i], ns, e);
	return rc;
}

static void vfalls_end(struct sample *s)
{
	struct vfalls_last *last = s->last;

	for (uint32_t i = 0; last && i < last->nunits; i++)
		vf_counter_close(last->unit[i].k);
	if (last) {
		mem_free(last->unit);
		buf_free(&last->event);
	}
	mem_free(last);
	s->last = NULL;
}

const struct provider prov_vfalls = {
	.name = "vfalls",
	.help = "performance registers of UltraSPARC T2 Plus machines",
	.model = "batoka",
	PROV_EVOLVING(DEP_PLATFORM),
	.name_probe = vfalls_name,
	.offer = vfalls_offer,
	.why_none = vfalls_why_none,
	.args_of = vfalls_args,
	.begin = vfalls_begin,
	.fire = vfalls_fire,
	.end = vfalls_end,
	.readable = vfalls_readable,
};
