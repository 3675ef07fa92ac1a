/* sql_int.h: a connection to DuckDB in which the trace is the table `tlp`, or each aggregation of a file of answers a
 * table. */
#ifndef TALLY_CAPTURE_SQL_INT_H
#define TALLY_CAPTURE_SQL_INT_H

#include "capture/capture.h"
#include "capture/duck_int.h"

/* an aggregation of a file of answers */
struct ptt_answer {
	char *name, *table; /* as the program has it; as SQL has it */
	uint32_t nkeys, function;
	bool has_time; /* of an archive */
};
struct ptt_sql {
	struct tally_ptt *t;
	duck_handle db, con;
	struct ptt_answer *answer; /* of a file of answers */
	uint32_t nanswers, capanswers;
};
/* What a directory is called: host=web1. */
struct ptt_partition {
	const char *name, *value;
};
int ptt_sql_open(struct ptt_sql *q, struct tally_ptt *t, const char *library);
void ptt_sql_close(struct ptt_sql *q);
/* Runs a query and hands its rows to o->out, in o->format. */
int ptt_sql_rows(struct ptt_sql *q, const struct tally_ptt_export_opts *o);
int ptt_sql_parquet(struct ptt_sql *q, const struct tally_ptt_export_opts *o);
int ptt_sql_run(struct ptt_sql *q, const char *sql); /* a statement without rows */
/* Calls each for each row with its cells as text, NULL for none; a negative return ends it and is returned. */
int ptt_sql_each(struct ptt_sql *q, const char *sql, int (*each)(void *arg, const char *const *cell), void *arg);
void ptt_sql_quote(struct buf *b, const char *s); /* as a text of SQL: 'it''s' */
uint64_t ptt_sql_hash(const struct tally_ptt *t); /* of the file's size, begin and end; it stays the same for ever */

/* ---- table.c -------------------------------------------------------------------- */
int ptt_table_register(struct ptt_sql *q); /* the table function tally_tlp(); 0 or -TALLY_ENOTSUP */

/* ---- answers.c ------------------------------------------------------------------ */
int ptt_answers_register(struct ptt_sql *q); /* a table for each aggregation, and `losses` */
void ptt_answers_free(struct ptt_sql *q);
/* The query of the only aggregation; -TALLY_EINVAL: there are several. */
int ptt_answers_only(struct ptt_sql *q, struct buf *sql);
/* Each table as a file of its own, below o->path. */
int ptt_answers_parquet(struct ptt_sql *q, const struct tally_ptt_export_opts *o, const struct ptt_partition *p,
			uint32_t n);

#endif
