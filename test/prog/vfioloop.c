/*
 * vfioloop.c: a hostile guest of a vfio-user server with a PTT device.
 *
 *	vfioloop SOCKET N
 *
 * N times: messages that are wrong, then a trace that is started and stopped at once.  Each message is answered before
 * the next is sent.  Ends with 0 when all were.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

struct header {
	uint16_t id, command;
	uint32_t size, flags, error;
};
struct access {
	uint64_t offset;
	uint32_t region, count;
	uint32_t value;
};
enum { VERSION = 1, REGION_READ = 9, REGION_WRITE = 10, NO_COMMAND = 99 };
enum { BAR2 = 2, CONFIG = 7 };
enum { ADDR_SIZE = 0x800, ADDR_BASE = 0x810, CTRL = 0x850 };

static int server;

static void vfio_read(void *to, size_t n)
{
	if (n && recv(server, to, n, MSG_WAITALL) != (ssize_t)n) {
		fprintf(stderr, "vfioloop: the server hung up\n");
		exit(1);
	}
}

/* The reply's error. */
static uint32_t vfio_ask(uint16_t command, const void *p, size_t n)
{
	static uint16_t id;
	uint8_t m[512], reply[4096];
	struct header h = { ++id, command, (uint32_t)(sizeof(h) + n), 0, 0 };

	memcpy(m, &h, sizeof(h));
	memcpy(m + sizeof(h), p, n);
	if (send(server, m, h.size, MSG_NOSIGNAL) != (ssize_t)h.size)
		exit(1);
	vfio_read(&h, sizeof(h));
	if (h.id != id || h.size < sizeof(h) || h.size - sizeof(h) > sizeof(reply))
		exit(1);
	vfio_read(reply, h.size - sizeof(h));
	return h.error;
}

static uint32_t vfio_write(uint32_t region, uint64_t offset, uint32_t value, uint32_t bytes)
{
	const struct access a = { offset, region, bytes, value };

	return vfio_ask(REGION_WRITE, &a, 16 + bytes);
}

static void trace_start_and_stop(void)
{
	vfio_write(CONFIG, 4, 6, 2);
	for (uint32_t i = 0; i < 4; i++) {
		vfio_write(BAR2, ADDR_BASE + 8 * i, 0x40000000 + i * 0x1000, 4);
		vfio_write(BAR2, ADDR_BASE + 8 * i + 4, 0, 4);
	}
	vfio_write(BAR2, ADDR_SIZE, 0x1000, 4);
	vfio_write(BAR2, CTRL, 2, 4);
	vfio_write(BAR2, CTRL, 0, 4);
	vfio_write(BAR2, CTRL, 0x00014011, 4);
	vfio_write(BAR2, CTRL, 0, 4);
}

int main(int argc, char **argv)
{
	static const char version[] = "\0\0\1\0{\"capabilities\": {}}";
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int bad = 0;

	if (argc != 3)
		return 2;
	snprintf(at.sun_path, sizeof(at.sun_path), "%s", argv[1]);
	server = socket(AF_UNIX, SOCK_STREAM, 0);
	if (connect(server, (struct sockaddr *)&at, sizeof(at)) < 0 || vfio_ask(VERSION, version, sizeof(version)) != 0)
		return 1;
	for (int i = 0; i < atoi(argv[2]); i++) {
		bad += vfio_ask(NO_COMMAND, "", 0) != 0;
		bad += vfio_ask(REGION_READ, "short", 5) != 0;
		bad += vfio_write(BAR2, UINT64_MAX - 1, 0, 4) != 0;
		trace_start_and_stop();
	}
	return bad == 3 * atoi(argv[2]) ? 0 : 1;
}
