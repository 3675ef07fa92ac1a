/*
 * guard_test.c: the guard acts when who is guarded is gone, and only then.
 *
 * Who is guarded is a child of the test; its guard writes a word into a pipe that the test reads to
 * its end, which comes when both are gone.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "kernel/kernel.h"

static void write_word(void *arg)
{
	int fd = *(int *)arg;

	if (write(fd, "undone", 6) != 6)
		_exit(1);
}

/* What a child of the test has while it lives as a test says; `said`: where it tells a number. */
struct life {
	struct k_guard g;
	int fd, said;
};

static void die(struct life *l)
{
	(void)l;
	raise(SIGKILL);
}

static void leave(struct life *l)
{
	(void)l;
	_exit(0);
}

static void end_well(struct life *l)
{
	k_guard_end(&l->g);
	_exit(l->g.pid);
}

static void end_twice(struct life *l)
{
	k_guard_end(&l->g);
	end_well(l);
}

/* What ends a session reaches the guard before it reaches us. */
static void survive_signals_and_die(struct life *l)
{
	static const int signals[] = { SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGPIPE };

	for (size_t i = 0; i < COUNT(signals); i++)
		kill(l->g.pid, signals[i]);
	raise(SIGKILL);
}

static void die_by_the_group(struct life *l)
{
	(void)l;
	signal(SIGINT, SIG_DFL); /* a shell without job control starts what it does not wait for with it ignored */
	kill(0, SIGINT);
	raise(SIGKILL);
}

/* As a shell or a supervisor ends a job; the guard is out of the group as soon as it stands. */
static void die_with_the_whole_group(struct life *l)
{
	while (getpgid(l->g.pid) != l->g.pid)
		sched_yield();
	if (getsid(l->g.pid) != l->g.pid)
		_exit(4);
	kill(0, SIGKILL);
	_exit(5);
}

/* Only the one who started the guard counts, not another child of his, which has his descriptors while it starts. Nor
 * does the kernel end that one with him, as it ends a command that k_child_start() began. */
static void exec_and_die(struct life *l)
{
	int pid = fork();

	if (pid == 0) {
		execlp("sleep", "sleep", "1000", NULL);
		_exit(127);
	}
	if (write(l->said, &pid, sizeof(pid)) != sizeof(pid))
		_exit(3);
	raise(SIGKILL);
}

static void lose_the_guard(struct life *l)
{
	kill(l->g.pid, SIGKILL);
	end_well(l);
}

static size_t read_all(int fd, char *to, size_t n)
{
	size_t have = 0;
	ssize_t got;

	while (have < n && (got = read(fd, to + have, n - have)) != 0)
		if (got > 0)
			have += (size_t)got;
		else if (errno != EINTR)
			break;
	return have;
}

/* Its wait status; and whether the guard undid. */
static int live(void (*life)(struct life *l), bool *undone, int *said)
{
	struct err e = { 0 };
	struct life l = { .fd = -1 };
	int word[2], tell[2], status, pid;
	char text[32];
	size_t n;

	assert_int_equal(pipe2(word, O_CLOEXEC), 0);
	assert_int_equal(pipe2(tell, O_CLOEXEC), 0);
	pid = fork();
	if (pid == 0) {
		setpgid(0, 0);
		l.fd = word[1];
		l.said = tell[1];
		if (k_guard_start(&l.g, write_word, &l.fd, &e) < 0)
			_exit(2);
		life(&l);
	}
	close(word[1]);
	close(tell[1]);
	assert_true(pid > 0);
	n = read_all(word[0], text, sizeof(text));
	*undone = n == 6 && !memcmp(text, "undone", 6);
	assert_true(*undone || n == 0);
	if (read_all(tell[0], (char *)said, sizeof(*said)) != sizeof(*said))
		*said = 0;
	close(word[0]);
	close(tell[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

static void whoever_is_gone_without_a_word_is_undone(void **state)
{
	static const struct {
		void (*life)(struct life *l);
		int status;
	} rows[] = {
		{ die, SIGKILL },
		{ leave, 0 },
		{ survive_signals_and_die, SIGKILL },
		{ die_by_the_group, SIGINT },
		{ die_with_the_whole_group, SIGKILL },
	};
	bool undone;
	int said;

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		assert_int_equal(live(rows[i].life, &undone, &said), rows[i].status);
		assert_true(undone);
	}
}

static void a_command_that_lives_on_does_not_keep_the_guard_waiting(void **state)
{
	bool undone;
	int child;

	(void)state;
	assert_int_equal(live(exec_and_die, &undone, &child), SIGKILL);
	assert_true(undone);
	assert_true(child > 0);
	assert_int_equal(kill(child, SIGKILL), 0);
}

static void what_ended_well_is_not_undone(void **state)
{
	bool undone;
	int said;

	(void)state;
	assert_int_equal(live(end_well, &undone, &said), 0);
	assert_false(undone);
	assert_int_equal(live(end_twice, &undone, &said), 0);
	assert_false(undone);
}

static void a_guard_that_was_killed_harms_nobody(void **state)
{
	bool undone;
	int said;

	(void)state;
	assert_int_equal(live(lose_the_guard, &undone, &said), 0);
	assert_false(undone);
}

static void nothing_is_left_of_a_guard(void **state)
{
	struct err e = { 0 };
	struct k_guard g = { 0 };
	int fd = 2, before = dup(0), after;

	(void)state;
	close(before);
	assert_int_equal(k_guard_start(&g, write_word, &fd, &e), 0);
	k_guard_end(&g);
	k_guard_end(&g);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	after = dup(0);
	close(after);
	assert_int_equal(after, before);
}

static void no_descriptor_is_an_error(void **state)
{
	struct rlimit was, none;
	struct err e = { 0 };
	struct k_guard g = { 0 };
	int fd = 2, rc;

	(void)state;
	getrlimit(RLIMIT_NOFILE, &was);
	none = (struct rlimit){ 0, was.rlim_max };
	setrlimit(RLIMIT_NOFILE, &none);
	rc = k_guard_start(&g, write_word, &fd, &e);
	setrlimit(RLIMIT_NOFILE, &was);
	assert_int_equal(rc, -TALLY_EIO);
	assert_string_equal(e.text, "cannot create a pipe: Too many open files");
	assert_int_equal(g.pid, 0);
	k_guard_end(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whoever_is_gone_without_a_word_is_undone),
		cmocka_unit_test(a_command_that_lives_on_does_not_keep_the_guard_waiting),
		cmocka_unit_test(what_ended_well_is_not_undone),
		cmocka_unit_test(a_guard_that_was_killed_harms_nobody),
		cmocka_unit_test(nothing_is_left_of_a_guard),
		cmocka_unit_test(no_descriptor_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
