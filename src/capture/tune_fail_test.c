/* tune_fail_test.c: whatever goes wrong while it tunes, what was there is there. */
#include <errno.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "capture/tune_test_int.h"

/* ---- what is there after a failure ---------------------------------------------------------------------------- */

/* Tunes; it fails as said, and what was there is there. */
static void fails(struct bench *b, int code, const char *words)
{
	struct tally_platform *p = bench_platform(b, "kunpeng");
	struct tally_tune_opts o = bench_opts(b, TALLY_GOAL_THROUGHPUT);

	assert_int_equal(tally_tune(p, &o, NULL), -code);
	said(p, words);
	said(p, "; the settings of hisi_ptt0_2 are unchanged");
	as_it_was(b);
	assert_int_equal(b->out.n, 0);
	tally_platform_close(p);
}

static uint32_t calls_of_a_whole_run(bool sets)
{
	struct bench *b = bench_with_a_way();
	uint32_t n;

	assert_int_equal(bench_tune(b, TALLY_GOAL_THROUGHPUT), 0);
	assert_memory_equal(b->value, ((const uint32_t[]){ 2, 1, 0, 0, 2 }), sizeof(b->value));
	n = sets ? b->sets : b->starts;
	bench_free(b);
	assert_true(n > 20);
	return n;
}

static void a_set_that_fails_is_undone(void **state)
{
	uint32_t n = calls_of_a_whole_run(true);

	(void)state;
	for (uint32_t i = 1; i <= n; i++)
		for (int kind = 0; kind < 4; kind++) {
			struct bench *b = bench_with_a_way();

			b->bad_set = i;
			b->takes_bad_sets = kind & 1;
			b->bad_sets = kind & 2 ? 3 : 1;
			fails(b, TALLY_EBUSY, "it is busy");
			bench_free(b);
		}
}

static void a_trace_that_fails_is_undone(void **state)
{
	uint32_t n = calls_of_a_whole_run(false);

	(void)state;
	for (uint32_t i = 1; i <= n; i++) {
		struct bench *b = bench_with_a_way();

		b->bad_start = i;
		fails(b, TALLY_EBUSY, "hisi_ptt0_2 traces already");
		b->bad_start = b->starts = 0;
		b->gone_at = i;
		fails(b, TALLY_EEND, "the device is gone");
		b->gone_at = b->starts = 0;
		b->stop_at = i;
		fails(b, TALLY_EEND, "interrupted");
		bench_free(b);
	}
}

static int stop_at_fifth(void *arg, uint64_t done, uint64_t total)
{
	(void)arg;
	assert_int_equal(total, 0);
	return done == 5 ? -1 : 0;
}

static void who_watches_may_stop_it(void **state)
{
	struct bench *b = bench_with_a_way();
	struct tally_platform *p = bench_platform(b, "kunpeng");
	struct tally_tune_opts o = bench_opts(b, TALLY_GOAL_THROUGHPUT);

	(void)state;
	o.progress = stop_at_fifth;
	assert_int_equal(tally_tune(p, &o, NULL), -TALLY_EEND);
	said(p, "interrupted");
	assert_int_equal(b->starts, 4);
	as_it_was(b);
	tally_platform_close(p);
	bench_free(b);
}

static void a_table_that_nobody_takes_is_a_failure(void **state)
{
	struct bench *b = bench_with_a_way();
	struct tally_platform *p = bench_platform(b, "kunpeng");
	struct tally_tune_opts o = bench_opts(b, TALLY_GOAL_THROUGHPUT);

	(void)state;
	o.to.out = refuse;
	assert_int_equal(tally_tune(p, &o, NULL), -TALLY_EIO);
	as_it_was(b);
	o.dry_run = 1;
	assert_int_equal(tally_tune(p, &o, NULL), -TALLY_EIO);
	tally_platform_close(p);
	bench_free(b);
}

static void out_of_memory_is_undone(void **state)
{
	long live, n;

	(void)state;
	for (n = 1;; n++) {
		struct bench *b = bench_with_a_way();
		struct tally_platform *p = bench_platform(b, "kunpeng");
		struct tally_tune_opts o = bench_opts(b, TALLY_GOAL_THROUGHPUT);
		int rc;

		buf_puts(&b->out, "");
		live = mem_live();
		mem_fail_at(n);
		rc = tally_tune(p, &o, NULL);
		if (!mem_failed()) {
			mem_fail_at(0);
			assert_int_equal(rc, 0);
			tally_platform_close(p);
			bench_free(b);
			break;
		}
		mem_fail_at(0);
		if (rc < 0) {
			assert_int_equal(rc, -TALLY_ENOMEM);
			as_it_was(b);
		}
		tally_platform_close(p);
		bench_free(b);
		assert_true(mem_live() < live);
	}
	assert_int_equal(mem_live(), 0);
	assert_true(n > 20);
}

/* ---- commands ---------------------------------------------------------------------------------------------------- */

static int tune_command(struct bench *b, const char *on, char *const argv[], struct tally_platform **p, int *status)
{
	struct tally_tune_result result = { .size = sizeof(result) };
	struct tally_tune_opts o;
	int rc;

	*p = bench_platform(b, on);
	o = bench_opts(b, TALLY_GOAL_THROUGHPUT);
	o.argv = argv;
	o.duration_ns = 0;
	rc = tally_tune(*p, &o, &result);
	*status = result.status;
	return rc;
}

static void a_command_that_dies_ends_it(void **state)
{
	static char *const argv[][4] = {
		{ "sh", "-c", "kill -KILL $$" },
		{ "sh", "-c", "exit 126" },
		{ "/no/such/command" },
		{ "/" },
	};
	static const struct {
		int code, status;
		const char *words;
	} rows[] = {
		{ TALLY_EIO, 137, "the command exited with status 137; the settings of hisi_ptt0_2 are unchanged" },
		{ TALLY_EIO, 126, "the command exited with status 126" },
		{ TALLY_EINVAL, 127, "failed to start '/no/such/command'" },
		{ TALLY_EINVAL, 126, "failed to start '/'" },
	};
	struct tally_platform *p;
	int status;

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct bench *b = bench_with_a_way();

		assert_int_equal(tune_command(b, i & 1 ? "local" : "kunpeng", argv[i], &p, &status), -rows[i].code);
		said(p, rows[i].words);
		assert_int_equal(status, rows[i].status);
		as_it_was(b);
		tally_platform_close(p);
		bench_free(b);
	}
}

/* A script that counts its runs in a file, and in the fourth does as $0 says. */
static void in_the_fourth_run(const char *what, const char *words, int status)
{
	char path[] = "/tmp/tally-tune-XXXXXX", script[256];
	char *const argv[] = { "sh", "-c", script, NULL };
	struct bench *b = bench_with_a_way();
	struct tally_platform *p;
	int got;

	close(mkstemp(path));
	snprintf(script, sizeof(script), "echo >>%s; [ $(wc -l <%s) -ne 4 ] || %s", path, path, what);
	assert_int_equal(tune_command(b, "kunpeng", argv, &p, &got), -TALLY_EIO);
	said(p, words);
	assert_int_equal(got, status);
	assert_true(b->sets > 0);
	as_it_was(b);
	unlink(path);
	tally_platform_close(p);
	bench_free(b);
}

static void a_command_that_does_not_do_the_same_ends_it(void **state)
{
	(void)state;
	in_the_fourth_run("kill -KILL $$", "the command exited with status 137", 137);
	in_the_fourth_run("exit 3", "the command exited with status 3, before with 0", 0);
}

/* Not a model: time passes by itself, and a guard stands by. */
static void nothing_stays_behind(void **state)
{
	static char *const argv[] = { "sh", "-c", "exit 1", NULL };
	struct bench *b = bench_with_a_way();
	struct tally_platform *p;
	int status;

	(void)state;
	b->writes = hardly_better;
	(void)tune_command(b, "local", argv, &p, &status);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
	tally_platform_close(p);
	bench_free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_set_that_fails_is_undone),
		cmocka_unit_test(a_trace_that_fails_is_undone),
		cmocka_unit_test(who_watches_may_stop_it),
		cmocka_unit_test(a_table_that_nobody_takes_is_a_failure),
		cmocka_unit_test(out_of_memory_is_undone),
		cmocka_unit_test(a_command_that_dies_ends_it),
		cmocka_unit_test(a_command_that_does_not_do_the_same_ends_it),
		cmocka_unit_test(nothing_stays_behind),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
