/*
 * mmu_stats.c: the MMU statistics that Linux on UltraSPARC T1 keeps.
 *
 * At boot the kernel asks the hypervisor for the call (mmustat_info); where it is answered, each CPU that is online has
 *
 *	devices/system/cpu/cpuN/mmustat_enable                              "0" or "1", mode 644
 *	devices/system/cpu/cpuN/mmu_stats/immu_tsb_hits_ctx0_8k_tte         a count, mode 444; 32 such files:
 *	.../{immu,dmmu}_tsb_{hits,ticks}_{ctx0,ctxnon0}_{8k,64k,4mb,256mb}_tte
 *	devices/system/cpu/cpuN/clock_tick                                  %tick in a second
 *
 * (arch/sparc/kernel/sysfs.c of Linux.)  The buffer is the kernel's own: it is never zeroed, so counts are those of all
 * times at which it was collecting, and nobody gets at its address.  So what a guest does by hypercall is done by files
 * here, behind the same transport as hypercalls: readers of a hypervisor's counters see no difference.
 *
 * Collecting is put back as it was.  Who is killed meanwhile leaves it on: some cycles of each TLB miss, until somebody
 * writes 0.
 *
 * What the files say is checked; a CPU that goes offline takes its files along, which is no error of the others.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "kernel/kernel_int.h"
#include "kernel/mmu_stats.h"

#define CPUS "devices/system/cpu"
#define CPUS_MOST 4096u /* what Linux can have on this machine */
#define PATH_BYTES 640u
#define BASE UINT64_C(0x80000000) /* any: the kernel has its own */

struct mmu {
	struct hv_transport_ops op;
	char root[512];
	uint32_t ncpus;  /* the highest number, and one */
	uint8_t *memory; /* what was read last, by CPU */
	bool *turned_on; /* by us */
};

/* ---- files ------------------------------------------------------------------------------- */

static void path_of(const struct mmu *m, char to[static PATH_BYTES], uint32_t cpu, const char *file)
{
	snprintf(to, PATH_BYTES, "%s/" CPUS "/cpu%u/%s", m->root, cpu, file);
}

static int no_file(uint32_t cpu, const char *file, int error, struct err *e)
{
	if (error == ENOENT || error == ENODEV || error == ENOTDIR)
		return err_set(e, TALLY_ESTATE, "cpu%u is offline, or has no %s", cpu, file);
	if (error == EACCES || error == EPERM || error == EROFS)
		return err_set(e, TALLY_EPERM, "cpu%u: no permission for %s: %s; run as root", cpu, file,
			       strerror(error));
	return err_set(e, TALLY_EIO, "cpu%u: %s: %s", cpu, file, strerror(error));
}

static int number_of(const struct mmu *m, uint32_t cpu, const char *file, uint64_t *ret, struct err *e)
{
	char path[PATH_BYTES], text[64];
	int n;

	path_of(m, path, cpu, file);
	n = file_small(path, text, sizeof(text));
	if (n < 0)
		return no_file(cpu, file, -n, e);
	if ((size_t)n != strlen(text) || strspn(text, "0123456789") != (size_t)n || !text_u64(text, ret))
		return err_set(e, TALLY_ECORRUPT, "cpu%u: %s does not hold a number", cpu, file);
	return 0;
}

static int mmu_collect(const struct mmu *m, uint32_t cpu, bool on, struct err *e)
{
	static const char file[] = "mmustat_enable";
	char path[PATH_BYTES];
	int fd, error = 0;

	path_of(m, path, cpu, file);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return no_file(cpu, file, errno, e);
	if (write(fd, on ? "1\n" : "0\n", 2) != 2)
		error = errno;
	close(fd);
	return error ? no_file(cpu, file, error, e) : 0;
}

/* ---- a strand's statistics ----------------------------------------------------------------- */

static int read_slot(const struct mmu *m, uint32_t cpu, uint32_t slot, uint8_t *to, struct err *e)
{
	static const char *const page[] = {
		[MMUSTAT_8K] = "8k", [MMUSTAT_64K] = "64k", [MMUSTAT_4M] = "4mb", [MMUSTAT_256M] = "256mb"
	};
	static const char *const what[] = { "hits", "ticks" };
	const uint32_t size = slot % MMUSTAT_SIZES;
	const bool data = slot / MMUSTAT_SIZES & 2, context = slot / MMUSTAT_SIZES & 1;

	for (uint32_t i = 0; i < COUNT(what); i++) {
		char file[64];
		uint64_t v;
		int rc;

		snprintf(file, sizeof(file), "mmu_stats/%cmmu_tsb_%s_%s_%s_tte", data ? 'd' : 'i', what[i],
			 context ? "ctxnon0" : "ctx0", page[size]);
		rc = number_of(m, cpu, file, &v, e);
		if (rc < 0)
			return rc;
		be64_put(to + mmustat_slot(data, context, (enum mmustat_size)size) + 8 * i, v);
	}
	return 0;
}

static int mmu_read_buffer(void *arg, uint32_t vcpu, uint8_t to[MMUSTAT_BYTES], struct err *e)
{
	const struct mmu *m = arg;
	int rc = 0;

	memset(to, 0, MMUSTAT_BYTES);
	for (uint32_t slot = 0; rc == 0 && slot < 4 * MMUSTAT_SIZES; slot++)
		rc = read_slot(m, vcpu, slot, to, e);
	return rc;
}

/* ---- calls --------------------------------------------------------------------------------------- */

/* A CPU that is offline collects nothing, and that is fine. */
static int mmu_conf_call(struct mmu *m, uint32_t cpu, bool on, struct err *e)
{
	uint64_t is = 0;
	int rc = number_of(m, cpu, "mmustat_enable", &is, e);

	if (rc == -TALLY_ESTATE) {
		*e = (struct err){ 0 };
		return 0;
	}
	if (rc < 0 || (on ? is : !m->turned_on[cpu]))
		return rc;
	rc = mmu_collect(m, cpu, on, e);
	if (rc == 0)
		m->turned_on[cpu] = on;
	return rc;
}

/* Where it collects, nobody says: the base, for "somewhere". */
static int mmu_info_call(const struct mmu *m, uint32_t cpu, uint64_t *ra, struct err *e)
{
	uint64_t is;
	int rc = number_of(m, cpu, "mmustat_enable", &is, e);

	*ra = rc == 0 && is ? BASE : 0;
	return rc;
}

static int mmu_call(void *arg, uint32_t vcpu, unsigned trap, uint64_t o[6], struct err *e)
{
	struct mmu *m = arg;
	struct err mine = { 0 };
	int rc = 0;

	if (vcpu >= m->ncpus)
		return err_set(e, TALLY_EINVAL, "there is no CPU %u", vcpu);
	if (trap == HV_CORE_TRAP && o[5] == SUN4V_API_SET_VERSION) {
		o[0] = o[0] == SUN4V_GROUP_NIAGARA ? HV_EOK : HV_EINVAL;
		o[1] = 0;
	} else if (trap == HV_CORE_TRAP && o[5] == SUN4V_API_GET_VERSION) { /* which asks whether that CPU is there */
		rc = mmu_info_call(m, vcpu, &o[1], &mine);
		o[0] = o[0] == SUN4V_GROUP_NIAGARA || o[0] == SUN4V_GROUP_CORE ? HV_EOK : HV_EINVAL;
		o[1] = o[0] == HV_EOK;
		o[2] = 0;
	} else if (trap == HV_FAST_TRAP && o[5] == SUN4V_MMUSTAT_CONF) {
		rc = mmu_conf_call(m, vcpu, o[0], &mine);
		o[0] = HV_EOK;
		o[1] = 0;
	} else if (trap == HV_FAST_TRAP && o[5] == SUN4V_MMUSTAT_INFO) {
		rc = mmu_info_call(m, vcpu, &o[1], &mine);
		o[0] = HV_EOK;
	} else {
		o[0] = HV_EBADTRAP;
	}
	return rc < 0 ? err_set(e, (enum tally_err) - rc, "%s", mine.text) : 0;
}

static int no_asr(void *arg, uint32_t vcpu, uint32_t asr, bool write, uint64_t *value, struct err *e)
{
	(void)arg;
	(void)vcpu;
	(void)write;
	(void)value;
	return err_set(e, TALLY_ENOTSUP, "only the kernel can access ancillary state register 0x%x", asr);
}

static void close_mmu(void *arg)
{
	struct mmu *m = arg;

	mem_free(m->memory);
	mem_free(m->turned_on);
	mem_free(m);
}

/* ---- which CPUs have them ------------------------------------------------------------------------- */

/* "cpu12"; false: another name. */
static bool is_cpu(const char *name, uint32_t *ret)
{
	uint64_t n;

	if (strncmp(name, "cpu", 3) || !isdigit((unsigned char)name[3]) || !text_u64(name + 3, &n) || n >= CPUS_MOST)
		return false;
	*ret = (uint32_t)n;
	return true;
}

static void count_cpus(struct mmu *m)
{
	char path[PATH_BYTES];
	struct dirent *d;
	uint32_t cpu;
	DIR *dir;

	snprintf(path, sizeof(path), "%s/" CPUS, m->root);
	dir = opendir(path);
	while (dir && (d = readdir(dir)) != NULL) {
		if (!is_cpu(d->d_name, &cpu) || cpu < m->ncpus)
			continue;
		path_of(m, path, cpu, "mmu_stats");
		if (access(path, F_OK) == 0)
			m->ncpus = cpu + 1;
	}
	if (dir)
		closedir(dir);
}

/* Of the first CPU that has a clock: all have the same. */
static uint64_t clock_of(const struct mmu *m)
{
	uint64_t hz = 0;
	int rc = -TALLY_ESTATE;

	for (uint32_t i = 0; rc < 0 && i < m->ncpus; i++) {
		struct err e = { 0 };

		rc = number_of(m, i, "clock_tick", &hz, &e);
	}
	return rc == 0 ? hz : 0;
}

static int open_mmu(struct mmu *m, const char *sysfs, struct err *e)
{
	if ((size_t)snprintf(m->root, sizeof(m->root), "%s", sysfs) >= sizeof(m->root))
		return err_set(e, TALLY_EINVAL, "the path of the sysfs tree is longer than %zu bytes",
			       sizeof(m->root) - 1);
	count_cpus(m);
	if (!m->ncpus)
		return err_set(e, TALLY_ENOTSUP,
			       "there is no cpu*/mmu_stats in %s/" CPUS ", where Linux on UltraSPARC T1 has it", sysfs);
	m->memory = mem_alloc((size_t)m->ncpus * MMUSTAT_BYTES);
	m->turned_on = mem_alloc(m->ncpus * sizeof(*m->turned_on));
	return m->memory && m->turned_on ? 0 : err_oom(e);
}

int k_mmu_transport_open(struct hv_transport *ret, const char *sysfs, struct err *e)
{
	struct mmu *m = mem_alloc(sizeof(*m));
	int rc;

	if (!m)
		return err_oom(e);
	rc = open_mmu(m, sysfs ? sysfs : "/sys", e);
	if (rc < 0) {
		close_mmu(m);
		return rc;
	}
	m->op = (struct hv_transport_ops){
		.what = "this machine", .sun4v = mmu_call, .asr = no_asr, .mmustat = mmu_read_buffer, .close = close_mmu
	};
	*ret = (struct hv_transport){ .arg = m,
				      .op = &m->op,
				      .kind = sun4v_kind("niagara", 1),
				      .sockets = 1,
				      .strands = m->ncpus,
				      .strands_per_node = m->ncpus,
				      .tick_hz = clock_of(m),
				      .memory = m->memory,
				      .base = BASE,
				      .bytes = (size_t)m->ncpus * MMUSTAT_BYTES };
	return 0;
}
