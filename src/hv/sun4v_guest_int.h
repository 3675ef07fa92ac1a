/*
 * sun4v_guest_int.h: what the files of the guest library share.
 *
 *	sun4v_guest.c     versions, registers, words
 *	sun4v_counter.c   counters: selections and widening
 *	sun4v_buffer.c    MMU statistics
 *	sun4v_invariant*.c      what they must obey (sun4v_invariant_int.h)
 */
#ifndef TALLY_HV_SUN4V_GUEST_INT_H
#define TALLY_HV_SUN4V_GUEST_INT_H

#include <stdio.h>

#include "hv/sun4v_guest.h"

struct sun4v_client {
	struct hv_transport *transport;
	bool mmustat, perf; /* groups that were granted */
	uint32_t minor;
	uint32_t home;           /* a strand of this guest's: for calls that any of them may make */
	uint64_t *buffer;        /* by strand: real address of its buffer, 0: none */
	struct vf_counter *open; /* all that are: who has which */
	uint32_t left;           /* selections, classes and buffers that could not be put back */
};

int sun4v_trap(struct sun4v_client *c, uint32_t vcpu, unsigned trap, uint64_t function, uint64_t o[6], struct err *e);
int sun4v_status(const struct sun4v_client *c, uint64_t status, const char *what, struct err *e);
uint32_t vf_select_get(const struct vf_reg *r, uint64_t pcr, uint32_t pic);
uint64_t vf_select_put(const struct vf_reg *r, uint64_t pcr, uint32_t pic, uint32_t code);

#endif
