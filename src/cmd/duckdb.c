/*
 * duckdb.c: where DuckDB's library is: what TALLY_DUCKDB names, or where tools/fetch-duckdb.sh puts it.
 */
#include <stdlib.h>
#include <unistd.h>

#include "cmd/cmd_int.h"

const char *duckdb_library(struct buf *room)
{
	const char *told = getenv("TALLY_DUCKDB"), *home = getenv("HOME");

	if (told && *told)
		return told;
	buf_printf(room, "%s/.local/lib/libduckdb.so", home ? home : "");
	return home && room->p && !access(room->p, R_OK) ? room->p : NULL;
}
