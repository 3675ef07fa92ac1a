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
		uint8_t mark;  /* enum mark */
		double beyond; /* of a bound: what it is a bound of */
	} want[40];
	uint32_t n;
};
/* What a line may say of a figure, beside it: in lists of names. MARK_ANY: whatever it likes. */
enum mark { MARK_ANY, MARK_LEAST, MARK_MOST, MARK_ABOUT };

static void want_near(struct line *l, const char *key, double is, double within)
{
	l->want[l->n].key = key;
	l->want[l->n].is = is;
	l->want[l->n].mark = MARK_ANY;
	l->want[l->n++].within = within;
}

/* A figure that is told as `is`, with a mark; of a bound, it bounds `beyond`. */
static void want_marked(struct line *l, const char *key, double is, double within, enum mark mark, double beyond)
{
	want_near(l, key, is, within);
	l->want[l->n - 1].mark = (uint8_t)mark;
	l->want[l->n - 1].beyond = beyond;
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

/* The mark that is wanted and no other one, and a bound is one. */
static void line_judge_mark(const struct line *l, uint32_t i, double got)
{
	const char *key = l->want[i].key;
	const bool least = list_has(l->p, "at_least", key), most = list_has(l->p, "at_most", key),
		   about = list_has(l->p, "approximate", key);
	const double beyond = l->want[i].beyond, off = 1e-6 * beyond + 1e-9;
	bool right = true;

	switch (l->want[i].mark) {
	case MARK_LEAST:
		right = least && !most && !about && got <= beyond + off;
		break;
	case MARK_MOST:
		right = most && !least && !about && got >= beyond - off;
		break;
	case MARK_ABOUT:
		right = about && !least && !most;
		break;
	default:
		right = !least;
	}
	if (!right && !isnan(got))
		fail_msg("trace %u: %s is not marked as it should be (%u), or no bound of %f: %.*s", l->trace, key,
			 l->want[i].mark, beyond, (int)(strchr(l->p, '\n') - l->p), l->p);
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
			line_judge_mark(l, i, got);
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
