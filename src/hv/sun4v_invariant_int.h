/*
 * sun4v_invariant_int.h: what the files of the invariants share.
 *
 *	sun4v_invariant.c          watches; growth; the invariants of vfalls
 *	sun4v_invariant_mmustat.c  the invariants of mmustat
 */
#ifndef TALLY_HV_SUN4V_INVARIANT_INT_H
#define TALLY_HV_SUN4V_INVARIANT_INT_H

#include "hv/sun4v_guest_int.h"
#include "hv/sun4v_invariant.h"

/* How much a counter grew between two moments: at least lo, at most hi. */
struct grown {
	bool has;
	uint64_t lo, hi;
};
static inline struct grown grown_add(struct grown a, struct grown b)
{
	return (struct grown){ a.has && b.has, a.lo + b.lo, a.hi + b.hi };
}

#define ROUNDS 7u
#define STRANDS_MOST 256u
#define NODES_MOST 4u
#define ZAMBEZIS_MOST 4u
/* What was selected at one time, two events of each unit; [..][pic]. */
struct round {
	struct grown sparc[STRANDS_MOST][2], mcu[NODES_MOST][2][2], lpu[ZAMBEZIS_MOST][4][2], asu[ZAMBEZIS_MOST][2],
		gpd[ZAMBEZIS_MOST][2];
	uint64_t ns;    /* that they grew for: from the middle of the first pass to that of the last */
	struct err why; /* the first that could not be counted */
};
struct mmu_reading {
	uint64_t word[MMUSTAT_BYTES / 8];
};
struct mmu_strand {
	bool has;
	struct mmu_reading at[4]; /* twice at the beginning, twice at the end */
	struct grown misses[2];   /* instruction, data */
};
struct sun4v_watch {
	enum sun4v_provider of;
	bool saved; /* one reading, of a strand that nobody names */
	uint32_t strands, strands_per_node, nodes, zambezis;
	uint64_t tick_hz;
	struct round round[ROUNDS];
	/* mmustat */
	struct mmu_strand *mmu;  /* [strands] */
	uint64_t ns;             /* from before the first reading to after the last */
	struct grown unanswered; /* TLB misses that no TSB answered, of all strands */
	bool all_strands;        /* are this guest's */
	struct err why;          /* why TLB misses could not be counted */
};

typedef enum sun4v_verdict sun4v_invariant_fn(const struct sun4v_watch *w, struct err *e);
struct invariant_row {
	struct sun4v_invariant invariant;
	sun4v_invariant_fn *fn;
};
extern const struct invariant_row mmustat_invariants[];
extern const uint32_t mmustat_invariants_count;
int mmustat_watch(struct sun4v_watch *w, struct sun4v_client *c, const struct sun4v_watch_opts *o, struct err *e);

/* A counter that is watched, and where its growth goes. */
struct watched_one {
	struct vf_counter *k;
	struct grown *to;
	uint64_t early;
};
struct watched_all {
	struct watched_one *p;
	uint32_t n;
	struct err *why;
	const struct sun4v_watch_opts *o;
	uint64_t began, ns; /* the middle of the first pass; from there to the middle of the last */
};
/* Opens a counter. 0 also when it may not be counted: then to->has stays false, and *why says why. */
int watched_add(struct watched_all *ps, struct sun4v_client *c, const struct vf_counter_ask *a, struct grown *to,
		struct err *e);
/* Twice at the beginning and twice at the end: whatever happened between the first moment and the last lies in
 * between. */
int watched_begin(struct watched_all *ps, struct err *e);
int watched_end(struct watched_all *ps, struct err *e);
void watched_close(struct watched_all *ps);

#define INVARIANT_BROKEN(e, ...) (err_set((e), TALLY_ESTATE, __VA_ARGS__), SUN4V_BROKEN)
#define INVARIANT_UNKNOWN(e, ...) (err_set((e), TALLY_ENOTSUP, __VA_ARGS__), SUN4V_UNKNOWN)
#define LL(x) ((unsigned long long)(x))

#endif
