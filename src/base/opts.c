/*
 * opts.c: structs of options and of results that grow.  The first member of each is the size its caller was compiled
 * with.  Options that the caller does not have are zero for us, and those that we do not have must be zero at the
 * caller's.  Results that the caller has no room for are dropped, and those that we do not have are zero for the
 * caller.
 */
#include <string.h>

#include "base/base.h"

bool opts_take(void *to, size_t ours, const void *from)
{
	size_t size;

	memcpy(&size, from, sizeof(size));
	if (size < sizeof(size))
		return false;
	for (size_t i = ours; i < size; i++)
		if (((const char *)from)[i])
			return false;
	memcpy(to, from, size < ours ? size : ours);
	return true;
}

void opts_give(void *to, const void *from, size_t ours)
{
	size_t size, head = sizeof(size);

	if (!to)
		return;
	memcpy(&size, to, sizeof(size));
	if (size < head)
		return;
	memset((char *)to + head, 0, size - head);
	memcpy((char *)to + head, (const char *)from + head, (size < ours ? size : ours) - head);
}
