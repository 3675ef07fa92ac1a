/* child_test.c: splitting the command of -c, and the life of its process. */
#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "kernel/kernel_int.h"

static void words_are_split_as_a_shell_does(void **state)
{
	static const struct {
		int line;
		const char *cmd, *word[5];
	} row[] = {
		{ __LINE__, "ls", { "ls" } },
		{ __LINE__, "  ls\t-l \n x ", { "ls", "-l", "x" } },
		{ __LINE__, "sh -c 'echo \"a b\"; exit 3'", { "sh", "-c", "echo \"a b\"; exit 3" } },
		{ __LINE__, "a\"b c\"d '' \"\"", { "ab cd", "", "" } },
		{ __LINE__, "a\\ b \\\" '\\' \"\\\"\\n\\\\\"", { "a b", "\"", "\\", "\"\\n\\" } },
		{ __LINE__, "'it'\\''s'", { "it's" } },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(row); i++) {
		struct arena a = { 0 };
		struct err e = { 0 };
		char **argv;
		size_t n = 0;

		assert_int_equal(child_split(row[i].cmd, &a, &argv, &e), 0);
		for (; row[i].word[n]; n++)
			if (!argv[n] || strcmp(argv[n], row[i].word[n]))
				fail_msg("line %d: word %zu is \"%s\"", row[i].line, n, argv[n] ? argv[n] : "(none)");
		assert_null(argv[n]);
		arena_free(&a);
	}
}

static void bad_quoting_is_refused(void **state)
{
	static const char *const bad[] = { "'a", "\"a", "a \"b' c", "a\\", "\"a\\", "", "  \t" };

	(void)state;
	for (size_t i = 0; i < COUNT(bad); i++) {
		struct k_child c;
		struct err e = { 0 };

		if (k_child_start(bad[i], NULL, &c, &e) != -TALLY_EINVAL)
			fail_msg("\"%s\" was taken", bad[i]);
		assert_string_not_equal(e.text, "");
	}
}

/* Runs cmd to its end; the status a shell would give. */
static int run(const char *cmd, int released)
{
	struct err e = { 0 };
	struct k_child c;
	struct pollfd p;
	int status = -1;

	assert_int_equal(k_child_start(cmd, NULL, &c, &e), 0);
	assert_int_equal(k_child_status(&c, &status), 0);
	p = (struct pollfd){ .fd = c.pidfd, .events = POLLIN };
	assert_int_equal(poll(&p, 1, 0), 0);
	assert_int_equal(k_child_release(&c, &e), released);
	if (released < 0)
		assert_non_null(strstr(e.text, "cannot run the command"));
	assert_int_equal(poll(&p, 1, -1), 1);
	assert_int_equal(k_child_status(&c, &status), 1);
	assert_int_equal(k_child_status(&c, &status), 1);
	assert_int_equal(waitpid(c.pid, NULL, WNOHANG), -1);
	k_child_kill(&c);
	return status;
}

static void its_environment_has_what_is_set_and_not_what_is_to_go(void **state)
{
	static char kept[] = "TALLY_KEPT=a b", gone[] = "TALLY_GONE", again[] = "TALLY_KEPT=c";
	char *const env[] = { kept, gone, again, NULL };
	struct err e = { 0 };
	struct k_child c;

	(void)state;
	setenv("TALLY_GONE", "1", 1);
	assert_int_equal(k_child_start("sh -c 'test \"$TALLY_KEPT\" = c && test -z \"${TALLY_GONE+x}\"'", env, &c, &e),
			 0);
	assert_string_equal(getenv("TALLY_GONE"), "1");
	assert_null(getenv("TALLY_KEPT"));
	unsetenv("TALLY_GONE");
	assert_int_equal(k_child_release(&c, &e), 0);
	assert_int_equal(k_child_wait(&c, UINT64_MAX, NULL), 1);
	assert_int_equal(c.status, 0);
	k_child_kill(&c);
}

static void exit_code_is_the_status(void **state)
{
	(void)state;
	assert_int_equal(run("true", 0), 0);
	assert_int_equal(run("sh -c 'exit 42'", 0), 42);
}

static void signal_is_128_and_its_number(void **state)
{
	(void)state;
	assert_int_equal(run("sh -c 'kill -TERM $$'", 0), 128 + SIGTERM);
}

static void command_that_is_not_there_is_127(void **state)
{
	(void)state;
	assert_int_equal(run("/no/such/command", -TALLY_EINVAL), 127);
}

static void command_that_is_not_executable_is_126(void **state)
{
	(void)state;
	assert_int_equal(run("/etc/passwd", -TALLY_EINVAL), 126);
}

static void blocked_signals_are_not_inherited(void **state)
{
	sigset_t block, before;

	(void)state;
	sigemptyset(&block);
	sigaddset(&block, SIGTERM);
	sigprocmask(SIG_BLOCK, &block, &before);
	assert_int_equal(run("sh -c 'kill -TERM $$; exit 1'", 0), 128 + SIGTERM);
	sigprocmask(SIG_SETMASK, &before, NULL);
}

static void child_that_is_never_released_ends_with_us(void **state)
{
	struct err e = { 0 };
	struct k_child c;
	struct pollfd p;
	int status;

	(void)state;
	assert_int_equal(k_child_start("sleep 1000", NULL, &c, &e), 0);
	close(c.go_fd); /* as our death would */
	c.go_fd = -1;
	p = (struct pollfd){ .fd = c.pidfd, .events = POLLIN };
	assert_int_equal(poll(&p, 1, -1), 1);
	assert_int_equal(k_child_status(&c, &status), 1);
	assert_int_equal(status, 127);
}

static void killed_child_is_reaped(void **state)
{
	struct err e = { 0 };
	struct k_child c;
	int status;

	(void)state;
	assert_int_equal(k_child_start("sleep 1000", NULL, &c, &e), 0);
	assert_int_equal(k_child_release(&c, &e), 0);
	assert_int_equal(k_child_release(&c, &e), -TALLY_ESTATE);
	k_child_kill(&c);
	k_child_kill(&c);
	assert_int_equal(k_child_status(&c, &status), 1);
	assert_int_equal(status, 128 + SIGKILL);
	assert_int_equal(kill(c.pid, 0), -1);
}

/* A shell that has set its trap and goes on for ever. */
static void start_trapped(struct k_child *c, const char *action)
{
	struct err e = { 0 };
	char cmd[120], byte;
	int ready[2];

	assert_int_equal(pipe(ready), 0);
	snprintf(cmd, sizeof(cmd), "sh -c 'trap \"%s\" TERM; echo >&%d; while :; do :; done'", action, ready[1]);
	assert_int_equal(k_child_start(cmd, NULL, c, &e), 0);
	assert_int_equal(k_child_release(c, &e), 0);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	close(ready[1]);
}

static void child_that_is_ended_is_asked_and_then_made_to(void **state)
{
	const uint64_t long_enough = UINT64_C(60000000000);
	struct err e = { 0 };
	struct k_child c;
	int status;

	(void)state;
	start_trapped(&c, "exit 3");
	k_child_end(&c, long_enough);
	assert_int_equal(k_child_status(&c, &status), 1);
	assert_int_equal(status, 3);
	start_trapped(&c, "");
	k_child_end(&c, 0);
	k_child_end(&c, long_enough);
	assert_int_equal(k_child_status(&c, &status), 1);
	assert_int_equal(status, 128 + SIGKILL);
	assert_int_equal(k_child_start("sleep 1000", NULL, &c, &e), 0);
	k_child_end(&c, long_enough); /* never released: at once */
	assert_int_equal(k_child_status(&c, &status), 1);
	assert_int_equal(status, 128 + SIGKILL);
}

static void child_is_waited_for_until_it_ends_or_a_time_or_a_stop(void **state)
{
	const volatile int stop = 1;
	struct err e = { 0 };
	struct k_child c;

	(void)state;
	assert_int_equal(k_child_start("true", NULL, &c, &e), 0);
	assert_int_equal(k_child_wait(&c, 0, NULL), 0);
	assert_int_equal(k_child_wait(&c, UINT64_MAX, &stop), 0);
	assert_int_equal(k_child_release(&c, &e), 0);
	assert_int_equal(k_child_wait(&c, UINT64_MAX, NULL), 1);
	assert_int_equal(k_child_wait(&c, UINT64_MAX, &stop), 1);
	k_child_kill(&c);
}

/* One is released, one held and released, one is held. The command says that it runs, and then for a minute nothing:
 * the end of its pipe is its end. It has nothing else of ours, so one that is not killed is not waited for by whoever
 * reads what this test prints. */
static void command_ends_when_its_tracer_is_killed(void **state)
{
	(void)state;
	for (int i = 0; i < 30; i++) {
		struct pollfd out;
		int pipes[2];
		char byte;
		pid_t tracer;

		assert_int_equal(pipe(pipes), 0);
		tracer = fork();
		if (tracer == 0) {
			struct err e = { 0 };
			struct k_child c;

			dup2(pipes[1], 1);
			dup2(pipes[1], 2);
			close(pipes[0]);
			close(pipes[1]);
			if (k_child_start("sh -c 'echo; exec sleep 60'", NULL, &c, &e) < 0)
				_exit(1);
			if (i % 6 > 1)
				(void)k_child_hold(&c, K_HOLD_MAIN, &e);
			if (i % 6 > 3 && c.held)
				(void)!write(1, "h", 1);
			else
				(void)k_child_release(&c, &e);
			close(1);
			close(2);
			pause();
		}
		close(pipes[1]);
		if (i % 2) /* else at any moment of its start */
			assert_int_equal(read(pipes[0], &byte, 1), 1);
		kill(tracer, SIGKILL);
		waitpid(tracer, NULL, 0);
		out = (struct pollfd){ .fd = pipes[0], .events = POLLIN };
		do
			assert_int_equal(poll(&out, 1, 30000), 1);
		while (read(pipes[0], &byte, 1) > 0);
		close(pipes[0]);
	}
}

static void process_that_is_not_there_is_refused(void **state)
{
	struct err e = { 0 };
	int fd = k_process_fd(getpid(), &e);

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(k_process_fd(0, &e), -TALLY_EINVAL);
	e = (struct err){ 0 };
	assert_int_equal(k_process_fd(0x3fffffff, &e), -TALLY_EINVAL);
	assert_string_equal(e.text, "no such process: 1073741823");
}

static void process_that_cannot_be_watched_is_not_called_missing(void **state)
{
	struct rlimit all, none;
	struct err e = { 0 };

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &all), 0);
	none = (struct rlimit){ .rlim_cur = 0, .rlim_max = all.rlim_max };
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	assert_int_equal(k_process_fd(getpid(), &e), -TALLY_EIO);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &all), 0);
	assert_non_null(strstr(e.text, "cannot watch process"));
}

/* A command that is held at its main() and then released; the status a shell would give. */
static int run_held(const char *cmd, enum k_hold where, int released)
{
	struct err e = { 0 };
	struct k_child c;
	int status = -1;

	assert_int_equal(k_child_start(cmd, NULL, &c, &e), 0);
	if (k_child_hold(&c, where, &e) == -TALLY_EPERM) {
		k_child_kill(&c);
		print_message("skipped: %s\n", e.text);
		skip();
	}
	assert_int_equal(c.held, released == 0);
	if (c.held)
		assert_int_equal(k_child_status(&c, &status), 0);
	assert_int_equal(k_child_release(&c, &e), released);
	if (released < 0)
		assert_non_null(strstr(e.text, "cannot run the command"));
	assert_int_equal(k_child_wait(&c, UINT64_MAX, NULL), 1);
	assert_int_equal(k_child_status(&c, &status), 1);
	k_child_kill(&c);
	return status;
}

static void command_that_was_held_ends_as_one_that_was_not(void **state)
{
	(void)state;
	for (enum k_hold where = K_HOLD_ENTRY; where <= K_HOLD_MAIN; where++) {
		assert_int_equal(run_held("true", where, 0), 0);
		assert_int_equal(run_held("sh -c 'exit 42'", where, 0), 42);
		assert_int_equal(run_held("sh -c 'kill -TERM $$'", where, 0), 128 + SIGTERM);
		assert_int_equal(run_held("sh -c 'exec sh -c \"exit 43\"'", where, 0), 43);
		assert_int_equal(run_held("/no/such/command", where, -TALLY_EINVAL), 127);
		assert_int_equal(run_held("/etc/passwd", where, -TALLY_EINVAL), 126);
	}
}

static void command_that_is_held_can_be_killed(void **state)
{
	struct err e = { 0 };
	struct k_child c;

	(void)state;
	assert_int_equal(k_child_start("sleep 1000", NULL, &c, &e), 0);
	if (k_child_hold(&c, K_HOLD_MAIN, &e) == -TALLY_EPERM) {
		k_child_kill(&c);
		print_message("skipped: %s\n", e.text);
		skip();
	}
	k_child_end(&c, UINT64_MAX / 2); /* it has no patience with one that can't hear */
	assert_true(c.ended);
	assert_int_equal(waitpid(c.pid, NULL, WNOHANG), -1);
}

static void memory_that_runs_out_is_told(void **state)
{
	(void)state;
	for (long n = 1;; n++) {
		struct arena a = { 0 };
		struct err e = { 0 };
		char **argv;
		int rc;

		mem_fail_at(n);
		rc = child_split("a 'b c' d", &a, &argv, &e);
		arena_free(&a);
		if (!mem_failed())
			break;
		assert_int_equal(rc, -TALLY_ENOMEM);
		assert_int_equal(mem_live(), 0);
	}
	mem_fail_at(0);
}

/* Probes that are placed from then on count nothing but the command. */
static void child_has_made_its_preparations_when_it_has_started(void **state)
{
	(void)state;
	signal(SIGPIPE, SIG_IGN); /* which it sets back, as one of the last of them */
	for (int round = 0; round < 50; round++) {
		struct err e = { 0 };
		struct k_child c;
		char path[64], text[4096];
		unsigned long long ignored;
		size_t n;
		FILE *f;

		assert_int_equal(k_child_start("true", NULL, &c, &e), 0);
		snprintf(path, sizeof(path), "/proc/%d/status", (int)c.pid);
		f = fopen(path, "r");
		assert_non_null(f);
		n = fread(text, 1, sizeof(text) - 1, f);
		text[n] = 0;
		fclose(f);
		assert_non_null(strstr(text, "\nSigIgn:"));
		assert_int_equal(sscanf(strstr(text, "\nSigIgn:"), "\nSigIgn: %llx", &ignored), 1);
		k_child_kill(&c);
		assert_int_equal(ignored >> (SIGPIPE - 1) & 1, 0);
	}
	signal(SIGPIPE, SIG_DFL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(child_has_made_its_preparations_when_it_has_started),
		cmocka_unit_test(words_are_split_as_a_shell_does),
		cmocka_unit_test(bad_quoting_is_refused),
		cmocka_unit_test(its_environment_has_what_is_set_and_not_what_is_to_go),
		cmocka_unit_test(exit_code_is_the_status),
		cmocka_unit_test(signal_is_128_and_its_number),
		cmocka_unit_test(command_that_is_not_there_is_127),
		cmocka_unit_test(command_that_is_not_executable_is_126),
		cmocka_unit_test(blocked_signals_are_not_inherited),
		cmocka_unit_test(child_that_is_never_released_ends_with_us),
		cmocka_unit_test(killed_child_is_reaped),
		cmocka_unit_test(child_that_is_ended_is_asked_and_then_made_to),
		cmocka_unit_test(child_is_waited_for_until_it_ends_or_a_time_or_a_stop),
		cmocka_unit_test(command_ends_when_its_tracer_is_killed),
		cmocka_unit_test(command_that_was_held_ends_as_one_that_was_not),
		cmocka_unit_test(command_that_is_held_can_be_killed),
		cmocka_unit_test(process_that_is_not_there_is_refused),
		cmocka_unit_test(process_that_cannot_be_watched_is_not_called_missing),
		cmocka_unit_test(memory_that_runs_out_is_told),
	};

	return cmocka_run_group_tests_name("kernel: child", tests, NULL, NULL);
}
