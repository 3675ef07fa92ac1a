/*
 * clock: what a CPU of this machine gives: additions a nanosecond, each of which needs the one before, so one a cycle.
 *
 *	clock                             prints "median best" of many turns of about a tenth of a millisecond
 *	clock one SECONDS COMMAND...      runs COMMAND on a CPU that is calm    all   when all CPUs are
 *
 * A median far below the best says that the machine shares its cores with others, and that every figure in seconds is
 * as much too bad.  Such times pass, so a benchmark waits for a CPU whose median is near the best, at most so many
 * seconds.
 */
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <unistd.h>

#include "bench.h"

enum { TURNS = 3001, LOOK = 1001, ADDITIONS = 200000 };

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static double turn(void)
{
	double from = seconds(CLOCK_MONOTONIC);

	for (uint64_t i = 0; i < ADDITIONS; i++)
		__asm__ volatile("" : "+r"(i)); /* nobody knows what i is now */
	return ADDITIONS / (seconds(CLOCK_MONOTONIC) - from) / 1e9;
}

/* The median of n turns, TURNS at most; *best: of these and those before. */
static double median(int n, double *best)
{
	static double rate[TURNS];

	for (int i = 0; i < n; i++)
		rate[i] = turn();
	qsort(rate, (size_t)n, sizeof(*rate), ascending);
	*best = rate[n - 1] > *best ? rate[n - 1] : *best;
	return rate[n / 2];
}

static bool is_calm_on(int cpu, double *best)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	return sched_setaffinity(0, sizeof(one), &one) == 0 && median(LOOK, best) >= 0.85 * *best;
}

/* Returns bound to the CPU that is calm, or when time is up to the one looked at last; all: to all of them again. */
static void wait_for(bool all, double most)
{
	double best = 0, end = seconds(CLOCK_MONOTONIC) + most;
	cpu_set_t cpus;

	if (sched_getaffinity(0, sizeof(cpus), &cpus) != 0)
		return;
	for (bool done = false; !done && seconds(CLOCK_MONOTONIC) < end;) {
		done = all;
		for (int i = 0; i < CPU_SETSIZE && done == all; i++)
			if (CPU_ISSET(i, &cpus))
				done = is_calm_on(i, &best);
	}
	if (all)
		sched_setaffinity(0, sizeof(cpus), &cpus);
}

int main(int argc, char **argv)
{
	bool all = argc > 1 && strcmp(argv[1], "all") == 0;
	double best = 0, middle;

	if (argc > 3 && (all || strcmp(argv[1], "one") == 0)) {
		wait_for(all, atof(argv[2]));
		execvp(argv[3], argv + 3);
		fprintf(stderr, "clock: %s: %s\n", argv[3], strerror(errno));
		return 1;
	}
	if (argc > 1)
		return 2;
	middle = median(TURNS, &best);
	printf("%.2f %.2f\n", middle, best);
	return 0;
}
