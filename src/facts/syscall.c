/*
 * syscall.c: the rows of syscall.def.
 */
#include "facts/syscall.h"

#include <stddef.h>
#include <string.h>

#define NONE SYSCALL_NONE
#define UNTOLD SYSCALL_UNTOLD
static const struct syscall_row rows[] = {
#define SYSCALL(name, x86_64, i386, arm64, args) { #name, { x86_64, i386, arm64 }, args },
#define SYSCALL_TYPE(letter, type)
#include "facts/syscall.def"
#undef SYSCALL
#undef SYSCALL_TYPE
};

int syscall_type(char letter)
{
	static const char letters[] = {
#define SYSCALL(name, x86_64, i386, arm64, args)
#define SYSCALL_TYPE(letter, type) letter,
#include "facts/syscall.def"
#undef SYSCALL
#undef SYSCALL_TYPE
	};
	const char *at = memchr(letters, letter, sizeof(letters));

	return at ? (int)(at - letters) : -1;
}

const struct syscall_row *syscall_at(uint32_t i)
{
	return i < sizeof(rows) / sizeof(*rows) ? &rows[i] : NULL;
}

const struct syscall_row *syscall_named(const char *name)
{
	const struct syscall_row *r;

	for (uint32_t i = 0; (r = syscall_at(i)) != NULL; i++)
		if (!strcmp(r->name, name))
			return r;
	return NULL;
}
