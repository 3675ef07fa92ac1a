/*
 * program.c: one D program of the service.
 *
 * A program that fails must not end the others, so each has a trace of its own, and what goes wrong is kept with it. A
 * new text takes the place of a running one only once it compiles: until then the old program counts on, and /status
 * says why.  A text that did not change is left alone, so a reload loses nothing.
 *
 * What a program prints goes to the log, line by line, with its name in front.  What it counted is read at a scrape and
 * at no other time: of aggregations only what printa() asks for is printed.
 */
#include <string.h>

#include "base/file.h"
#include "serve/archive_int.h"
#include "serve/serve_int.h"
#include "session/session.h"

#define TEXT_MOST (1u << 20) /* bytes of a program */
#define DROPS_TOLD_NS UINT64_C(60000000000)
#define AGGSIZE "1m" /* a reading passes all of a map's buckets, also those that are empty */

/* ---- life ------------------------------------------------------------------------- */

int program_open(struct tally_serve *s, const char *path, struct program **ret)
{
	struct program *p = mem_alloc(sizeof(*p));
	const char *base = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
	const size_t n = strlen(base);

	if (!p)
		return -TALLY_ENOMEM;
	p->serve = s;
	p->state = PROGRAM_FAILED;
	p->path = mem_strdup(path);
	p->name = mem_strdup(base);
	if (!p->path || !p->name) {
		program_close(p);
		return -TALLY_ENOMEM;
	}
	if (n > 2 && !strcmp(base + n - 2, ".d"))
		p->name[n - 2] = '\0';
	*ret = p;
	return 0;
}

void program_forget_metrics(struct program *p)
{
	for (uint32_t i = 0; i < p->nmetrics; i++)
		metric_close(&p->metric[i]);
	mem_free(p->metric);
	p->metric = NULL;
	p->nmetrics = p->capmetrics = 0;
}

/* Its END runs. */
static void program_stop(struct program *p)
{
	if (p->state == PROGRAM_RUNS) {
		p->state = PROGRAM_ENDED;
		(void)tally_trace_stop(p->trace);
	}
}

void program_close(struct program *p)
{
	if (!p)
		return;
	if (p->is_platform)
		platform_close(p);
	else
		program_stop(p);
	archive_read_last(p->serve->archive, p);
	program_forget_metrics(p);
	tally_trace_close(p->trace);
	mem_free(p->text);
	mem_free(p->path);
	mem_free(p->name);
	mem_free(p);
}

/* ---- its words -------------------------------------------------------------------------- */

static void program_say(const struct program *p, const char *text, size_t n)
{
	while (n) {
		const char *end = memchr(text, '\n', n);
		const size_t len = end ? (size_t)(end - text) : n;

		if (len)
			serve_note(p->serve, "%s: %.*s", p->name, (int)(len > 4096 ? 4096 : len), text);
		text += end ? len + 1 : len;
		n -= end ? len + 1 : len;
	}
}

static int program_take_text(void *arg, const char *text, size_t n)
{
	program_say(arg, text, n);
	return 0;
}

int program_fail(struct program *p, int rc, const char *words, const char *reason)
{
	p->why = (struct err){ 0 };
	(void)err_set(&p->why, (enum tally_err) - rc, "%s%s%s", *words ? words : tally_strerror(rc),
		      *reason ? ": " : "", reason);
	serve_note(p->serve, "%s: %s", p->name, p->why.text);
	return rc;
}

/* A call of its trace failed. */
static int program_trace_failed(struct program *p, struct tally_trace *t, int rc)
{
	return program_fail(p, rc, tally_trace_error(t), tally_trace_reason(t));
}

/* ---- compiling -------------------------------------------------------------------------- */

struct program_metrics {
	struct program *p;
	struct metric *metric;
	uint32_t n, cap;
	struct err e;
};

static int program_add_metric(void *arg, const struct tally_aggregation *a)
{
	struct program_metrics *c = arg;
	struct metric *m = VEC_NEW(c->metric, c->n, c->cap);
	struct err e = { 0 };
	int rc = m ? metric_open(m, c->p->name, a, c->p->serve->o.series, &e) : -TALLY_ENOMEM;

	if (rc == -TALLY_ENOTSUP) { /* the program counts all the same; its place stays empty */
		serve_note(c->p->serve, "%s: %s", c->p->name, e.text);
		return 0;
	}
	return rc;
}

static int program_compile(struct program *p, struct tally_trace **ret, const char *text, size_t n)
{
	const struct tally_trace_opts o = {
		.size = sizeof(o),
		.out = program_take_text,
		.note = program_take_text,
		.arg = p,
		.flags = TALLY_TRACE_SUMS | TALLY_TRACE_PRINTA_ONLY,
		.stop = p->serve->o.stop,
	};
	struct program_metrics c = { .p = p };
	int rc = tally_trace_open(ret, &o);

	if (rc >= 0)
		session_tell_drops_seldom(*ret, DROPS_TOLD_NS);
	if (rc >= 0)
		rc = tally_trace_option(*ret, "quiet", NULL);
	if (rc >= 0)
		rc = tally_trace_option(*ret, "aggsize", AGGSIZE);
	if (rc >= 0) /* of too many keys the largest have a series */
		rc = tally_trace_option(*ret, "aggsortrev", NULL);
	if (rc >= 0)
		rc = tally_trace_source(*ret, p->path, text, n);
	if (rc >= 0)
		rc = tally_trace_compile(*ret);
	if (rc >= 0) /* before a program that runs is given up for it */
		rc = session_check_rights(*ret);
	if (rc >= 0)
		rc = tally_trace_aggregations(*ret, program_add_metric, &c);
	if (rc < 0) {
		for (uint32_t i = 0; i < c.n; i++)
			metric_close(&c.metric[i]);
		mem_free(c.metric);
		return *ret ? program_trace_failed(p, *ret, rc) : err_oom(&p->why);
	}
	program_forget_metrics(p);
	p->metric = c.metric;
	p->nmetrics = c.n;
	p->capmetrics = c.cap;
	return 0;
}

int program_load(struct program *p, bool *is_new)
{
	struct tally_trace *t = NULL;
	struct err e = { 0 };
	uint8_t *text;
	size_t n;
	int rc;

	*is_new = false;
	if (p->is_platform)
		return platform_load(p);
	rc = file_read_owned(p->path, TEXT_MOST, &text, &n, &e);
	if (rc < 0) {
		p->why = e;
		serve_note(p->serve, "%s: %s", p->name, e.text);
		return rc;
	}
	if (p->state == PROGRAM_RUNS && p->n == n && !memcmp(p->text, text ? (char *)text : "", n)) {
		mem_free(text);
		p->why = (struct err){ 0 };
		return 0;
	}
	if (p->serve->dropped) {
		mem_free(text);
		p->why = (struct err){ 0 };
		rc = err_set(
			&p->why, TALLY_EPERM,
			"it changed, and the capabilities to load it were given up (--drop): start the service again");
		serve_note(p->serve, "%s: %s", p->name, p->why.text);
		return rc;
	}
	rc = program_compile(p, &t, text ? (char *)text : "", n);
	if (rc < 0) {
		tally_trace_close(t);
		mem_free(text);
		return rc;
	}
	program_stop(p);
	p->state = PROGRAM_ENDED;
	archive_read_last(p->serve->archive, p);
	tally_trace_close(p->trace);
	mem_free(p->text);
	p->trace = t;
	p->text = (char *)text;
	p->n = n;
	p->why = (struct err){ 0 };
	p->generation++;
	*is_new = true;
	return 0;
}

int program_start(struct program *p)
{
	int rc;

	p->state = PROGRAM_RUNS; /* BEGIN may print */
	p->since_ns = p->serve->o.clock(p->serve->o.arg);
	for (uint32_t i = 0; i < p->nmetrics; i++)
		metric_count_since(&p->metric[i], p->since_ns);
	rc = tally_trace_go(p->trace);
	if (rc >= 0)
		return 0;
	p->state = PROGRAM_FAILED;
	(void)program_trace_failed(p, p->trace, rc);
	tally_trace_close(p->trace);
	p->trace = NULL;
	return rc;
}

/* ---- running ------------------------------------------------------------------------------ */

static void program_end(struct program *p)
{
	int rc;

	p->state = PROGRAM_ENDED;
	rc = tally_trace_stop(p->trace);
	if (rc < 0)
		(void)program_trace_failed(p, p->trace, rc);
	else
		(void)err_set(&p->why, TALLY_EEND, "it called exit(%d)", tally_trace_status(p->trace));
}

void program_work(struct program *p)
{
	int rc;

	if (p->is_platform) {
		platform_work(p);
		return;
	}
	if (p->state != PROGRAM_RUNS)
		return;
	rc = tally_trace_work(p->trace, 0);
	if (rc < 0) {
		(void)program_trace_failed(p, p->trace, rc);
		p->state = PROGRAM_FAILED;
		archive_read_last(p->serve->archive, p);
		tally_trace_close(p->trace);
		p->trace = NULL;
	} else if (rc > 0) {
		serve_note(p->serve, "%s: ended", p->name);
		program_end(p);
	}
}

static int program_add_loss(void *arg, const struct tally_loss *l)
{
	*(uint64_t *)arg += l->lost;
	return 0;
}

int program_firings_lost(const struct program *p, uint64_t *ret)
{
	*ret = 0;
	return tally_trace_losses(p->trace, program_add_loss, ret);
}

const char *program_state_text(const struct program *p)
{
	static const char *const states[] = { "running", "failed", "ended" };

	return states[p->state];
}

struct program_reading {
	struct program *p;
	const struct metric_reading *r;
};

/* Those that are metrics: stacks may be many, and take long to name. */
static bool program_wants(void *arg, uint32_t number)
{
	const struct program_reading *c = arg;

	return number < c->p->nmetrics && c->p->metric[number].name;
}

static int program_take_row(void *arg, const struct tally_row *row, uint64_t epoch)
{
	const struct program_reading *c = arg;

	return metric_add(&c->p->metric[row->aggregation], c->r, c->p->name, row, epoch);
}

int program_read(struct program *p, const struct metric_reading *r)
{
	struct program_reading c = { p, r };
	int rc;

	if (p->is_platform)
		return platform_read(p, r);
	for (uint32_t i = 0; i < p->nmetrics; i++)
		metric_begin(&p->metric[i], r);
	if (!p->trace)
		return 0;
	rc = session_walk_rows(p->trace, program_wants, program_take_row, &c);
	for (uint32_t i = 0; rc >= 0 && i < p->nmetrics; i++)
		rc = p->metric[i].name ? metric_end(&p->metric[i], r, p->name) : 0;
	return rc < 0 ? program_trace_failed(p, p->trace, rc) : 0;
}
