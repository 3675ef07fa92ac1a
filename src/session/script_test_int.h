/*
 * script_test_int.h: a whole run of a script in the vm, for tests.
 */
#ifndef TALLY_SESSION_SCRIPT_TEST_INT_H
#define TALLY_SESSION_SCRIPT_TEST_INT_H

#include "session/run_test_int.h"

struct ask {
	const char *script;
	const char *file;       /* name of the source; NULL: -n */
	const char *options[6]; /* "name=value" */
	enum tally_format format;
	char *const *argv;
	int argc;
};

static inline int take_print(void *arg, const char *text, size_t n)
{
	buf_put(&((struct result *)arg)->printed, text, n);
	return 0;
}

static inline int set_option(struct tally_trace *t, const char *text)
{
	char name[64];
	const char *value = strchr(text, '=');

	snprintf(name, sizeof(name), "%.*s", (int)strcspn(text, "="), text);
	return tally_trace_option(t, name, value ? value + 1 : NULL);
}

static inline int script_prepare(struct tally_trace *t, const struct ask *a)
{
	int rc = tally_trace_source(t, a->file, a->script, strlen(a->script));

	for (size_t i = 0; rc >= 0 && i < COUNT(a->options) && a->options[i]; i++)
		rc = set_option(t, a->options[i]);
	if (rc >= 0 && a->argv)
		rc = tally_trace_args(t, "script", a->argc, a->argv);
	return rc < 0 ? rc : tally_trace_compile(t);
}

static inline int script_run(struct tally_trace *t, const struct ask *a)
{
	int rc = script_prepare(t, a);

	if (rc >= 0)
		rc = tally_trace_go(t);
	if (rc < 0)
		return rc;
	do
		rc = tally_trace_work(t, -1);
	while (!rc);
	return rc < 0 ? rc : tally_trace_stop(t);
}

/* A whole run; *keep: the trace stays open for what comes after. */
static inline void ask_keep(const struct ask *a, struct result *r, struct tally_trace **keep)
{
	struct tally_trace_opts o = { .size = sizeof(o),
				      .out = take_out,
				      .note = take_note,
				      .print = take_print,
				      .arg = r,
				      .format = a->format,
				      .flags = TALLY_TRACE_VM };
	struct tally_trace *t;

	*r = (struct result){ 0 };
	r->rc = tally_trace_open(&t, &o);
	if (r->rc < 0)
		return;
	r->rc = script_run(t, a);
	r->status = tally_trace_status(t);
	snprintf(r->error, sizeof(r->error), "%s", tally_trace_error(t));
	snprintf(r->reason, sizeof(r->reason), "%s", tally_trace_reason(t));
	if (keep)
		*keep = t;
	else
		tally_trace_close(t);
}

static inline const char *text_of(const struct buf *b)
{
	return b->p ? b->p : "";
}

/* Runs quietly and compares all that came out. */
static inline void script_expect(const char *script, const char *out)
{
	const struct ask a = { .script = script, .options = { "quiet" } };
	struct result r;

	ask_keep(&a, &r, NULL);
	assert_string_equal(r.error, "");
	assert_int_equal(r.rc, 0);
	assert_string_equal(text_of(&r.notes), "");
	assert_string_equal(text_of(&r.out), out);
	drop(&r);
}

static inline void expect_error(const struct ask *a, int code, const char *error)
{
	struct result r;

	ask_keep(a, &r, NULL);
	assert_int_equal(r.rc, -code);
	assert_string_equal(r.error, error);
	drop(&r);
}

#endif
