/*
 * program.c: programs that begin are seen before they run.
 *
 * Whoever probes the programs of processes that begin later has to see a file before anybody runs it.  fanotify(7) asks
 * its listener before a file is opened to be executed (FAN_OPEN_EXEC_PERM): the exec(2) waits for the answer, and
 * nobody sees a signal or a stop. Each file is asked for once: an answered one is left out (FAN_MARK_IGNORED_MASK)
 * until it is written to.
 *
 * A listener that does not answer holds all that is executed on the machine.  So it is a process of its own, which
 * waits for nothing but that: it lets a program go on that nobody wants, tells us of the others, and waits LIMIT_MS at
 * most for our answer.  We may be stopped, or wait for a terminal; then a program begins without its probes.  When we
 * end, by whatever, the pipe ends, and so does the listener; when the listener ends, the kernel lets go on whoever
 * waits.
 *
 * A file system that is mounted later is watched as soon as the kernel has told of it; a program that begins before
 * then begins without its probes.  The path of a mount may lead over a server that does not answer, and the listener
 * must not wait for it: so a second process follows the mounts.  It ends with the listener, since the kernel holds
 * whoever waits as long as anybody has the listener's file.  What is mounted in another mount namespace alone is not
 * watched.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/fanotify.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "kernel/kernel_int.h"

#define LIMIT_MS 1000
#define MOUNTS "/proc/self/mountinfo"

struct run_programs {
	int listen, tell[2]; /* fanotify; from the listener to us */
	bool (*wanted)(void *arg, int fd);
	void *arg;
	struct k_guard listener;
	uint32_t number; /* the listener's: of its last question */
};
/* To us, and back with the same number. */
struct program_message {
	uint32_t number;
	int32_t fd; /* the listener's */
};

/* ---- the listener ---------------------------------------------------------------------- */

enum program_fate { LOOKED_AT, NOT_ANSWERED, NOBODY_THERE };

/* Waits until we have looked at it. */
static enum program_fate program_ask(struct run_programs *p, int from, int32_t fd)
{
	const struct program_message m = { ++p->number, fd };
	const uint64_t until = k_now_ns() + LIMIT_MS * UINT64_C(1000000);
	struct pollfd in = { .fd = from, .events = POLLIN };
	uint32_t answer = 0;

	if (write(p->tell[1], &m, sizeof(m)) != sizeof(m))
		return NOT_ANSWERED;
	while (answer != m.number) {
		const uint64_t now = k_now_ns();

		if (now >= until || poll(&in, 1, (int)((until - now) / 1000000) + 1) == 0)
			return NOT_ANSWERED;
		if (in.revents && read(from, &answer, sizeof(answer)) != sizeof(answer))
			return NOBODY_THERE;
	}
	return LOOKED_AT;
}

static bool program_answer(struct run_programs *p, int from, const struct fanotify_event_metadata *ev)
{
	const struct fanotify_response go_on = { .fd = ev->fd, .response = FAN_ALLOW };
	const enum program_fate fate = p->wanted(p->arg, ev->fd) ? program_ask(p, from, ev->fd) : LOOKED_AT;

	if (fate == LOOKED_AT)
		(void)fanotify_mark(p->listen, FAN_MARK_ADD | FAN_MARK_IGNORED_MASK, FAN_OPEN_EXEC_PERM, ev->fd, NULL);
	return write(p->listen, &go_on, sizeof(go_on)) == sizeof(go_on) && fate != NOBODY_THERE;
}

/* "\\040" of mountinfo is a blank, and so on. */
static void mount_path_decode(char *path)
{
	char *to = path;

	for (const char *p = path; *p; to++) {
		unsigned byte;

		if (*p == '\\' && sscanf(p, "\\%3o", &byte) == 1 && strlen(p) >= 4) {
			*to = (char)byte;
			p += 4;
		} else {
			*to = *p++;
		}
	}
	*to = '\0';
}

/* Marks what is mounted; how many file systems that were. */
static uint32_t programs_mark(int listen)
{
	FILE *f = fopen(MOUNTS, "re");
	char line[4096 + 512], path[4096];
	uint32_t n = 0;

	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%*s %*s %*s %*s %4095s", path) != 1)
			continue;
		mount_path_decode(path);
		n += fanotify_mark(listen, FAN_MARK_ADD | FAN_MARK_FILESYSTEM, FAN_OPEN_EXEC_PERM, AT_FDCWD, path) == 0;
	}
	if (f)
		fclose(f);
	return n;
}

/* A file of mountinfo is told of each change by POLLPRI (proc_pid_mountinfo(5)). */
static void mounts_follow(int listen, int listener)
{
	struct pollfd mounts = { .fd = open(MOUNTS, O_RDONLY | O_CLOEXEC), .events = POLLPRI };

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != listener)
		_exit(0);
	do
		(void)programs_mark(listen);
	while (poll(&mounts, 1, -1) > 0 || errno == EINTR);
	_exit(0);
}

static void programs_listen(void *arg, int from)
{
	struct run_programs *p = arg;
	struct pollfd in[2] = { { .fd = p->listen, .events = POLLIN }, { .fd = from, .events = POLLIN } };
	struct fanotify_event_metadata ev[64];
	const int self = getpid();
	bool go_on = true;

	if (fork() == 0) {
		close(from);
		close(p->tell[1]);
		mounts_follow(p->listen, self);
	}
	while (go_on) {
		ssize_t n = 0;
		uint32_t late;

		if (poll(in, 2, -1) < 0 && errno != EINTR)
			break;
		if (in[1].revents && read(from, &late, sizeof(late)) != sizeof(late))
			break;
		if (in[0].revents)
			n = read(p->listen, ev, sizeof(ev));
		for (const struct fanotify_event_metadata *e = ev; FAN_EVENT_OK(e, n); e = FAN_EVENT_NEXT(e, n)) {
			if (e->fd < 0)
				continue;
			go_on = program_answer(p, from, e) && go_on;
			close(e->fd);
		}
	}
}

/* ---- ours ------------------------------------------------------------------------------- */

int k_programs_watch(struct k_run *k, bool (*wanted)(void *arg, int fd), void *arg, struct err *e)
{
	struct run_programs *p = k->programs = mem_alloc(sizeof(*p));

	if (!p)
		return err_oom(e);
	*p = (struct run_programs){ .listen = -1, .tell = { -1, -1 }, .wanted = wanted, .arg = arg };
	p->listen = fanotify_init(FAN_CLASS_CONTENT | FAN_CLOEXEC | FAN_NONBLOCK, O_RDONLY | O_CLOEXEC | O_LARGEFILE);
	if (p->listen < 0)
		return err_set(e, errno == EPERM ? TALLY_EPERM : TALLY_ENOTSUP, "%s",
			       errno == EPERM ? "fanotify(7) is for root alone" :
						"the kernel has no fanotify(7) with permission events "
						"(CONFIG_FANOTIFY_ACCESS_PERMISSIONS)");
	if (!programs_mark(p->listen))
		return err_set(e, TALLY_ENOTSUP, "the kernel does not tell which programs begin (fanotify(7): %s)",
			       strerror(errno));
	if (pipe2(p->tell, O_CLOEXEC | O_NONBLOCK) < 0 || run_watch(k, p->tell[0]) < 0)
		return err_set(e, TALLY_EIO, "cannot create a pipe: %s", strerror(errno));
	return 0;
}

int programs_enable(struct k_run *k, struct err *e)
{
	struct run_programs *p = k->programs;
	int rc = p && p->tell[0] >= 0 ? guard_start_work(&p->listener, programs_listen, p, e) : 0;

	if (p && p->listen >= 0) { /* the listener has it: when that ends, nobody has */
		close(p->listen);
		p->listen = -1;
	}
	return rc;
}

void programs_disable(struct k_run *k)
{
	if (k->programs)
		k_guard_end(&k->programs->listener);
}

void programs_close(struct k_run *k)
{
	struct run_programs *p = k->programs;

	if (!p)
		return;
	programs_disable(k);
	if (p->listen >= 0)
		close(p->listen);
	for (int i = 0; i < 2; i++)
		if (p->tell[i] >= 0)
			close(p->tell[i]);
	mem_free(p);
	k->programs = NULL;
}

bool k_program_begins(struct k_run *k, struct k_program *ret)
{
	struct run_programs *p = k->programs;
	struct program_message m;
	char link[64];
	ssize_t n;

	if (!p || !p->listener.pid || read(p->tell[0], &m, sizeof(m)) != sizeof(m))
		return false;
	*ret = (struct k_program){ .number = m.number };
	snprintf(link, sizeof(link), "/proc/%d/fd/%d", p->listener.pid, m.fd);
	ret->fd = open(link, O_RDONLY | O_CLOEXEC);
	n = readlink(link, ret->path, sizeof(ret->path) - 1);
	ret->path[n > 0 ? n : 0] = '\0';
	return true;
}

void k_program_go_on(struct k_run *k, const struct k_program *program)
{
	/* A listener that is gone has let it go on. */
	(void)!write(k->programs->listener.fd, &program->number, sizeof(program->number));
}

bool k_file_id(int fd, struct k_file_id *ret)
{
	struct statfs fs;
	struct stat st;

	*ret = (struct k_file_id){ 0 };
	if (fstat(fd, &st) < 0)
		return false;
	*ret = (struct k_file_id){ .dev = st.st_dev,
				   .inode = st.st_ino,
				   .size = st.st_size,
				   .mtime_ns = st.st_mtim.tv_sec * INT64_C(1000000000) + st.st_mtim.tv_nsec,
				   .ctime_ns = st.st_ctim.tv_sec * INT64_C(1000000000) + st.st_ctim.tv_nsec,
				   .is_overlay = fstatfs(fd, &fs) == 0 && fs.f_type == OVERLAYFS_SUPER_MAGIC };
	return true;
}

/* An overlay tells times and size of the layer's file, and not which that is. The kernel sets the time of the last
 * change, and nobody else. */
bool k_file_is_same(const struct k_file_id *a, const struct k_file_id *b)
{
	return (a->dev == b->dev && a->inode == b->inode) || ((a->is_overlay || b->is_overlay) && a->size == b->size &&
							      a->mtime_ns == b->mtime_ns && a->ctime_ns == b->ctime_ns);
}
