/*
 * left_open.c: what a unit test leaves open, as ASan tells what it leaves allocated.
 *
 * Descriptors, shared mappings (rings, aux areas, memory of devices) and child processes are compared when main() is
 * over with those of its beginning.  What is left is a failure of its own, with the name that the kernel has for it. It
 * is linked with every unit test, and with no fuzz target or benchmark; a child that a test forks and that calls exit()
 * is not looked at.
 *
 * Standard input is closed before main(): the first descriptor that is opened is then 0, which is as good as any, and
 * code that takes it for none is found.
 */
#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { DESCRIPTORS_MOST = 1024 };

static struct {
	pid_t pid;
	bool open[DESCRIPTORS_MOST];
	uint32_t nshared;
} at_start;

static void each_descriptor(void (*look)(int fd))
{
	DIR *dir = opendir("/proc/self/fd");
	struct dirent *entry;

	while (dir && (entry = readdir(dir)) != NULL)
		if (entry->d_name[0] != '.' && atoi(entry->d_name) != dirfd(dir))
			look(atoi(entry->d_name));
	if (dir)
		closedir(dir);
}

static void descriptor_note(int fd)
{
	if (fd < DESCRIPTORS_MOST)
		at_start.open[fd] = true;
}

static uint32_t nleft;

static void descriptor_compare(int fd)
{
	char path[64], name[256] = "";

	if (fd < DESCRIPTORS_MOST && at_start.open[fd])
		return;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	(void)!readlink(path, name, sizeof(name) - 1);
	printf("not ok 0 - descriptor %d is left open: %s\n", fd, name);
	nleft++;
}

/* How many shared mappings there are; with `say` they are printed. */
static uint32_t shared_mappings(bool say)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[512], access[8];
	uint32_t n = 0;

	while (maps && fgets(line, sizeof(line), maps))
		if (sscanf(line, "%*s %7s", access) == 1 && access[3] == 's') {
			n++;
			if (say)
				printf("# shared: %s", line);
		}
	if (maps)
		fclose(maps);
	return n;
}

__attribute__((constructor)) static void note_what_is_open(void)
{
	close(STDIN_FILENO);
	at_start.pid = getpid();
	at_start.nshared = shared_mappings(false);
	each_descriptor(descriptor_note);
}

__attribute__((destructor)) static void compare_what_is_open(void)
{
	siginfo_t child = { 0 };

	if (getpid() != at_start.pid)
		return;
	each_descriptor(descriptor_compare);
	if (shared_mappings(false) > at_start.nshared) {
		nleft++;
		printf("not ok 0 - a shared mapping is left\n");
		shared_mappings(true);
	}
	if (waitid(P_ALL, 0, &child, WEXITED | WNOHANG | WNOWAIT) == 0) {
		nleft++;
		printf("not ok 0 - a child process is left: %d\n", child.si_pid);
	}
	if (nleft) {
		fflush(stdout);
		_exit(24);
	}
}
