/*
 * niagara_test_int.h: a machine with a hypervisor in front and one guest that has all rights and all strands, for
 * tests.
 */
#ifndef TALLY_MACHINE_NIAGARA_TEST_INT_H
#define TALLY_MACHINE_NIAGARA_TEST_INT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "machine/niagara.h"

enum { MOST_STRANDS = 256, HT = 8, ST = 2, UT = 4, ALL_MODES = HT | ST | UT };
#define RAM_BASE UINT64_C(0x80000000)
#define MB (UINT64_C(1) << 20)
#define GB (UINT64_C(1) << 30)
#define PAGES(size) ((uint64_t)(MMUSTAT_##size) << 48) /* of an address: its page size */

struct rig {
	struct niagara *n;
	const struct sun4v_kind *kind;
	uint32_t strands;
	struct sun4v *s;
	struct sun4v_guest *g;
	struct sun4v_vcpu *v[MOST_STRANDS];
	uint64_t ram[MOST_STRANDS][MMUSTAT_BYTES / 8];
};

static inline void *rig_at(void *arg, uint64_t ra, size_t n)
{
	struct rig *r = arg;

	return ra < RAM_BASE || ra - RAM_BASE > sizeof(r->ram) - n ? NULL : (uint8_t *)r->ram + (ra - RAM_BASE);
}

static inline void call_core(struct rig *r, uint64_t group, uint64_t minor)
{
	uint64_t o[6] = { group, 1, minor, 0, 0, SUN4V_API_SET_VERSION };

	assert_true(sun4v_call(r->v[0], HV_CORE_TRAP, o));
	assert_int_equal(o[0], HV_EOK);
}

static inline void rig_open(struct rig *r, const char *machine, uint32_t sockets, struct niagara_opts o)
{
	const struct sun4v_kind *kind = sun4v_kind(machine, sockets);
	struct sun4v_guest_opts go = { .rights = { true, true, true, true }, .mem = { .arg = r, .at = rig_at } };
	struct err e = { 0 };

	memset(r, 0, sizeof(*r));
	assert_non_null(kind);
	r->kind = kind;
	r->strands = (uint32_t)kind->nodes * kind->strands_per_node;
	assert_int_equal(niagara_open(&r->n, kind, &o, &e), 0);
	assert_int_equal(sun4v_open(&r->s, &(struct sun4v_opts){ .kind = kind, .ops = &niagara_ops, .arg = r->n }), 0);
	assert_int_equal(sun4v_guest_open(&r->g, r->s, &go), 0);
	for (uint32_t i = 0; i < r->strands; i++) {
		assert_int_equal(sun4v_vcpu_open(&r->v[i], r->g, i), 0);
		niagara_vcpu(r->n, i, r->v[i]);
	}
	call_core(r, kind->mmustat ? SUN4V_GROUP_NIAGARA : SUN4V_GROUP_VFALLS, 1);
}
static inline void rig_close(struct rig *r)
{
	sun4v_guest_close(r->g);
	sun4v_close(r->s);
	niagara_close(r->n);
}

static inline uint64_t get(struct rig *r, uint32_t strand, uint64_t reg)
{
	uint64_t o[6];

	do { /* as a guest: a hub may be busy for a moment */
		memcpy(o, (uint64_t[6]){ reg, 0, 0, 0, 0, SUN4V_GET_PERFREG }, sizeof(o));
		assert_true(sun4v_call(r->v[strand], HV_FAST_TRAP, o));
	} while (o[0] == HV_EWOULDBLOCK);
	assert_int_equal(o[0], HV_EOK);
	return o[1];
}
static inline void set(struct rig *r, uint32_t strand, uint64_t reg, uint64_t value)
{
	uint64_t o[6];

	do {
		memcpy(o, (uint64_t[6]){ reg, value, 0, 0, 0, SUN4V_SET_PERFREG }, sizeof(o));
		assert_true(sun4v_call(r->v[strand], HV_FAST_TRAP, o));
	} while (o[0] == HV_EWOULDBLOCK);
	assert_int_equal(o[0], HV_EOK);
}
static inline void set_pcr(struct rig *r, uint32_t strand, uint64_t pcr) /* HT too, which no guest could on Niagara */
{
	niagara_ops.reg_write(r->n, strand, &vf_regs[0], pcr);
}
static inline uint64_t get_pcr(struct rig *r, uint32_t strand)
{
	uint64_t v = 0;

	assert_true(sun4v_asr_read(r->v[strand], 0x10, &v));
	return v;
}
static inline uint64_t get_pic(struct rig *r, uint32_t strand, uint32_t pic)
{
	uint64_t v = 0;

	assert_true(sun4v_asr_read(r->v[strand], 0x11, &v));
	return pic ? v >> 32 : (uint32_t)v;
}
static inline uint64_t pcr_of(uint32_t event0, uint32_t event1, uint32_t modes)
{
	return (uint64_t)event0 << 6 | (uint64_t)event1 << 19 | modes;
}

/* A reference as strand 0's of context 1 at user level, one instruction. */
static inline void ref(struct rig *r, uint8_t kind, uint16_t strand, uint64_t va)
{
	niagara_refs(r->n,
		     &(struct niagara_ref){ .va = va, .strand = strand, .context = 1, .kind = kind, .instructions = 1 },
		     1);
}
static inline const struct niagara_truth *truth(const struct rig *r)
{
	return niagara_truth(r->n);
}
static inline uint64_t l2_misses(const struct rig *r)
{
	return truth(r)->l2_imiss + truth(r)->l2_dmiss_ld + truth(r)->l2_miss_store + truth(r)->l2_miss_walk;
}

#endif
