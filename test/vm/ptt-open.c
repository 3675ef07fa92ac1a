/*
 * ptt-open.c - what a kernel says to an event of a PTT device: the errno behind the words of a tool.
 *
 *   ptt-open open PMU CONFIG...      on CPU 0, for all tasks
 *   ptt-open task PMU CONFIG...      for this task, on any CPU
 *   ptt-open second PMU CONFIG...    on CPU 0 while the first CONFIG, which must open, stays open
 *   ptt-open map PMU CONFIG MIB...   an AUX ring of so many MiB
 *
 * One line for each CONFIG or MIB: `ok`, or the name of the errno.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static void die(const char *what)
{
	perror(what);
	exit(2);
}

static unsigned pmu_type(const char *pmu)
{
	char path[128];
	unsigned type = 0;

	snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s/type", pmu);
	FILE *f = fopen(path, "r");
	if (!f || fscanf(f, "%u", &type) != 1)
		die(path);
	fclose(f);
	return type;
}

static int event(unsigned type, const char *config, pid_t pid, int cpu)
{
	struct perf_event_attr attr = { .type = type, .size = sizeof(attr), .sample_period = 1, .disabled = 1 };

	attr.config = strtoull(config, NULL, 16);
	return (int)syscall(SYS_perf_event_open, &attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

static void say(int rc)
{
	puts(rc >= 0 ? "ok" : strerrorname_np(errno));
}

/* The page of positions says where the AUX ring is to be; it lies behind that page and its data. */
static int map_aux(int fd, size_t bytes)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), data = 2 * page;
	struct perf_event_mmap_page *p = mmap(NULL, data, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (p == MAP_FAILED)
		die("mmap");
	p->aux_offset = bytes > data ? bytes : data;
	p->aux_size = bytes;
	void *aux = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)p->aux_offset);
	int why = errno;
	if (aux != MAP_FAILED)
		munmap(aux, bytes);
	munmap(p, data);
	errno = why;
	return aux == MAP_FAILED ? -1 : 0;
}

int main(int argc, char **argv)
{
	if (argc < 4)
		return 2;
	const char *verb = argv[1];
	unsigned type = pmu_type(argv[2]);
	int first = !strcmp(verb, "task") || !strcmp(verb, "open") ? 3 : 4;

	if (first == 4 && !strcmp(verb, "second") && event(type, argv[3], -1, 0) < 0)
		die("the first event");
	for (int i = first; i < argc; i++) {
		bool map = !strcmp(verb, "map"), task = !strcmp(verb, "task");
		int fd = event(type, argv[map ? 3 : i], task ? 0 : -1, task ? -1 : 0);
		say(fd >= 0 && map ? map_aux(fd, strtoul(argv[i], NULL, 10) << 20) : fd);
		if (fd >= 0)
			close(fd);
	}
	return 0;
}
