/*
 * ptt_local.h: the PTT devices of this machine, as a platform (ptt/pmu.h).
 */
#ifndef TALLY_KERNEL_PTT_LOCAL_H
#define TALLY_KERNEL_PTT_LOCAL_H

#include "ptt/pmu.h"

/* sysfs: root of the tree, NULL: /sys; copied. *ret is closed through its op->close(). Looks at nothing yet. One trace
 * at a time. Beyond what ptt/pmu.h says: next(): a last *a may have n == 0 with PTT_AUX_TRUNCATED: the trace slept
 * until it was stopped. After stop() and
 *	the 0 that follows the last bytes the device is free for others.
 * -TALLY_ENOMEM; -TALLY_EINVAL: the path is too long. */
int k_ptt_pmus(struct ptt_pmus *ret, const char *sysfs, struct err *e);

#endif
