/*
 * event.c: perf events on every CPU, each with a BPF program.
 *
 * Events are per CPU, never per task: a per-task event costs milliseconds to
 * open, and a program can tell by itself which process it wants.
 *
 * A CPU has few counters, and the kernel would share them in turns without a
 * word, which makes every count a guess.  So an event that takes a counter is
 * pinned: it counts always or not at all.  One that did not get its counter goes
 * into an error state, which shows only when it is read (read() answers 0
 * bytes); so right after enabling we read each of them, and if one is without
 * counter the whole enabling ends.  (perf_event_open(2), "pinned")
 *
 * CPUs come and go.  The counts of one that went are kept, so that what was
 * counted and what fired can still be compared.  Throttling and programs that the
 * kernel skipped show in that same comparison.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kernel/kernel_int.h"
#include "kernel/task_int.h"

#define NMI_WATCHDOG "/proc/sys/kernel/nmi_watchdog"

/* ---- opening ------------------------------------------------------------------ */

void event_base(struct perf_event_attr *a, const struct k_event *ev)
{
	*a = (struct perf_event_attr){
		.size = sizeof(*a),
		.type = ev->type,
		.config = ev->config,
		.config1 = ev->config1,
		.config2 = ev->config2,
		.exclude_user = ev->exclude_user,
		.exclude_kernel = ev->exclude_kernel,
		.exclude_hv = ev->exclude_kernel,
	};
}

static struct perf_event_attr event_attr(const struct k_event *ev)
{
	struct perf_event_attr a;

	event_base(&a, ev);
	a.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	a.disabled = 1;
	a.pinned = ev->counter;
	a.exclusive = ev->exclusive;
	a.precise_ip = ev->precise_ip;
	a.freq = ev->period == 0 && ev->freq != 0;
	if (a.freq)
		a.sample_freq = ev->freq;
	else
		a.sample_period = ev->period;
	if (ev->precise_ip) /* else a program that takes stacks can't be attached */
		a.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_ADDR;
	return a;
}

/* config3 came with Linux 6.3; the struct of older headers ends before it. */
static long perf_open(const struct perf_event_attr *a, uint64_t config3, int task, int cpu)
{
	struct {
		struct perf_event_attr a;
		uint64_t config3[8];
	} attr = { .a = *a };

	if (config3) {
		memcpy((char *)&attr + 128, &config3, sizeof(config3));
		attr.a.size = 136;
	}
	return syscall(SYS_perf_event_open, &attr, task, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

int event_syscall(const struct perf_event_attr *a, uint64_t config3, int task, int cpu)
{
	long fd = perf_open(a, config3, task, cpu);

	if (fd < 0 && errno == EMFILE && run_more_files())
		fd = perf_open(a, config3, task, cpu);
	return fd < 0 ? -errno : (int)fd;
}

int event_open(const struct k_event *ev, uint32_t cpu)
{
	struct perf_event_attr a = event_attr(ev);

	return event_syscall(&a, ev->config3, -1, (int)cpu);
}

static bool has_core_pmu(void)
{
	struct k_pmu *pmu = NULL;
	struct err e = { 0 };
	uint32_t n = 0;
	bool has = false;

	if (k_pmus(NULL, &pmu, &n, &e) < 0)
		return false;
	for (uint32_t i = 0; i < n; i++)
		has |= pmu[i].core;
	mem_free(pmu);
	return has;
}

int event_refused(const struct k_event *ev, uint32_t cpu, int no, struct err *e)
{
	bool hardware = ev->type == PERF_TYPE_HARDWARE || ev->type == PERF_TYPE_HW_CACHE || ev->type == PERF_TYPE_RAW;
	char what[64];

	switch (no) {
	case EACCES:
	case EPERM:
		return rights_perf(e);
	case ENOENT:
	case ENODEV:
	case EOPNOTSUPP:
	case ENXIO:
		if (hardware && !has_core_pmu())
			return err_set(e, TALLY_ENOTSUP, "not supported on this machine (no hardware PMU)");
		return err_set(e, TALLY_ENOTSUP, "this CPU does not have the event%s",
			       ev->precise_ip ? ", or not with precise_ip" : "");
	case EBUSY:
		return err_set(e, TALLY_EBUSY, "CPU %u: the PMU is in exclusive use by another program", cpu);
	case EMFILE:
	case ENFILE:
		snprintf(what, sizeof(what), "opening an event on CPU %u", cpu);
		return run_file_refused(what, no, e);
	case ENOMEM:
		return err_set(e, TALLY_ENOMEM, "CPU %u: out of memory", cpu);
	case ENOSYS:
		return err_set(e, TALLY_ENOTSUP, "this kernel has no perf events");
	case EINVAL:
		if (ev->freq)
			return err_set(e, TALLY_EINVAL,
				       "the kernel refuses %lluhz: it exceeds kernel.perf_event_max_sample_rate",
				       (unsigned long long)ev->freq);
		return err_set(e, TALLY_EINVAL, "the kernel refuses the event's encoding (type %u, config 0x%llx)",
			       ev->type, (unsigned long long)ev->config);
	default:
		return err_set(e, TALLY_EIO, "CPU %u: opening the event failed: %s", cpu, strerror(no));
	}
}

int event_cpus(const struct k_event *ev, uint32_t ncpus, uint64_t **ret, struct err *e)
{
	size_t words = cpus_words(ncpus);
	uint64_t *set = mem_alloc(2 * words * sizeof(*set)), *mask;
	int rc = 0;

	if (!set)
		return err_oom(e);
	mask = set + words;
	rc = k_cpus_online(set, words, e);
	if (rc == 0 && *ev->cpus) {
		if (!cpus_parse(ev->cpus, mask, words))
			rc = err_set(e, TALLY_EINVAL, "invalid CPU list \"%s\"", ev->cpus);
		for (size_t i = 0; i < words; i++)
			set[i] &= mask[i];
	}
	if (rc < 0)
		mem_free(set);
	else
		*ret = set;
	return rc;
}

int k_event_try(const struct k_event *ev, struct err *e)
{
	uint32_t ncpus = k_ncpus_possible(), cpu = 0;
	uint64_t *set;
	int fd, rc = event_cpus(ev, ncpus, &set, e);

	if (rc < 0)
		return rc;
	while (cpu < ncpus && !cpus_has(set, cpu))
		cpu++;
	mem_free(set);
	if (cpu == ncpus)
		return err_set(e, TALLY_ENOTSUP, "no CPU that has the event is online");
	fd = event_open(ev, cpu);
	if (fd < 0)
		return event_refused(ev, cpu, -fd, e);
	close(fd);
	return 0;
}

/* ---- attaching ------------------------------------------------------------------ */

/* A CPU that went away meanwhile is no failure. */
static int cpu_open(struct k_run *k, struct run_event *v, uint32_t cpu, struct err *e)
{
	int fd = event_open(&v->ev, cpu);

	if (fd == -ENODEV && !v->ev.counter)
		return 0;
	if (fd < 0)
		return event_refused(&v->ev, cpu, -fd, e);
	if (ioctl(fd, PERF_EVENT_IOC_SET_BPF, k->prog[v->prog]) < 0) {
		int no = errno;

		close(fd);
		if (no == EPERM || no == EACCES)
			return rights_bpf("attaching a BPF program", e);
		if (no == EEXIST || no == EOPNOTSUPP || no == EINVAL || no == EPROTO)
			return err_set(e, TALLY_ENOTSUP, "this event cannot run a BPF program%s",
				       v->ev.precise_ip ? " that takes stacks with precise_ip" : "");
		return err_set(e, TALLY_EIO, "CPU %u: attaching a program failed: %s", cpu, strerror(no));
	}
	v->cpu[cpu].fd = fd;
	v->cpu[cpu].seen = true;
	return 0;
}

static void event_close(struct run_event *v, uint32_t ncpus)
{
	for (uint32_t i = 0; v->cpu && i < ncpus; i++)
		if (v->cpu[i].fd >= 0)
			close(v->cpu[i].fd);
	mem_free(v->cpu);
}

void events_close(struct k_run *k)
{
	for (uint32_t i = 0; i < k->nevents; i++)
		event_close(&k->event[i], k->ncpus);
	mem_free(k->event);
	k->event = NULL;
	k->nevents = k->cap_events = 0;
}

static int event_new(struct k_run *k, uint32_t prog, const struct k_event *ev, struct run_event **ret, struct err *e)
{
	struct run_event *v;

	if (prog >= k->nprogs)
		return err_set(e, TALLY_EINVAL, "there is no program %u", prog);
	if (!ev->period == !ev->freq)
		return err_set(e, TALLY_EINVAL, "an event fires by its period or by a frequency");
	v = VEC_NEW(k->event, k->nevents, k->cap_events);
	if (!v)
		return err_oom(e);
	*v = (struct run_event){ .prog = prog, .ev = *ev, .cpu = mem_alloc(k->ncpus * sizeof(*v->cpu)) };
	for (uint32_t i = 0; v->cpu && i < k->ncpus; i++)
		v->cpu[i].fd = -1;
	*ret = v;
	return v->cpu ? 0 : err_oom(e);
}

int k_attach(struct k_run *k, uint32_t prog, const struct k_event *ev, struct err *e)
{
	uint32_t before = k->nevents, opened = 0;
	struct run_event *v = NULL;
	uint64_t *set = NULL;
	int rc = event_new(k, prog, ev, &v, e);

	if (rc == 0)
		rc = event_cpus(ev, k->ncpus, &set, e);
	for (uint32_t i = 0; rc == 0 && i < k->ncpus; i++)
		if (cpus_has(set, i) && (rc = cpu_open(k, v, i, e)) == 0)
			opened += v->cpu[i].fd >= 0;
	if (rc == 0 && !opened)
		rc = err_set(e, TALLY_ENOTSUP, "no CPU that has the event is online");
	if (rc < 0 && k->nevents > before)
		event_close(&k->event[--k->nevents], k->ncpus);
	mem_free(set);
	return rc;
}

/* ---- counting ---------------------------------------------------------------------- */

/* PERF_FORMAT_TOTAL_TIME_ENABLED | _RUNNING */
struct reading {
	uint64_t value, enabled_ns, running_ns;
};

int event_starved(uint32_t cpu, const char *watchdog, struct err *e)
{
	bool held = !strcmp(watchdog, "1");

	return err_set(e, TALLY_EBUSY, "CPU %u has no counter left for this event%s", cpu,
		       held ? "; the NMI watchdog holds one: "
			      "sudo sysctl kernel.nmi_watchdog=0 frees it" :
			      "");
}

int event_starved_now(uint32_t cpu, struct err *e)
{
	char watchdog[16];

	if (file_small(NMI_WATCHDOG, watchdog, sizeof(watchdog)) < 0)
		*watchdog = '\0';
	return event_starved(cpu, watchdog, e);
}

/* Whether a pinned event that was just enabled has its counter. */
static int cpu_counts(const struct run_event *v, uint32_t cpu, struct err *e)
{
	struct reading now;

	if (!v->ev.counter || v->cpu[cpu].fd < 0 || read(v->cpu[cpu].fd, &now, sizeof(now)) != 0)
		return 0;
	return event_starved_now(cpu, e);
}

static int cpu_enable(const struct run_event *v, uint32_t cpu, struct err *e)
{
	if (v->cpu[cpu].fd >= 0 && ioctl(v->cpu[cpu].fd, PERF_EVENT_IOC_ENABLE, 0) < 0)
		return err_set(e, TALLY_EIO, "CPU %u: enabling failed: %s", cpu, strerror(errno));
	return 0;
}

/* Does step to each attached event on each CPU, until one fails. */
static int each_cpu(struct k_run *k, int (*step)(const struct run_event *, uint32_t, struct err *), struct err *e)
{
	int rc = 0;

	for (uint32_t i = 0; i < k->nevents; i++)
		for (uint32_t cpu = 0; rc == 0 && cpu < k->ncpus; cpu++)
			rc = step(&k->event[i], cpu, e);
	return rc;
}

int k_enable(struct k_run *k, struct err *e)
{
	int rc = rings_ready(k, e);

	if (rc == 0)
		rc = each_cpu(k, cpu_enable, e);
	if (rc == 0)
		rc = each_cpu(k, cpu_counts, e);
	if (rc == 0)
		rc = holds_enable(k, e); /* first: its guard may not have the links of places, which would outlive us */
	if (rc == 0)
		rc = programs_enable(k, e); /* the same */
	if (rc == 0)
		rc = places_enable(k, e); /* they take the longest: what the others set off is seen there */
	if (rc == 0)
		rc = points_enable(k, e);
	if (rc == 0)
		rc = lock_waits_enable(k, e);
	if (rc == 0 && timers_set(k, true) < 0)
		rc = err_set(e, TALLY_EIO, "cannot start a timer: %s", strerror(errno));
	k->enabled = true;
	if (rc < 0)
		k_disable(k);
	return rc;
}

static int cpu_disable(const struct run_event *v, uint32_t cpu, struct err *e)
{
	(void)e;
	if (v->cpu[cpu].fd >= 0)
		ioctl(v->cpu[cpu].fd, PERF_EVENT_IOC_DISABLE, 0);
	return 0;
}

int k_disable(struct k_run *k)
{
	if (!k->enabled)
		return 0;
	k->enabled = false;
	timers_set(k, false);
	lock_waits_disable(k);
	points_disable(k);
	programs_disable(k);
	holds_disable(k);
	places_disable(k);
	holds_end(k);
	return each_cpu(k, cpu_disable, NULL);
}

/* What the event counted on this CPU so far, with what it counted before the CPU went away. */
static struct k_account cpu_account(const struct run_event *v, uint32_t cpu)
{
	const struct run_cpu *c = &v->cpu[cpu];
	struct reading now = { 0 };

	if (c->fd >= 0 && read(c->fd, &now, sizeof(now)) != sizeof(now))
		now = (struct reading){ 0 };
	return (struct k_account){
		.prog = v->prog,
		.cpu = cpu,
		.period = v->ev.period,
		.freq = v->ev.freq,
		.counted = c->counted + now.value,
		.enabled_ns = c->enabled_ns + now.enabled_ns,
		.running_ns = c->running_ns + now.running_ns,
	};
}

int k_accounts(struct k_run *k, struct k_account **ret, uint32_t *n, struct err *e)
{
	struct k_account *a = mem_alloc((size_t)k->nevents * k->ncpus * sizeof(*a));

	if (!a)
		return err_oom(e);
	*n = 0;
	for (uint32_t i = 0; i < k->nevents; i++)
		for (uint32_t cpu = 0; cpu < k->ncpus; cpu++)
			if (k->event[i].cpu[cpu].seen)
				a[(*n)++] = cpu_account(&k->event[i], cpu);
	*ret = a;
	return 0;
}

/* ---- CPUs that come and go ------------------------------------------------------------ */

static void cpu_gone(struct run_event *v, uint32_t cpu)
{
	struct k_account a = cpu_account(v, cpu);
	struct run_cpu *c = &v->cpu[cpu];

	close(c->fd);
	*c = (struct run_cpu){
		.fd = -1, .seen = true, .counted = a.counted, .enabled_ns = a.enabled_ns, .running_ns = a.running_ns
	};
}

static int cpu_came(struct k_run *k, struct run_event *v, uint32_t cpu, struct err *e)
{
	int rc = rings_add_cpu(k, cpu, e);

	if (rc == 0)
		rc = cpu_open(k, v, cpu, e);
	if (rc == 0 && k->enabled && (rc = cpu_enable(v, cpu, e)) == 0)
		rc = cpu_counts(v, cpu, e);
	return rc;
}

static int event_hotplug(struct k_run *k, struct run_event *v, struct err *e)
{
	uint64_t *set;
	int rc = event_cpus(&v->ev, k->ncpus, &set, e);

	if (rc < 0)
		return rc;
	for (uint32_t cpu = 0; rc == 0 && cpu < k->ncpus; cpu++) {
		bool online = cpus_has(set, cpu), open = v->cpu[cpu].fd >= 0;

		if (open && !online)
			cpu_gone(v, cpu);
		else if (online && !open)
			rc = cpu_came(k, v, cpu, e);
	}
	mem_free(set);
	return rc;
}

/* Whether the list of CPUs online is another one than last time: one small read, no parsing. */
static bool cpus_changed(struct k_run *k)
{
	bool first = k->online < 0;
	char text[4096];
	uint64_t hash;
	ssize_t n;

	if (first)
		k->online = open("/sys/devices/system/cpu/online", O_RDONLY | O_CLOEXEC);
	n = k->online < 0 ? -1 : pread(k->online, text, sizeof(text), 0);
	if (n <= 0)
		return false;
	hash = text_hash(text, (size_t)n);
	if (hash == k->online_hash)
		return false;
	k->online_hash = hash;
	return true;
}

int k_hotplug(struct k_run *k, struct err *e)
{
	int rc = 0;

	rings_reap(&k->rings);
	if (!cpus_changed(k))
		return 0;
	for (uint32_t i = 0; rc == 0 && i < k->nevents; i++)
		rc = event_hotplug(k, &k->event[i], e);
	if (rc == 0)
		rc = counters_hotplug(k, e);
	if (rc == 0 && k->tasks) {
		rc = k_tasks_online(k->tasks, e);
		k->waits_tasks = false;
	}
	return rc;
}
