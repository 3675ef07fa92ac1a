/*
 * vm_helper_test.c: what programs ask the vm for: maps, memory, who and when, stacks, rings.
 */
#include "base/range.h"
#include "bpf/vm_int.h"
#include "bpf/vm_test_int.h"

/* ---- maps ----------------------------------------------------------- */

/* R1 = map, R2 = its key of one word, stored at -16 */
#define KEY(map, key)                                                                                 \
	I_STORE_IMM(DW, R10, -16, key), I_STORE_IMM(DW, R10, -8, 0), I_LD_MAP(R1, map), I_LD64_HI(0), \
		I_MOV_REG(R2, R10), I_ALU_IMM(ADD, R2, -16)
/* R3 = value stored at -32, R4 = flags */
#define VALUE(v, flags)                                                                                          \
	I_STORE_IMM(DW, R10, -32, v), I_STORE_IMM(DW, R10, -24, 0), I_MOV_REG(R3, R10), I_ALU_IMM(ADD, R3, -32), \
		I_MOV_IMM(R4, flags)
#define UPDATE(map, key, v, flags) KEY(map, key), VALUE(v, flags), I_CALL(map_update_elem)
#define LOOKUP(map, key) KEY(map, key), I_CALL(map_lookup_elem)
#define DELETE(map, key) KEY(map, key), I_CALL(map_delete_elem)

static void hashes_keep_what_was_put(void **state)
{
	(void)state;
	assert_int_equal(RUN(UPDATE(HASH, 7, 70, MAP_ANY), LOOKUP(HASH, 7), I_LOAD(DW, R0, R0, 0), I_EXIT()), 70);
	assert_int_equal(RUN(LOOKUP(HASH, 8), I_EXIT()), 0);
	assert_int_equal(RUN(UPDATE(HASH, 7, 70, MAP_EXIST), I_NEG(R0), I_EXIT()), BPF_ENOENT);
	assert_int_equal(RUN(UPDATE(HASH, 7, 70, 0), UPDATE(HASH, 7, 71, MAP_NOEXIST), I_NEG(R0), I_EXIT()),
			 BPF_EEXIST);
	assert_int_equal(RUN(UPDATE(HASH, 7, 70, 9), I_NEG(R0), I_EXIT()), BPF_EINVAL);
	assert_int_equal(RUN(DELETE(HASH, 7), I_NEG(R0), I_EXIT()), BPF_ENOENT);
	assert_int_equal(RUN(UPDATE(HASH, 7, 70, 0), DELETE(HASH, 7), LOOKUP(HASH, 7), I_EXIT()), 0);
}

static void a_full_hash_is_too_big(void **state)
{
	(void)state;
	assert_int_equal(RUN(UPDATE(HASH, 1, 1, 0), UPDATE(HASH, 2, 2, 0), UPDATE(HASH, 3, 3, 0), UPDATE(HASH, 4, 4, 0),
			     I_NEG(R0), I_EXIT()),
			 BPF_E2BIG);
	/* room is found again, and starts zeroed */
	assert_int_equal(RUN(UPDATE(HASH, 1, -1, 0), UPDATE(HASH, 2, 2, 0), UPDATE(HASH, 3, 3, 0), DELETE(HASH, 1),
			     UPDATE(HASH, 4, 4, 0), LOOKUP(HASH, 4), I_LOAD(DW, R0, R0, 0), I_EXIT()),
			 4);
}

static void arrays_answer_by_index(void **state)
{
	(void)state;
	assert_int_equal(RUN(LOOKUP(GLOBALS, 0), I_LOAD(B, R0, R0, 3), I_EXIT()), 4);
	assert_int_equal(RUN(LOOKUP(GLOBALS, 1), I_EXIT()), 0);
	assert_int_equal(RUN(I_LD_MAP_VALUE(R1, GLOBALS), I_RAW(0, 0, 0, 0, 2), I_LOAD(H, R0, R1, 0), I_EXIT()),
			 0x0403);
	assert_int_equal(RUN(UPDATE(PERCPU, 1, 5, MAP_NOEXIST), I_NEG(R0), I_EXIT()), BPF_EEXIST);
	assert_int_equal(RUN(UPDATE(PERCPU, 9, 5, 0), I_NEG(R0), I_EXIT()), BPF_E2BIG);
	assert_int_equal(RUN(DELETE(PERCPU, 1), I_NEG(R0), I_EXIT()), BPF_EINVAL);
	struct fixture f;
	START(&f, I_LD_MAP_VALUE(R1, GLOBALS), I_RAW(0, 0, 0, 0, 60), I_LOAD(DW, R0, R1, 0), I_EXIT());
	assert_int_equal(run(&f), -TALLY_ECORRUPT);
	START(&f, LOOKUP(PERCPU, 0), I_STORE_IMM(DW, R0, 32, 1), I_EXIT()); /* into element 1 */
	assert_int_equal(run(&f), -TALLY_ECORRUPT);
	START(&f, LOOKUP(PERCPU, 1), I_STORE_IMM(B, R0, -1, 1), I_EXIT());
	assert_int_equal(run(&f), -TALLY_ECORRUPT);
}

static void each_cpu_has_its_own_values(void **state)
{
	(void)state;
	struct fixture f;
	uint64_t key[2] = { 7, 0 }, value[2] = { 0, 0 };
	/* adds 10 + cpu to the value of this CPU */
	START(&f, UPDATE(AGG, 7, 0, MAP_NOEXIST), LOOKUP(AGG, 7), I_MOV_REG(R6, R0), I_CALL(get_smp_processor_id),
	      I_ALU_IMM(ADD, R0, 10), I_LOAD(DW, R1, R6, 0), I_ALU_REG(ADD, R1, R0), I_STORE(DW, R6, 0, R1),
	      I_MOV_IMM(R0, 0), I_EXIT());
	for (int i = 0; i < 6; i++) {
		f.cpu.cpu = i % 3 != 0;
		assert_int_equal(vm_run(f.vm, 0, &f.cpu, 1000, &f.e), 0);
	}
	struct maps m = vm_maps(f.vm);
	assert_int_equal(m.ncpus, 2);
	assert_int_equal(m.ops->lookup(m.maps, AGG, key, value), 0);
	assert_int_equal(value[0], 20);
	assert_int_equal(value[1], 44);
	f.cpu.cpu = 2;
	assert_int_equal(vm_run(f.vm, 0, &f.cpu, 1000, &f.e), -TALLY_EINVAL);
	vm_close(f.vm);
}

static void map_arguments_must_be_maps(void **state)
{
	(void)state;
	struct fixture f;
	START(&f, I_MOV_IMM(R1, 5), I_MOV_REG(R2, R10), I_CALL(map_lookup_elem), I_EXIT());
	assert_int_equal(run(&f), -TALLY_ECORRUPT);
	START(&f, KEY(HASH, 1), I_ALU_IMM(ADD, R1, 1), I_CALL(map_lookup_elem), I_EXIT());
	assert_int_equal(run(&f), -TALLY_ECORRUPT);
	START(&f, KEY(HASH, 1), I_ALU_IMM(ADD, R2, 12), I_CALL(map_lookup_elem), I_EXIT());
	assert_int_equal(run(&f), -TALLY_ECORRUPT);
	START(&f, LOOKUP(STACKS, 1), I_EXIT());
	assert_int_equal(run(&f), -TALLY_ECORRUPT);
	START(&f, UPDATE(RINGS, 1, 1, 0), I_EXIT());
	assert_int_equal(run(&f), -TALLY_ECORRUPT);
}

static void maps_can_be_reached_from_outside(void **state)
{
	(void)state;
	struct fixture f;
	START(&f, I_EXIT());
	struct maps m = vm_maps(f.vm);
	char value[16] = "", next[8];
	uint64_t keys[3] = { 11, 22, 33 };
	assert_int_equal(m.ops->next(m.maps, HASH, NULL, next), -TALLY_EEND);
	for (int i = 0; i < 3; i++)
		assert_int_equal(m.ops->update(m.maps, HASH, &keys[i], "value of 12"), 0);
	assert_int_equal(m.ops->update(m.maps, HASH, "12345678", value), -TALLY_ENOMEM);
	assert_int_equal(m.ops->remove(m.maps, HASH, &keys[1]), 0);
	assert_int_equal(m.ops->remove(m.maps, HASH, &keys[1]), -TALLY_EEND);
	assert_int_equal(m.ops->next(m.maps, HASH, NULL, next), 0);
	assert_memory_equal(next, &keys[0], 8);
	assert_int_equal(m.ops->next(m.maps, HASH, next, next), 0);
	assert_memory_equal(next, &keys[2], 8);
	assert_int_equal(m.ops->next(m.maps, HASH, next, next), -TALLY_EEND);
	assert_int_equal(m.ops->take(m.maps, HASH, &keys[2], value), 0);
	assert_string_equal(value, "value of 12");
	assert_int_equal(m.ops->lookup(m.maps, HASH, &keys[2], value), -TALLY_EEND);
	assert_int_equal(m.ops->take(m.maps, HASH, &keys[2], value), -TALLY_EEND);
	uint32_t index = 0, last = 1;
	assert_int_equal(m.ops->next(m.maps, PERCPU, &index, next), 0);
	assert_memory_equal(next, &last, 4);
	assert_int_equal(m.ops->next(m.maps, PERCPU, &last, next), -TALLY_EEND);
	assert_int_equal(m.ops->take(m.maps, PERCPU, &last, value), -TALLY_EINVAL);
	assert_int_equal(m.ops->lookup(m.maps, RINGS, &last, value), -TALLY_EINVAL);
	assert_int_equal(m.ops->lookup(m.maps, NMAPS, &last, value), -TALLY_EINVAL);
	vm_close(f.vm);
}

/* ---- reading memory ------------------------------------------------- */

/* 16 kernel bytes at 0xffff000000000000 and a user string that ends 3 bytes before unreadable memory. */
static int read_memory(void *arg, uint64_t addr, void *to, size_t n, bool user)
{
	static const char kernel[] = "kernel memory!!", text[] = "hi";
	uint64_t base = user ? 0x5000 - sizeof(text) : 0xffff000000000000ULL;
	const char *from = user ? text : kernel;
	size_t size = user ? sizeof(text) : sizeof(kernel);
	(void)arg;
	if (addr < base || addr - base > size || n > size - (addr - base))
		return -1;
	memcpy(to, from + (addr - base), n);
	return 0;
}

/* Reads `size` bytes from addr with helper; R0 is what it returned, R1 the first word of what was read. */
#define READ(helper, size, addr)                                                                         \
	I_STORE_IMM(DW, R10, -32, -1), I_MOV_REG(R1, R10), I_ALU_IMM(ADD, R1, -32), I_MOV_IMM(R2, size), \
		LD64(R3, addr), I_CALL(helper), I_LOAD(DW, R1, R10, -32)
#define KADDR 0xffff000000000000ULL

static int run_reading(const struct bpf_ins *ins, uint32_t n)
{
	struct fixture f;
	start(&f, ins, n);
	f.cpu.read = read_memory;
	return run(&f);
}
#define RUN_READING(...) run_reading(PROG(__VA_ARGS__), COUNT(PROG(__VA_ARGS__)))

static void memory_is_read_through_the_cpu(void **state)
{
	(void)state;
	assert_int_equal(RUN_READING(READ(probe_read_kernel, 2, KADDR + 3), I_ALU_IMM(AND, R1, 0xffff),
				     I_MOV_REG(R0, R1), I_EXIT()),
			 'n' | 'e' << 8);
	assert_int_equal(RUN_READING(READ(probe_read, 1, KADDR), I_ALU_IMM(AND, R1, 0xff), I_MOV_REG(R0, R1), I_EXIT()),
			 'k');
	assert_int_equal(RUN_READING(READ(probe_read, 1, 0x4ffd), I_ALU_IMM(AND, R1, 0xff), I_MOV_REG(R0, R1),
				     I_EXIT()),
			 'h');
	assert_int_equal(RUN_READING(READ(probe_read_user, 3, 0x4ffd), I_EXIT()), 0);
	assert_int_equal(RUN_READING(READ(probe_read_user, 4, 0x4ffd), I_NEG(R0), I_EXIT()), BPF_EFAULT);
	assert_int_equal(RUN_READING(READ(probe_read_kernel, 8, 16), I_MOV_REG(R0, R1), I_EXIT()), 0);
	assert_int_equal(RUN(READ(probe_read_kernel, 8, KADDR), I_NEG(R0), I_EXIT()), BPF_EFAULT);
	assert_int_equal(RUN_READING(READ(probe_read_kernel, 0, 16), I_EXIT()), 0);
}

/* A program may reckon with the address of a map; what it comes to is no map, though it be the place behind the
 * last. */
static void a_map_is_one_of_those_that_there_are(void **state)
{
	(void)state;
	struct fixture f;
	START(&f, I_LD_MAP(R1, NMAPS - 1), I_LD64_HI(0), I_STORE_IMM(W, R10, -4, 0), I_MOV_REG(R2, R10),
	      I_ALU_IMM(ADD, R2, -4), I_MOV_IMM(R3, 1), I_ALU_IMM(LSH, R3, __builtin_ctzll(vp(0, 1, 0))),
	      I_ALU_REG(ADD, R1, R3), I_CALL(map_lookup_elem), I_EXIT());
	assert_int_equal(run(&f), -TALLY_ECORRUPT);
	assert_non_null(strstr(f.e.text, "not a map"));
}

static void strings_end_at_their_nul(void **state)
{
	(void)state;
	assert_int_equal(RUN_READING(READ(probe_read_user_str, 32, 0x4ffd), I_EXIT()), 3);
	/* what lies behind the NUL stays as it was */
	assert_int_equal(RUN_READING(READ(probe_read_user_str, 32, 0x4ffd), I_ALU_IMM(RSH, R1, 16),
				     I_ALU_IMM(AND, R1, 0xffff), I_MOV_REG(R0, R1), I_EXIT()),
			 0xff00);
	assert_int_equal(RUN_READING(READ(probe_read_kernel_str, 4, KADDR), I_EXIT()), 4);
	assert_int_equal(RUN_READING(READ(probe_read_kernel_str, 4, KADDR), I_ALU_IMM(RSH, R1, 16),
				     I_ALU_IMM(AND, R1, 0xffff), I_MOV_REG(R0, R1), I_EXIT()),
			 'r');
	assert_int_equal(RUN_READING(READ(probe_read_kernel_str, 32, KADDR + 16), I_NEG(R0), I_EXIT()), BPF_EFAULT);
	assert_int_equal(RUN_READING(READ(probe_read_user_str, 0, 0), I_EXIT()), 0);
}

static void own_memory_reads_as_kernel_memory(void **state)
{
	(void)state;
	/* copies the string "hi" from the globals' map to the stack */
	assert_int_equal(RUN(I_LD_MAP_VALUE(R6, GLOBALS), I_LD64_HI(0), I_STORE_IMM(W, R6, 0, 0x6968),
			     I_MOV_REG(R1, R10), I_ALU_IMM(ADD, R1, -8), I_MOV_IMM(R2, 8), I_MOV_REG(R3, R6),
			     I_CALL(probe_read_kernel_str), I_LOAD(H, R1, R10, -8), I_ALU_IMM(MUL, R0, 0x10000),
			     I_ALU_REG(ADD, R0, R1), I_EXIT()),
			 0x36968);
	/* past its end it faults, and user reads can't see it */
	assert_int_equal(RUN(I_MOV_REG(R1, R10), I_ALU_IMM(ADD, R1, -8), I_MOV_IMM(R2, 8), I_LD_MAP_VALUE(R3, GLOBALS),
			     I_RAW(0, 0, 0, 0, 60), I_CALL(probe_read_kernel), I_NEG(R0), I_EXIT()),
			 BPF_EFAULT);
	assert_int_equal(RUN(I_MOV_REG(R1, R10), I_ALU_IMM(ADD, R1, -8), I_MOV_IMM(R2, 8), I_LD_MAP_VALUE(R3, GLOBALS),
			     I_LD64_HI(0), I_CALL(probe_read_user), I_NEG(R0), I_EXIT()),
			 BPF_EFAULT);
	struct fixture f;
	START(&f, I_MOV_REG(R1, R10), I_MOV_IMM(R2, 8), I_LD_MAP_VALUE(R3, GLOBALS), I_LD64_HI(0),
	      I_CALL(probe_read_kernel), I_EXIT());
	assert_int_equal(run(&f), -TALLY_ECORRUPT);
}

/* ---- who and when --------------------------------------------------- */

static int run_as(const struct bpf_ins *ins, uint32_t n)
{
	struct fixture f;
	start(&f, ins, n);
	f.cpu = (struct vm_cpu){ .cpu = 1,
				 .pid = 100,
				 .tid = 101,
				 .uid = 7,
				 .gid = 8,
				 .ppid = 99,
				 .comm = "fifteen letters",
				 .mono_ns = 12345,
				 .vtime_ns = 777,
				 .pc = 0x123456 };
	return run(&f);
}
#define RUN_AS(...) run_as(PROG(__VA_ARGS__), COUNT(PROG(__VA_ARGS__)))

static void the_cpu_answers_who_and_when(void **state)
{
	(void)state;
	assert_int_equal(RUN_AS(I_CALL(ktime_get_ns), I_EXIT()), 12345);
	assert_int_equal(RUN_AS(I_CALL(get_smp_processor_id), I_EXIT()), 1);
	assert_int_equal(RUN_AS(I_LOAD(DW, R0, R1, 0), I_EXIT()), 0x123456);
	assert_int_equal(RUN_AS(I_CALL(get_current_pid_tgid), I_MOV_REG(R1, R0), I_ALU_IMM(RSH, R1, 32),
				I_ALU32_IMM(MUL, R0, 1000), I_ALU_REG(ADD, R0, R1), I_EXIT()),
			 101100);
	assert_int_equal(RUN_AS(I_CALL(get_current_uid_gid), I_MOV_REG(R1, R0), I_ALU_IMM(RSH, R1, 32),
				I_ALU32_IMM(MUL, R0, 1000), I_ALU_REG(ADD, R0, R1), I_EXIT()),
			 7008);
	assert_int_equal(RUN_AS(I_MOV_IMM(R1, 1), I_MOV_IMM(R2, 2), I_MOV_REG(R3, R10), I_ALU_IMM(ADD, R3, -8),
				I_MOV_IMM(R4, 8), I_CALL(get_ns_current_pid_tgid), I_LOAD(W, R0, R10, -8),
				I_LOAD(W, R1, R10, -4), I_ALU_IMM(MUL, R0, 1000), I_ALU_REG(ADD, R0, R1), I_EXIT()),
			 101100);
	assert_int_equal(RUN_AS(I_MOV_REG(R3, R10), I_ALU_IMM(ADD, R3, -8), I_MOV_IMM(R4, 4),
				I_CALL(get_ns_current_pid_tgid), I_NEG(R0), I_EXIT()),
			 BPF_EINVAL);
}

static void execname_is_cut_and_padded(void **state)
{
	(void)state;
#define COMM(size)                                                                                                 \
	I_STORE_IMM(DW, R10, -24, -1), I_STORE_IMM(DW, R10, -16, -1), I_MOV_REG(R1, R10), I_ALU_IMM(ADD, R1, -24), \
		I_MOV_IMM(R2, size), I_CALL(get_current_comm)
	assert_int_equal(RUN_AS(COMM(16), I_LOAD(H, R0, R10, -10), I_EXIT()), 's');
	assert_int_equal(RUN_AS(COMM(4), I_LOAD(W, R0, R10, -24), I_EXIT()), 'f' | 'i' << 8 | 'f' << 16);
	assert_int_equal(RUN_AS(COMM(24), I_LOAD(DW, R0, R10, -8), I_EXIT()), 0);
	assert_int_equal(RUN_AS(COMM(0), I_NEG(R0), I_EXIT()), BPF_EINVAL);
}

static void relocated_fields_of_the_task_can_be_read(void **state)
{
	(void)state;
	/* ppid: task->real_parent, then ->tgid */
	struct bpf_ins prog[] = { I_CALL(get_current_task),  I_MOV_REG(R3, R0),       I_ALU_IMM(ADD, R3, 0),
				  I_MOV_REG(R1, R10),        I_ALU_IMM(ADD, R1, -8),  I_MOV_IMM(R2, 8),
				  I_CALL(probe_read_kernel), I_LOAD(DW, R3, R10, -8), I_ALU_IMM(ADD, R3, 0),
				  I_MOV_REG(R1, R10),        I_ALU_IMM(ADD, R1, -8),  I_MOV_IMM(R2, 4),
				  I_CALL(probe_read_kernel), I_LOAD(W, R0, R10, -8),  I_EXIT() };
	struct img_reloc relocs[] = { { 2, "task_struct", "real_parent" }, { 8, "task_struct", "tgid" } };
	struct fixture f;
	start(&f, prog, COUNT(prog));
	vm_close(f.vm);
	f.prog.reloc = relocs;
	f.prog.nrelocs = COUNT(relocs);
	f.cpu.ppid = 4711;
	assert_int_equal(vm_open(&f.vm, &f.img, 1, &f.e), 0);
	assert_int_equal(run(&f), 4711);
	relocs[1].field = "no_such_field";
	assert_int_equal(vm_open(&f.vm, &f.img, 1, &f.e), 0);
	assert_int_equal(run(&f), 0);
}

static void counters_read_as_zero(void **state)
{
	(void)state;
#define COUNTER(size)                                                                                    \
	I_STORE_IMM(DW, R10, -24, -1), I_MOV_REG(R2, R10), I_ALU_IMM(ADD, R2, -24), I_MOV_IMM(R3, size), \
		I_CALL(perf_prog_read_value)
	assert_int_equal(RUN(COUNTER(24), I_LOAD(DW, R1, R10, -24), I_ALU_REG(ADD, R0, R1), I_EXIT()), 0);
	assert_int_equal(RUN(COUNTER(16), I_NEG(R0), I_EXIT()), BPF_EINVAL);
}

/* ---- stacks --------------------------------------------------------- */

static int run_stack(const struct bpf_ins *ins, uint32_t n)
{
	static const uint64_t kernel[] = { 1, 2, 3, 4, 5 }, user[] = { 10, 11 };
	struct fixture f;
	start(&f, ins, n);
	f.cpu.kstack = kernel;
	f.cpu.nkstack = COUNT(kernel);
	f.cpu.ustack = user;
	f.cpu.nustack = COUNT(user);
	return run(&f);
}
#define RUN_STACK(...) run_stack(PROG(__VA_ARGS__), COUNT(PROG(__VA_ARGS__)))
#define STACK(size, flags)                                                                              \
	I_STORE_IMM(DW, R10, -8, -1), I_MOV_REG(R2, R10), I_ALU_IMM(ADD, R2, -32), I_MOV_IMM(R3, size), \
		I_MOV_IMM(R4, flags), I_CALL(get_stack)
#define STACKID(flags) I_LD_MAP(R2, STACKS), I_LD64_HI(0), I_MOV_IMM(R3, flags), I_CALL(get_stackid)

static void stacks_are_cut_and_skipped(void **state)
{
	(void)state;
	assert_int_equal(RUN_STACK(STACK(32, 0), I_EXIT()), 32);
	assert_int_equal(RUN_STACK(STACK(32, 3), I_LOAD(DW, R1, R10, -24), I_ALU_IMM(MUL, R0, 10),
				   I_ALU_REG(ADD, R0, R1), I_EXIT()),
			 165);
	assert_int_equal(RUN_STACK(STACK(32, STACK_USER), I_LOAD(DW, R1, R10, -32), I_LOAD(DW, R2, R10, -8),
				   I_ALU_REG(ADD, R0, R1), I_ALU_REG(ADD, R0, R2), I_EXIT()),
			 26);
	assert_int_equal(RUN_STACK(STACK(32, STACK_USER | 2), I_NEG(R0), I_EXIT()), BPF_EFAULT);
	assert_int_equal(RUN_STACK(STACK(30, 0), I_NEG(R0), I_EXIT()), BPF_EINVAL);
	assert_int_equal(RUN(STACK(32, 0), I_NEG(R0), I_EXIT()), BPF_EFAULT);
}

static void equal_stacks_have_one_id(void **state)
{
	(void)state;
	struct fixture f;
	static const uint64_t frames[] = { 7, 8, 9 };
	uint64_t value[4];
	START(&f, STACKID(0), I_MOV_REG(R6, R0), I_LD_MAP(R2, STACKS), I_LD64_HI(0), I_MOV_IMM(R3, 0),
	      I_CALL(get_stackid), I_JMP_REG(JEQ, R0, R6, 1), I_MOV_IMM(R0, 77), I_EXIT());
	f.cpu.kstack = frames;
	f.cpu.nkstack = 3;
	int id = vm_run(f.vm, 0, &f.cpu, 1000, &f.e);
	assert_uint_in_range(id, 0, 3);
	struct maps m = vm_maps(f.vm);
	uint32_t key = (uint32_t)id;
	assert_int_equal(m.ops->lookup(m.maps, STACKS, &key, value), 0);
	assert_memory_equal(value, ((uint64_t[]){ 7, 8, 9, 0 }), 32);
	assert_int_equal(m.ops->take(m.maps, STACKS, &key, value), 0);
	assert_int_equal(m.ops->lookup(m.maps, STACKS, &key, value), -TALLY_EEND);
	assert_int_equal(m.ops->next(m.maps, STACKS, NULL, &key), -TALLY_EEND);
	vm_close(f.vm);
}

static void different_stacks_may_collide(void **state)
{
	(void)state;
	struct fixture f;
	int collisions = 0, kept = 0;
	START(&f, STACKID(0), I_JMP_IMM(JSGE, R0, 0, 1), I_NEG(R0), I_EXIT());
	for (uint64_t pc = 1; pc < 20; pc++) {
		f.cpu.kstack = &pc;
		f.cpu.nkstack = 1;
		int id = vm_run(f.vm, 0, &f.cpu, 1000, &f.e);
		collisions += id == BPF_EEXIST;
		kept += id < 4;
	}
	assert_int_equal(collisions + kept, 19);
	assert_uint_in_range(kept, 1, 4);
	vm_close(f.vm);
	assert_int_equal(RUN(STACKID(0), I_NEG(R0), I_EXIT()), BPF_EFAULT);
	assert_int_equal(RUN(STACKID(1 << 12), I_NEG(R0), I_EXIT()), BPF_EINVAL);
	START(&f, I_LD_MAP(R2, HASH), I_LD64_HI(0), I_MOV_IMM(R3, 0), I_CALL(get_stackid), I_EXIT());
	assert_int_equal(run(&f), -TALLY_ECORRUPT);
}

/* ---- rings ---------------------------------------------------------- */

/* R6 = the ring of index `i` */
#define RING(i) LOOKUP(RINGS, i), I_MOV_REG(R6, R0), I_MOV_REG(R1, R0)
/* hands over 16 bytes: a word of `v`, a word of zero */
#define OUTPUT(v)                                                                                          \
	I_STORE_IMM(DW, R10, -32, v), I_STORE_IMM(DW, R10, -24, 0), I_MOV_REG(R1, R6), I_MOV_REG(R2, R10), \
		I_ALU_IMM(ADD, R2, -32), I_MOV_IMM(R3, 16), I_MOV_IMM(R4, 0), I_CALL(ringbuf_output)

static void records_come_in_order_and_wrap(void **state)
{
	(void)state;
	struct fixture f;
	const void *rec;
	START(&f, RING(1), OUTPUT(41), OUTPUT(42), I_EXIT());
	for (int i = 0; i < 20; i++) { /* 48 bytes each time, so it wraps at every place */
		assert_int_equal(vm_run(f.vm, 0, &f.cpu, 1000, &f.e), 0);
		assert_int_equal(vm_ring_next(f.vm, 1, &rec), 16);
		assert_int_equal(*(const uint64_t *)rec, 41);
		assert_int_equal(vm_ring_next(f.vm, 1, &rec), 16);
		assert_int_equal(*(const uint64_t *)rec, 42);
		assert_int_equal(vm_ring_next(f.vm, 1, &rec), 0);
	}
	assert_int_equal(vm_ring_next(f.vm, 0, &rec), 0);
	assert_int_equal(vm_ring_next(f.vm, 3, &rec), 0);
	vm_close(f.vm);
	assert_int_equal(RUN(LOOKUP(RINGS, 2), I_EXIT()), 0);
}

static void a_full_ring_says_again(void **state)
{
	(void)state;
	struct fixture f;
	int rc = 0, n = 0;
	START(&f, RING(0), OUTPUT(1), I_NEG(R0), I_EXIT());
	while ((rc = vm_run(f.vm, 0, &f.cpu, 1000, &f.e)) == 0)
		n++;
	assert_int_equal(rc, BPF_EAGAIN);
	assert_int_equal(n, 10); /* 240 of 255 bytes */
	vm_close(f.vm);
}

static void a_ring_is_full_one_byte_below_its_size_and_takes_no_size_that_wraps(void **state)
{
	(void)state;
	static uint8_t data[2 * 4096];
	struct vm_ring r = { .data = data, .size = 4096 };
	uint32_t *first = vm_ring_reserve(&r, 4096 - 2 * VM_RING_HDR);
	assert_ptr_equal(first, data);
	assert_int_equal(first[0], (4096u - 2 * VM_RING_HDR) | VM_RING_BUSY);
	assert_int_equal(r.prod, 4096 - VM_RING_HDR);
	assert_null(vm_ring_reserve(&r, 0));
	r.cons = r.prod; /* the next begins at the end, and goes on behind it */
	assert_ptr_equal(vm_ring_reserve(&r, 13), data + 4096 - VM_RING_HDR);
	assert_int_equal(r.prod - r.cons, 24);
	r.cons = r.prod;
	assert_null(vm_ring_reserve(&r, 4096 - VM_RING_HDR));
	assert_null(vm_ring_reserve(&r, 4096 - 2 * VM_RING_HDR + 1));
	assert_null(vm_ring_reserve(&r, 4096));
	assert_null(vm_ring_reserve(&r, 4097));
	assert_null(vm_ring_reserve(&r, UINT64_MAX));
	assert_null(vm_ring_reserve(&r, UINT64_MAX - 8));
	assert_non_null(vm_ring_reserve(&r, 4096 - 2 * VM_RING_HDR));
}

static void reserved_records_show_once_submitted(void **state)
{
	(void)state;
	struct fixture f;
	const void *rec;
#define RESERVE(n) I_MOV_REG(R1, R6), I_MOV_IMM(R2, n), I_MOV_IMM(R3, 0), I_CALL(ringbuf_reserve)
	START(&f, RING(1), RESERVE(8), I_STORE_IMM(DW, R0, 0, 5), I_MOV_REG(R7, R0), RESERVE(8),
	      I_STORE_IMM(DW, R0, 0, 6), I_MOV_REG(R1, R7), I_MOV_REG(R7, R0), I_CALL(ringbuf_discard),
	      I_MOV_REG(R1, R7), I_CALL(ringbuf_submit), I_EXIT());
	assert_int_equal(vm_run(f.vm, 0, &f.cpu, 1000, &f.e), 0);
	assert_int_equal(vm_ring_next(f.vm, 1, &rec), 8);
	assert_int_equal(*(const uint64_t *)rec, 6);
	assert_int_equal(vm_ring_next(f.vm, 1, &rec), 0);
	vm_close(f.vm);

	assert_int_equal(RUN(RING(1), RESERVE(300), I_EXIT()), 0);
	START(&f, RING(1), RESERVE(8), I_EXIT());
	assert_int_equal(run(&f), -TALLY_ECORRUPT);
	assert_non_null(strstr(f.e.text, "never submitted"));
	START(&f, RING(1), RESERVE(8), I_STORE_IMM(DW, R0, 8, 1), I_EXIT());
	assert_int_equal(run(&f), -TALLY_ECORRUPT);
	START(&f, RING(1), I_CALL(ringbuf_submit), I_EXIT());
	assert_int_equal(run(&f), -TALLY_ECORRUPT);
	START(&f, RING(1), RESERVE(8), I_JUMP(-5), I_EXIT());
	assert_int_equal(run(&f), -TALLY_ECORRUPT);
}

static void rings_tell_their_state(void **state)
{
	(void)state;
#define QUERY(what) RING(0), OUTPUT(1), I_MOV_REG(R1, R6), I_MOV_IMM(R2, what), I_CALL(ringbuf_query), I_EXIT()
	assert_int_equal(RUN(QUERY(RING_AVAIL_DATA)), 24);
	assert_int_equal(RUN(QUERY(RING_SIZE)), 256);
	assert_int_equal(RUN(QUERY(RING_CONS_POS)), 0);
	assert_int_equal(RUN(QUERY(RING_PROD_POS)), 24);
	assert_int_equal(RUN(QUERY(9)), 0);
	struct fixture f;
	START(&f, I_LD_MAP(R1, RINGS), I_LD64_HI(0), I_MOV_IMM(R2, 0), I_CALL(ringbuf_query), I_EXIT());
	assert_int_equal(run(&f), -TALLY_ECORRUPT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hashes_keep_what_was_put),
		cmocka_unit_test(a_full_hash_is_too_big),
		cmocka_unit_test(arrays_answer_by_index),
		cmocka_unit_test(each_cpu_has_its_own_values),
		cmocka_unit_test(map_arguments_must_be_maps),
		cmocka_unit_test(maps_can_be_reached_from_outside),
		cmocka_unit_test(memory_is_read_through_the_cpu),
		cmocka_unit_test(a_map_is_one_of_those_that_there_are),
		cmocka_unit_test(strings_end_at_their_nul),
		cmocka_unit_test(own_memory_reads_as_kernel_memory),
		cmocka_unit_test(the_cpu_answers_who_and_when),
		cmocka_unit_test(execname_is_cut_and_padded),
		cmocka_unit_test(relocated_fields_of_the_task_can_be_read),
		cmocka_unit_test(counters_read_as_zero),
		cmocka_unit_test(stacks_are_cut_and_skipped),
		cmocka_unit_test(equal_stacks_have_one_id),
		cmocka_unit_test(different_stacks_may_collide),
		cmocka_unit_test(records_come_in_order_and_wrap),
		cmocka_unit_test(a_full_ring_says_again),
		cmocka_unit_test(a_ring_is_full_one_byte_below_its_size_and_takes_no_size_that_wraps),
		cmocka_unit_test(reserved_records_show_once_submitted),
		cmocka_unit_test(rings_tell_their_state),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
