/*
 * cmd_int.h: what the verbs share.
 *
 * A verb is a row of the verb table and an option table.  The table is the one
 * source of truth about a verb's options: it parses the command line, makes
 * the text of -h, and tells the completion what there is.
 */
#ifndef TALLY_CMD_INT_H
#define TALLY_CMD_INT_H

#include <tally/doctor.h>
#include <tally/tally.h>
#include "base/base.h"

/* Exit statuses (design: 126, 127 and 128 + n are the command's, as in a shell). */
enum {
	ST_OK = 0,
	ST_FAILED = 1,
	ST_USAGE = 2,
	ST_NOTSUP = 3,
	ST_NOPERM = 4,
	ST_READER = 141
};                 /* whoever read the answer went away: what a shell calls an end by SIGPIPE */
#define GO_ON (-1) /* what a step returns when there is no reason to exit yet */

struct cmd_ctx {
	const char *name; /* "tally" or "dtrace", as called: stands before messages */
	bool borrowed;    /* its rights are not the user's own, but come from the program's file */
};

/* ---- options --------------------------------------------------------------------- */
struct opt {
	char letter;      /* 0: has a long name only */
	const char *name; /* long name, or NULL */
	const char *arg;  /* what its argument is called, NULL: takes none; it says how to complete it;
					       * "[=WORD]": it may be left out, and is NULL then */
	const char *help; /* one line; of a refused option: what to do instead */
	struct opt_does {
		enum opt_kind {
			OPT_KIND_REFUSED,
			OPT_KIND_STEP,   /* a function of the verb: GO_ON, or an exit status after having said why */
			OPT_KIND_HELP,   /* shows the verb's options */
			OPT_KIND_TRUE,   /* the others set a member of the verb's state: a flag becomes true */
			OPT_KIND_BITS,   /* its bits are added */
			OPT_KIND_KEEP,   /* the value; a later one replaces it */
			OPT_KIND_ONCE,   /* the value; a second one is refused */
			OPT_KIND_NUMBER, /* from least to most */
			OPT_KIND_MS      /* milliseconds from 1 up, as nanoseconds */
		} kind;
		int (*step)(void *state, const char *value);
		size_t at; /* of the member */
		uint32_t bits, least, most;
		const char *expected; /* of a number: "1 to 64" */
	} does;
};
/* clang-format off */
#define OPT_REFUSED { .kind = OPT_KIND_REFUSED }
#define OPT_STEP(function) { .kind = OPT_KIND_STEP, .step = (function) }
#define OPT_HELP { .kind = OPT_KIND_HELP }
/* The place of a member that has the type which the option writes. */
#define OPT_AT(state, member, type) _Generic(((state *)0)->member, type: offsetof(state, member))
#define OPT_TRUE(state, member) \
	{ .kind = OPT_KIND_TRUE, \
	  .at = _Generic(((state *)0)->member, bool: offsetof(state, member), uint8_t: offsetof(state, member)) }
#define OPT_BITS(state, member, mask) { .kind = OPT_KIND_BITS, .at = OPT_AT(state, member, uint32_t), .bits = (mask) }
#define OPT_KEEP(state, member) { .kind = OPT_KIND_KEEP, .at = OPT_AT(state, member, const char *) }
#define OPT_ONCE(state, member) { .kind = OPT_KIND_ONCE, .at = OPT_AT(state, member, const char *) }
#define OPT_NUMBER(state, member, from, to, words) \
	{ .kind = OPT_KIND_NUMBER, .at = OPT_AT(state, member, uint32_t), .least = (from), .most = (to), \
	  .expected = (words) }
#define OPT_MS(state, member) { .kind = OPT_KIND_MS, .at = OPT_AT(state, member, uint64_t) }
/* clang-format on */
struct opts {
	const char *verb;             /* "trace" */
	const char *usage;            /* "[-n CLAUSE | -s FILE]... [argument]..." */
	const char *intro;            /* lines between usage and options of -h */
	const char *outro;            /* lines after them */
	void (*more)(struct buf *to); /* what stands before those, and is made of a table; or NULL */
	const struct opt *opt;
	size_t n;
	bool command; /* the first argument is a command: what follows is its own */
};
/* Does what the rows of the options say; what is left is argv[*first..argc). GO_ON or an exit status. */
int opts_parse(const struct cmd_ctx *cx, const struct opts *o, void *state, int argc, char **argv, int *first);
/* Says what is wrong with the words of a verb, and where its options are: ST_USAGE. */
int opts_refuse(const struct cmd_ctx *cx, const struct opts *o, const char *fmt, ...) PRINTF_LIKE(3, 4);
void opts_help(const struct opts *o, struct buf *to);
bool opt_takes_value(const struct opt *o); /* as the next word, or behind '=' */

/* ---- verbs: name, what it does, the rights it keeps of those that the program's file gave ------- */
/* clang-format off */
#define VERBS(V)                                                                                   \
	V(list, "find probes, events, registers, tunables and machines", RIGHTS_ALL) \
	V(doctor, "test what this machine allows; name the command that fixes the rest", RIGHTS_ALL) \
	V(trace, "run a D program over CPU events", RIGHTS_ALL) \
	V(stat, "count events of CPUs, commands and hypervisors", TALLY_RIGHT_COUNT) \
	V(get, "read tunables, registers and records", TALLY_RIGHT_COUNT) \
	V(set, "write tunables and registers", TALLY_RIGHT_COUNT) \
	V(check, "check counters against the invariants of their machine", TALLY_RIGHT_COUNT) \
	V(machine, "run a model for outside clients", 0) \
	V(record, "record a trace of PCIe packets to perf.data", TALLY_RIGHT_COUNT) \
	V(tune, "find the best setting of a PCIe device's tunables", TALLY_RIGHT_COUNT) \
	V(dump, "print the packets of a PCIe trace, one per line", 0) \
	V(report, "summarise a PCIe trace, or compare two", 0) \
	V(serve, "run D programs as a service, and serve their metrics over HTTP", RIGHTS_ALL) \
	V(export, "export a PCIe trace as CSV, JSON or Parquet; query it with SQL", 0)
/* clang-format on */
#define RIGHTS_ALL (TALLY_RIGHT_COUNT | TALLY_RIGHT_PROGRAM | TALLY_RIGHT_NAMES)
struct verb {
	const char *name, *help;
	uint32_t rights; /* enum tally_right */
	int (*run)(struct cmd_ctx *cx, int argc, char **argv);
	const struct opts *(*opts)(void);
};
#define V(name, help, rights)                                      \
	int cmd_##name(struct cmd_ctx *cx, int argc, char **argv); \
	const struct opts *cmd_##name##_opts(void);
VERBS(V)
#undef V
const struct verb *verb_row(size_t i);                         /* NULL past the last */
int cmd_completion(struct cmd_ctx *cx, int argc, char **argv); /* no row: it has no page of its own */
int cmd_complete(struct cmd_ctx *cx, int argc, char **argv);   /* hidden: what completion scripts ask */
const struct opts *cmd_completion_opts(void);
/* Where DuckDB's library is; NULL: nobody said, and it is not where it is put by default; or this program's file has
 * capabilities, and the environment does not count. */
const char *duckdb_library(struct buf *room);

/* ---- saying things ------------------------------------------------------------------- */
/* A line on stderr with the program's name in front. */
void complain(const struct cmd_ctx *cx, const char *fmt, ...) PRINTF_LIKE(2, 3);
void complain_words(const struct cmd_ctx *cx, const char *fmt, va_list ap) PRINTF_LIKE(2, 0);
int refuse_usage(const struct cmd_ctx *cx, const char *fmt, ...) PRINTF_LIKE(2, 3); /* the same: ST_USAGE */
int print(const struct cmd_ctx *cx, struct buf *b); /* to stdout, and frees it: an exit status */
/* Text with names of others in it, as it may go to fd: on a terminal what it would obey is shown as \x1b, but our own
 * colours. */
void put_guarded(struct buf *to, int fd, const char *text, size_t n);
/* How many columns text for fd may fill: of COLUMNS, as of ls, or of the terminal; 0: it is no terminal, and lines have
 * no end. */
unsigned output_columns(int fd);
/* After a write failed with errno `error`: the exit status. Of a reader that went away nothing is said. to: NULL is
 * stdout. */
int write_failed(const struct cmd_ctx *cx, const char *to, int error);

/* The form that the suffix of -o's file chooses for `verb`, where an option has not (NULL): *form stays when the name
 * has no suffix. One that nobody knows or that only other verbs have, or that another form's option contradicts, is
 * refused: GO_ON or an exit status. */
int output_suffix(const struct cmd_ctx *cx, const char *output, const char *verb, const char *option, uint32_t *form);

/* ---- signals --------------------------------------------------------------------------- */
/* What this returns becomes 1 with the first SIGINT, SIGTERM or SIGHUP; a later one ends the program. What the shell
 * had ignored stays ignored. */
const volatile int *catch_signals(void);
/* What this returns becomes 1 with each SIGHUP, which no longer ends the program. */
volatile int *catch_reload(void);
void catch_failed_writes(void); /* SIGPIPE, SIGXFSZ, from the start: a write tells */
int64_t clock_ms(void);         /* CLOCK_MONOTONIC, in milliseconds; a signal handler may ask, too */

/* The passes that --dump takes, and what --on takes, of trace and of the other verbs; NULL past the last. */
const char *trace_pass(size_t i);
const char *trace_platform(size_t i);
const char *plat_word(size_t i);
const char *plat_profile(size_t i);

#endif
