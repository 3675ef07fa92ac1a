/* http_test_int.h: a service without programs on a socket without a file, for tests and the fuzz target. Its time
 * stands still until it is told. */
#ifndef TALLY_SERVE_HTTP_TEST_INT_H
#define TALLY_SERVE_HTTP_TEST_INT_H

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "serve/http_int.h"
#include "serve/live_int.h"

struct http_tested {
	struct tally_serve *s;
	struct sockaddr_un at;
	socklen_t len;
	uint64_t now_ns;
};

static inline uint64_t tested_clock(void *arg)
{
	return ((struct http_tested *)arg)->now_ns;
}

static inline int tested_open(struct http_tested *t, const char *name)
{
	struct tally_serve_opts o = { .size = sizeof(o), .clock = tested_clock, .arg = t };
	struct err e = { 0 };
	int fd;

	*t = (struct http_tested){ .at.sun_family = AF_UNIX, .now_ns = UINT64_C(1700000000000000000) };
	t->len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 +
			     (size_t)snprintf(t->at.sun_path + 1, sizeof(t->at.sun_path) - 1, "tally-%d-%s",
					      (int)getpid(), name));
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	o.listen_fd = fcntl(fd, F_DUPFD_CLOEXEC, 3); /* 0 would be none */
	close(fd);
	if (o.listen_fd < 0 || bind(o.listen_fd, (struct sockaddr *)&t->at, t->len) || listen(o.listen_fd, 1024) ||
	    tally_serve_open(&t->s, &o) || live_open(&t->s->live, t->s) || profiles_open(&t->s->profiles))
		return -TALLY_EIO;
	return http_open(&t->s->http, t->s, "", &e);
}

static inline void tested_close(struct http_tested *t)
{
	const int fd = t->s->o.listen_fd; /* the service has its own */

	tally_serve_close(t->s);
	close(fd);
}

static inline int tested_connect(const struct http_tested *t)
{
	const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	return fd >= 0 && !connect(fd, (const struct sockaddr *)&t->at, t->len) ? fd : -1;
}

#endif
