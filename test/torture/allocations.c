/*
 * allocations: the n-th allocation fails, in tally's own code and in every library that it uses.
 *
 * A round takes a verb or a script, and a number up to how many allocations that makes; from there on one allocation
 * fails, or all. It must end in time with 0 (a library did without) or 1 to 4, and say why when it isn't 0; never by a
 * signal.  What a tuning changed is put back, no command of it is left, and the server that it talked to lives.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "torture.h"

enum { PATIENCE_MS = 5000 };
#define ON "ON"
#define OUT "OUT"
#define TRACE "TRACE"
#define EVENT "hisi_ptt0_2/filter=0x80001,type=7,direction=2/"
static const struct verb {
	bool root; /* needs to be root */
	const char *const words[14];
} verbs[] = {
	{ false, { "list", "ptt", "--on", "kunpeng" } },
	{ false, { "list", "gpci", "--on", "power" } },
	{ false, { "get", "gpci/dispatch_purr,index=3", "--on", "power" } },
	{ false, { "stat", "--view", "partitions", "--on", "power", "--count", "1" } },
	{ false, { "get", "mmustat/dmmu,cpu=3", "--on", "niagara" } },
	{ false, { "stat", "-e", "page-faults", "--", "/bin/true" } },
	{ false, { "check", "gpci", "--on", "power" } },
	{ false, { "doctor" } },
	{ false, { "dump", TRACE } },
	{ false, { "dump", "--filter", "args[0]->bytes > 64", TRACE } },
	{ false, { "report", TRACE } },
	{ false, { "report", "--threads", "2", "--json", TRACE } },
	{ false, { "report", "-o", OUT, TRACE } },
	{ false, { "report", TRACE, TRACE } },
	{ false, { "export", "--json", TRACE } },
	{ false, { "record", "--on", "kunpeng", "--duration", "1", "-e", EVENT, "-o", OUT } },
	{ false, { "record", "--on", ON, "--duration", "1", "-e", EVENT, "-o", OUT } },
	{ false, { "tune", "hisi_ptt0_2", "--on", ON, "--for", "throughput", "--duration", "1" } },
	{ false, { "tune", "hisi_ptt0_2", "--on", ON, "--for", "latency", "--duration", "1", "--", "/bin/true" } },
	{ false, { "get", "hisi_ptt0_2", "--on", ON } },
	{ false,
	  { "trace", "--on=vm", "-n",
	    "BEGIN { @[1, \"a\"] = quantize(3); x[2] = 3; printf(\"%d %s\\n\", x[2], \"b\"); exit(0); }" } },
	{ false,
	  { "trace", "-n", "ptt:::transaction { @[args[0]->requester] = max(args[1]->latency); }", "--on", TRACE } },
	{ true, { "trace", "-n", "BEGIN { printf(\"%s\\n\", execname); exit(0); }" } },
	{ true,
	  { "trace", "-x", "dcpc_min_overflow=1", "-n",
	    "cpc:::page_faults-user-1 { @[ustack(), ufunc(arg1)] = count(); }", "-c", "/bin/true" } },
	{ true, { "trace", "-l", "-P", "cpc" } },
};
static long verbs_allocations[COUNT(verbs)];

/* ---- one run ------------------------------------------------------------------------------------------- */

struct world {
	struct torture t;
	pid_t server;
	char on[210], trace[200], out[200], failing[200];
};

static void verb_words(struct world *w, const struct verb *v, const char *argv[16])
{
	memset(argv, 0, 16 * sizeof(*argv));
	argv[0] = w->t.tally;
	for (size_t i = 0; i < 14 && v->words[i]; i++)
		argv[i + 1] = !strcmp(v->words[i], ON)    ? w->on :
			      !strcmp(v->words[i], OUT)   ? w->out :
			      !strcmp(v->words[i], TRACE) ? w->trace :
							    v->words[i];
}

static int verb_run(struct world *w, const char *const *argv, long fail_at, bool on)
{
	struct torture_run r = { .preload = w->failing, .limit_ms = fail_at ? 20000 : 120000 };
	char number[32];
	int status;

	snprintf(number, sizeof(number), "%ld", fail_at);
	setenv("TORTURE_FAIL_AT", number, 1);
	if (on)
		setenv("TORTURE_FAIL_ON", "1", 1);
	setenv("TORTURE_COUNT", torture_path(&w->t, "allocations"), 1);
	status = torture_run(&w->t, &r, argv);
	unsetenv("TORTURE_FAIL_AT");
	unsetenv("TORTURE_FAIL_ON");
	unsetenv("TORTURE_COUNT");
	return status;
}

static long verb_count_allocations(struct world *w, const struct verb *v)
{
	const char *argv[16];
	size_t n;
	char *p;
	long count = 0;

	verb_words(w, v, argv);
	if (verb_run(w, argv, 0, false) > 4)
		torture_broken(torture_words(argv));
	p = torture_slurp(torture_path(&w->t, "allocations"), &n);
	if (p)
		count = atol(p);
	free(p);
	if (count <= 0)
		torture_broken("the library that fails is not loaded");
	return count;
}

static char *tunables_read(struct world *w)
{
	const char *argv[] = { w->t.tally, "get", "hisi_ptt0_2", "--on", w->on, NULL };
	struct torture_run r = { .out = torture_path(&w->t, "tunables") };
	size_t n;

	if (torture_run(&w->t, &r, argv) != 0)
		torture_fell(&w->t, "the server doesn't answer: %s", torture_first_line(torture_path(&w->t, "stderr")));
	return torture_slurp(r.out, &n);
}

/* What a tuning that succeeded has changed is its result; one that didn't must leave no trace. */
static void verb_check_server(struct world *w, const char *const *argv, int status, const char *was)
{
	char *is = tunables_read(w);

	if (!torture_alive(w->server))
		torture_broken("the server ended");
	if (status != 0 && (!is || strcmp(was, is)))
		torture_fell(&w->t, "not put back: %s", torture_words(argv));
	free(is);
}

static void allocation_round(struct world *w)
{
	struct torture *t = &w->t;
	const size_t which = torture_below(t, COUNT(verbs));
	const struct verb *v = &verbs[which];
	const bool on = torture_below(t, 4) == 0, tunes = !strcmp(v->words[0], "tune");
	const char *argv[16];
	char *was, name[32];
	long at;
	int status;

	if (v->root && geteuid() != 0)
		return;
	if (verbs_allocations[which] == 0)
		verbs_allocations[which] = verb_count_allocations(w, v);
	at = 1 + (long)torture_below(t, (uint64_t)verbs_allocations[which]);
	verb_words(w, v, argv);
	was = tunes ? tunables_read(w) : NULL;
	status = verb_run(w, argv, at, on);
	if (status > 4)
		torture_fell(
			t,
			"status %d when allocation %ld%s fails: TORTURE_FAIL_AT=%ld %sLD_PRELOAD=build/torture/failing.so %s",
			status, at, on ? " and all after it" : "", at, on ? "TORTURE_FAIL_ON=1 " : "",
			torture_words(argv));
	else if (status != 0 && !torture_file_has(torture_path(t, "stderr"), "tally: "))
		torture_fell(t,
			     "status %d without a reason: TORTURE_FAIL_AT=%ld %sLD_PRELOAD=build/torture/failing.so %s",
			     status, at, on ? "TORTURE_FAIL_ON=1 " : "", torture_words(argv));
	if (!torture_orphans_end(&w->server, 1, PATIENCE_MS, name))
		torture_fell(t, "%s runs on: %s", name, torture_words(argv));
	if (tunes && was)
		verb_check_server(w, argv, status, was);
	free(was);
	torture_count(t, "failed allocations", 1);
	torture_count(t, status == 0 ? "of them that were done without" : "of them told", 1);
}

int main(int argc, char **argv)
{
	static struct world w;
	const char *torture = getenv("TORTURE");
	char path[200];

	torture_open(&w.t, argc, argv);
	snprintf(w.failing, sizeof(w.failing), "%s/failing.so", torture ? torture : "build/torture");
	snprintf(w.trace, sizeof(w.trace), "%s/trace", w.t.dir);
	snprintf(w.out, sizeof(w.out), "%s/out.html", w.t.dir);
	snprintf(path, sizeof(path), "%s/kunpeng", w.t.dir);
	snprintf(w.on, sizeof(w.on), "unix:%s", path);
	w.server = torture_serve(&w.t, w.t.tally, "kunpeng,load=storage", "--listen", path);
	const char *record[] = { w.t.tally, "record", "--on", "kunpeng", "--duration", "1",
				 "-e",      EVENT,    "-o",   w.trace,   NULL };
	if (torture_run(&w.t, NULL, record) != 0)
		torture_broken(torture_first_line(torture_path(&w.t, "stderr")));
	while (torture_round(&w.t) && w.t.fell < 20)
		allocation_round(&w);
	torture_kill(w.server);
	return torture_close(&w.t);
}
