/*
 * niagara_cache.c: caches, and coherence between nodes.
 *
 * Level 1 belongs to a core: data is written through and not allocated by
 * stores.  Level 2 belongs to a node, knows which cores hold a line, and takes it
 * from them when it goes.  Between nodes: MOESI by asking everybody (that is what the
 * hubs do), so a level 2 miss looks into the other nodes' caches.  Who serves a miss: another
 * node's cache that owns the line (modified or owned), else the memory of the line's home.
 *
 * A reference is where its first byte is: those of SPARC are aligned.  A strand waits for loads, fetches and
 * atomics.  A store goes to a buffer of eight; they are done in order, and a strand waits when it is full.
 *
 * Speed: what the model waits for is the host's memory, so a set's states are in one line of the host's caches and a
 * byte of each tag's hash (its sign) of all nodes' set in another.  The usual answer, that no cache has the line, reads
 * only the line of signs.
 */
#include "machine/niagara_int.h"

#define COST_L2 20u
#define COST_LOCAL 120u
#define COST_REMOTE 220u
#define COST_C2C 200u
#define COST_UPGRADE 80u
enum served { LOCAL, REMOTE, CACHE };

#define HOST_LINE 64u

/* Zeroed, and where a line of the host's caches starts; *memory is to be freed. */
static void *lines_open(void **memory, size_t bytes)
{
	*memory = mem_alloc(bytes + HOST_LINE);
	return *memory ? (char *)*memory + (-(uintptr_t)*memory & (HOST_LINE - 1)) : NULL;
}

static int l1_open(struct l1 *c, uint32_t sets, uint16_t ways, uint16_t bits)
{
	*c = (struct l1){ mem_alloc(sets * ways * sizeof(*c->tag)), mem_alloc(sets), sets - 1, ways, bits };
	return c->tag && c->next ? 0 : -TALLY_ENOMEM;
}

static int core_open(struct core *c, const struct niagara_geometry *g, uint32_t number)
{
	int rc = l1_open(&c->l1[0], g->l1i_sets, g->l1i_ways, L1I_BITS);

	c->bit = (uint8_t)(1u << number);
	c->tlb[0].n = g->itlb;
	c->tlb[1].n = g->dtlb;
	c->tlb[0].generation = c->tlb[1].generation = 1;
	return rc < 0 ? rc : l1_open(&c->l1[1], g->l1d_sets, g->l1d_ways, L1D_BITS);
}

static int node_open(struct node *d, const struct niagara_geometry *g)
{
	int rc = 0;

	d->l2 = lines_open(&d->memory, g->l2_sets * sizeof(*d->l2));
	d->core = mem_alloc(g->cores * sizeof(*d->core));
	if (!d->l2 || !d->core)
		return -TALLY_ENOMEM;
	for (uint32_t i = 0; rc == 0 && i < g->cores; i++)
		rc = core_open(&d->core[i], g, i);
	return rc;
}

int cache_open(struct niagara *n)
{
	int rc;

	n->sign = lines_open(&n->signs, (size_t)n->g->l2_sets * n->kind->nodes * sizeof(*n->sign));
	rc = n->sign ? 0 : -TALLY_ENOMEM;
	for (uint32_t i = 0; rc == 0 && i < n->kind->nodes; i++) {
		n->node[i].id = i;
		rc = node_open(&n->node[i], n->g);
	}
	return rc;
}

void cache_close(struct niagara *n)
{
	for (uint32_t i = 0; i < NODES; i++) {
		struct node *d = &n->node[i];

		for (uint32_t c = 0; d->core && c < n->g->cores * 2u; c++) {
			mem_free(d->core[c / 2].l1[c % 2].tag);
			mem_free(d->core[c / 2].l1[c % 2].next);
		}
		mem_free(d->core);
		mem_free(d->memory);
	}
	mem_free(n->signs);
}

/* ---- level 1 ----------------------------------------------------------------------------------- */

static inline bool is_in_four(const uint64_t t[4], uint64_t tag)
{
	return (t[0] == tag) | (t[1] == tag) | (t[2] == tag) | (t[3] == tag);
}

static inline bool l1_has(const struct l1 *c, uint64_t pa)
{
	const uint64_t line = pa >> c->bits, *t = c->tag + (size_t)(line & c->mask) * c->ways;

	return is_in_four(t, line + 1) || (c->ways > 4 && is_in_four(t + 4, line + 1));
}

/* The line is in this level 1 no more. */
static void l1_forget(struct core *core, bool data, uint64_t line)
{
	core->note[data][note_of(line, line >> (VA_BITS - core->l1[data].bits))].stamp = 0;
}

static void l1_put(struct core *core, bool data, uint64_t pa)
{
	struct l1 *c = &core->l1[data];
	const uint64_t line = pa >> c->bits;
	uint8_t *next = &c->next[line & c->mask];
	uint64_t *tag = &c->tag[(size_t)(line & c->mask) * c->ways + *next];

	if (*tag)
		l1_forget(core, data, *tag - 1);
	*tag = line + 1;
	*next = *next + 1u < c->ways ? (uint8_t)(*next + 1u) : 0;
}

/* Takes a line of level 2 from level 1: it has several of them, in sets that follow each other. */
static void l1_drop(struct core *core, bool data, uint64_t pa)
{
	struct l1 *c = &core->l1[data];
	const uint64_t first = pa >> LINE_BITS << (LINE_BITS - c->bits), lines = 1u << (LINE_BITS - c->bits);
	uint64_t *t = c->tag + (size_t)(first & c->mask) * c->ways;

	for (uint64_t line = first; line < first + lines; line++, t += c->ways)
		for (uint32_t i = 0; i < c->ways; i++)
			if (t[i] == line + 1) {
				t[i] = 0;
				l1_forget(core, data, line);
			}
}

/* All cores lose the line, but the data cache of those in `keep`: who stores writes it through. */
static void cores_drop(struct node *d, struct l2_set *set, uint32_t way, uint64_t pa, uint8_t keep)
{
	for (uint32_t data = 0; data < 2; data++)
		for (uint32_t left = set->cores[data][way] & ~(data ? keep : 0u); left; left &= left - 1)
			l1_drop(&d->core[__builtin_ctz(left)], data, pa);
	set->cores[1][way] &= keep;
	set->cores[0][way] = 0;
}

/* ---- level 2 -------------------------------------------------------------------------------------- */

static inline uint32_t l2_index(const struct niagara_geometry *g, uint64_t pa)
{
	if (g->hashed) /* PA[32:28]^[17:13] . [19:18]^[12:11] . [10:6] */
		return (uint32_t)(pa >> 6 ^ (pa >> 28 & 0x1f) << 7 ^ (pa >> 18 & 3) << 5) & 0xfff;
	return pa >> LINE_BITS & (g->l2_sets - 1u);
}

static inline union sign *signs_of(const struct niagara *n, uint32_t index, uint32_t node)
{
	return &n->sign[index * n->kind->nodes + node];
}

/* The way where it is, or WAYS. */
static inline uint32_t l2_find(const struct niagara *n, const struct node *d, uint32_t index, uint64_t tag)
{
	return sign_find(signs_of(n, index, d->id), d->l2[index].tag, tag);
}

/* No node has it; false: one may. */
static inline bool l2_is_nowhere(const struct niagara *n, uint32_t index, uint64_t tag)
{
	const union sign *s = signs_of(n, index, 0), *end = s + n->kind->nodes;
	const uint64_t sign = sign_of(tag);
	uint64_t like = 0;

	for (; s < end; s++)
		like |= sign_like(s->word[0], sign) | sign_like(s->word[1], sign);
	return !like;
}

static void l2_put(struct niagara *n, struct node *d, uint32_t index, uint32_t way, uint64_t tag, enum moesi state)
{
	struct l2_set *set = &d->l2[index];

	set->tag[way] = tag;
	set->state[way] = (uint8_t)state;
	set->held |= (uint16_t)(1u << way);
	sign_put(signs_of(n, index, d->id), way, tag);
}

/* Not recently used: the first line that wasn't since all were. */
static uint32_t l2_victim(const struct niagara_geometry *g, struct l2_set *set)
{
	const uint32_t all = (1u << g->l2_ways) - 1, free = all & ~(uint32_t)set->held,
		       idle = all & ~(uint32_t)set->used;

	if (free)
		return (uint32_t)__builtin_ctz(free);
	if (!idle)
		set->used = 0;
	return idle ? (uint32_t)__builtin_ctz(idle) : 0;
}

static void l2_take(struct niagara *n, struct node *d, uint32_t index, uint32_t way)
{
	struct l2_set *set = &d->l2[index];

	cores_drop(d, set, way, (set->tag[way] - 1) << LINE_BITS, 0);
	set->tag[way] = 0;
	set->state[way] = INVALID;
	set->held &= (uint16_t) ~(1u << way);
	set->used &= (uint16_t) ~(1u << way);
	sign_put(signs_of(n, index, d->id), way, 0);
}

/* Between nodes: counted, and with hubs shown at their ports. */
static void cache_transact(struct niagara *n, enum transaction t, uint32_t node, uint64_t pa, uint64_t now)
{
	if (n->kind->nodes == 1)
		return;
	n->truth.transactions++;
	if (n->kind->zambezis) {
		n->truth.plane[plane_of(pa)]++;
		hub_transaction(n, t, node, pa, now);
	}
}

/* Makes room: what comes is put in its place. */
static void l2_evict(struct niagara *n, struct node *d, uint32_t index, uint32_t way, uint64_t now)
{
	const uint64_t pa = (d->l2[index].tag[way] - 1) << LINE_BITS;

	if (d->l2[index].state[way] >= OWNED) {
		n->truth.writebacks++;
		memory_write(n, pa, now);
		if (home_of(n, pa) != d->id) { /* nobody waits for it */
			cache_transact(n, TX_WB, d->id, pa, now);
			(void)link_line(n, d->id, home_of(n, pa), pa, now);
		}
	}
	cores_drop(d, &d->l2[index], way, pa, 0);
}

struct snoop {
	bool shared;
	int owner;
}; /* owner: a node, or -1 */

/* A node has it: a read to share leaves it there, all else takes it away. */
static void cache_node_snooped(struct niagara *n, struct node *d, uint32_t index, uint32_t way, enum transaction t,
			       struct snoop *s)
{
	uint8_t *state = &d->l2[index].state[way];

	s->shared = true;
	if (*state >= OWNED)
		s->owner = (int)d->id;
	if (t == TX_RTS)
		*state = *state >= OWNED ? OWNED : SHARED;
	else
		l2_take(n, d, index, way);
}

/* Asks the other nodes. */
static struct snoop cache_snoop_nodes(const struct access *a, uint32_t index, enum transaction t)
{
	const uint64_t tag = (a->pa >> LINE_BITS) + 1;
	struct niagara *n = a->n;
	const uint32_t nodes = n->kind->nodes;
	struct snoop s = { false, -1 };

	if (nodes == 1)
		return s;
	if (l2_is_nowhere(n, index, tag)) {
		if (n->kind->zambezis)
			hub_nobody(n, a->s->node->id, a->pa);
		return s;
	}
	for (uint32_t i = 0; i < nodes; i++) {
		struct node *d = &n->node[i];
		uint32_t way;

		if (d == a->s->node)
			continue;
		way = l2_find(n, d, index, tag);
		if (n->kind->zambezis)
			hub_reply(n, t, i, a->pa, way == WAYS ? INVALID : d->l2[index].state[way]);
		if (way != WAYS)
			cache_node_snooped(n, d, index, way, t, &s);
	}
	return s;
}

static void cache_count_miss(const struct access *a, enum served by)
{
	struct niagara_truth *t = &a->n->truth;
	uint64_t config = now_of(&a->s->node->l2_cr);
	bool selected = config == 0 || config == by + 1u; /* PERF_CONFIG */

	t->served[by]++;
	if (a->walk) {
		t->l2_miss_walk++;
		event(a, a->kind == NIAGARA_FETCH ? EV_IWALK_MISS : EV_DWALK_MISS, 1);
	} else if (a->kind == NIAGARA_FETCH) {
		t->l2_imiss++;
		event(a, EV_L2I, selected);
	} else if (a->kind == NIAGARA_LOAD) {
		t->l2_dmiss_ld++;
		event(a, EV_L2D, selected);
	} else {
		t->l2_miss_store++;
	}
}

/* The way that has it now. */
static uint32_t l2_fill(struct access *a, uint32_t index, bool write)
{
	static const uint16_t cost[] = { [LOCAL] = COST_LOCAL, [REMOTE] = COST_REMOTE, [CACHE] = COST_C2C };
	struct niagara *n = a->n;
	struct node *d = a->s->node;
	const enum transaction t = write ? TX_RTO : TX_RTS;
	const uint64_t now = time_of(a);
	const uint32_t way = l2_victim(n->g, &d->l2[index]), home = home_of(n, a->pa);
	struct snoop s;
	enum served by;

	if (d->l2[index].tag[way])
		l2_evict(n, d, index, way, now);
	cache_transact(n, t, d->id, a->pa, now);
	s = cache_snoop_nodes(a, index, t);
	by = s.owner >= 0 ? CACHE : home == d->id ? LOCAL : REMOTE;
	cache_count_miss(a, by);
	a->cost += cost[by];
	if (by != CACHE)
		a->cost += memory_read(n, a->pa, now);
	if (by != LOCAL) {
		const uint32_t from = by == CACHE ? (uint32_t)s.owner : home;

		a->cost += link_line(n, from, d->id, a->pa, now);
		if (n->kind->zambezis)
			hub_data(n, d->id, from, a->pa, by == CACHE);
	}
	l2_put(n, d, index, way, (a->pa >> LINE_BITS) + 1, write ? MODIFIED : s.shared ? SHARED : EXCLUSIVE);
	return way;
}

/* The line. */
static uint32_t l2_access(struct access *a, bool write)
{
	const uint32_t index = l2_index(a->n->g, a->pa);
	struct node *d = a->s->node;
	struct l2_set *set = &d->l2[index];
	uint32_t way = l2_find(a->n, d, index, (a->pa >> LINE_BITS) + 1);

	a->cost += COST_L2;
	if (way == WAYS)
		way = l2_fill(a, index, write);
	if (write && (set->state[way] == SHARED || set->state[way] == OWNED)) {
		a->n->truth.upgrades++;
		cache_transact(a->n, TX_INV, d->id, a->pa, time_of(a));
		(void)cache_snoop_nodes(a, index, TX_INV);
		a->cost += COST_UPGRADE;
	}
	if (write)
		set->state[way] = MODIFIED;
	set->used |= (uint16_t)(1u << way);
	return index * WAYS + way;
}

/* ---- an access ------------------------------------------------------------------------------------ */

static void cache_fill_line(struct access *a, bool data)
{
	struct core *c = a->s->core;
	const uint32_t line = l2_access(a, false);

	a->s->node->l2[line / WAYS].cores[data][line % WAYS] |= c->bit;
	l1_put(c, data, a->pa);
}

static void cache_fetch(struct access *a)
{
	if (l1_has(&a->s->core->l1[0], a->pa))
		return;
	a->n->truth.ic_miss++;
	event(a, EV_IC, 1);
	cache_fill_line(a, false);
}

static void cache_load(struct access *a)
{
	if (l1_has(&a->s->core->l1[1], a->pa))
		return;
	a->n->truth.dc_miss++;
	event(a, EV_DC, 1);
	cache_fill_line(a, true);
}

/* The store takes the place of the oldest in the buffer: cycles until that one is done. */
static uint64_t buffer_store(struct strand *s, uint64_t now, uint64_t takes)
{
	uint64_t *slot = &s->store_done[s->store_next];
	uint64_t wait = *slot > now ? *slot - now : 0,
		 last = s->store_done[(s->store_next + STORE_BUFFER - 1) % STORE_BUFFER];
	uint64_t done = now + wait + takes;

	*slot = done > last ? done : last;
	s->store_next = (s->store_next + 1) % STORE_BUFFER;
	return wait;
}

/* Written through; other cores lose the line. An atomic waits for all stores before it, and for itself. */
static uint32_t cache_store(struct access *a)
{
	const uint64_t before = a->cost, now = time_of(a);
	struct strand *s = a->s;
	const uint64_t last = s->store_done[(s->store_next + STORE_BUFFER - 1) % STORE_BUFFER];
	const uint32_t line = l2_access(a, true), way = line % WAYS;
	struct l2_set *set = &s->node->l2[line / WAYS];

	if ((set->cores[1][way] & ~s->core->bit) | set->cores[0][way])
		cores_drop(s->node, set, way, a->pa, s->core->bit);
	if (a->kind == NIAGARA_STORE)
		a->cost = before + buffer_store(s, now, a->cost - before);
	else if (last > now)
		a->cost += last - now;
	return line;
}

uint64_t cache_store_hit(struct strand *s, uint32_t line, uint64_t now)
{
	s->node->l2[line / WAYS].used |= (uint16_t)(1u << line % WAYS);
	return buffer_store(s, now, COST_L2);
}

uint32_t cache_access(struct access *a)
{
	if (a->kind >= NIAGARA_STORE)
		return cache_store(a);
	if (a->kind == NIAGARA_FETCH)
		cache_fetch(a);
	else
		cache_load(a);
	return NO_LINE;
}

void cache_prefetch(const struct niagara *n, const struct strand *s, uint64_t pa)
{
	const uint32_t index = l2_index(n->g, pa);
	const struct l2_set *set = &s->node->l2[index];

	__builtin_prefetch(signs_of(n, index, 0));
	__builtin_prefetch(set);
	__builtin_prefetch(&set->tag[0]);
	__builtin_prefetch(&set->tag[8]);
}

void cache_walk(struct access *a, uint64_t pa)
{
	a->pa = pa;
	(void)l2_access(a, false);
}
