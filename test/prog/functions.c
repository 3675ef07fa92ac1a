/*
 * functions.c: a program that counts its own calls, for probes of user code.
 *
 *	functions CALLS [THREADS]     each thread calls step() so often; prints how often step() ran, in all
 *	functions -w CALLS ...        waits for a line of standard input first
 *	functions -f CALLS            the calls are made by a child as well, which prints nothing
 *
 * locked() begins with an instruction on which x86 places no probe, and is called once.  ten() has ten arguments and
 * returns 55; it is called once.  step(i) returns 2 i.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone, used))

static long calls, total;

NOINLINE long ten(long a, int b, short c, char d, unsigned char e, long f, long g, int h, long i, long j)
{
	__asm__ volatile("");
	return a + b + c + d + e + f + g + h + i + j;
}

#if defined(__x86_64__)
__asm__(".pushsection .text\n.globl locked\n.type locked, @function\nlocked: lock orl $0, -8(%rsp)\n\tret\n"
	".size locked, . - locked\n.popsection");
#else
NOINLINE void locked(void)
{
}
#endif
void locked(void);

NOINLINE int step(int i)
{
	__asm__ volatile("nop");
	__atomic_fetch_add(&total, 1, __ATOMIC_RELAXED);
	return 2 * i;
}

static void *run(void *arg)
{
	for (long i = 0; i < calls; i++)
		(void)step((int)i);
	return arg;
}

int main(int argc, char **argv)
{
	pthread_t thread[64];
	int at = 1, threads, forks = 0;
	char line[8];

	for (; at < argc && argv[at][0] == '-'; at++) {
		if (!strcmp(argv[at], "-w") && !fgets(line, sizeof(line), stdin))
			return 1;
		forks |= !strcmp(argv[at], "-f");
	}
	calls = at < argc ? atol(argv[at]) : 1;
	threads = at + 1 < argc ? atoi(argv[at + 1]) : 1;
	locked();
	if (ten(1, 2, 3, 4, 5, 6, 7, 8, 9, 10) != 55)
		return 1;
	if (forks && fork() == 0) {
		run(NULL);
		_exit(0);
	}
	for (int i = 1; i < threads && i < 64; i++)
		if (pthread_create(&thread[i], NULL, run, NULL))
			return 1;
	run(NULL);
	for (int i = 1; i < threads && i < 64; i++)
		pthread_join(thread[i], NULL);
	while (forks && wait(NULL) > 0)
		;
	printf("%ld\n", total);
	return 0;
}
