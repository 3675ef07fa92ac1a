/*
 * trace_int.h: what the files of `tally trace` share.
 *
 *	trace.c        the option table, and the run
 *	trace_step.c   what the options do once the trace is open
 *	usdt.c         -h and -G: what a program with static probes is built with
 */
#ifndef TALLY_TRACE_INT_H
#define TALLY_TRACE_INT_H

#include "cmd/cmd_int.h"

struct trace;
typedef int step_fn(struct trace *c, const char *value); /* GO_ON or an exit status */
struct step {
	step_fn *apply;
	const char *value;
};
struct trace {
	struct cmd_ctx *cx;
	struct tally_trace *t;
	struct tally_trace_opts o;
	struct step *step; /* in the order of the command line */
	uint32_t nsteps, capsteps, nsources;
	const char *script; /* the last -s: $0 */
	const char *command, *process, *output, *dump, *platform;
	bool list, verbose, compile_only, json, on_file;
	bool help, header, object;       /* header: help with a script */
	bool behind_script;              /* --on was given behind -s, too */
	bool prints;                     /* the program printed, and it was said where that goes */
	int fd;                          /* where answers go */
	const volatile int *interrupted; /* a signal came */
	int write_error;                 /* errno of the write that failed, or 0 */
};

step_fn apply_clause, apply_script, apply_provider, apply_module, apply_function;
step_fn apply_id;
step_fn apply_option, apply_bufsize, apply_quiet, apply_share;
step_fn apply_cpp, apply_define, apply_undef, apply_incdir, apply_library, apply_headers, apply_strictness, apply_flow,
	apply_listing;
int apply_environment(struct trace *c);
int trace_open_session(struct trace *c); /* c->t, on c->platform: GO_ON or an exit status */
int trace_make_usdt(struct trace *c);    /* the header or the object file of c->script: an exit status */

/* Called by the name dtrace: its words and statuses are those of dtrace(1). */
bool trace_is_dtrace(const struct trace *c);

/* Says the library's words for rc; the exit status that it means. */
int trace_failed(struct trace *c, int rc);

#endif
