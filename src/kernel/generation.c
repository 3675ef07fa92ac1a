/*
 * generation.c: when addresses of a process may change their meaning.
 *
 * The kernel tells of mappings that come, not of those that go, and a firing has no time to ask what its address
 * belongs to.  But an address changes its meaning only after something executable was unmapped, and then
 * mm->exec_vm has fallen, or has grown by less than was mapped.  So five small programs keep, for each address space,
 * a *generation*: the time of its last such loss.  A firing reads it with one look-up and hands it over beside the
 * address; within one generation an address has one meaning, and which one follows from the mappings that task.c tells of.
 *
 *	mmap_lock_acquire_returned   remembers exec_vm of a space that is not known yet, before it changes
 *	mmap_lock_released           compares: less than before begins a generation, which is told in task.c's rings
 *	sched_process_fork, _exec    begin one as well: a process id may have been another's
 *	exit_mmap                    forgets the space, whose address is used again
 *
 * Both are released before the next change of the space, so no mapping can come into the place of one that went
 * without a new generation between them.  munmap(2) goes on with the lock for reading, so those releases count, too.
 *
 * The arguments of the lock's tracepoints changed between kernels: `mm` is the first, `write` the first _Bool.
 * Without kernel types or one of the tracepoints nothing is watched, and every generation is 0.
 */
#include <bpf/btf.h>
#include <string.h>
#include <unistd.h>

#include "bpf/insn.h"
#include "kernel/kernel_int.h"
#include "kernel/libbpf_int.h"
#include "kernel/task_int.h"

/* What the programs must know of this kernel and this run. */
struct facts {
	int spaces, output;                   /* maps */
	int32_t exec_vm, mm, tgid;            /* of mm_struct; of task_struct */
	int16_t acquired_write, released_write;       /* which argument */
};

struct code {
	struct bpf_ins ins[96];
	uint32_t n;
};

enum {                                        /* below the frame pointer */
	AT_KEY = -8,                          /* the address space */
	AT_PAGES = -16,                       /* its exec_vm, and in front of it: a struct img_generation */
	AT_VALUE = -24,
	AT_TIME = -32,                        /* a struct k_unmapped ends with it */
	AT_TOLD = -36,
	AT_TASK = -48,                        /* what is read of tasks */
};
static_assert(offsetof(struct img_generation, exec_pages) == AT_PAGES - AT_VALUE && offsetof(struct img_generation, began_ns) == 0,
	      "the value is made in place");

/* ---- pieces of programs ----------------------------------------------------- */

static void code_put(struct code *c, struct bpf_ins i)
{
	if (c->n < COUNT(c->ins))
		c->ins[c->n++] = i;
}

#define PUT(...)                                                                                                          \
	do {                                                                                                              \
		const struct bpf_ins put_these[] = { __VA_ARGS__ };                                                       \
		for (size_t put_i = 0; put_i < COUNT(put_these); put_i++)                                                 \
			code_put(c, put_these[put_i]);                                                                    \
	} while (0)

/* Leaves the program if the condition holds; filled in by code_end(). */
#define LEAVE_IF(op, reg, imm) PUT(I_JMP_IMM(op, reg, imm, -1))
#define MAP(reg, fd) I_LD_MAP(reg, fd), I_LD64_HI(0)
#define AT(reg, at) I_MOV_REG(reg, R10), I_ALU_IMM(ADD, reg, at)

static void code_end(struct code *c)
{
	for (uint32_t i = 0; i < c->n; i++)
		if (c->ins[i].off == -1 && INS_CLASS(c->ins[i].code) == INS_JMP)
			c->ins[i].off = (int16_t)(c->n - i - 1);
	PUT(I_MOV_IMM(R0, 0), I_EXIT());
}

/* Reads 8 or 4 bytes at register + offset into the stack. */
static void code_read(struct code *c, int at, int bytes, uint8_t reg, int32_t offset)
{
	PUT(I_STORE_IMM(DW, R10, at, 0), I_MOV_REG(R3, reg), I_ALU_IMM(ADD, R3, offset), AT(R1, at), I_MOV_IMM(R2, bytes),
	    I_CALL(probe_read_kernel));
}

/* R0 = what is known of the space at AT_KEY. */
static void code_find(struct code *c, const struct facts *f)
{
	PUT(MAP(R1, f->spaces), AT(R2, AT_KEY), I_CALL(map_lookup_elem));
}

static void code_keep(struct code *c, const struct facts *f, int flags)
{
	PUT(MAP(R1, f->spaces), AT(R2, AT_KEY), AT(R3, AT_VALUE), I_MOV_IMM(R4, flags), I_CALL(map_update_elem));
}

/* ---- the programs ------------------------------------------------------------ */

static void acquired(struct code *c, const struct facts *f)
{
	PUT(I_LOAD(DW, R2, R1, 8 * f->acquired_write), I_ALU_IMM(AND, R2, 0xff));
	LEAVE_IF(JEQ, R2, 0);
	PUT(I_LOAD(DW, R2, R1, 8 * (f->acquired_write + 1)), I_ALU_IMM(AND, R2, 0xff));       /* success */
	LEAVE_IF(JEQ, R2, 0);
	PUT(I_LOAD(DW, R6, R1, 0), I_STORE(DW, R10, AT_KEY, R6));
	code_find(c, f);
	LEAVE_IF(JNE, R0, 0);
	code_read(c, AT_PAGES, 8, R6, f->exec_vm);
	PUT(I_STORE_IMM(DW, R10, AT_VALUE, 0));
	code_keep(c, f, MAP_NOEXIST);
}

static void released(struct code *c, const struct facts *f)
{
	PUT(I_MOV_REG(R6, R1), I_LOAD(DW, R7, R1, 0), I_STORE(DW, R10, AT_KEY, R7));
	code_find(c, f);
	LEAVE_IF(JEQ, R0, 0);
	PUT(I_MOV_REG(R8, R0));
	code_read(c, AT_PAGES, 8, R7, f->exec_vm);
	PUT(I_LOAD(DW, R1, R10, AT_PAGES), I_LOAD(DW, R2, R8, offsetof(struct img_generation, exec_pages)),
	    I_STORE(DW, R8, offsetof(struct img_generation, exec_pages), R1));
	PUT(I_JMP_REG(JGE, R1, R2, -1));
	PUT(I_CALL(ktime_get_ns), I_STORE(DW, R8, offsetof(struct img_generation, began_ns), R0), I_STORE(DW, R10, AT_TIME, R0),
	    I_STORE_IMM(W, R10, AT_TOLD, 0), I_MOV_REG(R1, R6), MAP(R2, f->output), I_MOV32_IMM(R3, -1), AT(R4, AT_TOLD),
	    I_MOV_IMM(R5, sizeof(struct k_unmapped)), I_CALL(perf_event_output));
}

/* The space of the task in R6 begins a generation. */
static void code_begin(struct code *c, const struct facts *f)
{
	code_read(c, AT_KEY, 8, R6, f->mm);
	PUT(I_LOAD(DW, R7, R10, AT_KEY));
	LEAVE_IF(JEQ, R7, 0);
	code_read(c, AT_PAGES, 8, R7, f->exec_vm);
	PUT(I_CALL(ktime_get_ns), I_STORE(DW, R10, AT_VALUE, R0));
	code_keep(c, f, MAP_ANY);
}

static void forked(struct code *c, const struct facts *f)
{
	PUT(I_LOAD(DW, R7, R1, 0), I_LOAD(DW, R6, R1, 8));
	code_read(c, AT_TASK, 4, R7, f->tgid);
	PUT(I_LOAD(DW, R8, R10, AT_TASK));
	code_read(c, AT_TASK, 4, R6, f->tgid);
	PUT(I_LOAD(DW, R1, R10, AT_TASK), I_JMP_REG(JEQ, R1, R8, -1));        /* a thread */
	code_begin(c, f);
}

static void execd(struct code *c, const struct facts *f)
{
	PUT(I_LOAD(DW, R6, R1, 0));
	code_begin(c, f);
}

static void ended(struct code *c, const struct facts *f)
{
	PUT(I_LOAD(DW, R6, R1, 0), I_STORE(DW, R10, AT_KEY, R6), MAP(R1, f->spaces), AT(R2, AT_KEY), I_CALL(map_delete_elem));
}

static const struct watcher { const char *tracepoint; void (*program)(struct code *c, const struct facts *f); } watchers[] = {
	{ "mmap_lock_acquire_returned", acquired },
	{ "mmap_lock_released", released },
	{ "sched_process_fork", forked },
	{ "sched_process_exec", execd },
	{ "exit_mmap", ended },
};
static_assert(COUNT(watchers) == GENERATION_LINKS, "one link each");

/* ---- this kernel ---------------------------------------------------------------- */

/* Which argument of a tracepoint is its first _Bool; -1: there is none, or no such tracepoint. */
static int16_t first_bool(const struct btf *btf, const char *tracepoint)
{
	const struct btf_type *t;
	int32_t id = btf__find_by_name_kind(btf, tracepoint, BTF_KIND_TYPEDEF);

	if (id < 0 || !(t = btf__type_by_id(btf, btf__type_by_id(btf, (uint32_t)id)->type)) || !btf_is_ptr(t) ||
	    !(t = btf__type_by_id(btf, t->type)) || !btf_is_func_proto(t))
		return -1;
	for (uint16_t i = 1; i < btf_vlen(t); i++) {          /* argument 0 is the kernel's own */
		const struct btf_type *arg = btf__type_by_id(btf, btf_params(t)[i].type);

		while (arg && (btf_is_mod(arg) || btf_is_typedef(arg)))
			arg = btf__type_by_id(btf, arg->type);
		if (arg && btf_is_int(arg) && btf_int_encoding(arg) & BTF_INT_BOOL)
			return (int16_t)(i - 1);
	}
	return -1;
}

static bool facts_find(struct facts *f, const struct btf *btf)
{
	f->exec_vm = (int32_t)btf_field(btf, "mm_struct", "exec_vm");
	f->mm = (int32_t)btf_field(btf, "task_struct", "mm");
	f->tgid = (int32_t)btf_field(btf, "task_struct", "tgid");
	f->acquired_write = first_bool(btf, "btf_trace_mmap_lock_acquire_returned");
	f->released_write = first_bool(btf, "btf_trace_mmap_lock_released");
	return f->exec_vm >= 0 && f->mm >= 0 && f->tgid >= 0 && f->acquired_write > 0 && f->released_write > 0;
}

/* A program at its tracepoint: a descriptor that holds both, or -1. */
static int watcher_attach(const struct watcher *w, const struct facts *f)
{
	struct code c = { 0 };
	int prog, link = -1;

	w->program(&c, f);
	code_end(&c);
	prog = bpf_prog_load(BPF_PROG_TYPE_RAW_TRACEPOINT, "generation", "Dual MIT/GPL",
			     (const struct bpf_insn *)(const void *)c.ins, c.n, NULL);
	if (prog >= 0) {
		link = bpf_raw_tracepoint_open(w->tracepoint, prog);
		close(prog);
	}
	return link;
}

bool k_tells_types(void)
{
	return access("/sys/kernel/btf/vmlinux", R_OK) == 0;
}

void generations_open(struct k_run *k)
{
	struct facts f = { .spaces = -1 };
	bool good;

	for (uint32_t i = 0; i < k->nmaps; i++)
		if (k->map[i].use == IMG_GENERATIONS)
			f.spaces = k->map[i].fd;
	good = f.spaces >= 0 && k->btf && facts_find(&f, k->btf) && (f.output = k_tasks_output(k->tasks)) >= 0;
	for (uint32_t i = 0; good && i < COUNT(watchers); i++)
		good = (k->generation[i] = watcher_attach(&watchers[i], &f)) >= 0;
	if (!good)
		generations_close(k);
	btf__free(k->btf);
	k->btf = NULL;
}

void generations_close(struct k_run *k)
{
	for (uint32_t i = 0; i < COUNT(k->generation); i++) {
		if (k->generation[i] >= 0)
			close(k->generation[i]);
		k->generation[i] = -1;
	}
}
