/*
 * local_client.c: the asking end of the local protocol.
 *
 * Requests gather in a batch that goes out in one write; answers are read as
 * many as there are and handed over one by one.  Neither buffer grows.  While a
 * full batch can't be sent, answers are read; when these have filled
 * their buffer too, the caller has to take some: so a client that asks
 * without taking can't stall both ends for good.
 *
 * Whoever wants to end is not held by a server that does not answer: once *stop is set, or an answer has not come in
 * its time, all that this client still asks has LAST_MS of silence together.  Time in which the server says something
 * does not count: what a trace has left may take longer than that to come.
 *
 * What the server says is checked as if it were a stranger's: lengths, statuses, and no word of
 * it reaches a terminal with a control character in it.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "attach/local.h"

#define IN_BYTES (4 * LOCAL_FRAME_MOST)
#define OUT_BYTES LOCAL_FRAME_MOST
#define ANSWER_MS 10000
#define LAST_MS 2000
#define TURN_MS 50 /* bounds how long *stop is unseen */

struct local_client {
	int fd;
	struct local_wait wait; /* with its defaults */
	bool ending;            /* the last silence has begun */
	int64_t last_ms;        /* what is left of it */
	bool unanswered;        /* an answer did not come in its time */
	int enclosed;           /* goes with the next byte that is sent; -1: nothing does */
	bool deaf;              /* what is sent reaches nobody; there may still be something to read */
	uint64_t id;
	struct local_welcome welcome;
	uint32_t in_at, in_n, out_at, out_n;
	char name[128];
	uint8_t in[IN_BYTES], out[OUT_BYTES];
};

const struct local_welcome *local_welcomed(const struct local_client *c)
{
	return &c->welcome;
}

const char *local_client_name(const struct local_client *c)
{
	return c->name;
}

/* ---- the socket ---------------------------------------------------------------------------------- */

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * INT64_C(1000) + t.tv_nsec / 1000000;
}

static int socket_failed(const struct local_client *c, struct err *e)
{
	if (errno == ECONNRESET || errno == EPIPE)
		return err_set(e, TALLY_EEND, "%s: the server has gone", c->name);
	return err_set(e, TALLY_EIO, "%s: %s", c->name, strerror(errno));
}

void local_enclose(struct local_client *c, int fd)
{
	assert(c->out_n == 0);
	c->enclosed = fd;
}

static ssize_t send_enclosed(struct local_client *c, const uint8_t *p, size_t n)
{
	union {
		struct cmsghdr head;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = { .head = { CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS } };
	struct iovec v = { (void *)(uintptr_t)p, n };
	struct msghdr m = {
		.msg_iov = &v, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control)
	};
	ssize_t sent;

	memcpy(CMSG_DATA(&control.head), &c->enclosed, sizeof(int));
	sent = sendmsg(c->fd, &m, MSG_DONTWAIT | MSG_NOSIGNAL);
	if (sent > 0)
		c->enclosed = -1;
	return sent;
}

static ssize_t send_bytes(struct local_client *c, const uint8_t *p, size_t n)
{
	return c->enclosed >= 0 ? send_enclosed(c, p, n) : send(c->fd, p, n, MSG_DONTWAIT | MSG_NOSIGNAL);
}

/* As much of the batch as the socket takes. A server that has hung up may have said why: that is still to be read. */
static int send_some(struct local_client *c, struct err *e)
{
	while (c->out_at < c->out_n && !c->deaf) {
		ssize_t n = send_bytes(c, c->out + c->out_at, c->out_n - c->out_at);

		if (n >= 0)
			c->out_at += (uint32_t)n;
		else if (errno == EPIPE || errno == ECONNRESET)
			c->deaf = true;
		else if (errno == EAGAIN)
			return 0;
		else if (errno != EINTR)
			return socket_failed(c, e);
	}
	c->out_at = c->out_n = 0;
	return 0;
}

static uint32_t in_room(struct local_client *c)
{
	if (c->in_at && IN_BYTES - c->in_n < LOCAL_FRAME_MOST) {
		memmove(c->in, c->in + c->in_at, c->in_n - c->in_at);
		c->in_n -= c->in_at;
		c->in_at = 0;
	}
	return IN_BYTES - c->in_n;
}

/* 1: something came; 0: nothing is there. */
static int receive_some(struct local_client *c, struct err *e)
{
	ssize_t n;

	do
		n = recv(c->fd, c->in + c->in_n, in_room(c), MSG_DONTWAIT);
	while (n < 0 && errno == EINTR);
	if (n == 0)
		return err_set(e, TALLY_EEND, "%s: the server has gone", c->name);
	if (n < 0)
		return errno == EAGAIN ? 0 : socket_failed(c, e);
	c->in_n += (uint32_t)n;
	return 1;
}

static void client_begin_to_end(struct local_client *c)
{
	if (!c->ending)
		c->last_ms = c->wait.last_ms;
	c->ending = true;
}

static bool client_has_ended(const struct local_client *c)
{
	return c->ending && c->last_ms <= 0;
}

/* 1: ready; 0: not in timeout_ms, or not in what is left of the last silence. */
static int client_poll(struct local_client *c, struct pollfd *p, int timeout_ms, struct err *e)
{
	int64_t left = timeout_ms, now = now_ms();

	for (;;) {
		int64_t began = now, turn_ms = left < TURN_MS || (!c->wait.stop && !c->ending) ? left : TURN_MS;
		int rc;

		if (c->wait.stop && *c->wait.stop)
			client_begin_to_end(c);
		if (c->ending && turn_ms > c->last_ms)
			turn_ms = c->last_ms;
		rc = poll(p, 1, (int)turn_ms);
		if (rc > 0 || (rc < 0 && errno != EINTR))
			return rc < 0 ? socket_failed(c, e) : 1;
		now = now_ms();
		if (c->ending)
			c->last_ms = c->last_ms > now - began ? c->last_ms - (now - began) : 0;
		left -= now - began;
		if (left <= 0 || client_has_ended(c))
			return 0;
	}
}

/* Nothing came: the words. Whatever is asked from now on has the last silence only. */
static int client_unanswered(struct local_client *c, const char *what, struct err *e)
{
	if (client_has_ended(c) && !c->unanswered)
		return err_set(e, TALLY_EIO, "%s: no answer in the last %d ms before the end", c->name,
			       c->wait.last_ms);
	client_begin_to_end(c);
	c->unanswered = true;
	return err_set(e, TALLY_EIO, "%s: %s %d ms", c->name, what, c->wait.answer_ms);
}

/* Sends and receives, or waits until one of them goes. 1: one went; 0: none did in timeout_ms. */
static int client_turn(struct local_client *c, int timeout_ms, struct err *e)
{
	const uint32_t before = c->out_n - c->out_at;
	struct pollfd p = { .fd = c->fd };
	int rc = send_some(c, e);

	if (rc < 0)
		return rc;
	if (before != c->out_n - c->out_at)
		return 1;
	p.events = (short)((in_room(c) ? POLLIN : 0) | (c->out_n ? POLLOUT : 0));
	if (timeout_ms) {
		rc = client_poll(c, &p, timeout_ms, e);
		if (rc <= 0)
			return rc;
	}
	rc = in_room(c) ? receive_some(c, e) : 0;
	return rc || !(p.revents & POLLOUT) ? rc : 1;
}

/* ---- frames --------------------------------------------------------------------------------------- */

/* The next whole frame of what came: 1, or 0. */
static int client_take_frame(struct local_client *c, struct local_answer *a, struct err *e)
{
	const uint8_t *p = c->in + c->in_at;
	const uint32_t n = c->in_n - c->in_at;

	if (c->in_at == c->in_n)
		c->in_at = c->in_n = 0;
	if (n < sizeof(a->head))
		return 0;
	memcpy(&a->head, p, sizeof(a->head));
	if (a->head.bytes < sizeof(a->head) || a->head.bytes > LOCAL_FRAME_MOST)
		return err_set(e, TALLY_ECORRUPT, "%s: invalid frame length %u: not a tally server", c->name,
			       a->head.bytes);
	if (a->head.bytes > n)
		return 0;
	a->p = p + sizeof(a->head);
	c->in_at += a->head.bytes;
	return 1;
}

static int wait_for_frame(struct local_client *c, struct local_answer *a, int timeout_ms, struct err *e)
{
	const int64_t until = now_ms() + timeout_ms;
	int rc = 0;

	while (rc == 0) {
		const int64_t left = until - now_ms();
		int moved = client_turn(c, left > 0 ? (int)left : 0, e);

		if (moved < 0)
			return moved;
		rc = client_take_frame(c, a, e);
		if (moved == 0 && (left <= 0 || client_has_ended(c)))
			break;
	}
	return rc;
}

int local_next(struct local_client *c, struct local_answer *a, int timeout_ms, struct err *e)
{
	int rc = c->out_n ? send_some(c, e) : 0;

	if (rc < 0 || (rc = client_take_frame(c, a, e)) != 0)
		return rc;
	rc = wait_for_frame(c, a, timeout_ms < 0 ? c->wait.answer_ms : timeout_ms, e);
	if (rc == 0 && timeout_ms < 0)
		return client_unanswered(c, "no answer in", e);
	return rc;
}

int local_ask(struct local_client *c, uint16_t op, const void *p, size_t n, uint64_t *id, struct err *e)
{
	const struct local_head h = { (uint32_t)(sizeof(h) + n), op, 0, c->id };

	assert(n <= LOCAL_PAYLOAD_MOST);
	while (OUT_BYTES - c->out_n < h.bytes) {
		int rc = client_turn(c, in_room(c) ? c->wait.answer_ms : 0, e);

		if (rc < 0)
			return rc;
		if (rc == 0 && in_room(c))
			return client_unanswered(c, "it took nothing for", e);
		if (rc == 0)
			return 0;
	}
	memcpy(c->out + c->out_n, &h, sizeof(h));
	if (n)
		memcpy(c->out + c->out_n + sizeof(h), p, n);
	c->out_n += h.bytes;
	*id = c->id++;
	return 1;
}

int local_check(const struct local_client *c, const struct local_answer *a, struct err *e)
{
	char words[LOCAL_WORDS_MOST + 1];
	size_t n = a->head.bytes - sizeof(a->head);

	if (a->head.status == 0)
		return 0;
	n = n < LOCAL_WORDS_MOST ? n : LOCAL_WORDS_MOST;
	for (size_t i = 0; i < n; i++)
		words[i] = (char)(a->p[i] < ' ' || a->p[i] == 0x7f ? '?' : a->p[i]);
	words[n] = '\0';
	return err_set(e, (enum tally_err) - local_error(a->head.status), "%s: %s", c->name, words);
}

int local_ask_and_wait(struct local_client *c, uint16_t op, const void *p, size_t n, struct local_answer *a,
		       const struct local_other *other, struct err *e)
{
	uint64_t id;
	int rc = local_ask(c, op, p, n, &id, e);

	if (rc == 0)
		return err_set(e, TALLY_ESTATE, "%s: earlier answers have not been read", c->name);
	while (rc > 0 && (rc = local_next(c, a, -1, e)) > 0) {
		if (a->head.id == id && a->head.op == op)
			return local_check(c, a, e);
		if (!other)
			return err_set(e, TALLY_ECORRUPT, "%s: answer to an unknown request", c->name);
		other->take(other->arg, a);
	}
	return rc;
}

/* ---- connecting ------------------------------------------------------------------------------------- */

void local_disconnect(struct local_client *c)
{
	if (!c)
		return;
	close(c->fd);
	mem_free(c);
}

static int client_say_hello(struct local_client *c, uint32_t rights, struct err *e)
{
	const struct local_hello hello = { LOCAL_MAGIC, LOCAL_VERSION, rights };
	struct local_answer a;
	struct err why = { 0 };
	int rc = local_ask_and_wait(c, LOCAL_HELLO, &hello, sizeof(hello), &a, NULL, &why);

	if (rc == -TALLY_EEND)
		return err_set(e, TALLY_EEND,
			       "%s: the server closed the connection at HELLO: it speaks another "
			       "protocol, e.g. that of a --vfio-user socket, or it has ended",
			       c->name);
	if (rc < 0)
		return err_set(e, (enum tally_err) - rc, "%s", why.text);
	if (a.head.bytes != sizeof(a.head) + sizeof(c->welcome))
		return err_set(e, TALLY_ECORRUPT, "%s: invalid WELCOME of %u bytes", c->name, a.head.bytes);
	memcpy(&c->welcome, a.p, sizeof(c->welcome));
	c->welcome.platform[sizeof(c->welcome.platform) - 1] = '\0';
	if (c->welcome.version != LOCAL_VERSION)
		return err_set(e, TALLY_ENOTSUP, "%s: the server speaks protocol version %u, not %u", c->name,
			       c->welcome.version, LOCAL_VERSION);
	return 0;
}

static struct local_wait wait_or_default(const struct local_wait *w)
{
	struct local_wait ret = w ? *w : (struct local_wait){ 0 };

	if (!ret.answer_ms)
		ret.answer_ms = ANSWER_MS;
	if (!ret.last_ms)
		ret.last_ms = LAST_MS;
	return ret;
}

int local_adopt(struct local_client **ret, int fd, const char *name, uint32_t rights, const struct local_wait *w,
		struct err *e)
{
	struct local_client *c = mem_alloc(sizeof(*c));
	int rc;

	if (!c) {
		close(fd);
		return err_oom(e);
	}
	c->fd = fd;
	c->enclosed = -1;
	c->wait = wait_or_default(w);
	snprintf(c->name, sizeof(c->name), "%s", name);
	rc = client_say_hello(c, rights, e);
	if (rc < 0)
		local_disconnect(c);
	else
		*ret = c;
	return rc;
}

static int client_refuse_nobody(const char *path, struct err *e)
{
	switch (errno) {
	case ENOENT:
	case ECONNREFUSED:
		return err_set(e, TALLY_EIO, "no server at %s; start 'tally machine MACHINE --listen %s'", path, path);
	case EACCES:
	case EPERM:
		return err_set(e, TALLY_EPERM, "%s: %s; only root and the user that runs the server can connect", path,
			       strerror(errno));
	case EAGAIN:
		return err_set(e, TALLY_EIO, "%s: the server accepts no connections now; try again", path);
	default:
		return err_set(e, TALLY_EIO, "%s: %s", path, strerror(errno));
	}
}

int local_connect(struct local_client **ret, const char *path, uint32_t rights, const struct local_wait *w,
		  struct err *e)
{
	const int ms = wait_or_default(w).answer_ms;
	const struct timeval patience = { ms / 1000, ms % 1000 * 1000 };
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	char name[sizeof(at.sun_path) + 8];
	int fd, rc;

	if (!*path || strlen(path) >= sizeof(at.sun_path))
		return err_set(e, TALLY_EINVAL, "invalid socket path '%s' (1 to %zu bytes)", path,
			       sizeof(at.sun_path) - 1);
	strcpy(at.sun_path, path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return err_set(e, TALLY_EIO, "%s: %s", path, strerror(errno));
	/* connect() waits while the server has too many at its socket. */
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	if (connect(fd, (const struct sockaddr *)&at, sizeof(at)) < 0) {
		rc = client_refuse_nobody(path, e);
		close(fd);
		return rc;
	}
	snprintf(name, sizeof(name), "unix:%s", path);
	return local_adopt(ret, fd, name, rights, w, e);
}
