/*
 * opts.c: one table per verb, from which everything about its options is made.
 *
 * getopt_long() does the reading.  Options and arguments may be mixed, as
 * dtrace(1) allows, but where a command follows; after "--" everything is an argument.  An option that
 * dtrace(1) has and this verb does not is a row too: it is refused by name with
 * what to do instead, not as something unknown.
 */
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "cmd/cmd_int.h"

#define LONG_BASE 256 /* values of long options: behind all letters */
#define COLUMNS 80u   /* of -h, */
#define HELP_AT 25u   /* and where it says what an option does */

static const char *opts_row_spelling(const struct opt *o, char *room, size_t n)
{
	if (o->letter)
		snprintf(room, n, "-%c", o->letter);
	else
		snprintf(room, n, "--%s", o->name);
	return room;
}

/* An argument that may be left out is written "[=WORD]". */
static bool is_optional(const struct opt *o)
{
	return o->arg && o->arg[0] == '[';
}

static struct option *long_options(const struct opts *o)
{
	struct option *l = mem_alloc((o->n + 1) * sizeof(*l)), *end = l;

	for (size_t i = 0; l && i < o->n; i++)
		if (o->opt[i].name)
			*end++ = (struct option){ .name = o->opt[i].name,
						  .val = LONG_BASE + (int)i,
						  .has_arg = !o->opt[i].arg          ? no_argument :
							     is_optional(&o->opt[i]) ? optional_argument :
										       required_argument };
	return l;
}

static const struct opt *row_of(const struct opts *o, int value)
{
	if (value >= LONG_BASE)
		return &o->opt[value - LONG_BASE];
	for (size_t i = 0; i < o->n; i++)
		if (o->opt[i].letter && o->opt[i].letter == value)
			return &o->opt[i];
	return NULL;
}

static int see_help(const struct cmd_ctx *cx, const struct opts *o)
{
	return refuse_usage(cx, "'tally %s -h' shows the options", o->verb);
}

int opts_refuse(const struct cmd_ctx *cx, const struct opts *o, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	complain_words(cx, fmt, ap);
	va_end(ap);
	return see_help(cx, o);
}

#define NAMES_MOST 64u /* of one verb */

static const char *opts_nearest_name(const struct opts *o, const char *word, size_t n)
{
	const char *names[NAMES_MOST], *near = NULL;
	size_t count = 0;
	struct buf cut = { 0 };

	for (size_t i = 0; i < o->n && count < NAMES_MOST; i++)
		if (o->opt[i].name)
			names[count++] = o->opt[i].name;
	buf_put(&cut, word, n);
	if (cut.n && !cut.failed)
		near = text_nearest(cut.p, TEXT_NAMES(names, count));
	buf_free(&cut);
	return near;
}

/* "--vew=x": no long option has that name, or several begin so. */
static void bad_long(const struct cmd_ctx *cx, const struct opts *o, const char *word)
{
	const size_t n = strcspn(word + 2, "=");
	const char *near = opts_nearest_name(o, word + 2, n);
	struct buf begun = { 0 };

	for (size_t i = 0; i < o->n; i++)
		if (o->opt[i].name && !strncmp(o->opt[i].name, word + 2, n))
			buf_printf(&begun, "%s--%s", begun.n ? ", " : "", o->opt[i].name);
	if (n && begun.n)
		complain(cx, "ambiguous option '%.*s': could be %s", (int)n + 2, word, begun.p);
	else if (near)
		complain(cx, "unknown option '%s'; did you mean '--%s'?", word, near);
	else
		complain(cx, "unknown option '%s'", word);
	buf_free(&begun);
}

/* "-view" is what perf and others take for --view. */
static void bad_letter(const struct cmd_ctx *cx, const struct opts *o, const char *word)
{
	for (size_t i = 0; i < o->n && word && word[0] == '-'; i++)
		if (o->opt[i].name && strlen(o->opt[i].name) > 1 && !strcmp(o->opt[i].name, word + 1)) {
			complain(cx, "unknown option '-%c'; did you mean '--%s'?", optopt, o->opt[i].name);
			return;
		}
	complain(cx, "unknown option '-%c'", optopt);
}

/* optopt is the letter, or 0 or a value of ours when it was a long option. */
static int bad_option(const struct cmd_ctx *cx, const struct opts *o, int why, char **argv)
{
	const struct opt *row = row_of(o, optopt);
	char room[32];

	if (row && why == ':')
		complain(cx, "%s requires an argument: %s", opts_row_spelling(row, room, sizeof(room)), row->arg);
	else if (row)
		complain(cx, "--%s takes no argument", row->name);
	else if (optopt)
		bad_letter(cx, o, argv[optind]);
	else
		bad_long(cx, o, argv[optind - 1]);
	return see_help(cx, o);
}

static int opts_take_value(const struct cmd_ctx *cx, const struct opts *o, const struct opt *row, void *state)
{
	const struct opt_does *does = &row->does;
	void *at = (char *)state + does->at;
	struct buf help = { 0 };
	char room[32];
	uint64_t n;

	opts_row_spelling(row, room, sizeof(room));
	switch (does->kind) {
	case OPT_KIND_STEP:
		return does->step(state, optarg);
	case OPT_KIND_HELP:
		opts_help(o, &help);
		return print(cx, &help);
	case OPT_KIND_TRUE:
		*(uint8_t *)at = true;
		return GO_ON;
	case OPT_KIND_BITS:
		*(uint32_t *)at |= does->bits;
		return GO_ON;
	case OPT_KIND_ONCE:
		if (*(const char **)at)
			return refuse_usage(cx, "%s can be given only once", room);
		/* fall through */
	case OPT_KIND_KEEP:
		*(const char **)at = optarg;
		return GO_ON;
	case OPT_KIND_NUMBER:
		if (text_u64(optarg, &n) && n >= does->least && n <= does->most) {
			*(uint32_t *)at = (uint32_t)n;
			return GO_ON;
		}
		return refuse_usage(cx, "%s: invalid value '%s' (expected %s)", room, optarg, does->expected);
	case OPT_KIND_MS:
		if (text_u64(optarg, &n) && n > 0 && n <= UINT32_MAX) {
			*(uint64_t *)at = n * 1000000;
			return GO_ON;
		}
		return refuse_usage(cx, "%s: invalid value '%s' (expected milliseconds, 1 or more)", room, optarg);
	case OPT_KIND_REFUSED:
		break;
	}
	return refuse_usage(cx, "%s%s is not supported: %s", room, optarg ? optarg : "", row->help);
}

int opts_parse(const struct cmd_ctx *cx, const struct opts *o, void *state, int argc, char **argv, int *first)
{
	struct buf shorts = { 0 };
	struct option *longs = long_options(o);
	int c, status = GO_ON;

	if (o->command)
		buf_putc(&shorts, '+'); /* its options are not ours */
	buf_putc(&shorts, ':');         /* a missing argument is told from an unknown option */
	for (size_t i = 0; i < o->n; i++)
		if (o->opt[i].letter) {
			buf_putc(&shorts, o->opt[i].letter);
			buf_puts(&shorts, !o->opt[i].arg ? "" : is_optional(&o->opt[i]) ? "::" : ":");
		}
	if (!longs || shorts.failed) {
		complain(cx, "out of memory");
		status = ST_FAILED;
	}
	opterr = 0;
	while (status == GO_ON && (c = getopt_long(argc, argv, shorts.p, longs, NULL)) != -1)
		status =
			c == '?' || c == ':' ? bad_option(cx, o, c, argv) : opts_take_value(cx, o, row_of(o, c), state);
	*first = optind;
	mem_free(longs);
	buf_free(&shorts);
	return status;
}

/* ---- -h ---------------------------------------------------------------------------- */

static void help_row(const struct opt *o, struct buf *to)
{
	struct buf left = { 0 };

	if (o->letter)
		buf_printf(&left, "-%c", o->letter);
	if (o->name)
		buf_printf(&left, "%s--%s", o->letter ? ", " : "    ", o->name);
	if (o->arg)
		buf_printf(&left, "%s%s", is_optional(o) ? "" : o->name ? "=" : " ", o->arg);
	buf_printf(to, "  %-22s ", left.p ? left.p : "");
	buf_wrap(to, o->help, left.n > 22 ? left.n + 3 : HELP_AT, HELP_AT, COLUMNS, "");
	to->failed |= left.failed;
	buf_free(&left);
}

static void opts_put_paragraph(struct buf *to, struct buf *words, size_t indent)
{
	if (words->n)
		buf_wrap(to, words->p, 0, indent, COLUMNS, "");
	to->failed |= words->failed;
	buf_free(words);
}

/* Lines that begin with a blank stay as they are; the others are the words of paragraphs. */
static void put_text(struct buf *to, const char *text)
{
	struct buf words = { 0 };
	size_t n;

	for (; *text; text += n + (text[n] != 0)) {
		n = strcspn(text, "\n");
		if (n && *text != ' ') {
			buf_printf(&words, "%s%.*s", words.n ? " " : "", (int)n, text);
			continue;
		}
		opts_put_paragraph(to, &words, 0);
		buf_printf(to, "%.*s\n", (int)n, text);
	}
	opts_put_paragraph(to, &words, 0);
}

void opts_help(const struct opts *o, struct buf *to)
{
	struct buf usage = { 0 };

	buf_printf(&usage, "usage: tally %s %s", o->verb, o->usage);
	opts_put_paragraph(to, &usage, 7);
	put_text(to, o->intro);
	buf_puts(to, "\nOptions:\n");
	for (size_t i = 0; i < o->n; i++)
		if (o->opt[i].does.kind)
			help_row(&o->opt[i], to);
	for (size_t i = 0, n = 0; i < o->n; i++)
		if (!o->opt[i].does.kind) {
			if (n++ == 0)
				buf_puts(to,
					 "\nOptions of dtrace(1) that are not supported, and what to do instead:\n");
			help_row(&o->opt[i], to);
		}
	if (o->more)
		o->more(to);
	put_text(to, o->outro);
}

bool opt_takes_value(const struct opt *o)
{
	return o->does.kind && o->arg && o->arg[0] != '[';
}
