/*
 * papr_test.c: every request, at every level, with all rights, indexes and sizes, is answered as the tables of
 * papr_gpci.txt say, byte for byte.  What is expected is put together here from golden records and from the spec's
 * order of checks, without the service's own tables.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "hv/papr_test_int.h"

enum { HEADER = 32, CAP = 4096, OWN = 5, VERSION_IN_AT = 0x12 };
static const uint8_t levels[] = { 0, 3, 5, 6, 8 };
static const uint32_t unknown[] = { 0,    1,     0x11,       0x21,       0x71,       0xb2,
				    0xf8, 0x101, 0x80000000, 0x80001001, 0x80002001, 0xffffffff };

struct ask {
	uint32_t number;
	uint8_t level, version;
	struct papr_rights rights;
	int32_t index;
	uint64_t size;
	bool partial_success;
};
struct reply {
	int64_t rc;
	uint8_t block[GUEST_BYTES];
};

static void put(uint8_t *p, uint32_t n, uint64_t v)
{
	for (uint32_t i = 0; i < n; i++)
		p[i] = (uint8_t)(v >> 8 * (n - 1 - i));
}

/* A block as the guest left it: what is no input is not zero. */
static void fill(uint8_t *block, const struct ask *a)
{
	memset(block, UNTOUCHED, GUEST_BYTES);
	put(block, 4, a->number);
	put(block + 4, 4, (uint32_t)a->index);
	put(block + 8, 2, 0);
	block[VERSION_IN_AT] = a->version;
	if (a->number == 0x80001000)
		put(block + HEADER, 8, 0x1122334455667788);
}

/* ---- what the spec says --------------------------------------------------------------------------------- */

static bool may(const struct ask *a, enum need need)
{
	bool own = a->index == -1;

	switch (need) {
	case NEED_ANYONE:
		return true;
	case NEED_OWN:
		return own || a->rights.all;
	case NEED_OWN_EXPANDED:
		return own || (a->rights.all && a->rights.expanded);
	case NEED_ALL:
		return a->rights.all;
	case NEED_EXPANDED:
		return a->rights.all && a->rights.expanded;
	default:
		return a->rights.lab;
	}
}

static int64_t checks(const struct ask *a, const struct golden *g)
{
	bool set = a->number == 0x80001000, known = g || (set && a->level < 8);
	uint32_t least = HEADER + (set ? 8 : g ? g->size : 0);

	if (a->size < HEADER || (known && a->size < least))
		return H_PARAMETER;
	if (a->number == 0x40 && a->index != -1)
		return H_NOT_AVAILABLE;
	if (a->index < -1 && !set)
		return H_PARAMETER;
	if (!known)
		return H_NOT_AVAILABLE;
	return may(a, set ? NEED_LAB : g->need) ? H_SUCCESS : H_AUTHORITY;
}

static void header(const struct ask *a, uint8_t *block, const uint64_t *first, uint32_t vp, uint32_t n, uint32_t detail,
		   uint32_t size)
{
	if (first)
		put(block + 4, 4, *first);
	put(block + 8, 2, first ? vp : 0);
	put(block + 10, 2, n);
	if (!a->level)
		return;
	put(block + 12, 4, detail);
	put(block + 16, 2, size);
	block[19] = a->level;
}

static int64_t records(const struct ask *a, const struct golden *g, uint8_t *block)
{
	static const uint64_t many[] = { 2, 5, 9 }, one[] = { 0 };
	const uint64_t *id = g->by == BY_ONE ? one : many, *first = NULL;
	uint32_t nid = g->by == BY_ONE ? 1 : 3, n = 0, at = HEADER, end = (uint32_t)a->size, detail = 0;

	for (uint32_t i = 0; i < nid && !detail; i++) {
		uint8_t record[512];
		uint32_t bytes = golden_bytes(g, a->level, id[i], record);

		if (a->index == -1 ? g->by != BY_ONE && id[i] != OWN : id[i] < (uint64_t)a->index)
			continue;
		if (at + bytes > end) {
			detail = 0x1b;
			break;
		}
		memcpy(block + at, record, bytes);
		first = n++ ? first : &id[i];
		at += bytes;
	}
	header(a, block, first, g->by == BY_VPS ? GOLDEN_VP : 0, n, detail, g->size);
	return detail ? n && (!a->level || a->partial_success) ? H_SUCCESS : H_PARAMETER : n ? H_SUCCESS : H_PARAMETER;
}

static void expect(const struct ask *a, struct reply *ret)
{
	const struct golden *g = golden_of(a->number, a->level, a->version);

	fill(ret->block, a);
	ret->rc = checks(a, g);
	if (ret->rc != H_SUCCESS)
		return;
	if (g)
		ret->rc = records(a, g, ret->block);
	else
		header(a, ret->block, NULL, 0, 0, 0, 8);
}

/* ---- what the service says ---------------------------------------------------------------------------------- */

static int64_t call(const struct papr_opts *o, struct guest *guest, uint64_t address, uint64_t size)
{
	const struct hv_mem mem = guest_mem(guest);
	uint64_t r[3] = { PAPR_GPCI, o->size_first ? size : address, o->size_first ? address : size };
	struct papr *p;

	assert_int_equal(papr_open(&p, o), 0);
	papr_call(p, (struct papr_caller){ .partition = OWN }, &mem, r);
	papr_close(p);
	assert_true(guest->reads <= 1 && guest->writes <= 1);
	return (int64_t)r[0];
}

static void ask(const struct ask *a, struct reply *ret)
{
	struct golden_machine m = { .rights = a->rights };
	const struct papr_opts o = {
		.level = a->level, .partial_success = a->partial_success, .ops = &golden_ops, .arg = &m
	};
	struct guest guest = { .p = { 0 } };

	fill(guest.p, a);
	ret->rc = call(&o, &guest, GUEST_BASE, a->size);
	memcpy(ret->block, guest.p, GUEST_BYTES);
	assert_int_equal(m.begins, m.ends);
	assert_int_equal(m.sets, a->number == 0x80001000 && ret->rc == H_SUCCESS);
	if (m.sets)
		assert_true(m.mmcrh == 0x1122334455667788);
}

static void same(const struct ask *a)
{
	struct reply want, got;

	expect(a, &want);
	ask(a, &got);
	if (got.rc == want.rc && !memcmp(got.block, want.block, GUEST_BYTES))
		return;
	for (uint32_t i = 0; i < GUEST_BYTES; i++)
		if (got.rc != want.rc || got.block[i] != want.block[i])
			fail_msg(
				"request %#x level %u version %u rights %d%d%d index %d size %llu%s: rc %lld, not %lld; byte %#x is %#x, not %#x",
				a->number, a->level, a->version, a->rights.all, a->rights.expanded, a->rights.lab,
				a->index, (unsigned long long)a->size, a->partial_success ? " partial" : "",
				(long long)got.rc, (long long)want.rc, i, got.block[i], want.block[i]);
}

static struct papr_rights rights_at(uint32_t i)
{
	return (struct papr_rights){ .all = i & 1, .expanded = i & 2, .lab = i & 4 };
}

/* Own, the first, exact, the next present, past the end, below -1, the least there is. */
static void all_indexes(struct ask *a)
{
	static const int32_t indexes[] = { -1, 0, 5, 3, 10, INT32_MAX, -2, INT32_MIN };

	for (uint32_t i = 0; i < COUNT(indexes); i++) {
		a->index = indexes[i];
		same(a);
	}
}

static void all_sizes(struct ask *a, uint32_t record, uint32_t whole)
{
	const uint64_t sizes[] = { 0,
				   HEADER - 1,
				   HEADER,
				   HEADER + record - 1,
				   HEADER + record,
				   HEADER + whole - 1,
				   HEADER + whole,
				   HEADER + 2 * whole,
				   HEADER + 3 * whole - 1,
				   HEADER + 3 * whole,
				   CAP,
				   CAP + 1,
				   GUEST_BYTES };

	for (uint32_t i = 0; i < COUNT(sizes); i++) {
		a->size = sizes[i];
		all_indexes(a);
	}
}

static void at_all_levels(uint32_t number, uint8_t version, uint32_t record, uint32_t whole)
{
	for (uint32_t l = 0; l < COUNT(levels); l++)
		for (uint32_t r = 0; r < 16; r++) {
			struct ask a = { .number = number,
					 .level = levels[l],
					 .version = version,
					 .rights = rights_at(r),
					 .partial_success = r & 8 };

			all_sizes(&a, record, whole);
		}
}

static void every_request_level_right_index_and_size_is_answered_as_the_spec_says(void **state)
{
	uint8_t record[512];

	(void)state;
	for (uint32_t i = 0; i < COUNT(goldens); i++)
		at_all_levels(goldens[i].number, goldens[i].from, goldens[i].size,
			      golden_bytes(&goldens[i], 8, 0, record));
	at_all_levels(0x80001000, 0, 8, 8);
	for (uint32_t i = 0; i < COUNT(unknown); i++)
		at_all_levels(unknown[i], 0, 16, 16);
}

/* ---- the golden records are the spec's ------------------------------------------------------------------------- */

/* Sizes of papr_gpci.txt, by counting its lists; 0x10's reserved end included. */
static void golden_records_have_the_sizes_of_the_lists(void **state)
{
	static const struct {
		uint32_t number;
		uint32_t from, size;
	} spec[] = {
		{ 0x10, 0, 8 + 4 + 2 + 1 + 1 + 4 * 5 + 2 + 10 },
		{ 0x20, 0, 6 * 8 },
		{ 0x30, 0, 3 * 8 },
		{ 0x40, 0, 1 + 15 },
		{ 0x50, 0, 4 + 12 + 6 * 8 },
		{ 0x60, 0, 4 + 12 + 8 * 8 },
		{ 0x80002000, 0, 4 + 4 + 8 * 8 },
	};
	uint8_t record[512];

	(void)state;
	for (uint32_t i = 0; i < COUNT(spec); i++) {
		const struct golden *g = golden_of(spec[i].number, 0, 0);

		assert_non_null(g);
		assert_int_equal(g->size, spec[i].size);
		assert_int_equal(golden_bytes(g, 0, 1, record), g->size);
		assert_int_equal(golden_bytes(g, 6, 1, record), g->size);
	}
	for (uint32_t i = 0; i < COUNT(goldens); i++)
		assert_int_equal(golden_bytes(&goldens[i], 8, 1, record),
				 goldens[i].size + (goldens[i].number == 0xb1 ? 56 : 0));
}

/* Capacities of 4096 bytes: 84 processors, 169 run counts, 63 or 50 chips, 50 or 42, 56 HPMC. */
static void a_full_block_holds_what_the_sizes_allow(void **state)
{
	static const struct {
		uint32_t number;
		uint8_t version;
		uint32_t n;
	} most[] = {
		{ 0x10, 0, 84 }, { 0x20, 0, 84 }, { 0x30, 0, 169 },      { 0x50, 0, 63 },  { 0x50, 8, 50 },
		{ 0x60, 0, 50 }, { 0x60, 8, 42 }, { 0x80002000, 0, 56 }, { 0x90, 0, 101 },
	};

	(void)state;
	for (uint32_t i = 0; i < COUNT(most); i++)
		assert_int_equal((CAP - HEADER) / gpci_request(most[i].number, 6, most[i].version)->size, most[i].n);
}

/* ---- whole blocks, letter by letter --------------------------------------------------------------------------- */

/* Question and reply as papr_gpci.txt lays them out, typed in by hand: of the own record (5; of the machine 0), and of
 * the processors and chips the one that it has. "..": what was there before. Level 0 is the text alone; at level 6 the
 * header says detail, size and version, too, and 0x10 and 0x40 have Linux's fields. */
#define REST "............" /* 0x14 to 0x19, half of what nobody writes */
static const struct {
	uint32_t number;
	uint8_t level, version;
	int64_t rc;
	const char *reply;
} blocks[] = {
	{ 0x10, 0, 0, H_SUCCESS,
	  "00000010 00000005 00000001 ........ ....00.. " REST REST
	  "1011121314151605 00000005 1c1d 1e 00 20212223 24252627 28292a2b 2c2d2e2f 30313233 3435 0000 00000000 00000000" },
	{ 0x10, 6, 8, H_SUCCESS,
	  "00000010 00000005 0000 0001 00000000 0030 08 06 " REST REST
	  "1011121314151605 00000005 1c1d 1e 00 20212223 24252627 28292a2b 2c2d2e2f 30313233 3435 0000 38393a3b 00000005" },
	{ 0x20, 0, 0, H_SUCCESS,
	  "00000020 00000005 00000001 ........ ....00.. " REST REST
	  "0000000000000005 18191a1b1c1d1e05 2021222324252627 28292a2b2c2d2e2f 3031323334353637 38393a3b3c3d3e3f" },
	{ 0x20, 6, 0, H_SUCCESS,
	  "00000020 00000005 0000 0001 00000000 0030 00 06 " REST REST
	  "0000000000000005 18191a1b1c1d1e05 2021222324252627 28292a2b2c2d2e2f 3031323334353637 38393a3b3c3d3e3f" },
	{ 0x30, 0, 0, H_SUCCESS,
	  "00000030 00000005 00000001 ........ ....00.. " REST REST
	  "0000000000000005 18191a1b1c1d1e05 2021222324252627" },
	{ 0x30, 6, 8, H_SUCCESS,
	  "00000030 00000005 0000 0001 00000000 0018 08 06 " REST REST
	  "0000000000000005 18191a1b1c1d1e05 2021222324252627" },
	{ 0x30, 8, 8, H_NOT_AVAILABLE, "00000030 ffffffff 0000 .... ........ .... 08 .. " REST REST },
	{ 0x40, 0, 0, H_SUCCESS,
	  "00000040 00000000 00000001 ........ ....00.. " REST REST "10 000000 00000000 00000000 00000000" },
	{ 0x40, 6, 0, H_SUCCESS,
	  "00000040 00000000 0000 0001 00000000 0010 00 06 " REST REST "10 11 0000 00000000 00000000 00000000" },
	{ 0x50, 0, 0, H_SUCCESS,
	  "00000050 00000005 00000001 ........ ....00.. " REST REST "00000005 00000000 00000000 00000000"
	  "2021222324252605 28292a2b2c2d2e2f 3031323334353637 38393a3b3c3d3e3f 4041424344454647 48494a4b4c4d4e4f" },
	{ 0x50, 6, 8, H_SUCCESS,
	  "00000050 00000005 0000 0001 00000000 0050 08 06 " REST REST "00000005 00000000 00000000 00000000"
	  "2021222324252605 28292a2b2c2d2e2f 3031323334353637 38393a3b3c3d3e3f"
	  "0000000000000000 0000000000000000 0000000000000000 0000000000000000" },
	{ 0x60, 0, 0, H_SUCCESS,
	  "00000060 00000005 00000001 ........ ....00.. " REST REST "00000005 00000000 00000000 00000000"
	  "2021222324252605 28292a2b2c2d2e2f 3031323334353637 38393a3b3c3d3e3f 4041424344454647 48494a4b4c4d4e4f"
	  "5051525354555657 58595a5b5c5d5e5f" },
	{ 0x60, 6, 8, H_SUCCESS,
	  "00000060 00000005 0000 0001 00000000 0060 08 06 " REST REST "00000005 00000000 00000000 00000000"
	  "2021222324252605 28292a2b2c2d2e2f 3031323334353637 38393a3b3c3d3e3f 4041424344454647"
	  "0000000000000000 0000000000000000 0000000000000000 0000000000000000 0000000000000000" },
	{ 0x80001000, 0, 0, H_SUCCESS, "80001000 ffffffff 00000000 ........ ....00.. " REST REST "1122334455667788" },
	{ 0x80001000, 6, 8, H_SUCCESS,
	  "80001000 ffffffff 0000 0000 00000000 0008 08 06 " REST REST "1122334455667788" },
	{ 0x80002000, 0, 0, H_SUCCESS,
	  "80002000 00000005 00000001 ........ ....00.. " REST REST "00000005 00000000"
	  "18191a1b1c1d1e05 2021222324252627 28292a2b2c2d2e2f 3031323334353637 38393a3b3c3d3e3f 4041424344454647"
	  "48494a4b4c4d4e4f 5051525354555657" },
	{ 0x80002000, 6, 8, H_SUCCESS,
	  "80002000 00000005 0000 0001 00000000 0048 08 06 " REST REST "00000005 00000000"
	  "18191a1b1c1d1e05 2021222324252627 28292a2b2c2d2e2f 3031323334353637 38393a3b3c3d3e3f 4041424344454647"
	  "48494a4b4c4d4e4f 5051525354555657" },
};

static void blocks_are_as_the_text_lays_them_out(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < COUNT(blocks); i++) {
		struct ask a = { .number = blocks[i].number,
				 .level = blocks[i].level,
				 .version = blocks[i].version,
				 .rights = rights_at(7),
				 .index = -1,
				 .size = CAP };
		uint32_t at = 0;
		struct reply r;

		ask(&a, &r);
		assert_int_equal(r.rc, blocks[i].rc);
		for (const char *s = blocks[i].reply; *s; s++) {
			uint32_t want = UNTOUCHED;

			if (*s == ' ')
				continue;
			if (*s != '.')
				want = (uint32_t)(hex_digit(s[0]) << 4 | hex_digit(s[1]));
			if (r.block[at] != want)
				fail_msg("request %#x level %u: byte %#x is %#x, not %#x", a.number, a.level, at,
					 r.block[at], want);
			at++;
			s++;
		}
		for (; at < GUEST_BYTES; at++)
			if (r.block[at] != UNTOUCHED)
				fail_msg("request %#x level %u: byte %#x was written", a.number, a.level, at);
	}
}

/* ---- versions -------------------------------------------------------------------------------- */

static void the_version_asked_for_is_an_upper_bound_and_never_refused(void **state)
{
	static const uint32_t numbers[] = { 0x10, 0x50, 0x60, 0xb1, 0x90 };

	(void)state;
	for (uint32_t v = 0; v < 256; v++)
		for (uint32_t i = 0; i < COUNT(numbers); i++)
			for (uint32_t l = 0; l < COUNT(levels); l++) {
				struct ask a = { .number = numbers[i],
						 .level = levels[l],
						 .version = (uint8_t)v,
						 .rights = rights_at(3),
						 .index = 0,
						 .size = CAP };

				same(&a);
			}
}

static void links_have_the_specs_layout_for_version_0_and_linuxs_from_3_on(void **state)
{
	struct ask a = { .number = 0x50, .level = 6, .rights = rights_at(1), .size = CAP };
	struct reply r;

	(void)state;
	ask(&a, &r);
	assert_int_equal(r.block[0x11], 64);
	assert_int_equal(r.block[HEADER + 64 + 3], 5);
	a.version = 8;
	ask(&a, &r);
	assert_int_equal(r.block[0x11], 80);
	assert_int_equal(r.block[HEADER + 80 + 3], 5);
}

/* ---- order of checks ------------------------------------------------------------------------- */

static int64_t rc_of(struct ask a)
{
	struct reply r;

	same(&a);
	ask(&a, &r);
	return r.rc;
}

static void a_bad_size_comes_before_an_unavailable_request_and_that_before_rights(void **state)
{
	(void)state;
	assert_int_equal(rc_of((struct ask){ .number = 0x30, .level = 8, .size = 31 }), H_PARAMETER);
	assert_int_equal(rc_of((struct ask){ .number = 0x30, .level = 8, .size = 32 }), H_NOT_AVAILABLE);
	assert_int_equal(rc_of((struct ask){ .number = 0x10, .level = 6, .size = 79 }), H_PARAMETER);
	assert_int_equal(rc_of((struct ask){ .number = 0x10, .level = 6, .size = 80 }), H_AUTHORITY);
	assert_int_equal(rc_of((struct ask){
				 .number = 0x10, .level = 6, .size = 80, .index = 9, .rights = { .all = true } }),
			 H_SUCCESS);
}

static void an_unprivileged_partition_cannot_tell_which_ids_there_are(void **state)
{
	(void)state;
	for (int32_t i = 0; i < 12; i++) {
		assert_int_equal(rc_of((struct ask){ .number = 0x10, .level = 6, .size = CAP, .index = i }),
				 H_AUTHORITY);
		assert_int_equal(rc_of((struct ask){ .number = 0x20, .level = 6, .size = CAP, .index = i }),
				 H_AUTHORITY);
	}
}

static void capabilities_of_others_are_not_available_before_the_index_is_judged(void **state)
{
	(void)state;
	assert_int_equal(rc_of((struct ask){ .number = 0x40, .level = 0, .size = 48, .index = -2 }), H_NOT_AVAILABLE);
	assert_int_equal(rc_of((struct ask){ .number = 0x40, .level = 6, .size = 48, .index = OWN }), H_NOT_AVAILABLE);
	assert_int_equal(rc_of((struct ask){ .number = 0x40, .level = 6, .size = 47, .index = -2 }), H_PARAMETER);
	assert_int_equal(rc_of((struct ask){ .number = 0x40, .level = 6, .size = 48, .index = -1 }), H_SUCCESS);
}

static void an_unknown_request_is_never_a_bad_parameter(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < COUNT(unknown); i++)
		assert_int_equal(rc_of((struct ask){ .number = unknown[i], .level = 6, .size = 32 }), H_NOT_AVAILABLE);
}

/* ---- the block ------------------------------------------------------------------------------- */

static void a_block_that_is_not_all_memory_or_wraps_is_h_privilege_and_nothing_is_written(void **state)
{
	static const struct {
		uint64_t address, size;
	} bad[] = {
		{ 0, 80 },
		{ GUEST_BASE - 1, 80 },
		{ GUEST_BASE + GUEST_BYTES - 79, 80 },
		{ GUEST_BASE, GUEST_BYTES + 1 },
		{ GUEST_BASE, UINT64_MAX },
		{ UINT64_MAX, 80 },
		{ UINT64_MAX - 40, 80 },
		{ UINT64_MAX, UINT64_MAX },
		{ GUEST_BASE + GUEST_BYTES, 31 },
		{ GUEST_BASE + 16, UINT64_MAX - GUEST_BASE },
	};
	struct ask a = { .number = 0x10, .level = 6 };
	struct golden_machine m = { .rights = { .all = true } };
	const struct papr_opts o = { .level = 6, .ops = &golden_ops, .arg = &m };
	static struct guest guest, before;

	(void)state;
	for (uint32_t i = 0; i < COUNT(bad); i++) {
		guest = (struct guest){ .reads = 0 };
		fill(guest.p, &a);
		before = guest;
		assert_int_equal(call(&o, &guest, bad[i].address, bad[i].size), H_PRIVILEGE);
		assert_memory_equal(guest.p, before.p, GUEST_BYTES);
	}
	assert_int_equal(m.asked, 0);
}

static void a_block_needs_no_alignment_and_may_end_with_memory(void **state)
{
	struct ask a = { .number = 0x20, .level = 6, .index = -1, .size = 80 };
	struct golden_machine m = { .rights = { .all = false } };
	const struct papr_opts o = { .level = 6, .ops = &golden_ops, .arg = &m };
	struct reply want;
	static struct guest guest;

	(void)state;
	expect(&a, &want);
	for (uint32_t at = GUEST_BYTES - 80 - 9; at <= GUEST_BYTES - 80; at++) {
		static uint8_t block[GUEST_BYTES];

		fill(block, &a);
		guest = (struct guest){ .reads = 0 };
		memcpy(guest.p + at, block, 80);
		assert_int_equal(call(&o, &guest, GUEST_BASE + at, 80), H_SUCCESS);
		assert_memory_equal(guest.p + at, want.block, 80);
	}
}

/* Memory that goes away between the look and the write. */
static void memory_that_vanishes_is_h_privilege_and_mmcrh_stays(void **state)
{
	struct ask a = { .number = 0x80001000, .level = 6 };
	struct golden_machine m = { .rights = { .lab = true } };
	const struct papr_opts o = { .level = 6, .ops = &golden_ops, .arg = &m };
	static struct guest guest = { .vanishes = true };

	(void)state;
	fill(guest.p, &a);
	assert_int_equal(call(&o, &guest, GUEST_BASE, 40), H_PRIVILEGE);
	assert_int_equal(m.sets, 0);
}

/* The guest's other processors write while the call is served: whatever they write, the answer is to what was there
 * first. */
struct racing {
	struct guest *guest;
	uint32_t looks;
};

static void scribble(struct guest *g)
{
	memset(g->p, 0xff, HEADER + 8);
}

static int racing_next(void *arg, struct papr_caller who, const struct gpci_request *r, bool self, uint64_t from,
		       uint64_t secondary, struct gpci_values *v)
{
	struct racing *x = arg;
	struct golden_machine m = { .rights = { .all = true } };

	x->looks++;
	scribble(x->guest);
	return golden_next(&m, who, r, self, from, secondary, v);
}

static struct papr_rights racing_rights(void *arg, uint16_t partition)
{
	(void)partition;
	scribble(((struct racing *)arg)->guest);
	return (struct papr_rights){ .all = true, .lab = true };
}

static uint64_t raced_mmcrh;
static void racing_set(void *arg, uint64_t value)
{
	(void)arg;
	raced_mmcrh = value;
}

static void a_block_that_changes_meanwhile_fools_only_who_changes_it(void **state)
{
	static const struct papr_machine_ops ops = { .next = racing_next,
						     .rights = racing_rights,
						     .set_mmcrh = racing_set };
	struct ask a = { .number = 0x20, .level = 6, .index = 3, .size = CAP, .rights = { .all = true } };
	static struct guest guest;
	struct racing x = { .guest = &guest };
	const struct papr_opts o = { .level = 6, .ops = &ops, .arg = &x };
	struct reply want;

	(void)state;
	fill(guest.p, &a);
	expect(&a, &want);
	assert_int_equal(call(&o, &guest, GUEST_BASE, CAP), want.rc);
	assert_memory_equal(guest.p, want.block, HEADER + 2 * 48);
	assert_int_equal(x.looks, 3);
	a.number = 0x80001000;
	guest.reads = guest.writes = 0;
	fill(guest.p, &a);
	assert_int_equal(call(&o, &guest, GUEST_BASE, CAP), H_SUCCESS);
	assert_true(raced_mmcrh == 0x1122334455667788);
}

static void bytes_behind_the_last_record_and_reserved_ones_at_level_0_stay(void **state)
{
	struct ask a = { .number = 0x20, .level = 0, .index = 0, .size = GUEST_BYTES, .rights = { .all = true } };
	struct reply r;

	(void)state;
	ask(&a, &r);
	assert_int_equal(r.rc, H_SUCCESS);
	for (uint32_t i = 0x0c; i < HEADER; i++)
		assert_int_equal(r.block[i], i == VERSION_IN_AT ? 0 : UNTOUCHED);
	for (uint32_t i = HEADER + 3 * 48; i < GUEST_BYTES; i++)
		assert_int_equal(r.block[i], UNTOUCHED);
}

/* ---- options of the service ------------------------------------------------------------------ */

static void other_tokens_and_an_absent_service_are_h_function(void **state)
{
	static const uint64_t tokens[] = { 0, 0xf000, 0xf07c, 0xf084, 0xf0800000, UINT64_MAX };
	struct golden_machine m = { .rights = { .all = true } };
	struct papr_opts o = { .level = 6, .ops = &golden_ops, .arg = &m };
	static struct guest guest;
	const struct hv_mem mem = guest_mem(&guest);
	struct papr *p;

	(void)state;
	assert_int_equal(papr_open(&p, &o), 0);
	for (uint32_t i = 0; i < COUNT(tokens); i++) {
		uint64_t r[3] = { tokens[i], GUEST_BASE, 80 };

		papr_call(p, (struct papr_caller){ .partition = OWN }, &mem, r);
		assert_int_equal((int64_t)r[0], H_FUNCTION);
		assert_true(r[1] == GUEST_BASE && r[2] == 80);
	}
	papr_close(p);
	o.absent = true;
	assert_int_equal(call(&o, &guest, GUEST_BASE, 80), H_FUNCTION);
	assert_int_equal(call(&o, &guest, 0, 0), H_FUNCTION);
	assert_int_equal(guest.reads, 0);
}

static void the_order_of_arguments_can_be_that_of_the_parameter_list(void **state)
{
	struct ask a = { .number = 0x20, .level = 6, .index = 0, .size = 512, .rights = { .all = true } };
	struct golden_machine m = { .rights = a.rights };
	const struct papr_opts o = { .level = 6, .size_first = true, .ops = &golden_ops, .arg = &m };
	static struct guest guest;
	struct reply want;

	(void)state;
	fill(guest.p, &a);
	expect(&a, &want);
	assert_int_equal(call(&o, &guest, GUEST_BASE, 512), H_SUCCESS);
	assert_memory_equal(guest.p, want.block, GUEST_BYTES);
}

static void only_the_bytes_below_the_cap_are_used(void **state)
{
	struct golden_machine m = { .rights = { .all = true } };
	const struct papr_opts o = { .level = 6, .most = HEADER + 48 + 47, .ops = &golden_ops, .arg = &m };
	struct ask a = { .number = 0x20, .level = 6 },
		   small = { .number = 0x20, .level = 6, .size = o.most, .rights = m.rights };
	static struct guest guest;
	struct reply want;

	(void)state;
	fill(guest.p, &a);
	expect(&small, &want);
	assert_int_equal(call(&o, &guest, GUEST_BASE, CAP), H_PARAMETER);
	assert_memory_equal(guest.p, want.block, GUEST_BYTES);
}

static void a_failed_collection_is_h_hardware_and_nothing_is_written(void **state)
{
	struct golden_machine m = { .rights = { .all = true }, .broken = true };
	const struct papr_opts o = { .level = 6, .ops = &golden_ops, .arg = &m };
	struct ask a = { .number = 0x10, .level = 6 };
	static struct guest guest, before;

	(void)state;
	fill(guest.p, &a);
	before = guest;
	assert_int_equal(call(&o, &guest, GUEST_BASE, CAP), H_HARDWARE);
	assert_memory_equal(guest.p, before.p, GUEST_BYTES);
	assert_int_equal(guest.writes, 0);
	assert_int_equal(m.ends, 1);
}

static void options_that_make_no_service_are_refused(void **state)
{
	struct golden_machine m = { .broken = false };
	struct papr_opts o = { .ops = &golden_ops, .arg = &m };
	struct papr *p = NULL;

	(void)state;
	for (uint32_t level = 0; level < 256; level++) {
		bool is = level == 0 || level == 3 || level == 5 || level == 6 || level == 8;

		o.level = (uint8_t)level;
		assert_int_equal(papr_open(&p, &o), is ? 0 : -TALLY_EINVAL);
		if (is)
			papr_close(p);
	}
	o = (struct papr_opts){ .ops = &golden_ops, .most = 31 };
	assert_int_equal(papr_open(&p, &o), -TALLY_EINVAL);
	o = (struct papr_opts){ .level = 6 };
	assert_int_equal(papr_open(&p, &o), -TALLY_EINVAL);
	papr_close(NULL);
}

static void no_memory_is_told(void **state)
{
	const struct papr_opts o = { .ops = &golden_ops };
	struct papr *p;

	(void)state;
	mem_fail_at(1);
	assert_int_equal(papr_open(&p, &o), -TALLY_ENOMEM);
	mem_fail_at(0);
	assert_int_equal(mem_live(), 0);
}

/* ---- continuation ---------------------------------------------------------------------------- */

/* Linux's way: behind the id of the last record; the virtual processors of 0xa0 by (partition, last + 1). */
static void the_second_index_continues_inside_a_partition(void **state)
{
	static const struct {
		uint16_t secondary;
		uint8_t first;
	} from[] = { { 0, 5 }, { 7, 5 }, { 8, 9 }, { 0xffff, 9 } };
	struct golden_machine m = { .rights = { .all = true, .expanded = true } };
	const struct papr_opts o = { .level = 6, .ops = &golden_ops, .arg = &m };

	(void)state;
	for (uint32_t i = 0; i < COUNT(from); i++) {
		struct ask a = { .number = 0xa0, .level = 6, .index = 5 };
		static struct guest guest;

		guest = (struct guest){ .reads = 0 };
		fill(guest.p, &a);
		put(guest.p + 8, 2, from[i].secondary);
		assert_int_equal(call(&o, &guest, GUEST_BASE, CAP), H_SUCCESS);
		assert_int_equal(guest.p[7], from[i].first);
		assert_int_equal(guest.p[9], GOLDEN_VP);
		assert_int_equal(guest.p[11], from[i].first == 5 ? 2 : 1);
		assert_int_equal(guest.p[HEADER + 1], from[i].first);
		assert_int_equal(guest.p[HEADER + 3], GOLDEN_VP);
	}
}

/* ---- rights ---------------------------------------------------------------------------------- */

static void rights_are_words_and_each_adds_one(void **state)
{
	static const struct {
		const char *text;
		int rc;
		struct papr_rights is;
	} row[] = {
		{ "none", 0, { 0 } },
		{ "all", 0, { .all = true } },
		{ "lab+expanded", 0, { .lab = true, .expanded = true } },
		{ "all,lab", 0, { .all = true, .lab = true } },
		{ "none+all", 0, { .all = true } },
		{ "", -TALLY_EINVAL, { .all = true } },
		{ "all+", -TALLY_EINVAL, { .all = true } },
		{ "all+root", -TALLY_EINVAL, { .all = true } },
		{ "al", -TALLY_EINVAL, { .all = true } },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(row); i++) {
		struct papr_rights r = { .all = true };
		struct err e = { 0 };

		if (papr_rights_parse(&r, row[i].text, &e) != row[i].rc || memcmp(&r, &row[i].is, sizeof(r)))
			fail_msg("'%s': %s", row[i].text, e.text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_request_level_right_index_and_size_is_answered_as_the_spec_says),
		cmocka_unit_test(golden_records_have_the_sizes_of_the_lists),
		cmocka_unit_test(a_full_block_holds_what_the_sizes_allow),
		cmocka_unit_test(blocks_are_as_the_text_lays_them_out),
		cmocka_unit_test(the_version_asked_for_is_an_upper_bound_and_never_refused),
		cmocka_unit_test(links_have_the_specs_layout_for_version_0_and_linuxs_from_3_on),
		cmocka_unit_test(a_bad_size_comes_before_an_unavailable_request_and_that_before_rights),
		cmocka_unit_test(an_unprivileged_partition_cannot_tell_which_ids_there_are),
		cmocka_unit_test(capabilities_of_others_are_not_available_before_the_index_is_judged),
		cmocka_unit_test(an_unknown_request_is_never_a_bad_parameter),
		cmocka_unit_test(a_block_that_is_not_all_memory_or_wraps_is_h_privilege_and_nothing_is_written),
		cmocka_unit_test(a_block_needs_no_alignment_and_may_end_with_memory),
		cmocka_unit_test(memory_that_vanishes_is_h_privilege_and_mmcrh_stays),
		cmocka_unit_test(a_block_that_changes_meanwhile_fools_only_who_changes_it),
		cmocka_unit_test(bytes_behind_the_last_record_and_reserved_ones_at_level_0_stay),
		cmocka_unit_test(other_tokens_and_an_absent_service_are_h_function),
		cmocka_unit_test(the_order_of_arguments_can_be_that_of_the_parameter_list),
		cmocka_unit_test(only_the_bytes_below_the_cap_are_used),
		cmocka_unit_test(a_failed_collection_is_h_hardware_and_nothing_is_written),
		cmocka_unit_test(options_that_make_no_service_are_refused),
		cmocka_unit_test(no_memory_is_told),
		cmocka_unit_test(the_second_index_continues_inside_a_partition),
		cmocka_unit_test(rights_are_words_and_each_adds_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
