/* rights_test.c: what is missing without rights, in words with the command that grants it. */
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include <tally/doctor.h>

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
	struct err e = { 0 };

	if (k_may_run(false, &e) != -TALLY_EPERM)
		return 1;
	return strstr(e.text, "chmod 750 \"$0\"; setcap cap_perfmon,cap_bpf=ep \"$0\"") ? 0 : 2;
}

static void missing_rights_come_with_the_command_that_grants_them(void **state)
{
	(void)state;
	assert_int_equal(as_nobody(words_name_the_command), 0);
}

/* 0 is "it may": no other number that is not negative. */
static void who_may_run_is_told_0_and_who_may_not_is_told_why(void **state)
{
	(void)state;
	for (int events = 0; events < 2; events++) {
		struct err e = { 0 };
		int rc = k_may_run(events, &e);

		if (rc != 0)
			assert_true((rc == -TALLY_EPERM || rc == -TALLY_ENOTSUP) && *e.text);
		assert_int_equal(-e.code, rc);
	}
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

/* ---- capabilities of the program's file ----------------------------------------------------------- */

static uint64_t capabilities(const char *set)
{
	char text[4096], *line;

	line = file_small("/proc/self/status", text, sizeof(text)) > 0 ? strstr(text, set) : NULL;
	return line ? strtoull(line + strlen(set), NULL, 16) : UINT64_MAX;
}

#define BIT(cap) (UINT64_C(1) << (cap))
#define KEPT(rights, permitted, effective)                                                 \
	(k_rights_keep(rights) == 0 && capabilities("\nCapPrm:\t") == (permitted) &&       \
	 capabilities("\nCapEff:\t") == (effective) && capabilities("\nCapInh:\t") == 0 && \
	 capabilities("\nCapAmb:\t") == 0)

/* As root: it has them all, so what is left is what was kept. */
static int keeps_what_the_rights_name(void)
{
	const uint64_t count = BIT(CAP_PERFMON) | BIT(CAP_IPC_LOCK), program = BIT(CAP_BPF);
	const uint64_t names = BIT(CAP_SYSLOG) | BIT(CAP_SYS_PTRACE), has = capabilities("\nCapPrm:\t");

	if (!KEPT(TALLY_RIGHT_COUNT | TALLY_RIGHT_PROGRAM | TALLY_RIGHT_NAMES, has & (count | program | names),
		  has & (count | program)))
		return 1;
	if (!KEPT(TALLY_RIGHT_COUNT | TALLY_RIGHT_NAMES, has & (count | names), has & count) || has_capability(CAP_BPF))
		return 2;
	if (!KEPT(TALLY_RIGHT_COUNT, has & count, has & count) ||
	    has_capability(CAP_PERFMON) != (has >> CAP_PERFMON & 1))
		return 3;
	return KEPT(0, 0, 0) && KEPT(TALLY_RIGHT_COUNT, 0, 0) ? 0 : 4;
}

/* What an open needs is in effect for it, and not after it. */
static int raises_for_one_open(void)
{
	const uint64_t names = capabilities("\nCapPrm:\t") & (BIT(CAP_SYSLOG) | BIT(CAP_SYS_PTRACE));
	int self, fd;

	if (k_rights_keep(TALLY_RIGHT_NAMES) < 0 || capabilities("\nCapEff:\t") != 0)
		return 1;
	self = open("/proc/1/root", O_PATH | O_DIRECTORY | O_CLOEXEC);
	fd = rights_open(CAP_SYS_PTRACE, "/proc/1/root", O_PATH | O_DIRECTORY);
	if (names & BIT(CAP_SYS_PTRACE) && fd < 0 && errno != EACCES)
		return 2;
	if (self >= 0 && fd < 0)
		return 3;
	return capabilities("\nCapEff:\t") == 0 && rights_open(CAP_SYS_PTRACE, "/no/such", O_RDONLY) == -1 &&
			       errno == ENOENT ?
		       0 :
		       4;
}

static void *wait_at_pipe(void *fd)
{
	char c;

	(void)!read(*(int *)fd, &c, 1);
	return NULL;
}

/* The other thread would keep what this one gives up. */
static int refuses_beside_a_thread(void)
{
	const uint64_t before = capabilities("\nCapPrm:\t");
	pthread_t thread;
	int fd[2];

	if (pipe(fd) < 0 || pthread_create(&thread, NULL, wait_at_pipe, &fd[0]) != 0)
		return 1;
	if (k_rights_keep(0) != -TALLY_ESTATE || capabilities("\nCapPrm:\t") != before)
		return 2;
	if (write(fd[1], "", 1) != 1 || pthread_join(thread, NULL) != 0)
		return 3;
	return 0;
}

static int drops_all(void)
{
	rights_drop();
	return capabilities("\nCapPrm:\t") | capabilities("\nCapEff:\t") | capabilities("\nCapInh:\t") ? 1 : 0;
}

static int in_a_child(int (*check)(void))
{
	int status;
	pid_t pid = fork();

	if (pid == 0)
		_exit(check());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 101;
}

static void of_a_files_capabilities_only_those_of_the_rights_are_kept(void **state)
{
	(void)state;
	assert_int_equal(in_a_child(keeps_what_the_rights_name), 0);
	assert_int_equal(in_a_child(drops_all), 0);
}

static void rights_are_not_given_up_for_one_thread_of_two(void **state)
{
	(void)state;
	assert_int_equal(in_a_child(refuses_beside_a_thread), 0);
}

static void a_capability_that_leads_to_files_is_in_effect_for_one_open_only(void **state)
{
	(void)state;
	assert_int_equal(in_a_child(raises_for_one_open), 0);
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
		cmocka_unit_test(who_may_run_is_told_0_and_who_may_not_is_told_why),
		cmocka_unit_test(image_is_not_permitted_without_rights),
		cmocka_unit_test(of_a_files_capabilities_only_those_of_the_rights_are_kept),
		cmocka_unit_test(rights_are_not_given_up_for_one_thread_of_two),
		cmocka_unit_test(a_capability_that_leads_to_files_is_in_effect_for_one_open_only),
		cmocka_unit_test(a_fix_names_the_program_as_a_shell_takes_it),
		cmocka_unit_test(a_fix_names_no_other_program_and_none_that_is_gone_or_too_long),
	};

	return cmocka_run_group_tests_name("kernel: rights", tests, NULL, NULL);
}
