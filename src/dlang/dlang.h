/*
 * dlang: D source to a typed, checked program.
 *
 * Source goes through the passes parse, bind, type, lower and check.  The first
 * three work on a tree; lower makes the IR below, and check proves it well
 * formed.  Whoever generates code (bpf/) reads the IR and nothing else; whoever
 * prints (session/) reads the actions and their slots.  dlang knows neither
 * BPF nor Linux: probes are looked up through a callback.
 *
 * Lifetime: everything a program points to is in the unit's arena and dies
 * with d_close().  No state outside the unit; a unit belongs to one thread.
 */
#ifndef TALLY_DLANG_H
#define TALLY_DLANG_H

#include "base/base.h"
#include "facts/bucket.h"
#include "facts/format.h"
#include "facts/shape.h"
#include "facts/slot.h"

/* ---- IR: registers, objects, instructions -------------------------------
 *
 * A clause is straight-line code with forward jumps only.  Registers are
 * 64-bit integers, numbered from 1 per clause (0 = none); values are kept
 * extended as their D type says.  A register may be written in both arms of a
 * branch.  Objects are byte ranges: they hold strings, keys, records and
 * variables.  Object numbers are per program (0 = none).
 */
typedef uint32_t ir_reg;
typedef uint32_t ir_obj;

enum ir_objkind {
	IR_OBJ_TEMP,   /* lives within one clause; content undefined at its start */
	IR_OBJ_THIS,   /* this->x: lives across the clauses of one firing; zero at its start */
	IR_OBJ_GLOBAL, /* a global variable: shared by all CPUs; starts as `init` or zero */
};
struct ir_object {
	uint8_t kind;     /* enum ir_objkind */
	bool indexed;     /* reached through OLOADX / OSTOREX */
	uint32_t size;    /* bytes, a multiple of 8 */
	const char *name; /* for dumps; may be NULL */
	const void *init; /* GLOBAL: size bytes, or NULL for zero */
};

/* Builtins that are integers (op BUILTIN) */
enum ir_builtin {
	BI_THREAD,     /* key of thread-local variables: no other thread has it, and none that had its id before */
	BI_GENERATION, /* of the process's mappings: slot.h */
	BI_PID,
	BI_TID,
	BI_PPID,
	BI_UID,
	BI_GID,
	BI_CPU,
	BI_EPID,
	BI_ID,
	BI_TIMESTAMP,
	BI_WALLTIMESTAMP,
	BI_VTIMESTAMP,
	BI_CURTHREAD,      /* address of the kernel's struct task_struct */
	BI_USER_REGISTERS, /* address of the registers that were saved when the kernel was entered */
	BI_ERRNO,          /* of a system call that ends; else 0 */
	BI_IPL,            /* Linux has no levels: 0 */
	/* these are loads from what OSTACK reads, and counts of it: lowered, never an operand of BUILTIN */
	BI_CALLER,
	BI_UCALLER,
	BI_STACKDEPTH,
	BI_USTACKDEPTH,
	BI_ARG0,
	BI_ARG1,
	BI_ARG2,
	BI_ARG3,
	BI_ARG4,
	BI_ARG5,
	BI_ARG6,
	BI_ARG7,
	BI_ARG8,
	BI_ARG9,
};
/* Builtins that are strings (op OBUILTIN) */
enum ir_strbuiltin { BS_EXECNAME, BS_PROBEPROV, BS_PROBEMOD, BS_PROBEFUNC, BS_PROBENAME };
enum ir_cond { IR_EQ, IR_NE, IR_LT, IR_LE, IR_GT, IR_GE, IR_LTU, IR_LEU, IR_GTU, IR_GEU };
/* What ERROR's arg4 tells; numbers as in DTrace's DTRACEFLT_*. */
enum ir_fault {
	FAULT_UNKNOWN,
	FAULT_BADADDR,
	FAULT_BADALIGN,
	FAULT_ILLOP,
	FAULT_DIVZERO,
	FAULT_NOSCRATCH,
	FAULT_KPRIV,
	FAULT_UPRIV,
	FAULT_TUPOFLOW,
	FAULT_BADSTACK,
	FAULT_BADSIZE,
	FAULT_BADINDEX,
	FAULT_COUNTER /* our own: a performance counter does not count */
};
/* The words for it, with the value where that says something. Any number will do; bits above D_FAULT_BITS don't
 * count. */
void fault_text(struct buf *to, uint64_t fault, uint64_t value);

/* name, operands: d a b e registers, o p q objects, O offset of o, P offset of p, i imm, s size, c cond,
 * l label id, x id. What it does.  "faults" = may abort the clause with that fault.           */
/* clang-format off */
#define IR_OPS(X)                                                                                  \
	X(NOP, "")                                                                                 \
	X(CONST, "d i")            /* d = imm */                                                    \
	X(MOV, "d a")                                                                              \
	X(ADD, "d a b") X(SUB, "d a b") X(MUL, "d a b")                                            \
	X(DIVU, "d a b") X(DIVS, "d a b") X(MODU, "d a b") X(MODS, "d a b") /* faults DIVZERO */    \
	X(AND, "d a b") X(OR, "d a b") X(XOR, "d a b")                                             \
	X(SHL, "d a b") X(SHR, "d a b") X(SAR, "d a b")                                            \
	X(NEG, "d a") X(NOT, "d a")                                                                \
	X(SEXT, "d a s") X(ZEXT, "d a s")  /* from size bytes: 1 2 4 */                             \
	X(HTON, "d a s")           /* the low size bytes (2 4 8) in network order, or back */        \
	X(PROGENY, "d a")          /* d = whether process a is the one that fires, or one above it */ \
	X(COUNTER, "d x")          /* d = what this CPU has counted of counter x; faults COUNTER */     \
	X(VCOUNTER, "d x")         /* the same of this thread, on all CPUs */                       \
	X(RAND, "d")               /* d = 32 bits of chance */                                      \
	X(CMP, "d a b c")          /* d = a cond b, 0 or 1 */                                       \
	X(JMP, "l") X(JCMP, "a b c l") X(LABEL, "l")  /* labels per clause, each placed once, later */ \
	X(FAULT, "a x")            /* faults x (enum ir_fault), value a */                          \
	X(BUILTIN, "d x")          /* x: enum ir_builtin */                                         \
	X(ARGS, "d O")             /* d = address of the context at O: what args[] points to */     \
	X(ARGLOAD, "d O s")        /* d = s bytes of the context at O */                            \
	/* objects; offsets and sizes are within the object */                                     \
	X(OZERO, "o O s") X(OSTORE, "o O a s") X(OLOAD, "d o O s") X(OLOADS, "d o O s") /* LOADS sign-extends */ \
	X(OADD, "o O a s")         /* o += a atomically; GLOBAL only, size 4 or 8 */                 \
	X(OSTOREX, "o O a s b i x") X(OLOADX, "d o O s b i x") X(OLOADXS, "d o O s b i x")          \
				   /* at O + b * x; faults BADINDEX unless b < imm */               \
	X(OADDR, "d o O")          /* d = the object's address, of kernel memory */                 \
	X(OCOPY, "o O p P s")      /* s multiple of 8 */                                            \
	X(OLIT, "o O x s")         /* string constant x, zero-padded to s */                        \
	X(OBUILTIN, "o O x s")     /* string builtin x (enum ir_strbuiltin), cut and padded to s */ \
	X(OREAD, "o O a s x")      /* s bytes from address a, x = 0 kernel 1 user; faults BADADDR */ \
	X(OREADSTR, "o O a s x")   /* string of at most s-1 from address a; padded; faults BADADDR */ \
	X(OREADN, "o O a b e i x")  /* e bytes from address a, to o at O + b; b + e is at most imm; faults BADADDR, BADSIZE */ \
	X(OWRITEN, "o O a b e i x") /* e bytes of o at O + b to address a of the process; faults as OREADN does */ \
	X(OSTACK, "o O s x i")     /* frames into o: x = 0 kernel 1 user, s = bytes, imm = frames to skip; rest zeroed */ \
	X(STACKDEPTH, "d o O s x") /* frames into o as OSTACK does; d = how many there are */         \
	X(STACKID, "d x i")        /* d = stack id (slot.h), x = 0 kernel 1 user, imm = frames most */ \
	/* strings, NUL-terminated and zero behind; NULL is D_NULL_STRING: */                       \
	/* objects o p q at offset O P (q at 0) of bound s bytes */                                 \
	X(SLEN, "d p P s")                                                                         \
	X(SCMP, "d p P q s i x")   /* d = sign of strcmp; s bound of p, imm bound of q; q = 0: string constant x */ \
	X(SSUB, "o O s p P i a b") /* o = at most b bytes of p (bound imm) from a; a, b already >= 0 */ \
	X(SJOIN, "o s p i q x")    /* o = p (bound imm) . q (bound x); s >= imm + x: o has room for both */ \
	X(SINDEX, "d p i q x a")   /* first place of q (bound x) in p (bound imm) from a on, or -1; a already >= 0 */ \
	X(SRINDEX, "d p i q x a")  /* the same of the last place that is not behind a */            \
	X(SSPAN, "d p i q x a c")  /* first place of p (bound imm) from a on whose byte is not in q (bound x); cond NE: is in q; or the end */ \
	X(SCLEAN, "o s p i")       /* o = path p (bound imm) without // /./ /../, and bytes behind its NUL; s >= imm */ \
	X(SBASE, "o s p i") X(SDIR, "o s p i")                                                      \
	/* variables with keys (self->, a[...]): value in an object of the variable's size */       \
	X(DYNGET, "o x p")         /* o = value of variable x at key object p; absent: zero, of a string NULL */ \
	X(DYNSET, "x p o")         /* absent and all zero: nothing; zero, or a string that is NULL: deletes */ \
	/* answers */                                                                              \
	X(AGG, "x p a b")          /* aggregation x at key p (0 = none): value a, weight b (0 = 1) */ \
	X(RECORD, "o")             /* hand the record over (object = the clause's record) */        \
	X(SPECULATION, "d")        /* d = a speculation that was free, or 0 */                      \
	X(SPECULATE, "d a")        /* d = whether speculation a takes this record; faults ILLOP: there is no a */ \
	X(SETTLE, "d a x")         /* x (enum d_settle) speculation a; d = a, or 0 if it is not active; faults ILLOP */ \
	X(CHILL, "a")              /* wastes a ns; faults ILLOP: they are too many */              \
	X(SIGNAL, "a")             /* sends signal a to the process */                              \
	X(EXIT, "a")               /* no more firings after this; status a */                       \
	X(LEAVE, "a")              /* when a is not 0, the clauses behind this one do not run */     \
	X(END, "")                 /* last of each clause */
/* clang-format on */

enum ir_op {
#define X(name, operands) IR_##name,
	IR_OPS(X)
#undef X
		IR_NOPS,
};

/* The first word of a string that is NULL: no other string has a byte behind its NUL. As text it is "". */
#define D_NULL_STRING 0x100

struct ir_ins {
	uint8_t op, cond;
	uint32_t line; /* of the D source */
	ir_reg d, a, b, e;
	ir_obj o, p, q;
	uint32_t O, P;
	uint32_t s, x;
	int64_t i;
};

/* ---- the program --------------------------------------------------------- */

/* A thread-local or associative variable. Thread-local: the key is one INT
 * slot (the thread) which generated code fills in; keyed `self->a[k]` has it first. */
struct d_var {
	const char *name;
	bool is_self, is_string;
	uint32_t key_size, value_size; /* bytes, multiples of 8 */
};

struct d_agg {
	const char *name; /* without '@'; "" for the anonymous one */
	uint8_t fn;       /* enum agg_fn */
	uint32_t nkeys;   /* slots of the tuple (without the bucket) */
	struct slot *keys;
	uint32_t key_size; /* bytes incl. the bucket of a histogram; 0 = no key at all */
	struct lquantize lq;
	struct llquantize llq;
	bool value_signed; /* value prints as signed (min, max, sum, avg of signed) */
	uint32_t line;     /* of first use: order of printing at exit */
	/* of the first clause that adds to it: the elements of the tuple as they are written, and the comment in front
	 * of it, or "" */
	const char *const *key_text, *comment;
};

enum d_actkind {
	ACT_TRACE,  /* trace(expr): one slot */
	ACT_PRINTF, /* fmt, one slot per argument (stars too) */
	ACT_PRINTA, /* fmt or none, aggs; no slot */
	ACT_STACK,
	ACT_USTACK, /* one slot */
	ACT_SYM,    /* func ufunc mod umod sym usym uaddr as a statement: one slot */
	ACT_PCAP, /* INT: wall-clock time, link type, length of the packet, of what was taken; BYTES: so many of them */
	ACT_EXIT, /* one INT slot: the status */
	ACT_CLEAR,
	ACT_TRUNC,
	ACT_NORMALIZE,
	ACT_DENORMALIZE, /* agg; TRUNC and NORMALIZE have a slot or none */
	ACT_COMMIT,
	ACT_DISCARD,   /* one INT slot: the speculation, 0 when there is nothing to do */
	ACT_TRACEMEM,  /* BYTES, and INT (how many of them, negative: all) or none */
	ACT_PRINT,     /* the value; or INT, a pointer, and BYTES, those to which it points */
	ACT_SYSTEM,    /* as PRINTF: a command */
	ACT_FREOPEN,   /* as PRINTF: a file */
	ACT_FTRUNCATE, /* no slot */
	ACT_SETOPT,    /* one or two STRING slots */
	/* these are over when the program has run: a d_action has none of them */
	ACT_SPECULATE,
	ACT_CHILL,
	ACT_RAISE,
	ACT_STOP,
	/* and these are refused */
	ACT_BREAKPOINT,
	ACT_PANIC,
};
enum d_settle { D_COMMIT = 1, D_DISCARD };
struct d_action {
	uint8_t kind;
	uint32_t line;
	/* offset in the record of a word that is 0 when the action is not to be done; 0: it always is */
	uint32_t guard;
	struct slot *slots; /* in the clause's record */
	uint32_t nslots;
	struct fmt fmt;            /* PRINTF, PRINTA; n == 0: none */
	const char *fmt_text;      /* the format string, or NULL */
	const struct shape *shape; /* PRINT: of what is printed */
	uint32_t *aggs;            /* indices into d_program.agg */
	uint32_t naggs;
};

/* A record: u32 epid, u32 cpu, u64 time at which it was handed over (ns of the monotonic clock; 0: by -x temporal=no),
 * of a clause that speculates the number of the speculation that it belongs to (8 bytes, 0: to none), then the slots.
 * A faulting clause hands over an error record instead: the same header with epid | D_EPID_ERROR, then u32 fault (enum
 * ir_fault, and above D_FAULT_BITS the number of the instruction), u32 line of D, u64 value. */
#define D_RECORD_HDR 16
#define D_RECORD_TIME 8 /* offset of the time */
#define D_FAULT_BITS 8
#define D_EPID_ERROR 0x80000000u
#define D_ERROR_RECORD 32

struct d_clause {
	uint32_t id; /* dt_clause_<id>, from 0, in the order of the source */
	uint32_t line;
	struct ir_ins *ins;
	uint32_t nins, nregs, nlabels; /* registers and labels are numbered below these */
	struct d_action *acts;
	uint32_t nacts;
	ir_obj record;        /* TEMP object of record_size bytes, or 0: hands nothing over */
	uint32_t record_size; /* incl. D_RECORD_HDR; 0 = none */
	bool control;         /* holds exit, clear, trunc, printa, (de)normalize */
	bool settles;         /* holds commit or discard */
	bool speculates;      /* the record has the number of a speculation in front */
	bool silent;          /* the record tells of nothing that is shown */
	uint32_t args_used;   /* bit i: args[i] is named, of those below 32 */
	bool args_defined;    /* ... as a provider definition has it */
	uint32_t args_bytes;  /* ARGS and ARGLOAD stay below this offset of the context; 0 = no args[] */
	uint32_t source;      /* which d_source() it came from */
	const char *desc;     /* its probe descriptions as written, up to '/' or '{' */
	uint32_t *probes;     /* ids, as the resolver gave them; each once */
	uint32_t nprobes;
	bool is_default; /* no actions: the default one (an empty record, prints CPU ID FUNCTION:NAME) */
};

/* What counter() or vcounter() reads. */
struct d_counter {
	const char *event; /* as it was written */
	bool of_thread;
};
#define D_COUNTERS_MOST 16

struct d_program {
	struct d_clause *clause;
	uint32_t nclauses;
	struct ir_object *obj;
	uint32_t nobjs; /* [0] unused */
	struct d_var *var;
	uint32_t nvars;
	struct d_agg *agg;
	uint32_t naggs;
	const char **lit;
	uint32_t nlits; /* string constants */
	struct d_counter *counter;
	uint32_t ncounters;
	bool destructive;       /* it changes more than what is printed */
	bool uses_user_symbols; /* ustack ufunc usym umod uaddr or %A */
	bool uses_data_symbols; /* of these, of addresses that may be of something else than code */
	bool uses_kernel_symbols;
};

/* ---- compiling ----------------------------------------------------------- */

struct d_probedesc {
	const char *prov, *mod, *func, *name;
}; /* "" = not given */

/* What args[i] of a probe is: a pointer to a struct that lies at `base` in the context of the probe's programs; or,
 * with `value`, argN as a value of that type, and a pointer leads into the process. */
struct d_field {
	const char *name, *type; /* type: a name that D knows ("uint16_t"), or "string" */
	uint32_t offset, size;   /* a string: `size` bytes, a multiple of 8, padded with NULs */
};
struct d_args {
	const char *name; /* of its type: "struct tlp"; NULL with `value` */
	const struct d_field *field;
	uint32_t nfields;
	uint32_t base, size;
	const char *value; /* or it is of this type, as C writes it: "int", "struct stat *" ... */
	uint64_t ktype; /* ... which is the kernel's of that number, if not 0: a pointer leads into the kernel then */
	uint32_t arg;   /* which argN a value is */
	/* with `value`: an expression of D for it, in which __word0, __word1 ... are what the kernel hands over */
	const char *text;
};
/* Of a probe that stands for others that come later: its args[] are what those of the clause's other probes are. */
extern const struct d_args d_args_any;
#define D_ARGS_BYTES 32767u /* bound of base + size: what an instruction can reach */

/* Who asks for more frames than the kernel walks gets those, as in dtrace(1): it walks 127 (PERF_MAX_STACK_DEPTH)
 * unless kernel.perf_event_max_stack says otherwise.  D_FRAMES_MOST bounds what is made of that. */
#define D_FRAMES_USUAL 127
#define D_FRAMES_MOST 1024

#define D_PCAP_USUAL 1514 /* a frame of Ethernet */

/* A variable has no more keys unless its user raises that (-x tregs). */
#define D_KEYS_MOST 8

/* Error tags: rows of errtag.def. */
enum d_tag {
#define ERRTAG(tag, text) tag,
#include "dlang/errtag.def"
#undef ERRTAG
	D_NTAGS,
};
const char *d_mark(bool errtags, enum d_tag tag); /* "[D_SYNTAX] ", which stands before the line; "" without errtags */

/* What one clause may come to: operations of IR (which bounds the work on hostile sources too), instructions (jumps
 * span no more), and branches, of which the verifier keeps 8,192 open at once. */
#define D_OPERATIONS_MOST 16384
#define D_INSTRUCTIONS_MOST 65535
#define D_BRANCHES_MOST 8000
/* A format with its line: said by the compiler of what no kernel would take, and by the code generator. */
#define D_CLAUSE_TOO_LARGE                                                                                                   \
	"line %u: this clause is too large for the kernel: more than " D_DIGITS(D_OPERATIONS_MOST) " operations, " D_DIGITS( \
		D_INSTRUCTIONS_MOST) " instructions or " D_DIGITS(D_BRANCHES_MOST) " branches: divide it into several"
#define D_DIGITS(number) D_DIGITS_OF(number)
#define D_DIGITS_OF(digits) #digits

/* What a kernel tells of its types. A number names one, 0 none; texts live as long as the table. Constness and the like
 * are not told. */
enum d_ktkind {
	D_KT_VOID,
	D_KT_INT,
	D_KT_FLOAT,
	D_KT_ENUM,
	D_KT_PTR,
	D_KT_ARRAY,
	D_KT_STRUCT,
	D_KT_UNION,
	D_KT_FUNC,
	D_KT_TYPEDEF
};
struct d_ktype {
	uint8_t kind; /* enum d_ktkind */
	bool is_signed, is_bool, incomplete;
	bool user;        /* PTR: to memory of a process */
	uint32_t size, n; /* n: ARRAY, elements; 0 is as many as there are */
	const char *name;
	uint64_t to; /* PTR, ARRAY, FUNC (result), TYPEDEF */
};
struct d_kmember {
	const char *name;
	uint64_t type;
	uint32_t bit_offset;
	uint8_t bits; /* of a bit-field, else 0 */
};
/* A variable or function of the kernel or of one of its modules. */
struct d_ksymbol {
	uint64_t address, type; /* type 0: not told */
	bool is_function;
};
struct d_ktypes {
	void *arg;
	/* kind: STRUCT, UNION, ENUM, or TYPEDEF for a name without a tag. module NULL: the kernel proper. */
	uint64_t (*find)(void *arg, const char *module, uint8_t kind, const char *name);
	/* The name of that kind nearest to one that nothing has, or NULL: as long-lived as the types. */
	const char *(*near)(void *arg, const char *module, uint8_t kind, const char *name);
	bool (*get)(void *arg, uint64_t type, struct d_ktype *ret);
	bool (*member)(void *arg, uint64_t type, uint32_t i, struct d_kmember *ret); /* false: there are no more */
	bool (*constant)(void *arg, const char *name, int64_t *ret);                 /* of an enum */
	/* Enumerator i of an enum; false: there are no more. */
	bool (*enumerator)(void *arg, uint64_t type, uint32_t i, const char **name, int64_t *value);
	/* module NULL: whichever has it. Negative when there is none, with what is known of the reason in why. */
	int (*symbol)(void *arg, const char *module, const char *name, struct d_ksymbol *ret, struct err *why);
};

/* A file of definitions that programs may use: parsed when a name of it is met. */
struct d_library {
	const char *name, *text;
	size_t n;
	bool of_user; /* named for this run: what is wrong with it is told, used or not */
};

struct d_env {
	void *arg;
	/* The i-th library, those that a user named before our own: false past the last; may be NULL. */
	bool (*dlibrary)(void *arg, uint32_t i, struct d_library *ret);
	bool own_libraries;            /* the user named some */
	const struct d_ktypes *ktypes; /* NULL: there is no kernel to read from, and none of its types */
	/* Calls add(add_arg, id) for every probe that desc names.  Returns how many, or a negative
	 * code with words in e when the provider has more to say than "does not match any probes". */
	int (*probes)(void *arg, const struct d_probedesc *desc, int (*add)(void *add_arg, uint32_t id), void *add_arg,
		      struct err *e);
	/* The tag of the last description that matched nothing: D_PDESC_ZERO, or what its provider says; may be
	 * NULL. */
	enum d_tag (*refusal)(void *arg);
	/* args[index] of a probe, or NULL when it has none of that number; may be NULL. Two probes share a clause that
	 * names args[index] when they get the same pointer here. What it points to outlives the unit. */
	const struct d_args *(*args)(void *arg, uint32_t probe, uint32_t index);
	/* What a provider definition calls a probe; false: none is about it. May be NULL. */
	bool (*defined)(void *arg, uint32_t probe, const char **prov, const char **name);
	/* How many bytes a text of a probe has with its NUL, x: enum ir_strbuiltin; 0: it is not known yet. May be
	 * NULL. */
	uint32_t (*text_bytes)(void *arg, uint32_t probe, uint32_t x);
	bool bare_args; /* `x` means args[0]->x where that has such a member */
	bool no_advice; /* dtrace(1)'s words have nothing added to them */
	bool bare_end;  /* an error at the end of a source has dtrace(1)'s words and no more */
	/* Value of macro variable or argument ("target", "pid", "1", "$1" for $$1, ...): text, or NULL if unset. */
	const char *(*macro)(void *arg, const char *name);
	/* An event that counter() or vcounter() names can be counted: 0, or negative with words in e; NULL: no event
	 * can. */
	int (*counter)(void *arg, const char *event, struct err *e);
	/* #pragma D depends_on provider NAME: 0, or negative with words in e; may be NULL. */
	int (*provider)(void *arg, const char *name, struct err *e);
	int (*module)(void *arg, const char *name, struct err *e); /* the same of a module of the kernel */
	/* #pragma D option NAME[=VALUE]: 0, or negative with words in e. */
	int (*option)(void *arg, const char *name, const char *value, struct err *e);
	uint32_t strsize, stackframes, ustackframes,
		jstackframes; /* read after all pragmas through sizes() if not NULL */
	uint32_t keys_most;   /* of a variable with keys; 0: D_KEYS_MOST */
	uint32_t pcapsize;    /* bytes that pcap() takes of a packet; 0: D_PCAP_USUAL */
	uint32_t scratchsize; /* bytes that alloca() has in a clause */
	uint32_t maxframes;   /* what stack(n) and ustack(n) get at most; 0: D_FRAMES_USUAL */
	void (*sizes)(void *arg, struct d_env *env);
	bool empty_ok;      /* -Z: descriptions that match nothing are fine */
	bool no_program_ok; /* -xempty: a source without any program is fine */
	bool pspec;         /* -xpspec: at the outer level a word with a * is a description, whatever it begins with */
	bool errtags;       /* -xerrtags: messages carry [D_...] */
	bool no_process;    /* there is no process, and the clock stands still: the vm */
	bool defaultargs;   /* -xdefaultargs: unset $1 is 0 or "" */
	bool parse_only;    /* stop after `parse` */
	const char *dump;   /* name of a pass: its result is printed to dump_to */
	struct buf *dump_to;
};

struct d_unit;
int d_open(struct d_unit **ret, const struct d_env *env);
void d_close(struct d_unit *u); /* NULL is fine */

/* Adds a source.  name: file for messages, or NULL for a -n string (`text`).  pragmas take effect at once.
 * The text is copied.  Returns its number (0..), or -TALLY_ESYNTAX with the words in e: complete as
 * dtrace(1) prints them after "dtrace: ", e.g. "failed to compile script F: line 3: syntax error near \"}\""
 * or "invalid probe specifier TEXT: ...". */
int d_source(struct d_unit *u, const char *name, const char *text, size_t len, struct err *e);
/* The same of text of the command line whose descriptions end with that part of a probe's, not its name: -P, -m, -f. */
enum d_part { D_PART_PROVIDER = 1, D_PART_MODULE, D_PART_FUNCTION, D_PART_NAME };
int d_source_part(struct d_unit *u, enum d_part part, const char *text, size_t len, struct err *e);

/* Sets e to what is wrong with a source, in the form of d_source(): the name, or the text of a command line, stands in
 * it whole, or cut where the reason needs the room.  Returns -code. */
int d_refuse_source(struct err *e, enum tally_err code, const char *name, const char *text, size_t len,
		    const char *reason);

/* Compiles all sources.  *ret borrows from the unit.  Fails as d_source(), or with -TALLY_ENOTSUP (D_CLAUSE_TOO_LARGE).
 * A reason that a provider gave is in *why (or left empty): the second line that explains a refused probe. */
int d_compile(struct d_unit *u, const struct d_program **ret, struct err *e, struct err *why);

/* Prints the IR of a program (what --dump=lower shows). */
void ir_print(const struct d_program *p, struct buf *to);
/* Proves IR well formed: operands in range, labels forward and placed once, registers written
 * before read on every path, objects and offsets in bounds.  Returns 0 or -TALLY_EINVAL. */
int ir_check(const struct d_program *p, struct err *e);

#endif
