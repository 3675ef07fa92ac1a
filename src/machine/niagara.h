/*
 * niagara.h: UltraSPARC T1 and Victoria Falls machines as their counters see them.
 *
 * Memory references go in; caches, TLBs and TSBs, memory controllers, coherence
 * between nodes and the Zambezi hubs turn them into events; counters count
 * those that are selected.  Geometry is a row for each chip (niagara.c).  Time is
 * cycles of a strand, the sum of what its references cost; chance is a seed.
 *
 * An event that is not modelled is listed as such (niagara_models()), and its
 * counter stays where it is.
 *
 * Thread rule: references and registers of one strand belong to one thread at a time; niagara_refs() of
 * several strands at once is not allowed (caches are shared), register reads beside it are: counters are atomics.
 */
#ifndef TALLY_MACHINE_NIAGARA_H
#define TALLY_MACHINE_NIAGARA_H

#include "hv/sun4v.h"

enum niagara_refkind { NIAGARA_FETCH, NIAGARA_LOAD, NIAGARA_STORE, NIAGARA_ATOMIC };
enum niagara_level { NIAGARA_USER, NIAGARA_SYSTEM, NIAGARA_HYPER };
struct niagara_ref {
	uint64_t va;              /* 48 bits; 49:48 the page size (enum mmustat_size): see niagara_mmu.c */
	uint16_t strand, context; /* 13 bits of context; 0: the kernel's */
	uint8_t kind, level;      /* enum niagara_refkind, niagara_level */
	uint8_t bytes;            /* for information: a reference is where its first byte is */
	uint8_t instructions;     /* executed since the strand's last reference, this one's too */
};
struct niagara_load {
	const char *name, *text;
};
const struct niagara_load *niagara_load_at(uint32_t i); /* stream, random, chase, pingpong, ...; NULL past the last */

struct niagara;
struct niagara_opts {
	uint64_t seed;       /* 0: 1 */
	const char *load;    /* a row of niagara_load.def; NULL: none: references come from outside */
	uint32_t strands;    /* that the load runs on; 0: as the load says */
	bool recorded_ticks; /* a TSB hit takes 6 ticks in context 0, 7 in others, as under the genuine hypervisor */
};
/* -TALLY_EINVAL: no such load; -TALLY_ENOMEM. */
int niagara_open(struct niagara **ret, const struct sun4v_kind *kind, const struct niagara_opts *o, struct err *e);
void niagara_close(struct niagara *n); /* NULL is fine */
/* The machine's counters behind a hypervisor service: `arg` is the struct niagara. */
extern const struct sun4v_machine_ops niagara_ops;
/* Whose MMU statistics a strand's TSB hits belong to; NULL: nobody's. */
void niagara_vcpu(struct niagara *n, uint32_t strand, struct sun4v_vcpu *v);
void niagara_refs(struct niagara *n, const struct niagara_ref *r, size_t count);
/* The load runs until the machine's clock is at `cycles`; without a load the clock just goes on. */
void niagara_run(struct niagara *n, uint64_t cycles);
uint64_t niagara_now(const struct niagara *n); /* cycles */
#define NIAGARA_HZ 1200000000u                 /* cycles a second of both chips' models */
/* Whether the event of a select code is modelled. */
bool niagara_models(const struct sun4v_kind *kind, enum vf_eventset set, uint16_t code);
/* The next `count` accesses of a Zambezi's registers find it busy. */
void niagara_make_busy(struct niagara *n, uint32_t zambezi, uint32_t count);

/* What happened, counted where it is decided and whatever is selected: what the invariants are held against. */
struct niagara_truth {
	uint64_t refs[4], instructions;
	uint64_t ic_miss, dc_miss;
	uint64_t l2_imiss, l2_dmiss_ld, l2_miss_store, l2_miss_walk;
	uint64_t upgrades;  /* stores to a line that other nodes may share: no data moves */
	uint64_t served[3]; /* L2 misses: local memory, remote memory, cache to cache */
	uint64_t itlb_miss, dtlb_miss, tsb_hit[2][2][MMUSTAT_SIZES], tsb_miss, permanent_hit;
	uint64_t mcu_reads[4][2], mcu_writes[4][2], writebacks;
	uint64_t walks;        /* of the hardware, Victoria Falls */
	uint64_t transactions; /* between nodes */
	uint64_t plane[4];     /* of those, by Zambezi */
};
const struct niagara_truth *niagara_truth(const struct niagara *n);

#endif
