/* doctor_test.c: what is concluded from each answer of a trial and each file; and that trying for real leaves
 * nothing. */
#include <dirent.h>
#include <errno.h>
#include <linux/capability.h>
#include <linux/perf_event.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "kernel/doctor_int.h"
#include "kernel/kernel_int.h"

/* ---- a machine that is made up ------------------------------------------------------------- */

struct fake {
	int cpu, own, own_user;           /* software events: on a CPU, own, own in user mode */
	int hard, hard_own, instructions; /* hardware events */
	int raw, tracepoint, precise;     /* precise: highest level */
	int overflow, overflow_own, overflow_hard;
	int pinned, bpf, ring, map;
	uint64_t caps;
	const char *qemu[3]; /* ppc64, aarch64, x86_64 */
	bool fusermount;
	/* what came of it */
	enum doc_cause cause[DOC_ROWS];
	char text[DOC_ROWS][256];
	int seen[DOC_ROWS];
};

static int fake_open(void *arg, const struct k_event *ev, bool own)
{
	const struct fake *f = arg;

	if (ev->type == PERF_TYPE_TRACEPOINT)
		return ev->config == 314 ? f->tracepoint : -EINVAL;
	if (ev->type == PERF_TYPE_SOFTWARE)
		return !own ? f->cpu : ev->exclude_kernel ? f->own_user : f->own;
	if (ev->type != PERF_TYPE_HARDWARE)
		return f->raw;
	if (ev->precise_ip > f->precise)
		return -EOPNOTSUPP;
	if (ev->config == PERF_COUNT_HW_INSTRUCTIONS)
		return f->instructions;
	return own ? f->hard_own : f->hard;
}

static int fake_overflow(void *arg, const struct k_event *ev, bool own)
{
	const struct fake *f = arg;

	return ev->type == PERF_TYPE_HARDWARE ? f->overflow_hard : own ? f->overflow_own : f->overflow;
}

static int fake_pinned(void *arg, const struct k_event *ev, bool own)
{
	(void)ev, (void)own;
	return ((const struct fake *)arg)->pinned;
}

static int fake_bpf(void *arg, const struct k_event *ev)
{
	(void)ev;
	return ((const struct fake *)arg)->bpf;
}

static int fake_map(void *arg, bool ring, uint32_t bytes)
{
	const struct fake *f = arg;

	assert_true(bytes > 0);
	return ring ? f->ring : f->map;
}

static bool fake_may(void *arg, unsigned capability)
{
	return ((const struct fake *)arg)->caps >> capability & 1;
}

static int fake_first_line(void *arg, const char *const *argv, char *to, size_t n)
{
	static const char *const names[] = { "qemu-system-ppc64", "qemu-system-aarch64", "qemu-system-x86_64" };
	const struct fake *f = arg;
	const char *line = NULL;

	for (size_t i = 0; i < COUNT(names); i++)
		if (!strcmp(argv[0], names[i]))
			line = f->qemu[i];
	if (!strcmp(argv[0], "fusermount3") && f->fusermount)
		line = "fusermount3 version: 3.14.0";
	return line ? snprintf(to, n, "%s", line) : -ENOENT;
}

static void take(void *arg, enum doc_row row, enum doc_cause cause, const char *text)
{
	struct fake *f = arg;

	f->cause[row] = cause;
	f->seen[row]++;
	snprintf(f->text[row], sizeof(f->text[row]), "%s", text);
}

static void conclude(struct fake *f, const char *root)
{
	const struct k_tries t = { .arg = f,
				   .open = fake_open,
				   .overflow = fake_overflow,
				   .pinned = fake_pinned,
				   .bpf = fake_bpf,
				   .map = fake_map,
				   .may = fake_may,
				   .first_line = fake_first_line };

	memset(f->seen, 0, sizeof(f->seen));
	k_doctor(root, &t, take, f);
	/* Whatever comes out, the table has words for it. */
	for (int i = 0; i < DOC_ROWS; i++)
		if (f->seen[i]) {
			assert_int_equal(f->seen[i], 1);
			assert_non_null(doc_says((enum doc_row)i, f->cause[i]));
		}
}

#define EXPECT(f, row, is, words)                                  \
	do {                                                       \
		assert_int_equal((f)->cause[DOC_##row], DOC_##is); \
		assert_string_equal((f)->text[DOC_##row], words);  \
	} while (0)

/* ---- files -------------------------------------------------------------------------------------- */

static char root[] = "/tmp/doctor-XXXXXX";

static void put_file(const char *path, const void *text, size_t n)
{
	char full[512];
	FILE *file;

	snprintf(full, sizeof(full), "%s%s", root, path);
	for (char *p = full + strlen(root) + 1; (p = strchr(p, '/')); *p++ = '/') {
		*p = '\0';
		mkdir(full, 0755);
	}
	file = fopen(full, "w");
	assert_non_null(file);
	assert_int_equal(fwrite(text, 1, n, file), n);
	fclose(file);
}

static void put(const char *path, const char *text)
{
	put_file(path, text, strlen(text));
}

static int make_root(void **state)
{
	(void)state;
	return mkdtemp(root) ? 0 : -1;
}

static int remove_root(void **state)
{
	char command[64];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", root);
	return system(command);
}

static void give_pmu(void)
{
	put("/sys/bus/event_source/devices/cpu/type", "4\n");
	put("/sys/bus/event_source/devices/cpu/events/cpu-cycles", "event=0x3c\n");
	put("/sys/bus/event_source/devices/cpu/format/event", "config:0-7\n");
	put("/sys/bus/event_source/devices/software/type", "1\n");
}

static void give_machine(void)
{
	put("/proc/sys/kernel/perf_event_paranoid", "2\n");
	put("/proc/sys/kernel/nmi_watchdog", "0\n");
	put("/proc/sys/kernel/perf_event_max_sample_rate", "100000\n");
	put("/proc/sys/kernel/perf_cpu_time_max_percent", "25\n");
	put("/proc/sys/kernel/unprivileged_bpf_disabled", "2\n");
	put("/proc/sys/kernel/kptr_restrict", "0\n");
	put("/proc/kallsyms", "0000000000000000 A fixed_percpu_data\nffffffff81000000 T _text\n");
	put("/sys/kernel/btf/vmlinux", "\x9f\xeb\x01 and so on");
	put("/sys/kernel/tracing/events/sched/sched_switch/id", "314\n");
	put("/dev/fuse", "");
	give_pmu();
}

#define ALL_CAPS (~0ull)

/* ---- conclusions -------------------------------------------------------------------------------- */

static const struct fake healthy = {
	.precise = 2,
	.overflow = 1,
	.overflow_own = 1,
	.overflow_hard = 1,
	.pinned = 6,
	.bpf = 1,
	.caps = ALL_CAPS,
	.qemu = { "QEMU emulator version 11.1.0 (Debian)" },
	.fusermount = true,
};

static void a_machine_that_has_all_is_ok_in_every_row_but_devices(void **state)
{
	struct fake f = healthy;

	(void)state;
	give_machine();
	conclude(&f, root);
	for (int i = 0; i < DOC_ROWS; i++)
		if (f.seen[i] && i != DOC_ptt && i != DOC_gpci && i != DOC_mmu_stats && i != DOC_pfm)
			assert_int_equal(f.cause[i], DOC_OK);
	EXPECT(&f, perf_cpu, OK, "software events of all processes on a CPU");
	EXPECT(&f, perf_overflow, OK, "cpu_clock, cpu_cycles");
	EXPECT(&f, perf_hardware, OK, "cpu_cycles, instructions");
	EXPECT(&f, perf_raw, OK, "cpu/cpu-cycles/");
	EXPECT(&f, perf_precise, OK, "precise_1 to precise_2");
	EXPECT(&f, pmus, OK, "of the CPU: cpu; 2 in all");
	EXPECT(&f, counters, OK, "6 of instructions");
	EXPECT(&f, bpf, OK, "loaded, attached to cpu_clock, and run by it");
	EXPECT(&f, paranoid, OK, "2 (not for us)");
	EXPECT(&f, qemu, OK, "qemu-system-ppc64 11.1");
	EXPECT(&f, ptt, ABSENT, "no such device");
	EXPECT(&f, gpci, ABSENT, "no such PMU");
	EXPECT(&f, mmu_stats, ABSENT, "not here");
}

static void an_ordinary_user_is_denied_what_he_is_denied(void **state)
{
	struct fake f = { .cpu = -EACCES,
			  .own = -EACCES,
			  .hard = -EACCES,
			  .raw = -EACCES,
			  .precise = 3,
			  .overflow = -EACCES,
			  .overflow_own = 1,
			  .pinned = 4,
			  .bpf = -EPERM,
			  .ring = -EPERM,
			  .map = -EPERM };

	(void)state;
	give_machine();
	put("/proc/kallsyms", "0000000000000000 A fixed_percpu_data\n0000000000000000 T _text\n");
	conclude(&f, root);
	EXPECT(&f, perf_cpu, DENIED, "Permission denied");
	EXPECT(&f, perf_task, LESS, "in user mode");
	EXPECT(&f, perf_overflow, LESS, "own processes");
	EXPECT(&f, perf_hardware, LESS, "cpu_cycles of own processes");
	EXPECT(&f, perf_raw, DENIED, "cpu/cpu-cycles/: Permission denied");
	EXPECT(&f, perf_precise, OK, "precise_1 to precise_3");
	EXPECT(&f, counters, OK, "4 of instructions");
	EXPECT(&f, bpf, DENIED, "Operation not permitted");
	EXPECT(&f, ring, DENIED, "Operation not permitted");
	EXPECT(&f, memlock, DENIED, "a map of 8 MiB: Operation not permitted");
	EXPECT(&f, bpf_users, DENIED, "unprivileged_bpf_disabled is 2");
	EXPECT(&f, paranoid, DENIED, "2");
	EXPECT(&f, cap_perfmon, DENIED, "not granted");
	EXPECT(&f, cap_sys_admin, OK, "not needed");
	EXPECT(&f, kallsyms, DENIED, "all addresses are 0 (kptr_restrict 0)");
	EXPECT(&f, qemu, ABSENT, "not there");
	EXPECT(&f, fuse, LESS, "no fusermount3");
	f.own_user = -EACCES;
	f.overflow_own = -EACCES;
	f.hard_own = -EACCES;
	conclude(&f, root);
	EXPECT(&f, perf_task, DENIED, "Permission denied");
	EXPECT(&f, perf_overflow, DENIED, "Permission denied");
	EXPECT(&f, perf_hardware, DENIED, "Permission denied");
	EXPECT(&f, perf_precise, DENIED, "no hardware events");
}

static void a_virtual_machine_has_no_hardware_events(void **state)
{
	struct fake f = healthy;
	char none[sizeof(root) + 8];

	(void)state;
	f.hard = f.hard_own = f.instructions = f.overflow_hard = -ENOENT;
	f.pinned = -ENOENT;
	snprintf(none, sizeof(none), "%s/none", root);
	conclude(&f, none);
	EXPECT(&f, perf_overflow, OK, "cpu_clock");
	EXPECT(&f, perf_hardware, ABSENT, "not here");
	EXPECT(&f, perf_raw, ABSENT, "no PMU of the CPU names one");
	EXPECT(&f, perf_precise, ABSENT, "no hardware events");
	EXPECT(&f, perf_tracepoint, ABSENT, "not here");
	EXPECT(&f, pmus, ABSENT, "none");
	EXPECT(&f, counters, ABSENT, "not here");
	EXPECT(&f, nmi_watchdog, OK, "not in this kernel");
	EXPECT(&f, sample_rate, UNKNOWN, "perf_event_max_sample_rate can't be read");
	EXPECT(&f, cpu_time, UNKNOWN, "perf_cpu_time_max_percent can't be read");
	EXPECT(&f, btf, ABSENT, "not here");
	EXPECT(&f, kallsyms, ABSENT, "No such file or directory");
	EXPECT(&f, fuse, OFF, "/dev/fuse: No such file or directory");
}

static void settings_that_cost_something_are_told(void **state)
{
	struct fake f = healthy;

	(void)state;
	give_machine();
	put("/proc/sys/kernel/nmi_watchdog", "1\n");
	put("/proc/sys/kernel/perf_event_max_sample_rate", "63000\n");
	put("/proc/sys/kernel/perf_cpu_time_max_percent", "5\n");
	put("/proc/sys/kernel/kptr_restrict", "2\n");
	put("/proc/kallsyms", "0000000000000000 T _text\n");
	put("/sys/kernel/btf/vmlinux", "no");
	f.map = -EPERM;
	f.pinned = 0;
	f.overflow_hard = 0;
	f.precise = 0;
	conclude(&f, root);
	EXPECT(&f, nmi_watchdog, TAKEN, "on");
	EXPECT(&f, sample_rate, LESS, "63000 a second on a CPU");
	EXPECT(&f, cpu_time, LESS, "5 % of a CPU");
	EXPECT(&f, kallsyms, OFF, "all addresses are 0 (kptr_restrict 2)");
	EXPECT(&f, btf, UNKNOWN, "not BTF");
	EXPECT(&f, memlock, LESS, "a map of 8 MiB: Operation not permitted");
	EXPECT(&f, counters, TAKEN, "none is free");
	EXPECT(&f, perf_overflow, OK, "cpu_clock; cpu_cycles never fired");
	EXPECT(&f, perf_precise, ABSENT, "precise_0 only");
	put("/proc/sys/kernel/perf_cpu_time_max_percent", "0\n");
	conclude(&f, root);
	EXPECT(&f, cpu_time, OK, "no limit");
}

static void a_kernel_that_refuses_in_spite_of_the_rights_is_not_believed(void **state)
{
	struct fake f = healthy;

	(void)state;
	give_machine();
	f.cpu = -EACCES;
	f.overflow = 0;
	f.bpf = 0;
	f.caps = 1ull << CAP_PERFMON | 1ull << CAP_BPF;
	f.hard = -EBUSY;
	f.ring = -EINVAL;
	conclude(&f, root);
	EXPECT(&f, perf_cpu, DENIED, "Permission denied");
	EXPECT(&f, cap_sys_admin, DENIED, "not granted");
	EXPECT(&f, cap_perfmon, OK, "granted");
	EXPECT(&f, cap_syslog, DENIED, "not granted");
	EXPECT(&f, perf_overflow, ABSENT, "a clock of 50 us never told");
	EXPECT(&f, bpf, LESS, "never run");
	EXPECT(&f, perf_hardware, TAKEN, "Device or resource busy");
	EXPECT(&f, ring, ABSENT, "not here");
	f.caps = 1ull << CAP_SYS_ADMIN;
	conclude(&f, root);
	EXPECT(&f, cap_bpf, OK, "granted with cap_sys_admin");
	EXPECT(&f, cap_sys_ptrace, DENIED, "not granted");
}

static void devices_and_programs_are_named(void **state)
{
	struct fake f = healthy;

	(void)state;
	give_machine();
	put("/sys/bus/event_source/devices/hisi_ptt0_2/type", "12\n");
	put("/sys/bus/event_source/devices/hisi_ptt0_2/tune/qos_tx_cpl", "1\n");
	put("/sys/bus/event_source/devices/hv_gpci/type", "13\n");
	put("/sys/devices/system/cpu/cpu0/mmu_stats/mmustat_enable", "0\n");
	f.qemu[0] = "QEMU emulator version 7.2.22";
	conclude(&f, root);
	EXPECT(&f, ptt, OK, "hisi_ptt0_2");
	EXPECT(&f, gpci, OK, "hv_gpci");
	EXPECT(&f, mmu_stats, OK, "cpu0/mmu_stats");
	EXPECT(&f, qemu, LESS, "qemu-system-ppc64 7.2");
	f.qemu[0] = "QEMU emulator version 11.0.50"; /* one release too old */
	conclude(&f, root);
	EXPECT(&f, qemu, LESS, "qemu-system-ppc64 11.0");
	f.qemu[0] = "QEMU emulator version 12.0.0";
	conclude(&f, root);
	EXPECT(&f, qemu, OK, "qemu-system-ppc64 12.0");
	f.qemu[0] = NULL;
	f.qemu[1] = "QEMU emulator version 11.2.0";
	conclude(&f, root);
	EXPECT(&f, qemu, LESS, "qemu-system-aarch64 11.2");
	f.qemu[1] = "what?";
	conclude(&f, root);
	EXPECT(&f, qemu, ABSENT, "not there");
}

static void tracefs_that_is_not_mounted_is_off(void **state)
{
	struct fake f = healthy;
	char bare[sizeof(root) + 8];

	(void)state;
	snprintf(bare, sizeof(bare), "%s/bare", root);
	put("/bare/proc/filesystems", "nodev\tproc\nnodev\ttracefs\n\text4\n");
	conclude(&f, bare);
	EXPECT(&f, perf_tracepoint, OFF, "tracefs is not mounted");
	put("/bare/proc/filesystems", "nodev\tproc\n");
	conclude(&f, bare);
	EXPECT(&f, perf_tracepoint, ABSENT, "not here");
}

static void hostile_files_do_no_harm(void **state)
{
	char junk[70000];
	struct fake f = healthy;

	(void)state;
	give_machine();
	memset(junk, 'z', sizeof(junk));
	put_file("/proc/sys/kernel/perf_event_paranoid", junk, sizeof(junk));
	put_file("/proc/sys/kernel/nmi_watchdog", junk, sizeof(junk));
	put_file("/sys/kernel/tracing/events/sched/sched_switch/id", junk, sizeof(junk));
	memset(junk, '0', sizeof(junk));
	put_file("/proc/kallsyms", junk, sizeof(junk));
	put("/sys/kernel/btf/vmlinux", "");
	conclude(&f, root);
	EXPECT(&f, nmi_watchdog, OK, "not in this kernel");
	EXPECT(&f, perf_tracepoint, UNKNOWN, "Input/output error");
	EXPECT(&f, btf, UNKNOWN, "not BTF");
}

/* ---- for real -------------------------------------------------------------------------------------- */

static int open_files(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int n = 0;

	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

static void trying_leaves_no_descriptor_and_no_child(void **state)
{
	struct fake f = { 0 };
	int before;

	(void)state;
	k_doctor("", NULL, take, &f);
	memset(f.seen, 0, sizeof(f.seen));
	before = open_files(); /* libraries that were loaded may keep some */
	k_doctor("", NULL, take, &f);
	assert_int_equal(open_files(), before);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	for (int i = 0; i < DOC_ROWS; i++)
		if (i != DOC_unwind && i != DOC_unicorn && i != DOC_duckdb && i != DOC_lease)
			assert_int_equal(f.seen[i], 1);
}

static void what_doctor_finds_is_what_the_kernel_does(void **state)
{
	struct k_event clock = { .type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_CPU_CLOCK, .period = 1000000 };
	struct fake f = { 0 };
	struct err e = { 0 };

	(void)state;
	k_doctor("", NULL, take, &f);
	assert_int_equal(f.cause[DOC_perf_cpu] == DOC_OK, k_event_try(&clock, &e) >= 0);
	if (geteuid() == 0 && f.cause[DOC_perf_cpu] == DOC_OK && f.cause[DOC_bpf] == DOC_OK)
		assert_int_equal(f.cause[DOC_ring], DOC_OK);
}

/* The wait for an overflow ends though none comes. */
static void an_event_that_never_overflows_is_not_waited_for_for_ever(void **state)
{
	const struct k_event often = { .type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_CPU_CLOCK, .period = 10000 },
			     never = { .type = PERF_TYPE_SOFTWARE,
				       .config = PERF_COUNT_SW_CPU_CLOCK,
				       .period = INT64_MAX };

	(void)state;
	if (k_system_calls.open(NULL, &often, true) < 0)
		skip();
	assert_int_equal(k_system_calls.overflow(NULL, &often, true), 1);
	assert_int_equal(k_system_calls.overflow(NULL, &never, true), 0);
}

static void a_program_that_hangs_or_is_not_there_ends(void **state)
{
	const char *const hangs[] = { "sh", "-c", "exec cat /dev/zero >/dev/null", NULL };
	const char *const none[] = { "no-such-program-here", NULL };
	const char *const says[] = { "sh", "-c", "echo one; echo two; exec cat /dev/zero", NULL };
	char line[64];

	(void)state;
	assert_true(k_system_calls.first_line(NULL, none, line, sizeof(line)) < 0);
	assert_true(k_system_calls.first_line(NULL, hangs, line, sizeof(line)) < 0);
	assert_true(k_system_calls.first_line(NULL, says, line, sizeof(line)) > 0);
	assert_string_equal(line, "one");
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_machine_that_has_all_is_ok_in_every_row_but_devices),
		cmocka_unit_test(an_ordinary_user_is_denied_what_he_is_denied),
		cmocka_unit_test(a_virtual_machine_has_no_hardware_events),
		cmocka_unit_test(settings_that_cost_something_are_told),
		cmocka_unit_test(a_kernel_that_refuses_in_spite_of_the_rights_is_not_believed),
		cmocka_unit_test(devices_and_programs_are_named),
		cmocka_unit_test(tracefs_that_is_not_mounted_is_off),
		cmocka_unit_test(hostile_files_do_no_harm),
		cmocka_unit_test(trying_leaves_no_descriptor_and_no_child),
		cmocka_unit_test(what_doctor_finds_is_what_the_kernel_does),
		cmocka_unit_test(an_event_that_never_overflows_is_not_waited_for_for_ever),
		cmocka_unit_test(a_program_that_hangs_or_is_not_there_ends),
	};

	return cmocka_run_group_tests_name("kernel: doctor", tests, make_root, remove_root);
}
