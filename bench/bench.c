/*
 * bench: times commands against each other, fairly.
 *
 *	bench RUNS -- COMMAND [ARG...] [-- COMMAND [ARG...]]...
 *
 * Runs the commands in turn (A B C A B C ...), RUNS times each, so that a busy moment of the machine meets all of
 * them.  One warm-up round is not counted. What the run before has left to the kernel is no run's own: when a program
 * leaves a tracepoint, the next one to come to any waits for a grace period, 10 ms or more.  So each run begins after
 * one has passed, where the kernel lets us wait for it (membarrier(2)). A run is timed from before the fork to the end
 * of the wait; stdin, stdout and stderr of the commands are /dev/null. Prints a line per command: median_ns least_ns
 * most_ns resident_kib (the most that a run had), and `failed` when a run did not exit with 0.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/membarrier.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST = 8 };

extern char **environ;

struct contender {
	char **argv;
	uint64_t *ns;
	long resident_kib;
	bool failed;
};

static uint64_t now_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return x < y ? -1 : x > y;
}

static uint64_t run_once(struct contender *c, posix_spawn_file_actions_t *quiet)
{
	struct rusage used;
	pid_t pid;
	int status;
	(void)syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0);
	uint64_t start = now_ns();
	if (posix_spawnp(&pid, c->argv[0], quiet, NULL, c->argv, environ) != 0) {
		c->failed = true;
		return 0;
	}
	while (wait4(pid, &status, 0, &used) < 0 && errno == EINTR)
		;
	uint64_t end = now_ns();
	c->resident_kib = used.ru_maxrss > c->resident_kib ? used.ru_maxrss : c->resident_kib;
	c->failed |= !WIFEXITED(status) || WEXITSTATUS(status) != 0;
	return end - start;
}

/* Cuts argv at each "--"; the number of commands, 0 when there is none or too many. */
static unsigned contenders(char **argv, struct contender *c)
{
	unsigned n = 0;
	for (; *argv; argv++) {
		if (strcmp(*argv, "--"))
			continue;
		*argv = NULL;
		if (n == MOST || !argv[1] || !strcmp(argv[1], "--"))
			return 0;
		c[n++].argv = argv + 1;
	}
	return n;
}

int main(int argc, char **argv)
{
	struct contender c[MOST] = { 0 };
	unsigned long runs = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
	unsigned n = argc > 3 && !strcmp(argv[2], "--") ? contenders(argv + 2, c) : 0;
	if (runs == 0 || runs > 100000 || n == 0) {
		fprintf(stderr, "usage: bench RUNS -- COMMAND [ARG...] [-- COMMAND [ARG...]]...\n");
		return 2;
	}
	posix_spawn_file_actions_t quiet;
	posix_spawn_file_actions_init(&quiet);
	for (int fd = 0; fd < 3; fd++)
		posix_spawn_file_actions_addopen(&quiet, fd, "/dev/null", O_RDWR, 0);

	for (unsigned i = 0; i < n; i++)
		if (!(c[i].ns = calloc(runs, sizeof(*c[i].ns))))
			return 1;
	for (unsigned i = 0; i < n; i++)
		run_once(&c[i], &quiet);
	for (unsigned long r = 0; r < runs; r++)
		for (unsigned i = 0; i < n; i++)
			c[i].ns[r] = run_once(&c[i], &quiet);
	for (unsigned i = 0; i < n; i++) {
		qsort(c[i].ns, runs, sizeof(*c[i].ns), by_value);
		printf("%llu %llu %llu %ld%s\n", (unsigned long long)c[i].ns[runs / 2], (unsigned long long)c[i].ns[0],
		       (unsigned long long)c[i].ns[runs - 1], c[i].resident_kib, c[i].failed ? " failed" : "");
		free(c[i].ns);
	}
	posix_spawn_file_actions_destroy(&quiet);
	return 0;
}
