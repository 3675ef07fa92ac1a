/*
 * check.c: `tally check`, whether counters obey the invariants of their machine.
 */
#include <stdio.h>
#include <string.h>

#include "cmd/platform.h"

struct check {
	struct plat_args a; /* first: the shared options take it */
	struct tally_check_opts c;
	char file[4096];
};

/* -i FILE: a name without a '/' is a file, too, where --on would have a platform. */
static int take_input(void *state, const char *value)
{
	struct check *c = state;
	const int n = snprintf(c->file, sizeof(c->file), "%s%s", strchr(value, '/') ? "" : "./", value);

	if (n < 0 || (size_t)n >= sizeof(c->file))
		return refuse_usage(c->a.a.cx, "-i: file name too long");
	return plat_take_on(state, c->file);
}

static const struct opt options[] = {
	{ 'I', "interval", "MS", "time between the two readings (default 1000; sun4v models 10, PTT models 50)",
	  OPT_MS(struct check, c.interval_ns) },
	{ 'i', "input", "FILE", "check a saved PTT trace, GPCI reply or MMU statistics; same as --on ./FILE",
	  OPT_STEP(take_input) },
	PLAT_OPTIONS,
	PLAT_LOAD_OPTION,
	PLAT_FORM_OPTIONS,
	{ 'h', "help", NULL, "show this help", OPT_HELP },
};

const struct opts *cmd_check_opts(void)
{
	static const struct opts o = {
		.verb = "check",
		.usage = "[option]... gpci|vfalls|mmustat|ptt",
		.intro = "Reads all readable counters twice and checks them against the "
			 "invariants of their machine. POWER (gpci): time given out and\n"
			 "used, entitlements, donations, links, records by id. "
			 "Victoria Falls (vfalls): misses, memory controllers, hubs.\n"
			 "Niagara (mmustat): TLB misses and their time. PTT: "
			 "packets, transactions and link traffic, over traces of all\n"
			 "devices. Each invariant has a row, which says why the invariant is broken or why it cannot\n"
			 "be checked.\n",
		.outro = "\nExamples:\n"
			 "  tally check --on power --load contended -I 100 gpci\n"
			 "  tally check --on batoka,load=random --json vfalls\n"
			 "  tally check --on niagara,load=chase -I 10 mmustat\n"
			 "  tally check --on kunpeng,load=p2p ptt\n"
			 "  tally check -i t.data ptt\n"
			 "\nExit status: 0 no invariant is broken; 1 an invariant is broken or the check failed; "
			 "2 invalid options; 3 not supported, or nothing was checked; 4 not permitted.\n",
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
	return opts_refuse(cx, cmd_check_opts(),
			   argc == first ? "nothing to check: name gpci, vfalls, mmustat or ptt" :
					   "only one of gpci, vfalls, mmustat and ptt can be checked at a time");
}
