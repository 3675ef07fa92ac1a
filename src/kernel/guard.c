/*
 * guard.c: something is undone though this process be killed.
 *
 * A forked process waits at a pipe.  A word through it says that all is well; its end without a
 * word says that we are gone, and then the undoing is the guard's.  It has its own session, so
 * what a terminal sends does not reach it.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kernel/kernel.h"

static void stand_guard(int fd, void (*undo)(void *arg), void *arg)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGPIPE };
	char word;
	ssize_t n;

	(void)setsid();
	for (size_t i = 0; i < COUNT(signals); i++)
		(void)signal(signals[i], SIG_IGN);
	do
		n = read(fd, &word, 1);
	while (n < 0 && errno == EINTR);
	if (n <= 0)
		undo(arg);
	_exit(0);
}

int k_guard_start(struct k_guard *g, void (*undo)(void *arg), void *arg, struct err *e)
{
	int fd[2];

	if (pipe2(fd, O_CLOEXEC) < 0)
		return err_set(e, TALLY_EIO, "pipe: %s", strerror(errno));
	g->pid = fork();
	if (g->pid < 0) {
		close(fd[0]);
		close(fd[1]);
		return err_set(e, TALLY_EIO, "fork: %s", strerror(errno));
	}
	if (g->pid == 0) {
		close(fd[1]);
		stand_guard(fd[0], undo, arg);
	}
	close(fd[0]);
	g->fd = fd[1];
	return 0;
}

void k_guard_end(struct k_guard *g)
{
	if (!g->pid)
		return;
	(void)!write(g->fd, "", 1);
	close(g->fd);
	while (waitpid(g->pid, NULL, 0) < 0 && errno == EINTR)
		;
	g->pid = 0;
}
