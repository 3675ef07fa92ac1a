/*
 * jitdump.c: names of code of just-in-time compilers that write records with times: jit-PID.dump.
 *
 * The format is perf's (tools/perf/Documentation/jitdump-specification.txt), in the byte order of the machine:
 *
 *	header  "JiTD" as a number, version 1, size of the header, machine, 0, PID, time, flags
 *	record  kind, size of all of it, time; then by its kind
 *	0 load  pid, tid, virtual address, address, size, number of the code; name, NUL, the code itself
 *	1 move  pid, tid, virtual address, old address, new address, size, number of the code
 *	3 close the file is complete
 *
 * Other kinds (lines of the source, unwind tables) say nothing about names. A compiler maps the file once to be
 * executed, which is how it becomes known where it is, and whose: that mapping is a fact of one life of a process, so a
 * file that a process before it left behind is not taken for its own. Who may write it is checked as that of a perf map
 * (jit.c).
 *
 * The times are CLOCK_MONOTONIC's, as all of ours. So each record is a reading of its own, that was written at exactly
 * that time, and what jit.c does with lines holds: of several names of an address that one counts which held when it
 * was seen, and where more than one did, it is ambiguous. Where code moved from there is no code from then on: a line
 * without a name. A file whose times are the CPU's (flag 1) or of another clock, as a first one that is still to come
 * shows, is dated by its readings like a perf map.
 *
 * A record whose size can't be, or whose text has no end in it, is not skipped: behind it all would be guesses, so that
 * nothing is read any more, and what is seen from then on is ambiguous. One that is not whole yet is waited for.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "symbol/symbol_int.h"

#define DUMP_MAGIC 0x4a695444u
#define DUMP_VERSION 1u
#define DUMP_CPU_TIMES 1u
#define DUMP_RECORDS_MOST (4u << 20) /* of one process */

struct dump_header {
	uint32_t magic, version, bytes, machine, pad, pid;
	uint64_t time_ns, flags;
};
static_assert(sizeof(struct dump_header) == 40, "jitdump-specification: header");
struct dump_prefix {
	uint32_t kind, bytes;
	uint64_t time_ns;
};
static_assert(sizeof(struct dump_prefix) == 16, "jitdump-specification: record header");
enum dump_kind { DUMP_LOAD, DUMP_MOVE };
struct dump_load {
	struct dump_prefix prefix;
	uint32_t pid, tid;
	uint64_t vma, addr, size, number;
};
static_assert(sizeof(struct dump_load) == 56, "jitdump-specification: JIT_CODE_LOAD");
struct dump_move {
	struct dump_prefix prefix;
	uint32_t pid, tid;
	uint64_t vma, from, to, size, number;
};
static_assert(sizeof(struct dump_move) == 64, "jitdump-specification: JIT_CODE_MOVE");

bool jitdump_is_path(const char *path, uint32_t pid_inside)
{
	const char *slash = strrchr(path, '/');
	char want[32];

	snprintf(want, sizeof(want), "/jit-%u.dump", pid_inside);
	return slash && !strcmp(slash, want);
}

static bool dump_take_header(struct jit *j, int fd)
{
	struct dump_header h;

	if (pread(fd, &h, sizeof(h), 0) != (ssize_t)sizeof(h) || h.magic != DUMP_MAGIC || h.version != DUMP_VERSION ||
	    h.bytes < sizeof(h) || h.pid != j->pid_inside)
		return false;
	j->untimed = h.flags & DUMP_CPU_TIMES || h.time_ns > k_now_ns();
	j->dump_ns = h.time_ns;
	j->done = h.bytes;
	return true;
}

/* From that time on the code there has that name; NULL: there is none. */
static bool dump_add(struct jit *j, uint64_t addr, uint64_t size, const char *name, uint64_t time_ns)
{
	struct sym to = { .start = addr, .end = addr + size, .link = j->t.n + 1, .name = name };
	struct jit_reading *r;

	if (!size || size > UINT64_MAX - addr)
		return true;
	if (j->t.n >= JIT_SYMBOLS_MOST || !table_add(&j->t, &to))
		return false;
	if (j->untimed)
		return true;
	if (!(r = VEC_NEW(j->reading, j->nreadings, j->readings_cap)))
		return false;
	*r = (struct jit_reading){ .lines = j->t.n, .after_ns = time_ns, .by_ns = time_ns };
	return true;
}

/* The record whose first n bytes are in p. False: it can't be one, or there is no room for it. */
static bool dump_take_load(struct jit *j, const uint8_t *p, size_t n)
{
	struct dump_load l;
	const char *name = (const char *)p + sizeof(l), *text;
	size_t most, len;
	void **known;

	if (n <= sizeof(l))
		return false;
	memcpy(&l, p, sizeof(l));
	most = n - sizeof(l);
	len = strnlen(name, most);
	if (len == most && len <= NAME_MOST)
		return false;
	if (j->all->names.bytes >= JIT_NAMES_MOST || !(text = names_add(&j->all->names, name, len)) ||
	    !(known = map_at(&j->by_number, &l.number, sizeof(l.number))))
		return false;
	*known = (void *)text;
	return dump_add(j, l.addr, l.size, text, l.prefix.time_ns);
}

static bool dump_take_move(struct jit *j, const uint8_t *p, size_t n)
{
	struct dump_move m;
	const char *text;

	if (n < sizeof(m))
		return false;
	memcpy(&m, p, sizeof(m));
	text = map_get(&j->by_number, &m.number, sizeof(m.number));
	return dump_add(j, m.from, m.size, NULL, m.prefix.time_ns) && dump_add(j, m.to, m.size, text, m.prefix.time_ns);
}

/* The records of a file of so many bytes, from where the last reading stopped. */
static bool dump_take_records(struct jit *j, int fd, uint64_t bytes)
{
	uint8_t p[sizeof(struct dump_load) + NAME_MOST + 1];

	while (bytes > j->done && bytes - j->done >= sizeof(struct dump_prefix)) {
		const ssize_t got = pread(fd, p, sizeof(p), (off_t)j->done);
		struct dump_prefix prefix;
		bool good = true;
		size_t n;

		if (got < (ssize_t)sizeof(prefix))
			return false;
		memcpy(&prefix, p, sizeof(prefix));
		if (prefix.bytes < sizeof(prefix) || j->records >= DUMP_RECORDS_MOST)
			return false;
		if (prefix.bytes > bytes - j->done)
			break; /* it is still being written */
		n = prefix.bytes < (size_t)got ? prefix.bytes : (size_t)got;
		if (prefix.kind == DUMP_LOAD)
			good = dump_take_load(j, p, n);
		else if (prefix.kind == DUMP_MOVE)
			good = dump_take_move(j, p, n);
		if (!good)
			return false;
		j->done += prefix.bytes;
		j->records++;
	}
	return true;
}

void jitdump_read(struct jit *j, int fd, uint64_t bytes)
{
	if (j->broken || bytes < sizeof(struct dump_header))
		return;
	j->broken = (!j->done && !dump_take_header(j, fd)) || bytes < j->done || !dump_take_records(j, fd, bytes);
}
