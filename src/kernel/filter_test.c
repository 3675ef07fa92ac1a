/* filter_test.c: texts through tr, cat and programs that do not do as they should. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "kernel/kernel_int.h"

static int through(const char *shell, const char *text, size_t n, struct buf *out, struct err *e)
{
	char *const argv[] = { "sh", "-c", (char *)shell, NULL };

	return k_filter(argv, text, n, out, e);
}

static void the_text_goes_in_and_the_answer_comes_back(void **state)
{
	static const struct {
		int line;
		const char *shell, *text, *out;
	} row[] = {
		{ __LINE__, "tr a-z A-Z", "an answer\n", "AN ANSWER\n" },
		{ __LINE__, "cat", "", "" },
		{ __LINE__, "cat; echo end", "x", "xend\n" },
		{ __LINE__, "echo unread", "what nobody reads", "unread\n" },
		{ __LINE__, "read first; echo $first; exec <&-; sleep 0; echo more", "1\n2\n", "1\nmore\n" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(row); i++) {
		struct buf out = { 0 };
		struct err e = { 0 };

		if (through(row[i].shell, row[i].text, strlen(row[i].text), &out, &e) != 0 ||
		    strcmp(out.p ? out.p : "", row[i].out))
			fail_msg("line %d: '%s' %s", row[i].line, out.p ? out.p : "", e.text);
		buf_free(&out);
	}
}

/* More than both pipes hold: who writes all before it reads would wait for ever. */
static void a_long_text_comes_back_whole(void **state)
{
	const size_t n = 1u << 20;
	char *text = malloc(n);
	struct buf out = { 0 };
	struct err e = { 0 };

	(void)state;
	assert_non_null(text);
	for (size_t i = 0; i < n; i++)
		text[i] = (char)('a' + i * 7 % 26);
	assert_int_equal(through("cat", text, n, &out, &e), 0);
	assert_int_equal(out.n, n);
	assert_memory_equal(out.p, text, n);
	buf_free(&out);
	/* Half of it is read, and no signal of the broken pipe is ours. */
	assert_int_equal(through("head -c 1000", text, n, &out, &e), 0);
	assert_int_equal(out.n, 1000);
	buf_free(&out);
	free(text);
}

static void what_fails_is_told(void **state)
{
	static const struct {
		int line;
		const char *shell;
		int rc;
		const char *words;
	} row[] = {
		{ __LINE__, "echo part; exit 3", -TALLY_EINVAL, "sh exited with status 3" },
		{ __LINE__, "kill -9 $$", -TALLY_EINVAL, "sh exited with status 137" },
		{ __LINE__, "exit 127", -TALLY_ENOTSUP, "cannot run sh: is it installed (package cpp)?" },
		{ __LINE__, "yes | head -c 70000000", -TALLY_EINVAL, "sh wrote more than 64 MB" },
		{ __LINE__, "yes | head -c 67108865", -TALLY_EINVAL, "sh wrote more than 64 MB" },
		{ __LINE__, "yes | head -c 67108864", 0, "" },
		{ __LINE__, "exec yes", -TALLY_EINVAL, "sh wrote more than 64 MB" }, /* it is ended */
	};
	char *const nobody[] = { "/nowhere/at/all", NULL };
	struct buf out = { 0 };
	struct err e;

	(void)state;
	for (size_t i = 0; i < COUNT(row); i++) {
		e = (struct err){ 0 };
		if (through(row[i].shell, "x", 1, &out, &e) != row[i].rc || strcmp(e.text, row[i].words))
			fail_msg("line %d: %s", row[i].line, e.text);
		buf_free(&out);
	}
	e = (struct err){ 0 };
	assert_int_equal(k_filter(nobody, "x", 1, &out, &e), -TALLY_ENOTSUP);
	buf_free(&out);
	mem_fail_at(1);
	assert_int_equal(through("echo x", "", 0, &out, &e), -TALLY_ENOMEM);
	mem_fail_at(0);
	buf_free(&out);
}

static void signals_are_as_they_were(void **state)
{
	struct sigaction had = { .sa_handler = SIG_DFL }, is;
	struct buf out = { 0 };
	struct err e = { 0 };

	(void)state;
	assert_int_equal(sigaction(SIGPIPE, &had, NULL), 0);
	assert_int_equal(through("true", "x", 1, &out, &e), 0);
	assert_int_equal(sigaction(SIGPIPE, NULL, &is), 0);
	assert_ptr_equal(is.sa_handler, SIG_DFL);
	/* The program has the signal as usual: it ends what is read no further. */
	assert_int_equal(through("yes | head -n 1", "", 0, &out, &e), 0);
	assert_string_equal(out.p, "y\n");
	buf_free(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_text_goes_in_and_the_answer_comes_back),
		cmocka_unit_test(a_long_text_comes_back_whole),
		cmocka_unit_test(what_fails_is_told),
		cmocka_unit_test(signals_are_as_they_were),
	};

	return cmocka_run_group_tests_name("kernel: filter", tests, NULL, NULL);
}
