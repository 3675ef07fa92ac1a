/*
 * completion.c: `tally completion SHELL`, no verb of its own page: prints the completion script of a shell.
 *
 * The scripts are the files completion.bash, .zsh and .fish beside this one.  They know shells; what is offered they
 * ask of `tally complete` (complete.c).
 */
#include <string.h>

#include "cmd/cmd_int.h"

/* clang-format off */
#define SCRIPT(shell)                                                            \
	__asm__(".pushsection .rodata\n"                                         \
		"completion_" #shell ":\n"                                       \
		".incbin \"src/cmd/completion." #shell "\"\n"                    \
		".byte 0\n"                                                      \
		".popsection\n");                                                \
	extern const char completion_##shell[]
/* clang-format on */
SCRIPT(bash);
SCRIPT(zsh);
SCRIPT(fish);

static const struct opt options[] = {
	{ 'h', "help", NULL, "show this help", OPT_HELP },
};

const struct opts *cmd_completion_opts(void)
{
	static const struct opts o = {
		.verb = "completion",
		.usage = "bash|zsh|fish",
		.intro = "Prints a shell completion script. It completes verbs, options and their values, as found on\n"
			 "this machine or the platform of --on.\n",
		.outro = "\nExamples:\n"
			 "  . <(tally completion bash)            # now; or as a line of ~/.bashrc\n"
			 "  tally completion zsh >_tally          # into a directory of zsh's fpath\n"
			 "  tally completion fish >tally.fish     # into ~/.config/fish/completions\n",
		.opt = options,
		.n = COUNT(options),
	};
	return &o;
}

int cmd_completion(struct cmd_ctx *cx, int argc, char **argv)
{
	static const struct {
		const char *shell;
		const char *script;
	} rows[] = {
		{ "bash", completion_bash },
		{ "zsh", completion_zsh },
		{ "fish", completion_fish },
	};
	const struct text_names shells = { &rows[0].shell, sizeof(rows[0]), COUNT(rows) };
	struct buf b = { 0 };
	int first, status = opts_parse(cx, cmd_completion_opts(), cx, argc, argv, &first);

	if (status != GO_ON)
		return status;
	if (argc - first != 1) {
		complain(cx, "%s",
			 argc == first ? "no shell given (expected bash, zsh or fish)" : "only one shell can be given");
		return refuse_usage(cx, "'tally completion -h' shows how to use the script");
	}
	for (size_t i = 0; i < COUNT(rows); i++)
		if (!strcmp(argv[first], rows[i].shell)) {
			buf_puts(&b, rows[i].script);
			return print(cx, &b);
		}
	return refuse_usage(cx, "unknown shell '%s'%s", argv[first],
			    err_unknown(argv[first], shells, " (expected bash, zsh or fish)").text);
}
