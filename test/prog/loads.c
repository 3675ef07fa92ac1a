/*
 * loads.c: a program that loads libraries when it runs, and counts how often it calls their functions.
 *
 *	loads [-w] [-f] TIMES CALLS LIBRARY FUNCTION...     loads each library, calls its function so often, and unloads
 *	                                                    it; so many
 *	                                                   times; prints how many calls there were
 *	-w   waits for a line of standard input first
 *	-f   a child does it, and prints
 *
 * Functions are those of plugin.c.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

typedef void touch_fn(volatile char *area, unsigned long pages, unsigned long page);

static long load_and_call(const char *library, const char *function, long calls)
{
	char area[1] = { 0 };
	void *plugin = dlopen(library, RTLD_NOW);
	touch_fn *touch = plugin ? (touch_fn *)dlsym(plugin, function) : NULL;

	if (!touch)
		exit(1);
	for (long i = 0; i < calls; i++)
		touch(area, 1, 1);
	dlclose(plugin);
	return calls;
}

int main(int argc, char **argv)
{
	long total = 0, times, calls;
	char line[8];
	int at = 1;

	for (; at < argc && argv[at][0] == '-'; at++) {
		if (!strcmp(argv[at], "-w") && !fgets(line, sizeof(line), stdin))
			return 1;
		if (!strcmp(argv[at], "-f") && fork() > 0)
			return wait(NULL) < 0;
	}
	times = at < argc ? atol(argv[at++]) : 0;
	calls = at < argc ? atol(argv[at++]) : 0;
	for (long i = 0; i < times; i++)
		for (int k = at; k + 1 < argc; k += 2)
			total += load_and_call(argv[k], argv[k + 1], calls);
	printf("%ld\n", total);
	return 0;
}
