/*
 * bare: the floor under any tracer of page faults: the same perf event on every
 * CPU, every fault, with a program that returns at once.
 *
 * Runs until SIGTERM, like a tracer; what its program cost is in the
 * descriptor's fdinfo, as it is for every BPF program.
 */
#include <bpf/bpf.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(void)
{
	sigset_t end;
	int signal;
	sigemptyset(&end);
	sigaddset(&end, SIGTERM);
	sigprocmask(SIG_BLOCK, &end, NULL);

	struct bpf_insn empty[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	int prog = bpf_prog_load(BPF_PROG_TYPE_PERF_EVENT, "bare", "GPL", empty, 2, NULL);
	if (prog < 0) {
		perror("bare: bpf_prog_load");
		return 1;
	}
	struct perf_event_attr a = {
		.size = sizeof(a),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_PAGE_FAULTS,
		.sample_period = 1,
	};
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	for (int cpu = 0; cpu < cpus; cpu++) {
		int fd = (int)syscall(SYS_perf_event_open, &a, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
		if (fd < 0 || ioctl(fd, PERF_EVENT_IOC_SET_BPF, prog) < 0) {
			perror("bare: page-faults");
			return 1;
		}
	}
	sigwait(&end, &signal);
	return 0;
}
