/* profile_test.c: rates and intervals of profile-N and tick-N. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "facts/event.h"
#include "provider/provider_int.h"

static int last_id(void *arg, uint32_t id)
{
	*(uint32_t *)arg = id;
	return 0;
}

static struct probes *table(void)
{
	struct probes *t;

	assert_int_equal(probes_open(&t, NULL), 0);
	return t;
}

static const struct probe *named(struct probes *t, const char *name)
{
	struct err e = { 0 };
	uint32_t id = 0;

	if (prov_profile.name_probe(t, name, last_id, &id, &e) != 1)
		fail_msg("%s: %s", name, e.text);
	return probes_get(t, id);
}

static void units_are_understood(void **state)
{
	static const struct {
		const char *name;
		uint64_t ns;
	} row[] = {
		{ "tick-1", 1000000000 },        { "tick-1s", 1000000000 },     { "tick-2sec", 2000000000 },
		{ "tick-97", 10309278 },         { "tick-97hz", 10309278 },     { "tick-5000hz", 200000 },
		{ "tick-200us", 200000 },        { "tick-200usec", 200000 },    { "tick-200000ns", 200000 },
		{ "tick-300000nsec", 300000 },   { "tick-10ms", 10000000 },     { "tick-10msec", 10000000 },
		{ "tick-1m", 60000000000 },      { "tick-1min", 60000000000 },  { "tick-1h", 3600000000000 },
		{ "tick-1hour", 3600000000000 }, { "tick-1d", 86400000000000 }, { "tick-1day", 86400000000000 },
		{ "tick-10MS", 10000000 },
	};
	struct probes *t = table();

	(void)state;
	for (size_t i = 0; i < COUNT(row); i++) {
		const struct probe *p = named(t, row[i].name);

		assert_int_equal(p->arm, ARM_TICK);
		assert_int_equal(p->tick_ns, row[i].ns);
		assert_string_equal(p->name, row[i].name);
	}
	probes_close(t);
}

static void profile_is_the_cpu_clock(void **state)
{
	struct probes *t = table();
	const struct probe *p = named(t, "profile-10ms");

	(void)state;
	assert_int_equal(p->arm, ARM_EVENT);
	assert_int_equal(p->nevents, 1);
	assert_int_equal(p->event->type, EVENT_TYPE_SW);
	assert_int_equal(p->event->config, 0);
	assert_int_equal(p->event->period, 10000000);
	assert_false(p->event->counter || p->event->exclude_user || p->event->exclude_kernel);
	assert_ptr_equal(named(t, "profile-10ms"), p);
	probes_close(t);
}

static void bad_intervals_are_refused(void **state)
{
	static const struct {
		const char *name, *words;
	} row[] = {
		{ "tick-199us", "199us is below the minimum interval of 200us (5000hz)" },
		{ "tick-5001hz", "5001hz is below the minimum interval of 200us (5000hz)" },
		{ "profile-1ns", "1ns is below the minimum interval of 200us (5000hz)" },
		{ "profile-2000000000", "2000000000 is below the minimum interval of 200us (5000hz)" },
		{ "tick-0", "0 is no interval" },
		{ "tick-0s", "0s is no interval" },
		{ "tick-200000d", "200000d is too large" },
		{ "tick-99999999999999999999", "99999999999999999999 is too large" },
		{ "tick-1parsec", "unknown unit \"parsec\" (expected ns, us, ms, s, m, h, d or hz)" },
		{ "tick-1-s", "unknown unit \"-s\" (expected ns, us, ms, s, m, h, d or hz)" },
		{ "tick-", "invalid rate or interval \"\" (expected a number and ns, us, ms, s, m, h, d or hz)" },
		{ "profile-s", "invalid rate or interval \"s\" (expected a number and ns, us, ms, s, m, h, d or hz)" },
	};
	struct probes *t = table();

	(void)state;
	for (size_t i = 0; i < COUNT(row); i++) {
		struct err e = { 0 };
		uint32_t id;

		assert_int_equal(prov_profile.name_probe(t, row[i].name, last_id, &id, &e), -TALLY_EINVAL);
		assert_string_equal(e.text, row[i].words);
	}
	assert_int_equal(probes_count(t), 3);
	probes_close(t);
}

static void other_names_are_not_taken(void **state)
{
	struct probes *t = table();
	struct err e = { 0 };
	uint32_t id;

	(void)state;
	assert_int_equal(prov_profile.name_probe(t, "cycles-1", last_id, &id, &e), 0);
	assert_int_equal(prov_profile.name_probe(t, "profile", last_id, &id, &e), 0);
	assert_int_equal(prov_profile.name_probe(t, "tikc-all-10000", last_id, &id, &e), 0);
	assert_int_equal(e.code, 0);
	probes_close(t);
}

static void misspelt_names_are_told(void **state)
{
	struct probes *t = table();
	struct err e = { 0 };
	uint32_t id;

	(void)state;
	assert_int_equal(prov_profile.name_probe(t, "tikc-1s", last_id, &id, &e), -TALLY_ENOPROBE);
	assert_string_equal(e.text, "no probe \"tikc-1s\"; did you mean tick-1s?");
	e = (struct err){ 0 };
	assert_int_equal(prov_profile.name_probe(t, "Profile-97", last_id, &id, &e), -TALLY_ENOPROBE);
	assert_string_equal(e.text, "no probe \"Profile-97\"; did you mean profile-97?");
	probes_close(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(units_are_understood),      cmocka_unit_test(profile_is_the_cpu_clock),
		cmocka_unit_test(bad_intervals_are_refused), cmocka_unit_test(other_names_are_not_taken),
		cmocka_unit_test(misspelt_names_are_told),
	};

	return cmocka_run_group_tests_name("provider: profile", tests, NULL, NULL);
}
