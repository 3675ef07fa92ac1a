/* plugin_test.c: the plugin in an emulator of pseries, and what it refuses. */
#include "qemu/plugin_test_int.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define BLOCK 0x1000u
#define PC 0xc000000000001000u

/* ---- a guest ------------------------------------------------------------------------------------------ */

static const char *const names[] = { "r0", "r1", "r2", "r3", "r4", "r5", "r6", "r7", "r8" };

static int plugin_load(const char *const *words, int n)
{
	const qemu_info_t info = { .target_name = "ppc64", .version = { 7, 7 }, .system_emulation = true };

	m = (struct fake_qemu){ .names = names, .flags = QEMU_RW_REGS_PC };
	return qemu_plugin_install(1, &info, n, (char **)words);
}

/* Translates: something, sc 1, something. */
static void guest_begin(bool little)
{
	struct qemu_plugin_tb tb = { .insn = { { .bytes = { 0x60, 0, 0, 0 }, .pc = PC - 4 },
					       { .bytes = { 0x44, 0, 0, 0x22 }, .pc = PC },
					       { .bytes = { 0x44, 0, 0, 2 }, .pc = PC + 4 } } };

	if (little)
		memcpy(tb.insn[1].bytes, "\x22\0\0\x44", 4);
	m.little = little;
	emulator_init();
	emulator_translate(&tb);
}

/* r3 after the instruction; *done: the plugin went on behind it. */
static int64_t guest_call(uint64_t token, uint64_t address, uint64_t size, bool *done)
{
	m.r[3] = token;
	m.r[4] = address;
	m.r[5] = size;
	m.pc = 0;
	if (!setjmp(m.went_on))
		m.exec(0, m.site);
	*done = m.pc == PC + 4;
	return (int64_t)m.r[3];
}

static int64_t guest_ask(uint32_t request, int32_t index)
{
	bool done;
	int64_t code;

	gpci_ask(m.memory + BLOCK, GPCI_HEADER, request, index, 0, 8);
	code = guest_call(PAPR_GPCI, BLOCK, GPCI_MOST, &done);
	assert_true(done);
	return code;
}

#define STEP "step=35840000"
static const char *const stepping[] = { "machine=power", "load=donating", "start=512000000", STEP };

static void a_call_of_either_byte_order_is_answered_and_not_executed(void **state)
{
	(void)state;
	for (int little = 0; little < 2; little++) {
		assert_int_equal(plugin_load(stepping, COUNT(stepping)), 0);
		guest_begin(little);
		assert_int_equal(m.hooked, 1);
		assert_int_equal(guest_ask(0x40, -1), H_SUCCESS);
		assert_int_equal(m.memory[BLOCK + GPCI_HEADER], 1);
		assert_int_equal(m.memory[BLOCK + GPCI_HEADER + 1], 0xe0);
		emulator_end();
	}
}

static void other_hypercalls_are_qemus(void **state)
{
	bool done;

	(void)state;
	assert_int_equal(plugin_load(stepping, COUNT(stepping)), 0);
	guest_begin(true);
	assert_int_equal(guest_call(0x58, BLOCK, 16, &done), 0x58);
	assert_false(done);
	emulator_end();
}

static void a_site_is_kept_once_until_the_flush(void **state)
{
	long before;

	(void)state;
	assert_int_equal(plugin_load(stepping, COUNT(stepping)), 0);
	guest_begin(true);
	before = mem_live();
	guest_begin(true);
	assert_int_equal(mem_live(), before);
	emulator_flush();
	assert_int_equal(mem_live(), before - 1);
	emulator_end();
}

static void a_block_that_is_no_memory_is_privilege_and_devices_are_not_touched(void **state)
{
	bool done;

	(void)state;
	assert_int_equal(plugin_load(stepping, COUNT(stepping)), 0);
	guest_begin(true);
	assert_int_equal(guest_call(PAPR_GPCI, MEMORY - 16, 32, &done), H_PRIVILEGE);
	assert_int_equal(guest_call(PAPR_GPCI, BLOCK, UINT64_MAX, &done), H_PRIVILEGE);
	assert_int_equal(guest_call(PAPR_GPCI, UINT64_MAX - 8, 32, &done), H_PRIVILEGE);
	m.touched = 0;
	assert_int_equal(guest_call(PAPR_GPCI, UINT64_C(1) << 45, 32, &done), H_PRIVILEGE);
	assert_int_equal(m.touched, 0);
	m.refuse_write = true;
	assert_int_equal(guest_ask(0x40, -1), H_PRIVILEGE);
	emulator_end();
}

static void the_upper_four_bits_of_an_address_are_not_looked_at(void **state)
{
	bool done;

	(void)state;
	assert_int_equal(plugin_load(stepping, COUNT(stepping)), 0);
	guest_begin(true);
	gpci_ask(m.memory + BLOCK, GPCI_HEADER, 0x40, -1, 0, 0);
	assert_int_equal(guest_call(PAPR_GPCI, 0xc000000000000000u | BLOCK, 48, &done), H_SUCCESS);
	emulator_end();
}

static void time_goes_on_by_the_step_and_the_log_says_so(void **state)
{
	char path[] = "/tmp/tally-qemu-XXXXXX", word[64], text[512];
	const char *words[] = { "load=large", "start=512000000", STEP, word };
	uint64_t at[2];
	FILE *f;

	(void)state;
	close(mkstemp(path));
	snprintf(word, sizeof(word), "log=%s", path);
	assert_int_equal(plugin_load(words, COUNT(words)), 0);
	guest_begin(true);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(guest_ask(0x94, 3), H_PARAMETER); /* more records than fit: these are right */
		at[i] = be64_get(m.memory + BLOCK + GPCI_HEADER + 0x10);
	}
	emulator_end();
	assert_int_equal(at[0], 512000000 + 35840000);
	assert_int_equal(at[1], 512000000 + 2 * 35840000);
	f = fopen(path, "r");
	text[fread(text, 1, sizeof(text) - 1, f)] = '\0';
	fclose(f);
	unlink(path);
	assert_string_equal(text, "547840000 vcpu 0 request 0x94 index 3 secondary 0 version 8 size 4096 code -4\n"
				  "583680000 vcpu 0 request 0x94 index 3 secondary 0 version 8 size 4096 code -4\n");
}

#define WINDOW 5120000u /* a hundredth of a second */

static uint64_t clock_ticks(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return ((uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec) / 1000 * 512;
}

/* As the log says it, in windows of the dispatcher; the test's clock is cut to a microsecond. */
static void without_a_step_time_goes_on_by_the_clock(void **state)
{
	char path[] = "/tmp/tally-qemu-XXXXXX", word[64];
	const char *words[] = { "load=donating", "start=512000000", word };
	uint64_t opened[2], asked[2][2];
	unsigned long long said[2] = { 0 };
	FILE *f;

	(void)state;
	close(mkstemp(path));
	snprintf(word, sizeof(word), "log=%s", path);
	opened[0] = clock_ticks();
	assert_int_equal(plugin_load(words, COUNT(words)), 0);
	opened[1] = clock_ticks();
	guest_begin(true);
	for (unsigned i = 0; i < 2; i++) {
		do
			asked[i][0] = clock_ticks();
		while (asked[i][0] - opened[1] < 2u * WINDOW * (i + 1));
		(void)guest_ask(0x40, -1);
		asked[i][1] = clock_ticks();
	}
	emulator_end();
	f = fopen(path, "r");
	assert_int_equal(fscanf(f, "%llu vcpu 0 %*[^\n]\n%llu vcpu 0", &said[0], &said[1]), 2);
	fclose(f);
	unlink(path);
	for (int i = 0; i < 2; i++)
		if (said[i] + WINDOW + 1024 < 512000000 + asked[i][0] - opened[1] ||
		    said[i] > 512000000 + 1024 + asked[i][1] - opened[0])
			fail_msg("%llu, not from %llu to %llu", said[i] - 512000000,
				 (unsigned long long)(asked[i][0] - opened[1]),
				 (unsigned long long)(asked[i][1] - opened[0]));
}

static void a_step_of_zero_stands_still(void **state)
{
	static const char *const words[] = { "load=large", "start=512000000", "step=0" };

	(void)state;
	assert_int_equal(plugin_load(words, COUNT(words)), 0);
	guest_begin(true);
	for (int i = 0; i < 2; i++) {
		(void)guest_ask(0x94, 3);
		assert_int_equal(be64_get(m.memory + BLOCK + GPCI_HEADER + 0x10), 512000000);
	}
	emulator_end();
}

static void firmware_partition_and_rights_are_the_guests(void **state)
{
	static const char *const mute[] = { "firmware=8", "partition=2", "rights=none", "load=donating", "step=0" };
	static const char *const lab[] = { "firmware=0", "rights=all+lab", "seed=3", "load=donating", "step=0" };

	(void)state;
	assert_int_equal(plugin_load(mute, COUNT(mute)), 0);
	guest_begin(true);
	assert_int_equal(guest_ask(0x10, 0), H_AUTHORITY);
	assert_int_equal(guest_ask(0x30, -1), H_NOT_AVAILABLE);
	assert_int_equal(guest_ask(0x20, -1), H_SUCCESS);
	assert_int_equal(be64_get(m.memory + BLOCK + GPCI_HEADER), 2);
	emulator_end();
	assert_int_equal(plugin_load(lab, COUNT(lab)), 0);
	guest_begin(false);
	assert_int_equal(guest_ask(0x10, 0), H_SUCCESS);
	assert_int_equal(guest_ask(0x80002000, 0), H_SUCCESS);
	emulator_end();
}

static void wrong_arguments_are_named(void **state)
{
	static const struct option_row rows[] = {
		{ __LINE__, "machine=batoka", "machine=batoka: expected power" },
		{ __LINE__, "seed=0", "seed=0: expected a number" },
		{ __LINE__, "load=full", "load=full: unknown load (expected one of mixed," },
		{ __LINE__, "firmware=4", "firmware=4: there are the levels" },
		{ __LINE__, "partition=0", "partition=0: expected a number" },
		{ __LINE__, "rights=all,", "rights: invalid value '' (expected all, expanded, lab" },
		{ __LINE__, "rights=", "rights: invalid value ''" },
		{ __LINE__, "start=x", "start=x: expected ticks" },
		{ __LINE__, "step=-1", "step=-1: expected ticks" },
		{ __LINE__, "log=", "log=: expected a path" },
		{ __LINE__, "firmware", "firmware: unknown argument; did you mean 'firmware='?" },
		{ __LINE__, "lod=mixed", "lod=mixed: unknown argument; did you mean 'load='?" },
		{ __LINE__, "config=/nowhere/machine", "/nowhere/machine" },
	};

	(void)state;
	options_say(qemu_options, rows, COUNT(rows), false);
}

static void numbers_may_be_as_large_as_their_bounds(void **state)
{
	static const struct option_row rows[] = {
		{ __LINE__, "partition=1", "" },
		{ __LINE__, "partition=65534", "" },
		{ __LINE__, "partition=65535", "partition=65535: expected a number from 1 to 65534" },
		{ __LINE__, "partition=x", "partition=x: expected a number from 1 to 65534" },
		{ __LINE__, "start=1843200000000", "" }, /* an hour */
		{ __LINE__, "start=1843200000001",
		  "start=1843200000001: expected ticks of the timebase, at most an hour" },
		{ __LINE__, "step=1843200000000", "" },
		{ __LINE__, "step=1843200000001",
		  "step=1843200000001: expected ticks of the timebase, at most an hour" },
	};

	(void)state;
	options_say(qemu_options, rows, COUNT(rows), true);
}

static void what_is_not_said_is_as_usual(void **state)
{
	char *words[] = { (char *)"load=donating", (char *)"step=5", (char *)"partition=7", (char *)"start=9" };
	struct qemu_options o;
	struct err e = { .text = "as it was" };

	(void)state;
	assert_int_equal(qemu_options(&o, 0, NULL, &e), 0);
	assert_string_equal(o.model.machine, "power");
	assert_int_equal(o.partition, 1);
	assert_int_equal(o.start, 0);
	assert_false(o.by_step);
	assert_null(o.log);
	assert_null(o.config);
	qemu_options_free(&o);
	assert_int_equal(qemu_options(&o, COUNT(words), words, &e), 0);
	assert_true(o.by_step);
	assert_int_equal(o.step, 5);
	assert_int_equal(o.start, 9);
	assert_int_equal(o.partition, 7);
	assert_int_equal(o.model.asker, 7);
	qemu_options_free(&o);
	assert_string_equal(e.text, "as it was"); /* words are for what failed */
}

/* A word that is right does not hide one before it that is wrong, and the first that is wrong is named. */
static void the_first_wrong_word_is_named_wherever_it_stands(void **state)
{
	char *words[] = { (char *)"step=1", (char *)"seed=0", (char *)"lod=x", (char *)"load=donating" };
	struct qemu_options o;
	struct err e = { 0 };

	(void)state;
	assert_int_equal(qemu_options(&o, COUNT(words), words, &e), -TALLY_EINVAL);
	assert_non_null(strstr(e.text, "seed=0: expected"));
	words[0] = (char *)"step=x"; /* words that are the plugin's own come first */
	e = (struct err){ 0 };
	assert_int_equal(qemu_options(&o, COUNT(words), words, &e), -TALLY_EINVAL);
	assert_non_null(strstr(e.text, "step=x: expected"));
	assert_int_equal(mem_live(), 0);
}

static void another_emulator_and_an_old_one_are_refused(void **state)
{
	const qemu_info_t arm = { .target_name = "aarch64", .system_emulation = true },
			  old = { "ppc64", { 2, 5 }, true, { 1, 1 } };

	(void)state;
	assert_int_equal(qemu_plugin_install(1, &arm, 0, NULL), 1);
	qemu_plugin_version = 2; /* as in an emulator that can't set the PC */
	assert_int_equal(qemu_plugin_install(1, &old, 0, NULL), 1);
	qemu_plugin_version = 7;
	assert_int_equal(mem_live(), 0);
}

static void memory_that_is_out_refuses_to_load(void **state)
{
	(void)state;
	for (long n = 1;; n++) {
		mem_fail_at(n);
		if (plugin_load(stepping, COUNT(stepping)) == 0)
			break;
		assert_int_equal(mem_live(), 0);
		assert_true(n < 1000);
	}
	mem_fail_at(0);
	emulator_end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_call_of_either_byte_order_is_answered_and_not_executed),
		cmocka_unit_test(other_hypercalls_are_qemus),
		cmocka_unit_test(a_site_is_kept_once_until_the_flush),
		cmocka_unit_test(a_block_that_is_no_memory_is_privilege_and_devices_are_not_touched),
		cmocka_unit_test(the_upper_four_bits_of_an_address_are_not_looked_at),
		cmocka_unit_test(time_goes_on_by_the_step_and_the_log_says_so),
		cmocka_unit_test(without_a_step_time_goes_on_by_the_clock),
		cmocka_unit_test(a_step_of_zero_stands_still),
		cmocka_unit_test(firmware_partition_and_rights_are_the_guests),
		cmocka_unit_test(wrong_arguments_are_named),
		cmocka_unit_test(numbers_may_be_as_large_as_their_bounds),
		cmocka_unit_test(what_is_not_said_is_as_usual),
		cmocka_unit_test(the_first_wrong_word_is_named_wherever_it_stands),
		cmocka_unit_test(another_emulator_and_an_old_one_are_refused),
		cmocka_unit_test(memory_that_is_out_refuses_to_load),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
