/*
 * brendan: three functions that cost page faults in a known ratio.
 *
 * func_alpha, func_beta and func_gamma touch 5, 3 and 2 fresh pages a round, so
 * half of all faults of the loop belong to func_alpha.  The pages come from one
 * anonymous mapping that is given back to the system when it is used up; each
 * touch of a page given back is one fault, no more, as large pages are
 * declined.  Everything else happens before the loop.
 *
 *	brendan [-v] [ROUNDS]	(200000)	-v: says what was touched, by function
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGES = 4000 }; /* a multiple of a round's ten pages */

static char *area;
static size_t page, used;
static unsigned long touched_alpha, touched_beta, touched_gamma;

/* Inlined, so that the fault's program counter is in the function that asked. */
static inline __attribute__((always_inline)) void touch(unsigned pages, unsigned long *count)
{
	for (unsigned i = 0; i < pages; i++)
		*(volatile char *)(area + page * used++) = 1;
	*count += pages;
}

static __attribute__((noinline)) void func_alpha(void)
{
	touch(5, &touched_alpha);
}

static __attribute__((noinline)) void func_beta(void)
{
	touch(3, &touched_beta);
}

static __attribute__((noinline)) void func_gamma(void)
{
	touch(2, &touched_gamma);
}

static int run(unsigned long rounds)
{
	for (unsigned long i = 0; i < rounds; i++) {
		if (used == PAGES) {
			if (madvise(area, PAGES * page, MADV_DONTNEED) < 0)
				return -1;
			used = 0;
		}
		func_alpha();
		func_beta();
		func_gamma();
	}
	return 0;
}

int main(int argc, char **argv)
{
	int verbose = argc > 1 && !strcmp(argv[1], "-v");
	unsigned long rounds = argc > 1 + verbose ? strtoul(argv[1 + verbose], NULL, 0) : 200000;

	page = (size_t)sysconf(_SC_PAGESIZE);
	area = mmap(NULL, PAGES * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (area == MAP_FAILED || madvise(area, PAGES * page, MADV_NOHUGEPAGE) < 0 || run(rounds) < 0) {
		perror("brendan");
		return 1;
	}
	if (verbose)
		printf("func_alpha %lu\nfunc_beta %lu\nfunc_gamma %lu\n", touched_alpha, touched_beta, touched_gamma);
	return 0;
}
