/*
 * kunpeng_int.h: what the parts of the kunpeng machine share.
 *
 *	kunpeng.c        the machine: opening, time, truth
 *	kunpeng_place.c  who sits where: ports, endpoints, filters, hotplug
 *	kunpeng_path.c   the two directions of a core: buffers, weights, watermarks
 *	kunpeng_flow.c   what endpoints do: jobs and their steps
 *	kunpeng_txn.c    non-posted requests: tags, answers, faults
 *	kunpeng_packet.c headers, as the PTT device sees them
 *	kunpeng_load.c   which loads there are
 *	kunpeng_pmus.c   the machine as a platform
 *
 * The way of a packet: flow or txn put it into a buffer (path_put), the path lets it cross and tells flow or txn
 * (flow_crossed, txn_crossed).
 */
#ifndef TALLY_MACHINE_KUNPENG_INT_H
#define TALLY_MACHINE_KUNPENG_INT_H

#include "machine/machine.h"

enum {
	CORES = 2,
	PORTS = 3,  /* of a core */
	PLACES = 8, /* endpoint functions of a core */
	FLOWS = 32,
	JOBS = 32, /* of a flow */
	PLACE_TAGS = 32,
	PORT_TAGS = 64,
	REQUESTERS = PLACES + PORTS, /* the host asks as the root port that it asks through */
	TXNS = REQUESTERS * PORT_TAGS,
	QUEUE = 1024, /* packets of a buffer: more than all tags and all jobs can fill */
	ROOM = 32,
	ROOM_WAKE = 16, /* where flows stop filling the posted one, and go on */
	LINE = 512,
	BATCH = 256, /* packets that a device gets at once */
	FILTERS = 16,
	MEMORY_CHANNELS = 4,
};

/* The link, in its own unit: a DW takes 1 ns. */
enum {
	FRAMING_DWS = 2,  /* sequence number, link CRC, start and end */
	POST_NS = 12,     /* each posting of a buffer */
	TIMEOUT_NS = 400, /* a packet's longest wait for the watermark */
	PAYLOAD_MOST = 256,
	READ_MOST = 512,
	BOUNDARY = 64, /* where a completion may end early */
	HOST_WRITE_BYTES = 64,
	GIVE_UP_NS = 50000, /* a requester's completion time-out */
};

/* ---- time: the earliest of 64 timers ----------------------------------------------------------
 * A tournament: node 1 is the earliest of all. A key is time << 6 | timer, so equal times have an order. The two
 * paths, whose times change with each packet, are not among them: struct path has its own. */
enum {
	TIMER_MEMORY,
	TIMER_REACT = TIMER_MEMORY + MEMORY_CHANNELS,
	TIMER_MEDIA = TIMER_REACT + PLACES,
	TIMER_GIVE_UP = TIMER_MEDIA + PLACES,
	TIMER_FLOW = 32,
	TIMERS = TIMER_FLOW + FLOWS,
};
static_assert(TIMER_GIVE_UP < TIMER_FLOW && TIMERS == 64, "a timer's number has six bits");
#define NEVER (UINT64_MAX >> 6)

struct timers {
	uint64_t node[2 * TIMERS];
};

/* Without a branch: a wrong guess costs more than the levels that could be left out. */
static inline void timer_set(struct timers *t, uint32_t timer, uint64_t at)
{
	uint64_t key = at << 6 | timer;
	uint32_t i = TIMERS + timer;

	for (uint32_t level = TIMERS; level > 1; level /= 2) {
		uint64_t other = t->node[i ^ 1];
		t->node[i] = key;
		key = other < key ? other : key;
		i /= 2;
	}
	t->node[1] = key;
}

/* ---- delay: what is due later, in the order it came ------------------------------------------- */
struct due {
	uint64_t at;
	uint16_t id;
	uint8_t what;
};
struct line {
	uint64_t last; /* when the youngest is due */
	uint32_t head, n;
	struct due due[LINE];
};

/* ---- packets ---------------------------------------------------------------------------------- */
/* a packet is, when it crosses */
enum packet_use {
	USE_PLAIN,
	USE_DOORBELL,
	USE_MSI,        /* id: job_id */
	USE_PEER_WRITE, /* goes on to place `id` */
	USE_REQUEST,
	USE_ANSWER,    /* id: txn */
	USE_FORWARDED, /* a request on its second way, to a peer; id: txn */
};
enum delayed { DELAYED_JOB, DELAYED_ANSWER }; /* what an endpoint, or the host for it, does when a delay is over */
enum queue_class { QUEUE_P, QUEUE_NP, QUEUE_CPL, QUEUES };
/* & 3: enum ptt_class */
enum packet_kind {
	PACKET_WRITE = PTT_CLASS_P,
	PACKET_READ = PTT_CLASS_NP,
	PACKET_ANSWER = PTT_CLASS_CPL_A,
	PACKET_PEER_ANSWER = PTT_CLASS_CPL_B,
	PACKET_CONFIG = 4 + PTT_CLASS_NP,
};
/* What a packet says; its header is made of it when somebody looks (kunpeng_packet.c). */
struct packet {
	uint64_t since;   /* it is in its buffer */
	uint64_t address; /* in bytes; an answer: of its first byte; configuration: the register */
	uint16_t id, tag;
	uint16_t dws;   /* that the link carries for it */
	uint16_t bytes; /* payload */
	uint16_t left;  /* a read: what it asks for; an answer: bytes from here to the end */
	uint8_t form, what;
	uint8_t place;                /* the endpoint it comes from or goes to */
	uint8_t requester, completer; /* indexes of struct core's requester[]; completer: of answers */
	uint8_t status;               /* of answers */
};
static_assert(sizeof(struct packet) == 32, "two to a cache line");
struct queue {
	uint32_t head, n;
	uint64_t pass; /* stride scheduling: what it has had */
	uint32_t stride;
	struct packet p[QUEUE];
};
struct path {                     /* a direction of a core */
	uint64_t at;              /* when it goes on; NEVER */
	uint64_t turn;            /* what the one whose turn it is has had */
	uint32_t watermark, left; /* left: packets of the posting that is under way */
	struct queue *posting;    /* whose; NULL at first */
	bool outbound;
	bool asleep; /* nobody may leave yet */
	struct queue q[QUEUES];
};

/* ---- requests --------------------------------------------------------------------------------- */
struct waiters {
	uint32_t flows, turn;
}; /* a mask; who is woken first */
struct requester {
	uint16_t id, tag_base;
	uint16_t ntags, head, nfree;
	uint8_t free[PORT_TAGS]; /* a ring: a tag rests as long as can be */
	struct waiters waiting;  /* for a tag */
};
enum cpl_status { CPL_SC = 0, CPL_UR = 1, CPL_CA = 4, CPL_NONE = 0xff };
enum txn_kind { TXN_DMA, TXN_HOST, TXN_CONFIG, TXN_PEER };
struct txn {
	uint64_t opened, address;
	uint16_t bytes, missing; /* that were asked for; of those the requester has not got */
	uint16_t job_id, tag;
	uint8_t place, peer; /* the endpoint that asks or is asked; TXN_PEER: peer is asked */
	uint8_t requester;
	uint8_t kind, status;
	bool taken, open; /* open: the request has crossed */
};

/* ---- flows ------------------------------------------------------------------------------------ */
/* clang-format off */
#define KINDS(K) K(NVME_READ) K(NVME_WRITE) K(NIC_RECEIVE) K(NIC_SEND) K(PEER_READ) K(PEER_WRITE) K(HOST_READ) \
	K(HOST_WRITE) K(CONFIG)
/* clang-format on */
enum flow_kind {
#define K(name) FLOW_##name,
	KINDS(K)
#undef K
		FLOW_KINDS
};
#define PERIOD_BACK_TO_BACK 1 /* jobs follow one another */
struct load {
	struct kunpeng_load is;
	uint32_t period[FLOW_KINDS], faults;
};
struct job {
	uint64_t address;
	uint32_t left; /* bytes of this step still to be issued */
	uint32_t bytes;
	uint16_t open; /* requests under way */
	uint8_t step;
	bool busy;
};
struct flow {
	uint32_t period; /* ns between jobs, or PERIOD_BACK_TO_BACK; 0: this flow never does anything */
	uint32_t owed;   /* jobs that found no room */
	uint8_t kind, place, peer, nbusy;
	uint8_t ready[JOBS], head, nready; /* jobs with something to issue, a ring */
	struct job job[JOBS];
};

/* ---- places ----------------------------------------------------------------------------------- */
enum place_kind { DRIVE, NIC };
struct place {
	uint16_t bdf, port_bit;
	uint8_t kind, port;    /* port: 0..PORTS-1 of the core */
	uint8_t peer;          /* another place behind the same switch, or PLACES */
	bool there, deep;      /* deep: behind a switch, so configured with type 1 */
	uint32_t prefix, attr; /* of its requests; attr as in header DW0 */
	uint64_t bar, dma;     /* its registers; the host's memory that it works on */
};

struct core {
	/* set by kunpeng_open() */
	struct kunpeng *machine;
	struct ptt_dev *dev;
	uint32_t nplaces, nflows;
	uint16_t port_bdf[PORTS], port_bit[PORTS];
	/* the simulation */
	uint64_t now, random;
	uint32_t faults;
	struct waiters room[2]; /* in the buffer for posted packets, [outbound] */
	uint32_t peer_writes;   /* between the two directions, or waiting for the second */
	uint32_t tuned[PTT_TUNES];
	struct timers timers;
	struct kunpeng_truth truth;
	struct place place[PLACES];
	struct requester requester[REQUESTERS];
	struct txn txn[TXNS];
	struct path path[2];
	struct line memory[MEMORY_CHANNELS], react[PLACES], media[PLACES], give_up;
	struct flow flow[FLOWS];
	/* packets that the device has not seen yet */
	bool traced;
	uint32_t nbatch;
	struct ptt_tlp batch[BATCH];
	/* what the operating system shows */
	struct ptt_pmu pmu;
	struct ptt_filter filter[FILTERS];
};
struct kunpeng {
	const struct load *load;
	uint64_t now;
	uint32_t generation;
	bool paused;
	bool given[CORES];
	struct core *core[CORES];
};

/* ---- chance ----------------------------------------------------------------------------------- */
/* A number below n. */
static inline uint32_t below(struct core *c, uint32_t n)
{
	c->random += 0x9e3779b97f4a7c15ull;
	uint64_t z = (c->random ^ c->random >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return (uint32_t)(((z ^ z >> 31) >> 32) * n >> 32);
}

static inline void line_put(struct core *c, uint32_t timer, struct line *l, uint64_t delay, uint8_t what, uint16_t id)
{
	uint64_t at = c->now + delay;

	assert(l->n < LINE);
	l->last = at > l->last ? at : l->last;
	l->due[(l->head + l->n) % LINE] = (struct due){ .at = l->last, .id = id, .what = what };
	if (l->n++ == 0)
		timer_set(&c->timers, timer, l->last);
}

static inline struct due line_take(struct core *c, uint32_t timer, struct line *l)
{
	struct due d = l->due[l->head];

	l->head = (l->head + 1) % LINE;
	l->n--;
	timer_set(&c->timers, timer, l->n != 0 ? l->due[l->head].at : NEVER);
	return d;
}

/* ---- kunpeng_load.c --------------------------------------------------------------------------- */
const struct load *load_find(const char *name, struct err *e); /* NULL and words: there is none */

/* ---- kunpeng_path.c --------------------------------------------------------------------------- */
/* Room for a packet at the end of a buffer, to be written there; it is in it once path_put() says so, which sets
 * `since`. (A packet that were written elsewhere and copied would cost a stall.) */
static inline struct packet *path_new(struct path *p, enum queue_class q)
{
	struct queue *b = &p->q[q];

	assert(b->n < QUEUE);
	return &b->p[(b->head + b->n) % QUEUE];
}
void path_put(struct core *c, struct path *p, enum queue_class q);
void path_fire(struct core *c, struct path *p); /* its time has come */
void path_tune(struct core *c);                 /* looks at the device's tunables */
void path_flush(struct core *c);                /* the device sees what has crossed */
uint32_t path_watermark(uint32_t level);        /* packets */
uint32_t path_weight(uint32_t tunable);

/* ---- kunpeng_txn.c ---------------------------------------------------------------------------- */
void txn_reset(struct requester *r); /* all of its tags are free */
/* A request is made and put into its buffer. false: no tag is free; the flow is woken when one is. */
bool txn_ask(struct core *c, uint32_t flow, uint32_t job, enum txn_kind kind, uint64_t address, uint32_t bytes);
void txn_crossed(struct core *c, const struct packet *p, bool outbound);
void txn_answer(struct core *c, uint32_t id); /* its completer answers */
void txn_give_up(struct core *c, uint32_t id);
void txn_abandon(struct core *c, uint32_t id); /* the endpoint is gone; its job too */

/* ---- kunpeng_packet.c ------------------------------------------------------------------------- */
void packet_show(const struct core *c, const struct packet *k, bool outbound, struct ptt_tlp *ret);
/* DWs of a memory request's or a completion's data, from a first byte on. */
static inline uint32_t packet_data_dws(uint64_t address, uint32_t bytes)
{
	return ((uint32_t)(address & 3) + bytes + 3) / 4;
}

/* ---- kunpeng_flow.c --------------------------------------------------------------------------- */
void flow_open(struct core *c, const struct load *l); /* the flows of all places */
void flow_start(struct core *c, uint32_t flow);       /* of a place that is there now */
void flow_stop(struct core *c, uint32_t flow);
void flow_due(struct core *c, uint32_t flow); /* its timer went off */
/* What they waited for is there. They take turns: next time the one behind the first of now is first. */
void flow_wake(struct core *c, struct waiters *w);
void flow_answered(struct core *c, uint32_t job_id);                      /* one of its requests has ended */
void flow_next(struct core *c, uint32_t job_id);                          /* a step has ended */
void flow_crossed(struct core *c, const struct packet *p, bool outbound); /* posted */
/* A job of any flow: its flow is id / JOBS. */
#define JOB_ID(flow, job) ((uint16_t)((flow)*JOBS + (job)))

/* ---- kunpeng_place.c -------------------------------------------------------------------------- */
void place_open(struct core *c, uint32_t core);
void place_device(uint32_t core, struct ptt_dev_opts *o);

#endif
