/*
 * clients: clients of `tally machine --listen` that are killed.
 *
 * A round starts a verb of tally against a server, and kills it (SIGKILL) some microseconds to some hundred
 * milliseconds later.  The server lives, has the descriptors that it had, and the next client finds the devices free
 * and is served.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "torture.h"

enum { PLATFORMS = 3, GROWTH_KB = 32 * 1024 };
#define ON "ON"   /* unix:PATH */
#define OUT "OUT" /* a file */
#define EVENT "hisi_ptt0_2/filter=0x80001,type=7,direction=2/"
static const struct platform {
	const char *machine;
	const char *const client[8][14];
	const char *const honest[14];
} platforms[PLATFORMS] = {
	{ "kunpeng",
	  { { "record", "--on", ON, "-e", EVENT, "--duration", "5000", "-o", OUT },
	    { "record", "--on", ON, "-e", EVENT, "--duration", "5000", "-m", "4M", "-o", "-" },
	    { "trace", "--on", ON, "-n", "ptt:::tlp { @[args[0]->name] = count(); }" },
	    { "list", "ptt", "--on", ON },
	    { "get", "--on", ON, "hisi_ptt0_2" },
	    { "set", "--on", ON, "hisi_ptt0_2/qos_tx_cpl=2" } },
	  { "record", "--on", ON, "-e", EVENT, "--duration", "1", "-o", OUT } },
	{ "niagara",
	  { { "stat", "-e", "mmustat/all/", "-I", "10", "--on", ON },
	    { "get", "mmustat/dmmu,cpu=3", "--on", ON },
	    { "list", "--on", ON },
	    { "check", "mmustat", "--on", ON } },
	  { "get", "mmustat/dmmu,cpu=3", "--on", ON } },
	{ "power",
	  { { "stat", "--view", "partitions", "-I", "10", "--on", ON },
	    { "get", "gpci/dispatch_purr,index=3", "--on", ON },
	    { "check", "gpci", "--on", ON },
	    { "list", "--on", ON } },
	  { "get", "gpci/dispatch_purr,index=3", "--on", ON } },
};
struct server {
	pid_t pid;
	char path[200], on[210];
	int descriptors;
	long kb;
};

static void server_start(struct torture *t, struct server *s, unsigned platform)
{
	snprintf(s->path, sizeof(s->path), "%s/%s", t->dir, platforms[platform].machine);
	snprintf(s->on, sizeof(s->on), "unix:%s", s->path);
	s->pid = torture_serve(t, t->tally, platforms[platform].machine, "--listen", s->path);
	s->descriptors = torture_descriptors(s->pid);
	s->kb = 0;
}

static void client_words(struct torture *t, const struct server *s, const char *const *words, const char *argv[16])
{
	const char *const out = torture_path(t, "out");

	memset(argv, 0, 16 * sizeof(*argv));
	argv[0] = t->tally;
	for (size_t i = 0; i < 14 && words[i]; i++)
		argv[i + 1] = !strcmp(words[i], ON) ? s->on : !strcmp(words[i], OUT) ? out : words[i];
}

static void server_check(struct torture *t, struct server *s, unsigned platform)
{
	const char *argv[16];
	int status;
	long kb;

	if (!torture_alive(s->pid)) {
		torture_fell(t, "the server of %s ended with %d", platforms[platform].machine,
			     torture_wait(s->pid, 1000, NULL));
		server_start(t, s, platform);
		return;
	}
	/* What a client held is free when the server has seen it go, which the next one may be quicker than. */
	if (!torture_descriptors_settle(s->pid, s->descriptors))
		torture_fell(t, "the server of %s has %d descriptors, not %d", platforms[platform].machine,
			     torture_descriptors(s->pid), s->descriptors);
	client_words(t, s, platforms[platform].honest, argv);
	if ((status = torture_run(t, NULL, argv)) != 0)
		torture_fell(t, "the next client is not served: %d: %s: %s", status, torture_words(argv),
			     torture_first_line(torture_path(t, "stderr")));
	kb = torture_resident_kb(s->pid);
	s->kb = s->kb ? s->kb : kb;
	if (kb > s->kb + GROWTH_KB) {
		torture_fell(t, "the server of %s has grown from %ld to %ld KiB", platforms[platform].machine, s->kb,
			     kb);
		s->kb = kb;
	}
}

static void client_round(struct torture *t, struct server *servers)
{
	const unsigned platform = (unsigned)torture_below(t, PLATFORMS), n = 1 + (unsigned)torture_below(t, 4);
	struct server *s = &servers[platform];
	pid_t client[4];
	const char *argv[16];

	for (unsigned i = 0; i < n; i++) {
		unsigned which;

		do
			which = (unsigned)torture_below(t, COUNT(platforms[platform].client));
		while (!platforms[platform].client[which][0]);
		client_words(t, s, platforms[platform].client[which], argv);
		client[i] = torture_start(t, NULL, argv);
	}
	torture_wait_us(torture_below(t, UINT64_C(1) << (8 + torture_below(t, 10))));
	for (unsigned i = 0; i < n; i++)
		torture_kill(client[i]);
	torture_count(t, "clients killed", n);
	server_check(t, s, platform);
}

int main(int argc, char **argv)
{
	struct server servers[PLATFORMS];
	struct torture t;

	torture_open(&t, argc, argv);
	for (unsigned i = 0; i < PLATFORMS; i++)
		server_start(&t, &servers[i], i);
	while (torture_round(&t) && t.fell < 20)
		client_round(&t, servers);
	for (unsigned i = 0; i < PLATFORMS; i++)
		torture_kill(servers[i].pid);
	return torture_close(&t);
}
