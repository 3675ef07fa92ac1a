/*
 * mem.c: all memory of the project passes through here.
 *
 * The one idea: a test can say "the n-th allocation fails" and walk n upwards
 * until a run is clean, so that every failure path is taken once (R14).  The
 * counters are the only process-wide state in tally; they serve tests alone
 * and are atomic, so that threads may allocate.
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"

static atomic_long fail_in, live;
static atomic_bool failed;

static bool fails_now(void)
{
	if (atomic_load_explicit(&fail_in, memory_order_relaxed) == 0)
		return false;
	if (atomic_fetch_sub(&fail_in, 1) != 1)
		return false;
	atomic_store(&failed, true);
	return true;
}

void *mem_alloc(size_t size)
{
	void *p = fails_now() ? NULL : calloc(1, size ? size : 1);

	if (p)
		atomic_fetch_add_explicit(&live, 1, memory_order_relaxed);
	return p;
}

void *mem_grow(void *p, size_t size)
{
	void *q = fails_now() ? NULL : realloc(p, size ? size : 1);

	if (q && !p)
		atomic_fetch_add_explicit(&live, 1, memory_order_relaxed);
	return q;
}

char *mem_strdup(const char *s)
{
	size_t n = strlen(s) + 1;
	char *p = mem_alloc(n);

	return p ? memcpy(p, s, n) : NULL;
}

void mem_free(void *p)
{
	if (p)
		atomic_fetch_sub_explicit(&live, 1, memory_order_relaxed);
	free(p);
}

void mem_fail_at(long n)
{
	atomic_store(&failed, false);
	atomic_store(&fail_in, n);
}

bool mem_failed(void)
{
	return atomic_load(&failed);
}

long mem_live(void)
{
	return atomic_load(&live);
}

void *vec_new(void **v, uint32_t *n, uint32_t *cap, size_t size)
{
	if (*n == *cap) {
		uint32_t want = *cap ? *cap * 2 : 8;
		void *p;

		if (want <= *cap || want > UINT32_MAX / 2 || !(p = mem_grow(*v, want * size)))
			return NULL;
		*v = p;
		*cap = want;
	}
	return memset((char *)*v + size * (*n)++, 0, size);
}

bool range_holds(uint64_t base, uint64_t bytes, uint64_t at, uint64_t n)
{
	return at >= base && at - base <= bytes && n <= bytes - (at - base);
}
