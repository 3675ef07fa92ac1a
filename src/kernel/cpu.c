/*
 * cpu.c: which CPUs there are, and small files of /proc and /sys.
 *
 * Two sets matter.  The possible CPUs size every per-CPU map and never change;
 * the online ones get events and rings and may change at any time.  Both are
 * lists in sysfs (Documentation/ABI/testing/sysfs-devices-system-cpu): ranges
 * with commas, "0-3,8".  No array here has a fixed number of CPUs.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernel/kernel_int.h"

#define SYS_CPU "/sys/devices/system/cpu/"
#define CPUS_MAX (1u << 16) /* far above any NR_CPUS */

int file_small(const char *path, char *to, size_t n)
{
	return file_small_fd(open(path, O_RDONLY | O_CLOEXEC), to, n);
}

int file_small_fd(int fd, char *to, size_t n)
{
	ssize_t got;

	if (fd < 0)
		return -errno;
	got = read(fd, to, n - 1);
	if (got < 0)
		got = -errno;
	close(fd);
	if (got > 0 && to[got - 1] == '\n')
		got--;
	if (got >= 0)
		to[got] = '\0';
	return (int)got;
}

/* One "a" or "a-b" at *list, which moves past it. */
static bool range_parse(const char **list, unsigned long *from, unsigned long *to)
{
	char *end;

	if (**list < '0' || **list > '9')
		return false;
	*from = *to = strtoul(*list, &end, 10);
	if (*end == '-') {
		if (end[1] < '0' || end[1] > '9')
			return false;
		*to = strtoul(end + 1, &end, 10);
	}
	*list = end;
	return *from <= *to && *to < CPUS_MAX;
}

bool cpus_parse(const char *list, uint64_t *set, size_t words)
{
	unsigned long from, to;

	memset(set, 0, words * sizeof(*set));
	while (*list && *list != '\n') {
		if (!range_parse(&list, &from, &to) || to >= words * 64)
			return false;
		for (; from <= to; from++)
			set[from / 64] |= 1ULL << from % 64;
		if (*list == ',')
			list++;
		else if (*list && *list != '\n')
			return false;
	}
	return true;
}

uint32_t k_ncpus_possible(void)
{
	char text[4096];
	const char *p = text;
	unsigned long from, to, most = 0;

	if (file_small(SYS_CPU "possible", text, sizeof(text)) <= 0)
		return 1;
	while (range_parse(&p, &from, &to)) {
		if (to > most)
			most = to;
		if (*p++ != ',')
			break;
	}
	return (uint32_t)most + 1;
}

int k_cpus_online(uint64_t *set, size_t words, struct err *e)
{
	char text[4096];
	int n = file_small(SYS_CPU "online", text, sizeof(text));

	if (n == -EMFILE || n == -ENFILE)
		return run_file_refused(SYS_CPU "online", -n, e);
	if (n < 0)
		return err_set(e, TALLY_EIO, SYS_CPU "online: %s", strerror(-n));
	if (n == 0 || !cpus_parse(text, set, words))
		return err_set(e, TALLY_ECORRUPT, SYS_CPU "online: invalid CPU list \"%.64s\"", text);
	return 0;
}

const struct bpf_arch *k_arch(void)
{
#if defined(__x86_64__)
	return &bpf_arch_x86_64;
#elif defined(__aarch64__)
	return &bpf_arch_aarch64;
#elif defined(__riscv) && __riscv_xlen == 64
	return &bpf_arch_riscv64;
#else
	return NULL;
#endif
}

/* Keeps the caller's affinity in k, to go back to. */
static int affinity_save(struct k_run *k)
{
	k->affinity_bytes = CPU_ALLOC_SIZE(k->ncpus > 1024 ? k->ncpus : 1024);
	k->affinity = mem_alloc(k->affinity_bytes);
	if (!k->affinity)
		return -TALLY_ENOMEM;
	if (!sched_getaffinity(0, k->affinity_bytes, k->affinity))
		return 0;
	mem_free(k->affinity);
	k->affinity = NULL;
	return -TALLY_EIO;
}

static void affinity_pin(struct k_run *k, int cpu)
{
	cpu_set_t *one = mem_alloc(k->affinity_bytes);

	if (one) {
		CPU_SET_S(cpu, k->affinity_bytes, one);
		sched_setaffinity(0, k->affinity_bytes, one);
	}
	mem_free(one);
}

/* Failing to pin costs accuracy on more CPUs, nothing else: so no result. */
void k_quiet(struct k_run *k, bool on)
{
	if (on && !k->affinity && affinity_save(k) == 0) {
		int cpu = sched_getcpu();

		affinity_pin(k, cpu < 0 ? 0 : cpu);
	} else if (!on && k->affinity) {
		sched_setaffinity(0, k->affinity_bytes, k->affinity);
		mem_free(k->affinity);
		k->affinity = NULL;
	}
}
