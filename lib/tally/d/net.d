/*
 * net.d: packets and connections, as the providers ip, tcp and udp of Solaris have them.
 */
typedef struct pktinfo {
	uintptr_t pkt_addr;
} pktinfo_t;
typedef struct csinfo {
	uintptr_t cs_addr;
} csinfo_t;
typedef struct ipinfo {
	uint8_t ip_ver;
	uint16_t ip_plength;
	string ip_saddr;
	string ip_daddr;
} ipinfo_t;
typedef struct conninfo {
	string ci_local;
	string ci_remote;
	string ci_protocol;
} conninfo_t;
typedef struct tcpinfo {
	uint16_t tcp_sport;
	uint16_t tcp_dport;
	uint32_t tcp_seq;
	uint32_t tcp_ack;
	uint8_t tcp_offset;
	uint8_t tcp_flags;
	uint16_t tcp_window;
	uint16_t tcp_checksum;
	uint16_t tcp_urgent;
} tcpinfo_t;

inline int TCP_STATE_ESTABLISHED = 1;
inline int TCP_STATE_SYN_SENT = 2;
inline int TCP_STATE_SYN_RECEIVED = 3;
inline int TCP_STATE_FIN_WAIT_1 = 4;
inline int TCP_STATE_FIN_WAIT_2 = 5;
inline int TCP_STATE_TIME_WAIT = 6;
inline int TCP_STATE_CLOSED = 7;
inline int TCP_STATE_CLOSE_WAIT = 8;
inline int TCP_STATE_LAST_ACK = 9;
inline int TCP_STATE_LISTEN = 10;
inline int TCP_STATE_CLOSING = 11;

translator pktinfo_t < struct sk_buff *S > {
	pkt_addr = (uintptr_t)S;
};
translator csinfo_t < struct sock *S > {
	cs_addr = (uintptr_t)S;
};
