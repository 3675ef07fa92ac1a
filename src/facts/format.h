/*
 * format.h: the format strings of printf and printa, taken apart.
 *
 * The conversions are rows of format.def (letter, argument kind, what it
 * prints), from which this parser, the type checker and the help are made.
 */
#ifndef TALLY_FACTS_FORMAT_H
#define TALLY_FACTS_FORMAT_H

#include "base/base.h"

enum fmt_arg {
	FMT_NONE,   /* %% and plain text */
	FMT_INT,    /* d i o u x X c C p Y T: an integer */
	FMT_STRING, /* s S: a string or bytes */
	FMT_ADDR,   /* a A: kernel or user symbol; p is FMT_INT */
	FMT_STACK,  /* k */
	FMT_FLOAT,  /* e E f g G: a floating-point value */
};

struct fmt_spec {
	const char *text; /* literal text before the conversion (no NUL) */
	uint32_t text_len;
	char conv;                                /* its letter, '%' for %%, 0 for trailing text only */
	uint8_t arg;                              /* enum fmt_arg */
	bool left, plus, space, zero, alt, group; /* - + blank 0 # ' */
	bool agg;                                 /* %@: the value of an aggregation */
	bool width_star, prec_star;               /* * takes an int argument each, before the value */
	int width, prec;                          /* -1 when absent; at most FMT_WIDTH_MAX */
	uint8_t size;                             /* 1 hh, 2 h, 8 l ll L j z t, 0 none or w; D ignores it */
};

/* Widest field and longest precision, so that a format can't ask for unbounded output. */
#define FMT_WIDTH_MAX 65535

struct fmt {
	struct fmt_spec *spec;
	uint32_t n; /* 0 for "" */
};

/* Parses s (n bytes, escapes already replaced) into *ret (memory from a; text points into s, which
 * must stay).  Returns 0, -TALLY_EINVAL with the reason, -TALLY_ENOMEM. */
int fmt_parse(struct arena *a, const char *s, size_t n, struct fmt *ret, struct err *e);

/* A row of format.def. */
struct fmt_conv {
	char letter;
	uint8_t arg;       /* enum fmt_arg */
	const char *sizes; /* size letters it takes */
	const char *proto; /* what the type checker says it wants */
	const char *text;  /* what it prints, for the help */
};
const struct fmt_conv *fmt_conv(unsigned i);       /* i-th row, NULL past the last */
const struct fmt_conv *fmt_conv_find(char letter); /* NULL: no such conversion */

#endif
