/*
 * export.c: a trace as tables for others, and answers of D programs.  CSV and JSON of all records are the
 * dump's, and need nobody; SQL and Parquet are DuckDB's, and so is all of what D programs answered.
 */
#include "capture/sql_int.h"

static int with_duckdb(struct tally_ptt *t, struct tally_ptt_export_opts *o)
{
	struct buf only = { 0 };
	struct ptt_sql q;
	int rc = ptt_sql_open(&q, t, o->duckdb);

	if (rc >= 0 && t->is_answers && !o->sql && !o->partition) {
		rc = ptt_answers_only(&q, &only);
		o->sql = only.p;
	}
	if (rc >= 0 && only.failed)
		rc = ptt_oom(t);
	if (rc >= 0)
		rc = o->format == TALLY_FORMAT_PARQUET ? ptt_sql_parquet(&q, o) : ptt_sql_rows(&q, o);
	ptt_sql_close(&q);
	buf_free(&only);
	return rc;
}

static int export_check_options(struct tally_ptt *t, const struct tally_ptt_export_opts *o)
{
	bool parquet = o->format == TALLY_FORMAT_PARQUET;

	if (!parquet && o->format != TALLY_FORMAT_CSV && o->format != TALLY_FORMAT_JSON &&
	    (o->format != TALLY_FORMAT_TEXT || !o->sql))
		return ptt_fail(t, TALLY_EINVAL,
				"unknown export format (expected CSV, JSON or Parquet; with SQL also text)");
	if (parquet && !o->path)
		return ptt_fail(t, TALLY_EINVAL, "Parquet requires an output file or directory");
	if (!parquet && o->partition)
		return ptt_fail(t, TALLY_EINVAL, "partitions require the format Parquet");
	if (!t->has_in)
		return ptt_fail(t, TALLY_ESTATE, "a call out of order: no file is open, tally_ptt_file() comes first");
	return 0;
}

int tally_ptt_export(struct tally_ptt *t, const struct tally_ptt_export_opts *opts)
{
	struct tally_ptt_export_opts o = { 0 };
	int rc;

	ptt_enter(t);
	if (!opts_take(&o, sizeof(o), opts))
		return ptt_fail(t, TALLY_EINVAL, "unknown options: they are of a newer library");
	rc = export_check_options(t, &o);
	if (rc < 0)
		return rc;
	if (t->is_answers || o.sql || o.format == TALLY_FORMAT_PARQUET)
		return with_duckdb(t, &o);
	return tally_ptt_dump(t, &(struct tally_ptt_dump_opts){ .size = sizeof(struct tally_ptt_dump_opts),
								.out = o.out,
								.arg = o.arg,
								.format = o.format,
								.separator = o.separator });
}
