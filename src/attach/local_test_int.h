/* local_test_int.h: a server in a thread of its own, for tests: what a client does may block. */
#ifndef TALLY_ATTACH_LOCAL_TEST_INT_H
#define TALLY_ATTACH_LOCAL_TEST_INT_H

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "attach/local.h"

struct serving {
	struct server *server;
	struct kunpeng *k; /* NULL: no time passes */
	pthread_t thread;
	int wake;
	atomic_bool stop;
	_Atomic uint64_t run_to; /* ns of the machine */
	_Atomic uint64_t at;
	atomic_int rc;
};

static inline void *server_loop(void *arg)
{
	struct serving *s = arg;
	struct pollfd p[2] = { { s->server->op->fd(s->server), POLLIN, 0 }, { s->wake, POLLIN, 0 } };
	struct err e = { 0 };

	while (!s->stop) {
		uint64_t to = s->run_to, word;
		bool behind = s->k && kunpeng_now(s->k) < to;

		if (behind)
			kunpeng_run(s->k, to);
		if (behind && s->server->op->passed(s->server, &e) < 0)
			s->rc = e.code;
		if (s->k)
			s->at = kunpeng_now(s->k);
		if (poll(p, 2, s->at < s->run_to ? 0 : -1) > 0 && p[1].revents)
			(void)!read(s->wake, &word, sizeof(word));
		if (s->server->op->serve(s->server, &e) < 0)
			s->rc = e.code;
	}
	return NULL;
}

static inline void serving_wake(struct serving *s)
{
	const uint64_t one = 1;

	(void)!write(s->wake, &one, sizeof(one));
}

static inline void serving_start(struct serving *s)
{
	int rc;

	s->wake = eventfd(0, EFD_CLOEXEC);
	rc = pthread_create(&s->thread, NULL, server_loop, s);
	assert(s->wake >= 0 && rc == 0);
}

/* The machine's time goes on to ns, and the server has been told. */
static inline void serving_run(struct serving *s, uint64_t ns)
{
	s->run_to = ns;
	serving_wake(s);
	while (s->at < ns)
		sched_yield();
}

/* The thread is gone, the server is still there. */
static inline void serving_halt(struct serving *s)
{
	s->stop = true;
	serving_wake(s);
	pthread_join(s->thread, NULL);
	close(s->wake);
}

static inline void serving_end(struct serving *s)
{
	serving_halt(s);
	s->server->op->close(s->server);
}

/* A directory for sockets; remove it with rmdir(): what was made in it has to be gone by itself. */
static inline void scratch_path(char *path, size_t n)
{
	char dir[] = "/tmp/tally-local-XXXXXX";
	const char *made = mkdtemp(dir);

	assert(made);
	snprintf(path, n, "%s/s", dir);
}

static inline void scratch_gone(char *path)
{
	int rc;

	*strrchr(path, '/') = '\0';
	rc = rmdir(path);
	assert(rc == 0);
}

static inline int descriptors(void)
{
	int n = 0;

	for (int fd = 0; fd < 1024; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

static inline int raw_connect(const char *path)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	strcpy(at.sun_path, path);
	if (connect(fd, (struct sockaddr *)&at, sizeof(at)) == 0)
		return fd;
	close(fd);
	return -1;
}

/* Frames in memory, as a client writes them. */
struct script {
	uint8_t p[LOCAL_FRAME_MOST * 4];
	size_t n;
};

static inline void put(struct script *s, uint16_t op, uint64_t id, const void *p, size_t n)
{
	struct local_head h = { (uint32_t)(sizeof(h) + n), op, 0, id };

	memcpy(s->p + s->n, &h, sizeof(h));
	if (n)
		memcpy(s->p + s->n + sizeof(h), p, n);
	s->n += h.bytes;
}

static inline void put_hello(struct script *s, uint32_t rights)
{
	const struct local_hello h = { LOCAL_MAGIC, LOCAL_VERSION, rights };

	put(s, LOCAL_HELLO, 0, &h, sizeof(h));
}

#endif
