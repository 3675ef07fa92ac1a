/*
 * jit.c: names that just-in-time compilers leave behind.
 *
 * The field's convention (Java, Node, .NET, Ruby and more; perf's
 * tools/perf/Documentation/jit-interface.txt): a text file /tmp/perf-PID.map
 * that only grows, a line "START SIZE name" per function, numbers in hex.  PID
 * is what the process takes itself for, /tmp is the one it sees.  Anybody may write files into /tmp, so only one that
 * belongs to the process's user or to root, that nobody else may write, and that has no second name, is believed, and of all that a process puts
 * there no more than JIT_FILE_MOST bytes are read.  When code moves, a
 * later line speaks of the same address: the later one holds.
 *
 * Read when an address finds no name, from where the last reading stopped, and
 * after that ever less often for addresses that keep finding none.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "symbol/symbol_int.h"

#define JIT_SYMBOLS_MOST (1u << 20)
#define JIT_NOSIZE_MOST 4096u /* how far a function without a size may reach */
#define READ_BYTES 65536u

static const char *jit_take_hex(const char *s, const char *end, uint64_t *ret)
{
	uint64_t v = 0;

	for (; s < end; s++) {
		unsigned c = (unsigned char)*s, digit = c - '0';

		if (digit > 9 && (digit = (c | 32) - 'a' + 10) - 10 > 5)
			break;
		v = v << 4 | digit;
	}
	*ret = v;
	return s;
}

static const char *skip_0x(const char *s, const char *end)
{
	return end - s > 2 && s[0] == '0' && (s[1] | 32) == 'x' ? s + 2 : s;
}

static void take_line(struct jit *j, struct names *names, const char *s, const char *end)
{
	struct sym to = { .link = j->t.n + 1 };
	const char *at = skip_0x(s, end), *p = jit_take_hex(at, end, &to.start);
	uint64_t size;

	if (p == at || p == end || *p != ' ')
		return;
	at = skip_0x(p + 1, end);
	p = jit_take_hex(at, end, &size);
	if (p == at || end - p < 2 || *p != ' ' || size > UINT64_MAX - to.start)
		return;
	to.rank = size ? 0 : RANK_NOSIZE;
	to.end = to.start + (size ? size : JIT_NOSIZE_MOST);
	if (j->t.n >= JIT_SYMBOLS_MOST || names->bytes >= JIT_NAMES_MOST)
		return;
	to.name = names_add(names, p + 1, (size_t)(end - p - 1));
	if (to.name)
		table_add(&j->t, &to);
}

/* Takes the whole lines of buf; returns how many bytes those were. */
static size_t take_lines(struct jit *j, struct names *names, const char *buf, size_t n)
{
	const char *s = buf, *end;

	while ((end = memchr(s, '\n', n - (size_t)(s - buf)))) {
		take_line(j, names, s, end);
		s = end + 1;
	}
	return (size_t)(s - buf);
}

static void take_appended(struct jit *j, struct names *names, int fd, char *buf)
{
	ssize_t got;

	while (j->read < JIT_FILE_MOST && (got = pread(fd, buf, READ_BYTES, (off_t)j->done)) > 0) {
		size_t took = take_lines(j, names, buf, (size_t)got);

		if (!took && got < READ_BYTES)
			break;                    /* a line that is still being written */
		took = took ? took : (size_t)got; /* no line is that long: skip it */
		j->done += took;
		j->read += took;
	}
}

bool jit_read_fd(struct jit *j, struct names *names, int fd)
{
	uint64_t before;
	struct stat st;
	char *buf;

	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || (st.st_uid != 0 && st.st_uid != j->uid) ||
	    st.st_mode & (S_IWGRP | S_IWOTH) || st.st_nlink > 1)
		return false;
	if ((uint64_t)st.st_ino != j->inode || (uint64_t)st.st_size < j->done) {
		j->inode = st.st_ino;
		j->done = 0;
	}
	before = j->done;
	if ((uint64_t)st.st_size == before || j->read >= JIT_FILE_MOST || !(buf = mem_alloc(READ_BYTES)))
		return false;
	for (uint32_t i = 0; i < j->t.n; i++)
		j->t.v[i].link = 0; /* all older than what comes */
	take_appended(j, names, fd, buf);
	mem_free(buf);
	table_build(&j->t);
	return j->done != before;
}

static bool jit_read(struct jit *j, struct names *names, uint32_t pid)
{
	char path[32];
	bool more;
	int fd;

	snprintf(path, sizeof(path), "/tmp/perf-%u.map", k_pid_inside(pid));
	fd = k_task_file(pid, path, O_NOFOLLOW);
	if (fd < 0 && errno == ESRCH)
		fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW);
	if (fd < 0)
		return false;
	more = jit_read_fd(j, names, fd);
	close(fd);
	return more;
}

/* 1, 2, 4, ... 64, then every 64th. */
static bool worth_another_look(uint32_t misses)
{
	return misses < 64 ? !(misses & (misses - 1)) : misses % 64 == 0;
}

const struct sym *jit_find(struct jit *j, struct names *names, uint32_t pid, uint64_t addr)
{
	const struct sym *s = table_find(&j->t, addr);

	if (!s && worth_another_look(++j->misses) && jit_read(j, names, pid))
		s = table_find(&j->t, addr);
	return s;
}

struct jit *jit_open(uint32_t pid)
{
	struct jit *j = mem_alloc(sizeof(*j));

	if (j && !k_task_user(pid, &j->uid))
		j->uid = geteuid();
	return j;
}

void jit_free(struct jit *j)
{
	if (j)
		table_free(&j->t);
	mem_free(j);
}
