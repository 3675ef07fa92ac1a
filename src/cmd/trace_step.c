/*
 * trace_step.c: what the options of `tally trace` do once the trace is open.
 *
 * A step returns GO_ON, or the exit status after having said what went wrong.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/trace_int.h"

#define SCRIPT_MAX (16u << 20)

extern char **environ;

/* ---- sources ------------------------------------------------------------------------------ */

int apply_clause(struct trace *c, const char *value)
{
	int rc = tally_trace_source(c->t, NULL, value, strlen(value));

	return rc < 0 ? trace_failed(c, rc) : GO_ON;
}

/* A script may come through a pipe, so its size is not known before. */
static int read_file(struct trace *c, const char *path, struct buf *to)
{
	char part[16384];
	int fd = strcmp(path, "-") ? open(path, O_RDONLY | O_CLOEXEC) :
				     fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	ssize_t n = fd < 0 ? -1 : 0;

	while (fd >= 0 && to->n <= SCRIPT_MAX && (n = read(fd, part, sizeof(part))) > 0)
		buf_put(to, part, (size_t)n);
	if (n < 0)
		complain(c->cx, "failed to open %s: %s", path, strerror(errno));
	else if (to->n > SCRIPT_MAX || to->failed)
		complain(c->cx, "%s: file too large for a script", path);
	if (fd >= 0)
		close(fd);
	return n < 0 || to->n > SCRIPT_MAX || to->failed ? ST_FAILED : GO_ON;
}

int apply_script(struct trace *c, const char *value)
{
	struct buf text = { 0 };
	int status = read_file(c, value, &text);

	if (status == GO_ON) {
		int rc = tally_trace_source(c->t, value, text.p ? text.p : "", text.n);
		status = rc < 0 ? trace_failed(c, rc) : GO_ON;
	}
	buf_free(&text);
	return status;
}

static int apply_description(struct trace *c, uint32_t part, const char *value)
{
	int rc = tally_trace_probe(c->t, part, value);

	return rc < 0 ? trace_failed(c, rc) : GO_ON;
}

int apply_provider(struct trace *c, const char *value)
{
	return apply_description(c, TALLY_PART_PROVIDER, value);
}

int apply_module(struct trace *c, const char *value)
{
	return apply_description(c, TALLY_PART_MODULE, value);
}

int apply_function(struct trace *c, const char *value)
{
	return apply_description(c, TALLY_PART_FUNCTION, value);
}

/* "12" or "12 /pred/ { ... }": the compiler knows ids as descriptions. */
int apply_id(struct trace *c, const char *value)
{
	size_t n = strspn(value, "0123456789"), behind = n + strspn(value + n, " \t\n");

	if (n && (behind > n || !value[behind] || strchr("/{", value[behind])))
		return apply_clause(c, value);
	complain(c->cx, "invalid probe specifier %s: invalid probe identifier %.*s: Unknown probe identifier", value,
		 n ? (int)n : 40, value);
	return ST_FAILED;
}

/* ---- -x and the environment ------------------------------------------------------------------ */

static int trace_set_option(struct trace *c, const char *name, const char *value)
{
	int rc = tally_trace_option(c->t, name, value && *value ? value : NULL);

	if (rc >= 0)
		return GO_ON;
	trace_failed(c, rc);
	return rc == -TALLY_EINVAL && !trace_is_dtrace(c) ? ST_USAGE : ST_FAILED;
}

int apply_option(struct trace *c, const char *value)
{
	const char *eq = strchr(value, '=');
	struct buf name = { 0 };

	buf_put(&name, value, eq ? (size_t)(eq - value) : strlen(value));
	int status = name.failed ? ST_FAILED : trace_set_option(c, name.p ? name.p : "", eq ? eq + 1 : NULL);
	buf_free(&name);
	return status;
}

/* Options of the command that are options of the language. */
#define APPLY_OPTION(name, option)                           \
	int apply_##name(struct trace *c, const char *value) \
	{                                                    \
		return trace_set_option(c, option, value);   \
	}
APPLY_OPTION(bufsize, "bufsize")
APPLY_OPTION(share, "cpcshare")
APPLY_OPTION(quiet, "quiet")
APPLY_OPTION(cpp, "cpp")
APPLY_OPTION(define, "define")
APPLY_OPTION(undef, "undef")
APPLY_OPTION(incdir, "incdir")
APPLY_OPTION(library, "libdir")
APPLY_OPTION(headers, "cpphdrs")
APPLY_OPTION(strictness, "stdc")
APPLY_OPTION(flow, "flowindent")
APPLY_OPTION(listing, "verbose")

/* Who names servers for debug files wants them asked. DTRACE_OPT_STRSIZE=64. What can't be set was meant for another
 * dtrace: the environment is not this run's alone. */
int apply_environment(struct trace *c)
{
	static const char prefix[] = "DTRACE_OPT_";
	const char *servers = secure_getenv("DEBUGINFOD_URLS");
	int status = servers && *servers ? trace_set_option(c, "debuginfod", NULL) : GO_ON;

	for (char **e = environ; *e && status == GO_ON; e++) {
		const char *value = strchr(*e, '=');
		struct buf name = { 0 };

		if (!value || strncmp(*e, prefix, strlen(prefix)))
			continue;
		for (const char *s = *e + strlen(prefix); s < value; s++)
			buf_putc(&name, *s >= 'A' && *s <= 'Z' ? (char)(*s + 'a' - 'A') : *s);
		if (name.failed)
			status = ST_FAILED;
		else if (tally_trace_option(c->t, name.p ? name.p : "", value[1] ? value + 1 : NULL) < 0) {
			complain(c->cx, "%s is ignored: %s", *e, tally_trace_error(c->t));
			if (*tally_trace_reason(c->t))
				complain(c->cx, "%s", tally_trace_reason(c->t));
		}
		buf_free(&name);
	}
	return status;
}
