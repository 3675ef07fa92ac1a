/*
 * niagara_watch_test.c: the laws of `tally check vfalls` and `check mmustat`: all models obey them, and each catches a machine that
 * was doctored to break it.
 *
 * TALLY_SEEDS says how many seeds of each model and load are watched.
 */
#include <stdio.h>
#include <stdlib.h>

#include "hv/sun4v_law.h"
#include "machine/niagara_int.h"
#include "machine/niagara_test_int.h"

static struct rig r;

/* ---- a line that lies ------------------------------------------------------------------------------------ */

/* What a counter with this selection shows is times by over, and grows by `more` a reading. */
struct lie {
	uint8_t cls, unit;
	uint16_t code;
	int class;
	uint32_t times, over, more;
};
static const struct lie *lie;
static uint64_t readings;

static uint64_t told(uint64_t value)
{
	return value * lie->times / lie->over + readings++ * lie->more;
}

static uint32_t selected(uint32_t reg, uint32_t pic)
{
	const struct unit *u = r.n->choice[reg].unit;
	const uint8_t *shift = r.n->choice[reg].shift;

	return now_of(&u->pcr) >> shift[pic] & r.n->choice[reg].mask;
}

static bool is_lied_about(uint32_t reg, uint32_t pic)
{
	const struct vf_reg *v = &vf_regs[reg];
	const bool lpu = v->unit >= VF_UNIT_LPU_A && v->unit <= VF_UNIT_LPU_D;

	if (!lie || v->cls != lie->cls || (v->cls >= VF_ZAM_PCR && lie->unit != (lpu ? VF_UNIT_LPU_A : v->unit)))
		return false;
	return selected(reg, pic) == lie->code;
}

static int line_sun4v(void *arg, uint32_t vcpu, unsigned trap, uint64_t o[6], struct err *e)
{
	const uint64_t function = o[5], reg = o[0];

	(void)arg;
	(void)e;
	(void)sun4v_call(r.v[vcpu], trap, o);
	if (trap != HV_FAST_TRAP || function != SUN4V_GET_PERFREG || o[0] != HV_EOK)
		return 0;
	if (vf_regs[reg].cls == VF_MCU_PIC) {
		const uint64_t a = is_lied_about(reg, 0) ? told(o[1] >> 32) : o[1] >> 32;
		const uint64_t b = is_lied_about(reg, 1) ? told((uint32_t)o[1]) : (uint32_t)o[1];

		o[1] = (a & 0x7fffffff) << 32 | (b & 0x7fffffff);
	} else if (vf_regs[reg].cls >= VF_ZAM_PIC0 && is_lied_about(reg, vf_regs[reg].cls == VF_ZAM_PIC1)) {
		o[1] = told(o[1]);
	}
	return 0;
}

static int line_asr(void *arg, uint32_t vcpu, uint32_t asr, bool write, uint64_t *value, struct err *e)
{
	const uint64_t pcr = get_pcr(&r, vcpu), config = now_of(&r.n->strand[vcpu].node->l2_cr);
	uint64_t half[2];

	(void)arg;
	(void)e;
	if (write)
		return sun4v_asr_write(r.v[vcpu], asr, *value) ? 0 : -TALLY_EINVAL;
	if (!sun4v_asr_read(r.v[vcpu], asr, value))
		return -TALLY_EINVAL;
	if (asr != 0x11 || !lie || lie->cls != VF_SPARC_PCR || (lie->class >= 0 && config != (uint64_t)lie->class))
		return 0;
	half[0] = (uint32_t)*value;
	half[1] = *value >> 32;
	for (uint32_t pic = 0; pic < 2; pic++)
		if ((pcr >> (pic ? 19 : 6) & 0xfff) == lie->code)
			half[pic] = (uint32_t)told(half[pic]);
	*value = half[1] << 32 | half[0];
	return 0;
}

/* ---- buffers that lie -------------------------------------------------------------------------------------- */

/* What is added to a word of strand 0's buffer, at each moment that time has passed. */
struct buffer_lie {
	uint32_t at;
	uint64_t more, at_too, more_too;
	bool missed;
};
static const struct buffer_lie *buffer_lie;

static uint64_t line_missed(void *arg)
{
	(void)arg;
	return (truth(&r)->tsb_miss + truth(&r)->permanent_hit) / (buffer_lie && buffer_lie->missed ? 2 : 1);
}

static void add_to(uint32_t at, uint64_t more)
{
	uint8_t *word = (uint8_t *)r.ram[0] + at;

	be64_put(word, be64_get(word) + more);
}

static uint64_t ns;
static int pass(void *arg, uint64_t more)
{
	(void)arg;
	ns += more;
	niagara_run(r.n, ns / 5 * 6);
	if (buffer_lie && !buffer_lie->missed) {
		add_to(buffer_lie->at, buffer_lie->more);
		add_to((uint32_t)buffer_lie->at_too, buffer_lie->more_too);
	}
	return 0;
}

static uint64_t now(void *arg)
{
	(void)arg;
	return ns;
}

/* ---- a watch ------------------------------------------------------------------------------------------------- */

static const struct hv_line_ops line_ops = {
	.what = "the model", .sun4v = line_sun4v, .asr = line_asr, .tsb_missed = line_missed
};
static struct sun4v_client *client;
static struct hv_line line;

static struct sun4v_watch *watch(const char *machine, uint32_t sockets, const char *load, uint32_t strands,
				 uint64_t seed, uint64_t interval)
{
	const struct sun4v_watch_opts o = { .of = strcmp(machine, "niagara") ? SUN4V_VFALLS : SUN4V_MMUSTAT,
					    .ns = interval,
					    .pass = pass,
					    .now = now };
	struct sun4v_watch *w = NULL;
	struct err e = { 0 };

	rig_open(&r, machine, sockets, (struct niagara_opts){ .load = load, .seed = seed, .strands = strands });
	line = (struct hv_line){ .op = &line_ops,
				 .strands = r.strands,
				 .strands_per_node = r.kind->strands_per_node,
				 .sockets = r.kind->nodes,
				 .memory = (uint8_t *)r.ram,
				 .base = RAM_BASE,
				 .bytes = sizeof(r.ram) };
	snprintf(line.machine, sizeof(line.machine), "%s", machine);
	ns = readings = 0;
	assert_int_equal(pass(NULL, 20000), 0);
	assert_int_equal(sun4v_client_open(&client, &line, &e), 0);
	if (sun4v_watch_open(&w, client, &o, &e) < 0)
		fail_msg("%s", e.text);
	return w;
}

static void unwatch(struct sun4v_watch *w)
{
	sun4v_watch_close(w);
	sun4v_client_close(client);
	rig_close(&r);
}

/* ---- machines that are right ----------------------------------------------------------------------------------- */

static const struct {
	const char *machine;
	uint32_t sockets;
} models[] = {
	{ "niagara", 1 }, { "maramba", 1 }, { "maramba", 2 }, { "batoka", 1 },
	{ "batoka", 2 },  { "batoka", 3 },  { "batoka", 4 },
};

/* held: how often each law had something to say. */
static void obeys(uint32_t model, const char *load, uint64_t seed, uint32_t held[2][32])
{
	const enum sun4v_provider of = model ? SUN4V_VFALLS : SUN4V_MMUSTAT;
	struct sun4v_watch *w = watch(models[model].machine, models[model].sockets, load, 8, seed, 140000);
	const struct sun4v_law *l;

	for (uint32_t i = 0; (l = sun4v_law_at(of, i)) != NULL; i++) {
		struct err e = { 0 };
		const enum sun4v_verdict v = sun4v_watch_law(w, l, &e);

		if (v == SUN4V_BROKEN)
			fail_msg("%s, %u sockets, load %s, seed %lu: law %u: %s", models[model].machine,
				 models[model].sockets, load, seed, l->number, e.text);
		assert_true(v == SUN4V_HOLDS || e.text[0]);
		held[of][i] += v == SUN4V_HOLDS;
	}
	unwatch(w);
}

static void all_models_obey_all_laws_with_all_seeds(void **state)
{
	const char *asked = getenv("TALLY_SEEDS");
	const uint64_t seeds = asked ? strtoull(asked, NULL, 10) : 10;
	uint32_t held[2][32] = { 0 }, loads = 0;

	(void)state;
	lie = NULL;
	buffer_lie = NULL;
	while (niagara_load_at(loads))
		loads++;
	for (uint64_t seed = 1; seed <= seeds; seed++)
		for (uint32_t m = 0; m < COUNT(models); m++)
			obeys(m, niagara_load_at((uint32_t)(seed + m) % loads)->name, seed, held);
	for (uint32_t of = 0; of < 2; of++)
		for (uint32_t i = 0; sun4v_law_at(of, i); i++)
			if (!held[of][i])
				fail_msg("law %u of %s never had anything to say", i + 1,
					 of == SUN4V_VFALLS ? "vfalls" : "mmustat");
}

/* ---- machines that are wrong ------------------------------------------------------------------------------------- */

static void is_caught(struct sun4v_watch *w, enum sun4v_provider of, uint32_t law, int row)
{
	struct err e = { 0 };
	const enum sun4v_verdict v = sun4v_watch_law(w, sun4v_law_at(of, law - 1), &e);

	if (v != SUN4V_BROKEN)
		fail_msg("row of line %d: law %u %s: %s", row, law, v == SUN4V_HOLDS ? "holds" : "is unknown", e.text);
	unwatch(w);
}

static void a_doctored_victoria_falls_is_caught_by_each_law(void **state)
{
	static const struct {
		int row;
		uint32_t law;
		struct lie lie;
		const char *load;
	} rows[] = {
		{ __LINE__,
		  1,
		  { VF_SPARC_PCR, 0, 0x330, 1, 2, 1, 0 },
		  "random" }, /* PERF_CONFIG local counts others too */
		{ __LINE__, 1, { VF_SPARC_PCR, 0, 0x330, 2, 0, 1, 0 }, "random" }, /* remote is never counted */
		{ __LINE__, 2, { VF_ZAM_PIC0, VF_UNIT_LPU_A, 0x21, -1, 1, 2, 0 }, "random" },
		{ __LINE__, 2, { VF_ZAM_PIC1, VF_UNIT_LPU_A, 0x22, -1, 1, 1, 9 }, "random" },
		{ __LINE__, 3, { VF_ZAM_PIC1, VF_UNIT_ASU, 3, -1, 1, 2, 0 }, "random" },
		{ __LINE__, 4, { VF_ZAM_PIC1, VF_UNIT_ASU, 5, -1, 1, 2, 0 }, "pingpong" },
		{ __LINE__, 5, { VF_ZAM_PIC1, VF_UNIT_LPU_A, 0x27, -1, 2, 1, 0 }, "random" },
		{ __LINE__, 6, { VF_ZAM_PIC1, VF_UNIT_LPU_A, 0x28, -1, 1, 3, 0 }, "random" },
		{ __LINE__, 7, { VF_ZAM_PIC1, VF_UNIT_LPU_A, 0x23, -1, 2, 1, 0 }, "random" },
		{ __LINE__, 8, { VF_MCU_PIC, 0, 0, -1, 4, 1, 0 }, "random" },
		{ __LINE__, 9, { VF_MCU_PIC, 0, 1, -1, 1, 1, 1000000 }, "random" },
		{ __LINE__, 10, { VF_MCU_PIC, 0, 4, -1, 8, 1, 0 }, "random" },
		{ __LINE__, 11, { VF_MCU_PIC, 0, 7, -1, 1, 1, 1000000 }, "random" },
		{ __LINE__, 12, { VF_MCU_PIC, 0, 0, -1, 1, 4, 0 }, "random" }, /* what the links carry nobody read */
		{ __LINE__, 12, { VF_SPARC_PCR, 0, 0x330, 1, 4, 1, 0 }, "stream" },
		{ __LINE__, 13, { VF_MCU_PIC, 0, 0, -1, 3, 1, 0 }, "random" },
		{ __LINE__, 13, { VF_ZAM_PIC1, VF_UNIT_LPU_A, 0x23, -1, 1, 2, 0 }, "random" },
		{ __LINE__, 14, { VF_SPARC_PCR, 0, 0x303, -1, 1, 50, 0 }, "random" },
		{ __LINE__, 15, { VF_SPARC_PCR, 0, 0x430, -1, 1, 1, 100000 }, "mixed" },
		{ __LINE__, 16, { VF_ZAM_PIC0, VF_UNIT_GPD, 1, -1, 1, 1, 7 }, "random" },
		{ __LINE__, 17, { VF_ZAM_PIC0, VF_UNIT_LPU_A, 0x21, -1, 1, 1, 1000000 }, "random" },
		{ __LINE__, 18, { VF_ZAM_PIC0, VF_UNIT_LPU_A, 0x03, -1, 1, 1, 1000000 }, "random" },
	};
	uint32_t caught = 0;

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		lie = &rows[i].lie;
		is_caught(watch("batoka", 4, rows[i].load, 8, 1, 1400000), SUN4V_VFALLS, rows[i].law, rows[i].row);
		caught |= 1u << rows[i].law;
	}
	lie = NULL;
	for (uint32_t i = 0; sun4v_law_at(SUN4V_VFALLS, i); i++)
		assert_true(caught >> (i + 1) & 1);
}

static void a_doctored_niagara_is_caught_by_each_law(void **state)
{
	enum { HITS = 0x180, TICKS = 0x188, RESERVED = 0x1a0 }; /* 8 KB of the data side, context not 0 */
	static const struct {
		int row;
		uint32_t law;
		struct buffer_lie lie;
	} rows[] = {
		{ __LINE__, 1, { TICKS, (uint64_t)-1 << 40, HITS, 0, false } }, /* it goes back */
		{ __LINE__, 2, { RESERVED, 1, HITS, 0, false } },
		{ __LINE__, 3, { HITS, 1000000, TICKS, 0, false } }, /* hits that take no time */
		{ __LINE__, 3, { 0x1d8, 77, HITS, 0, false } },      /* ticks of no hit: 256 MB pages */
		{ __LINE__, 4, { TICKS, UINT64_C(1) << 40, HITS, 0, false } },
		{ __LINE__, 5, { HITS, 100000, TICKS, 3000000, false } },
		{ __LINE__, 6, { HITS, 1, TICKS, 30, false } },
		{ __LINE__, 6, { 0, 0, 0, 0, true } }, /* misses without a TSB are not counted */
	};
	uint32_t caught = 0;

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		buffer_lie = &rows[i].lie;
		is_caught(watch("niagara", 1, "chase", 4, 1, 1000000), SUN4V_MMUSTAT, rows[i].law, rows[i].row);
		caught |= 1u << rows[i].law;
	}
	buffer_lie = NULL;
	for (uint32_t i = 0; sun4v_law_at(SUN4V_MMUSTAT, i); i++)
		assert_true(caught >> (i + 1) & 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_models_obey_all_laws_with_all_seeds),
		cmocka_unit_test(a_doctored_victoria_falls_is_caught_by_each_law),
		cmocka_unit_test(a_doctored_niagara_is_caught_by_each_law),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
