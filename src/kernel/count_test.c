/* count_test.c: counting on this machine's own software events; what needs a right that is not there is skipped. */
#include <fcntl.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "kernel/count.h"
#include "kernel/kernel_int.h"

#define PAGES 200u

static const struct k_event faults = { .type = PERF_TYPE_SOFTWARE,
				       .config = PERF_COUNT_SW_PAGE_FAULTS_MIN,
				       .exclude_kernel = true };
static const int self[] = { 0 };

static void touch(uint32_t pages)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *p = mmap(NULL, pages * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_ptr_not_equal(p, MAP_FAILED);
	(void)madvise(p, pages * page, MADV_NOHUGEPAGE);
	for (uint32_t i = 0; i < pages; i++)
		((volatile char *)p)[i * page] = 1;
	munmap(p, pages * page);
}

static struct k_counter *opened(const struct k_event *ev, const struct k_target *t)
{
	struct k_counter *c = NULL;
	struct err e = { 0 };
	int rc = k_counter_open(&c, ev, 1, t, &e);

	if (rc == -TALLY_EPERM || rc == -TALLY_ENOTSUP)
		skip();
	if (rc < 0)
		fail_msg("%s", e.text);
	return c;
}

static struct k_count one(struct k_counter *c)
{
	struct k_count now = { 0 };
	struct err e = { 0 };

	assert_int_equal(k_counter_slots(c), 1);
	assert_int_equal(k_counter_read(c, &now, &e), 0);
	return now;
}

static void assert_about(uint64_t counted, uint64_t want)
{
	if (counted < want || counted > want + want / 5)
		fail_msg("%llu, not %llu", (unsigned long long)counted, (unsigned long long)want);
}

static void only_what_happens_while_enabled_counts(void **state)
{
	struct k_counter *c = opened(&faults, &(struct k_target){ .task = self, .ntasks = 1 });
	struct err e = { 0 };
	uint64_t first;

	(void)state;
	touch(PAGES);
	assert_int_equal(one(c).value, 0);
	assert_int_equal(k_counter_enable(c, true, &e), 0);
	touch(PAGES);
	assert_int_equal(k_counter_enable(c, false, &e), 0);
	first = one(c).value;
	assert_about(first, PAGES);
	touch(PAGES);
	assert_int_equal(one(c).value, first);
	assert_int_equal(one(c).enabled_ns, one(c).running_ns);
	k_counter_close(c);
}

static void what_a_task_starts_counts_when_inherited(void **state)
{
	struct err e = { 0 };

	(void)state;
	for (int inherit = 0; inherit < 2; inherit++) {
		struct k_counter *c =
			opened(&faults, &(struct k_target){ .task = self, .ntasks = 1, .inherit = inherit });
		uint64_t got;
		pid_t pid;

		assert_int_equal(k_counter_enable(c, true, &e), 0);
		pid = fork();
		if (!pid) {
			touch(100 * PAGES);
			_exit(0);
		}
		assert_int_equal(waitpid(pid, NULL, 0), pid);
		got = one(c).value;
		assert_true(inherit ? got >= 100 * PAGES : got < 100 * PAGES);
		k_counter_close(c);
	}
}

static void whole_cpus_count_each_on_its_own(void **state)
{
	const struct k_event clock = { .type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_CPU_CLOCK };
	struct k_counter *c = opened(&clock, &(struct k_target){ .each_cpu = true });
	uint32_t n = k_counter_slots(c), ncpus = k_ncpus_possible();
	uint64_t *online = mem_alloc(cpus_words(ncpus) * sizeof(*online));
	struct err e = { 0 };

	(void)state;
	assert_int_equal(k_cpus_online(online, cpus_words(ncpus), &e), 0);
	for (uint32_t i = 0; i < n; i++)
		assert_true(cpus_has(online, (uint32_t)k_counter_cpu(c, i)));
	mem_free(online);
	k_counter_close(c);
	c = opened(&clock, &(struct k_target){ .each_cpu = true, .cpus = "0" });
	assert_int_equal(k_counter_slots(c), 1);
	assert_int_equal(k_counter_cpu(c, 0), 0);
	k_counter_close(c);
	c = opened(&clock, &(struct k_target){ .task = NULL });
	assert_int_equal(k_counter_slots(c), 1);
	assert_int_equal(k_counter_cpu(c, 0), -1);
	k_counter_close(c);
}

/* So many of the online CPUs from the first on; false: there are fewer. */
static bool first_cpus(uint32_t n, uint64_t *set, uint32_t *last)
{
	uint64_t online[1024];
	struct err e = { 0 };

	assert_int_equal(k_cpus_online(online, COUNT(online), &e), 0);
	memset(set, 0, sizeof(online));
	for (uint32_t i = 0; n && i < k_ncpus_possible(); i++)
		if (cpus_has(online, i)) {
			set[i / 64] |= 1ull << i % 64;
			*last = i;
			n--;
		}
	return n == 0;
}

static void follow(struct k_counter *c, const struct k_event *ev, const struct k_target *t, const uint64_t *online)
{
	struct err e = { 0 };

	assert_int_equal(k_counter_follow(c, ev, 1, t, online, &e), 0);
	assert_string_equal(e.text, "");
}

static const struct k_event cpu_clock = { .type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_CPU_CLOCK };

static void a_cpu_that_goes_keeps_its_count_and_one_that_comes_back_goes_on(void **state)
{
	const struct k_target all = { .each_cpu = true };
	uint64_t both[1024], one[1024];
	uint32_t stays, goes;
	struct k_count was[2], now[2];
	struct k_counter *c;
	struct err e = { 0 };

	(void)state;
	if (!first_cpus(2, both, &goes) || !first_cpus(1, one, &stays))
		skip();
	c = opened(&cpu_clock, &all);
	assert_int_equal(k_counter_enable(c, true, &e), 0);
	follow(c, &cpu_clock, &all, one);
	assert_int_equal(k_counter_read(c, was, &e), 0);
	touch(PAGES);
	assert_int_equal(k_counter_read(c, now, &e), 0);
	assert_true(now[0].value > was[0].value && now[1].value == was[1].value);
	assert_int_equal(k_counter_lapsed(c), -1);
	follow(c, &cpu_clock, &all, both);
	touch(PAGES);
	assert_int_equal(k_counter_slots(c), 2);
	assert_int_equal(k_counter_read(c, now, &e), 0);
	assert_true(now[1].value > was[1].value && now[1].enabled_ns > was[1].enabled_ns);
	k_counter_close(c);
}

static void a_cpu_that_comes_has_a_slot_of_its_own(void **state)
{
	const struct k_target each = { .each_cpu = true };
	uint64_t both[1024], one[1024];
	uint32_t first, second;
	struct k_target only = each;
	struct k_count now[2];
	struct k_counter *c;
	struct err e = { 0 };
	char list[16];

	(void)state;
	if (!first_cpus(2, both, &second) || !first_cpus(1, one, &first))
		skip();
	snprintf(list, sizeof(list), "%u", first);
	only.cpus = list;
	c = opened(&cpu_clock, &only);
	assert_int_equal(k_counter_enable(c, true, &e), 0);
	follow(c, &cpu_clock, &only, both);
	assert_int_equal(k_counter_slots(c), 1);
	follow(c, &cpu_clock, &each, both);
	assert_int_equal(k_counter_slots(c), 2);
	assert_int_equal(k_counter_cpu(c, 1), second);
	touch(PAGES);
	assert_int_equal(k_counter_read(c, now, &e), 0);
	assert_true(now[1].value > 0);
	k_counter_close(c);
}

static void a_device_is_not_counted_of_a_task(void **state)
{
	struct k_event device = faults;
	struct k_counter *c;
	struct err e = { 0 };

	(void)state;
	strcpy(device.cpus, "0");
	assert_int_equal(k_counter_open(&c, &device, 1, &(struct k_target){ .task = self, .ntasks = 1 }, &e),
			 -TALLY_ENOTSUP);
	assert_non_null(strstr(e.text, "use -a"));
}

static void an_encoding_that_is_none_is_refused(void **state)
{
	const struct k_event none = { .type = 0x7ffffff0, .config = 1 };
	struct k_counter *c;
	struct err e = { 0 };

	(void)state;
	assert_true(k_counter_open(&c, &none, 1, &(struct k_target){ .task = self, .ntasks = 1 }, &e) < 0);
	assert_true(e.text[0]);
}

static void a_task_that_is_gone_is_told(void **state)
{
	pid_t pid = fork();
	struct k_counter *c;
	struct err e = { 0 };
	uint32_t n;
	int *tid;

	(void)state;
	if (!pid)
		_exit(0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(k_counter_open(&c, &faults, 1, &(struct k_target){ .task = &pid, .ntasks = 1 }, &e),
			 -TALLY_EEND);
	assert_int_equal(k_threads(pid, &tid, &n), -TALLY_EEND);
	assert_false(k_thread_is(pid));
	assert_false(k_thread_is(0));
	assert_false(k_thread_is(-1));
}

static void threads_of_this_process_are_found(void **state)
{
	uint32_t n;
	int *tid;

	(void)state;
	assert_int_equal(k_threads(getpid(), &tid, &n), 0);
	assert_true(n >= 1);
	assert_true(k_thread_is(tid[0]));
	mem_free(tid);
}

static void lists_of_cpus_are_held_against_those_online(void **state)
{
	static const char *const bad[] = { "", "x", "0-", "1-0", "64", "99999", "-1", "63" };

	(void)state;
	for (size_t i = 0; i < COUNT(bad); i++) {
		struct err e = { 0 };

		if (k_ncpus_possible() > 63 && (bad[i][0] == '6' || bad[i][0] == '9'))
			continue;
		if (k_cpus_check(bad[i], &e) != -TALLY_EINVAL || !*e.text)
			fail_msg("'%s' was taken", bad[i]);
	}
	assert_int_equal(k_cpus_check("0", &(struct err){ 0 }), 0);
	for (long n = 1;; n++) {
		struct err e = { 0 };
		bool failed;
		int rc;

		mem_fail_at(n);
		rc = k_cpus_check("0", &e);
		failed = mem_failed();
		mem_fail_at(0);
		assert_int_equal(rc, failed ? -TALLY_ENOMEM : 0);
		if (!failed)
			break;
	}
}

static void a_cpu_beyond_the_last_is_refused_with_the_last(void **state)
{
	const uint32_t n = k_ncpus_possible(), far = (n + 63) / 64 * 64;
	char list[32], words[64];

	(void)state;
	for (uint32_t cpu = n; cpu <= far; cpu++) {
		struct err e = { 0 };

		snprintf(list, sizeof(list), "%u", cpu);
		snprintf(words, sizeof(words),
			 cpu < far ? "CPU %u is not online" :
			 n == 1    ? "there is CPU 0" :
				     "there are CPUs 0 to %u",
			 cpu < far ? cpu : n - 1);
		assert_int_equal(k_cpus_check(list, &e), -TALLY_EINVAL);
		if (!strstr(e.text, words))
			fail_msg("'%s': %s, not %s", list, e.text, words);
	}
}

/* Descriptors of events, in the order in which they were opened. */
static uint32_t event_fds(int *fd, uint32_t most)
{
	uint32_t n = 0;

	for (int i = 0; i < 1024 && n < most; i++) {
		char path[40], is[40];
		ssize_t got;

		snprintf(path, sizeof(path), "/proc/self/fd/%d", i);
		got = readlink(path, is, sizeof(is) - 1);
		if (got > 0 && !strncmp(is, "anon_inode:[perf_event]", (size_t)got))
			fd[n++] = i;
	}
	return n;
}

/* From now on the descriptor reads as an event that has no counter ("/dev/null": nothing to read), or not at all. */
static void fd_replace_by_null(int fd, int flags)
{
	int other = open("/dev/null", flags | O_CLOEXEC);

	assert_true(other >= 0);
	assert_int_equal(dup2(other, fd), fd);
	close(other);
}

static void run_on(uint32_t cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	assert_int_equal(sched_setaffinity(0, sizeof(set), &set), 0);
}

static int refused_read(struct k_counter *c, const char *words)
{
	struct k_count now[2];
	struct err e = { 0 };
	int rc = k_counter_read(c, now, &e);

	if (!strstr(e.text, words))
		fail_msg("%s, not %s", e.text, words);
	return rc;
}

/* An event of a CPU is short there, wherever who reads it runs; one of a task is short where the task runs. */
static void an_event_without_a_counter_names_its_cpu(void **state)
{
	uint64_t both[1024];
	uint32_t second, here;
	char list[16], words[64];
	struct k_counter *c;
	cpu_set_t was;
	int fd[2];

	(void)state;
	if (!first_cpus(2, both, &second) || !cpus_has(both, 0))
		skip();
	assert_int_equal(sched_getaffinity(0, sizeof(was), &was), 0);
	for (uint32_t cpu = 0; cpu <= second; cpu += second) {
		here = second - cpu;
		run_on(here);
		snprintf(list, sizeof(list), "%u", cpu);
		c = opened(&cpu_clock, &(struct k_target){ .each_cpu = true, .cpus = list });
		assert_int_equal(event_fds(fd, 2), 1);
		fd_replace_by_null(fd[0], O_RDONLY);
		snprintf(words, sizeof(words), "CPU %u has no counter left for this event", cpu);
		assert_int_equal(refused_read(c, words), -TALLY_EBUSY);
		k_counter_close(c);

		c = opened(&cpu_clock, &(struct k_target){ .task = self, .ntasks = 1 });
		assert_int_equal(event_fds(fd, 2), 1);
		fd_replace_by_null(fd[0], O_RDONLY);
		snprintf(words, sizeof(words), "CPU %u has no counter left for this event", here);
		assert_int_equal(refused_read(c, words), -TALLY_EBUSY);
		k_counter_close(c);
	}
	assert_int_equal(sched_setaffinity(0, sizeof(was), &was), 0);
}

/* Of two slots that cannot be read a failure of the reading itself is what counts. */
static void a_reading_that_fails_is_told_before_a_counter_that_is_missing(void **state)
{
	static const struct {
		int flags[2], rc;
	} row[] = {
		{ { O_RDONLY, O_RDONLY }, -TALLY_EBUSY },
		{ { O_RDONLY, O_WRONLY }, -TALLY_EIO },
		{ { O_WRONLY, O_RDONLY }, -TALLY_EIO },
	};
	uint64_t both[1024];
	uint32_t second;
	int fd[3];

	(void)state;
	if (!first_cpus(2, both, &second) || !cpus_has(both, 0))
		skip();
	for (size_t i = 0; i < COUNT(row); i++) {
		char list[16];
		struct k_counter *c;

		snprintf(list, sizeof(list), "0,%u", second);
		c = opened(&cpu_clock, &(struct k_target){ .each_cpu = true, .cpus = list });
		assert_int_equal(k_counter_slots(c), 2);
		assert_int_equal(event_fds(fd, 3), 2);
		fd_replace_by_null(fd[0], row[i].flags[0]);
		assert_int_equal(refused_read(c, ""), row[i].flags[0] == O_WRONLY ? -TALLY_EIO : -TALLY_EBUSY);
		fd_replace_by_null(fd[1], row[i].flags[1]);
		assert_int_equal(refused_read(c, ""), row[i].rc);
		k_counter_close(c);
	}
	{
		struct k_counter *c = opened(&cpu_clock, &(struct k_target){ .task = self, .ntasks = 1 });

		assert_int_equal(event_fds(fd, 3), 1);
		fd_replace_by_null(fd[0], O_WRONLY);
		assert_int_equal(refused_read(c, "reading an event failed: Bad file descriptor"), -TALLY_EIO);
		k_counter_close(c);
	}
}

static void out_of_memory_is_an_error(void **state)
{
	const struct k_target t = { .task = self, .ntasks = 1, .each_cpu = true };

	(void)state;
	for (long n = 1;; n++) {
		struct k_counter *c = NULL;
		struct err e = { 0 };
		bool failed;
		int rc;

		mem_fail_at(n);
		rc = k_counter_open(&c, &faults, 1, &t, &e);
		failed = mem_failed();
		mem_fail_at(0);
		if (failed)
			assert_int_equal(rc, -TALLY_ENOMEM);
		else
			k_counter_close(c);
		assert_int_equal(mem_live(), 0);
		if (!failed)
			break;
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_what_happens_while_enabled_counts),
		cmocka_unit_test(what_a_task_starts_counts_when_inherited),
		cmocka_unit_test(whole_cpus_count_each_on_its_own),
		cmocka_unit_test(a_cpu_that_goes_keeps_its_count_and_one_that_comes_back_goes_on),
		cmocka_unit_test(a_cpu_that_comes_has_a_slot_of_its_own),
		cmocka_unit_test(a_device_is_not_counted_of_a_task),
		cmocka_unit_test(an_encoding_that_is_none_is_refused),
		cmocka_unit_test(a_task_that_is_gone_is_told),
		cmocka_unit_test(threads_of_this_process_are_found),
		cmocka_unit_test(lists_of_cpus_are_held_against_those_online),
		cmocka_unit_test(a_cpu_beyond_the_last_is_refused_with_the_last),
		cmocka_unit_test(an_event_without_a_counter_names_its_cpu),
		cmocka_unit_test(a_reading_that_fails_is_told_before_a_counter_that_is_missing),
		cmocka_unit_test(out_of_memory_is_an_error),
	};

	return cmocka_run_group_tests_name("kernel: count", tests, NULL, NULL);
}
