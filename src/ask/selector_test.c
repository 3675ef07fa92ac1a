/* selector_test.c: how selectors are cut into provider, name and keys. */
#include "ask/ask_int.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#define LONGEST 158u /* bytes of a selector without its last slash */

static int selector_parse(struct sel *s, const char *text, struct err *e)
{
	*e = (struct err){ 0 };
	return sel_parse(s, text, strlen(text), " --on here", e);
}

static void a_provider_is_a_whole_word(void **state)
{
	static const struct {
		const char *text;
		enum sel_provider provider;
	} row[] = {
		{ "vfalls/18/", SEL_VFALLS },  { "mmustat", SEL_MMUSTAT }, { "gpci,a", SEL_GPCI },
		{ "hv_gpci/a/", SEL_HV_GPCI }, { "gpci=1", SEL_GPCI },     { "gpci x", SEL_GPCI },
		{ "gpcis/a/", SEL_OTHER },     { "gpc/a/", SEL_OTHER },    { "GPCI/a/", SEL_OTHER },
		{ "cpu/cycles/", SEL_OTHER },  { "", SEL_OTHER },          { "/gpci/", SEL_OTHER },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(row); i++)
		if (sel_provider(row[i].text) != row[i].provider)
			fail_msg("%s", row[i].text);
}

static void the_first_of_a_list_ends_behind_its_second_slash(void **state)
{
	static const struct {
		const char *list;
		size_t length;
	} row[] = {
		{ "gpci/a/", 7 },
		{ "gpci/a/,gpci/b/", 7 },
		{ "gpci/a,k=1/,b", 11 },
		{ "gpci/a", 6 },
		{ "gpci/a,k=1", 10 },
		{ "gpci", 4 },
		{ "//", 2 },
		{ "", 0 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(row); i++)
		assert_int_equal(sel_length(row[i].list), row[i].length);
}

static void a_selector_has_a_name_and_keys_with_or_without_values(void **state)
{
	static const char *const same[] = { "gpci/entitled,partition=2,raw,field=/",
					    "gpci/entitled,partition=2,raw,field=" };
	struct err e;
	struct sel s;

	(void)state;
	for (size_t i = 0; i < COUNT(same); i++) {
		assert_int_equal(selector_parse(&s, same[i], &e), 0);
		assert_int_equal(s.provider, SEL_GPCI);
		assert_string_equal(s.text, same[0]);
		assert_string_equal(s.name, "entitled");
		assert_int_equal(s.nkeys, 3);
		assert_string_equal(sel_value(&s, "partition"), "2");
		assert_string_equal(sel_value(&s, "raw"), "");
		assert_string_equal(sel_value(&s, "field"), "");
		assert_null(sel_value(&s, "part"));
		assert_null(s.key[1].value);
		assert_non_null(s.key[2].value);
		assert_true(sel_flag(&s, "raw") && sel_flag(&s, "field") && !sel_flag(&s, "fiel"));
	}
	assert_int_equal(selector_parse(&s, "mmustat/all", &e), 0);
	assert_string_equal(s.name, "all");
	assert_string_equal(s.text, "mmustat/all/");
	assert_int_equal(s.nkeys, 0);
	assert_int_equal(selector_parse(&s, "gpci/a,k=b=c/", &e), 0);
	assert_string_equal(sel_value(&s, "k"), "b=c");
	assert_int_equal(sel_parse(&s, "gpci/ab/cd", 6, "", &e), 0); /* as many bytes as the caller says */
	assert_string_equal(s.name, "a");
	assert_int_equal(selector_parse(&s, "gpci/", &e), 0); /* the slash that is there is the first */
	assert_string_equal(s.name, "");
}

static void what_is_no_selector_is_refused_with_what_was_expected(void **state)
{
	static const struct {
		int line;
		const char *text, *words;
	} row[] = {
		{ __LINE__, "gpci",
		  "invalid selector 'gpci' (expected gpci/NAME/); 'tally list gpci --on here' shows the names" },
		{ __LINE__, "vfalls",
		  "invalid selector 'vfalls' (expected vfalls/NAME/); 'tally list vfalls --on here' shows the names" },
		{ __LINE__, "hv_gpci",
		  "invalid selector 'hv_gpci' (expected vfalls/NAME,KEY=VALUE/, mmustat/NAME/ or gpci/NAME/)" },
		{ __LINE__, "gpci,a",
		  "invalid selector 'gpci,a' (expected vfalls/NAME,KEY=VALUE/, mmustat/NAME/ or gpci/NAME/)" },
		{ __LINE__, "cpu/x/",
		  "invalid selector 'cpu/x' (expected vfalls/NAME,KEY=VALUE/, mmustat/NAME/ or gpci/NAME/)" },
		{ __LINE__, "hisi_ptt0_2",
		  "invalid selector 'hisi_ptt0_2' (expected vfalls/NAME,KEY=VALUE/, mmustat/NAME/ or gpci/NAME/)" },
		{ __LINE__, "hisi_ptt0_2/x",
		  "'hisi_ptt0_2/x' is a tunable and cannot be counted; 'tally get hisi_ptt0_2/x --on here' reads it" },
		{ __LINE__, "", "invalid selector '' (expected vfalls/NAME,KEY=VALUE/, mmustat/NAME/ or gpci/NAME/)" },
		{ __LINE__, "gpci/a,/", "'gpci/a,/': nothing after the last comma" },
		{ __LINE__, "gpci/a,=1/", "'gpci/a,=1/': nothing after the last comma" },
		{ __LINE__, "gpci/a,,b/", "'gpci/a,,b/': nothing after the last comma" },
		{ __LINE__, "gpci/a,k=1,k/", "'gpci/a,k=1,k/': key k is given twice" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(row); i++) {
		struct err e;
		struct sel s;

		if (selector_parse(&s, row[i].text, &e) != -TALLY_EINVAL || strcmp(e.text, row[i].words) != 0)
			fail_msg("row of line %d: %s", row[i].line, e.text);
	}
}

static void a_selector_has_its_longest_and_its_most_keys(void **state)
{
	char text[LONGEST + 4], many[LONGEST];
	struct err e;
	struct sel s;
	int n;

	(void)state;
	memset(text, 'x', sizeof(text));
	memcpy(text, "gpci/", 5);
	text[LONGEST] = '/';
	text[LONGEST + 1] = '\0';
	assert_int_equal(selector_parse(&s, text, &e), 0);
	assert_string_equal(s.text, text);
	assert_int_equal(strlen(s.name), LONGEST - 5);
	text[LONGEST] = '\0';
	assert_int_equal(selector_parse(&s, text, &e), 0);
	assert_int_equal(strlen(s.name), LONGEST - 5);
	text[LONGEST] = 'x';
	assert_int_equal(selector_parse(&s, text, &e), -TALLY_EINVAL);
	assert_int_equal(strlen(e.text), strlen("selector too long: '...'") + 40);
	assert_int_equal(strncmp(e.text, "selector too long: 'gpci/xxx", 28), 0);

	n = snprintf(many, sizeof(many), "gpci/a");
	for (uint32_t i = 0; i < SEL_KEYS; i++)
		n += snprintf(many + n, sizeof(many) - (size_t)n, ",k%u", i);
	assert_int_equal(selector_parse(&s, many, &e), 0);
	assert_int_equal(s.nkeys, SEL_KEYS);
	assert_string_equal(s.key[SEL_KEYS - 1].key, "k11");
	snprintf(many + n, sizeof(many) - (size_t)n, ",last");
	assert_int_equal(selector_parse(&s, many, &e), -TALLY_EINVAL);
	assert_non_null(strstr(e.text, "/': more than 12 keys"));
}

static void a_number_has_a_bound_and_stays_where_there_is_none(void **state)
{
	uint64_t v = 77;
	struct err e;
	struct sel s;

	(void)state;
	assert_int_equal(selector_parse(&s, "gpci/a,at=5,hex=0x10,no,word=x,back=-1/", &e), 0);
	assert_int_equal(sel_number(&s, "cpu", 9, &v, &e), 0);
	assert_int_equal(v, 77);
	assert_int_equal(sel_number(&s, "at", 5, &v, &e), 1);
	assert_int_equal(v, 5);
	assert_int_equal(sel_number(&s, "hex", 16, &v, &e), 1);
	assert_int_equal(v, 16);
	assert_int_equal(sel_number(&s, "at", 4, &v, &e), -TALLY_EINVAL);
	assert_string_equal(e.text, "gpci/a,at=5,hex=0x10,no,word=x,back=-1/: invalid value at=5 (expected a number up "
				    "to 4)");
	for (size_t i = 0; i < 3; i++) {
		e = (struct err){ 0 };
		assert_int_equal(sel_number(&s, ((const char *const[]){ "no", "word", "back" })[i], 9, &v, &e),
				 -TALLY_EINVAL);
		assert_non_null(strstr(e.text, "(expected a number up to 9)"));
	}
}

static void a_key_that_nobody_knows_is_named_with_the_nearest(void **state)
{
	static const char *const keys[] = { "cpu", "event", NULL }, *const none[] = { NULL };
	struct err e;
	struct sel s;

	(void)state;
	assert_int_equal(selector_parse(&s, "vfalls/a,event=1,cpu=2/", &e), 0);
	assert_int_equal(sel_keys_are(&s, keys, &e), 0);
	assert_int_equal(sel_keys_are(&s, none, &e), -TALLY_EINVAL);
	assert_string_equal(e.text, "vfalls/a,event=1,cpu=2/: unknown key 'event' (expected one of none)");
	assert_int_equal(selector_parse(&s, "vfalls/a,cpu=2,evnt=1/", &e), 0);
	assert_int_equal(sel_keys_are(&s, keys, &e), -TALLY_EINVAL);
	assert_string_equal(e.text, "vfalls/a,cpu=2,evnt=1/: unknown key 'evnt'; did you mean 'event'?");
	assert_int_equal(selector_parse(&s, "vfalls/a,zebra/", &e), 0);
	assert_int_equal(sel_keys_are(&s, keys, &e), -TALLY_EINVAL);
	assert_string_equal(e.text, "vfalls/a,zebra/: unknown key 'zebra' (expected one of cpu, event)");
	assert_int_equal(selector_parse(&s, "vfalls/a/", &e), 0);
	assert_int_equal(sel_keys_are(&s, none, &e), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_provider_is_a_whole_word),
		cmocka_unit_test(the_first_of_a_list_ends_behind_its_second_slash),
		cmocka_unit_test(a_selector_has_a_name_and_keys_with_or_without_values),
		cmocka_unit_test(what_is_no_selector_is_refused_with_what_was_expected),
		cmocka_unit_test(a_selector_has_its_longest_and_its_most_keys),
		cmocka_unit_test(a_number_has_a_bound_and_stays_where_there_is_none),
		cmocka_unit_test(a_key_that_nobody_knows_is_named_with_the_nearest),
	};

	return cmocka_run_group_tests_name("ask: selectors", tests, NULL, NULL);
}
