/* event_test.c: events counted exactly, accounts, CPUs that go, and words for each refusal. */
#include <errno.h>
#include <linux/bpf_perf_event.h>
#include <linux/perf_event.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "kernel/handmade_int.h"

#define PAGES 1000u

static const struct k_event page_faults = { .type = PERF_TYPE_SOFTWARE,
					    .config = PERF_COUNT_SW_PAGE_FAULTS,
					    .period = 1 };

/* Map 0: firings per CPU; globals (map 1): the range of addresses to count. Program 0 counts faults in that range into
 * the first word of map 0, and all firings into the second. */
static void fault_counter(struct handmade *h)
{
	hm_init(h);
	hm_map(h, IMG_PERCPU_ARRAY, IMG_DROPS, 4, 16, 1);
	hm_map(h, IMG_ARRAY, IMG_GLOBALS, 4, 16, 1);
	HM_PROG(h, IMG_PERF, I_MOV_REG(R6, R1), I_STORE_IMM(W, R10, -4, 0), HM_LOOKUP(0), I_LOAD(DW, R1, R0, 8),
		I_ALU_IMM(ADD, R1, 1), I_STORE(DW, R0, 8, R1),
		I_LOAD(DW, R2, R6, (int16_t)offsetof(struct bpf_perf_event_data, addr)), I_LD_MAP_VALUE(R3, 1),
		I_RAW(0, 0, 0, 0, 0), I_LOAD(DW, R4, R3, 0), I_LOAD(DW, R5, R3, 8), I_JMP_REG(JLT, R2, R4, 4),
		I_JMP_REG(JGE, R2, R5, 3), I_LOAD(DW, R1, R0, 0), I_ALU_IMM(ADD, R1, 1), I_STORE(DW, R0, 0, R1),
		HM_RETURN);
}

/* Word w of map 0, summed over CPUs. */
static uint64_t firings(struct k_run *k, int w)
{
	uint64_t *value = mem_alloc(k->ncpus * 16), sum = 0;
	uint32_t key = 0;

	assert_int_equal(k_maps(k).ops->lookup(k, 0, &key, value), 0);
	for (uint32_t i = 0; i < k->ncpus; i++)
		sum += value[i * 2 + (uint32_t)w];
	mem_free(value);
	return sum;
}

static struct k_run *opened(struct handmade *h)
{
	struct err e = { 0 };
	struct k_run *k = NULL;

	if (k_open(&k, &h->img, NULL, &e) < 0)
		fail_msg("%s", e.text);
	return k;
}

static uint64_t counted(struct k_run *k)
{
	struct k_account *a;
	struct err e = { 0 };
	uint64_t sum = 0;
	uint32_t n;

	assert_int_equal(k_accounts(k, &a, &n, &e), 0);
	for (uint32_t i = 0; i < n; i++)
		sum += a[i].counted / a[i].period;
	mem_free(a);
	return sum;
}

/* Fresh pages, and their range in the globals. */
static char *fresh_pages(struct k_run *k)
{
	size_t bytes = PAGES * (size_t)sysconf(_SC_PAGESIZE);
	char *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t range[2] = { (uintptr_t)p, (uintptr_t)p + bytes };
	uint32_t key = 0;

	assert_true(p != MAP_FAILED);
	madvise(p, bytes, MADV_NOHUGEPAGE);
	assert_int_equal(k_maps(k).ops->update(k, 1, &key, range), 0);
	return p;
}

static void touch(char *p)
{
	for (uint32_t i = 0; i < PAGES; i++)
		((volatile char *)p)[i * (size_t)sysconf(_SC_PAGESIZE)] = 1;
}

static void every_page_fault_fires_once(void **state)
{
	struct handmade h;
	struct err e = { 0 };
	struct k_run *k;
	char *p;

	(void)state;
	HM_NEED_RIGHTS();
	fault_counter(&h);
	k = opened(&h);
	assert_int_equal(k_disable(k), 0); /* it is not enabled yet */
	p = fresh_pages(k);
	assert_int_equal(k_attach(k, 0, &page_faults, &e), 0);
	assert_int_equal(firings(k, 1), 0); /* attached is not enabled */
	assert_int_equal(k_enable(k, &e), 0);
	assert_true(k->enabled);
	touch(p);
	assert_int_equal(k_disable(k), 0);
	assert_false(k->enabled);
	assert_int_equal(k_disable(k), 0);
	touch(p);
	assert_int_equal(firings(k, 0), PAGES);
	assert_int_equal(counted(k), firings(k, 1));
	munmap(p, PAGES * (size_t)sysconf(_SC_PAGESIZE));
	k_close(k);
}

static void counts_of_a_cpu_that_went_are_kept(void **state)
{
	struct handmade h;
	struct err e = { 0 };
	struct k_run *k;
	uint64_t before;
	char *p;

	(void)state;
	HM_NEED_RIGHTS();
	fault_counter(&h);
	k = opened(&h);
	p = fresh_pages(k);
	assert_int_equal(k_attach(k, 0, &page_faults, &e), 0);
	assert_int_equal(k_enable(k, &e), 0);
	assert_int_equal(k_hotplug(k, &e), 0);
	touch(p);
	k_disable(k);
	before = counted(k);
	assert_true(before >= PAGES);
	strcpy(k->event[0].ev.cpus, "0"); /* as if all but the first had gone */
	k->online_hash = 0;
	assert_int_equal(k_hotplug(k, &e), 0);
	for (uint32_t i = 1; i < k->ncpus; i++)
		assert_int_equal(k->event[0].cpu[i].fd, -1);
	assert_int_equal(counted(k), before);
	*k->event[0].ev.cpus = '\0'; /* and came back */
	k->online_hash = 0;
	k->enabled = true;
	assert_int_equal(k_hotplug(k, &e), 0);
	for (uint32_t i = 1; i < k->ncpus; i++)
		assert_true(!k->event[0].cpu[i].seen || k->event[0].cpu[i].fd >= 0);
	assert_true(counted(k) >= before);
	munmap(p, PAGES * (size_t)sysconf(_SC_PAGESIZE));
	k_close(k);
}

static void event_without_period_or_frequency_is_refused(void **state)
{
	struct k_event none = { .type = PERF_TYPE_SOFTWARE }, both = { .period = 1, .freq = 1 };
	struct handmade h;
	struct err e = { 0 };
	struct k_run *k;

	(void)state;
	hm_init(&h);
	k = opened(&h);
	assert_int_equal(k_attach(k, 0, &page_faults, &e), -TALLY_EINVAL);
	assert_string_equal(e.text, "there is no program 0");
	k->nprogs = 1;
	assert_int_equal(k_attach(k, 0, &none, &e), -TALLY_EINVAL);
	assert_int_equal(k_attach(k, 0, &both, &e), -TALLY_EINVAL);
	assert_int_equal(k->nevents, 0);
	k->nprogs = 0;
	k_close(k);
}

static void event_of_no_online_cpu_is_refused(void **state)
{
	struct k_event ev = page_faults;
	struct err e = { 0 };

	(void)state;
	strcpy(ev.cpus, "nonsense");
	assert_int_equal(k_event_try(&ev, &e), -TALLY_EINVAL);
	assert_string_equal(e.text, "invalid CPU list \"nonsense\"");
}

static void unknown_event_is_not_supported(void **state)
{
	struct k_event ev = { .type = PERF_TYPE_SOFTWARE, .config = 9999, .period = 1 };
	struct err e = { 0 };

	(void)state;
	HM_NEED_RIGHTS();
	assert_int_equal(k_event_try(&page_faults, &e), 0);
	assert_int_equal(k_event_try(&ev, &e), -TALLY_ENOTSUP);
}

/* The same words as from the trial, and nothing of it stays in the run. */
static void attaching_what_cannot_be_opened_says_why(void **state)
{
	const struct k_event ev = { .type = PERF_TYPE_SOFTWARE, .config = 9999, .period = 1 };
	struct err tried = { 0 }, e = { 0 };
	struct handmade h;
	struct k_run *k;

	(void)state;
	HM_NEED_RIGHTS();
	fault_counter(&h);
	k = opened(&h);
	assert_int_equal(k_event_try(&ev, &tried), -TALLY_ENOTSUP);
	assert_int_equal(k_attach(k, 0, &ev, &e), -TALLY_ENOTSUP);
	assert_string_equal(e.text, tried.text);
	assert_int_equal(k->nevents, 0);
	assert_int_equal(k_attach(k, 0, &page_faults, &e), 0);
	assert_int_equal(k->nevents, 1);
	k_close(k);
}

static void each_refusal_says_its_cause(void **state)
{
	static const struct {
		int line, no, rc;
		const char *words;
	} row[] = {
		{ __LINE__, EPERM, -TALLY_EPERM, "perf_event_paranoid is" },
		{ __LINE__, EACCES, -TALLY_EPERM, "cap_perfmon" },
		{ __LINE__, ENODEV, -TALLY_ENOTSUP, "this CPU does not have the event" },
		{ __LINE__, EBUSY, -TALLY_EBUSY, "CPU 3: the PMU is in exclusive use" },
		{ __LINE__, EMFILE, -TALLY_EIO, "ulimit -n" },
		{ __LINE__, ENOMEM, -TALLY_ENOMEM, "out of memory" },
		{ __LINE__, ENOSYS, -TALLY_ENOTSUP, "no perf events" },
		{ __LINE__, EINVAL, -TALLY_EINVAL, "type 1, config 0x2" },
		{ __LINE__, EIO, -TALLY_EIO, "CPU 3: opening the event failed" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(row); i++) {
		struct err e = { 0 };

		if (event_refused(&page_faults, 3, row[i].no, &e) != row[i].rc || !strstr(e.text, row[i].words))
			fail_msg("line %d: %s", row[i].line, e.text);
	}
}

static void hardware_event_without_pmu_says_so(void **state)
{
	struct k_event ev = {
		.type = PERF_TYPE_HARDWARE, .config = PERF_COUNT_HW_CPU_CYCLES, .period = 100000, .counter = true
	};
	struct err e = { 0 };

	(void)state;
	HM_NEED_RIGHTS();
	if (k_event_try(&ev, &e) == 0) {
		print_message("# skipped: this machine has a hardware PMU\n");
		skip();
	}
	assert_int_equal(e.code, TALLY_ENOTSUP);
	assert_string_equal(e.text, "not supported on this machine (no hardware PMU)");
}

static void starved_event_names_the_watchdog_when_it_holds_a_counter(void **state)
{
	struct err with = { 0 }, without = { 0 };

	(void)state;
	assert_int_equal(event_starved(2, "1", &with), -TALLY_EBUSY);
	assert_non_null(strstr(with.text, "CPU 2 has no counter left"));
	assert_non_null(strstr(with.text, "sudo sysctl kernel.nmi_watchdog=0"));
	assert_int_equal(event_starved(2, "0", &without), -TALLY_EBUSY);
	assert_null(strstr(without.text, "watchdog"));
}

/* More pinned events than any CPU has counters: the first enabling that is short ends them all. */
static void exhausted_counters_end_the_enabling(void **state)
{
	struct k_event ev = {
		.type = PERF_TYPE_HARDWARE, .config = PERF_COUNT_HW_CPU_CYCLES, .period = 1000000000, .counter = true
	};
	struct handmade h;
	struct err e = { 0 };
	struct k_run *k;

	(void)state;
	HM_NEED_RIGHTS();
	if (k_event_try(&ev, &e) < 0) {
		print_message("# skipped: %s\n", e.text);
		skip();
	}
	fault_counter(&h);
	k = opened(&h);
	for (int i = 0; i < 64; i++)
		assert_int_equal(k_attach(k, 0, &ev, &e), 0);
	assert_int_equal(k_enable(k, &e), -TALLY_EBUSY);
	assert_false(k->enabled);
	k_close(k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_page_fault_fires_once),
		cmocka_unit_test(counts_of_a_cpu_that_went_are_kept),
		cmocka_unit_test(event_without_period_or_frequency_is_refused),
		cmocka_unit_test(event_of_no_online_cpu_is_refused),
		cmocka_unit_test(unknown_event_is_not_supported),
		cmocka_unit_test(attaching_what_cannot_be_opened_says_why),
		cmocka_unit_test(each_refusal_says_its_cause),
		cmocka_unit_test(hardware_event_without_pmu_says_so),
		cmocka_unit_test(starved_event_names_the_watchdog_when_it_holds_a_counter),
		cmocka_unit_test(exhausted_counters_end_the_enabling),
	};

	return cmocka_run_group_tests_name("kernel: event", tests, NULL, NULL);
}
