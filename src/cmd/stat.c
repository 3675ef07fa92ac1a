/*
 * stat.c: `tally stat`, counters over time.
 *
 * Options are perf's.  --on may be given several times: each is for the events behind it, and with one
 * alone it doesn't matter where it stands.  With a command the figures go to stderr, for stdout is the command's.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/platform.h"

#define PLATFORMS 16u

/* a further --on */
struct stat_on {
	struct tally_platform_opts o;
	struct tally_platform *p;
	struct buf events;
};
struct ids {
	int32_t *v;
	uint32_t n, cap;
};
struct stat_args {
	struct plat_args a; /* first: the shared options take it */
	struct tally_stat_opts s;
	struct tally_stat_result result;
	struct buf events; /* all -e of the first platform, joined */
	struct stat_on on[PLATFORMS];
	struct tally_stat_more more[PLATFORMS];
	uint32_t non;
	struct ids pids, tids;
};

/* ---- options --------------------------------------------------------------------------- */

static int take_event(void *state, const char *value)
{
	struct stat_args *s = state;
	struct buf *to = s->non ? &s->on[s->non - 1].events : &s->events;

	buf_printf(to, "%s%s", to->n ? "," : "", value);
	return GO_ON;
}

static int take_on(void *state, const char *value)
{
	struct stat_args *s = state;

	if (!s->a.o.on)
		return plat_take_on(state, value);
	if (s->non == PLATFORMS)
		return refuse_usage(s->a.a.cx, "--on can be given %u times at most", PLATFORMS + 1);
	s->on[s->non++] = (struct stat_on){ .o = { .on = value } };
	return GO_ON;
}

static int take_load(void *state, const char *value)
{
	struct stat_args *s = state;
	const char **to = s->non ? &s->on[s->non - 1].o.load : &s->a.o.load;

	if (*to)
		return plat_take_load(state, value); /* says that it is the second */
	*to = value;
	return GO_ON;
}

/* "12,34" */
static int take_ids(struct stat_args *s, const char *option, const char *value, struct ids *ids)
{
	char word[16];
	uint64_t n;

	for (const char *p = value;; p++) {
		size_t len = strcspn(p, ",");
		int32_t *to;

		snprintf(word, sizeof(word), "%.*s", len < sizeof(word) ? (int)len : 0, p);
		if (!text_u64(word, &n) || !n || n > INT32_MAX)
			return refuse_usage(s->a.a.cx,
					    "%s: invalid value '%s' (expected process IDs separated by commas)", option,
					    value);
		to = VEC_NEW(ids->v, ids->n, ids->cap);
		if (!to) {
			complain(s->a.a.cx, "out of memory");
			return ST_FAILED;
		}
		*to = (int32_t)n;
		p += len;
		if (!*p)
			return GO_ON;
	}
}

static int take_pid(void *state, const char *value)
{
	struct stat_args *s = state;

	return take_ids(s, "-p", value, &s->pids);
}

static int take_tid(void *state, const char *value)
{
	struct stat_args *s = state;

	return take_ids(s, "-t", value, &s->tids);
}

static const struct opt options[] = {
	{ 'e', "event", "EVENT", "events to count, separated by commas: CPU events, or PROVIDER/NAME,KEY=VALUE,.../",
	  OPT_STEP(take_event) },
	{ 'a', "all", NULL, "all CPUs; for hypervisors a row for each strand, where an event names none",
	  OPT_BITS(struct stat_args, s.flags, TALLY_STAT_EACH | TALLY_STAT_SYSTEM) },
	{ 'C', "cpu", "LIST", "only these CPUs, e.g. 0,2-4", OPT_KEEP(struct stat_args, s.cpus) },
	{ 'A', "per-cpu", NULL, "a row for each CPU",
	  OPT_BITS(struct stat_args, s.flags, TALLY_STAT_EACH | TALLY_STAT_PER_CPU) },
	{ 'p', "pid", "PID", "these processes, all their threads, and what they start from now on",
	  OPT_STEP(take_pid) },
	{ 't', "tid", "TID", "only these threads", OPT_STEP(take_tid) },
	{ 'r', "repeat", "N", "run the command N times; show means and their spread",
	  OPT_NUMBER(struct stat_args, s.repeat, 1, 1000000, "a number of runs, 1 or more") },
	{ 0, "share", NULL, "multiplex: events take turns on the counters, and counts are scaled up",
	  OPT_BITS(struct stat_args, s.flags, TALLY_STAT_SHARE) },
	{ 0, "view", "VIEW", "view of a POWER machine: cec, partitions, processors or links",
	  OPT_ONCE(struct stat_args, s.view) },
	{ 'I', "interval", "MS", "print a table every MS milliseconds (default: one at the end)",
	  OPT_MS(struct stat_args, s.interval_ns) },
	{ 0, "count", "N", "stop after N tables",
	  OPT_NUMBER(struct stat_args, s.count, 1, UINT32_MAX, "a number of intervals, 1 or more") },
	{ 0, "duration", "MS", "stop after MS of the platform's own time", OPT_MS(struct stat_args, s.duration_ns) },
	{ 0, "timeout", "MS", "same as --duration", OPT_MS(struct stat_args, s.duration_ns) },
	{ 0, "on", "WHERE",
	  "local: this machine (default); kunpeng, niagara, maramba, batoka, power: models; unix:PATH; "
	  "each --on applies to the events after it",
	  OPT_STEP(take_on) },
	{ 0, "profile", "NAME", "spec (default), driver (as the Linux driver) or opensparc (as Niagara's hypervisor)",
	  OPT_STEP(plat_take_profile) },
	{ 0, "load", "NAME", "workload of a model; same as load= in --on", OPT_STEP(take_load) },
	PLAT_FORM_OPTIONS,
	{ 'j', NULL, NULL, "same as --json", OPT_STEP(plat_take_json) },
	{ 'h', "help", NULL, "show this help", OPT_HELP },
};

const struct opts *cmd_stat_opts(void)
{
	static const struct opts o = {
		.verb = "stat",
		.usage = "[-e EVENT]... [option]... [--] [COMMAND [argument]...]",
		.intro = "Counts events over time. CPU events: of all CPUs, of processes, or of a command and its\n"
			 "children. Hypervisors: registers of Victoria Falls and its hubs, MMU statistics of\n"
			 "Niagara, records of a POWER machine. A model's "
			 "time runs as fast as the host can simulate it.\n"
			 "'tally list' shows the events.\n",
		.outro = "\nCPU events: cycles  page-faults  PAPI_l2_dcm  r01c7  cpu/event=0x3c,umask=1/\n"
			 "  cycles:u in user mode, cycles:k in the kernel\n"
			 "\nViews: T is the interval in timebase ticks, d() the growth of a counter in it.\n"
			 "  cec         BUSY = sum d(processor_time)/T, SPARE = cores - BUSY,\n"
			 "              %BUSY = BUSY/cores, %POOL of the shared ones\n"
			 "  partitions  ENT = d(entitled)/T, CAP = d(capped)/T, UNCAP = d(uncapped)/T,\n"
			 "              PHYSC = CAP + UNCAP, %ENTC = PHYSC/ENT, DONATE = d(donated)/T,\n"
			 "              %IDLE = d(idle)/d(capped + uncapped),\n"
			 "              CPI = d(cycles)/d(instructions)\n"
			 "  processors  %BUSY = d(processor_time)/T\n"
			 "  links       1 - d(idle)/d(time of the collection); A to C go between nodes,\n"
			 "              W to Z inside one\n"
			 "\nExamples:\n"
			 "  tally stat -r 5 -- make\n"
			 "  tally stat --on power --view partitions -I 1000 --count 5\n"
			 "  # with hardware counters:\n"
			 "  tally stat -a -e cycles,instructions,page-faults -I 1000 --count 5\n"
			 "\nExit status: 0, or the command's; 1 failed; 2 invalid options or event;\n"
			 "3 not supported; 4 not permitted.\n",
		.opt = options,
		.n = COUNT(options),
		.command = true,
	};
	return &o;
}

/* ---- the run ---------------------------------------------------------------------------- */

/* A model may be slower than the clock, and its first table is far. */
static int stat_show_progress(void *arg, uint64_t done, uint64_t total)
{
	struct stat_args *s = arg;

	if (ptt_args_is_due(&s->a.a))
		fprintf(stderr, "\r%s: %.0f %% of %g s of model time%s\033[K", s->a.o.on,
			100.0 * (double)done / (double)total, (double)total / 1e9,
			s->s.interval_ns ? "" : "; -I 10 makes it 0.01 s");
	return 0;
}

/* Who gives no command and no end waits for a table that comes when they press Ctrl-C. */
static void stat_say_how_it_ends(const struct stat_args *s)
{
	if (s->s.argv || s->s.count || s->s.duration_ns || s->s.interval_ns || !isatty(STDERR_FILENO))
		return;
	complain(s->a.a.cx, s->pids.n || s->tids.n ?
				    "counting until Ctrl-C, or until all counted tasks have ended" :
				    "counting until Ctrl-C; to stop by itself, give a COMMAND or --duration MS");
}

static int stat_exit_status(const struct stat_args *s, int rc)
{
	if (rc == -TALLY_EINVAL && (s->result.status == 126 || s->result.status == 127))
		return s->result.status;
	return rc < 0 ? GO_ON : *s->s.stop ? ST_OK : s->result.status;
}

static int stat_with_platform(struct stat_args *s)
{
	int rc, status;

	/* What a command writes is not to be mixed with its figures. */
	if (s->s.argv && !s->a.a.output)
		s->a.a.fd = STDERR_FILENO;
	s->s.size = sizeof(s->s);
	s->result.size = sizeof(s->result);
	s->s.events = s->events.p;
	s->s.to = s->a.to;
	s->s.to.colour = s->a.a.fd == STDOUT_FILENO && isatty(STDOUT_FILENO) && !getenv("NO_COLOR");
	s->s.progress = s->a.o.on && isatty(STDERR_FILENO) ? stat_show_progress : NULL;
	s->s.arg = s;
	stat_say_how_it_ends(s);
	rc = s->events.failed ? -TALLY_ENOMEM : tally_stat(s->a.p, &s->s, &s->result);
	status = rc < 0 ? plat_args_failed(&s->a, rc) : ST_OK;
	return stat_exit_status(s, rc) == GO_ON ? status : stat_exit_status(s, rc);
}

static int open_more(struct stat_args *s)
{
	for (uint32_t i = 0; i < s->non; i++) {
		struct stat_on *on = &s->on[i];
		int rc;

		on->o.size = sizeof(on->o);
		on->o.note = ptt_args_note;
		on->o.arg = &s->a;
		on->o.profile = s->a.o.profile;
		on->o.stop = s->s.stop;
		rc = tally_platform_open(&on->p, &on->o);
		if (rc < 0)
			return ptt_args_said(&s->a.a, on->p ? tally_platform_error(on->p) : "", rc);
		if (!on->events.n)
			return refuse_usage(s->a.a.cx, "--on %s: no event after it", on->o.on);
		s->more[i] = (struct tally_stat_more){ on->p, on->events.p };
	}
	s->s.more = s->more;
	s->s.nmore = s->non;
	return GO_ON;
}

static int stat_run_verb(struct stat_args *s)
{
	int status;

	s->s.stop = s->a.o.stop = catch_signals();
	status = plat_args_open(&s->a, "stat");
	if (status == GO_ON)
		status = open_more(s);
	s->s.pids = s->pids.v;
	s->s.npids = s->pids.n;
	s->s.tids = s->tids.v;
	s->s.ntids = s->tids.n;
	if (status == GO_ON)
		status = stat_with_platform(s);
	return plat_args_close(&s->a, status);
}

static bool has_target(const struct stat_args *s)
{
	return s->s.argv || s->pids.n || s->tids.n || s->s.cpus ||
	       s->s.flags & (TALLY_STAT_SYSTEM | TALLY_STAT_PER_CPU);
}

/* What stands behind -e where counters are asked for: of the machine that is asked. */
static const char *example_of(const char *on)
{
	static const struct {
		const char *on, *text;
	} examples[] = {
		{ "niagara", "mmustat/all/" },
		{ "maramba", "vfalls/node0_mcu0,event=mem_reads/" },
		{ "batoka", "vfalls/node0_mcu0,event=mem_reads/" },
		{ "power", "gpci/entitled/, or --view VIEW" },
	};

	for (size_t i = 0; i < COUNT(examples); i++)
		if (strcspn(on, ",") == strlen(examples[i].on) && !strncmp(on, examples[i].on, strlen(examples[i].on)))
			return examples[i].text;
	return "mmustat/all/ or gpci/entitled/ ('tally list' shows the platform's)";
}

static int stat_check_parsed(struct stat_args *s)
{
	struct cmd_ctx *cx = s->a.a.cx;
	bool local = !s->a.o.on || !strcmp(s->a.o.on, "local");

	if (s->s.argv && !local && !s->non && !s->events.n)
		complain(cx, "unknown argument '%s'; events go after -e", s->s.argv[0]);
	else if ((s->events.n || s->non) && s->s.view)
		complain(cx, "-e and --view cannot be combined");
	else if (!s->events.n && !s->s.view && !local && !s->non && !has_target(s))
		complain(cx, "nothing to count: give -e SELECTOR, e.g. %s", example_of(s->a.o.on));
	else
		return stat_run_verb(s);
	return refuse_usage(cx, "'tally stat -h' shows the options");
}

int cmd_stat(struct cmd_ctx *cx, int argc, char **argv)
{
	struct stat_args s = { .a.a.cx = cx };
	int first, status = opts_parse(cx, cmd_stat_opts(), &s, argc, argv, &first);

	if (argc > first)
		s.s.argv = argv + first;
	if (status == GO_ON)
		status = stat_check_parsed(&s);
	for (uint32_t i = 0; i < s.non; i++) {
		tally_platform_close(s.on[i].p);
		buf_free(&s.on[i].events);
	}
	mem_free(s.pids.v);
	mem_free(s.tids.v);
	buf_free(&s.events);
	return status;
}
