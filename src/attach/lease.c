/*
 * lease.c: leases as sockets in a directory that only their user can write.
 *
 *	/run/tally               root's place: mode 0755, so that everybody sees root's leases
 *	/run/user/UID/tally      an ordinary user's: mode 0700
 *	/tmp/tally-UID           either's, where the one above can't be had
 *
 *	PLACE/lock               locked (fcntl, open file description) while somebody looks and takes
 *	PLACE/trace.PID.N        a datagram socket that a D session has bound
 *	PLACE/system.PID.N       the same, of who counts whole CPUs
 *	PLACE/process.PID.N      of each who counts processes
 *
 * A lease stands as long as the kernel connects to its socket: it refuses once no process has it bound, also after kill
 * -9. The file may then stay; it means nothing, and the next who takes a lease there removes it. Nothing is ever sent.
 * A datagram socket has no queue of callers that a stranger could fill, and the holder is named by the file, which only
 * the owner of the directory could have made.
 *
 * An abstract name, which needs no directory, belongs to whoever binds it first: that let any user keep root from
 * counting. A lock on a file that others can open is no better, since flock(2) and read locks take no right to write.
 *
 * Who counts processes watches both places for sockets that come and go; the death of a holder makes no event there, so
 * it looks again every RECHECK_MS while it is shut out.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "attach/lease.h"
#include "base/file.h"

#define LOCK_TRIES 5000u /* of a millisecond each: who holds the lock does a few dozen system calls */
#define RECHECK_MS 250
#define PLACES 2u      /* of one user */
#define PLACE_MOST 72u /* bytes of its path, so that a socket's name fits behind it */
#define NAME_MOST (sizeof(((struct sockaddr_un *)0)->sun_path))

struct place {
	char path[PLACE_MOST];
	uid_t uid;
};
struct lease {
	enum lease_kind kind;
	struct place root[PLACES], own[PLACES];
	uint32_t nroot, nown;
	int fd;               /* the socket, or -1 */
	char path[NAME_MOST]; /* its name */
	char unkept[200];
	/* PROCESS */
	int epoll, inotify, timer;
};

static const char *const kind_file[LEASE_KINDS] = {
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

/* ---- places ------------------------------------------------------------------------------------------- */

/* Where leases of `uid` may be, the better one first. */
static uint32_t place_name(struct place v[static PLACES], const char *root, uid_t uid)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < PLACES; i++) {
		struct place *p = &v[n];
		int len = i   ? snprintf(p->path, sizeof(p->path), "%s/tmp/tally-%u", root, uid) :
			  uid ? snprintf(p->path, sizeof(p->path), "%s/run/user/%u/tally", root, uid) :
				snprintf(p->path, sizeof(p->path), "%s/run/tally", root);

		p->uid = uid;
		n += len > 0 && (size_t)len < sizeof(p->path);
	}
	return n;
}

/* Whether only `uid` and root can put a name there, or, sticky, take one of theirs away. */
static bool directory_is_safe(const char *path, uid_t uid, bool sticky)
{
	struct stat st;

	return lstat(path, &st) == 0 && S_ISDIR(st.st_mode) && (st.st_uid == uid || (sticky && st.st_uid == 0)) &&
	       (!(st.st_mode & 022) || (sticky && st.st_mode & S_ISVTX));
}

static void place_parent(char parent[static PLACE_MOST], const struct place *p)
{
	snprintf(parent, PLACE_MOST, "%.*s", (int)(strrchr(p->path, '/') - p->path), p->path);
}

static bool place_is_safe(const struct place *p)
{
	char parent[PLACE_MOST];

	place_parent(parent, p);
	return directory_is_safe(parent, p->uid, true) && directory_is_safe(p->path, p->uid, false);
}

/* Makes it where it is not there; false with words. */
static bool place_make(const struct place *p, char *why, size_t n)
{
	const mode_t mode = p->uid ? 0700 : 0755;
	char parent[PLACE_MOST];

	place_parent(parent, p);
	if (access(parent, F_OK) < 0)
		snprintf(why, n, "%s: %s", parent, strerror(errno));
	else if (!directory_is_safe(parent, p->uid, true))
		snprintf(why, n, "users other than %u can rename entries of %s", p->uid, parent);
	else if (mkdir(p->path, mode) < 0 && errno != EEXIST)
		snprintf(why, n, "%s: %s", p->path, strerror(errno));
	else if (!directory_is_safe(p->path, p->uid, false))
		snprintf(why, n, "%s is not a directory that only user %u can write", p->path, p->uid);
	else if (!p->uid && chmod(p->path, mode) < 0) /* whatever the umask is */
		snprintf(why, n, "%s: %s", p->path, strerror(errno));
	else
		return true;
	return false;
}

/* ---- looking ------------------------------------------------------------------------------------------- */

/* through a place */
struct look {
	const struct place *place;
	int probe;
	uint32_t kinds; /* bit k: enum lease_kind */
	bool cleans;    /* what stands no more is removed */
	struct lease_holder *v;
	uint32_t n, cap;
};

static bool name_parse(const char *name, struct lease_holder *h)
{
	for (uint32_t kind = 0; kind < LEASE_KINDS; kind++) {
		size_t n = strlen(kind_file[kind]);
		char *end;
		unsigned long pid;

		if (strncmp(name, kind_file[kind], n) || name[n] != '.')
			continue;
		pid = strtoul(name + n + 1, &end, 10);
		*h = (struct lease_holder){ .pid = (int32_t)pid, .kind = (uint8_t)kind };
		return pid > 0 && pid <= INT32_MAX && *end == '.';
	}
	return false;
}

static bool address_make(struct sockaddr_un *a, const char *path)
{
	*a = (struct sockaddr_un){ .sun_family = AF_UNIX };
	return (size_t)snprintf(a->sun_path, sizeof(a->sun_path), "%s", path) < sizeof(a->sun_path);
}

static int look_at_name(void *arg, const char *name)
{
	struct look *k = arg;
	struct lease_holder h;
	struct sockaddr_un a;
	char path[NAME_MOST];
	int no;

	if (!name_parse(name, &h) || !(k->kinds >> h.kind & 1) ||
	    (size_t)snprintf(path, sizeof(path), "%s/%s", k->place->path, name) >= sizeof(path) ||
	    !address_make(&a, path))
		return 0;
	/* EACCES: its holder is about to open it to all, if it was not killed before it could. */
	no = connect(k->probe, (const struct sockaddr *)&a, sizeof(a)) < 0 ? errno : 0;
	if (no == EACCES && (kill(h.pid, 0) == 0 || errno != ESRCH))
		no = 0;
	if (no) {
		if (k->cleans && no == ECONNREFUSED)
			unlink(path);
		return 0;
	}
	h.uid = k->place->uid;
	if (k->n < k->cap)
		k->v[k->n] = h;
	k->n++;
	return 0;
}

static void look_at_places(struct look *k, const struct place *v, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (place_is_safe(&v[i])) {
			k->place = &v[i];
			(void)dir_each(v[i].path, look_at_name, k);
		}
}

/* Holders of these kinds that count for this user, at most `cap`: how many there are, or -TALLY_EIO. */
static int64_t lease_holders_list(const struct lease *l, uint32_t kinds, struct lease_holder *v, uint32_t cap)
{
	struct look k = { .kinds = kinds, .v = v, .cap = cap };

	k.probe = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (k.probe < 0)
		return -TALLY_EIO;
	look_at_places(&k, l->root, l->nroot);
	look_at_places(&k, l->own, l->nown);
	close(k.probe);
	return k.n;
}

/* ---- taking and giving back ------------------------------------------------------------------ */

/* Root's own places are root's: they are looked at once. */
static void name_places(struct lease *l, const char *root)
{
	const uid_t uid = geteuid();

	root = root ? root : "";
	l->nroot = place_name(l->root, root, 0);
	l->nown = uid ? place_name(l->own, root, uid) : 0;
}

/* The first of one's own that can be had. */
static const struct place *place_have(struct lease *l)
{
	const bool is_root = geteuid() == 0;
	const struct place *v = is_root ? l->root : l->own;
	uint32_t n = is_root ? l->nroot : l->nown;
	size_t at = 0;

	if (!n)
		snprintf(l->unkept, sizeof(l->unkept), "path too long");
	for (uint32_t i = 0; i < n; i++) {
		if (place_make(&v[i], l->unkept + at, sizeof(l->unkept) - at)) {
			l->unkept[0] = '\0';
			return &v[i];
		}
		at += strlen(l->unkept + at);
		if (i + 1 < n && at + 3 < sizeof(l->unkept))
			at += (size_t)snprintf(l->unkept + at, sizeof(l->unkept) - at, "; ");
	}
	return NULL;
}

/* *fd: the lock, or -1 with errno: it can't be made. */
static int lock_take(const struct place *p, int *fd, struct err *e)
{
	const struct timespec pause = { .tv_nsec = 1000000 };
	char path[NAME_MOST];

	snprintf(path, sizeof(path), "%.*s/lock", (int)PLACE_MOST, p->path);
	for (uint32_t i = 0; i < LOCK_TRIES; i++) {
		*fd = file_lock(path);
		if (*fd >= 0 || errno != EAGAIN)
			return 0;
		nanosleep(&pause, NULL);
	}
	return err_set(e, TALLY_EBUSY, "a process of user %u keeps %s locked: 'fuser %s' names it", p->uid, path, path);
}

/* Binds a name that nobody has; what the dead have left is removed first. */
static void socket_bind(struct lease *l, const struct place *p)
{
	struct look k = { .place = p, .kinds = ~0u, .cleans = true };
	struct sockaddr_un a;
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0), rc = -1;

	if (fd < 0) {
		snprintf(l->unkept, sizeof(l->unkept), "%s: %s", p->path, strerror(errno));
		return;
	}
	k.probe = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (k.probe >= 0)
		(void)dir_each(p->path, look_at_name, &k);
	for (uint32_t i = 0; rc < 0 && (i == 0 || errno == EADDRINUSE); i++) {
		snprintf(l->path, sizeof(l->path), "%s/%s.%d.%u", p->path, kind_file[l->kind], (int)getpid(), i);
		rc = address_make(&a, l->path) ? bind(fd, (const struct sockaddr *)&a, sizeof(a)) : -1;
	}
	if (rc < 0) {
		snprintf(l->unkept, sizeof(l->unkept), "%s: %s", l->path, strerror(errno));
		l->path[0] = '\0';
	} else {
		(void)!shutdown(fd, SHUT_RD); /* nobody can leave anything in it */
		(void)!chmod(l->path,
			     0666); /* to connect takes the right to write; the directory says whom that is for */
	}
	if (rc < 0)
		close(fd);
	else
		l->fd = fd;
	if (k.probe >= 0)
		close(k.probe);
}

/* Whom this kind gives way to when it begins. */
static uint32_t kinds_before(enum lease_kind kind)
{
	return kind == LEASE_PROCESS ? 0 :
	       kind == LEASE_SYSTEM  ? 1u << LEASE_SYSTEM | 1u << LEASE_TRACE :
				       1u << LEASE_SYSTEM;
}

static int take_locked(struct lease *l, const struct place *p, struct lease_holder *other, struct err *e)
{
	int64_t n = lease_holders_list(l, kinds_before(l->kind), other, 1);

	if (n < 0)
		return err_set(e, TALLY_EIO, "cannot open a socket to look up leases of the counters: %s",
			       strerror(errno));
	if (n > 0)
		return err_set(e, TALLY_EBUSY, "the hardware counters are held by %s (pid %d)", kind_name[other->kind],
			       other->pid);
	if (p)
		socket_bind(l, p);
	return 0;
}

static int watch_begin(struct lease *l, struct err *e);

int lease_take(struct lease **ret, const char *root, enum lease_kind kind, struct lease_holder *other, struct err *e)
{
	const struct place *p;
	struct lease *l;
	int lock = -1, rc = 0;

	*ret = NULL;
	*other = (struct lease_holder){ 0 };
	l = mem_alloc(sizeof(*l));
	if (!l)
		return err_oom(e);
	l->kind = kind;
	l->fd = l->epoll = l->inotify = l->timer = -1;
	name_places(l, root);
	p = place_have(l);
	if (p && (rc = lock_take(p, &lock, e)) >= 0 && lock < 0) {
		snprintf(l->unkept, sizeof(l->unkept), "%s/lock: %s", p->path, strerror(errno));
		p = NULL;
	}
	if (rc >= 0)
		rc = take_locked(l, p, other, e);
	if (lock >= 0)
		close(lock);
	if (rc >= 0 && kind == LEASE_PROCESS)
		rc = watch_begin(l, e);
	if (rc < 0)
		lease_free(l);
	else
		*ret = l;
	return rc;
}

void lease_free(struct lease *l)
{
	if (!l)
		return;
	if (l->path[0])
		unlink(l->path);
	for (uint32_t i = 0; i < 4; i++) {
		int fd = (const int[]){ l->fd, l->epoll, l->inotify, l->timer }[i];

		if (fd >= 0)
			close(fd);
	}
	mem_free(l);
}

const char *lease_unkept(const struct lease *l)
{
	return l->unkept[0] ? l->unkept : NULL;
}

/* ---- while it is held ------------------------------------------------------------------------ */

int lease_fd(const struct lease *l)
{
	return l->epoll;
}

/* Looks again in a while, and on; or no more. */
static void lease_recheck_arm(const struct lease *l, bool on)
{
	const struct timespec t = { .tv_nsec = on ? RECHECK_MS * 1000000L : 0 };

	timerfd_settime(l->timer, 0, &(struct itimerspec){ t, t }, NULL);
}

/* Places that are there, and where the better ones would appear. What can't be watched is looked at by the clock. */
static bool watch_places(const struct lease *l, const struct place *v, uint32_t n)
{
	bool all = true;
	char parent[PLACE_MOST];

	for (uint32_t i = 0; i < n; i++) {
		if (inotify_add_watch(l->inotify, v[i].path, IN_CREATE | IN_DELETE | IN_ONLYDIR) >= 0)
			continue;
		all &= errno == ENOENT || errno == EACCES; /* nothing there, or nothing that would count */
		if (i > 0 || errno != ENOENT)
			continue;
		place_parent(parent, &v[i]);
		if (inotify_add_watch(l->inotify, parent, IN_CREATE | IN_ONLYDIR) < 0)
			all &= errno == ENOENT;
	}
	return all;
}

static bool watch_all(const struct lease *l)
{
	return l->inotify >= 0 && watch_places(l, l->root, l->nroot) && watch_places(l, l->own, l->nown);
}

static int watch_begin(struct lease *l, struct err *e)
{
	struct epoll_event ev = { .events = EPOLLIN };

	l->epoll = epoll_create1(EPOLL_CLOEXEC);
	l->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	l->inotify = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	if (l->epoll < 0 || l->timer < 0 || epoll_ctl(l->epoll, EPOLL_CTL_ADD, l->timer, &ev) < 0 ||
	    (l->inotify >= 0 && epoll_ctl(l->epoll, EPOLL_CTL_ADD, l->inotify, &ev) < 0))
		return err_set(e, TALLY_EIO, "epoll: %s", strerror(errno));
	lease_recheck_arm(l, !watch_all(l));
	return 0;
}

bool lease_shut(struct lease *l, struct lease_holder *by)
{
	const uint32_t kinds = 1u << LEASE_TRACE | 1u << LEASE_SYSTEM;
	struct lease_holder h = { 0 };
	char events[4096];
	bool shut, watched;

	if (l->kind != LEASE_PROCESS)
		return false;
	while (read(l->timer, events, sizeof(uint64_t)) > 0 || read(l->inotify, events, sizeof(events)) > 0)
		;
	watched = watch_all(l); /* a place may have come; before looking, so that nothing falls between */
	shut = lease_holders_list(l, kinds, &h, 1) > 0;
	lease_recheck_arm(l, shut || !watched);
	if (shut && by)
		*by = h;
	return shut;
}

uint32_t lease_list(const char *root, struct lease_holder *v, uint32_t cap)
{
	struct lease l = { 0 };
	uint32_t n = 0;

	name_places(&l, root);
	for (uint32_t kind = 0; kind < LEASE_KINDS; kind++) {
		uint32_t room = n < cap ? cap - n : 0;
		int64_t more = lease_holders_list(&l, 1u << kind, room ? v + n : NULL, room);

		n += more > 0 ? (uint32_t)more : 0;
	}
	return n;
}
