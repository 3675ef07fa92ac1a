/*
 * trace.c: the calls of tally.h.
 *
 * A trace has four stages (open, compiled, running, stopped) and each call
 * says in which it may come; a call out of order is -TALLY_ESTATE and changes
 * nothing.  The words of a failure live in the handle until the next call that
 * can fail.  Answers gather in one buffer, which is handed over before a call
 * returns and whenever it is large: whoever writes them decides about blocking.
 */
#include <stdio.h>
#include <string.h>

#include "session/session_int.h"

#ifndef TALLY_VERSION
#define TALLY_VERSION "unknown" /* the Makefile says it */
#endif
#define FLUSH_BYTES (64u << 10)
#define KNOWN_FLAGS                                                                                  \
	(TALLY_TRACE_DESTRUCTIVE | TALLY_TRACE_EMPTY_OK | TALLY_TRACE_VM | TALLY_TRACE_VERBOSE |     \
	 TALLY_TRACE_TERMINAL | TALLY_TRACE_HARMLESS | TALLY_TRACE_COMPAT | TALLY_TRACE_UNNUMBERED | \
	 TALLY_TRACE_SUMS | TALLY_TRACE_PRINTA_ONLY)

/* ---- how answers and errors leave ---------------------------------------- */

int trace_flush(struct tally_trace *t)
{
	tally_write_fn *out = t->emit.ops->finish ? t->o.print : t->o.out;
	int rc = 0;

	if (t->out.failed)
		return trace_nomem(t);
	if (t->out.n && t->file.put)
		rc = t->file.put(t->file.arg, t->out.p, t->out.n);
	else if (t->out.n && out)
		rc = out(t->o.arg, t->out.p, t->out.n);
	buf_clear(&t->out);
	return rc < 0 ? trace_fail(t, TALLY_EIO, "failed to write the output") : 0;
}

int trace_finish(struct tally_trace *t)
{
	struct buf document = { 0 };
	int rc = trace_flush(t);

	if (t->emit.ops->finish)
		t->emit.ops->finish(&t->emit, &document);
	if (rc >= 0 && document.failed)
		rc = trace_nomem(t);
	if (rc >= 0 && document.n && t->o.out && t->o.out(t->o.arg, document.p, document.n) < 0)
		rc = trace_fail(t, TALLY_EIO, "failed to write the output");
	buf_free(&document);
	return rc;
}

static void trace_file_close(struct tally_trace *t)
{
	if (t->file.put && file_out_close(&t->file) < 0)
		(void)trace_fail(t, TALLY_EIO, "failed to write the output");
	t->file = (struct bytes_out){ 0 };
}

int trace_redirect(struct tally_trace *t, const char *path)
{
	struct bytes_out file = { 0 };
	struct err e = { 0 };
	int rc = trace_flush(t);

	if (rc >= 0 && *path)
		rc = file_out_open(&file, path, &e);
	if (rc < 0 && e.code) {
		trace_note(t, "freopen() of \"%s\" failed: %s", path, e.text);
		return 0;
	}
	if (rc < 0)
		return rc;
	trace_file_close(t);
	t->file = file;
	t->packets_of = 0;
	return 0;
}

int trace_empty_file(struct tally_trace *t)
{
	int rc = trace_flush(t);

	t->packets_of = 0;
	if (rc >= 0 && (!t->file.put || file_out_empty(&t->file) < 0))
		trace_note(t, "ftruncate() has no file to empty: freopen() names one");
	return rc;
}

int trace_flush_some(struct tally_trace *t)
{
	return t->out.n >= FLUSH_BYTES || t->out.failed ? trace_flush(t) : 0;
}

static void trace_say(void *arg, const char *s, size_t n)
{
	struct tally_trace *t = arg;

	if (!t->o.note)
		return;
	(void)trace_flush(t); /* what came before is seen before */
	(void)t->o.note(t->o.arg, s, n);
}

void trace_note_buf(struct tally_trace *t, struct buf *b)
{
	if (b->failed) {
		(void)trace_nomem(t);
	} else {
		t->emit.ops->note(&t->emit, b->p, b->n);
	}
	buf_free(b);
}

void trace_note(struct tally_trace *t, const char *fmt, ...)
{
	struct buf b = { 0 };
	va_list ap;

	va_start(ap, fmt);
	buf_vprintf(&b, fmt, ap);
	va_end(ap);
	trace_note_buf(t, &b);
}

int trace_fail(struct tally_trace *t, enum tally_err code, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	(void)err_setv(&t->err, code, fmt, ap);
	va_end(ap);
	return -(int)code;
}

int trace_nomem(struct tally_trace *t)
{
	return err_oom(&t->err);
}

void probe_text(struct buf *to, const struct probe *p)
{
	buf_printf(to, "%s:%s:%s:%s", p->prov_name, p->mod, p->func, p->name);
}

/* ---- life -------------------------------------------------------------------- */

const char *tally_version(void)
{
	return TALLY_VERSION;
}

int tally_trace_open(struct tally_trace **ret, const struct tally_trace_opts *opts)
{
	struct tally_trace_opts o = { 0 };
	struct tally_trace *t;

	if (opts && (!opts_take(&o, sizeof(o), opts) || o.flags & ~KNOWN_FLAGS))
		return -TALLY_EINVAL;
	t = mem_alloc(sizeof(*t));
	if (!t)
		return -TALLY_ENOMEM;
	if (an_emit_open(&t->emit, &t->out, &(struct an_how){ .format = o.format }) < 0 || !t->emit.ops->agg) {
		mem_free(t);
		return -TALLY_EINVAL;
	}
	t->emit.say = trace_say;
	t->emit.arg = t;
	t->o = o;
	t->pidfd = -1;
	t->child = (struct k_child){ .pidfd = -1, .go_fd = -1, .err_fd = -1 };
	t->kind = o.flags & TALLY_TRACE_VM ? &engine_vm : &engine_kernel;
	options_init(&t->opt);
	t->opt.v[OPT_zdefs] = !!(o.flags & TALLY_TRACE_EMPTY_OK);
	t->opt.v[OPT_destructive] = !!(o.flags & TALLY_TRACE_DESTRUCTIVE);
	*ret = t;
	return 0;
}

void tally_trace_close(struct tally_trace *t)
{
	if (!t)
		return;
	trace_file_close(t);
	run_close(t);
	compile_undo(t);
	if (t->records)
		t->records->ops->close(t->records);
	for (uint32_t i = 0; i < t->nsrc; i++) {
		mem_free(t->src[i].name);
		mem_free(t->src[i].text);
		mem_free(t->src[i].label);
	}
	for (uint32_t i = 0; i < t->narg; i++)
		mem_free(t->arg[i]);
	options_free(&t->opt);
	mem_free(t->src);
	mem_free(t->arg);
	mem_free(t->arg_used);
	mem_free(t->command);
	mem_free(t->dump);
	buf_free(&t->out);
	buf_free(&t->tmp);
	mem_free(t);
}

const char *tally_trace_error(const struct tally_trace *t)
{
	return t->err.text;
}

/* dtrace(1) has one line; that cpc's has a second is in its specification. */
const char *tally_trace_reason(const struct tally_trace *t)
{
	return t->o.flags & TALLY_TRACE_COMPAT && strncmp(t->why.text, "cpc: ", 5) ? "" : t->why.text;
}

/* Every call that can fail starts here. */
static int trace_enter(struct tally_trace *t, enum stage least, enum stage most)
{
	t->err.code = t->why.code = 0;
	t->err.text[0] = t->why.text[0] = '\0';
	if (t->stage < least)
		return trace_fail(t, TALLY_ESTATE, "a call out of order: %s comes first",
				  t->stage == ST_OPEN     ? "tally_trace_compile()" :
				  t->stage == ST_COMPILED ? "tally_trace_go()" :
							    "tally_trace_stop()");
	if (t->stage > most)
		return trace_fail(t, TALLY_ESTATE, "a call out of order: it is too late, the trace %s",
				  t->stage == ST_COMPILED ? "is compiled" :
				  t->stage == ST_RUNNING  ? "is running" :
							    "has ended");
	return 0;
}

/* And ends here: what was answered is handed over also when the call failed. */
static int trace_leave(struct tally_trace *t, int rc)
{
	(void)trace_flush(t);
	return rc >= 0 && t->err.code ? -t->err.code : rc;
}

/* ---- what is asked ------------------------------------------------------------- */

int tally_trace_option(struct tally_trace *t, const char *name, const char *value)
{
	struct err e = { 0 };
	int rc = trace_enter(t, ST_OPEN, ST_COMPILED);

	if (rc < 0)
		return rc;
	rc = options_set(&t->opt, name, value, &e, &t->why);
	if (t->o.flags & TALLY_TRACE_COMPAT)
		t->why = (struct err){ 0 };
	return rc < 0 ? trace_fail(t, -rc, "failed to set -x %s: %s", name, e.text) : 0;
}

static char *copy_n(const char *s, size_t n)
{
	char *p = mem_alloc(n + 1);

	if (p)
		memcpy(p, s, n);
	return p;
}

static int add_source(struct tally_trace *t, const char *name, const char *text, size_t n, uint32_t part)
{
	struct source *s;
	int rc = trace_enter(t, ST_OPEN, ST_OPEN);

	if (rc < 0)
		return rc;
	s = VEC_NEW(t->src, t->nsrc, t->capsrc);
	if (!s)
		return trace_nomem(t);
	s->part = (uint8_t)part;
	s->text = copy_n(text, n);
	s->n = n;
	s->name = name ? mem_strdup(name) : NULL;
	s->label = name ? mem_strdup(name) : s->text ? copy_n(s->text, strcspn(s->text, "{/;")) : NULL;
	return s->text && s->label && (s->name || !name) ? 0 : trace_nomem(t);
}

int tally_trace_source(struct tally_trace *t, const char *name, const char *text, size_t n)
{
	size_t mark = text_mark(text, n);

	return add_source(t, name, text + mark, n - mark, TALLY_PART_NAME);
}

int tally_trace_probe(struct tally_trace *t, uint32_t part, const char *text)
{
	if (part > TALLY_PART_NAME)
		return trace_fail(t, TALLY_EINVAL, "a description has no part %u", part);
	return add_source(t, NULL, text, strlen(text), part);
}

int tally_trace_args(struct tally_trace *t, const char *script, int argc, char *const *argv)
{
	int rc = trace_enter(t, ST_OPEN, ST_OPEN);

	if (rc < 0)
		return rc;
	if (t->narg)
		return trace_fail(t, TALLY_ESTATE, "the arguments of the script were given before");
	t->arg_used = mem_alloc(argc + 1);
	if (!t->arg_used)
		return trace_nomem(t);
	for (int i = -1; i < argc; i++) {
		char **p = VEC_NEW(t->arg, t->narg, t->caparg);

		if (!p || !(*p = mem_strdup(i < 0 ? script : argv[i])))
			return trace_nomem(t);
	}
	return 0;
}

static int trace_take_text(struct tally_trace *t, char **to, const char *text, const char *given_before)
{
	int rc = trace_enter(t, ST_OPEN, ST_OPEN);

	if (rc < 0)
		return rc;
	if (*to)
		return trace_fail(t, TALLY_ESTATE, "%s", given_before);
	*to = mem_strdup(text);
	return *to ? 0 : trace_nomem(t);
}

int tally_trace_command(struct tally_trace *t, const char *command)
{
	return trace_take_text(t, &t->command, command, "one command can be traced, and one was given before");
}

int tally_trace_dump(struct tally_trace *t, const char *pass)
{
	return trace_take_text(t, &t->dump, pass, "the result of one pass is printed, and one was given before");
}

int tally_trace_on(struct tally_trace *t, const char *platform)
{
	int rc = trace_enter(t, ST_OPEN, ST_OPEN);

	if (rc < 0)
		return rc;
	if (t->has_platform)
		return trace_fail(t, TALLY_ESTATE, "a trace runs on one platform, and one was given before");
	if (!strcmp(platform, "local") || !strcmp(platform, "vm")) {
		t->kind = *platform == 'v' ? &engine_vm : &engine_kernel;
		t->has_platform = true;
		return 0;
	}
	rc = (hv_records.takes(platform) ? &hv_records : &file_records)->open(&t->records, t, platform, &t->err);
	if (rc < 0)
		return trace_fail(t, -rc, "%s", tally_strerror(rc));
	t->kind = &engine_vm;
	t->has_platform = true;
	return 0;
}

int tally_trace_process(struct tally_trace *t, int pid)
{
	int fd, rc = trace_enter(t, ST_OPEN, ST_OPEN);
	struct err e = { 0 };

	if (rc < 0)
		return rc;
	if (t->pid)
		return trace_fail(t, TALLY_ESTATE, "one process can be traced, and one was given before");
	fd = k_process_fd(pid, &e);
	if (fd == -TALLY_EINVAL && t->o.flags & TALLY_TRACE_COMPAT)
		return trace_fail(t, TALLY_EINVAL, "No such process");
	if (fd < 0)
		return trace_fail(t, -fd, "failed to grab pid %d: %s", pid, e.text);
	t->pid = pid;
	t->pidfd = fd;
	return 0;
}

/* ---- a trace's life --------------------------------------------------------------- */

int tally_trace_compile(struct tally_trace *t)
{
	int rc = trace_enter(t, ST_OPEN, ST_OPEN);

	if (rc < 0)
		return rc;
	rc = compile_sources(t);
	if (rc >= 0)
		rc = compile_image(t);
	if (rc < 0)
		compile_undo(t);
	else
		t->stage = ST_COMPILED;
	return trace_leave(t, rc);
}

int tally_trace_list(struct tally_trace *t, bool verbose)
{
	int rc = trace_enter(t, ST_OPEN, ST_STOPPED);

	return rc < 0 ? rc : trace_leave(t, list_probes(t, verbose));
}

int tally_trace_report(struct tally_trace *t)
{
	int rc = trace_enter(t, ST_COMPILED, ST_STOPPED);

	return rc < 0 ? rc : trace_leave(t, list_report(t));
}

int tally_trace_go(struct tally_trace *t)
{
	int rc = trace_enter(t, ST_COMPILED, ST_COMPILED);

	if (rc < 0)
		return rc;
	if (t->o.flags & TALLY_TRACE_HARMLESS && t->opt.v[OPT_destructive])
		return trace_leave(t, err_set(&t->err, TALLY_EPERM,
					      "destructive actions are not permitted to a program that has its "
					      "capabilities from its file (see SECURITY in tally(1)); run it as root"));
	rc = run_go(t);
	if (rc < 0)
		run_undo(t);
	else
		t->stage = ST_RUNNING;
	return trace_leave(t, rc);
}

int tally_trace_work(struct tally_trace *t, int timeout_ms)
{
	int rc = trace_enter(t, ST_RUNNING, ST_RUNNING);

	return rc < 0 ? rc : trace_leave(t, run_work(t, timeout_ms));
}

int tally_trace_stop(struct tally_trace *t)
{
	int rc = trace_enter(t, ST_RUNNING, ST_RUNNING);

	if (rc < 0)
		return rc;
	rc = run_stop(t);
	t->stage = ST_STOPPED;
	return trace_leave(t, rc);
}

int tally_trace_status(const struct tally_trace *t)
{
	/* dtrace(1) has no status of the command */
	return t->exited ? t->status : t->o.flags & TALLY_TRACE_COMPAT ? 0 : t->child_status;
}

struct trace_walk {
	int (*row)(void *arg, const struct tally_row *r);
	void *arg;
};

static int trace_walk_row(void *arg, const struct tally_row *r, uint64_t epoch)
{
	const struct trace_walk *w = arg;

	(void)epoch;
	return w->row(w->arg, r);
}

int tally_trace_walk(struct tally_trace *t, int (*row)(void *arg, const struct tally_row *r), void *arg)
{
	struct trace_walk w = { row, arg };
	int rc = trace_enter(t, ST_RUNNING, ST_STOPPED);

	return rc < 0 ? rc : aggs_walk(t, NULL, trace_walk_row, &w);
}

int session_walk_rows(struct tally_trace *t, bool (*wants)(void *arg, uint32_t number),
		      int (*row)(void *arg, const struct tally_row *r, uint64_t epoch), void *arg)
{
	int rc = trace_enter(t, ST_RUNNING, ST_STOPPED);

	return rc < 0 ? rc : aggs_walk(t, wants, row, arg);
}

int session_walk_aggregations(struct tally_trace *t, int (*each)(void *arg, uint32_t number, const struct an_agg *a),
			      void *arg)
{
	int rc = trace_enter(t, ST_RUNNING, ST_STOPPED);

	return rc < 0 ? rc : aggs_views(t, NULL, each, arg);
}

int tally_trace_aggregations(struct tally_trace *t, int (*each)(void *arg, const struct tally_aggregation *a),
			     void *arg)
{
	int rc = trace_enter(t, ST_COMPILED, ST_STOPPED);

	return rc < 0 ? rc : aggs_each(t, each, arg);
}

int tally_trace_fd(struct tally_trace *t)
{
	int rc = trace_enter(t, ST_RUNNING, ST_STOPPED);

	if (rc < 0)
		return rc;
	if (!t->eng->k)
		return trace_fail(t, TALLY_ENOTSUP, "a run in user space has no descriptor to wait for");
	rc = k_wait_fd(t->eng->k);
	return rc < 0 ? trace_fail(t, -rc, "failed to wait: %s", tally_strerror(rc)) : rc;
}

int tally_trace_drops(struct tally_trace *t, int (*each)(void *arg, const char *kind, uint64_t count), void *arg)
{
	int rc = trace_enter(t, ST_RUNNING, ST_STOPPED);

	return rc < 0 ? rc : drops_each(t, each, arg);
}

int tally_trace_losses(struct tally_trace *t, int (*each)(void *arg, const struct tally_loss *l), void *arg)
{
	int rc = trace_enter(t, ST_RUNNING, ST_STOPPED);

	if (rc >= 0 && t->stage == ST_RUNNING)
		rc = losses_take(t);
	for (uint32_t i = 0; rc >= 0 && i < t->nlost; i++) {
		const struct lost *l = &t->lost[i];
		struct tally_loss loss = { .cpu = l->cpu,
					   .counted = l->counted,
					   .period = l->period,
					   .firings = l->firings,
					   .lost = l->lost };

		buf_clear(&t->tmp);
		probe_text(&t->tmp, l->probe);
		if (t->tmp.failed)
			return trace_nomem(t);
		loss.probe = t->tmp.p;
		rc = each(arg, &loss);
	}
	return rc < 0 ? rc : 0;
}
