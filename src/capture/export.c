/*
 * export.c: a trace as tables for others.  CSV and JSON of all records are the
 * dump's, and need nobody; SQL and Parquet are DuckDB's.
 */
#include "capture/sql_int.h"

static int with_duckdb(struct tally_ptt *t, const struct tally_ptt_export *o)
{
	struct ptt_sql q;
	int rc = ptt_sql_open(&q, t, o->duckdb);

	if (rc >= 0)
		rc = o->form == TALLY_PTT_PARQUET ? ptt_sql_parquet(&q, o) : ptt_sql_rows(&q, o);
	ptt_sql_close(&q);
	return rc;
}

static int check(struct tally_ptt *t, const struct tally_ptt_export *o)
{
	bool parquet = o->form == TALLY_PTT_PARQUET;

	if (!parquet && o->form != TALLY_PTT_CSV && o->form != TALLY_PTT_JSON && (o->form != TALLY_PTT_TEXT || !o->sql))
		return ptt_fail(t, TALLY_EINVAL, "a form that an export doesn't have");
	if (parquet && !o->path)
		return ptt_fail(t, TALLY_EINVAL, "Parquet needs a file or a directory to be written to");
	if (!parquet && o->partition)
		return ptt_fail(t, TALLY_EINVAL, "only Parquet is partitioned");
	return t->has_in ? 0 : ptt_fail(t, TALLY_ESTATE, "no file is open");
}

int tally_ptt_export(struct tally_ptt *t, const struct tally_ptt_export *opts)
{
	struct tally_ptt_export o = { 0 };
	int rc;

	ptt_enter(t);
	if (!opts_take(&o, sizeof(o), opts))
		return ptt_fail(t, TALLY_EINVAL, "options that are not known");
	rc = check(t, &o);
	if (rc < 0)
		return rc;
	if (o.sql || o.form == TALLY_PTT_PARQUET)
		return with_duckdb(t, &o);
	return tally_ptt_dump(t, &(struct tally_ptt_dump){ .size = sizeof(struct tally_ptt_dump),
							   .out = o.out,
							   .arg = o.arg,
							   .form = o.form,
							   .separator = o.separator });
}
