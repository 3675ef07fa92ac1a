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
	IMG_PROGS
};

enum img_map_use {
	IMG_CTL,     /* ARRAY 1 x struct img_ctl */
	IMG_GLOBALS, /* ARRAY of 1: all global variables */
	IMG_SCRATCH, /* PERCPU_ARRAY: [0] perf and record programs, [1] test-run programs, [2] those of system calls */
	IMG_DROPS,   /* PERCPU_ARRAY of struct img_drops, one for each program in the order of prog[] */
	IMG_RING,    /* RINGS: one ring per CPU */
	IMG_CONTROL, /* RINGBUF: the control ring */
	IMG_VAR,     /* HASH: d_program.var[id] */
	IMG_AGG,     /* PERCPU_HASH, or PERCPU_ARRAY of 1 when key_size is 0: d_program.agg[id] */
	IMG_STACKS,  /* STACK_TRACE: u32 id -> frames */
	IMG_LONG_STACKS, /* HASH: u64 (without STACK_ID_LONG) -> frames; those that collided */
	IMG_GENERATIONS, /* HASH: u64 struct mm_struct * -> struct img_generation */
	IMG_PARTS,       /* PROGS: part[] by its index, those of class id alone */
	IMG_SPECS,       /* ARRAY of 1: struct img_spec[nspec] */
	IMG_CALLS,       /* ARRAY of 1: for each number of a system call its probe and epids; of class id */
};
struct img_map {
	uint8_t type, use;
	uint32_t id;                                /* VAR and AGG: which */
	char name[16];                              /* letters, digits, '_' */
	uint32_t key_size, value_size, max_entries; /* RINGS, RINGBUF: max_entries = bytes of a ring, a power of two */
	void *init; /* CALLS: value_size bytes that it starts with; of the image's arena */
};

/* Shared words, mapped or looked up as one value. */
struct img_ctl {
	uint64_t exited;               /* 1 once exit() ran */
	int64_t status;                /* its argument */
	uint64_t wall_offset_ns;       /* set before the start: CLOCK_REALTIME - CLOCK_MONOTONIC */
	uint64_t pidns_dev, pidns_ino; /* set before the start, when pid_ns: the tracer's pid namespace */
};
struct img_drops {                 /* per CPU */
	uint64_t records;          /* ring full */
	uint64_t aggs;             /* aggregation map full or busy */
	uint64_t dynvars;          /* variable map full or busy */
	uint64_t stacks;           /* stack could not be kept */
	uint64_t firings;          /* programs run to an event (perf programs only) */
	uint64_t spec_busy;        /* speculation() found none that is free, but one that soon is */
	uint64_t spec_unavailable; /* nor such a one */
	uint64_t zero;             /* stays 0: what is added to it is unknown to the verifier */
};
/*
 * A speculation: who takes records for it counts them first and then looks whether it is ACTIVE, so that when it is no longer, the
 * number of records that the reader will still get is known.  commit() and discard() end it once; the reader frees it when all its records came.
 */
enum { SPEC_FREE, SPEC_ACTIVE, SPEC_COMMITTED, SPEC_DISCARDED };
struct img_spec {
	uint64_t state;
	uint64_t
		records; /* that were or will be handed over, of all speculations that had this number; none counts twice */
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

/* What runs a program: a perf event; a test run of a raw tracepoint program; in the vm alone, a record: its
 * context is the record's bytes, of which the first eight are arg0; in the kernel alone, a system call that begins or ends: one
 * program for all probes of the class. */
enum img_class { IMG_PERF, IMG_TEST, IMG_RECORD, IMG_ENTRY, IMG_RETURN };

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
	uint32_t nepids; /* [0] unused */
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
/* What generated code must know about the machine that will run it. */
struct bpf_arch {
	const char *name;
	int16_t pc_offset;             /* byte offset of the PC in the perf program's context */
	const struct bpf_calls *calls; /* NULL: not known */
};
extern const struct bpf_arch bpf_arch_x86_64, bpf_arch_aarch64, bpf_arch_riscv64;
extern const struct bpf_arch bpf_arch_vm; /* the vm: a context of 8 bytes, the PC */

/* what it must know about a probe */
struct bpf_probe {
	uint32_t id;
	uint8_t cls; /* enum img_class */
	const char *prov, *mod, *func, *name;
	bool has_pc;                    /* arg0 / arg1 are the PC; else BEGIN, END, tick: zero */
	uint8_t more_args;              /* IMG_RECORD: words behind the first that are arg1, arg2 ... */
	const struct syscall_row *call; /* IMG_ENTRY, IMG_RETURN */
};

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
	bool generations; /* somebody watches mappings and fills IMG_GENERATIONS; else all are 0 */
	bool one_cpu;     /* events of other CPUs than `cpu` fire nothing */
	uint32_t cpu;
	bool pid_ns; /* translate pid/tid through the namespace in img_ctl */
};

/* Generates code for every probe that has clauses.  -TALLY_ENOMEM, -TALLY_ENOTSUP with words in e
 * ("line 3: this clause needs 600 bytes of ...").  *ret owns its memory. */
int bpf_generate(const struct d_program *p, const struct bpf_opts *o, struct bpf_image **ret, struct err *e);
void bpf_image_free(struct bpf_image *img);

/* Disassembles: "   12: r1 = *(u64 *)(r6 + 128)   ; line 3" for every instruction, with map names. */
void bpf_disasm(const struct bpf_image *img, const struct img_prog *prog, struct buf *to);
/* The same with what the kernel gets: "0003 00012: 79 1 6 0080 00000000    r1 = ...": line, number, code dst src off imm. */
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
};
struct maps {
	void *maps;
	const struct map_ops *ops;
	uint32_t ncpus;
};

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
/* Takes the next record of a ring (ncpus = the control ring): its size, or 0 when empty.  *rec borrows until the next call. */
uint32_t vm_ring_next(struct vm *vm, uint32_t ring, const void **rec);

#endif
