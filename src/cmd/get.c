/*
 * get.c: `tally get`, what tunables are.
 */
#include "cmd/platform.h"

static int take_help(void *state, const char *value)
{
	struct plat_args *a = state;
	struct buf b = { 0 };

	(void)value;
	opts_help(cmd_get_opts(), &b);
	return print(a->a.cx, &b);
}

static const struct opt options[] = {
	PLAT_OPTIONS,
	PLAT_FORM_OPTIONS,
	{ 'h', "help", NULL, "print this", take_help },
};

const struct opts *cmd_get_opts(void)
{
	static const struct opts o = {
		.verb = "get",
		.usage = "[option]... SELECTOR...",
		.intro = "Reads tunables. A SELECTOR is DEVICE/NAME, or DEVICE for all it has; 'tally list ptt' shows both.\n",
		.outro = "\nExamples:\n"
			 "  tally get hisi_ptt0_2/qos_tx_cpl\n"
			 "  tally get --on kunpeng hisi_ptt0_2\n"
			 "  tally get --json hisi_ptt0_2 hisi_ptt0_0\n",
		.opt = options,
		.n = COUNT(options),
	};
	return &o;
}

/* All of them at once: one header row, and nothing is printed when one is wrong. */
static int get(struct plat_args *a, int n, char **selector)
{
	struct buf all = { 0 };
	int rc, status = plat_args_open(a, "get");

	for (int i = 0; i < n; i++)
		buf_printf(&all, "%s%s", i ? " " : "", selector[i]);
	if (status == GO_ON) {
		rc = all.failed ? -TALLY_ENOMEM : tally_get(a->p, all.p, &a->to);
		status = rc < 0 ? plat_args_failed(a, rc) : ST_OK;
	}
	buf_free(&all);
	return plat_args_close(a, status);
}

int cmd_get(struct cmd_ctx *cx, int argc, char **argv)
{
	struct plat_args a = { .a.cx = cx };
	int first, status = opts_parse(cx, cmd_get_opts(), &a, argc, argv, &first);

	if (status != GO_ON)
		return status;
	if (argc > first)
		return get(&a, argc - first, argv + first);
	complain(cx, "nothing to read: give a SELECTOR, as hisi_ptt0_2/qos_tx_cpl");
	complain(cx, "'tally get -h' shows the options");
	return ST_USAGE;
}
