/*
 * tune.c: `tally tune`, trace, set, trace again, compare.
 */
#include <string.h>
#include <unistd.h>

#include "cmd/platform.h"

struct tune {
	struct plat_args a;                   /* first: the shared options take it */
	struct tally_tuning t;
	bool goal;
};

static int take_for(void *state, const char *value)
{
	struct tune *c = state;

	c->goal = true;
	c->t.goal = !strcmp(value, "latency") ? TALLY_GOAL_LATENCY : TALLY_GOAL_THROUGHPUT;
	if (c->t.goal == TALLY_GOAL_LATENCY || !strcmp(value, "throughput"))
		return GO_ON;
	complain(c->a.a.cx, "--for=%s is none of: latency throughput", value);
	return ST_USAGE;
}

static int take_dry(void *state, const char *value)
{
	(void)value;
	((struct tune *)state)->t.dry_run = 1;
	return GO_ON;
}

static int take_duration(void *state, const char *value)
{
	struct tune *c = state;
	uint64_t ms;

	if (text_u64(value, &ms) && ms > 0 && ms <= UINT32_MAX) {
		c->t.duration_ns = ms * 1000000;
		return GO_ON;
	}
	complain(c->a.a.cx, "--duration=%s: milliseconds, from 1 up", value);
	return ST_USAGE;
}

static int take_help(void *state, const char *value)
{
	struct tune *c = state;
	struct buf b = { 0 };

	(void)value;
	opts_help(cmd_tune_opts(), &b);
	return print(c->a.a.cx, &b);
}

static const struct opt options[] = {
	{ 0, "for", "latency|throughput", "what is to become better", take_for },
	{ 0, "dry-run", NULL, "say what would be tried, and change nothing", take_dry },
	{ 0, "duration", "MS", "of a measurement without a command; 20 when not given", take_duration },
	PLAT_OPTIONS,
	PLAT_FORM_OPTIONS,
	{ 'h', "help", NULL, "print this", take_help },
};

const struct opts *cmd_tune_opts(void)
{
	static const struct opts o = {
		.verb = "tune",
		.usage = "DEVICE --for latency|throughput [option]... [-- COMMAND [argument]...]",
		.intro = "Measures a trace of COMMAND under each setting of the device's tunables that is worth trying, and leaves the\n"
			 "best; or what was there, when nothing is better or it is interrupted. Prints what was measured.\n",
		.outro = "\nExamples:\n"
			 "  sudo tally tune hisi_ptt0_2 --for throughput -- dd if=/dev/nvme0n1 of=/dev/null bs=1M count=4096\n"
			 "  tally tune hisi_ptt0_2 --for latency --dry-run -- ./request\n"
			 "  tally tune hisi_ptt0_2 --for throughput --on kunpeng,load=storage\n",
		.opt = options,
		.n = COUNT(options),
		.command = false,
	};
	return &o;
}

static int go(struct tune *c)
{
	int rc;

	c->t.stop = catch_signals();
	c->t.to = c->a.to;
	c->t.progress = isatty(STDERR_FILENO) ? ptt_args_progress : NULL;
	c->t.arg = c;
	buf_puts(&c->a.a.reading, "measurements");
	rc = tally_tune(c->a.p, &c->t);
	return rc < 0 ? plat_args_failed(&c->a, rc) : ST_OK;
}

static int usage(struct tune *c, const char *why)
{
	complain(c->a.a.cx, "%s", why);
	complain(c->a.a.cx, "'tally tune -h' shows the options");
	return ST_USAGE;
}

int cmd_tune(struct cmd_ctx *cx, int argc, char **argv)
{
	struct tune c = { .a.a.cx = cx, .t.size = sizeof(c.t) };
	int first, status = opts_parse(cx, cmd_tune_opts(), &c, argc, argv, &first);

	if (status != GO_ON)
		return status;
	if (argc == first)
		return usage(&c, "which device? 'tally list ptt' shows them");
	if (!c.goal)
		return usage(&c, "for what? --for latency or --for throughput");
	c.t.device = argv[first];
	if (argc > first + 1)
		c.t.argv = argv + first + 1;
	status = plat_args_open(&c.a, "tune");
	return plat_args_close(&c.a, status == GO_ON ? go(&c) : status);
}
