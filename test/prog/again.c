/*
 * again: two processes after each other that have the same id, and take page faults.
 *
 *	again FAULTS
 * prints the id; ends with 77 where a process's id can't be chosen (clone3() with set_tid: Linux 5.5, CAP_SYS_ADMIN)
 */
#include <errno.h>
#include <linux/sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void fault(unsigned long faults)
{
	enum { BATCH = 1024 };
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *area = mmap(NULL, BATCH * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (area == MAP_FAILED || madvise(area, BATCH * page, MADV_NOHUGEPAGE) < 0)
		_exit(1);
	for (unsigned long i = 0; i < faults; i++) {
		if (i && i % BATCH == 0)
			madvise(area, BATCH * page, MADV_DONTNEED);
		area[i % BATCH * page] = 1;
	}
	_exit(0);
}

/* A child with that id, or any for 0; negative when it can't be had. */
static pid_t child(pid_t id, unsigned long faults)
{
	struct clone_args args = { .exit_signal = SIGCHLD,
				   .set_tid = id ? (uint64_t)(uintptr_t)&id : 0,
				   .set_tid_size = id != 0 };
	pid_t pid = (pid_t)syscall(SYS_clone3, &args, sizeof(args));

	if (pid == 0)
		fault(faults);
	return pid;
}

int main(int argc, char **argv)
{
	unsigned long faults = argc > 1 ? strtoul(argv[1], NULL, 0) : 0;
	pid_t first = child(0, faults), second;

	if (first < 0 || waitpid(first, NULL, 0) < 0)
		return 77;
	second = child(first, faults);
	for (unsigned i = 0; second < 0 && errno == EEXIST && i < 1000; i++) /* somebody else was given it meanwhile */
		second = child(first, faults);
	if (second < 0 || waitpid(second, NULL, 0) < 0)
		return 77;
	printf("%d\n", (int)second);
	return 0;
}
