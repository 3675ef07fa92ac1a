/*
 * machine.c: the D library this-machine.d, which is no file: what D's own libraries need to know of the machine where a
 * script compiles, and the kernel's structs do not tell.
 *
 * A member that nothing on this machine tells has no conversion, as in the libraries that are files, and its reason.
 * Where programs run over records and models their CPUs are not those of this machine: what differs between CPUs is
 * left out there.
 *
 * Chips and nodes are chosen by comparisons, halved until a run of CPUs is alike: some ten steps for a thousand CPUs.
 */
#include "session/session_int.h"

#include <fcntl.h>

#include "kernel/machine.h"

/* of_cpu[C] of CPUs from `from` up to `to` */
static void machine_choose(struct buf *b, const int32_t *of_cpu, uint32_t from, uint32_t to)
{
	const uint32_t middle = from + (to - from) / 2;
	bool alike = true;

	for (uint32_t cpu = from + 1; cpu < to && alike; cpu++)
		alike = of_cpu[cpu] == of_cpu[from];
	if (alike) {
		buf_printf(b, "%d", of_cpu[from]);
		return;
	}
	buf_printf(b, "(C < %u ? ", middle);
	machine_choose(b, of_cpu, from, middle);
	buf_puts(b, " : ");
	machine_choose(b, of_cpu, middle, to);
	buf_puts(b, ")");
}

/* In which system call a thread is: the kernel keeps its number where it saves the registers of the user. */
static const char *machine_syscall(void)
{
#if defined(__x86_64__)
	/*
	 * An exception leaves an error code there. But the instruction syscall keeps the address of the next one in
	 * rcx, and of a call of a program of 32 bits the thread has a mark (TS_COMPAT).
	 */
	return "R->cx == R->ip || curthread->thread_info.status & 2 ? R->orig_ax : -1";
#elif defined(__aarch64__)
	return "R->syscallno";
#else
	return NULL;
#endif
}

void machine_cpus(struct buf *b, const struct k_machine *m)
{
	buf_printf(b,
		   "translator processor_info_t < processorid_t C > { pi_state = P_ONLINE; pi_processor_type = \"%s\";",
		   m->type);
	if (m->mhz)
		buf_printf(b, " pi_clock = %u;", m->mhz);
	buf_puts(b, " };\n");
	if (!m->mhz)
		buf_puts(b, "inline string __without_pi_clock = \"the kernel does not tell it here\";\n");
	buf_puts(b, "translator cpuinfo_t < processorid_t C > {\n\tcpu_id = C;\n\tcpu_pset = 0;\n"
		    "\tcpu_info = xlate < processor_info_t > (C);\n\tcpu_chip = ");
	machine_choose(b, m->chip, 0, m->ncpus);
	buf_puts(b, ";\n\tcpu_lgrp = ");
	machine_choose(b, m->node, 0, m->ncpus);
	buf_puts(b, ";\n};\n");
}

int machine_library(struct buf *b, bool is_here)
{
	const char *syscall = machine_syscall();
	struct k_machine m;
	int rc;

	if (!is_here) {
		buf_puts(b, "translator cpuinfo_t < processorid_t C > { cpu_id = C; cpu_pset = 0; };\n");
		for (const char *const *member = (const char *const[]){ "chip", "lgrp", "info", NULL }; *member;
		     member++)
			buf_printf(b, "inline string __without_cpu_%s = \"no CPU of this machine runs here\";\n",
				   *member);
		return b->failed ? -TALLY_ENOMEM : 0;
	}
	rc = k_machine_open(&m, NULL, k_ncpus_possible());
	if (rc < 0)
		return rc;
	machine_cpus(b, &m);
	buf_printf(b, "inline uint64_t __page_bytes = %u;\n", m.page_bytes);
	buf_printf(b, "inline uint64_t __memory_pages = %llu;\n", (unsigned long long)m.memory_pages);
	buf_printf(b, "inline int64_t __boot_ns = %lld;\n", (long long)m.boot_ns);
	buf_printf(b, "inline int O_DIRECT = %d; inline int O_DIRECTORY = %d; inline int O_NOFOLLOW = %d;\n", O_DIRECT,
		   O_DIRECTORY, O_NOFOLLOW);
	buf_printf(b, "inline int O_LARGEFILE = %d;\n", __O_LARGEFILE);
	if (syscall)
		buf_printf(b, "inline short __syscall_of[struct pt_regs *R] = %s;\n", syscall);
	k_machine_close(&m);
	return b->failed ? -TALLY_ENOMEM : 0;
}
