/* doctor_test.c: every row of doctor.def is what doctor.h promises. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "facts/doctor.h"

static void rows_have_unique_keys_and_short_titles(void **state)
{
	(void)state;
	for (int i = 0; i < DOC_ROWS; i++) {
		const struct doc_is *is = doc_is((enum doc_row)i);

		assert_true(strlen(is->title) > 0 && strlen(is->title) <= 20);
		assert_true(strlen(is->group) > 0);
		for (int j = 0; j < i; j++)
			assert_string_not_equal(is->key, doc_is((enum doc_row)j)->key);
	}
}

static void rows_of_a_group_stand_together(void **state)
{
	(void)state;
	for (int i = 1; i < DOC_ROWS; i++)
		for (int j = 0; j < i - 1; j++)
			if (!strcmp(doc_is((enum doc_row)i)->group, doc_is((enum doc_row)j)->group))
				assert_string_equal(doc_is((enum doc_row)i)->group,
						    doc_is((enum doc_row)(i - 1))->group);
}

static void every_finding_has_a_consequence_and_one_command_or_none(void **state)
{
	(void)state;
	for (int i = 0; i < DOC_ROWS; i++) {
		int causes = 0;

		for (int c = DOC_OK + 1; c < DOC_UNKNOWN; c++) {
			const struct doc_says *s = doc_says((enum doc_row)i, (enum doc_cause)c);

			if (!s)
				continue;
			causes++;
			assert_int_not_equal(s->verdict, DOC_IS_OK);
			assert_true(strlen(s->consequence) > 0 && !strchr(s->consequence, '\n'));
			assert_int_equal(s->how == DOC_NOTHING, !*s->command);
			assert_false(strstr(s->command, "&&") || strchr(s->command, '\n'));
		}
		assert_true(causes > 0);
		assert_int_equal(doc_says((enum doc_row)i, DOC_OK)->verdict, DOC_IS_OK);
		assert_non_null(doc_says((enum doc_row)i, DOC_UNKNOWN));
	}
}

/* "missing" is what ends the main job, or what an interface of tally can't do without. */
static void what_the_main_job_needs_is_missing_when_denied(void **state)
{
	int main_rows = 0;

	(void)state;
	for (int i = 0; i < DOC_ROWS; i++) {
		if (!doc_is((enum doc_row)i)->main)
			continue;
		main_rows++;
		assert_int_equal(doc_says((enum doc_row)i, DOC_DENIED)->verdict, DOC_IS_MISSING);
		assert_int_equal(doc_says((enum doc_row)i, DOC_ABSENT)->verdict, DOC_IS_MISSING);
	}
	assert_true(main_rows >= 3);
}

/* For one user's sake nothing is opened to all, and a fix names no release of Debian that the sources may lack. */
static void no_fix_opens_a_device_or_perf_to_everybody_or_names_a_release(void **state)
{
	static const char *const too_much[] = { "a+rw", "666", "paranoid=-1", "paranoid=0", "install -t", "chmod o" };

	(void)state;
	for (int i = 0; i < DOC_ROWS; i++)
		for (int c = DOC_OK + 1; c < DOC_UNKNOWN; c++) {
			const struct doc_says *s = doc_says((enum doc_row)i, (enum doc_cause)c);

			for (size_t k = 0; s && k < sizeof(too_much) / sizeof(*too_much); k++)
				assert_null(strstr(s->command, too_much[k]));
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_have_unique_keys_and_short_titles),
		cmocka_unit_test(rows_of_a_group_stand_together),
		cmocka_unit_test(every_finding_has_a_consequence_and_one_command_or_none),
		cmocka_unit_test(what_the_main_job_needs_is_missing_when_denied),
		cmocka_unit_test(no_fix_opens_a_device_or_perf_to_everybody_or_names_a_release),
	};

	return cmocka_run_group_tests_name("facts: doctor", tests, NULL, NULL);
}
