/*
 * ptt: how fast traces are counted, without files, formats or printing around it.
 *
 *	ptt make 4dw|8dw MIB FILE             writes a generated trace: records and nothing else
 *	ptt data 4dw|8dw MIB FILE             the same in a perf.data file, as `perf report -D` reads it
 *	ptt read|count|match 4dw|8dw FILE     goes through the records of FILE, all mapped at once:
 *	      read    adds up all words: what there is to win
 *	      count   statistics without matching        match   and with
 *	ptt count2|match2 4dw|8dw FILE        the same in one thread and in two, in turn
 *
 * One thread prints the MiB/s of CPU time, of forty rounds the best of each MiB, since on a shared machine a neighbour
 * comes and goes within a round.  `2` prints those of wall time, of one thread and of two, each the best of ten
 * rounds.  A round more warms up.
 */
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench.h"
#include "ptt/gen.h"

enum { CHUNK = 1 << 20, ROUNDS = 40, ROUNDS_2 = 10, MOST_THREADS = 2 };

static volatile uint64_t sink;

/* A round's pieces of work, and the least CPU time that each has taken so far. */
struct laps {
	double *best, since;
	size_t n;
};

static void laps_begin(struct laps *l)
{
	l->n = 0;
	l->since = seconds(CLOCK_PROCESS_CPUTIME_ID);
}

static void lap(struct laps *l)
{
	double now = seconds(CLOCK_PROCESS_CPUTIME_ID);

	if (now - l->since < l->best[l->n])
		l->best[l->n] = now - l->since;
	l->n++;
	l->since = now;
}

static double laps_sum(const struct laps *l)
{
	double sum = 0;

	for (size_t i = 0; i < l->n; i++)
		sum += l->best[i];
	return sum;
}

static enum ptt_format format_named(const char *name)
{
	return strcmp(name, "4dw") == 0 ? PTT_4DW : PTT_8DW;
}

/* ---- making ------------------------------------------------------------------------------------- */

static int put(void *arg, const void *p, size_t n)
{
	return fwrite(p, 1, n, arg) == n ? 0 : -TALLY_EIO;
}

static int patch(void *arg, uint64_t off, const void *p, size_t n)
{
	bool done = fseek(arg, (long)off, SEEK_SET) == 0 && fwrite(p, 1, n, arg) == n;
	return done && fseek(arg, 0, SEEK_END) == 0 ? 0 : -TALLY_EIO;
}

static void make(const char *form, const char *format, const char *mib, const char *path)
{
	const struct ptt_gen_opts o = { .seed = 1,
					.format = (uint8_t)format_named(format),
					.requesters = 16,
					.faults = 20,
					.time = PTT_TIME_DELTA,
					.pages = 64 };
	const struct ptt_device device = { .name = "hisi_ptt0_2", .pmu_type = 24, .config = 0x100000001 };
	struct bytes_out out = { .arg = fopen(path, "wb"), .put = put, .patch = patch };
	struct ptt_writer *w = NULL;
	struct ptt_gen *g;
	struct err e = { 0 };
	uint8_t *p = mem_alloc(CHUNK);
	bool data = strcmp(form, "data") == 0;

	if (out.arg == NULL || p == NULL || ptt_gen_open(&g, &o) < 0 ||
	    (data && ptt_writer_open(&w, &out, &device, 1, &e) < 0))
		fail(path);
	for (long i = atol(mib); i > 0; i--) {
		size_t n = ptt_gen_fill(g, p, CHUNK);
		if ((data ? ptt_writer_aux(w, 0, p, n, 0) : put(out.arg, p, n)) < 0)
			fail(path);
	}
	if ((data && ptt_writer_close(w) < 0) || fclose(out.arg) != 0)
		fail(path);
	ptt_gen_close(g);
	mem_free(p);
}

/* ---- going through -------------------------------------------------------------------------------- */

struct work {
	const uint8_t *p;
	size_t n;
	enum ptt_format format;
	bool match;
	uint32_t shard, shards;
	struct ptt_stats *stats;
	struct laps *laps; /* NULL: the wall's clock is looked at */
};

static void lap_of(const struct work *w)
{
	if (w->laps)
		lap(w->laps);
}

static void *count(void *arg)
{
	struct work *w = arg;
	const struct ptt_stats_opts so = { .match = w->match, .shard = w->shard, .shards = w->shards };
	const struct ptt_decode_opts o = { .format = (uint8_t)w->format, .time = PTT_TIME_DELTA };

	if (ptt_stats_open(&w->stats, &so) < 0)
		fail("no memory");
	lap_of(w);
	for (size_t at = 0; at < w->n; at += CHUNK) {
		size_t n = w->n - at < CHUNK ? w->n - at : CHUNK;
		struct ptt_chunk c = { .p = w->p + at, .n = n, .format = (uint8_t)w->format, .offset = at };
		ptt_stats_chunk(w->stats, &c, &o);
		lap_of(w);
	}
	return NULL;
}

static void count_in_threads(struct work w, uint32_t threads)
{
	struct work part[MOST_THREADS];
	pthread_t id[MOST_THREADS];
	const struct ptt_report *r;

	w.shards = threads;
	for (uint32_t i = 0; i < threads; i++) {
		part[i] = w;
		part[i].shard = i;
		if (i > 0 && pthread_create(&id[i], NULL, count, &part[i]) != 0)
			fail("thread");
	}
	count(&part[0]);
	for (uint32_t i = 1; i < threads; i++) {
		pthread_join(id[i], NULL);
		if (ptt_stats_merge(part[0].stats, part[i].stats) < 0)
			fail("merge");
		ptt_stats_close(part[i].stats);
	}
	if (ptt_stats_finish(part[0].stats, &r) < 0)
		fail("finish");
	sink += r->records;
	ptt_stats_close(part[0].stats);
	lap_of(&w);
}

static void add_words(const struct work *w)
{
	uint64_t sum = 0, v;

	for (size_t at = 0; at < w->n; at += CHUNK) {
		for (size_t i = at; i < at + CHUNK && i + sizeof(v) <= w->n; i += sizeof(v)) {
			memcpy(&v, w->p + i, sizeof(v));
			sum += v;
		}
		lap_of(w);
	}
	sink += sum;
}

static void laps_open(struct work *w)
{
	struct laps *l = w->laps;
	size_t most = w->n / CHUNK + 3;

	l->best = mem_alloc(most * sizeof(*l->best));
	if (!l->best)
		fail("no memory");
	for (size_t i = 0; i < most; i++)
		l->best[i] = 1e9;
}

static double cpu_seconds(struct work w, bool read)
{
	struct laps laps;

	w.laps = &laps;
	laps_open(&w);
	for (int i = 0; i <= ROUNDS; i++) {
		laps_begin(&laps);
		if (read)
			add_words(&w);
		else
			count_in_threads(w, 1);
	}
	double sum = laps_sum(&laps);
	mem_free(laps.best);
	return sum;
}

/* best[0]: of one thread, [1]: of two. */
static void wall_seconds(struct work w, double best[2])
{
	best[0] = best[1] = 1e9;
	for (int i = 0; i < 2 * (1 + ROUNDS_2); i++) {
		double since = seconds(CLOCK_MONOTONIC);
		count_in_threads(w, 1 + i % 2);
		double took = seconds(CLOCK_MONOTONIC) - since;
		if (i >= 2 && took < best[i % 2])
			best[i % 2] = took;
	}
}

static void go(const char *what, const char *format, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	if (fd < 0 || fstat(fd, &st) != 0)
		fail(path);
	struct work w = { .n = (size_t)st.st_size,
			  .format = format_named(format),
			  .match = strncmp(what, "match", 5) == 0 };
	double mib = (double)w.n / 1048576, took[2];
	w.p = mmap(NULL, w.n, PROT_READ, MAP_SHARED | MAP_POPULATE, fd, 0);
	if (w.p == MAP_FAILED)
		fail(path);
	if (what[strlen(what) - 1] == '2') {
		wall_seconds(w, took);
		printf("%.0f %.0f\n", mib / took[0], mib / took[1]);
	} else {
		printf("%.0f\n", mib / cpu_seconds(w, strcmp(what, "read") == 0));
	}
	close(fd);
}

int main(int argc, char **argv)
{
	if (argc == 5 && (strcmp(argv[1], "make") == 0 || strcmp(argv[1], "data") == 0))
		make(argv[1], argv[2], argv[3], argv[4]);
	else if (argc == 4)
		go(argv[1], argv[2], argv[3]);
	else
		return 2;
	return 0;
}
