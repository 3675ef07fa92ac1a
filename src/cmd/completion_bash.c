/*
 * completion_bash.c: the completion script for bash: a function for each verb, over a few that all share.
 *
 * bash splits the line at the characters of COMP_WORDBREAKS, so that --dump=x, unix:/run/x and cpc:::x are several
 * words, and it replaces only the last of them. Here they are put together again (_tally_split), completed as a whole,
 * and what bash already has is cut off each reply. Within a word there may be parts that are done: "--on=", the first
 * events of a list, a platform's name before its keys: $pre, which each reply gets back.
 *
 * Names may come from another process: one with a character that a shell would understand is not offered.
 */
#include <string.h>

#include "cmd/completion_int.h"

static const char helpers[] =
	/* w: the words up to the cursor; at: where in COMP_WORDS each begins; cut: how much of the last bash does not replace */
	"_tally_split() {\n"
	"\tlocal line=${COMP_LINE-${COMP_WORDS[*]}} part gap i\n"
	"\tline=${line:0:${COMP_POINT-${#line}}}\n"
	"\tw=() at=() cut=0\n"
	"\tfor ((i = 0; i <= COMP_CWORD; i++)); do\n"
	"\t\tgap=${line%%[![:space:]]*} part=${COMP_WORDS[i]}\n"
	"\t\tline=${line#\"$gap\"}\n"
	"\t\t((i == COMP_CWORD)) && part=$line\n"
	"\t\tline=${line#\"$part\"}\n"
	"\t\t((i == COMP_CWORD)) && part=${part#[\\'\\\"]}\n"
	"\t\tif [[ $gap || $i == 0 ]]; then w+=(\"\") at+=(\"$i\"); fi\n"
	"\t\tcut=${#w[-1]} w[-1]+=$part\n"
	"\tdone\n"
	"\tif [[ $part && $part != *[!=:,\\;\\<\\>@\\&\\|]* ]]; then cut=${#w[-1]}; fi\n}\n"
	/* the platform of the line, as words: the last before the cursor, or one behind it */
	"_tally_on() {\n"
	"\tlocal line=$COMP_LINE\n"
	"\t[[ ${line:0:${COMP_POINT:-0}} =~ .*--on[=\\ ]([^\\ ]+)\\  || $line =~ --on[=\\ ]([^\\ ]+) ]] &&\n"
	"\t\tprintf '%s\\n' --on \"${BASH_REMATCH[1]}\"\n}\n"
	"_tally_run() {\n"
	"\tlocal tally=${COMP_WORDS[0]/#\\~/$HOME}\n"
	"\t[[ ${tally##*/} == dtrace ]] && tally=tally\n"
	"\t\"$tally\" \"$@\" 2>/dev/null\n}\n"
	"_tally_names() { _tally_run list $(_tally_on) --names \"$1\"; }\n"
	/* of the lines read those that go on from the word */
	"_tally_offer() {\n"
	"\tlocal n\n"
	"\twhile IFS= read -r n; do\n"
	"\t\t[[ $n == \"$cur\"* && $n != *[![:alnum:]_.,:/=+@-]* ]] && COMPREPLY+=(\"$n\")\n"
	"\tdone\n}\n"
	"_tally_words() { _tally_offer < <(printf '%s\\n' \"$@\"); }\n"
	"_tally_files() { compopt -o filenames; mapfile -t COMPREPLY < <(compgen -\"$1\" -- \"$cur\"); }\n"
	/* \"a,b,c\": what is before the last comma stays; one between slashes parts no names */
	"_tally_list() {\n"
	"\tlocal done\n"
	"\twhile [[ $cur =~ ^[^,/]*(/[^/]*/[^,/]*)?, ]]; do\n"
	"\t\tdone=${BASH_REMATCH[0]} pre+=$done cur=${cur#\"$done\"}\n"
	"\tdone\n}\n"
	/* a platform: its name, its keys behind commas, a socket, a file */
	"_tally_platform() {\n"
	"\tlocal on=${cur%%,*}\n"
	"\tcase $cur in\n"
	"\tunix:*) pre+=unix: cur=${cur#unix:}; _tally_files f ;;\n"
	"\t*/*) _tally_files f ;;\n"
	"\t*,*) pre+=${cur%,*}, cur=${cur##*,}; _tally_offer < <(_tally_run list --on \"$on\" --names keys) ;;\n"
	"\t*) _tally_words \"$@\" ;;\n"
	"\tesac\n}\n"
	/* devices, or tunables as DEVICE/NAME */
	"_tally_ptt() {\n"
	"\t_tally_run list $(_tally_on) -x ' ' ptt |\n"
	"\t\twhile read -r type device name rest; do\n"
	"\t\t\t[[ $type == \"$1\" ]] || continue\n"
	"\t\t\t[[ $type == device ]] && echo \"$device$2\" || echo \"$device/$name$2\"\n"
	"\t\tdone\n}\n"
	/* an event of PTT: a device, behind its slash terms with commas between; after a term comes more of the same word */
	"_tally_event() {\n"
	"\tlocal device=${cur%%/*}/\n"
	"\tif [[ $cur != */* ]]; then _tally_offer < <(_tally_ptt device /); return; fi\n"
	"\tpre+=$device cur=${cur#*/}\n"
	"\tif [[ $cur == *,* ]]; then pre+=${cur%,*}, cur=${cur##*,}; fi\n"
	"\tcompopt -o nospace\n"
	"\t_tally_offer < <(_tally_names terms |\n"
	"\t\twhile IFS= read -r n; do [[ $n == \"$device\"* ]] && echo \"${n#*/}\"; done)\n}\n"
	/* a command and its arguments, from w[$1] on: as that completes them, if bash-completion is here to find out */
	"_tally_command() {\n"
	"\tpre= raw=1\n"
	"\tif declare -F _comp_command_offset >/dev/null; then _comp_command_offset \"${at[$1]}\"\n"
	"\telif declare -F _command_offset >/dev/null; then _command_offset \"${at[$1]}\"\n"
	"\telif ((${#w[@]} - 1 == $1)); then raw=; mapfile -t COMPREPLY < <(compgen -c -- \"$cur\")\n"
	"\telse raw=; _tally_files f; fi\n}\n";

/* ---- what is offered -------------------------------------------------------------------------- */

static void put_options(struct buf *to, const struct opts *o)
{
	for (size_t i = 0; i < o->n; i++) {
		if (!o->opt[i].take)
			continue;
		if (o->opt[i].letter)
			buf_printf(to, " -%c", o->opt[i].letter);
		if (o->opt[i].name)
			buf_printf(to, " --%s%s", o->opt[i].name, takes_value(&o->opt[i]) ? "=" : "");
	}
}

/* The command that fills COMPREPLY; nothing where nothing is offered. */
static void put_reply(struct buf *to, const struct offered *o)
{
	const char *words = o->words.p ? o->words.p : "";

	if (o->list)
		buf_puts(to, "_tally_list; ");
	switch (o->is) {
	case OFFER_NOTHING:
		buf_puts(to, ":");
		break;
	case OFFER_FILES:
		buf_puts(to, "_tally_files f");
		break;
	case OFFER_DIRECTORIES:
		buf_puts(to, "_tally_files d");
		break;
	case OFFER_COMMANDS:
		buf_puts(to, "mapfile -t COMPREPLY < <(compgen -c -- \"$cur\")");
		break;
	case OFFER_WORDS:
		buf_printf(to, "_tally_words%s", words);
		break;
	case OFFER_NAMES:
		buf_printf(to, "_tally_offer < <(_tally_names %s)", words);
		break;
	case OFFER_PROBES:
		buf_puts(to, "_tally_list; _tally_offer < <(_tally_names probes)");
		break;
	case OFFER_PLATFORMS:
		buf_printf(to, "_tally_platform%s", words);
		break;
	case OFFER_PTT_EVENTS:
		buf_puts(to, "_tally_event");
		break;
	case OFFER_SELECTORS:
		buf_puts(to, "_tally_offer < <(_tally_names selectors; _tally_ptt tunable)");
		break;
	case OFFER_DEVICES:
	case OFFER_TUNABLES:
		buf_printf(to, "_tally_offer < <(_tally_ptt %s%s%c)", o->is == OFFER_DEVICES ? "device" : "tunable",
			   o->suffix ? " " : "", o->suffix ? o->suffix : ' ');
		break;
	}
}

/* "-x|--long" of an option with an argument, as a pattern of the word before. */
static void put_pattern(struct buf *to, const struct opt *o)
{
	if (o->letter)
		buf_printf(to, "-%c|-[a-zA-Z]*%c%s", o->letter, o->letter, o->name ? "|" : "");
	if (o->name)
		buf_printf(to, "--%s", o->name);
}

static void put_argument(struct buf *to, const char *verb, const struct opt *o)
{
	struct offered offered = { 0 };

	if (!takes_value(o))
		return;
	offered = offer_option(verb, o);
	buf_puts(to, "\t");
	put_pattern(to, o);
	buf_puts(to, ") ");
	put_reply(to, &offered);
	buf_puts(to, "; return ;;\n");
	to->failed |= offered.words.failed;
	buf_free(&offered.words);
}

/* ---- a verb -------------------------------------------------------------------------------------- */

/* What is before the word: "--", or a command, and what follows is no longer tally's. */
static void put_walk(struct buf *to, const char *verb, const struct opts *o)
{
	buf_puts(to, "\tlocal i ours=1\n"
		     "\tfor ((i = 2; i < ${#w[@]} - 1; i++)); do\n"
		     "\t\tcase ${w[i]} in\n\t\t");
	buf_puts(to, runs_command(verb) ? "--) _tally_command $((i + 1)); return ;;\n" : "--) ours= ;;\n");
	for (size_t i = 0; i < o->n; i++)
		if (takes_value(&o->opt[i])) {
			buf_puts(to, "\t\t");
			put_pattern(to, &o->opt[i]);
			buf_puts(to, ") ((++i)) ;;\n");
		}
	if (o->command)
		buf_puts(to, "\t\t[!-]*) _tally_command $i; return ;;\n");
	buf_puts(to, "\t\tesac\n\tdone\n");
}

static void put_verb(struct buf *to, const char *verb, const struct opts *o)
{
	struct offered offered = offer_argument(verb);

	buf_printf(to, "_tally_verb_%s() {\n", verb);
	put_walk(to, verb, o);
	buf_puts(to, "\t[[ $ours ]] && case $prev in\n");
	for (size_t i = 0; i < o->n; i++)
		put_argument(to, verb, &o->opt[i]);
	if (!strcmp(verb, "list")) /* what is before may be a kind: its names */
		buf_puts(to, "\t[!-]*) _tally_offer < <(_tally_names \"$prev\"); [[ ${COMPREPLY-} ]] && return ;;\n");
	buf_puts(to, "\tesac\n\tif [[ $ours && $cur == -* ]]; then _tally_words");
	put_options(to, o);
	buf_puts(to, "\n\telse ");
	put_reply(to, &offered);
	buf_puts(to, "; fi\n}\n");
	to->failed |= offered.words.failed;
	buf_free(&offered.words);
}

static void put_verb_names(struct buf *to)
{
	for (size_t i = 0; verb_row(i); i++)
		buf_printf(to, " %s", verb_row(i)->name);
	buf_puts(to, " completion");
}

static void put_main(struct buf *to)
{
	buf_puts(to, "_tally() {\n"
		     "\tlocal w at cut cur prev pre= raw= i\n"
		     "\tCOMPREPLY=()\n"
		     "\t_tally_split\n"
		     "\t[[ ${w[0]##*/} == dtrace ]] && w=(tally trace \"${w[@]:1}\") at=(0 \"${at[@]}\")\n"
		     "\tcur=${w[-1]} prev=${w[-2]}\n"
		     "\tif [[ $cur == --*=* ]]; then prev=${cur%%=*} pre=$prev= cur=${cur#*=}; fi\n"
		     "\tif ((${#w[@]} == 2)); then _tally_words help --help --version");
	put_verb_names(to);
	buf_puts(to, "\n\telif [[ ${w[1]} == help ]]; then ((${#w[@]} == 3)) && _tally_words");
	put_verb_names(to);
	buf_puts(
		to,
		"\n\telif declare -F \"_tally_verb_${w[1]}\" >/dev/null; then \"_tally_verb_${w[1]}\"; fi\n"
		"\t[[ $raw ]] && return\n"
		"\t[[ ${COMPREPLY-} == *[=/:-] ]] && compopt -o nospace\n"
		"\tfor i in \"${!COMPREPLY[@]}\"; do COMPREPLY[i]=$pre${COMPREPLY[i]} COMPREPLY[i]=${COMPREPLY[i]:cut}; done\n}\n"
		"complete -F _tally tally dtrace\n");
}

void complete_bash(struct buf *to)
{
	buf_puts(to, "# bash completion for tally; made by 'tally completion bash'\n");
	buf_puts(to, helpers);
	for (size_t i = 0; verb_row(i); i++)
		put_verb(to, verb_row(i)->name, verb_row(i)->opts());
	put_verb(to, "completion", cmd_completion_opts());
	put_main(to);
}
