/* lease_test.c: who gets the counters, who loses them, and what death leaves behind. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "attach/lease.h"
#include "base/file.h"

enum { ALICE = 65534, BOB = 65533 };

static char own_root[64]; /* of this test alone: run/ and tmp/ as a machine has them */

static const char *below(const char *path)
{
	static char room[4][128];
	static unsigned next;
	char *to = room[next++ % 4];

	snprintf(to, sizeof(room[0]), "%s/%s", own_root, path);
	return to;
}

static void make(const char *path, mode_t mode, uid_t uid)
{
	assert_int_equal(mkdir(below(path), mode), 0);
	assert_int_equal(chmod(below(path), mode), 0);
	if (uid != geteuid())
		assert_int_equal(chown(below(path), uid, uid), 0);
}

static int setup(void **state)
{
	(void)state;
	strcpy(own_root, "/tmp/tally-lease-test-XXXXXX");
	if (!mkdtemp(own_root) || chmod(own_root, 0755) < 0)
		return -1;
	make("run", 0755, geteuid());
	make("run/user", 0755, geteuid());
	make("tmp", 01777, geteuid());
	if (geteuid() == 0)
		make("run/user/65534", 0700, ALICE); /* ALICE has logged in, BOB has not */
	else {
		char path[32];

		snprintf(path, sizeof(path), "run/user/%u", geteuid());
		make(path, 0700, geteuid());
	}
	return 0;
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st, (void)type, (void)at;
	return remove(path);
}

static int teardown(void **state)
{
	(void)state;
	return nftw(own_root, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

static struct lease *take(enum lease_kind kind)
{
	struct lease_holder other;
	struct err e = { 0 };
	struct lease *l;

	assert_int_equal(lease_take(&l, own_root, kind, &other, &e), 0);
	assert_string_equal(e.text, "");
	assert_null(lease_unkept(l));
	return l;
}

static void refused_by(enum lease_kind asks, enum lease_kind holds)
{
	struct lease_holder other;
	struct err e = { 0 };
	struct lease *l;

	assert_int_equal(lease_take(&l, own_root, asks, &other, &e), -TALLY_EBUSY);
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
	struct lease_holder by = { 0 };

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
	struct lease_holder by = { 0 };

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
		assert_int_equal(lease_list(own_root, v, 2), 1);
		assert_int_equal(v[0].kind, LEASE_PROCESS);
		assert_false(lease_shut(p, NULL));
	}
	d = take(LEASE_TRACE);
	assert_int_equal(lease_list(own_root, v, 1), 2);
	assert_int_equal(v[0].kind, LEASE_TRACE);
	lease_free(d);
	lease_free(p);
	assert_int_equal(lease_list(own_root, v, 2), 0);
}

/* ---- death ------------------------------------------------------------------------------------------------- */

static void a_killed_holder_leaves_nothing(void **state)
{
	struct lease *p = take(LEASE_PROCESS);
	struct lease_holder other;
	struct err e = { 0 };
	struct lease *l;
	int ready[2];
	pid_t child;
	char byte;

	(void)state;
	assert_int_equal(pipe(ready), 0);
	child = fork();
	if (child == 0) {
		if (lease_take(&l, own_root, LEASE_TRACE, &other, &e) == 0)
			(void)!write(ready[1], "x", 1);
		pause();
		_exit(0);
	}
	close(ready[1]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	assert_true(lease_shut(p, &other));
	assert_int_equal(other.pid, child);
	assert_int_equal(lease_take(&l, own_root, LEASE_SYSTEM, &other, &e), -TALLY_EBUSY);
	assert_int_equal(other.pid, child);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	assert_false(lease_shut(p, NULL));
	lease_free(take(LEASE_SYSTEM));
	lease_free(p);
}

static const char *own_place(void)
{
	static char room[48];

	snprintf(room, sizeof(room), geteuid() ? "run/user/%u/tally" : "run/tally", geteuid());
	return room;
}

static uint32_t entries(const char *path)
{
	DIR *d = opendir(path);
	uint32_t n = 0;

	assert_non_null(d);
	while (readdir(d))
		n++;
	closedir(d);
	return n - 2;
}

static void what_the_dead_leave_is_removed_by_the_next(void **state)
{
	struct lease *l;

	(void)state;
	for (int i = 0; i < 20; i++) {
		pid_t child = fork();

		if (child == 0) {
			struct lease_holder other;

			(void)!lease_take(&l, own_root, LEASE_SYSTEM, &other, &(struct err){ 0 });
			kill(getpid(), SIGKILL);
		}
		waitpid(child, NULL, 0);
		lease_free(take(LEASE_SYSTEM));
	}
	l = take(LEASE_TRACE);
	assert_int_equal(entries(below(own_place())), 2); /* the lock, and this lease */
	lease_free(l);
	assert_int_equal(entries(below(own_place())), 1);
}

/* Whoever asks while another looks waits, and goes on when that one dies. */
static void a_lock_whose_holder_dies_is_free(void **state)
{
	int ready[2];
	pid_t child;
	char byte;

	(void)state;
	lease_free(take(LEASE_TRACE));
	assert_int_equal(pipe(ready), 0);
	child = fork();
	if (child == 0) {
		char path[160];
		struct timespec t = { .tv_nsec = 1000000 };

		snprintf(path, sizeof(path), "%s/lock", below(own_place()));
		if (file_lock(path) >= 0)
			(void)!write(ready[1], "x", 1);
		nanosleep(&t, NULL);
		kill(getpid(), SIGKILL);
	}
	close(ready[1]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	lease_free(take(LEASE_TRACE));
	waitpid(child, NULL, 0);
}

/* ---- users ------------------------------------------------------------------------------------------------------ */

/* A process of another user that asks for a lease, says what came of it, and answers until it is let go. */
struct user {
	pid_t pid;
	int line;
};

static void answer(int line, enum lease_kind kind)
{
	struct lease_holder by = { 0 };
	struct err e = { 0 };
	struct lease *l;
	int said = lease_take(&l, own_root, kind, &by, &e);
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
static int user_takes(struct user *u, uid_t uid, enum lease_kind kind)
{
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
			answer(line[1], kind);
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

static void processes_of_one_ordinary_user_exclude_each_other(void **state)
{
	struct user d, whole;

	(void)state;
	assert_int_equal(user_takes(&d, ALICE, LEASE_TRACE), 0);
	assert_int_equal(user_takes(&whole, ALICE, LEASE_SYSTEM), -TALLY_EBUSY);
	assert_int_equal(user_says(&whole), d.pid);
	user_ends(&whole);
	user_ends(&d);
	assert_int_equal(user_takes(&whole, ALICE, LEASE_SYSTEM), 0);
	user_ends(&whole);
}

static void a_process_of_a_user_yields_to_the_same_users_session(void **state)
{
	struct user p, d;

	(void)state;
	assert_int_equal(user_takes(&p, ALICE, LEASE_PROCESS), 0);
	assert_false(user_says(&p));
	assert_int_equal(user_takes(&d, ALICE, LEASE_TRACE), 0);
	assert_true(user_says(&p));
	user_ends(&d);
	assert_false(user_says(&p));
	user_ends(&p);
}

static void a_strangers_lease_is_in_nobodys_way(void **state)
{
	struct user alice, bob;
	struct lease_holder v;

	(void)state;
	assert_int_equal(user_takes(&alice, ALICE, LEASE_SYSTEM), 0);
	assert_int_equal(lease_list(own_root, &v, 1), 0);
	lease_free(take(LEASE_TRACE));
	lease_free(take(LEASE_SYSTEM));
	assert_int_equal(user_takes(&bob, BOB, LEASE_TRACE), 0);
	user_ends(&bob);
	user_ends(&alice);
}

static void a_user_is_refused_for_roots_sake(void **state)
{
	struct lease *l;
	struct user d;

	(void)state;
	if (geteuid() != 0)
		skip();
	l = take(LEASE_SYSTEM);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(user_takes(&d, i ? ALICE : BOB, LEASE_TRACE), -TALLY_EBUSY);
		assert_int_equal(user_says(&d), getpid());
		user_ends(&d);
	}
	lease_free(l);
	assert_int_equal(user_takes(&d, ALICE, LEASE_TRACE), 0);
	user_ends(&d);
}

static void a_users_process_yields_to_roots_session_and_roots_to_no_users(void **state)
{
	struct user p, d;
	struct lease *l;

	(void)state;
	assert_int_equal(user_takes(&p, ALICE, LEASE_PROCESS), 0);
	l = take(LEASE_TRACE);
	assert_true(user_says(&p));
	lease_free(l);
	assert_false(user_says(&p));
	user_ends(&p);
	l = take(LEASE_PROCESS);
	assert_int_equal(user_takes(&d, ALICE, LEASE_TRACE), 0);
	assert_false(lease_shut(l, NULL));
	user_ends(&d);
	lease_free(l);
}

/* Whoever waits in poll() is woken by both. */
static void a_process_is_woken_when_its_counters_go_and_come(void **state)
{
	struct lease *p = take(LEASE_PROCESS), *d;
	struct pollfd fd = { .fd = lease_fd(p), .events = POLLIN };

	(void)state;
	assert_false(lease_shut(p, NULL));
	d = take(LEASE_TRACE);
	assert_int_equal(poll(&fd, 1, 0), 1);
	assert_true(lease_shut(p, NULL));
	lease_free(d);
	assert_int_equal(poll(&fd, 1, 0), 1);
	assert_false(lease_shut(p, NULL));
	lease_free(p);
}

static void a_process_is_woken_when_who_had_its_counters_is_killed(void **state)
{
	struct lease *p = take(LEASE_PROCESS);
	struct pollfd fd = { .fd = lease_fd(p), .events = POLLIN };
	int ready[2];
	pid_t child;
	char byte;

	(void)state;
	assert_int_equal(pipe(ready), 0);
	child = fork();
	if (child == 0) {
		struct lease_holder other;
		struct lease *l;

		if (lease_take(&l, own_root, LEASE_TRACE, &other, &(struct err){ 0 }) == 0)
			(void)!write(ready[1], "x", 1);
		pause();
	}
	close(ready[1]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	assert_true(lease_shut(p, NULL));
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	while (lease_shut(p, NULL))
		assert_int_equal(poll(&fd, 1, 60000), 1); /* it looks again by itself */
	lease_free(p);
}

/* ---- hostile users ---------------------------------------------------------------------------------------------- */

static int abstract(const char *name, int type)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, type | SOCK_NONBLOCK, 0),
	    n = snprintf(a.sun_path + 1, sizeof(a.sun_path) - 1, "%s", name);

	if (bind(fd, (struct sockaddr *)&a, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n)) == 0)
		listen(fd, 1);
	return fd;
}

/* All that a user can do to a file of root's: whether it got hold of one. */
static bool hostile_open(const char *path)
{
	struct flock read_all = { .l_type = F_RDLCK };
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return false;
	flock(fd, LOCK_EX | LOCK_NB);
	fcntl(fd, F_OFD_SETLK, &read_all);
	return true; /* and keeps it */
}

static void hostile_connect(const char *path)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	char junk[4096] = "x";
	int fd;

	memcpy(a.sun_path, path, strnlen(path, sizeof(a.sun_path) - 1));
	for (int i = 0; i < 2; i++) {
		fd = socket(AF_UNIX, i ? SOCK_STREAM : SOCK_DGRAM, 0);
		if (connect(fd, (struct sockaddr *)&a, sizeof(a)) == 0)
			while (send(fd, junk, sizeof(junk), MSG_DONTWAIT | MSG_NOSIGNAL) > 0)
				;
	}
}

/* Until it is killed: everything, in the places of root, of BOB and of the old names, keeping what it gets. */
static void hostile_loop(int ready)
{
	static const char *const old[] = { "tally-counters/lock/0", "tally-counters/trace/%u",
					   "tally-counters/system/%u", "tally-counters/process/%u" };
	char path[300];

	if (setresuid(ALICE, ALICE, ALICE) < 0)
		_exit(1);
	for (uint32_t turn = 0;; turn++) {
		for (uint32_t i = 0; i < 512; i++) {
			snprintf(path, sizeof(path), old[i / 128], i % 128);
			close(abstract(path, SOCK_STREAM));
		}
		DIR *d = opendir(below("run/tally"));

		for (struct dirent *e; d && (e = readdir(d));) {
			snprintf(path, sizeof(path), "%s/%s", below("run/tally"), e->d_name);
			hostile_open(path);
			hostile_connect(path);
			unlink(path);
			rename(path, below("tmp/mine"));
		}
		if (d)
			closedir(d);
		hostile_open(below("run/tally"));
		mkdir(below("run/tally"), 0777);
		mkdir(below("tmp/tally-0"), 0777);
		mkdir(below("tmp/tally-65533"), 0777); /* BOB's, who has no other */
		symlink("/", below("tmp/tally-65532"));
		snprintf(path, sizeof(path), "%s/system.1.%u", below("tmp/tally-65533"), turn);
		struct sockaddr_un a = { .sun_family = AF_UNIX };
		memcpy(a.sun_path, path, sizeof(a.sun_path) - 1);
		(void)!bind(socket(AF_UNIX, SOCK_DGRAM, 0), (struct sockaddr *)&a, sizeof(a));
		for (int fd = 512; fd < 1024; fd++)
			close(fd); /* so that it goes on */
		if (turn == 0)
			(void)!write(ready, "x", 1);
	}
}

static pid_t hostile_user(void)
{
	int ready[2];
	pid_t pid;
	char byte;

	if (geteuid() != 0) {
		print_message("# skipped: only root can be others\n");
		skip();
	}
	assert_int_equal(pipe(ready), 0);
	pid = fork();
	if (pid == 0) {
		close(ready[0]);
		hostile_loop(ready[1]);
	}
	close(ready[1]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	return pid;
}

static void a_hostile_user_in_a_loop_never_keeps_root_from_its_leases(void **state)
{
	pid_t hostile = hostile_user();
	struct lease_holder v[4];
	struct lease *a, *p;

	(void)state;
	for (int i = 0; i < 300; i++) {
		p = take(LEASE_PROCESS);
		assert_false(lease_shut(p, NULL));
		a = take(i % 2 ? LEASE_SYSTEM : LEASE_TRACE);
		refused_by(LEASE_SYSTEM, i % 2 ? LEASE_SYSTEM : LEASE_TRACE); /* two holders never coexist */
		assert_true(lease_shut(p, NULL));
		assert_int_equal(lease_list(own_root, v, 4), 2);
		lease_free(a);
		assert_false(lease_shut(p, NULL));
		lease_free(p);
	}
	kill(hostile, SIGKILL);
	waitpid(hostile, NULL, 0);
}

static void a_user_whose_place_a_stranger_has_taken_counts_all_the_same_and_is_told(void **state)
{
	pid_t hostile = hostile_user();
	int status = -1;

	(void)state;
	for (int i = 0; i < 50; i++) {
		pid_t bob = fork();

		if (bob == 0) {
			struct lease_holder other;
			struct lease *l = NULL;

			if (setresuid(BOB, BOB, BOB) < 0 ||
			    lease_take(&l, own_root, LEASE_SYSTEM, &other, &(struct err){ 0 }) < 0)
				_exit(1);
			_exit(lease_unkept(l) &&
					      strstr(lease_unkept(l),
						     "tally-65533 is not a directory that only user 65533 can write") ?
				      0 :
				      2);
		}
		waitpid(bob, &status, 0);
		assert_int_equal(status, 0);
	}
	kill(hostile, SIGKILL);
	waitpid(hostile, NULL, 0);
}

/* Old attacks on names that a user can bind: the lock's, every slot's; a listener that is filled. */
static void root_takes_leases_while_a_stranger_has_every_abstract_name(void **state)
{
	int fd[4 * 128], n = 0;
	char name[64];

	(void)state;
	for (uint32_t i = 0; i < 4 * 128; i++) {
		static const char *const kind[] = { "lock", "trace", "system", "process" };

		snprintf(name, sizeof(name), "tally-counters/%s/%u", kind[i / 128], i % 128);
		fd[n++] = abstract(name, SOCK_STREAM);
	}
	lease_free(take(LEASE_TRACE));
	lease_free(take(LEASE_SYSTEM));
	lease_free(take(LEASE_PROCESS));
	while (n > 0)
		close(fd[--n]);
}

/* ---- no place, and limits -------------------------------------------------------------------- */

static void without_a_place_the_lease_is_taken_and_says_why_nobody_sees_it(void **state)
{
	struct lease_holder other;
	struct err e = { 0 };
	struct lease *l, *second;

	(void)state;
	assert_int_equal(lease_take(&l, below("nowhere"), LEASE_SYSTEM, &other, &e), 0);
	assert_non_null(strstr(lease_unkept(l), "nowhere/tmp: No such file or directory"));
	assert_int_equal(lease_take(&second, below("nowhere"), LEASE_PROCESS, &other, &e), 0);
	assert_false(lease_shut(second, NULL));
	lease_free(second);
	lease_free(l);
}

/* In place of libc's: a machine without more sockets, and a file system that keeps the mode of a directory. */
static int sockets_left = -1; /* -1: any number */
static mode_t mode_refused;

int socket(int domain, int type, int protocol)
{
	if (sockets_left == 0) {
		errno = ENFILE;
		return -1;
	}
	sockets_left -= sockets_left > 0;
	return (int)syscall(SYS_socket, domain, type, protocol);
}

int chmod(const char *path, mode_t mode)
{
	if (mode_refused && mode == mode_refused) {
		errno = EROFS;
		return -1;
	}
	return (int)syscall(SYS_fchmodat, AT_FDCWD, path, mode);
}

static void a_lease_that_has_no_socket_says_so(void **state)
{
	struct lease_holder other;
	struct lease *l;

	(void)state;
	sockets_left = 1; /* the first looks for other leases */
	assert_int_equal(lease_take(&l, own_root, LEASE_TRACE, &other, &(struct err){ 0 }), 0);
	sockets_left = -1;
	assert_non_null(lease_unkept(l));
	assert_non_null(strstr(lease_unkept(l), own_root));
	assert_non_null(strstr(lease_unkept(l), strerror(ENFILE)));
	lease_free(l);
}

static void a_place_whose_mode_cannot_be_set_is_named(void **state)
{
	struct lease_holder other;
	struct lease *l;

	(void)state;
	if (geteuid() != 0)
		skip();
	mode_refused = 0755;
	assert_int_equal(lease_take(&l, own_root, LEASE_TRACE, &other, &(struct err){ 0 }), 0);
	mode_refused = 0;
	assert_non_null(lease_unkept(l));
	assert_non_null(strstr(lease_unkept(l), "/run/tally: "));
	assert_non_null(strstr(lease_unkept(l), "/tmp/tally-0: "));
	assert_non_null(strstr(lease_unkept(l), strerror(EROFS)));
	lease_free(l);
}

static void a_user_without_a_directory_of_its_own_below_run_has_one_in_tmp(void **state)
{
	struct user d, whole;

	(void)state;
	assert_int_equal(user_takes(&d, BOB, LEASE_TRACE), 0);
	assert_int_equal(access(below("tmp/tally-65533"), F_OK), 0);
	assert_int_equal(user_takes(&whole, BOB, LEASE_SYSTEM), -TALLY_EBUSY);
	assert_int_equal(user_says(&whole), d.pid);
	user_ends(&whole);
	user_ends(&d);
}

/* Root's socket that nobody else may connect to yet, as it is between bind() and chmod(): is it a lease to a user? */
static int user_meets_closed_socket(pid_t holder)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	struct user d;
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0), said;

	lease_free(take(LEASE_SYSTEM)); /* makes the place */
	assert_true((size_t)snprintf(a.sun_path, sizeof(a.sun_path), "%s/system.%d.0", below(own_place()),
				     (int)holder) < sizeof(a.sun_path));
	assert_int_equal(bind(fd, (const struct sockaddr *)&a, sizeof(a)), 0);
	assert_int_equal(chmod(a.sun_path, 0600), 0);
	said = user_takes(&d, ALICE, LEASE_TRACE);
	user_ends(&d);
	unlink(a.sun_path);
	close(fd);
	return said;
}

static void a_holder_killed_before_it_opened_its_socket_to_all_holds_nothing(void **state)
{
	pid_t dead;

	(void)state;
	if (geteuid() != 0)
		skip();
	assert_int_equal(user_meets_closed_socket(getpid()), -TALLY_EBUSY);
	dead = fork();
	if (dead == 0)
		_exit(0);
	waitpid(dead, NULL, 0);
	assert_int_equal(user_meets_closed_socket(dead), 0);
}

static void as_many_as_like_can_count_processes(void **state)
{
	enum { MANY = 200 };
	struct lease *v[MANY], *l;
	struct lease_holder h;

	(void)state;
	for (uint32_t i = 0; i < MANY; i++)
		v[i] = take(LEASE_PROCESS);
	assert_int_equal(lease_list(own_root, &h, 1), MANY);
	l = take(LEASE_TRACE);
	for (uint32_t i = 0; i < MANY; i++)
		assert_true(lease_shut(v[i], NULL));
	lease_free(l);
	for (uint32_t i = 0; i < MANY; i++) {
		assert_false(lease_shut(v[i], NULL));
		lease_free(v[i]);
	}
}

static void a_root_whose_name_is_too_long_has_no_place(void **state)
{
	char root[200];
	struct lease_holder other;
	struct lease *l;

	(void)state;
	memset(root, 'x', sizeof(root) - 1);
	root[sizeof(root) - 1] = '\0';
	assert_int_equal(lease_take(&l, root, LEASE_TRACE, &other, &(struct err){ 0 }), 0);
	assert_non_null(lease_unkept(l));
	lease_free(l);
}

static void memory_that_runs_out_is_said(void **state)
{
	struct lease_holder other;
	struct err e = { 0 };
	struct lease *l;
	long before = mem_live();

	(void)state;
	mem_fail_at(1);
	assert_int_equal(lease_take(&l, own_root, LEASE_TRACE, &other, &e), -TALLY_ENOMEM);
	mem_fail_at(0);
	assert_int_equal(mem_live(), before);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(d_sessions_share, setup, teardown),
		cmocka_unit_test_setup_teardown(d_keeps_whole_cpus_out_until_the_last_session_ends, setup, teardown),
		cmocka_unit_test_setup_teardown(whole_cpus_keep_d_and_their_like_out, setup, teardown),
		cmocka_unit_test_setup_teardown(processes_are_never_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(processes_lose_their_counters_to_either, setup, teardown),
		cmocka_unit_test_setup_teardown(a_late_process_begins_without_counters, setup, teardown),
		cmocka_unit_test_setup_teardown(counters_come_back_with_the_last_session, setup, teardown),
		cmocka_unit_test_setup_teardown(looking_shuts_nobody_out, setup, teardown),
		cmocka_unit_test_setup_teardown(a_killed_holder_leaves_nothing, setup, teardown),
		cmocka_unit_test_setup_teardown(what_the_dead_leave_is_removed_by_the_next, setup, teardown),
		cmocka_unit_test_setup_teardown(a_lock_whose_holder_dies_is_free, setup, teardown),
		cmocka_unit_test_setup_teardown(processes_of_one_ordinary_user_exclude_each_other, setup, teardown),
		cmocka_unit_test_setup_teardown(a_process_of_a_user_yields_to_the_same_users_session, setup, teardown),
		cmocka_unit_test_setup_teardown(a_strangers_lease_is_in_nobodys_way, setup, teardown),
		cmocka_unit_test_setup_teardown(a_user_is_refused_for_roots_sake, setup, teardown),
		cmocka_unit_test_setup_teardown(a_users_process_yields_to_roots_session_and_roots_to_no_users, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_process_is_woken_when_its_counters_go_and_come, setup, teardown),
		cmocka_unit_test_setup_teardown(a_process_is_woken_when_who_had_its_counters_is_killed, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_hostile_user_in_a_loop_never_keeps_root_from_its_leases, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_user_whose_place_a_stranger_has_taken_counts_all_the_same_and_is_told,
						setup, teardown),
		cmocka_unit_test_setup_teardown(root_takes_leases_while_a_stranger_has_every_abstract_name, setup,
						teardown),
		cmocka_unit_test_setup_teardown(without_a_place_the_lease_is_taken_and_says_why_nobody_sees_it, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_lease_that_has_no_socket_says_so, setup, teardown),
		cmocka_unit_test_setup_teardown(a_place_whose_mode_cannot_be_set_is_named, setup, teardown),
		cmocka_unit_test_setup_teardown(a_user_without_a_directory_of_its_own_below_run_has_one_in_tmp, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_holder_killed_before_it_opened_its_socket_to_all_holds_nothing, setup,
						teardown),
		cmocka_unit_test_setup_teardown(as_many_as_like_can_count_processes, setup, teardown),
		cmocka_unit_test_setup_teardown(a_root_whose_name_is_too_long_has_no_place, setup, teardown),
		cmocka_unit_test_setup_teardown(memory_that_runs_out_is_said, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
