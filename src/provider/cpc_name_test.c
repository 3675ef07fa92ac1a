/* cpc_name_test.c: the grammar of cpc probe names, and the reason for each refusal. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "provider/provider_int.h"

static struct cpc_spec parse(const char *name)
{
	struct cpc_spec s;
	struct err e = { 0 };

	if (cpc_parse(name, &s, &e) != 0)
		fail_msg("%s: %s", name, e.text);
	return s;
}

struct refusal {
	int line;
	const char *name, *words;
};
#define R(name, words)                \
	{                             \
		__LINE__, name, words \
	}

static void refused(const struct refusal *r, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct cpc_spec s = { .count = 7 };
		struct err e = { 0 };

		assert_int_equal(cpc_parse(r[i].name, &s, &e), -TALLY_EINVAL);
		if (strcmp(e.text, r[i].words))
			fail_msg("line %d: %s: said \"%s\", not \"%s\"", r[i].line, r[i].name, e.text, r[i].words);
		assert_int_equal(s.count, 7);
	}
}

static void plain_names_are_taken_apart(void **state)
{
	struct cpc_spec s = parse("PAPI_tot_ins-user-10000");

	(void)state;
	assert_string_equal(s.event, "PAPI_tot_ins");
	assert_int_equal(s.mode, CPC_USER);
	assert_int_equal(s.count, 10000);
	assert_int_equal(s.freq, 0);
	assert_int_equal(s.nattrs, 0);
	assert_int_equal(parse("cycles-kernel-1").mode, CPC_KERNEL);
	assert_int_equal(parse("cycles-all-18446744073709551615").count, UINT64_MAX);
	assert_int_equal(parse("cycles-all-4294972296").count, 4294972296);
	assert_int_equal(parse("cycles-all-005000").count, 5000);
}

static void bare_hex_is_the_umask(void **state)
{
	struct cpc_spec s = parse("BU_fill_req_missed_L2-all-0x7-10000");

	(void)state;
	assert_int_equal(s.nattrs, 1);
	assert_string_equal(s.attr[0].name, "umask");
	assert_int_equal(s.attr[0].value, 7);
	assert_int_equal(parse("x-all-0X1e-10000").attr[0].value, 0x1e);
}

static void attributes_are_split_at_their_last_underscore(void **state)
{
	struct cpc_spec s = parse("BU_fill_req_missed_L2-all-umask_0x7-cmask_0x0-offcore_rsp_12-10000");

	(void)state;
	assert_int_equal(s.nattrs, 3);
	assert_string_equal(s.attr[1].name, "cmask");
	assert_int_equal(s.attr[1].value, 0);
	assert_string_equal(s.attr[2].name, "offcore_rsp");
	assert_int_equal(s.attr[2].value, 12);
}

static void precise_is_not_a_field_of_the_pmu(void **state)
{
	struct cpc_spec s = parse("mem_loads-user-precise_2-ldlat_30-10000");

	(void)state;
	assert_true(s.has_precise);
	assert_int_equal(s.precise, 2);
	assert_int_equal(s.nattrs, 1);
}

static void frequency_ends_in_hz(void **state)
{
	struct cpc_spec s = parse("cycles-all-99hz");

	(void)state;
	assert_int_equal(s.freq, 99);
	assert_int_equal(s.count, 0);
}

static void bad_mode_is_refused(void **state)
{
	static const struct refusal r[] = {
		R("cycles-User-10000", "mode \"User\" is not user, kernel or all; did you mean user?"),
		R("cycles-ALL-10000", "mode \"ALL\" is not user, kernel or all; did you mean all?"),
		R("cycles-both-10000", "mode \"both\" is not user, kernel or all"),
		R("cycles-usre-10000", "mode \"usre\" is not user, kernel or all; did you mean user?"),
		R("page-fualts-user-10000", "no event \"page-fualts\"; did you mean page_faults?"),
		R("cycles-10000", "no mode (user, kernel or all) before count 10000; did you mean "
				  "cycles-all-10000?"),
		R("cycles", "\"cycles\" has no mode and count; write EVENT-MODE-COUNT, e.g. "
			    "cycles-all-1000000"),
		R("page_faults", "\"page_faults\" has no mode and count; write EVENT-MODE-COUNT, e.g. "
				 "page_faults-all-5000"),
		R("nosuch", "\"nosuch\" has no mode and count; write EVENT-MODE-COUNT, e.g. "
			    "cpu_clock-all-10000000"),
	};

	(void)state;
	refused(r, COUNT(r));
}

static void event_with_dashes_is_recognised(void **state)
{
	static const struct refusal r[] = {
		R("cpu-clock-user-10000", "no event \"cpu-clock\"; did you mean cpu_clock?"),
		R("CPU-Clock-user-10000", "no event \"CPU-Clock\"; did you mean cpu_clock?"),
		R("cpu-clock", "no event \"cpu-clock\"; did you mean cpu_clock?"),
		R("cpu-clock-10000", "no event \"cpu-clock\"; did you mean cpu_clock?"),
		R("L1-dcache-load-misses-all-10000",
		  "no event \"L1-dcache-load-misses\"; did you mean l1_dcache_load_misses?"),
		R("topdown-slots-issued-all-10000",
		  "no event \"topdown-slots-issued\"; did you mean topdown_slots_issued?"),
	};

	(void)state;
	refused(r, COUNT(r));
}

static void bad_count_is_refused(void **state)
{
	static const struct refusal r[] = {
		R("cycles-user", "no count; did you mean cycles-user-1000000?"),
		R("page_faults-user", "no count; did you mean page_faults-user-5000?"),
		R("cycles-all-0", "count 0 would never fire"),
		R("cycles-all-0hz", "count 0hz would never fire"),
		R("cycles-all-10000x", "count \"10000x\" is not a decimal number (or a rate: 99hz)"),
		R("cycles-all-1e6", "count \"1e6\" is not a decimal number (or a rate: 99hz)"),
		R("cycles-all-0x5000", "count \"0x5000\" is not a decimal number (or a rate: 99hz)"),
		R("cycles-all-hz", "count \"hz\" is not a decimal number (or a rate: 99hz)"),
		R("cycles-all-umask_0x1", "count \"umask_0x1\" is not a decimal number (or a rate: 99hz)"),
		R("cycles-all-99999999999999999999999", "count 99999999999999999999999 does not fit in 64 bits"),
		R("cycles-all-18446744073709551616", "count 18446744073709551616 does not fit in 64 bits"),
		R("cycles-all- 5000", "count \" 5000\" is not a decimal number (or a rate: 99hz)"),
		R("cycles-all-+5000", "count \"+5000\" is not a decimal number (or a rate: 99hz)"),
	};

	(void)state;
	refused(r, COUNT(r));
}

static void bad_mask_or_attribute_is_refused(void **state)
{
	static const struct refusal r[] = {
		R("e-all-0x-5000", "mask \"0x\" is not a hexadecimal number of 64 bits"),
		R("e-all-0x1g-5000", "mask \"0x1g\" is not a hexadecimal number of 64 bits"),
		R("e-all-0x11112222333344445-5000",
		  "mask \"0x11112222333344445\" is not a hexadecimal number of 64 bits"),
		R("e-all-0x1-0x2-5000", "umask is given twice"),
		R("e-all-0x1-umask_0x1-5000", "umask is given twice"),
		R("e-all-1e-5000", "attribute \"1e\" has no value; did you mean 1e_1?"),
		R("e-all-5000-5000", "\"5000\" is neither a mask (0x5000) nor an attribute (name_value)"),
		R("e-all-edge-5000", "attribute \"edge\" has no value; did you mean edge_1?"),
		R("e-all-umask_-5000", "attribute \"umask_\": \"\" is not a number"),
		R("e-all-umask_zz-5000", "attribute \"umask_zz\": \"zz\" is not a number"),
		R("e-all-_1-5000", "attribute name of 0 characters"),
		R("e-all-nouser-5000", "attribute nouser is not supported: the mode (user, kernel, all) sets it"),
		R("e-all-nouser_1-5000", "attribute nouser_1 is not supported: the mode (user, kernel, all) sets it"),
		R("e-all-sys_1-5000", "attribute sys_1 is not supported: the mode (user, kernel, all) sets it"),
		R("e-all-precise_4-5000", "precise_4: 0 to 3 is possible"),
		R("e-all-precise_1-precise_1-5000", "precise_1: given twice"),
		R("e-all-a_1-b_1-c_1-d_1-e_1-f_1-g_1-h_1-i_1-5000", "more than 8 attributes"),
	};

	(void)state;
	refused(r, COUNT(r));
}

static void empty_parts_and_endless_names_are_refused(void **state)
{
	static const struct refusal r[] = {
		R("", "\"\" has an empty part; write EVENT-MODE-COUNT"),
		R("-", "\"-\" has an empty part; write EVENT-MODE-COUNT"),
		R("cycles--5000", "\"cycles--5000\" has an empty part; write EVENT-MODE-COUNT"),
		R("cycles-all-", "\"cycles-all-\" has an empty part; write EVENT-MODE-COUNT"),
		R("-all-5000", "\"-all-5000\" has an empty part; write EVENT-MODE-COUNT"),
	};
	char longest[400];
	struct refusal l = R(longest, "the name is longer than 127 characters");

	(void)state;
	refused(r, COUNT(r));
	memset(longest, 'x', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = 0;
	refused(&l, 1);
	memcpy(longest + 120, "-all-5000", 10);
	refused(&l, 1);
	memcpy(longest + 118, "-all-5000", 10);
	assert_int_equal(parse(longest).count, 5000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plain_names_are_taken_apart),
		cmocka_unit_test(bare_hex_is_the_umask),
		cmocka_unit_test(attributes_are_split_at_their_last_underscore),
		cmocka_unit_test(precise_is_not_a_field_of_the_pmu),
		cmocka_unit_test(frequency_ends_in_hz),
		cmocka_unit_test(bad_mode_is_refused),
		cmocka_unit_test(event_with_dashes_is_recognised),
		cmocka_unit_test(bad_count_is_refused),
		cmocka_unit_test(bad_mask_or_attribute_is_refused),
		cmocka_unit_test(empty_parts_and_endless_names_are_refused),
	};

	return cmocka_run_group_tests_name("provider: cpc name", tests, NULL, NULL);
}
