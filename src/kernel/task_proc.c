/*
 * task_proc.c: processes as /proc shows them now: who is there, what they map,
 * and the way to a file that one of them sees.
 *
 * A process may end between any two lines of this file: that is an answer
 * (no such process), never an error of ours.  Lines are cut from one buffer in
 * place; nothing is allocated for them.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernel/task_int.h"

/* ---- lines ------------------------------------------------------------------- */

static void lines_fill(struct k_lines *l)
{
	ssize_t got;

	memmove(l->buf, l->buf + l->at, l->n - l->at);
	l->n -= l->at;
	l->at = 0;
	do
		got = read(l->fd, l->buf + l->n, sizeof(l->buf) - 1 - l->n);
	while (got < 0 && errno == EINTR);
	if (got <= 0)
		l->eof = true;
	else
		l->n += (size_t)got;
}

char *k_lines_next(struct k_lines *l)
{
	size_t seen = 0;

	for (;;) {
		char *line = l->buf + l->at, *end = memchr(line + seen, '\n', l->n - l->at - seen);
		bool full = l->n - l->at == sizeof(l->buf) - 1;

		if (end || ((l->eof || full) && l->n > l->at)) {
			size_t len = end ? (size_t)(end - line) : l->n - l->at;

			line[len] = 0;
			l->at += len + (end ? 1 : 0);
			return line;
		}
		if (l->eof)
			return NULL;
		seen = l->n - l->at;
		lines_fill(l);
	}
}

static struct k_lines *lines_open(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct k_lines *l = fd < 0 ? NULL : mem_alloc(sizeof(*l));

	if (l)
		l->fd = fd;
	else if (fd >= 0) {
		close(fd);
		errno = ENOMEM;
	}
	return l;
}

static void lines_close(struct k_lines *l)
{
	if (l)
		close(l->fd);
	mem_free(l);
}

const char *k_hex(const char *s, uint64_t *ret)
{
	uint64_t v = 0;

	for (;; s++) {
		unsigned c = (unsigned char)*s, digit = c - '0';

		if (digit > 9) {
			digit = (c | 32) - 'a';
			if (digit > 5)
				break;
			digit += 10;
		}
		v = v << 4 | digit;
	}
	*ret = v;
	return s;
}

/* ---- mappings ------------------------------------------------------------------- */

/* "start-end perms offset major:minor inode   path": proc(5). The path may be missing and may hold
 * blanks. */
bool k_task_of_maps(const char *line, struct k_task *ret, bool *executable)
{
	struct k_task t = { .kind = K_TASK_MMAP };
	uint64_t end, major, minor;
	const char *s = k_hex(line, &t.addr), *perms;
	char *rest;

	if (s == line || *s++ != '-')
		return false;
	s = k_hex(s, &end);
	perms = s + 1;
	if (*s != ' ' || strnlen(perms, 5) < 5 || perms[4] != ' ' || end <= t.addr)
		return false;
	s = k_hex(perms + 5, &t.pgoff);
	if (*s++ != ' ')
		return false;
	s = k_hex(s, &major);
	if (*s++ != ':')
		return false;
	s = k_hex(s, &minor);
	if (*s++ != ' ')
		return false;
	t.inode = strtoull(s, &rest, 10);
	t.len = end - t.addr;
	t.dev_major = (uint32_t)major;
	t.dev_minor = (uint32_t)minor;
	t.path = rest + strspn(rest, " ");
	*executable = perms[2] == 'x';
	*ret = t;
	return true;
}

static struct k_lines *maps_open(uint32_t pid)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/%u/maps", pid);
	return lines_open(path);
}

int k_task_maps(uint32_t pid, void (*sink)(void *arg, const struct k_task *t), void *arg)
{
	uint64_t time_ns = k_now_ns();
	struct k_lines *l = maps_open(pid);
	struct k_task t;
	bool executable;
	char *line;

	if (!l)
		return errno == ENOMEM                     ? -TALLY_ENOMEM
		       : errno == EACCES || errno == EPERM ? -TALLY_EPERM
							   : -TALLY_EEND;
	while ((line = k_lines_next(l))) {
		if (!k_task_of_maps(line, &t, &executable) || !executable)
			continue;
		t.pid = pid;
		t.time_ns = time_ns;
		sink(arg, &t);
	}
	lines_close(l);
	return 0;
}

int k_task_pids(uint32_t **ret, uint32_t *n)
{
	DIR *d = opendir("/proc");
	uint32_t *v = NULL, count = 0, cap = 0;
	struct dirent *de;

	if (!d)
		return -TALLY_EIO;
	while ((de = readdir(d))) {
		uint32_t *p;

		if (!isdigit((unsigned char)de->d_name[0]))
			continue;
		p = VEC_NEW(v, count, cap);
		if (!p) {
			closedir(d);
			mem_free(v);
			return -TALLY_ENOMEM;
		}
		*p = (uint32_t)strtoul(de->d_name, NULL, 10);
	}
	closedir(d);
	*ret = v;
	*n = count;
	return 0;
}

uint32_t k_pid_inside(uint32_t pid)
{
	char path[32];
	const char *line;
	struct k_lines *l;
	unsigned long inside = 0;

	snprintf(path, sizeof(path), "/proc/%u/status", pid);
	l = lines_open(path);
	while (l && (line = k_lines_next(l)))
		if (!strncmp(line, "NSpid:", 6)) {
			const char *last = strrchr(line, '\t');

			inside = last ? strtoul(last + 1, NULL, 10) : 0;
			break;
		}
	lines_close(l);
	return inside ? (uint32_t)inside : pid;
}

/* ---- the way to a file ------------------------------------------------------------ */

static const char gone_mark[] = " (deleted)";

static size_t len_without_mark(const char *path)
{
	size_t n = strlen(path), m = sizeof(gone_mark) - 1;

	return n > m && !strcmp(path + n - m, gone_mark) ? n - m : n;
}

/* A mapping keeps its file, whatever became of the name: /proc/PID/map_files leads to it. */
static bool through_mapping(uint32_t pid, const char *path, size_t len, char *ret, size_t n)
{
	struct k_lines *l = maps_open(pid);
	struct k_task t;
	bool found = false, executable;
	char *line;

	while (l && !found && (line = k_lines_next(l))) {
		if (!k_task_of_maps(line, &t, &executable) || !executable)
			continue;
		found = len_without_mark(t.path) == len && !strncmp(t.path, path, len);
	}
	lines_close(l);
	if (!found)
		return false;
	snprintf(ret, n, "/proc/%u/map_files/%llx-%llx", pid, (unsigned long long)t.addr,
		 (unsigned long long)(t.addr + t.len));
	return access(ret, F_OK) == 0;
}

void k_file_path(uint32_t pid, const char *path, char *ret, size_t n)
{
	size_t len = len_without_mark(path);

	if (pid && path[0] == '/') {
		if (!path[len]) {
			snprintf(ret, n, "/proc/%u/root%s", pid, path);
			if (access(ret, F_OK) == 0)
				return;
		}
		if (through_mapping(pid, path, len, ret, n))
			return;
	}
	snprintf(ret, n, "%.*s", (int)len, path);
}
