/* syscall_test.c: names and numbers of system calls, held against the headers of this machine and its kernel's
 * types. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/range.h"
#include "base/base.h"
#include "facts/syscall.h"

static const struct syscall_row *call_named(const char *name)
{
	const struct syscall_row *r;

	for (uint32_t i = 0; (r = syscall_at(i)) != NULL; i++)
		if (!strcmp(r->name, name))
			return r;
	return NULL;
}

static void rows_are_sorted_and_numbers_are_unique(void **state)
{
	const struct syscall_row *r;
	const char *last = "";

	(void)state;
	for (int abi = 0; abi < SYSCALL_ABIS; abi++) {
		bool seen[SYSCALL_NUMBERS] = { false };

		for (uint32_t i = 0; (r = syscall_at(i)) != NULL; i++) {
			if (r->number[abi] == SYSCALL_NONE)
				continue;
			assert_uint_in_range(r->number[abi], 0, SYSCALL_NUMBERS - 1);
			if (seen[r->number[abi]])
				fail_msg("%s: number %d is there twice", r->name, r->number[abi]);
			seen[r->number[abi]] = true;
		}
	}
	for (uint32_t i = 0; (r = syscall_at(i)) != NULL; i++, last = r->name) {
		assert_true(strcmp(last, r->name) < 0);
		assert_true(strlen(r->name) < SYSCALL_NAME);
		assert_true(strlen(r->args) <= SYSCALL_ARGS);
		for (const char *a = r->args; *a && strcmp(r->args, SYSCALL_UNTOLD); a++)
			if (syscall_type(*a) < 0)
				fail_msg("%s: there is no type '%c'", r->name, *a);
	}
}

static int16_t call_last_number(int abi)
{
	const struct syscall_row *r;
	int16_t last = 0;

	for (uint32_t i = 0; (r = syscall_at(i)) != NULL; i++)
		last = r->number[abi] > last ? r->number[abi] : last;
	return last;
}

/* How many names the header has that the preprocessor shows after that command.  Calls behind the last of ours are of a
 * newer Linux. */
static uint32_t compare(const char *command, int abi)
{
	FILE *f = popen(command, "r");
	char line[256], name[128];
	uint32_t n = 0;
	int number;

	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		const struct syscall_row *r;

		if (sscanf(line, "CALL %127s = %d", name, &number) != 2)
			continue;
		r = call_named(name);
		if (!r && number > call_last_number(abi))
			print_message("# %s (%d) is newer than these rows\n", name, number);
		else if (!r || r->number[abi] != number)
			fail_msg("%s is %d in the header, %d here", name, number, r ? r->number[abi] : -2);
		n++;
	}
	(void)pclose(f);
	return n;
}

/* Each name that the header defines, then its value as the preprocessor sees it. */
#define HEADER_ROWS(cc_include, header)                                                                                           \
	"h='" header "'; cc='cc -E -nostdinc " cc_include "'; "                                                                   \
	"(echo \"#include <$h>\"; echo \"#include <$h>\" | $cc -dM - 2>/dev/null | "                                              \
	"sed -nE 's/^#define __NR_([a-z0-9_]+) .*/CALL \\1 = __NR_\\1/p' | grep -vE 'CALL (syscalls|arch_specific_syscall) ') | " \
	"sed -E 's/^CALL ([a-z0-9_]+) = /\"CALL \\1\" = /' | $cc -P - 2>/dev/null | sed -nE 's/^\"CALL ([^\"]+)\" = \\(?([0-9]+)( *\\+ *([0-9]+)\\))?$/CALL \\1 = \\2/p'"

static void numbers_are_those_of_the_headers(void **state)
{
	static const struct {
		const char *what, *command;
		int abi;
	} rows[] = {
		{ "x86-64", HEADER_ROWS("-I/usr/include/x86_64-linux-gnu -I/usr/include", "asm/unistd_64.h"),
		  SYSCALL_X86_64 },
		{ "i386", HEADER_ROWS("-I/usr/include/x86_64-linux-gnu -I/usr/include", "asm/unistd_32.h"),
		  SYSCALL_I386 },
		{ "arm64", HEADER_ROWS("-I/usr/aarch64-linux-gnu/include", "asm/unistd.h"), SYSCALL_ARM64 },
		{ "arm64", HEADER_ROWS("-I/usr/include/aarch64-linux-gnu -I/usr/include", "asm/unistd.h"),
		  SYSCALL_ARM64 },
	};
	uint32_t found = 0;

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		uint32_t n = compare(rows[i].command, rows[i].abi);

		if (!n)
			print_message("# skipped: no headers of %s\n", rows[i].what);
		else if (n < 250)
			fail_msg("%s: only %u names of the header were understood", rows[i].what, n);
		found += n;
	}
	if (!found)
		skip();
}

static void each_name_has_its_own_row_and_others_have_none(void **state)
{
	static const char *const others[] = { "", "rea", "readx", "READ", "no_such_call" };
	const struct syscall_row *r;

	(void)state;
	for (uint32_t i = 0; (r = syscall_at(i)) != NULL; i++)
		assert_ptr_equal(syscall_named(r->name), r);
	for (size_t i = 0; i < COUNT(others); i++)
		assert_null(syscall_named(others[i]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_are_sorted_and_numbers_are_unique),
		cmocka_unit_test(each_name_has_its_own_row_and_others_have_none),
		cmocka_unit_test(numbers_are_those_of_the_headers),
	};

	return cmocka_run_group_tests_name("facts: syscall", tests, NULL, NULL);
}
