/*
 * task.c: what happens to address spaces, as it happens.
 *
 * A process may be gone before anybody asks what its addresses meant, so the
 * kernel is asked to tell of every mapping, exec, fork and exit as side-band
 * records of one dummy software event per CPU.  The dummy never fires and takes
 * no counter.  Each CPU writes into its own ring; a fork on one CPU and the
 * child's first mapping on another must come out in that order, so the rings
 * are merged by time.  All records of the kernel end in the same trailer
 * (sample_id_all with TID and TIME), so the last 8 bytes are the time whatever
 * the record says: perf_event_open(2), PERF_RECORD_*.
 *
 * A drain takes the time first and then reads the rings' heads, and leaves
 * what is younger for the next drain.  Without that, a record that CPU 0 writes
 * after its head was read could come after a younger one of CPU 1.
 *
 * What a ring had no room for, the kernel counts: LOST, with the number in len.
 *
 * Nobody tells of munmap and mremap.  generation.c finds out, and its programs write into these rings as well, so that
 * what they say is merged by time and counted when lost as all else: the dummy is an event that BPF programs may write
 * to. Mappings that aren't executable come and go far more often than others, so they are told of only when somebody
 * asks for names of data. Thread rule: one thread.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "kernel/kernel_int.h"
#include "kernel/libbpf_int.h"
#include "kernel/task_int.h"

#define RING_BYTES (512u << 10)
#define RING_BYTES_LEAST (16u << 10)
#define TRAILER 16u       /* pid, tid, time */
#define SAMPLE_HEADER 20u /* pid, tid, time, size */

struct k_tasks {
	struct k_taskring *ring; /* by CPU */
	uint32_t ncpus;
	size_t ring_bytes; /* what the memlock limit left us */
	bool data;         /* mappings that aren't executable are told of as well */
	uint8_t *scratch;
	int output; /* map of the events, for programs; -1: there is none */
};

static uint32_t task_get_le32(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static uint64_t task_get_le64(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

/* ---- records to facts ------------------------------------------------------ */

/* pid, tid, addr, len, pgoff, maj, min, ino, generation, prot, flags, path */
static bool mmap_fact(const uint8_t *b, size_t n, uint16_t misc, struct k_task *t)
{
	const char *path = (const char *)b + 64;

	if (n < 65 || misc & PERF_RECORD_MISC_MMAP_BUILD_ID || !memchr(path, 0, n - 64))
		return false;
	t->kind = task_get_le32(b + 56) & PROT_EXEC ? K_TASK_MMAP : K_TASK_DATA;
	t->pid = task_get_le32(b);
	t->addr = task_get_le64(b + 8);
	t->len = task_get_le64(b + 16);
	t->pgoff = task_get_le64(b + 24);
	t->dev_major = task_get_le32(b + 32);
	t->dev_minor = task_get_le32(b + 36);
	t->inode = task_get_le64(b + 40);
	t->inode_generation = task_get_le64(b + 48);
	t->path = strcmp(path, "//anon") ? path : "";
	return true;
}

/* pid, tid, name */
static bool comm_fact(const uint8_t *b, size_t n, uint16_t misc, struct k_task *t)
{
	if (n < 8 || !(misc & PERF_RECORD_MISC_COMM_EXEC))
		return false;
	t->kind = K_TASK_COMM_EXEC;
	t->pid = task_get_le32(b);
	return true;
}

/* pid, ppid, tid, ptid, time. A thread shares its creator's space: only processes are told of. */
static bool life_fact(const uint8_t *b, size_t n, bool born, struct k_task *t)
{
	if (n < 24)
		return false;
	t->kind = born ? K_TASK_FORK : K_TASK_EXIT;
	t->pid = task_get_le32(b);
	t->ppid = task_get_le32(b + 4);
	t->tid = task_get_le32(b + 12);
	return born ? t->pid != t->ppid : t->pid == task_get_le32(b + 8);
}

/* mremap(2): it counts in whole pages. Old length 0 makes a second mapping of shared pages. */
static bool moved_fact(const uint8_t *told, struct k_task *t)
{
	const uint64_t part = (uint64_t)sysconf(_SC_PAGESIZE) - 1, flags = task_get_le64(told + 28);

	t->kind = K_TASK_MOVE;
	t->addr = task_get_le64(told + 4);
	t->len = (task_get_le64(told + 12) + part) & ~part;
	t->to_len = (task_get_le64(told + 20) + part) & ~part;
	t->to = flags & MREMAP_FIXED ? task_get_le64(told + 36) : 0;
	t->stays = !t->len || flags & MREMAP_DONTUNMAP;
	return flags & MREMAP_MAYMOVE;
}

/* munmap(2) takes whole pages, from the start of one; so does the heap. */
static bool placed_fact(const uint8_t *told, struct k_task *t)
{
	const uint64_t part = (uint64_t)sysconf(_SC_PAGESIZE) - 1;
	const uint64_t first = task_get_le64(told + 4), second = task_get_le64(told + 12);

	if (task_get_le32(told) == K_TOLD_GONE) {
		t->kind = K_TASK_GONE;
		t->addr = first;
		t->len = (second + part) & ~part;
		return !(first & part) && t->len && t->len >= second && first + t->len > first;
	}
	t->kind = K_TASK_HEAP;
	t->addr = first & ~part;
	t->len = ((second + part) & ~part) - t->addr;
	return first <= second && second + part > second;
}

/* pid, tid, time, size, struct k_unmapped, k_moved, k_shared or k_placed: its end is its time, and stands where all
 * records have theirs. */
static bool sample_fact(const uint8_t *b, size_t n, struct k_task *t)
{
	const size_t bytes = n + TRAILER - SAMPLE_HEADER;
	const uint8_t *told = b + SAMPLE_HEADER;

	if (n + TRAILER < SAMPLE_HEADER + sizeof(struct k_shared) || task_get_le32(told - 4) != bytes)
		return false;
	t->pid = task_get_le32(b);
	t->tid = task_get_le32(b + 4);
	if (task_get_le32(told) == K_TOLD_UNMAPPED && bytes == sizeof(struct k_unmapped)) {
		t->kind = K_TASK_UNMAP;
		t->since_ns = task_get_le64(told + 4);
		return true;
	}
	if (task_get_le32(told) == K_TOLD_SHARED && bytes == sizeof(struct k_shared)) {
		t->kind = K_TASK_SHARE;
		return true;
	}
	if ((task_get_le32(told) == K_TOLD_GONE || task_get_le32(told) == K_TOLD_HEAP) &&
	    bytes == sizeof(struct k_placed))
		return placed_fact(told, t);
	return task_get_le32(told) == K_TOLD_MOVED && bytes == sizeof(struct k_moved) && moved_fact(told, t);
}

/* id, lost */
static bool lost_fact(const uint8_t *b, size_t n, struct k_task *t)
{
	if (n < 16)
		return false;
	t->kind = K_TASK_LOST;
	t->len = task_get_le64(b + 8);
	return true;
}

bool k_task_of_record(const void *rec, size_t size, struct k_task *ret)
{
	const uint8_t *b = (const uint8_t *)rec + sizeof(struct perf_event_header);
	struct perf_event_header h;
	struct k_task t = { 0 };
	bool told = false;
	size_t n;

	if (size < sizeof(h) + TRAILER)
		return false;
	memcpy(&h, rec, sizeof(h));
	n = size - sizeof(h) - TRAILER;
	t.time_ns = task_get_le64(b + n + 8);
	switch (h.type) {
	case PERF_RECORD_MMAP2:
		told = mmap_fact(b, n, h.misc, &t);
		break;
	case PERF_RECORD_COMM:
		told = comm_fact(b, n, h.misc, &t);
		break;
	case PERF_RECORD_FORK:
		told = life_fact(b, n, true, &t);
		break;
	case PERF_RECORD_EXIT:
		told = life_fact(b, n, false, &t);
		break;
	case PERF_RECORD_SAMPLE:
		told = sample_fact(b, n, &t);
		break;
	case PERF_RECORD_LOST:
		told = lost_fact(b, n, &t);
		break;
	}
	/* 0 and -1 stand for processes that our pid namespace does not see. */
	if (!told || (t.kind != K_TASK_LOST && (int32_t)t.pid <= 0))
		return false;
	*ret = t;
	return true;
}

/* ---- merging ------------------------------------------------------------------ */

static const uint8_t *ring_at(const struct k_taskring *r, uint64_t pos)
{
	return r->data + (pos & (r->size - 1));
}

static size_t record_size(const struct k_taskring *r)
{
	return task_get_le32(ring_at(r, r->tail) + 4) >> 16;
}

/* Records are multiples of 8 bytes, so neither a header nor the time in the last 8 bytes wraps.
 * False: the bytes were not records; what waited is thrown away. */
static bool ring_peek(struct k_taskring *r)
{
	size_t n;

	r->time_ns = UINT64_MAX;
	if (r->tail == r->head)
		return true;
	n = record_size(r);
	if (n < sizeof(struct perf_event_header) || n % 8 || n > r->head - r->tail) {
		r->tail = r->head;
		return false;
	}
	r->time_ns = 0;
	if (n >= sizeof(struct perf_event_header) + TRAILER)
		r->time_ns = task_get_le64(ring_at(r, r->tail + n - 8));
	return true;
}

static const uint8_t *ring_unwrap(const struct k_taskring *r, size_t n, uint8_t *scratch)
{
	const uint8_t *p = ring_at(r, r->tail);
	size_t first = (size_t)(r->data + r->size - p);

	if (n <= first)
		return p;
	memcpy(scratch, p, first);
	memcpy(scratch + first, r->data, n - first);
	return scratch;
}

/* Looks at the next record and gives the kernel the room before it. Returns how many facts were
 * told: a ring that can't be understood is one loss. */
static int ring_step(struct k_taskring *r, uint64_t now_ns, k_task_sink *sink, void *arg)
{
	struct k_task lost = { .kind = K_TASK_LOST, .len = 1, .time_ns = now_ns };
	bool good = ring_peek(r);

	__atomic_store_n(&r->page->data_tail, r->tail, __ATOMIC_RELEASE);
	if (!good)
		sink(arg, &lost);
	return !good;
}

static struct k_taskring *ring_oldest(struct k_taskring *r, uint32_t n, uint64_t until_ns)
{
	struct k_taskring *best = NULL;

	for (uint32_t i = 0; i < n; i++)
		if (r[i].page && r[i].time_ns <= until_ns && (!best || r[i].time_ns < best->time_ns))
			best = &r[i];
	return best;
}

int k_taskrings_merge(struct k_taskring *r, uint32_t n, uint64_t until_ns, uint8_t *scratch, k_task_sink *sink,
		      void *arg)
{
	struct k_taskring *o;
	int told = 0;

	for (uint32_t i = 0; i < n; i++) {
		if (!r[i].page)
			continue;
		r[i].head = __atomic_load_n(&r[i].page->data_head, __ATOMIC_ACQUIRE);
		r[i].tail = r[i].page->data_tail;
		told += ring_step(&r[i], until_ns, sink, arg);
	}
	while ((o = ring_oldest(r, n, until_ns))) {
		size_t size = record_size(o);
		struct k_task t;

		if (k_task_of_record(ring_unwrap(o, size, scratch), size, &t)) {
			sink(arg, &t);
			told++;
		}
		o->tail += size;
		told += ring_step(o, until_ns, sink, arg);
	}
	return told;
}

/* ---- one ring per CPU ------------------------------------------------------------ */

static int watch_fd(uint32_t cpu, const struct k_tasks *t)
{
	struct perf_event_attr a = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(a),
		.config = PERF_COUNT_SW_BPF_OUTPUT,
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_RAW,
		.sample_id_all = 1,
		.mmap = 1,
		.mmap2 = 1,
		.mmap_data = t->data,
		.comm = 1,
		.comm_exec = 1,
		.task = 1,
		.exclude_kernel = 1,
		.watermark = 1,
		.wakeup_watermark = (uint32_t)(t->ring_bytes / 4),
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
	};

	return event_syscall(&a, 0, -1, (int)cpu);
}

static void ring_close(struct k_taskring *r)
{
	if (r->page)
		munmap(r->page, (size_t)sysconf(_SC_PAGESIZE) + r->size);
	if (r->fd >= 0)
		close(r->fd);
	*r = (struct k_taskring){ .fd = -1 };
}

static int watch_fail(struct err *e, const char *what, uint32_t cpu, int no)
{
	if (no == EPERM || no == EACCES)
		return err_set(e, TALLY_EPERM,
			       "watching processes needs CAP_PERFMON: run as root, or sysctl "
			       "kernel.perf_event_paranoid=-1");
	if (no == ENOSYS || no == EINVAL || no == EOPNOTSUPP)
		return err_set(e, TALLY_ENOTSUP, "this kernel cannot report mappings (perf dummy event: %s)",
			       strerror(no));
	if (no == EMFILE || no == ENFILE)
		return run_file_refused("watching processes", no, e);
	return err_set(e, no == ENOMEM ? TALLY_ENOMEM : TALLY_EIO, "%s CPU %u for mappings: %s", what, cpu,
		       strerror(no));
}

/* What may be locked is limited per user (perf_event_mlock_kb, RLIMIT_MEMLOCK): halve until it
 * fits. */
static void *ring_map(struct k_tasks *t, int fd, size_t page)
{
	for (;; t->ring_bytes /= 2) {
		void *p = mmap(NULL, page + t->ring_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

		if (p != MAP_FAILED)
			return p;
		if ((errno != EPERM && errno != ENOMEM) || t->ring_bytes / 2 < page ||
		    t->ring_bytes <= RING_BYTES_LEAST)
			return NULL;
	}
}

static int ring_open(struct k_tasks *t, uint32_t cpu, struct err *e)
{
	struct k_taskring *r = &t->ring[cpu];
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	int fd = watch_fd(cpu, t);

	if (fd < 0)
		return fd == -ENODEV ? 0 : watch_fail(e, "opening", cpu, -fd); /* gone offline */
	r->fd = fd;
	r->page = ring_map(t, r->fd, page);
	if (!r->page) {
		int rc = watch_fail(e, "mapping the ring of", cpu, errno);

		ring_close(r);
		return rc;
	}
	r->data = (const uint8_t *)r->page + page;
	r->size = t->ring_bytes;
	return t->output < 0 || bpf_map_update_elem(t->output, &cpu, &r->fd, BPF_ANY) == 0 ?
		       0 :
		       watch_fail(e, "making known", cpu, errno);
}

static int rings_follow(struct k_tasks *t, const uint64_t *online, struct err *e)
{
	for (uint32_t cpu = 0; cpu < t->ncpus; cpu++) {
		struct k_taskring *r = &t->ring[cpu];
		int rc;

		if (!(online[cpu / 64] >> cpu % 64 & 1)) {
			r->gone = r->fd >= 0;
			continue;
		}
		if (r->gone)
			ring_close(r);
		if (r->fd < 0 && (rc = ring_open(t, cpu, e)) < 0)
			return rc;
	}
	return 0;
}

int k_tasks_online(struct k_tasks *t, struct err *e)
{
	size_t words = (t->ncpus + 63) / 64;
	uint64_t *online = mem_alloc(words * sizeof(*online));
	int rc;

	if (!online)
		return err_oom(e);
	rc = k_cpus_online(online, words, e);
	if (rc >= 0)
		rc = rings_follow(t, online, e);
	mem_free(online);
	return rc < 0 ? rc : 0;
}

int k_tasks_open(struct k_tasks **ret, bool data, struct err *e)
{
	struct k_tasks *t = mem_alloc(sizeof(*t));
	uint32_t ncpus = k_ncpus_possible();
	int rc;

	if (t) {
		t->output = -1;
		t->data = data;
	}
	if (!t || !(t->scratch = mem_alloc(K_TASK_RECORD_MOST)) || !(t->ring = mem_alloc(ncpus * sizeof(*t->ring)))) {
		rc = err_oom(e);
		goto fail;
	}
	t->ncpus = ncpus;
	t->ring_bytes = RING_BYTES;
	for (uint32_t i = 0; i < ncpus; i++)
		t->ring[i].fd = -1;
	rc = k_tasks_online(t, e);
	if (rc < 0)
		goto fail;
	*ret = t;
	return 0;
fail:
	k_tasks_close(t);
	return rc;
}

int k_tasks_output(struct k_tasks *t)
{
	t->output = bpf_map_create(BPF_MAP_TYPE_PERF_EVENT_ARRAY, "tasks", sizeof(uint32_t), sizeof(uint32_t), t->ncpus,
				   NULL);
	for (uint32_t cpu = 0; t->output >= 0 && cpu < t->ncpus; cpu++)
		if (t->ring[cpu].fd >= 0 && bpf_map_update_elem(t->output, &cpu, &t->ring[cpu].fd, BPF_ANY) < 0)
			return -1;
	return t->output;
}

void k_tasks_close(struct k_tasks *t)
{
	if (!t)
		return;
	if (t->output >= 0)
		close(t->output);
	for (uint32_t i = 0; i < t->ncpus; i++)
		ring_close(&t->ring[i]);
	mem_free(t->ring);
	mem_free(t->scratch);
	mem_free(t);
}

int k_tasks_drain(struct k_tasks *t, k_task_sink *sink, void *arg)
{
	return k_taskrings_merge(t->ring, t->ncpus, k_now_ns(), t->scratch, sink, arg);
}

bool k_tasks_waiting(const struct k_tasks *t)
{
	for (uint32_t cpu = 0; cpu < t->ncpus; cpu++) {
		const struct k_taskring *r = &t->ring[cpu];

		if (r->page && __atomic_load_n(&r->page->data_head, __ATOMIC_RELAXED) != r->page->data_tail)
			return true;
	}
	return false;
}

int k_tasks_fd(const struct k_tasks *t, uint32_t i)
{
	for (uint32_t cpu = 0; cpu < t->ncpus; cpu++)
		if (t->ring[cpu].fd >= 0 && i-- == 0)
			return t->ring[cpu].fd;
	return -1;
}
