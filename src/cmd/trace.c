/*
 * trace.c: `tally trace`, dtrace(1)'s command line.
 *
 * Options that need a trace to act on (sources, -x) are kept as steps and done
 * in their order once all options are read and the trace is open: what the
 * trace must know at its opening may come last on the line.  Settings have
 * three ranks: the environment, then -x, then pragmas.
 *
 * The run ends by exit(), with the command of -c or the process of -p, or by
 * SIGINT or SIGTERM, after which END still runs and what there is is printed; a
 * later signal may end it at once (signals.c).  Answers go out by write(2) as the library hands them over.
 * A reader that goes away ends the run without a word; a disk that is full is
 * an error.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <tally/ptt.h>

#include "cmd/trace_int.h"

#define TURN_MS 500 /* bounds how long a signal that slipped past the wait is unseen */

static const char *const passes[] = { "parse", "bind", "type", "lower", "check", "bpf" };
static const char *const platforms[] = { "local", "vm", "niagara", "maramba", "batoka", "power" };
#define FIRST_MODEL 2u

const char *trace_pass(size_t i)
{
	return i < COUNT(passes) ? passes[i] : NULL;
}

const char *trace_platform(size_t i)
{
	return i < COUNT(platforms) ? platforms[i] : NULL;
}

/* ---- what is said and answered ------------------------------------------------------ */

bool trace_is_dtrace(const struct trace *c)
{
	return strcmp(c->cx->name, "tally") != 0;
}

int trace_failed(struct trace *c, int rc)
{
	const char *reason = tally_trace_reason(c->t), *words = tally_trace_error(c->t);

	if (c->write_error)
		return write_failed(c->cx, c->output, c->write_error);
	complain(c->cx, "%s", *words ? words : tally_strerror(rc));
	if (*reason && !strstr(words, reason))
		complain(c->cx, "%s", reason);
	return rc == -TALLY_ENOTSUP ? ST_NOTSUP : rc == -TALLY_EPERM ? ST_NOPERM : ST_FAILED;
}

static int put_answer(void *arg, const char *text, size_t n)
{
	struct trace *c = arg;

	while (n) {
		ssize_t done = write(c->fd, text, n);
		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0) {
			c->write_error = done < 0 ? errno : ENOSPC;
			return -1;
		}
		text += done;
		n -= (size_t)done;
	}
	return 0;
}

/* What the program prints, where -o's file is one document of aggregations. */
static int put_print(void *arg, const char *text, size_t n)
{
	struct trace *c = arg;
	const int fd = c->fd;
	int rc;

	if (!c->prints)
		complain(c->cx, "%s holds the aggregations; what the program prints goes to standard output",
			 c->output);
	c->prints = true;
	c->fd = STDOUT_FILENO;
	rc = put_answer(c, text, n);
	c->fd = fd;
	return rc;
}

static int put_note(void *arg, const char *text, size_t n)
{
	struct trace *c = arg;

	complain(c->cx, "%.*s", (int)n, text);
	return 0;
}

/* ---- options: done at once, or kept as a step ------------------------------------------- */

static int trace_step_later(struct trace *c, step_fn *apply, const char *value)
{
	struct step *s = VEC_NEW(c->step, c->nsteps, c->capsteps);

	if (!s) {
		complain(c->cx, "out of memory");
		return ST_FAILED;
	}
	*s = (struct step){ apply, value };
	return GO_ON;
}

static int trace_step_source(struct trace *c, step_fn *apply, const char *value)
{
	c->nsources++;
	return trace_step_later(c, apply, value);
}

static int take_script(void *state, const char *value)
{
	struct trace *c = state;

	c->script = value;
	return trace_step_source(c, apply_script, value);
}

/* An option of the command that is one of the language: -C is -x cpp. */
#define TAKE_STEP(name, when)                                     \
	static int take_##name(void *c, const char *value)        \
	{                                                         \
		return trace_step_##when(c, apply_##name, value); \
	}
TAKE_STEP(clause, source)
TAKE_STEP(provider, source)
TAKE_STEP(module, source)
TAKE_STEP(function, source)
TAKE_STEP(id, source)
TAKE_STEP(option, later)
TAKE_STEP(bufsize, later)
TAKE_STEP(quiet, later)
TAKE_STEP(share, later)
TAKE_STEP(cpp, later)
TAKE_STEP(define, later)
TAKE_STEP(undef, later)
TAKE_STEP(incdir, later)
TAKE_STEP(library, later)
TAKE_STEP(headers, later)
TAKE_STEP(strictness, later)
TAKE_STEP(flow, later)
TAKE_STEP(listing, later)

/* -64 is -6 with the value 4. */
static int take_model(void *state, const char *value)
{
	struct trace *c = state;

	if (!strcmp(value, "4"))
		return GO_ON;
	return refuse_usage(c->cx, "-6%s: invalid value (expected -64)", value);
}

/* A value that is kept; giving it twice is a mistake, not a change of mind. */
static int trace_option_keep(struct trace *c, const char **to, const char *value, const char *option)
{
	if (*to)
		return refuse_usage(c->cx, "%s can be given only once", option);
	*to = value;
	return GO_ON;
}

static int take_process(void *state, const char *value)
{
	struct trace *c = state;
	uint64_t pid;

	if (text_u64(value, &pid) && pid > 0 && pid <= INT32_MAX)
		return trace_option_keep(c, &c->process, value, "-p");
	return refuse_usage(c->cx, "-p: invalid process ID '%s'", value);
}

static int keep_word(struct trace *c, const char **to, const char *value, const char *option, const char *const *words,
		     size_t n)
{
	struct buf b = { 0 };

	for (size_t i = 0; i < n; i++) {
		if (!strcmp(value, words[i])) {
			buf_free(&b);
			return trace_option_keep(c, to, value, option);
		}
		buf_printf(&b, "%s%s", i ? ", " : "", words[i]);
	}
	complain(c->cx, "%s: invalid value '%s' (expected one of %s)", option, value, b.p ? b.p : "");
	buf_free(&b);
	return ST_USAGE;
}

static int take_dump(void *state, const char *value)
{
	struct trace *c = state;

	return keep_word(c, &c->dump, value, "--dump", passes, COUNT(passes));
}

/* A file has a '/', or is there: keys may follow its name. */
static bool is_file(const char *value)
{
	char *name = mem_strdup(value), *comma = name ? strchr(name, ',') : NULL;
	bool is = !strcmp(value, "-") || strchr(value, '/') || access(value, F_OK) == 0;

	if (comma)
		*comma = '\0';
	is = is || (comma && access(name, F_OK) == 0);
	mem_free(name);
	return is;
}

/* A model's name may have keys behind it. */
static bool is_platform(const char *value)
{
	for (size_t i = 0; i < COUNT(platforms); i++) {
		size_t n = strlen(platforms[i]);

		if (!strncmp(value, platforms[i], n) && (!value[n] || (value[n] == ',' && i >= FIRST_MODEL)))
			return true;
	}
	return !strncmp(value, "unix:", 5);
}

static int no_platform(const struct trace *c, const char *value)
{
	char name[32];
	const char *near;
	struct buf names = { 0 };

	snprintf(name, sizeof(name), "%.*s", (int)strcspn(value, ","), value);
	near = text_nearest(name, TEXT_NAMES(platforms, COUNT(platforms)));
	for (size_t i = 0; i < COUNT(platforms); i++)
		buf_printf(&names, "%s%s", i ? ", " : "", platforms[i]);
	if (!strcmp(name, "kunpeng"))
		complain(c->cx,
			 "--on=%s: D reads a recorded PTT trace: run 'tally record "
			 "--on %s -e EVENT -o t.data', then give --on ./t.data",
			 value, value);
	else if (near)
		complain(c->cx, "--on: no platform or file '%s'; did you mean '%s'?", value, near);
	else
		complain(c->cx, "--on: no platform or file '%s' (expected %s, or an existing file)", value,
			 names.p ? names.p : "");
	buf_free(&names);
	return ST_USAGE;
}

/* The first line of a script names a platform before -s and the script; what its user gives follows, and goes before
 * that. */
static int take_platform(void *state, const char *value)
{
	struct trace *c = state;
	const bool platform = is_platform(value);

	if (!platform && !is_file(value))
		return no_platform(c, value);
	if (c->script && !c->behind_script) {
		c->behind_script = true;
		c->platform = NULL;
	}
	c->on_file = !platform;
	return trace_option_keep(c, &c->platform, value, "--on");
}

static int take_verbose(void *state, const char *value)
{
	struct trace *c = state;

	(void)value;
	c->verbose = true;
	c->o.flags |= TALLY_TRACE_VERBOSE;
	return GO_ON;
}

static int take_version(void *state, const char *value)
{
	struct trace *c = state;
	struct buf b = { 0 };

	(void)value;
	buf_printf(&b, "%stally %s\n", strcmp(c->cx->name, "tally") ? "dtrace: " : "", tally_version());
	return print(c->cx, &b);
}

static const struct opt options[] = {
	{ 'n', NULL, "CLAUSE", "a probe description, optionally with predicate and actions", OPT_STEP(take_clause) },
	{ 's', NULL, "FILE", "a D program from a file; - is standard input", OPT_STEP(take_script) },
	{ 'P', NULL, "PROVIDER", "all probes of a provider", OPT_STEP(take_provider) },
	{ 'm', NULL, "MODULE", "all probes of a module ([PROVIDER:]MODULE)", OPT_STEP(take_module) },
	{ 'f', NULL, "FUNCTION", "all probes of a function ([[PROVIDER:]MODULE:]FUNCTION)", OPT_STEP(take_function) },
	{ 'c', NULL, "COMMAND", "run COMMAND until it ends; $target is its process ID",
	  OPT_ONCE(struct trace, command) },
	{ 'p', NULL, "PID", "trace until process PID ends; $target is PID", OPT_STEP(take_process) },
	{ 'l', NULL, NULL, "list probes instead of enabling them", OPT_TRUE(struct trace, list) },
	{ 'v', NULL, NULL, "show more: arguments and stability of probes, and lost firings of each CPU",
	  OPT_STEP(take_verbose) },
	{ 'e', NULL, NULL, "compile only, then exit", OPT_TRUE(struct trace, compile_only) },
	{ 'q', NULL, NULL, "print only what the program prints", OPT_STEP(take_quiet) },
	{ 'o', NULL, "FILE", "append results to FILE; its suffix .html, .folded, .pb.gz or .json sets the format",
	  OPT_ONCE(struct trace, output) },
	{ 'x', NULL, "OPT[=VALUE]", "set an option of the language", OPT_STEP(take_option) },
	{ 'b', NULL, "SIZE", "buffer size of each CPU; same as -x bufsize=SIZE", OPT_STEP(take_bufsize) },
	{ 'w', NULL, NULL, "allow destructive actions: system(), freopen(), raise(), stop(), chill()",
	  OPT_BITS(struct trace, o.flags, TALLY_TRACE_DESTRUCTIVE) },
	{ 'Z', NULL, NULL, "permit probe descriptions that match nothing",
	  OPT_BITS(struct trace, o.flags, TALLY_TRACE_EMPTY_OK) },
	{ 0, "share", NULL, "share the hardware counters with other sessions", OPT_STEP(take_share) },
	{ 0, "json", NULL, "results as JSON, one object per line", OPT_TRUE(struct trace, json) },
	{ 0, "dump", "PASS", "print the output of a compiler pass, then exit", OPT_STEP(take_dump) },
	{ 0, "on", "PLATFORM",
	  "local: this machine (default); vm: no events, no privileges; niagara, maramba, batoka, power: models;"
	  " unix:PATH; or a FILE with a PTT trace",
	  OPT_STEP(take_platform) },
	{ 'V', "version", NULL, "print the version", OPT_STEP(take_version) },
	{ 'h', "help", NULL,
	  "show this help; with -s FILE.d write FILE.h, C macros for the static probes that it defines",
	  OPT_TRUE(struct trace, help) },
	{ 'i', NULL, "ID", "the probe with this ID, as -l lists it", OPT_STEP(take_id) },
	{ 'F', NULL, NULL, "indent by entry and return", OPT_STEP(take_flow) },
	{ 'S', NULL, NULL, "print the instructions of each program", OPT_STEP(take_listing) },
	{ 'C', NULL, NULL, "run cpp(1) over each program; -D, -U, -I, -H and -X are its options", OPT_STEP(take_cpp) },
	{ 'D', NULL, "NAME[=VALUE]", "define a macro", OPT_STEP(take_define) },
	{ 'U', NULL, "NAME", "undefine a macro", OPT_STEP(take_undef) },
	{ 'I', NULL, "DIR", "search DIR for included files", OPT_STEP(take_incdir) },
	{ 'H', NULL, NULL, "print the names of included files", OPT_STEP(take_headers) },
	{ 'X', NULL, "MODE", "conformance to ISO C: a, c, s or t", OPT_STEP(take_strictness) },
	{ '6', NULL, "4", "-64: programs are 64-bit, like the kernel (always so)", OPT_STEP(take_model) },
	/* dtrace(1)'s others */
	{ 'a', NULL, NULL, "no anonymous tracing at boot (it needs a kernel module); start tally as a service",
	  OPT_REFUSED },
	{ 'A', NULL, NULL, "no anonymous tracing at boot (it needs a kernel module); start tally as a service",
	  OPT_REFUSED },
	{ 'G', NULL, NULL, "with -s FILE.d write FILE.o, an object file for the link of a program with static probes",
	  OPT_TRUE(struct trace, object) },
	{ 'L', NULL, "DIR", "use the D libraries (*.d) of DIR", OPT_STEP(take_library) },
	{ '3', NULL, "2", "programs are always 64-bit, like the kernel", OPT_REFUSED },
};

const struct opts *cmd_trace_opts(void)
{
	static const struct opts o = {
		.verb = "trace",
		.usage = "[-n CLAUSE | -s FILE]... [option]... [argument]...",
		.intro = "Runs a D program. Options have the letters of dtrace(1): -x, -e and -c differ from perf's.\n",
		.outro = "\nArguments are $1, $2 ... in the program. Exit status: "
			 "0, or that of exit(n) or of the command;\n"
			 "1 the program does not compile, match or run; "
			 "2 invalid options; 3 not supported; 4 not permitted.\n"
			 "\nExamples:\n"
			 "  tally trace -n 'ptt:::tlp { @[args[0]->name] = count(); }' --on ./t.data\n"
			 "  # as root:\n"
			 "  tally trace -s examples/brendan-l2miss.d -c './program 1000'\n"
			 "  tally trace -n 'cpc:::page_faults-all-5000 { @[execname] = count(); }' \\\n"
			 "    -c 'sleep 1'\n",
		.opt = options,
		.n = COUNT(options),
	};
	return &o;
}

/* ---- before the run ---------------------------------------------------------------------- */

static bool ends_with(const char *s, const char *suffix)
{
	size_t n = strlen(s), m = strlen(suffix);

	return n >= m && !strcmp(s + n - m, suffix);
}

/* Answers are appended: to the trace itself that would be damage. The name of that may have keys behind it. */
static bool is_trace(const char *platform, const char *output)
{
	struct stat in, out;
	struct buf name = { 0 };
	bool same = false;

	for (const char *end = platform; *end && !same && !stat(output, &out); end += strcspn(end, ",")) {
		end += *end == ',';
		buf_clear(&name);
		buf_put(&name, platform, (size_t)(end - platform) + strcspn(end, ","));
		same = !name.failed && !(strcmp(name.p, "-") ? stat(name.p, &in) : fstat(STDIN_FILENO, &in)) &&
		       S_ISREG(in.st_mode) && in.st_dev == out.st_dev && in.st_ino == out.st_ino;
	}
	buf_free(&name);
	return same;
}

/* dtrace(1) appends text to a file of any name; under that name so does tally, but where it has a form of that
 * suffix. */
static int trace_choose_form(struct trace *c)
{
	const bool dtrace = trace_is_dtrace(c);
	uint32_t form = c->json ? TALLY_FORMAT_JSON : TALLY_FORMAT_TEXT;
	int status = GO_ON;

	if (!dtrace || (c->output && (ends_with(c->output, ".json") || ends_with(c->output, ".folded") ||
				      ends_with(c->output, ".html") || ends_with(c->output, ".pb.gz"))))
		status = output_suffix(c->cx, c->output, "trace", c->json ? "--json" : NULL, &form);
	c->o.format = form;
	return status;
}

/* Whether -o's file is one document of aggregations: it has no place for lists, and what the program prints goes
 * elsewhere. */
static bool trace_has_document(const struct trace *c)
{
	return c->o.format == TALLY_FORMAT_FOLDED || c->o.format == TALLY_FORMAT_HTML ||
	       c->o.format == TALLY_FORMAT_PPROF;
}

/* `first` is the argument behind the options: who leaves -s out has the script there. */
static int trace_check_options(struct trace *c, const char *first)
{
	int status;

	/* dtrace(1) compiles nothing without a word when it is asked to compile only */
	if (!c->nsources && !c->list && !(c->compile_only && trace_is_dtrace(c))) {
		const bool script = first && ends_with(first, ".d");

		return opts_refuse(c->cx, cmd_trace_opts(), "no program: give -n CLAUSE or -s FILE%s%s",
				   script ? ", as -s " : "", script ? first : "");
	}
	if (c->command && c->process)
		return refuse_usage(c->cx, "-c and -p cannot be combined: both set $target");
	status = trace_choose_form(c);
	if (status != GO_ON)
		return status;
	if (trace_has_document(c) && (c->list || c->dump))
		return refuse_usage(c->cx, "-o %s holds aggregations: %s needs a file of another suffix, such as .txt",
				    c->output, c->list ? "-l" : "--dump");
	if (c->on_file && (c->command || c->process))
		return refuse_usage(c->cx,
				    "--on FILE cannot be combined with -c or -p: a file has no process to trace");
	if (c->on_file && c->output && is_trace(c->platform, c->output))
		return refuse_usage(c->cx, "-o %s would overwrite the trace", c->output);
	return GO_ON;
}

static int open_output(struct trace *c)
{
	/* two pages, or two profiles, in a file are none */
	const int whole = trace_has_document(c) && c->o.format != TALLY_FORMAT_FOLDED;

	if (c->output)
		c->fd = open(c->output, O_WRONLY | O_CREAT | O_CLOEXEC | (whole ? O_TRUNC : O_APPEND), 0666);
	if (c->fd >= 0)
		return GO_ON;
	complain(c->cx, "failed to open %s: %s", c->output, strerror(errno));
	return ST_FAILED;
}

int trace_open_session(struct trace *c)
{
	if (isatty(trace_has_document(c) ? STDOUT_FILENO : c->fd))
		c->o.flags |= TALLY_TRACE_TERMINAL;
	c->o.size = sizeof(c->o);
	c->o.out = put_answer;
	c->o.note = put_note;
	c->o.print = put_print;
	c->o.arg = c;
	c->o.flags |= (c->cx->borrowed ? TALLY_TRACE_HARMLESS : 0) | (trace_is_dtrace(c) ? TALLY_TRACE_COMPAT : 0);
	if (trace_is_dtrace(c) && getenv("_DTRACE_TESTING")) /* what test suites of dtrace(1) set */
		c->o.flags |= TALLY_TRACE_UNNUMBERED;
	int rc = tally_trace_open(&c->t, &c->o);
	if (rc < 0) {
		complain(c->cx, "%s", tally_strerror(rc));
		return ST_FAILED;
	}
	if (c->platform)
		rc = tally_trace_on(c->t, c->platform);
	return rc < 0 ? trace_failed(c, rc) : GO_ON;
}

static int set_target(struct trace *c)
{
	uint64_t pid = 0;
	int rc = 0;

	if (c->command)
		rc = tally_trace_command(c->t, c->command);
	if (c->process && text_u64(c->process, &pid))
		rc = tally_trace_process(c->t, (int)pid);
	if (rc >= 0 && c->dump)
		rc = tally_trace_dump(c->t, c->dump);
	return rc < 0 ? trace_failed(c, rc) : GO_ON;
}

static int apply_steps(struct trace *c, int argc, char **argv)
{
	int rc = tally_trace_args(c->t, c->script ? c->script : c->cx->name, argc, argv);
	int status = rc < 0 ? trace_failed(c, rc) : apply_environment(c);

	for (uint32_t i = 0; i < c->nsteps && status == GO_ON; i++)
		status = c->step[i].apply(c, c->step[i].value);
	return status == GO_ON ? set_target(c) : status;
}

/* ---- the run --------------------------------------------------------------------------------- */

static int trace_run_session(struct trace *c)
{
	int rc = tally_trace_go(c->t), command = tally_trace_status(c->t), status = GO_ON, stopped;

	if (rc < 0) {
		status = trace_failed(c, rc);
		/* as a shell: it was not the trace; dtrace(1) makes no difference */
		return !trace_is_dtrace(c) && (command == 126 || command == 127) ? command : status;
	}
	rc = 0;
	while (!*c->interrupted && (rc = tally_trace_work(c->t, TURN_MS)) == 0)
		;
	if (rc < 0)
		status = trace_failed(c, rc);
	if (c->write_error)
		return status;
	stopped = tally_trace_stop(c->t);
	if (stopped < 0)
		status = trace_failed(c, stopped);
	if (status != GO_ON)
		return status;
	return *c->interrupted && c->command ? ST_OK : tally_trace_status(c->t);
}

static int trace_list_probes(struct trace *c)
{
	int rc = tally_trace_list(c->t, c->verbose);

	return rc < 0 ? trace_failed(c, rc) : ST_OK;
}

static int compile_and_run(struct trace *c)
{
	int rc = c->nsources ? tally_trace_compile(c->t) : 0;

	if (rc >= 0 && c->verbose && c->nsources)
		rc = tally_trace_report(c->t);
	if (rc < 0)
		return trace_failed(c, rc);
	return c->compile_only || c->dump ? ST_OK : trace_run_session(c);
}

static int trace_run_verb(struct trace *c, int argc, char **argv)
{
	int status = open_output(c);

	c->o.stop = c->interrupted = catch_signals();
	if (status == GO_ON)
		status = trace_open_session(c);
	if (status == GO_ON)
		status = apply_steps(c, argc, argv);
	if (status == GO_ON)
		status = c->list ? trace_list_probes(c) : compile_and_run(c);
	tally_trace_close(c->t);
	return status;
}

static int trace_check_usdt(const struct trace *c)
{
	if (c->header && c->object)
		return refuse_usage(c->cx, "-h and -G cannot be combined: a header and an object file are two runs");
	if (!c->script || c->nsources != 1)
		return refuse_usage(c->cx, "-%c takes one -s FILE, with provider definitions", c->header ? 'h' : 'G');
	return GO_ON;
}

int cmd_trace(struct cmd_ctx *cx, int argc, char **argv)
{
	struct trace c = { .cx = cx, .fd = STDOUT_FILENO };
	struct buf help = { 0 };
	int first, status;

	status = opts_parse(cx, cmd_trace_opts(), &c, argc, argv, &first);
	c.header = c.help && c.script;
	if (status == GO_ON && c.help && !c.header) {
		opts_help(cmd_trace_opts(), &help);
		return print(cx, &help);
	}
	if (status == GO_ON && (c.header || c.object))
		status = trace_check_usdt(&c);
	if (status == GO_ON && (c.header || c.object))
		status = trace_make_usdt(&c);
	else if (status == GO_ON)
		status = trace_check_options(&c, first < argc ? argv[first] : NULL);
	if (status == GO_ON)
		status = trace_run_verb(&c, argc - first, argv + first);
	if (c.output && c.fd >= 0 && close(c.fd) && status == ST_OK) {
		complain(cx, "failed to write to %s: %s", c.output, strerror(errno));
		status = ST_FAILED;
	}
	mem_free(c.step);
	return status;
}
