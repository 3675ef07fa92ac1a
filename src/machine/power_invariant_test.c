/*
 * power_invariant_test.c: the invariants of an honest machine, over a thousand machines made by chance, window by
 * window, while partitions are created, deleted and resized.  What no counter shows is known here: the time of a core
 * that went to nobody and to the hypervisor, what deleted partitions had, and what each partition was told to do.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "machine/power_test_int.h"

enum { MACHINES = 1000, ROUNDS = 4, PARTITIONS_MOST = 64 };
#define W ((uint64_t)POWER_WINDOW)
enum { PURR, PARTS, RUN, ABC, WXYZ, CORES, QUEUES, HPMC, VPS, CONFIG, TOPOLOGY, MC, HYPERVISOR, TABLES };
static const uint32_t numbers[TABLES] = { 0x10,       0x20, 0x30, 0x50, 0x60, 0x94, 0xe0,
					  0x80002000, 0xa0, 0x90, 0xd0, 0x80, 0xf0 };

/* An invariant about nothing holds: so it is counted in how many windows there was what an invariant is about. */
/* clang-format off */
#define SIGHTS(S) \
	S(uncapped) S(held_at_entitlement) S(weight_0) S(donated) S(kept) S(borrowed) S(idle) \
	S(idle_not_reported) S(fraction_carried) S(no_run_counts) S(unusable) S(firmware_time) S(retired) \
	S(traffic) S(full_link) S(full_controller) S(waited) S(not_wired) S(link_c) S(between_collections) \
	S(mmcrh_set) S(mmcrh_off) S(dispatched_off_home) S(never_ran) S(many_pages) S(created) S(deleted) \
	S(resized) S(refused)
/* clang-format on */
enum sight {
#define S(name) SAW_##name,
	SIGHTS(S)
#undef S
		SIGHTS_ALL
};
static const char *const sight_name[] = {
#define S(name) #name,
	SIGHTS(S)
#undef S
};
static uint32_t seen[SIGHTS_ALL]; /* over all machines */

static void saw(enum sight what, bool it)
{
	seen[what] += it;
}

/* A partition as the test follows it, since it was created. */
struct known {
	struct power_partition c;
	uint64_t entitled, ran, busy;
};
struct trial {
	struct world w;
	struct dice dice;
	struct room room;
	struct gpci_table was[TABLES], is[TABLES];
	struct known known[PARTITIONS_MOST];
	uint32_t nknown, window, seed, clock_n, clock_d, collection;
	bool no_run_counts;
	uint64_t mmcrh, mmcrh_next;
	const struct power_partition *now;
	uint32_t nnow;
};

#define HOLDS(t, invariant, ok)                                                                                      \
	do {                                                                                                         \
		if (!(ok))                                                                                           \
			fail_msg("invariant %d: machine %u, window %u: %s", invariant, (t)->seed, (t)->window, #ok); \
	} while (0)

static uint64_t at(const struct trial *t, int table, uint32_t i, const char *name)
{
	return field(&t->is[table], &t->is[table].v[i], name);
}

static uint64_t before(const struct trial *t, int table, uint32_t i, const char *name)
{
	const struct gpci_values *v = &t->is[table].v[i], *then = gpci_table_find(&t->was[table], v->id, v->secondary);

	return then ? field(&t->was[table], then, name) : 0;
}

static uint64_t more(const struct trial *t, int table, uint32_t i, const char *name)
{
	return at(t, table, i, name) - before(t, table, i, name);
}

static uint64_t total_more(const struct trial *t, int table, const char *name)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < t->is[table].n; i++)
		n += more(t, table, i, name);
	return n;
}

static struct known *known(struct trial *t, uint64_t id)
{
	for (uint32_t i = 0; i < t->nknown; i++)
		if (t->known[i].c.id == id)
			return &t->known[i];
	fail_msg("machine %u: partition %llu is not known", t->seed, (unsigned long long)id);
	return NULL;
}

/* ---- invariants ------------------------------------------------------------------------------ */

static void time_is_conserved(struct trial *t)
{
	struct power_retired gone = power_retired(t->w.p);
	uint64_t T = power_now(t->w.p);

	saw(SAW_retired, gone.capped != 0);
	HOLDS(t, 1,
	      field_sum(&t->is[PURR], "processor_time") == field_sum(&t->is[PARTS], "capped") +
								   field_sum(&t->is[PARTS], "uncapped") + gone.capped +
								   gone.uncapped);
	for (uint32_t i = 0; i < t->is[PURR].n; i++) {
		struct power_hidden h = power_hidden(t->w.p, i);
		uint64_t time = at(t, PURR, i, "processor_time");

		saw(SAW_unusable, at(t, PURR, i, "state") < POWER_SHARED);
		saw(SAW_firmware_time, h.firmware != 0);
		saw(SAW_borrowed, at(t, PURR, i, "state") == POWER_BORROWED);
		if (at(t, PURR, i, "state") >= POWER_SHARED)
			HOLDS(t, 2, time + h.idle + h.firmware == T);
		else
			HOLDS(t, 2, time == 0 && h.idle == 0 && h.firmware == 0);
	}
}

static void shared_partitions_get_what_they_may(struct trial *t)
{
	uint64_t promised = 0, shared = 0;

	for (uint32_t i = 0; i < t->is[PURR].n; i++)
		shared += at(t, PURR, i, "state") == POWER_SHARED;
	for (uint32_t i = 0; i < t->is[PARTS].n; i++) {
		struct known *k = known(t, t->is[PARTS].v[i].id);
		uint64_t capped = more(t, PARTS, i, "capped"), uncapped = more(t, PARTS, i, "uncapped"),
			 entitled = more(t, PARTS, i, "entitled");

		HOLDS(t, 5, capped + uncapped <= k->c.vps * W);
		HOLDS(t, 3, at(t, PARTS, i, "entitled") == k->entitled);
		if (k->c.dedicated)
			continue;
		promised += entitled;
		saw(SAW_uncapped, uncapped != 0);
		saw(SAW_held_at_entitlement, k->c.capped && capped == entitled);
		saw(SAW_weight_0, !k->c.weight && capped == entitled);
		HOLDS(t, 3, entitled == k->c.entitlement * W / 100);
		HOLDS(t, 3, capped <= entitled && at(t, PARTS, i, "capped") <= at(t, PARTS, i, "entitled"));
		HOLDS(t, 4, !uncapped || (!k->c.capped && k->c.weight));
		HOLDS(t, 4, !uncapped || capped == entitled);
		HOLDS(t, 6, at(t, PARTS, i, "donated") == 0);
	}
	HOLDS(t, 3, promised <= shared * W);
}

static uint64_t ran_on(const struct trial *t, uint64_t owner)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < t->is[PURR].n; i++)
		n += at(t, PURR, i, "owner") == owner ? more(t, PURR, i, "processor_time") : 0;
	return n;
}

static void dedicated_partitions_own_their_cores(struct trial *t)
{
	uint64_t on_dedicated = 0, own = 0;

	for (uint32_t i = 0; i < t->is[PARTS].n; i++) {
		struct known *k = known(t, t->is[PARTS].v[i].id);
		uint64_t capped = more(t, PARTS, i, "capped"), donated = more(t, PARTS, i, "donated"),
			 entitled = more(t, PARTS, i, "entitled");

		if (!k->c.dedicated)
			continue;
		on_dedicated += ran_on(t, k->c.id);
		saw(SAW_donated, donated != 0);
		saw(SAW_kept, !k->c.donate);
		own += capped;
		HOLDS(t, 6, at(t, PARTS, i, "uncapped") == 0);
		HOLDS(t, 6, entitled == k->c.vps * W);
		HOLDS(t, 6, capped + donated <= entitled);
		HOLDS(t, 6, k->c.donate || (capped == entitled && !donated));
		HOLDS(t, 7, ran_on(t, k->c.id) == capped + donated);
	}
	HOLDS(t, 7, total_more(t, PARTS, "donated") == on_dedicated - own);
	HOLDS(t, 7, total_more(t, PARTS, "donated") <= total_more(t, PARTS, "uncapped"));
}

static void idle_and_run_counts_follow(struct trial *t)
{
	struct power_retired gone = power_retired(t->w.p);

	for (uint32_t i = 0; i < t->is[PARTS].n; i++) {
		struct known *k = known(t, t->is[PARTS].v[i].id);
		uint64_t took = more(t, PARTS, i, "capped") + more(t, PARTS, i, "uncapped"),
			 idle = more(t, PARTS, i, "idle");

		HOLDS(t, 8, idle <= took && (k->c.reports_idle || !idle));
		k->busy += took - idle;
		saw(SAW_idle, idle != 0);
		saw(SAW_idle_not_reported, took && !k->c.reports_idle);
		saw(SAW_fraction_carried, k->busy * t->clock_n % t->clock_d != 0);
		saw(SAW_no_run_counts, t->no_run_counts);
		HOLDS(t, 9, at(t, RUN, i, "cycles") == (t->no_run_counts ? 0 : k->busy * t->clock_n / t->clock_d));
	}
	HOLDS(t, 9,
	      field_sum(&t->is[RUN], "cycles") + gone.run_cycles == field_sum(&t->is[CORES], "cycles_all_threads"));
	HOLDS(t, 9,
	      field_sum(&t->is[RUN], "instructions") + gone.run_instructions ==
		      field_sum(&t->is[CORES], "instructions"));
}

static bool is_collected(const struct trial *t)
{
	return power_now(t->w.p) / W % t->collection == 0;
}

/* The chip with this number inside this node. */
static uint32_t chip_at(const struct trial *t, uint64_t node, uint64_t fabric)
{
	for (uint32_t i = 0; i < t->is[TOPOLOGY].n; i++)
		if (at(t, TOPOLOGY, i, "hw_node_id") == node && at(t, TOPOLOGY, i, "fabric_chip_id") == fabric)
			return i;
	fail_msg("machine %u: node %llu has no chip %llu", t->seed, (unsigned long long)node,
		 (unsigned long long)fabric);
	return 0;
}

/* The link of a chip that goes to that node, or to that chip inside its node. C goes where neither A nor B does. */
static const char *link_to(const struct trial *t, uint32_t chip, uint64_t node, uint64_t fabric)
{
	static const char *const inside[][2] = {
		{ "chip_w", "idle_w" }, { "chip_x", "idle_x" }, { "chip_y", "idle_y" }, { "chip_z", "idle_z" }
	};

	for (uint32_t k = 0; at(t, TOPOLOGY, chip, "hw_node_id") == node && k < COUNT(inside); k++)
		if (at(t, TOPOLOGY, chip, inside[k][0]) == fabric)
			return inside[k][1];
	assert_true(at(t, TOPOLOGY, chip, "hw_node_id") != node);
	return at(t, TOPOLOGY, chip, "node_a") == node ? "idle_a" :
	       at(t, TOPOLOGY, chip, "node_b") == node ? "idle_b" :
							 "idle_c";
}

/* Between each two chips that a cable joins: both count the same idle cycles. */
static void both_ends_are_alike(struct trial *t)
{
	for (uint32_t i = 0; i < t->is[TOPOLOGY].n; i++)
		for (uint32_t k = 0; k < t->is[TOPOLOGY].n; k++) {
			uint64_t node = at(t, TOPOLOGY, i, "hw_node_id"), fabric = at(t, TOPOLOGY, i, "fabric_chip_id");
			uint64_t there = at(t, TOPOLOGY, k, "hw_node_id"), other = at(t, TOPOLOGY, k, "fabric_chip_id");
			const char *one, *two;

			if (i == k || (node != there && fabric != other))
				continue;
			assert_int_equal(chip_at(t, there, other), k);
			one = link_to(t, i, there, other);
			two = link_to(t, k, node, fabric);
			saw(SAW_link_c, !strcmp(one, "idle_c"));
			HOLDS(t, 10,
			      at(t, one[5] < 'w' ? ABC : WXYZ, i, one) == at(t, two[5] < 'w' ? ABC : WXYZ, k, two));
			HOLDS(t, 10, at(t, one[5] < 'w' ? ABC : WXYZ, i, one) != UINT64_MAX);
		}
}

static void links_are_collected_and_agree(struct trial *t)
{
	static const char *const names[] = { "idle_a", "idle_b", "idle_c", "idle_w", "idle_x", "idle_y", "idle_z" };
	uint64_t busy = 0;

	for (uint32_t l = 0; l < COUNT(names); l++) {
		int table = l < 3 ? ABC : WXYZ;

		for (uint32_t i = 0; i < t->is[table].n; i++) {
			uint64_t time = at(t, table, i, "total"), idle = at(t, table, i, names[l]);

			HOLDS(t, 10, time == at(t, ABC, 0, "total"));
			HOLDS(t, 10, idle == UINT64_MAX || idle <= time);
			HOLDS(t, 10, idle == UINT64_MAX || more(t, table, i, names[l]) <= more(t, table, i, "total"));
			HOLDS(t, 10,
			      is_collected(t) ||
				      (idle == before(t, table, i, names[l]) && time == before(t, table, i, "total")));
			busy += idle == UINT64_MAX ? 0 : time - idle;
			saw(SAW_not_wired, idle == UINT64_MAX);
			saw(SAW_full_link, time && idle < time / 100);
		}
	}
	HOLDS(t, 10, busy % 2 == 0); /* each cable has two ends */
	saw(SAW_traffic, busy != 0);
	saw(SAW_between_collections, !is_collected(t));
	both_ends_are_alike(t);
}

/* What went over the cables inside nodes is no more than all memory gave and took; no controller does more than it can;
 * frames are reads and writes. */
static void controllers_and_links_are_of_one_count(struct trial *t)
{
	static const char *const names[] = { "idle_w", "idle_x", "idle_y", "idle_z" };
	uint64_t carried = 0, moved = 0;

	for (uint32_t i = 0; i < t->is[MC].n; i++) {
		uint64_t time = at(t, MC, i, "mc0_total");

		for (uint32_t l = 0; l < COUNT(names); l++)
			carried += at(t, WXYZ, i, names[l]) == UINT64_MAX ?
					   0 :
					   (at(t, WXYZ, i, "total") - at(t, WXYZ, i, names[l])) * 8;
		for (uint32_t m = 0; m < 2; m++) {
			uint64_t frames = at(t, MC, i, m ? "mc1_frames" : "mc0_frames");

			moved += frames * 64;
			HOLDS(t, 10, frames * 64 <= time * 16);
			HOLDS(t, 10,
			      frames == at(t, MC, i, m ? "mc1_reads" : "mc0_reads") +
						at(t, MC, i, m ? "mc1_writes" : "mc0_writes"));
			saw(SAW_full_controller, time && frames * 64 > time / 100 * 99 * 16);
		}
	}
	HOLDS(t, 10,
	      carried / 2 <=
		      moved + 256 * (t->is[MC].n +
				     t->window *
					     t->is[MC].n)); /* each cable has two ends; rests of frames and cycles */
}

static void waits_fit_their_windows_and_the_hypervisors_time_is_told(struct trial *t)
{
	uint64_t spent = 0;

	for (uint32_t i = 0; i < t->is[QUEUES].n; i++) {
		uint64_t entitlement = more(t, QUEUES, i, "wait_entitlement_count"),
			 processor = more(t, QUEUES, i, "wait_processor_count");

		HOLDS(t, 2, more(t, QUEUES, i, "wait_entitlement_time") <= entitlement * W);
		HOLDS(t, 2, more(t, QUEUES, i, "wait_processor_time") <= processor * W);
		HOLDS(t, 2, entitlement + processor <= known(t, t->is[QUEUES].v[i].id)->c.vps);
		saw(SAW_waited, entitlement + processor > 1);
	}
	for (uint32_t i = 0; i < t->is[PURR].n; i++)
		spent += power_hidden(t->w.p, i).firmware;
	HOLDS(t, 2,
	      spent == at(t, HYPERVISOR, 0, "dispatching") + at(t, HYPERVISOR, 0, "timers") +
			       at(t, HYPERVISOR, 0, "over_entitlement") + at(t, HYPERVISOR, 0, "management"));
}

static void hpmc_count_since_mmcrh_was_set(struct trial *t)
{
	bool collected = is_collected(t), set = collected && t->mmcrh_next != t->mmcrh;

	t->mmcrh = collected ? t->mmcrh_next : t->mmcrh;
	saw(SAW_mmcrh_set, set);
	saw(SAW_mmcrh_off, t->mmcrh == UINT64_MAX);
	for (uint32_t i = 0; i < t->is[HPMC].n; i++) {
		HOLDS(t, 11, at(t, HPMC, i, "mmcrh") == t->mmcrh);
		HOLDS(t, 11,
		      at(t, HPMC, i, "hpmc3") <= at(t, HPMC, i, "hpmc3_now") &&
			      at(t, HPMC, i, "hpmc4") <= at(t, HPMC, i, "hpmc4_now"));
		if (!collected || t->mmcrh == UINT64_MAX) { /* all stands still */
			const char *names[] = {
				"hpmc1", "hpmc2", "hpmc3", "hpmc4", "hpmc3_now", "hpmc4_now", "elapsed"
			};

			for (uint32_t k = 0; k < COUNT(names); k++)
				HOLDS(t, 11, at(t, HPMC, i, names[k]) == before(t, HPMC, i, names[k]));
			continue;
		}
		HOLDS(t, 9, at(t, HPMC, i, "hpmc4_now") == at(t, CORES, i, "cycles_all_threads"));
		HOLDS(t, 9, at(t, HPMC, i, "hpmc3_now") == at(t, CORES, i, "instructions"));
		if (set)
			HOLDS(t, 11,
			      !at(t, HPMC, i, "hpmc1") && !at(t, HPMC, i, "hpmc2") && !at(t, HPMC, i, "hpmc3") &&
				      !at(t, HPMC, i, "hpmc4") && !at(t, HPMC, i, "elapsed"));
		else if (power_now(t->w.p) > t->collection * W)
			HOLDS(t, 11, more(t, HPMC, i, "hpmc3") == more(t, HPMC, i, "hpmc3_now"));
	}
}

static void counters_only_grow(struct trial *t)
{
	for (int k = 0; k < TABLES; k++)
		for (uint32_t i = 0; i < t->is[k].n; i++) {
			const struct gpci_values *v = &t->is[k].v[i],
						 *then = gpci_table_find(&t->was[k], v->id, v->secondary);

			for (uint32_t f = 0; then && f < t->is[k].r->nfields; f++)
				HOLDS(t, 12, !(t->is[k].r->field[f].flags & GPCI_F_COUNTER) || v->v[f] >= then->v[f]);
		}
}

static void requests_that_say_the_same_agree(struct trial *t)
{
	static const char *const classes[] = { "on_home_core", "on_home_primary", "on_home_secondary", "off_home",
					       "on_donating" };
	uint64_t dispatches = power_retired(t->w.p).dispatches, hidden = 0;

	for (uint32_t i = 0; i < t->is[PURR].n; i++) {
		HOLDS(t, 12, at(t, PURR, i, "processor_time") == at(t, CORES, i, "purr"));
		HOLDS(t, 12,
		      at(t, PURR, i, "owner") == at(t, CONFIG, i, "owner") &&
			      at(t, PURR, i, "state") == at(t, CONFIG, i, "state"));
		hidden += power_hidden(t->w.p, i).dispatches;
	}
	saw(SAW_dispatched_off_home, field_sum(&t->is[QUEUES], "off_home") != 0);
	for (uint32_t k = 0; k < COUNT(classes); k++)
		dispatches += field_sum(&t->is[QUEUES], classes[k]);
	HOLDS(t, 12, dispatches == hidden);
	for (uint32_t i = 0; i < t->is[VPS].n; i++) {
		uint64_t on = at(t, VPS, i, "processor");
		const struct gpci_values *core = gpci_table_find(&t->is[CONFIG], on, 0);

		saw(SAW_never_ran, on == 0xffff);
		HOLDS(t, 12, on == 0xffff || (core && field(&t->is[CONFIG], core, "state") >= POWER_SHARED));
		HOLDS(t, 12, at(t, VPS, i, "virtual_processor") < known(t, t->is[VPS].v[i].id)->c.vps);
	}
}

/* In small replies the same records as in large ones, and for an own view the same bytes whatever the rights are. */
static void pages_and_own_views_are_the_same(struct trial *t)
{
	static const uint32_t paged[] = { PURR, PARTS, VPS, ABC };
	static const uint32_t own[] = { PARTS, RUN, QUEUES };

	for (uint32_t k = 0; k < COUNT(paged); k++) {
		struct gpci_table small;
		const struct gpci_table *large = &t->is[paged[k]];

		t->w.transport.bytes = GPCI_HEADER + (1 + roll(&t->dice, 3)) * large->r->size + roll(&t->dice, 20);
		small = world_table(&t->w, numbers[paged[k]]);
		saw(SAW_many_pages, t->w.transport.bytes < GPCI_HEADER + large->n * large->r->size);
		HOLDS(t, 13, small.n == large->n);
		for (uint32_t i = 0; i < small.n; i++)
			HOLDS(t, 13,
			      small.v[i].id == large->v[i].id && small.v[i].secondary == large->v[i].secondary &&
				      !memcmp(small.v[i].v, large->v[i].v,
					      large->r->nfields * sizeof(large->v[i].v[0])));
		gpci_table_free(&small);
	}
	t->w.transport.bytes = GPCI_MOST;
	for (uint32_t k = 0; k < COUNT(own) && t->is[PARTS].n; k++) {
		uint32_t i = roll(&t->dice, t->is[PARTS].n);
		struct gpci_table mine;
		struct err e = { 0 };

		t->w.who = (uint16_t)t->is[PARTS].v[i].id;
		assert_int_equal(gpci_read(&mine, &t->w.transport, newest(numbers[own[k]]), -1, &e), 0);
		HOLDS(t, 14, !memcmp(mine.v[0].v, t->is[own[k]].v[i].v, mine.r->nfields * sizeof(mine.v[0].v[0])));
		gpci_table_free(&mine);
		t->w.who = 1;
	}
}

static void all_invariants(struct trial *t)
{
	time_is_conserved(t);
	shared_partitions_get_what_they_may(t);
	dedicated_partitions_own_their_cores(t);
	idle_and_run_counts_follow(t);
	links_are_collected_and_agree(t);
	controllers_and_links_are_of_one_count(t);
	waits_fit_their_windows_and_the_hypervisors_time_is_told(t);
	hpmc_count_since_mmcrh_was_set(t);
	counters_only_grow(t);
	requests_that_say_the_same_agree(t);
	if (t->window % 6 == 0)
		pages_and_own_views_are_the_same(t);
}

/* ---- trials ---------------------------------------------------------------------------------- */

static void read_all(struct trial *t)
{
	for (int k = 0; k < TABLES; k++) {
		gpci_table_free(&t->was[k]);
		t->was[k] = t->is[k];
		t->is[k] = world_table(&t->w, numbers[k]);
	}
}

/* Follows what partitions there are; those that went away are forgotten. */
static void follow(struct trial *t)
{
	struct known next[PARTITIONS_MOST];
	const struct power_partition *q;
	uint32_t n = power_partitions(t->w.p, &q);

	assert_true(n <= PARTITIONS_MOST);
	for (uint32_t i = 0; i < n; i++) {
		next[i] = (struct known){ .c = q[i] };
		for (uint32_t k = 0; k < t->nknown; k++)
			if (t->known[k].c.id == q[i].id) {
				next[i] = t->known[k];
				next[i].c = q[i];
			}
	}
	memcpy(t->known, next, n * sizeof(next[0]));
	t->nknown = n;
}

static void window(struct trial *t)
{
	for (uint32_t i = 0; i < t->nknown; i++) {
		struct known *k = &t->known[i];

		k->entitled += k->c.dedicated ? k->c.vps * W : k->c.entitlement * (W / 100);
	}
	world_run(&t->w, 1);
	t->window++;
	read_all(t);
	all_invariants(t);
}

/* A line of a configuration, as a partition: by a machine of its own that is large enough for any. */
static struct power_partition parsed(struct trial *t, uint16_t id)
{
	struct room big = { .chips = t->room.chips, .shared = 400, .lmbs = 1000, .hundredths = 40000 };
	struct buf text = { 0 };
	const struct power_partition *q;
	struct power_partition ret;
	struct power *p;
	struct err e = { 0 };

	buf_puts(&text, "nodes 4\nchips 5\ncores 24\n");
	random_partition(&t->dice, &big, id, &text);
	if (power_open(&p, &(struct power_opts){ .level = 255, .config = text.p, .config_bytes = text.n }, &e) < 0)
		fail_msg("%s\n%s", e.text, text.p);
	assert_int_equal(power_partitions(p, &q), 1);
	ret = q[0];
	power_close(p);
	buf_free(&text);
	return ret;
}

/* Whether the machine has room or not: it says so, and nothing of it is done by half. */
static void change(struct trial *t)
{
	const struct power_partition *q;
	uint32_t n = power_partitions(t->w.p, &q), which = roll(&t->dice, 3);
	uint16_t id = n > 1 ? q[1 + roll(&t->dice, n - 1)].id : 0;
	struct power_partition c;
	struct err e = { 0 };
	int rc;

	if (which == 0 && n < PARTITIONS_MOST) {
		c = parsed(t, (uint16_t)(3000 + roll(&t->dice, 50)));
		rc = power_create(t->w.p, &c, &e);
	} else if (which == 1 && id) {
		rc = power_delete(t->w.p, id, &e);
	} else if (id) {
		c = parsed(t, id);
		rc = power_resize(t->w.p, &c, &e);
	} else {
		return;
	}
	assert_true(rc == 0 || ((rc == -TALLY_EBUSY || rc == -TALLY_EINVAL) && *e.text));
	saw(rc < 0 ? SAW_refused : which == 0 ? SAW_created : which == 1 ? SAW_deleted : SAW_resized, true);
	follow(t);
}

static void set_mmcrh(struct trial *t)
{
	static const uint64_t values[] = { 0x003c1200, UINT64_MAX, 0x00021e00, 0x12345678, 0 };
	struct err e = { 0 };

	t->mmcrh_next = values[roll(&t->dice, COUNT(values))];
	assert_int_equal(gpci_set_mmcrh(&t->w.transport, t->mmcrh_next, &e), 0);
}

static uint32_t number_behind(const char *text, const char *word, uint32_t nth)
{
	const char *p = strstr(text, word) + strlen(word);

	for (; nth; nth--)
		p = strchr(p, '/') + 1;
	return (uint32_t)strtoul(p, NULL, 10);
}

static void trial(uint32_t seed, uint32_t rounds)
{
	static struct trial t;
	struct buf config = { 0 };

	memset(&t, 0, sizeof(t));
	t.seed = seed;
	t.dice.s = seed * UINT64_C(0x9e3779b97f4a7c15);
	t.room = random_config(&t.dice, &config);
	t.no_run_counts = often(&t.dice, 10);
	t.clock_n = number_behind(config.p, "clock ", 0);
	t.clock_d = number_behind(config.p, "clock ", 1);
	t.collection = number_behind(config.p, "collection ", 0);
	t.mmcrh = t.mmcrh_next = 0x003c1200;
	world_open(&t.w,
		   &(struct power_opts){ .seed = seed,
					 .level = 6,
					 .config = config.p,
					 .config_bytes = config.n,
					 .no_run_counts = t.no_run_counts },
		   NULL, NULL);
	follow(&t);
	read_all(&t);
	for (uint32_t r = 0; r < rounds; r++) {
		for (uint32_t n = 1 + roll(&t.dice, 5); n; n--)
			window(&t);
		change(&t);
		if (often(&t.dice, 40))
			set_mmcrh(&t);
	}
	for (int k = 0; k < TABLES; k++) {
		gpci_table_free(&t.was[k]);
		gpci_table_free(&t.is[k]);
	}
	world_close(&t.w);
	buf_free(&config);
}

static void the_fourteen_invariants_hold_on_machines_made_by_chance(void **state)
{
	(void)state;
	for (uint32_t seed = 1; seed <= MACHINES; seed++)
		trial(seed, ROUNDS);
	assert_int_equal(mem_live(), 0);
}

static void there_was_enough_of_all_that_the_invariants_are_about(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < SIGHTS_ALL; i++)
		if (seen[i] < MACHINES / 10)
			fail_msg("%s: %u times only", sight_name[i], seen[i]);
}

static void they_hold_over_a_long_time(void **state)
{
	(void)state;
	for (uint32_t seed = 5001; seed <= 5010; seed++)
		trial(seed, 40);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_fourteen_invariants_hold_on_machines_made_by_chance),
		cmocka_unit_test(there_was_enough_of_all_that_the_invariants_are_about),
		cmocka_unit_test(they_hold_over_a_long_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
