/*
 * hold.c: processes that are held where they load libraries.
 *
 * Whoever probes a library that a process loads has to see the file before the process runs its code.  A dynamic loader
 * calls an empty function when it has changed what is mapped, for debuggers to have a breakpoint there, and before it
 * runs any code of a library.  A program of ours at that place stops the process (SIGSTOP) and tells which it was; user
 * space looks at the mappings, arms what is new, and has the process go on (SIGCONT).
 *
 * The signal is raised before its message can be read: a SIGCONT takes back a stop that has not been carried out yet,
 * so in that order no process stays stopped.  A guard process has all go on that are held when we are killed.  It knows
 * of them by the list in memory that both share, and by the messages that nobody has read.
 *
 * The process's parent learns of the stop, as of any.  A process with more than one thread stops with all of them.
 */
#include <bpf/libbpf.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kernel/btf_int.h"
#include "kernel/code_int.h"
#include "kernel/kernel_int.h"
#include "kernel/libbpf_int.h"

#define KERNEL_TYPES "/sys/kernel/btf/vmlinux"
#define ANCESTORS_MOST 32
#define HELD_MOST 512u /* more than there is room for messages */
#define MESSAGES_BYTES 4096u

/* In memory that the guard sees, too. */
struct held {
	struct held_process {
		uint32_t pid, of;
	} process[HELD_MOST];
	uint32_t n;
};
struct run_holds {
	int messages;
	struct ring_buffer *ring;
	struct held *held;
	uint32_t told; /* of held->process[]: k_held() has told of these */
	struct run_places *place;
	uint32_t n, cap;
	struct k_guard guard;
	pthread_t thread; /* detaches, while others are detached: each waits for the kernel for some ten milliseconds */
	bool detaching;
};

/* ---- the program ------------------------------------------------------------------- */

enum { AT_MESSAGE = -8, AT_FIELD = -16, AT_TASK = -24 }; /* below the frame pointer */

static void hold_read(struct code *c, int at, int bytes, int32_t offset)
{
	PUT(I_STORE_IMM(DW, R10, at, 0), I_LOAD(DW, R3, R10, AT_TASK), I_ALU_IMM(ADD, R3, offset), AT(R1, at),
	    I_MOV_IMM(R2, bytes), I_CALL(probe_read_kernel));
}

/* Leaves unless the process is pid, or one that it forked. */
static bool hold_progeny(struct code *c, uint32_t pid)
{
	struct k_btf btf = { 0 };
	const bool known = k_btf_open(&btf, KERNEL_TYPES, NULL) == 0;
	const int64_t tgid = known ? btf_field(&btf, "task_struct", "tgid") : -1,
		      parent = known ? btf_field(&btf, "task_struct", "real_parent") : -1;
	uint32_t ours[ANCESTORS_MOST];

	k_btf_close(&btf);
	if (tgid < 0 || parent < 0)
		return false;
	PUT(I_CALL(get_current_task), I_STORE(DW, R10, AT_TASK, R0));
	for (uint32_t i = 0; i < ANCESTORS_MOST; i++) {
		hold_read(c, AT_FIELD, 4, (int32_t)tgid);
		PUT(I_LOAD(W, R1, R10, AT_FIELD));
		LEAVE_IF(JEQ, R1, 0);
		ours[i] = code_jump(c, I_JMP_IMM(JEQ, R1, (int32_t)pid, 0));
		hold_read(c, AT_FIELD, 8, (int32_t)parent);
		PUT(I_LOAD(DW, R1, R10, AT_FIELD), I_STORE(DW, R10, AT_TASK, R1));
	}
	PUT(I_JUMP(-1));
	for (uint32_t i = 0; i < ANCESTORS_MOST; i++)
		code_land(c, ours[i]);
	return true;
}

/* Stops the process and tells of it; what can't be told of is not stopped. */
static void hold_stop(struct code *c, const struct run_holds *h, uint32_t pid, bool follows)
{
	PUT(I_MOV_IMM(R0, (int32_t)pid));
	if (follows)
		PUT(I_CALL(get_current_pid_tgid), I_ALU_IMM(RSH, R0, 32));
	PUT(I_MOV_REG(R7, R0));
	PUT(MAP(R1, h->messages), I_MOV_IMM(R2, 8), I_MOV_IMM(R3, 0), I_CALL(ringbuf_reserve));
	LEAVE_IF(JEQ, R0, 0);
	PUT(I_MOV_REG(R6, R0), I_STORE(W, R6, 0, R7), I_STORE_IMM(W, R6, 4, (int32_t)pid), I_MOV_IMM(R1, SIGSTOP),
	    I_CALL(send_signal), I_MOV_REG(R1, R6), I_MOV_IMM(R2, RING_FORCE_WAKEUP), I_CALL(ringbuf_submit));
}

/* A descriptor. */
static int hold_load(const struct run_holds *h, uint32_t pid, bool follows, struct err *e)
{
	LIBBPF_OPTS(bpf_prog_load_opts, o, .expected_attach_type = places_attach_type());
	struct code c = { 0 };
	int fd;

	if (follows && !hold_progeny(&c, pid))
		return err_set(e, TALLY_ENOTSUP, "this kernel has no type information of task_struct");
	hold_stop(&c, h, pid, follows);
	code_end(&c);
	fd = bpf_prog_load(BPF_PROG_TYPE_KPROBE, "hold", "Dual MIT/GPL", (const struct bpf_insn *)(const void *)c.ins,
			   c.n, &o);
	if (fd >= 0)
		return fd;
	return errno == EPERM ?
		       rights_bpf("holding a process where it loads a library", e) :
		       err_set(e, TALLY_ENOTSUP,
			       "the kernel refused the BPF program that stops a process where it loads a library: %s",
			       strerror(errno));
}

/* ---- who is held ------------------------------------------------------------------------ */

static int hold_take_message(void *arg, void *data, size_t size)
{
	struct run_holds *h = arg;
	struct held_process p;

	if (size < sizeof(p) || h->held->n == HELD_MOST)
		return -ENOSPC;
	memcpy(&p, data, sizeof(p));
	h->held->process[h->held->n++] = p;
	return 0;
}

static void *holds_detach(void *arg)
{
	struct run_holds *h = arg;

	for (uint32_t i = 0; i < h->n; i++)
		places_detach(&h->place[i]);
	return NULL;
}

static void holds_let_all_go(void *arg)
{
	struct run_holds *h = arg;

	holds_detach(h);
	do {
		for (uint32_t i = 0; i < h->held->n; i++)
			kill((pid_t)h->held->process[i].pid, SIGCONT);
		h->held->n = h->told = 0;
	} while (h->ring && ring_buffer__consume(h->ring) > 0);
}

#define LAST_MS 1000 /* the kernel takes some ten milliseconds to end the programs of a killed process */

/* In the guard: until those programs have ended a process may be stopped once more. */
static void holds_outlive(void *arg)
{
	struct run_holds *h = arg;

	do
		holds_let_all_go(h);
	while (h->ring && ring_buffer__poll(h->ring, LAST_MS) > 0);
}

bool k_held(struct k_run *k, uint32_t *pid, uint32_t *of)
{
	struct run_holds *h = k->holds;

	if (!h || !h->ring)
		return false;
	if (h->told == h->held->n)
		(void)ring_buffer__consume(h->ring);
	if (h->told == h->held->n)
		return false;
	*pid = h->held->process[h->told].pid;
	*of = h->held->process[h->told++].of;
	return true;
}

void k_held_go_on(struct k_run *k, uint32_t pid)
{
	struct held *held = k->holds->held;

	kill((pid_t)pid, SIGCONT);
	for (uint32_t i = 0; i < k->holds->told; i++)
		if (held->process[i].pid == pid) {
			memmove(&held->process[i], &held->process[i + 1], (held->n - i - 1) * sizeof(*held->process));
			held->n--;
			k->holds->told--;
			break;
		}
}

/* ---- the run --------------------------------------------------------------------------- */

static int holds_open(struct k_run *k, struct err *e)
{
	struct run_holds *h = k->holds = mem_alloc(sizeof(*h));

	if (!h)
		return err_oom(e);
	h->messages = bpf_map_create(BPF_MAP_TYPE_RINGBUF, "held", 0, 0, MESSAGES_BYTES, NULL);
	if (h->messages < 0)
		return errno == EPERM ? rights_bpf("creating a BPF map", e) :
					run_file_refused("creating a BPF map", errno, e);
	h->held = mmap(NULL, sizeof(*h->held), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (h->held == MAP_FAILED) {
		h->held = NULL;
		return err_oom(e);
	}
	h->ring = ring_buffer__new(h->messages, hold_take_message, h, NULL);
	return !h->ring                                         ? err_oom(e) :
	       run_watch(k, ring_buffer__epoll_fd(h->ring)) < 0 ? err_set(e, TALLY_EIO, "cannot wait for processes") :
								  0;
}

int k_hold_at(struct k_run *k, uint32_t pid, const struct k_places *at, struct err *e)
{
	int rc = k->holds ? 0 : holds_open(k, e), prog = rc < 0 ? rc : hold_load(k->holds, pid, !at->pid, e);
	struct run_places *to = prog < 0 ? NULL : VEC_NEW(k->holds->place, k->holds->n, k->holds->cap);

	if (prog < 0)
		return prog;
	if (!to) {
		close(prog);
		return err_oom(e);
	}
	*to = (struct run_places){ .prog = prog, .p = *at };
	return 0;
}

int holds_enable(struct k_run *k, struct err *e)
{
	struct run_holds *h = k->holds;
	int rc = h ? k_guard_start(&h->guard, holds_outlive, h, e) : 0;

	for (uint32_t i = 0; h && rc == 0 && i < h->n; i++)
		rc = places_arm(&h->place[i], e);
	return rc;
}

void holds_disable(struct k_run *k)
{
	sigset_t all, before;

	if (!k->holds)
		return;
	sigfillset(&all); /* signals are for the thread that waits for them */
	pthread_sigmask(SIG_SETMASK, &all, &before);
	k->holds->detaching = pthread_create(&k->holds->thread, NULL, holds_detach, k->holds) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void holds_end(struct k_run *k)
{
	struct run_holds *h = k->holds;

	if (!h)
		return;
	if (h->detaching)
		pthread_join(h->thread, NULL);
	h->detaching = false;
	if (h->held)
		holds_let_all_go(h);
	k_guard_end(&h->guard);
}

void holds_close(struct k_run *k)
{
	struct run_holds *h = k->holds;

	if (!h)
		return;
	holds_end(k);
	ring_buffer__free(h->ring);
	for (uint32_t i = 0; i < h->n; i++)
		close(h->place[i].prog);
	mem_free(h->place);
	if (h->held)
		munmap(h->held, sizeof(*h->held));
	if (h->messages >= 0)
		close(h->messages);
	mem_free(h);
	k->holds = NULL;
}
