/*
 * vfio: hostile vfio-user messages with descriptors, at `tally machine kunpeng --vfio-user`.
 *
 * A round is a client: it greets, most often, then sends messages with right and wrong sizes, ranges, registers and
 * commands, with none to four descriptors of all kinds, reads what it is answered or doesn't, and hangs up at any
 * byte.  Then an honest client greets, reads a register and goes.  A sanitized server and a released one take turns;
 * the released one must not grow.
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

#include "attach/vfio_wire.h"
#include "torture.h"

enum { MESSAGES = 120, MESSAGE_MOST = 8192, LENT = 6, GROWTH_KB = 32 * 1024 };
struct server {
	pid_t pid;
	const char *program;
	char path[200];
	int descriptors;
	long kb;
};
struct client {
	struct torture *t;
	int fd, lent[LENT];
	bool over;
	uint64_t replies;
};

static void server_start(struct torture *t, struct server *s, const char *program, const char *name)
{
	s->program = program;
	snprintf(s->path, sizeof(s->path), "%s/%s", t->dir, name);
	s->pid = torture_serve(t, program, "kunpeng", "--vfio-user", s->path);
	s->descriptors = torture_descriptors(s->pid);
	s->kb = 0;
}

/* ---- sending ------------------------------------------------------------------------------------- */

static void client_lend(struct client *c)
{
	int pair[2] = { -1, -1 };

	c->lent[0] = memfd_create("torture", MFD_CLOEXEC);
	if (c->lent[0] < 0 ||
	    ftruncate(c->lent[0], (off_t)(torture_below(c->t, 3) ? 8 << 20 : torture_below(c->t, 9000))) < 0 ||
	    pipe2(pair, O_CLOEXEC) < 0)
		torture_broken("no memfd");
	close(pair[0]);
	c->lent[1] = pair[1];
	c->lent[2] = eventfd(0, EFD_CLOEXEC);
	c->lent[3] = open("/dev/zero", O_RDWR | O_CLOEXEC);
	c->lent[4] = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	c->lent[5] = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
}

static void client_drain(struct client *c)
{
	uint8_t bytes[4096];
	ssize_t got;

	while ((got = recv(c->fd, bytes, sizeof(bytes), MSG_DONTWAIT)) > 0)
		c->replies += (uint64_t)got;
	if (got == 0 || (errno != EAGAIN && errno != EINTR))
		c->over = true;
}

static ssize_t client_send_some(struct client *c, const void *p, size_t n, const int *fds, size_t nfds)
{
	_Alignas(struct cmsghdr) uint8_t control[CMSG_SPACE(LENT * sizeof(int))] = { 0 };
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

static void client_send(struct client *c, const uint8_t *p, size_t n, const int *fds, size_t nfds)
{
	while (n > 0 && !c->over) {
		struct pollfd q = { c->fd, POLLIN | POLLOUT, 0 };
		ssize_t did;

		if (poll(&q, 1, 20000) == 0) {
			torture_fell(c->t, "the server neither reads nor writes for 20 s");
			c->over = true;
		}
		if (q.revents & (POLLIN | POLLHUP | POLLERR))
			client_drain(c);
		if (c->over || !(q.revents & POLLOUT))
			continue;
		did = client_send_some(c, p, n, fds, nfds);
		if (did < 0 && errno != EAGAIN && errno != EINTR)
			c->over = true;
		if (did > 0) {
			p += did;
			n -= (size_t)did;
			nfds = 0;
		}
	}
}

static void client_ask(struct client *c, uint16_t command, const void *p, size_t n, const int *fds, size_t nfds)
{
	static uint8_t m[MESSAGE_MOST * 2];
	struct torture *t = c->t;
	struct vu_header h = { (uint16_t)torture_random(t), command, (uint32_t)(sizeof(h) + n),
			       torture_below(t, 10) ? 0 : (uint32_t)torture_odd(t), 0 };

	if (torture_below(t, 200) == 0)
		h.size = (uint32_t)torture_odd(t);
	memcpy(m, &h, sizeof(h));
	if (n)
		memcpy(m + sizeof(h), p, n);
	client_send(c, m, sizeof(h) + n, fds, nfds);
}

/* ---- what is sent ---------------------------------------------------------------------------------- */

static void client_greet(struct client *c)
{
	static const char *const json[] = {
		"{\"capabilities\":{\"max_msg_fds\":8,\"max_data_xfer_size\":1048576,\"pgsizes\":4096,\"max_dma_maps\":65535,\"write_multiple\":true}}",
		"{}",
		"{\"capabilities\":{\"max_msg_fds\":-1}}",
		"{\"capabilities\":[[[[[[[[[[[[[[[[[[",
		"{\"a\":\"\\u0000\\ud800\"}",
		"",
	};
	uint8_t m[512] = { 0 };
	const char *words = json[torture_below(c->t, 2) ? 0 : torture_below(c->t, COUNT(json))];
	struct vu_version v = { 0, (uint16_t)torture_below(c->t, 3) };
	size_t n = sizeof(v) + strlen(words) + 1;

	memcpy(m, &v, sizeof(v));
	memcpy(m + sizeof(v), words, strlen(words));
	if (torture_below(c->t, 10) == 0)
		m[torture_below(c->t, n)] ^= (uint8_t)torture_odd(c->t);
	client_ask(c, VU_VERSION, m, n, NULL, 0);
}

static void client_write_register(struct client *c, uint32_t region, uint64_t at, uint32_t value)
{
	struct {
		struct vu_access a;
		uint32_t value;
	} m = { { at, region, 4 }, value };

	client_ask(c, VU_REGION_WRITE, &m, sizeof(m), NULL, 0);
}

/* A trace as a driver starts it, into memory that may be too small, gone or none. */
static void client_trace(struct client *c)
{
	struct torture *t = c->t;
	const struct vu_map map = { sizeof(map), 3, 0, 0x40000000, 1 << 20 };
	const struct vu_irq_set irq = { sizeof(irq), VU_SET_EVENTFD | VU_SET_TRIGGER, VU_IRQ_MSI, 0, 1 };

	client_write_register(c, VU_REGION_CONFIG, 4, 6);
	client_ask(c, VU_DMA_MAP, &map, sizeof(map), c->lent, 1);
	client_ask(c, VU_DEVICE_SET_IRQS, &irq, sizeof(irq), &c->lent[2], 1);
	client_write_register(c, VU_REGION_BAR2, 0x800,
			      torture_below(t, 3) ? 1u << (10 + torture_below(t, 8)) : (uint32_t)torture_odd(t));
	for (uint32_t i = 0; i < 4; i++) {
		client_write_register(c, VU_REGION_BAR2, 0x810 + i * 8,
				      0x40000000 + (uint32_t)torture_below(t, 300) * 4096);
		client_write_register(c, VU_REGION_BAR2, 0x814 + i * 8,
				      torture_below(t, 20) ? 0 : (uint32_t)torture_odd(t));
	}
	client_write_register(c, VU_REGION_BAR2, 0x894, 0);
	client_write_register(c, VU_REGION_BAR2, 0x850,
			      1 | 2u << 2 | 7u << 4 | 1u << 16 | (uint32_t)torture_below(t, 2) << 14);
}

static size_t message_payload(struct torture *t, uint16_t command, uint8_t *p)
{
	static const uint16_t registers[] = { 0,     4,     0x800, 0x810, 0x814, 0x828, 0x850,
					      0x890, 0x894, 0x898, 0x8a0, 0x8b0, 0xfe0, 0xfe8 };
	static const uint8_t sizes[VU_COMMANDS] = {
		[VU_VERSION] = 100,
		[VU_DMA_MAP] = 32,
		[VU_DMA_UNMAP] = 24,
		[VU_DEVICE_GET_INFO] = 16,
		[VU_DEVICE_GET_REGION_INFO] = 32,
		[VU_DEVICE_GET_REGION_IO_FDS] = 16,
		[VU_DEVICE_GET_IRQ_INFO] = 16,
		[VU_DEVICE_SET_IRQS] = 20,
		[VU_REGION_READ] = 16,
		[VU_REGION_WRITE] = 20,
		[VU_REGION_WRITE_MULTI] = 32,
		[VU_DEVICE_FEATURE] = 16,
	};
	size_t n = command < VU_COMMANDS ? sizes[command] : torture_below(t, 64);
	const uint32_t argsz = (uint32_t)n;

	for (size_t i = 0; i < n; i += 4) {
		const uint32_t word = (uint32_t)(torture_below(t, 2) ? torture_below(t, 10) : torture_odd(t));

		memcpy(p + i, &word, n - i < 4 ? n - i : 4);
	}
	if (command >= VU_DMA_MAP && command <= VU_DEVICE_SET_IRQS && torture_below(t, 8))
		memcpy(p, &argsz, 4);
	if (command == VU_DMA_MAP && torture_below(t, 4)) {
		const struct vu_map m = { sizeof(m), 3, torture_below(t, 4) << 12,
					  0x40000000 + (torture_below(t, 600) << 12), torture_below(t, 20) << 12 };

		memcpy(p, &m, sizeof(m));
	}
	if ((command == VU_REGION_READ || command == VU_REGION_WRITE) && torture_below(t, 4)) {
		const bool bar = torture_below(t, 2);
		const struct vu_access a = { bar ? registers[torture_below(t, COUNT(registers))] :
						   torture_below(t, 300),
					     bar ? VU_REGION_BAR2 : VU_REGION_CONFIG,
					     bar ? 4 : 1u << torture_below(t, 3) };

		memcpy(p, &a, sizeof(a));
		n = sizeof(a) + (command == VU_REGION_WRITE ? a.count : 0);
	}
	if (torture_below(t, 25) == 0)
		n = torture_below(t, 2) ? torture_below(t, n + 1) : torture_below(t, MESSAGE_MOST - 16);
	return n;
}

static void client_message(struct client *c)
{
	static uint8_t p[MESSAGE_MOST];
	struct torture *t = c->t;
	const uint16_t command =
		(uint16_t)(torture_below(t, 30) ? 2 + torture_below(t, VU_COMMANDS - 2) : torture_odd(t));
	const size_t n = message_payload(t, command, p);
	const bool takes = command == VU_DMA_MAP || command == VU_DEVICE_SET_IRQS;
	int fds[4];
	size_t nfds = takes               ? torture_below(t, 6) ? 1 : torture_below(t, 5) :
		      torture_below(t, 8) ? 0 :
					    torture_below(t, 5);

	for (size_t i = 0; i < nfds; i++)
		fds[i] = c->lent[takes && torture_below(t, 3) ? (command == VU_DMA_MAP ? 0 : 2) :
								torture_below(t, LENT)];
	if (torture_below(t, 60) == 0) {
		client_trace(c);
		return;
	}
	/* Memory that gets shorter while the device writes to it. */
	if (torture_below(t, 60) == 0)
		(void)!ftruncate(c->lent[0], (off_t)torture_below(t, 1 << 20));
	client_ask(c, command, p, n, fds, nfds);
}

/* ---- a round ----------------------------------------------------------------------------------------- */

static bool honest_reply(int fd, uint16_t id, void *p, size_t n)
{
	uint8_t bytes[1024];
	struct vu_header h;

	if (recv(fd, &h, sizeof(h), MSG_WAITALL) != (ssize_t)sizeof(h) || h.id != id || h.error || h.size < sizeof(h) ||
	    h.size > sizeof(bytes) ||
	    recv(fd, bytes, h.size - sizeof(h), MSG_WAITALL) != (ssize_t)(h.size - sizeof(h)) || h.size - sizeof(h) < n)
		return false;
	memcpy(p, bytes, n);
	return true;
}

static bool honest_client(const struct server *s)
{
	struct {
		struct vu_header h;
		struct vu_version v;
		char json[4];
	} hello = { { 1, VU_VERSION, 24, 0, 0 }, { 0, 1 }, "{}" };
	struct {
		struct vu_header h;
		struct vu_access a;
	} ask = { { 2, VU_REGION_READ, 32, 0, 0 }, { 0xfe8, VU_REGION_BAR2, 4 } };
	struct {
		struct vu_access a;
		uint32_t value;
	} got = { { 0 }, 0 };
	const int fd = torture_connect(s->path);
	bool good;

	hello.h.size = 16 + 4 + 3;
	good = fd >= 0 && send(fd, &hello, hello.h.size, MSG_NOSIGNAL) > 0 && honest_reply(fd, 1, &got, 4) &&
	       send(fd, &ask, sizeof(ask), MSG_NOSIGNAL) > 0 && honest_reply(fd, 2, &got, 20) && got.value == 2;
	if (fd >= 0)
		close(fd);
	return good;
}

static void server_check(struct torture *t, struct server *s)
{
	char log[300];

	snprintf(log, sizeof(log), "%s.log", s->path);
	if (!honest_client(s))
		torture_fell(t, "an honest client of %s is not answered", s->path);
	if (!torture_alive(s->pid)) {
		torture_fell(t, "the server ended with %d: %s", torture_wait(s->pid, 1000, NULL),
			     torture_first_line(log));
		server_start(t, s, s->program, strrchr(s->path, '/') + 1);
		return;
	}
	if (!torture_descriptors_settle(s->pid, s->descriptors)) {
		torture_fell(t, "the server has %d descriptors, not %d", torture_descriptors(s->pid), s->descriptors);
		s->descriptors = torture_descriptors(s->pid);
	}
	if (s->program == t->tally) {
		const long kb = torture_resident_kb(s->pid);

		s->kb = s->kb ? s->kb : kb;
		if (kb > s->kb + GROWTH_KB) {
			torture_fell(t, "the server has grown from %ld to %ld KiB", s->kb, kb);
			s->kb = kb;
		}
	}
}

static void client_round(struct torture *t, struct server *s)
{
	struct client c = { .t = t, .fd = torture_connect(s->path) };
	unsigned sent = 0;

	if (c.fd < 0)
		torture_fell(t, "no server at %s", s->path);
	client_lend(&c);
	if (torture_below(t, 15))
		client_greet(&c);
	for (; sent < MESSAGES && !c.over && c.fd >= 0; sent++)
		client_message(&c);
	if (c.fd >= 0)
		close(c.fd);
	for (size_t i = 0; i < LENT; i++)
		close(c.lent[i]);
	server_check(t, s);
	torture_count(t, "vfio-user messages", sent);
	torture_count(t, "clients", 1);
	torture_count(t, "bytes of replies", c.replies);
}

int main(int argc, char **argv)
{
	struct server server[2];
	struct torture t;

	torture_open(&t, argc, argv);
	server_start(&t, &server[0], t.tally_asan, "sanitized");
	server_start(&t, &server[1], t.tally, "released");
	while (torture_round(&t) && t.fell < 20)
		client_round(&t, &server[torture_below(&t, 2)]);
	torture_kill(server[0].pid);
	torture_kill(server[1].pid);
	return torture_close(&t);
}
