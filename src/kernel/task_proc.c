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
#include <linux/capability.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "kernel/kernel_int.h"
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

static struct k_lines *lines_open(int fd)
{
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
	struct k_task t = { .kind = K_TASK_MMAP, .looked = true };
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

static struct k_lines *task_maps_open(uint32_t pid)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/%u/maps", pid);
	return lines_open(rights_open(CAP_SYS_PTRACE, path, O_RDONLY));
}

static int task_tell_maps(uint32_t pid, bool data, k_task_sink *sink, void *arg)
{
	uint64_t time_ns = k_now_ns();
	struct k_lines *l = task_maps_open(pid);
	struct k_task t;
	bool executable;
	char *line;

	if (!l)
		return errno == ENOMEM ? -TALLY_ENOMEM : errno == EACCES || errno == EPERM ? -TALLY_EPERM : -TALLY_EEND;
	while ((line = k_lines_next(l))) {
		if (!k_task_of_maps(line, &t, &executable) || (!executable && !data))
			continue;
		t.kind = executable ? K_TASK_MMAP : K_TASK_DATA;
		t.pid = pid;
		t.time_ns = time_ns;
		sink(arg, &t);
	}
	lines_close(l);
	return 0;
}

int k_task_maps(uint32_t pid, k_task_sink *sink, void *arg)
{
	return task_tell_maps(pid, false, sink, arg);
}

int k_task_all_maps(uint32_t pid, k_task_sink *sink, void *arg)
{
	return task_tell_maps(pid, true, sink, arg);
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

/* What stands behind a field of /proc/PID/status, in to. */
static bool status_field(uint32_t pid, const char *field, char *to, size_t n)
{
	char path[32];
	const char *line = NULL;
	struct k_lines *l;

	snprintf(path, sizeof(path), "/proc/%u/status", pid);
	l = lines_open(open(path, O_RDONLY | O_CLOEXEC));
	while (l && (line = k_lines_next(l)) && strncmp(line, field, strlen(field)))
		;
	if (line)
		snprintf(to, n, "%s", line + strlen(field));
	lines_close(l);
	return line != NULL;
}

uint32_t k_pid_inside(uint32_t pid)
{
	char text[256];
	const char *last = status_field(pid, "NSpid:", text, sizeof(text)) ? strrchr(text, '\t') : NULL;
	unsigned long inside = last ? strtoul(last + 1, NULL, 10) : 0;

	return inside ? (uint32_t)inside : pid;
}

bool k_task_program(uint32_t pid, char *ret, size_t n)
{
	char path[32];
	ssize_t got;

	snprintf(path, sizeof(path), "/proc/%u/exe", pid);
	got = readlink(path, ret, n);
	if (got <= 0 || (size_t)got >= n)
		return false;
	ret[got] = '\0';
	return true;
}

uint64_t k_task_began(uint32_t pid)
{
	const uint64_t tick_ns = 1000000000 / (uint64_t)sysconf(_SC_CLK_TCK);
	unsigned long long ticks;
	const char *line, *behind;
	struct k_lines *l;
	char path[32];
	int64_t ns = 0;

	/* pid (name) state, and then numbers: a name with blanks or brackets is passed over from its end */
	snprintf(path, sizeof(path), "/proc/%u/stat", pid);
	l = lines_open(open(path, O_RDONLY | O_CLOEXEC));
	line = l ? k_lines_next(l) : NULL;
	behind = line ? strrchr(line, ')') : NULL;
	if (behind &&
	    sscanf(behind, ") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu",
		   &ticks) == 1) {
		ns = (int64_t)(ticks * tick_ns) - clock_ahead_ns(CLOCK_BOOTTIME);
		ns = ns > 0 ? ns : 1;
	}
	lines_close(l);
	return (uint64_t)ns;
}

bool k_task_user(uint32_t pid, uint32_t *uid)
{
	char text[128];
	unsigned long real, effective;

	if (!status_field(pid, "Uid:", text, sizeof(text)) || sscanf(text, "%lu %lu", &real, &effective) != 2)
		return false;
	*uid = (uint32_t)effective;
	return true;
}

/* ---- the way to a file ------------------------------------------------------------ */

static const char gone_mark[] = " (deleted)";

static size_t len_without_mark(const char *path)
{
	size_t n = strlen(path), m = sizeof(gone_mark) - 1;

	return n > m && !strcmp(path + n - m, gone_mark) ? n - m : n;
}

/*
 * The capability opens the door, the root directory of the process, and no more: what its path leads to, by symbolic
 * links of a stranger too, is opened with the user's own rights and never outside that root.
 */
/* To open a device, a FIFO or a file of /proc can do something, and a name is somebody else's: so a file is held by its
 * path alone (O_PATH), looked at, and opened if it is a regular one. path_fd is closed. -1 and errno. */
static int regular_reopen(int path_fd)
{
	struct stat st;
	char way[32];
	int fd = -1, no = errno;

	if (path_fd < 0)
		return -1;
	if (fstat(path_fd, &st) == 0 && S_ISREG(st.st_mode)) {
		snprintf(way, sizeof(way), "/proc/self/fd/%d", path_fd);
		fd = open(way, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
		no = errno;
	} else {
		no = EINVAL;
	}
	close(path_fd);
	errno = no;
	return fd;
}

static int task_root(uint32_t pid)
{
	char root[32];

	snprintf(root, sizeof(root), "/proc/%u/root", pid);
	return rights_open(CAP_SYS_PTRACE, root, O_PATH | O_DIRECTORY);
}

bool k_task_reachable(uint32_t pid)
{
	int dir = task_root(pid), no = errno;

	if (dir >= 0)
		close(dir);
	return dir >= 0 || (no != EACCES && no != EPERM);
}

/* What ptrace(2) allows (PTRACE_MODE_READ) is more than the user: a process with more capabilities than the caller, or
 * one that changed its user, is closed to its own user too. */
int k_task_refused(uint32_t pid, struct err *e)
{
	uint32_t uid;

	if (has_capability(CAP_SYS_PTRACE))
		return err_set(e, TALLY_EPERM,
			       "process %u may not be looked at although cap_sys_ptrace is granted: "
			       "a container or a security module forbids it",
			       pid);
	if (k_task_user(pid, &uid) && uid != geteuid())
		return err_set(e, TALLY_EPERM,
			       "process %u belongs to another user: its code is read and changed by root alone%s", pid,
			       geteuid() == 0 ? ", and this root has no cap_sys_ptrace" : " (sudo)");
	return err_set(
		e, TALLY_EPERM,
		"process %u has capabilities that tally has not, or changed its user: its code is read and changed with "
		"cap_sys_ptrace alone%s",
		pid, geteuid() == 0 ? ", which this root has not" : " (sudo)");
}

int k_task_file(uint32_t pid, const char *path, int flags)
{
	struct open_how how = {
		.flags = (uint64_t)flags | O_PATH | O_CLOEXEC,
		.resolve = RESOLVE_IN_ROOT,
	};
	int dir = task_root(pid), fd, no;

	if (dir < 0) {
		errno = errno == ENOENT ? ESRCH : errno;
		return -1;
	}
	fd = (int)syscall(SYS_openat2, dir, path, &how, sizeof(how));
	no = errno;
	close(dir);
	errno = no;
	return regular_reopen(fd);
}

/* A mapping keeps its file, whatever became of the name: /proc/PID/map_files leads to it. */
static int open_through_mapping(uint32_t pid, const char *path, size_t len)
{
	struct k_lines *l = task_maps_open(pid);
	struct k_task t;
	bool found = false, executable;
	char *line, way[80];

	while (l && !found && (line = k_lines_next(l))) {
		if (!k_task_of_maps(line, &t, &executable) || !executable)
			continue;
		found = len_without_mark(t.path) == len && !strncmp(t.path, path, len);
	}
	lines_close(l);
	if (!found)
		return -1;
	snprintf(way, sizeof(way), "/proc/%u/map_files/%llx-%llx", pid, (unsigned long long)t.addr,
		 (unsigned long long)(t.addr + t.len));
	return regular_reopen(rights_open(CAP_SYS_PTRACE, way, O_PATH));
}

/* Where a descriptor of a process stands in its file; -1: it can't write there, or only appends. */
static int64_t descriptor_position(uint32_t pid, const char *descriptor)
{
	char path[64];
	const char *line;
	unsigned long flags = O_RDONLY;
	long long position = -1;
	struct k_lines *l;

	snprintf(path, sizeof(path), "/proc/%u/fdinfo/%.10s", pid, descriptor);
	l = lines_open(rights_open(CAP_SYS_PTRACE, path, O_RDONLY));
	while (l && (line = k_lines_next(l))) {
		(void)sscanf(line, "pos: %lld", &position);
		(void)sscanf(line, "flags: %lo", &flags);
	}
	lines_close(l);
	return (flags & O_ACCMODE) == O_RDONLY || flags & O_APPEND ? -1 : position;
}

bool k_task_filled(uint32_t pid, int fd)
{
	struct stat want, is;
	char path[64];
	const struct dirent *de;
	bool found = false;
	DIR *d = NULL;
	int dir;

	snprintf(path, sizeof(path), "/proc/%u/fd", pid);
	dir = fstat(fd, &want) < 0 ? -1 : rights_open(CAP_SYS_PTRACE, path, O_RDONLY | O_DIRECTORY);
	if (dir >= 0 && !(d = fdopendir(dir)))
		close(dir);
	while (d && !found && (de = readdir(d))) {
		int other;

		snprintf(path, sizeof(path), "/proc/%u/fd/%.10s", pid, de->d_name);
		other = isdigit((unsigned char)de->d_name[0]) ? rights_open(CAP_SYS_PTRACE, path, O_PATH) : -1;
		if (other < 0)
			continue;
		found = fstat(other, &is) == 0 && is.st_ino == want.st_ino && is.st_dev == want.st_dev &&
			descriptor_position(pid, de->d_name) >= (int64_t)want.st_size;
		close(other);
	}
	if (d)
		closedir(d);
	return found;
}

int k_mapped_file(uint32_t pid, const char *path)
{
	size_t len = len_without_mark(path);
	char here[4096];
	int fd = -1, no = ENOENT;

	if (pid) {
		if (path[0] == '/' && !path[len] && (fd = k_task_file(pid, path, 0)) < 0)
			no = errno;
		if (fd < 0 && no != ESRCH && path[0] == '/')
			fd = open_through_mapping(pid, path, len);
		errno = fd < 0 ? no : 0;
		return fd;
	}
	if (len >= sizeof(here)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	snprintf(here, sizeof(here), "%.*s", (int)len, path);
	return regular_reopen(open(here, O_PATH | O_CLOEXEC));
}

/* The time of a file as k_now_ns() would have it. */
static uint64_t file_time_ns(const struct statx_timestamp *t, int64_t offset_ns)
{
	const int64_t ns = t->tv_sec * 1000000000 + t->tv_nsec - offset_ns;

	return ns > 0 ? (uint64_t)ns : 0;
}

bool k_file_look(int fd, struct k_file_state *ret)
{
	struct timespec tick;
	struct statx st;
	int64_t offset_ns;

	ret->at_ns = k_now_ns();
	if (clock_getres(CLOCK_REALTIME_COARSE, &tick) < 0 ||
	    statx(fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS | STATX_BTIME, &st) < 0)
		return false;
	offset_ns = k_wall_offset_ns();
	ret->size = (int64_t)st.stx_size;
	ret->mtime_ns = st.stx_mtime.tv_sec * 1000000000 + st.stx_mtime.tv_nsec;
	ret->ctime_ns = st.stx_ctime.tv_sec * 1000000000 + st.stx_ctime.tv_nsec;
	ret->links = st.stx_nlink;
	ret->written_ns = file_time_ns(&st.stx_ctime, offset_ns);
	if (!st.stx_nlink && file_time_ns(&st.stx_mtime, offset_ns) < ret->written_ns)
		ret->written_ns = file_time_ns(&st.stx_mtime, offset_ns);
	ret->tick_ns = (uint64_t)tick.tv_nsec;
	ret->born_ns = st.stx_mask & STATX_BTIME ? file_time_ns(&st.stx_btime, offset_ns) : 0;
	return true;
}
