/*
 * list.c: `tally list`, what there is to record, to read and to set.
 */
#include <string.h>

#include "cmd/platform.h"

struct list {
	struct plat_args a;                   /* first: the shared options take it */
	bool verbose;
};

static int take_verbose(void *state, const char *value)
{
	struct list *l = state;

	(void)value;
	l->verbose = true;
	return GO_ON;
}

static int take_help(void *state, const char *value)
{
	struct list *l = state;
	struct buf b = { 0 };

	(void)value;
	opts_help(cmd_list_opts(), &b);
	return print(l->a.a.cx, &b);
}

static const struct opt options[] = {
	PLAT_OPTIONS,
	{ 'v', NULL, NULL, "say more: perf's type, codes, other names, values after a reset", take_verbose },
	PLAT_FORM_OPTIONS,
	{ 'h', "help", NULL, "print this", take_help },
};

const struct opts *cmd_list_opts(void)
{
	static const struct opts o = {
		.verb = "list",
		.usage = "[option]... [KIND [PATTERN]]",
		.intro = "Shows what a platform has: 'tally list' the kinds of things, 'tally list ptt' the PTT devices with what an\n"
			 "event may hold and what can be tuned. PATTERN is a glob over names.\n",
		.outro = "\nExamples:\n"
			 "  tally list ptt\n"
			 "  tally list --on kunpeng ptt '0000:01:*'\n"
			 "  tally list --on kunpeng --json ptt\n",
		.opt = options,
		.n = COUNT(options),
	};
	return &o;
}

static int run(struct list *l, const char *kind, const char *pattern)
{
	int rc, status = plat_args_open(&l->a, "list");

	if (status == GO_ON) {
		rc = tally_list(l->a.p, kind, pattern, l->verbose, &l->a.to);
		status = rc < 0 ? plat_args_failed(&l->a, rc) : ST_OK;
	}
	return plat_args_close(&l->a, status);
}

int cmd_list(struct cmd_ctx *cx, int argc, char **argv)
{
	struct list l = { .a.a.cx = cx };
	int first, status = opts_parse(cx, cmd_list_opts(), &l, argc, argv, &first);

	if (status != GO_ON)
		return status;
	argv += first;
	argc -= first;
	if (argc <= 2)
		return run(&l, argc > 0 ? argv[0] : NULL, argc > 1 ? argv[1] : NULL);
	complain(cx, "one KIND and one PATTERN at most (quote the PATTERN for the shell)");
	complain(cx, "'tally list -h' shows the options");
	return ST_USAGE;
}
