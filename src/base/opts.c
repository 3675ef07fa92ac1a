/*
 * opts.c: options structs that grow.  The first member of each is the size its caller was compiled with: what
 * the caller does not have is zero for us, and what we do not have must be zero at the caller's.
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

	memcpy(&size, to, sizeof(size));
	memcpy((char *)to + head, (const char *)from + head, (size < ours ? size : ours) - head);
}
