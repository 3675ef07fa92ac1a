/*
 * branches: page faults under many different stacks, in many processes.
 *
 *	branches PROCESSES STACKS FRAMES
 *
 * Each process takes a page fault under each of so many stacks. A stack has that many frames of the functions here, and
 * its own path through them.
 */
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

typedef int branch(uint64_t path, unsigned frames, volatile char *page);

/* 64 functions: the lowest bits of the path say which one is next. */
#define EIGHT(X, a) X(a##0) X(a##1) X(a##2) X(a##3) X(a##4) X(a##5) X(a##6) X(a##7)
#define ALL(X) EIGHT(X, 0) EIGHT(X, 1) EIGHT(X, 2) EIGHT(X, 3) EIGHT(X, 4) EIGHT(X, 5) EIGHT(X, 6) EIGHT(X, 7)
#define X(n) static branch branch_##n;
ALL(X)
#undef X
static branch *const branches[] = {
#define X(n) branch_##n,
	ALL(X)
#undef X
};

static inline int branch_next(uint64_t path, unsigned frames, volatile char *page)
{
	if (!frames)
		return *page = 1;
	return branches[path >> 58](path * 6364136223846793005u + 1442695040888963407u, frames - 1, page);
}
#define X(n)                                                                                                 \
	__attribute__((noinline)) static int branch_##n(uint64_t path, unsigned frames, volatile char *page) \
	{                                                                                                    \
		volatile int rc = branch_next(path, frames, page);                                           \
		return rc;                                                                                   \
	}
ALL(X)
#undef X

static int take_faults(uint64_t process, uint64_t stacks, unsigned frames)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *area = mmap(NULL, stacks * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (area == MAP_FAILED || madvise(area, stacks * page, MADV_NOHUGEPAGE) < 0)
		return 1;
	for (uint64_t i = 0; i < stacks; i++)
		branch_next((process * stacks + i + 1) * 0x9e3779b97f4a7c15u, frames, area + i * page);
	return 0;
}

int main(int argc, char **argv)
{
	const unsigned long processes = argc == 4 ? strtoul(argv[1], NULL, 0) : 0;
	int status, bad = argc != 4;

	for (unsigned long i = 0; i < processes; i++) {
		const pid_t pid = fork();

		if (pid == 0)
			_exit(take_faults(i, strtoul(argv[2], NULL, 0), (unsigned)strtoul(argv[3], NULL, 0)));
		bad |= pid < 0 || waitpid(pid, &status, 0) < 0 || status;
	}
	return bad;
}
