/*
 * sun4v_guest.c: registers, asked for by hypercall.
 *
 * Versions are negotiated once: Niagara's group where there is one, else Victoria Falls' at its highest minor.  A
 * machine may have several guests, and a strand belongs to one of them: what needs none in particular is asked on the
 * first that can be had.  A call that says EWOULDBLOCK is repeated, at most SUN4V_TRIES times.  The status of a call
 * becomes words here, with the register's name, so nobody above knows numbers.
 */
#include "hv/sun4v_guest_int.h"

#define L2_MISS_SELECT 3u  /* the select field of the events that PERF_CONFIG narrows, */
#define L2_MISS_MASK 0x30u /* and the bits of their masks: instructions and data */

/* One trap: 0 and o[], or the platform is gone. */
int sun4v_trap(struct sun4v_client *c, uint32_t vcpu, unsigned trap, uint64_t function, uint64_t o[6], struct err *e)
{
	o[5] = function;
	return c->transport->op->sun4v(c->transport->arg, vcpu, trap, o, e);
}

static int set_version(struct sun4v_client *c, uint64_t group, uint64_t major, uint64_t minor, bool *ok,
		       uint64_t *granted, struct err *e)
{
	uint64_t o[6] = { group, major, minor };
	int rc = sun4v_trap(c, c->home, HV_CORE_TRAP, SUN4V_API_SET_VERSION, o, e);

	*ok = rc == 0 && o[0] == HV_EOK;
	*granted = o[1];
	return rc;
}

/* A platform that is gone is no strand's fault: the next call says so. */
bool sun4v_client_has(struct sun4v_client *c, uint32_t vcpu)
{
	uint64_t o[6] = { SUN4V_GROUP_CORE };
	int rc = vcpu < c->transport->strands ? sun4v_trap(c, vcpu, HV_CORE_TRAP, SUN4V_API_GET_VERSION, o, NULL) :
						-TALLY_ESTATE;

	return rc != -TALLY_EPERM && rc != -TALLY_EBUSY && rc != -TALLY_ESTATE;
}

int sun4v_client_open(struct sun4v_client **ret, struct hv_transport *transport, struct err *e)
{
	struct sun4v_client *c;
	uint64_t minor = 0;
	int rc;

	if (!transport->op->sun4v)
		return err_set(e, TALLY_ENOTSUP, "%s has no sun4v hypervisor", transport->op->what);
	c = mem_alloc(sizeof(*c));
	if (!c)
		return err_oom(e);
	c->transport = transport;
	c->buffer = mem_alloc((transport->strands + 1) * sizeof(*c->buffer));
	/* Where there is none, the first one's words say why. */
	while (c->home < c->transport->strands && !sun4v_client_has(c, c->home))
		c->home++;
	if (c->home == c->transport->strands)
		c->home = 0;
	rc = c->buffer ? set_version(c, SUN4V_GROUP_NIAGARA, 1, 0, &c->mmustat, &minor, e) : err_oom(e);
	if (rc == 0)
		rc = set_version(c, SUN4V_GROUP_VFALLS, 1, 1, &c->perf, &minor, e);
	c->minor = c->perf ? (uint32_t)minor : 0;
	if (rc == 0 && !c->mmustat && !c->perf)
		rc = err_set(e, TALLY_ENOTSUP, "%s has neither Victoria Falls' nor Niagara's counters",
			     transport->op->what);
	if (rc < 0) {
		sun4v_client_close(c);
		return rc;
	}
	*ret = c;
	return 0;
}

uint32_t sun4v_client_close(struct sun4v_client *c)
{
	uint32_t left;

	if (!c)
		return 0;
	for (uint32_t i = 0; c->buffer && i < c->transport->strands; i++)
		if (c->buffer[i])
			c->left += mmustat_stop(c, i, NULL) < 0;
	left = c->left;
	mem_free(c->buffer);
	mem_free(c);
	return left;
}

uint32_t sun4v_client_home(const struct sun4v_client *c)
{
	return c->home;
}

/* ---- what a status means ------------------------------------------------------------------------ */

int sun4v_status(const struct sun4v_client *c, uint64_t status, const char *what, struct err *e)
{
	switch (status) {
	case HV_EOK:
		return 0;
	case HV_EINVAL:
		return err_set(e, TALLY_EINVAL, "%s: no such register (EINVAL)", what);
	case HV_ENOTSUPPORTED:
		return err_set(e, TALLY_ENOTSUP, "%s: not on this machine (ENOTSUPPORTED)", what);
	case HV_ENOACCESS:
		return err_set(e, TALLY_EPERM,
			       "%s: not permitted to this guest (ENOACCESS); "
			       "the domain's perf-counters property gives the right",
			       what);
	case HV_EWOULDBLOCK:
		return err_set(e, TALLY_EBUSY, "%s: still busy after %u tries (EWOULDBLOCK)", what, SUN4V_TRIES);
	case HV_EBADTRAP:
		return err_set(e, TALLY_ENOTSUP, "%s: %s has no such call (EBADTRAP)", what, c->transport->op->what);
	case HV_ENORADDR:
		return err_set(e, TALLY_EINVAL, "%s: the buffer is not in the guest's memory (ENORADDR)", what);
	case HV_EBADALIGN:
		return err_set(e, TALLY_EINVAL, "%s: the buffer is not aligned (EBADALIGN)", what);
	default:
		return err_set(e, TALLY_EIO, "%s: the hypervisor returned %llu", what, (unsigned long long)status);
	}
}

#define OF_STRANDS 2u /* registers below are the asking strand's, or its node's */

/* Calls until it does not say EWOULDBLOCK. in: register and value; o[1] is the result. */
static int sun4v_call_persist(struct sun4v_client *c, uint32_t vcpu, uint64_t function, const uint64_t in[2],
			      uint64_t o[6], struct err *e)
{
	int rc = 0;

	if (in[0] >= OF_STRANDS)
		vcpu = c->home;
	for (uint32_t i = 0; i < SUN4V_TRIES; i++) {
		o[0] = in[0];
		o[1] = in[1];
		rc = sun4v_trap(c, vcpu, HV_FAST_TRAP, function, o, e);
		if (rc < 0 || o[0] != HV_EWOULDBLOCK)
			break;
	}
	return rc;
}

static const char *reg_name(uint32_t reg, char room[static 24])
{
	if (reg < VF_REGS)
		return vf_regs[reg].name;
	snprintf(room, 24, "register %u", reg);
	return room;
}

int vf_get(struct sun4v_client *c, uint32_t vcpu, uint32_t reg, uint64_t *value, struct err *e)
{
	uint64_t o[6] = { 0 };
	char room[24];
	int rc = sun4v_call_persist(c, vcpu, SUN4V_GET_PERFREG, (uint64_t[]){ reg, 0 }, o, e);

	if (rc == 0)
		rc = sun4v_status(c, o[0], reg_name(reg, room), e);
	if (rc == 0)
		*value = o[1];
	return rc;
}

int vf_set(struct sun4v_client *c, uint32_t vcpu, uint32_t reg, uint64_t value, struct err *e)
{
	uint64_t o[6] = { 0 };
	char room[24];
	int rc = sun4v_call_persist(c, vcpu, SUN4V_SET_PERFREG, (uint64_t[]){ reg, value }, o, e);

	return rc < 0 ? rc : sun4v_status(c, o[0], reg_name(reg, room), e);
}

int vf_probe(struct sun4v_client *c, uint32_t vcpu, uint32_t reg, struct err *e)
{
	uint64_t value;

	return vf_get(c, vcpu, reg, &value, e);
}

/* ---- a value in words ------------------------------------------------------------------------------ */

static void put_event(struct buf *to, const char *key, enum vf_eventset set, uint32_t code)
{
	const struct vf_event *v = vf_event_of_code(set, code);

	if (v)
		buf_printf(to, "%s=%s ", key, v->name);
	else
		buf_printf(to, "%s=0x%x ", key, code);
}

enum vf_eventset vf_events_of(const struct vf_reg *r)
{
	if (r->cls == VF_SPARC_PCR)
		return VF_EVENTS_SPARC;
	if (r->cls == VF_MCU_PCR || r->cls == VF_MCU_PIC)
		return VF_EVENTS_MCU;
	return r->unit == VF_UNIT_GPD ? VF_EVENTS_GPD : r->unit == VF_UNIT_ASU ? VF_EVENTS_ASU : VF_EVENTS_LPU;
}

bool vf_is_control(const struct vf_reg *r)
{
	return r->cls == VF_SPARC_PCR || r->cls == VF_MCU_PCR || r->cls == VF_ZAM_PCR;
}

bool vf_is_l2_miss(uint32_t code)
{
	return code >> 8 == L2_MISS_SELECT && code & L2_MISS_MASK;
}

static void pcr_fields(uint64_t v, struct buf *to)
{
	static const char *const bit[] = { "priv", "system", "user", "hyper", "toe0", "toe1" };

	put_event(to, "event0", VF_EVENTS_SPARC, vf_selected(&vf_regs[0], v, 0));
	put_event(to, "event1", VF_EVENTS_SPARC, vf_selected(&vf_regs[0], v, 1));
	for (uint32_t i = 0; i < COUNT(bit); i++)
		buf_printf(to, "%s=%u ", bit[i], (unsigned)(v >> i & 1));
	buf_printf(to, "ov0=%u ov1=%u ", (unsigned)(v >> 18 & 1), (unsigned)(v >> 31 & 1));
}

void vf_fields(const struct vf_reg *r, uint64_t v, struct buf *to)
{
	static const char *const config[] = { "all", "local", "remote", "cache-to-cache" };

	switch ((enum vf_class)r->cls) {
	case VF_SPARC_PCR:
		pcr_fields(v, to);
		break;
	case VF_L2_CR:
		buf_printf(to, "misses=%s ", config[v & 3]);
		break;
	case VF_MCU_PCR:
	case VF_ZAM_PCR:
		put_event(to, "event0", vf_events_of(r), vf_select_get(r, v, 0));
		put_event(to, "event1", vf_events_of(r), vf_select_get(r, v, 1));
		break;
	case VF_MCU_PIC:
		buf_printf(to, "pic0=%llu pic1=%llu ", (unsigned long long)(v >> 32 & 0x7fffffff),
			   (unsigned long long)(v & 0x7fffffff));
		break;
	case VF_ZAM_PIC0:
	case VF_ZAM_PIC1:
		buf_printf(to, "count=%llu ", (unsigned long long)v);
		break;
	}
	if (to->n && to->p[to->n - 1] == ' ')
		to->p[--to->n] = '\0';
}

/* Select fields: of an MCU PIC0 is above PIC1, elsewhere below. */
uint32_t vf_select_get(const struct vf_reg *r, uint64_t pcr, uint32_t pic)
{
	return r->cls == VF_MCU_PCR ? pcr >> (pic ? 0 : 4) & 0xf : pcr >> (pic ? 8 : 0) & 0xff;
}

uint32_t vf_selected(const struct vf_reg *control, uint64_t value, uint32_t pic)
{
	if (control->cls == VF_SPARC_PCR)
		return (uint32_t)(value >> (pic ? 27 : 14) & 0xf) << 8 | (uint32_t)(value >> (pic ? 19 : 6) & 0xff);
	return vf_select_get(control, value, pic);
}

const struct vf_reg *vf_control_of(const struct vf_reg *r, uint32_t *pic)
{
	*pic = r->cls == VF_ZAM_PIC1;
	if (r->cls == VF_MCU_PIC || r->cls == VF_ZAM_PIC0)
		return r - 1;
	return r->cls == VF_ZAM_PIC1 ? r - 2 : r;
}

uint64_t vf_select_put(const struct vf_reg *r, uint64_t pcr, uint32_t pic, uint32_t code)
{
	uint32_t shift = r->cls == VF_MCU_PCR ? (pic ? 0 : 4) : (pic ? 8 : 0);
	uint64_t mask = (r->cls == VF_MCU_PCR ? UINT64_C(0xf) : UINT64_C(0xff)) << shift;

	return (pcr & ~mask) | ((uint64_t)code << shift & mask);
}
