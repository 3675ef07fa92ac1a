/* traced_test_int.h: programs of a service that run in the vm: they fire when a test says so, and time is the
 * test's. */
#ifndef TALLY_SERVE_TRACED_TEST_INT_H
#define TALLY_SERVE_TRACED_TEST_INT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "serve/serve_int.h"

/* What a service has around it: .arg of its options. */
struct traced_host {
	uint64_t now_ns;  /* stands still until a test moves it */
	char notes[4096]; /* all that was noted */
};

static inline uint64_t traced_host_clock(void *arg)
{
	return ((struct traced_host *)arg)->now_ns;
}

static inline int traced_host_note(void *arg, const char *text, size_t n)
{
	struct traced_host *h = arg;
	const size_t have = strlen(h->notes);

	snprintf(h->notes + have, sizeof(h->notes) - have, "%.*s", (int)n, text);
	return 0;
}

/* The program of this path, without its file: BEGIN has fired. */
static inline struct program *traced_open(struct tally_serve *s, const char *path, const char *text)
{
	const struct tally_trace_opts o = { .size = sizeof(o),
					    .flags = TALLY_TRACE_VM | TALLY_TRACE_SUMS | TALLY_TRACE_PRINTA_ONLY };
	struct program **slot = VEC_NEW(s->program, s->nprograms, s->capprograms);

	assert_non_null(slot);
	assert_int_equal(program_open(s, path, slot), 0);
	assert_int_equal(tally_trace_open(&(*slot)->trace, &o), 0);
	assert_int_equal(tally_trace_option((*slot)->trace, "quiet", NULL), 0);
	assert_int_equal(tally_trace_source((*slot)->trace, path, text, strlen(text)), 0);
	if (tally_trace_compile((*slot)->trace) < 0)
		fail_msg("%s", tally_trace_error((*slot)->trace));
	(*slot)->generation = 1;
	assert_int_equal(program_start(*slot), 0);
	return *slot;
}

/* Time passes there until its tick probe has fired once more. */
static inline void traced_tick(struct program *p)
{
	assert_int_equal(tally_trace_work(p->trace, 0), 0);
}

#endif
