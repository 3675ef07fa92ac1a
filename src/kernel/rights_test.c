/* rights_test.c: what is missing without rights, in words with the command that grants it. */
#include <linux/capability.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "kernel/handmade_int.h"

/* Runs check in a child without any right; its exit status. */
static int as_nobody(int (*check)(void))
{
	int status;
	pid_t pid;

	if (geteuid() != 0) {
		print_message("# skipped: only root can become nobody\n");
		skip();
	}
	pid = fork();
	if (pid == 0)
		_exit(setresuid(65534, 65534, 65534) < 0 ? 100 : check());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 101;
}

static int words_name_the_command(void)
{
	char words[1024], little[8];

	k_missing_rights(words, sizeof(words));
	k_missing_rights(little, sizeof(little));
	if (strlen(little) >= sizeof(little) || strncmp(words, little, strlen(little)))
		return 1;
	return strstr(words, "sudo setcap cap_perfmon,cap_bpf") ? 0 : 2;
}

static void missing_rights_come_with_the_command_that_grants_them(void **state)
{
	(void)state;
	assert_int_equal(as_nobody(words_name_the_command), 0);
}

static int open_is_not_permitted(void)
{
	struct handmade h;
	struct err e = { 0 };
	struct k_run *k = NULL;

	hm_init(&h);
	hm_map(&h, IMG_PERCPU_HASH, IMG_AGG, 8, 8, 16);
	HM_PROG(&h, IMG_PERF, HM_RETURN);
	if (k_open(&k, &h.img, NULL, &e) != -TALLY_EPERM || k)
		return 1;
	return strstr(e.text, "setcap") ? 0 : 2;
}

static void image_is_not_permitted_without_rights(void **state)
{
	(void)state;
	assert_int_equal(as_nobody(open_is_not_permitted), 0);
}

/* ---- the command --------------------------------------------------------------------------- */

#define FIX_IS(want, program) assert_string_equal(fix_of("sudo x=ep " DOC_PROGRAM " go", program).text, want)

static void a_fix_names_the_program_as_a_shell_takes_it(void **state)
{
	(void)state;
	FIX_IS("sudo x=ep /usr/bin/tally go", "/usr/bin/tally");
	FIX_IS("sudo x=ep $'/a\\040\\047b\\044\\012\\303\\244/tally' go", "/a 'b$\n\xc3\xa4/tally");
	assert_string_equal(fix_of("sudo sysctl a=1", "/usr/bin/tally").text, "sudo sysctl a=1");
}

static void a_fix_names_no_other_program_and_none_that_is_gone_or_too_long(void **state)
{
	char deep[4000];

	(void)state;
	memset(deep, 'd', sizeof(deep));
	deep[0] = '/';
	memcpy(deep + sizeof(deep) - 7, "/tally", 7);
	FIX_IS("sudo x=ep PROGRAM go", "/usr/bin/python3");
	FIX_IS("sudo x=ep PROGRAM go", "/usr/bin/tally (deleted)");
	FIX_IS("sudo x=ep PROGRAM go", deep);
	FIX_IS("sudo x=ep PROGRAM go", NULL);
	FIX_IS("sudo x=ep PROGRAM go", "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(missing_rights_come_with_the_command_that_grants_them),
		cmocka_unit_test(image_is_not_permitted_without_rights),
		cmocka_unit_test(a_fix_names_the_program_as_a_shell_takes_it),
		cmocka_unit_test(a_fix_names_no_other_program_and_none_that_is_gone_or_too_long),
	};

	return cmocka_run_group_tests_name("kernel: rights", tests, NULL, NULL);
}
