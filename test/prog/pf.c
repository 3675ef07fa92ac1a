/*
 * pf: takes a given number of page faults as fast as it can, and says what one cost.
 *
 * A fault is the first touch of an anonymous page; the pages are given back in
 * batches outside the timed part.  Large pages are declined, so a touch is a fault.
 *
 *	pf [FAULTS [BATCH]]	(1000000, 2048)
 * prints: faults N ns_per_fault X total_ns T minflt M
 *	pf address
 * prints where a string of 40 bytes is, which it has while it takes faults, too; under setarch -R that is always the
 * same place
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static uint64_t now_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint64_t touch_batch(char *area, size_t page, unsigned long pages)
{
	uint64_t start = now_ns();
	for (unsigned long i = 0; i < pages; i++)
		*(volatile char *)(area + i * page) = 1;
	return now_ns() - start;
}

static char forty[] = "/usr/share/doc/packages/tracing/examples";

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "address"))
		return printf("%p\n", (void *)forty) < 0;
	*(volatile char *)forty = '/'; /* resident */
	unsigned long faults = argc > 1 ? strtoul(argv[1], NULL, 0) : 1000000;
	unsigned long batch = argc > 2 ? strtoul(argv[2], NULL, 0) : 2048;
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *area = batch ? mmap(NULL, batch * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) :
			     MAP_FAILED;
	if (area == MAP_FAILED || madvise(area, batch * page, MADV_NOHUGEPAGE) < 0) {
		perror("pf");
		return 1;
	}

	struct rusage before, after;
	uint64_t ns = 0;
	getrusage(RUSAGE_SELF, &before);
	for (unsigned long done = 0, n; done < faults; done += n) {
		n = faults - done < batch ? faults - done : batch;
		ns += touch_batch(area, page, n);
		madvise(area, batch * page, MADV_DONTNEED);
	}
	getrusage(RUSAGE_SELF, &after);
	printf("faults %lu ns_per_fault %.1f total_ns %lu minflt %ld\n", faults,
	       faults ? (double)ns / (double)faults : 0.0, (unsigned long)ns, after.ru_minflt - before.ru_minflt);
	return 0;
}
