/*
 * doctor.c: what works here, concluded from what was tried.
 *
 * A number in /proc says what somebody meant to allow; whether it is allowed shows
 * when it is done (a container's filter, a distribution's patch, a missing driver say no where
 * the number says yes).  So each thing is opened, run or made for a moment, and files are read
 * only for what has no trial, and for words.
 *
 * Nothing here makes a system call of its own but to read small files: trying is
 * a table of functions (doctor_int.h), so that every conclusion can be tested on any machine.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernel/doctor_int.h"
#include "kernel/kernel_int.h"

#define FIRING_NS 50000u /* of the clock that is tried */
#define FIRING_CYCLES 100000u
#define MEMORY (8u << 20) /* of the map that is tried */
#define RING 4096u
#define USUAL_RATE 100000u /* kernel.perf_event_max_sample_rate as the kernel starts */
#define USUAL_PERCENT 25u  /* kernel.perf_cpu_time_max_percent */

struct doctor {
	const char *root;
	const struct k_tries *t;
	bool cpu_opens, bpf; /* what was found out so far */
	int hardware;        /* of cycles: 0 or -errno; */
	bool own;            /* and that of own processes only */
};
struct found {
	enum doc_cause cause;
	char text[256];
};

static struct found PRINTF_LIKE(2, 3) doctor_found(enum doc_cause cause, const char *fmt, ...)
{
	struct found f = { .cause = cause };
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(f.text, sizeof(f.text), fmt, ap);
	va_end(ap);
	return f;
}

/* What an errno of a trial means. */
static enum doc_cause cause_of(int rc)
{
	switch (-rc) {
	case EPERM:
	case EACCES:
		return DOC_DENIED;
	case EBUSY:
		return DOC_TAKEN;
	case ENOENT:
	case ENODEV:
	case ENXIO:
	case EOPNOTSUPP:
	case EINVAL:
	case ENOSYS:
		return DOC_ABSENT;
	default:
		return rc < 0 ? DOC_UNKNOWN : DOC_OK;
	}
}

static const char *doctor_why(int rc)
{
	return cause_of(rc) == DOC_ABSENT ? "not here" : strerror(-rc);
}

/* Of a trial: why it failed, or what is there. */
static struct found found_by_trial(int rc, const char *there)
{
	return doctor_found(cause_of(rc), "%s", rc < 0 ? doctor_why(rc) : there);
}

/* The text of a small file: its length, or -errno. */
static int text_of(const struct doctor *d, const char *path, char *to, size_t n)
{
	char full[512];

	snprintf(full, sizeof(full), "%s%s", d->root, path);
	return file_small(full, to, n);
}

static bool sysctl_read(const struct doctor *d, const char *name, long *ret)
{
	char path[64], text[32], *end;

	snprintf(path, sizeof(path), "/proc/sys/kernel/%s", name);
	if (text_of(d, path, text, sizeof(text)) <= 0)
		return false;
	*ret = strtol(text, &end, 10);
	return end != text;
}

static int access_of(const struct doctor *d, const char *path, int mode)
{
	char full[512];

	snprintf(full, sizeof(full), "%s%s", d->root, path);
	return access(full, mode) < 0 ? -errno : 0;
}

/* ---- perf events ------------------------------------------------------------------------- */

static struct k_event doctor_software_event(uint64_t config, uint64_t period)
{
	return (struct k_event){ .type = PERF_TYPE_SOFTWARE, .config = config, .period = period };
}

static struct k_event doctor_hardware_event(uint64_t config, uint64_t period)
{
	return (struct k_event){ .type = PERF_TYPE_HARDWARE, .config = config, .period = period };
}

static int try_open(const struct doctor *d, struct k_event ev, bool own)
{
	return d->t->open(d->t->arg, &ev, own);
}

static struct k_event user_only(struct k_event ev)
{
	ev.exclude_kernel = true;
	return ev;
}

static struct found look_perf_cpu(struct doctor *d)
{
	int rc = try_open(d, doctor_software_event(PERF_COUNT_SW_CPU_CLOCK, FIRING_NS), false);

	d->cpu_opens = rc >= 0;
	return found_by_trial(rc, "software events of all processes on a CPU");
}

static struct found look_perf_task(struct doctor *d)
{
	struct k_event clock = doctor_software_event(PERF_COUNT_SW_TASK_CLOCK, 0);
	int user;

	if (try_open(d, clock, true) >= 0)
		return doctor_found(DOC_OK, "user and kernel mode");
	user = try_open(d, user_only(clock), true);
	return user < 0 ? found_by_trial(user, "") : doctor_found(DOC_LESS, "in user mode");
}

static struct found look_perf_overflow(struct doctor *d)
{
	struct k_event clock = doctor_software_event(PERF_COUNT_SW_CPU_CLOCK, FIRING_NS);
	struct k_event cycles = doctor_hardware_event(PERF_COUNT_HW_CPU_CYCLES, FIRING_CYCLES);
	struct k_event user = user_only(clock);
	int rc = d->t->overflow(d->t->arg, &clock, false), hard;

	if (rc == 0)
		return doctor_found(DOC_ABSENT, "a clock of %u us never told", FIRING_NS / 1000);
	if (rc < 0)
		return d->t->overflow(d->t->arg, &user, true) > 0 ? doctor_found(DOC_LESS, "own processes") :
								    found_by_trial(rc, "");
	hard = d->t->overflow(d->t->arg, &cycles, false);
	return doctor_found(DOC_OK, "cpu_clock%s",
			    hard > 0  ? ", cpu_cycles" :
			    hard == 0 ? "; cpu_cycles never fired" :
					"");
}

static struct found look_perf_hardware(struct doctor *d)
{
	struct k_event cycles = doctor_hardware_event(PERF_COUNT_HW_CPU_CYCLES, 0);

	d->hardware = try_open(d, cycles, false);
	d->own = cause_of(d->hardware) == DOC_DENIED;
	if (d->own)
		d->hardware = try_open(d, user_only(cycles), true);
	if (d->hardware < 0)
		return found_by_trial(d->hardware, "");
	if (d->own)
		return doctor_found(DOC_LESS, "cpu_cycles of own processes");
	return doctor_found(DOC_OK, "cpu_cycles, %sinstructions",
			    try_open(d, doctor_hardware_event(PERF_COUNT_HW_INSTRUCTIONS, 0), false) < 0 ? "not " : "");
}

/* The first named event of the first PMU of the CPU that has one. False: there is none. */
static bool raw_event(const struct doctor *d, struct k_event *ev, char *name, size_t n)
{
	struct k_pmu *pmu = NULL;
	struct arena a = { 0 };
	struct err e = { 0 };
	const char **event;
	uint32_t npmus = 0, nevents;
	bool found = false;
	char sys[512];

	snprintf(sys, sizeof(sys), "%s/sys", d->root);
	if (k_pmus(sys, &pmu, &npmus, &e) < 0)
		return false;
	for (uint32_t i = 0; i < npmus && !found; i++) {
		if (!pmu[i].core || k_pmu_names(sys, &pmu[i], false, &a, &event, &nevents) < 0 || !nevents)
			continue;
		*ev = (struct k_event){ .type = pmu[i].type };
		found = k_pmu_encode(sys, &pmu[i], event[0], ev, &e) >= 0;
		snprintf(name, n, "%s/%s/", pmu[i].name, event[0]);
	}
	arena_free(&a);
	mem_free(pmu);
	return found;
}

static struct found look_perf_raw(struct doctor *d)
{
	char name[160] = "";
	struct k_event ev = { 0 };
	int rc;

	if (!raw_event(d, &ev, name, sizeof(name)))
		return doctor_found(DOC_ABSENT, "no PMU of the CPU names one");
	rc = try_open(d, ev, false);
	return doctor_found(cause_of(rc), "%s%s%s", name, rc < 0 ? ": " : "", rc < 0 ? doctor_why(rc) : "");
}

static struct found look_perf_tracepoint(struct doctor *d)
{
	static const char *const at[] = { "/sys/kernel/tracing/events/sched/sched_switch/id",
					  "/sys/kernel/debug/tracing/events/sched/sched_switch/id" };
	struct k_event ev = { .type = PERF_TYPE_TRACEPOINT };
	char text[32], known[4096];
	int rc = -ENOENT;

	for (size_t i = 0; i < COUNT(at) && rc < 0 && rc != -EACCES; i++)
		rc = text_of(d, at[i], text, sizeof(text));
	if (rc == -ENOENT && text_of(d, "/proc/filesystems", known, sizeof(known)) > 0 && strstr(known, "\ttracefs"))
		return doctor_found(DOC_OFF, "tracefs is not mounted");
	if (rc >= 0 && !text_u64(text, &ev.config))
		rc = -EIO;
	return found_by_trial(rc >= 0 ? try_open(d, ev, false) : rc, "sched:sched_switch");
}

static struct found look_perf_precise(struct doctor *d)
{
	struct k_event ev = doctor_hardware_event(PERF_COUNT_HW_CPU_CYCLES, FIRING_CYCLES);

	if (d->hardware < 0)
		return doctor_found(cause_of(d->hardware) == DOC_DENIED ? DOC_DENIED : DOC_ABSENT,
				    "no hardware events");
	ev.exclude_kernel = d->own;
	for (ev.precise_ip = 3; ev.precise_ip && try_open(d, ev, d->own) < 0;)
		ev.precise_ip--;
	return ev.precise_ip ? doctor_found(DOC_OK, "precise_1 to precise_%u", ev.precise_ip) :
			       doctor_found(DOC_ABSENT, "precise_0 only");
}

/* ---- counters --------------------------------------------------------------------------------- */

/* "cpu, hisi_ptt0_2": the PMUs of the CPU alone, or all. Returns how many. */
static uint32_t pmu_names(const struct doctor *d, bool core, const char *prefix, char *to, size_t n)
{
	struct k_pmu *pmu = NULL;
	struct err e = { 0 };
	uint32_t npmus = 0, count = 0;
	size_t at = 0;
	char sys[512];

	*to = '\0';
	snprintf(sys, sizeof(sys), "%s/sys", d->root);
	if (k_pmus(sys, &pmu, &npmus, &e) < 0)
		return 0;
	for (uint32_t i = 0; i < npmus; i++) {
		if ((core && !pmu[i].core) || strncmp(pmu[i].name, prefix, strlen(prefix)))
			continue;
		if (at < n)
			at += (size_t)snprintf(to + at, n - at, "%s%s", count ? ", " : "", pmu[i].name);
		count++;
	}
	mem_free(pmu);
	return count;
}

static struct found look_pmus(struct doctor *d)
{
	char core[200], all[200];
	uint32_t n = pmu_names(d, false, "", all, sizeof(all));

	if (pmu_names(d, true, "", core, sizeof(core)))
		return doctor_found(DOC_OK, "of the CPU: %s; %u in all", core, n);
	return doctor_found(DOC_ABSENT, "%s", n ? all : "none");
}

static struct found look_counters(struct doctor *d)
{
	struct k_event ev = doctor_hardware_event(PERF_COUNT_HW_INSTRUCTIONS, 0);
	int n;

	ev.exclude_kernel = d->own;
	n = d->t->pinned(d->t->arg, &ev, d->own);
	return n > 0 ? doctor_found(DOC_OK, "%d of instructions", n) :
	       n     ? found_by_trial(n, "") :
		       doctor_found(DOC_TAKEN, "none is free");
}

static struct found look_nmi_watchdog(struct doctor *d)
{
	long v;

	if (!sysctl_read(d, "nmi_watchdog", &v))
		return doctor_found(DOC_OK, "not in this kernel");
	return v ? doctor_found(DOC_TAKEN, "on") : doctor_found(DOC_OK, "off");
}

static struct found look_sample_rate(struct doctor *d)
{
	long v;

	if (!sysctl_read(d, "perf_event_max_sample_rate", &v))
		return doctor_found(DOC_UNKNOWN, "perf_event_max_sample_rate can't be read");
	return doctor_found(v < (long)USUAL_RATE ? DOC_LESS : DOC_OK, "%ld a second on a CPU", v);
}

static struct found look_cpu_time(struct doctor *d)
{
	long v;

	if (!sysctl_read(d, "perf_cpu_time_max_percent", &v))
		return doctor_found(DOC_UNKNOWN, "perf_cpu_time_max_percent can't be read");
	if (v <= 0 || v >= 100)
		return doctor_found(DOC_OK, "no limit");
	return doctor_found(v < (long)USUAL_PERCENT ? DOC_LESS : DOC_OK, "%ld %% of a CPU", v);
}

static struct found look_pfm(struct doctor *d)
{
	struct arena a = { 0 };
	const char **names;
	uint32_t n = 0;
	int version = k_pfm_version(), rc = version < 0 ? version : k_pfm_names(&a, &names, &n);

	(void)d;
	arena_free(&a);
	if (version < 0)
		return doctor_found(DOC_ABSENT, "libpfm4 is not there");
	if (rc < 0)
		return doctor_found(DOC_UNKNOWN, "out of memory");
	return doctor_found(n ? DOC_OK : DOC_LESS, "libpfm%d: %u events of this CPU", version >> 16, n);
}

/* ---- BPF ------------------------------------------------------------------------------------------ */

static struct found look_bpf(struct doctor *d)
{
	struct k_event clock = doctor_software_event(PERF_COUNT_SW_CPU_CLOCK, FIRING_NS);
	int rc = d->t->bpf(d->t->arg, &clock);

	d->bpf = rc > 0;
	return rc ? found_by_trial(rc, "loaded, attached to cpu_clock, and run by it") :
		    doctor_found(DOC_LESS, "never run");
}

static struct found look_ring(struct doctor *d)
{
	return found_by_trial(d->t->map(d->t->arg, true, RING), "");
}

static struct found look_btf(struct doctor *d)
{
	static const unsigned char magic[2][2] = { { 0x9f, 0xeb }, { 0xeb, 0x9f } };
	char head[8] = "";
	int n = text_of(d, "/sys/kernel/btf/vmlinux", head, sizeof(head));

	if (n >= 0 && (n < 2 || (memcmp(head, magic[0], 2) && memcmp(head, magic[1], 2))))
		return doctor_found(DOC_UNKNOWN, "not BTF");
	return found_by_trial(n, "");
}

static struct found look_memlock(struct doctor *d)
{
	int rc = d->t->map(d->t->arg, false, MEMORY);

	return doctor_found(rc == -EPERM && d->bpf ? DOC_LESS : cause_of(rc), "a map of %u MiB%s%s", MEMORY >> 20,
			    rc < 0 ? ": " : "", rc < 0 ? doctor_why(rc) : "");
}

static struct found look_bpf_users(struct doctor *d)
{
	bool may = d->t->may(d->t->arg, CAP_BPF);
	long v;

	if (!sysctl_read(d, "unprivileged_bpf_disabled", &v))
		return doctor_found(may ? DOC_OK : DOC_UNKNOWN, "not in this kernel");
	return doctor_found(may ? DOC_OK : DOC_DENIED, "unprivileged_bpf_disabled is %ld", v);
}

/* ---- rights ------------------------------------------------------------------------------------------- */

static struct found look_paranoid(struct doctor *d)
{
	long v;

	if (!sysctl_read(d, "perf_event_paranoid", &v))
		return doctor_found(d->cpu_opens ? DOC_OK : DOC_UNKNOWN, "not in this kernel");
	return doctor_found(d->cpu_opens ? DOC_OK : DOC_DENIED, "%ld%s", v,
			    d->cpu_opens && v > 0 ? " (not for us)" : "");
}

static struct found found_capability(const struct doctor *d, unsigned number)
{
	/* CAP_SYS_ADMIN includes the finer two that Linux 5.8 took out of it. */
	const bool finer = number == CAP_PERFMON || number == CAP_BPF;

	if (d->t->may(d->t->arg, number))
		return doctor_found(DOC_OK, "granted");
	return finer && d->t->may(d->t->arg, CAP_SYS_ADMIN) ? doctor_found(DOC_OK, "granted with cap_sys_admin") :
							      doctor_found(DOC_DENIED, "not granted");
}

#define LOOK_CAPABILITY(row, number)                     \
	static struct found look_##row(struct doctor *d) \
	{                                                \
		return found_capability(d, number);      \
	}
LOOK_CAPABILITY(cap_perfmon, CAP_PERFMON)
LOOK_CAPABILITY(cap_bpf, CAP_BPF)
LOOK_CAPABILITY(cap_syslog, CAP_SYSLOG)
LOOK_CAPABILITY(cap_sys_ptrace, CAP_SYS_PTRACE)

static struct found look_cap_sys_admin(struct doctor *d)
{
	bool wanted = !d->cpu_opens && d->t->may(d->t->arg, CAP_PERFMON);

	if (!wanted && !d->t->may(d->t->arg, CAP_SYS_ADMIN))
		return doctor_found(DOC_OK, "not needed");
	return found_capability(d, CAP_SYS_ADMIN);
}

static struct found look_kallsyms(struct doctor *d)
{
	char path[512];
	long v = 0;
	int hidden;

	snprintf(path, sizeof(path), "%s/proc/kallsyms", d->root);
	hidden = kallsyms_hidden(path);
	sysctl_read(d, "kptr_restrict", &v);
	if (hidden < 0)
		return doctor_found(cause_of(hidden), "%s", strerror(-hidden));
	if (!hidden)
		return doctor_found(DOC_OK, "addresses are shown");
	return doctor_found(v > 1 ? DOC_OFF : DOC_DENIED, "all addresses are 0 (kptr_restrict %ld)", v);
}

/* ---- other counters ------------------------------------------------------------------------------------- */

static struct found look_ptt(struct doctor *d)
{
	char names[200], tune[300];

	if (!pmu_names(d, false, "hisi_ptt", names, sizeof(names)))
		return doctor_found(DOC_ABSENT, "no such device");
	snprintf(tune, sizeof(tune), "/sys/bus/event_source/devices/%.*s/tune/qos_tx_cpl", (int)strcspn(names, ","),
		 names);
	return doctor_found(access_of(d, tune, R_OK | W_OK) == -EACCES ? DOC_DENIED : DOC_OK, "%s", names);
}

static struct found look_gpci(struct doctor *d)
{
	char names[200];

	return pmu_names(d, false, "hv_gpci", names, sizeof(names)) ? doctor_found(DOC_OK, "%s", names) :
								      doctor_found(DOC_ABSENT, "no such PMU");
}

static struct found look_mmu_stats(struct doctor *d)
{
	return found_by_trial(access_of(d, "/sys/devices/system/cpu/cpu0/mmu_stats", R_OK | X_OK), "cpu0/mmu_stats");
}

/* ---- programs --------------------------------------------------------------------------------------------- */

/* What `program --version` says first, from `word` on. NULL: it does not run, or says something else. */
static const char *version_line(const struct doctor *d, const char *program, const char *word, char *line, size_t n)
{
	const char *const argv[] = { program, "--version", NULL };

	return d->t->first_line(d->t->arg, argv, line, n) > 0 ? strstr(line, word) : NULL;
}

/* "QEMU emulator version 11.1.0 (...)" */
static struct found look_qemu(struct doctor *d)
{
	static const char *const programs[] = { "qemu-system-ppc64", "qemu-system-aarch64", "qemu-system-x86_64" };
	unsigned major, minor;
	char line[256];

	for (size_t i = 0; i < COUNT(programs); i++) {
		const char *at = version_line(d, programs[i], "version ", line, sizeof(line));

		if (at && sscanf(at, "version %u.%u", &major, &minor) == 2)
			return doctor_found(i == 0 && major * 100 + minor >= 1101 ? DOC_OK : DOC_LESS, "%s %u.%u",
					    programs[i], major, minor);
	}
	return doctor_found(DOC_ABSENT, "not there");
}

static struct found look_fuse(struct doctor *d)
{
	int device = access_of(d, "/dev/fuse", R_OK | W_OK);
	char line[64];

	if (device < 0)
		return doctor_found(device == -ENOENT ? DOC_OFF : DOC_DENIED, "/dev/fuse: %s", strerror(-device));
	if (!d->t->may(d->t->arg, CAP_SYS_ADMIN) && !version_line(d, "fusermount3", "", line, sizeof(line)))
		return doctor_found(DOC_LESS, "no fusermount3");
	return doctor_found(DOC_OK, "/dev/fuse");
}

/* ---- all of it ---------------------------------------------------------------------------------------------- */

void k_doctor(const char *root, const struct k_tries *tries, k_found_fn *tell, void *arg)
{
	/* In the order of doctor.def: what a row finds out, later ones use. Those behind fuse are tried elsewhere. */
	/* clang-format off */
	static struct found (*const look[])(struct doctor * d) = {
		look_perf_cpu, look_perf_task, look_perf_overflow, look_perf_hardware, look_perf_raw,
		look_perf_tracepoint, look_perf_precise, look_pmus, look_counters, look_nmi_watchdog,
		look_sample_rate, look_cpu_time, look_pfm, look_bpf, look_ring, look_btf, look_memlock,
		look_bpf_users, look_paranoid, look_cap_perfmon, look_cap_bpf, look_cap_syslog, look_cap_sys_ptrace,
		look_cap_sys_admin, look_kallsyms, look_ptt, look_gpci, look_mmu_stats, look_qemu, look_fuse,
	};
	/* clang-format on */
	struct doctor d = { .root = root, .t = tries ? tries : &k_system_calls };

	static_assert(COUNT(look) == DOC_fuse + 1, "the rows of doctor.def");
	for (int row = 0; row <= DOC_fuse; row++) {
		const struct found f = look[row](&d);

		tell(arg, (enum doc_row)row, f.cause, f.text);
	}
}
