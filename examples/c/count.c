/*
 * count.c: ask a question in D from C.
 *
 *	cc count.c -ltally && sudo ./a.out 'ls -l /'
 *
 * Which of the command's functions cause page faults, and how many?
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <tally/tally.h>

static int note(void *arg, const char *text, size_t n)
{
	(void)arg;
	fprintf(stderr, "count: %.*s\n", (int)n, text);
	return 0;
}

static int show(void *arg, const struct tally_row *r)
{
	(void)arg;
	printf("%10" PRId64 "  %s\n", r->value, r->key[0].text);
	return 0;
}

int main(int argc, char **argv)
{
	static const char program[] = "cpc:::page_faults-user-1 /pid == $target/ { @[ufunc(arg1)] = count(); }";
	struct tally_trace_opts opts = { .size = sizeof(opts), .note = note };
	struct tally_trace *t;
	int status = 1;

	if (tally_trace_open(&t, &opts) < 0)
		return 1;
	if (tally_trace_option(t, "quiet", NULL) < 0 || tally_trace_option(t, "dcpc_min_overflow", "1") < 0 ||
	    tally_trace_source(t, NULL, program, strlen(program)) < 0 ||
	    tally_trace_command(t, argc > 1 ? argv[1] : "true") < 0 || tally_trace_compile(t) < 0 ||
	    tally_trace_go(t) < 0)
		goto done;
	while (tally_trace_work(t, -1) == 0)
		;
	if (tally_trace_stop(t) < 0 || tally_trace_walk(t, show, NULL) < 0)
		goto done;
	status = tally_trace_status(t);
done:
	if (*tally_trace_error(t))
		fprintf(stderr, "count: %s\n", tally_trace_error(t));
	if (*tally_trace_reason(t))
		fprintf(stderr, "count: %s\n", tally_trace_reason(t));
	tally_trace_close(t);
	return status;
}
