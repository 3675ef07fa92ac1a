/* timebase_test.c: the timebase of a machine, from a device tree and from /proc/cpuinfo. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "kernel/hv_gpci_int.h"

#define CPU "sys/firmware/devicetree/base/cpus/PowerPC,POWER10@0/"

/* A new tree; root is its sys. */
static void tree(char root[static 64])
{
	char command[256];

	strcpy(root, "/tmp/tally-tb-XXXXXX");
	assert_non_null(mkdtemp(root));
	snprintf(command, sizeof(command), "cd %s && mkdir -p " CPU " proc", root);
	assert_int_equal(system(command), 0);
	strcat(root, "/sys");
}

static void drop(const char *root)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -r %.*s", (int)(strlen(root) - 4), root);
	assert_int_equal(system(command), 0);
}

static void put(const char *root, const char *file, const void *p, size_t n)
{
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s/../%s", root, file);
	f = fopen(path, "w");
	assert_non_null(f);
	assert_int_equal(fwrite(p, 1, n, f), n);
	fclose(f);
}

#define PUT(root, file, text) put(root, file, text, sizeof(text) - 1)

static void a_property_of_four_bytes_is_the_timebase(void **state)
{
	char root[64];

	(void)state;
	tree(root);
	assert_int_equal(timebase_hz(root), 0);
	PUT(root, CPU "timebase-frequency", "\x1e\x84\x80\x00");
	assert_int_equal(timebase_hz(root), 512000000);
	PUT(root, CPU "timebase-frequency", "\x00\x00\x01\n"); /* ends like a line of text */
	assert_int_equal(timebase_hz(root), 266);
	drop(root);
}

static void the_extended_property_goes_before(void **state)
{
	char root[64];

	(void)state;
	tree(root);
	PUT(root, CPU "timebase-frequency", "\x1e\x84\x80\x00");
	PUT(root, CPU "ibm,extended-timebase-frequency", "\0\0\0\0\x3b\x9a\xca\0");
	assert_int_equal(timebase_hz(root), 1000000000);
	drop(root);
}

static void without_a_device_tree_cpuinfo_says_it(void **state)
{
	char root[64];

	(void)state;
	tree(root);
	PUT(root, "proc/cpuinfo", "processor\t: 0\ncpu\t\t: POWER9\n\ntimebase\t: 207000000\nplatform\t: pSeries\n");
	assert_int_equal(timebase_hz(root), 207000000);
	PUT(root, CPU "timebase-frequency", "\x1e\x84\x80\x00");
	assert_int_equal(timebase_hz(root), 512000000);
	drop(root);
}

static void what_can_be_no_timebase_is_none(void **state)
{
	char root[64];

	(void)state;
	tree(root);
	PUT(root, CPU "timebase-frequency", "\x1e\x84\x80");
	PUT(root, CPU "ibm,extended-timebase-frequency", "\xff\xff\xff\xff\xff\xff\xff\xff");
	PUT(root, "proc/cpuinfo", "timebase\t: fast\ntimebase : 99999999999999999999999\ntimebase : 0\n");
	assert_int_equal(timebase_hz(root), 0);
	PUT(root, CPU "timebase-frequency", "\x1e\x84\x80\x00\x00\x00\x00\x00\x00");
	assert_int_equal(timebase_hz(root), 0);
	drop(root);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_property_of_four_bytes_is_the_timebase),
		cmocka_unit_test(the_extended_property_goes_before),
		cmocka_unit_test(without_a_device_tree_cpuinfo_says_it),
		cmocka_unit_test(what_can_be_no_timebase_is_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
