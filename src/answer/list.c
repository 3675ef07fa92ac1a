/* list.c: the rows of -l in dtrace(1)'s columns; the name comes last and is as wide as it likes. */
#include "answer/answer_int.h"

void an_list_header(struct buf *to)
{
	buf_printf(to, "%5s %10s %17s %33s %s\n", "ID", "PROVIDER", "MODULE", "FUNCTION", "NAME");
}

void an_list_row(struct buf *to, uint32_t id, const char *prov, const char *mod, const char *func, const char *name)
{
	buf_printf(to, "%5u %10s %17s %33s %s\n", id, prov, mod, func, name);
}
