/*
 * profile.c: /folded and /debug/pprof/profile: stacks of a program's aggregations, as folded stacks and as a profile of
 * pprof.
 *
 * Both have what was counted between two readings, `seconds` apart; with seconds=0 all since the program began. A
 * request that waits for its second reading keeps the call trees of the first, and is suspended. These are the trees
 * that `tally trace -o` writes such files from, so all agree.
 *
 * Folded stacks have no place for a sum below 0, nor for words: the header Tally-Left-Out says how many there are.
 */
#include <stdio.h>
#include <string.h>

#include "answer/flame.h"
#include "answer/pprof.h"
#include "serve/http_int.h"
#include "serve/live_int.h"
#include "session/session.h"

#define WAITING_MOST 64u
#define SECONDS_MOST 3600u
#define SECONDS_USUAL 30u /* of a profile, as Go's servers have it */
#define NAMES_BYTES 4096u

struct profile_request {
	struct profiles *profiles;
	struct http_request *request;
	uint64_t began_ns, due_ns;
	struct an_flame past;
	char *program;
	uint64_t generation;
	bool suspended;
};
struct profiles {
	struct profile_request *waiting[WAITING_MOST];
};

int profiles_open(struct profiles **ret)
{
	*ret = mem_alloc(sizeof(**ret));
	return *ret ? 0 : -TALLY_ENOMEM;
}

void profiles_close(struct profiles *p)
{
	mem_free(p);
}

static void profile_wake(struct profile_request *w)
{
	if (!w->suspended)
		return;
	w->suspended = false;
	http_resume(w->request->http, w->request->connection);
}

void profiles_resume(struct profiles *p)
{
	for (uint32_t i = 0; p && i < WAITING_MOST; i++)
		if (p->waiting[i])
			profile_wake(p->waiting[i]);
}

int profiles_work(struct profiles *p, uint64_t now_ns)
{
	uint64_t least = UINT64_MAX;

	for (uint32_t i = 0; i < WAITING_MOST; i++) {
		struct profile_request *w = p->waiting[i];

		if (!w || !w->suspended)
			continue;
		if (now_ns >= w->due_ns)
			profile_wake(w);
		else if (w->due_ns - now_ns < least)
			least = w->due_ns - now_ns;
	}
	return least == UINT64_MAX ? -1 : (int)(least / 1000000 + 1);
}

static void profile_free(void *arg)
{
	struct profile_request *w = arg;

	for (uint32_t i = 0; i < WAITING_MOST; i++)
		if (w->profiles->waiting[i] == w)
			w->profiles->waiting[i] = NULL;
	an_flame_free(&w->past);
	mem_free(w->program);
	mem_free(w);
}

/* ---- readings --------------------------------------------------------------------------- */

struct profile_reading {
	struct an_flame *f;
	const char *aggregation; /* NULL: all */
	bool found;
	struct buf *names; /* of those that would do, but are called otherwise */
};

static int profile_take(void *arg, uint32_t number, const struct an_agg *a)
{
	struct profile_reading *c = arg;

	(void)number;
	if (!an_flame_takes(a) || !an_flame_has_stacks(a) || (c->aggregation && strcmp(c->aggregation, a->name) != 0))
		return 0;
	c->found = true;
	an_flame_add(c->f, a);
	return c->f->failed ? -TALLY_ENOMEM : 0;
}

static int profile_note_stacks(void *arg, const struct tally_aggregation *a)
{
	struct profile_reading *c = arg;
	static const char *const add[] = { "count", "sum", "quantize", "lquantize", "llquantize" };

	for (size_t i = 0; i < COUNT(add); i++) {
		if (!a->has_stack || strcmp(a->function, add[i]) != 0)
			continue;
		if (!c->aggregation || !strcmp(c->aggregation, a->name))
			c->found = true;
		else if (c->names->n < NAMES_BYTES)
			buf_printf(c->names, "%s%s", c->names->n ? ", " : "",
				   *a->name ? a->name : "one without a name");
	}
	return 0;
}

/* The program that the query names, or the one that has stacks. NULL: why has the words. */
static struct program *profile_program(const struct http_request *q, struct buf *why)
{
	const struct tally_serve *s = q->http->serve;
	const char *name = http_query(q, "program"), *aggregation = http_query(q, "aggregation");
	struct program *found = NULL;
	struct buf names = { 0 }, others = { 0 };
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->nprograms; i++) {
		struct profile_reading c = { .aggregation = aggregation, .names = &others };
		struct program *p = s->program[i];

		if (p->trace)
			(void)tally_trace_aggregations(p->trace, profile_note_stacks, &c);
		if (!c.found)
			continue;
		if (names.n < NAMES_BYTES)
			buf_printf(&names, "%s%s", names.n ? ", " : "", p->name);
		if (name && strcmp(name, p->name) != 0)
			continue;
		found = p;
		n++;
	}
	if (n != 1) {
		if (!names.n)
			buf_printf(
				why,
				"no running program has an aggregation%s that adds up and has a stack in its key%s%s",
				aggregation ? " of this name" : "", others.n ? "; there is: " : "",
				others.n ? others.p : "");
		else
			buf_printf(why, "%s; add program=NAME, of: %s",
				   name ? "no such program has stacks" : "several programs have stacks", names.p);
		found = NULL;
	}
	buf_free(&names);
	buf_free(&others);
	return found;
}

static int profile_read(const struct http_request *q, struct program *p, struct an_flame *f)
{
	struct profile_reading c = { .f = f, .aggregation = http_query(q, "aggregation") };
	int rc = session_walk_aggregations(p->trace, profile_take, &c);

	return f->failed ? -TALLY_ENOMEM : rc;
}

/* ---- requests ------------------------------------------------------------------------------ */

static enum MHD_Result profile_send(struct http_request *q, bool pprof, struct an_flame *f, uint64_t began_ns,
				    uint64_t lasted_ns)
{
	const struct an_pprof about = { .began_ns = began_ns, .lasted_ns = lasted_ns };
	const uint64_t left_out = pprof ? 0 : an_flame_leave_out_negative(f);
	struct buf body = { 0 };

	an_flame_sort(f);
	if (pprof)
		an_pprof_put(&body, f, &about);
	else
		an_folded_put(&body, f);
	body.failed |= f->failed;
	if (began_ns)
		snprintf(q->duration, sizeof(q->duration), "%llu.%03llu", (unsigned long long)(lasted_ns / SECOND_NS),
			 (unsigned long long)(lasted_ns / 1000000 % 1000));
	if (left_out)
		snprintf(q->left_out, sizeof(q->left_out), "%llu", (unsigned long long)left_out);
	return http_answer(q, MHD_HTTP_OK, pprof ? "application/octet-stream" : "text/plain; charset=utf-8", NULL,
			   &body);
}

/* The second reading. */
static enum MHD_Result profile_end(struct http_request *q, bool pprof)
{
	struct profile_request *w = q->state;
	const struct tally_serve *s = q->http->serve;
	const uint64_t now_ns = s->o.clock(s->o.arg);
	struct program *p = serve_find_program(s, w->program);
	struct an_flame f = { 0 };
	enum MHD_Result result;

	http_last(q, false);
	if (!p || !p->trace || p->generation != w->generation)
		return http_say(q, MHD_HTTP_SERVICE_UNAVAILABLE, "the program has ended or was replaced meanwhile");
	if (profile_read(q, p, &f) < 0) {
		an_flame_free(&f);
		return http_say(q, MHD_HTTP_INTERNAL_SERVER_ERROR, "failed to read the program's aggregations");
	}
	an_flame_subtract(&f, &w->past);
	result = profile_send(q, pprof, &f, w->began_ns, now_ns > w->began_ns ? now_ns - w->began_ns : 0);
	an_flame_free(&f);
	return result;
}

static enum MHD_Result profile_wait(struct http_request *q, struct program *p, uint64_t seconds)
{
	struct tally_serve *s = q->http->serve;
	struct profile_request *w;
	uint32_t i = 0;

	while (i < WAITING_MOST && s->profiles->waiting[i])
		i++;
	if (i == WAITING_MOST)
		return http_say(q, MHD_HTTP_SERVICE_UNAVAILABLE,
				"64 profiles are being taken already; try again later");
	w = mem_alloc(sizeof(*w));
	if (!w)
		return MHD_NO;
	w->profiles = s->profiles;
	w->request = q;
	w->began_ns = s->o.clock(s->o.arg);
	w->due_ns = w->began_ns + seconds * 1000000000;
	w->generation = p->generation;
	q->state = w;
	q->state_free = profile_free;
	w->program = mem_strdup(p->name);
	if (!w->program || profile_read(q, p, &w->past) < 0)
		return http_say(q, MHD_HTTP_INTERNAL_SERVER_ERROR, "failed to read the program's aggregations");
	s->profiles->waiting[i] = w;
	w->suspended = true;
	http_last(q, true);
	http_suspend(q->http, q->connection);
	return MHD_YES;
}

static enum MHD_Result profile_answer(struct http_request *q, bool pprof)
{
	const char *asked = http_query(q, "seconds");
	uint64_t seconds = pprof ? SECONDS_USUAL : 0;
	struct an_flame f = { 0 };
	struct buf why = { 0 };
	struct program *p;
	enum MHD_Result result;

	if (q->state)
		return profile_end(q, pprof);
	if (asked && (!text_u64(asked, &seconds) || seconds > SECONDS_MOST))
		return http_say(q, MHD_HTTP_BAD_REQUEST, "seconds: expected a whole number from 0 to 3600");
	p = profile_program(q, &why);
	if (!p) {
		result = why.failed ? MHD_NO : http_say(q, MHD_HTTP_NOT_FOUND, why.p);
		buf_free(&why);
		return result;
	}
	if (seconds)
		return profile_wait(q, p, seconds);
	if (profile_read(q, p, &f) < 0)
		result = http_say(q, MHD_HTTP_INTERNAL_SERVER_ERROR, "failed to read the program's aggregations");
	else
		result = profile_send(q, pprof, &f, 0, 0);
	an_flame_free(&f);
	return result;
}

enum MHD_Result http_get_folded(struct http_request *q)
{
	return profile_answer(q, false);
}

enum MHD_Result http_get_pprof(struct http_request *q)
{
	return profile_answer(q, true);
}
