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
	switch (o->is) {
	case OFFER_NOTHING: buf_puts(to, " "); break;
	case OFFER_FILES: buf_puts(to, "_files"); break;
	case OFFER_DIRECTORIES: buf_puts(to, "_files -/"); break;
	case OFFER_COMMANDS: buf_puts(to, "_command_names -e"); break;
	case OFFER_WORDS:
		buf_puts(to, "(");
		put_plain(to, o->words.p ? o->words.p + 1 : "");
		buf_puts(to, ")");
		break;
	case OFFER_NAMES: buf_printf(to, " _tally_names %s", o->words.p); break;
	case OFFER_PROBES: buf_puts(to, " _tally_names probes"); break;
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

static void put_verb(struct buf *to, const struct verb *v)
{
	const struct opts *o = v->opts();
	struct offered offered = offer_argument(v->name);
	char spelling[40];

	buf_printf(to, "\t%s) _arguments -s \\\n", v->name);
	for (size_t i = 0; i < o->n; i++) {
		const struct opt *is = &o->opt[i];

		if (is->take && is->letter) {
			memcpy(spelling, (char[]){ '-', is->letter, 0 }, 3);
			put_option(to, v->name, is, spelling);
		}
		if (is->take && is->name && strlen(is->name) < sizeof(spelling) - 2) {
			memcpy(spelling, "--", 3);
			put_option(to, v->name, is, strcat(spelling, is->name));
		}
	}
	if (!strcmp(v->name, "list"))
		buf_puts(to, "\t\t'1:kind: _tally_names kinds' '2:pattern: _tally_names $line[1]' ;;\n");
	else {
		buf_puts(to, "\t\t'*:argument:");
		put_action(to, &offered);
		buf_puts(to, "' ;;\n");
	}
	to->failed |= offered.words.failed;
	buf_free(&offered.words);
}

void complete_zsh(struct buf *to)
{
	buf_puts(to, "#compdef tally dtrace\n"
		     "# zsh completion for tally; made by 'tally completion zsh'\n"
		     "_tally_on() { [[ \"$words\" =~ '--on[= ]([^ ]+)' ]] && on=(--on $match[1]) || on=() }\n"
		     "_tally_names() {\n"
		     "\tlocal -a on n; _tally_on\n"
		     "\tn=(${(f)\"$($tally list $on --names $1 2>/dev/null)\"})\n"
		     "\tif [[ $1 == probes ]]; then compadd -S '' -a n; else compadd -a n; fi\n}\n"
		     "_tally_ptt() {\n"
		     "\tlocal -a on n; local type device name rest; _tally_on\n"
		     "\t$tally list $on -x ' ' ptt 2>/dev/null | while read -r type device name rest; do\n"
		     "\t\t[[ $type == device && $1 == device ]] && n+=$device\n"
		     "\t\t[[ $type == tunable && $1 == tunable ]] && n+=$device/$name\n"
		     "\tdone\n"
		     "\tif [[ -n $2 ]]; then compadd -S $2 -a n; else compadd -a n; fi\n}\n"
		     "_tally() {\n"
		     "\tlocal tally=$words[1] verb=$words[2]\n"
		     "\tlocal -a line\n"
		     "\tlocal -a verbs=(\n");
	for (size_t i = 0; verb_row(i); i++) {
		buf_printf(to, "\t\t'%s:", verb_row(i)->name);
		put_plain(to, verb_row(i)->help);
		buf_puts(to, "'\n");
	}
	buf_puts(to, "\t\t'help:what the verbs are'\n\t)\n"
		     "\tif [[ ${tally:t} == dtrace ]]; then verb=trace\n"
		     "\telif (( CURRENT == 2 )); then _describe verb verbs; return\n"
		     "\telse shift words; (( CURRENT-- )); fi\n"
		     "\tcase $verb in\n");
	for (size_t i = 0; verb_row(i); i++)
		put_verb(to, verb_row(i));
	buf_puts(to, "\thelp) _describe verb verbs ;;\n\tesac\n}\n"
		     "if [[ $zsh_eval_context[-1] == loadautofunc ]]; then _tally \"$@\"; else compdef _tally tally dtrace; fi\n");
}
