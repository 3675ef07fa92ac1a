/*
 * symbol_int.h: the parts of symbol/.
 *
 *   table.c      addresses to names: one sorted array
 *   object.c     what an ELF file says: loads, build id, symbols
 *   code.c       the functions and the static probes of a file
 *   debugdata.c  the symbol table that a stripped file keeps compressed
 *   debugfile.c  the file that has what was stripped off another
 *   debuginfod.c the same from servers
 *   demangle.c   names as people write them
 *   file.c       the files that processes map, each known once
 *   jit.c        names that a just-in-time compiler leaves in /tmp
 *   jitdump.c    and those that it dates
 *   lines.c      lines of the source, and inlined functions
 *   kernel_names.c names of the kernel, of its modules and of programs of BPF
 *   space.c      processes as address spaces over time
 *   data.c       words for their memory that holds no code
 *   symbol.c     the questions, answered from all of these
 */
#ifndef TALLY_SYMBOL_INT_H
#define TALLY_SYMBOL_INT_H

#include "symbol/symbol.h"

#define GONE_MARK " (deleted)" /* that the kernel puts behind the path of a file that was removed */

/* ---- names: text that stays where it is until the end ------------------------ */
struct names {
	struct arena pages;
	char *at;
	size_t left, bytes;
};
#define NAME_MOST 4096u /* a longer name is cut */
/* Control characters become '?'. NULL: no memory. */
const char *names_add(struct names *p, const char *s, size_t n);
void names_free(struct names *p);

/* ---- table --------------------------------------------------------------------- */
/* Of several names for one address the least rank wins; then the newer, the one with fewer
 * underscores in front, the earlier in the alphabet. */
enum {
	RANK_GLOBAL = 0,
	RANK_LOCAL = 1,
	RANK_WEAK = 2,
	RANK_NOSIZE = 8,  /* end: where it must end at the latest */
	RANK_NOTYPE = 16, /* may be a label inside a function */
};
struct sym {
	uint64_t start, end;
	const char *name; /* NULL: it has one, which is not kept */
	uint32_t link;    /* until built: greater is newer; then: who
						       * encloses it, + 1, or 0 */
	uint16_t mod;     /* kernel: which module */
	uint8_t rank;
};
struct table {
	struct sym *v;
	uint32_t n, cap;
	bool incomplete; /* there may be symbols that are not in it */
	bool overfull;   /* since there were more than are kept */
};
bool table_add(struct table *t, const struct sym *s); /* false: no memory */
void table_sort(struct table *t);                     /* by start, and by link where that is the same */
void table_build(struct table *t);                    /* again after more was added */
const struct sym *table_find(const struct table *t, uint64_t addr);
void table_free(struct table *t);

/* ---- the kernel ------------------------------------------------------------------ */
struct kernel_names {
	struct table t; /* a symbol without a name: several had it in turn */
	struct names names;
	const char **mods; /* by sym.mod */
	uint32_t nmods, mods_cap;
	struct map mod_by_name;
	struct err why; /* why there are none */
	bool read;
	bool measured;       /* the ends of programs are known */
	uint64_t looked_ns;  /* when what comes and goes was read last */
	uint64_t modules;    /* which there were then */
	uint64_t modules_ns; /* when it was looked whether those are still all */
};
/* NULL: it is of no function, or why->text says why. *mod stays where that is not sure. seen_by_ns: before when the
 * address was seen, 0: just now. */
const struct sym *kernel_names_find(struct kernel_names *k, uint64_t addr, uint64_t seen_by_ns, const char **mod);
void kernel_names_free(struct kernel_names *k);

/* ---- object ---------------------------------------------------------------------- */
/* where an ELF file lies: */
struct object_bytes {
	int fd; /* here when p is NULL */
	const void *p;
	size_t n;
	/* to look for a debug file: */
	uint32_t pid;     /* whose root directory has the file, or 0 */
	const char *path; /* NULL: not known */
	bool ask_servers;
};
struct object {
	struct sym_load load[8];
	uint32_t nloads;
	struct extent {
		uint64_t vaddr, memsz;
	} data[8]; /* the others: constants, variables, also those that the file has no bytes for */
	uint32_t ndata;
	uint8_t build_id[32];
	uint32_t build_id_len; /* 0: it has none */
	struct table t;
	struct table variables; /* read when the first is asked for */
	bool variables_tried;
	struct names names;
	uint32_t symbols_most; /* of a table; 0: SYMBOLS_MOST */
	size_t names_most;     /* bytes; 0: NAMES_BYTES_MOST */
};
#define SYMBOLS_MOST (8u << 20)
#define NAMES_BYTES_MOST (1u << 30)
/* 0; -TALLY_ECORRUPT: not an executable or a shared library. */
/* _ident: loads and build id; _symbols: the table (none is fine). */
int object_ident(struct object *o, const struct object_bytes *b);
int object_symbols(struct object *o, const struct object_bytes *b);
/* The file that has its DWARF, if that is another: a descriptor, or -1. */
int object_debug_file(const struct object *o, const struct object_bytes *b);
/* The names of its variables, into o->variables; none is fine. */
int object_variables(struct object *o, const struct object_bytes *b);
bool object_holds_data(const struct object *o, uint64_t vaddr);
int object_all_symbols(struct object *o, const struct object_bytes *b); /* unsorted, and with all names of an address */
bool object_vaddr(const struct object *o, uint64_t file_offset, uint64_t *ret);
/* The address of what lies there in the file. A mapping covers whole pages, so it may lie in the bytes around a part:
 * those count as the part's own, unless another part holds them. */
bool loads_vaddr(const struct sym_load *load, uint32_t n, uint64_t file_offset, uint64_t *ret);
void object_free(struct object *o);

/* .gnu_debugdata: an ELF file in xz. From mem_alloc; NULL when it can't be had. */
void *debugdata_unpack(const void *p, size_t n, size_t *size);

/* The bytes of the section of that name of an Elf *, which keeps them: an Elf_Data *. NULL: it has none, or more than
 * `most`. */
void *section_read(void *elf, const char *name, uint64_t most);

/* Of an object without symbols of its own (elf is its Elf *): a descriptor, or -1. */
int debugfile_open(void *elf, const struct object *o, const struct object_bytes *b);
int debuginfod_fetch(const uint8_t *build_id, uint32_t n); /* a descriptor, or -1 */

/* ---- lines ------------------------------------------------------------------------------ */
struct lines;
struct lines *lines_open(int fd, struct names *text); /* takes fd; NULL: it has no DWARF, or libdw is not there */
const struct sym_line *lines_find(struct lines *l, uint64_t vaddr); /* as the file numbers addresses; NULL: no memory */
void lines_close(struct lines *l);                                  /* NULL is fine */

/* ---- names as people write them ---------------------------------------------------- */
/* What a mangled name stands for, NUL-terminated: its length. 0: it is no mangled name, or has no room. */
size_t name_demangle(enum sym_demangle how, const char *name, char *to, size_t room);

/* ---- files -------------------------------------------------------------------------- */
/* What a file held; kept until the end, since names lie in it. */
struct content {
	uint64_t id;              /* the same for equal build ids */
	struct k_file_state mark; /* by which it is known again; at_ns: when it was found unchanged last */
	struct object *object;    /* NULL: nothing to read */
	bool borrowed;            /* the object is another's of the same build id */
	struct lines *lines;      /* NULL: none, or not opened yet */
	bool lines_tried;
	const char *memory_mod; /* mod of the first memory file of that build id; NULL: none */
	struct content *older;
};
struct file {
	uint64_t inode, inode_generation; /* 0: not told */
	uint64_t device;
	uint32_t pid; /* who mapped it first, or whose root directory led to it */
	int fd;       /* kept, so that its end is not ours; -1 */
	bool vdso;
	bool nameless;            /* its path said already at first that it is deleted */
	bool memory;              /* of no directory: mod has its inode */
	bool missing;             /* its process was there when it was looked for, and it was not */
	const char *path, *mod;   /* without " (deleted)"; mod: its last part */
	struct k_file_state seen; /* when it was first opened; at_ns 0: never */
	struct content *content;  /* newest first; NULL: not read yet */
	uint32_t ncontents;
	struct file *older; /* of the same path and inode, which was another file's then */
};
struct files {
	struct map by_key, by_build_id;
	struct names names;
	uint32_t n, fds, fds_read; /* kept of files not read yet, and of others */
	uint64_t ids;
	bool ask_servers; /* for debug files */
	/* what is asked about was seen before: a look since then is enough; 0: it may have been seen just now */
	uint64_t seen_by_ns;
};
#define FILES_MOST 65536u
#define FILES_FDS_MOST 256u /* of each of the two */
#define FILE_CONTENTS_MOST 64u
#define FILE_NEWBORN_NS 25000000u /* so young it was written once */
/* Who may have the same root directory as a process that has ended. */
struct kin {
	uint32_t pid[4], n;
};
/* The file of a mapping, opened when it is new; NULL when there is none, or (*lost set) no memory
 * or room for more. */
struct file *files_see(struct files *f, const struct k_task *t, const struct kin *kin, bool *lost);
/* What it held from since_ns to until_ns, all that time; NULL if that can't be known.
 * since_ns UINT64_MAX: what it holds now. */
enum held {
	HELD_THIS,      /* in *ret */
	HELD_OTHER,     /* it was written to since */
	HELD_UNREAD,    /* it can't be read */
	HELD_GONE,      /* it was there, and no longer is */
	HELD_UNREACHED, /* the process had ended, and with it the way to its root directory */
};
enum held files_read(struct files *f, struct file *file, uint64_t since_ns, uint64_t until_ns,
		     const struct content **ret);
/* The variables of what a file holds now, read when first asked for; NULL: there are none. */
const struct table *files_variables(struct files *f, struct file *file, const struct content *c);
/* The lines of what a file holds now, opened when first asked for; NULL: there are none. */
struct lines *files_lines(struct files *f, struct file *file, const struct content *c);
void files_free(struct files *f);

/* ---- just-in-time compiled code -------------------------------------------------------- */
struct jits {
	struct names names;
	uint32_t fds;        /* kept of files that may grow */
	uint64_t seen_by_ns; /* as of files */
};
struct jit_reading {
	uint32_t lines;           /* all up to and with this reading */
	uint64_t after_ns, by_ns; /* when its own were written */
};
struct jit {
	struct jits *all;
	struct table t;  /* each line; sym.link: its number */
	uint64_t *reach; /* how far each line and all before it in t reach */
	struct jit_reading *reading;
	uint32_t nreadings, readings_cap;
	int fd;                   /* of the file that was read; -1: not kept */
	struct k_file_state file; /* when it was read */
	uint64_t inode, done;     /* which file; bytes of it that are read */
	char tail[64];            /* the last ntail of them */
	uint32_t ntail;
	bool whole;           /* all that it held at complete_ns is read, and it holds nothing else now */
	bool emptied;         /* by the process, before it wrote the first line */
	uint64_t complete_ns; /* 0: never */
	uint64_t read;        /* bytes of all files */
	uint64_t began_ns;    /* when the process began; 0: not known */
	uint32_t uid;         /* whose files are believed, beside root's */
	uint32_t pid_inside;
	uint32_t misses;
	/* of records with times: */
	const char *dump;     /* the file's path, as the process sees it; NULL: it is a perf map */
	struct map by_number; /* code's number -> its name */
	uint32_t records;
	uint64_t dump_ns; /* when the process began to write it */
	bool untimed;     /* by a clock that is not ours */
	bool broken;      /* a part can't be read, and what comes behind it */
};
#define JIT_FILE_MOST (64u << 20)
#define JIT_SYMBOLS_MOST (1u << 20)
#define JIT_NAMES_MOST (256u << 20) /* of all processes together */
#define JIT_FDS_MOST 64u
#define JIT_LINES_MOST 64u  /* that name one address */
#define JIT_SEEN_MOST 4096u /* that are looked at for them */
/* Of a process that maps memory without a file: while it lives its user is known, afterwards ours is taken for it.
 * NULL: no memory. */
struct jit *jit_open(struct jits *all, uint32_t pid);
/* The same of a process that maps the file of that path, where that is what a compiler calls its records. NULL: it is
 * not, too. */
struct jit *jit_open_dump(struct jits *all, uint32_t pid, const char *path);
/* Reads what the file holds now, and, where it was removed, the next of its name. */
void jit_take(struct jit *j, uint32_t pid);
struct jit_life { /* of a process id: from a fork, an exec or a start to the next */
	uint64_t from_ns, until_ns;
	bool first; /* nobody before it can have made the file */
};
struct jit_question {
	uint32_t pid;
	uint64_t addr;
	uint64_t since_ns, until_ns; /* when it was seen */
	struct jit_life life;        /* in which */
};
enum jit_told {
	JIT_NOTHING,   /* it says nothing, or that there was no code then */
	JIT_NAME,      /* in *ret */
	JIT_AMBIGUOUS, /* several names, or lines of several lives */
};
enum jit_told jit_find(struct jit *j, const struct jit_question *q, const struct sym **ret);
/* Reads what was appended since; false: it isn't believed, or not all of it can be read. */
bool jit_read_fd(struct jit *j, int fd);
/* Records of a file of so many bytes, behind those that were read; where one can't be, j is broken. */
void jitdump_read(struct jit *j, int fd, uint64_t bytes);
bool jitdump_is_path(const char *path, uint32_t pid_inside);
void jit_free(struct jit *j); /* NULL is fine */

/* ---- address spaces -------------------------------------------------------------------- */
struct mapping {
	uint64_t start, end, pgoff;
	uint64_t from_ns, until_ns; /* when it was there; UINT64_MAX: still is */
	uint64_t looked_ns;         /* when somebody looked last and found it; 0: never */
	struct file *file;          /* NULL: memory without a file */
	uint64_t again_ns;          /* when the same bytes came to the same place again; 0: never */
	bool told;                  /* it came at from_ns; else somebody looked then */
	bool moved;                 /* it went elsewhere at until_ns, which began no generation */
};
/* What lies at an address without code (data.c). */
struct stretch {
	uint64_t start, end;
	uint64_t from_ns, since_ns; /* when it came: some of it at the earliest; all of it */
	uint64_t until_ns;          /* of what was: the latest */
	uint64_t looked_ns;         /* when somebody looked and found it; 0: it was told */
	uint64_t shift;             /* address + shift is the place in the file; 0: there is no file */
	bool moved;                 /* it was at several places in the file */
	const char *what;           /* a word, the same pointer for equal ones; NULL: nothing, or nobody knows what */
};
struct data {
	struct stretches *now; /* NULL: none */
	struct stretch *past;
	uint32_t npast, past_cap;
	uint64_t past_from_ns; /* what ended before is forgotten, for want of room */
	uint64_t
		strayed_ns; /* when memory moved to where nobody says, first since a look; 0: all is where it is told */
	uint64_t looked_ns;
	const char *strayed_what; /* what that is called; NULL: that differs, or nobody knows */
	bool known;               /* all that was there was told, from an exec or a look on */
	bool overfull;            /* it has too many stretches: nothing is known of it */
};
/* count: of all stretches that are kept. m->what NULL: nothing is there from m->from_ns on. No memory: nothing is known
 * any more. */
void data_put(struct data *d, uint64_t *count, const struct stretch *m);
void data_heap(struct data *d, uint64_t *count,
	       const struct stretch *m); /* m is the heap, and what was beside it no longer is */
struct moving;
void data_move(struct data *d, uint64_t *count, const struct moving *m, uint64_t time_ns);
void data_looked(struct data *d, uint64_t time_ns); /* all that was there then was put */
void data_fork(struct data *to, const struct data *from);
/* What addr was in in a generation; false: that can't be known, or in nothing. */
bool data_seen(const struct data *d, uint64_t addr, uint64_t from_ns, uint64_t until_ns, struct stretch *ret);
/* By a look. lost_ns: when facts got lost, last. */
bool data_may_be_found(const struct data *d, uint64_t addr, uint64_t lost_ns);
void data_free(struct data *d, uint64_t *count);
struct space {
	struct space *older; /* of the same process */
	struct proc *proc;
	uint64_t start_ns;
	uint32_t ppid;          /* 0: not known */
	struct memory *memory;  /* of all processes that share it */
	struct jit *jit, *dump; /* perf map; jitdump */
	uint32_t misses;
	bool dead;
	uint64_t lost_ns;                    /* when it is dead: when facts got lost before that, last */
	struct space *dead_prev, *dead_next; /* in order of death */
};
struct proc {
	struct proc *next; /* in its bucket */
	uint32_t pid, nspaces;
	struct space *newest;
};
struct spaces {
	struct proc **bucket;
	uint32_t nbuckets, nprocs, ndead, dead_most; /* dead_most 0: SPACES_DEAD_MOST */
	struct space *dead_first, *dead_last;
	uint64_t nmappings, nlosses, nstretches, evicted;
	bool keeps_data;     /* of memory without code, too */
	uint64_t lost_ns;    /* when facts got lost, last */
	uint64_t *forgotten; /* a bit for each process id: a life of it was freed; NULL: none */
};
#define SPACES_DEAD_MOST 65536u          /* spaces of the dead that are kept */
#define SPACES_MAPPINGS_MOST (1u << 20)  /* of all; above, the dead go sooner, then what the living unmapped */
#define SPACES_LOSSES_MOST (1u << 22)    /* the same of generations */
#define SPACES_STRETCHES_MOST (1u << 20) /* and of memory without code */
#define SPACES_PER_PROC_MOST 4096u       /* lives of one process id (an exec begins another) that are kept */
#define SPACES_PIDS_MOST (1u << 22)      /* as Linux has them */
#define MAPPINGS_MOST 8192u              /* of one space */
#define MAPPINGS_PAST_MOST (1u << 17)    /* that others took the place of; then the older half goes */
#define LOSSES_MOST (1u << 17)           /* generations of one space; then the older half goes */
/* False: no memory, or one of the limits. */
bool spaces_map(struct spaces *s, uint32_t pid, const struct mapping *m);
bool spaces_exec(struct spaces *s, uint32_t pid, uint64_t time_ns);
bool spaces_fork(struct spaces *s, uint32_t pid, uint32_t ppid, uint64_t time_ns);
/* The child that was forked last as pid has the parent's memory itself, no copy. */
bool spaces_share(struct spaces *s, uint32_t pid, uint32_t ppid);
void spaces_exit(struct spaces *s, uint32_t pid);
/* A generation begins; since_ns: with the newest mapping, if it came from then on: it took the place of another. */
bool spaces_unmap(struct spaces *s, uint32_t pid, uint64_t time_ns, uint64_t since_ns);
/* What lay at m's place goes on to the address `to` (0: nobody says where), as mremap(2) does. */
struct moving {
	uint64_t at, len, to, to_len; /* len 0: what is at `at`, to_len of it */
	bool stays;                   /* where it was, too */
};
bool spaces_move(struct spaces *s, uint32_t pid, const struct moving *m, uint64_t time_ns);
/* m->what NULL: none is there, but maybe code. _unmapped: nor is that. */
bool spaces_data(struct spaces *s, uint32_t pid, const struct stretch *m);
bool spaces_unmapped(struct spaces *s, uint32_t pid, const struct stretch *m);
bool spaces_heap(struct spaces *s, uint32_t pid, const struct stretch *m);
/* What an address without code was in in a generation; 0: is now. */
bool space_data_seen(const struct spaces *s, const struct space *sp, uint64_t addr, uint64_t generation_ns,
		     struct stretch *ret);
/* Whether memory moved to where nobody says, and nobody looked for it for some time. */
bool spaces_data_strayed(const struct spaces *s, uint32_t pid, uint64_t now_ns);
#define DATA_LOOK_NS UINT64_C(10000000)
bool space_data_may_be_found(const struct spaces *s, const struct space *sp,
			     uint64_t addr);                          /* by a look, of one that lives */
void spaces_looked(struct spaces *s, uint32_t pid, uint64_t time_ns); /* all that it mapped then was told */
/* What addr of pid was in in a generation (slot.h; never 0). */
enum seen {
	SEEN_NOTHING,   /* in no executable mapping */
	SEEN_MAPPING,   /* in ret->m */
	SEEN_GONE,      /* that can't be known */
	SEEN_FORGOTTEN, /* it was known, and more came than is kept */
	SEEN_EARLIER,   /* (within space.c) in nothing that is known of that time */
};
struct place {
	struct space *space; /* NULL: the process was not known then */
	const struct mapping *m;
	uint64_t since_ns, until_ns; /* m was there for sure, and may have been seen */
};
enum seen spaces_seen(const struct spaces *s, uint32_t pid, uint64_t addr, uint64_t generation_ns, struct place *ret);
/* The space that pid had at a time (0: the newest that maps addr, else the newest), or NULL.
 * *ret: the mapping of addr in it, or NULL. */
struct space *spaces_find(const struct spaces *s, uint32_t pid, uint64_t addr, uint64_t time_ns,
			  const struct mapping **ret);
/* When the next life of its process id began after a space (fork, exec); UINT64_MAX: none has. */
uint64_t space_until(const struct space *sp);
bool spaces_knows(const struct spaces *s, uint32_t pid);
/* Where the executable mappings of files begin that are next to an address, below and above; returns how many. */
uint32_t space_neighbours(const struct space *sp, uint64_t addr, uint64_t ret[2]);
/* Whether a look at the process may tell more of it (NULL: of who is not known). */
bool space_can_be_read(const struct space *sp);
/* Who forked the process, who forked that one, and so on. Returns how many. */
uint32_t spaces_ancestors(const struct spaces *s, uint32_t pid, uint64_t time_ns, uint32_t *ret, uint32_t most);
void spaces_free(struct spaces *s);

#endif
