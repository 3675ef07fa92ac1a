/*
 * archive.c: what programs count, kept as Parquet in a directory that DuckDB, ClickHouse and Spark read as tables.
 *
 * A file has what was counted since the one before, so files of any hours, hosts and runs add up. min() and max() are
 * what they are so far, which fold by min() and max(). What clear() or trunc() set back (an_row.epoch tells) counts
 * from 0. The rows are JSON lines as `tally trace` writes them, and what `tally export` makes of them is the file
 * (capture/answers.c): it has its name when it is complete and on the disk.
 *
 * A reading becomes a batch, and the next differences count from there.  A batch stays in memory until all of its files
 * are written.  Its text names the files, so a batch of which some were written before the disk was full is written
 * again as a whole, and takes their places: each count is in the archive once.  While a batch of a program waits the
 * program is not read, so memory is bounded, and what it counts meanwhile is in the next one.
 *
 * Hosts may share the directory.  A host has a lock there, since two services of one host could give files one name.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <tally/ptt.h>

#include "answer/answer.h"
#include "base/file.h"
#include "serve/archive_int.h"
#include "session/session.h"

#define USUAL_SECONDS 600u
#define BATCHES_MOST 64u /* of programs that ended while the disk was full; a program that runs has one */

struct archive_batch {
	struct archive_batch *next;
	char *program;
	char hour[16]; /* 2026-11-28T15 */
	struct buf text;
	uint64_t rows;
};

struct archive {
	/* set by _open, then read-only */
	struct tally_serve *s;
	const char *host;
	int lock;
	uint64_t every_ns;
	/* what goes on */
	uint64_t last_ns, next_ns; /* of readings */
	struct archive_batch *waiting;
	uint64_t written, failures; /* batches; tries */
	struct err why;             /* the last try failed */
};

/* What a row was when it was read last. */
struct archived_row {
	uint64_t epoch;
	int64_t n, sum;
	uint32_t nbuckets;
	int64_t bucket[];
};
static const struct archived_row archived_nothing;

/* ---- differences -------------------------------------------------------------------------------- */

struct archive_reading {
	struct program *p;
	struct archive_batch *b;
	const char *time;
	struct map now; /* the rows that there are */
	struct buf key;
	struct arena arena;
};

static void archived_free(struct map *m)
{
	size_t i = 0;
	const void *key;
	size_t n;
	void *row;

	while (map_next(m, &i, &key, &n, &row))
		mem_free(row);
	map_free(m);
	*m = (struct map){ 0 };
}

/* Keeps the row for the next reading. *was: what it was in the last one, or nothing if it was set back since; NULL: it
 * was not there. False: out of memory. */
static bool archive_keep(struct archive_reading *c, const struct an_row *r, const struct archived_row **was)
{
	struct archived_row *keep = mem_alloc(sizeof(*keep) + r->nbuckets * sizeof(keep->bucket[0]));
	void **slot = keep && !c->key.failed ? map_at(&c->now, c->key.p, c->key.n) : NULL;

	if (!slot) {
		mem_free(keep);
		return false;
	}
	keep->epoch = r->epoch;
	keep->n = r->n;
	keep->sum = r->sum;
	keep->nbuckets = r->nbuckets;
	if (r->nbuckets)
		memcpy(keep->bucket, r->bucket, r->nbuckets * sizeof(keep->bucket[0]));
	mem_free(*slot); /* stacks of two addresses may have one text */
	*slot = keep;
	*was = map_get(&c->p->archived, c->key.p, c->key.n);
	if (*was && (*was)->epoch != r->epoch)
		*was = &archived_nothing;
	return true;
}

/* What came since, in `r`; false: nothing. A count that is lower than it was began anew. */
static bool archive_subtract(struct archive_reading *c, uint8_t fn, const struct archived_row *was, struct an_row *r)
{
	int64_t *bucket;
	const bool is_new = !was; /* then it may be there a moment before it counts */
	bool is_more = false, is_less = false;

	if (is_new)
		was = &archived_nothing;
	switch (fn) {
	case AGG_MIN:
	case AGG_MAX:
		return r->n && (!was->n || r->sum != was->sum);
	case AGG_STDDEV: /* of all so far: it has no difference */
		return r->n != was->n;
	case AGG_COUNT:
		r->sum -= r->sum < was->sum ? 0 : was->sum;
		return r->sum;
	case AGG_SUM:
		r->sum = (int64_t)((uint64_t)r->sum - (uint64_t)was->sum);
		return r->sum || is_new;
	case AGG_AVG:
		if (r->n == was->n && r->sum == was->sum)
			return false;
		if (r->n >= was->n) {
			r->n -= was->n;
			r->sum = (int64_t)((uint64_t)r->sum - (uint64_t)was->sum);
		}
		return true;
	default:
		break;
	}
	bucket = arena_alloc(&c->arena, (r->nbuckets + 1) * sizeof(*bucket));
	for (uint32_t i = 0; bucket && i < r->nbuckets; i++) {
		bucket[i] = r->bucket[i] - (i < was->nbuckets ? was->bucket[i] : 0);
		is_more |= bucket[i] > 0;
		is_less |= bucket[i] < 0;
	}
	if (!is_less && bucket)
		r->bucket = bucket;
	return is_more || is_less;
}

static int archive_take(void *arg, uint32_t number, const struct an_agg *a)
{
	struct archive_reading *c = arg;
	struct an_agg some = *a;

	some.name = *a->name ? a->name : c->p->name;
	some.normal = 1;
	some.time = c->time;
	some.nrows = 0;
	some.row = arena_alloc(&c->arena, (a->nrows + 1ull) * sizeof(*some.row));
	if (!some.row)
		return -TALLY_ENOMEM;
	for (uint32_t i = 0; i < a->nrows; i++) {
		struct an_row r = a->row[i];
		const struct archived_row *was;

		buf_clear(&c->key);
		buf_printf(&c->key, "%u", number);
		for (uint32_t k = 0; k < r.nkeys; k++) {
			buf_putc(&c->key, ',');
			an_json_value(&c->key, &r.key[k]);
		}
		if (!archive_keep(c, &a->row[i], &was))
			return -TALLY_ENOMEM;
		if (archive_subtract(c, a->fn, was, &r))
			some.row[some.nrows++] = r;
	}
	c->b->rows += some.nrows;
	an_json_agg(&c->b->text, &some);
	return c->arena.failed || c->b->text.failed ? -TALLY_ENOMEM : 0;
}

/* Firings that an event lost may turn out to be late: then the difference is negative, and the sum is right. */
static int archive_take_loss(void *arg, const char *kind, uint64_t count)
{
	struct archive_reading *c = arg;
	const struct an_row r = { .sum = (int64_t)count };
	const struct archived_row *was;

	buf_clear(&c->key);
	buf_puts(&c->key, kind);
	if (!archive_keep(c, &r, &was))
		return -TALLY_ENOMEM;
	if (r.sum == (was ? was->sum : 0))
		return 0;
	buf_printf(&c->b->text, "{\"type\":\"drop\",\"kind\":\"%s\",\"count\":%lld,\"time\":\"%s\"}\n", kind,
		   (long long)(r.sum - (was ? was->sum : 0)), c->time);
	c->b->rows++;
	return 0;
}

static int archive_take_drop(void *arg, const char *kind, uint64_t count)
{
	return strcmp(kind, "firings") ? archive_take_loss(arg, kind, count) : 0;
}

/* ---- batches ------------------------------------------------------------------------------------- */

static void batch_free(struct archive_batch *b)
{
	if (!b)
		return;
	buf_free(&b->text);
	mem_free(b->program);
	mem_free(b);
}

static void time_put(char *to, size_t n, const char *format, uint64_t ns)
{
	const time_t t = (time_t)(ns / SECOND_NS);
	struct tm tm;

	if (!gmtime_r(&t, &tm) || !strftime(to, n, format, &tm))
		*to = '\0';
}

/* A batch of what the program counted since its last reading, behind those that wait. */
static int archive_read(struct archive *a, struct program *p, uint64_t now_ns)
{
	struct archive_batch *b = mem_alloc(sizeof(*b)), **at = &a->waiting;
	char day[24], time[40];
	struct archive_reading c = { .p = p, .b = b, .time = time };
	uint64_t lost;
	int rc = b && (b->program = mem_strdup(p->name)) ? 0 : -TALLY_ENOMEM;

	time_put(day, sizeof(day), "%Y-%m-%d %H:%M:%S", now_ns);
	snprintf(time, sizeof(time), "%s.%06llu", day, (unsigned long long)(now_ns % SECOND_NS / 1000));
	if (rc >= 0) {
		time_put(b->hour, sizeof(b->hour), "%Y-%m-%dT%H", a->last_ns);
		rc = session_walk_aggregations(p->trace, archive_take, &c);
	}
	if (rc >= 0)
		rc = tally_trace_drops(p->trace, archive_take_drop, &c);
	if (rc >= 0 && program_firings_lost(p, &lost) >= 0)
		rc = archive_take_loss(&c, "firings", lost);
	if (rc >= 0 && b->text.failed)
		rc = -TALLY_ENOMEM;
	if (rc >= 0) {
		archived_free(&p->archived);
		p->archived = c.now;
		c.now = (struct map){ 0 };
		while (*at)
			at = &(*at)->next;
		if (b->rows) {
			*at = b;
			b = NULL;
		}
	} else {
		serve_note(a->s, "archive: %s cannot be read now: %s", p->name, tally_strerror(rc));
	}
	batch_free(b);
	buf_free(&c.key);
	arena_free(&c.arena);
	archived_free(&c.now);
	return rc;
}

/* Its text as a file that DuckDB opens, and no disk can be too full for. */
static int batch_write(const struct archive *a, const struct archive_batch *b, struct err *e)
{
	const struct tally_ptt_export_opts x = { .size = sizeof(x),
						 .format = TALLY_FORMAT_PARQUET,
						 .path = a->s->o.archive,
						 .partition = "program,host,hour",
						 .host = a->host,
						 .capture = b->program,
						 .hour = b->hour,
						 .duckdb = a->s->o.duckdb };
	const int fd = memfd_create("answers", MFD_CLOEXEC);
	struct tally_ptt *t = NULL;
	char path[32];
	int rc = fd < 0 ? err_set(e, TALLY_EIO, "no memory for a file: %s", strerror(errno)) : 0;

	for (size_t done = 0; rc >= 0 && done < b->text.n;) {
		const ssize_t n = write(fd, b->text.p + done, b->text.n - done);

		if (n < 0 && errno != EINTR)
			rc = err_set(e, TALLY_EIO, "no memory for a file: %s", strerror(errno));
		done += n > 0 ? (size_t)n : 0;
	}
	snprintf(path, sizeof(path), "/dev/fd/%d", fd);
	if (rc >= 0)
		rc = tally_ptt_open(&t, NULL);
	if (rc >= 0)
		rc = tally_ptt_file(t, path);
	if (rc >= 0)
		rc = tally_ptt_export(t, &x);
	if (rc < 0 && !e->code)
		(void)err_set(e, (enum tally_err) - rc, "%s", t ? tally_ptt_error(t) : tally_strerror(rc));
	tally_ptt_close(t);
	if (fd >= 0)
		close(fd);
	return rc;
}

/* Writes what waits, the oldest first, until one fails. */
static void archive_write(struct archive *a)
{
	while (a->waiting) {
		struct archive_batch *b = a->waiting;
		struct err e = { 0 };
		int rc;

		service_raise_rights(false);
		rc = batch_write(a, b, &e);
		service_raise_rights(true);
		if (rc < 0) {
			a->failures++;
			if (strcmp(a->why.text, e.text) != 0)
				serve_note(a->s, "archive: what %s counted waits: %s", b->program, e.text);
			a->why = e;
			return;
		}
		if (a->why.code)
			serve_note(a->s, "archive: what waited is written");
		a->why = (struct err){ 0 };
		a->written++;
		a->waiting = b->next;
		batch_free(b);
	}
}

static uint32_t archive_count_waiting(const struct archive *a)
{
	uint32_t n = 0;

	for (const struct archive_batch *b = a->waiting; b; b = b->next)
		n++;
	return n;
}

void archive_read_last(struct archive *a, struct program *p)
{
	if (!a || !p->trace)
		return;
	if (archive_count_waiting(a) < BATCHES_MOST)
		(void)archive_read(a, p, a->s->o.clock(a->s->o.arg));
	else
		serve_note(a->s, "archive: what %s counted last is lost: too much waits", p->name);
	archived_free(&p->archived);
	archive_write(a);
}

int archive_work(struct archive *a, uint64_t now_ns)
{
	if (!a)
		return -1;
	if (now_ns >= a->next_ns || a->next_ns > now_ns + a->every_ns) { /* the clock may be set back */
		archive_write(a);
		for (uint32_t i = 0; i < a->s->nprograms; i++) {
			struct program *p = a->s->program[i];
			bool waits = false;

			for (const struct archive_batch *b = a->waiting; b; b = b->next)
				waits |= !strcmp(b->program, p->name);
			if (p->trace && !waits)
				(void)archive_read(a, p, now_ns);
		}
		archive_write(a);
		a->last_ns = now_ns;
		a->next_ns = (now_ns / a->every_ns + 1) * a->every_ns; /* so that no file is of two hours */
	}
	return (int)((a->next_ns - now_ns) / 1000000 + 1);
}

/* ---- life ----------------------------------------------------------------------------------------- */

/* What a service of this host left behind when it was killed. */
static int archive_remove_stale(void *arg, const char *name)
{
	const struct archive *a = arg;
	const size_t n = strlen(name), nhost = strlen(a->host);
	struct buf path = { 0 };

	if (strncmp(name, ".tally-", 7) != 0 || strncmp(name + 7, a->host, nhost) != 0 || name[7 + nhost] != '-' ||
	    n < 4 || strcmp(name + n - 4, ".tmp") != 0)
		return 0;
	buf_printf(&path, "%s/%s", a->s->o.archive, name);
	if (!path.failed)
		(void)unlink(path.p);
	buf_free(&path);
	return 0;
}

int archive_open(struct archive **ret, struct tally_serve *s, struct err *e)
{
	struct archive *a = mem_alloc(sizeof(*a));
	struct archive_batch nothing = { .program = "none", .hour = "none" };
	struct buf path = { 0 };
	int rc = 0;

	if (!a)
		return err_oom(e);
	a->s = s;
	a->host = s->o.host && *s->o.host ? s->o.host : "localhost";
	a->every_ns = (s->o.archive_seconds ? s->o.archive_seconds : USUAL_SECONDS) * SECOND_NS;
	a->last_ns = s->o.clock(s->o.arg);
	a->next_ns = (a->last_ns / a->every_ns + 1) * a->every_ns;
	buf_printf(&path, "%s/.tally-%s.lock", s->o.archive, a->host);
	a->lock = -1;
	if (path.failed)
		rc = err_oom(e);
	else if (strchr(a->host, '/'))
		rc = err_set(e, TALLY_EINVAL, "invalid host name '%s'", a->host);
	else if (file_make_parents(path.p, e) < 0)
		rc = -TALLY_EIO;
	else if ((a->lock = file_lock(path.p)) < 0)
		rc = errno == EAGAIN ? err_set(e, TALLY_EBUSY, "%s: another tally serve of this host archives there",
					       s->o.archive) :
				       err_set(e, TALLY_EIO, "failed to lock %s: %s", path.p, strerror(errno));
	else
		(void)dir_each(s->o.archive, archive_remove_stale, a);
	/* A batch of nothing writes nothing, and says now that DuckDB is not there. */
	buf_puts(&nothing.text, "{\"type\":\"matched\"}\n");
	if (rc >= 0)
		rc = nothing.text.failed ? err_oom(e) : batch_write(a, &nothing, e);
	buf_free(&nothing.text);
	buf_free(&path);
	if (rc < 0) {
		if (a->lock >= 0)
			close(a->lock);
		mem_free(a);
		return rc;
	}
	*ret = a;
	return 0;
}

void archive_close(struct archive *a)
{
	if (!a)
		return;
	archive_write(a);
	while (a->waiting) {
		struct archive_batch *b = a->waiting;

		serve_note(a->s, "archive: what %s counted is lost, %llu rows: %s", b->program,
			   (unsigned long long)b->rows, a->why.text);
		a->waiting = b->next;
		batch_free(b);
	}
	close(a->lock);
	mem_free(a);
}

void archive_put_metrics(const struct archive *a, enum format f, struct buf *to)
{
	if (!a)
		return;
	metric_head_own(to, f, OWN_archive_writes);
	buf_printf(to, "tally_archive_writes_total %llu\n", (unsigned long long)a->written);
	metric_head_own(to, f, OWN_archive_failures);
	buf_printf(to, "tally_archive_failures_total %llu\n", (unsigned long long)a->failures);
	metric_head_own(to, f, OWN_archive_waiting);
	buf_printf(to, "tally_archive_waiting %u\n", archive_count_waiting(a));
}

void archive_put_status(const struct archive *a, struct buf *to)
{
	if (!a)
		return;
	buf_printf(to, ",\"archive\":{\"written\":%llu,\"waiting\":%u,\"reason\":", (unsigned long long)a->written,
		   archive_count_waiting(a));
	buf_json_str(to, a->why.text, strlen(a->why.text));
	buf_putc(to, '}');
}
