/*
 * report.c: a pass that counts, and the three forms of what was counted.
 *
 * With several threads every one looks at every chunk and counts its share of
 * it (ptt/stats.h says why).  A chunk is valid only until the next is read, so all
 * wait for each other between two chunks; of 1 MiB each, that costs little.
 */
#include <pthread.h>

#include "capture/capture.h"
#include "capture/page_int.h"

#define THREADS_MOST 64u
#define TOP_TEXT 10u
#define TOP_ELSE 100u

struct count {
	struct tally_ptt *t;
	struct ptt_pass pass;
	uint32_t n;                           /* threads */
	struct ptt_stats *stats[THREADS_MOST];
	const struct ptt_report *r;           /* of stats[0], once all is counted */
	/* between the threads, around the barrier */
	pthread_mutex_t gate;                 /* held until all threads are there */
	pthread_barrier_t barrier;
	struct ptt_chunk chunk;
	struct ptt_decode_opts decode;
	bool given_up;                        /* under the gate: not all threads could be had */
	bool over;                            /* no chunk is left */
};
struct worker { struct count *c; uint32_t i; pthread_t id; };

/* ---- counting ---------------------------------------------------------------------- */

static void count_close(struct count *c)
{
	for (uint32_t i = 0; i < c->n; i++)
		ptt_stats_close(c->stats[i]);
	ptt_pass_close(&c->pass);
}

static int count_open(struct count *c, struct tally_ptt *t, const struct tally_ptt_report *o)
{
	uint32_t n = o->threads ? o->threads : 1;
	int rc;

	*c = (struct count){ .t = t, .n = n < THREADS_MOST ? n : THREADS_MOST };
	rc = ptt_pass_open(&c->pass, t, false);
	for (uint32_t i = 0; rc >= 0 && i < c->n; i++) {
		struct ptt_stats_opts so = { .match = !(o->flags & TALLY_PTT_NO_MATCH),
					     .shard = c->n > 1 ? i : 0, .shards = c->n > 1 ? c->n : 0 };

		rc = ptt_stats_open(&c->stats[i], &so);
		if (rc < 0)
			(void)ptt_fail(t, (enum tally_err)-rc, "%s", tally_strerror(rc));
	}
	return rc;
}

static int next(struct count *c)
{
	struct ptt_stream *s;
	int rc = ptt_pass_next(&c->pass, &c->chunk, &s);

	if (rc > 0)
		c->decode = s->o;
	return rc;
}

static int count_alone(struct count *c)
{
	int rc;

	while ((rc = next(c)) > 0)
		ptt_stats_chunk(c->stats[0], &c->chunk, &c->decode);
	return rc;
}

static void *work(void *arg)
{
	struct worker *w = arg;
	struct count *c = w->c;
	bool given_up;

	pthread_mutex_lock(&c->gate);
	given_up = c->given_up;
	pthread_mutex_unlock(&c->gate);
	while (!given_up) {
		pthread_barrier_wait(&c->barrier);        /* a chunk is there, or none is left */
		if (c->over)
			break;
		ptt_stats_chunk(c->stats[w->i], &c->chunk, &c->decode);
		pthread_barrier_wait(&c->barrier);        /* everybody is done with it */
	}
	return NULL;
}

/* This thread reads, and counts the share of the first. */
static int lead(struct count *c)
{
	int rc;

	while ((rc = next(c)) > 0) {
		pthread_barrier_wait(&c->barrier);
		ptt_stats_chunk(c->stats[0], &c->chunk, &c->decode);
		pthread_barrier_wait(&c->barrier);
	}
	c->over = true;
	pthread_barrier_wait(&c->barrier);
	return rc;
}

/* Starts all but the first. Threads that cannot be had are an error, since their share would be missing: those that
 * started find that it was given up. */
static uint32_t start(struct count *c, struct worker *w)
{
	uint32_t n = 1;

	pthread_mutex_init(&c->gate, NULL);
	pthread_mutex_lock(&c->gate);
	for (; n < c->n; n++) {
		w[n] = (struct worker){ .c = c, .i = n };
		if (pthread_create(&w[n].id, NULL, work, &w[n]))
			break;
	}
	c->given_up = n < c->n;
	pthread_mutex_unlock(&c->gate);
	return n;
}

static int count_together(struct count *c)
{
	struct worker w[THREADS_MOST];
	uint32_t n;
	int rc;

	if (pthread_barrier_init(&c->barrier, NULL, c->n))
		return ptt_fail(c->t, TALLY_ENOMEM, "no threads can be started here");
	n = start(c, w);
	rc = n == c->n ? lead(c) : ptt_fail(c->t, TALLY_ENOMEM, "%u threads can't be started here", c->n);
	while (--n)
		pthread_join(w[n].id, NULL);
	for (uint32_t i = 1; rc >= 0 && i < c->n; i++)
		rc = ptt_stats_merge(c->stats[0], c->stats[i]);
	pthread_barrier_destroy(&c->barrier);
	pthread_mutex_destroy(&c->gate);
	return rc;
}

static int count_all(struct count *c, struct tally_ptt *t, const struct tally_ptt_report *o)
{
	int rc = count_open(c, t, o);

	if (rc >= 0)
		rc = c->n > 1 ? count_together(c) : count_alone(c);
	for (uint32_t i = 0; rc >= 0 && i < c->pass.ndev; i++)
		if (c->pass.dev[i].seen)
			ptt_stats_time(c->stats[0], i, (enum ptt_time)c->pass.dev[i].o.time, c->pass.dev[i].sure);
	if (rc >= 0)
		rc = ptt_stats_finish(c->stats[0], &c->r);
	if (rc < 0)
		(void)ptt_fail(t, (enum tally_err)-rc, "%s", tally_strerror(rc));
	return rc;
}

/* ---- showing --------------------------------------------------------------------------- */

static const char *device_name(void *arg, uint32_t device)
{
	return ptt_device_name(arg, device);
}

static struct ptt_page_in page_in(struct count *c, const struct tally_ptt_report *o)
{
	uint32_t top = o->top ? o->top : o->form == TALLY_PTT_TEXT ? TOP_TEXT : TOP_ELSE;
	struct ptt_page_in in = { .r = c->r, .lost = ptt_reader_lost(c->pass.r), .file = c->t->path,
				  .device_name = device_name, .arg = &c->pass, .top = top,
				  .time_told = c->t->o.time != TALLY_PTT_TIME_FOUND, .time_recorded = true };

	for (uint32_t i = 0; i < c->pass.ndev; i++) {
		const struct ptt_stream *s = &c->pass.dev[i];

		in.time_recorded &= s->recorded || !s->seen;
		in.sparse |= s->sparse;
	}
	return in;
}

static int show(struct tally_ptt *t, const struct an_page *p, const struct tally_ptt_report *o)
{
	struct an_text_opts text = { .columns = o->columns, .ascii = o->flags & TALLY_PTT_ASCII };

	if (an_page_failed(p))
		return ptt_fail(t, TALLY_ENOMEM, "out of memory");
	if (o->form == TALLY_PTT_HTML)
		an_page_html(&t->out, p);
	else if (o->form == TALLY_PTT_JSON)
		an_page_json(&t->out, p);
	else
		an_page_text(&t->out, p, &text);
	return ptt_flush(t, o->out, o->arg);
}

static bool take(struct tally_ptt_report *o, const struct tally_ptt_report *opts)
{
	return opts_take(o, sizeof(*o), opts) && !(o->flags & ~(TALLY_PTT_NO_MATCH | TALLY_PTT_ASCII)) && !o->zero &&
	       (o->form == TALLY_PTT_TEXT || o->form == TALLY_PTT_JSON || o->form == TALLY_PTT_HTML);
}

int tally_ptt_report(struct tally_ptt *t, const struct tally_ptt_report *opts)
{
	struct tally_ptt_report o = { 0 };
	struct an_page p = { 0 };
	struct count c;
	int rc;

	ptt_enter(t);
	if (!take(&o, opts))
		return ptt_fail(t, TALLY_EINVAL, "options that are not known");
	rc = count_all(&c, t, &o);
	if (rc >= 0) {
		struct ptt_page_in in = page_in(&c, &o);

		ptt_page_build(&p, &in);
		rc = show(t, &p, &o);
	}
	an_page_free(&p);
	count_close(&c);
	return rc;
}

static int show_changes(struct tally_ptt *t, struct count *a, struct count *b, const struct tally_ptt_report *o)
{
	struct ptt_page_in ina = page_in(a, o), inb = page_in(b, o);
	struct ptt_change *change = NULL;
	struct an_page p = { 0 };
	int rc = ptt_compare(&change, a->r, b->r);

	if (rc < 0)
		return ptt_fail(t, (enum tally_err)-rc, "%s", tally_strerror(rc));
	ptt_page_changes(&p, &ina, &inb, change, (uint32_t)rc);
	rc = show(t, &p, o);
	mem_free(change);
	an_page_free(&p);
	return rc;
}

int tally_ptt_compare(struct tally_ptt *a, struct tally_ptt *b, const struct tally_ptt_report *opts)
{
	struct tally_ptt_report o = { 0 };
	struct count ca = { 0 }, cb = { 0 };
	int rc;

	ptt_enter(a);
	ptt_enter(b);
	if (!take(&o, opts))
		return ptt_fail(b, TALLY_EINVAL, "options that are not known");
	rc = count_all(&ca, a, &o);
	if (rc < 0)
		(void)ptt_fail(b, (enum tally_err)-rc, "%s", a->err.text);
	else
		rc = count_all(&cb, b, &o);
	if (rc >= 0)
		rc = show_changes(b, &ca, &cb, &o);
	count_close(&ca);
	count_close(&cb);
	return rc;
}
