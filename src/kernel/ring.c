/*
 * ring.c: one BPF ring buffer per CPU, and one for control messages.
 *
 * A ring buffer has one producer lock, and in NMI context who does not get it
 * at once loses the record.  So every CPU has its own ring; programs find it
 * in an array of maps, indexed by CPU, with the control ring behind the last
 * possible CPU.  Only CPUs that are online get a ring; a program that finds none
 * counts a drop.
 *
 * The kernel answers an update of an array of maps only after an RCU grace
 * period, 8 to 20 ms, although programs see the new ring at once: a thread
 * that is stuck there would hold up even our exit.  So a process of its own,
 * the filler, puts the rings in and ends when the kernel lets it; we go on as
 * soon as we see the last one in its place.  It keeps no descriptor but those
 * of the rings, is reaped when we pass by, and by init when we end before it.
 *
 * A wake-up for each record would cost more than the record, so programs wake
 * the reader only where it matters; k_wait() looks into the rings now and then.
 *
 * A thread that moves to another CPU goes on in another ring.  So records carry
 * the time at which they were handed over, and a reader takes the earliest of
 * all rings first, up to the time at which it began.
 *
 * Layout, as the kernel documents it (Documentation/bpf/ringbuf.rst): a page
 * with the consumer's position, ours to write; a page with the producer's;
 * the data twice in a row, so that no record wraps.  A record is a head of 8
 * bytes (length with two flag bits, page offset), the body, padding to 8.  One
 * reader owns the consumer's position.  A ring is mapped when it first has
 * something, since most of 512 CPUs may stay silent.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "dlang/dlang.h"
#include "kernel/kernel_int.h"
#include "kernel/libbpf_int.h"

#define FILL_MS 1000 /* longest wait for the filler before we do its work */
#define SPINS 200    /* looks before it is worth sleeping between them */

/* ---- putting rings into the array ------------------------------------------- */

static int ring_put(const struct run_rings *r, uint32_t i, struct err *e)
{
	if (r->ring[i].fd < 0 || !bpf_map_update_elem(r->outer, &i, &r->ring[i].fd, BPF_ANY))
		return 0;
	return err_set(e, TALLY_EIO, "cannot store a ring in its map: %s", strerror(errno));
}

/* The arrays are made before the fork: a child must not allocate. */
static void fill_start(struct run_rings *r, uint32_t *index, int *fd)
{
	int lowest = r->outer, highest = r->outer;
	uint32_t n = 0;

	for (uint32_t i = 0; i < r->nring - 1; i++) {
		if (r->ring[i].fd < 0)
			continue;
		r->last = index[n] = i;
		fd[n++] = r->ring[i].fd;
		lowest = r->ring[i].fd < lowest ? r->ring[i].fd : lowest;
		highest = r->ring[i].fd > highest ? r->ring[i].fd : highest;
	}
	/* A child without SIGCHLD: what our caller waits for is not our business. */
	r->filler = (pid_t)syscall(SYS_clone, 0L, 0L, 0L, 0L, 0L);
	if (r->filler == 0) {
		/* The filler closes all but the rings: a pipe to the next program must not stay open with it. */
		if (lowest > 0)
			syscall(SYS_close_range, 0u, (unsigned)lowest - 1, 0u);
		syscall(SYS_close_range, (unsigned)highest + 1, ~0u, 0u);
		/* In the filler: all of them in one call, which waits once. */
		_exit(bpf_map_update_batch(r->outer, index, fd, &n, NULL) < 0);
	}
}

void rings_reap(struct run_rings *r)
{
	if (r->filler > 0 && waitpid(r->filler, NULL, __WALL | WNOHANG) != 0)
		r->filler = 0;
}

/* Rings are put in by rising CPU: when the last is there, all are. */
static bool fill_done(const struct run_rings *r)
{
	uint32_t id;

	return bpf_map_lookup_elem(r->outer, &r->last, &id) == 0;
}

/* Waits for the filler: true when the rings are there, false when it died or takes too long. */
static bool fill_wait(struct run_rings *r)
{
	struct timespec nap = { .tv_nsec = 50000 };
	int64_t until = (int64_t)(k_now_ns() / 1000000) + FILL_MS;

	for (int spins = 0; r->filler > 0 && !fill_done(r) && (int64_t)(k_now_ns() / 1000000) < until; spins++) {
		if (spins >= SPINS) /* not sched_yield(): on a busy machine that gives a slice away */
			nanosleep(&nap, NULL);
		rings_reap(r);
	}
	return fill_done(r);
}

int rings_ready(struct k_run *k, struct err *e)
{
	struct run_rings *r = &k->rings;
	int rc = 0;

	if (r->outer < 0 || r->filled)
		return 0;
	r->filled = fill_wait(r);
	for (uint32_t i = 0; rc == 0 && !r->filled && i < r->nring - 1; i++)
		rc = ring_put(r, i, e);
	r->filled |= rc == 0;
	return rc;
}

/* ---- making rings --------------------------------------------------------------- */

static int ring_open(struct run_rings *r, uint32_t i, uint32_t bytes, struct err *e)
{
	r->ring[i].fd = bpf_map_create(BPF_MAP_TYPE_RINGBUF, "ring", 0, 0, bytes, NULL);
	r->ring[i].bytes = bytes;
	if (r->ring[i].fd >= 0)
		return 0;
	if (errno == EPERM)
		return rights_bpf("creating a ring buffer", e);
	if (errno == EMFILE || errno == ENFILE)
		return run_file_refused("creating a ring buffer", errno, e);
	return err_set(e, errno == ENOMEM ? TALLY_ENOMEM : TALLY_EINVAL,
		       "the kernel refuses a ring buffer of %u bytes: %s", bytes, strerror(errno));
}

/* Makes room for all rings; *bytes is m's size of one, a page at least. */
static int rings_init(struct k_run *k, const struct img_map *m, uint32_t *bytes, struct err *e)
{
	struct run_rings *r = &k->rings;

	if (!m->max_entries || m->max_entries & (m->max_entries - 1))
		return err_set(e, TALLY_EINVAL, "the size of a ring must be a power of two");
	r->page = (uint32_t)sysconf(_SC_PAGESIZE);
	*bytes = m->max_entries < r->page ? r->page : m->max_entries;
	if (r->ring)
		return 0;
	r->ring = mem_alloc((k->ncpus + 1) * sizeof(*r->ring));
	if (!r->ring)
		return err_oom(e);
	for (; r->nring <= k->ncpus; r->nring++)
		r->ring[r->nring].fd = -1;
	return 0;
}

int rings_control(struct k_run *k, const struct img_map *m, struct err *e)
{
	uint32_t bytes;
	int fd, rc = rings_init(k, m, &bytes, e);

	if (rc == 0 && k->rings.ring[k->ncpus].fd >= 0)
		return err_set(e, TALLY_EINVAL, "an image has one control ring");
	if (rc < 0 || (rc = ring_open(&k->rings, k->ncpus, bytes, e)) < 0)
		return rc;
	fd = fcntl(k->rings.ring[k->ncpus].fd, F_DUPFD_CLOEXEC, 0);
	if (fd >= 0)
		return fd;
	return errno == EMFILE ? run_file_refused("sharing the control ring", errno, e) :
				 err_set(e, TALLY_EIO, "cannot share the control ring: %s", strerror(errno));
}

static int rings_open_online(struct k_run *k, struct err *e)
{
	struct run_rings *r = &k->rings;
	size_t words = cpus_words(k->ncpus);
	uint64_t *online = mem_alloc(words * sizeof(*online));
	int rc = online ? k_cpus_online(online, words, e) : err_oom(e);

	for (uint32_t i = 0; rc == 0 && i < k->ncpus; i++)
		if (cpus_has(online, i)) {
			rc = ring_open(r, i, r->bytes, e);
			r->last = i;
		}
	mem_free(online);
	return rc;
}

static int outer_open(struct run_rings *r, const struct img_map *m, struct err *e)
{
	LIBBPF_OPTS(bpf_map_create_opts, o, .inner_map_fd = (uint32_t)r->ring[r->last].fd);
	char name[sizeof(m->name)] = "";

	memcpy(name, m->name, sizeof(name) - 1);
	r->outer = bpf_map_create(BPF_MAP_TYPE_ARRAY_OF_MAPS, name, 4, 4, r->nring - 1, &o);
	if (r->outer >= 0)
		return 0;
	if (errno == EMFILE || errno == ENFILE)
		return run_file_refused("creating an array of rings", errno, e);
	return err_set(e, TALLY_EINVAL, "the kernel refuses an array of %u rings: %s", r->nring - 1, strerror(errno));
}

int rings_open(struct k_run *k, const struct img_map *m, struct err *e)
{
	struct run_rings *r = &k->rings;
	uint32_t *index;
	int *fd, rc;

	if (r->outer >= 0)
		return err_set(e, TALLY_EINVAL, "an image has one map of rings");
	rc = rings_init(k, m, &r->bytes, e);
	if (!r->enough || r->enough > r->bytes / 4)
		r->enough = r->bytes / 4;
	index = mem_alloc(k->ncpus * sizeof(*index));
	fd = mem_alloc(k->ncpus * sizeof(*fd));
	if (rc == 0 && (!index || !fd))
		rc = err_oom(e);
	if (rc == 0 && (rc = rings_open_online(k, e)) == 0 && (rc = outer_open(r, m, e)) == 0)
		fill_start(r, index, fd);
	mem_free(fd);
	mem_free(index);
	return rc;
}

int rings_add_cpu(struct k_run *k, uint32_t cpu, struct err *e)
{
	struct run_rings *r = &k->rings;
	int rc;

	if (r->outer < 0 || r->ring[cpu].fd >= 0)
		return 0;
	if ((rc = rings_ready(k, e)) < 0 || (rc = ring_open(r, cpu, r->bytes, e)) < 0)
		return rc;
	k->waits_rings = false;
	return ring_put(r, cpu, e);
}

static size_t producer_bytes(const struct run_rings *r, uint32_t i)
{
	return r->page + 2 * (size_t)r->ring[i].bytes;
}

void rings_close(struct k_run *k)
{
	struct run_rings *r = &k->rings;

	rings_reap(r);
	for (uint32_t i = 0; i < r->nring; i++) {
		if (r->ring[i].consumer_pos)
			munmap(r->ring[i].consumer_pos, r->page);
		if (r->ring[i].producer_pos)
			munmap((void *)(uintptr_t)r->ring[i].producer_pos, producer_bytes(r, i));
		if (r->ring[i].fd >= 0)
			close(r->ring[i].fd);
	}
	mem_free(r->ring);
	*r = (struct run_rings){ .outer = -1 };
}

/* ---- reading ------------------------------------------------------------------------ */

static int ring_map(const struct run_rings *r, uint32_t i)
{
	struct run_ring *g = &r->ring[i];
	void *consumer, *producer;

	consumer = mmap(NULL, r->page, PROT_READ | PROT_WRITE, MAP_SHARED, g->fd, 0);
	if (consumer == MAP_FAILED)
		return -TALLY_ENOMEM;
	producer = mmap(NULL, producer_bytes(r, i), PROT_READ, MAP_SHARED, g->fd, r->page);
	if (producer == MAP_FAILED) {
		munmap(consumer, r->page);
		return -TALLY_ENOMEM;
	}
	g->consumer_pos = consumer;
	g->producer_pos = producer;
	return 0;
}

/* Looks at the next record that was there when this drain began: 1, and its time in ns; 0: none that was written by
 * `until`. */
static int ring_look(const struct run_rings *r, struct run_ring *g, uint64_t until)
{
	while (g->at != g->end) {
		const uint32_t *head =
			(const void *)((const uint8_t *)g->producer_pos + r->page + (g->at & ((size_t)g->bytes - 1)));
		uint32_t len = __atomic_load_n(head, __ATOMIC_ACQUIRE);

		if (len & BPF_RINGBUF_BUSY_BIT)
			break; /* still being written */
		g->len = len & ~(uint32_t)BPF_RINGBUF_DISCARD_BIT;
		g->step = ((unsigned long)g->len + BPF_RINGBUF_HDR_SZ + 7) & ~7ul;
		if (g->step > g->end - g->at)
			return -TALLY_ECORRUPT;
		g->rec = head + 2;
		g->ns = 0;
		if (g->len >= D_RECORD_HDR)
			memcpy(&g->ns, (const uint8_t *)g->rec + D_RECORD_TIME, sizeof(g->ns));
		if (!(len & BPF_RINGBUF_DISCARD_BIT))
			return g->ns <= until;
		__atomic_store_n(g->consumer_pos, g->at += g->step, __ATOMIC_RELEASE);
	}
	return 0;
}

/* Maps those rings that have something for the first time; poll() asks them all in one call. */
static int rings_map_filled(const struct run_rings *r)
{
	struct pollfd *p = mem_alloc(r->nring * sizeof(*p));
	uint32_t n = 0;
	int rc = p ? 0 : -TALLY_ENOMEM;

	for (uint32_t i = 0; p && i < r->nring; i++)
		if (!r->ring[i].consumer_pos)
			p[n++] = (struct pollfd){ .fd = r->ring[i].fd, .events = POLLIN };
	if (n && poll(p, n, 0) > 0)
		for (uint32_t i = 0, at = 0; rc == 0 && i < r->nring; i++)
			if (!r->ring[i].consumer_pos && p[at++].revents & POLLIN)
				rc = ring_map(r, i);
	mem_free(p);
	return rc;
}

static unsigned long ring_used(const struct run_ring *g)
{
	return __atomic_load_n(g->producer_pos, __ATOMIC_ACQUIRE) - *g->consumer_pos;
}

int rings_waiting(struct k_run *k)
{
	const struct run_rings *r = &k->rings;
	int rc = r->nring ? rings_map_filled(r) : 0;

	for (uint32_t i = 0; rc == 0 && i < r->nring; i++) {
		uint32_t enough = i == r->nring - 1 ? 1 : r->enough;

		if (r->ring[i].consumer_pos)
			rc = ring_used(&r->ring[i]) >= enough;
	}
	return rc;
}

/* The ring with the earliest record, of equal ones the control ring's; NULL: no ring has one; *until = the time of the
 * next ring's. */
static struct run_ring *ring_earliest(const struct run_rings *r, uint64_t *until)
{
	struct run_ring *ret = NULL;

	*until = UINT64_MAX;
	for (uint32_t i = r->nring; i-- > 0;) {
		struct run_ring *g = &r->ring[i];

		if (!g->has)
			continue;
		if (!ret || g->ns < ret->ns) {
			*until = ret ? ret->ns : UINT64_MAX;
			ret = g;
		} else if (g->ns < *until) {
			*until = g->ns;
		}
	}
	return ret;
}

/*
 * In the order of time, whichever the ring.  What was written after we came
 * stays: a fast producer must not hold us for ever, and what another CPU wrote
 * before it may lie in a ring at which we looked already.
 */
int k_drain(struct k_run *k, int (*sink)(void *arg, uint32_t ring, const void *rec, uint32_t size), void *arg)
{
	const struct run_rings *r = &k->rings;
	const uint64_t now = k_now_ns();
	uint64_t until;
	struct run_ring *g;
	int rc = r->nring ? rings_map_filled(r) : 0;

	for (uint32_t i = 0; rc >= 0 && i < r->nring; i++) {
		g = &r->ring[i];
		g->has = false;
		if (!g->consumer_pos)
			continue;
		g->at = __atomic_load_n(g->consumer_pos, __ATOMIC_RELAXED);
		g->end = __atomic_load_n(g->producer_pos, __ATOMIC_ACQUIRE);
		rc = ring_look(r, g, now);
		g->has = rc > 0;
	}
	while (rc >= 0 && (g = ring_earliest(r, &until))) {
		while (rc >= 0 && g->has && g->ns <= until) {
			rc = sink(arg, (uint32_t)(g - r->ring), g->rec, g->len);
			__atomic_store_n(g->consumer_pos, g->at += g->step,
					 __ATOMIC_RELEASE); /* offered once, sink failed or not */
			if (rc >= 0)
				rc = ring_look(r, g, now);
			g->has = rc > 0;
		}
	}
	return rc < 0 ? rc : 0;
}
