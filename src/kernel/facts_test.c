/* facts_test.c: what another process is called, whatever it calls itself. */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "kernel/kernel.h"

static void a_process_is_called_by_its_command_line_without_directories(void **state)
{
	char name[4096], little[16];

	(void)state;
	k_process_command(getpid(), name, sizeof(name));
	assert_int_equal(strncmp(name, program_invocation_short_name, strlen(program_invocation_short_name)), 0);
	k_process_command(getpid(), little, sizeof(little));
	assert_true(strlen(little) < sizeof(little));
	assert_int_equal(strncmp(name, little, 8), 0);
	if (strlen(name) >= sizeof(little))
		assert_string_equal(little + strlen(little) - 4, " ...");
}

static void a_name_with_control_characters_is_harmless(void **state)
{
	char name[64];
	siginfo_t how;
	pid_t pid;

	(void)state;
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_NAME, "a\033[2J\nb");
		_exit(0);
	}
	assert_int_equal(waitid(P_PID, (id_t)pid, &how, WEXITED | WNOWAIT), 0); /* it has no command line any more */
	k_process_command(pid, name, sizeof(name));
	assert_string_equal(name, "a?[2J?b");
	waitpid(pid, NULL, 0);
}

static void a_process_that_is_gone_has_no_name(void **state)
{
	char name[64];
	pid_t pid = fork();

	(void)state;
	if (pid == 0)
		_exit(0);
	waitpid(pid, NULL, 0);
	k_process_command(pid, name, sizeof(name));
	assert_string_equal(name, "?");
}

static void a_module_is_there_if_the_kernel_has_it_and_not_by_a_path(void **state)
{
	(void)state;
	assert_true(k_module_is_there("vmlinux"));
	assert_true(k_module_is_there("printk"));
	assert_false(k_module_is_there("no_such_module"));
	assert_false(k_module_is_there(""));
	assert_false(k_module_is_there(".."));
	assert_false(k_module_is_there("printk/parameters"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_process_is_called_by_its_command_line_without_directories),
		cmocka_unit_test(a_name_with_control_characters_is_harmless),
		cmocka_unit_test(a_process_that_is_gone_has_no_name),
		cmocka_unit_test(a_module_is_there_if_the_kernel_has_it_and_not_by_a_path),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
