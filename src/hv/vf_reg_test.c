/* vf_reg_test.c: the register table against its formulas and against the specification's own rows; the events. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "hv/sun4v.h"

#define LOCAL 0u /* the calling strand, or its node */

/* vf_perf_api.txt 3.1, as the table has it: number, node, group, description, local and global address. */
static const struct {
	uint8_t number, node;
	const char *group, *name;
	uint64_t local, global;
} spec[] = {
	{ 0, LOCAL, "-", "SPARC_PCR", 0, 0 },
	{ 1, LOCAL, "all", "L2_CR", 0, 0 },
	{ 2, 0, "0", "NODE0_MCU0_PCR", 0x8400000400, 0xd000000400 },
	{ 3, 0, "0", "NODE0_MCU0_PIC", 0x8400000408, 0xd000000408 },
	{ 4, 0, "1", "NODE0_MCU1_PCR", 0x8400001400, 0xd000001400 },
	{ 5, 0, "1", "NODE0_MCU1_PIC", 0x8400001408, 0xd000001408 },
	{ 6, 1, "0", "NODE1_MCU0_PCR", 0x8400000400, 0xd400000400 },
	{ 7, 1, "0", "NODE1_MCU0_PIC", 0x8400000408, 0xd400000408 },
	{ 8, 1, "1", "NODE1_MCU1_PCR", 0x8400001400, 0xd400001400 },
	{ 9, 1, "1", "NODE1_MCU1_PIC", 0x8400001408, 0xd400001408 },
	{ 10, 2, "0", "NODE2_MCU0_PCR", 0x8400000400, 0xd800000400 },
	{ 11, 2, "0", "NODE2_MCU0_PIC", 0x8400000408, 0xd800000408 },
	{ 12, 2, "1", "NODE2_MCU1_PCR", 0x8400001400, 0xd800001400 },
	{ 13, 2, "1", "NODE2_MCU1_PIC", 0x8400001408, 0xd800001408 },
	{ 14, 3, "0", "NODE3_MCU0_PCR", 0x8400000400, 0xdc00000400 },
	{ 15, 3, "0", "NODE3_MCU0_PIC", 0x8400000408, 0xdc00000408 },
	{ 16, 3, "1", "NODE3_MCU1_PCR", 0x8400001400, 0xdc00001400 },
	{ 17, 3, "1", "NODE3_MCU1_PIC", 0x8400001408, 0xdc00001408 },
	{ 18, 0, "LPU0", "ZAM0_LPU_A_PCR", 0x8130001000, 0xe130004000 },
	{ 19, 0, "LPU0", "ZAM0_LPU_A_PIC0", 0x8130001008, 0xe130004008 },
	{ 20, 0, "LPU0", "ZAM0_LPU_A_PIC1", 0x8130001010, 0xe130004010 },
	{ 21, 0, "LPU1", "ZAM0_LPU_B_PCR", 0x8130003000, 0xe13000c000 },
	{ 22, 0, "LPU1", "ZAM0_LPU_B_PIC0", 0x8130003008, 0xe13000c008 },
	{ 23, 0, "LPU1", "ZAM0_LPU_B_PIC1", 0x8130003010, 0xe13000c010 },
	{ 24, 0, "LPU2", "ZAM0_LPU_C_PCR", 0x8130005000, 0xe130014000 },
	{ 25, 0, "LPU2", "ZAM0_LPU_C_PIC0", 0x8130005008, 0xe130014008 },
	{ 26, 0, "LPU2", "ZAM0_LPU_C_PIC1", 0x8130005010, 0xe130014010 },
	{ 27, 0, "LPU3", "ZAM0_LPU_D_PCR", 0x8130007000, 0xe13001c000 },
	{ 28, 0, "LPU3", "ZAM0_LPU_D_PIC0", 0x8130007008, 0xe13001c008 },
	{ 29, 0, "LPU3", "ZAM0_LPU_D_PIC1", 0x8130007010, 0xe13001c010 },
	{ 30, 0, "GPD", "ZAM0_GPD_PCR", 0x8130009000, 0xe130024000 },
	{ 31, 0, "GPD", "ZAM0_GPD_PIC0", 0x8130009008, 0xe130024008 },
	{ 32, 0, "GPD", "ZAM0_GPD_PIC1", 0x8130009010, 0xe130024010 },
	{ 33, 0, "ASU", "ZAM0_ASU_PCR", 0x813000b000, 0xe13002c000 },
	{ 34, 0, "ASU", "ZAM0_ASU_PIC0", 0x813000b008, 0xe13002c008 },
	{ 35, 0, "ASU", "ZAM0_ASU_PIC1", 0x813000b010, 0xe13002c010 },
	{ 36, 1, "LPU0", "ZAM1_LPU_A_PCR", 0x8130001000, 0xe530005000 },
	{ 37, 1, "LPU0", "ZAM1_LPU_A_PIC0", 0x8130001008, 0xe530005008 },
	{ 38, 1, "LPU0", "ZAM1_LPU_A_PIC1", 0x8130001010, 0xe530005010 },
	{ 39, 1, "LPU1", "ZAM1_LPU_B_PCR", 0x8130003000, 0xe53000d000 },
	{ 40, 1, "LPU1", "ZAM1_LPU_B_PIC0", 0x8130003008, 0xe53000d008 },
	{ 41, 1, "LPU1", "ZAM1_LPU_B_PIC1", 0x8130003010, 0xe53000d010 },
	{ 42, 1, "LPU2", "ZAM1_LPU_C_PCR", 0x8130005000, 0xe530015000 },
	{ 43, 1, "LPU2", "ZAM1_LPU_C_PIC0", 0x8130005008, 0xe530015008 },
	{ 44, 1, "LPU2", "ZAM1_LPU_C_PIC1", 0x8130005010, 0xe530015010 },
	{ 45, 1, "LPU3", "ZAM1_LPU_D_PCR", 0x8130007000, 0xe53001d000 },
	{ 46, 1, "LPU3", "ZAM1_LPU_D_PIC0", 0x8130007008, 0xe53001d008 },
	{ 47, 1, "LPU3", "ZAM1_LPU_D_PIC1", 0x8130007010, 0xe53001d010 },
	{ 48, 1, "GPD", "ZAM1_GPD_PCR", 0x8130009000, 0xe530025000 },
	{ 49, 1, "GPD", "ZAM1_GPD_PIC0", 0x8130009008, 0xe530025008 },
	{ 50, 1, "GPD", "ZAM1_GPD_PIC1", 0x8130009010, 0xe530025010 },
	{ 51, 1, "ASU", "ZAM1_ASU_PCR", 0x813000b000, 0xe53002d000 },
	{ 52, 1, "ASU", "ZAM1_ASU_PIC0", 0x813000b008, 0xe53002d008 },
	{ 53, 1, "ASU", "ZAM1_ASU_PIC1", 0x813000b010, 0xe53002d010 },
	{ 54, 2, "LPU0", "ZAM2_LPU_A_PCR", 0x8130001000, 0xe930006000 },
	{ 55, 2, "LPU0", "ZAM2_LPU_A_PIC0", 0x8130001008, 0xe930006008 },
	{ 56, 2, "LPU0", "ZAM2_LPU_A_PIC1", 0x8130001010, 0xe930006010 },
	{ 57, 2, "LPU1", "ZAM2_LPU_B_PCR", 0x8130003000, 0xe93000e000 },
	{ 58, 2, "LPU1", "ZAM2_LPU_B_PIC0", 0x8130003008, 0xe93000e008 },
	{ 59, 2, "LPU1", "ZAM2_LPU_B_PIC1", 0x8130003010, 0xe93000e010 },
	{ 60, 2, "LPU2", "ZAM2_LPU_C_PCR", 0x8130005000, 0xe930016000 },
	{ 61, 2, "LPU2", "ZAM2_LPU_C_PIC0", 0x8130005008, 0xe930016008 },
	{ 62, 2, "LPU2", "ZAM2_LPU_C_PIC1", 0x8130005010, 0xe930016010 },
	{ 63, 2, "LPU3", "ZAM2_LPU_D_PCR", 0x8130007000, 0xe93001e000 },
	{ 64, 2, "LPU3", "ZAM2_LPU_D_PIC0", 0x8130007008, 0xe93001e008 },
	{ 65, 2, "LPU3", "ZAM2_LPU_D_PIC1", 0x8130007010, 0xe93001e010 },
	{ 66, 2, "GPD", "ZAM2_GPD_PCR", 0x8130009000, 0xe930026000 },
	{ 67, 2, "GPD", "ZAM2_GPD_PIC0", 0x8130009008, 0xe930026008 },
	{ 68, 2, "GPD", "ZAM2_GPD_PIC1", 0x8130009010, 0xe930026010 },
	{ 69, 2, "ASU", "ZAM2_ASU_PCR", 0x813000b000, 0xe93002e000 },
	{ 70, 2, "ASU", "ZAM2_ASU_PIC0", 0x813000b008, 0xe93002e008 },
	{ 71, 2, "ASU", "ZAM2_ASU_PIC1", 0x813000b010, 0xe93002e010 },
	{ 72, 3, "LPU0", "ZAM3_LPU_A_PCR", 0x8130001000, 0xed30007000 },
	{ 73, 3, "LPU0", "ZAM3_LPU_A_PIC0", 0x8130001008, 0xed30007008 },
	{ 74, 3, "LPU0", "ZAM3_LPU_A_PIC1", 0x8130001010, 0xed30007010 },
	{ 75, 3, "LPU1", "ZAM3_LPU_B_PCR", 0x8130003000, 0xed3000f000 },
	{ 76, 3, "LPU1", "ZAM3_LPU_B_PIC0", 0x8130003008, 0xed3000f008 },
	{ 77, 3, "LPU1", "ZAM3_LPU_B_PIC1", 0x8130003010, 0xed3000f010 },
	{ 78, 3, "LPU2", "ZAM3_LPU_C_PCR", 0x8130005000, 0xed30017000 },
	{ 79, 3, "LPU2", "ZAM3_LPU_C_PIC0", 0x8130005008, 0xed30017008 },
	{ 80, 3, "LPU2", "ZAM3_LPU_C_PIC1", 0x8130005010, 0xed30017010 },
	{ 81, 3, "LPU3", "ZAM3_LPU_D_PCR", 0x8130007000, 0xed3001f000 },
	{ 82, 3, "LPU3", "ZAM3_LPU_D_PIC0", 0x8130007008, 0xed3001f008 },
	{ 83, 3, "LPU3", "ZAM3_LPU_D_PIC1", 0x8130007010, 0xed3001f010 },
	{ 84, 3, "GPD", "ZAM3_GPD_PCR", 0x8130009000, 0xed30027000 },
	{ 85, 3, "GPD", "ZAM3_GPD_PIC0", 0x8130009008, 0xed30027008 },
	{ 86, 3, "GPD", "ZAM3_GPD_PIC1", 0x8130009010, 0xed30027010 },
	{ 87, 3, "ASU", "ZAM3_ASU_PCR", 0x813000b000, 0xed3002f000 },
	{ 88, 3, "ASU", "ZAM3_ASU_PIC0", 0x813000b008, 0xed3002f008 },
	{ 89, 3, "ASU", "ZAM3_ASU_PIC1", 0x813000b010, 0xed3002f010 },
};
static_assert(COUNT(spec) == VF_REGS, "vf_perf_api.txt 3.1: a total of 90 registers");

static void every_row_is_the_specifications(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < VF_REGS; i++) {
		assert_int_equal(spec[i].number, i);
		assert_int_equal(vf_regs[i].number, i);
		assert_int_equal(vf_regs[i].node, spec[i].node);
		assert_string_equal(vf_regs[i].group, spec[i].group);
		assert_string_equal(vf_regs[i].name, spec[i].name);
		assert_int_equal(vf_regs[i].local, spec[i].local);
		assert_int_equal(vf_regs[i].global, spec[i].global);
	}
}

/* Sections 2.2 to 2.6: 2 + 16 + 72 registers, by counting. */
static void memory_controllers_follow_their_formula(void **state)
{
	(void)state;
	for (uint32_t node = 0; node < 4; node++)
		for (uint32_t mcu = 0; mcu < 2; mcu++)
			for (uint32_t pic = 0; pic < 2; pic++) {
				const struct vf_reg *r = &vf_regs[2 + 4 * node + 2 * mcu + pic];
				char name[32];

				snprintf(name, sizeof(name), "NODE%u_MCU%u_%s", node, mcu, pic ? "PIC" : "PCR");
				assert_string_equal(r->name, name);
				assert_int_equal(r->cls, pic ? VF_MCU_PIC : VF_MCU_PCR);
				assert_int_equal(r->node, node);
				assert_int_equal(r->unit, mcu);
				assert_int_equal(r->local, 0x8400000400 + mcu * 0x1000 + 8 * pic);
				assert_int_equal(r->global, ((0xd0ull + 4 * node) << 32) + (uint32_t)r->local);
			}
}

static void zambezi_units_follow_their_formula(void **state)
{
	static const char *const unit[] = { "LPU_A", "LPU_B", "LPU_C", "LPU_D", "GPD", "ASU" };
	static const char *const group[] = { "LPU0", "LPU1", "LPU2", "LPU3", "GPD", "ASU" };
	static const char *const part[] = { "PCR", "PIC0", "PIC1" };

	(void)state;
	for (uint32_t zam = 0; zam < 4; zam++)
		for (uint32_t u = 0; u < 6; u++)
			for (uint32_t w = 0; w < 3; w++) {
				const struct vf_reg *r = &vf_regs[18 + 18 * zam + 3 * u + w];
				char name[32];

				snprintf(name, sizeof(name), "ZAM%u_%s_%s", zam, unit[u], part[w]);
				assert_string_equal(r->name, name);
				assert_string_equal(r->group, group[u]);
				assert_int_equal(r->cls, VF_ZAM_PCR + w);
				assert_int_equal(r->node, zam);
				assert_int_equal(r->unit, VF_UNIT_LPU_A + u);
				assert_int_equal(r->local, 0x8130000000 + (2 * u + 1) * 0x1000 + 8 * w);
				/* The access address of sections 2.4 to 2.6: [17:14] the unit, [13:12] the chip. */
				assert_int_equal(r->global, ((0xe1ull + 4 * zam) << 32) + 0x30000000 +
								    ((2 * u + 1) << 14) + (zam << 12) + 8 * w);
			}
}

static void readable_bits_are_those_of_the_class(void **state)
{
	static const uint64_t mask[] = {
		[VF_SPARC_PCR] = 0xc0000000ffffffff, [VF_L2_CR] = 3,        [VF_MCU_PCR] = 0xff,
		[VF_MCU_PIC] = 0x7fffffff7fffffff,   [VF_ZAM_PCR] = 0xffff, [VF_ZAM_PIC0] = UINT64_MAX,
		[VF_ZAM_PIC1] = UINT64_MAX,
	};

	(void)state;
	for (uint32_t i = 0; i < VF_REGS; i++)
		assert_int_equal(vf_regs[i].mask, mask[vf_regs[i].cls]);
}

static void names_and_addresses_are_unique(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < VF_REGS; i++) {
		for (uint32_t k = 0; k < i; k++)
			assert_string_not_equal(vf_regs[i].name, vf_regs[k].name);
		for (uint32_t k = 2; k < i; k++)
			assert_true(vf_regs[i].global != vf_regs[k].global);
	}
}

/* ---- events --------------------------------------------------------------------------------------- */

static void events_are_unique_in_their_set_and_have_words(void **state)
{
	static const uint32_t most[] = { [VF_EVENTS_SPARC] = 0xfff,
					 [VF_EVENTS_MCU] = 0xf,
					 [VF_EVENTS_LPU] = 0x29,
					 [VF_EVENTS_GPD] = 1,
					 [VF_EVENTS_ASU] = 5 };
	const struct vf_event *e, *other;

	(void)state;
	for (uint32_t i = 0; (e = vf_event_at(i)) != NULL; i++) {
		assert_true(*e->name && *e->text && e->set <= VF_EVENTS_ASU && e->code <= most[e->set]);
		assert_ptr_equal(vf_event_find(e->set, e->name), e);
		for (uint32_t k = 0; k < i && (other = vf_event_at(k)) != NULL; k++)
			assert_true(other->set != e->set || (other->code != e->code && strcmp(other->name, e->name)));
	}
	assert_null(vf_event_at(UINT32_MAX));
	assert_null(vf_event_find(VF_EVENTS_GPD, "mem_reads"));
}

static void sparc_masks_are_within_what_may_be_combined(void **state)
{
	const struct vf_event *e;

	(void)state;
	for (uint32_t i = 0; (e = vf_event_at(i)) != NULL; i++) {
		if (e->set == VF_EVENTS_SPARC)
			assert_int_equal(e->code & 0xff & ~e->emask, 0);
		else
			assert_int_equal(e->emask, 0);
	}
	assert_int_equal(vf_event_find(VF_EVENTS_SPARC, "TLB_miss")->code,
			 vf_event_find(VF_EVENTS_SPARC, "ITLB_miss")->code |
				 vf_event_find(VF_EVENTS_SPARC, "DTLB_miss")->code);
}

/* All codes of a hub's port, 0 to 0x29, have a name; of the others those that the sources name. */
static void sets_are_complete(void **state)
{
	uint32_t n[VF_EVENTS_ASU + 1] = { 0 };
	const struct vf_event *e;

	(void)state;
	for (uint32_t i = 0; (e = vf_event_at(i)) != NULL; i++)
		n[e->set]++;
	assert_int_equal(n[VF_EVENTS_LPU], 0x2a);
	assert_int_equal(n[VF_EVENTS_GPD], 2);
	assert_int_equal(n[VF_EVENTS_ASU], 6);
	assert_int_equal(n[VF_EVENTS_MCU], 7); /* 0 to 7 without 3: bank_busy_stalls is another chip's */
	assert_int_equal(n[VF_EVENTS_SPARC], 39);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_row_is_the_specifications),
		cmocka_unit_test(memory_controllers_follow_their_formula),
		cmocka_unit_test(zambezi_units_follow_their_formula),
		cmocka_unit_test(readable_bits_are_those_of_the_class),
		cmocka_unit_test(names_and_addresses_are_unique),
		cmocka_unit_test(events_are_unique_in_their_set_and_have_words),
		cmocka_unit_test(sparc_masks_are_within_what_may_be_combined),
		cmocka_unit_test(sets_are_complete),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
