/*
 * cputime: a thread that computes, and one that waits meanwhile, which tell of their CPU time as the kernel counts it.
 *
 *	cputime ROUNDS MICROSECONDS
 *
 * In each round one thread calls getppid(), computes for so long by the clock, calls getuid(), asks for its own CPU
 * time, and calls gettid() with that as an argument. The other one calls getsid() and then waits for the round's end,
 * and calls getpgid() after it.
 */
#include <pthread.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static long rounds, ns;
static int ends[2];

static long now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * 1000000000L + t.tv_nsec;
}

static void *wait_for_rounds(void *arg)
{
	char c;

	(void)arg;
	for (long r = 0; r < rounds; r++) {
		syscall(SYS_getsid, 0);
		if (read(ends[0], &c, 1) != 1)
			exit(1);
		syscall(SYS_getpgid, 0);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t waiter;

	if (argc != 3 || pipe(ends) < 0)
		return 2;
	rounds = atol(argv[1]);
	ns = atol(argv[2]) * 1000;
	if (pthread_create(&waiter, NULL, wait_for_rounds, NULL))
		return 1;
	for (long r = 0; r < rounds; r++) {
		long end;

		syscall(SYS_getppid);
		end = now(CLOCK_MONOTONIC) + ns;
		while (now(CLOCK_MONOTONIC) < end)
			;
		syscall(SYS_getuid);
		syscall(SYS_gettid, now(CLOCK_THREAD_CPUTIME_ID));
		if (write(ends[1], "", 1) != 1)
			return 1;
	}
	pthread_join(waiter, NULL);
	return 0;
}
