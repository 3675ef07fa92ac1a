/*
 * server_path.c: one server at a socket's path.
 *
 * A dead socket at the path is replaced, and a server in use is not. To find out which it is, to remove the one and to
 * make the other are several system calls, and two servers that start together would each remove the other's socket. So
 * servers start one after the other: PATH.lock is locked meanwhile and removed afterwards. A server that is killed
 * meanwhile leaves an empty file, which blocks nobody.
 *
 * A client that connects between bind() and listen() is refused, as by a dead server. So the socket is bound as
 * PATH.new, and gets its name when it listens. A path of more than NAME_MOST bytes has no room for that, and its socket
 * is bound where it belongs.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "attach/server_path_int.h"
#include "base/file.h"

#define TRIES 5000u /* of a millisecond each */
#define LOCK_MOST (sizeof(((struct sockaddr_un *)0)->sun_path) + 8)
#define NEW ".new"
#define NAME_MOST (sizeof(((struct sockaddr_un *)0)->sun_path) - sizeof(NEW))

static void lock_name(char name[static LOCK_MOST], const char *path)
{
	snprintf(name, LOCK_MOST, "%.*s.lock", (int)LOCK_MOST - 8, path);
}

int server_path_lock(const char *path, int *fd, struct err *e)
{
	const struct timespec pause = { .tv_nsec = 1000000 };
	char name[LOCK_MOST];

	lock_name(name, path);
	for (uint32_t i = 0; i < TRIES; i++) {
		*fd = file_lock(name);
		if (*fd >= 0 || errno != EAGAIN)
			return 0;
		nanosleep(&pause, NULL);
	}
	return err_set(e, TALLY_EBUSY, "%s: another server has been starting here for seconds; 'fuser %s' names it",
		       path, name);
}

void server_path_unlock(const char *path, int fd)
{
	char name[LOCK_MOST];

	if (fd < 0)
		return;
	lock_name(name, path);
	unlink(name);
	close(fd);
}

static int path_fail(struct err *e, const char *path, int why)
{
	return err_set(e, why == EACCES ? TALLY_EPERM : TALLY_EIO, "%s: %s", path, strerror(why));
}

/* Removes a socket at which nobody listens; refuses anything else that is there. */
static int path_clear(const struct sockaddr_un *at, struct err *e)
{
	struct stat st;
	int fd, rc, why;

	if (lstat(at->sun_path, &st) < 0)
		return errno == ENOENT ? 0 : path_fail(e, at->sun_path, errno);
	if (!S_ISSOCK(st.st_mode))
		return err_set(e, TALLY_EIO, "%s exists and is not a socket; name another path", at->sun_path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return path_fail(e, at->sun_path, errno);
	rc = connect(fd, (const struct sockaddr *)at, sizeof(*at));
	why = errno;
	close(fd);
	if (rc == 0 || why == EAGAIN)
		return err_set(e, TALLY_EBUSY, "%s is in use by another server; name another path, or end it",
			       at->sun_path);
	if (why != ECONNREFUSED)
		return path_fail(e, at->sun_path, why);
	return unlink(at->sun_path) < 0 ? path_fail(e, at->sun_path, errno) : 0;
}

/* Gives the socket its name, which nobody else may have taken meanwhile; some file systems can't promise that. */
static int path_rename(const char *from, const char *to)
{
	if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0)
		return 0;
	return errno == EINVAL ? rename(from, to) : -1;
}

/* With the lock held. */
static int path_listen(struct server_path *p, int backlog, int fd, struct err *e)
{
	struct sockaddr_un at = p->at;
	const char *path = p->at.sun_path;
	struct stat st;
	bool renamed = strlen(path) <= NAME_MOST;
	int rc = path_clear(&p->at, e), why;

	if (rc == 0 && renamed) {
		strcat(at.sun_path, NEW);
		rc = path_clear(&at, e); /* of a server that was killed */
	}
	if (rc < 0)
		return rc;
	/* The mode of the socket is the mode of what bind() makes: at no moment can another user connect. */
	if (fchmod(fd, 0600) < 0 || bind(fd, (const struct sockaddr *)&at, sizeof(at)) < 0)
		return path_fail(e, path, errno);
	if (listen(fd, backlog) < 0 || lstat(at.sun_path, &st) < 0 || (renamed && path_rename(at.sun_path, path) < 0)) {
		why = errno;
		unlink(at.sun_path);
		return path_fail(e, path, why);
	}
	p->dev = st.st_dev;
	p->ino = st.st_ino;
	p->made = true;
	return 0;
}

int server_path_listen(struct server_path *p, const char *path, int backlog, struct err *e)
{
	int fd, lock, rc;

	*p = (struct server_path){ .at.sun_family = AF_UNIX };
	if (!*path || strlen(path) >= sizeof(p->at.sun_path))
		return err_set(e, TALLY_EINVAL, "invalid socket path '%s' (1 to %zu bytes)", path,
			       sizeof(p->at.sun_path) - 1);
	strcpy(p->at.sun_path, path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return path_fail(e, path, errno);
	rc = server_path_lock(path, &lock, e);
	if (rc == 0) {
		rc = path_listen(p, backlog, fd, e);
		server_path_unlock(path, lock);
	}
	if (rc == 0)
		return fd;
	close(fd);
	return rc;
}

void server_path_remove(const struct server_path *p)
{
	struct stat st;

	if (p->made && lstat(p->at.sun_path, &st) == 0 && st.st_dev == p->dev && st.st_ino == p->ino)
		unlink(p->at.sun_path);
}
