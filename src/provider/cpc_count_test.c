/* cpc_count_test.c: CPU events as counting tools write them, against fake machines (test/sysfs). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "facts/event.h"
#include "provider/provider_int.h"

#define INTEL "test/sysfs/intel"
#define HYBRID "test/sysfs/hybrid"
#define ARM "test/sysfs/arm"
#define NONE "test/sysfs/none"
#define ENERGY "test/sysfs/energy"

static struct probes *table(const char *sysfs)
{
	struct prov_opts o = { .sysfs = sysfs };
	struct probes *t;

	assert_int_equal(probes_open(&t, &o), 0);
	return t;
}

struct seen {
	struct prov_count is;
	struct k_event ev;
	char unit[32];
};
static struct seen count(const char *sysfs, const char *text)
{
	struct probes *t = table(sysfs);
	struct seen s = { .unit = "" };
	struct err e = { 0 };

	if (prov_count(t, text, strlen(text), &s.is, &e) < 0)
		fail_msg("%s: %s", text, e.text);
	assert_string_equal(s.is.name, text);
	assert_true(strlen(s.is.source) > 0);
	s.ev = s.is.ev[0];
	if (s.is.unit)
		strcpy(s.unit, s.is.unit);
	probes_close(t);
	return s;
}

static void refuses(const char *sysfs, const char *text, int code, const char *words)
{
	struct probes *t = table(sysfs);
	struct prov_count is;
	struct err e = { 0 };
	int rc = prov_count(t, text, strlen(text), &is, &e);

	if (rc != -code || !strstr(e.text, words))
		fail_msg("%s: %d, \"%s\", not \"%s\"", text, rc, e.text, words);
	probes_close(t);
}

static void perfs_names_are_ours(void **state)
{
	(void)state;
	assert_int_equal(count(NONE, "page-faults").ev.type, EVENT_TYPE_SW);
	assert_int_equal(count(NONE, "page-faults").ev.config, 2);
	assert_int_equal(count(NONE, "page_faults").ev.config, 2);
	assert_int_equal(count(NONE, "cs").ev.config, 3);
	assert_int_equal(count(INTEL, "cycles").ev.config, 0);
	assert_true(count(INTEL, "cycles").ev.counter);
	assert_int_equal(count(INTEL, "L1-dcache-load-misses").ev.type, EVENT_TYPE_CACHE);
	assert_int_equal(count(INTEL, "PAPI_tot_ins").ev.config, 1);
	assert_int_equal(count(INTEL, "mem-loads").ev.type, 4);
}

static void modes_stand_behind_a_colon_or_the_slash(void **state)
{
	struct seen user = count(INTEL, "cycles:u"), kernel = count(INTEL, "page-faults:k"),
		    both = count(INTEL, "cycles:uk");

	(void)state;
	assert_true(user.ev.exclude_kernel && !user.ev.exclude_user && !user.is.all_modes);
	assert_true(!kernel.ev.exclude_kernel && kernel.ev.exclude_user);
	assert_true(!both.ev.exclude_kernel && !both.ev.exclude_user && !both.is.all_modes);
	assert_true(count(INTEL, "cycles").is.all_modes);
	assert_true(count(INTEL, "cpu/event=0x3c/u").ev.exclude_kernel);
	assert_true(count(INTEL, "cpu/event=0x3c/:k").ev.exclude_user);
	refuses(INTEL, "cpu/event=0x3c/x", TALLY_EINVAL, "unknown modifier 'x' after the slash (expected u or k)");
}

static void raw_codes_and_terms_reach_their_fields(void **state)
{
	(void)state;
	assert_int_equal(count(INTEL, "r01c7").ev.config, 0x1c7);
	assert_int_equal(count(INTEL, "r01c7:u").ev.config, 0x1c7);
	assert_int_equal(count(INTEL, "r1").ev.config, 1);
	assert_int_equal(count(INTEL, "r0123456789abcdef").ev.config, 0x123456789abcdef);
	refuses(INTEL, "r11112222333344445", TALLY_EINVAL, "a raw code is r and 1 to 16 hexadecimal digits");
	refuses(INTEL, "r", TALLY_EINVAL, "a raw code is r and 1 to 16 hexadecimal digits");
	refuses(INTEL, "r1g", TALLY_EINVAL, "a raw code is r and 1 to 16 hexadecimal digits");
	assert_int_equal(count(INTEL, "cpu/event=0x3c,umask=1,cmask=2/").ev.config, 0x200013c);
	assert_int_equal(count(ARM, "armv8_pmuv3_0/l2d_cache_refill/").ev.config, 0x17);
	refuses(INTEL, "cpu/event=0x3cc/", TALLY_EINVAL, "is out of range");
	refuses(INTEL, "cpu/evnt=1/", TALLY_EINVAL, "did you mean event?");
	refuses(INTEL, "cpux/event=1/", TALLY_EINVAL, "this machine has no PMU \"cpux\"; did you mean cpu?");
}

static void a_device_keeps_its_cpus_and_unit(void **state)
{
	struct seen joules = count(ENERGY, "power/energy-pkg/");

	(void)state;
	assert_false(joules.ev.counter);
	assert_int_equal(joules.ev.type, 15);
	assert_int_equal(joules.ev.config, 2);
	assert_string_equal(joules.ev.cpus, "0");
	assert_string_equal(joules.unit, "Joules");
	assert_true(joules.is.scale > 2.3e-10 && joules.is.scale < 2.4e-10);
	assert_null(count(ENERGY, "power/energy-ram/").is.unit);
	assert_null(count(ENERGY, "power/event=7/").is.unit);
}

static void names_of_probes_are_taken_without_their_count(void **state)
{
	struct seen probe = count(INTEL, "mem_loads-user-ldlat_3"),
		    selector = count(INTEL, "cpc/mem_loads,user,ldlat=3/");

	(void)state;
	assert_true(probe.ev.exclude_kernel && selector.ev.exclude_kernel);
	assert_int_equal(probe.ev.config, selector.ev.config);
	assert_int_equal(probe.ev.config1, 3);
	assert_int_equal(selector.ev.config1, 3);
	assert_true(count(NONE, "cpc/page_faults/").is.all_modes);
	assert_true(count(NONE, "cpc/page_faults,kernel/").ev.exclude_user);
	assert_true(count(NONE, "page_faults-all").is.all_modes);
	refuses(NONE, "cpc/page_faults,0x3/", TALLY_EINVAL, "takes no mask");
}

static void a_hybrid_cpu_has_a_form_for_each_pmu(void **state)
{
	(void)state;
	assert_int_equal(count(HYBRID, "cycles").is.n, 2);
	assert_int_equal(count(HYBRID, "page-faults").is.n, 1);
	assert_int_equal(count(HYBRID, "cpu_atom/event=0x3c/").is.n, 1);
}

static void what_happens_in_the_kernel_alone_is_known(void **state)
{
	(void)state;
	assert_true(count(NONE, "context-switches").is.in_kernel);
	assert_true(count(NONE, "migrations").is.in_kernel);
	assert_false(count(NONE, "page-faults").is.in_kernel);
	assert_true(count(NONE, "task-clock").is.clock);
	refuses(NONE, "task-clock:u", TALLY_ENOTSUP, "all modes together: leave out the modes");
	refuses(NONE, "context-switches:u", TALLY_EINVAL, "never fires in user mode");
}

static void an_event_that_is_not_there_is_told_from_one_that_is_none(void **state)
{
	char big[300];

	(void)state;
	refuses(NONE, "cycels", TALLY_EINVAL, "no event \"cycels\"; did you mean cycles?");
	refuses(NONE, "page-fualts", TALLY_EINVAL, "no event \"page-fualts\"; did you mean page_faults?");
	refuses(NONE, "page-fualts:u", TALLY_EINVAL, "no event \"page-fualts\"; did you mean page_faults?");
	refuses(NONE, "page-faults:x", TALLY_EINVAL, "unknown modifier \"x\" of page-faults (expected u");
	refuses(INTEL, "cycles:pp", TALLY_EINVAL, "unknown modifier \"pp\" of cycles (expected u");
	refuses(NONE, "page-faults:", TALLY_EINVAL, "no modifier after the colon of page-faults: (expected u");
	refuses(NONE, "page-faults:u:k", TALLY_EINVAL, "both modes are page-faults:uk");
	refuses(NONE, "PAPI_l2_dcm", TALLY_ENOTSUP, "no hardware PMU");
	refuses(NONE, "r1", TALLY_ENOTSUP, "no hardware PMU");
	refuses(NONE, "", TALLY_EINVAL, "an event is missing");
	refuses(NONE, ":u", TALLY_EINVAL, "no event \"\"");
	refuses(INTEL, "L2_RQSTS:0xzz", TALLY_EINVAL, "not a hexadecimal number");
	memset(big, 'a', sizeof(big) - 1);
	big[sizeof(big) - 1] = '\0';
	refuses(NONE, big, TALLY_EINVAL, "too long for an event");
	big[3] = '/';
	refuses(NONE, big, TALLY_EINVAL, "too long for an event");
}

/* Every cut and every odd letter of good ones. */
static void hostile_text_is_refused_or_understood(void **state)
{
	static const char *const good[] = { "cycles:u",        "cpu/event=0x3c,umask=1/u", "cpc/page_faults,user,0x3/",
					    "r01c7:k",         "power/energy-pkg/",        "page_faults-user-0x7",
					    "L2_RQSTS:0x23:uk" };
	static const char odd[] = "/:,-=\xff\001 %";

	(void)state;
	for (size_t i = 0; i < COUNT(good); i++)
		for (size_t cut = 0; cut <= strlen(good[i]); cut++)
			for (size_t k = 0; k < sizeof(odd); k++) {
				struct probes *t = table(i % 2 ? INTEL : ENERGY);
				struct prov_count is;
				struct err e = { 0 };
				char text[64];

				strcpy(text, good[i]);
				text[cut] = odd[k];
				text[strlen(good[i])] = '\0';
				if (prov_count(t, text, strlen(text), &is, &e) < 0)
					assert_true(e.text[0]);
				else
					assert_true(is.n > 0 && is.ev && is.source);
				probes_close(t);
			}
}

static void out_of_memory_is_an_error(void **state)
{
	static const char *const row[] = { "page-faults", "cpu/event=0x3c/", "mem-loads", "nosuch", "cpux/a/" };

	(void)state;
	for (size_t i = 0; i < COUNT(row); i++)
		for (long n = 1;; n++) {
			struct probes *t = table(INTEL);
			struct prov_count is;
			struct err e = { 0 };
			bool failed;
			int rc;

			mem_fail_at(n);
			rc = prov_count(t, row[i], strlen(row[i]), &is, &e);
			failed = mem_failed();
			mem_fail_at(0);
			if (failed && rc != -TALLY_ENOMEM && rc != -TALLY_EINVAL)
				fail_msg("%s: %ld: %d", row[i], n, rc);
			probes_close(t);
			assert_int_equal(mem_live(), 0);
			if (!failed)
				break;
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(perfs_names_are_ours),
		cmocka_unit_test(modes_stand_behind_a_colon_or_the_slash),
		cmocka_unit_test(raw_codes_and_terms_reach_their_fields),
		cmocka_unit_test(a_device_keeps_its_cpus_and_unit),
		cmocka_unit_test(names_of_probes_are_taken_without_their_count),
		cmocka_unit_test(a_hybrid_cpu_has_a_form_for_each_pmu),
		cmocka_unit_test(what_happens_in_the_kernel_alone_is_known),
		cmocka_unit_test(an_event_that_is_not_there_is_told_from_one_that_is_none),
		cmocka_unit_test(hostile_text_is_refused_or_understood),
		cmocka_unit_test(out_of_memory_is_an_error),
	};

	return cmocka_run_group_tests_name("provider: cpc count", tests, NULL, NULL);
}
