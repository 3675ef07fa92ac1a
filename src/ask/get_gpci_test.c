/*
 * get_gpci_test.c: list, get, stat and check of `--on local` on Linux for POWER: the files of the genuine driver
 * (test/sysfs/power), and events that grow as the test says.
 */
#include "ask/output_test_int.h"
#include "ask/stat_int.h"
#include "kernel/hv_gpci.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define TREE "test/sysfs/power/sys"

struct on {
	struct tally_platform *p;
	struct buf out, notes;
	struct tally_out to;
};

/* ---- events: each reading finds them so much further --------------------------------------------------- */

static struct {
	uint64_t config, config1, value;
} event[1024];
static int events;

static int event_open(void *arg, uint32_t type, uint32_t cpu, uint64_t config, uint64_t config1)
{
	(void)arg;
	(void)type;
	(void)cpu;
	assert_true(events < 1024);
	event[events].config = config;
	event[events].config1 = config1;
	event[events].value = 0;
	return events++;
}

/* Of processors: the even ones are half busy. Of partitions: 4 halves of entitled are 3 of capped, and 1 of idle.
 * Links: a quarter is idle. */
static uint64_t growth(uint32_t request, uint32_t index, uint32_t offset)
{
	switch (request << 8 | offset) {
	case 0x1000:
		return index % 2 ? 0 : 256000;
	case 0x2008:
		return 4000;
	case 0x2010:
		return 3000;
	case 0x2028:
		return 1500;
	case 0x3008:
		return 5000;
	case 0x3010:
		return 10000;
	case 0x5010:
	case 0x6010:
		return 1000;
	case 0x5018:
	case 0x6018:
		return 250;
	default:
		return 0;
	}
}

static int event_read(void *arg, int fd, uint64_t *ret)
{
	(void)arg;
	*ret = event[fd].value;
	event[fd].value += growth((uint32_t)event[fd].config, (uint32_t)(event[fd].config >> 32),
				  (uint32_t)(event[fd].config1 >> 32));
	return 0;
}

static void event_close(void *arg, int fd)
{
	(void)arg;
	(void)fd;
}

static void on(struct on *o)
{
	static const struct k_gpci_perf perf = { NULL, event_open, event_read, event_close };
	struct tally_platform_opts opts = {
		.size = sizeof(opts), .on = "local", .sysfs = TREE, .note = buf_take, .arg = &o->notes
	};
	struct err e = { 0 };

	events = 0;
	*o = (struct on){ .to = { .size = sizeof(o->to), .out = buf_take, .arg = &o->out } };
	assert_int_equal(tally_platform_open(&o->p, &opts), 0);
	assert_int_equal(k_gpci_transport_open(&o->p->transport, TREE, &perf, &e), 0);
	assert_true(o->p->transport.tick_hz == HV_TICK_UNKNOWN); /* the tree has no device tree */
	o->p->transport.tick_hz = 512000000;
	o->p->has_transport = true;
}

static void off(struct on *o)
{
	tally_platform_close(o->p);
	buf_free(&o->out);
	buf_free(&o->notes);
	assert_int_equal(mem_live(), 0);
}

#define HAS(o, words)                                                                  \
	do {                                                                           \
		if (!strstr(buf_text(&(o)->out), words))                               \
			fail_msg("\"%s\" is not in:\n%s", words, buf_text(&(o)->out)); \
	} while (0)

/* ---- what there is -------------------------------------------------------------------------------------- */

static void list_says_what_the_kernel_passes_on(void **state)
{
	struct on o;

	(void)state;
	on(&o);
	assert_int_equal(tally_list(o.p, "gpci", NULL, true, &o.to), 0);
	HAS(&o, "hv_gpci    10  0            6             8      67  all general expanded lab\n");
	HAS(&o, "counter_info_version  config1:16-23\n");
	HAS(&o, "0x10  dispatch_purr          processor     48  0-      all                         to count\n");
	HAS(&o, "0x90  processor_config       processor     40  3-      all+expanded                yes\n");
	HAS(&o, "0x91  processor_frequency    processor     32  3-      all+expanded                not here\n");
	HAS(&o, "mmcrh                  -              8  0-7     lab                         not here\n");
	HAS(&o, "entitled_capped_uncapped_donated_idle_timebase_by_partition_consumed_capped_cycles");
	off(&o);
}

static void get_decodes_capabilities_and_topology(void **state)
{
	struct on o;

	(void)state;
	on(&o);
	o.to.format = TALLY_FORMAT_CSV;
	assert_int_equal(tally_get(o.p, "gpci/capabilities/", &o.to), 0);
	HAS(&o, "gpci,capabilities,1,224\n");
	assert_int_equal(tally_get(o.p, "gpci/bus_topology,chip=3/", &o.to), 0);
	HAS(&o, "request,hw_chip_id,hw_node_id,fabric_chip_id,installed,node_a,node_b,chip_w,chip_x,chip_y,chip_z\n");
	HAS(&o, "gpci,bus_topology,3,1,1,50331905,0,,0,,,\n");
	assert_int_equal(tally_get(o.p, "gpci/affinity_by_partition,partition=3/", &o.to), 0);
	HAS(&o, "gpci_domain,affinity_by_partition,3,1,3,0,100,32\n");
	off(&o);
}

static void counters_have_no_value_only_growth(void **state)
{
	struct tally_check_opts c = { .size = sizeof(c), .what = "gpci" };
	struct on o;

	(void)state;
	on(&o);
	assert_int_equal(tally_get(o.p, "gpci/entitled/", &o.to), -TALLY_ENOTSUP);
	assert_non_null(strstr(tally_platform_error(o.p), "the kernel reports only the growth of its counters"));
	c.to = o.to;
	assert_int_equal(tally_check(o.p, &c, NULL), -TALLY_ENOTSUP);
	assert_non_null(strstr(tally_platform_error(o.p), "absolute counter values"));
	assert_int_equal(tally_set(o.p, "gpci/mmcrh=1"), -TALLY_ENOTSUP);
	assert_int_equal(tally_get(o.p, "vfalls/18/", &o.to), -TALLY_ENOTSUP);
	off(&o);
}

/* ---- counting ---------------------------------------------------------------------------------------------- */

static void counted(struct on *o, const char *events_of, const char *view)
{
	struct tally_stat_opts s = {
		.size = sizeof(s), .events = events_of, .view = view, .interval_ns = 1000000, .count = 1
	};

	on(o);
	s.to = o->to;
	s.to.format = TALLY_FORMAT_CSV;
	if (tally_stat(o->p, &s, NULL) < 0)
		fail_msg("%s", tally_platform_error(o->p));
}

static void events_count_under_our_names(void **state)
{
	struct on o;

	(void)state;
	counted(&o, "gpci/entitled,partition=3,field=capped/,gpci/dispatch_purr,processor=2/", NULL);
	HAS(&o, ",3000,3000,PURR cycles,partition=3,entitled.capped,");
	HAS(&o, ",256000,256000,PURR cycles,processor=2,dispatch_purr.processor_time,");
	off(&o);
}

static void views_are_those_of_any_platform(void **state)
{
	struct on o;

	(void)state;
	counted(&o, NULL, "partitions");
	HAS(&o, ",3,shared,12,"); /* its virtual processors, from the topology */
	HAS(&o, ",8,dedicated,6,");
	HAS(&o, ",0.75,");  /* %ENTC */
	HAS(&o, ",0.5,2,"); /* %IDLE and CPI */
	off(&o);
	counted(&o, NULL, "links");
	HAS(&o, ",0,0,0.75,,,0.75,,,,A node 1\n");
	off(&o);
	counted(&o, NULL, "processors");
	HAS(&o, "not installed");
	HAS(&o, ",dedicated,8,");
	off(&o);
	counted(&o, NULL, "cec");
	HAS(&o, ",30,20,10,2,6,"); /* cores: all, shared, dedicated, out of use; partitions */
	off(&o);
}

static void shares_of_time_need_the_machines_timebase(void **state)
{
	struct tally_stat_opts s = { .size = sizeof(s), .view = "partitions", .interval_ns = 1000000, .count = 1 };
	struct on o;

	(void)state;
	on(&o);
	o.p->transport.tick_hz = HV_TICK_UNKNOWN;
	s.to = o.to;
	s.to.format = TALLY_FORMAT_CSV;
	assert_int_equal(tally_stat(o.p, &s, NULL), 0);
	assert_non_null(strstr(buf_text(&o.notes), "the frequency of this machine's timebase is unknown"));
	HAS(&o, ",3,shared,12,,,,,");
	buf_clear(&o.out);
	buf_clear(&o.notes);
	o.p->transport.tick_hz = 512000000;
	assert_int_equal(tally_stat(o.p, &s, NULL), 0);
	assert_null(strstr(buf_text(&o.notes), "timebase"));
	assert_null(strstr(buf_text(&o.out), ",3,shared,12,,"));
	off(&o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(list_says_what_the_kernel_passes_on),
		cmocka_unit_test(get_decodes_capabilities_and_topology),
		cmocka_unit_test(counters_have_no_value_only_growth),
		cmocka_unit_test(events_count_under_our_names),
		cmocka_unit_test(views_are_those_of_any_platform),
		cmocka_unit_test(shares_of_time_need_the_machines_timebase),
	};

	return cmocka_run_group_tests_name("ask: get, gpci of this machine", tests, NULL, NULL);
}
