/*
 * report.c: `tally report`, what a trace says, or how two differ.
 */
#include <langinfo.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cmd/ptt_int.h"

struct report {
	struct ptt_args a; /* first: the shared options take it */
	struct tally_ptt_report_opts o;
	bool json;
};

/* ---- options ------------------------------------------------------------------------ */

static const struct opt options[] = {
	{ 0, "json", NULL, "one JSON object per line; numbers are numbers", OPT_TRUE(struct report, json) },
	{ 'o', NULL, "FILE", "write to FILE; .html: a page for a browser, .json: as --json",
	  OPT_STEP(ptt_take_output) },
	{ 0, "top", "N", "at most N rows in each table (default 10; JSON and HTML 100)",
	  OPT_NUMBER(struct report, o.top, 1, 100000, "1 to 100000") },
	{ 0, "errors", NULL, "list all errors, not just the first few of each kind and requester",
	  OPT_BITS(struct report, o.flags, TALLY_PTT_ERRORS) },
	{ 0, "no-match", NULL, "do not match requests with completions: faster, but no latency",
	  OPT_BITS(struct report, o.flags, TALLY_PTT_NO_MATCH) },
	{ 0, "threads", "N", "use N threads (default 1)", OPT_NUMBER(struct report, o.threads, 1, 64, "1 to 64") },
	PTT_OPTIONS,
	{ 'h', "help", NULL, "show this help", OPT_HELP },
};

const struct opts *cmd_report_opts(void)
{
	static const struct opts o = {
		.verb = "report",
		.usage = "[option]... FILE [FILE2]",
		.intro = "Summarises a PTT trace: bytes moved by each function, "
			 "latency of requests, errors, and what the trace\n"
			 "cannot show. With two traces, shows what changed from the first to the second.\n",
		.outro = "\nExamples:\n"
			 "  tally report perf.data\n"
			 "  tally report -o report.html perf.data\n"
			 "  tally report before.data after.data\n",
		.opt = options,
		.n = COUNT(options),
	};
	return &o;
}

/* ---- the run --------------------------------------------------------------------------- */

static int choose_form(struct report *r)
{
	const char *o = r->a.output;
	struct winsize w;

	r->o.format = r->json ? TALLY_FORMAT_JSON : TALLY_FORMAT_TEXT;
	if (strcmp(nl_langinfo(CODESET), "UTF-8"))
		r->o.flags |= TALLY_PTT_ASCII;
	if (!o && !ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) && w.ws_col >= 60)
		r->o.columns = w.ws_col;
	r->o.size = sizeof(r->o);
	r->o.out = ptt_args_write;
	r->o.arg = &r->a;
	return output_suffix(r->a.cx, r->a.output, "report", r->json ? "--json" : NULL, &r->o.format);
}

static int report_run_verb(struct report *r, char **path, bool two)
{
	struct tally_ptt *t = NULL, *other = NULL;
	int rc, status = choose_form(r);

	if (status == GO_ON)
		status = ptt_args_file(&r->a, &t, path[0]);
	if (status == GO_ON && two)
		status = ptt_args_file(&r->a, &other, path[1]);
	if (status == GO_ON)
		status = ptt_args_output(&r->a, path, two ? 2 : 1);
	if (status == GO_ON) {
		rc = two ? tally_ptt_compare(t, other, &r->o) : tally_ptt_report(t, &r->o);
		status = rc < 0 ? ptt_args_failed(&r->a, two ? other : t, rc) : ST_OK;
	}
	tally_ptt_close(t);
	tally_ptt_close(other);
	return ptt_args_close(&r->a, status);
}

int cmd_report(struct cmd_ctx *cx, int argc, char **argv)
{
	struct report r = { .a = { .cx = cx } };
	int first, status = opts_parse(cx, cmd_report_opts(), &r, argc, argv, &first);

	if (status != GO_ON)
		return status;
	argc -= first;
	argv += first;
	if (argc == 1 || (argc == 2 && (strcmp(argv[0], "-") || strcmp(argv[1], "-"))))
		return report_run_verb(&r, argv, argc == 2);
	return opts_refuse(cx, cmd_report_opts(),
			   argc == 0 ? "no trace given: name a FILE" :
			   argc == 2 ? "- (standard input) can be given only once" :
				       "too many FILEs: two at most");
}
