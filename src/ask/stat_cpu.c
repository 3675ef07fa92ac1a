/*
 * stat_cpu.c: CPU events counted over time: what they are counted of, when, and the readings.
 *
 * The order is what makes a command's counts its own: it is forked and waits, its events are opened on the waiting
 * process, and its exec enables them; what we do never counts, and nothing of it is missed.  Processes that run
 * already are counted from when their events are enabled, one after the other.
 *
 * An event that can't be counted stays, with its reason.  Who may not count in the kernel counts in user mode
 * where no mode was asked for, and the name says so.
 *
 * A run of a command opens everything anew: a counter has no way back to zero that its children would share.
 */
#include <errno.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "ask/stat_cpu_int.h"

#define LOOK_NS UINT64_C(100000000) /* bounds how long the end of a thread is unseen */

uint64_t cpu_since(const struct stat_cpu *c)
{
	return !c->begun ? 0 : (c->ended_ns ? c->ended_ns : k_now_ns()) - c->start_ns;
}

int cpu_fail(struct stat_cpu *c, int rc, const struct err *e)
{
	return plat_fail(c->p, (enum tally_err) - rc, "%s", e->text[0] ? e->text : tally_strerror(rc));
}

bool cpu_counts(const struct cpu_event *ev)
{
	return ev->rc == 0 && ev->k;
}

/* ---- events --------------------------------------------------------------------------------------------- */

static int cpu_new(struct stat_cpu **ret, struct tally_platform *p, const struct tally_stat_opts *o)
{
	struct prov_opts po = { .sysfs = p->o.sysfs };
	struct stat_cpu *c = mem_alloc(sizeof(*c));

	if (!c)
		return plat_oom(p);
	c->p = p;
	c->o = o;
	c->look = k_cpus_online;
	if (probes_open(&c->probes, &po) < 0) {
		mem_free(c);
		return plat_oom(p);
	}
	*ret = c;
	return 0;
}

/* Its own copy of the forms, for they may yet be narrowed. */
static int event_set(struct stat_cpu *c, struct cpu_event *ev)
{
	ev->name = ev->is.name;
	ev->ev = ev->is.n ? arena_alloc(probes_arena(c->probes), ev->is.n * sizeof(*ev->ev)) : NULL;
	if (ev->is.n && !ev->ev)
		return -TALLY_ENOMEM;
	for (uint32_t i = 0; i < ev->is.n; i++) {
		ev->ev[i] = ev->is.ev[i];
		ev->hardware |= ev->ev[i].counter;
	}
	return 0;
}

int stat_cpu_add(struct stat_cpu **c, struct tally_platform *p, const struct tally_stat_opts *o, const char *text,
		 size_t n)
{
	int rc = *c ? 0 : cpu_new(c, p, o);
	struct cpu_event *ev = rc < 0 ? NULL : VEC_NEW((*c)->ev, (*c)->n, (*c)->cap);
	struct err e = { 0 };

	if (rc < 0)
		return rc;
	if (!ev)
		return plat_oom(p);
	rc = prov_count((*c)->probes, text, n, &ev->is, &e);
	if (rc >= 0)
		rc = event_set(*c, ev);
	if (rc == -TALLY_ENOTSUP) {
		ev->name = ev->is.name;
		ev->rc = rc;
		ev->why = e;
		return 0;
	}
	return rc < 0 ? plat_fail(p, (enum tally_err) - rc, "%s", e.text[0] ? e.text : tally_strerror(rc)) : 0;
}

bool stat_cpu_none(const struct stat_cpu *c)
{
	for (uint32_t i = 0; i < c->n; i++)
		if (c->ev[i].rc == 0)
			return false;
	return true;
}

int stat_cpu_why(struct stat_cpu *c)
{
	const int rc = c->ev[0].rc;
	const bool advised = strstr(c->ev[0].why.text, "software events") != NULL;

	stat_cpu_reasons(c);
	return plat_fail(c->p, (enum tally_err) - rc, "none of these events can be counted here%s",
			 rc == -TALLY_ENOTSUP && !advised ?
				 "; software events can be: task-clock, page-faults, context-switches" :
				 "");
}

/* ---- what is counted of --------------------------------------------------------------------------------- */

static int add_task(struct stat_cpu *c, int tid)
{
	int *at = VEC_NEW(c->task, c->ntasks, c->captasks);

	if (!at)
		return plat_oom(c->p);
	*at = tid;
	return 0;
}

static int add_process(struct stat_cpu *c, int pid)
{
	struct err e = { 0 };
	int fd = k_process_fd(pid, &e), *tid = NULL, *at;
	uint32_t n = 0;
	int rc;

	if (fd < 0)
		return cpu_fail(c, fd, &e);
	at = VEC_NEW(c->watch, c->nwatch, c->capwatch);
	if (!at) {
		close(fd);
		return plat_oom(c->p);
	}
	*at = fd;
	rc = k_threads(pid, &tid, &n);
	if (rc < 0)
		return plat_fail(c->p, rc == -TALLY_ENOMEM ? TALLY_ENOMEM : TALLY_EINVAL, "no such process: %d", pid);
	for (uint32_t i = 0; rc >= 0 && i < n; i++)
		rc = add_task(c, tid[i]);
	mem_free(tid);
	return rc;
}

static bool whole_cpus(const struct stat_cpu *c)
{
	const struct tally_stat_opts *o = c->o;

	return o->cpus || o->flags & TALLY_STAT_SYSTEM || !(o->argv || o->npids || o->ntids);
}

static int find_tasks(struct stat_cpu *c)
{
	const struct tally_stat_opts *o = c->o;
	struct err e = { 0 };
	int rc = 0;

	for (uint32_t i = 0; rc >= 0 && i < o->npids; i++)
		rc = add_process(c, o->pids[i]);
	for (uint32_t i = 0; rc >= 0 && i < o->ntids; i++)
		rc = k_thread_is(o->tids[i]) ? add_task(c, o->tids[i]) :
					       plat_fail(c->p, TALLY_EINVAL, "no such thread: %d", o->tids[i]);
	if (rc >= 0 && o->argv) {
		rc = k_child_start_argv(o->argv, &c->child, &e);
		if (rc < 0)
			return cpu_fail(c, rc, &e);
		c->has_child = true;
	}
	if (rc >= 0 && o->argv && !o->npids && !o->ntids && !whole_cpus(c))
		rc = add_task(c, c->child.pid);
	return rc;
}

static int set_target(struct stat_cpu *c)
{
	const struct tally_stat_opts *o = c->o;
	struct err e = { 0 };
	int rc = find_tasks(c);

	if (rc >= 0 && o->cpus && (rc = k_cpus_check(o->cpus, &e)) < 0)
		return cpu_fail(c, rc, &e);
	c->target = (struct k_target){
		.task = c->ntasks ? c->task : NULL,
		.ntasks = c->ntasks,
		.cpus = o->cpus,
		.each_cpu = o->flags & TALLY_STAT_PER_CPU,
		.inherit = c->ntasks && !o->ntids,
		.on_exec = c->ntasks && c->has_child && !o->npids && !o->ntids,
		.pinned = !(o->flags & TALLY_STAT_SHARE),
	};
	return rc;
}

/* ---- opening ----------------------------------------------------------------------------------------------- */

static int try_open(struct stat_cpu *c, struct cpu_event *ev, struct err *e)
{
	for (uint32_t i = 0; c->all_hardware && i < ev->is.n; i++)
		ev->ev[i].counter = ev->hardware = true;
	return k_counter_open(&ev->k, ev->ev, ev->is.n, &c->target, e);
}

/* In user mode alone, where that was left open. */
static int stat_cpu_narrow_user(struct stat_cpu *c, struct cpu_event *ev, struct err *e)
{
	for (uint32_t i = 0; i < ev->is.n; i++)
		ev->ev[i].exclude_kernel = true;
	if (!ev->is.clock)
		ev->name = arena_printf(probes_arena(c->probes), "%s%su", ev->is.name,
					strchr(ev->is.name, '/') ? "" : ":");
	return ev->name ? try_open(c, ev, e) : err_oom(e);
}

static bool same_slots(const struct cpu_event *ev)
{
	bool same = ev->nslots == k_counter_slots(ev->k);

	for (uint32_t i = 0; same && i < ev->nslots; i++)
		same = ev->slot[i].cpu == k_counter_cpu(ev->k, i);
	return same;
}

static int open_slots(struct stat_cpu *c, struct cpu_event *ev)
{
	int rc;

	if (ev->nslots && !same_slots(ev))
		return plat_fail(c->p, TALLY_ESTATE, "CPUs went online or offline between two runs");
	rc = cpu_slots_grow(c, ev);
	for (uint32_t i = 0; i < ev->nslots; i++) {
		ev->slot[i].before = ev->slot[i].now = (struct k_count){ 0 };
		ev->slot[i].offline = false;
	}
	ev->nspans = 0;
	ev->lost = false;
	return rc;
}

static int open_event(struct stat_cpu *c, struct cpu_event *ev)
{
	struct err e = { 0 }, user = { 0 };
	bool may_narrow = ev->is.all_modes && !ev->is.in_kernel && ev->name == ev->is.name;
	int rc = try_open(c, ev, &e);

	if (rc == -TALLY_EPERM && may_narrow) {
		rc = stat_cpu_narrow_user(c, ev, &user);
		if (rc < 0)
			ev->name = ev->is.name;
	}
	if (rc == -TALLY_ENOMEM || rc == -TALLY_EIO || rc == -TALLY_EEND)
		return cpu_fail(c, rc, e.code == -rc ? &e : &user);
	ev->rc = rc;
	if (rc < 0)
		ev->why = rc == -e.code ? e : user;
	return rc < 0 ? 0 : open_slots(c, ev);
}

int stat_cpu_open(struct stat_cpu *c)
{
	int rc = set_target(c);

	if (rc >= 0)
		rc = cpu_online_begin(c);
	for (uint32_t i = 0; rc >= 0 && i < c->n; i++)
		if (c->ev[i].rc == 0)
			rc = open_event(c, &c->ev[i]);
	if (rc >= 0)
		rc = cpu_lease_take(c);
	c->before_ns = c->now_ns = 0;
	return rc;
}

/* ---- beginning ---------------------------------------------------------------------------------------------- */

static void children_time(double *user, double *system)
{
	struct rusage u = { 0 };

	(void)getrusage(RUSAGE_CHILDREN, &u);
	*user = (double)u.ru_utime.tv_sec * 1e9 + (double)u.ru_utime.tv_usec * 1e3;
	*system = (double)u.ru_stime.tv_sec * 1e9 + (double)u.ru_stime.tv_usec * 1e3;
}

int stat_cpu_begin(struct stat_cpu *c)
{
	struct err e = { 0 };
	double user, system;
	int rc = 0;

	children_time(&user, &system);
	c->user_ns -= user;
	c->system_ns -= system;
	c->start_ns = k_now_ns();
	c->ended_ns = 0;
	c->begun = true;
	for (uint32_t i = 0; rc >= 0 && !c->target.on_exec && i < c->n; i++)
		if (cpu_counts(&c->ev[i]))
			rc = k_counter_enable(c->ev[i].k, true, &e);
	if (rc < 0)
		return cpu_fail(c, rc, &e);
	rc = cpu_lease_fit(c);
	if (rc < 0 || !c->has_child)
		return rc;
	rc = k_child_release(&c->child, &e);
	if (rc >= 0)
		return 0;
	(void)k_child_status(&c->child, &c->status);
	return plat_fail(c->p, TALLY_EINVAL, "failed to start '%s': %s", c->o->argv[0], e.text);
}

/* ---- waiting -------------------------------------------------------------------------------------------------- */

static bool has_ended(struct stat_cpu *c)
{
	struct pollfd fd;
	uint32_t gone = 0;
	int status;

	if (c->has_child)
		return k_child_status(&c->child, &status) == 1;
	for (uint32_t i = 0; i < c->nwatch; i++) {
		fd = (struct pollfd){ .fd = c->watch[i], .events = POLLIN };
		gone += poll(&fd, 1, 0) > 0;
	}
	for (uint32_t i = 0; c->o->ntids && i < c->ntasks; i++)
		gone += !k_thread_is(c->task[i]);
	return c->ntasks && gone == (c->o->ntids ? c->ntasks : c->nwatch);
}

/* What ends a wait: the lease, and the command or a process that still lives. */
static int wait_for(const struct stat_cpu *c, uint64_t ns)
{
	struct pollfd fd[3];
	struct timespec t;
	uint32_t n = 0;

	if (c->ntasks && ns > LOOK_NS)
		ns = LOOK_NS;
	t = (struct timespec){ .tv_sec = (time_t)(ns / 1000000000u), .tv_nsec = (long)(ns % 1000000000u) };
	if (c->lease)
		fd[n++] = (struct pollfd){ .fd = lease_fd(c->lease), .events = POLLIN };
	if (c->has_child)
		fd[n++] = (struct pollfd){ .fd = c->child.pidfd, .events = POLLIN };
	if (!c->has_child && c->nwatch == 1)
		fd[n++] = (struct pollfd){ .fd = c->watch[0], .events = POLLIN };
	return ppoll(fd, n, &t, NULL);
}

int stat_cpu_wait(struct stat_cpu *c, uint64_t ns)
{
	(void)wait_for(c, ns);
	if (c->lease && cpu_lease_look(c) < 0)
		return -TALLY_EIO;
	if (cpu_online_follow(c) < 0)
		return -TALLY_EIO;
	if (!c->ended_ns && has_ended(c))
		c->ended_ns = k_now_ns();
	return c->ended_ns != 0;
}

/* ---- readings --------------------------------------------------------------------------------------------------- */

void cpu_part_time(const struct stat_cpu *c, struct cpu_event *ev)
{
	bool turns = ev->hardware && !c->target.pinned;
	uint64_t enabled = 0, running = 0;

	for (uint32_t i = 0; i < ev->nslots; i++) {
		running += ev->got[i].running_ns;
		enabled = ev->got[i].enabled_ns > enabled ? ev->got[i].enabled_ns : enabled;
	}
	if (turns && !running)
		return;
	for (uint32_t i = 0; i < ev->nslots; i++) {
		struct k_count *k = &ev->got[i];

		k->enabled_ns =
			turns ? (uint64_t)((double)k->running_ns * ((double)enabled / (double)running)) : k->running_ns;
	}
}

static int read_event(struct stat_cpu *c, struct cpu_event *ev)
{
	struct err e = { 0 };
	int rc;

	for (uint32_t i = 0; i < ev->nslots; i++)
		ev->got[i] = ev->slot[i].before = ev->slot[i].now;
	rc = k_counter_read(ev->k, ev->got, &e);
	if (c->target.task && c->target.each_cpu)
		cpu_part_time(c, ev);
	for (uint32_t i = 0; i < ev->nslots; i++)
		ev->slot[i].now = ev->got[i];
	if (rc < 0 && rc != -TALLY_EBUSY)
		return cpu_fail(c, rc, &e);
	return cpu_event_lost(c, ev, rc < 0);
}

int stat_cpu_read(struct stat_cpu *c)
{
	int rc = 0;

	c->before_ns = c->now_ns;
	c->now_ns = cpu_since(c);
	for (uint32_t i = 0; rc >= 0 && i < c->n; i++)
		if (cpu_counts(&c->ev[i]))
			rc = read_event(c, &c->ev[i]);
	return rc < 0 ? rc : cpu_online_follow(c);
}

/* ---- ending ---------------------------------------------------------------------------------- */

/* A command that the user stopped, or that failed to be counted, is asked to end, and after a while made to. */
static void end_child(struct stat_cpu *c)
{
	if (!c->has_child)
		return;
	if (c->begun && !c->p->err.code)
		(void)k_child_wait(&c->child, UINT64_MAX, c->o->stop);
	k_child_end(&c->child, K_PATIENCE_NS);
	if (c->begun && !c->status)
		(void)k_child_status(&c->child, &c->status);
	c->has_child = false;
}

static void add_up(double *mean, double *m2, uint32_t n, double v)
{
	double d = v - *mean;

	*mean += d / n;
	*m2 += d * (v - *mean);
}

double cpu_scaled(const struct k_count *k)
{
	bool all = !k->running_ns || k->running_ns >= k->enabled_ns;

	return all ? (double)k->value : (double)k->value * ((double)k->enabled_ns / (double)k->running_ns);
}

static void close_run(struct stat_cpu *c)
{
	for (uint32_t i = 0; i < c->n; i++) {
		k_counter_close(c->ev[i].k);
		c->ev[i].k = NULL;
	}
	for (uint32_t i = 0; i < c->nwatch; i++)
		close(c->watch[i]);
	c->nwatch = c->ntasks = 0;
	lease_free(c->lease);
	c->lease = NULL;
	c->shut = c->begun = false;
}

int stat_cpu_end(struct stat_cpu *c)
{
	double user, system;

	if (!c->p->err.code) {
		c->runs++;
		add_up(&c->mean_ns, &c->m2_ns, c->runs, (double)c->now_ns);
		for (uint32_t i = 0; i < c->n; i++)
			c->ev[i].runs_lost += c->ev[i].nspans > 0;
		for (uint32_t i = 0; i < c->n; i++)
			for (uint32_t k = 0; cpu_counts(&c->ev[i]) && k < c->ev[i].nslots; k++)
				add_up(&c->ev[i].slot[k].mean, &c->ev[i].slot[k].m2, c->runs,
				       cpu_scaled(&c->ev[i].slot[k].now));
	}
	end_child(c);
	children_time(&user, &system);
	c->user_ns += user;
	c->system_ns += system;
	close_run(c);
	return 0;
}

void stat_cpu_results(const struct stat_cpu *c, struct tally_stat_result *ret)
{
	ret->status = c->status;
	for (uint32_t i = 0; i < c->n; i++)
		ret->invalidated += c->ev[i].runs_lost > 0;
}

void stat_cpu_close(struct stat_cpu *c)
{
	if (!c)
		return;
	end_child(c);
	close_run(c);
	for (uint32_t i = 0; i < c->n; i++) {
		mem_free(c->ev[i].slot);
		mem_free(c->ev[i].got);
		mem_free(c->ev[i].span);
	}
	mem_free(c->ev);
	mem_free(c->task);
	mem_free(c->online);
	mem_free(c->watch);
	probes_close(c->probes);
	mem_free(c);
}
