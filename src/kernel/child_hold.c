/*
 * child_hold.c: the command of -c, held where its own code begins (-x evaltime).
 *
 * A child that waits before its exec is traced with its dynamic loader.  Who wants the program alone has it run to a
 * place behind, before anything is armed: it is traced by ptrace(2) from its exec to that place, stands still there,
 * and goes on when it is released.
 *
 * The entry point is what the kernel told the program (AT_ENTRY): the loader jumps there when it is done, and
 * constructors of the program are still to come.  main() has no name in a stripped program.  But the code at the entry
 * point is the C library's, and it calls one function with main's address as first argument.  So the child goes in
 * single steps until a call whose first argument leads into the executable mapping of the entry point; a breakpoint
 * there is met when the constructors have run.  A program whose entry code makes no such call is held where the steps
 * ended: its own code has begun.
 *
 * Signals that come meanwhile are handed on.  If we die, the kernel kills a child that is held (PTRACE_O_EXITKILL).
 * Thread rule: ptrace(2) takes orders from the thread only that began, so one thread holds and releases.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kernel/kernel_int.h"

#if !defined(__x86_64__) && !defined(__aarch64__)

int k_child_hold(struct k_child *c, enum k_hold where, struct err *e)
{
	(void)c, (void)where;
	return err_set(e, TALLY_EPERM, "breakpoints of this CPU's architecture are not supported");
}

#else

#define STEPS_MOST 100 /* glibc's entry code has some 20 instructions before the call, musl's some 40 */

struct hold {
	int pid;
	int status;     /* as waitpid() told it last */
	int mem;        /* the memory of the child */
	uint64_t entry; /* its entry point, and the mapping around it */
	uint64_t code, code_end;
};

/* ---- registers ------------------------------------------------------------------------ */

#if defined(__x86_64__)

typedef struct user_regs_struct hold_regs;

static const uint8_t breakpoint[] = { 0xcc };

static uint64_t *hold_pc(hold_regs *r)
{
	return (uint64_t *)&r->rip;
}

/* A program of 32 bits. */
static bool hold_is_narrow(const hold_regs *r)
{
	return r->cs == 0x23;
}

/* A word of the stack. */
static uint64_t hold_word(const struct hold *h, const hold_regs *r, unsigned n)
{
	const size_t size = hold_is_narrow(r) ? 4 : 8;
	uint64_t v = 0;

	return pread(h->mem, &v, size, (off_t)(r->rsp + n * size)) == (ssize_t)size ? v : 0;
}

/* Whether the step from `before` was a call; then its first argument. */
static bool hold_called(const struct hold *h, const hold_regs *before, const hold_regs *now, uint64_t *argument)
{
	const uint64_t back = hold_word(h, now, 0);

	if (now->rsp + (hold_is_narrow(now) ? 4 : 8) != before->rsp || back <= before->rip || back > before->rip + 8)
		return false;
	*argument = hold_is_narrow(now) ? hold_word(h, now, 1) : now->rdi;
	return true;
}

#else

typedef struct user_regs_struct hold_regs;

static const uint8_t breakpoint[] = { 0x00, 0x00, 0x20, 0xd4 };

static uint64_t *hold_pc(hold_regs *r)
{
	return (uint64_t *)&r->pc;
}

static bool hold_is_narrow(const hold_regs *r)
{
	return r->pstate & 0x10;
}

static bool hold_called(const struct hold *h, const hold_regs *before, const hold_regs *now, uint64_t *argument)
{
	(void)h;
	*argument = now->regs[0];
	return now->regs[30] == before->pc + 4 && now->pc != before->pc + 4;
}

#endif

static bool regs_move(const struct hold *h, int request, hold_regs *r)
{
	struct iovec v = { .iov_base = r, .iov_len = sizeof(*r) };

#if defined(__x86_64__) /* of a program of 32 bits these have 64 all the same */
	(void)v;
	return ptrace(request == PTRACE_GETREGSET ? PTRACE_GETREGS : PTRACE_SETREGS, h->pid, 0, r) == 0;
#else
	return ptrace(request, h->pid, NT_PRSTATUS, &v) == 0;
#endif
}

/* ---- going on ---------------------------------------------------------------------------- */

static int hold_wait(struct hold *h)
{
	while (waitpid(h->pid, &h->status, __WALL) < 0)
		if (errno != EINTR)
			return -errno;
	return WIFSTOPPED(h->status);
}

/* Lets the child go until it stops for us: 1, 0 when it has ended, or negative. */
static int hold_go(struct hold *h, int request)
{
	int signal = 0, rc;

	for (;;) {
		if (ptrace(request, h->pid, 0, signal) < 0)
			return -errno;
		rc = hold_wait(h);
		if (rc <= 0 || WSTOPSIG(h->status) == SIGTRAP)
			return rc;
		signal = h->status >> 16 ? 0 : WSTOPSIG(h->status); /* what is an event is no signal */
	}
}

/* To an address: 1 there, 0 when it has ended, negative when it stopped elsewhere. */
static int hold_run_to(struct hold *h, uint64_t to)
{
	uint8_t kept[sizeof(breakpoint)];
	hold_regs r;
	int rc;

	if (pread(h->mem, kept, sizeof(kept), (off_t)to) != sizeof(kept) ||
	    pwrite(h->mem, breakpoint, sizeof(breakpoint), (off_t)to) != sizeof(breakpoint))
		return -errno;
	rc = hold_go(h, PTRACE_CONT);
	if (rc <= 0)
		return rc;
	if (!regs_move(h, PTRACE_GETREGSET, &r))
		return -errno;
	if (*hold_pc(&r) != to && *hold_pc(&r) != to + sizeof(breakpoint))
		return 1; /* another exec: its program has no breakpoint */
	*hold_pc(&r) = to;
	if (pwrite(h->mem, kept, sizeof(kept), (off_t)to) != sizeof(kept) || !regs_move(h, PTRACE_SETREGSET, &r))
		return -errno;
	return 1;
}

/* ---- where to ---------------------------------------------------------------------------- */

static void hold_see_mapping(void *arg, const struct k_task *t)
{
	struct hold *h = arg;

	if (h->entry >= t->addr && h->entry - t->addr < t->len) {
		h->code = t->addr;
		h->code_end = t->addr + t->len;
	}
}

/* The auxiliary vector is of words of the program. */
static bool hold_find_entry(struct hold *h, bool narrow)
{
	const size_t size = narrow ? 4 : 8;
	uint8_t text[1024];
	char path[32];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/auxv", h->pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, text, sizeof(text));
	if (fd >= 0)
		close(fd);
	for (ssize_t at = 0; at + 2 * (ssize_t)size <= n; at += 2 * (ssize_t)size) {
		uint64_t key = 0;

		memcpy(&key, text + at, size);
		if (key != AT_ENTRY)
			continue;
		memcpy(&h->entry, text + at + size, size);
		return k_task_maps((uint32_t)h->pid, hold_see_mapping, h) >= 0 && h->code_end;
	}
	return false;
}

/* From the entry point to main(), behind the constructors. */
static int hold_run_to_main(struct hold *h)
{
	hold_regs before, now;
	uint64_t argument;
	int rc;

	if (!regs_move(h, PTRACE_GETREGSET, &now))
		return -errno;
	for (int i = 0; i < STEPS_MOST; i++) {
		before = now;
		rc = hold_go(h, PTRACE_SINGLESTEP);
		if (rc <= 0)
			return rc;
		if (!regs_move(h, PTRACE_GETREGSET, &now))
			return -errno;
		if (hold_called(h, &before, &now, &argument) && argument >= h->code && argument < h->code_end)
			return hold_run_to(h, argument);
	}
	return 1;
}

static int hold_run(struct hold *h, enum k_hold where)
{
	char path[32];
	hold_regs r;
	int rc = hold_go(h, PTRACE_CONT); /* to its exec */

	if (rc <= 0)
		return rc;
	snprintf(path, sizeof(path), "/proc/%d/mem", h->pid);
	h->mem = open(path, O_RDWR | O_CLOEXEC);
	if (h->mem < 0 || !regs_move(h, PTRACE_GETREGSET, &r))
		return -errno;
	if (!hold_find_entry(h, hold_is_narrow(&r)))
		return -ENOEXEC;
	rc = hold_run_to(h, h->entry);
	return rc > 0 && where == K_HOLD_MAIN ? hold_run_to_main(h) : rc;
}

int k_child_hold(struct k_child *c, enum k_hold where, struct err *e)
{
	struct hold h = { .pid = c->pid, .mem = -1 };
	int rc;

	if (ptrace(PTRACE_SEIZE, c->pid, 0, PTRACE_O_EXITKILL | PTRACE_O_TRACEEXEC) < 0 ||
	    ptrace(PTRACE_INTERRUPT, c->pid, 0, 0) < 0)
		return err_set(e, TALLY_EPERM, "ptrace(2) can't stop the command: %s", strerror(errno));
	rc = hold_wait(&h);
	if (rc > 0)
		rc = child_let_go(c) < 0 ? -errno : hold_run(&h, where);
	if (h.mem >= 0)
		close(h.mem);
	c->held = rc != 0;
	if (rc == 0)
		child_ended_early(c, h.status);
	return rc < 0 ? err_set(e, TALLY_EIO, "failed to stop the command where its own code begins (-x evaltime): %s",
				strerror(-rc)) :
			0;
}

#endif
