/*
 * tunings: `tally tune` that is killed.
 *
 * A round tunes a device of a model at a socket and kills the tuner (SIGKILL) within a second.  What was there before
 * must be put back, by whom it left for that, and nobody else may be left.  A tuning that ends before it is killed may
 * have changed the device: that is put back here.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "torture.h"

enum { PATIENCE_MS = 5000, TUNABLES = 5 };
#define DEVICE "hisi_ptt0_2"
static const char *const loads[] = { "kunpeng,load=storage", "kunpeng,load=ingest", "kunpeng,load=mixed" };
static const char *const tunables[TUNABLES] = { "qos_tx_cpl", "qos_tx_np", "qos_tx_p", "rx_alloc_buf_level",
						"tx_alloc_buf_level" };
struct server {
	pid_t pid;
	char path[200], on[210];
};

static char *tunables_read(struct torture *t, const struct server *s)
{
	const char *out = torture_path(t, "tunables");
	const char *argv[] = { t->tally, "get", "--on", s->on, DEVICE, NULL };
	struct torture_run r = { .out = out };
	size_t n;

	if (torture_run(t, &r, argv) != 0)
		torture_fell(t, "the device can't be read: %s", torture_first_line(torture_path(t, "stderr")));
	return torture_slurp(out, &n);
}

/* Each round finds something else there. */
static void tunables_set(struct torture *t, const struct server *s)
{
	for (size_t i = 0; i < TUNABLES; i++) {
		char word[100];
		const char *argv[] = { t->tally, "set", "--on", s->on, word, NULL };

		snprintf(word, sizeof(word), DEVICE "/%s=%u", tunables[i], (unsigned)torture_below(t, 3));
		if (torture_run(t, NULL, argv) != 0)
			torture_fell(t, "%s can't be set: %s", word, torture_first_line(torture_path(t, "stderr")));
	}
}

static void tuning_round(struct torture *t, const struct server *s)
{
	const char *argv[16] = { t->tally,
				 "tune",
				 DEVICE,
				 "--on",
				 s->on,
				 "--for",
				 torture_below(t, 2) ? "throughput" : "latency",
				 "--duration",
				 torture_below(t, 2) ? "2" : "20" };
	char *was, *is = NULL, name[32] = "";
	bool same = false;
	pid_t pid;

	if (torture_below(t, 2)) {
		argv[9] = "--";
		argv[10] = "sleep";
		argv[11] = torture_below(t, 2) ? "0.01" : "60";
	}
	tunables_set(t, s);
	was = tunables_read(t, s);
	pid = torture_start(t, NULL, argv);
	torture_wait_us(torture_below(t, UINT64_C(1) << (12 + torture_below(t, 9))));
	if (!torture_alive(pid)) {
		torture_wait(pid, 1000, NULL);
		torture_count(t, "tunings that ended before they were killed", 1);
		free(was);
		return;
	}
	torture_kill(pid);
	if (!torture_orphans_end(&s->pid, 1, PATIENCE_MS, name))
		torture_fell(t, "%s runs on, though %s was killed", name, torture_words(argv));
	/* Whoever puts it back has ended: it is there now. */
	is = tunables_read(t, s);
	same = was && is && !strcmp(was, is);
	if (!same)
		torture_fell(t, "not put back when %s was killed: was %s, is %s", torture_words(argv), was ? was : "?",
			     is ? is : "?");
	free(was);
	free(is);
	torture_count(t, "tunings killed", 1);
}

int main(int argc, char **argv)
{
	struct server s;
	struct torture t;

	torture_open(&t, argc, argv);
	snprintf(s.path, sizeof(s.path), "%s/kunpeng", t.dir);
	snprintf(s.on, sizeof(s.on), "unix:%s", s.path);
	s.pid = torture_serve(&t, t.tally, loads[t.seed % COUNT(loads)], "--listen", s.path);
	while (torture_round(&t) && t.fell < 20)
		tuning_round(&t, &s);
	torture_kill(s.pid);
	return torture_close(&t);
}
