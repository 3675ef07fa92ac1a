/* hold_test.c: what is left of a run that can't hold processes. */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "kernel/handmade_int.h"

/* From now on this process gets no memory that it could share with a child. */
static bool memory_to_share_is_denied(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_mmap, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[3])),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, MAP_SHARED | MAP_ANONYMOUS, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOMEM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog filter = { .len = COUNT(code), .filter = code };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

enum { NO_FILTER = 77 }; /* what a sanitizer ends with is no reason to skip */

static int hold_without_memory(void)
{
	const struct k_places places = { .pid = (uint32_t)getpid() };
	struct handmade h;
	struct err e = { 0 };
	struct k_run *k = NULL;

	hm_init(&h);
	HM_PROG(&h, IMG_TEST, HM_RETURN);
	if (k_open(&k, &h.img, NULL, &e) < 0 || !memory_to_share_is_denied())
		return NO_FILTER;
	if (k_hold_at(k, (uint32_t)getpid(), &places, &e) != -TALLY_ENOMEM || e.code != TALLY_ENOMEM)
		return 2;
	k_disable(k);
	k_close(k);
	return 0;
}

static void without_memory_to_share_nobody_is_held_and_the_run_closes(void **state)
{
	int status;
	pid_t pid;

	(void)state;
	HM_NEED_RIGHTS();
	pid = fork();
	if (!pid)
		_exit(hold_without_memory());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == NO_FILTER) {
		print_message("# skipped: no filter of system calls may be set here\n");
		skip();
	}
	assert_int_equal(WEXITSTATUS(status), 0);
}

/* How many mappings this process has of memory that it shares with its children. */
static uint32_t shared_mappings(void)
{
	FILE *f = fopen("/proc/self/maps", "r");
	char line[512];
	uint32_t n = 0;

	assert_non_null(f);
	while (fgets(line, sizeof(line), f))
		n += strstr(line, "/dev/zero (deleted)") != NULL;
	fclose(f);
	return n;
}

static int lowest_free_descriptor(void)
{
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	close(fd);
	return fd;
}

static void a_run_that_could_hold_processes_leaves_nothing_when_it_closes(void **state)
{
	const struct k_places places = { .pid = (uint32_t)getpid() };
	uint32_t before, during;
	struct handmade h;
	struct err e = { 0 };
	struct k_run *k = NULL;
	int fd;

	(void)state;
	HM_NEED_RIGHTS();
	before = shared_mappings();
	fd = lowest_free_descriptor();
	hm_init(&h);
	HM_PROG(&h, IMG_TEST, HM_RETURN);
	assert_int_equal(k_open(&k, &h.img, NULL, &e), 0);
	if (k_hold_at(k, (uint32_t)getpid(), &places, &e) < 0)
		fail_msg("%s", e.text);
	during = shared_mappings();
	assert_int_equal(during, before + 1);
	k_disable(k);
	k_close(k);
	assert_int_equal(shared_mappings(), before);
	assert_int_equal(lowest_free_descriptor(), fd);
	assert_int_equal(mem_live(), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_run_that_could_hold_processes_leaves_nothing_when_it_closes),
		cmocka_unit_test(without_memory_to_share_nobody_is_held_and_the_run_closes),
	};

	return cmocka_run_group_tests_name("kernel: hold", tests, NULL, NULL);
}
