/*
 * kernel_int.h: what the parts of a run share.
 *
 * A k_run is a few arrays that are filled one after the other by k_open()
 * (maps.c, ring.c, load.c) and k_attach() (event.c); every release function
 * accepts what is empty.  File descriptors are -1 when there is none.
 */
#ifndef TALLY_KERNEL_INT_H
#define TALLY_KERNEL_INT_H

#include "facts/doctor.h"
#include "kernel/btf_int.h"
#include "kernel/kernel.h"

/* ---- small files and CPU sets (cpu.c) ------------------------------------ */
/* Reads a file of /proc or /sys into to, NUL-terminated, last newline cut. Its length, or -errno. */
int file_small(const char *path, char *to, size_t n);
/* The same of what open() returned, and closes it; negative: -errno. */
int file_small_fd(int fd, char *to, size_t n);
/* A kernel list of CPUs ("0-3,8") into set; false when it is malformed or names a CPU past the set. */
bool cpus_parse(const char *list, uint64_t *set, size_t words);
static inline size_t cpus_words(uint32_t ncpus)
{
	return (ncpus + 63) / 64;
}
static inline bool cpus_has(const uint64_t *set, uint32_t cpu)
{
	return set[cpu / 64] >> cpu % 64 & 1;
}

/* ---- maps (maps.c) --------------------------------------------------------- */
struct run_map {
	int fd;
	uint8_t type, use; /* enum img_map_type, img_map_use */
	uint32_t id, key_size, value_size;
	void *mem; /* ARRAY: its only value, mapped; else NULL */
	size_t mem_bytes;
	int walk; /* a link that iterators are made of, or WALK_* */
};
int maps_open(struct k_run *k, const struct bpf_image *img, struct err *e);
void maps_close(struct k_run *k);

/* ---- maps, read while programs run (walk.c) ------------------------------------ */
enum { WALK_UNKNOWN = -1, WALK_REFUSED = -2 };
/* As the walk of struct map_ops. */
int walk_map(struct k_run *k, uint32_t map, int (*each)(void *arg, const void *key, const void *value), void *arg);
void walk_close(struct run_map *m);

bool run_more_files(void); /* run.c */

/* ---- rings (ring.c) --------------------------------------------------------- */
struct run_ring {
	int fd;
	uint32_t bytes;
	unsigned long *consumer_pos;       /* page of the consumer's position, ours to write; NULL until first read */
	const unsigned long *producer_pos; /* page of the producer's position, the data after it */
	unsigned long at, end;             /* of a drain: the position, and where it ends */
	bool has;                          /* the record at `at` is to be handed over */
	const void *rec; /* this record: its bytes, their number, what it takes in the ring, its time */
	uint32_t len;
	unsigned long step;
	uint64_t ns;
};
struct run_rings {
	int outer;                   /* the array of maps; -1: CPUs have no rings */
	uint32_t bytes, page, nring; /* size of a CPU's ring and of a page; CPUs + 1, 0: no ring at all */
	uint32_t last;               /* highest CPU with a ring */
	uint32_t enough;             /* bytes in a ring that end a wait */
	struct run_ring *ring;
	int filler; /* process that puts the rings into the array; 0 = none */
	bool filled;
};
int rings_open(struct k_run *k, const struct img_map *m, struct err *e);
/* The control ring: a descriptor of it for the map. */
int rings_control(struct k_run *k, const struct img_map *m, struct err *e);
/* Returns when every ring is where the programs look for it. */
int rings_ready(struct k_run *k, struct err *e);
void rings_reap(struct run_rings *r);                            /* takes leave of the filler if it ended */
int rings_add_cpu(struct k_run *k, uint32_t cpu, struct err *e); /* a CPU came online; harmless when known */
/* 1 when enough lies in a ring, or anything in the control ring; 0, or -TALLY_ENOMEM. */
int rings_waiting(struct k_run *k);
void rings_close(struct k_run *k);

/* ---- programs (load.c) -------------------------------------------------------- */
int progs_open(struct k_run *k, const struct bpf_image *img, struct err *e);
void progs_close(struct k_run *k);
/* Byte offset of a field of a struct, or of a field of a field; -1: this kernel has none. */
int64_t btf_field(const struct k_btf *btf, const char *type, const char *field);
/* The words for a program that the verifier refused, from its log. */
int load_refused(const struct img_prog *prog, const char *log, struct err *e);

struct perf_event_attr;
/* ---- events (event.c) ----------------------------------------------------------- */
/* one attached event on one CPU */
struct run_cpu {
	int fd;
	uint64_t counted, enabled_ns, running_ns; /* of times before the CPU went away */
	bool seen;                                /* it was ever open here */
};
struct run_event {
	uint32_t prog;
	struct k_event ev;
	struct run_cpu *cpu; /* by CPU, ncpus of them */
};
void events_close(struct k_run *k);
/* perf_event_open() on a CPU for all processes: a descriptor or -errno. Raises RLIMIT_NOFILE when it must. */
int event_open(const struct k_event *ev, uint32_t cpu);
/* What ev says of itself: type, configuration, modes; all else is 0. */
void event_base(struct perf_event_attr *a, const struct k_event *ev);
/* perf_event_open(2) as such: a descriptor or -errno. Raises RLIMIT_NOFILE when it must. */
int event_syscall(const struct perf_event_attr *a, uint64_t config3, int task, int cpu);
/* The CPUs that are online and the event's own: ncpus bits, from mem_alloc. */
int event_cpus(const struct k_event *ev, uint32_t ncpus, uint64_t **ret, struct err *e);
/* The words for -errno of event_open(). */
int event_refused(const struct k_event *ev, uint32_t cpu, int no, struct err *e);
/* The words when a pinned event got no counter; watchdog: the text of /proc/sys/kernel/nmi_watchdog. */
int event_starved(uint32_t cpu, const char *watchdog, struct err *e);
int event_starved_now(uint32_t cpu, struct err *e); /* as that file has it */

/* ---- events that programs read (counter.c) ------------------------------------------ */
struct run_counter {
	uint32_t map; /* of k->map */
	struct k_event ev;
	int *fd; /* by CPU; -1: not open */
};
int counters_hotplug(struct k_run *k, struct err *e);
void counters_close(struct k_run *k);

/* ---- what they count for each thread (thread_count.c) ------------------------------------ */
/* Watches switches of threads from now on, for the counters that k_count() got before. */
int thread_counts_open(struct k_run *k, struct err *e);

/* ---- threads that wait for locks (lock_wait.c) --------------------------------------- */
/* Watches them, if a program asks how long they do: behind the programs of all points, and no longer than those. */
int lock_waits_enable(struct k_run *k, struct err *e);
void lock_waits_disable(struct k_run *k);
void lock_waits_close(struct k_run *k);

/* ---- functions of the kernel (function.c) -------------------------------------------- */
/* Whether errno of a load or of an attachment says that the kernel does not let that function be probed. */
bool function_is_refused(int no);
int function_module_types(const char *module); /* a descriptor of its BTF, or -1 */
/* A perf event at the function's beginning, or its end: a descriptor or -errno. */
int function_kprobe(const char *module, const char *function, bool at_return);

/* ---- raw tracepoints (point.c) ----------------------------------------------------- */
struct run_point {
	uint32_t prog;
	const char *name;
	bool typed;         /* the program knows its tracepoint or function since it was loaded */
	uint8_t at;         /* enum bpf_point_at */
	const char *module; /* of a function; NULL: the kernel proper */
	bool may_fail, is_refused;
	int fd; /* -1: not attached */
};
int points_enable(struct k_run *k, struct err *e);
void points_disable(struct k_run *k);
void points_close(struct k_run *k);
uint64_t run_recursion_misses(int prog); /* times that a program was left out since it was running */

/* ---- what leads from tracepoints to programs (dispatch.c) ----------------------------- */
void dispatch_find(struct img_dispatch *to);

/* ---- places in processes (place.c) -------------------------------------------------- */
struct run_places {
	int prog; /* descriptor of the program */
	struct k_places p;
	bool armed;
	int *link;
	uint32_t nlinks, cap_links, nrefused;
};
int places_arm(struct run_places *g, struct err *e);
void places_detach(struct run_places *g);
bool places_in_one_call(void);
uint32_t places_attach_type(void); /* what programs for places say that they expect when they are loaded */
int places_enable(struct k_run *k, struct err *e);
void places_disable(struct k_run *k);
void places_close(struct k_run *k);

/* ---- processes that are held where they load libraries (hold.c) ------------------------ */
struct run_holds;
int holds_enable(struct k_run *k, struct err *e);
void holds_disable(struct k_run *k); /* begins it, holds_end() waits for it */
void holds_end(struct k_run *k);
void holds_close(struct k_run *k);

/* ---- program.c ------------------------------------------------------------------- */
struct run_programs;
int programs_enable(struct k_run *k, struct err *e);
void programs_disable(struct k_run *k);
void programs_close(struct k_run *k);

/* ---- a process of its own (guard.c) ------------------------------------------------ */
/* It works until its pipe ends, which is when this one does; its end of the pipe is fd. */
int guard_start_work(struct k_guard *g, void (*work)(void *arg, int fd), void *arg, struct err *e);

/* ---- timers (timer.c) ------------------------------------------------------------- */
struct run_timer {
	int fd;
	uint64_t period_ns;
};
int timers_set(struct k_run *k, bool on);
void timers_close(struct k_run *k);

/* ---- clocks (facts.c) -------------------------------------------------------------------- */
int64_t clock_ahead_ns(int clock); /* of k_now_ns(), in ns */

/* ---- rights (rights.c) ------------------------------------------------------------- */
/* k_fix() of a program at that path; NULL: it is not known. */
struct k_fix fix_of(const char *command, const char *program);
/* Whether this thread holds it, in effect or not. */
bool has_capability(unsigned cap);
/* open(2), close-on-exec, with that capability in effect if it is held: a descriptor, or -1 and errno. */
int rights_open(unsigned cap, const char *path, int flags);
/* Gives up every capability for good, between fork() and exec() too. */
void rights_drop(void);
/* Whether all addresses of that kallsyms file are zero: 1, 0 or -errno. */
int kallsyms_hidden(const char *path);
/* The words for EPERM or EACCES of bpf(2): -TALLY_EPERM. */
int rights_bpf(const char *what, struct err *e);
/* The same for perf_event_open(2). */
int rights_perf(struct err *e);

/* ---- child (child.c) ----------------------------------------------------------------- */
/* Splits cmd as a shell does (blanks, '', "", \) into argv, NULL-terminated, in a. */
int child_let_go(struct k_child *c);                   /* to its exec: 0, or -1 and errno */
void child_ended_early(struct k_child *c, int status); /* before it was released */
int child_split(const char *cmd, struct arena *a, char ***argv, struct err *e);

/* ---- generations of mappings (generation.c) -------------------------------------------- */
struct generations;
/* Begins to watch tasks and mappings, in a thread of its own, if the image has look-ups of generations: their maps are
 * open, others may not be. */
int generations_begin(struct k_run *k, struct err *e);
/* Waits until it is done: 0 and k->tasks, or why tasks can't be watched. A kernel that can't tell of mappings is no
 * error. */
int generations_join(struct k_run *k, struct err *e);
void generations_close(struct k_run *k);

/* ---- the run (run.c) ------------------------------------------------------------------ */
struct k_tasks;
struct k_run {
	/* set by k_open, then read-only */
	const volatile int *stop; /* NULL: nobody ends loading */
	struct buf *log;          /* NULL: nobody wants the verifier's words */
	bool data;                /* of processes, mappings that hold no code are watched, too */
	uint32_t ncpus, nmaps, nprogs, nparts;
	struct run_map *map;
	int *prog;                    /* nprogs, then nparts that are reached by tail calls */
	const struct img_prog *image; /* of nprogs */
	struct img_ctl *ctl;
	/* the owner's thread only */
	struct run_rings rings;
	struct run_event *event;
	uint32_t nevents, cap_events;
	struct run_point *point;
	uint32_t npoints, cap_points;
	struct run_counter *counter;
	uint32_t ncounters, cap_counters;
	int thread_count; /* a program that watches switches of threads; -1: none */
	struct run_lock_wait {
		int prog, fd; /* -1: not loaded, not attached */
	} lock_wait[2];       /* where a wait for a lock begins, and where it ends */
	struct run_places *places;
	uint32_t nplaces, cap_places;
	struct run_holds *holds;       /* NULL: none */
	struct run_programs *programs; /* NULL: nobody waits for them */
	bool enabled;
	struct run_timer *timer;
	uint32_t ntimers, cap_timers;
	struct k_tasks *tasks;
	struct k_btf btf;                /* the kernel's types, from the load to k_task_watch(); else empty */
	struct generations *generations; /* NULL: the image has no look-ups */
	int epoll;                       /* -1 until the first wait */
	bool waits_rings, waits_tasks;   /* they are in the epoll set */
	int online;                      /* the file of the CPUs that are online; -1 until the first k_hotplug */
	uint64_t online_hash;            /* of its text when last seen */
	uint32_t walk_type;              /* what iterates over maps; 0: this kernel says nothing of it */
	bool walk_type_known;
	void *affinity; /* cpu_set_t to go back to; NULL when not quiet */
	size_t affinity_bytes;
};
/* Makes k_wait() end when fd is readable. */
int run_watch(struct k_run *k, int fd);
/* The words when a call that makes a descriptor failed with errno `no`: for EMFILE and ENFILE they name the limit and
 * what raises it. -TALLY_EIO. */
int run_file_refused(const char *what, int no, struct err *e);

#endif
