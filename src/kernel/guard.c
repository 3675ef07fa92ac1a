/*
 * guard.c: something is undone though this process be killed.
 *
 * A forked process waits at a pipe of which only this process has the other end.  If it reads an
 * end of file, this process is gone, whatever it was that ended it, and the undoing is the guard's.  If all went
 * well the guard is killed before the pipe is closed, so there is no word that could be lost on its way.
 *
 * It has its own session, and is deaf to what ends a session: what a terminal or a shutdown
 * sends to all first meets who is guarded, and then there is something to undo.
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
	static const int deaf_to[] = { SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGPIPE };
	char byte;

	(void)setsid();
	for (size_t i = 0; i < COUNT(deaf_to); i++)
		(void)signal(deaf_to[i], SIG_IGN);
	while (read(fd, &byte, 1) < 0 && errno == EINTR)
		;
	undo(arg);
	_exit(0);
}

int k_guard_start(struct k_guard *g, void (*undo)(void *arg), void *arg, struct err *e)
{
	int fd[2], pid;

	if (pipe2(fd, O_CLOEXEC) < 0)
		return err_set(e, TALLY_EIO, "a pipe can't be made: %s", strerror(errno));
	pid = fork();
	if (pid == 0) {
		close(fd[1]);
		stand_guard(fd[0], undo, arg);
	}
	close(fd[0]);
	if (pid < 0) {
		close(fd[1]);
		return err_set(e, TALLY_EIO, "a guard can't be started: %s", strerror(errno));
	}
	*g = (struct k_guard){ .pid = pid, .fd = fd[1] };
	return 0;
}

void k_guard_end(struct k_guard *g)
{
	if (!g->pid)
		return;
	kill(g->pid, SIGKILL);
	while (waitpid(g->pid, NULL, 0) < 0 && errno == EINTR)
		;
	close(g->fd);
	g->pid = 0;
}
