/*
 * duckdb.c: where DuckDB's library is: what TALLY_DUCKDB names, or ~/.local/lib.
 *
 * Both are a user's to say.  A program whose file has capabilities hears neither (secure_getenv), and has only what the
 * run-time linker finds in the system's directories.
 */
#include <stdlib.h>
#include <unistd.h>

#include "cmd/cmd_int.h"

const char *duckdb_library(struct buf *room)
{
	const char *told = secure_getenv("TALLY_DUCKDB"), *home = secure_getenv("HOME");

	if (told && *told)
		return told;
	buf_printf(room, "%s/.local/lib/libduckdb.so", home ? home : "");
	return home && room->p && !access(room->p, R_OK) ? room->p : NULL;
}
