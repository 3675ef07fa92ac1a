/*
 * mmu_stats.h: the MMU statistics of this machine (mmustat.txt), as Linux on UltraSPARC T1 shows them.
 */
#ifndef TALLY_KERNEL_MMU_STATS_H
#define TALLY_KERNEL_MMU_STATS_H

#include "hv/transport.h"

/* A line to the hypervisor through the kernel's files: strands are CPUs. It negotiates group 0x200 alone; a buffer that
 * is given turns collecting on, at whatever address, and none puts it back as it was; what was collected comes by
 * op->mmustat(), which may be asked without. sysfs: root of the tree, NULL: /sys; copied. *ret is closed through
 * op->close(). -TALLY_ENOTSUP: no CPU has such files; -TALLY_EINVAL: the path is too long; -TALLY_ENOMEM. Calls:
 * -TALLY_EPERM: only root turns collecting on; -TALLY_ESTATE: that CPU is offline; -TALLY_ECORRUPT: no number. */
int k_mmu_transport_open(struct hv_transport *ret, const char *sysfs, struct err *e);

#endif
