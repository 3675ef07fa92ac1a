/*
 * sun4v_oracle_test.c: what the genuine OpenSPARC T1 hypervisor was seen to answer, call by call.
 *
 * The rows were observed on a debug build of it in an emulator, with a guest whose memory is 2 GB at 0x80000000.
 * Profile `opensparc` gives the same in all of %o0 to %o5; profile `spec` differs in the rows that say so, and in no
 * other.
 */
#include "hv/sun4v_test_int.h"

enum { FAST = HV_FAST_TRAP, CORE = HV_CORE_TRAP };
enum differs { SAME, ALIGN, KEPT, MINOR, T1_CALLS, TEST_GROUP }; /* what of the profiles a row shows */
struct row {
	unsigned trap;
	uint64_t function, in[3], status, o1, o2;
	enum differs spec;
	uint64_t spec_status, spec_o1, spec_o2;
};

/* Rows that the observation had between those it lists are marked: only their effect was noted. */
#define BETWEEN
static const struct row before_rights[] = {
	{ FAST, 0x103, { 0, 0, 0 }, 7, 0, 0, SAME, 0, 0, 0 },       /* group 0x200 not negotiated */
	{ CORE, 3, { 0x200, 0, 0 }, 0, 0, 0, SAME, 0, 0, 0 },       /* never negotiated, known group */
	{ CORE, 0, { 0x205, 1, 1 }, 6, 1, 1, SAME, 0, 0, 0 },       /* unknown on T1 */
	{ CORE, 0, { 0x200, 2, 0 }, 0xd, 2, 0, SAME, 0, 0, 0 },     /* unknown major */
	{ CORE, 0, { 0x200, 1, 5 }, 0, 0, 0, MINOR, 0, 0, 5 },      /* clamped */
	{ FAST, 0x103, { 0x77, 0x88, 0 }, 0, 0, 0, SAME, 0, 0, 0 }, /* no buffer */
	{ FAST, 0x102, { 0x81000040, 0xaa, 0 }, 0, 0, 0, SAME, 0, 0, 0 },
	{ FAST, 0x103, { 0, 0, 0 }, 0, 0x81000040, 0, SAME, 0, 0, 0 },
	{ FAST, 0x102, { 0x81000048, 0xaa, 0 }, 0, 0x81000040, 0, ALIGN, 8, 0xaa, 0 },
	{ FAST, 0x102, { 0x81000044, 0xaa, 0 }, 8, 0xaa, 0, SAME, 0, 0, 0 },
	{ FAST, 0x103, { 0, 0, 0 }, 0, 0x81000048, 0, KEPT, 0, 0, 0 },
	{ FAST, 0x102, { 0x1000, 0xaa, 0 }, 2, 0xaa, 0, SAME, 0, 0, 0 },           /* outside memory */
	{ FAST, 0x102, { 0xfffffe00, 0xaa, 0 }, 0, 0x81000048, 0, KEPT, 0, 0, 0 }, /* end - 0x200 */
	{ FAST, 0x102, { 0x100000000, 0xaa, 0 }, 2, 0xaa, 0, SAME, 0, 0, 0 },      /* end */
	{ FAST, 0x103, { 0, 0, 0 }, 0, 0xfffffe00, 0, KEPT, 0, 0, 0 },
	{ FAST, 0x102, { 0x10000000000, 0xaa, 0 }, 2, 0xaa, 0, SAME, 0, 0, 0 }, /* 1 << 40 */
	{ FAST, 0x102, { 0x7fffffc0, 0xaa, 0 }, 2, 0xaa, 0, SAME, 0, 0, 0 },    /* below the base */
	{ FAST, 0x102, { 0x81000000, 0xaa, 0 }, 0, 0xfffffe00, 0, KEPT, 0, 0, 0 },
	BETWEEN{ FAST, 0x102, { 0, 0, 0 }, 0, 0x81000000, 0, SAME, 0, 0, 0 },
	{ FAST, 0x103, { 0, 0, 0 }, 0, 0, 0, SAME, 0, 0, 0 },                /* after conf(0) */
	{ FAST, 0x100, { 0, 0xaa, 0 }, 0xa, 0xaa, 0, T1_CALLS, 7, 0xaa, 0 }, /* perfctraccess 0 from here */
	{ FAST, 0x101, { 0x63, 0xaa, 0 }, 0xa, 0xaa, 0, T1_CALLS, 7, 0xaa, 0 },
	{ FAST, 0x104, { 0, 0xaa, 0 }, 7, 0xaa, 0, SAME, 0, 0, 0 },
	{ FAST, 0x106, { 2, 0xaa, 0 }, 7, 0xaa, 0, SAME, 0, 0, 0 },
};
static const struct row with_rights[] = {
	/* perfctraccess 1 */
	BETWEEN{ CORE, 0, { 0x200, 1, 0 }, 0, 0, 0, SAME, 0, 0, 0 },
	{ FAST, 0x100, { 0x63, 0xaa, 0 }, 6, 0xaa, 0, T1_CALLS, 7, 0xaa, 0 },
	{ FAST, 0x100, { 0xa, 0xaa, 0 }, 6, 0xaa, 0, T1_CALLS, 7, 0xaa, 0 },
	{ FAST, 0x101, { 0x63, 0xaa, 0 }, 6, 0xaa, 0, T1_CALLS, 7, 0xaa, 0 },
	{ FAST, 0x104, { 0, 0xaa, 0 }, 7, 0xaa, 0, SAME, 0, 0, 0 },
	{ FAST, 0x106, { 2, 0xaa, 0 }, 7, 0xaa, 0, SAME, 0, 0, 0 },
	{ CORE, 0, { 0x200, 0, 0 }, 0, 0, 0, SAME, 0, 0, 0 }, /* disables the group */
	{ FAST, 0x103, { 0, 0, 0 }, 7, 0, 0, SAME, 0, 0, 0 },
	{ CORE, 3, { 0x200, 0, 0 }, 0, 0, 0, SAME, 0, 0, 0 },
	{ CORE, 0, { 0x200, 1, 0 }, 0, 0, 0, SAME, 0, 0, 0 }, /* enables it again */
	BETWEEN{ FAST, 0x102, { 0x81000040, 0, 0 }, 0, 0, 0, SAME, 0, 0, 0 },
	{ CORE, 0, { 0x200, 0, 0 }, 0, 0, 0, SAME, 0, 0, 0 },
	{ CORE, 0, { 0x200, 1, 0 }, 0, 0, 0, SAME, 0, 0, 0 },
	{ FAST, 0x103, { 0, 0, 0 }, 0, 0x81000040, 0, SAME, 0, 0, 0 }, /* the buffer survived */
	{ CORE, 0, { 0, 1, 9 }, 0, 0, 0, MINOR, 0, 0, 9 },             /* marker of errata */
};

static uint32_t replay(struct rig *r, uint8_t profile, const struct row *row, size_t rows)
{
	uint32_t different = 0;

	for (size_t i = 0; i < rows; i++, row++) {
		const bool own = profile == SUN4V_PROFILE_SPEC && row->spec != SAME;
		uint64_t o[6];

		(void)trap(r->v, row->trap, row->function, row->in[0], row->in[1], row->in[2], o);
		assert_int_equal(o[0], own ? row->spec_status : row->status);
		assert_int_equal(o[1], own ? row->spec_o1 : row->o1);
		assert_int_equal(o[2], own ? row->spec_o2 : row->o2);
		different += o[0] != row->status || o[1] != row->o1 || o[2] != row->o2;
	}
	return different;
}

static uint32_t marked(const struct row *row, size_t rows)
{
	uint32_t n = 0;

	for (size_t i = 0; i < rows; i++)
		n += row[i].spec != SAME;
	return n;
}

static void all_calls_answer_as_the_genuine_one_or_as_the_profile_says(void **state)
{
	static struct rig r;

	(void)state;
	for (uint8_t profile = 0; profile < 2; profile++) {
		const uint32_t all = profile == SUN4V_PROFILE_SPEC;

		rig_open(&r, "niagara", 1, profile, (struct sun4v_rights){ 0 }, 0);
		assert_int_equal(replay(&r, profile, before_rights, COUNT(before_rights)),
				 all * marked(before_rights, COUNT(before_rights)));
		rig_close(&r);
		rig_open(&r, "niagara", 1, profile,
			 (struct sun4v_rights){ .perf = true, .strand = true, .global = true }, 0);
		assert_int_equal(replay(&r, profile, with_rights, COUNT(with_rights)),
				 all * marked(with_rights, COUNT(with_rights)));
		rig_close(&r);
	}
}

/* ---- version negotiation: the debug build's test group ------------------------------------------------------ */

#define NO 0 /* EBADTRAP, %o1 as it was */
static const struct {
	uint64_t major, minor, granted;
	uint64_t answer[4];
	uint64_t got_major, got_minor;
} versions[] = {
	{ 0, 0, 0, { NO, NO, NO, NO }, 0, 0 },     { 1, 9, 2, { 0x10, 0x11, 0x12, NO }, 1, 2 },
	{ 1, 1, 1, { 0x10, 0x11, NO, NO }, 1, 1 }, { 1, 0, 0, { 0x10, NO, NO, NO }, 1, 0 },
	{ 2, 1, 1, { 0x20, NO, NO, 0x21 }, 2, 1 }, { 2, 0xffffffffffff, 2, { 0x20, 0x22, NO, 0x21 }, 2, 2 },
	{ 3, 0, 0, { NO, NO, NO, 0x30 }, 3, 0 },   { 1, 0, 0, { 0x10, NO, NO, NO }, 1, 0 },
};

static void check_functions(struct rig *r, const uint64_t answer[4])
{
	for (uint64_t f = 0; f < 4; f++) {
		uint64_t o[6];

		assert_int_equal(trap(r->v, FAST, 0xe0 + f, 0, 0, 0, o), answer[f] == NO ? HV_EBADTRAP : HV_EOK);
		assert_int_equal(o[1], answer[f]);
	}
}

static void versions_of_the_test_group_answer_as_the_genuine_one(void **state)
{
	static struct rig r;

	(void)state;
	rig_open(&r, "niagara", 1, SUN4V_PROFILE_OPENSPARC, all_rights, 0);
	for (size_t i = 0; i < COUNT(versions); i++) {
		uint64_t o[6];

		assert_int_equal(trap(r.v, CORE, 0, 0x400, versions[i].major, versions[i].minor, o), HV_EOK);
		assert_int_equal(o[1], versions[i].granted);
		assert_int_equal(o[2], versions[i].granted);
		check_functions(&r, versions[i].answer);
		assert_int_equal(trap(r.v, CORE, 3, 0x400, 0, 0, o), HV_EOK);
		assert_int_equal(o[1], versions[i].got_major);
		assert_int_equal(o[2], versions[i].got_minor);
	}
	rig_close(&r);
}

static void profile_spec_has_no_test_group(void **state)
{
	static struct rig r;
	uint64_t o[6];

	(void)state;
	rig_open(&r, "niagara", 1, SUN4V_PROFILE_SPEC, all_rights, 0);
	assert_int_equal(set_version(r.v, 0x400, 1, 0), HV_EINVAL);
	assert_int_equal(trap(r.v, CORE, 3, 0x400, 0, 0, o), HV_EINVAL);
	check_functions(&r, (uint64_t[4]){ NO, NO, NO, NO });
	rig_close(&r);
}

/* ---- statistics ------------------------------------------------------------------------------------------------- */

/* What the guest did, what the genuine hypervisor's buffer held then; hits and ticks since the step before. */
struct step {
	bool data, context;
	uint8_t size;
	uint64_t hits, ticks, at, total_hits, total_ticks;
};
static const struct step counted[] = {
	{ true, false, MMUSTAT_8K, 1, 6, 0x100, 1, 6 },   /* first load */
	{ true, false, MMUSTAT_8K, 1, 6, 0x100, 2, 0xc }, /* the same page after demap_page */
	{ true, false, MMUSTAT_64K, 1, 5, 0x110, 1, 5 },     { true, false, MMUSTAT_4M, 1, 6, 0x130, 1, 6 },
	{ true, true, MMUSTAT_8K, 1, 7, 0x180, 1, 7 },       /* secondary context 5 */
	{ true, false, MMUSTAT_8K, 2, 0xc, 0x100, 4, 0x18 }, /* a store to a code page */
	{ false, false, MMUSTAT_8K, 1, 6, 0, 1, 6 },         /* instruction fetch */
};
static const struct step pages[] = {
	/* each from a buffer of zeros */
	{ true, false, MMUSTAT_8K, 29, 0xab, 0x100, 29, 0xab },       /* 32 pages, ten times */
	{ true, false, MMUSTAT_8K, 968, 0x164f, 0x100, 968, 0x164f }, /* 100 pages, ten times */
};

static uint64_t held(const struct rig *r, uint64_t at)
{
	return __builtin_bswap64(r->memory[at / 8]);
}

static uint64_t all_of(const struct rig *r)
{
	uint64_t sum = 0;

	for (uint64_t at = 0; at < MMUSTAT_BYTES; at += 8)
		sum += held(r, at);
	return sum;
}

/* Hits of five ticks and more; the last one takes what is left. */
static void take(struct rig *r, const struct step *s)
{
	const uint64_t each = s->ticks / s->hits;

	for (uint64_t i = 1; i < s->hits; i++)
		sun4v_tsb_hit(r->v, s->data, s->context, s->size, each);
	sun4v_tsb_hit(r->v, s->data, s->context, s->size, s->ticks - each * (s->hits - 1));
	assert_int_equal(held(r, s->at), s->total_hits);
	assert_int_equal(held(r, s->at + 8), s->total_ticks);
}

static void buffers_hold_what_the_genuine_ones_held(void **state)
{
	static struct rig r;
	const struct step one = { true, false, MMUSTAT_8K, 1, 6, 0x100, 1, 6 };
	uint64_t sum = 0, old;

	(void)state;
	for (uint8_t profile = 0; profile < 2; profile++, sum = 0) {
		rig_open(&r, "niagara", 1, profile, (struct sun4v_rights){ 0 }, 0);
		assert_int_equal(set_version(r.v, 0x200, 1, 0), HV_EOK);
		assert_int_equal(fast(r.v, SUN4V_MMUSTAT_CONF, 0x80240000, 0, &old), HV_EOK);
		assert_true(old == 0 && all_of(&r) == 0);
		for (size_t i = 0; i < COUNT(counted); i++) {
			take(&r, &counted[i]);
			sum += counted[i].hits + counted[i].ticks;
			assert_int_equal(all_of(&r), sum); /* slots not named are 0 */
		}
		for (size_t i = 0; i < COUNT(pages); i++) {
			memset(r.memory, 0, MMUSTAT_BYTES);
			take(&r, &pages[i]);
			assert_int_equal(all_of(&r), pages[i].hits + pages[i].ticks);
		}
		memset(r.memory, 0, MMUSTAT_BYTES);
		assert_int_equal(fast(r.v, SUN4V_MMUSTAT_CONF, 0x80240004, 0, NULL), HV_EBADALIGN);
		if (profile == SUN4V_PROFILE_OPENSPARC)
			take(&r, &one); /* it still counts */
		else
			sun4v_tsb_hit(r.v, one.data, one.context, one.size, one.ticks);
		assert_int_equal(all_of(&r), profile == SUN4V_PROFILE_OPENSPARC ? 7 : 0);
		assert_int_equal(fast(r.v, SUN4V_MMUSTAT_CONF, 0, 0, &old), HV_EOK);
		assert_int_equal(old, profile == SUN4V_PROFILE_OPENSPARC ? 0x80240000 : 0);
		rig_close(&r);
	}
}

/* ---- the profiles differ in nothing else --------------------------------------------------------------------- */

static uint64_t next(uint64_t *rng)
{
	*rng ^= *rng << 13;
	*rng ^= *rng >> 7;
	return *rng ^= *rng << 17;
}

/* A call at random, mostly one that means something. */
static unsigned random_call(uint64_t *rng, uint64_t o[6])
{
	static const uint64_t functions[] = { 0xe0,  0xe1,  0xe2,  0xe3,  0x100, 0x101, 0x102,
					      0x102, 0x103, 0x104, 0x106, 0x107, 0x108 };
	static const uint64_t groups[] = { 0, 1, 2, 0x200, 0x202, 0x205, 0x400 };
	const uint64_t v = next(rng);
	const unsigned trap = v % 8 < 5 ? FAST : CORE;

	for (uint32_t i = 0; i < 6; i++)
		o[i] = next(rng) >> (next(rng) % 64);
	o[5] = trap == FAST ? functions[v / 8 % COUNT(functions)] : v / 8 % 5;
	if (trap == CORE) {
		o[0] = groups[v / 64 % COUNT(groups)];
		o[1] %= 5;
		o[2] %= 4;
	} else if (o[5] == 0x102) {
		o[0] = v / 64 % 4 ? RAM_BASE + v / 256 % 64 * (v / 16384 % 3 ? 64 : 4) : v / 256 % 5 * 8;
	} else {
		o[0] %= 100;
	}
	return trap;
}

enum { ACCESS_FIRST, MINOR_TWICE, VERSION_TEST, OWN_REGISTERS, ALIGNMENT, OLD_BUFFER, DOCUMENTED };

static bool is_result(const uint64_t o[6], const uint64_t in[6], uint64_t status, uint64_t o1)
{
	return o[0] == status && o[1] == o1 && !memcmp(o + 2, in + 2, 4 * sizeof(*o));
}

/* Which documented difference made these two of one call; DOCUMENTED: none. buffer: what the genuine one has. */
static uint32_t difference(unsigned n, const uint64_t in[6], const uint64_t spec[6], const uint64_t genuine[6],
			   bool perf, uint64_t buffer)
{
	const uint64_t f = in[5];

	if (n == FAST && (f == 0x106 || f == 0x107))
		return !perf &&
				       (is_result(spec, in, HV_EINVAL, in[1]) ||
					is_result(spec, in, HV_ENOTSUPPORTED, in[1])) &&
				       is_result(genuine, in, HV_ENOACCESS, in[1]) ?
			       ACCESS_FIRST :
			       DOCUMENTED;
	if (n == CORE && f <= 3 && in[0] == 0x400)
		return is_result(spec, in, HV_EINVAL, in[1]) && genuine[0] != HV_EINVAL ? VERSION_TEST : DOCUMENTED;
	if (n == CORE && f == 0)
		return genuine[0] == HV_EOK && genuine[2] == genuine[1] && is_result(spec, in, HV_EOK, genuine[1]) ?
			       MINOR_TWICE :
			       DOCUMENTED;
	if (n == FAST && f >= 0xe0 && f <= 0xe3)
		return is_result(spec, in, HV_EBADTRAP, in[1]) && genuine[0] == HV_EOK ? VERSION_TEST : DOCUMENTED;
	if (n == FAST && (f == 0x100 || f == 0x101))
		return is_result(spec, in, HV_EBADTRAP, in[1]) && is_result(genuine, in,
									    !perf      ? HV_ENOACCESS :
									    in[0] < 10 ? HV_ENOTSUPPORTED :
											 HV_EINVAL,
									    in[1]) ?
			       OWN_REGISTERS :
			       DOCUMENTED;
	if (n == FAST && f == 0x102 && in[0] % 64)
		return in[0] % 8 == 0 && is_result(spec, in, HV_EBADALIGN, in[1]) && genuine[0] != HV_EBADALIGN ?
			       ALIGNMENT :
			       DOCUMENTED;
	if (n == FAST && (f == 0x102 || f == 0x103)) /* after an error: none any more, or the one there was */
		return is_result(spec, in, HV_EOK, 0) && is_result(genuine, in, HV_EOK, buffer) ? OLD_BUFFER :
												  DOCUMENTED;
	return DOCUMENTED;
}

static void random_calls(const char *machine, uint32_t rights, uint64_t *rng, uint64_t seen[DOCUMENTED])
{
	const struct sun4v_rights r = {
		.perf = rights & 1, .strand = rights & 2, .global = rights & 4, .ht = rights & 8
	};
	static struct rig spec, genuine;
	uint64_t in[6], a[6], b[6], buffer = 0;

	rig_open(&spec, machine, 0, SUN4V_PROFILE_SPEC, r, 9);
	rig_open(&genuine, machine, 0, SUN4V_PROFILE_OPENSPARC, r, 9);
	for (uint32_t i = 0; i < 20000; i++) {
		const unsigned n = random_call(rng, in);

		memcpy(a, in, sizeof(in));
		memcpy(b, in, sizeof(in));
		assert_int_equal(sun4v_call(spec.v, n, a), sun4v_call(genuine.v, n, b));
		if (memcmp(a, b, sizeof(a))) {
			const uint32_t d = difference(n, in, a, b, r.perf, buffer);

			assert_true(d < DOCUMENTED);
			seen[d]++;
		}
		if (n == FAST && in[5] == 0x102 && b[0] == HV_EOK)
			buffer = in[0];
	}
	assert_memory_equal(&spec.m, &genuine.m, sizeof(spec.m)); /* no register has another value */
	rig_close(&spec);
	rig_close(&genuine);
}

/* Any calls, with any rights: where the profiles answer differently it is one of the documented differences, and each
 * of them is seen. */
static void beyond_the_documented_the_profiles_are_one(void **state)
{
	uint64_t rng = 88172645463325252ull, seen[DOCUMENTED] = { 0 };

	(void)state;
	for (uint32_t m = 0; m < 3; m++)
		for (uint32_t rights = 0; rights < 16; rights++)
			random_calls((const char *[]){ "niagara", "maramba", "batoka" }[m], rights, &rng, seen);
	for (uint32_t i = 0; i < DOCUMENTED; i++)
		assert_true(seen[i] > 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_calls_answer_as_the_genuine_one_or_as_the_profile_says),
		cmocka_unit_test(versions_of_the_test_group_answer_as_the_genuine_one),
		cmocka_unit_test(profile_spec_has_no_test_group),
		cmocka_unit_test(buffers_hold_what_the_genuine_ones_held),
		cmocka_unit_test(beyond_the_documented_the_profiles_are_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
