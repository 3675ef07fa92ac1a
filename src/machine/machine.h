/*
 * machine: models that make counters move.
 *
 * A machine is arithmetic: time is an argument, chance is a seed, and the same
 * calls give the same bytes everywhere.  Nothing in here sees a file, a clock or a
 * thread.  What a model does not model it does not show.
 */
#ifndef TALLY_MACHINE_H
#define TALLY_MACHINE_H

#include "base/base.h"

/* ---- options: "seed=7,load=mixed,..." behind a platform's name ------------------------------- */
/* -TALLY_EINVAL names the key, or the value and what would do. */

/* ---- kunpeng: PCIe cores with root ports, endpoints, a switch, and PTT devices (kunpeng.c) ------
 *
 * SICL 0 has cores 0 and 2. Each has a PTT device (hisi_ptt0_0, hisi_ptt0_2), root ports on bus 0 and endpoints behind
 * them. hisi_ptt0_2: root port 0000:00:10.0 (filter 0x80001) with an NVMe drive at 01:00.0 and 01:00.1, 0000:00:11.0
 * (0x80004) with a switch: a NIC and a second drive behind it (peer to peer), 0000:00:12.0 (0x80010) empty for hotplug.
 * One tick of Time is 1 ns.
 */
#include "ptt/device.h"
#include "ptt/pmu.h"

struct kunpeng;
struct kunpeng_opts {
	uint64_t seed;    /* 0: 1 */
	const char *load; /* a row of kunpeng_load.def; NULL: "mixed" */
};
struct kunpeng_load {
	const char *name, *text;
};
const struct kunpeng_load *kunpeng_load_at(uint32_t i); /* NULL past the last */

/* Truth about what went over a core's links since the start, counted where it is decided. */
struct kunpeng_truth {
	uint64_t ns;
	uint64_t tlps[2][4], bytes[2][4]; /* [outbound][enum ptt_class]: payload bytes */
	/* Non-posted: that crossed; completed well, completed with an error, still open, given up without an answer.
	 * The last four are parts of the first. A request to a peer is one, although it crosses twice. */
	uint64_t requests, answered, failed, open, abandoned;
	uint64_t asked_bytes, read_bytes; /* by those requests; by their completions */
	/* Of the answered: from the crossing of the request to that of its last completion, which a trace of both
	 * directions shows: sum and count. */
	uint64_t latency_ns, latency_count;
	uint64_t latency_most;
	uint64_t wait_ns[2], waits[2]; /* in the transmit buffer, [outbound]; sum and packets */
	uint64_t posts[2];             /* times the buffer was posted, [outbound] */
	uint64_t msis, doorbells;
};

/* -TALLY_EINVAL: no such load; -TALLY_ENOMEM. */
int kunpeng_open(struct kunpeng **ret, const struct kunpeng_opts *o, struct err *e);
void kunpeng_close(struct kunpeng *k); /* NULL is fine */
/* Time goes on to `ns` since the start; packets pass the devices in their order. */
void kunpeng_run(struct kunpeng *k, uint64_t ns);
uint64_t kunpeng_now(const struct kunpeng *k);
/* Lets kunpeng_run() return early after the packet of this moment (a device's host calls it: no room). */
void kunpeng_pause(struct kunpeng *k);
uint32_t kunpeng_ndevices(const struct kunpeng *k);
struct ptt_dev *kunpeng_device(struct kunpeng *k, uint32_t i);
const struct ptt_pmu *kunpeng_pmu(struct kunpeng *k, uint32_t i); /* name and filters now; changes with hotplug */
/* The device is a client's whole, who drives its registers himself: nobody else traces or tunes it any more. */
void kunpeng_give(struct kunpeng *k, uint32_t i);
bool kunpeng_given(const struct kunpeng *k, uint32_t i);
const struct kunpeng_truth *kunpeng_truth(const struct kunpeng *k, uint32_t i);
void kunpeng_link(const struct kunpeng *k, uint32_t i, struct ptt_link *ret); /* the same, as a platform tells it */
/* An endpoint function ("0000:01:00.0") or all of an endpoint's ("0000:01:00") come or go; "0000:" may be left out.
 * What was under way to or from it stays unanswered, and is abandoned at once. -TALLY_EINVAL: no such place;
 * -TALLY_ESTATE: it is there, or gone, already. */
int kunpeng_plug(struct kunpeng *k, const char *bdf, bool there, struct err *e);
uint32_t kunpeng_generation(const struct kunpeng *k); /* grows with each change of filters */

/* The machine with tally's own driver on each device, as a platform. Takes k, on failure too (it is closed then). Time
 * passes in its advance() only, which ends early for a ring without room: nothing is lost while the reader keeps up.
 * One trace at a time, on whichever device. (kunpeng_pmus.c) */
int kunpeng_pmus(struct ptt_pmus *ret, struct kunpeng *k, struct err *e);

#endif
