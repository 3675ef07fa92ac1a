/*
 * arena.c: memory that is freed at once.
 *
 * A compiler makes thousands of small things that all die together.  Chunks
 * double up to a megabyte; a larger request gets a chunk of its own.
 */
#include <stdio.h>
#include <string.h>

#include "base/base.h"

struct arena_chunk {
	struct arena_chunk *next;
	size_t size;
	_Alignas(16) char bytes[];
};

#define CHUNK_FIRST 4096u
#define CHUNK_MOST (1u << 20)

static bool chunk_add(struct arena *a, size_t need)
{
	size_t size = a->head ? a->head->size * 2 : CHUNK_FIRST;
	struct arena_chunk *c;

	if (size > CHUNK_MOST)
		size = CHUNK_MOST;
	if (size < need)
		size = need;
	c = mem_alloc(sizeof(*c) + size);
	if (!c)
		return false;
	c->size = size;
	c->next = a->head;
	a->head = c;
	a->left = size;
	return true;
}

void *arena_alloc(struct arena *a, size_t size)
{
	size_t need = (size + 15) & ~(size_t)15;
	char *p;

	if (need < size || (need > a->left && !chunk_add(a, need))) {
		a->failed = true;
		return NULL;
	}
	p = a->head->bytes + (a->head->size - a->left);
	a->left -= need;
	return p;
}

char *arena_strndup(struct arena *a, const char *s, size_t n)
{
	char *p = n == SIZE_MAX ? NULL : arena_alloc(a, n + 1);

	if (p && n)
		memcpy(p, s, n);
	return p;
}

char *arena_strdup(struct arena *a, const char *s)
{
	return arena_strndup(a, s, strlen(s));
}

char *arena_vprintf(struct arena *a, const char *fmt, va_list ap)
{
	va_list again;
	char *p;
	int n;

	va_copy(again, ap);
	n = vsnprintf(NULL, 0, fmt, again);
	va_end(again);
	p = n < 0 ? NULL : arena_alloc(a, (size_t)n + 1);
	if (p)
		vsnprintf(p, (size_t)n + 1, fmt, ap);
	return p;
}

char *arena_printf(struct arena *a, const char *fmt, ...)
{
	va_list ap;
	char *p;

	va_start(ap, fmt);
	p = arena_vprintf(a, fmt, ap);
	va_end(ap);
	return p;
}

const char *arena_text(struct arena *a, const char *fmt, ...)
{
	va_list ap;
	const char *s;

	va_start(ap, fmt);
	s = arena_vprintf(a, fmt, ap);
	va_end(ap);
	return s ? s : "";
}

void arena_free(struct arena *a)
{
	struct arena_chunk *next;

	for (struct arena_chunk *c = a->head; c; c = next) {
		next = c->next;
		mem_free(c);
	}
	*a = (struct arena){ 0 };
}

void arena_reset(struct arena *a)
{
	if (!a->head || a->head->next || a->head->size > CHUNK_MOST) {
		arena_free(a);
		return;
	}
	memset(a->head->bytes, 0, a->head->size - a->left);
	a->left = a->head->size;
	a->failed = false;
}
