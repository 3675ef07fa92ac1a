/*
 * guard.c: a forked process undoes changes (settings of a device, a mount) after this process was killed.
 *
 * The guard waits at a pipe whose other end only this process has.  End of file means that this process is gone,
 * whatever ended it; then the guard undoes the changes.  After a normal end this process kills the guard before it
 * closes the pipe, so there is no message that could get lost.
 *
 * The guard has its own session and ignores the signals that end a session from its first moment.  So a signal that a
 * terminal or a shutdown sends to all reaches only the guarded process, and the guard is there to undo its changes.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kernel/kernel_int.h"

static const int deaf_to[] = { SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGPIPE };

/* They are blocked when it starts; those that came meanwhile are forgotten here. */
static void stand_guard(int fd, void (*work)(void *arg, int fd), void *arg)
{
	for (size_t i = 0; i < COUNT(deaf_to); i++)
		(void)signal(deaf_to[i], SIG_IGN);
	(void)setsid();
	work(arg, fd);
	_exit(0);
}

static int fork_deaf(void)
{
	sigset_t set, was;
	int pid;

	sigemptyset(&set);
	for (size_t i = 0; i < COUNT(deaf_to); i++)
		sigaddset(&set, deaf_to[i]);
	sigprocmask(SIG_BLOCK, &set, &was);
	pid = fork();
	if (pid != 0)
		sigprocmask(SIG_SETMASK, &was, NULL);
	return pid;
}

int guard_start_work(struct k_guard *g, void (*work)(void *arg, int fd), void *arg, struct err *e)
{
	int fd[2], pid, no;

	if (pipe2(fd, O_CLOEXEC) < 0)
		return err_set(e, TALLY_EIO, "cannot create a pipe: %s", strerror(errno));
	pid = fork_deaf();
	no = errno;
	if (pid == 0) {
		close(fd[1]);
		stand_guard(fd[0], work, arg);
	}
	close(fd[0]);
	if (pid < 0) {
		close(fd[1]);
		return err_set(e, TALLY_EIO, "cannot start the guard process: %s", strerror(no));
	}
	*g = (struct k_guard){ .pid = pid, .fd = fd[1] };
	return 0;
}

struct guard_undo {
	void (*undo)(void *arg);
	void *arg;
};

static void guard_undo_at_end(void *arg, int fd)
{
	const struct guard_undo *u = arg;
	char byte;

	while (read(fd, &byte, 1) < 0 && errno == EINTR)
		;
	u->undo(u->arg);
}

int k_guard_start(struct k_guard *g, void (*undo)(void *arg), void *arg, struct err *e)
{
	struct guard_undo u = { undo, arg };

	return guard_start_work(g, guard_undo_at_end, &u, e);
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
