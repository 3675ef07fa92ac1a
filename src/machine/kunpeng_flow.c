/*
 * kunpeng_flow.c: what endpoints, and the host with them, do.
 *
 * Theory.  A flow is one kind of work at one endpoint function; it does jobs, and a job is a list of steps. A drive
 * that reads:
 *
 *	doorbell   the host writes a register                 outbound P
 *	fetch      the drive reads the command                inbound NP, outbound CPL
 *	media      takes its time
 *	write      the data, in PAYLOAD_MOST                  inbound P
 *	entry      of the completion queue                    inbound P
 *	MSI        one DW to the interrupt controller         inbound P
 *	ack        the host moves the queue's head            outbound P
 *
 * and the others alike. Jobs begin at random times around the load's period, or, with PERIOD_BACK_TO_BACK, one after
 * the other, as many at a time as the kind has. A step of many packets goes as far as there is room in the buffer for
 * posted packets or as the requester has tags; then the flow sleeps until there is more, and its other jobs behind
 * it. Single packets of a job (doorbell, MSI) always find room: there are never more of them than two for each job.
 *
 * No packet crosses a 4 KiB boundary: pieces end on multiples of their greatest size.
 */
#include "machine/kunpeng_int.h"

enum step {
	STEP_END,
	STEP_DOORBELL,
	STEP_FETCH,
	STEP_MEDIA,
	STEP_READ,
	STEP_WRITE,
	STEP_ENTRY,
	STEP_MSI,
	STEP_SELDOM_MSI,
	STEP_ACK,
	STEP_PEER_READ,
	STEP_PEER_WRITE,
	STEP_HOST_READ,
	STEP_HOST_WRITE,
	STEP_CONFIG,
};
struct kind_row {
	uint8_t depth;  /* jobs at a time */
	uint8_t at;     /* a mask of enum place_kind */
	bool peer;      /* only with a peer */
	uint16_t bytes; /* of a job; 0: a NIC's packet */
	uint8_t step[8];
};
static const struct kind_row kinds[FLOW_KINDS] = {
	[FLOW_NVME_READ] = { 32,
			     1 << DRIVE,
			     false,
			     4096,
			     { STEP_DOORBELL, STEP_FETCH, STEP_MEDIA, STEP_WRITE, STEP_ENTRY, STEP_MSI, STEP_ACK } },
	[FLOW_NVME_WRITE] = { 32,
			      1 << DRIVE,
			      false,
			      4096,
			      { STEP_DOORBELL, STEP_FETCH, STEP_READ, STEP_MEDIA, STEP_ENTRY, STEP_MSI, STEP_ACK } },
	[FLOW_NIC_RECEIVE] = { 16, 1 << NIC, false, 0, { STEP_WRITE, STEP_ENTRY, STEP_SELDOM_MSI, STEP_ACK } },
	[FLOW_NIC_SEND] = { 16,
			    1 << NIC,
			    false,
			    0,
			    { STEP_DOORBELL, STEP_FETCH, STEP_READ, STEP_ENTRY, STEP_SELDOM_MSI, STEP_ACK } },
	[FLOW_PEER_READ] = { 8,
			     1 << NIC,
			     true,
			     4096,
			     { STEP_DOORBELL, STEP_FETCH, STEP_PEER_READ, STEP_ENTRY, STEP_MSI, STEP_ACK } },
	[FLOW_PEER_WRITE] = { 8,
			      1 << DRIVE,
			      true,
			      4096,
			      { STEP_DOORBELL, STEP_FETCH, STEP_MEDIA, STEP_PEER_WRITE, STEP_ENTRY, STEP_MSI,
				STEP_ACK } },
	[FLOW_HOST_READ] = { 32, 1 << DRIVE | 1 << NIC, false, 8, { STEP_HOST_READ } },
	[FLOW_HOST_WRITE] = { 4, 1 << DRIVE | 1 << NIC, false, 512, { STEP_HOST_WRITE } },
	[FLOW_CONFIG] = { 1, 1 << DRIVE | 1 << NIC, false, 4, { STEP_CONFIG } },
};

enum { /* within a place's registers and memory */
       BAR_DOORBELL = 0x1000,
       BAR_WINDOW = 0x8000,
       BAR_BUFFER = 0x100000,
       DMA_QUEUE = 0x2000000,
       DMA_ENTRY = 0x2100000,
       COMMAND_BYTES = 64,
       ENTRY_BYTES = 16,
       REGISTER_BYTES = 4,
};
#define MSI_ADDRESS 0x402810040ull /* as in the sample of hisi_ptt.rst, "Decoding" */
#define DOORBELL_NS 150
#define MEDIA_NS(c) (3000 + below(c, 2000))
#define INTERRUPT_NS 700

/* ---- steps ---------------------------------------------------------------------------------------- */

static uint32_t packet_bytes(struct core *c, uint32_t bytes)
{
	return bytes != 0 ? bytes : below(c, 4) == 0 ? 64 : 64 + below(c, 1451);
}

static uint64_t data_address(struct core *c, const struct flow *f)
{
	const struct place *p = &c->place[f->place];

	if (kinds[f->kind].peer)
		return c->place[f->peer].bar + BAR_BUFFER + below(c, 64) * 4096ull;
	if (f->kind == FLOW_HOST_WRITE)
		return p->bar + BAR_WINDOW + below(c, 64) * 512ull;
	/* A NIC leaves two bytes free, so that what is behind the Ethernet header is aligned. */
	return p->dma + below(c, 8192) * 4096ull + (p->kind == NIC ? 2 + below(c, 16) * 64 : 0);
}

static uint32_t step_bytes(const struct job *j, enum step s)
{
	switch (s) {
	case STEP_READ:
	case STEP_WRITE:
	case STEP_PEER_READ:
	case STEP_PEER_WRITE:
	case STEP_HOST_WRITE:
		return j->bytes;
	default:
		return 1; /* one packet */
	}
}

static bool crossing_ends(enum step s)
{
	return s == STEP_DOORBELL || s == STEP_MSI || s == STEP_ACK;
}

static enum step step_of(const struct flow *f, const struct job *j)
{
	return kinds[f->kind].step[j->step];
}

static void make_ready(struct flow *f, uint32_t job)
{
	f->ready[(f->head + f->nready++) % JOBS] = (uint8_t)job;
}

static void flow_job_begin(struct core *c, uint32_t flow, uint32_t job)
{
	struct flow *f = &c->flow[flow];
	struct job *j = &f->job[job];

	*j = (struct job){ .busy = true };
	j->bytes = packet_bytes(c, kinds[f->kind].bytes);
	j->address = data_address(c, f);
	j->left = step_bytes(j, step_of(f, j));
	f->nbusy++;
	make_ready(f, job);
}

static void flow_job_end(struct core *c, uint32_t flow, uint32_t job)
{
	struct flow *f = &c->flow[flow];

	f->job[job].busy = false;
	f->nbusy--;
	if (f->period == PERIOD_BACK_TO_BACK) {
		flow_job_begin(c, flow, job);
	} else if (f->owed != 0) {
		f->owed--;
		flow_job_begin(c, flow, job);
	}
}

/* The step of a job has ended; the next one begins. */
static void flow_job_advance(struct core *c, uint32_t flow, uint32_t job)
{
	struct flow *f = &c->flow[flow];
	struct job *j = &f->job[job];
	enum step s = kinds[f->kind].step[++j->step];

	if (s == STEP_END || (s == STEP_SELDOM_MSI && below(c, 4) != 0)) {
		flow_job_end(c, flow, job);
		return;
	}
	if (s == STEP_MEDIA) {
		line_put(c, TIMER_MEDIA + f->place, &c->media[f->place], MEDIA_NS(c), DELAYED_JOB, JOB_ID(flow, job));
		return;
	}
	j->left = step_bytes(j, s);
	make_ready(f, job);
}

/* ---- packets that are not answered ---------------------------------------------------------------- */

static bool flow_has_room(struct core *c, uint32_t flow, bool outbound)
{
	if (c->path[outbound].q[QUEUE_P].n < ROOM)
		return true;
	c->room[outbound].flows |= 1u << flow;
	return false;
}

static void host_writes(struct core *c, const struct flow *f, uint64_t address, uint32_t bytes, enum packet_use what,
			uint16_t id)
{
	*path_new(&c->path[1], QUEUE_P) = (struct packet){
		.address = address,
		.id = id,
		.what = (uint8_t)what,
		.form = PACKET_WRITE,
		.place = f->place,
		.requester = (uint8_t)(PLACES + c->place[f->place].port),
		.bytes = (uint16_t)bytes,
		.dws = (uint16_t)(FRAMING_DWS + 3 + (address >> 32 != 0) + packet_data_dws(address, bytes)),
	};
	path_put(c, &c->path[1], QUEUE_P);
}

static void endpoint_writes(struct core *c, const struct flow *f, uint64_t address, uint32_t bytes,
			    enum packet_use what, uint16_t id)
{
	uint32_t prefix = what != USE_MSI && c->place[f->place].prefix != 0;

	*path_new(&c->path[0], QUEUE_P) = (struct packet){
		.address = address,
		.id = id,
		.tag = id & 0x1f,
		.what = (uint8_t)what,
		.form = PACKET_WRITE,
		.place = f->place,
		.requester = f->place,
		.bytes = (uint16_t)bytes,
		.dws = (uint16_t)(FRAMING_DWS + 3 + (address >> 32 != 0) + prefix + packet_data_dws(address, bytes)),
	};
	path_put(c, &c->path[0], QUEUE_P);
}

/* Bytes up to the next multiple of `most`, at most what is left. */
static uint32_t flow_job_stretch(const struct job *j, uint32_t most)
{
	uint32_t n = most - (uint32_t)(j->address % most);

	return n < j->left ? n : j->left;
}

static void flow_bytes_went(struct job *j, uint32_t bytes)
{
	j->address += bytes;
	j->left -= bytes;
}

/* ---- issuing: false when the flow must wait -------------------------------------------------------- */

static bool issue_reads(struct core *c, uint32_t flow, uint32_t job, enum txn_kind kind)
{
	struct job *j = &c->flow[flow].job[job];

	while (j->left != 0) {
		uint32_t n = flow_job_stretch(j, READ_MOST);
		if (!txn_ask(c, flow, job, kind, j->address, n))
			return false;
		j->open++;
		flow_bytes_went(j, n);
	}
	return true;
}

/* Of the endpoint to memory or to its peer, or of the host to the endpoint: each caller names its own, and has the loop
 * for itself. */
static inline __attribute__((always_inline)) bool issue_writes(struct core *c, uint32_t flow, uint32_t job, enum step s)
{
	const bool peer = s == STEP_PEER_WRITE, host = s == STEP_HOST_WRITE;
	struct flow *f = &c->flow[flow];
	struct job *j = &f->job[job];

	while (j->left != 0) {
		uint32_t n = flow_job_stretch(j, host ? HOST_WRITE_BYTES : PAYLOAD_MOST);
		if (!flow_has_room(c, flow, host))
			return false;
		if (peer && c->peer_writes >= ROOM) {
			c->room[1].flows |= 1u << flow;
			return false;
		}
		c->peer_writes += peer;
		if (host)
			host_writes(c, f, j->address, n, USE_PLAIN, 0);
		else
			endpoint_writes(c, f, j->address, n, peer ? USE_PEER_WRITE : USE_PLAIN,
					peer ? f->peer : JOB_ID(flow, job));
		flow_bytes_went(j, n);
	}
	return true;
}

/* A step of one request. */
static bool issue_one(struct core *c, uint32_t flow, uint32_t job, enum txn_kind kind, uint64_t address, uint32_t bytes)
{
	struct job *j = &c->flow[flow].job[job];

	if (!txn_ask(c, flow, job, kind, address, bytes))
		return false;
	j->open++;
	j->left = 0;
	return true;
}

static bool issue_one_write(struct core *c, uint32_t flow, uint32_t job, enum step s)
{
	struct flow *f = &c->flow[flow];
	const struct place *p = &c->place[f->place];
	uint16_t id = JOB_ID(flow, job);

	if (s == STEP_ENTRY) {
		if (!flow_has_room(c, flow, false))
			return false;
		endpoint_writes(c, f, p->dma + DMA_ENTRY + below(c, 256) * ENTRY_BYTES, ENTRY_BYTES, USE_PLAIN, id);
	} else if (s == STEP_MSI) {
		endpoint_writes(c, f, MSI_ADDRESS, REGISTER_BYTES, USE_MSI, id);
	} else {
		host_writes(c, f, p->bar + BAR_DOORBELL + f->kind * 8u + (s == STEP_ACK ? 4 : 0), REGISTER_BYTES,
			    USE_DOORBELL, id);
	}
	f->job[job].left = 0;
	return true;
}

static bool flow_issue_step(struct core *c, uint32_t flow, uint32_t job, enum step s)
{
	const struct place *p = &c->place[c->flow[flow].place];

	switch (s) {
	case STEP_FETCH:
		return issue_one(c, flow, job, TXN_DMA, p->dma + DMA_QUEUE + below(c, 64) * COMMAND_BYTES,
				 p->kind == NIC ? COMMAND_BYTES / 4 : COMMAND_BYTES);
	case STEP_READ:
		return issue_reads(c, flow, job, TXN_DMA);
	case STEP_PEER_READ:
		return issue_reads(c, flow, job, TXN_PEER);
	case STEP_WRITE:
		return issue_writes(c, flow, job, STEP_WRITE);
	case STEP_PEER_WRITE:
		return issue_writes(c, flow, job, STEP_PEER_WRITE);
	case STEP_HOST_WRITE:
		return issue_writes(c, flow, job, STEP_HOST_WRITE);
	case STEP_HOST_READ:
		return issue_one(c, flow, job, TXN_HOST, p->bar + below(c, 64) * 8ull, 4u << below(c, 2));
	case STEP_CONFIG:
		return issue_one(c, flow, job, TXN_CONFIG, below(c, 64) * 4ull, REGISTER_BYTES);
	default:
		return issue_one_write(c, flow, job, s);
	}
}

/* All that can be issued now is. */
static void flow_run(struct core *c, uint32_t flow)
{
	struct flow *f = &c->flow[flow];

	while (f->nready != 0) {
		uint32_t job = f->ready[f->head];
		struct job *j = &f->job[job];
		enum step s = step_of(f, j) == STEP_SELDOM_MSI ? STEP_MSI : step_of(f, j);
		if (!flow_issue_step(c, flow, job, s))
			return;
		f->head = (uint8_t)((f->head + 1) % JOBS);
		f->nready--;
		if (!crossing_ends(s) && j->open == 0)
			flow_job_advance(c, flow, job);
	}
}

/* ---- what happens to a flow -------------------------------------------------------------------------- */

void flow_next(struct core *c, uint32_t job_id)
{
	flow_job_advance(c, job_id / JOBS, job_id % JOBS);
	flow_run(c, job_id / JOBS);
}

void flow_answered(struct core *c, uint32_t job_id)
{
	struct job *j = &c->flow[job_id / JOBS].job[job_id % JOBS];

	if (--j->open == 0 && j->left == 0)
		flow_next(c, job_id);
}

void flow_wake(struct core *c, struct waiters *w)
{
	uint32_t flows = w->flows, turn = w->turn;
	uint32_t turned = turn == 0 ? flows : flows >> turn | flows << (FLOWS - turn);

	if (flows == 0)
		return;
	w->flows = 0;
	w->turn = (turn + (uint32_t)__builtin_ctz(turned) + 1) % FLOWS;
	for (; turned != 0; turned &= turned - 1)
		flow_run(c, ((uint32_t)__builtin_ctz(turned) + turn) % FLOWS);
}

static void peer_write_crossed(struct core *c, const struct packet *p, bool outbound)
{
	struct packet *k = path_new(&c->path[1], QUEUE_P);

	if (outbound) {
		c->peer_writes--;
		return;
	}
	*k = *p;
	k->place = (uint8_t)p->id;
	path_put(c, &c->path[1], QUEUE_P);
}

void flow_crossed(struct core *c, const struct packet *p, bool outbound)
{
	uint32_t flow = p->id / JOBS;

	if (p->what == USE_PEER_WRITE) {
		peer_write_crossed(c, p, outbound);
		return;
	}
	const struct flow *f = &c->flow[flow];
	uint8_t place = f->place;
	if (p->what == USE_MSI) {
		c->truth.msis++;
		line_put(c, TIMER_REACT + place, &c->react[place], INTERRUPT_NS, DELAYED_JOB, p->id);
		return;
	}
	c->truth.doorbells++;
	if (step_of(f, &f->job[p->id % JOBS]) == STEP_ACK)
		flow_next(c, p->id);
	else
		line_put(c, TIMER_REACT + place, &c->react[place], DOORBELL_NS, DELAYED_JOB, p->id);
}

void flow_due(struct core *c, uint32_t flow)
{
	struct flow *f = &c->flow[flow];
	uint32_t depth = kinds[f->kind].depth;
	uint64_t next = f->period == PERIOD_BACK_TO_BACK ? NEVER : c->now + f->period / 2 + below(c, f->period);

	timer_set(&c->timers, TIMER_FLOW + flow, next);
	if (f->nbusy == depth) {
		f->owed += f->owed < depth;
		return;
	}
	for (uint32_t i = 0; i < depth; i++) {
		if (f->job[i].busy)
			continue;
		flow_job_begin(c, flow, i);
		if (f->period != PERIOD_BACK_TO_BACK)
			break;
	}
	flow_run(c, flow);
}

/* ---- which flows there are ----------------------------------------------------------------------------- */

static void open_place(struct core *c, uint8_t place, const struct load *l)
{
	const struct place *p = &c->place[place];

	for (uint8_t k = 0; k < FLOW_KINDS; k++) {
		if ((kinds[k].at >> p->kind & 1) == 0 || l->period[k] == 0 || (kinds[k].peer && p->peer == PLACES))
			continue;
		assert(c->nflows < FLOWS);
		c->flow[c->nflows++] = (struct flow){
			.kind = k,
			.place = place,
			.peer = kinds[k].peer ? p->peer : place,
			.period = l->period[k],
		};
	}
}

void flow_open(struct core *c, const struct load *l)
{
	c->faults = l->faults;
	for (uint8_t i = 0; i < c->nplaces; i++)
		open_place(c, i, l);
	for (uint32_t i = 0; i < c->nflows; i++)
		flow_start(c, i);
}

void flow_start(struct core *c, uint32_t flow)
{
	const struct flow *f = &c->flow[flow];
	uint32_t spread = f->period == PERIOD_BACK_TO_BACK ? 2000 : f->period;

	if (c->place[f->place].there && c->place[f->peer].there)
		timer_set(&c->timers, TIMER_FLOW + flow, c->now + 1 + below(c, spread));
}

void flow_stop(struct core *c, uint32_t flow)
{
	struct flow *f = &c->flow[flow];
	uint32_t others = ~(1u << flow);

	for (uint32_t i = 0; i < JOBS; i++)
		f->job[i] = (struct job){ 0 };
	f->nready = f->nbusy = 0;
	f->owed = 0;
	timer_set(&c->timers, TIMER_FLOW + flow, NEVER);
	c->room[0].flows &= others;
	c->room[1].flows &= others;
	for (uint32_t i = 0; i < REQUESTERS; i++)
		c->requester[i].waiting.flows &= others;
}
