/*
 * local.c: a conversation of the local protocol: bytes in, bytes out.
 *
 * A peer is what the server knows of one client: a buffer of what came, a
 * buffer of what is to be sent, its rights.  Both are of constant size, and that is
 * the whole of back-pressure: a request is looked at only when the longest
 * reply it may get has room, so a client that doesn't read is soon not read
 * either.  A frame's length is checked before anything else of it, its payload's size
 * against the operation's row before the operation sees it.
 *
 * Refuses: anything before a hello; a frame whose length can't be.  Both end in
 * a reply and a hang-up, since what follows can't be told apart from noise.  All
 * other mistakes get a reply and no more.
 *
 * Nothing in here knows a socket: fuzzing feeds it bytes.  A descriptor that came along waits for an operation
 * to take it; the next one takes its place.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "attach/local.h"

#define IN_BYTES (2 * LOCAL_FRAME_MOST) /* part of a frame never keeps a whole one from being read */
#define OUT_BYTES (4 * LOCAL_FRAME_MOST)

struct local_peer {
	const struct local_service *s;
	void *service, *own; /* own: the service's word for this client */
	int fd;              /* that came, and nothing took; -1: none */
	bool greeted, over, full;
	uint32_t rights;
	uint32_t in_at, in_n;   /* what came and is not answered */
	uint32_t out_at, out_n; /* what is to be sent */
	struct err err;
	uint8_t in[IN_BYTES], out[OUT_BYTES];
};

uint16_t local_status(int rc)
{
	switch (-rc) {
#define X(number, tag)     \
	case TALLY_E##tag: \
		return number;
		LOCAL_STATUSES(X)
#undef X
	default:
		return local_status(-TALLY_EIO);
	}
}

int local_error(uint16_t status)
{
	switch (status) {
	case 0:
		return 0;
#define X(number, tag) \
	case number:   \
		return -TALLY_E##tag;
		LOCAL_STATUSES(X)
#undef X
	default:
		return -TALLY_EIO;
	}
}

int local_peer_open(struct local_peer **ret, const struct local_service *s, void *service)
{
	struct local_peer *p = mem_alloc(sizeof(*p));

	if (!p)
		return -TALLY_ENOMEM;
	p->s = s;
	p->service = service;
	p->fd = -1;
	*ret = p;
	return 0;
}

void local_peer_close(struct local_peer *p)
{
	if (!p)
		return;
	if (p->s->gone)
		p->s->gone(p->service, p);
	local_peer_gave(p, -1);
	mem_free(p);
}

void **local_peer_own(struct local_peer *p)
{
	return &p->own;
}

void local_peer_gave(struct local_peer *p, int fd)
{
	if (p->fd >= 0)
		close(p->fd);
	p->fd = fd;
}

int local_peer_take_fd(struct local_peer *p)
{
	int fd = p->fd;

	p->fd = -1;
	return fd;
}

bool local_peer_over(const struct local_peer *p)
{
	return p->over;
}

bool local_peer_full(const struct local_peer *p)
{
	return p->full;
}

/* ---- what is to be sent -------------------------------------------------------------------------- */

/* Room for a whole frame, or NULL. */
static uint8_t *out_room(struct local_peer *p, uint32_t bytes)
{
	if (OUT_BYTES - p->out_n < bytes) {
		if (OUT_BYTES - (p->out_n - p->out_at) < bytes) {
			p->full = true;
			return NULL;
		}
		memmove(p->out, p->out + p->out_at, p->out_n - p->out_at);
		p->out_n -= p->out_at;
		p->out_at = 0;
	}
	return p->out + p->out_n;
}

/* Makes a frame of the n bytes that are behind the place for its head. */
static void out_frame(struct local_peer *p, uint16_t op, uint16_t status, uint64_t id, uint32_t n)
{
	const struct local_head h = { (uint32_t)sizeof(h) + n, op, status, id };

	memcpy(p->out + p->out_n, &h, sizeof(h));
	p->out_n += h.bytes;
}

static void out_words(struct local_peer *p, uint16_t op, uint64_t id, const struct err *e)
{
	uint32_t n = (uint32_t)strnlen(e->text, LOCAL_WORDS_MOST);

	memcpy(p->out + p->out_n + sizeof(struct local_head), e->text, n);
	out_frame(p, op, local_status(-e->code), id, n);
}

uint8_t *local_reply(struct local_peer *p, uint16_t op, uint64_t id, uint32_t n)
{
	uint8_t *to;

	assert(n <= LOCAL_PAYLOAD_MOST);
	to = out_room(p, (uint32_t)sizeof(struct local_head) + n);
	if (!to)
		return NULL;
	out_frame(p, op, 0, id, n);
	return to + sizeof(struct local_head);
}

bool local_reply_error(struct local_peer *p, uint16_t op, uint64_t id, const struct err *e)
{
	if (!out_room(p, (uint32_t)sizeof(struct local_head) + LOCAL_WORDS_MOST))
		return false;
	out_words(p, op, id, e);
	return true;
}

const uint8_t *local_peer_out(const struct local_peer *p, size_t *n)
{
	*n = p->out_n - p->out_at;
	return p->out + p->out_at;
}

void local_peer_sent(struct local_peer *p, size_t n)
{
	assert(n <= p->out_n - p->out_at);
	p->out_at += (uint32_t)n;
	if (p->out_at == p->out_n)
		p->out_at = p->out_n = 0;
}

size_t local_refusal(uint8_t *to, enum tally_err code, const char *words)
{
	size_t n = strnlen(words, LOCAL_WORDS_MOST);
	const struct local_head h = { (uint32_t)(sizeof(h) + n), LOCAL_HELLO, local_status(-(int)code), 0 };

	memcpy(to, &h, sizeof(h));
	memcpy(to + sizeof(h), words, n);
	return h.bytes;
}

/* ---- operations that every platform has (protocol.md 2) ------------------------------------------------ */

static int run_HELLO(struct local_call *c)
{
	struct local_welcome w = { LOCAL_VERSION, 0, LOCAL_FRAME_MOST, LOCAL_PENDING_MOST, "" };
	struct local_hello h;

	memcpy(&h, c->in, sizeof(h));
	if (c->peer->greeted)
		return err_set(c->e, TALLY_ESTATE, "HELLO was sent already");
	if (memcmp(h.magic, LOCAL_MAGIC, sizeof(h.magic)) != 0)
		return err_set(c->e, TALLY_ECORRUPT, "bad HELLO: wrong magic");
	if (h.version != LOCAL_VERSION)
		return err_set(c->e, TALLY_ENOTSUP, "unsupported protocol version %u (this server speaks %u)",
			       h.version, LOCAL_VERSION);
	if (h.rights & ~LOCAL_RIGHTS)
		return err_set(c->e, TALLY_EINVAL, "unknown rights 0x%x (known: 0x%x)", h.rights & ~LOCAL_RIGHTS,
			       LOCAL_RIGHTS);
	w.rights = h.rights ? h.rights : LOCAL_RIGHTS;
	snprintf(w.platform, sizeof(w.platform), "%s", c->peer->s->platform);
	c->peer->rights = w.rights;
	c->peer->greeted = true;
	memcpy(c->out, &w, sizeof(w));
	c->nout = sizeof(w);
	return 0;
}

static int run_PING(struct local_call *c)
{
	memcpy(c->out, c->in, sizeof(struct local_ping));
	c->nout = sizeof(struct local_ping);
	return 0;
}

static const struct local_row common[] = {
#define X(name, number, right, request, reply, more) \
	[(number)-LOCAL_HELLO] = { (right), sizeof(request), sizeof(reply) + (more), run_##name },
	LOCAL_COMMON_OPS(X)
#undef X
};

/* ---- what came ------------------------------------------------------------------------------------- */

static const struct local_row *row_of(const struct local_peer *p, uint16_t op)
{
	if (op >= LOCAL_HELLO && op - LOCAL_HELLO < (int)COUNT(common))
		return &common[op - LOCAL_HELLO];
	if (op >= p->s->first && op - p->s->first < p->s->nrows)
		return &p->s->row[op - p->s->first];
	return NULL;
}

static int local_call_check(struct local_peer *p, const struct local_head *h, const struct local_row *row)
{
	const uint32_t n = h->bytes - (uint32_t)sizeof(*h);

	if (!p->greeted && h->op != LOCAL_HELLO) {
		p->over = true;
		return err_set(&p->err, TALLY_ESTATE, "operation 0x%x before HELLO: HELLO must be the first request",
			       h->op);
	}
	if (h->status)
		return err_set(&p->err, TALLY_EINVAL, "status %u in a request (must be 0)", h->status);
	if (!row)
		return err_set(&p->err, TALLY_ENOTSUP, "%s has no operation 0x%x", p->s->platform, h->op);
	if ((p->rights & row->right) != row->right)
		return err_set(&p->err, TALLY_EPERM, "operation 0x%x requires right 0x%x, which HELLO did not request",
			       h->op, row->right);
	if (n != row->request)
		return err_set(&p->err, TALLY_EINVAL, "operation 0x%x requires %u bytes after the header, not %u",
			       h->op, row->request, n);
	return 0;
}

/* False: there is no room for the reply. */
static bool local_call_answer(struct local_peer *p, const struct local_head *h, const uint8_t *in)
{
	const struct local_row *row = row_of(p, h->op);
	const uint32_t most = row && row->reply > LOCAL_WORDS_MOST ? row->reply : LOCAL_WORDS_MOST;
	uint8_t *to = out_room(p, (uint32_t)sizeof(*h) + most);
	struct local_call c = { p->service, p, h->id, in, NULL, 0, &p->err };
	int rc;

	if (!to)
		return false;
	c.out = to + sizeof(*h);
	p->err.code = 0;
	rc = local_call_check(p, h, row);
	if (rc == 0)
		rc = row->run(&c);
	if (rc == 0)
		out_frame(p, h->op, 0, h->id, c.nout);
	else if (rc < 0)
		out_words(p, h->op, h->id, &p->err);
	if (!p->greeted)
		p->over = true;
	return true;
}

static bool length_is_good(struct local_peer *p, const struct local_head *h)
{
	if (h->bytes >= sizeof(*h) && h->bytes <= LOCAL_FRAME_MOST)
		return true;
	if (!out_room(p, (uint32_t)sizeof(*h) + LOCAL_WORDS_MOST))
		return false;
	p->err.code = 0;
	err_set(&p->err, TALLY_ECORRUPT, "invalid frame length %u (valid: %zu to %u)", h->bytes, sizeof(*h),
		LOCAL_FRAME_MOST);
	out_words(p, h->op, h->id, &p->err);
	p->over = true;
	return false;
}

uint8_t *local_peer_room(struct local_peer *p, size_t *n)
{
	if (p->in_at == p->in_n)
		p->in_at = p->in_n = 0;
	if (IN_BYTES - p->in_n < LOCAL_FRAME_MOST && p->in_at) {
		memmove(p->in, p->in + p->in_at, p->in_n - p->in_at);
		p->in_n -= p->in_at;
		p->in_at = 0;
	}
	*n = p->over ? 0 : IN_BYTES - p->in_n;
	return p->in + p->in_n;
}

void local_peer_came(struct local_peer *p, size_t n)
{
	struct local_head h;

	assert(n <= IN_BYTES - p->in_n);
	p->in_n += (uint32_t)n;
	p->full = false;
	while (!p->over && p->in_n - p->in_at >= sizeof(h)) {
		const uint8_t *frame = p->in + p->in_at;

		memcpy(&h, frame, sizeof(h));
		if (!length_is_good(p, &h) || h.bytes > p->in_n - p->in_at ||
		    !local_call_answer(p, &h, frame + sizeof(h)))
			break;
		p->in_at += h.bytes;
	}
	if (!p->over && p->s->pump)
		p->s->pump(p->service, p);
}
