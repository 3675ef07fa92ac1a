/*
 * get_mmustat_test.c: list, get and stat over this machine's MMU statistics, of fake sysfs trees.
 */
#include "ask/ask_int.h"
#include "ask/output_test_int.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define TREE "test/sysfs/niagara"

struct on {
	struct tally_platform *p;
	struct buf out, notes;
	struct tally_out to;
};

static void on(struct on *o, const char *root)
{
	struct tally_platform_opts opts = { .size = sizeof(opts), .sysfs = root, .note = buf_take, .arg = &o->notes };

	*o = (struct on){
		.to = { .size = sizeof(o->to), .out = buf_take, .arg = &o->out, .format = TALLY_FORMAT_JSON }
	};
	if (tally_platform_open(&o->p, &opts) < 0)
		fail_msg("%s", tally_platform_error(o->p));
}

static void off(struct on *o)
{
	tally_platform_close(o->p);
	buf_free(&o->out);
	buf_free(&o->notes);
	assert_int_equal(mem_live(), 0);
}

static void ok(struct on *o, int rc)
{
	if (rc < 0)
		fail_msg("%s", tally_platform_error(o->p));
}

static uint32_t count(const struct buf *b, const char *words)
{
	uint32_t n = 0;

	for (const char *p = b->p; p && (p = strstr(p, words)) != NULL; p++)
		n++;
	return n;
}

#define HAS(b, words)                                                          \
	do {                                                                   \
		if (!count(b, words))                                          \
			fail_msg("no %s in: %s", words, (b)->p ? (b)->p : ""); \
	} while (0)

static void the_slots_are_listed(void **state)
{
	struct on o;

	(void)state;
	on(&o, TREE);
	ok(&o, tally_list(o.p, "mmustat", NULL, false, &o.to));
	assert_int_equal(count(&o.out, "\"type\":\"slot\""), 16);
	assert_int_equal(count(&o.out, "load"), 0);
	off(&o);
}

static void counts_are_the_kernel_s(void **state)
{
	struct on o;

	(void)state;
	on(&o, TREE);
	ok(&o, tally_get(o.p, "mmustat/all/", &o.to));
	assert_int_equal(count(&o.out, "\n"), 2 * 16); /* cpu1 is offline */
	HAS(&o.out,
	    "{\"type\":\"mmustat\",\"cpu\":0,\"side\":\"immu\",\"context\":\"0\",\"size\":\"8K\",\"hits\":100,\"ticks\":3100}");
	HAS(&o.out,
	    "{\"type\":\"mmustat\",\"cpu\":2,\"side\":\"dmmu\",\"context\":\"not 0\",\"size\":\"256M\",\"hits\":112,\"ticks\":3472}");
	HAS(&o.notes, "collection is off on 1 of these strands");
	HAS(&o.notes, "1 of 3 strands belong to other guests, or are offline");
	buf_clear(&o.notes);
	buf_clear(&o.out);
	ok(&o, tally_get(o.p, "mmustat/dmmu,cpu=0/", &o.to));
	assert_int_equal(count(&o.out, "\n"), 8);
	assert_int_equal(count(&o.notes, "\n"), 0);
	assert_int_equal(tally_get(o.p, "mmustat/dmmu,cpu=1/", &o.to), -TALLY_EBUSY);
	off(&o);
}

/* What --raw says is a file that says the same. */
static void raw_is_the_buffer(void **state)
{
	struct transport_file f = { .request = 0 };
	struct err e = { 0 };
	struct mmustat m;
	struct on o;

	(void)state;
	on(&o, TREE);
	o.to.raw = 1;
	ok(&o, tally_get(o.p, "mmustat/all,cpu=0/", &o.to));
	assert_int_equal(transport_file_parse(&f, "raw", (const uint8_t *)o.out.p, o.out.n, &e), 0);
	assert_true(f.is_mmustat);
	mmustat_decode(f.mmustat, &m);
	assert_int_equal(m.at[1][1][MMUSTAT_256M].hits, 1600);
	off(&o);
}

static void copy_of(char root[static 32])
{
	char command[160];

	strcpy(root, "/tmp/tally-mmu-XXXXXX");
	assert_non_null(mkdtemp(root));
	snprintf(command, sizeof(command), "cp -r " TREE "/devices %s && chmod -R a+rwX %s", root, root);
	assert_int_equal(system(command), 0);
}

static void an_interval_is_counted_and_collecting_put_back(void **state)
{
	struct tally_stat_opts s = { .size = sizeof(s), .events = "mmustat/all/", .duration_ns = 1000000 };
	char root[32], command[128];
	struct on o;

	(void)state;
	copy_of(root);
	on(&o, root);
	s.to = o.to;
	ok(&o, tally_stat(o.p, &s, NULL));
	HAS(&o.out, "\"immu_hits\":0,\"immu_ticks\":0,\"immu_time\":0"); /* nothing moves in a tree of files */
	HAS(&o.out, "\"dmmu_hits_total\":0");                            /* since the first reading */
	snprintf(command, sizeof(command), "grep -q 0 %s/devices/system/cpu/cpu2/mmustat_enable && rm -r %s", root,
		 root);
	off(&o);
	assert_int_equal(system(command), 0);
}

static void a_machine_without_is_told_of_the_model(void **state)
{
	struct tally_stat_opts s = { .size = sizeof(s), .events = "mmustat/all/", .duration_ns = 1000000 };
	struct on o;

	(void)state;
	on(&o, "test/sysfs/amd");
	s.to = o.to;
	for (int i = 0; i < 3; i++) {
		int rc = i == 0 ? tally_list(o.p, "mmustat", NULL, false, &o.to) :
			 i == 1 ? tally_get(o.p, "mmustat/all/", &o.to) :
				  tally_stat(o.p, &s, NULL);

		assert_int_equal(rc, -TALLY_ENOTSUP);
		assert_non_null(strstr(tally_platform_error(o.p), "'--on niagara' (mmustat)"));
		assert_non_null(strstr(tally_platform_error(o.p), "cpu*/mmu_stats"));
	}
	off(&o);
}

static void other_counters_of_that_machine_are_refused(void **state)
{
	struct on o;

	(void)state;
	on(&o, TREE);
	assert_int_equal(tally_get(o.p, "vfalls/l2_cr/", &o.to), -TALLY_ENOTSUP);
	assert_int_equal(tally_get(o.p, "vfalls/sparc_pcr,cpu=9/", &o.to), -TALLY_EINVAL);
	assert_int_equal(tally_get(o.p, "gpci/entitled/", &o.to), -TALLY_ENOTSUP);
	assert_int_equal(tally_set(o.p, "vfalls/l2_cr=1"), -TALLY_ENOTSUP);
	off(&o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_slots_are_listed),
		cmocka_unit_test(counts_are_the_kernel_s),
		cmocka_unit_test(raw_is_the_buffer),
		cmocka_unit_test(an_interval_is_counted_and_collecting_put_back),
		cmocka_unit_test(a_machine_without_is_told_of_the_model),
		cmocka_unit_test(other_counters_of_that_machine_are_refused),
	};

	return cmocka_run_group_tests_name("ask: get, mmustat of this machine", tests, NULL, NULL);
}
