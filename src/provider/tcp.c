/*
 * tcp.c: connections of TCP (Dynamic Tracing Guide, "tcp Provider"), from the kernel's tracepoints.
 *
 * The kernel tells of each change of a connection's state, before it makes it, and of a connection that is refused.  A
 * change stands for the packet that caused it: which of both ends sent it is known, its headers are not there.  So each
 * probe's arguments are translated from the socket, as one whose packet was sent, or was received (lib/tally/d/net.d). 
 * Segments are sent and received as their packets of IP are (ip.c), and have their headers.
 */
#include "provider/packet.h"
#include "provider/provider_int.h"

#define ARG(type, from)                                                                       \
	{                                                                                     \
		.value = type " *", .text = "xlate <" type " *> ((struct " from " *)__word0)" \
	}
#define ARGS(direction)                                                                                             \
	{                                                                                                           \
		{ .value = "pktinfo_t *", .text = "(pktinfo_t *)0" }, ARG("csinfo_t", "sock"),                      \
			ARG("ipinfo_t", direction), ARG("tcpsinfo_t", "__tcp_change"), ARG("tcpinfo_t", direction), \
			ARG("tcplsinfo_t", "__tcp_change")                                                          \
	}
static const struct d_args sent_args[] = ARGS("__tcp_sent"), received_args[] = ARGS("__tcp_received");

#define TCP 6
#define SEGMENT_ARGS(header, direction)                                                                      \
	{                                                                                                    \
		PACKET_INFO, PACKET_SOCKET, PACKET_ARG("ipinfo_t", "__ip", header),                          \
			PACKET_ARG("tcpsinfo_t", direction, header), PACKET_ARG("tcpinfo_t", "__ip", header) \
	}
static const struct d_args send_args[] = SEGMENT_ARGS(PACKET_SENT, "__ip_sent"),
			   receive_args[] = SEGMENT_ARGS(PACKET_RECEIVED, "__ip_received");

#define IS_TCP                                                                         \
	{                                                                              \
		.word = 0, .at = { { "sock", "sk_protocol" } }, .bytes = 2, .value = 6 \
	}
/* tcp_send_reset without a socket: word 1 is the segment that is answered, whose data are the header of TCP. Flags
 * stand in one byte, from fin on. Before Linux 6.10 the tracepoint had two arguments, and did not fire without a
 * socket. */
enum { SYN = 0x02, ACK = 0x10 };
#define SEGMENT_FLAG(which, flag)                                                                           \
	{                                                                                                   \
		.word = 1, .at = { { "sk_buff", "data" }, { "tcphdr", "fin" } }, .bytes = 1, .test = which, \
		.value = flag                                                                               \
	}
#define REFUSED "((struct sk_buff *)__word1)"
#define REFUSED_HEADER "(" REFUSED "->head + " REFUSED "->network_header)"
static const struct d_args refused_args[] = {
	{ .value = "pktinfo_t *", .text = "xlate <pktinfo_t *> (" REFUSED ")" },
	{ .value = "csinfo_t *", .text = "xlate <csinfo_t *> (" REFUSED "->sk)" },
	PACKET_ARG("ipinfo_t", "__ip", REFUSED_HEADER),
	PACKET_ARG("tcpsinfo_t", "__ip_received", REFUSED_HEADER),
	PACKET_ARG("tcpinfo_t", "__ip", REFUSED_HEADER),
};
/* Numbers of states: include/net/tcp_states.h */
enum { TCP_ESTABLISHED = 1, TCP_SYN_SENT = 2, TCP_SYN_RECEIVED = 3, TCP_CLOSED = 7 };
#define CHANGE(before, after)                                          \
	{                                                              \
		.name = "inet_sock_set_state", .nargs = 3,             \
		.when = { IS_TCP,                                      \
			  { .word = 1, .bytes = 4, .value = before },  \
			  { .word = 2, .bytes = 4, .value = after } }, \
		.nwhen = 3                                             \
	}

static const struct point_row tcp_rows[] = {
	{ .name = "state-change",
	  .point = { { .name = "inet_sock_set_state", .nargs = 3, .when = { IS_TCP }, .nwhen = 1 } },
	  POINT_ARGS(sent_args) },
	{ .name = "connect-request", .point = { CHANGE(TCP_CLOSED, TCP_SYN_SENT) }, POINT_ARGS(sent_args) },
	{ .name = "connect-established",
	  .point = { CHANGE(TCP_SYN_SENT, TCP_ESTABLISHED) },
	  POINT_ARGS(received_args) },
	{ .name = "connect-refused",
	  .point = { { .name = "tcp_receive_reset",
		       .nargs = 1,
		       .when = { { .word = 0,
				   .at = { { "sock", "__sk_common.skc_state" } },
				   .bytes = 1,
				   .value = TCP_SYN_SENT } },
		       .nwhen = 1 } },
	  POINT_ARGS(received_args) },
	{ .name = "accept-established",
	  .point = { CHANGE(TCP_SYN_RECEIVED, TCP_ESTABLISHED) },
	  POINT_ARGS(received_args) },
	{ .name = "accept-refused",
	  .point = { { .name = "tcp_send_reset",
		       .nargs = 3,
		       .when = { { .word = 0 }, SEGMENT_FLAG(WHEN_SET, SYN), SEGMENT_FLAG(WHEN_CLEAR, ACK) },
		       .nwhen = 3 } },
	  POINT_ARGS(refused_args),
	  .lacks = "the tracepoint tcp_send_reset for connections that nobody listens for (Linux 6.10)" },
	{ .name = "send", .point = { PACKET_POINT_SENT(TCP) }, POINT_ARGS(send_args) },
	{ .name = "receive", .point = { PACKET_POINT_RECEIVED(TCP) }, POINT_ARGS(receive_args) },
};

const struct provider prov_tcp = {
	.name = "tcp",
	.help = "connections and segments: connect-established, accept-established, send, receive ...",
	.is_long = true,
	.has_places = true,
	PROV_EVOLVING(DEP_ISA),
	.row = tcp_rows,
	.nrows = COUNT(tcp_rows),
};
