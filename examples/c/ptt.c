/*
 * ptt.c: the completions of a trace of PCIe packets that failed, one JSON object a line; then its report.
 *
 *	cc ptt.c -ltally && ./a.out perf.data
 */
#include <stdio.h>
#include <tally/ptt.h>

static int show(void *arg, const char *text, size_t n)
{
	(void)arg;
	return fwrite(text, 1, n, stdout) == n ? 0 : -1;
}

/* Damage of the file: a note, since all whole records are used. */
static int note(void *arg, const char *text, size_t n)
{
	(void)arg;
	fprintf(stderr, "ptt: %.*s\n", (int)n, text);
	return 0;
}

int main(int argc, char **argv)
{
	struct tally_ptt_opts opts = { .size = sizeof(opts), .note = note };
	struct tally_ptt_dump_opts failed = {
		.size = sizeof(failed), .out = show, .filter = "args[0]->status != 0", .format = TALLY_FORMAT_JSON
	};
	struct tally_ptt_report_opts report = { .size = sizeof(report), .out = show, .top = 3, .columns = 100 };
	struct tally_ptt *t = NULL;
	int rc = tally_ptt_open(&t, &opts);

	if (rc == 0)
		rc = tally_ptt_file(t, argc > 1 ? argv[1] : "perf.data");
	if (rc == 0)
		rc = tally_ptt_dump(t, &failed);
	if (rc == 0)
		rc = tally_ptt_report(t, &report);
	if (rc < 0)
		fprintf(stderr, "ptt: %s\n", t ? tally_ptt_error(t) : tally_strerror(rc));
	tally_ptt_close(t);
	return rc != 0;
}
