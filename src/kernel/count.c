/*
 * count.c: counting events.
 *
 * A counter is one event over a target: a descriptor for each CPU, or for each task, or both, and on a
 * hybrid CPU for each of its PMUs.  There are no groups: an event that finds no room must not take others
 * with it.  Descriptors of one slot are added up.  Time enabled and time running are, too, so that one ratio scales
 * the sum; of a task's events on several PMUs the time enabled is the same time and counts once.
 *
 * A pinned event that found no counter is in an error state, which read() tells by 0 bytes; it asks again when it
 * is enabled.  A task's event finds out only when its task runs.  (perf_event_open(2))
 *
 * With a CPU that goes offline the kernel takes its events away for good, and keeps what they came to.  So a descriptor
 * lives as long as its CPU stays online; when that comes back another one is opened, and the slot is the sum of both.
 * One that was away for so short that nobody saw it shows in a reading: less time was enabled than has passed.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "kernel/count.h"
#include "kernel/kernel_int.h"

/* a descriptor */
struct counting {
	int fd;
	int cpu; /* -1: wherever the task is */
	uint32_t slot;
	bool again;                   /* its time enabled is another one's, too */
	bool gone, lapsed;            /* with its CPU: it counts no more; nobody saw when */
	uint64_t enabled_ns, read_ns; /* of the last reading; when it was over, 0: it failed */
};
struct k_counter {
	struct counting *v;
	uint32_t n, cap;
	bool whole, on; /* of whole CPUs; enabled */
	int *cpu;       /* by slot */
	uint32_t nslots, capslots;
};

/* ---- opening ---------------------------------------------------------------------------------------- */

static struct perf_event_attr count_attr(const struct k_event *ev, const struct k_target *t)
{
	struct perf_event_attr a;

	event_base(&a, ev);
	a.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	a.disabled = 1;
	a.inherit = t->inherit;
	a.enable_on_exec = t->on_exec;
	a.pinned = t->pinned && ev->counter;
	return a;
}

static int count_refused(const struct k_event *ev, const struct k_target *t, int cpu, int no, struct err *e)
{
	if (t->task && (no == EACCES || no == EPERM)) {
		char level[16];

		if (file_small("/proc/sys/kernel/perf_event_paranoid", level, sizeof(level)) < 0)
			strcpy(level, "unknown");
		return err_set(e, TALLY_EPERM, "%s needs cap_perfmon (perf_event_paranoid is %s): %s",
			       ev->exclude_kernel ? "counting this process" :
						    "counting in the kernel, or another's process,",
			       level, k_fix(FIX_COUNT).text);
	}
	return event_refused(ev, cpu < 0 ? 0 : (uint32_t)cpu, no, e);
}

static int slot_of(struct k_counter *c, int cpu, uint32_t *ret)
{
	int *at;

	for (*ret = 0; *ret < c->nslots; ++*ret)
		if (c->cpu[*ret] == cpu)
			return 0;
	at = VEC_NEW(c->cpu, c->nslots, c->capslots);
	if (!at)
		return -TALLY_ENOMEM;
	*at = cpu;
	return 0;
}

struct opening {
	struct k_counter *c;
	const struct k_target *t;
	const struct k_event *ev;
	const uint64_t *online; /* of these CPUs those that are not counted; NULL: all */
	bool again;
};

/* One descriptor. A task or CPU that went away meanwhile is no failure. */
static int open_one(const struct opening *o, int task, int cpu, struct err *e)
{
	struct perf_event_attr a = count_attr(o->ev, o->t);
	int fd = event_syscall(&a, o->ev->config3, task, cpu);
	struct counting *v;
	uint32_t slot;

	if (fd == -ESRCH || (fd == -ENODEV && !o->t->task && !o->ev->counter))
		return 0;
	if (fd < 0)
		return count_refused(o->ev, o->t, cpu, -fd, e);
	v = slot_of(o->c, o->t->each_cpu ? cpu : -1, &slot) < 0 ? NULL : VEC_NEW(o->c->v, o->c->n, o->c->cap);
	if (!v) {
		close(fd);
		return err_oom(e);
	}
	*v = (struct counting){ .fd = fd, .cpu = cpu, .slot = slot, .again = o->again };
	return 0;
}

static bool count_cpu_counted(const struct k_counter *c, int cpu)
{
	for (uint32_t i = 0; i < c->n; i++)
		if (c->v[i].cpu == cpu && !c->v[i].gone)
			return true;
	return false;
}

static bool count_cpu_wanted(const struct opening *o, const uint64_t *mask, uint32_t cpu)
{
	if (o->t->cpus && !cpus_has(mask, cpu))
		return false;
	return !o->online || (cpus_has(o->online, cpu) && !count_cpu_counted(o->c, (int)cpu));
}

static int open_cpus(const struct opening *o, int task, struct err *e)
{
	uint32_t ncpus = k_ncpus_possible();
	uint64_t *set = NULL, *mask;
	int rc = event_cpus(o->ev, ncpus, &set, e);

	if (rc < 0)
		return rc;
	mask = mem_alloc(cpus_words(ncpus) * sizeof(*mask));
	if (!mask)
		rc = err_oom(e);
	else if (o->t->cpus && !cpus_parse(o->t->cpus, mask, cpus_words(ncpus)))
		rc = err_set(e, TALLY_EINVAL, "invalid CPU list \"%s\"", o->t->cpus);
	for (uint32_t i = 0; rc == 0 && i < ncpus; i++)
		if (cpus_has(set, i) && count_cpu_wanted(o, mask, i))
			rc = open_one(o, task, (int)i, e);
	mem_free(mask);
	mem_free(set);
	return rc;
}

static int open_tasks(const struct opening *o, struct err *e)
{
	int rc = 0;

	if (*o->ev->cpus && !o->ev->counter)
		return err_set(e, TALLY_ENOTSUP, "it is an event of a whole device, not of a process: use -a");
	for (uint32_t i = 0; rc == 0 && i < o->t->ntasks; i++)
		rc = o->t->each_cpu ? open_cpus(o, o->t->task[i], e) : open_one(o, o->t->task[i], -1, e);
	return rc;
}

/* On a hybrid CPU each form is asked, and one that can be opened is enough. */
static int open_forms(struct k_counter *c, const struct k_event *ev, uint32_t n, const struct k_target *t,
		      struct err *e)
{
	struct err first = { 0 };

	for (uint32_t i = 0; i < n; i++) {
		struct opening o = { .c = c, .t = t, .ev = &ev[i], .again = t->task && !t->each_cpu && c->n };
		int rc = t->task ? open_tasks(&o, &first) : open_cpus(&o, -1, &first);

		if (rc == -TALLY_ENOMEM || rc == -TALLY_EIO || (rc < 0 && i == n - 1 && !c->n))
			return err_set(e, (enum tally_err)first.code, "%s", first.text);
	}
	if (c->n)
		return 0;
	if (t->task)
		return err_set(e, TALLY_EEND, "the process has exited");
	return err_set(e, TALLY_ENOTSUP, "no CPU that has the event is %s", t->cpus ? "among these" : "online");
}

int k_counter_open(struct k_counter **ret, const struct k_event *ev, uint32_t n, const struct k_target *t,
		   struct err *e)
{
	struct k_counter *c = mem_alloc(sizeof(*c));
	int rc;

	if (!c)
		return err_oom(e);
	c->whole = !t->task;
	rc = open_forms(c, ev, n, t, e);
	if (rc < 0)
		k_counter_close(c);
	else
		*ret = c;
	return rc;
}

void k_counter_close(struct k_counter *c)
{
	if (!c)
		return;
	for (uint32_t i = 0; i < c->n; i++)
		close(c->v[i].fd);
	mem_free(c->v);
	mem_free(c->cpu);
	mem_free(c);
}

/* ---- counting ---------------------------------------------------------------------------------------- */

static int enable_from(struct k_counter *c, uint32_t from, bool on, struct err *e)
{
	for (uint32_t i = from; i < c->n; i++)
		if (!c->v[i].gone && ioctl(c->v[i].fd, on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0) < 0)
			return err_set(e, TALLY_EIO, "%s an event failed: %s", on ? "enabling" : "disabling",
				       strerror(errno));
	return 0;
}

int k_counter_enable(struct k_counter *c, bool on, struct err *e)
{
	c->on = on;
	for (uint32_t i = 0; i < c->n; i++) /* it may have been off by itself */
		c->v[i].read_ns = 0;
	return enable_from(c, 0, on, e);
}

int k_counter_follow(struct k_counter *c, const struct k_event *ev, uint32_t n, const struct k_target *t,
		     const uint64_t *online, struct err *e)
{
	uint32_t before = c->n;
	int rc = 0, enabled;

	if (!c->whole || (*ev->cpus && !ev->counter))
		return 0;
	for (uint32_t i = 0; i < before; i++)
		if (!c->v[i].gone && !cpus_has(online, (uint32_t)c->v[i].cpu)) {
			/* Its event is off already, unless the CPU was only said to be gone. */
			(void)ioctl(c->v[i].fd, PERF_EVENT_IOC_DISABLE, 0);
			c->v[i].gone = true;
		}
	for (uint32_t i = 0; rc == 0 && i < n; i++)
		rc = open_cpus(&(struct opening){ .c = c, .t = t, .ev = &ev[i], .online = online }, -1, e);
	enabled = c->on ? enable_from(c, before, true, rc < 0 ? &(struct err){ 0 } : e) : 0;
	return rc < 0 ? rc : enabled;
}

bool k_counter_has(const struct k_counter *c, int cpu)
{
	for (uint32_t i = 0; i < c->n; i++)
		if (c->v[i].cpu == cpu)
			return true;
	return false;
}

int k_counter_lapsed(const struct k_counter *c)
{
	for (uint32_t i = 0; i < c->n; i++)
		if (c->v[i].gone && c->v[i].lapsed && !count_cpu_counted(c, c->v[i].cpu))
			return c->v[i].cpu;
	return -1;
}

uint32_t k_counter_slots(const struct k_counter *c)
{
	return c->nslots;
}

int k_counter_cpu(const struct k_counter *c, uint32_t slot)
{
	return c->cpu[slot];
}

/* An event of a CPU is enabled all the time, by a clock that may go a little slower than ours. */
static bool has_lapsed(const struct counting *v, const struct k_count *now, uint64_t begun_ns)
{
	uint64_t passed = begun_ns - v->read_ns, enabled = now->enabled_ns - v->enabled_ns;

	return v->read_ns && !v->gone && enabled + passed / 1000 + 1000000 < passed;
}

/* One descriptor: 0 bytes, all of it, or negative. */
static ssize_t read_one(const struct k_counter *c, struct counting *v, struct k_count *now)
{
	uint64_t begun = k_now_ns();
	ssize_t n = read(v->fd, now, sizeof(*now));

	if (n == sizeof(*now) && c->whole && has_lapsed(v, now, begun))
		v->gone = v->lapsed = true;
	v->enabled_ns = now->enabled_ns;
	v->read_ns = n == sizeof(*now) && c->on ? k_now_ns() : 0;
	return n;
}

static int read_slot(struct k_counter *c, uint32_t slot, struct k_count *ret, struct err *e)
{
	struct k_count sum = { 0 };

	for (uint32_t i = 0; i < c->n; i++) {
		struct k_count now = { 0 };
		ssize_t n;

		if (c->v[i].slot != slot)
			continue;
		n = read_one(c, &c->v[i], &now);
		if (n == 0)
			return event_starved_now((uint32_t)(c->v[i].cpu < 0 ? sched_getcpu() : c->v[i].cpu), e);
		if (n != sizeof(now))
			return err_set(e, TALLY_EIO, "reading an event failed: %s", strerror(errno));
		sum.value += now.value;
		sum.enabled_ns += c->v[i].again ? 0 : now.enabled_ns;
		sum.running_ns += now.running_ns;
	}
	*ret = sum;
	return 0;
}

int k_counter_read(struct k_counter *c, struct k_count *slot, struct err *e)
{
	int rc = 0;

	for (uint32_t i = 0; i < c->nslots; i++) {
		int one = read_slot(c, i, &slot[i], e);

		rc = rc < 0 && one != -TALLY_EIO ? rc : one;
	}
	return rc;
}

/* ---- who there is --------------------------------------------------------------------------------------- */

int k_threads(int pid, int **ret, uint32_t *n)
{
	uint32_t count = 0, cap = 0;
	struct dirent *de;
	char path[32];
	int *v = NULL;
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	d = opendir(path);
	if (!d)
		return -TALLY_EEND;
	while ((de = readdir(d))) {
		int *at = isdigit((unsigned char)de->d_name[0]) ? VEC_NEW(v, count, cap) : NULL;

		if (at)
			*at = atoi(de->d_name);
		else if (isdigit((unsigned char)de->d_name[0]))
			break;
	}
	closedir(d);
	if (de || !count) {
		mem_free(v);
		return de ? -TALLY_ENOMEM : -TALLY_EEND;
	}
	*ret = v;
	*n = count;
	return 0;
}

bool k_thread_is(int tid)
{
	return tid > 0 && (kill(tid, 0) == 0 || errno == EPERM);
}

int k_cpus_check(const char *list, struct err *e)
{
	uint32_t ncpus = k_ncpus_possible();
	size_t words = cpus_words(ncpus);
	uint64_t *set = mem_alloc(2 * words * sizeof(*set)), *online = set ? set + words : NULL;
	int rc = set ? k_cpus_online(online, words, e) : err_oom(e);
	bool any = false;

	if (rc == 0 && !cpus_parse(list, set, words))
		rc = err_set(e, TALLY_EINVAL, "invalid CPU list '%s' (expected e.g. 0,2-4; there %s %u)", list,
			     ncpus == 1 ? "is CPU" : "are CPUs 0 to", ncpus - 1);
	for (uint32_t i = 0; rc == 0 && i < words * 64; i++) {
		any |= cpus_has(set, i);
		if (cpus_has(set, i) && !cpus_has(online, i))
			rc = err_set(e, TALLY_EINVAL, "CPU %u is not online", i);
	}
	if (rc == 0 && !any)
		rc = err_set(e, TALLY_EINVAL, "the list of CPUs is empty");
	mem_free(set);
	return rc;
}
