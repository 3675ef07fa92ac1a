/*
 * facts.c: small facts about clocks, namespaces and other processes.
 */
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "kernel/kernel_int.h"

/* Inode of the first pid namespace (PROC_PID_INIT_INO of linux/proc_ns.h). */
#define FIRST_PIDNS 0xeffffffcu

static int64_t clock_ns(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

uint64_t k_now_ns(void)
{
	return (uint64_t)clock_ns(CLOCK_MONOTONIC);
}

/* The monotonic clock is read on both sides, so that a pause between the calls counts half. */
int64_t clock_ahead_ns(int clock)
{
	int64_t ahead = 0, least = INT64_MAX;

	/* Who is not interrupted between the three readings knows best. */
	for (int i = 0; i < 8 && least > 5000; i++) {
		int64_t before = clock_ns(CLOCK_MONOTONIC), there = clock_ns(clock),
			took = clock_ns(CLOCK_MONOTONIC) - before;

		if (took >= least)
			continue;
		least = took;
		ahead = there - before - took / 2;
	}
	return ahead;
}

int64_t k_wall_offset_ns(void)
{
	return clock_ahead_ns(CLOCK_REALTIME);
}

uint32_t k_stack_frames(void)
{
	char text[32];
	long n = file_small("/proc/sys/kernel/perf_event_max_stack", text, sizeof(text)) > 0 ? atol(text) : 0;

	return n > 0 && n < UINT16_MAX ? (uint32_t)n : PERF_MAX_STACK_DEPTH;
}

bool k_in_pidns(uint64_t *dev, uint64_t *ino)
{
	struct stat st;

	if (stat("/proc/self/ns/pid", &st) < 0)
		return false;
	*dev = st.st_dev;
	*ino = st.st_ino;
	return st.st_ino != FIRST_PIDNS;
}

const char *k_library_dir(char *ret, size_t n)
{
	ssize_t got = readlink("/proc/self/exe", ret, n - 1);
	char *slash;

	if (got <= 0)
		return NULL;
	ret[got] = '\0';
	slash = strrchr(ret, '/');
	if (!slash ||
	    (size_t)snprintf(slash, n - (size_t)(slash - ret), "/../lib/tally/d") >= n - (size_t)(slash - ret))
		return NULL;
	return ret;
}

/* ---- modules ----------------------------------------------------------------------------- */

/* Files have '-' where the kernel has '_'. */
static bool module_same(const char *a, size_t n, const char *b)
{
	for (size_t i = 0; i < n; i++)
		if ((a[i] == '-' ? '_' : a[i]) != (b[i] == '-' ? '_' : b[i]))
			return false;
	return !b[n];
}

/* sysfs shows a module that is built in only if it has parameters; its package lists all, "kernel/fs/ext4/ext4.ko" a
 * line. */
static bool module_is_builtin(const char *name)
{
	char path[sizeof(((struct utsname *)0)->release) + 64], line[512];
	struct utsname u;
	bool found = false;
	FILE *f;

	if (uname(&u) < 0)
		return false;
	snprintf(path, sizeof(path), "/lib/modules/%s/modules.builtin", u.release);
	f = fopen(path, "re");
	while (f && !found && fgets(line, sizeof(line), f)) {
		const char *slash = strrchr(line, '/'), *base = slash ? slash + 1 : line, *end = strstr(base, ".ko");

		found = end && module_same(base, (size_t)(end - base), name);
	}
	if (f)
		fclose(f);
	return found;
}

bool k_module_is_there(const char *name)
{
	static const char *const dirs[] = { "/sys/module", "/sys/kernel/btf" };
	char path[128], loaded[64];

	if (!strcmp(name, "vmlinux"))
		return true;
	if (!*name || *name == '.' || strchr(name, '/') ||
	    (size_t)snprintf(loaded, sizeof(loaded), "%s", name) >= sizeof(loaded))
		return false;
	for (char *c = loaded; (c = strchr(c, '-')); *c = '_')
		;
	for (size_t i = 0; i < COUNT(dirs); i++) {
		snprintf(path, sizeof(path), "%s/%s", dirs[i], loaded);
		if (access(path, F_OK) == 0)
			return true;
	}
	return module_is_builtin(name);
}

/* ---- another process's command ------------------------------------------------------- */

/* A process names itself as it likes; a terminal must not obey it. */
static void make_harmless(char *text, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if ((unsigned char)text[i] < ' ' || text[i] == 0x7f)
			text[i] = '?';
}

static const char marks_cut[] = " ...";

/* The words of a command line, of n bytes with a zero behind each; the program without its directories. False: none. */
static bool join_words(const char *line, size_t n, char *ret, size_t cap)
{
	size_t room = cap - sizeof(marks_cut), at = 0;
	const char *slash = memrchr(line, '/', strnlen(line, n));
	const char *p = slash ? slash + 1 : line, *end = line + n;

	while (end > p && !end[-1])
		end--;
	for (; p < end && at < room; p++)
		ret[at++] = *p ? *p : ' ';
	make_harmless(ret, at);
	ret[at] = '\0';
	if (p < end)
		strcpy(ret + at, marks_cut);
	return at > 0;
}

void k_process_command(int pid, char *ret, size_t n)
{
	char path[32], line[4096];
	int got;

	snprintf(path, sizeof(path), "/proc/%d/cmdline", pid);
	got = file_small(path, line, sizeof(line));
	if (got > 0 && join_words(line, (size_t)got, ret, n))
		return;
	snprintf(path, sizeof(path), "/proc/%d/comm", pid);
	got = file_small(path, line, sizeof(line));
	snprintf(ret, n, "%s", got > 0 ? line : "?");
	make_harmless(ret, strlen(ret));
}
