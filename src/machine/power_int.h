/*
 * power_int.h: what the files of the POWER model share.
 *
 *	power.c           the machine and its time
 *	power_part.c      partitions: admission, their cores and memory
 *	power_dispatch.c  a window: who gets how much, and where
 *	power_memory.c    memory traffic of a window: what links and controllers let through
 *	power_link.c      how chips are joined, collection cycles, HPMC
 *	power_record.c    the records of each request
 *	power_config.c    a machine from text
 */
#ifndef TALLY_MACHINE_POWER_INT_H
#define TALLY_MACHINE_POWER_INT_H

#include "machine/power.h"

#define CHIPS_MOST 32u
#define LINKS 7u /* A, B, C, W, X, Y, Z */
#define LINK_A 0u
#define LINK_W 3u
#define LINK_CLOCK 4u /* link cycles per tick */
#define LINK_BYTES 8u /* per cycle */
#define CABLES_MOST (CHIPS_MOST * LINKS / 2)
#define NODES_MOST 4u
#define FABRICS_MOST 5u /* chips of a node */
#define WAYS_MOST (CHIPS_MOST * (NODES_MOST + FABRICS_MOST))
#define CONTROLLERS 2u       /* of memory, on each chip */
#define CONTROLLER_BYTES 16u /* per link cycle */
#define ONE (1u << 20)       /* shares and paces are fractions of it */
#define SLOPE_BITS 40u       /* behind the point */
#define NONE UINT64_MAX
#define NOBODY 0xffffu
#define LMB_BYTES (UINT64_C(256) << 20)

/* Divisions by the same number again and again: a multiplication by its inverse comes out at most 1 too small. */
struct divisor {
	uint64_t d, inverse;
};
static inline struct divisor divisor(uint64_t d)
{
	return (struct divisor){ d, UINT64_MAX / d };
}
static inline uint64_t divided(uint64_t n, struct divisor by)
{
	uint64_t q = (uint64_t)((unsigned __int128)n * by.inverse >> 64);

	return q + (n - q * by.d >= by.d);
}

/* A way is one direction of a cable: from a chip to the chip of the same number in another node, or inside a node from
 * the chip of a number to a chip. Ways from a chip to itself have a place too, which nobody reads. */
static inline uint32_t way_between_nodes(uint32_t chip, uint32_t node)
{
	return chip * NODES_MOST + node;
}
static inline uint32_t way_in_node(uint32_t fabric, uint32_t chip)
{
	return CHIPS_MOST * NODES_MOST + fabric * CHIPS_MOST + chip;
}

struct pcore {
	uint64_t time, idle;
	uint64_t instructions, cycles; /* with the run latch set: HPMC3, HPMC4 */
	uint16_t owner;                /* partition, or NOBODY */
	uint16_t logical, chip;
	uint16_t lender; /* of a core that is lent in this window: the place of its partition */
	uint8_t state;   /* enum power_state, as the counters show it */
	uint8_t fabric;  /* its chip's number in the node */
	uint32_t left;   /* of this window: ticks that are free */
	uint64_t dispatches;
};
struct pvp {
	uint16_t home, last; /* cores; last: NOBODY before the first dispatch */
	uint32_t want;       /* ticks of this window */
};
/* A chip with memory of a partition: its share of the traffic; of that controller 0's. */
struct preach {
	uint16_t chip, node;
	uint32_t share, even;
};
/* Where the memory of a partition is: apart from it, since a window goes through all partitions, and few have much. */
struct pmemory {
	struct preach reach[CHIPS_MOST];
	uint32_t share[NODES_MOST];                  /* of the traffic, that goes to a node */
	uint32_t lmbs[CHIPS_MOST], even[CHIPS_MOST]; /* blocks on a chip; those on its controller 0 */
};
/* by what a window needs together: it goes through all partitions, and their cache lines are what it costs */
struct ppart {
	struct power_partition c;
	struct pvp *vp;
	uint64_t slope;         /* of its swing: 2000 by the period, so little more that no phase rounds to more */
	uint32_t period, phase; /* windows: of the swing; in it */
	uint32_t wanting;       /* of this window: virtual processors that want to run */
	/* of this window */
	uint64_t demand, grant_capped, grant_uncapped, ran; /* ran: ticks placed so far */
	uint64_t run, busy;                                 /* of what ran: with the run latch set; not idle */
	uint64_t instructions;                              /* when nothing holds it up */
	uint32_t first, npiece;                             /* of power.piece */
	uint32_t first_flow, nflow;                         /* of power.flow */
	/* how it works */
	struct divisor ipc_d;
	uint32_t written;   /* share of its traffic */
	uint16_t turn;      /* the virtual processor that begins in the next window */
	uint16_t nreach;    /* chips that have memory of it */
	struct preach near; /* the first of them */
	struct pmemory *memory;
	/* since it began */
	uint64_t cycle_carry, instruction_carry, run_cycles, run_instructions;
	uint64_t entitled, capped, uncapped, donated, idle;
	uint64_t wait_entitlement, wait_processor, nwait_entitlement, nwait_processor;
	uint64_t dispatch[5]; /* home core, primary, secondary, off, donated */
	uint64_t since;       /* tick of its start */
	uint64_t order;
};
struct pwant {
	struct ppart *q;
	uint64_t need;
	uint32_t weight;
};
struct plink {
	uint16_t peer;
	uint16_t cable;
	bool wired;
};
struct pcable {
	uint16_t way[2]; /* both directions */
	uint64_t need;   /* bytes of this window */
	uint64_t busy;   /* link cycles, since the start */
};
struct pcontroller {
	uint64_t need, written, reads, writes;
	uint32_t pace;
}; /* need, written: bytes of this window; the others: all */
/* A stretch of a virtual processor on a core. One ends at most one at home and one elsewhere; all others use a core
 * up. */
struct piece {
	uint32_t core, ticks;
};
/* Bytes that a partition would move from a chip, and how many of its pieces in a row ran there. */
struct pflow {
	uint64_t bytes;
	uint16_t chip, fabric;
	uint32_t npiece;
};
struct pchip {
	uint16_t node, fabric;
	struct plink link[LINKS];
	struct pcontroller mc[CONTROLLERS];
	uint64_t lmbs, free_lmbs, free_even; /* blocks; block k is controller k % 2's */
};
struct collected {              /* what a collection cycle publishes */
	uint64_t time;          /* link cycles */
	uint64_t mmcrh_elapsed; /* ticks since MMCRH was set; stands still while nothing is collected */
	uint64_t idle[CHIPS_MOST][LINKS];
	uint64_t reads[CHIPS_MOST][CONTROLLERS], writes[CHIPS_MOST][CONTROLLERS]; /* bytes */
};
/* of a core, as last collected; base: when MMCRH was set */
struct hpmc {
	uint64_t programmed[2], programmed_base[2];
	uint64_t now3, now4, base3, base4;
};
enum { CHANGE_CREATE, CHANGE_RESIZE, CHANGE_DELETE };
struct pchange {
	uint64_t window;
	uint8_t what;
	struct power_partition q;
}; /* of the configuration, before that window */
enum {
	HYPERVISOR_DISPATCH,
	HYPERVISOR_TIMERS,
	HYPERVISOR_OVER,
	HYPERVISOR_MANAGE,
	HYPERVISOR_KINDS
}; /* as 0xF0 has them */
struct power {
	/* the machine */
	uint64_t seed;
	uint32_t nodes, chips, cores_of_chip, lmbs_of_chip, ncores, nchips; /* chips: of a node */
	uint8_t level;
	uint32_t collection; /* windows */
	uint64_t clock_n;    /* core cycles per tick */
	struct divisor clock_d;
	uint32_t mhz;
	bool no_run_counts, hw_ids_differ;
	struct pcore core[POWER_CORES_MOST];
	struct pchip chip[CHIPS_MOST];
	struct pcable cable[CABLES_MOST];
	uint32_t ncables;
	/* partitions, by id */
	struct ppart *part;
	struct pvp *vp;               /* of all of them */
	struct power_partition *view; /* what power_partitions() shows */
	uint32_t nparts, capparts;
	uint64_t orders;
	struct power_retired retired;
	/* what the configuration changes while it runs, by time */
	struct pchange *change;
	uint32_t nchanges, capchanges, changed; /* changed: how many are done */
	bool has_changes, rehearsal;            /* rehearsal: a machine that only tries them out, all at its start */
	/* time */
	uint64_t now, windows;
	struct pwant want[POWER_PARTITIONS_MOST]; /* of this window */
	uint64_t traffic[WAYS_MOST];              /* bytes of this window on each way */
	uint32_t pace[WAYS_MOST];                 /* what each way lets through of a saturated window */
	struct piece *piece;                      /* of this window, those of a partition in a row */
	struct pflow *flow;                       /* likewise; there is room for as many */
	uint32_t npiece, nflow, cappiece;
	uint64_t hypervisor[HYPERVISOR_KINDS];
	/* collection */
	struct collected published;
	uint64_t mmcrh, mmcrh_next, mmcrh_since;
	struct hpmc *hpmc; /* by core */
};

uint32_t power_place(const struct power *p, uint64_t id);     /* the first partition whose id is not below */
struct ppart *power_part(const struct power *p, uint16_t id); /* NULL */
void power_window(struct power *p);                           /* power_dispatch.c */
/* power_memory.c: a partition's cycles and instructions of a window, and what it would move; then, when all have run,
 * what links and controllers let through of it. */
void power_work(struct power *p, struct ppart *q);
void power_memory(struct power *p);
void power_reach(const struct power *p, struct ppart *q); /* after its memory moved */
void power_wire(struct power *p);
void power_collect(struct power *p);
int power_configure(struct power *p, const char *text, size_t n, struct err *e);
/* -TALLY_EINVAL, -TALLY_EBUSY: as power_create() and its like. */
int power_change(struct power *p, const struct pchange *c, struct err *e);
bool power_is_level(uint64_t level);

#endif
