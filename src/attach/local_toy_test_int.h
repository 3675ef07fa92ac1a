/* local_toy_test_int.h: a service of three operations, for the tests of the conversation, the server and the client. */
#ifndef TALLY_ATTACH_LOCAL_TOY_TEST_INT_H
#define TALLY_ATTACH_LOCAL_TOY_TEST_INT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "attach/local_test_int.h"

enum { ADD = 0x0200, LONG, WAIT, RELEASE, OPS_END };

struct toy {
	const struct local_peer *waiting;
	uint64_t id;
	bool released, refuse;
	int gone;
};

static inline int toy_add(struct local_call *c)
{
	uint64_t v[2];

	memcpy(v, c->in, sizeof(v));
	if (v[1] > UINT64_MAX - v[0])
		return err_set(c->e, TALLY_EINVAL, "%llu and %llu are too much", (unsigned long long)v[0],
			       (unsigned long long)v[1]);
	v[0] += v[1];
	memcpy(c->out, v, 8);
	c->nout = 8;
	return 0;
}

static inline int toy_long(struct local_call *c)
{
	memset(c->out, 'x', LOCAL_PAYLOAD_MOST);
	c->nout = LOCAL_PAYLOAD_MOST;
	return 0;
}

static inline int toy_wait(struct local_call *c)
{
	struct toy *t = c->service;

	t->waiting = c->peer;
	t->id = c->id;
	return LOCAL_LATER;
}

static inline int toy_release(struct local_call *c)
{
	((struct toy *)c->service)->released = true;
	return 0;
}

static inline void toy_pump(void *service, struct local_peer *p)
{
	const struct err no = { TALLY_EBUSY, "not today" };
	struct toy *t = service;
	uint8_t *to = NULL;

	if (!t->released || t->waiting != p)
		return;
	if (t->refuse ? !local_reply_error(p, WAIT, t->id, &no) : (to = local_reply(p, WAIT, t->id, 1)) == NULL)
		return;
	if (to)
		*to = '!';
	t->waiting = NULL;
}

static inline void toy_gone(void *service, struct local_peer *p)
{
	struct toy *t = service;

	t->gone++;
	if (t->waiting == p)
		t->waiting = NULL;
}

static inline int toy_open(void **ret, void *platform, struct err *e)
{
	(void)e;
	*ret = platform;
	return 0;
}

static inline void toy_close(void *service)
{
	(void)service;
}

static const struct local_row toy_rows[] = {
	{ LOCAL_LOOK, 16, 8, toy_add },
	{ LOCAL_LOOK, 0, LOCAL_PAYLOAD_MOST, toy_long },
	{ LOCAL_LOOK, 0, 1, toy_wait },
	{ LOCAL_PLUG, 0, 0, toy_release },
};

static const struct local_service toy_service = { "toy",     ADD,      COUNT(toy_rows), toy_rows,          toy_open,
						  toy_close, toy_pump, toy_gone,        .takes_fds = false };

static inline struct server *server(struct toy *t, const char *path)
{
	struct server *d = NULL;
	struct err e = { 0 };

	if (server_open_local(&d, &toy_service, t, path, &e) < 0)
		fail_msg("%s", e.text);
	return d;
}

/* The toy served in a thread, and a client of it. */
struct visit {
	struct toy t;
	struct serving s;
	struct local_client *c;
	struct local_answer a;
	struct err e;
	char path[64];
};

static inline void visit_begin(struct visit *v)
{
	*v = (struct visit){ .c = NULL };
	scratch_path(v->path, sizeof(v->path));
	v->s.server = server(&v->t, v->path);
	serving_start(&v->s);
	assert_int_equal(local_connect(&v->c, v->path, 0, NULL, &v->e), 0);
}

static inline void visit_end(struct visit *v)
{
	local_disconnect(v->c);
	serving_end(&v->s);
	scratch_gone(v->path);
}

#endif
