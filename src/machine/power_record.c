/*
 * power_record.c: the records of each request, from the machine's state.
 *
 * Values stand in the order of the field rows of facts/gpci.def. Requests about parts that this machine does not have
 * (GX links, TLBIE) are not available.
 */
#include "machine/power_int.h"

#include <assert.h>

#define PVR UINT64_C(0x004e1202)
#define THREADS 8u /* of a core: the step of the PIR */
#define FRAME 64u  /* bytes of a frame of a memory controller */
#define ELEMENT_BYTES 28u
enum { CAPABILITY_GENERAL = 0x80, CAPABILITY_EXPANDED = 0x40, CAPABILITY_LAB = 0x20 };

#define SPARSE_FIRST 16u /* hardware ids of such a machine: 16, 20, 24 ... */
#define SPARSE_STEP 4u

static uint64_t hw_id(const struct power *p, uint32_t core)
{
	return p->hw_ids_differ ? core * SPARSE_STEP + SPARSE_FIRST : core;
}

static bool record_core_installed(const struct pcore *c)
{
	return c->state != POWER_NOT_INSTALLED;
}

/* ---- processors ---------------------------------------------------------------------------------------- */

static void dispatch_purr(const struct power *p, uint32_t i, uint64_t *v)
{
	const struct pcore *c = &p->core[i];
	const bool is = record_core_installed(c);

	v[0] = c->time;
	v[1] = hw_id(p, i);
	v[2] = c->owner;
	v[3] = c->state;
	v[4] = v[5] = is ? c->chip : NONE; /* a module has one chip */
	v[6] = p->chip[c->chip].node;
	v[7] = c->chip;
	v[8] = is ? PVR : NONE;
	v[9] = c->logical;
	v[10] = i * THREADS;
	v[11] = i;
}

static void processor_config(const struct power *p, uint32_t i, uint64_t *v)
{
	const struct pcore *c = &p->core[i];
	const bool is = record_core_installed(c);

	v[0] = i;
	v[1] = p->chip[c->chip].node;
	v[2] = 0; /* a node has one card */
	v[3] = v[4] = is ? c->chip : NONE;
	v[5] = hw_id(p, i);
	v[6] = i * THREADS;
	v[7] = c->state;
	v[8] = c->owner;
	v[9] = is ? PVR : NONE;
}

/* One thread of a core at a time: what any of them ran is what all ran. */
static void core_utilization(const struct power *p, uint32_t i, uint64_t *v)
{
	const struct pcore *c = &p->core[i];

	v[0] = i;
	v[1] = hw_id(p, i);
	v[2] = v[5] = c->cycles;
	v[3] = p->now;
	v[4] = c->time;
	v[6] = c->instructions;
}

static void record_put_hpmc(const struct power *p, uint32_t i, uint64_t *v)
{
	const struct hpmc *h = &p->hpmc[i];

	v[0] = hw_id(p, i);
	v[1] = p->mmcrh;
	v[2] = p->published.mmcrh_elapsed;
	v[3] = h->programmed[0];
	v[4] = h->programmed[1];
	v[5] = h->now3 - h->base3;
	v[6] = h->now3;
	v[7] = h->now4 - h->base4;
	v[8] = h->now4;
}

/* ---- partitions ------------------------------------------------------------------------------------------ */

static void run_instructions(const struct ppart *q, uint64_t *v)
{
	v[0] = q->c.id;
	v[1] = q->run_instructions;
	v[2] = q->run_cycles;
}

static void affinity_by_vp(const struct power *p, const struct ppart *q, uint32_t vp_index, uint64_t *v)
{
	const struct pvp *vp = &q->vp[vp_index];

	v[0] = q->c.id;
	v[1] = vp_index;
	v[2] = vp->last;
	v[3] = p->chip[p->core[vp->home].chip].node;
	v[4] = p->core[vp->home].chip;
}

/* Hundredths of cores that partition q has on a chip: its own cores; shared ones where it is at home. */
static uint32_t units_on(const struct power *p, const struct ppart *q, uint32_t chip)
{
	uint32_t n = 0, all = q->c.entitlement;

	if (!q->c.dedicated && !q->c.spread)
		return chip == q->c.home ? all : 0;
	if (!q->c.dedicated)
		return all / p->nchips + (chip < all % p->nchips);
	for (uint32_t v = 0; v < q->c.vps; v++)
		n += p->core[q->vp[v].home].chip == chip;
	return n * 100;
}

/* The domains that it has processors or memory in. */
static uint32_t record_domain_elements(const struct power *p, const struct ppart *q, struct gpci_element *e)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < p->nchips; i++) {
		uint32_t units = units_on(p, q, i);

		if (units || q->memory->lmbs[i])
			e[n++] = (struct gpci_element){ p->chip[i].node,
							(uint16_t)i,
							{ q->c.dedicated ? units : 0, q->c.dedicated ? 0 : units,
							  q->memory->lmbs[i], 0 } };
	}
	return n;
}

/* Of 100 accesses from anywhere of its processors to anywhere of its memory, those that stay on their chip. */
static uint32_t record_affinity_score(const struct ppart *q, const struct gpci_element *e, uint32_t n)
{
	uint64_t near = 0, units = q->c.dedicated ? q->c.vps * 100u : q->c.entitlement;

	for (uint32_t i = 0; i < n; i++)
		near += (uint64_t)(e[i].units[0] + e[i].units[1]) * e[i].units[2];
	return (uint32_t)(near * 100 / (units * q->c.memory_lmbs));
}

static uint32_t nodes_of(const struct gpci_element *e, uint32_t n)
{
	uint32_t nodes = 1;

	for (uint32_t i = 1; i < n; i++)
		nodes += e[i].primary != e[i - 1].primary;
	return nodes;
}

enum { SPREAD_CHIP = 0, SPREAD_NODE = 3, SPREAD_SYSTEM = 5 }; /* the scale is the model's own */

static uint32_t affinity_by_partition(const struct power *p, const struct ppart *q, struct gpci_values *v)
{
	uint32_t n = record_domain_elements(p, q, v->element);

	v->v[0] = q->c.id;
	v->v[1] = q->order;
	v->v[2] = n == 1 ? SPREAD_CHIP : nodes_of(v->element, n) == 1 ? SPREAD_NODE : SPREAD_SYSTEM;
	v->v[3] = record_affinity_score(q, v->element, n);
	v->v[4] = n;
	v->v[5] = ELEMENT_BYTES;
	return n;
}

/* ---- chips and domains ----------------------------------------------------------------------------------- */

static void record_put_links(const struct power *p, uint32_t chip, uint64_t *v, uint32_t first, uint32_t n, bool total)
{
	const struct collected *c = &p->published;

	v[0] = chip;
	if (total) { /* one time for all of them */
		v[1] = c->time;
		for (uint32_t l = 0; l < n; l++)
			v[2 + l] = c->idle[chip][first + l];
		return;
	}
	for (uint32_t l = 0; l < n; l++) {
		v[1 + 2 * l] = c->idle[chip][first + l];
		v[2 + 2 * l] = c->time;
	}
}

static void links_mc(const struct power *p, uint32_t chip, uint64_t *v)
{
	const struct collected *c = &p->published;

	v[0] = chip;
	for (uint32_t m = 0; m < CONTROLLERS; m++) {
		v[2 + 4 * m] = c->reads[chip][m] / FRAME;
		v[3 + 4 * m] = c->writes[chip][m] / FRAME;
		v[1 + 4 * m] = v[2 + 4 * m] + v[3 + 4 * m];
		v[4 + 4 * m] = c->time;
	}
}

static void bus_topology(const struct power *p, uint32_t chip, uint64_t *v)
{
	const struct pchip *c = &p->chip[chip];
	uint64_t mask = 3u << 24;

	for (uint32_t l = 0; l < LINKS; l++)
		if (c->link[l].wired)
			mask |= UINT64_C(1) << (l < LINK_W ? l : 8 + l - LINK_W);
	v[0] = chip;
	v[1] = c->node;
	v[2] = c->fabric;
	v[3] = mask;
	for (uint32_t l = 0; l < 2; l++)
		v[4 + l] = c->link[l].wired ? p->chip[c->link[l].peer].node : NONE;
	for (uint32_t l = 0; l < 4; l++)
		v[6 + l] = c->link[LINK_W + l].wired ? p->chip[c->link[LINK_W + l].peer].fabric : NONE;
}

/* Hundredths of a chip's shared cores that nobody was promised; what does not fit on one chip takes from the first that
 * has room. */
static uint64_t free_units(const struct power *p, uint32_t chip)
{
	uint64_t shared[CHIPS_MOST] = { 0 }, promised[CHIPS_MOST] = { 0 }, over = 0;

	for (uint32_t i = 0; i < p->ncores; i++)
		shared[p->core[i].chip] += p->core[i].state == POWER_SHARED ? 100 : 0;
	for (uint32_t i = 0; i < p->nparts; i++)
		for (uint32_t c = 0; c < p->nchips; c++)
			promised[c] += p->part[i].c.dedicated ? 0 : units_on(p, &p->part[i], c);
	for (uint32_t c = 0; c < p->nchips; c++)
		if (promised[c] > shared[c]) {
			over += promised[c] - shared[c];
			promised[c] = shared[c];
		}
	for (uint32_t c = 0; c < p->nchips; c++) {
		uint64_t room = shared[c] - promised[c], n = over < room ? over : room;

		promised[c] += n;
		over -= n;
	}
	return shared[chip] - promised[chip];
}

static void affinity_by_domain(const struct power *p, uint32_t chip, uint64_t *v)
{
	uint64_t units = 0, home = 0, left = free_units(p, chip);

	for (uint32_t i = 0; i < p->ncores; i++)
		units += p->core[i].chip == chip && p->core[i].state >= POWER_SHARED ? 100 : 0;
	for (uint32_t i = 0; i < p->nparts; i++)
		home += units_on(p, &p->part[i], chip) || p->part[i].memory->lmbs[chip];
	v[0] = p->chip[chip].node;
	v[1] = chip;
	v[2] = units;
	v[3] = left / 100 * 100; /* whole cores */
	v[4] = left;
	v[5] = p->chip[chip].lmbs;
	v[6] = p->chip[chip].free_lmbs;
	v[7] = home;
}

/* ---- the system ------------------------------------------------------------------------------------------ */

static struct papr_rights record_rights(void *arg, uint16_t partition)
{
	const struct ppart *q = power_part(arg, partition);

	return q ? q->c.rights : (struct papr_rights){ 0 };
}

static void record_put_capabilities(const struct power *p, uint16_t partition, uint64_t *v)
{
	struct papr_rights r = record_rights((void *)p, partition);

	v[0] = r.all;
	v[1] = CAPABILITY_GENERAL | (r.expanded ? CAPABILITY_EXPANDED : 0) | (r.lab ? CAPABILITY_LAB : 0);
}

/* The machine as a whole: one record, id 0; what it lets the caller have is the caller's. */
/* papr.c asks for no request that record_has_request() denies, so a row of gpci.def came without its record here. */
static int record_unmodelled(const struct gpci_request *r)
{
	(void)r;
	assert(!"each request of facts/gpci.def that this machine has is a case of power_record.c");
	return 0;
}

static int system_record(const struct power *p, uint16_t partition, const struct gpci_request *r, bool self,
			 uint64_t from, struct gpci_values *v)
{
	v->id = r->number == GPCI_REQUEST_capabilities ? partition : 0;
	if (!self && from)
		return 0;
	switch (r->number) {
	case GPCI_REQUEST_capabilities:
		record_put_capabilities(p, partition, v->v);
		break;
	case GPCI_REQUEST_physical_memory:
		v->v[0] = LMB_BYTES;
		break;
	case GPCI_REQUEST_hypervisor_times:
		memcpy(v->v, p->hypervisor, sizeof(p->hypervisor));
		break;
	default:
		return record_unmodelled(r);
	}
	return 1;
}

/* ---- which record ---------------------------------------------------------------------------------------- */

/* The core a caller's virtual processor runs on, or ran on last. NONE: its partition has no such one. */
static uint64_t own_core(const struct power *p, struct papr_caller who)
{
	const struct ppart *q = power_part(p, who.partition);
	const struct pvp *v = q && who.vcpu < q->c.vps ? &q->vp[who.vcpu] : NULL;

	return !v ? NONE : v->last != NOBODY ? v->last : v->home;
}

/* The first core whose hardware id is not below `from`; ids grow with the number. */
static uint64_t first_core(const struct power *p, uint64_t from)
{
	if (!p->hw_ids_differ)
		return from;
	return from <= SPARSE_FIRST ? 0 : (from - SPARSE_FIRST + SPARSE_STEP - 1) / SPARSE_STEP;
}

/* By index, but by hardware id where a record has nothing else. */
static int processor_record(const struct power *p, struct papr_caller who, const struct gpci_request *r, bool self,
			    uint64_t from, struct gpci_values *v)
{
	bool by_hw = p->level == 0 || r->number == GPCI_REQUEST_hpmc;
	uint64_t at = self ? own_core(p, who) : by_hw ? first_core(p, from) : from;
	uint32_t i = (uint32_t)at;

	if (at >= p->ncores)
		return 0;
	v->id = by_hw ? hw_id(p, i) : i;
	switch (r->number) {
	case GPCI_REQUEST_dispatch_purr:
		dispatch_purr(p, i, v->v);
		break;
	case GPCI_REQUEST_processor_config:
		processor_config(p, i, v->v);
		break;
	case GPCI_REQUEST_processor_frequency:
		v->v[0] = i;
		v->v[1] = hw_id(p, i);
		v->v[2] = v->v[3] = p->mhz;
		break;
	case GPCI_REQUEST_core_utilization:
		core_utilization(p, i, v->v);
		break;
	case GPCI_REQUEST_hpmc:
		record_put_hpmc(p, i, v->v);
		break;
	default:
		return record_unmodelled(r);
	}
	return 1;
}

/* The partition at a place among all; NULL. */
static const struct ppart *part_at(const struct power *p, uint32_t at)
{
	return at < p->nparts ? &p->part[at] : NULL;
}

static int partition_record(const struct power *p, struct papr_caller who, const struct gpci_request *r, bool self,
			    uint64_t from, struct gpci_values *v)
{
	const struct ppart *q = self ? power_part(p, who.partition) : part_at(p, power_place(p, from));

	if (!q)
		return 0;
	v->id = q->c.id;
	switch (r->number) {
	case GPCI_REQUEST_entitled:
		v->v[0] = q->c.id;
		v->v[1] = q->entitled;
		v->v[2] = q->capped;
		v->v[3] = q->uncapped;
		v->v[4] = q->donated;
		v->v[5] = q->idle;
		break;
	case GPCI_REQUEST_run_instructions:
		run_instructions(q, v->v);
		break;
	case GPCI_REQUEST_core_power_mode:
		v->v[0] = q->c.id;
		v->v[1] = 1; /* nominal: the clock never changes */
		break;
	case GPCI_REQUEST_affinity_by_partition:
		v->nelements = affinity_by_partition(p, q, v);
		break;
	case GPCI_REQUEST_queuing_times:
		v->v[0] = q->c.id;
		v->v[1] = q->wait_entitlement;
		v->v[2] = q->nwait_entitlement;
		v->v[3] = q->wait_processor;
		v->v[4] = q->nwait_processor;
		for (uint32_t i = 0; i < COUNT(q->dispatch); i++)
			v->v[5 + i] = q->dispatch[i];
		break;
	case GPCI_REQUEST_instructions:
		v->v[0] = q->c.id;
		v->v[1] = q->run_instructions;
		v->v[2] = p->now;
		break;
	default:
		return record_unmodelled(r);
	}
	return 1;
}

/* Virtual processor `secondary` of partition `from`, or the next partition's first. */
static int vp_record(const struct power *p, struct papr_caller who, bool self, uint64_t from, uint64_t secondary,
		     struct gpci_values *v)
{
	uint32_t at = power_place(p, from);
	const struct ppart *q = self ? power_part(p, who.partition) : part_at(p, at);

	if (q && !self && (q->c.id != from || secondary >= q->c.vps)) {
		q = part_at(p, at + (q->c.id == from));
		secondary = 0;
	}
	if (!q || (self && who.vcpu >= q->c.vps))
		return 0;
	if (self)
		secondary = who.vcpu;
	v->id = q->c.id;
	v->secondary = secondary;
	affinity_by_vp(p, q, (uint32_t)secondary, v->v);
	return 1;
}

static int chip_record(const struct power *p, struct papr_caller who, const struct gpci_request *r, bool self,
		       uint64_t from, struct gpci_values *v)
{
	uint64_t own = self ? own_core(p, who) : 0;
	uint64_t at = !self ? from : own == NONE ? NONE : p->core[own].chip;
	uint32_t i = (uint32_t)at;

	if (at >= p->nchips)
		return 0;
	v->id = i;
	switch (r->number) {
	case GPCI_REQUEST_links_abc:
		record_put_links(p, i, v->v, LINK_A, 3, r->from > 0);
		break;
	case GPCI_REQUEST_links_wxyz:
		record_put_links(p, i, v->v, LINK_W, 4, r->from > 0);
		break;
	case GPCI_REQUEST_links_mc:
		links_mc(p, i, v->v);
		break;
	case GPCI_REQUEST_affinity_by_domain:
		affinity_by_domain(p, i, v->v);
		break;
	case GPCI_REQUEST_bus_topology:
		bus_topology(p, i, v->v);
		break;
	default:
		return record_unmodelled(r);
	}
	return 1;
}

static int record_next(void *arg, struct papr_caller who, const struct gpci_request *r, bool self, uint64_t from,
		       uint64_t secondary, struct gpci_values *v)
{
	v->secondary = 0;
	v->nelements = 0;
	switch ((enum gpci_index)r->index) {
	case GPCI_BY_PROCESSOR:
		return processor_record(arg, who, r, self, from, v);
	case GPCI_BY_PARTITION:
		return partition_record(arg, who, r, self, from, v);
	case GPCI_BY_VP:
		return vp_record(arg, who, self, from, secondary, v);
	case GPCI_BY_CHIP:
	case GPCI_BY_DOMAIN:
		return chip_record(arg, who, r, self, from, v);
	case GPCI_BY_NOTHING:
		break;
	}
	return system_record(arg, who.partition, r, self, from, v);
}

static void set_mmcrh(void *arg, uint64_t value)
{
	((struct power *)arg)->mmcrh_next = value;
}

/* There are no GX links, and no TLBIE is issued. */
static bool record_has_request(void *arg, const struct gpci_request *r)
{
	(void)arg;
	return r->number != GPCI_REQUEST_links_gx && r->number != GPCI_REQUEST_tlbie;
}

const struct papr_machine_ops power_ops = {
	.next = record_next, .set_mmcrh = set_mmcrh, .rights = record_rights, .has = record_has_request
};
