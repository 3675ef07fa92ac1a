/* pfm_test.c: what libpfm4 says where it is installed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <linux/perf_event.h>

#include "facts/event.h"
#include "kernel/kernel.h"

/* libpfm4 encodes events of CPUs that are not here when asked to (LIBPFM_ENCODE_INACTIVE, set in
 * main). */
static bool have_pfm(void)
{
	struct k_event ev = { 0 };
	struct err e = { 0 };

	return k_pfm_encode("skl::L2_RQSTS:MISS", &ev, &e) == 0;
}

static void pfm_encodes_presets_of_every_model_it_knows(void **state)
{
	const struct event_preset *p;
	unsigned known = 0;

	(void)state;
	if (!have_pfm())
		skip();
	for (uint32_t i = 0; (p = event_preset_at(i)); i++) {
		struct k_event ev = { 0 };
		struct err e = { 0 };
		char name[160];

		snprintf(name, sizeof(name), "%s::%s", p->pmu, p->event);
		if (!*p->pmu || k_pfm_encode(name, &ev, &e) == 0)
			known += *p->pmu != 0;
		else if (!strstr(e.text, "knows no")) /* models newer or of other architectures */
			fail_msg("%s: %s", name, e.text);
		else if (i == 0 || strcmp(p->pmu, event_preset_at(i - 1)->pmu))
			print_message("# this libpfm4 does not know %s\n", name);
	}
	assert_true(known > 50);
}

static void pfm_takes_hex_masks_and_dots(void **state)
{
	struct k_event ev = { 0 };
	struct err e = { 0 };

	(void)state;
	if (!have_pfm())
		skip();
	assert_int_equal(k_pfm_encode("skl::L2_RQSTS:0x3f", &ev, &e), 0);
	assert_int_equal(ev.config, 0x3f24);
	assert_int_equal(ev.type, PERF_TYPE_RAW);
	assert_true(ev.counter);
	assert_int_equal(k_pfm_encode("skl::LONGEST_LAT_CACHE.MISS", &ev, &e), 0);
	assert_int_equal(ev.config, 0x412e);
}

static void pfm_refuses_unknown_events(void **state)
{
	struct k_event ev = { .config = 5 };
	struct err e = { 0 };

	(void)state;
	assert_true(k_pfm_encode("NO_SUCH_EVENT_AT_ALL", &ev, &e) < 0);
	assert_true(strlen(e.text) > 0);
	assert_int_equal(ev.config, 5);
}

/* Who misspells an event is told of the event; where there is no PMU, of that. */
static void pfm_tells_an_unknown_event_from_a_machine_without_a_pmu(void **state)
{
	struct k_event ev = { 0 };
	struct err e = { 0 };
	struct arena a = { 0 };
	const char **v;
	uint32_t n;

	(void)state;
	if (!have_pfm())
		skip();
	assert_int_equal(k_pfm_names(&a, &v, &n), 0);
	assert_int_equal(k_pfm_encode("NO_SUCH_EVENT_AT_ALL", &ev, &e), n ? -TALLY_ENOPROBE : -TALLY_ENOTSUP);
	assert_non_null(strstr(e.text, n ? "libpfm4 knows no event \"NO_SUCH_EVENT_AT_ALL\"" :
					   "libpfm4 knows no PMU of this machine"));
	e = (struct err){ 0 };
	assert_int_equal(k_pfm_encode("skl::NO_SUCH_EVENT_AT_ALL", &ev, &e), -TALLY_ENOPROBE);
	assert_string_equal(e.text, "libpfm4 knows no event \"skl::NO_SUCH_EVENT_AT_ALL\" here");
	arena_free(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pfm_encodes_presets_of_every_model_it_knows),
		cmocka_unit_test(pfm_takes_hex_masks_and_dots),
		cmocka_unit_test(pfm_refuses_unknown_events),
		cmocka_unit_test(pfm_tells_an_unknown_event_from_a_machine_without_a_pmu),
	};

	setenv("LIBPFM_ENCODE_INACTIVE", "1", 1);
	return cmocka_run_group_tests_name("kernel: pfm", tests, NULL, NULL);
}
