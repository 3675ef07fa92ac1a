/*
 * local_hv_fuzz.c: any bytes, as two clients' streams, into the server's end of a hypervisor's socket.
 *
 * The first byte says which machine (bit 0: POWER), whether both clients are guests already (bit 1) and have lent
 * memory (bit 2), and whether frames are made out of what follows (bit 3).  Descriptors of all kinds come along.
 * Whatever comes: answers are frames, and guests that are gone own no strand, no memory and no descriptor.  Machines
 * are made once: opening them would take longer than the rest.
 */
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "attach/local_hv.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define BASE UINT64_C(0x80000000)
#define BYTES 8192u

static const struct {
	uint16_t op;
	uint8_t request;
} ops[] = {
#define X(name, number, right, request, reply, more) { number, sizeof(request) },
	LOCAL_HV_OPS(X)
#undef X
};

struct world {
	struct local_hv sun4v, power;
	struct local_hv_guests guests;
	void *service[2];
};

static uint64_t now(void *arg)
{
	(void)arg;
	return 1;
}

static struct world *world(void)
{
	static struct world w;
	static const char text[] = "guest a strand strands=0-3\nguest b global,htstrand\nothers all\n";
	struct sun4v_opts so = { .kind = sun4v_kind("niagara", 0), .ops = &niagara_ops, .guests = LOCAL_CLIENTS };
	struct papr_opts po = { .ops = &power_ops, .level = 6 };
	struct err e = { 0 };

	if (w.service[0])
		return &w;
	w.sun4v = (struct local_hv){ .kind = so.kind, .guests = &w.guests, .now = now };
	w.power.now = now;
	if (niagara_open(&w.sun4v.niagara, so.kind, &(struct niagara_opts){ 0 }, &e) < 0 ||
	    power_open(&w.power.power, &(struct power_opts){ .level = 6 }, &e) < 0 ||
	    local_hv_guests_parse(&w.guests, text, sizeof(text) - 1, 32, &e) < 0)
		__builtin_trap();
	so.arg = w.sun4v.niagara;
	po.arg = w.power.power;
	if (sun4v_open(&w.sun4v.sun4v, &so) < 0 || papr_open(&w.power.papr, &po) < 0 ||
	    local_hv_service("niagara")->open(&w.service[0], &w.sun4v, &e) < 0 ||
	    local_hv_service("power")->open(&w.service[1], &w.power, &e) < 0)
		__builtin_trap();
	return &w;
}

static void take(struct local_peer *p)
{
	struct local_head h;
	const uint8_t *out;
	size_t n;

	while (out = local_peer_out(p, &n), n) {
		if (n < sizeof(h))
			__builtin_trap();
		memcpy(&h, out, sizeof(h));
		if (h.bytes < sizeof(h) || h.bytes > n || h.status > 9)
			__builtin_trap();
		local_peer_sent(p, h.bytes);
	}
}

static void feed(struct local_peer *p, const void *from, size_t n)
{
	const uint8_t *at = from;

	while (n && !local_peer_over(p)) {
		size_t room, some;
		uint8_t *to = local_peer_room(p, &room);

		some = n < room ? n : room;
		memcpy(to, at, some);
		local_peer_came(p, some);
		take(p);
		at += some;
		n -= some;
	}
}

static void frame(struct local_peer *p, uint16_t op, const void *payload, size_t n)
{
	const struct local_head h = { (uint32_t)(sizeof(h) + n), op, 0, 1 };

	feed(p, &h, sizeof(h));
	feed(p, payload, n);
}

static int descriptor(uint8_t kind)
{
	int fd;

	if (kind % 4 == 3)
		return open("/dev/null", O_RDWR | O_CLOEXEC);
	fd = memfd_create("fuzz", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd >= 0 &&
	    (ftruncate(fd, kind % 4 == 2 ? 100 : BYTES) < 0 || (kind % 4 && fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK) < 0)))
		__builtin_trap();
	return fd;
}

static void greet(struct local_peer *p, uint8_t how)
{
	const struct local_hello hello = { LOCAL_MAGIC, LOCAL_VERSION, 0 };
	const struct local_hv_memory memory = { BASE, BYTES };
	const struct local_hv_ask ask = { { 0 }, 1, 0 };

	frame(p, LOCAL_HELLO, &hello, sizeof(hello));
	if (how & 2)
		frame(p, LOCAL_HV_GUEST, &ask, sizeof(ask));
	if (how & 4) {
		local_peer_gave(p, descriptor(1));
		frame(p, LOCAL_HV_MEMORY, &memory, sizeof(memory));
	}
}

/* Numbers that get past the first checks. */
static void mend(uint16_t op, uint8_t *p, bool power)
{
	static const uint64_t functions[] = { 0, 1, 2, 3, 0x102, 0x103, 0x106, 0x107 };
	static const uint32_t traps[] = { 0x80, 0xff, 1, 0x81 };
	struct local_hv_call c;

	if (op == LOCAL_HV_GUEST)
		p[1] = 0;
	if (op != LOCAL_HV_CALL)
		return;
	memcpy(&c, p, sizeof(c));
	c.vcpu %= 33;
	c.trap = power ? 1 : traps[c.trap % 4];
	c.r[5] = functions[c.r[5] % COUNT(functions)];
	if (power) {
		c.r[0] = PAPR_GPCI;
		c.r[1] = BASE + c.r[1] % BYTES;
		c.r[2] %= BYTES;
	} else if (c.r[5] >= 0x102) {
		c.r[0] = c.r[5] < 0x106 ? BASE + c.r[0] % (2 * BYTES) : c.r[0] % 92;
	} else {
		c.r[0] = c.r[0] % 2 ? 0x200 : 0x205;
		c.r[1] %= 3;
	}
	memcpy(p, &c, sizeof(c));
}

static size_t plausible(struct local_peer *p, const uint8_t *data, size_t size, bool power)
{
	const size_t i = data[0] % (COUNT(ops) + 1);
	uint8_t payload[64] = { 0 };
	size_t n;

	if (i == COUNT(ops)) {
		local_peer_gave(p, descriptor(data[0] >> 4));
		return 1;
	}
	n = ops[i].request < size - 1 ? ops[i].request : size - 1;
	memcpy(payload, data + 1, n);
	mend(ops[i].op, payload, power);
	frame(p, ops[i].op, payload, ops[i].request);
	return 1 + n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct world *w = world();
	const uint8_t how = size ? *data : 0;
	const bool power = how & 1;
	struct local_peer *peer[2];

	for (int i = 0; i < 2; i++) {
		if (local_peer_open(&peer[i], local_hv_service(power ? "power" : "niagara"), w->service[power]) < 0)
			__builtin_trap();
		greet(peer[i], how);
	}
	for (size_t at = 1; at < size;) {
		if (how & 8)
			at += plausible(peer[data[at] >> 7], data + at, size - at, power);
		else
			feed(peer[0], data + at, size - at), at = size;
	}
	if (!power)
		niagara_refs(w->sun4v.niagara,
			     &(struct niagara_ref){ .va = size << 13, .context = 1, .kind = NIAGARA_LOAD, .bytes = 8 },
			     1);
	for (int i = 0; i < 2; i++)
		local_peer_close(peer[i]);
	for (uint32_t i = 0; i < w->guests.n; i++)
		if (w->guests.guest[i].taken)
			__builtin_trap();
	return 0;
}
