/* list_hv_test.c: which columns the tables of `tally list` have, for people and for programs. */
#include "ask/output_test_int.h"

static void list_platform(struct buf *out, const char *on, const char *kind, const char *pattern, bool verbose,
			  uint32_t format)
{
	const struct tally_out to = { .size = sizeof(to), .out = buf_take, .arg = out, .format = format };
	struct buf notes = { 0 };
	struct tally_platform *p = platform_open_noted(on, &notes);

	buf_clear(out);
	assert_int_equal(tally_list(p, kind, pattern, verbose, &to), 0);
	tally_platform_close(p);
	buf_free(&notes);
}

/* Whether a line has these words and no others. */
static bool has_head(const struct buf *out, const char *words)
{
	for (const char *line = buf_text(out); *line;
	     line += strcspn(line, "\n") + (line[strcspn(line, "\n")] != '\0')) {
		const char *want = words;
		size_t n = strcspn(line, "\n"), i = 0;

		while (i < n) {
			const size_t blanks = strspn(line + i, " ");

			i += blanks;
			if (blanks && i < n && *want++ != ' ')
				break;
			if (i < n && line[i++] != *want++)
				break;
		}
		if (i == n && !*want)
			return true;
	}
	return false;
}

static void people_have_the_columns_that_fit_and_all_of_them_with_verbose(void **state)
{
	static const struct {
		const char *on, *kind, *pattern, *shown, *verbose;
	} row[] = {
		{ "power", "gpci", "entitled", "REQUEST FIELD AT BYTES KIND UNIT WHAT",
		  "REQUEST FIELD AT BYTES KIND UNIT SINCE LINUX WHAT" },
		{ "batoka", "vfalls", NULL, "NO REGISTER OF GROUP LOCAL GLOBAL ACCESS HOLDS",
		  "NO REGISTER OF GROUP LOCAL GLOBAL BITS ACCESS HOLDS WHY NOT" },
		{ "batoka", "vfalls", NULL, "OF EVENT CODE MODELLED WHAT", "OF EVENT CODE EMASK MODELLED WHAT" },
		{ "niagara", "mmustat", NULL, "SIDE CONTEXT PAGES HITS AT TICKS AT SELECTOR",
		  "SIDE CONTEXT PAGES HITS AT TICKS AT SELECTOR" },
	};
	struct buf out = { 0 };

	(void)state;
	for (size_t i = 0; i < COUNT(row); i++)
		for (int verbose = 0; verbose < 2; verbose++) {
			list_platform(&out, row[i].on, row[i].kind, row[i].pattern, verbose, TALLY_FORMAT_TEXT);
			if (!has_head(&out, verbose ? row[i].verbose : row[i].shown))
				fail_msg("row %zu: no '%s' in:\n%s", i, verbose ? row[i].verbose : row[i].shown,
					 buf_text(&out));
		}
	buf_free(&out);
}

static void programs_have_all_columns(void **state)
{
	struct buf out = { 0 };

	(void)state;
	list_platform(&out, "power", "gpci", "entitled", false, TALLY_FORMAT_JSON);
	assert_non_null(strstr(buf_text(&out), "\"since\":"));
	assert_non_null(strstr(buf_text(&out), "\"linux\":"));
	list_platform(&out, "batoka", "vfalls", NULL, false, TALLY_FORMAT_JSON);
	assert_non_null(strstr(buf_text(&out), "\"mask\":"));
	buf_free(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(people_have_the_columns_that_fit_and_all_of_them_with_verbose),
		cmocka_unit_test(programs_have_all_columns),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
