/*
 * option_test.c: the values that options take, what is said of others, and what reaches cpp(1).
 */
#include "session/script_test_int.h"

#include <stdlib.h>

static void unknown_options_are_refused_by_name(void **state)
{
	(void)state;
	expect_error(&(struct ask){ .script = "BEGIN", .options = { "agsize=4k" } }, TALLY_EINVAL,
		     "failed to set -x agsize: Invalid option name");
	expect_error(&(struct ask){ .script = "BEGIN", .options = { "agghist" } }, TALLY_EINVAL,
		     "failed to set -x agghist: not supported: quantize() and lquantize() draw bars; "
		     "other aggregations are numbers");
	expect_error(&(struct ask){ .script = "BEGIN", .options = { "aggpack" } }, TALLY_EINVAL,
		     "failed to set -x aggpack: not supported: a histogram has a line for each of its values");
	expect_error(&(struct ask){ .script = "BEGIN", .options = { "strsize=many" } }, TALLY_EINVAL,
		     "failed to set -x strsize: Invalid value for specified option");
	expect_error(&(struct ask){ .script = "BEGIN", .options = { "strsize" } }, TALLY_EINVAL,
		     "failed to set -x strsize: Invalid value for specified option");
	expect_error(&(struct ask){ .script = "BEGIN", .options = { "strsize=1g" } }, TALLY_EINVAL,
		     "failed to set -x strsize: Invalid value for specified option");
}

/* The reason names the option and what it takes. */
static void a_refused_option_says_what_it_takes(void **state)
{
	static const struct {
		const char *name, *value, *why;
	} bad[] = {
		{ "agsize", "4k", "there is no option agsize; did you mean aggsize?" },
		{ "agpercpu", NULL, "there is no option agpercpu; did you mean aggpercpu?" },
		{ "zdef", NULL, "there is no option zdef; did you mean zdefs?" },
		{ "agghits", NULL, "there is no option agghits: OPTIONS OF THE LANGUAGE in tally-trace(1) lists them" },
		{ "demangle", "full", "option demangle takes on, off or short" },
		{ "demangle", NULL, "option demangle takes on, off or short" },
		{ "setenv", "HOME", "option setenv takes NAME=VALUE" },
		{ "setenv", "=x", "option setenv takes NAME=VALUE" },
		{ "unsetenv", "HOME=x", "option unsetenv takes NAME" },
		{ "cpppath", NULL, "option cpppath takes a value: cpppath=VALUE" },
		{ "strsize", NULL, "option strsize takes a value: strsize=VALUE" },
		{ "strsize", "many", "option strsize takes a number of bytes (512, 8k, 4m, 1g, 1t), not 'many'" },
		{ "strsize", "-4q", "option strsize takes a number of bytes (512, 8k, 4m, 1g, 1t), not '-4q'" },
		{ "strsize", "k", "option strsize takes a number of bytes (512, 8k, 4m, 1g, 1t), not 'k'" },
		{ "strsize", "-4k", "option strsize takes 2 to 4096 bytes" },
		{ "strsize", "1", "option strsize takes 2 to 4096 bytes" },
		{ "strsize", "4097", "option strsize takes 2 to 4096 bytes" },
		{ "nspec", "8k", "option nspec takes a number, not '8k'" },
		{ "nspec", "65536", "option nspec takes 0 to 65535" },
		{ "switchrate", "1fortnight",
		  "option switchrate takes a time (50ms, 1s) or a rate (10hz), not '1fortnight'" },
		{ "switchrate", "999us", "option switchrate takes 1000000 to 18446744073709551615 ns" },
		{ "switchrate", "-1hz", "option switchrate takes 1000000 to 18446744073709551615 ns" },
		{ "quiet", "maybe", "option quiet takes no value, or 0, 1, no, yes, off, on" },
	};
	struct options o;

	(void)state;
	options_init(&o);
	for (size_t i = 0; i < COUNT(bad); i++) {
		struct err e = { 0 }, why = { 0 };

		assert_int_equal(options_set(&o, bad[i].name, bad[i].value, &e, &why), -TALLY_EINVAL);
		assert_string_equal(why.text, bad[i].why);
	}
	options_free(&o);
}

/* Sizes and minima of dtrace(1): a script that sets them compiles, and -x says the same of the same values. */
static void small_sizes_are_legal_as_in_dtrace(void **state)
{
	static const char *const legal[] = { "bufsize=8k",    "bufsize=64", "aggsize=8",      "strsize=5",
					     "dynvarsize=15", "specsize=0", "scratchsize=51", "printsize=8",
					     "nspec=8",       "iregs=8" };
	static const char *const refused[] = { "bufsize=-1", "bufsize=0", "strsize=1", "iregs=7", "specsize=-40" };
	struct options o;
	struct err e = { 0 }, why = { 0 };
	char name[32];

	(void)state;
	options_init(&o);
	for (size_t i = 0; i < COUNT(legal) + COUNT(refused); i++) {
		const char *text = i < COUNT(legal) ? legal[i] : refused[i - COUNT(legal)], *eq = strchr(text, '=');

		snprintf(name, sizeof(name), "%.*s", (int)(eq - text), text);
		e = (struct err){ 0 };
		assert_int_equal(options_set(&o, name, eq + 1, &e, &why), i < COUNT(legal) ? 0 : -TALLY_EINVAL);
		assert_true(strcmp(text, "iregs=7") || !strcmp(e.text, "Insufficient registers to generate code"));
	}
	options_free(&o);
}

/* What is set twice for cpp(1) counts twice, but a path once. */
static void texts_for_cpp_are_kept_in_their_order(void **state)
{
	struct options o;
	struct err e = { 0 };

	(void)state;
	options_init(&o);
	assert_int_equal(options_set(&o, "define", "A=1", &e, &e), 0);
	assert_int_equal(options_set(&o, "cpppath", "/bin/one", &e, &e), 0);
	assert_int_equal(options_set(&o, "undef", "A", &e, &e), 0);
	assert_int_equal(options_set(&o, "cpppath", "/bin/two", &e, &e), 0);
	assert_int_equal(o.ntexts, 3);
	assert_string_equal(o.text[0].text, "A=1");
	assert_string_equal(o.text[2].text, "A");
	assert_string_equal(options_text(&o, OPT_cpppath), "/bin/two");
	assert_null(options_text(&o, OPT_incdir));
	assert_int_equal(options_set(&o, "cpppath", NULL, &e, &e), -TALLY_EINVAL);
	options_free(&o);
}

static void values_carry_units(void **state)
{
	struct options o;
	struct err e = { 0 };

	(void)state;
	options_init(&o);
	assert_int_equal(options_set(&o, "bufsize", "64k", &e, &e), 0);
	assert_int_equal(o.v[OPT_bufsize], 65536);
	assert_int_equal(options_set(&o, "switchrate", "10hz", &e, &e), 0);
	assert_int_equal(o.v[OPT_switchrate], 100000000);
	assert_int_equal(options_set(&o, "switchrate", "4", &e, &e), 0);
	assert_int_equal(o.v[OPT_switchrate], 250000000);
	assert_int_equal(options_set(&o, "switchrate", "20ms", &e, &e), 0);
	assert_int_equal(o.v[OPT_switchrate], 20000000);
	assert_int_equal(options_set(&o, "quiet", NULL, &e, &e), 0);
	assert_int_equal(o.v[OPT_quiet], 1);
	assert_int_equal(options_set(&o, "quiet", "no", &e, &e), 0);
	assert_int_equal(o.v[OPT_quiet], 0);
	assert_int_equal(options_set(&o, "bufsize", "99999999999999999g", &e, &e), -TALLY_EINVAL);
}

static void pragmas_set_options(void **state)
{
	struct result r;
	const struct ask a = { .script = "#pragma D option quiet\nBEGIN { printf(\"x\"); }\n", .file = "q.d" };

	(void)state;
	ask_keep(&a, &r, NULL);
	assert_string_equal(r.error, "");
	assert_string_equal(text_of(&r.out), "x\n");
	assert_string_equal(text_of(&r.notes), "");
	drop(&r);
}

static void every_option_has_a_line_of_help(void **state)
{
	const char *name, *help;
	unsigned n = 0;

	(void)state;
	while (tally_option(n, &name, &help)) {
		assert_true(strlen(name) > 2 && strlen(help) > 5);
		n++;
	}
	assert_true(n > 15);
}

/* Definitions of every length up to 40 reach cpp(1) whole. */
static void a_definition_reaches_cpp_whole(void **state)
{
	char option[40][80];
	struct buf script = { 0 }, want = { 0 };
	struct result r = { 0 };
	struct tally_trace_opts o = {
		.size = sizeof(o), .out = take_out, .note = take_note, .arg = &r, .flags = TALLY_TRACE_VM
	};
	struct tally_trace *t;

	(void)state;
	if (system("command -v cpp >/dev/null") != 0)
		skip();
	assert_int_equal(tally_trace_open(&t, &o), 0);
	assert_int_equal(set_option(t, "quiet"), 0);
	assert_int_equal(set_option(t, "cpp"), 0);
	buf_puts(&script, "BEGIN { ");
	for (int i = 0; i < 40; i++) {
		char name[48];

		memset(name, 'N', sizeof(name));
		name[i + 1] = '\0';
		snprintf(option[i], sizeof(option[i]), "%s=%d", name, 100 + i);
		assert_int_equal(tally_trace_option(t, "define", option[i]), 0);
		buf_printf(&script, "printf(\"%%d \", %s); ", name);
		buf_printf(&want, "%d ", 100 + i);
	}
	buf_puts(&script, "exit(0); }");
	buf_puts(&want, "\n");
	assert_int_equal(tally_trace_source(t, NULL, script.p, script.n), 0);
	if (tally_trace_compile(t) < 0 || tally_trace_go(t) < 0)
		fail_msg("%s: %s", tally_trace_error(t), tally_trace_reason(t));
	while (tally_trace_work(t, -1) == 0)
		;
	assert_int_equal(tally_trace_stop(t), 0);
	assert_string_equal(text_of(&r.out), want.p);
	tally_trace_close(t);
	buf_free(&script);
	buf_free(&want);
	drop(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(unknown_options_are_refused_by_name),
		cmocka_unit_test(a_refused_option_says_what_it_takes),
		cmocka_unit_test(small_sizes_are_legal_as_in_dtrace),
		cmocka_unit_test(texts_for_cpp_are_kept_in_their_order),
		cmocka_unit_test(values_carry_units),
		cmocka_unit_test(pragmas_set_options),
		cmocka_unit_test(every_option_has_a_line_of_help),
		cmocka_unit_test(a_definition_reaches_cpp_whole),
	};

	return cmocka_run_group_tests_name("session: option", tests, NULL, NULL);
}
