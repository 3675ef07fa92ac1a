/*
 * sun4v_guest.h: the guest's side: named registers and counters over hypercalls.
 *
 * Negotiates once, finds out what it may read, programs selections, widens 31-
 * and 32-bit counters to 64, and tries again, a bounded number of times, when a Zambezi is busy.  A
 * register that it may not have is said, not fatal: it goes on with the others.
 * vf_perf_api.txt 3, mmustat.txt 2.
 */
#ifndef TALLY_HV_SUN4V_GUEST_H
#define TALLY_HV_SUN4V_GUEST_H

#include "hv/transport.h"

#define SUN4V_TRIES 1000u /* of a call that says EWOULDBLOCK */
struct sun4v_client;
/* -TALLY_ENOTSUP: the machine has neither API. */
int sun4v_client_open(struct sun4v_client **ret, struct hv_transport *transport, struct err *e);
/* Disables MMU statistics; counters are closed before. Returns how much of what this client had set could not be put
 * back, its counters' selections among it. NULL is fine: 0. */
uint32_t sun4v_client_close(struct sun4v_client *c);
/* The strand that asks what any strand may: the first that is not another guest's. */
uint32_t sun4v_client_home(const struct sun4v_client *c);
/* Whether a strand is this guest's to use. */
bool sun4v_client_has(struct sun4v_client *c, uint32_t vcpu);

/* What a hypervisor status means here. 0; -TALLY_EINVAL, -TALLY_ENOTSUP, -TALLY_EPERM (ENOACCESS), -TALLY_EBUSY (still
 * busy after all tries), with words that name the register. vcpu: of registers 0 and 1; the others are everybody's. */
int vf_get(struct sun4v_client *c, uint32_t vcpu, uint32_t reg, uint64_t *value, struct err *e);
int vf_set(struct sun4v_client *c, uint32_t vcpu, uint32_t reg, uint64_t value, struct err *e);
/* 0 when it may be read, else why not. */
int vf_probe(struct sun4v_client *c, uint32_t vcpu, uint32_t reg, struct err *e);
/* A register's value in fields: "event0=mem_reads event1=mem_writes". */
void vf_fields(const struct vf_reg *r, uint64_t value, struct buf *to);

/* What its unit can count. */
enum vf_eventset vf_events_of(const struct vf_reg *r);
/* Whether it is a control register: it selects events. */
bool vf_is_control(const struct vf_reg *r);
/* Of a SPARC event's code: whether it counts L2 misses, of which PERF_CONFIG chooses a class. */
bool vf_is_l2_miss(uint32_t code);
/* Which code of its events a control register selects for counter 0 or 1 (SPARC: select << 8 | mask). */
uint32_t vf_selected(const struct vf_reg *control, uint64_t value, uint32_t pic);
/* The control register of a counter, and which of its two that is; r itself where it is none. */
const struct vf_reg *vf_control_of(const struct vf_reg *r, uint32_t *pic);

/* ---- counters: a register pair and a selection, widened ------------------------------------------- */
struct vf_counter_ask {
	uint32_t vcpu;            /* SPARC: the strand; else any of the guest's */
	uint32_t reg;             /* the control register: 0, an MCU's PCR, a Zambezi unit's PCR */
	uint32_t event;           /* select code */
	bool user, system, hyper; /* SPARC */
	uint8_t class;            /* SPARC, L2 events: PERF_CONFIG 0..3 */
};
struct vf_counter;
/* Takes one of the two counters of the register. -TALLY_EBUSY: both are taken, the strand's other counter counts in
 * other modes, or the node's PERF_CONFIG is another's; -TALLY_EPERM, -TALLY_ENOTSUP: a register that it takes may not,
 * or cannot, be had. */
int vf_counter_open(struct vf_counter **ret, struct sun4v_client *c, const struct vf_counter_ask *a, struct err *e);
int vf_counter_read(struct vf_counter *k, uint64_t *value, struct err *e); /* since it was opened */
void vf_counter_close(struct vf_counter *k); /* puts back what was selected; NULL is fine */

/* ---- MMU statistics --------------------------------------------------------------------------------- */
struct mmustat {
	struct {
		uint64_t hits, ticks;
	} at[2][2][MMUSTAT_SIZES];
}; /* [data][context not 0][size] */
/* Gives the strand's buffer (taken from the transport's memory, zeroed), and takes it back. */
int mmustat_start(struct sun4v_client *c, uint32_t vcpu, struct err *e);
int mmustat_read(struct sun4v_client *c, uint32_t vcpu, struct mmustat *ret, struct err *e);
int mmustat_stop(struct sun4v_client *c, uint32_t vcpu, struct err *e);
void mmustat_decode(const uint8_t buffer[MMUSTAT_BYTES], struct mmustat *ret);

#endif
