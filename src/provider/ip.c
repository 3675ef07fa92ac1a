/*
 * ip.c: packets of IP (Dynamic Tracing Guide, "ip Provider"), from the kernel's tracepoints.
 *
 * A packet is sent when it is handed to a network device, and was received when a device hands it to the protocols. 
 * One that several devices pass on (a bridge, a tunnel) is sent and received by each.
 */
#include "provider/packet.h"
#include "provider/provider_int.h"

#define ARGS(header)                                                                                       \
	{                                                                                                  \
		PACKET_INFO, PACKET_SOCKET, PACKET_ARG("ipinfo_t", "__ip", header),                        \
			{ .value = "ifinfo_t *", .text = "xlate <ifinfo_t *> (" PACKET "->dev)" },         \
			PACKET_ARG("ipv4info_t", "__ip", header), PACKET_ARG("ipv6info_t", "__ip", header) \
	}
static const struct d_args sent_args[] = ARGS(PACKET_SENT), received_args[] = ARGS(PACKET_RECEIVED);

static const struct point_row ip_rows[] = {
	{ .name = "send", .point = { PACKET_POINT_SENT(0) }, POINT_ARGS(sent_args) },
	{ .name = "receive", .point = { PACKET_POINT_RECEIVED(0) }, POINT_ARGS(received_args) },
};

const struct provider prov_ip = {
	.name = "ip",
	.help = "packets of IPv4 and IPv6: send, receive",
	.is_long = true,
	.has_places = true,
	PROV_EVOLVING(DEP_ISA),
	.row = ip_rows,
	.nrows = COUNT(ip_rows),
};
