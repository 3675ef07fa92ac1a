/*
 * niagara_invariant_test.c: what must hold whatever the load: invariants between counters, between counters and the
 * truth, and in the caches themselves, over more than a thousand random loads on all machines.
 */
#include "base/range.h"
#include "machine/niagara_int.h"
#include "machine/niagara_test_int.h"

enum { LOADS = 1050, REFS = 1500, TALLY_LD = 0, TALLY_ST, TALLY_ATOMIC, TALLY_ALL, TALLIES };

static const struct {
	const char *name;
	uint32_t sockets;
} machines[] = {
	{ "niagara", 1 }, { "maramba", 1 }, { "maramba", 2 }, { "batoka", 1 },
	{ "batoka", 2 },  { "batoka", 3 },  { "batoka", 4 },
};
static struct rig r;

/* ---- random loads --------------------------------------------------------------------------------------- */

struct mix {
	uint64_t rng;
	uint32_t strands, spread, contexts, footprint; /* spread: strands apart; footprint: bits of an offset */
	bool sets;                                     /* addresses that meet in few sets */
	uint64_t at;
	uint64_t tally[MOST_STRANDS][TALLIES][LEVELS]; /* what was put in, by strand and level */
};

static uint64_t mix_random(struct mix *m)
{
	m->rng ^= m->rng << 13;
	m->rng ^= m->rng >> 7;
	return m->rng ^= m->rng << 17;
}

static struct mix random_mix(uint64_t seed)
{
	struct mix m = { .rng = (seed + 1) * 0x9e3779b97f4a7c15 };

	m.strands = 1 + mix_random(&m) % 8;
	m.spread = mix_random(&m) % 3 ? r.strands / m.strands : 1 + mix_random(&m) % 64;
	m.contexts = 1 + mix_random(&m) % 3;
	m.footprint = mix_random(&m) % 3 ? 7 + mix_random(&m) % 6 : 9 + mix_random(&m) % 18;
	m.sets = mix_random(&m) % 2;
	return m;
}

static uint64_t mix_address(struct mix *m, uint64_t v)
{
	const uint64_t size = v >> 4 & 3, home = (v >> 6 & 3) << 30, plane = (v >> 54 & 3) << 12;

	m->at += v >> 8 & 0x38;
	if (m->sets)
		return size << 48 | home | plane | (v >> 12) % 40 * MB | (v >> 20 & 1) * 0x40;
	return size << 48 | home | plane | ((v & 0xc00 ? v >> 12 : m->at) & ((1ull << m->footprint) - 1) & ~7ull);
}

static struct niagara_ref random_ref(struct mix *m)
{
	static const uint8_t kinds[] = { NIAGARA_FETCH, NIAGARA_FETCH, NIAGARA_LOAD,  NIAGARA_LOAD,
					 NIAGARA_LOAD,  NIAGARA_STORE, NIAGARA_STORE, NIAGARA_ATOMIC };
	const uint64_t v = mix_random(m), w = mix_random(m);
	struct niagara_ref x = {
		.va = mix_address(m, v),
		.strand = (uint16_t)(w % m->strands * m->spread % r.strands),
		.context = (uint16_t)(w >> 8 & 0xff) % m->contexts,
		.kind = kinds[w >> 16 & 7],
		.bytes = 8,
		.instructions = (uint8_t)((w >> 24) % 20),
	};

	x.level = x.context == 0 ? (w >> 32 & 7 ? NIAGARA_SYSTEM : NIAGARA_HYPER) :
		  w >> 32 & 15   ? NIAGARA_USER :
				   NIAGARA_SYSTEM;
	m->tally[x.strand][TALLY_ALL][x.level] += x.instructions;
	if (x.kind != NIAGARA_FETCH)
		m->tally[x.strand][x.kind - NIAGARA_LOAD + TALLY_LD][x.level]++;
	return x;
}

static void put_in(struct mix *m, uint32_t count)
{
	struct niagara_ref x[64];

	for (uint32_t n; count; count -= n) {
		n = 1 + mix_random(m) % 64;
		n = n < count ? n : count;
		for (uint32_t i = 0; i < n; i++)
			x[i] = random_ref(m);
		niagara_refs(r.n, x, n);
	}
}

/* ---- invariants ------------------------------------------------------------------------------ */

/* An invariant between zeros says nothing: how often of a hundred its sums must be others, where it applies. */
/* clang-format off */
#define INVARIANTS(X) \
	X(MISSES_ARE_SERVED, 99) X(READS_ARE_MISSES_OF_MEMORY, 99) X(WRITES_ARE_WRITEBACKS, 30) \
	X(NO_NODE_NO_TRAFFIC, 0) X(ONE_NODE_ASKS_NOBODY, 0) X(PLANES_ARE_TRANSACTIONS, 90) \
	X(HITS_ARE_THE_REST_OF_THE_MISSES, 80) X(WALKS_ARE_TLB_MISSES, 99) X(BUFFERS_ARE_HITS, 50) \
	X(RESERVED_WORDS_STAY, 0) X(EVENTS_ARE_THE_TRUTH, 90) X(TALLIES_ARE_WHAT_WENT_IN, 60) \
	X(CONTROLLERS_ARE_THE_TRUTH, 75) X(PORTS_ARE_THE_PLANE, 90) X(REQUESTS_BY_KIND, 90) \
	X(WRITEBACKS_BY_KIND, 20) X(WRITEBACKS_GO_HOME, 20) X(WRITEBACKS_BRING_DATA, 20) \
	X(INVALIDATIONS_GO_OUT, 30) X(OWNERSHIPS_GO_OUT, 90) X(SHARES_GO_OUT, 90) \
	X(REQUESTS_ARE_REPLIED_TO, 90) X(ALL_OTHERS_REPLY, 90) X(REPLIES_BY_STATE, 90) X(REPLIES_BY_HIT, 90) \
	X(REPLIES_WITH_AND_WITHOUT_DATA, 90) X(PORTS_SHOW_WHAT_IS_CHOSEN, 20) \
	X(SERIALIZER_COUNTS_THE_PLANE, 90) X(WHO_WAITS_IS_WOKEN, 12) X(ONE_NODE_ASKS_NO_HUB, 0) \
	X(EMPTY_SOCKETS_ARE_SILENT, 0) X(DATA_OF_CACHES, 60) X(DATA_OF_MEMORIES, 90)
/* clang-format on */
enum invariant {
#define INVARIANT(name, least) name,
	INVARIANTS(INVARIANT)
#undef INVARIANT
		INVARIANT_COUNT
};
static struct {
	uint64_t checked, live;
} invariants[INVARIANT_COUNT];

static void invariant_witness(enum invariant invariant, uint64_t sum)
{
	invariants[invariant].checked++;
	invariants[invariant].live += sum != 0;
}

#define SAME(invariant, a, b)                       \
	do {                                        \
		const uint64_t sum_ = (a);          \
		assert_int_equal(sum_, b);          \
		invariant_witness(invariant, sum_); \
	} while (0)

static void no_invariant_was_empty(void)
{
	static const struct {
		const char *name;
		uint64_t least;
	} row[INVARIANT_COUNT] = {
#define INVARIANT(name, least) { #name, least },
		INVARIANTS(INVARIANT)
#undef INVARIANT
	};

	for (uint32_t i = 0; i < INVARIANT_COUNT; i++)
		if (!invariants[i].checked || invariants[i].live * 100 < invariants[i].checked * row[i].least)
			fail_msg("%s: %lu of %lu checks had anything to add up", row[i].name, invariants[i].live,
				 invariants[i].checked);
}

/* ---- invariants of the truth ----------------------------------------------------------------- */

static uint64_t counts_sum(const uint64_t *p, uint32_t n)
{
	uint64_t s = 0;

	while (n--)
		s += *p++;
	return s;
}

static void check_memory(const struct niagara_truth *t)
{
	SAME(MISSES_ARE_SERVED, counts_sum(t->served, 3), l2_misses(&r));
	SAME(READS_ARE_MISSES_OF_MEMORY, counts_sum(&t->mcu_reads[0][0], 8), t->served[0] + t->served[1]);
	SAME(WRITES_ARE_WRITEBACKS, counts_sum(&t->mcu_writes[0][0], 8), t->writebacks);
	for (uint32_t node = r.kind->nodes; node < NODES; node++)
		SAME(NO_NODE_NO_TRAFFIC, counts_sum(t->mcu_reads[node], 2) + counts_sum(t->mcu_writes[node], 2), 0);
	assert_true(t->l2_imiss <= t->ic_miss && t->l2_dmiss_ld <= t->dc_miss && t->l2_miss_walk <= t->walks);
	assert_true(t->ic_miss <= t->refs[NIAGARA_FETCH] && t->dc_miss <= t->refs[NIAGARA_LOAD]);
}

static void check_nodes(const struct niagara_truth *t)
{
	const uint64_t asked = l2_misses(&r) + t->upgrades;

	if (r.kind->nodes == 1) {
		SAME(ONE_NODE_ASKS_NOBODY,
		     t->transactions + t->served[1] + t->served[2] + t->upgrades + counts_sum(t->plane, 4), 0);
		return;
	}
	assert_uint_in_range(t->transactions, asked, asked + t->writebacks);
	if (r.kind->zambezis)
		SAME(PLANES_ARE_TRANSACTIONS, counts_sum(t->plane, 4), t->transactions);
	else
		assert_int_equal(counts_sum(t->plane, 4), 0);
}

static void check_translations(const struct niagara_truth *t)
{
	const uint64_t misses = t->itlb_miss + t->dtlb_miss, hits = counts_sum(&t->tsb_hit[0][0][0], 16);

	if (r.kind->mmustat) {
		SAME(HITS_ARE_THE_REST_OF_THE_MISSES, hits, misses - t->tsb_miss - t->permanent_hit);
		assert_int_equal(t->walks, 0);
	} else {
		SAME(WALKS_ARE_TLB_MISSES, t->walks, misses);
		assert_int_equal(hits + t->tsb_miss + t->permanent_hit, 0);
	}
}

/* The buffers of all strands together: the hits, and nothing where nothing belongs.  A strand's ticks are of its
 * time. */
static void check_buffers(const struct niagara_truth *t, uint64_t slots[16])
{
	uint64_t all = 0, spent[MOST_STRANDS] = { 0 };

	for (uint32_t k = 0; k < 16; k++) {
		const uint32_t at = mmustat_slot(k >> 3, k >> 2 & 1, k & 3) / 8;
		uint64_t hits = 0, ticks = 0;

		for (uint32_t i = 0; i < r.strands; i++) {
			hits += be64_get(&r.ram[i][at]);
			ticks += be64_get(&r.ram[i][at + 1]);
			spent[i] += be64_get(&r.ram[i][at + 1]);
			r.ram[i][at] = r.ram[i][at + 1] = 0;
		}
		SAME(BUFFERS_ARE_HITS, hits, t->tsb_hit[k >> 3][k >> 2 & 1][k & 3]);
		assert_true(ticks >= hits && !ticks == !hits);
		slots[k] += hits;
	}
	for (uint32_t i = 0; i < r.strands; i++) {
		assert_true(spent[i] <= now_of(&r.n->strand[i].cycles));
		all |= counts_sum(r.ram[i], MMUSTAT_BYTES / 8);
	}
	SAME(RESERVED_WORDS_STAY, all, 0);
}

/* ---- invariants of the caches ---------------------------------------------------------------- */

/* The way of a set that has this tag; or WAYS. */
static uint32_t set_find_way(const struct l2_set *set, uint64_t tag)
{
	uint32_t way = 0;

	while (way < WAYS && set->tag[way] != tag)
		way++;
	return way;
}

/* What makes a set quick to look at says what the set says. */
static void check_set(const struct l2_set *set, const union sign *sign)
{
	for (uint32_t way = 0; way < WAYS; way++) {
		const bool held = set->tag[way] != 0;

		assert_int_equal(held, set->state[way] != INVALID);
		assert_int_equal(held, set->held >> way & 1);
		assert_true(held || (!(set->used >> way & 1) && !set->cores[0][way] && !set->cores[1][way]));
		assert_true(!held || way < r.n->g->l2_ways);
		assert_int_equal(sign->word[way / 8] >> way % 8 * 8 & 0xff, sign_of(set->tag[way]));
	}
}

/* A line that one node has modified or exclusive nobody else has; one owner at most. */
static void check_line(uint32_t node, uint32_t index, uint32_t way)
{
	const struct l2_set *set = &r.n->node[node].l2[index];

	for (uint32_t other = 0; set->tag[way] && other < r.kind->nodes; other++) {
		const struct l2_set *o = &r.n->node[other].l2[index]; /* the same in all nodes */
		const uint32_t at = other == node ? WAYS : set_find_way(o, set->tag[way]);

		assert_true(at == WAYS || (set->state[way] != MODIFIED && set->state[way] != EXCLUSIVE));
		assert_true(at == WAYS || set->state[way] != OWNED || o->state[at] == SHARED);
	}
}

static void check_states(void)
{
	for (uint32_t node = 0; node < r.kind->nodes; node++)
		for (uint32_t index = 0; index < r.n->g->l2_sets; index++) {
			check_set(&r.n->node[node].l2[index], &r.n->sign[index * r.kind->nodes + node]);
			for (uint32_t way = 0; way < WAYS; way++)
				check_line(node, index, way);
		}
}

/* The cores that may have a line of level 2, which is somewhere in the node. */
static uint8_t cores_of(uint32_t node, uint64_t tag, bool data)
{
	for (uint32_t index = 0; index < r.n->g->l2_sets; index++) {
		const struct l2_set *set = &r.n->node[node].l2[index];
		const uint32_t way = set_find_way(set, tag);

		if (way < WAYS)
			return set->cores[data][way];
	}
	fail();
	return 0;
}

static void check_level1(const struct l1 *c, uint32_t node, uint32_t core, bool data)
{
	for (uint32_t i = 0; i < (c->mask + 1) * c->ways; i++) {
		if (!c->tag[i])
			continue;
		assert_int_equal((c->tag[i] - 1) & c->mask, i / c->ways);
		assert_true(cores_of(node, ((c->tag[i] - 1) << c->bits >> LINE_BITS) + 1, data) >> core & 1);
	}
}

/* What a core has its node has, and knows that the core has it. */
static void check_inclusion(void)
{
	for (uint32_t node = 0; node < r.kind->nodes; node++)
		for (uint32_t core = 0; core < r.n->g->cores; core++) {
			check_level1(&r.n->node[node].core[core].l1[0], node, core, false);
			check_level1(&r.n->node[node].core[core].l1[1], node, core, true);
		}
}

/* ---- invariants between registers and the truth ---------------------------------------------- */

struct sparc {
	uint16_t code;
	uint64_t (*truth)(const struct niagara_truth *t);
};
#define SUM(name, e)                                        \
	static uint64_t name(const struct niagara_truth *t) \
	{                                                   \
		return e;                                   \
	}
SUM(t_loads, t->refs[NIAGARA_LOAD])
SUM(t_stores, t->refs[NIAGARA_STORE])
SUM(t_atomics, t->refs[NIAGARA_ATOMIC])
SUM(t_writes, t->refs[NIAGARA_STORE] + t->refs[NIAGARA_ATOMIC])
SUM(t_instructions, t->instructions)
SUM(t_ic, t->ic_miss)
SUM(t_dc, t->dc_miss)
SUM(t_l1, t->ic_miss + t->dc_miss)
SUM(t_l2i, t->l2_imiss)
SUM(t_l2d, t->l2_dmiss_ld)
SUM(t_l2, t->l2_imiss + t->l2_dmiss_ld)
SUM(t_walks, t->walks)
SUM(t_walk_misses, t->l2_miss_walk)
SUM(t_itlb, t->itlb_miss)
SUM(t_dtlb, t->dtlb_miss)
SUM(t_tlb, t->itlb_miss + t->dtlb_miss)
#undef SUM
static const struct sparc events[] = {
	{ 0x208, t_loads },        { 0x210, t_stores },       { 0x280, t_atomics }, { 0x290, t_writes },
	{ 0x2fd, t_instructions }, { 0x2ff, t_instructions }, { 0x301, t_ic },      { 0x302, t_dc },
	{ 0x303, t_l1 },           { 0x310, t_l2i },          { 0x320, t_l2d },     { 0x330, t_l2 },
	{ 0x504, t_dc },           { 0x508, t_ic },           { 0x50c, t_l1 },      { 0x510, t_writes },
	{ 0xb04, t_itlb },         { 0xb08, t_dtlb },         { 0xb0c, t_tlb },     { 0x40c, t_walks },
	{ 0x430, t_walk_misses },  { 0x520, t_walks },
};
static const uint16_t tallied[TALLIES] = {
	[TALLY_LD] = 0x208, [TALLY_ST] = 0x210, [TALLY_ATOMIC] = 0x280, [TALLY_ALL] = 0x2fd
};

/* What this load's registers select. */
struct selection {
	uint32_t all, tally, modes, mcu[2];
	uint16_t zam[2];
};

static void select_all(struct mix *m, struct selection *s)
{
	*s = (struct selection){ .all = mix_random(m) % (r.kind->mmustat ? COUNT(events) - 3 : COUNT(events)),
				 .tally = mix_random(m) % TALLIES,
				 .modes = mix_random(m) % 8 * 2,
				 .mcu = { mix_random(m) % 3, mix_random(m) % 3 },
				 .zam = { (uint16_t)(2 + mix_random(m) % 0x28),
					  (uint16_t)(2 + mix_random(m) % 0x28) } };
	for (uint32_t i = 0; i < r.strands;
	     i++) /* half the loads look at one event, half at their own tallies by mode */
		set_pcr(&r, i,
			m->rng & 1 ? pcr_of(events[s->all].code, events[s->all].code, ALL_MODES) :
				     pcr_of(tallied[s->tally], tallied[TALLY_ALL], s->modes));
	s->tally = m->rng & 1 ? TALLIES : s->tally;
	for (uint64_t reg = 2; !r.kind->mmustat && reg < VF_REGS; reg++) {
		if (vf_regs[reg].cls == VF_MCU_PCR && vf_regs[reg].node < r.kind->nodes)
			set(&r, 0, reg, s->mcu[0] << 4 | s->mcu[1]);
		else if (vf_regs[reg].cls == VF_ZAM_PCR && r.kind->zambezis)
			set(&r, 0, reg,
			    vf_regs[reg].unit <= VF_UNIT_LPU_D ? (uint64_t)s->zam[1] << 8 | s->zam[0] : 0x0302);
	}
}

static uint64_t of_modes(const uint64_t by_level[LEVELS], uint32_t modes)
{
	return (modes & UT ? by_level[NIAGARA_USER] : 0) + (modes & ST ? by_level[NIAGARA_SYSTEM] : 0) +
	       (modes & HT ? by_level[NIAGARA_HYPER] : 0);
}

/* of_event: how often each row of events was seen to count. */
static void check_strands(const struct mix *m, const struct selection *s, uint64_t of_event[COUNT(events)])
{
	uint64_t pic0 = 0, pic1 = 0;

	for (uint32_t i = 0; i < r.strands; i++) {
		pic0 += get_pic(&r, i, 0);
		pic1 += get_pic(&r, i, 1);
		if (s->tally == TALLIES)
			continue;
		assert_int_equal(get_pic(&r, i, 0), of_modes(m->tally[i][s->tally], s->modes));
		assert_int_equal(get_pic(&r, i, 1), of_modes(m->tally[i][TALLY_ALL], s->modes));
	}
	if (s->tally < TALLIES)
		invariant_witness(TALLIES_ARE_WHAT_WENT_IN, pic0 && pic1);
	if (s->tally == TALLIES) {
		SAME(EVENTS_ARE_THE_TRUTH, pic0, events[s->all].truth(truth(&r)));
		assert_int_equal(pic1, pic0);
		of_event[s->all] += pic0;
	}
}

static void check_controllers(const struct niagara_truth *t, const struct selection *s)
{
	for (uint32_t node = 0; !r.kind->mmustat && node < r.kind->nodes; node++)
		for (uint32_t mcu = 0; mcu < 2; mcu++) {
			const uint64_t reads = t->mcu_reads[node][mcu], writes = t->mcu_writes[node][mcu];
			const uint64_t by_code[3] = { reads, writes, reads + writes };

			SAME(CONTROLLERS_ARE_THE_TRUTH, get(&r, 0, 3 + 4 * node + 2 * mcu),
			     by_code[s->mcu[0]] << 32 | by_code[s->mcu[1]]);
		}
}

/* Over all ports of a hub; through registers the two that were chosen, and the rest as it is inside. */
static uint64_t hub_count_ports(uint32_t zam, uint32_t code)
{
	uint64_t n = 0;

	for (uint32_t port = 0; port < 4; port++)
		n += now_of(&r.n->zambezi[zam].lpu[port][code]);
	return n;
}

static void check_hub(uint32_t zam, const struct selection *s)
{
	const uint64_t others = r.kind->nodes - 1u, asked = hub_count_ports(zam, 0x21),
		       replies = hub_count_ports(zam, 0x28), plane = truth(&r)->plane[zam];
	const uint64_t c2c = hub_count_ports(zam, 2) + hub_count_ports(zam, 6) + hub_count_ports(zam, 10),
		       wb = hub_count_ports(zam, 0x22);

	SAME(PORTS_ARE_THE_PLANE, asked + wb, plane);
	SAME(REQUESTS_BY_KIND, hub_count_ports(zam, 0x0f) + hub_count_ports(zam, 0x11) + hub_count_ports(zam, 0x12),
	     asked);
	SAME(WRITEBACKS_BY_KIND, hub_count_ports(zam, 0x0e), wb);
	SAME(WRITEBACKS_GO_HOME, hub_count_ports(zam, 0x15), wb);
	SAME(WRITEBACKS_BRING_DATA, hub_count_ports(zam, 4) + hub_count_ports(zam, 8) + hub_count_ports(zam, 12), wb);
	SAME(INVALIDATIONS_GO_OUT, hub_count_ports(zam, 0x16), others * hub_count_ports(zam, 0x0f));
	SAME(OWNERSHIPS_GO_OUT, hub_count_ports(zam, 0x17), others * hub_count_ports(zam, 0x11));
	SAME(SHARES_GO_OUT, hub_count_ports(zam, 0x19), others * hub_count_ports(zam, 0x12));
	SAME(REQUESTS_ARE_REPLIED_TO, hub_count_ports(zam, 0x27), asked);
	SAME(ALL_OTHERS_REPLY, replies, others * asked);
	SAME(REPLIES_BY_STATE,
	     hub_count_ports(zam, 0x1c) + hub_count_ports(zam, 0x1d) + hub_count_ports(zam, 0x1e) +
		     hub_count_ports(zam, 0x20),
	     replies);
	SAME(REPLIES_BY_HIT, hub_count_ports(zam, 0x24) + hub_count_ports(zam, 0x25), replies);
	SAME(REPLIES_WITH_AND_WITHOUT_DATA, hub_count_ports(zam, 0x23) + c2c, replies);
	for (uint32_t port = 0; port < 4; port++)
		for (uint32_t pic = 0; pic < 2; pic++)
			SAME(PORTS_SHOW_WHAT_IS_CHOSEN, get(&r, 0, 19 + 18 * zam + 3 * port + pic),
			     now_of(&r.n->zambezi[zam].lpu[port][s->zam[pic]]));
	SAME(SERIALIZER_COUNTS_THE_PLANE, get(&r, 0, 34 + 18 * zam), plane);
	SAME(SERIALIZER_COUNTS_THE_PLANE, get(&r, 0, 35 + 18 * zam), plane);
	SAME(WHO_WAITS_IS_WOKEN, now_of(&r.n->zambezi[zam].asu[4]), now_of(&r.n->zambezi[zam].asu[5]));
}

/* Data that comes over the hubs is what other caches and remote memories served. */
static void check_hubs(const struct niagara_truth *t, const struct selection *s)
{
	uint64_t c2c = 0, mem = 0;

	for (uint32_t zam = 0; zam < PLANES; zam++) {
		for (uint32_t k = 0; k < 3; k++) {
			c2c += hub_count_ports(zam, 2 + 4 * k);
			mem += hub_count_ports(zam, 3 + 4 * k);
		}
		if (r.kind->zambezis && r.kind->nodes > 1)
			check_hub(zam, s);
		for (uint32_t code = 0; !(r.kind->zambezis && r.kind->nodes > 1) && code < LPU_EVENTS; code++)
			SAME(ONE_NODE_ASKS_NO_HUB, hub_count_ports(zam, code), 0);
		for (uint32_t port = r.kind->nodes; port < 4; port++) /* empty sockets */
			for (uint32_t code = 0; code < LPU_EVENTS; code++)
				SAME(EMPTY_SOCKETS_ARE_SILENT, now_of(&r.n->zambezi[zam].lpu[port][code]), 0);
	}
	if (r.kind->zambezis && r.kind->nodes > 1) {
		SAME(DATA_OF_CACHES, c2c, t->served[2]);
		SAME(DATA_OF_MEMORIES, mem, t->served[1]);
	} else {
		assert_int_equal(c2c + mem, 0);
	}
}

static void give_buffers(void)
{
	for (uint32_t i = 0; r.kind->mmustat && i < r.strands; i++) {
		uint64_t o[6] = { RAM_BASE + i * MMUSTAT_BYTES, 0, 0, 0, 0, SUN4V_MMUSTAT_CONF };

		assert_true(sun4v_call(r.v[i], HV_FAST_TRAP, o));
		assert_int_equal(o[0], HV_EOK);
	}
}

static void all_invariants_hold_over_a_thousand_random_loads(void **state)
{
	uint64_t served[3] = { 0 }, slots[16] = { 0 }, of_event[COUNT(events)] = { 0 };

	(void)state;
	for (uint64_t seed = 0; seed < LOADS; seed++) {
		const uint32_t k = seed % COUNT(machines);
		const struct niagara_truth *t;
		struct selection s;
		struct mix m;

		rig_open(&r, machines[k].name, machines[k].sockets, (struct niagara_opts){ 0 });
		m = random_mix(seed);
		t = truth(&r);
		select_all(&m, &s);
		give_buffers();
		for (uint32_t half = 0; half < 2; half++) {
			put_in(&m, REFS / 2);
			check_memory(t);
			check_nodes(t);
			check_translations(t);
			check_strands(&m, &s, of_event);
			check_controllers(t, &s);
			check_hubs(t, &s);
		}
		if (r.kind->mmustat)
			check_buffers(t, slots);
		if (seed % 10 == 0)
			check_states();
		if (seed % 100 == 0)
			check_inclusion();
		for (uint32_t i = 0; i < 3; i++)
			served[i] += t->served[i];
		rig_close(&r);
	}
	no_invariant_was_empty();
	assert_true(served[0] > 100000 && served[1] > 100000 && served[2] > 10000);
	for (uint32_t i = 0; i < COUNT(slots); i++)
		assert_true(slots[i] > 0);
	for (uint32_t i = 0; i < COUNT(events); i++)
		assert_true(of_event[i] > 0);
}

/* ---- registers that are written and chosen anew under way ------------------------------------ */

/* A second machine with the same references, whose counters nobody touches, says what was to be added meanwhile. */
static void writes_and_new_selections_settle_under_way(void **state)
{
	static struct rig still;
	struct niagara_ref x[40];

	(void)state;
	for (uint64_t seed = 0; seed < 40; seed++) {
		const uint32_t modes = ALL_MODES, code[2] = { 0x302, 0x2fd };
		uint64_t want[2] = { 0 }, was[2] = { 0 };
		uint32_t selected[2] = { 0, 1 };
		struct mix m;

		rig_open(&still, "batoka", 2, (struct niagara_opts){ 0 });
		rig_open(&r, "batoka", 2, (struct niagara_opts){ 0 });
		m = random_mix(seed);
		set_pcr(&still, 0, pcr_of(code[0], code[1], modes));
		set_pcr(&r, 0, pcr_of(code[0], code[1], modes));
		for (uint32_t step = 0; step < 60; step++) {
			for (uint32_t i = 0; i < COUNT(x); i++) {
				x[i] = random_ref(&m);
				x[i].strand = 0;
			}
			niagara_refs(still.n, x, COUNT(x));
			niagara_refs(r.n, x, COUNT(x));
			for (uint32_t pic = 0; pic < 2; pic++) {
				want[pic] += get_pic(&still, 0, selected[pic]) - was[selected[pic]];
				assert_int_equal(get_pic(&r, 0, pic), (uint32_t)want[pic]);
			}
			was[0] = get_pic(&still, 0, 0);
			was[1] = get_pic(&still, 0, 1);
			if (mix_random(&m) % 2) {
				want[0] = (uint32_t)mix_random(&m);
				want[1] = UINT32_MAX - mix_random(&m) % 100;
				assert_true(sun4v_asr_write(r.v[0], 0x11, want[1] << 32 | want[0]));
			}
			if (mix_random(&m) % 2) {
				selected[0] = mix_random(&m) % 2;
				selected[1] = mix_random(&m) % 2;
				set_pcr(&r, 0, pcr_of(code[selected[0]], code[selected[1]], modes));
			}
		}
		rig_close(&still);
		rig_close(&r);
	}
}

/* Misses by class, as a node's PERF_CONFIG changes: each is counted in the class that was chosen when it happened. */
static void classes_add_up_to_all_misses(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < 30; seed++) {
		uint64_t by_class[4] = { 0 };

		for (uint64_t class = 0; class < 4; class ++) {
			struct mix m;

			rig_open(&r, "batoka", 4, (struct niagara_opts){ 0 });
			m = random_mix(seed);
			for (uint32_t i = 0; i < r.strands; i++) {
				set_pcr(&r, i, pcr_of(0x320, 0x310, ALL_MODES));
				set(&r, i, 1, class);
			}
			put_in(&m, REFS);
			for (uint32_t i = 0; i < r.strands; i++)
				by_class[class] += get_pic(&r, i, 0) + get_pic(&r, i, 1);
			if (class == 0)
				assert_int_equal(by_class[0], truth(&r)->l2_imiss + truth(&r)->l2_dmiss_ld);
			rig_close(&r);
		}
		assert_int_equal(by_class[1] + by_class[2] + by_class[3], by_class[0]);
	}
}

/* ---- the same again -------------------------------------------------------------------------- */

enum { WORDS_MOST = MOST_STRANDS * (VF_REGS + 1) };
struct picture {
	struct niagara_truth truth;
	uint64_t clock, word[WORDS_MOST];
	uint64_t ram[MOST_STRANDS][MMUSTAT_BYTES / 8];
};
static struct picture first, second;

/* All registers of all strands. */
static void take_picture(struct picture *p)
{
	uint64_t *w = p->word;

	memset(p, 0, sizeof(*p));
	p->truth = *truth(&r);
	p->clock = niagara_now(r.n);
	memcpy(p->ram, r.ram, sizeof(p->ram));
	for (uint32_t i = 0; i < r.strands; i++) {
		assert_true(sun4v_asr_read(r.v[i], 0x11, w++));
		for (uint32_t reg = 0; reg < VF_REGS; reg++)
			*w++ = niagara_ops.reg_read(r.n, i, &vf_regs[reg]);
	}
}

static void run_load(const char *machine, const char *load, uint64_t seed, uint64_t step, struct picture *p)
{
	struct selection s;
	struct mix m;

	rig_open(&r, machine, 0, (struct niagara_opts){ .load = load, .seed = seed });
	m = random_mix(1);
	select_all(&m, &s);
	give_buffers();
	for (uint64_t at = step; at < 30000; at += step)
		niagara_run(r.n, at);
	niagara_run(r.n, 30000);
	take_picture(p);
	rig_close(&r);
}

/* Also however often the machine is stopped to look at it. */
static void the_same_seed_gives_the_same_counters_byte_for_byte(void **state)
{
	static const char *const on[] = { "niagara", "maramba", "batoka" };
	const struct niagara_load *l;

	(void)state;
	for (uint32_t k = 0; k < COUNT(on); k++)
		for (uint32_t i = 0; (l = niagara_load_at(i)) != NULL; i++) {
			run_load(on[k], l->name, 7, 30000, &first);
			run_load(on[k], l->name, 7, 30000, &second);
			assert_memory_equal(&first, &second, sizeof(first));
			run_load(on[k], l->name, 7, 777, &second);
			assert_memory_equal(&first, &second, sizeof(first));
		}
}

/* FNV-1a of the registers, buffers and truth after 30,000 cycles from seed 7: from any compiler, today and tomorrow. */
static uint64_t print_of(const struct picture *p)
{
	const uint8_t *at = (const uint8_t *)p;
	uint64_t h = UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < sizeof(*p); i++)
		h = (h ^ at[i]) * UINT64_C(0x100000001b3);
	return h;
}

static void the_counters_of_the_named_loads_are_what_they_always_were(void **state)
{
	static const struct {
		const char *machine, *load;
		uint64_t print;
	} rows[] = {
		{ "niagara", "stream", UINT64_C(0x95afdd5cb4c467f9) },
		{ "niagara", "random", UINT64_C(0x5bd93ff9953c30ac) },
		{ "niagara", "chase", UINT64_C(0x84b9e29f224817cc) },
		{ "niagara", "pingpong", UINT64_C(0x8ebba05984ba19b2) },
		{ "niagara", "producer", UINT64_C(0x3538111d3686f3fe) },
		{ "niagara", "compute", UINT64_C(0xf2408bae2462b173) },
		{ "niagara", "mixed", UINT64_C(0xc5c0fa014d9d877a) },
		{ "maramba", "stream", UINT64_C(0x3297a70952121485) },
		{ "maramba", "random", UINT64_C(0x0e340f4b7883c600) },
		{ "maramba", "chase", UINT64_C(0x3d7c61addf8358d7) },
		{ "maramba", "pingpong", UINT64_C(0xc48c8898453c71ef) },
		{ "maramba", "producer", UINT64_C(0xbdd63faec06c3e98) },
		{ "maramba", "compute", UINT64_C(0x9d90a076c5c506ab) },
		{ "maramba", "mixed", UINT64_C(0x9794f55f4197f281) },
		{ "batoka", "stream", UINT64_C(0xc81e4d316f9e0792) },
		{ "batoka", "random", UINT64_C(0xbd81960ca2c7f872) },
		{ "batoka", "chase", UINT64_C(0xe8ef407a1e54b9e2) },
		{ "batoka", "pingpong", UINT64_C(0x1562cb52370e62e5) },
		{ "batoka", "producer", UINT64_C(0x4d6ac9780b18a0d0) },
		{ "batoka", "compute", UINT64_C(0xfca64a348af7cfe2) },
		{ "batoka", "mixed", UINT64_C(0xff60eee47c199213) },
	};

	(void)state;
	for (uint32_t i = 0; i < COUNT(rows); i++) {
		run_load(rows[i].machine, rows[i].load, 7, 30000, &first);
		if (print_of(&first) != rows[i].print)
			fail_msg("%s, load %s: 0x%016lx", rows[i].machine, rows[i].load, print_of(&first));
	}
}

/* SPARC traps on others. Stores of stream and references of mixed were not. */
static void references_of_the_named_loads_are_aligned(void **state)
{
	(void)state;
	for (uint32_t i = 0; niagara_load_at(i); i++) {
		rig_open(&r, "batoka", 4, (struct niagara_opts){ .load = niagara_load_at(i)->name });
		for (uint32_t k = 0; k < 20000; k++) {
			struct niagara_ref x;

			r.n->next(r.n, &r.n->worker[k % r.n->nworkers], &x);
			if (x.va % x.bytes)
				fail_msg("%s: %u bytes at 0x%lx", niagara_load_at(i)->name, x.bytes, x.va);
		}
		rig_close(&r);
	}
}

/* Node 0 has modified lines of plane 0, and strands of the other nodes read them, all at once. Returns the cycles that
 * took. */
static uint64_t read_from_caches(uint32_t readers, uint32_t lines)
{
	uint64_t from = 0, until = 0;

	rig_open(&r, "batoka", 4, (struct niagara_opts){ 0 });
	for (uint32_t i = 0; i < readers * lines; i++)
		ref(&r, NIAGARA_STORE, 0, PAGES(4M) | (i % 64 * 64 + (uint64_t)(i / 64) * 16384));
	for (uint32_t i = 0; i < readers; i++) /* they have their pages */
		ref(&r, NIAGARA_LOAD, (uint16_t)(64 + i), PAGES(4M) | 3 * GB);
	for (uint32_t i = 0; i < readers; i++)
		from = now_of(&r.n->strand[64 + i].cycles) > from ? now_of(&r.n->strand[64 + i].cycles) : from;
	for (uint32_t k = 0; k < lines; k++)
		for (uint32_t i = 0; i < readers; i++) {
			const uint64_t line = (uint64_t)k * readers + i;

			ref(&r, NIAGARA_LOAD, (uint16_t)(64 + i), PAGES(4M) | (line % 64 * 64 + line / 64 * 16384));
		}
	for (uint32_t i = 0; i < readers; i++)
		until = now_of(&r.n->strand[64 + i].cycles) > until ? now_of(&r.n->strand[64 + i].cycles) : until;
	return until - from;
}

/* 14 lanes of 4.0 Gb/s each way are 7 GB/s, whatever 192 strands ask for: it was eleven times that. */
static void a_link_carries_no_more_than_its_lanes_do(void **state)
{
	uint64_t alone, together, sent;

	(void)state;
	alone = read_from_caches(1, 40);
	assert_int_equal(truth(&r)->served[2], 40);
	rig_close(&r);
	together = read_from_caches(192, 40);
	sent = truth(&r)->served[2];
	assert_true(sent > 192 * 40 * 9 / 10);
	assert_true((double)sent * 64 <= 7e9 * (double)(together + 2048) / NIAGARA_HZ);
	assert_true(together > 3 * alone); /* who waits takes longer for an instruction */
	rig_close(&r);
}

static void another_seed_gives_others_where_there_is_chance(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 2; i++) {
		const char *load = i ? "random" : "mixed";

		run_load("batoka", load, 1, 30000, &first);
		run_load("batoka", load, 2, 30000, &second);
		assert_memory_not_equal(&first, &second, sizeof(first));
		run_load("batoka", load, 0, 30000, &second); /* 0 is 1 */
		assert_memory_equal(&first, &second, sizeof(first));
	}
}

static void the_same_references_give_the_same_however_they_are_handed_over(void **state)
{
	static struct niagara_ref x[3000];

	(void)state;
	for (uint32_t way = 0; way < 2; way++) {
		struct mix m;

		rig_open(&r, "batoka", 3, (struct niagara_opts){ 0 });
		m = random_mix(3);
		for (uint32_t i = 0; i < COUNT(x); i++)
			x[i] = random_ref(&m);
		for (uint32_t i = 0, n; i < COUNT(x); i += n) {
			n = way ? 1 + i % 97 : COUNT(x);
			n = n < COUNT(x) - i ? n : (uint32_t)COUNT(x) - i;
			niagara_refs(r.n, x + i, n);
		}
		take_picture(way ? &second : &first);
		rig_close(&r);
	}
	assert_memory_equal(&first, &second, sizeof(first));
}

static void core_forget(struct core *c)
{
	memset(c->note, 0, sizeof(c->note));
	memset(c->store_note, 0, sizeof(c->store_note));
}

/* What cores note makes hits cheap, and nothing else: a machine that forgets before every reference shows the same. */
static void notes_change_nothing_but_the_speed(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < 40; seed++) {
		for (uint32_t forgetful = 0; forgetful < 2; forgetful++) {
			struct selection s;
			struct mix m;

			rig_open(&r, machines[seed % COUNT(machines)].name, machines[seed % COUNT(machines)].sockets,
				 (struct niagara_opts){ 0 });
			m = random_mix(seed);
			select_all(&m, &s);
			for (uint32_t i = 0; i < REFS; i++) {
				const struct niagara_ref x = random_ref(&m);

				if (forgetful)
					core_forget(r.n->strand[x.strand].core);
				niagara_refs(r.n, &x, 1);
			}
			take_picture(forgetful ? &second : &first);
			rig_close(&r);
		}
		assert_memory_equal(&first, &second, sizeof(first));
	}
}

/* ---- what the loads are for ------------------------------------------------------------------ */

static double share_of(uint64_t part, uint64_t whole)
{
	return whole ? (double)part / (double)whole : 0;
}

static const struct niagara_truth *truth_after(const char *machine, const char *load, uint64_t cycles)
{
	rig_open(&r, machine, 0, (struct niagara_opts){ .load = load });
	niagara_run(r.n, cycles);
	return truth(&r);
}

static void loads_did_not_match_their_descriptions(void **state)
{
	const struct niagara_truth *t;

	(void)state;
	t = truth_after("batoka", "compute", 300000);
	assert_true(share_of(counts_sum(t->served, 3), counts_sum(t->refs, 4)) < 0.03);
	rig_close(&r);
	t = truth_after("batoka", "stream", 300000); /* its own node's memory */
	assert_true(share_of(t->served[0], counts_sum(t->served, 3)) > 0.9 && t->l2_miss_store > 1000 &&
		    t->l2_dmiss_ld > 1000);
	rig_close(&r);
	t = truth_after("batoka", "random", 300000); /* all nodes' */
	assert_true(share_of(t->served[1], counts_sum(t->served, 3)) > 0.5);
	rig_close(&r);
	t = truth_after("maramba", "pingpong", 300000);
	assert_true(share_of(t->served[2], counts_sum(t->served, 3)) > 0.9);
	rig_close(&r);
	t = truth_after("batoka", "producer", 2000000);
	assert_true(share_of(t->served[2], t->l2_dmiss_ld) > 0.5);
	rig_close(&r);
	t = truth_after("niagara", "chase", 3000000);
	assert_true(t->dtlb_miss > t->refs[NIAGARA_LOAD] / 2 && counts_sum(&t->tsb_hit[1][0][0], 8) > 1000 &&
		    t->tsb_miss > 1000);
	rig_close(&r);
	t = truth_after("niagara", "mixed", 100000);
	for (uint32_t k = 0; k < MMUSTAT_SIZES; k++)
		assert_true(t->dtlb_miss > 0 && t->itlb_miss > 0);
	assert_true(t->permanent_hit > 0 && t->refs[NIAGARA_ATOMIC] > 0);
	rig_close(&r);
}

struct touched {
	uint64_t least, end, lines; /* of one node's memory; lines of 64 bytes */
	uint64_t refs[4];           /* by kind, whichever memory */
};

/* What the next references of a worker touch: data, not code. */
static struct touched touched_by(uint32_t worker, uint32_t refs, uint64_t node)
{
	static uint8_t seen[GB / 64];
	struct touched t = { .least = UINT64_MAX };

	memset(seen, 0, sizeof(seen));
	for (uint32_t i = 0; i < refs; i++) {
		struct niagara_ref x;
		uint64_t at;

		r.n->next(r.n, &r.n->worker[worker], &x);
		t.refs[x.kind]++;
		at = x.va % GB;
		if (x.kind == NIAGARA_FETCH || x.va / GB % 4 != node)
			continue;
		t.least = at < t.least ? at : t.least;
		t.end = at + x.bytes > t.end ? at + x.bytes : t.end;
		t.lines += !seen[at / 64];
		seen[at / 64] = 1;
	}
	return t;
}

static void open_named(const char *machine, const char *load)
{
	rig_open(&r, machine, 0, (struct niagara_opts){ .load = load });
}

static void loads_touched_other_memory_than_their_descriptions_say(void **state)
{
	struct touched t, u;

	(void)state;
	open_named("batoka", "stream");
	/* "copies 16 MB of its own node's memory": it reads as much, and writes as much */
	t = touched_by(7, 5u << 20, 3);
	assert_int_equal(t.end - t.least, 32 * MB);
	assert_int_equal(t.lines, 32 * MB / 64);
	assert_uint_in_range(t.refs[NIAGARA_LOAD] - t.refs[NIAGARA_STORE] + 1, 0, 2);
	rig_close(&r);
	open_named("batoka", "random"); /* "reads (3 of 4) and writes at random, in the same 64 MB of each node" */
	for (uint64_t node = 0; node < 4; node++) {
		t = touched_by(0, 1u << 20, node);
		assert_true(t.end - t.least <= 64 * MB && t.end - t.least > 63 * MB);
		assert_true(t.lines > 180000); /* of a million, by 210,000 references */
		assert_uint_in_range(t.refs[NIAGARA_LOAD] * 1000 / t.refs[NIAGARA_STORE], 2950, 3050);
	}
	rig_close(&r);
	open_named("niagara", "chase"); /* "follows pointers through the same 32 MB of its node": all lines in turn */
	t = touched_by(0, (1u << 19) / 4 * 5, 0);
	u = touched_by(3, (1u << 19) / 4 * 5, 0);
	assert_true(t.least == u.least && t.end - t.least >= 32 * MB - 64 && t.end - t.least <= 32 * MB);
	assert_true(t.lines == 1u << 19 && u.lines == 1u << 19);
	rig_close(&r);
	open_named("maramba", "pingpong"); /* "two strands [...] read and write the same 16 lines" */
	assert_int_equal(r.n->nworkers, 2);
	t = touched_by(0, 1000, 0);
	u = touched_by(1, 1000, 0);
	assert_true(r.n->worker[0].node != r.n->worker[1].node);
	assert_true(t.lines == 16 && u.lines == 16 && t.least == u.least && t.end == u.end);
	assert_true(t.refs[NIAGARA_LOAD] > 300 && t.refs[NIAGARA_STORE] > 300);
	rig_close(&r);
	open_named("batoka", "producer"); /* "one fills a buffer of 1 MB, the other reads it" */
	t = touched_by(0, 1u << 18, 0);
	u = touched_by(1, 1u << 18, 0);
	assert_true(r.n->nworkers == 2 && r.n->worker[0].node != r.n->worker[1].node);
	assert_true(t.lines == MB / 64 && u.lines == MB / 64 && t.least == u.least && t.end == u.end);
	assert_true(!t.refs[NIAGARA_LOAD] && !u.refs[NIAGARA_STORE]);
	rig_close(&r);
	open_named("batoka", "compute"); /* "loops over 2 KB a strand" */
	t = touched_by(5, 10000, 2);
	assert_true(t.end - t.least <= 2048 && t.lines == 2048 / 64);
	rig_close(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_invariants_hold_over_a_thousand_random_loads),
		cmocka_unit_test(writes_and_new_selections_settle_under_way),
		cmocka_unit_test(classes_add_up_to_all_misses),
		cmocka_unit_test(the_same_seed_gives_the_same_counters_byte_for_byte),
		cmocka_unit_test(the_counters_of_the_named_loads_are_what_they_always_were),
		cmocka_unit_test(references_of_the_named_loads_are_aligned),
		cmocka_unit_test(a_link_carries_no_more_than_its_lanes_do),
		cmocka_unit_test(another_seed_gives_others_where_there_is_chance),
		cmocka_unit_test(the_same_references_give_the_same_however_they_are_handed_over),
		cmocka_unit_test(notes_change_nothing_but_the_speed),
		cmocka_unit_test(loads_did_not_match_their_descriptions),
		cmocka_unit_test(loads_touched_other_memory_than_their_descriptions_say),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
