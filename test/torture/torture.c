/* torture.c: rounds, random numbers, counts and child processes of the campaigns: see torture.h. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "torture.h"

#define SANITIZERS "exitcode=99:abort_on_error=0:detect_leaks=1:print_stacktrace=1:hard_rss_limit_mb=4096"

uint64_t torture_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

void torture_wait_us(uint64_t us)
{
	const struct timespec t = { (time_t)(us / 1000000), (long)(us % 1000000 * 1000) };

	nanosleep(&t, NULL);
}

_Noreturn void torture_skip(const char *words)
{
	printf("skip %s\n", words);
	exit(77);
}

_Noreturn void torture_broken(const char *words)
{
	printf("fell 0 the campaign can't go on: %s\n", words);
	exit(1);
}

static const char *torture_env(const char *name)
{
	const char *value = getenv(name);

	if (!value)
		torture_broken("TALLY and TALLY_ASAN have to be set: use test/torture/run.sh");
	return value;
}

void torture_open(struct torture *t, int argc, char **argv)
{
	if (argc != 5)
		torture_broken("usage: CAMPAIGN SECONDS SEED ROUND DIR");
	*t = (struct torture){ .dir = argv[4], .tally = torture_env("TALLY"), .tally_asan = torture_env("TALLY_ASAN") };
	t->end_ns = torture_now_ns() + (uint64_t)(strtod(argv[1], NULL) * 1e9);
	t->seed = strtoull(argv[2], NULL, 0);
	t->only = strtoull(argv[3], NULL, 0);
	setenv("ASAN_OPTIONS", SANITIZERS, 1);
	setenv("UBSAN_OPTIONS", SANITIZERS, 1);
	signal(SIGPIPE, SIG_IGN);
	/* What a killed process leaves behind is this one's child then, and is seen. */
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	setvbuf(stdout, NULL, _IOLBF, 0);
}

/* Which round it was when the campaign itself dies of a finding. */
static void torture_note_round(struct torture *t)
{
	FILE *f = fopen(torture_path(t, "round"), "we");

	if (f)
		fprintf(f, "%llu\n", (unsigned long long)t->round);
	if (f)
		fclose(f);
}

bool torture_round(struct torture *t)
{
	if (t->only ? t->round == t->only : torture_now_ns() >= t->end_ns)
		return false;
	t->round = t->only ? t->only : t->round + 1;
	torture_note_round(t);
	t->random = t->seed * UINT64_C(0x9e3779b97f4a7c15) ^ t->round * UINT64_C(0xd1342543de82ef95);
	return true;
}

void torture_count(struct torture *t, const char *words, uint64_t n)
{
	for (size_t i = 0; i < COUNT(t->count); i++)
		if (!t->count[i].words || !strcmp(t->count[i].words, words)) {
			t->count[i].words = words;
			t->count[i].n += n;
			return;
		}
}

void torture_fell(struct torture *t, const char *fmt, ...)
{
	va_list ap;

	t->fell++;
	printf("fell %llu ", (unsigned long long)t->round);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	printf("\n");
}

int torture_close(struct torture *t)
{
	for (size_t i = 0; i < COUNT(t->count) && t->count[i].words; i++)
		printf("count %llu %s\n", (unsigned long long)t->count[i].n, t->count[i].words);
	return t->fell ? 1 : 0;
}

/* ---- random numbers --------------------------------------------------------------------------- */

/* splitmix64 */
uint64_t torture_random(struct torture *t)
{
	uint64_t z = t->random += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

uint64_t torture_below(struct torture *t, uint64_t n)
{
	return torture_random(t) % n;
}

uint64_t torture_odd(struct torture *t)
{
	const uint64_t bit = UINT64_C(1) << torture_below(t, 64);

	switch (torture_below(t, 6)) {
	case 0:
		return bit;
	case 1:
		return bit - 1;
	case 2:
		return 0 - bit;
	case 3:
		return torture_below(t, 20);
	case 4:
		return torture_random(t) >> torture_below(t, 64);
	default:
		return torture_below(t, 2) ? UINT64_MAX : 0;
	}
}

void torture_fill(struct torture *t, void *p, size_t n)
{
	uint8_t *b = p;

	for (size_t i = 0; i < n; i++)
		b[i] = (uint8_t)torture_random(t);
}

/* ---- files -------------------------------------------------------------------------------------- */

char *torture_path(struct torture *t, const char *name)
{
	static char path[4][4096];
	static unsigned turn;
	char *p = path[turn++ % 4];

	snprintf(p, sizeof(path[0]), "%s/%s", t->dir, name);
	return p;
}

char *torture_slurp(const char *path, size_t *n)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	char *p = NULL;
	ssize_t got;

	*n = 0;
	if (fd >= 0 && fstat(fd, &st) == 0) {
		const size_t room = st.st_size > 0 ? (size_t)st.st_size : 4096; /* what is in /proc has no size */

		p = calloc(1, room + 1);
		while (p && (got = read(fd, p + *n, room - *n)) > 0)
			*n += (size_t)got;
	}
	if (fd >= 0)
		close(fd);
	return p;
}

const char *torture_first_line(const char *path)
{
	static char line[300];
	size_t n;
	char *p = torture_slurp(path, &n);

	snprintf(line, sizeof(line), "%.*s", p ? (int)strcspn(p, "\n") : 0, p ? p : "");
	free(p);
	return line;
}

bool torture_file_has(const char *path, const char *text)
{
	size_t n;
	char *p = torture_slurp(path, &n);
	const bool has = p && memmem(p, n, text, strlen(text));

	free(p);
	return has;
}

const char *torture_words(const char *const *argv)
{
	static char line[2000];
	size_t n = 0;

	for (line[0] = '\0'; *argv && n < sizeof(line); argv++) {
		const bool plain = !strpbrk(*argv, " '*?$\"{}[]()<>&|;\\\n") && **argv;

		n += (size_t)snprintf(line + n, sizeof(line) - n, plain ? "%s%s" : "%s'%s'", n ? " " : "", *argv);
	}
	return line;
}

/* ---- other processes ---------------------------------------------------------------------------- */

static void torture_redirect(int to, const char *path, int flags)
{
	int fd = open(path ? path : "/dev/null", flags, 0600);

	if (fd < 0 || dup2(fd, to) < 0)
		_exit(125);
	if (fd != to)
		close(fd);
}

pid_t torture_start(struct torture *t, const struct torture_run *r, const char *const *argv)
{
	static const struct torture_run none;
	const char *err = r && r->err ? r->err : torture_path(t, "stderr");
	const pid_t parent = getpid(), pid = fork();

	if (pid < 0)
		torture_broken("fork failed");
	if (pid > 0)
		return pid;
	r = r ? r : &none;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(125);
	torture_redirect(0, r->in, O_RDONLY);
	torture_redirect(1, r->out, O_WRONLY | O_CREAT | O_TRUNC);
	torture_redirect(2, err, O_WRONLY | O_CREAT | O_TRUNC);
	signal(SIGPIPE, SIG_DFL);
	if (r->preload)
		setenv("LD_PRELOAD", r->preload, 1);
	execvp(argv[0], (char *const *)(uintptr_t)argv);
	_exit(127);
}

int torture_wait(pid_t pid, unsigned limit_ms, long *rss_kb)
{
	const int fd = (int)syscall(SYS_pidfd_open, pid, 0);
	struct pollfd p = { fd, POLLIN, 0 };
	struct rusage u;
	bool hangs;
	int status;

	hangs = fd >= 0 && poll(&p, 1, (int)limit_ms) == 0;
	if (hangs)
		kill(pid, SIGKILL);
	if (fd >= 0)
		close(fd);
	while (wait4(pid, &status, 0, &u) < 0)
		if (errno != EINTR)
			torture_broken("a child is nobody's");
	if (rss_kb)
		*rss_kb = u.ru_maxrss;
	return hangs ? TORTURE_HANGS : WIFSIGNALED(status) ? TORTURE_DIES + WTERMSIG(status) : WEXITSTATUS(status);
}

int torture_run(struct torture *t, struct torture_run *r, const char *const *argv)
{
	struct torture_run none = { 0 };

	r = r ? r : &none;
	return torture_wait(torture_start(t, r, argv), r->limit_ms ? r->limit_ms : 30000, &r->rss_kb);
}

bool torture_alive(pid_t pid)
{
	siginfo_t i = { 0 };

	return waitid(P_PID, (id_t)pid, &i, WEXITED | WNOHANG | WNOWAIT) == 0 && i.si_pid == 0;
}

void torture_kill(pid_t pid)
{
	kill(pid, SIGKILL);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

/* The first child that is not among keep[], in this process's list; 0: none. Those that have ended are reaped. */
static pid_t torture_orphan_next(const pid_t *keep, size_t n)
{
	char path[64];
	pid_t found = 0;
	FILE *f;
	int pid;

	snprintf(path, sizeof(path), "/proc/self/task/%d/children", (int)getpid());
	if (!(f = fopen(path, "re")))
		torture_broken("/proc has no list of children");
	while (!found && fscanf(f, "%d", &pid) == 1) {
		found = pid;
		for (size_t i = 0; i < n && found; i++)
			if (keep[i] == pid)
				found = 0;
		if (found && waitpid(pid, NULL, WNOHANG) != 0)
			found = 0;
	}
	fclose(f);
	return found;
}

bool torture_orphans_end(const pid_t *keep, size_t n, unsigned limit_ms, char name[32])
{
	const uint64_t end = torture_now_ns() + limit_ms * UINT64_C(1000000);
	bool good = true;
	pid_t pid;

	while ((pid = torture_orphan_next(keep, n))) {
		if (torture_now_ns() < end) {
			torture_wait_us(2000);
			continue;
		}
		if (good) {
			char path[64];

			snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
			snprintf(name, 32, "%s", torture_first_line(path));
		}
		good = false;
		torture_kill(pid);
	}
	return good;
}

int torture_connect(const char *path)
{
	const struct timeval patience = { 10, 0 };
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(at.sun_path, sizeof(at.sun_path), "%s", path);
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	if (connect(fd, (struct sockaddr *)&at, sizeof(at)) == 0)
		return fd;
	close(fd);
	return -1;
}

pid_t torture_serve(struct torture *t, const char *program, const char *machine, const char *server, const char *path)
{
	const char *argv[] = { program, "machine", machine, server, path, NULL };
	char log[4096];
	const struct torture_run r = { .out = NULL, .err = log };
	pid_t pid;
	int fd = -1;

	snprintf(log, sizeof(log), "%s.log", path);
	pid = torture_start(t, &r, argv);
	for (int i = 0; i < 1000 && fd < 0 && torture_alive(pid); i++) {
		torture_wait_us(10000);
		fd = torture_connect(path);
	}
	if (fd < 0)
		torture_broken(torture_first_line(log));
	close(fd);
	return pid;
}

int torture_descriptors(pid_t pid)
{
	char path[64];
	int n = 0;
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	if (!(d = opendir(path)))
		return -1;
	for (struct dirent *e; (e = readdir(d));)
		n += e->d_name[0] != '.';
	closedir(d);
	return n;
}

bool torture_descriptors_settle(pid_t pid, int most)
{
	for (int i = 0; i < 500; i++) {
		if (torture_descriptors(pid) <= most)
			return true;
		torture_wait_us(10000);
	}
	return false;
}

long torture_resident_kb(pid_t pid)
{
	char path[64], line[256];
	long kb = -1;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	if (!(f = fopen(path, "re")))
		return -1;
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "VmRSS: %ld", &kb) == 1)
			break;
	fclose(f);
	return kb;
}
