/* output_test_int.h: a platform whose notes and answers a test collects. */
#ifndef TALLY_ASK_OUTPUT_TEST_INT_H
#define TALLY_ASK_OUTPUT_TEST_INT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/base.h"
#include <tally/platform.h>

/* Appends to a struct buf: for .note and .out of options. */
static inline int buf_take(void *arg, const char *p, size_t n)
{
	buf_put(arg, p, n);
	return 0;
}

static inline const char *buf_text(const struct buf *b)
{
	return b->p ? b->p : "";
}

/* The numbers of a line of text, from its `skip`th word on; units and thousands' commas aside. */
static inline uint32_t line_numbers(const char *line, uint32_t skip, double *number, uint32_t most)
{
	const size_t length = strcspn(line, "\n");
	char words[256], *save = NULL, *end;
	size_t used = 0;
	uint32_t n = 0;

	assert_true(length < sizeof(words));
	for (size_t i = 0; i < length; i++)
		if (line[i] != ',')
			words[used++] = line[i];
	words[used] = '\0';
	for (char *w = strtok_r(words, " ", &save); w; w = strtok_r(NULL, " ", &save)) {
		const double d = strtod(w, &end);

		if (skip)
			skip--;
		else if (!*end && n < most)
			number[n++] = d;
	}
	return n;
}

/* The platform `on`, NULL: this machine, with its notes in `notes`. */
static inline struct tally_platform *platform_open_noted(const char *on, struct buf *notes)
{
	const struct tally_platform_opts o = { .size = sizeof(o), .on = on, .note = buf_take, .arg = notes };
	struct tally_platform *p;

	if (tally_platform_open(&p, &o) != 0)
		fail_msg("%s: %s", on ? on : "this machine", tally_platform_error(p));
	return p;
}

#endif
