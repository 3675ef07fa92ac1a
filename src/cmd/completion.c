/*
 * completion.c: a hidden verb: `tally completion bash` and `tally completion zsh` print a completion script.
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

struct offered offer_argument(const char *verb)
{
	static const struct { const char *verb; enum offer is; char suffix; const char *words; } row[] = {
		{ "list", OFFER_NAMES, 0, "kinds" },   { "check", OFFER_WORDS, 0, " gpci" },
		{ "get", OFFER_TUNABLES, 0, NULL },    { "set", OFFER_TUNABLES, '=', NULL },
		{ "record", OFFER_COMMANDS, 0, NULL }, { "stat", OFFER_COMMANDS, 0, NULL },
		{ "tune", OFFER_DEVICES, 0, NULL },    { "machine", OFFER_NAMES, 0, "machines" },
		{ "doctor", OFFER_NOTHING, 0, NULL },
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
	const char *words;                    /* of NAMES and WORDS; NULL: `word` */
	const char *(*word)(size_t i);
} rules[] = {
	{ "FILE", "", "", OFFER_FILES, NULL, NULL },
	{ "PATH", "", "", OFFER_FILES, NULL, NULL },
	{ "SOCKET", "", "", OFFER_FILES, NULL, NULL },
	{ "IMAGE", "", "", OFFER_FILES, NULL, NULL },
	{ "DIR", "", "", OFFER_DIRECTORIES, NULL, NULL },
	{ "COMMAND", "", "", OFFER_COMMANDS, NULL, NULL },
	{ "EVENT", "", "stat", OFFER_NAMES, "events", NULL },
	{ "EVENT", "", "", OFFER_DEVICES, NULL, NULL },
	{ "CLAUSE", "", "", OFFER_PROBES, NULL, NULL },
	{ "PROVIDER", "", "", OFFER_WORDS, " cpc dtrace gpci mmustat profile ptt vfalls", NULL },
	{ "NAME", "load", "", OFFER_NAMES, "loads", NULL },
	{ "NAME", "profile", "", OFFER_WORDS, NULL, plat_profile },
	{ "PROFILE", "", "", OFFER_WORDS, NULL, plat_profile },
	{ "NAME", "device", "", OFFER_DEVICES, NULL, NULL },
	{ "VIEW", "", "", OFFER_NAMES, "views", NULL },
	{ "WHERE", "", "", OFFER_WORDS, NULL, plat_word },
	{ "PLATFORM", "", "", OFFER_WORDS, NULL, trace_platform },
	{ "PASS", "", "", OFFER_WORDS, NULL, trace_pass },
	{ "OPT[=VALUE]", "", "", OFFER_WORDS, NULL, language_option },
};

static bool fits(const struct rule *r, const char *verb, const struct opt *o)
{
	return !strcmp(r->arg, o->arg) && (!*r->option || (o->name && !strcmp(r->option, o->name))) &&
	       (!*r->verb || !strcmp(r->verb, verb));
}

struct offered offer_option(const char *verb, const struct opt *o)
{
	struct offered ret = { 0 };

	if (strchr(o->arg, '|')) {            /* "spec|driver": its words */
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
		ret.suffix = r->is == OFFER_DEVICES && !strcmp(o->arg, "EVENT") ? '/' : 0;
		if (r->words)
			buf_puts(&ret.words, r->words);
		else if (r->word)
			put_words(&ret.words, r->word);
		break;
	}
	return ret;
}

/* ---- bash -------------------------------------------------------------------------------------- */

static void put_options(struct buf *to, const struct opts *o)
{
	for (size_t i = 0; i < o->n; i++) {
		if (!o->opt[i].take)
			continue;
		if (o->opt[i].letter)
			buf_printf(to, " -%c", o->opt[i].letter);
		if (o->opt[i].name)
			buf_printf(to, " --%s%s", o->opt[i].name, o->opt[i].arg && o->opt[i].arg[0] != '[' ? "=" : "");
	}
}

/* The command that fills COMPREPLY; nothing where nothing is offered. */
static void put_reply(struct buf *to, const struct offered *o)
{
	char suffix[16] = "";

	if (o->suffix)
		memcpy(suffix, (char[]){ '-', 'S', ' ', o->suffix, ' ', 0 }, 6);
	switch (o->is) {
	case OFFER_NOTHING: buf_puts(to, ":"); break;
	case OFFER_FILES: buf_puts(to, "COMPREPLY=($(compgen -f -- \"$cur\"))"); break;
	case OFFER_DIRECTORIES: buf_puts(to, "COMPREPLY=($(compgen -d -- \"$cur\"))"); break;
	case OFFER_COMMANDS: buf_puts(to, "COMPREPLY=($(compgen -c -- \"$cur\"))"); break;
	case OFFER_WORDS: buf_printf(to, "COMPREPLY=($(compgen -W '%s' -- \"$cur\"))", o->words.p ? o->words.p : ""); break;
	case OFFER_NAMES: buf_printf(to, "COMPREPLY=($(compgen -W \"$(_tally_names %s)\" -- \"$cur\"))", o->words.p); break;
	case OFFER_PROBES: buf_puts(to, "_tally_probes"); break;
	case OFFER_DEVICES:
	case OFFER_TUNABLES:
		buf_printf(to, "COMPREPLY=($(compgen %s-W \"$(_tally_ptt %s)\" -- \"$cur\"))", suffix,
			   o->is == OFFER_DEVICES ? "device" : "tunable");
		if (o->suffix)
			buf_puts(to, "; compopt -o nospace");
		break;
	}
}

/* One case per option with an argument: "-x|--long) ...". */
static void put_argument(struct buf *to, const char *verb, const struct opt *o)
{
	struct offered offered = { 0 };

	if (!o->take || !o->arg || o->arg[0] == '[')
		return;
	offered = offer_option(verb, o);
	if (offered.is != OFFER_NOTHING) {
		buf_puts(to, "\t");
		if (o->letter)
			buf_printf(to, "-%c|-[a-zA-Z]*%c%s", o->letter, o->letter, o->name ? "|" : "");
		if (o->name)
			buf_printf(to, "--%s", o->name);
		buf_puts(to, ") ");
		put_reply(to, &offered);
		buf_puts(to, "; return ;;\n");
	}
	to->failed |= offered.words.failed;
	buf_free(&offered.words);
}

static void put_helpers(struct buf *to)
{
	buf_puts(to, /* the platform of the line, as words */
		 "_tally_on() { [[ $COMP_LINE =~ --on[=\\ ]([^\\ ]+) ]] && printf '%s\\n' --on \"${BASH_REMATCH[1]}\"; }\n"
		 "_tally_names() { \"${COMP_WORDS[0]}\" list $(_tally_on) --names \"$1\" 2>/dev/null; }\n"
		 /* devices, or tunables as DEVICE/NAME */
		 "_tally_ptt() {\n"
		 "\t\"${COMP_WORDS[0]}\" list $(_tally_on) -x ' ' ptt 2>/dev/null |\n"
		 "\t\twhile read -r type device name rest; do\n"
		 "\t\t\t[[ $type == \"$1\" ]] || continue\n"
		 "\t\t\t[[ $type == device ]] && echo \"$device\" || echo \"$device/$name\"\n"
		 "\t\tdone\n}\n"
		 /* a probe: bash splits it at its colons where it isn't quoted, and wants what is behind the last of them */
		 "_tally_probes() {\n"
		 "\tlocal word=${COMP_LINE:0:${COMP_POINT:-0}}\n"
		 "\tword=${word##*[[:space:]]} word=${word#[\\'\\\"]}\n"
		 "\tCOMPREPLY=($(compgen -W \"$(_tally_names probes)\" -- \"$word\"))\n"
		 "\t[[ $word == *:* && $cur != *:* ]] && COMPREPLY=(\"${COMPREPLY[@]#\"${word%\"${word##*:}\"}\"}\")\n"
		 "\t[[ ${COMPREPLY-} == *- ]] && compopt -o nospace\n}\n");
}

static void put_verb(struct buf *to, const struct verb *v)
{
	const struct opts *o = v->opts();
	struct offered offered = offer_argument(v->name);

	buf_printf(to, "_tally_%s() {\n\tcase $prev in\n", v->name);
	for (size_t i = 0; i < o->n; i++)
		put_argument(to, v->name, &o->opt[i]);
	if (!strcmp(v->name, "list"))         /* what is before may be a kind: its names */
		buf_puts(to, "\t[!-]*) COMPREPLY=($(compgen -W \"$(_tally_names \"$prev\")\" -- \"$cur\"))\n"
			     "\t\t[[ ${COMPREPLY-} ]] && return ;;\n");
	buf_puts(to, "\tesac\n\tcase $cur in\n\t-*) COMPREPLY=($(compgen -W '");
	put_options(to, o);
	buf_puts(to, "' -- \"$cur\"))\n\t\t[[ ${COMPREPLY-} == *= ]] && compopt -o nospace ;;\n"
		     "\t*) ");
	put_reply(to, &offered);
	buf_puts(to, " ;;\n\tesac\n}\n");
	to->failed |= offered.words.failed;
	buf_free(&offered.words);
}

static void put_main(struct buf *to)
{
	buf_puts(to, "_tally() {\n"
		     "\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} verb=${COMP_WORDS[1]}\n"
		     /* bash splits --dump=x into three words at the '=', and a probe at its colons */
		     "\t[[ $cur == = ]] && cur=\n"
		     "\t[[ $prev == = ]] && prev=${COMP_WORDS[COMP_CWORD-2]}\n"
		     "\tif [[ $prev == :* && COMP_CWORD -ge 3 ]]; then prev=${COMP_WORDS[COMP_CWORD-3]}\n"
		     "\telif [[ $cur == :* && COMP_CWORD -ge 2 ]]; then prev=${COMP_WORDS[COMP_CWORD-2]} cur=; fi\n"
		     "\tif [[ ${COMP_WORDS[0]##*/} == dtrace ]]; then _tally_trace; return; fi\n"
		     "\tif [[ $COMP_CWORD == 1 ]]; then COMPREPLY=($(compgen -W 'help --version");
	for (size_t i = 0; verb_row(i); i++)
		buf_printf(to, " %s", verb_row(i)->name);
	buf_puts(to, "' -- \"$cur\")); return; fi\n\tcase $verb in\n");
	for (size_t i = 0; verb_row(i); i++)
		buf_printf(to, "\t%s) _tally_%s ;;\n", verb_row(i)->name, verb_row(i)->name);
	buf_puts(to, "\thelp) COMPREPLY=($(compgen -W '");
	for (size_t i = 0; verb_row(i); i++)
		buf_printf(to, "%s%s", i ? " " : "", verb_row(i)->name);
	buf_puts(to, "' -- \"$cur\")) ;;\n\tesac\n}\ncomplete -F _tally tally dtrace\n");
}

static void complete_bash(struct buf *to)
{
	buf_puts(to, "# bash completion for tally; made by 'tally completion bash'\n");
	put_helpers(to);
	for (size_t i = 0; verb_row(i); i++)
		put_verb(to, verb_row(i));
	put_main(to);
}

int cmd_completion(struct cmd_ctx *cx, int argc, char **argv)
{
	struct buf b = { 0 };

	if (argc != 2 || (strcmp(argv[1], "bash") && strcmp(argv[1], "zsh"))) {
		complain(cx, "usage: tally completion bash|zsh");
		return ST_USAGE;
	}
	if (!strcmp(argv[1], "bash"))
		complete_bash(&b);
	else
		complete_zsh(&b);
	return print(cx, &b);
}
