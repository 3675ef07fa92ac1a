/*
 * lock_wait.c: which threads wait for which locks, and since when.
 *
 * A program where a wait begins (contention_begin) writes it down, for programs of D where it ends (bpf/cg_wait.c), and
 * one behind those strikes it out.  What is at the beginning is attached last and closed first, so no wait is written
 * down that nobody strikes out.
 *
 * A thread waits for one lock at a time, but an interrupt in the middle of that wait may wait for another lock. So a
 * wait is known by thread and lock.  Only a mutex tells of several turns of one wait; any other beginning is a new
 * wait, whatever was left of an old one.
 *
 * These tracepoints fire within the kernel's memory management and its scheduler, so the map's memory is there from the
 * start.  A wait for which it has no room, or that began in an interrupt of the program itself, is lost, and counted.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "kernel/code_int.h"
#include "kernel/kernel_int.h"
#include "kernel/libbpf_int.h"

enum { WAIT_BEGIN, WAIT_END };
static const char *const wait_tracepoint[] = { [WAIT_BEGIN] = "contention_begin", [WAIT_END] = "contention_end" };

struct wait_facts {
	int waits, drops; /* maps */
	uint32_t drops_row;
};

enum { /* below the frame pointer */
       AT_NEW = -(int)sizeof(struct img_wait),
       AT_WAITER = AT_NEW - (int)sizeof(struct img_wait_key),
       AT_DROPS_ROW = AT_WAITER - 8,
};
#define NEW(member) (AT_NEW + (int)offsetof(struct img_wait, member))
#define OF(member) ((int16_t)offsetof(struct img_wait, member))

static void code_wait_key(struct code *c)
{
	PUT(I_MOV_REG(R6, R1), I_CALL(get_current_task),
	    I_STORE(DW, R10, AT_WAITER + (int)offsetof(struct img_wait_key, task), R0), I_LOAD(DW, R1, R6, 0),
	    I_STORE(DW, R10, AT_WAITER + (int)offsetof(struct img_wait_key, lock), R1));
}

/* R7 = the flags, R8 = 1 where it spins, R9 = the time. */
static void on_begin(struct code *c, const struct wait_facts *f)
{
	uint32_t is_new[2];

	code_wait_key(c);
	PUT(I_LOAD(W, R7, R6, 8), I_MOV_REG(R8, R7), I_ALU_IMM(AND, R8, IMG_LOCK_SPIN), I_CALL(ktime_get_ns),
	    I_MOV_REG(R9, R0), I_MOV_REG(R1, R7), I_ALU_IMM(AND, R1, IMG_LOCK_MUTEX));
	is_new[0] = code_jump(c, I_JMP_IMM(JEQ, R1, 0, 0));
	PUT(MAP(R1, f->waits), AT(R2, AT_WAITER), I_CALL(map_lookup_elem));
	is_new[1] = code_jump(c, I_JMP_IMM(JEQ, R0, 0, 0));
	PUT(I_LOAD(DW, R1, R0, OF(since_ns)), I_MOV_REG(R2, R9), I_ALU_REG(SUB, R2, R1), I_LOAD(DW, R1, R0, OF(flags)),
	    I_ALU_IMM(AND, R1, IMG_LOCK_SPIN), I_ALU_IMM(LSH, R1, 3), I_MOV_REG(R3, R0), I_ALU_REG(ADD, R3, R1),
	    I_LOAD(DW, R1, R3, OF(ns)), I_ALU_REG(ADD, R1, R2), I_STORE(DW, R3, OF(ns), R1),
	    I_STORE(DW, R0, OF(since_ns), R9), I_STORE(DW, R0, OF(flags), R7), I_LOAD(DW, R1, R0, OF(turns)),
	    I_MOV_IMM(R2, 1), I_ALU_REG(LSH, R2, R8), I_ALU_REG(OR, R1, R2), I_STORE(DW, R0, OF(turns), R1));
	LEAVE_IF(JNE, R0, 0);
	code_land(c, is_new[0]);
	code_land(c, is_new[1]);
	PUT(I_MOV_IMM(R1, 1), I_ALU_REG(LSH, R1, R8), I_STORE(DW, R10, NEW(turns), R1),
	    I_STORE(DW, R10, NEW(since_ns), R9), I_STORE(DW, R10, NEW(flags), R7), I_STORE_IMM(DW, R10, NEW(ns[0]), 0),
	    I_STORE_IMM(DW, R10, NEW(ns[1]), 0), MAP(R1, f->waits), AT(R2, AT_WAITER), AT(R3, AT_NEW),
	    I_MOV_IMM(R4, MAP_ANY), I_CALL(map_update_elem));
	LEAVE_IF(JEQ, R0, 0);
	PUT(I_STORE_IMM(W, R10, AT_DROPS_ROW, (int32_t)f->drops_row), MAP(R1, f->drops), AT(R2, AT_DROPS_ROW),
	    I_CALL(map_lookup_elem));
	LEAVE_IF(JEQ, R0, 0);
	PUT(I_MOV_IMM(R1, 1), I_ATOMIC(DW, ADD, R0, (int)offsetof(struct img_drops, waits), R1));
}

static void on_end(struct code *c, const struct wait_facts *f)
{
	code_wait_key(c);
	PUT(MAP(R1, f->waits), AT(R2, AT_WAITER), I_CALL(map_delete_elem));
}

/* A descriptor; negative: refused, in words. */
static int lock_wait_load(const struct wait_facts *f, int which, struct err *e)
{
	struct code c = { 0 };
	int prog;

	if (which == WAIT_BEGIN)
		on_begin(&c, f);
	else
		on_end(&c, f);
	code_end(&c);
	prog = bpf_prog_load(BPF_PROG_TYPE_RAW_TRACEPOINT, "lock_wait", "Dual MIT/GPL",
			     (const struct bpf_insn *)(const void *)c.ins, c.n, NULL);
	if (prog >= 0)
		return prog;
	return errno == EPERM ?
		       rights_bpf("watching waits for locks", e) :
		       err_set(e, TALLY_ENOTSUP, "the kernel refused the BPF program that watches waits for locks: %s",
			       strerror(errno));
}

static int lock_wait_attach(struct run_lock_wait *w, const struct wait_facts *f, int which, struct err *e)
{
	if (w->prog < 0)
		w->prog = lock_wait_load(f, which, e);
	if (w->prog < 0)
		return w->prog;
	w->fd = bpf_raw_tracepoint_open(wait_tracepoint[which], w->prog);
	return w->fd >= 0 ? 0 :
			    err_set(e, TALLY_EIO, "attaching to tracepoint %s failed: %s", wait_tracepoint[which],
				    strerror(errno));
}

int lock_waits_enable(struct k_run *k, struct err *e)
{
	struct wait_facts f = { -1, -1, k->nprogs };
	int rc = 0;

	for (uint32_t i = 0; i < k->nmaps; i++)
		if (k->map[i].use == IMG_WAITS)
			f.waits = k->map[i].fd;
		else if (k->map[i].use == IMG_DROPS)
			f.drops = k->map[i].fd;
	for (int which = WAIT_END; which >= WAIT_BEGIN && f.waits >= 0 && rc == 0; which--)
		if (k->lock_wait[which].fd < 0)
			rc = lock_wait_attach(&k->lock_wait[which], &f, which, e);
	return rc;
}

void lock_waits_disable(struct k_run *k)
{
	for (int which = WAIT_BEGIN; which <= WAIT_END; which++) {
		if (k->lock_wait[which].fd >= 0)
			close(k->lock_wait[which].fd);
		k->lock_wait[which].fd = -1;
	}
}

void lock_waits_close(struct k_run *k)
{
	lock_waits_disable(k);
	for (int which = WAIT_BEGIN; which <= WAIT_END; which++) {
		if (k->lock_wait[which].prog >= 0)
			close(k->lock_wait[which].prog);
		k->lock_wait[which].prog = -1;
	}
}

uint64_t k_waits_missed(const struct k_run *k)
{
	const int prog = k->lock_wait[WAIT_BEGIN].prog;

	return prog < 0 ? 0 : run_recursion_misses(prog);
}
