/* mmu_stats_test.c: the MMU statistics of a fake sysfs tree (test/sysfs/niagara): cpu0 collects, cpu1 is offline, cpu2
 * does not. */
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

#include "hv/sun4v_guest.h"
#include "kernel/mmu_stats.h"
#include "kernel/says_test_int.h"

#define TREE "test/sysfs/niagara"
#define NOBODY 65534

static struct hv_transport opened(const char *root)
{
	struct hv_transport l = { .arg = NULL };
	struct err e = { 0 };

	if (k_mmu_transport_open(&l, root, &e) < 0)
		fail_msg("%s", e.text);
	return l;
}

static void closed(struct hv_transport l)
{
	l.op->close(l.arg);
	assert_int_equal(mem_live(), 0);
}

/* A copy of the tree, to write to. */
struct copy {
	char root[64];
	struct hv_transport l;
};

static struct copy copied(void)
{
	struct copy c = { .root = "/tmp/tally-mmu-XXXXXX" };
	char command[256];

	assert_non_null(mkdtemp(c.root));
	snprintf(command, sizeof(command), "cp -r " TREE "/devices %s && chmod -R a+rwX %s", c.root, c.root);
	assert_int_equal(system(command), 0);
	c.l = opened(c.root);
	return c;
}

static void dropped(struct copy *c)
{
	char command[128];

	closed(c->l);
	snprintf(command, sizeof(command), "rm -r %s", c->root);
	assert_int_equal(system(command), 0);
}

static void file_of(const struct copy *c, char to[static 160], uint32_t cpu, const char *file)
{
	snprintf(to, 160, "%s/devices/system/cpu/cpu%u/%s", c->root, cpu, file);
}

static void put_file(const struct copy *c, uint32_t cpu, const char *file, const char *text)
{
	char path[160];
	FILE *f;

	file_of(c, path, cpu, file);
	f = fopen(path, "w");
	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
}

static char first_of(const struct copy *c, uint32_t cpu, const char *file)
{
	char path[160];
	int fd, got;
	char text = 0;

	file_of(c, path, cpu, file);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	got = (int)read(fd, &text, 1);
	close(fd);
	assert_int_equal(got, 1);
	return text;
}

static uint64_t call(struct hv_transport *l, uint32_t cpu, uint64_t function, uint64_t o0, uint64_t *o1, struct err *e)
{
	uint64_t o[6] = { o0, 0x77, 0, 0, 0, function };
	int rc = l->op->sun4v(l->arg, cpu, HV_FAST_TRAP, o, e);

	*o1 = o[1];
	return rc < 0 ? 1000u + (unsigned)-rc : o[0];
}

/* ---- what is read ----------------------------------------------------------------------- */

static void each_file_is_one_slot(void **state)
{
	struct hv_transport l = opened(TREE);
	uint8_t bytes[MMUSTAT_BYTES];
	struct mmustat m;
	struct err e = { 0 };
	uint64_t n = 1;

	(void)state;
	assert_int_equal(l.strands, 3);
	assert_int_equal(l.tick_hz, 1000000000);
	assert_true(l.kind && l.kind->mmustat);
	assert_int_equal(l.op->mmustat(l.arg, 2, bytes, &e), 0);
	mmustat_decode(bytes, &m);
	for (uint32_t d = 0; d < 2; d++)
		for (uint32_t x = 0; x < 2; x++)
			for (uint32_t s = 0; s < MMUSTAT_SIZES; s++, n++) {
				assert_int_equal(m.at[d][x][s].hits, n * 7);
				assert_int_equal(m.at[d][x][s].ticks, n * 7 * 31);
			}
	for (uint32_t i = 0; i < MMUSTAT_BYTES / 8; i++) /* and nothing else is written */
		if (i / 2 % 8 == 2 || i / 2 % 8 == 4 || i / 2 % 8 > 5)
			assert_int_equal(be64_get(bytes + i * 8), 0);
	closed(l);
}

static void a_guest_s_library_reads_them(void **state)
{
	struct copy c = copied();
	struct sun4v_client *g;
	struct mmustat m;
	struct err e = { 0 };

	(void)state;
	assert_int_equal(sun4v_client_open(&g, &c.l, &e), 0);
	assert_int_equal(mmustat_read(g, 0, &m, &e), 0); /* without a buffer, too */
	assert_int_equal(m.at[0][0][MMUSTAT_8K].hits, 100);
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(mmustat_start(g, i, &e), 0);
	put_file(&c, 2, "mmu_stats/dmmu_tsb_ticks_ctxnon0_256mb_tte", "18446744073709551615\n");
	assert_int_equal(mmustat_read(g, 2, &m, &e), 0);
	assert_true(m.at[1][1][MMUSTAT_256M].ticks == UINT64_MAX);
	assert_int_equal(mmustat_read(g, 1, &m, &e), -TALLY_ESTATE);
	SAYS(e, "cpu1 is offline");
	sun4v_client_close(g);
	dropped(&c);
}

static void it_is_a_guest_of_group_0x200_alone(void **state)
{
	struct hv_transport l = opened(TREE);
	struct err e = { 0 };
	uint64_t o[6] = { SUN4V_GROUP_VFALLS, 1, 1, 0, 0, SUN4V_API_SET_VERSION }, v;

	(void)state;
	assert_int_equal(l.op->sun4v(l.arg, 0, HV_CORE_TRAP, o, &e), 0);
	assert_int_equal(o[0], HV_EINVAL);
	assert_int_equal(call(&l, 0, SUN4V_GET_PERFREG, 0, &v, &e), HV_EBADTRAP);
	assert_int_equal(call(&l, 3, SUN4V_MMUSTAT_INFO, 0, &v, &e), 1000 + TALLY_EINVAL);
	SAYS(e, "no CPU 3");
	assert_int_equal(l.op->asr(l.arg, 0, 0x10, false, &v, NULL), -TALLY_ENOTSUP);
	closed(l);
}

/* ---- collecting ----------------------------------------------------------------------------- */

static void collecting_is_turned_on_and_put_back(void **state)
{
	struct copy c = copied();
	struct err e = { 0 };
	uint64_t v;

	(void)state;
	assert_int_equal(call(&c.l, 0, SUN4V_MMUSTAT_INFO, 0, &v, &e), HV_EOK);
	assert_true(v != 0);
	assert_int_equal(call(&c.l, 2, SUN4V_MMUSTAT_INFO, 0, &v, &e), HV_EOK);
	assert_int_equal(v, 0);
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(call(&c.l, i, SUN4V_MMUSTAT_CONF, c.l.base + i * MMUSTAT_BYTES, &v, &e), HV_EOK);
	assert_int_equal(first_of(&c, 0, "mmustat_enable"), '1');
	assert_int_equal(first_of(&c, 2, "mmustat_enable"), '1');
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(call(&c.l, i, SUN4V_MMUSTAT_CONF, 0, &v, &e), HV_EOK);
	assert_int_equal(first_of(&c, 0, "mmustat_enable"), '1'); /* it was on before */
	assert_int_equal(first_of(&c, 2, "mmustat_enable"), '0');
	dropped(&c);
}

static void only_root_turns_collecting_on(void **state)
{
	struct copy c = copied();
	struct err e = { 0 };
	char path[160];
	uint64_t v;
	bool demoted;

	(void)state;
	file_of(&c, path, 2, "mmustat_enable");
	assert_int_equal(chmod(path, 0444), 0);
	demoted = geteuid() == 0 && seteuid(NOBODY) == 0;
	assert_int_equal(call(&c.l, 0, SUN4V_MMUSTAT_CONF, c.l.base, &v, &e), HV_EOK); /* it collects already */
	assert_int_equal(call(&c.l, 2, SUN4V_MMUSTAT_CONF, c.l.base, &v, &e), 1000 + TALLY_EPERM);
	if (demoted)
		assert_int_equal(seteuid(0), 0);
	SAYS(e, "cpu2: no permission for mmustat_enable");
	SAYS(e, "run as root");
	dropped(&c);
}

/* ---- what is not so ----------------------------------------------------------------------------- */

static void a_machine_without_is_told_what_is_missing(void **state)
{
	static const char *const root[] = { "test/sysfs/amd", "test/sysfs/none-such",
					    TREE "/devices/system/cpu/cpu0/mmustat_enable" };

	(void)state;
	for (size_t i = 0; i < COUNT(root); i++) {
		struct hv_transport l = { .arg = NULL };
		struct err e = { 0 };

		assert_int_equal(k_mmu_transport_open(&l, root[i], &e), -TALLY_ENOTSUP);
		SAYS(e, "there is no cpu*/mmu_stats in");
		SAYS(e, root[i]);
		assert_null(l.op);
		assert_int_equal(mem_live(), 0);
	}
}

static void what_is_no_count_is_refused(void **state)
{
	static const char *const text[] = {
		"",
		"\n",
		"-1\n",
		"0x10\n",
		"1 2\n",
		" 1\n",
		"18446744073709551616\n",
		"many\n",
		"00000000000000000000000000000000000000000000000000000000000000000000000000000001\n"
	};
	struct copy c = copied();
	uint8_t bytes[MMUSTAT_BYTES];

	(void)state;
	for (size_t i = 0; i < COUNT(text); i++) {
		struct err e = { 0 };

		put_file(&c, 0, "mmu_stats/immu_tsb_ticks_ctx0_64k_tte", text[i]);
		assert_int_equal(c.l.op->mmustat(c.l.arg, 0, bytes, &e), i == COUNT(text) - 1 ? 0 : -TALLY_ECORRUPT);
	}
	dropped(&c);
}

static void names_that_are_no_cpus_are_left_alone(void **state)
{
	static const char *const name[] = { "cpufreq", "cpu", "cpu2x", "cpu-1", "cpu4096", "cpu99999999999999999999",
					    "xcpu3" };
	struct copy c = copied();
	char path[192];
	struct hv_transport l;

	(void)state;
	for (size_t i = 0; i < COUNT(name); i++) {
		snprintf(path, sizeof(path), "%s/devices/system/cpu/%s", c.root, name[i]);
		assert_int_equal(mkdir(path, 0700), 0);
		snprintf(path, sizeof(path), "%s/devices/system/cpu/%s/mmu_stats", c.root, name[i]);
		assert_int_equal(mkdir(path, 0700), 0);
	}
	l = opened(c.root);
	assert_int_equal(l.strands, 3);
	l.op->close(l.arg);
	dropped(&c);
}

static void overlong_root_is_refused(void **state)
{
	char root[600];
	struct hv_transport l = { .arg = NULL };
	struct err e = { 0 };

	(void)state;
	memset(root, 'x', sizeof(root) - 1);
	root[sizeof(root) - 1] = 0;
	assert_int_equal(k_mmu_transport_open(&l, root, &e), -TALLY_EINVAL);
	SAYS(e, "the path of the sysfs tree is longer than 511 bytes");
	/* One byte more than there is room for, and just as many. */
	root[512] = 0;
	e = (struct err){ 0 };
	assert_int_equal(k_mmu_transport_open(&l, root, &e), -TALLY_EINVAL);
	SAYS(e, "longer than");
	root[511] = 0;
	e = (struct err){ 0 };
	assert_int_equal(k_mmu_transport_open(&l, root, &e), -TALLY_ENOTSUP);
	assert_int_equal(mem_live(), 0);
}

static void out_of_memory_opens_nothing(void **state)
{
	(void)state;
	for (long n = 1;; n++) {
		struct hv_transport l = { .arg = NULL };
		struct err e = { 0 };
		bool ran_out;
		int rc;

		mem_fail_at(n);
		rc = k_mmu_transport_open(&l, TREE, &e);
		ran_out = mem_failed();
		mem_fail_at(0);
		assert_int_equal(rc, ran_out ? -TALLY_ENOMEM : 0);
		if (!ran_out) {
			closed(l);
			assert_true(n > 3);
			return;
		}
		assert_int_equal(mem_live(), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_file_is_one_slot),
		cmocka_unit_test(a_guest_s_library_reads_them),
		cmocka_unit_test(it_is_a_guest_of_group_0x200_alone),
		cmocka_unit_test(collecting_is_turned_on_and_put_back),
		cmocka_unit_test(only_root_turns_collecting_on),
		cmocka_unit_test(a_machine_without_is_told_what_is_missing),
		cmocka_unit_test(what_is_no_count_is_refused),
		cmocka_unit_test(names_that_are_no_cpus_are_left_alone),
		cmocka_unit_test(overlong_root_is_refused),
		cmocka_unit_test(out_of_memory_opens_nothing),
	};

	return cmocka_run_group_tests_name("kernel: mmu_stats", tests, NULL, NULL);
}
