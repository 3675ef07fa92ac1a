/*
 * cg_wait.c: how long a thread waited for a lock of the kernel.
 *
 * The kernel has a tracepoint where a wait begins, and one where it ends.  A program at the first (kernel/lock_wait.c)
 * writes down the thread, the lock, the time and what kind of wait it is.  A program of D is at the second, and finds
 * that: so its probe fires once, when the thread has the lock, and knows how long that took.  The thread that waits for
 * a mutex sleeps and spins in turn.  Each turn begins by the first tracepoint, so both times are sums, and one wait may
 * fire a probe for each.
 *
 * A wait of which the beginning was not seen is none here: the watcher counts it.
 */
#include "bpf/cg_int.h"

#define RW (IMG_LOCK_READ | IMG_LOCK_WRITE)
#define OTHER (IMG_LOCK_RT | IMG_LOCK_PERCPU)

static const struct wait_row {
	int32_t any, none; /* IMG_LOCK_*: it has one of these, and none of those */
	uint8_t turn;      /* IMG_LOCK_SPIN, or 0: it slept */
} wait_rows[] = {
	[WAIT_MUTEX_BLOCK] = { IMG_LOCK_MUTEX, 0, 0 },
	[WAIT_MUTEX_SPIN] = { IMG_LOCK_MUTEX, 0, IMG_LOCK_SPIN },
	[WAIT_SPINLOCK] = { IMG_LOCK_SPIN, RW | OTHER | IMG_LOCK_MUTEX, IMG_LOCK_SPIN },
	[WAIT_RW_BLOCK] = { RW, OTHER, 0 },
	[WAIT_RW_SPIN] = { RW, OTHER, IMG_LOCK_SPIN },
};

#define WAIT_OF(member) ((int16_t)offsetof(struct img_wait, member))

/* Adds the last turn to its sum, if it is one of the kind. A part that goes on finds it there. */
static void wait_end_turn(struct cg *g, const struct wait_row *r)
{
	const int16_t sum = (int16_t)(WAIT_OF(ns) + 8 * r->turn);
	uint32_t other = cg_label(g);

	cg_ins(g, I_LOAD(DW, R1, R8, WAIT_OF(flags)));
	cg_ins(g, I_ALU_IMM(AND, R1, IMG_LOCK_SPIN));
	cg_jcc(g, I_JMP_IMM(JNE, R1, r->turn, 0), other);
	cg_ins(g, I_CALL(ktime_get_ns));
	cg_ins(g, I_LOAD(DW, R1, R8, WAIT_OF(since_ns)));
	cg_ins(g, I_STORE(DW, R8, WAIT_OF(since_ns), R0));
	cg_ins(g, I_ALU_REG(SUB, R0, R1));
	cg_ins(g, I_LOAD(DW, R1, R8, sum));
	cg_ins(g, I_ALU_REG(ADD, R0, R1));
	cg_ins(g, I_STORE(DW, R8, sum, R0));
	cg_put(g, other);
}

/* FP_WAIT and FP_READS of the wait that ends here; to `out` if it is none that the probe is about. */
void cg_wait_begin(struct cg *g, uint32_t out, bool whole)
{
	const struct wait_row *r = &wait_rows[cg_point(g)->wait];

	cg_ins(g, I_CALL(get_current_task));
	cg_ins(g, I_STORE(DW, R10, FP_TMP + (int)offsetof(struct img_wait_key, task), R0));
	cg_ins(g, I_LOAD(DW, R0, R6, 0));
	cg_ins(g, I_STORE(DW, R10, FP_TMP + (int)offsetof(struct img_wait_key, lock), R0));
	cg_map(g, R1, cg_map_index(g, IMG_WAITS, 0));
	cg_lea(g, R2, R10, FP_TMP);
	cg_ins(g, I_CALL(map_lookup_elem));
	cg_jcc(g, I_JMP_IMM(JEQ, R0, 0, 0), out);
	cg_mov(g, R8, R0);
	cg_ins(g, I_LOAD(DW, R1, R8, WAIT_OF(flags)));
	cg_mov(g, R2, R1);
	cg_ins(g, I_ALU_IMM(AND, R2, r->any));
	cg_jcc(g, I_JMP_IMM(JEQ, R2, 0, 0), out);
	cg_ins(g, I_ALU_IMM(AND, R1, r->none));
	cg_jcc(g, I_JMP_IMM(JNE, R1, 0, 0), out);
	cg_ins(g, I_LOAD(DW, R1, R8, WAIT_OF(turns)));
	cg_ins(g, I_ALU_IMM(AND, R1, 1 << r->turn));
	cg_jcc(g, I_JMP_IMM(JEQ, R1, 0, 0), out);
	if (whole)
		wait_end_turn(g, r);
	cg_ins(g, I_LOAD(DW, R1, R8, WAIT_OF(ns) + 8 * r->turn));
	cg_ins(g, I_STORE(DW, R10, FP_WAIT, R1));
	cg_ins(g, I_LOAD(DW, R1, R8, WAIT_OF(flags)));
	cg_ins(g, I_ALU_IMM(RSH, R1, 1));
	cg_ins(g, I_ALU_IMM(AND, R1, IMG_LOCK_READ >> 1));
	cg_ins(g, I_STORE(DW, R10, FP_READS, R1));
}
