/*
 * generation.c: when addresses of a process may change their meaning.
 *
 * The kernel tells of mappings that come, not of those that go, and a firing has no time to ask what its address
 * belongs to.  But an address changes its meaning only after something executable was unmapped, and then mm->exec_vm
 * has fallen, or has grown by less than was mapped.  So five small programs keep, for each address space, a
 * *generation*: the time of its last such loss.  A firing reads it where the space has its place (bpf.h, struct
 * img_space) and hands it over beside the address; within one generation an address has one meaning, and which one
 * follows from the mappings that task.c tells of.
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
 * exec_vm at all.  So a space that may have had such pages since its exec begins a generation with each mmap() of
 * executable pages. And mprotect() changes no address's meaning: a compiler that makes its code writable and executable
 * in turn begins no generation.  But the code that it takes out of exec_vm may be unmapped later, which changes nothing
 * there.  So the addresses are remembered, from the lowest to the highest, and what unmaps or covers one of them begins
 * a generation.  So are those of pages that are mapped to be written and executed, and where mremap() moves any of
 * these to.
 *
 * mremap() changes exec_vm only where it moves code over other code, and which pages are moved only user space knows.
 * Its arguments are told, also when the move fails later, and one to a given place begins a generation.  Where the
 * place is not among them, the kernel chose it, and nobody says which.
 *
 * clone() and vfork() can make a process that has its parent's space, not a copy.  That is told as well, and the space
 * begins a generation as its firings now have a new process id, too.  As the parent's threads go on meanwhile, nothing
 * else of the space is changed, and a generation that one of them begins at the same time stands.
 *
 * Where somebody asks for names of data, munmap() and brk() are told with their places as well: for what no exec_vm
 * counts there are no generations, but a time from which on nothing lies there.
 *
 * All that needs the call's registers, whose names are known for x86-64 and arm64; elsewhere a mapping over another and
 * a move are not noticed.
 *
 * To load and attach them takes as long as to make the script's other maps and load its programs, so a thread does it
 * meanwhile.  Nothing is shared with the thread but descriptors of maps; whoever wants to know what came of it, joins
 * it first.
 *
 * The arguments of the lock's tracepoints changed between kernels: `mm` is the first, `write` the first _Bool.
 * Without kernel types or one of the tracepoints nothing is watched, and every generation is 0.
 */
#include <bpf/btf.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kernel/code_int.h"
#include "kernel/kernel_int.h"
#include "kernel/libbpf_int.h"
#include "kernel/task_int.h"

#define KERNEL_TYPES "/sys/kernel/btf/vmlinux"

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
	int spaces, places, output;             /* maps */
	int32_t exec_vm, mm, tgid;              /* of mm_struct; of task_struct */
	int32_t start_brk, brk;                 /* of mm_struct: of the heap */
	int32_t call, argument[CALL_ARGUMENTS]; /* of pt_regs */
	bool calls;                             /* those are known */
	bool data;                              /* places are told */
	int16_t acquired_write, released_write; /* which argument */
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
       AT_SHARED = AT_TIME + 8 - (int)sizeof(struct k_shared),
       AT_MOVED_TIME = -88, /* a struct k_moved ends with it */
       AT_MOVED = AT_MOVED_TIME + 8 - (int)sizeof(struct k_moved),
       AT_READ = -144,  /* what is read of tasks and registers */
       AT_CALL = -152,  /* the system call's number */
       AT_START = -160, /* what its arguments say */
       AT_LENGTH = -168,
       AT_PLACED_TIME = -176, /* a struct k_placed ends with it */
       AT_PLACED = AT_PLACED_TIME + 8 - (int)sizeof(struct k_placed),
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

/* R2 = the place of the space at AT_KEY, R4 = the space; R3 is lost. */
static void code_place(struct code *c, const struct facts *f)
{
	PUT(I_LOAD(DW, R4, R10, AT_KEY), I_MOV32_REG(R3, R4), IMG_SPACE_PLACE(R3), I_LD_MAP_VALUE(R2, f->places),
	    I_LD64_HI(0), I_ALU_REG(ADD, R2, R3));
}

/* A place that is free becomes that of the space at AT_KEY, which must be known by now: of one that there is no room
 * for, nobody would learn that its generations are missing. Where R2 is its own after that, `own` instructions
 * follow. */
static void code_take_place(struct code *c, const struct facts *f, int16_t own)
{
	code_place(c, f);
	PUT(I_LOAD(DW, R0, R2, offsetof(struct img_space, mm)), I_JMP_REG(JEQ, R0, R4, 4),
	    I_JMP_IMM(JGT, R0, IMG_SPACE_NONE, (int16_t)(3 + own)), I_MOV_REG(R5, R0),
	    I_CMPXCHG(DW, R2, offsetof(struct img_space, mm), R4), I_JMP_REG(JNE, R0, R5, own));
}

/* The same where it must be its own already. */
static void code_own_place(struct code *c, const struct facts *f, int16_t own)
{
	code_place(c, f);
	PUT(I_LOAD(DW, R3, R2, offsetof(struct img_space, mm)), I_JMP_REG(JNE, R3, R4, own));
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
	LEAVE_IF(JNE, R0, 0);
	code_take_place(c, f, 0);
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

/* From R3 to R4 there is code that exec_vm does not count. */
static void code_uncount(struct code *c)
{
	const int from = offsetof(struct img_generation, uncounted_from),
		  to = offsetof(struct img_generation, uncounted_to);

	PUT(I_LOAD(DW, R2, R8, to), I_JMP_IMM(JEQ, R2, 0, 2), I_LOAD(DW, R1, R8, from), I_JMP_REG(JGE, R3, R1, 1),
	    I_STORE(DW, R8, from, R3), I_JMP_REG(JLE, R4, R2, 1), I_STORE(DW, R8, to, R4));
}

/* Where the mremap() that was told moves such code, it is then, too. */
static void code_uncount_moved(struct code *c)
{
	enum { OLD = AT_MOVED + (int)offsetof(struct k_moved, argument) };
	const int from = offsetof(struct img_generation, uncounted_from),
		  to = offsetof(struct img_generation, uncounted_to);
	uint32_t apart[3], fixed, moved;

	PUT(I_LOAD(DW, R2, R8, to));
	apart[0] = code_jump(c, I_JMP_IMM(JEQ, R2, 0, 0));
	PUT(I_LOAD(DW, R1, R8, from), I_LOAD(DW, R3, R10, OLD), I_LOAD(DW, R4, R10, OLD + 8), I_JMP_IMM(JNE, R4, 0, 1),
	    I_MOV_IMM(R4, 1), I_ALU_REG(ADD, R4, R3));
	apart[1] = code_jump(c, I_JMP_REG(JGE, R3, R2, 0));
	apart[2] = code_jump(c, I_JMP_REG(JLE, R4, R1, 0));
	PUT(I_LOAD(DW, R1, R10, OLD + 24), I_ALU_IMM(AND, R1, MREMAP_FIXED));
	fixed = code_jump(c, I_JMP_IMM(JNE, R1, 0, 0));
	PUT(I_STORE_IMM(DW, R8, from, 0), I_STORE_IMM(DW, R8, to, -1)); /* nobody knows where */
	moved = code_jump(c, I_JUMP(0));
	code_land(c, fixed);
	PUT(I_LOAD(DW, R3, R10, OLD + 32), I_LOAD(DW, R4, R10, OLD + 16), I_ALU_REG(ADD, R4, R3));
	code_uncount(c);
	code_land(c, moved);
	for (size_t i = 0; i < COUNT(apart); i++)
		code_land(c, apart[i]);
}

/* Behind the beginning of a generation: an mmap() that began it may have made pages that may be written and executed.
 * Of memory without a file only what has a given place is remembered: a compiler's would make each munmap() of its
 * process begin a generation. */
static void code_uncount_mapped(struct code *c, const struct facts *f)
{
	uint32_t fixed;

	code_call(c, f);
	LEAVE_IF(JNE, R0, SYS_mmap);
	code_argument(c, f, 2);
	PUT(I_ALU_IMM(AND, R1, PROT_WRITE | PROT_EXEC));
	LEAVE_IF(JNE, R1, PROT_WRITE | PROT_EXEC);
	code_argument(c, f, 3);
	PUT(I_MOV_REG(R2, R1), I_ALU_IMM(AND, R2, MAP_FIXED | MAP_FIXED_NOREPLACE));
	fixed = code_jump(c, I_JMP_IMM(JNE, R2, 0, 0));
	PUT(I_ALU_IMM(AND, R1, MAP_ANONYMOUS));
	LEAVE_IF(JNE, R1, 0);
	PUT(I_STORE_IMM(DW, R8, offsetof(struct img_generation, uncounted_from), 0),
	    I_STORE_IMM(DW, R8, offsetof(struct img_generation, uncounted_to), -1), I_JUMP(-1));
	code_land(c, fixed);
	code_range(c, f);
	code_uncount(c);
}

/* What the mmap() or mprotect() in R0 asks for: pages that may be written and executed are noted, and mprotect() ends
 * here if no executable page went. R0 stays, R1 and R2 change; AT_READ = the rights that are asked for. */
static void code_take_request(struct code *c, const struct facts *f)
{
	const int pages = offsetof(struct img_generation, exec_pages), plain = offsetof(struct img_generation, plain);
	uint32_t asks[2], protect, over;

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
	code_range(c, f);
	code_uncount(c);
	PUT(I_JUMP(-1));
	code_land(c, protect);
	code_land(c, over);
}

/* What munmap() unmapped, and what the heap is after brk(). R6 = the program's context; R7 and R8 stay. */
static void code_tell_place(struct code *c, const struct facts *f)
{
	uint32_t other, heap, told;

	code_call(c, f);
	heap = code_jump(c, I_JMP_IMM(JEQ, R0, SYS_brk, 0));
	other = code_jump(c, I_JMP_IMM(JNE, R0, SYS_munmap, 0));
	PUT(I_STORE_IMM(W, R10, AT_PLACED, K_TOLD_GONE));
	code_read(c, AT_PLACED + 4, 8, R9, f->argument[0]);
	code_read(c, AT_PLACED + 12, 8, R9, f->argument[1]);
	told = code_jump(c, I_JUMP(0));
	code_land(c, heap);
	PUT(I_STORE_IMM(W, R10, AT_PLACED, K_TOLD_HEAP), I_LOAD(DW, R9, R10, AT_KEY));
	code_read(c, AT_PLACED + 4, 8, R9, f->start_brk);
	code_read(c, AT_PLACED + 12, 8, R9, f->brk);
	code_land(c, told);
	PUT(I_CALL(ktime_get_ns), I_STORE(DW, R10, AT_PLACED_TIME, R0));
	generation_emit(c, f, AT_PLACED, sizeof(struct k_placed));
	code_land(c, other);
}

/* The lock of the space in R8, which has R7 executable pages now, is released. */
static void on_lock_released(struct code *c, const struct facts *f)
{
	const int pages = offsetof(struct img_generation, exec_pages), plain = offsetof(struct img_generation, plain),
		  from = offsetof(struct img_generation, uncounted_from),
		  to = offsetof(struct img_generation, uncounted_to);
	uint32_t begin[5], nbegin = 0;

	PUT(I_MOV_REG(R6, R1), I_LOAD(DW, R7, R1, 0), I_STORE(DW, R10, AT_KEY, R7));
	code_find(c, f);
	LEAVE_IF(JEQ, R0, 0);
	PUT(I_MOV_REG(R8, R0));
	code_read(c, AT_PAGES, 8, R7, f->exec_vm);
	PUT(I_LOAD(DW, R7, R10, AT_PAGES));
	if (f->calls && f->data)
		code_tell_place(c, f);
	if (f->calls) {
		uint32_t reading[2], writing, unmapping[2], apart[5], over;

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
		code_uncount_moved(c);
		PUT(I_LOAD(W, R0, R10, AT_CALL));
		code_land(c, over);

		code_take_request(c, f);

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
		over = code_jump(c, I_JMP_IMM(JNE, R0, SYS_mremap, 0));
		PUT(I_LOAD(W, R1, R10, AT_MOVED + offsetof(struct k_moved, argument[3])),
		    I_ALU_IMM(AND, R1, MREMAP_FIXED));
		begin[nbegin++] = code_jump(c, I_JMP_IMM(JNE, R1, 0, 0));
		code_land(c, over);
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
	code_own_place(c, f, 1);
	PUT(I_STORE(DW, R2, offsetof(struct img_space, began_ns), R0));
	generation_emit(c, f, AT_UNMAPPED, sizeof(struct k_unmapped));
	if (f->calls)
		code_uncount_mapped(c, f);
}

/* The space in AT_KEY and R7 begins its first generation, with what is in AT_FROM and AT_TO; plain: it has no pages
 * that may be written and executed. */
static void code_first(struct code *c, const struct facts *f, bool plain, int flags)
{
	uint32_t kept;

	code_read(c, AT_PAGES, 8, R7, f->exec_vm);
	PUT(I_CALL(ktime_get_ns), I_STORE(DW, R10, AT_VALUE, R0), I_STORE(DW, R10, AT_LOCKED, R0),
	    I_STORE_IMM(DW, R10, AT_PLAIN, plain));
	code_keep(c, f, flags);
	kept = code_jump(c, I_JMP_IMM(JEQ, R0, 0, 0));
	code_own_place(c, f, 2); /* another thread was first */
	PUT(I_LOAD(DW, R1, R10, AT_VALUE), I_STORE(DW, R2, offsetof(struct img_space, began_ns), R1), I_JUMP(-1));
	code_land(c, kept);
	code_take_place(c, f, 2);
	PUT(I_LOAD(DW, R1, R10, AT_VALUE), I_STORE(DW, R2, offsetof(struct img_space, began_ns), R1));
}

/* The same of the space of the task in R6. */
static void code_begin(struct code *c, const struct facts *f, bool plain)
{
	code_read(c, AT_KEY, 8, R6, f->mm);
	PUT(I_LOAD(DW, R7, R10, AT_KEY));
	LEAVE_IF(JEQ, R7, 0);
	code_first(c, f, plain, MAP_ANY);
}

/* The parent, whose memory R7 the new process has as well, goes on; R6 = the program's context. */
static void code_share(struct code *c, const struct facts *f)
{
	const int began = offsetof(struct img_generation, began_ns);
	uint32_t unknown;

	PUT(I_STORE_IMM(W, R10, AT_SHARED, K_TOLD_SHARED), I_CALL(ktime_get_ns), I_STORE(DW, R10, AT_TIME, R0));
	generation_emit(c, f, AT_SHARED, sizeof(struct k_shared));
	code_find(c, f);
	unknown = code_jump(c, I_JMP_IMM(JEQ, R0, 0, 0));
	PUT(I_MOV_REG(R8, R0), I_LOAD(DW, R9, R8, began), I_CALL(ktime_get_ns), I_MOV_REG(R1, R0), I_MOV_REG(R0, R9),
	    I_CMPXCHG(DW, R8, began, R1));
	code_own_place(c, f, 2);
	PUT(I_MOV_REG(R0, R9), I_CMPXCHG(DW, R2, offsetof(struct img_space, began_ns), R1), I_JUMP(-1));
	code_land(c, unknown);
	PUT(I_STORE_IMM(DW, R10, AT_FROM, 0), I_STORE_IMM(DW, R10, AT_TO, 0));
	code_first(c, f, false, MAP_NOEXIST);
	PUT(I_JUMP(-1));
}

static void on_fork(struct code *c, const struct facts *f)
{
	uint32_t own;

	PUT(I_MOV_REG(R9, R1), I_LOAD(DW, R7, R1, 0), I_LOAD(DW, R6, R1, 8));
	code_read(c, AT_READ, 4, R7, f->tgid);
	PUT(I_LOAD(DW, R8, R10, AT_READ));
	code_read(c, AT_READ, 4, R6, f->tgid);
	PUT(I_LOAD(DW, R1, R10, AT_READ), I_JMP_REG(JEQ, R1, R8, -1)); /* a thread */
	code_read(c, AT_KEY, 8, R7, f->mm);
	code_read(c, AT_READ, 8, R6, f->mm);
	PUT(I_LOAD(DW, R8, R10, AT_KEY), I_LOAD(DW, R1, R10, AT_READ));
	own = code_jump(c, I_JMP_REG(JNE, R1, R8, 0));
	LEAVE_IF(JEQ, R8, 0);
	PUT(I_MOV_REG(R6, R9), I_MOV_REG(R7, R8));
	code_share(c, f);
	code_land(c, own);
	PUT(I_STORE_IMM(DW, R10, AT_FROM, 0), I_STORE_IMM(DW, R10, AT_TO, 0));
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
	PUT(I_LOAD(DW, R6, R1, 0), I_STORE(DW, R10, AT_KEY, R6));
	code_own_place(c, f, 3);
	PUT(I_STORE_IMM(DW, R2, offsetof(struct img_space, began_ns), 0), I_MOV_IMM(R3, IMG_SPACE_NONE),
	    I_XCHG(DW, R2, offsetof(struct img_space, mm), R3));
	PUT(MAP(R1, f->spaces), AT(R2, AT_KEY), I_CALL(map_delete_elem));
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

/* ---- this kernel ---------------------------------------------------------------- */

/* Which argument of a tracepoint is its first _Bool; -1: there is none, or no such tracepoint. */
static int16_t first_bool(const struct k_btf *btf, const char *tracepoint)
{
	const struct btf_type *t = k_btf_type(btf, k_btf_find_kind(btf, tracepoint, BTF_KIND_TYPEDEF));

	if (!t || !(t = k_btf_type(btf, t->type)) || !btf_is_ptr(t) || !(t = k_btf_type(btf, t->type)) ||
	    !btf_is_func_proto(t))
		return -1;
	for (uint16_t i = 1; i < btf_vlen(t); i++) { /* argument 0 is the kernel's own */
		const struct btf_type *arg = k_btf_type(btf, btf_params(t)[i].type);

		while (arg && (btf_is_mod(arg) || btf_is_typedef(arg)))
			arg = k_btf_type(btf, arg->type);
		if (arg && btf_is_int(arg) && btf_int_encoding(arg) & BTF_INT_BOOL)
			return (int16_t)(i - 1);
	}
	return -1;
}

/* -1: this kernel has no such register. */
static int32_t register_at(const struct k_btf *btf, const struct register_place *r)
{
	int64_t at = btf_field(btf, "pt_regs", r->field);

	return at < 0 ? -1 : (int32_t)at + r->more;
}

static bool facts_find(struct facts *f, const struct k_btf *btf)
{
	f->exec_vm = (int32_t)btf_field(btf, "mm_struct", "exec_vm");
	f->mm = (int32_t)btf_field(btf, "task_struct", "mm");
	f->tgid = (int32_t)btf_field(btf, "task_struct", "tgid");
	f->start_brk = (int32_t)btf_field(btf, "mm_struct", "start_brk");
	f->brk = (int32_t)btf_field(btf, "mm_struct", "brk");
	f->call = register_at(btf, &register_of_call);
	f->calls = f->call >= 0;
	for (int i = 0; i < CALL_ARGUMENTS; i++)
		f->calls &= (f->argument[i] = register_at(btf, &register_of_argument[i])) >= 0;
	f->acquired_write = first_bool(btf, "btf_trace_mmap_lock_acquire_returned");
	f->released_write = first_bool(btf, "btf_trace_mmap_lock_released");
	return f->exec_vm >= 0 && f->mm >= 0 && f->tgid >= 0 && f->start_brk >= 0 && f->brk >= 0 &&
	       f->acquired_write > 0 && f->released_write > 0;
}

static int watcher_load(const struct watcher *w, const struct facts *f)
{
	struct code c = { 0 };

	w->program(&c, f);
	code_end(&c);
	return bpf_prog_load(BPF_PROG_TYPE_RAW_TRACEPOINT, "generation", "Dual MIT/GPL",
			     (const struct bpf_insn *)(const void *)c.ins, c.n, NULL);
}

/* Programs at their tracepoints: descriptors that hold both. When a program has just left a tracepoint, the kernel lets
 * no other one come to any before a grace period has passed, which may take 10 ms: so all that can be done before is
 * done before. */
static bool watchers_attach(int link[COUNT(watchers)], const struct facts *f)
{
	int prog[COUNT(watchers)];
	bool good = true;

	for (uint32_t i = 0; i < COUNT(watchers); i++)
		good = (prog[i] = good ? watcher_load(&watchers[i], f) : -1) >= 0;
	for (uint32_t i = 0; good && i < COUNT(watchers); i++)
		good = (link[i] = bpf_raw_tracepoint_open(watchers[i].tracepoint, prog[i])) >= 0;
	for (uint32_t i = 0; i < COUNT(watchers); i++)
		if (prog[i] >= 0)
			close(prog[i]);
	return good;
}

bool k_tells_types(void)
{
	return access(KERNEL_TYPES, R_OK) == 0;
}

/* ---- beside the loading of the script's programs ------------------------------------ */

/* Of the thread that starts the watch until it is joined, then of the run's owner. */
struct generations {
	pthread_t thread;
	bool running;
	struct facts f;
	struct k_tasks *tasks;     /* the run's when joined */
	int link[COUNT(watchers)]; /* programs at their tracepoints; -1: none */
	int rc;                    /* of opening tasks */
	struct err why;
};

static void generations_detach(struct generations *g)
{
	for (uint32_t i = 0; i < COUNT(g->link); i++) {
		if (g->link[i] >= 0)
			close(g->link[i]);
		g->link[i] = -1;
	}
}

static void *generations_start(void *arg)
{
	struct generations *g = arg;
	struct k_btf btf = { 0 };
	bool good;

	g->rc = k_tasks_open(&g->tasks, g->f.data, &g->why);
	good = g->rc == 0 && k_btf_open(&btf, KERNEL_TYPES, NULL) == 0 && facts_find(&g->f, &btf) &&
	       (g->f.output = k_tasks_output(g->tasks)) >= 0;
	k_btf_close(&btf);
	if (!good || !watchers_attach(g->link, &g->f))
		generations_detach(g);
	return NULL;
}

int generations_begin(struct k_run *k, struct err *e)
{
	struct facts f = { .spaces = -1, .places = -1, .output = -1, .data = k->data };
	struct generations *g;
	sigset_t all, before;

	for (uint32_t i = 0; i < k->nmaps; i++) {
		if (k->map[i].use == IMG_GENERATIONS)
			f.spaces = k->map[i].fd;
		if (k->map[i].use == IMG_SPACES)
			f.places = k->map[i].fd;
	}
	if (f.spaces < 0 || f.places < 0)
		return 0;
	k->generations = g = mem_alloc(sizeof(*g));
	if (!g)
		return err_oom(e);
	g->f = f;
	for (uint32_t i = 0; i < COUNT(g->link); i++)
		g->link[i] = -1;
	sigfillset(&all); /* signals are for the thread that waits for them */
	pthread_sigmask(SIG_SETMASK, &all, &before);
	g->running = pthread_create(&g->thread, NULL, generations_start, g) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (!g->running)
		generations_start(g);
	return 0;
}

int generations_join(struct k_run *k, struct err *e)
{
	struct generations *g = k->generations;

	if (g->running)
		pthread_join(g->thread, NULL);
	g->running = false;
	k->tasks = g->tasks;
	return g->rc < 0 ? err_set(e, (enum tally_err) - g->rc, "%s", g->why.text) : 0;
}

bool k_task_generations(const struct k_run *k)
{
	return k->generations && k->generations->link[0] >= 0;
}

void generations_close(struct k_run *k)
{
	struct err ignored = { 0 };

	if (!k->generations)
		return;
	(void)generations_join(k, &ignored);
	generations_detach(k->generations);
	mem_free(k->generations);
	k->generations = NULL;
}
