/*
 * kunpeng_path.c: the two directions of a PCIe core: buffers, watermarks, weights.
 *
 * Theory.  Each direction is one server. It carries one DW a nanosecond: a packet takes 2 (framing) + 3 or 4 (header)
 * + 1 (prefix, if any) + its payload's DWs, in ns. In front of it is a buffer per type (P, NP, CPL). A buffer may be
 * posted when it holds as many packets as its watermark, or when its oldest packet has waited TIMEOUT_NS; a posting
 * carries as many packets as there are, up to the watermark, without a gap between them, and costs POST_NS more.
 *
 *	level        0    1    2
 *	watermark    1    4   16 packets
 *
 * So a full direction gives packets of d DWs at the rate 1 / (d + POST_NS / watermark), which grows with the level,
 * and a packet that is alone waits 0 at level 0 and TIMEOUT_NS at levels 1 and 2: that is the trade.
 *
 * Of several buffers that may be posted the one that has had least goes first (stride scheduling, counted in
 * packets): with tunables 0, 1, 2 the weights are 1, 2, 4. When all three outbound buffers always have packets, the
 * share of a type's packets is its weight over the sum of weights. A buffer that was empty does not save up its
 * turns. Inbound, the three are alike.
 *
 * The PTT device sees a packet at the moment when it begins to cross, in both directions. So what a packet waits
 * inbound is part of the latency that a trace shows only when the packet is an answer: the watermark for inbound
 * packets is in the latency of the host's reads, that for outbound ones in that of DMA reads.
 *
 * Not modelled: flow control credits and the ordering rules between types; buffers are deep and a type
 * keeps its own order.
 */
#include "machine/kunpeng_int.h"

#define WEIGHTS 4u /* every weight is a divisor of it */

uint32_t path_watermark(uint32_t level)
{
	return 1u << 2 * level;
}

uint32_t path_weight(uint32_t tunable)
{
	return 1u << tunable;
}

static bool may_post(const struct path *p, const struct queue *q, uint64_t now)
{
	return q->n >= p->watermark || (q->n != 0 && now - q->p[q->head].since >= TIMEOUT_NS);
}

/* Begins a posting. false: no buffer may be posted; the path sleeps until the earliest time-out. */
static bool path_post_buffer(struct core *c, struct path *p)
{
	uint64_t wake = NEVER;
	struct queue *best = NULL;

	for (struct queue *q = p->q; q < p->q + QUEUES; q++) {
		if (q->n == 0)
			continue;
		if (may_post(p, q, c->now))
			best = best == NULL || q->pass < best->pass ? q : best;
		else if (q->p[q->head].since + TIMEOUT_NS < wake)
			wake = q->p[q->head].since + TIMEOUT_NS;
	}
	p->asleep = best == NULL;
	if (p->asleep) {
		p->at = wake;
		return false;
	}
	p->posting = best;
	p->left = best->n < p->watermark ? best->n : p->watermark;
	p->turn = best->pass;
	best->pass += (uint64_t)p->left * best->stride;
	c->truth.posts[p->outbound]++;
	return true;
}

void path_put(struct core *c, struct path *p, enum queue_class cls)
{
	struct queue *q = &p->q[cls];

	q->p[(q->head + q->n) % QUEUE].since = c->now;
	if (q->n++ == 0 && q->pass < p->turn)
		q->pass = p->turn;
	if (!p->asleep)
		return;
	if (may_post(p, q, c->now))
		p->at = c->now;
	else if (q->n == 1 && c->now + TIMEOUT_NS < p->at)
		p->at = c->now + TIMEOUT_NS;
}

void path_flush(struct core *c)
{
	if (c->nbatch != 0)
		ptt_dev_packets(c->dev, c->batch, c->nbatch);
	c->nbatch = 0;
}

static void path_count_packet(struct core *c, const struct packet *k, bool outbound)
{
	struct kunpeng_truth *t = &c->truth;

	t->tlps[outbound][k->form & 3]++;
	t->bytes[outbound][k->form & 3] += k->bytes;
	t->wait_ns[outbound] += c->now - k->since;
	t->waits[outbound]++;
}

static void path_show_packet(struct core *c, const struct packet *k, bool outbound)
{
	packet_show(c, k, outbound, &c->batch[c->nbatch++]);
	if (c->nbatch < BATCH)
		return;
	path_flush(c);
	c->traced = ptt_dev_tracing(c->dev);
	path_tune(c);
}

void path_fire(struct core *c, struct path *p)
{
	if (p->left == 0 && !path_post_buffer(c, p))
		return;
	struct queue *q = p->posting;
	const struct packet *k = &q->p[q->head];
	p->left--;
	p->at = c->now + k->dws + (p->left == 0 ? POST_NS : 0);
	q->head = (q->head + 1) % QUEUE;
	q->n--;
	path_count_packet(c, k, p->outbound);
	if (c->traced)
		path_show_packet(c, k, p->outbound);
	if (k->what >= USE_REQUEST)
		txn_crossed(c, k, p->outbound);
	else if (k->what != USE_PLAIN)
		flow_crossed(c, k, p->outbound);
	if (c->room[p->outbound].flows != 0 && p->q[QUEUE_P].n <= ROOM_WAKE)
		flow_wake(c, &c->room[p->outbound]);
}

void path_tune(struct core *c)
{
	static const enum ptt_tune weight[QUEUES] = {
		[QUEUE_P] = PTT_TUNE_qos_tx_p,
		[QUEUE_NP] = PTT_TUNE_qos_tx_np,
		[QUEUE_CPL] = PTT_TUNE_qos_tx_cpl,
	};
	static const enum ptt_tune level[2] = { PTT_TUNE_rx_alloc_buf_level, PTT_TUNE_tx_alloc_buf_level };

	for (int i = 0; i < QUEUES; i++) {
		c->path[0].q[i].stride = 1;
		c->path[1].q[i].stride = WEIGHTS / path_weight(ptt_dev_tuned(c->dev, weight[i]));
	}
	for (int out = 0; out < 2; out++) {
		struct path *p = &c->path[out];
		uint32_t watermark = path_watermark(ptt_dev_tuned(c->dev, level[out]));
		if (watermark != p->watermark && p->asleep)
			p->at = c->now;
		p->watermark = watermark;
	}
}
