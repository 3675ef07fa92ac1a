/*
 * report.c: a pass that counts, and the three forms of what was counted.
 *
 * With several threads each one gets every chunk and counts its share of it (ptt/stats.h says why), and the calling
 * thread reads.  A chunk is valid only until the next is read, so it is copied. Shares of one chunk are uneven, and
 * waking a thread takes long, so chunks go in batches: one batch is read while the other is counted.
 */
#include <pthread.h>
#include <string.h>

#include "answer/emit.h"
#include "capture/capture.h"
#include "capture/page_int.h"

#define THREADS_MOST 64u
#define BATCH 4u
#define TOP_TEXT 10u
#define TOP_ROOMY 100u

struct piece {
	struct ptt_chunk chunk;
	struct ptt_decode_opts decode;
	uint8_t *bytes; /* of the chunk */
	size_t room;
};
struct batch {
	struct piece piece[BATCH];
	uint32_t n;
	uint32_t left; /* threads that have not counted it yet */
};
struct count {
	struct tally_ptt *t;
	struct ptt_pass pass;
	uint32_t n; /* threads */
	struct ptt_stats *stats[THREADS_MOST];
	const struct ptt_report *r; /* of stats[0], once all is counted */
	/* between the threads */
	pthread_mutex_t lock; /* over `left` of the batches and what follows */
	pthread_cond_t filled, freed;
	struct batch batch[2]; /* in turn */
	uint64_t batches;      /* so far */
	bool over;             /* there won't be more */
};
struct worker {
	struct count *c;
	struct ptt_stats *stats;
	pthread_t id;
};

/* ---- counting ---------------------------------------------------------------------- */

static void count_close(struct count *c)
{
	for (uint32_t i = 0; i < c->n; i++)
		ptt_stats_close(c->stats[i]);
	for (uint32_t i = 0; i < 2 * BATCH; i++)
		mem_free(c->batch[i / BATCH].piece[i % BATCH].bytes);
	ptt_pass_close(&c->pass);
}

static int count_open(struct count *c, struct tally_ptt *t, const struct tally_ptt_report_opts *o, bool track,
		      const struct ptt_break *breaks, uint32_t nbreaks)
{
	/* Blocks are made of records that every shard sees, and only with matching each sees all. */
	uint32_t n = o->threads && !(track && o->flags & TALLY_PTT_NO_MATCH) ? o->threads : 1;
	int rc;

	*c = (struct count){ .t = t, .n = n < THREADS_MOST ? n : THREADS_MOST };
	rc = ptt_pass_open(&c->pass, t, false);
	for (uint32_t i = 0; rc >= 0 && i < c->n; i++) {
		struct ptt_stats_opts so = { .match = !(o->flags & TALLY_PTT_NO_MATCH),
					     .shard = c->n > 1 ? i : 0,
					     .shards = c->n > 1 ? c->n : 0,
					     .all_errors = o->flags & TALLY_PTT_ERRORS,
					     .track = track,
					     .breaks = breaks,
					     .nbreaks = nbreaks };

		rc = ptt_stats_open(&c->stats[i], &so);
		if (rc < 0)
			(void)ptt_fail(t, (enum tally_err) - rc, "%s", tally_strerror(rc));
	}
	return rc;
}

static int count_alone(struct count *c)
{
	struct ptt_chunk chunk;
	struct ptt_stream *s;
	int rc;

	while ((rc = ptt_pass_next(&c->pass, &chunk, &s)) > 0)
		ptt_stats_chunk(c->stats[0], &chunk, &s->o);
	return rc;
}

/* Whether there is a k-th batch, once that is known. */
static bool report_batch_awaited(struct count *c, uint64_t k)
{
	pthread_mutex_lock(&c->lock);
	while (k == c->batches && !c->over)
		pthread_cond_wait(&c->filled, &c->lock);
	bool there = k < c->batches;
	pthread_mutex_unlock(&c->lock);
	return there;
}

static void *report_worker_run(void *arg)
{
	struct worker *w = arg;
	struct count *c = w->c;

	for (uint64_t k = 0; report_batch_awaited(c, k); k++) {
		struct batch *b = &c->batch[k % 2];
		for (uint32_t i = 0; i < b->n; i++)
			ptt_stats_chunk(w->stats, &b->piece[i].chunk, &b->piece[i].decode);
		pthread_mutex_lock(&c->lock);
		if (--b->left == 0)
			pthread_cond_signal(&c->freed);
		pthread_mutex_unlock(&c->lock);
	}
	return NULL;
}

static int report_copy_chunk(struct count *c, struct piece *to, const struct ptt_chunk *chunk,
			     const struct ptt_decode_opts *o)
{
	if (chunk->n > to->room) {
		uint8_t *more = mem_grow(to->bytes, chunk->n);
		if (!more)
			return ptt_oom(c->t);
		to->bytes = more;
		to->room = chunk->n;
	}
	if (chunk->n)
		memcpy(to->bytes, chunk->p, chunk->n);
	to->chunk = *chunk;
	to->chunk.p = to->bytes;
	to->decode = *o;
	return 0;
}

/* Returns as ptt_pass_next() did last. */
static int report_fill_batch(struct count *c, struct batch *b)
{
	struct ptt_chunk chunk;
	struct ptt_stream *s;
	int rc = 1;

	pthread_mutex_lock(&c->lock);
	while (b->left > 0)
		pthread_cond_wait(&c->freed, &c->lock);
	pthread_mutex_unlock(&c->lock);
	b->n = 0;
	while (b->n < BATCH && (rc = ptt_pass_next(&c->pass, &chunk, &s)) > 0) {
		int copied = report_copy_chunk(c, &b->piece[b->n], &chunk, &s->o);
		if (copied < 0)
			return copied;
		b->n++;
	}
	return rc;
}

static void report_write_page(struct count *c, struct batch *b)
{
	pthread_mutex_lock(&c->lock);
	b->left = c->n;
	c->batches++;
	pthread_cond_broadcast(&c->filled);
	pthread_mutex_unlock(&c->lock);
}

static int read_all(struct count *c)
{
	struct batch *b;
	int rc;

	do {
		b = &c->batch[c->batches % 2];
		rc = report_fill_batch(c, b);
		if (rc >= 0)
			report_write_page(c, b); /* at the end of the file a short one */
	} while (rc > 0);
	return rc;
}

static void say_over(struct count *c)
{
	pthread_mutex_lock(&c->lock);
	c->over = true;
	pthread_cond_broadcast(&c->filled);
	pthread_mutex_unlock(&c->lock);
}

/* Threads that cannot be had are an error, since their share would be missing. */
static int report_start_workers(struct count *c, struct worker *w, uint32_t *n)
{
	for (*n = 0; *n < c->n; ++*n) {
		w[*n] = (struct worker){ .c = c, .stats = c->stats[*n] };
		if (pthread_create(&w[*n].id, NULL, report_worker_run, &w[*n]))
			return ptt_fail(c->t, TALLY_ENOMEM, "cannot start %u threads", c->n);
	}
	return 0;
}

static int count_together(struct count *c)
{
	struct worker w[THREADS_MOST];
	uint32_t n;
	int rc;

	pthread_mutex_init(&c->lock, NULL);
	pthread_cond_init(&c->filled, NULL);
	pthread_cond_init(&c->freed, NULL);
	rc = report_start_workers(c, w, &n);
	if (rc >= 0)
		rc = read_all(c);
	say_over(c);
	while (n > 0)
		pthread_join(w[--n].id, NULL);
	for (uint32_t i = 1; rc >= 0 && i < c->n; i++)
		rc = ptt_stats_merge(c->stats[0], c->stats[i]);
	pthread_cond_destroy(&c->freed);
	pthread_cond_destroy(&c->filled);
	pthread_mutex_destroy(&c->lock);
	return rc;
}

static int count_once(struct count *c, struct tally_ptt *t, const struct tally_ptt_report_opts *o, bool track,
		      const struct ptt_break *breaks, uint32_t nbreaks)
{
	int rc = count_open(c, t, o, track, breaks, nbreaks);

	if (rc >= 0)
		rc = c->n > 1 ? count_together(c) : count_alone(c);
	return rc;
}

/* Where records are missing though nothing says so is known when all is counted: then once more. Of a pipe there is no
 * second time. */
static int count_all(struct count *c, struct tally_ptt *t, const struct tally_ptt_report_opts *o, bool track)
{
	struct ptt_break breaks[PTT_BREAKS];
	int rc = count_once(c, t, o, track, NULL, 0);
	uint32_t n = rc >= 0 && !ptt_is_pipe(t) ? ptt_stats_breaks(c->stats[0], breaks) : 0;

	if (n != 0) {
		count_close(c);
		rc = count_once(c, t, o, track, breaks, n);
	}
	for (uint32_t i = 0; rc >= 0 && i < c->pass.ndev; i++)
		if (c->pass.dev[i].seen)
			ptt_stats_time(c->stats[0], i, (enum ptt_time)c->pass.dev[i].o.time, c->pass.dev[i].sure,
				       c->pass.dev[i].sparse);
	const struct ptt_lost *lost = rc >= 0 ? ptt_reader_lost(c->pass.r) : NULL;
	if (lost && (lost->cut_bytes || lost->odd_bytes))
		ptt_stats_missing(c->stats[0]);
	if (rc >= 0)
		rc = ptt_stats_finish(c->stats[0], &c->r);
	if (rc < 0)
		(void)ptt_fail(t, (enum tally_err) - rc, "%s", tally_strerror(rc));
	return rc;
}

/* ---- showing --------------------------------------------------------------------------- */

static const char *device_name(void *arg, uint32_t device)
{
	return ptt_device_name(arg, device);
}

static struct ptt_page_in page_in(struct count *c, const struct tally_ptt_report_opts *o, const struct an_emit *e)
{
	uint32_t top = o->top ? o->top : e->ops->roomy ? TOP_ROOMY : TOP_TEXT;
	struct ptt_page_in in = { .r = c->r,
				  .lost = ptt_reader_lost(c->pass.r),
				  .file = c->t->path,
				  .device_name = device_name,
				  .arg = &c->pass,
				  .top = top,
				  .pictures = e->ops->roomy,
				  .top_told = o->top != 0,
				  .all_errors = o->flags & TALLY_PTT_ERRORS,
				  .time_told = c->t->o.time != TALLY_PTT_TIME_FOUND,
				  .time_recorded = true };

	for (uint32_t i = 0; i < c->pass.ndev; i++) {
		const struct ptt_stream *s = &c->pass.dev[i];

		in.time_recorded &= s->recorded || !s->seen;
	}
	return in;
}

static int report_show_page(struct tally_ptt *t, const struct an_page *p, const struct tally_ptt_report_opts *o,
			    struct an_emit *e)
{
	if (an_page_failed(p))
		return ptt_oom(t);
	e->ops->page(e, p);
	return ptt_flush(t, o->out, o->arg);
}

/* e: answers of t. */
static int report_take_options(struct tally_ptt *t, struct an_emit *e, struct tally_ptt_report_opts *o,
			       const struct tally_ptt_report_opts *opts)
{
	const uint32_t known = TALLY_PTT_NO_MATCH | TALLY_PTT_ASCII | TALLY_PTT_ERRORS;

	if (!opts_take(o, sizeof(*o), opts) || o->flags & ~known || o->zero ||
	    an_emit_open(e, &t->out,
			 &(struct an_how){ .format = o->format,
					   .columns = o->columns,
					   .ascii = o->flags & TALLY_PTT_ASCII }) < 0 ||
	    !e->ops->page)
		return ptt_fail(t, TALLY_EINVAL, "unknown options: they are of a newer library");
	return 0;
}

int tally_ptt_report(struct tally_ptt *t, const struct tally_ptt_report_opts *opts)
{
	struct tally_ptt_report_opts o = { 0 };
	struct an_page p = { 0 };
	struct an_emit e;
	struct count c;
	int rc;

	ptt_enter(t);
	rc = report_take_options(t, &e, &o, opts);
	if (rc < 0)
		return rc;
	rc = count_all(&c, t, &o, false);
	if (rc >= 0) {
		struct ptt_page_in in = page_in(&c, &o, &e);

		ptt_page_build(&p, &in);
		rc = report_show_page(t, &p, &o, &e);
	}
	an_page_free(&p);
	count_close(&c);
	return rc;
}

static int show_changes(struct tally_ptt *t, struct count *a, struct count *b, const struct tally_ptt_report_opts *o,
			struct an_emit *e)
{
	struct ptt_page_in ina = page_in(a, o, e), inb = page_in(b, o, e);
	struct ptt_change *change = NULL;
	struct an_page p = { 0 };
	int rc = ptt_compare(&change, a->r, b->r);

	if (rc < 0)
		return ptt_fail(t, (enum tally_err) - rc, "%s", tally_strerror(rc));
	ptt_page_changes(&p, &ina, &inb, change, (uint32_t)rc);
	rc = report_show_page(t, &p, o, e);
	mem_free(change);
	an_page_free(&p);
	return rc;
}

int tally_ptt_compare(struct tally_ptt *a, struct tally_ptt *b, const struct tally_ptt_report_opts *opts)
{
	struct tally_ptt_report_opts o = { 0 };
	struct count ca = { 0 }, cb = { 0 };
	struct an_emit e;
	int rc;

	ptt_enter(a);
	ptt_enter(b);
	rc = report_take_options(b, &e, &o, opts);
	if (rc < 0)
		return rc;
	rc = count_all(&ca, a, &o, true);
	if (rc < 0)
		(void)ptt_fail(b, (enum tally_err) - rc, "%s", a->err.text);
	else
		rc = count_all(&cb, b, &o, true);
	if (rc >= 0)
		rc = show_changes(b, &ca, &cb, &o, &e);
	count_close(&ca);
	count_close(&cb);
	return rc;
}
