/* sun4v_test.c: traps, versions, consoles, guests and strands, rights, memory that is not there. */
#include "hv/sun4v_test_int.h"

static uint64_t get_version(struct sun4v_vcpu *v, uint64_t group, uint64_t *major, uint64_t *minor)
{
	uint64_t o[6], status = trap(v, HV_CORE_TRAP, SUN4V_API_GET_VERSION, group, 0x1111, 0x2222, o);

	*major = o[1];
	*minor = o[2];
	return status;
}

static void assert_version(struct sun4v_vcpu *v, uint64_t group, uint64_t major, uint64_t minor)
{
	uint64_t got[2];

	assert_int_equal(get_version(v, group, &got[0], &got[1]), HV_EOK);
	assert_int_equal(got[0], major);
	assert_int_equal(got[1], minor);
}

/* ---- versions ------------------------------------------------------------------------------------------ */

struct group {
	uint64_t number, minor;
};
static const struct group on_niagara[] = { { 0, 0 }, { 1, 1 }, { 0x200, 0 } },
			  on_vfalls[] = { { 0, 0 }, { 1, 1 }, { 0x205, 1 } };
static const uint64_t foreign[] = { 2,          3,         0x100,   0x201,   0x202,      0x203,
				    0x204,      0x209,     0x20c,   0x211,   0x300,      0x400,
				    0xffff,     0x10000,   0x10001, 0x10205, 1ull << 32, (1ull << 32) + 0x205,
				    1ull << 63, UINT64_MAX };

static void check_group(struct rig *r, const struct group *g)
{
	static const uint64_t minors[] = {
		0, 1, 2, 9, 0xffff, 1ull << 32, (1ull << 32) + 1, 0xffffffffffff, UINT64_MAX
	};
	static const uint64_t majors[] = { 2, 3, 0xffff, 1ull << 32, (1ull << 32) + 1, UINT64_MAX };
	uint64_t o[6];

	assert_version(r->v, g->number, 0, 0); /* known, never negotiated */
	for (uint32_t i = 0; i < COUNT(minors); i++) {
		const uint64_t want = minors[i] < g->minor ? minors[i] : g->minor;

		assert_int_equal(trap(r->v, HV_CORE_TRAP, 0, g->number, 1, minors[i], o), HV_EOK);
		assert_int_equal(o[1], want);
		assert_int_equal(o[2], minors[i]);
		assert_version(r->v, g->number, 1, want);
	}
	for (uint32_t i = 0; i < COUNT(majors); i++) { /* changes nothing */
		assert_int_equal(set_version(r->v, g->number, majors[i], 0), HV_ENOTSUPPORTED);
		assert_version(r->v, g->number, 1, g->minor);
	}
	for (uint32_t i = 0; i < 2; i++) { /* disabling is idempotent, whatever the minor */
		assert_int_equal(trap(r->v, HV_CORE_TRAP, 0, g->number, 0, minors[COUNT(minors) - 1], o), HV_EOK);
		assert_int_equal(o[1], 0);
		assert_version(r->v, g->number, 0, 0);
	}
}

static void versions_are_granted_clamped_refused_and_disabled(void **state)
{
	static struct rig r;

	(void)state;
	for (uint32_t m = 0; m < 3; m++) {
		const struct group *g = m ? on_vfalls : on_niagara;
		uint64_t major, minor;

		rig_open(&r, (const char *[]){ "niagara", "maramba", "batoka" }[m], 0, SUN4V_PROFILE_SPEC, all_rights,
			 0);
		for (uint32_t i = 0; i < 3; i++)
			check_group(&r, &g[i]);
		for (uint32_t i = 0; i < COUNT(foreign); i++) {
			if (foreign[i] == g[2].number)
				continue;
			for (uint64_t v = 0; v < 3; v++)
				assert_int_equal(set_version(r.v, foreign[i], v, 0), HV_EINVAL);
			assert_int_equal(get_version(r.v, foreign[i], &major, &minor), HV_EINVAL);
		}
		assert_int_equal(set_version(r.v, m ? 0x200 : 0x205, 1, 0), HV_EINVAL);
		rig_close(&r);
	}
}

static void going_down_takes_registers_away_at_once_and_going_up_brings_them_back(void **state)
{
	static struct rig r;

	(void)state;
	rig_open(&r, "batoka", 4, SUN4V_PROFILE_SPEC, all_rights, 0);
	assert_int_equal(fast(r.v, SUN4V_GET_PERFREG, 0, 0, NULL), HV_EBADTRAP);
	for (uint32_t i = 0; i < 3; i++) {
		assert_int_equal(set_version(r.v, 0x205, 1, 9), HV_EOK);
		assert_int_equal(fast(r.v, SUN4V_GET_PERFREG, 18, 0, NULL), HV_EOK);
		assert_int_equal(set_version(r.v, 0x205, 1, 0), HV_EOK);
		assert_int_equal(fast(r.v, SUN4V_GET_PERFREG, 18, 0, NULL), HV_ENOTSUPPORTED);
		assert_int_equal(fast(r.v, SUN4V_GET_PERFREG, 17, 0, NULL), HV_EOK);
		assert_int_equal(set_version(r.v, 0x205, 0, 0), HV_EOK);
		assert_int_equal(fast(r.v, SUN4V_GET_PERFREG, 17, 0, NULL), HV_EBADTRAP);
	}
	rig_close(&r);
}

static void an_older_hypervisor_has_no_1_1(void **state)
{
	static struct rig r;
	const struct sun4v_kind *kind = sun4v_kind("batoka", 4);
	const struct sun4v_opts o = { .kind = kind, .ops = &words_ops, .arg = &r, .old_api = true };
	struct sun4v_guest_opts go = rig_guest(&r, all_rights);
	uint64_t out[6];

	(void)state;
	memset(&r, 0, sizeof(r));
	r.kind = kind;
	assert_int_equal(sun4v_open(&r.s, &o), 0);
	assert_int_equal(sun4v_guest_open(&r.g, r.s, &go), 0);
	assert_int_equal(sun4v_vcpu_open(&r.v, r.g, 0), 0);
	check_group(&r, &(struct group){ 0x205, 0 });
	check_group(&r, &(struct group){ 1, 1 }); /* it is of that group alone */
	assert_int_equal(trap(r.v, HV_CORE_TRAP, 0, 0x205, 1, 1, out), HV_EOK);
	assert_int_equal(out[1], 0);
	for (uint64_t reg = 0; reg < VF_REGS; reg++)
		assert_int_equal(fast(r.v, SUN4V_GET_PERFREG, reg, 0, NULL), reg < 18 ? HV_EOK : HV_ENOTSUPPORTED);
	rig_close(&r);
}

static void versions_are_the_guests_for_all_its_strands_and_nobody_elses(void **state)
{
	static struct rig r;
	struct sun4v_vcpu *same, *other;
	struct sun4v_guest *g;
	struct sun4v_guest_opts go;

	(void)state;
	rig_open(&r, "batoka", 4, SUN4V_PROFILE_SPEC, all_rights, 0);
	go = rig_guest(&r, (struct sun4v_rights){ .perf = true, .strand = true });
	assert_int_equal(sun4v_guest_open(&g, r.s, &go), 0);
	assert_int_equal(sun4v_vcpu_open(&same, r.g, 1), 0);
	assert_int_equal(sun4v_vcpu_open(&other, g, 2), 0);
	assert_int_equal(set_version(r.v, 0x205, 1, 1), HV_EOK);
	assert_int_equal(fast(same, SUN4V_GET_PERFREG, 0, 0, NULL), HV_EOK);
	assert_int_equal(fast(other, SUN4V_GET_PERFREG, 0, 0, NULL), HV_EBADTRAP);
	assert_int_equal(set_version(other, 0x205, 1, 0), HV_EOK);
	assert_version(same, 0x205, 1, 1);
	assert_version(other, 0x205, 1, 0);
	sun4v_vcpu_reset(same); /* versions outlive a reset */
	assert_version(same, 0x205, 1, 1);
	sun4v_guest_close(g);
	rig_close(&r);
}

/* ---- traps ------------------------------------------------------------------------------------------------ */

static void functions_that_nobody_has_are_bad_traps(void **state)
{
	static struct rig r;
	uint64_t o[6];

	(void)state;
	rig_open(&r, "niagara", 1, SUN4V_PROFILE_SPEC, all_rights, 0);
	for (uint64_t g = 0; g <= 0x400; g++) {
		memcpy(o, (uint64_t[6]){ g, 1, 9, 0, 0, 0 }, sizeof(o));
		sun4v_call(r.v, HV_CORE_TRAP, o); /* whatever it may have */
	}
	for (uint64_t f = 0; f < 0x600; f++)
		if (f != SUN4V_MMUSTAT_CONF && f != SUN4V_MMUSTAT_INFO)
			assert_int_equal(fast(r.v, f, 1, 2, NULL), HV_EBADTRAP);
	for (uint32_t bit = 9; bit < 64; bit++) /* no function number is masked */
		assert_int_equal(fast(r.v, (1ull << bit) + (bit == 9 ? 1 : 0x102), 0, 0, NULL), HV_EBADTRAP);
	for (uint64_t f = 4; f < 0x300; f++)
		assert_int_equal(trap(r.v, HV_CORE_TRAP, f, 0, 0, 0, o), HV_EBADTRAP);
	assert_int_equal(trap(r.v, HV_CORE_TRAP, (1ull << 32) + 3, 0, 0, 0, o), HV_EBADTRAP);
	rig_close(&r);
}

static void other_trap_numbers_are_none_of_ours(void **state)
{
	static struct rig r;

	(void)state;
	rig_open(&r, "niagara", 1, SUN4V_PROFILE_SPEC, all_rights, 0);
	for (unsigned n = 0; n < 0x200; n++) {
		uint64_t o[6] = { 1, 1, 1, 1, 1, 1 };

		if (n == HV_FAST_TRAP || n == HV_CORE_TRAP)
			continue;
		assert_false(sun4v_call(r.v, n, o));
		assert_memory_equal(o, ((uint64_t[6]){ HV_EBADTRAP, 1, 1, 1, 1, 1 }), sizeof(o));
	}
	rig_close(&r);
}

static void characters_and_the_exit_go_to_the_guests_owner(void **state)
{
	static struct rig r;
	struct sun4v_vcpu *v;
	struct sun4v_guest *mute;
	uint64_t o[6];

	(void)state;
	rig_open(&r, "batoka", 1, SUN4V_PROFILE_SPEC, (struct sun4v_rights){ 0 }, 0);
	for (const char *p = "ok\n\xff"; *p; p++)
		assert_int_equal(trap(r.v, HV_CORE_TRAP, SUN4V_CONS_PUTCHAR, (uint8_t)*p, 1, 2, o), HV_EOK);
	assert_int_equal(o[1], 1);
	assert_string_equal(r.printed, "ok\n\xff");
	assert_int_equal(trap(r.v, HV_CORE_TRAP, SUN4V_CONS_PUTCHAR, 0x100, 1, 2, o), HV_EINVAL);
	assert_int_equal(trap(r.v, HV_CORE_TRAP, SUN4V_CONS_PUTCHAR, UINT64_MAX, 1, 2, o), HV_EINVAL);
	assert_int_equal(trap(r.v, HV_CORE_TRAP, SUN4V_MACH_EXIT, 42, 1, 2, o), HV_EOK);
	assert_true(r.exits == 1 && r.exit_status == 42 && r.nprinted == 4);
	assert_int_equal(sun4v_guest_open(&mute, r.s, &(struct sun4v_guest_opts){ .rights = { 0 } }), 0);
	assert_int_equal(sun4v_vcpu_open(&v, mute, 1), 0);
	assert_int_equal(trap(v, HV_CORE_TRAP, SUN4V_CONS_PUTCHAR, 'x', 1, 2, o), HV_EOK);
	assert_int_equal(trap(v, HV_CORE_TRAP, SUN4V_MACH_EXIT, 1, 1, 2, o), HV_EOK);
	assert_true(r.exits == 1 && r.nprinted == 4);
	sun4v_guest_close(mute);
	rig_close(&r);
}

/* ---- guests and strands ------------------------------------------------------------------------------------- */

static void only_one_guest_may_hold_global(void **state)
{
	static struct rig r;
	struct sun4v_guest *g, *h;
	struct sun4v_guest_opts go;

	(void)state;
	rig_open(&r, "batoka", 4, SUN4V_PROFILE_SPEC, all_rights, 0);
	go = rig_guest(&r, (struct sun4v_rights){ .perf = true, .global = true });
	assert_int_equal(sun4v_guest_open(&g, r.s, &go), -TALLY_EBUSY);
	go.rights.global = false;
	assert_int_equal(sun4v_guest_open(&g, r.s, &go), 0);
	sun4v_guest_close(g); /* it didn't have it, so it is not free */
	go.rights.global = true;
	assert_int_equal(sun4v_guest_open(&g, r.s, &go), -TALLY_EBUSY);
	sun4v_guest_close(r.g);
	assert_int_equal(sun4v_guest_open(&g, r.s, &go), 0);
	assert_int_equal(sun4v_guest_open(&h, r.s, &go), -TALLY_EBUSY);
	r.g = g;
	rig_close(&r);
}

static void a_strand_is_one_guests_and_free_when_that_closes(void **state)
{
	static struct rig r;
	struct sun4v_guest *g;
	struct sun4v_vcpu *v;
	struct sun4v_guest_opts go;

	(void)state;
	rig_open(&r, "maramba", 2, SUN4V_PROFILE_SPEC, all_rights, 127);
	go = rig_guest(&r, (struct sun4v_rights){ 0 });
	assert_int_equal(sun4v_guest_open(&g, r.s, &go), 0);
	assert_int_equal(sun4v_vcpu_open(&v, g, 127), -TALLY_EBUSY);
	assert_int_equal(sun4v_vcpu_open(&v, r.g, 127), -TALLY_EBUSY);
	assert_int_equal(sun4v_vcpu_open(&v, g, 128), -TALLY_EINVAL);
	assert_int_equal(sun4v_vcpu_open(&v, g, UINT32_MAX), -TALLY_EINVAL);
	sun4v_guest_close(r.g);
	assert_int_equal(sun4v_vcpu_open(&v, g, 127), 0);
	r.g = g;
	rig_close(&r);
}

static void guests_and_strands_have_a_most(void **state)
{
	struct sun4v_opts o = { .kind = sun4v_kind("niagara", 1), .ops = &words_ops, .guests = 2, .vcpus = 3 };
	const struct sun4v_guest_opts go = { .rights = { 0 } };
	struct sun4v_guest *g[3];
	struct sun4v *s;
	static struct rig r;

	(void)state;
	o.arg = &r;
	assert_int_equal(sun4v_open(&s, &o), 0);
	assert_int_equal(sun4v_guest_open(&g[0], s, &go), 0);
	assert_int_equal(sun4v_guest_open(&g[1], s, &go), 0);
	assert_int_equal(sun4v_guest_open(&g[2], s, &go), -TALLY_EBUSY);
	assert_int_equal(sun4v_vcpu_open(&(struct sun4v_vcpu *){ NULL }, g[0], 3), -TALLY_EINVAL);
	sun4v_guest_close(g[0]);
	assert_int_equal(sun4v_guest_open(&g[0], s, &go), 0);
	sun4v_guest_close(g[0]);
	sun4v_guest_close(g[1]);
	sun4v_close(s);
}

static void a_reset_clears_what_the_strand_counts(void **state)
{
	static struct rig r;

	(void)state;
	rig_open(&r, "batoka", 4, SUN4V_PROFILE_SPEC, all_rights, 70);
	r.m.pcr[70] = UINT64_MAX;
	r.m.pic[70] = 5;
	r.m.l2[1] = 3;
	sun4v_vcpu_reset(r.v);
	assert_int_equal(r.m.pcr[70], 0);
	assert_int_equal(r.m.pic[70], 0);
	assert_int_equal(r.m.l2[1], 3); /* the node's, not the strand's */
	rig_close(&r);
}

static void machines_are_known_by_name_and_sockets(void **state)
{
	static const struct {
		const char *name;
		uint32_t sockets, nodes, zambezis, strands;
	} rows[] = {
		{ "niagara", 0, 1, 0, 32 }, { "niagara", 1, 1, 0, 32 }, { "maramba", 0, 2, 0, 64 },
		{ "maramba", 1, 1, 0, 64 }, { "maramba", 2, 2, 0, 64 }, { "batoka", 0, 4, 4, 64 },
		{ "batoka", 1, 1, 4, 64 },  { "batoka", 2, 2, 4, 64 },  { "batoka", 3, 3, 4, 64 },
		{ "batoka", 4, 4, 4, 64 },
	};

	(void)state;
	for (uint32_t i = 0; i < COUNT(rows); i++) {
		const struct sun4v_kind *k = sun4v_kind(rows[i].name, rows[i].sockets);

		assert_non_null(k);
		assert_true(k->nodes == rows[i].nodes && k->zambezis == rows[i].zambezis &&
			    k->strands_per_node == rows[i].strands);
		assert_true(k->mmustat == !strcmp(rows[i].name, "niagara"));
	}
	assert_null(sun4v_kind("niagara", 2));
	assert_null(sun4v_kind("maramba", 3));
	assert_null(sun4v_kind("batoka", 5));
	assert_null(sun4v_kind("Batoka", 4));
	assert_null(sun4v_kind("", 0));
}

static void options_that_make_no_machine_are_refused(void **state)
{
	const struct sun4v_kind *k = sun4v_kind("niagara", 1);
	const struct sun4v_opts bad[] = {
		{ .ops = &words_ops },
		{ .kind = k },
		{ .kind = k, .ops = &words_ops, .profile = 2 },
		{ .kind = k, .ops = &words_ops, .vcpus = 33 },
	};
	struct sun4v *s;

	(void)state;
	for (uint32_t i = 0; i < COUNT(bad); i++)
		assert_int_equal(sun4v_open(&s, &bad[i]), -TALLY_EINVAL);
	sun4v_close(NULL);
	sun4v_guest_close(NULL);
	sun4v_vcpu_close(NULL);
}

static int open_all(struct rig *r)
{
	const struct sun4v_opts o = { .kind = sun4v_kind("niagara", 1), .ops = &words_ops, .arg = r };
	const struct sun4v_guest_opts go = { .rights = { 0 } };
	int rc;

	r->s = NULL;
	r->g = NULL;
	r->kind = o.kind;
	rc = sun4v_open(&r->s, &o);
	if (rc == 0)
		rc = sun4v_guest_open(&r->g, r->s, &go);
	if (rc == 0)
		rc = sun4v_vcpu_open(&r->v, r->g, 0);
	sun4v_guest_close(r->g);
	sun4v_close(r->s);
	return rc;
}

static void without_memory_nothing_is_opened_or_lost(void **state)
{
	static struct rig r;
	long live = mem_live();

	(void)state;
	for (long n = 1;; n++) {
		int rc;

		mem_fail_at(n);
		rc = open_all(&r);
		if (!mem_failed()) {
			assert_int_equal(rc, 0);
			break;
		}
		assert_int_equal(rc, -TALLY_ENOMEM);
		assert_int_equal(mem_live(), live);
	}
	mem_fail_at(0);
	assert_int_equal(mem_live(), live);
}

/* ---- rights as text ------------------------------------------------------------------------------------------- */

static void rights_are_understood_in_both_forms(void **state)
{
	static const struct {
		const char *text;
		struct sun4v_rights r;
	} rows[] = {
		/* perf, strand, global, ht */
		{ "", { 0, 0, 0, 0 } },
		{ "none", { 0, 0, 0, 0 } },
		{ "perf-counters=", { 0, 0, 0, 0 } },
		{ "strand", { 1, 1, 0, 0 } },
		{ "htstrand", { 1, 1, 0, 1 } },
		{ "global", { 1, 0, 1, 0 } },
		{ "perf-counters=global,htstrand", { 1, 1, 1, 1 } },
		{ "perf-counters=strand,global", { 1, 1, 1, 0 } },
		{ "global+strand", { 1, 1, 1, 0 } },
		{ "all", { 1, 1, 1, 1 } },
		{ "perfctraccess=1", { 1, 1, 1, 0 } },
		{ "perfctraccess=1,perfctrhtaccess=1", { 1, 1, 1, 1 } },
		{ "perfctraccess=0,perfctrhtaccess=0", { 0, 0, 0, 0 } },
	};

	(void)state;
	for (uint32_t i = 0; i < COUNT(rows); i++) {
		struct sun4v_rights r = { true, true, true, true };
		struct err e = { 0 };

		assert_int_equal(sun4v_rights_parse(&r, rows[i].text, &e), 0);
		assert_memory_equal(&r, &rows[i].r, sizeof(r));
	}
}

static void rights_that_say_nothing_or_two_things_are_refused_by_name(void **state)
{
	static const struct {
		const char *text, *says;
	} rows[] = {
		{ "globl", "'globl'" },
		{ "global,,strand", "''" },
		{ "Global", "'Global'" },
		{ "strand,htstrand", "exclude" },
		{ "htstrand,strand", "exclude" },
		{ "perfctraccess=2", "'perfctraccess=2'" },
		{ "global strand", "'global strand'" },
		{ "perf-counters", "'perf-counters'" },
		{ ",", "''" },
	};

	(void)state;
	for (uint32_t i = 0; i < COUNT(rows); i++) {
		struct sun4v_rights r = { true, false, true, false }, was = r;
		struct err e = { 0 };

		assert_int_equal(sun4v_rights_parse(&r, rows[i].text, &e), -TALLY_EINVAL);
		assert_non_null(strstr(e.text, rows[i].says));
		assert_memory_equal(&r, &was, sizeof(r));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(versions_are_granted_clamped_refused_and_disabled),
		cmocka_unit_test(going_down_takes_registers_away_at_once_and_going_up_brings_them_back),
		cmocka_unit_test(an_older_hypervisor_has_no_1_1),
		cmocka_unit_test(versions_are_the_guests_for_all_its_strands_and_nobody_elses),
		cmocka_unit_test(functions_that_nobody_has_are_bad_traps),
		cmocka_unit_test(other_trap_numbers_are_none_of_ours),
		cmocka_unit_test(characters_and_the_exit_go_to_the_guests_owner),
		cmocka_unit_test(only_one_guest_may_hold_global),
		cmocka_unit_test(a_strand_is_one_guests_and_free_when_that_closes),
		cmocka_unit_test(guests_and_strands_have_a_most),
		cmocka_unit_test(a_reset_clears_what_the_strand_counts),
		cmocka_unit_test(machines_are_known_by_name_and_sockets),
		cmocka_unit_test(options_that_make_no_machine_are_refused),
		cmocka_unit_test(without_memory_nothing_is_opened_or_lost),
		cmocka_unit_test(rights_are_understood_in_both_forms),
		cmocka_unit_test(rights_that_say_nothing_or_two_things_are_refused_by_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
