/* sun4v_mmustat_test.c: the MMU statistics buffer: who gets it, what is put where, and when it is let go. */
#include "hv/sun4v_test_int.h"

enum { WORDS = MMUSTAT_BYTES / 8, A = 0x1000, B = 0x2000 };

/* mmustat.txt 2.3, row by row: D the side, C the context, S the page size; '-' is reserved. In words. */
static const char layout[WORDS + 1] = "0011--22--33----"
				      "4455--66--77----"
				      "8899--aa--bb----"
				      "ccdd--ee--ff----";

static uint64_t *buffer(struct rig *r, uint32_t at)
{
	return r->memory + at / 8;
}

static uint64_t be(uint64_t v)
{
	return __builtin_bswap64(v);
}

static void open_niagara(struct rig *r, uint8_t profile)
{
	rig_open(r, "niagara", 1, profile, (struct sun4v_rights){ 0 }, 2);
	assert_int_equal(set_version(r->v, 0x200, 1, 0), HV_EOK);
}

static uint64_t conf(struct rig *r, uint64_t ra, uint64_t *old)
{
	return fast(r->v, SUN4V_MMUSTAT_CONF, ra, 0xaa, old);
}

static uint64_t info(struct rig *r)
{
	uint64_t ra = 0;

	assert_int_equal(fast(r->v, SUN4V_MMUSTAT_INFO, 0x55, 0xaa, &ra), HV_EOK);
	return ra;
}

/* ---- the layout --------------------------------------------------------------------------------------- */

static void the_44_rows_tile_the_buffer(void **state)
{
	uint32_t slots = 0, reserved = 0;

	(void)state;
	for (uint32_t w = 0; w < WORDS; w++) {
		slots += layout[w] != '-';
		reserved += layout[w] == '-' && (w == 0 || layout[w - 1] != '-');
	}
	assert_int_equal(slots, 32);
	assert_int_equal(reserved, 12);
	for (uint32_t k = 0; k < 16; k++)
		assert_int_equal(layout[mmustat_slot(k >> 3, k >> 2 & 1, k & 3) / 8], "0123456789abcdef"[k]);
}

static void each_slot_gets_its_hits_and_ticks_and_nothing_else_changes(void **state)
{
	static struct rig r;

	(void)state;
	for (uint32_t k = 0; k < 16; k++) {
		const uint32_t at = mmustat_slot(k >> 3, k >> 2 & 1, k & 3) / 8;

		open_niagara(&r, SUN4V_PROFILE_SPEC);
		memset(r.memory, 0xa5, sizeof(r.memory));
		assert_int_equal(conf(&r, RAM_BASE + A, NULL), HV_EOK);
		buffer(&r, A)[at] = buffer(&r, A)[at + 1] = 0;
		for (uint32_t i = 1; i <= 1000; i++)
			sun4v_tsb_hit(r.v, k >> 3, k >> 2 & 1, k & 3, i);
		for (uint32_t w = 0; w < SCRATCH / 8; w++) {
			const uint64_t want = w == A / 8 + at     ? be(1000) :
					      w == A / 8 + at + 1 ? be(500500) :
								    0xa5a5a5a5a5a5a5a5;

			assert_int_equal(r.memory[w], want);
		}
		rig_close(&r);
	}
}

/* The service adds to what it finds: it never clears, and 64 bits wrap. */
static void counting_goes_on_from_what_the_buffer_holds(void **state)
{
	static struct rig r;

	(void)state;
	open_niagara(&r, SUN4V_PROFILE_SPEC);
	buffer(&r, A)[0] = be(UINT64_MAX);
	buffer(&r, A)[1] = be(0xfffffffffffffff0);
	assert_int_equal(conf(&r, RAM_BASE + A, NULL), HV_EOK);
	assert_int_equal(buffer(&r, A)[0], be(UINT64_MAX));
	sun4v_tsb_hit(r.v, false, false, MMUSTAT_8K, 0x20);
	assert_int_equal(buffer(&r, A)[0], 0);
	assert_int_equal(buffer(&r, A)[1], be(0x10));
	sun4v_tsb_hit(r.v, false, false, MMUSTAT_8K, UINT64_MAX);
	assert_int_equal(buffer(&r, A)[0], be(1));
	assert_int_equal(buffer(&r, A)[1], be(0xf));
	rig_close(&r);
}

/* ---- configuring ------------------------------------------------------------------------------------------ */

static void the_previous_buffer_comes_back(void **state)
{
	static struct rig r;
	uint64_t old;

	(void)state;
	for (uint8_t profile = 0; profile < 2; profile++) {
		open_niagara(&r, profile);
		assert_int_equal(info(&r), 0);
		assert_int_equal(conf(&r, 0, &old), HV_EOK);
		assert_int_equal(old, 0);
		assert_int_equal(conf(&r, RAM_BASE + A, &old), HV_EOK);
		assert_int_equal(old, 0);
		assert_int_equal(info(&r), RAM_BASE + A);
		assert_int_equal(info(&r), RAM_BASE + A); /* idempotent */
		assert_int_equal(conf(&r, RAM_BASE + A, &old), HV_EOK);
		assert_int_equal(old, RAM_BASE + A);
		assert_int_equal(conf(&r, RAM_BASE + B, &old), HV_EOK);
		assert_int_equal(old, RAM_BASE + A);
		assert_int_equal(conf(&r, 0, &old), HV_EOK);
		assert_int_equal(old, RAM_BASE + B);
		assert_int_equal(info(&r), 0);
		rig_close(&r);
	}
}

static void alignment_is_64_in_spec_and_8_in_opensparc(void **state)
{
	static struct rig r;

	(void)state;
	for (uint8_t profile = 0; profile < 2; profile++) {
		open_niagara(&r, profile);
		for (uint64_t off = 0; off <= 128; off++) {
			const bool good = off % (profile == SUN4V_PROFILE_SPEC ? 64 : 8) == 0;

			assert_int_equal(conf(&r, RAM_BASE + A + off, NULL), good ? HV_EOK : HV_EBADALIGN);
			/* Not in memory either: alignment is asked first. */
			assert_int_equal(conf(&r, 0x1000 + off, NULL), good ? HV_ENORADDR : HV_EBADALIGN);
		}
		rig_close(&r);
	}
}

static void all_of_the_buffer_is_in_memory_or_nothing(void **state)
{
	static const uint64_t bad[] = { 64,         0x7fffffc0,      RAM_BASE - MMUSTAT_BYTES,
					RAM_END,    RAM_END - 0x1c0, 1ull << 40,
					1ull << 63, 0 - 0x200ull,    0 - 64ull };
	static struct rig r;

	(void)state;
	for (uint8_t profile = 0; profile < 2; profile++) {
		open_niagara(&r, profile);
		assert_int_equal(conf(&r, RAM_BASE, NULL), HV_EOK);
		assert_int_equal(conf(&r, RAM_END - MMUSTAT_BYTES, NULL), HV_EOK);
		for (uint32_t i = 0; i < COUNT(bad); i++)
			assert_int_equal(conf(&r, bad[i], NULL), HV_ENORADDR);
		rig_close(&r);
	}
}

static void hit(struct rig *r)
{
	sun4v_tsb_hit(r->v, true, true, MMUSTAT_4M, 7);
}

static bool is_untouched(struct rig *r)
{
	for (uint32_t w = 0; w < SCRATCH / 8; w++)
		if (r->memory[w])
			return false;
	return true;
}

/* "Equivalent to passing an raddr of zero." */
static void after_an_error_nothing_is_collected_in_spec(void **state)
{
	static struct rig r;
	uint64_t old;

	(void)state;
	for (uint32_t how = 0; how < 2; how++) {
		open_niagara(&r, SUN4V_PROFILE_SPEC);
		assert_int_equal(conf(&r, RAM_BASE + A, NULL), HV_EOK);
		assert_int_equal(conf(&r, how ? RAM_BASE + 4 : 0x1000, NULL), how ? HV_EBADALIGN : HV_ENORADDR);
		hit(&r);
		assert_true(is_untouched(&r));
		assert_int_equal(info(&r), 0);
		assert_int_equal(conf(&r, RAM_BASE + B, &old), HV_EOK);
		assert_int_equal(old, 0);
		rig_close(&r);
	}
}

static void after_an_error_the_old_buffer_is_kept_in_opensparc(void **state)
{
	static struct rig r;

	(void)state;
	for (uint32_t how = 0; how < 2; how++) {
		open_niagara(&r, SUN4V_PROFILE_OPENSPARC);
		assert_int_equal(conf(&r, RAM_BASE + A, NULL), HV_EOK);
		assert_int_equal(conf(&r, how ? RAM_BASE + 4 : 0x1000, NULL), how ? HV_EBADALIGN : HV_ENORADDR);
		hit(&r);
		assert_int_equal(buffer(&r, A)[0x1b0 / 8], be(1));
		assert_int_equal(info(&r), RAM_BASE + A);
		rig_close(&r);
	}
}

/* ---- letting go -------------------------------------------------------------------------------------------- */

static void a_buffer_that_was_given_back_is_never_written_again(void **state)
{
	static struct rig r;
	struct sun4v_vcpu *again;

	(void)state;
	for (uint32_t how = 0; how < 4; how++) {
		open_niagara(&r, SUN4V_PROFILE_SPEC);
		assert_int_equal(conf(&r, RAM_BASE + A, NULL), HV_EOK);
		if (how == 0)
			assert_int_equal(conf(&r, 0, NULL), HV_EOK);
		else if (how == 1)
			sun4v_vcpu_reset(r.v);
		else if (how == 2)
			assert_int_equal(conf(&r, RAM_BASE + B, NULL), HV_EOK);
		if (how == 3) {
			sun4v_vcpu_close(r.v);
			assert_int_equal(sun4v_vcpu_open(&again, r.g, 2), 0);
			r.v = again;
		}
		hit(&r);
		assert_int_equal(buffer(&r, B)[0x1b0 / 8], how == 2 ? be(1) : 0);
		memset(buffer(&r, B), 0, MMUSTAT_BYTES);
		assert_true(is_untouched(&r));
		assert_int_equal(info(&r), how == 2 ? RAM_BASE + B : 0);
		rig_close(&r);
	}
}

/* Only the calls go with the group, as long as nobody makes one that fails. */
static void a_disabled_group_takes_the_calls_not_the_buffer(void **state)
{
	static struct rig r;

	(void)state;
	open_niagara(&r, SUN4V_PROFILE_SPEC);
	assert_int_equal(conf(&r, RAM_BASE + A, NULL), HV_EOK);
	assert_int_equal(set_version(r.v, 0x200, 0, 0), HV_EOK);
	assert_int_equal(fast(r.v, SUN4V_MMUSTAT_INFO, 0, 0, NULL), HV_EBADTRAP);
	hit(&r);
	assert_int_equal(buffer(&r, A)[0x1b0 / 8], be(1));
	assert_int_equal(set_version(r.v, 0x200, 1, 0), HV_EOK);
	assert_int_equal(info(&r), RAM_BASE + A);
	rig_close(&r);
}

/* ---- whose it is --------------------------------------------------------------------------------------------- */

static void each_strand_has_a_buffer_of_its_own(void **state)
{
	static struct rig r;
	struct sun4v_vcpu *other;

	(void)state;
	open_niagara(&r, SUN4V_PROFILE_SPEC);
	assert_int_equal(sun4v_vcpu_open(&other, r.g, 3), 0);
	assert_int_equal(conf(&r, RAM_BASE + A, NULL), HV_EOK);
	assert_int_equal(fast(other, SUN4V_MMUSTAT_CONF, RAM_BASE + B, 0, NULL), HV_EOK);
	hit(&r);
	sun4v_tsb_hit(other, false, true, MMUSTAT_256M, 9);
	assert_int_equal(buffer(&r, A)[0x1b0 / 8], be(1));
	assert_int_equal(buffer(&r, A)[0xd0 / 8], 0);
	assert_int_equal(buffer(&r, B)[0xd0 / 8], be(1));
	assert_int_equal(buffer(&r, B)[0xd8 / 8], be(9));
	sun4v_vcpu_reset(other);
	assert_int_equal(info(&r), RAM_BASE + A);
	rig_close(&r);
}

/* decision 21: never after an error; EBADTRAP is one, whatever group is missing. The genuine one goes on filling it. */
static void after_conf_answered_ebadtrap_the_old_buffer_was_filled_on(void **state)
{
	static struct rig r;

	(void)state;
	for (uint8_t profile = SUN4V_PROFILE_SPEC; profile <= SUN4V_PROFILE_OPENSPARC; profile++) {
		const bool kept = profile == SUN4V_PROFILE_OPENSPARC;
		uint64_t o[6], ra = 1;

		open_niagara(&r, profile);
		assert_int_equal(fast(r.v, SUN4V_MMUSTAT_CONF, RAM_BASE, 0, NULL), HV_EOK);
		assert_int_equal(set_version(r.v, 0x200, 0, 0), HV_EOK);
		assert_int_equal(trap(r.v, HV_FAST_TRAP, SUN4V_MMUSTAT_CONF, RAM_BASE + 0x400, 0, 0, o), HV_EBADTRAP);
		sun4v_tsb_hit(r.v, true, false, MMUSTAT_8K, 5);
		assert_int_equal(be64_get((uint8_t *)r.memory + mmustat_slot(true, false, MMUSTAT_8K)), kept);
		assert_int_equal(set_version(r.v, 0x200, 1, 0), HV_EOK);
		assert_int_equal(fast(r.v, SUN4V_MMUSTAT_INFO, 0, 0, &ra), HV_EOK);
		assert_int_equal(ra, kept ? RAM_BASE : 0);
		rig_close(&r);
	}
}

/* Another guest's buffers stay. */
static void mach_exit_left_the_buffers_of_the_guest(void **state)
{
	static struct rig r;
	struct sun4v_guest *other;
	struct sun4v_vcpu *second, *stranger;
	struct sun4v_guest_opts o;
	uint64_t out[6];

	(void)state;
	open_niagara(&r, SUN4V_PROFILE_OPENSPARC);
	o = rig_guest(&r, (struct sun4v_rights){ 0 });
	assert_int_equal(sun4v_guest_open(&other, r.s, &o), 0);
	assert_int_equal(sun4v_vcpu_open(&second, r.g, 9), 0);
	assert_int_equal(sun4v_vcpu_open(&stranger, other, 11), 0);
	assert_int_equal(set_version(stranger, 0x200, 1, 0), HV_EOK);
	assert_int_equal(fast(r.v, SUN4V_MMUSTAT_CONF, RAM_BASE, 0, NULL), HV_EOK);
	assert_int_equal(fast(second, SUN4V_MMUSTAT_CONF, RAM_BASE + 0x200, 0, NULL), HV_EOK);
	assert_int_equal(fast(stranger, SUN4V_MMUSTAT_CONF, RAM_BASE + 0x400, 0, NULL), HV_EOK);
	assert_int_equal(trap(r.v, HV_CORE_TRAP, SUN4V_MACH_EXIT, 0, 0, 0, out), HV_EOK);
	sun4v_tsb_hit(r.v, true, false, MMUSTAT_8K, 5);
	sun4v_tsb_hit(second, true, false, MMUSTAT_8K, 5);
	sun4v_tsb_hit(stranger, true, false, MMUSTAT_8K, 5);
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(be64_get((uint8_t *)r.memory + 0x200 * i + mmustat_slot(true, false, MMUSTAT_8K)),
				 i == 2);
	sun4v_guest_close(other);
	rig_close(&r);
}

static void no_other_machine_has_it(void **state)
{
	static const struct {
		const char *name;
		uint32_t sockets;
	} others[] = {
		{ "maramba", 1 }, { "maramba", 2 }, { "batoka", 1 }, { "batoka", 2 }, { "batoka", 3 }, { "batoka", 4 },
	};
	static struct rig r;

	(void)state;
	for (uint32_t i = 0; i < COUNT(others); i++)
		for (uint8_t profile = 0; profile < 2; profile++) {
			rig_open(&r, others[i].name, others[i].sockets, profile, all_rights, 0);
			assert_int_equal(set_version(r.v, 0x200, 1, 0), HV_EINVAL);
			assert_int_equal(set_version(r.v, 0x205, 1, 1), HV_EOK);
			assert_int_equal(conf(&r, RAM_BASE + A, NULL), HV_EBADTRAP);
			assert_int_equal(fast(r.v, SUN4V_MMUSTAT_INFO, 0, 0, NULL), HV_EBADTRAP);
			hit(&r);
			assert_true(is_untouched(&r));
			rig_close(&r);
		}
}

/* A guest whose owner gave no way to its bytes has no memory to lend. */
static void a_guest_without_reachable_memory_has_no_buffer(void **state)
{
	static struct rig r;
	struct sun4v_guest *blind;
	struct sun4v_vcpu *v;

	(void)state;
	open_niagara(&r, SUN4V_PROFILE_SPEC);
	assert_int_equal(sun4v_guest_open(&blind, r.s, &(struct sun4v_guest_opts){ .rights = { 0 } }), 0);
	assert_int_equal(sun4v_vcpu_open(&v, blind, 9), 0);
	assert_int_equal(set_version(v, 0x200, 1, 0), HV_EOK);
	assert_int_equal(fast(v, SUN4V_MMUSTAT_CONF, RAM_BASE, 0, NULL), HV_ENORADDR);
	assert_int_equal(fast(v, SUN4V_MMUSTAT_CONF, 0, 0, NULL), HV_EOK);
	sun4v_guest_close(blind);
	rig_close(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_44_rows_tile_the_buffer),
		cmocka_unit_test(each_slot_gets_its_hits_and_ticks_and_nothing_else_changes),
		cmocka_unit_test(counting_goes_on_from_what_the_buffer_holds),
		cmocka_unit_test(the_previous_buffer_comes_back),
		cmocka_unit_test(alignment_is_64_in_spec_and_8_in_opensparc),
		cmocka_unit_test(all_of_the_buffer_is_in_memory_or_nothing),
		cmocka_unit_test(after_an_error_nothing_is_collected_in_spec),
		cmocka_unit_test(after_an_error_the_old_buffer_is_kept_in_opensparc),
		cmocka_unit_test(a_buffer_that_was_given_back_is_never_written_again),
		cmocka_unit_test(a_disabled_group_takes_the_calls_not_the_buffer),
		cmocka_unit_test(each_strand_has_a_buffer_of_its_own),
		cmocka_unit_test(after_conf_answered_ebadtrap_the_old_buffer_was_filled_on),
		cmocka_unit_test(mach_exit_left_the_buffers_of_the_guest),
		cmocka_unit_test(no_other_machine_has_it),
		cmocka_unit_test(a_guest_without_reachable_memory_has_no_buffer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
