/*
 * kunpeng.c: a PCIe root complex with two cores, their endpoints and their PTT devices.
 *
 * The machine is a simulation of events in ns. A core has a set of timers, of which the earliest fires: a packet may
 * cross, a request is due at the memory, a job begins. A timer that fires sets other timers, never for the past. So
 * packets pass the core's device in their order, and the state at a moment does not depend on the steps in which time
 * advanced.
 *
 * The cores share nothing, not even random numbers: each has its own seed, derived from the machine's. They take
 * turns of SLICE_NS, so that both are nearly at the same time when one of them asks for a pause; the machine's time
 * is that of the slower core. Therefore a tunable of one core can change nothing on the other.
 *
 * Packets are shown to a device in batches of BATCH and at the end of each turn, and only while it traces. So a pause
 * takes effect at the end of a batch: at most BATCH records after the full buffer.
 *
 * kunpeng_path.c has the arithmetic of a setting; tests do it independently (test/lib/machine/kunpeng_forecast.c).
 *
 * Thread rule: one thread at a time for a whole machine. Nothing is allocated after kunpeng_open().
 */
#include <string.h>

#include "machine/kunpeng_int.h"

#define SLICE_NS 65536

/* ---- opening ---------------------------------------------------------------------------------------- */

static void open_lines(struct core *c)
{
	for (uint32_t i = 0; i < COUNT(c->timers.node); i++)
		c->timers.node[i] = UINT64_MAX;
	for (uint32_t i = 0; i < TIMERS; i++)
		timer_set(&c->timers, i, NEVER);
	for (int out = 0; out < 2; out++) {
		c->path[out].outbound = out;
		c->path[out].asleep = true;
		c->path[out].at = NEVER;
	}
}

static int open_core(struct kunpeng *k, uint32_t i, uint64_t seed)
{
	struct core *c = k->core[i] = mem_alloc(sizeof(*c));
	struct ptt_dev_opts o;

	place_device(i, &o);
	if (c == NULL || ptt_dev_open(&c->dev, &o) < 0)
		return -TALLY_ENOMEM;
	c->random = seed * 0xd1342543de82ef95ull + i;
	open_lines(c);
	place_open(c, i);
	path_tune(c);
	flow_open(c, k->load);
	return 0;
}

int kunpeng_open(struct kunpeng **ret, const struct kunpeng_opts *o, struct err *e)
{
	const char *name = o != NULL && o->load != NULL ? o->load : "mixed";
	uint64_t seed = o != NULL && o->seed != 0 ? o->seed : 1;
	const struct load *load = load_find(name, e);

	if (load == NULL)
		return -TALLY_EINVAL;
	struct kunpeng *k = mem_alloc(sizeof(*k));
	int rc = k != NULL ? 0 : -TALLY_ENOMEM;
	if (k != NULL)
		k->load = load;
	for (uint32_t i = 0; rc >= 0 && i < CORES; i++)
		rc = open_core(k, i, seed);
	if (rc < 0) {
		kunpeng_close(k);
		return err_oom(e);
	}
	*ret = k;
	return 0;
}

void kunpeng_close(struct kunpeng *k)
{
	for (uint32_t i = 0; k != NULL && i < CORES; i++) {
		if (k->core[i] != NULL)
			ptt_dev_close(k->core[i]->dev);
		mem_free(k->core[i]);
	}
	mem_free(k);
}

/* ---- time --------------------------------------------------------------------------------------------- */

static void core_react(struct core *c, uint32_t place)
{
	struct due d = line_take(c, TIMER_REACT + place, &c->react[place]);

	if (d.what == DELAYED_JOB)
		flow_next(c, d.id);
	else
		txn_answer(c, d.id);
}

static void core_fire_timer(struct core *c, uint32_t timer)
{
	if (timer < TIMER_REACT)
		txn_answer(c, line_take(c, timer, &c->memory[timer - TIMER_MEMORY]).id);
	else if (timer < TIMER_MEDIA)
		core_react(c, timer - TIMER_REACT);
	else if (timer < TIMER_GIVE_UP)
		flow_next(c, line_take(c, timer, &c->media[timer - TIMER_MEDIA]).id);
	else if (timer == TIMER_GIVE_UP)
		txn_give_up(c, line_take(c, timer, &c->give_up).id);
	else
		flow_due(c, timer - TIMER_FLOW);
}

/* The next event, when it is due by `until`. */
static inline bool core_step(struct core *c, uint64_t until)
{
	struct path *p = &c->path[c->path[1].at < c->path[0].at];
	uint64_t key = c->timers.node[1], at = key >> 6;
	bool crosses = p->at <= at;

	at = crosses ? p->at : at;
	if (at > until)
		return false;
	c->now = at;
	if (crosses)
		path_fire(c, p);
	else
		core_fire_timer(c, key & (TIMERS - 1));
	return true;
}

/* `paused` is of the whole machine; a core that comes after the one that paused still goes as far as that one. */
static uint64_t run_slice(struct kunpeng *k, uint64_t until)
{
	bool paused = false;

	for (uint32_t i = 0; i < CORES; i++) {
		struct core *c = k->core[i];
		if (c->now >= until)
			continue;
		k->paused = false;
		/* Up to and with `until`, or to a pause. */
		c->traced = ptt_dev_tracing(c->dev);
		path_tune(c);
		while (!k->paused && core_step(c, until))
			;
		if (!k->paused)
			c->now = until;
		path_flush(c);
		c->truth.ns = c->now;
		until = c->now < until ? c->now : until;
		paused |= k->paused;
	}
	k->paused = paused;
	return until;
}

void kunpeng_run(struct kunpeng *k, uint64_t ns)
{
	for (k->paused = false; k->now < ns && !k->paused;) {
		uint64_t left = ns - k->now, slice = SLICE_NS - k->now % SLICE_NS;
		k->now = run_slice(k, k->now + (left < slice ? left : slice));
	}
}

void kunpeng_pause(struct kunpeng *k)
{
	k->paused = true;
}

/* ---- looking -------------------------------------------------------------------------------------------- */

uint64_t kunpeng_now(const struct kunpeng *k)
{
	return k->now;
}

uint32_t kunpeng_ndevices(const struct kunpeng *k)
{
	(void)k;
	return CORES;
}

struct ptt_dev *kunpeng_device(struct kunpeng *k, uint32_t i)
{
	return i < CORES ? k->core[i]->dev : NULL;
}

const struct ptt_pmu *kunpeng_pmu(struct kunpeng *k, uint32_t i)
{
	return i < CORES ? &k->core[i]->pmu : NULL;
}

void kunpeng_give(struct kunpeng *k, uint32_t i)
{
	if (i < CORES)
		k->given[i] = true;
}

bool kunpeng_given(const struct kunpeng *k, uint32_t i)
{
	return i < CORES && k->given[i];
}

const struct kunpeng_truth *kunpeng_truth(const struct kunpeng *k, uint32_t i)
{
	return i < CORES ? &k->core[i]->truth : NULL;
}

void kunpeng_link(const struct kunpeng *k, uint32_t i, struct ptt_link *ret)
{
	const struct kunpeng_truth *t = &k->core[i]->truth;

	*ret = (struct ptt_link){ .ns = k->now };
	static_assert(sizeof(ret->tlps) == sizeof(t->tlps) && sizeof(ret->bytes) == sizeof(t->bytes),
		      "the same counts");
	memcpy(ret->tlps, t->tlps, sizeof(ret->tlps));
	memcpy(ret->bytes, t->bytes, sizeof(ret->bytes));
}

uint32_t kunpeng_generation(const struct kunpeng *k)
{
	return k->generation;
}
