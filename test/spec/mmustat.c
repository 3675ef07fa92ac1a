/*
 * mmustat.c: MMU statistics of Niagara, mmustat.txt 1.3, and the calls of its API group 0x200.
 *
 * Places are sections of that text; "D" numbers of decisions (18 to 23); "ABI" the calling convention; "genuine" a call
 * that the hypervisor of OpenSPARC T1 was seen to answer, which the profile `opensparc` follows.
 */
#include "spec.h"

#include <tally/hv.h>
#include <tally/platform.h>

enum { EOK = 0, ENORADDR = 2, EINVAL_ = 6, EBADTRAP = 7, EBADALIGN = 8, ENOACCESS = 10, ENOTSUPPORTED = 13 };
enum {
	FAST = 0x80,
	CORE = 0xff,
	SETVER = 0,
	EXIT = 2,
	GETVER = 3,
	GETPERF = 0x100,
	SETPERF = 0x101,
	CONF = 0x102,
	INFO = 0x103
};

/* 2.3: offset, size; what the row counts. */
static const struct row {
	unsigned at, size;
	const char *side; /* NULL: reserved */
	bool context;     /* ctxnon0 */
	uint64_t page;
	const char *what;
} rows[] = {
	{ 0x0, 0x8, "immu", false, 8 << 10, "hits" },
	{ 0x8, 0x8, "immu", false, 8 << 10, "ticks" },
	{ 0x10, 0x8, "immu", false, 64 << 10, "hits" },
	{ 0x18, 0x8, "immu", false, 64 << 10, "ticks" },
	{ 0x20, 0x10, NULL, false, 0, NULL },
	{ 0x30, 0x8, "immu", false, 4 << 20, "hits" },
	{ 0x38, 0x8, "immu", false, 4 << 20, "ticks" },
	{ 0x40, 0x10, NULL, false, 0, NULL },
	{ 0x50, 0x8, "immu", false, 256ull << 20, "hits" },
	{ 0x58, 0x8, "immu", false, 256ull << 20, "ticks" },
	{ 0x60, 0x20, NULL, false, 0, NULL },
	{ 0x80, 0x8, "immu", true, 8 << 10, "hits" },
	{ 0x88, 0x8, "immu", true, 8 << 10, "ticks" },
	{ 0x90, 0x8, "immu", true, 64 << 10, "hits" },
	{ 0x98, 0x8, "immu", true, 64 << 10, "ticks" },
	{ 0xA0, 0x10, NULL, false, 0, NULL },
	{ 0xB0, 0x8, "immu", true, 4 << 20, "hits" },
	{ 0xB8, 0x8, "immu", true, 4 << 20, "ticks" },
	{ 0xC0, 0x10, NULL, false, 0, NULL },
	{ 0xD0, 0x8, "immu", true, 256ull << 20, "hits" },
	{ 0xD8, 0x8, "immu", true, 256ull << 20, "ticks" },
	{ 0xE0, 0x20, NULL, false, 0, NULL },
	{ 0x100, 0x8, "dmmu", false, 8 << 10, "hits" },
	{ 0x108, 0x8, "dmmu", false, 8 << 10, "ticks" },
	{ 0x110, 0x8, "dmmu", false, 64 << 10, "hits" },
	{ 0x118, 0x8, "dmmu", false, 64 << 10, "ticks" },
	{ 0x120, 0x10, NULL, false, 0, NULL },
	{ 0x130, 0x8, "dmmu", false, 4 << 20, "hits" },
	{ 0x138, 0x8, "dmmu", false, 4 << 20, "ticks" },
	{ 0x140, 0x10, NULL, false, 0, NULL },
	{ 0x150, 0x8, "dmmu", false, 256ull << 20, "hits" },
	{ 0x158, 0x8, "dmmu", false, 256ull << 20, "ticks" },
	{ 0x160, 0x20, NULL, false, 0, NULL },
	{ 0x180, 0x8, "dmmu", true, 8 << 10, "hits" },
	{ 0x188, 0x8, "dmmu", true, 8 << 10, "ticks" },
	{ 0x190, 0x8, "dmmu", true, 64 << 10, "hits" },
	{ 0x198, 0x8, "dmmu", true, 64 << 10, "ticks" },
	{ 0x1A0, 0x10, NULL, false, 0, NULL },
	{ 0x1B0, 0x8, "dmmu", true, 4 << 20, "hits" },
	{ 0x1B8, 0x8, "dmmu", true, 4 << 20, "ticks" },
	{ 0x1C0, 0x10, NULL, false, 0, NULL },
	{ 0x1D0, 0x8, "dmmu", true, 256ull << 20, "hits" },
	{ 0x1D8, 0x8, "dmmu", true, 256ull << 20, "ticks" },
	{ 0x1E0, 0x20, NULL, false, 0, NULL },
};
#define NROWS (sizeof rows / sizeof *rows)
#define BUFFER 0x200u

/* ---- a machine, and a guest with memory ------------------------------------------------------------- */
/* Two pieces, as a guest may have: the first of 64 KB at 0x80000000, the second of 4 KB at 0x90000000; and, for the
 * calls of the genuine hypervisor, nothing more than a range: 2 GB from 0x80000000. */
#define BASE 0x80000000ull
#define MEMORY 0x10000u
#define SECOND 0x90000000ull
static uint8_t memory[MEMORY], second[0x1000], scratch[BUFFER];

static void *two_pieces(void *arg, uint64_t ra, size_t n)
{
	(void)arg;
	if (ra >= BASE && ra - BASE <= MEMORY && n <= MEMORY - (ra - BASE))
		return memory + (ra - BASE);
	if (ra >= SECOND && ra - SECOND <= sizeof second && n <= sizeof second - (ra - SECOND))
		return second + (ra - SECOND);
	return NULL;
}

static void *two_gigabytes(void *arg, uint64_t ra, size_t n)
{
	(void)arg;
	return ra >= BASE && ra - BASE <= 2ull << 30 && n <= (2ull << 30) - (ra - BASE) && n <= sizeof scratch ?
		       scratch :
		       NULL;
}

struct mm {
	struct tally_hv *hv;
	struct tally_hv_guest *guest;
};

static struct mm mm_open(const char *machine, uint32_t flags, const char *rights, void *of(void *, uint64_t, size_t))
{
	struct mm m = { 0 };
	struct tally_hv_opts o = { .size = sizeof o, .machine = machine, .flags = flags };
	spec_needs(!tally_hv_open(&m.hv, &o), "%s: %s", machine, tally_hv_error(m.hv));
	struct tally_hv_guest_opts g = { .size = sizeof g, .memory = of, .rights = rights };
	spec_needs(!tally_hv_guest_open(&m.guest, m.hv, &g), "a guest: %s", tally_hv_error(m.hv));
	return m;
}

static void mm_close(struct mm *m)
{
	tally_hv_guest_close(m->guest);
	tally_hv_close(m->hv);
}

static uint64_t call_of(struct mm *m, unsigned cpu, unsigned trap, unsigned function, uint64_t a, uint64_t b,
			uint64_t c, uint64_t out[6])
{
	uint64_t r[6] = { a, b, c, 0x3333, 0x4444, function };
	spec_needs(!tally_hv_call(m->guest, cpu, trap, r), "trap %#x, function %#x on strand %u", trap, function, cpu);
	if (out)
		memcpy(out, r, sizeof r);
	return r[0];
}

static void negotiate(struct mm *m)
{
	spec_needs(call_of(m, 0, CORE, SETVER, 0x200, 1, 0, NULL) == EOK, "group 0x200, version 1.0");
}

/* Status of CONF; *old what it answers in ret1. */
static uint64_t conf(struct mm *m, unsigned cpu, uint64_t ra, uint64_t *old)
{
	uint64_t r[6], status = call_of(m, cpu, FAST, CONF, ra, 0xaa, 0xbb, r);
	if (old)
		*old = r[1];
	return status;
}

static uint64_t info(struct mm *m, unsigned cpu)
{
	uint64_t r[6];
	spec_needs(call_of(m, cpu, FAST, INFO, 0x77, 0x88, 0, r) == EOK, "the call info");
	return r[1];
}

static void hit(struct mm *m, unsigned cpu, bool data, bool context, uint64_t page, uint64_t ticks)
{
	spec_needs(!tally_hv_tsb_hit(m->guest, cpu, data, context, page, ticks), "a hit of a page of %llu bytes",
		   (unsigned long long)page);
}

static bool all_bytes(const uint8_t *at, size_t n, uint8_t is)
{
	while (n--)
		if (at[n] != is)
			return false;
	return true;
}

/* ---- 2.3: the buffer ------------------------------------------------------------------------------------ */
/* Whether memory but for those two words holds what the copy has. */
static bool unchanged_but(const uint8_t *copy, unsigned hits, unsigned ticks)
{
	for (unsigned i = 0; i < MEMORY; i++)
		if (memory[i] != copy[i] && !(i >= hits && i < hits + 8) && !(i >= ticks && i < ticks + 8))
			return false;
	return true;
}

static void rows_of_buffer(void)
{
	enum { AT = 0x400 };
	static uint8_t copy[MEMORY];
	struct mm m = mm_open("niagara", TALLY_HV_IDLE, NULL, two_pieces);
	negotiate(&m);
	unsigned end = 0, reserved = 0;
	for (unsigned i = 0; i < NROWS; i++) {
		end += rows[i].at == end ? rows[i].size : 0x10000;
		reserved += !rows[i].side;
	}
	spec_needs(end == BUFFER && reserved == 12 && NROWS == 44, "44 rows, 12 of them reserved, tile 0x200 bytes");

	/* Each hit and its ticks are added to their two words and to nothing else. */
	spec_needs(conf(&m, 0, BASE + AT, NULL) == EOK, "a buffer");
	for (unsigned i = 0; i < NROWS; i++) {
		const struct row *r = &rows[i];
		if (!r->side || strcmp(r->what, "hits"))
			continue;
		bool data = r->side[0] == 'd';
		unsigned kb = (unsigned)(r->page >> 10);
		const char *ctx = r->context ? "ctxnon0" : "ctx0";
		for (unsigned b = 0; b < MEMORY; b++)
			memory[b] = (uint8_t)(b * 7 + i);
		memcpy(copy, memory, MEMORY);
		uint64_t hits = spec_get(memory + AT + r->at, 8), ticks = spec_get(memory + AT + r->at + 8, 8);
		hit(&m, 0, data, r->context, r->page, 30);
		spec_equal(spec_get(memory + AT + r->at, 8), hits + 1, "2.3", "%s, %s, %u KB: a hit is added at 0x%x",
			   r->side, ctx, kb, r->at);
		spec_equal(spec_get(memory + AT + r->at + 8, 8), ticks + 30, "2.3",
			   "%s, %s, %u KB: its ticks are added at 0x%x", r->side, ctx, kb, r->at + 8);
		spec_says(unchanged_but(copy, AT + r->at, AT + r->at + 8), "2.3",
			  "%s, %s, %u KB: no other byte of memory changes", r->side, ctx, kb);
		hit(&m, 0, data, r->context, r->page, 1000);
		hit(&m, 0, data, r->context, r->page, 0);
		spec_equal(spec_get(memory + AT + r->at, 8), hits + 3, "2.3", "%s, %s, %u KB: hits are cumulative",
			   r->side, ctx, kb);
		spec_equal(spec_get(memory + AT + r->at + 8, 8), ticks + 1030, "2.3",
			   "%s, %s, %u KB: ticks are cumulative", r->side, ctx, kb);
		spec_put(memory + AT + r->at, 8, UINT64_MAX);
		spec_put(memory + AT + r->at + 8, 8, UINT64_MAX - 1);
		hit(&m, 0, data, r->context, r->page, 5);
		spec_equal(spec_get(memory + AT + r->at, 8), 0, "2.3", "%s, %s, %u KB: hits have 64 bits", r->side, ctx,
			   kb);
		spec_equal(spec_get(memory + AT + r->at + 8, 8), 3, "2.3", "%s, %s, %u KB: ticks have 64 bits", r->side,
			   ctx, kb);
	}
	/* Reserved rows, when every other has been added to. */
	memset(memory, 0xa5, MEMORY);
	for (unsigned i = 0; i < NROWS; i++)
		if (rows[i].side && !strcmp(rows[i].what, "hits"))
			hit(&m, 0, rows[i].side[0] == 'd', rows[i].context, rows[i].page, 7);
	for (unsigned i = 0; i < NROWS; i++)
		if (!rows[i].side)
			spec_says(all_bytes(memory + AT + rows[i].at, rows[i].size, 0xa5), "2.3, D21",
				  "the reserved bytes at 0x%x stay untouched", rows[i].at);
		else
			spec_equal(spec_get(memory + AT + rows[i].at, 8),
				   0xa5a5a5a5a5a5a5a5 + (strcmp(rows[i].what, "hits") ? 7 : 1), "2.1, D21",
				   "the word at 0x%x is added to, whatever it held", rows[i].at);
	spec_says(all_bytes(memory, AT, 0xa5), "2.3", "no byte before the buffer is written");
	spec_says(all_bytes(memory + AT + BUFFER, MEMORY - AT - BUFFER, 0xa5), "2.3",
		  "no byte behind the buffer is written");
	static const uint64_t pages[] = { 0, 1, 4096, 16384, 32768, 512 << 10, 32 << 20, 2ull << 30, 16ull << 30 };
	for (unsigned i = 0; i < sizeof pages / sizeof *pages; i++)
		spec_equal((uint64_t)tally_hv_tsb_hit(m.guest, 0, true, true, pages[i], 1), (uint64_t)-TALLY_EINVAL,
			   "2.3", "pages of %llu bytes have no row", (unsigned long long)pages[i]);
	mm_close(&m);
}

/* What the rows are called, and that a dump of a buffer is read row by row. */
static void rows_shown(void)
{
	char path[] = "/tmp/spec-mmustat-XXXXXX";
	int fd = mkstemp(path);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "wb");
	spec_needs(f, "a file for a dump");
	uint8_t dump[BUFFER];
	for (unsigned i = 0; i < BUFFER; i += 8)
		spec_put(dump + i, 8, 0x1122334455000000 + i);
	spec_needs(fwrite(dump, 1, BUFFER, f) == BUFFER && !fclose(f), "writing a dump");
	for (unsigned source = 0; source < 2; source++) {
		struct tally_platform *p;
		struct tally_platform_opts o = { .size = sizeof o, .on = source ? path : "niagara" };
		spec_needs(!tally_platform_open(&p, &o), "%s: %s", o.on, tally_platform_error(p));
		struct spec_text text = { 0 };
		struct tally_out to = {
			.size = sizeof to, .out = spec_text_add, .arg = &text, .format = TALLY_FORMAT_JSON
		};
		int e = source ? tally_get(p, "mmustat/all/", &to) : tally_list(p, "mmustat", NULL, false, &to);
		spec_needs(!e, "mmustat of %s: %s", o.on, tally_platform_error(p));
		unsigned found = 0;
		char *at = text.s, *line;
		while ((line = spec_line(&at))) {
			if (!spec_is(line, "type", source ? "mmustat" : "slot"))
				continue;
			char side[8], size[8];
			snprintf(side, sizeof side, "%s", spec_string(line, "side"));
			snprintf(size, sizeof size, "%s", spec_string(line, "size"));
			uint64_t page = strtoull(size, NULL, 10) << (strchr(size, 'M') ? 20 : 10);
			bool context = !spec_is(line, "context", "0");
			for (unsigned i = 0; i < NROWS; i++)
				if (rows[i].side && !strcmp(rows[i].side, side) && rows[i].context == context &&
				    rows[i].page == page) {
					found++;
					uint64_t is = spec_number(line, rows[i].what),
						 must = source ? 0x1122334455000000 + rows[i].at : rows[i].at;
					spec_equal(is, must, "2.3", "%s: %s of %s, %s, %s at 0x%x",
						   source ? "a dump" : "the list", rows[i].what, side,
						   context ? "ctxnon0" : "ctx0", size, rows[i].at);
				}
		}
		spec_equal(found, 32, "2.3", "%s has 16 slots of two words", source ? "a dump" : "the list");
		spec_text_free(&text);
		tally_platform_close(p);
	}
	remove(path);
}

/* ---- 2.1, 2.2: the calls ---------------------------------------------------------------------------------- */
static void addresses(void)
{
	static const struct {
		uint64_t ra;
		unsigned status;
		const char *what;
	} of[] = {
		{ BASE, EOK, "the first address of memory" },
		{ BASE + 0x40, EOK, "64 bytes behind" },
		{ BASE + 0x80, EOK, "128 bytes behind" },
		{ BASE + 0x1c0, EOK, "448 bytes behind, less than a buffer" },
		{ BASE + 0x200, EOK, "a buffer behind" },
		{ BASE + MEMORY - 0x200, EOK, "the last 0x200 bytes" },
		{ SECOND, EOK, "a second piece of memory" },
		{ SECOND + 0xe00, EOK, "the last bytes of the second piece" },
		{ BASE + 1, EBADALIGN, "alignment 1" },
		{ BASE + 2, EBADALIGN, "alignment 2" },
		{ BASE + 4, EBADALIGN, "alignment 4" },
		{ BASE + 8, EBADALIGN, "alignment 8" },
		{ BASE + 0x10, EBADALIGN, "alignment 16" },
		{ BASE + 0x20, EBADALIGN, "alignment 32" },
		{ BASE + 0x30, EBADALIGN, "alignment 16, again" },
		{ BASE + 0x3f, EBADALIGN, "one before 64" },
		{ BASE + 0x41, EBADALIGN, "one behind 64" },
		{ BASE + 0x48, EBADALIGN, "eight behind 64" },
		{ BASE + 0x60, EBADALIGN, "32 behind 64" },
		{ BASE + MEMORY - 0x1c0, ENORADDR, "the last 0x1c0 bytes" },
		{ BASE + MEMORY - 0x40, ENORADDR, "the last 64 bytes" },
		{ BASE + MEMORY, ENORADDR, "the end of memory" },
		{ BASE - 0x40, ENORADDR, "64 bytes before memory" },
		{ BASE - 0x200, ENORADDR, "a buffer before memory" },
		{ SECOND - 0x40, ENORADDR, "before the second piece" },
		{ SECOND + 0xe40, ENORADDR, "over the end of the second piece" },
		{ SECOND + 0x1000, ENORADDR, "the end of the second piece" },
		{ 0x40, ENORADDR, "64, far below memory" },
		{ 0x1000, ENORADDR, "4096, far below memory" },
		{ 1ull << 40, ENORADDR, "bit 40" },
		{ (1ull << 40) + BASE, ENORADDR, "memory's address with bit 40" },
		{ (1ull << 63) + BASE, ENORADDR, "memory's address with bit 63" },
		{ UINT64_MAX - 0x3f, ENORADDR, "the last 64 bytes of the address space" },
		{ UINT64_MAX - 0x1ff, ENORADDR, "the last 512 bytes of the address space" },
		{ UINT64_MAX, EBADALIGN, "all ones" },
		{ 0x1001, EBADALIGN, "neither aligned nor memory" },
	};
	struct mm m = mm_open("niagara", TALLY_HV_IDLE, NULL, two_pieces);
	negotiate(&m);
	for (unsigned i = 0; i < sizeof of / sizeof *of; i++) {
		uint64_t old, r[6];
		spec_needs(conf(&m, 0, 0, NULL) == EOK && conf(&m, 0, BASE + 0x1000, NULL) == EOK, "a buffer before");
		spec_equal(call_of(&m, 0, FAST, CONF, of[i].ra, 0xaa, 0xbb, r), of[i].status, "2.1", "%s", of[i].what);
		spec_equal(r[1], of[i].status == EOK ? BASE + 0x1000 : 0xaa, "2.1",
			   "%s: ret1 is the buffer before, or untouched", of[i].what);
		spec_equal(info(&m, 0), of[i].status == EOK ? of[i].ra : 0, "2.1, D21", "%s: info then", of[i].what);
		/* After an error nothing is collected, in the old buffer neither. */
		memset(memory, 0, MEMORY);
		hit(&m, 0, true, true, 8192, 9);
		bool old_written = !all_bytes(memory + 0x1000, BUFFER, 0);
		spec_says(of[i].status == EOK || !old_written, "2.1, D21", "%s: the old buffer is written no more",
			  of[i].what);
		spec_equal(conf(&m, 0, BASE + 0x2000, &old), EOK, "2.1", "%s: the next buffer", of[i].what);
		spec_equal(old, of[i].status == EOK ? of[i].ra : 0, "2.1, D21", "%s: what the next conf returns",
			   of[i].what);
	}
	mm_close(&m);
}

static void life(void)
{
	struct mm m = mm_open("niagara", TALLY_HV_IDLE, NULL, two_pieces);
	uint64_t old, r[6];
	memset(memory, 0, MEMORY);
	spec_equal(call_of(&m, 0, FAST, INFO, 0x77, 0x88, 0, r), EBADTRAP, "ABI",
		   "info before the group is negotiated");
	spec_equal(r[1], 0x88, "ABI", "which leaves %%o1");
	spec_equal(call_of(&m, 0, FAST, CONF, BASE, 0xaa, 0, r), EBADTRAP, "ABI",
		   "conf before the group is negotiated");
	spec_equal(r[1], 0xaa, "ABI", "which leaves %%o1 as well");
	negotiate(&m);
	spec_equal(info(&m, 0), 0, "2.1", "the refused conf has set nothing");
	call_of(&m, 0, FAST, INFO, 0x77, 0x88, 0x99, r);
	spec_equal(r[0], EOK, "2.2", "info without a buffer");
	spec_equal(r[1], 0, "2.2", "answers zero");
	spec_says(r[2] == 0x99 && r[3] == 0x3333 && r[4] == 0x4444, "ABI", "and leaves %%o2 to %%o4");
	call_of(&m, 0, FAST, CONF, BASE, 0xaa, 0x99, r);
	spec_equal(r[0], EOK, "2.1", "the first conf");
	spec_equal(r[1], 0, "2.1", "returns zero for the first invocation");
	spec_says(r[2] == 0x99 && r[3] == 0x3333 && r[4] == 0x4444, "ABI", "and leaves the other registers");
	spec_equal(info(&m, 0), BASE, "2.2", "info answers its address");
	spec_equal(info(&m, 0), BASE, "2.2", "info is idempotent");
	spec_equal(conf(&m, 0, BASE, &old), EOK, "2.1", "the same buffer again");
	spec_equal(old, BASE, "2.1", "returns itself");
	hit(&m, 0, false, false, 8192, 4);
	spec_equal(spec_get(memory, 8), 1, "2.0", "counts are collected into it");
	spec_equal(conf(&m, 0, BASE + 0x1000, &old), EOK, "2.1", "another buffer");
	spec_equal(old, BASE, "2.1", "returns the one before");
	hit(&m, 0, false, false, 8192, 4);
	spec_equal(spec_get(memory, 8), 1, "D21", "the one before is never written again");
	spec_equal(spec_get(memory + 0x1000, 8), 1, "2.1", "the new one is");
	spec_equal(conf(&m, 0, 0, &old), EOK, "2.1", "a zero address");
	spec_equal(old, BASE + 0x1000, "2.1", "returns the buffer that was");
	spec_equal(info(&m, 0), 0, "2.2", "zero: no buffer is defined");
	hit(&m, 0, false, false, 8192, 4);
	spec_equal(spec_get(memory + 0x1000, 8), 1, "2.1", "any previously supplied buffer is no longer accessed");
	spec_equal(conf(&m, 0, 0, &old), EOK, "2.1", "zero twice");
	spec_equal(old, 0, "2.1", "zero twice returns zero");
	spec_equal(conf(&m, 0, BASE, &old), EOK, "2.1", "the first buffer once more");
	spec_equal(old, 0, "2.1", "returns zero behind a zero");
	spec_equal(spec_get(memory, 8), 1, "D21", "and it was not cleared");
	hit(&m, 0, false, false, 8192, 4);
	spec_equal(spec_get(memory, 8), 2, "D21", "but is added to");
	memset(memory, 0, BUFFER);
	hit(&m, 0, false, false, 8192, 4);
	spec_equal(spec_get(memory, 8), 1, "D21", "zeroed by its owner it counts from zero");

	/* Of each virtual CPU its own. */
	spec_equal(info(&m, 1), 0, "2.1", "strand 1 has no buffer yet");
	spec_equal(conf(&m, 1, BASE + 0x3000, &old), EOK, "2.1", "a buffer for strand 1");
	spec_equal(old, 0, "2.1", "strand 1's first invocation returns zero");
	spec_equal(info(&m, 0), BASE, "2.1", "strand 0 has its own still");
	spec_equal(info(&m, 1), BASE + 0x3000, "2.1", "strand 1 has its own");
	hit(&m, 1, false, false, 8192, 4);
	spec_equal(spec_get(memory, 8), 1, "2.1", "what strand 1 hits isn't counted for strand 0");
	spec_equal(spec_get(memory + 0x3000, 8), 1, "2.1", "but for strand 1");
	spec_equal(conf(&m, 1, 1, NULL), EBADALIGN, "2.1", "an error of strand 1");
	spec_equal(info(&m, 0), BASE, "2.1", "is not strand 0's");
	spec_equal(info(&m, 1), 0, "D21", "it ends strand 1's collection");
	spec_equal(conf(&m, 31, BASE + 0x4000, NULL), EOK, "2.1", "the last strand of Niagara");

	/* Disabling the group keeps the buffer; a refused conf is an error like any other. */
	spec_equal(call_of(&m, 0, CORE, SETVER, 0x200, 0, 0, NULL), EOK, "ABI", "the group is given up");
	spec_equal(call_of(&m, 0, FAST, INFO, 0, 0, 0, NULL), EBADTRAP, "ABI", "info is none then");
	negotiate(&m);
	spec_equal(info(&m, 0), BASE, "ABI", "negotiated again, the buffer is there still");
	call_of(&m, 0, CORE, SETVER, 0x200, 0, 0, NULL);
	spec_equal(call_of(&m, 0, FAST, CONF, BASE + 0x1000, 0, 0, NULL), EBADTRAP, "ABI", "conf without the group");
	uint64_t before = spec_get(memory, 8);
	hit(&m, 0, false, false, 8192, 4);
	spec_equal(spec_get(memory, 8), before, "2.1, D21",
		   "if an error is returned no statistics are collected: EBADTRAP, too");
	negotiate(&m);
	spec_equal(info(&m, 0), 0, "2.1, D21", "and the buffer is gone behind it");
	spec_equal(info(&m, 31), BASE + 0x4000, "2.1", "but strand 31's is not");

	/* Reset, and the end of the guest's program. */
	conf(&m, 0, BASE, NULL);
	spec_needs(!tally_hv_reset(m.guest, 0), "a reset");
	spec_equal(info(&m, 0), 0, "ABI", "a reset of the strand drops its buffer");
	spec_equal(info(&m, 31), BASE + 0x4000, "ABI", "and no other's");
	conf(&m, 0, BASE, NULL);
	conf(&m, 2, BASE + 0x5000, NULL);
	memset(memory, 0, MEMORY);
	call_of(&m, 0, CORE, EXIT, 3, 0, 0, NULL);
	hit(&m, 0, false, false, 8192, 4);
	hit(&m, 2, false, false, 8192, 4);
	spec_says(all_bytes(memory, MEMORY, 0), "ABI", "behind mach_exit no buffer of the guest is written");
	spec_equal(info(&m, 0), 0, "ABI", "behind mach_exit strand 0 has no buffer (versions survive)");
	spec_equal(info(&m, 2), 0, "ABI", "behind mach_exit strand 2 has none either");
	mm_close(&m);

	/* A guest that is gone, and one that comes. */
	m = mm_open("niagara", TALLY_HV_IDLE, NULL, two_pieces);
	negotiate(&m);
	conf(&m, 4, BASE, NULL);
	tally_hv_guest_close(m.guest);
	struct tally_hv_guest_opts g = { .size = sizeof g, .memory = two_pieces };
	spec_needs(!tally_hv_guest_open(&m.guest, m.hv, &g), "a second guest");
	spec_equal(call_of(&m, 4, FAST, INFO, 0, 0, 0, NULL), EBADTRAP, "ABI", "another guest has negotiated nothing");
	negotiate(&m);
	spec_equal(info(&m, 4), 0, "2.1", "another guest has no buffer");
	mm_close(&m);
}

/* ---- 2.1, 2.2: not on other architectures ------------------------------------------------------------------- */
static void other_machines(void)
{
	static const char *const machines[] = { "maramba,sockets=1", "maramba,sockets=2", "batoka,sockets=1",
						"batoka,sockets=2",  "batoka,sockets=3",  "batoka" };
	for (unsigned i = 0; i < sizeof machines / sizeof *machines; i++) {
		struct mm m = mm_open(machines[i], TALLY_HV_IDLE, NULL, two_pieces);
		uint64_t r[6];
		spec_equal(call_of(&m, 0, FAST, CONF, BASE, 0xaa, 0, r), EBADTRAP, "2.1, D21", "%s: conf", machines[i]);
		spec_equal(r[1], 0xaa, "2.1", "%s: conf leaves %%o1", machines[i]);
		spec_equal(call_of(&m, 0, FAST, CONF, 0, 0, 0, NULL), EBADTRAP, "2.1, D21", "%s: conf of zero",
			   machines[i]);
		spec_equal(call_of(&m, 0, FAST, CONF, 1, 0, 0, NULL), EBADTRAP, "2.1, D21", "%s: conf of a bad address",
			   machines[i]);
		spec_equal(call_of(&m, 0, FAST, INFO, 0, 0xaa, 0, r), EBADTRAP, "2.2, D21", "%s: info", machines[i]);
		spec_equal(r[1], 0xaa, "2.2", "%s: info leaves %%o1", machines[i]);
		spec_equal(call_of(&m, 0, CORE, SETVER, 0x200, 1, 0, NULL), EINVAL_, "ABI", "%s: group 0x200",
			   machines[i]);
		spec_equal(call_of(&m, 0, FAST, CONF, BASE, 0, 0, NULL), EBADTRAP, "2.1, D21", "%s: conf behind that",
			   machines[i]);
		call_of(&m, 0, CORE, SETVER, 0x205, 1, 1, NULL);
		spec_equal(call_of(&m, 0, FAST, INFO, 0, 0, 0, NULL), EBADTRAP, "2.2, D21",
			   "%s: info beside group 0x205", machines[i]);
		spec_equal((uint64_t)tally_hv_tsb_hit(m.guest, 0, true, true, 8192, 1), (uint64_t)-TALLY_ENOTSUP, "2.0",
			   "%s keeps no statistics", machines[i]);
		mm_close(&m);
	}
}

/* ---- versions, and the other calls of the group --------------------------------------------------------------- */
static void group(void)
{
	static const struct {
		uint64_t group, major, minor, status, granted, then_major;
		bool known;
		const char *what;
	} steps[] = {
		{ 0x200, 1, 0, EOK, 0, 1, true, "1.0" },
		{ 0x200, 1, 1, EOK, 0, 1, true, "1.1 is 1.0" },
		{ 0x200, 1, 9, EOK, 0, 1, true, "1.9 is 1.0" },
		{ 0x200, 1, 0xffffffffffff, EOK, 0, 1, true, "a large minor is 1.0" },
		{ 0x200, 2, 0, ENOTSUPPORTED, 2, 1, true, "2.0 changes nothing" },
		{ 0x200, 3, 4, ENOTSUPPORTED, 3, 1, true, "3.4 changes nothing" },
		{ 0x200, 0, 0, EOK, 0, 0, true, "0 gives the group up" },
		{ 0x200, 0, 3, EOK, 0, 0, true, "whatever its minor is" },
		{ 0x200, 2, 0, ENOTSUPPORTED, 2, 0, true, "2.0 of a group given up" },
		{ 0x200, 1, 0, EOK, 0, 1, true, "1.0 again" },
		{ 0x202, 1, 0, EINVAL_, 1, 0, false, "Niagara 2's group" },
		{ 0x205, 1, 1, EINVAL_, 1, 0, false, "Victoria Falls' group" },
		{ 0x209, 1, 0, EINVAL_, 1, 0, false, "KT's group" },
		{ 0x1000, 1, 0, EINVAL_, 1, 0, false, "a group far out" },
	};
	struct mm m = mm_open("niagara", TALLY_HV_IDLE, NULL, two_pieces);
	uint64_t r[6];
	spec_equal(call_of(&m, 0, CORE, GETVER, 0x200, 9, 9, r), EOK, "ABI",
		   "the group is known before it is negotiated");
	spec_says(r[1] == 0 && r[2] == 0, "ABI", "with version 0.0");
	for (unsigned i = 0; i < sizeof steps / sizeof *steps; i++) {
		spec_equal(call_of(&m, 0, CORE, SETVER, steps[i].group, steps[i].major, steps[i].minor, r),
			   steps[i].status, "ABI", "%s: status", steps[i].what);
		spec_equal(r[1], steps[i].granted, "ABI", "%s: minor granted, or %%o1 as it was", steps[i].what);
		spec_equal(call_of(&m, 0, CORE, GETVER, steps[i].group, 0xaa, 0xbb, r), steps[i].known ? EOK : EINVAL_,
			   "ABI", "%s: asking for it", steps[i].what);
		spec_equal(r[1], steps[i].known ? steps[i].then_major : 0xaa, "ABI", "%s: major in force",
			   steps[i].what);
		spec_equal(call_of(&m, 3, FAST, INFO, 0, 0, 0, NULL),
			   steps[i].known && !steps[i].then_major ? EBADTRAP : EOK, "ABI", "%s: info on strand 3",
			   steps[i].what);
	}
	static const unsigned foreign[] = { 0x104, 0x105, 0x106, 0x107, 0x108, 0x140, 0x184,
					    0x1a8, 0x201, 0x202, 0x301, 0x303, 0x7fff };
	for (unsigned i = 0; i < sizeof foreign / sizeof *foreign; i++) {
		spec_equal(call_of(&m, 0, FAST, foreign[i], 0, 0xaa, 0, r), EBADTRAP, "ABI",
			   "function %#x is none on Niagara", foreign[i]);
		spec_equal(r[1], 0xaa, "ABI", "function %#x leaves %%o1", foreign[i]);
	}
	mm_close(&m);

	/* 0x100 and 0x101, which only what was seen of the genuine one describes: rights gate them, and not the
	 * statistics. */
	static const struct {
		const char *rights;
		uint32_t flags;
		unsigned beyond;
		const char *what;
	} who[] = {
		{ "perfctraccess=0", 0, 0, "spec, no access" },
		{ "perfctraccess=1", 0, 0, "spec, access" },
		{ "perfctraccess=0", TALLY_HV_OPENSPARC, ENOACCESS, "opensparc, no access" },
		{ "perfctraccess=1", TALLY_HV_OPENSPARC, EINVAL_, "opensparc, access" },
	};
	static const uint64_t numbers[] = { 0x63, 0xa, 1ull << 32, UINT64_MAX };
	for (unsigned w = 0; w < 4; w++) {
		m = mm_open("niagara", TALLY_HV_IDLE | who[w].flags, who[w].rights, two_pieces);
		spec_equal(call_of(&m, 0, FAST, GETPERF, 0x63, 0, 0, NULL), EBADTRAP, "ABI",
			   "%s: 0x100 before negotiation", who[w].what);
		spec_equal(call_of(&m, 0, FAST, SETPERF, 0x63, 0, 0, NULL), EBADTRAP, "ABI",
			   "%s: 0x101 before negotiation", who[w].what);
		negotiate(&m);
		for (unsigned i = 0; who[w].beyond && i < sizeof numbers / sizeof *numbers; i++) {
			spec_equal(call_of(&m, 0, FAST, GETPERF, numbers[i], 0xaa, 0, r), who[w].beyond, "D20, genuine",
				   "%s: reading register %#llx", who[w].what, (unsigned long long)numbers[i]);
			spec_equal(r[1], 0xaa, "ABI", "%s: which leaves %%o1 (%#llx)", who[w].what,
				   (unsigned long long)numbers[i]);
			spec_equal(call_of(&m, 0, FAST, SETPERF, numbers[i], 0, 0, NULL), who[w].beyond, "D20, genuine",
				   "%s: setting register %#llx", who[w].what, (unsigned long long)numbers[i]);
		}
		if (who[w].beyond == ENOACCESS) {
			spec_equal(call_of(&m, 0, FAST, GETPERF, 0, 0xaa, 0, r), ENOACCESS, "genuine",
				   "%s: reading register 0", who[w].what);
			spec_equal(r[1], 0xaa, "ABI", "%s: which leaves %%o1 (0)", who[w].what);
		}
		spec_equal(conf(&m, 0, BASE, NULL), EOK, "ABI", "%s: statistics need no right", who[w].what);
		spec_equal(info(&m, 0), BASE, "ABI", "%s: nor does asking for them", who[w].what);
		mm_close(&m);
	}
}

/* ---- what was seen of the genuine hypervisor --------------------------------------------------------------------- */
static void genuine(void)
{
	static const struct {
		unsigned trap, function;
		uint64_t a, b, c, status, o1, o2;
		bool access;
		const char *what;
	} calls[] = {
		{ FAST, INFO, 0, 0, 0, 7, 0, 0, false, "info, not negotiated" },
		{ CORE, GETVER, 0x200, 0, 0, 0, 0, 0, false, "a known group's version" },
		{ CORE, SETVER, 0x205, 1, 1, 6, 1, 1, false, "a group that T1 has not" },
		{ CORE, SETVER, 0x200, 2, 0, 0xd, 2, 0, false, "a major that it has not" },
		{ CORE, SETVER, 0x200, 1, 5, 0, 0, 0 /* %o2: below */, false, "a minor that is clamped" },
		{ FAST, INFO, 0x77, 0x88, 0, 0, 0, 0, false, "no buffer" },
		{ FAST, CONF, 0x81000040, 0xaa, 0, 0, 0, 0, false, "64-aligned" },
		{ FAST, INFO, 0, 0, 0, 0, 0x81000040, 0, false, "info behind it" },
		{ FAST, CONF, 0x81000048, 0xaa, 0, 0, 0x81000040, 0, false, "8-aligned" },
		{ FAST, CONF, 0x81000044, 0xaa, 0, 8, 0xaa, 0, false, "4-aligned" },
		{ FAST, INFO, 0, 0, 0, 0, 0x81000048, 0, false, "info behind that error" },
		{ FAST, CONF, 0x1000, 0xaa, 0, 2, 0xaa, 0, false, "outside memory" },
		{ FAST, CONF, 0xfffffe00, 0xaa, 0, 0, 0x81000048, 0, false, "the last 0x200 bytes" },
		{ FAST, CONF, 0x100000000, 0xaa, 0, 2, 0xaa, 0, false, "the end of memory" },
		{ FAST, INFO, 0, 0, 0, 0, 0xfffffe00, 0, false, "info behind the end" },
		{ FAST, CONF, 0x10000000000, 0xaa, 0, 2, 0xaa, 0, false, "bit 40" },
		{ FAST, CONF, 0x7fffffc0, 0xaa, 0, 2, 0xaa, 0, false, "below memory" },
		{ FAST, CONF, 0x81000000, 0xaa, 0, 0, 0xfffffe00, 0, false, "another buffer" },
		{ FAST, CONF, 0, 0xaa, 0, 0, 0x81000000, 0, false, "zero" },
		{ FAST, INFO, 0, 0, 0, 0, 0, 0, false, "info behind zero" },
		{ FAST, GETPERF, 0, 0xaa, 0, 0xa, 0xaa, 0, false, "getperf without access" },
		{ FAST, SETPERF, 0x63, 0xaa, 0, 0xa, 0xaa, 0, false, "setperf 0x63 without access" },
		{ FAST, 0x104, 0, 0xaa, 0, 7, 0xaa, 0, false, "Niagara 2's getperf" },
		{ FAST, 0x106, 2, 0xaa, 0, 7, 0xaa, 0, false, "Victoria Falls' get" },
		{ CORE, SETVER, 0x200, 0, 0, 0, 0, 0, false, "the group is given up" },
		{ FAST, INFO, 0, 0, 0, 7, 0, 0, false, "info without the group" },
		{ CORE, GETVER, 0x200, 0, 0, 0, 0, 0, false, "the version of a group given up" },
		{ CORE, SETVER, 0x200, 1, 0, 0, 0, 0, false, "the group comes again" },
		{ FAST, CONF, 0x81000040, 0xaa, 0, 0, 0, 0, false, "a buffer" },
		{ CORE, SETVER, 0x200, 0, 0, 0, 0, 0, false, "given up with a buffer" },
		{ CORE, SETVER, 0x200, 1, 0, 0, 0, 0, false, "and taken up" },
		{ FAST, INFO, 0, 0, 0, 0, 0x81000040, 0, false, "the buffer survived" },
		{ CORE, SETVER, 0, 1, 9, 0, 0, 0, false, "the marker group's minor is ignored" },
		{ CORE, SETVER, 0x200, 1, 0, 0, 0, 0, true, "with access: the group" },
		{ FAST, GETPERF, 0x63, 0xaa, 0, 6, 0xaa, 0, true, "with access: getperf 0x63" },
		{ FAST, GETPERF, 0xa, 0xaa, 0, 6, 0xaa, 0, true, "with access: getperf 0xa" },
		{ FAST, SETPERF, 0x63, 0xaa, 0, 6, 0xaa, 0, true, "with access: setperf 0x63" },
		{ FAST, 0x104, 0, 0xaa, 0, 7, 0xaa, 0, true, "with access: Niagara 2's getperf" },
		{ FAST, 0x106, 2, 0xaa, 0, 7, 0xaa, 0, true, "with access: Victoria Falls' get" },
	};
	struct mm of[2] = { mm_open("niagara", TALLY_HV_IDLE | TALLY_HV_OPENSPARC, "perfctraccess=0", two_gigabytes),
			    mm_open("niagara", TALLY_HV_IDLE | TALLY_HV_OPENSPARC, "perfctraccess=1", two_gigabytes) };
	for (unsigned i = 0; i < sizeof calls / sizeof *calls; i++) {
		uint64_t r[6];
		call_of(&of[calls[i].access], 0, calls[i].trap, calls[i].function, calls[i].a, calls[i].b, calls[i].c,
			r);
		spec_equal(r[0], calls[i].status, "genuine", "%s: status", calls[i].what);
		spec_equal(r[1], calls[i].o1, "genuine", "%s: %%o1", calls[i].what);
		if (calls[i].trap == FAST)
			spec_equal(r[2], calls[i].o2, "genuine", "%s: %%o2", calls[i].what);
		spec_says(r[3] == 0x3333 && r[4] == 0x4444 && r[5] == calls[i].function, "genuine",
			  "%s: %%o3 to %%o5 are as they were", calls[i].what);
	}
	mm_close(&of[0]);
	mm_close(&of[1]);

	/* After a failed conf the genuine one goes on counting. */
	struct mm m = mm_open("niagara", TALLY_HV_IDLE | TALLY_HV_OPENSPARC, NULL, two_pieces);
	negotiate(&m);
	memset(memory, 0, MEMORY);
	conf(&m, 0, BASE, NULL);
	hit(&m, 0, true, false, 8192, 6);
	spec_equal(conf(&m, 0, BASE + 4, NULL), EBADALIGN, "genuine", "an address that is 4-aligned");
	hit(&m, 0, true, false, 8192, 6);
	spec_equal(spec_get(memory + 0x100, 8), 2, "genuine", "after EBADALIGN it goes on counting");
	spec_equal(spec_get(memory + 0x108, 8), 12, "genuine", "and the ticks with it");
	mm_close(&m);
}

/* ---- 2.0: what a machine under load collects ------------------------------------------------- */
static void collected(void)
{
	static const char *const loads[] = { "niagara,load=chase", "niagara,load=mixed", "niagara,load=random",
					     "niagara,load=stream" };
	for (unsigned l = 0; l < sizeof loads / sizeof *loads; l++) {
		struct mm m = mm_open(loads[l], 0, NULL, two_pieces);
		negotiate(&m);
		memset(memory, 0, MEMORY);
		uint8_t before[BUFFER];
		spec_needs(conf(&m, 0, BASE, NULL) == EOK, "a buffer");
		tally_hv_advance(m.hv, 1000000);
		memcpy(before, memory, BUFFER);
		tally_hv_advance(m.hv, 1000000);
		uint64_t all = 0, ticks = 0;
		bool grows = true, both = true;
		for (unsigned i = 0; i < NROWS; i++) {
			if (!rows[i].side || strcmp(rows[i].what, "hits"))
				continue;
			uint64_t h = spec_get(memory + rows[i].at, 8), t = spec_get(memory + rows[i].at + 8, 8);
			grows &= h >= spec_get(before + rows[i].at, 8) && t >= spec_get(before + rows[i].at + 8, 8);
			both &= h ? t >= h : !t;
			all += h;
			ticks += t;
		}
		if (l < 2)
			spec_says(all > 0, "2.0", "%s: hits are collected", loads[l]);
		spec_says(grows, "2.0", "%s: hits are increased and ticks updated continuously, never the reverse",
			  loads[l]);
		spec_says(both, "2.3", "%s: a row has ticks if and only if it has hits, and a tick a hit at least",
			  loads[l]);
		spec_says(ticks < 2000000 * 2, "2.3", "%s: ticks are time of the strand, which had 2 ms below 2 GHz",
			  loads[l]);
		bool untouched = true;
		for (unsigned i = 0; i < NROWS; i++)
			untouched &= rows[i].side || all_bytes(memory + rows[i].at, rows[i].size, 0);
		spec_says(untouched, "2.3", "%s: reserved rows stay zero", loads[l]);
		conf(&m, 0, 0, NULL);
		memcpy(before, memory, BUFFER);
		tally_hv_advance(m.hv, 1000000);
		spec_says(!memcmp(memory, before, BUFFER), "2.1", "%s: disabled, the load writes it no more", loads[l]);
		mm_close(&m);
	}
}

int main(void)
{
	rows_of_buffer();
	rows_shown();
	addresses();
	life();
	other_machines();
	group();
	genuine();
	collected();
	return spec_end(300);
}
