/*
 * completion_fish.c: the completion script for fish: a line for each option of each verb, under the condition that
 * the verb is there and the cursor is not yet among a command's own arguments.
 *
 * fish completes the whole word, so where a part of it is done (the first events of a list, a platform's name) what is
 * offered begins with that part. It takes "--on=" off by itself, so it is taken off here too.
 */
#include <string.h>

#include "cmd/completion_int.h"

static const char helpers[] =
	"function __tally_run\n"
	"\tset -l tally (commandline -opc)[1]\n"
	"\tstring match -q '*dtrace' -- $tally; and set tally tally\n"
	"\tcommand $tally $argv 2>/dev/null\n"
	"end\n"
	/* the verb, or nothing before there is one */
	"function __tally_verb\n"
	"\tset -l w (commandline -opc)\n"
	"\tif string match -q '*dtrace' -- $w[1]\n"
	"\t\techo trace\n"
	"\telse if set -q w[2]\n"
	"\t\techo $w[2]\n"
	"\telse\n"
	"\t\treturn 1\n"
	"\tend\n"
	"end\n"
	/* the platform of the line, as words; the one before the cursor counts first */
	"function __tally_on\n"
	"\tset -l m (string match -r -- '.*--on[= ](\\S+) ' (commandline -cp))\n"
	"\tset -q m[2]; or set m (string match -r -- '--on[= ](\\S+)' (commandline -p))\n"
	"\tset -q m[2]; and printf '%s\\n' --on $m[2]\n"
	"end\n"
	"function __tally_names\n"
	"\t__tally_run list (__tally_on) --names $argv[1]\n"
	"end\n"
	/* the word, without the option that it belongs to */
	"function __tally_word\n"
	"\tstring replace -r -- '^(--[-a-z]+=|-[a-zA-Z])' '' (commandline -ct)\n"
	"end\n"
	/* names behind what is there of a list already; a comma between slashes parts no names */
	"function __tally_list\n"
	"\tset -l done (string match -r -- '^([^,/]*(/[^/]*/[^,/]*)?,)*' (__tally_word))[1]\n"
	"\tfor n in $argv\n"
	"\t\techo -- $done$n\n"
	"\tend\n"
	"end\n"
	"function __tally_platform\n"
	"\tset -l word (__tally_word)\n"
	"\tset -l done (string match -r -- '^.*,' $word)\n"
	"\tif set -q done[1]\n"
	"\t\tfor n in (__tally_run list --on (string split -m 1 , $word)[1] --names keys)\n"
	"\t\t\techo -- $done$n\n"
	"\t\tend\n"
	"\telse if string match -q 'unix:*' -- $word\n"
	"\t\tfor n in (complete -C \"cat \"(string sub -s 6 -- $word))\n"
	"\t\t\techo -- unix:$n\n"
	"\t\tend\n"
	"\telse\n"
	"\t\tprintf '%s\\n' $argv\n"
	"\t\tstring match -q '*/*' -- $word; and complete -C \"cat $word\"\n"
	"\tend\n"
	"end\n"
	/* devices, or tunables as DEVICE/NAME */
	"function __tally_ptt\n"
	"\t__tally_run list (__tally_on) -x ' ' ptt | while read -l type device name rest\n"
	"\t\ttest $type = $argv[1]; or continue\n"
	"\t\tif test $type = device\n"
	"\t\t\techo -- $device\"$argv[2]\"\n"
	"\t\telse\n"
	"\t\t\techo -- $device/$name\"$argv[2]\"\n"
	"\t\tend\n"
	"\tend\n"
	"end\n"
	/* an event of PTT: a device, behind its slash terms with commas between */
	"function __tally_event\n"
	"\tset -l done (string match -r -- '^[^/]*/(.*,)?' (__tally_word))\n"
	"\tif not set -q done[1]\n"
	"\t\t__tally_ptt device /\n"
	"\t\treturn\n"
	"\tend\n"
	"\tset -l device (string match -r -- '^[^/]*/' $done[1])\n"
	"\tfor n in (__tally_names terms)\n"
	"\t\tstring match -q -- \"$device*\" $n; and echo -- $done[1](string replace -- $device '' $n)\n"
	"\tend\n"
	"end\n"
	/* where a command begins among the words: behind \"--\", or with the first that is no option's; $argv[2..]: options with
	 * an argument; $argv[1]: whether there is a command without \"--\" */
	"function __tally_command_at\n"
	"\tset -l w (commandline -opc)\n"
	"\tset -l i 3\n"
	"\tstring match -q '*dtrace' -- $w[1]; and set i 2\n"
	"\twhile test $i -le (count $w)\n"
	"\t\tif test \"$w[$i]\" = --\n"
	"\t\t\techo (math $i + 1)\n"
	"\t\t\treturn 0\n"
	"\t\telse if contains -- \"$w[$i]\" $argv[2..]\n"
	"\t\t\tset i (math $i + 1)\n"
	"\t\telse if test \"$argv[1]\" = 1; and not string match -q -- '-*' \"$w[$i]\"\n"
	"\t\t\techo $i\n"
	"\t\t\treturn 0\n"
	"\t\tend\n"
	"\t\tset i (math $i + 1)\n"
	"\tend\n"
	"\treturn 1\n"
	"end\n"
	"function __tally_command\n"
	"\tset -l at (__tally_command_at $argv)\n"
	"\tset -l w (commandline -opc) (commandline -ct)\n"
	"\tif set -q at[1]\n"
	"\t\tcomplete -C (string join -- ' ' (string escape -- $w[$at..-2]) $w[-1])\n"
	"\telse\n"
	"\t\t__fish_complete_command\n"
	"\tend\n"
	"end\n";

/* Within '...'. */
static void put_plain(struct buf *to, const char *s)
{
	for (; *s; s++)
		buf_printf(to, *s == '\'' || *s == '\\' ? "\\%c" : "%c", *s);
}

/* What fills -a, with the options of complete(1) before it. */
static void put_offer(struct buf *to, const char *verb, const struct offered *o)
{
	const char *words = o->words.p ? o->words.p + (*o->words.p == ' ') : "";

	switch (o->is) {
	case OFFER_NOTHING:
		buf_puts(to, " -f");
		break;
	case OFFER_FILES:
		buf_puts(to, " -F");
		break;
	case OFFER_DIRECTORIES:
		buf_puts(to, " -f -a '(__fish_complete_directories (__tally_word))'");
		break;
	case OFFER_COMMANDS:
		buf_printf(to, " -f -a '(__tally_command $__tally_values_%s)'", verb);
		break;
	case OFFER_WORDS:
		buf_printf(to, o->list ? " -f -a '(__tally_list %s)'" : " -f -a '%s'", words);
		break;
	case OFFER_NAMES:
		buf_printf(to, o->list ? " -f -a '(__tally_list (__tally_names %s))'" : " -f -a '(__tally_names %s)'",
			   words);
		break;
	case OFFER_PROBES:
		buf_puts(to, " -f -a '(__tally_list (__tally_names probes))'");
		break;
	case OFFER_PLATFORMS:
		buf_printf(to, " -f -a '(__tally_platform %s)'", words);
		break;
	case OFFER_PTT_EVENTS:
		buf_puts(to, " -f -a '(__tally_event)'");
		break;
	case OFFER_SELECTORS:
		buf_puts(to, " -f -a '(__tally_names selectors; __tally_ptt tunable)'");
		break;
	case OFFER_DEVICES:
	case OFFER_TUNABLES:
		buf_printf(to, " -f -a '(__tally_ptt %s", o->is == OFFER_DEVICES ? "device" : "tunable");
		if (o->suffix)
			buf_printf(to, " %c", o->suffix);
		buf_puts(to, ")'");
		break;
	}
}

static void put_option(struct buf *to, const char *verb, const struct opt *o)
{
	struct offered offered = { 0 };

	if (!o->take)
		return;
	buf_printf(to, "__tally_complete -n '__tally_is %s'", verb);
	if (o->letter)
		buf_printf(to, " -s %c", o->letter);
	if (o->name)
		buf_printf(to, " -l %s", o->name);
	if (takes_value(o)) {
		offered = offer_option(verb, o);
		buf_puts(to, " -r");
		put_offer(to, verb, &offered);
		to->failed |= offered.words.failed;
		buf_free(&offered.words);
	}
	buf_puts(to, " -d '");
	put_plain(to, o->help);
	buf_puts(to, "'\n");
}

/* Options whose argument is the next word; before them whether a command may stand without "--". */
static void put_values(struct buf *to, const char *verb, const struct opts *o)
{
	buf_printf(to, "set -g __tally_values_%s %d", verb, o->command);
	for (size_t i = 0; i < o->n; i++) {
		if (!takes_value(&o->opt[i]))
			continue;
		if (o->opt[i].letter)
			buf_printf(to, " -%c", o->opt[i].letter);
		if (o->opt[i].name)
			buf_printf(to, " --%s", o->opt[i].name);
	}
	buf_putc(to, '\n');
}

static void put_verb(struct buf *to, const char *verb, const char *help, const struct opts *o)
{
	struct offered offered = offer_argument(verb);

	buf_printf(to, "complete -c tally -n 'not __tally_verb >/dev/null; or __tally_is help' -f -a %s -d '", verb);
	put_plain(to, help);
	buf_puts(to, "'\n");
	put_values(to, verb, o);
	for (size_t i = 0; i < o->n; i++)
		put_option(to, verb, &o->opt[i]);
	if (!strcmp(verb, "list"))
		buf_puts(to, "__tally_complete -n '__tally_is list' -f -a '(__tally_kinds)'\n");
	else {
		buf_printf(to, "__tally_complete -n '__tally_is %s'", verb);
		put_offer(to, verb, &offered);
		buf_putc(to, '\n');
	}
	if (offered.is != OFFER_COMMANDS) /* of those that is what they always take */
		buf_printf(to, "__tally_complete -n '__tally_is_behind %s'%s\n", verb,
			   runs_command(verb) ? " -f -a '(__tally_command 0)'" : " -F");
	else
		buf_printf(to,
			   "__tally_complete -n '__tally_is_behind %s' -f -a '(__tally_command $__tally_values_%s)'\n",
			   verb, verb);
	to->failed |= offered.words.failed;
	buf_free(&offered.words);
}

void complete_fish(struct buf *to)
{
	buf_puts(to, "# fish completion for tally; made by 'tally completion fish'\n");
	buf_puts(to, helpers);
	buf_puts(
		to, /* the verb, and what is before the cursor is its own; or a command's */
		"function __tally_is\n"
		"\ttest (__tally_verb; or echo none) = $argv[1]; or return\n"
		"\tset -l values __tally_values_$argv[1]\n"
		"\tnot __tally_command_at $$values >/dev/null\n"
		"end\n"
		"function __tally_is_behind\n"
		"\ttest (__tally_verb; or echo none) = $argv[1]; or return\n"
		"\tset -l values __tally_values_$argv[1]\n"
		"\t__tally_command_at $$values >/dev/null\n"
		"end\n"
		"function __tally_kinds\n"
		"\tset -l last (commandline -opc)[-1]\n"
		"\t__tally_names kinds\n"
		"\tcontains -- $last (__tally_names kinds); and __tally_names $last\n"
		"end\n"
		"function __tally_complete\n"
		"\tcomplete -c tally $argv\n"
		"\tcomplete -c dtrace $argv\n"
		"end\n"
		"complete -c tally -f\ncomplete -c dtrace -f\n"
		"complete -c tally -n 'not __tally_verb >/dev/null' -l version -d 'what tally is made of'\n"
		"complete -c tally -n 'not __tally_verb >/dev/null' -f -a help -d 'the verbs, or the options of one'\n");
	for (size_t i = 0; verb_row(i); i++)
		put_verb(to, verb_row(i)->name, verb_row(i)->help, verb_row(i)->opts());
	put_verb(to, "completion", "a script for the completion of a shell", cmd_completion_opts());
}
