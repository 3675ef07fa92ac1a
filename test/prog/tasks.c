/*
 * tasks.c: makes known numbers of processes, threads and signals; for the tests of what fires at them.
 *
 *	20 processes: 10 exit with status 3, 5 are killed, 3 try a program that is not there, 2 touch memory that is not
 *	theirs 7 threads 30 times SIGUSR1, handled; 4 times SIGURG, ignored; 3 times SIGUSR2, waited for `tasks pings
 *	N`: N round trips on one CPU; prints the nanoseconds of a switch, in the best of turns of 50 `tasks switch`:
 *	2,000 round trips through two pipes, and what the kernel says of this process's switches
 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void task_handle(int signal)
{
	(void)signal;
}

static void *task_thread(void *arg)
{
	return arg;
}

static void task_child(int i)
{
	/* Written to, so that it is in memory when the kernel's probe reads it. */
	static char volatile missing[] = "/nonexistent/program";
	int *volatile not_ours = (int *)16;

	if (i < 10)
		_exit(3);
	if (i < 15)
		kill(getpid(), SIGKILL);
	missing[0] = '/';
	if (i < 18)
		execl((const char *)missing, "program", (char *)NULL);
	else
		*not_ours = 1;
	_exit(4);
}

static int make_tasks(void)
{
	sigset_t waited;
	pthread_t thread;
	int signal;

	for (int i = 0; i < 20; i++) {
		pid_t pid = fork();

		if (pid == 0)
			task_child(i);
		if (pid < 0 || waitpid(pid, NULL, 0) != pid)
			return 1;
	}
	for (int i = 0; i < 7; i++)
		if (pthread_create(&thread, NULL, task_thread, NULL) || pthread_join(thread, NULL))
			return 1;
	for (int i = 0; i < 30; i++)
		raise(SIGUSR1);
	for (int i = 0; i < 4; i++)
		raise(SIGURG);
	sigemptyset(&waited);
	sigaddset(&waited, SIGUSR2);
	sigprocmask(SIG_BLOCK, &waited, NULL);
	for (int i = 0; i < 3; i++)
		if (raise(SIGUSR2) || sigwait(&waited, &signal) || signal != SIGUSR2)
			return 1;
	return 0;
}

/* The kernel's counts of this process until now. */
static int tell_switches(void)
{
	FILE *f = fopen("/proc/self/status", "r");
	char line[256];

	while (f && fgets(line, sizeof(line), f))
		if (strstr(line, "ctxt_switches"))
			fputs(line, stdout);
	return f ? fclose(f) : 1;
}

static double task_clock(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* So short a turn that now and then nobody else runs in it. */
#define TURN 50

static int make_switches(int n, bool pings)
{
	double best = 1e18, since = 0;
	int to[2], from[2];
	char c = 0;
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(0, &one);
	if ((pings && sched_setaffinity(0, sizeof(one), &one)) || pipe(to) || pipe(from))
		return 1;
	if (fork() == 0) {
		close(to[1]);
		while (read(to[0], &c, 1) == 1)
			if (write(from[1], &c, 1) != 1)
				break;
		_exit(0);
	}
	for (int i = 0; i < n; i++) {
		const double now = i % TURN ? 0 : task_clock();

		if (!(i % TURN) && i && (now - since) / (2 * TURN) < best)
			best = (now - since) / (2 * TURN);
		if (!(i % TURN))
			since = now;
		if (write(to[1], &c, 1) != 1 || read(from[0], &c, 1) != 1)
			return 1;
	}
	return pings ? printf("%.1f\n", best) < 0 : tell_switches();
}

int main(int argc, char **argv)
{
	signal(SIGUSR1, task_handle);
	signal(SIGURG, SIG_IGN);
	if (argc == 3 && !strcmp(argv[1], "pings"))
		return make_switches(atoi(argv[2]), true);
	return argc > 1 && !strcmp(argv[1], "switch") ? make_switches(2000, false) : make_tasks();
}
