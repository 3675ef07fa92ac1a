/* local_server_test.c: the server of the local protocol: who may come in, and what those who did can do to others. */
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "attach/server_race_test_int.h"
#include "attach/local_toy_test_int.h"

/* ---- the server --------------------------------------------------------------------------------------------- */

static void assert_no_server(const char *path, int rc, const char *words)
{
	struct toy t = { 0 };
	struct server *d = NULL;
	struct err e = { 0 };
	int n = descriptors();

	assert_int_equal(server_open_local(&d, &toy_service, &t, path, &e), rc);
	assert_non_null(strstr(e.text, words));
	assert_null(d);
	assert_int_equal(descriptors(), n);
}

static void a_socket_is_for_its_user_and_goes_with_its_server(void **state)
{
	struct toy t = { 0 };
	struct stat st;
	char path[64];
	struct server *d;

	(void)state;
	scratch_path(path, sizeof(path));
	d = server(&t, path);
	assert_int_equal(stat(path, &st), 0);
	assert_true(S_ISSOCK(st.st_mode));
	assert_int_equal(st.st_mode & 0777, 0600);
	d->op->close(d);
	scratch_gone(path);
}

static void a_living_servers_path_is_refused_and_a_dead_ones_taken(void **state)
{
	struct toy t = { 0 };
	char path[64], moved[72];
	struct server *d;
	int fd;

	(void)state;
	scratch_path(path, sizeof(path));
	snprintf(moved, sizeof(moved), "%s.old", path);
	d = server(&t, path);
	assert_no_server(path, -TALLY_EBUSY, "in use by another server");
	assert_int_equal(rename(path, moved), 0);
	d->op->close(d);
	assert_int_equal(rename(moved, path), 0); /* as kill -9 leaves it */
	assert_int_equal(raw_connect(path), -1);
	d = server(&t, path);
	fd = raw_connect(path);
	assert_true(fd >= 0);
	close(fd);
	d->op->close(d);
	scratch_gone(path);
}

static void a_path_that_is_no_place_for_a_socket_is_refused(void **state)
{
	char path[64], longer[200];
	int fd;

	(void)state;
	memset(longer, 'x', sizeof(longer));
	longer[sizeof(longer) - 1] = '\0';
	assert_no_server(longer, -TALLY_EINVAL, "1 to 107 bytes");
	assert_no_server("", -TALLY_EINVAL, "1 to 107 bytes");
	assert_no_server("/nowhere/at/all", -TALLY_EIO, "/nowhere/at/all");
	scratch_path(path, sizeof(path));
	fd = creat(path, 0600);
	close(fd);
	assert_no_server(path, -TALLY_EIO, "is not a socket");
	assert_int_equal(unlink(path), 0);
	scratch_gone(path);
}

static int open_toy(struct server **ret, void *toy, const char *path, struct err *e)
{
	return server_open_local(ret, &toy_service, toy, path, e);
}

static void of_servers_that_start_together_one_wins(void **state)
{
	(void)state;
	for (int round = 0; round < 40; round++) {
		struct toy t = { 0 };
		struct err e = { 0 };
		struct race r;
		struct server *d;
		char path[64];
		int rc;

		scratch_path(path, sizeof(path));
		race_leave_dead(open_toy, &t, path);
		assert_int_equal(access(path, F_OK), 0);
		r = race_begin(open_toy, &t, path);
		rc = server_open_local(&d, &toy_service, &t, path, &e);
		race_end(&r);
		assert_int_equal(r.said, RACE_SERVERS);
		assert_int_equal(r.won, 1);
		assert_int_equal(rc, -TALLY_EBUSY);
		assert_non_null(strstr(e.text, "in use by another server"));
		d = server(&t, path); /* nothing of the killed is in the way */
		d->op->close(d);
		scratch_gone(path); /* and nothing is left */
	}
}

/* In place of the C library's: whether a client could see the path before anybody listens there. */
static const char *listen_watched;
static bool listen_seen;

int listen(int fd, int backlog)
{
	if (listen_watched)
		listen_seen |= access(listen_watched, F_OK) == 0;
	return (int)syscall(SYS_listen, fd, backlog);
}

static void a_client_between_bind_and_listen_was_told_that_no_server_is_there(void **state)
{
	struct toy t = { 0 };
	struct server *d;
	char path[64];

	(void)state;
	scratch_path(path, sizeof(path));
	listen_watched = path;
	for (int round = 0; round < 2; round++) {
		listen_seen = false;
		d = server(&t, path);
		assert_false(listen_seen);
		assert_int_equal(access(path, F_OK), 0);
		d->op->close(d);
		race_leave_dead(open_toy, &t, path); /* and in the place of a dead one */
	}
	listen_watched = NULL;
	assert_int_equal(unlink(path), 0);
	scratch_gone(path);
}

/* A path so long that another name beside it has no room. */
static void a_path_of_107_bytes_has_a_server(void **state)
{
	struct toy t = { 0 };
	struct server *d;
	char path[108];
	size_t n;

	(void)state;
	scratch_path(path, sizeof(path));
	n = strlen(path);
	memset(path + n, 'x', 107 - n);
	path[107] = '\0';
	d = server(&t, path);
	assert_int_equal(access(path, F_OK), 0);
	d->op->close(d);
	assert_int_equal(access(path, F_OK), -1);
	path[n] = '\0';
	scratch_gone(path);
}

static void a_server_waits_while_another_one_starts_at_its_path(void **state)
{
	struct toy t = { 0 };
	char path[64];

	(void)state;
	scratch_path(path, sizeof(path));
	assert_true(race_waits_its_turn(open_toy, &t, path));
	assert_int_equal(unlink(path), 0);
	scratch_gone(path);
}

static void what_another_made_at_the_path_is_left(void **state)
{
	struct toy t = { 0 };
	char path[64];
	struct server *d;

	(void)state;
	scratch_path(path, sizeof(path));
	d = server(&t, path);
	assert_int_equal(unlink(path), 0);
	close(creat(path, 0600));
	d->op->close(d);
	assert_int_equal(unlink(path), 0);
	scratch_gone(path);
}

static void serve(struct server *d)
{
	struct err e = { 0 };

	if (d->op->serve(d, &e) < 0 || d->op->passed(d, &e) < 0)
		fail_msg("%s", e.text);
}

/* One frame; serves until it is there. Returns its status, or -1 when the server hung up. */
static int raw_answer(struct server *d, int fd, struct local_head *h, char *words, size_t room)
{
	uint8_t p[LOCAL_FRAME_MOST];
	size_t have = 0, want = sizeof(*h);

	while (have < want) {
		ssize_t n = recv(fd, p + have, want - have, MSG_DONTWAIT);

		if (n == 0 || (n < 0 && errno != EAGAIN))
			return -1;
		if (n < 0)
			serve(d);
		else if ((have += (size_t)n) == sizeof(*h)) {
			memcpy(h, p, sizeof(*h));
			want = h->bytes;
		}
	}
	snprintf(words, room, "%.*s", (int)(want - sizeof(*h)), (const char *)p + sizeof(*h));
	return h->status;
}

static int raw_hello(struct server *d, const char *path)
{
	struct script s = { .n = 0 };
	int fd = raw_connect(path);
	struct local_head h;
	char words[600];

	put_hello(&s, 0);
	assert_int_equal(write(fd, s.p, s.n), s.n);
	assert_int_equal(raw_answer(d, fd, &h, words, sizeof(words)), 0);
	return fd;
}

static void one_client_too_many_is_told_so_and_another_may_come_when_one_went(void **state)
{
	int fd[LOCAL_CLIENTS], more;
	struct toy t = { 0 };
	char path[64], words[600];
	struct local_head h;
	struct server *d;

	(void)state;
	scratch_path(path, sizeof(path));
	d = server(&t, path);
	for (int i = 0; i < LOCAL_CLIENTS; i++)
		fd[i] = raw_hello(d, path);
	more = raw_connect(path);
	assert_int_equal(raw_answer(d, more, &h, words, sizeof(words)), local_status(-TALLY_EBUSY));
	assert_non_null(strstr(words, "too many clients"));
	assert_int_equal(raw_answer(d, more, &h, words, sizeof(words)), -1);
	close(more);
	close(fd[5]);
	serve(d);
	assert_int_equal(t.gone, 1);
	fd[5] = raw_hello(d, path);
	for (int i = 0; i < LOCAL_CLIENTS; i++)
		close(fd[i]);
	serve(d);
	assert_int_equal(t.gone, LOCAL_CLIENTS + 1);
	d->op->close(d);
	scratch_gone(path);
}

/* Descriptor 0 is free where who starts the server closes its standard input. */
static void a_client_of_descriptor_0_is_one_like_the_others(void **state)
{
	const int input = fcntl(0, F_DUPFD_CLOEXEC, 3);
	struct script s = { .n = 0 };
	struct toy t = { 0 };
	char path[64], words[600];
	struct local_head h;
	struct server *d;
	int first, second;

	(void)state;
	if (input < 0) /* it is closed already: nothing else is to have it yet */
		assert_int_equal(open("/dev/null", O_RDONLY | O_CLOEXEC), 0);
	scratch_path(path, sizeof(path));
	d = server(&t, path);
	first = raw_connect(path);
	close(0);
	serve(d);
	assert_true(fcntl(0, F_GETFD) >= 0);
	second = raw_hello(d, path);
	put_hello(&s, 0);
	assert_int_equal(write(first, s.p, s.n), s.n);
	assert_int_equal(raw_answer(d, first, &h, words, sizeof(words)), 0);
	close(first);
	close(second);
	serve(d);
	assert_int_equal(t.gone, 2);
	d->op->close(d);
	if (input >= 0) {
		assert_int_equal(dup2(input, 0), 0);
		close(input);
	}
	scratch_gone(path);
}

static int as_somebody_else(const char *path)
{
	struct local_client *c = NULL;
	struct err e = { 0 };
	int rc;

	if (setgid(65534) || setuid(65534))
		return 99;
	rc = local_connect(&c, path, 0, NULL, &e);
	return rc == -TALLY_EPERM && strstr(e.text, "only root and the user") ? 0 : 1;
}

static void another_user_is_refused_even_where_the_mode_would_let_him_in(void **state)
{
	struct toy t = { 0 };
	struct serving s = { 0 };
	char path[64], dir[64];
	int status;
	pid_t pid;

	(void)state;
	if (geteuid() != 0) {
		print_message("skipped: only root can be somebody else\n");
		skip();
	}
	scratch_path(path, sizeof(path));
	strcpy(dir, path);
	*strrchr(dir, '/') = '\0';
	s.server = server(&t, path);
	assert_int_equal(chmod(path, 0666) | chmod(dir, 0755), 0);
	serving_start(&s);
	pid = fork();
	if (pid == 0)
		_exit(as_somebody_else(path));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	serving_end(&s);
	scratch_gone(path);
}

static void garbage_harms_nobody_else(void **state)
{
	const uint64_t v[2] = { 40, 2 };
	struct script s = { .n = 0 };
	uint8_t noise[5000];
	struct toy t = { 0 };
	char path[64], words[600];
	struct local_head h;
	struct server *d;
	int good;

	(void)state;
	scratch_path(path, sizeof(path));
	d = server(&t, path);
	good = raw_hello(d, path);
	put(&s, ADD, 9, v, sizeof(v));
	for (uint32_t seed = 1; seed <= 100; seed++) {
		int bad = seed % 2 ? raw_connect(path) : raw_hello(d, path);

		for (size_t i = 0; i < sizeof(noise); i++)
			noise[i] = (uint8_t)((seed * 2654435761u + i * 40503u) >> (i % 13));
		assert_true(send(bad, noise, sizeof(noise) / seed, MSG_DONTWAIT | MSG_NOSIGNAL) > 0);
		assert_int_equal(write(good, s.p, s.n), s.n);
		assert_int_equal(raw_answer(d, good, &h, words, sizeof(words)), 0);
		assert_int_equal(h.id, 9);
		close(bad);
	}
	serve(d);
	assert_int_equal(t.gone, 100);
	close(good);
	d->op->close(d);
	scratch_gone(path);
}

static void a_client_that_floods_and_never_reads_stops_nobody(void **state)
{
	const uint64_t v[2] = { 40, 2 };
	struct script flood = { .n = 0 }, s = { .n = 0 };
	struct toy t = { 0 };
	char path[64], words[600];
	struct local_head h;
	struct server *d;
	int bad, good;
	long live;

	(void)state;
	scratch_path(path, sizeof(path));
	d = server(&t, path);
	bad = raw_hello(d, path);
	good = raw_hello(d, path);
	live = mem_live();
	for (int i = 0; i < 4000; i++)
		put(&flood, LONG, 1, NULL, 0);
	put(&s, ADD, 9, v, sizeof(v));
	for (int i = 0; i < 100; i++) {
		(void)!send(bad, flood.p, flood.n, MSG_DONTWAIT | MSG_NOSIGNAL);
		assert_int_equal(write(good, s.p, s.n), s.n);
		assert_int_equal(raw_answer(d, good, &h, words, sizeof(words)), 0);
	}
	assert_int_equal(mem_live(), live);
	close(bad);
	serve(d);
	assert_int_equal(t.gone, 1);
	close(good);
	d->op->close(d);
	scratch_gone(path);
}

static void killed_clients_are_cleared_away(void **state)
{
	struct toy t = { 0 };
	struct serving s = { 0 };
	struct local_client *c = NULL;
	struct local_answer a;
	struct err e = { 0 };
	char path[64];
	int ready[2], status;
	pid_t pid;

	(void)state;
	scratch_path(path, sizeof(path));
	s.server = server(&t, path);
	serving_start(&s);
	assert_int_equal(pipe(ready), 0);
	pid = fork();
	if (pid == 0) {
		uint64_t id;
		char byte = !local_connect(&c, path, 0, NULL, &e) && local_ask(c, WAIT, NULL, 0, &id, &e) == 1 &&
			    local_next(c, &a, 0, &e) == 0;

		(void)!write(ready[1], &byte, 1);
		pause();
	}
	char byte = 0;
	assert_int_equal(read(ready[0], &byte, 1), 1);
	assert_int_equal(byte, 1);
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(local_connect(&c, path, 0, NULL, &e), 0);
	assert_int_equal(local_ask_and_wait(c, RELEASE, NULL, 0, &a, NULL, &e), 0);
	local_disconnect(c);
	close(ready[0]);
	close(ready[1]);
	serving_end(&s);
	assert_int_equal(t.gone, 2);
	assert_null(t.waiting);
	scratch_gone(path);
}

static void ten_thousand_connections_leave_nothing(void **state)
{
	struct toy t = { 0 };
	char path[64];
	struct server *d;
	long live;
	int n;

	(void)state;
	scratch_path(path, sizeof(path));
	d = server(&t, path);
	close(raw_hello(d, path));
	serve(d);
	live = mem_live();
	n = descriptors();
	for (int i = 0; i < 10000; i++) {
		int fd = i % 3 ? raw_connect(path) : raw_hello(d, path);

		if (i % 3 == 1)
			assert_int_equal(send(fd, "x", 1, MSG_NOSIGNAL), 1);
		close(fd);
		serve(d);
	}
	serve(d);
	assert_int_equal(descriptors(), n);
	assert_int_equal(mem_live(), live);
	assert_int_equal(t.gone, 10001);
	d->op->close(d);
	scratch_gone(path);
}

static void a_server_without_descriptors_lets_the_next_in_when_there_are_some(void **state)
{
	struct rlimit was, low;
	struct pollfd p = { .events = POLLIN };
	struct toy t = { 0 };
	struct err e = { 0 };
	char path[64];
	struct server *d;
	int fd;

	(void)state;
	scratch_path(path, sizeof(path));
	d = server(&t, path);
	fd = raw_connect(path);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &was), 0);
	low = was;
	low.rlim_cur = 3;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0);
	assert_int_equal(d->op->serve(d, &e), 0);
	p.fd = d->op->fd(d);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &was), 0);
	assert_int_equal(poll(&p, 1, 0), 0); /* it does not spin */
	assert_int_equal(d->op->passed(d, &e), 0);
	assert_int_equal(poll(&p, 1, 0), 1);
	serve(d);
	close(fd);
	serve(d);
	assert_int_equal(t.gone, 1);
	d->op->close(d);
	scratch_gone(path);
}

static void descriptors_that_come_along_are_dropped(void **state)
{
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(sizeof(int))];
	} along = { .head = { CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS } };
	const uint64_t word = 5;
	struct script s = { .n = 0 };
	struct iovec io = { s.p, 0 };
	struct msghdr m = { .msg_iov = &io, .msg_iovlen = 1, .msg_control = &along, .msg_controllen = sizeof(along) };
	struct toy t = { 0 };
	struct local_head h;
	char path[64], words[64];
	struct server *d;
	int fd, n;

	(void)state;
	scratch_path(path, sizeof(path));
	d = server(&t, path);
	fd = raw_hello(d, path);
	n = descriptors();
	put(&s, LOCAL_PING, 1, &word, sizeof(word));
	io.iov_len = s.n;
	memcpy(CMSG_DATA(&along.head), &fd, sizeof(fd));
	assert_int_equal(sendmsg(fd, &m, 0), s.n);
	assert_int_equal(raw_answer(d, fd, &h, words, sizeof(words)), 0);
	assert_int_equal(descriptors(), n);
	close(fd);
	d->op->close(d);
	scratch_gone(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_socket_is_for_its_user_and_goes_with_its_server),
		cmocka_unit_test(a_living_servers_path_is_refused_and_a_dead_ones_taken),
		cmocka_unit_test(a_path_that_is_no_place_for_a_socket_is_refused),
		cmocka_unit_test(of_servers_that_start_together_one_wins),
		cmocka_unit_test(a_client_between_bind_and_listen_was_told_that_no_server_is_there),
		cmocka_unit_test(a_path_of_107_bytes_has_a_server),
		cmocka_unit_test(a_server_waits_while_another_one_starts_at_its_path),
		cmocka_unit_test(what_another_made_at_the_path_is_left),
		cmocka_unit_test(one_client_too_many_is_told_so_and_another_may_come_when_one_went),
		cmocka_unit_test(a_client_of_descriptor_0_is_one_like_the_others),
		cmocka_unit_test(another_user_is_refused_even_where_the_mode_would_let_him_in),
		cmocka_unit_test(garbage_harms_nobody_else),
		cmocka_unit_test(a_client_that_floods_and_never_reads_stops_nobody),
		cmocka_unit_test(killed_clients_are_cleared_away),
		cmocka_unit_test(ten_thousand_connections_leave_nothing),
		cmocka_unit_test(a_server_without_descriptors_lets_the_next_in_when_there_are_some),
		cmocka_unit_test(descriptors_that_come_along_are_dropped),
	};

	return cmocka_run_group_tests_name("attach: local server", tests, NULL, NULL);
}
