/*
 * driver.h: tally's own driver of a PTT device: registers in, AUX bytes out.
 *
 * It speaks to a device through two functions, so a device in this process and one
 * behind a socket are alike.  The protocol is that of the Linux driver, register
 * by register in the same order, without its two faults: mode and filter come from the event that is
 * started, never from one that failed to open; and a buffer is only ever copied where there is room for
 * it.  A full AUX ring is committed and a new one of the same size taken, as hisi_ptt.rst
 * says: when the reader has not read the one before, packets are lost and counted.
 */
#ifndef TALLY_PTT_DRIVER_H
#define TALLY_PTT_DRIVER_H

#include "ptt/pmu.h"

struct ptt_regs {
	void *arg;
	int (*read)(void *arg, uint32_t off, uint32_t *value, struct err *e); /* negative: the device is gone */
	int (*write)(void *arg, uint32_t off, uint32_t value, struct err *e);
	/* A while passes, for polls: `us` microseconds. NULL: nothing to wait for. */
	void (*pause)(void *arg, uint32_t us);
};
struct ptt_driver;
/* memory: PTT_BUFFERS * PTT_BUFFER_BYTES that the device's DMA reaches at bus addresses base + offset; borrowed. Writes
 * the four addresses and the size once, reads the range of its root ports. -TALLY_ENOTSUP: that is no PTT device. */
int ptt_driver_open(struct ptt_driver **ret, const struct ptt_regs *regs, uint8_t *memory, uint64_t base,
		    struct err *e);
void ptt_driver_close(struct ptt_driver *d); /* stops a trace; NULL is fine */
/* -TALLY_EBUSY: timed out */
int ptt_driver_tune_get(struct ptt_driver *d, enum ptt_tune t, uint32_t *value, struct err *e);
int ptt_driver_tune_set(struct ptt_driver *d, enum ptt_tune t, uint32_t value, struct err *e);
/* -TALLY_EBUSY: a trace is on, or the device is not idle; -TALLY_ENOMEM; -TALLY_EINVAL. ring: bytes, a multiple of
 * 4 MiB. A refused start changes nothing. What was not taken of the trace before is lost, and its records are told as
 * lost with the first bytes of this one. */
int ptt_driver_start(struct ptt_driver *d, const struct ptt_ask *ev, size_t ring, struct err *e);
/* The device's interrupt went up: copies what is finished. Cheap when nothing is. */
int ptt_driver_interrupt(struct ptt_driver *d, struct err *e);
/* Commits what is written so far, also when it fails: the device is gone, or (-TALLY_EBUSY) does not become idle. */
int ptt_driver_stop(struct ptt_driver *d, struct err *e);
/* The next committed bytes, 1 or 0; what was given by the last call is free for the device again. After the end of a
 * trace a->n may be 0 once: records were lost and no bytes came after them. */
int ptt_driver_take(struct ptt_driver *d, struct ptt_aux *a);
/* Room for one more buffer without loss: while false, an embedded machine lets its time stand still. */
bool ptt_driver_has_room(const struct ptt_driver *d);

#endif
