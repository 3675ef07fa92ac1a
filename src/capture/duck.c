/*
 * duck.c: loads DuckDB's library when it is first needed.
 *
 * The table of its functions is the one thing in capture/ that belongs to the
 * process: DuckDB's callbacks are handed nothing from which they could find it,
 * and a loaded library belongs to the process, too.  It is filled once and then
 * only read.
 */
#include <pthread.h>

#include "base/file.h"
#include "capture/duck_int.h"

#define SONAME "libduckdb.so"

LIBRARY_NOTE("duckdb", "Parquet and SQL of tally export", "suggested", SONAME);

static struct duck table;
static bool loaded;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static const char *const names[] = {
#define X(name, type, parameters) "duckdb_" #name,
	DUCK_FUNCTIONS(X)
#undef X
};
static_assert(sizeof(struct duck) == COUNT(names) * sizeof(void *), "a table of functions and nothing else");

const struct duck *duck(void)
{
	return &table;
}

int duck_load(const char *path, struct err *e)
{
	bool ok;

	pthread_mutex_lock(&lock);
	if (!loaded)
		loaded = library_load(path ? path : SONAME, names, (void **)(void *)&table, COUNT(names));
	ok = loaded;
	pthread_mutex_unlock(&lock);
	if (ok)
		return 0;
	return err_set(e, TALLY_ENOTSUP,
		       "SQL and Parquet require DuckDB's library, and %s cannot be loaded; " LIBRARY_WHY(
			       "'tally doctor' says how to fetch it, TALLY_DUCKDB names it; "
			       "a tally whose file has capabilities takes it from the "
			       "system's directories alone (/usr/local/lib, then ldconfig)"),
		       path ? path : SONAME);
}
