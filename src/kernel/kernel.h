/*
 * kernel: the running Linux.  The only room that makes perf and bpf system
 * calls or reads /proc and /sys.  It delivers facts and runs images; it knows
 * no D, no names of probes and no formats.
 *
 * Loading goes through libbpf's low-level calls (bpf_prog_load, bpf_map_create,
 * bpf_prog_test_run_opts, ...).  What a script does not need is not touched:
 * each piece below is set up when first asked for.
 * Nothing outlives the process: file descriptors only, nothing pinned, no tracefs.
 * Thread rule: a k_run belongs to one thread.
 */
#ifndef TALLY_KERNEL_H
#define TALLY_KERNEL_H

#include "base/base.h"
#include "bpf/bpf.h"

/* ---- CPUs ---------------------------------------------------------------- */
uint32_t k_ncpus_possible(void); /* what per-CPU maps are sized by */
/* Online CPUs into set (bit per CPU, words of 64, up to k_ncpus_possible()). */
int k_cpus_online(uint64_t *set, size_t words, struct err *e);
const struct bpf_arch *k_arch(void); /* of this machine; NULL when there is no row for it */

/* ---- events: what to count ------------------------------------------------ */
struct k_event {
	uint32_t type; /* perf_event_attr */
	uint64_t config, config1, config2, config3;
	uint64_t period; /* events per firing; 0: freq is used */
	uint64_t freq;   /* firings per second */
	bool exclude_user, exclude_kernel;
	uint8_t precise_ip;
	bool counter; /* takes a hardware counter: pinned, may be refused */
	bool exclusive;
	bool uncounted; /* what is counted does not tell the firings: a clock in one mode */
	char cpus[64];  /* cpumask of the PMU ("0-7"), "" = all online */
};
/* Whether the event can be opened here (one CPU, no BPF): 0, -TALLY_ENOTSUP (no such event here), -TALLY_EPERM,
 * -TALLY_EINVAL; words in e. */
int k_event_try(const struct k_event *ev, struct err *e);

/* ---- PMUs: sysfs and libpfm4 ----------------------------------------------- */
struct k_pmu {
	char name[64];
	uint32_t type;
	bool core; /* counts on CPUs (cpu, armv8_*, cpu_core, cpu_atom): takes counters */
	char cpus[64];
};
/* PMUs of /sys/bus/event_source/devices (root: a fake tree for tests, NULL = the real one). Array from mem_alloc. */
int k_pmus(const char *root, struct k_pmu **ret, uint32_t *n, struct err *e);
/* Encodes perf's terms ("event=0x3c,umask=0x1" or a named event of events/) through the PMU's format/ files, into the
 * fields they name; what else *ev holds stays (and all of it on failure).
 * -TALLY_EINVAL names the term and the nearest known one. */
int k_pmu_encode(const char *root, const struct k_pmu *pmu, const char *terms, struct k_event *ev, struct err *e);
/* What its counter is of: "Joules" and 2.3e-10; "" and 1 where the PMU doesn't say. */
void k_pmu_unit(const char *root, const struct k_pmu *pmu, const char *event, char unit[static 32], double *scale);
/* Names below events/ and format/ of a PMU, in a; sorted. */
int k_pmu_names(const char *root, const struct k_pmu *pmu, bool formats, struct arena *a, const char ***ret,
		uint32_t *n);
/* Raw event by libpfm4's name for this CPU's PMU ("LLC_MISSES:u..."), dlopened on first use.
 * -TALLY_ENOTSUP: no libpfm4, or it knows no PMU of this machine; -TALLY_ENOPROBE: no such event (nearest in words);
 * -TALLY_EINVAL: the event needs a mask, or not this one. */
int k_pfm_encode(const char *name, struct k_event *ev, struct err *e);
/* Names of all events that libpfm4 knows for the PMUs present. */
int k_pfm_names(struct arena *a, const char ***ret, uint32_t *n);

/* ---- running an image --------------------------------------------------------- */
struct k_run;
struct k_run_opts {
	uint32_t wakeup_bytes;    /* k_wait ends when this much lies in a ring; 0 = a quarter of it */
	const volatile int *stop; /* set when loading is to end; NULL: nobody does */
	struct buf *log;          /* gets what the verifier says of each program that it takes; NULL: nobody asks */
	bool data;                /* who watches processes is told of mappings that hold no code as well */
};
/* Creates the maps and loads the programs. A refusal by the verifier is -TALLY_EVERIFY with the D line, the
 * instruction and the last lines of the verifier's log; no right: -TALLY_EPERM naming the capability and the fix;
 * *stop was set: -TALLY_EIO. */
int k_open(struct k_run **ret, const struct bpf_image *img, const struct k_run_opts *o, struct err *e);
void k_close(struct k_run *k);
struct maps k_maps(struct k_run *k);
struct img_ctl *k_ctl(struct k_run *k); /* the control words, mapped and shared with the programs */

/* Opens ev on every CPU for program `prog` (index into the image), disabled, and attaches it. Either all CPUs or
 * none. -TALLY_EBUSY: a pinned event did not get its counter; the words name the NMI watchdog when it holds one. */
int k_attach(struct k_run *k, uint32_t prog, const struct k_event *ev, struct err *e);
/* Programs find that event of their CPU in the map (by its number in the image; several events, one on each
 * kind of CPU, go into one map). It counts from now on. -TALLY_EBUSY as k_attach(). */
int k_count(struct k_run *k, uint32_t map, const struct k_event *ev, struct err *e);
/* And it is counted for each thread, if the image has vcounter() or vtimestamp: after all k_count(). */
int k_count_threads(struct k_run *k, struct err *e);
/* Program `prog` runs at each firing of that raw tracepoint, or when that function is called or returns, as the image
 * says; from k_enable() on. The name is borrowed. */
int k_attach_point(struct k_run *k, uint32_t prog, const char *name, struct err *e);
/* Places in a file of code, at which programs run when one process comes there. */
struct k_place {
	uint64_t offset;    /* in the file */
	uint64_t semaphore; /* where the file has a word that is raised while the place is armed; 0: nowhere */
	uint64_t cookie;    /* by which the program knows the place */
	bool may_fail;      /* the kernel may refuse it: it is left out then, and counted */
};
struct k_places {
	uint32_t pid;     /* 0: of every process that maps the file */
	int fd;           /* of the file ... */
	const char *name; /* ... and how messages call it */
	bool at_return;   /* when the function that begins there returns */
	const struct k_place *place;
	uint32_t n;
	uint32_t nrefused; /* so many of the first, all of which may fail, are refused by all kernels so far */
};
/* The same at places, from k_enable() on. All of *p is borrowed. */
int k_attach_places(struct k_run *k, uint32_t prog, const struct k_places *p, struct err *e);
int k_enable_places(struct k_run *k, struct err *e); /* those that came since k_enable() */
uint32_t k_places_refused(const struct k_run *k); /* how many of those that may fail were left out, since k_enable() */
uint32_t k_points_refused(const struct k_run *k); /* the same of functions of the kernel that the image lets fail */
/* From k_enable() on, a process that comes to one of these places is stopped, and k_held() tells which: that of
 * at->pid; or, if that is 0, `pid` and what it forked. Whoever asked k_held() has it go on; k_disable() has all, and so
 * has our end, whatever ends us. */
int k_hold_at(struct k_run *k, uint32_t pid, const struct k_places *at, struct err *e);
bool k_held(struct k_run *k, uint32_t *pid, uint32_t *of); /* the next one, for that `pid`; false: there is none */
void k_held_go_on(struct k_run *k, uint32_t pid);
/* From k_enable() on, who executes a file waits until it was looked at, the first time: `wanted`, which another process
 * with a copy of our memory calls, says whether we want to. The fd is the answer's to close. -TALLY_EPERM,
 * -TALLY_ENOTSUP: the kernel does not tell us. */
struct k_program {
	int fd; /* its file; or -1 */
	uint32_t number;
	char path[4096];
};
int k_programs_watch(struct k_run *k, bool (*wanted)(void *arg, int fd), void *arg, struct err *e);
bool k_program_begins(struct k_run *k, struct k_program *ret); /* the next one that is wanted; false: there is none */
void k_program_go_on(struct k_run *k, const struct k_program *program);
void k_detach_places(struct k_run *k, int fd); /* those of that file's descriptor */
/* Firings of a program that the kernel left out, since the program was running on that CPU already. */
uint64_t k_missed(const struct k_run *k, uint32_t prog);
uint64_t k_waits_missed(const struct k_run *k); /* beginnings of waits for locks, by the same rule */
int k_enable(struct k_run *k, struct err *e);   /* all that is attached; then checks that each pinned event counts */
int k_disable(struct k_run *k);
int k_test_run(struct k_run *k, uint32_t prog, struct err *e); /* BEGIN, END, tick */
/* Reading maps keeps the perf programs of the reader's CPU from running. on: the calling thread stays on the CPU it is
 * on, so that only that one loses firings while maps are walked; off: it goes where it was allowed to before. */
void k_quiet(struct k_run *k, bool on);

/* Waits until enough lies in a ring (k_run_opts) or anything in the control ring, a program woke us, a watched
 * descriptor is readable, a timer ticked, or timeout_ms (-1: for ever) passed. 1: something happened; 0: the time
 * passed or a signal came; -TALLY_EIO, -TALLY_ENOMEM. Less than enough may lie in the rings: drain after every wait. */
int k_wait(struct k_run *k, int timeout_ms);
/* A descriptor that is readable when k_wait() would not wait, but for what lies in rings unannounced; it is k's.
 * -TALLY_EIO. */
int k_wait_fd(struct k_run *k);
int k_watch_fd(struct k_run *k, int fd); /* an extra descriptor that ends the wait when readable */
/* Hands every record that was waiting at the call to sink, in the order of their times, of equal ones the control
 * ring's first. `ring` is the CPU, or ncpus for the control ring. */
int k_drain(struct k_run *k, int (*sink)(void *arg, uint32_t ring, const void *rec, uint32_t size), void *arg);

/* Per attached event and CPU: events counted, so that events / period - firings can be told. */
struct k_account {
	uint32_t prog, cpu;
	uint64_t period, freq;
	uint64_t counted, enabled_ns, running_ns;
};
int k_accounts(struct k_run *k, struct k_account **ret, uint32_t *n, struct err *e); /* array from mem_alloc */
/* CPUs that came online since: opens the attached events and a ring there too; gone ones are closed and their counts
 * kept. Cheap when nothing changed (one read): about once a second is right. */
int k_hotplug(struct k_run *k, struct err *e);

/* The types of the running kernel and of its modules, for the compiler; read when it asks. -TALLY_ENOMEM. */
struct k_types;
int k_types_open(struct k_types **ret);
void k_types_close(struct k_types *t); /* NULL is fine */
const struct d_ktypes *k_types_ops(const struct k_types *t);

/*
 * A tracepoint of the kernel or of one of its modules: what k_attach_point() takes. `type` stands for its arguments;
 * texts live as long as the types.
 */
struct k_tracepoint {
	const char *module, *name; /* module: "vmlinux" is the kernel itself */
	uint64_t type;
	uint32_t nargs;
};
/* All of them, in no order. The answers of each: negative ends it. -TALLY_ENOTSUP: this kernel tells no types. */
int k_tracepoints(struct k_types *t, int (*each)(void *arg, const struct k_tracepoint *p), void *arg);
/* What d_ktypes calls the type of its argument i, from 0; 0: it has none. */
uint64_t k_tracepoint_arg(const struct k_types *t, const struct k_tracepoint *p, uint32_t i);
/*
 * A function of the kernel or of one of its modules that can be probed, if its kind can at all; texts live as long as
 * the types. Each argument is one word.
 */
struct k_function {
	const char *module, *name; /* module: "vmlinux" is the kernel itself */
	uint64_t type;
	uint32_t nargs;
	bool has_result;
};
/* Those whose module and name match the globs, in no order. The answers of each: negative ends it. -TALLY_ENOTSUP: this
 * kernel tells no types. */
int k_functions(struct k_types *t, const char *module, const char *name,
		int (*each)(void *arg, const struct k_function *f), void *arg);
bool k_function_find(struct k_types *t, const char *module, const char *name, struct k_function *ret);
/* What d_ktypes calls the type of its argument i, from 0, and of its result; 0: it has none. */
uint64_t k_function_arg(const struct k_types *t, const struct k_function *f, uint32_t i);
uint64_t k_function_result(const struct k_types *t, const struct k_function *f);
bool k_function_is_unsafe(const char *name); /* a program needs it while it runs: it is no probe */
/* How this kernel lets functions be probed, as a trial says: by the way that is wanted, or UNKNOWN: by the better one.
 * -TALLY_ENOTSUP with what it lacks; -TALLY_EPERM. */
enum k_functions { K_FUNCTIONS_UNKNOWN, K_FUNCTIONS_FENTRY, K_FUNCTIONS_KPROBE };
int k_functions_trial(struct k_types *t, enum k_functions wanted, struct err *why);
/* A type as C writes it: "struct task_struct *". */
void k_type_text(const struct k_types *t, uint64_t type, struct buf *to);

/* The D libraries that come with this program: ../lib/tally/d from where it lies. NULL: nobody knows where that is. */
const char *k_library_dir(char *ret, size_t n);

/* Whether the running kernel has a module of that name, loaded or built in; "vmlinux" is the kernel itself. */
bool k_module_is_there(const char *name);

/* ---- processes ------------------------------------------------------------------ */
/* What happens to address spaces, for symbols of the dead. */
enum k_taskkind {
	K_TASK_MMAP,
	K_TASK_DATA, /* the same of a mapping that isn't executable, if that is asked for; as are the next two */
	K_TASK_HEAP, /* addr and len are the heap's from now on */
	K_TASK_GONE, /* what was at addr to addr + len is unmapped, if the kernel granted it */
	K_TASK_COMM_EXEC,
	K_TASK_FORK,
	K_TASK_SHARE, /* what the thread forked last shares its memory: it is no copy */
	K_TASK_EXIT,
	K_TASK_UNMAP,
	K_TASK_MOVE,
	K_TASK_LOST,
};
struct k_task {
	uint8_t kind;
	uint32_t pid, ppid;        /* thread group ids; FORK: of a new process only */
	uint32_t tid;              /* FORK, SHARE: the thread that forked */
	uint64_t time_ns;          /* UNMAP: a new generation begins; no place is told */
	uint64_t since_ns;         /* UNMAP: an MMAP from then on took the place of something */
	uint64_t addr, len, pgoff; /* MMAP (executable mappings only), DATA; MOVE: from where; LOST: len = how many */
	uint64_t to, to_len;       /* MOVE, of any mapping, if the kernel grants it: to 0 is where the kernel likes */
	bool stays;                /* MOVE: it is where it was, too; then len 0: to_len of what is at addr */
	bool looked;               /* MMAP, DATA: found at that time, and there before for nobody knows how long */
	uint64_t inode, inode_generation; /* the number may be given again with another generation; 0: not told */
	uint32_t dev_major, dev_minor;
	const char *path; /* "" for anonymous memory, "[vdso]" and the like; may end in " (deleted)" */
};
int k_task_watch(struct k_run *k, struct err *e); /* starts watching on every CPU (dummy events); before k_enable */
bool k_tells_types(void);                         /* whether this kernel has BTF, without which nobody knows of those */
/* Whether executable mappings that go are told, too (K_TASK_UNMAP), and the image's generations are kept. */
bool k_task_generations(const struct k_run *k);
int k_task_drain(struct k_run *k, void (*sink)(void *arg, const struct k_task *t), void *arg); /* in time order */
/* The executable mappings that a live process has now, as MMAP facts. -TALLY_EEND: no such process. */
int k_task_maps(uint32_t pid, void (*sink)(void *arg, const struct k_task *t), void *arg);
/* And those that aren't executable, as DATA facts. */
int k_task_all_maps(uint32_t pid, void (*sink)(void *arg, const struct k_task *t), void *arg);
/* All process ids. Array from mem_alloc. */
int k_task_pids(uint32_t **ret, uint32_t *n);

/* A child for -c: forked, stopped before its exec until released. argv by shell-like splitting of cmd. */
struct k_child {
	int pid, pidfd;
	int go_fd, err_fd;
	bool held;      /* it stands still behind its exec */
	int exec_error; /* errno of an exec that failed before the child was released */
	bool ended;
	int status;
};
/* env: what its environment has that ours has not, NAME=VALUE, and what it is not to have, NAME; with a NULL at the
 * end, or NULL. -TALLY_EINVAL: bad quoting. */
int k_child_start(const char *cmd, char *const *env, struct k_child *c, struct err *e);
int k_child_start_argv(char *const *argv, struct k_child *c, struct err *e); /* split already, with our environment */
/* Lets it go as far as its own code before it is released: to the entry point, behind the dynamic loader; or to main(),
 * behind the constructors.  By the thread that releases it.  -TALLY_EPERM: ptrace(2) refuses; -TALLY_EIO: it stands
 * elsewhere, and can be released. */
enum k_hold { K_HOLD_ENTRY, K_HOLD_MAIN };
int k_child_hold(struct k_child *c, enum k_hold where, struct err *e);
/* Lets it exec, or go on. -TALLY_EINVAL and errno text when exec failed (status 126 or 127 in c via k_child_status). */
int k_child_release(struct k_child *c, struct err *e);
/* 1 and its shell status (code, or 128 + signal) when it has ended, 0 while it runs. */
int k_child_status(struct k_child *c, int *status);
/* Waits for its end, until k_now_ns() is `until` or *stop (may be NULL) is set. 1: it has ended. */
int k_child_wait(struct k_child *c, uint64_t until, const volatile int *stop);
/* Ends it: asks it to (SIGTERM), and makes it (SIGKILL) when it still runs after so many ns. Reaped when this
 * returns. */
void k_child_end(struct k_child *c, uint64_t patience_ns);
#define K_PATIENCE_NS UINT64_C(2000000000) /* that a user has with a command that he stopped */
void k_child_kill(struct k_child *c);      /* and reap; harmless when gone */
/* What argv answers on its standard output when it has the text on its standard input. -TALLY_ENOTSUP: it can't be run,
 * -TALLY_EINVAL: it failed, or answers without end. */
int k_filter(char *const *argv, const char *text, size_t n, struct buf *out, struct err *e);
int k_process_fd(int pid, struct err *e); /* pidfd for -p: readable when it ends; -TALLY_EINVAL no such process */

/* ---- facts ------------------------------------------------------------------------ */
/* Lines of /proc/kallsyms: sink per symbol; mod "vmlinux" for the kernel proper. -TALLY_EPERM when addresses are
 * hidden. */
int k_kallsyms(void (*sink)(void *arg, uint64_t addr, char type, const char *name, const char *mod), void *arg,
	       struct err *e);
/* Where the functions of loaded programs of BPF lie, which kallsyms tells no lengths of. False: none, or no right
 * (cap_sys_admin). */
bool k_program_functions(void (*sink)(void *arg, uint64_t addr, uint32_t bytes), void *arg);
/* Of which modules are loaded, and where: another number when others are. */
uint64_t k_modules_hash(void);
/* Opens for reading what a process has at an absolute path in its own mount namespace, symbolic links included: a
 * descriptor, or -1 and errno; ESRCH: no such process. flags: open(2)'s. It never blocks at a pipe or terminal. */
int k_task_file(uint32_t pid, const char *path, int flags);
/* Opens the file behind a mapping of a process: by its name there, else through the mapping; pid 0: by its name here. "
 * (deleted)" behind the path: not by name there. A descriptor, or -1 and errno; ESRCH: no such process. */
int k_mapped_file(uint32_t pid, const char *path);
/* How a file stands; times as k_now_ns() has them. */
struct k_file_state {
	uint64_t at_ns; /* when that was asked */
	int64_t size, mtime_ns, ctime_ns;
	uint32_t links;
	uint64_t written_ns, tick_ns; /* last written to in the tick that began then, or before */
	uint64_t born_ns;             /* 0: not known */
};
/* Which file it is, and with which contents. */
struct k_file_id {
	uint64_t dev, inode;
	int64_t size, mtime_ns, ctime_ns;
	bool is_overlay; /* one file of a layer has another number in each overlay */
};
bool k_file_id(int fd, struct k_file_id *ret); /* false: it can't be asked; then all is 0 */
/* Whether both are one file to the kernel's probes, which know the layer's. */
bool k_file_is_same(const struct k_file_id *a, const struct k_file_id *b);
bool k_file_look(int fd, struct k_file_state *ret); /* false: it can't be asked */
/* Effective user id of a process. False: there is no such process. */
bool k_task_user(uint32_t pid, uint32_t *uid);
bool k_task_reachable(uint32_t pid);             /* whether its files may be opened: its mappings alone may be told */
int k_task_refused(uint32_t pid, struct err *e); /* -TALLY_EPERM, with why it may not be looked at */
bool k_task_program(uint32_t pid, char *ret, size_t n); /* path of what it runs; false: not to be had */
uint64_t k_task_began(uint32_t pid); /* when it did, or up to 10 ms before; 0: there is no such process */
/* Whether it has the file of fd open for writing at its own place, not for appending, and has come to its end. */
bool k_task_filled(uint32_t pid, int fd);
uint32_t k_pid_inside(uint32_t pid); /* as the innermost pid namespace of the process sees it */
/* Its command line, cut off where n ends ("tally stat -a ..."), or its name alone; "?" when it is gone. */
void k_process_command(int pid, char *ret, size_t n);
/* Whether D programs may run here, and be run by events of whole CPUs: 0, -TALLY_EPERM, -TALLY_ENOTSUP; words in e. */
int k_may_run(bool events, struct err *e);
/* Of the capabilities that the program's file gave: keeps those for enum tally_right `rights`, gives up all others for
 * good, and those that commands would inherit. For the only thread of a process. -TALLY_EPERM: they can't be given
 * up. */
int k_rights_keep(uint32_t rights);
/* A command of facts/doctor.def with the path of this program for DOC_PROGRAM, as a shell takes it. In a program that
 * is not called tally it stays as it is: who links the library may be an interpreter, which nobody should give a right
 * to. */
struct k_fix {
	char text[512];
};
struct k_fix k_fix(const char *command);
bool k_leads_to_program(const char *function); /* from a tracepoint: dispatch.c */
uint32_t k_stack_frames(void);                 /* most frames that the kernel walks: kernel.perf_event_max_stack */
uint64_t k_now_ns(void);                       /* CLOCK_MONOTONIC */
int64_t k_wall_offset_ns(void);                /* CLOCK_REALTIME - CLOCK_MONOTONIC */
bool k_in_pidns(uint64_t *dev, uint64_t *ino); /* whether this process is in a pid namespace other than the first */

/* ---- timers for tick-N ------------------------------------------------------------- */
int k_timer(struct k_run *k, uint64_t period_ns, struct err *e); /* its number, from 0; starts with k_enable */
uint64_t k_timer_fired(struct k_run *k, int timer);              /* expirations since the last call */

/* ---- a guard ------------------------------------------------------------------------------ */
/* Another process that calls undo(arg) when this one ends without k_guard_end(), whatever ended it. It has copies of
 * this one's memory and descriptors. */
struct k_guard {
	int pid, fd;
}; /* zero: none */
int k_guard_start(struct k_guard *g, void (*undo)(void *arg), void *arg, struct err *e);
void k_guard_end(struct k_guard *g);

#endif
