/*
 * check.c: `tally check`, whether counters obey the laws of their machine.
 */
#include <stdio.h>
#include <string.h>

#include "cmd/platform.h"

struct check {
	struct plat_args a; /* first: the shared options take it */
	struct tally_check_opts c;
	char file[4096];
};

static int take_interval(void *state, const char *value)
{
	struct check *c = state;

	return plat_ms(&c->a, "-I", value, &c->c.interval_ns);
}

/* -i FILE: a name without a '/' is a file, too, where --on would have a platform. */
static int take_input(void *state, const char *value)
{
	struct check *c = state;
	const int n = snprintf(c->file, sizeof(c->file), "%s%s", strchr(value, '/') ? "" : "./", value);

	if (n < 0 || (size_t)n >= sizeof(c->file)) {
		complain(c->a.a.cx, "-i: the name is too long");
		return ST_USAGE;
	}
	return plat_take_on(state, c->file);
}

static int take_help(void *state, const char *value)
{
	struct check *c = state;
	struct buf b = { 0 };

	(void)value;
	opts_help(cmd_check_opts(), &b);
	return print(c->a.a.cx, &b);
}

static const struct opt options[] = {
	{ 'I', "interval", "MS", "between the readings; 1000 unless said, 10 of sun4v models, 50 of PTT's",
	  take_interval },
	{ 'i', "input", "FILE", "what was saved: a PTT trace, a reply, MMU statistics; as --on ./FILE", take_input },
	PLAT_OPTIONS,
	PLAT_LOAD_OPTION,
	PLAT_FORM_OPTIONS,
	{ 'h', "help", NULL, "print this", take_help },
};

const struct opts *cmd_check_opts(void)
{
	static const struct opts o = {
		.verb = "check",
		.usage = "[option]... gpci|vfalls|mmustat|ptt",
		.intro =
			"Reads all that may be read twice and says which laws of the machine the counters obey: of POWER (gpci) those of time\n"
			"that is given out and used, of entitlements, donations, links, of records by id; of Victoria Falls (vfalls) those of\n"
			"misses, controllers and hubs; of Niagara (mmustat) those of TLB misses and their time; of PTT\n"
			"those of packets, transactions, and what the link carried, over traces of all devices. A row a law; why one is\n"
			"broken, or can't be told, is said beside it.\n",
		.outro =
			"\nExamples:\n"
			"  tally check --on power --load contended -I 100 gpci\n"
			"  tally check --on batoka,load=random --json vfalls\n"
			"  tally check --on niagara,load=chase -I 10 mmustat\n"
			"  tally check --on kunpeng,load=p2p ptt\n"
			"  tally check -i t.data ptt\n"
			"\nExit status: 0 no law is broken; 1 one is, or it went wrong; 2 wrong options; 3 not supported; 4 not permitted.\n",
		.opt = options,
		.n = COUNT(options),
	};
	return &o;
}

static int check_run_verb(struct check *c)
{
	struct tally_check_result result = { .size = sizeof(result) };
	int rc, status;

	c->c.stop = c->a.o.stop = catch_signals();
	status = plat_args_open(&c->a, "check");
	if (status != GO_ON)
		return plat_args_close(&c->a, status);
	c->c.size = sizeof(c->c);
	c->c.to = c->a.to;
	rc = tally_check(c->a.p, &c->c, &result);
	if (rc < 0)
		status = plat_args_failed(&c->a, rc);
	else
		status = result.broken ? ST_FAILED : ST_OK;
	return plat_args_close(&c->a, status);
}

int cmd_check(struct cmd_ctx *cx, int argc, char **argv)
{
	struct check c = { .a.a.cx = cx };
	int first, status = opts_parse(cx, cmd_check_opts(), &c, argc, argv, &first);

	if (status != GO_ON)
		return status;
	if (argc - first == 1) {
		c.c.what = argv[first];
		return check_run_verb(&c);
	}
	complain(cx, argc == first ? "what is to be checked? gpci, vfalls, mmustat or ptt" : "one thing at a time");
	complain(cx, "'tally check -h' shows the options");
	return ST_USAGE;
}
