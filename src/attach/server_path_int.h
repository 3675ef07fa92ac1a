/*
 * server_path_int.h: a listening socket at a path, for the servers of this room.
 */
#ifndef TALLY_ATTACH_SERVER_PATH_INT_H
#define TALLY_ATTACH_SERVER_PATH_INT_H

#include <stdbool.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/un.h>

#include "base/base.h"

struct server_path {
	struct sockaddr_un at;
	bool made; /* the socket at the path is this server's, with these numbers */
	dev_t dev;
	ino_t ino;
};

/* A socket of mode 0600 at the path, which listens and does not block: its descriptor. A dead server's socket is
 * replaced. -TALLY_EBUSY: another server is there, or starts; -TALLY_EIO, -TALLY_EPERM: no socket can be made, or
 * something else is there; -TALLY_EINVAL: the path. */
int server_path_listen(struct server_path *p, const char *path, int backlog, struct err *e);
/* Removes the socket, unless another server has replaced it. */
void server_path_remove(const struct server_path *p);

/* Held while a server looks at a path and makes its own socket there, so that of several one wins. *fd: for _unlock();
 * -1: no lock can be made in that directory, and neither can a socket. -TALLY_EBUSY. */
int server_path_lock(const char *path, int *fd, struct err *e);
void server_path_unlock(const char *path, int fd);

#endif
