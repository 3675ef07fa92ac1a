/*
 * run_test_int.h: a whole run of a script on a platform, for tests.
 */
#ifndef TALLY_SESSION_RUN_TEST_INT_H
#define TALLY_SESSION_RUN_TEST_INT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "session/session_int.h"

struct result {
	struct buf out, notes;
	struct buf printed; /* what the program prints where the answer is one document */
	int rc, status;
	char error[512], reason[512];
};

static inline int take_out(void *arg, const char *text, size_t n)
{
	buf_put(&((struct result *)arg)->out, text, n);
	return 0;
}

static inline int take_note(void *arg, const char *text, size_t n)
{
	buf_put(&((struct result *)arg)->notes, text, n);
	buf_putc(&((struct result *)arg)->notes, '\n');
	return 0;
}

static inline int whole_run(struct tally_trace *t, const char *on, const char *script)
{
	int rc = tally_trace_on(t, on);

	if (rc < 0 || (rc = tally_trace_option(t, "quiet", NULL)) < 0 ||
	    (rc = tally_trace_source(t, NULL, script, strlen(script))) < 0 || (rc = tally_trace_compile(t)) < 0 ||
	    (rc = tally_trace_go(t)) < 0)
		return rc;
	while ((rc = tally_trace_work(t, -1)) == 0)
		;
	return rc < 0 ? rc : tally_trace_stop(t);
}

static inline void run(struct result *r, const char *on, const char *script)
{
	struct tally_trace_opts o = { .size = sizeof(o), .out = take_out, .note = take_note, .arg = r };
	struct tally_trace *t;

	*r = (struct result){ 0 };
	assert_int_equal(tally_trace_open(&t, &o), 0);
	r->rc = whole_run(t, on, script);
	r->status = tally_trace_status(t);
	snprintf(r->error, sizeof(r->error), "%s", tally_trace_error(t));
	snprintf(r->reason, sizeof(r->reason), "%s", tally_trace_reason(t));
	tally_trace_close(t);
}

static inline void drop(struct result *r)
{
	buf_free(&r->out);
	buf_free(&r->notes);
	buf_free(&r->printed);
}

#endif
