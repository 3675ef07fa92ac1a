/*
 * err.c: one shape of error: a code and the words for it.  The first error
 * stays, since what follows from it explains less.
 */
#include <stdio.h>

#include "base/base.h"

int err_setv(struct err *e, enum tally_err code, const char *fmt, va_list ap)
{
	if (!e || e->code)
		return -(int)code;
	e->code = (int)code;
	vsnprintf(e->text, sizeof(e->text), fmt, ap);
	return -(int)code;
}

int err_set(struct err *e, enum tally_err code, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	(void)err_setv(e, code, fmt, ap);
	va_end(ap);
	return -(int)code;
}

int err_oom(struct err *e)
{
	return err_set(e, TALLY_ENOMEM, "%s", tally_strerror(TALLY_ENOMEM));
}

const char *tally_strerror(int err)
{
	switch (err < 0 ? -(unsigned)err : (unsigned)err) {
	case TALLY_OK:
		return "no error";
#define X(tag, text)       \
	case TALLY_E##tag: \
		return text;
		TALLY_ERRORS(X)
#undef X
	}
	return "unknown error";
}
