/*
 * gpci_guest_int.h: what the files of the asker's side share.
 *
 *	gpci_guest.c      one call; all records of a request
 *	gpci_snapshot.c   tables of one moment
 *	gpci_invariant.c        what they must obey
 */
#ifndef TALLY_HV_GPCI_GUEST_INT_H
#define TALLY_HV_GPCI_GUEST_INT_H

#include "hv/gpci_guest.h"
#include "hv/papr_int.h"

#define GPCI_VERSION_ANY 8u /* an upper bound: the firmware answers with its own */

/* One call. The reply is in the transport's memory. */
struct gpci_question {
	const struct gpci_request *r;
	int32_t index;
	uint16_t secondary;
	uint8_t version;
	size_t bytes;
};
struct gpci_answer {
	int64_t rc;
	struct gpci_reply reply;
};
int gpci_call(struct gpci_answer *ret, struct hv_transport *transport, const struct gpci_question *q, struct err *e);
bool gpci_is_partial(const struct gpci_answer *a);

/* Requests that the invariants need, in the order in which a snapshot reads them. */
/* clang-format off */
#define SNAPSHOT_TABLES(T) \
	T(PROCESSORS, GPCI_REQUEST_dispatch_purr) \
	T(PARTITIONS, GPCI_REQUEST_entitled) \
	T(RUN, GPCI_REQUEST_run_instructions) \
	T(ABC, GPCI_REQUEST_links_abc) \
	T(WXYZ, GPCI_REQUEST_links_wxyz) \
	T(CONFIG, GPCI_REQUEST_processor_config) \
	T(FREQUENCY, GPCI_REQUEST_processor_frequency) \
	T(CORES, GPCI_REQUEST_core_utilization) \
	T(MODE, GPCI_REQUEST_core_power_mode) \
	T(VPS, GPCI_REQUEST_affinity_by_vp) \
	T(DOMAINS, GPCI_REQUEST_affinity_by_partition) \
	T(TOPOLOGY, GPCI_REQUEST_bus_topology) \
	T(QUEUES, GPCI_REQUEST_queuing_times) \
	T(INSTRUCTIONS, GPCI_REQUEST_instructions) \
	T(HPMC, GPCI_REQUEST_hpmc) \
	T(MC, GPCI_REQUEST_links_mc)
/* clang-format on */
enum snapshot_table {
#define T(tag, number) TABLE_##tag,
	SNAPSHOT_TABLES(T)
#undef T
		TABLES
};
struct gpci_snapshot {
	struct gpci_table all[TABLES], own[TABLES]; /* r is NULL: not to be had */
	bool still;                                 /* all of one moment */
	enum gpci_verdict paging; /* of the reading in small pieces; words where it is not GPCI_HOLDS */
	char paging_text[160];
};

#endif
