/*
 * answers.c: what D programs answered (tally trace --json) as tables of DuckDB.
 *
 * Each aggregation of the file is a table: a column for each element of its tuple, called as the program writes it, and
 * columns for what its function makes of the values.  What is a sum stays one: rows of many files may be added up by
 * sum(), min() and max().  What was lost is the table `losses`, so that no sum is without it.
 *
 * DuckDB reads the JSON. The file is a stranger's, so its names are quoted wherever they become SQL, and what it says
 * of one aggregation must agree: a name that has two functions or tuples of two lengths is refused.
 *
 * Whole files: a table is written under a temporary name and gets its own when it is complete and on the disk.  The
 * name is made of the file's bytes, so what is written again takes its own place.
 */
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "capture/sql_int.h"

#define UNNAMED "aggregation" /* the table of @ */
#define LOSSES "losses"
#define TABLES_MOST 1024u /* more than a program has: each name is held against all others */
#define KEYS_MOST 256u

/* What a function's rows have, of the columns `value`, `sum`, `count` and the buckets of the file. */
static const struct {
	const char *function, *columns;
	bool has_buckets;
} answer_functions[] = {
	{ "count", "value AS count", false },
	{ "sum", "value AS sum", false },
	{ "min", "value AS min", false },
	{ "max", "value AS max", false },
	{ "avg", "sum, count", false },
	{ "stddev", "value AS stddev", false },
	{ "quantize", "b.\"from\" AS low, b.\"to\" AS high, b.\"count\" AS count", true },
	{ "lquantize", "b.\"from\" AS low, b.\"to\" AS high, b.\"count\" AS count", true },
	{ "llquantize", "b.\"from\" AS low, b.\"to\" AS high, b.\"count\" AS count", true },
};

/* Names that are ours: a key that is called so gets a number. */
static const char *const answer_columns[] = { "count", "sum",     "min",  "max",  "stddev",  "low",        "high",
					      "time",  "printed", "host", "hour", "program", "aggregation" };

struct answers_names {
	char **name;
	uint32_t n, cap;
};

static void names_free(struct answers_names *s)
{
	for (uint32_t i = 0; i < s->n; i++)
		mem_free(s->name[i]);
	mem_free(s->name);
}

/* A name that none before it has: x, x_2, x_3; DuckDB takes x and X for one. From s. */
static const char *names_add(struct answers_names *s, const char *const *ours, size_t nours, const char *name)
{
	struct buf b = { 0 };
	char **slot;

	for (uint32_t number = 1;; number++) {
		bool is_taken = false;

		buf_clear(&b);
		buf_puts(&b, name);
		if (number > 1)
			buf_printf(&b, "_%u", number);
		for (size_t i = 0; !b.failed && i < nours; i++)
			is_taken |= !strcasecmp(ours[i], b.p);
		for (uint32_t i = 0; !b.failed && i < s->n; i++)
			is_taken |= !strcasecmp(s->name[i], b.p);
		if (!is_taken)
			break;
	}
	slot = b.failed ? NULL : VEC_NEW(s->name, s->n, s->cap);
	if (slot && !(*slot = mem_strdup(b.p)))
		s->n--;
	buf_free(&b);
	return slot ? *slot : NULL;
}

/* ---- the file -------------------------------------------------------------------------------- */

/* A name of SQL: "x". */
static void answers_put_name(struct buf *to, const char *name)
{
	buf_putc(to, '"');
	for (; *name; name++) {
		if (*name == '"')
			buf_putc(to, '"');
		buf_putc(to, *name);
	}
	buf_putc(to, '"');
}

/* The path as read_json() takes it, for which * ? and [ are patterns. */
static int answers_read(struct ptt_sql *q)
{
	struct buf path = { 0 }, sql = { 0 };
	int rc;

	for (const char *s = q->t->path; *s; s++)
		buf_printf(&path, strchr("*?[", *s) ? "[%c]" : "%c", *s);
	buf_puts(&sql, "CREATE TEMP TABLE answer AS SELECT row_number() OVER () AS line, * FROM read_json(");
	ptt_sql_quote(&sql, path.p ? path.p : "");
	buf_puts(&sql, ", format='newline_delimited', columns={type:'VARCHAR', name:'VARCHAR', \"function\":'VARCHAR', "
		       "keys:'JSON[]', names:'VARCHAR[]', value:'BIGINT', sum:'BIGINT', count:'BIGINT', "
		       "buckets:'STRUCT(\"from\" BIGINT, \"to\" BIGINT, \"count\" BIGINT)[]', time:'TIMESTAMP', "
		       "kind:'VARCHAR', probe:'VARCHAR', cpu:'BIGINT', lost:'BIGINT'}) "
		       "WHERE type IN ('aggregation', 'drop', 'loss')");
	rc = path.failed || sql.failed ? ptt_oom(q->t) : ptt_sql_run(q, sql.p);
	buf_free(&path);
	buf_free(&sql);
	return rc;
}

/* ---- tables ---------------------------------------------------------------------------------- */

struct answers {
	struct ptt_sql *q;
	struct answers_names columns;
	struct buf sql;
};

static int answers_take_table(void *arg, const char *const *cell)
{
	struct answers *a = arg;
	struct ptt_sql *q = a->q;
	static const char *const ours[] = { LOSSES, "answer" };
	struct answers_names taken = { 0 };
	struct ptt_answer *t = VEC_NEW(q->answer, q->nanswers, q->capanswers);
	const char *name = NULL;
	uint64_t nkeys = 0;
	int rc = t ? 0 : ptt_oom(q->t);

	if (rc >= 0 && q->nanswers > TABLES_MOST)
		rc = ptt_fail(q->t, TALLY_ECORRUPT, "%s: more than %u aggregations: no program of D has so many",
			      q->t->path, TABLES_MOST);
	for (uint32_t i = 0; rc >= 0 && i + 1 < q->nanswers; i++)
		if (!names_add(&taken, NULL, 0, q->answer[i].table))
			rc = ptt_oom(q->t);
	if (rc >= 0 &&
	    (!cell[0] || !cell[1] || !cell[3] || strcmp(cell[1], cell[2]) != 0 || strcmp(cell[3], cell[4]) != 0))
		rc = ptt_fail(q->t, TALLY_ECORRUPT,
			      "%s: the aggregation %s is of several kinds in "
			      "this file: export each program's answers for itself",
			      q->t->path, cell[0] ? cell[0] : "");
	if (rc >= 0 && !(name = names_add(&taken, ours, COUNT(ours), cell[0][0] ? cell[0] : UNNAMED)))
		rc = ptt_oom(q->t);
	if (rc >= 0) {
		t->function = COUNT(answer_functions);
		for (uint32_t i = 0; i < COUNT(answer_functions); i++)
			if (!strcmp(answer_functions[i].function, cell[1]))
				t->function = i;
		(void)text_u64(cell[3], &nkeys);
		t->nkeys = (uint32_t)nkeys;
		t->has_time = !strcmp(cell[5], "true");
		t->name = mem_strdup(cell[0]);
		t->table = mem_strdup(name);
		if (!t->name || !t->table)
			rc = ptt_oom(q->t);
		else if (nkeys > KEYS_MOST)
			rc = ptt_fail(q->t, TALLY_ECORRUPT, "%s: %llu keys of the aggregation %s: at most %u are taken",
				      q->t->path, (unsigned long long)nkeys, t->name, KEYS_MOST);
		else if (t->function == COUNT(answer_functions))
			rc = ptt_fail(q->t, TALLY_ECORRUPT, "%s: unknown aggregating function '%s'", q->t->path,
				      cell[1]);
	}
	names_free(&taken);
	return rc;
}

/* A key: its name in the program, the type that holds all of its values. */
static int answers_take_key(void *arg, const char *const *cell)
{
	struct answers *a = arg;
	struct buf name = { 0 };
	const char *column = NULL;

	if (cell[1])
		buf_key_name(&name, cell[1]);
	if (!name.n)
		buf_printf(&name, "key%s", cell[0]);
	if (!name.failed)
		column = names_add(&a->columns, answer_columns, COUNT(answer_columns), name.p);
	buf_free(&name);
	if (!column)
		return ptt_oom(a->q->t);
	if (!strcmp(cell[2], "VARCHAR"))
		buf_printf(&a->sql, "keys[%s]->>'$' AS ", cell[0]);
	else
		buf_printf(&a->sql, "CAST(keys[%s] AS %s) AS ", cell[0], cell[2]);
	answers_put_name(&a->sql, column);
	buf_puts(&a->sql, ", ");
	return 0;
}

/* Integers that D prints as signed or as unsigned have one type each; what is neither is text. */
#define KEY_TYPE                                                                                     \
	"CASE WHEN bool_and(json_type(keys[i]) IN ('BIGINT', 'UBIGINT')) THEN "                      \
	"CASE WHEN bool_and(TRY_CAST(keys[i] AS BIGINT) IS NOT NULL) THEN 'BIGINT' "                 \
	"WHEN bool_and(TRY_CAST(keys[i] AS UBIGINT) IS NOT NULL) THEN 'UBIGINT' ELSE 'VARCHAR' END " \
	"WHEN bool_and(json_type(keys[i]) IN ('BIGINT', 'UBIGINT', 'DOUBLE')) THEN 'DOUBLE' "        \
	"WHEN bool_and(json_type(keys[i]) = 'ARRAY') THEN 'VARCHAR[]' ELSE 'VARCHAR' END"

static int answers_make_view(struct answers *a, const struct ptt_answer *t)
{
	struct ptt_sql *q = a->q;
	struct buf ask = { 0 };
	int rc;

	buf_printf(&ask,
		   "SELECT i, max(names[i]), " KEY_TYPE
		   " FROM answer, range(1, %u) AS r(i) WHERE type = 'aggregation' AND name = ",
		   t->nkeys + 1);
	ptt_sql_quote(&ask, t->name);
	buf_puts(&ask, " GROUP BY i ORDER BY i");
	buf_clear(&a->sql);
	buf_puts(&a->sql, "CREATE TEMP VIEW ");
	answers_put_name(&a->sql, t->table);
	buf_puts(&a->sql, " AS SELECT ");
	rc = ask.failed ? ptt_oom(q->t) : ptt_sql_each(q, ask.p, answers_take_key, a);
	buf_printf(&a->sql,
		   "%s, %s FROM (SELECT *, row_number() OVER (PARTITION BY CAST(keys AS VARCHAR) "
		   "ORDER BY line) AS printed%s FROM answer WHERE type = 'aggregation' AND name = ",
		   answer_functions[t->function].columns, t->has_time ? "time" : "printed",
		   answer_functions[t->function].has_buckets ? ", unnest(buckets) AS b" : "");
	ptt_sql_quote(&a->sql, t->name);
	buf_puts(&a->sql, ")");
	if (rc >= 0)
		rc = a->sql.failed ? ptt_oom(q->t) : ptt_sql_run(q, a->sql.p);
	buf_free(&ask);
	names_free(&a->columns);
	a->columns = (struct answers_names){ 0 };
	return rc;
}

int ptt_answers_register(struct ptt_sql *q)
{
	struct answers a = { .q = q };
	int rc = answers_read(q);

	if (rc >= 0)
		rc = ptt_sql_each(q,
				  "SELECT name, min(\"function\"), max(\"function\"), "
				  "min(len(keys)), max(len(keys)), bool_or(time IS NOT NULL) "
				  "FROM answer WHERE type = 'aggregation' GROUP BY name ORDER BY min(line)",
				  answers_take_table, &a);
	for (uint32_t i = 0; rc >= 0 && i < q->nanswers; i++)
		rc = answers_make_view(&a, &q->answer[i]);
	if (rc >= 0)
		rc = ptt_sql_run(q,
				 "CREATE TEMP VIEW " LOSSES " AS SELECT coalesce(kind, 'firings') AS kind, probe, cpu, "
				 "coalesce(lost, count) AS count, time FROM answer WHERE type IN ('drop', 'loss')");
	buf_free(&a.sql);
	return rc;
}

void ptt_answers_free(struct ptt_sql *q)
{
	for (uint32_t i = 0; i < q->nanswers; i++) {
		mem_free(q->answer[i].name);
		mem_free(q->answer[i].table);
	}
	mem_free(q->answer);
	q->answer = NULL;
	q->nanswers = 0;
}

/* ---- what is handed on --------------------------------------------------------------------------- */

int ptt_answers_only(struct ptt_sql *q, struct buf *sql)
{
	struct buf names = { 0 };
	int rc = 0;

	for (uint32_t i = 0; i < q->nanswers; i++)
		buf_printf(&names, "%s%s", i ? ", " : "", q->answer[i].table);
	if (names.failed)
		rc = ptt_oom(q->t);
	else if (!q->nanswers)
		rc = ptt_fail(q->t, TALLY_ECORRUPT, "%s: there is no aggregation in this file", q->t->path);
	else if (q->nanswers > 1)
		rc = ptt_fail(q->t, TALLY_EINVAL,
			      "%s: several aggregations: %s; choose one, as --sql 'FROM %s', or --partition writes all",
			      q->t->path, names.p, q->answer[0].table);
	buf_free(&names);
	if (rc >= 0) {
		buf_puts(sql, "FROM ");
		answers_put_name(sql, q->answer[0].table);
	}
	return rc;
}

static int answers_count_row(void *arg, const char *const *cell)
{
	(void)cell;
	++*(uint32_t *)arg;
	return 0;
}

/* Bytes of a directory's name that hive's readers take as they are; others as %2F. */
static void answers_put_value(struct buf *to, const char *s)
{
	for (; *s; s++)
		if (strchr("/%=\\:*?[]\"'", *s) || (unsigned char)*s < ' ' || (unsigned char)*s == 0x7f)
			buf_printf(to, "%%%02X", (unsigned char)*s);
		else
			buf_putc(to, *s);
}

/* One table to its file: aggregation=faults/host=web1/hour=2026-11-28T15/<hash>.parquet. */
static int answers_write_table(struct ptt_sql *q, const struct tally_ptt_export_opts *o, const char *table,
			       const struct ptt_partition *p, uint32_t n)
{
	const unsigned long long hash = ptt_sql_hash(q->t);
	struct buf sql = { 0 }, path = { 0 }, temporary = { 0 };
	struct err e = { 0 };
	uint32_t rows = 0;
	int rc;

	buf_puts(&sql, "SELECT 1 FROM ");
	answers_put_name(&sql, table);
	buf_puts(&sql, " LIMIT 1");
	rc = sql.failed ? ptt_oom(q->t) : ptt_sql_each(q, sql.p, answers_count_row, &rows);
	buf_printf(&path, "%s/%s", o->path, strcmp(table, LOSSES) ? "aggregation=" : "");
	answers_put_value(&path, table);
	for (uint32_t i = 0; i < n; i++) {
		buf_printf(&path, "/%s=", p[i].name);
		answers_put_value(&path, p[i].value);
	}
	buf_printf(&path, "/%016llx.parquet", hash);
	buf_printf(&temporary, "%s/.tally-", o->path);
	answers_put_value(&temporary, o->host ? o->host : "");
	buf_printf(&temporary, "-%016llx.tmp", hash);
	buf_clear(&sql);
	buf_puts(&sql, "COPY (FROM ");
	answers_put_name(&sql, table);
	buf_puts(&sql, ") TO ");
	ptt_sql_quote(&sql, temporary.p ? temporary.p : "");
	buf_puts(&sql, " (FORMAT PARQUET, COMPRESSION ZSTD, USE_TMP_FILE false)");
	if (rc >= 0 && rows) {
		rc = sql.failed || path.failed || temporary.failed ? ptt_oom(q->t) : 0;
		if (rc >= 0 && file_make_parents(path.p, &e) < 0)
			rc = ptt_failed_as(q->t, &e, -TALLY_EIO);
		if (rc >= 0)
			rc = ptt_sql_run(q, sql.p);
		if (rc >= 0 && file_promote(temporary.p, path.p, &e) < 0)
			rc = ptt_failed_as(q->t, &e, -TALLY_EIO);
		if (rc < 0 && !temporary.failed && temporary.p)
			(void)unlink(temporary.p);
	}
	buf_free(&sql);
	buf_free(&path);
	buf_free(&temporary);
	return rc;
}

int ptt_answers_parquet(struct ptt_sql *q, const struct tally_ptt_export_opts *o, const struct ptt_partition *p,
			uint32_t n)
{
	int rc = 0;

	for (uint32_t i = 0; rc >= 0 && i < q->nanswers; i++)
		rc = answers_write_table(q, o, q->answer[i].table, p, n);
	return rc < 0 ? rc : answers_write_table(q, o, LOSSES, p, n);
}
