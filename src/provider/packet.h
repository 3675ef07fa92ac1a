/*
 * packet.h: arguments that the providers of packets share: of an sk_buff in word 0, as it is when the packet is sent,
 * or was received.
 */
#ifndef TALLY_PROVIDER_PACKET_H
#define TALLY_PROVIDER_PACKET_H

#define PACKET "((struct sk_buff *)__word0)"
#define PACKET_SENT "(" PACKET "->head + " PACKET "->network_header)"
#define PACKET_RECEIVED PACKET "->data"
/* lib/tally/d/net.d translates a struct __ip: it is where the header of IP begins. */
#define PACKET_ARG(type, as, header)                                                           \
	{                                                                                      \
		.value = type " *", .text = "xlate <" type " *> ((struct " as " *)" header ")" \
	}
#define PACKET_INFO                                                                \
	{                                                                          \
		.value = "pktinfo_t *", .text = "xlate <pktinfo_t *> (" PACKET ")" \
	}
#define PACKET_SOCKET                                                                \
	{                                                                            \
		.value = "csinfo_t *", .text = "xlate <csinfo_t *> (" PACKET "->sk)" \
	}
#define PACKET_POINT(tracepoint, condition, protocol)                                                            \
	{                                                                                                        \
		.name = tracepoint, .nargs = 1, .when = { { .word = 0, .test = condition, .value = protocol } }, \
		.nwhen = 1                                                                                       \
	}
#define PACKET_POINT_SENT(protocol) PACKET_POINT("net_dev_queue", WHEN_SENT, protocol)
#define PACKET_POINT_RECEIVED(protocol) PACKET_POINT("netif_receive_skb", WHEN_RECEIVED, protocol)

#endif
