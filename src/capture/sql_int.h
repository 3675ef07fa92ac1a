/* sql_int.h: a connection to DuckDB in which the trace is the table `tlp`. */
#ifndef TALLY_CAPTURE_SQL_INT_H
#define TALLY_CAPTURE_SQL_INT_H

#include "capture/capture.h"
#include "capture/duck_int.h"

struct ptt_sql {
	struct tally_ptt *t;
	duck_handle db, con;
};
int ptt_sql_open(struct ptt_sql *q, struct tally_ptt *t, const char *library);
void ptt_sql_close(struct ptt_sql *q);
/* Runs a query and hands its rows to o->out, in o->format. */
int ptt_sql_rows(struct ptt_sql *q, const struct tally_ptt_export_opts *o);
int ptt_sql_parquet(struct ptt_sql *q, const struct tally_ptt_export_opts *o);

/* ---- table.c -------------------------------------------------------------------- */
int ptt_table_register(struct ptt_sql *q); /* the table function tally_tlp(); 0 or -TALLY_ENOTSUP */

#endif
