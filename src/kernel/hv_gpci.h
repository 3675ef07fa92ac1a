/*
 * hv_gpci.h: H_GetPerformanceCounterInfo as Linux on POWER passes it on, as a transport (hv/transport.h).
 */
#ifndef TALLY_KERNEL_HV_GPCI_H
#define TALLY_KERNEL_HV_GPCI_H

#include "hv/transport.h"

#define K_GPCI_FORMATS 16u
struct k_gpci_about {                               /* of the PMU, as its files say */
	uint32_t type;                              /* as perf numbers it */
	char cpus[64];                              /* where it is asked */
	uint32_t version, kernel_version;           /* of the firmware's records; the highest that the kernel knows */
	bool collect_privileged, ga, expanded, lab; /* rights of this partition */
	uint32_t nevents;                           /* that it lists */
	uint32_t nformats;
	struct {
		char name[32], place[32];
	} format[K_GPCI_FORMATS]; /* "request", "config:0-31" */
};
/* sysfs: root of the tree, NULL: /sys. -TALLY_ENOTSUP: this kernel has no such PMU; -TALLY_EIO. */
int k_gpci_about(struct k_gpci_about *ret, const char *sysfs, struct err *e);

/* Events as perf_event_open(2) gives them. open: a descriptor or -errno; read: 0 or -errno. */
struct k_gpci_perf {
	void *arg;
	int (*open)(void *arg, uint32_t type, uint32_t cpu, uint64_t config, uint64_t config1);
	int (*read)(void *arg, int fd, uint64_t *ret);
	void (*close)(void *arg, int fd);
};
/* A line that answers 0xF080 with what the kernel tells: the capabilities and, from POWER10 on, the topology from its
 * files; counters of the requests that it lists events of, from the first time they are asked for on (l->relative).
 * Which records there are is known from the topology; without it (POWER9 and older) a counter's record is
 * -TALLY_ESTATE, with words; what the kernel does not pass on is H_Not_Available. Opens nothing yet. sysfs and perf
 * (NULL: the kernel's) are copied. Errors as k_gpci_about(). */
int k_gpci_transport_open(struct hv_transport *ret, const char *sysfs, const struct k_gpci_perf *perf, struct err *e);

#endif
