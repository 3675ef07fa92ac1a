/*
 * vfio.c: the vfio-user server: a PTT device as a PCI function at a UNIX socket.
 *
 * One client has the device at a time; meanwhile the listening socket is not polled, and other clients wait in its
 * queue. When a client goes, its memory and its interrupt are released and the device is reset, so that a trace of one
 * client never writes into the memory of the next.
 *
 * A message is read in two steps, header and rest, and never beyond its end, since descriptors belong to the message
 * with whose bytes they came. Received bytes are in one buffer of bounded size; while a reply waits for room in the
 * socket, no further message is read.
 */
#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "attach/server_path_int.h"
#include "attach/vfio_int.h"

#define MESSAGES_AT_ONCE 64u /* of one call of vfio_server_serve() */
#define FDS_SEEN 8u          /* that are closed by us; the kernel closes those beyond */

struct incoming {
	uint8_t p[VFIO_MESSAGE_MOST];
	size_t n;
	int fd;
	bool too_many_fds;
};
struct outgoing {
	uint8_t p[VFIO_MESSAGE_MOST];
	size_t n, sent;
};
struct vfio_server {
	struct server server;
	struct ptt_dev *dev;
	int poll, listener, client; /* -1: none */
	struct vfio vfio;           /* of the client */
	struct incoming in;
	struct outgoing out;
	bool muted;   /* no descriptor was left for a client: asked again when time has passed */
	bool writing; /* waits for room in the client's socket, not for messages */
	struct server_path path;
};

/* ---- a client --------------------------------------------------------------------------- */
static int vfio_watch_fd(struct vfio_server *d, int op, int fd, uint32_t events, struct err *e)
{
	struct epoll_event ev = { .events = events, .data.fd = fd };

	if (epoll_ctl(d->poll, op, fd, &ev) < 0)
		return err_set(e, TALLY_EIO, "vfio-user socket '%s': polling it: %s", d->path.at.sun_path,
			       strerror(errno));
	return 0;
}

static void incoming_clear(struct incoming *in)
{
	if (in->fd >= 0)
		close(in->fd);
	in->fd = -1;
	in->n = 0;
	in->too_many_fds = false;
}

static void client_drop(struct vfio_server *d)
{
	if (d->client < 0)
		return;
	vfio_stop(&d->vfio);
	incoming_clear(&d->in);
	close(d->client);
	d->client = -1;
}

static int client_take(struct vfio_server *d, struct err *e)
{
	int fd = accept4(d->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (fd >= 0) {
		int rc;

		d->client = fd;
		d->out.n = d->out.sent = 0;
		d->writing = false;
		vfio_start(&d->vfio, d->dev);
		rc = vfio_watch_fd(d, EPOLL_CTL_DEL, d->listener, 0, e);
		return rc < 0 ? rc : vfio_watch_fd(d, EPOLL_CTL_ADD, fd, EPOLLIN, e);
	}
	if (errno != EMFILE && errno != ENFILE && errno != ENOBUFS && errno != ENOMEM)
		return 0;
	d->muted = true;
	return vfio_watch_fd(d, EPOLL_CTL_MOD, d->listener, 0, e);
}

/* ---- receiving ---------------------------------------------------------------------------- */
static void fd_came(struct incoming *in, int fd)
{
	if (in->fd < 0 && !in->too_many_fds) {
		in->fd = fd;
		return;
	}
	in->too_many_fds = true;
	close(fd);
}

static void fds_came(struct incoming *in, struct msghdr *m)
{
	int fd;

	for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c)) {
		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		for (size_t at = 0; at + sizeof(fd) <= c->cmsg_len - CMSG_LEN(0); at += sizeof(fd)) {
			memcpy(&fd, CMSG_DATA(c) + at, sizeof(fd));
			fd_came(in, fd);
		}
	}
	if (m->msg_flags & MSG_CTRUNC)
		in->too_many_fds = true;
}

static ssize_t vfio_receive_bytes(struct vfio_server *d, size_t n)
{
	_Alignas(struct cmsghdr) uint8_t control[CMSG_SPACE(FDS_SEEN * sizeof(int))];
	struct iovec to = { d->in.p + d->in.n, n };
	struct msghdr m = {
		.msg_iov = &to, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control)
	};
	ssize_t got;

	do
		got = recvmsg(d->client, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	while (got < 0 && errno == EINTR);
	if (got > 0) {
		fds_came(&d->in, &m);
		d->in.n += (size_t)got;
	}
	return got;
}

/* 1: a whole message is here; 0: not yet; -1: the client is gone, or says something that is no message. */
static int vfio_fill_message(struct vfio_server *d)
{
	for (;;) {
		size_t want = sizeof(struct vu_header);
		ssize_t got;

		if (d->in.n >= want && !(want = vfio_message_size(d->in.p)))
			return -1;
		if (d->in.n == want)
			return 1;
		got = vfio_receive_bytes(d, want - d->in.n);
		if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
			return 0;
		if (got <= 0)
			return -1;
	}
}

/* ---- answering ------------------------------------------------------------------------------ */
/* 1: all is sent; 0: there is no room for the rest; -1: the client is gone. */
static int vfio_flush_replies(struct vfio_server *d)
{
	while (d->out.sent < d->out.n) {
		ssize_t n =
			send(d->client, d->out.p + d->out.sent, d->out.n - d->out.sent, MSG_DONTWAIT | MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno == EAGAIN || errno == EWOULDBLOCK ? 0 : -1;
		d->out.sent += (size_t)n;
	}
	return d->vfio.over ? -1 : 1;
}

static void vfio_answer_message(struct vfio_server *d)
{
	struct vfio_message m = { d->in.p, d->in.n, d->in.fd, d->in.too_many_fds };

	d->out.n = vfio_answer(&d->vfio, &m, d->out.p);
	d->out.sent = 0;
	d->in.fd = m.fd;
	incoming_clear(&d->in);
}

/* As many messages as there are, within bounds: 1 or 0: what to wait for, room or messages; -1: the end. */
static int vfio_converse(struct vfio_server *d)
{
	for (uint32_t i = 0; i < MESSAGES_AT_ONCE; i++) {
		int rc = vfio_flush_replies(d);

		if (rc <= 0)
			return rc < 0 ? -1 : 1;
		rc = vfio_fill_message(d);
		if (rc <= 0)
			return rc;
		vfio_answer_message(d);
	}
	return vfio_flush_replies(d) < 0 ? -1 : d->out.sent < d->out.n;
}

static int vfio_server_serve(struct server *server, struct err *e)
{
	struct vfio_server *d = (struct vfio_server *)server;
	int rc = 0;

	if (d->client < 0)
		rc = client_take(d, e);
	if (rc < 0 || d->client < 0)
		return rc;
	rc = vfio_converse(d);
	if (rc < 0) {
		client_drop(d);
		return vfio_watch_fd(d, EPOLL_CTL_ADD, d->listener, EPOLLIN, e);
	}
	if (d->writing == !!rc)
		return 0;
	d->writing = rc;
	return vfio_watch_fd(d, EPOLL_CTL_MOD, d->client, rc ? EPOLLOUT : EPOLLIN, e);
}

/* ---- the server --------------------------------------------------------------------------------- */
static int local_server_fd(struct server *server)
{
	return ((struct vfio_server *)server)->poll;
}

/* Traces and interrupts have gone out while the machine ran: the device calls when there is something. */
static int vfio_server_passed(struct server *server, struct err *e)
{
	struct vfio_server *d = (struct vfio_server *)server;

	if (!d->muted)
		return 0;
	d->muted = false;
	return vfio_watch_fd(d, EPOLL_CTL_MOD, d->listener, EPOLLIN, e);
}

static void local_server_close(struct server *server)
{
	struct vfio_server *d = (struct vfio_server *)server;

	client_drop(d);
	server_path_remove(&d->path);
	if (d->listener >= 0)
		close(d->listener);
	if (d->poll >= 0)
		close(d->poll);
	mem_free(d);
}

/* A client that waits outside is asked in again when time has passed. */
static bool vfio_needs_time(const struct server *server)
{
	const struct vfio_server *d = (const struct vfio_server *)server;

	return d->client >= 0 || d->muted;
}

static const struct server_ops ops = { local_server_fd,   vfio_server_serve, vfio_server_passed, vfio_needs_time, NULL,
				       local_server_close };

int vfio_server_open(struct server **ret, struct ptt_dev *dev, const char *path, struct err *e)
{
	struct vfio_server *d = mem_alloc(sizeof(*d));
	int rc;

	if (!d)
		return err_oom(e);
	d->server.op = &ops;
	d->dev = dev;
	d->listener = d->client = d->in.fd = -1;
	d->poll = epoll_create1(EPOLL_CLOEXEC);
	rc = d->poll < 0 ? err_set(e, TALLY_EIO, "vfio-user socket '%s': %s", path, strerror(errno)) : 0;
	if (rc < 0 || (rc = d->listener = server_path_listen(&d->path, path, SOMAXCONN, e)) < 0 ||
	    (rc = vfio_watch_fd(d, EPOLL_CTL_ADD, d->listener, EPOLLIN, e)) < 0) {
		local_server_close(&d->server);
		return rc;
	}
	*ret = &d->server;
	return 0;
}

int server_open_vfio(struct server **ret, struct kunpeng *k, uint32_t device, const char *path, struct err *e)
{
	if (device >= kunpeng_ndevices(k))
		return err_set(e, TALLY_EINVAL, "no such device: %u (the machine has %u)", device, kunpeng_ndevices(k));
	return vfio_server_open(ret, kunpeng_device(k, device), path, e);
}
