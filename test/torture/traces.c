/*
 * traces: damaged PTT traces through dump, report, export and trace.
 *
 * A round takes a trace (recordings of the model in both formats, as a file and as a pipe, perf's own of a device,
 * compressed files and compressed records), damages it (bits, bytes, cuts, pieces of another trace, hostile sizes,
 * pieces taken out and doubled) and gives it to a verb.  The sanitized program must end with 0, 1 or 2 in time, and say
 * why when it isn't 0; the released one must not take more memory than MOST_KB, whatever the sizes in the file say.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "torture.h"

enum { SEEDS_MOST = 32, TRACE_MOST = 1 << 20, MOST_KB = 160 * 1024, LIMIT_MS = 20000 };
struct trace {
	uint8_t *p;
	size_t n;
};
struct traces {
	struct torture t;
	struct trace seed[SEEDS_MOST];
	size_t n;
};

/* ---- where they come from ----------------------------------------------------------------------- */

static void traces_add(struct traces *s, const char *path)
{
	struct trace *at = &s->seed[s->n];

	if (s->n < SEEDS_MOST && (at->p = (uint8_t *)torture_slurp(path, &at->n)) && at->n > 0)
		s->n++;
}

static void traces_add_directory(struct traces *s, const char *dir, const char *suffix)
{
	DIR *d = opendir(dir);
	struct dirent *e;
	char path[4096];

	while (d && (e = readdir(d))) {
		const size_t n = strlen(e->d_name), m = strlen(suffix);

		if (e->d_name[0] == '.' || n < m || strcmp(e->d_name + n - m, suffix))
			continue;
		snprintf(path, sizeof(path), "%s/%s", dir, e->d_name);
		traces_add(s, path);
	}
	if (d)
		closedir(d);
}

static void traces_record(struct traces *s, const char *on, const char *event, bool pipe)
{
	const char *path = torture_path(&s->t, "recorded");
	const char *argv[] = { s->t.tally, "record",          "--on", on, "--duration", "1", "-e", event,
			       "-o",       pipe ? "-" : path, NULL };
	struct torture_run r = { .out = pipe ? path : NULL };

	unlink(path);
	if (torture_run(&s->t, &r, argv) != 0)
		torture_broken(torture_first_line(torture_path(&s->t, "stderr")));
	traces_add(s, path);
}

static void traces_collect(struct traces *s)
{
	for (int pipe = 0; pipe < 2; pipe++) {
		traces_record(s, "kunpeng", "hisi_ptt0_2/filter=00:10.0,type=p,direction=2,format=8dw/", pipe);
		traces_record(s, "kunpeng,load=faulty", "hisi_ptt0_2/filter=0x80001,type=7,format=4dw/", pipe);
	}
	traces_add_directory(s, "test/fixture", ".perf.data");
	traces_add_directory(s, "test/fuzz/pdata", "");
}

/* ---- damage --------------------------------------------------------------------------------------- */

/* Puts n bytes in the place of `gone` bytes at `at`. */
static void trace_splice(struct trace *w, size_t at, size_t gone, const uint8_t *p, size_t n)
{
	if (w->n - gone + n > TRACE_MOST)
		return;
	memmove(w->p + at + n, w->p + at + gone, w->n - at - gone);
	memcpy(w->p + at, p, n);
	w->n = w->n - gone + n;
}

static void trace_damage(struct torture *t, struct trace *w, const struct trace *other)
{
	/* Headers are where sizes are: the first bytes are met more often. */
	const size_t near = torture_below(t, 2) ? w->n : w->n < 400 ? w->n : 400;
	const size_t at = near ? torture_below(t, near) : 0;
	uint64_t word = torture_odd(t);
	size_t n;

	switch (torture_below(t, 8)) {
	case 0:
	case 1:
		if (w->n)
			w->p[at] ^= (uint8_t)(1u << torture_below(t, 8));
		return;
	case 2:
		if (w->n)
			w->p[at] = (uint8_t)word;
		return;
	case 3:
	case 4:
		n = (size_t)2 << torture_below(t, 3);
		if ((at & ~(n - 1)) + n <= w->n)
			memcpy(w->p + (at & ~(n - 1)), &word, n);
		return;
	case 5:
		if (torture_below(t, 3) == 0)
			w->n = at;
		return;
	case 6:
		n = torture_below(t, w->n - at + 1) % 5000;
		trace_splice(w, at, n, w->p, 0);
		return;
	default:
		if (other->n) {
			const size_t from = torture_below(t, other->n);

			n = torture_below(t, other->n - from + 1) % 5000;
			trace_splice(w, at, torture_below(t, 2) && at + n <= w->n ? n : 0, other->p + from, n);
		}
		return;
	}
}

static void trace_write(const char *path, const struct trace *w)
{
	FILE *f = fopen(path, "we");

	if (!f || fwrite(w->p, 1, w->n, f) != w->n || fclose(f) != 0)
		torture_broken("a trace can't be written");
}

static void trace_make(struct traces *s, const char *path, unsigned times)
{
	const struct trace *seed = &s->seed[torture_below(&s->t, s->n)];
	struct trace w = { malloc(TRACE_MOST), seed->n };

	if (!w.p || seed->n > TRACE_MOST)
		torture_broken("a trace is too large");
	memcpy(w.p, seed->p, seed->n);
	while (times-- > 0)
		trace_damage(&s->t, &w, &s->seed[torture_below(&s->t, s->n)]);
	trace_write(path, &w);
	free(w.p);
}

/* ---- who reads them ------------------------------------------------------------------------------- */

#define TRACE "TRACE" /* the damaged file */
#define ON "ON"       /* the same, behind --on */
#define OTHER "OTHER" /* another one */
static const char *const traces_reader[][12] = {
	{ "dump", TRACE },
	{ "dump", "--perf", TRACE },
	{ "dump", "--perf=spec", TRACE },
	{ "dump", "--json", TRACE },
	{ "dump", "-x", ",", "--time", "delta", TRACE },
	{ "dump", "--tag14", TRACE },
	{ "dump", "-" },
	{ "dump", "--filter", "args[0]->bytes > 64 || args[0]->error", TRACE },
	{ "dump", "--filter", "requester == 0x100 && bytes > 64", TRACE },
	{ "dump", "--format", "4dw", TRACE },
	{ "dump", "--format", "8dw", TRACE },
	{ "report", TRACE },
	{ "report", "--json", TRACE },
	{ "report", "-o", "/dev/null", TRACE },
	{ "report", "-" },
	{ "report", "--no-match", TRACE },
	{ "report", "--threads", "3", TRACE },
	{ "report", TRACE, OTHER },
	{ "report", "--format", "8dw", "--time", "delta", TRACE },
	{ "report", "--top", "1000000", TRACE },
	{ "report", "-o", "HTML", TRACE },
	{ "export", TRACE },
	{ "export", "--json", TRACE },
	{ "export", "-x", ";", TRACE },
	{ "export", "-" },
	{ "export", "--format", "4dw", TRACE },
	{ "trace", "-n", "ptt:::tlp { @[args[0]->name] = quantize(args[0]->bytes); }", "--on", ON },
	{ "trace", "-n", "ptt:::transaction { @[args[0]->requester] = max(args[1]->latency); }", "--on", ON },
	{ "trace", "-q", "-n", "ptt:::tlp { printf(\"%x %d\\n\", args[0]->address, args[0]->bytes); }", "--on", ON },
	{ "list", "--on", ON },
};

static void traces_round(struct traces *s)
{
	struct torture *t = &s->t;
	const char *const *reader = traces_reader[torture_below(t, COUNT(traces_reader))];
	const bool released = torture_below(t, 3) == 0;
	const char *path = torture_path(t, "trace"), *err = torture_path(t, "stderr"),
		   *html = torture_path(t, "page.html");
	const char *argv[16] = { released ? t->tally : t->tally_asan };
	struct torture_run r = { .in = path, .limit_ms = LIMIT_MS };
	char other[4096];
	int status;

	snprintf(other, sizeof(other), "%s/other", t->dir);
	trace_make(s, path, 1 + (unsigned)torture_below(t, 12));
	for (size_t i = 0; i < 12 && reader[i]; i++) {
		argv[i + 1] = !strcmp(reader[i], TRACE) || !strcmp(reader[i], ON) ? path :
			      !strcmp(reader[i], "HTML")                          ? html :
										    reader[i];
		if (!strcmp(reader[i], OTHER)) {
			trace_make(s, other, (unsigned)torture_below(t, 3));
			argv[i + 1] = other;
		}
	}
	status = torture_run(t, &r, argv);
	if (status > 2)
		torture_fell(t, "status %d: %s: %s", status, torture_words(argv), torture_first_line(err));
	else if (status != 0 && strncmp(torture_first_line(err), "tally: ", 7))
		torture_fell(t, "status %d without a reason: %s", status, torture_words(argv));
	else if (released && r.rss_kb > MOST_KB)
		torture_fell(t, "took %ld KiB of memory: %s", r.rss_kb, torture_words(argv));
	torture_count(t, "damaged traces", 1);
	torture_count(t, status == 0 ? "of them read, with what is damaged told" : "of them refused", 1);
}

int main(int argc, char **argv)
{
	static struct traces s;

	torture_open(&s.t, argc, argv);
	traces_collect(&s);
	while (torture_round(&s.t) && s.t.fell < 20)
		traces_round(&s);
	return torture_close(&s.t);
}
