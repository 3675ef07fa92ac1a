/* local_test.c: the conversation, the door and the client of the local protocol, with a service of three operations. */
#include <setjmp.h>
#include <stdarg.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <signal.h>
#include <cmocka.h>

#include "attach/local_test_int.h"

/* ---- a service: adds, answers at length, waits ------------------------------------------------------ */

enum { ADD = 0x0200, LONG, WAIT, RELEASE, OPS_END };
struct toy {
	const struct local_peer *waiting;
	uint64_t id;
	bool released, refuse;
	int gone;
};

static int toy_add(struct local_call *c)
{
	uint64_t v[2];

	memcpy(v, c->in, sizeof(v));
	if (v[1] > UINT64_MAX - v[0])
		return err_set(c->e, TALLY_EINVAL, "%llu and %llu are too much", (unsigned long long)v[0],
			       (unsigned long long)v[1]);
	v[0] += v[1];
	memcpy(c->out, v, 8);
	c->nout = 8;
	return 0;
}

static int toy_long(struct local_call *c)
{
	memset(c->out, 'x', LOCAL_PAYLOAD_MOST);
	c->nout = LOCAL_PAYLOAD_MOST;
	return 0;
}

static int toy_wait(struct local_call *c)
{
	struct toy *t = c->service;

	t->waiting = c->peer;
	t->id = c->id;
	return LOCAL_LATER;
}

static int toy_release(struct local_call *c)
{
	((struct toy *)c->service)->released = true;
	return 0;
}

static void toy_pump(void *service, struct local_peer *p)
{
	const struct err no = {TALLY_EBUSY, "not today"};
	struct toy *t = service;
	uint8_t *to = NULL;

	if (!t->released || t->waiting != p)
		return;
	if (t->refuse ? !local_reply_error(p, WAIT, t->id, &no) : (to = local_reply(p, WAIT, t->id, 1)) == NULL)
		return;
	if (to)
		*to = '!';
	t->waiting = NULL;
}

static void toy_gone(void *service, struct local_peer *p)
{
	struct toy *t = service;

	t->gone++;
	if (t->waiting == p)
		t->waiting = NULL;
}

static int toy_open(void **ret, void *platform, struct err *e)
{
	(void)e;
	*ret = platform;
	return 0;
}

static void toy_close(void *service)
{
	(void)service;
}

static const struct local_row toy_rows[] = {
	{LOCAL_LOOK, 16, 8, toy_add},
	{LOCAL_LOOK, 0, LOCAL_PAYLOAD_MOST, toy_long},
	{LOCAL_LOOK, 0, 1, toy_wait},
	{LOCAL_PLUG, 0, 0, toy_release},
};
static const struct local_service toy_service = {"toy", ADD, COUNT(toy_rows), toy_rows,
						  toy_open, toy_close, toy_pump, toy_gone, .takes_fds = false};

/* ---- the conversation --------------------------------------------------------------------------------- */

/* Feeds it as far as it takes it. Returns the bytes taken. */
static size_t feed(struct local_peer *p, const uint8_t *from, size_t n, size_t most)
{
	size_t done = 0, room;

	while (done < n) {
		uint8_t *to = local_peer_room(p, &room);

		room = room < n - done ? room : n - done;
		room = room < most ? room : most;
		if (!room)
			break;
		memcpy(to, from + done, room);
		local_peer_came(p, room);
		done += room;
	}
	return done;
}

/* Takes the next answer out of what is to be sent. */
static bool answer(struct local_peer *p, struct local_head *h, char *words, size_t nwords)
{
	size_t n;
	const uint8_t *from = local_peer_out(p, &n);

	if (n < sizeof(*h))
		return false;
	memcpy(h, from, sizeof(*h));
	assert_true(h->bytes <= n);
	snprintf(words, nwords, "%.*s", (int)(h->bytes - sizeof(*h)), (const char *)from + sizeof(*h));
	local_peer_sent(p, h->bytes);
	return true;
}

static void assert_answer(struct local_peer *p, uint16_t op, uint64_t id, int rc, const char *words)
{
	char text[600];
	struct local_head h;

	assert_true(answer(p, &h, text, sizeof(text)));
	assert_int_equal(h.op, op);
	assert_int_equal(h.id, id);
	assert_int_equal(local_error(h.status), rc);
	if (words && !strstr(text, words))
		fail_msg("\"%s\" lacks \"%s\"", text, words);
}

static struct local_peer *peer(struct toy *t)
{
	struct local_peer *p = NULL;

	assert_int_equal(local_peer_open(&p, &toy_service, t), 0);
	return p;
}

static struct local_peer *greeted(struct toy *t, uint32_t rights)
{
	struct local_peer *p = peer(t);
	struct script s = {.n = 0};

	put_hello(&s, rights);
	feed(p, s.p, s.n, s.n);
	assert_answer(p, LOCAL_HELLO, 0, 0, NULL);
	assert_false(local_peer_over(p));
	return p;
}

static void hello_gets_version_rights_and_platform(void **state)
{
	struct toy t = {0};
	struct local_peer *p = peer(&t);
	struct script s = {.n = 0};
	struct local_welcome w;
	size_t n;

	(void)state;
	put_hello(&s, LOCAL_LOOK | LOCAL_PLUG);
	feed(p, s.p, s.n, s.n);
	const uint8_t *out = local_peer_out(p, &n);
	assert_int_equal(n, sizeof(struct local_head) + sizeof(w));
	memcpy(&w, out + sizeof(struct local_head), sizeof(w));
	assert_int_equal(w.version, LOCAL_VERSION);
	assert_int_equal(w.rights, LOCAL_LOOK | LOCAL_PLUG);
	assert_int_equal(w.frame_most, LOCAL_FRAME_MOST);
	assert_string_equal(w.platform, "toy");
	local_peer_close(p);
	assert_int_equal(t.gone, 1);
}

static void assert_hangs_up(const struct script *s, uint16_t op, uint64_t id, int rc, const char *words)
{
	struct toy t = {0};
	struct local_peer *p = peer(&t);
	size_t n;

	feed(p, s->p, s->n, s->n);
	assert_answer(p, op, id, rc, words);
	assert_true(local_peer_over(p));
	local_peer_out(p, &n);
	assert_int_equal(n, 0);
	local_peer_room(p, &n);
	assert_int_equal(n, 0);
	local_peer_close(p);
}

static void anything_before_hello_ends_the_conversation(void **state)
{
	const uint64_t word = 1;
	struct script s = {.n = 0};

	(void)state;
	put(&s, LOCAL_PING, 7, &word, sizeof(word));
	put_hello(&s, 0);
	assert_hangs_up(&s, LOCAL_PING, 7, -TALLY_ESTATE, "hello");
}

static void a_hello_of_another_protocol_or_version_ends_the_conversation(void **state)
{
	struct local_hello h = {"notmine", LOCAL_VERSION, 0};
	struct script s = {.n = 0};

	(void)state;
	put(&s, LOCAL_HELLO, 1, &h, sizeof(h));
	assert_hangs_up(&s, LOCAL_HELLO, 1, -TALLY_ECORRUPT, "first eight bytes");
	h = (struct local_hello){LOCAL_MAGIC, LOCAL_VERSION + 1, 0};
	s.n = 0;
	put(&s, LOCAL_HELLO, 2, &h, sizeof(h));
	assert_hangs_up(&s, LOCAL_HELLO, 2, -TALLY_ENOTSUP, "version 2");
	h = (struct local_hello){LOCAL_MAGIC, LOCAL_VERSION, 0x80000000};
	s.n = 0;
	put(&s, LOCAL_HELLO, 3, &h, sizeof(h));
	assert_hangs_up(&s, LOCAL_HELLO, 3, -TALLY_EINVAL, "0x80000000");
	s.n = 0;
	put(&s, LOCAL_HELLO, 4, &h, sizeof(h) - 1);
	assert_hangs_up(&s, LOCAL_HELLO, 4, -TALLY_EINVAL, "takes 16 bytes");
}

static void a_length_that_cannot_be_ends_the_conversation(void **state)
{
	static const uint32_t lies[] = {0, 1, 15, LOCAL_FRAME_MOST + 1, 0x7fffffff, UINT32_MAX};

	(void)state;
	for (size_t i = 0; i < COUNT(lies); i++) {
		struct toy t = {0};
		struct local_peer *p = greeted(&t, 0);
		struct local_head h = {lies[i], ADD, 0, 5};

		feed(p, (const uint8_t *)&h, sizeof(h), sizeof(h));
		assert_answer(p, ADD, 5, -TALLY_ECORRUPT, "a frame of");
		assert_true(local_peer_over(p));
		local_peer_close(p);
	}
}

static void other_mistakes_get_words_and_the_conversation_goes_on(void **state)
{
	const uint64_t v[2] = {40, 2}, much[2] = {UINT64_MAX, 1};
	struct toy t = {0};
	struct local_peer *p = greeted(&t, LOCAL_LOOK);
	struct script s = {.n = 0};

	(void)state;
	put(&s, OPS_END, 1, NULL, 0);
	put(&s, 0xffff, 2, NULL, 0);
	put(&s, ADD, 3, v, 15);
	put(&s, RELEASE, 4, NULL, 0);
	put_hello(&s, 0);
	s.p[s.n + 6] = 1;
	put(&s, ADD, 5, v, sizeof(v));
	s.p[s.n - sizeof(v) - 10] = 1;
	put(&s, ADD, 6, much, sizeof(much));
	put(&s, ADD, UINT64_MAX, v, sizeof(v));
	assert_int_equal(feed(p, s.p, s.n, s.n), s.n);
	assert_answer(p, OPS_END, 1, -TALLY_ENOTSUP, "toy has no operation 0x204");
	assert_answer(p, 0xffff, 2, -TALLY_ENOTSUP, "0xffff");
	assert_answer(p, ADD, 3, -TALLY_EINVAL, "takes 16 bytes behind the header, not 15");
	assert_answer(p, RELEASE, 4, -TALLY_EPERM, "right 0x8");
	assert_answer(p, LOCAL_HELLO, 0, -TALLY_ESTATE, "already");
	assert_answer(p, ADD, 5, -TALLY_EINVAL, "status 1 in a request");
	assert_answer(p, ADD, 6, -TALLY_EINVAL, "are too much");
	assert_answer(p, ADD, UINT64_MAX, 0, "*");
	assert_false(local_peer_over(p));
	local_peer_close(p);
}

static void frames_cut_anywhere_are_answered_alike(void **state)
{
	const uint64_t v[2] = {40, 2};
	uint8_t whole[4096];
	size_t nwhole = 0, n;

	(void)state;
	for (size_t most = 1; most < 200; most++) {
		struct toy t = {0};
		struct local_peer *p = peer(&t);
		struct script s = {.n = 0};

		put_hello(&s, 0);
		for (uint64_t id = 1; id < 8; id++)
			put(&s, id & 1 ? ADD : LOCAL_PING, id, v, id & 1 ? 16 : 8);
		assert_int_equal(feed(p, s.p, s.n, most), s.n);
		const uint8_t *out = local_peer_out(p, &n);
		if (!nwhole)
			memcpy(whole, out, nwhole = n);
		assert_int_equal(n, nwhole);
		assert_memory_equal(out, whole, n);
		local_peer_close(p);
	}
}

static void a_client_that_does_not_read_is_not_read(void **state)
{
	struct toy t = {0};
	struct local_peer *p = greeted(&t, 0);
	struct script s = {.n = 0};
	uint64_t asked = 0, answered = 0;
	long live = mem_live();
	char text[8];
	struct local_head h;

	(void)state;
	for (int i = 0; i < 3000; i++)
		put(&s, LONG, asked++, NULL, 0);
	while (feed(p, s.p, s.n, s.n) == s.n && asked < 1000000)
		for (uint8_t *at = s.p; at < s.p + s.n; at += sizeof(h), asked++)
			memcpy(at + offsetof(struct local_head, id), &asked, sizeof(asked));
	assert_in_range(asked, 3000, 50000);
	assert_int_equal(mem_live(), live);
	while (answer(p, &h, text, sizeof(text))) {
		assert_int_equal(h.id, answered++);
		local_peer_came(p, 0);
	}
	assert_in_range(answered, 8000, asked);
	local_peer_close(p);
}

static void what_was_put_off_is_answered_when_it_is_there(void **state)
{
	struct toy t = {0};
	struct local_peer *p = greeted(&t, 0), *q = greeted(&t, 0);
	const uint64_t v[2] = {40, 2};
	struct script s = {.n = 0}, r = {.n = 0};
	size_t n;

	(void)state;
	put(&s, WAIT, 1, NULL, 0);
	put(&s, ADD, 2, v, sizeof(v));
	put(&r, RELEASE, 3, NULL, 0);
	feed(p, s.p, s.n, s.n);
	assert_answer(p, ADD, 2, 0, NULL);
	local_peer_out(p, &n);
	assert_int_equal(n, 0);
	feed(q, r.p, r.n, r.n);
	assert_answer(q, RELEASE, 3, 0, NULL);
	local_peer_came(p, 0);
	assert_answer(p, WAIT, 1, 0, "!");
	t.refuse = true;
	feed(p, s.p, s.n, s.n);
	assert_answer(p, ADD, 2, 0, NULL);
	assert_answer(p, WAIT, 1, -TALLY_EBUSY, "not today");
	local_peer_close(p);
	local_peer_close(q);
}

static void what_was_put_off_waits_for_room(void **state)
{
	struct toy t = {.released = true};
	struct local_peer *p = greeted(&t, 0);
	struct script s = {.n = 0};
	char text[8];
	struct local_head h;
	bool came = false;

	(void)state;
	put(&s, LONG, 1, NULL, 0);
	put(&s, LONG, 1, NULL, 0);
	put(&s, LONG, 1, NULL, 0);
	put(&s, LONG, 1, NULL, 0);
	put(&s, WAIT, 2, NULL, 0);
	feed(p, s.p, s.n, s.n);
	for (int i = 0; i < 5; i++) {
		assert_true(answer(p, &h, text, sizeof(text)));
		came = came || h.id == 2;
		local_peer_came(p, 0);
	}
	assert_true(came);
	local_peer_close(p);
}

static void every_status_is_an_error_and_back(void **state)
{
	(void)state;
#define X(number, tag)                                           \
	assert_int_equal(local_error(number), -TALLY_E##tag);     \
	assert_int_equal(local_status(-TALLY_E##tag), number);
	LOCAL_STATUSES(X)
#undef X
	assert_int_equal(local_error(0), 0);
	assert_int_equal(local_error(999), -TALLY_EIO);
	assert_int_equal(local_status(-TALLY_EVERIFY), local_status(-TALLY_EIO));
}

/* ---- the door --------------------------------------------------------------------------------------------- */

static struct door *door(struct toy *t, const char *path)
{
	struct door *d = NULL;
	struct err e = {0};

	if (door_local(&d, &toy_service, t, path, &e) < 0)
		fail_msg("%s", e.text);
	return d;
}

static void assert_no_door(const char *path, int rc, const char *words)
{
	struct toy t = {0};
	struct door *d = NULL;
	struct err e = {0};
	int n = descriptors();

	assert_int_equal(door_local(&d, &toy_service, &t, path, &e), rc);
	assert_non_null(strstr(e.text, words));
	assert_null(d);
	assert_int_equal(descriptors(), n);
}

static void a_socket_is_for_its_user_and_goes_with_its_server(void **state)
{
	struct toy t = {0};
	struct stat st;
	char path[64];
	struct door *d;

	(void)state;
	scratch_path(path, sizeof(path));
	d = door(&t, path);
	assert_int_equal(stat(path, &st), 0);
	assert_true(S_ISSOCK(st.st_mode));
	assert_int_equal(st.st_mode & 0777, 0600);
	d->op->close(d);
	scratch_gone(path);
}

static void a_living_servers_path_is_refused_and_a_dead_ones_taken(void **state)
{
	struct toy t = {0};
	char path[64], moved[72];
	struct door *d;
	int fd;

	(void)state;
	scratch_path(path, sizeof(path));
	snprintf(moved, sizeof(moved), "%s.old", path);
	d = door(&t, path);
	assert_no_door(path, -TALLY_EBUSY, "another server listens");
	assert_int_equal(rename(path, moved), 0);
	d->op->close(d);
	assert_int_equal(rename(moved, path), 0); /* as kill -9 leaves it */
	assert_int_equal(raw_connect(path), -1);
	d = door(&t, path);
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
	assert_no_door(longer, -TALLY_EINVAL, "1 to 107 bytes");
	assert_no_door("", -TALLY_EINVAL, "1 to 107 bytes");
	assert_no_door("/nowhere/at/all", -TALLY_EIO, "/nowhere/at/all");
	scratch_path(path, sizeof(path));
	fd = creat(path, 0600);
	close(fd);
	assert_no_door(path, -TALLY_EIO, "is no socket");
	assert_int_equal(unlink(path), 0);
	scratch_gone(path);
}

static void what_another_made_at_the_path_is_left(void **state)
{
	struct toy t = {0};
	char path[64];
	struct door *d;

	(void)state;
	scratch_path(path, sizeof(path));
	d = door(&t, path);
	assert_int_equal(unlink(path), 0);
	close(creat(path, 0600));
	d->op->close(d);
	assert_int_equal(unlink(path), 0);
	scratch_gone(path);
}

static void serve(struct door *d)
{
	struct err e = {0};

	if (d->op->serve(d, &e) < 0 || d->op->passed(d, &e) < 0)
		fail_msg("%s", e.text);
}

/* One frame; serves until it is there. Returns its status, or -1 when the server hung up. */
static int raw_answer(struct door *d, int fd, struct local_head *h, char *words, size_t room)
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

static int raw_hello(struct door *d, const char *path)
{
	struct script s = {.n = 0};
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
	struct toy t = {0};
	char path[64], words[600];
	struct local_head h;
	struct door *d;

	(void)state;
	scratch_path(path, sizeof(path));
	d = door(&t, path);
	for (int i = 0; i < LOCAL_CLIENTS; i++)
		fd[i] = raw_hello(d, path);
	more = raw_connect(path);
	assert_int_equal(raw_answer(d, more, &h, words, sizeof(words)), local_status(-TALLY_EBUSY));
	assert_non_null(strstr(words, "all the clients"));
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

static int as_somebody_else(const char *path)
{
	struct local_client *c = NULL;
	struct err e = {0};
	int rc;

	if (setgid(65534) || setuid(65534))
		return 99;
	rc = local_connect(&c, path, 0, 0, &e);
	return rc == -TALLY_EPERM && strstr(e.text, "only the user") ? 0 : 1;
}

static void another_user_is_refused_even_where_the_mode_would_let_him_in(void **state)
{
	struct toy t = {0};
	struct server s = {0};
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
	s.door = door(&t, path);
	assert_int_equal(chmod(path, 0666) | chmod(dir, 0755), 0);
	server_start(&s);
	pid = fork();
	if (pid == 0)
		_exit(as_somebody_else(path));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	server_end(&s);
	scratch_gone(path);
}

static void garbage_harms_nobody_else(void **state)
{
	const uint64_t v[2] = {40, 2};
	struct script s = {.n = 0};
	uint8_t noise[5000];
	struct toy t = {0};
	char path[64], words[600];
	struct local_head h;
	struct door *d;
	int good;

	(void)state;
	scratch_path(path, sizeof(path));
	d = door(&t, path);
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
	const uint64_t v[2] = {40, 2};
	struct script flood = {.n = 0}, s = {.n = 0};
	struct toy t = {0};
	char path[64], words[600];
	struct local_head h;
	struct door *d;
	int bad, good;
	long live;

	(void)state;
	scratch_path(path, sizeof(path));
	d = door(&t, path);
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
	struct toy t = {0};
	struct server s = {0};
	struct local_client *c = NULL;
	struct local_answer a;
	struct err e = {0};
	char path[64];
	int ready[2], status;
	pid_t pid;

	(void)state;
	scratch_path(path, sizeof(path));
	s.door = door(&t, path);
	server_start(&s);
	assert_int_equal(pipe(ready), 0);
	pid = fork();
	if (pid == 0) {
		uint64_t id;
		char byte = !local_connect(&c, path, 0, 0, &e) && local_ask(c, WAIT, NULL, 0, &id, &e) == 1 &&
			    local_next(c, &a, 0, &e) == 0;

		(void)!write(ready[1], &byte, 1);
		pause();
	}
	char byte = 0;
	assert_int_equal(read(ready[0], &byte, 1), 1);
	assert_int_equal(byte, 1);
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(local_connect(&c, path, 0, 0, &e), 0);
	assert_int_equal(local_ask_and_wait(c, RELEASE, NULL, 0, &a, NULL, &e), 0);
	local_disconnect(c);
	close(ready[0]);
	close(ready[1]);
	server_end(&s);
	assert_int_equal(t.gone, 2);
	assert_null(t.waiting);
	scratch_gone(path);
}

static void ten_thousand_connections_leave_nothing(void **state)
{
	struct toy t = {0};
	char path[64];
	struct door *d;
	long live;
	int n;

	(void)state;
	scratch_path(path, sizeof(path));
	d = door(&t, path);
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
	struct pollfd p = {.events = POLLIN};
	struct toy t = {0};
	struct err e = {0};
	char path[64];
	struct door *d;
	int fd;

	(void)state;
	scratch_path(path, sizeof(path));
	d = door(&t, path);
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

/* ---- the client -------------------------------------------------------------------------------------------- */

static void where_nobody_listens_the_words_say_how_to_begin(void **state)
{
	struct local_client *c = NULL;
	struct err e = {0};

	(void)state;
	assert_int_equal(local_connect(&c, "/nowhere/s", 0, 0, &e), -TALLY_EIO);
	assert_string_equal(e.text, "nobody listens at /nowhere/s; start 'tally machine MACHINE --listen /nowhere/s'");
	assert_null(c);
}

static void a_batch_is_answered_in_order(void **state)
{
	enum { N = 100000 };
	struct toy t = {0};
	struct server s = {0};
	struct local_client *c = NULL;
	struct local_answer a;
	struct err e = {0};
	uint64_t id, taken = 0, asked = 0, word;
	char path[64];
	int rc = 1;

	(void)state;
	scratch_path(path, sizeof(path));
	s.door = door(&t, path);
	server_start(&s);
	assert_int_equal(local_connect(&c, path, 0, 0, &e), 0);
	while (taken < N) {
		while (asked < N && (rc = local_ask(c, LOCAL_PING, &asked, sizeof(asked), &id, &e)) == 1)
			asked++;
		assert_true(rc >= 0);
		/* Answers wait here when ask() says 0, and then there are many. */
		for (uint64_t before = taken; taken < asked && (taken - before < 1000 || asked == N); taken++) {
			assert_int_equal(local_next(c, &a, -1, &e), 1);
			memcpy(&word, a.p, sizeof(word));
			assert_int_equal(word, taken);
		}
	}
	local_disconnect(c);
	server_end(&s);
	scratch_gone(path);
}

static void answers_that_are_longer_than_their_room_all_come(void **state)
{
	struct toy t = {0};
	struct server s = {0};
	struct local_client *c = NULL;
	struct local_answer a;
	struct err e = {0};
	char path[64];
	uint64_t id;

	(void)state;
	scratch_path(path, sizeof(path));
	s.door = door(&t, path);
	server_start(&s);
	assert_int_equal(local_connect(&c, path, 0, 0, &e), 0);
	for (int depth = 1; depth <= 512; depth *= 2) {
		for (int i = 0; i < depth; i++)
			assert_int_equal(local_ask(c, LONG, NULL, 0, &id, &e), 1);
		for (int i = 0; i < depth; i++) {
			assert_int_equal(local_next(c, &a, -1, &e), 1);
			assert_int_equal(a.head.id, id - (uint64_t)(depth - 1 - i));
			assert_int_equal(a.head.bytes, LOCAL_FRAME_MOST);
		}
	}
	local_disconnect(c);
	server_end(&s);
	scratch_gone(path);
}

static void descriptors_that_come_along_are_dropped(void **state)
{
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(sizeof(int))];
	} along = {.head = {CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS}};
	const uint64_t word = 5;
	struct script s = {.n = 0};
	struct iovec io = {s.p, 0};
	struct msghdr m = {.msg_iov = &io, .msg_iovlen = 1, .msg_control = &along, .msg_controllen = sizeof(along)};
	struct toy t = {0};
	struct local_head h;
	char path[64], words[64];
	struct door *d;
	int fd, n;

	(void)state;
	scratch_path(path, sizeof(path));
	d = door(&t, path);
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

static void a_refusal_comes_with_the_servers_words(void **state)
{
	struct toy t = {0};
	struct server s = {0};
	struct local_client *c = NULL;
	struct local_answer a;
	const uint64_t v[2] = {UINT64_MAX, 1};
	struct err e = {0};
	char path[64];

	(void)state;
	scratch_path(path, sizeof(path));
	s.door = door(&t, path);
	server_start(&s);
	assert_int_equal(local_connect(&c, path, 0, 0, &e), 0);
	assert_string_equal(local_welcomed(c)->platform, "toy");
	assert_int_equal(local_ask_and_wait(c, ADD, v, sizeof(v), &a, NULL, &e), -TALLY_EINVAL);
	assert_non_null(strstr(e.text, "s: 18446744073709551615 and 1 are too much"));
	assert_int_equal(strncmp(e.text, "unix:/tmp/", 10), 0);
	local_disconnect(c);
	server_end(&s);
	scratch_gone(path);
}

static void a_server_that_dies_is_the_end(void **state)
{
	struct toy t = {0};
	struct server s = {0};
	struct local_client *c = NULL;
	struct local_answer a;
	struct err e = {0};
	char path[64];

	(void)state;
	scratch_path(path, sizeof(path));
	s.door = door(&t, path);
	server_start(&s);
	assert_int_equal(local_connect(&c, path, 0, 0, &e), 0);
	server_end(&s);
	assert_int_equal(local_ask_and_wait(c, RELEASE, NULL, 0, &a, NULL, &e), -TALLY_EEND);
	assert_non_null(strstr(e.text, "the server has gone"));
	local_disconnect(c);
	scratch_gone(path);
}

static void a_server_that_says_nothing_is_not_waited_for_without_end(void **state)
{
	struct local_client *c = NULL;
	struct err e = {0};
	int fd[2];

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fd), 0);
	assert_int_equal(local_adopt(&c, fd[0], "unix:/silent", 0, 1, &e), -TALLY_EIO);
	assert_string_equal(e.text, "unix:/silent: no answer in 1 ms");
	close(fd[1]);
}

static void assert_client_refuses(const void *p, size_t n, int rc, const char *words)
{
	struct local_client *c = NULL;
	struct err e = {0};
	int fd[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fd), 0);
	assert_int_equal(write(fd[1], p, n), n);
	shutdown(fd[1], SHUT_WR);
	assert_int_equal(local_adopt(&c, fd[0], "unix:/odd", 0, 0, &e), rc);
	if (!strstr(e.text, words))
		fail_msg("\"%s\" lacks \"%s\"", e.text, words);
	close(fd[1]);
}

static void a_server_of_another_protocol_is_refused(void **state)
{
	struct script s = {.n = 0};
	struct local_welcome w = {.version = 3};

	(void)state;
	assert_client_refuses("HTTP/1.1 400 Bad Request\r\n", 26, -TALLY_ECORRUPT, "no server of this protocol");
	assert_client_refuses("", 0, -TALLY_EEND, "gone");
	put(&s, LOCAL_PING, 0, NULL, 0);
	assert_client_refuses(s.p, s.n, -TALLY_ECORRUPT, "not asked");
	s.n = 0;
	put(&s, LOCAL_HELLO, 0, NULL, 0);
	assert_client_refuses(s.p, s.n, -TALLY_ECORRUPT, "welcome");
	s.n = 0;
	put(&s, LOCAL_HELLO, 0, &w, sizeof(w));
	assert_client_refuses(s.p, s.n, -TALLY_ENOTSUP, "version 3");
	s.n = 0;
	put(&s, LOCAL_HELLO, 0, "\033[2Jno\n", 7);
	s.p[6] = 4;
	assert_client_refuses(s.p, s.n, -TALLY_EPERM, "unix:/odd: ?[2Jno?");
}

static void every_failing_allocation_is_told(void **state)
{
	const long live = mem_live();
	char path[64];

	(void)state;
	scratch_path(path, sizeof(path));
	for (long n = 1;; n++) {
		struct toy t = {0};
		struct server s = {0};
		struct local_client *c = NULL;
		struct err e = {0};

		mem_fail_at(n);
		int rc = door_local(&s.door, &toy_service, &t, path, &e);
		if (rc == 0) {
			server_start(&s);
			rc = local_connect(&c, path, 0, 0, &e);
			local_disconnect(c);
			server_end(&s);
		}
		assert_int_equal(mem_live(), live);
		if (!mem_failed()) {
			assert_int_equal(rc, 0);
			break;
		}
		assert_int_equal(rc, -TALLY_ENOMEM);
	}
	mem_fail_at(0);
	scratch_gone(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hello_gets_version_rights_and_platform),
		cmocka_unit_test(anything_before_hello_ends_the_conversation),
		cmocka_unit_test(a_hello_of_another_protocol_or_version_ends_the_conversation),
		cmocka_unit_test(a_length_that_cannot_be_ends_the_conversation),
		cmocka_unit_test(other_mistakes_get_words_and_the_conversation_goes_on),
		cmocka_unit_test(frames_cut_anywhere_are_answered_alike),
		cmocka_unit_test(a_client_that_does_not_read_is_not_read),
		cmocka_unit_test(what_was_put_off_is_answered_when_it_is_there),
		cmocka_unit_test(what_was_put_off_waits_for_room),
		cmocka_unit_test(every_status_is_an_error_and_back),
		cmocka_unit_test(a_socket_is_for_its_user_and_goes_with_its_server),
		cmocka_unit_test(a_living_servers_path_is_refused_and_a_dead_ones_taken),
		cmocka_unit_test(a_path_that_is_no_place_for_a_socket_is_refused),
		cmocka_unit_test(what_another_made_at_the_path_is_left),
		cmocka_unit_test(one_client_too_many_is_told_so_and_another_may_come_when_one_went),
		cmocka_unit_test(another_user_is_refused_even_where_the_mode_would_let_him_in),
		cmocka_unit_test(garbage_harms_nobody_else),
		cmocka_unit_test(a_client_that_floods_and_never_reads_stops_nobody),
		cmocka_unit_test(killed_clients_are_cleared_away),
		cmocka_unit_test(ten_thousand_connections_leave_nothing),
		cmocka_unit_test(a_server_without_descriptors_lets_the_next_in_when_there_are_some),
		cmocka_unit_test(where_nobody_listens_the_words_say_how_to_begin),
		cmocka_unit_test(a_batch_is_answered_in_order),
		cmocka_unit_test(answers_that_are_longer_than_their_room_all_come),
		cmocka_unit_test(descriptors_that_come_along_are_dropped),
		cmocka_unit_test(a_refusal_comes_with_the_servers_words),
		cmocka_unit_test(a_server_that_dies_is_the_end),
		cmocka_unit_test(a_server_that_says_nothing_is_not_waited_for_without_end),
		cmocka_unit_test(a_server_of_another_protocol_is_refused),
		cmocka_unit_test(every_failing_allocation_is_told),
	};

	return cmocka_run_group_tests_name("attach: local", tests, NULL, NULL);
}
