/*
 * niagara_hub.c: the Zambezi hubs of a Batoka.
 *
 * There are four hubs, one for each coherence plane (PA[13:12]); each has a port (LPU A to D) for each node. A
 * transaction comes in at the requester's port and goes out to every other node; each replies, and the hub sends one
 * reply to the requester. Data comes to the requester's port from the port of its sender. Every event takes one
 * cycle. X, Y and Z of a port are the other three in order.
 *
 * Waiting. A node has a link of 14 lanes in each direction to each hub (without hubs: to the other node, one for each
 * plane), of 4.0 Gb/s a lane: 7 GB/s or 5.8 bytes a cycle, so a line of 64 bytes takes 11 cycles. Requests and
 * replies are small compared with lines, and take no time. A sender waits while its link is full. The use of a link
 * is kept by windows of time, since strands come in turns and not in the order of their clocks: a sender whose window
 * is full takes the next window that is not.
 *
 * The address serialization unit permits one transaction of a line at a time: a second one is a CAM hit, and is woken
 * when the first has ended.
 */
#include "machine/niagara_int.h"

#define UNDER_WAY 100u /* cycles of a transaction */
enum {
	LPU_C2C = 0x02,
	LPU_MEM = 0x03,
	LPU_WB_DATA = 0x04,
	LPU_NEXT_PORT = 4,
	LPU_TID_WB = 0x0e,
	LPU_TID_INV,
	LPU_TID_RTD,
	LPU_TID_RTO,
	LPU_TID_RTS,
	LPU_WB_EGRESS = 0x15,
	LPU_INV_EGRESS,
	LPU_RTO_EGRESS,
	LPU_RTD_EGRESS,
	LPU_RTS_EGRESS,
	LPU_HIT_M = 0x1c,
	LPU_HIT_O,
	LPU_HIT_S,
	LPU_MISS = 0x20,
	LPU_READ_OR_INV,
	LPU_WB,
	LPU_NDR,
	LPU_CACHE_MISS,
	LPU_CACHE_HIT,
	LPU_REPLY_SENT = 0x27,
	LPU_REPLY_RECEIVED,
};

static const uint8_t ingress[] = {
	[TX_RTS] = LPU_TID_RTS, [TX_RTO] = LPU_TID_RTO, [TX_INV] = LPU_TID_INV, [TX_WB] = LPU_TID_WB
};
static const uint8_t egress[] = {
	[TX_RTS] = LPU_RTS_EGRESS,
	[TX_RTO] = LPU_RTO_EGRESS,
	[TX_INV] = LPU_INV_EGRESS,
	[TX_WB] = LPU_WB_EGRESS,
};

/* X, Y, Z as 0, 1, 2: which of the other ports `from` is for `port`. */
static uint32_t hub_other_port(uint32_t port, uint32_t from)
{
	return from < port ? from : from - 1;
}

#define WINDOW 2048u /* cycles: some turns of a load */
#define LINE_CYCLES 11u

/* Makes the window the latest one; those that it takes the place of are forgotten. */
static void link_advance(struct link *l, uint64_t window)
{
	if (window >= l->latest + WINDOWS) {
		memset(l->used, 0, sizeof(l->used));
		l->latest = window;
	}
	while (l->latest < window)
		l->used[++l->latest % WINDOWS] = 0;
}

/* The sender's window is full. */
static __attribute__((noinline)) uint64_t link_wait(struct link *l, uint64_t now)
{
	uint64_t at = now / WINDOW;

	while (l->used[at % WINDOWS] > WINDOW - LINE_CYCLES)
		link_advance(l, ++at);
	l->used[at % WINDOWS] += LINE_CYCLES;
	return at * WINDOW - now;
}

/* Nearly always the window is one of those that are kept, and has room. What a strand far behind would have met is not
 * known: it waits for nothing. Not inlined: link_line() would have it twice, and too few registers. */
static __attribute__((noinline)) uint64_t link_take(struct link *l, uint64_t now)
{
	const uint64_t window = now / WINDOW;
	uint16_t *used = &l->used[window % WINDOWS];

	if (l->latest - window > WINDOWS / 2) {
		if (window < l->latest)
			return 0;
		link_advance(l, window);
	}
	if (*used > WINDOW - LINE_CYCLES)
		return link_wait(l, now);
	*used += LINE_CYCLES;
	return 0;
}

uint64_t link_line(struct niagara *n, uint32_t from, uint32_t to, uint64_t pa, uint64_t now)
{
	struct zambezi *z = &n->zambezi[plane_of(pa)];
	const uint64_t out = link_take(&z->link[from][LINK_OUT], now), in = link_take(&z->link[to][LINK_IN], now);

	return out > in ? out : in;
}

static void hub_serialize(struct zambezi *z, uint64_t pa, uint64_t now)
{
	uint64_t line = (pa >> LINE_BITS) + 1;
	uint32_t i = (line ^ line >> 8) % CAM;

	if (z->cam[i].line == line && z->cam[i].until > now && z->cam[i].from < now + UNDER_WAY) {
		add(&z->asu[ASU_CAM], 1);
		add(&z->asu[ASU_WAKEUP], 1);
		z->cam[i].until += UNDER_WAY;
		return;
	}
	z->cam[i].line = line;
	z->cam[i].from = now;
	z->cam[i].until = now + UNDER_WAY;
}

void hub_transaction(struct niagara *n, enum transaction t, uint32_t requester, uint64_t pa, uint64_t now)
{
	struct zambezi *z = &n->zambezi[plane_of(pa)];
	const uint32_t home = home_of(n, pa), out = egress[t];
	total *own = z->lpu[requester];

	add(&own[ingress[t]], 1);
	add(&own[t == TX_WB ? LPU_WB : LPU_READ_OR_INV], 1);
	add(&z->asu[ASU_IN], 1);
	add(&z->asu[ASU_OUT], 1);
	hub_serialize(z, pa, now);
	if (t == TX_WB) { /* to the home alone */
		add(&z->lpu[home][out], 1);
		add(&z->lpu[home][LPU_WB_DATA + LPU_NEXT_PORT * hub_other_port(home, requester)], 1);
		return;
	}
	for (total *port = z->lpu[0], *end = port + n->kind->nodes * LPU_EVENTS; port < end; port += LPU_EVENTS)
		if (port != own)
			add(&port[out], 1);
	add(&own[LPU_REPLY_SENT], 1);
}

/* Who owns the line sends it, unless the requester has it already. */
void hub_reply(struct niagara *n, enum transaction t, uint32_t snooped, uint64_t pa, enum moesi held)
{
	static const uint8_t says[] = { [INVALID] = LPU_MISS,
					[SHARED] = LPU_HIT_S,
					[EXCLUSIVE] = LPU_HIT_S,
					[OWNED] = LPU_HIT_O,
					[MODIFIED] = LPU_HIT_M };
	total *e = n->zambezi[plane_of(pa)].lpu[snooped];

	add(&e[LPU_REPLY_RECEIVED], 1);
	add(&e[says[held]], 1);
	add(&e[held ? LPU_CACHE_HIT : LPU_CACHE_MISS], 1);
	if (held < OWNED || t == TX_INV)
		add(&e[LPU_NDR], 1);
}

void hub_nobody(struct niagara *n, uint32_t requester, uint64_t pa)
{
	struct zambezi *z = &n->zambezi[plane_of(pa)];
	const total *own = z->lpu[requester];

	for (total *port = z->lpu[0], *end = port + n->kind->nodes * LPU_EVENTS; port < end; port += LPU_EVENTS) {
		if (port == own)
			continue;
		add(&port[LPU_REPLY_RECEIVED], 1);
		add(&port[LPU_MISS], 1);
		add(&port[LPU_CACHE_MISS], 1);
		add(&port[LPU_NDR], 1);
	}
}

void hub_data(struct niagara *n, uint32_t requester, uint32_t from, uint64_t pa, bool cached)
{
	uint32_t e = (cached ? LPU_C2C : LPU_MEM) + LPU_NEXT_PORT * hub_other_port(requester, from);

	add(&n->zambezi[plane_of(pa)].lpu[requester][e], 1);
}
