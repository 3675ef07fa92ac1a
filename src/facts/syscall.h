/*
 * syscall.h: the system calls of Linux: names and numbers.
 *
 * A machine has one numbering for its own programs and may have another for programs of 32 bits; the name is the same.
 */
#ifndef TALLY_FACTS_SYSCALL_H
#define TALLY_FACTS_SYSCALL_H

#include <stdint.h>

enum syscall_abi { SYSCALL_X86_64, SYSCALL_I386, SYSCALL_ARM64, SYSCALL_ABIS };
#define SYSCALL_NONE (-1)
#define SYSCALL_NUMBERS 512u /* all numbers are below */
#define SYSCALL_NAME 32u     /* longest name, with its NUL */
#define SYSCALL_ARGS 6u      /* no call has more arguments */
#define SYSCALL_UNTOLD "-"   /* no type has this letter */

struct syscall_row {
	const char *name;
	int16_t number[SYSCALL_ABIS]; /* SYSCALL_NONE: programs of that kind have no such call */
	char args[8];                 /* a letter for the type of each argument; SYSCALL_UNTOLD: not told */
};
/* By name, ascending. NULL past the last. */
const struct syscall_row *syscall_at(uint32_t i);
const struct syscall_row *syscall_named(const char *name); /* NULL: there is no such call */
/* Which row of SYSCALL_TYPE the letter stands for; -1: none. */
int syscall_type(char letter);

#endif
