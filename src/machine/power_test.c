/* power_test.c: what the POWER model does with processors, partitions, links and MMCRH, and what it refuses. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "machine/power_test_int.h"

#define W ((uint64_t)POWER_WINDOW)

static struct world w;

static void open_text(const char *config, uint8_t level)
{
	world_open(&w, &(struct power_opts){ .level = level, .config = config, .config_bytes = strlen(config) }, NULL,
		   NULL);
}

static void open_load(const char *load)
{
	world_open(&w, &(struct power_opts){ .level = 6, .load = load }, NULL, NULL);
}

/* A field of a record now. */
static uint64_t value(uint32_t number, uint64_t id, const char *name)
{
	struct gpci_table t = world_table(&w, number);
	const struct gpci_values *v = gpci_table_find(&t, id, 0);
	uint64_t x;

	if (!v)
		fail_msg("request %#x has no record %llu", number, (unsigned long long)id);
	x = field(&t, v, name);
	gpci_table_free(&t);
	return x;
}

static uint64_t total(uint32_t number, const char *name)
{
	struct gpci_table t = world_table(&w, number);
	uint64_t n = field_sum(&t, name);

	gpci_table_free(&t);
	return n;
}

/* ---- the same again ---------------------------------------------------------------------------------------------- */

static bool same_machine(const char *load, uint64_t seed, uint64_t other)
{
	static struct world b;
	bool same = true;

	world_open(&w, &(struct power_opts){ .level = 6, .load = load, .seed = seed }, NULL, NULL);
	world_open(&b, &(struct power_opts){ .level = 6, .load = load, .seed = other }, NULL, NULL);
	world_run(&w, 37);
	for (uint32_t i = 0; i < 37; i++) /* in other steps */
		power_run(b.p, (i + 1) * W + 17);
	for (uint32_t i = 0; i < 3; i++) {
		static const uint32_t numbers[] = { 0x10, 0x20, 0x60 };
		struct gpci_table x = world_table(&w, numbers[i]), y = world_table(&b, numbers[i]);

		for (uint32_t k = 0; k < x.n && k < y.n; k++)
			same = same && !memcmp(x.v[k].v, y.v[k].v, x.r->nfields * sizeof(x.v[k].v[0]));
		same = same && x.n == y.n;
		gpci_table_free(&x);
		gpci_table_free(&y);
	}
	world_close(&w);
	world_close(&b);
	return same;
}

static void the_same_seed_gives_the_same_counters_and_another_gives_others(void **state)
{
	const struct power_load *l;

	(void)state;
	for (uint32_t i = 0; (l = power_load_at(i)); i++) {
		assert_true(same_machine(l->name, 7, 7));
		assert_true(same_machine(l->name, 0, 1));
	}
	assert_false(same_machine("mixed", 7, 8));
}

static void time_does_not_go_back_and_moves_in_whole_windows(void **state)
{
	(void)state;
	open_load("idle");
	power_run(w.p, W - 1);
	assert_true(power_now(w.p) == 0);
	power_run(w.p, 5 * W + 3);
	assert_true(power_now(w.p) == 5 * W);
	power_run(w.p, 2 * W);
	power_run(w.p, 0);
	assert_true(power_now(w.p) == 5 * W);
	world_close(&w);
}

/* ---- loads: each shows what its text says ---------------------------------------------------- */

static void every_load_moves_all_that_it_has(void **state)
{
	const struct power_load *l;

	(void)state;
	for (uint32_t i = 0; (l = power_load_at(i)); i++) {
		open_load(l->name);
		world_run(&w, 200);
		assert_true(total(0x10, "processor_time") > 0);
		assert_true(total(0x30, "cycles") > 0 && total(0x30, "instructions") > 0);
		assert_true(total(0xe0, "on_home_core") > 0);
		assert_true(value(0x40, 0, "may_see_others") == 1 && value(0x40, 0, "capability_mask") == 0xe0);
		world_close(&w);
	}
}

static uint32_t records(uint32_t number)
{
	struct gpci_table t = world_table(&w, number);
	uint32_t n = t.n;

	gpci_table_free(&t);
	return n;
}

static void loads_of_machines_did_not_match_their_descriptions(void **state)
{
	(void)state;
	open_load("mixed"); /* "six partitions of every kind on two nodes of four chips with 6 cores" */
	world_run(&w, 200);
	assert_int_equal(records(0x20), 6);
	assert_int_equal(records(0x10), 2 * 4 * 6);
	assert_int_equal(records(0x60), 2 * 4);
	assert_true(value(0x20, 3, "uncapped") > 0);                                  /* shared, uncapped */
	assert_true(value(0x20, 4, "capped") > 0 && value(0x20, 4, "uncapped") == 0); /* shared, capped */
	assert_true(value(0x20, 5, "capped") < 8 * 200 * W);                          /* dedicated, donating */
	assert_true(value(0x20, 6, "capped") == 4 * 200 * W);                         /* and not */
	world_close(&w);
	open_load("large"); /* "the partitions of mixed with 12 cores a chip: more processors than 4096 bytes hold" */
	assert_int_equal(records(0x20), 6);
	assert_int_equal(records(0x10), 2 * 4 * 12);
	assert_true(records(0x10) > (4096 - 32) / 48); /* records of 48 bytes behind the head of 32 */
	world_close(&w);
	open_load("idle"); /* "three partitions with little to do, on cores as those of mixed" */
	world_run(&w, 200);
	assert_int_equal(records(0x20), 3);
	assert_int_equal(records(0x10), 2 * 4 * 6);
	assert_true(total(0x10, "processor_time") < 200 * W / 5); /* a fifth of one core */
	world_close(&w);
	open_load("contended"); /* "more demand than cores": nobody idle; by weight is another test's */
	world_run(&w, 200);
	assert_true(total(0x10, "processor_time") > records(0x10) * 200 * W / 1000 * 999);
	world_close(&w);
	open_load("links"); /* "memory on all 16 chips, and work far from it" */
	world_run(&w, 200);
	assert_int_equal(records(0x80), 16);
	for (uint64_t chip = 0; chip < 16; chip++)
		assert_true(value(0x80, chip, "mc0_frames") > 1000000);
	world_close(&w);
}

static void load_moving_did_not_match_its_description(void **state)
{
	uint32_t came = 0, went = 0, there = 1u << 1 | 1u << 2 | 1u << 3; /* at first 1, 2 and 3 */

	(void)state;
	open_load("moving"); /* "partitions come, go and change in the first minute" */
	for (uint32_t i = 0; i < 70; i++) {
		struct gpci_table t = world_table(&w, 0x20);
		uint32_t now = 0;

		for (uint32_t k = 0; k < t.n; k++)
			now |= 1u << field(&t, &t.v[k], "partition");
		gpci_table_free(&t);
		came += (now & ~there) != 0;
		went += (there & ~now) != 0;
		assert_true(i <= 61 || now == there); /* after that it stays */
		there = now;
		world_run(&w, 100);
	}
	assert_int_equal(came, 3);
	assert_int_equal(went, 4);
	world_close(&w);
}

static void load_links_keeps_every_wired_link_between_5_and_95_percent(void **state)
{
	static const char *const idle[] = { "idle_a", "idle_b", "idle_c", "idle_w", "idle_x", "idle_y", "idle_z" };
	uint64_t least = 100, most = 0;

	(void)state;
	open_load("links");
	world_run(&w, 360);
	for (uint32_t l = 0; l < COUNT(idle); l++) {
		struct gpci_table t = world_table(&w, l < 3 ? 0x50 : 0x60);

		for (uint32_t i = 0; i < t.n; i++) {
			uint64_t n = field(&t, &t.v[i], idle[l]), time = field(&t, &t.v[i], "total"),
				 busy = 100 - n / (time / 100);

			assert_int_equal(n == UINT64_MAX, l == 6); /* four chips need three links */
			least = l < 6 && busy < least ? busy : least;
			most = l < 6 && busy > most ? busy : most;
		}
		gpci_table_free(&t);
	}
	assert_true(least >= 5 && least < 20 && most > 70 && most <= 95);
	world_close(&w);
}

static void load_contended_gives_by_weight_to_the_tick(void **state)
{
	uint64_t heavy, middle, light;

	(void)state;
	open_load("contended");
	world_run(&w, 100);
	heavy = value(0x20, 1, "uncapped");
	middle = value(0x20, 2, "uncapped");
	light = value(0x20, 3, "uncapped");
	assert_true(heavy + middle + light == total(0x10, "processor_time") - 6 * 100 * W);
	assert_true(total(0x10, "processor_time") > 8 * 100 * W / 1000 * 999); /* the rest is the hypervisor's */
	assert_true(heavy - 4 * light <= 400 &&
		    middle - 2 * light <= 400); /* 200, 100, 50; a few ticks a window are left over */
	world_close(&w);
}

static void load_donating_shows_borrowed_processors_of_the_giver(void **state)
{
	struct gpci_table t;
	uint32_t borrowed = 0;

	(void)state;
	open_load("donating");
	world_run(&w, 50);
	t = world_table(&w, 0x10);
	for (uint32_t i = 0; i < t.n; i++)
		if (field(&t, &t.v[i], "state") == POWER_BORROWED) {
			assert_int_equal(field(&t, &t.v[i], "owner"), 2);
			borrowed++;
		}
	gpci_table_free(&t);
	assert_true(borrowed > 0);
	assert_true(value(0x20, 2, "donated") > 0 && value(0x20, 2, "donated") < value(0x20, 1, "uncapped"));
	assert_true(value(0xe0, 1, "on_donating") > 0);
	world_close(&w);
}

/* ---- dispatch -------------------------------------------------------------------------------- */

static void who_wants_less_than_its_share_gets_it_and_the_others_share_the_rest(void **state)
{
	(void)state;
	open_text("chips 1\ncores 4\n"
		  "partition 1 rights=all,expanded vps=4 entitlement=10 weight=200 demand=50\n"
		  "partition 2 vps=4 entitlement=10 weight=100 demand=1000\n"
		  "partition 3 vps=4 entitlement=10 weight=100 demand=1000\n",
		  6);
	world_run(&w, 100);
	assert_true(value(0xe0, 1, "wait_processor_time") == 0);
	assert_true(value(0x20, 2, "uncapped") - value(0x20, 3, "uncapped") <= 100);
	assert_true(total(0x10, "processor_time") > 4 * 100 * W / 1000 * 999);
	world_close(&w);
}

static void a_capped_partition_and_weight_0_wait_for_entitlement_though_there_is_room(void **state)
{
	(void)state;
	open_text("chips 1\ncores 8\n"
		  "partition 1 rights=all,expanded vps=2 entitlement=50 capped demand=1000\n"
		  "partition 2 vps=2 entitlement=50 weight=0 demand=1000\n",
		  6);
	world_run(&w, 10);
	for (uint32_t q = 1; q <= 2; q++) {
		assert_true(value(0x20, q, "capped") == 10 * W / 2 && value(0x20, q, "uncapped") == 0);
		assert_int_equal(value(0xe0, q, "wait_entitlement_count"), 20); /* two virtual processors */
		assert_true(value(0xe0, q, "wait_entitlement_time") > 13 * W);
		assert_int_equal(value(0xe0, q, "wait_processor_count"), 0);
	}
	world_close(&w);
}

static void a_dedicated_partition_that_keeps_its_time_is_100_percent_utilized(void **state)
{
	(void)state;
	open_text(
		"chips 1\ncores 4\npartition 1 rights=all,expanded vps=8 entitlement=100 demand=1000\n"
		"partition 2 type=dedicated vps=2 idle=yes demand=100\npartition 3 type=dedicated vps=1 idle=no demand=100\n",
		6);
	world_run(&w, 40);
	assert_true(value(0x20, 2, "capped") == 2 * 40 * W && value(0x20, 2, "entitled") == 2 * 40 * W);
	assert_true(value(0x20, 2, "idle") > 70 * W && value(0x20, 3, "idle") == 0);
	assert_true(total(0x20, "donated") == 0);
	assert_true(value(0x20, 1, "capped") + value(0x20, 1, "uncapped") > 40 * W / 1000 * 999);
	world_close(&w);
}

static void what_nobody_takes_is_not_donated(void **state)
{
	(void)state;
	open_text(
		"chips 1\ncores 4\npartition 1 rights=all capped entitlement=10 demand=1000\npartition 2 type=dedicated vps=2 donate demand=100\n",
		6);
	world_run(&w, 40);
	assert_true(value(0x20, 2, "donated") == 0 && value(0x20, 2, "capped") < 20 * W);
	assert_int_equal(value(0x10, 0, "state"), POWER_DEDICATED);
	world_close(&w);
}

static void processors_near_home_go_first(void **state)
{
	(void)state;
	open_text(
		"nodes 2\nchips 2\ncores 2\npartition 1 rights=all,expanded vps=6 entitlement=600 home=3 demand=1000\n",
		6);
	world_run(&w, 20);
	assert_true(value(0x10, 6, "processor_time") >= 19 * W && value(0x10, 4, "processor_time") >= 19 * W);
	assert_true(value(0x10, 0, "processor_time") + value(0x10, 1, "processor_time") +
			    value(0x10, 2, "processor_time") + value(0x10, 3, "processor_time") >
		    38 * W);
	assert_true(value(0xe0, 1, "on_home_core") >= 20 && value(0xe0, 1, "on_home_primary") > 0 &&
		    value(0xe0, 1, "off_home") > 0);
	world_close(&w);
}

/* ---- processors ------------------------------------------------------------------------------ */

static void processors_that_are_not_used_are_listed_with_their_states(void **state)
{
	(void)state;
	open_text(
		"chips 1\ncores 4\ncore 1 not-installed\ncore 2 guarded\ncore 3 unlicensed\npartition 1 rights=all,expanded entitlement=100 demand=1000\n",
		6);
	world_run(&w, 10);
	for (uint32_t i = 1; i < 4; i++) {
		assert_int_equal(value(0x10, i, "state"), i == 1 ? POWER_NOT_INSTALLED :
							  i == 2 ? POWER_GUARDED :
								   POWER_UNLICENSED);
		assert_true(value(0x10, i, "processor_time") == 0);
		assert_int_equal(value(0x10, i, "owner"), 0xffff);
		assert_int_equal(value(0x10, i, "hw_chip_id"), i == 1 ? UINT32_MAX : 0);
		assert_int_equal(value(0x10, i, "hw_module_id"), i == 1 ? UINT32_MAX : 0);
		assert_int_equal(value(0x90, i, "processor_version"),
				 i == 1 ? UINT32_MAX : value(0x90, 0, "processor_version"));
		assert_int_equal(value(0x10, i, "primary_domain"), 0);
	}
	assert_int_equal(value(0x91, 0, "nominal"), 4000);
	world_close(&w);
}

static void index_speaks_of_hardware_ids_at_level_0_and_of_positions_later(void **state)
{
	static const uint8_t levels[] = { 0, 6 };

	(void)state;
	for (uint32_t i = 0; i < COUNT(levels); i++) {
		struct gpci_table t, h;
		struct err e = { 0 };

		open_text("chips 1\ncores 8\nhardware-ids sparse\npartition 1 rights=all,lab entitlement=1\n",
			  levels[i]);
		assert_int_equal(gpci_read(&t, &w.transport, newest(0x10), levels[i] ? 5 : 33, &e), 0);
		assert_int_equal(t.n, 3);
		assert_int_equal(t.v[0].id, levels[i] ? 5 : 36);
		assert_int_equal(field(&t, &t.v[0], "hw_processor_id"), 36);
		assert_int_equal(gpci_read(&h, &w.transport, newest(0x80002000), 33, &e), 0);
		assert_int_equal(h.n, 3);
		assert_int_equal(h.v[0].id, 36);
		gpci_table_free(&t);
		gpci_table_free(&h);
		assert_int_equal(gpci_read(&t, &w.transport, newest(0x10), levels[i] ? 8 : 45, &e), -TALLY_EINVAL);
		world_close(&w);
	}
}

static void the_own_processor_is_the_one_that_it_ran_on_last(void **state)
{
	struct gpci_table t, vps;
	struct err e = { 0 };

	(void)state;
	open_text("chips 2\ncores 2\npartition 1 rights=all,expanded home=1 vps=2 entitlement=200 demand=1000\n", 6);
	world_run(&w, 5);
	assert_int_equal(gpci_read(&t, &w.transport, newest(0x10), -1, &e), 0);
	assert_int_equal(gpci_read(&vps, &w.transport, newest(0xa0), -1, &e), 0);
	assert_int_equal(t.v[0].id, field(&vps, &vps.v[0], "processor"));
	assert_true(t.v[0].id >= 2);
	assert_int_equal(vps.v[0].secondary, 0);
	gpci_table_free(&t);
	gpci_table_free(&vps);
	world_close(&w);
}

static void a_processor_without_run_counts_shows_zeros(void **state)
{
	(void)state;
	world_open(&w, &(struct power_opts){ .level = 6, .no_run_counts = true }, NULL, NULL);
	world_run(&w, 30);
	assert_true(total(0x30, "cycles") == 0 && total(0x30, "instructions") == 0);
	assert_true(total(0x10, "processor_time") > 0);
	world_close(&w);
}

/* ---- links ----------------------------------------------------------------------------------- */

static void local_work_leaves_links_idle_and_unwired_ones_are_all_ones(void **state)
{
	(void)state;
	open_text(
		"nodes 2\nchips 2\ncores 2\npartition 1 rights=all,expanded vps=2 entitlement=200 home=2 demand=1000 traffic=50\n",
		6);
	world_run(&w, 20);
	for (uint32_t chip = 0; chip < 4; chip++) {
		assert_true(value(0x50, chip, "idle_a") == 20 * W * 4 && value(0x50, chip, "total") == 20 * W * 4);
		assert_true(value(0x60, chip, "idle_w") == 20 * W * 4);
		assert_true(value(0x50, chip, "idle_b") == UINT64_MAX && value(0x60, chip, "idle_x") == UINT64_MAX);
		assert_int_equal(value(0xd0, chip, "installed"), 0x03000101);
		assert_int_equal(value(0xd0, chip, "node_b"), 0xff);
		assert_int_equal(value(0xd0, chip, "chip_w"), 1 - chip % 2);
	}
	assert_true(value(0x80, 2, "mc0_frames") + value(0x80, 2, "mc1_frames") > 0 &&
		    value(0x80, 0, "mc0_frames") == 0);
	world_close(&w);
}

static void remote_memory_makes_both_ends_of_the_way_busy_and_nothing_else(void **state)
{
	(void)state;
	open_text("nodes 2\nchips 2\ncores 2\nmemory 20\n" /* 12 of the 32 blocks are on chip 1 */
		  "partition 1 rights=all,expanded vps=2 entitlement=200 home=0 memory=32 demand=1000 traffic=8\n",
		  6);
	world_run(&w, 20);
	assert_true(value(0x60, 0, "idle_w") < 20 * W * 4 && value(0x60, 0, "idle_w") == value(0x60, 1, "idle_w"));
	assert_true(value(0x60, 2, "idle_w") == 20 * W * 4 && value(0x50, 0, "idle_a") == 20 * W * 4);
	world_close(&w);
}

static void an_overloaded_link_is_not_idle_and_free_when_the_work_ends(void **state)
{
	const struct power_partition *q;
	struct power_partition c;
	struct err e = { 0 };
	uint64_t idle;

	(void)state;
	open_text(
		"chips 2\ncores 8\ncollection 1\npartition 1 rights=all vps=8 entitlement=800 home=0 spread memory=2 demand=1000 traffic=1000\n",
		6);
	world_run(&w, 50);
	assert_true(value(0x60, 0, "idle_w") < 50 * W * 4 / 1000);
	power_partitions(w.p, &q);
	c = q[0];
	c.demand = 0;
	assert_int_equal(power_resize(w.p, &c, &e), 0);
	idle = value(0x60, 0, "idle_w");
	world_run(&w, 10);
	assert_true(value(0x60, 0, "idle_w") == idle + 10 * W * 4);
	world_close(&w);
}

static void level_0_has_the_same_links_in_the_specs_layout(void **state)
{
	uint64_t a, z;

	(void)state;
	open_load("links");
	world_run(&w, 50);
	a = value(0x50, 3, "idle_a");
	z = value(0x60, 3, "total");
	world_close(&w);
	world_open(&w, &(struct power_opts){ .level = 0, .load = "links" }, NULL, NULL);
	world_run(&w, 50);
	for (uint32_t i = 0; i < 2; i++) {
		struct gpci_table t;
		struct err e = { 0 };

		assert_int_equal(gpci_read(&t, &w.transport, newest(i ? 0x60 : 0x50), 3, &e), 0);
		assert_int_equal(t.r->size, i ? 80 : 64);
		assert_true(i ? field(&t, &t.v[0], "time_z") == z : field(&t, &t.v[0], "idle_a") == a);
		gpci_table_free(&t);
	}
	world_close(&w);
}

/* ---- memory: one count of bytes, by hand ----------------------------------------------------- */

/* Eight cores of chip 0 move 1000 bytes a tick: half to its own memory, half over one cable, which carries 32. */
static void open_saturated(const char *more)
{
	char text[256];

	snprintf(text, sizeof(text),
		 "chips 2\ncores 9\nmemory 1\ncollection 1\n"
		 "partition 1 rights=all,expanded vps=8 entitlement=800 home=0 memory=2 demand=1000 traffic=1000 %s\n",
		 more);
	open_text(text, 6);
	world_run(&w, 20);
}

static uint64_t chip_frames(uint64_t chip)
{
	return value(0x80, chip, "mc0_frames") + value(0x80, chip, "mc1_frames");
}

static void controllers_counted_twice_what_a_full_cable_carried(void **state)
{
	uint64_t carried, time;

	(void)state;
	open_saturated("");
	time = value(0x60, 0, "total");
	carried = (time - value(0x60, 0, "idle_w")) * 8;
	assert_true(carried <= time * 8 && carried > time * 8 / 1000 * 999);
	assert_true(chip_frames(1) * 64 <= carried &&
		    chip_frames(1) * 64 > carried / 1000 * 999); /* all of it came over the cable */
	assert_true(chip_frames(0) * 64 <= carried &&
		    chip_frames(0) * 64 > carried / 1000 * 999); /* and as much was near */
	world_close(&w);
}

static void waiting_for_memory_did_not_raise_cpi(void **state)
{
	uint64_t cpi;

	(void)state;
	open_saturated("");
	cpi = value(0x30, 1, "cycles") / value(0x30, 1, "instructions");
	assert_true(cpi >= 123 && cpi <= 126); /* 8 cores, 500 bytes a tick, a cable of 32: 125 times */
	assert_true(total(0x94, "instructions") == value(0x30, 1, "instructions"));
	world_close(&w);
	open_saturated("traffic=4"); /* 16 of 32 */
	assert_true(value(0x30, 1, "cycles") == value(0x30, 1, "instructions"));
	world_close(&w);
}

static void a_quarter_of_all_frames_were_writes_whatever_ran(void **state)
{
	static const struct {
		const char *setting;
		uint32_t writes;
	} rows[] = { { "writes=0", 0 }, { "writes=500", 500 }, { "writes=1000", 1000 } };

	(void)state;
	for (uint32_t i = 0; i < COUNT(rows); i++) {
		uint64_t writes, frames;

		open_saturated(rows[i].setting);
		writes = value(0x80, 1, "mc0_writes") + value(0x80, 1, "mc1_writes");
		frames = chip_frames(1);
		assert_true(frames > 0 && writes * 1000 / frames <= rows[i].writes &&
			    writes * 1000 / frames + 1 >= rows[i].writes);
		assert_true(frames == writes + value(0x80, 1, "mc0_reads") + value(0x80, 1, "mc1_reads"));
		world_close(&w);
	}
}

static void both_controllers_of_a_chip_counted_the_same_whatever_memory_they_hold(void **state)
{
	uint64_t one, two;

	(void)state;
	open_text(
		"chips 1\ncores 4\nmemory 8\npartition 1 rights=all,expanded vps=2 entitlement=200 memory=3 demand=900 traffic=10\n",
		6);
	world_run(&w, 20);
	one = value(0x80, 0, "mc0_frames");
	two = value(0x80, 0, "mc1_frames"); /* blocks 0 and 2 are of the first, block 1 of the second */
	assert_true(one > 2 * two - two / 100 && one < 2 * two + two / 100);
	world_close(&w);
}

static void a_controller_that_is_full_was_not_limited(void **state)
{
	uint64_t bytes, most;

	(void)state;
	open_text(
		"chips 1\ncores 8\nmemory 8\ncollection 1\npartition 1 rights=all,expanded vps=7 entitlement=700 memory=2 demand=1000 traffic=1000\n",
		6);
	world_run(&w, 20);
	bytes = value(0x80, 0, "mc0_frames") * 64;
	most = value(0x80, 0, "mc0_total") * 16;
	assert_true(bytes <= most && bytes > most / 1000 * 999);
	world_close(&w);
}

/* ---- waits and the hypervisor's time --------------------------------------------------------- */

static void waits_were_longer_than_a_window(void **state)
{
	(void)state;
	open_load("contended");
	world_run(&w, 100);
	for (uint32_t q = 1; q <= 3; q++) {
		uint64_t times = value(0xe0, q, "wait_processor_count");

		assert_true(times > 100 && times <= 8 * 100); /* each virtual processor once in a window */
		assert_true(value(0xe0, q, "wait_processor_time") <= times * W);
	}
	world_close(&w);
}

static void the_last_virtual_processors_of_a_short_partition_never_ran(void **state)
{
	struct gpci_table t;

	(void)state;
	open_text("chips 1\ncores 8\npartition 1 rights=all,expanded capped vps=6 entitlement=100 demand=1000\n", 6);
	world_run(&w, 12);
	t = world_table(&w, 0xa0);
	assert_int_equal(t.n, 6);
	for (uint32_t i = 0; i < t.n; i++)
		assert_true(field(&t, &t.v[i], "processor") != 0xffff);
	gpci_table_free(&t);
	world_close(&w);
}

static void hypervisor_time_was_0_exactly_when_cores_were_full(void **state)
{
	static const char *const kinds[] = { "dispatching", "timers", "over_entitlement", "management" };
	static const char *const classes[] = { "on_home_core", "on_home_primary", "on_home_secondary", "off_home",
					       "on_donating" };
	uint64_t told = 0, spent = 0, idle = 0, dispatches = 0;

	(void)state;
	open_load("contended"); /* partitions that take all there is, and keep no core */
	world_run(&w, 100);
	for (uint32_t i = 0; i < w.p->ncores; i++) {
		spent += power_hidden(w.p, i).firmware;
		idle += power_hidden(w.p, i).idle;
	}
	for (uint32_t i = 0; i < COUNT(kinds); i++)
		told += total(0xf0, kinds[i]);
	for (uint32_t i = 0; i < COUNT(classes); i++)
		dispatches += total(0xe0, classes[i]);
	assert_true(spent > 0 && spent == told);
	assert_true(total(0xf0, "dispatching") == dispatches * 256);
	assert_true(total(0xf0, "management") == 8 * 10 * 512);        /* eight cores, ten collections */
	assert_true(total(0xf0, "over_entitlement") == 3 * 100 * 128); /* three partitions, in each window */
	assert_true(idle < 8 * 100 * W / 1000);
	world_close(&w);
}

/* ---- MMCRH ----------------------------------------------------------------------------------- */

static void set_mmcrh(uint64_t v)
{
	struct err e = { 0 };

	assert_int_equal(gpci_set_mmcrh(&w.transport, v, &e), 0);
}

static void mmcrh_takes_effect_at_the_next_collection_and_starts_the_counters_anew(void **state)
{
	uint64_t now4;

	(void)state;
	open_text("chips 1\ncores 2\ncollection 10\npartition 1 rights=all,lab vps=2 entitlement=200 demand=1000\n", 6);
	world_run(&w, 25);
	assert_true(value(0x80002000, 0, "mmcrh") == 0x003c1200);
	assert_true(value(0x80002000, 0, "elapsed") == 20 * W);
	now4 = value(0x80002000, 0, "hpmc4_now");
	assert_true(now4 > 0 &&
		    value(0x80002000, 0, "hpmc1") == now4); /* the default counts run cycles and instructions */
	assert_true(value(0x80002000, 0, "hpmc2") == value(0x80002000, 0, "hpmc3_now"));
	set_mmcrh(0x00021e00);
	assert_true(value(0x80002000, 0, "mmcrh") == 0x003c1200);
	world_run(&w, 5);
	assert_true(value(0x80002000, 0, "mmcrh") == 0x00021e00 && value(0x80002000, 0, "elapsed") == 0);
	assert_true(value(0x80002000, 0, "hpmc1") == 0 && value(0x80002000, 0, "hpmc2") == 0);
	assert_true(value(0x80002000, 0, "hpmc4") == 0 && value(0x80002000, 0, "hpmc4_now") > now4);
	world_run(&w, 15);
	assert_true(value(0x80002000, 0, "elapsed") == 10 * W);
	assert_true(value(0x80002000, 0, "hpmc1") > 9 * W &&
		    value(0x80002000, 0, "hpmc1") <= 10 * W); /* 0x01 counts PURR cycles */
	world_close(&w);
}

static void the_same_mmcrh_changes_nothing_and_all_ones_stops_collection(void **state)
{
	uint64_t hpmc1, links;

	(void)state;
	open_text("chips 1\ncores 2\ncollection 5\npartition 1 rights=all,lab vps=2 entitlement=200 demand=1000\n", 6);
	world_run(&w, 11);
	set_mmcrh(0x003c1200);
	world_run(&w, 5);
	assert_true(value(0x80002000, 0, "elapsed") == 15 * W);
	set_mmcrh(3);
	set_mmcrh(0x003c1200); /* back before anybody collected */
	world_run(&w, 5);
	assert_true(value(0x80002000, 0, "elapsed") == 20 * W);
	hpmc1 = value(0x80002000, 0, "hpmc1");
	links = value(0x50, 0, "total");
	set_mmcrh(UINT64_MAX);
	world_run(&w, 20);
	assert_true(value(0x80002000, 0, "mmcrh") == UINT64_MAX && value(0x80002000, 0, "elapsed") == 20 * W);
	assert_true(value(0x80002000, 0, "hpmc1") == hpmc1 && value(0x50, 0, "total") > links);
	set_mmcrh(0x003c1200);
	world_run(&w, 5);
	assert_true(value(0x80002000, 0, "elapsed") == 0 && value(0x80002000, 0, "hpmc1") == 0);
	world_close(&w);
}

/* ---- partitions ------------------------------------------------------------------------------ */

static struct power_partition wanted(uint16_t id, bool dedicated, uint16_t vps, uint32_t entitlement)
{
	return (struct power_partition){ .id = id,
					 .dedicated = dedicated,
					 .vps = vps,
					 .entitlement = entitlement,
					 .weight = 128,
					 .memory_lmbs = 4,
					 .demand = 500,
					 .ipc_n = 1,
					 .ipc_d = 1,
					 .bytes_per_tick = 1 };
}

static void partitions_come_and_go_and_leave_everything_as_it_was(void **state)
{
	struct power_partition q = wanted(9, true, 3, 0);
	const struct power_partition *list;
	struct err e = { 0 };
	uint64_t units, memory;

	(void)state;
	open_text("chips 1\ncores 6\npartition 1 rights=all,expanded entitlement=100 vps=2 demand=500\n", 6);
	world_run(&w, 3);
	units = total(0xb0, "free_shared");
	memory = total(0xb0, "free_memory");
	assert_int_equal(power_create(w.p, &q, &e), 0);
	assert_int_equal(power_partitions(w.p, &list), 2);
	assert_int_equal(list[1].id, 9);
	world_run(&w, 3);
	assert_true(value(0x20, 9, "entitled") == 9 * W);
	assert_int_equal(total(0xb0, "free_shared"), units - 300);
	assert_int_equal(total(0xb0, "free_memory"), memory - 4);
	assert_int_equal(power_delete(w.p, 9, &e), 0);
	assert_int_equal(total(0xb0, "free_shared"), units);
	assert_int_equal(total(0xb0, "free_memory"), memory);
	assert_true(power_retired(w.p).capped == 9 * W);
	world_run(&w, 3);
	assert_int_equal(power_partitions(w.p, &list), 1);
	world_close(&w);
	assert_int_equal(mem_live(), 0);
}

static void a_resized_partition_keeps_its_counters_and_where_it_ran(void **state)
{
	const struct power_partition *list;
	struct power_partition q;
	struct err e = { 0 };
	uint64_t entitled, last;

	(void)state;
	open_text("chips 2\ncores 4\npartition 1 rights=all,expanded entitlement=100 vps=2 home=1 demand=500\n", 6);
	world_run(&w, 10);
	entitled = value(0x20, 1, "entitled");
	last = value(0xa0, 1, "processor");
	power_partitions(w.p, &list);
	q = list[0];
	q.vps = 5;
	q.entitlement = 450;
	q.memory_lmbs = 1030; /* 6 blocks find room on the other chip only */
	assert_int_equal(power_resize(w.p, &q, &e), 0);
	assert_int_equal(value(0xa0, 1, "processor"), last);
	assert_int_equal(total(0xb0, "free_memory"), 2048 - 1030);
	world_run(&w, 10);
	assert_true(value(0x20, 1, "entitled") == entitled + 45 * W);
	assert_int_equal(value(0xb1, 1, "elements"), 2);
	assert_int_equal(value(0xb1, 1, "score"), 99);
	world_close(&w);
}

struct refusal {
	struct power_partition q;
	int rc;
	const char *words;
};

static void what_does_not_fit_is_refused_with_what_is_missing(void **state)
{
	struct refusal rows[] = {
		{ wanted(2, false, 4, 301), -TALLY_EBUSY, "requires 3.01 cores: of 4 shared ones 1.00" },
		{ wanted(2, true, 4, 0), -TALLY_EBUSY, "requires 4 dedicated cores: 4 are shared, and 1.00" },
		{ wanted(2, true, 5, 0), -TALLY_EBUSY, "requires 5 dedicated cores" },
		{ wanted(2, false, 1, 1), -TALLY_EBUSY, "requires 4000 blocks of memory: 1008 are free" },
		{ wanted(1, false, 1, 1), -TALLY_EINVAL, "exists already" },
		{ wanted(0, false, 1, 1), -TALLY_EINVAL, "its id" },
		{ wanted(65535, false, 1, 1), -TALLY_EINVAL, "its id" },
		{ wanted(2, false, 0, 1), -TALLY_EINVAL, "vps" },
		{ wanted(2, false, 481, 1), -TALLY_EINVAL, "vps" },
		{ wanted(2, false, 1, 0), -TALLY_EINVAL, "entitlement" },
		{ wanted(2, false, 1, 101), -TALLY_EINVAL, "entitlement" },
		{ wanted(2, false, 1, 1), -TALLY_EINVAL, "home" },
		{ wanted(2, false, 1, 1), -TALLY_EINVAL, "memory" },
		{ wanted(2, false, 1, 1), -TALLY_EINVAL, "ipc" },
		{ wanted(2, false, 1, 1), -TALLY_EINVAL, "demand" },
	};
	uint64_t units;

	(void)state;
	rows[3].q.memory_lmbs = 4000;
	rows[11].q.home = 1;
	rows[12].q.memory_lmbs = 0;
	rows[13].q.ipc_d = 0;
	rows[14].q.demand = 1001;
	open_text("chips 1\ncores 4\npartition 1 rights=all,expanded entitlement=100 vps=2\n", 6);
	units = total(0xb0, "free_shared");
	for (uint32_t i = 0; i < COUNT(rows); i++) {
		struct err e = { 0 };

		assert_int_equal(power_create(w.p, &rows[i].q, &e), rows[i].rc);
		if (!strstr(e.text, rows[i].words))
			fail_msg("'%s' does not say '%s'", e.text, rows[i].words);
		assert_int_equal(total(0xb0, "free_shared"), units);
	}
	world_close(&w);
}

static void what_cannot_change_is_refused(void **state)
{
	struct power_partition q = wanted(2, true, 2, 0);
	struct err e = { 0 };

	(void)state;
	open_text("chips 1\ncores 4\npartition 1 rights=all entitlement=100 vps=2\npartition 2 type=dedicated vps=2\n",
		  6);
	q.vps = 1;
	assert_int_equal(power_resize(w.p, &q, &e), -TALLY_EINVAL);
	assert_non_null(strstr(e.text, "keeps its 2 cores"));
	e = (struct err){ 0 };
	q = wanted(2, false, 1, 50);
	assert_int_equal(power_resize(w.p, &q, &e), -TALLY_EINVAL);
	assert_non_null(strstr(e.text, "type"));
	e = (struct err){ 0 };
	q = wanted(3, false, 1, 50);
	assert_int_equal(power_resize(w.p, &q, &e), -TALLY_EINVAL);
	assert_non_null(strstr(e.text, "no such partition"));
	e = (struct err){ 0 };
	q = wanted(1, false, 4, 201);
	assert_int_equal(power_resize(w.p, &q, &e), -TALLY_EBUSY);
	e = (struct err){ 0 };
	assert_int_equal(power_delete(w.p, 7, &e), -TALLY_EINVAL);
	world_close(&w);
}

/* ---- domains: sums of what is there ---------------------------------------------------------- */

static void domains_of(const struct gpci_table *b1, const struct power_partition *q)
{
	const struct gpci_values *v = gpci_table_find(b1, q->id, 0);
	uint64_t dedicated = 0, shared = 0, memory = 0;

	assert_non_null(v);
	for (uint32_t i = 0; i < v->nelements; i++) {
		dedicated += v->element[i].units[0];
		shared += v->element[i].units[1];
		memory += v->element[i].units[2];
		assert_int_equal(v->element[i].units[3], 0);
		assert_true(!i || v->element[i].secondary > v->element[i - 1].secondary);
	}
	assert_true(dedicated == (q->dedicated ? q->vps * 100u : 0) && shared == (q->dedicated ? 0 : q->entitlement));
	assert_int_equal(memory, q->memory_lmbs);
	assert_true(field(b1, v, "score") <= 100 && field(b1, v, "spread") <= 5);
	assert_int_equal(field(b1, v, "elements"), v->nelements);
}

static void domains_add_up_to_the_machine_and_its_partitions(void **state)
{
	(void)state;
	for (uint32_t seed = 1; seed <= 200; seed++) {
		struct dice d = { seed * UINT64_C(0x9e3779b97f4a7c15) };
		struct buf config = { 0 };
		struct room left = random_config(&d, &config);
		const struct power_partition *q;
		struct gpci_table b1, config_90;
		uint32_t n, usable = 0;

		open_text(config.p, 6);
		world_run(&w, 2);
		b1 = world_table(&w, 0xb1);
		config_90 = world_table(&w, 0x90);
		n = power_partitions(w.p, &q);
		for (uint32_t i = 0; i < n; i++)
			domains_of(&b1, &q[i]);
		for (uint32_t i = 0; i < config_90.n; i++)
			usable += field(&config_90, &config_90.v[i], "state") >= POWER_SHARED;
		assert_int_equal(total(0xb0, "processor_units"), usable * 100);
		assert_int_equal(total(0xb0, "free_shared"), left.hundredths);
		assert_true(total(0xb0, "free_dedicated") <= left.hundredths);
		assert_int_equal(total(0xb0, "free_memory"), left.lmbs);
		gpci_table_free(&b1);
		gpci_table_free(&config_90);
		world_close(&w);
		buf_free(&config);
	}
	assert_int_equal(mem_live(), 0);
}

/* ---- opening --------------------------------------------------------------------------------- */

static void levels_rights_and_loads_are_as_asked_for(void **state)
{
	struct power *p = NULL;
	struct err e = { 0 };

	(void)state;
	open_text("firmware 3\npartition 1 rights=all entitlement=1\n", 255);
	assert_int_equal(power_level(w.p), 3);
	world_close(&w);
	open_text("firmware 3\npartition 1 rights=all entitlement=1\n", 8);
	assert_int_equal(power_level(w.p), 8);
	world_close(&w);
	open_text("partition 1 entitlement=1\n", 255);
	assert_int_equal(power_level(w.p), 6);
	assert_int_equal(value(0x40, 0, "may_see_others"), 0);
	assert_int_equal(value(0x40, 0, "capability_mask"), 0x80);
	assert_int_equal(w.p->ncores, 16);
	world_close(&w);
	assert_int_equal(power_open(&p, &(struct power_opts){ .level = 4 }, &e), -TALLY_EINVAL);
	assert_non_null(strstr(e.text, "level 4"));
	e = (struct err){ 0 };
	assert_int_equal(power_open(&p, &(struct power_opts){ .load = "mixd" }, &e), -TALLY_EINVAL);
	assert_non_null(strstr(e.text, "did you mean 'mixed'"));
	world_open(&w, &(struct power_opts){ .level = 6, .rights_given = true, .rights = { .all = true } }, NULL, NULL);
	assert_int_equal(value(0x40, 0, "capability_mask"), 0x80);
	world_close(&w);
	power_close(NULL);
	assert_null(power_load_at(99));
}

static void every_failing_allocation_is_survived(void **state)
{
	(void)state;
	for (long n = 1;; n++) {
		struct power_partition q = wanted(70, false, 3, 30);
		const struct power_partition *list;
		struct power *p = NULL;
		struct err e = { 0 };
		int rc;

		mem_fail_at(n);
		rc = power_open(&p, &(struct power_opts){ .level = 6 }, &e);
		if (rc == 0)
			rc = power_create(p, &q, &e);
		q.vps = 9;
		if (rc == 0)
			rc = power_resize(p, &q, &e);
		if (rc == 0) {
			power_run(p, 3 * W);
			power_partitions(p, &list);
		}
		power_close(p);
		if (!mem_failed()) {
			assert_int_equal(rc, 0);
			break;
		}
		assert_true(rc == -TALLY_ENOMEM || rc == 0);
		assert_int_equal(mem_live(), 0);
	}
	mem_fail_at(0);
	assert_int_equal(mem_live(), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_same_seed_gives_the_same_counters_and_another_gives_others),
		cmocka_unit_test(time_does_not_go_back_and_moves_in_whole_windows),
		cmocka_unit_test(every_load_moves_all_that_it_has),
		cmocka_unit_test(loads_of_machines_did_not_match_their_descriptions),
		cmocka_unit_test(load_moving_did_not_match_its_description),
		cmocka_unit_test(load_links_keeps_every_wired_link_between_5_and_95_percent),
		cmocka_unit_test(load_contended_gives_by_weight_to_the_tick),
		cmocka_unit_test(load_donating_shows_borrowed_processors_of_the_giver),
		cmocka_unit_test(who_wants_less_than_its_share_gets_it_and_the_others_share_the_rest),
		cmocka_unit_test(a_capped_partition_and_weight_0_wait_for_entitlement_though_there_is_room),
		cmocka_unit_test(a_dedicated_partition_that_keeps_its_time_is_100_percent_utilized),
		cmocka_unit_test(what_nobody_takes_is_not_donated),
		cmocka_unit_test(processors_near_home_go_first),
		cmocka_unit_test(processors_that_are_not_used_are_listed_with_their_states),
		cmocka_unit_test(index_speaks_of_hardware_ids_at_level_0_and_of_positions_later),
		cmocka_unit_test(the_own_processor_is_the_one_that_it_ran_on_last),
		cmocka_unit_test(a_processor_without_run_counts_shows_zeros),
		cmocka_unit_test(local_work_leaves_links_idle_and_unwired_ones_are_all_ones),
		cmocka_unit_test(remote_memory_makes_both_ends_of_the_way_busy_and_nothing_else),
		cmocka_unit_test(an_overloaded_link_is_not_idle_and_free_when_the_work_ends),
		cmocka_unit_test(controllers_counted_twice_what_a_full_cable_carried),
		cmocka_unit_test(waiting_for_memory_did_not_raise_cpi),
		cmocka_unit_test(a_quarter_of_all_frames_were_writes_whatever_ran),
		cmocka_unit_test(both_controllers_of_a_chip_counted_the_same_whatever_memory_they_hold),
		cmocka_unit_test(a_controller_that_is_full_was_not_limited),
		cmocka_unit_test(waits_were_longer_than_a_window),
		cmocka_unit_test(the_last_virtual_processors_of_a_short_partition_never_ran),
		cmocka_unit_test(hypervisor_time_was_0_exactly_when_cores_were_full),
		cmocka_unit_test(level_0_has_the_same_links_in_the_specs_layout),
		cmocka_unit_test(mmcrh_takes_effect_at_the_next_collection_and_starts_the_counters_anew),
		cmocka_unit_test(the_same_mmcrh_changes_nothing_and_all_ones_stops_collection),
		cmocka_unit_test(partitions_come_and_go_and_leave_everything_as_it_was),
		cmocka_unit_test(a_resized_partition_keeps_its_counters_and_where_it_ran),
		cmocka_unit_test(what_does_not_fit_is_refused_with_what_is_missing),
		cmocka_unit_test(what_cannot_change_is_refused),
		cmocka_unit_test(domains_add_up_to_the_machine_and_its_partitions),
		cmocka_unit_test(levels_rights_and_loads_are_as_asked_for),
		cmocka_unit_test(every_failing_allocation_is_survived),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
