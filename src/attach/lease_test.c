/* lease_test.c: who gets the counters, who loses them, and what death leaves behind. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "attach/lease.h"

/* Names of this test alone, whoever else runs it at the same time. */
static const char *own_names(void)
{
	static char name[64];

	if (!*name)
		snprintf(name, sizeof(name), "tally-lease-test-%d", (int)getpid());
	return name;
}

static const struct lease_at *own(void)
{
	static struct lease_at at;

	at.where = own_names();
	return &at;
}

static struct lease *take(enum lease_kind kind)
{
	struct lease_holder other;
	struct err e = {0};
	struct lease *l;

	assert_int_equal(lease_take(&l, own(), kind, &other, &e), 0);
	assert_string_equal(e.text, "");
	return l;
}

static void refused_by(enum lease_kind asks, enum lease_kind holds)
{
	struct lease_holder other;
	struct err e = {0};
	struct lease *l;

	assert_int_equal(lease_take(&l, own(), asks, &other, &e), -TALLY_EBUSY);
	assert_null(l);
	assert_int_equal(other.pid, getpid());
	assert_int_equal(other.uid, getuid());
	assert_int_equal(other.kind, holds);
	assert_non_null(strstr(e.text, lease_kind_name(holds)));
}

/* ---- who excludes whom ------------------------------------------------------------------------------ */

static void d_sessions_share(void **state)
{
	struct lease *a = take(LEASE_TRACE), *b = take(LEASE_TRACE);

	(void)state;
	assert_false(lease_shut(a, NULL));
	assert_false(lease_shut(b, NULL));
	lease_free(a);
	lease_free(b);
}

static void d_keeps_whole_cpus_out_until_the_last_session_ends(void **state)
{
	struct lease *a = take(LEASE_TRACE), *b = take(LEASE_TRACE);

	(void)state;
	refused_by(LEASE_SYSTEM, LEASE_TRACE);
	lease_free(a);
	refused_by(LEASE_SYSTEM, LEASE_TRACE);
	lease_free(b);
	lease_free(take(LEASE_SYSTEM));
}

static void whole_cpus_keep_d_and_their_like_out(void **state)
{
	struct lease *a = take(LEASE_SYSTEM);

	(void)state;
	refused_by(LEASE_TRACE, LEASE_SYSTEM);
	refused_by(LEASE_SYSTEM, LEASE_SYSTEM);
	lease_free(a);
	lease_free(take(LEASE_TRACE));
}

static void processes_are_never_refused(void **state)
{
	struct lease *d = take(LEASE_TRACE), *p = take(LEASE_PROCESS), *q = take(LEASE_PROCESS);

	(void)state;
	lease_free(p);
	lease_free(q);
	lease_free(d);
}

/* ---- who is told ---------------------------------------------------------------------------------------- */

static void processes_lose_their_counters_when_d_begins(enum lease_kind kind)
{
	struct lease *p = take(LEASE_PROCESS), *d;
	struct lease_holder by = {0};

	assert_false(lease_shut(p, &by));
	d = take(kind);
	assert_true(lease_shut(p, &by));
	assert_int_equal(by.pid, getpid());
	assert_int_equal(by.kind, kind);
	assert_true(lease_shut(p, NULL));
	lease_free(d);
	assert_false(lease_shut(p, NULL));
	lease_free(p);
}

static void processes_lose_their_counters_to_either(void **state)
{
	(void)state;
	processes_lose_their_counters_when_d_begins(LEASE_TRACE);
	processes_lose_their_counters_when_d_begins(LEASE_SYSTEM);
}

static void a_late_process_begins_without_counters(void **state)
{
	struct lease *d = take(LEASE_TRACE), *p = take(LEASE_PROCESS);
	struct lease_holder by = {0};

	(void)state;
	assert_true(lease_shut(p, &by));
	assert_int_equal(by.kind, LEASE_TRACE);
	assert_false(lease_shut(d, NULL));
	lease_free(d);
	assert_false(lease_shut(p, NULL));
	lease_free(p);
}

static void counters_come_back_with_the_last_session(void **state)
{
	struct lease *p = take(LEASE_PROCESS), *a = take(LEASE_TRACE), *b = take(LEASE_TRACE);

	(void)state;
	lease_free(a);
	assert_true(lease_shut(p, NULL));
	lease_free(b);
	assert_false(lease_shut(p, NULL));
	lease_free(p);
}

static void looking_shuts_nobody_out(void **state)
{
	struct lease *p = take(LEASE_PROCESS), *d;
	struct lease_holder v[2];
	int i;

	(void)state;
	for (i = 0; i < 1000; i++) {
		assert_int_equal(lease_list(own(), v, 2), 1);
		assert_int_equal(v[0].kind, LEASE_PROCESS);
		assert_false(lease_shut(p, NULL));
	}
	d = take(LEASE_TRACE);
	assert_int_equal(lease_list(own(), v, 1), 2);
	assert_int_equal(v[0].kind, LEASE_TRACE);
	lease_free(d);
	lease_free(p);
	assert_int_equal(lease_list(own(), v, 2), 0);
}

/* A stranger that connects and says nothing, or nonsense. */
static void strangers_shut_nobody_out(void **state)
{
	struct lease *p = take(LEASE_PROCESS);
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM, 0), n;

	(void)state;
	n = snprintf(a.sun_path + 1, sizeof(a.sun_path) - 1, "%s/process/0", own_names());
	assert_int_equal(connect(fd, (struct sockaddr *)&a, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n)), 0);
	assert_false(lease_shut(p, NULL));
	assert_int_equal(send(fd, "garbage", 7, MSG_NOSIGNAL), 7);
	assert_false(lease_shut(p, NULL));
	close(fd);
	assert_false(lease_shut(p, NULL));
	lease_free(p);
}

/* ---- death ------------------------------------------------------------------------------------------------- */

static void a_killed_holder_leaves_nothing(void **state)
{
	struct lease *p = take(LEASE_PROCESS);
	const struct lease_at *at = own();
	struct lease_holder other;
	struct err e = {0};
	struct lease *l;
	int ready[2];
	pid_t child;
	char byte;

	(void)state;
	assert_int_equal(pipe(ready), 0);
	child = fork();
	if (child == 0) {
		if (lease_take(&l, at, LEASE_TRACE, &other, &e) == 0)
			(void)!write(ready[1], "x", 1);
		pause();
		_exit(0);
	}
	close(ready[1]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	assert_true(lease_shut(p, &other));
	assert_int_equal(other.pid, child);
	assert_int_equal(lease_take(&l, at, LEASE_SYSTEM, &other, &e), -TALLY_EBUSY);
	assert_int_equal(other.pid, child);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	assert_false(lease_shut(p, NULL));
	lease_free(take(LEASE_SYSTEM));
	lease_free(p);
}

/* Whoever asks while another looks waits, and goes on when that one dies. */
static void a_lock_whose_holder_dies_is_free(void **state)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM, 0), n;
	pid_t child;

	(void)state;
	n = snprintf(a.sun_path + 1, sizeof(a.sun_path) - 1, "%s/lock/0", own_names());
	assert_int_equal(bind(fd, (struct sockaddr *)&a, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n)), 0);
	assert_int_equal(listen(fd, 1), 0);
	child = fork();
	if (child == 0) { /* has the socket too; its death is the end of the lock */
		struct timeval t = {.tv_usec = 1000};

		select(0, NULL, NULL, NULL, &t);
		_exit(0);
	}
	close(fd);
	lease_free(take(LEASE_TRACE));
	waitpid(child, NULL, 0);
}

/* ---- users ------------------------------------------------------------------------------------------------------ */

enum { ALICE = 65534, BOB = 65533 };

static bool anybody(int pid)
{
	return pid > 0;
}

static bool nobody(int pid)
{
	(void)pid;
	return false;
}

/* A process of another user that asks for a lease, says what came of it, and answers until it is let go. */
struct user {
	pid_t pid;
	int line;
};

static void answer(int line, const struct lease_at *at, enum lease_kind kind)
{
	struct lease_holder by = {0};
	struct err e = {0};
	struct lease *l;
	int said = lease_take(&l, at, kind, &by, &e);
	char byte;

	(void)!write(line, &said, sizeof(said));
	while (read(line, &byte, 1) == 1) {
		said = said < 0 ? by.pid : lease_shut(l, NULL);
		(void)!write(line, &said, sizeof(said));
	}
	lease_free(l);
}

static int hear(const struct user *u)
{
	int said;

	assert_int_equal(read(u->line, &said, sizeof(said)), sizeof(said));
	return said;
}

/* What lease_take() returned there. */
static int user_takes(struct user *u, uid_t uid, enum lease_kind kind, bool (*may_count)(int pid))
{
	const struct lease_at at = {.where = own_names(), .may_count = may_count};
	int line[2];

	if (geteuid() != 0) {
		print_message("# skipped: only root can be others\n");
		skip();
	}
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, line), 0);
	u->pid = fork();
	if (u->pid == 0) {
		close(line[0]);
		if (setresuid(uid, uid, uid) == 0)
			answer(line[1], &at, kind);
		_exit(0);
	}
	close(line[1]);
	u->line = line[0];
	return hear(u);
}

/* Who held the counters, of one that was refused; else whether they are shut out. */
static int user_says(const struct user *u)
{
	assert_int_equal(write(u->line, "?", 1), 1);
	return hear(u);
}

static void user_ends(struct user *u)
{
	close(u->line);
	waitpid(u->pid, NULL, 0);
}

static int root_takes(struct lease **l, enum lease_kind kind, bool (*may_count)(int pid), struct lease_holder *other)
{
	struct err e = {0};

	return lease_take(l, &(struct lease_at){.where = own_names(), .may_count = may_count}, kind, other, &e);
}

static void processes_of_one_ordinary_user_exclude_each_other(void **state)
{
	struct user d, whole;

	(void)state;
	assert_int_equal(user_takes(&d, ALICE, LEASE_TRACE, NULL), 0);
	assert_int_equal(user_takes(&whole, ALICE, LEASE_SYSTEM, NULL), -TALLY_EBUSY);
	assert_int_equal(user_says(&whole), d.pid);
	user_ends(&whole);
	user_ends(&d);
	assert_int_equal(user_takes(&whole, ALICE, LEASE_SYSTEM, NULL), 0);
	user_ends(&whole);
}

static void a_process_of_a_user_yields_to_the_same_users_session(void **state)
{
	struct user p, d;

	(void)state;
	assert_int_equal(user_takes(&p, ALICE, LEASE_PROCESS, NULL), 0);
	assert_false(user_says(&p));
	assert_int_equal(user_takes(&d, ALICE, LEASE_TRACE, NULL), 0);
	assert_true(user_says(&p));
	user_ends(&d);
	assert_false(user_says(&p));
	user_ends(&p);
}

static void root_is_refused_for_a_user_who_may_count_and_for_no_other(void **state)
{
	struct lease_holder other, v;
	struct lease *l;
	struct user d;

	(void)state;
	assert_int_equal(user_takes(&d, ALICE, LEASE_TRACE, NULL), 0);
	assert_int_equal(root_takes(&l, LEASE_SYSTEM, anybody, &other), -TALLY_EBUSY);
	assert_int_equal(other.pid, d.pid);
	assert_int_equal(other.uid, ALICE);
	assert_int_equal(lease_list(&(struct lease_at){.where = own_names(), .may_count = anybody}, &v, 1), 1);
	assert_int_equal(v.pid, d.pid);
	assert_int_equal(lease_list(&(struct lease_at){.where = own_names(), .may_count = nobody}, &v, 1), 0);
	assert_int_equal(root_takes(&l, LEASE_SYSTEM, nobody, &other), 0);
	lease_free(l);
	user_ends(&d);
}

static void a_user_is_refused_for_roots_sake(void **state)
{
	struct lease_holder other;
	struct lease *l;
	struct user d;

	(void)state;
	assert_int_equal(root_takes(&l, LEASE_SYSTEM, NULL, &other), 0);
	assert_int_equal(user_takes(&d, ALICE, LEASE_TRACE, NULL), -TALLY_EBUSY);
	assert_int_equal(user_says(&d), getpid());
	user_ends(&d);
	lease_free(l);
}

static void roots_process_yields_to_a_user_who_may_count_and_to_no_other(void **state)
{
	struct lease_holder other;
	struct lease *l;
	struct user d;

	(void)state;
	for (int may = 0; may < 2; may++) {
		assert_int_equal(root_takes(&l, LEASE_PROCESS, may ? anybody : nobody, &other), 0);
		assert_int_equal(user_takes(&d, ALICE, LEASE_TRACE, NULL), 0);
		assert_int_equal(lease_shut(l, &other), may);
		assert_true(!may || other.pid == d.pid);
		user_ends(&d);
		assert_false(lease_shut(l, NULL));
		lease_free(l);
	}
}

static void a_users_process_yields_to_roots_session(void **state)
{
	struct lease_holder other;
	struct lease *l;
	struct user p;

	(void)state;
	assert_int_equal(user_takes(&p, ALICE, LEASE_PROCESS, NULL), 0);
	assert_int_equal(root_takes(&l, LEASE_TRACE, NULL, &other), 0);
	assert_true(user_says(&p));
	lease_free(l);
	assert_false(user_says(&p));
	user_ends(&p);
}

static void between_two_users_it_is_who_may_count_that_counts(void **state)
{
	struct user alice, bob;

	(void)state;
	assert_int_equal(user_takes(&alice, ALICE, LEASE_SYSTEM, NULL), 0);
	assert_int_equal(user_takes(&bob, BOB, LEASE_TRACE, anybody), -TALLY_EBUSY);
	assert_int_equal(user_says(&bob), alice.pid);
	user_ends(&bob);
	assert_int_equal(user_takes(&bob, BOB, LEASE_TRACE, nobody), 0);
	user_ends(&bob);
	user_ends(&alice);
}

/* Listens where the lock is, as ALICE, until the parent goes on or, keep, until it is killed. */
static pid_t stranger_locks(bool keep)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	int n = snprintf(a.sun_path + 1, sizeof(a.sun_path) - 1, "%s/lock/0", own_names()), fd, ready[2];
	pid_t pid;
	char byte;

	assert_int_equal(pipe(ready), 0);
	pid = fork();
	if (pid == 0) {
		fd = setresuid(ALICE, ALICE, ALICE) < 0 ? -1 : socket(AF_UNIX, SOCK_STREAM, 0);
		if (bind(fd, (struct sockaddr *)&a, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n)) == 0 &&
		    listen(fd, 1) == 0)
			(void)!write(ready[1], "x", 1);
		if (keep)
			pause();
		(void)accept4(fd, NULL, NULL, SOCK_CLOEXEC);         /* somebody waits now */
		_exit(0);
	}
	close(ready[1]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	return pid;
}

static void another_users_lock_is_waited_for_but_can_not_be_kept(void **state)
{
	struct lease_holder other;
	struct lease *l;
	pid_t pid;

	(void)state;
	if (geteuid() != 0) {
		print_message("# skipped: only root can be others\n");
		skip();
	}
	for (int keep = 0; keep < 2; keep++) {
		pid = stranger_locks(keep);
		assert_int_equal(root_takes(&l, LEASE_TRACE, NULL, &other), 0);
		lease_free(l);
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
}

/* ---- limits --------------------------------------------------------------------------------------------------- */

static void slots_are_bounded_and_come_back(void **state)
{
	struct lease *v[LEASE_SLOTS];
	struct lease_holder other;
	struct err e = {0};
	struct lease *l;
	uint32_t i;

	(void)state;
	for (i = 0; i < LEASE_SLOTS; i++)
		v[i] = take(LEASE_PROCESS);
	assert_int_equal(lease_take(&l, own(), LEASE_PROCESS, &other, &e), -TALLY_EBUSY);
	assert_int_equal(other.pid, 0);
	l = take(LEASE_TRACE);
	for (i = 0; i < LEASE_SLOTS; i++)
		assert_true(lease_shut(v[i], NULL));
	lease_free(l);
	for (i = 0; i < LEASE_SLOTS; i++) {
		assert_false(lease_shut(v[i], NULL));
		lease_free(v[i]);
	}
	lease_free(take(LEASE_PROCESS));
}

static void names_that_are_too_long_are_refused(void **state)
{
	char where[200];
	struct lease_holder other;
	struct err e = {0};
	struct lease *l;

	(void)state;
	memset(where, 'x', sizeof(where) - 1);
	where[sizeof(where) - 1] = '\0';
	assert_int_equal(lease_take(&l, &(struct lease_at){.where = where}, LEASE_TRACE, &other, &e), -TALLY_EINVAL);
}

static void memory_that_runs_out_is_said(void **state)
{
	struct lease_holder other;
	struct err e = {0};
	struct lease *l;
	long before = mem_live();

	(void)state;
	mem_fail_at(1);
	assert_int_equal(lease_take(&l, own(), LEASE_TRACE, &other, &e), -TALLY_ENOMEM);
	mem_fail_at(0);
	assert_int_equal(mem_live(), before);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(d_sessions_share),
		cmocka_unit_test(d_keeps_whole_cpus_out_until_the_last_session_ends),
		cmocka_unit_test(whole_cpus_keep_d_and_their_like_out),
		cmocka_unit_test(processes_are_never_refused),
		cmocka_unit_test(processes_lose_their_counters_to_either),
		cmocka_unit_test(a_late_process_begins_without_counters),
		cmocka_unit_test(counters_come_back_with_the_last_session),
		cmocka_unit_test(looking_shuts_nobody_out),
		cmocka_unit_test(strangers_shut_nobody_out),
		cmocka_unit_test(a_killed_holder_leaves_nothing),
		cmocka_unit_test(a_lock_whose_holder_dies_is_free),
		cmocka_unit_test(processes_of_one_ordinary_user_exclude_each_other),
		cmocka_unit_test(a_process_of_a_user_yields_to_the_same_users_session),
		cmocka_unit_test(root_is_refused_for_a_user_who_may_count_and_for_no_other),
		cmocka_unit_test(a_user_is_refused_for_roots_sake),
		cmocka_unit_test(roots_process_yields_to_a_user_who_may_count_and_to_no_other),
		cmocka_unit_test(a_users_process_yields_to_roots_session),
		cmocka_unit_test(between_two_users_it_is_who_may_count_that_counts),
		cmocka_unit_test(another_users_lock_is_waited_for_but_can_not_be_kept),
		cmocka_unit_test(slots_are_bounded_and_come_back),
		cmocka_unit_test(names_that_are_too_long_are_refused),
		cmocka_unit_test(memory_that_runs_out_is_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
