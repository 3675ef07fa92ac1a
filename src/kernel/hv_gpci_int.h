/*
 * hv_gpci_int.h: what the files of the hv_gpci transport share.
 *
 *	hv_gpci.c        the PMU's files; the transport; topology and capabilities
 *	hv_gpci_count.c  records of counters, each field a perf event
 *	timebase.c       how fast the timebase is
 */
#ifndef TALLY_KERNEL_HV_GPCI_INT_H
#define TALLY_KERNEL_HV_GPCI_INT_H

#include "kernel/hv_gpci.h"

#define GPCI_REQUESTS_MOST 64u
extern const struct k_gpci_perf gpci_perf_kernel;

struct gpci_counter {
	uint32_t request, offset;
	int32_t index;
	int fd;
	uint64_t last;
};
/* behind the line */
struct gpci_pmu {
	/* set when it is opened, then read-only */
	char root[512];
	struct k_gpci_about about;
	uint32_t cpu;                                   /* first of its CPUs */
	uint32_t counted[GPCI_REQUESTS_MOST], ncounted; /* requests that the kernel lists events of */
	struct k_gpci_perf perf;
	/* the line's thread only */
	struct gpci_counter *counter;
	uint32_t n, cap; /* opened so far */
	uint32_t next;   /* where the next one that is asked for may be */
	uint8_t memory[GPCI_MOST];
};

/* Records of a request, one behind the other, as the kernel shows them. */
struct gpci_bytes {
	const struct gpci_request *r;
	struct buf b;
	struct gpci_reply all;
};
/* All records of a topology request. *code: H_SUCCESS, H_AUTHORITY, H_NOT_AVAILABLE (it is none, or the kernel does not
 * show it). -TALLY_ENOTSUP (too many for the kernel), -TALLY_ECORRUPT, -TALLY_EIO, -TALLY_ENOMEM. */
int gpci_topology(struct gpci_pmu *g, uint32_t number, struct gpci_bytes *ret, int64_t *code, struct err *e);
/* Of a request with counters: those from index on, or the own one (-1). *code as above. -TALLY_ESTATE: which records
 * there are is not known; -TALLY_EPERM: perf refuses; -TALLY_EIO, -TALLY_ENOMEM. */
int gpci_counted(struct gpci_pmu *g, const struct gpci_request *r, int32_t index, struct gpci_bytes *ret, int64_t *code,
		 struct err *e);
void gpci_counters_close(struct gpci_pmu *g);
/* The id of this partition; 0: not known. */
uint32_t gpci_own_partition(const struct gpci_pmu *g);
/* Ticks a second; root: of sysfs. 0: the machine does not say. */
uint64_t timebase_hz(const char *root);
void gpci_put_be(uint8_t *p, uint32_t bytes, uint64_t v);

#endif
