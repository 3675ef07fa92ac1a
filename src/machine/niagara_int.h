/*
 * niagara_int.h: what the files of the T1 and Victoria Falls model share.
 *
 *	niagara.c        the machine: references in, time
 *	niagara_mmu.c    TLBs, TSBs, table walks
 *	niagara_cache.c  level 1 and 2, coherence between nodes
 *	niagara_memory.c memory controllers
 *	niagara_hub.c    Zambezi: what a transaction does at each port
 *	niagara_count.c  registers: from totals to what a counter shows
 *	niagara_load.c   named loads
 *
 * Counters are not counted: events add to totals, by kind, whatever is selected.
 * A counter is a value and a mark: what it held when it was last written or its
 * selection changed, and the selected totals at that moment.  So an event costs
 * one addition, and a register read a few.
 */
#ifndef TALLY_MACHINE_NIAGARA_INT_H
#define TALLY_MACHINE_NIAGARA_INT_H

#include <stdatomic.h>

#include "machine/niagara.h"

#define NODES 4u
#define PLANES 4u
#define LINE_BITS 6u /* of level 2 */
#define LEVELS 3u

struct niagara_geometry {        /* sizes: facts of the two chips; ways, lines, policy where noted a model's choice */
	uint16_t cores, strands; /* strands: of a core */
	uint16_t l1i_sets, l1i_ways, l1d_sets, l1d_ways; /* sets: powers of two */
	uint16_t l2_sets, l2_ways;                       /* all banks together */
	uint16_t itlb, dtlb;
	bool hashed; /* level 2 index */
	bool walks;  /* the hardware fills TLBs; else the hypervisor from TSBs */
};

/* ---- totals ------------------------------------------------------------------------------------ */
/* What a strand's counters can count; which select codes these are says niagara_count.c. */
enum {
	EV_INSTRUCTIONS,
	EV_LD,
	EV_ST,
	EV_ATOMIC,
	EV_WRITE,
	EV_IC,
	EV_DC,
	EV_L2I,
	EV_L2D,
	EV_IWALK,
	EV_DWALK,
	EV_IWALK_MISS,
	EV_DWALK_MISS,
	EV_WALK,
	EV_ITLB,
	EV_DTLB,
	SPARC_EVENTS,
};
typedef _Atomic uint64_t total; /* one writer; read at any time */
static inline void add(total *t, uint64_t n)
{
	atomic_store_explicit(t, atomic_load_explicit(t, memory_order_relaxed) + n, memory_order_relaxed);
}
static inline uint64_t now_of(const total *t)
{
	return atomic_load_explicit(t, memory_order_relaxed);
}

struct counter {
	total value, mark;
}; /* shows value + (selected totals - mark) */
/* a control register and its two counters, of a node or a hub */
struct unit {
	total pcr;
	struct counter pic[2];
	const total *_Atomic of[2]; /* what each counts now */
};
/* what a unit can count: by select code; code 1 is the clock where there is one */
struct choice {
	struct unit *unit;
	const total *event, *clock;
	uint32_t events;
	uint8_t shift[2], mask; /* the select fields */
};

/* ---- state ------------------------------------------------------------------------------------- */
struct tlb {
	uint64_t generation;          /* grows when an entry goes, from 1 */
	uint16_t n, next;             /* entries; the next to go */
	uint8_t head[256], link[128]; /* chains of entries by hash; entry + 1, 0: the end */
	uint64_t key[128];
};
struct l1 {                  /* round robin */
	uint64_t *tag;       /* [set][way]: line + 1; 0: nothing */
	uint8_t *next;       /* [set]: the way to go */
	uint32_t mask;       /* sets - 1 */
	uint16_t ways, bits; /* ways: 4 or 8 */
};
/* What a core has found once and would find again: that the block of level 1 is there, and its page; or in which line
 * of level 2 a block was when it was stored to, and its page.  A note is good while no entry of the TLB has gone (the
 * stamp: generation << 13 | context).  A block that goes from level 1 takes its note with it; the line of a store is
 * looked at again. */
#define NOTES 512u
struct note {
	uint64_t block, stamp;
};
struct store_note {
	uint64_t block, stamp;
	uint32_t line;
};
struct core {
	struct l1 l1[2]; /* instruction, data */
	struct tlb tlb[2];
	struct note note[2][NOTES];
	struct store_note store_note[NOTES];
	uint8_t bit; /* of l2_set.cores_* */
};
#define L1I_BITS 5u /* both chips' lines of level 1 */
#define L1D_BITS 4u
/* Where the note of a block is; contexts whose addresses are alike start at different places. */
static inline uint32_t note_of(uint64_t block, uint64_t context)
{
	return (block + context * 37u) & (NOTES - 1);
}
#define STORE_BUFFER 8u
struct strand {
	/* set by niagara_open(), then read-only */
	struct node *node;
	struct core *core;
	struct sun4v_vcpu *vcpu;
	/* who makes references only */
	uint32_t store_next;
	uint64_t store_done[STORE_BUFFER]; /* when the last stores will be, oldest at store_next */
	/* one writer, any reader */
	total cycles;
	total event[LEVELS][SPARC_EVENTS];
	total pcr, select[2]; /* select: what each counter counts: events, from bit 16 levels */
	struct counter pic[2];
};
enum moesi { INVALID, SHARED, EXCLUSIVE, OWNED, MODIFIED };
#define WAYS 16u /* of a set's place; Niagara uses 12 */
struct l2_set {
	uint16_t held, used;    /* ways: bits */
	uint8_t state[WAYS];    /* enum moesi */
	uint8_t cores[2][WAYS]; /* which cores may hold it: instruction, data */
	uint8_t to_64[12];      /* the tags begin a line of the host's caches */
	uint64_t tag[WAYS];     /* line + 1; 0: nothing */
};
static_assert(offsetof(struct l2_set, tag) == 64 && sizeof(struct l2_set) == 192, "whole lines of the host's caches");
#define NO_LINE UINT32_MAX /* a line of a node: set * WAYS + way */
#define WB_BUFFER 16u
/* A byte of each tag's hash, eight of them in a word, the first lowest: most of what is nowhere is known at once. */
union sign {
	uint8_t byte[WAYS];
	uint64_t word[WAYS / 8];
};
static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the first byte of a sign is the lowest of its word");
static inline uint64_t sign_of(uint64_t tag)
{
	return tag * UINT64_C(0x9e3779b97f4a7c15) >> 56;
}
/* Bytes of w that are `sign` have their top bit set in the answer; bytes above one may have it wrongly. */
static inline uint64_t sign_like(uint64_t w, uint64_t sign)
{
	const uint64_t x = w ^ sign * UINT64_C(0x0101010101010101);

	return (x - UINT64_C(0x0101010101010101)) & ~x & UINT64_C(0x8080808080808080);
}
static inline void sign_put(union sign *s, uint32_t i, uint64_t tag)
{
	s->byte[i] = (uint8_t)sign_of(tag);
}
/* The place of `tag` among sixteen; or 16. */
static inline uint32_t sign_find(const union sign *s, const uint64_t tags[16], uint64_t tag)
{
	for (uint32_t half = 0; half < 2; half++)
		for (uint64_t like = sign_like(s->word[half], sign_of(tag)); like; like &= like - 1) {
			const uint32_t i = half * 8 + (uint32_t)__builtin_ctzll(like) / 8;

			if (tags[i] == tag)
				return i;
		}
	return 16;
}
struct mcu {
	uint64_t free_at, last;     /* cycles: when it has nothing to do; the latest request */
	uint64_t buffer[WB_BUFFER]; /* lines written back last: line + 1 */
	union sign sign;            /* of those */
	uint32_t nbuffer;
	total event[8]; /* by select code */
	struct unit unit;
};
struct node {
	struct core *core;
	struct l2_set *l2; /* [set], in `memory` */
	void *memory;
	struct mcu mcu[2];
	uint32_t id;
	total l2_cr;
};
#define LPU_EVENTS 0x2au
#define ASU_EVENTS 6u
#define CAM 64u
enum { ASU_IN = 2, ASU_OUT, ASU_CAM, ASU_WAKEUP };
/* One way of a link: how many cycles of each window of time it is busy; the latest windows, `latest` and those
 * before. */
#define WINDOWS 16u
struct link {
	uint64_t latest;
	uint16_t used[WINDOWS];
};
enum { LINK_OUT, LINK_IN }; /* of a node */
struct zambezi {
	struct link link[4][2]; /* by node; between two nodes without hubs they are the plane's own */
	total lpu[4][LPU_EVENTS], asu[ASU_EVENTS];
	struct {
		uint64_t line, from, until;
	} cam[CAM];
	struct unit unit[6];   /* by enum vf_unit - 1 */
	_Atomic uint32_t busy; /* accesses that find the path to the registers taken, whatever it does */
	total refused;         /* how often in this moment; the moment is that of asu[ASU_IN] */
};
#define AHEAD 8u
struct worker;
typedef void load_next(struct niagara *n, struct worker *w, struct niagara_ref *r);
/* of a load */
struct worker {
	uint64_t rng, at;
	uint32_t id, node, phase;
	uint16_t strand;
	uint32_t done;                   /* references */
	struct niagara_ref ahead[AHEAD]; /* what it will do, the next at done % AHEAD */
};
#define TSB_ENTRIES 2048u
struct niagara {
	const struct sun4v_kind *kind;
	const struct niagara_geometry *g;
	uint32_t nstrands;
	bool recorded_ticks; /* of TSB hits */
	uint8_t home[4];     /* by bits 31:30 of an address */
	struct strand *strand;
	struct node node[NODES];
	struct zambezi zambezi[PLANES];
	struct choice choice[VF_REGS]; /* of registers 2 to 89 */
	uint16_t events[16][256];      /* what a select class and its mask count of a strand: bits */
	union sign *sign;              /* of level 2: [set][nodes], in `signs`: a set's of all nodes are side by side */
	void *signs;
	uint64_t *tsb; /* [side][context][TSB_ENTRIES] */
	total clock;   /* cycles: the farthest strand's, or what niagara_run() was told */
	struct niagara_truth truth;
	load_next *next; /* the load's; NULL: none */
	struct worker *worker;
	uint32_t nworkers;
	uint64_t turns; /* cycles up to which the load has run */
};

/* a reference on its way */
struct access {
	struct niagara *n;
	struct strand *s;
	uint64_t pa;
	uint8_t kind, level;
	bool walk;     /* the table walker's */
	uint64_t cost; /* cycles so far */
};
static inline void event(const struct access *a, uint32_t e, uint64_t n)
{
	add(&a->s->event[a->level][e], n);
}
static inline uint64_t time_of(const struct access *a)
{
	return now_of(&a->s->cycles) + a->cost;
}

/* niagara_mmu.c: 48 bits of virtual address, and above them the page size; below, the context, of 13 bits. */
#define VA_BITS 48u
#define CONTEXTS 8192u
static inline uint64_t mmu_physical(const struct niagara_ref *r)
{
	return (r->va & ((UINT64_C(1) << VA_BITS) - 1)) | (uint64_t)(r->context % CONTEXTS) << VA_BITS;
}
void mmu_look_up(struct access *a, const struct niagara_ref *r); /* may walk */
/* niagara_cache.c */
int cache_open(struct niagara *n);
void cache_close(struct niagara *n);
uint32_t cache_access(struct access *a); /* its line; NO_LINE: level 1 had it */
/* Whether this line is that address's, modified, and no other core's: a store tells nobody. */
static inline bool cache_owns(const struct core *c, const struct l2_set *set, uint32_t way, uint64_t pa)
{
	return set->tag[way] == (pa >> LINE_BITS) + 1 && set->state[way] == MODIFIED &&
	       !((set->cores[1][way] & ~c->bit) | set->cores[0][way]);
}
/* A store to such a line: cycles that the strand waits. */
uint64_t cache_store_hit(struct strand *s, uint32_t line, uint64_t now);
/* Has the host fetch what an access will look at: waiting for that would take longer than all else of it. */
void cache_prefetch(const struct niagara *n, const struct strand *s, uint64_t pa);
void cache_walk(struct access *a, uint64_t pa); /* the table walker reads a TTE */
/* niagara_memory.c: a line from or to the memory of its home; cycles that a read waited for the controller. */
uint64_t memory_read(struct niagara *n, uint64_t pa, uint64_t now);
void memory_write(struct niagara *n, uint64_t pa, uint64_t now);
/* niagara_count.c */
void count_open(struct niagara *n);
/* niagara_hub.c */
enum transaction { TX_RTS, TX_RTO, TX_INV, TX_WB };
void hub_transaction(struct niagara *n, enum transaction t, uint32_t requester, uint64_t pa, uint64_t now);
/* A line goes from node to node: cycles that it waited for its links. */
uint64_t link_line(struct niagara *n, uint32_t from, uint32_t to, uint64_t pa, uint64_t now);
/* All other nodes answer that they do not have the line; or one of them says in what state it has it. */
void hub_nobody(struct niagara *n, uint32_t requester, uint64_t pa);
void hub_reply(struct niagara *n, enum transaction t, uint32_t snooped, uint64_t pa, enum moesi held);
/* from: the node whose cache or memory sends the line. */
void hub_data(struct niagara *n, uint32_t requester, uint32_t from, uint64_t pa, bool cached);
static inline uint32_t plane_of(uint64_t pa)
{
	return pa >> 12 & 3;
}
/* Whose memory an address is. */
static inline uint32_t home_of(const struct niagara *n, uint64_t pa)
{
	return n->home[pa >> 30 & 3];
}
/* niagara_load.c */
int load_open(struct niagara *n, const char *name, uint64_t seed, uint32_t strands, struct err *e);
void load_run(struct niagara *n, uint64_t until); /* all turns that end by then */
/* niagara.c: a worker's references until its strand has come to `until`. */
void niagara_turn(struct niagara *n, struct worker *w, uint64_t until);

#endif
