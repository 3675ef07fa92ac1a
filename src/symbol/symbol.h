/*
 * symbol: names for addresses: of the kernel, of processes, and of processes
 * that are gone by the time somebody asks.
 *
 * A file's symbols are one sorted table, built once when first needed and
 * shared by every process that maps the file (by build id, else device and
 * inode).  A process is a list of address spaces over time: exec starts a new
 * one, fork copies, exit keeps.  So an address of a dead process still finds
 * its file and offset.  Look-up is a binary search, never a scan.
 * Thread rule: one thread.
 */
#ifndef TALLY_SYMBOL_H
#define TALLY_SYMBOL_H

#include "base/base.h"
#include "kernel/kernel.h"

struct symbols;
int sym_open(struct symbols **ret);
void sym_close(struct symbols *s);
/* How names of C++, Rust and D are shown; SYM_DEMANGLE_ON until said otherwise. */
enum sym_demangle {
	SYM_DEMANGLE_ON,
	SYM_DEMANGLE_OFF,   /* as the file has them */
	SYM_DEMANGLE_SHORT, /* without parameters and the type that is returned */
};
void sym_demangle(struct symbols *s, enum sym_demangle how);
/* Words for addresses of no object: [heap], [stack], [anon], or a file's name; without, facts of data are not kept. */
void sym_keep_data(struct symbols *s);
void sym_ask_servers(struct symbols *s); /* for debug files, through debuginfod */

/* ---- what a file of code holds: for probes ---------------------------------------------- */
struct sym_func {
	const char *name;
	uint64_t addr, size, offset; /* as the file numbers addresses; where it lies in the file */
};
/* A static probe, as its note in the file says it: foreign text. */
struct sym_note {
	const char *prov, *name, *args;
	uint64_t addr, offset;
	uint64_t semaphore; /* where the file has its semaphore; 0: it has none */
};
/* A part of a file that is code, as its program headers tell. */
struct sym_load {
	uint64_t offset, bytes, vaddr;
};
enum sym_machine { SYM_OTHER_MACHINE, SYM_X86_64, SYM_AARCH64 };
struct sym_code {
	enum sym_machine machine;    /* OTHER: also a program of 32 bits */
	bool stripped;               /* of all but what others link to */
	const struct sym_func *func; /* by address, then by name; a name of an address is there once */
	uint32_t nfuncs;
	const struct sym_note *note; /* in the order of the file */
	uint32_t nnotes;
};
/* The ELF file of fd. -TALLY_ECORRUPT: it is none, or no program or library; -TALLY_ENOMEM. */
int sym_code_open(struct sym_code **ret, int fd);
void sym_code_close(struct sym_code *c); /* NULL is fine */
/* The function that holds an address, or NULL. */
const struct sym_func *sym_code_at(const struct sym_code *c, uint64_t addr);
/* So many bytes of the function's code, from its start: into to, n at most. How many; 0: they can't be read. */
size_t sym_code_bytes(const struct sym_code *c, const struct sym_func *f, void *to, size_t n);

/* A name. mod NULL: nothing known, print the bare address. name NULL: only the module is known
 * (mod_offset = offset in it).  Borrows from s until sym_close. */
struct sym_name {
	const char *mod; /* of the path, the last part; "vmlinux" */
	const char *name;
	uint64_t offset;                  /* from the start of the symbol */
	uint64_t start;                   /* of the symbol; user: as in the file */
	uint64_t file_id;                 /* same file, same id: to merge by function */
	const char *path;                 /* of the module's file, or NULL */
	bool gone;                        /* its mapping can't be known any more (mod is NULL) */
	bool memory;                      /* mod is the word for memory that is in no object */
	bool placeless;                   /* of such: of a file, but nobody knows which place in it */
	bool forgotten;                   /* it was known, and is no longer kept (mod is NULL) */
	uint8_t unread;                   /* why name is NULL: enum sym_unread */
	uint64_t inode, inode_generation; /* of a file that is gone */
	struct file *file;                /* of a user's address whose file was read, for sym_line(): */
	const struct content *content;
	uint64_t vaddr;
};
/* Where in the source an address is. */
#define SYM_INLINED_MOST 16u
struct sym_inlined {
	const char *name;        /* of the function that was inlined, as the file has it */
	const char *caller_file; /* where it was called; NULL: not known */
	uint32_t caller_line;
};
struct sym_line {
	const char *file; /* the last part of its path; NULL: not known */
	uint32_t line, ninlined;
	struct sym_inlined inlined[SYM_INLINED_MOST]; /* innermost first */
};
enum sym_unread {
	SYM_READ,
	SYM_CHANGED,   /* the file was written to after the address was seen, or may have been */
	SYM_GONE,      /* it was gone before it could be opened */
	SYM_UNREACHED, /* the process had ended, and with it the way to its root directory */
	SYM_AMBIGUOUS, /* the perf map or jitdump has several, or lines of several processes */
	SYM_OVERFULL,  /* the file has more than are kept */
};
/* Reads kallsyms on first use. */
void sym_kernel(struct symbols *s, uint64_t addr, struct sym_name *ret);
/* generation_ns: of the process's mappings when the address was seen (slot.h), or 0 when not known (newest space that
 * maps it). */
void sym_user(struct symbols *s, uint32_t pid, uint64_t addr, uint64_t generation_ns, struct sym_name *ret);
/* Whether what is named from now on was seen before now, as the keys of a snapshot were: then each file is checked
 * once. */
void sym_all_seen(struct symbols *s, bool yes);
int sym_look(struct symbols *s, uint32_t pid); /* takes what pid maps now; what k_task_maps() returns */
/* Whether nothing is known of what was there, and a look may tell. Who looks then feeds what happened until after it
 * before he asks: what the look found may have come in a later generation, which nobody told of yet. */
bool sym_must_look(const struct symbols *s, uint32_t pid, uint64_t addr, uint64_t generation_ns);
/* NULL: nothing is known. of_call: the address is behind a call, whose line is meant. Borrows from s. */
const struct sym_line *sym_line(struct symbols *s, const struct sym_name *n, bool of_call);
/* A mangled name as it is shown; borrows from s. */
const char *sym_demangled(struct symbols *s, const char *name);
void sym_task(void *s, const struct k_task *t);  /* feed: usable as a k_task sink */
bool sym_knows(struct symbols *s, uint32_t pid); /* whether any mapping of pid is known */
/* mod`name+0xoff, mod`name, mod`0xoff or 0xaddr, as D prints them, and why a name is missing.
 * with_offset: false for func/ufunc. */
void sym_text(const struct sym_name *n, uint64_t addr, bool with_offset, struct buf *to);
/* The same of a function, as one frame of many stacks: [mod] for all addresses of a module that have no name. */
void sym_func_text(const struct sym_name *n, uint64_t addr, struct buf *to);
/* Why kernel addresses have no names: "" while they have, or nobody asked. */
const char *sym_kernel_hidden(const struct symbols *s);
uint64_t sym_lost(const struct symbols *s);      /* facts: by the kernel, or to limits here */
uint64_t sym_gone(const struct symbols *s);      /* addresses whose mapping was gone */
uint64_t sym_forgotten(const struct symbols *s); /* and whose mapping was seen, but is no longer kept */
uint64_t sym_unread(const struct symbols *s);    /* and whose file was not what it had been, or not there */
uint64_t sym_unreached(const struct symbols *s); /* and whose file was not to be found without its process */
uint64_t sym_overfull(const struct symbols *s);  /* and whose file has more names than are kept */
uint64_t sym_ambiguous(const struct symbols *s); /* to which the perf map gave no certain name */

#endif
