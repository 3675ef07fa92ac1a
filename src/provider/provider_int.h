/*
 * provider_int.h: what the files of this room share.
 */
#ifndef TALLY_PROVIDER_INT_H
#define TALLY_PROVIDER_INT_H

#include "provider/provider.h"

/* ---- the providers ------------------------------------------------------------- */
#define PROVIDER(name) extern const struct provider prov_##name;
#include "provider/provider.def"
#undef PROVIDER

/* Stabilities of a provider whose probes and arguments evolve, on machines of that class. */
#define PROV_EVOLVING(class)                                                                                        \
	.provider = { STAB_EVOLVING, STAB_EVOLVING, class }, .module = { STAB_PRIVATE, STAB_PRIVATE, DEP_UNKNOWN }, \
	.function = { STAB_PRIVATE, STAB_PRIVATE, DEP_UNKNOWN }, .names = { STAB_EVOLVING, STAB_EVOLVING, class },  \
	.args = { STAB_EVOLVING, STAB_EVOLVING, class }

/* "no probe "tikc"; did you mean tick?": -TALLY_ENOPROBE; 0 and no words when none of the names is near. what:
 * "probe". */
int prov_misspelt(const char *what, const char *word, struct text_names names, struct err *why);

/* ---- what providers of the kernel's tracepoints share (tracepoint.c) ------------- */
/* Makes a probe for each tracepoint of the kernel and its modules, called as that is. */
int point_offer_all(struct probes *t, const struct provider *prov, struct err *e);
/* Why there can be none at all: 0: there can. */
int point_not_here(const struct provider *prov, const struct probes *t, struct err *why);
/* A probe that comes about at tracepoints: a row without points, or with one that this kernel has not, is no probe of
 * it. */
struct point_row {
	const char *name;
	struct bpf_point point[8]; /* the first, and the others that are named: each fires it */
	const struct d_args *args;
	uint32_t nargs;
	const char *lacks; /* what the kernel has to have; NULL: the tracepoints */
};
#define POINT_ARGS(array) .args = array, .nargs = COUNT(array)
int point_offer_rows(struct probes *t, const struct provider *prov, struct err *e);
int point_row_why_none(const struct provider *prov, const struct probes *t, const struct d_probedesc *d,
		       struct err *why);
const struct d_args *point_row_args(const struct probe *p, uint32_t index);
/* What an argument of that number and type of the kernel's is: one for all of them; NULL: no memory. */
const struct d_args *point_describe(struct probes *t, uint64_t type, uint32_t index);
const struct d_args *point_args(const struct probe *p, uint32_t index);
/* Why none of its probes matches. */
int point_why_none(const struct provider *prov, const struct probes *t, const struct d_probedesc *d, struct err *why);

/* ---- what providers of hypervisors' counters share (sample.c) ------------------- */
#define SAMPLE_USUAL "1s" /* interval of the probes of a listing */
#define SAMPLE_WORD 64u   /* longest word before the interval, with its NUL */

/* "entitled-1s": what stands before the last dash, and the interval behind it. False: no such shape. */
bool sample_cut_interval(const char *name, char word[static SAMPLE_WORD], const char **interval);
/* Adds or finds the probe, with nothing but its interval. NULL: no memory, in words. */
struct probe *sample_make_probe(struct probes *t, const struct provider *prov, const char *name, uint64_t ns,
				struct err *why);
/* What name_probe answers: 1 when it was made and taken. */
int sample_added(const struct probe *p, int (*add)(void *arg, uint32_t id), void *arg);
/* For a listing: makes WORD-1s; what can't be had here is left out. -TALLY_ENOMEM. */
int sample_offer(struct probes *t, const struct provider *prov, const char *word, struct err *e);
/* The platform has no such hypervisor, or none at all: -TALLY_ENOPROBE, with a model that has. */
int sample_no_platform(const struct probes *t, const struct provider *prov, const char *name, struct err *why);
/* A name that lacks the interval behind its word: -TALLY_ENOPROBE, with one that has it. */
int sample_no_interval(const char *name, const char *word, struct err *why);
/* The platform has no such hypervisor, of a pattern. */
int sample_why_none(const struct provider *prov, bool is_there, struct err *why);

/* "10ms", or a rate: nanoseconds between firings. -TALLY_EINVAL names what is wrong. */
int prov_interval(const char *text, uint64_t *ns, struct err *why);

/* Adds a probe whose provider is called other than *p is, or finds it. The texts are not copied. */
struct probe *probes_add_of(struct probes *t, const struct provider *p, const char *prov_name, const char *mod,
			    const char *func, const char *name);

/* ---- the code of processes (process.c) -------------------------------------------- */
struct user_process {
	uint32_t pid;
	struct user_file *file;
	uint32_t nfiles;
	struct user_file **late; /* that came later */
	uint32_t nlate, cap_late;
};
struct user_processes {
	struct user_process **v;
	uint32_t n, cap;
	const struct user_wait *wait;
};
void probes_refuse_as(struct probes *t, enum d_tag tag); /* why the description in work matches nothing */
/* "pid123": where its digits begin, and the process; NULL: the name ends in no process id. */
const char *user_process_of(const char *prov, uint32_t *pid);
/* Looks at a process, once. -TALLY_EINVAL: there is none; -TALLY_EPERM: it is another user's; -TALLY_ENOMEM. */
int user_process(struct probes *t, uint32_t pid, struct user_process **ret, struct err *why);
void user_process_close(struct user_process *p);
/* Opens a file that process pid maps; false: it can't be read, or is no ELF file. */
bool user_file_open(struct user_file *f, uint32_t pid);
void user_file_close(struct user_file *f);
static inline bool user_file_is_same(const struct user_file *a, const struct user_file *b)
{
	return k_file_is_same(&a->id, &b->id);
}
/* Whether a file that the process maps later may be meant: any of a pattern, or one that is not there. */
bool user_may_come(const struct user_process *p, const struct d_probedesc *d);
/* Has the description wait, of which so many probes were found (or what was wrong): probes of the kinds (bit i:
 * ARM_USER_ENTRY + i) that stand for those that come are added. */
int user_wait_add(struct probes *t, const struct provider *prov, const char *prov_name, const struct user_process *p,
		  const struct d_probedesc *d, uint32_t kinds, int found, int (*add)(void *arg, uint32_t id), void *arg,
		  struct err *why);
/* Whether a module of a description means that file: its name, its name before .so, its path, a.out. */
bool user_file_is(const struct user_file *f, const char *mod);
bool user_is_pattern(const char *s); /* or empty */
bool user_code_is_ours(const struct user_file *f);
/* Each is negative, with words. prov: of the provider. */
int user_no_module(const struct user_process *p, const char *prov, const char *mod, struct err *why);
int user_not_ours(const struct user_process *p, const struct user_file *f, struct err *why);
int user_elsewhere(const struct probes *t, const char *prov, struct err *why); /* 0: processes are here */

/* How long the instruction at p is, of which n bytes are there; 0: that is not known (insn.c). */
uint32_t user_insn_length(enum sym_machine machine, const uint8_t *p, size_t n);
/* Whether no kernel that we know places a probe on it. */
bool user_insn_is_refused(enum sym_machine machine, const uint8_t *p, size_t n);

/* Where the arguments of a static probe lie, as its note says it (operand.c): how many, of which the first
 * OPERANDS_MOST are in to. */
uint8_t usdt_operands(enum sym_machine machine, const char *args, struct bpf_operand to[static OPERANDS_MOST]);

/* ---- what cpc has found out about the machine, once per table of probes -------- */
struct cpc_machine {
	bool known;
	struct k_pmu *core; /* the core PMUs */
	uint32_t ncore;
	bool has_ibs; /* AMD: precise events are samples of operations, and not all of them touch memory */
};
/* ---- the table of probes (probes.c) ------------------------------------------------ */
struct probes {
	struct prov_opts opts;
	struct arena arena;
	struct probe **probe; /* [id - 1]; each lies in the arena, so pointers to it stay good */
	uint32_t n, cap;
	struct map by_name;              /* "provider:module:function:name" */
	struct cpc_machine *machine;     /* cpc.c fills it */
	struct user_processes processes; /* process.c fills it */
	struct k_types *types;           /* NULL: what fires is not of this kernel */
	struct map
		tracepoints; /* by name: how many arguments a tracepoint has, and 1; tracepoint.c fills it when asked */
	/* of providers: what they describe an argument by -> struct d_args *. Probes that share one may be in one
	 * clause. */
	struct map args;
	int functions; /* enum k_functions, UNKNOWN: no trial was made; negative: functions_why */
	struct err functions_why;
	enum d_tag refusal; /* of the description that was matched last, if it matches nothing */
	uint32_t offered;   /* which of the providers, by number, have made all their probes, one bit each */
};
/* The probe of that name, if it was made. */
const struct probe *probes_find(const struct probes *t, const struct provider *p, const char *name);

/* ---- names of cpc probes (cpc_name.c) -------------------------------------------- */
#define CPC_ATTRS 8
#define CPC_NAME 128 /* longest probe name, as DTRACE_NAMELEN */

enum cpc_mode { CPC_USER, CPC_KERNEL, CPC_ALL };
struct cpc_attr {
	char name[32];
	uint64_t value;
};
struct cpc_spec {
	char event[CPC_NAME];
	char written[CPC_NAME]; /* how the event was spelt, for messages; "": as `event` */
	uint8_t mode;           /* enum cpc_mode */
	uint64_t count;         /* events per firing; 0: freq */
	uint64_t freq;          /* firings per second; 0: count */
	uint8_t precise;        /* precise_N */
	bool has_precise;
	struct cpc_attr attr[CPC_ATTRS]; /* a bare mask is the attribute umask */
	uint32_t nattrs;
};
/* EVENT-MODE[-MASK|-attr_value...]-COUNT taken apart; knows no machine and no minimum.
 * 0, or -TALLY_EINVAL with the reason; *ret is written on success only. */
#define CPC_DEFAULT_MIN 5000 /* fewer events a firing are refused, unless dcpc_min_overflow says so */
uint64_t cpc_usual_count(const char *event, uint64_t least);
int cpc_parse(const char *name, struct cpc_spec *ret, struct err *why);

/* ---- the event behind a name (cpc_event.c) ----------------------------------------- */
/* Finds what spec means on this machine: the perf events (in the arena of t; one per core PMU that
 * has it) and where the meaning comes from.  Opens nothing.  -TALLY_EINVAL, -TALLY_ENOTSUP with the
 * reason. */
struct cpc_found {
	struct k_event *ev;
	uint32_t n;
	bool has_data; /* each firing has the address of its data */
	const char *source;
};
int cpc_event(struct probes *t, const struct cpc_spec *spec, struct cpc_found *ret, struct err *why);
/* The reason for an event that is known but not to be had here. */
int cpc_no_pmu(struct err *why);
/* Names of all events this machine may have, one per event (no aliases). Array from mem_alloc. */
int cpc_event_names(struct probes *t, const char ***ret, uint32_t *n);

/* ---- dcpc.conf (cpc_conf.c) ----------------------------------------------------------- */
/* Text of a driver.conf(5) file: sets *min if it has dcpc-min-overflow. -TALLY_EINVAL names the
 * line. */
int cpc_conf_parse(const char *text, size_t n, uint64_t *min, struct err *why);
/* The file at path; none is fine. */
int cpc_conf_read(const char *path, uint64_t *min, struct err *why);

#endif
