/*
 * server_path.c: one server at a socket's path.
 *
 * Whether a socket that is there is dead, and the making of another in its place, are several system calls: two servers
 * that start together would each take away what the other has made. So they are made one server after the other: PATH.lock is
 * locked meanwhile and removed after it. Whoever is killed meanwhile leaves an empty file, which blocks nobody.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "attach/attach.h"
#include "base/file.h"

#define TRIES 5000u /* of a millisecond each */
#define LOCK_MOST (sizeof(((struct sockaddr_un *)0)->sun_path) + 8)

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
