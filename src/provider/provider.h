/*
 * provider: a file per provider: which probes it has, how a name is
 * understood, what makes them fire.  A provider is one struct with named slots,
 * and a row of provider.def.  Elsewhere only dlang/call.c (is_of_code),
 * session/compile.c, session/trace.c and answer/emit_text.c know one by its
 * name: cpc, profile and syscall.
 *
 * Probes are made when they are first named (cpc, profile), and keep their id
 * for the life of the table.  Ids 1, 2, 3 are BEGIN, END, ERROR.
 */
#ifndef TALLY_PROVIDER_H
#define TALLY_PROVIDER_H

#include "base/base.h"
#include "bpf/bpf.h"
#include "dlang/dlang.h"
#include "facts/stability.h"
#include "facts/syscall.h"
#include "hv/sun4v_guest.h"
#include "kernel/kernel.h"
#include "symbol/symbol.h"

/* What makes a probe fire. */
enum prov_arm {
	ARM_BEGIN,
	ARM_END,
	ARM_ERROR,
	ARM_TICK,        /* a timer of the tracer's, every tick_ns */
	ARM_EVENT,       /* each of its perf events */
	ARM_ENTRY,       /* its system call begins ... */
	ARM_RETURN,      /* ... or ends */
	ARM_POINT,       /* one of its tracepoints */
	ARM_USER_ENTRY,  /* a function of a process is called ... */
	ARM_USER_RETURN, /* ... or returns */
	ARM_USER_PLACE,  /* an instruction of a process */
	ARM_RECORD,      /* a record of a trace */
	ARM_SAMPLE,      /* a reading every tick_ns of the platform's time, by its provider's begin and fire */
};

/* A file that a process maps executable. */
struct user_file {
	uint64_t inode; /* as the mapping tells it */
	int fd;         /* kept open */
	struct k_file_id id;
	const char *path, *mod;
	bool is_program;
	struct sym_code *code;
};
/* Where in a process a probe is; it may be at several places of a file. */
struct user_place {
	const struct user_place *next;
	uint32_t pid; /* 0: whichever comes there */
	const struct user_file *file;
	uint64_t offset, semaphore; /* in the file; semaphore 0: none */
	bool by_pattern;            /* nobody asked for it in particular */
	bool refused;               /* most likely, by the kernel: its instruction is of that kind */
	struct bpf_place b;
};
struct probe {
	uint32_t id;
	const struct provider *prov;
	const char *prov_name; /* with the process id, where the probe is of a process; else the provider's */
	const char *mod, *func, *name;
	uint8_t arm;      /* enum prov_arm */
	uint64_t tick_ns; /* ARM_TICK, ARM_SAMPLE */
	struct k_event *event;
	bool has_data;                  /* ARM_EVENT: arg2 is the address of the data that it is about */
	uint32_t nevents;               /* ARM_EVENT: usually one; on hybrid CPUs one per PMU */
	const struct syscall_row *call; /* ARM_ENTRY, ARM_RETURN */
	const struct bpf_point *point;  /* ARM_POINT */
	uint32_t npoints;
	const struct user_place *place; /* ARM_USER_* */
	bool is_later;    /* it stands for those of a description that come to be while it waits: it never fires */
	bool by_name;     /* no pattern and no list has it: its function must be named */
	const void *data; /* its provider's own: which request, register or record it is about */
	/* what a provider definition calls it, by which its arguments have types; NULL: none is about it */
	const char *def_prov, *def_name;
	const char *source; /* where its meaning comes from, for -lv: "perf software event cpu-clock" */
};

struct stability {
	uint8_t name, data, dep;
}; /* enum stab, stab, dep */

/* Which descriptions wait for files that processes map later (probes_look_again()): none; those that match something
 * already; all. */
enum prov_waits { WAITS_NONE, WAITS_MATCHED, WAITS_ALL };

struct probes; /* the table of all probes made so far */
struct user_wait;
struct prov_opts {
	uint64_t cpc_min; /* least COUNT; 0 = from /etc/tally/dcpc.conf, else 5000 */
	bool cpc_exclusive;
	const char *sysfs; /* fake /sys for tests: what it has counts, nothing is opened */
	const char *conf;  /* configuration file; NULL = /etc/tally/dcpc.conf */
	bool records;      /* there is a source of records: --on FILE */
	bool lists;        /* nothing will fire: probes of this kernel are wanted beside those of records */
	bool vm;           /* programs run in the vm, where nothing of this machine fires */
	struct hv_transport *transport; /* to a hypervisor: --on power, batoka ...; NULL: none */
	struct sun4v_client *sun4v;     /* its guest, when it is sun4v's; else NULL */
	/* Processes may not run their own code yet (the command of -c): called before one is looked at, or, with 0, all
	 * are. 0, or negative with words. */
	int (*process_ready)(void *arg, uint32_t pid, struct err *why);
	void *process_arg;
	enum k_functions functions; /* how the kernel's are to be probed */
	enum prov_waits waits;
	bool one_enabling; /* tests: act as a PMU that can't tell which counter overflowed */
};
/* ---- ARM_SAMPLE: what is read every so often -------------------------------------- */
/* Whom all samples of a run read, and who takes what they read. */
struct prov_reader {
	struct hv_transport *transport;
	struct sun4v_client *sun4v; /* NULL: not a sun4v machine */
	/* One firing with these n bytes as its context. Negative: the run can't go on; the words are the taker's. */
	int (*take)(void *arg, uint32_t prog, const void *context, uint32_t n);
	void (*note)(void *arg, const char *text); /* a line for who runs it */
	void *arg;
	uint64_t busy;    /* readings that were left out: the register stayed busy */
	bool mmu_buffers; /* mmustat: the strands have theirs */
};
/* A probe that is read. */
struct sample {
	const struct probe *probe;
	uint32_t prog;
	struct prov_reader *reader;
	void *last; /* the provider's: what it read last */
};

struct provider {
	const char *name;
	const char *help;    /* one line */
	bool has_bare_names; /* a word without PROVIDER::: and without a dash may be meant for it, as BEGIN */
	bool is_alone;       /* its names are nobody else's: who has found one need not ask on */
	bool is_of_process;  /* its probes' providers have a process id in their names, and `match` finds them */
	bool is_long;        /* a search leaves its probes out that does not ask for probes by a colon */
	bool has_places; /* its probes have a module, maybe a function, and offer makes them all; else a name is all */
	const char *const
		*each_name; /* they have these names and no other, the last one NULL; NULL: not known beforehand */
	const char *model;  /* what --on may name to have what its probes fire for; NULL: no model is needed */
	struct stability provider, module, function, names, args;
	/* Its probes, when the kernel's tracepoints make them: then offer, why_none and args_of are empty. */
	const struct point_row *row;
	uint32_t nrows;
	/* Without has_places. A literal name: makes (or finds) its probes. Returns how many; 0 when the name is not the
	 * provider's; negative with the reason in words ("count 100 is below the minimum of 5000"). */
	int (*name_probe)(struct probes *t, const char *name, int (*add)(void *arg, uint32_t id), void *arg,
			  struct err *why);
	/* is_of_process. Of a description whose provider ends in a number, or may be a pattern of such: makes (or
	 * finds) its probes. How many; 0 and no words when the description is of another provider; negative with the
	 * reason. */
	int (*match)(struct probes *t, const struct d_probedesc *d, int (*add)(void *arg, uint32_t id), void *arg,
		     struct err *why);
	/* is_of_process. The same in a file that a process maps later. */
	int (*match_file)(struct probes *t, const struct user_wait *w, const struct user_file *f,
			  int (*add)(void *arg, uint32_t id), void *arg, struct err *why);
	/* Makes what a listing should show (cpc: one probe per event). */
	int (*offer)(struct probes *t, struct err *e);
	/* In place of it, where there are too many: those that the description names. */
	int (*offer_some)(struct probes *t, const struct d_probedesc *d, struct err *e);
	/* Why a pattern, or a provider alone, may find nothing on this platform: negative with the words, 0: no special
	 * reason. An empty slot: there is none. */
	int (*why_none)(const struct probes *t, const struct d_probedesc *d, struct err *why);
	/* What args[index] of a probe is; NULL: nothing. An empty slot: no probe has any. */
	const struct d_args *(*args_of)(const struct probe *p, uint32_t index);
	/* Whether these enabled probes, its own among others, may be enabled together: 0, or -TALLY_EBUSY with the
	 * reason. An empty slot: always. */
	int (*compatible)(const struct probes *t, const uint32_t *ids, uint32_t n, struct err *why);
	/* Of ARM_SAMPLE probes. begin: the first reading, since which deltas count. fire: reads again, at that time of
	 * the platform, and hands each record to the reader's take. Errors are words without the probe's name, or
	 * take's own (e->code 0). end: frees s->last, also after a begin that failed. */
	int (*begin)(struct sample *s, struct err *e);
	int (*fire)(struct sample *s, uint64_t ns, struct err *e);
	void (*end)(struct sample *s);
	/* Whether that platform lets it be read: 0, or why not. An empty slot: if the platform has the provider at
	 * all. */
	int (*readable)(const struct probe *p, struct hv_transport *transport, struct sun4v_client *sun4v,
			struct err *e);
};
const struct provider *provider_at(uint32_t i); /* NULL past the last */

/* As d_env.args wants it. */
const struct d_args *probe_args(const struct probe *p, uint32_t index);
int probes_open(struct probes **ret, const struct prov_opts *o);
void probes_close(struct probes *t);
/* What a script's own pragmas say comes when the table is open already, and before names are looked up. */
void probes_set(struct probes *t, uint64_t cpc_min, bool cpc_exclusive, enum k_functions functions,
		enum prov_waits waits);
static inline bool probe_is_any(const struct probe *p) /* it is of whichever process comes to its places */
{
	return p->place && !p->place->pid;
}
const struct probe *probes_get(const struct probes *t, uint32_t id); /* NULL past the last */
uint32_t probes_count(const struct probes *t);                       /* ids are 1 .. count */
/* A description, globs and all, as the compiler's callback wants it (d_env.probes). */
int probes_match(struct probes *t, const struct d_probedesc *desc, int (*add)(void *arg, uint32_t id), void *arg,
		 struct err *why);
enum d_tag probes_refusal(const struct probes *t); /* of the last description that matched nothing (d_env.refusal) */
/* Whether a provider is there on this platform: 0, or negative with the reason. */
int probes_provider(const struct probes *t, const char *name, struct err *why);
int probes_offer(struct probes *t, struct err *e); /* all providers */
/* For providers: adds a probe or finds the one of that name. */
struct probe *probes_add(struct probes *t, const struct provider *p, const char *name);
/* mod and func are not copied: constants, or of the arena. */
struct probe *probes_add_at(struct probes *t, const struct provider *p, const char *mod, const char *func,
			    const char *name);
struct arena *probes_arena(struct probes *t);
/* The kernel's types, as the probes' arguments name them; NULL: what fires is not of this kernel. */
struct k_types *probes_types(const struct probes *t);
/* How this kernel lets its functions be probed, after a trial: enum k_functions; negative with the reason. */
int probes_functions(struct probes *t, struct err *why);
/* Whether these enabled probes may be enabled together (decision: counters that can't tell which overflowed).
 * 0, or -TALLY_EBUSY with the reason. */
int probes_compatible(const struct probes *t, const uint32_t *ids, uint32_t n, struct err *why);
/* A CPU event that is to be counted, as counting tools write it (cpc_count.c). */
struct prov_count {
	const char *name; /* as it was written */
	const struct k_event *ev;
	uint32_t n;     /* one on each core PMU that has it */
	bool all_modes; /* no mode was asked for */
	bool in_kernel; /* it happens in the kernel alone */
	bool clock;     /* nanoseconds, of all modes whatever was asked */
	const char *unit;
	double scale; /* what one of it is: "Joules", 2.3e-10; NULL: an event */
	const char *source;
};
/* n bytes at text. What is in *ret lives as long as t. -TALLY_EINVAL: there is no such event, with the nearest;
 * -TALLY_ENOTSUP: it is known, but not to be had here. Nothing is opened. */
int prov_count(struct probes *t, const char *text, size_t n, struct prov_count *ret, struct err *why);
/* The same of an event that each CPU counts for itself: -TALLY_ENOTSUP where one counts for several of them. */
int prov_counter(struct probes *t, const char *text, struct prov_count *ret, struct err *why);
/* ---- files that a process maps later (later.c) ----------------------------------------- */
/* A description of a process that waits for more files. */
struct user_wait {
	const struct user_wait *next;
	const struct provider *prov;
	uint32_t pid; /* 0: whichever; it waits for programs that begin */
	const char *prov_name;
	struct d_probedesc d;
	/* of ARM_USER_ENTRY + i: the probe whose clauses are the description's; 0: it means none of that kind */
	uint32_t stand_in[3];
};
const struct user_wait *probes_waits(const struct probes *t); /* NULL: there is none */
/* Where the process calls when it has mapped a library, and its file: false: it has no dynamic loader. */
bool probes_loader(struct probes *t, uint32_t pid, const struct user_file **file, uint64_t *offset);
/* Process `in`, pid itself or one that it forked, maps more files by now: found() for each probe of a description that
 * waits, each may be named several times. 0, what found() returns if that is negative, or -TALLY_ENOMEM. A process that
 * has ended maps nothing. */
int probes_look_again(struct probes *t, uint32_t pid, uint32_t in,
		      int (*found)(void *arg, const struct user_wait *w, const struct user_file *f, uint32_t id),
		      void *arg, struct err *why);
/* Some process begins to run the program of descriptor fd, which is taken over: as above, for descriptions of whichever
 * process. Before that, outdated() is called for that file as it was known, if its contents have changed: its places
 * are no more where they were. */
int probes_look_at(struct probes *t, int fd, const char *path, void (*outdated)(void *arg, const struct user_file *f),
		   int (*found)(void *arg, const struct user_wait *w, const struct user_file *f, uint32_t id),
		   void *arg, struct err *why);
/* Whether that program has a static probe that such a description means, or had one before. */
bool probes_wait_for(struct probes *t, int fd);

#endif
