/* sun4v_test.c: the plugin in an emulator of a sun4v machine. */
#include "qemu/plugin_test_int.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define BASE UINT64_C(0x80000000)
#define BUFFER (BASE + 0x1000)
#define OTHER (BASE + 0x2000)
#define PC (BASE + 0x104)
#define STALE (BASE + 0x40) /* where the block began: what QEMU has in PC meanwhile */
#define PRIV 0x400u
#define TA_FAST 0x91d02080u
#define TA_CORE 0x91d020ffu
#define NOP 0x01000000u
enum { O0, O1, O2, O3, O4, O5, R_PC, R_NPC, R_STATE };

static const char *const names[] = { "o0", "o1", "o2", "o3", "o4", "o5", "pc", "npc", "state" };
static const char *const chase[] = { "machine=niagara", "load=chase", "strands=1", "step=120000" };

static int plugin_load(const char *const *words, int n)
{
	const qemu_info_t info = { .target_name = "sparc64", .version = { 7, 7 }, .system_emulation = true };

	m = (struct fake_qemu){ .names = names, .flags = QEMU_RW_REGS_PC, .base = BASE };
	return qemu_plugin_install(1, &info, n, (char **)words);
}

static struct qemu_plugin_insn insn_make(uint32_t word, uint64_t pc)
{
	return (struct qemu_plugin_insn){
		.bytes = { (uint8_t)(word >> 24), (uint8_t)(word >> 16), (uint8_t)(word >> 8), (uint8_t)word }, .pc = pc
	};
}

static void guest_translate(uint32_t before, uint32_t word)
{
	struct qemu_plugin_tb tb = { { insn_make(before, PC - 4), insn_make(word, PC), insn_make(NOP, PC + 4) } };

	m.hooked = 0;
	emulator_translate(&tb);
}

static void guest_begin(uint32_t word)
{
	emulator_init();
	guest_translate(NOP, word);
	assert_int_equal(m.hooked, 1);
	m.r[R_STATE] = PRIV;
	m.r[R_PC] = STALE;
	m.r[R_NPC] = STALE + 4;
}

static void begin_with(const char *const *words, int n, uint32_t word)
{
	assert_int_equal(plugin_load(words, n), 0);
	guest_begin(word);
}

static bool call_on(unsigned vcpu, uint64_t function, uint64_t a0, uint64_t a1, uint64_t a2)
{
	m.r[O0] = a0;
	m.r[O1] = a1;
	m.r[O2] = a2;
	m.r[O5] = function;
	m.pc = 0;
	if (!setjmp(m.went_on))
		m.exec(vcpu, m.site);
	return m.pc != 0;
}
static bool guest_call(uint64_t function, uint64_t a0, uint64_t a1, uint64_t a2)
{
	return call_on(0, function, a0, a1, a2);
}

/* Answered with this status, and %o1 and %o2. */
#define ANSWER(function, a0, a1, a2, status, r1, r2)           \
	do {                                                   \
		assert_true(guest_call(function, a0, a1, a2)); \
		assert_int_equal(m.pc, PC + 4);                \
		assert_int_equal(m.r[O0], status);             \
		assert_int_equal(m.r[O1], r1);                 \
		assert_int_equal(m.r[O2], r2);                 \
	} while (0)

static void trap_fast(void)
{
	guest_translate(NOP, TA_FAST);
}
static void guest_negotiate(uint64_t group)
{
	guest_translate(NOP, TA_CORE);
	ANSWER(SUN4V_API_SET_VERSION, group, 1, 1, HV_EOK, group == SUN4V_GROUP_VFALLS, 1);
	trap_fast();
}

static uint64_t buffer_hits(uint64_t ra, uint32_t slot)
{
	return be64_get(m.memory + (ra - BASE) + slot);
}
static uint64_t all_hits(uint64_t ra)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < MMUSTAT_BYTES; i += 16)
		n += buffer_hits(ra, i);
	return n;
}

/* ---- calls ----------------------------------------------------------------------------------------- */

static void versions_are_negotiated(void **state)
{
	(void)state;
	begin_with(chase, COUNT(chase), TA_CORE);
	ANSWER(SUN4V_API_SET_VERSION, SUN4V_GROUP_NIAGARA, 2, 7, HV_ENOTSUPPORTED, 2, 7);
	ANSWER(SUN4V_API_SET_VERSION, SUN4V_GROUP_VFALLS, 1, 0, HV_EINVAL, 1, 0);
	ANSWER(SUN4V_API_SET_VERSION, SUN4V_GROUP_NIAGARA, 1, 7, HV_EOK, 0, 7);
	ANSWER(SUN4V_API_GET_VERSION, SUN4V_GROUP_NIAGARA, 9, 9, HV_EOK, 1, 0);
	emulator_end();
}

static void registers_are_written_and_read(void **state)
{
	static const char *const batoka[] = { "machine=batoka", "load=random", "step=12000" };

	(void)state;
	begin_with(batoka, COUNT(batoka), TA_FAST);
	ANSWER(SUN4V_GET_PERFREG, 2, 7, 8, HV_EBADTRAP, 7, 8);
	guest_negotiate(SUN4V_GROUP_VFALLS);
	ANSWER(SUN4V_SET_PERFREG, 2, 0x1ff, 8, HV_EOK, 0x1ff, 8);
	ANSWER(SUN4V_GET_PERFREG, 2, 7, 8, HV_EOK, 0xff, 8);
	ANSWER(SUN4V_GET_PERFREG, 90, 7, 8, HV_EINVAL, 7, 8);
	ANSWER(SUN4V_SET_PERFREG, 2, 0, 8, HV_EOK, 0, 8);
	assert_true(guest_call(SUN4V_GET_PERFREG, 3, 0, 0));
	assert_true(m.r[O1] > 0);
	emulator_end();
}

static void a_zambezi_and_rights_are_the_arguments(void **state)
{
	static const char *const maramba[] = { "machine=maramba", "step=0", "rights=strand" };

	(void)state;
	begin_with(maramba, COUNT(maramba), TA_FAST);
	guest_negotiate(SUN4V_GROUP_VFALLS);
	ANSWER(SUN4V_GET_PERFREG, 18, 7, 8, HV_ENOTSUPPORTED, 7, 8);
	ANSWER(SUN4V_GET_PERFREG, 2, 7, 8, HV_ENOACCESS, 7, 8);
	ANSWER(SUN4V_SET_PERFREG, 0, 6, 8, HV_EOK, 6, 8);
	ANSWER(SUN4V_SET_PERFREG, 0, 8, 8, HV_ENOACCESS, 8, 8);
	emulator_end();
}

static void the_genuine_hypervisor_answers_the_registers_of_t1(void **state)
{
	static const char *const words[] = { "profile=opensparc", "load=chase" };

	(void)state;
	begin_with(words, COUNT(words), TA_CORE);
	ANSWER(SUN4V_API_SET_VERSION, SUN4V_GROUP_NIAGARA, 1, 0, HV_EOK, 0, 0);
	trap_fast();
	ANSWER(0x100, 0, 7, 8, HV_ENOTSUPPORTED, 7, 8);
	ANSWER(0x101, 0, 7, 8, HV_ENOTSUPPORTED, 7, 8);
	ANSWER(0x100, 99, 7, 8, HV_EINVAL, 7, 8);
	emulator_end();
}

static void calls_of_other_groups_trap(void **state)
{
	static const struct {
		int line;
		uint32_t word;
		uint64_t function, group;
	} rows[] = {
		{ __LINE__, TA_FAST, 0x00, 0 },  { __LINE__, TA_FAST, 0xff, 0 },      { __LINE__, TA_FAST, 0x104, 0 },
		{ __LINE__, TA_FAST, 0x105, 0 }, { __LINE__, TA_FAST, 0x108, 0 },     { __LINE__, TA_CORE, 1, 0x200 },
		{ __LINE__, TA_CORE, 2, 0x200 }, { __LINE__, TA_CORE, 4, 0x200 },     { __LINE__, TA_CORE, 0, 1 },
		{ __LINE__, TA_CORE, 3, 0x202 }, { __LINE__, TA_CORE, 0x102, 0x200 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		begin_with(chase, COUNT(chase), rows[i].word);
		if (guest_call(rows[i].function, rows[i].group, 5, 6) || m.r[O0] != rows[i].group || m.r[O1] != 5)
			fail_msg("line %d: answered", rows[i].line);
		emulator_end();
	}
}

static void user_code_and_strands_that_there_are_not_trap(void **state)
{
	(void)state;
	begin_with(chase, COUNT(chase), TA_FAST);
	m.r[R_STATE] = ~(uint64_t)PRIV;
	assert_false(guest_call(SUN4V_MMUSTAT_INFO, 0, 0, 0));
	m.r[R_STATE] = PRIV;
	assert_true(guest_call(SUN4V_MMUSTAT_INFO, 0, 0, 0));
	m.r[O0] = 1;
	m.pc = 0;
	m.exec(32, m.site);
	assert_int_equal(m.pc, 0);
	assert_int_equal(m.r[O0], 1);
	emulator_end();
}

/* ---- instructions ------------------------------------------------------------------------------------ */

static void both_encodings_are_waited_for_and_no_other(void **state)
{
	static const struct {
		int line;
		uint32_t word;
		bool ours;
	} rows[] = {
		{ __LINE__, TA_FAST, true },     { __LINE__, TA_CORE, true },     { __LINE__, 0x91d03080, true },
		{ __LINE__, 0x91d030ff, true },  { __LINE__, 0x91d02000, false }, /* ta 0 */
		{ __LINE__, 0x91d02083, false },                                  /* ta 0x83 */
		{ __LINE__, 0x83d02080, false },                                  /* tle 0x80 */
		{ __LINE__, 0x91d06080, false },                                  /* ta %g1 + 0x80 */
		{ __LINE__, 0x91d00001, false },                                  /* ta %g1 */
	};

	(void)state;
	assert_int_equal(plugin_load(chase, COUNT(chase)), 0);
	for (size_t i = 0; i < COUNT(rows); i++) {
		guest_translate(NOP, rows[i].word);
		if (m.hooked != rows[i].ours)
			fail_msg("line %d: %u", rows[i].line, m.hooked);
	}
	emulator_end();
}

static void in_a_delay_slot_of_the_block_it_traps(void **state)
{
	static const struct {
		int line;
		uint32_t before;
		bool ours;
	} rows[] = {
		{ __LINE__, 0x10800004, false },                                 /* ba */
		{ __LINE__, 0x106ffffc, false },                                 /* ba,pt %xcc */
		{ __LINE__, 0x02c20004, false },                                 /* brz %o0 */
		{ __LINE__, 0x11800004, false },                                 /* fba */
		{ __LINE__, 0x11400004, false },                                 /* fba,pt %fcc0 */
		{ __LINE__, 0x40000004, false },                                 /* call */
		{ __LINE__, 0x81c3e008, false },                                 /* retl */
		{ __LINE__, 0x81cfe008, false },                                 /* return */
		{ __LINE__, 0x9a102103, true },                                  /* mov 0x103, %o5 */
		{ __LINE__, 0x1b000004, true },                                  /* sethi */
		{ __LINE__, NOP, true },         { __LINE__, 0xda5a0000, true }, /* ldx */
	};

	(void)state;
	assert_int_equal(plugin_load(chase, COUNT(chase)), 0);
	for (size_t i = 0; i < COUNT(rows); i++) {
		guest_translate(rows[i].before, TA_FAST);
		if (m.hooked != rows[i].ours)
			fail_msg("line %d: %u", rows[i].line, m.hooked);
	}
	emulator_end();
}

static void at_the_beginning_of_a_block_it_goes_on_at_npc(void **state)
{
	(void)state;
	begin_with(chase, COUNT(chase), TA_FAST);
	m.r[R_PC] = PC;
	m.r[R_NPC] = BASE + 0x800;
	assert_true(guest_call(SUN4V_MMUSTAT_INFO, 0, 0, 0));
	assert_int_equal(m.pc, BASE + 0x800);
	m.r[R_NPC] = BASE + 0x802; /* QEMU's mark of a branch that is not decided */
	assert_false(guest_call(SUN4V_MMUSTAT_INFO, 0, 0, 0));
	emulator_end();
}

/* ---- buffers -------------------------------------------------------------------------------------------- */

static void a_buffer_is_added_to_before_each_call(void **state)
{
	const uint32_t slot = mmustat_slot(true, true, MMUSTAT_8K);
	uint64_t first;

	(void)state;
	begin_with(chase, COUNT(chase), TA_FAST);
	guest_negotiate(SUN4V_GROUP_NIAGARA);
	be64_put(m.memory + 0x1000 + slot, 1000);
	ANSWER(SUN4V_MMUSTAT_CONF, BUFFER, 7, 8, HV_EOK, 0, 8);
	assert_int_equal(all_hits(BUFFER), 1000);
	ANSWER(SUN4V_MMUSTAT_INFO, 5, 7, 8, HV_EOK, BUFFER, 8); /* it takes no argument */
	first = buffer_hits(BUFFER, slot) - 1000;
	assert_true(first > 0 && first < 1000 && buffer_hits(BUFFER, slot + 8) > 0);
	memset(m.memory + 0x1000, 0, MMUSTAT_BYTES);
	ANSWER(SUN4V_MMUSTAT_INFO, 0, 7, 8, HV_EOK, BUFFER, 8);
	assert_true(buffer_hits(BUFFER, slot) > 0 && buffer_hits(BUFFER, slot) < 1000);
	emulator_end();
}

static void the_buffer_of_each_strand_is_its_own_and_added_to_whoever_calls(void **state)
{
	static const char *const two[] = { "machine=niagara", "load=chase", "strands=32", "step=120000" };
	uint64_t first;

	(void)state;
	begin_with(two, COUNT(two), TA_FAST);
	guest_negotiate(SUN4V_GROUP_NIAGARA);
	ANSWER(SUN4V_MMUSTAT_CONF, BUFFER, 7, 8, HV_EOK, 0, 8);
	assert_true(call_on(1, SUN4V_MMUSTAT_INFO, 0, 7, 8));
	assert_int_equal(m.r[O0], HV_EOK);
	assert_int_equal(m.r[O1], 0); /* that one has none */
	first = all_hits(BUFFER);
	assert_true(first > 0);
	assert_true(call_on(1, SUN4V_MMUSTAT_CONF, OTHER, 7, 8));
	assert_int_equal(m.r[O0], HV_EOK);
	assert_int_equal(m.r[O1], 0);
	assert_true(all_hits(BUFFER) > first);
	assert_int_equal(all_hits(OTHER), 0);
	ANSWER(SUN4V_MMUSTAT_INFO, 0, 7, 8, HV_EOK, BUFFER, 8);
	assert_true(all_hits(OTHER) > 0);
	emulator_end();
}

static void what_was_added_to_a_buffer_is_not_added_again(void **state)
{
	uint64_t grew[16];

	(void)state;
	begin_with(chase, COUNT(chase), TA_FAST);
	guest_negotiate(SUN4V_GROUP_NIAGARA);
	ANSWER(SUN4V_MMUSTAT_CONF, BUFFER, 7, 8, HV_EOK, 0, 8);
	for (size_t i = 0; i < COUNT(grew); i++) { /* in steps of one length */
		grew[i] = all_hits(BUFFER);
		ANSWER(SUN4V_MMUSTAT_INFO, 0, 7, 8, HV_EOK, BUFFER, 8);
		grew[i] = all_hits(BUFFER) - grew[i];
	}
	assert_true(grew[8] > 0);
	assert_true(4 * grew[15] < 7 * grew[8]); /* a sum of all steps would have doubled */
	emulator_end();
}

static void only_the_last_buffer_is_added_to_and_none_after_an_error(void **state)
{
	uint64_t one, two;

	(void)state;
	begin_with(chase, COUNT(chase), TA_FAST);
	guest_negotiate(SUN4V_GROUP_NIAGARA);
	ANSWER(SUN4V_MMUSTAT_CONF, BUFFER, 7, 8, HV_EOK, 0, 8);
	ANSWER(SUN4V_MMUSTAT_CONF, OTHER, 7, 8, HV_EOK, BUFFER, 8);
	one = all_hits(BUFFER);
	ANSWER(SUN4V_MMUSTAT_CONF, 0, 7, 8, HV_EOK, OTHER, 8);
	ANSWER(SUN4V_MMUSTAT_CONF, OTHER, 7, 8, HV_EOK, 0, 8);
	ANSWER(SUN4V_MMUSTAT_CONF, OTHER, 7, 8, HV_EOK, OTHER, 8);
	ANSWER(SUN4V_MMUSTAT_CONF, OTHER + 8, 7, 8, HV_EBADALIGN, 7, 8);
	two = all_hits(OTHER);
	assert_true(one > 0 && two > 0);
	ANSWER(SUN4V_MMUSTAT_INFO, 0, 7, 8, HV_EOK, 0, 8);
	assert_int_equal(all_hits(BUFFER), one);
	assert_int_equal(all_hits(OTHER), two);
	emulator_end();
}

static void the_genuine_hypervisor_keeps_the_buffer_after_an_error(void **state)
{
	static const char *const words[] = { "profile=opensparc", "load=chase", "strands=1", "step=120000" };
	uint64_t one;

	(void)state;
	begin_with(words, COUNT(words), TA_CORE);
	ANSWER(SUN4V_API_SET_VERSION, SUN4V_GROUP_NIAGARA, 1, 5, HV_EOK, 0, 0); /* the minor is in %o2, too */
	trap_fast();
	ANSWER(SUN4V_MMUSTAT_CONF, BUFFER + 8, 7, 8, HV_EOK, 0, 8);
	ANSWER(SUN4V_MMUSTAT_CONF, OTHER + 4, 7, 8, HV_EBADALIGN, 7, 8);
	one = all_hits(BUFFER + 8);
	ANSWER(SUN4V_MMUSTAT_INFO, 0, 7, 8, HV_EOK, BUFFER + 8, 8);
	assert_true(all_hits(BUFFER + 8) > one);
	emulator_end();
}

static void a_call_that_is_no_call_any_more_keeps_the_genuine_ones_buffer(void **state)
{
	static const char *const words[] = { "profile=opensparc", "load=chase", "strands=1", "step=120000" };
	uint64_t one;

	(void)state;
	begin_with(words, COUNT(words), TA_CORE);
	ANSWER(SUN4V_API_SET_VERSION, SUN4V_GROUP_NIAGARA, 1, 0, HV_EOK, 0, 0);
	trap_fast();
	ANSWER(SUN4V_MMUSTAT_CONF, BUFFER, 7, 8, HV_EOK, 0, 8);
	guest_translate(NOP, TA_CORE);
	ANSWER(SUN4V_API_SET_VERSION, SUN4V_GROUP_NIAGARA, 0, 0, HV_EOK, 0, 0);
	trap_fast();
	ANSWER(SUN4V_MMUSTAT_CONF, OTHER, 7, 8, HV_EBADTRAP, 7, 8);
	one = all_hits(BUFFER);
	ANSWER(SUN4V_MMUSTAT_INFO, 0, 7, 8, HV_EBADTRAP, 7, 8);
	assert_true(all_hits(BUFFER) > one);
	assert_int_equal(all_hits(OTHER), 0);
	emulator_end();
}

static void a_word_of_which_nothing_is_new_is_not_written(void **state)
{
	uint8_t before[MMUSTAT_BYTES];
	unsigned differ = 0;

	(void)state;
	begin_with(chase, COUNT(chase), TA_FAST);
	guest_negotiate(SUN4V_GROUP_NIAGARA);
	ANSWER(SUN4V_MMUSTAT_CONF, BUFFER, 7, 8, HV_EOK, 0, 8);
	memcpy(before, m.memory + 0x1000, sizeof(before));
	m.writes = 0;
	ANSWER(SUN4V_MMUSTAT_INFO, 0, 7, 8, HV_EOK, BUFFER, 8);
	for (uint32_t i = 0; i < MMUSTAT_BYTES; i += 8)
		differ += be64_get(m.memory + 0x1000 + i) != be64_get(before + i);
	assert_true(differ > 0);
	assert_int_equal(m.writes, differ);
	emulator_end();
}

static void what_is_no_memory_is_refused_and_devices_are_not_touched(void **state)
{
	static const uint64_t rows[] = {
		0x40, BASE - 0x40, BASE + MEMORY - 0x1c0, BASE + MEMORY, UINT64_C(0x1f10000000), UINT64_MAX - 0x3f
	};

	(void)state;
	begin_with(chase, COUNT(chase), TA_FAST);
	guest_negotiate(SUN4V_GROUP_NIAGARA);
	for (size_t i = 0; i < COUNT(rows); i++)
		ANSWER(SUN4V_MMUSTAT_CONF, rows[i], 7, 8, HV_ENORADDR, 7, 8);
	assert_true(m.touched <= BASE + MEMORY + 0x200);
	ANSWER(SUN4V_MMUSTAT_CONF, BASE + MEMORY - 0x200, 7, 8, HV_EOK, 0, 8);
	m.refuse_write = true; /* it has become a ROM */
	ANSWER(SUN4V_MMUSTAT_INFO, 0, 7, 8, HV_EOK, BASE + MEMORY - 0x200, 8);
	m.base = 0; /* it has gone away */
	ANSWER(SUN4V_MMUSTAT_INFO, 0, 7, 8, HV_EOK, BASE + MEMORY - 0x200, 8);
	emulator_end();
}

/* ---- arguments ------------------------------------------------------------------------------------------ */

static void the_log_has_a_line_for_each_call(void **state)
{
	char path[] = "/tmp/tally-qemu-XXXXXX", word[64], text[512];
	const char *words[] = { "step=12", "start=1000", "load=compute", word };
	FILE *f;

	(void)state;
	close(mkstemp(path));
	snprintf(word, sizeof(word), "log=%s", path);
	begin_with(words, COUNT(words), TA_CORE);
	ANSWER(SUN4V_API_SET_VERSION, SUN4V_GROUP_NIAGARA, 1, 0, HV_EOK, 0, 0);
	trap_fast();
	ANSWER(SUN4V_MMUSTAT_CONF, 3, 4, 5, HV_EBADALIGN, 4, 5);
	emulator_end();
	f = fopen(path, "r");
	text[fread(text, 1, sizeof(text) - 1, f)] = '\0';
	fclose(f);
	unlink(path);
	assert_string_equal(text, "1012 vcpu 0 trap 0xff function 0x0 arguments 0x200 0x1 0x0 answer 0x0 0x0 0x0\n"
				  "1024 vcpu 0 trap 0x80 function 0x102 arguments 0x3 0x4 0x5 answer 0x8 0x4 0x5\n");
}

static void wrong_arguments_are_named(void **state)
{
	static const struct option_row rows[] = {
		{ __LINE__, "machine=power", "machine=power: expected niagara, maramba or batoka" },
		{ __LINE__, "sockets=5", "sockets=5: unknown argument" },
		{ __LINE__, "sockets=2", "sockets=2: unknown argument" },
		{ __LINE__, "seed=0", "seed=0: expected a number" },
		{ __LINE__, "load=x", "load=x: unknown load (expected one of stream, random" },
		{ __LINE__, "strands=0", "strands=0: expected" },
		{ __LINE__, "rights=every", "every" },
		{ __LINE__,
		  "rights="
		  "0123456789012345678901234567890123456789012345678901234567890123",
		  "rights: invalid value '0" },
		{ __LINE__, "profile=sun", "profile=sun: expected spec or opensparc" },
		{ __LINE__, "start=-1", "start=-1: expected cycles" },
		{ __LINE__, "step=99999999999999999", "step=99999999999999999: expected cycles" },
		{ __LINE__, "log=", "log=: expected a path" },
		{ __LINE__, "refs=x", "refs=x: unknown argument" },
		{ __LINE__, "step", "step: unknown argument; did you mean 'step='?" },
	};

	(void)state;
	options_say(sun4v_options, rows, COUNT(rows), false);
}

static void rights_are_joined_by_a_plus(void **state)
{
	char word[] = "rights=global+htstrand", *words[] = { word };
	struct qemu_options o;
	struct err e = { 0 };

	(void)state;
	assert_int_equal(sun4v_options(&o, 1, words, &e), 0);
	assert_true(o.model.sun4v.perf && o.model.sun4v.global && o.model.sun4v.ht);
	assert_string_equal(word, "rights=global+htstrand");
}

static void memory_that_is_out_refuses_to_load(void **state)
{
	(void)state;
	for (long n = 1;; n++) {
		mem_fail_at(n);
		if (plugin_load(chase, COUNT(chase)) == 0)
			break;
		assert_int_equal(mem_live(), 0);
		assert_true(n < 1000);
	}
	mem_fail_at(1);
	guest_translate(NOP, TA_FAST);
	assert_int_equal(m.hooked, 0);
	mem_fail_at(0);
	guest_begin(TA_FAST);
	mem_fail_at(1); /* a strand of its own: it may need memory, and traps then */
	(void)guest_call(SUN4V_MMUSTAT_INFO, 0, 0, 0);
	mem_fail_at(0);
	assert_true(guest_call(SUN4V_MMUSTAT_INFO, 0, 0, 0));
	emulator_end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(versions_are_negotiated),
		cmocka_unit_test(registers_are_written_and_read),
		cmocka_unit_test(a_zambezi_and_rights_are_the_arguments),
		cmocka_unit_test(the_genuine_hypervisor_answers_the_registers_of_t1),
		cmocka_unit_test(calls_of_other_groups_trap),
		cmocka_unit_test(user_code_and_strands_that_there_are_not_trap),
		cmocka_unit_test(both_encodings_are_waited_for_and_no_other),
		cmocka_unit_test(in_a_delay_slot_of_the_block_it_traps),
		cmocka_unit_test(at_the_beginning_of_a_block_it_goes_on_at_npc),
		cmocka_unit_test(a_buffer_is_added_to_before_each_call),
		cmocka_unit_test(the_buffer_of_each_strand_is_its_own_and_added_to_whoever_calls),
		cmocka_unit_test(what_was_added_to_a_buffer_is_not_added_again),
		cmocka_unit_test(only_the_last_buffer_is_added_to_and_none_after_an_error),
		cmocka_unit_test(the_genuine_hypervisor_keeps_the_buffer_after_an_error),
		cmocka_unit_test(a_call_that_is_no_call_any_more_keeps_the_genuine_ones_buffer),
		cmocka_unit_test(a_word_of_which_nothing_is_new_is_not_written),
		cmocka_unit_test(what_is_no_memory_is_refused_and_devices_are_not_touched),
		cmocka_unit_test(the_log_has_a_line_for_each_call),
		cmocka_unit_test(wrong_arguments_are_named),
		cmocka_unit_test(rights_are_joined_by_a_plus),
		cmocka_unit_test(memory_that_is_out_refuses_to_load),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
