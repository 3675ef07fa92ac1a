/*
 * run.c: the life of a run, and waiting for what happens in it.
 *
 * A run is made of parts that are opened in one order and closed in the
 * reverse: maps (with rings), programs, events, timers, watched processes.  All
 * of them are descriptors, so a process that is killed leaves nothing behind.
 *
 * Waiting is one epoll set, made at the first wait: rings, timers, the watched
 * processes' buffers and whatever the caller adds.  It tells only that something
 * happened; what, the caller finds by asking each part, which is cheap.
 *
 * The kernel wakes us for rings and buffers that fill up.  What is in them before that is looked for every LOOK_MS:
 * records shall be printed, and a file that was mapped must be seen before somebody changes, renames or links it, or
 * its name is lost.
 */
#include <bpf/libbpf.h>
#include <errno.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "kernel/kernel_int.h"
#include "kernel/libbpf_int.h"
#include "kernel/task_int.h"

#define LOOK_MS 10 /* between looks into rings and buffers while waiting */

/* Raises the limit of open files as far as it may go; false when it was there already. */
bool run_more_files(void)
{
	struct rlimit r;

	if (getrlimit(RLIMIT_NOFILE, &r) < 0 || r.rlim_cur >= r.rlim_max)
		return false;
	r.rlim_cur = r.rlim_max;
	return setrlimit(RLIMIT_NOFILE, &r) == 0;
}

int run_file_refused(const char *what, int no, struct err *e)
{
	struct rlimit r = { 0 };

	if (no != EMFILE && no != ENFILE)
		return err_set(e, TALLY_EIO, "%s: %s", what, strerror(no));
	if (no == ENFILE)
		return err_set(e, TALLY_EIO,
			       "%s: too many open files on this machine (sysctl fs.file-max is the limit)", what);
	(void)getrlimit(RLIMIT_NOFILE, &r);
	return err_set(e, TALLY_EIO,
		       "%s: too many open files: each map, program, event and timer is one, and the limit is %llu; "
		       "'ulimit -n 65536' raises it",
		       what, (unsigned long long)r.rlim_cur);
}

/* Every map, program and event is a file; the soft limit is often 1,024. */
static bool many_files(const struct k_run *k, const struct bpf_image *img)
{
	struct rlimit r;

	return getrlimit(RLIMIT_NOFILE, &r) == 0 &&
	       img->nmaps + (uint64_t)img->nprogs * (2 + k->ncpus) + img->nparts + k->ncpus + 64 > r.rlim_cur;
}

int k_open(struct k_run **ret, const struct bpf_image *img, const struct k_run_opts *o, struct err *e)
{
	struct k_run *k = mem_alloc(sizeof(*k));
	int rc;

	if (!k)
		return err_oom(e);
	*k = (struct k_run){ .stop = o ? o->stop : NULL,
			     .log = o ? o->log : NULL,
			     .data = o && o->data,
			     .ncpus = k_ncpus_possible(),
			     .epoll = -1,
			     .online = -1,
			     .thread_count = -1,
			     .lock_wait = { { -1, -1 }, { -1, -1 } },
			     .rings = { .outer = -1, .enough = o ? o->wakeup_bytes : 0 } };
	if (many_files(k, img))
		run_more_files();
	libbpf_set_print(NULL);
	if ((rc = maps_open(k, img, e)) < 0 || (rc = progs_open(k, img, e)) < 0) {
		k_close(k);
		return rc;
	}
	*ret = k;
	return 0;
}

void k_close(struct k_run *k)
{
	if (!k)
		return;
	k_quiet(k, false);
	generations_close(k);
	k_tasks_close(k->tasks);
	timers_close(k);
	holds_close(k);
	programs_close(k);
	places_close(k);
	lock_waits_close(k);
	points_close(k);
	events_close(k);
	counters_close(k);
	progs_close(k);
	rings_close(k);
	maps_close(k);
	if (k->epoll >= 0)
		close(k->epoll);
	if (k->online >= 0)
		close(k->online);
	mem_free(k);
}

struct img_ctl *k_ctl(struct k_run *k)
{
	return k->ctl;
}

/* ---- waiting ------------------------------------------------------------------- */

int run_watch(struct k_run *k, int fd)
{
	struct epoll_event ev = { .events = EPOLLIN };

	if (k->epoll < 0)
		k->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (k->epoll < 0 || (epoll_ctl(k->epoll, EPOLL_CTL_ADD, fd, &ev) < 0 && errno != EEXIST))
		return -TALLY_EIO;
	return 0;
}

int k_watch_fd(struct k_run *k, int fd)
{
	return run_watch(k, fd);
}

/* Puts into the set what came since the last wait. */
static int watch_parts(struct k_run *k)
{
	int fd, rc = 0;

	for (uint32_t i = 0; rc == 0 && !k->waits_rings && i < k->rings.nring; i++)
		if (k->rings.ring[i].fd >= 0)
			rc = run_watch(k, k->rings.ring[i].fd);
	k->waits_rings = true;
	for (uint32_t i = 0; rc == 0 && k->tasks && !k->waits_tasks && (fd = k_tasks_fd(k->tasks, i)) >= 0; i++)
		rc = run_watch(k, fd);
	k->waits_tasks = k->tasks;
	return rc;
}

/* One slice of a wait; *left is what then remains of the time, -1 for ever. */
static int wait_slice(struct k_run *k, int *left, bool *over)
{
	bool whole = (k->rings.outer < 0 && !k->tasks) || (*left >= 0 && *left <= LOOK_MS);
	struct epoll_event ev;
	int n = epoll_wait(k->epoll, &ev, 1, whole ? *left : LOOK_MS);

	if (n < 0 && errno != EINTR)
		return -TALLY_EIO;
	*over = whole || n < 0;
	if (*left > 0)
		*left -= whole ? *left : LOOK_MS;
	if (n > 0)
		return 1;
	n = rings_waiting(k);
	return n == 0 && k->tasks ? k_tasks_waiting(k->tasks) : n;
}

int k_wait_fd(struct k_run *k)
{
	int rc = watch_parts(k);

	if (rc == 0 && k->epoll < 0 && (k->epoll = epoll_create1(EPOLL_CLOEXEC)) < 0)
		rc = -TALLY_EIO;
	return rc < 0 ? rc : k->epoll;
}

int k_wait(struct k_run *k, int timeout_ms)
{
	bool over = false;
	int rc = k_wait_fd(k);

	rc = rc < 0 ? rc : 0;
	if (rc == 0 && timeout_ms != 0)
		rc = rings_waiting(k);
	while (rc == 0 && !over)
		rc = wait_slice(k, &timeout_ms, &over);
	return rc;
}

/* ---- watched processes ------------------------------------------------------------ */

int k_task_watch(struct k_run *k, struct err *e)
{
	k_btf_close(&k->btf);
	if (k->generations)
		return generations_join(k, e);
	return k->tasks ? 0 : k_tasks_open(&k->tasks, k->data, e);
}

int k_task_drain(struct k_run *k, void (*sink)(void *arg, const struct k_task *t), void *arg)
{
	return k->tasks ? k_tasks_drain(k->tasks, sink, arg) : 0;
}
