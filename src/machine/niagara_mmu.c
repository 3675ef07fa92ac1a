/*
 * niagara_mmu.c: TLBs, and how they are filled.
 *
 * The address space is the model's own, without an operating system. A virtual address has 48 bits; bits 49:48 choose
 * the page size (8K, 64K, 4M, 256M), so a user program's own addresses have 8K pages, and negative kernel addresses
 * have 256M pages. Each context has memory of its own: the physical address is the virtual one with the context above
 * it. So equal addresses of one context are shared memory, and bits 31:30 always give the home node.
 *
 * Niagara: a miss goes to the hypervisor, which searches the guest's TSBs (one for each side and kind of context,
 * direct-mapped). If the entry is there, it is a TSB hit; its ticks are the growth of the strand's %tick meanwhile,
 * or, for profile `opensparc`, the ticks recorded of the genuine hypervisor. Otherwise it is a permanent mapping
 * (context 0, the first 8 MB in 4M pages), or a trap to the guest, whose handler puts the entry into the TSB.
 * Victoria Falls: the hardware walks the tables: one level 2 reference for each miss, in the context's tables (one
 * for each page size, by page number), on the node that the context's low bits choose.
 *
 * Replacement is round robin, so a hit changes nothing, and what a core remembers of its pages stays valid until an
 * entry is replaced.
 */
#include "machine/niagara_int.h"

#define PERMANENT (UINT64_C(8) << 20)
#define TICKS_RECORDED 6u /* a hit of context 0 under the genuine hypervisor, whose clock counted instructions */
#define COST_TSB 30u      /* from the miss to the entry in the TLB, as COST_GUEST */
#define COST_GUEST 300u
#define TTES (1u << 20) /* of a walked table */
#define LOW(v, bits) ((v) & ((UINT64_C(1) << (bits)) - 1))

static const uint8_t page_bits[MMUSTAT_SIZES] = {
	[MMUSTAT_8K] = 13, [MMUSTAT_64K] = 16, [MMUSTAT_4M] = 22, [MMUSTAT_256M] = 28
};

struct page {
	uint64_t number, key;
	uint16_t context;
	enum mmustat_size size;
};

static uint32_t mmu_hash_bucket(uint64_t key)
{
	return key * UINT64_C(0x9e3779b97f4a7c15) >> 56;
}

static bool tlb_has(const struct tlb *t, uint64_t key)
{
	for (uint32_t i = t->head[mmu_hash_bucket(key)]; i; i = t->link[i - 1])
		if (t->key[i - 1] == key)
			return true;
	return false;
}

static void unlink_entry(struct tlb *t, uint32_t i)
{
	uint8_t *at = &t->head[mmu_hash_bucket(t->key[i])];

	while (*at && *at != i + 1)
		at = &t->link[*at - 1];
	if (*at)
		*at = t->link[i];
}

static void tlb_fill(struct tlb *t, uint64_t key)
{
	uint32_t i = t->next;
	uint8_t *head = &t->head[mmu_hash_bucket(key)];

	if (t->key[i])
		unlink_entry(t, i);
	t->next = (uint16_t)((i + 1) % t->n);
	t->generation++;
	t->key[i] = key;
	t->link[i] = *head;
	*head = (uint8_t)(i + 1);
}

static bool is_permanent(const struct page *p)
{
	return p->context == 0 && p->size == MMUSTAT_4M && p->number < PERMANENT >> page_bits[MMUSTAT_4M];
}

/* Pages that follow each other have entries that do; contexts and sizes start at different places. */
static uint64_t *tsb_entry(struct niagara *n, const struct page *p, bool data)
{
	uint64_t at = p->number + p->context * 769u + p->size * 512u;

	return &n->tsb[(data * 2u + (p->context != 0)) * TSB_ENTRIES + at % TSB_ENTRIES];
}

/* The hypervisor answers a miss of Niagara. */
static void from_tsb(struct access *a, const struct page *p, bool data)
{
	const bool context = p->context != 0;
	const uint64_t from = time_of(a);
	uint64_t *entry = tsb_entry(a->n, p, data);

	if (*entry == p->key) {
		a->n->truth.tsb_hit[data][context][p->size]++;
		a->cost += COST_TSB;
		if (a->s->vcpu)
			sun4v_tsb_hit(a->s->vcpu, data, context, p->size,
				      a->n->recorded_ticks ? TICKS_RECORDED + context : time_of(a) - from);
	} else if (is_permanent(p)) {
		a->n->truth.permanent_hit++;
		a->cost += COST_TSB;
	} else {
		a->n->truth.tsb_miss++;
		*entry = p->key;
		a->cost += COST_GUEST;
	}
}

/* The hardware answers a miss of Victoria Falls: entries of 16 bytes. */
static void from_walk(struct access *a, const struct page *p, bool data)
{
	uint64_t table =
		UINT64_C(1) << 62 | (uint64_t)p->context << VA_BITS | (uint64_t)p->size << 40 | (p->context & 3u) << 30;

	a->n->truth.walks++;
	event(a, data ? EV_DWALK : EV_IWALK, 1);
	event(a, EV_WALK, 1);
	a->walk = true;
	cache_walk(a, table | p->number % TTES * 16);
	a->walk = false;
}

static void mmu_count_miss(struct access *a, const struct page *p, bool data)
{
	event(a, data ? EV_DTLB : EV_ITLB, 1);
	if (data)
		a->n->truth.dtlb_miss++;
	else
		a->n->truth.itlb_miss++;
	if (a->n->g->walks)
		from_walk(a, p, data);
	else
		from_tsb(a, p, data);
	tlb_fill(&a->s->core->tlb[data], p->key);
}

void mmu_look_up(struct access *a, const struct niagara_ref *r)
{
	const bool data = r->kind != NIAGARA_FETCH;
	const enum mmustat_size size = r->va >> VA_BITS & 3;
	const uint64_t number = LOW(r->va, VA_BITS) >> page_bits[size];
	const uint16_t context = r->context % CONTEXTS;
	const struct page p = { number, UINT64_C(1) << 63 | number << 15 | (uint64_t)size << 13 | context, context,
				size };

	if (!tlb_has(&a->s->core->tlb[data], p.key))
		mmu_count_miss(a, &p, data);
}
