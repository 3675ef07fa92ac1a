/*
 * stat_cpu_online.c: CPUs that come and go while whole CPUs are counted.
 *
 * Who is online is looked up some ten times a second, with each wait.  A CPU that comes is counted from then on;
 * of one that goes the kernel keeps what was counted, and says nothing, so we do.  A task's events go
 * where the task goes and need none of this.
 *
 * A CPU that is away for less than that is seen by the next reading only, and what it counted between its return
 * and that reading is missing; that is said, too.
 */
#include <string.h>

#include "ask/stat_cpu_int.h"

static size_t words_of(const struct stat_cpu *c)
{
	return (c->ncpus + 63) / 64;
}

static bool cpu_set_has(const uint64_t *set, uint32_t cpu)
{
	return set[cpu / 64] >> cpu % 64 & 1;
}

int cpu_online_begin(struct stat_cpu *c)
{
	struct err e = { 0 };
	int rc;

	if (c->ntasks)
		return 0;
	if (!c->online) {
		c->ncpus = k_ncpus_possible();
		c->online = mem_alloc(2 * words_of(c) * sizeof(*c->online));
	}
	if (!c->online)
		return plat_oom(c->p);
	rc = c->look(c->online, words_of(c), &e);
	return rc < 0 ? cpu_fail(c, rc, &e) : 0;
}

int cpu_slots_grow(struct stat_cpu *c, struct cpu_event *ev)
{
	uint32_t n = k_counter_slots(ev->k);
	struct cpu_slot *slot;
	struct k_count *got;

	if (n <= ev->nslots)
		return 0;
	slot = mem_grow(ev->slot, n * sizeof(*slot));
	if (slot)
		ev->slot = slot;
	got = slot ? mem_grow(ev->got, n * sizeof(*got)) : NULL;
	if (!got)
		return plat_oom(c->p);
	ev->got = got;
	for (uint32_t i = ev->nslots; i < n; i++)
		slot[i] = (struct cpu_slot){ .cpu = k_counter_cpu(ev->k, i) };
	ev->nslots = n;
	return 0;
}

static void cpu_event_mark(struct cpu_event *ev, uint32_t cpu, bool offline, uint64_t now)
{
	for (uint32_t i = 0; i < ev->nslots; i++)
		if (ev->slot[i].cpu == (int)cpu) {
			ev->slot[i].offline = offline;
			ev->slot[i].since_ns = now;
		}
}

/* Says what became of a CPU, if it is one that is counted. */
static void cpu_note_change(struct stat_cpu *c, uint32_t cpu, bool came, bool lapsed, uint64_t now)
{
	double s = (double)now / 1e9;
	bool ours = false;

	for (uint32_t i = 0; i < c->n; i++) {
		ours |= cpu_counts(&c->ev[i]) && k_counter_has(c->ev[i].k, (int)cpu);
		cpu_event_mark(&c->ev[i], cpu, !came && !lapsed, now);
	}
	if (ours && lapsed)
		plat_note(c->p, "CPU %u was offline for a moment; counted again from %.3f s", cpu, s);
	else if (ours && came)
		plat_note(c->p, "CPU %u came online: counted from %.3f s", cpu, s);
	else if (ours)
		plat_note(c->p, "CPU %u went offline: its counts end at %.3f s", cpu, s);
}

/* A CPU that is online, was when we last looked, and was not all the time between. */
static int cpu_any_lapsed(const struct stat_cpu *c, const uint64_t *now)
{
	int cpu = -1;

	for (uint32_t i = 0; cpu < 0 && i < c->n; i++)
		if (cpu_counts(&c->ev[i]))
			cpu = k_counter_lapsed(c->ev[i].k);
	return cpu >= 0 && cpu_set_has(now, (uint32_t)cpu) && cpu_set_has(c->online, (uint32_t)cpu) ? cpu : -1;
}

static int cpu_event_follow(struct stat_cpu *c, struct cpu_event *ev, const uint64_t *now)
{
	struct err e = { 0 };
	int rc = k_counter_follow(ev->k, ev->ev, ev->is.n, &c->target, now, &e);

	if (rc == -TALLY_ENOMEM || rc == -TALLY_EIO)
		return cpu_fail(c, rc, &e);
	if (rc < 0)
		plat_note(c->p, "%s: not counted on a CPU that came online: %s", ev->name, e.text);
	return cpu_slots_grow(c, ev);
}

int cpu_online_follow(struct stat_cpu *c)
{
	uint64_t *now = c->online ? c->online + words_of(c) : NULL, at = cpu_since(c);
	struct err e = { 0 };
	int again, rc = 0;

	if (!now || c->look(now, words_of(c), &e) < 0)
		return 0;
	again = cpu_any_lapsed(c, now);
	if (again < 0 && !memcmp(now, c->online, words_of(c) * sizeof(*now)))
		return 0;
	for (uint32_t i = 0; rc >= 0 && i < c->n; i++)
		if (cpu_counts(&c->ev[i]))
			rc = cpu_event_follow(c, &c->ev[i], now);
	for (uint32_t i = 0; i < c->ncpus; i++)
		if (cpu_set_has(now, i) != cpu_set_has(c->online, i) || (int)i == again)
			cpu_note_change(c, i, cpu_set_has(now, i), (int)i == again, at);
	memcpy(c->online, now, words_of(c) * sizeof(*now));
	return rc;
}
