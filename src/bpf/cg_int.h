/*
 * cg_int.h: the code generator's own header.  cg.c opens with its theory.
 */
#ifndef TALLY_BPF_CG_INT_H
#define TALLY_BPF_CG_INT_H

#include "bpf/bpf.h"
#include "bpf/insn.h"

/* The top of the stack is glue, below it come spilled registers, then objects. */
enum {
	FP_KEY = -8,      /* a u32 key of an array */
	FP_DROPS = -16,   /* address of this program's struct img_drops, or the key by which cg_drops() finds it */
	FP_TMP = -48,     /* 32 bytes: a first value, or what a helper writes */
	FP_ERR = -80,     /* an error record (D_ERROR_RECORD bytes) */
	FP_RESUME = -88,  /* number of the clause that faulted, in its program */
	FP_FAULTED = -96, /* and in the script */
	FP_CALL = -104,   /* address of the row of this system call or place */
	FP_BUSY = -112,   /* of the words that say who has which part of scratch memory */
	FP_PART = -120,   /* which part is ours */
	FP_WAIT = -112,   /* of a program of a lock that was waited for: nanoseconds ... */
	FP_READS = -120,  /* ... and whether to read */
	FP_WHO = -128,    /* of a program of a place: process << 32 | thread */
	FP_SELF = -136,   /* address of the thread's storage, see cg_self.c */
	FP_SPILL = -136,  /* spilled registers lie below */
};
#define STACK_OBJECT_MOST 128u /* larger objects live in scratch memory */
#define SCRATCH_MOST 32768u    /* a per-CPU value may not be larger */

/* Work space of the string functions, at the start of scratch memory: four
 * words, index()'s failure table (a u16 for each byte of the longest needle,
 * and one), room for a copy of the longest string that strlen() measures. */
enum { WORK_I = 0, WORK_J = 8, WORK_K = 16, WORK_LAST = 24, WORK_FAIL = 32 };
#define WORK_SET_NEEDLE 64u /* a needle of so many bytes: its table has room for a byte for each value of a byte */

/* Functions behind a program's clauses, for string functions whose loops all calls share (cg_str.c). With their
 * callbacks they take so much of the stack. */
enum cg_fn { CG_FN_INDEX, CG_FN_RINDEX, CG_FN_COMPONENTS, CG_FN_SPAN, CG_FN_CLEAN, CG_NFNS };
#define STACK_FUNCTIONS 64

/* A row of the table of a program of many probes (cg_call.c, cg_user.c) begins so. */
enum { CG_ROW_ID = 0, CG_ROW_COMPAT = 4, CG_ROW_PID = 4, CG_ROW_EPID = 8 };
/* Elements of the map of scratch memory: which belongs to programs of places, and how many of those there are
 * (cg_user.c). */
enum { CG_SCRATCH_PERF, CG_SCRATCH_TEST, CG_SCRATCH_CALL, CG_SCRATCH_USER, CG_SCRATCH_USERS = 4 };

#define CG_SELF_HASH (-1)
#define NO_LABEL UINT32_MAX
enum { IN_CONST, IN_REG, IN_SPILL };
struct cg_reg {
	uint8_t in; /* where the register lives */
	uint8_t phys;
	int16_t slot; /* offset from the frame pointer */
	int64_t imm;
	uint32_t first, last, defs; /* of its life, as instruction numbers */
};
struct cg_place {
	uint8_t base; /* R10, R7 (scratch) or 0: a global */
	bool heap;    /* must be in scratch: reached at a computed offset */
	int32_t off;
};

struct cg {
	/* for all programs */
	const struct d_program *p;
	const struct bpf_opts *o;
	struct bpf_image *img;
	struct err *e;
	bool failed;
	uint32_t maps_cap, rows_cap, parts_cap;
	struct map epids;      /* by probe and clause: those of programs without rows */
	uint32_t scratch_size; /* most of any program */
	uint32_t slack;        /* room behind globals, see cg_power_of_2() */
	bool watch_exit;       /* some perf program may call exit() */
	bool has_perf, has_calls, has_points, has_users;
	int16_t *self_at; /* by variable: where it lies in the storage of the thread, or CG_SELF_HASH */
	uint32_t self_size;

	/* the program being generated, or a part of it: then from its first instruction on */
	const struct bpf_probe *probe;
	uint32_t point;      /* which of the probe's */
	struct img_rows row; /* of a program of many probes: its table, see cg_call.c */
	uint32_t prog;
	bool too_large; /* more than the kernel takes */
	struct bpf_ins *ins;
	uint32_t *lines;
	uint32_t nins, ins_cap, lines_cap, nlines;
	struct img_reloc *reloc;
	uint32_t nrelocs, reloc_cap;
	int32_t *label; /* position, or -1 */
	uint32_t nlabels, label_cap;
	struct cg_fix {
		uint32_t ins, label;
	} * fix;
	uint32_t nfixes, fix_cap;
	struct cg_place *place;          /* by object */
	uint32_t work_text, work_needle; /* longest text and needle of index(), path of basename() and dirname() */
	uint32_t work_copy;              /* longest string of strlen() */
	struct {
		bool used;
		uint32_t label, line;
	} fn[CG_NFNS]; /* line: of the first call */
	struct img_func func[IMG_FUNCS_MOST];
	uint32_t nfuncs;
	bool work;            /* string functions are used */
	bool callbacks;       /* something but the string functions calls loop() */
	uint32_t chill_loop;  /* label of what chill() waits in, or NO_LABEL */
	uint32_t spec_loop;   /* label of what looks for a free speculation, or NO_LABEL */
	uint32_t unwind_loop; /* label of what walks a frame of a user stack, or NO_LABEL */
	uint32_t walk;        /* frames of a user stack that is walked by tables: room for these, too */
	uint32_t frames;      /* room for these in scratch memory; 0 when no stack is a key */
	bool uses_scratch, faults;
	int32_t stack_low; /* lowest offset used */
	uint32_t errblk;   /* label */
	uint32_t out;      /* label of the program's end */

	/* the clause being generated */
	const struct d_clause *clause;
	struct cg_reg *reg;
	uint32_t *ir_label;                           /* labels of the clause in ours */
	uint32_t epid, line, fault_label, clause_end; /* epid: of a system call its index in the row */
	bool in_error, clause_faults;
};

/* cg_emit.c */
void cg_ins(struct cg *g, struct bpf_ins i);
void cg_imm(struct cg *g, uint8_t reg, int64_t v);
void cg_mov(struct cg *g, uint8_t to, uint8_t from);
void cg_map(struct cg *g, uint8_t reg, uint32_t map);
void cg_map_value(struct cg *g, uint8_t reg, uint32_t map, uint32_t off);
uint32_t cg_label(struct cg *g);
void cg_put(struct cg *g, uint32_t label);
void cg_jmp(struct cg *g, uint32_t label);
void cg_jcc(struct cg *g, struct bpf_ins jump, uint32_t label); /* jump made with offset 0 */
void cg_call(struct cg *g, uint32_t label);                     /* a function of ours */
void cg_func(struct cg *g, uint8_t reg, uint32_t label);        /* reg = its address */
void cg_patch(struct cg *g);                                    /* all labels are placed */
int cg_oom(struct cg *g);
int cg_fail(struct cg *g, enum d_tag tag, const char *fmt, ...) PRINTF_LIKE(3, 4); /* -TALLY_ENOTSUP */
uint8_t cg_use(struct cg *g, ir_reg v, uint8_t tmp);                               /* a machine register that holds v */
uint8_t cg_def(struct cg *g, ir_reg v, uint8_t tmp);                               /* where to compute v ... */
void cg_done(struct cg *g, ir_reg v, uint8_t reg);                                 /* ... and that it is there now */
bool cg_small(struct cg *g, ir_reg v, int64_t *imm);                               /* v is a constant of 32 bits */
struct cg_at {
	uint8_t base;
	int32_t off;
};
struct cg_at cg_obj(struct cg *g, ir_obj o, uint32_t off, uint8_t tmp); /* base register and offset; tmp for globals */
void cg_addr(struct cg *g, uint8_t reg, ir_obj o, uint32_t off);
void cg_lea(struct cg *g, uint8_t reg, uint8_t base, int32_t off);
void cg_zero(struct cg *g, struct cg_at at, uint32_t n);
void cg_copy(struct cg *g, ir_obj dst, uint32_t dst_off, ir_obj src, uint32_t src_off, uint32_t n);
void cg_bytes(struct cg *g, struct cg_at at, const void *p, size_t n, uint32_t room); /* constant bytes, padded */
void cg_forget(struct cg *g, uint8_t reg);       /* the verifier no longer knows reg; R5 changes */
void cg_count(struct cg *g, uint32_t drops_off); /* one more in this program's img_drops; R0 to R5 change */
void cg_drops(struct cg *g, uint32_t none);      /* R0 = its address, or to `none`; R1 to R5 change */

/* cg_alloc.c */
int cg_alloc(struct cg *g, const struct d_clause *c, struct cg_reg *reg, uint32_t *spills);
uint32_t cg_work_copy(const struct cg *g);
uint32_t cg_frames(const struct cg *g);
uint32_t cg_walk(const struct cg *g);
int cg_place_objects(struct cg *g, const struct d_clause *const *clause, uint32_t n, uint32_t spills);

/* cg.c */
uint32_t cg_stack_frames(const struct bpf_opts *o); /* that a kept stack has room for */
uint32_t cg_var_room(const struct cg *g, uint32_t x);
uint32_t cg_map_index(struct cg *g, enum img_map_use use, uint32_t id);
/* The ring of this CPU (whose number R0 holds), the same with a wake-up, or the control ring. speculates: the record
 * counts for a speculation. */
enum cg_ring { CG_RING_CPU, CG_RING_CPU_WAKE, CG_RING_CONTROL };
void cg_emit_record(struct cg *g, struct cg_at at, uint32_t n, enum cg_ring ring, bool speculates);
void cg_fault(struct cg *g, enum ir_fault kind, uint8_t value_reg);
const char *cg_prog_builtin(struct cg *g, uint32_t which);

/* one function per IR operation */
typedef void cg_op(struct cg *g, const struct ir_ins *i);
/* cg_ops.c */
void cg_dispatch(struct cg *g, const struct ir_ins *i);
/* The next instruction reaches a field of a struct of the kernel; of a task. */
void cg_struct_named(struct cg *g, const char *type, const char *field);
void cg_task_named(struct cg *g, const char *field);
/* R0 = `n` bytes of a field of the struct at R0, through the kernel's BTF. An address that cannot be read gives 0. */
void cg_struct_field(struct cg *g, const char *type, const char *field, unsigned n);
/* R0 = whether the process of that id is ours or an ancestor of ours. */
void cg_progeny(struct cg *g, uint8_t pid);
/* cg_str.c */
uint32_t cg_power_of_2(uint32_t n);                                    /* the lowest that is not below n and 16 */
uint32_t cg_str_padded(const struct cg *g, const struct ir_ins *read); /* bytes to zero before a string is read there */
void cg_functions(struct cg *g);                                       /* emits those that the program calls */
cg_op cg_sspan, cg_sclean, cg_slen, cg_scmp, cg_ssub, cg_sjoin, cg_sindex, cg_srindex, cg_sbase, cg_sdir;
/* cg_spec.c */
cg_op cg_speculation, cg_speculate, cg_settle;
/* cg_self.c */
void cg_self_plan(struct cg *g);
bool cg_self_find(struct cg *g); /* whether the clause has no other thread-local variables: their key is not needed */
cg_op cg_self_get, cg_self_set;
void cg_drop_variable(struct cg *g); /* cg_ops.c: ends the clause, and is counted */
/* cg_counter.c */
cg_op cg_counter, cg_vcounter;
void cg_vtimestamp(struct cg *g);                          /* R0 = the thread's CPU time in nanoseconds */
void cg_spec_give_back(struct cg *g, struct cg_at record); /* it was counted, and will not come */
void cg_spec_function(struct cg *g);                       /* emits it if the program calls it */
/* cg_machine.c */
cg_op cg_chill, cg_signal;
void cg_chill_function(struct cg *g);
/* cg_agg.c */
cg_op cg_agg, cg_stackid;
/* cg_call.c */
static inline bool cg_is_call(const struct cg *g)
{
	return g->probe->cls == IMG_ENTRY || g->probe->cls == IMG_RETURN;
}
static inline bool cg_is_user(const struct cg *g)
{
	return g->probe->cls == IMG_USER_ENTRY || g->probe->cls == IMG_USER_RETURN || g->probe->cls == IMG_USER_PLACE;
}
/* Whether the program is that of many probes, and finds in a table which it is. */
static inline bool cg_has_rows(const struct cg *g)
{
	return cg_is_call(g) || cg_is_user(g);
}
/* Whether something of the machine runs the program, not the tracer or a record. */
static inline bool cg_is_event(const struct cg *g)
{
	return g->probe->cls == IMG_PERF || g->probe->cls == IMG_POINT || cg_has_rows(g);
}
const struct bpf_probe *cg_probe(const struct cg *g, uint32_t id);
bool cg_clause_fires(const struct cg *g, const struct d_clause *c); /* for the program's probe, or one of its class */
void cg_row_table(struct cg *g, const struct d_clause *const *clause, uint32_t n);
void cg_row_clause(struct cg *g, uint32_t end);
void cg_row_id(struct cg *g, uint8_t to);
void cg_row_epid(struct cg *g, uint8_t to);
bool cg_row_text(struct cg *g, uint32_t which, struct cg_at at, uint32_t n); /* false: it is the same for all probes */
bool cg_row_has_digits(const struct cg *g, uint32_t which);                  /* then that wants the process id in R0 */
void cg_call_begin(struct cg *g, uint32_t out);
void cg_call_arg(struct cg *g, unsigned n);
void cg_call_errno(struct cg *g);
/* The program ends unless that system call is the one that runs. */
void cg_call_only(struct cg *g, const struct bpf_point *p, uint32_t out);

/* cg_point.c */
const struct bpf_point *cg_point(const struct cg *g); /* of this program; NULL: it has none */
bool cg_has_subject(const struct cg *g);
bool cg_point_is_typed(const struct cg *g); /* the kernel checks the program with the types of its arguments */
void cg_task(struct cg *g);
void cg_point_subject(struct cg *g, uint8_t to);
void cg_point_word(struct cg *g, uint8_t to, unsigned n);
void cg_point_arg(struct cg *g, unsigned n);
void cg_point_begin(struct cg *g, uint32_t out, bool whole);

/* cg_wait.c */
void cg_wait_begin(struct cg *g, uint32_t out, bool whole);

/* cg_stack.c */
/* to = flags of the helpers that take a stack, without the frames that are not the probe's, and `skip` more. R0 to R5
 * change. */
void cg_stack_flags(struct cg *g, uint8_t to, bool user, uint32_t skip);
void cg_stack_key_flags(struct cg *g, uint8_t to, bool user); /* the same for a stack that is a key */
bool cg_stack_has_dispatch(const struct cg *g);               /* a key of it is a STACK_ID_DISPATCH */
/* R0 = how many bytes of frames went to R2, of R3 bytes, as flags R4 want them: of the thread that the probe is
 * about. */
void cg_get_stack(struct cg *g, bool user);

/* cg_agg.c: a stack that is a key, under a hash of 62 bits */
void cg_long_stack_find(struct cg *g, uint32_t kept);
void cg_long_stack_keep(struct cg *g, uint32_t kept, uint32_t none);

/* cg_unwind.c */
#define CG_WALK_BYTES(frames) (104u + 8u * (frames)) /* of scratch memory, for a walk of so many */
bool cg_unwinds(const struct cg *g, bool user);      /* a stack of the process is walked by tables */
/* R0 = 8 * how many frames of the process there are, `frames` at most; negative: it has none. R1 to R5 change. */
void cg_unwind(struct cg *g, uint32_t frames);
/* to R1, `most` bytes at most, and behind them the mark if they were cut */
void cg_unwind_copy(struct cg *g, uint32_t most);
/* R0 = the id of the stack; to `none` if it can't be kept, to `empty` if there is none. */
void cg_unwind_id(struct cg *g, uint32_t none, uint32_t empty);
void cg_unwind_function(struct cg *g); /* emits what walks a frame if the program calls it */
void cg_generation(struct cg *g);      /* cg_ops.c: R0 = when the generation of the process's mappings began */
void cg_pid(struct cg *g);             /* cg_ops.c: R0 = the process */

/* cg_user.c */
#define CG_OPERAND_BYTES 16u /* in a row */
extern const struct bpf_regs cg_regs_x86_64, cg_regs_aarch64;
void cg_user_operands(uint8_t *to, const struct bpf_place *p);
void cg_user_begin(struct cg *g, uint32_t leave);
bool cg_user_has_any(const struct cg *g); /* places of the program are of whichever process comes there */
void cg_user_take_scratch(struct cg *g, bool whole, uint32_t leave);
void cg_user_give_back(struct cg *g);
void cg_user_arg(struct cg *g, unsigned n);
/* R0 = argument n of a function that begins, where the registers are the context: those behind the registers lie on the
 * stack. */
void cg_function_arg(struct cg *g, unsigned n, bool user);

#endif
