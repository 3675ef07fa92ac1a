/*
 * udp.c: datagrams of UDP (Dynamic Tracing Guide, "udp Provider"), from the kernel's tracepoints.
 *
 * A datagram is sent and received as its packet of IP is (ip.c).
 */
#include "provider/packet.h"
#include "provider/provider_int.h"

#define UDP 17
#define ARGS(header, direction)                                                                              \
	{                                                                                                    \
		PACKET_INFO, PACKET_SOCKET, PACKET_ARG("ipinfo_t", "__ip", header),                          \
			PACKET_ARG("udpsinfo_t", direction, header), PACKET_ARG("udpinfo_t", "__ip", header) \
	}
static const struct d_args sent_args[] = ARGS(PACKET_SENT, "__ip_sent"),
			   received_args[] = ARGS(PACKET_RECEIVED, "__ip_received");

static const struct point_row udp_rows[] = {
	{ .name = "send", .point = { PACKET_POINT_SENT(UDP) }, POINT_ARGS(sent_args) },
	{ .name = "receive", .point = { PACKET_POINT_RECEIVED(UDP) }, POINT_ARGS(received_args) },
};

const struct provider prov_udp = {
	.name = "udp",
	.help = "datagrams: send, receive",
	.is_long = true,
	.has_places = true,
	PROV_EVOLVING(DEP_ISA),
	.row = udp_rows,
	.nrows = COUNT(udp_rows),
};
