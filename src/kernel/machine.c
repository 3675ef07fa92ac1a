/*
 * machine.c: facts of this machine that no struct of the kernel leads to: how large its pages and its memory are, when
 * its clock of the time since boot began, how fast its CPUs are, and in which chip (package) and node each lies.
 *
 * Topology is Documentation/ABI/testing/sysfs-devices-system-cpu: a CPU names the chip and all CPUs of that chip, a
 * node names its CPUs, so a few files tell of hundreds of CPUs. A CPU that is offline has no topology and is in no
 * chip. A kernel without nodes has one, which is node 0.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "kernel/kernel_int.h"
#include "kernel/machine.h"

#define LIST_BYTES 8192 /* of a list of CPUs */

/* Every CPU of the list gets the number. */
static void machine_place(const char *list, int32_t *of_cpu, uint32_t ncpus, int32_t number, uint64_t *set)
{
	if (!cpus_parse(list, set, cpus_words(ncpus)))
		return;
	for (uint32_t cpu = 0; cpu < ncpus; cpu++)
		if (cpus_has(set, cpu))
			of_cpu[cpu] = number;
}

static void machine_chips(struct k_machine *m, const char *sysfs, uint64_t *set, char *list)
{
	for (uint32_t cpu = 0; cpu < m->ncpus; cpu++) {
		char path[512], number[32];

		if (m->chip[cpu] != K_MACHINE_NONE)
			continue; /* of a chip that was seen */
		snprintf(path, sizeof(path), "%s/devices/system/cpu/cpu%u/topology/physical_package_id", sysfs, cpu);
		if (file_small(path, number, sizeof(number)) <= 0)
			continue;
		m->chip[cpu] = atoi(number);
		snprintf(path, sizeof(path), "%s/devices/system/cpu/cpu%u/topology/package_cpus_list", sysfs, cpu);
		if (file_small(path, list, LIST_BYTES) > 0)
			machine_place(list, m->chip, m->ncpus, atoi(number), set);
	}
}

static void machine_nodes(struct k_machine *m, const char *sysfs, uint64_t *nodes, uint64_t *set, char *list)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/devices/system/node/online", sysfs);
	if (file_small(path, list, LIST_BYTES) <= 0 || !cpus_parse(list, nodes, cpus_words(K_MACHINE_NODES))) {
		memset(m->node, 0, m->ncpus * sizeof(*m->node));
		return;
	}
	for (uint32_t node = 0; node < K_MACHINE_NODES; node++) {
		if (!cpus_has(nodes, node))
			continue;
		snprintf(path, sizeof(path), "%s/devices/system/node/node%u/cpulist", sysfs, node);
		if (file_small(path, list, LIST_BYTES) > 0)
			machine_place(list, m->node, m->ncpus, (int32_t)node, set);
	}
}

/* "cpu MHz : 2100.000" of the first CPU. A CPU that changes its clock has its highest one in cpufreq. */
static uint32_t machine_mhz(const char *sysfs)
{
	char path[512], text[4096], *at;

	snprintf(path, sizeof(path), "%s/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq", sysfs);
	if (file_small(path, text, sizeof(text)) > 0)
		return (uint32_t)(strtoul(text, NULL, 10) / 1000);
	snprintf(path, sizeof(path), "%s/../proc/cpuinfo", sysfs);
	if (file_small(path, text, sizeof(text)) <= 0 || !(at = strstr(text, "cpu MHz")) || !(at = strchr(at, ':')))
		return 0;
	return (uint32_t)strtoul(at + 1, NULL, 10);
}

int k_machine_open(struct k_machine *ret, const char *sysfs, uint32_t ncpus)
{
	struct k_machine m = { .ncpus = ncpus };
	const size_t words = cpus_words(ncpus > K_MACHINE_NODES ? ncpus : K_MACHINE_NODES);
	uint64_t *set = mem_alloc(words * sizeof(*set)), *nodes = mem_alloc(words * sizeof(*nodes));
	char *list = mem_alloc(LIST_BYTES);
	struct utsname name;
	int rc = -TALLY_ENOMEM;

	m.chip = mem_alloc(ncpus * sizeof(*m.chip));
	m.node = mem_alloc(ncpus * sizeof(*m.node));
	if (!set || !nodes || !list || !m.chip || !m.node)
		goto end;
	for (uint32_t cpu = 0; cpu < ncpus; cpu++)
		m.chip[cpu] = m.node[cpu] = K_MACHINE_NONE;
	sysfs = sysfs ? sysfs : "/sys";
	machine_chips(&m, sysfs, set, list);
	machine_nodes(&m, sysfs, nodes, set, list);
	m.mhz = machine_mhz(sysfs);
	m.page_bytes = (uint32_t)sysconf(_SC_PAGESIZE);
	m.memory_pages = (uint64_t)sysconf(_SC_PHYS_PAGES);
	m.boot_ns = k_wall_offset_ns() - clock_ahead_ns(CLOCK_BOOTTIME);
	if (uname(&name) == 0)
		snprintf(m.type, sizeof(m.type), "%.15s", name.machine);
	*ret = m;
	rc = 0;
end:
	if (rc < 0)
		k_machine_close(&m);
	mem_free(set);
	mem_free(nodes);
	mem_free(list);
	return rc;
}

void k_machine_close(struct k_machine *m)
{
	mem_free(m->chip);
	mem_free(m->node);
	*m = (struct k_machine){ 0 };
}
