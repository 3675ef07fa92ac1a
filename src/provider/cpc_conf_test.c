/* cpc_conf_test.c: the configuration file. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "provider/provider_int.h"

/* The text as a file has it: nothing stands behind its last byte. */
static int parse_text(const char *text, uint64_t *min, struct err *e)
{
	const size_t n = strlen(text);
	char *bytes = mem_alloc(n + 1);
	int rc;

	assert_non_null(bytes);
	memcpy(bytes + 1, text, n);
	rc = cpc_conf_parse(bytes + 1, n, min, e);
	mem_free(bytes);
	return rc;
}

static uint64_t min_of(const char *text)
{
	struct err e = { 0 };
	uint64_t min = 5000;

	if (parse_text(text, &min, &e) != 0)
		fail_msg("%s: %s", text, e.text);
	return min;
}

static void refuses(const char *text, const char *words)
{
	struct err e = { 0 };
	uint64_t min = 5000;

	assert_int_equal(parse_text(text, &min, &e), -TALLY_EINVAL);
	assert_string_equal(e.text, words);
}

static void minimum_is_read(void **state)
{
	(void)state;
	assert_int_equal(min_of("dcpc-min-overflow=1000;"), 1000);
	assert_int_equal(min_of("# text = 3;\n  dcpc-min-overflow = 0x10 ; # more\n"), 16);
	assert_int_equal(min_of("dcpc-min-overflow=1"), 1);
	assert_int_equal(min_of("\xef\xbb\xbf"
				"dcpc-min-overflow=2;"),
			 2);
}

static void other_properties_are_skipped(void **state)
{
	(void)state;
	assert_int_equal(min_of(""), 5000);
	assert_int_equal(min_of("# dcpc-min-overflow=1;"), 5000);
	assert_int_equal(min_of("name=\"dcpc\" parent=\"a = b; # c\" "
				"instance=0;\nlist=1,2,\"x\";\ndcpc-min-overflow=7;"),
			 7);
}

static void mistakes_name_their_line(void **state)
{
	(void)state;
	refuses("\n\ndcpc-min-overflow 1000;", "line 3: \"=\" is missing after dcpc-min-overflow");
	refuses("dcpc-min-overflow=ten;", "line 1: dcpc-min-overflow needs a number, not ten");
	refuses("#\ndcpc-min-overflow=;", "line 2: dcpc-min-overflow has no value");
	refuses("dcpc-min-overflow", "line 1: \"=\" is missing after dcpc-min-overflow");
	refuses("=5", "line 1: a name is missing before '='");
}

/* A word is cut at 63 characters, whatever it is of; what stands behind it is read on. */
static void long_words_are_cut(void **state)
{
	char text[400], words[200], cut[64];

	(void)state;
	memset(cut, 'x', sizeof(cut) - 1);
	cut[sizeof(cut) - 1] = '\0';
	for (int n = 61; n <= 66; n++) {
		const int shown = n < 63 ? n : 63;

		snprintf(text, sizeof(text), "%.*s%.*s", 61, cut, n - 61, cut);
		snprintf(words, sizeof(words), "line 1: \"=\" is missing after %.*s", shown, cut);
		refuses(text, words);
		snprintf(text, sizeof(text), "dcpc-min-overflow=%.*s%.*s;", 61, cut, n - 61, cut);
		snprintf(words, sizeof(words), "line 1: dcpc-min-overflow needs a number, not %.*s", shown, cut);
		refuses(text, words);
	}
	snprintf(text, sizeof(text), "%s%s=%s%s; dcpc-min-overflow=9;", cut, cut, cut, cut);
	assert_int_equal(min_of(text), 9);
}

static void binary_file_is_refused(void **state)
{
	struct err e = { 0 };
	uint64_t min = 5;

	(void)state;
	assert_int_equal(cpc_conf_parse("a\0b", 3, &min, &e), -TALLY_EINVAL);
	e = (struct err){ 0 };
	assert_int_equal(cpc_conf_parse("dcpc-min-overflow=7;\0", 21, &min, &e), -TALLY_EINVAL);
	assert_string_equal(e.text, "it is not a text file");
	assert_int_equal(min, 5);
}

static void missing_file_changes_nothing(void **state)
{
	struct err e = { 0 };
	uint64_t min = 5;

	(void)state;
	assert_int_equal(cpc_conf_read("/nonexistent/dcpc.conf", &min, &e), 0);
	assert_int_equal(min, 5);
	assert_true(cpc_conf_read("/", &min, &e) < 0);
	assert_int_equal(mem_live(), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(minimum_is_read),          cmocka_unit_test(other_properties_are_skipped),
		cmocka_unit_test(mistakes_name_their_line), cmocka_unit_test(long_words_are_cut),
		cmocka_unit_test(binary_file_is_refused),   cmocka_unit_test(missing_file_changes_nothing),
	};

	return cmocka_run_group_tests_name("provider: cpc conf", tests, NULL, NULL);
}
