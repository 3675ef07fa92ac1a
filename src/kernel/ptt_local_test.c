/* ptt_local_test.c: PTT devices of fake sysfs trees (test/sysfs/ptt, ptt-bad), and events that the kernel refuses. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "kernel/ptt_local.h"
#include "kernel/says_test_int.h"

#define TREE "test/sysfs/ptt"
#define BAD "test/sysfs/ptt-bad"
#define NOBODY 65534

static struct ptt_pmus opened(const char *root)
{
	struct ptt_pmus p = { 0 };
	struct err e = { 0 };

	assert_int_equal(k_ptt_pmus(&p, root, &e), 0);
	assert_string_equal(p.op->what, "this machine");
	assert_null(p.op->advance);
	return p;
}

static uint32_t listed(struct ptt_pmus p, const struct ptt_pmu **v)
{
	struct err e = { 0 };
	uint32_t n = 0;

	if (p.op->list(p.arg, v, &n, &e) < 0)
		fail_msg("%s", e.text);
	return n;
}

static void closed(struct ptt_pmus p)
{
	p.op->close(p.arg);
	assert_int_equal(mem_live(), 0);
}

/* ---- listing -------------------------------------------------------------------------- */

static void devices_come_in_order_of_their_numbers(void **state)
{
	struct ptt_pmus p = opened(TREE);
	const struct ptt_pmu *v;

	(void)state;
	assert_int_equal(listed(p, &v), 3);
	assert_string_equal(v[0].name, "hisi_ptt0_2");
	assert_string_equal(v[1].name, "hisi_ptt0_10");
	assert_string_equal(v[2].name, "hisi_ptt1_0");
	assert_true(v[0].type == 12 && v[1].type == 14 && v[2].type == 13);
	assert_string_equal(v[0].cpus, "0-15");
	assert_string_equal(v[2].cpus, "16-31");
	closed(p);
}

static void filters_are_ports_first_then_by_value(void **state)
{
	static const struct ptt_filter want[] = {
		{ "0000:00:10.0", 0x80001, true },  { "0000:00:11.0", 0x80004, true },
		{ "0000:00:12.0", 0x80010, true },  { "0000:01:00.0", 0x00100, false },
		{ "0000:01:00.1", 0x00101, false }, { "0000:02:00.0", 0x00200, false },
	};
	struct ptt_pmus p = opened(TREE);
	const struct ptt_pmu *v;

	(void)state;
	listed(p, &v);
	assert_int_equal(v[0].nfilters, COUNT(want));
	for (size_t i = 0; i < COUNT(want); i++) {
		assert_string_equal(v[0].filter[i].name, want[i].name);
		assert_int_equal(v[0].filter[i].value, want[i].value);
		assert_int_equal(v[0].filter[i].port, want[i].port);
	}
	assert_int_equal(v[1].nfilters, 0);
	assert_string_equal(v[2].filter[0].name, "10000:80:10.0");
	assert_int_equal(listed(p, &v), 3); /* again: the list before is gone, and nothing else */
	closed(p);
}

static void machine_without_devices_is_told_of_the_model(void **state)
{
	static const char *const root[] = { "test/sysfs/amd", "test/sysfs/none-such",
					    "test/sysfs/ptt/bus/event_source/devices/cpu/type" };

	(void)state;
	for (size_t i = 0; i < COUNT(root); i++) {
		struct ptt_pmus p = opened(root[i]);
		const struct ptt_pmu *v = NULL;
		struct err e = { 0 };
		uint32_t n = 7;

		assert_int_equal(p.op->list(p.arg, &v, &n, &e), -TALLY_ENOTSUP);
		SAYS(e, "this machine has no PTT device");
		SAYS(e, "--on kunpeng");
		assert_true(!v && n == 7);
		closed(p);
	}
}

static void hostile_tree_gives_only_what_makes_sense(void **state)
{
	struct ptt_pmus p = opened(BAD);
	const struct ptt_pmu *v;

	(void)state;
	assert_int_equal(listed(p, &v), 3);
	assert_string_equal(v[0].name, "hisi_ptt0_5");
	assert_int_equal(v[0].nfilters, 2);
	assert_true(v[0].filter[0].value == 0x80001 && v[0].filter[1].value == 0x100);
	assert_string_equal(v[0].cpus, "0,2,4,6,8,10,12,14,16,18,20,22,24,26,28,30,32,34,36,38,40,42,44");
	assert_string_equal(v[1].cpus, "");
	assert_int_equal(v[1].nfilters, 0);
	assert_string_equal(v[2].cpus, "");
	closed(p);
}

static void overlong_root_is_refused(void **state)
{
	char root[600];
	struct ptt_pmus p = { 0 };
	struct err e = { 0 };

	(void)state;
	memset(root, 'x', sizeof(root) - 1);
	root[sizeof(root) - 1] = 0;
	assert_int_equal(k_ptt_pmus(&p, root, &e), -TALLY_EINVAL);
	SAYS(e, "longer than");
	assert_null(p.op);
	assert_int_equal(mem_live(), 0);
}

static void list_survives_each_failed_allocation(void **state)
{
	long n = 1;

	(void)state;
	for (bool ran_out = true; ran_out; n++) {
		struct ptt_pmus p = { 0 };
		const struct ptt_pmu *v;
		struct err e = { 0 };
		uint32_t count = 0;
		int rc;

		mem_fail_at(n);
		rc = k_ptt_pmus(&p, TREE, &e);
		if (rc == 0)
			rc = p.op->list(p.arg, &v, &count, &e);
		ran_out = mem_failed();
		mem_fail_at(0);
		assert_int_equal(rc, ran_out ? -TALLY_ENOMEM : 0);
		if (ran_out && p.op) { /* and the next one is whole */
			struct err again = { 0 };

			assert_int_equal(p.op->list(p.arg, &v, &count, &again), 0);
			assert_int_equal(count, 3);
		}
		if (p.op)
			p.op->close(p.arg);
		assert_int_equal(mem_live(), 0);
	}
	assert_true(n > 4);
}

/* ---- a tree that is written to ------------------------------------------------------------ */

struct copy {
	char root[64];
	struct ptt_pmus p;
	bool demoted;
};

static struct copy copied(void)
{
	struct copy c = { .root = "/tmp/tally-ptt-XXXXXX" };
	char command[256];
	const struct ptt_pmu *v;

	assert_non_null(mkdtemp(c.root));
	snprintf(command, sizeof(command), "cp -r " TREE "/bus %s && chmod -R a+rwX %s", c.root, c.root);
	assert_int_equal(system(command), 0);
	c.p = opened(c.root);
	listed(c.p, &v);
	return c;
}

static void in_tree(const struct copy *c, const char *file, char to[static 256])
{
	snprintf(to, 256, "%s/bus/event_source/devices/hisi_ptt0_2/%s", c->root, file);
}

static void restrict_file(const struct copy *c, const char *file)
{
	char path[256];

	in_tree(c, file, path);
	assert_int_equal(chmod(path, 0), 0);
}

/* root may read everything: somebody else looks. */
static void demote(struct copy *c)
{
	if (geteuid() == 0) {
		assert_int_equal(seteuid(NOBODY), 0);
		c->demoted = true;
	}
}

static void uncopied(struct copy *c)
{
	char command[256];

	if (c->demoted)
		assert_int_equal(seteuid(0), 0);
	snprintf(command, sizeof(command), "chmod -R u+rwX %s && rm -r %s", c->root, c->root);
	assert_int_equal(system(command), 0);
	closed(c->p);
}

static void tunables_are_read(void **state)
{
	static const uint32_t want[][PTT_TUNES] = { { 1, 1, 1, 0, 2 }, { 1, 1, 1, 0, 2 }, { 2, 0, 1, 2, 0 } };
	struct ptt_pmus p = opened(TREE);
	const struct ptt_pmu *v;
	struct err e = { 0 };

	(void)state;
	for (uint32_t i = 0, n = listed(p, &v); i < n; i++)
		for (uint32_t t = 0; t < PTT_TUNES; t++) {
			uint32_t value = 77;

			assert_int_equal(p.op->tune_get(p.arg, i, (enum ptt_tune)t, &value, &e), 0);
			assert_int_equal(value, want[i][t]);
		}
	closed(p);
}

static void tunables_are_written_as_echo_does(void **state)
{
	struct copy c = copied();
	struct err e = { 0 };
	char path[256], text[16] = "";
	uint32_t value = 0;
	int fd;

	(void)state;
	assert_int_equal(c.p.op->tune_set(c.p.arg, 0, PTT_TUNE_qos_tx_p, 65535, &e), 0);
	assert_int_equal(c.p.op->tune_set(c.p.arg, 0, PTT_TUNE_qos_tx_p, 2, &e), 0);
	in_tree(&c, "tune/qos_tx_p", path);
	fd = open(path, O_RDONLY);
	assert_int_equal(read(fd, text, sizeof(text)), 2);
	close(fd);
	assert_string_equal(text, "2\n");
	assert_int_equal(c.p.op->tune_get(c.p.arg, 0, PTT_TUNE_qos_tx_p, &value, &e), 0);
	assert_int_equal(value, 2);
	assert_int_equal(c.p.op->tune_get(c.p.arg, 0, PTT_TUNE_qos_tx_np, &value, &e), 0);
	assert_int_equal(value, 1);
	uncopied(&c);
}

static void tunables_that_can_not_be_are_refused(void **state)
{
	struct ptt_pmus p = opened(TREE);
	const struct ptt_pmu *v;
	uint32_t n = listed(p, &v), value = 77;

	(void)state;
	for (int i = 0; i < 3; i++) {
		struct err e = { 0 };
		int rc = i == 0 ? p.op->tune_set(p.arg, 0, PTT_TUNE_qos_tx_p, 65536, &e) :
			 i == 1 ? p.op->tune_get(p.arg, n, PTT_TUNE_qos_tx_p, &value, &e) :
				  p.op->tune_get(p.arg, 0, PTT_TUNES, &value, &e);

		assert_int_equal(rc, -TALLY_EINVAL);
		SAYS(e, i ? "no such device or tunable" : "65536 is more than 65535");
	}
	assert_int_equal(value, 77);
	closed(p);
}

static void tunables_that_hold_no_number_are_refused(void **state)
{
	struct ptt_pmus p = opened(BAD);
	const struct ptt_pmu *v;

	(void)state;
	listed(p, &v);
	for (uint32_t t = 0; t < PTT_TUNES; t++) {
		struct err e = { 0 };
		uint32_t value = 77;
		int rc = p.op->tune_get(p.arg, 0, (enum ptt_tune)t, &value, &e);

		assert_int_equal(rc, t == PTT_TUNE_tx_alloc_buf_level ? -TALLY_ENOTSUP : -TALLY_EIO);
		SAYS(e, t == PTT_TUNE_tx_alloc_buf_level ? "the device is gone, or its driver does not have it" :
							   "does not hold a 16-bit number");
		assert_int_equal(value, 77);
	}
	closed(p);
}

static void what_is_roots_is_refused_with_the_fix(void **state)
{
	struct copy c = copied();
	struct err e = { 0 }, e2 = { 0 };
	uint32_t value = 77;

	(void)state;
	restrict_file(&c, "tune/qos_tx_p");
	demote(&c);
	assert_int_equal(c.p.op->tune_get(c.p.arg, 0, PTT_TUNE_qos_tx_p, &value, &e), -TALLY_EPERM);
	SAYS(e, "tune/qos_tx_p: permission denied (only root may, mode 600): run with sudo");
	assert_int_equal(c.p.op->tune_set(c.p.arg, 0, PTT_TUNE_qos_tx_p, 1, &e2), -TALLY_EPERM);
	SAYS(e2, "writing ");
	assert_int_equal(value, 77);
	uncopied(&c);
}

/* Mode 400 in the genuine tree; the values follow from the names. */
static void filters_that_can_not_be_read_are_told_by_their_names(void **state)
{
	struct copy c = copied();
	const struct ptt_pmu *v;

	(void)state;
	restrict_file(&c, "root_port_filters/0000:00:12.0");
	restrict_file(&c, "root_port_filters/multiselect");
	restrict_file(&c, "requester_filters/0000:01:00.1");
	demote(&c);
	listed(c.p, &v);
	assert_int_equal(v[0].nfilters, 6);
	assert_int_equal(v[0].filter[2].value, 0x80010);
	assert_int_equal(v[0].filter[4].value, 0x00101);
	uncopied(&c);
}

static void unplugged_function_is_gone_from_the_next_list(void **state)
{
	struct copy c = copied();
	const struct ptt_pmu *v;
	char path[256];

	(void)state;
	in_tree(&c, "requester_filters/0000:01:00.1", path);
	assert_int_equal(unlink(path), 0);
	listed(c.p, &v);
	assert_int_equal(v[0].nfilters, 5);
	uncopied(&c);
}

/* ---- events ---------------------------------------------------------------------------------- */

/* To the kernel's software PMU that is the CPU's clock. */
static const struct ptt_ask ask = { .device = "hisi_ptt0_2" };

static int lowest_fd(void)
{
	int fd = dup(0);

	close(fd);
	return fd;
}

/* Starts on a PMU of that number; no trace is left behind. */
static int started(uint32_t type, const char *cpus, size_t ring, struct err *e)
{
	struct ptt_pmus p = opened(TREE);
	struct ptt_pmu pmu = { .name = "hisi_ptt0_2", .type = type };
	struct ptt_aux a = { .n = 7 };
	struct err none = { 0 };
	int fd = lowest_fd(), rc;

	snprintf(pmu.cpus, sizeof(pmu.cpus), "%s", cpus);
	rc = p.op->start(p.arg, &pmu, &ask, ring, e);
	assert_int_equal(p.op->next(p.arg, &a, 0, &none), 0);
	assert_int_equal(a.n, 7);
	assert_int_equal((p.op->stop)(p.arg, &none), 0); /* cmocka 2 has a macro stop() */
	assert_int_equal(lowest_fd(), fd);
	closed(p);
	return rc;
}

static bool may_trace(void)
{
	struct err e = { 0 };

	return started(1, "0", 16u << 20, &e) != -TALLY_EPERM;
}

static void pmu_without_aux_data_is_refused(void **state)
{
	struct err e = { 0 };
	int rc = started(1, "0-3", 16u << 20, &e); /* the kernel's software PMU stands in */

	(void)state;
	if (rc == -TALLY_EPERM) {
		SAYS(e, "a trace of hisi_ptt0_2 needs cap_perfmon: sudo sh -ec ");
		return;
	}
	assert_int_equal(rc, -TALLY_ENOTSUP);
	SAYS(e, "PMU hisi_ptt0_2 (type 1) gives no AUX data");
}

static void device_that_is_gone_is_refused(void **state)
{
	struct err e = { 0 };

	(void)state;
	if (!may_trace())
		skip();
	assert_int_equal(started(0x7ffffff0, "0", 16u << 20, &e), -TALLY_ENOTSUP);
	SAYS(e, "hisi_ptt0_2 was removed, or CPU 0 on its socket is offline");
}

static void cpu_that_is_not_there_is_refused(void **state)
{
	struct err e = { 0 };

	(void)state;
	if (!may_trace())
		skip();
	assert_true(started(1, "4000000", 16u << 20, &e) < 0);
	assert_true(*e.text);
}

static void rings_that_can_not_be_are_refused(void **state)
{
	static const size_t ring[] = { 0, 4096, (4u << 20) - 1, 2u << 20, 12u << 20, 24u << 20 };

	(void)state;
	for (size_t i = 0; i < COUNT(ring); i++) {
		struct err e = { 0 };

		assert_int_equal(started(12, "0", ring[i], &e), -TALLY_EINVAL);
		SAYS(e, "a power of two, 4 MiB or more");
	}
}

static void device_without_a_number_is_refused(void **state)
{
	struct err e = { 0 };

	(void)state;
	assert_int_equal(started(0, "0", 16u << 20, &e), -TALLY_ENOTSUP);
	SAYS(e, "this kernel has no PMU hisi_ptt0_2");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(devices_come_in_order_of_their_numbers),
		cmocka_unit_test(filters_are_ports_first_then_by_value),
		cmocka_unit_test(machine_without_devices_is_told_of_the_model),
		cmocka_unit_test(hostile_tree_gives_only_what_makes_sense),
		cmocka_unit_test(overlong_root_is_refused),
		cmocka_unit_test(list_survives_each_failed_allocation),
		cmocka_unit_test(tunables_are_read),
		cmocka_unit_test(tunables_are_written_as_echo_does),
		cmocka_unit_test(tunables_that_can_not_be_are_refused),
		cmocka_unit_test(tunables_that_hold_no_number_are_refused),
		cmocka_unit_test(what_is_roots_is_refused_with_the_fix),
		cmocka_unit_test(filters_that_can_not_be_read_are_told_by_their_names),
		cmocka_unit_test(unplugged_function_is_gone_from_the_next_list),
		cmocka_unit_test(pmu_without_aux_data_is_refused),
		cmocka_unit_test(device_that_is_gone_is_refused),
		cmocka_unit_test(cpu_that_is_not_there_is_refused),
		cmocka_unit_test(rings_that_can_not_be_are_refused),
		cmocka_unit_test(device_without_a_number_is_refused),
	};

	return cmocka_run_group_tests_name("ptt_local", tests, NULL, NULL);
}
