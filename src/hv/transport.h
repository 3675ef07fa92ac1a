/*
 * transport.h: a guest's transport to a hypervisor, whoever that is.
 *
 * What asks (the guest libraries, the tools) speaks to a service through this
 * table: an embedded machine fills it with direct calls, a socket with messages.  The guest's memory is plain
 * bytes that both sides see.
 */
#ifndef TALLY_HV_TRANSPORT_H
#define TALLY_HV_TRANSPORT_H

#include "hv/papr.h"
#include "hv/sun4v.h"

#define HV_TICK_UNKNOWN UINT64_MAX /* a real machine that does not say it */
struct hv_transport {
	void *arg;
	const struct hv_transport_ops *op;
	const struct sun4v_kind *kind; /* sun4v: what answers; NULL: POWER */
	uint32_t sockets, strands;     /* sun4v */
	uint32_t strands_per_node;
	uint64_t tick_hz;   /* of a strand's %tick, of POWER's timebase; 0: that of the models */
	uint16_t partition; /* POWER: who asks */
	uint8_t level;      /* POWER: firmware */
	bool relative;      /* POWER: counters count from the first time they are asked for on */
	/* guest memory: real addresses from `base`, seen by both sides */
	uint8_t *memory;
	uint64_t base;
	size_t bytes;
};
struct hv_transport_ops {
	const char *what; /* "the batoka model", "unix:/run/x": for messages */
	/* o[0..5] as sun4v_call(). 0; -TALLY_EPERM, -TALLY_EBUSY: that strand is kept for, or is, another guest's;
	 * -TALLY_ESTATE: it is offline; -TALLY_EEND: the platform is gone; -TALLY_EIO. NULL: no such machine. */
	int (*sun4v)(void *arg, uint32_t vcpu, unsigned trap, uint64_t o[6], struct err *e);
	int (*asr)(void *arg, uint32_t vcpu, uint32_t asr, bool write, uint64_t *value, struct err *e);
	/* MMU statistics that are in no memory of ours: all of a strand's, as they are now, collecting or not.
	 * -TALLY_ESTATE: there is no such strand at the moment. NULL: they are in the buffers that were given. */
	int (*mmustat)(void *arg, uint32_t vcpu, uint8_t to[MMUSTAT_BYTES], struct err *e);
	/* TLB misses so far that no TSB answered, of all strands: a guest's handler counts them, if anybody does. NULL:
	 * nothing tells. */
	uint64_t (*tsb_missed)(void *arg);
	/* r[0..2] as papr_ask(). */
	int (*papr)(void *arg, uint32_t vcpu, uint64_t r[3], struct err *e);
	/* Embedded machines: time passes only here. NULL: by itself. */
	void (*advance)(void *arg, uint64_t ns);
	uint64_t (*now)(void *arg); /* nanoseconds of the platform's own time; NULL: the asker's clock will do */
	const struct err *(*lost)(
		void *arg); /* why now() had no answer, ever since; NULL: it had one, or there is no such */
	void (*close)(void *arg);
};

#endif
