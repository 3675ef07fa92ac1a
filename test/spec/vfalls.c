/*
 * vfalls.c: the Victoria Falls performance register API, vf_perf_api.txt 1.11.
 *
 * What that text leaves open is as decided (numbers 18 to 23) and as the layouts of PCR, PIC and select fields are
 * known from its clients.  Places are sections of the text, "D" numbers of decisions, "layout" and "order" what clients
 * and relatives say.
 */
#include "spec.h"

#include <tally/hv.h>
#include <tally/platform.h>

enum { EOK = 0, EINVAL_ = 6, EBADTRAP = 7, EWOULDBLOCK_ = 9, ENOACCESS = 10, ENOTSUPPORTED = 13 };
enum { FAST = 0x80, CORE = 0xff, SETVER = 0, GETVER = 3, GET = 0x106, SET = 0x107, PCR = 0x10, PIC = 0x11 };
#define UT 4u
#define ST 2u
#define HT 8u

/* 3.1: PerfReg#, Node, Group, Description, Local address, Global address. */
static const struct row {
	unsigned number;
	const char *node, *group, *name;
	uint64_t local, global;
} rows[] = {
	{ 0, "local", "-", "SPARC PCR", 0, 0 },
	{ 1, "local", "all", "L2 Bank CRs", 0, 0 },
	{ 2, "0", "0", "NODE0_MCU0_PCR", 0x8400000400, 0xD000000400 },
	{ 3, "0", "0", "NODE0_MCU0_PIC", 0x8400000408, 0xD000000408 },
	{ 4, "0", "1", "NODE0_MCU1_PCR", 0x8400001400, 0xD000001400 },
	{ 5, "0", "1", "NODE0_MCU1_PIC", 0x8400001408, 0xD000001408 },
	{ 6, "1", "0", "NODE1_MCU0_PCR", 0x8400000400, 0xD400000400 },
	{ 7, "1", "0", "NODE1_MCU0_PIC", 0x8400000408, 0xD400000408 },
	{ 8, "1", "1", "NODE1_MCU1_PCR", 0x8400001400, 0xD400001400 },
	{ 9, "1", "1", "NODE1_MCU1_PIC", 0x8400001408, 0xD400001408 },
	{ 10, "2", "0", "NODE2_MCU0_PCR", 0x8400000400, 0xD800000400 },
	{ 11, "2", "0", "NODE2_MCU0_PIC", 0x8400000408, 0xD800000408 },
	{ 12, "2", "1", "NODE2_MCU1_PCR", 0x8400001400, 0xD800001400 },
	{ 13, "2", "1", "NODE2_MCU1_PIC", 0x8400001408, 0xD800001408 },
	{ 14, "3", "0", "NODE3_MCU0_PCR", 0x8400000400, 0xDC00000400 },
	{ 15, "3", "0", "NODE3_MCU0_PIC", 0x8400000408, 0xDC00000408 },
	{ 16, "3", "1", "NODE3_MCU1_PCR", 0x8400001400, 0xDC00001400 },
	{ 17, "3", "1", "NODE3_MCU1_PIC", 0x8400001408, 0xDC00001408 },
	{ 18, "0", "LPU0", "ZAM0_LPU_A_PCR", 0x8130001000, 0xE130004000 },
	{ 19, "0", "LPU0", "ZAM0_LPU_A_PIC0", 0x8130001008, 0xE130004008 },
	{ 20, "0", "LPU0", "ZAM0_LPU_A_PIC1", 0x8130001010, 0xE130004010 },
	{ 21, "0", "LPU1", "ZAM0_LPU_B_PCR", 0x8130003000, 0xE13000C000 },
	{ 22, "0", "LPU1", "ZAM0_LPU_B_PIC0", 0x8130003008, 0xE13000C008 },
	{ 23, "0", "LPU1", "ZAM0_LPU_B_PIC1", 0x8130003010, 0xE13000C010 },
	{ 24, "0", "LPU2", "ZAM0_LPU_C_PCR", 0x8130005000, 0xE130014000 },
	{ 25, "0", "LPU2", "ZAM0_LPU_C_PIC0", 0x8130005008, 0xE130014008 },
	{ 26, "0", "LPU2", "ZAM0_LPU_C_PIC1", 0x8130005010, 0xE130014010 },
	{ 27, "0", "LPU3", "ZAM0_LPU_D_PCR", 0x8130007000, 0xE13001C000 },
	{ 28, "0", "LPU3", "ZAM0_LPU_D_PIC0", 0x8130007008, 0xE13001C008 },
	{ 29, "0", "LPU3", "ZAM0_LPU_D_PIC1", 0x8130007010, 0xE13001C010 },
	{ 30, "0", "GPD", "ZAM0_GPD_PCR", 0x8130009000, 0xE130024000 },
	{ 31, "0", "GPD", "ZAM0_GPD_PIC0", 0x8130009008, 0xE130024008 },
	{ 32, "0", "GPD", "ZAM0_GPD_PIC1", 0x8130009010, 0xE130024010 },
	{ 33, "0", "ASU", "ZAM0_ASU_PCR", 0x813000B000, 0xE13002C000 },
	{ 34, "0", "ASU", "ZAM0_ASU_PIC0", 0x813000B008, 0xE13002C008 },
	{ 35, "0", "ASU", "ZAM0_ASU_PIC1", 0x813000B010, 0xE13002C010 },
	{ 36, "1", "LPU0", "ZAM1_LPU_A_PCR", 0x8130001000, 0xE530005000 },
	{ 37, "1", "LPU0", "ZAM1_LPU_A_PIC0", 0x8130001008, 0xE530005008 },
	{ 38, "1", "LPU0", "ZAM1_LPU_A_PIC1", 0x8130001010, 0xE530005010 },
	{ 39, "1", "LPU1", "ZAM1_LPU_B_PCR", 0x8130003000, 0xE53000D000 },
	{ 40, "1", "LPU1", "ZAM1_LPU_B_PIC0", 0x8130003008, 0xE53000D008 },
	{ 41, "1", "LPU1", "ZAM1_LPU_B_PIC1", 0x8130003010, 0xE53000D010 },
	{ 42, "1", "LPU2", "ZAM1_LPU_C_PCR", 0x8130005000, 0xE530015000 },
	{ 43, "1", "LPU2", "ZAM1_LPU_C_PIC0", 0x8130005008, 0xE530015008 },
	{ 44, "1", "LPU2", "ZAM1_LPU_C_PIC1", 0x8130005010, 0xE530015010 },
	{ 45, "1", "LPU3", "ZAM1_LPU_D_PCR", 0x8130007000, 0xE53001D000 },
	{ 46, "1", "LPU3", "ZAM1_LPU_D_PIC0", 0x8130007008, 0xE53001D008 },
	{ 47, "1", "LPU3", "ZAM1_LPU_D_PIC1", 0x8130007010, 0xE53001D010 },
	{ 48, "1", "GPD", "ZAM1_GPD_PCR", 0x8130009000, 0xE530025000 },
	{ 49, "1", "GPD", "ZAM1_GPD_PIC0", 0x8130009008, 0xE530025008 },
	{ 50, "1", "GPD", "ZAM1_GPD_PIC1", 0x8130009010, 0xE530025010 },
	{ 51, "1", "ASU", "ZAM1_ASU_PCR", 0x813000B000, 0xE53002D000 },
	{ 52, "1", "ASU", "ZAM1_ASU_PIC0", 0x813000B008, 0xE53002D008 },
	{ 53, "1", "ASU", "ZAM1_ASU_PIC1", 0x813000B010, 0xE53002D010 },
	{ 54, "2", "LPU0", "ZAM2_LPU_A_PCR", 0x8130001000, 0xE930006000 },
	{ 55, "2", "LPU0", "ZAM2_LPU_A_PIC0", 0x8130001008, 0xE930006008 },
	{ 56, "2", "LPU0", "ZAM2_LPU_A_PIC1", 0x8130001010, 0xE930006010 },
	{ 57, "2", "LPU1", "ZAM2_LPU_B_PCR", 0x8130003000, 0xE93000E000 },
	{ 58, "2", "LPU1", "ZAM2_LPU_B_PIC0", 0x8130003008, 0xE93000E008 },
	{ 59, "2", "LPU1", "ZAM2_LPU_B_PIC1", 0x8130003010, 0xE93000E010 },
	{ 60, "2", "LPU2", "ZAM2_LPU_C_PCR", 0x8130005000, 0xE930016000 },
	{ 61, "2", "LPU2", "ZAM2_LPU_C_PIC0", 0x8130005008, 0xE930016008 },
	{ 62, "2", "LPU2", "ZAM2_LPU_C_PIC1", 0x8130005010, 0xE930016010 },
	{ 63, "2", "LPU3", "ZAM2_LPU_D_PCR", 0x8130007000, 0xE93001E000 },
	{ 64, "2", "LPU3", "ZAM2_LPU_D_PIC0", 0x8130007008, 0xE93001E008 },
	{ 65, "2", "LPU3", "ZAM2_LPU_D_PIC1", 0x8130007010, 0xE93001E010 },
	{ 66, "2", "GPD", "ZAM2_GPD_PCR", 0x8130009000, 0xE930026000 },
	{ 67, "2", "GPD", "ZAM2_GPD_PIC0", 0x8130009008, 0xE930026008 },
	{ 68, "2", "GPD", "ZAM2_GPD_PIC1", 0x8130009010, 0xE930026010 },
	{ 69, "2", "ASU", "ZAM2_ASU_PCR", 0x813000B000, 0xE93002E000 },
	{ 70, "2", "ASU", "ZAM2_ASU_PIC0", 0x813000B008, 0xE93002E008 },
	{ 71, "2", "ASU", "ZAM2_ASU_PIC1", 0x813000B010, 0xE93002E010 },
	{ 72, "3", "LPU0", "ZAM3_LPU_A_PCR", 0x8130001000, 0xED30007000 },
	{ 73, "3", "LPU0", "ZAM3_LPU_A_PIC0", 0x8130001008, 0xED30007008 },
	{ 74, "3", "LPU0", "ZAM3_LPU_A_PIC1", 0x8130001010, 0xED30007010 },
	{ 75, "3", "LPU1", "ZAM3_LPU_B_PCR", 0x8130003000, 0xED3000F000 },
	{ 76, "3", "LPU1", "ZAM3_LPU_B_PIC0", 0x8130003008, 0xED3000F008 },
	{ 77, "3", "LPU1", "ZAM3_LPU_B_PIC1", 0x8130003010, 0xED3000F010 },
	{ 78, "3", "LPU2", "ZAM3_LPU_C_PCR", 0x8130005000, 0xED30017000 },
	{ 79, "3", "LPU2", "ZAM3_LPU_C_PIC0", 0x8130005008, 0xED30017008 },
	{ 80, "3", "LPU2", "ZAM3_LPU_C_PIC1", 0x8130005010, 0xED30017010 },
	{ 81, "3", "LPU3", "ZAM3_LPU_D_PCR", 0x8130007000, 0xED3001F000 },
	{ 82, "3", "LPU3", "ZAM3_LPU_D_PIC0", 0x8130007008, 0xED3001F008 },
	{ 83, "3", "LPU3", "ZAM3_LPU_D_PIC1", 0x8130007010, 0xED3001F010 },
	{ 84, "3", "GPD", "ZAM3_GPD_PCR", 0x8130009000, 0xED30027000 },
	{ 85, "3", "GPD", "ZAM3_GPD_PIC0", 0x8130009008, 0xED30027008 },
	{ 86, "3", "GPD", "ZAM3_GPD_PIC1", 0x8130009010, 0xED30027010 },
	{ 87, "3", "ASU", "ZAM3_ASU_PCR", 0x813000B000, 0xED3002F000 },
	{ 88, "3", "ASU", "ZAM3_ASU_PIC0", 0x813000B008, 0xED3002F008 },
	{ 89, "3", "ASU", "ZAM3_ASU_PIC1", 0x813000B010, 0xED3002F010 },
};
#define NROWS (sizeof rows / sizeof *rows)

/* ---- a machine with one guest -------------------------------------------------------------------- */
struct vf {
	struct tally_hv *hv;
	struct tally_hv_guest *guest;
};

static uint8_t memory[0x10000];

static void *vf_memory(void *arg, uint64_t ra, size_t n)
{
	(void)arg;
	return ra >= 0x80000000 && ra - 0x80000000 <= sizeof memory && n <= sizeof memory - (ra - 0x80000000) ?
		       memory + (ra - 0x80000000) :
		       NULL;
}

static struct tally_hv_guest *vf_guest(struct tally_hv *hv, const char *rights)
{
	struct tally_hv_guest *g = NULL;
	struct tally_hv_guest_opts o = { .size = sizeof o, .memory = vf_memory, .rights = rights };
	spec_needs(!tally_hv_guest_open(&g, hv, &o), "a guest with %s: %s", rights ? rights : "all",
		   tally_hv_error(hv));
	return g;
}

static struct tally_hv *vf_machine(const char *machine, uint32_t flags)
{
	struct tally_hv *hv = NULL;
	struct tally_hv_opts o = { .size = sizeof o, .machine = machine, .flags = flags };
	spec_needs(!tally_hv_open(&hv, &o), "%s: %s", machine, tally_hv_error(hv));
	return hv;
}

static struct vf vf_open(const char *machine, uint32_t flags, const char *rights)
{
	struct vf v = { .hv = vf_machine(machine, flags) };
	v.guest = vf_guest(v.hv, rights);
	return v;
}

static void vf_close(struct vf *v)
{
	tally_hv_guest_close(v->guest);
	tally_hv_close(v->hv);
}

static uint64_t call_of(struct tally_hv_guest *g, unsigned cpu, unsigned trap, unsigned function, uint64_t a,
			uint64_t b, uint64_t c, uint64_t out[6])
{
	uint64_t r[6] = { a, b, c, 0x3333, 0x4444, function };
	spec_needs(!tally_hv_call(g, cpu, trap, r), "trap %#x, function %#x on strand %u", trap, function, cpu);
	if (out)
		memcpy(out, r, sizeof r);
	return r[0];
}

static uint64_t negotiate(struct tally_hv_guest *g, uint64_t group, uint64_t major, uint64_t minor)
{
	return call_of(g, 0, CORE, SETVER, group, major, minor, NULL);
}

static uint64_t get_status(struct tally_hv_guest *g, unsigned cpu, uint64_t reg)
{
	return call_of(g, cpu, FAST, GET, reg, 0, 0, NULL);
}

static uint64_t set_status(struct tally_hv_guest *g, unsigned cpu, uint64_t reg, uint64_t value)
{
	return call_of(g, cpu, FAST, SET, reg, value, 0, NULL);
}

/* Asks again while a hub is busy, as a client does. */
static uint64_t get_value(struct tally_hv_guest *g, unsigned cpu, uint64_t reg)
{
	uint64_t r[6], status = EWOULDBLOCK_;
	for (unsigned i = 0; i < 100 && status == EWOULDBLOCK_; i++)
		status = call_of(g, cpu, FAST, GET, reg, 0, 0, r);
	spec_needs(status == EOK, "register %llu can be read", (unsigned long long)reg);
	return r[1];
}

static uint64_t asr(struct tally_hv_guest *g, unsigned cpu, unsigned which)
{
	uint64_t v = 0;
	spec_needs(!tally_hv_asr_read(g, cpu, which, &v), "ASR %#x can be read", which);
	return v;
}

static void asr_set(struct tally_hv_guest *g, unsigned cpu, unsigned which, uint64_t v)
{
	spec_needs(!tally_hv_asr_write(g, cpu, which, v), "ASR %#x can be written", which);
}

/* ---- 3.1: the table ------------------------------------------------------------------------------- */
static bool is_zambezi(const struct row *r)
{
	return r->number >= 18;
}
static bool is_counter(const struct row *r)
{
	return r->number >= 2 && strstr(r->name, "_PIC");
}
static bool is_port(const struct row *r)
{
	return is_zambezi(r) && strstr(r->name, "_LPU_");
}
static unsigned node_of(const struct row *r)
{
	return (unsigned)(r->node[0] - '0');
}

/* 2.4 to 2.6: Zambezi address, and [17:14] of the address by which a processor reaches it; [13:12] is the chip. */
static const struct {
	const char *name;
	unsigned zambezi, core, low;
	const char *where;
} hubs[] = {
	{ "LPU_A_PCR", 0x1000, 0x1, 0x000, "2.4" },  { "LPU_A_PIC0", 0x1008, 0x1, 0x008, "2.4" },
	{ "LPU_A_PIC1", 0x1010, 0x1, 0x010, "2.4" }, { "LPU_B_PCR", 0x3000, 0x3, 0x000, "2.4" },
	{ "LPU_B_PIC0", 0x3008, 0x3, 0x008, "2.4" }, { "LPU_B_PIC1", 0x3010, 0x3, 0x010, "2.4" },
	{ "LPU_C_PCR", 0x5000, 0x5, 0x000, "2.4" },  { "LPU_C_PIC0", 0x5008, 0x5, 0x008, "2.4" },
	{ "LPU_C_PIC1", 0x5010, 0x5, 0x010, "2.4" }, { "LPU_D_PCR", 0x7000, 0x7, 0x000, "2.4" },
	{ "LPU_D_PIC0", 0x7008, 0x7, 0x008, "2.4" }, { "LPU_D_PIC1", 0x7010, 0x7, 0x010, "2.4" },
	{ "GPD_PCR", 0x9000, 0x9, 0x000, "2.5" },    { "GPD_PIC0", 0x9008, 0x9, 0x008, "2.5" },
	{ "GPD_PIC1", 0x9010, 0x9, 0x010, "2.5" },   { "ASU_PCR", 0xb000, 0xb, 0x000, "2.6" },
	{ "ASU_PIC0", 0xb008, 0xb, 0x008, "2.6" },   { "ASU_PIC1", 0xb010, 0xb, 0x010, "2.6" },
};

static void hub_shown(const char *line)
{
	const char *name = spec_string(line, "name");
	if (strncmp(name, "zam", 3) || strlen(name) < 6)
		return;
	unsigned chip = (unsigned)(name[3] - '0');
	for (unsigned i = 0; i < sizeof hubs / sizeof *hubs; i++) {
		if (strcasecmp(spec_string(line, "name") + 5, hubs[i].name))
			continue;
		uint64_t local = spec_number(line, "local"), global = spec_number(line, "global");
		spec_equal(local & 0xffff, hubs[i].zambezi, hubs[i].where, "chip %u, %s: Zambezi address", chip,
			   hubs[i].name);
		spec_equal(global >> 14 & 15, hubs[i].core, hubs[i].where,
			   "chip %u, %s: bits 17:14 of the access address", chip, hubs[i].name);
		spec_equal(global >> 12 & 3, chip, hubs[i].where, "chip %u, %s: bits 13:12 of the access address", chip,
			   hubs[i].name);
		spec_equal(global & 0xfff, hubs[i].low, hubs[i].where, "chip %u, %s: bits 11:0 of the access address",
			   chip, hubs[i].name);
	}
}

/* D22: the rows as `list vfalls` shows them. */
static void table_shown(void)
{
	struct tally_platform *p;
	struct tally_platform_opts o = { .size = sizeof o, .on = "batoka" };
	spec_needs(!tally_platform_open(&p, &o), "batoka: %s", tally_platform_error(p));
	struct spec_text text = { 0 };
	struct tally_out to = { .size = sizeof to, .out = spec_text_add, .arg = &text, .format = TALLY_FORMAT_JSON };
	spec_needs(!tally_list(p, "vfalls", NULL, false, &to), "list vfalls: %s", tally_platform_error(p));
	unsigned shown = 0;
	char *at = text.s, *line;
	while ((line = spec_line(&at))) {
		if (!spec_is(line, "type", "register"))
			continue;
		shown++;
		uint64_t n = spec_number(line, "number");
		spec_needs(n < NROWS, "a register beyond 89");
		hub_shown(line);
		const struct row *r = &rows[n];
		if (n >= 2) {
			char where[16];
			snprintf(where, sizeof where, "%s %s", is_zambezi(r) ? "chip" : "node", r->node);
			spec_says(!strcasecmp(spec_string(line, "name"), r->name), "3.1", "register %u is %s",
				  r->number, r->name);
			spec_says(spec_is(line, "where", where), "3.1", "%s is of %s", r->name, where);
			spec_equal(spec_number(line, "local"), r->local, "3.1", "%s has that local address", r->name);
			spec_equal(spec_number(line, "global"), r->global, "3.1", "%s has that global address",
				   r->name);
		}
		spec_says(spec_is(line, "group", r->group), "3.1", "register %u has group %s", r->number, r->group);
	}
	spec_equal(shown, 90, "3.1", "a total of 90 registers is listed");
	spec_text_free(&text);
	tally_platform_close(p);
}

/* ---- 3.2: which registers which version and machine has ------------------------------------------- */
static void rows_of_versions(void)
{
	struct vf v = vf_open("batoka", TALLY_HV_IDLE, NULL);
	negotiate(v.guest, 0x205, 1, 0);
	for (unsigned i = 0; i < NROWS; i++) {
		unsigned must = is_zambezi(&rows[i]) ? ENOTSUPPORTED : EOK;
		spec_equal(get_status(v.guest, 0, i), must, "3.2, D19", "version 1.0 reads %s", rows[i].name);
		spec_equal(set_status(v.guest, 0, i, 0), must, "3.2, D19", "version 1.0 sets %s", rows[i].name);
	}
	negotiate(v.guest, 0x205, 1, 1);
	for (unsigned i = 0; i < NROWS; i++) {
		uint64_t r[6];
		spec_equal(call_of(v.guest, 0, FAST, GET, i, 0xaa, 0x2222, r), EOK, "3.2", "version 1.1 reads %s",
			   rows[i].name);
		spec_equal(r[1], 0, "layout", "%s is zero behind a reset", rows[i].name);
		spec_equal(set_status(v.guest, 0, i, 0), EOK, "3.2", "version 1.1 sets %s", rows[i].name);
	}
	vf_close(&v);
}

static const struct {
	const char *machine;
	unsigned sockets;
	bool zambezi;
} machines[] = {
	{ "maramba,sockets=1", 1, false }, { "maramba", 2, false },         { "batoka,sockets=1", 1, true },
	{ "batoka,sockets=2", 2, true },   { "batoka,sockets=3", 3, true }, { "batoka", 4, true },
};

static void rows_of_machines(void)
{
	for (unsigned m = 0; m < sizeof machines / sizeof *machines; m++) {
		struct vf v = vf_open(machines[m].machine, TALLY_HV_IDLE, NULL);
		negotiate(v.guest, 0x205, 1, 1);
		for (unsigned i = 0; i < NROWS; i++) {
			bool has = i < 2 || (is_zambezi(&rows[i]) ? machines[m].zambezi :
								    node_of(&rows[i]) < machines[m].sockets);
			spec_equal(get_status(v.guest, 0, i), has ? EOK : ENOTSUPPORTED, "3.2", "%s on %s",
				   rows[i].name, machines[m].machine);
			if (!has)
				spec_equal(set_status(v.guest, 0, i, 0), ENOTSUPPORTED, "3.2", "setting %s on %s",
					   rows[i].name, machines[m].machine);
		}
		vf_close(&v);
	}
}

/* ---- 3.2: negotiation ------------------------------------------------------------------------------ */
static void versions(void)
{
	static const struct {
		uint64_t group, major, minor, status, granted, then_major, then_minor;
		const char *what;
	} steps[] = {
		{ 0x205, 1, 0, EOK, 0, 1, 0, "1.0" },
		{ 0x205, 1, 1, EOK, 1, 1, 1, "1.1 behind 1.0" },
		{ 0x205, 1, 2, EOK, 1, 1, 1, "1.2 is 1.1" },
		{ 0x205, 1, 9, EOK, 1, 1, 1, "1.9 is 1.1" },
		{ 0x205, 1, 0xffffffffffff, EOK, 1, 1, 1, "a large minor is 1.1" },
		{ 0x205, 2, 0, ENOTSUPPORTED, 2, 1, 1, "2.0 changes nothing" },
		{ 0x205, 3, 7, ENOTSUPPORTED, 3, 1, 1, "3.7 changes nothing" },
		{ 0x205, 1, 0, EOK, 0, 1, 0, "down to 1.0" },
		{ 0x205, 2, 1, ENOTSUPPORTED, 2, 1, 0, "2.1 behind 1.0 changes nothing" },
		{ 0x205, 1, 1, EOK, 1, 1, 1, "up again" },
		{ 0x205, 0, 0, EOK, 0, 0, 0, "0.0 gives it up" },
		{ 0x205, 0, 0, EOK, 0, 0, 0, "0.0 again" },
		{ 0x205, 2, 0, ENOTSUPPORTED, 2, 0, 0, "2.0 of a group given up" },
		{ 0x205, 1, 1, EOK, 1, 1, 1, "1.1 again" },
		{ 0x205, 0, 5, EOK, 0, 0, 0, "0.5 gives it up as well" },
		{ 0x200, 1, 0, EINVAL_, 1, 1000, 0, "Niagara's group is unknown here" },
		{ 0x206, 1, 0, EINVAL_, 1, 1000, 0, "an unknown group" },
		{ 0x7777, 1, 0, EINVAL_, 1, 1000, 0, "a group far out" },
		{ 0x0, 1, 9, EOK, 0, 1, 0, "the marker group's minor is not looked at" },
		{ 0x1, 1, 0, EOK, 0, 1, 0, "core 1.0" },
		{ 0x1, 1, 1, EOK, 1, 1, 1, "core 1.1" },
	};
	struct vf v = vf_open("batoka", TALLY_HV_IDLE, NULL);
	uint64_t r[6];
	spec_equal(call_of(v.guest, 0, CORE, GETVER, 0x205, 0xaa, 0xbb, r), EOK, "3.2", "the group 0x205 is known");
	spec_equal(r[1], 0, "3.2", "its major is 0 before negotiation");
	spec_equal(r[2], 0, "3.2", "its minor is 0 before negotiation");
	spec_equal(get_status(v.guest, 0, 0), EBADTRAP, "order", "reading before negotiation");
	spec_equal(set_status(v.guest, 0, 0, 0), EBADTRAP, "order", "setting before negotiation");
	spec_equal(get_status(v.guest, 0, 90), EBADTRAP, "order", "an invalid register before negotiation");
	for (unsigned i = 0; i < sizeof steps / sizeof *steps; i++) {
		uint64_t status = call_of(v.guest, 0, CORE, SETVER, steps[i].group, steps[i].major, steps[i].minor, r);
		spec_equal(status, steps[i].status, "3.2", "%s: status", steps[i].what);
		spec_equal(r[1], steps[i].granted, "3.2", "%s: minor granted, or %%o1 as it was", steps[i].what);
		spec_equal(r[2], steps[i].minor, "3.2", "%s: %%o2 is as it was", steps[i].what);
		status = call_of(v.guest, 0, CORE, GETVER, steps[i].group, 0xaa, 0xbb, r);
		if (steps[i].then_major == 1000) {
			spec_equal(status, EINVAL_, "3.2", "%s: asking for its version", steps[i].what);
			continue;
		}
		spec_equal(r[1], steps[i].then_major, "3.2", "%s: major in force", steps[i].what);
		spec_equal(r[2], steps[i].then_minor, "3.2", "%s: minor in force", steps[i].what);
		if (steps[i].group == 0x205) {
			uint64_t old = steps[i].then_major ? EOK : EBADTRAP, new = !steps[i].then_major ? EBADTRAP :
										   steps[i].then_minor  ? EOK :
													  ENOTSUPPORTED;
			spec_equal(get_status(v.guest, 0, 17), old, "3.2", "%s: register 17", steps[i].what);
			spec_equal(get_status(v.guest, 0, 18), new, "3.2", "%s: register 18", steps[i].what);
			spec_equal(get_status(v.guest, 200, 2), old, "3.2",
				   "%s: the version is the guest's, on strand 200 as well", steps[i].what);
		}
	}
	/* Of each guest its own. */
	struct tally_hv_guest *other = vf_guest(v.hv, "strand");
	negotiate(v.guest, 0x205, 1, 1);
	spec_equal(get_status(other, 70, 0), EBADTRAP, "3.2", "what one guest negotiated is not another's");
	call_of(other, 70, CORE, SETVER, 0x205, 1, 0, NULL);
	spec_equal(get_status(other, 70, 0), EOK, "3.2", "the other guest's own version");
	spec_equal(get_status(v.guest, 0, 18), EOK, "3.2", "which leaves the first guest's 1.1 alone");
	tally_hv_guest_close(other);
	static const unsigned foreign[] = {
		0x100, 0x101, 0x102, 0x103, 0x104, 0x105, 0x108, 0x109, 0x184, 0x1a8, 0x7fff
	};
	for (unsigned i = 0; i < sizeof foreign / sizeof *foreign; i++) {
		spec_equal(call_of(v.guest, 0, FAST, foreign[i], 0, 0xaa, 0xbb, r), EBADTRAP, "3.2",
			   "function %#x is none here", foreign[i]);
		spec_equal(r[1], 0xaa, "order", "function %#x leaves %%o1", foreign[i]);
	}
	for (unsigned f = 4; f < 8; f++)
		spec_equal(call_of(v.guest, 0, CORE, f, 0, 0, 0, NULL), EBADTRAP, "3.2", "core function %u is none", f);
	vf_close(&v);

	v = vf_open("batoka,api=1.0", TALLY_HV_IDLE, NULL);
	spec_equal(call_of(v.guest, 0, CORE, SETVER, 0x205, 1, 1, r), EOK, "3.2",
		   "a hypervisor of 1.0 is asked for 1.1");
	spec_equal(r[1], 0, "3.2", "a hypervisor of 1.0 grants 1.0");
	spec_equal(get_status(v.guest, 0, 17), EOK, "3.2", "a hypervisor of 1.0 has DRAM registers");
	spec_equal(get_status(v.guest, 0, 18), ENOTSUPPORTED, "3.2, D19",
		   "a hypervisor of 1.0 has no Zambezi registers");
	vf_close(&v);

	v = vf_open("niagara", TALLY_HV_IDLE, NULL);
	spec_equal(negotiate(v.guest, 0x205, 1, 1), EINVAL_, "3.2", "Niagara has no group 0x205");
	spec_equal(get_status(v.guest, 0, 2), EBADTRAP, "3.2", "Niagara has no 0x106");
	spec_equal(set_status(v.guest, 0, 2, 0), EBADTRAP, "3.2", "Niagara has no 0x107");
	vf_close(&v);
}

/* ---- 3.2.1, 3.2.2: errors and their order ------------------------------------------------------------ */
static const uint64_t beyond[] = { 90,
				   91,
				   99,
				   127,
				   128,
				   255,
				   256,
				   0x105,
				   1u << 16,
				   1ull << 32,
				   (1ull << 32) + 5,
				   1ull << 63,
				   UINT64_MAX - 1,
				   UINT64_MAX };

static void errors(void)
{
	struct vf v = vf_open("batoka", TALLY_HV_IDLE, NULL);
	negotiate(v.guest, 0x205, 1, 1);
	uint64_t r[6];
	for (unsigned i = 0; i < sizeof beyond / sizeof *beyond; i++) {
		spec_equal(call_of(v.guest, 0, FAST, GET, beyond[i], 0xaa, 0xbb, r), EINVAL_, "3.2",
			   "reading register %#llx", (unsigned long long)beyond[i]);
		spec_says(r[1] == 0xaa && r[2] == 0xbb && r[3] == 0x3333 && r[4] == 0x4444, "3.2.1",
			  "which changes nothing but the status (%#llx)", (unsigned long long)beyond[i]);
		spec_equal(set_status(v.guest, 0, beyond[i], 0), EINVAL_, "3.2", "setting register %#llx",
			   (unsigned long long)beyond[i]);
	}
	negotiate(v.guest, 0x205, 1, 0);
	spec_equal(get_status(v.guest, 0, 90), EINVAL_, "3.2", "register 90 is out of range under 1.0 too");
	negotiate(v.guest, 0x205, 1, 1);
	call_of(v.guest, 0, FAST, GET, 2, 0xaa, 0xbb, r);
	spec_says(r[2] == 0xbb && r[3] == 0x3333 && r[4] == 0x4444, "3.2.1", "reading answers in %%o0 and %%o1 only");
	call_of(v.guest, 0, FAST, SET, 2, 0x11, 0xbb, r);
	spec_says(r[1] == 0x11 && r[2] == 0xbb && r[3] == 0x3333 && r[4] == 0x4444, "3.2.2",
		  "setting answers in %%o0 only");
	for (unsigned trap = 0x81; trap < 0x86; trap++) {
		uint64_t q[6] = { 0, 0, 0, 0, 0, GET };
		spec_says(tally_hv_call(v.guest, 0, trap, q) == -TALLY_EINVAL || q[0] == EBADTRAP, "3.2.1",
			  "trap %#x is not FAST_TRAP", trap);
	}
	vf_close(&v);

	v = vf_open("maramba", TALLY_HV_IDLE, "strand");
	negotiate(v.guest, 0x205, 1, 1);
	spec_equal(get_status(v.guest, 0, 10), ENOTSUPPORTED, "order",
		   "a node that is not there comes before rights (reading)");
	spec_equal(set_status(v.guest, 0, 10, 0), ENOTSUPPORTED, "order",
		   "a node that is not there comes before rights (setting)");
	spec_equal(get_status(v.guest, 0, 18), ENOTSUPPORTED, "order",
		   "a hub that is not there comes before rights (reading)");
	spec_equal(set_status(v.guest, 0, 89, 0), ENOTSUPPORTED, "order",
		   "a hub that is not there comes before rights (setting)");
	spec_equal(get_status(v.guest, 0, 2), ENOACCESS, "order", "rights of what is there");
	vf_close(&v);
}

static void rights(void)
{
	static const struct {
		const char *rights;
		bool strand, others, ht;
	} have[] = {
		{ "none", false, false, false },
		{ "strand", true, false, false },
		{ "htstrand", true, false, true },
		{ "global", false, true, false },
		{ "global,strand", true, true, false },
		{ "global,htstrand", true, true, true },
		{ "all", true, true, true },
		{ "perfctraccess=1", true, true, false },
		{ "perfctraccess=1,perfctrhtaccess=1", true, true, true },
	};
	static const unsigned some[] = { 0, 1, 2, 3, 8, 17, 18, 19, 30, 33, 36, 71, 89 };
	for (unsigned h = 0; h < sizeof have / sizeof *have; h++) {
		struct vf v = vf_open("batoka", TALLY_HV_IDLE, have[h].rights);
		const char *who = have[h].rights;
		negotiate(v.guest, 0x205, 1, 1);
		for (unsigned i = 0; i < sizeof some / sizeof *some; i++) {
			unsigned n = some[i], must = (n ? have[h].others : have[h].strand) ? EOK : ENOACCESS;
			uint64_t r[6];
			spec_equal(call_of(v.guest, 0, FAST, GET, n, 0xaa, 0, r), must, "3.2, rights", "%s reads %s",
				   who, rows[n].name);
			if (must)
				spec_equal(r[1], 0xaa, "3.2.1", "%s refused %s: %%o1 as it was", who, rows[n].name);
			spec_equal(set_status(v.guest, 0, n, 1), must, "3.2, rights", "%s sets %s", who, rows[n].name);
		}
		spec_equal(get_status(v.guest, 0, 90), EINVAL_, "D20", "%s: the number is invalid whoever asks", who);
		spec_equal(set_status(v.guest, 0, 1000, 0), EINVAL_, "D20", "%s: and whoever sets", who);
		if (have[h].strand) {
			set_status(v.guest, 0, 0, UT | ST);
			spec_equal(set_status(v.guest, 0, 0, HT | UT), have[h].ht ? EOK : ENOACCESS, "3.0",
				   "%s sets HT", who);
			spec_equal(get_value(v.guest, 0, 0), have[h].ht ? HT | UT : UT | ST, "3.0", "%s: PCR then",
				   who);
		}
		vf_close(&v);
	}
	struct vf v = vf_open("batoka", TALLY_HV_IDLE | TALLY_HV_OPENSPARC, "none");
	negotiate(v.guest, 0x205, 1, 1);
	spec_equal(get_status(v.guest, 0, 90), ENOACCESS, "D20",
		   "opensparc: access is looked at before the number (reading)");
	spec_equal(set_status(v.guest, 0, 90, 0), ENOACCESS, "D20",
		   "opensparc: access is looked at before the number (setting)");
	vf_close(&v);

	/* Only one domain has `global` at a time. */
	v.hv = vf_machine("batoka", TALLY_HV_IDLE);
	v.guest = vf_guest(v.hv, "global");
	struct tally_hv_guest *second = NULL;
	struct tally_hv_guest_opts o = { .size = sizeof o, .memory = vf_memory, .rights = "global" };
	spec_equal((uint64_t)tally_hv_guest_open(&second, v.hv, &o), (uint64_t)-TALLY_EBUSY, "3.2, rights",
		   "a second guest with global");
	tally_hv_guest_close(v.guest);
	spec_equal((uint64_t)tally_hv_guest_open(&second, v.hv, &o), TALLY_OK, "3.2, rights",
		   "when the first is gone it may have it");
	tally_hv_guest_close(second);
	tally_hv_close(v.hv);
}

/* A hub that is busy: 3.2, "the hypervisor cannot spin waiting to access Zambezi". */
static void busy(void)
{
	struct vf v = vf_open("batoka", TALLY_HV_IDLE, NULL);
	negotiate(v.guest, 0x205, 1, 1);
	for (unsigned i = 18; i < NROWS; i++) {
		const struct row *row = &rows[i];
		unsigned hub = node_of(row);
		uint64_t r[6];
		set_status(v.guest, 0, i, 1);
		spec_needs(!tally_hv_make_busy(v.hv, hub, 1), "hub %u is made busy", hub);
		spec_equal(call_of(v.guest, 0, FAST, GET, i, 0xaa, 0, r), EWOULDBLOCK_, "3.2.1", "%s is busy",
			   row->name);
		spec_equal(r[1], 0xaa, "3.2.1", "%s is busy: %%o1 is as it was", row->name);
		spec_equal(get_status(v.guest, 0, i), EOK, "3.2.1", "%s is not busy any more", row->name);
		tally_hv_make_busy(v.hv, hub, 1);
		spec_equal(set_status(v.guest, 0, i, 0), EWOULDBLOCK_, "3.2.2", "%s is busy to be set", row->name);
		spec_equal(get_value(v.guest, 0, i), 1, "3.2.2, order", "%s was busy, and nothing was done", row->name);
		tally_hv_make_busy(v.hv, (hub + 1) % 4, 1);
		spec_equal(get_status(v.guest, 0, i), EOK, "3.2", "%s is read while another hub is busy", row->name);
		tally_hv_make_busy(v.hv, (hub + 1) % 4, 0);
	}
	for (unsigned hub = 0; hub < 4; hub++)
		tally_hv_make_busy(v.hv, hub, 100);
	for (unsigned i = 0; i < 18; i++)
		spec_equal(get_status(v.guest, 0, i), EOK, "3.2, D23", "%s is no hub's: it blocks on none",
			   rows[i].name);
	spec_equal(get_status(v.guest, 0, 90), EINVAL_, "order", "the number comes before whether a hub is busy");
	negotiate(v.guest, 0x205, 1, 0);
	spec_equal(get_status(v.guest, 0, 18), ENOTSUPPORTED, "order",
		   "what the version has not comes before whether a hub is busy");
	spec_equal((uint64_t)tally_hv_make_busy(v.hv, 4, 1), (uint64_t)-TALLY_EINVAL, "2.0", "there are four hubs");
	vf_close(&v);
	v = vf_open("batoka", TALLY_HV_IDLE, "htstrand");
	negotiate(v.guest, 0x205, 1, 1);
	tally_hv_make_busy(v.hv, 0, 100);
	spec_equal(get_status(v.guest, 0, 18), ENOACCESS, "order",
		   "access comes before whether a hub is busy (reading)");
	spec_equal(set_status(v.guest, 0, 18, 0), ENOACCESS, "order",
		   "access comes before whether a hub is busy (setting)");
	vf_close(&v);
}

/* ---- what the registers hold --------------------------------------------------------------------------- */
/* A value of its own for each register, of bits that it has. */
static uint64_t own_value(const struct row *r)
{
	uint64_t n = r->number;
	if (n == 0)
		return 0x7ffbfff7; /* all but HT and OV */
	if (n == 1)
		return 2;
	if (!is_zambezi(r))
		return is_counter(r) ? (0x100000 + n) << 32 | (0x2000000 + n) : (n & 7) << 4 | (n + 1) % 8;
	if (is_counter(r))
		return 0xfedcba9876540000 + n;
	return is_port(r) ? (n % 0x2a) << 8 | (n + 7) % 0x2a : 0x0001;
}

static void held(void)
{
	struct vf v = vf_open("batoka", TALLY_HV_IDLE, NULL);
	negotiate(v.guest, 0x205, 1, 1);
	for (unsigned i = 0; i < NROWS; i++)
		spec_needs(set_status(v.guest, 0, i, own_value(&rows[i])) == EOK, "%s can be set", rows[i].name);
	for (unsigned i = 0; i < NROWS; i++)
		spec_equal(get_value(v.guest, 0, i), own_value(&rows[i]), "3.2.2",
			   "%s gives back its own value when all are set", rows[i].name);
	/* From another strand of another node: 0 is the strand's, 1 the node's, all others everybody's. */
	for (unsigned i = 0; i < NROWS; i++)
		spec_equal(get_value(v.guest, 255, i), i < 2 ? 0 : own_value(&rows[i]), "3.1",
			   "%s as strand 255 sees it", rows[i].name);
	for (unsigned i = 0; i < NROWS; i++) {
		const struct row *r = &rows[i];
		set_status(v.guest, 0, i, UINT64_MAX);
		uint64_t is = get_value(v.guest, 0, i);
		if (i == 0)
			spec_equal(is >> 32 << 34, 0, "layout", "SPARC PCR: bits 61 to 32 read as zero");
		else if (i == 1)
			spec_equal(is, 3, "2.3", "the virtualized L2 control register has bits 1:0");
		else if (!is_zambezi(r))
			spec_equal(is, is_counter(r) ? 0x7fffffff7fffffff : 0xff, "layout",
				   "%s: reserved bits read as zero", r->name);
		else if (is_counter(r))
			spec_equal(is, UINT64_MAX, "layout", "%s has 64 bits", r->name);
		else
			spec_equal(is & ~0xffffull, 0, "layout", "%s: bits above both selects read as zero", r->name);
	}
	for (unsigned i = 0; i < NROWS; i++) {
		set_status(v.guest, 0, i, 0);
		spec_equal(get_value(v.guest, 0, i), 0, "3.2.2", "%s is zero again", rows[i].name);
	}
	for (unsigned c = 0; c < 4; c++) {
		set_status(v.guest, 0, 1, c);
		spec_equal(get_value(v.guest, 0, 1), c, "2.3", "PERF_CONFIG %u is kept", c);
		spec_equal(get_value(v.guest, 63, 1), c, "2.3", "PERF_CONFIG %u is strand 63's, of the same node", c);
		spec_equal(get_value(v.guest, 64, 1), 0, "3.1", "PERF_CONFIG %u is not strand 64's, of another node",
			   c);
	}
	set_status(v.guest, 0, 1, 4);
	spec_equal(get_value(v.guest, 0, 1), 0, "2.3", "L2 control register: bit 2 is not exposed");
	set_status(v.guest, 0, 1, 1ull << 36);
	spec_equal(get_value(v.guest, 0, 1), 0, "2.3", "bit 36 is the real register's, not the virtual one's");

	/* D18, 2.1: PCR and PIC are the strand's own. */
	spec_equal(set_status(v.guest, 5, 0, UT | HT), EOK, "3.0", "HT by the API");
	spec_equal(asr(v.guest, 5, PCR), UT | HT, "2.1", "which ASR 0x10 shows");
	spec_equal(get_value(v.guest, 6, 0), 0, "3.1",
		   "always on the current hardware strand: strand 6 has its own PCR");
	asr_set(v.guest, 6, PCR, 0xf);
	spec_equal(asr(v.guest, 6, PCR), 7, "D18", "a guest's own write never sets HT");
	spec_equal(get_value(v.guest, 6, 0), 7, "D18", "and the API reads what was written");
	asr_set(v.guest, 6, PIC, 0x123456789abcdef0);
	spec_equal(asr(v.guest, 6, PIC), 0x123456789abcdef0, "2.1", "PIC is read and written as ASR 0x11");
	spec_equal(asr(v.guest, 5, PIC), 0, "2.1", "and is the strand's own");
	uint64_t none;
	static const unsigned others[] = { 0, 1, 0xf, 0x12, 0x13, 0x20 };
	for (unsigned i = 0; i < sizeof others / sizeof *others; i++)
		spec_equal((uint64_t)tally_hv_asr_read(v.guest, 6, others[i], &none), (uint64_t)-TALLY_EINVAL, "2.1",
			   "ASR %#x is neither PCR nor PIC", others[i]);
	spec_needs(!tally_hv_reset(v.guest, 6), "a reset");
	spec_equal(asr(v.guest, 6, PCR), 0, "2.1", "PCR behind a reset of the strand");
	spec_equal(asr(v.guest, 6, PIC), 0, "2.1", "PIC behind a reset of the strand");
	spec_equal(asr(v.guest, 5, PCR), UT | HT, "2.1", "another strand's PCR is not reset with it");
	vf_close(&v);
}

/* ---- what is counted: the strand's events ---------------------------------------------------------------- */
static uint64_t select_of(unsigned event0, unsigned event1)
{
	return (uint64_t)event0 << 6 | (uint64_t)event1 << 19;
}

static void refs(struct vf *v, unsigned strand, unsigned kind, unsigned level, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		struct tally_hv_ref r = { .va = 0x10000 + 8 * i,
					  .strand = (uint16_t)strand,
					  .context = level == TALLY_HV_USER ? 5 : 0,
					  .kind = (uint8_t)kind,
					  .level = (uint8_t)level,
					  .bytes = 8,
					  .instructions = 3 };
		spec_needs(!tally_hv_refs(v->hv, &r, 1), "a reference");
	}
}

static void strand_events(void)
{
	static const struct {
		unsigned code, counts;
		const char *what;
	} events[] = {
		{ 0x208, 10, "Instr_ld" },
		{ 0x210, 5, "Instr_st" },
		{ 0x280, 3, "Atomics" },
		{ 0x218, 15, "Instr_ld or Instr_st" },
		{ 0x288, 13, "Instr_ld or Atomics" },
		{ 0x298, 18, "Instr_ld, Instr_st or Atomics" },
		{ 0x2fd, 54, "Instr_cnt" },
		{ 0x200, 0, "no event of that class" },
	};
	static const struct {
		unsigned bits, level;
		bool counts;
		const char *what;
	} gates[] = {
		{ UT, TALLY_HV_USER, true, "UT counts user events" },
		{ UT, TALLY_HV_SYSTEM, false, "UT counts no system events" },
		{ UT, TALLY_HV_HYPER, false, "UT counts no hypervisor events" },
		{ ST, TALLY_HV_USER, false, "ST counts no user events" },
		{ ST, TALLY_HV_SYSTEM, true, "ST counts system events" },
		{ ST, TALLY_HV_HYPER, false, "ST counts no hypervisor events" },
		{ HT, TALLY_HV_USER, false, "HT counts no user events" },
		{ HT, TALLY_HV_SYSTEM, false, "HT counts no system events" },
		{ HT, TALLY_HV_HYPER, true, "HT counts hypervisor events" },
		{ 0, TALLY_HV_USER, false, "without a bit no user event counts" },
		{ 0, TALLY_HV_SYSTEM, false, "without a bit no system event counts" },
		{ 0, TALLY_HV_HYPER, false, "without a bit no hypervisor event counts" },
		{ UT | ST, TALLY_HV_USER, true, "UT and ST count user events" },
		{ UT | ST, TALLY_HV_SYSTEM, true, "UT and ST count system events" },
		{ UT | ST, TALLY_HV_HYPER, false, "UT and ST count no hypervisor events" },
		{ UT | ST | HT, TALLY_HV_HYPER, true, "all three count hypervisor events" },
	};
	struct vf v = vf_open("batoka", TALLY_HV_IDLE, NULL);
	negotiate(v.guest, 0x205, 1, 1);
	for (unsigned i = 0; i < sizeof events / sizeof *events; i++)
		for (unsigned pic = 0; pic < 2; pic++) {
			asr_set(v.guest, 0, PCR,
				UT | select_of(pic ? 0x200 : events[i].code, pic ? events[i].code : 0x200));
			asr_set(v.guest, 0, PIC, 0);
			refs(&v, 0, TALLY_HV_LOAD, TALLY_HV_USER, 10);
			refs(&v, 0, TALLY_HV_STORE, TALLY_HV_USER, 5);
			refs(&v, 0, TALLY_HV_ATOMIC, TALLY_HV_USER, 3);
			uint64_t is = asr(v.guest, 0, PIC);
			spec_equal(pic ? is >> 32 : is & 0xffffffff, events[i].counts, "layout", "PIC%u counts %s", pic,
				   events[i].what);
			spec_equal(pic ? is & 0xffffffff : is >> 32, 0, "layout",
				   "PIC%u counts %s, and the other nothing", pic, events[i].what);
		}
	for (unsigned i = 0; i < sizeof gates / sizeof *gates; i++) {
		spec_needs(set_status(v.guest, 0, 0, gates[i].bits | select_of(0x208, 0x208)) == EOK, "PCR is set");
		asr_set(v.guest, 0, PIC, 0);
		refs(&v, 0, TALLY_HV_LOAD, gates[i].level, 7);
		spec_equal(asr(v.guest, 0, PIC), gates[i].counts ? 7ull << 32 | 7 : 0, "layout", "%s", gates[i].what);
	}
	asr_set(v.guest, 0, PCR, UT | select_of(0x208, 0x208));
	asr_set(v.guest, 1, PCR, UT | select_of(0x208, 0x208));
	asr_set(v.guest, 0, PIC, 0);
	asr_set(v.guest, 1, PIC, 0);
	refs(&v, 1, TALLY_HV_LOAD, TALLY_HV_USER, 4);
	spec_equal(asr(v.guest, 0, PIC), 0, "2.1", "events of strand 1 are not counted on strand 0");
	spec_equal(asr(v.guest, 1, PIC), 4ull << 32 | 4, "2.1", "but on strand 1");
	/* Overflow: each half by itself, mod 2^32, and its OV bit. */
	asr_set(v.guest, 0, PCR, UT | select_of(0x208, 0x200));
	asr_set(v.guest, 0, PIC, 0xfffffff8);
	refs(&v, 0, TALLY_HV_LOAD, TALLY_HV_USER, 10);
	spec_equal(asr(v.guest, 0, PIC), 2, "layout", "PIC0 wraps mod 2^32 and carries nothing into PIC1");
	spec_equal(asr(v.guest, 0, PCR) >> 18 & 1, 1, "layout", "PIC0's overflow sets OV0, bit 18");
	spec_equal(asr(v.guest, 0, PCR) >> 31 & 1, 0, "layout", "PIC0's overflow leaves OV1");
	asr_set(v.guest, 0, PCR, UT | select_of(0x200, 0x208));
	spec_equal(asr(v.guest, 0, PCR) >> 18 & 1, 0, "layout", "OV0 is cleared by a write");
	asr_set(v.guest, 0, PIC, 0xfffffff800000005);
	refs(&v, 0, TALLY_HV_LOAD, TALLY_HV_USER, 10);
	spec_equal(asr(v.guest, 0, PIC), 0x200000005, "layout", "PIC1 wraps mod 2^32 and leaves PIC0");
	spec_equal(asr(v.guest, 0, PCR) >> 31 & 1, 1, "layout", "PIC1's overflow sets OV1, bit 31");
	spec_equal(asr(v.guest, 0, PCR) >> 18 & 1, 0, "layout", "PIC1's overflow leaves OV0");
	vf_close(&v);
}

/* ---- 3.0: classes of L2 misses ---------------------------------------------------------------------------- */
/* What all strands of the machine counted of event 0x330 (misses of instructions, and of loads) under that
 * PERF_CONFIG. */
static uint64_t misses_of_class(const char *machine, unsigned class)
{
	struct vf v = vf_open(machine, 0, NULL);
	negotiate(v.guest, 0x205, 1, 1);
	struct tally_hv_info info = { .size = sizeof info };
	tally_hv_info(v.hv, &info);
	for (unsigned s = 0; s < info.strands; s++) {
		if (s % info.strands_per_socket == 0)
			spec_needs(set_status(v.guest, s, 1, class) == EOK, "PERF_CONFIG");
		asr_set(v.guest, s, PCR, UT | ST | select_of(0x330, 0x200));
	}
	tally_hv_advance(v.hv, 1000000);
	uint64_t sum = 0;
	for (unsigned s = 0; s < info.strands; s++)
		sum += asr(v.guest, s, PIC) & 0xffffffff;
	vf_close(&v);
	return sum;
}

static void classes(void)
{
	static const char *const loads[] = { "batoka,load=pingpong", "batoka,load=random",
					     "batoka,load=stream",   "maramba,load=random",
					     "maramba,load=mixed",   "batoka,sockets=2,load=producer" };
	for (unsigned i = 0; i < sizeof loads / sizeof *loads; i++) {
		uint64_t of[4];
		for (unsigned c = 0; c < 4; c++)
			of[c] = misses_of_class(loads[i], c);
		spec_equal(of[1] + of[2] + of[3], of[0], "3.0",
			   "%s: local, remote and cache-to-cache misses are all of them", loads[i]);
		if (strstr(loads[i], "pingpong"))
			spec_says(of[3] > of[1] && of[3] > of[2], "3.0", "%s: most misses are cache-to-cache transfers",
				  loads[i]);
		if (strstr(loads[i], "stream"))
			spec_says(of[1] > 0 && of[1] > of[2], "3.0", "%s: most misses are serviced from local memory",
				  loads[i]);
		if (strstr(loads[i], "random"))
			spec_says(of[1] > 0 && of[2] > 0, "3.0", "%s: some are local and some remote", loads[i]);
	}
	uint64_t alone[4];
	for (unsigned c = 0; c < 4; c++)
		alone[c] = misses_of_class("maramba,sockets=1,load=random", c);
	spec_says(alone[0] > 0, "3.0", "one node: there are misses");
	spec_equal(alone[1], alone[0], "3.0", "one node: all are serviced from local memory");
	spec_equal(alone[2], 0, "3.0", "one node: none is remote");
}

/* ---- 2.2: DRAM, 2.4 to 2.6: Zambezi ------------------------------------------------------------------------- */
/* A machine whose registers `first` and every `step` behind it up to `last` hold `select`, and which then ran. */
static struct vf vf_counting(const char *machine, uint64_t select(const struct row *))
{
	struct vf v = vf_open(machine, 0, NULL);
	negotiate(v.guest, 0x205, 1, 1);
	for (unsigned i = 2; i < NROWS; i++)
		if (!is_counter(&rows[i]))
			spec_needs(set_status(v.guest, 0, i, select(&rows[i])) == EOK, "%s is set", rows[i].name);
	tally_hv_advance(v.hv, 1000000);
	return v;
}

static uint64_t reads_and_writes(const struct row *r)
{
	return is_zambezi(r) ? 0x0001 : 0x01;
} /* PIC0 reads, PIC1 writes; clock, none */
static uint64_t both_and_reads(const struct row *r)
{
	return is_zambezi(r) ? 0x0100 : 0x20;
} /* PIC0 both, PIC1 reads; none, clock */
static uint64_t clocks(const struct row *r)
{
	return is_zambezi(r) ? 0x0101 : 0x22;
}

static void memory_and_hubs(void)
{
	struct vf a = vf_counting("batoka,load=random", reads_and_writes),
		  b = vf_counting("batoka,load=random", both_and_reads), c = vf_counting("batoka,load=random", clocks);
	uint64_t any = 0;
	for (unsigned i = 3; i < 18; i += 2) {
		uint64_t x = get_value(a.guest, 0, i), y = get_value(b.guest, 0, i), z = get_value(c.guest, 0, i);
		uint64_t reads = x >> 32, writes = x & 0x7fffffff;
		any += reads;
		spec_equal(y >> 32, reads + writes, "2.2", "%s: mem_read_write is mem_reads and mem_writes",
			   rows[i].name);
		spec_equal(y & 0x7fffffff, reads, "2.2", "%s: PIC1 counts the reads that PIC0 counts", rows[i].name);
		spec_equal(z >> 32, z & 0x7fffffff, "2.2", "%s: both counters of one event are equal", rows[i].name);
		spec_equal((x | y | z) & 0x8000000080000000, 0, "layout", "%s: bits 63 and 31 stay zero", rows[i].name);
	}
	spec_says(any > 0, "2.2", "memory is read");
	uint64_t clock = get_value(c.guest, 0, 19);
	spec_says(clock > 0, "2.4", "the hubs' clock runs");
	for (unsigned i = 19; i < NROWS; i += 3) {
		spec_equal(get_value(c.guest, 0, i), clock, "2.4-2.6", "%s counts the hub's clock", rows[i].name);
		spec_equal(get_value(c.guest, 0, i + 1), clock, "2.4-2.6", "%s counts it as well", rows[i + 1].name);
		spec_equal(get_value(a.guest, 0, i), clock, "2.4-2.6", "%s is selected by bits 7:0", rows[i].name);
		spec_equal(get_value(a.guest, 0, i + 1), 0, "2.4-2.6", "%s counts nothing with select 0",
			   rows[i + 1].name);
		spec_equal(get_value(b.guest, 0, i + 1), clock, "2.4-2.6", "%s is selected by bits from 8",
			   rows[i + 1].name);
		spec_equal(get_value(b.guest, 0, i), 0, "2.4-2.6", "%s counts nothing with select 0", rows[i].name);
	}
	/* A DRAM counter has 31 bits, and carries nothing into the other; one of a hub has 64. */
	for (unsigned i = 3; i < 18; i += 2) {
		set_status(c.guest, 0, i, 0x7ffffffeull << 32 | 0x7ffffffe);
		set_status(a.guest, 0, i, 0x7ffffffeull << 32 | 0x7ffffffe);
	}
	while (set_status(c.guest, 0, 19, UINT64_MAX - 1) == EWOULDBLOCK_)
		continue;
	while (set_status(c.guest, 0, 20, 1000) == EWOULDBLOCK_)
		continue;
	tally_hv_advance(c.hv, 1000000);
	for (unsigned i = 3; i < 18; i += 2) {
		uint64_t is = get_value(c.guest, 0, i);
		spec_says(is >> 32 == (is & 0x7fffffff) && is >> 32 < 0x7ffffffe, "layout",
			  "%s wraps mod 2^31 in both halves alike", rows[i].name);
		spec_equal(is & 0x8000000080000000, 0, "layout", "%s: no carry behind a wrap", rows[i].name);
		spec_equal(get_value(a.guest, 0, i), 0x7ffffffeull << 32 | 0x7ffffffe, "3.2.2",
			   "%s is what was set while no time passes", rows[i].name);
	}
	spec_equal(get_value(c.guest, 0, 19), clock - 2, "layout", "a hub's counter wraps mod 2^64");
	spec_equal(get_value(c.guest, 0, 20), clock + 1000, "3.2.2", "a counter goes on from what was set");
	vf_close(&a);
	vf_close(&b);
	vf_close(&c);
}

/* ---- the events -------------------------------------------------------------------------------------------- */
static const struct {
	const char *set, *name;
	unsigned code;
} events[] = {
	{ "sparc", "Idle_strands", 0x000 },
	{ "sparc", "Br_completed", 0x201 },
	{ "sparc", "Br_taken", 0x202 },
	{ "sparc", "Instr_FGU_arithmetic", 0x204 },
	{ "sparc", "Instr_ld", 0x208 },
	{ "sparc", "Instr_st", 0x210 },
	{ "sparc", "Instr_sw", 0x220 },
	{ "sparc", "Instr_other", 0x240 },
	{ "sparc", "Atomics", 0x280 },
	{ "sparc", "Instr_cnt", 0x2fd },
	{ "sparc", "IC_miss", 0x301 },
	{ "sparc", "DC_miss", 0x302 },
	{ "sparc", "L2_imiss", 0x310 },
	{ "sparc", "L2_dmiss_ld", 0x320 },
	{ "sparc", "ITLB_HWTW_ref_L2", 0x404 },
	{ "sparc", "DTLB_HWTW_ref_L2", 0x408 },
	{ "sparc", "ITLB_HWTW_miss_L2", 0x410 },
	{ "sparc", "DTLB_HWTW_miss_L2", 0x420 },
	{ "sparc", "Stream_ld_to_PCX", 0x501 },
	{ "sparc", "CRC_TCPIP_cksum", 0x620 },
	{ "sparc", "CRC_MPA_cksum", 0x720 },
	{ "sparc", "ITLB_miss", 0xb04 },
	{ "sparc", "DTLB_miss", 0xb08 },
	{ "sparc", "TLB_miss", 0xb0c },
	{ "mcu", "mem_reads", 0 },
	{ "mcu", "mem_writes", 1 },
	{ "mcu", "mem_read_write", 2 },
	{ "mcu", "rd_queue_latency", 4 },
	{ "mcu", "wr_queue_latency", 5 },
	{ "mcu", "rw_queue_latency", 6 },
	{ "mcu", "wb_buf_hits", 7 },
	{ "lpu", "clock_cycles", 1 },
	{ "lpu", "cycles_c2c_portX", 2 },
	{ "lpu", "cycles_mem_portX", 3 },
	{ "lpu", "cycles_WB_portX", 4 },
	{ "lpu", "cycles_NC_portX", 5 },
	{ "lpu", "cycles_c2c_portY", 6 },
	{ "lpu", "cycles_mem_portY", 7 },
	{ "lpu", "cycles_WB_portY", 8 },
	{ "lpu", "cycles_NC_portY", 9 },
	{ "lpu", "cycles_c2c_portZ", 0xa },
	{ "lpu", "cycles_mem_portZ", 0xb },
	{ "lpu", "cycles_WB_portZ", 0xc },
	{ "lpu", "cycles_NC_portZ", 0xd },
	{ "lpu", "cycles_TID_WB", 0xe },
	{ "lpu", "cycles_TID_INV", 0xf },
	{ "lpu", "cycles_TID_RTD", 0x10 },
	{ "lpu", "cycles_TID_RTO", 0x11 },
	{ "lpu", "cycles_TID_RTS", 0x12 },
	{ "lpu", "cycles_IO_WRM", 0x13 },
	{ "lpu", "cycles_IO_RD", 0x14 },
	{ "lpu", "cycles_WB_egress", 0x15 },
	{ "lpu", "cycles_INV_egress", 0x16 },
	{ "lpu", "cycles_RTO_egress", 0x17 },
	{ "lpu", "cycles_RTD_egress", 0x18 },
	{ "lpu", "cycles_RTS_egress", 0x19 },
	{ "lpu", "cycles_HIT_M", 0x1c },
	{ "lpu", "cycles_HIT_O", 0x1d },
	{ "lpu", "cycles_HIT_S", 0x1e },
	{ "lpu", "cycles_WB_HIT", 0x1f },
	{ "lpu", "cycles_MISS", 0x20 },
	{ "lpu", "cycles_WB", 0x22 },
	{ "lpu", "cycles_NDR", 0x23 },
	{ "lpu", "cycles_cache_miss", 0x24 },
	{ "lpu", "cycles_cache_hit", 0x25 },
	{ "lpu", "cycles_CRC_errors", 0x26 },
	{ "lpu", "cycles_replys_sent", 0x27 },
	{ "lpu", "cycles_replys_recev", 0x28 },
	{ "lpu", "cycles_link_retrain", 0x29 },
	{ "gpd", "clock_cycles", 1 },
	{ "asu", "clock_cycles", 1 },
	{ "asu", "asu_in_pck", 2 },
	{ "asu", "asu_out_pck", 3 },
	{ "asu", "asu_CAM_hit", 4 },
	{ "asu", "asu_wakeup", 5 },
};

static void events_listed(void)
{
	struct tally_platform *p;
	struct tally_platform_opts o = { .size = sizeof o, .on = "batoka" };
	spec_needs(!tally_platform_open(&p, &o), "batoka: %s", tally_platform_error(p));
	for (unsigned i = 0; i < sizeof events / sizeof *events; i++) {
		struct spec_text text = { 0 };
		struct tally_out to = {
			.size = sizeof to, .out = spec_text_add, .arg = &text, .format = TALLY_FORMAT_JSON
		};
		uint64_t code = UINT64_MAX;
		char *line, *at;
		spec_needs(!tally_list(p, "vfalls", NULL, false, &to), "list vfalls: %s", tally_platform_error(p));
		for (at = text.s; (line = spec_line(&at));)
			if (spec_is(line, "type", "event") && spec_is(line, "set", events[i].set) &&
			    spec_is(line, "name", events[i].name))
				code = spec_number(line, "code");
		spec_equal(code, events[i].code, "2.1-2.6", "%s of %s has that select code", events[i].name,
			   events[i].set);
		spec_text_free(&text);
	}
	tally_platform_close(p);
}

int main(void)
{
	spec_needs(NROWS == 90, "90 rows");
	table_shown();
	rows_of_versions();
	rows_of_machines();
	versions();
	errors();
	rights();
	busy();
	held();
	strand_events();
	classes();
	memory_and_hubs();
	events_listed();
	return spec_end(300);
}
