/*
 * lease.c: leases as listening sockets with abstract names.
 *
 *	PREFIX/lock              held while somebody looks and takes: whoever finds it taken waits for its end
 *	PREFIX/trace/0 ...       a slot of each D session
 *	PREFIX/system/0 ...      of who counts whole CPUs (one at a time: /0)
 *	PREFIX/process/0 ...     of each who counts processes
 *
 * To take is to bind a free slot. A TRACE or SYSTEM then connects to every PROCESS and says which of the two it is with
 * one byte; a new PROCESS connects to every TRACE and SYSTEM. Either way there is one connection between the two, and
 * its end is the end of one of them. A connection without that byte is somebody who only looks (lease_list()).
 *
 * Nothing is ever waited for but the lock: who holds it does a few hundred system calls. Everybody's lock is waited for, also
 * that of a user whose leases do not count; but such a one can't keep it for good: after STRANGER_SECONDS it is passed over.
 */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "attach/lease.h"

#define PREFIX "tally-counters"
#define LOCK_SECONDS 5
#define STRANGER_SECONDS 1
#define LOCK_TRIES 1000u
#define TIES (2 * LEASE_SLOTS)
#define LISTENER TIES /* its mark among the ties in the epoll descriptor */
#define ROUNDS 64u /* of events a call of lease_shut() takes */

struct tie { /* a connection */
	int fd;
	uint8_t kind; /* of the other end, once known: LEASE_KINDS before */
};
struct lease {
	enum lease_kind kind;
	struct lease_at at;
	int listener, epoll;
	uint32_t n;
	struct tie tie[TIES];
};

static const char *const kind_path[LEASE_KINDS] = {
	[LEASE_TRACE] = "trace",
	[LEASE_SYSTEM] = "system",
	[LEASE_PROCESS] = "process",
};
static const char *const kind_name[LEASE_KINDS] = {
	[LEASE_TRACE] = "a D session",
	[LEASE_SYSTEM] = "counting of whole CPUs",
	[LEASE_PROCESS] = "counting of processes",
};

const char *lease_kind_name(enum lease_kind kind)
{
	return kind < LEASE_KINDS ? kind_name[kind] : "nobody";
}

/* ---- sockets ------------------------------------------------------------------------------------------ */

struct name {
	struct sockaddr_un a;
	socklen_t n;
};

static bool name_make(struct name *m, const struct lease_at *at, const char *what, uint32_t slot)
{
	int n;

	memset(m, 0, sizeof(*m));
	m->a.sun_family = AF_UNIX;
	n = snprintf(m->a.sun_path + 1, sizeof(m->a.sun_path) - 1, "%s/%s/%u", at->where ? at->where : PREFIX, what, slot);
	m->n = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n);
	return n > 0 && (size_t)n < sizeof(m->a.sun_path) - 1;
}

static int socket_new(void)
{
	return socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

/* A socket that listens under this name, or -1 with errno. */
static int listen_at(const struct name *m)
{
	int fd = socket_new(), saved;

	if (fd < 0)
		return -1;
	if (bind(fd, (const struct sockaddr *)&m->a, m->n) == 0 && listen(fd, 4 * (int)LEASE_SLOTS) == 0)
		return fd;
	saved = errno;
	close(fd);
	errno = saved;
	return -1;
}

/* Root, or one's own user. */
static bool familiar(const struct ucred *who)
{
	return who->uid == 0 || who->uid == geteuid();
}

/* Whether what the other end says counts here. Anybody may bind a name. */
static bool trusted(const struct lease_at *at, int fd)
{
	struct ucred who = {0};
	socklen_t n = sizeof(who);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &n) < 0)
		return false;
	return familiar(&who) || (who.pid && at->may_count && at->may_count(who.pid));
}

/* A connection to who listens there, or -1. */
static int connect_to(const struct name *m)
{
	int fd = socket_new();

	if (fd < 0 || connect(fd, (const struct sockaddr *)&m->a, m->n) == 0)
		return fd;
	close(fd);
	return -1;
}

/* The same, if that is somebody who is trusted. */
static int connect_to_trusted(const struct lease_at *at, const struct name *m)
{
	int fd = connect_to(m);

	if (fd < 0 || trusted(at, fd))
		return fd;
	close(fd);
	return -1;
}

static void holder_of(int fd, enum lease_kind kind, struct lease_holder *h)
{
	struct ucred who = {0};
	socklen_t n = sizeof(who);

	if (!h)
		return;
	getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &n);
	*h = (struct lease_holder){.pid = who.pid, .uid = who.uid, .kind = (uint8_t)kind};
}

/* ---- the lock ------------------------------------------------------------------------------------------- */

enum wait { LOCK_FREE, LOCK_KEPT, LOCK_STRANGE };       /* strange: kept by somebody who can't be meant to have it */

static void patience(int fd, int option, int seconds)
{
	const struct timeval t = {.tv_sec = seconds};

	setsockopt(fd, SOL_SOCKET, option, &t, sizeof(t));
}

/* Until who holds it closes it, or is gone; that is the end of the connection. */
static enum wait wait_close(int fd)
{
	struct ucred who = {0};
	socklen_t n = sizeof(who);
	bool known = getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &n) == 0 && familiar(&who);
	char byte;

	patience(fd, SO_RCVTIMEO, known ? LOCK_SECONDS : STRANGER_SECONDS);
	if (recv(fd, &byte, 1, 0) == 0 || (errno != EAGAIN && errno != EWOULDBLOCK))
		return LOCK_FREE;
	return known ? LOCK_KEPT : LOCK_STRANGE;
}

static enum wait wait_end(const struct name *m)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	enum wait now = LOCK_KEPT;

	if (fd < 0)
		return now;
	patience(fd, SO_SNDTIMEO, LOCK_SECONDS); /* connect() waits that long for room in the queue */
	if (connect(fd, (const struct sockaddr *)&m->a, m->n) == 0)
		now = wait_close(fd);
	else if (errno != EAGAIN)
		now = LOCK_FREE;
	close(fd);
	return now;
}

/* *fd: the lock, or -1: a stranger keeps it, and it is gone without. */
static int lock_take(const struct lease_at *at, int *fd, struct err *e)
{
	enum wait now = LOCK_FREE;
	struct name m;
	uint32_t tries;

	if (!name_make(&m, at, "lock", 0))
		return err_set(e, TALLY_EINVAL, "the name of the leases is too long");
	for (tries = 0; tries < LOCK_TRIES && now == LOCK_FREE; tries++) {
		*fd = listen_at(&m);
		if (*fd >= 0)
			return 0;
		if (errno != EADDRINUSE)
			return err_set(e, TALLY_EIO, "no socket for the lease of the counters: %s", strerror(errno));
		now = wait_end(&m);
	}
	if (now == LOCK_STRANGE)
		return 0;
	return err_set(e, TALLY_EBUSY, "somebody keeps the lock of the counters' leases: 'ss -xlp | grep %s' names the process",
		       m.a.sun_path + 1);
}

/* ---- ties ---------------------------------------------------------------------------------------------------- */

static bool watch(struct lease *l, int fd, uint32_t mark)
{
	struct epoll_event ev = {.events = EPOLLIN | EPOLLRDHUP, .data.u32 = mark};

	return epoll_ctl(l->epoll, EPOLL_CTL_ADD, fd, &ev) == 0;
}

/* Takes fd. */
static void tie_add(struct lease *l, int fd, enum lease_kind kind)
{
	uint32_t i;

	for (i = 0; i < l->n && l->tie[i].fd >= 0; i++)
		;
	if (i == TIES || !watch(l, fd, i)) {
		close(fd);
		return;
	}
	l->tie[i] = (struct tie){.fd = fd, .kind = (uint8_t)kind};
	if (i == l->n)
		l->n++;
}

static void tie_drop(struct tie *t)
{
	close(t->fd);
	t->fd = -1;
	t->kind = LEASE_KINDS;
}

/* What the other end says, or that it is gone. */
static void tie_read(struct tie *t)
{
	uint8_t kind;
	ssize_t n = recv(t->fd, &kind, 1, MSG_DONTWAIT);

	if (n == 1 && (kind == LEASE_TRACE || kind == LEASE_SYSTEM))
		t->kind = kind;
	else if (n >= 0 || (errno != EAGAIN && errno != EINTR))
		tie_drop(t);
}

static void take_callers(struct lease *l)
{
	uint32_t i;
	int fd;

	for (i = 0; i < LEASE_SLOTS && (fd = accept4(l->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0; i++)
		if (trusted(&l->at, fd))
			tie_add(l, fd, LEASE_KINDS);
		else
			close(fd);
}

/* Whom a TRACE or SYSTEM tells it need not trust: whether it is believed is the other's to decide. */
static void tie_kind(struct lease *l, enum lease_kind kind)
{
	const uint8_t mine = (uint8_t)l->kind;
	bool tells = l->kind != LEASE_PROCESS;
	struct name m;
	uint32_t i;
	int fd;

	for (i = 0; i < LEASE_SLOTS; i++) {
		if (!name_make(&m, &l->at, kind_path[kind], i) || (fd = tells ? connect_to(&m) : connect_to_trusted(&l->at, &m)) < 0)
			continue;
		if (tells && send(fd, &mine, 1, MSG_NOSIGNAL) != 1) {
			close(fd);
			continue;
		}
		tie_add(l, fd, kind);
	}
}

/* ---- taking and giving back --------------------------------------------------------------------------------------- */

/* Whether a slot of this kind is held, and by whom. */
static bool kind_held(const struct lease_at *at, enum lease_kind kind, struct lease_holder *who)
{
	struct name m;
	uint32_t i;
	int fd;

	for (i = 0; i < LEASE_SLOTS; i++) {
		if (!name_make(&m, at, kind_path[kind], i) || (fd = connect_to_trusted(at, &m)) < 0)
			continue;
		holder_of(fd, kind, who);
		close(fd);
		return true;
	}
	return false;
}

static bool shut_out(const struct lease_at *at, enum lease_kind kind, struct lease_holder *who)
{
	if (kind == LEASE_PROCESS)
		return false;
	return kind_held(at, LEASE_SYSTEM, who) || (kind == LEASE_SYSTEM && kind_held(at, LEASE_TRACE, who));
}

static int slot_take(struct lease *l, struct err *e)
{
	struct name m;
	uint32_t i;

	for (i = 0; i < LEASE_SLOTS; i++) {
		name_make(&m, &l->at, kind_path[l->kind], i);
		l->listener = listen_at(&m);
		if (l->listener >= 0)
			return watch(l, l->listener, LISTENER) ? 0 : err_set(e, TALLY_EIO, "epoll: %s", strerror(errno));
		if (errno != EADDRINUSE)
			return err_set(e, TALLY_EIO, "no socket for the lease of the counters: %s", strerror(errno));
	}
	return err_set(e, TALLY_EBUSY, "%u at a time can hold a lease for %s, and so many do", LEASE_SLOTS,
		       kind_name[l->kind]);
}

static int take_locked(struct lease *l, struct lease_holder *other, struct err *e)
{
	int rc;

	if (shut_out(&l->at, l->kind, other))
		return err_set(e, TALLY_EBUSY, "the hardware counters are held by %s (pid %d)", kind_name[other->kind],
			       other->pid);
	rc = slot_take(l, e);
	if (rc < 0)
		return rc;
	if (l->kind == LEASE_PROCESS) {
		tie_kind(l, LEASE_TRACE);
		tie_kind(l, LEASE_SYSTEM);
	} else {
		tie_kind(l, LEASE_PROCESS);
	}
	return 0;
}

int lease_take(struct lease **ret, const struct lease_at *at, enum lease_kind kind, struct lease_holder *other, struct err *e)
{
	struct lease *l;
	int lock = -1, rc;

	*ret = NULL;
	*other = (struct lease_holder){0};
	l = mem_alloc(sizeof(*l));
	if (!l)
		return err_set(e, TALLY_ENOMEM, "out of memory");
	l->kind = kind;
	l->at = *at;
	l->listener = -1;
	l->epoll = epoll_create1(EPOLL_CLOEXEC);
	rc = l->epoll < 0 ? err_set(e, TALLY_EIO, "epoll: %s", strerror(errno)) : lock_take(&l->at, &lock, e);
	if (rc >= 0)
		rc = take_locked(l, other, e);
	if (lock >= 0)
		close(lock);
	if (rc < 0)
		lease_free(l);
	else
		*ret = l;
	return rc;
}

void lease_free(struct lease *l)
{
	uint32_t i;

	if (!l)
		return;
	for (i = 0; i < l->n; i++)
		if (l->tie[i].fd >= 0)
			close(l->tie[i].fd);
	if (l->listener >= 0)
		close(l->listener);
	if (l->epoll >= 0)
		close(l->epoll);
	mem_free(l);
}

/* ---- while it is held ------------------------------------------------------------------------------------------------ */

int lease_fd(const struct lease *l)
{
	return l->epoll;
}

static bool shut_now(const struct lease *l, struct lease_holder *by)
{
	uint32_t i;

	for (i = 0; l->kind == LEASE_PROCESS && i < l->n; i++)
		if (l->tie[i].fd >= 0 && l->tie[i].kind < LEASE_PROCESS) {
			holder_of(l->tie[i].fd, l->tie[i].kind, by);
			return true;
		}
	return false;
}

bool lease_shut(struct lease *l, struct lease_holder *by)
{
	struct epoll_event ev;
	uint32_t i;

	for (i = 0; i < ROUNDS && epoll_wait(l->epoll, &ev, 1, 0) == 1; i++) {
		if (ev.data.u32 == LISTENER)
			take_callers(l);
		else if (ev.data.u32 < l->n && l->tie[ev.data.u32].fd >= 0)
			tie_read(&l->tie[ev.data.u32]);
	}
	return shut_now(l, by);
}

uint32_t lease_list(const struct lease_at *at, struct lease_holder *v, uint32_t cap)
{
	struct lease_holder h;
	struct name m;
	uint32_t i, kind, n = 0;
	int fd;

	for (kind = 0; kind < LEASE_KINDS; kind++)
		for (i = 0; i < LEASE_SLOTS; i++) {
			if (!name_make(&m, at, kind_path[kind], i) || (fd = connect_to_trusted(at, &m)) < 0)
				continue;
			holder_of(fd, (enum lease_kind)kind, &h);
			close(fd);
			if (n < cap)
				v[n] = h;
			n++;
		}
	return n;
}
