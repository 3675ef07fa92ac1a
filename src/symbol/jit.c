/*
 * jit.c: names of code of just-in-time compilers.
 *
 * The common convention (Java, Node, .NET, Ruby and more; perf's tools/perf/Documentation/jit-interface.txt) is a
 * text file /tmp/perf-PID.map that only grows, with a line "START SIZE name" per function, numbers in hex. PID is the
 * process's own view of its id, and /tmp its own view of /tmp. Anybody may write files into /tmp, so a file is
 * trusted only if it belongs to the process's user or to root, nobody else may write it, and it has no second name.
 * At most JIT_FILE_MOST bytes are read for a process.
 *
 * A line has no time, and the file outlives the process and its exec. So the file's times are compared with the life
 * of the process in question: from its exec, fork or start to the next of that process id. A file that was last
 * written before the life began, or created after it ended, says nothing about it. A file that was created before and
 * written since has lines of both lives, and names from it are ambiguous, unless the process has it open, not for
 * appending, and is at its end: then the process truncated it first.
 *
 * Code moves, so lines may give one address several names. The readings of the file before and after a line date it.
 * A line holds from its writing to the writing of the next for the same address; the first line also holds before,
 * for compilers that write their map late. If that leaves one name for the time in which the address was seen, it is
 * the name; otherwise it is ambiguous.
 *
 * So the file is checked for each address, and read from where the last reading stopped. A process may remove its file,
 * or end and take its /tmp along, before an address is asked for: so the file is read too when the process maps more
 * code, and when it ends. A missing file is looked for less and less often. A jitdump that was removed is reached
 * through its mapping, as long as the process lives.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "symbol/symbol_int.h"

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

static void take_line(struct jit *j, const char *s, const char *end)
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
	to.end = to.start + size;
	if (j->t.n >= JIT_SYMBOLS_MOST || j->all->names.bytes >= JIT_NAMES_MOST)
		return;
	to.name = names_add(&j->all->names, p + 1, (size_t)(end - p - 1));
	if (to.name)
		table_add(&j->t, &to);
}

/* Takes the whole lines of buf; returns how many bytes those were. */
static size_t take_lines(struct jit *j, const char *buf, size_t n)
{
	const char *s = buf, *end;

	while ((end = memchr(s, '\n', n - (size_t)(s - buf)))) {
		take_line(j, s, end);
		s = end + 1;
	}
	return (size_t)(s - buf);
}

/* False: no memory. */
static bool take_appended(struct jit *j, int fd)
{
	char *buf = mem_alloc(READ_BYTES);
	ssize_t got;

	if (!buf)
		return false;
	while (j->read < JIT_FILE_MOST && (got = pread(fd, buf, READ_BYTES, (off_t)j->done)) > 0) {
		size_t took = take_lines(j, buf, (size_t)got);

		if (!took && got < READ_BYTES)
			break;                    /* a line that is still being written */
		took = took ? took : (size_t)got; /* no line is that long: skip it */
		j->ntail = took < sizeof(j->tail) ? (uint32_t)took : (uint32_t)sizeof(j->tail);
		memcpy(j->tail, buf + took - j->ntail, j->ntail);
		j->done += took;
		j->read += took;
	}
	mem_free(buf);
	return true;
}

/* Whether what was read of the file last still stands in front of what is read next. */
static bool jit_continues(const struct jit *j, int fd)
{
	char tail[sizeof(j->tail)];

	return pread(fd, tail, j->ntail, (off_t)(j->done - j->ntail)) == (ssize_t)j->ntail &&
	       !memcmp(tail, j->tail, j->ntail);
}

/* In order of address, and of line where that is the same. Where a line without a size ends, and how far all up to each
 * reach. */
static bool jit_arrange(struct jit *j)
{
	uint64_t next = UINT64_MAX, reach = 0;
	uint64_t *to;

	table_sort(&j->t);
	for (uint32_t i = j->t.n; i-- > 0;) {
		struct sym *s = &j->t.v[i];

		if (i + 1 < j->t.n && j->t.v[i + 1].start > s->start)
			next = j->t.v[i + 1].start;
		if (s->rank == RANK_NOSIZE)
			s->end = next - s->start < JIT_NOSIZE_MOST ? next : s->start + JIT_NOSIZE_MOST;
	}
	to = mem_grow(j->reach, (j->t.n + 1) * sizeof(*to));
	if (!to)
		return false;
	j->reach = to;
	for (uint32_t i = 0; i < j->t.n; i++)
		to[i] = reach = j->t.v[i].end > reach ? j->t.v[i].end : reach;
	return true;
}

/* The lines that were read now, which were not there when the file was read before. */
static bool jit_date_lines(struct jit *j)
{
	const struct jit_reading *before = j->nreadings ? &j->reading[j->nreadings - 1] : NULL;
	struct jit_reading *to;

	if (before && before->lines == j->t.n)
		return true;
	to = VEC_NEW(j->reading, j->nreadings, j->readings_cap);
	if (to)
		*to = (struct jit_reading){ .lines = j->t.n, .after_ns = j->complete_ns, .by_ns = k_now_ns() };
	return to;
}

bool jit_read_fd(struct jit *j, int fd)
{
	struct k_file_state now;
	struct stat st;

	j->whole = false;
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || (st.st_uid != 0 && st.st_uid != j->uid) ||
	    st.st_mode & (S_IWGRP | S_IWOTH) || st.st_nlink > 1 || !k_file_look(fd, &now))
		return false;
	if ((uint64_t)st.st_ino != j->inode)
		j->emptied = false;
	if (!j->dump && ((uint64_t)st.st_ino != j->inode || (uint64_t)st.st_size < j->done || !jit_continues(j, fd))) {
		j->inode = st.st_ino;
		j->done = j->ntail = 0;
	}
	j->file = now;
	if ((uint64_t)st.st_size != j->done) {
		const uint32_t lines = j->t.n;

		if (j->dump)
			jitdump_read(j, fd, (uint64_t)st.st_size);
		else if (!take_appended(j, fd))
			return false;
		if (j->t.n != lines && (!jit_date_lines(j) || !jit_arrange(j))) {
			j->t.n = j->nreadings = 0; /* no name is better than a wrong one */
			j->broken = j->dump;
			return false;
		}
	}
	if (j->broken || j->read >= JIT_FILE_MOST || j->t.n >= JIT_SYMBOLS_MOST ||
	    j->all->names.bytes >= JIT_NAMES_MOST)
		return false;
	j->complete_ns = now.at_ns;
	return j->whole = true;
}

/* ---- which file, and whose --------------------------------------------------------- */

/* A jitdump that was removed is still mapped. */
static int jit_mapped_open(const struct jit *j, uint32_t pid)
{
	struct buf path = { 0 };
	int fd;

	buf_printf(&path, "%s%s", j->dump, GONE_MARK);
	fd = path.failed ? -1 : k_mapped_file(pid, path.p);
	buf_free(&path);
	return fd;
}

static int jit_file_open(const struct jit *j, uint32_t pid)
{
	char map[32];
	const char *path = j->dump ? j->dump : map;
	int fd;

	snprintf(map, sizeof(map), "/tmp/perf-%u.map", j->pid_inside);
	fd = k_task_file(pid, path, O_NOFOLLOW);
	if (fd < 0 && errno == ESRCH && j->pid_inside == pid)
		fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW);
	else if (fd < 0 && j->dump)
		fd = jit_mapped_open(j, pid);
	return fd;
}

static void jit_close_file(struct jit *j)
{
	if (j->fd < 0)
		return;
	close(j->fd);
	j->fd = -1;
	j->all->fds--;
}

static bool jit_file_changed(const struct k_file_state *a, const struct k_file_state *b)
{
	return a->size != b->size || a->mtime_ns != b->mtime_ns || a->ctime_ns != b->ctime_ns || a->links != b->links;
}

/* 1, 2, 4, ... 64, then every 64th. */
static bool worth_another_look(uint32_t misses)
{
	return misses < 64 ? !(misses & (misses - 1)) : misses % 64 == 0;
}

void jit_take(struct jit *j, uint32_t pid)
{
	struct k_file_state now;
	int fd;

	if (j->broken || (j->all->seen_by_ns && j->whole && j->complete_ns >= j->all->seen_by_ns))
		return;
	if (j->fd >= 0 && k_file_look(j->fd, &now)) {
		if (jit_file_changed(&j->file, &now))
			(void)jit_read_fd(j, j->fd);
		else if (j->whole)
			j->complete_ns = now.at_ns;
		if (now.links || j->dump)
			return;
	}
	if (!j->file.at_ns && !worth_another_look(++j->misses))
		return;
	fd = jit_file_open(j, pid);
	if (fd < 0) {
		j->whole &= j->fd >= 0;
		return;
	}
	(void)jit_read_fd(j, fd);
	jit_close_file(j);
	if (j->whole && j->all->fds < JIT_FDS_MOST) {
		j->fd = fd;
		j->all->fds++;
	} else {
		close(fd);
	}
}

/*
 * Whether the lines that were read are those of a life, and of no other. The clock of a file system goes in ticks, and
 * where CPUs sleep it is some ticks late: 6.4 ms were seen with ticks of 4. A process id is not given again that soon,
 * and what a program wrote so shortly before its exec is of both lives.
 */
#define LATE_TICKS 3
enum jit_whose { JIT_OTHERS, JIT_MIXED, JIT_OWN };
static enum jit_whose jit_whose(struct jit *j, const struct jit_question *q)
{
	const struct jit_life *life = &q->life;
	const struct k_file_state *f = &j->file;
	const uint64_t late_ns = LATE_TICKS * f->tick_ns;

	if (j->dump && !j->untimed)
		return j->dump_ns >= life->from_ns && j->dump_ns < life->until_ns ? JIT_OWN : JIT_OTHERS;
	if (life->from_ns && (f->written_ns + late_ns <= life->from_ns || f->born_ns >= life->until_ns))
		return JIT_OTHERS;
	if (!life->from_ns || (life->until_ns != UINT64_MAX && f->written_ns + late_ns > life->until_ns))
		return JIT_MIXED;
	if (f->born_ns + (life->first ? late_ns : 0) >= life->from_ns)
		return JIT_OWN;
	if (!j->emptied && j->fd >= 0 && life->until_ns == UINT64_MAX && worth_another_look(++j->misses))
		j->emptied = k_task_filled(q->pid, j->fd);
	return j->emptied ? JIT_OWN : JIT_MIXED;
}

/* ---- names --------------------------------------------------------------------------- */

static const struct jit_reading *jit_reading_of(const struct jit *j, const struct sym *line)
{
	uint32_t lo = 0, hi = j->nreadings - 1;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (j->reading[mid].lines < line->link)
			lo = mid + 1;
		else
			hi = mid;
	}
	return &j->reading[lo];
}

/* The lines that name addr, the last of the file first; how many, or JIT_LINES_MOST + 1: too many to tell. */
static uint32_t jit_lines_of(const struct jit *j, uint64_t addr, const struct sym *line[])
{
	uint32_t lo = SORTED_UPTO(j->t.v, j->t.n, start, addr), n = 0, labels = 0;

	for (uint32_t seen = 0; lo && j->reach[lo - 1] > addr; seen++) {
		const struct sym *s = &j->t.v[--lo];
		uint32_t at = n;

		if (n == JIT_LINES_MOST || seen == JIT_SEEN_MOST)
			return JIT_LINES_MOST + 1;
		if (s->end <= addr)
			continue;
		for (; at && line[at - 1]->link < s->link; at--)
			line[at] = line[at - 1];
		line[at] = s;
		n++;
		labels += s->rank == RANK_NOSIZE;
	}
	if (labels && labels < n) { /* inside of a function with a size it is only a label */
		uint32_t kept = 0;

		for (uint32_t i = 0; i < n; i++)
			if (line[i]->rank != RANK_NOSIZE)
				line[kept++] = line[i];
		n = kept;
	}
	return n;
}

static bool names_differ(const struct sym *a, const struct sym *b)
{
	return !a->name || !b->name ? a->name != b->name : strcmp(a->name, b->name) != 0;
}

/* The one of line[0..n) that held at some time from since_ns to until_ns. */
static enum jit_told jit_line_then(const struct jit *j, const struct sym *const line[], uint32_t n, uint64_t since_ns,
				   uint64_t until_ns, const struct sym **ret)
{
	const struct sym *found = NULL;

	for (uint32_t i = 0; i < n; i++) {
		const struct jit_reading *r = jit_reading_of(j, line[i]);

		if ((i + 1 < n || (j->dump && !j->untimed)) && until_ns <= r->after_ns)
			continue; /* it came later */
		if (found && names_differ(found, line[i]))
			return JIT_AMBIGUOUS;
		if (!found)
			found = line[i];
		if (since_ns >= r->by_ns)
			break; /* what stands before it was over */
	}
	*ret = found;
	return found && found->name ? JIT_NAME : JIT_NOTHING;
}

enum jit_told jit_find(struct jit *j, const struct jit_question *q, const struct sym **ret)
{
	const struct sym *line[JIT_LINES_MOST];
	enum jit_whose whose;
	uint32_t n;

	jit_take(j, q->pid);
	n = jit_lines_of(j, q->addr, line);
	whose = n ? jit_whose(j, q) : JIT_OTHERS;
	if (whose == JIT_OTHERS)
		return JIT_NOTHING;
	if (whose == JIT_MIXED || n > JIT_LINES_MOST || (!j->whole && q->until_ns > j->complete_ns))
		return JIT_AMBIGUOUS;
	return jit_line_then(j, line, n, q->since_ns, q->until_ns < j->complete_ns ? q->until_ns : j->complete_ns, ret);
}

struct jit *jit_open(struct jits *all, uint32_t pid)
{
	struct jit *j = mem_alloc(sizeof(*j));

	if (!j)
		return NULL;
	j->all = all;
	j->fd = -1;
	j->pid_inside = k_pid_inside(pid);
	j->began_ns = k_task_began(pid);
	if (!k_task_user(pid, &j->uid))
		j->uid = geteuid();
	return j;
}

struct jit *jit_open_dump(struct jits *all, uint32_t pid, const char *path)
{
	struct jit *j;

	if (!jitdump_is_path(path, k_pid_inside(pid)) || !(j = jit_open(all, pid)))
		return NULL;
	j->dump = names_add(&all->names, path, strlen(path));
	if (!j->dump || !jitdump_is_path(j->dump, j->pid_inside)) { /* no memory, or a path that is no text */
		jit_free(j);
		return NULL;
	}
	return j;
}

void jit_free(struct jit *j)
{
	if (!j)
		return;
	jit_close_file(j);
	table_free(&j->t);
	mem_free(j->reach);
	mem_free(j->reading);
	map_free(&j->by_number);
	mem_free(j);
}
