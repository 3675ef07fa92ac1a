/* seconds.h: the time of a clock, for benchmarks in C. */
#ifndef TALLY_BENCH_SECONDS_H
#define TALLY_BENCH_SECONDS_H

#include <time.h>

static inline double seconds(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

#endif
