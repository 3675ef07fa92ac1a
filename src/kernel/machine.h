/* machine.h: facts of this machine that no struct of the kernel leads to. */
#ifndef TALLY_KERNEL_MACHINE_H
#define TALLY_KERNEL_MACHINE_H

#include <stdint.h>

#define K_MACHINE_NONE (-1)  /* no chip, or no node: the CPU is offline */
#define K_MACHINE_NODES 1024 /* Linux has no more */

struct k_machine {
	uint32_t page_bytes;
	uint64_t memory_pages;
	int64_t boot_ns; /* when the time since boot (CLOCK_BOOTTIME) began, since 1970 */
	uint32_t mhz;    /* of the first CPU; 0: nothing tells it */
	char type[16];   /* as uname -m has it */
	uint32_t ncpus;
	int32_t *chip, *node; /* of each CPU */
};
/* sysfs: where that is mounted, with /proc beside it; NULL: /sys. -TALLY_ENOMEM. */
int k_machine_open(struct k_machine *ret, const char *sysfs, uint32_t ncpus);
void k_machine_close(struct k_machine *m);

#endif
