#!/usr/bin/env -S tally trace -qs
/*
 * connections.d: TCP connections, from where to where, and how long they lasted.
 *
 *	tally trace -s connections.d -c COMMAND
 *
 * A connection is established at both ends, so one within this machine has two lines.
 */
#pragma D option quiet

BEGIN
{
	printf("%-22s %-22s %12s\n", "LOCAL", "REMOTE", "MICROSECONDS");
}

tcp:::connect-established, tcp:::accept-established
{
	since[args[1]->cs_cid] = timestamp;
}

tcp:::state-change
/since[args[1]->cs_cid] && args[3]->tcps_state == TCP_STATE_CLOSED/
{
	printf("%15s:%-6d %15s:%-6d %12d\n", args[3]->tcps_laddr, args[3]->tcps_lport, args[3]->tcps_raddr,
	    args[3]->tcps_rport, (timestamp - since[args[1]->cs_cid]) / 1000);
	since[args[1]->cs_cid] = 0;
}
