/*
 * serve.c: serve what a D program counts, from C.
 *
 *	cc serve.c -ltally && sudo ./a.out program.d
 *
 * Prints which metrics there will be, then answers on a port that the kernel chooses, until SIGINT.
 */
#include <signal.h>
#include <stdio.h>
#include <time.h>
#include <tally/serve.h>

static volatile int stop;

static void on_signal(int sig)
{
	(void)sig;
	stop = 1;
}

static int put(void *to, const char *text, size_t n)
{
	return fprintf(to, "%.*s\n", (int)n, text) < 0 || fflush(to) ? -1 : 0;
}

static uint64_t now(void *arg)
{
	struct timespec t;

	(void)arg;
	timespec_get(&t, TIME_UTC);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

int main(int argc, char **argv)
{
	const struct tally_serve_opts opts = {
		.size = sizeof(opts), .listen = "127.0.0.1:0", .note = put, .arg = stderr, .clock = now, .stop = &stop
	};
	struct tally_serve *s = NULL;
	int rc = tally_serve_open(&s, &opts);

	signal(SIGINT, on_signal);
	if (rc >= 0)
		rc = tally_serve_program(s, argc > 1 ? argv[1] : "program.d");
	if (rc >= 0)
		rc = tally_serve_check(s, put, stdout);
	if (rc == 0)
		rc = tally_serve_run(s);
	if (rc < 0)
		fprintf(stderr, "serve: %s\n", s ? tally_serve_error(s) : tally_strerror(rc));
	tally_serve_close(s);
	return rc != 0;
}
