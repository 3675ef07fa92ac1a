/*
 * list.c: `tally list`, the one place to find anything that has a name.
 */
#include <string.h>

#include "cmd/platform.h"

struct list {
	struct plat_args a; /* first: the shared options take it */
	bool verbose, names;
	struct buf out;
};

static const struct opt options[] = {
	PLAT_OPTIONS,
	{ 'v', NULL, NULL, "show more: how to write it, aliases, codes, masks, fields",
	  OPT_TRUE(struct list, verbose) },
	{ 0, "names", NULL, "only the names of a KIND, one per line, without testing whether they work",
	  OPT_TRUE(struct list, names) },
	PLAT_FORM_OPTIONS,
	{ 'h', "help", NULL, "show this help", OPT_HELP },
};

const struct opts *cmd_list_opts(void)
{
	static const struct opts o = {
		.verb = "list",
		.usage = "[option]... [KIND [PATTERN] | PATTERN]",
		.intro = "Finds names: 'tally list' shows the kinds, 'tally list KIND'\n"
			 "all names of one kind, 'tally list PATTERN' the "
			 "matches of all kinds. A PATTERN with * ? [ is a\n"
			 "glob over names; any other PATTERN matches a part of a name or explanation. For the kinds\n"
			 "ptt, vfalls, mmustat and gpci, list shows what the platform of --on has and permits.\n",
		.outro = "\nExamples:\n"
			 "  tally list tlb\n"
			 "  tally list -v events 'PAPI_l2*'\n"
			 "  tally list --on power,firmware=8,rights=none gpci\n",
		.opt = options,
		.n = COUNT(options),
	};
	return &o;
}

static void put_name(void *arg, const char *name)
{
	struct list *l = arg;

	buf_printf(&l->out, "%s\n", name);
}

static int list_run_verb(struct list *l, const char *kind, const char *pattern)
{
	int rc, status = plat_args_open(&l->a, "list");

	if (status == GO_ON) {
		rc = l->names ? tally_names(l->a.p, kind, put_name, l) :
				tally_list(l->a.p, kind, pattern, l->verbose, &l->a.to);
		status = rc < 0 ? plat_args_failed(&l->a, rc) : l->names ? print(l->a.a.cx, &l->out) : ST_OK;
	}
	buf_free(&l->out);
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
	if (l.names && argc != 1)
		return refuse_usage(cx, "--names requires one KIND and takes no PATTERN");
	if (argc > 2)
		return opts_refuse(
			cx, cmd_list_opts(),
			"too many arguments: one KIND and one PATTERN at most (quote the PATTERN for the shell)");
	return list_run_verb(&l, argc > 0 ? argv[0] : NULL, argc > 1 ? argv[1] : NULL);
}
