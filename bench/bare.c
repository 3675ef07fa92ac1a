/*
 * bare: the floor under any tracer of page faults: the same perf event on every
 * CPU, every fault, with a program that returns at once.
 *
 *	bare ADDRESS	in a process whose name is pf it reads the string there, with the kernel's helper, and
 *	                does no more
 *	bare 0		looks at the process's name, and does no more
 *	bare counter	reads how many page faults the CPU has counted, and does no more
 *	bare thread	the same, less what is kept with the thread
 *
 * Runs until SIGTERM, like a tracer; what its program cost is in the
 * descriptor's fdinfo, as it is for every BPF program.
 */
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static int bare_load(void)
{
	struct bpf_insn empty[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};

	return bpf_prog_load(BPF_PROG_TYPE_PERF_EVENT, "bare", "GPL", empty, 2, NULL);
}

static int bare_load_reader(uint64_t address)
{
	struct bpf_insn reader[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = BPF_REG_1, .src_reg = BPF_REG_10 },
		{ .code = BPF_ALU64 | BPF_ADD | BPF_K, .dst_reg = BPF_REG_1, .imm = -16 },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_2, .imm = 16 },
		{ .code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_get_current_comm },
		{ .code = BPF_LDX | BPF_MEM | BPF_W, .dst_reg = BPF_REG_1, .src_reg = BPF_REG_10, .off = -16 },
		{ .code = BPF_JMP | BPF_JNE | BPF_K, .dst_reg = BPF_REG_1, .imm = 'p' | 'f' << 8, .off = 6 },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = BPF_REG_1, .src_reg = BPF_REG_10 },
		{ .code = BPF_ALU64 | BPF_ADD | BPF_K, .dst_reg = BPF_REG_1, .imm = -256 },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_2, .imm = 256 },
		{ .code = BPF_LD | BPF_DW | BPF_IMM, .dst_reg = BPF_REG_3, .imm = (int32_t)address },
		{ .imm = (int32_t)(address >> 32) },
		{ .code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_probe_read_user_str },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};

	if (!address)
		reader[11] = (struct bpf_insn){ .code = BPF_JMP | BPF_JA };
	return bpf_prog_load(BPF_PROG_TYPE_PERF_EVENT, "bare", "GPL", reader, sizeof(reader) / sizeof(reader[0]), NULL);
}

static int bare_open_event(long cpu, uint64_t period)
{
	struct perf_event_attr a = {
		.size = sizeof(a),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_PAGE_FAULTS,
		.sample_period = period,
	};

	return (int)syscall(SYS_perf_event_open, &a, -1, (int)cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

/* A map with eight bytes for each thread. */
static int bare_threads(void)
{
	LIBBPF_OPTS(bpf_map_create_opts, o, .map_flags = BPF_F_NO_PREALLOC);
	struct btf *btf = btf__new_empty();
	int key = btf__add_int(btf, "int", 4, BTF_INT_SIGNED), value = btf__add_int(btf, "long", 8, BTF_INT_SIGNED);

	if (value < 0 || btf__load_into_kernel(btf) < 0)
		return -1;
	o.btf_fd = (uint32_t)btf__fd(btf);
	o.btf_key_type_id = (uint32_t)key;
	o.btf_value_type_id = (uint32_t)value;
	return bpf_map_create(BPF_MAP_TYPE_TASK_STORAGE, "threads", 4, 8, 0, &o);
}

static int bare_load_counter(bool of_thread)
{
	const int map = bpf_map_create(BPF_MAP_TYPE_PERF_EVENT_ARRAY, "counter", 4, 4,
				       (uint32_t)sysconf(_SC_NPROCESSORS_ONLN), NULL);
	const int threads = of_thread ? bare_threads() : 0;
	struct bpf_insn reader[] = {
		{ .code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_get_current_task_btf },
		{ .code = BPF_LD | BPF_DW | BPF_IMM,
		  .dst_reg = BPF_REG_1,
		  .src_reg = BPF_PSEUDO_MAP_FD,
		  .imm = threads },
		{ .imm = 0 },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = BPF_REG_2, .src_reg = BPF_REG_0 },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_3 },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_4, .imm = BPF_LOCAL_STORAGE_GET_F_CREATE },
		{ .code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_task_storage_get },
		{ .code = BPF_JMP | BPF_JEQ | BPF_K, .dst_reg = BPF_REG_0, .off = 10 },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = BPF_REG_6, .src_reg = BPF_REG_0 },
		/* from here on for both */
		{ .code = BPF_LD | BPF_DW | BPF_IMM, .dst_reg = BPF_REG_1, .src_reg = BPF_PSEUDO_MAP_FD, .imm = map },
		{ .imm = 0 },
		{ .code = BPF_ALU | BPF_MOV | BPF_K, .dst_reg = BPF_REG_2, .imm = -1 },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = BPF_REG_3, .src_reg = BPF_REG_10 },
		{ .code = BPF_ALU64 | BPF_ADD | BPF_K, .dst_reg = BPF_REG_3, .imm = -24 },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_4, .imm = 24 },
		{ .code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_perf_event_read_value },
		{ .code = BPF_LDX | BPF_MEM | BPF_DW, .dst_reg = BPF_REG_1, .src_reg = BPF_REG_6 },
		{ .code = BPF_ALU64 | BPF_ADD | BPF_K, .dst_reg = BPF_REG_1, .imm = 1 },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	const int first = of_thread ? 0 : 9;

	if (!of_thread) /* nothing is kept for the thread */
		reader[16] = reader[17] =
			(struct bpf_insn){ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_1 };
	for (uint32_t cpu = 0; cpu < (uint32_t)sysconf(_SC_NPROCESSORS_ONLN); cpu++) {
		const int fd = bare_open_event(cpu, 0);

		if (fd < 0 || bpf_map_update_elem(map, &cpu, &fd, BPF_ANY) < 0)
			return -1;
	}
	return bpf_prog_load(BPF_PROG_TYPE_PERF_EVENT, "bare", "GPL", reader + first,
			     sizeof(reader) / sizeof(reader[0]) - (size_t)first, NULL);
}

static int bare_load_mode(const char *mode)
{
	if (!strcmp(mode, "counter") || !strcmp(mode, "thread"))
		return bare_load_counter(*mode == 't');
	return bare_load_reader(strtoull(mode, NULL, 0));
}

int main(int argc, char **argv)
{
	sigset_t end;
	int signal;
	sigemptyset(&end);
	sigaddset(&end, SIGTERM);
	sigprocmask(SIG_BLOCK, &end, NULL);

	int prog = argc > 1 ? bare_load_mode(argv[1]) : bare_load();
	if (prog < 0) {
		perror("bare: bpf_prog_load");
		return 1;
	}
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	for (int cpu = 0; cpu < cpus; cpu++) {
		int fd = bare_open_event(cpu, 1);
		if (fd < 0 || ioctl(fd, PERF_EVENT_IOC_SET_BPF, prog) < 0) {
			perror("bare: page-faults");
			return 1;
		}
	}
	sigwait(&end, &signal);
	return 0;
}
