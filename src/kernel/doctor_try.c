/*
 * doctor_try.c: trying for real: things are opened, run and made for a moment.
 *
 * Events are opened on one CPU, the one that runs this.  Pinned ones take no counter that
 * another pinned event holds, so sessions that count lose nothing; the kernel gives it back to
 * shared events within microseconds.  Waiting for an overflow is a spin of at most some
 * milliseconds: a clock of 50 us needs one of them.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bpf/libbpf.h>

#include "bpf/insn.h"
#include "kernel/doctor_int.h"
#include "kernel/kernel_int.h"
#include "kernel/libbpf_int.h"

#define SPIN_NS 20000000 /* how long an overflow is waited for */
#define PINNED_MOST 64
#define LINE_MS 400 /* how long a program may take for its first line */

/* ---- perf events ------------------------------------------------------------------------- */

static int event_of(const struct k_event *ev, bool own, bool pinned)
{
	struct perf_event_attr a;
	int cpu = sched_getcpu();

	event_base(&a, ev);
	a.sample_period = ev->period;
	a.sample_type = PERF_SAMPLE_IP;
	a.wakeup_events = 1;
	a.pinned = pinned;
	a.precise_ip = ev->precise_ip;
	return event_syscall(&a, ev->config3, own ? 0 : -1, own ? -1 : cpu < 0 ? 0 : cpu);
}

static int try_open(void *arg, const struct k_event *ev, bool own)
{
	int fd = event_of(ev, own, false);

	(void)arg;
	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

static bool spin_until(const volatile uint64_t *word)
{
	int64_t end = (int64_t)k_now_ns() + SPIN_NS;

	while (!__atomic_load_n(word, __ATOMIC_ACQUIRE) && (int64_t)k_now_ns() < end)
		;
	return __atomic_load_n(word, __ATOMIC_ACQUIRE) != 0;
}

static int try_overflow(void *arg, const struct k_event *ev, bool own)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	int fd = event_of(ev, own, false), rc;
	struct perf_event_mmap_page *ring;

	(void)arg;
	if (fd < 0)
		return fd;
	ring = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	rc = ring == MAP_FAILED ? -errno : 0;
	if (rc == 0) {
		rc = spin_until((const volatile uint64_t *)&ring->data_head);
		munmap(ring, 2 * page);
	}
	close(fd);
	return rc;
}

/* A pinned event that has no counter reads as the end of a file. */
static int try_pinned(void *arg, const struct k_event *ev, bool own)
{
	int fd[PINNED_MOST], n = 0, rc = 0;
	uint64_t value;

	(void)arg;
	while (n < PINNED_MOST && rc >= 0) {
		fd[n] = event_of(ev, own, true);
		if (fd[n] < 0)
			rc = fd[n];
		else if (read(fd[n++], &value, sizeof(value)) != sizeof(value))
			rc = -EBUSY;
	}
	for (int i = 0; i < n; i++)
		close(fd[i]);
	if (rc == -EBUSY)
		n -= n > 0; /* the last one got none */
	return n ? n : rc == -EBUSY ? 0 : rc;
}

/* ---- BPF ------------------------------------------------------------------------------------ */

static int map_of(enum bpf_map_type type, uint32_t key, uint32_t value, uint32_t n, uint32_t flags)
{
	LIBBPF_OPTS(bpf_map_create_opts, o, .map_flags = flags);
	int fd = bpf_map_create(type, NULL, key, value, n, &o);

	return fd < 0 ? -errno : fd;
}

static int try_map(void *arg, bool ring, uint32_t bytes)
{
	int page = (int)sysconf(_SC_PAGESIZE), fd;

	(void)arg;
	if (ring)
		fd = map_of(BPF_MAP_TYPE_RINGBUF, 0, 0, bytes < (uint32_t)page ? (uint32_t)page : bytes, 0);
	else
		fd = map_of(BPF_MAP_TYPE_ARRAY, 4, 64, bytes / 64, 0);
	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

/* A program that writes 1 into the only value of a map. */
static int prog_of(int map)
{
	struct bpf_ins ins[] = {
		I_LD_MAP_VALUE(R1, map), I_LD64_HI(0), I_STORE_IMM(DW, R1, 0, 1), I_MOV_IMM(R0, 0), I_EXIT(),
	};
	int fd = bpf_prog_load(BPF_PROG_TYPE_PERF_EVENT, NULL, "Dual MIT/GPL",
			       (const struct bpf_insn *)(const void *)ins, COUNT(ins), NULL);

	return fd < 0 ? -errno : fd;
}

static int try_bpf(void *arg, const struct k_event *ev)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	int map, prog, event, rc;
	void *word = MAP_FAILED;

	(void)arg;
	libbpf_set_print(NULL);
	map = map_of(BPF_MAP_TYPE_ARRAY, 4, 8, 1, BPF_F_MMAPABLE);
	prog = map < 0 ? map : prog_of(map);
	event = prog < 0 ? prog : event_of(ev, false, false);
	rc = event;
	if (rc >= 0 && (word = mmap(NULL, page, PROT_READ, MAP_SHARED, map, 0)) == MAP_FAILED)
		rc = -errno;
	if (rc >= 0)
		rc = ioctl(event, PERF_EVENT_IOC_SET_BPF, prog) < 0 ? -errno : spin_until(word);
	if (event >= 0)
		close(event);
	if (prog >= 0)
		close(prog);
	if (map >= 0)
		close(map);
	if (word != MAP_FAILED)
		munmap(word, page);
	return rc;
}

const char *k_libbpf_version(void)
{
	return libbpf_version_string() + (*libbpf_version_string() == 'v');
}

/* ---- rights, programs ------------------------------------------------------------------------ */

static bool try_may(void *arg, unsigned capability)
{
	(void)arg;
	return has_capability(capability);
}

static _Noreturn void try_become_command(const char *const *argv, int out)
{
	int null = open("/dev/null", O_RDWR);

	if (geteuid() != 0)
		rights_drop();
	if (null >= 0 && dup2(null, 0) >= 0 && dup2(out, 1) >= 0 && dup2(null, 2) >= 0)
		execvp(argv[0], (char *const *)(const void *)argv);
	_exit(127);
}

/* Bytes up to the first newline, the end, or the end of patience. */
static int line_from(int fd, char *to, size_t n)
{
	int64_t end = (int64_t)k_now_ns() + LINE_MS * 1000000LL;
	struct pollfd p = { .fd = fd, .events = POLLIN };
	size_t at = 0;
	ssize_t got = 1;

	to[0] = '\0';
	while (got > 0 && at < n - 1 && !strchr(to, '\n')) {
		int64_t left = (end - (int64_t)k_now_ns()) / 1000000;

		if (left <= 0 || poll(&p, 1, (int)left) <= 0)
			break;
		got = read(fd, to + at, n - 1 - at);
		at += got > 0 ? (size_t)got : 0;
		to[at] = '\0';
	}
	to[strcspn(to, "\n")] = '\0';
	return (int)strlen(to);
}

static int try_first_line(void *arg, const char *const *argv, char *to, size_t n)
{
	int fd[2], rc;
	pid_t pid;

	(void)arg;
	if (pipe2(fd, O_CLOEXEC) < 0)
		return -errno;
	pid = fork();
	if (pid == 0)
		try_become_command(argv, fd[1]);
	close(fd[1]);
	rc = pid < 0 ? -EAGAIN : line_from(fd[0], to, n);
	close(fd[0]);
	if (pid > 0) {
		kill(pid, SIGKILL);
		while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
	return rc == 0 ? -ENOENT : rc;
}

const struct k_tries k_system_calls = {
	.open = try_open,
	.overflow = try_overflow,
	.pinned = try_pinned,
	.bpf = try_bpf,
	.map = try_map,
	.may = try_may,
	.first_line = try_first_line,
};
