/*
 * niagara_test.c: the model against its geometry: what fits and what does not, who serves a miss, what it costs, what a
 * counter shows.
 */
#include "base/range.h"
#include "machine/niagara_int.h"
#include "machine/niagara_test_int.h"

static struct rig r;

struct chip {
	const char *name;
	uint32_t sockets;
};
static const struct chip t1 = { "niagara", 1 }, vf = { "batoka", 1 };

static void open_chip(const struct chip *c)
{
	rig_open(&r, c->name, c->sockets, (struct niagara_opts){ 0 });
}

/* Goes through `count` addresses `step` apart, `rounds` times; returns what *counted grew in the last round. */
static uint64_t rounds(uint8_t kind, uint64_t from, uint64_t step, uint32_t count, uint32_t times,
		       const uint64_t *counted)
{
	uint64_t was = 0;

	for (uint32_t k = 0; k < times; k++) {
		was = *counted;
		for (uint32_t i = 0; i < count; i++)
			ref(&r, kind, 0, from + i * step);
	}
	return *counted - was;
}

/* ---- caches: sizes, ways, lines --------------------------------------------------------------------------- */

struct shape {
	const struct chip *chip;
	uint8_t kind;
	uint32_t bytes, line, ways;
};
static const struct shape level1[] = {
	{ &t1, NIAGARA_FETCH, 16384, 32, 4 },
	{ &t1, NIAGARA_LOAD, 8192, 16, 4 },
	{ &vf, NIAGARA_FETCH, 16384, 32, 8 },
	{ &vf, NIAGARA_LOAD, 8192, 16, 4 },
};

static const uint64_t *missed(const struct shape *s)
{
	return s->kind == NIAGARA_FETCH ? &truth(&r)->ic_miss : &truth(&r)->dc_miss;
}

static void what_fits_in_level_1_is_missed_once_and_one_line_more_is_missed_for_ever(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < COUNT(level1); i++) {
		const struct shape *s = &level1[i];
		const uint32_t lines = s->bytes / s->line, way = s->bytes / s->ways;

		open_chip(s->chip);
		assert_int_equal(rounds(s->kind, PAGES(4M), s->line, lines, 1, missed(s)), lines);
		assert_int_equal(rounds(s->kind, PAGES(4M), s->line, lines, 3, missed(s)), 0);
		rig_close(&r);
		open_chip(s->chip); /* one set: as many lines as ways */
		assert_int_equal(rounds(s->kind, PAGES(4M), way, s->ways, 3, missed(s)), 0);
		rig_close(&r);
		open_chip(s->chip); /* round robin: the one that is missed is the next that goes */
		assert_int_equal(rounds(s->kind, PAGES(4M), way, s->ways + 1, 3, missed(s)), s->ways + 1);
		rig_close(&r);
	}
}

static void a_line_of_level_1_is_16_bytes_of_data_or_32_of_code(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < COUNT(level1); i++) {
		const struct shape *s = &level1[i];

		open_chip(s->chip);
		assert_int_equal(rounds(s->kind, PAGES(4M), 1, 256, 1, missed(s)), 256 / s->line);
		assert_int_equal(truth(&r)->l2_imiss + truth(&r)->l2_dmiss_ld, 256 / 64);
		rig_close(&r);
	}
}

static void stores_are_written_through_and_take_no_place_in_level_1(void **state)
{
	(void)state;
	open_chip(&vf);
	for (uint32_t i = 0; i < 10; i++)
		ref(&r, NIAGARA_STORE, 0, 0x1000);
	assert_int_equal(truth(&r)->l2_miss_store, 1);
	ref(&r, NIAGARA_LOAD, 0, 0x1000);
	assert_int_equal(truth(&r)->dc_miss, 1);
	ref(&r, NIAGARA_STORE, 0, 0x1000); /* one's own store updates the line */
	ref(&r, NIAGARA_LOAD, 0, 0x1000);
	assert_int_equal(truth(&r)->dc_miss, 1);
	assert_int_equal(truth(&r)->l2_dmiss_ld, 0);
	rig_close(&r);
}

static uint64_t misses_of_loads(uint64_t from, uint64_t step, uint32_t count)
{
	return rounds(NIAGARA_LOAD, from, step, count, 3, &truth(&r)->l2_dmiss_ld);
}

/* 3 MB in 12 ways and 4 MB in 16, of 64-byte lines; pages of 256 MB, so that nothing else uses the cache. */
static void what_fits_in_level_2_is_not_missed_and_half_as_much_again_is(void **state)
{
	static const struct {
		const struct chip *chip;
		uint32_t lines;
	} rows[] = { { &t1, 3 * 16384 }, { &vf, 4 * 16384 } };

	(void)state;
	for (uint32_t i = 0; i < COUNT(rows); i++) {
		open_chip(rows[i].chip);
		assert_int_equal(misses_of_loads(PAGES(256M), 64, rows[i].lines), 0);
		rig_close(&r);
		open_chip(rows[i].chip);
		assert_true(misses_of_loads(PAGES(256M), 64, rows[i].lines * 3 / 2) > rows[i].lines / 4);
		rig_close(&r);
	}
}

/* Niagara: set PA[17:8], bank PA[7:6]: 256 KB apart is the same set. */
static void a_set_of_niagaras_level_2_has_12_ways(void **state)
{
	(void)state;
	open_chip(&t1);
	assert_int_equal(misses_of_loads(PAGES(256M), 256 << 10, 12), 0);
	rig_close(&r);
	open_chip(&t1);
	assert_true(misses_of_loads(PAGES(256M), 256 << 10, 13) > 0);
	rig_close(&r);
	open_chip(&t1); /* next to each other in the index: other sets */
	assert_int_equal(misses_of_loads(PAGES(256M), (256 << 10) + 64, 13), 0);
	rig_close(&r);
}

/* Victoria Falls: bits 27:20 are in no part of the index. */
static void a_set_of_victoria_falls_level_2_has_16_ways(void **state)
{
	(void)state;
	open_chip(&vf);
	assert_int_equal(misses_of_loads(PAGES(256M), MB, 16), 0);
	rig_close(&r);
	open_chip(&vf);
	assert_true(misses_of_loads(PAGES(256M), MB, 17) > 0);
	rig_close(&r);
}

/* PA[32:28]^PA[17:13] . PA[19:18]^PA[12:11] . PA[10:6]: two bits that meet in the index undo each other. */
static void the_index_of_victoria_falls_level_2_is_hashed(void **state)
{
	static const uint8_t meet[][2] = { { 28, 13 }, { 29, 14 }, { 30, 15 }, { 31, 16 },
					   { 32, 17 }, { 18, 11 }, { 19, 12 } };

	(void)state;
	for (uint32_t i = 0; i < COUNT(meet); i++)
		for (uint32_t both = 0; both < 2; both++) {
			uint64_t other = 1ull << meet[i][0] | (both ? 1ull << meet[i][1] : 0);

			open_chip(&vf);
			for (uint32_t k = 0; k < 3; k++) {
				(void)rounds(NIAGARA_LOAD, PAGES(256M), MB, 16, 1, &truth(&r)->dc_miss);
				ref(&r, NIAGARA_LOAD, 0, PAGES(256M) | other);
			}
			/* Both bits: a seventeenth line of the set. One: another set. */
			assert_true(both ? truth(&r)->l2_dmiss_ld > 17 : truth(&r)->l2_dmiss_ld == 17);
			rig_close(&r);
		}
}

/* ---- TLBs and TSBs ------------------------------------------------------------------------------------------ */

static void tlbs_hold_as_many_pages_as_the_chip_has_entries(void **state)
{
	static const struct {
		const struct chip *chip;
		uint8_t kind;
		uint32_t entries;
	} rows[] = {
		{ &t1, NIAGARA_FETCH, 64 },
		{ &t1, NIAGARA_LOAD, 64 },
		{ &vf, NIAGARA_FETCH, 64 },
		{ &vf, NIAGARA_LOAD, 128 },
	};
	static const uint32_t bits[] = { 13, 16, 22, 28 };

	(void)state;
	for (uint32_t i = 0; i < COUNT(rows); i++)
		for (uint64_t size = 0; size < MMUSTAT_SIZES; size++) {
			const uint64_t *counted;

			open_chip(rows[i].chip);
			counted = rows[i].kind == NIAGARA_FETCH ? &truth(&r)->itlb_miss : &truth(&r)->dtlb_miss;
			assert_int_equal(rounds(rows[i].kind, size << 48, 1ull << bits[size], rows[i].entries, 1,
						counted),
					 rows[i].entries);
			assert_int_equal(rounds(rows[i].kind, size << 48, 1ull << bits[size], rows[i].entries, 2,
						counted),
					 0);
			assert_int_equal(rounds(rows[i].kind, size << 48, 1ull << bits[size], rows[i].entries + 1, 3,
						counted),
					 rows[i].entries + 1);
			rig_close(&r);
		}
}

static void a_page_is_as_large_as_its_size(void **state)
{
	static const uint64_t bytes[] = { 8 << 10, 64 << 10, 4 * MB, 256 * MB };

	(void)state;
	for (uint64_t size = 0; size < MMUSTAT_SIZES; size++) {
		open_chip(&vf);
		ref(&r, NIAGARA_LOAD, 0, size << 48);
		ref(&r, NIAGARA_LOAD, 0, (size << 48) + bytes[size] - 8);
		assert_int_equal(truth(&r)->dtlb_miss, 1);
		ref(&r, NIAGARA_LOAD, 0, (size << 48) + bytes[size]);
		assert_int_equal(truth(&r)->dtlb_miss, 2);
		rig_close(&r);
	}
}

/* The strands of a core share its TLBs; sides, sizes and contexts are told apart. */
static void translations_are_a_cores_a_contexts_and_a_sizes(void **state)
{
	struct niagara_ref x = { .context = 1, .kind = NIAGARA_LOAD, .instructions = 1 };

	(void)state;
	open_chip(&vf);
	niagara_refs(r.n, &x, 1);
	x.strand = 7;
	niagara_refs(r.n, &x, 1);
	assert_int_equal(truth(&r)->dtlb_miss, 1);
	x.strand = 8; /* the next core */
	niagara_refs(r.n, &x, 1);
	assert_int_equal(truth(&r)->dtlb_miss, 2);
	x.context = 2;
	niagara_refs(r.n, &x, 1);
	assert_int_equal(truth(&r)->dtlb_miss, 3);
	x.va = PAGES(64K);
	niagara_refs(r.n, &x, 1);
	assert_int_equal(truth(&r)->dtlb_miss, 4);
	x.kind = NIAGARA_FETCH;
	niagara_refs(r.n, &x, 1);
	assert_int_equal(truth(&r)->dtlb_miss, 4);
	assert_int_equal(truth(&r)->itlb_miss, 1);
	rig_close(&r);
}

/* 2,048 entries: pages that follow each other never push each other out, and twice as many always do. */
static void a_tsb_holds_2048_pages_that_follow_each_other(void **state)
{
	(void)state;
	open_chip(&t1);
	assert_int_equal(rounds(NIAGARA_LOAD, 0, 8192, 2048, 1, &truth(&r)->tsb_miss), 2048);
	assert_int_equal(rounds(NIAGARA_LOAD, 0, 8192, 2048, 2, &truth(&r)->tsb_miss), 0);
	assert_int_equal(truth(&r)->tsb_hit[1][1][MMUSTAT_8K], 2 * 2048);
	assert_int_equal(rounds(NIAGARA_LOAD, 0, 8192, 4096, 2, &truth(&r)->tsb_miss), 4096);
	rig_close(&r);
}

static void context_0_has_permanent_mappings_that_are_no_tsb_hits(void **state)
{
	struct niagara_ref x = { .kind = NIAGARA_LOAD, .level = NIAGARA_SYSTEM, .instructions = 1 };

	(void)state;
	open_chip(&t1);
	for (uint32_t i = 0; i < 3; i++) { /* the first two 4M pages; the third is in memory like any other */
		x.va = PAGES(4M) | i * 4 * MB;
		niagara_refs(r.n, &x, 1);
	}
	assert_int_equal(truth(&r)->permanent_hit, 2);
	assert_int_equal(truth(&r)->tsb_miss, 1);
	x.context = 1;
	x.va = PAGES(4M);
	niagara_refs(r.n, &x, 1);
	assert_int_equal(truth(&r)->permanent_hit, 2);
	rig_close(&r);
}

static void only_victoria_falls_walks(void **state)
{
	(void)state;
	open_chip(&vf);
	ref(&r, NIAGARA_LOAD, 0, 0);
	ref(&r, NIAGARA_LOAD, 0, 8192); /* four entries of 16 bytes are one line */
	assert_int_equal(truth(&r)->walks, 2);
	assert_int_equal(truth(&r)->l2_miss_walk, 1);
	assert_int_equal(truth(&r)->tsb_miss, 0);
	rig_close(&r);
	open_chip(&t1);
	ref(&r, NIAGARA_LOAD, 0, 0);
	assert_int_equal(truth(&r)->walks, 0);
	assert_int_equal(truth(&r)->tsb_miss, 1);
	rig_close(&r);
}

/* ---- the genuine hypervisor's MMU statistics ------------------------------------------------------------------- */

static uint64_t slot(uint32_t strand, bool data, bool context, enum mmustat_size size)
{
	return be64_get((uint8_t *)r.ram[strand] + mmustat_slot(data, context, size));
}
static uint64_t ticks(uint32_t strand, bool data, bool context, enum mmustat_size size)
{
	return be64_get((uint8_t *)r.ram[strand] + mmustat_slot(data, context, size) + 8);
}
static void conf(uint64_t ra, enum hv_status want)
{
	uint64_t o[6] = { ra, 0, 0, 0, 0, SUN4V_MMUSTAT_CONF };

	assert_true(sun4v_call(r.v[0], HV_FAST_TRAP, o));
	assert_int_equal(o[0], want);
}
static void kernel_ref(uint8_t kind, uint16_t context, uint64_t va)
{
	niagara_refs(r.n,
		     &(struct niagara_ref){
			     .va = va, .context = context, .kind = kind, .level = NIAGARA_SYSTEM, .instructions = 1 },
		     1);
}
/* What the observation had before it began: a TSB entry, and a TLB that has it no more. */
static void prepare(uint8_t kind, uint16_t context, uint64_t va)
{
	kernel_ref(kind, context, va);
	for (uint64_t i = 0; i < 64; i++)
		kernel_ref(kind, 0x99, PAGES(4M) | (64 + i) * 4 * MB);
}

static void open_recorded(void)
{
	rig_open(&r, "niagara", 1, (struct niagara_opts){ .recorded_ticks = true });
}

/* Each step is what was done to the genuine one; its slots are hits, ticks were 5 to 7 a hit. */
static void hits_are_counted_as_the_genuine_hypervisor_counted_them(void **state)
{
	static const struct {
		uint8_t kind;
		uint16_t context;
		uint64_t va;
		bool side;
		enum mmustat_size size;
	} steps[] = {
		{ NIAGARA_LOAD, 0, 0x40000000, 1, MMUSTAT_8K }, /* first 8K load */
		{ NIAGARA_LOAD, 0, 0x40000000, 1, MMUSTAT_8K }, /* same page after demap_page */
		{ NIAGARA_LOAD, 0, PAGES(64K) | 0x50000000, 1, MMUSTAT_64K },
		{ NIAGARA_LOAD, 0, PAGES(4M) | 0x60000000, 1, MMUSTAT_4M },
		{ NIAGARA_LOAD, 5, 0x40000000, 1, MMUSTAT_8K },  /* secondary context 5 */
		{ NIAGARA_STORE, 0, 0x40002000, 1, MMUSTAT_8K }, /* store to a code page */
		{ NIAGARA_FETCH, 0, 0x40004000, 0, MMUSTAT_8K },
	};

	(void)state;
	open_recorded();
	conf(RAM_BASE, HV_EOK);
	for (uint32_t i = 0; i < MMUSTAT_BYTES / 8; i++)
		assert_int_equal(r.ram[0][i], 0); /* idle */
	for (uint32_t i = 0; i < COUNT(steps); i++) {
		uint64_t was, then;

		prepare(steps[i].kind, steps[i].context, steps[i].va);
		was = slot(0, steps[i].side, steps[i].context, steps[i].size);
		then = ticks(0, steps[i].side, steps[i].context, steps[i].size);
		kernel_ref(steps[i].kind, steps[i].context, steps[i].va);
		kernel_ref(steps[i].kind, steps[i].context, steps[i].va); /* in the TLB now */
		assert_int_equal(slot(0, steps[i].side, steps[i].context, steps[i].size), was + 1);
		then = ticks(0, steps[i].side, steps[i].context, steps[i].size) - then;
		assert_uint_in_range(then, 5, 7);
	}
	rig_close(&r);
}

/* 32 pages ten times, three of them in the TLB: 29. Then 100 pages ten times, more than the TLB has: 1000 - 32. */
static void loops_over_pages_hit_as_often_as_on_the_genuine_one(void **state)
{
	(void)state;
	open_recorded();
	for (uint32_t i = 0; i < 100; i++)
		kernel_ref(NIAGARA_LOAD, 0, 0x40000000 + i * 8192);
	prepare(NIAGARA_LOAD, 0, 0x70000000);
	for (uint32_t i = 0; i < 3; i++)
		kernel_ref(NIAGARA_LOAD, 0, 0x40000000 + i * 8192);
	conf(RAM_BASE, HV_EOK);
	for (uint32_t i = 0; i < 320; i++)
		kernel_ref(NIAGARA_LOAD, 0, 0x40000000 + i % 32 * 8192);
	assert_int_equal(slot(0, true, false, MMUSTAT_8K), 29);
	assert_uint_in_range(ticks(0, true, false, MMUSTAT_8K), 29 * 5, 29 * 7);
	memset(r.ram, 0, sizeof(r.ram));
	for (uint32_t i = 0; i < 1000; i++)
		kernel_ref(NIAGARA_LOAD, 0, 0x40000000 + i % 100 * 8192);
	assert_int_equal(slot(0, true, false, MMUSTAT_8K), 968);
	assert_uint_in_range(ticks(0, true, false, MMUSTAT_8K), 968 * 5, 968 * 7);
	rig_close(&r);
}

/* How much the strand's %tick grows over one load. */
static uint64_t load_takes(uint64_t va)
{
	const uint64_t was = niagara_ops.tick(r.n, 0);

	kernel_ref(NIAGARA_LOAD, 5, va);
	return niagara_ops.tick(r.n, 0) - was;
}

/* Of two lines of one page, both in level 2 and not in level 1, the first load misses the TLB and hits the TSB, the
 * second does not: what it takes more is the walk's, and the buffer has the same. They were the constants 6 and 7. */
static void ticks_of_a_tsb_hit_were_constants(void **state)
{
	const uint64_t page = 0x40000000, way = 2048; /* way: of level 1 */
	uint64_t with, without;

	(void)state;
	open_chip(&t1);
	conf(RAM_BASE, HV_EOK);
	for (uint64_t i = 0; i < 2; i++)
		kernel_ref(NIAGARA_LOAD, 5, page + i * way);
	for (uint64_t i = 0; i < 64; i++) /* the page goes from the TLB, the lines from level 1 only */
		kernel_ref(NIAGARA_LOAD, 0x99, PAGES(4M) | ((64 + i) * 4 * MB + i * 4 * way));
	assert_int_equal(slot(0, true, true, MMUSTAT_8K), 0);
	with = load_takes(page);
	without = load_takes(page + way);
	assert_int_equal(slot(0, true, true, MMUSTAT_8K), 1);
	assert_true(with > without);
	assert_int_equal(ticks(0, true, true, MMUSTAT_8K), with - without);
	rig_close(&r);
}

static void after_conf_0_and_after_an_error_no_hit_is_counted(void **state)
{
	(void)state;
	for (uint32_t how = 0; how < 2; how++) {
		open_chip(&t1);
		conf(RAM_BASE, HV_EOK);
		prepare(NIAGARA_LOAD, 0, 0x40000000);
		conf(how ? RAM_BASE + 4 : 0, how ? HV_EBADALIGN : HV_EOK);
		memset(r.ram, 0, sizeof(r.ram));
		kernel_ref(NIAGARA_LOAD, 0, 0x40000000);
		assert_int_equal(slot(0, true, false, MMUSTAT_8K), 0);
		assert_int_equal(truth(&r)->tsb_hit[1][0][MMUSTAT_8K], 1);
		rig_close(&r);
	}
}

/* ---- who serves a miss ------------------------------------------------------------------------------------------ */

static void a_lines_home_and_controller_are_its_address(void **state)
{
	static const struct {
		const char *name;
		uint32_t sockets;
		uint8_t home[4];
	} rows[] = {
		{ "niagara", 1, { 0, 0, 0, 0 } }, { "maramba", 1, { 0, 0, 0, 0 } }, { "maramba", 2, { 0, 1, 0, 1 } },
		{ "batoka", 1, { 0, 0, 0, 0 } },  { "batoka", 2, { 0, 1, 0, 1 } },  { "batoka", 3, { 0, 1, 2, 0 } },
		{ "batoka", 4, { 0, 1, 2, 3 } },
	};

	(void)state;
	for (uint32_t i = 0; i < COUNT(rows); i++)
		for (uint64_t gb = 0; gb < 4; gb++)
			for (uint64_t bit12 = 0; bit12 < 2; bit12++) {
				const uint32_t home = rows[i].home[gb];
				uint64_t was;

				rig_open(&r, rows[i].name, rows[i].sockets, (struct niagara_opts){ 0 });
				ref(&r, NIAGARA_LOAD, 0,
				    PAGES(256M) | gb * GB); /* the page; its line may be another controller's */
				was = truth(&r)->mcu_reads[home][bit12];
				ref(&r, NIAGARA_LOAD, 0, PAGES(256M) | gb * GB | bit12 << 12 | 0x240);
				assert_int_equal(truth(&r)->mcu_reads[home][bit12], was + 1);
				rig_close(&r);
			}
}

static void assert_served(uint64_t local, uint64_t remote, uint64_t cache)
{
	assert_int_equal(truth(&r)->served[0], local);
	assert_int_equal(truth(&r)->served[1], remote);
	assert_int_equal(truth(&r)->served[2], cache);
}

/* Node 0 stores, node 1 loads: from node 0's cache while that owns the line, and memory is not asked. */
static void a_dirty_line_of_another_node_is_transferred_from_its_cache(void **state)
{
	uint64_t l, m;

	(void)state;
	rig_open(&r, "maramba", 2, (struct niagara_opts){ 0 });
	ref(&r, NIAGARA_LOAD, 0, PAGES(256M)); /* the walks of both nodes are over */
	ref(&r, NIAGARA_LOAD, 64, PAGES(256M));
	l = truth(&r)->served[0];
	m = truth(&r)->served[1];
	ref(&r, NIAGARA_STORE, 0, PAGES(256M) | 0x40);
	assert_served(l + 1, m, 0);
	ref(&r, NIAGARA_LOAD, 64, PAGES(256M) | 0x40);
	assert_served(l + 1, m, 1);
	ref(&r, NIAGARA_LOAD, 64, PAGES(256M) | 0x60); /* the same line of level 2, another of level 1 */
	ref(&r, NIAGARA_LOAD, 0, PAGES(256M) | 0x40);  /* who stored has it still */
	assert_served(l + 1, m, 1);
	ref(&r, NIAGARA_STORE, 64, PAGES(256M) | 0x40); /* shared: the right is asked for, no data moves */
	assert_served(l + 1, m, 1);
	assert_int_equal(truth(&r)->upgrades, 1);
	ref(&r, NIAGARA_LOAD, 0, PAGES(256M) | 0x40); /* and node 0 has it no more, in level 1 neither */
	assert_served(l + 1, m, 2);
	assert_int_equal(truth(&r)->writebacks, 0);
	rig_close(&r);
}

static void a_clean_line_of_another_node_comes_from_memory(void **state)
{
	uint64_t l, m;

	(void)state;
	rig_open(&r, "batoka", 4, (struct niagara_opts){ 0 });
	for (uint16_t node = 0; node < 4; node++)
		ref(&r, NIAGARA_LOAD, node * 64, PAGES(256M) | 2 * GB);
	l = truth(&r)->served[0];
	m = truth(&r)->served[1];
	for (uint16_t node = 0; node < 4; node++)
		ref(&r, NIAGARA_LOAD, node * 64, PAGES(256M) | 2 * GB | 0x40);
	assert_served(l + 1, m + 3, 0);
	rig_close(&r);
}

static void a_store_takes_the_line_from_all_other_caches(void **state)
{
	uint64_t misses;

	(void)state;
	rig_open(&r, "batoka", 4, (struct niagara_opts){ 0 });
	for (uint16_t strand = 0; strand < 256; strand += 8)
		ref(&r, NIAGARA_LOAD, strand, PAGES(256M));
	ref(&r, NIAGARA_STORE, 3, PAGES(256M));
	misses = truth(&r)->dc_miss;
	for (uint16_t strand = 0; strand < 256; strand += 8) /* all but strand 0, of the storing core, lost it */
		ref(&r, NIAGARA_LOAD, strand, PAGES(256M));
	assert_int_equal(truth(&r)->dc_miss, misses + 31);
	rig_close(&r);
}

static void a_store_to_code_takes_it_from_the_own_instruction_cache_too(void **state)
{
	(void)state;
	open_chip(&vf);
	ref(&r, NIAGARA_FETCH, 0, 0x2000);
	ref(&r, NIAGARA_STORE, 0, 0x2000);
	ref(&r, NIAGARA_FETCH, 0, 0x2000);
	assert_int_equal(truth(&r)->ic_miss, 2);
	rig_close(&r);
}

static void a_dirty_line_that_goes_is_written_back_to_its_home(void **state)
{
	(void)state;
	rig_open(&r, "batoka", 4, (struct niagara_opts){ 0 });
	for (uint64_t i = 0; i < 40; i++)
		ref(&r, NIAGARA_STORE, 0, PAGES(256M) | 3 * GB | i * MB); /* one set: 16 stay */
	assert_uint_in_range(truth(&r)->writebacks, 24, 26);
	assert_int_equal(truth(&r)->mcu_writes[3][0], truth(&r)->writebacks);
	rig_close(&r);
}

/* To its own memory a node writes alone; to another's it goes between nodes, through the plane of its address. */
static void a_write_back_is_between_nodes_when_another_is_the_lines_home(void **state)
{
	(void)state;
	for (uint64_t home = 0; home < 4; home++) {
		const struct niagara_truth *t;
		uint64_t fills = 0, writes = 0, planes = 0;

		rig_open(&r, "batoka", 4, (struct niagara_opts){ 0 });
		t = truth(&r);
		for (uint64_t i = 0; i < 40; i++)
			ref(&r, NIAGARA_STORE, 0, PAGES(256M) | home * GB | i * MB);
		for (uint32_t i = 0; i < COUNT(t->served); i++)
			fills += t->served[i];
		for (uint32_t i = 0; i < COUNT(t->plane); i++)
			planes += t->plane[i];
		for (uint32_t i = 0; i < 4; i++)
			writes += t->mcu_writes[i][0] + t->mcu_writes[i][1];
		assert_uint_in_range(t->writebacks, 24, 26);
		assert_int_equal(writes, t->writebacks);
		assert_int_equal(t->mcu_writes[home][0], t->writebacks);
		assert_int_equal(t->transactions, fills + (home == 0 ? 0 : t->writebacks));
		assert_int_equal(planes, t->transactions);
		rig_close(&r);
	}
}

/* Memory has the old bytes still; who reads the line from the owner has it clean. */
static void a_stored_line_that_others_have_read_is_written_back_when_its_owner_drops_it(void **state)
{
	(void)state;
	rig_open(&r, "batoka", 4, (struct niagara_opts){ 0 });
	ref(&r, NIAGARA_STORE, 0, PAGES(256M) | 3 * GB);
	ref(&r, NIAGARA_LOAD, 64, PAGES(256M) | 3 * GB);
	ref(&r, NIAGARA_LOAD, 128, PAGES(256M) | 3 * GB); /* the owner stays the owner */
	assert_int_equal(truth(&r)->served[2], 2);        /* both had it from him */
	assert_int_equal(truth(&r)->writebacks, 0);
	for (uint64_t i = 1; i < 40; i++) /* one set: 16 stay; the others drop their clean ones, too */
		for (uint16_t node = 0; node < 3; node++)
			ref(&r, NIAGARA_LOAD, node * 64, PAGES(256M) | 3 * GB | i * MB);
	assert_int_equal(truth(&r)->writebacks, 1);
	assert_int_equal(truth(&r)->mcu_writes[3][0], 1);
	rig_close(&r);
}

/* ---- time ------------------------------------------------------------------------------------ */

static uint64_t cost(uint8_t kind, uint64_t va)
{
	const total *cycles = &r.n->strand[0].cycles;
	uint64_t was = now_of(cycles);

	ref(&r, kind, 0, va);
	return now_of(cycles) - was;
}

static void costs_have_an_order(void **state)
{
	uint64_t hit, level2, local, remote, cache;

	(void)state;
	rig_open(&r, "maramba", 2, (struct niagara_opts){ 0 });
	ref(&r, NIAGARA_LOAD, 0, PAGES(256M));
	ref(&r, NIAGARA_STORE, 64, PAGES(256M) | 0x1000);
	ref(&r, NIAGARA_LOAD, 0, PAGES(256M) | GB);
	hit = cost(NIAGARA_LOAD, PAGES(256M) | GB);
	level2 = cost(NIAGARA_LOAD, PAGES(256M) | GB | 0x20);
	remote = cost(NIAGARA_LOAD, PAGES(256M) | GB | 0x2040);
	ref(&r, NIAGARA_LOAD, 0, PAGES(256M));
	local = cost(NIAGARA_LOAD, PAGES(256M) | 0x2040);
	cache = cost(NIAGARA_LOAD, PAGES(256M) | 0x1000);
	assert_int_equal(hit, 1);
	assert_true(hit < level2 && level2 < local && local < cache && cache < remote);
	rig_close(&r);
}

/* Eight stores are on their way at once; the ninth waits for the first. An atomic waits for all of them. */
static void a_strand_waits_for_a_store_only_when_its_buffer_is_full(void **state)
{
	(void)state;
	open_chip(&vf);
	ref(&r, NIAGARA_LOAD, 0, PAGES(256M));
	for (uint64_t i = 1; i <= 8; i++)
		assert_int_equal(cost(NIAGARA_STORE, PAGES(256M) | i * 64), 1);
	assert_true(cost(NIAGARA_STORE, PAGES(256M) | 9 * 64) > 50);
	for (uint32_t i = 0; i < 20; i++) /* stores that hit are done before the buffer is full */
		ref(&r, NIAGARA_STORE, 0, PAGES(256M) | 64);
	assert_true(cost(NIAGARA_ATOMIC, PAGES(256M) | 64) >= 20);
	ref(&r, NIAGARA_STORE, 0, PAGES(256M) | MB);
	assert_true(cost(NIAGARA_ATOMIC, PAGES(256M) | 64) > 100);
	rig_close(&r);
}

/* A queue is of those that run together: who comes from long ago meets none. */
static void a_strand_far_behind_meets_no_queue(void **state)
{
	(void)state;
	open_chip(&vf);
	for (uint64_t i = 0; i < 100000; i++)
		ref(&r, NIAGARA_LOAD, 8, PAGES(256M) | i * 64);
	ref(&r, NIAGARA_LOAD, 0, PAGES(256M));
	assert_true(cost(NIAGARA_LOAD, PAGES(256M) | 100 * MB) < 300);
	rig_close(&r);
}

static void the_clock_is_the_farthest_strands_and_goes_on_when_told(void **state)
{
	(void)state;
	open_chip(&vf);
	for (uint32_t i = 0; i < 50; i++)
		ref(&r, NIAGARA_FETCH, 0, 0x1000);
	assert_int_equal(niagara_now(r.n), niagara_ops.tick(r.n, 0));
	assert_int_equal(niagara_ops.tick(r.n, 9), niagara_now(r.n)); /* of a strand that does nothing too */
	niagara_run(r.n, 1000000);
	assert_int_equal(niagara_now(r.n), 1000000);
	niagara_run(r.n, 5);
	assert_int_equal(niagara_now(r.n), 1000000);
	rig_close(&r);
}

static void references_of_no_strand_kind_or_level_are_left_out(void **state)
{
	const struct niagara_ref bad[] = {
		{ .strand = 64 }, { .strand = UINT16_MAX }, { .kind = 4 }, { .kind = 255 }, { .level = 3 }
	};

	(void)state;
	open_chip(&vf);
	niagara_refs(r.n, bad, COUNT(bad));
	assert_int_equal(truth(&r)->refs[0], 0);
	niagara_vcpu(r.n, UINT32_MAX, NULL);
	rig_close(&r);
}

/* ---- opening --------------------------------------------------------------------------------- */

static void a_load_that_is_none_is_refused_with_the_nearest(void **state)
{
	struct niagara *n = NULL;
	struct err e = { 0 }, f = { 0 };

	(void)state;
	assert_int_equal(niagara_open(&n, sun4v_kind("batoka", 0), &(struct niagara_opts){ .load = "pingpng" }, &e),
			 -TALLY_EINVAL);
	assert_non_null(strstr(e.text, "'pingpong'"));
	assert_int_equal(niagara_open(&n, sun4v_kind("niagara", 0),
				      &(struct niagara_opts){ .load = "chase", .strands = 33 }, &f),
			 -TALLY_EINVAL);
	assert_non_null(strstr(f.text, "32"));
	assert_null(n);
	niagara_close(NULL);
}

static void without_memory_no_machine_is_opened_or_lost(void **state)
{
	const long live = mem_live();

	(void)state;
	for (long at = 1;; at += at < 40 ? 1 : 17) {
		struct niagara *n = NULL;
		struct err e = { 0 };
		int rc;

		mem_fail_at(at);
		rc = niagara_open(&n, sun4v_kind("maramba", 2), &(struct niagara_opts){ .load = "mixed" }, &e);
		if (!mem_failed()) {
			assert_int_equal(rc, 0);
			niagara_close(n);
			break;
		}
		assert_int_equal(rc, -TALLY_ENOMEM);
		assert_int_equal(e.code, TALLY_ENOMEM);
		assert_null(n);
		assert_int_equal(mem_live(), live);
	}
	mem_fail_at(0);
	assert_int_equal(mem_live(), live);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_fits_in_level_1_is_missed_once_and_one_line_more_is_missed_for_ever),
		cmocka_unit_test(a_line_of_level_1_is_16_bytes_of_data_or_32_of_code),
		cmocka_unit_test(stores_are_written_through_and_take_no_place_in_level_1),
		cmocka_unit_test(what_fits_in_level_2_is_not_missed_and_half_as_much_again_is),
		cmocka_unit_test(a_set_of_niagaras_level_2_has_12_ways),
		cmocka_unit_test(a_set_of_victoria_falls_level_2_has_16_ways),
		cmocka_unit_test(the_index_of_victoria_falls_level_2_is_hashed),
		cmocka_unit_test(tlbs_hold_as_many_pages_as_the_chip_has_entries),
		cmocka_unit_test(a_page_is_as_large_as_its_size),
		cmocka_unit_test(translations_are_a_cores_a_contexts_and_a_sizes),
		cmocka_unit_test(a_tsb_holds_2048_pages_that_follow_each_other),
		cmocka_unit_test(context_0_has_permanent_mappings_that_are_no_tsb_hits),
		cmocka_unit_test(only_victoria_falls_walks),
		cmocka_unit_test(hits_are_counted_as_the_genuine_hypervisor_counted_them),
		cmocka_unit_test(loops_over_pages_hit_as_often_as_on_the_genuine_one),
		cmocka_unit_test(ticks_of_a_tsb_hit_were_constants),
		cmocka_unit_test(after_conf_0_and_after_an_error_no_hit_is_counted),
		cmocka_unit_test(a_lines_home_and_controller_are_its_address),
		cmocka_unit_test(a_dirty_line_of_another_node_is_transferred_from_its_cache),
		cmocka_unit_test(a_clean_line_of_another_node_comes_from_memory),
		cmocka_unit_test(a_store_takes_the_line_from_all_other_caches),
		cmocka_unit_test(a_store_to_code_takes_it_from_the_own_instruction_cache_too),
		cmocka_unit_test(a_dirty_line_that_goes_is_written_back_to_its_home),
		cmocka_unit_test(a_write_back_is_between_nodes_when_another_is_the_lines_home),
		cmocka_unit_test(a_stored_line_that_others_have_read_is_written_back_when_its_owner_drops_it),
		cmocka_unit_test(costs_have_an_order),
		cmocka_unit_test(a_strand_waits_for_a_store_only_when_its_buffer_is_full),
		cmocka_unit_test(a_strand_far_behind_meets_no_queue),
		cmocka_unit_test(the_clock_is_the_farthest_strands_and_goes_on_when_told),
		cmocka_unit_test(references_of_no_strand_kind_or_level_are_left_out),
		cmocka_unit_test(a_load_that_is_none_is_refused_with_the_nearest),
		cmocka_unit_test(without_memory_no_machine_is_opened_or_lost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
