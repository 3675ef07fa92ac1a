/*
 * counter.c: perf events that programs read, as counter() and vcounter() do.
 *
 * Such an event is opened on every CPU and put into the map through which programs find that of their own.  It counts
 * from then on until the run is closed.  One that takes a counter of the CPU is pinned: it counts always, or the run is
 * refused.  Where a CPU has none, a program's reading fails.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <unistd.h>

#include "kernel/kernel_int.h"
#include "kernel/libbpf_int.h"

static int counter_open(struct k_run *k, struct run_counter *c, uint32_t cpu, struct err *e)
{
	struct perf_event_attr a;
	uint64_t value;
	int fd;

	event_base(&a, &c->ev);
	a.pinned = c->ev.counter;
	fd = event_syscall(&a, c->ev.config3, -1, (int)cpu);
	if (fd == -ENODEV && !c->ev.counter)
		return 0; /* it went away meanwhile */
	if (fd < 0)
		return event_refused(&c->ev, cpu, -fd, e);
	c->fd[cpu] = fd;
	if (c->ev.counter && read(fd, &value, sizeof(value)) == 0)
		return event_starved_now(cpu, e);
	if (bpf_map_update_elem(k->map[c->map].fd, &cpu, &fd, BPF_ANY) < 0)
		return err_set(e, TALLY_EIO, "CPU %u: a program cannot be given the event: %s", cpu, strerror(errno));
	return 0;
}

/* Opens it where a CPU came, closes it where one went. */
static int counter_follow_cpus(struct k_run *k, struct run_counter *c, struct err *e)
{
	uint64_t *set;
	int rc = event_cpus(&c->ev, k->ncpus, &set, e);

	if (rc < 0)
		return rc;
	for (uint32_t cpu = 0; rc == 0 && cpu < k->ncpus; cpu++) {
		const bool online = cpus_has(set, cpu);

		if (c->fd[cpu] >= 0 && !online) {
			close(c->fd[cpu]);
			c->fd[cpu] = -1;
		} else if (c->fd[cpu] < 0 && online) {
			rc = counter_open(k, c, cpu, e);
		}
	}
	mem_free(set);
	return rc;
}

int k_count(struct k_run *k, uint32_t map, const struct k_event *ev, struct err *e)
{
	struct run_counter *c;

	if (map >= k->nmaps || k->map[map].type != IMG_EVENTS)
		return err_set(e, TALLY_EINVAL, "map %u takes no events", map);
	c = VEC_NEW(k->counter, k->ncounters, k->cap_counters);
	if (!c)
		return err_oom(e);
	*c = (struct run_counter){ .map = map, .ev = *ev, .fd = mem_alloc(k->ncpus * sizeof(*c->fd)) };
	if (!c->fd) {
		k->ncounters--;
		return err_oom(e);
	}
	for (uint32_t cpu = 0; cpu < k->ncpus; cpu++)
		c->fd[cpu] = -1;
	return counter_follow_cpus(k, c, e);
}

int k_count_threads(struct k_run *k, struct err *e)
{
	for (uint32_t i = 0; i < k->nmaps; i++)
		if (k->map[i].use == IMG_THREADS || k->map[i].use == IMG_TIMES)
			return thread_counts_open(k, e);
	return 0;
}

int counters_hotplug(struct k_run *k, struct err *e)
{
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && i < k->ncounters; i++)
		rc = counter_follow_cpus(k, &k->counter[i], e);
	return rc;
}

void counters_close(struct k_run *k)
{
	for (uint32_t i = 0; i < k->ncounters; i++) {
		for (uint32_t cpu = 0; cpu < k->ncpus; cpu++)
			if (k->counter[i].fd[cpu] >= 0)
				close(k->counter[i].fd[cpu]);
		mem_free(k->counter[i].fd);
	}
	mem_free(k->counter);
	k->counter = NULL;
	k->ncounters = k->cap_counters = 0;
	if (k->thread_count >= 0)
		close(k->thread_count);
	k->thread_count = -1;
}
