/*
 * hv_gpci_test.c: the kernel's hv_gpci PMU: files that the genuine driver wrote (test/sysfs/power, of POWER10 in a
 * guest), files that nobody should believe, and events of a kernel of the test's own.
 */
#include <errno.h>
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

#include "hv/gpci_guest.h"
#include "kernel/hv_gpci_int.h"
#include "kernel/says_test_int.h"

#define TREE "test/sysfs/power/sys"
#define PMU "/bus/event_source/devices/hv_gpci"

/* ---- events of the test's ------------------------------------------------------------------------ */

#define EVENTS_MOST 1024
struct events {
	struct {
		uint32_t request, offset;
		int32_t index;
		bool open;
	} at[EVENTS_MOST];
	int n, open;
	uint64_t time;
	int refuse, refuse_others; /* errno of opening; of all but the own */
	int32_t gone;              /* index that is refused as none; 0: none */
	bool fails;                /* the driver's call fails: 0 is read, so counts are far below */
};

static int event_open(void *arg, uint32_t type, uint32_t cpu, uint64_t config, uint64_t config1)
{
	struct events *v = arg;
	int32_t index = (int32_t)(config >> 32);

	assert_int_equal(type, 10);
	assert_int_equal(cpu, 0);
	assert_int_equal(config1 & 0xffff, 0);
	assert_int_equal(config1 >> 16 & 0xff, 8); /* version */
	assert_int_equal(config1 >> 24 & 0xff, 8); /* length */
	if (v->refuse || (v->refuse_others && index != -1))
		return v->refuse ? -v->refuse : -v->refuse_others;
	if (v->gone && index == v->gone)
		return -EINVAL;
	assert_true(v->n < EVENTS_MOST);
	v->at[v->n].request = (uint32_t)config;
	v->at[v->n].index = index;
	v->at[v->n].offset = (uint32_t)(config1 >> 32);
	v->at[v->n].open = true;
	v->open++;
	return v->n++;
}

/* Grows by a speed of its own. */
static uint64_t speed(uint32_t request, int32_t index, uint32_t offset)
{
	return request * 1000000 + (uint64_t)(index + 1) * 1000 + offset;
}

static int event_read(void *arg, int fd, uint64_t *ret)
{
	struct events *v = arg;

	assert_true(fd < v->n && v->at[fd].open);
	*ret = speed(v->at[fd].request, v->at[fd].index, v->at[fd].offset) * v->time -
	       (v->fails ? UINT64_C(1) << 50 : 0);
	return 0;
}

static void event_close(void *arg, int fd)
{
	struct events *v = arg;

	assert_true(v->at[fd].open);
	v->at[fd].open = false;
	v->open--;
}

static struct hv_transport opened(const char *root, struct events *v)
{
	struct hv_transport l;
	struct err e = { 0 };

	if (k_gpci_transport_open(&l, root, v ? &(struct k_gpci_perf){ v, event_open, event_read, event_close } : NULL,
				  &e) < 0)
		fail_msg("%s", e.text);
	return l;
}

static void closed(struct hv_transport *l)
{
	l->op->close(l->arg);
	assert_int_equal(mem_live(), 0);
}

static struct gpci_table table(struct hv_transport *l, const char *name, int32_t index)
{
	struct gpci_table t;
	struct err e = { 0 };

	if (gpci_read(&t, l, gpci_request_find(name), index, &e) < 0)
		fail_msg("%s: %s", name, e.text);
	return t;
}

static int refused(struct hv_transport *l, const char *name, int32_t index, struct err *e)
{
	struct gpci_table t;
	int rc;

	*e = (struct err){ 0 };
	rc = gpci_read(&t, l, gpci_request_find(name), index, e);
	if (rc == 0)
		gpci_table_free(&t);
	return rc;
}

static uint64_t value(const struct gpci_table *t, uint64_t id, const char *field)
{
	const struct gpci_values *v = gpci_table_find(t, id, 0);

	for (uint32_t i = 0; v && i < t->r->nfields; i++)
		if (!strcmp(t->r->field[i].name, field))
			return v->v[i];
	fail_msg("%s has no %s of %llu", t->r->name, field, (unsigned long long)id);
	return 0;
}

/* ---- files of the driver ------------------------------------------------------------------------------ */

static void the_pmu_is_what_its_files_say(void **state)
{
	static const struct {
		const char *name, *place;
	} format[] = {
		{ "counter_info_version", "config1:16-23" },
		{ "length", "config1:24-31" },
		{ "offset", "config1:32-63" },
		{ "request", "config:0-31" },
		{ "secondary_index", "config1:0-15" },
		{ "starting_index", "config:32-63" },
	};
	struct k_gpci_about a;
	struct err e = { 0 };

	(void)state;
	assert_int_equal(k_gpci_about(&a, TREE, &e), 0);
	assert_int_equal(a.type, 10);
	assert_string_equal(a.cpus, "0");
	assert_true(a.version == 6 && a.kernel_version == 8);
	assert_true(a.collect_privileged && a.ga && a.expanded && a.lab);
	assert_int_equal(a.nevents, 67);
	/* The driver's other names of starting_index are formats, too. */
	for (size_t i = 0; i < COUNT(format); i++) {
		uint32_t k = 0;

		while (k < a.nformats && strcmp(a.format[k].name, format[i].name))
			k++;
		if (k < a.nformats)
			assert_string_equal(a.format[k].place, format[i].place);
		else
			fail_msg("no format %s", format[i].name);
	}
	assert_int_equal(mem_live(), 0);
}

static void a_kernel_without_the_pmu_is_not_supported(void **state)
{
	struct hv_transport l;
	struct err e = { 0 };

	(void)state;
	assert_int_equal(k_gpci_transport_open(&l, "test/sysfs/none", NULL, &e), -TALLY_ENOTSUP);
	SAYS(e, "no PMU hv_gpci");
	assert_int_equal(mem_live(), 0);
}

static void capabilities_are_the_files(void **state)
{
	struct hv_transport l = opened(TREE, NULL);
	struct gpci_table t = table(&l, "capabilities", -1);

	(void)state;
	assert_int_equal(t.n, 1);
	assert_int_equal(t.v[0].v[0], 1);
	assert_int_equal(t.v[0].v[1], 0xe0);
	gpci_table_free(&t);
	assert_true(l.level == 6 && l.relative && l.partition == 3);
	closed(&l);
}

static void topology_is_decoded(void **state)
{
	static const struct {
		const char *name;
		uint32_t n;
	} topology[] = {
		{ "processor_config", 32 },     { "affinity_by_vp", 34 }, { "affinity_by_domain", 4 },
		{ "affinity_by_partition", 6 }, { "bus_topology", 4 },
	};
	struct hv_transport l = opened(TREE, NULL);
	struct gpci_table t;

	(void)state;
	for (size_t i = 0; i < COUNT(topology); i++) {
		t = table(&l, topology[i].name, 0);
		assert_int_equal(t.n, topology[i].n);
		gpci_table_free(&t);
	}
	t = table(&l, "processor_config", 0);
	assert_int_equal(value(&t, 31, "state"), 1);
	assert_int_equal(value(&t, 30, "state"), 2);
	gpci_table_free(&t);
	t = table(&l, "affinity_by_partition", 3);
	assert_int_equal(t.v[0].id, 3);
	assert_int_equal(t.v[0].nelements, 4);
	assert_int_equal(t.v[0].element[3].secondary, 3);
	assert_int_equal(t.v[0].element[3].units[1], 100);
	assert_int_equal(value(&t, 3, "score"), 0x19);
	gpci_table_free(&t);
	closed(&l);
}

static void small_replies_are_continued(void **state)
{
	static const char *const name[] = { "processor_config", "affinity_by_vp", "affinity_by_partition" };
	struct hv_transport l = opened(TREE, NULL);

	(void)state;
	for (size_t i = 0; i < COUNT(name); i++)
		for (size_t bytes = 32 + 128; bytes < 512; bytes += 37) {
			struct gpci_table whole, small;

			l.bytes = sizeof(((struct gpci_pmu *)0)->memory);
			whole = table(&l, name[i], 0);
			l.bytes = bytes;
			small = table(&l, name[i], 0);
			assert_int_equal(small.n, whole.n);
			for (uint32_t k = 0; k < whole.n; k++)
				assert_memory_equal(small.v[k].v, whole.v[k].v,
						    whole.r->nfields * sizeof(whole.v[k].v[0]));
			gpci_table_free(&small);
			gpci_table_free(&whole);
		}
	closed(&l);
}

static void what_the_kernel_does_not_pass_on_is_not_available(void **state)
{
	static const char *const name[] = { "processor_frequency", "core_power_mode", "physical_memory", "hpmc" };
	struct events v = { .n = 0 };
	struct hv_transport l = opened(TREE, &v);
	struct err e;

	(void)state;
	for (size_t i = 0; i < COUNT(name); i++) {
		assert_int_equal(refused(&l, name[i], 0, &e), -TALLY_ENOTSUP);
		SAYS(e, name[i]);
	}
	assert_int_equal(refused(&l, "processor_config", -1, &e), -TALLY_ENOTSUP);
	SAYS(e, "give its number");
	assert_int_equal(refused(&l, "dispatch_purr", -1, &e), -TALLY_ENOTSUP);
	SAYS(e, "which processor is your own");
	closed(&l);
}

/* ---- counters -------------------------------------------------------------------------------------------- */

static void counters_of_all_records_count_from_the_first_reading_on(void **state)
{
	struct events v = { .time = 0 };
	struct hv_transport l = opened(TREE, &v);
	struct gpci_table t = table(&l, "entitled", 0);

	(void)state;
	assert_int_equal(t.n, 6);
	assert_int_equal(v.open, 6 * 5);
	assert_true(value(&t, 3, "capped") == 0);
	gpci_table_free(&t);
	v.time = 7;
	t = table(&l, "entitled", 0);
	assert_int_equal(v.n, 6 * 5); /* the same events */
	assert_true(value(&t, 3, "capped") == speed(0x20, 3, 0x10) * 7);
	assert_true(value(&t, 9, "idle") == speed(0x20, 9, 0x28) * 7);
	gpci_table_free(&t);
	v.time = 6; /* a step back, which no counter takes */
	t = table(&l, "entitled", 0);
	assert_true(value(&t, 3, "capped") == speed(0x20, 3, 0x10) * 7);
	gpci_table_free(&t);
	t = table(&l, "entitled", 5);
	assert_int_equal(t.n, 3); /* 5, 8 and 9 */
	gpci_table_free(&t);
	closed(&l);
	assert_int_equal(v.open, 0);
}

static void what_is_no_counter_comes_from_the_topology(void **state)
{
	struct events v = { .time = 3 };
	struct hv_transport l = opened(TREE, &v);
	struct gpci_table purr = table(&l, "dispatch_purr", 0), config = table(&l, "processor_config", 0);

	(void)state;
	assert_int_equal(purr.n, 32);
	for (uint64_t i = 0; i < 32; i++) {
		assert_int_equal(value(&purr, i, "state"), value(&config, i, "state"));
		assert_int_equal(value(&purr, i, "owner"), value(&config, i, "owner"));
		assert_int_equal(value(&purr, i, "hw_chip_id"), value(&config, i, "hw_chip_id"));
		assert_int_equal(value(&purr, i, "primary_domain"), value(&config, i, "hw_node_id"));
		assert_int_equal(value(&purr, i, "logical_index"), 0xffff);
		assert_true(value(&purr, i, "processor_time") == speed(0x10, (int32_t)i, 0) * 3);
	}
	gpci_table_free(&purr);
	gpci_table_free(&config);
	closed(&l);
}

static void links_that_are_not_wired_are_none_and_have_no_event(void **state)
{
	struct events v = { .time = 2 };
	struct hv_transport l = opened(TREE, &v);
	struct gpci_table abc = table(&l, "links_abc", 0), wxyz;

	(void)state;
	assert_int_equal(abc.n, 4);
	for (uint64_t chip = 0; chip < 4; chip++) {
		assert_true(value(&abc, chip, "idle_a") == speed(0x50, (int32_t)chip, 0x18) * 2);
		assert_true(value(&abc, chip, "idle_b") == UINT64_MAX && value(&abc, chip, "idle_c") == UINT64_MAX);
	}
	assert_int_equal(v.n, 4 * 2); /* total, and link A */
	wxyz = table(&l, "links_wxyz", 0);
	assert_true(value(&wxyz, 0, "idle_w") == speed(0x60, 0, 0x18) * 2);
	assert_true(value(&wxyz, 0, "idle_z") == UINT64_MAX);
	gpci_table_free(&abc);
	gpci_table_free(&wxyz);
	closed(&l);
}

static void the_machines_own_counters_are_asked_without_an_index(void **state)
{
	struct events v = { .time = 5 };
	struct hv_transport l = opened(TREE, &v);
	struct gpci_table t = table(&l, "hypervisor_times", -1);

	(void)state;
	assert_int_equal(t.n, 1);
	assert_true(t.v[0].v[0] == speed(0xf0, -1, 0) * 5);
	assert_int_equal(v.at[0].index, -1);
	gpci_table_free(&t);
	closed(&l);
}

static void a_partition_without_rights_has_its_own_record(void **state)
{
	struct events v = { .time = 1, .refuse_others = EPERM };
	struct hv_transport l = opened(TREE, &v);
	struct gpci_table t;
	struct err e;

	(void)state;
	assert_int_equal(refused(&l, "entitled", 0, &e), -TALLY_EPERM);
	SAYS(e, "H_Authority");
	t = table(&l, "entitled", -1);
	assert_int_equal(t.n, 1);
	assert_true(value(&t, 3, "entitled") == speed(0x20, -1, 8));
	gpci_table_free(&t);
	closed(&l);
}

static void a_partition_that_is_gone_is_left_out(void **state)
{
	struct events v = { .time = 1, .gone = 5 };
	struct hv_transport l = opened(TREE, &v);
	struct gpci_table t = table(&l, "entitled", 0);

	(void)state;
	assert_int_equal(t.n, 5);
	assert_null(gpci_table_find(&t, 5, 0));
	gpci_table_free(&t);
	closed(&l);
}

static void a_call_that_fails_inside_the_driver_moves_no_counter_back(void **state)
{
	struct events v = { .time = 10 };
	struct hv_transport l = opened(TREE, &v);
	struct gpci_table a = table(&l, "run_instructions", 0), b;

	(void)state;
	v.time = 11;
	v.fails = true;
	b = table(&l, "run_instructions", 0);
	assert_true(value(&a, 1, "cycles") == value(&b, 1, "cycles"));
	gpci_table_free(&b);
	v.fails = false;
	b = table(&l, "run_instructions", 0);
	assert_true(value(&b, 1, "cycles") == speed(0x30, 1, 0x10) * 11);
	gpci_table_free(&a);
	gpci_table_free(&b);
	closed(&l);
}

static void refusals_of_perf_have_words(void **state)
{
	static const struct {
		int no, rc;
		const char *words;
	} row[] = {
		{ EACCES, -TALLY_EPERM, "cap_perfmon" },       { EMFILE, -TALLY_ENOTSUP, "ulimit -n" },
		{ EINVAL, -TALLY_ENOTSUP, "H_Not_Available" }, { EPERM, -TALLY_EPERM, "H_Authority" },
		{ ENOMEM, -TALLY_ENOMEM, "memory" },           { EIO, -TALLY_EIO, "Input/output error" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(row); i++) {
		struct events v = { .refuse = row[i].no };
		struct hv_transport l = opened(TREE, &v);
		struct err e;

		assert_int_equal(refused(&l, "entitled", 0, &e), row[i].rc);
		SAYS(e, row[i].words);
		closed(&l);
	}
}

/* ---- files that nobody should believe ------------------------------------------------------------------------ */

static char tree[64];

static int new_tree(void **state)
{
	char command[256];

	(void)state;
	strcpy(tree, "/tmp/tally-gpci-XXXXXX");
	if (!mkdtemp(tree))
		return -1;
	snprintf(command, sizeof(command), "cp -r " TREE "/. %s", tree);
	return system(command);
}

static int no_tree(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", tree);
	return system(command);
}

static void write_file(const char *name, const char *text)
{
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "%s" PMU "/%s", tree, name);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

static void remove_file(const char *name)
{
	char path[256];

	snprintf(path, sizeof(path), "%s" PMU "/%s", tree, name);
	assert_int_equal(unlink(path), 0);
}

static void digits_that_are_no_whole_records_are_corrupt(void **state)
{
	static const struct {
		const char *text, *words;
	} row[] = {
		{ "0", "something other than hexadecimal digits" },
		{ "0g", "something other than hexadecimal digits" },
		{ "00 0", "something other than hexadecimal digits" },
		{ "0x00", "something other than hexadecimal digits" },
		{ "00", "record 1 of the file is truncated" },
		{ "-1", "something other than hexadecimal digits" },
		{ "0001000000000000000000640001001c\n",
		  "record 1 of the file is truncated" }, /* its element is not there */
		{ "0001000000000000000000640041001c\n", "record 1 of the file is truncated" }, /* 65 elements */
		{ "000100000000000000000064ffff001c\n", "record 1 of the file is truncated" },
		{ "0001000000000000000000640000001c\n00", "record 2 of the file is truncated" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(row); i++) {
		struct hv_transport l = opened(tree, NULL);
		struct err e;

		write_file("interface/affinity_domain_via_partition", row[i].text);
		assert_int_equal(refused(&l, "affinity_by_partition", 0, &e), -TALLY_ECORRUPT);
		SAYS(e, "affinity_domain_via_partition");
		SAYS(e, row[i].words);
		closed(&l);
	}
}

static void an_empty_file_has_no_record(void **state)
{
	struct hv_transport l = opened(tree, NULL);
	struct err e;

	(void)state;
	write_file("interface/processor_config", "");
	assert_int_equal(refused(&l, "processor_config", 0, &e), -TALLY_EINVAL);
	closed(&l);
}

static void ids_that_do_not_grow_end_nowhere(void **state)
{
	struct hv_transport l = opened(tree, NULL);
	struct gpci_table t;

	(void)state;
	write_file(
		"interface/affinity_domain_via_partition",
		"0007000000000000000000640000001c\n0003000000000000000000640000001c\n0009000000000000000000640000001c\n");
	t = table(&l, "affinity_by_partition", 0);
	assert_int_equal(t.n, 2);
	gpci_table_free(&t);
	closed(&l);
}

static void without_topology_nobody_knows_the_records(void **state)
{
	struct events v = { .n = 0 };
	struct hv_transport l = opened(tree, &v);
	struct err e;

	(void)state;
	remove_file("interface/processor_config");
	remove_file("interface/processor_bus_topology");
	assert_int_equal(refused(&l, "processor_config", 0, &e), -TALLY_ENOTSUP);
	assert_int_equal(refused(&l, "dispatch_purr", 0, &e), -TALLY_ESTATE);
	SAYS(e, "POWER10");
	SAYS(e, "phys_processor_idx=N");
	assert_int_equal(refused(&l, "links_abc", 0, &e), -TALLY_ESTATE);
	SAYS(e, "hw_chip_id=N");
	closed(&l);
}

static void records_of_a_file_that_we_may_not_read_are_refused_by_authority(void **state)
{
	struct events v = { .n = 0 };
	struct hv_transport l = opened(tree, &v);
	const uid_t we = geteuid();
	struct err e;
	int rc;

	(void)state;
	if (we == 0 && seteuid(65534) < 0) {
		closed(&l);
		print_message("# skipped: nobody else may be had here\n");
		skip();
	}
	if (we != 0)
		assert_int_equal(chmod(tree, 0), 0);
	rc = refused(&l, "processor_config", 0, &e);
	if (we == 0)
		assert_int_equal(seteuid(0), 0);
	assert_int_equal(chmod(tree, 0700), 0);
	assert_int_equal(rc, -TALLY_EPERM);
	SAYS(e, "H_Authority");
	closed(&l);
}

static void a_file_that_cannot_be_read_is_named_with_the_reason(void **state)
{
	struct events v = { .n = 0 };
	struct hv_transport l = opened(tree, &v);
	char path[256];
	struct err e;

	(void)state;
	remove_file("interface/processor_config");
	snprintf(path, sizeof(path), "%s" PMU "/interface/processor_config", tree);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(refused(&l, "processor_config", 0, &e), -TALLY_EIO);
	SAYS(e, "cannot read processor_config: Is a directory");
	closed(&l);
}

static void files_that_are_no_numbers_are_none(void **state)
{
	struct k_gpci_about a;
	struct err e = { 0 };

	(void)state;
	write_file("interface/version", "0x100000000\n");
	write_file("interface/lab", "yes\n");
	write_file("events/odd", "request=nonsense\n");
	write_file("events/none", "offset=3\n");
	write_file("format/a-name-that-is-far-too-long-to-be-one", "config:0-31\n");
	assert_int_equal(k_gpci_about(&a, tree, &e), 0);
	assert_true(a.version == 0 && !a.lab);
	assert_int_equal(a.nevents, 67);
	write_file("type", "ten\n");
	assert_int_equal(k_gpci_about(&a, tree, &e), -TALLY_ENOTSUP);
}

static void every_failing_allocation_is_survived(void **state)
{
	(void)state;
	for (long n = 1;; n++) {
		struct events v = { .time = 1 };
		struct gpci_table t;
		struct hv_transport l;
		struct err e = { 0 };
		bool failed;
		int rc;

		mem_fail_at(n);
		rc = k_gpci_transport_open(&l, TREE, &(struct k_gpci_perf){ &v, event_open, event_read, event_close },
					   &e);
		if (rc == 0) {
			rc = gpci_read(&t, &l, gpci_request_find("links_abc"), 0, &e);
			if (rc == 0)
				gpci_table_free(&t);
			l.op->close(l.arg);
		}
		failed = mem_failed();
		mem_fail_at(0);
		assert_int_equal(mem_live(), 0);
		assert_int_equal(v.open, 0);
		assert_int_equal(rc, failed ? -TALLY_ENOMEM : 0);
		if (!failed)
			break;
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_pmu_is_what_its_files_say),
		cmocka_unit_test(a_kernel_without_the_pmu_is_not_supported),
		cmocka_unit_test(capabilities_are_the_files),
		cmocka_unit_test(topology_is_decoded),
		cmocka_unit_test(small_replies_are_continued),
		cmocka_unit_test(what_the_kernel_does_not_pass_on_is_not_available),
		cmocka_unit_test(counters_of_all_records_count_from_the_first_reading_on),
		cmocka_unit_test(what_is_no_counter_comes_from_the_topology),
		cmocka_unit_test(links_that_are_not_wired_are_none_and_have_no_event),
		cmocka_unit_test(the_machines_own_counters_are_asked_without_an_index),
		cmocka_unit_test(a_partition_without_rights_has_its_own_record),
		cmocka_unit_test(a_partition_that_is_gone_is_left_out),
		cmocka_unit_test(a_call_that_fails_inside_the_driver_moves_no_counter_back),
		cmocka_unit_test(refusals_of_perf_have_words),
		cmocka_unit_test_setup_teardown(digits_that_are_no_whole_records_are_corrupt, new_tree, no_tree),
		cmocka_unit_test_setup_teardown(an_empty_file_has_no_record, new_tree, no_tree),
		cmocka_unit_test_setup_teardown(ids_that_do_not_grow_end_nowhere, new_tree, no_tree),
		cmocka_unit_test_setup_teardown(without_topology_nobody_knows_the_records, new_tree, no_tree),
		cmocka_unit_test_setup_teardown(records_of_a_file_that_we_may_not_read_are_refused_by_authority,
						new_tree, no_tree),
		cmocka_unit_test_setup_teardown(a_file_that_cannot_be_read_is_named_with_the_reason, new_tree, no_tree),
		cmocka_unit_test_setup_teardown(files_that_are_no_numbers_are_none, new_tree, no_tree),
		cmocka_unit_test(every_failing_allocation_is_survived),
	};

	return cmocka_run_group_tests_name("kernel: hv_gpci", tests, NULL, NULL);
}
