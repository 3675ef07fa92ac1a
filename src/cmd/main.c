/*
 * main.c: tally's verbs.
 *
 * `tally VERB ...` looks the verb up in a table; under the name `dtrace` the
 * program is `tally trace`, so that "#!/usr/sbin/dtrace -s" scripts run
 * unchanged.  Messages begin with the name it was called by.
 */
#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <tally/doctor.h>

#include "cmd/cmd_int.h"

static const struct verb verbs[] = {
#define V(name, help) { #name, help, cmd_##name, cmd_##name##_opts },
	VERBS(V)
#undef V
};

const struct verb *verb_row(size_t i)
{
	return i < COUNT(verbs) ? &verbs[i] : NULL;
}

/* ---- saying things ------------------------------------------------------------------ */

/* Names of files are in it, and a terminal reads it: only lines and tabs stay of what is not to be seen. */
static void make_plain(struct buf *to, const char *s)
{
	while (*s) {
		size_t n = strcspn(s, "\n\t");

		buf_plain(to, s, n);
		buf_put(to, s + n, s[n] != 0);
		s += n + (s[n] != 0);
	}
}

void complain(const struct cmd_ctx *cx, const char *fmt, ...)
{
	struct buf b = { 0 }, plain = { 0 };
	va_list ap;

	va_start(ap, fmt);
	buf_printf(&b, "%s: ", cx->name);
	buf_vprintf(&b, fmt, ap);
	va_end(ap);
	make_plain(&plain, b.p ? b.p : "");
	if (plain.n && plain.p[plain.n - 1] != '\n')
		buf_putc(&plain, '\n');
	if (plain.n)
		fwrite(plain.p, 1, plain.n, stderr);      /* one write: lines of two processes do not mix */
	buf_free(&plain);
	buf_free(&b);
}

int print(const struct cmd_ctx *cx, struct buf *b)
{
	bool ok = !b->failed && fwrite(b->p ? b->p : "", 1, b->n, stdout) == b->n && !fflush(stdout);

	if (!ok)
		complain(cx, "failed to write: %s", b->failed ? "out of memory" : strerror(errno));
	buf_free(b);
	return ok ? ST_OK : ST_FAILED;
}

/* ---- what is no verb ------------------------------------------------------------------ */

static void usage(struct buf *to)
{
	buf_puts(to, "usage: tally VERB [option]... [argument]...\n\n"
		     "Ask any hardware performance counter a question, in D.\n\nVerbs:\n");
	for (size_t i = 0; i < COUNT(verbs); i++)
		buf_printf(to, "  %-12s %s\n", verbs[i].name, verbs[i].help);
	buf_puts(to, "\n'tally VERB -h' shows the options of a verb, 'tally --version' what tally is made\n"
		     "of; 'tally completion bash|zsh' prints a completion script. Called as dtrace,\n"
		     "tally is 'tally trace'.\n");
}

static const struct verb *find(const char *name)
{
	for (size_t i = 0; i < COUNT(verbs); i++)
		if (!strcmp(verbs[i].name, name))
			return &verbs[i];
	return NULL;
}

static int unknown(struct cmd_ctx *cx, const char *word)
{
	const char *names[COUNT(verbs)], *near;

	for (size_t i = 0; i < COUNT(verbs); i++)
		names[i] = verbs[i].name;
	near = text_nearest(word, names, COUNT(verbs));
	if (near)
		complain(cx, "there is no verb '%s'; did you mean '%s'?", word, near);
	else
		complain(cx, "there is no verb '%s'; 'tally help' lists them", word);
	return ST_USAGE;
}

static int help(struct cmd_ctx *cx, const char *verb)
{
	struct buf b = { 0 };
	const struct verb *v = verb ? find(verb) : NULL;

	if (verb && !v)
		return unknown(cx, verb);
	if (v)
		opts_help(v->opts(), &b);
	else
		usage(&b);
	return print(cx, &b);
}

static void put_feature(void *arg, const char *name, const char *version, bool inside, const char *what)
{
	buf_printf(arg, "  %-9s %-10s %s%s\n", name, *version ? version : "-", what,
		   inside ? " (inside)" : *version ? "" : " (not found)");
}

static int version(struct cmd_ctx *cx)
{
	struct buf b = { 0 }, room = { 0 };

	buf_printf(&b, "tally %s\n", tally_version());
	tally_features(duckdb_library(&room), put_feature, &b);
	buf_free(&room);
	return print(cx, &b);
}

static int run_word(struct cmd_ctx *cx, int argc, char **argv)
{
	const char *word = argv[1];
	const struct verb *v = find(word);

	if (v)
		return v->run(cx, argc - 1, argv + 1);
	if (!strcmp(word, "help") || !strcmp(word, "--help") || !strcmp(word, "-h"))
		return help(cx, argv[2]);
	if (!strcmp(word, "--version") || !strcmp(word, "-V"))
		return version(cx);
	if (!strcmp(word, "completion"))
		return cmd_completion(cx, argc - 1, argv + 1);
	return unknown(cx, word);
}

int main(int argc, char **argv)
{
	const char *slash = argc ? strrchr(argv[0], '/') : NULL;
	const char *name = slash ? slash + 1 : argc ? argv[0] : "tally";
	struct cmd_ctx cx = { .name = strcmp(name, "dtrace") ? "tally" : "dtrace" };

	setlocale(LC_CTYPE, "");              /* not LC_NUMERIC: numbers look the same everywhere */
	if (!strcmp(cx.name, "dtrace"))
		return cmd_trace(&cx, argc, argv);
	if (argc < 2) {
		struct buf b = { 0 };
		usage(&b);
		fwrite(b.p ? b.p : "", 1, b.n, stderr);
		buf_free(&b);
		return ST_USAGE;
	}
	return run_word(&cx, argc, argv);
}
