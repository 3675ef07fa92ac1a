/*
 * sun4v_counter.c: counters that only grow, over registers that wrap.
 *
 * A counter is one half of a pair: a control register selects for both, so the
 * other half's selection is kept when one is programmed.  Nothing is ever written into a count: what it held
 * when it was opened is where it starts, and each reading adds what has come since, modulo the width.  A
 * counter that is read often enough to wrap once between readings at most is exact: 31 bits of a memory
 * controller are 2^31 events.
 *
 * The class of L2 misses (PERF_CONFIG) is one for a node, so counters of different classes on one node exclude each
 * other.
 *
 * What was selected before comes back: a counter that closes puts back its half, the last one of a strand its
 * modes too, the last one of a node its class.
 */
#include "hv/sun4v_guest_int.h"

enum { PCR_ST = 1, PCR_UT = 2, PCR_HT = 3, PCR_MASK0 = 6, PCR_SL0 = 14, PCR_MASK1 = 19, PCR_SL1 = 27 };
#define BIT(n) (UINT64_C(1) << (n))
#define MODES (BIT(PCR_ST) | BIT(PCR_UT) | BIT(PCR_HT))
#define HOLDOV (UINT64_C(3) << 62) /* written as 1: OV0 and OV1 stay what they are */
#define L2_CR 1u

struct vf_counter {
	struct sun4v_client *c;
	struct vf_counter_ask ask;
	uint32_t pic;
	uint8_t bits;
	uint64_t last, total;
	uint64_t was, class_was; /* the control register and PERF_CONFIG before */
	bool selected, classed;  /* whether they were written */
	struct vf_counter *next;
};

static const struct vf_reg *counter_control(const struct vf_counter *k)
{
	return &vf_regs[k->ask.reg];
}

static bool same_pair(const struct vf_counter *a, const struct vf_counter *b)
{
	return a->ask.reg == b->ask.reg && (a->ask.reg || a->ask.vcpu == b->ask.vcpu);
}

static bool is_l2_miss(const struct vf_counter *k)
{
	return k->ask.reg == 0 && vf_is_l2_miss(k->ask.event);
}

static bool same_node(const struct vf_counter *a, const struct vf_counter *b)
{
	uint32_t n = a->c->transport->strands_per_node;

	return a->ask.vcpu / n == b->ask.vcpu / n;
}

/* Whether o shares the strand's modes, or the node's class, with k. */
static bool shares_modes(const struct vf_counter *o, const struct vf_counter *k)
{
	return !k->ask.reg && same_pair(o, k);
}

static bool shares_class(const struct vf_counter *o, const struct vf_counter *k)
{
	return is_l2_miss(o) && is_l2_miss(k) && same_node(o, k);
}

/* Which half is free, and whether all that is open agrees with it. */
static int counter_choose_half(struct vf_counter *k, struct err *e)
{
	bool taken[2] = { false, false };

	for (const struct vf_counter *o = k->c->open; o; o = o->next) {
		if (same_pair(o, k)) {
			taken[o->pic] = true;
			if (!k->ask.reg && (o->ask.user != k->ask.user || o->ask.system != k->ask.system ||
					    o->ask.hyper != k->ask.hyper))
				return err_set(e, TALLY_EBUSY,
					       "SPARC, strand %u: both counters count in the same modes", k->ask.vcpu);
		}
		if (shares_class(o, k) && o->ask.class != k->ask.class)
			return err_set(e, TALLY_EBUSY,
				       "L2 misses of strand %u: its node now counts another class of them",
				       k->ask.vcpu);
	}
	if (taken[0] && taken[1])
		return err_set(e, TALLY_EBUSY, "%s has two counters, and both are taken", counter_control(k)->name);
	k->pic = taken[0];
	return 0;
}

/* ---- programming ------------------------------------------------------------------------------------ */

/* The half of pcr that is k's becomes that of `from`. */
static uint64_t with_half(const struct vf_counter *k, uint64_t pcr, uint64_t from)
{
	uint32_t sl = k->pic ? PCR_SL1 : PCR_SL0, mask = k->pic ? PCR_MASK1 : PCR_MASK0;
	uint64_t half = UINT64_C(0xf) << sl | UINT64_C(0xff) << mask;

	if (k->ask.reg)
		return vf_select_put(counter_control(k), pcr, k->pic, vf_select_get(counter_control(k), from, k->pic));
	return (pcr & ~half) | (from & half);
}

/* The control register as this counter wants it. */
static uint64_t counter_wanted_pcr(const struct vf_counter *k)
{
	const uint32_t code = k->ask.event;

	if (k->ask.reg)
		return vf_select_put(counter_control(k), 0, k->pic, code);
	return (uint64_t)(code >> 8 & 0xf) << (k->pic ? PCR_SL1 : PCR_SL0) |
	       (uint64_t)(code & 0xff) << (k->pic ? PCR_MASK1 : PCR_MASK0) | (k->ask.system ? BIT(PCR_ST) : 0) |
	       (k->ask.user ? BIT(PCR_UT) : 0) | (k->ask.hyper ? BIT(PCR_HT) : 0);
}

static int control_get(struct vf_counter *k, uint64_t *pcr, struct err *e)
{
	struct hv_transport *l = k->c->transport;

	return k->ask.reg ? vf_get(k->c, k->ask.vcpu, k->ask.reg, pcr, e) :
			    l->op->asr(l->arg, k->ask.vcpu, ASR_PCR, false, pcr, e);
}

/* Privileged code writes its own PCR; HT alone goes by hypercall. */
static int control_set(struct vf_counter *k, uint64_t pcr, struct err *e)
{
	struct hv_transport *l = k->c->transport;

	if (k->ask.reg)
		return vf_set(k->c, k->ask.vcpu, k->ask.reg, pcr, e);
	pcr |= HOLDOV;
	if (pcr & BIT(PCR_HT))
		return vf_set(k->c, k->ask.vcpu, 0, pcr, e);
	return l->op->asr(l->arg, k->ask.vcpu, ASR_PCR, true, &pcr, e);
}

/* Another counter on the node may have set the class already: then what was before it is what was before. */
static int set_class(struct vf_counter *k, struct err *e)
{
	int rc;

	if (!is_l2_miss(k) || (!k->c->perf && k->ask.class == 0))
		return 0; /* Niagara has no classes: all are counted */
	rc = vf_get(k->c, k->ask.vcpu, L2_CR, &k->class_was, e);
	for (const struct vf_counter *o = k->c->open; o; o = o->next)
		if (shares_class(o, k))
			k->class_was = o->class_was;
	if (rc == 0)
		rc = vf_set(k->c, k->ask.vcpu, L2_CR, k->ask.class, e);
	k->classed = rc == 0;
	return rc;
}

static int counter_program(struct vf_counter *k, struct err *e)
{
	uint64_t pcr = 0;
	int rc = set_class(k, e);

	if (rc == 0)
		rc = control_get(k, &pcr, e);
	if (rc < 0)
		return rc;
	k->was = pcr;
	for (const struct vf_counter *o = k->c->open; o; o = o->next)
		if (shares_modes(o, k))
			k->was = (k->was & ~MODES) | (o->was & MODES);
	pcr = with_half(k, pcr, counter_wanted_pcr(k));
	rc = control_set(k, k->ask.reg ? pcr : (pcr & ~MODES) | (counter_wanted_pcr(k) & MODES), e);
	k->selected = rc == 0;
	return rc;
}

/* As it was, as far as it may be written; what is not is counted, for whoever closes a counter has no use for an error.
 * k is not in the list. */
static void counter_unprogram(struct vf_counter *k)
{
	bool modes = !k->ask.reg, class = k->classed;
	uint64_t pcr = 0;
	int rc = 0;

	for (const struct vf_counter *o = k->c->open; o; o = o->next) {
		modes = modes && !shares_modes(o, k);
		class = class && !shares_class(o, k);
	}
	if (k->selected)
		rc = control_get(k, &pcr, NULL);
	if (k->selected && rc == 0) {
		pcr = with_half(k, pcr, k->was);
		rc = control_set(k, modes ? (pcr & ~MODES) | (k->was & MODES) : pcr, NULL);
	}
	k->c->left += rc < 0;
	if (class)
		k->c->left += vf_set(k->c, k->ask.vcpu, L2_CR, k->class_was, NULL) < 0;
}

/* ---- counting ------------------------------------------------------------------------------------------- */

static int counter_read_raw(struct vf_counter *k, uint64_t *value, struct err *e)
{
	struct hv_transport *l = k->c->transport;
	const struct vf_reg *r = counter_control(k);
	uint32_t at = r->cls == VF_MCU_PCR ? k->ask.reg + 1 : k->ask.reg + 1 + k->pic;
	uint64_t v = 0;
	int rc = k->ask.reg ? vf_get(k->c, k->ask.vcpu, at, &v, e) :
			      l->op->asr(l->arg, k->ask.vcpu, ASR_PIC, false, &v, e);

	if (rc < 0)
		return rc;
	if (r->cls == VF_SPARC_PCR)
		v = k->pic ? v >> 32 : (uint32_t)v;
	else if (r->cls == VF_MCU_PCR)
		v = v >> (k->pic ? 0 : 32) & 0x7fffffff;
	*value = v;
	return 0;
}

int vf_counter_read(struct vf_counter *k, uint64_t *value, struct err *e)
{
	uint64_t now;
	int rc = counter_read_raw(k, &now, e);

	if (rc < 0)
		return rc;
	k->total += (now - k->last) & (UINT64_MAX >> (64 - k->bits));
	k->last = now;
	*value = k->total;
	return 0;
}

int vf_counter_open(struct vf_counter **ret, struct sun4v_client *c, const struct vf_counter_ask *a, struct err *e)
{
	struct vf_counter *k;
	int rc;

	if (a->vcpu >= c->transport->strands)
		return err_set(e, TALLY_EINVAL, "no such strand: %u", a->vcpu);
	if (a->reg >= VF_REGS || !vf_is_control(&vf_regs[a->reg]))
		return err_set(e, TALLY_EINVAL, "register %u selects no event", a->reg);
	k = mem_alloc(sizeof(*k));
	if (!k)
		return err_oom(e);
	k->c = c;
	k->ask = *a;
	k->bits = vf_regs[a->reg].cls == VF_SPARC_PCR ? 32 : vf_regs[a->reg].cls == VF_MCU_PCR ? 31 : 64;
	rc = counter_choose_half(k, e);
	if (rc == 0)
		rc = counter_program(k, e);
	if (rc == 0)
		rc = counter_read_raw(k, &k->last, e);
	if (rc < 0) {
		counter_unprogram(k);
		mem_free(k);
		return rc;
	}
	k->next = c->open;
	c->open = k;
	*ret = k;
	return 0;
}

void vf_counter_close(struct vf_counter *k)
{
	struct vf_counter **at;

	if (!k)
		return;
	for (at = &k->c->open; *at && *at != k; at = &(*at)->next)
		;
	if (*at)
		*at = k->next;
	counter_unprogram(k);
	mem_free(k);
}
