/*
 * kunpeng_place.c: the topology of the kunpeng machine, and hotplug.
 *
 *	core 0  0000:00:08.0 -- 21:00.0 drive
 *	        0000:00:09.0 -- 22:00.0 NIC
 *	        0000:00:0a.0 -- 23:00.0 drive
 *	core 2  0000:00:10.0 -- 01:00.0 and 01:00.1, a drive with two functions
 *	        0000:00:11.0 -- 02:00.0 switch, 03:00.0 -- 04:00.0 NIC
 *	                                        03:01.0 -- 05:00.0 drive
 *	        0000:00:12.0 -- 06:00.0, empty at first: a drive
 *
 * Each core's device shows a filter for each of its root ports and one for each function below them, also of the
 * switch, as long as it is present.
 *
 * When an endpoint is removed, its traffic ends at once. Packets from it and to it that wait in a buffer are dropped
 * and never cross. Its own open requests, those that the host or a peer has sent to it, and those of a job that needs
 * it as a peer stay without an answer, and are counted as abandoned. An endpoint that is plugged in starts without
 * state, with all its tags free.
 *
 * The switch sends requests between its endpoints up to the root port and back down (ACS redirection is on), so the
 * core sees them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "machine/kunpeng_int.h"

#define RELAXED (1u << 13)
#define PASID_PREFIX 0x91000000u

struct place_row {
	uint8_t core, kind, port;
	uint16_t bdf;
	uint16_t peer; /* bdf; 0: none */
	bool deep, there;
	uint32_t prefix;
};
static const struct place_row rows[] = {
	{ 0, DRIVE, 0, 0x2100, 0, false, true, 0 },
	{ 0, NIC, 1, 0x2200, 0, false, true, 0 },
	{ 0, DRIVE, 2, 0x2300, 0, false, true, 0 },
	{ 1, DRIVE, 0, 0x0100, 0, false, true, 0 },
	{ 1, DRIVE, 0, 0x0101, 0, false, true, PASID_PREFIX | 0x2a },
	{ 1, NIC, 1, 0x0400, 0x0500, true, true, 0 },
	{ 1, DRIVE, 1, 0x0500, 0x0400, true, true, 0 },
	{ 1, DRIVE, 2, 0x0600, 0, false, false, 0 },
};
static const struct {
	uint8_t core;
	uint16_t bdf;
} bridges[] = {
	{ 1, 0x0200 },
	{ 1, 0x0300 },
	{ 1, 0x0308 },
};
/* The root ports' first slot, and the core's number. */
static const struct {
	uint16_t slot, id;
} cores[CORES] = { { 0x08, 0 }, { 0x10, 2 } };

/* ---- opening ------------------------------------------------------------------------------------------ */

static void open_requesters(struct core *c)
{
	for (uint32_t i = 0; i < c->nplaces; i++)
		c->requester[i] = (struct requester){
			.id = c->place[i].bdf,
			.ntags = PLACE_TAGS,
			.tag_base = c->place[i].kind == NIC ? 0x2c0 : 0x40,
		};
	for (uint32_t i = 0; i < PORTS; i++)
		c->requester[PLACES + i] = (struct requester){ .id = c->port_bdf[i], .ntags = PORT_TAGS };
	for (uint32_t i = 0; i < REQUESTERS; i++)
		txn_reset(&c->requester[i]);
}

static uint8_t place_of(const struct core *c, uint16_t bdf)
{
	uint8_t i = 0;

	while (i < PLACES && (bdf == 0 || c->place[i].bdf != bdf))
		i++;
	return i;
}

static void add_place(struct core *c, const struct place_row *r)
{
	uint64_t n = c->nplaces++;

	c->place[n] = (struct place){
		.bdf = r->bdf,
		.port_bit = c->port_bit[r->port],
		.kind = r->kind,
		.port = r->port,
		.there = r->there,
		.deep = r->deep,
		.prefix = r->prefix,
		.attr = r->kind == NIC ? RELAXED : 0,
		/* A NIC's registers have 32-bit addresses, its memory too. */
		.bar = r->kind == NIC ? 0xe0000000 + (n << 20 << 1) : 0x8000000000 + (n << 24),
		.dma = r->kind == NIC ? 0x40000000 + (n << 26) : 0x2000000000 + (n << 26),
	};
}

/* ---- filters ------------------------------------------------------------------------------------------ */

static void bdf_name(char name[static 16], uint16_t bdf)
{
	snprintf(name, 16, "0000:%02x:%02x.%x", bdf >> 8, bdf >> 3 & 0x1f, bdf & 7);
}

static void add_filter(struct core *c, uint16_t bdf, uint32_t value, bool port)
{
	struct ptt_filter *f = &c->filter[c->pmu.nfilters++];

	bdf_name(f->name, bdf);
	f->value = value;
	f->port = port;
}

static int by_value(const void *a, const void *b)
{
	const struct ptt_filter *x = a, *y = b;

	if (x->port != y->port)
		return x->port ? -1 : 1;
	return (x->value > y->value) - (x->value < y->value);
}

/* What the operating system finds now. */
static void place_filters(struct core *c, uint32_t core)
{
	c->pmu.nfilters = 0;
	c->pmu.filter = c->filter;
	for (uint32_t i = 0; i < PORTS; i++)
		add_filter(c, c->port_bdf[i], 0x80000u | c->port_bit[i], true);
	for (uint32_t i = 0; i < COUNT(bridges); i++)
		if (bridges[i].core == core)
			add_filter(c, bridges[i].bdf, bridges[i].bdf, false);
	for (uint32_t i = 0; i < c->nplaces; i++)
		if (c->place[i].there)
			add_filter(c, c->place[i].bdf, c->place[i].bdf, false);
	qsort(c->filter, c->pmu.nfilters, sizeof(c->filter[0]), by_value);
}

/* ---- a core's places ------------------------------------------------------------------------------------ */

void place_open(struct core *c, uint32_t core)
{
	for (uint16_t i = 0; i < PORTS; i++) {
		c->port_bdf[i] = (uint16_t)((cores[core].slot + i) << 3);
		c->port_bit[i] = (uint16_t)(1 << i * 2);
	}
	for (size_t i = 0; i < COUNT(rows); i++)
		if (rows[i].core == core)
			add_place(c, &rows[i]);
	for (size_t i = 0; i < COUNT(rows); i++)
		if (rows[i].core == core)
			c->place[place_of(c, rows[i].bdf)].peer = place_of(c, rows[i].peer);
	open_requesters(c);
	snprintf(c->pmu.name, sizeof(c->pmu.name), "hisi_ptt0_%u", cores[core].id);
	snprintf(c->pmu.cpus, sizeof(c->pmu.cpus), "0");
	c->pmu.time = PTT_TIME_ABS; /* as ptt_dev_open() makes it here */
	place_filters(c, core);
}

void place_device(uint32_t core, struct ptt_dev_opts *o)
{
	uint16_t slot = cores[core].slot;

	*o = (struct ptt_dev_opts){
		.lower = (uint16_t)(slot << 3),
		.upper = (uint16_t)((slot + 4) << 3),
		.core = cores[core].id,
	};
}

/* ---- going --------------------------------------------------------------------------------------------- */

/* What goes with a place: flows, as a mask. */
static uint32_t flows_of(const struct core *c, uint8_t place)
{
	uint32_t flows = 0;

	for (uint32_t i = 0; i < c->nflows; i++)
		if (c->flow[i].place == place || c->flow[i].peer == place)
			flows |= 1u << i;
	return flows;
}

static bool job_goes(uint32_t flows, uint16_t job_id)
{
	return flows >> job_id / JOBS & 1;
}

static bool packet_goes(const struct core *c, uint32_t flows, uint8_t place, const struct packet *k)
{
	if (k->place == place)
		return true;
	switch (k->what) {
	case USE_PLAIN:
		return false;
	case USE_PEER_WRITE:
		return k->id == place;
	case USE_DOORBELL:
	case USE_MSI:
		return job_goes(flows, k->id);
	default:
		return job_goes(flows, c->txn[k->id].job_id);
	}
}

static void purge_queue(struct core *c, struct path *p, enum queue_class cls, uint32_t flows, uint8_t place)
{
	struct queue *q = &p->q[cls];
	uint32_t n = q->n, under_way = p->posting == q ? p->left : 0, kept = 0;

	for (uint32_t i = 0; i < n; i++) {
		struct packet *k = &q->p[(q->head + i) % QUEUE];
		if (packet_goes(c, flows, place, k)) {
			c->peer_writes -= k->what == USE_PEER_WRITE;
			p->left -= i < under_way;
			continue;
		}
		q->p[(q->head + kept++) % QUEUE] = *k;
	}
	q->n = kept;
}

static void purge_line(struct core *c, uint32_t timer, struct line *l, uint32_t flows, bool jobs)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < l->n; i++) {
		struct due d = l->due[(l->head + i) % LINE];
		if (!job_goes(flows, jobs && d.what == DELAYED_JOB ? d.id : c->txn[d.id].job_id))
			l->due[(l->head + kept++) % LINE] = d;
	}
	l->n = kept;
	timer_set(&c->timers, timer, kept != 0 ? l->due[l->head].at : NEVER);
}

static void place_leave(struct core *c, uint8_t place)
{
	uint32_t flows = flows_of(c, place);

	c->place[place].there = false;
	for (int out = 0; out < 2; out++)
		for (int cls = 0; cls < QUEUES; cls++)
			purge_queue(c, &c->path[out], (enum queue_class)cls, flows, place);
	for (uint32_t i = 0; i < MEMORY_CHANNELS; i++)
		purge_line(c, TIMER_MEMORY + i, &c->memory[i], flows, false);
	for (uint32_t i = 0; i < c->nplaces; i++) {
		purge_line(c, TIMER_REACT + i, &c->react[i], flows, true);
		purge_line(c, TIMER_MEDIA + i, &c->media[i], flows, true);
	}
	purge_line(c, TIMER_GIVE_UP, &c->give_up, flows, false);
	for (uint32_t i = 0; i < c->nflows; i++)
		if (flows >> i & 1)
			flow_stop(c, i);
	for (uint32_t id = 0; id < TXNS; id++)
		if (c->txn[id].taken && job_goes(flows, c->txn[id].job_id))
			txn_abandon(c, id);
	flow_wake(c, &c->room[0]);
	flow_wake(c, &c->room[1]);
}

static void place_arrive(struct core *c, uint8_t place)
{
	uint32_t flows = flows_of(c, place);

	c->place[place].there = true;
	txn_reset(&c->requester[place]);
	for (uint32_t i = 0; i < c->nflows; i++)
		if (flows >> i & 1)
			flow_start(c, i);
}

/* "0000:01:00.0" is a function, "0000:01:00" all of an endpoint's; the domain may be left out. */
static bool is_named(uint16_t bdf, const char *name)
{
	char full[16];

	bdf_name(full, bdf);
	const char *with = strncmp(name, "0000:", 5) == 0 ? full : full + 5;
	size_t n = strlen(name);
	return strncmp(with, name, n) == 0 && (with[n] == '\0' || (with[n] == '.' && n == strlen(with) - 2));
}

/* Its places that are named so; those that change are changed. */
static void plug_core(struct core *c, uint32_t core, const char *bdf, bool there, uint32_t *named, uint32_t *changed)
{
	for (uint8_t i = 0; i < c->nplaces; i++) {
		struct place *p = &c->place[i];
		if (!is_named(p->bdf, bdf))
			continue;
		++*named;
		if (p->there == there)
			continue;
		++*changed;
		if (there)
			place_arrive(c, i);
		else
			place_leave(c, i);
		place_filters(c, core);
	}
}

int kunpeng_plug(struct kunpeng *k, const char *bdf, bool there, struct err *e)
{
	uint32_t named = 0, changed = 0;

	for (uint32_t i = 0; i < CORES; i++)
		plug_core(k->core[i], i, bdf, there, &named, &changed);
	if (named == 0)
		return err_set(
			e, TALLY_EINVAL,
			"%s: no such endpoint; 01:00.0, 01:00.1, 04:00.0, 05:00.0, 06:00.0, 21:00.0, 22:00.0 and "
			"23:00.0 can be plugged and unplugged",
			bdf);
	if (changed == 0)
		return err_set(e, TALLY_ESTATE, "%s: %s", bdf, there ? "it is there already" : "it is gone already");
	k->generation++;
	return 0;
}
