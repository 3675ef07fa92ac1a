/*
 * completion.c: a hidden verb, `tally completion bash`, prints the completion
 * script for bash.  All words in it come from the tables that parse the
 * command line, so it can't be out of date.
 *
 * How an option's argument is completed follows from what the table calls it.
 * What devices there are, and what can be set, the script asks the program, on the platform that
 * the line names.
 */
#include <string.h>

#include "cmd/cmd_int.h"

static void put_options(struct buf *to, const struct opts *o)
{
	for (size_t i = 0; i < o->n; i++) {
		if (!o->opt[i].take)
			continue;
		if (o->opt[i].letter)
			buf_printf(to, " -%c", o->opt[i].letter);
		if (o->opt[i].name)
			buf_printf(to, " --%s%s", o->opt[i].name, o->opt[i].arg ? "=" : "");
	}
}

static void put_xoptions(struct buf *to)
{
	const char *name, *help;

	for (unsigned i = 0; tally_option(i, &name, &help); i++)
		buf_printf(to, " %s", name);
}

static void put_words(struct buf *to, const char *(*word)(size_t i))
{
	for (size_t i = 0; word(i); i++)
		buf_printf(to, " %s", word(i));
}

/* The compgen arguments for an option's argument, or false when there is nothing to say. */
static bool put_completion(struct buf *to, const char *arg)
{
	if (!strcmp(arg, "FILE") || !strcmp(arg, "PATH") || !strcmp(arg, "SOCKET") || !strcmp(arg, "DIR")) {
		buf_puts(to, strcmp(arg, "DIR") ? "-f" : "-d");
		return true;
	}
	if (!strcmp(arg, "EVENT")) {
		buf_puts(to, "-S / -W \"$(_tally_names device)\"");
		return true;
	}
	if (strcmp(arg, "OPT[=VALUE]") && strcmp(arg, "PASS") && strcmp(arg, "PLATFORM") && strcmp(arg, "WHERE") &&
	    strcmp(arg, "spec|driver") && strcmp(arg, "latency|throughput"))
		return false;
	buf_puts(to, "-W '");
	if (!strcmp(arg, "PASS"))
		put_words(to, trace_pass);
	else if (!strcmp(arg, "PLATFORM"))
		put_words(to, trace_platform);
	else if (!strcmp(arg, "WHERE"))
		put_words(to, plat_word);
	else if (!strcmp(arg, "spec|driver"))
		buf_puts(to, "spec driver");
	else if (!strcmp(arg, "latency|throughput"))
		buf_puts(to, "latency throughput");
	else
		put_xoptions(to);
	buf_puts(to, "'");
	return true;
}

/* One case per option with an argument: "-x) ..." for letters, "--dump) ..." for long names. */
static void put_argument(struct buf *to, const struct opt *o)
{
	struct buf how = { 0 };

	if (o->take && o->arg && put_completion(&how, o->arg)) {
		if (o->letter)
			buf_printf(to, "\t-%c|-[a-zA-Z]*%c", o->letter, o->letter);
		else
			buf_printf(to, "\t--%s", o->name);
		buf_printf(to, ") COMPREPLY=($(compgen %s -- \"$cur\")); return ;;\n", how.p);
	}
	to->failed |= how.failed;
	buf_free(&how);
}

/* What a verb's own arguments are: files, where no row says otherwise. */
static const char *arguments_of(const char *verb)
{
	static const struct { const char *verb, *how; } row[] = {
		{ "list", "-W ptt" },
		{ "get", "-W \"$(_tally_names tunable)\"" },
		{ "set", "-S = -W \"$(_tally_names tunable)\"" },
		{ "record", "-c" },
		{ "tune", "-W \"$(_tally_names device)\"" },
		{ "machine", "-W kunpeng" },
	};

	for (size_t i = 0; i < COUNT(row); i++)
		if (!strcmp(row[i].verb, verb))
			return row[i].how;
	return "-f";
}

/* _tally_names TYPE: devices, or tunables as DEVICE/NAME. */
static void put_names(struct buf *to)
{
	buf_puts(to, "_tally_names() {\n"
		     "\tlocal on=()\n"
		     "\t[[ $COMP_LINE =~ --on[=\\ ]([^\\ ]+) ]] && on=(--on \"${BASH_REMATCH[1]}\")\n"
		     "\t\"${COMP_WORDS[0]}\" list \"${on[@]}\" -x ' ' ptt 2>/dev/null |\n"
		     "\t\twhile read -r type device name rest; do\n"
		     "\t\t\t[[ $type == \"$1\" ]] || continue\n"
		     "\t\t\t[[ $type == device ]] && echo \"$device\" || echo \"$device/$name\"\n"
		     "\t\tdone\n}\n");
}

static void put_verb(struct buf *to, const struct verb *v)
{
	const struct opts *o = v->opts();

	buf_printf(to, "_tally_%s() {\n\tcase $prev in\n", v->name);
	for (size_t i = 0; i < o->n; i++)
		put_argument(to, &o->opt[i]);
	buf_puts(to, "\tesac\n\tcase $cur in\n\t-*) COMPREPLY=($(compgen -W '");
	put_options(to, o);
	buf_puts(to, "' -- \"$cur\"))\n\t\t[[ ${COMPREPLY-} == *= ]] && compopt -o nospace ;;\n"
		     "\t*) ");
	buf_printf(to, "COMPREPLY=($(compgen %s -- \"$cur\"))", arguments_of(v->name));
	if (!strcmp(v->name, "set"))
		buf_puts(to, "\n\t\tcompopt -o nospace");
	buf_puts(to, " ;;\n\tesac\n}\n");
}

static void put_main(struct buf *to)
{
	buf_puts(to, "_tally() {\n"
		     "\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} verb=${COMP_WORDS[1]}\n"
		     /* bash splits --dump=x into three words at the '=' */
		     "\t[[ $cur == = ]] && cur=\n"
		     "\t[[ $prev == = ]] && prev=${COMP_WORDS[COMP_CWORD-2]}\n"
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

int cmd_completion(struct cmd_ctx *cx, int argc, char **argv)
{
	struct buf b = { 0 };

	if (argc != 2 || strcmp(argv[1], "bash")) {
		complain(cx, "usage: tally completion bash");
		return ST_USAGE;
	}
	buf_puts(&b, "# bash completion for tally; made by 'tally completion bash'\n");
	put_names(&b);
	for (size_t i = 0; verb_row(i); i++)
		put_verb(&b, verb_row(i));
	put_main(&b);
	return print(cx, &b);
}
