/*
 * ptt.c: what the verbs over a PCIe trace share.
 *
 * The progress line appears on a terminal only, and only when there has been time
 * to get impatient; it is wiped out before anything else is said.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/ptt_int.h"

#define PATIENCE_MS 700
#define EVERY_MS 150

/* ---- options -------------------------------------------------------------------------- */

int ptt_take_format(void *state, const char *value)
{
	struct ptt_args *a = state;

	a->o.raw = !strcmp(value, "4dw") ? 4 : !strcmp(value, "8dw") ? 8 : 0;
	if (a->o.raw)
		return GO_ON;
	return refuse_usage(a->cx, "--format: invalid value '%s' (expected 4dw or 8dw)", value);
}

int ptt_take_time(void *state, const char *value)
{
	struct ptt_args *a = state;

	a->o.time = !strcmp(value, "abs") ? TALLY_PTT_TIME_ABS : !strcmp(value, "delta") ? TALLY_PTT_TIME_DELTA : 0;
	if (a->o.time)
		return GO_ON;
	return refuse_usage(a->cx, "--time: invalid value '%s' (expected abs or delta)", value);
}

int ptt_take_tag14(void *state, const char *value)
{
	struct ptt_args *a = state;

	(void)value;
	a->o.flags |= TALLY_PTT_TAG14;
	return GO_ON;
}

int ptt_take_output(void *state, const char *value)
{
	struct ptt_args *a = state;

	if (a->output)
		return refuse_usage(a->cx, "-o can be given only once");
	if (!*value) {
		complain(a->cx, "-o: empty file name; give a name, or omit -o");
		return ST_USAGE;
	}
	a->output = value;
	return GO_ON;
}

int ptt_separator(struct ptt_args *a, const char *value, char *ret)
{
	if (!strcmp(value, "\\t"))
		value = "\t";
	if (strlen(value) == 1 && !strchr("\"\r\n", value[0])) {
		*ret = value[0];
		return GO_ON;
	}
	return refuse_usage(a->cx, "-x: invalid separator '%s' (expected one character)", value);
}

/* ---- the progress line ------------------------------------------------------------------ */

void ptt_args_wipe(struct ptt_args *a)
{
	if (a->on_screen)
		fputs("\r\033[K", stderr);
	a->on_screen = false;
}

bool ptt_args_is_due(struct ptt_args *a)
{
	int64_t now = clock_ms();

	if (!a->started_ms)
		a->started_ms = now;
	if (now - a->started_ms < PATIENCE_MS || now - a->shown_ms < EVERY_MS)
		return false;
	a->shown_ms = now;
	a->on_screen = true;
	return true;
}

int ptt_args_progress(void *arg, uint64_t done, uint64_t total)
{
	struct ptt_args *a = arg;

	if (!ptt_args_is_due(a))
		return 0;
	if (total)
		fprintf(stderr, "\r%s: %3.0f %% of %.1f MiB\033[K", a->reading.p, 100.0 * (double)done / (double)total,
			(double)total / 1048576);
	else
		fprintf(stderr, "\r%s: %.1f MiB\033[K", a->reading.p, (double)done / 1048576);
	return 0;
}

int ptt_args_note(void *arg, const char *text, size_t n)
{
	struct ptt_args *a = arg;

	ptt_args_wipe(a);
	complain(a->cx, "%.*s", (int)n, text);
	return 0;
}

/* ---- in and out ----------------------------------------------------------------------------- */

int ptt_args_said(struct ptt_args *a, const char *words, int rc)
{
	ptt_args_wipe(a);
	if (a->write_error)
		return write_failed(a->cx, a->output, a->write_error);
	complain(a->cx, "%s", *words ? words : tally_strerror(rc));
	return rc == -TALLY_EINVAL  ? ST_USAGE :
	       rc == -TALLY_ENOTSUP ? ST_NOTSUP :
	       rc == -TALLY_EPERM   ? ST_NOPERM :
				      ST_FAILED;
}

int ptt_args_failed(struct ptt_args *a, const struct tally_ptt *t, int rc)
{
	return ptt_args_said(a, t ? tally_ptt_error(t) : "", rc);
}

int ptt_args_file(struct ptt_args *a, struct tally_ptt **ret, const char *path)
{
	int rc;

	a->o.size = sizeof(a->o);
	a->o.note = ptt_args_note;
	a->o.progress = isatty(STDERR_FILENO) ? ptt_args_progress : NULL;
	a->o.arg = a;
	buf_clear(&a->reading);
	buf_plain(&a->reading, path, strlen(path));
	rc = tally_ptt_open(ret, &a->o);
	if (rc >= 0)
		rc = tally_ptt_file(*ret, path);
	return rc < 0 ? ptt_args_failed(a, *ret, rc) : GO_ON;
}

/* Of "-" what a redirection made of it. */
static bool file_of(const char *path, int standard, struct stat *st)
{
	return (path && strcmp(path, "-") ? stat(path, st) : fstat(standard, st)) == 0 && S_ISREG(st->st_mode);
}

/* A trace can be large and the only one: it must not be emptied by a slip. */
int ptt_args_spare(struct ptt_args *a, char *const *path, int n)
{
	struct stat out, in;

	for (int i = 0; i < n && file_of(a->output, STDOUT_FILENO, &out); i++)
		if (file_of(path[i], STDIN_FILENO, &in) && in.st_dev == out.st_dev && in.st_ino == out.st_ino)
			return refuse_usage(a->cx, "%s%s would overwrite the trace",
					    a->output ? "-o " : "standard output", a->output ? a->output : "");
	return GO_ON;
}

int ptt_args_output(struct ptt_args *a, char *const *path, int n)
{
	int status = ptt_args_spare(a, path, n);

	a->fd = STDOUT_FILENO;
	a->origin = FILE_INHERITED;
	if (status != GO_ON || !a->output || !strcmp(a->output, "-"))
		return status;
	a->fd = file_write_open(a->output, &a->origin);
	if (a->fd >= 0)
		return GO_ON;
	complain(a->cx, "failed to open %s: %s", a->output, strerror(errno));
	return ST_FAILED;
}

/* What was in the output before goes when there is something to take its place, if tally opened it by its name. What is
 * no file can't be emptied. */
static void output_begin(struct ptt_args *a)
{
	if (!a->begun && a->origin != FILE_INHERITED)
		(void)!ftruncate(a->fd, 0);
	a->begun = true;
}

int ptt_args_close(struct ptt_args *a, int status)
{
	ptt_args_wipe(a);
	buf_free(&a->reading);
	if (a->fd <= STDERR_FILENO)
		return status;
	if (status == ST_OK)
		output_begin(a);
	else if (a->origin == FILE_MADE && !a->begun)
		unlink(a->output);
	if (close(a->fd) && status == ST_OK) {
		complain(a->cx, "failed to write to %s: %s", a->output, strerror(errno));
		status = ST_FAILED;
	}
	return status;
}

static int write_all(struct ptt_args *a, const char *text, size_t n)
{
	while (n) {
		ssize_t done = write(a->fd, text, n);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0) {
			a->write_error = done < 0 ? errno : ENOSPC;
			return -1;
		}
		text += done;
		n -= (size_t)done;
	}
	return 0;
}

int ptt_args_write(void *arg, const char *text, size_t n)
{
	struct ptt_args *a = arg;
	struct buf shown = { 0 };
	int rc;

	output_begin(a);
	if (a->fd == STDOUT_FILENO)
		ptt_args_wipe(a);
	if (!isatty(a->fd))
		return write_all(a, text, n);
	put_guarded(&shown, a->fd, text, n);
	if (shown.failed)
		a->write_error = ENOMEM;
	rc = shown.failed ? -1 : write_all(a, shown.p ? shown.p : "", shown.n);
	buf_free(&shown);
	return rc;
}
