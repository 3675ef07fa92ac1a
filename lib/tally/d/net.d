/*
 * net.d: packets and connections, as the providers ip, tcp and udp of Solaris have them.
 */
typedef uint32_t ipaddr_t; /* in network byte order */
typedef struct in6_addr in6_addr_t;
typedef struct pktinfo {
	uintptr_t pkt_addr;
} pktinfo_t;
typedef struct csinfo {
	uintptr_t cs_addr;
	uint64_t cs_cid;
	pid_t cs_pid;
	zoneid_t cs_zoneid;
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
	in6_addr_t *ipv6_src;
	in6_addr_t *ipv6_dst;
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
	int tcps_local;
	int tcps_active;
	uint16_t tcps_lport;
	uint16_t tcps_rport;
	string tcps_laddr;
	string tcps_raddr;
	int32_t tcps_state;
	uint32_t tcps_iss;
	uint32_t tcps_suna;
	uint32_t tcps_snxt;
	uint32_t tcps_rack;
	uint32_t tcps_rnxt;
	uint32_t tcps_swnd;
	int32_t tcps_snd_ws;
	uint32_t tcps_rwnd;
	int32_t tcps_rcv_ws;
	uint32_t tcps_cwnd;
	uint32_t tcps_cwnd_ssthresh;
	uint32_t tcps_sack_fack;
	uint32_t tcps_sack_snxt;
	uint32_t tcps_rto;
	uint32_t tcps_mss;
	int tcps_retransmit;
	uint32_t tcps_rtt;
	uint32_t tcps_rtt_sd;
	uint32_t tcps_irs;
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
inline int UDPH_SIZE = 8;
inline int ARPHRD_ETHER = 1;
inline int ARPHRD_INFINIBAND = 32;

/* A socket of Linux that is bound is closed, and none is idle: no probe tells of these two. */
inline int TCP_STATE_IDLE = 0;
inline int TCP_STATE_BOUND = 13;
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

inline string tcp_state_string[int state] = state == TCP_STATE_ESTABLISHED ? "state-established" :
    state == TCP_STATE_SYN_SENT ? "state-syn-sent" : state == TCP_STATE_SYN_RECEIVED ? "state-syn-received" :
    state == TCP_STATE_FIN_WAIT_1 ? "state-fin-wait-1" : state == TCP_STATE_FIN_WAIT_2 ? "state-fin-wait-2" :
    state == TCP_STATE_TIME_WAIT ? "state-time-wait" : state == TCP_STATE_CLOSED ? "state-closed" :
    state == TCP_STATE_CLOSE_WAIT ? "state-close-wait" : state == TCP_STATE_LAST_ACK ? "state-last-ack" :
    state == TCP_STATE_LISTEN ? "state-listen" : state == TCP_STATE_CLOSING ? "state-closing" :
    state == TCP_STATE_IDLE ? "state-idle" : state == TCP_STATE_BOUND ? "state-bound" : "<unknown>";

inline int TH_FIN = 0x01;
inline int TH_SYN = 0x02;
inline int TH_RST = 0x04;
inline int TH_PUSH = 0x08;
inline int TH_PSH = 0x08;
inline int TH_ACK = 0x10;
inline int TH_URG = 0x20;
inline int TH_ECE = 0x40;
inline int TH_CWR = 0x80;

/* Of ipv4_flags. */
inline int IPH_DF = 0x40;
inline int IPH_MF = 0x20;

inline int IPPROTO_IP = 0;
inline int IPPROTO_HOPOPTS = 0;
inline int IPPROTO_ICMP = 1;
inline int IPPROTO_IGMP = 2;
inline int IPPROTO_GGP = 3;
inline int IPPROTO_ENCAP = 98;
inline int IPPROTO_IPIP = 4;
inline int IPPROTO_TCP = 6;
inline int IPPROTO_EGP = 8;
inline int IPPROTO_PUP = 12;
inline int IPPROTO_UDP = 17;
inline int IPPROTO_IDP = 22;
inline int IPPROTO_IPV6 = 41;
inline int IPPROTO_ROUTING = 43;
inline int IPPROTO_FRAGMENT = 44;
inline int IPPROTO_RSVP = 46;
inline int IPPROTO_GRE = 47;
inline int IPPROTO_ESP = 50;
inline int IPPROTO_AH = 51;
inline int IPPROTO_ICMPV6 = 58;
inline int IPPROTO_NONE = 59;
inline int IPPROTO_DSTOPTS = 60;
inline int IPPROTO_HELLO = 63;
inline int IPPROTO_ND = 77;
inline int IPPROTO_EON = 80;
inline int IPPROTO_OSPF = 89;
inline int IPPROTO_PIM = 103;
inline int IPPROTO_SCTP = 132;
inline int IPPROTO_RAW = 255;
inline int IPPROTO_MAX = 256;

inline string __protocol[int p] = p == IPPROTO_TCP ? "TCP" : p == IPPROTO_UDP ? "UDP" : p == IPPROTO_ICMP ? "ICMP" :
    p == IPPROTO_ICMPV6 ? "ICMPv6" : p == IPPROTO_IGMP ? "IGMP" : p == IPPROTO_IP ? "IP" : p == IPPROTO_EGP ? "EGP" :
    p == IPPROTO_IPV6 ? "IPv6" : p == IPPROTO_ROUTING ? "ROUTE" : p == IPPROTO_ESP ? "ESP" : p == IPPROTO_AH ? "AH" :
    p == IPPROTO_OSPF ? "OSPF" : p == IPPROTO_SCTP ? "SCTP" : p == IPPROTO_RAW ? "RAW" : lltostr(p);

translator pktinfo_t < struct sk_buff *S > {
	pkt_addr = (uintptr_t)S;
};

/* A connection has no number of its own on Linux: its socket's address is one. */
translator csinfo_t < struct sock *S > {
	cs_addr = (uintptr_t)S;
	cs_cid = (uint64_t)S;
	cs_pid = pid;
};
inline string __without_cs_zoneid = "Linux has no zones; zonename is the cgroup of the thread that fires";

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
	ipv6_src = &I->saddr;
	ipv6_dst = &I->daddr;
	ipv6_saddr = inet_ntoa6(&I->saddr);
	ipv6_daddr = inet_ntoa6(&I->daddr);
	ipv6_hdr = I;
};

inline int __is_ipv6[struct sock *S] = S->__sk_common.skc_family == AF_INET6;
inline string __local_of[struct sock *S] = __is_ipv6[S] ? inet_ntoa6(&S->__sk_common.skc_v6_rcv_saddr) :
    inet_ntoa(&S->__sk_common.skc_rcv_saddr);
inline string __remote_of[struct sock *S] = __is_ipv6[S] ? inet_ntoa6(&S->__sk_common.skc_v6_daddr) :
    inet_ntoa(&S->__sk_common.skc_daddr);

translator conninfo_t < struct sock *S > {
	ci_local = __local_of[S];
	ci_remote = __remote_of[S];
	ci_protocol = __is_ipv6[S] ? "ipv6" : "ipv4";
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

inline struct sock *__sock_of[struct tcp_sock *T] = (struct sock *)T;
/* Both ends are this machine's if packets go to the loopback device; before there is a route, if the addresses are alike. */
inline int __is_local[struct sock *S] = S->sk_dst_cache != NULL ? (S->sk_dst_cache->dev->flags & 8) != 0 :
    __is_ipv6[S] ? *(uint64_t *)&S->__sk_common.skc_v6_daddr == *(uint64_t *)&S->__sk_common.skc_v6_rcv_saddr &&
    ((uint64_t *)&S->__sk_common.skc_v6_daddr)[1] == ((uint64_t *)&S->__sk_common.skc_v6_rcv_saddr)[1] :
    S->__sk_common.skc_daddr == S->__sk_common.skc_rcv_saddr;

/*
 * A socket's state has the numbers above. The kernel keeps its timeout in ticks, of which it does not tell how long they are; what it
 * computes it from are microseconds.
 */
translator tcpsinfo_t < struct tcp_sock *T > {
	tcps_addr = (uintptr_t)T;
	tcps_local = __is_local[__sock_of[T]];
	/* A socket that closes has given its port back before the kernel tells; inet_sport still has it. */
	tcps_lport = __sock_of[T]->__sk_common.skc_num ? __sock_of[T]->__sk_common.skc_num :
	    ntohs(((struct inet_sock *)T)->inet_sport);
	tcps_rport = ntohs(__sock_of[T]->__sk_common.skc_dport);
	tcps_laddr = __local_of[__sock_of[T]];
	tcps_raddr = __remote_of[__sock_of[T]];
	tcps_state = __sock_of[T]->__sk_common.skc_state;
	tcps_suna = T->snd_una;
	tcps_snxt = T->snd_nxt;
	tcps_rack = T->rcv_wup;
	tcps_rnxt = T->rcv_nxt;
	tcps_swnd = T->snd_wnd;
	tcps_snd_ws = T->rx_opt.snd_wscale;
	tcps_rwnd = T->rcv_wnd;
	tcps_rcv_ws = T->rx_opt.rcv_wscale;
	tcps_cwnd = T->snd_cwnd;
	tcps_cwnd_ssthresh = T->snd_ssthresh;
	tcps_sack_fack = T->sacked_out == 0 ? T->snd_una : T->highest_sack == NULL ? T->snd_nxt :
	    ((struct tcp_skb_cb *)&T->highest_sack->cb[0])->seq;
	tcps_rto = (T->srtt_us == 0 ? 1000 : ((T->srtt_us >> 3) + T->rttvar_us) / 1000) << T->inet_conn.icsk_backoff;
	tcps_mss = T->mss_cache;
	tcps_rtt = (T->srtt_us >> 3) / 1000;
	tcps_rtt_sd = (T->mdev_us >> 2) / 1000;
};
inline string __without_tcps_active = "Linux does not keep which end asked for a connection";
inline string __without_tcps_iss = "Linux does not keep the first numbers of a connection";
inline string __without_tcps_irs = "Linux does not keep the first numbers of a connection";
inline string __without_tcps_sack_snxt = "what is sent again next is marked in the segments, not in the socket";
inline string __without_tcps_retransmit = "rawtp:::tcp_retransmit_skb fires for each segment that is sent again";

translator udpinfo_t < struct udphdr *U > {
	udp_sport = ntohs(U->source);
	udp_dport = ntohs(U->dest);
	udp_length = ntohs(U->len);
	udp_checksum = ntohs(U->check);
	udp_hdr = U;
};

/*
 * What the probes of the provider tcp tell of a connection: of its socket, since the packet's headers are not there. The socket's
 * address is handed over as that of a struct whose name says whose packet it was, or that its state is about to change;
 * __word1 and __word2 are the state before and after.
 */
struct __tcp_sent;
struct __tcp_received;
struct __tcp_change;

typedef struct tcplsinfo {
	int32_t tcps_state;
} tcplsinfo_t;

translator ipinfo_t < struct __tcp_sent *S > {
	ip_ver = __is_ipv6[(struct sock *)S] ? 6 : 4;
	ip_saddr = __local_of[(struct sock *)S];
	ip_daddr = __remote_of[(struct sock *)S];
};
translator ipinfo_t < struct __tcp_received *S > {
	ip_ver = __is_ipv6[(struct sock *)S] ? 6 : 4;
	ip_saddr = __remote_of[(struct sock *)S];
	ip_daddr = __local_of[(struct sock *)S];
};
inline string __no_packet = "the kernel tells of the connection and not of the packet; send and receive have the packet";
inline string __without_ip_plength = __no_packet;
inline string __without_tcp_seq = __no_packet;
inline string __without_tcp_ack = __no_packet;
inline string __without_tcp_offset = __no_packet;
inline string __without_tcp_flags = __no_packet;
inline string __without_tcp_window = __no_packet;
inline string __without_tcp_checksum = __no_packet;
inline string __without_tcp_urgent = __no_packet;
inline string __without_tcp_hdr = __no_packet;
translator tcpinfo_t < struct __tcp_sent *S > {
	tcp_sport = xlate < tcpsinfo_t > ((struct tcp_sock *)S).tcps_lport;
	tcp_dport = ntohs(((struct sock *)S)->__sk_common.skc_dport);
};
translator tcpinfo_t < struct __tcp_received *S > {
	tcp_sport = ntohs(((struct sock *)S)->__sk_common.skc_dport);
	tcp_dport = xlate < tcpsinfo_t > ((struct tcp_sock *)S).tcps_lport;
};
translator tcpsinfo_t < struct __tcp_change *S > {
	tcps_addr = (uintptr_t)S;
	tcps_state = __word2;
	tcps_local = xlate < tcpsinfo_t > ((struct tcp_sock *)S).tcps_local;
	tcps_lport = xlate < tcpsinfo_t > ((struct tcp_sock *)S).tcps_lport;
	tcps_rport = xlate < tcpsinfo_t > ((struct tcp_sock *)S).tcps_rport;
	tcps_laddr = xlate < tcpsinfo_t > ((struct tcp_sock *)S).tcps_laddr;
	tcps_raddr = xlate < tcpsinfo_t > ((struct tcp_sock *)S).tcps_raddr;
	tcps_suna = xlate < tcpsinfo_t > ((struct tcp_sock *)S).tcps_suna;
	tcps_snxt = xlate < tcpsinfo_t > ((struct tcp_sock *)S).tcps_snxt;
	tcps_rack = xlate < tcpsinfo_t > ((struct tcp_sock *)S).tcps_rack;
	tcps_rnxt = xlate < tcpsinfo_t > ((struct tcp_sock *)S).tcps_rnxt;
	tcps_swnd = xlate < tcpsinfo_t > ((struct tcp_sock *)S).tcps_swnd;
	tcps_snd_ws = xlate < tcpsinfo_t > ((struct tcp_sock *)S).tcps_snd_ws;
	tcps_rwnd = xlate < tcpsinfo_t > ((struct tcp_sock *)S).tcps_rwnd;
	tcps_rcv_ws = xlate < tcpsinfo_t > ((struct tcp_sock *)S).tcps_rcv_ws;
	tcps_cwnd = xlate < tcpsinfo_t > ((struct tcp_sock *)S).tcps_cwnd;
	tcps_cwnd_ssthresh = xlate < tcpsinfo_t > ((struct tcp_sock *)S).tcps_cwnd_ssthresh;
	tcps_sack_fack = xlate < tcpsinfo_t > ((struct tcp_sock *)S).tcps_sack_fack;
	tcps_rto = xlate < tcpsinfo_t > ((struct tcp_sock *)S).tcps_rto;
	tcps_mss = xlate < tcpsinfo_t > ((struct tcp_sock *)S).tcps_mss;
	tcps_rtt = xlate < tcpsinfo_t > ((struct tcp_sock *)S).tcps_rtt;
	tcps_rtt_sd = xlate < tcpsinfo_t > ((struct tcp_sock *)S).tcps_rtt_sd;
};
translator tcplsinfo_t < struct __tcp_change *S > {
	tcps_state = __word1;
};

/*
 * A packet whose header of IP begins at that address. Of a connection it is seen from the end that sends, or the end that received.
 */
struct __ip;
struct __ip_sent;
struct __ip_received;

typedef struct ifinfo {
	string if_name;
	int8_t if_local;
	uint64_t if_ipstack;
	uintptr_t if_addr;
} ifinfo_t;
typedef struct udpsinfo {
	uintptr_t udps_addr;
	uint16_t udps_lport;
	uint16_t udps_rport;
	string udps_laddr;
	string udps_raddr;
} udpsinfo_t;

translator ifinfo_t < struct net_device *D > {
	if_name = D == NULL ? "<null>" : stringof(D->name);
	if_local = D == NULL ? 0 : D->flags & 8 ? 1 : 0;
	if_ipstack = D == NULL ? 0 : (uint64_t)D->nd_net.net;
	if_addr = (uintptr_t)D;
};

inline int __is_v6[struct __ip *P] = ((struct iphdr *)P)->version == 6;
inline string __source_of[struct __ip *P] = __is_v6[P] ? inet_ntoa6(&((struct ipv6hdr *)P)->saddr) :
    inet_ntoa(&((struct iphdr *)P)->saddr);
inline string __destination_of[struct __ip *P] = __is_v6[P] ? inet_ntoa6(&((struct ipv6hdr *)P)->daddr) :
    inet_ntoa(&((struct iphdr *)P)->daddr);
/* What comes behind the header of IP, if IPv6 has no more headers. */
inline uintptr_t __behind[struct __ip *P] = (uintptr_t)P + (__is_v6[P] ? 40 : ((struct iphdr *)P)->ihl * 4);

translator ipinfo_t < struct __ip *P > {
	ip_ver = __is_v6[P] ? 6 : 4;
	ip_plength = __is_v6[P] ? ntohs(((struct ipv6hdr *)P)->payload_len) :
	    ntohs(((struct iphdr *)P)->tot_len) - ((struct iphdr *)P)->ihl * 4;
	ip_saddr = __source_of[P];
	ip_daddr = __destination_of[P];
};
translator ipv4info_t < struct __ip *P > {
	ipv4_ver = __is_v6[P] ? 0 : 4;
	ipv4_ihl = __is_v6[P] ? 0 : ((struct iphdr *)P)->ihl * 4;
	ipv4_tos = __is_v6[P] ? 0 : ((struct iphdr *)P)->tos;
	ipv4_length = __is_v6[P] ? 0 : ntohs(((struct iphdr *)P)->tot_len);
	ipv4_ident = __is_v6[P] ? 0 : ntohs(((struct iphdr *)P)->id);
	ipv4_flags = __is_v6[P] ? 0 : ntohs(((struct iphdr *)P)->frag_off) >> 8 & 0xe0;
	ipv4_offset = __is_v6[P] ? 0 : ntohs(((struct iphdr *)P)->frag_off) & 0x1fff;
	ipv4_ttl = __is_v6[P] ? 0 : ((struct iphdr *)P)->ttl;
	ipv4_protocol = __is_v6[P] ? 0 : ((struct iphdr *)P)->protocol;
	ipv4_protostr = __is_v6[P] ? "" : __protocol[((struct iphdr *)P)->protocol];
	ipv4_checksum = __is_v6[P] ? 0 : ntohs(((struct iphdr *)P)->check);
	ipv4_src = __is_v6[P] ? 0 : ((struct iphdr *)P)->saddr;
	ipv4_dst = __is_v6[P] ? 0 : ((struct iphdr *)P)->daddr;
	ipv4_saddr = __is_v6[P] ? "" : inet_ntoa(&((struct iphdr *)P)->saddr);
	ipv4_daddr = __is_v6[P] ? "" : inet_ntoa(&((struct iphdr *)P)->daddr);
	ipv4_hdr = __is_v6[P] ? (struct iphdr *)NULL : (struct iphdr *)P;
};
translator ipv6info_t < struct __ip *P > {
	ipv6_ver = __is_v6[P] ? 6 : 0;
	ipv6_tclass = __is_v6[P] ? ((struct ipv6hdr *)P)->priority << 4 | ((struct ipv6hdr *)P)->flow_lbl[0] >> 4 : 0;
	ipv6_flow = __is_v6[P] ? (((struct ipv6hdr *)P)->flow_lbl[0] & 0xf) << 16 | ((struct ipv6hdr *)P)->flow_lbl[1] << 8 |
	    ((struct ipv6hdr *)P)->flow_lbl[2] : 0;
	ipv6_plen = __is_v6[P] ? ntohs(((struct ipv6hdr *)P)->payload_len) : 0;
	ipv6_nexthdr = __is_v6[P] ? ((struct ipv6hdr *)P)->nexthdr : 0;
	ipv6_nextstr = __is_v6[P] ? __protocol[((struct ipv6hdr *)P)->nexthdr] : "";
	ipv6_hlim = __is_v6[P] ? ((struct ipv6hdr *)P)->hop_limit : 0;
	ipv6_src = __is_v6[P] ? &((struct ipv6hdr *)P)->saddr : (struct in6_addr *)NULL;
	ipv6_dst = __is_v6[P] ? &((struct ipv6hdr *)P)->daddr : (struct in6_addr *)NULL;
	ipv6_saddr = __is_v6[P] ? inet_ntoa6(&((struct ipv6hdr *)P)->saddr) : "";
	ipv6_daddr = __is_v6[P] ? inet_ntoa6(&((struct ipv6hdr *)P)->daddr) : "";
	ipv6_hdr = __is_v6[P] ? (struct ipv6hdr *)P : (struct ipv6hdr *)NULL;
};

inline struct tcphdr *__tcp_of[struct __ip *P] = (struct tcphdr *)__behind[P];
inline struct udphdr *__udp_of[struct __ip *P] = (struct udphdr *)__behind[P];

translator tcpinfo_t < struct __ip *P > {
	tcp_sport = ntohs(__tcp_of[P]->source);
	tcp_dport = ntohs(__tcp_of[P]->dest);
	tcp_seq = ntohl(__tcp_of[P]->seq);
	tcp_ack = ntohl(__tcp_of[P]->ack_seq);
	tcp_offset = __tcp_of[P]->doff * 4;
	tcp_flags = __tcp_of[P]->fin | __tcp_of[P]->syn << 1 | __tcp_of[P]->rst << 2 | __tcp_of[P]->psh << 3 |
	    __tcp_of[P]->ack << 4 | __tcp_of[P]->urg << 5 | __tcp_of[P]->ece << 6 | __tcp_of[P]->cwr << 7;
	tcp_window = ntohs(__tcp_of[P]->window);
	tcp_checksum = ntohs(__tcp_of[P]->check);
	tcp_urgent = ntohs(__tcp_of[P]->urg_ptr);
	tcp_hdr = __tcp_of[P];
};
translator udpinfo_t < struct __ip *P > {
	udp_sport = ntohs(__udp_of[P]->source);
	udp_dport = ntohs(__udp_of[P]->dest);
	udp_length = ntohs(__udp_of[P]->len);
	udp_checksum = ntohs(__udp_of[P]->check);
	udp_hdr = __udp_of[P];
};
/*
 * Who sends a packet is known, unless nobody does: the kernel answers by itself, or for a connection that is not there yet, or no longer. The receiver
 * is found only later.
 */
inline struct sock *__sender = ((struct sk_buff *)__word0)->sk;
inline struct tcp_sock *__connection = __sender == NULL || __sender->__sk_common.skc_state == TCP_STATE_TIME_WAIT ||
    __sender->__sk_common.skc_state == 12 || __sender->sk_type != 1 ? (struct tcp_sock *)NULL : (struct tcp_sock *)__sender;
translator tcpsinfo_t < struct __ip_sent *P > {
	tcps_addr = (uintptr_t)__connection;
	tcps_local = __source_of[(struct __ip *)P] == __destination_of[(struct __ip *)P];
	tcps_lport = ntohs(__tcp_of[(struct __ip *)P]->source);
	tcps_rport = ntohs(__tcp_of[(struct __ip *)P]->dest);
	tcps_laddr = __source_of[(struct __ip *)P];
	tcps_raddr = __destination_of[(struct __ip *)P];
	tcps_state = __connection == NULL ? 0 : __sender->__sk_common.skc_state;
	tcps_suna = __connection == NULL ? 0 : __connection->snd_una;
	tcps_snxt = __connection == NULL ? 0 : __connection->snd_nxt;
	tcps_rack = __connection == NULL ? 0 : __connection->rcv_wup;
	tcps_rnxt = __connection == NULL ? 0 : __connection->rcv_nxt;
	tcps_swnd = __connection == NULL ? 0 : __connection->snd_wnd;
	tcps_snd_ws = __connection == NULL ? 0 : __connection->rx_opt.snd_wscale;
	tcps_rwnd = __connection == NULL ? 0 : __connection->rcv_wnd;
	tcps_rcv_ws = __connection == NULL ? 0 : __connection->rx_opt.rcv_wscale;
	tcps_cwnd = __connection == NULL ? 0 : __connection->snd_cwnd;
	tcps_cwnd_ssthresh = __connection == NULL ? 0 : __connection->snd_ssthresh;
	tcps_sack_fack = __connection == NULL ? 0 : xlate < tcpsinfo_t > (__connection).tcps_sack_fack;
	tcps_rto = __connection == NULL ? 0 : xlate < tcpsinfo_t > (__connection).tcps_rto;
	tcps_mss = __connection == NULL ? 0 : __connection->mss_cache;
	tcps_rtt = __connection == NULL ? 0 : xlate < tcpsinfo_t > (__connection).tcps_rtt;
	tcps_rtt_sd = __connection == NULL ? 0 : xlate < tcpsinfo_t > (__connection).tcps_rtt_sd;
};
translator tcpsinfo_t < struct __ip_received *P > {
	tcps_local = __source_of[(struct __ip *)P] == __destination_of[(struct __ip *)P];
	tcps_lport = ntohs(__tcp_of[(struct __ip *)P]->dest);
	tcps_rport = ntohs(__tcp_of[(struct __ip *)P]->source);
	tcps_laddr = __destination_of[(struct __ip *)P];
	tcps_raddr = __source_of[(struct __ip *)P];
};
inline string __no_receiver = "it is the receiver's, who is found only later; tcp:::state-change and tcp:::send have the socket";
inline string __without_tcps_addr = __no_receiver;
inline string __without_tcps_state = __no_receiver;
inline string __without_tcps_suna = __no_receiver;
inline string __without_tcps_snxt = __no_receiver;
inline string __without_tcps_rack = __no_receiver;
inline string __without_tcps_rnxt = __no_receiver;
inline string __without_tcps_swnd = __no_receiver;
inline string __without_tcps_snd_ws = __no_receiver;
inline string __without_tcps_rwnd = __no_receiver;
inline string __without_tcps_rcv_ws = __no_receiver;
inline string __without_tcps_cwnd = __no_receiver;
inline string __without_tcps_cwnd_ssthresh = __no_receiver;
inline string __without_tcps_sack_fack = __no_receiver;
inline string __without_tcps_rto = __no_receiver;
inline string __without_tcps_mss = __no_receiver;
inline string __without_tcps_rtt = __no_receiver;
inline string __without_tcps_rtt_sd = __no_receiver;
inline string __without_udps_addr = "it is the socket's, and a packet does not tell it; args[1]->cs_addr is there when it is sent";
translator udpsinfo_t < struct __ip_sent *P > {
	udps_lport = ntohs(__udp_of[(struct __ip *)P]->source);
	udps_rport = ntohs(__udp_of[(struct __ip *)P]->dest);
	udps_laddr = __source_of[(struct __ip *)P];
	udps_raddr = __destination_of[(struct __ip *)P];
};
translator udpsinfo_t < struct __ip_received *P > {
	udps_lport = ntohs(__udp_of[(struct __ip *)P]->dest);
	udps_rport = ntohs(__udp_of[(struct __ip *)P]->source);
	udps_laddr = __destination_of[(struct __ip *)P];
	udps_raddr = __source_of[(struct __ip *)P];
};
