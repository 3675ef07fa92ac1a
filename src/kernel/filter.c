/*
 * filter.c: a text through another program, as `cpp <in >out` does it.
 *
 * Both pipes are served in one loop, so neither end can wait for the other.  What the program says on its standard
 * error is the user's.  As with the command of -c, a user's program gets none of our capabilities.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kernel/kernel_int.h"

#define FILTER_MOST (64u << 20) /* bytes of an answer: an include that never ends is told */

static void filter_exec(char *const *argv, int in, int out)
{
	if (geteuid() != 0)
		rights_drop();
	signal(SIGPIPE, SIG_DFL);
	/* dup2() to itself, when we run without standard input, leaves close-on-exec. */
	if (dup2(in, STDIN_FILENO) < 0 || dup2(out, STDOUT_FILENO) < 0 || fcntl(STDIN_FILENO, F_SETFD, 0) < 0)
		_exit(127);
	execvp(argv[0], argv);
	_exit(127);
}

/* Writes what the pipe takes; the descriptor is closed, and -1, at the end of the text or when nobody reads it. */
static void filter_feed(int *fd, const char **text, size_t *n)
{
	ssize_t done = *n ? write(*fd, *text, *n) : 0;

	if (done < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (done > 0) {
		*text += done;
		*n -= (size_t)done;
	}
	if (done < 0 || !*n) {
		close(*fd);
		*fd = -1;
	}
}

/* 1 while there may be more. */
static int filter_take(int fd, struct buf *out)
{
	char part[16384];
	ssize_t n = read(fd, part, sizeof(part));

	if (n > 0)
		buf_put(out, part, (size_t)n);
	return n > 0 || (n < 0 && (errno == EINTR || errno == EAGAIN)) ? !out->failed && out->n <= FILTER_MOST : 0;
}

static void filter_serve(int to, int from, const char *text, size_t n, struct buf *out)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN }, had;
	struct pollfd p[2] = { { .fd = from, .events = POLLIN }, { .fd = to, .events = POLLOUT } };
	int more = 1;

	sigaction(SIGPIPE, &ignore, &had);
	while (more) {
		if (poll(p, 2, -1) < 0 && errno != EINTR)
			break;
		if (p[1].fd >= 0 && p[1].revents)
			filter_feed(&p[1].fd, &text, &n);
		if (p[0].revents)
			more = filter_take(from, out);
	}
	if (p[1].fd >= 0)
		close(p[1].fd);
	sigaction(SIGPIPE, &had, NULL);
}

int k_filter(char *const *argv, const char *text, size_t n, struct buf *out, struct err *e)
{
	int in[2], back[2], status = 0;
	pid_t pid;

	if (pipe2(in, O_CLOEXEC) < 0)
		return err_set(e, TALLY_EIO, "%s", strerror(errno));
	if (pipe2(back, O_CLOEXEC) < 0) {
		close(in[0]);
		close(in[1]);
		return err_set(e, TALLY_EIO, "%s", strerror(errno));
	}
	pid = fork();
	if (pid == 0)
		filter_exec(argv, in[0], back[1]);
	close(in[0]);
	close(back[1]);
	if (pid > 0) {
		fcntl(in[1], F_SETFL, O_NONBLOCK);
		filter_serve(in[1], back[0], text, n, out);
		close(back[0]);
		while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
			;
	} else {
		close(in[1]);
		close(back[0]);
		return err_set(e, TALLY_EIO, "fork: %s", strerror(errno));
	}
	if (out->failed)
		return err_oom(e);
	if (out->n > FILTER_MOST)
		return err_set(e, TALLY_EINVAL, "%s wrote more than %u MB", argv[0], FILTER_MOST >> 20);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
		return err_set(e, TALLY_ENOTSUP, "cannot run %s: is it installed (package cpp)?", argv[0]);
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		return err_set(e, TALLY_EINVAL, "%s exited with status %d", argv[0],
			       WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
	return 0;
}
