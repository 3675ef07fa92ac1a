/*
 * later.c: D that is understood and doesn't run yet.
 *
 * if and else are parsed whole, so that a slip inside them is a syntax error, and are refused by name when the clause
 * that holds them is complete.  Of several in one, the first is named: it is what the reader meets first.
 */
#include "dlang/parse_int.h"
#include "dlang/type_int.h"

#include <stdarg.h>

/* ---- refusing ------------------------------------------------------------ */

int later(struct parser *ps, const struct d_token *where, const char *fmt, ...)
{
	struct buf b = { 0 };
	va_list ap;
	if (ps->refused != NULL && ps->refused_at.start < where->start)
		return 0;
	va_start(ap, fmt);
	buf_vprintf(&b, fmt, ap);
	va_end(ap);
	ps->refused_at = *where;
	ps->refused = b.failed ? NULL : arena_strndup(&ps->u->arena, b.n != 0 ? b.p : "", b.n);
	buf_free(&b);
	return ps->refused == NULL ? d_nomem(ps->u) : 0;
}

int later_refuse(struct parser *ps)
{
	if (ps->refused == NULL)
		return 0;
	return d_fail(ps->u, ps->refused_at.line, D_UNSUPPORTED, "%s", ps->refused);
}

int kernel_type(struct parser *ps)
{
	return d_fail(ps->u, ps->tok.line, D_UNSUPPORTED, "kernel types are not known where this runs: %s",
		      ps->tok.str);
}
