/*
 * get.c: `tally get`, what tunables, registers and records are.
 */
#include "cmd/platform.h"

static const struct opt options[] = {
	PLAT_OPTIONS,
	PLAT_LOAD_OPTION,
	{ 0, "duration", "MS", "let a model run for MS of its own time before its hypervisor counters are read",
	  OPT_MS(struct plat_args, o.run_ns) },
	{ 0, "raw", NULL, "print the raw answer of the hypervisor, in hexadecimal",
	  OPT_TRUE(struct plat_args, to.raw) },
	PLAT_FORM_OPTIONS,
	{ 'h', "help", NULL, "show this help", OPT_HELP },
};

const struct opts *cmd_get_opts(void)
{
	static const struct opts o = {
		.verb = "get",
		.usage = "[option]... SELECTOR...",
		.intro = "Reads tunables, registers and records. A SELECTOR is DEVICE/NAME, "
			 "or DEVICE for all its tunables; vfalls/REGISTER/;\n"
			 "gpci/REQUEST[,index=N]/; mmustat/all/. 'tally list KIND' shows the names.\n",
		.outro = "\nExamples:\n"
			 "  tally get --on kunpeng hisi_ptt0_2\n"
			 "  tally get --on batoka vfalls/zam0_lpu_a_pcr/ vfalls/18/\n"
			 "  tally get --on power --json gpci/dispatch_purr,processor=3/ gpci/entitled/\n",
		.more = plat_help_loads,
		.opt = options,
		.n = COUNT(options),
	};
	return &o;
}

/* All of them at once: one header row, and nothing is printed when one is wrong. */
static int get_run_verb(struct plat_args *a, int n, char **selector)
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
		return get_run_verb(&a, argc - first, argv + first);
	return opts_refuse(cx, cmd_get_opts(), "nothing to read: name a SELECTOR, e.g. hisi_ptt0_2/qos_tx_cpl");
}
