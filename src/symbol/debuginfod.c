/*
 * debuginfod.c: debug files from servers.
 *
 * libdebuginfod asks the servers of DEBUGINFOD_URLS and keeps what they send in the user's cache. It is loaded when the
 * first file is wanted, and only if the user named servers.  It waits for an answer as long as DEBUGINFOD_TIMEOUT says.
 * A program whose file has capabilities asks nobody: the library and those below it are led by the environment, which
 * then is a stranger's.
 */
#include <sys/auxv.h>

#include "base/file.h"
#include "symbol/symbol_int.h"

#define SONAME "libdebuginfod.so.1"

LIBRARY_NOTE("debuginfod", "debug files from the servers of DEBUGINFOD_URLS", "suggested", SONAME);

enum { BEGIN, FIND, END, FUNCTIONS };
typedef void *begin_fn(void);
typedef int find_fn(void *client, const unsigned char *build_id, int n, char **path);
typedef void end_fn(void *client);

int debuginfod_fetch(const uint8_t *build_id, uint32_t n)
{
	static const char *const names[FUNCTIONS] = { "debuginfod_begin", "debuginfod_find_debuginfo",
						      "debuginfod_end" };
	void *fn[FUNCTIONS], *client;
	int fd;

	if (getauxval(AT_SECURE) || !library_load(SONAME, names, fn, FUNCTIONS))
		return -1;
	client = ((begin_fn *)fn[BEGIN])();
	if (!client)
		return -1;
	fd = ((find_fn *)fn[FIND])(client, build_id, (int)n, NULL);
	((end_fn *)fn[END])(client);
	return fd;
}
