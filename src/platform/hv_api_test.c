/* hv_api_test.c: tally/hv.h as somebody else's emulator uses it. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

#include <tally/hv.h>

#include "base/base.h"
#include "base/mem_left.h"
#include "hv/papr.h"
#include "hv/sun4v.h"

#define BASE UINT64_C(0x80000000)
static _Alignas(4096) uint8_t ram[65536];

static void *memory(void *arg, uint64_t ra, size_t n)
{
	(void)arg;
	return ra < BASE || n > sizeof(ram) || ra - BASE > sizeof(ram) - n ? NULL : ram + (ra - BASE);
}

static struct tally_hv *machine(const char *text, uint32_t flags)
{
	const struct tally_hv_opts o = { sizeof(o), text, flags, 0 };
	struct tally_hv *h;

	assert_int_equal(tally_hv_open(&h, &o), 0);
	assert_string_equal(tally_hv_error(h), "");
	memset(ram, 0, sizeof(ram));
	return h;
}

static struct tally_hv_guest *guest(struct tally_hv *h, const char *rights, uint32_t partition)
{
	const struct tally_hv_guest_opts o = {
		.size = sizeof(o), .memory = memory, .rights = rights, .partition = partition
	};
	struct tally_hv_guest *g = NULL;

	assert_int_equal(tally_hv_guest_open(&g, h, &o), 0);
	return g;
}

static uint64_t call(struct tally_hv_guest *g, uint32_t trap, uint64_t function, uint64_t a, uint64_t b, uint64_t c,
		     uint64_t *o1)
{
	uint64_t r[6] = { a, b, c, 0, 0, function };

	assert_int_equal(tally_hv_call(g, 0, trap, r), 0);
	if (o1)
		*o1 = r[1];
	return r[0];
}

static void options_that_are_not_known_are_refused(void **state)
{
	static const struct {
		int line;
		struct tally_hv_opts o;
		const char *words;
	} rows[] = {
		{ __LINE__, { sizeof(struct tally_hv_opts), NULL, 0, 0 }, "no machine" },
		{ __LINE__, { sizeof(struct tally_hv_opts), "batoka", 8, 0 }, "unknown options" },
		{ __LINE__, { sizeof(struct tally_hv_opts), "batoka", 0, 1 }, "unknown options" },
		{ __LINE__, { sizeof(struct tally_hv_opts), "kunpeng", 0, 0 }, "no hypervisor" },
		{ __LINE__, { sizeof(struct tally_hv_opts), "batoca", 0, 0 }, "did you mean 'batoka'" },
		{ __LINE__, { sizeof(struct tally_hv_opts), "batoka,sockets=9", 0, 0 }, "sockets=9" },
		{ __LINE__, { sizeof(struct tally_hv_opts), "power,firmware=7", 0, 0 }, "firmware=7" },
		{ __LINE__, { sizeof(struct tally_hv_opts), "power,config=/nowhere", 0, 0 }, "/nowhere" },
		{ __LINE__, { sizeof(struct tally_hv_opts), "power", TALLY_HV_IDLE, 0 }, "require a sun4v machine" },
		{ __LINE__,
		  { sizeof(struct tally_hv_opts), "power", TALLY_HV_OPENSPARC, 0 },
		  "require a sun4v machine" },
		{ __LINE__, { sizeof(struct tally_hv_opts), "batoka,seed=1,seed=2", 0, 0 }, "given twice" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct tally_hv *h;

		if (tally_hv_open(&h, &rows[i].o) >= 0 || !strstr(tally_hv_error(h), rows[i].words))
			fail_msg("row of line %d: %s", rows[i].line, tally_hv_error(h));
		tally_hv_close(h);
	}
}

static void a_machine_that_was_not_opened_takes_no_call(void **state)
{
	static const char words[] = "no machine: tally_hv_open() failed";
	const struct tally_hv_opts o = { sizeof(o), "batoca", 0, 0 };
	const struct tally_hv_guest_opts of = { .size = sizeof(of), .memory = memory };
	const struct tally_hv_ref ref = { .va = 0 };
	struct tally_hv_info i = { .size = sizeof(i) };
	struct tally_hv_guest *g = NULL;
	struct tally_hv *h;

	(void)state;
	assert_int_equal(tally_hv_open(&h, &o), -TALLY_EINVAL);
	assert_int_equal(tally_hv_guest_open(&g, h, &of), -TALLY_ESTATE);
	assert_string_equal(tally_hv_error(h), words);
	assert_null(g);
	assert_int_equal(tally_hv_info(h, &i), -TALLY_ESTATE);
	assert_int_equal(tally_hv_advance(h, 1), -TALLY_ESTATE);
	assert_int_equal(tally_hv_now(h), 0);
	assert_int_equal(tally_hv_refs(h, &ref, 1), -TALLY_ESTATE);
	assert_int_equal(tally_hv_make_busy(h, 0, 1), -TALLY_ESTATE);
	assert_string_equal(tally_hv_error(h), words);
	assert_int_equal(tally_hv_close(h), 0);
}

static void a_machine_is_not_closed_before_its_guests(void **state)
{
	struct tally_hv *h = machine("batoka", TALLY_HV_IDLE);
	struct tally_hv_guest *one = guest(h, "strand", 0), *two = guest(h, "strand", 0), *none = NULL;
	const struct tally_hv_guest_opts no_memory = { .size = sizeof(no_memory) };
	uint64_t r[6] = { 0 };

	(void)state;
	assert_int_equal(tally_hv_guest_open(&none, h, &no_memory), -TALLY_EINVAL);
	assert_int_equal(tally_hv_close(h), -TALLY_ESTATE);
	assert_non_null(strstr(tally_hv_error(h), "call tally_hv_guest_close() before tally_hv_close()"));
	assert_int_equal(tally_hv_call(one, 0, 0xff, r), 0);
	tally_hv_guest_close(one);
	assert_int_equal(tally_hv_close(h), -TALLY_ESTATE);
	tally_hv_guest_close(two);
	assert_int_equal(tally_hv_close(h), 0);
}

static void a_machine_says_what_it_is(void **state)
{
	struct tally_hv *h = machine("maramba", 0);
	struct tally_hv_info i = { .size = sizeof(i) };

	(void)state;
	tally_hv_info(h, &i);
	assert_string_equal(i.machine, "maramba");
	assert_int_equal(i.sockets, 2);
	assert_int_equal(i.strands, 128);
	assert_int_equal(i.strands_per_socket, 64);
	tally_hv_advance(h, 12345);
	assert_int_equal(tally_hv_now(h), 12345);
	tally_hv_close(h);
	h = machine("power,firmware=8", 0);
	tally_hv_info(h, &i);
	assert_int_equal(i.firmware, 8);
	assert_int_equal(i.strands, 0);
	tally_hv_close(h);
}

static void an_older_hypervisor_grants_the_older_api(void **state)
{
	struct tally_hv *h = machine("batoka,api=1.0", TALLY_HV_IDLE);
	struct tally_hv_guest *g = guest(h, NULL, 0);
	uint64_t minor = 0;

	(void)state;
	assert_int_equal(tally_hv_take(g, 0), 0);
	assert_int_equal(call(g, HV_CORE_TRAP, SUN4V_API_SET_VERSION, SUN4V_GROUP_VFALLS, 1, 1, &minor), HV_EOK);
	assert_int_equal(minor, 0);
	assert_int_equal(call(g, HV_FAST_TRAP, SUN4V_GET_PERFREG, 17, 0, 0, NULL), HV_EOK);
	assert_int_equal(call(g, HV_FAST_TRAP, SUN4V_GET_PERFREG, 18, 0, 0, NULL), HV_ENOTSUPPORTED);
	tally_hv_guest_close(g);
	tally_hv_close(h);
}

static void guests_share_a_machine_by_rights_and_strands(void **state)
{
	struct tally_hv *h = machine("batoka", TALLY_HV_IDLE);
	struct tally_hv_guest *one = guest(h, "global,htstrand", 0), *two = NULL;
	const struct tally_hv_guest_opts all = { .size = sizeof(all), .memory = memory };
	uint64_t r[6] = { 0 };

	(void)state;
	assert_int_equal(tally_hv_guest_open(&two, h, &all), -TALLY_EBUSY);
	assert_non_null(strstr(tally_hv_error(h), "global"));
	two = guest(h, "strand", 0);
	assert_int_equal(tally_hv_take(one, 0), 0);
	assert_int_equal(tally_hv_take(two, 0), -TALLY_EBUSY);
	assert_int_equal(tally_hv_take(two, 255), 0);
	assert_int_equal(tally_hv_take(two, 256), -TALLY_EINVAL);
	assert_int_equal(tally_hv_call(two, 0, 0xff, r), -TALLY_EBUSY);
	assert_string_equal(tally_hv_error(h), "strand 0 belongs to another guest");
	assert_int_equal(tally_hv_call(two, 255, 0x81, r), -TALLY_EINVAL);
	assert_non_null(strstr(tally_hv_error(h), "trap 0x81"));
	assert_int_equal(call(one, 0xff, 0, 0x205, 1, 1, NULL), HV_EOK);
	assert_int_equal(call(one, 0x80, 0x107, 1, 3, 0, NULL), HV_EOK);
	tally_hv_guest_close(one);
	assert_int_equal(tally_hv_take(two, 0), 0);
	assert_int_equal(call(two, 0xff, 0, 0x205, 1, 1, NULL), HV_EOK);
	assert_int_equal(call(two, 0x80, 0x107, 1, 3, 0, NULL), HV_ENOACCESS);
	tally_hv_guest_close(two);
	tally_hv_close(h);
}

static void a_guest_that_can_not_be_is_refused(void **state)
{
	const struct tally_hv_guest_opts rows[] = {
		{ .size = sizeof(rows[0]) },
		{ .size = sizeof(rows[0]), .memory = memory, .zero = 1 },
		{ .size = sizeof(rows[0]), .memory = memory, .rights = "everything" },
		{ .size = sizeof(rows[0]), .memory = memory, .partition = 1 },
	};
	struct tally_hv *h = machine("niagara", TALLY_HV_IDLE);
	struct tally_hv_guest *g = NULL;
	struct tally_hv_guest_opts power = { .size = sizeof(power), .memory = memory, .partition = 999 };

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		assert_int_equal(tally_hv_guest_open(&g, h, &rows[i]), -TALLY_EINVAL);
		assert_string_not_equal(tally_hv_error(h), "");
	}
	tally_hv_close(h);
	h = machine("power", 0);
	assert_int_equal(tally_hv_guest_open(&g, h, &power), -TALLY_EINVAL);
	assert_non_null(strstr(tally_hv_error(h), "partition: 999"));
	power.rights = "all";
	power.partition = 1;
	assert_int_equal(tally_hv_guest_open(&g, h, &power), -TALLY_EINVAL);
	tally_hv_close(h);
}

static void the_emulators_own_misses_are_in_its_statistics(void **state)
{
	struct tally_hv *h = machine("niagara", TALLY_HV_IDLE);
	struct tally_hv_guest *g = guest(h, NULL, 0);
	const uint8_t *slot = ram + mmustat_slot(true, true, MMUSTAT_4M);
	uint64_t o1 = 1;

	(void)state;
	assert_int_equal(call(g, 0xff, 0, 0x200, 1, 0, NULL), HV_EOK);
	assert_int_equal(call(g, 0x80, 0x102, BASE, 0, 0, &o1), HV_EOK);
	assert_int_equal(o1, 0);
	assert_int_equal(tally_hv_tsb_hit(g, 0, true, true, 4u << 20, 100), 0);
	assert_int_equal(tally_hv_tsb_hit(g, 0, true, true, 4u << 20, 11), 0);
	assert_int_equal(tally_hv_tsb_hit(g, 0, true, true, 12345, 11), -TALLY_EINVAL);
	assert_int_equal(be64_get(slot), 2);
	assert_int_equal(be64_get(slot + 8), 111);
	assert_int_equal(tally_hv_reset(g, 0), 0);
	assert_int_equal(tally_hv_tsb_hit(g, 0, true, true, 4u << 20, 1), 0);
	assert_int_equal(be64_get(slot), 2);
	tally_hv_guest_close(g);
	tally_hv_close(h);
}

/* The hypercall of a strand: its status. */
static uint64_t get_perfreg(struct tally_hv_guest *g, uint32_t cpu, uint64_t reg)
{
	uint64_t r[6] = { reg, 0, 0, 0, 0, SUN4V_GET_PERFREG };

	assert_int_equal(tally_hv_call(g, cpu, HV_FAST_TRAP, r), 0);
	return r[0];
}

/* 100 pages of 8 KB in turn, more than a TLB holds: after the first time each is a hit of the TSB. */
static void touch_pages(struct tally_hv *h, uint32_t times)
{
	struct tally_hv_ref r = { .context = 1, .kind = TALLY_HV_LOAD, .bytes = 8, .instructions = 1 };

	for (uint32_t i = 0; i < times * 100; i++) {
		r.va = 0x2000000 + i % 100 * 8192;
		assert_int_equal(tally_hv_refs(h, &r, 1), 0);
	}
}

static void mach_exit_left_the_mmustat_buffer_to_be_filled_on(void **state)
{
	struct tally_hv *h = machine("niagara", TALLY_HV_IDLE);
	struct tally_hv_guest *g = guest(h, NULL, 0);

	(void)state;
	assert_int_equal(call(g, HV_CORE_TRAP, SUN4V_API_SET_VERSION, SUN4V_GROUP_NIAGARA, 1, 0, NULL), HV_EOK);
	assert_int_equal(call(g, HV_FAST_TRAP, SUN4V_MMUSTAT_CONF, BASE, 0, 0, NULL), HV_EOK);
	touch_pages(h, 2);
	assert_int_equal(be64_get(ram + mmustat_slot(true, true, MMUSTAT_8K)), 100);
	assert_int_equal(call(g, HV_CORE_TRAP, SUN4V_MACH_EXIT, 0, 0, 0, NULL), HV_EOK);
	touch_pages(h, 1);
	assert_int_equal(be64_get(ram + mmustat_slot(true, true, MMUSTAT_8K)), 100);
	tally_hv_guest_close(g);
	tally_hv_close(h);
}

static void ewouldblock_could_not_be_brought_about(void **state)
{
	struct tally_hv *h = machine("batoka", TALLY_HV_IDLE);
	struct tally_hv_guest *g = guest(h, NULL, 0);

	(void)state;
	assert_int_equal(call(g, HV_CORE_TRAP, SUN4V_API_SET_VERSION, SUN4V_GROUP_VFALLS, 1, 1, NULL), HV_EOK);
	assert_int_equal(tally_hv_make_busy(h, 3, 2), 0);
	assert_int_equal(get_perfreg(g, 0, 18), HV_EOK); /* of Zambezi 0 */
	assert_int_equal(get_perfreg(g, 0, 72), HV_EWOULDBLOCK);
	assert_int_equal(get_perfreg(g, 0, 89), HV_EWOULDBLOCK);
	assert_int_equal(get_perfreg(g, 0, 72), HV_EOK);
	assert_int_equal(tally_hv_make_busy(h, 4, 1), -TALLY_EINVAL);
	assert_non_null(strstr(tally_hv_error(h), "no such Zambezi: 4 (batoka has 4)"));
	tally_hv_guest_close(g);
	tally_hv_close(h);
	h = machine("power", 0);
	assert_int_equal(tally_hv_make_busy(h, 0, 1), -TALLY_ENOTSUP);
	tally_hv_close(h);
}

static void the_emulators_references_move_its_counters(void **state)
{
	struct tally_hv *h = machine("batoka", TALLY_HV_IDLE);
	struct tally_hv_guest *g = guest(h, NULL, 0);
	struct tally_hv_ref r[64];
	uint64_t pic = 0;

	(void)state;
	for (uint32_t i = 0; i < COUNT(r); i++)
		r[i] = (struct tally_hv_ref){
			.va = (uint64_t)i << 6, .context = 1, .kind = TALLY_HV_LOAD, .bytes = 8, .instructions = 1
		};
	/* PCR: user, PIC0 counts Instr_ld (2, 0x08). */
	assert_int_equal(tally_hv_asr_write(g, 0, 0x10, 4 | UINT64_C(0x08) << 6 | UINT64_C(2) << 14), 0);
	assert_int_equal(tally_hv_asr_write(g, 0, 0x11, 0), 0);
	assert_int_equal(tally_hv_refs(h, r, COUNT(r)), 0);
	assert_int_equal(tally_hv_asr_read(g, 0, 0x11, &pic), 0);
	assert_int_equal((uint32_t)pic, COUNT(r));
	assert_int_equal(tally_hv_asr_read(g, 0, 0x12, &pic), -TALLY_EINVAL);
	tally_hv_guest_close(g);
	tally_hv_close(h);
}

static void a_reference_that_can_not_be_is_refused_with_words(void **state)
{
	const struct {
		struct tally_hv_ref r;
		const char *words;
	} rows[] = {
		{ { .strand = 256 }, "reference 1: no such strand: 256" },
		{ { .kind = 77 }, "reference 1: no such kind: 77" },
		{ { .level = 9 }, "reference 1: no such level: 9" },
	};
	struct tally_hv *h = machine("batoka", TALLY_HV_IDLE);
	struct tally_hv_guest *g = guest(h, NULL, 0);
	uint64_t pic = 1;

	(void)state;
	assert_int_equal(tally_hv_asr_write(g, 0, 0x10, 4 | UINT64_C(0xff) << 6 | UINT64_C(2) << 14), 0);
	assert_int_equal(tally_hv_asr_write(g, 0, 0x11, 0), 0);
	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct tally_hv_ref two[] = { { .bytes = 4, .instructions = 1 }, rows[i].r };

		assert_int_equal(tally_hv_refs(h, two, COUNT(two)), -TALLY_EINVAL);
		assert_non_null(strstr(tally_hv_error(h), rows[i].words));
	}
	assert_int_equal(tally_hv_asr_read(g, 0, 0x11, &pic), 0);
	assert_int_equal((uint32_t)pic, 0);
	tally_hv_guest_close(g);
	tally_hv_close(h);
}

static void what_a_machine_has_not_is_not_supported(void **state)
{
	const struct tally_hv_ref r = { .bytes = 4 };
	struct tally_hv *h = machine("batoka", TALLY_HV_IDLE);
	struct tally_hv_guest *g = guest(h, NULL, 0);
	uint64_t v;

	(void)state;
	assert_int_equal(tally_hv_tsb_hit(g, 0, true, true, 8u << 10, 1), -TALLY_ENOTSUP);
	assert_non_null(strstr(tally_hv_error(h), "batoka has no MMU statistics"));
	tally_hv_guest_close(g);
	tally_hv_close(h);
	h = machine("power", 0);
	g = guest(h, NULL, 0);
	assert_int_equal(tally_hv_refs(h, &r, 1), -TALLY_ENOTSUP);
	assert_int_equal(tally_hv_asr_read(g, 0, 0x10, &v), -TALLY_ENOTSUP);
	assert_string_not_equal(tally_hv_error(h), "");
	tally_hv_guest_close(g);
	tally_hv_close(h);
}

static void a_machine_takes_the_size_first_when_told(void **state)
{
	struct tally_hv *h = machine("power,args=size-first,run-counts=no", 0);
	struct tally_hv_guest *g = guest(h, NULL, 0);
	uint64_t plain[6] = { PAPR_GPCI, BASE, 4096 }, turned[6] = { PAPR_GPCI, 4096, BASE };

	(void)state;
	gpci_ask(ram, sizeof(ram), 0x30, 0, 0, 6);
	assert_int_equal(tally_hv_call(g, 0, 1, plain), 0);
	assert_int_not_equal(plain[0], H_SUCCESS);
	gpci_ask(ram, sizeof(ram), 0x30, 0, 0, 6);
	tally_hv_advance(h, 100000000);
	assert_int_equal(tally_hv_call(g, 0, 1, turned), 0);
	assert_int_equal(turned[0], H_SUCCESS);
	assert_int_equal(turned[1], 4096);
	assert_int_equal(turned[2], BASE);
	tally_hv_guest_close(g);
	tally_hv_close(h);
}

static void a_partition_reads_its_own_record(void **state)
{
	struct tally_hv *h = machine("power", 0);
	struct tally_hv_guest *g = guest(h, NULL, 2);
	uint64_t r[6] = { PAPR_GPCI, BASE, 1024 };

	(void)state;
	tally_hv_advance(h, 100000000);
	gpci_ask(ram, 1024, 0x20, -1, 0, 6);
	assert_int_equal(tally_hv_call(g, 0, 1, r), 0);
	assert_int_equal(r[0], 0);
	assert_int_equal(be64_get(ram + GPCI_HEADER), 2);
	assert_true(be64_get(ram + GPCI_HEADER + 8) > 0);
	assert_int_equal(tally_hv_call(g, 0, 0x80, r), -TALLY_EINVAL);
	assert_int_equal(tally_hv_call(g, 65536, 1, r), -TALLY_EINVAL);
	assert_int_equal(tally_hv_asr_read(g, 0, 0x10, r), -TALLY_ENOTSUP);
	assert_int_equal(tally_hv_tsb_hit(g, 0, true, true, 8192, 1), -TALLY_ENOTSUP);
	assert_int_equal(tally_hv_refs(h, NULL, 0), -TALLY_ENOTSUP);
	tally_hv_guest_close(g);
	tally_hv_close(h);
}

static void memory_runs_out_at_every_point(void **state)
{
	const struct tally_hv_opts o = { sizeof(o), "niagara", TALLY_HV_IDLE, 0 };
	const struct tally_hv_guest_opts go = { .size = sizeof(go), .memory = memory };

	(void)state;
	for (long n = 1;; n++) {
		struct tally_hv_guest *g = NULL;
		struct tally_hv *h = NULL;
		int rc;

		mem_fail_at(n);
		rc = tally_hv_open(&h, &o);
		if (rc == 0)
			rc = tally_hv_guest_open(&g, h, &go);
		if (rc == 0)
			rc = tally_hv_take(g, 0);
		tally_hv_guest_close(g);
		tally_hv_close(h);
		assert_int_equal(mem_live(), 0);
		if (!mem_failed())
			break;
		assert_int_equal(rc, -TALLY_ENOMEM);
	}
	mem_fail_at(0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(options_that_are_not_known_are_refused),
		TEST(a_machine_that_was_not_opened_takes_no_call),
		TEST(a_machine_is_not_closed_before_its_guests),
		TEST(a_machine_says_what_it_is),
		TEST(an_older_hypervisor_grants_the_older_api),
		TEST(guests_share_a_machine_by_rights_and_strands),
		TEST(a_guest_that_can_not_be_is_refused),
		TEST(the_emulators_own_misses_are_in_its_statistics),
		TEST(mach_exit_left_the_mmustat_buffer_to_be_filled_on),
		TEST(ewouldblock_could_not_be_brought_about),
		TEST(the_emulators_references_move_its_counters),
		TEST(a_reference_that_can_not_be_is_refused_with_words),
		TEST(what_a_machine_has_not_is_not_supported),
		TEST(a_machine_takes_the_size_first_when_told),
		TEST(a_partition_reads_its_own_record),
		TEST(memory_runs_out_at_every_point),
	};

	return cmocka_run_group_tests_name("hv_api", tests, NULL, NULL);
}
