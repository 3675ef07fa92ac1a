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
 * A mapping in the place of another of its size leaves exec_vm as it was, so the system call is looked at as well: an
 * mmap() of executable pages after which there are not so many more.  Pages that may be written as well are not in
 * exec_vm at all.  So a space that may have had such pages since its exec begins a generation with each mmap() of executable pages.
 * And mprotect() changes no address's meaning: a compiler that makes its code writable and executable in turn begins no
 * generation.  But the code that it takes out of exec_vm may be unmapped later, which changes nothing there.  So the addresses are
 * remembered, from the lowest to the highest, and what unmaps or covers one of them begins a generation.
 *
 * mremap() changes exec_vm only where it moves code over other code, and which pages are moved only user space knows.  Its arguments are told,
 * also when the move fails later.  Where the place is not among them, the kernel chose it, and nobody says which.
 *
 * All that needs the call's registers, whose names are known for x86-64 and arm64; elsewhere a mapping over another and a move are not noticed.
 *
 * The arguments of the lock's tracepoints changed between kernels: `mm` is the first, `write` the first _Bool.
 * Without kernel types or one of the tracepoints nothing is watched, and every generation is 0.
 */
#include <bpf/btf.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bpf/insn.h"
#include "kernel/kernel_int.h"
#include "kernel/libbpf_int.h"
#include "kernel/task_int.h"

/* Where struct pt_regs keeps a system call: its number, and its arguments. */
struct register_place {
	const char *field;
	int32_t more;
};
#if defined(__x86_64__)
#define CALL_REGISTER        \
	{                    \
		"orig_ax", 0 \
	}
#define ARGUMENT_REGISTERS                                           \
	{                                                            \
		{ "di", 0 }, { "si", 0 }, { "dx", 0 }, { "r10", 0 }, \
		{                                                    \
			"r8", 0                                      \
		}                                                    \
	}
#elif defined(__aarch64__)
#define CALL_REGISTER          \
	{                      \
		"syscallno", 0 \
	}
#define ARGUMENT_REGISTERS                                                    \
	{                                                                     \
		{ "regs", 0 }, { "regs", 8 }, { "regs", 16 }, { "regs", 24 }, \
		{                                                             \
			"regs", 32                                            \
		}                                                             \
	}
#else
#define CALL_REGISTER     \
	{                 \
		"none", 0 \
	}
#define ARGUMENT_REGISTERS                                                  \
	{                                                                   \
		{ "none", 0 }, { "none", 0 }, { "none", 0 }, { "none", 0 }, \
		{                                                           \
			"none", 0                                           \
		}                                                           \
	}
#endif
static const struct register_place register_of_call = CALL_REGISTER;
static const struct register_place register_of_argument[CALL_ARGUMENTS] = ARGUMENT_REGISTERS;

/* What the programs must know of this kernel and this run. */
struct facts {
	int spaces, output;                     /* maps */
	int32_t exec_vm, mm, tgid;              /* of mm_struct; of task_struct */
	int32_t call, argument[CALL_ARGUMENTS]; /* of pt_regs */
	bool calls;                             /* those are known */
	int16_t acquired_write, released_write; /* which argument */
};

struct code {
	struct bpf_ins ins[320];
	uint32_t n;
};

enum {                /* below the frame pointer */
       AT_KEY = -8,   /* the address space */
       AT_TO = -16,   /* these six are a struct img_generation */
       AT_FROM = -24, /* where code is that isn't in its exec_vm */
       AT_PLAIN = -32,
       AT_LOCKED = -40, /* when its lock was taken */
       AT_PAGES = -48,  /* its exec_vm */
       AT_VALUE = -56,
       AT_TIME = -64, /* a struct k_unmapped ends with it */
       AT_UNMAPPED = AT_TIME + 8 - (int)sizeof(struct k_unmapped),
       AT_MOVED_TIME = -88, /* a struct k_moved ends with it */
       AT_MOVED = AT_MOVED_TIME + 8 - (int)sizeof(struct k_moved),
       AT_READ = -144,  /* what is read of tasks and registers */
       AT_CALL = -152,  /* the system call's number */
       AT_START = -160, /* what its arguments say */
       AT_LENGTH = -168,
};
static_assert(offsetof(struct img_generation, exec_pages) == AT_PAGES - AT_VALUE &&
		      offsetof(struct img_generation, began_ns) == 0 &&
		      offsetof(struct img_generation, locked_ns) == AT_LOCKED - AT_VALUE &&
		      offsetof(struct img_generation, plain) == AT_PLAIN - AT_VALUE &&
		      offsetof(struct img_generation, uncounted_from) == AT_FROM - AT_VALUE &&
		      offsetof(struct img_generation, uncounted_to) == AT_TO - AT_VALUE &&
		      sizeof(struct img_generation) == AT_KEY - AT_VALUE && AT_MOVED_TIME + 8 <= AT_UNMAPPED &&
		      AT_MOVED >= AT_READ + 8,
	      "they are made in place");

/* ---- pieces of programs ----------------------------------------------------- */

static void code_put(struct code *c, struct bpf_ins i)
{
	if (c->n < COUNT(c->ins))
		c->ins[c->n++] = i;
}

#define PUT(...)                                                          \
	do {                                                              \
		const struct bpf_ins put_these[] = { __VA_ARGS__ };       \
		for (size_t put_i = 0; put_i < COUNT(put_these); put_i++) \
			code_put(c, put_these[put_i]);                    \
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
	PUT(I_STORE_IMM(DW, R10, at, 0), I_MOV_REG(R3, reg), I_ALU_IMM(ADD, R3, offset), AT(R1, at),
	    I_MOV_IMM(R2, bytes), I_CALL(probe_read_kernel));
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

static void on_lock_acquired(struct code *c, const struct facts *f)
{
	PUT(I_LOAD(DW, R2, R1, 8 * f->acquired_write), I_ALU_IMM(AND, R2, 0xff));
	LEAVE_IF(JEQ, R2, 0);
	PUT(I_LOAD(DW, R2, R1, 8 * (f->acquired_write + 1)), I_ALU_IMM(AND, R2, 0xff)); /* success */
	LEAVE_IF(JEQ, R2, 0);
	PUT(I_LOAD(DW, R6, R1, 0), I_STORE(DW, R10, AT_KEY, R6), I_CALL(ktime_get_ns), I_STORE(DW, R10, AT_LOCKED, R0));
	code_find(c, f);
	PUT(I_JMP_IMM(JEQ, R0, 0, 3), I_LOAD(DW, R1, R10, AT_LOCKED),
	    I_STORE(DW, R0, offsetof(struct img_generation, locked_ns), R1), I_JUMP(-1));
	code_read(c, AT_PAGES, 8, R6, f->exec_vm);
	PUT(I_STORE_IMM(DW, R10, AT_VALUE, 0), I_STORE_IMM(DW, R10, AT_PLAIN, 0), I_STORE_IMM(DW, R10, AT_FROM, 0),
	    I_STORE_IMM(DW, R10, AT_TO, 0));
	code_keep(c, f, MAP_NOEXIST);
}

/* R0 = the number of the system call that goes on, R9 = where its registers are. */
static void code_call(struct code *c, const struct facts *f)
{
	PUT(I_CALL(get_current_task_btf), I_MOV_REG(R1, R0), I_CALL(task_pt_regs), I_MOV_REG(R9, R0));
	code_read(c, AT_CALL, 4, R9, f->call);
	PUT(I_LOAD(W, R0, R10, AT_CALL));
}

/* R1 = an argument of it. */
static void code_argument(struct code *c, const struct facts *f, int which)
{
	code_read(c, AT_READ, 8, R9, f->argument[which]);
	PUT(I_LOAD(DW, R1, R10, AT_READ));
}

/* A jump whose place code_land() tells later. */
static uint32_t code_jump(struct code *c, struct bpf_ins jump)
{
	code_put(c, jump);
	return c->n - 1;
}

/* The jump at `from` goes to the next instruction. */
static void code_land(struct code *c, uint32_t from)
{
	c->ins[from].off = (int16_t)(c->n - from - 1);
}

/* What lies at `at` goes into the rings; R6 = the program's context. */
static void generation_emit(struct code *c, const struct facts *f, int at, int bytes)
{
	PUT(I_MOV_REG(R1, R6), MAP(R2, f->output), I_MOV32_IMM(R3, -1), AT(R4, at), I_MOV_IMM(R5, bytes),
	    I_CALL(perf_event_output));
}

static void generation_emit_move(struct code *c, const struct facts *f)
{
	PUT(I_STORE_IMM(W, R10, AT_MOVED, K_TOLD_MOVED));
	for (int i = 0; i < CALL_ARGUMENTS; i++)
		code_read(c, AT_MOVED + 4 + 8 * i, 8, R9, f->argument[i]);
	PUT(I_CALL(ktime_get_ns), I_STORE(DW, R10, AT_MOVED_TIME, R0));
	generation_emit(c, f, AT_MOVED, sizeof(struct k_moved));
}

/* R3 to R4 = the addresses that a system call is about. */
static void code_range(struct code *c, const struct facts *f)
{
	code_read(c, AT_START, 8, R9, f->argument[0]);
	code_read(c, AT_LENGTH, 8, R9, f->argument[1]);
	PUT(I_LOAD(DW, R3, R10, AT_START), I_LOAD(DW, R4, R10, AT_LENGTH), I_ALU_REG(ADD, R4, R3));
}

/* What mprotect() is about has code that exec_vm does not count. */
static void code_uncount(struct code *c, const struct facts *f)
{
	const int from = offsetof(struct img_generation, uncounted_from),
		  to = offsetof(struct img_generation, uncounted_to);

	code_range(c, f);
	PUT(I_LOAD(DW, R2, R8, to), I_JMP_IMM(JEQ, R2, 0, 2), I_LOAD(DW, R1, R8, from), I_JMP_REG(JGE, R3, R1, 1),
	    I_STORE(DW, R8, from, R3), I_JMP_REG(JLE, R4, R2, 1), I_STORE(DW, R8, to, R4));
}

/* The lock of the space in R8, which has R7 executable pages now, is released. */
static void on_lock_released(struct code *c, const struct facts *f)
{
	const int pages = offsetof(struct img_generation, exec_pages), plain = offsetof(struct img_generation, plain),
		  from = offsetof(struct img_generation, uncounted_from),
		  to = offsetof(struct img_generation, uncounted_to);
	uint32_t begin[4], nbegin = 0;

	PUT(I_MOV_REG(R6, R1), I_LOAD(DW, R7, R1, 0), I_STORE(DW, R10, AT_KEY, R7));
	code_find(c, f);
	LEAVE_IF(JEQ, R0, 0);
	PUT(I_MOV_REG(R8, R0));
	code_read(c, AT_PAGES, 8, R7, f->exec_vm);
	PUT(I_LOAD(DW, R7, R10, AT_PAGES));
	if (f->calls) {
		uint32_t reading[2], writing, unmapping[2], asks[2], apart[5], protect, over;

		/* munmap() releases it for reading. */
		PUT(I_LOAD(DW, R1, R6, 8 * f->released_write), I_ALU_IMM(AND, R1, 0xff));
		writing = code_jump(c, I_JMP_IMM(JNE, R1, 0, 0));
		PUT(I_LOAD(DW, R1, R8, to));
		reading[0] = code_jump(c, I_JMP_IMM(JEQ, R1, 0, 0));
		code_call(c, f);
		reading[1] = code_jump(c, I_JMP_IMM(JNE, R0, SYS_munmap, 0));
		unmapping[0] = code_jump(c, I_JUMP(0));

		code_land(c, writing);
		code_call(c, f);
		over = code_jump(c, I_JMP_IMM(JNE, R0, SYS_mremap, 0));
		generation_emit_move(c, f);
		PUT(I_LOAD(W, R0, R10, AT_CALL));
		code_land(c, over);

		/* What an mmap() or an mprotect() asks for. */
		asks[0] = code_jump(c, I_JMP_IMM(JEQ, R0, SYS_mmap, 0));
		asks[1] = code_jump(c, I_JMP_IMM(JEQ, R0, SYS_mprotect, 0));
		over = code_jump(c, I_JMP_IMM(JNE, R0, SYS_pkey_mprotect, 0));
		code_land(c, asks[0]);
		code_land(c, asks[1]);
		code_argument(c, f, 2);
		PUT(I_ALU_IMM(AND, R1, PROT_WRITE | PROT_EXEC), I_LOAD(W, R0, R10, AT_CALL),
		    I_JMP_IMM(JNE, R1, PROT_WRITE | PROT_EXEC, 1), I_STORE_IMM(DW, R8, plain, 0));
		protect = code_jump(c, I_JMP_IMM(JEQ, R0, SYS_mmap, 0));
		PUT(I_LOAD(DW, R2, R8, pages), I_STORE(DW, R8, pages, R7));
		asks[0] = code_jump(c, I_JMP_IMM(JEQ, R1, PROT_WRITE | PROT_EXEC, 0));
		PUT(I_JMP_REG(JGE, R7, R2, -1));
		code_land(c, asks[0]);
		code_uncount(c, f);
		PUT(I_JUMP(-1));
		code_land(c, protect);
		code_land(c, over);

		/* What unmaps or covers code that exec_vm does not count begins a generation. */
		PUT(I_LOAD(DW, R1, R8, to));
		apart[0] = code_jump(c, I_JMP_IMM(JEQ, R1, 0, 0));
		unmapping[1] = code_jump(c, I_JMP_IMM(JEQ, R0, SYS_munmap, 0));
		apart[1] = code_jump(c, I_JMP_IMM(JNE, R0, SYS_mmap, 0));
		code_read(c, AT_START, 8, R9, f->argument[3]);
		PUT(I_LOAD(DW, R1, R10, AT_START), I_ALU_IMM(AND, R1, MAP_FIXED));
		apart[2] = code_jump(c, I_JMP_IMM(JEQ, R1, 0, 0));
		code_land(c, unmapping[0]);
		code_land(c, unmapping[1]);
		code_range(c, f);
		PUT(I_LOAD(DW, R1, R8, from), I_LOAD(DW, R2, R8, to));
		apart[3] = code_jump(c, I_JMP_REG(JGE, R3, R2, 0));
		apart[4] = code_jump(c, I_JMP_REG(JLE, R4, R1, 0));
		PUT(I_JMP_REG(JGT, R3, R1, 2), I_JMP_REG(JLT, R4, R2, 1), I_STORE_IMM(DW, R8, to, 0),
		    I_STORE(DW, R8, pages, R7));
		begin[nbegin++] = code_jump(c, I_JUMP(0));
		for (size_t i = 0; i < COUNT(apart); i++)
			code_land(c, apart[i]);

		PUT(I_LOAD(W, R0, R10, AT_CALL), I_LOAD(DW, R2, R8, pages), I_STORE(DW, R8, pages, R7));
		begin[nbegin++] = code_jump(c, I_JMP_REG(JLT, R7, R2, 0));
		LEAVE_IF(JNE, R0, SYS_mmap);
		PUT(I_LOAD(DW, R1, R10, AT_READ), I_ALU_IMM(AND, R1, PROT_EXEC));
		LEAVE_IF(JEQ, R1, 0);
		PUT(I_LOAD(DW, R1, R8, plain), I_ALU_REG(SUB, R7, R2));
		begin[nbegin++] = code_jump(c, I_JMP_IMM(JEQ, R1, 0, 0));
		code_argument(c, f, 1);
		PUT(I_ALU_IMM(ADD, R1, (int32_t)sysconf(_SC_PAGESIZE) - 1),
		    I_ALU_IMM(RSH, R1, __builtin_ctzl((unsigned long)sysconf(_SC_PAGESIZE))),
		    I_JMP_REG(JGE, R7, R1, -1));
		begin[nbegin++] = code_jump(c, I_JUMP(0));
		code_land(c, reading[0]);
		code_land(c, reading[1]);
	}
	PUT(I_LOAD(DW, R2, R8, pages), I_STORE(DW, R8, pages, R7), I_JMP_REG(JGE, R7, R2, -1));
	while (nbegin)
		code_land(c, begin[--nbegin]);
	PUT(I_STORE_IMM(W, R10, AT_UNMAPPED, K_TOLD_UNMAPPED),
	    I_LOAD(DW, R1, R8, offsetof(struct img_generation, locked_ns)), I_STORE(W, R10, AT_UNMAPPED + 4, R1),
	    I_ALU_IMM(RSH, R1, 32), I_STORE(W, R10, AT_UNMAPPED + 8, R1));
	PUT(I_CALL(ktime_get_ns), I_STORE(DW, R8, offsetof(struct img_generation, began_ns), R0),
	    I_STORE(DW, R10, AT_TIME, R0));
	generation_emit(c, f, AT_UNMAPPED, sizeof(struct k_unmapped));
}

/* The space of the task in R6 begins a generation, with what is in AT_FROM and AT_TO; plain: it has no pages that may be written and
 * executed. */
static void code_begin(struct code *c, const struct facts *f, bool plain)
{
	code_read(c, AT_KEY, 8, R6, f->mm);
	PUT(I_LOAD(DW, R7, R10, AT_KEY));
	LEAVE_IF(JEQ, R7, 0);
	code_read(c, AT_PAGES, 8, R7, f->exec_vm);
	PUT(I_CALL(ktime_get_ns), I_STORE(DW, R10, AT_VALUE, R0), I_STORE(DW, R10, AT_LOCKED, R0),
	    I_STORE_IMM(DW, R10, AT_PLAIN, plain));
	code_keep(c, f, MAP_ANY);
}

static void on_fork(struct code *c, const struct facts *f)
{
	PUT(I_LOAD(DW, R7, R1, 0), I_LOAD(DW, R6, R1, 8));
	code_read(c, AT_READ, 4, R7, f->tgid);
	PUT(I_LOAD(DW, R8, R10, AT_READ));
	code_read(c, AT_READ, 4, R6, f->tgid);
	PUT(I_LOAD(DW, R1, R10, AT_READ), I_JMP_REG(JEQ, R1, R8, -1)); /* a thread */
	PUT(I_STORE_IMM(DW, R10, AT_FROM, 0), I_STORE_IMM(DW, R10, AT_TO, 0));
	code_read(c, AT_KEY, 8, R7, f->mm);
	code_find(c, f);
	PUT(I_JMP_IMM(JEQ, R0, 0, 4), I_LOAD(DW, R1, R0, offsetof(struct img_generation, uncounted_from)),
	    I_STORE(DW, R10, AT_FROM, R1), I_LOAD(DW, R1, R0, offsetof(struct img_generation, uncounted_to)),
	    I_STORE(DW, R10, AT_TO, R1));
	code_begin(c, f, false);
}

static void on_exec(struct code *c, const struct facts *f)
{
	PUT(I_LOAD(DW, R6, R1, 0), I_STORE_IMM(DW, R10, AT_FROM, 0), I_STORE_IMM(DW, R10, AT_TO, 0));
	code_begin(c, f, true);
}

static void on_space_ended(struct code *c, const struct facts *f)
{
	PUT(I_LOAD(DW, R6, R1, 0), I_STORE(DW, R10, AT_KEY, R6), MAP(R1, f->spaces), AT(R2, AT_KEY),
	    I_CALL(map_delete_elem));
}

static const struct watcher {
	const char *tracepoint;
	void (*program)(struct code *c, const struct facts *f);
} watchers[] = {
	{ "mmap_lock_acquire_returned", on_lock_acquired },
	{ "mmap_lock_released", on_lock_released },
	{ "sched_process_fork", on_fork },
	{ "sched_process_exec", on_exec },
	{ "exit_mmap", on_space_ended },
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
	for (uint16_t i = 1; i < btf_vlen(t); i++) { /* argument 0 is the kernel's own */
		const struct btf_type *arg = btf__type_by_id(btf, btf_params(t)[i].type);

		while (arg && (btf_is_mod(arg) || btf_is_typedef(arg)))
			arg = btf__type_by_id(btf, arg->type);
		if (arg && btf_is_int(arg) && btf_int_encoding(arg) & BTF_INT_BOOL)
			return (int16_t)(i - 1);
	}
	return -1;
}

/* -1: this kernel has no such register. */
static int32_t register_at(const struct btf *btf, const struct register_place *r)
{
	int64_t at = btf_field(btf, "pt_regs", r->field);

	return at < 0 ? -1 : (int32_t)at + r->more;
}

static bool facts_find(struct facts *f, const struct btf *btf)
{
	f->exec_vm = (int32_t)btf_field(btf, "mm_struct", "exec_vm");
	f->mm = (int32_t)btf_field(btf, "task_struct", "mm");
	f->tgid = (int32_t)btf_field(btf, "task_struct", "tgid");
	f->call = register_at(btf, &register_of_call);
	f->calls = f->call >= 0;
	for (int i = 0; i < CALL_ARGUMENTS; i++)
		f->calls &= (f->argument[i] = register_at(btf, &register_of_argument[i])) >= 0;
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
