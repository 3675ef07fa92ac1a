/*
 * completion_zsh.c: the completion script for zsh: a function for _arguments(), with what each option does beside it.
 *
 * An option is "-x+[what it does]:ARGUMENT: action"; an action that begins with a blank is called as it stands.
 */
#include <string.h>

#include "cmd/completion_int.h"

/* Words within '...' and within [...]. */
static void put_plain(struct buf *to, const char *s)
{
	for (; *s; s++)
		if (*s == '\'')
			buf_puts(to, "'\\''");
		else if (*s == '[' || *s == ']' || *s == ':' || *s == '\\')
			buf_printf(to, "\\%c", *s);
		else
			buf_putc(to, *s);
}

static void put_action(struct buf *to, const struct offered *o)
{
	const char *words = o->words.p ? o->words.p : "";

	if (o->list && o->is == OFFER_WORDS) {
		buf_printf(to, " _tally_list%s", words);
		return;
	}
	switch (o->is) {
	case OFFER_NOTHING:
		buf_puts(to, " ");
		break;
	case OFFER_FILES:
		buf_puts(to, "_files");
		break;
	case OFFER_DIRECTORIES:
		buf_puts(to, "_files -/");
		break;
	case OFFER_COMMANDS:
		buf_puts(to, "_command_names -e");
		break;
	case OFFER_WORDS:
		buf_puts(to, "(");
		put_plain(to, *words ? words + 1 : "");
		buf_puts(to, ")");
		break;
	case OFFER_NAMES:
		buf_printf(to, o->list ? " _tally_list_of %s" : " _tally_names %s", words);
		break;
	case OFFER_PROBES:
		buf_puts(to, " _tally_list_of probes");
		break;
	case OFFER_PLATFORMS:
		buf_puts(to, " _tally_platform");
		put_plain(to, words);
		break;
	case OFFER_PTT_EVENTS:
		buf_puts(to, " _tally_event");
		break;
	case OFFER_SELECTORS:
		buf_puts(to, " _tally_selectors");
		break;
	case OFFER_DEVICES:
	case OFFER_TUNABLES:
		buf_printf(to, " _tally_ptt %s", o->is == OFFER_DEVICES ? "device" : "tunable");
		if (o->suffix)
			buf_printf(to, " %c", o->suffix);
		break;
	}
}

static void put_option(struct buf *to, const char *verb, const struct opt *o, const char *spelling)
{
	struct offered offered = { 0 };
	const bool optional = o->arg && o->arg[0] == '[';

	buf_printf(to, "\t\t'*%s%s[", spelling, !o->arg || optional ? "" : spelling[1] == '-' ? "=" : "+");
	put_plain(to, o->help);
	buf_puts(to, "]");
	if (o->arg && !optional) {
		offered = offer_option(verb, o);
		buf_puts(to, ":");
		put_plain(to, o->arg);
		buf_puts(to, ":");
		put_action(to, &offered);
		to->failed |= offered.words.failed;
		buf_free(&offered.words);
	}
	buf_puts(to, "' \\\n");
}

/* What follows a "--" is no option; a command ends the options, too, and what follows it is its own. */
static void put_arguments(struct buf *to, const char *verb, const struct opts *o)
{
	struct offered offered = offer_argument(verb);

	if (!strcmp(verb, "list")) {
		buf_puts(to, "\t\t'1:kind: _tally_names kinds' '2:pattern: _tally_names $line[1]' ;;\n");
	} else if (o->command) {
		buf_puts(to, "\t\t'(-):command: _command_names -e' '*::argument: _normal' ;;\n");
	} else if (runs_command(verb)) {
		buf_puts(to, "\t\t'1:argument:");
		put_action(to, &offered);
		buf_puts(to, "' '(-):command: _command_names -e' '*::argument: _normal' ;;\n");
	} else {
		buf_puts(to, "\t\t'*:argument:");
		put_action(to, &offered);
		buf_puts(to, "' ;;\n");
	}
	to->failed |= offered.words.failed;
	buf_free(&offered.words);
}

static void put_verb(struct buf *to, const char *verb, const struct opts *o)
{
	char spelling[40];

	buf_printf(to, "\t%s) _arguments -s -S %s\\\n", verb, o->command ? "-A '-*' " : "");
	for (size_t i = 0; i < o->n; i++) {
		const struct opt *is = &o->opt[i];

		if (is->take && is->letter) {
			memcpy(spelling, (char[]){ '-', is->letter, 0 }, 3);
			put_option(to, verb, is, spelling);
		}
		if (is->take && is->name && strlen(is->name) < sizeof(spelling) - 2) {
			memcpy(spelling, "--", 3);
			put_option(to, verb, is, strcat(spelling, is->name));
		}
	}
	put_arguments(to, verb, o);
}

/* What all verbs share. */
static const char helpers[] =
	"#compdef tally dtrace\n"
	"# zsh completion for tally; made by 'tally completion zsh'\n"
	/* the platform of the line: the last before the cursor, or one behind it */
	"_tally_on() {\n"
	"\tif [[ \"${words[1,CURRENT-1]} \" =~ '.*--on[= ]([^ ]+) ' || \"$words\" =~ '--on[= ]([^ ]+)' ]]; then on=(--on $match[1])\n"
	"\telse on=(); fi\n}\n"
	/* names that end in = / : - go on */
	"_tally_add() {\n"
	"\tlocal -a more=(${(M)@:#*[=/:-]}) whole=(${@:#*[=/:-]})\n"
	"\tcompadd -S '' -a more; compadd -a whole\n}\n"
	"_tally_names() {\n"
	"\tlocal -a on; _tally_on\n"
	"\t_tally_add ${(f)\"$($tally list $on --names $1 2>/dev/null)\"}\n}\n"
	/* what is before the last comma of a list stays; one between slashes parts no names */
	"_tally_list() {\n"
	"\tlocal rest=$PREFIX\n"
	"\twhile [[ $rest =~ '^[^,/]*(/[^/]*/[^,/]*)?,' ]]; do rest=${rest[MEND+1,-1]}; done\n"
	"\tcompset -p $(( ${#PREFIX} - ${#rest} ))\n"
	"\t_tally_add $@\n}\n"
	"_tally_list_of() {\n"
	"\tlocal -a on; _tally_on\n"
	"\t_tally_list ${(f)\"$($tally list $on --names $1 2>/dev/null)\"}\n}\n"
	/* a platform: its name, its keys behind commas, a socket, a file */
	"_tally_platform() {\n"
	"\tlocal name=${PREFIX%%,*}\n"
	"\tif compset -P unix: || [[ $PREFIX == */* ]]; then _files\n"
	"\telif compset -P '*,'; then _tally_add ${(f)\"$($tally list --on $name --names keys 2>/dev/null)\"}\n"
	"\telse _tally_add $@; fi\n}\n"
	"_tally_selectors() { _tally_names selectors; _tally_ptt tunable }\n"
	"_tally_ptt() {\n"
	"\tlocal -a on n; local type device name rest; _tally_on\n"
	"\t$tally list $on -x ' ' ptt 2>/dev/null | while read -r type device name rest; do\n"
	"\t\t[[ $type == device && $1 == device ]] && n+=$device\n"
	"\t\t[[ $type == tunable && $1 == tunable ]] && n+=$device/$name\n"
	"\tdone\n"
	"\tif [[ -n $2 ]]; then compadd -S $2 -a n; else compadd -a n; fi\n}\n"
	/* an event of PTT: a device, behind its slash terms with commas between */
	"_tally_event() {\n"
	"\tlocal device=${PREFIX%%/*}/\n"
	"\tlocal -a on n; _tally_on\n"
	"\tif ! compset -P '*/'; then _tally_ptt device /; return; fi\n"
	"\tcompset -P '*,'\n"
	"\tn=(${(M)${(f)\"$($tally list $on --names terms 2>/dev/null)\"}:#$device*})\n"
	"\tcompadd -S '' - ${n#$device}\n}\n";

void complete_zsh(struct buf *to)
{
	buf_puts(to, helpers);
	buf_puts(to, "_tally() {\n"
		     "\tlocal tally=$words[1] verb=$words[2]\n"
		     "\t[[ ${tally:t} == dtrace ]] && tally=tally\n"
		     "\tlocal -a line\n"
		     "\tlocal -a verbs=(\n");
	for (size_t i = 0; verb_row(i); i++) {
		buf_printf(to, "\t\t'%s:", verb_row(i)->name);
		put_plain(to, verb_row(i)->help);
		buf_puts(to, "'\n");
	}
	buf_puts(to, "\t\t'completion:a script for the completion of a shell'\n\t\t'help:what the verbs are'\n\t)\n"
		     "\tif [[ ${words[1]:t} == dtrace ]]; then verb=trace\n"
		     "\telif (( CURRENT == 2 )); then _describe verb verbs; return\n"
		     "\telse shift words; (( CURRENT-- )); fi\n"
		     /* _arguments() does not see a command behind a "--" that nothing precedes */
		     "\tif [[ $words[2] == -- && $verb == (stat|record) ]] && (( CURRENT > 2 )); then\n"
		     "\t\tshift 2 words; (( CURRENT -= 2 )); _normal; return; fi\n"
		     "\tcase $verb in\n");
	for (size_t i = 0; verb_row(i); i++)
		put_verb(to, verb_row(i)->name, verb_row(i)->opts());
	put_verb(to, "completion", cmd_completion_opts());
	buf_puts(
		to,
		"\thelp) _describe verb verbs ;;\n\tesac\n}\n"
		"if [[ $zsh_eval_context[-1] == loadautofunc ]]; then _tally \"$@\"; else compdef _tally tally dtrace; fi\n");
}
