/* Tests of format.c: what clients ask for, and how numbers, labels and names are written. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "serve/serve_int.h"

static void the_format_is_the_one_that_a_client_weighs_more(void **state)
{
	static const struct {
		const char *accept;
		enum format is;
	} row[] = {
		{ NULL, FORMAT_TEXT },
		{ "", FORMAT_TEXT },
		{ "*/*", FORMAT_TEXT },
		{ "text/html,application/xhtml+xml,*/*;q=0.8", FORMAT_TEXT },
		{ "application/openmetrics-text", FORMAT_OPENMETRICS },
		{ "application/openmetrics-text; version=1.0.0; charset=utf-8", FORMAT_OPENMETRICS },
		/* Prometheus 2.42 */
		{ "application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,"
		  "text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
		  FORMAT_OPENMETRICS },
		/* Prometheus 3 */
		{ "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,"
		  "application/openmetrics-text;version=0.0.1;q=0.5,text/plain;version=1.0.0;q=0.4,text/plain;version=0.0.4;q=0.3",
		  FORMAT_OPENMETRICS },
		{ "APPLICATION/OpenMetrics-Text ; Q=0.9 , text/plain;q=0.95", FORMAT_TEXT },
		{ "application/openmetrics-text;q=0.5,text/plain;q=0.5", FORMAT_TEXT },
		{ "application/openmetrics-text;q=0", FORMAT_TEXT },
		{ "application/openmetrics-text;q=", FORMAT_TEXT },
		{ "application/openmetrics-text;q=1.7", FORMAT_OPENMETRICS },
		{ "application/openmetrics-text;version=2.0.0", FORMAT_TEXT },
		{ ";;;,,,=;q=0.1;", FORMAT_TEXT },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(row); i++)
		if (format_accepted(row[i].accept, row[i].accept ? strlen(row[i].accept) : 0) != row[i].is)
			fail_msg("%s", row[i].accept ? row[i].accept : "(none)");
	/* only so many bytes count */
	assert_int_equal(format_accepted("application/openmetrics-textual", 28), FORMAT_OPENMETRICS);
}

static void numbers_are_written_as_go_writes_them(void **state)
{
	static const struct {
		double v;
		const char *text;
	} row[] = {
		{ 0, "0.0" },
		{ 1, "1.0" },
		{ -8, "-8.0" },
		{ 0.5, "0.5" },
		{ 100000, "100000.0" },
		{ 999999, "999999.0" },
		{ 1e6, "1e+06" },
		{ 1234567, "1.234567e+06" },
		{ 0.0001, "0.0001" },
		{ 0.00001, "1e-05" },
		{ 1.024e-6, "1.024e-06" },
		{ 0.1 + 0.2, "0.30000000000000004" },
		{ 9223372036854775807.0, "9.223372036854776e+18" },
		{ INFINITY, "+Inf" },
		{ -INFINITY, "-Inf" },
		{ NAN, "NaN" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(row); i++) {
		struct buf b = { 0 };

		format_number(&b, row[i].v);
		assert_string_equal(b.p, row[i].text);
		buf_free(&b);
	}
}

static void nothing_in_a_label_can_end_it(void **state)
{
	struct buf b = { 0 };

	(void)state;
	format_label(&b, "x",
		     "a\"b\\c\nd\te\xff"
		     "\xc3\xa4",
		     12);
	assert_string_equal(b.p, "x=\"a\\\"b\\\\c\\nd\te\xef\xbf\xbd\xc3\xa4\"");
	buf_clear(&b);
	format_label(&b, "x", "", 0);
	assert_string_equal(b.p, "x=\"\"");
	buf_free(&b);
}

static void a_help_text_is_one_line_without_quotes(void **state)
{
	struct buf b = { 0 };

	(void)state;
	format_help(&b, "say \"hello\" \\ there");
	assert_string_equal(b.p, "say 'hello' \\\\ there");
	buf_free(&b);
}

static void names_have_letters_digits_and_underscores(void **state)
{
	static const char *const row[][2] = {
		{ "faults", "faults" }, { "a-b.c", "a_b_c" }, { "9lives", "_9lives" },
		{ "x->y z", "x_y_z" },  { "tail--", "tail" }, { "-", "_" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(row); i++) {
		struct buf b = { 0 };

		buf_identifier(&b, row[i][0], strlen(row[i][0]));
		assert_string_equal(b.p, row[i][1]);
		buf_free(&b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_format_is_the_one_that_a_client_weighs_more),
		cmocka_unit_test(numbers_are_written_as_go_writes_them),
		cmocka_unit_test(nothing_in_a_label_can_end_it),
		cmocka_unit_test(a_help_text_is_one_line_without_quotes),
		cmocka_unit_test(names_have_letters_digits_and_underscores),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
