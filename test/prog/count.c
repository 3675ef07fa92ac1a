/*
 * count: how many events a command cost, counted apart from anything that samples.
 *
 *	count EVENT[:u|:k]... -- COMMAND [ARG...]	EVENT: cycles, instructions, page-faults
 * prints a line "EVENT[:u|:k] N" for each and exits as the command did.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST = 16 };

static const struct {
	const char *name;
	uint32_t type;
	uint64_t config;
} events[] = {
	{ "cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES },
	{ "instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS },
	{ "page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS },
};

/* A counter on pid that starts at its exec and follows its children; -1 with errno. */
static int counter_open(const char *spec, pid_t pid)
{
	size_t n = strcspn(spec, ":");
	struct perf_event_attr a = {
		.size = sizeof(a),
		.disabled = 1,
		.enable_on_exec = 1,
		.inherit = 1,
		.pinned = 1,
		.exclude_kernel = !strcmp(spec + n, ":u"),
		.exclude_user = !strcmp(spec + n, ":k"),
	};
	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++)
		if (strlen(events[i].name) == n && !strncmp(events[i].name, spec, n)) {
			a.type = events[i].type;
			a.config = events[i].config;
			return (int)syscall(SYS_perf_event_open, &a, pid, -1, -1, 0);
		}
	errno = EINVAL;
	return -1;
}

/* Runs the command once a byte arrives. */
static pid_t child_start(char **argv, int *go)
{
	int pipes[2];
	char byte;
	if (pipe(pipes) < 0)
		return -1;
	*go = pipes[1];
	pid_t pid = fork();
	if (pid == 0) {
		close(pipes[1]);
		if (read(pipes[0], &byte, 1) == 1)
			execvp(argv[0], argv);
		_exit(127);
	}
	close(pipes[0]);
	return pid;
}

int main(int argc, char **argv)
{
	int fd[MOST], n = 1, go, status;
	while (n < argc && n <= MOST && strcmp(argv[n], "--"))
		n++;
	if (n < 2 || n + 1 >= argc || n > MOST) {
		fprintf(stderr, "usage: count EVENT[:u|:k]... -- COMMAND [ARG...]\n");
		return 2;
	}
	pid_t pid = child_start(argv + n + 1, &go);
	for (int i = 1; i < n; i++)
		if (pid < 0 || (fd[i - 1] = counter_open(argv[i], pid)) < 0) {
			fprintf(stderr, "count: %s: %s\n", argv[i], strerror(errno));
			return 2;
		}
	if (write(go, "", 1) != 1 || waitpid(pid, &status, 0) < 0)
		return 2;
	for (int i = 1; i < n; i++) {
		uint64_t value;
		if (read(fd[i - 1], &value, sizeof(value)) == sizeof(value))
			printf("%s %llu\n", argv[i], (unsigned long long)value);
		else
			printf("%s got no counter\n", argv[i]);
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
