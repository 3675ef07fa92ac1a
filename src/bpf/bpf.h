/*
 * bpf: a typed D program to BPF instructions, a disassembler for them, and the
 * vm that runs them in user space.
 *
 * An *image* is all that a program needs to run anywhere: instructions, map
 * definitions, and for each instruction its line of D.  It names maps by
 * index; the loader (kernel/ over file descriptors, the vm over memory) puts
 * its own handles in their place.  Opens no file descriptor and includes no
 * Linux header: the numbers below are the BPF instruction set's and are held
 * against linux/bpf.h in kernel/.
 */
#ifndef TALLY_BPF_H
#define TALLY_BPF_H

#include "base/base.h"
#include "dlang/dlang.h"
#include "facts/syscall.h"

/* as struct bpf_insn; little-endian field order */
struct bpf_ins {
	uint8_t code;
	uint8_t dst : 4, src : 4;
	int16_t off;
	int32_t imm;
};
static_assert(sizeof(struct bpf_ins) == 8, "BPF instruction set 3.1");

/* ld_imm64 pseudo sources: src field. imm is an index into the image's maps
 * (second instruction's imm: offset into the value for MAP_VALUE). */
enum { INS_SRC_NONE = 0, INS_SRC_MAP = 1, INS_SRC_MAP_VALUE = 2 };

enum img_map_type {
	IMG_ARRAY,
	IMG_PERCPU_ARRAY,
	IMG_HASH,
	IMG_PERCPU_HASH,
	IMG_STACK_TRACE,
	IMG_RINGS,
	IMG_RINGBUF,
	IMG_PROGS,
	IMG_EVENTS,      /* a perf event of each CPU */
	IMG_TASK_STORAGE /* a value for each thread, which ends with it */
};

enum img_map_use {
	IMG_CTL,     /* ARRAY 1 x struct img_ctl */
	IMG_GLOBALS, /* ARRAY of 1: all global variables */
	/* PERCPU_ARRAY: [0] perf and record programs, [1] test-run programs, [2] those of system calls, [3 + n] program
	 * n at a tracepoint */
	IMG_SCRATCH,
	IMG_DROPS,   /* PERCPU_ARRAY of struct img_drops, one for each program in the order of prog[] */
	IMG_RING,    /* RINGS: one ring per CPU */
	IMG_CONTROL, /* RINGBUF: the control ring */
	IMG_VAR,     /* HASH: d_program.var[id] */
	IMG_AGG,     /* PERCPU_HASH, or PERCPU_ARRAY of 1 when key_size is 0: d_program.agg[id] */
	/* PERCPU_HASH whose memory is there from the start: keys of agg[id] for which there was none;
	 * added to IMG_AGG's */
	IMG_SPARE,
	IMG_STACKS,      /* STACK_TRACE: u32 id -> frames */
	IMG_LONG_STACKS, /* HASH: u64 (without STACK_ID_*) -> frames; those that collided */
	IMG_GENERATIONS, /* HASH: u64 struct mm_struct * -> struct img_generation */
	IMG_SPACES,      /* ARRAY of 1: struct img_space[IMG_SPACES_N] */
	IMG_PARTS,       /* PROGS: part[] by its index, those of group id alone */
	IMG_SPECS,       /* ARRAY of 1: struct img_spec[nspec] */
	IMG_COUNTER,     /* EVENTS: d_program.counter[id], read by counter() */
	IMG_VCOUNTER,    /* the same, read by vcounter() */
	IMG_THREADS,     /* TASK_STORAGE: struct img_thread_count[], of d_program.counter[] */
	IMG_TIMES,       /* TASK_STORAGE: struct img_thread_time */
	IMG_DISPATCH,    /* ARRAY of 1 x struct img_dispatch */
	/* ARRAY of 1: for each number of a system call its probe and epids; of class id. Of places: for each cookie */
	IMG_CALLS,
	/* PERCPU_ARRAY of 1: a word for each part of scratch memory that programs of places share: it is taken */
	IMG_BUSY,
	IMG_SELF,             /* TASK_STORAGE: variables of a thread (cg_self.c) */
	IMG_UNWIND_PROCESSES, /* HASH: u32 process id -> u32 index of its img_unwind_space */
	IMG_UNWIND_SPACES,    /* ARRAY of struct img_unwind_space */
	IMG_UNWIND_ROWS,      /* ARRAY of chunks: u64[IMG_UNWIND_CHUNK] */
	IMG_UNWIND_RULES,     /* ARRAY of 1: struct img_unwind_rule[IMG_UNWIND_RULES_N] */
	IMG_UNWIND_WANTED,    /* ARRAY of 1: struct img_unwind_wanted */
	IMG_WAITS,            /* HASH whose memory is there from the start: struct img_wait_key -> struct img_wait */
};
struct img_map {
	uint8_t type, use;
	uint32_t id;                                /* VAR and AGG: which */
	char name[16];                              /* letters, digits, '_' */
	uint32_t key_size, value_size, max_entries; /* RINGS, RINGBUF: max_entries = bytes of a ring, a power of two */
	/* CALLS: what it starts with, of the image's arena: value_size bytes, or the rows of img_rows that
	 * are filled in */
	void *init;
};

/* Shared words, mapped or looked up as one value. */
struct img_ctl {
	uint64_t exited;               /* 1 once exit() ran */
	int64_t status;                /* its argument */
	uint64_t wall_offset_ns;       /* set before the start: CLOCK_REALTIME - CLOCK_MONOTONIC */
	uint64_t pidns_dev, pidns_ino; /* set before the start, when pid_ns: the tracer's pid namespace */
	uint64_t zero;                 /* stays 0: what it is added to is unknown to the verifier */
};
struct img_drops {                 /* per CPU */
	uint64_t records;          /* ring full */
	uint64_t aggs;             /* aggregation map full or busy */
	uint64_t dynvars;          /* variable map full or busy */
	uint64_t stacks;           /* stack could not be kept */
	uint64_t firings;          /* programs run to an event (perf programs only) */
	uint64_t spec_busy;        /* speculation() found none that is free, but one that soon is */
	uint64_t spec_unavailable; /* nor such a one */
	uint64_t slices;           /* times that a thread was on a CPU, of which vcounter() does not know the whole */
	uint64_t waits;            /* for locks, whose beginning could not be written down */
};
/*
 * A speculation: who takes records for it counts them first and then looks whether it is ACTIVE, so that when it is no
 * longer, the number of records that the reader will still get is known.  commit() and discard() end it once; the
 * reader frees it when all its records came.
 */
enum { SPEC_FREE, SPEC_ACTIVE, SPEC_COMMITTED, SPEC_DISCARDED };
struct img_spec {
	uint64_t state;
	/* that were or will be handed over, of all speculations that had this number; none counts twice */
	uint64_t records;
};
/* What vcounter() knows of one counter of a thread (kernel/thread_count.c). A thread that was ever switched out without
 * being seen has more switches than are written here. */
enum { THREAD_UNKNOWN, THREAD_ON_CPU, THREAD_OFF_CPU, THREAD_CHANGING };
struct img_thread_count {
	uint64_t state;    /* enum above */
	uint64_t switches; /* times that it left a CPU, when it was last seen */
	uint64_t base;     /* ON_CPU: what the CPU had counted then */
	uint64_t sum;      /* before that */
	uint64_t asked;    /* 1: its vcounter() was read ... */
	uint64_t lost;     /* ... and until then: slices that img_drops will count when it is */
};
/* What vtimestamp knows of a thread: how it stood when the thread came to its CPU (kernel/thread_count.c). */
struct img_thread_time {
	uint64_t switches;  /* times that it had left a CPU */
	uint64_t began_ns;  /* when that was; 0: it has not been seen */
	uint64_t booked_ns; /* CPU time that the scheduler had booked for it: exact at that moment */
	/* what the CPU's clock of threads was behind its clock: time of interrupts and of the hypervisor */
	uint64_t stolen_ns;
	uint64_t last_ns; /* the latest vtimestamp */
};
/* A thread that waits for a lock, from the tracepoint contention_begin (kernel/lock_wait.c) to contention_end
 * (cg_wait.c). It may sleep and spin in turn, and the kernel tells of each turn. */
struct img_wait_key {
	uint64_t task, lock; /* addresses */
};
enum {
	IMG_LOCK_SPIN = 1,
	IMG_LOCK_READ = 2,
	IMG_LOCK_WRITE = 4,
	IMG_LOCK_RT = 8,
	IMG_LOCK_PERCPU = 16,
	IMG_LOCK_MUTEX = 32
}; /* LCB_F_* */
struct img_wait {
	uint64_t since_ns; /* when the turn began */
	uint64_t flags;    /* IMG_LOCK_*, of the turn */
	uint64_t turns;    /* bit IMG_LOCK_SPIN: it spun; bit 0: it slept */
	uint64_t ns[2];    /* the same as indexes: how long, in the turns before this one */
};
/* Where the kernel's functions that lead from a tracepoint to its programs begin and end, in turn and in order; then
 * all bits are 1. */
enum { DISPATCH_MOST = 8192, DISPATCH_FRAMES = 3 };
struct img_dispatch {
	uint64_t at[DISPATCH_MOST];
	/* What was found last of each frame: addresses inside such a function, and outside. A program writes each as
	 * one word. */
	uint64_t inside[DISPATCH_FRAMES], outside[DISPATCH_FRAMES];
};
/* The mappings of a process, as kernel/generation.c watches them. */
struct img_generation {
	uint64_t began_ns;   /* slot.h; first, for programs */
	uint64_t exec_pages; /* that were mapped executable when last seen */
	uint64_t locked_ns;  /* when somebody last began to change them */
	uint64_t plain;      /* 1: since its exec no pages could be written and executed, which aren't in exec_pages */
	uint64_t uncounted_from,
		uncounted_to; /* where mprotect(2) made pages of code that aren't in exec_pages; to 0: nowhere */
};
/*
 * The generations again, where a program reads them without a look-up: an address space has the place that
 * IMG_SPACE_PLACE() tells, if that was free when it came to be known; a place that was ever taken is never 0 again, so
 * 0 says that none of its spaces is known. A place changes hands only after its space ended, so a firing finds its own
 * space there for as long as it runs, or never.
 */
struct img_space {
	uint64_t mm;       /* whose place it is */
	uint64_t began_ns; /* as in struct img_generation; 0 while nobody's */
};
static_assert(sizeof(struct img_space) == 1 << 4, "IMG_SPACE_PLACE() counts on it");
#define IMG_SPACE_NONE 1u  /* mm: it was somebody's */
#define IMG_SPACES_BITS 14 /* 256 KiB */
#define IMG_SPACES_N (1u << IMG_SPACES_BITS)
/* reg = where the place of the space begins whose address's low half is in reg: three instructions. */
#define IMG_SPACE_PLACE(reg) \
	I_ALU32_IMM(MUL, reg, 0x9e3779b1), I_ALU32_IMM(RSH, reg, 32 - IMG_SPACES_BITS), I_ALU_IMM(LSH, reg, 4)

/*
 * How stacks without frame pointers are walked (cg_unwind.c). A row of a chunk is a place in code, in the high half,
 * and the number of the rule that holds from there on; rows are in order, and behind the last all bits but the highest
 * are 1. A range of addresses of a process leads to a chunk: the place is the address, less the range's start, plus its
 * delta.
 */
enum {
	IMG_UNWIND_CHUNK = 4096,     /* rows; 4095 are used */
	IMG_UNWIND_RANGES = 1024,    /* of a process; 1023 are used */
	IMG_UNWIND_RULES_N = 16384,  /* different ones */
	IMG_UNWIND_PROCESSES_N = 512 /* at a time */
};
#define IMG_UNWIND_NO_ROWS UINT32_MAX /* chunk: nothing is known of this code, or there is none */
#define IMG_UNWIND_BY_POINTER \
	(UINT32_MAX - 1)         /* chunk: code of a file without tables, or of none: it may keep frame pointers */
#define IMG_UNWIND_END INT64_MAX /* a row or a range's start: there are no more */
struct img_unwind_range {
	uint32_t chunk, delta;
};
struct img_unwind_space {
	uint64_t changed;  /* another number whenever it is made anew; 0 meanwhile */
	uint64_t as_of_ns; /* it holds for generations that began no later */
	uint64_t start[IMG_UNWIND_RANGES];
	struct img_unwind_range range[IMG_UNWIND_RANGES];
};
enum img_unwind_cfa {
	UNWIND_CFA_UNKNOWN,
	UNWIND_CFA_SP,
	UNWIND_CFA_FP,
	UNWIND_CFA_AT_SP,
	UNWIND_CFA_AT_FP,
	UNWIND_CFA_PLT,
	UNWIND_CFA_POINTER /* there is no rule: as IMG_UNWIND_BY_POINTER */
};
enum img_unwind_ra { UNWIND_RA_END, UNWIND_RA_AT_CFA, UNWIND_RA_AT_SP, UNWIND_RA_LINK };
enum img_unwind_fp { UNWIND_FP_SAME, UNWIND_FP_AT_CFA, UNWIND_FP_AT_SP, UNWIND_FP_UNKNOWN };
struct img_unwind_rule {
	int32_t cfa, ra, fp; /* offsets; PLT: from which byte of an entry on the stack has a word more */
	uint8_t cfa_kind;    /* CFA = sp or fp + offset, or the word there */
	uint8_t ra_kind;     /* the return address: where, or the link register */
	uint8_t fp_kind;     /* where the caller's frame pointer is */
	uint8_t flags;
};
enum {
	UNWIND_PAIR = 1, /* the return address lies behind the frame pointer: or, of a SIGNAL, the link register does */
	UNWIND_SIGNAL = 2 /* the caller was interrupted there: its address is no return address */
};
static_assert(sizeof(struct img_unwind_rule) == 16, "programs count on it");
/* Processes of which nothing is known, as programs ask for them: each where its hash says. */
struct img_unwind_wanted {
	uint32_t pid[1024];
};
/* A frame that is none: the stack goes on, but nobody knows where. */
#define IMG_FRAME_CUT 1u

/* What runs a program: a perf event; a test run of a raw tracepoint program; in the vm alone, a record: its context is
 * the record's bytes, of which the first eight are arg0; in the kernel alone, a system call that begins or ends: one
 * program for all probes of the class; or a tracepoint of the kernel; or a place in a process, again one program for
 * all of a class: a function that begins or ends, or an instruction, where arguments are operands. */
enum img_class {
	IMG_PERF,
	IMG_TEST,
	IMG_RECORD,
	IMG_ENTRY,
	IMG_RETURN,
	IMG_POINT,
	IMG_USER_ENTRY,
	IMG_USER_RETURN,
	IMG_USER_PLACE
};

struct img_reloc {
	uint32_t ins;
	const char *type, *field;
}; /* byte offset of field in kernel struct type is added to imm of ins; of a load, to its offset */
/* A function behind the program's own instructions. With arguments (each the address of arg_bytes[n] bytes) it has
 * global linkage, which the verifier walks once for all calls; without it is a callback of bpf_loop(). */
enum { IMG_FUNCS_MOST = 16 };
struct img_func {
	uint32_t ins;
	uint8_t nargs;
	uint32_t arg_bytes[3];
};
struct img_prog {
	uint32_t probe; /* id; IMG_ENTRY and IMG_RETURN: of the first */
	uint8_t cls;    /* enum img_class */
	uint32_t point; /* IMG_POINT: which of the probe's */
	uint8_t at;     /* IMG_POINT: enum bpf_point_at */
	/* IMG_POINT: tracepoint or function with whose types the kernel checks it; NULL: with none */
	const char *typed;
	const char *module; /* of the function; NULL: the kernel proper */
	bool may_fail;      /* the kernel may refuse it: it is left out then */
	uint32_t group;     /* of parts that tail calls reach through one map: its id */
	char name[16];
	struct bpf_ins *ins;
	uint32_t *line; /* D line of each instruction, 0 = glue */
	uint32_t nins;
	struct img_reloc *reloc;
	uint32_t nrelocs;
	struct img_func func[IMG_FUNCS_MOST]; /* in the order of their first instructions */
	uint32_t nfuncs;
	uint32_t stack_bytes;
};

/* The table of a program of many probes (IMG_CALLS): a row for each, whose parts cg_call.c tells. Of places, rows may
 * be added while it runs: bpf_row_add(). */
struct img_rows {
	uint8_t cls;
	uint32_t map;     /* of map[] */
	uint32_t n, most; /* rows of places that are filled in, and that there is room for */
	uint32_t bytes;   /* of a row */
	struct {
		uint32_t off, bytes; /* bytes 0: the row has no such text */
	} text[BS_PROBENAME + 1];
	uint32_t digits; /* where it says how long the provider's name is before the process id; 0: nowhere */
	uint32_t operands, noperands;
	uint32_t *clause, nclauses; /* of the program, in the order of a row's epids */
};

/* One enabled clause of one probe; its number in the array, from 1, is the epid. */
struct img_epid {
	uint32_t probe, clause;
};

struct bpf_image {
	struct img_map *map;
	uint32_t nmaps;
	struct img_prog *prog;
	uint32_t nprogs;
	struct img_prog *part;
	uint32_t nparts; /* what did not fit into a program: reached by tail calls only */
	struct img_epid *epid;
	uint32_t nepids, cap_epids; /* [0] unused */
	struct img_rows *rows;      /* of programs of places that have room for more */
	uint32_t nrows;
	uint32_t globals_size;
	void *globals_init; /* globals_size bytes */
	struct arena arena;
};

/* Where the kernel keeps what a program gave it: offsets in struct pt_regs, and in struct task_struct. */
struct bpf_calls {
	uint8_t abi, compat_abi; /* enum syscall_abi */
	bool has_compat;         /* the numbers of programs of 32 bits are known */
	int16_t number, arg[6];  /* number: 4 bytes; arguments: 8 */
	int16_t compat_arg[6];   /* 4 bytes */
	int16_t compat;          /* of task_struct: 4 bytes, in which this bit tells programs of 32 bits */
	uint8_t compat_bit;
};
/* What else must hold at a tracepoint: a word of its context, or a field of the struct of the kernel that it points to,
 * or of the struct that this field points to. Signed, unless the word itself is compared. */
enum bpf_test {
	WHEN_EQ,
	WHEN_NE,
	WHEN_LT,
	WHEN_GE,
	WHEN_ABOVE, /* > as of unsigned numbers */
	WHEN_SET,   /* one of these bits is 1 */
	WHEN_CLEAR, /* none is */
	WHEN_IN,    /* bit number x of these is 1 */
	/* The word is an sk_buff that holds a packet of IP, of that protocol (0: of any): as it is when the packet is
	 * sent, or was received. */
	WHEN_SENT,
	WHEN_RECEIVED
};
enum { POINT_RESULT = 15 }; /* as a word, of POINT_RETURN: what the function returned */
struct bpf_when {
	uint8_t word;
	struct {
		const char *type, *field; /* NULL: no more steps */
	} at[2];
	uint8_t bytes; /* of what is compared; 0: 8 */
	uint8_t test;  /* enum bpf_test */
	int32_t value;
};
/* At contention_end: what the thread did until it had the lock, and which kind of lock that is. */
enum bpf_wait { WAIT_NONE, WAIT_MUTEX_BLOCK, WAIT_MUTEX_SPIN, WAIT_SPINLOCK, WAIT_RW_BLOCK, WAIT_RW_SPIN };
/* A tracepoint of the kernel, whose context is a word for each argument; or a function of it that is called or
 * returns. */
enum bpf_point_at { POINT_TRACEPOINT, POINT_ENTRY, POINT_RETURN };
struct bpf_point {
	const char *name;
	uint8_t at;         /* enum bpf_point_at */
	const char *module; /* of a function; NULL: the kernel proper */
	bool has_result;    /* POINT_RETURN: it returns something */
	bool by_pattern;    /* nobody asked for it in particular: it is left out when the kernel refuses it */
	/* at least; POINT_RETURN: 0: arg1 is the result; else they are those of the call (fexit alone has them) */
	uint8_t nargs;
	uint8_t constant_at; /* that word, behind them, is `constant`: which of the points it was; 0: none */
	int32_t constant;
	const char *in_call; /* it fires in this system call only */
	uint8_t call_args;   /* 1 + n: it is the beginning of a call, and arg0 is the call's argument n */
	uint8_t subject;     /* 1 + n: word n is the task_struct of the thread that it is about; 0: the current one */
	uint8_t wait;        /* enum bpf_wait: arg1 is the time that was waited, arg2 1 of a reader */
	struct bpf_when when[3];
	uint8_t nwhen;
};
/* Where a program of a place finds the registers of its process: offsets in its context. */
struct bpf_regs {
	int16_t arg[8], result, sp, pc, fp, lr; /* arg: of a function's first arguments; lr 0: calls push the address */
	uint8_t nargs;                          /* how many those are */
	uint8_t stack_args;                     /* the next ones lie so many bytes above sp when the function begins */
};
/* Where an argument of a probe lies: a number, a register, or memory at base + (index << shift) + value. */
enum { OPERAND_NONE, OPERAND_CONST, OPERAND_REG, OPERAND_MEM, OPERAND_MEM_INDEX };
enum { OPERANDS_MOST = 10 };
struct bpf_operand {
	uint8_t kind;
	uint8_t bytes; /* of the argument: 1, 2, 4 or 8 */
	bool is_signed;
	uint8_t shift;
	int16_t reg, index; /* offsets in the context */
	int64_t value;
};
/* A place in a process; a probe may have several. */
struct bpf_place {
	const struct bpf_place *next;
	struct bpf_operand operand[OPERANDS_MOST];
	uint8_t noperands;
};
/* What generated code must know about the machine that will run it. */
struct bpf_arch {
	const char *name;
	int16_t pc_offset;   /* byte offset of the PC in the perf program's context */
	int16_t data_offset; /* the same of the address of the data that the event is about, where it has one */
	const struct bpf_calls *calls; /* NULL: not known */
	const struct bpf_regs *regs;   /* NULL: not known */
};
extern const struct bpf_arch bpf_arch_x86_64, bpf_arch_aarch64, bpf_arch_riscv64;
extern const struct bpf_arch bpf_arch_vm; /* the vm: a context of 8 bytes, the PC */

/* what it must know about a probe */
struct bpf_probe {
	uint32_t id;
	uint8_t cls; /* enum img_class */
	const char *prov, *mod, *func, *name;
	bool has_data;                  /* arg2 is the address of data, else zero */
	bool has_pc;                    /* arg0 / arg1 are the PC; else BEGIN, END, tick: zero */
	uint8_t more_args;              /* IMG_RECORD: words behind the first that are arg1, arg2 ... */
	const struct syscall_row *call; /* IMG_ENTRY, IMG_RETURN */
	const struct bpf_point *point;  /* IMG_POINT: a program for each */
	uint32_t npoints;
	uint32_t pid; /* IMG_USER_*: of which process; 0: of whichever, and prov ends in a star for its id */
	/* the cookies of its places are cookie, cookie + 1 ... in each class for itself */
	const struct bpf_place *place;
	uint32_t cookie;
	bool is_later; /* IMG_USER_*: it never fires itself, and its class has room for ROWS_LATER places more */
};
enum { ROWS_LATER = 8192 };
enum { PROBEPROV_DIGITS = 8 }; /* room for a process id behind the name of a provider: PID_MAX_LIMIT has seven */

#define SPECS_MOST 65535u
struct bpf_opts {
	const struct bpf_arch *arch;
	const struct bpf_probe *probe;
	uint32_t nprobes;     /* all that clauses refer to */
	uint32_t error_probe; /* id of dtrace:::ERROR, its clauses are built into every program; 0 = none */
	uint32_t ring_bytes, control_bytes; /* of a CPU's ring, of the control ring; powers of two */
	uint32_t agg_entries, dynvar_bytes, stack_entries;
	uint32_t nspec; /* speculations at a time, at most SPECS_MOST */
	uint32_t ustackframes, stackframes;
	bool generations;       /* somebody watches mappings and fills IMG_GENERATIONS; else all are 0 */
	bool unwind;            /* ustack() is walked by tables (cg_unwind.c); with generations alone */
	uint32_t unwind_chunks; /* there is room for */
	uint64_t pc_bits;       /* of a return address that are one; 0: all */
	bool one_cpu;           /* events of other CPUs than `cpu` fire nothing */
	uint32_t cpu;
	bool follow_forks; /* IMG_USER_*: what the process forked is meant, too; not with pid_ns */
	bool pid_ns;       /* translate pid/tid through the namespace in img_ctl */
	bool sums;         /* histograms keep the sum of their values, too */
	bool errtags;      /* refusals carry their tag */
	bool temporal;     /* records carry their time, so that those of several CPUs can be put in order */
	/* functions of the kernel are reached by kprobes, whose context is registers; else by fentry and fexit */
	bool by_kprobe;
};

/* Generates code for every probe that has clauses.  -TALLY_ENOMEM, -TALLY_ENOTSUP with words in e
 * ("line 3: this clause needs 600 bytes of ...").  *ret owns its memory. */
int bpf_generate(const struct d_program *p, const struct bpf_opts *o, struct bpf_image **ret, struct err *e);
void bpf_image_free(struct bpf_image *img);
/* A row for a place of a probe that was not there when the image was made: for the clauses of its program of which
 * `fires` says so. memory: of the row's map, img->rows[rows].map. The cookie of the place; -TALLY_EEND: there is no
 * room; -TALLY_ENOMEM. */
int bpf_row_add(struct bpf_image *img, uint32_t rows, void *memory, const struct bpf_probe *p,
		const struct bpf_place *at, bool (*fires)(void *arg, uint32_t clause), void *arg);

/* Disassembles: "   12: r1 = *(u64 *)(r6 + 128)   ; line 3" for every instruction, with map names. */
void bpf_disasm(const struct bpf_image *img, const struct img_prog *prog, struct buf *to);
/* The same with what the kernel gets: "0003 00012: 79 1 6 0080 00000000    r1 = ...": line, number, code dst src off
 * imm. */
void bpf_list(const struct bpf_image *img, const struct img_prog *prog, struct buf *to);

/* ---- maps through one small table: kernel/ and the vm each fill it -------- */
/* key and value sizes are the image's; per-CPU values are ncpus x value_size rounded up to 8.
 * All return 0 or a negative error; lookup and next return -TALLY_EEND when there is nothing. */
struct map_ops {
	int (*lookup)(void *maps, uint32_t map, const void *key, void *value);
	int (*update)(void *maps, uint32_t map, const void *key, const void *value);
	int (*remove)(void *maps, uint32_t map, const void *key);
	int (*take)(void *maps, uint32_t map, const void *key, void *value);    /* look up and delete at once */
	int (*next)(void *maps, uint32_t map, const void *key, void *next_key); /* key NULL: the first */
	void *(*memory)(void *maps,
			uint32_t map); /* the value of an ARRAY of 1, which programs change meanwhile; or NULL */
	/* Each key with its value, without keeping programs from running; a key may come twice while others are added.
	 * Ends with what each returns if that is negative. -TALLY_ENOTSUP, before the first: look them up. NULL: the
	 * same. */
	int (*walk)(void *maps, uint32_t map, int (*each)(void *arg, const void *key, const void *value), void *arg);
};
struct maps {
	void *maps;
	const struct map_ops *ops;
	uint32_t ncpus;
};
static inline int maps_walk(const struct maps *m, uint32_t map,
			    int (*each)(void *arg, const void *key, const void *value), void *arg)
{
	return m->ops->walk ? m->ops->walk(m->maps, map, each, arg) : -TALLY_ENOTSUP;
}

/* ---- the vm ---------------------------------------------------------------- */
/* What stands in for the kernel when the vm runs a program. Fields of the current firing. */
struct vm_cpu {
	uint32_t cpu, pid, tid, uid, gid, ppid;
	char comm[16];
	uint64_t mono_ns, vtime_ns;
	uint64_t start_ns; /* when the thread began; 0: threads have no end */
	uint64_t pc;
	bool user; /* PC as a perf program would see it */
	const uint64_t *kstack, *ustack;
	uint32_t nkstack, nustack;
	const void *record;
	uint32_t record_bytes; /* context of an IMG_RECORD program */
	/* Memory behind addresses: copies n bytes, 0 or -1. NULL: every address is bad. */
	int (*read)(void *arg, uint64_t addr, void *to, size_t n, bool user);
	void *arg;
};
struct vm;
int vm_open(struct vm **ret, const struct bpf_image *img, uint32_t ncpus, struct err *e);
void vm_close(struct vm *vm);
/* Runs program `prog` (index). Returns r0's low 31 bits or -TALLY_ECORRUPT with words (an access out of
 * bounds, an unknown instruction or helper, more than `max` instructions). Memory safe for any instructions. */
int vm_run(struct vm *vm, uint32_t prog, const struct vm_cpu *cpu, uint64_t max, struct err *e);
struct maps vm_maps(struct vm *vm);
/* Takes the next record of a ring (ncpus = the control ring): its size, or 0 when empty.  *rec borrows until the next
 * call. */
uint32_t vm_ring_next(struct vm *vm, uint32_t ring, const void **rec);

#endif
