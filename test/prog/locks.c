/*
 * locks: threads that wait for locks of the kernel, for times that they know.
 *
 *	locks mutex FILE TIMES     a thread writes while another is held in the midst of its write to the same open
 *	                           file, whose place is locked
 *	locks rwsem FILE TIMES     the same through two open files: the inode is locked
 *	locks map THREADS TIMES    threads map, touch and unmap memory, all at once
 *
 * prints "waits N held NS called NS": how often a thread waited, how long the lock was held at least while it did, and
 * how long its calls took in all. The writer is held by memory that this program itself has to fill in
 * (userfaultfd(2)).  Who waits is called "waiter".
 */
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define HELD_NS 2000000u

struct call {
	int fd;
	const char *from;
	_Atomic pid_t tid;
	uint64_t took_ns;
	unsigned long times;
};

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static void *holder(void *arg)
{
	struct call *c = arg;

	if (write(c->fd, c->from, 1) != 1)
		fail("write");
	return NULL;
}

static void *waiter(void *arg)
{
	struct call *c = arg;
	uint64_t began;

	prctl(PR_SET_NAME, "waiter");
	began = now_ns();
	c->tid = (pid_t)syscall(SYS_gettid);
	if (write(c->fd, c->from, 1) != 1)
		fail("write");
	c->took_ns = now_ns() - began;
	return NULL;
}

/* In the kernel, where no signal wakes it. */
static int is_asleep(pid_t tid)
{
	char path[64], state = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", tid);
	f = fopen(path, "r");
	if (!f || fscanf(f, "%*d (waiter) %c", &state) != 1)
		state = 0;
	if (f)
		fclose(f);
	return state == 'D';
}

static void *new_page(size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		fail("mmap");
	return p;
}

/* Fills in the page that somebody came to; before that, whatever has to happen while he is there. */
static uint64_t hold(int faults, void *page, size_t bytes, struct call *waits, pthread_t *thread)
{
	struct uffdio_zeropage zero = { .range = { (uintptr_t)page, bytes } };
	struct uffd_msg msg;
	uint64_t since, held;

	if (read(faults, &msg, sizeof(msg)) != sizeof(msg))
		fail("userfaultfd");
	pthread_create(thread, NULL, waiter, waits);
	while (!waits->tid || !is_asleep(waits->tid))
		sched_yield();
	since = now_ns();
	while ((held = now_ns() - since) < HELD_NS)
		sched_yield();
	if (ioctl(faults, UFFDIO_ZEROPAGE, &zero) < 0)
		fail("UFFDIO_ZEROPAGE");
	return held;
}

static void wait_for_file(const char *path, unsigned long times, int opens)
{
	const size_t bytes = (size_t)sysconf(_SC_PAGESIZE);
	int faults = (int)syscall(SYS_userfaultfd, O_CLOEXEC), fd[2];
	struct uffdio_api api = { .api = UFFD_API };
	uint64_t held = 0, called = 0;

	if (faults < 0 || ioctl(faults, UFFDIO_API, &api) < 0) {
		perror("userfaultfd");
		exit(77);
	}
	fd[0] = open(path, O_WRONLY | O_CREAT, 0600);
	fd[1] = opens == 1 ? fd[0] : open(path, O_WRONLY);
	if (fd[0] < 0 || fd[1] < 0)
		fail(path);
	for (unsigned long i = 0; i < times; i++) {
		void *page = new_page(bytes);
		struct uffdio_register reg = { .range = { (uintptr_t)page, bytes },
					       .mode = UFFDIO_REGISTER_MODE_MISSING };
		struct call holds = { .fd = fd[0], .from = page }, waits = { .fd = fd[1], .from = "x" };
		pthread_t thread[2];

		if (ioctl(faults, UFFDIO_REGISTER, &reg) < 0)
			fail("UFFDIO_REGISTER");
		pthread_create(&thread[0], NULL, holder, &holds);
		held += hold(faults, page, bytes, &waits, &thread[1]);
		pthread_join(thread[0], NULL);
		pthread_join(thread[1], NULL);
		called += waits.took_ns;
		munmap(page, bytes);
	}
	printf("waits %lu held %llu called %llu\n", times, (unsigned long long)held, (unsigned long long)called);
}

static void *map_often(void *arg)
{
	enum { BYTES = 1 << 18 };
	struct call *c = arg;

	prctl(PR_SET_NAME, "waiter");
	for (unsigned long i = 0; i < c->times; i++) {
		const uint64_t began = now_ns();
		char *p = new_page(BYTES);

		for (size_t at = 0; at < BYTES; at += 4096)
			p[at] = 1;
		munmap(p, BYTES);
		c->took_ns += now_ns() - began;
	}
	return NULL;
}

static void wait_for_map(unsigned long threads, unsigned long times)
{
	enum { MOST = 64 };
	pthread_t thread[MOST];
	struct call call[MOST] = { 0 };
	uint64_t called = 0;

	if (threads > MOST)
		exit(2);
	for (unsigned long i = 0; i < threads; i++) {
		call[i].times = times;
		pthread_create(&thread[i], NULL, map_often, &call[i]);
	}
	for (unsigned long i = 0; i < threads; i++) {
		pthread_join(thread[i], NULL);
		called += call[i].took_ns;
	}
	printf("waits 0 held 0 called %llu\n", (unsigned long long)called);
}

int main(int argc, char **argv)
{
	if (argc != 4)
		return 2;
	if (!strcmp(argv[1], "map"))
		wait_for_map(strtoul(argv[2], NULL, 10), strtoul(argv[3], NULL, 10));
	else
		wait_for_file(argv[2], strtoul(argv[3], NULL, 10), strcmp(argv[1], "mutex") ? 2 : 1);
	return 0;
}
