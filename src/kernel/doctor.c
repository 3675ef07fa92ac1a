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
	k_found_fn *found;
	void *arg;
	bool cpu_opens, bpf; /* what was found out so far */
	int hardware;        /* of cycles: 0 or -errno; */
	bool own;            /* and that of own processes only */
};

static void PRINTF_LIKE(4, 5) say(struct doctor *d, enum doc_row row, enum doc_cause cause, const char *fmt, ...)
{
	char text[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	d->found(d->arg, row, cause, text);
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

/* The text of a small file: its length, or -errno. */
static int text_of(const struct doctor *d, const char *path, char *to, size_t n)
{
	char full[512];

	snprintf(full, sizeof(full), "%s%s", d->root, path);
	return file_small(full, to, n);
}

static bool number_of(const struct doctor *d, const char *path, long *ret)
{
	char text[32], *end;

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

static void perf_cpu(struct doctor *d)
{
	int rc = try_open(d, doctor_software_event(PERF_COUNT_SW_CPU_CLOCK, FIRING_NS), false);

	d->cpu_opens = rc >= 0;
	say(d, DOC_perf_cpu, cause_of(rc), "%s", rc < 0 ? doctor_why(rc) : "software events of all processes on a CPU");
}

static void perf_task(struct doctor *d)
{
	struct k_event clock = doctor_software_event(PERF_COUNT_SW_TASK_CLOCK, 0);
	int all = try_open(d, clock, true), user = all < 0 ? try_open(d, user_only(clock), true) : 0;

	if (user < 0)
		say(d, DOC_perf_task, cause_of(user), "%s", doctor_why(user));
	else
		say(d, DOC_perf_task, all < 0 ? DOC_LESS : DOC_OK, "%s",
		    all < 0 ? "in user mode" : "user and kernel mode");
}

static void perf_overflow(struct doctor *d)
{
	struct k_event clock = doctor_software_event(PERF_COUNT_SW_CPU_CLOCK, FIRING_NS);
	struct k_event cycles = doctor_hardware_event(PERF_COUNT_HW_CPU_CYCLES, FIRING_CYCLES);
	struct k_event user = user_only(clock);
	int rc = d->t->overflow(d->t->arg, &clock, false), own, hard;

	if (rc == 0) {
		say(d, DOC_perf_overflow, DOC_ABSENT, "a clock of %u us never told", FIRING_NS / 1000);
		return;
	}
	if (rc < 0) {
		own = d->t->overflow(d->t->arg, &user, true);
		say(d, DOC_perf_overflow, own > 0 ? DOC_LESS : cause_of(rc), "%s",
		    own > 0 ? "own processes" : doctor_why(rc));
		return;
	}
	hard = d->t->overflow(d->t->arg, &cycles, false);
	say(d, DOC_perf_overflow, DOC_OK, "cpu_clock%s",
	    hard > 0  ? ", cpu_cycles" :
	    hard == 0 ? "; cpu_cycles never fired" :
			"");
}

static void perf_hardware(struct doctor *d)
{
	struct k_event cycles = doctor_hardware_event(PERF_COUNT_HW_CPU_CYCLES, 0),
		       instructions = doctor_hardware_event(PERF_COUNT_HW_INSTRUCTIONS, 0);

	d->hardware = try_open(d, cycles, false);
	d->own = cause_of(d->hardware) == DOC_DENIED;
	if (d->own)
		d->hardware = try_open(d, user_only(cycles), true);
	if (d->hardware < 0)
		say(d, DOC_perf_hardware, cause_of(d->hardware), "%s", doctor_why(d->hardware));
	else if (d->own)
		say(d, DOC_perf_hardware, DOC_LESS, "cpu_cycles of own processes");
	else
		say(d, DOC_perf_hardware, DOC_OK, "%s",
		    try_open(d, instructions, false) < 0 ? "cpu_cycles, not instructions" : "cpu_cycles, instructions");
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

static void perf_raw(struct doctor *d)
{
	char name[160] = "";
	struct k_event ev = { 0 };
	int rc;

	if (!raw_event(d, &ev, name, sizeof(name))) {
		say(d, DOC_perf_raw, DOC_ABSENT, "no PMU of the CPU names one");
		return;
	}
	rc = try_open(d, ev, false);
	say(d, DOC_perf_raw, cause_of(rc), "%s%s%s", name, rc < 0 ? ": " : "", rc < 0 ? doctor_why(rc) : "");
}

static void perf_tracepoint(struct doctor *d)
{
	static const char *const at[] = { "/sys/kernel/tracing/events/sched/sched_switch/id",
					  "/sys/kernel/debug/tracing/events/sched/sched_switch/id" };
	struct k_event ev = { .type = PERF_TYPE_TRACEPOINT };
	char text[32], known[4096];
	int rc = -ENOENT;

	for (size_t i = 0; i < COUNT(at) && rc < 0 && rc != -EACCES; i++)
		rc = text_of(d, at[i], text, sizeof(text));
	if (rc == -ENOENT && text_of(d, "/proc/filesystems", known, sizeof(known)) > 0 && strstr(known, "\ttracefs")) {
		say(d, DOC_perf_tracepoint, DOC_OFF, "tracefs is not mounted");
		return;
	}
	if (rc >= 0 && !text_u64(text, &ev.config))
		rc = -EIO;
	if (rc >= 0)
		rc = try_open(d, ev, false);
	say(d, DOC_perf_tracepoint, cause_of(rc), "%s", rc < 0 ? doctor_why(rc) : "sched:sched_switch");
}

static void perf_precise(struct doctor *d)
{
	struct k_event ev = doctor_hardware_event(PERF_COUNT_HW_CPU_CYCLES, FIRING_CYCLES);

	if (d->hardware < 0) {
		say(d, DOC_perf_precise, cause_of(d->hardware) == DOC_DENIED ? DOC_DENIED : DOC_ABSENT,
		    "no hardware events");
		return;
	}
	ev.exclude_kernel = d->own;
	for (ev.precise_ip = 3; ev.precise_ip && try_open(d, ev, d->own) < 0;)
		ev.precise_ip--;
	if (ev.precise_ip)
		say(d, DOC_perf_precise, DOC_OK, "precise_1 to precise_%u", ev.precise_ip);
	else
		say(d, DOC_perf_precise, DOC_ABSENT, "precise_0 only");
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

static void doctor_pmus(struct doctor *d)
{
	char core[200], all[200];
	bool has = pmu_names(d, true, "", core, sizeof(core)) > 0;
	uint32_t n = pmu_names(d, false, "", all, sizeof(all));

	say(d, DOC_pmus, has ? DOC_OK : DOC_ABSENT, has ? "of the CPU: %s; %u in all" : "%s",
	    has ? core :
	    n   ? all :
		  "none",
	    n);
}

static void doctor_counters(struct doctor *d)
{
	struct k_event ev = doctor_hardware_event(PERF_COUNT_HW_INSTRUCTIONS, 0);
	int n;

	ev.exclude_kernel = d->own;
	n = d->t->pinned(d->t->arg, &ev, d->own);
	if (n > 0)
		say(d, DOC_counters, DOC_OK, "%d of instructions", n);
	else
		say(d, DOC_counters, n ? cause_of(n) : DOC_TAKEN, "%s", n ? doctor_why(n) : "none is free");
}

static void nmi_watchdog(struct doctor *d)
{
	long v;

	if (!number_of(d, "/proc/sys/kernel/nmi_watchdog", &v))
		say(d, DOC_nmi_watchdog, DOC_OK, "not in this kernel");
	else
		say(d, DOC_nmi_watchdog, v ? DOC_TAKEN : DOC_OK, "%s", v ? "on" : "off");
}

static void sample_rate(struct doctor *d)
{
	long v;

	if (!number_of(d, "/proc/sys/kernel/perf_event_max_sample_rate", &v))
		say(d, DOC_sample_rate, DOC_UNKNOWN, "perf_event_max_sample_rate can't be read");
	else
		say(d, DOC_sample_rate, v < (long)USUAL_RATE ? DOC_LESS : DOC_OK, "%ld a second on a CPU", v);
}

static void cpu_time(struct doctor *d)
{
	long v;

	if (!number_of(d, "/proc/sys/kernel/perf_cpu_time_max_percent", &v))
		say(d, DOC_cpu_time, DOC_UNKNOWN, "perf_cpu_time_max_percent can't be read");
	else if (v <= 0 || v >= 100)
		say(d, DOC_cpu_time, DOC_OK, "no limit");
	else
		say(d, DOC_cpu_time, v < (long)USUAL_PERCENT ? DOC_LESS : DOC_OK, "%ld %% of a CPU", v);
}

static void doctor_pfm(struct doctor *d)
{
	struct arena a = { 0 };
	const char **names;
	uint32_t n = 0;
	int version = k_pfm_version();

	if (version < 0)
		say(d, DOC_pfm, DOC_ABSENT, "libpfm4 is not there");
	else if (k_pfm_names(&a, &names, &n) < 0)
		say(d, DOC_pfm, DOC_UNKNOWN, "out of memory");
	else
		say(d, DOC_pfm, n ? DOC_OK : DOC_LESS, "libpfm%d: %u events of this CPU", version >> 16, n);
	arena_free(&a);
}

/* ---- BPF ------------------------------------------------------------------------------------------ */

static void doctor_bpf(struct doctor *d)
{
	struct k_event clock = doctor_software_event(PERF_COUNT_SW_CPU_CLOCK, FIRING_NS);
	int rc = d->t->bpf(d->t->arg, &clock);

	d->bpf = rc > 0;
	if (rc < 0)
		say(d, DOC_bpf, cause_of(rc), "%s", doctor_why(rc));
	else
		say(d, DOC_bpf, rc ? DOC_OK : DOC_LESS, "%s",
		    rc ? "loaded, attached to cpu_clock, and run by it" : "never run");
}

static void doctor_ring(struct doctor *d)
{
	int rc = d->t->map(d->t->arg, true, RING);

	say(d, DOC_ring, cause_of(rc), "%s", rc < 0 ? doctor_why(rc) : "");
}

static void doctor_btf(struct doctor *d)
{
	static const unsigned char magic[2][2] = { { 0x9f, 0xeb }, { 0xeb, 0x9f } };
	char head[8] = "";
	int n = text_of(d, "/sys/kernel/btf/vmlinux", head, sizeof(head));

	if (n < 0)
		say(d, DOC_btf, cause_of(n), "%s", doctor_why(n));
	else if (n < 2 || (memcmp(head, magic[0], 2) && memcmp(head, magic[1], 2)))
		say(d, DOC_btf, DOC_UNKNOWN, "not BTF");
	else
		say(d, DOC_btf, DOC_OK, "%s", "");
}

static void doctor_memlock(struct doctor *d)
{
	int rc = d->t->map(d->t->arg, false, MEMORY);

	if (rc >= 0)
		say(d, DOC_memlock, DOC_OK, "a map of %u MiB", MEMORY >> 20);
	else
		say(d, DOC_memlock, rc == -EPERM && d->bpf ? DOC_LESS : cause_of(rc), "a map of %u MiB: %s",
		    MEMORY >> 20, doctor_why(rc));
}

static void bpf_users(struct doctor *d)
{
	bool may = d->t->may(d->t->arg, CAP_BPF);
	long v;

	if (!number_of(d, "/proc/sys/kernel/unprivileged_bpf_disabled", &v))
		say(d, DOC_bpf_users, may ? DOC_OK : DOC_UNKNOWN, "not in this kernel");
	else
		say(d, DOC_bpf_users, may ? DOC_OK : DOC_DENIED, "unprivileged_bpf_disabled is %ld", v);
}

/* ---- rights ------------------------------------------------------------------------------------------- */

static void doctor_paranoid(struct doctor *d)
{
	long v;

	if (!number_of(d, "/proc/sys/kernel/perf_event_paranoid", &v))
		say(d, DOC_paranoid, d->cpu_opens ? DOC_OK : DOC_UNKNOWN, "not in this kernel");
	else
		say(d, DOC_paranoid, d->cpu_opens ? DOC_OK : DOC_DENIED, "%ld%s", v,
		    d->cpu_opens && v > 0 ? " (not for us)" : "");
}

static void doctor_capability(struct doctor *d, enum doc_row row, unsigned number)
{
	bool has = d->t->may(d->t->arg, number), admin = !has && d->t->may(d->t->arg, CAP_SYS_ADMIN);

	/* CAP_SYS_ADMIN includes the finer two that Linux 5.8 took out of it. */
	admin &= number == CAP_PERFMON || number == CAP_BPF;
	say(d, row, has || admin ? DOC_OK : DOC_DENIED, "%s",
	    has   ? "granted" :
	    admin ? "granted with cap_sys_admin" :
		    "not granted");
}

static void cap_sys_admin(struct doctor *d)
{
	bool has = d->t->may(d->t->arg, CAP_SYS_ADMIN), wanted = !d->cpu_opens && d->t->may(d->t->arg, CAP_PERFMON);

	say(d, DOC_cap_sys_admin, has || !wanted ? DOC_OK : DOC_DENIED, "%s",
	    has    ? "granted" :
	    wanted ? "not granted" :
		     "not needed");
}

static void doctor_kallsyms(struct doctor *d)
{
	char path[512];
	long v = 0;
	int hidden;

	snprintf(path, sizeof(path), "%s/proc/kallsyms", d->root);
	hidden = kallsyms_hidden(path);
	number_of(d, "/proc/sys/kernel/kptr_restrict", &v);
	if (hidden < 0)
		say(d, DOC_kallsyms, cause_of(hidden), "%s", strerror(-hidden));
	else if (!hidden)
		say(d, DOC_kallsyms, DOC_OK, "addresses are shown");
	else
		say(d, DOC_kallsyms, v > 1 ? DOC_OFF : DOC_DENIED, "all addresses are 0 (kptr_restrict %ld)", v);
}

/* ---- other counters ------------------------------------------------------------------------------------- */

static void doctor_ptt(struct doctor *d)
{
	char names[200], tune[300];
	uint32_t n = pmu_names(d, false, "hisi_ptt", names, sizeof(names));
	int rc;

	if (!n) {
		say(d, DOC_ptt, DOC_ABSENT, "no such device");
		return;
	}
	snprintf(tune, sizeof(tune), "/sys/bus/event_source/devices/%.*s/tune/qos_tx_cpl", (int)strcspn(names, ","),
		 names);
	rc = access_of(d, tune, R_OK | W_OK);
	say(d, DOC_ptt, rc == -EACCES ? DOC_DENIED : DOC_OK, "%s", names);
}

static void doctor_gpci(struct doctor *d)
{
	char names[200];
	bool has = pmu_names(d, false, "hv_gpci", names, sizeof(names)) > 0;

	say(d, DOC_gpci, has ? DOC_OK : DOC_ABSENT, "%s", has ? names : "no such PMU");
}

static void mmu_stats(struct doctor *d)
{
	int rc = access_of(d, "/sys/devices/system/cpu/cpu0/mmu_stats", R_OK | X_OK);

	say(d, DOC_mmu_stats, cause_of(rc), "%s", rc < 0 ? doctor_why(rc) : "cpu0/mmu_stats");
}

/* ---- programs --------------------------------------------------------------------------------------------- */

/* "QEMU emulator version 11.1.0 (...)" */
static bool qemu_version(const struct doctor *d, const char *program, unsigned *major, unsigned *minor)
{
	const char *const argv[] = { program, "--version", NULL };
	char line[256];
	const char *at;

	if (d->t->first_line(d->t->arg, argv, line, sizeof(line)) <= 0)
		return false;
	at = strstr(line, "version ");
	return at && sscanf(at, "version %u.%u", major, minor) == 2;
}

static void doctor_qemu(struct doctor *d)
{
	static const char *const programs[] = { "qemu-system-ppc64", "qemu-system-aarch64", "qemu-system-x86_64" };
	unsigned major = 0, minor = 0;
	size_t i = 0;

	while (i < COUNT(programs) && !qemu_version(d, programs[i], &major, &minor))
		i++;
	if (i == COUNT(programs))
		say(d, DOC_qemu, DOC_ABSENT, "not there");
	else
		say(d, DOC_qemu, i == 0 && major * 100 + minor >= 1101 ? DOC_OK : DOC_LESS, "%s %u.%u", programs[i],
		    major, minor);
}

static bool has_fusermount(const struct doctor *d)
{
	const char *const argv[] = { "fusermount3", "--version", NULL };
	char line[64];

	return d->t->may(d->t->arg, CAP_SYS_ADMIN) || d->t->first_line(d->t->arg, argv, line, sizeof(line)) > 0;
}

static void doctor_fuse(struct doctor *d)
{
	int device = access_of(d, "/dev/fuse", R_OK | W_OK);

	if (device < 0)
		say(d, DOC_fuse, device == -ENOENT ? DOC_OFF : DOC_DENIED, "/dev/fuse: %s", strerror(-device));
	else if (!has_fusermount(d))
		say(d, DOC_fuse, DOC_LESS, "no fusermount3");
	else
		say(d, DOC_fuse, DOC_OK, "/dev/fuse");
}

/* ---- all of it ---------------------------------------------------------------------------------------------- */

void k_doctor(const char *root, const struct k_tries *tries, k_found_fn *found, void *arg)
{
	static void (*const step[])(struct doctor * d) = {
		perf_cpu,        perf_task,      perf_overflow, perf_hardware,   perf_raw,
		perf_tracepoint, perf_precise,   doctor_pmus,   doctor_counters, nmi_watchdog,
		sample_rate,     cpu_time,       doctor_pfm,    doctor_bpf,      doctor_ring,
		doctor_btf,      doctor_memlock, bpf_users,     doctor_paranoid,
	};
	static const struct {
		enum doc_row row;
		unsigned number;
	} caps[] = {
		{ DOC_cap_perfmon, CAP_PERFMON },
		{ DOC_cap_bpf, CAP_BPF },
		{ DOC_cap_syslog, CAP_SYSLOG },
		{ DOC_cap_sys_ptrace, CAP_SYS_PTRACE },
	};
	static void (*const rest[])(struct doctor * d) = { cap_sys_admin, doctor_kallsyms, doctor_ptt, doctor_gpci,
							   mmu_stats,     doctor_qemu,     doctor_fuse };
	struct doctor d = { .root = root, .t = tries ? tries : &k_system_calls, .found = found, .arg = arg };

	for (size_t i = 0; i < COUNT(step); i++)
		step[i](&d);
	for (size_t i = 0; i < COUNT(caps); i++)
		doctor_capability(&d, caps[i].row, caps[i].number);
	for (size_t i = 0; i < COUNT(rest); i++)
		rest[i](&d);
}
