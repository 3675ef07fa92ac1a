/* Any bytes as the records of a just-in-time compiler, read in two pieces as they grow: there is an answer, and the
 * lines are in order. */
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "symbol/symbol_int.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint32_t pid = (uint32_t)getpid();
	struct jit_question q = { .pid = pid, .until_ns = UINT64_MAX, .life = { .until_ns = UINT64_MAX } };
	struct jits all = { 0 };
	struct buf path = { 0 };
	const struct sym *found;
	int fd = memfd_create("dump", MFD_CLOEXEC);
	struct jit *j;

	buf_printf(&path, "/proc/self/nowhere/jit-%u.dump", pid);
	j = jit_open_dump(&all, pid, path.p);
	assert(j && fd >= 0 && fchmod(fd, 0600) == 0); /* what others may write is not read */
	for (size_t at = 0, n; at < size; at += n) {
		n = at || size < 2 ? size - at : size / 2;
		if (write(fd, data + at, n) != (ssize_t)n)
			break;
		if (!at && n >= 24) /* its process is ours */
			(void)!pwrite(fd, &pid, sizeof(pid), 20);
		(void)jit_read_fd(j, fd);
		assert(j->file.at_ns); /* it was read */
	}
	for (uint32_t i = 0; i < j->t.n; i++) {
		assert(!i || (j->t.v[i - 1].start <= j->t.v[i].start && j->reach[i - 1] <= j->reach[i]));
		assert(j->t.v[i].end > j->t.v[i].start);
		q.addr = j->t.v[i].start;
		if (i < 64 && jit_find(j, &q, &found) == JIT_NAME)
			assert(found->start <= q.addr && found->end > q.addr && found->name);
	}
	jit_free(j);
	names_free(&all.names);
	buf_free(&path);
	close(fd);
	return 0;
}
