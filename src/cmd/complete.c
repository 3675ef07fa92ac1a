/*
 * complete.c: `tally complete BEHIND WORD...`, a hidden verb: what the TAB key offers for a command line.
 *
 * The scripts of the shells (completion.bash, .zsh, .fish) hand over the words up to the cursor, the last of which is
 * to be completed, and the line behind the cursor, in which a platform may be named.  All that is offered follows from
 * the tables that parse the command line, and from what their arguments are called; names of events, probes and devices
 * are asked of the platform that the line names, which takes milliseconds, since nothing is tried for it.
 *
 * The answer is a line for each word that may stand in place of the last: the word, a tab, what it is.  Where the shell
 * knows better there is one of these lines instead:
 *
 *	:files TAB DONE        files; DONE stands before them in the word
 *	:directories TAB DONE
 *	:command TAB N         from word N on it is another command's line
 *
 * and ":more" before words that do not end there.  Names may come from another process: one with a character that a
 * shell would understand is not offered.
 */
#include <string.h>

#include "cmd/platform.h"

struct completing {
	char *const *word; /* the last is to be completed */
	int n;
	const char *behind;       /* the line behind the cursor */
	const char *verb;         /* NULL: there is none yet */
	const struct opts *table; /* of the verb */
	const char *rest;         /* of the last word: what is not done yet */
	struct tally_platform *p; /* opened when first asked */
	struct buf out;
};

/* ---- replies --------------------------------------------------------------------------------- */

/* A word that goes on from what is there: what is done of the last word is before it. */
static void reply_word(struct completing *c, const char *name, size_t n, const char *end, const char *help)
{
	const char *last = c->word[c->n - 1];

	if (n >= strlen(c->rest) && !strncmp(name, c->rest, strlen(c->rest)))
		buf_printf(&c->out, "%.*s%.*s%s\t%s\n", (int)(c->rest - last), last, (int)n, name, end, help);
}

static void reply_words(struct completing *c, const char *words)
{
	for (size_t n; *words; words += n) {
		n = strcspn(words, " |");
		if (n)
			reply_word(c, words, n, "", "");
		else
			n = 1;
	}
}

static void reply_each(struct completing *c, const char *(*word)(size_t i))
{
	for (size_t i = 0; word(i); i++)
		reply_word(c, word(i), strlen(word(i)), "", "");
}

static void reply_shell(struct completing *c, const char *what)
{
	const char *last = c->word[c->n - 1];

	buf_printf(&c->out, ":%s\t%.*s\n", what, (int)(c->rest - last), last);
}

static void reply_command(struct completing *c, int first)
{
	buf_printf(&c->out, ":command\t%d\n", first);
}

/* "a,b,c": what is before the last comma is done; one between slashes parts no names. */
static void rest_of_list(struct completing *c)
{
	bool inside = false;

	for (const char *p = c->rest; *p; p++) {
		if (*p == '/')
			inside = !inside;
		else if (*p == ',' && !inside)
			c->rest = p + 1;
	}
}

/* ---- names of a platform ------------------------------------------------------------------------ */

/* The platform of the line: the last before the cursor, or one behind it. */
static const char *line_platform(const struct completing *c, struct buf *room)
{
	const char *on = NULL, *behind = strstr(c->behind, "--on");

	for (int i = 1; i < c->n - 1; i++) {
		if (!strcmp(c->word[i], "--on") && i + 1 < c->n - 1)
			on = c->word[i + 1];
		else if (!strncmp(c->word[i], "--on=", 5))
			on = c->word[i] + 5;
	}
	if (!on && behind && (behind[4] == ' ' || behind[4] == '=')) {
		buf_put(room, behind + 5, strcspn(behind + 5, " "));
		on = room->p;
	}
	return on;
}

static bool platform_open(struct completing *c, const char *on)
{
	struct tally_platform_opts o = { .size = sizeof(o), .on = on };

	return c->p || tally_platform_open(&c->p, &o) >= 0;
}

static bool line_platform_open(struct completing *c)
{
	struct buf room = { 0 };
	const bool is_open = platform_open(c, line_platform(c, &room));

	buf_free(&room);
	return is_open;
}

static bool name_is_plain(const char *name)
{
	static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.,:/=+@-";

	return !name[strspn(name, plain)];
}

static void reply_name(void *arg, const char *name)
{
	if (name_is_plain(name))
		reply_word(arg, name, strlen(name), "", "");
}

static void reply_names(struct completing *c, const char *kind)
{
	if (line_platform_open(c))
		(void)tally_names(c->p, kind, reply_name, c);
}

/* Of an event of PTT behind its device: a term, whose device stands before it. */
static void reply_term(void *arg, const char *name)
{
	struct completing *c = arg;
	const char *device = c->rest, *slash = strchr(device, '/'), *term = strrchr(slash, ',');
	const size_t n = (size_t)(slash + 1 - device);

	if (strncmp(name, device, n) || !name_is_plain(name))
		return;
	c->rest = term ? term + 1 : slash + 1;
	reply_word(c, name + n, strlen(name + n), "", "");
	c->rest = device;
}

static int add_text(void *arg, const char *text, size_t n)
{
	buf_put(arg, text, n);
	return 0;
}

/* Devices of PTT, or tunables as DEVICE/NAME: rows "type device name ..." of what `list ptt` has as CSV. */
static void reply_ptt(struct completing *c, const char *type, const char *end)
{
	struct buf rows = { 0 }, name = { 0 };
	const struct tally_out to = {
		.size = sizeof(to), .out = add_text, .arg = &rows, .format = TALLY_FORMAT_CSV, .separator = ' '
	};
	char *row, *next;

	if (!line_platform_open(c) || tally_list(c->p, "ptt", NULL, false, &to) < 0 || rows.failed)
		rows.n = 0;
	for (row = rows.n ? rows.p : NULL; row && *row; row = next) {
		char *at = row, *is, *device, *tunable;

		next = row + strcspn(row, "\n");
		if (*next)
			*next++ = '\0';
		is = strsep(&at, " ");
		device = strsep(&at, " ");
		tunable = strsep(&at, " ");
		if (strcmp(is, type) || !device || !tunable)
			continue;
		buf_clear(&name);
		buf_printf(&name, *type == 'd' ? "%s" : "%s/%s", device, tunable);
		if (!name.failed && name_is_plain(name.p))
			reply_word(c, name.p, name.n, end, "");
	}
	buf_free(&name);
	buf_free(&rows);
}

/* ---- what an argument is -------------------------------------------------------------------------- */

enum offer {
	OFFER_NOTHING,
	OFFER_FILES,
	OFFER_DIRECTORIES,
	OFFER_COMMANDS,
	OFFER_WORDS,
	OFFER_NAMES,
	OFFER_DEVICES,
	OFFER_TUNABLES,
	OFFER_PTT_EVENTS,
	OFFER_SELECTORS,
	OFFER_PLATFORMS
};
struct offered {
	enum offer is;
	const char *words; /* WORDS, PLATFORMS: parted by blanks, NULL: each of `word`; NAMES: the kind */
	const char *(*word)(size_t i);
	bool list; /* of WORDS and NAMES: several, with commas between */
};

static const char *language_option(size_t i)
{
	const char *name, *help;

	return tally_option((unsigned)i, &name, &help) ? name : NULL;
}

static struct offered offer_argument(const char *verb, const char *usage)
{
	static const struct {
		const char *verb;
		struct offered is;
	} rows[] = {
		{ "list", { .is = OFFER_NAMES, .words = "kinds" } },
		{ "get", { .is = OFFER_SELECTORS } },
		{ "set", { .is = OFFER_TUNABLES } },
		{ "record", { .is = OFFER_COMMANDS } },
		{ "stat", { .is = OFFER_COMMANDS } },
		{ "tune", { .is = OFFER_DEVICES } },
		{ "machine", { .is = OFFER_PLATFORMS, .words = "kunpeng niagara maramba batoka power" } },
		{ "doctor", { .is = OFFER_NOTHING } },
	};
	const char *argument = strrchr(usage, ' ') ? strrchr(usage, ' ') + 1 : usage;

	for (size_t i = 0; i < COUNT(rows); i++)
		if (!strcmp(rows[i].verb, verb))
			return rows[i].is;
	if (strchr(argument, '|') && !strchr(argument, ']')) /* "gpci|vfalls": its words */
		return (struct offered){ .is = OFFER_WORDS, .words = argument };
	return (struct offered){ .is = OFFER_FILES };
}

/* By what the argument is called; option "": of any option; verb "": of any verb. The first row that fits counts. */
static struct offered offer_option(const char *verb, const struct opt *o)
{
	static const struct {
		const char *arg, *option, *verb;
		struct offered is;
	} rows[] = {
		{ "FILE", "", "", { .is = OFFER_FILES } },
		{ "PATH", "", "", { .is = OFFER_FILES } },
		{ "SOCKET", "", "", { .is = OFFER_FILES } },
		{ "IMAGE", "", "", { .is = OFFER_FILES } },
		{ "DIR", "", "", { .is = OFFER_DIRECTORIES } },
		{ "COMMAND", "", "", { .is = OFFER_COMMANDS } },
		{ "EVENT", "", "stat", { .is = OFFER_NAMES, .words = "countable", .list = true } },
		{ "EVENT", "", "", { .is = OFFER_PTT_EVENTS } },
		{ "CLAUSE", "", "", { .is = OFFER_NAMES, .words = "probes", .list = true } },
		{ "PROVIDER", "", "", { .is = OFFER_NAMES, .words = "providers" } },
		{ "NAME", "load", "", { .is = OFFER_NAMES, .words = "loads" } },
		{ "NAME", "profile", "", { .is = OFFER_WORDS, .word = plat_profile } },
		{ "PROFILE", "", "", { .is = OFFER_WORDS, .word = plat_profile } },
		{ "NAME", "device", "", { .is = OFFER_DEVICES } },
		{ "VIEW", "", "", { .is = OFFER_NAMES, .words = "views" } },
		{ "WHERE", "", "", { .is = OFFER_PLATFORMS, .word = plat_word } },
		{ "PLATFORM", "", "", { .is = OFFER_PLATFORMS, .word = trace_platform } },
		{ "KEYS", "partition", "", { .is = OFFER_WORDS, .words = "host capture hour", .list = true } },
		{ "PASS", "", "", { .is = OFFER_WORDS, .word = trace_pass } },
		{ "OPT[=VALUE]", "", "", { .is = OFFER_WORDS, .word = language_option } },
	};

	if (strchr(o->arg, '|')) /* "spec|driver": its words */
		return (struct offered){ .is = OFFER_WORDS, .words = o->arg };
	for (size_t i = 0; i < COUNT(rows); i++)
		if (!strcmp(rows[i].arg, o->arg) &&
		    (!*rows[i].option || (o->name && !strcmp(rows[i].option, o->name))) &&
		    (!*rows[i].verb || !strcmp(rows[i].verb, verb)))
			return rows[i].is;
	return (struct offered){ .is = OFFER_NOTHING };
}

/* A platform: its name, its keys behind commas, a socket, a file. */
static void reply_platform(struct completing *c, const struct offered *o)
{
	const char *comma = strrchr(c->rest, ',');
	struct buf on = { 0 };

	if (!strncmp(c->rest, "unix:", 5)) {
		c->rest += 5;
		reply_shell(c, "files");
	} else if (strchr(c->rest, '/')) {
		reply_shell(c, "files");
	} else if (comma) {
		buf_put(&on, c->rest, strcspn(c->rest, ","));
		c->rest = comma + 1;
		if (!on.failed && platform_open(c, on.p))
			(void)tally_names(c->p, "keys", reply_name, c);
	} else if (o->words) {
		reply_words(c, o->words);
	} else {
		reply_each(c, o->word);
	}
	buf_free(&on);
}

static void reply_offered(struct completing *c, struct offered o)
{
	if (o.list)
		rest_of_list(c);
	switch (o.is) {
	case OFFER_NOTHING:
		break;
	case OFFER_FILES:
		reply_shell(c, "files");
		break;
	case OFFER_DIRECTORIES:
		reply_shell(c, "directories");
		break;
	case OFFER_COMMANDS:
		reply_command(c, c->n - 1);
		break;
	case OFFER_WORDS:
		if (o.words)
			reply_words(c, o.words);
		else
			reply_each(c, o.word);
		break;
	case OFFER_NAMES:
		reply_names(c, o.words);
		break;
	case OFFER_DEVICES:
		reply_ptt(c, "device", "");
		break;
	case OFFER_TUNABLES:
		reply_ptt(c, "tunable", "=");
		break;
	case OFFER_SELECTORS:
		reply_names(c, "selectors");
		reply_ptt(c, "tunable", "");
		break;
	case OFFER_PTT_EVENTS:
		if (!strchr(c->rest, '/')) {
			reply_ptt(c, "device", "/");
		} else if (line_platform_open(c)) {
			buf_puts(&c->out, ":more\n"); /* behind a term comes more of the same word */
			(void)tally_names(c->p, "terms", reply_term, c);
		}
		break;
	case OFFER_PLATFORMS:
		reply_platform(c, &o);
		break;
	}
}

/* ---- the line ------------------------------------------------------------------------------------ */

static void reply_verbs(struct completing *c)
{
	const struct verb *v;

	for (size_t i = 0; (v = verb_row(i)) != NULL; i++)
		reply_word(c, v->name, strlen(v->name), "", v->help);
	reply_word(c, "completion", 10, "", "print a completion script for a shell");
}

static void reply_options(struct completing *c)
{
	for (size_t i = 0; i < c->table->n; i++) {
		const struct opt *o = &c->table->opt[i];
		char name[64] = { '-', o->letter };

		if (!o->does.kind)
			continue;
		if (o->letter)
			reply_word(c, name, 2, "", o->help);
		if (o->name && strlen(o->name) < sizeof(name) - 2) {
			name[1] = '-';
			strcpy(name + 2, o->name);
			reply_word(c, name, strlen(name), opt_takes_value(o) ? "=" : "", o->help);
		}
	}
}

/* The option of the word whose value is the next word, or stands in this one from *value on; NULL: there is none. */
static const struct opt *option_with_value(const struct opts *table, const char *word, const char **value)
{
	const bool is_long = word[1] == '-';
	const char *name = is_long ? word + 2 : word + 1, *is = strchr(word, '=');
	const size_t n = is_long ? (is ? (size_t)(is - name) : strlen(name)) : 1;

	*value = NULL;
	for (; *name; name++) {
		for (size_t i = 0; i < table->n; i++) {
			const struct opt *o = &table->opt[i];

			if (!opt_takes_value(o) ||
			    (is_long ? !o->name || strlen(o->name) != n || strncmp(o->name, name, n) != 0 :
				       o->letter != *name))
				continue;
			*value = is_long ? (is ? is + 1 : NULL) : name[1] ? name + 1 : NULL;
			return o;
		}
		if (is_long)
			return NULL;
	}
	return NULL;
}

/* Whether what follows "--" is a command, and not more arguments. */
static bool verb_runs_command(const char *verb)
{
	return !strcmp(verb, "stat") || !strcmp(verb, "record") || !strcmp(verb, "tune");
}

/* What is before the last word says what that is: an option's value, a word of another command, an option, an
 * argument. */
static void complete_verb(struct completing *c, int first)
{
	const struct opt *option = NULL; /* whose value the last word is */
	const char *value, *last = c->word[c->n - 1];
	bool ours = true; /* no "--" so far */

	for (int i = first; i < c->n - 1; i++) {
		const char *word = c->word[i];

		option = NULL;
		if (!ours)
			continue;
		if (!strcmp(word, "--")) {
			if (verb_runs_command(c->verb)) {
				reply_command(c, i + 1);
				return;
			}
			ours = false;
		} else if (word[0] == '-' && word[1]) {
			option = option_with_value(c->table, word, &value);
			if (option && value)
				option = NULL; /* it stands in that word */
			else if (option)
				i++;
		} else if (c->table->command) {
			reply_command(c, i);
			return;
		}
	}
	if (option && ours && c->word[c->n - 2][0] == '-') {
		reply_offered(c, offer_option(c->verb, option));
		return;
	}
	if (ours && last[0] == '-') {
		option = last[1] ? option_with_value(c->table, last, &value) : NULL;
		if (option && value) {
			c->rest = value;
			reply_offered(c, offer_option(c->verb, option));
		} else {
			reply_options(c);
		}
		return;
	}
	/* What is before a word of `list` may be a kind: its names. */
	if (!strcmp(c->verb, "list") && c->n - 1 > first && c->word[c->n - 2][0] != '-') {
		reply_names(c, c->word[c->n - 2]);
		if (c->out.n)
			return;
	}
	reply_offered(c, offer_argument(c->verb, c->table->usage));
}

static void complete_line(struct completing *c)
{
	const char *slash = strrchr(c->word[0], '/'), *called = slash ? slash + 1 : c->word[0];
	const bool is_dtrace = !strcmp(called, "dtrace");

	c->verb = is_dtrace ? "trace" : c->n > 2 ? c->word[1] : NULL;
	for (size_t i = 0; c->verb && verb_row(i); i++)
		if (!strcmp(verb_row(i)->name, c->verb))
			c->table = verb_row(i)->opts();
	if (c->verb && !strcmp(c->verb, "completion"))
		c->table = cmd_completion_opts();
	if (!c->verb) {
		reply_verbs(c);
		reply_words(c, "help --help --version");
	} else if (c->table) {
		complete_verb(c, is_dtrace ? 1 : 2);
	} else if (!strcmp(c->verb, "help") && c->n == 3) {
		reply_verbs(c);
	}
}

int cmd_complete(struct cmd_ctx *cx, int argc, char **argv)
{
	struct completing c = { .word = argv + 2, .n = argc - 2 };

	if (c.n < 2)
		return refuse_usage(cx, "complete is called by the scripts of 'tally completion', as: BEHIND WORD...");
	c.behind = argv[1];
	c.rest = c.word[c.n - 1];
	complete_line(&c);
	tally_platform_close(c.p);
	return print(cx, &c.out);
}
