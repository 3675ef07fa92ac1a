/*
 * unframed: page faults under frames without frame pointers.
 *
 *	unframed FAULTS EVERY [other|vdso|seldom]
 *
 * They come from compare(), which libc's qsort() calls, and from a signal handler, which interrupts wherever it likes;
 * with `other` the handler has a stack of its own, and with `vdso` the kernel's vDSO takes the faults, since it writes
 * the time there; with `seldom` a debugger's stops do not bring a signal each.  The program stops itself (SIGSTOP) in
 * the beginning and after every EVERY faults.  The Makefile compiles it with -fomit-frame-pointer.  Each stack that has
 * touch_page() in it is one of
 *
 *	touch_page compare ... qsort ... sort_some spread ... main ...
 *	touch_page in_handler handler <return from the signal> ... main ...
 *
 * with the vDSO's function, and libc's that calls it, before touch_page().
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static char *area;
static volatile unsigned long next_page, pages, every, sink;
static size_t page;
static int by_vdso;

__attribute__((noinline)) void touch_page(void)
{
	const unsigned long n = __atomic_fetch_add(&next_page, 1, __ATOMIC_RELAXED);

	if (n >= pages)
		return;
	if (by_vdso) /* this clock the vDSO has without asking the kernel, whatever counts the time */
		clock_gettime(CLOCK_REALTIME_COARSE, (struct timespec *)(void *)(area + n * page));
	else
		*(volatile char *)(area + n * page) = 1;
	sink++;
}

__attribute__((noinline)) void in_handler(int n)
{
	char local[48];

	memset(local, n, sizeof(local));
	touch_page();
	sink += (unsigned long)local[n & 31];
}

static void handler(int sig)
{
	in_handler(sig);
	sink++;
}

static int compare(const void *a, const void *b)
{
	const int x = *(const int *)a, y = *(const int *)b;

	if ((x ^ y) % 61 == 7)
		touch_page();
	sink++;
	return x < y ? -1 : x > y;
}

__attribute__((noinline)) int sort_some(unsigned seed)
{
	int v[40];

	for (int i = 0; i < 40; i++)
		v[i] = (int)((seed = seed * 1103515245 + 12345) >> 16 & 0xfff);
	qsort(v, 40, sizeof(*v), compare);
	return v[seed % 40] + (int)sink;
}

/* Frames of several sizes, and as many as the seed says. */
__attribute__((noinline)) int spread(unsigned depth, unsigned seed)
{
	char room[200];
	int sum;

	memset(room, (int)seed, 8 + seed % 190);
	sum = depth ? spread(depth - 1, seed + 1) : sort_some(seed);
	return sum + room[seed % 8] + (int)sink;
}

int main(int argc, char **argv)
{
	stack_t other = { .ss_sp = malloc(1 << 16), .ss_size = 1 << 16 };
	const int on_other = argc == 4 && !strcmp(argv[3], "other");
	struct sigaction on_time = { .sa_handler = handler, .sa_flags = SA_RESTART | (on_other ? SA_ONSTACK : 0) };
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1 };
	const long every_ns = argc == 4 && !strcmp(argv[3], "seldom") ? 20000000 : 100000;
	const struct itimerspec often = { { 0, every_ns }, { 0, every_ns } };
	unsigned long stop = 0;
	timer_t timer;

	if ((argc != 3 && argc != 4) || !other.ss_sp)
		return 2;
	pages = strtoul(argv[1], NULL, 0);
	every = strtoul(argv[2], NULL, 0);
	by_vdso = argc == 4 && !strcmp(argv[3], "vdso");
	page = (size_t)sysconf(_SC_PAGESIZE);
	area = mmap(NULL, pages * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (area == MAP_FAILED || madvise(area, pages * page, MADV_NOHUGEPAGE) < 0 || sigaltstack(&other, NULL) < 0 ||
	    sigaction(SIGUSR1, &on_time, NULL) < 0 || timer_create(CLOCK_MONOTONIC, &event, &timer) < 0 ||
	    timer_settime(timer, 0, &often, NULL) < 0)
		return 1;
	for (unsigned i = 0; next_page < pages; i++) {
		if (next_page >= stop) {
			stop = next_page + every;
			raise(SIGSTOP);
		}
		sink += (unsigned long)spread(i % 9, i);
	}
	return 0;
}
