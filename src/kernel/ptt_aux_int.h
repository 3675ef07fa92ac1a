/*
 * ptt_aux_int.h: the two rings of a perf event with AUX data, as memory (ptt_aux.c).
 */
#ifndef TALLY_KERNEL_PTT_AUX_INT_H
#define TALLY_KERNEL_PTT_AUX_INT_H

#include <linux/perf_event.h>

#include "ptt/pmu.h"

struct aux_ring {
	/* set by aux_ring(), then read-only */
	struct perf_event_mmap_page *page; /* shared with the kernel: each word is read once */
	const uint8_t *data, *aux;
	uint64_t data_bytes, aux_bytes; /* powers of two */
	/* the reader's */
	uint64_t data_at; /* records before it were looked at */
	uint64_t at;      /* AUX bytes before it were given out */
	uint64_t tail;    /* AUX bytes before it were handed back */
	uint64_t cut;     /* the kernel lost data here; UINT64_MAX: nowhere */
	bool gap;         /* what comes next does not follow what came last */
	bool asleep;      /* the driver has stopped, and says so nowhere */
	bool stopped;     /* so have we: what comes now tells nothing of its sleep */
};

struct aux_ring aux_ring(struct perf_event_mmap_page *page, const void *data, uint64_t data_bytes, const void *aux,
			 uint64_t aux_bytes);
/* The next bytes, at most a DMA buffer of them: 1 and *a, in place until aux_release(); 0: none. -TALLY_ECORRUPT: the
 * kernel's position went back. */
int aux_take(struct aux_ring *r, struct ptt_aux *a);
/* Hands back what was given out. */
void aux_release(struct aux_ring *r);
/* The trace is about to be stopped. */
void aux_stop(struct aux_ring *r);
/* Bytes wait that were not given out. */
bool aux_waiting(const struct aux_ring *r);
/* Whether a trace may be started where the ring is now: a DMA buffer fits before its end. */
bool aux_can_start(const struct aux_ring *r);
/* The trace was started again: bytes may be missing here. */
void aux_woken(struct aux_ring *r);

#endif
