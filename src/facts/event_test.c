/* event_test.c: every row of the event tables is what event.h promises. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "facts/event.h"

static void names_are_unique_and_hold_no_dash(void **state)
{
	const struct event *ev;

	(void)state;
	for (uint32_t i = 0; (ev = event_at(i)); i++) {
		assert_ptr_equal(event_find(ev->name), ev);
		assert_null(strchr(ev->name, '-'));
		assert_true(strlen(ev->name) > 0 && strlen(ev->name) < 64);
		assert_true(strlen(ev->text) > 0);
	}
}

static void perf_names_map_to_ours(void **state)
{
	const struct event *ev;

	(void)state;
	for (uint32_t i = 0; (ev = event_at(i)); i++) {
		if (!ev->perf)
			continue;
		assert_int_equal(strlen(ev->perf), strlen(ev->name));
		for (const char *p = ev->perf, *q = ev->name; *p; p++, q++)
			assert_int_equal(*p == '-' ? '_' : *p >= 'A' && *p <= 'Z' ? *p + 32 : *p, *q);
	}
}

static void codes_are_unique(void **state)
{
	const struct event *a, *b;

	(void)state;
	for (uint32_t i = 0; (a = event_at(i)); i++)
		for (uint32_t j = 0; a->perf && j < i; j++) {
			b = event_at(j);
			assert_false(b->perf && a->type == b->type && a->config == b->config);
		}
}

static void aliases_and_presets_stand_for_a_kernel_event(void **state)
{
	const struct event *ev;

	(void)state;
	for (uint32_t i = 0; (ev = event_at(i)); i++) {
		assert_true(!ev->alias || ev->of);
		if (ev->of) {
			assert_non_null(event_real(ev));
			assert_non_null(event_real(ev)->perf);
			assert_true(!ev->alias || event_real(ev)->kind == ev->kind);
		}
	}
	assert_null(event_real(event_find("PAPI_l2_dcm")));
	assert_ptr_equal(event_real(event_find("cs")), event_find("context_switches"));
}

static bool has_preset(const char *name)
{
	const struct event_preset *p;

	for (uint32_t i = 0; (p = event_preset_at(i)); i++)
		if (!strcmp(p->name, name))
			return true;
	return false;
}

static void presets_of_a_model_are_of_those_without_a_kernel_event(void **state)
{
	const struct event *ev;
	const struct event_preset *p;

	(void)state;
	for (uint32_t i = 0; (ev = event_at(i)); i++)
		assert_false(ev->kind == EVENT_PRESET && ev->of && has_preset(ev->name));
	for (uint32_t i = 0; (p = event_preset_at(i)); i++) {
		ev = event_find(p->name);
		assert_non_null(ev);
		assert_int_equal(ev->kind, EVENT_PRESET);
		assert_true(*p->event != 0);
		for (uint32_t j = 0; j < i; j++)
			assert_false(!strcmp(event_preset_at(j)->name, p->name) &&
				     !strcmp(event_preset_at(j)->pmu, p->pmu));
	}
}

static void all_103_generic_names_of_papi_are_known(void **state)
{
	static const char *const added[] = { "PAPI_ref_cyc", "PAPI_sp_ops", "PAPI_dp_ops", "PAPI_vec_sp",
					     "PAPI_vec_dp" };
	const struct event *ev;
	size_t n = 0;

	(void)state;
	for (uint32_t i = 0; (ev = event_at(i)); i++)
		n += ev->kind == EVENT_PRESET;
	for (size_t i = 0; i < sizeof(added) / sizeof(added[0]); i++)
		n -= event_find(added[i]) != NULL;
	assert_int_equal(n, 103);
	assert_non_null(event_find("PAPI_fp_ops"));
	assert_non_null(event_find("PAPI_l1_tcm"));
}

static void names_of_the_spec_are_there(void **state)
{
	static const char *const names[] = {
		"PAPI_tot_ins", "PAPI_tot_cyc", "PAPI_l1_dcm", "PAPI_l1_icm", "PAPI_l2_dcm", "PAPI_l2_tcm",
		"PAPI_l3_tcm",  "PAPI_br_msp",  "PAPI_br_ins", "PAPI_tlb_dm", "PAPI_tlb_im",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		assert_non_null(event_find(names[i]));
	assert_null(event_find("PAPI_L2_DCM"));
	assert_null(event_find(""));
}

static void scheduler_events_never_fire_in_user_mode(void **state)
{
	(void)state;
	assert_int_equal(event_find("context_switches")->flags, EVENT_NEVER_USER);
	assert_int_equal(event_find("cpu_migrations")->flags, EVENT_NEVER_USER);
	assert_int_equal(event_find("page_faults")->flags & EVENT_NEVER, 0);
	assert_int_equal(event_find("dummy")->flags, EVENT_NEVER);
}

static void every_pmu_has_a_row_and_the_last_fits_all(void **state)
{
	static const char *const names[] = { "cpu", "cpu_core", "armv8_pmuv3_0", "riscv-pmu", "zz", "" };

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		assert_true(event_pmu_of(names[i])->tells);
		assert_true(event_pmu_of(names[i])->how[0] != '\0');
	}
	assert_string_equal(event_pmu_of("armv8_pmuv3_0")->prefix, "armv");
	assert_string_equal(event_pmu_of("zz")->prefix, "");
}

static void a_clock_is_one_by_its_type_and_its_number(void **state)
{
	uint32_t clocks = 0;
	const struct event *ev;

	(void)state;
	for (uint32_t i = 0; (ev = event_at(i)); i++) {
		clocks += event_is_clock(ev->type, ev->config);
		if (ev->flags & EVENT_CLOCK) {
			assert_true(event_is_clock(ev->type, ev->config));
			assert_false(event_is_clock(ev->type + 1, ev->config));
			assert_false(event_is_clock(ev->type, ev->config + 1000));
		}
	}
	assert_true(clocks > 0);
	ev = event_find("page_faults");
	assert_false(event_is_clock(ev->type, ev->config));
	ev = event_find("cpu_clock");
	assert_true(event_is_clock(ev->type, ev->config));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_clock_is_one_by_its_type_and_its_number),
		cmocka_unit_test(names_are_unique_and_hold_no_dash),
		cmocka_unit_test(perf_names_map_to_ours),
		cmocka_unit_test(codes_are_unique),
		cmocka_unit_test(aliases_and_presets_stand_for_a_kernel_event),
		cmocka_unit_test(presets_of_a_model_are_of_those_without_a_kernel_event),
		cmocka_unit_test(all_103_generic_names_of_papi_are_known),
		cmocka_unit_test(names_of_the_spec_are_there),
		cmocka_unit_test(every_pmu_has_a_row_and_the_last_fits_all),
		cmocka_unit_test(scheduler_events_never_fire_in_user_mode),
	};

	return cmocka_run_group_tests_name("facts: event", tests, NULL, NULL);
}
