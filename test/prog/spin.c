/*
 * spin: keeps a CPU busy, in user space only or with a part in the kernel.
 *
 *	spin [-k EVERY] [LOOPS]	(100000000)
 * -k: each EVERYth loop is a system call, so that kernel mode takes a share.
 * LOOPS is work, not time: the same command costs the same instructions wherever it runs.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static __attribute__((noinline)) uint64_t spin(uint64_t loops, uint64_t every)
{
	uint64_t x = 1;
	for (uint64_t i = 0; i < loops; i++) {
		x = x * 6364136223846793005u + 1442695040888963407u;
		__asm__ volatile("" : "+r"(x)); /* or the compiler finds a closed form */
		if (every && i % every == 0)
			syscall(SYS_getppid);
	}
	return x;
}

int main(int argc, char **argv)
{
	uint64_t every = 0, loops = 100000000;
	int opt;
	while ((opt = getopt(argc, argv, "k:")) == 'k')
		every = strtoull(optarg, NULL, 0);
	if (opt != -1) {
		fprintf(stderr, "usage: spin [-k EVERY] [LOOPS]\n");
		return 2;
	}
	if (optind < argc)
		loops = strtoull(argv[optind], NULL, 0);
	return spin(loops, every) == 0 ? 1 : 0;
}
