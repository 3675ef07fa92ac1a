#!/usr/bin/env -S tally trace -s
/*
 * tcp-states.d: how TCP connections go from state to state, and how long they were in each, in microseconds.
 *
 *	$ tally trace -s tcp-states.d -c 'bash -c "(: </dev/tcp/127.0.0.1/1) 2>/dev/null || true"'
 *	LOCAL                  REMOTE                 FROM         TO           MICROSECONDS
 *	...
 *	      127.0.0.1:0            127.0.0.1:1      closed       syn-sent     0
 *	...
 *	      127.0.0.1:43590        127.0.0.1:1      syn-sent     closed       74
 *	...
 *
 * The command gives the time in which it looks; it tells of all connections of this machine.
 */
#pragma D option quiet

uint64_t since[uint64_t];

inline string state_name[int s] = s == TCP_STATE_CLOSED ? "closed" : s == TCP_STATE_LISTEN ? "listen" :
    s == TCP_STATE_SYN_SENT ? "syn-sent" : s == TCP_STATE_SYN_RECEIVED ? "syn-received" :
    s == TCP_STATE_ESTABLISHED ? "established" : s == TCP_STATE_CLOSE_WAIT ? "close-wait" :
    s == TCP_STATE_FIN_WAIT_1 ? "fin-wait-1" : s == TCP_STATE_CLOSING ? "closing" :
    s == TCP_STATE_LAST_ACK ? "last-ack" : s == TCP_STATE_FIN_WAIT_2 ? "fin-wait-2" : "time-wait";

BEGIN
{
	printf("%-22s %-22s %-12s %-12s %s\n", "LOCAL", "REMOTE", "FROM", "TO", "MICROSECONDS");
}

tcp:::state-change
{
	printf("%15s:%-6d %15s:%-6d %-12s %-12s %d\n", args[3]->tcps_laddr, args[3]->tcps_lport, args[3]->tcps_raddr,
	    args[3]->tcps_rport, state_name[args[5]->tcps_state], state_name[args[3]->tcps_state],
	    since[args[1]->cs_cid] ? (timestamp - since[args[1]->cs_cid]) / 1000 : 0);
	since[args[1]->cs_cid] = args[3]->tcps_state == TCP_STATE_CLOSED ? 0 : timestamp;
}
