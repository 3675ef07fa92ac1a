/*
 * pick.c: what a selector names: of vfalls a counter and its event, of gpci a request, record and field.
 *
 * `vfalls/sparc,cpu=5,event=L2_dmiss_ld,user,remote/`: the name is a control register
 * without its _PCR; the event a row of that unit's table, or its code; for SPARC the
 * modes (user and system unless said) and, of level 2 misses, the class.
 */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "ask/ask_int.h"

const char *const vf_eventset_name[] = { "sparc", "mcu", "lpu", "gpd", "asu" };

/* ---- vfalls --------------------------------------------------------------------------------------- */

void vf_lower(char to[static 24], const char *name)
{
	size_t i = 0;

	for (; name[i] && i < 23; i++)
		to[i] = name[i] >= 'A' && name[i] <= 'Z' ? (char)(name[i] + 32) : name[i];
	to[i] = '\0';
}

bool pick_unit_name(char to[static 24], const struct vf_reg *r)
{
	char *end;

	vf_lower(to, r->name);
	end = strstr(to, "_pcr");
	if (end)
		*end = '\0';
	return vf_is_control(r);
}

static int find_unit(struct tally_platform *p, const struct sel *s, uint32_t *ret)
{
	char name[VF_REGS][24];
	const char *names[VF_REGS];
	size_t n = 0;

	for (uint32_t i = 0; i < VF_REGS; i++) {
		if (!pick_unit_name(name[n], &vf_regs[i]))
			continue;
		names[n] = name[n];
		if (!strcmp(name[n++], s->name)) {
			*ret = i;
			return 0;
		}
	}
	return plat_fail(p, TALLY_EINVAL, "%s: unknown unit '%s'%s", s->text, s->name,
			 err_unknown(s->name, TEXT_NAMES(names, n),
				     " (expected sparc, node0_mcu0 to node3_mcu1, or zam0_lpu_a to zam3_asu)")
				 .text);
}

static int no_event(struct tally_platform *p, const struct sel *s, enum vf_eventset set, const char *name)
{
	const struct vf_event *v;
	const char *names[64];
	size_t n = 0;

	for (uint32_t i = 0; (v = vf_event_at(i)) != NULL && n < COUNT(names); i++)
		if (v->set == set)
			names[n++] = v->name;
	return plat_fail(p, TALLY_EINVAL, "%s: unknown %s event '%s'%s", s->text, vf_eventset_name[set], name,
			 err_unknown(name, TEXT_NAMES(names, n), "; 'tally list vfalls%s' shows them", p->asked).text);
}

/* Bits of the mask may be joined where the table has the single ones. */
static bool is_code(enum vf_eventset set, uint64_t code)
{
	const struct vf_event *v;

	for (uint32_t i = 0; (v = vf_event_at(i)) != NULL; i++) {
		if (v->set != set)
			continue;
		if (v->code == code ||
		    (v->emask && v->code >> 8 == code >> 8 && code & 0xff && !(code & 0xff & ~(uint64_t)v->emask)))
			return true;
	}
	return false;
}

static int find_event(struct tally_platform *p, const struct sel *s, enum vf_eventset set, struct vf_pick *ret)
{
	static const uint16_t most[] = { [VF_EVENTS_SPARC] = 0xfff,
					 [VF_EVENTS_MCU] = 0xf,
					 [VF_EVENTS_LPU] = 0xff,
					 [VF_EVENTS_GPD] = 0xff,
					 [VF_EVENTS_ASU] = 0xff };
	const char *name = sel_value(s, "event");
	uint64_t code;

	if (!name)
		return plat_fail(p, TALLY_EINVAL,
				 "%s: key event= is missing; 'tally list vfalls%s' shows the %s events", s->text,
				 p->asked, vf_eventset_name[set]);
	if (text_u64(name, &code)) {
		if (code > most[set])
			return plat_fail(p, TALLY_EINVAL, "%s: event=%s: code out of range (0x%x at most)", s->text,
					 name, most[set]);
		if (!is_code(set, code))
			return plat_fail(p, TALLY_EINVAL,
					 "%s: event=%s: unknown code; 'tally list vfalls%s' shows the %s events",
					 s->text, name, p->asked, vf_eventset_name[set]);
		ret->event = vf_event_of_code(set, code);
	} else {
		ret->event = vf_event_find(set, name);
		if (!ret->event)
			return no_event(p, s, set, name);
		code = ret->event->code;
	}
	ret->ask.event = (uint32_t)code;
	return 0;
}

static int find_class(struct tally_platform *p, const struct sel *s, struct vf_pick *ret)
{
	static const char *const class[] = { NULL, "local", "remote", "c2c" };

	for (uint8_t i = 1; i < COUNT(class); i++) {
		if (!sel_flag(s, class[i]))
			continue;
		if (ret->ask.class)
			return plat_fail(p, TALLY_EINVAL, "%s: local, remote and c2c cannot be combined", s->text);
		if (!vf_is_l2_miss(ret->ask.event))
			return plat_fail(p, TALLY_EINVAL, "%s: key %s applies only to events L2_imiss and L2_dmiss_ld",
					 s->text, class[i]);
		ret->ask.class = i;
	}
	return 0;
}

int pick_strand_of(struct tally_platform *p, const struct hv_transport *l, const struct sel *s, uint64_t *cpu)
{
	int rc = sel_number(s, "cpu", UINT32_MAX, cpu, &p->err);

	if (rc > 0 && *cpu >= l->strands)
		return plat_fail(p, TALLY_EINVAL, "%s: no such strand; the machine has %u, from 0", s->text,
				 l->strands);
	return rc;
}

static int pick_sun4v_strand(struct tally_platform *p, const struct hv_transport *l, const struct sel *s,
			     struct vf_pick *ret)
{
	struct vf_counter_ask *a = &ret->ask;
	uint64_t cpu = 0;
	int rc = pick_strand_of(p, l, s, &cpu);

	if (rc < 0)
		return rc;
	ret->all_strands = rc == 0;
	a->vcpu = (uint32_t)cpu;
	a->user = sel_flag(s, "user");
	a->system = sel_flag(s, "system");
	a->hyper = sel_flag(s, "hyper");
	if (!a->user && !a->system && !a->hyper)
		a->user = a->system = true;
	return find_class(p, s, ret);
}

int vf_pick(struct tally_platform *p, const struct hv_transport *l, const struct sel *s, struct vf_pick *ret)
{
	static const char *const of_sparc[] = { "event", "cpu",    "user", "system", "hyper",
						"local", "remote", "c2c",  NULL };
	static const char *const of_others[] = { "event", NULL };
	const struct vf_reg *r;
	int rc;

	*ret = (struct vf_pick){ .event = NULL };
	rc = find_unit(p, s, &ret->ask.reg);
	if (rc < 0)
		return rc;
	r = &vf_regs[ret->ask.reg];
	rc = sel_keys_are(s, r->cls == VF_SPARC_PCR ? of_sparc : of_others, &p->err);
	if (rc >= 0)
		rc = find_event(p, s, vf_events_of(r), ret);
	return rc >= 0 && r->cls == VF_SPARC_PCR ? pick_sun4v_strand(p, l, s, ret) : rc;
}

/* ---- gpci ------------------------------------------------------------------------------------------- */

#define ASKED_VERSION 8u /* gpci_read() asks with the highest */

const struct gpci_request *gpci_layout(const struct tally_platform *p, const struct hv_transport *l,
				       const struct gpci_request *r)
{
	uint8_t version = p->on.row->is == PLAT_SAVED ? p->file.version : ASKED_VERSION;
	const struct gpci_request *here = gpci_request(r->number, l->level, version);

	return here ? here : r;
}

const char *gpci_key(const struct gpci_request *r)
{
	static const char *const key[] = {
		[GPCI_BY_PROCESSOR] = "processor", [GPCI_BY_PARTITION] = "partition", [GPCI_BY_CHIP] = "chip",
		[GPCI_BY_DOMAIN] = "domain",       [GPCI_BY_VP] = "partition",        [GPCI_BY_NOTHING] = NULL,
	};

	return key[r->index];
}

bool gpci_is_none(const struct gpci_field *f, uint64_t v)
{
	return f->flags & GPCI_F_NONE && v == UINT64_MAX >> (64 - 8 * f->bytes);
}

/* "hv_gpci/entitled_capped_..._entitled_cycles": the request, and the field at the end of the name. */
static const struct gpci_request *linux_event(const char *name, const struct gpci_field **field)
{
	const struct gpci_request *r, *found = NULL;

	for (uint32_t i = 0; (r = gpci_request_at(i)) != NULL; i++) {
		size_t n = r->linux_name ? strlen(r->linux_name) : 0;

		if (!n || strncmp(name, r->linux_name, n) || name[n] != '_')
			continue;
		for (uint32_t k = 0; k < r->nfields; k++)
			if (r->field[k].linux_name && !strcmp(r->field[k].linux_name, name + n + 1)) {
				*field = &r->field[k];
				found = r;
			}
	}
	return found;
}

static int no_request(struct tally_platform *p, const struct sel *s)
{
	const struct gpci_request *r;
	const char *name[64];
	size_t n = 0;

	if (s->provider == SEL_HV_GPCI)
		return plat_fail(p, TALLY_EINVAL,
				 "%s: Linux has no such event; 'tally list -v gpci%s' shows its events", s->text,
				 p->asked);
	for (uint32_t i = 0; (r = gpci_request_at(i)) != NULL && n < COUNT(name); i++)
		name[n++] = r->name;
	return plat_fail(p, TALLY_EINVAL, "%s: unknown request '%s'%s", s->text, s->name,
			 err_unknown(s->name, TEXT_NAMES(name, n), "; 'tally list gpci%s' shows them", p->asked).text);
}

static int no_field(struct tally_platform *p, const struct sel *s, const struct gpci_request *r, const char *field)
{
	const struct text_names names = { &r->field[0].name, sizeof(r->field[0]), r->nfields };

	return plat_fail(p, TALLY_EINVAL, "%s: unknown field '%s' of %s%s", s->text, field, r->name,
			 err_unknown(field, names, "; 'tally list -v gpci%s' shows them", p->asked).text);
}

/* index= is every request's; its own name and Linux's mean the same. */
static int pick_index(struct tally_platform *p, const struct sel *s, struct gpci_pick *ret)
{
	static const struct {
		const char *key;
		int8_t of;
	} names[] = {
		{ "index", -1 },
		{ "processor", GPCI_BY_PROCESSOR },
		{ "phys_processor_idx", GPCI_BY_PROCESSOR },
		{ "partition", GPCI_BY_PARTITION },
		{ "sibling_part_id", GPCI_BY_PARTITION },
		{ "partition_id", GPCI_BY_PARTITION },
		{ "chip", GPCI_BY_CHIP },
		{ "hw_chip_id", GPCI_BY_CHIP },
		{ "domain", GPCI_BY_DOMAIN },
	};
	const char *own = gpci_key(ret->r);
	uint8_t index = ret->r->index == GPCI_BY_VP ? GPCI_BY_PARTITION : ret->r->index;

	ret->index = -2;
	for (size_t i = 0; i < COUNT(names); i++) {
		const char *value = sel_value(s, names[i].key);
		uint64_t n;

		if (!value)
			continue;
		if (ret->index != -2)
			return plat_fail(p, TALLY_EINVAL, "%s: the record is given twice", s->text);
		if (!own || (names[i].of >= 0 && names[i].of != index))
			return plat_fail(p, TALLY_EINVAL,
					 own ? "%s: records of %s have key %s: write %s=N" :
					       "%s: %s has one record: omit the key",
					 s->text, ret->r->name, own, own);
		if (strcmp(value, "-1") && (!text_u64(value, &n) || n > INT32_MAX))
			return plat_fail(p, TALLY_EINVAL,
					 "%s: invalid value %s=%s (expected 0 or more, or -1 for your own)", s->text,
					 names[i].key, value);
		ret->index = strcmp(value, "-1") ? (int64_t)n : -1;
	}
	return 0;
}

int gpci_pick(struct tally_platform *p, const struct hv_transport *l, const struct sel *s, struct gpci_pick *ret)
{
	static const char *const keys[] = { "index",           "processor",    "partition",  "chip",
					    "domain",          "vp",           "field",      "phys_processor_idx",
					    "sibling_part_id", "partition_id", "hw_chip_id", NULL };
	const struct gpci_field *field = NULL;
	const char *name;
	uint64_t vp = 0;
	int rc;

	ret->r = s->provider == SEL_HV_GPCI ? linux_event(s->name, &field) :
		 *s->name                   ? gpci_request_find(s->name) :
					      NULL;
	if (!ret->r)
		return no_request(p, s);
	ret->r = gpci_layout(p, l, ret->r);
	name = field ? field->name : sel_value(s, "field");
	rc = sel_keys_are(s, keys, &p->err);
	if (rc >= 0)
		rc = pick_index(p, s, ret);
	if (rc >= 0) {
		ret->field = -1;
		for (uint32_t i = 0; name && i < ret->r->nfields; i++)
			if (!strcasecmp(ret->r->field[i].name, name))
				ret->field = (int32_t)i;
		rc = name && ret->field < 0 ? no_field(p, s, ret->r, name) : 0;
	}
	if (rc >= 0)
		rc = sel_number(s, "vp", UINT16_MAX, &vp, &p->err);
	if (rc > 0 && ret->r->index != GPCI_BY_VP)
		return plat_fail(p, TALLY_EINVAL, "%s: key vp= applies only to affinity_by_vp", s->text);
	ret->secondary = rc > 0 ? (int64_t)vp : -2;
	return rc < 0 ? rc : 0;
}
