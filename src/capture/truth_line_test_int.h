/*
 * truth_line_test_int.h: a line of a report in JSON against what it should say, for truth_test.c.
 *
 * A number whose name nobody expects fails, and so does one that is missing.
 */
#ifndef TALLY_CAPTURE_TRUTH_LINE_TEST_INT_H
#define TALLY_CAPTURE_TRUTH_LINE_TEST_INT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/base.h"
#include "capture/truth_value_test_int.h"

/* What a line should say. */
struct line {
	uint32_t trace;
	const char *p;
	struct {
		const char *key;
		double is, within;
	} want[40];
	uint32_t n;
};

static void want_near(struct line *l, const char *key, double is, double within)
{
	l->want[l->n].key = key;
	l->want[l->n].is = is;
	l->want[l->n++].within = within;
}

static void line_want(struct line *l, const char *key, uint64_t is)
{
	want_near(l, key, (double)is, 0);
}

/* A share, which is absent where there is nothing that it is of. */
static void want_share(struct line *l, const char *key, uint64_t part, uint64_t all)
{
	want_near(l, key, all ? (double)part / (double)all : (double)NAN, 1e-8);
}

/* Every number of the line is one that is wanted, and all that is wanted is there. */
static void line_judge(const struct line *l)
{
	const char *end = strchr(l->p, '\n');
	uint32_t found = 0;

	for (const char *p = l->p; p < end; p++) {
		char *after;
		uint32_t i = 0;
		if (*p != '"')
			continue;
		const char *close = strchr(p + 1, '"');
		if (close[1] != ':') {
			p = close;
			continue;
		}
		double got = strncmp(close + 2, "true", 4) == 0 ? 1 :
			     strncmp(close + 2, "null", 4) == 0 ? (double)NAN :
								  strtod(close + 2, &after);
		if (close[2] == '[') { /* names of figures */
			p = strchr(close, ']');
		} else if (close[2] != '"') {
			while (i < l->n && !key_at(p + 1, l->want[i].key))
				i++;
			if (i == l->n)
				fail_msg("trace %u: nobody knows %.40s: %.*s", l->trace, p, (int)(end - l->p), l->p);
			double is = l->want[i].is, within = l->want[i].within * is + 1e-9;
			found++;
			if (isnan(got) != isnan(is) || got < is - within || got > is + within)
				fail_msg("trace %u: %s should be %f: %.*s", l->trace, l->want[i].key, is,
					 (int)(end - l->p), l->p);
			p = close;
		} else {
			p = strchr(close + 3, '"');
		}
	}
	if (found != l->n)
		fail_msg("trace %u: %u figures, and %u should be: %.*s", l->trace, found, l->n, (int)(end - l->p),
			 l->p);
}

#endif
