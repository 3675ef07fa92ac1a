/*
 * hv_record.h: what a reading of a hypervisor's counters is to a program: the
 * contexts of the probes of providers gpci, vfalls and mmustat, and the structs
 * behind their args[0].
 *
 * All numbers are words.  The first two are arg0, the platform's time in nanoseconds, and arg1,
 * whose record it is.  A delta is what was counted since the probe's last firing, the first time since
 * the start of the run; a counter that went back began anew, so its delta is its value.
 */
#ifndef TALLY_HV_RECORD_H
#define TALLY_HV_RECORD_H

#include "hv/gpci_guest.h"
#include "hv/sun4v_guest.h"

/* One record of a request. Of affinity_by_partition: one domain of it. */
struct gpci_context {
	uint64_t ns, id;
	uint64_t element, domain[6]; /* affinity_by_partition */
	char request[24];
	uint64_t value[GPCI_FIELDS_MOST], delta[GPCI_FIELDS_MOST];
};
/* last: the record of the same id in the reading before, or NULL. element: below now->nelements, or 0. */
void gpci_context_fill(struct gpci_context *to, const struct gpci_request *r, uint64_t ns,
		       const struct gpci_values *now, const struct gpci_values *last, uint32_t element);

/* A register (vfalls:::sample), or an event's count of one unit. */
struct vf_context {
	uint64_t ns, number;
	uint64_t cpu, node; /* of a Zambezi's register, node is the Zambezi */
	uint64_t value, delta;
	char name[24];  /* "zam0_lpu_a_pcr" */
	char event[64]; /* what it is set to count: "event0=mem_reads event1=mem_writes"; or that event */
};
void vf_context_fill(struct vf_context *to, const struct vf_reg *r, uint64_t ns, uint32_t cpu, uint32_t node,
		     const char *event);
/* What a counting register counted between two values; of an MCU both halves together, of a control register
 * nothing. */
uint64_t vf_delta(const struct vf_reg *r, uint64_t now, uint64_t last);
/* Whether a control register can select the event, and its code. */
bool vf_selects(const struct vf_reg *r, const char *event, uint32_t *code);

/* A slot of a strand's MMU statistics. */
struct mmustat_context {
	uint64_t ns, cpu;
	uint64_t bytes; /* of the page */
	uint64_t hits, ticks, d_hits, d_ticks;
	char size[8], context[8], side[8]; /* "64K"; "ctx0", "ctxnon0"; "I", "D" */
};
#define MMUSTAT_SLOTS (2u * 2u * MMUSTAT_SIZES)
/* slot: below MMUSTAT_SLOTS, in the order of the buffer. */
void mmustat_context_fill(struct mmustat_context *to, uint32_t slot, uint64_t ns, uint32_t cpu,
			  const struct mmustat *now, const struct mmustat *last);

#endif
