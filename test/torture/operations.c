/*
 * operations: hostile hypercalls, register accesses and PTT operations.
 *
 * A round is either in this process, over include/tally/hv.h, whose library is sanitized here: guests with little
 * memory, in exact blocks, call whatever there is at whatever address and size; or a conversation with a sanitized
 * `tally machine` over the local protocol: operations of the right size and of wrong ones, descriptors of all kinds,
 * frames that are none.  A server answers in frames, lives, keeps no descriptor, and answers an honest client
 * afterwards.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <tally/hv.h>

#include "attach/local_hv.h"
#include "torture.h"

/* ---- in this process ------------------------------------------------------------------------------ */

enum { GUESTS = 3, CALLS = 1500 };
struct guest_memory {
	uint64_t base;
	size_t n;
	uint8_t *p;
};
struct in_process {
	struct torture *t;
	struct tally_hv *h;
	struct tally_hv_guest *g[GUESTS];
	struct guest_memory m[GUESTS];
	bool power;
};

static void *guest_memory_at(void *arg, uint64_t ra, size_t n)
{
	const struct guest_memory *m = arg;

	if (ra < m->base || n > m->n || ra - m->base > m->n - n)
		return NULL;
	return m->p + (ra - m->base);
}

static void guest_open(struct in_process *in, unsigned i)
{
	static const char *const rights[] = { NULL, NULL, "none", "strand", "global,htstrand", "perfctraccess=1", "x" };
	struct tally_hv_guest_opts o = { .size = sizeof(o), .arg = &in->m[i], .memory = guest_memory_at };

	tally_hv_guest_close(in->g[i]);
	in->g[i] = NULL;
	free(in->m[i].p);
	in->m[i].n = 64u << torture_below(in->t, 11);
	in->m[i].p = malloc(in->m[i].n);
	in->m[i].base = torture_below(in->t, 4) ? 0x80000000u : torture_odd(in->t) & ~UINT64_C(63);
	torture_fill(in->t, in->m[i].p, in->m[i].n < 512 ? in->m[i].n : 512);
	o.rights = rights[torture_below(in->t, COUNT(rights))];
	o.partition = torture_below(in->t, 2) ? 0 : (uint32_t)torture_odd(in->t);
	(void)tally_hv_guest_open(&in->g[i], in->h, &o);
}

static uint64_t guest_address(struct torture *t, const struct guest_memory *m)
{
	switch (torture_below(t, 4)) {
	case 0:
		return torture_odd(t);
	case 1:
		return m->base + m->n - torture_below(t, 600);
	default:
		return m->base + (torture_below(t, m->n) & ~UINT64_C(63));
	}
}

/* A block of H_GetPerformanceCounterInfo: a request that there is, more often than not. */
static void guest_ask_gpci(struct torture *t, const struct guest_memory *m, uint64_t r[6])
{
	uint8_t *p = guest_memory_at((void *)(uintptr_t)m, r[1], 32);

	r[0] = torture_below(t, 20) ? 0xf080 : torture_odd(t);
	r[2] = torture_below(t, 3) ? torture_below(t, m->n + 100) : torture_odd(t);
	if (!p)
		return;
	memset(p, 0, 32);
	p[3] = (uint8_t)(torture_below(t, 4) ? torture_below(t, 16) << 4 | torture_below(t, 2) : torture_random(t));
	for (int i = 4; i < 32; i++)
		if (torture_below(t, 4) == 0)
			p[i] = (uint8_t)torture_odd(t);
}

static void guest_call(struct in_process *in, struct tally_hv_guest *g, const struct guest_memory *m, uint32_t cpu)
{
	static const uint16_t functions[] = { 0x102, 0x103, 0x106, 0x107, 0, 1, 2, 3 };
	static const uint16_t groups[] = { 1, 0x200, 0x205 };
	struct torture *t = in->t;
	uint64_t r[6];
	uint32_t trap = in->power ? 1 : torture_below(t, 3) ? 0x80 : 0xff;

	for (int i = 0; i < 6; i++)
		r[i] = torture_below(t, 2) ? torture_below(t, 100) : torture_odd(t);
	if (in->power) {
		r[1] = guest_address(t, m);
		guest_ask_gpci(t, m, r);
	} else {
		r[5] = torture_below(t, 10) ? functions[torture_below(t, COUNT(functions))] : torture_odd(t);
		if (r[5] == 0x102)
			r[0] = guest_address(t, m);
		else if (trap == 0xff && torture_below(t, 2))
			r[0] = groups[torture_below(t, 3)], r[1] = torture_below(t, 3), r[2] = torture_below(t, 3);
	}
	if (torture_below(t, 40) == 0)
		trap = (uint32_t)torture_odd(t);
	(void)tally_hv_call(g, cpu, trap, r);
}

static void in_process_refs(struct in_process *in)
{
	struct tally_hv_ref ref[8];

	torture_fill(in->t, ref, sizeof(ref));
	for (size_t i = 0; i < COUNT(ref); i++)
		if (torture_below(in->t, 8)) {
			ref[i].strand %= 32;
			ref[i].kind %= 4;
			ref[i].level %= 3;
		}
	(void)tally_hv_refs(in->h, ref, torture_below(in->t, COUNT(ref) + 1));
}

static void in_process_operation(struct in_process *in)
{
	struct torture *t = in->t;
	const unsigned i = (unsigned)torture_below(t, GUESTS);
	struct tally_hv_guest *g = in->g[i];
	const uint32_t cpu = torture_below(t, 10) ? (uint32_t)torture_below(t, 4) + i * 4 : (uint32_t)torture_odd(t);
	uint64_t v;

	if (!g || torture_below(t, 100) == 0) {
		guest_open(in, i);
		return;
	}
	switch (torture_below(t, 20)) {
	case 0:
		(void)tally_hv_take(g, cpu);
		return;
	case 1:
		(void)tally_hv_reset(g, cpu);
		return;
	case 2:
		(void)tally_hv_asr_read(g, cpu,
					torture_below(t, 4) ? 0x10 + (uint32_t)torture_below(t, 2) :
							      (uint32_t)torture_odd(t),
					&v);
		return;
	case 3:
		(void)tally_hv_asr_write(g, cpu,
					 torture_below(t, 4) ? 0x10 + (uint32_t)torture_below(t, 2) :
							       (uint32_t)torture_odd(t),
					 torture_odd(t));
		return;
	case 4:
		in_process_refs(in);
		return;
	case 5:
		(void)tally_hv_tsb_hit(g, cpu, torture_below(t, 2), torture_below(t, 2),
				       torture_below(t, 2) ? 8192 : torture_odd(t), torture_odd(t));
		return;
	case 6:
		tally_hv_advance(in->h, torture_below(t, 20000));
		return;
	default:
		guest_call(in, g, &in->m[i], cpu);
		return;
	}
}

static void in_process_round(struct torture *t)
{
	static const char *const machines[] = {
		"power",  "power,firmware=8,rights=lab",    "power,firmware=0", "niagara", "niagara,load=chase",
		"batoka", "batoka,load=pingpong,sockets=2", "maramba",
	};
	struct in_process in = { .t = t };
	struct tally_hv_opts o = { .size = sizeof(o), .machine = machines[torture_below(t, COUNT(machines))] };

	in.power = !strncmp(o.machine, "power", 5);
	if (!in.power)
		o.flags = (uint32_t)torture_below(t, 4);
	if (strstr(o.machine, "load="))
		o.flags &= ~TALLY_HV_IDLE;
	if (tally_hv_open(&in.h, &o) < 0)
		torture_fell(t, "%s doesn't open: %s", o.machine, in.h ? tally_hv_error(in.h) : "out of memory");
	for (int i = 0; i < CALLS && tally_hv_now(in.h) != UINT64_MAX; i++)
		in_process_operation(&in);
	for (int i = 0; i < GUESTS; i++) {
		tally_hv_guest_close(in.g[i]);
		free(in.m[i].p);
	}
	tally_hv_close(in.h);
	torture_count(t, "operations in process", CALLS);
}

/* ---- over the local protocol ----------------------------------------------------------------------- */

static const struct local_op_row {
	uint16_t op, request;
} ops[] = {
#define X(name, number, right, request, reply, more) { number, sizeof(request) },
	LOCAL_COMMON_OPS(X) LOCAL_HV_OPS(X) LOCAL_PTT_OPS(X)
#undef X
};

enum { FRAMES = 300, PLATFORMS = 4 };
static const char *const platforms[PLATFORMS] = { "kunpeng", "power", "niagara", "batoka" };
struct torture_server {
	pid_t pid;
	char path[200];
	int descriptors;
};
struct conversation {
	struct torture *t;
	int fd, lent[5];
	bool power;
	bool over; /* the server hung up */
	uint8_t in[LOCAL_FRAME_MOST * 2];
	size_t n;
	uint64_t answers;
};

static void server_start(struct torture *t, struct torture_server *s, unsigned platform)
{
	snprintf(s->path, sizeof(s->path), "%s/%s", t->dir, platforms[platform]);
	s->pid = torture_serve(t, t->tally_asan, platforms[platform], "--listen", s->path);
	s->descriptors = torture_descriptors(s->pid) + 2;
}

static void conversation_check_frames(struct conversation *c)
{
	struct local_head h;
	size_t at = 0;

	while (c->n - at >= sizeof(h)) {
		memcpy(&h, c->in + at, sizeof(h));
		if (h.bytes < sizeof(h) || h.bytes > LOCAL_FRAME_MOST || h.status > 9) {
			torture_fell(c->t, "a reply is no frame: %u bytes, operation 0x%x, status %u", h.bytes, h.op,
				     h.status);
			c->over = true;
			return;
		}
		if (h.bytes > c->n - at)
			break;
		at += h.bytes;
		c->answers++;
	}
	memmove(c->in, c->in + at, c->n - at);
	c->n -= at;
}

static void conversation_receive(struct conversation *c)
{
	ssize_t got = recv(c->fd, c->in + c->n, sizeof(c->in) - c->n, MSG_DONTWAIT);

	if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR))
		c->over = true;
	if (got > 0) {
		c->n += (size_t)got;
		conversation_check_frames(c);
	}
}

static ssize_t conversation_send_some(struct conversation *c, const void *p, size_t n, const int *fds, size_t nfds)
{
	_Alignas(struct cmsghdr) uint8_t control[CMSG_SPACE(sizeof(c->lent))] = { 0 };
	struct iovec from = { (void *)(uintptr_t)p, n };
	struct msghdr m = { .msg_iov = &from, .msg_iovlen = 1 };

	if (nfds) {
		m.msg_control = control;
		m.msg_controllen = CMSG_SPACE(nfds * sizeof(int));
		CMSG_FIRSTHDR(&m)->cmsg_level = SOL_SOCKET;
		CMSG_FIRSTHDR(&m)->cmsg_type = SCM_RIGHTS;
		CMSG_FIRSTHDR(&m)->cmsg_len = CMSG_LEN(nfds * sizeof(int));
		memcpy(CMSG_DATA(CMSG_FIRSTHDR(&m)), fds, nfds * sizeof(int));
	}
	return sendmsg(c->fd, &m, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* Sends while it reads: a server doesn't read from who doesn't. */
static void conversation_send(struct conversation *c, const uint8_t *p, size_t n, size_t nfds)
{
	while (n > 0 && !c->over) {
		struct pollfd q = { c->fd, POLLIN | POLLOUT, 0 };
		ssize_t did;

		if (poll(&q, 1, 20000) == 0) {
			torture_fell(c->t, "the server neither reads nor writes for 20 s");
			c->over = true;
		}
		if (q.revents & (POLLIN | POLLHUP | POLLERR))
			conversation_receive(c);
		if (c->over || !(q.revents & POLLOUT))
			continue;
		did = conversation_send_some(c, p, n, c->lent, nfds);
		if (did < 0 && errno != EAGAIN && errno != EINTR)
			c->over = true;
		if (did > 0) {
			p += did;
			n -= (size_t)did;
			nfds = 0;
		}
	}
}

static void payload_make(struct conversation *c, uint16_t op, uint8_t *p, size_t n)
{
	struct torture *t = c->t;
	struct local_hv_call call = { (uint32_t)torture_below(t, 8),
				      c->power            ? 1 :
				      torture_below(t, 3) ? 0x80 :
							    0xff,
				      { 0 } };
	const struct local_hv_memory memory = { torture_below(t, 3) ? 0x80000000u : torture_odd(t),
						torture_below(t, 3) ? 8192 : torture_odd(t) };

	for (size_t i = 0; i < n; i += 4) {
		const uint32_t word = (uint32_t)(torture_below(t, 3) ? torture_below(t, 4) : torture_odd(t));

		memcpy(p + i, &word, n - i < 4 ? n - i : 4);
	}
	if (op == LOCAL_HV_CALL && n == sizeof(call)) {
		for (int i = 0; i < 6; i++)
			call.r[i] =
				torture_below(t, 2) ? torture_below(t, 100) : 0x80000000u + (torture_odd(t) & 0x3fff);
		if (c->power)
			call.r[0] = 0xf080;
		else
			call.r[5] = torture_below(t, 2) ? 0x102 + torture_below(t, 6) : torture_below(t, 4);
		memcpy(p, &call, sizeof(call));
	} else if (op == LOCAL_HV_MEMORY && n == sizeof(memory)) {
		memcpy(p, &memory, sizeof(memory));
	} else if (op == LOCAL_PTT_START && n == sizeof(struct local_start) && torture_below(t, 3)) {
		const struct local_start start = { (uint32_t)torture_below(t, 2), 0, 0x80001 | 2u << 20 | 7u << 24,
						   4u << 20 };

		memcpy(p, &start, sizeof(start));
	} else if (op == LOCAL_HV_GUEST && n == sizeof(struct local_hv_ask) && torture_below(t, 2)) {
		memset(p, 0, n);
	}
}

static void conversation_frame(struct conversation *c)
{
	static uint8_t frame[LOCAL_FRAME_MOST];
	struct torture *t = c->t;
	const struct local_op_row *row = &ops[torture_below(t, COUNT(ops))];
	size_t n = torture_below(t, 30) ? row->request :
		   torture_below(t, 2)  ? torture_below(t, 100) :
					  torture_below(t, LOCAL_PAYLOAD_MOST);
	struct local_head h = { (uint32_t)(sizeof(h) + n), row->op, 0, torture_random(t) };

	/* A second hello, or a plug that goes, would end most conversations early. */
	if ((row->op == LOCAL_HELLO || row->op == LOCAL_PTT_PLUG) && torture_below(t, 8))
		return;
	if (torture_below(t, 50) == 0)
		h.op = (uint16_t)torture_odd(t);
	if (torture_below(t, 300) == 0)
		h.bytes = (uint32_t)torture_odd(t);
	if (torture_below(t, 30) == 0)
		h.status = (uint16_t)torture_random(t);
	memcpy(frame, &h, sizeof(h));
	payload_make(c, row->op, frame + sizeof(h), n);
	for (size_t i = COUNT(c->lent) - 1; i > 0; i--) {
		const size_t j = torture_below(t, i + 1);
		const int kept = c->lent[i];

		c->lent[i] = c->lent[j];
		c->lent[j] = kept;
	}
	conversation_send(c, frame, sizeof(h) + n,
			  row->op == LOCAL_HV_MEMORY || torture_below(t, 20) == 0 ?
				  torture_below(t, COUNT(c->lent) + 1) :
				  0);
}

static void conversation_hello(struct conversation *c)
{
	struct {
		struct local_head h;
		struct local_hello hello;
	} m = { { sizeof(m), LOCAL_HELLO, 0, 1 }, { LOCAL_MAGIC, LOCAL_VERSION, 0 } };
	struct {
		struct local_head h;
		struct local_hv_ask ask;
	} g = { { sizeof(g), LOCAL_HV_GUEST, 0, 2 }, { { 0 }, 0, 0 } };
	uint8_t *raw = (uint8_t *)&m;

	if (torture_below(c->t, 12) == 0)
		raw[torture_below(c->t, sizeof(m))] ^= (uint8_t)torture_odd(c->t);
	conversation_send(c, raw, sizeof(m), 0);
	if (torture_below(c->t, 4))
		conversation_send(c, (const uint8_t *)&g, sizeof(g), 0);
}

static void conversation_lend(struct conversation *c)
{
	int pair[2] = { -1, -1 };

	c->lent[0] = memfd_create("torture", MFD_ALLOW_SEALING | MFD_CLOEXEC);
	if (ftruncate(c->lent[0], 8192) < 0 || pipe2(pair, O_CLOEXEC) < 0)
		torture_broken("no memfd");
	if (torture_below(c->t, 4))
		fcntl(c->lent[0], F_ADD_SEALS, F_SEAL_SHRINK);
	close(pair[0]);
	c->lent[1] = pair[1];
	c->lent[2] = eventfd(0, EFD_CLOEXEC);
	c->lent[3] = open("/dev/zero", O_RDWR | O_CLOEXEC);
	c->lent[4] = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static void server_check(struct torture *t, struct torture_server *s, unsigned platform)
{
	const struct local_ping ping = { torture_random(t) };
	struct local_client *c = NULL;
	struct local_answer a;
	struct err e = { 0 };
	char log[300];

	if (local_connect(&c, s->path, 0, &(struct local_wait){ .answer_ms = 20000 }, &e) < 0 ||
	    local_ask_and_wait(c, LOCAL_PING, &ping, sizeof(ping), &a, NULL, &e) < 0 ||
	    memcmp(a.p, &ping, sizeof(ping)))
		torture_fell(t, "%s: an honest client is not answered: %s", platforms[platform], e.text);
	local_disconnect(c);
	if (!torture_alive(s->pid)) {
		snprintf(log, sizeof(log), "%s.log", s->path);
		torture_fell(t, "the server of %s ended with %d: %s", platforms[platform],
			     torture_wait(s->pid, 1000, NULL), torture_first_line(log));
		server_start(t, s, platform);
	} else if (!torture_descriptors_settle(s->pid, s->descriptors)) {
		torture_fell(t, "the server of %s has %d descriptors, not %d", platforms[platform],
			     torture_descriptors(s->pid), s->descriptors);
		s->descriptors = torture_descriptors(s->pid);
	}
}

static void conversation_round(struct torture *t, struct torture_server *servers)
{
	static struct conversation c;
	const unsigned platform = (unsigned)torture_below(t, PLATFORMS);
	struct torture_server *s = &servers[platform];
	int sent = 0;

	c = (struct conversation){ .t = t, .fd = torture_connect(s->path), .power = platform == 1 };
	if (c.fd < 0) {
		torture_fell(t, "%s: nobody listens", platforms[platform]);
		server_check(t, s, platform);
		return;
	}
	conversation_lend(&c);
	conversation_hello(&c);
	for (; sent < FRAMES && !c.over; sent++)
		conversation_frame(&c);
	close(c.fd);
	for (size_t i = 0; i < COUNT(c.lent); i++)
		close(c.lent[i]);
	server_check(t, s, platform);
	torture_count(t, "frames over the local protocol", (uint64_t)sent);
	torture_count(t, "replies to them that were whole", c.answers);
}

int main(int argc, char **argv)
{
	struct torture_server servers[PLATFORMS];
	struct torture t;

	torture_open(&t, argc, argv);
	for (unsigned i = 0; i < PLATFORMS; i++)
		server_start(&t, &servers[i], i);
	while (torture_round(&t) && t.fell < 20)
		if (torture_below(&t, 2))
			in_process_round(&t);
		else
			conversation_round(&t, servers);
	for (unsigned i = 0; i < PLATFORMS; i++)
		torture_kill(servers[i].pid);
	return torture_close(&t);
}
