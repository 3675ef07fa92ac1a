/*
 * error.c: what each error code of libtally means.
 *
 *	cc error.c -ltally && ./a.out
 *
 * A handle's own words say more (tally_trace_error() and the like); these are for programs that keep only the code.
 */
#include <stdio.h>
#include <tally/error.h>

static const struct {
	int code;
	const char *name;
} errors[] = {
#define X(tag, text) { TALLY_E##tag, #tag },
	TALLY_ERRORS(X)
#undef X
};

int main(void)
{
	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++)
		printf("%3d  TALLY_E%-8s %s\n", -errors[i].code, errors[i].name, tally_strerror(-errors[i].code));
	return 0;
}
