/* cpc_test.c: cpc names against fake machines (test/sysfs) and, where it says so, against this one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "facts/event.h"
#include "provider/provider_int.h"

#define AMD "test/sysfs/amd"
#define INTEL "test/sysfs/intel"
#define HYBRID "test/sysfs/hybrid"
#define ARM "test/sysfs/arm"
#define NONE "test/sysfs/none"

static int last_id(void *arg, uint32_t id)
{
	*(uint32_t *)arg = id;
	return 0;
}

static struct probes *table(const char *sysfs)
{
	struct prov_opts o = { .sysfs = sysfs, .conf = "/nonexistent/dcpc.conf" };
	struct probes *t;

	assert_int_equal(probes_open(&t, &o), 0);
	return t;
}

/* The probe must be closed with its table; the events are copied out. */
static struct k_event events(const char *sysfs, const char *name, uint32_t *n, struct k_event *second)
{
	struct probes *t = table(sysfs);
	struct err e = { 0 };
	struct k_event first;
	uint32_t id = 0;

	if (prov_cpc.name_probe(t, name, last_id, &id, &e) != 1)
		fail_msg("%s: %s", name, e.text);
	*n = probes_get(t, id)->nevents;
	first = probes_get(t, id)->event[0];
	if (second && *n > 1)
		*second = probes_get(t, id)->event[1];
	assert_int_equal(probes_get(t, id)->arm, ARM_EVENT);
	assert_true(strlen(probes_get(t, id)->source) > 0);
	probes_close(t);
	return first;
}

static struct k_event event(const char *sysfs, const char *name)
{
	uint32_t n;
	struct k_event ev = events(sysfs, name, &n, NULL);

	assert_int_equal(n, 1);
	return ev;
}

static void refuses(const char *sysfs, const char *name, int code, const char *words)
{
	struct probes *t = table(sysfs);
	struct err e = { 0 };
	uint32_t id;

	assert_int_equal(prov_cpc.name_probe(t, name, last_id, &id, &e), -code);
	if (!strstr(e.text, words))
		fail_msg("%s: said \"%s\", not \"%s\"", name, e.text, words);
	assert_int_equal(probes_count(t), 3);
	probes_close(t);
}

static void mode_excludes_the_other_side(void **state)
{
	struct k_event user = event(NONE, "cpu_clock-user-10000"), kernel = event(NONE, "page_faults-kernel-6000"),
		       all = event(NONE, "cpu_clock-all-10000");

	(void)state;
	assert_true(user.exclude_kernel && !user.exclude_user);
	assert_true(kernel.exclude_user && !kernel.exclude_kernel);
	assert_true(!all.exclude_user && !all.exclude_kernel);
	assert_int_equal(kernel.type, EVENT_TYPE_SW);
	assert_int_equal(kernel.config, 2);
	assert_int_equal(kernel.period, 6000);
	assert_false(kernel.counter);
}

static void count_below_minimum_is_refused(void **state)
{
	(void)state;
	refuses(NONE, "cpu_clock-all-100", TALLY_EINVAL, "count 100 is below the minimum of 5000");
	refuses(NONE, "cpu_clock-all-4999", TALLY_EINVAL, "count 4999 is below the minimum of 5000");
	refuses(NONE, "page_fualts-user-500", TALLY_EINVAL, "no event \"page_fualts\"; did you mean page_faults?");
	refuses(NONE, "cpu_clock-all-9223372036854775808", TALLY_EINVAL, "maximum period");
	assert_int_equal(event(NONE, "cpu_clock-all-5000").period, 5000);
	assert_int_equal(event(NONE, "cpu_clock-all-9223372036854775807").period, INT64_MAX);
}

static void minimum_comes_from_the_option_or_the_file(void **state)
{
	struct prov_opts o = { .sysfs = NONE, .cpc_min = 10 };
	struct probes *t;
	struct err e = { 0 };
	uint32_t id;

	(void)state;
	assert_int_equal(probes_open(&t, &o), 0);
	assert_int_equal(prov_cpc.name_probe(t, "cpu_clock-all-10", last_id, &id, &e), 1);
	assert_int_equal(prov_cpc.name_probe(t, "cpu_clock-all-9", last_id, &id, &e), -TALLY_EINVAL);
	probes_close(t);
	o = (struct prov_opts){ .sysfs = NONE, .conf = "test/sysfs/dcpc.conf" };
	e = (struct err){ 0 };
	assert_int_equal(probes_open(&t, &o), 0);
	assert_int_equal(prov_cpc.name_probe(t, "cpu_clock-all-1000", last_id, &id, &e), 1);
	assert_int_equal(prov_cpc.name_probe(t, "cpu_clock-all-999", last_id, &id, &e), -TALLY_EINVAL);
	assert_string_equal(
		e.text,
		"count 999 is below the minimum of 1000 (-x dcpc_min_overflow=N lowers it; write 999hz for 999 firings a second)");
	probes_close(t);
}

static void frequency_has_no_minimum(void **state)
{
	struct k_event ev = event(NONE, "cpu_clock-all-99hz");

	(void)state;
	assert_int_equal(ev.freq, 99);
	assert_int_equal(ev.period, 0);
}

static void events_that_can_not_fire_are_refused(void **state)
{
	(void)state;
	refuses(NONE, "context_switches-user-10000", TALLY_EINVAL, "context_switches never fires in user mode");
	refuses(NONE, "cs-user-10000", TALLY_EINVAL, "cs never fires in user mode");
	refuses(NONE, "cpu_migrations-user-10000", TALLY_EINVAL, "never fires in user mode");
	refuses(NONE, "dummy-all-10000", TALLY_EINVAL, "dummy never fires: it counts nothing");
	assert_int_equal(event(NONE, "context_switches-kernel-10000").config, 3);
}

static void unknown_events_name_the_nearest(void **state)
{
	(void)state;
	refuses(NONE, "CPU_CLOCK-user-10000", TALLY_EINVAL, "no event \"CPU_CLOCK\"; did you mean cpu_clock?");
	refuses(NONE, "cpu-clock-user-10000", TALLY_EINVAL, "no event \"cpu-clock\"; did you mean cpu_clock?");
	refuses(NONE, "PAPI_L2_DCM-user-10000", TALLY_EINVAL, "did you mean PAPI_l2_dcm?");
	refuses(NONE, "cycels-all-10000", TALLY_EINVAL, "no event \"cycels\"; did you mean cycles?");
	refuses(INTEL, "mem_lods-all-10000", TALLY_EINVAL, "did you mean mem_loads?");
	refuses(NONE, "no_such_thing_anywhere-all-10000", TALLY_EINVAL, "no event \"no_such_thing_anywhere\"");
}

static void generic_events_take_no_mask_or_attribute(void **state)
{
	(void)state;
	refuses(INTEL, "cycles-all-0x1-10000", TALLY_EINVAL, "cycles is a generic event and takes no mask");
	refuses(INTEL, "PAPI_tot_ins-all-0x1-10000", TALLY_EINVAL, "PAPI_tot_ins is a generic event and takes no mask");
	refuses(INTEL, "PAPI_l2_dcm-all-0x1-10000", TALLY_EINVAL, "takes no mask");
	refuses(INTEL, "l1_dcache_loads-all-umask_1-edge_1-10000", TALLY_EINVAL, "takes no attributes");
	refuses(INTEL, "cpu_clock-all-precise_1-10000", TALLY_EINVAL, "takes no attributes");
}

static void generic_hardware_events_take_a_counter(void **state)
{
	struct k_event ev = event(INTEL, "PAPI_tot_ins-user-10000"),
		       cache = event(INTEL, "l1_dcache_load_misses-all-10000");

	(void)state;
	assert_int_equal(ev.type, EVENT_TYPE_HW);
	assert_int_equal(ev.config, 1);
	assert_true(ev.counter);
	assert_false(ev.exclusive);
	assert_int_equal(cache.type, EVENT_TYPE_CACHE);
	assert_int_equal(cache.config, 0x10000);
}

static void hardware_event_without_pmu_names_software_events(void **state)
{
	(void)state;
	refuses(NONE, "cycles-all-10000", TALLY_ENOTSUP,
		"this machine has no hardware PMU (a virtual machine?); software events that work: "
		"cpu_clock, task_clock, "
		"page_faults");
	refuses(NONE, "PAPI_l2_dcm-all-10000", TALLY_ENOTSUP, "this machine has no hardware PMU");
	refuses(NONE, "r01c4-all-10000", TALLY_ENOTSUP, "this machine has no hardware PMU");
}

static void platform_events_come_from_sysfs_with_masks_and_attributes(void **state)
{
	struct k_event ev = event(INTEL, "mem_loads-user-10000");

	(void)state;
	assert_int_equal(ev.type, 4);
	assert_int_equal(ev.config, 0x1cd);
	assert_int_equal(ev.config1, 3);
	assert_true(ev.counter);
	ev = event(INTEL, "mem_stores-all-0x7-10000");
	assert_int_equal(ev.config, 0x7d0);
	ev = event(INTEL, "mem_loads-all-cmask_0x2-inv_1-edge_1-ldlat_30-precise_2-10000");
	assert_int_equal(ev.config, 0x28401cd);
	assert_int_equal(ev.config1, 30);
	assert_int_equal(ev.precise_ip, 2);
	refuses(INTEL, "mem_loads-all-umask_0x100-10000", TALLY_EINVAL, "is out of range");
	refuses(INTEL, "mem_loads-all-umsk_0x1-10000", TALLY_EINVAL, "did you mean umask?");
}

static void source_tells_the_attributes_of_platform_events(void **state)
{
	struct probes *t = table(INTEL);
	struct err e = { 0 };
	uint32_t id = 0;

	(void)state;
	assert_int_equal(prov_cpc.name_probe(t, "mem_loads-all-10000", last_id, &id, &e), 1);
	assert_string_equal(probes_get(t, id)->source, "cpu/mem-loads/; attributes: any cmask edge event frontend inv "
						       "ldlat offcore_rsp pc umask");
	assert_int_equal(prov_cpc.name_probe(t, "PAPI_br_msp-all-10000", last_id, &id, &e), 1);
	assert_string_equal(probes_get(t, id)->source, "branches mispredicted: perf hardware event branch-misses");
	probes_close(t);
}

static void raw_events_take_attributes(void **state)
{
	struct k_event ev = event(INTEL, "r01c4-all-10000");

	(void)state;
	assert_int_equal(ev.type, 4);
	assert_int_equal(ev.config, 0x1c4);
	assert_int_equal(event(INTEL, "rc4-all-0x20-cmask_1-10000").config, 0x10020c4);
	assert_int_equal(event(ARM, "r11-all-10000").type, 8);
	refuses(INTEL, "r11112222333344445-all-10000", TALLY_EINVAL, "a raw code is r and 1 to 16 hexadecimal digits");
}

static void hybrid_cpus_count_on_both_kinds_of_core(void **state)
{
	struct k_event a, b = { 0 };
	uint32_t n;

	(void)state;
	a = events(HYBRID, "cycles-all-10000", &n, &b);
	assert_int_equal(n, 2);
	assert_int_equal(a.type, EVENT_TYPE_HW);
	assert_int_equal(a.config, 10ULL << 32);
	assert_string_equal(a.cpus, "8-15");
	assert_int_equal(b.config, 4ULL << 32);
	assert_string_equal(b.cpus, "0-7");
	a = events(HYBRID, "mem_loads-all-10000", &n, &b);
	assert_int_equal(n, 2);
	assert_int_equal(a.type, 10);
	assert_int_equal(a.config, 0x5d0);
	assert_int_equal(b.config, 0x1cd);
	assert_true(a.period == 10000 && b.period == 10000);
	a = events(HYBRID, "slots-all-10000", &n, &b);
	assert_int_equal(n, 1);
	assert_string_equal(a.cpus, "0-7");
}

static void presets_of_arm_come_from_its_own_events(void **state)
{
	struct k_event ev = event(ARM, "PAPI_l2_dcm-user-10000");

	(void)state;
	assert_int_equal(ev.type, 8);
	assert_int_equal(ev.config, 0x17);
}

static void exclusive_use_is_for_counters_only(void **state)
{
	struct prov_opts o = { .sysfs = INTEL, .conf = "/nonexistent/dcpc.conf", .cpc_exclusive = true };
	struct probes *t;
	struct err e = { 0 };
	uint32_t id;

	(void)state;
	assert_int_equal(probes_open(&t, &o), 0);
	assert_int_equal(prov_cpc.name_probe(t, "cycles-all-10000", last_id, &id, &e), 1);
	assert_true(probes_get(t, id)->event->exclusive);
	assert_int_equal(prov_cpc.name_probe(t, "cpu_clock-all-10000", last_id, &id, &e), 1);
	assert_false(probes_get(t, id)->event->exclusive);
	probes_close(t);
}

static void listing_of_a_pmu_has_its_own_events_and_no_alias(void **state)
{
	struct probes *t = table(INTEL);
	struct err e = { 0 };

	(void)state;
	assert_int_equal(prov_cpc.offer(t, &e), 0);
	assert_non_null(probes_find(t, &prov_cpc, "cpu_cycles-all-1000000"));
	assert_non_null(probes_find(t, &prov_cpc, "mem_loads-all-1000000"));
	assert_non_null(probes_find(t, &prov_cpc, "PAPI_tot_ins-all-1000000"));
	assert_null(probes_find(t, &prov_cpc, "cycles-all-1000000"));
	assert_null(probes_find(t, &prov_cpc, "cs-all-5000"));
	assert_null(probes_find(t, &prov_cpc, "dummy-all-5000"));
	probes_close(t);
}

/* main() has libpfm4 take this machine for a Zen 2 (LIBPFM_FORCE_PMU); an x86 libpfm4 can do that
 * anywhere. */
#define ZEN_L2 "CORE_TO_L2_CACHEABLE_REQUEST_ACCESS_STATUS"

static bool have_zen(void)
{
	struct k_event ev = { 0 };
	struct err e = { 0 };

	return k_pfm_encode(ZEN_L2 ":LS_RD_BLK_C", &ev, &e) == 0;
}

static void libpfm_events_take_masks_and_attributes(void **state)
{
	(void)state;
	if (!have_zen())
		skip();
	assert_int_equal(event(AMD, ZEN_L2 ".LS_RD_BLK_C-all-10000").config, 0x864);
	assert_int_equal(event(AMD, ZEN_L2 "-all-0x9-cmask_1-10000").config, 0x1000964);
	assert_true(event(AMD, ZEN_L2 "-user-0x9-10000").counter);
	refuses(AMD, ZEN_L2 "-all-10000", TALLY_EINVAL, "unit mask");
	refuses(AMD, ZEN_L2 "-all-0x9-ldlat_1-10000", TALLY_EINVAL, "no attribute or event \"ldlat\"");
	refuses(AMD, "CORE_TO_L2_CACHEABLE_REQUESTS_ACCESS_STATUS-all-10000", TALLY_EINVAL, "did you mean " ZEN_L2 "?");
	refuses(NONE, ZEN_L2 ".LS_RD_BLK_C-all-10000", TALLY_ENOTSUP, "this machine has no hardware PMU");
	refuses(HYBRID, "PAPI_l3_tcm-all-10000", TALLY_ENOTSUP, "is a generic event that this CPU has no mapping for");
	assert_int_equal(event(ARM, ZEN_L2 ".LS_RD_BLK_C-all-10000").type, 8); /* "raw" is the one core PMU's */
}

static void presets_of_a_model_come_through_libpfm(void **state)
{
	(void)state;
	if (!have_zen())
		skip();
	assert_int_equal(event(AMD, "PAPI_l2_dcm-user-10000").config, 0x864);
	assert_int_equal(event(AMD, "PAPI_l2_tcm-user-10000").config, 0x964);
}

static void a_generic_name_without_an_event_here_is_refused_as_that_and_no_other_is_offered(void **state)
{
	static const char *const names[] = { "PAPI_fp_ops", "PAPI_ld_ins", "PAPI_l1_tcm",
					     "PAPI_ca_snp", "PAPI_hw_int", "PAPI_vec_dp" };
	char name[40];

	(void)state;
	for (size_t i = 0; i < COUNT(names); i++) {
		snprintf(name, sizeof(name), "%s-user-10000", names[i]);
		refuses(AMD, name, TALLY_ENOTSUP, "is a generic event that this CPU has no mapping for");
		refuses(NONE, name, TALLY_ENOTSUP, "no mapping for: this machine has no hardware PMU");
	}
}

static void level_without_an_event_is_refused_never_replaced(void **state)
{
	(void)state;
	refuses(AMD, "PAPI_l3_tcm-user-10000", TALLY_ENOTSUP,
		"PAPI_l3_tcm (level 3 cache misses) is a generic event that this CPU has no mapping for");
	refuses(ARM, "PAPI_l3_tcm-user-10000", TALLY_ENOTSUP, "is a generic event that this CPU has no mapping for");
}

static void this_machine_counts_software_events(void **state)
{
	struct prov_opts o = { .conf = "/nonexistent/dcpc.conf" };
	struct probes *t;
	struct err e = { 0 };
	uint32_t id;

	(void)state;
	assert_int_equal(probes_open(&t, &o), 0);
	assert_int_equal(prov_cpc.name_probe(t, "cpu_clock-all-10000000", last_id, &id, &e), 1);
	assert_string_equal(probes_get(t, id)->source, "perf software event cpu-clock");
	probes_close(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(mode_excludes_the_other_side),
		cmocka_unit_test(count_below_minimum_is_refused),
		cmocka_unit_test(minimum_comes_from_the_option_or_the_file),
		cmocka_unit_test(frequency_has_no_minimum),
		cmocka_unit_test(events_that_can_not_fire_are_refused),
		cmocka_unit_test(unknown_events_name_the_nearest),
		cmocka_unit_test(generic_events_take_no_mask_or_attribute),
		cmocka_unit_test(generic_hardware_events_take_a_counter),
		cmocka_unit_test(hardware_event_without_pmu_names_software_events),
		cmocka_unit_test(platform_events_come_from_sysfs_with_masks_and_attributes),
		cmocka_unit_test(source_tells_the_attributes_of_platform_events),
		cmocka_unit_test(raw_events_take_attributes),
		cmocka_unit_test(hybrid_cpus_count_on_both_kinds_of_core),
		cmocka_unit_test(presets_of_arm_come_from_its_own_events),
		cmocka_unit_test(exclusive_use_is_for_counters_only),
		cmocka_unit_test(listing_of_a_pmu_has_its_own_events_and_no_alias),
		cmocka_unit_test(libpfm_events_take_masks_and_attributes),
		cmocka_unit_test(presets_of_a_model_come_through_libpfm),
		cmocka_unit_test(a_generic_name_without_an_event_here_is_refused_as_that_and_no_other_is_offered),
		cmocka_unit_test(level_without_an_event_is_refused_never_replaced),
		cmocka_unit_test(this_machine_counts_software_events),
	};

	setenv("LIBPFM_FORCE_PMU", "amd64_fam17h_zen2", 1);
	return cmocka_run_group_tests_name("provider: cpc", tests, NULL, NULL);
}
