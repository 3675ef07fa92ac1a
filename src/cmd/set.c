/*
 * set.c: `tally set`, gives tunables and registers a value.
 */
#include "cmd/platform.h"

static const struct opt options[] = {
	PLAT_OPTIONS,
	{ 'h', "help", NULL, "show this help", OPT_HELP },
};

const struct opts *cmd_set_opts(void)
{
	static const struct opts o = {
		.verb = "set",
		.usage = "[option]... SELECTOR=VALUE...",
		.intro =
			"Sets tunables and registers in the given order and "
			"stops at the first failure. 'tally list KIND' shows\n"
			"the names and what the values mean. The output of 'tally get' for a tunable is valid input.\n",
		.outro = "\nExamples:\n"
			 "  # on a Kunpeng server:\n"
			 "  sudo tally set hisi_ptt0_2/qos_tx_cpl=2\n"
			 "  # on models:\n"
			 "  tally set --on unix:kunpeng.sock $(cat saved)\n"
			 "  tally set --on batoka vfalls/l2_cr=3 vfalls/zam0_lpu_a_pcr=0x0101\n",
		.opt = options,
		.n = COUNT(options),
	};
	return &o;
}

int cmd_set(struct cmd_ctx *cx, int argc, char **argv)
{
	struct plat_args a = { .a.cx = cx };
	int first, status = opts_parse(cx, cmd_set_opts(), &a, argc, argv, &first);

	if (status != GO_ON)
		return status;
	if (argc == first)
		return opts_refuse(cx, cmd_set_opts(),
				   "nothing to set: give SELECTOR=VALUE, e.g. hisi_ptt0_2/qos_tx_cpl=2");
	status = plat_args_open(&a, NULL);
	for (int i = first; status == GO_ON && i < argc; i++) {
		int rc = tally_set(a.p, argv[i]);

		if (rc < 0)
			status = plat_args_failed(&a, rc);
	}
	return plat_args_close(&a, status == GO_ON ? ST_OK : status);
}
