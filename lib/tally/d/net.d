/*
 * net.d: packets and connections, as the providers ip, tcp and udp of Solaris have them.
 */
typedef struct pktinfo {
	uintptr_t pkt_addr;
} pktinfo_t;
typedef struct csinfo {
	uintptr_t cs_addr;
	uint64_t cs_cid;
	pid_t cs_pid;
} csinfo_t;
typedef struct ipinfo {
	uint8_t ip_ver;
	uint32_t ip_plength;
	string ip_saddr;
	string ip_daddr;
} ipinfo_t;
typedef struct ipv4info {
	uint8_t ipv4_ver;
	uint8_t ipv4_ihl;
	uint8_t ipv4_tos;
	uint16_t ipv4_length;
	uint16_t ipv4_ident;
	uint8_t ipv4_flags;
	uint16_t ipv4_offset;
	uint8_t ipv4_ttl;
	uint8_t ipv4_protocol;
	string ipv4_protostr;
	uint16_t ipv4_checksum;
	uint32_t ipv4_src;
	uint32_t ipv4_dst;
	string ipv4_saddr;
	string ipv4_daddr;
	struct iphdr *ipv4_hdr;
} ipv4info_t;
typedef struct ipv6info {
	uint8_t ipv6_ver;
	uint8_t ipv6_tclass;
	uint32_t ipv6_flow;
	uint16_t ipv6_plen;
	uint8_t ipv6_nexthdr;
	string ipv6_nextstr;
	uint8_t ipv6_hlim;
	string ipv6_saddr;
	string ipv6_daddr;
	struct ipv6hdr *ipv6_hdr;
} ipv6info_t;
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
	struct tcphdr *tcp_hdr;
} tcpinfo_t;
typedef struct tcpsinfo {
	uintptr_t tcps_addr;
	uint16_t tcps_lport;
	uint16_t tcps_rport;
	string tcps_laddr;
	string tcps_raddr;
	int32_t tcps_state;
	uint32_t tcps_suna;
	uint32_t tcps_snxt;
	uint32_t tcps_rnxt;
	uint32_t tcps_swnd;
	uint32_t tcps_rwnd;
	uint32_t tcps_cwnd;
	uint32_t tcps_mss;
} tcpsinfo_t;
typedef struct udpinfo {
	uint16_t udp_sport;
	uint16_t udp_dport;
	uint16_t udp_length;
	uint16_t udp_checksum;
	struct udphdr *udp_hdr;
} udpinfo_t;

inline int AF_INET = 2;
inline int AF_INET6 = 10;
inline int ARPHRD_ETHER = 1;
inline int ARPHRD_INFINIBAND = 32;

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

inline int TH_FIN = 0x01;
inline int TH_SYN = 0x02;
inline int TH_RST = 0x04;
inline int TH_PUSH = 0x08;
inline int TH_ACK = 0x10;
inline int TH_URG = 0x20;
inline int TH_ECE = 0x40;
inline int TH_CWR = 0x80;

inline int IPPROTO_ICMP = 1;
inline int IPPROTO_IGMP = 2;
inline int IPPROTO_TCP = 6;
inline int IPPROTO_UDP = 17;
inline int IPPROTO_IPV6 = 41;
inline int IPPROTO_ICMPV6 = 58;

inline string __protocol[int p] = p == IPPROTO_TCP ? "TCP" : p == IPPROTO_UDP ? "UDP" : p == IPPROTO_ICMP ? "ICMP" :
    p == IPPROTO_ICMPV6 ? "ICMPV6" : p == IPPROTO_IGMP ? "IGMP" : p == IPPROTO_IPV6 ? "IPV6" : "<unknown>";

translator pktinfo_t < struct sk_buff *S > {
	pkt_addr = (uintptr_t)S;
};

/* A connection has no number of its own on Linux: its socket's address is one. */
translator csinfo_t < struct sock *S > {
	cs_addr = (uintptr_t)S;
	cs_cid = (uint64_t)S;
	cs_pid = pid;
};

translator ipinfo_t < struct iphdr *I > {
	ip_ver = 4;
	ip_plength = ntohs(I->tot_len) - I->ihl * 4;
	ip_saddr = inet_ntoa(&I->saddr);
	ip_daddr = inet_ntoa(&I->daddr);
};
translator ipinfo_t < struct ipv6hdr *I > {
	ip_ver = 6;
	ip_plength = ntohs(I->payload_len);
	ip_saddr = inet_ntoa6(&I->saddr);
	ip_daddr = inet_ntoa6(&I->daddr);
};
translator ipv4info_t < struct iphdr *I > {
	ipv4_ver = I->version;
	ipv4_ihl = I->ihl * 4;
	ipv4_tos = I->tos;
	ipv4_length = ntohs(I->tot_len);
	ipv4_ident = ntohs(I->id);
	ipv4_flags = ntohs(I->frag_off) >> 8 & 0xe0;
	ipv4_offset = ntohs(I->frag_off) & 0x1fff;
	ipv4_ttl = I->ttl;
	ipv4_protocol = I->protocol;
	ipv4_protostr = __protocol[I->protocol];
	ipv4_checksum = ntohs(I->check);
	ipv4_src = I->saddr;
	ipv4_dst = I->daddr;
	ipv4_saddr = inet_ntoa(&I->saddr);
	ipv4_daddr = inet_ntoa(&I->daddr);
	ipv4_hdr = I;
};
translator ipv6info_t < struct ipv6hdr *I > {
	ipv6_ver = I->version;
	ipv6_tclass = I->priority << 4 | I->flow_lbl[0] >> 4;
	ipv6_flow = (I->flow_lbl[0] & 0xf) << 16 | I->flow_lbl[1] << 8 | I->flow_lbl[2];
	ipv6_plen = ntohs(I->payload_len);
	ipv6_nexthdr = I->nexthdr;
	ipv6_nextstr = __protocol[I->nexthdr];
	ipv6_hlim = I->hop_limit;
	ipv6_saddr = inet_ntoa6(&I->saddr);
	ipv6_daddr = inet_ntoa6(&I->daddr);
	ipv6_hdr = I;
};

translator conninfo_t < struct sock *S > {
	ci_local = inet_ntoa(&S->__sk_common.skc_rcv_saddr);
	ci_remote = inet_ntoa(&S->__sk_common.skc_daddr);
	ci_protocol = S->__sk_common.skc_family == 10 ? "ipv6" : "ipv4";
};

translator tcpinfo_t < struct tcphdr *T > {
	tcp_sport = ntohs(T->source);
	tcp_dport = ntohs(T->dest);
	tcp_seq = ntohl(T->seq);
	tcp_ack = ntohl(T->ack_seq);
	tcp_offset = T->doff * 4;
	tcp_flags = T->fin | T->syn << 1 | T->rst << 2 | T->psh << 3 | T->ack << 4 | T->urg << 5 | T->ece << 6 | T->cwr << 7;
	tcp_window = ntohs(T->window);
	tcp_checksum = ntohs(T->check);
	tcp_urgent = ntohs(T->urg_ptr);
	tcp_hdr = T;
};

/* A socket's state has the numbers above. */
translator tcpsinfo_t < struct tcp_sock *T > {
	tcps_addr = (uintptr_t)T;
	tcps_lport = T->inet_conn.icsk_inet.sk.__sk_common.skc_num;
	tcps_rport = ntohs(T->inet_conn.icsk_inet.sk.__sk_common.skc_dport);
	tcps_laddr = inet_ntoa(&T->inet_conn.icsk_inet.sk.__sk_common.skc_rcv_saddr);
	tcps_raddr = inet_ntoa(&T->inet_conn.icsk_inet.sk.__sk_common.skc_daddr);
	tcps_state = T->inet_conn.icsk_inet.sk.__sk_common.skc_state;
	tcps_suna = T->snd_una;
	tcps_snxt = T->snd_nxt;
	tcps_rnxt = T->rcv_nxt;
	tcps_swnd = T->snd_wnd;
	tcps_rwnd = T->rcv_wnd;
	tcps_cwnd = T->snd_cwnd;
	tcps_mss = T->mss_cache;
};

translator udpinfo_t < struct udphdr *U > {
	udp_sport = ntohs(U->source);
	udp_dport = ntohs(U->dest);
	udp_length = ntohs(U->len);
	udp_checksum = ntohs(U->check);
	udp_hdr = U;
};
