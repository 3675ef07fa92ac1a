/* memory_test_int.h: a file in memory, for tests and fuzzing. */
#ifndef TALLY_PTT_MEMORY_TEST_INT_H
#define TALLY_PTT_MEMORY_TEST_INT_H

#include <errno.h>
#include <string.h>

#include "ptt/ptt.h"

/* Each answer ends where its room ends, so that ASan sees a step beyond. A stream forgets. */
struct memory {
	const uint8_t *p;
	size_t n;
	bool stream;
	uint64_t farthest;
	bool fail;
	int cause; /* errno of the failure; 0: left as it is */
};

static inline int64_t memory_at(void *arg, uint64_t off, size_t n, const uint8_t **p)
{
	static uint8_t room[PTT_WINDOW_MOST];
	struct memory *m = arg;

	assert(n <= PTT_WINDOW_MOST);
	if (m->fail || (m->stream && off + BYTES_KEEP < m->farthest)) {
		errno = m->cause ? m->cause : errno;
		return -TALLY_EIO;
	}
	if (off > m->farthest)
		m->farthest = off;
	if (off >= m->n)
		return 0;
	n = n < m->n - off ? n : m->n - off;
	*p = memcpy(room + sizeof(room) - n, m->p + off, n);
	return (int64_t)n;
}

static inline struct bytes_in memory_in(struct memory *m)
{
	return (struct bytes_in){ .arg = m, .at = memory_at, .size = m->stream ? UINT64_MAX : m->n };
}

#endif
