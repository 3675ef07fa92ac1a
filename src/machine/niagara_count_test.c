/*
 * niagara_count_test.c: what registers show: widths, wraps, OV and HOLDOV, levels, selections, hubs port by port, and
 * which events are modelled.
 */
#include "base/range.h"
#include "hv/sun4v_guest.h"
#include "machine/niagara_int.h"
#include "machine/niagara_test_int.h"

enum { LD = 0x208, STORES = 0x210, ALL = 0x2fd, LPU_A = 18, PCR_OV0_BIT = 18, PCR_OV1_BIT = 31 };
#define OV0 (UINT64_C(1) << PCR_OV0_BIT)
#define OV1 (UINT64_C(1) << PCR_OV1_BIT)
#define HOLD0 (UINT64_C(1) << 62)
#define HOLD1 (UINT64_C(1) << 63)
static struct rig r;

static void loads(uint16_t strand, uint32_t n, uint8_t level)
{
	for (uint32_t i = 0; i < n; i++)
		niagara_refs(r.n,
			     &(struct niagara_ref){ .strand = strand,
						    .context = 1,
						    .kind = NIAGARA_LOAD,
						    .level = level,
						    .instructions = 3 },
			     1);
}

static void set_pic(uint32_t strand, uint64_t value)
{
	assert_true(sun4v_asr_write(r.v[strand], 0x11, value));
}
static void write_pcr(uint32_t strand, uint64_t value)
{
	assert_true(sun4v_asr_write(r.v[strand], 0x10, value));
}

/* ---- PCR and PIC ---------------------------------------------------------------------------------------- */

static void everything_is_zero_when_the_machine_starts(void **state)
{
	(void)state;
	rig_open(&r, "batoka", 4, (struct niagara_opts){ .load = "mixed" });
	for (uint32_t reg = 0; reg < VF_REGS; reg++)
		assert_int_equal(get(&r, 17, reg), 0);
	assert_int_equal(get_pic(&r, 17, 0) | get_pic(&r, 17, 1), 0);
	rig_close(&r);
}

/* Reads, by both counters of a memory controller; nothing, by all others. */
static void what_counts_from_the_start_is_what_code_zero_selects(void **state)
{
	(void)state;
	rig_open(&r, "batoka", 4, (struct niagara_opts){ .load = "mixed" });
	niagara_run(r.n, 2000);
	for (uint32_t reg = 0; reg < VF_REGS; reg++) {
		const uint64_t reads =
			vf_regs[reg].cls == VF_MCU_PIC ? truth(&r)->mcu_reads[vf_regs[reg].node][vf_regs[reg].unit] : 0;

		assert_int_equal(get(&r, 17, reg), reads << 32 | reads);
		assert_int_equal(reads > 0, vf_regs[reg].cls == VF_MCU_PIC);
	}
	assert_int_equal(get_pic(&r, 17, 0) | get_pic(&r, 17, 1), 0);
	rig_close(&r);
}

static void a_counter_counts_in_the_modes_that_are_set(void **state)
{
	static const uint32_t at[] = { 3, 50, 700 }; /* user, system, hyper */

	(void)state;
	rig_open(&r, "batoka", 1, (struct niagara_opts){ 0 });
	for (uint32_t modes = 0; modes < 16; modes += 2) {
		uint64_t want = (modes & UT ? 3u : 0u) + (modes & ST ? 50u : 0u) + (modes & HT ? 700u : 0u);

		set(&r, 5, 0, pcr_of(LD, ALL, modes));
		set_pic(5, 0);
		for (uint8_t level = 0; level < 3; level++) {
			loads(5, at[level], level);
			loads(6, 99, level); /* another strand's */
		}
		assert_int_equal(get_pic(&r, 5, 0), want);
		assert_int_equal(get_pic(&r, 5, 1), 3 * want);
	}
	rig_close(&r);
}

static void a_pic_is_two_counters_of_32_bits_that_wrap_and_say_so(void **state)
{
	(void)state;
	rig_open(&r, "batoka", 1, (struct niagara_opts){ 0 });
	write_pcr(0, pcr_of(LD, ALL, UT));
	set_pic(0, 0xfffffffdull << 32 | 0xfffffffe);
	loads(0, 1, NIAGARA_USER);
	assert_int_equal(get_pic(&r, 0, 0), 0xffffffff);
	assert_int_equal(get_pic(&r, 0, 1), 0); /* three instructions: this one is over */
	assert_int_equal(get_pcr(&r, 0), pcr_of(LD, ALL, UT) | OV1);
	loads(0, 2, NIAGARA_USER);
	assert_int_equal(get_pic(&r, 0, 0), 1);
	assert_int_equal(get_pic(&r, 0, 1), 6);
	assert_int_equal(get_pcr(&r, 0), pcr_of(LD, ALL, UT) | OV0 | OV1);
	set_pic(0, 5); /* a written count keeps OV */
	assert_int_equal(get_pcr(&r, 0), pcr_of(LD, ALL, UT) | OV0 | OV1);
	write_pcr(0, pcr_of(LD, ALL, UT)); /* until it is cleared */
	assert_int_equal(get_pcr(&r, 0), pcr_of(LD, ALL, UT));
	assert_int_equal(get_pic(&r, 0, 0), 5);
	rig_close(&r);
}

static void holdov_keeps_each_ov_as_it_is(void **state)
{
	(void)state;
	rig_open(&r, "batoka", 1, (struct niagara_opts){ 0 });
	for (uint64_t over = 0; over < 4; over++)
		for (uint64_t hold = 0; hold < 4; hold++)
			for (uint64_t written = 0; written < 4; written++) {
				uint64_t kept = (over & hold) | (written & ~hold);

				write_pcr(0, pcr_of(LD, LD, UT));
				set_pic(0, (over & 1 ? 0xffffffff : 0) | (over & 2 ? 0xffffffffull << 32 : 0));
				loads(0, 1, NIAGARA_USER);
				write_pcr(0, pcr_of(LD, LD, UT) | hold << 62 | (written & 1 ? OV0 : 0) |
						     (written & 2 ? OV1 : 0));
				assert_int_equal(get_pcr(&r, 0),
						 pcr_of(LD, LD, UT) | (kept & 1 ? OV0 : 0) | (kept & 2 ? OV1 : 0));
			}
	rig_close(&r);
}

static void a_change_of_selection_keeps_the_count_and_counts_the_other_from_there(void **state)
{
	(void)state;
	rig_open(&r, "batoka", 1, (struct niagara_opts){ 0 });
	write_pcr(0, pcr_of(LD, ALL, UT));
	loads(0, 10, NIAGARA_USER);
	write_pcr(0, pcr_of(STORES, LD, UT));
	assert_int_equal(get_pic(&r, 0, 0), 10);
	assert_int_equal(get_pic(&r, 0, 1), 30);
	loads(0, 5, NIAGARA_USER);
	assert_int_equal(get_pic(&r, 0, 0), 10);
	assert_int_equal(get_pic(&r, 0, 1), 35);
	write_pcr(0, pcr_of(STORES, LD, 0)); /* no modes: it stands still */
	loads(0, 5, NIAGARA_USER);
	assert_int_equal(get_pic(&r, 0, 1), 35);
	rig_close(&r);
}

/* Bits of one class add up; all classes of instructions at once are all instructions. */
static void masks_of_a_class_are_combined(void **state)
{
	(void)state;
	rig_open(&r, "batoka", 1, (struct niagara_opts){ 0 });
	write_pcr(0, pcr_of(LD | STORES, 0x2ff, UT));
	loads(0, 4, NIAGARA_USER);
	ref(&r, NIAGARA_STORE, 0, 0x1000);
	ref(&r, NIAGARA_ATOMIC, 0, 0x1000);
	assert_int_equal(get_pic(&r, 0, 0), 5);
	assert_int_equal(get_pic(&r, 0, 1), 14);
	rig_close(&r);
}

static void a_class_without_a_mask_counts_nothing(void **state)
{
	(void)state;
	rig_open(&r, "batoka", 1, (struct niagara_opts){ 0 });
	for (uint32_t sl = 0; sl < 16; sl++) {
		write_pcr(0, pcr_of(sl << 8, sl << 8, UT | ST));
		loads(0, 3, NIAGARA_USER);
		assert_int_equal(get_pic(&r, 0, 0) | get_pic(&r, 0, 1), 0);
	}
	rig_close(&r);
}

static void what_is_not_modelled_stands_still_alone_and_together(void **state)
{
	static const uint32_t codes[] = { 0x000, 0x100, 0x1ff, 0x201, 0x202,     0x204, 0x220, 0x240,
					  0x248, 0x20a, 0x2bd, 0x304, 0x311 | 8, 0x401, 0x501, 0x502,
					  0x601, 0x6ff, 0x702, 0x8ff, 0xb01,     0xb0f, 0xc01, 0xfff };

	(void)state;
	rig_open(&r, "batoka", 1, (struct niagara_opts){ .load = "mixed" });
	for (uint32_t i = 0; i < COUNT(codes); i++) {
		assert_false(niagara_models(r.kind, VF_EVENTS_SPARC, (uint16_t)codes[i]));
		write_pcr(0, pcr_of(codes[i], codes[i], UT | ST));
		set_pic(0, 7ull << 32 | 7);
		niagara_run(r.n, niagara_now(r.n) + 2000);
		assert_int_equal(get_pic(&r, 0, 0), 7);
		assert_int_equal(get_pic(&r, 0, 1), 7);
	}
	assert_false(niagara_models(r.kind, VF_EVENTS_SPARC, 0xffff));
	rig_close(&r);
}

/* ---- PERF_CONFIG ---------------------------------------------------------------------------------------------- */

/* Strand 0 of node 0 misses once in each class; the counters of the four configurations say which. */
static void perf_config_chooses_the_class_of_level_2_misses(void **state)
{
	static const uint32_t want[4] = { 3, 1, 1, 1 }; /* all, local, remote, cache to cache */

	(void)state;
	for (uint64_t config = 0; config < 4; config++) {
		rig_open(&r, "maramba", 2, (struct niagara_opts){ 0 });
		for (uint32_t gb = 0; gb < 2; gb++) /* translations first */
			ref(&r, NIAGARA_LOAD, 0, PAGES(256M) | gb * GB);
		ref(&r, NIAGARA_STORE, 64, PAGES(256M) | 0x3000);
		set(&r, 0, 1, config);
		write_pcr(0, pcr_of(0x320, 0x302, UT));
		ref(&r, NIAGARA_LOAD, 0, PAGES(256M) | 0x1000);
		ref(&r, NIAGARA_LOAD, 0, PAGES(256M) | GB | 0x2000);
		ref(&r, NIAGARA_LOAD, 0, PAGES(256M) | 0x3000);
		assert_int_equal(get_pic(&r, 0, 0), want[config]);
		assert_int_equal(get_pic(&r, 0, 1), 3); /* level 1 has no classes */
		assert_int_equal(get(&r, 64, 1), 0);    /* the other node's is its own */
		rig_close(&r);
	}
}

/* ---- memory controllers ---------------------------------------------------------------------- */

static void a_memory_controller_has_two_counters_of_31_bits(void **state)
{
	uint64_t pic;

	(void)state;
	rig_open(&r, "batoka", 1, (struct niagara_opts){ 0 });
	ref(&r, NIAGARA_LOAD, 0, PAGES(256M));
	set(&r, 0, 2, 0x02); /* PIC0: reads; PIC1: reads and writes */
	set(&r, 0, 3, UINT64_MAX);
	assert_int_equal(get(&r, 0, 3), 0x7fffffff7fffffff); /* bits 63 and 31 are not there */
	ref(&r, NIAGARA_LOAD, 0, PAGES(256M) | 0x40);
	assert_int_equal(get(&r, 0, 3), 0);
	ref(&r, NIAGARA_LOAD, 0, PAGES(256M) | 0x80);
	pic = get(&r, 0, 3);
	assert_int_equal(pic, 1ull << 32 | 1);
	assert_int_equal(get(&r, 0, 5), 0); /* the other controller's */
	rig_close(&r);
}

static void a_read_of_what_was_just_written_back_is_a_hit_in_its_buffer(void **state)
{
	(void)state;
	rig_open(&r, "batoka", 1, (struct niagara_opts){ 0 });
	set(&r, 0, 2, 0x71); /* hits, writes */
	for (uint64_t i = 0; i < 30; i++)
		ref(&r, NIAGARA_STORE, 0, PAGES(256M) | i * MB);
	assert_int_equal(get(&r, 0, 3) >> 32, 0);
	assert_int_equal((uint32_t)get(&r, 0, 3), truth(&r)->writebacks);
	ref(&r, NIAGARA_LOAD, 0, PAGES(256M)); /* the first that went */
	assert_int_equal(get(&r, 0, 3) >> 32, 1);
	rig_close(&r);
}

/* A lone read is in the queue for its own time; one that comes with it waits for the first. */
static void queue_latencies_add_up_the_cycles_of_all_that_wait(void **state)
{
	uint64_t alone;

	(void)state;
	rig_open(&r, "batoka", 1, (struct niagara_opts){ 0 });
	ref(&r, NIAGARA_LOAD, 0, PAGES(256M));
	ref(&r, NIAGARA_LOAD, 8, PAGES(256M));
	set(&r, 0, 2, 0x46);
	ref(&r, NIAGARA_LOAD, 0, PAGES(256M) | 0x40);
	alone = get(&r, 0, 3) >> 32;
	assert_true(alone > 0);
	ref(&r, NIAGARA_LOAD, 8, PAGES(256M) | 0x80);
	assert_true(get(&r, 0, 3) >> 32 > 2 * alone);
	assert_int_equal(get(&r, 0, 3) >> 32, (uint32_t)get(&r, 0, 3));
	rig_close(&r);
}

/* ---- hubs, port by port ---------------------------------------------------------------------- */

enum {
	C2C = 0x02,
	MEM = 0x03,
	WB_DATA = 0x04,
	RTO = 0x11,
	RTS = 0x12,
	INV = 0x0f,
	RTO_OUT = 0x17,
	RTS_OUT = 0x19,
	INV_OUT = 0x16,
	HIT_M = 0x1c,
	HIT_O = 0x1d,
	HIT_S = 0x1e,
	MISS = 0x20,
	READ_OR_INV = 0x21,
	NDR = 0x23,
	CACHE_MISS = 0x24,
	CACHE_HIT = 0x25,
	SENT = 0x27,
	RECEIVED = 0x28
};

/* Totals as registers show them: each event is selected on a port while a copy of the same references runs. */
static uint64_t port_total(void (*run)(void), uint32_t plane, uint32_t port, uint32_t code)
{
	uint64_t reg = LPU_A + 18 * plane + 3 * port, got;

	rig_open(&r, "batoka", 4, (struct niagara_opts){ 0 });
	for (uint16_t node = 0; node < 4; node++) /* translations first */
		for (uint64_t gb = 0; gb < 4; gb++)
			ref(&r, NIAGARA_LOAD, node * 64, PAGES(256M) | gb * GB);
	set(&r, 0, reg, code << 8 | code);
	set(&r, 0, reg + 1, 100);
	run();
	got = get(&r, 0, reg + 1) - 100;
	assert_int_equal(get(&r, 0, reg + 2), got); /* both counters of a unit can count anything */
	rig_close(&r);
	return got;
}

struct want {
	uint32_t port, code;
	uint64_t n;
};
static void check_ports(void (*run)(void), uint32_t plane, const struct want *want, size_t n)
{
	for (uint32_t port = 0; port < 4; port++)
		for (uint32_t code = 2; code < 0x30; code++) {
			uint64_t expected = 0;

			for (size_t i = 0; i < n; i++)
				expected += want[i].port == port && want[i].code == code ? want[i].n : 0;
			assert_int_equal(port_total(run, plane, port, code), expected);
		}
}

/* Node 1 reads a line of node 2's memory that nobody has: hub 1 (PA[13:12]), ports A to D for nodes 0 to 3. */
static void read_of_remote_memory(void)
{
	ref(&r, NIAGARA_LOAD, 64, PAGES(256M) | 2 * GB | 0x1040);
}
static void a_read_goes_to_all_other_ports_and_the_data_comes_from_the_homes(void **state)
{
	static const struct want want[] = {
		{ 1, RTS, 1 },        { 1, READ_OR_INV, 1 }, { 1, SENT, 1 },
		{ 1, MEM + 4, 1 }, /* home C is port B's Y */
		{ 0, RTS_OUT, 1 },    { 2, RTS_OUT, 1 },     { 3, RTS_OUT, 1 },
		{ 0, RECEIVED, 1 },   { 0, MISS, 1 },        { 0, CACHE_MISS, 1 },
		{ 0, NDR, 1 },        { 2, RECEIVED, 1 },    { 2, MISS, 1 },
		{ 2, CACHE_MISS, 1 }, { 2, NDR, 1 },         { 3, RECEIVED, 1 },
		{ 3, MISS, 1 },       { 3, CACHE_MISS, 1 },  { 3, NDR, 1 },
	};

	(void)state;
	check_ports(read_of_remote_memory, 1, want, COUNT(want));
	check_ports(read_of_remote_memory, 0, NULL, 0);
}

/* Node 3 stores, node 0 reads (from node 3's cache), node 0 stores (an invalidate), all on hub 2. */
static void share_and_take(void)
{
	ref(&r, NIAGARA_STORE, 192, PAGES(256M) | 0x2040);
	ref(&r, NIAGARA_LOAD, 0, PAGES(256M) | 0x2040);
	ref(&r, NIAGARA_STORE, 0, PAGES(256M) | 0x2040);
}
static void a_line_that_is_owned_comes_from_its_owners_port_and_is_taken_without_data(void **state)
{
	static const struct want want[] = {
		{ 3, RTO, 1 },        { 3, READ_OR_INV, 1 }, { 3, SENT, 1 },
		{ 3, MEM, 1 }, /* from node 0's memory: X of D */
		{ 0, RTO_OUT, 1 },    { 1, RTO_OUT, 1 },     { 2, RTO_OUT, 1 },
		{ 0, RTS, 1 },        { 0, INV, 1 },         { 0, READ_OR_INV, 2 },
		{ 0, SENT, 2 },       { 0, C2C + 8, 1 }, /* from D: Z of A */
		{ 1, RTS_OUT, 1 },    { 2, RTS_OUT, 1 },     { 3, RTS_OUT, 1 },
		{ 1, INV_OUT, 1 },    { 2, INV_OUT, 1 },     { 3, INV_OUT, 1 },
		{ 0, RECEIVED, 1 },   { 0, MISS, 1 },        { 0, CACHE_MISS, 1 },
		{ 0, NDR, 1 },        { 1, RECEIVED, 3 },    { 1, MISS, 3 },
		{ 1, CACHE_MISS, 3 }, { 1, NDR, 3 },         { 2, RECEIVED, 3 },
		{ 2, MISS, 3 },       { 2, CACHE_MISS, 3 },  { 2, NDR, 3 },
		{ 3, RECEIVED, 2 },   { 3, HIT_M, 1 },       { 3, HIT_O, 1 },
		{ 3, CACHE_HIT, 2 },  { 3, NDR, 1 },
	};

	(void)state;
	check_ports(share_and_take, 2, want, COUNT(want));
}

/* Strands are not at the same time: who comes later may ask for a line at a time long before that of the last
 * request. */
static void a_request_from_before_the_last_one_of_its_line_does_not_meet_it(void **state)
{
	const total *asu;

	(void)state;
	rig_open(&r, "batoka", 4, (struct niagara_opts){ 0 });
	asu = r.n->zambezi[plane_of(PAGES(256M))].asu;
	hub_transaction(r.n, TX_RTS, 0, PAGES(256M), 1000000);
	hub_transaction(r.n, TX_RTS, 1, PAGES(256M), 1000);
	assert_int_equal(now_of(&asu[ASU_CAM]), 0);
	hub_transaction(r.n, TX_RTS, 2, PAGES(256M), 1000);
	assert_int_equal(now_of(&asu[ASU_CAM]), 1);
	assert_int_equal(now_of(&asu[ASU_WAKEUP]), 1);
	hub_transaction(r.n, TX_RTS, 3, PAGES(256M), 2000000);
	assert_int_equal(now_of(&asu[ASU_CAM]), 1);
	assert_int_equal(now_of(&asu[ASU_IN]), 4);
	assert_int_equal(now_of(&asu[ASU_OUT]), 4);
	rig_close(&r);
}

/* Two nodes ask for one line at the same time: the second waits, and is woken. */
static void requests_for_one_line_at_the_same_time_meet_in_the_address_serializer(void **state)
{
	const uint64_t asu = 33 + 18 * 3;

	(void)state;
	rig_open(&r, "batoka", 4, (struct niagara_opts){ 0 });
	for (uint16_t node = 0; node < 4; node++)
		ref(&r, NIAGARA_LOAD, node * 64, PAGES(256M));
	set(&r, 0, asu, 0x0504);
	for (uint16_t node = 0; node < 2; node++) /* different lines do not meet */
		ref(&r, NIAGARA_LOAD, node * 64, PAGES(256M) | 0x3000 | node * 64);
	assert_int_equal(get(&r, 0, asu + 1), 0);
	for (uint16_t node = 2; node < 4; node++)
		ref(&r, NIAGARA_LOAD, node * 64, PAGES(256M) | 0x3100);
	assert_int_equal(get(&r, 0, asu + 1), 1);
	assert_int_equal(get(&r, 0, asu + 2), 1);
	set(&r, 0, asu, 0x0302); /* in and out: what each hub has passed on */
	ref(&r, NIAGARA_LOAD, 0, PAGES(256M) | 0x3200);
	assert_int_equal(get(&r, 0, asu + 1), 2);
	assert_int_equal(get(&r, 0, asu + 2), 2);
	rig_close(&r);
}

static void every_units_clock_is_the_machines(void **state)
{
	(void)state;
	rig_open(&r, "batoka", 4, (struct niagara_opts){ 0 });
	niagara_run(r.n, 1000);
	for (uint64_t reg = LPU_A; reg < VF_REGS; reg += 3)
		set(&r, 0, reg, 0x0101);
	niagara_run(r.n, 6000);
	for (uint64_t reg = LPU_A; reg < VF_REGS; reg += 3) {
		assert_int_equal(get(&r, 0, reg + 1), 5000);
		assert_int_equal(get(&r, 0, reg + 2), 5000);
		set(&r, 0, reg + 1, UINT64_MAX); /* 64 bits wrap */
	}
	niagara_run(r.n, 6001);
	for (uint64_t reg = LPU_A; reg < VF_REGS; reg += 3)
		assert_int_equal(get(&r, 0, reg + 1), 0);
	rig_close(&r);
}

/* The status of reading or writing a hub's register from a strand. */
static uint64_t reach(uint32_t strand, uint64_t reg, bool write)
{
	uint64_t o[6] = { reg, 0, 0, 0, 0, write ? SUN4V_SET_PERFREG : SUN4V_GET_PERFREG };

	assert_true(sun4v_call(r.v[strand], HV_FAST_TRAP, o));
	return o[0];
}

/* vf_perf_api.txt 3.2: a hub has one path, and the hypervisor can't spin. It never said so, whatever the load. */
static void ewouldblock_never_came_however_busy_a_hub_was(void **state)
{
	uint32_t met = 0, idle = 0, looked = 0;

	(void)state;
	rig_open(&r, "batoka", 4, (struct niagara_opts){ .load = "random" });
	for (uint32_t i = 0; i < 1000; i++)
		idle += reach(i % 256, 18 + i % 72, i & 1) != HV_EOK;
	assert_int_equal(idle, 0); /* nothing to be added, nobody in the way */
	for (uint32_t i = 1; i <= 400; i++) {
		uint32_t refused = 0;

		niagara_run(r.n, i * 3000);
		assert_int_equal(reach(7, 3, i & 1), HV_EOK); /* a memory controller has no such path */
		while (reach(i % 256, 18 + i % 4 * 18, false) == HV_EWOULDBLOCK)
			refused++;
		assert_uint_in_range(refused, 0, 4); /* who tries again gets it, though the load stands still */
		met += refused > 0;
		looked++;
	}
	assert_uint_in_range(met, looked / 40, looked / 8);
	rig_close(&r);
}

static void a_hub_can_be_made_busy_alone(void **state)
{
	uint64_t o[6] = { 18, 0, 0, 0, 0, SUN4V_GET_PERFREG };

	(void)state;
	rig_open(&r, "batoka", 4, (struct niagara_opts){ 0 });
	niagara_make_busy(r.n, 0, 1);
	(void)get(&r, 0, 36);
	assert_true(sun4v_call(r.v[0], HV_FAST_TRAP, o));
	assert_int_equal(o[0], HV_EWOULDBLOCK);
	(void)get(&r, 0, 18);
	rig_close(&r);
}

/* ---- what is modelled ------------------------------------------------------------------------ */

/* Whether the machine has this register of a controller or hub, and its counters count events of this set. */
static bool counts(const struct vf_reg *v, uint32_t set_of)
{
	if (v->cls < VF_ZAM_PCR)
		return set_of == VF_EVENTS_MCU && !r.kind->mmustat && v->node < r.kind->nodes;
	return r.kind->zambezis && set_of == (v->unit == VF_UNIT_GPD ? VF_EVENTS_GPD :
					      v->unit == VF_UNIT_ASU ? VF_EVENTS_ASU :
								       VF_EVENTS_LPU);
}

static void choose(uint32_t set_of, uint32_t code)
{
	for (uint32_t i = 0; set_of == VF_EVENTS_SPARC && i < r.strands; i++)
		set_pcr(&r, i, pcr_of(code, code, ALL_MODES));
	for (uint64_t reg = 2; reg < VF_REGS; reg++)
		if (counts(&vf_regs[reg], set_of) && (vf_regs[reg].cls == VF_MCU_PCR || vf_regs[reg].cls == VF_ZAM_PCR))
			set(&r, 0, reg, code << (vf_regs[reg].cls == VF_MCU_PCR ? 4 : 8) | code);
}
static uint64_t shown(uint32_t set_of)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; set_of == VF_EVENTS_SPARC && i < r.strands; i++)
		sum += get_pic(&r, i, 0) + get_pic(&r, i, 1);
	for (uint64_t reg = 2; reg < VF_REGS; reg++)
		if (counts(&vf_regs[reg], set_of) && vf_regs[reg].cls != VF_MCU_PCR && vf_regs[reg].cls != VF_ZAM_PCR)
			sum += get(&r, 0, reg);
	return sum;
}

static uint64_t moved(const char *machine, const struct vf_event *v)
{
	static const char *const some[] = { "mixed", "producer", "pingpong" };
	uint64_t sum = 0;

	for (uint32_t i = 0; i < COUNT(some); i++) {
		rig_open(&r, machine, 0, (struct niagara_opts){ .load = some[i] });
		choose(v->set, v->code);
		niagara_run(r.n, 20000);
		sum += shown(v->set);
		rig_close(&r);
	}
	return sum;
}

/* Also what needs evictions from level 2, which short loads do not have. */
static uint64_t moved_by_writebacks(const char *machine, const struct vf_event *v)
{
	uint64_t sum;

	rig_open(&r, machine, 0, (struct niagara_opts){ 0 });
	choose(v->set, v->code);
	for (uint64_t i = 0; i < 4 * 72;
	     i++) { /* on each plane 24 lines of a set: stored, stored elsewhere, read again */
		uint64_t plane = i / 72, round = i / 24 % 3;

		ref(&r, round == 2 ? NIAGARA_LOAD : NIAGARA_STORE, round == 1 ? (uint16_t)(r.strands - 1) : 0,
		    PAGES(256M) | i % 24 * MB | plane << 12);
	}
	for (uint64_t i = 0; i < 4 * r.kind->nodes * 20; i++) /* each node stores to each home */
		ref(&r, NIAGARA_STORE, (uint16_t)(i / 80 * r.kind->strands_per_node),
		    PAGES(256M) | i % 20 * MB | i / 20 % 4 * GB);
	sum = shown(v->set);
	rig_close(&r);
	return sum;
}

static void an_event_moves_if_and_only_if_it_is_modelled(void **state)
{
	static const char *const on[] = { "batoka", "maramba", "niagara" };
	const struct vf_event *v;

	(void)state;
	for (uint32_t m = 0; m < COUNT(on); m++)
		for (uint32_t i = 0; (v = vf_event_at(i)) != NULL; i++) {
			const bool nothing = v->set >= VF_EVENTS_LPU && v->code == 0;
			const bool modelled = niagara_models(sun4v_kind(on[m], 0), v->set, v->code);
			uint64_t n;

			if (v->set != VF_EVENTS_SPARC && sun4v_kind(on[m], 0)->mmustat)
				continue; /* no such registers there */
			n = moved(on[m], v) + moved_by_writebacks(on[m], v);
			if ((n > 0) != (modelled && !nothing))
				fail_msg("%s on %s: %s, but it counted %llu", v->name, on[m],
					 modelled ? "modelled" : "not modelled", (unsigned long long)n);
		}
}

static void machines_without_hubs_or_walks_model_none(void **state)
{
	const struct vf_event *v;

	(void)state;
	for (uint32_t i = 0; (v = vf_event_at(i)) != NULL; i++)
		if (v->set >= VF_EVENTS_LPU)
			assert_false(niagara_models(sun4v_kind("maramba", 2), v->set, v->code));
	assert_false(niagara_models(sun4v_kind("niagara", 1), VF_EVENTS_SPARC, 0x408));
	assert_false(niagara_models(sun4v_kind("niagara", 1), VF_EVENTS_SPARC, 0x520));
	assert_false(niagara_models(sun4v_kind("batoka", 4), VF_EVENTS_MCU, 3));
	assert_false(niagara_models(sun4v_kind("batoka", 4), VF_EVENTS_MCU, 8));
	assert_false(niagara_models(sun4v_kind("batoka", 4), (enum vf_eventset)9, 0));
}

/* ---- the guest's library on this machine ----------------------------------------------------- */

static int line_sun4v(void *arg, uint32_t vcpu, unsigned trap, uint64_t o[6], struct err *e)
{
	(void)e;
	sun4v_call(((struct rig *)arg)->v[vcpu], trap, o);
	return 0;
}
static int line_asr(void *arg, uint32_t vcpu, uint32_t asr, bool write, uint64_t *value, struct err *e)
{
	struct rig *x = arg;

	(void)e;
	return (write ? sun4v_asr_write(x->v[vcpu], asr, *value) : sun4v_asr_read(x->v[vcpu], asr, value)) ?
		       0 :
		       -TALLY_EINVAL;
}
static const struct hv_transport_ops line_ops = { .what = "the model", .sun4v = line_sun4v, .asr = line_asr };

static struct hv_transport line_of(struct rig *x)
{
	return (struct hv_transport){ .arg = x,
				      .op = &line_ops,
				      .strands = x->strands,
				      .strands_per_node = x->kind->strands_per_node,
				      .sockets = x->kind->nodes,
				      .memory = (uint8_t *)x->ram,
				      .base = RAM_BASE,
				      .bytes = sizeof(x->ram) };
}

static uint64_t counted(struct vf_counter *k)
{
	uint64_t v = 0;

	assert_int_equal(vf_counter_read(k, &v, NULL), 0);
	return v;
}

/* Misses of one strand, split by class on two nodes; a controller's reads; a hub's requests, busy now and then. */
static void the_guests_library_counts_what_happened(void **state)
{
	const struct vf_counter_ask ask[] = {
		{ .event = 0x320, .user = true, .system = true, .class = 3 },
		{ .event = 0x302, .user = true, .system = true },
		{ .vcpu = 128, .event = 0x320, .user = true, .system = true },
		{ .reg = 2, .event = 0 },
		{ .reg = 18, .event = 0x21 },
	};
	struct vf_counter *k[COUNT(ask)];
	struct sun4v_client *c;
	struct hv_transport transport;
	struct err e = { 0 };

	(void)state;
	rig_open(&r, "batoka", 4, (struct niagara_opts){ .load = "producer" });
	transport = line_of(&r);
	assert_int_equal(sun4v_client_open(&c, &transport, &e), 0);
	for (uint32_t i = 0; i < COUNT(ask); i++)
		assert_int_equal(vf_counter_open(&k[i], c, &ask[i], &e), 0);
	for (uint32_t i = 1; i <= 20; i++) {
		niagara_run(r.n, i * 10000);
		niagara_make_busy(r.n, 0, i * 40);
		(void)counted(k[4]);
	}
	assert_int_equal(counted(k[0]), 0); /* strand 0 fills, nobody else stores */
	assert_int_equal(counted(k[1]), 0);
	assert_int_equal(counted(k[2]), truth(&r)->l2_dmiss_ld);
	assert_true(truth(&r)->served[2] > 100 && counted(k[2]) >= truth(&r)->served[2]);
	assert_int_equal(counted(k[3]), truth(&r)->mcu_reads[0][0]);
	assert_true(counted(k[4]) > 0 && counted(k[4]) <= truth(&r)->plane[0]);
	for (uint32_t i = 0; i < COUNT(ask); i++)
		vf_counter_close(k[i]);
	sun4v_client_close(c);
	rig_close(&r);
}

static void the_guests_library_reads_mmu_statistics(void **state)
{
	struct sun4v_client *c;
	struct hv_transport transport;
	struct err e = { 0 };
	uint64_t hits = 0, want = 0;

	(void)state;
	rig_open(&r, "niagara", 1, (struct niagara_opts){ .load = "chase" });
	transport = line_of(&r);
	assert_int_equal(sun4v_client_open(&c, &transport, &e), 0);
	for (uint32_t i = 0; i < r.strands; i++)
		assert_int_equal(mmustat_start(c, i, &e), 0);
	niagara_run(r.n, 3000000);
	for (uint32_t i = 0; i < r.strands; i++) {
		struct mmustat s;

		assert_int_equal(mmustat_read(c, i, &s, &e), 0);
		for (uint32_t k = 0; k < 16; k++)
			hits += s.at[k >> 3][k >> 2 & 1][k & 3].hits;
	}
	for (uint32_t k = 0; k < 16; k++)
		want += truth(&r)->tsb_hit[k >> 3][k >> 2 & 1][k & 3];
	assert_true(hits > 1000);
	assert_int_equal(hits, want);
	sun4v_client_close(c);
	rig_close(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(everything_is_zero_when_the_machine_starts),
		cmocka_unit_test(what_counts_from_the_start_is_what_code_zero_selects),
		cmocka_unit_test(a_counter_counts_in_the_modes_that_are_set),
		cmocka_unit_test(a_pic_is_two_counters_of_32_bits_that_wrap_and_say_so),
		cmocka_unit_test(holdov_keeps_each_ov_as_it_is),
		cmocka_unit_test(a_change_of_selection_keeps_the_count_and_counts_the_other_from_there),
		cmocka_unit_test(masks_of_a_class_are_combined),
		cmocka_unit_test(a_class_without_a_mask_counts_nothing),
		cmocka_unit_test(what_is_not_modelled_stands_still_alone_and_together),
		cmocka_unit_test(perf_config_chooses_the_class_of_level_2_misses),
		cmocka_unit_test(a_memory_controller_has_two_counters_of_31_bits),
		cmocka_unit_test(a_read_of_what_was_just_written_back_is_a_hit_in_its_buffer),
		cmocka_unit_test(queue_latencies_add_up_the_cycles_of_all_that_wait),
		cmocka_unit_test(a_read_goes_to_all_other_ports_and_the_data_comes_from_the_homes),
		cmocka_unit_test(a_line_that_is_owned_comes_from_its_owners_port_and_is_taken_without_data),
		cmocka_unit_test(requests_for_one_line_at_the_same_time_meet_in_the_address_serializer),
		cmocka_unit_test(every_units_clock_is_the_machines),
		cmocka_unit_test(ewouldblock_never_came_however_busy_a_hub_was),
		cmocka_unit_test(a_request_from_before_the_last_one_of_its_line_does_not_meet_it),
		cmocka_unit_test(a_hub_can_be_made_busy_alone),
		cmocka_unit_test(an_event_moves_if_and_only_if_it_is_modelled),
		cmocka_unit_test(machines_without_hubs_or_walks_model_none),
		cmocka_unit_test(the_guests_library_counts_what_happened),
		cmocka_unit_test(the_guests_library_reads_mmu_statistics),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
