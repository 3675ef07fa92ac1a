/*
 * vm_int.h: what vm.c (decoding, running), vm_helper.c (helpers) and vm_map.c
 * (maps, rings) share.
 *
 * Virtual pointers.  A program never sees a host address.  A pointer is
 *
 *	63 62 | 61 ... 50 | 49 ....... 24 | 23 ..... 0
 *	 0  1 |  region   |    element    |   offset
 *
 * which no kernel and no user address of any architecture looks like (their
 * bits 63 and 62 are equal).  A region is an array of equal elements: the
 * frames of the stack, the values of a map.  An access must lie within one
 * element, so a step below its start (the offset borrows from the element and
 * becomes huge) and a step past its end are both refused, as the kernel's
 * verifier would have refused them.
 */
#ifndef TALLY_VM_INT_H
#define TALLY_VM_INT_H

#include "bpf/insn.h"

#define VP_ELEM_BITS 26
#define VP_OFF_BITS 24
#define VP_REGIONS 4096u
#define VP_ELEMS (1u << VP_ELEM_BITS)
#define VP_OFFS (1u << VP_OFF_BITS)

enum { /* regions; maps follow */
       VR_NULL,
       VR_CTX,      /* the context: a perf program's PC, or a record */
       VR_STACK,    /* an element per frame */
       VR_TASK,     /* get_current_task: [0] the task, [1] its parent */
       VR_MAP,      /* element = map: a handle, not memory */
       VR_RING,     /* element = ring: a handle, not memory */
       VR_FUNC,     /* element = instruction: a callback, not memory */
       VR_RESERVED, /* VM_RESERVATIONS regions: records being written */
       VM_RESERVATIONS = 4,
       VR_MAPS = VR_RESERVED + VM_RESERVATIONS,
};

static inline uint64_t vp(uint64_t region, uint64_t elem, uint64_t off)
{
	return (1ULL << 62) | region << (VP_ELEM_BITS + VP_OFF_BITS) | elem << VP_OFF_BITS | off;
}
static inline uint32_t vp_region(uint64_t p) /* VP_REGIONS or more: not a virtual pointer */
{
	return (uint32_t)(p >> (VP_ELEM_BITS + VP_OFF_BITS)) ^ VP_REGIONS;
}
static inline uint32_t vp_elem(uint64_t p)
{
	return (uint32_t)(p >> VP_OFF_BITS) & (VP_ELEMS - 1);
}
static inline uint32_t vp_off(uint64_t p)
{
	return (uint32_t)p & (VP_OFFS - 1);
}

struct region {
	uint8_t *base; /* of element 0; for per-CPU maps: of the CPU that runs */
	uint64_t stride;
	uint32_t nelem;
	uint32_t rsize, wsize; /* bytes of an element that may be read, and written */
};

/* What stands for struct task_struct and what it holds; relocations of the image point into it. */
struct vm_task {
	uint64_t real_parent;
	uint32_t tgid, pid;
	uint64_t runtime_ns, start_ns;
	uint64_t mm; /* its address space */
};

/* A hash keeps its entries in slots; a slot is a node (chain, hash, key) here and an element of the
 * map's region.  Nodes are never moved, so pointers to values stay good. */
struct vm_node {
	uint32_t next; /* slot + 1 of the next in the bucket or the free list; 0 ends */
	uint32_t hash; /* bit 31: in use */
	uint8_t key[];
};
struct vm_map {
	const struct img_map *def;
	uint8_t *values;                /* [slot][cpu][value_stride] */
	uint32_t value_stride, ncopies; /* ncopies: CPUs for per-CPU maps, else 1 */
	uint32_t nslots;
	/* hashes and stack traces */
	uint32_t *head, mask; /* bucket to slot + 1 */
	uint8_t *nodes;
	uint32_t node_stride, used, free; /* used: slots ever taken; free: list of returned ones */
};

/* As the kernel's: an 8-byte header (length and flags) before each record, positions that only grow.  The
 * memory is twice the ring's size, so that a record which starts near its end goes on behind it and never wraps. */
struct vm_ring {
	uint8_t *data;
	uint64_t size, prod, cons, given; /* given: bytes of the record that was handed out last */
};
enum { VM_RING_HDR = 8, VM_RING_BUSY = 1u << 31, VM_RING_DISCARD = 1u << 30 };

struct vm;
/* a[0..4] are R1..R5. A call that the verifier would have refused sets vm->fault. */
typedef uint64_t vm_helper_fn(struct vm *vm, const uint64_t *a);

/* a decoded instruction; both halves of LD_IMM64 in one */
struct vm_op {
	uint8_t code, dst, src;
	int32_t off; /* memory: offset; jumps and calls: the target's index; OP_LOOKUP: R2 - R10 */
	union {
		int64_t imm;
		vm_helper_fn *fn; /* OP_HELPER */
	};
};
struct vm_prog {
	struct vm_op *ops;
	uint32_t nops;
}; /* and one more op, which refuses, behind the last */

struct vm_reservation {
	struct vm_ring *ring;
	uint32_t *hdr;
};

struct vm {
	/* set by vm_open */
	const struct bpf_image *img;
	struct vm_prog *progs;
	struct vm_map *maps;
	struct vm_ring *rings;
	uint32_t nrings;
	uint32_t ncpus, nregions;
	struct region *region;
	uint8_t *stack;
	/* set by vm_run for one run */
	const struct vm_cpu *cpu;
	uint32_t base_cpu; /* whose values the per-CPU regions show */
	uint64_t ctx_pc;
	struct vm_task task[2];
	struct vm_reservation reservation[VM_RESERVATIONS];
	uint32_t nreserved; /* of these, in use */
	uint64_t chance;    /* of get_prandom_u32() */
	uint64_t charge;    /* instructions that the last helper was worth */
	const char *fault;  /* why the run must end; NULL: it goes on */
};

/* Host address of n bytes behind a virtual pointer, or NULL. */
static inline uint8_t *vm_at(const struct vm *vm, uint64_t p, uint64_t n, bool write)
{
	uint32_t i = vp_region(p);
	if (i >= vm->nregions)
		return NULL;
	const struct region *r = &vm->region[i];
	uint32_t size = write ? r->wsize : r->rsize;
	if (vp_elem(p) >= r->nelem || n > size || vp_off(p) > size - n)
		return NULL;
	return r->base + vp_elem(p) * r->stride + vp_off(p);
}

/* ---- vm_helper.c ---------------------------------------------------- */
vm_helper_fn *vm_helper(int32_t number);                                   /* NULL: no such helper */
uint64_t vm_lookup(const struct vm *vm, uint32_t map, const uint8_t *key); /* a virtual pointer to the value, or 0 */
void vm_reservations_drop(struct vm *vm);                                  /* those that a program left open */

/* ---- vm_map.c ------------------------------------------------------- */
int vm_map_open(struct vm *vm, uint32_t i, struct err *e);
void vm_map_close(struct vm_map *m);
void vm_maps_on_cpu(struct vm *vm, uint32_t cpu); /* per-CPU regions show this CPU's values */
/* What follows returns a slot, or a negative kernel errno. Keys are key_size bytes. */
int64_t vm_map_find(const struct vm_map *m, const void *key);
int64_t vm_map_add(struct vm_map *m, const void *key); /* finds or takes a zeroed slot; -BPF_E2BIG when full */
int64_t vm_map_remove(struct vm_map *m, const void *key);
/* The slot of a stack of n frames, as get_stackid() chooses it. */
int64_t vm_map_stack(struct vm_map *m, const uint64_t *frames, uint32_t n, uint64_t flags);
uint8_t *vm_map_value(const struct vm_map *m, uint64_t slot, uint32_t cpu);
/* Room for a record of n bytes behind a header that says busy; NULL when full. */
uint32_t *vm_ring_reserve(struct vm_ring *r, uint64_t n);

#endif
