/* local_ptt_test_int.h: a Kunpeng behind a server, and clients of it, for tests. */
#ifndef TALLY_ATTACH_LOCAL_PTT_TEST_INT_H
#define TALLY_ATTACH_LOCAL_PTT_TEST_INT_H

#include <setjmp.h>
#include <stdarg.h>
#include <signal.h>
#include <sys/wait.h>
#include <cmocka.h>

#include "attach/local_test_int.h"
#include "ptt/driver.h"
#include "ptt/rule.h"

#define RING ((size_t)4 << 20)

#define MS 1000000u

struct served {
	struct serving s;
	struct kunpeng *k;
	char path[64];
};

static inline struct served *serve(const char *load)
{
	const struct kunpeng_opts o = { 7, load };
	struct served *v = mem_alloc(sizeof(*v));
	struct err e = { 0 };

	scratch_path(v->path, sizeof(v->path));
	if (kunpeng_open(&v->k, &o, &e) < 0 || server_open_local(&v->s.server, &local_kunpeng, v->k, v->path, &e) < 0)
		fail_msg("%s", e.text);
	v->s.k = v->k;
	serving_start(&v->s);
	return v;
}

static inline void served_end(struct served *v)
{
	assert_int_equal(v->s.rc, 0);
	serving_end(&v->s);
	kunpeng_close(v->k);
	scratch_gone(v->path);
	mem_free(v);
}

static inline struct ptt_pmus dial(const struct served *v)
{
	struct ptt_pmus p = { 0 };
	struct err e = { 0 };

	if (local_pmus(&p, v->path, NULL, &e) < 0)
		fail_msg("%s", e.text);
	return p;
}

static inline const struct ptt_pmu *listed(const struct ptt_pmus *p, uint32_t i)
{
	const struct ptt_pmu *pmu;
	struct err e = { 0 };
	uint32_t n;

	if (p->op->list(p->arg, &pmu, &n, &e) < 0)
		fail_msg("%s", e.text);
	assert_true(i < n);
	return &pmu[i];
}

/* A device of the list with this root port. */
static inline uint32_t with_port(const struct ptt_pmus *p, uint32_t filter)
{
	for (uint32_t i = 0;; i++) {
		const struct ptt_pmu *pmu = listed(p, i);

		if (strcmp(pmu->name, "hisi_ptt0_2") == 0 && pmu->nfilters && pmu->filter[0].value == filter)
			return i;
	}
}

static inline struct ptt_ask event(const char *text, const struct ptt_pmu *pmu)
{
	struct ptt_ask ev;
	struct err e = { 0 };

	if (ptt_ask_parse(&ev, text, pmu, 1, PTT_PROFILE_SPEC, &e) < 0)
		fail_msg("%s", e.text);
	return ev;
}

static inline void must(int rc, const struct err *e)
{
	if (rc < 0)
		fail_msg("%d %s", rc, e->text);
}

struct got {
	struct buf bytes;
	uint64_t lost, commits;
	bool truncated;
};

/* Takes what there is until next() says 0. */
static inline void take(const struct ptt_pmus *p, struct got *g, int timeout_ms)
{
	struct ptt_aux a;
	struct err e = { 0 };
	int rc;

	while ((rc = p->op->next(p->arg, &a, timeout_ms, &e)) > 0) {
		buf_put(&g->bytes, a.p, a.n);
		g->lost += a.lost;
		g->truncated |= a.flags & PTT_AUX_TRUNCATED;
		g->commits++;
	}
	must(rc, &e);
}

#define BOTH "filter=0x80001,type=7,direction=3,format=0"

static inline void start(const struct ptt_pmus *p, const char *text, size_t ring)
{
	const struct ptt_pmu *pmu = listed(p, with_port(p, 0x80001));
	struct ptt_ask ev = event(text, pmu);
	struct err e = { 0 };

	must(p->op->start(p->arg, pmu, &ev, ring, &e), &e);
}

static inline void pmus_stop(const struct ptt_pmus *p)
{
	struct err e = { 0 };

	must((p->op->stop)(p->arg, &e), &e); /* cmocka 2 has a macro stop() */
}

static inline struct local_client *raw(const struct served *v, uint32_t rights)
{
	struct local_client *c = NULL;
	struct err e = { 0 };

	must(local_connect(&c, v->path, rights, NULL, &e), &e);
	return c;
}

static inline int call(struct local_client *c, uint16_t op, const void *p, size_t n, struct local_answer *a,
		       struct err *e)
{
	*e = (struct err){ 0 };
	return local_ask_and_wait(c, op, p, n, a, NULL, e);
}

static inline struct local_counts counts(const struct served *v, uint32_t device)
{
	const struct local_device at = { device, 0 };
	struct local_client *c = raw(v, LOCAL_LOOK);
	struct local_counts to;
	struct local_answer a;
	struct err e;

	must(call(c, LOCAL_PTT_COUNTS, &at, sizeof(at), &a, &e), &e);
	assert_int_equal(a.head.bytes, sizeof(a.head) + sizeof(to));
	memcpy(&to, a.p, sizeof(to));
	local_disconnect(c);
	return to;
}

#endif
