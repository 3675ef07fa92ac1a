/*
 * gpci.c: H_GetPerformanceCounterInfo (0xF080), papr_gpci.txt.
 *
 * Places are names of that text: "call", "semantics", "params" (Performance_Counter_Info_Parms), or a request's number;
 * "D" numbers of decisions (24 to 31); "levels" what clients know of firmware levels, whose replies have a longer
 * header.
 */
#include "spec.h"

#include <unistd.h>

#include <tally/hv.h>
#include <tally/platform.h>

enum {
	H_SUCCESS = 0,
	H_FUNCTION = -2,
	H_PRIVILEGE = -3,
	H_NOT_AVAILABLE = 3,
	H_PARAMETER = -4,
	H_AUTHORITY = -10,
	TOO_SMALL = 0x1b
};
enum { TOKEN = 0xf080, TRAP = 1, HEAD = 0x20 };
enum { PURR = 0x10, ENTITLED = 0x20, RUN = 0x30, CAPABILITIES = 0x40, ABC = 0x50, WXYZ = 0x60 };
#define SET_MMCRH 0x80001000u
#define HPMC 0x80002000u

/* ---- a machine and its partitions ------------------------------------------------------------------ */
/* Processors 3, 7 and 11 can't run; 16 in all, hardware ids 16, 20, 24 ...; partitions 1, 2, 3, 5, 9, 12. */
static const char config[] =
	"nodes 2\nchips 2\ncores 4\nhardware-ids sparse\ncore 3 guarded\ncore 7 unlicensed\ncore 11 not-installed\n"
	"partition 1 name=admin vps=2 entitlement=100 rights=all,expanded,lab idle=yes demand=500 snooze=300\n"
	"partition 2 name=web vps=4 entitlement=200 idle=yes home=1 demand=800 traffic=4\n"
	"partition 3 name=seer vps=1 entitlement=50 rights=all demand=300\n"
	"partition 5 name=lender type=dedicated vps=2 donate home=2 demand=400\n"
	"partition 9 name=alone type=dedicated vps=1 home=3 demand=300\n"
	"partition 12 name=capped vps=1 entitlement=50 capped demand=900\n";
static char config_path[] = "/tmp/spec-gpci-XXXXXX";

enum { MEMORY = 0x10000 };
#define BASE 0x10000ull
#define AT 0x1000u
static uint8_t memory[MEMORY];

static void *po_memory(void *arg, uint64_t ra, size_t n)
{
	(void)arg;
	return ra >= BASE && ra - BASE <= MEMORY && n <= MEMORY - (ra - BASE) ? memory + (ra - BASE) : NULL;
}

struct po {
	struct tally_hv *hv;
	struct tally_hv_guest *guest;
	unsigned cpu, version; /* counter_info_version_in */
};

static struct tally_hv *po_machine(const char *machine)
{
	struct tally_hv *hv = NULL;
	struct tally_hv_opts o = { .size = sizeof o, .machine = machine };
	spec_needs(!tally_hv_open(&hv, &o), "%s: %s", machine, tally_hv_error(hv));
	return hv;
}

static struct tally_hv_guest *po_guest(struct tally_hv *hv, uint32_t partition)
{
	struct tally_hv_guest *g = NULL;
	struct tally_hv_guest_opts o = { .size = sizeof o, .memory = po_memory, .partition = partition };
	spec_needs(!tally_hv_guest_open(&g, hv, &o), "partition %u: %s", partition, tally_hv_error(hv));
	return g;
}

/* The machine of `config`, of that firmware level, that ran 50 ms. */
static struct po po_open(unsigned level, uint32_t partition)
{
	char machine[128];
	snprintf(machine, sizeof machine, "power,config=%s,firmware=%u", config_path, level);
	struct po p = { .hv = po_machine(machine), .version = level };
	p.guest = po_guest(p.hv, partition);
	tally_hv_advance(p.hv, 50000000);
	return p;
}

static void po_close(struct po *p)
{
	tally_hv_guest_close(p->guest);
	tally_hv_close(p->hv);
}

static uint8_t *block(unsigned at)
{
	return memory + AT + at;
}
static uint8_t *record(unsigned size, unsigned i)
{
	return block(HEAD + size * i);
}

/* The call with whatever stands in memory. */
static int64_t call_at(struct po *p, uint64_t token, uint64_t r4, uint64_t r5)
{
	uint64_t r[6] = { token, r4, r5, 0x6666, 0x7777, 0x8888 };
	spec_needs(!tally_hv_call(p->guest, p->cpu, TRAP, r), "sc 1 of processor %u", p->cpu);
	spec_needs(r[1] == r4 && r[2] == r5 && r[3] == 0x6666, "the call answers in r3 only");
	return (int64_t)r[0];
}

/* A block of `size` bytes of 0xa5 but for the request and index. */
static int64_t ask(struct po *p, uint32_t request, int32_t index, uint64_t size)
{
	memset(memory, 0xa5, MEMORY);
	memset(block(0), 0, HEAD);
	spec_put(block(0), 4, request);
	spec_put(block(4), 4, (uint32_t)index);
	*block(0x12) = (uint8_t)p->version;
	return call_at(p, TOKEN, BASE + AT, size);
}

static unsigned returned(void)
{
	return (unsigned)spec_get(block(8), 4);
}
static int32_t first(void)
{
	return (int32_t)spec_get(block(4), 4);
}
static unsigned detail(void)
{
	return (unsigned)spec_get(block(12), 4);
}

static bool untouched(unsigned from, unsigned to)
{
	for (unsigned i = from; i < to; i++)
		if (*block(i) != 0xa5)
			return false;
	return true;
}

static void code(int64_t is, int64_t must, const char *where, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
static void code(int64_t is, int64_t must, const char *where, const char *format, ...)
{
	char words[256];
	va_list a;
	va_start(a, format);
	vsnprintf(words, sizeof words, format, a);
	va_end(a);
	spec_equal((uint64_t)is, (uint64_t)must, where, "%s", words);
}

/* ---- the call: token, registers, memory, size ---------------------------------------------------------- */
static void tokens(void)
{
	struct po p = po_open(6, 1);
	for (unsigned t = 0xf000; t <= 0xf07c; t += 4) {
		ask(&p, CAPABILITIES, -1, 48);
		memset(block(HEAD), 0xa5, 16);
		code(call_at(&p, t, BASE + AT, 48), H_FUNCTION, "tokens, D24", "token %#x is reserved", t);
	}
	static const uint64_t none[] = { 0xf084, 0xf07e, 0xf100, 0x1f080, (1ull << 32) + TOKEN, UINT64_MAX };
	for (unsigned i = 0; i < sizeof none / sizeof *none; i++)
		code(call_at(&p, none[i], BASE + AT, 48), H_FUNCTION, "tokens, D24", "token %#llx is unknown",
		     (unsigned long long)none[i]);
	code(ask(&p, CAPABILITIES, -1, 48), H_SUCCESS, "tokens", "token 0xf080 is the call");
	po_close(&p);
}

static void accessible(void)
{
	static const struct {
		uint64_t at, size;
		const char *what;
	} none[] = {
		{ 0, 4096, "address 0" },
		{ BASE - 8, 48, "eight bytes before memory" },
		{ BASE - 4096, 4096, "a page before memory" },
		{ BASE + MEMORY, 48, "the end of memory" },
		{ BASE + MEMORY - 40, 48, "eight bytes over the end" },
		{ BASE + MEMORY - 32, 4096, "a header, and then the end" },
		{ BASE, MEMORY + 8, "all memory and eight bytes" },
		{ BASE + AT, UINT64_MAX, "a size of 2^64-1" },
		{ BASE + AT, UINT64_MAX - BASE - AT + 1, "a size that wraps to 0" },
		{ BASE + AT, UINT64_MAX - BASE - AT + 1 + BASE + 48, "a size that wraps into memory" },
		{ 1ull << 63, 48, "bit 63" },
		{ UINT64_MAX - 47, 48, "the last bytes of the address space" },
		{ UINT64_MAX - 7, 48, "over the end of the address space" },
	};
	static const uint32_t requests[] = { CAPABILITIES, ENTITLED, 0x9999, HPMC };
	struct po p = po_open(6, 2);
	for (unsigned i = 0; i < sizeof none / sizeof *none; i++) {
		ask(&p, CAPABILITIES, -1, 48);
		spec_put(block(8), 4, 0x5a5a5a5a);
		memset(block(HEAD), 0xa5, 4096);
		code(call_at(&p, TOKEN, none[i].at, none[i].size), H_PRIVILEGE, "semantics 1", "%s is not accessible",
		     none[i].what);
		spec_says(spec_get(block(8), 4) == 0x5a5a5a5a && untouched(HEAD, 4096), "semantics 1",
			  "%s: nothing is written", none[i].what);
	}
	for (unsigned i = 0; i < 4; i++) {
		spec_put(memory + MEMORY - 32, 4, requests[i]);
		code(call_at(&p, TOKEN, BASE + MEMORY - 32, 48), H_PRIVILEGE, "semantics, order",
		     "access is validated before request %#x", requests[i]);
		code(call_at(&p, TOKEN, BASE + MEMORY - 8, 16), H_PRIVILEGE, "semantics, order",
		     "access is validated before the size, %#x", requests[i]);
	}
	static const uint64_t places[] = { BASE, BASE + 8, BASE + 0xfe8, BASE + 0x1ff0, BASE + MEMORY - 48 };
	for (unsigned i = 0; i < sizeof places / sizeof *places; i++) {
		memset(memory, 0, MEMORY);
		spec_put(memory + (places[i] - BASE), 4, CAPABILITIES);
		spec_put(memory + (places[i] - BASE) + 4, 4, 0xffffffff);
		code(call_at(&p, TOKEN, places[i], 48), H_SUCCESS, "semantics 1",
		     "a block of 48 bytes at %#llx, a page's alignment isn't needed", (unsigned long long)places[i]);
	}
	po_close(&p);

	/* D30: the order of the text's list of parameters. */
	char machine[128];
	snprintf(machine, sizeof machine, "power,config=%s,args=size-first", config_path);
	p = (struct po){ .hv = po_machine(machine), .version = 6 };
	p.guest = po_guest(p.hv, 1);
	ask(&p, CAPABILITIES, -1, 48);
	memset(block(8), 0, 4);
	code(call_at(&p, TOKEN, 48, BASE + AT), H_SUCCESS, "D30", "args=size-first: r4 is the size, r5 the address");
	spec_equal(returned(), 1, "D30", "args=size-first: one record");
	code(call_at(&p, TOKEN, BASE + AT, 48), H_PRIVILEGE, "D30",
	     "args=size-first: an address for a size is not accessible");
	po_close(&p);
}

/* Bytes of a record; 0: no record. */
static const struct {
	uint32_t request;
	unsigned bytes[5];
	const char *name;
} sizes[] = {
	/* level:                   0    3    5    6    8 (0: not available) */
	{ PURR, { 48, 48, 48, 48, 48 }, "Dispatch_PURR_by_processor" },
	{ ENTITLED, { 48, 48, 48, 48, 48 }, "Entitled_capped_uncapped_donated_idle_PURR_by_partition" },
	{ RUN, { 24, 24, 24, 24, 0 }, "Run_instructions_run_cycles_by_partition" },
	{ CAPABILITIES, { 16, 16, 16, 16, 16 }, "System_performance_capabilities" },
	{ ABC, { 64, 80, 80, 80, 0 }, "Processor_bus_utilization_ABC_links" },
	{ WXYZ, { 80, 96, 96, 96, 0 }, "Processor_bus_utilization_WXYZ_links" },
	{ SET_MMCRH, { 8, 8, 8, 8, 0 }, "Set MMCRH" },
	{ HPMC, { 72, 72, 72, 72, 0 }, "Retrieve HPMCx" },
	{ 0x90, { 0, 40, 40, 40, 40 }, "Processor_config" },
	{ 0x91, { 0, 32, 32, 32, 32 }, "Current_processor_frequency" },
	{ 0x94, { 0, 48, 48, 48, 0 }, "processor_core_utilization" },
	{ 0xa0, { 0, 32, 32, 32, 32 }, "affinity_domain_information_by_virtual_processor" },
	{ 0xb0, { 0, 48, 48, 48, 48 }, "affinity_domain_info_by_domain" },
	{ 0xc0, { 0, 32, 32, 32, 32 }, "physical_memory_info" },
	{ 0xd0, { 0, 32, 32, 32, 32 }, "processor_bus_topology" },
	{ 0xe0, { 0, 0, 80, 80, 80 }, "partition_hypervisor_queuing_times" },
	{ 0x100, { 0, 0, 0, 0, 24 }, "partition_instruction_count_and_time" },
};
enum { NSIZES = sizeof sizes / sizeof *sizes };
static const unsigned levels[5] = { 0, 3, 5, 6, 8 };

static void sizes_and_levels(void)
{
	static const uint32_t unknown[] = { 0,      1,          0xf,        0x11,       0x1f,       0x21,
					    0x31,   0x41,       0x51,       0x61,       0x110,      0x1000,
					    0x9999, 0x7fffffff, 0x80000000, 0x80001001, 0x80003000, 0xffffffff };
	for (unsigned l = 0; l < 5; l++) {
		struct po p = po_open(levels[l], 1);
		for (unsigned i = 0; i < NSIZES; i++) {
			unsigned bytes = sizes[i].bytes[l];
			int32_t index = -1;
			int64_t rc = ask(&p, sizes[i].request, index, HEAD + (bytes ? bytes : 512));
			code(rc, bytes ? H_SUCCESS : H_NOT_AVAILABLE, "levels", "level %u: %s", levels[l],
			     sizes[i].name);
			if (!bytes) {
				spec_says(untouched(HEAD, 1024), "semantics",
					  "level %u: %s: not available, so no record is written", levels[l],
					  sizes[i].name);
				continue;
			}
			spec_equal(returned(), sizes[i].request == SET_MMCRH ? 0 : 1, "params",
				   "level %u: %s: returned_values", levels[l], sizes[i].name);
			spec_says(untouched(HEAD + bytes, 4096), "levels", "level %u: %s: %u bytes are a record",
				  levels[l], sizes[i].name, bytes);
			code(ask(&p, sizes[i].request, index, HEAD + bytes - 1), H_PARAMETER, "semantics 2",
			     "level %u: %s: a byte less than a record", levels[l], sizes[i].name);
			spec_says(untouched(HEAD, 4096), "semantics 2",
				  "level %u: %s: a byte less, so no record is written", levels[l], sizes[i].name);
			code(ask(&p, sizes[i].request, index, HEAD), H_PARAMETER, "semantics 2",
			     "level %u: %s: a header without room for a record", levels[l], sizes[i].name);
			if (levels[l] && sizes[i].request != SET_MMCRH) {
				ask(&p, sizes[i].request, index, 4096);
				spec_equal(spec_get(block(0x10), 2), bytes, "levels", "level %u: %s: cv_element_size",
					   levels[l], sizes[i].name);
				spec_equal(*block(0x13), levels[l], "levels", "level %u: %s: counter_info_version_out",
					   levels[l], sizes[i].name);
				spec_equal(detail(), 0, "levels", "level %u: %s: detail_rc", levels[l], sizes[i].name);
			}
		}
		for (unsigned i = 0; i < sizeof unknown / sizeof *unknown; i++)
			code(ask(&p, unknown[i], 0, 4096), H_NOT_AVAILABLE, "semantics 3",
			     "level %u: request %#x is unknown", levels[l], unknown[i]);
		code(ask(&p, 0x9999, 0, HEAD), H_NOT_AVAILABLE, "semantics 3",
		     "level %u: of an unknown request the header is enough", levels[l]);
		static const unsigned small[] = { 0, 1, 4, 8, 16, 31 };
		for (unsigned i = 0; i < sizeof small / sizeof *small; i++) {
			code(ask(&p, ENTITLED, -1, small[i]), H_PARAMETER, "semantics 2",
			     "level %u: a block of %u bytes", levels[l], small[i]);
			code(ask(&p, 0x9999, -1, small[i]), H_PARAMETER, "semantics 2",
			     "level %u: an unknown request in %u bytes", levels[l], small[i]);
		}
		po_close(&p);
	}
	/* version_in is an upper bound: 0 gets the layout of the text, also from firmware of 3, 5 and 6. */
	for (unsigned l = 1; l < 4; l++) {
		struct po p = po_open(levels[l], 1);
		p.version = 0;
		code(ask(&p, ABC, 0, HEAD + 64), H_PARAMETER, "levels",
		     "level %u, version 0: 64 bytes have room for one chip of four", levels[l]);
		spec_equal(spec_get(block(0x10), 2), 64, "0x50", "level %u, version 0: 64 bytes a chip", levels[l]);
		ask(&p, WXYZ, 0, 4096);
		spec_equal(spec_get(block(0x10), 2), 80, "0x60", "level %u, version 0: 80 bytes a chip", levels[l]);
		p.version = 8;
		ask(&p, ABC, 0, 4096);
		spec_equal(spec_get(block(0x10), 2), 80, "levels",
			   "level %u, version 8 is more than it knows: 80 bytes a chip", levels[l]);
		spec_equal(*block(0x13), levels[l], "levels", "level %u, asked for 8: its own version", levels[l]);
		po_close(&p);
	}
}

/* ---- params: the header -------------------------------------------------------------------------------------- */
static void header(void)
{
	struct po p = po_open(0, 1);
	memset(memory, 0xa5, MEMORY);
	spec_put(block(0), 4, ENTITLED);
	spec_put(block(4), 4, 0);
	code(call_at(&p, TOKEN, BASE + AT, 4096), H_SUCCESS, "params",
	     "level 0: a request whose other bytes are anything");
	spec_equal(spec_get(block(0), 4), ENTITLED, "params", "level 0: Requested_Information at 0 is input");
	spec_equal(spec_get(block(4), 4), 1, "params", "level 0: starting_index at 4 is the first id found");
	spec_equal(spec_get(block(8), 4), 6, "params", "level 0: returned_values at 8 has 32 bits");
	spec_says(untouched(12, 16), "params", "level 0: the reserved word at 12 is not written");
	spec_says(untouched(16, 32), "params", "level 0: the reserved words at 16 are not written");
	spec_equal(spec_get(block(HEAD), 8), 1, "params", "level 0: counter_value begins at 32");
	spec_says(untouched(HEAD + 6 * 48, 4096), "params", "level 0: behind the last record nothing is written");
	po_close(&p);
	p = po_open(6, 1);
	ask(&p, ENTITLED, 0, 4096);
	spec_equal(spec_get(block(0), 4), ENTITLED, "params", "level 6: Requested_Information is as it was");
	spec_equal(spec_get(block(8), 4), 6, "params", "level 6: read as 32 bits, returned_values is the same");
	spec_equal(*block(0x12), 6, "levels", "level 6: counter_info_version_in is input");
	spec_says(untouched(HEAD + 6 * 48, 4096), "params", "level 6: behind the last record nothing is written");
	po_close(&p);
}

/* ---- params: starting_index ------------------------------------------------------------------------------------ */
static void indexes(void)
{
	static const unsigned ids[] = { 1, 2, 3, 5, 9, 12 };
	static const unsigned levels_of[] = { 0, 6 };
	for (unsigned l = 0; l < 2; l++) {
		struct po p = po_open(levels_of[l], 1);
		unsigned level = levels_of[l];
		for (int32_t n = 0; n <= 13; n++) {
			unsigned from = 0;
			while (from < 6 && ids[from] < (unsigned)n)
				from++;
			for (unsigned r = 0; r < 2; r++) {
				unsigned bytes = r ? 24 : 48;
				int64_t rc = ask(&p, r ? RUN : ENTITLED, n, 4096);
				const char *what = r ? "0x30" : "0x20";
				if (from == 6) {
					code(rc, H_PARAMETER, what, "level %u: no partition from %d on", level, n);
					spec_equal(returned(), 0, what, "level %u: and no record of one from %d on",
						   level, n);
					continue;
				}
				code(rc, H_SUCCESS, what, "level %u: partitions from %d on", level, n);
				spec_equal(returned(), 6 - from, what, "level %u: how many from %d on", level, n);
				spec_equal((uint64_t)first(), ids[from], what,
					   "level %u: the actual first partition from %d on", level, n);
				bool in_order = true;
				for (unsigned i = from; i < 6; i++)
					in_order &= spec_get(record(bytes, i - from), 8) == ids[i];
				spec_says(in_order, what, "level %u: their ids ascend from %d on, at offset 0", level,
					  n);
			}
		}
		static const int32_t bad[] = { -2, -3, -100, INT32_MIN };
		for (unsigned i = 0; i < 4; i++) {
			code(ask(&p, ENTITLED, bad[i], 4096), H_PARAMETER, "0x20", "level %u: index %d", level, bad[i]);
			code(ask(&p, PURR, bad[i], 4096), H_PARAMETER, "0x10", "level %u: index %d", level, bad[i]);
			code(ask(&p, CAPABILITIES, bad[i], 4096), H_NOT_AVAILABLE, "0x40, D25",
			     "level %u: index %d, before the general test", level, bad[i]);
			spec_says(untouched(HEAD, 4096), "0x40, D25", "level %u: index %d: no record", level, bad[i]);
		}
		static const int32_t others[] = { 0, 1, 2, 5, 9, INT32_MAX };
		for (unsigned i = 0; i < 6; i++)
			code(ask(&p, CAPABILITIES, others[i], 4096), H_NOT_AVAILABLE, "0x40, D25",
			     "level %u: index %d is not -1", level, others[i]);
		code(ask(&p, ENTITLED, INT32_MAX, 4096), H_PARAMETER, "0x20", "level %u: no partition from 2^31-1 on",
		     level);

		/* 0x10: the text's processor id is the hardware's; later it is the physical index. */
		for (int32_t n = 0; n <= 80; n += n < 20 ? 1 : 4) {
			unsigned from = level ? (unsigned)n : n <= 16 ? 0 : ((unsigned)n - 16 + 3) / 4;
			int64_t rc = ask(&p, PURR, n, 4096);
			if (from >= 16) {
				code(rc, H_PARAMETER, "0x10", "level %u: no processor from %d on", level, n);
				continue;
			}
			spec_equal(returned(), 16 - from, "0x10", "level %u: how many processors from %d on", level, n);
			spec_equal((uint64_t)first(), level ? from : 16 + 4 * from, "0x10",
				   "level %u: the actual first processor from %d on", level, n);
			spec_equal(spec_get(record(48, 0) + 8, 4), 16 + 4 * from, "0x10",
				   "level %u: its hardware processor id, from %d on", level, n);
		}
		for (int32_t n = 0; n <= 4; n++)
			for (unsigned r = 0; r < 2; r++) {
				int64_t rc = ask(&p, r ? WXYZ : ABC, n, 4096);
				const char *what = r ? "0x60, D31" : "0x50, D31";
				code(rc, n < 4 ? H_SUCCESS : H_PARAMETER, what, "level %u: chips from %d on", level, n);
				if (n == 4)
					continue;
				spec_equal(returned(), (unsigned)(4 - n), what, "level %u: how many chips from %d on",
					   level, n);
				spec_equal(spec_get(record(0, 0), 4), (unsigned)n, what,
					   "level %u: hardware chip id of the first from %d on", level, n);
			}
		po_close(&p);

		/* -1: the asker's own. */
		for (unsigned i = 0; i < 6; i++) {
			p = po_open(level, ids[i]);
			code(ask(&p, ENTITLED, -1, 4096), H_SUCCESS, "0x20", "level %u: partition %u asks for itself",
			     level, ids[i]);
			spec_equal(returned(), 1, "params", "level %u: partition %u gets one record", level, ids[i]);
			spec_equal((uint64_t)first(), ids[i], "params",
				   "level %u: partition %u: starting_index is its own id", level, ids[i]);
			spec_equal(spec_get(record(48, 0), 8), ids[i], "0x20",
				   "level %u: partition %u: the record is its own", level, ids[i]);
			code(ask(&p, RUN, -1, 4096), H_SUCCESS, "0x30",
			     "level %u: partition %u asks for its own run counts", level, ids[i]);
			spec_equal(spec_get(record(24, 0), 8), ids[i], "0x30",
				   "level %u: partition %u: run counts are its own", level, ids[i]);
			code(ask(&p, CAPABILITIES, -1, 4096), H_SUCCESS, "0x40",
			     "level %u: partition %u asks what it may", level, ids[i]);
			spec_equal((uint64_t)first(), ids[i], "0x40, params",
				   "level %u: partition %u: starting_index of 0x40 is the id found, its own", level,
				   ids[i]);
			spec_equal(returned(), 1, "0x40", "level %u: partition %u: one record of 0x40", level, ids[i]);
			spec_equal(*record(16, 0), ids[i] == 1 || ids[i] == 3, "0x40",
				   "level %u: partition %u: may it have data of others", level, ids[i]);
			spec_equal(record(16, 0)[1] & 0x60, level && ids[i] == 1 ? 0x60 : 0, "0x40, D28",
				   "level %u: partition %u: expanded and LAB", level, ids[i]);
			if (!level || ids[i] == 1)
				spec_equal(record(16, 0)[1] & 0x80, level ? 0x80 : 0, "0x40, D28",
					   "level %u: partition %u: general", level, ids[i]);
			bool zero = true;
			for (unsigned b = 2; b < 16; b++)
				zero &= !record(16, 0)[b];
			spec_says(zero, "0x40, D28", "level %u: partition %u: bytes 2 to 15 are zero", level, ids[i]);
			po_close(&p);
		}
		p = po_open(level, 1);
		code(ask(&p, PURR, -1, 4096), H_SUCCESS, "0x10", "level %u: the current processor", level);
		spec_equal(returned(), 1, "0x10", "level %u: it is one", level);
		unsigned state = record(48, 0)[14];
		spec_says(state == 4 || state == 5, "0x10",
			  "level %u: a shared partition is on a shared or borrowed processor", level);
		for (unsigned r = 0; r < 2; r++) {
			code(ask(&p, r ? WXYZ : ABC, -1, 4096), H_SUCCESS, r ? "0x60" : "0x50",
			     "level %u: the current chip", level);
			spec_equal(returned(), 1, r ? "0x60" : "0x50", "level %u: the current chip is one", level);
		}
		po_close(&p);
	}
}

/* ---- more than fits ------------------------------------------------------------------------------------------- */
static void pages(void)
{
	static const struct {
		uint32_t request;
		unsigned bytes, all;
		unsigned id_at, id_bytes;
		const char *what;
	} of[] = {
		{ PURR, 48, 16, 0x2c, 4, "0x10" }, { ENTITLED, 48, 6, 0, 8, "0x20" }, { RUN, 24, 6, 0, 8, "0x30" },
		{ ABC, 80, 4, 0, 4, "0x50" },      { WXYZ, 96, 4, 0, 4, "0x60" },
	};
	struct po p = po_open(6, 1);
	for (unsigned i = 0; i < sizeof of / sizeof *of; i++) {
		static uint8_t whole[4096];
		code(ask(&p, of[i].request, 0, 4096), H_SUCCESS, of[i].what, "all records fit");
		spec_equal(returned(), of[i].all, of[i].what, "how many there are");
		memcpy(whole, block(HEAD), sizeof whole);
		for (unsigned n = 1; n <= 3; n++) {
			unsigned room = HEAD + n * of[i].bytes + of[i].bytes - 8;
			code(ask(&p, of[i].request, 0, room), H_PARAMETER, "levels",
			     "%s: room for %u records and most of another", of[i].what, n);
			spec_equal(detail(), TOO_SMALL, "levels", "%s: detail_rc says that more than %u are there",
				   of[i].what, n);
			spec_equal(returned(), n, "levels", "%s: %u whole records come", of[i].what, n);
			spec_says(!memcmp(block(HEAD), whole, n * of[i].bytes), "levels",
				  "%s: these %u are the first of all", of[i].what, n);
			spec_says(untouched(HEAD + n * of[i].bytes, 4096), "levels",
				  "%s: nothing of record %u is written", of[i].what, n + 1);
		}
		unsigned got = 0;
		bool same = true;
		for (int32_t next = 0; got < of[i].all;) {
			int64_t rc = ask(&p, of[i].request, next, HEAD + of[i].bytes);
			if (returned() != 1 || (rc != H_SUCCESS && rc != H_PARAMETER))
				break;
			same &= !memcmp(record(0, 0), whole + got * of[i].bytes, of[i].bytes);
			next = (int32_t)spec_get(record(0, 0) + of[i].id_at, of[i].id_bytes) + 1;
			got++;
			if (got == of[i].all)
				code(rc, H_SUCCESS, "levels", "%s: the last piece is all that is left", of[i].what);
		}
		spec_equal(got, of[i].all, "levels", "%s: one record a call, each from the last id and 1", of[i].what);
		spec_says(same, "levels", "%s: the pieces together are the whole", of[i].what);
	}
	po_close(&p);
	p = po_open(0, 1);
	code(ask(&p, ENTITLED, 0, HEAD + 2 * 48), H_SUCCESS, "levels", "level 0: the records that fit");
	spec_equal(returned(), 2, "levels", "level 0: two fit");
	code(ask(&p, ENTITLED, 13, HEAD + 2 * 48), H_PARAMETER, "levels", "level 0: the end of the list");
	po_close(&p);

	/* A block larger than a page: the text has no limit. */
	p = (struct po){ .hv = po_machine("power,load=large"), .version = 6 };
	p.guest = po_guest(p.hv, 1);
	tally_hv_advance(p.hv, 20000000);
	code(ask(&p, PURR, 0, HEAD + 96 * 48), H_SUCCESS, "params", "a block of 4640 bytes has room for 96 processors");
	spec_equal(returned(), 96, "params", "all 96 come in it");
	code(ask(&p, PURR, 0, 4096), H_PARAMETER, "levels", "in 4096 bytes there is room for some");
	spec_equal(returned(), 84, "levels", "namely 84");
	code(ask(&p, PURR, 84, 4096), H_SUCCESS, "levels", "the rest in a second call");
	spec_equal(returned(), 12, "levels", "namely 12");
	po_close(&p);
}

/* ---- semantics 4: who may -------------------------------------------------------------------- */
static void authority(void)
{
	/* Partition 1 has all rights, 3 data of others, 2 none. own: with index -1 anybody may. */
	static const struct {
		uint32_t request;
		bool own, expanded, lab;
		unsigned bytes;
		const char *what;
	} of[] = {
		{ PURR, false, false, false, 48, "0x10" },
		{ ENTITLED, true, false, false, 48, "0x20" },
		{ RUN, true, false, false, 24, "0x30" },
		{ ABC, false, false, false, 80, "0x50" },
		{ WXYZ, false, false, false, 96, "0x60" },
		{ SET_MMCRH, false, false, true, 8, "Set MMCRH" },
		{ HPMC, false, false, true, 72, "Retrieve HPMCx" },
		{ 0x90, false, true, false, 40, "0x90" },
		{ 0x94, false, true, false, 48, "0x94" },
		{ 0xb0, false, true, false, 48, "0xB0" },
		{ 0xc0, false, true, false, 32, "0xC0" },
		{ 0xd0, false, true, false, 32, "0xD0" },
		{ 0xa0, true, true, false, 32, "0xA0" },
		{ 0xe0, true, true, false, 80, "0xE0" },
	};
	static const uint32_t who[] = { 1, 2, 3, 12 };
	for (unsigned w = 0; w < 4; w++) {
		struct po p = po_open(6, who[w]);
		for (unsigned i = 0; i < sizeof of / sizeof *of; i++)
			for (int32_t index = -1; index <= 0; index++) {
				bool may = who[w] == 1 || (index < 0 && of[i].own) ||
					   (who[w] == 3 && !of[i].expanded && !of[i].lab);
				int64_t rc = ask(&p, of[i].request, index, 4096);
				code(rc, may ? H_SUCCESS : H_AUTHORITY, "semantics 4", "partition %u asks %s, index %d",
				     who[w], of[i].what, index);
				if (!may)
					spec_says(untouched(HEAD, 4096), "semantics 4",
						  "partition %u: nothing is written of %s, index %d", who[w],
						  of[i].what, index);
			}
		if (who[w] == 1) {
			po_close(&p);
			continue;
		}
		if (who[w] != 3) {
			code(ask(&p, ENTITLED, (int32_t)who[w], 4096), H_AUTHORITY, "semantics 4",
			     "partition %u asks for itself by number: -1 only", who[w]);
			code(ask(&p, PURR, 100000, 4096), H_AUTHORITY, "semantics, order",
			     "partition %u: authority comes before whether there is such a processor", who[w]);
			code(ask(&p, ENTITLED, 100000, 4096), H_AUTHORITY, "semantics, order",
			     "partition %u: authority comes before whether there is such a partition", who[w]);
			code(ask(&p, PURR, 0, HEAD + 47), H_PARAMETER, "semantics, order",
			     "partition %u: the size comes before authority", who[w]);
			code(ask(&p, PURR, -2, 4096), H_PARAMETER, "semantics, order",
			     "partition %u: contents come before authority", who[w]);
			code(ask(&p, 0x9999, 0, 4096), H_NOT_AVAILABLE, "semantics, order",
			     "partition %u: availability comes before authority", who[w]);
		}
		po_close(&p);
		p = po_open(8, who[w]);
		code(ask(&p, ABC, 0, 4096), H_NOT_AVAILABLE, "semantics, order",
		     "partition %u, level 8: what the level hasn't comes before authority", who[w]);
		code(ask(&p, HPMC, 0, 4096), H_NOT_AVAILABLE, "semantics, order",
		     "partition %u, level 8: LAB isn't available before it is forbidden", who[w]);
		po_close(&p);
	}
	/* Who may see others sees of itself what it sees alone. */
	struct po p = po_open(6, 1);
	uint8_t alone[48];
	ask(&p, ENTITLED, -1, 4096);
	memcpy(alone, record(48, 0), 48);
	ask(&p, ENTITLED, 1, 4096);
	spec_says(!memcmp(alone, record(48, 0), 48), "0x20", "a partition's own record is the same among all");
	po_close(&p);
}

/* ---- what the records say -------------------------------------------------------------------- */
static void processors(void)
{
	struct po p = po_open(6, 1);
	ask(&p, PURR, 0, 4096);
	static uint8_t before[16 * 48];
	memcpy(before, block(HEAD), sizeof before);
	unsigned logical[3] = { 0 };
	for (unsigned i = 0; i < 16; i++) {
		const uint8_t *r = before + 48 * i;
		unsigned state = r[14], owner = (unsigned)spec_get(r + 12, 2), index = (unsigned)spec_get(r + 36, 2);
		bool gone = i == 11;
		spec_equal(spec_get(r + 8, 4), 16 + 4 * i, "0x10", "processor %u: hardware processor id at 8", i);
		spec_equal(r[15], 0, "0x10", "processor %u: the reserved byte at 15", i);
		spec_equal(spec_get(r + 16, 4), gone ? 0xffffffff : i / 4, "0x10",
			   "processor %u: hardware chip id at 16", i);
		if (gone)
			spec_equal(spec_get(r + 32, 4), 0xffffffff, "0x10",
				   "processor %u: version -1, for it is not installed", i);
		else
			spec_says(spec_get(r + 32, 4) != 0xffffffff && spec_get(r + 32, 4), "0x10",
				  "processor %u: processor version at 32", i);
		spec_equal(spec_get(r + 24, 4), i / 8, "0x10", "processor %u: primary affinity domain at 24, the node",
			   i);
		spec_equal(spec_get(r + 28, 4), i / 4, "0x10",
			   "processor %u: secondary affinity domain at 28, the chip", i);
		spec_equal(spec_get(r + 38, 2), 0, "0x10", "processor %u: reserved bytes at 38", i);
		spec_equal(spec_get(r + 44, 4), i, "levels", "processor %u: physical index at 44", i);
		if (i == 3 || i == 7 || i == 11) {
			spec_equal(state,
				   i == 3 ? 2 :
				   i == 7 ? 3 :
					    1,
				   "0x10", "processor %u: state %s", i,
				   i == 3 ? "Guarded Off" :
				   i == 7 ? "Unlicensed" :
					    "Not Installed");
			spec_equal(owner, 0xffff, "0x10", "processor %u: nobody owns it", i);
			spec_equal(index, 0xffff, "D26", "processor %u: no logical index", i);
			spec_equal(spec_get(r, 8), 0, "0x10", "processor %u: it ran for nobody", i);
		} else {
			spec_says(state == 4 || state == 5 || state == 6, "0x10",
				  "processor %u: Shared, Borrowed or Dedicated", i);
			spec_says(state == 4 ? owner == 0xffff : owner == 5 || owner == 9, "0x10",
				  "processor %u: owned if and only if it is not shared", i);
			unsigned *next = owner == 5 ? &logical[0] : owner == 9 ? &logical[1] : &logical[2];
			spec_equal(index, state == 4 ? 0xffff : (*next)++, "D26",
				   "processor %u: its position in its owner's numbering", i);
			spec_says(owner != 9 || state == 6, "0x10",
				  "processor %u: one of a partition that does not donate is Dedicated", i);
		}
	}
	spec_equal(logical[0], 2, "0x10", "partition 5 owns two processors");
	spec_equal(logical[1], 1, "0x10", "partition 9 owns one");
	po_close(&p);

	/* The same at level 0: the last ten bytes are reserved. */
	p = po_open(0, 1);
	ask(&p, PURR, 0, 4096);
	for (unsigned i = 0; i < 16; i++) {
		const uint8_t *r = record(48, i);
		spec_says(!spec_get(r + 38, 8) && !spec_get(r + 46, 2), "0x10",
			  "level 0, processor %u: ten reserved bytes at 38", i);
		spec_says(!memcmp(r, before + 48 * i, 38), "0x10",
			  "level 0, processor %u: the 38 bytes before are as at level 6", i);
	}
	po_close(&p);
}

static uint64_t sum_of(unsigned bytes, unsigned at, unsigned n)
{
	uint64_t s = 0;
	for (unsigned i = 0; i < n; i++)
		s += spec_get(record(bytes, i) + at, 8);
	return s;
}

static void counters(void)
{
	struct po p = po_open(6, 1);
	static uint8_t old20[6 * 48], old10[16 * 48], old30[6 * 24];
	static const unsigned ids[] = { 1, 2, 3, 5, 9, 12 };
	for (unsigned t = 0; t < 4; t++) {
		uint64_t ticks = tally_hv_now(p.hv) / 1000 * 512 / 1000 * 1000;
		ask(&p, PURR, 0, 4096);
		uint64_t ran = sum_of(48, 0, 16);
		bool within = true, grows = true;
		for (unsigned i = 0; i < 16; i++) {
			within &= spec_get(record(48, i), 8) <= ticks;
			grows &= !t || spec_get(record(48, i), 8) >= spec_get(old10 + 48 * i, 8);
		}
		memcpy(old10, block(HEAD), sizeof old10);
		spec_says(within, "0x10", "at %u: no processor ran longer than the CEC is booted", t);
		spec_says(grows, "0x10", "at %u: processor times do not go back", t);
		ask(&p, ENTITLED, 0, 4096);
		spec_equal(sum_of(48, 16, 6) + sum_of(48, 24, 6), ran, "0x10, 0x20",
			   "at %u: what processors ran is what partitions consumed", t);
		for (unsigned i = 0; i < 6; i++) {
			const uint8_t *r = record(48, i);
			uint64_t entitled = spec_get(r + 8, 8), capped = spec_get(r + 16, 8),
				 uncapped = spec_get(r + 24, 8), donated = spec_get(r + 32, 8),
				 idle = spec_get(r + 40, 8);
			bool dedicated = ids[i] == 5 || ids[i] == 9;
			static const unsigned parts[] = { 100, 200, 50, 200, 100, 50 };
			spec_equal(entitled, ticks * parts[i] / 100, "0x20",
				   "at %u: partition %u is entitled to its share of the time", t, ids[i]);
			spec_says(capped <= entitled, "0x20",
				  "at %u: partition %u: capped cycles are inside the entitlement", t, ids[i]);
			spec_says(!uncapped || !(dedicated || ids[i] == 12), "0x20",
				  "at %u: partition %u: uncapped cycles are a shared uncapped partition's", t, ids[i]);
			spec_says(!donated || ids[i] == 5, "0x20", "at %u: partition %u: only who donates has donated",
				  t, ids[i]);
			spec_says(idle <= capped + uncapped, "0x20",
				  "at %u: partition %u: idle cycles are of those consumed", t, ids[i]);
			spec_says(!idle || ids[i] <= 2, "0x20",
				  "at %u: partition %u: idle cycles are reported by its operating system", t, ids[i]);
			if (ids[i] == 9)
				spec_equal(capped, entitled, "0x20",
					   "at %u: of a dedicated partition all cycles are capped", t);
			if (ids[i] == 5)
				spec_says(capped + donated <= entitled, "0x20",
					  "at %u: a lender consumes and donates no more than it has", t);
			for (unsigned f = 8; f < 48; f += 8)
				if (t)
					spec_says(spec_get(r + f, 8) >= spec_get(old20 + 48 * i + f, 8), "0x20",
						  "at %u: partition %u: the counter at %u does not go back", t, ids[i],
						  f);
		}
		memcpy(old20, block(HEAD), sizeof old20);
		ask(&p, RUN, 0, 4096);
		for (unsigned i = 0; i < 6; i++) {
			const uint8_t *r = record(24, i), *q = old20 + 48 * i;
			uint64_t busy = spec_get(q + 16, 8) + spec_get(q + 24, 8) - spec_get(q + 40, 8),
				 cycles = busy * 125 / 16, is = spec_get(r + 16, 8);
			spec_says(is <= cycles + 100 && is + 100 >= cycles, "0x30",
				  "at %u: partition %u: run cycles are 4000 MHz of the time it was not idle", t,
				  ids[i]);
			spec_says(spec_get(r + 8, 8) > 0, "0x30", "at %u: partition %u: instructions were completed", t,
				  ids[i]);
			if (t)
				spec_says(spec_get(r + 8, 8) > spec_get(old30 + 24 * i + 8, 8), "0x30",
					  "at %u: partition %u: more than before", t, ids[i]);
		}
		memcpy(old30, block(HEAD), sizeof old30);
		tally_hv_advance(p.hv, 250000000);
	}
	po_close(&p);

	/* D27: a processor version that collects no run counts. */
	char machine[128];
	snprintf(machine, sizeof machine, "power,config=%s,run-counts=no", config_path);
	p = (struct po){ .hv = po_machine(machine), .version = 6 };
	p.guest = po_guest(p.hv, 1);
	tally_hv_advance(p.hv, 100000000);
	code(ask(&p, RUN, 0, 4096), H_SUCCESS, "0x30, D27", "run-counts=no: the request is there");
	for (unsigned i = 0; i < 6; i++) {
		spec_equal(spec_get(record(24, i), 8), ids[i], "0x30, D27",
			   "run-counts=no: record %u has its partition's id", i);
		spec_equal(spec_get(record(24, i) + 8, 8), 0, "0x30, D27",
			   "run-counts=no: partition %u has no instructions", ids[i]);
		spec_equal(spec_get(record(24, i) + 16, 8), 0, "0x30, D27", "run-counts=no: partition %u has no cycles",
			   ids[i]);
	}
	po_close(&p);
}

/* ---- 0x50, 0x60: idle cycles and the time they were collected in, of each link --------------- */
static void links(void)
{
	static const char *const names[2] = { "ABC", "WXYZ" };
	struct po old = po_open(0, 1), now = po_open(6, 1);
	tally_hv_advance(old.hv, 1000000000);
	tally_hv_advance(now.hv, 1000000000);
	for (unsigned r = 0; r < 2; r++) {
		unsigned n = r ? 4 : 3, bytes = r ? 80 : 64, later = r ? 96 : 80;
		static uint8_t first_of[4 * 80];
		code(ask(&old, r ? WXYZ : ABC, 0, 4096), H_SUCCESS, r ? "0x60" : "0x50", "links of all chips");
		memcpy(first_of, block(HEAD), 4 * bytes);
		ask(&now, r ? WXYZ : ABC, 0, 4096);
		for (unsigned c = 0; c < 4; c++) {
			const uint8_t *a = first_of + bytes * c, *b = record(later, c);
			const char *where = r ? "0x60" : "0x50";
			spec_equal(spec_get(a, 4), c, where, "chip %u: hardware chip id at 0", c);
			spec_says(!spec_get(a + 4, 8) && !spec_get(a + 12, 4), where,
				  "chip %u: three reserved words at 4", c);
			spec_equal(spec_get(b, 4), c, where, "level 6, chip %u: hardware chip id at 0", c);
			spec_says(!spec_get(b + 4, 8) && !spec_get(b + 12, 4), where,
				  "level 6, chip %u: reserved bytes at 4", c);
			for (unsigned l = 0; l < n; l++) {
				uint64_t idle = spec_get(a + 16 + 16 * l, 8), time = spec_get(a + 24 + 16 * l, 8);
				spec_says(idle == UINT64_MAX || idle <= time, where,
					  "chip %u: link %c is idle no longer than its time", c, names[r][l]);
				spec_says(time > 0 && time != UINT64_MAX, where, "chip %u: link %c has a time, at %u",
					  c, names[r][l], 24 + 16 * l);
				spec_equal(time, spec_get(first_of + 24, 8), where,
					   "chip %u: link %c was collected with all others", c, names[r][l]);
				spec_equal(spec_get(b + 24 + 8 * l, 8), idle, "levels",
					   "chip %u: idle cycles of link %c are at %u from level 3 on", c, names[r][l],
					   24 + 8 * l);
			}
			spec_equal(spec_get(b + 16, 8), spec_get(a + 24, 8), "levels",
				   "chip %u: total_link_cycles at 16 of %s from level 3 on", c, names[r]);
			bool zero = true;
			for (unsigned i = 24 + 8 * n; i < later; i++)
				zero &= !b[i];
			spec_says(zero, "levels", "chip %u: what is behind the idle cycles of %s is reserved", c,
				  names[r]);
		}
		/* Between two collections nothing changes. */
		ask(&old, r ? WXYZ : ABC, 0, 4096);
		spec_says(!memcmp(block(HEAD), first_of, 4 * bytes), r ? "0x60" : "0x50",
			  "a second call within one collection has the same bytes");
		tally_hv_advance(old.hv, 200000000);
		ask(&old, r ? WXYZ : ABC, 0, 4096);
		spec_says(spec_get(record(0, 0) + 24, 8) > spec_get(first_of + 24, 8), r ? "0x60" : "0x50",
			  "later the time is later");
		tally_hv_advance(now.hv, 200000000);
	}
	po_close(&old);
	po_close(&now);
}

/* ---- LAB ------------------------------------------------------------------------------------- */
static int64_t set_mmcrh(struct po *p, uint64_t value, int32_t index, uint64_t size)
{
	memset(memory, 0xa5, MEMORY);
	memset(block(0), 0, HEAD);
	spec_put(block(0), 4, SET_MMCRH);
	spec_put(block(4), 4, (uint32_t)index);
	*block(0x12) = (uint8_t)p->version;
	spec_put(block(HEAD), 8, value);
	return call_at(p, TOKEN, BASE + AT, size);
}

static uint64_t hpmc(struct po *p, unsigned processor, unsigned at)
{
	spec_needs(ask(p, HPMC, 0, 4096) == H_SUCCESS, "HPMC can be read");
	return spec_get(record(72, processor) + at, 8);
}

static void lab(void)
{
	for (unsigned l = 0; l < 2; l++) {
		struct po p = po_open(l ? 6 : 0, 1);
		unsigned level = l ? 6 : 0;
		code(ask(&p, HPMC, 0, 4096), H_SUCCESS, "HPMC", "level %u: HPMC of all processors", level);
		spec_equal(returned(), 16, "HPMC", "level %u: per physical processor", level);
		for (unsigned i = 0; i < 16; i++) {
			spec_equal(spec_get(record(72, i), 4), 16 + 4 * i, "HPMC",
				   "level %u, processor %u: hardware processor id at 0", level, i);
			spec_equal(spec_get(record(72, i) + 4, 4), 0, "HPMC",
				   "level %u, processor %u: reserved word at 4", level, i);
			spec_says(spec_get(record(72, i) + 40, 8) <= spec_get(record(72, i) + 48, 8), "HPMC",
				  "level %u, processor %u: HPMC3 since MMCRH was set is of HPMC3", level, i);
			spec_says(spec_get(record(72, i) + 56, 8) <= spec_get(record(72, i) + 64, 8), "HPMC",
				  "level %u, processor %u: HPMC4 since MMCRH was set is of HPMC4", level, i);
		}
		uint64_t before = hpmc(&p, 0, 8), elapsed = hpmc(&p, 0, 16);
		static const int32_t indexes_of[] = { -1, 0, 5, 1000 };
		for (unsigned i = 0; i < 4; i++) {
			code(set_mmcrh(&p, 0x1200, indexes_of[i], HEAD + 8), H_SUCCESS, "MMCRH, D28",
			     "level %u: set with index %d", level, indexes_of[i]);
			spec_equal(returned(), 0, "MMCRH, D28", "level %u: set with index %d returns no values", level,
				   indexes_of[i]);
			spec_equal(spec_get(block(HEAD), 8), 0x1200, "MMCRH",
				   "level %u: set with index %d leaves the value", level, indexes_of[i]);
			spec_says(untouched(HEAD + 8, 4096), "MMCRH", "level %u: set with index %d writes no record",
				  level, indexes_of[i]);
		}
		code(set_mmcrh(&p, 0x1200, -1, HEAD + 7), H_PARAMETER, "MMCRH",
		     "level %u: set without room for a value", level);
		code(set_mmcrh(&p, 0x1200, -1, HEAD), H_PARAMETER, "MMCRH", "level %u: set with a header only", level);
		spec_equal(hpmc(&p, 0, 8), before, "MMCRH, note 2",
			   "level %u: until the next collection MMCRH is as it was", level);
		spec_says(hpmc(&p, 0, 16) >= elapsed, "MMCRH, note 2", "level %u: until then elapsed time goes on",
			  level);
		tally_hv_advance(p.hv, 110000000);
		for (unsigned i = 0; i < 16; i++)
			spec_equal(hpmc(&p, i, 8), 0x1200, "MMCRH",
				   "level %u: then it is set in processor %u, as in all", level, i);
		spec_says(hpmc(&p, 0, 16) <= 110 * 512000, "MMCRH, note 2", "level %u: elapsed time began anew", level);
		tally_hv_advance(p.hv, 300000000);
		uint64_t one = hpmc(&p, 0, 24), since = hpmc(&p, 0, 16), three = hpmc(&p, 0, 40);
		spec_says(since > 0 && three > 0, "HPMC", "level %u: time and HPMC3 go on", level);
		set_mmcrh(&p, 0x1200, -1, HEAD + 8);
		tally_hv_advance(p.hv, 200000000);
		spec_says(hpmc(&p, 0, 16) > since && hpmc(&p, 0, 24) >= one && hpmc(&p, 0, 40) >= three,
			  "MMCRH, note 2", "level %u: the same value is no change, and resets nothing", level);
		set_mmcrh(&p, 0x3400, -1, HEAD + 8);
		tally_hv_advance(p.hv, 110000000);
		spec_equal(hpmc(&p, 5, 8), 0x3400, "MMCRH", "level %u: another value", level);
		spec_says(hpmc(&p, 0, 16) <= 110 * 512000, "MMCRH, note 2", "level %u: resets the time", level);
		uint64_t now3 = hpmc(&p, 0, 48);
		spec_says(now3 > three, "HPMC", "level %u: the current value of HPMC3 is never reset", level);
		set_mmcrh(&p, UINT64_MAX, -1, HEAD + 8);
		tally_hv_advance(p.hv, 110000000);
		spec_equal(hpmc(&p, 0, 8), UINT64_MAX, "MMCRH, note 1", "level %u: -1 is read back", level);
		static uint8_t frozen[16 * 72];
		ask(&p, HPMC, 0, 4096);
		memcpy(frozen, block(HEAD), sizeof frozen);
		tally_hv_advance(p.hv, 500000000);
		ask(&p, HPMC, 0, 4096);
		bool same = true;
		for (unsigned i = 0; i < 16; i++)
			same &= !memcmp(record(72, i) + 24, frozen + 72 * i + 24, 48);
		spec_says(same, "MMCRH, note 1", "level %u: collection of HPMC1 to 4 is disabled", level);
		po_close(&p);
	}
	/* The sum over processors is the sum over partitions. */
	struct po p = po_open(6, 1);
	tally_hv_advance(p.hv, 950000000);
	ask(&p, RUN, 0, 4096);
	uint64_t instructions = sum_of(24, 8, 6), cycles = sum_of(24, 16, 6);
	ask(&p, HPMC, 0, 4096);
	spec_equal(sum_of(72, 48, 16), instructions, "HPMC, 0x30",
		   "HPMC3 of all processors are the run instructions of all partitions");
	spec_equal(sum_of(72, 64, 16), cycles, "HPMC, 0x30",
		   "HPMC4 of all processors are the run cycles of all partitions");
	po_close(&p);
}

/* ---- D29: requests beyond the text, of the same header --------------------------------------- */
static unsigned returned16(void)
{
	return (unsigned)spec_get(block(10), 2);
}

static void beyond(void)
{
	static const unsigned ids[] = { 1, 2, 3, 5, 9, 12 }, vps[] = { 2, 4, 1, 2, 1, 1 };
	struct po p = po_open(6, 1);
	static uint8_t ten[16 * 48], abc[4 * 80], wxyz[4 * 96];
	tally_hv_advance(p.hv, 50000000);
	ask(&p, PURR, 0, 4096);
	memcpy(ten, block(HEAD), sizeof ten);
	ask(&p, ABC, 0, 4096);
	memcpy(abc, block(HEAD), sizeof abc);
	ask(&p, WXYZ, 0, 4096);
	memcpy(wxyz, block(HEAD), sizeof wxyz);

	ask(&p, 0x90, 0, 4096);
	spec_equal(returned(), 16, "0x90", "a record for each processor");
	for (unsigned i = 0; i < 16; i++) {
		const uint8_t *r = record(40, i), *q = ten + 48 * i;
		bool gone = i == 11;
		spec_equal(spec_get(r, 4), i, "0x90", "processor %u: physical index at 0", i);
		spec_equal(spec_get(r + 4, 4), i / 8, "0x90", "processor %u: node at 4", i);
		spec_equal(spec_get(r + 0x10, 4), gone ? 0xffffffff : i / 4, "0x90", "processor %u: chip at 0x10", i);
		spec_equal(spec_get(r + 0x0c, 4), spec_get(q + 0x14, 4), "0x90",
			   "processor %u: module at 0xC is that of 0x10", i);
		spec_equal(spec_get(r + 0x14, 4), 16 + 4 * i, "0x90", "processor %u: hardware id at 0x14", i);
		spec_equal(spec_get(r + 0x18, 4), spec_get(q + 0x28, 4), "0x90",
			   "processor %u: PIR at 0x18 is that of 0x10", i);
		spec_equal(r[0x1c], q[14], "0x90", "processor %u: state at 0x1C is that of 0x10", i);
		spec_equal(spec_get(r + 0x1e, 2), spec_get(q + 12, 2), "0x90",
			   "processor %u: owner at 0x1E is that of 0x10", i);
		spec_equal(spec_get(r + 0x20, 4), spec_get(q + 0x20, 4), "0x90",
			   "processor %u: version at 0x20 is that of 0x10", i);
		spec_says(!r[0x1d] && !spec_get(r + 0x24, 4), "0x90", "processor %u: reserved bytes", i);
	}
	ask(&p, 0x91, 0, 4096);
	for (unsigned i = 0; i < returned(); i++) {
		spec_equal(spec_get(record(32, i), 4), i, "0x91", "processor %u: physical index", i);
		spec_equal(spec_get(record(32, i) + 4, 4), 16 + 4 * i, "0x91", "processor %u: hardware id", i);
		if (i != 3 && i != 7 && i != 11)
			spec_equal(spec_get(record(32, i) + 0x10, 4), 4000, "0x91",
				   "processor %u: 125/16 of 512 MHz are 4000 nominal", i);
	}
	ask(&p, 0x94, 0, 4096);
	spec_equal(returned(), 16, "0x94", "a record for each processor");
	for (unsigned i = 0; i < 16; i++) {
		spec_equal(spec_get(record(48, i), 4), i, "0x94", "processor %u: physical index", i);
		spec_equal(spec_get(record(48, i) + 4, 4), 16 + 4 * i, "0x94", "processor %u: hardware id", i);
		spec_equal(spec_get(record(48, i) + 0x18, 8), spec_get(ten + 48 * i, 8), "0x94",
			   "processor %u: PURR at a collection is the time of 0x10", i);
	}

	ask(&p, 0xd0, 0, 4096);
	spec_equal(returned(), 4, "0xD0", "a record for each chip");
	for (unsigned c = 0; c < 4; c++) {
		const uint8_t *r = record(32, c);
		unsigned mask = (unsigned)spec_get(r + 0x10, 4);
		spec_equal(spec_get(r, 4), c, "0xD0", "chip %u: chip id", c);
		spec_equal(spec_get(r + 4, 4), c / 2, "0xD0", "chip %u: its node", c);
		spec_equal(spec_get(r + 8, 4), c % 2, "0xD0", "chip %u: its fabric chip id, in the node", c);
		for (unsigned l = 0; l < 3; l++)
			spec_equal(mask >> l & 1, spec_get(abc + 80 * c + 0x18 + 8 * l, 8) != UINT64_MAX, "0xD0, 0x50",
				   "chip %u: link %c is in the mask if it is wired", c, 'A' + (int)l);
		for (unsigned l = 0; l < 4; l++) {
			spec_equal(mask >> (8 + l) & 1, spec_get(wxyz + 96 * c + 0x18 + 8 * l, 8) != UINT64_MAX,
				   "0xD0, 0x60", "chip %u: link %c is in the mask if it is wired", c, 'W' + (int)l);
			if (mask >> (8 + l) & 1)
				spec_equal(r[0x18 + l], 1 - c % 2, "0xD0",
					   "chip %u: link %c leads to the node's other chip", c, 'W' + (int)l);
		}
		for (unsigned l = 0; l < 2; l++)
			if (mask >> l & 1)
				spec_equal(r[0x14 + l], 1 - c / 2, "0xD0", "chip %u: link %c leads to the other node",
					   c, 'A' + (int)l);
		spec_says(mask & 7, "0xD0", "chip %u: something joins the nodes", c);
		spec_says(mask >> 8 & 15, "0xD0", "chip %u: something joins the chips of a node", c);
	}

	/* 0xA0 has two indexes: partition, and virtual processor at 8. */
	unsigned before = 0;
	for (unsigned i = 0; i < 6; i++)
		for (unsigned v = 0; v < vps[i]; v++, before++) {
			memset(memory, 0, MEMORY);
			spec_put(block(0), 4, 0xa0);
			spec_put(block(4), 4, ids[i]);
			spec_put(block(8), 2, v);
			*block(0x12) = 6;
			code(call_at(&p, TOKEN, BASE + AT, 4096), H_SUCCESS, "0xA0",
			     "from partition %u, processor %u on", ids[i], v);
			spec_equal(returned16(), 11 - before, "0xA0", "how many virtual processors from (%u, %u) on",
				   ids[i], v);
			spec_equal(spec_get(record(32, 0), 2), ids[i], "0xA0",
				   "partition of the first from (%u, %u) on", ids[i], v);
			spec_equal(spec_get(record(32, 0) + 2, 2), v, "0xA0",
				   "virtual processor of the first from (%u, %u) on", ids[i], v);
			spec_says(spec_get(record(32, 0) + 0x10, 2) < 16, "0xA0",
				  "(%u, %u) is on a processor that there is", ids[i], v);
			spec_says(spec_get(record(32, 0) + 0x12, 2) == spec_get(record(32, 0) + 0x14, 2) / 2, "0xA0",
				  "(%u, %u): its chip is of its node", ids[i], v);
		}

	ask(&p, 0xb0, 0, 4096);
	spec_equal(returned(), 4, "0xB0", "a record for each chip");
	for (unsigned i = 0; i < 4; i++) {
		/* Partitions 1, 3, 12 are at home on chip 0 with 2 cores, 2 on chip 1 with 2, 5 on chip 2 with 2, 9 on
		 * chip 3 with 1. */
		static const struct {
			unsigned units, left, blocks, partitions;
		} of[] = { { 300, 100, 976, 3 }, { 300, 100, 1008, 1 }, { 300, 100, 1008, 1 }, { 400, 300, 1008, 1 } };
		const uint8_t *r = record(48, i);
		spec_equal(spec_get(r, 2), i / 2, "0xB0", "domain %u: primary, the node", i);
		spec_equal(spec_get(r + 2, 2), i, "0xB0", "domain %u: secondary, the chip", i);
		spec_equal(spec_get(r + 4, 4), of[i].units, "0xB0", "domain %u: units of the cores that can run", i);
		spec_equal(spec_get(r + 8, 4), of[i].left, "0xB0",
			   "domain %u: units that a dedicated partition could have", i);
		spec_equal(spec_get(r + 12, 4), of[i].left, "0xB0",
			   "domain %u: units that a shared partition could have", i);
		spec_equal(spec_get(r + 16, 4), 1024, "0xB0", "domain %u: blocks of memory", i);
		spec_equal(spec_get(r + 20, 4), of[i].blocks, "0xB0", "domain %u: free blocks", i);
		spec_equal(spec_get(r + 24, 4), of[i].partitions, "0xB0", "domain %u: partitions", i);
	}
	ask(&p, 0xc0, -1, 4096);
	spec_equal(spec_get(record(32, 0), 8), 256 << 20, "0xC0", "a block of memory is 256 MB");

	for (unsigned i = 0; i < 6; i++) {
		ask(&p, 0xb1, (int32_t)ids[i], 4096);
		const uint8_t *r = record(0, 0);
		spec_equal(spec_get(block(0x10), 2), 16, "0xB1", "partition %u: the element size is the least, 16",
			   ids[i]);
		spec_equal(spec_get(r, 2), ids[i], "0xB1", "partition %u: its id at 0", ids[i]);
		spec_says(r[10] <= 5, "0xB1", "partition %u: spread at 0xA is 0 to 5", ids[i]);
		spec_says(r[11] <= 100, "0xB1", "partition %u: score at 0xB is 0 to 100", ids[i]);
		spec_says(spec_get(r + 12, 2) > 0, "0xB1", "partition %u: elements at 0xC", ids[i]);
		spec_equal(spec_get(r + 14, 2), 28, "0xB1", "partition %u: 28 bytes an element, at 0xE", ids[i]);
		unsigned next = 16 + 28 * (unsigned)spec_get(r + 12, 2);
		if (i < 5)
			spec_equal(spec_get(r + next, 2), ids[i + 1], "0xB1",
				   "partition %u: the next record begins behind its elements", ids[i]);
	}

	ask(&p, 0xe0, 0, 4096);
	spec_equal(returned(), 6, "0xE0", "a record for each partition");
	static uint8_t waits[6 * 80];
	memcpy(waits, block(HEAD), sizeof waits);
	tally_hv_advance(p.hv, 300000000);
	ask(&p, 0xe0, 0, 4096);
	for (unsigned i = 0; i < 6; i++) {
		const uint8_t *r = record(80, i), *w = waits + 80 * i;
		spec_equal(spec_get(r, 2), ids[i], "0xE0", "record %u: partition id", i);
		spec_says(!spec_get(r + 2, 2) && !spec_get(r + 4, 4), "0xE0", "partition %u: six reserved bytes",
			  ids[i]);
		uint64_t dispatches = 0;
		for (unsigned f = 0x08; f < 80; f += 8) {
			spec_says(spec_get(r + f, 8) >= spec_get(w + f, 8), "0xE0",
				  "partition %u: the counter at %#x does not go back", ids[i], f);
			if (f >= 0x28 && f < 0x48)
				dispatches += spec_get(r + f, 8);
		}
		spec_says(dispatches > 0, "0xE0", "partition %u: it was dispatched", ids[i]);
		spec_says(spec_get(r + 0x10, 8) || !spec_get(r + 8, 8), "0xE0",
			  "partition %u: no time waited for entitlement without a wait", ids[i]);
		spec_says(spec_get(r + 0x20, 8) || !spec_get(r + 0x18, 8), "0xE0",
			  "partition %u: no time waited for a processor without a wait", ids[i]);
	}

	/* 0x100 of level 8 is what 0x30 was. */
	ask(&p, RUN, 0, 4096);
	static uint8_t run[6 * 24];
	memcpy(run, block(HEAD), sizeof run);
	po_close(&p);
	p = po_open(8, 1);
	tally_hv_advance(p.hv, 350000000);
	ask(&p, 0x100, 0, 4096);
	spec_equal(returned(), 6, "0x100", "a record for each partition");
	for (unsigned i = 0; i < 6; i++) {
		spec_equal(spec_get(record(24, i), 2), ids[i], "0x100", "record %u: partition id of 16 bits", i);
		spec_says(!spec_get(record(24, i) + 2, 2) && !spec_get(record(24, i) + 4, 4), "0x100",
			  "partition %u: six reserved bytes", ids[i]);
		spec_equal(spec_get(record(24, i) + 8, 8), spec_get(run + 24 * i + 8, 8), "0x100",
			   "partition %u: instructions are those of 0x30", ids[i]);
	}
	po_close(&p);
}

/* ---- the fields as tally lists them ---------------------------------------------------------- */
static const struct {
	const char *request;
	unsigned level, at, bytes;
	const char *what;
} fields[] = {
	{ "dispatch_purr", 0, 0x00, 8, "processor time" },
	{ "dispatch_purr", 0, 0x08, 4, "hardware processor id" },
	{ "dispatch_purr", 0, 0x0c, 2, "owning partition id" },
	{ "dispatch_purr", 0, 0x0e, 1, "processor state" },
	{ "dispatch_purr", 0, 0x10, 4, "hardware chip id" },
	{ "dispatch_purr", 0, 0x14, 4, "hardware module id" },
	{ "dispatch_purr", 0, 0x18, 4, "primary affinity domain" },
	{ "dispatch_purr", 0, 0x1c, 4, "secondary affinity domain" },
	{ "dispatch_purr", 0, 0x20, 4, "processor version" },
	{ "dispatch_purr", 0, 0x24, 2, "logical processor index" },
	{ "dispatch_purr", 6, 0x28, 4, "PIR" },
	{ "dispatch_purr", 6, 0x2c, 4, "physical processor index" },
	{ "entitled", 0, 0x00, 8, "partition id" },
	{ "entitled", 0, 0x08, 8, "entitled" },
	{ "entitled", 0, 0x10, 8, "capped" },
	{ "entitled", 0, 0x18, 8, "uncapped" },
	{ "entitled", 0, 0x20, 8, "donated" },
	{ "entitled", 0, 0x28, 8, "idle" },
	{ "run_instructions", 0, 0x00, 8, "partition id" },
	{ "run_instructions", 0, 0x08, 8, "run instructions" },
	{ "run_instructions", 0, 0x10, 8, "run cycles" },
	{ "capabilities", 0, 0x00, 1, "may see others" },
	{ "capabilities", 6, 0x01, 1, "capability mask" },
	{ "links_abc", 0, 0x00, 4, "hardware chip id" },
	{ "links_abc", 0, 0x10, 8, "idle A" },
	{ "links_abc", 0, 0x18, 8, "time A" },
	{ "links_abc", 0, 0x20, 8, "idle B" },
	{ "links_abc", 0, 0x28, 8, "time B" },
	{ "links_abc", 0, 0x30, 8, "idle C" },
	{ "links_abc", 0, 0x38, 8, "time C" },
	{ "links_abc", 6, 0x10, 8, "total_link_cycles" },
	{ "links_abc", 6, 0x18, 8, "idle A" },
	{ "links_abc", 6, 0x20, 8, "idle B" },
	{ "links_abc", 6, 0x28, 8, "idle C" },
	{ "links_wxyz", 0, 0x00, 4, "hardware chip id" },
	{ "links_wxyz", 0, 0x10, 8, "idle W" },
	{ "links_wxyz", 0, 0x18, 8, "time W" },
	{ "links_wxyz", 0, 0x20, 8, "idle X" },
	{ "links_wxyz", 0, 0x28, 8, "time X" },
	{ "links_wxyz", 0, 0x30, 8, "idle Y" },
	{ "links_wxyz", 0, 0x38, 8, "time Y" },
	{ "links_wxyz", 0, 0x40, 8, "idle Z" },
	{ "links_wxyz", 0, 0x48, 8, "time Z" },
	{ "links_wxyz", 6, 0x10, 8, "total_link_cycles" },
	{ "links_wxyz", 6, 0x18, 8, "idle W" },
	{ "links_wxyz", 6, 0x20, 8, "idle X" },
	{ "links_wxyz", 6, 0x28, 8, "idle Y" },
	{ "links_wxyz", 6, 0x30, 8, "idle Z" },
	{ "hpmc", 0, 0x00, 4, "hardware processor id" },
	{ "hpmc", 0, 0x08, 8, "MMCRH" },
	{ "hpmc", 0, 0x10, 8, "elapsed timebase" },
	{ "hpmc", 0, 0x18, 8, "HPMC1 since" },
	{ "hpmc", 0, 0x20, 8, "HPMC2 since" },
	{ "hpmc", 0, 0x28, 8, "HPMC3 since" },
	{ "hpmc", 0, 0x30, 8, "HPMC3 current" },
	{ "hpmc", 0, 0x38, 8, "HPMC4 since" },
	{ "hpmc", 0, 0x40, 8, "HPMC4 current" },
	{ "processor_config", 6, 0x00, 4, "physical index" },
	{ "processor_config", 6, 0x14, 4, "hardware processor id" },
	{ "processor_config", 6, 0x1c, 1, "state" },
	{ "processor_config", 6, 0x1e, 2, "owner" },
	{ "processor_config", 6, 0x20, 4, "version" },
	{ "core_utilization", 6, 0x08, 8, "cycles any thread" },
	{ "core_utilization", 6, 0x18, 8, "PURR" },
	{ "core_utilization", 6, 0x28, 8, "instructions" },
	{ "affinity_by_vp", 6, 0x00, 2, "partition" },
	{ "affinity_by_vp", 6, 0x02, 2, "virtual processor" },
	{ "affinity_by_vp", 6, 0x10, 2, "physical index" },
	{ "affinity_by_domain", 6, 0x04, 4, "total units" },
	{ "affinity_by_partition", 6, 0x0b, 1, "affinity score" },
	{ "affinity_by_partition", 6, 0x0c, 2, "number of elements" },
	{ "bus_topology", 6, 0x08, 4, "fabric chip id" },
	{ "bus_topology", 6, 0x10, 4, "mask of links" },
	{ "bus_topology", 6, 0x18, 1, "chip at W" },
	{ "queuing_times", 6, 0x08, 8, "time waited for entitlement" },
	{ "queuing_times", 6, 0x20, 8, "waits for a processor" },
	{ "queuing_times", 6, 0x48, 8, "dispatches on donating" },
	{ "instructions", 8, 0x08, 8, "instructions" },
	{ "instructions", 8, 0x10, 8, "time" },
};

static void fields_listed(void)
{
	for (unsigned i = 0; i < sizeof fields / sizeof *fields; i++) {
		char on[32];
		snprintf(on, sizeof on, "power,firmware=%u", fields[i].level);
		struct tally_platform *p;
		struct tally_platform_opts o = { .size = sizeof o, .on = on };
		spec_needs(!tally_platform_open(&p, &o), "%s", tally_platform_error(p));
		struct spec_text text = { 0 };
		struct tally_out to = {
			.size = sizeof to, .out = spec_text_add, .arg = &text, .format = TALLY_FORMAT_JSON
		};
		spec_needs(!tally_list(p, "gpci", fields[i].request, false, &to), "%s: %s", fields[i].request,
			   tally_platform_error(p));
		bool found = false;
		char *at = text.s, *line;
		while ((line = spec_line(&at)))
			found |= spec_is(line, "type", "field") && spec_number(line, "offset") == fields[i].at &&
				 spec_number(line, "bytes") == fields[i].bytes;
		spec_says(found, "fields", "level %u: %s has %s at %#x, %u bytes", fields[i].level, fields[i].request,
			  fields[i].what, fields[i].at, fields[i].bytes);
		spec_text_free(&text);
		tally_platform_close(p);
	}
}

int main(void)
{
	int fd = mkstemp(config_path);
	spec_needs(fd >= 0 && write(fd, config, sizeof config - 1) == (ssize_t)sizeof config - 1 && !close(fd),
		   "a file for the machine");
	tokens();
	accessible();
	sizes_and_levels();
	header();
	indexes();
	pages();
	authority();
	processors();
	counters();
	links();
	lab();
	beyond();
	fields_listed();
	remove(config_path);
	return spec_end(300);
}
