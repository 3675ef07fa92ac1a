/*
 * serve.c: `tally serve`, D programs and platforms as a service whose counts are metrics.
 *
 * The log is stderr, a line for what happens; systemd's journal takes it from there.  SIGHUP reads the programs again,
 * SIGTERM ends the service.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include <tally/serve.h>

#include "cmd/cmd_int.h"

#define PROGRAMS_DIRECTORY TALLY_SYSCONFDIR "/tally/serve.d"
#define FILES_MOST 256u
#define PLATFORMS 16u

/* --on, and what is counted there */
struct serve_on {
	const char *on; /* NULL: this machine */
	struct buf events;
	const char *view;
};

struct serve {
	struct cmd_ctx *cx; /* first: the options take it */
	struct tally_serve_opts o;
	const char *file[FILES_MOST], *directory;
	uint32_t nfiles;
	struct serve_on on[PLATFORMS];
	uint32_t non;
	const char *push_format;
	bool check, drop;
	int status; /* of a write */
	struct utsname host;
	struct buf duckdb;
};

static int take_file(void *state, const char *value)
{
	struct serve *c = state;

	if (c->nfiles == FILES_MOST)
		return refuse_usage(c->cx, "-s can be given %u times at most", FILES_MOST);
	c->file[c->nfiles++] = value;
	return GO_ON;
}

static int take_on(void *state, const char *value)
{
	struct serve *c = state;

	if (c->non == PLATFORMS)
		return refuse_usage(c->cx, "--on can be given %u times at most", PLATFORMS);
	c->on[c->non++].on = value;
	return GO_ON;
}

/* Of the --on before it, or else of this machine. */
static struct serve_on *serve_on_last(struct serve *c)
{
	c->non += !c->non;
	return &c->on[c->non - 1];
}

static int take_event(void *state, const char *value)
{
	struct buf *to = &serve_on_last(state)->events;

	buf_printf(to, "%s%s", to->n ? "," : "", value);
	return GO_ON;
}

static int take_view(void *state, const char *value)
{
	struct serve *c = state;
	struct serve_on *on = serve_on_last(c);

	if (on->view)
		return refuse_usage(c->cx, "--view can be given once for each --on");
	on->view = value;
	return GO_ON;
}

static int take_extended(void *state, const char *value)
{
	struct serve *c = state;
	uint64_t n;

	if (strncmp(value, "maxseries=", 10) != 0)
		return refuse_usage(c->cx, "-x: unknown option '%s' (expected maxseries=N)", value);
	if (!text_u64(value + 10, &n) || n < 1 || n > 1000000)
		return refuse_usage(c->cx, "-x maxseries: invalid value '%s' (expected 1 to 1000000)", value + 10);
	c->o.series = (uint32_t)n;
	return GO_ON;
}

/* 90, 90s, 10m, 1h: seconds; 0: it is no such time. */
static uint64_t serve_seconds(const char *value)
{
	static const struct {
		char suffix;
		uint32_t seconds;
	} units[] = { { 's', 1 }, { 'm', 60 }, { 'h', 3600 } };
	const size_t n = strlen(value);
	char digits[16] = "";
	uint64_t v = 0, by = 1;
	size_t ndigits = n;

	for (size_t i = 0; n && i < COUNT(units); i++)
		if (value[n - 1] == units[i].suffix) {
			by = units[i].seconds;
			ndigits = n - 1;
		}
	if (ndigits < sizeof(digits))
		memcpy(digits, value, ndigits);
	return text_u64(digits, &v) && v <= 86400 && v * by <= 86400 ? v * by : 0;
}

static int take_history(void *state, const char *value)
{
	struct serve *c = state;

	c->o.history = serve_seconds(value);
	return c->o.history >= 10 ?
		       GO_ON :
		       refuse_usage(c->cx, "--history: invalid time '%s' (expected 10s to 24h, such as 90s, 10m or 1h)",
				    value);
}

static int take_push_time(void *state, const char *value)
{
	struct serve *c = state;

	c->o.push_seconds = serve_seconds(value);
	return c->o.push_seconds ?
		       GO_ON :
		       refuse_usage(c->cx, "--push-every: invalid time '%s' (expected 1s to 24h, such as 15s or 1m)",
				    value);
}

static int take_push_format(void *state, const char *value)
{
	struct serve *c = state;

	c->push_format = value;
	return !strcmp(value, "folded") || !strcmp(value, "pprof") ?
		       GO_ON :
		       refuse_usage(c->cx, "--push-format: unknown format '%s' (expected pprof or folded)", value);
}

static int take_archive_time(void *state, const char *value)
{
	struct serve *c = state;

	c->o.archive_seconds = serve_seconds(value);
	return c->o.archive_seconds ?
		       GO_ON :
		       refuse_usage(c->cx, "--archive-every: invalid time '%s' (expected 1s to 24h, such as 10m or 1h)",
				    value);
}

static const struct opt options[] = {
	{ 's', "script", "FILE", "a D program; more than one -s is possible", OPT_STEP(take_file) },
	{ 'd', "directory", "DIR", "all D programs *.d of a directory (default: " PROGRAMS_DIRECTORY ")",
	  OPT_ONCE(struct serve, directory) },
	{ 0, "on", "WHERE",
	  "a platform whose counters are served, as 'tally stat' has it; more than one --on is possible",
	  OPT_STEP(take_on) },
	{ 'e', "event", "EVENT",
	  "events to count, of the --on before it, or else of this machine's CPUs; or one of a PTT device",
	  OPT_STEP(take_event) },
	{ 0, "view", "VIEW", "in place of events: a view of a POWER machine, as 'tally stat' has it",
	  OPT_STEP(take_view) },
	{ 0, "listen", "ADDRESS", "address and port (default 127.0.0.1:7347)", OPT_ONCE(struct serve, o.listen) },
	{ 0, "web.config.file", "FILE", "TLS and users, as exporters of Prometheus have them",
	  OPT_ONCE(struct serve, o.web) },
	{ 0, "drop", NULL, "give all capabilities up once the programs run", OPT_TRUE(struct serve, drop) },
	{ 'x', NULL, "maxseries=N", "most series of an aggregation (default 1000); other keys become one series",
	  OPT_STEP(take_extended) },
	{ 0, "history", "TIME", "keep so much for the page, also while none is open: 90s, 10m, 1h (at most 24h)",
	  OPT_STEP(take_history) },
	{ 0, "push", "URL", "send profiles to a server that takes them as Pyroscope does: http://HOST:PORT",
	  OPT_ONCE(struct serve, o.push) },
	{ 0, "push-every", "TIME", "a profile of each so often (default 15s)", OPT_STEP(take_push_time) },
	{ 0, "push-format", "FORMAT", "what is sent: pprof (the default) or folded", OPT_STEP(take_push_format) },
	{ 0, "archive", "DIR", "keep what the programs count as Parquet in DIR, by aggregation, program, host and hour",
	  OPT_ONCE(struct serve, o.archive) },
	{ 0, "archive-every", "TIME", "a file of each aggregation so often, if it counted (default 10m)",
	  OPT_STEP(take_archive_time) },
	{ 0, "check", NULL, "compile the programs, print which metrics there will be, and exit",
	  OPT_TRUE(struct serve, check) },
	{ 'h', "help", NULL, "show this help", OPT_HELP },
};

const struct opts *cmd_serve_opts(void)
{
	static const struct opts o = {
		.verb = "serve",
		.usage = "[option]...",
		.intro = "Runs D programs until SIGTERM or SIGINT, and answers HTTP: "
			 "/ is a page for a browser, /metrics has their\n"
			 "aggregations as metrics for Prometheus (text 0.0.4 "
			 "and OpenMetrics 1.0.0), /status says how the programs\n"
			 "fare, /folded and /debug/pprof/profile have stacks. "
			 "SIGHUP reads the files again; programs that did not\n"
			 "change count on. Only files that nobody but root and this user may write are taken.\n"
			 "With --on and -e it counts what 'tally stat' counts, and packets of PTT devices, "
			 "and serves that as metrics, too.\n",
		.outro = "\nExamples:\n"
			 "  tally serve --check -s examples/faults-served.d\n"
			 "  tally serve --check --on power -e gpci/entitled/\n"
			 "  tally serve --check --on kunpeng -e hisi_ptt0_2/filter=0x80001,type=7/\n"
			 "  timeout --preserve-status 2 tally serve -s examples/faults-served.d\n"
			 "\nExit status: 0 ended by a signal, or all programs compile; 1 it failed, "
			 "or a program does not compile; 2 invalid options; 3 not supported; 4 not permitted.\n",
		.opt = options,
		.n = COUNT(options),
	};
	return &o;
}

static int serve_put_note(void *arg, const char *text, size_t n)
{
	const struct serve *c = arg;

	complain(c->cx, "%.*s", (int)n, text);
	return 0;
}

static int serve_put_line(void *arg, const char *text, size_t n)
{
	struct serve *c = arg;
	struct buf b = { 0 };

	buf_put(&b, text, n);
	c->status = print(c->cx, &b);
	return c->status == ST_OK ? 0 : -TALLY_EIO;
}

static uint64_t serve_clock(void *arg)
{
	struct timespec t;

	(void)arg;
	clock_gettime(CLOCK_REALTIME, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static int serve_failed(const struct serve *c, const struct tally_serve *s, int rc)
{
	const char *words = tally_serve_error(s);

	complain(c->cx, "%s", *words ? words : tally_strerror(rc));
	return rc == -TALLY_ENOTSUP ? ST_NOTSUP : rc == -TALLY_EPERM ? ST_NOPERM : ST_FAILED;
}

static int serve_programs(struct serve *c, struct tally_serve *s)
{
	int rc = 0;

	for (uint32_t i = 0; rc >= 0 && i < c->nfiles; i++)
		rc = tally_serve_program(s, c->file[i]);
	for (uint32_t i = 0; rc >= 0 && i < c->non; i++)
		rc = c->on[i].events.failed ? -TALLY_ENOMEM :
					      tally_serve_platform(s, c->on[i].on, c->on[i].events.p, c->on[i].view);
	if (rc >= 0 && (c->directory || (!c->nfiles && !c->non)))
		rc = tally_serve_directory(s, c->directory ? c->directory : PROGRAMS_DIRECTORY);
	return rc;
}

/* A number of the environment that is meant for this process. */
static uint64_t serve_number(const char *name, const char *pid)
{
	const char *text = getenv(name), *whose = getenv(pid);
	uint64_t n, of;

	return text && text_u64(text, &n) && (!whose || (text_u64(whose, &of) && of == (uint64_t)getpid())) ? n : 0;
}

/* What systemd says in the environment: sd_listen_fds(3), sd_notify(3), sd_watchdog_enabled(3). */
static void serve_take_manager(struct tally_serve_opts *o)
{
	if (getenv("LISTEN_PID") && serve_number("LISTEN_FDS", "LISTEN_PID") > 0)
		o->listen_fd = 3;
	o->watchdog_ns = serve_number("WATCHDOG_USEC", "WATCHDOG_PID") * 1000;
	o->notify = getenv("NOTIFY_SOCKET");
}

static int serve_with_options(struct serve *c)
{
	const bool is_folded = c->push_format && !strcmp(c->push_format, "folded");
	struct tally_serve *s = NULL;
	int status, rc;

	c->o.size = sizeof(c->o);
	c->o.note = serve_put_note;
	c->o.clock = serve_clock;
	c->o.arg = c;
	c->o.stop = catch_signals();
	c->o.reload = catch_reload();
	c->o.flags = (c->drop ? TALLY_SERVE_DROP : 0) | (is_folded ? TALLY_SERVE_FOLDED : 0);
	c->o.host = uname(&c->host) ? NULL : c->host.nodename;
	c->o.duckdb = duckdb_library(&c->duckdb);
	serve_take_manager(&c->o);
	rc = tally_serve_open(&s, &c->o);
	if (rc < 0) {
		status = s ? serve_failed(c, s, rc) : ST_FAILED;
		tally_serve_close(s);
		return rc == -TALLY_EINVAL ? ST_USAGE : status;
	}
	rc = serve_programs(c, s);
	if (rc >= 0)
		rc = c->check ? tally_serve_check(s, serve_put_line, c) : tally_serve_run(s);
	status = c->status ? c->status : rc < 0 ? serve_failed(c, s, rc) : rc > 0 ? ST_FAILED : ST_OK;
	tally_serve_close(s);
	return status;
}

/* Options that say how something is done, without the one that says that it is. */
static int serve_check_pairs(const struct serve *c)
{
	const struct {
		bool is_alone;
		const char *option, *of;
	} pairs[] = {
		{ c->o.push_seconds && !c->o.push, "--push-every", "--push" },
		{ c->push_format && !c->o.push, "--push-format", "--push" },
		{ c->o.archive_seconds && !c->o.archive, "--archive-every", "--archive" },
	};

	for (size_t i = 0; i < COUNT(pairs); i++)
		if (pairs[i].is_alone)
			return opts_refuse(c->cx, cmd_serve_opts(), "%s requires %s", pairs[i].option, pairs[i].of);
	return GO_ON;
}

int cmd_serve(struct cmd_ctx *cx, int argc, char **argv)
{
	struct serve c = { .cx = cx };
	int first, status = opts_parse(cx, cmd_serve_opts(), &c, argc, argv, &first);

	if (status == GO_ON && first < argc)
		status = opts_refuse(cx, cmd_serve_opts(), "unexpected argument '%s': programs are given by -s",
				     argv[first]);
	if (status == GO_ON)
		status = serve_check_pairs(&c);
	if (status == GO_ON)
		status = serve_with_options(&c);
	for (uint32_t i = 0; i < c.non; i++)
		buf_free(&c.on[i].events);
	buf_free(&c.duckdb);
	return status;
}
