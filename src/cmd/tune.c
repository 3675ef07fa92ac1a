/*
 * tune.c: `tally tune`, trace, set, trace again, compare.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cmd/platform.h"

struct tune {
	struct plat_args a; /* first: the shared options take it */
	struct tally_tune_opts t;
	bool goal;
};

static int take_for(void *state, const char *value)
{
	struct tune *c = state;

	c->goal = true;
	c->t.goal = !strcmp(value, "latency") ? TALLY_GOAL_LATENCY : TALLY_GOAL_THROUGHPUT;
	if (c->t.goal == TALLY_GOAL_LATENCY || !strcmp(value, "throughput"))
		return GO_ON;
	return refuse_usage(c->a.a.cx, "--for: invalid value '%s' (expected latency or throughput)", value);
}

static const struct opt options[] = {
	{ 0, "for", "latency|throughput", "the goal", OPT_STEP(take_for) },
	{ 0, "dry-run", NULL, "show what would be tried, change nothing", OPT_BITS(struct tune, t.dry_run, 1) },
	{ 0, "duration", "MS",
	  "longest time of one measurement (without COMMAND: default 20 on a model, required elsewhere)",
	  OPT_MS(struct tune, t.duration_ns) },
	{ 0, "one-in", "N", "accept a useless setting by chance in one of N runs (default 1000)",
	  OPT_NUMBER(struct tune, t.one_in, 10, 1000000, "10 to 1000000") },
	{ 0, "time", "abs|delta", "whether a record's Time is absolute or counts from the previous record",
	  OPT_STEP(ptt_take_time) },
	PLAT_OPTIONS,
	PLAT_FORM_OPTIONS,
	{ 'h', "help", NULL, "show this help", OPT_HELP },
};

const struct opts *cmd_tune_opts(void)
{
	static const struct opts o = {
		.verb = "tune",
		.usage = "DEVICE --for latency|throughput [option]... [-- COMMAND [argument]...]",
		.intro = "Traces COMMAND under each setting of the device's tunables "
			 "that is worth trying, prints the measurements and leaves the\n"
			 "best setting; or the old one, when none is better or tune is interrupted.\n",
		.more = plat_help_ptt_loads,
		.outro = "\nExamples:\n"
			 "  # on a Kunpeng server:\n"
			 "  sudo tally tune hisi_ptt0_2 --for throughput -- \\\n"
			 "    dd if=/dev/nvme0n1 of=/dev/null bs=1M iflag=direct count=4096\n"
			 "  tally tune hisi_ptt0_2 --for latency --dry-run -- ./request\n"
			 "  # on a model of one:\n"
			 "  tally tune hisi_ptt0_2 --for throughput --on kunpeng,load=storage\n"
			 "\nExit status: 0; the command's when a signal ended "
			 "it or it could not be run; 1 failed or interrupted;\n"
			 "2 invalid options; 3 not supported; 4 not permitted. "
			 "In all cases but 0 the tunables are restored.\n",
		.opt = options,
		.n = COUNT(options),
		.command = false,
	};
	return &o;
}

/* A measurement is never so short that this would flicker. */
static int show_progress(void *arg, uint64_t done, uint64_t total)
{
	struct tune *c = arg;

	(void)total;
	c->a.a.on_screen = true;
	fprintf(stderr, "\rmeasurement %llu\033[K", (unsigned long long)done);
	return 0;
}

/* A table that nobody took: nothing was set then, which is said. */
static int not_taken(struct tune *c)
{
	const char *state = strstr(tally_platform_error(c->a.p), "; ");

	ptt_args_wipe(&c->a.a);
	if (c->a.a.write_error == EPIPE) {
		complain(c->a.a.cx, "stdout was closed by its reader%s", state ? state : "");
		return ST_READER;
	}
	complain(c->a.a.cx, "failed to write to %s: %s%s", c->a.a.output ? c->a.a.output : "stdout",
		 strerror(c->a.a.write_error), state ? state : "");
	return ST_FAILED;
}

static int tune_run_verb(struct tune *c)
{
	struct tally_tune_result result = { .size = sizeof(result) };
	int rc;

	c->t.to = c->a.to;
	c->t.time = c->a.a.o.time;
	c->t.progress = isatty(STDERR_FILENO) ? show_progress : NULL;
	c->t.arg = c;
	rc = tally_tune(c->a.p, &c->t, &result);
	if (rc >= 0)
		return ST_OK;
	if (c->a.a.write_error && !c->t.dry_run)
		return not_taken(c);
	rc = plat_args_failed(&c->a, rc);
	return result.status ? result.status : rc;
}

int cmd_tune(struct cmd_ctx *cx, int argc, char **argv)
{
	struct tune c = { .a.a.cx = cx, .t.size = sizeof(c.t) };
	int first, status = opts_parse(cx, cmd_tune_opts(), &c, argc, argv, &first);

	if (status != GO_ON)
		return status;
	if (argc == first) {
		const char *on = c.a.o.on;

		complain(c.a.a.cx, "no device given; 'tally list ptt%s%s' shows them", on ? " --on " : "",
			 on ? on : "");
		return refuse_usage(c.a.a.cx, "'tally tune -h' shows the options");
	}
	if (!c.goal)
		return opts_refuse(c.a.a.cx, cmd_tune_opts(), "--for is required: --for latency or --for throughput");
	c.t.device = argv[first];
	/* A second device, or a command whose options would have been taken for tally's. */
	if (argc > first + 1 && strcmp(argv[first - 1], "--"))
		return opts_refuse(c.a.a.cx, cmd_tune_opts(),
				   "unexpected argument '%s': give one DEVICE, and a COMMAND after '--', as in: -- %s",
				   argv[first + 1], argv[first + 1]);
	if (argc > first + 1)
		c.t.argv = argv + first + 1;
	c.t.stop = c.a.o.stop = catch_signals();
	status = plat_args_open(&c.a, "tune");
	return plat_args_close(&c.a, status == GO_ON ? tune_run_verb(&c) : status);
}
