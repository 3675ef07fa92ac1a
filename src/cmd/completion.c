/*
 * completion.c: `tally completion SHELL`, no verb of its own page: prints a completion script.
 * All words in it come from the tables that parse the command line, so it can't be out of date.
 *
 * How an argument is completed follows from what the table calls it.  What events, probes and
 * devices there are the script asks the program, on the platform that the line names; that takes
 * milliseconds, since nothing is tried for it.
 */
#include <string.h>

#include "cmd/completion_int.h"

/* ---- what is offered ------------------------------------------------------------------------ */

static void put_words(struct buf *to, const char *(*word)(size_t i))
{
	for (size_t i = 0; word(i); i++)
		buf_printf(to, " %s", word(i));
}

static const char *language_option(size_t i)
{
	const char *name, *help;

	return tally_option((unsigned)i, &name, &help) ? name : NULL;
}

const char completion_shells[] = " bash zsh fish";

bool runs_command(const char *verb)
{
	return !strcmp(verb, "stat") || !strcmp(verb, "record") || !strcmp(verb, "tune");
}

bool takes_value(const struct opt *o)
{
	return o->take && o->arg && o->arg[0] != '[';
}

struct offered offer_argument(const char *verb)
{
	static const struct {
		const char *verb;
		enum offer is;
		char suffix;
		const char *words;
	} row[] = {
		{ "list", OFFER_NAMES, 0, "kinds" },
		{ "check", OFFER_WORDS, 0, " gpci" },
		{ "get", OFFER_SELECTORS, 0, NULL },
		{ "set", OFFER_TUNABLES, '=', NULL },
		{ "record", OFFER_COMMANDS, 0, NULL },
		{ "stat", OFFER_COMMANDS, 0, NULL },
		{ "tune", OFFER_DEVICES, 0, NULL },
		{ "machine", OFFER_PLATFORMS, 0, " kunpeng niagara maramba batoka power" },
		{ "doctor", OFFER_NOTHING, 0, NULL },
		{ "completion", OFFER_WORDS, 0, completion_shells },
	};
	struct offered o = { .is = OFFER_FILES };

	for (size_t i = 0; i < COUNT(row); i++) {
		if (strcmp(row[i].verb, verb))
			continue;
		o.is = row[i].is;
		o.suffix = row[i].suffix;
		if (row[i].words)
			buf_puts(&o.words, row[i].words);
	}
	return o;
}

/* By what the argument is called; option "": of any option; verb "": of any verb. The first row that fits counts. */
static const struct rule {
	const char *arg, *option, *verb;
	enum offer is;
	const char *words; /* of NAMES and WORDS; NULL: `word` */
	const char *(*word)(size_t i);
	bool list;
} rules[] = {
	{ "FILE", "", "", OFFER_FILES, NULL, NULL, false },
	{ "PATH", "", "", OFFER_FILES, NULL, NULL, false },
	{ "SOCKET", "", "", OFFER_FILES, NULL, NULL, false },
	{ "IMAGE", "", "", OFFER_FILES, NULL, NULL, false },
	{ "DIR", "", "", OFFER_DIRECTORIES, NULL, NULL, false },
	{ "COMMAND", "", "", OFFER_COMMANDS, NULL, NULL, false },
	{ "EVENT", "", "stat", OFFER_NAMES, "countable", NULL, true },
	{ "EVENT", "", "", OFFER_PTT_EVENTS, NULL, NULL, false },
	{ "CLAUSE", "", "", OFFER_PROBES, NULL, NULL, false },
	{ "PROVIDER", "", "", OFFER_WORDS, " cpc dtrace gpci mmustat profile ptt vfalls", NULL, false },
	{ "NAME", "load", "", OFFER_NAMES, "loads", NULL, false },
	{ "NAME", "profile", "", OFFER_WORDS, NULL, plat_profile, false },
	{ "PROFILE", "", "", OFFER_WORDS, NULL, plat_profile, false },
	{ "NAME", "device", "", OFFER_DEVICES, NULL, NULL, false },
	{ "VIEW", "", "", OFFER_NAMES, "views", NULL, false },
	{ "WHERE", "", "", OFFER_PLATFORMS, NULL, plat_word, false },
	{ "PLATFORM", "", "", OFFER_PLATFORMS, NULL, trace_platform, false },
	{ "KEYS", "partition", "", OFFER_WORDS, " host capture hour", NULL, true },
	{ "PASS", "", "", OFFER_WORDS, NULL, trace_pass, false },
	{ "OPT[=VALUE]", "", "", OFFER_WORDS, NULL, language_option, false },
};

static bool fits(const struct rule *r, const char *verb, const struct opt *o)
{
	return !strcmp(r->arg, o->arg) && (!*r->option || (o->name && !strcmp(r->option, o->name))) &&
	       (!*r->verb || !strcmp(r->verb, verb));
}

struct offered offer_option(const char *verb, const struct opt *o)
{
	struct offered ret = { 0 };

	if (strchr(o->arg, '|')) { /* "spec|driver": its words */
		ret.is = OFFER_WORDS;
		buf_putc(&ret.words, ' ');
		for (const char *p = o->arg; *p; p++)
			buf_putc(&ret.words, *p == '|' ? ' ' : *p);
		return ret;
	}
	for (size_t i = 0; i < COUNT(rules); i++) {
		const struct rule *r = &rules[i];

		if (!fits(r, verb, o))
			continue;
		ret.is = r->is;
		ret.list = r->list;
		if (r->words)
			buf_puts(&ret.words, r->words);
		else if (r->word)
			put_words(&ret.words, r->word);
		break;
	}
	return ret;
}

/* ---- the verb ---------------------------------------------------------------------------------- */

static int take_help(void *state, const char *value)
{
	struct buf b = { 0 };

	(void)value;
	opts_help(cmd_completion_opts(), &b);
	return print(state, &b);
}

static const struct opt options[] = {
	{ 'h', "help", NULL, "print this", take_help },
};

const struct opts *cmd_completion_opts(void)
{
	static const struct opts o = {
		.verb = "completion",
		.usage = "bash|zsh|fish",
		.intro = "Prints a completion script for that shell: verbs, options and what they take, asked of\n"
			 "this machine or of the platform of --on.\n",
		.outro = "\nExamples:\n"
			 "  . <(tally completion bash)            # now; or as a line of ~/.bashrc\n"
			 "  tally completion zsh >_tally          # into a directory of zsh's fpath\n"
			 "  tally completion fish >tally.fish     # into ~/.config/fish/completions\n",
		.opt = options,
		.n = COUNT(options),
	};
	return &o;
}

static int wrong_shell(struct cmd_ctx *cx, const char *word)
{
	static const char *const shells[] = { "bash", "zsh", "fish" };
	const char *near = text_nearest(word, shells, COUNT(shells));

	if (near)
		complain(cx, "there is no completion for '%s'; did you mean '%s'?", word, near);
	else
		complain(cx, "there is no completion for '%s', but for bash, zsh and fish", word);
	return ST_USAGE;
}

int cmd_completion(struct cmd_ctx *cx, int argc, char **argv)
{
	static const struct {
		const char *shell;
		void (*put)(struct buf *to);
	} rows[] = {
		{ "bash", complete_bash },
		{ "zsh", complete_zsh },
		{ "fish", complete_fish },
	};
	struct buf b = { 0 };
	int first, status = opts_parse(cx, cmd_completion_opts(), cx, argc, argv, &first);

	if (status != GO_ON)
		return status;
	if (argc - first != 1) {
		complain(cx, "%s", argc == first ? "which shell? bash, zsh or fish" : "one shell at a time");
		complain(cx, "'tally completion -h' shows how its script is used");
		return ST_USAGE;
	}
	for (size_t i = 0; i < COUNT(rows); i++)
		if (!strcmp(argv[first], rows[i].shell)) {
			rows[i].put(&b);
			return print(cx, &b);
		}
	return wrong_shell(cx, argv[first]);
}
