/*
 * packets.c: makes known numbers of connections and packets to itself over the loopback device; for the tests of what
 * fires at them.
 *
 *	packets [-6] connect	5 connections that are accepted, and one to a port where nobody listens
 *	packets [-6] send	20 datagrams of 33 bytes, and 5 segments of 5 bytes over one connection
 *
 * Exit 3: this machine has no such addresses.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

union packets_address {
	struct sockaddr any;
	struct sockaddr_in four;
	struct sockaddr_in6 six;
};

/* A socket of this host at a port that the kernel chooses; its address is in *at. */
static int packets_bind(bool six, int type, union packets_address *at)
{
	const int fd = socket(six ? AF_INET6 : AF_INET, type, 0);
	socklen_t size = sizeof(*at);

	memset(at, 0, sizeof(*at));
	at->any.sa_family = six ? AF_INET6 : AF_INET;
	if (six)
		at->six.sin6_addr = in6addr_loopback;
	else
		at->four.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (fd < 0 || bind(fd, &at->any, six ? sizeof(at->six) : sizeof(at->four)) || getsockname(fd, &at->any, &size))
		return -1;
	return fd;
}

static int packets_connect(const union packets_address *to)
{
	const int fd = socket(to->any.sa_family, SOCK_STREAM, 0);

	if (!connect(fd, &to->any, to->any.sa_family == AF_INET6 ? sizeof(to->six) : sizeof(to->four)))
		return fd;
	close(fd);
	return -1;
}

static int make_connections(bool six)
{
	union packets_address at, nobody;
	const int listens = packets_bind(six, SOCK_STREAM, &at), closed = packets_bind(six, SOCK_STREAM, &nobody);
	char c;

	if (listens < 0 || listen(listens, 5))
		return 3;
	close(closed);
	for (int i = 0; i < 5; i++) {
		const int asks = packets_connect(&at), takes = accept(listens, NULL, NULL);

		if (asks < 0 || takes < 0)
			return 1;
		close(asks);
		(void)!read(takes, &c, 1);
		close(takes);
	}
	return packets_connect(&nobody) >= 0;
}

static int send_packets(bool six)
{
	union packets_address at, from, stream;
	const int takes = packets_bind(six, SOCK_DGRAM, &at), sends = packets_bind(six, SOCK_DGRAM, &from),
		  listens = packets_bind(six, SOCK_STREAM, &stream);
	char data[100] = "";
	int one, two;

	if (takes < 0 || sends < 0 || listens < 0 || listen(listens, 1))
		return 3;
	for (int i = 0; i < 20; i++)
		if (sendto(sends, data, 33, 0, &at.any, six ? sizeof(at.six) : sizeof(at.four)) != 33 ||
		    read(takes, data, sizeof(data)) != 33)
			return 1;
	if ((one = packets_connect(&stream)) < 0 || (two = accept(listens, NULL, NULL)) < 0)
		return 1;
	for (int i = 0; i < 5; i++)
		if (write(one, "hello", 5) != 5 || read(two, data, sizeof(data)) != 5)
			return 1;
	close(one);
	close(two);
	printf("ports %d %d\n", ntohs(at.four.sin_port), ntohs(stream.four.sin_port));
	return 0;
}

int main(int argc, char **argv)
{
	const bool six = argc > 1 && !strcmp(argv[1], "-6");

	if (argc != 2 + six)
		return 2;
	return !strcmp(argv[1 + six], "connect") ? make_connections(six) : send_packets(six);
}
