/*
 * syscall.c: the rows of syscall.def.
 */
#include "facts/syscall.h"

#include <stddef.h>

#define NONE SYSCALL_NONE
static const struct syscall_row rows[] = {
#define SYSCALL(name, x86_64, i386, arm64) { #name, { x86_64, i386, arm64 } },
#include "facts/syscall.def"
#undef SYSCALL
};

const struct syscall_row *syscall_at(uint32_t i)
{
	return i < sizeof(rows) / sizeof(*rows) ? &rows[i] : NULL;
}
