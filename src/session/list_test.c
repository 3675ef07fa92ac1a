/*
 * list_test.c: the probes of a program and their stabilities, as text and for programs.
 */
#include "session/script_test_int.h"

/* The list of the probes of a program. */
static void program_list(const char *program, bool verbose, enum tally_format format, struct result *r)
{
	struct tally_trace_opts o = {
		.size = sizeof(o), .out = take_out, .arg = r, .format = format, .flags = TALLY_TRACE_VM
	};
	struct tally_trace *t;

	*r = (struct result){ 0 };
	assert_int_equal(tally_trace_open(&t, &o), 0);
	assert_int_equal(tally_trace_source(t, NULL, program, strlen(program)), 0);
	assert_int_equal(tally_trace_list(t, verbose), 0);
	tally_trace_close(t);
}

static void the_probes_of_a_program_are_listed(void **state)
{
	struct result r;

	(void)state;
	program_list("BEGIN, END", false, TALLY_FORMAT_TEXT, &r);
	assert_string_equal(text_of(&r.out),
			    "   ID   PROVIDER            MODULE                          FUNCTION NAME\n"
			    "    1     dtrace                                                     BEGIN\n"
			    "    2     dtrace                                                     END\n");
	drop(&r);
}

static void the_class_of_a_cpc_probe_is_cpu(void **state)
{
	struct result r;

	(void)state;
	program_list("cpc:::page_faults-all-5000", true, TALLY_FORMAT_TEXT, &r);
	assert_non_null(
		strstr(text_of(&r.out),
		       "\n\n\tProbe Description Attributes\n"
		       "\t\tIdentifier Names: Evolving\n\t\tData Semantics:   Evolving\n\t\tDependency Class: CPU\n"
		       "\n\tArgument Attributes\n"
		       "\t\tIdentifier Names: Evolving\n\t\tData Semantics:   Evolving\n\t\tDependency Class: Common\n"
		       "\n\tArgument Types\n\t\tNone\n"));
	drop(&r);
}

/* The least of a provider's words and of those of its names: dtrace's are all stable. */
#define STABLE(TITLE)                                                                                       \
	"\n\t" TITLE "\n\t\tIdentifier Names: Stable\n\t\tData Semantics:   Stable\n\t\tDependency Class: " \
	"Common\n"
#define EVOLVING(TITLE)                                                                                         \
	"\n\t" TITLE "\n\t\tIdentifier Names: Evolving\n\t\tData Semantics:   Evolving\n\t\tDependency Class: " \
	"Common\n"

/* A source has the least of what its own clauses use, whatever another source uses. */
static void the_report_has_each_source_with_the_stability_of_its_own_clauses(void **state)
{
	static const char *const source[] = {
		"BEGIN { exit(0); }",
		"cpc:::page_faults-all-5000 { x = 1; }",
		"cpc:::page_faults-all-5000 { x = arg0; }",
		"cpc:::page_faults-all-5000 { x = timestamp; trace(pid); trace(execname); }",
		"BEGIN { y = 1; }",
	};
	struct result r = { 0 };
	struct tally_trace_opts o = { .size = sizeof(o), .out = take_out, .arg = &r, .flags = TALLY_TRACE_VM };
	struct tally_trace *t;
	const char *at;

	(void)state;
	assert_int_equal(tally_trace_open(&t, &o), 0);
	for (size_t i = 0; i < COUNT(source); i++)
		assert_int_equal(tally_trace_source(t, i == 4 ? "last.d" : NULL, source[i], strlen(source[i])), 0);
	assert_int_equal(tally_trace_compile(t), 0);
	assert_int_equal(tally_trace_report(t), 0);
	at = text_of(&r.out);
	assert_int_equal(
		strncmp(at,
			"\nStability attributes for description BEGIN :\n" STABLE(
				"Minimum Probe Description Attributes")
				STABLE("Minimum Statement Attributes") "\n"
								       "\nStability attributes for description cpc:::page_faults-all-5000 :\n",
			strlen("\nStability attributes for description BEGIN :\n" STABLE("Minimum Probe Description Attributes") STABLE(
				"Minimum Statement Attributes") "\n"
								"\nStability attributes for description cpc:::page_faults-all-5000 :\n")),
		0);
	assert_non_null(at = strstr(at, "Dependency Class: CPU\n" STABLE("Minimum Statement Attributes")));
	assert_non_null(at = strstr(at, "Dependency Class: CPU\n" EVOLVING("Minimum Statement Attributes")));
	assert_non_null(at = strstr(at, "Dependency Class: CPU\n" STABLE("Minimum Statement Attributes")));
	assert_non_null(strstr(at, "\nStability attributes for script last.d:\n" STABLE(
					   "Minimum Probe Description Attributes")));
	tally_trace_close(t);
	drop(&r);
}

static void a_list_for_programs_has_an_object_for_each_probe(void **state)
{
	struct result r;

	(void)state;
	program_list("END, BEGIN", false, TALLY_FORMAT_JSON, &r);
	assert_string_equal(text_of(&r.out), "{\"type\":\"probe\",\"id\":2,\"probe\":\"dtrace:::END\"}\n"
					     "{\"type\":\"probe\",\"id\":1,\"probe\":\"dtrace:::BEGIN\"}\n");
	drop(&r);
}

#define WORDS(key, words, class) "\"" key "\":{\"names\":\"" words "\",\"data\":\"" words "\",\"class\":\"" class "\"}"

static void a_verbose_list_for_programs_has_all_stabilities(void **state)
{
	static const char want[] =
		",\"probe\":\"cpc:::page_faults-all-5000\"," WORDS("stability", "Evolving", "CPU") "," WORDS(
			"arguments", "Evolving", "Common") "," WORDS("provider_stability", "Evolving", "Common");
	struct result r;

	(void)state;
	program_list("cpc:::page_faults-all-5000", true, TALLY_FORMAT_JSON, &r);
	if (!strstr(text_of(&r.out), want))
		fail_msg("%s", text_of(&r.out));
	drop(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_probes_of_a_program_are_listed),
		cmocka_unit_test(the_class_of_a_cpc_probe_is_cpu),
		cmocka_unit_test(the_report_has_each_source_with_the_stability_of_its_own_clauses),
		cmocka_unit_test(a_list_for_programs_has_an_object_for_each_probe),
		cmocka_unit_test(a_verbose_list_for_programs_has_all_stabilities),
	};

	return cmocka_run_group_tests_name("session: list", tests, NULL, NULL);
}
