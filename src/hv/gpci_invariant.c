/*
 * gpci_invariant.c: what the counters of a POWER machine obey, as far as an asker can see it.
 *
 * An invariant speaks of what records say alone: of one snapshot, or of two.  What an asker cannot know is not held
 * against the platform: counters of deleted partitions are gone, so sums are compared between two snapshots that have
 * the same partitions and owners, and are bounds otherwise; a partition whose counters began anew is another one;
 * entitlements and numbers of virtual processors count where they are the same before and after.
 *
 * An invariant is unknown if it lacks a table, an earlier snapshot, or a platform that stood still.  Its reason names
 * what is missing.
 */
#include <stdio.h>

#include "hv/gpci_guest_int.h"

#define WINDOW 5120000u /* ticks of a dispatch window: 10 ms of a 512 MHz timebase */
#define TB_MHZ 512u
#define MASK(t) (1u << TABLE_##t)
enum { NOT_SHARED_FROM = 5, SHARED = 4, BORROWED = 5, DEDICATED = 6, UNUSABLE_UPTO = 3 };

struct view {
	const struct gpci_snapshot *was, *is; /* was: NULL: none */
	bool same;                            /* the same partitions, and the same owners of processors, in both */
	bool timed;                           /* elapsed is known */
	uint64_t elapsed;                     /* ticks between both */
	struct err *e;
};

/* ---- reaching for values --------------------------------------------------------------------------------- */

static bool invariant_find_field(const struct gpci_table *t, const char *name, uint32_t *place)
{
	for (uint32_t i = 0; t->r && i < t->r->nfields; i++)
		if (!strcmp(t->r->field[i].name, name)) {
			*place = i;
			return true;
		}
	return false;
}

/* A field of a record; 0 where this layout has none. */
static uint64_t invariant_field(const struct gpci_table *t, const struct gpci_values *v, const char *name)
{
	uint32_t place;

	return invariant_find_field(t, name, &place) ? v->v[place] : 0;
}

static const struct gpci_table *invariant_now(const struct view *v, enum snapshot_table t)
{
	return &v->is->all[t];
}

/* The same record in the earlier snapshot; NULL. */
static const struct gpci_values *invariant_earlier(const struct view *v, enum snapshot_table t,
						   const struct gpci_values *r)
{
	return v->was && v->was->all[t].r ? gpci_table_find(&v->was->all[t], r->id, r->secondary) : NULL;
}

/* How much a counter of both grew. */
static uint64_t invariant_field_grew(const struct view *v, enum snapshot_table t, const struct gpci_values *then,
				     const struct gpci_values *r, const char *name)
{
	return invariant_field(invariant_now(v, t), r, name) - invariant_field(&v->was->all[t], then, name);
}

static uint64_t invariant_field_sum(const struct gpci_table *t, const char *name)
{
	uint64_t all = 0;

	for (uint32_t i = 0; i < t->n; i++)
		all += invariant_field(t, &t->v[i], name);
	return all;
}

static uint64_t sum_grew(const struct view *v, enum snapshot_table t, const char *name)
{
	return invariant_field_sum(invariant_now(v, t), name) - invariant_field_sum(&v->was->all[t], name);
}

static uint64_t invariant_consumed(const struct gpci_table *t, const struct gpci_values *r)
{
	return invariant_field(t, r, "capped") + invariant_field(t, r, "uncapped");
}

static uint64_t consumed_since(const struct view *v, const struct gpci_values *then, const struct gpci_values *r)
{
	return invariant_field_grew(v, TABLE_PARTITIONS, then, r, "capped") +
	       invariant_field_grew(v, TABLE_PARTITIONS, then, r, "uncapped");
}

/* Processors that a partition owns: none of a shared one. */
static uint32_t invariant_partition_owned(const struct gpci_snapshot *s, uint64_t partition)
{
	const struct gpci_table *t = &s->all[TABLE_PROCESSORS];
	uint32_t n = 0;

	for (uint32_t i = 0; i < t->n; i++)
		n += invariant_field(t, &t->v[i], "owner") == partition &&
		     invariant_field(t, &t->v[i], "state") >= NOT_SHARED_FROM;
	return n;
}

static uint32_t invariant_partition_vps(const struct gpci_snapshot *s, uint64_t partition)
{
	const struct gpci_table *t = &s->all[TABLE_VPS];
	uint32_t n = 0;

	while (gpci_table_find(t, partition, n))
		n++;
	return n;
}

/* Hundredths of a core that a partition has; 0: not known. */
static uint64_t invariant_partition_units(const struct gpci_snapshot *s, uint64_t partition)
{
	const struct gpci_values *r = gpci_table_find(&s->all[TABLE_DOMAINS], partition, 0);
	uint64_t n = 0;

	for (uint32_t i = 0; r && i < r->nelements; i++)
		n += r->element[i].units[0] + r->element[i].units[1];
	return n;
}

/* Its entitlement, if that is known and the same in both snapshots; else 0. */
static uint64_t invariant_partition_entitlement(const struct view *v, uint64_t partition)
{
	uint64_t n = invariant_partition_units(v->is, partition);

	return v->was && v->same && v->timed && n == invariant_partition_units(v->was, partition) ? n : 0;
}

static uint64_t invariant_magnitude(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

/* ---- verdicts -------------------------------------------------------------------------------------------- */

#define BROKEN(v, ...) (err_set((v)->e, TALLY_ESTATE, __VA_ARGS__), GPCI_BROKEN)
#define LL(x) ((unsigned long long)(x))

static enum gpci_verdict invariant_unknown(struct err *e, const char *why, const char *what)
{
	err_set(e, TALLY_ENOTSUP, "%s%s", why, what);
	return GPCI_UNKNOWN;
}

/* ---- the invariants -------------------------------------------------------------------------------------------- */

static enum gpci_verdict gpci_invariant_processors_ran_what_was_consumed(const struct view *v)
{
	const struct gpci_table *q = invariant_now(v, TABLE_PARTITIONS);
	uint64_t ran = invariant_field_sum(invariant_now(v, TABLE_PROCESSORS), "processor_time"),
		 took = invariant_field_sum(q, "capped") + invariant_field_sum(q, "uncapped");

	if (ran < took)
		return BROKEN(v, "processors ran %llu cycles, partitions consumed %llu", LL(ran), LL(took));
	if (!v->was || !v->same)
		return GPCI_HOLDS;
	ran = sum_grew(v, TABLE_PROCESSORS, "processor_time");
	took = sum_grew(v, TABLE_PARTITIONS, "capped") + sum_grew(v, TABLE_PARTITIONS, "uncapped");
	return ran == took ?
		       GPCI_HOLDS :
		       BROKEN(v, "processors ran %llu cycles meanwhile, partitions consumed %llu", LL(ran), LL(took));
}

/* Ticks since boot; 0: not known. */
static uint64_t invariant_timebase(const struct gpci_snapshot *s)
{
	const struct gpci_table *cores = &s->all[TABLE_CORES], *parts = &s->all[TABLE_INSTRUCTIONS];

	return cores->n ? invariant_field(cores, &cores->v[0], "timebase") :
	       parts->n ? invariant_field(parts, &parts->v[0], "time") :
			  0;
}

static enum gpci_verdict gpci_invariant_processors_run_within_time(const struct view *v)
{
	const struct gpci_table *t = invariant_now(v, TABLE_PROCESSORS);
	uint64_t since_boot = invariant_timebase(v->is);

	for (uint32_t i = 0; i < t->n; i++) {
		const struct gpci_values *r = &t->v[i], *then = invariant_earlier(v, TABLE_PROCESSORS, r);
		uint64_t time = invariant_field(t, r, "processor_time");
		uint64_t more = then ? invariant_field_grew(v, TABLE_PROCESSORS, then, r, "processor_time") : 0;

		if (since_boot && time > since_boot)
			return BROKEN(v, "processor %llu ran %llu cycles of %llu since boot", LL(r->id), LL(time),
				      LL(since_boot));
		if (then && v->timed && more > v->elapsed)
			return BROKEN(v, "processor %llu ran %llu cycles in %llu", LL(r->id), LL(more), LL(v->elapsed));
		if (more && invariant_field(t, r, "state") <= UNUSABLE_UPTO &&
		    invariant_field(&v->was->all[TABLE_PROCESSORS], then, "state") <= UNUSABLE_UPTO)
			return BROKEN(v, "processor %llu is in no use, but ran %llu cycles", LL(r->id), LL(more));
	}
	return GPCI_HOLDS;
}

static uint32_t shared_processors(const struct gpci_snapshot *s)
{
	const struct gpci_table *t = &s->all[TABLE_PROCESSORS];
	uint32_t n = 0;

	for (uint32_t i = 0; i < t->n; i++)
		n += invariant_field(t, &t->v[i], "state") == SHARED;
	return n;
}

/* One partition: capped within entitled, and that grows with its entitlement, but for the window that is being
 * served. */
static enum gpci_verdict gpci_invariant_capped_of(const struct view *v, const struct gpci_values *r, uint64_t *shared)
{
	const struct gpci_table *t = invariant_now(v, TABLE_PARTITIONS);
	const struct gpci_values *then = invariant_earlier(v, TABLE_PARTITIONS, r);
	uint64_t has = invariant_field(t, r, "entitled"), capped = invariant_field(t, r, "capped"),
		 ec = invariant_partition_entitlement(v, r->id), more;

	if (capped > has)
		return BROKEN(v, "partition %llu consumed %llu capped cycles of %llu entitled ones", LL(r->id),
			      LL(capped), LL(has));
	if (!then || !v->same)
		return GPCI_HOLDS;
	more = invariant_field_grew(v, TABLE_PARTITIONS, then, r, "entitled");
	*shared += invariant_partition_owned(v->is, r->id) ? 0 : more;
	if (ec && invariant_magnitude(more, ec * v->elapsed / 100) > ec * WINDOW / 100 + 1)
		return BROKEN(v, "partition %llu has %llu.%02llu cores, but was entitled to %llu cycles in %llu",
			      LL(r->id), LL(ec / 100), LL(ec % 100), LL(more), LL(v->elapsed));
	return GPCI_HOLDS;
}

static enum gpci_verdict gpci_invariant_capped_within_entitled(const struct view *v)
{
	const struct gpci_table *t = invariant_now(v, TABLE_PARTITIONS);
	uint64_t shared = 0, most = shared_processors(v->is) * v->elapsed;

	for (uint32_t i = 0; i < t->n; i++)
		if (gpci_invariant_capped_of(v, &t->v[i], &shared) == GPCI_BROKEN)
			return GPCI_BROKEN;
	if (v->was && v->same && v->timed && shared > most)
		return BROKEN(v, "shared partitions were entitled to %llu cycles, shared processors have %llu",
			      LL(shared), LL(most));
	return GPCI_HOLDS;
}

static enum gpci_verdict gpci_invariant_uncapped_behind_entitlement(const struct view *v)
{
	const struct gpci_table *t = invariant_now(v, TABLE_PARTITIONS);

	/* What has an entitlement here was there before. */
	for (uint32_t i = 0; i < t->n; i++) {
		const struct gpci_values *r = &t->v[i], *then = invariant_earlier(v, TABLE_PARTITIONS, r);
		uint64_t ec = invariant_partition_entitlement(v, r->id), capped;

		if (!ec || invariant_partition_owned(v->is, r->id) ||
		    !invariant_field_grew(v, TABLE_PARTITIONS, then, r, "uncapped"))
			continue;
		capped = invariant_field_grew(v, TABLE_PARTITIONS, then, r, "capped");
		if (capped < ec * WINDOW / 100)
			return BROKEN(v, "partition %llu took uncapped cycles, but of its entitlement only %llu",
				      LL(r->id), LL(capped));
	}
	return GPCI_HOLDS;
}

static enum gpci_verdict gpci_invariant_partitions_within_their_processors(const struct view *v)
{
	const struct gpci_table *t = invariant_now(v, TABLE_PARTITIONS);

	if (!v->timed)
		return invariant_unknown(v->e, "the time between both is not known", "");
	for (uint32_t i = 0; v->same && i < t->n; i++) {
		const struct gpci_values *r = &t->v[i];
		uint32_t n = invariant_partition_vps(v->is, r->id);
		uint64_t took = consumed_since(v, invariant_earlier(v, TABLE_PARTITIONS, r), r);

		if (n == invariant_partition_vps(v->was, r->id) && took > n * v->elapsed)
			return BROKEN(v, "partition %llu with %u virtual processors consumed %llu cycles in %llu",
				      LL(r->id), n, LL(took), LL(v->elapsed));
	}
	return GPCI_HOLDS;
}

static enum gpci_verdict gpci_invariant_dedicated_and_shared(const struct view *v)
{
	const struct gpci_table *t = invariant_now(v, TABLE_PARTITIONS);

	for (uint32_t i = 0; i < t->n; i++) {
		const struct gpci_values *r = &t->v[i];
		uint64_t gave = invariant_field(t, r, "donated"), uncapped = invariant_field(t, r, "uncapped"),
			 used = invariant_field(t, r, "capped") + gave;
		bool dedicated = invariant_partition_owned(v->is, r->id) > 0;

		if (dedicated && uncapped)
			return BROKEN(v, "partition %llu is dedicated, but has %llu uncapped cycles", LL(r->id),
				      LL(uncapped));
		if (dedicated && used > invariant_field(t, r, "entitled"))
			return BROKEN(v, "partition %llu used and donated %llu cycles of %llu entitled ones", LL(r->id),
				      LL(used), LL(invariant_field(t, r, "entitled")));
		if (!dedicated && gave)
			return BROKEN(v, "partition %llu is shared, but donated %llu cycles", LL(r->id), LL(gave));
	}
	return GPCI_HOLDS;
}

/* What a dedicated partition's processors ran is its own and what it gave. */
static enum gpci_verdict gpci_invariant_donated_of(const struct view *v, const struct gpci_values *r,
						   const struct gpci_values *then)
{
	const struct gpci_table *p = invariant_now(v, TABLE_PROCESSORS);
	uint64_t own = invariant_field_grew(v, TABLE_PARTITIONS, then, r, "capped"),
		 gave = invariant_field_grew(v, TABLE_PARTITIONS, then, r, "donated");
	uint64_t ran = 0;

	for (uint32_t i = 0; i < p->n; i++) {
		const struct gpci_values *was = invariant_earlier(v, TABLE_PROCESSORS, &p->v[i]);

		if (was && invariant_field(p, &p->v[i], "owner") == r->id)
			ran += invariant_field_grew(v, TABLE_PROCESSORS, was, &p->v[i], "processor_time");
	}
	if (ran != own + gave)
		return BROKEN(v, "the processors of partition %llu ran %llu cycles, it consumed %llu and donated %llu",
			      LL(r->id), LL(ran), LL(own), LL(gave));
	return GPCI_HOLDS;
}

static enum gpci_verdict gpci_invariant_donated_is_consumed(const struct view *v)
{
	const struct gpci_table *t = invariant_now(v, TABLE_PARTITIONS);
	uint64_t gave, took;

	if (!v->same)
		return GPCI_HOLDS;
	gave = sum_grew(v, TABLE_PARTITIONS, "donated");
	took = sum_grew(v, TABLE_PARTITIONS, "uncapped");
	if (gave > took)
		return BROKEN(v, "%llu cycles were donated, %llu taken uncapped", LL(gave), LL(took));
	for (uint32_t i = 0; i < t->n; i++) {
		const struct gpci_values *then = invariant_earlier(v, TABLE_PARTITIONS, &t->v[i]);

		if (then && invariant_partition_owned(v->is, t->v[i].id) &&
		    gpci_invariant_donated_of(v, &t->v[i], then) == GPCI_BROKEN)
			return GPCI_BROKEN;
	}
	return GPCI_HOLDS;
}

static enum gpci_verdict gpci_invariant_idle_within_consumed(const struct view *v)
{
	const struct gpci_table *t = invariant_now(v, TABLE_PARTITIONS);

	for (uint32_t i = 0; i < t->n; i++) {
		const struct gpci_values *r = &t->v[i],
					 *then = v->same ? invariant_earlier(v, TABLE_PARTITIONS, r) : NULL;
		uint64_t idle = invariant_field(t, r, "idle"), took = invariant_consumed(t, r);

		if (idle > took)
			return BROKEN(v, "partition %llu was idle for %llu cycles of %llu consumed ones", LL(r->id),
				      LL(idle), LL(took));
		if (then && invariant_field_grew(v, TABLE_PARTITIONS, then, r, "idle") > consumed_since(v, then, r))
			return BROKEN(v, "partition %llu was idle for more cycles than it consumed meanwhile",
				      LL(r->id));
	}
	return GPCI_HOLDS;
}

/* Run cycles are the busy cycles at the core's clock, where that does not change. A processor may count none at all. */
static enum gpci_verdict invariant_clocked(const struct view *v, uint64_t mhz)
{
	const struct gpci_table *q = invariant_now(v, TABLE_PARTITIONS), *run = invariant_now(v, TABLE_RUN),
				*mode = invariant_now(v, TABLE_MODE);

	for (uint32_t i = 0; i < q->n; i++) {
		const struct gpci_values *r = &q->v[i], *counts = gpci_table_find(run, r->id, 0);
		const struct gpci_values *m = gpci_table_find(mode, r->id, 0);
		uint64_t busy = invariant_consumed(q, r) - invariant_field(q, r, "idle"),
			 cycles = counts ? invariant_field(run, counts, "cycles") : 0;
		unsigned __int128 least = (unsigned __int128)busy * mhz / TB_MHZ,
				  most = (unsigned __int128)busy * (mhz + 1) / TB_MHZ;

		if (counts && m && invariant_field(mode, m, "mode") == 1 && (cycles + 1 < least || cycles > most + 1))
			return BROKEN(v, "partition %llu was busy for %llu ticks, but has %llu run cycles at %llu MHz",
				      LL(r->id), LL(busy), LL(cycles), LL(mhz));
	}
	return GPCI_HOLDS;
}

static enum gpci_verdict gpci_invariant_runs_are_those_of_cores(const struct view *v)
{
	static const struct {
		const char *of_partition, *of_core, *what;
	} rows[] = {
		{ "cycles", "cycles_all_threads", "run cycles" },
		{ "instructions", "instructions", "instructions" },
	};
	const struct gpci_table *run = invariant_now(v, TABLE_RUN), *cores = invariant_now(v, TABLE_CORES),
				*clock = invariant_now(v, TABLE_FREQUENCY);

	for (uint32_t i = 0; i < COUNT(rows); i++) {
		uint64_t a = invariant_field_sum(run, rows[i].of_partition),
			 b = invariant_field_sum(cores, rows[i].of_core);

		if (a > b)
			return BROKEN(v, "partitions have %llu %s, cores %llu", LL(a), rows[i].what, LL(b));
		if (!v->was || !v->same || !v->was->all[TABLE_RUN].r || !v->was->all[TABLE_CORES].r)
			continue;
		a = sum_grew(v, TABLE_RUN, rows[i].of_partition);
		b = sum_grew(v, TABLE_CORES, rows[i].of_core);
		if (a != b)
			return BROKEN(v, "partitions had %llu %s meanwhile, cores %llu", LL(a), rows[i].what, LL(b));
	}
	if (!clock->n ||
	    invariant_field(clock, &clock->v[0], "nominal") != invariant_field(clock, &clock->v[0], "current") ||
	    !invariant_field_sum(cores, "cycles_all_threads"))
		return GPCI_HOLDS;
	return invariant_clocked(v, invariant_field(clock, &clock->v[0], "current"));
}

/* ---- links ----------------------------------------------------------------------------------------------- */

struct link {
	uint64_t idle, time;
	bool wired;
};

/* Link `letter` of a chip, in either layout. */
static struct link link_of(const struct gpci_table *t, const struct gpci_values *r, char letter)
{
	const char idle[] = { 'i', 'd', 'l', 'e', '_', letter, '\0' },
		   time[] = { 't', 'i', 'm', 'e', '_', letter, '\0' };
	struct link l = { .idle = invariant_field(t, r, idle) };
	uint32_t place;

	l.wired = l.idle != UINT64_MAX;
	l.time = invariant_find_field(t, "total", &place) ? r->v[place] : invariant_field(t, r, time);
	return l;
}

static enum gpci_verdict link_invariant(const struct view *v, enum snapshot_table which, const struct gpci_values *r,
					char letter, uint64_t time)
{
	const struct gpci_table *t = invariant_now(v, which);
	const struct gpci_values *then = invariant_earlier(v, which, r);
	struct link l = link_of(t, r, letter), was;

	if (l.time != time)
		return BROKEN(v, "link %c of chip %llu was collected at another time than the first", letter,
			      LL(r->id));
	if (l.wired && l.idle > l.time)
		return BROKEN(v, "link %c of chip %llu was idle for %llu cycles of %llu", letter, LL(r->id), LL(l.idle),
			      LL(l.time));
	if (!then)
		return GPCI_HOLDS;
	was = link_of(&v->was->all[which], then, letter);
	if (was.wired != l.wired)
		return BROKEN(v, "link %c of chip %llu is wired in one snapshot only", letter, LL(r->id));
	if (l.wired && l.idle - was.idle > l.time - was.time)
		return BROKEN(v, "link %c of chip %llu was idle for more cycles than passed", letter, LL(r->id));
	return GPCI_HOLDS;
}

/* The chip of a node with a number in it; NULL. */
static const struct gpci_values *chip_at(const struct gpci_table *t, uint64_t node, uint64_t fabric)
{
	for (uint32_t i = 0; i < t->n; i++)
		if (invariant_field(t, &t->v[i], "hw_node_id") == node &&
		    invariant_field(t, &t->v[i], "fabric_chip_id") == fabric)
			return &t->v[i];
	return NULL;
}

/* Both ends of a cable: `there` is what the topology says at link `letter` of chip `a`. Which link of the other chip
 * leads back is what it says of a; of three or more, one that is not told (link C) is left out. */
static enum gpci_verdict invariant_cable(const struct view *v, enum snapshot_table which, const struct gpci_values *a,
					 const struct gpci_values *b, char letter, const char *letters,
					 const char *prefix, uint64_t back)
{
	const struct gpci_table *t = invariant_now(v, which), *d = invariant_now(v, TABLE_TOPOLOGY);
	const struct gpci_values *ra = gpci_table_find(t, a->id, 0), *rb = b ? gpci_table_find(t, b->id, 0) : NULL;

	for (; ra && rb && *letters; letters++) {
		const char name[] = { prefix[0], prefix[1], prefix[2], prefix[3], '_', *letters, '\0' };
		struct link x = link_of(t, ra, letter), y = link_of(t, rb, *letters);

		if (invariant_field(d, b, name) != back || !x.wired || !y.wired)
			continue;
		if (x.time - x.idle != y.time - y.idle)
			return BROKEN(v,
				      "link %c of chip %llu was busy for %llu cycles, "
				      "its other end, %c of chip %llu, for %llu",
				      letter, LL(a->id), LL(x.time - x.idle), *letters, LL(b->id), LL(y.time - y.idle));
	}
	return GPCI_HOLDS;
}

static enum gpci_verdict invariant_cables(const struct view *v)
{
	const struct gpci_table *d = invariant_now(v, TABLE_TOPOLOGY);

	for (uint32_t i = 0; i < d->n; i++) {
		const struct gpci_values *a = &d->v[i];
		uint64_t node = invariant_field(d, a, "hw_node_id"), fabric = invariant_field(d, a, "fabric_chip_id");
		uint64_t installed = invariant_field(d, a, "installed");

		for (uint32_t l = 0; l < 4; l++) {
			const char name[] = { 'c', 'h', 'i', 'p', '_', "wxyz"[l], '\0' };

			if (installed >> (8 + l) & 1 &&
			    invariant_cable(v, TABLE_WXYZ, a, chip_at(d, node, invariant_field(d, a, name)), "wxyz"[l],
					    "wxyz", "chip", fabric) == GPCI_BROKEN)
				return GPCI_BROKEN;
		}
		for (uint32_t l = 0; l < 2; l++) {
			const char name[] = { 'n', 'o', 'd', 'e', '_', "ab"[l], '\0' };

			if (installed >> l & 1 &&
			    invariant_cable(v, TABLE_ABC, a, chip_at(d, invariant_field(d, a, name), fabric), "ab"[l],
					    "ab", "node", node) == GPCI_BROKEN)
				return GPCI_BROKEN;
		}
	}
	return GPCI_HOLDS;
}

/* What the topology calls installed has counters, and nothing else has. */
static enum gpci_verdict invariant_wired(const struct view *v, enum snapshot_table which, const struct gpci_values *r,
					 const char *letters, uint32_t bit)
{
	const struct gpci_table *d = invariant_now(v, TABLE_TOPOLOGY);
	const struct gpci_values *chip = d->r ? gpci_table_find(d, r->id, 0) : NULL;
	uint64_t time = link_of(invariant_now(v, which), &invariant_now(v, which)->v[0], letters[0]).time;

	for (uint32_t l = 0; letters[l]; l++) {
		bool is = link_of(invariant_now(v, which), r, letters[l]).wired;

		if (link_invariant(v, which, r, letters[l], time) == GPCI_BROKEN)
			return GPCI_BROKEN;
		if (chip && is != (invariant_field(d, chip, "installed") >> (bit + l) & 1))
			return BROKEN(v, "link %c of chip %llu is %s, but the topology says otherwise", letters[l],
				      LL(r->id), is ? "wired" : "not wired");
	}
	return GPCI_HOLDS;
}

static enum gpci_verdict gpci_invariant_cables_have_two_ends(const struct view *v)
{
	static const struct {
		uint8_t table;
		const char *letters;
		uint32_t bit;
	} rows[] = {
		{ TABLE_ABC, "abc", 0 },
		{ TABLE_WXYZ, "wxyz", 8 },
	};

	for (uint32_t k = 0; k < COUNT(rows); k++) {
		const struct gpci_table *t = invariant_now(v, rows[k].table);

		for (uint32_t i = 0; i < t->n; i++)
			if (invariant_wired(v, rows[k].table, &t->v[i], rows[k].letters, rows[k].bit) == GPCI_BROKEN)
				return GPCI_BROKEN;
	}
	return invariant_cables(v);
}

/* ---- memory controllers ------------------------------------------------------------------------------------ */

/* No text tells how wide they are. These are the models', and nothing else is asked: of a real machine the kernel tells
 * differences alone. */
enum { CABLE_BYTES = 8, CONTROLLER_BYTES = 16, FRAME_BYTES = 64, CLOCK = 4, ROUNDING = 256 };

/* Bytes that went over the cables of these letters: each cable has two ends. */
static uint64_t cables_carried(const struct gpci_table *t, const char *letters)
{
	uint64_t cycles = 0;

	for (uint32_t i = 0; i < t->n; i++)
		for (const char *l = letters; *l; l++) {
			const struct link k = link_of(t, &t->v[i], *l);

			cycles += k.wired ? k.time - k.idle : 0;
		}
	return cycles * CABLE_BYTES / 2;
}

/* A byte for another chip goes over one cable between nodes at most, and one within a node. Both counts are of whole
 * cycles and frames, cut off once a window. */
static enum gpci_verdict cables_within_controllers(const struct view *v, enum snapshot_table which, const char *letters)
{
	const struct gpci_table *mc = invariant_now(v, TABLE_MC), *was = v->was ? &v->was->all[TABLE_MC] : NULL;
	const struct gpci_table *cables = invariant_now(v, which), *then = v->was ? &v->was->all[which] : NULL;
	uint64_t moved = (invariant_field_sum(mc, "mc0_frames") + invariant_field_sum(mc, "mc1_frames")) * FRAME_BYTES,
		 carried = cables_carried(cables, letters), time = invariant_field_sum(mc, "mc0_total"), rest;

	if (was && was->n == mc->n && then->n == cables->n) {
		moved -=
			(invariant_field_sum(was, "mc0_frames") + invariant_field_sum(was, "mc1_frames")) * FRAME_BYTES;
		carried -= cables_carried(then, letters);
		time -= invariant_field_sum(was, "mc0_total");
	}
	rest = ROUNDING * (mc->n + time / (WINDOW * CLOCK));
	if (carried > moved + rest)
		return BROKEN(v, "links %s carried %llu bytes, memory controllers moved %llu", letters, LL(carried),
			      LL(moved));
	return GPCI_HOLDS;
}

static enum gpci_verdict controller_frames(const struct view *v, const struct gpci_values *r, const char *name)
{
	const struct gpci_table *t = invariant_now(v, TABLE_MC);
	char frames[16], reads[16], writes[16], total[16];

	snprintf(frames, sizeof(frames), "%s_frames", name);
	snprintf(reads, sizeof(reads), "%s_reads", name);
	snprintf(writes, sizeof(writes), "%s_writes", name);
	snprintf(total, sizeof(total), "%s_total", name);
	if (invariant_field(t, r, frames) != invariant_field(t, r, reads) + invariant_field(t, r, writes))
		return BROKEN(v, "%s of chip %llu: %llu frames, %llu reads and %llu writes", name, LL(r->id),
			      LL(invariant_field(t, r, frames)), LL(invariant_field(t, r, reads)),
			      LL(invariant_field(t, r, writes)));
	if (invariant_field(t, r, frames) > invariant_field(t, r, total) / (FRAME_BYTES / CONTROLLER_BYTES))
		return BROKEN(v, "%s of chip %llu: %llu frames in %llu cycles", name, LL(r->id),
			      LL(invariant_field(t, r, frames)), LL(invariant_field(t, r, total)));
	return GPCI_HOLDS;
}

static enum gpci_verdict gpci_invariant_controllers_serve_the_cables(const struct view *v)
{
	const struct gpci_table *t = invariant_now(v, TABLE_MC);

	for (uint32_t i = 0; i < t->n; i++)
		if (controller_frames(v, &t->v[i], "mc0") == GPCI_BROKEN ||
		    controller_frames(v, &t->v[i], "mc1") == GPCI_BROKEN)
			return GPCI_BROKEN;
	if (cables_within_controllers(v, TABLE_WXYZ, "wxyz") == GPCI_BROKEN)
		return GPCI_BROKEN;
	return cables_within_controllers(v, TABLE_ABC, "abc");
}

/* ---- HPMC, order, paging, views -------------------------------------------------------------------------- */

/* Two collections under one MMCRH: what was counted since, and what is counted, grew alike; none between: nothing
 * did. */
static enum gpci_verdict invariant_collected(const struct view *v, const struct gpci_values *r,
					     const struct gpci_values *then)
{
	static const char *const names[][2] = { { "hpmc3", "hpmc3_now" }, { "hpmc4", "hpmc4_now" } };
	const struct gpci_table *t = invariant_now(v, TABLE_HPMC), *was = &v->was->all[TABLE_HPMC];
	uint64_t more = invariant_field(t, r, "elapsed") - invariant_field(was, then, "elapsed");

	if (invariant_field(t, r, "mmcrh") != invariant_field(was, then, "mmcrh") ||
	    invariant_field(t, r, "elapsed") < invariant_field(was, then, "elapsed"))
		return GPCI_HOLDS;
	for (uint32_t k = 0; k < COUNT(names); k++) {
		uint64_t since = invariant_field_grew(v, TABLE_HPMC, then, r, names[k][0]),
			 all = invariant_field_grew(v, TABLE_HPMC, then, r, names[k][1]);

		if (more ? since != all : since || all)
			return BROKEN(v, "processor %llu: %s grew by %llu, %s by %llu in %llu ticks", LL(r->id),
				      names[k][0], LL(since), names[k][1], LL(all), LL(more));
	}
	return GPCI_HOLDS;
}

static enum gpci_verdict gpci_invariant_hpmc_go_together(const struct view *v)
{
	const struct gpci_table *t = invariant_now(v, TABLE_HPMC);

	for (uint32_t i = 0; i < t->n; i++) {
		const struct gpci_values *r = &t->v[i], *then = invariant_earlier(v, TABLE_HPMC, r);

		if (invariant_field(t, r, "mmcrh") != invariant_field(t, &t->v[0], "mmcrh") ||
		    invariant_field(t, r, "elapsed") != invariant_field(t, &t->v[0], "elapsed"))
			return BROKEN(v, "processor %llu has another MMCRH or collection than the first", LL(r->id));
		if (invariant_field(t, r, "hpmc3") > invariant_field(t, r, "hpmc3_now") ||
		    invariant_field(t, r, "hpmc4") > invariant_field(t, r, "hpmc4_now"))
			return BROKEN(v, "processor %llu counted more since MMCRH was set than ever", LL(r->id));
		if (then && invariant_collected(v, r, then) == GPCI_BROKEN)
			return GPCI_BROKEN;
	}
	return GPCI_HOLDS;
}

static bool is_none(const struct gpci_field *f, uint64_t value)
{
	return f->flags & GPCI_F_NONE && value == UINT64_MAX;
}

/* A partition whose counters began anew, and can have come so far since: it was deleted and created. */
static bool invariant_partition_is_anew(const struct view *v, uint64_t partition)
{
	const struct gpci_table *t = invariant_now(v, TABLE_PARTITIONS);
	const struct gpci_values *r = gpci_table_find(t, partition, 0),
				 *then = r ? invariant_earlier(v, TABLE_PARTITIONS, r) : NULL;
	uint32_t n = invariant_now(v, TABLE_VPS)->r ? invariant_partition_vps(v->is, partition) :
						      invariant_now(v, TABLE_PROCESSORS)->n;
	uint64_t most = v->timed ? n * v->elapsed : UINT64_MAX, entitled;

	if (!then)
		return false;
	entitled = invariant_field(t, r, "entitled");
	return entitled < invariant_field(&v->was->all[TABLE_PARTITIONS], then, "entitled") && entitled <= most &&
	       invariant_consumed(t, r) <= most;
}

static enum gpci_verdict invariant_monotonic(const struct view *v, enum snapshot_table which)
{
	const struct gpci_table *t = invariant_now(v, which);

	for (uint32_t i = 0; i < t->n; i++) {
		const struct gpci_values *r = &t->v[i], *then = invariant_earlier(v, which, r);

		if (t->r->index == GPCI_BY_PARTITION && invariant_partition_is_anew(v, r->id))
			continue;
		for (uint32_t k = 0; then && k < t->r->nfields; k++) {
			const struct gpci_field *f = &t->r->field[k];
			int64_t more = (int64_t)(r->v[k] - then->v[k]);

			if (f->flags & GPCI_F_COUNTER && f->bytes == 8 && more < 0 && !is_none(f, r->v[k]) &&
			    !is_none(f, then->v[k]))
				return BROKEN(v, "%s of record %llu: %s went back by %llu", t->r->name, LL(r->id),
					      f->name, LL(then->v[k] - r->v[k]));
		}
	}
	return GPCI_HOLDS;
}

/* Both say the same of a processor's time, and who ran somewhere ran on a processor that there is. */
static enum gpci_verdict invariant_agree(const struct view *v)
{
	const struct gpci_table *cores = invariant_now(v, TABLE_CORES), *p = invariant_now(v, TABLE_PROCESSORS);
	const struct gpci_table *run = invariant_now(v, TABLE_VPS), *c = invariant_now(v, TABLE_CONFIG);

	for (uint32_t i = 0; p->r && i < cores->n; i++) {
		const struct gpci_values *r = gpci_table_find(p, cores->v[i].id, 0);

		if (!r || invariant_field(p, r, "processor_time") != invariant_field(cores, &cores->v[i], "purr"))
			return BROKEN(v, "processor %llu has two times", LL(cores->v[i].id));
	}
	for (uint32_t i = 0; c->r && i < run->n; i++) {
		uint64_t on = invariant_field(run, &run->v[i], "processor");

		if (on != UINT16_MAX && !gpci_table_find(c, on, 0))
			return BROKEN(
				v, "virtual processor %llu of partition %llu ran on processor %llu, which there is not",
				LL(run->v[i].secondary), LL(run->v[i].id), LL(on));
	}
	return GPCI_HOLDS;
}

static enum gpci_verdict gpci_invariant_counters_grow_and_agree(const struct view *v)
{
	if (!v->was && !invariant_now(v, TABLE_CORES)->r && !invariant_now(v, TABLE_VPS)->r)
		return invariant_unknown(v->e, "it takes two snapshots", "");
	for (uint32_t t = 0; v->was && t < TABLES; t++)
		if (invariant_now(v, t)->r && invariant_now(v, t)->r == v->was->all[t].r &&
		    invariant_monotonic(v, t) == GPCI_BROKEN)
			return GPCI_BROKEN;
	return invariant_agree(v);
}

static enum gpci_verdict gpci_invariant_small_replies_are_large_ones(const struct view *v)
{
	if (v->is->paging == GPCI_BROKEN)
		return BROKEN(v, "%s", v->is->paging_text);
	return v->is->paging == GPCI_HOLDS ?
		       GPCI_HOLDS :
		       invariant_unknown(v->e, "nothing that has several records may be read", "");
}

static enum gpci_verdict gpci_invariant_own_view_is_the_privileged_one(const struct view *v)
{
	bool any = false;

	for (uint32_t k = 0; k < TABLES; k++) {
		const struct gpci_table *own = &v->is->own[k], *all = &v->is->all[k];
		const struct gpci_values *mine = own->n ? &own->v[0] : NULL, *r;

		if (!own->r || !all->r)
			continue;
		r = mine ? gpci_table_find(all, mine->id, mine->secondary) : NULL;
		any = true;
		if (!r || memcmp(r->v, mine->v, own->r->nfields * sizeof(r->v[0])))
			return BROKEN(v, "%s: partition %llu's own view is not the one that a privileged reading gives",
				      own->r->name, LL(mine ? mine->id : 0));
	}
	return any ? GPCI_HOLDS : invariant_unknown(v->e, "only its own partition may be read", "");
}

/* ---- the table ------------------------------------------------------------------------------------------- */

static const struct gpci_invariant rows[GPCI_INVARIANT_COUNT] = {
#define INVARIANT(name, text) { GPCI_INVARIANT_##name + 1, #name, text },
	GPCI_INVARIANTS(INVARIANT)
#undef INVARIANT
};
static const struct {
	uint32_t needs;
	bool two;
	enum gpci_verdict (*check)(const struct view *);
} invariants[GPCI_INVARIANT_COUNT] = {
	[GPCI_INVARIANT_processors_ran_what_was_consumed] = { MASK(PROCESSORS) | MASK(PARTITIONS), false,
							      gpci_invariant_processors_ran_what_was_consumed },
	[GPCI_INVARIANT_processors_run_within_time] = { MASK(PROCESSORS), false,
							gpci_invariant_processors_run_within_time },
	[GPCI_INVARIANT_capped_within_entitled] = { MASK(PROCESSORS) | MASK(PARTITIONS), false,
						    gpci_invariant_capped_within_entitled },
	[GPCI_INVARIANT_uncapped_behind_entitlement] = { MASK(PROCESSORS) | MASK(PARTITIONS) | MASK(DOMAINS), true,
							 gpci_invariant_uncapped_behind_entitlement },
	[GPCI_INVARIANT_partitions_within_their_processors] = { MASK(PARTITIONS) | MASK(VPS), true,
								gpci_invariant_partitions_within_their_processors },
	[GPCI_INVARIANT_dedicated_and_shared] = { MASK(PROCESSORS) | MASK(PARTITIONS), false,
						  gpci_invariant_dedicated_and_shared },
	[GPCI_INVARIANT_donated_is_consumed] = { MASK(PROCESSORS) | MASK(PARTITIONS), true,
						 gpci_invariant_donated_is_consumed },
	[GPCI_INVARIANT_idle_within_consumed] = { MASK(PARTITIONS), false, gpci_invariant_idle_within_consumed },
	[GPCI_INVARIANT_runs_are_those_of_cores] = { MASK(PARTITIONS) | MASK(RUN) | MASK(CORES), false,
						     gpci_invariant_runs_are_those_of_cores },
	[GPCI_INVARIANT_cables_have_two_ends] = { MASK(ABC) | MASK(WXYZ), false, gpci_invariant_cables_have_two_ends },
	[GPCI_INVARIANT_hpmc_go_together] = { MASK(HPMC), false, gpci_invariant_hpmc_go_together },
	[GPCI_INVARIANT_counters_grow_and_agree] = { 0, false, gpci_invariant_counters_grow_and_agree },
	[GPCI_INVARIANT_small_replies_are_large_ones] = { 0, false, gpci_invariant_small_replies_are_large_ones },
	[GPCI_INVARIANT_controllers_serve_the_cables] = { MASK(ABC) | MASK(WXYZ) | MASK(MC), false,
							  gpci_invariant_controllers_serve_the_cables },
	[GPCI_INVARIANT_own_view_is_the_privileged_one] = { 0, false, gpci_invariant_own_view_is_the_privileged_one },
};

const struct gpci_invariant *gpci_invariant_at(uint32_t i)
{
	return i < COUNT(rows) ? &rows[i] : NULL;
}

static bool same_partitions(const struct view *v)
{
	const struct gpci_table *t = invariant_now(v, TABLE_PARTITIONS), *was = &v->was->all[TABLE_PARTITIONS];

	if (!t->r || !was->r || t->n != was->n)
		return false;
	for (uint32_t i = 0; i < t->n; i++) {
		const struct gpci_values *then = invariant_earlier(v, TABLE_PARTITIONS, &t->v[i]);

		if (!then || invariant_partition_is_anew(v, t->v[i].id))
			return false;
	}
	return true;
}

static uint64_t invariant_record_use(const struct gpci_table *t, const struct gpci_values *r)
{
	uint64_t state = invariant_field(t, r, "state");

	return invariant_field(t, r, "owner") << 8 | (state == BORROWED ? DEDICATED : state);
}

static bool same_owners(const struct view *v)
{
	const struct gpci_table *t = invariant_now(v, TABLE_PROCESSORS), *was = &v->was->all[TABLE_PROCESSORS];

	if (t->n != was->n)
		return false;
	for (uint32_t i = 0; i < t->n; i++) {
		const struct gpci_values *then = invariant_earlier(v, TABLE_PROCESSORS, &t->v[i]);

		if (!then || invariant_record_use(t, &t->v[i]) != invariant_record_use(was, then))
			return false;
	}
	return true;
}

/* The code of the first request that is missing; 0: none is. */
static uint32_t invariant_snapshot_lacks(const struct gpci_snapshot *s, uint32_t needs)
{
	static const uint32_t code[TABLES] = {
#define T(tag, number) [TABLE_##tag] = number,
		SNAPSHOT_TABLES(T)
#undef T
	};

	for (uint32_t t = 0; t < TABLES; t++)
		if (needs >> t & 1 && !s->all[t].r)
			return code[t];
	return 0;
}

enum gpci_verdict gpci_invariant_check(const struct gpci_invariant *l, const struct gpci_snapshot *before,
				       const struct gpci_snapshot *snapshot, struct err *e)
{
	struct view v = { .was = before, .is = snapshot, .e = e };
	uint32_t i = l->number - 1u;
	uint32_t missing = invariant_snapshot_lacks(snapshot, invariants[i].needs);
	char code[16];

	if (!snapshot->still || (before && !before->still))
		return invariant_unknown(e, "the platform did not stand still for a snapshot", "");
	if (!missing && before)
		missing = invariant_snapshot_lacks(before, invariants[i].needs);
	if (missing) {
		snprintf(code, sizeof(code), "0x%x", missing);
		return invariant_unknown(e, "firmware or rights do not give request ", code);
	}
	if (invariants[i].two && !before)
		return invariant_unknown(e, "it takes two snapshots", "");
	if (before) {
		v.timed = invariant_timebase(before) && invariant_timebase(snapshot);
		v.elapsed = v.timed ? invariant_timebase(snapshot) - invariant_timebase(before) : 0;
		v.same = same_partitions(&v) && same_owners(&v);
	}
	return invariants[i].check(&v);
}
