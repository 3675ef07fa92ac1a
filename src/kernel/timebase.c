/*
 * timebase.c: how many ticks a second the timebase of this POWER machine has.
 *
 * The firmware says it in the device tree, which sysfs has in binary form: a property of each CPU, 4 bytes or (the
 * extended one, which goes before) 8, the highest first.  Where that is hidden, as in many a container, the kernel
 * still has it in a line of /proc/cpuinfo behind those of the CPUs: "timebase : 512000000".
 */
#include <dirent.h>
#include <stdio.h>
#include <string.h>

#include "kernel/hv_gpci_int.h"
#include "kernel/kernel_int.h"

#define PATH_BYTES 900u
#define HZ_MOST UINT64_C(100000000000) /* what is more is no timebase */

/* The bytes may be any, a newline too. */
static uint64_t timebase_read_property(const char *cpus, const char *cpu, const char *name)
{
	char path[PATH_BYTES];
	uint8_t p[9];
	uint64_t hz = 0;
	size_t n = 0;
	FILE *f;

	if ((size_t)snprintf(path, sizeof(path), "%s/%s/%s", cpus, cpu, name) >= sizeof(path))
		return 0;
	f = fopen(path, "re");
	if (f) {
		n = fread(p, 1, sizeof(p), f);
		fclose(f);
	}
	for (size_t i = 0; i < n; i++)
		hz = hz << 8 | p[i];
	return (n == 4 || n == 8) && hz <= HZ_MOST ? hz : 0;
}

static uint64_t of_device_tree(const char *root)
{
	char cpus[PATH_BYTES];
	struct dirent *d;
	uint64_t hz = 0;
	DIR *dir;

	snprintf(cpus, sizeof(cpus), "%s/firmware/devicetree/base/cpus", root);
	dir = opendir(cpus);
	while (dir && !hz && (d = readdir(dir))) {
		if (*d->d_name == '.')
			continue;
		hz = timebase_read_property(cpus, d->d_name, "ibm,extended-timebase-frequency");
		if (!hz)
			hz = timebase_read_property(cpus, d->d_name, "timebase-frequency");
	}
	if (dir)
		closedir(dir);
	return hz;
}

static uint64_t of_cpuinfo(const char *root)
{
	char path[PATH_BYTES], line[256];
	unsigned long long hz = 0;
	FILE *f;

	snprintf(path, sizeof(path), "%s/../proc/cpuinfo", root);
	f = fopen(path, "re");
	while (f && !hz && fgets(line, sizeof(line), f))
		if (sscanf(line, "timebase : %llu", &hz) != 1 || hz > HZ_MOST)
			hz = 0;
	if (f)
		fclose(f);
	return hz;
}

uint64_t timebase_hz(const char *root)
{
	uint64_t hz = of_device_tree(root);

	return hz ? hz : of_cpuinfo(root);
}
