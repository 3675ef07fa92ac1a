/*
 * sun4v.c: traps and versions.
 *
 * Which function numbers a guest has follows from two tables: groups (with the
 * highest minor of each major) and calls (with the group and the least version
 * that has them).  A guest negotiates a group's version; a call of a group that it
 * did not negotiate does not exist (EBADTRAP).  The state is one word for each group and guest,
 * shared by its vCPUs and read without a lock.
 *
 * An error touches %o0 only: results are put into the registers at the end, once the status is EOK.
 *
 * Sources: FWARC 2005/116 (sun4v core API) as the OpenSPARC hypervisor has it; what that one does
 * beyond the specifications is profile `opensparc`, in rows of its own.
 */
#include "hv/sun4v_int.h"

enum { ON_NIAGARA = 1, ON_VFALLS = 2, ON_ALL = 3 };  /* machines */
enum { IN_SPEC = 1, IN_OPENSPARC = 2, IN_BOTH = 3 }; /* profiles */

struct group_row {
	uint16_t group;
	uint8_t word, machines, profiles, major, minor;
};
static const struct group_row groups[] = {
	/* highest minor of each major; rows of one group follow each other */
	{ 0x000, WORD_MARKER, ON_ALL, IN_BOTH, 1, 0 },        /* marker of errata: no calls */
	{ 0x001, WORD_CORE, ON_ALL, IN_BOTH, 1, 1 },          /* core */
	{ 0x200, WORD_NIAGARA, ON_NIAGARA, IN_BOTH, 1, 0 },   /* Niagara */
	{ 0x205, WORD_VFALLS, ON_VFALLS, IN_BOTH, 1, 1 },     /* Victoria Falls: 1.1 has the Zambezi registers */
	{ 0x400, WORD_TEST, ON_NIAGARA, IN_OPENSPARC, 1, 2 }, /* the debug build's test of versions */
	{ 0x400, WORD_TEST, ON_NIAGARA, IN_OPENSPARC, 2, 2 }, { 0x400, WORD_TEST, ON_NIAGARA, IN_OPENSPARC, 3, 0 },
};

static sun4v_fn version_test;
struct call_row {
	uint16_t function;
	uint8_t word, profiles, major, minor;
	sun4v_fn *fn;
	uint8_t answer;
};
static const struct call_row calls[] = {
	/* the ones that are called often first */
	{ SUN4V_GET_PERFREG, WORD_VFALLS, IN_BOTH, 1, 0, sun4v_perf_get, 0 },
	{ SUN4V_SET_PERFREG, WORD_VFALLS, IN_BOTH, 1, 0, sun4v_perf_set, 0 },
	{ SUN4V_MMUSTAT_CONF, WORD_NIAGARA, IN_BOTH, 1, 0, sun4v_mmustat_conf, 0 },
	{ SUN4V_MMUSTAT_INFO, WORD_NIAGARA, IN_BOTH, 1, 0, sun4v_mmustat_info, 0 },
	{ 0x100, WORD_NIAGARA, IN_OPENSPARC, 1, 0, sun4v_t1_get, 0 },
	{ 0x101, WORD_NIAGARA, IN_OPENSPARC, 1, 0, sun4v_t1_set, 0 },
	{ 0xe0, WORD_TEST, IN_OPENSPARC, 1, 0, version_test, 0x10 },
	{ 0xe1, WORD_TEST, IN_OPENSPARC, 1, 1, version_test, 0x11 },
	{ 0xe2, WORD_TEST, IN_OPENSPARC, 1, 2, version_test, 0x12 },
	{ 0xe0, WORD_TEST, IN_OPENSPARC, 2, 0, version_test, 0x20 },
	{ 0xe3, WORD_TEST, IN_OPENSPARC, 2, 1, version_test, 0x21 },
	{ 0xe1, WORD_TEST, IN_OPENSPARC, 2, 2, version_test, 0x22 },
	{ 0xe3, WORD_TEST, IN_OPENSPARC, 3, 0, version_test, 0x30 },
};

/* ---- versions ------------------------------------------------------------------------------- */

/* The first row of a group. NULL: no such group on this machine, in this profile. */
static const struct group_row *group_of(const struct sun4v_vcpu *v, uint64_t group)
{
	const struct sun4v_opts *o = &v->g->s->o;
	const unsigned machine = o->kind->mmustat ? ON_NIAGARA : ON_VFALLS, profile = 1u << o->profile;

	for (uint32_t i = 0; i < COUNT(groups); i++)
		if (groups[i].group == group && groups[i].machines & machine && groups[i].profiles & profile)
			return &groups[i];
	return NULL;
}

static const struct group_row *major_of(const struct group_row *first, uint64_t major)
{
	for (const struct group_row *r = first; r < groups + COUNT(groups) && r->group == first->group; r++)
		if (r->major == major)
			return r;
	return NULL;
}

/* api_set_version(group, major, minor): major 0 disables; a minor above the highest is clamped to it. */
static enum hv_status set_version(struct sun4v_vcpu *v, const uint64_t o[6], struct hv_out *out)
{
	const struct group_row *first = group_of(v, o[0]), *r = first && o[1] ? major_of(first, o[1]) : NULL;
	const uint64_t highest = r ? (r->word == WORD_VFALLS && v->g->s->o.old_api ? 0 : r->minor) : 0,
		       minor = o[2] < highest ? o[2] : highest;

	if (!first)
		return HV_EINVAL;
	if (o[1] && !r)
		return HV_ENOTSUPPORTED;
	atomic_store_explicit(&v->g->version[first->word], r ? (uint64_t)r->major << 32 | minor : 0,
			      memory_order_release);
	/* The genuine one leaves the minor in both. */
	*out = (struct hv_out){ is_opensparc(v) ? 2 : 1, { minor, minor } };
	return HV_EOK;
}

static enum hv_status get_version(struct sun4v_vcpu *v, const uint64_t o[6], struct hv_out *out)
{
	const struct group_row *r = group_of(v, o[0]);
	uint64_t version;

	if (!r)
		return HV_EINVAL;
	version = sun4v_version(v, r->word);
	*out = (struct hv_out){ 2, { version >> 32, (uint32_t)version } };
	return HV_EOK;
}

/* ---- the rest of CORE_TRAP ------------------------------------------------------------------- */

static enum hv_status cons_putchar(struct sun4v_vcpu *v, const uint64_t o[6], struct hv_out *out)
{
	(void)out;
	if (o[0] > 0xff)
		return HV_EINVAL; /* break and hang-up go nowhere */
	if (v->g->o.putchar)
		v->g->o.putchar(v->g->o.arg, (uint8_t)o[0]);
	return HV_EOK;
}

static enum hv_status mach_exit(struct sun4v_vcpu *v, const uint64_t o[6], struct hv_out *out)
{
	const struct sun4v *s = v->g->s;

	(void)out;
	for (uint32_t i = 0; i < s->o.vcpus; i++) /* what the guest had lent is its owner's again */
		if (s->vcpu[i] && s->vcpu[i]->g == v->g)
			sun4v_mmustat_drop(s->vcpu[i]);
	if (v->g->o.exited)
		v->g->o.exited(v->g->o.arg, o[0]);
	return HV_EOK;
}

static sun4v_fn *const core[] = {
	[SUN4V_API_SET_VERSION] = set_version,
	[SUN4V_CONS_PUTCHAR] = cons_putchar,
	[SUN4V_MACH_EXIT] = mach_exit,
	[SUN4V_API_GET_VERSION] = get_version,
};

/* ---- the trap ----------------------------------------------------------------------------------- */

static enum hv_status version_test(struct sun4v_vcpu *v, const uint64_t o[6], struct hv_out *out)
{
	(void)v;
	(void)o;
	(void)out; /* its answer is its row's */
	return HV_EOK;
}

static const struct call_row *call_of(const struct sun4v_vcpu *v, uint64_t function)
{
	for (const struct call_row *r = calls, *end = r + COUNT(calls); r < end; r++) {
		uint64_t version;

		if (r->function != function || !(r->profiles & 1u << v->g->s->o.profile))
			continue;
		version = sun4v_version(v, r->word);
		if (version >> 32 == r->major && (uint32_t)version >= r->minor)
			return r;
	}
	return NULL;
}

static enum hv_status sun4v_fast_trap(struct sun4v_vcpu *v, const uint64_t o[6], struct hv_out *out)
{
	const struct call_row *r = call_of(v, o[5]);

	if (!r) {
		if (o[5] == SUN4V_MMUSTAT_CONF &&
		    !is_opensparc(v)) /* mmustat.txt 2.1: after any error nothing is collected */
			sun4v_mmustat_drop(v);
		return HV_EBADTRAP;
	}
	if (r->answer)
		hv_result(out, r->answer);
	return r->fn(v, o, out);
}

bool sun4v_call(struct sun4v_vcpu *v, unsigned trap, uint64_t o[6])
{
	struct hv_out out;
	enum hv_status s = HV_EBADTRAP;

	out.n = 0;
	if (trap == HV_FAST_TRAP)
		s = sun4v_fast_trap(v, o, &out);
	else if (trap == HV_CORE_TRAP && o[5] < COUNT(core))
		s = core[o[5]](v, o, &out);
	o[0] = s;
	if (s == HV_EOK && out.n > 0)
		o[1] = out.r[0];
	if (s == HV_EOK && out.n > 1)
		o[2] = out.r[1];
	return trap == HV_FAST_TRAP || trap == HV_CORE_TRAP;
}

/* ---- registers that privileged code reaches itself ---------------------------------------------- */

bool sun4v_asr_read(struct sun4v_vcpu *v, uint32_t asr, uint64_t *value)
{
	const struct sun4v_opts *o = &v->g->s->o;

	if (asr == ASR_PCR)
		*value = o->ops->reg_read(o->arg, v->id, &vf_regs[0]);
	else if (asr == ASR_PIC)
		*value = o->ops->pic_read(o->arg, v->id);
	return asr == ASR_PCR || asr == ASR_PIC;
}

bool sun4v_asr_write(struct sun4v_vcpu *v, uint32_t asr, uint64_t value)
{
	const struct sun4v_opts *o = &v->g->s->o;

	if (asr == ASR_PCR) { /* HT may be cleared, not set */
		uint64_t held = o->ops->reg_read(o->arg, v->id, &vf_regs[0]) & PCR_HT;

		o->ops->reg_write(o->arg, v->id, &vf_regs[0], value & vf_regs[0].mask & ~(PCR_HT & ~held));
	} else if (asr == ASR_PIC) {
		o->ops->pic_write(o->arg, v->id, value);
	}
	return asr == ASR_PCR || asr == ASR_PIC;
}

/* ---- machines, guests, vCPUs ---------------------------------------------------------------------- */

static const struct sun4v_kind kinds[] = {
	/* of a machine the one with most sockets first */
	{ "niagara", true, 1, 0, 32 }, { "maramba", false, 2, 0, 64 }, { "maramba", false, 1, 0, 64 },
	{ "batoka", false, 4, 4, 64 }, { "batoka", false, 3, 4, 64 },  { "batoka", false, 2, 4, 64 },
	{ "batoka", false, 1, 4, 64 },
};

const struct sun4v_kind *sun4v_kind(const char *machine, uint32_t sockets)
{
	for (uint32_t i = 0; i < COUNT(kinds); i++)
		if (!strcmp(kinds[i].name, machine) && (!sockets || kinds[i].nodes == sockets))
			return &kinds[i];
	return NULL;
}

int sun4v_open(struct sun4v **ret, const struct sun4v_opts *o)
{
	struct sun4v *s;
	uint32_t strands = o->kind ? o->kind->nodes * o->kind->strands_per_node : 0;

	if (!strands || !o->ops || o->profile > SUN4V_PROFILE_OPENSPARC || o->vcpus > strands)
		return -TALLY_EINVAL;
	s = mem_alloc(sizeof(*s));
	if (!s)
		return -TALLY_ENOMEM;
	s->o = *o;
	s->o.guests = o->guests ? o->guests : 16;
	s->o.vcpus = o->vcpus ? o->vcpus : strands;
	s->vcpu = mem_alloc(s->o.vcpus * sizeof(struct sun4v_vcpu *));
	if (!s->vcpu) {
		mem_free(s);
		return -TALLY_ENOMEM;
	}
	*ret = s;
	return 0;
}

void sun4v_close(struct sun4v *s)
{
	if (!s)
		return;
	mem_free(s->vcpu);
	mem_free(s);
}

int sun4v_guest_open(struct sun4v_guest **ret, struct sun4v *s, const struct sun4v_guest_opts *o)
{
	struct sun4v_guest *g;

	if (s->nguests == s->o.guests || (o->rights.global && s->global_held))
		return -TALLY_EBUSY;
	g = mem_alloc(sizeof(*g));
	if (!g)
		return -TALLY_ENOMEM;
	g->s = s;
	g->o = *o;
	sun4v_perf_check_rights(g);
	s->nguests++;
	s->global_held |= o->rights.global;
	*ret = g;
	return 0;
}

void sun4v_guest_close(struct sun4v_guest *g)
{
	if (!g)
		return;
	for (uint32_t i = 0; i < g->s->o.vcpus; i++)
		if (g->s->vcpu[i] && g->s->vcpu[i]->g == g)
			sun4v_vcpu_close(g->s->vcpu[i]);
	g->s->nguests--;
	if (g->o.rights.global)
		g->s->global_held = false;
	mem_free(g);
}

static uint64_t without_ht(struct sun4v_vcpu *v)
{
	uint64_t pcr = 0;

	(void)sun4v_asr_read(v, ASR_PCR, &pcr);
	return (pcr & ~(uint64_t)PCR_HT) | PCR_HOLDOV;
}

int sun4v_vcpu_open(struct sun4v_vcpu **ret, struct sun4v_guest *g, uint32_t id)
{
	struct sun4v_vcpu *v;

	if (id >= g->s->o.vcpus)
		return -TALLY_EINVAL;
	if (g->s->vcpu[id])
		return -TALLY_EBUSY;
	v = mem_alloc(sizeof(*v));
	if (!v)
		return -TALLY_ENOMEM;
	v->g = g;
	v->id = id;
	if (!g->o.rights.ht) /* nor does it inherit what another guest set */
		(void)sun4v_asr_write(v, ASR_PCR, without_ht(v));
	g->s->vcpu[id] = v;
	*ret = v;
	return 0;
}

void sun4v_vcpu_close(struct sun4v_vcpu *v)
{
	if (!v)
		return;
	v->g->s->vcpu[v->id] = NULL;
	mem_free(v);
}

void sun4v_vcpu_reset(struct sun4v_vcpu *v)
{
	sun4v_mmustat_drop(v);
	(void)sun4v_asr_write(v, ASR_PCR, 0);
	(void)sun4v_asr_write(v, ASR_PIC, 0);
}
