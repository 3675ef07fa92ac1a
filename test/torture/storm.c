/*
 * storm: the program that campaign `storms` traces: N forks or execs, or both without an end, as fast as it can.
 *
 *	storm forks N | execs N | forever
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <signal.h>
#include <unistd.h>

static void storm_fork(int execs)
{
	const pid_t pid = fork();

	if (pid == 0) {
		if (execs)
			execl("/bin/true", "true", (char *)NULL);
		_exit(0);
	}
	if (pid > 0)
		waitpid(pid, NULL, 0);
}

static void storm_faults(void)
{
	enum { BYTES = 4 << 20 };
	char *p = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return;
	madvise(p, BYTES, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < BYTES; i += 4096)
		*(volatile char *)(p + i) = 1;
	munmap(p, BYTES);
}

int main(int argc, char **argv)
{
	const long n = argc > 2 ? atol(argv[2]) : 0;
	const int forever = argc == 2 && !strcmp(argv[1], "forever"), execs = argc > 2 && !strcmp(argv[1], "execs");

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (!forever && n <= 0)
		return 2;
	for (long i = 0; forever || i < n; i++) {
		storm_fork(execs || (forever && i % 4 == 0));
		if (forever)
			storm_faults();
	}
	return 0;
}
