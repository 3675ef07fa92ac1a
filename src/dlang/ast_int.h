/*
 * ast_int.h: the tree that parse, bind and type work on and lower reads.
 *
 * One kind of node serves all expressions.  The parser makes nodes marked (P);
 * bind and type rewrite them in place until only nodes marked (L) are left.
 * After `type` nothing has to be inferred:
 *
 *  - every node has a type; a conversion is an N_CAST node, so that operands
 *    have the type that their operator computes in;
 *  - identifiers are N_VAR, N_BUILTIN, N_STRBUILTIN or constants;
 *  - each argument of an action, key of a tuple and right side of an assignment
 *    has exactly the type of the place it goes to, string bounds included;
 *  - constants are folded; a constant index is an offset;
 *  - what IR can't say was refused, with the line and the words.
 *
 * Errors: functions return 0 or a negative enum tally_err, those that make a
 * node return NULL; either way the words are in the unit (d_fail, d_nomem).
 */
#ifndef TALLY_DLANG_AST_INT_H
#define TALLY_DLANG_AST_INT_H

#include "dlang/dlang.h"

struct d_node;
struct d_sym;

/* ---- types -------------------------------------------------------------- */

enum ty_kind {
	TY_VOID,
	TY_INT,    /* integers, char, _Bool; size 1 2 4 8 */
	TY_FLOAT,  /* can be declared, not computed with */
	TY_ENUM,   /* in expressions: int */
	TY_PTR,    /* 8 bytes; of `to` */
	TY_STRING, /* `size` bytes: a multiple of 8, incl. the NUL */
	TY_ARRAY,  /* n elements of `to`; size is not rounded */
	TY_STRUCT,
	TY_UNION,
	TY_FUNC,  /* function prototypes are parsed, never called */
	TY_ASSOC, /* declarations only: int a[int, string] */
	/* only as arguments of actions and elements of tuples: */
	TY_STACK, /* stack() ustack(): user, frames */
	TY_SYM,   /* func() ... uaddr(): sym is an enum slot_kind */
	TY_AGG,   /* an aggregation by name, as in printa(@a) */
};

struct d_member {
	const char *name; /* "" for an unnamed struct or bit-field */
	const struct d_type *type;
	uint32_t offset;         /* bytes; of a bit-field: of what is loaded for it */
	uint8_t bit, bits, unit; /* bit-field: lowest bit, width (0: it is none), bytes that are loaded for it */
	struct d_member *next;
};

struct d_type {
	uint8_t kind;               /* enum ty_kind */
	bool is_signed;             /* INT, ENUM */
	bool is_bool;               /* INT: _Bool, which converts any value but 0 to 1 */
	bool incomplete;            /* struct, union, enum: declared, not defined */
	bool user;                  /* PTR: `userland`; STACK: ustack */
	bool translated;            /* PTR: leads to what was translated, not to a struct of this type */
	uint8_t sym;                /* SYM: enum slot_kind */
	uint16_t frames;            /* STACK */
	uint32_t size, align;       /* bytes; 0 when there is no size */
	uint32_t n;                 /* ARRAY: elements */
	const char *name;           /* for messages: "struct foo"; NULL = derive it */
	const char *module;         /* struct, union, enum: whose it is when it is a kernel's; NULL: the kernel's own */
	uint64_t kernel;            /* the kernel's number of it: struct, union, while its members are not read; enum */
	const struct d_type *to;    /* PTR, ARRAY: element; FUNC: result; ASSOC: value */
	struct d_member *members;   /* STRUCT, UNION, in order */
	const struct d_type **keys; /* ASSOC: the tuple */
	uint32_t nkeys;
};

static inline bool ty_is_int(const struct d_type *t)
{
	return t->kind == TY_INT || t->kind == TY_ENUM;
}
static inline bool ty_is_scalar(const struct d_type *t)
{
	return ty_is_int(t) || t->kind == TY_PTR;
}
static inline bool ty_is_sou(const struct d_type *t)
{
	return t->kind == TY_STRUCT || t->kind == TY_UNION;
}

/* The slot that a value of type t takes in a record or (in_key) in a key: all but its offset.
 * KSTACK and USTACK in a record: frames * 8 (+ 8), in a key 8 (+ 8). BYTES: rounded up to 8. */
struct slot d_slot_of(const struct d_type *t, bool in_key);

/* ---- variables ---------------------------------------------------------- */

enum sym_kind {
	SYM_GLOBAL, /* no keys: an IR_OBJ_GLOBAL object */
	SYM_THIS,   /* no keys: an IR_OBJ_THIS object */
	SYM_SELF,   /* nkeys 0 or more, the thread not counted: a d_var */
	SYM_ASSOC,  /* global with nkeys >= 1: a d_var */
	SYM_AGG,    /* a d_agg */
};

struct d_sym {
	uint8_t kind;               /* enum sym_kind */
	bool indexed;               /* an N_INDEX reaches into it: ir_object.indexed */
	bool scratch, elsewhere;    /* pointers that were assigned: into scratch memory, to anything else (scratch.c) */
	bool nullable;              /* a string that may have been assigned NULL */
	bool declared;              /* by a declaration, not by its first assignment */
	uint32_t line, source;      /* of its first use */
	const char *name;           /* without this-> self-> @ */
	const struct d_type *type;  /* AGG: NULL */
	const struct d_type **keys; /* one per element. AGG: the widest of all uses */
	uint32_t nkeys;
	/* AGG; in u->agg in the order of first use, which is its number in d_program.agg */
	uint8_t fn;                      /* enum agg_fn */
	bool has_fn;                     /* some clause assigns it */
	const char **key_text, *comment; /* of the first clause that assigns it: d_agg has them */
	uint32_t fn_line;                /* of the last assignment typed so far, or 0 */
	bool value_signed;
	struct lquantize lq;
	struct llquantize llq;
	uint32_t index; /* in u->var or u->agg */
	/* lower's own */
	uint32_t ir; /* object or variable number */
};

/* ---- expressions -------------------------------------------------------- */

enum n_kind {
	/* leaves */
	N_INT,        /* L  ival, extended as the type says (also a PTR constant: NULL; a STRING: NULL) */
	N_STR,        /* L  str, len; TY_STRING of the bound of where it goes */
	N_IDENT,      /* P  str: a name; `scope` says this->, self-> or none */
	N_SYMBOL,     /* P  `kernel_symbol: refused by bind */
	N_VAR,        /* L  sym; keys in arg[narg] when SELF or ASSOC has keys */
	N_BUILTIN,    /* L  ival = enum ir_builtin */
	N_STRBUILTIN, /* L  ival = enum ir_strbuiltin; the bound of where it goes */
	N_ARGS,       /* L  args[...]: PTR to a struct at offset `offset` of the context. P: index b */
	N_AGG,        /* P  @name[arg...]; only in statements, never reaches lower */
	/* operators */
	N_UN,       /* L  op a: UN_NEG, UN_NOT in the node's type; UN_LNOT of any scalar */
	N_BIN,      /* L  a op b, see enum n_op */
	N_ASSIGN,   /* L  a = b, or a op= b when op != 0, see below */
	N_INCDEC,   /* L  a += ival; the value is a's after (pre) or before (!pre) that */
	N_COND,     /* L  a ? b : c; a scalar; b and c have the node's type, maybe void */
	N_COMMA,    /* L  a, b */
	N_CAST,     /* L  a to the node's type, see below */
	N_MEMBER,   /* L  place a + offset (bytes); bits/bit when it is a bit-field. P: .str */
	N_ARROW,    /* P  a->str */
	N_DEREF,    /* L  place at address a (PTR), kernel's, or user's if a->type->user */
	N_ADDR,     /* L  address of the place a; type PTR, kernel's unless it is rooted in a user's N_DEREF */
	N_INDEX,    /* L  place: element b (8 bytes, not constant) of array place a; or any byte b of string a */
	N_SIZEOF,   /* P  of type ty_arg or of expression a */
	N_OFFSETOF, /* P  ty_arg, str */
	N_XLATE,    /* L  struct a (an N_VAR), once arg[] have assigned its members. P: a, translated to ty_arg */
	N_CALL,     /* P: any call str(arg...). L: a subroutine, call = its row, arg[narg] */
	N_STACKFN,  /* L  stack() ustack(): type TY_STACK says which and how many frames */
	N_SYMFN,    /* L  func(a) ... uaddr(a): type TY_SYM; a is INT or PTR, 8 bytes wide */
	N_NKINDS,
};

/* N_BIN.  Arithmetic: a, b and the node have one INT type (the usual arithmetic conversions of D are done); or a and
 * the node are PTR and b is a 64-bit INT already multiplied by the size of the pointee; or (ADD) a and the node are
 * STRING, and b is a 64-bit INT. DIV, MOD, SHR, and the order comparisons go by a's type: is_signed, PTR is unsigned.
 * SHL, SHR: b is any INT.  A result of less than 8 bytes must be extended again after ADD ... Comparisons: a and b have
 * one INT type, or are both PTR, or are both TY_STRING (of any bounds); node is int.  LAND, LOR: a and b are any
 * scalars, evaluated left to right and only as far as needed; LXOR evaluates both; node is int. */
/* clang-format off */
#define N_OPS(X)                                                                                   \
	X(NONE, "=") X(ADD, "+") X(SUB, "-") X(MUL, "*") X(DIV, "/") X(MOD, "%")                  \
	X(AND, "&") X(OR, "|") X(XOR, "^") X(SHL, "<<") X(SHR, ">>")                               \
	X(EQ, "==") X(NE, "!=") X(LT, "<") X(LE, "<=") X(GT, ">") X(GE, ">=")                      \
	X(LAND, "&&") X(LOR, "||") X(LXOR, "^^")                                                   \
	X(NEG, "-") X(NOT, "~") X(LNOT, "!") X(PLUS, "+")
/* clang-format on */
enum n_op {
#define X(tag, text) OP_##tag,
	N_OPS(X)
#undef X
		OP_NOPS,
};
#define UN_NEG OP_NEG
#define UN_NOT OP_NOT
#define UN_LNOT OP_LNOT

/*
 * Places (left sides, operands of MEMBER, INDEX, ADDR):
 *   object places are rooted in N_VAR; memory places in N_DEREF and can only be read; over N_ARGS
 *   they are known to lie in the context.
 *   MEMBER adds `offset`. INDEX adds b times a->type->to->size.
 *   A place of type STRUCT, UNION or ARRAY occurs as a value only as right side of N_ASSIGN (same
 *   type), as a key, as an argument of trace() and in N_CAST to string (ARRAY of char: at most n bytes).
 *
 * N_ASSIGN, op 0: a is an object place, b has its type. The value of the node is b's.
 *   op != 0: a op= b: a's value is converted to `opty`, op'ed with b (of type opty; for shifts any
 *   INT; for PTR a 64-bit INT already multiplied), and the result converted to a's type.
 * N_CAST, from a->type to type:
 *   INT/ENUM/PTR to INT/ENUM/PTR: extend from the low type->size bytes as the target's sign says
 *   INT or PTR to STRING: read a string at that address (user's if a's type is PTR and `user`)
 *   STRING to STRING: another bound; a shorter one cuts and must keep a NUL as last byte
 *   ARRAY of char place to STRING; anything to VOID: evaluated for its effect
 */
enum n_scope { SCOPE_NONE, SCOPE_THIS, SCOPE_SELF };

#define D_ARGUMENTS_BYTES 80u /* of a psinfo_t: PRARGSZ */
/* Trees are walked by recursion; longer chains of operators are refused. */
#define D_MAX_TREE 512

struct d_node {
	uint8_t kind;  /* enum n_kind */
	uint8_t op;    /* enum n_op */
	uint8_t scope; /* N_IDENT: enum n_scope */
	bool pre;      /* N_INCDEC */
	bool constant; /* N_CAST: of a constant, or else what str names is not used as it may be */
	bool implied;  /* N_CAST, and N_COMMA of a constant: nobody wrote it; not there when the types are the same */
	bool measured; /* N_IDENT: the operand of sizeof, where a type may stand, too */
	uint8_t bit, bits, unit; /* N_MEMBER */
	uint8_t call;            /* N_CALL after bind: enum d_call */
	uint16_t depth;          /* of the tree below: at most D_MAX_TREE */
	uint32_t line;
	uint32_t key;                /* N_CAST: which argument of the inline that str names, from 1; 0: of none */
	uint32_t offset;             /* N_MEMBER */
	const struct d_type *type;   /* NULL until the type pass, but for N_CAST */
	const struct d_type *opty;   /* N_ASSIGN */
	const struct d_type *ty_arg; /* N_SIZEOF, N_OFFSETOF */
	int64_t ival;
	const char *str;
	uint32_t len;        /* N_STR: bytes without the NUL, no NUL inside */
	const char *written; /* a leaf that is a macro argument or a character constant: $1, 'c'; else NULL */
	struct d_node *a, *b, *c;
	struct d_node **arg;
	uint32_t narg;
	const char **key_text; /* N_AGG: the elements of its tuple as they are written */
	struct d_sym *sym;
};

/* ---- functions ----------------------------------------------------------- */

enum call_class {
	CC_SUBR,  /* has a value */
	CC_ACT,   /* a statement; code is an enum d_actkind */
	CC_AGG,   /* right side of @ = ...; code is an enum agg_fn */
	CC_STACK, /* stack, ustack */
	CC_SYM,   /* code is an enum slot_kind */
	CC_LATER, /* known and refused by name */
};
enum d_call {
	CALL_NONE,
#define CALL(name, class, code, min, max, args, result) CALL_##name,
#include "call.def"
#undef CALL
	CALL_N,
};
struct d_callrow {
	const char *name;
	uint8_t cls, code, min, max;
	const char *args; /* a letter each: see call.def */
	char result;
};
extern const struct d_callrow d_calls[CALL_N]; /* [0] unused */

/* ---- definitions ------------------------------------------------------------ */

/* Names that stand for other trees in a copy of a tree. */
struct d_params {
	const char **name;
	const struct d_type **type;
	struct d_node **arg;
	uint32_t n, cap;
};
/* inline type name[params] = expr; the tree is as it was parsed */
struct d_inline {
	const char *name;
	const struct d_type *type;
	struct d_params params; /* no arg */
	struct d_node *expr;
	const char *file;
	uint32_t line;
	bool followed; /* a search for definitions that use each other was here */
};
struct d_xmember {
	const char *name;
	struct d_node *expr;
	uint32_t line;
	struct d_xmember *next;
};
/* provider prov { probe name ( native ) : ( seen ); }; */
struct d_defined {
	const char *prov, *name;      /* request-start, as a description has it */
	struct d_params native, seen; /* no arg */
	bool is_translated;
	uint32_t line;
};
/* translator to < from param > { members }; */
struct d_translator {
	const struct d_type *to, *from;
	const char *param;
	struct d_xmember *members;
	uint32_t line;
	struct d_translator *next;
};

/* ---- statements and clauses ---------------------------------------------- */

enum st_kind {
	ST_EXPR, /* expr, for its effect */
	ST_AGG,  /* agg[key...] = fn(value, weight) */
	ST_ACT,  /* one struct d_action */
	ST_IF,   /* if (expr) then else other */
};
struct d_stmt {
	uint8_t kind; /* enum st_kind */
	uint8_t act;  /* ST_ACT: enum d_actkind */
	uint32_t line;
	const char *header;  /* the unit's, where the statement begins: its messages name it */
	struct d_node *expr; /* P: the whole statement. L: ST_EXPR, ST_IF */
	/* ST_AGG: keys have the types agg->keys[i]; value is INT of 8 bytes, NULL for count();
	 * weight is INT of 8 bytes or NULL */
	struct d_sym *agg;
	struct d_node **key, *value, *weight;
	uint32_t nkeys;
	/* ST_ACT: one slot each, in this order. printf: the value of a star comes before its
	 * conversion's; an integer printed by %a or %A is wrapped in N_SYMFN. exit: an int. trunc,
	 * normalize: 64 bits or none. stack, ustack, func ...: the N_STACKFN or N_SYMFN itself. */
	struct d_node **arg;
	uint32_t narg;
	struct fmt fmt;
	const char *fmt_text;
	const struct shape *shape;
	struct d_sym **aggs;
	uint32_t naggs;
	/* ST_IF */
	struct d_stmt *then, *other;
	struct d_stmt *next;
};

/* #pragma D attributes or binding: about a name that must be D's in the end. */
struct d_about {
	const char *pragma, *name;
	uint32_t line, source;
	struct d_about *next;
};

struct d_desc {
	uint32_t line;
	const char *text; /* as written */
	struct d_probedesc d;
	uint32_t id;      /* a probe id instead of a description, or 0 */
	uint32_t nprobes; /* after bind: how many probes the clause has by this one and those in front of it */
	struct d_desc *next;
};

struct parser;

struct d_clausenode {
	uint32_t line, source;
	const char *header;  /* the unit's, where the clause begins */
	const char *text;    /* d_clause.desc */
	const char *comment; /* that stands directly in front of it, as one line, or "" */
	struct d_desc *descs;
	const struct parser *body; /* where what stands behind several descriptions begins, or NULL */
	struct d_node *pred;       /* a scalar, or NULL */
	struct d_stmt *stmts;
	bool is_default, of_library;          /* a library's clause is looked at, and fires nothing */
	bool overlap;                         /* while it is bound: a probe is of several of the descriptions */
	uint32_t *probes, nprobes, capprobes; /* after bind. Without any: unlinked after type */
	uint32_t args_used;                   /* d_clause has the same */
	bool args_defined;
	uint32_t args_bytes; /* of the context, that args[] reaches */
	struct d_clausenode *next;
};

/* ---- the unit -------------------------------------------------------------- */

struct d_src {
	const char *name; /* NULL: text of the command line */
	const char *text;
	size_t len;
	enum d_part part;
	bool is_library;
};

#define D_PATH_MEMBERS 10 /* of structs of the kernel, that a path is read from */

struct d_unit {
	/* set by d_open, then read-only */
	struct d_env env;
	/* all that is reachable from here is in the arena */
	struct arena arena;
	struct d_src *src;
	uint32_t nsrcs, capsrcs;
	/* what the tree passes make and lower reads */
	struct d_clausenode *clauses; /* in order of the source: d_clause.id */
	struct d_sym **var;
	uint32_t nvars, capvars; /* all but aggregations */
	struct d_sym **agg;
	uint32_t naggs, capaggs;
	/* strsize is a multiple of 8, and has room for strmost characters and a NUL, which is the most that a string
	 * has */
	uint32_t strsize, strmost, stackframes, ustackframes, jstackframes;
	uint32_t scratchsize;
	uint32_t path_offset[D_PATH_MEMBERS]; /* of what d_path() reads of the kernel's structs; lower_path.c */
	bool uses_scratch;                    /* some clause calls alloca() or its like */
	bool destructive, uses_user_symbols, uses_data_symbols,
		uses_kernel_symbols; /* copied to the program by lower */
	/* lower's result */
	struct d_program prog;
	/* tables of the tree passes: names to types, enumerators and variables */
	struct map types, tags, consts, vars;
	struct map imported;           /* numbers of kernel types (ktype.c) to types */
	struct map inlines, libraries; /* by name; by number, those that were parsed */
	struct d_translator *translators;
	struct map defined; /* struct d_defined, by "PROVIDER:PROBE"; and one of its probes, by "PROVIDER" */
	struct d_about *abouts;
	bool in_library;               /* what is parsed is a library's */
	uint32_t expansions;           /* of definitions within definitions, at the moment */
	const char *used;              /* the outermost of these definitions, or NULL */
	uint32_t nodes;                /* so far */
	const struct d_type *base[16]; /* enum ty_base of type_int.h */
	struct d_clausenode **clause_end;
	struct d_argtype {
		const struct d_args *args;
		const struct d_type *ptr;
	} * argtype; /* made so far */
	uint32_t nargtypes, capargtypes;
	struct d_clausenode *cur_clause;
	uint8_t order; /* which kinds of actions came before, in the clause in work: action.c */
	/* the current failure */
	struct d_counter counter[D_COUNTERS_MOST];
	uint32_t ncounters; /* copied to the program by lower */
	struct err *err, *why;
	uint32_t cur_source; /* messages name this one */
	const char *header;  /* the file from which the preprocessor took what is in work; NULL: the source itself */
	const char *region;  /* "action list", "predicate": part of a -n text */
	uint32_t depth;      /* recursion of the parser */
};

/* Fails at `line` of the current source (0: of none): stores the words as dtrace(1) prints them.
 * Returns -TALLY_ESYNTAX. */
int d_fail(struct d_unit *u, uint32_t line, enum d_tag tag, const char *fmt, ...) PRINTF_LIKE(4, 5);
int d_nomem(struct d_unit *u); /* returns -TALLY_ENOMEM */
/* Adds to an array in the arena, doubling it: 0 or -TALLY_ENOMEM. */
#define D_PUSH(u, v, n, cap, item) \
	(d_room((u), (void **)&(v), (n), &(cap), sizeof((v)[0])) < 0 ? -TALLY_ENOMEM : ((v)[(n)++] = (item), 0))
int d_room(struct d_unit *u, void **v, uint32_t n, uint32_t *cap, size_t size);

/* The passes, in their order. Each returns 0 or a negative enum tally_err with the words stored. */
int d_parse(struct d_unit *u);
int d_bind(struct d_unit *u);
int d_type(struct d_unit *u);
int d_lower(struct d_unit *u); /* fills u->prog */
int d_check(struct d_unit *u); /* ir_check() on it */

/* cook.c: whether a string may be NULL when the program runs. */
bool string_nullable(const struct d_node *n);
/* scratch.c: whether a pointer leads into the clause's scratch memory: then it is an offset. */
bool scratch_points(const struct d_node *n);

/* Prints the tree as it is now: S-expressions, with types after the type pass. */
void d_print(const struct d_unit *u, struct buf *to);

#endif
