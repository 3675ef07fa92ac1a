/*
 * kunpeng_txn.c: non-posted requests and their completions.
 *
 * Theory.  A request takes a tag of its requester and is put into a buffer. When it crosses it is open, and from there
 * its completer answers after a while:
 *
 *	DMA read        the host's memory, four channels, each in order: requests overtake each other
 *	host, config    the endpoint, in order
 *	peer            goes out again on the same port to the peer, which answers; the answers come in as class B
 *	                and go out again. Its requester and tag are the same on both ways.
 *
 * The answer to a read is cut as the rules want it (PCI Express r5.0, 2.3.1.1): each piece ends on a multiple of
 * PAYLOAD_MOST, or now and then of BOUNDARY, or at the end. When the last piece crosses to the requester the request is
 * answered: its latency is from crossing to crossing, as a trace of both directions shows it, and the tag is free. Tags
 * are used in turn.
 *
 * Under a load with faults a request may be answered by UR or CA without data, or never: then its requester gives up
 * GIVE_UP_NS after it crossed, and may use the tag again.
 */
#include "machine/kunpeng_int.h"

#define MEMORY_NS(c) (160 + below(c, 64))
#define ENDPOINT_NS(c) (400 + below(c, 100))

void txn_reset(struct requester *r)
{
	r->head = 0;
	r->nfree = r->ntags;
	r->waiting = (struct waiters){ 0 };
	for (uint32_t i = 0; i < r->ntags; i++)
		r->free[i] = (uint8_t)i;
}

/* ---- asking ------------------------------------------------------------------------------------- */

static enum cpl_status choose_fate(struct core *c)
{
	static const enum cpl_status fates[3] = { CPL_UR, CPL_CA, CPL_NONE };

	return c->faults != 0 && below(c, 1000000) < c->faults ? fates[below(c, 3)] : CPL_SC;
}

static void put_request(struct core *c, const struct txn *t, uint32_t id)
{
	bool outbound = t->kind == TXN_HOST || t->kind == TXN_CONFIG;
	uint32_t prefix = !outbound && c->place[t->place].prefix != 0;
	uint32_t wide = t->kind != TXN_CONFIG && t->address >> 32 != 0;

	*path_new(&c->path[outbound], QUEUE_NP) = (struct packet){
		.address = t->address,
		.id = (uint16_t)id,
		.tag = t->tag,
		.left = t->bytes,
		.what = USE_REQUEST,
		.form = t->kind == TXN_CONFIG ? PACKET_CONFIG : PACKET_READ,
		.place = t->place,
		.requester = t->requester,
		.dws = (uint16_t)(FRAMING_DWS + 3 + wide + prefix),
	};
	path_put(c, &c->path[outbound], QUEUE_NP);
}

bool txn_ask(struct core *c, uint32_t flow, uint32_t job, enum txn_kind kind, uint64_t address, uint32_t bytes)
{
	const struct flow *f = &c->flow[flow];
	bool host = kind == TXN_HOST || kind == TXN_CONFIG;
	uint32_t who = host ? PLACES + c->place[f->place].port : f->place;
	struct requester *r = &c->requester[who];

	if (r->nfree == 0) {
		r->waiting.flows |= 1u << flow;
		return false;
	}
	uint32_t tag = r->free[r->head], id = who * PORT_TAGS + tag;
	r->head = (uint16_t)((r->head + 1) & (r->ntags - 1));
	r->nfree--;
	c->txn[id] = (struct txn){
		.address = address,
		.bytes = (uint16_t)bytes,
		.missing = (uint16_t)bytes,
		.job_id = JOB_ID(flow, job),
		.tag = (uint16_t)(r->tag_base + tag),
		.place = f->place,
		.peer = f->peer,
		.requester = (uint8_t)who,
		.kind = (uint8_t)kind,
		.status = (uint8_t)choose_fate(c),
		.taken = true,
	};
	put_request(c, &c->txn[id], id);
	return true;
}

/* ---- the end of a request ----------------------------------------------------------------------- */

/* Its tag is free. */
static void txn_release(struct core *c, uint32_t id)
{
	struct txn *t = &c->txn[id];
	struct requester *r = &c->requester[t->requester];

	r->free[(r->head + r->nfree++) & (r->ntags - 1)] = (uint8_t)(id % PORT_TAGS);
	t->taken = false;
	if (t->open)
		c->truth.open--;
	t->open = false;
	flow_wake(c, &r->waiting);
}

static void txn_finish(struct core *c, uint32_t id)
{
	struct txn *t = &c->txn[id];
	struct kunpeng_truth *truth = &c->truth;
	uint64_t took = c->now - t->opened;
	uint32_t job_id = t->job_id;

	if (t->status == CPL_SC) {
		truth->answered++;
		truth->latency_ns += took;
		truth->latency_count++;
		if (took > truth->latency_most)
			truth->latency_most = took;
	} else {
		truth->failed++;
	}
	txn_release(c, id);
	flow_answered(c, job_id);
}

void txn_give_up(struct core *c, uint32_t id)
{
	uint32_t job_id = c->txn[id].job_id;

	c->truth.abandoned++;
	txn_release(c, id);
	flow_answered(c, job_id);
}

void txn_abandon(struct core *c, uint32_t id)
{
	c->truth.abandoned += c->txn[id].open;
	txn_release(c, id);
}

/* ---- crossing ----------------------------------------------------------------------------------- */

/* The same packet, in the outbound buffer, to another place. */
static void send_on(struct core *c, const struct packet *p, enum queue_class q, enum packet_use what, uint8_t place)
{
	struct packet *k = path_new(&c->path[1], q);

	*k = *p;
	k->what = (uint8_t)what;
	k->place = place;
	k->form = q == QUEUE_CPL ? PACKET_ANSWER : p->form;
	path_put(c, &c->path[1], q);
}

static void request_crossed(struct core *c, const struct packet *p, uint32_t id)
{
	struct txn *t = &c->txn[id];
	uint32_t channel = (uint32_t)(t->address / READ_MOST) % MEMORY_CHANNELS;

	t->open = true;
	t->opened = c->now;
	c->truth.requests++;
	c->truth.open++;
	c->truth.asked_bytes += t->missing;
	if (t->status == CPL_NONE)
		line_put(c, TIMER_GIVE_UP, &c->give_up, GIVE_UP_NS, 0, (uint16_t)id);
	if (t->kind == TXN_PEER)
		send_on(c, p, QUEUE_NP, USE_FORWARDED, t->peer);
	else if (t->status == CPL_NONE)
		return;
	else if (t->kind == TXN_DMA)
		line_put(c, TIMER_MEMORY + channel, &c->memory[channel], MEMORY_NS(c), 0, (uint16_t)id);
	else
		line_put(c, TIMER_REACT + t->place, &c->react[t->place], ENDPOINT_NS(c), DELAYED_ANSWER, (uint16_t)id);
}

static void answer_crossed(struct core *c, const struct packet *p, uint32_t id, bool outbound)
{
	struct txn *t = &c->txn[id];

	if (t->kind == TXN_PEER && !outbound) {
		send_on(c, p, QUEUE_CPL, USE_ANSWER, t->place);
		return;
	}
	t->missing -= p->bytes;
	c->truth.read_bytes += p->bytes;
	if (t->missing == 0 || t->status != CPL_SC)
		txn_finish(c, id);
}

void txn_crossed(struct core *c, const struct packet *p, bool outbound)
{
	const struct txn *t = &c->txn[p->id];

	if (p->what == USE_ANSWER)
		answer_crossed(c, p, p->id, outbound);
	else if (p->what == USE_REQUEST)
		request_crossed(c, p, p->id);
	else if (t->status != CPL_NONE)
		line_put(c, TIMER_REACT + t->peer, &c->react[t->peer], ENDPOINT_NS(c), DELAYED_ANSWER, p->id);
}

/* ---- answering ---------------------------------------------------------------------------------- */

static uint8_t completer_of(const struct core *c, const struct txn *t)
{
	switch (t->kind) {
	case TXN_DMA:
		return PLACES + c->place[t->place].port;
	case TXN_PEER:
		return t->peer;
	default:
		return t->place;
	}
}

/* A completion with `bytes` from `address` on, of which `left` were still to come. */
static void put_answer(struct core *c, const struct txn *t, uint32_t id, uint64_t address, uint32_t left,
		       uint32_t bytes)
{
	struct path *p = &c->path[t->kind == TXN_DMA];
	bool peer = t->kind == TXN_PEER;

	*path_new(p, QUEUE_CPL) = (struct packet){
		.address = address,
		.id = (uint16_t)id,
		.tag = t->tag,
		.left = (uint16_t)left,
		.bytes = (uint16_t)bytes,
		.what = USE_ANSWER,
		.form = peer ? PACKET_PEER_ANSWER : PACKET_ANSWER,
		.status = t->status,
		.requester = t->requester,
		.completer = completer_of(c, t),
		.place = peer ? t->peer : t->place,
		.dws = (uint16_t)(FRAMING_DWS + 3 + (bytes != 0 ? packet_data_dws(address, bytes) : 0)),
	};
	path_put(c, p, QUEUE_CPL);
}

void txn_answer(struct core *c, uint32_t id)
{
	const struct txn *t = &c->txn[id];
	/* A configuration request's completion has Lower Address 0. */
	uint64_t address = t->kind == TXN_CONFIG ? 0 : t->address;
	uint32_t left = t->bytes, most = PAYLOAD_MOST;

	if (t->status != CPL_SC) {
		put_answer(c, t, id, address, left, 0);
		return;
	}
	if (left > BOUNDARY && below(c, 8) == 0)
		most = BOUNDARY; /* of the first piece only */
	for (uint32_t bytes; left != 0; left -= bytes, address += bytes, most = PAYLOAD_MOST) {
		bytes = most - ((uint32_t)address & (most - 1));
		bytes = left < bytes ? left : bytes;
		put_answer(c, t, id, address, left, bytes);
	}
}
