/* pmu_test.c: PMUs of fake sysfs trees (test/sysfs). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>
#include <linux/perf_event.h>

#include "facts/event.h"
#include "kernel/kernel.h"

#define AMD "test/sysfs/amd"
#define INTEL "test/sysfs/intel"

/* The numbers of facts/event.h are the kernel's. */
static_assert((int)EVENT_TYPE_HW == PERF_TYPE_HARDWARE && (int)EVENT_TYPE_SW == PERF_TYPE_SOFTWARE, "uapi");
static_assert((int)EVENT_TYPE_CACHE == PERF_TYPE_HW_CACHE && (int)EVENT_TYPE_RAW == PERF_TYPE_RAW, "uapi");
static_assert((int)CACHE_NODE == PERF_COUNT_HW_CACHE_NODE && (int)CACHE_BPU == PERF_COUNT_HW_CACHE_BPU, "uapi");
static_assert((int)CACHE_PREFETCH == PERF_COUNT_HW_CACHE_OP_PREFETCH, "uapi");
static_assert((int)CACHE_MISS == PERF_COUNT_HW_CACHE_RESULT_MISS, "uapi");

static struct k_pmu pmu(const char *root, const char *name)
{
	struct k_pmu *v, found = { 0 };
	struct err e = { 0 };
	uint32_t n;

	assert_int_equal(k_pmus(root, &v, &n, &e), 0);
	for (uint32_t i = 0; i < n; i++)
		if (!strcmp(v[i].name, name))
			found = v[i];
	mem_free(v);
	assert_string_equal(found.name, name);
	return found;
}

static void encodes(const char *root, const char *name, const char *terms, uint64_t config, uint64_t config1)
{
	struct k_pmu p = pmu(root, name);
	struct k_event ev = { 0 };
	struct err e = { 0 };
	int rc = k_pmu_encode(root, &p, terms, &ev, &e);

	assert_string_equal(e.text, "");
	assert_int_equal(rc, 0);
	assert_int_equal(ev.config, config);
	assert_int_equal(ev.config1, config1);
	assert_int_equal(ev.type, p.type);
}

static void refuses(const char *root, const char *name, const char *terms, int code, const char *words)
{
	struct k_pmu p = pmu(root, name);
	struct k_event ev = { .config = 7 };
	struct err e = { 0 };

	assert_int_equal(k_pmu_encode(root, &p, terms, &ev, &e), -code);
	if (!strstr(e.text, words))
		fail_msg("%s: \"%s\" does not say \"%s\"", terms, e.text, words);
	assert_int_equal(ev.config, 7);
}

static void hybrid_tree_has_two_core_pmus(void **state)
{
	struct k_pmu core = pmu("test/sysfs/hybrid", "cpu_core"), atom = pmu("test/sysfs/hybrid", "cpu_atom");

	(void)state;
	assert_true(core.core && atom.core);
	assert_string_equal(core.cpus, "0-7");
	assert_string_equal(atom.cpus, "8-15");
	assert_int_equal(atom.type, 10);
}

static void uncore_and_software_are_no_core_pmus(void **state)
{
	struct k_pmu imc = pmu(INTEL, "uncore_imc_0"), sw = pmu(INTEL, "software");

	(void)state;
	assert_false(imc.core || sw.core);
	assert_string_equal(imc.cpus, "0");
	assert_true(pmu(INTEL, "cpu").core);
	assert_true(pmu("test/sysfs/arm", "armv8_pmuv3_0").core);
}

static void missing_tree_is_refused(void **state)
{
	struct k_pmu *v;
	struct err e = { 0 };
	uint32_t n;

	(void)state;
	assert_int_equal(k_pmus("test/sysfs/absent", &v, &n, &e), -TALLY_EIO);
	assert_non_null(strstr(e.text, "test/sysfs/absent"));
}

static void terms_land_in_their_fields(void **state)
{
	(void)state;
	encodes(INTEL, "cpu", "event=0x3c,umask=0x1", 0x13c, 0);
	encodes(INTEL, "cpu", "event=0x3c,inv,cmask=0x10,edge=1", 0x1084003c, 0);
	encodes(INTEL, "cpu", "event=0xb7,umask=1,offcore_rsp=0x3f84000001", 0x1b7, 0x3f84000001);
	encodes(INTEL, "cpu", "config=0x53,config1=9", 0x53, 9);
	encodes(INTEL, "cpu", "", 0, 0);
	encodes("test/sysfs/arm", "armv8_pmuv3_0", "event=0x17,long=1", 0x17, 1);
}

static void named_events_are_expanded_and_overridden(void **state)
{
	(void)state;
	encodes(INTEL, "cpu", "mem-loads", 0x1cd, 3);
	encodes(INTEL, "cpu", "mem-loads,ldlat=30", 0x1cd, 30);
}

static void split_fields_take_their_low_bits_first(void **state)
{
	(void)state;
	encodes(AMD, "cpu", "event=0x1c7", 0x1000000c7, 0);
	encodes(AMD, "toy", "wide=0xa5", 0, 0xa000000000000005);
	encodes(AMD, "toy", "wide=0xa5,wide=0x5a", 0, 0x500000000000000a);
}

static void values_too_wide_are_refused(void **state)
{
	(void)state;
	refuses(INTEL, "cpu", "umask=0x100", TALLY_EINVAL, "umask=0x100 is out of range: the field has 8 bits");
	refuses(INTEL, "cpu", "edge=2", TALLY_EINVAL, "1 bit");
	refuses(AMD, "cpu", "event=0x1000", TALLY_EINVAL, "12 bits");
	refuses(INTEL, "cpu", "umask=ten", TALLY_EINVAL, "requires a number");
	refuses(AMD, "toy", "parameter", TALLY_EINVAL, "requires a number");
}

static void unknown_terms_name_the_nearest(void **state)
{
	(void)state;
	refuses(INTEL, "cpu", "event=1,umsk=1", TALLY_EINVAL, "\"umsk\"; did you mean umask?");
	refuses(INTEL, "cpu", "mem-load", TALLY_EINVAL, "did you mean mem-loads?");
	refuses(INTEL, "cpu", "mem-loads=1", TALLY_EINVAL, "no attribute or event");
}

static void hostile_names_and_formats_are_refused(void **state)
{
	char longest[300];

	(void)state;
	memset(longest, 'x', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = 0;
	refuses(INTEL, "cpu", "../type", TALLY_EINVAL, "invalid attribute or event name");
	refuses(INTEL, "cpu", "=1", TALLY_EINVAL, "invalid attribute or event name");
	refuses(INTEL, "cpu", longest, TALLY_EINVAL, "longer than");
	refuses(AMD, "toy", "path", TALLY_EINVAL, "invalid attribute or event name");
	refuses(AMD, "toy", "again", TALLY_EINVAL, "no attribute");
	refuses(AMD, "toy", "backwards=1", TALLY_ECORRUPT, "format of backwards");
	refuses(AMD, "toy", "far=1", TALLY_ECORRUPT, "format of far");
	refuses(AMD, "toy", "nowhere=1", TALLY_ECORRUPT, "format of nowhere");
	refuses(AMD, "toy", "letters=1", TALLY_ECORRUPT, "format of letters");
}

static void names_are_sorted_and_without_scales(void **state)
{
	struct k_pmu p = pmu(INTEL, "cpu");
	struct arena a = { 0 };
	const char **v;
	uint32_t n;

	(void)state;
	assert_int_equal(k_pmu_names(INTEL, &p, false, &a, &v, &n), 0);
	assert_int_equal(n, 6);
	for (uint32_t i = 1; i < n; i++)
		assert_true(strcmp(v[i - 1], v[i]) < 0);
	assert_int_equal(k_pmu_names(INTEL, &p, true, &a, &v, &n), 0);
	assert_string_equal(v[0], "any");
	p = pmu(INTEL, "software");
	assert_int_equal(k_pmu_names(INTEL, &p, false, &a, &v, &n), 0);
	assert_int_equal(n, 0);
	arena_free(&a);
}

static void a_scale_of_one_digit_is_a_scale_and_one_that_is_no_number_is_1(void **state)
{
	struct k_pmu cpu = pmu(INTEL, "cpu"), power = pmu("test/sysfs/energy", "power");
	char unit[32] = "x";
	double scale = 0;

	(void)state;
	k_pmu_unit(INTEL, &cpu, "topdown-slots-issued", unit, &scale);
	assert_string_equal(unit, "");
	assert_true(scale == 2);
	k_pmu_unit("test/sysfs/energy", &power, "energy-pkg", unit, &scale);
	assert_string_equal(unit, "Joules");
	assert_true(scale > 2.3e-10 && scale < 2.4e-10);
	k_pmu_unit("test/sysfs/energy", &power, "no-such-event", unit, &scale);
	assert_string_equal(unit, "");
	assert_true(scale == 1);
	k_pmu_unit("test/sysfs/energy", &power, "../events/energy-pkg", unit, &scale);
	assert_string_equal(unit, "");
	assert_true(scale == 1);
}

static void every_failed_allocation_is_reported(void **state)
{
	struct k_pmu cpu = pmu(INTEL, "cpu");

	(void)state;
	for (long i = 1;; i++) {
		struct k_event ev = { 0 };
		struct err e = { 0 };
		struct k_pmu *v = NULL;
		uint32_t n;
		int rc, rc2;

		mem_fail_at(i);
		rc = k_pmus(INTEL, &v, &n, &e);
		rc2 = k_pmu_encode(INTEL, &cpu, "umsk=1", &ev, &e);
		mem_free(v);
		if (!mem_failed())
			break;
		assert_true(rc == -TALLY_ENOMEM || rc2 == -TALLY_ENOMEM);
		assert_int_equal(mem_live(), 0);
	}
	mem_fail_at(0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hybrid_tree_has_two_core_pmus),
		cmocka_unit_test(uncore_and_software_are_no_core_pmus),
		cmocka_unit_test(missing_tree_is_refused),
		cmocka_unit_test(terms_land_in_their_fields),
		cmocka_unit_test(named_events_are_expanded_and_overridden),
		cmocka_unit_test(split_fields_take_their_low_bits_first),
		cmocka_unit_test(values_too_wide_are_refused),
		cmocka_unit_test(unknown_terms_name_the_nearest),
		cmocka_unit_test(hostile_names_and_formats_are_refused),
		cmocka_unit_test(names_are_sorted_and_without_scales),
		cmocka_unit_test(a_scale_of_one_digit_is_a_scale_and_one_that_is_no_number_is_1),
		cmocka_unit_test(every_failed_allocation_is_reported),
	};

	return cmocka_run_group_tests_name("kernel: pmu", tests, NULL, NULL);
}
