/*
 * task_int.h: the parts of task.c, task_proc.c and kallsyms.c that the rest of
 * kernel/ and the tests reach.
 */
#ifndef TALLY_KERNEL_TASK_INT_H
#define TALLY_KERNEL_TASK_INT_H

#include "kernel/kernel.h"

typedef void k_task_sink(void *arg, const struct k_task *t);

/* ---- watching every CPU (task.c) ------------------------------------------ */
struct k_tasks;
/* Watches the CPUs that are online; data: mappings that aren't executable, too. -TALLY_EPERM, -TALLY_ENOTSUP,
 * -TALLY_ENOMEM, -TALLY_EIO. */
int k_tasks_open(struct k_tasks **ret, bool data, struct err *e);
void k_tasks_close(struct k_tasks *t); /* NULL is fine */
/* Watches CPUs that came online since; what those that went had to say waits for the next drain. */
int k_tasks_online(struct k_tasks *t, struct err *e);
/* Hands over, in time order over all CPUs, what happened before the call. Returns how many. */
int k_tasks_drain(struct k_tasks *t, k_task_sink *sink, void *arg);
bool k_tasks_waiting(const struct k_tasks *t); /* whether there is anything to hand over */
/* Descriptors to poll: readable when a ring is a quarter full. -1 past the last. */
int k_tasks_fd(const struct k_tasks *t, uint32_t i);

/* A map through which programs write into the rings, with perf_event_output(). A descriptor of the watch's own, or
 * -1. */
int k_tasks_output(struct k_tasks *t);
/* What they write. Words of 8 bytes are two, low half first: a record is 4 bytes more than a multiple of 8, so that its
 * time is the end of the sample (perf_event_open(2), PERF_SAMPLE_RAW). */
enum { CALL_ARGUMENTS = 5 };
enum k_told { K_TOLD_UNMAPPED = 1, K_TOLD_MOVED, K_TOLD_SHARED, K_TOLD_GONE, K_TOLD_HEAP };
struct k_unmapped { /* a generation begins (slot.h) */
	uint32_t told;
	uint32_t locked_ns[2], began_ns[2]; /* a new mapping that came after locked_ns took the place */
};
struct k_moved { /* mremap(2) */
	uint32_t told;
	uint32_t argument[CALL_ARGUMENTS][2], time_ns[2];
};
struct k_shared { /* what the thread forked has its memory, no copy */
	uint32_t told;
	uint32_t time_ns[2];
};
struct k_placed { /* GONE: munmap(2), where and how long; HEAP: after brk(2), from where to where */
	uint32_t told;
	uint32_t word[2][2], time_ns[2];
};
static_assert(sizeof(struct k_unmapped) == 20 && sizeof(struct k_moved) == 52 && sizeof(struct k_shared) == 12 &&
		      sizeof(struct k_placed) == 28,
	      "4 more than a multiple of 8");

struct perf_event_mmap_page;
struct k_taskring {
	int fd;    /* -1: not open */
	bool gone; /* its CPU went offline since */
	struct perf_event_mmap_page *page;
	const uint8_t *data;
	uint64_t size; /* of data: a power of two */
	/* during a drain */
	uint64_t head, tail; /* waiting: [tail, head) */
	uint64_t time_ns;    /* of the record at tail; UINT64_MAX: none */
};
#define K_TASK_RECORD_MOST 65536u /* a record's size is 16 bits */
/* Merges n rings up to a time; scratch: K_TASK_RECORD_MOST bytes for records that wrap. */
int k_taskrings_merge(struct k_taskring *r, uint32_t n, uint64_t until_ns, uint8_t *scratch, k_task_sink *sink,
		      void *arg);
/* One perf record as a fact; false when it is none of an address space. ret borrows from rec. */
bool k_task_of_record(const void *rec, size_t size, struct k_task *ret);

/* ---- text of /proc (task_proc.c) ------------------------------------------- */
struct k_lines {
	int fd;
	bool eof;
	size_t at, n; /* unread: buf[at..n) */
	char buf[65536];
};
/* The next line, NUL-terminated, without its newline; NULL at the end. One longer than the buffer
 * comes in pieces. */
char *k_lines_next(struct k_lines *l);
const char *k_hex(const char *s, uint64_t *ret); /* the place behind the digits */
/* A line of /proc/PID/maps; false when it isn't one. path borrows from line. */
bool k_task_of_maps(const char *line, struct k_task *ret, bool *executable);

/* ---- kallsyms.c -------------------------------------------------------------- */
typedef void k_symbol_sink(void *arg, uint64_t addr, char type, const char *name, const char *mod);
/* hidden: names too whose address the kernel hides, with address 0. */
int k_kallsyms_fd(int fd, bool hidden, k_symbol_sink *sink, void *arg, struct err *e);
int k_kallsyms_names(k_symbol_sink *sink, void *arg); /* of /proc/kallsyms, hidden ones too */

#endif
