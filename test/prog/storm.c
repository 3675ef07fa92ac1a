/*
 * storm: takes so many page faults, and counts them itself.
 *
 *	storm FAULTS
 *
 * Each fault is the first touch of a page between AREA and AREA + PAGES pages, from one of two functions in turn. Pages
 * are given back when all were touched. Large pages are declined, so a touch is a fault. Prints: red N blue M
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define AREA ((char *)0x600000000000)
#define PAGES 4096u

__attribute__((noinline)) static void storm_red(char *page)
{
	*(volatile char *)page = 1;
}

__attribute__((noinline)) static void storm_blue(char *page)
{
	*(volatile char *)page = 2;
}

int main(int argc, char **argv)
{
	const unsigned long faults = argc > 1 ? strtoul(argv[1], NULL, 0) : 1000000;
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	unsigned long n[2] = { 0 };
	char *area = mmap(AREA, PAGES * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE,
			  -1, 0);

	if (area != AREA || madvise(area, PAGES * page, MADV_NOHUGEPAGE) < 0) {
		perror("storm");
		return 1;
	}
	for (unsigned long i = 0; i < faults; i++) {
		if (i && i % PAGES == 0)
			madvise(area, PAGES * page, MADV_DONTNEED);
		(i & 1 ? storm_blue : storm_red)(area + i % PAGES * page);
		n[i & 1]++;
	}
	printf("red %lu blue %lu\n", n[0], n[1]);
	return 0;
}
