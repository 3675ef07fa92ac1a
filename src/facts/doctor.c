/*
 * doctor.c: the rows of doctor.def.
 */
#include <stddef.h>

#include "facts/doctor.h"

static const struct doc_is rows[] = {
#define DOCTOR(row, group, main, title) [DOC_##row] = { #row, group, title, main },
#define DOCTOR_SAYS(row, cause, verdict, how, command, consequence)
#include "facts/doctor.def"
#undef DOCTOR
#undef DOCTOR_SAYS
};

static const struct doc_says says[DOC_ROWS][DOC_CAUSES] = {
#define DOCTOR(row, group, main, title)
#define DOCTOR_SAYS(row, cause, verdict, how, command, consequence) \
	[DOC_##row][DOC_##cause] = { DOC_IS_##verdict, DOC_##how, command, consequence },
#include "facts/doctor.def"
#undef DOCTOR
#undef DOCTOR_SAYS
};

const struct doc_is *doc_is(enum doc_row row)
{
	return &rows[row];
}

const struct doc_says *doc_says(enum doc_row row, enum doc_cause cause)
{
	static const struct doc_says fine = { DOC_IS_OK, DOC_NOTHING, "", "" };
	static const struct doc_says unknown = { DOC_IS_LIMITED, DOC_NOTHING, "", "it could not be tried" };
	const struct doc_says *s = &says[row][cause];

	if (cause == DOC_OK)
		return &fine;
	if (cause == DOC_UNKNOWN)
		return &unknown;
	return s->consequence ? s : NULL;
}
