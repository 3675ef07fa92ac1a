/* run_test.c: maps through the table of functions, memory that runs out, and what a kill -9 leaves behind. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "kernel/handmade_int.h"
#include "kernel/libbpf_int.h"

enum { CTL, GLOBALS, HASH, AGG, SUM, STACKS, RINGS };

/* One map of each kind, and a program of each class. */
static void everything(struct handmade *h)
{
	static const uint64_t init[2] = { 7, 11 };

	hm_init(h);
	hm_map(h, IMG_ARRAY, IMG_CTL, 4, sizeof(struct img_ctl), 1);
	hm_map(h, IMG_ARRAY, IMG_GLOBALS, 4, 16, 1);
	hm_map(h, IMG_HASH, IMG_VAR, 8, 16, 4);
	hm_map(h, IMG_PERCPU_HASH, IMG_AGG, 16, 8, 16);
	hm_map(h, IMG_PERCPU_ARRAY, IMG_AGG, 4, 8, 1);
	hm_map(h, IMG_STACK_TRACE, IMG_STACKS, 4, 20 * 8, 64);
	hm_map(h, IMG_RINGS, IMG_RING, 4, 4, 4096);
	h->img.globals_init = (void *)(uintptr_t)init;
	h->img.globals_size = sizeof(init);
	/* globals[1] += 7; ctl.exited = 1 */
	HM_PROG(h, IMG_TEST, I_LD_MAP_VALUE(R1, GLOBALS), I_RAW(0, 0, 0, 0, 8), I_MOV_IMM(R2, 7),
		I_ATOMIC(DW, ADD, R1, 0, R2), I_LD_MAP_VALUE(R1, CTL), I_RAW(0, 0, 0, 0, 0), I_STORE_IMM(DW, R1, 0, 1),
		HM_RETURN);
	HM_PROG(h, IMG_PERF, HM_RETURN);
}

static struct k_run *opened(struct handmade *h)
{
	struct err e = { 0 };
	struct k_run *k = NULL;

	if (k_open(&k, &h->img, NULL, &e) < 0)
		fail_msg("%s", e.text);
	return k;
}

static void globals_start_as_the_image_says_and_are_shared(void **state)
{
	struct handmade h;
	struct err e = { 0 };
	struct k_run *k;
	uint64_t value[2] = { 100, 1 };
	uint32_t zero = 0, one = 1;
	struct maps m;

	(void)state;
	HM_NEED_RIGHTS();
	everything(&h);
	k = opened(&h);
	m = k_maps(k);
	assert_int_equal(k_ctl(k)->exited, 0);
	assert_int_equal(k_test_run(k, 0, &e), 0);
	assert_int_equal(k_ctl(k)->exited, 1);
	assert_int_equal(m.ops->lookup(m.maps, GLOBALS, &zero, value), 0);
	assert_int_equal(value[0], 7);
	assert_int_equal(value[1], 18);
	assert_int_equal(m.ops->update(m.maps, GLOBALS, &zero, (uint64_t[]){ 1, 2 }), 0);
	assert_int_equal(k_test_run(k, 0, &e), 0);
	assert_int_equal(m.ops->lookup(m.maps, GLOBALS, &zero, value), 0);
	assert_int_equal(value[1], 9);
	assert_int_equal(m.ops->lookup(m.maps, GLOBALS, &one, value), -TALLY_EEND);
	assert_int_equal(m.ops->update(m.maps, GLOBALS, &one, value), -TALLY_EINVAL);
	k_close(k);
}

static void hash_is_filled_walked_and_emptied(void **state)
{
	struct handmade h;
	struct k_run *k;
	uint64_t value[2], key, next, seen = 0;
	struct maps m;

	(void)state;
	HM_NEED_RIGHTS();
	everything(&h);
	k = opened(&h);
	m = k_maps(k);
	assert_int_equal(m.ops->next(m.maps, HASH, NULL, &next), -TALLY_EEND);
	for (key = 0; key < 4; key++)
		assert_int_equal(m.ops->update(m.maps, HASH, &key, (uint64_t[]){ key, key * key }), 0);
	assert_int_equal(m.ops->update(m.maps, HASH, &key, value), -TALLY_ENOMEM);
	assert_int_equal(m.ops->lookup(m.maps, HASH, &key, value), -TALLY_EEND);
	for (int rc = m.ops->next(m.maps, HASH, NULL, &next); rc == 0; rc = m.ops->next(m.maps, HASH, &key, &next)) {
		seen |= 1u << next;
		key = next;
	}
	assert_int_equal(seen, 15);
	key = 3;
	assert_int_equal(m.ops->take(m.maps, HASH, &key, value), 0);
	assert_int_equal(value[1], 9);
	assert_int_equal(m.ops->take(m.maps, HASH, &key, value), -TALLY_EEND);
	key = 2;
	assert_int_equal(m.ops->remove(m.maps, HASH, &key), 0);
	assert_int_equal(m.ops->remove(m.maps, HASH, &key), -TALLY_EEND);
	k_close(k);
}

static void per_cpu_values_have_one_for_each_possible_cpu(void **state)
{
	struct handmade h;
	struct k_run *k;
	uint64_t key[2] = { 1, 2 }, *value;
	uint32_t zero = 0;
	struct maps m;

	(void)state;
	HM_NEED_RIGHTS();
	everything(&h);
	k = opened(&h);
	m = k_maps(k);
	assert_int_equal(m.ncpus, k_ncpus_possible());
	value = mem_alloc(m.ncpus * sizeof(*value));
	for (uint32_t i = 0; i < m.ncpus; i++)
		value[i] = i + 1;
	assert_int_equal(m.ops->update(m.maps, AGG, key, value), 0);
	assert_int_equal(m.ops->update(m.maps, SUM, &zero, value), 0);
	memset(value, 0, m.ncpus * sizeof(*value));
	assert_int_equal(m.ops->take(m.maps, AGG, key, value), 0);
	assert_int_equal(value[m.ncpus - 1], m.ncpus);
	assert_int_equal(m.ops->lookup(m.maps, SUM, &zero, value), 0);
	assert_int_equal(value[0], 1);
	assert_int_equal(m.ops->remove(m.maps, SUM, &zero), -TALLY_EINVAL);
	mem_free(value);
	k_close(k);
}

static void maps_that_are_none_are_refused(void **state)
{
	struct handmade h;
	struct k_run *k;
	uint64_t value[40];
	uint32_t id = 5;
	struct maps m;

	(void)state;
	HM_NEED_RIGHTS();
	everything(&h);
	k = opened(&h);
	m = k_maps(k);
	assert_int_equal(m.ops->lookup(m.maps, RINGS, &id, value), -TALLY_EINVAL);
	assert_int_equal(m.ops->lookup(m.maps, 99, &id, value), -TALLY_EINVAL);
	assert_int_equal(m.ops->next(m.maps, 99, NULL, &id), -TALLY_EINVAL);
	assert_int_equal(m.ops->lookup(m.maps, STACKS, &id, value), -TALLY_EEND);
	assert_int_equal(m.ops->take(m.maps, STACKS, &id, value), -TALLY_EEND);
	assert_int_equal(m.ops->update(m.maps, STACKS, &id, value), -TALLY_EINVAL);
	k_close(k);
}

static void image_that_can_not_be_is_refused(void **state)
{
	struct handmade h;
	struct err e = { 0 };
	struct k_run *k;

	(void)state;
	hm_init(&h);
	hm_map(&h, 77, IMG_AGG, 8, 8, 8);
	assert_int_equal(k_open(&k, &h.img, NULL, &e), -TALLY_EINVAL);
	e = (struct err){ 0 };
	hm_init(&h);
	hm_prog(&h, 9, (struct bpf_ins[]){ HM_RETURN }, 2);
	assert_int_equal(k_open(&k, &h.img, NULL, &e), -TALLY_EINVAL);
	e = (struct err){ 0 };
	HM_NEED_RIGHTS();
	hm_init(&h);
	hm_map(&h, IMG_ARRAY, IMG_CTL, 4, 8, 1);
	assert_int_equal(k_open(&k, &h.img, NULL, &e), -TALLY_EINVAL);
	assert_non_null(strstr(e.text, "control words"));
	e = (struct err){ 0 };
	hm_init(&h);
	hm_map(&h, IMG_PERCPU_ARRAY, IMG_SCRATCH, 4, 1 << 20, 2);
	assert_true(k_open(&k, &h.img, NULL, &e) < 0);
	assert_int_equal(mem_live(), 0);
}

/* A whole run; -TALLY_ENOMEM at any allocation that fails. */
static int whole_run(struct handmade *h)
{
	struct k_event ev = { .type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_PAGE_FAULTS, .period = 100000 };
	struct k_account *a = NULL;
	struct k_run *k = NULL;
	struct err e = { 0 };
	uint32_t n;
	int rc = k_open(&k, &h->img, NULL, &e);

	if (rc == 0)
		rc = k_attach(k, 1, &ev, &e);
	if (rc == 0)
		rc = k_timer(k, 1000000000, &e);
	if (rc == 0)
		rc = k_test_run(k, 0, &e);
	if (rc == 0)
		rc = k_enable(k, &e);
	if (rc == 0)
		rc = k_drain(k, NULL, NULL);
	if (rc == 0)
		rc = k_hotplug(k, &e);
	if (rc == 0)
		rc = k_accounts(k, &a, &n, &e);
	mem_free(a);
	k_close(k);
	return rc;
}

static void memory_that_runs_out_is_told_wherever_it_does(void **state)
{
	struct handmade h;

	(void)state;
	HM_NEED_RIGHTS();
	everything(&h);
	for (long n = 1;; n++) {
		int rc;

		mem_fail_at(n);
		rc = whole_run(&h);
		if (!mem_failed()) {
			assert_int_equal(rc, 0);
			break;
		}
		assert_int_equal(rc, -TALLY_ENOMEM);
		assert_int_equal(mem_live(), 0);
	}
	mem_fail_at(0);
}

static uint32_t prog_id(int fd)
{
	struct bpf_prog_info info = { 0 };
	uint32_t size = sizeof(info);

	return bpf_obj_get_info_by_fd(fd, &info, &size) < 0 ? 0 : info.id;
}

/* In a child: a run with its events enabled, whose program's id is told; then for ever. */
static void run_for_ever(int to)
{
	struct k_event ev = { .type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_PAGE_FAULTS, .period = 1000 };
	struct handmade h;
	struct k_run *k;
	struct err e = { 0 };
	uint32_t id = 0;

	everything(&h);
	if (k_open(&k, &h.img, NULL, &e) == 0 && k_attach(k, 1, &ev, &e) == 0 && k_enable(k, &e) == 0)
		id = prog_id(k->prog[1]);
	if (write(to, &id, sizeof(id)) == sizeof(id))
		while (k_wait(k, -1) >= 0)
			;
	_exit(1);
}

/* Whether the program is gone; the kernel frees it a grace period after its last user. */
static bool gone(uint32_t id)
{
	time_t until = time(NULL) + 10;
	int fd;

	while ((fd = bpf_prog_get_fd_by_id(id)) >= 0 && time(NULL) < until) {
		close(fd);
		sched_yield();
	}
	if (fd >= 0)
		close(fd);
	return fd < 0;
}

static void killed_tracer_leaves_no_program_behind(void **state)
{
	uint32_t id = 0;
	int p[2];
	pid_t pid;

	(void)state;
	HM_NEED_RIGHTS();
	assert_int_equal(pipe(p), 0);
	pid = fork();
	if (pid == 0)
		run_for_ever(p[1]);
	assert_int_equal(read(p[0], &id, sizeof(id)), sizeof(id));
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_not_equal(id, 0);
	assert_true(gone(id) || errno == EPERM);
	close(p[0]);
	close(p[1]);
}

/* Mappings of code until the kernel has a quarter of a ring of them to tell. */
static void map_code_often(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	for (int i = 0; i < 20000; i++) {
		void *p = mmap(NULL, page, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);

		assert_ptr_not_equal(p, MAP_FAILED);
		munmap(p, page);
	}
	close(fd);
}

static void processes_that_are_watched_from_the_second_wait_on_end_it(void **state)
{
	struct handmade h;
	struct err e = { 0 };
	struct k_run *k;

	(void)state;
	HM_NEED_RIGHTS();
	hm_init(&h);
	hm_map(&h, IMG_ARRAY, IMG_CTL, 4, sizeof(struct img_ctl), 1);
	HM_PROG(&h, IMG_TEST, HM_RETURN);
	k = opened(&h);
	assert_int_equal(k_wait(k, 0), 0);
	assert_int_equal(k_task_watch(k, &e), 0);
	assert_true(k_wait(k, 0) >= 0); /* 1: a process of somebody else's has mapped code already */
	map_code_often();
	assert_int_equal(k_wait(k, 60000), 1);
	k_close(k);
	assert_int_equal(mem_live(), 0);
}

/* One mapping is no quarter of a ring; whoever waits for that sees the file only when something else ends the wait. */
static void one_mapping_ends_a_wait(void **state)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct handmade h;
	struct err e = { 0 };
	struct k_run *k;
	void *p;
	int fd;

	(void)state;
	HM_NEED_RIGHTS();
	hm_init(&h);
	hm_map(&h, IMG_ARRAY, IMG_CTL, 4, sizeof(struct img_ctl), 1);
	HM_PROG(&h, IMG_TEST, HM_RETURN);
	k = opened(&h);
	assert_int_equal(k_task_watch(k, &e), 0);
	fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	p = mmap(NULL, page, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	assert_ptr_not_equal(p, MAP_FAILED);
	assert_int_equal(k_wait(k, 5000), 1);
	munmap(p, page);
	close(fd);
	k_close(k);
	assert_int_equal(mem_live(), 0);
}

static uint32_t run_count_files(void)
{
	DIR *d = opendir("/proc/self/fd");
	uint32_t n = 0;

	assert_non_null(d);
	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

/* They are attached in a thread, which may be at any place when the load of the script's own program fails. */
static void what_watches_mappings_is_gone_with_the_run_also_if_its_program_is_refused(void **state)
{
	struct err e = { 0 };
	struct handmade h;
	struct k_run *k;

	(void)state;
	HM_NEED_RIGHTS();
	for (int good = 0; good < 2; good++) {
		const uint32_t files = run_count_files();

		hm_init(&h);
		hm_map(&h, IMG_ARRAY, IMG_CTL, 4, sizeof(struct img_ctl), 1);
		hm_map(&h, IMG_HASH, IMG_GENERATIONS, 8, sizeof(struct img_generation), 64);
		hm_map(&h, IMG_ARRAY, IMG_SPACES, 4, IMG_SPACES_N * sizeof(struct img_space), 1);
		if (good) {
			HM_PROG(&h, IMG_TEST, HM_RETURN);
			k = opened(&h);
			assert_int_equal(k_task_watch(k, &e), 0);
			assert_int_equal(k_task_generations(k), k_tells_types());
			k_close(k);
		} else {
			HM_PROG(&h, IMG_TEST, I_EXIT());
			assert_int_equal(k_open(&k, &h.img, NULL, &e), -TALLY_EVERIFY);
			e = (struct err){ 0 };
		}
		assert_int_equal(run_count_files(), files);
		assert_int_equal(mem_live(), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(globals_start_as_the_image_says_and_are_shared),
		cmocka_unit_test(hash_is_filled_walked_and_emptied),
		cmocka_unit_test(per_cpu_values_have_one_for_each_possible_cpu),
		cmocka_unit_test(maps_that_are_none_are_refused),
		cmocka_unit_test(image_that_can_not_be_is_refused),
		cmocka_unit_test(memory_that_runs_out_is_told_wherever_it_does),
		cmocka_unit_test(killed_tracer_leaves_no_program_behind),
		cmocka_unit_test(processes_that_are_watched_from_the_second_wait_on_end_it),
		cmocka_unit_test(one_mapping_ends_a_wait),
		cmocka_unit_test(what_watches_mappings_is_gone_with_the_run_also_if_its_program_is_refused),
	};

	return cmocka_run_group_tests_name("kernel: run", tests, NULL, NULL);
}
