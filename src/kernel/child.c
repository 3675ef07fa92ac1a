/*
 * child.c: the command of -c.
 *
 * The child is forked before anything is armed and waits in a pipe until it
 * is released, so that nothing of its run is missed and nothing of ours is
 * counted as its own.  A second pipe, closed by a successful exec, tells how the
 * exec went.  If we die first, the waiting child reads the end of the pipe
 * and ends too; once it runs, the kernel kills it when we die (PR_SET_PDEATHSIG), which
 * the exec of a set-user-id program or of one with capabilities undoes.  "We" are the thread that forked:
 * so the kernel is asked only by a program's first thread, whose end is that of the program.
 *
 * Capabilities are tally's own: the command of a user gets none of them, neither from the program's file nor from those
 * that processes inherit.  Root's command is root's.
 *
 * The command is split as a shell would split it, but not run by one: the
 * process that is counted is the command itself.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kernel/kernel_int.h"

#define TURN_MS 20 /* bounds how long *stop is unseen */

/* ---- splitting ------------------------------------------------------------------- */

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n';
}

/* Takes one character of a word at *s into *to; quote is the quote we are in, or 0. */
static void word_char(const char **s, char **to, char *quote)
{
	char c = *(*s)++;

	if (*quote ? c == *quote : c == '\'' || c == '"')
		*quote = *quote ? 0 : c;
	else if (c == '\\' && *quote == '"' && !strchr("\"\\$`", **s))
		*(*to)++ = c; /* within "" only these can be escaped */
	else if (c == '\\' && *quote != '\'')
		*(*to)++ = *(*s)++;
	else
		*(*to)++ = c;
}

/* One word at *s, written to to. False: a quote or an escape has no end. */
static bool word_split(const char **s, char *to)
{
	char quote = 0;

	while (**s && (quote || !is_blank(**s))) {
		if (**s == '\\' && quote != '\'' && !(*s)[1])
			return false;
		word_char(s, &to, &quote);
	}
	*to = '\0';
	return !quote;
}

int child_split(const char *cmd, struct arena *a, char ***argv, struct err *e)
{
	size_t n = strlen(cmd);
	char **v = arena_alloc(a, (n / 2 + 2) * sizeof(*v));
	char *text = arena_alloc(a, n + 2);
	uint32_t argc = 0;

	if (!v || !text)
		return err_oom(e);
	for (;;) {
		while (is_blank(*cmd))
			cmd++;
		if (!*cmd)
			break;
		v[argc++] = text;
		if (!word_split(&cmd, text))
			return err_set(e, TALLY_EINVAL, "the command has an unterminated quote or backslash");
		text += strlen(text) + 1;
	}
	if (!argc)
		return err_set(e, TALLY_EINVAL, "the command is empty");
	*argv = v;
	return 0;
}

/* ---- starting ---------------------------------------------------------------------- */

/*
 * In the child. Only what is safe after a fork.  What it does between its
 * release and its exec counts as the command's own, so it does it once before:
 * the pages are there then, and cost no fault.
 */
static void child_run(int go, int err, pid_t parent, char *const *argv, char *const *env)
{
	sigset_t none;
	char byte = 0; /* what the end of the pipe leaves */
	const int ready = 0;
	int no;

	if (geteuid() != 0)
		rights_drop();
	if (parent)
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (parent && getppid() != parent)
		_exit(127); /* it died before the kernel was asked */
	signal(SIGPIPE, SIG_DFL);
	sigprocmask(SIG_SETMASK, NULL, &none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	for (; env && *env; env++)
		putenv(*env); /* one without '=' goes */
	execvp("\001", argv); /* fails, after a search of the whole path */
	if (write(err, &ready, sizeof(ready)) != sizeof(ready))
		_exit(127);
	while (read(go, &byte, 1) < 0 && errno == EINTR)
		;
	if (byte != 'g')
		_exit(127);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	execvp(argv[0], argv);
	no = errno;
	if (write(err, &no, sizeof(no)) < 0)
		no = 0;
	_exit(no == ENOENT ? 127 : 126);
}

static int pipes_open(int go[2], int err[2], struct err *e)
{
	int no;

	if (pipe2(go, O_CLOEXEC) < 0)
		return run_file_refused("making a pipe", errno, e);
	if (pipe2(err, O_CLOEXEC) == 0)
		return 0;
	no = errno;
	close(go[0]);
	close(go[1]);
	return run_file_refused("making a pipe", no, e);
}

/* Nothing is traced before the child has made its preparations: probes would count them.  One that died meanwhile is
 * told by its status. */
static void child_wait_until_ready(struct k_child *c)
{
	int ready;

	while (read(c->err_fd, &ready, sizeof(ready)) < 0 && errno == EINTR)
		;
}

static int child_fork(struct k_child *c, char *const *argv, char *const *env, struct err *e)
{
	const pid_t parent = syscall(SYS_gettid) == getpid() ? getpid() : 0;
	int go[2], err[2], rc = pipes_open(go, err, e);

	if (rc < 0)
		return rc;
	c->pid = fork();
	if (c->pid == 0) {
		close(go[1]);
		child_run(go[0], err[1], parent, argv, env);
	}
	close(go[0]);
	close(err[1]);
	c->go_fd = go[1];
	c->err_fd = err[0];
	if (c->pid > 0)
		c->pidfd = (int)syscall(SYS_pidfd_open, c->pid, 0);
	if (c->pid > 0 && c->pidfd >= 0) {
		child_wait_until_ready(c);
		return 0;
	}
	rc = err_set(e, TALLY_EIO, "cannot start the command: %s", strerror(errno));
	k_child_kill(c);
	return rc;
}

int k_child_start_argv(char *const *argv, struct k_child *c, struct err *e)
{
	*c = (struct k_child){ .pid = -1, .pidfd = -1, .go_fd = -1, .err_fd = -1 };
	return child_fork(c, argv, NULL, e);
}

int k_child_start(const char *cmd, char *const *env, struct k_child *c, struct err *e)
{
	struct arena a = { 0 };
	char **argv;
	int rc;

	*c = (struct k_child){ .pid = -1, .pidfd = -1, .go_fd = -1, .err_fd = -1 };
	rc = child_split(cmd, &a, &argv, e);
	if (rc == 0)
		rc = child_fork(c, argv, env, e);
	arena_free(&a);
	return rc;
}

static void child_shut_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* ---- ending ------------------------------------------------------------------------- */

static void child_ended(struct k_child *c, int status)
{
	c->ended = true;
	c->status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
	child_shut_fd(&c->pidfd);
	child_shut_fd(&c->go_fd);
	child_shut_fd(&c->err_fd);
}

int child_let_go(struct k_child *c)
{
	const int rc = write(c->go_fd, "g", 1) == 1 ? 0 : -1, no = errno;

	child_shut_fd(&c->go_fd);
	errno = no;
	return rc;
}

/* errno of an exec that failed, or 0; waits until either is known. */
static int child_exec_error(struct k_child *c)
{
	int no = 0;

	while (read(c->err_fd, &no, sizeof(no)) < 0 && errno == EINTR)
		;
	child_shut_fd(&c->err_fd);
	return no;
}

void child_ended_early(struct k_child *c, int status)
{
	c->exec_error = child_exec_error(c);
	child_ended(c, status);
}

/* A child that could not exec ends at once: its status is waited for here, so that it is known when this returns. */
int k_child_release(struct k_child *c, struct err *e)
{
	int no, st;

	if (c->held) {
		ptrace(PTRACE_DETACH, c->pid, 0, 0);
		c->held = false;
		child_shut_fd(&c->err_fd);
		return 0;
	}
	if (c->exec_error)
		return err_set(e, TALLY_EINVAL, "cannot run the command: %s", strerror(c->exec_error));
	if (c->ended)
		return 0;
	if (c->go_fd < 0)
		return err_set(e, TALLY_ESTATE, "the command is already running");
	no = child_let_go(c) < 0 ? errno : child_exec_error(c);
	if (no && waitpid(c->pid, &st, 0) == c->pid)
		child_ended(c, st);
	return no ? err_set(e, TALLY_EINVAL, "cannot run the command: %s", strerror(no)) : 0;
}

int k_child_status(struct k_child *c, int *status)
{
	int st;

	if (!c->ended && !c->held && c->pid > 0 && waitpid(c->pid, &st, WNOHANG) == c->pid)
		child_ended(c, st);
	if (c->ended)
		*status = c->status;
	return c->ended;
}

/* A signal ends a poll; one that comes just before it is seen in the next turn. */
int k_child_wait(struct k_child *c, uint64_t until, const volatile int *stop)
{
	int status;

	while (!k_child_status(c, &status) && k_now_ns() < until && !(stop && *stop)) {
		struct pollfd fd = { .fd = c->pidfd, .events = POLLIN };

		(void)poll(&fd, 1, TURN_MS);
	}
	return c->ended;
}

/* Before its exec it has our handlers, and what it would do with a signal nobody knows. */
void k_child_end(struct k_child *c, uint64_t patience_ns)
{
	int status;

	if (c->pid > 0 && c->go_fd < 0 && !c->held && !k_child_status(c, &status)) {
		kill(c->pid, SIGTERM);
		k_child_wait(c, k_now_ns() + patience_ns, NULL);
	}
	k_child_kill(c);
}

void k_child_kill(struct k_child *c)
{
	int st = 0;

	if (!c->ended && c->pid > 0) {
		kill(c->pid, SIGKILL);
		while (waitpid(c->pid, &st, 0) < 0 && errno == EINTR)
			;
		child_ended(c, st);
	}
	child_shut_fd(&c->pidfd);
	child_shut_fd(&c->go_fd);
	child_shut_fd(&c->err_fd);
}

int k_process_fd(int pid, struct err *e)
{
	int fd = pid > 0 ? (int)syscall(SYS_pidfd_open, pid, 0) : -1;

	if (fd >= 0)
		return fd;
	if (pid > 0 && errno != ESRCH && errno != EINVAL)
		return err_set(e, TALLY_EIO, "cannot watch process %d: %s", pid, strerror(errno));
	return err_set(e, TALLY_EINVAL, "no such process: %d", pid);
}
