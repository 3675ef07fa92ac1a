/* bench.h: what benchmarks in C share: the time of a clock, and the end of one that can't go on. */
#ifndef TALLY_BENCH_H
#define TALLY_BENCH_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static inline double seconds(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static inline _Noreturn void fail(const char *what)
{
	fprintf(stderr, "%s: %s%s%s\n", program_invocation_short_name, what, errno ? ": " : "",
		errno ? strerror(errno) : "");
	exit(1);
}

/* The better one: of times the least, of speeds the most. */
static inline double least_of(double a, double b)
{
	return a < b ? a : b;
}

static inline double most_of(double a, double b)
{
	return a > b ? a : b;
}

#endif
