/*
 * vfio_test_int.h: for tests: a device behind its server, and a client made by hand before it.
 *
 * What a client does is asked and answered in one call: the server is served in between,
 * for both ends are in this thread.
 */
#ifndef TALLY_VFIO_TEST_INT_H
#define TALLY_VFIO_TEST_INT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include <cmocka.h>

#include "attach/vfio_int.h"

#define CAPS                                                                                            \
	"{\"capabilities\": {\"max_msg_fds\": 16, \"max_data_xfer_size\": 1048576, \"pgsizes\": 4096, " \
	"\"max_dma_maps\": 65535, \"migration\": {\"pgsize\": 4096}, \"write_multiple\": true}}"
#define OURS                                                                                                      \
	"{\"capabilities\":{\"max_msg_fds\":1,\"max_data_xfer_size\":4096,\"max_dma_maps\":256,\"pgsizes\":4096," \
	"\"write_multiple\":true}}"
#define RAM 0x40000000u /* where the client's memory is on the bus */
#define RAM_SIZE (1u << 20)
#define BUFFER 0x1000u /* of the trace */

/* ---- a house with a server and a client before it ------------------------------------------- */
struct bench {
	struct ptt_dev *dev;
	struct server *server;
	struct err e;
	char dir[64], path[96];
	int client, memory, event; /* the client's */
	uint16_t id;
	uint8_t reply[VFIO_MESSAGE_MOST];
	size_t replied; /* bytes of payload in it, behind the header */
};

static inline int descriptors(void)
{
	int n = 0;

	for (int fd = 0; fd < 1024; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

/* Serves until nothing waits any more. */
static inline void serve(struct bench *b)
{
	struct pollfd p = { .fd = b->server->op->fd(b->server), .events = POLLIN };

	for (int i = 0; i < 1000 && poll(&p, 1, 0) == 1; i++)
		assert_int_equal(b->server->op->serve(b->server, &b->e), 0);
}

static inline int knock(const struct bench *b)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	strcpy(at.sun_path, b->path);
	assert_int_equal(connect(fd, (struct sockaddr *)&at, sizeof(at)), 0);
	return fd;
}

static inline void send_all(int to, const void *p, size_t n, const int *fds, size_t nfds)
{
	_Alignas(struct cmsghdr) uint8_t control[CMSG_SPACE(32 * sizeof(int))] = { 0 };
	struct iovec from = { (void *)p, n };
	struct msghdr m = { .msg_iov = &from, .msg_iovlen = 1 };

	if (nfds) {
		m.msg_control = control;
		m.msg_controllen = CMSG_SPACE(nfds * sizeof(int));
		CMSG_FIRSTHDR(&m)->cmsg_level = SOL_SOCKET;
		CMSG_FIRSTHDR(&m)->cmsg_type = SCM_RIGHTS;
		CMSG_FIRSTHDR(&m)->cmsg_len = CMSG_LEN(nfds * sizeof(int));
		memcpy(CMSG_DATA(CMSG_FIRSTHDR(&m)), fds, nfds * sizeof(int));
	}
	assert_int_equal(sendmsg(to, &m, MSG_NOSIGNAL), n);
}

static inline size_t message(struct bench *b, uint8_t *to, uint16_t command, const void *p, size_t n)
{
	struct vu_header h = { .id = ++b->id, .command = command, .size = (uint32_t)(sizeof(h) + n) };

	memcpy(to, &h, sizeof(h));
	if (n)
		memcpy(to + sizeof(h), p, n);
	return h.size;
}

/* The next reply: 0 or its errno value; -1: the connection was closed; -2: there is none. */
static inline int next_reply(struct bench *b, uint16_t command)
{
	struct vu_header h;
	ssize_t n = recv(b->client, b->reply, sizeof(h), MSG_DONTWAIT);

	if (n <= 0)
		return n == 0 || errno == ECONNRESET ? -1 : -2;
	assert_int_equal(n, sizeof(h));
	memcpy(&h, b->reply, sizeof(h));
	assert_true(h.size >= sizeof(h) && h.size <= sizeof(b->reply));
	assert_int_equal(h.command, command);
	b->replied = h.size - sizeof(h);
	if (b->replied)
		assert_int_equal(recv(b->client, b->reply + sizeof(h), b->replied, MSG_DONTWAIT), b->replied);
	assert_int_equal(h.flags, h.error ? VU_TYPE_REPLY | VU_ERROR : VU_TYPE_REPLY);
	if (h.error)
		assert_int_equal(b->replied, 0);
	return (int)h.error;
}

static inline int ask_with(struct bench *b, uint16_t command, const void *p, size_t n, const int *fds, size_t nfds)
{
	uint8_t m[VFIO_MESSAGE_MOST + 64];
	size_t len = message(b, m, command, p, n);
	struct vu_header h;
	int rc;

	send_all(b->client, m, len, fds, nfds);
	serve(b);
	rc = next_reply(b, command);
	memcpy(&h, b->reply, sizeof(h));
	if (rc >= 0)
		assert_int_equal(h.id, b->id);
	return rc;
}

static inline int ask(struct bench *b, uint16_t command, const void *p, size_t n)
{
	return ask_with(b, command, p, n, NULL, 0);
}

static inline const void *payload(const struct bench *b)
{
	return b->reply + sizeof(struct vu_header);
}

static inline int greet_as(struct bench *b, uint16_t major, uint16_t minor, const char *json, size_t n)
{
	struct vu_version v = { major, minor };
	uint8_t m[4096 + sizeof(v)];

	memcpy(m, &v, sizeof(v));
	memcpy(m + sizeof(v), json, n);
	return ask(b, VU_VERSION, m, sizeof(v) + n);
}

static inline int greet(struct bench *b)
{
	return greet_as(b, 0, 0, CAPS, sizeof(CAPS));
}

static inline void bench_bare(struct bench *b)
{
	memset(b, 0, sizeof(*b));
	b->client = b->memory = b->event = -1;
	strcpy(b->dir, "/tmp/tally-vfio-XXXXXX");
	assert_non_null(mkdtemp(b->dir));
	snprintf(b->path, sizeof(b->path), "%s/s", b->dir);
	assert_int_equal(ptt_dev_open(&b->dev, &(struct ptt_dev_opts){ .core = 2 }), 0);
	assert_int_equal(vfio_server_open(&b->server, b->dev, b->path, &b->e), 0);
}

static inline void bench_open(struct bench *b)
{
	bench_bare(b);
	b->client = knock(b);
	b->memory = memfd_create("guest", MFD_CLOEXEC);
	b->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	assert_int_equal(ftruncate(b->memory, RAM_SIZE), 0);
	assert_int_equal(greet(b), 0);
}

static inline void bench_close(struct bench *b)
{
	struct stat st;

	if (b->client >= 0)
		close(b->client);
	if (b->memory >= 0)
		close(b->memory);
	if (b->event >= 0)
		close(b->event);
	b->server->op->close(b->server);
	ptt_dev_close(b->dev);
	assert_int_equal(lstat(b->path, &st), -1);
	assert_int_equal(rmdir(b->dir), 0);
	assert_int_equal(mem_live(), 0);
}

/* ---- what a client does ----------------------------------------------------------------------- */
static inline int rd_region(struct bench *b, uint32_t region, uint64_t off, uint32_t n)
{
	struct vu_access a = { off, region, n };
	int rc = ask(b, VU_REGION_READ, &a, sizeof(a));

	if (rc == 0) {
		assert_int_equal(b->replied, sizeof(a) + n);
		assert_memory_equal(payload(b), &a, sizeof(a));
	}
	return rc;
}

static inline uint64_t rd(struct bench *b, uint32_t region, uint64_t off, uint32_t n)
{
	uint64_t v = 0;

	assert_int_equal(rd_region(b, region, off, n), 0);
	memcpy(&v, (const uint8_t *)payload(b) + sizeof(struct vu_access), n);
	return v;
}

static inline int wr_region(struct bench *b, uint32_t region, uint64_t off, uint64_t value, uint32_t n)
{
	struct vu_write w = { .at = { off, region, n } };

	memcpy(w.data, &value, n);
	return ask(b, VU_REGION_WRITE, &w, sizeof(w.at) + n);
}

static inline uint32_t reg(struct bench *b, uint32_t off)
{
	return (uint32_t)rd(b, VU_REGION_BAR2, off, 4);
}

static inline void set(struct bench *b, uint32_t off, uint32_t value)
{
	assert_int_equal(wr_region(b, VU_REGION_BAR2, off, value, 4), 0);
}

static inline void config(struct bench *b, uint32_t off, uint64_t value, uint32_t n)
{
	assert_int_equal(wr_region(b, VU_REGION_CONFIG, off, value, n), 0);
}

static inline int map_fd(struct bench *b, uint64_t address, uint64_t size, uint64_t off, int fd)
{
	struct vu_map m = { sizeof(m), VU_MAP_READ | VU_MAP_WRITE, off, address, size };

	return ask_with(b, VU_DMA_MAP, &m, sizeof(m), &fd, fd >= 0);
}

static inline int unmap(struct bench *b, uint32_t flags, uint64_t address, uint64_t size)
{
	struct vu_unmap m = { sizeof(m), flags, address, size };
	int rc = ask(b, VU_DMA_UNMAP, &m, sizeof(m));

	if (rc == 0) {
		assert_int_equal(b->replied, sizeof(m));
		assert_memory_equal(payload(b), &m, sizeof(m));
	}
	return rc;
}

static inline int set_irq(struct bench *b, uint32_t flags, uint32_t index, uint32_t count, int fd)
{
	struct vu_irq_set s = { sizeof(s), flags, index, 0, count };

	return ask_with(b, VU_DEVICE_SET_IRQS, &s, sizeof(s), &fd, fd >= 0);
}

static inline uint64_t events(struct bench *b)
{
	uint64_t n = 0;

	return read(b->event, &n, sizeof(n)) == sizeof(n) ? n : 0;
}

/* As the driver starts a trace of inbound posted requests of the first port, 8DW, in four small buffers at RAM. */
static inline void trace_start(struct bench *b)
{
	config(b, 0x04, 0x0006, 2);
	for (uint32_t i = 0; i < PTT_BUFFERS; i++) {
		set(b, PTT_REG_TRACE_ADDR_BASE_LO_0 + 8 * i, RAM + i * BUFFER);
		set(b, PTT_REG_TRACE_ADDR_BASE_HI_0 + 8 * i, 0);
	}
	set(b, PTT_REG_TRACE_ADDR_SIZE, BUFFER);
	assert_int_equal(reg(b, PTT_REG_TRACE_STS), 1);
	set(b, PTT_REG_TRACE_CTRL, 2);
	assert_int_equal(reg(b, PTT_REG_TRACE_WR_STS), 0);
	set(b, PTT_REG_TRACE_CTRL, 0);
	set(b, PTT_REG_TRACE_INT_STAT, 0xf);
	set(b, PTT_REG_TRACE_INT_MASK, 0);
	set(b, PTT_REG_TRACE_CTRL, 0x00014011);
}

static inline void packets(struct bench *b, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		struct ptt_tlp t = { .now = i,
				     .dw = { 0x40000001, 0x0100000f, 0xfee00000 + 4 * i, 0 },
				     .port = 1,
				     .function = 0x100,
				     .cls = PTT_CLASS_P };

		ptt_dev_packets(b->dev, &t, 1);
	}
	assert_int_equal(b->server->op->passed(b->server, &b->e), 0);
}

static inline uint32_t word(const struct bench *b, uint64_t off)
{
	uint32_t v = 0;

	assert_int_equal(pread(b->memory, &v, sizeof(v), (off_t)off), sizeof(v));
	return v;
}

#endif
