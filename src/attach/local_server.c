/*
 * local_server.c: the socket of the local protocol, and its clients.
 *
 * One epoll descriptor holds the listening socket and every client; serve()
 * reads what is there, lets the conversation answer, and writes all the answers at
 * once.  Nothing blocks: a client that doesn't read gets no more than the socket
 * takes and is asked again when it does; one that sends without end gets its
 * share of a call and then the others have theirs.
 *
 * Who may come in: the user that runs the server, and root.  The socket is made
 * with mode 0600 (server_path.c), and the user of each client is checked all the same,
 * since a mode can be changed.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "attach/attach.h"
#include "attach/local.h"
#include "attach/server_path_int.h"

#define ACCEPTS 16 /* of one serve() */
#define ROUNDS 8   /* reads of one client in one serve() */

struct client {
	int fd; /* -1: free */
	uint32_t events;
	struct local_peer *peer;
};
struct local_server {
	struct server server;
	const struct local_service *s;
	void *service;
	int epoll, listener;
	bool muted; /* no descriptor was left for the next client: asked again when time has passed */
	struct server_path path;
	struct client client[LOCAL_CLIENTS];
};

/* ---- a client ------------------------------------------------------------------------------------ */

static void client_drop(struct client *c)
{
	local_peer_close(c->peer);
	close(c->fd);
	*c = (struct client){ .fd = -1 };
}

/* Sends what is to be sent. False: nobody is there. */
static bool client_send(struct client *c)
{
	const uint8_t *p;
	size_t n;

	while (p = local_peer_out(c->peer, &n), n) {
		ssize_t sent = send(c->fd, p, n, MSG_DONTWAIT | MSG_NOSIGNAL);

		if (sent < 0 && errno == EINTR)
			continue;
		if (sent < 0)
			return errno == EAGAIN;
		local_peer_sent(c->peer, (size_t)sent);
	}
	return true;
}

/* Waits for what can be done: reading while there is room, writing while there is something or would be. */
static void client_arm(struct local_server *d, struct client *c)
{
	struct epoll_event ev = { .data.u32 = (uint32_t)(c - d->client) };
	size_t n;

	local_peer_room(c->peer, &n);
	ev.events = n ? EPOLLIN : 0;
	local_peer_out(c->peer, &n);
	ev.events |= n || local_peer_full(c->peer) ? EPOLLOUT : 0;
	if (ev.events != c->events && epoll_ctl(d->epoll, EPOLL_CTL_MOD, c->fd, &ev) == 0)
		c->events = ev.events;
}

/* As recv(); a descriptor that came along is the peer's then. Of several the first: alignment lets more of them through
 * than there is room for, so the others are closed here, or dropped by the kernel. */
static ssize_t local_server_receive_bytes(struct client *c, uint8_t *p, size_t room)
{
	union {
		struct cmsghdr head;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec v = { p, room };
	struct msghdr m = {
		.msg_iov = &v, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control)
	};
	ssize_t got = recvmsg(c->fd, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	struct cmsghdr *h = got >= 0 ? CMSG_FIRSTHDR(&m) : NULL;
	bool gave = false;
	size_t at;
	int fd;

	for (; h; h = CMSG_NXTHDR(&m, h)) {
		if (h->cmsg_level != SOL_SOCKET || h->cmsg_type != SCM_RIGHTS)
			continue;
		for (at = 0; CMSG_LEN(at + sizeof(fd)) <= h->cmsg_len; at += sizeof(fd)) {
			memcpy(&fd, CMSG_DATA(h) + at, sizeof(fd));
			if (gave)
				close(fd);
			else
				local_peer_gave(c->peer, fd);
			gave = true;
		}
	}
	return got;
}

/* One read, its answers, one write. 1: there may be more to do; 0: not now; -1: the client is gone, or is to go. */
static int client_round(const struct local_server *d, struct client *c)
{
	size_t room, left;
	uint8_t *p = local_peer_room(c->peer, &room);
	ssize_t got = !room           ? -1 :
		      d->s->takes_fds ? local_server_receive_bytes(c, p, room) :
					recv(c->fd, p, room, MSG_DONTWAIT);
	bool none = !room || (got < 0 && (errno == EAGAIN || errno == EINTR));

	if (got < 0 && !none)
		return -1;
	local_peer_came(c->peer, got > 0 ? (size_t)got : 0);
	if (!client_send(c) || local_peer_over(c->peer) || (got == 0 && room))
		return -1;
	local_peer_out(c->peer, &left);
	return (got > 0 && (size_t)got == room) || (left == 0 && local_peer_full(c->peer));
}

static void client_serve(struct local_server *d, struct client *c)
{
	int rc = 1;

	for (int i = 0; i < ROUNDS && rc > 0; i++)
		rc = client_round(d, c);
	if (rc < 0)
		client_drop(c);
	else
		client_arm(d, c);
}

/* ---- who comes in -------------------------------------------------------------------------------- */

static void local_server_refuse_client(int fd, enum tally_err code, const char *words)
{
	uint8_t frame[sizeof(struct local_head) + LOCAL_WORDS_MOST];
	size_t n = local_refusal(frame, code, words);

	/* It may be gone already: nothing is lost then. */
	(void)!send(fd, frame, n, MSG_DONTWAIT | MSG_NOSIGNAL);
	close(fd);
}

static bool may_come_in(int fd)
{
	struct ucred who;
	socklen_t n = sizeof(who);

	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &n) == 0 && (who.uid == 0 || who.uid == geteuid());
}

static void local_server_admit_client(struct local_server *d, int fd)
{
	struct epoll_event ev = { .events = EPOLLIN };
	struct client *c = d->client;

	if (!may_come_in(fd)) {
		local_server_refuse_client(fd, TALLY_EPERM, "only root and the user that runs the server can connect");
		return;
	}
	while (c < d->client + LOCAL_CLIENTS && c->fd >= 0)
		c++;
	if (c == d->client + LOCAL_CLIENTS) {
		local_server_refuse_client(fd, TALLY_EBUSY,
					   "the server has too many clients; try again when one has left");
		return;
	}
	ev.data.u32 = (uint32_t)(c - d->client);
	if (local_peer_open(&c->peer, d->s, d->service) < 0 || epoll_ctl(d->epoll, EPOLL_CTL_ADD, fd, &ev) < 0) {
		local_peer_close(c->peer);
		c->peer = NULL;
		local_server_refuse_client(fd, TALLY_ENOMEM, "the server is out of memory");
		return;
	}
	c->fd = fd;
	c->events = ev.events;
}

static void listener_arm(struct local_server *d, bool muted)
{
	struct epoll_event ev = { .events = muted ? 0 : EPOLLIN, .data.u32 = LOCAL_CLIENTS };

	if (epoll_ctl(d->epoll, EPOLL_CTL_MOD, d->listener, &ev) == 0)
		d->muted = muted;
}

static int admit_all(struct local_server *d, struct err *e)
{
	for (int i = 0; i < ACCEPTS; i++) {
		int fd = accept4(d->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

		if (fd >= 0)
			local_server_admit_client(d, fd);
		else if (errno == EAGAIN)
			return 0;
		else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)
			return listener_arm(d, true), 0;
		else if (errno != EINTR)
			return err_set(e, TALLY_EIO, "%s: %s", d->path.at.sun_path, strerror(errno));
	}
	return 0;
}

/* ---- the server ------------------------------------------------------------------------------------ */

static int local_fd(struct server *server)
{
	return ((struct local_server *)server)->epoll;
}

static int local_serve(struct server *server, struct err *e)
{
	struct local_server *d = (struct local_server *)server;
	struct epoll_event ev[LOCAL_CLIENTS + 1];
	int n = epoll_wait(d->epoll, ev, (int)COUNT(ev), 0), rc = 0;

	if (n < 0 && errno != EINTR)
		return err_set(e, TALLY_EIO, "%s: %s", d->path.at.sun_path, strerror(errno));
	for (int i = 0; i < n && rc == 0; i++) {
		if (ev[i].data.u32 == LOCAL_CLIENTS)
			rc = admit_all(d, e);
		else if (d->client[ev[i].data.u32].fd >= 0)
			client_serve(d, &d->client[ev[i].data.u32]);
	}
	return rc;
}

static int local_passed(struct server *server, struct err *e)
{
	struct local_server *d = (struct local_server *)server;

	(void)e;
	if (d->muted)
		listener_arm(d, false);
	for (struct client *c = d->client; c < d->client + LOCAL_CLIENTS; c++)
		if (c->fd >= 0) {
			/* Something may be there to be sent that nothing was read for. */
			local_peer_came(c->peer, 0);
			if (client_send(c))
				client_arm(d, c);
			else
				client_drop(c);
		}
	return 0;
}

/* A client that waits outside is asked in again when time has passed. */
static bool local_needs_time(const struct server *server)
{
	const struct local_server *d = (const struct local_server *)server;
	bool any = d->muted;

	for (const struct client *c = d->client; c < d->client + LOCAL_CLIENTS; c++)
		any |= c->fd >= 0;
	return any;
}

static void local_close(struct server *server)
{
	struct local_server *d = (struct local_server *)server;

	for (struct client *c = d->client; c < d->client + LOCAL_CLIENTS; c++)
		if (c->fd >= 0)
			client_drop(c);
	if (d->service)
		d->s->close(d->service);
	server_path_remove(&d->path);
	if (d->listener >= 0)
		close(d->listener);
	if (d->epoll >= 0)
		close(d->epoll);
	mem_free(d);
}

static int local_server_start(struct local_server *d, const char *path, struct err *e)
{
	struct epoll_event ev = { .events = EPOLLIN, .data.u32 = LOCAL_CLIENTS };
	int rc = server_path_listen(&d->path, path, LOCAL_CLIENTS, e);

	if (rc < 0)
		return rc;
	d->listener = rc;
	d->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (d->epoll < 0 || epoll_ctl(d->epoll, EPOLL_CTL_ADD, d->listener, &ev) < 0)
		return err_set(e, TALLY_EIO, "%s: %s", path, strerror(errno));
	return 0;
}

static const struct server_ops local_ops = { local_fd, local_serve, local_passed, local_needs_time, NULL, local_close };

int server_open_local(struct server **ret, const struct local_service *s, void *platform, const char *path,
		      struct err *e)
{
	struct local_server *d;
	int rc;

	d = mem_alloc(sizeof(*d));
	if (!d)
		return err_oom(e);
	*d = (struct local_server){ .server.op = &local_ops, .s = s, .epoll = -1, .listener = -1 };
	for (size_t i = 0; i < LOCAL_CLIENTS; i++)
		d->client[i].fd = -1;
	rc = s->open(&d->service, platform, e);
	if (rc == 0)
		rc = local_server_start(d, path, e);
	if (rc < 0)
		local_close(&d->server);
	else
		*ret = &d->server;
	return rc;
}
