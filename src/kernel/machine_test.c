/* machine_test.c: chips, nodes and clock of machines whose sysfs is made up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysinfo.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "kernel/kernel_int.h"
#include "kernel/machine.h"

#define CPU "devices/system/cpu/cpu"
#define NODE "devices/system/node/"

static char root[64];

static int tree(void **state)
{
	(void)state;
	strcpy(root, "/tmp/tally-machine-XXXXXX");
	return mkdtemp(root) ? 0 : -1;
}

static int drop(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof(command), "rm -r %s", root);
	return system(command);
}

static void put(const char *file, const char *text)
{
	char command[512];

	snprintf(command, sizeof(command), "f=%s/%s; mkdir -p ${f%%/*} && printf '%s' >$f", root, file, text);
	assert_int_equal(system(command), 0);
}

static void topology(const char *cpu, const char *chip, const char *cpus)
{
	char file[128];

	snprintf(file, sizeof(file), "sys/" CPU "%s/topology/physical_package_id", cpu);
	put(file, chip);
	snprintf(file, sizeof(file), "sys/" CPU "%s/topology/package_cpus_list", cpu);
	put(file, cpus);
}

static void machine(struct k_machine *m, uint32_t ncpus)
{
	char sysfs[80];

	snprintf(sysfs, sizeof(sysfs), "%s/sys", root);
	assert_int_equal(k_machine_open(m, sysfs, ncpus), 0);
}

static void same(const int32_t *have, const int32_t *want, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(have[i], want[i]);
}

static void a_chip_names_all_its_cpus_and_a_node_too(void **state)
{
	struct k_machine m;

	(void)state;
	topology("0", "0\\n", "0-1,4-5\\n");
	topology("2", "7\\n", "2-3,6\\n"); /* CPU 7 is offline */
	put("sys/" NODE "online", "0,2\\n");
	put("sys/" NODE "node0/cpulist", "0,2,4,6\\n");
	put("sys/" NODE "node2/cpulist", "1,3,5\\n");
	put("sys/" CPU "0/cpufreq/cpuinfo_max_freq", "3600000\\n");
	put("proc/cpuinfo", "processor : 0\\ncpu MHz\\t\\t: 2596.098\\n");
	machine(&m, 8);
	same(m.chip, (int32_t[]){ 0, 0, 7, 7, 0, 0, 7, K_MACHINE_NONE }, 8);
	same(m.node, (int32_t[]){ 0, 2, 0, 2, 0, 2, 0, K_MACHINE_NONE }, 8);
	assert_int_equal(m.mhz, 3600);
	k_machine_close(&m);
}

static void what_is_not_there_is_not_made_up(void **state)
{
	struct k_machine m;

	(void)state;
	topology("0", "0\\n", "a list of none\\n"); /* of one CPU, whatever the list says */
	topology("1", "1\\n", "0-99\\n");
	put("proc/cpuinfo", "processor : 0\\ncpu MHz\\t\\t: 2596.098\\n");
	machine(&m, 3);
	same(m.chip, (int32_t[]){ 0, 1, K_MACHINE_NONE }, 3);
	same(m.node, (int32_t[]){ 0, 0, 0 }, 3); /* a kernel without nodes */
	assert_int_equal(m.mhz, 2596);
	k_machine_close(&m);
	put("proc/cpuinfo", "processor : 0\\nBogoMIPS : 50.00\\n");
	machine(&m, 3);
	assert_int_equal(m.mhz, 0);
	k_machine_close(&m);
}

static void memory_and_clock_are_those_of_this_machine(void **state)
{
	struct k_machine m;
	struct sysinfo si;
	struct timespec wall, boot;

	(void)state;
	assert_int_equal(sysinfo(&si), 0);
	machine(&m, 1);
	assert_int_equal(m.page_bytes, getpagesize());
	assert_int_equal(m.memory_pages * m.page_bytes, (uint64_t)si.totalram * si.mem_unit);
	clock_gettime(CLOCK_REALTIME, &wall);
	clock_gettime(CLOCK_BOOTTIME, &boot);
	assert_true(llabs(m.boot_ns / 1000000000 - (wall.tv_sec - boot.tv_sec)) <= 1);
	assert_true(m.type[0] != '\0');
	k_machine_close(&m);
}

static void memory_that_runs_out_is_told(void **state)
{
	(void)state;
	for (long n = 1;; n++) {
		struct k_machine m = { 0 };
		int rc;

		mem_fail_at(n);
		rc = k_machine_open(&m, root, 4);
		k_machine_close(&m);
		if (!mem_failed())
			break;
		assert_int_equal(rc, -TALLY_ENOMEM);
		assert_int_equal(mem_live(), 0);
	}
	mem_fail_at(0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_chip_names_all_its_cpus_and_a_node_too, tree, drop),
		cmocka_unit_test_setup_teardown(what_is_not_there_is_not_made_up, tree, drop),
		cmocka_unit_test_setup_teardown(memory_and_clock_are_those_of_this_machine, tree, drop),
		cmocka_unit_test_setup_teardown(memory_that_runs_out_is_told, tree, drop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
