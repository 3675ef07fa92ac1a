/*
 * clock: what a CPU of this machine gives: additions a nanosecond, each of which needs the one before, so one a cycle.
 *
 * Prints "median best" of many turns of about a tenth of a millisecond. A median far below the best says that the
 * machine shares its cores with others, and that every figure in seconds of this run is as much too bad.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { TURNS = 3001, ADDITIONS = 200000 };

static double now_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static double turn(void)
{
	double from = now_ns();

	for (uint64_t i = 0; i < ADDITIONS; i++)
		__asm__ volatile("" : "+r"(i));       /* nobody knows what i is now */
	return ADDITIONS / (now_ns() - from);
}

int main(void)
{
	static double rate[TURNS];

	for (int i = 0; i < TURNS; i++)
		rate[i] = turn();
	qsort(rate, TURNS, sizeof(*rate), ascending);
	printf("%.2f %.2f\n", rate[TURNS / 2], rate[TURNS - 1]);
	return 0;
}
