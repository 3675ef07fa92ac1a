/*
 * failing: a library to be preloaded, in which the n-th allocation fails.
 *
 * TORTURE_FAIL_AT=N: the N-th allocation after the program's start fails; with TORTURE_FAIL_ON=1 all after it as well.
 * TORTURE_COUNT=FILE: how many there were is written there when the program exits.  Only this process: what it
 * executes has all its memory.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void *__libc_malloc(size_t n);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t n);
void *__libc_memalign(size_t alignment, size_t n);

static atomic_long failing_done, failing_at;
static atomic_bool failing_on;
static char failing_count_path[4096];

static __attribute__((constructor)) void failing_start(void)
{
	const char *at = getenv("TORTURE_FAIL_AT"), *path = getenv("TORTURE_COUNT");

	if (path)
		snprintf(failing_count_path, sizeof(failing_count_path), "%s", path);
	unsetenv("LD_PRELOAD");
	failing_on = getenv("TORTURE_FAIL_ON") != NULL;
	failing_done = 0;
	failing_at = at ? atol(at) : 0;
}

static __attribute__((destructor)) void failing_end(void)
{
	char line[32];
	int fd;

	if (!failing_count_path[0] ||
	    (fd = open(failing_count_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600)) < 0)
		return;
	if (write(fd, line, (size_t)snprintf(line, sizeof(line), "%ld\n", (long)failing_done)) < 0)
		_exit(125);
	close(fd);
}

static int failing_now(void)
{
	const long n = atomic_fetch_add(&failing_done, 1) + 1, at = failing_at;

	if (at == 0 || (failing_on ? n < at : n != at))
		return 0;
	errno = ENOMEM;
	return 1;
}

void *malloc(size_t n)
{
	return failing_now() ? NULL : __libc_malloc(n);
}
void *calloc(size_t n, size_t size)
{
	return failing_now() ? NULL : __libc_calloc(n, size);
}
void *realloc(void *p, size_t n)
{
	return failing_now() ? NULL : __libc_realloc(p, n);
}
void *memalign(size_t alignment, size_t n)
{
	return failing_now() ? NULL : __libc_memalign(alignment, n);
}
void *aligned_alloc(size_t alignment, size_t n)
{
	return failing_now() ? NULL : __libc_memalign(alignment, n);
}
int posix_memalign(void **p, size_t alignment, size_t n)
{
	void *q = failing_now() ? NULL : __libc_memalign(alignment, n);

	if (q)
		*p = q;
	return q ? 0 : ENOMEM;
}
