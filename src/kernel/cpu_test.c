/* cpu_test.c: lists of CPUs, and the machine's own. */
#include <linux/bpf_perf_event.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "kernel/kernel_int.h"

static void ranges_and_single_cpus_are_read(void **state)
{
	uint64_t set[8];

	(void)state;
	assert_true(cpus_parse("0-3,8,510-511\n", set, COUNT(set)));
	assert_int_equal(set[0], 0x10f);
	assert_int_equal(set[7], 3ull << 62);
	assert_true(cpus_has(set, 511));
	assert_false(cpus_has(set, 509));
	assert_true(cpus_parse("", set, COUNT(set)));
	assert_int_equal(set[0], 0);
}

static void malformed_lists_are_refused(void **state)
{
	static const char *const bad[] = {
		"a", "1-", "3-1", "-1", "1,,2", "1;2", "0-3,x", " 1", "99999999999999999999"
	};
	uint64_t set[1];

	(void)state;
	for (size_t i = 0; i < COUNT(bad); i++)
		if (cpus_parse(bad[i], set, COUNT(set)))
			fail_msg("\"%s\" was read", bad[i]);
}

static void cpu_past_the_set_is_refused(void **state)
{
	uint64_t set[1];

	(void)state;
	assert_true(cpus_parse("63", set, COUNT(set)));
	assert_false(cpus_parse("64", set, COUNT(set)));
	assert_false(cpus_parse("0-64", set, COUNT(set)));
}

static void online_cpus_are_possible(void **state)
{
	uint32_t n = k_ncpus_possible();
	size_t words = cpus_words(n);
	uint64_t *set = mem_alloc(words * sizeof(*set));
	struct err e = { 0 };

	(void)state;
	assert_true(n >= 1);
	assert_int_equal(k_cpus_online(set, words, &e), 0);
	assert_true(cpus_has(set, (uint32_t)sched_getcpu()));
	mem_free(set);
}

static void missing_file_gives_its_errno(void **state)
{
	char text[32];
	int n;

	(void)state;
	assert_int_equal(file_small("/proc/self/no-such-file", text, sizeof(text)), -2);
	n = file_small("/proc/self/comm", text, sizeof(text));
	assert_int_equal(n, (int)strlen(text));
}

static void quiet_stays_on_one_cpu_and_goes_back(void **state)
{
	struct k_run k = { .ncpus = k_ncpus_possible() };
	cpu_set_t before, during, after;

	(void)state;
	if (k.ncpus > CPU_SETSIZE)
		skip();
	sched_getaffinity(0, sizeof(before), &before);
	k_quiet(&k, true);
	k_quiet(&k, true);
	sched_getaffinity(0, sizeof(during), &during);
	k_quiet(&k, false);
	k_quiet(&k, false);
	sched_getaffinity(0, sizeof(after), &after);
	assert_int_equal(CPU_COUNT(&during), 1);
	assert_true(CPU_EQUAL(&before, &after));
}

static void pc_and_data_address_of_a_perf_program_are_where_linux_has_them(void **state)
{
	(void)state;
#if defined(__x86_64__)
	assert_int_equal(k_arch()->pc_offset, offsetof(struct bpf_perf_event_data, regs.rip));
#elif defined(__aarch64__)
	assert_int_equal(k_arch()->pc_offset, offsetof(struct bpf_perf_event_data, regs.pc));
#else
	skip();
#endif
	assert_int_equal(k_arch()->data_offset, offsetof(struct bpf_perf_event_data, addr));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ranges_and_single_cpus_are_read),
		cmocka_unit_test(malformed_lists_are_refused),
		cmocka_unit_test(cpu_past_the_set_is_refused),
		cmocka_unit_test(online_cpus_are_possible),
		cmocka_unit_test(missing_file_gives_its_errno),
		cmocka_unit_test(quiet_stays_on_one_cpu_and_goes_back),
		cmocka_unit_test(pc_and_data_address_of_a_perf_program_are_where_linux_has_them),
	};

	return cmocka_run_group_tests_name("kernel: cpu", tests, NULL, NULL);
}
