/*
 * local_fuzz.c: any bytes, as two clients' streams, into the server's end of the local protocol.
 *
 * The first byte says how: bit 0, both have said hello; bit 1, what follows is made into frames that get past the first
 * checks, each for the client that its bit 7 names, with a while of the machine's time as one more operation; bits 3 to
 * 7, the size of pieces; with the largest a few traces may be started.  Whatever comes, what is answered is frames with
 * a status that there is, and a client that is gone owns nothing.  The machine is one for all runs: opening it would
 * take longer than the rest.
 */
#include <string.h>

#include "attach/local.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct {
	uint16_t op;
	uint8_t request;
} ops[] = {
#define X(name, number, right, request, reply, more) { number, sizeof(request) },
	LOCAL_COMMON_OPS(X) LOCAL_PTT_OPS(X)
#undef X
};

static struct kunpeng *machine(void **service)
{
	static struct kunpeng *k;
	static void *s;
	struct err e = { 0 };

	if (!k && (kunpeng_open(&k, &(struct kunpeng_opts){ 1, "full" }, &e) < 0 || local_kunpeng.open(&s, k, &e) < 0))
		__builtin_trap();
	*service = s;
	return k;
}

/* Takes what is to be sent, as a client that reads now and then. */
static void take(struct local_peer *p)
{
	struct local_head h;
	const uint8_t *out;
	size_t n;

	for (;;) {
		out = local_peer_out(p, &n);
		if (!n)
			return;
		memcpy(&h, out, n < sizeof(h) ? n : sizeof(h));
		if (n < sizeof(h) || h.bytes < sizeof(h) || h.bytes > n || h.bytes > LOCAL_FRAME_MOST || h.status > 9)
			__builtin_trap();
		local_peer_sent(p, h.bytes);
	}
}

static void feed(struct local_peer *p, const uint8_t *from, size_t n, size_t piece)
{
	while (n) {
		size_t room, some = n < piece ? n : piece;
		uint8_t *to = local_peer_room(p, &room);

		some = some < room ? some : room;
		memcpy(to, from, some);
		local_peer_came(p, some);
		if (local_peer_over(p))
			return;
		if (!some)
			take(p);
		from += some;
		n -= some;
	}
}

static void greet(struct local_peer *p)
{
	const struct local_hello hello = { LOCAL_MAGIC, LOCAL_VERSION, 0 };
	const struct local_head h = { sizeof(h) + sizeof(hello), LOCAL_HELLO, 0, 0 };

	feed(p, (const uint8_t *)&h, sizeof(h), sizeof(h));
	feed(p, (const uint8_t *)&hello, sizeof(hello), sizeof(hello));
}

/* What an operation looks at first is brought into range. */
static void mend(uint16_t op, uint8_t *p)
{
	static const char *const place[] = { "0000:01:00.0", "0000:01:00.1", "0000:04:00.0", "0000:77:00.0" };
	struct local_start start;
	uint32_t device = p[0] % 3u, code = ptt_tunables[p[4] % PTT_TUNES].code;

	if (op >= LOCAL_PTT_FILTERS && op != LOCAL_PTT_PLUG)
		memcpy(p, &device, sizeof(device));
	if (op == LOCAL_PTT_TUNE_GET || op == LOCAL_PTT_TUNE_SET)
		memcpy(p + 4, &code, sizeof(code));
	if (op == LOCAL_PTT_PLUG)
		memcpy(p, place[p[0] % COUNT(place)], strlen(place[0]) + 1);
	if (op != LOCAL_PTT_START)
		return;
	start = (struct local_start){ device, 0, 0x80001u | (p[4] & 3u) << 20 | (p[5] & 7u) << 24 | (p[6] & 1ull) << 32,
				      (1 + (p[7] == 7)) * (uint64_t)PTT_BUFFER_BYTES };
	memcpy(p, &start, sizeof(start));
}

struct run {
	struct kunpeng *k;
	struct local_peer *peer[2];
	/* left: neither the machine nor the memory of a trace is what is tried here, and they would take most of the
	 * time */
	int passes, starts;
};

static size_t time_passes(struct run *r)
{
	if (r->passes-- <= 0)
		return 1;
	kunpeng_run(r->k, kunpeng_now(r->k) + 1000);
	local_peer_came(r->peer[0], 0);
	local_peer_came(r->peer[1], 0);
	return 1;
}

/* One frame out of some bytes. Returns how many of them it took. */
static size_t plausible(struct run *r, const uint8_t *data, size_t size, size_t piece)
{
	const size_t i = (data[0] & 0x7f) % (COUNT(ops) + 1);
	struct local_head h = { .id = size };
	uint8_t frame[sizeof(h) + 64] = { 0 };
	size_t n;

	if (i == COUNT(ops))
		return time_passes(r);
	if (ops[i].op == LOCAL_PTT_START && r->starts-- <= 0)
		return 1;
	h.op = ops[i].op;
	h.bytes = (uint32_t)sizeof(h) + ops[i].request;
	n = ops[i].request < size - 1 ? ops[i].request : size - 1;
	memcpy(frame, &h, sizeof(h));
	memcpy(frame + sizeof(h), data + 1, n);
	mend(ops[i].op, frame + sizeof(h));
	feed(r->peer[data[0] >> 7], frame, h.bytes, piece);
	return 1 + n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	void *service;
	const uint8_t how = size ? *data : 0;
	const size_t piece = 1 + (how >> 3) * 41u;
	struct run r = { .k = machine(&service), .passes = 2, .starts = how >> 3 == 31 ? 3 : 1 };

	for (int i = 0; i < 2; i++) {
		if (local_peer_open(&r.peer[i], &local_kunpeng, service) < 0)
			__builtin_trap();
		if (how & 1)
			greet(r.peer[i]);
	}
	for (size_t at = 1; at < size;) {
		if (how & 2)
			at += plausible(&r, data + at, size - at, piece);
		else
			feed(r.peer[0], data + at, size - at, piece), at = size;
	}
	for (int i = 0; i < 2; i++) {
		take(r.peer[i]);
		local_peer_close(r.peer[i]);
	}
	for (uint32_t i = 0; i < kunpeng_ndevices(r.k); i++)
		if (ptt_dev_hosted(kunpeng_device(r.k, i)) || ptt_dev_tracing(kunpeng_device(r.k, i)))
			__builtin_trap();
	return 0;
}
