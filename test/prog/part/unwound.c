/*
 * unwound: what libdwfl says of a program's stacks.
 *
 *	unwound PROGRAM ARGUMENT...
 *
 * Starts the program, which stops itself; prints "pid N", and goes on when a line comes on standard input.  From then
 * on perf takes registers and a copy of the stack at each page fault of its user mode, and libdwfl unwinds that copy. 
 * Prints for each "at ADDRESS pc pc ...", the innermost first.  Whenever the program stops, what was taken is read, and
 * it goes on.
 */
#include <elfutils/libdwfl.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define STACK_BYTES 16384u
#define RING_PAGES 8192u

/* perf's numbers of registers (asm/perf_regs.h) in the order of DWARF's. */
#if defined(__x86_64__)
#define NREGS 17
static const uint8_t perf_register[NREGS] = { 0, 3, 2, 1, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23, 8 };
#define SP_REGISTER 7
#elif defined(__aarch64__)
#define NREGS 33 /* the last is the pc, which is none of DWARF's */
static const uint8_t perf_register[NREGS] = { 0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16,
					      17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32 };
#define SP_REGISTER 31
#endif

struct sample {
	pid_t pid;
	Dwarf_Word reg[NREGS]; /* as DWARF numbers them */
	const uint8_t *stack;
	uint64_t bytes;
};

static pid_t next_thread(Dwfl *d, void *arg, void **thread)
{
	const struct sample *s = arg;

	(void)d;
	if (*thread)
		return 0;
	*thread = arg;
	return s->pid;
}

static bool memory_read(Dwfl *d, Dwarf_Addr addr, Dwarf_Word *ret, void *arg)
{
	const struct sample *s = arg;
	const uint64_t at = addr - s->reg[SP_REGISTER];

	(void)d;
	if (at > s->bytes || s->bytes - at < sizeof(*ret))
		return false;
	memcpy(ret, s->stack + at, sizeof(*ret));
	return true;
}

static bool set_registers(Dwfl_Thread *t, void *arg)
{
	const struct sample *s = arg;

#if defined(__aarch64__)
	dwfl_thread_state_register_pc(t, s->reg[NREGS - 1]);
	return dwfl_thread_state_registers(t, 0, NREGS - 1, s->reg);
#else
	return dwfl_thread_state_registers(t, 0, NREGS, s->reg);
#endif
}

static int print_frame(Dwfl_Frame *f, void *arg)
{
	Dwarf_Addr pc;
	bool activation;

	(void)arg;
	if (!dwfl_frame_pc(f, &pc, &activation))
		return DWARF_CB_ABORT;
	printf(" %llx", (unsigned long long)pc);
	return DWARF_CB_OK;
}

static void print_sample(Dwfl *d, struct sample *s, const uint8_t *p)
{
	uint64_t addr, abi, taken[NREGS], asked, copied;

	memcpy(&addr, p, 8);
	memcpy(&abi, p + 8, 8);
	if (abi != PERF_SAMPLE_REGS_ABI_64)
		return;
	memcpy(taken, p + 16, sizeof(taken)); /* in the order of perf's numbers */
	for (unsigned i = 0; i < NREGS; i++) {
		unsigned below = 0;

		for (unsigned k = 0; k < NREGS; k++)
			below += perf_register[k] < perf_register[i];
		s->reg[i] = taken[below];
	}
	p += 16 + sizeof(taken);
	memcpy(&asked, p, 8);
	s->stack = p + 8;
	memcpy(&copied, p + 8 + asked, 8);
	s->bytes = copied;
	printf("at %llx", (unsigned long long)addr);
	(void)dwfl_getthread_frames(d, s->pid, print_frame, NULL);
	putchar('\n');
}

static void read_samples(Dwfl *d, struct sample *s, struct perf_event_mmap_page *ring)
{
	static uint8_t record[65536];
	const size_t page = (size_t)sysconf(_SC_PAGESIZE), size = RING_PAGES * page;
	const uint8_t *data = (const uint8_t *)ring + page;
	const uint64_t head = __atomic_load_n(&ring->data_head, __ATOMIC_ACQUIRE);
	uint64_t tail = ring->data_tail;

	while (tail < head) {
		struct perf_event_header h;

		memcpy(&h, data + tail % size, sizeof(h));
		for (size_t i = 0; i < h.size; i++)
			record[i] = data[(tail + i) % size];
		if (h.type == PERF_RECORD_SAMPLE)
			print_sample(d, s, record + sizeof(h));
		else if (h.type == PERF_RECORD_LOST)
			fprintf(stderr, "unwound: samples were lost\n");
		tail += h.size;
	}
	__atomic_store_n(&ring->data_tail, tail, __ATOMIC_RELEASE);
}

int main(int argc, char **argv)
{
	static const Dwfl_Callbacks files = { .find_elf = dwfl_linux_proc_find_elf,
					      .find_debuginfo = dwfl_standard_find_debuginfo };
	static const Dwfl_Thread_Callbacks threads = { .next_thread = next_thread,
						       .memory_read = memory_read,
						       .set_initial_registers = set_registers };
	struct perf_event_attr a = { .type = PERF_TYPE_SOFTWARE,
				     .size = sizeof(a),
				     .config = PERF_COUNT_SW_PAGE_FAULTS,
				     .sample_period = 1,
				     .sample_type = PERF_SAMPLE_ADDR | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER,
				     .exclude_kernel = 1,
				     .sample_stack_user = STACK_BYTES };
	struct sample s = { 0 };
	struct perf_event_mmap_page *ring;
	int fd, status;
	Dwfl *d;

	if (argc < 2)
		return 2;
	s.pid = fork();
	if (s.pid == 0) {
		execv(argv[1], argv + 1);
		_exit(127);
	}
	if (waitpid(s.pid, &status, WUNTRACED) < 0 || !WIFSTOPPED(status))
		return 1;
	printf("pid %d\n", (int)s.pid);
	fflush(stdout);
	if (getchar() == EOF)
		return 1;
	d = dwfl_begin(&files);
	if (!d || dwfl_linux_proc_report(d, s.pid) != 0 || dwfl_report_end(d, NULL, NULL) != 0 ||
	    !dwfl_attach_state(d, NULL, s.pid, &threads, &s)) {
		fprintf(stderr, "unwound: %s\n", dwfl_errmsg(-1));
		return 1;
	}
	for (unsigned i = 0; i < NREGS; i++)
		a.sample_regs_user |= UINT64_C(1) << perf_register[i];
	fd = (int)syscall(SYS_perf_event_open, &a, s.pid, -1, -1, 0);
	ring = fd < 0 ? MAP_FAILED :
			mmap(NULL, (RING_PAGES + 1) * (size_t)sysconf(_SC_PAGESIZE), PROT_READ | PROT_WRITE, MAP_SHARED,
			     fd, 0);
	if (ring == MAP_FAILED) {
		perror("unwound: perf_event_open");
		return 1;
	}
	do {
		read_samples(d, &s, ring);
		kill(s.pid, SIGCONT);
		if (waitpid(s.pid, &status, WUNTRACED) < 0)
			return 1;
	} while (WIFSTOPPED(status));
	read_samples(d, &s, ring);
	return status != 0;
}
