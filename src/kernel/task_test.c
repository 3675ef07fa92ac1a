/* Tests of task.c, task_proc.c and kallsyms.c: rings made here, and this machine. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "kernel/kernel_int.h"
#include "kernel/task_int.h"

/* ---- facts kept ------------------------------------------------------------------- */
struct kept {
	struct k_task t[256];
	char path[256][128];
	uint32_t n, pid; /* only this pid's, when not 0 */
};

static void keep(void *arg, const struct k_task *t)
{
	struct kept *k = arg;

	if ((k->pid && t->pid != k->pid) || k->n == COUNT(k->t))
		return;
	k->t[k->n] = *t;
	snprintf(k->path[k->n++], sizeof(k->path[0]), "%s", t->path ? t->path : "");
}

/* ---- records made ------------------------------------------------------------------ */
struct made {
	uint8_t b[512];
	uint32_t n;
};

static void put(struct made *m, const void *p, size_t n)
{
	memcpy(m->b + m->n, p, n);
	m->n += (uint32_t)n;
}

static void put32(struct made *m, uint32_t v)
{
	put(m, &v, sizeof(v));
}

static void put64(struct made *m, uint64_t v)
{
	put(m, &v, sizeof(v));
}

static void begin(struct made *m, uint32_t type, uint16_t misc)
{
	struct perf_event_header h = { .type = type, .misc = misc };

	m->n = 0;
	put(m, &h, sizeof(h));
}

static void end(struct made *m, uint64_t time_ns)
{
	uint16_t size;

	put32(m, 1);
	put32(m, 1);
	put64(m, time_ns);
	size = (uint16_t)m->n;
	memcpy(m->b + 6, &size, sizeof(size));
}

static void make_mmap(struct made *m, uint32_t pid, uint64_t addr, uint32_t prot, const char *path, uint64_t time_ns)
{
	char padded[128] = "";

	begin(m, PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER);
	put32(m, pid);
	put32(m, pid);
	put64(m, addr);
	put64(m, 0x2000);
	put64(m, 0x3000);
	put32(m, 8);
	put32(m, 1);
	put64(m, 4711);
	put64(m, 1);
	put32(m, prot);
	put32(m, 0);
	memcpy(padded, path, strlen(path));
	put(m, padded, (strlen(path) + 8) & ~7ul);
	end(m, time_ns);
}

static void make_life(struct made *m, uint32_t type, uint32_t pid, uint32_t ppid, uint32_t tid, uint64_t time_ns)
{
	begin(m, type, 0);
	put32(m, pid);
	put32(m, ppid);
	put32(m, tid);
	put32(m, ppid);
	put64(m, time_ns);
	end(m, time_ns);
}

static void make_unmap(struct made *m, uint32_t pid, uint32_t size, uint32_t told, uint64_t began_ns)
{
	uint16_t all = 48;

	begin(m, PERF_RECORD_SAMPLE, 0);
	put32(m, pid);
	put32(m, pid + 1);
	put64(m, began_ns + 1);
	put32(m, size);
	put32(m, told);
	put64(m, began_ns - 10);
	put64(m, began_ns);
	memcpy(m->b + 6, &all, sizeof(all));
}

/* What generation.c's programs write: a sample whose last 8 bytes are its time, as those of all records are. */
static void a_mapping_that_goes_is_a_fact_of_its_time(void **state)
{
	struct made m;
	struct k_task t;

	(void)state;
	make_unmap(&m, 77, sizeof(struct k_unmapped), K_TOLD_UNMAPPED, 999);
	assert_true(k_task_of_record(m.b, m.n, &t));
	assert_int_equal(t.kind, K_TASK_UNMAP);
	assert_int_equal(t.pid, 77);
	assert_int_equal(t.time_ns, 999);
	assert_int_equal(t.since_ns, 989);
	assert_false(k_task_of_record(m.b, m.n - 8, &t));
	make_unmap(&m, 77, sizeof(struct k_unmapped), K_TOLD_MOVED, 999);
	assert_false(k_task_of_record(m.b, m.n, &t));
	make_unmap(&m, 77, sizeof(struct k_unmapped) + 1, K_TOLD_UNMAPPED, 999);
	assert_false(k_task_of_record(m.b, m.n, &t));
}

static void make_move(struct made *m, uint64_t old_len, uint32_t flags, uint64_t time_ns)
{
	const uint64_t argument[CALL_ARGUMENTS] = { 0x10000, old_len, 0x2ffff, flags, 0x90000 };
	uint16_t all = 8 + 20 + sizeof(struct k_moved);

	begin(m, PERF_RECORD_SAMPLE, 0);
	put32(m, 77);
	put32(m, 78);
	put64(m, time_ns + 1);
	put32(m, sizeof(struct k_moved));
	put32(m, K_TOLD_MOVED);
	for (uint32_t i = 0; i < CALL_ARGUMENTS; i++)
		put64(m, argument[i]);
	put64(m, time_ns);
	memcpy(m->b + 6, &all, sizeof(all));
}

static void a_mapping_that_moves_is_a_fact_that_says_from_where(void **state)
{
	struct made m;
	struct k_task t;

	(void)state;
	make_move(&m, 0x20000, MREMAP_MAYMOVE | MREMAP_FIXED, 999);
	assert_true(k_task_of_record(m.b, m.n, &t));
	assert_int_equal(t.kind, K_TASK_MOVE);
	assert_int_equal(t.pid, 77);
	assert_int_equal(t.time_ns, 999);
	assert_int_equal(t.addr, 0x10000);
	assert_int_equal(t.len, 0x20000);
	assert_int_equal(t.to, 0x90000);
	assert_int_equal(t.to_len, 0x30000); /* whole pages */
	assert_false(t.stays);
	make_move(&m, 0x20000, MREMAP_MAYMOVE | MREMAP_FIXED | MREMAP_DONTUNMAP, 999);
	assert_true(k_task_of_record(m.b, m.n, &t) && t.stays);
	make_move(&m, 0, MREMAP_MAYMOVE | MREMAP_FIXED, 999);
	assert_true(k_task_of_record(m.b, m.n, &t) && t.stays);
	make_move(&m, 0x20000, MREMAP_MAYMOVE, 999);
	assert_true(k_task_of_record(m.b, m.n, &t));
	assert_int_equal(t.to, 0); /* the kernel's choice */
	make_move(&m, 0x20000, 0, 999);
	assert_false(k_task_of_record(m.b, m.n, &t)); /* stays where it is */
}

static bool take_placed(uint32_t told, uint64_t first, uint64_t second, struct k_task *t)
{
	const uint16_t all = 8 + 20 + sizeof(struct k_placed);
	struct made m;

	begin(&m, PERF_RECORD_SAMPLE, 0);
	put32(&m, 77);
	put32(&m, 78);
	put64(&m, 1000);
	put32(&m, sizeof(struct k_placed));
	put32(&m, told);
	put64(&m, first);
	put64(&m, second);
	put64(&m, 999);
	memcpy(m.b + 6, &all, sizeof(all));
	return k_task_of_record(m.b, m.n, t);
}

static void what_is_unmapped_and_the_heap_are_facts_in_whole_pages(void **state)
{
	struct k_task t;

	(void)state;
	assert_true(take_placed(K_TOLD_GONE, 0x10000, 0x2001, &t));
	assert_int_equal(t.kind, K_TASK_GONE);
	assert_int_equal(t.pid, 77);
	assert_int_equal(t.time_ns, 999);
	assert_int_equal(t.addr, 0x10000);
	assert_int_equal(t.len, 0x3000);
	/* the kernel refuses these */
	assert_false(take_placed(K_TOLD_GONE, 0x10001, 0x2000, &t));
	assert_false(take_placed(K_TOLD_GONE, 0x10000, 0, &t));
	assert_false(take_placed(K_TOLD_GONE, 0x10000, UINT64_MAX, &t));
	assert_false(take_placed(K_TOLD_GONE, UINT64_MAX - 0xfff, 0x2000, &t));
	assert_true(take_placed(K_TOLD_HEAP, 0x10010, 0x12001, &t));
	assert_int_equal(t.kind, K_TASK_HEAP);
	assert_int_equal(t.addr, 0x10000);
	assert_int_equal(t.len, 0x3000);
	assert_false(take_placed(K_TOLD_HEAP, 0x10010, 0x10000, &t));
	assert_false(take_placed(K_TOLD_HEAP, 0, UINT64_MAX, &t));
	assert_false(take_placed(K_TOLD_UNMAPPED, 0x10000, 0x2000, &t));
}

static void a_fork_that_copies_no_memory_is_a_fact_of_its_thread(void **state)
{
	const uint16_t all = 40;
	struct made m;
	struct k_task t;

	(void)state;
	begin(&m, PERF_RECORD_SAMPLE, 0);
	put32(&m, 77);
	put32(&m, 78);
	put64(&m, 1000);
	put32(&m, sizeof(struct k_shared));
	put32(&m, K_TOLD_SHARED);
	put64(&m, 999);
	memcpy(m.b + 6, &all, sizeof(all));
	assert_true(k_task_of_record(m.b, m.n, &t));
	assert_int_equal(t.kind, K_TASK_SHARE);
	assert_int_equal(t.pid, 77);
	assert_int_equal(t.tid, 78);
	assert_int_equal(t.time_ns, 999);
	make_unmap(&m, 77, sizeof(struct k_unmapped), K_TOLD_SHARED, 999);
	assert_false(k_task_of_record(m.b, m.n, &t));
}

static void a_mapping_record_becomes_a_fact(void **state)
{
	struct made m;
	struct k_task t;

	(void)state;
	make_mmap(&m, 42, 0x400000, PROT_READ | PROT_EXEC, "/usr/bin/x", 77);
	assert_true(k_task_of_record(m.b, m.n, &t));
	assert_int_equal(t.kind, K_TASK_MMAP);
	assert_int_equal(t.pid, 42);
	assert_int_equal(t.time_ns, 77);
	assert_int_equal(t.addr, 0x400000);
	assert_int_equal(t.len, 0x2000);
	assert_int_equal(t.pgoff, 0x3000);
	assert_int_equal(t.inode, 4711);
	assert_int_equal(t.dev_major, 8);
	assert_int_equal(t.dev_minor, 1);
	assert_string_equal(t.path, "/usr/bin/x");
	make_mmap(&m, 42, 0x400000, PROT_READ | PROT_EXEC, "//anon", 77);
	assert_true(k_task_of_record(m.b, m.n, &t));
	assert_string_equal(t.path, "");
	make_mmap(&m, 42, 0x400000, PROT_READ, "/usr/share/data", 77);
	assert_true(k_task_of_record(m.b, m.n, &t));
	assert_int_equal(t.kind, K_TASK_DATA);
	assert_int_equal(t.pgoff, 0x3000);
	assert_string_equal(t.path, "/usr/share/data");
}

static void records_of_no_interest_are_passed_over(void **state)
{
	struct made m;
	struct k_task t;

	(void)state;
	make_mmap(&m, UINT32_MAX, 0x400000, PROT_EXEC, "/x", 77); /* of another pid namespace */
	assert_false(k_task_of_record(m.b, m.n, &t));
	make_life(&m, PERF_RECORD_FORK, 42, 42, 43, 5); /* a thread */
	assert_false(k_task_of_record(m.b, m.n, &t));
	make_life(&m, PERF_RECORD_EXIT, 42, 1, 43, 5);
	assert_false(k_task_of_record(m.b, m.n, &t));
	begin(&m, PERF_RECORD_COMM, 0); /* a new name without exec */
	put32(&m, 42);
	put32(&m, 42);
	put64(&m, 0);
	end(&m, 5);
	assert_false(k_task_of_record(m.b, m.n, &t));
	begin(&m, PERF_RECORD_THROTTLE, 0);
	end(&m, 5);
	assert_false(k_task_of_record(m.b, m.n, &t));
}

static void every_cut_of_a_record_is_refused_or_a_fact(void **state)
{
	struct made m;
	struct k_task t;

	(void)state;
	make_mmap(&m, 42, 0x400000, PROT_EXEC, "/usr/bin/x", 77);
	for (uint32_t n = 0; n <= m.n; n++) {
		uint8_t *exact = malloc(n ? n : 1);

		memcpy(exact, m.b, n);
		if (k_task_of_record(exact, n, &t) && t.kind == K_TASK_MMAP)
			assert_true(strlen(t.path) < n);
		free(exact);
	}
}

/* ---- rings made ---------------------------------------------------------------------- */
enum { RING = 4096 };
struct made_ring {
	struct perf_event_mmap_page page;
	uint8_t data[RING];
};

static void ring_put(struct made_ring *r, const struct made *m)
{
	for (uint32_t i = 0; i < m->n; i++)
		r->data[(r->page.data_head + i) % RING] = m->b[i];
	r->page.data_head += m->n;
}

static struct made_ring *rings_new(struct k_taskring *k, uint32_t n, uint64_t start)
{
	struct made_ring *r = mem_alloc(n * sizeof(*r));

	for (uint32_t i = 0; i < n; i++) {
		r[i].page.data_head = r[i].page.data_tail = start;
		k[i] = (struct k_taskring){ .fd = -1, .page = &r[i].page, .data = r[i].data, .size = RING };
	}
	return r;
}

static int merge(struct k_taskring *k, uint32_t n, uint64_t until, struct kept *to)
{
	uint8_t *scratch = mem_alloc(K_TASK_RECORD_MOST);
	int told = k_taskrings_merge(k, n, until, scratch, keep, to);

	mem_free(scratch);
	return told;
}

static void rings_are_merged_in_time_order_and_the_future_waits(void **state)
{
	static const struct {
		uint32_t ring, pid;
		uint64_t time;
	} rows[] = {
		{ 0, 1, 10 }, { 0, 4, 40 }, { 0, 6, 60 }, { 1, 2, 20 }, { 1, 3, 30 }, { 2, 5, 50 },
	};
	struct k_taskring k[4] = { 0 };
	struct made_ring *r = rings_new(k, 3, 0); /* k[3]: a CPU without a ring */
	struct kept got = { 0 };
	struct made m;

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		make_life(&m, PERF_RECORD_EXIT, rows[i].pid, 99, rows[i].pid, rows[i].time);
		ring_put(&r[rows[i].ring], &m);
	}
	assert_int_equal(merge(k, 4, 40, &got), 4);
	assert_int_equal(merge(k, 4, 1000, &got), 2);
	assert_int_equal(merge(k, 4, 1000, &got), 0);
	for (uint32_t i = 0; i < got.n; i++)
		assert_int_equal(got.t[i].pid, i + 1);
	for (int i = 0; i < 3; i++)
		assert_int_equal(r[i].page.data_tail, r[i].page.data_head);
	mem_free(r);
}

static void a_record_that_wraps_is_whole(void **state)
{
	struct made m;

	(void)state;
	make_mmap(&m, 42, 0x400000, PROT_EXEC, "/usr/bin/wrapped", 77);
	for (uint32_t start = RING - m.n; start <= RING; start += 8) {
		struct k_taskring k[1];
		struct made_ring *r = rings_new(k, 1, start);
		struct kept got = { 0 };

		ring_put(r, &m);
		assert_int_equal(merge(k, 1, 100, &got), 1);
		assert_string_equal(got.path[0], "/usr/bin/wrapped");
		mem_free(r);
	}
}

static void losses_are_told_and_so_is_a_ring_that_makes_no_sense(void **state)
{
	static const uint16_t bad_sizes[] = { 0, 4, 12, 4088 };
	struct k_taskring k[1];
	struct made_ring *r = rings_new(k, 1, 0);
	struct kept got = { 0 };
	struct made m;

	(void)state;
	begin(&m, PERF_RECORD_LOST, 0);
	put64(&m, 1);
	put64(&m, 17);
	end(&m, 5);
	ring_put(r, &m);
	assert_int_equal(merge(k, 1, 10, &got), 1);
	assert_int_equal(got.t[0].kind, K_TASK_LOST);
	assert_int_equal(got.t[0].len, 17);
	for (size_t i = 0; i < COUNT(bad_sizes); i++) {
		got.n = 0;
		make_life(&m, PERF_RECORD_EXIT, 7, 1, 7, 6);
		memcpy(m.b + 6, &bad_sizes[i], 2);
		ring_put(r, &m);
		assert_int_equal(merge(k, 1, 10, &got), 1);
		assert_int_equal(got.t[0].kind, K_TASK_LOST);
		assert_int_equal(got.t[0].len, 1);
		assert_int_equal(r->page.data_tail, r->page.data_head);
	}
	mem_free(r);
}

/* ---- this machine --------------------------------------------------------------------- */

static struct k_tasks *watch_or_skip(void)
{
	struct k_tasks *t = NULL;
	struct err e = { 0 };

	if (k_tasks_open(&t, false, &e) < 0) {
		print_message("skipped: %s\n", e.text);
		skip();
	}
	return t;
}

static uint32_t find(const struct kept *k, uint8_t kind, const char *path)
{
	for (uint32_t i = 0; i < k->n; i++)
		if (k->t[i].kind == kind && (!path || strstr(k->path[i], path)))
			return i;
	fail_msg("no fact of kind %d (%s) in %u", kind, path ? path : "", k->n);
	return 0;
}

static void a_process_is_told_from_birth_to_death(void **state)
{
	struct k_tasks *t = watch_or_skip();
	struct kept got = { 0 };
	uint32_t born, execd, mapped;
	int status;

	(void)state;
	assert_true(k_tasks_fd(t, 0) >= 0);
	assert_int_equal(k_tasks_fd(t, 100000), -1);
	got.pid = (uint32_t)fork();
	if (!got.pid) {
		execl("/bin/true", "true", (char *)NULL);
		_exit(127);
	}
	assert_int_equal(waitpid((pid_t)got.pid, &status, 0), got.pid);
	assert_true(k_tasks_drain(t, keep, &got) >= 4);
	born = find(&got, K_TASK_FORK, NULL);
	execd = find(&got, K_TASK_COMM_EXEC, NULL);
	mapped = find(&got, K_TASK_MMAP, "true");
	assert_int_equal(got.t[born].ppid, getpid());
	assert_true(born < execd && execd < mapped && mapped < find(&got, K_TASK_EXIT, NULL));
	assert_int_equal(find(&got, K_TASK_EXIT, NULL), got.n - 1);
	assert_true(got.t[mapped].inode && got.t[mapped].len);
	for (uint32_t i = 1; i < got.n; i++)
		assert_true(got.t[i - 1].time_ns <= got.t[i].time_ns);
	k_tasks_close(t);
}

static void executable_memory_without_a_file_is_told_without_a_path(void **state)
{
	struct k_tasks *t = watch_or_skip();
	struct kept got = { .pid = (uint32_t)getpid() };
	struct err e = { 0 };
	void *p;

	(void)state;
	p = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(p != MAP_FAILED);
	assert_int_equal(k_tasks_online(t, &e), 0); /* again changes nothing */
	k_tasks_drain(t, keep, &got);
	munmap(p, 4096);
	assert_int_equal(got.n, 1);
	assert_int_equal(got.t[0].kind, K_TASK_MMAP);
	assert_int_equal(got.t[0].addr, (uint64_t)(uintptr_t)p);
	assert_string_equal(got.path[0], "");
	k_tasks_close(t);
}

static void opening_survives_every_failing_allocation(void **state)
{
	(void)state;
	k_tasks_close(watch_or_skip());
	for (long n = 1;; n++) {
		long before = mem_live();
		struct k_tasks *t = NULL;
		struct err e = { 0 };

		mem_fail_at(n);
		if (k_tasks_open(&t, false, &e) < 0)
			assert_int_equal(e.code, TALLY_ENOMEM);
		k_tasks_close(t);
		assert_int_equal(mem_live(), before);
		if (!mem_failed())
			break;
	}
	mem_fail_at(0);
}

/* A look at which CPUs are online that fails leaves the rings as they were. */
static void looking_for_cpus_survives_every_failing_allocation(void **state)
{
	struct k_tasks *t = watch_or_skip();
	long before = mem_live();

	(void)state;
	for (long n = 1;; n++) {
		struct err e = { 0 };
		bool failed;
		int rc;

		mem_fail_at(n);
		rc = k_tasks_online(t, &e);
		failed = mem_failed();
		mem_fail_at(0);
		assert_int_equal(rc, failed ? -TALLY_ENOMEM : 0);
		assert_int_equal(e.code, failed ? TALLY_ENOMEM : 0);
		assert_int_equal(mem_live(), before);
		if (!failed)
			break;
		assert_true(n < 100);
	}
	k_tasks_close(t);
}

/* ---- /proc --------------------------------------------------------------------------------- */

static void lines_of_maps_are_read_as_proc_5_says(void **state)
{
	static const struct {
		int line;
		const char *text;
		bool good, exec;
		const char *path;
	} rows[] = {
		{ __LINE__, "55e9-56e9 r-xp 00002000 fe:01 247134                     /usr/bin/a b", true, true,
		  "/usr/bin/a b" },
		{ __LINE__, "55e9-56e9 rw-p 00000000 00:00 0 ", true, false, "" },
		{ __LINE__, "7ffd-7fff r-xp 00000000 00:00 0                          [vdso]", true, true, "[vdso]" },
		{ __LINE__, "1-2 r-xp 0 0:0 9", true, true, "" },
		{ __LINE__, "", false, false, NULL },
		{ __LINE__, "55e9", false, false, NULL },
		{ __LINE__, "55e9-", false, false, NULL },
		{ __LINE__, "55e9-55e9 r-xp 0 0:0 9", false, false, NULL },
		{ __LINE__, "55e9-56e9 r-x", false, false, NULL },
		{ __LINE__, "55e9-56e9 r-xp 0 0", false, false, NULL },
		{ __LINE__, "x-y r-xp 0 0:0 9", false, false, NULL },
	};
	struct k_task t;

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		bool exec = false, good = k_task_of_maps(rows[i].text, &t, &exec);

		if (good != rows[i].good || (good && (exec != rows[i].exec || strcmp(t.path, rows[i].path))))
			fail_msg("line %d", rows[i].line);
	}
	assert_true(k_task_of_maps(rows[0].text, &t, &(bool){ false }));
	assert_int_equal(t.addr, 0x55e9);
	assert_int_equal(t.len, 0x100);
	assert_int_equal(t.pgoff, 0x2000);
	assert_int_equal(t.dev_major, 0xfe);
	assert_int_equal(t.dev_minor, 1);
	assert_int_equal(t.inode, 247134);
}

static void own_mappings_hold_own_code(void **state)
{
	struct kept got = { 0 };
	bool found = false;

	(void)state;
	assert_int_equal(k_task_maps((uint32_t)getpid(), keep, &got), 0);
	for (uint32_t i = 0; i < got.n; i++)
		found |= (uint64_t)(uintptr_t)own_mappings_hold_own_code - got.t[i].addr < got.t[i].len;
	assert_true(found);
	assert_int_equal(k_task_maps(0x7ffffff0, keep, &got), -TALLY_EEND);
}

static void own_data_is_in_all_mappings_and_in_no_others(void **state)
{
	static int data = 1;
	struct kept some = { 0 }, all = { 0 };
	bool found = false;

	(void)state;
	assert_int_equal(k_task_maps((uint32_t)getpid(), keep, &some), 0);
	assert_int_equal(k_task_all_maps((uint32_t)getpid(), keep, &all), 0);
	assert_true(all.n < COUNT(all.t));
	for (uint32_t i = 0; i < some.n; i++)
		assert_int_equal(some.t[i].kind, K_TASK_MMAP);
	for (uint32_t i = 0; i < all.n; i++) {
		some.n -= all.t[i].kind == K_TASK_MMAP;
		found |= all.t[i].kind == K_TASK_DATA && (uintptr_t)&data - all.t[i].addr < all.t[i].len;
	}
	assert_true(found);
	assert_int_equal(some.n, 0);
}

static void a_process_with_brackets_in_its_name_began_when_it_did(void **state)
{
	const uint64_t before_ns = k_now_ns();
	int told[2], go[2];
	uint64_t began_ns;
	pid_t pid;
	char byte;

	(void)state;
	assert_int_equal(pipe(told) | pipe(go), 0);
	pid = fork();
	if (!pid) {
		close(go[1]);
		(void)prctl(PR_SET_NAME, ") S 1 (");
		(void)!write(told[1], "x", 1);
		_exit(read(go[0], &byte, 1) < 0);
	}
	assert_int_equal(read(told[0], &byte, 1), 1);
	began_ns = k_task_began((uint32_t)pid);
	assert_true(began_ns + 20000000 > before_ns && began_ns < k_now_ns()); /* a tick of /proc is 10 ms */
	close(go[0]);
	close(go[1]);
	close(told[0]);
	close(told[1]);
	waitpid(pid, NULL, 0);
	assert_int_equal(k_task_began((uint32_t)pid), 0);
}

static void who_has_a_file_open_to_write_at_its_end_filled_it(void **state)
{
	static const struct {
		int flags;
		long place;
		bool filled;
	} rows[] = {
		{ O_WRONLY, 5, true },
		{ O_RDWR, 5, true },
		{ O_WRONLY, 4, false },
		{ O_RDONLY, 5, false },
		{ O_WRONLY | O_APPEND, 5, false },
	};
	char path[] = "/tmp/tally-task.XXXXXX";
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(write(fd, "12345", 5), 5);
	close(fd);
	fd = open(path, O_RDONLY);
	assert_false(k_task_filled((uint32_t)getpid(), fd));
	for (size_t i = 0; i < COUNT(rows); i++) {
		int other = open(path, rows[i].flags);

		assert_int_equal(lseek(other, rows[i].place, SEEK_SET), rows[i].place);
		assert_int_equal(k_task_filled((uint32_t)getpid(), fd), rows[i].filled);
		close(other);
	}
	assert_false(k_task_filled(0x7ffffff0, fd));
	close(fd);
	unlink(path);
}

static void this_process_is_among_the_pids(void **state)
{
	uint32_t *pids = NULL, n = 0;
	bool found = false;

	(void)state;
	assert_int_equal(k_task_pids(&pids, &n), 0);
	for (uint32_t i = 0; i < n; i++)
		found |= pids[i] == (uint32_t)getpid();
	assert_true(found);
	mem_free(pids);
	assert_int_equal(k_pid_inside((uint32_t)getpid()), getpid());
	assert_int_equal(k_pid_inside(0x7ffffff0), 0x7ffffff0);
}

/* The buffer has to hold the path and its end. */
static void a_process_program_is_told_whole_or_not_at_all(void **state)
{
	char own[512], *to;
	ssize_t n = readlink("/proc/self/exe", own, sizeof(own));

	(void)state;
	assert_true(n > 0 && (size_t)n < sizeof(own));
	own[n] = '\0';
	for (size_t room = (size_t)n - 1; room <= (size_t)n + 2; room++) {
		to = malloc(room);
		assert_non_null(to);
		assert_int_equal(k_task_program((uint32_t)getpid(), to, room), room > (size_t)n);
		if (room > (size_t)n)
			assert_string_equal(to, own);
		free(to);
	}
	assert_false(k_task_program(0x7ffffff0, own, sizeof(own)));
}

/* A copy of a program that waits: mapped, deleted, and still to be had. */
static bool is_inode(int fd, ino_t inode)
{
	struct stat st;
	bool is = fd >= 0 && fstat(fd, &st) == 0 && st.st_ino == inode;

	if (fd >= 0)
		close(fd);
	return is;
}

static void a_deleted_file_is_reached_through_its_mapping(void **state)
{
	char dir[] = "/tmp/tally-task.XXXXXX", path[64], marked[80], cmd[128];
	uint32_t pid;
	struct stat st;
	int go[2];

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/cat", dir);
	snprintf(cmd, sizeof(cmd), "cp /bin/cat %s", path);
	assert_int_equal(system(cmd), 0);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(pipe2(go, O_CLOEXEC), 0);
	pid = (uint32_t)vfork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, 9);
		dup2(go[0], 0);
		fcntl(0, F_SETFD, 0); /* it may have been 0 already */
		execl(path, "cat", (char *)NULL);
		_exit(127);
	}
	assert_true(is_inode(k_mapped_file(pid, path), st.st_ino));
	unlink(path);
	rmdir(dir);
	snprintf(marked, sizeof(marked), "%s (deleted)", path);
	if (!is_inode(k_mapped_file(pid, marked), st.st_ino))
		print_message("map_files may not be used here\n");
	close(go[0]);
	close(go[1]);
	waitpid((pid_t)pid, NULL, 0);
	assert_int_equal(k_mapped_file(pid, marked), -1);
	assert_int_equal(k_mapped_file(pid, "[vdso]"), -1);
}

static void a_mapped_file_that_became_a_device_or_fifo_is_not_opened(void **state)
{
	char dir[] = "/tmp/tally-task.XXXXXX", path[64], events[512];
	int watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/lib.so", dir);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_true(inotify_add_watch(watch, path, IN_OPEN) >= 0);
	assert_int_equal(k_mapped_file((uint32_t)getpid(), path), -1);
	assert_int_equal(k_mapped_file(0, path), -1);
	assert_int_equal(read(watch, events, sizeof(events)), -1);
	close(watch);
	unlink(path);
	rmdir(dir);
}

static void a_file_of_a_process_is_looked_for_in_its_own_root(void **state)
{
	char dir[] = "/tmp/tally-task.XXXXXX", inside[64], link[64], byte;
	struct stat st;
	int go[2], fd;
	pid_t pid;

	(void)state;
	if (geteuid() != 0) {
		print_message("# skipped: only root can change a root directory\n");
		skip();
	}
	assert_non_null(mkdtemp(dir));
	snprintf(inside, sizeof(inside), "%s/file", dir);
	snprintf(link, sizeof(link), "%s/link", dir);
	fd = open(inside, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	assert_int_equal(fstat(fd, &st), 0);
	close(fd);
	assert_int_equal(symlink("/file", link), 0);
	assert_int_equal(pipe2(go, O_CLOEXEC), 0);
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, 9);
		(void)!write(go[1], chroot(dir) < 0 || chdir("/") < 0 ? "n" : "y", 1);
		pause();
	}
	assert_int_equal(read(go[0], &byte, 1), 1);
	assert_int_equal(byte, 'y');
	assert_true(is_inode(k_task_file((uint32_t)pid, "/file", 0), st.st_ino));
	assert_true(is_inode(k_task_file((uint32_t)pid, "/link", 0), st.st_ino));
	assert_int_equal(k_task_file((uint32_t)pid, "/link", O_NOFOLLOW), -1);
	assert_int_equal(k_task_file((uint32_t)pid, inside, 0), -1);
	assert_int_equal(errno, ENOENT);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	assert_int_equal(k_task_file((uint32_t)pid, "/file", 0), -1);
	assert_int_equal(errno, ESRCH);
	close(go[0]);
	close(go[1]);
	unlink(inside);
	unlink(link);
	rmdir(dir);
}

/* ---- kallsyms ---------------------------------------------------------------------------------
 */

static int file_of(const char *text, size_t n)
{
	char path[] = "/tmp/tally-task.XXXXXX";
	int fd = mkstemp(path);

	unlink(path);
	assert_int_equal(write(fd, text, n), n);
	lseek(fd, 0, SEEK_SET);
	return fd;
}

static void keep_symbol(void *arg, uint64_t addr, char type, const char *name, const char *mod)
{
	buf_printf(arg, "%llx %c %s %s\n", (unsigned long long)addr, type, name, mod);
}

static void kallsyms_lines_are_symbols_and_broken_ones_are_passed_over(void **state)
{
	static const char text[] = "0000000000000000 A fixed\nffffffff81000000 T _text\n\nffffffffc0001000 t "
				   "run\t[loop]\n"
				   "zz T x\nffffffff81000010 T\nffffffff81000020 T \nffffffff81000030 W odd\tthing\n"
				   "ffffffff81000040 t last";
	int fd = file_of(text, sizeof(text) - 1);
	struct buf got = { 0 };
	struct err e = { 0 };

	(void)state;
	assert_int_equal(k_kallsyms_fd(fd, false, keep_symbol, &got, &e), 0);
	assert_string_equal(got.p, "ffffffff81000000 T _text vmlinux\nffffffffc0001000 t run loop\n"
				   "ffffffff81000030 W odd vmlinux\nffffffff81000040 t last vmlinux\n");
	buf_free(&got);
	close(fd);
}

static void hidden_addresses_are_a_refusal(void **state)
{
	static const char text[] = "0000000000000000 T _text\n0000000000000000 T x\n";
	int fd = file_of(text, sizeof(text) - 1);
	struct buf got = { 0 };
	struct err e = { 0 };

	(void)state;
	assert_int_equal(k_kallsyms_fd(fd, false, keep_symbol, &got, &e), -TALLY_EPERM);
	assert_non_null(strstr(e.text, "kptr_restrict"));
	assert_null(got.p);
	lseek(fd, 0, SEEK_SET);
	assert_int_equal(k_kallsyms_fd(fd, true, keep_symbol, &got, &e), 0);
	assert_string_equal(got.p, "0 T _text vmlinux\n0 T x vmlinux\n");
	buf_free(&got);
	close(fd);
}

static void a_line_without_end_is_bounded(void **state)
{
	size_t n = 300000;
	char *text = mem_alloc(n);
	struct buf got = { 0 };
	struct err e = { 0 };
	int fd;

	(void)state;
	memset(text, 'x', n);
	memcpy(text + n - 30, "\nffffffff81000000 T after", 25);
	fd = file_of(text, n);
	k_kallsyms_fd(fd, false, keep_symbol, &got, &e);
	assert_non_null(strstr(got.p, " T after"));
	buf_free(&got);
	mem_free(text);
	close(fd);
}

/* More of them than fit into the buffer: each comes once and whole, those that a reading cuts, too. */
static void lines_of_a_file_that_is_longer_than_the_buffer_are_whole(void **state)
{
	struct k_lines *l = mem_alloc(sizeof(*l));
	struct buf text = { 0 };
	const char *line;
	int fd;

	(void)state;
	assert_non_null(l);
	for (uint32_t i = 0; i < 20000; i++)
		buf_printf(&text, "%u is a line%.*s\n", i, (int)(i % 7), "......");
	fd = file_of(text.p, text.n);
	l->fd = fd;
	for (uint32_t i = 0; i < 20000; i++) {
		char want[64];

		snprintf(want, sizeof(want), "%u is a line%.*s", i, (int)(i % 7), "......");
		line = k_lines_next(l);
		assert_non_null(line);
		assert_string_equal(line, want);
	}
	assert_null(k_lines_next(l));
	close(fd);
	buf_free(&text);
	mem_free(l);
}

/* In name spaces of its own: /proc/modules has this text; 0: that is not possible here. */
static uint64_t modules_hash(const char *text)
{
	int told[2], fd, status;
	uint64_t hash = 0;
	pid_t pid;

	assert_int_equal(pipe(told), 0);
	pid = fork();
	if (!pid) {
		if (unshare(CLONE_NEWNS) < 0 || mount("", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
		    mount("tmpfs", "/proc", "tmpfs", 0, NULL) < 0)
			_exit(1);
		fd = open("/proc/modules", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
		if (write(fd, text, strlen(text)) != (ssize_t)strlen(text))
			_exit(1);
		close(fd);
		hash = k_modules_hash();
		_exit(write(told[1], &hash, sizeof(hash)) != sizeof(hash));
	}
	close(told[1]);
	if (read(told[0], &hash, sizeof(hash)) != sizeof(hash))
		hash = 0;
	close(told[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return hash;
}

/* Which modules are where is what counts; who uses them is not. */
static void modules_are_others_when_their_names_or_places_are(void **state)
{
#define LOOP(users, at) "loop 40960 " users " - Live 0x" at "\n"
#define DUMMY "dummy 16384 0 - Live 0xffffffffc0002000 (E)\n"
	static const char *const same[] = { LOOP("0", "ffffffffc0001000") DUMMY, LOOP("3", "ffffffffc0001000") DUMMY };
	static const char *const other[] = {
		LOOP("0", "ffffffffc0001000"),
		LOOP("0", "ffffffffc0003000") DUMMY,
		DUMMY LOOP("0", "ffffffffc0001000"),
		"loot 40960 0 - Live 0xffffffffc0001000\n" DUMMY,
		LOOP("0", "ffffffffc0001000") "dummz 16384 0 - Live 0xffffffffc0002000 (E)\n",
		LOOP("0", "ffffffffc0001000") "dummy 16384 0 - Live\n",
	};
#undef LOOP
#undef DUMMY
	uint64_t hash = modules_hash(same[0]);

	(void)state;
	if (hash == 0) {
		print_message("# skipped: no name space of mounts can be made here\n");
		skip();
	}
	assert_true(modules_hash(same[1]) == hash);
	for (size_t i = 0; i < COUNT(other); i++)
		for (size_t k = 0; k < i; k++)
			assert_true(modules_hash(other[i]) != hash && modules_hash(other[i]) != modules_hash(other[k]));
}

static int lowest_free_descriptor(void)
{
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

	close(fd);
	return fd;
}

static void asking_for_modules_leaves_nothing_open(void **state)
{
	const int free_fd = lowest_free_descriptor();
	const long live = mem_live();
	struct err e = { 0 };
	int fd;

	(void)state;
	assert_true(k_modules_hash() == k_modules_hash());
	assert_int_equal(lowest_free_descriptor(), free_fd);
	assert_int_equal(mem_live(), live);
	assert_int_equal(function_module_types("no such module"), -1);
	assert_int_equal(function_module_types(""), -1);
	assert_int_equal(lowest_free_descriptor(), free_fd);
	fd = function_module_types("vmlinux");
	if (fd >= 0)
		close(fd);
	else if (geteuid() == 0 && access("/sys/kernel/btf/vmlinux", F_OK) == 0 && k_may_run(false, &e) == 0)
		fail_msg("this kernel's types are not found by their name");
	assert_int_equal(lowest_free_descriptor(), free_fd);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_mapping_that_goes_is_a_fact_of_its_time),
		cmocka_unit_test(a_mapping_that_moves_is_a_fact_that_says_from_where),
		cmocka_unit_test(what_is_unmapped_and_the_heap_are_facts_in_whole_pages),
		cmocka_unit_test(a_fork_that_copies_no_memory_is_a_fact_of_its_thread),
		cmocka_unit_test(a_mapping_record_becomes_a_fact),
		cmocka_unit_test(records_of_no_interest_are_passed_over),
		cmocka_unit_test(every_cut_of_a_record_is_refused_or_a_fact),
		cmocka_unit_test(rings_are_merged_in_time_order_and_the_future_waits),
		cmocka_unit_test(a_record_that_wraps_is_whole),
		cmocka_unit_test(losses_are_told_and_so_is_a_ring_that_makes_no_sense),
		cmocka_unit_test(a_process_is_told_from_birth_to_death),
		cmocka_unit_test(executable_memory_without_a_file_is_told_without_a_path),
		cmocka_unit_test(opening_survives_every_failing_allocation),
		cmocka_unit_test(looking_for_cpus_survives_every_failing_allocation),
		cmocka_unit_test(lines_of_maps_are_read_as_proc_5_says),
		cmocka_unit_test(own_mappings_hold_own_code),
		cmocka_unit_test(own_data_is_in_all_mappings_and_in_no_others),
		cmocka_unit_test(a_process_with_brackets_in_its_name_began_when_it_did),
		cmocka_unit_test(who_has_a_file_open_to_write_at_its_end_filled_it),
		cmocka_unit_test(this_process_is_among_the_pids),
		cmocka_unit_test(a_process_program_is_told_whole_or_not_at_all),
		cmocka_unit_test(a_deleted_file_is_reached_through_its_mapping),
		cmocka_unit_test(a_file_of_a_process_is_looked_for_in_its_own_root),
		cmocka_unit_test(a_mapped_file_that_became_a_device_or_fifo_is_not_opened),
		cmocka_unit_test(kallsyms_lines_are_symbols_and_broken_ones_are_passed_over),
		cmocka_unit_test(hidden_addresses_are_a_refusal),
		cmocka_unit_test(a_line_without_end_is_bounded),
		cmocka_unit_test(lines_of_a_file_that_is_longer_than_the_buffer_are_whole),
		cmocka_unit_test(modules_are_others_when_their_names_or_places_are),
		cmocka_unit_test(asking_for_modules_leaves_nothing_open),
	};

	return cmocka_run_group_tests_name("kernel: task", tests, NULL, NULL);
}
