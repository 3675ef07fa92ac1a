/*
 * sun4v_perf_test.c: who may read and write which of the 90 registers: all registers on all machines, with all
 * versions, rights and profiles; bits; order of errors; busy hubs.
 *
 * What is expected is written down a second time here, from vf_perf_api.txt alone.
 */
#include "hv/sun4v_test_int.h"

enum { NONE = -1, V1_0, V1_1 }; /* of group 0x205 */
enum { HT = 8 };

struct machine {
	const char *name;
	uint32_t sockets;
};
static const struct machine machines[] = {
	{ "maramba", 1 }, { "maramba", 2 }, { "batoka", 1 },  { "batoka", 2 },
	{ "batoka", 3 },  { "batoka", 4 },  { "niagara", 1 },
};
static const uint64_t beyond[] = { 90, 91, 255, 256, 1ull << 32, 1ull << 63, UINT64_MAX };

static struct sun4v_rights rights_of(uint32_t bits)
{
	return (struct sun4v_rights){ .perf = bits & 1, .strand = bits & 2, .global = bits & 4, .ht = bits & 8 };
}

struct ask {
	const struct machine *m;
	int version;
	uint8_t profile;
	struct sun4v_rights rights;
	uint64_t reg;
	bool sets_ht;
};

static enum hv_status expected(const struct ask *a)
{
	const bool zambezi = a->reg >= 18, batoka = !strcmp(a->m->name, "batoka");

	if (a->version == NONE || !strcmp(a->m->name, "niagara"))
		return HV_EBADTRAP;
	if (a->profile == SUN4V_PROFILE_OPENSPARC && !a->rights.perf)
		return HV_ENOACCESS;
	if (a->reg > 89)
		return HV_EINVAL;
	if (zambezi ? !batoka || a->version == V1_0 : a->reg > 1 && (a->reg - 2) / 4 >= a->m->sockets)
		return HV_ENOTSUPPORTED;
	if (!a->rights.perf || (a->reg == 0 ? !a->rights.strand : !a->rights.global))
		return HV_ENOACCESS;
	return a->reg == 0 && a->sets_ht && !a->rights.ht ? HV_ENOACCESS : HV_EOK;
}

/* The word of a register behind the service; strand 5 is of node 0. */
static uint64_t *word(struct rig *r, uint64_t reg)
{
	return reg == 0 ? &r->m.pcr[5] : reg == 1 ? &r->m.l2[0] : &r->m.reg[reg];
}

static void check_get(struct rig *r, const struct ask *a)
{
	const enum hv_status want = expected(a);
	uint64_t held = a->reg < VF_REGS ? *word(r, a->reg) : 0, got;

	r->m.accesses = 0;
	assert_int_equal(fast(r->v, SUN4V_GET_PERFREG, a->reg, 0x1111, &got), want);
	assert_int_equal(r->m.accesses, want == HV_EOK);
	if (want == HV_EOK)
		assert_int_equal(got, held & vf_regs[a->reg].mask);
}

static void check_set(struct rig *r, struct ask *a, uint64_t value)
{
	enum hv_status want;
	uint64_t was = a->reg < VF_REGS ? *word(r, a->reg) : 0, o1;

	a->sets_ht = value & HT;
	want = expected(a);
	r->m.accesses = 0;
	assert_int_equal(fast(r->v, SUN4V_SET_PERFREG, a->reg, value, &o1), want);
	assert_int_equal(r->m.accesses, want == HV_EOK);
	assert_int_equal(o1, value); /* set returns a status only */
	if (a->reg < VF_REGS)
		assert_int_equal(*word(r, a->reg), want == HV_EOK ? value & vf_regs[a->reg].mask : was);
}

/* A busy hub changes the answer of a call that would have gone through to it, and no other; none of them does
 * anything. */
static void check_busy(struct rig *r, struct ask *a)
{
	const uint64_t was = a->reg < VF_REGS ? *word(r, a->reg) : 0;

	for (uint32_t sets = 0; sets < 2; sets++) {
		const enum hv_status want = expected(a);
		const bool blocks = want == HV_EOK && a->reg >= 18;

		if (want == HV_EOK && !blocks)
			continue;
		r->m.busy = 1;
		r->m.accesses = 0;
		assert_int_equal(fast(r->v, sets ? SUN4V_SET_PERFREG : SUN4V_GET_PERFREG, a->reg, 0, NULL),
				 blocks ? HV_EWOULDBLOCK : want);
		assert_int_equal(r->m.busy, !blocks);
		assert_int_equal(r->m.accesses, 0);
		assert_true(a->reg >= VF_REGS || *word(r, a->reg) == was);
	}
	r->m.busy = 0;
}

static void check_register(struct rig *r, struct ask *a)
{
	if (a->reg < VF_REGS) /* bits that aren't there must not be seen */
		*word(r, a->reg) = UINT64_MAX ^ a->reg;
	a->sets_ht = false;
	check_get(r, a);
	check_busy(r, a);
	check_set(r, a, ~(uint64_t)HT);
	check_set(r, a, 0x0123456789abcde7ull & ~(uint64_t)HT);
	check_set(r, a, UINT64_MAX);
	check_set(r, a, 0);
}

static void check_all_registers(struct rig *r, struct ask *a)
{
	for (a->reg = 0; a->reg < VF_REGS; a->reg++)
		check_register(r, a);
	for (size_t i = 0; i < COUNT(beyond); i++) {
		a->reg = beyond[i];
		check_register(r, a);
	}
}

static void every_register_by_machine_version_rights_and_profile(void **state)
{
	static struct rig r;

	(void)state;
	for (uint32_t m = 0; m < COUNT(machines); m++)
		for (int version = NONE; version <= V1_1; version++)
			for (uint32_t profile = 0; profile < 2; profile++)
				for (uint32_t rights = 0; rights < 16; rights++) {
					struct ask a = { &machines[m],      version, (uint8_t)profile,
							 rights_of(rights), 0,       false };

					rig_open(&r, machines[m].name, machines[m].sockets, (uint8_t)profile, a.rights,
						 5);
					if (version != NONE)
						assert_int_equal(set_version(r.v, 0x205, 1, (uint64_t)version),
								 r.kind->mmustat ? HV_EINVAL : HV_EOK);
					check_all_registers(&r, &a);
					rig_close(&r);
				}
}

/* ---- registers 0 and 1 are the caller's --------------------------------------------------------------- */

static void the_pcr_is_the_strands_and_the_l2_control_its_nodes(void **state)
{
	static struct rig r;
	uint64_t got;

	(void)state;
	rig_open(&r, "batoka", 4, SUN4V_PROFILE_SPEC, all_rights, 64 * 3 + 7);
	assert_int_equal(set_version(r.v, 0x205, 1, 1), HV_EOK);
	assert_int_equal(fast(r.v, SUN4V_SET_PERFREG, 0, 0x1e, NULL), HV_EOK);
	assert_int_equal(fast(r.v, SUN4V_SET_PERFREG, 1, 0x6, NULL), HV_EOK);
	for (uint32_t i = 0; i < STRANDS; i++)
		assert_int_equal(r.m.pcr[i], i == 64 * 3 + 7 ? 0x1e : 0);
	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(r.m.l2[i], i == 3 ? 2 : 0);
	assert_int_equal(fast(r.v, SUN4V_GET_PERFREG, 1, 0, &got), HV_EOK);
	assert_int_equal(got, 2);
	rig_close(&r);
}

/* Memory controllers and hubs are reached from any node. */
static void node_registers_are_the_same_from_every_node(void **state)
{
	static struct rig r;
	uint64_t got;

	(void)state;
	rig_open(&r, "batoka", 4, SUN4V_PROFILE_SPEC, all_rights, 64 * 2);
	assert_int_equal(set_version(r.v, 0x205, 1, 1), HV_EOK);
	for (uint64_t reg = 2; reg < VF_REGS; reg++) {
		r.m.reg[reg] = reg * 7;
		assert_int_equal(fast(r.v, SUN4V_GET_PERFREG, reg, 0, &got), HV_EOK);
		assert_int_equal(got, reg * 7 & vf_regs[reg].mask);
	}
	rig_close(&r);
}

/* ---- order and EWOULDBLOCK ------------------------------------------------------------------------------ */

static void a_busy_zambezi_would_block_and_nothing_is_done(void **state)
{
	static struct rig r;
	uint64_t got;

	(void)state;
	rig_open(&r, "batoka", 1, SUN4V_PROFILE_SPEC, all_rights, 0);
	assert_int_equal(set_version(r.v, 0x205, 1, 1), HV_EOK);
	for (uint64_t reg = 0; reg < VF_REGS; reg++) {
		const bool there = reg < 6 || reg >= 18, zambezi = reg >= 18;

		r.m.busy = zambezi ? 2 : UINT32_MAX;
		r.m.accesses = 0;
		assert_int_equal(fast(r.v, SUN4V_GET_PERFREG, reg, 9, &got), zambezi ? HV_EWOULDBLOCK :
									     there   ? HV_EOK :
										       HV_ENOTSUPPORTED);
		assert_int_equal(fast(r.v, SUN4V_SET_PERFREG, reg, 1, NULL), zambezi ? HV_EWOULDBLOCK :
									     there   ? HV_EOK :
										       HV_ENOTSUPPORTED);
		assert_int_equal(r.m.accesses, zambezi || !there ? 0 : 2);
		if (zambezi) { /* and then it isn't */
			assert_int_equal(fast(r.v, SUN4V_SET_PERFREG, reg, 3, NULL), HV_EOK);
			assert_int_equal(fast(r.v, SUN4V_GET_PERFREG, reg, 0, &got), HV_EOK);
			assert_int_equal(got, 3);
		}
	}
	rig_close(&r);
}

/* Whoever may not, or asks for what is not, does not even learn that the hub is busy. */
static void busy_comes_last(void **state)
{
	static struct rig r;

	(void)state;
	rig_open(&r, "batoka", 4, SUN4V_PROFILE_SPEC, rights_of(3), 0);
	r.m.busy = 1;
	assert_int_equal(fast(r.v, SUN4V_GET_PERFREG, 18, 0, NULL), HV_EBADTRAP);
	assert_int_equal(set_version(r.v, 0x205, 1, 0), HV_EOK);
	assert_int_equal(fast(r.v, SUN4V_GET_PERFREG, 18, 0, NULL), HV_ENOTSUPPORTED);
	assert_int_equal(set_version(r.v, 0x205, 1, 1), HV_EOK);
	assert_int_equal(fast(r.v, SUN4V_GET_PERFREG, 18, 0, NULL), HV_ENOACCESS);
	assert_int_equal(fast(r.v, SUN4V_GET_PERFREG, 90, 0, NULL), HV_EINVAL);
	assert_int_equal(r.m.busy, 1);
	rig_close(&r);
}

/* The order of the checks, one right or version after the other taken away. */
static void the_number_comes_before_the_right_in_spec_and_after_it_in_opensparc(void **state)
{
	static struct rig r;

	(void)state;
	for (uint32_t profile = 0; profile < 2; profile++) {
		rig_open(&r, "maramba", 2, (uint8_t)profile, rights_of(0), 0);
		assert_int_equal(set_version(r.v, 0x205, 1, 1), HV_EOK);
		assert_int_equal(fast(r.v, SUN4V_GET_PERFREG, 90, 0, NULL), profile ? HV_ENOACCESS : HV_EINVAL);
		assert_int_equal(fast(r.v, SUN4V_SET_PERFREG, 90, 0, NULL), profile ? HV_ENOACCESS : HV_EINVAL);
		assert_int_equal(fast(r.v, SUN4V_GET_PERFREG, 18, 0, NULL), profile ? HV_ENOACCESS : HV_ENOTSUPPORTED);
		assert_int_equal(fast(r.v, SUN4V_GET_PERFREG, 10, 0, NULL), profile ? HV_ENOACCESS : HV_ENOTSUPPORTED);
		assert_int_equal(fast(r.v, SUN4V_GET_PERFREG, 0, 0, NULL), HV_ENOACCESS);
		rig_close(&r);
	}
}

/* ---- PCR and PIC by instruction --------------------------------------------------------------------------- */

static void a_guests_own_write_never_sets_ht(void **state)
{
	static struct rig r;
	uint64_t pcr;

	(void)state;
	for (uint32_t rights = 0; rights < 16; rights++) {
		rig_open(&r, "batoka", 4, SUN4V_PROFILE_SPEC, rights_of(rights), 3);
		assert_true(sun4v_asr_write(r.v, 0x10, UINT64_MAX));
		assert_int_equal(r.m.pcr[3], vf_regs[0].mask & ~(uint64_t)HT);
		rig_close(&r);
	}
	rig_open(&r, "batoka", 4, SUN4V_PROFILE_SPEC, all_rights, 3);
	assert_int_equal(set_version(r.v, 0x205, 1, 0), HV_EOK);
	assert_int_equal(fast(r.v, SUN4V_SET_PERFREG, 0, HT | 2, NULL), HV_EOK);
	assert_true(sun4v_asr_read(r.v, 0x10, &pcr));
	assert_int_equal(pcr, HT | 2);
	assert_true(sun4v_asr_write(r.v, 0x10, HT | 4)); /* what is set it may keep */
	assert_int_equal(r.m.pcr[3], HT | 4);
	assert_true(sun4v_asr_write(r.v, 0x10, 4)); /* or clear, for good */
	assert_true(sun4v_asr_write(r.v, 0x10, HT | 4));
	assert_int_equal(r.m.pcr[3], 4);
	rig_close(&r);
}

static void reading_a_pcr_that_counts_hyperprivileged_events_needs_no_such_right(void **state)
{
	static struct rig r;
	uint64_t got;

	(void)state;
	rig_open(&r, "batoka", 4, SUN4V_PROFILE_SPEC, rights_of(3), 3);
	assert_int_equal(set_version(r.v, 0x205, 1, 1), HV_EOK);
	r.m.pcr[3] = HT;
	assert_int_equal(fast(r.v, SUN4V_GET_PERFREG, 0, 0, &got), HV_EOK);
	assert_int_equal(got, HT);
	rig_close(&r);
}

static void only_pcr_and_pic_are_registers_of_ours(void **state)
{
	static struct rig r;
	uint64_t value = 7;

	(void)state;
	rig_open(&r, "niagara", 1, SUN4V_PROFILE_SPEC, all_rights, 31);
	for (uint32_t asr = 0; asr < 64; asr++) {
		assert_true(sun4v_asr_read(r.v, asr, &value) == (asr == 0x10 || asr == 0x11));
		assert_true(sun4v_asr_write(r.v, asr, 0) == (asr == 0x10 || asr == 0x11));
	}
	assert_false(sun4v_asr_read(r.v, UINT32_MAX, &value));
	assert_true(sun4v_asr_write(r.v, 0x11, UINT64_MAX));
	assert_int_equal(r.m.pic[31], UINT64_MAX);
	assert_true(sun4v_asr_read(r.v, 0x11, &value));
	assert_int_equal(value, UINT64_MAX);
	rig_close(&r);
}

/* HT of a guest that had the right is not the next guest's. */
static void a_guest_without_the_right_inherits_no_ht(void **state)
{
	static struct rig r;
	struct sun4v_guest *next;
	struct sun4v_vcpu *v;
	struct sun4v_guest_opts go;

	(void)state;
	rig_open(&r, "batoka", 4, SUN4V_PROFILE_SPEC, all_rights, 3);
	assert_int_equal(set_version(r.v, 0x205, 1, 1), HV_EOK);
	assert_int_equal(fast(r.v, SUN4V_SET_PERFREG, 0, HT | 6, NULL), HV_EOK);
	go = rig_guest(&r, rights_of(3));
	assert_int_equal(sun4v_guest_open(&next, r.s, &go), 0);
	sun4v_vcpu_close(r.v);
	assert_int_equal(sun4v_vcpu_open(&v, next, 3), 0);
	assert_int_equal(r.m.pcr[3] & 0xffffffff, 6);
	sun4v_guest_close(next);
	rig_close(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_register_by_machine_version_rights_and_profile),
		cmocka_unit_test(the_pcr_is_the_strands_and_the_l2_control_its_nodes),
		cmocka_unit_test(node_registers_are_the_same_from_every_node),
		cmocka_unit_test(a_busy_zambezi_would_block_and_nothing_is_done),
		cmocka_unit_test(busy_comes_last),
		cmocka_unit_test(the_number_comes_before_the_right_in_spec_and_after_it_in_opensparc),
		cmocka_unit_test(a_guests_own_write_never_sets_ht),
		cmocka_unit_test(reading_a_pcr_that_counts_hyperprivileged_events_needs_no_such_right),
		cmocka_unit_test(only_pcr_and_pic_are_registers_of_ours),
		cmocka_unit_test(a_guest_without_the_right_inherits_no_ht),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
