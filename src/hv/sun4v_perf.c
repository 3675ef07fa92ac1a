/*
 * sun4v_perf.c: performance registers by hypercall (vf_perf_api.txt 3.2).
 *
 * Checks come in this order, and none has an effect: number (EINVAL), machine
 * and API version (ENOTSUPPORTED), rights (ENOACCESS), Zambezi (EWOULDBLOCK).  The
 * genuine Niagara hypervisor asks for the right first; so does profile `opensparc`, for Niagara's own
 * registers too (0x100, 0x101).  Those are the JBUS's and the memory controllers'; they are no part of any
 * specification here, so what passes all checks is ENOTSUPPORTED.
 */
#include "hv/sun4v_int.h"

#define T1_REGS 10u /* Niagara's numbers 0 to 9 */

static bool is_zambezi(const struct vf_reg *reg)
{
	return reg->cls >= VF_ZAM_PCR;
}

/* Without any right the genuine hypervisor looks no further. */
static bool is_shut(const struct sun4v_guest *g)
{
	return g->s->o.profile == SUN4V_PROFILE_OPENSPARC && !g->o.rights.perf;
}

static enum hv_status perf_check_access(const struct sun4v_guest *g, const struct vf_reg *reg, uint32_t minor)
{
	const struct sun4v_kind *k = g->s->o.kind;
	const struct sun4v_rights *r = &g->o.rights;

	if (is_shut(g))
		return HV_ENOACCESS;
	if (is_zambezi(reg) ? reg->node >= k->zambezis || minor < 1 : reg->node >= k->nodes)
		return HV_ENOTSUPPORTED;
	if (!r->perf || !(reg->cls == VF_SPARC_PCR ? r->strand : r->global))
		return HV_ENOACCESS;
	return is_zambezi(reg) && g->s->o.ops->busy ? HV_EWOULDBLOCK : HV_EOK;
}

/* What a guest may follows from what never changes, and its version: so it is decided once, but for hubs in use. */
void sun4v_perf_check_rights(struct sun4v_guest *g)
{
	for (uint32_t i = 0; i < VF_REGS; i++)
		for (uint32_t minor = 0; minor < COUNT(g->verdict[i]); minor++)
			g->verdict[i][minor] = (uint8_t)perf_check_access(g, &vf_regs[i], minor);
}

/* EOK and the register, or why not; a hub is asked at each call. */
static inline enum hv_status perf_reach_register(const struct sun4v_vcpu *v, uint64_t number, const struct vf_reg **ret)
{
	const struct sun4v_opts *o = &v->g->s->o;
	enum hv_status s;

	if (number >= VF_REGS)
		return is_shut(v->g) ? HV_ENOACCESS : HV_EINVAL;
	*ret = &vf_regs[number];
	s = v->g->verdict[number][sun4v_version(v, WORD_VFALLS) & 1];
	return s == HV_EWOULDBLOCK && !o->ops->busy(o->arg, *ret) ? HV_EOK : s;
}

enum hv_status sun4v_perf_get(struct sun4v_vcpu *v, const uint64_t o[6], struct hv_out *out)
{
	const struct sun4v_opts *so = &v->g->s->o;
	const struct vf_reg *reg;
	enum hv_status s = perf_reach_register(v, o[0], &reg);

	if (s == HV_EOK)
		hv_result(out, so->ops->reg_read(so->arg, v->id, reg) & reg->mask);
	return s;
}

enum hv_status sun4v_perf_set(struct sun4v_vcpu *v, const uint64_t o[6], struct hv_out *out)
{
	const struct sun4v_opts *so = &v->g->s->o;
	const struct vf_reg *reg;
	enum hv_status s = perf_reach_register(v, o[0], &reg);

	(void)out;
	if (s == HV_EOK && reg == &vf_regs[0] /* SPARC_PCR */ && o[1] & PCR_HT && !v->g->o.rights.ht)
		s = HV_ENOACCESS;
	if (s == HV_EOK)
		so->ops->reg_write(so->arg, v->id, reg, o[1] & reg->mask);
	return s;
}

static enum hv_status perf_t1_call(const struct sun4v_vcpu *v, const uint64_t o[6])
{
	if (!v->g->o.rights.perf)
		return HV_ENOACCESS;
	return o[0] < T1_REGS ? HV_ENOTSUPPORTED : HV_EINVAL;
}

enum hv_status sun4v_t1_get(struct sun4v_vcpu *v, const uint64_t o[6], struct hv_out *out)
{
	(void)out;
	return perf_t1_call(v, o);
}

enum hv_status sun4v_t1_set(struct sun4v_vcpu *v, const uint64_t o[6], struct hv_out *out)
{
	(void)out;
	return perf_t1_call(v, o);
}
