/*
 * platform.c: one platform of the service, whose counters are metrics: this machine, a model, a machine behind a
 * socket; or one PTT device of such a platform, whose packets are.
 *
 * To the rest of the service it is a program: it has a name, runs or has failed, and has metrics.  Which those are,
 * its figures say: each family that comes becomes a metric when it first comes.
 *
 * A platform that goes away fails, and its series end with it: what they last were is no more than that.  A reload
 * opens it again, and it counts from nothing.  One behind a socket is tried again without that, since its server may
 * have been started anew: every RETRY_NS, but a try may hold all up for as long as a silent server does, so it waits
 * RETRY_SHARE times what the last try took.
 */
#include <string.h>

#include "capture/watch.h"
#include "serve/serve_int.h"

/* All clients wait for a silent server, and Prometheus for 10 s: those behind sockets have this together, but each at
 * least a second. */
#define ANSWER_MS 5000u
#define ANSWER_LEAST_MS 1000u
#define RETRY_NS UINT64_C(2000000000)
#define RETRY_SHARE 20u

int platform_open(struct tally_serve *s, const char *on, const char *device, const char *events, const char *view,
		  struct program **ret)
{
	struct program *p = mem_alloc(sizeof(*p));
	struct buf name = { 0 };

	if (!p)
		return -TALLY_ENOMEM;
	buf_printf(&name, "%s%s%s", on, device ? "/" : "", device ? device : "");
	*p = (struct program){ .serve = s,
			       .state = PROGRAM_FAILED,
			       .is_platform = true,
			       .is_capture = device != NULL,
			       .stays = true,
			       .path = mem_strdup(on),
			       .name = name.failed ? NULL : mem_strdup(name.p),
			       .events = events ? mem_strdup(events) : NULL,
			       .view = view ? mem_strdup(view) : NULL };
	buf_free(&name);
	if (!p->path || !p->name || (events && !p->events) || (view && !p->view)) {
		program_close(p);
		return -TALLY_ENOMEM;
	}
	*ret = p;
	return 0;
}

static int platform_note_loss(void *arg, const char *kind, const char *text, uint64_t count)
{
	const struct program *p = arg;

	(void)kind;
	if (count)
		serve_note(p->serve, "%s: %s: %llu", p->name, text, (unsigned long long)count);
	return 0;
}

static void platform_end(struct program *p)
{
	if (p->watch)
		(void)watch_losses(p->watch, platform_note_loss, p);
	watch_close(p->watch);
	p->watch = NULL;
	p->state = PROGRAM_FAILED;
	program_forget_metrics(p);
	map_free(&p->family);
}

void platform_close(struct program *p)
{
	platform_end(p);
	mem_free(p->events);
	mem_free(p->view);
}

/* What is said while it is opened, such as that it has not all of the events, stays in /status. */
static int platform_note(void *arg, const char *text, size_t n)
{
	struct program *p = arg;
	const struct err said = p->why;
	const int len = (int)(n && text[n - 1] == '\n' ? n - 1 : n);

	serve_note(p->serve, "%s: %.*s", p->name, len, text);
	if (p->state == PROGRAM_RUNS)
		return 0;
	p->why = (struct err){ 0 };
	(void)err_set(&p->why, TALLY_ENOTSUP, "%s%s%.*s", said.text, *said.text ? "; " : "", len, text);
	return 0;
}

static bool platform_is_behind_socket(const struct program *p)
{
	return p->is_platform && !strncmp(p->path, "unix:", 5);
}

static uint64_t platform_now(const struct program *p)
{
	return p->serve->o.clock(p->serve->o.arg);
}

/* What is said already is not said again. */
static int platform_fail(struct program *p, int rc, const struct err *said)
{
	const char *words = p->watch ? watch_error(p->watch) : tally_strerror(rc);

	if (said && !strcmp(said->text, words))
		p->why = *said;
	else
		rc = program_fail(p, rc, words, "");
	platform_end(p);
	p->passed_ns = platform_now(p);
	p->retry_ns = platform_is_behind_socket(p) && !p->serve->dropped ? RETRY_NS : 0;
	return rc;
}

/* ---- figures ------------------------------------------------------------------------------ */

struct platform_reading {
	struct program *p;
	const struct metric_reading *r;
};

/* The metric of a family; NULL: it has none, since another program has that name, or memory is out. */
static struct metric *platform_metric(struct program *p, const struct watch_figure *f, int *rc)
{
	void **slot = map_at(&p->family, f->family, strlen(f->family));
	struct metric *m;

	*rc = slot ? 0 : -TALLY_ENOMEM;
	if (slot && *slot) {
		m = &p->metric[(uintptr_t)*slot - 1];
		return m->name ? m : NULL;
	}
	m = slot ? VEC_NEW(p->metric, p->nmetrics, p->capmetrics) : NULL;
	*rc = m ? metric_open_figure(m, f, p->serve->o.series) : -TALLY_ENOMEM;
	if (*rc < 0)
		return NULL;
	metric_count_since(m, p->since_ns);
	*slot = (void *)(uintptr_t)p->nmetrics;
	p->serve->unsettled = true;
	return m;
}

static int platform_take_figure(void *arg, const struct watch_figure *f)
{
	const struct platform_reading *c = arg;
	int rc;
	struct metric *m = platform_metric(c->p, f, &rc);

	return m ? metric_add_figure(m, c->r, c->p->name, f) : rc;
}

static int platform_take_all(struct program *p, const struct metric_reading *r)
{
	struct platform_reading c = { p, r };
	int rc;

	for (uint32_t i = 0; i < p->nmetrics; i++)
		metric_begin(&p->metric[i], r);
	rc = watch_read(p->watch, platform_take_figure, &c);
	for (uint32_t i = 0; rc >= 0 && i < p->nmetrics; i++)
		rc = p->metric[i].name ? metric_end(&p->metric[i], r, p->name) : 0;
	return rc < 0 ? platform_fail(p, rc, NULL) : 0;
}

int platform_read(struct program *p, const struct metric_reading *r)
{
	return p->watch && watch_is_due(p->watch) ? platform_take_all(p, r) : 0;
}

/* ---- life ------------------------------------------------------------------------------------ */

static uint32_t platform_answer_ms(const struct tally_serve *s)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->nprograms; i++)
		n += platform_is_behind_socket(s->program[i]);
	return n > ANSWER_MS / ANSWER_LEAST_MS ? ANSWER_LEAST_MS : ANSWER_MS / (n ? n : 1);
}

/* said: the words of the try before, or NULL. */
static int platform_try(struct program *p, const struct err *said)
{
	const struct tally_serve *s = p->serve;
	const struct watch_opts o = {
		.on = p->path,
		.events = p->events,
		.view = p->view,
		.note = platform_note,
		.arg = p,
		.stop = s->o.stop,
		.answer_ms = platform_answer_ms(s),
		.is_sealed = s->o.flags & TALLY_SERVE_DROP,
	};
	const struct metric_reading r = { FORMAT_TEXT, platform_now(p) };
	int rc;

	p->why = (struct err){ 0 };
	p->retry_ns = 0;
	if (s->dropped)
		return err_set(&p->why, TALLY_EPERM, "the capabilities to count there were given up (--drop)");
	rc = p->is_capture ? capture_watch_open(&p->watch, &o) : watch_open(&p->watch, &o);
	if (rc < 0)
		return platform_fail(p, rc, said);
	p->passed_ns = p->since_ns = r.now_ns;
	rc = platform_take_all(p, &r);
	if (rc >= 0)
		p->state = PROGRAM_RUNS;
	return rc;
}

int platform_load(struct program *p)
{
	return p->watch ? 0 : platform_try(p, NULL);
}

static void platform_try_again(struct program *p, uint64_t now)
{
	const struct err said = p->why;
	uint64_t took;

	if (platform_try(p, &said) >= 0) {
		serve_note(p->serve, "%s: it is there again, and counts from 0", p->name);
		return;
	}
	took = p->passed_ns > now ? p->passed_ns - now : 0;
	if (p->retry_ns && took * RETRY_SHARE > p->retry_ns)
		p->retry_ns = took * RETRY_SHARE;
}

uint64_t platform_wait_ns(const struct program *p, uint64_t now)
{
	const uint64_t every = p->watch ? p->watch->every_ns : p->retry_ns;

	return now >= p->passed_ns && now - p->passed_ns < every ? every - (now - p->passed_ns) :
								   0; /* it may go back */
}

void platform_work(struct program *p)
{
	const uint64_t now = platform_now(p);
	int rc;

	if ((!p->watch && !p->retry_ns) || platform_wait_ns(p, now))
		return;
	if (!p->watch) {
		platform_try_again(p, now);
		return;
	}
	p->passed_ns = now;
	rc = watch_pass(p->watch);
	if (rc < 0)
		(void)platform_fail(p, rc, NULL);
}
