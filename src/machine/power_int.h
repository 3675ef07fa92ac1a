/*
 * power_int.h: what the files of the POWER model share.
 *
 *	power.c           the machine and its time
 *	power_part.c      partitions: admission, their cores and memory
 *	power_dispatch.c  a window: who gets how much, and where
 *	power_link.c      traffic on links, collection cycles, HPMC
 *	power_record.c    the records of each request
 *	power_config.c    a machine from text
 */
#ifndef TALLY_MACHINE_POWER_INT_H
#define TALLY_MACHINE_POWER_INT_H

#include "machine/power.h"

#define CHIPS_MOST 32u
#define LINKS 7u                              /* A, B, C, W, X, Y, Z */
#define LINK_A 0u
#define LINK_W 3u
#define LINK_CLOCK 4u                         /* link cycles per tick */
#define LINK_BYTES 8u                         /* per cycle */
#define NONE UINT64_MAX
#define NOBODY 0xffffu
#define LMB_BYTES (UINT64_C(256) << 20)

/* Divisions by the same number again and again: a multiplication by its inverse comes out at most 1 too small. */
struct divisor { uint64_t d, inverse; };
static inline struct divisor divisor(uint64_t d)
{
	return (struct divisor){ d, UINT64_MAX / d };
}
static inline uint64_t divided(uint64_t n, struct divisor by)
{
	uint64_t q = (uint64_t)((unsigned __int128)n * by.inverse >> 64);

	return q + (n - q * by.d >= by.d);
}

struct pcore {
	uint64_t time, idle, firmware;
	uint64_t instructions, cycles;        /* with the run latch set: HPMC3, HPMC4 */
	uint16_t owner;                       /* partition, or NOBODY */
	uint16_t logical, chip;
	uint8_t state;                        /* enum power_state, as the counters show it */
	uint32_t left;                        /* of this window: ticks that are free */
	uint32_t dispatches;                  /* of this window */
	uint64_t all_dispatches;
};
struct pvp {
	uint16_t home, last;                  /* cores; last: NOBODY before the first dispatch */
	uint32_t want, got;                   /* ticks of this window */
};
struct ppart {
	struct power_partition c;
	uint64_t since;                       /* tick of its start */
	uint64_t order;
	struct pvp *vp;
	bool local;                           /* all its memory is on its home chip */
	uint32_t phase;                       /* of its swing: windows in the period */
	struct divisor period, ipc_d;
	uint64_t entitled, capped, uncapped, donated, idle, run_cycles, run_instructions;
	uint64_t cycle_carry, instruction_carry;
	uint64_t wait_entitlement, wait_processor, nwait_entitlement, nwait_processor;
	uint64_t dispatch[5];                 /* home core, primary, secondary, off, donated */
	/* of this window */
	uint64_t demand, grant_capped, grant_uncapped, ran;    /* ran: ticks placed so far */
	uint32_t lmbs[CHIPS_MOST];            /* where its memory is */
};
struct pwant { struct ppart *q; uint64_t need; uint32_t weight; };
struct plink { uint16_t peer; uint8_t peer_link; bool wired; uint64_t busy, queue; };
struct pchip {
	uint16_t node, fabric;
	struct plink link[LINKS];
	uint64_t need[LINKS];                 /* bytes of this window */
	uint64_t served, spread;              /* bytes: from its memory; of its work to memory everywhere */
	uint64_t memory_bytes;
	uint64_t lmbs, free_lmbs;
};
struct collected {                            /* what a collection cycle publishes */
	uint64_t time;                        /* link cycles */
	uint64_t mmcrh_elapsed;               /* ticks since MMCRH was set; stands still while nothing is collected */
	uint64_t idle[CHIPS_MOST][LINKS];
	uint64_t memory_bytes[CHIPS_MOST];
};
struct hpmc {                                 /* of a core, as last collected; base: when MMCRH was set */
	uint64_t programmed[2], programmed_base[2];
	uint64_t now3, now4, base3, base4;
};
enum { CHANGE_CREATE, CHANGE_RESIZE, CHANGE_DELETE };
struct pchange { uint64_t window; uint8_t what; struct power_partition q; };   /* of the configuration, before that window */
struct power {
	/* the machine */
	uint64_t seed;
	uint32_t nodes, chips, cores_of_chip, lmbs_of_chip, ncores, nchips;        /* chips: of a node */
	uint8_t level;
	uint32_t collection;                  /* windows */
	uint64_t clock_n;                     /* core cycles per tick */
	struct divisor clock_d;
	uint32_t mhz;
	bool no_run_counts, hw_ids_differ;
	struct pcore core[POWER_CORES_MOST];
	struct pchip chip[CHIPS_MOST];
	/* partitions, by id */
	struct ppart *part;
	struct power_partition *view;         /* what power_partitions() shows */
	uint32_t nparts, capparts;
	uint64_t orders;
	struct power_retired retired;
	/* what the configuration changes while it runs, by time */
	struct pchange *change;
	uint32_t nchanges, capchanges, changed;        /* changed: how many are done */
	bool has_changes, rehearsal;          /* rehearsal: a machine that only tries them out, all at its start */
	/* time */
	uint64_t now, windows;
	struct pwant want[POWER_PARTITIONS_MOST];      /* of this window */
	uint64_t traffic[CHIPS_MOST][CHIPS_MOST];      /* bytes of this window */
	uint64_t hv_dispatching;
	/* collection */
	struct collected published;
	uint64_t mmcrh, mmcrh_next, mmcrh_since;
	struct hpmc *hpmc;                    /* by core */
};

uint32_t power_place(const struct power *p, uint64_t id);      /* the first partition whose id is not below */
struct ppart *power_part(const struct power *p, uint16_t id);  /* NULL */
void power_window(struct power *p);           /* power_dispatch.c */
void power_traffic(struct power *p);          /* power_link.c: after a window */
void power_wire(struct power *p);
void power_collect(struct power *p);
int power_configure(struct power *p, const char *text, size_t n, struct err *e);
/* -TALLY_EINVAL, -TALLY_EBUSY: as power_create() and its like. */
int power_change(struct power *p, const struct pchange *c, struct err *e);
bool power_is_level(uint64_t level);

#endif
