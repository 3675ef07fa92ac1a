/*
 * platform_hv_event.c: what a vfalls selector counts.
 *
 * `vfalls/sparc,cpu=5,event=L2_dmiss_ld,user,remote/`: the name is a control register
 * without its _PCR; the event a row of that unit's table, or its code; for SPARC the
 * modes (user and system unless said) and, of level 2 misses, the class.
 */
#include <stdio.h>
#include <string.h>

#include "session/platform_hv_int.h"

static bool is_control(const struct vf_reg *r)
{
	return r->cls == VF_SPARC_PCR || r->cls == VF_MCU_PCR || r->cls == VF_ZAM_PCR;
}

static void unit_name(char to[static 24], const struct vf_reg *r)
{
	char *end;

	vf_lower(to, r->name);
	end = strstr(to, "_pcr");
	if (end)
		*end = '\0';
}

static int find_unit(struct tally_platform *p, const struct sel *s, uint32_t *ret)
{
	char name[VF_REGS][24];
	const char *names[VF_REGS], *near;
	size_t n = 0;

	for (uint32_t i = 0; i < VF_REGS; i++) {
		if (!is_control(&vf_regs[i]))
			continue;
		unit_name(name[n], &vf_regs[i]);
		names[n] = name[n];
		if (!strcmp(name[n++], s->name)) {
			*ret = i;
			return 0;
		}
	}
	near = text_nearest(s->name, names, n);
	return plat_fail(p, TALLY_EINVAL, "%s: there is no unit '%s'%s%s%s", s->text, s->name, near ? "; did you mean '" : "",
			 near ? near : "; there are sparc, node0_mcu0 to node3_mcu1, zam0_lpu_a to zam3_asu", near ? "'?" : "");
}

static int no_event(struct tally_platform *p, const struct sel *s, enum vf_eventset set, const char *name)
{
	const struct vf_event *v;
	const char *names[64], *near;
	size_t n = 0;

	for (uint32_t i = 0; (v = vf_event_at(i)) != NULL && n < COUNT(names); i++)
		if (v->set == set)
			names[n++] = v->name;
	near = text_nearest(name, names, n);
	return plat_fail(p, TALLY_EINVAL, "%s: there is no %s event '%s'%s%s%s", s->text, vf_eventset_name[set], name,
			 near ? "; did you mean '" : "", near ? near : "; 'tally list vfalls' shows them", near ? "'?" : "");
}

/* Bits of the mask may be joined where the table has the single ones. */
static bool is_code(enum vf_eventset set, uint64_t code)
{
	const struct vf_event *v;

	for (uint32_t i = 0; (v = vf_event_at(i)) != NULL; i++) {
		if (v->set != set)
			continue;
		if (v->code == code || (v->emask && v->code >> 8 == code >> 8 && code & 0xff && !(code & 0xff & ~(uint64_t)v->emask)))
			return true;
	}
	return false;
}

static const struct vf_event *event_of_code(enum vf_eventset set, uint64_t code)
{
	const struct vf_event *v;

	for (uint32_t i = 0; (v = vf_event_at(i)) != NULL; i++)
		if (v->set == set && v->code == code)
			return v;
	return NULL;
}

static int find_event(struct tally_platform *p, const struct sel *s, enum vf_eventset set, struct vf_pick *ret)
{
	static const uint16_t most[] = { [VF_EVENTS_SPARC] = 0xfff, [VF_EVENTS_MCU] = 0xf, [VF_EVENTS_LPU] = 0xff,
					 [VF_EVENTS_GPD] = 0xff, [VF_EVENTS_ASU] = 0xff };
	const char *name = sel_value(s, "event");
	uint64_t code;

	if (!name)
		return plat_fail(p, TALLY_EINVAL, "%s: event= is missing; 'tally list vfalls' shows the %s events", s->text,
				 vf_eventset_name[set]);
	if (text_u64(name, &code)) {
		if (code > most[set])
			return plat_fail(p, TALLY_EINVAL, "%s: event=%s: codes go up to 0x%x", s->text, name, most[set]);
		if (!is_code(set, code))
			return plat_fail(p, TALLY_EINVAL, "%s: event=%s: there is no such code; 'tally list vfalls' shows the %s events",
					 s->text, name, vf_eventset_name[set]);
		ret->event = event_of_code(set, code);
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
	bool is_miss = ret->ask.event >> 8 == 3 && ret->ask.event & 0x30;

	for (uint8_t i = 1; i < COUNT(class); i++) {
		if (!sel_flag(s, class[i]))
			continue;
		if (ret->ask.class)
			return plat_fail(p, TALLY_EINVAL, "%s: one of local, remote and c2c", s->text);
		if (!is_miss)
			return plat_fail(p, TALLY_EINVAL, "%s: %s is of L2_imiss and L2_dmiss_ld", s->text, class[i]);
		ret->ask.class = i;
	}
	return 0;
}

static int sparc(struct tally_platform *p, const struct hv_line *l, const struct sel *s, struct vf_pick *ret)
{
	struct vf_counter_ask *a = &ret->ask;
	uint64_t cpu = 0;
	int rc = sel_number(s, "cpu", UINT32_MAX, &cpu, &p->err);

	if (rc < 0)
		return rc;
	ret->all_strands = rc == 0;
	if (cpu >= l->strands)
		return plat_fail(p, TALLY_EINVAL, "%s: there are %u strands, from 0", s->text, l->strands);
	a->vcpu = (uint32_t)cpu;
	a->user = sel_flag(s, "user");
	a->system = sel_flag(s, "system");
	a->hyper = sel_flag(s, "hyper");
	if (!a->user && !a->system && !a->hyper)
		a->user = a->system = true;
	return find_class(p, s, ret);
}

int vf_pick(struct tally_platform *p, const struct hv_line *l, const struct sel *s, struct vf_pick *ret)
{
	static const char *const of_sparc[] = { "event", "cpu", "user", "system", "hyper", "local", "remote", "c2c", NULL };
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
		rc = find_event(p, s, vf_set_of(r), ret);
	return rc >= 0 && r->cls == VF_SPARC_PCR ? sparc(p, l, s, ret) : rc;
}
