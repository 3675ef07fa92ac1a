/* refs_test.c: the plugin in an emulator of programs, with the interface of today and with the first. */
#include "machine/niagara_trace.h"
#include "qemu/plugin_test_int.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define PC 0x100000u
#define DATA UINT64_C(0x4000801000)
#define STORE 0x100u
#define EIGHT 3u

static char path[] = "/tmp/tally-refs-XXXXXX", said[8192];
static const int versions[] = { 7, 2, 1 };

static int plugin_load(int version, const char *word, const char *more)
{
	const qemu_info_t info = { .target_name = "sparc64", .version = { version, version } };
	const char *words[] = { word, more };

	m = (struct fake_qemu){ .flags = QEMU_NO_REGS };
	qemu_plugin_version = version;
	return qemu_plugin_install(1, &info, more ? 2 : 1, (char **)words);
}

static void load_to(int version, const char *key, const char *more)
{
	char word[64];

	strcpy(path, "/tmp/tally-refs-XXXXXX");
	close(mkstemp(path));
	snprintf(word, sizeof(word), "%s=%s", key, path);
	assert_int_equal(plugin_load(version, word, more), 0);
}

static void guest_end(void)
{
	FILE *f;

	emulator_end();
	qemu_plugin_version = 7;
	f = fopen(path, "r");
	said[fread(said, 1, sizeof(said) - 1, f)] = '\0';
	fclose(f);
	unlink(path);
}

static bool output_has(const char *name, unsigned long n)
{
	char line[64];

	snprintf(line, sizeof(line), "%-24s %lu\n", name, n);
	return strstr(said, line);
}

/* What the plugin writes to standard error until told_end(). */
static char told[512];
static int told_fd, stderr_saved;

static void told_begin(void)
{
	char name[] = "/tmp/tally-refs-told-XXXXXX";

	told_fd = mkstemp(name);
	unlink(name);
	fflush(stderr);
	stderr_saved = dup(2);
	assert_int_equal(dup2(told_fd, 2), 2);
}

static void told_end(void)
{
	ssize_t n;

	fflush(stderr);
	assert_int_equal(dup2(stderr_saved, 2), 2);
	n = pread(told_fd, told, sizeof(told) - 1, 0);
	assert_true(n >= 0);
	told[n] = '\0';
	close(told_fd);
	close(stderr_saved);
}

/* Three instructions: one that loads, one that stores, one that does both. */
static void guest_run(unsigned vcpu, int times)
{
	struct qemu_plugin_tb tb = { { { .pc = PC }, { .pc = PC + 4 }, { .pc = PC + 8 } } };

	emulator_translate(&tb);
	for (int i = 0; i < times; i++)
		for (int k = 0; k < 3; k++) {
			const struct qemu_plugin_insn *insn = &tb.insn[k];

			insn->exec(vcpu, insn->exec_arg);
			if (k != 1)
				insn->mem(vcpu, EIGHT, DATA + (unsigned)k * 64, insn->mem_arg);
			if (k)
				insn->mem(vcpu, EIGHT | STORE, DATA + (unsigned)k * 64, insn->mem_arg);
		}
}

static void references_are_counted_by_the_model(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(versions); i++) {
		load_to(versions[i], "log", "machine=niagara");
		guest_run(0, 100);
		guest_end();
		assert_true(output_has("instructions", 300) && output_has("fetches", 300) && output_has("loads", 200) &&
			    output_has("stores", 200));
		assert_true(output_has("ic_miss", 1) && output_has("dc_miss", 2) && output_has("l2_remote", 0));
		assert_non_null(strstr(said, "\nnode0_mcu0_reads "));
	}
}

static void threads_are_strands_and_what_more_than_there_can_be_do_is_lost_and_told(void **state)
{
	(void)state;
	load_to(7, "log", "machine=batoka");
	guest_run(0, 1);
	guest_run(65, 1); /* of the second socket */
	guest_run(1023, 1);
	guest_run(1024, 1);
	told_begin();
	guest_end();
	told_end();
	assert_true(output_has("fetches", 9));
	assert_string_equal(told,
			    "tally-qemu.so: lost references: 7 (more than 1024 threads at once, or out of memory)\n");
	assert_null(strstr(said, "l2_remote                0"));
}

static void as_text_they_are_lackeys(void **state)
{
	struct niagara_reader reader = { .format = NIAGARA_LACKEY };
	struct niagara *n;
	struct err e = { 0 };

	(void)state;
	for (size_t i = 0; i < COUNT(versions); i++) {
		load_to(versions[i], "refs", NULL);
		guest_run(0, 30);
		guest_end();
		said[170] = '\0';
		assert_int_equal(
			strncmp(said,
				"I  00100000,4\n L 4000801000,8\nI  00100004,4\n S 4000801040,8\nI  00100008,4\n L 4000801080,8\n"
				" S 4000801080,8\nI  00100000,4\n",
				120),
			0);
		assert_int_equal(niagara_open(&n, sun4v_kind("niagara", 0), &(struct niagara_opts){ 0 }, &e), 0);
		niagara_read(&reader, n, said, strlen(said));
		assert_int_equal(reader.skipped, 0);
		assert_true(niagara_truth(n)->refs[NIAGARA_FETCH] >= 5);
		niagara_close(n);
		reader = (struct niagara_reader){ .format = NIAGARA_LACKEY };
	}
}

static void a_size_and_an_address_of_any_length_fit_a_line(void **state)
{
	struct qemu_plugin_tb tb = { { { .pc = 0 }, { .pc = 4 }, { .pc = 8 } } };

	(void)state;
	load_to(7, "refs", NULL);
	emulator_translate(&tb);
	for (int i = 0; i < 200; i++)
		tb.insn[0].mem(0, 7, UINT64_MAX, tb.insn[0].mem_arg);
	guest_end();
	assert_int_equal(strncmp(said, " L ffffffffffff,128\n L ", 23), 0);
	assert_int_equal(strlen(said), 200 * 20);
}

static void a_disk_that_is_full_is_told(void **state)
{
	(void)state;
	told_begin();
	assert_int_equal(plugin_load(7, "refs=/dev/full", NULL), 0);
	guest_run(0, 100);
	emulator_end();
	told_end();
	assert_string_equal(told, "tally-qemu.so: the text of the references is incomplete: No space left on device\n");
	told_begin();
	assert_int_equal(plugin_load(7, "log=/dev/full", NULL), 0);
	guest_run(0, 100);
	emulator_end();
	told_end();
	assert_string_equal(told, "tally-qemu.so: the counters are incomplete: No space left on device\n");
}

static void wrong_arguments_are_named(void **state)
{
	static const struct option_row rows[] = {
		{ __LINE__, "machine=power", "machine=power: expected niagara" },
		{ __LINE__, "refs=", "refs=: expected a path" },
		{ __LINE__, "load=chase", "load=chase: unknown argument" },
		{ __LINE__, "ref=x", "did you mean 'refs='?" },
		{ __LINE__, "sockets=3", "sockets=3: unknown argument" },
	};

	(void)state;
	options_say(refs_options, rows, COUNT(rows), false);
	assert_int_equal(plugin_load(7, "refs=/tmp/x", "log=/tmp/y"), 1);
	assert_int_equal(plugin_load(7, "log=/nowhere/at/all", NULL), 1);
	assert_int_equal(mem_live(), 0);
}

static void memory_that_is_out_refuses_to_load_and_loses_references(void **state)
{
	(void)state;
	for (long n = 1;; n++) {
		mem_fail_at(n);
		if (plugin_load(7, "log=/dev/null", NULL) == 0)
			break;
		assert_int_equal(mem_live(), 0);
		assert_true(n < 1000);
	}
	mem_fail_at(1);
	struct qemu_plugin_tb tb = { { { .pc = PC }, { .pc = PC + 4 }, { .pc = PC + 8 } } };

	emulator_translate(&tb);
	assert_null(tb.insn[0].exec);
	mem_fail_at(2); /* the translation has memory, the batch has not */
	guest_run(0, 1);
	mem_fail_at(0);
	guest_run(0, 1);
	told_begin();
	emulator_end();
	told_end();
	assert_string_equal(told,
			    "tally-qemu.so: lost references: 1 (more than 1024 threads at once, or out of memory)\n"
			    "tally-qemu.so: unseen instructions: 3 (out of memory)\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(references_are_counted_by_the_model),
		cmocka_unit_test(threads_are_strands_and_what_more_than_there_can_be_do_is_lost_and_told),
		cmocka_unit_test(as_text_they_are_lackeys),
		cmocka_unit_test(a_size_and_an_address_of_any_length_fit_a_line),
		cmocka_unit_test(a_disk_that_is_full_is_told),
		cmocka_unit_test(wrong_arguments_are_named),
		cmocka_unit_test(memory_that_is_out_refuses_to_load_and_loses_references),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
