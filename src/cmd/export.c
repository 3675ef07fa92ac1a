/*
 * export.c: `tally export`, a trace or the answers of a D program as tables for others, and SQL over them.
 *
 * What only the command knows is found here: where DuckDB's library is, and
 * what a partition is called when nobody says it: the host is this one, the
 * capture is the file's name, the hour is when the file was last written.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>

#include "cmd/ptt_int.h"

struct export
{
	struct ptt_args a; /* first: the shared options take it */
	struct tally_ptt_export_opts o;
	bool json, csv;
	struct utsname host;
	char hour[32];
	struct buf capture, duckdb;
};

/* ---- options ------------------------------------------------------------------------ */

static int take_separator(void *state, const char *value)
{
	struct export *x = state;

	x->csv = true;
	return ptt_separator(&x->a, value, &x->o.separator);
}

static const struct opt options[] = {
	{ 'o', NULL, "FILE", "write to FILE; its suffix .csv, .json or .parquet sets the format",
	  OPT_STEP(ptt_take_output) },
	{ 0, "json", NULL, "one JSON object per line", OPT_TRUE(struct export, json) },
	{ 'x', NULL, "SEPARATOR", "fields separated by SEPARATOR, with a header line", OPT_STEP(take_separator) },
	{ 0, "sql", "SELECT", "write the result of a query over the table tlp, or over aggregations",
	  OPT_KEEP(struct export, o.sql) },
	{ 0, "partition", "KEYS",
	  "write Parquet into directories under -o by these keys: host, capture, hour; of aggregations host, program, hour",
	  OPT_KEEP(struct export, o.partition) },
	{ 0, "host", "NAME", "value of key host (default: this machine's name)", OPT_KEEP(struct export, o.host) },
	{ 0, "capture", "NAME",
	  "value of key capture, or program (default: the file's name without .raw, .perf, .data, .zst, .json)",
	  OPT_KEEP(struct export, o.capture) },
	{ 0, "hour", "HOUR", "value of key hour (default: the hour (UTC) of the file's last write)",
	  OPT_KEEP(struct export, o.hour) },
	PTT_OPTIONS,
	{ 'h', "help", NULL, "show this help", OPT_HELP },
};

const struct opts *cmd_export_opts(void)
{
	static const struct opts o = {
		.verb = "export",
		.usage = "[option]... FILE",
		.intro = "Writes the packets of a PTT trace as CSV (default), "
			 "JSON or Parquet, or queries them with SQL.\n"
			 "Of what 'tally trace --json' wrote each aggregation "
			 "is a table, and so is what was lost: losses.\n"
			 "SQL, Parquet and answers need DuckDB's library: "
			 "'tally doctor' says how to get it; TALLY_DUCKDB is its path.\n",
		.outro = "\nExamples:\n"
			 "  tally export -o packets.csv perf.data\n"
			 "  # with DuckDB's library:\n"
			 "  tally export -o packets.parquet perf.data\n"
			 "  tally export perf.data --sql \\\n"
			 "    'SELECT requester_text, sum(bytes) FROM tlp GROUP BY ALL ORDER BY 2 DESC'\n"
			 "  tally export -o captures --partition host,capture,hour perf.data\n"
			 "  tally export -o archive --partition host,hour faults.json\n",
		.opt = options,
		.n = COUNT(options),
	};
	return &o;
}

/* ---- what is not said --------------------------------------------------------------------- */

static int choose_form(struct export *x)
{
	const char *option = x->json ? "--json" : x->csv ? "-x" : x->o.partition ? "--partition" : NULL;

	if (x->json + x->csv + !!x->o.partition > 1)
		return refuse_usage(x->a.cx, "CSV, JSON and Parquet cannot be combined");
	if (x->o.partition && !x->a.output)
		return refuse_usage(x->a.cx, "--partition requires a directory: -o DIR");
	x->o.format = x->json             ? TALLY_FORMAT_JSON :
		      x->o.partition      ? TALLY_FORMAT_PARQUET :
		      x->csv || !x->o.sql ? TALLY_FORMAT_CSV :
					    TALLY_FORMAT_TEXT;
	return output_suffix(x->a.cx, x->a.output, "export", option, &x->o.format);
}

/* The file's name without what its kind and its packing add. */
static void find_capture(struct export *x, const char *name)
{
	static const char *const kind[] = { ".zst", ".data", ".perf", ".raw", ".json" };
	size_t n = strlen(name);

	for (size_t i = 0; i < COUNT(kind); i++) {
		size_t m = strlen(kind[i]);

		n -= n > m && !memcmp(name + n - m, kind[i], m) ? m : 0;
	}
	buf_put(&x->capture, name, n);
	x->o.capture = x->capture.p;
}

static void find_partition(struct export *x, const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	struct stat st;
	struct tm tm;

	if (!x->o.host && !uname(&x->host))
		x->o.host = x->host.nodename;
	if (!x->o.capture && strcmp(path, "-"))
		find_capture(x, name);
	if (!x->o.hour && !stat(path, &st) && gmtime_r(&st.st_mtime, &tm) &&
	    strftime(x->hour, sizeof(x->hour), "%Y-%m-%dT%H", &tm))
		x->o.hour = x->hour;
}

/* ---- the run --------------------------------------------------------------------------- */

static int export_run_verb(struct export *x, struct tally_ptt *t, char **path)
{
	const bool parquet = x->o.format == TALLY_FORMAT_PARQUET;
	int rc, status = parquet ? ptt_args_spare(&x->a, path, 1) : ptt_args_output(&x->a, path, 1);

	if (status != GO_ON)
		return status;
	if (parquet && x->a.output && file_inherited(x->a.output) >= 0)
		return refuse_usage(x->a.cx,
				    "-o %s: standard output is already that file, and Parquet would replace it",
				    x->a.output);
	x->o.size = sizeof(x->o);
	x->o.out = ptt_args_write;
	x->o.arg = &x->a;
	x->o.path = x->a.output;
	x->o.duckdb = duckdb_library(&x->duckdb);
	if (x->a.cx->borrowed && getenv("TALLY_DUCKDB"))
		complain(x->a.cx, "TALLY_DUCKDB is ignored: tally's file has capabilities (see SECURITY in tally(1))");
	if (x->o.partition)
		find_partition(x, *path);
	rc = tally_ptt_export(t, &x->o);
	return rc < 0 ? ptt_args_failed(&x->a, t, rc) : ST_OK;
}

int cmd_export(struct cmd_ctx *cx, int argc, char **argv)
{
	struct export x = { .a = { .cx = cx } };
	struct tally_ptt *t = NULL;
	int first, status = opts_parse(cx, cmd_export_opts(), &x, argc, argv, &first);

	if (status == GO_ON && argc - first != 1)
		status = opts_refuse(cx, cmd_export_opts(),
				     argc == first ? "no trace given: name a FILE" : "only one FILE can be given");
	if (status == GO_ON)
		status = choose_form(&x);
	if (status == GO_ON)
		status = ptt_args_file(&x.a, &t, argv[first]);
	if (status == GO_ON)
		status = export_run_verb(&x, t, argv + first);
	tally_ptt_close(t);
	buf_free(&x.capture);
	buf_free(&x.duckdb);
	return ptt_args_close(&x.a, status);
}
