/* Any text as a perf map, read in two pieces as it grows: there is an answer, and the lines are in order. */
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "symbol/symbol_int.h"

#define NO_PROCESS 0x7ffffff0u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct jit_question q = { .pid = NO_PROCESS, .until_ns = UINT64_MAX, .life = { .until_ns = UINT64_MAX } };
	struct jits all = { 0 };
	struct jit *j = jit_open(&all, NO_PROCESS);
	const struct sym *found;
	int fd = memfd_create("map", MFD_CLOEXEC);

	if (j && fd >= 0 && fchmod(fd, 0600) == 0) /* what others may write is not read */
		for (size_t at = 0, n; at < size; at += n) {
			n = at || size < 2 ? size - at : size / 2;
			if (write(fd, data + at, n) != (ssize_t)n)
				break;
			(void)jit_read_fd(j, fd);
			assert(j->file.at_ns); /* it was read */
		}
	for (uint32_t i = 0; j && i < j->t.n; i++) {
		assert(!i || (j->t.v[i - 1].start <= j->t.v[i].start && j->reach[i - 1] <= j->reach[i]));
		q.addr = j->t.v[i].start;
		if (i < 64 && jit_find(j, &q, &found) == JIT_NAME)
			assert(found->start <= q.addr && found->name);
	}
	jit_free(j);
	names_free(&all.names);
	close(fd);
	return 0;
}
