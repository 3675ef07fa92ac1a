/*
 * sun4v_test_int.h: a machine of plain words behind a service, for tests: what is written is what is read, and every
 * access is counted, so that "nothing was done" can be seen.
 */
#ifndef TALLY_HV_SUN4V_TEST_INT_H
#define TALLY_HV_SUN4V_TEST_INT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "hv/sun4v.h"
#include "hv/transport.h"

#define RAM_BASE UINT64_C(0x80000000) /* 2 GB, as the genuine hypervisor's guest had */
#define RAM_END UINT64_C(0x100000000)
enum { STRANDS = 256, SCRATCH = 0x4000 };

struct words {
	uint64_t pcr[STRANDS], pic[STRANDS], l2[4], reg[VF_REGS];
	uint32_t accesses, busy; /* busy: so many more accesses of a Zambezi find it so */
};
struct rig {
	struct words m;
	struct sun4v *s;
	struct sun4v_guest *g;
	struct sun4v_vcpu *v;
	const struct sun4v_kind *kind;
	uint64_t memory[SCRATCH / 8]; /* all of RAM, again and again */
	char printed[64];
	uint32_t nprinted;
	uint64_t exit_status;
	uint32_t exits;
};

static inline uint64_t *words_at(struct rig *r, uint32_t vcpu, const struct vf_reg *reg)
{
	r->m.accesses++;
	if (reg->cls == VF_SPARC_PCR)
		return &r->m.pcr[vcpu];
	return reg->cls == VF_L2_CR ? &r->m.l2[vcpu / r->kind->strands_per_node] : &r->m.reg[reg->number];
}
static inline uint64_t words_read(void *arg, uint32_t vcpu, const struct vf_reg *reg)
{
	return *words_at(arg, vcpu, reg);
}
static inline void words_write(void *arg, uint32_t vcpu, const struct vf_reg *reg, uint64_t value)
{
	*words_at(arg, vcpu, reg) = value;
}
static inline bool words_busy(void *arg, const struct vf_reg *reg)
{
	struct rig *r = arg;

	assert_true(reg->cls >= VF_ZAM_PCR);
	return r->m.busy && r->m.busy--;
}
static inline uint64_t words_pic_read(void *arg, uint32_t vcpu)
{
	return ((struct rig *)arg)->m.pic[vcpu];
}
static inline void words_pic_write(void *arg, uint32_t vcpu, uint64_t value)
{
	((struct rig *)arg)->m.pic[vcpu] = value;
}
static const struct sun4v_machine_ops words_ops = {
	.reg_read = words_read,
	.reg_write = words_write,
	.busy = words_busy,
	.pic_read = words_pic_read,
	.pic_write = words_pic_write,
};

static inline void *ram_at(void *arg, uint64_t ra, size_t n)
{
	struct rig *r = arg;

	if (ra < RAM_BASE || ra >= RAM_END || RAM_END - ra < n || ra % SCRATCH + n > SCRATCH)
		return NULL;
	return (uint8_t *)r->memory + ra % SCRATCH;
}
static inline void rig_putchar(void *arg, uint8_t c)
{
	struct rig *r = arg;

	if (r->nprinted + 1 < sizeof(r->printed))
		r->printed[r->nprinted++] = (char)c;
}
static inline void rig_exited(void *arg, uint64_t status)
{
	struct rig *r = arg;

	r->exit_status = status;
	r->exits++;
}
static inline struct sun4v_guest_opts rig_guest(struct rig *r, struct sun4v_rights rights)
{
	return (struct sun4v_guest_opts){ .rights = rights,
					  .mem = { .arg = r, .at = ram_at },
					  .putchar = rig_putchar,
					  .exited = rig_exited,
					  .arg = r };
}

static const struct sun4v_rights all_rights = { true, true, true, true };

/* A machine with one guest on one strand. */
static inline void rig_open(struct rig *r, const char *machine, uint32_t sockets, uint8_t profile,
			    struct sun4v_rights rights, uint32_t strand)
{
	struct sun4v_opts o = { .profile = profile, .ops = &words_ops, .arg = r };
	struct sun4v_guest_opts go = rig_guest(r, rights);

	memset(r, 0, sizeof(*r));
	o.kind = r->kind = sun4v_kind(machine, sockets);
	assert_non_null(o.kind);
	assert_int_equal(sun4v_open(&r->s, &o), 0);
	assert_int_equal(sun4v_guest_open(&r->g, r->s, &go), 0);
	assert_int_equal(sun4v_vcpu_open(&r->v, r->g, strand), 0);
	r->m.accesses = 0;
}
static inline void rig_close(struct rig *r)
{
	sun4v_guest_close(r->g);
	sun4v_close(r->s);
}

/* A strand of the rig's guest; v: those that are open.  It is opened when it is first asked for. */
static inline struct sun4v_vcpu *rig_strand(struct rig *r, struct sun4v_vcpu *v[STRANDS], uint32_t id)
{
	if (!v[id])
		assert_int_equal(sun4v_vcpu_open(&v[id], r->g, id), 0);
	return v[id];
}

/* A transport to the rig's machine, whose calls op and arg are. */
static inline struct hv_transport rig_transport(struct rig *r, const struct hv_transport_ops *op, void *arg)
{
	return (struct hv_transport){ .arg = arg,
				      .op = op,
				      .sockets = r->kind->nodes,
				      .strands_per_node = r->kind->strands_per_node,
				      .strands = (uint32_t)r->kind->nodes * r->kind->strands_per_node,
				      .memory = (uint8_t *)r->memory,
				      .base = RAM_BASE,
				      .bytes = sizeof(r->memory) };
}

/* ---- calls: what comes out in %o0 to %o5 is in o[] -------------------------------------------------- */
static inline uint64_t trap(struct sun4v_vcpu *v, unsigned n, uint64_t function, uint64_t a0, uint64_t a1, uint64_t a2,
			    uint64_t o[6])
{
	const uint64_t in[6] = { a0, a1, a2, 0x3333, 0x4444, function };

	memcpy(o, in, sizeof(in));
	assert_true(sun4v_call(v, n, o));
	assert_true(o[3] == 0x3333 && o[4] == 0x4444 && o[5] == function);
	if (o[0] != HV_EOK) /* an error touches nothing else */
		assert_true(o[1] == a1 && o[2] == a2);
	return o[0];
}
static inline uint64_t fast(struct sun4v_vcpu *v, uint64_t function, uint64_t a0, uint64_t a1, uint64_t *o1)
{
	uint64_t o[6], status = trap(v, HV_FAST_TRAP, function, a0, a1, 0x2222, o);

	assert_int_equal(o[2], 0x2222);
	if (o1)
		*o1 = o[1];
	return status;
}
static inline uint64_t set_version(struct sun4v_vcpu *v, uint64_t group, uint64_t major, uint64_t minor)
{
	uint64_t o[6];

	return trap(v, HV_CORE_TRAP, SUN4V_API_SET_VERSION, group, major, minor, o);
}

#endif
