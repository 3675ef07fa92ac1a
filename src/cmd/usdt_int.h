/*
 * usdt_int.h: static probes that a program is to have: their definitions, a C header, an object file.
 *
 * The format of a probe in a file is that of .note.stapsdt, which every tracer of Linux reads; src/symbol/code.c has
 * its layout.
 */
#ifndef TALLY_CMD_USDT_INT_H
#define TALLY_CMD_USDT_INT_H

#include "base/base.h"

enum { USDT_ARGS_MOST = 10, USDT_NAME_MOST = 63, USDT_LINKED_MOST = 53 /* of a provider, for -G */ };

/* What a C compiler makes of an argument: its type, by which its size and sign are known. */
struct usdt_arg {
	const char *type; /* to which the header converts it: one that C has without headers */
	int bytes;        /* negative: signed */
};
struct usdt_probe {
	const char *name;
	struct usdt_arg arg[USDT_ARGS_MOST];
	uint32_t nargs;
};
struct usdt_provider {
	const char *name;
	struct usdt_probe *probe;
	uint32_t n, cap;
};
struct usdt_def {
	struct usdt_provider *provider;
	uint32_t n, cap;
	struct arena text;
};
/* The providers that a D source defines; clauses and other declarations are passed over. -TALLY_ESYNTAX with the line
 * in words, and with errtags the tag before it; -TALLY_ENOMEM. */
int usdt_def_parse(struct usdt_def *d, const char *text, size_t n, bool errtags, struct err *e);
void usdt_def_free(struct usdt_def *d);
/* name: of the header itself, for the guard around its lines. */
void usdt_header(const struct usdt_def *d, const char *name, const char *source, struct buf *to);

#endif
