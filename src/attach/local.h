/*
 * local.h: the local protocol: frames over a UNIX stream socket.
 *
 * A request is a frame, and each request gets one reply with the same id and
 * operation.  Replies to what takes no time come in the order of the requests; a reply
 * that waits for something (PTT_NEXT: trace bytes) comes when it is there.  So a client may
 * send thousands of requests in one write, and nothing is ever sent that it
 * did not ask for: who doesn't read is not written to.
 *
 * Three layers: a conversation (local.c) turns bytes into bytes and knows no
 * socket; a server (local_server.c) has the socket and the clients; a service
 * (local_ptt.c) is a table of operations.  The other end is local_client.c, and
 * local_pmus.c on top of it.  Layouts: doc/protocol.md, whose sections the asserts name.
 */
#ifndef TALLY_ATTACH_LOCAL_H
#define TALLY_ATTACH_LOCAL_H

#include "attach/attach.h"

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "protocol.md 1: what is in memory goes over the wire");

/* ---- frames (protocol.md 1) -------------------------------------------------------------------- */
#define LOCAL_VERSION 1u
#define LOCAL_MAGIC "tallyLP" /* and its NUL: 8 bytes */
#define LOCAL_FRAME_MOST 65536u
#define LOCAL_CLIENTS 64
#define LOCAL_WORDS_MOST 511u

struct local_head {
	uint32_t bytes; /* of the frame, with these 16 */
	uint16_t op;
	uint16_t status; /* 0 in a request */
	uint64_t id;     /* the client's; comes back unchanged */
};
static_assert(sizeof(struct local_head) == 16 && offsetof(struct local_head, id) == 8, "protocol.md 1");
#define LOCAL_PAYLOAD_MOST (LOCAL_FRAME_MOST - (uint32_t)sizeof(struct local_head))

/* X(name, number, right, request, reply, more): numbers stay for good. A request's payload has that size; a reply's has
 * that, and up to `more` bytes behind it. */
#define LOCAL_COMMON_OPS(X)                                              \
	X(HELLO, 0x0001, 0, struct local_hello, struct local_welcome, 0) \
	X(PING, 0x0002, 0, struct local_ping, struct local_ping, 0)
#define LOCAL_PTT_FIRST 0x0100
/* clang-format off */
#define LOCAL_PTT_OPS(X)                                                                                               \
	X(PTT_LIST, 0x0100, LOCAL_LOOK, struct local_nothing, struct local_devices,                                    \
	  PTT_PMU_MOST * sizeof(struct local_pmu))                                                                     \
	X(PTT_FILTERS, 0x0101, LOCAL_LOOK, struct local_from, struct local_filters,                                    \
	  LOCAL_FILTERS_MOST * sizeof(struct local_filter))                                                            \
	X(PTT_READ, 0x0102, LOCAL_LOOK, struct local_register, struct local_value, 0)                                  \
	X(PTT_WRITE, 0x0103, LOCAL_SET, struct local_assign, struct local_nothing, 0)                                  \
	X(PTT_TUNE_GET, 0x0104, LOCAL_LOOK, struct local_register, struct local_value, 0)                              \
	X(PTT_TUNE_SET, 0x0105, LOCAL_SET, struct local_assign, struct local_nothing, 0)                               \
	X(PTT_START, 0x0106, LOCAL_TRACE, struct local_start, struct local_nothing, 0)                                 \
	X(PTT_NEXT, 0x0107, LOCAL_TRACE, struct local_device, struct local_piece, 0)                                   \
	X(PTT_STOP, 0x0108, LOCAL_TRACE, struct local_device, struct local_nothing, 0)                                 \
	X(PTT_PLUG, 0x0109, LOCAL_PLUG, struct local_plug, struct local_nothing, 0)                                    \
	X(PTT_COUNTS, 0x010a, LOCAL_LOOK, struct local_device, struct local_counts, 0)                                 \
	X(PTT_LINK, 0x010b, LOCAL_LOOK, struct local_device, struct local_link, 0)
/* clang-format on */
enum local_op {
#define X(name, number, ...) LOCAL_##name = (number),
	LOCAL_COMMON_OPS(X) LOCAL_PTT_OPS(X)
#undef X
};

/* X(number, error of tally/error.h): a status and what it is here (protocol.md 3). */
/* clang-format off */
#define LOCAL_STATUSES(X)                                                                                              \
	X(1, NOMEM)                                                                                                    \
	X(2, INVAL)                                                                                                    \
	X(3, NOTSUP)                                                                                                   \
	X(4, PERM)                                                                                                     \
	X(5, BUSY)                                                                                                     \
	X(6, IO)                                                                                                       \
	X(7, CORRUPT)                                                                                                  \
	X(8, STATE)                                                                                                    \
	X(9, END)
/* clang-format on */
uint16_t local_status(int rc);    /* of a negative error; one without a row is IO */
int local_error(uint16_t status); /* the negative error of a status; one without a row is -TALLY_EIO */

/* ---- payloads (protocol.md 2, 4) --------------------------------------------------------------- */
struct local_nothing {
	uint8_t none[0];
};
/* Rights, asked for and granted. */
#define LOCAL_LOOK 1u  /* lists, registers, tunables, counts */
#define LOCAL_SET 2u   /* tunables */
#define LOCAL_TRACE 4u /* traces */
#define LOCAL_PLUG 8u  /* endpoints come and go */
#define LOCAL_CALL 16u /* a guest: memory, hypercalls, ancillary state registers */
#define LOCAL_RIGHTS 31u
struct local_hello {
	char magic[8];
	uint32_t version;
	uint32_t rights; /* wanted; 0: all that can be had */
};
static_assert(sizeof(struct local_hello) == 16 && offsetof(struct local_hello, rights) == 12, "protocol.md 2");
struct local_welcome {
	uint32_t version, rights, frame_most, pending_most; /* pending_most: PTT_NEXT that may wait at once */
	char platform[16];                                  /* "kunpeng" */
};
static_assert(sizeof(struct local_welcome) == 32 && offsetof(struct local_welcome, platform) == 16, "protocol.md 2");
struct local_ping {
	uint64_t word; /* comes back */
};

struct local_device {
	uint32_t device, zero; /* device: index of PTT_LIST */
};
struct local_devices {
	uint32_t n, generation; /* and n struct local_pmu; generation grows when filters change */
};
struct local_pmu {
	char name[32], cpus[64];
	uint32_t type, nfilters;
};
static_assert(sizeof(struct local_pmu) == 104 && offsetof(struct local_pmu, type) == 96, "protocol.md 4.1");
#define LOCAL_FILTERS_MOST 512
struct local_from {
	uint32_t device, from;
};
struct local_filters {
	uint32_t generation, total, from, n; /* and n struct local_filter */
};
struct local_filter {
	char name[16];
	uint32_t value, port; /* port: 1 a root port, 0 a requester */
};
static_assert(sizeof(struct local_filter) == 24 && offsetof(struct local_filter, value) == 16, "protocol.md 4.2");
struct local_register {
	uint32_t device, at; /* at: an offset in BAR 2, or a tunable's code */
};
struct local_assign {
	uint32_t device, at, value, zero;
};
struct local_value {
	uint32_t value, zero;
};
struct local_start {
	uint32_t device, zero;
	uint64_t config, ring; /* ring: bytes, a multiple of 4 MiB */
};
static_assert(sizeof(struct local_start) == 24 && offsetof(struct local_start, ring) == 16, "protocol.md 4.5");
#define LOCAL_RING_MOST (256u << 20)
#define LOCAL_PENDING_MOST 16
/* A piece of what the driver committed at once. The bytes follow. */
struct local_piece {
	uint64_t total, at; /* bytes of the commit; of it before this piece */
	uint64_t lost;      /* records known to be lost before the commit */
	uint32_t flags, zero;
};
#define LOCAL_PIECE_TRUNCATED 1u /* data before the commit is lost */
#define LOCAL_PIECE_END 2u       /* the trace is over, and its device free: no bytes */
#define LOCAL_PIECE_MOST ((LOCAL_PAYLOAD_MOST - (uint32_t)sizeof(struct local_piece)) & ~31u)
static_assert(sizeof(struct local_piece) == 32 && offsetof(struct local_piece, flags) == 24, "protocol.md 4.6");
struct local_plug {
	char bdf[16];
	uint32_t there, zero;
};
static_assert(sizeof(struct local_plug) == 24, "protocol.md 4.8");
struct local_counts {
	uint64_t now_ns; /* of the machine */
	uint64_t seen, recorded, filtered, lost, dma_errors, buffers, interrupts;
	uint32_t generation, tracing;
};
static_assert(sizeof(struct local_counts) == 72 && offsetof(struct local_counts, generation) == 64, "protocol.md 4.9");
struct local_link {
	uint64_t now_ns; /* of the machine */
	uint64_t tlps[2][4], bytes[2][4];
};
static_assert(sizeof(struct local_link) == 136 && offsetof(struct local_link, bytes) == 72, "protocol.md 4.10");

/* ---- a service: operations and who answers them -------------------------------------------------- */
struct local_peer; /* one client's conversation */
struct local_call {
	void *service;           /* what open() made */
	struct local_peer *peer; /* who asks */
	uint64_t id;
	const uint8_t *in; /* the payload, of the row's size; unaligned */
	uint8_t *out;      /* room for the row's reply, unaligned; what is written is its first nout bytes */
	uint32_t nout;
	struct err *e;
};
struct local_row {
	uint16_t right;
	uint32_t request, reply; /* bytes of the payloads; of the reply at most */
	/* 0: nout bytes of out are the reply. LOCAL_LATER: local_reply() comes. Negative, with words: an error. */
	int (*run)(struct local_call *c);
};
#define LOCAL_LATER 1
struct local_service {
	const char *platform;  /* 15 characters at most */
	uint16_t first, nrows; /* operations first, first + 1, ... are row[0], row[1], ... */
	const struct local_row *row;
	int (*open)(void **ret, void *platform, struct err *e);
	void (*close)(void *service); /* after the last client */
	/* Writes what waits for this client, as far as there is room: after each request, and when time has passed. */
	void (*pump)(void *service, struct local_peer *p);
	void (*gone)(void *service, struct local_peer *p); /* all that was this client's ends */
	bool takes_fds; /* a descriptor that comes along is kept for local_peer_take_fd(); else it is dropped */
};
/* The service's own word for this client, NULL at first; gone() frees what it points to. */
void **local_peer_own(struct local_peer *p);
/* The descriptor that came last and was not taken, which is the caller's then; -1: none. */
int local_peer_take_fd(struct local_peer *p);
/* For pump(): a reply that was put off. Room for n bytes of payload, or NULL when the client has to read first: pump()
 * comes again. */
uint8_t *local_reply(struct local_peer *p, uint16_t op, uint64_t id, uint32_t n);
/* The same for an error; false: no room. */
bool local_reply_error(struct local_peer *p, uint16_t op, uint64_t id, const struct err *e);

/* ---- a conversation: bytes in, bytes out (local.c) ------------------------------------------------- */
/* Constant memory per client. -TALLY_ENOMEM. */
int local_peer_open(struct local_peer **ret, const struct local_service *s, void *service);
void local_peer_close(struct local_peer *p); /* tells the service; NULL is fine */
/* Where the client's next bytes go, and how many; 0: it has to read first. */
uint8_t *local_peer_room(struct local_peer *p, size_t *n);
/* n bytes came (0: none, but time may have passed): answers whatever can be answered. */
void local_peer_came(struct local_peer *p, size_t n);
/* A descriptor came with bytes that are about to be said to have come. The peer closes it, and the one before. */
void local_peer_gave(struct local_peer *p, int fd);
/* What is to be sent. */
const uint8_t *local_peer_out(const struct local_peer *p, size_t *n);
void local_peer_sent(struct local_peer *p, size_t n);
/* There was no room for all that could have been answered: local_peer_came() again when some was sent. */
bool local_peer_full(const struct local_peer *p);
/* The client broke the rules: send what is to be sent, and hang up. */
bool local_peer_over(const struct local_peer *p);
/* A frame with an error for somebody who is not let in. Returns its bytes; to has room for 16 + LOCAL_WORDS_MOST. */
size_t local_refusal(uint8_t *to, enum tally_err code, const char *words);

/* ---- a client (local_client.c) -------------------------------------------------------------------- */
struct local_client;
struct local_answer {
	struct local_head head;
	const uint8_t *p; /* the payload, head.bytes - 16 bytes; valid until the next call */
};
/* How long a client waits for its server; what is 0 is the default. */
struct local_wait {
	int answer_ms;            /* for each answer; 10 s */
	int last_ms;              /* of silence, in all, once *stop is set or an answer has not come; 2 s */
	const volatile int *stop; /* the caller's; lives as long as the client; NULL: nothing stops it */
};
/* Connects and says hello. w NULL: all defaults. -TALLY_EINVAL: no path for a socket; -TALLY_EIO:
 * nobody listens there, or no answer came; -TALLY_EPERM, -TALLY_EBUSY, -TALLY_ENOTSUP: refused, with the server's
 * words; -TALLY_EEND: it hung up. */
int local_connect(struct local_client **ret, const char *path, uint32_t rights, const struct local_wait *w,
		  struct err *e);
/* The same over a connected stream socket, which it takes. `name` is for messages. */
int local_adopt(struct local_client **ret, int fd, const char *name, uint32_t rights, const struct local_wait *w,
		struct err *e);
void local_disconnect(struct local_client *c); /* NULL is fine */
const struct local_welcome *local_welcomed(const struct local_client *c);
const char *local_client_name(const struct local_client *c); /* "unix:/run/x" */
/* Puts a request into the batch, sending when that is full, and sets *id. 1: taken; 0: answers have to be taken first;
 * -TALLY_EEND. n: at most LOCAL_PAYLOAD_MOST. */
int local_ask(struct local_client *c, uint16_t op, const void *p, size_t n, uint64_t *id, struct err *e);
/* That descriptor goes along with the next request, which is sent as soon as it is asked; the batch must be empty. It
 * stays the caller's, and open until the answer is there. */
void local_enclose(struct local_client *c, int fd);
/* Sends the batch and waits for the next frame. 1; 0: none in timeout_ms (0: looks only; -1: as long as an answer may
 * take); -TALLY_EEND, -TALLY_ECORRUPT. An answer's error is in its status. */
int local_next(struct local_client *c, struct local_answer *a, int timeout_ms, struct err *e);
/* Words of an answer's error into e. Returns its negative code; 0: it is none. */
int local_check(const struct local_client *c, const struct local_answer *a, struct err *e);
/* One request and its answer. What answers another request goes to `other`, which may take LOCAL_PENDING_MOST of
 * them; NULL: there are none. Returns 0 and *a, or the answer's error. */
struct local_other {
	void *arg;
	void (*take)(void *arg, const struct local_answer *a);
};
int local_ask_and_wait(struct local_client *c, uint16_t op, const void *p, size_t n, struct local_answer *a,
		       const struct local_other *other, struct err *e);

#endif
