/*
 * session_int.h: what the files of session/ share.
 *
 *	trace.c       the calls of tally.h, in the order of a trace's life
 *	option.c      -x and pragmas
 *	compile.c     sources to a program and its image
 *	preprocess.c  cpp(1) over a source
 *	run.c         the order of a run, and its loop
 *	engine.c      where programs run: in the kernel or in the vm
 *	ptt_records.c a source of records: a PTT file, and the programs that they fire
 *	hv_records.c  the other source: what a platform's hypervisor counts
 *	consume.c     what a firing handed over, to text or JSON
 *	speculate.c   records that wait for commit() or discard()
 *	names.c       slots to values that can be shown
 *	snapshot.c    what the maps of an aggregation hold, merged over CPUs
 *	aggregate.c   rows, printa, clear, trunc, normalize
 *	unwind.c      tables by which programs walk user stacks
 *	losses.c      drops and firings that were lost
 *	list.c        -l and the stability reports
 */
#ifndef TALLY_SESSION_SESSION_INT_H
#define TALLY_SESSION_SESSION_INT_H

#include "answer/emit.h"
#include "base/base.h"
#include "base/file.h"
#include "bpf/bpf.h"
#include "dlang/dlang.h"
#include "kernel/kernel.h"
#include "platform/holder.h"
#include "provider/provider.h"
#include "session/session.h"
#include "symbol/symbol.h"

/* ---- options --------------------------------------------------------------- */
enum option {
#define OPT(name, type, initial, least, most, help) OPT_##name,
#include "session/option.def"
#undef OPT
	NOPTIONS,
};
struct opt_text {
	uint16_t option; /* enum option */
	char *text;
};
struct options {
	uint64_t v[NOPTIONS];  /* bytes, ns, numbers, 0 or 1 */
	struct opt_text *text; /* of TEXT and WORDS, in the order in which they were set */
	uint32_t ntexts, captexts;
};
void options_init(struct options *o);
void options_free(struct options *o);
/* -TALLY_EINVAL with dtrace(1)'s words in e, and in why what helps, if anything does. value NULL: a flag. */
/* The same while a trace runs, for setopt(): some options came too late. */
int options_set_running(struct options *o, const char *name, const char *value, struct err *e, struct err *why);
int options_set(struct options *o, const char *name, const char *value, struct err *e, struct err *why);
struct libraries;
bool env_library(void *arg, uint32_t i, struct d_library *ret); /* arg: the trace */
void libraries_free(struct libraries *l);
/* this-machine.d, of this machine, or for CPUs that are not its own. -TALLY_ENOMEM. */
int machine_library(struct buf *b, bool is_here);
struct k_machine;
void machine_cpus(struct buf *b, const struct k_machine *m);          /* of that, the translators of CPUs */
const char *options_text(const struct options *o, enum option which); /* of a TEXT, or NULL */
/* -x evaltime: how far the command of -c goes before it is traced; `usual` where nobody said. */
enum evaltime { EVAL_EXEC, EVAL_PREINIT, EVAL_POSTINIT, EVAL_MAIN };
enum evaltime options_evaltime(const struct options *o, enum evaltime usual);
enum k_functions options_functions(const struct options *o); /* -x fbt */
enum sym_demangle options_demangle(const struct options *o); /* -x demangle */
enum unwind_way { UNWIND_BY_POINTER, UNWIND_DWARF, UNWIND_AUTO };
enum unwind_way options_unwind(const struct options *o); /* -x ustackunwind */

/* ---- engine: where programs run ---------------------------------------------- */
typedef int record_sink(void *arg, uint32_t ring, const void *rec, uint32_t size);

struct engine;
struct engine_ops {
	void (*close)(struct engine *g);
	struct maps (*maps)(struct engine *g);
	bool (*exited)(struct engine *g, int *status);               /* whether exit() ran, and its argument */
	int (*fire)(struct engine *g, uint32_t prog, struct err *e); /* one firing of a class IMG_TEST program */
	int (*attach)(struct engine *g, uint32_t prog, const struct k_event *ev, struct err *e);
	int (*point)(struct engine *g, uint32_t prog, const char *tracepoint, struct err *e);
	int (*places)(struct engine *g, uint32_t prog, const struct k_places *p, struct err *e);
	int (*timer)(struct engine *g, uint64_t period_ns, struct err *e); /* its number, from 0 */
	uint64_t (*timer_fired)(struct engine *g, int timer);
	int (*start)(struct engine *g, struct err *e); /* attached events and timers */
	int (*stop)(struct engine *g);
	int (*wait)(struct engine *g, int timeout_ms); /* -TALLY_EEND: nothing can happen any more */
	int (*drain)(struct engine *g, record_sink *sink, void *arg);
	/* For records, in the vm alone: the clock goes to that many ns after the start, or to the next timer, which
	 * returns 0; and one firing with the record as context. */
	int (*advance)(struct engine *g, uint64_t ns);
	uint64_t (*next)(struct engine *g); /* when the next timer is due, in the same ns; UINT64_MAX: none */
	int (*record)(struct engine *g, uint32_t prog, const void *ctx, uint32_t n, struct err *e);
};
struct engine {
	const struct engine_ops *ops;
	struct k_run *k; /* the kernel's engine: for what only a kernel has; else NULL */
};
/* what generated code must know before an engine opens */
struct engine_kind {
	const struct bpf_arch *(*arch)(void);
	uint32_t (*ncpus)(void);
	uint32_t (*frames)(void); /* that a stack has at most */
	/* o: who ends the opening, and who wants the verifier's words. */
	int (*open)(struct engine **ret, const struct bpf_image *img, const struct img_ctl *ctl,
		    const struct k_run_opts *o, struct err *e);
};
extern const struct engine_kind engine_kernel, engine_vm;

/* ---- a source of records: files of packets, hypervisors ---------------------------- */
/* what a source's own struct begins with */
struct records {
	const struct records_ops *ops;
	struct hv_transport *transport; /* to a hypervisor; NULL: a file */
	struct sun4v_client *sun4v;
};
struct records_ops {
	bool (*takes)(const char *platform);
	/* A platform as --on names it, keys behind it ("x.data,time=delta"). -TALLY_EINVAL: no such platform, key or
	 * file; -TALLY_EIO, -TALLY_ECORRUPT, -TALLY_ENOTSUP, -TALLY_ENOMEM. */
	int (*open)(struct records **ret, const struct tally_trace *t, const char *platform, struct err *e);
	void (*close)(struct records *r);
	int (*start)(struct tally_trace *t); /* after the programs are loaded */
	/* Fires what a bounded number of records fire. 0: go on, maybe with a tick; -TALLY_EEND: there are no more. */
	int (*turn)(struct tally_trace *t, int timeout_ms);
	void (*report)(struct tally_trace *t); /* what it did not give */
};
extern const struct records_ops file_records, hv_records;
/* The program of that number fires with these n bytes as its context, unless the run is over. */
int records_fire(struct tally_trace *t, uint32_t prog, const void *context, uint32_t n);

/* ---- aggregations -------------------------------------------------------------- */
#define AGG_WORDS 4 /* most words of a value */

/* What a view has of the frames of stacks; of functions: without offsets, for call trees. Each takes an array of a
 * stack. */
enum names_frames { NAMES_OF_FRAMES, NAMES_OF_FUNCTIONS, NAMES_OF_BOTH };
/* One key, merged over CPUs. */
struct cell {
	const uint8_t *key;
	uint64_t raw[AGG_WORDS];   /* as the map has it */
	uint64_t shown[AGG_WORDS]; /* raw and baseline */
	uint32_t in_map;           /* the last of the maps that have it, counted from 1; 0: none has */
	bool gone;                 /* truncated since */
	uint32_t row;              /* of the view that was made of the snapshot */
};
struct snapshot {
	struct arena arena;
	struct map index; /* key -> cell number + 1 */
	struct cell *cell;
	uint32_t n, cap;
};
/* what is added to the map's value: see snapshot.c */
struct baseline {
	uint64_t w[AGG_WORDS];
	bool hidden; /* no row while the sum is zero */
};
struct agg_state {
	/* set by aggs_open, then read-only */
	const struct d_agg *def;
	const struct img_map *map;
	uint32_t imap[2], nmaps; /* indices in the image: of map, and of the one with keys for which it had no memory */
	uint32_t words;          /* of a value */
	/* the session's thread */
	int64_t normal;
	bool printed;          /* by a printa() */
	struct map baseline;   /* key -> struct baseline *, NULL where it was dropped */
	uint32_t nbaselines;   /* that are not NULL */
	uint64_t epoch;        /* how many clears and truncs set a key back */
	struct map kept;       /* key that the last trunc left -> its epoch + 1; another key is of `epoch` */
	struct snapshot *snap; /* what the current record sees, or NULL */
};
int snapshot_take(struct tally_trace *t, struct agg_state *s); /* into s->snap, unless it is there */
void snapshot_drop(struct agg_state *s);
int snapshot_clear(struct tally_trace *t, struct agg_state *s);
/* Removes the cells of the rows that are marked. */
int snapshot_trunc(struct tally_trace *t, struct agg_state *s, const bool *rows);
/* Of the clear or trunc since which the key counts what is shown; 0: it was never set back. */
uint64_t snapshot_epoch(const struct agg_state *s, const void *key);
void baseline_free(struct agg_state *s);
/* Adds value b to a (enum agg_fn), negative: takes it away. min and max: the better of both. */
void agg_add(uint8_t fn, uint64_t *a, const uint64_t *b, bool negative);

int aggs_open(struct tally_trace *t);
void aggs_close(struct tally_trace *t);
void aggs_forget(struct tally_trace *t); /* the record that saw the snapshots is done */
/*
 * Whether -x aggrate keeps what was read: a record may be read before the next look is due, and would be shown what was
 * there before it was made; so it does only where it is rarer than records are read.
 */
bool aggs_stay(const struct tally_trace *t);
int aggs_look_again(struct tally_trace *t); /* of those that stay */
int aggs_printa(struct tally_trace *t, const struct d_action *a);
int aggs_clear(struct tally_trace *t, uint32_t agg);
int aggs_trunc(struct tally_trace *t, uint32_t agg, bool all, int64_t n);
int aggs_print_rest(struct tally_trace *t); /* at exit */
int aggs_each(struct tally_trace *t, int (*each)(void *arg, const struct tally_aggregation *a), void *arg);
/* wants: which aggregations are read; NULL: all. */
int aggs_views(struct tally_trace *t, bool (*wants)(void *arg, uint32_t number),
	       int (*each)(void *arg, uint32_t number, const struct an_agg *a), void *arg);
int aggs_walk(struct tally_trace *t, bool (*wants)(void *arg, uint32_t number),
	      int (*row)(void *arg, const struct tally_row *r, uint64_t epoch), void *arg);

/* ---- the trace -------------------------------------------------------------------- */
enum stage { ST_OPEN, ST_COMPILED, ST_RUNNING, ST_STOPPED };

struct source {
	char *name; /* file, or NULL: a description */
	char *text;
	size_t n;
	char *label;  /* as messages name it: the file, or the text up to '{', '/' or ';' */
	uint8_t part; /* enum tally_part */
};
struct tick {
	uint32_t prog;
	int timer;
	const struct probe *probe;
};
struct lost {
	const struct probe *probe;
	uint32_t cpu;
	uint64_t counted, period, firings, lost;
};

struct tally_trace {
	/* set by open, then read-only */
	struct tally_trace_opts o;
	const struct engine_kind *kind;
	bool has_platform; /* tally_trace_on() was called */

	/* what was asked for, until compile */
	struct options opt;
	struct source *src;
	uint32_t nsrc, capsrc;
	char **arg;
	uint32_t narg, caparg; /* [0] is the script */
	bool *arg_used;
	char *command, *dump;
	int pid;        /* -p, else 0 */
	char macro[32]; /* text of the last number that a macro asked for */

	/* compiled */
	bool listing;         /* what matches nothing is no failure until all is listed ... */
	struct err unmatched; /* ... and this is the last of it */
	struct probes *probes;
	struct libraries {
		struct library {
			char *name;
			struct buf text;
			bool of_user;
		} * v;
		uint32_t n, cap;
		bool read, failed; /* failed: memory ran out, and some are not there */
	} libraries;               /* of D, as far as the compiler asked */
	struct d_unit *unit;
	const struct d_program *prog; /* of unit */
	struct bpf_image *img;

	/* running */
	enum stage stage;
	struct engine *eng;
	struct records *records; /* of --on FILE or a hypervisor's, else NULL: from then on */
	struct unwind *unwind;   /* NULL: user stacks are walked by frame pointers, or there are none */
	struct symbols *sym;     /* opened by the first symbol */
	struct names_pool {
		struct arena *of; /* NULL: nothing is shared */
		enum names_frames frames;
		struct map frame, text;
	} names;               /* of the view that is made now */
	struct agg_state *agg; /* one per prog->agg */
	struct tick *tick;
	uint32_t nticks, captick;
	struct k_child child;
	bool has_child, child_ended;
	int pidfd;           /* of -p, else -1 */
	struct lease *lease; /* of hardware counters, while events are attached; else NULL */
	bool over, exited;
	int status, child_status;
	uint64_t aggs_ns;                          /* when -x aggrate has aggregations read next */
	uint64_t turn_ns;                          /* when drops and CPUs are looked at next */
	uint64_t watched_ns;                       /* since when mappings that go are told; 0: nobody tells of them */
	bool learned;                              /* in this drain: what happened to mappings before it */
	uint32_t *newcomer, nnewcomers, inewcomer; /* processes whose mappings are still to be read */
	struct img_drops *drops;                   /* what was reported, per CPU */
	bool drops_told;                           /* since drops_report_due() was called last */
	uint64_t drops_every_ns;                   /* 0: they are reported as they grow, for each CPU */
	uint64_t drops_ns;                         /* when they are reported next; 0: as soon as there are any */
	struct speculation *spec;                  /* one for each of nspec, from 1 on; NULL: the program has none */
	struct img_spec *spec_state;               /* the same, as programs see them */
	uint32_t nspecs;
	uint32_t later_skipped;               /* places for which there was no row */
	uint32_t later_differs;               /* places left out of a clause whose args[] are others */
	uint64_t spec_drops, spec_drops_told; /* records that found no room in their speculation */
	uint64_t late_ticks;                  /* firings of tick probes that were skipped, since the tracer was late */

	/* answers */
	struct buf out, tmp;
	int64_t packets_of;    /* the link type of the packets in `file`; 0: it has none */
	struct bytes_out file; /* of freopen(); arg NULL: they go where those of the beginning go */
	struct an_emit emit;   /* into out */
	struct arena rec;      /* what the values of one record point to */
	struct lost *lost;
	uint32_t nlost, caplost, ilost;
	struct err err, why;
};

/* ---- trace.c: how answers and errors leave ------------------------------------------ */
/* Hands t->out over when much has come together; -TALLY_EIO when it isn't taken. */
int trace_flush_some(struct tally_trace *t);
int trace_flush(struct tally_trace *t); /* all of it */
/* What is answered from now on goes to that file, which is emptied; "": back to where it went in the beginning. */
int trace_redirect(struct tally_trace *t, const char *path);
int trace_empty_file(struct tally_trace *t); /* of the last trace_redirect() */
int trace_finish(struct tally_trace *t);     /* hands over the document of a form that has one: nothing follows it */
/* A line of what dtrace(1) prints on stderr; in JSON {"type":"note","text":...} among the answers. */
void trace_note(struct tally_trace *t, const char *fmt, ...) PRINTF_LIKE(2, 3);
void trace_note_buf(struct tally_trace *t, struct buf *text); /* and frees it */
int trace_fail(struct tally_trace *t, enum tally_err code, const char *fmt, ...) PRINTF_LIKE(3, 4);
int trace_nomem(struct tally_trace *t);
void probe_text(struct buf *to, const struct probe *p);

static inline bool is_quiet(const struct tally_trace *t)
{
	return t->opt.v[OPT_quiet];
}

/* Whether a terminal would obey what stands in strings of others. What programs read has escapes of its own. */
static inline bool is_guarded(const struct tally_trace *t)
{
	return t->o.flags & TALLY_TRACE_TERMINAL && !t->emit.ops->programs && !t->opt.v[OPT_rawctl];
}

/* ---- compile.c ------------------------------------------------------------------------ */
int compile_sources(struct tally_trace *t); /* to t->prog */
int compile_image(struct tally_trace *t);   /* to t->img */
bool *used_probes(struct tally_trace *t);   /* which probes the clauses refer to, by id; from mem_alloc, or NULL */
int open_probes(struct tally_trace *t);     /* to t->probes */
void compile_undo(struct tally_trace *t);
/* preprocess.c: the text of a source after cpp(1), into *to; -TALLY_EINVAL with words in t->err. */
int source_preprocess(struct tally_trace *t, const struct source *s, struct buf *to);
int child_ready(struct tally_trace *t);   /* forks the command of -c, stopped */
long trace_target(struct tally_trace *t); /* $target: the process of -p or -c, or -1 */
const struct d_clause *clause_of_probe(const struct tally_trace *t, uint32_t probe);
int image_map(const struct tally_trace *t, uint8_t use, uint32_t id); /* index, or -1 */
static inline size_t percpu_size(uint32_t value_size, uint32_t ncpus) /* what a look-up fills in */
{
	return (size_t)ncpus * ((value_size + 7) & ~7u);
}

/* ---- run.c ------------------------------------------------------------------------------ */
int run_go(struct tally_trace *t);
int run_work(struct tally_trace *t, int timeout_ms);
int run_stop(struct tally_trace *t);
void run_take_options(struct tally_trace *t);  /* those that say how answers look */
int run_learn_mappings(struct tally_trace *t); /* before user addresses are named */
/* Until names_end(), values in `a` are keys of a snapshot: each frame is named once, and equal frames are one
 * pointer. */
void names_begin(struct tally_trace *t, struct arena *a, enum names_frames frames);
void names_end(struct tally_trace *t);
int trace_symbols(struct tally_trace *t); /* opens t->sym, once; -TALLY_ENOMEM */
void run_undo(struct tally_trace *t);     /* back to compiled: _go can be tried again */
void run_close(struct tally_trace *t);    /* and lets go of the process or command */

/* ---- later.c: probes of libraries that processes load ------------------------------------------ */
int later_hold(struct tally_trace *t); /* has processes wait where they have loaded one, from the enabling on */
int later_turn(struct tally_trace *t); /* those that wait get their probes, and go on */
void later_report(struct tally_trace *t);

/* ---- unwind.c ----------------------------------------------------------------------------------- */
int unwind_choose(struct tally_trace *t, struct bpf_opts *o); /* how user stacks are walked */
int unwind_open(struct tally_trace *t);           /* once the maps are there, if a program has such stacks */
int unwind_watch(struct tally_trace *t);          /* once mappings are watched */
void unwind_look(struct unwind *u, uint32_t pid); /* takes what pid maps now */
void unwind_task(struct tally_trace *t, const struct k_task *fact);
void unwind_turn(struct tally_trace *t); /* after what happened to mappings was told */
void unwind_report(struct tally_trace *t);
void unwind_close(struct tally_trace *t);

/* ---- speculate.c ----------------------------------------------------------------------------- */
int spec_open(struct tally_trace *t);
void spec_close(struct tally_trace *t);
/* A record of speculation id came: whether it is to be shown now. It is kept until then, or thrown away. */
int spec_take(struct tally_trace *t, uint64_t id, const void *rec, uint32_t size);
/* commit() or discard() was called: shows what was kept, or throws it away. */
int spec_settle(struct tally_trace *t, uint64_t id, enum d_settle how);
void spec_free_settled(struct tally_trace *t); /* those of which nothing can come any more */
int spec_settle_rest(struct tally_trace *t);   /* after the last record: what was committed and could not be told */

/* ---- consume.c -------------------------------------------------------------------------- */
record_sink record_take;
int record_show(struct tally_trace *t, const void *rec); /* of one that was taken before */

/* ---- names.c ------------------------------------------------------------------------------- */
/* The value that lies in a slot. What it points to lives in a or in the bytes. in_key: stacks are ids. */
int slot_value(struct tally_trace *t, struct arena *a, const struct slot *s, const void *bytes, bool in_key,
	       struct an_value *ret);
int slot_values(struct tally_trace *t, struct arena *a, const struct slot *s, uint32_t n, const void *bytes,
		bool in_key, struct an_value **ret);
/* Gives an integer the name of the address that it is: of the kernel, or of the process of -c or -p, if there is
 * one. */
int name_address(struct tally_trace *t, struct arena *a, bool user, struct an_value *v);

/* ---- losses.c ------------------------------------------------------------------------------- */
int drops_report(struct tally_trace *t);                      /* what came since the last call */
int drops_report_due(struct tally_trace *t, uint64_t now_ns); /* the same, if it is time for it */
/* The sum over CPUs of each kind, and of the firings, since the beginning. */
int drops_each(struct tally_trace *t, int (*each)(void *arg, const char *kind, uint64_t count), void *arg);
int losses_take(struct tally_trace *t); /* into t->lost, at any time */
/* What the events of a probe counted, in n accounts, against its firings on each CPU. */
int losses_add(struct tally_trace *t, const struct probe *p, const struct k_account *a, uint32_t n,
	       const struct img_drops *fired, uint32_t ncpus);
void losses_report(struct tally_trace *t);
void mappings_report(
	struct tally_trace *t); /* user addresses that have no name because nobody could see their mapping */

/* ---- list.c ----------------------------------------------------------------------------------- */
int list_probes(struct tally_trace *t, bool verbose);
int list_report(struct tally_trace *t);
/* -l: that description matches nothing, for that reason. */
void list_note_unmatched(struct tally_trace *t, const struct d_probedesc *d, const struct err *reason);

#endif
