/*
 * threads: so many threads make page faults of which they know how many, and go from one CPU to another meanwhile.
 *
 *	threads [-p] THREADS ROUNDS PAGES
 *
 * Each round lies between a call of getppid() and one of gettid().  -p: each thread opens counters of its own, in one
 * group, and reads them before and after each round by one read(2) of 40 bytes: their number, page-faults,
 * context-switches, cycles:u, instructions:u. Where the CPU has no counters, the last two are not there, and the number
 * is 2.
 */
#include <linux/perf_event.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static long rounds, pages, ncpus;
static bool counts;

/* The thread's own counters; the group's first. */
static int counters_open(void)
{
	static const struct {
		uint32_t type;
		uint64_t config;
	} events[] = {
		{ PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS },
		{ PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES },
		{ PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES },
		{ PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS },
	};
	int first = -1;

	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
		struct perf_event_attr a = {
			.size = sizeof(a),
			.type = events[i].type,
			.config = events[i].config,
			.read_format = PERF_FORMAT_GROUP,
			.exclude_kernel = events[i].type == PERF_TYPE_HARDWARE,
		};
		const int fd = (int)syscall(SYS_perf_event_open, &a, 0, -1, first, 0);

		if (fd < 0 && i < 2)
			exit(1);
		first = i ? first : fd;
	}
	return first;
}

static void counters_read(int fd)
{
	uint64_t values[5];

	memset(values, 0, sizeof(values));
	if (fd >= 0 && read(fd, values, sizeof(values)) < 24)
		exit(1);
}

static void *thread_run(void *arg)
{
	const long page = sysconf(_SC_PAGESIZE);
	const int fd = counts ? counters_open() : -1;

	for (long r = 0; r < rounds; r++) {
		cpu_set_t one;
		char *p =
			mmap(NULL, (size_t)(pages * page), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (p == MAP_FAILED)
			exit(1);
		CPU_ZERO(&one);
		CPU_SET((size_t)((r + (long)arg) % ncpus), &one);
		madvise(p, (size_t)(pages * page), MADV_NOHUGEPAGE);
		counters_read(fd);
		syscall(SYS_getppid);
		for (long i = 0; i < pages; i++) {
			p[i * page] = 1;
			if (i == pages / 3)
				sched_setaffinity(0, sizeof(one), &one);
			if (i % 16 == 0)
				sched_yield();
		}
		syscall(SYS_gettid);
		counters_read(fd);
		munmap(p, (size_t)(pages * page));
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t t[64];
	long n;

	if (argc > 1 && !strcmp(argv[1], "-p"))
		counts = true, argc--, argv++;
	n = argc == 4 ? atol(argv[1]) : 0;
	if (n < 1 || n > 64)
		return 2;
	rounds = atol(argv[2]);
	pages = atol(argv[3]);
	ncpus = sysconf(_SC_NPROCESSORS_ONLN);
	for (long i = 0; i < n; i++)
		if (pthread_create(&t[i], NULL, thread_run, (void *)i))
			return 1;
	for (long i = 0; i < n; i++)
		pthread_join(t[i], NULL);
	printf("%ld faults in %ld rounds\n", n * rounds * pages, n * rounds);
	return 0;
}
