/*
 * differential_test_int.h: what tests share that run one D program in several ways and compare the answers.
 */
#ifndef TALLY_SESSION_DIFFERENTIAL_TEST_INT_H
#define TALLY_SESSION_DIFFERENTIAL_TEST_INT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/base.h"
#include <tally/tally.h>

static inline int answer_keep(void *arg, const char *text, size_t n)
{
	buf_put(arg, text, n);
	return 0;
}

/* Everything that a run of the script hands over, and its status. */
static inline int run_script(const char *path, const char *text, size_t n, uint32_t flags, struct buf *out)
{
	struct tally_trace_opts o = {
		.size = sizeof(o), .out = answer_keep, .note = answer_keep, .arg = out, .flags = flags
	};
	struct tally_trace *t = NULL;
	int rc = tally_trace_open(&t, &o);

	/* The CPU that a record names may differ: quiet leaves it out. */
	if (rc == 0 && (rc = tally_trace_option(t, "quiet", NULL)) >= 0 &&
	    (rc = tally_trace_source(t, path, text, n)) >= 0 && (rc = tally_trace_compile(t)) >= 0 &&
	    (rc = tally_trace_go(t)) >= 0)
		rc = tally_trace_stop(t);
	if (rc < 0)
		buf_printf(out, "failed: %d: %s (%s)\n", rc, tally_trace_error(t), tally_trace_reason(t));
	else
		buf_printf(out, "status %d\n", tally_trace_status(t));
	tally_trace_close(t);
	return rc;
}

/* Messages about faults come between what the program prints, and end where ERROR's clause begins. */
static inline void without_messages(struct buf *b)
{
	for (char *at = b->p, *end; (at = strstr(at, "error in ")) && (end = strstr(at, "ERROR"));)
		memmove(at, end, strlen(end) + 1);
}

#endif
