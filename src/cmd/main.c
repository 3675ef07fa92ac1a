/*
 * main.c: tally's verbs.
 *
 * `tally VERB ...` looks the verb up in a table; under the name `dtrace` the
 * program is `tally trace`, so that "#!/usr/sbin/dtrace -s" scripts run
 * unchanged.  Messages begin with the name it was called by.
 *
 * A program whose file has capabilities runs with more rights than its user.  Before anything of the user's is looked
 * at, all of them are given up but those that the verb's row names; what is no verb keeps none.
 */
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cmd/cmd_int.h"

#define COLUMNS_LEAST 40u /* of a terminal that lines are fitted into, */
#define COLUMNS_USUAL 80u /* and of one that doesn't know */

static const struct verb verbs[] = {
#define V(name, help, rights) { #name, help, rights, cmd_##name, cmd_##name##_opts },
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

/* On a terminal a line is broken at a blank where it would be broken anywhere; a command stays whole, to be copied. */
static void put_wrapped(struct buf *to, const char *line, size_t indent, size_t columns)
{
	const char *command = strstr(line, ": sudo ");
	struct buf words = { 0 };

	if (strlen(line) <= columns || strchr(line, '\t')) {
		buf_printf(to, "%s\n", line);
		return;
	}
	buf_put(&words, line, command ? (size_t)(command + 1 - line) : strlen(line));
	buf_wrap(to, words.p ? words.p : "", 0, indent, columns, "");
	if (command)
		buf_printf(to, "%*s%s\n", (int)indent, "", command + 2);
	to->failed |= words.failed;
	buf_free(&words);
}

unsigned output_columns(int fd)
{
	const char *wanted = getenv("COLUMNS");
	struct winsize w;
	uint64_t n;

	if (!wanted || !text_u64(wanted, &n) || n < COLUMNS_LEAST)
		n = !isatty(fd) ? 0 : ioctl(fd, TIOCGWINSZ, &w) || w.ws_col < COLUMNS_LEAST ? COLUMNS_USUAL : w.ws_col;
	return n > UINT8_MAX ? UINT8_MAX : (unsigned)n;
}

static void main_put_indented(struct buf *to, size_t indent)
{
	struct buf fitted = { 0 };
	struct winsize w;

	if (ioctl(STDERR_FILENO, TIOCGWINSZ, &w) || w.ws_col < COLUMNS_LEAST)
		return;
	for (char *line = to->p, *next; line && *line; line = next) {
		next = line + strcspn(line, "\n");
		if (*next)
			*next++ = '\0';
		put_wrapped(&fitted, line, indent, w.ws_col);
	}
	buf_free(to);
	*to = fitted;
}

/* The same in one line without any allocation; what is too long is cut. */
static void complain_without_memory(const struct cmd_ctx *cx, const char *fmt, va_list ap)
{
	char line[1024];
	size_t n = (size_t)snprintf(line, sizeof(line) / 2, "%s: ", cx->name);

	if (vsnprintf(line + n, sizeof(line) - n - 1, fmt, ap) < 0)
		line[n] = '\0';
	for (n = 0; line[n]; n++)
		if ((unsigned char)line[n] < ' ')
			line[n] = ' ';
	line[n++] = '\n';
	fwrite(line, 1, n, stderr);
}

void complain_words(const struct cmd_ctx *cx, const char *fmt, va_list ap)
{
	struct buf b = { 0 }, plain = { 0 };
	va_list again;

	va_copy(again, ap);
	buf_printf(&b, "%s: ", cx->name);
	buf_vprintf(&b, fmt, ap);
	make_plain(&plain, b.p ? b.p : "");
	if (plain.n && plain.p[plain.n - 1] != '\n')
		buf_putc(&plain, '\n');
	main_put_indented(&plain, strlen(cx->name) + 2);
	if (b.failed || plain.failed)
		complain_without_memory(cx, fmt, again);
	else
		fwrite(plain.p, 1, plain.n, stderr); /* one write: lines of two processes do not mix */
	va_end(again);
	buf_free(&plain);
	buf_free(&b);
}

void complain(const struct cmd_ctx *cx, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	complain_words(cx, fmt, ap);
	va_end(ap);
}

int refuse_usage(const struct cmd_ctx *cx, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	complain_words(cx, fmt, ap);
	va_end(ap);
	return ST_USAGE;
}

int write_failed(const struct cmd_ctx *cx, const char *to, int error)
{
	if (error == EPIPE)
		return ST_READER;
	complain(cx, "failed to write to %s: %s", to ? to : "stdout", strerror(error));
	return ST_FAILED;
}

/* The colours that tables and doctor have. */
static size_t colour_len(const char *s, size_t n)
{
	static const char *const colours[] = { "\033[0m", "\033[31m", "\033[32m", "\033[33m" };

	for (size_t i = 0; i < COUNT(colours); i++)
		if (n >= strlen(colours[i]) && !memcmp(s, colours[i], strlen(colours[i])))
			return strlen(colours[i]);
	return 0;
}

void put_guarded(struct buf *to, int fd, const char *text, size_t n)
{
	const bool guarded = isatty(fd);

	while (n) {
		const char *esc = guarded ? memchr(text, '\033', n) : NULL;
		size_t len = esc ? (size_t)(esc - text) : n, colour = esc ? colour_len(esc, n - len) : 0;

		if (guarded)
			buf_visible(to, text, colour ? len : len + (esc != NULL));
		else
			buf_put(to, text, len);
		buf_put(to, text + len, colour);
		len += colour ? colour : esc != NULL;
		text += len;
		n -= len;
	}
}

int print(const struct cmd_ctx *cx, struct buf *b)
{
	struct buf shown = { 0 };
	int status = ST_OK;

	put_guarded(&shown, STDOUT_FILENO, b->p ? b->p : "", b->n);
	if (b->failed || shown.failed || fwrite(shown.p ? shown.p : "", 1, shown.n, stdout) != shown.n ||
	    fflush(stdout))
		status = write_failed(cx, NULL, b->failed || shown.failed ? ENOMEM : errno);
	buf_free(&shown);
	buf_free(b);
	return status;
}

/* ---- what is no verb ------------------------------------------------------------------ */

static void main_put_usage(struct buf *to)
{
	buf_puts(to, "usage: tally VERB [option]... [argument]...\n\n"
		     "Query any hardware performance counter, in D.\n\nVerbs:\n");
	for (size_t i = 0; i < COUNT(verbs); i++)
		buf_printf(to, "  %-12s %s\n", verbs[i].name, verbs[i].help);
	buf_puts(to, "\n'tally VERB -h' shows the options of a verb, 'tally --version' the versions of its\n"
		     "parts; 'tally completion bash|zsh|fish' prints a completion script. Called as\n"
		     "dtrace, tally is 'tally trace'.\n");
}

static const struct verb *main_find(const char *name)
{
	for (size_t i = 0; i < COUNT(verbs); i++)
		if (!strcmp(verbs[i].name, name))
			return &verbs[i];
	return NULL;
}

static int main_refuse_word(struct cmd_ctx *cx, const char *word)
{
	const char *names[COUNT(verbs) + 4] = { "help", "completion", "--help", "--version" };
	const bool option = *word == '-';

	for (size_t i = 0; i < COUNT(verbs); i++)
		names[i + 4] = verbs[i].name;
	complain(cx, "unknown %s '%s'%s", option ? "option" : "verb", word,
		 err_unknown(word, TEXT_NAMES(names, COUNT(names)),
			     option ? " before the verb; 'tally help' lists the verbs, 'tally VERB -h' their options" :
				      "; 'tally help' lists them")
			 .text);
	return ST_USAGE;
}

static int main_show_help(struct cmd_ctx *cx, const char *verb)
{
	struct buf b = { 0 };
	const struct verb *v = verb ? main_find(verb) : NULL;
	const struct opts *o = v ? v->opts() : verb && !strcmp(verb, "completion") ? cmd_completion_opts() : NULL;

	if (verb && !o)
		return main_refuse_word(cx, verb);
	if (o)
		opts_help(o, &b);
	else
		main_put_usage(&b);
	return print(cx, &b);
}

static void put_feature(void *arg, const char *name, const char *version, bool inside, const char *what)
{
	buf_printf(arg, "  %-9s %-10s %s%s\n", name, *version ? version : "-", what,
		   inside   ? " (inside)" :
		   *version ? "" :
			      " (not found)");
}

/* GO_ON, or an exit status. */
static int keep_rights(struct cmd_ctx *cx, uint32_t rights)
{
	if (getuid() != geteuid() || getgid() != getegid()) {
		complain(cx, "tally must not be set-user-ID or set-group-ID: "
			     "give its file capabilities instead, see SECURITY in tally(1)");
		return ST_NOPERM;
	}
	cx->borrowed = getauxval(AT_SECURE) && geteuid() != 0;
	if (!cx->borrowed || tally_rights_keep(rights) >= 0)
		return GO_ON;
	complain(cx, "cannot drop the capabilities of the program's file: %s", strerror(errno));
	return ST_FAILED;
}

static int run_word(struct cmd_ctx *cx, int argc, char **argv)
{
	const char *word = argv[1];
	const struct verb *v = main_find(word);
	int status = keep_rights(cx, v ? v->rights : 0);

	if (status != GO_ON)
		return status;
	if (v)
		return v->run(cx, argc - 1, argv + 1);
	if (!strcmp(word, "help") || !strcmp(word, "--help") || !strcmp(word, "-h"))
		return main_show_help(cx, argv[2]);
	if (!strcmp(word, "--version") || !strcmp(word, "-V")) {
		struct buf b = { 0 }, room = { 0 };

		buf_printf(&b, "tally %s\n", tally_version());
		tally_features(duckdb_library(&room), put_feature, &b);
		buf_free(&room);
		return print(cx, &b);
	}
	if (!strcmp(word, "completion"))
		return cmd_completion(cx, argc - 1, argv + 1);
	if (!strcmp(word, "complete"))
		return cmd_complete(cx, argc - 1, argv + 1);
	return main_refuse_word(cx, word);
}

/* Who was started with a closed standard stream would open a file or a counter in its place. What stands there instead
 * refuses: reading fails, and so does writing. */
static bool hold_places(void)
{
	for (int fd = 0; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd)
			return false;
	return true;
}

int main(int argc, char **argv)
{
	const char *slash = argc ? strrchr(argv[0], '/') : NULL;
	const char *name = slash ? slash + 1 : argc ? argv[0] : "tally";
	struct cmd_ctx cx = { .name = strcmp(name, "dtrace") ? "tally" : "dtrace" };

	if (!hold_places())
		return ST_FAILED;
	catch_failed_writes();
	setlocale(LC_CTYPE, ""); /* not LC_NUMERIC: numbers look the same everywhere */
	if (!strcmp(cx.name, "dtrace")) {
		int status = keep_rights(&cx, main_find("trace")->rights);
		return status == GO_ON ? cmd_trace(&cx, argc, argv) : status;
	}
	if (argc < 2) {
		struct buf b = { 0 };
		main_put_usage(&b);
		fwrite(b.p ? b.p : "", 1, b.n, stderr);
		buf_free(&b);
		return ST_USAGE;
	}
	return run_word(&cx, argc, argv);
}
