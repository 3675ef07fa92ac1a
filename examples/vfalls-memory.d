#!/usr/bin/env -S tally trace --on batoka,load=stream -s
/*
 * Is memory traffic spread over all controllers?  Reads and writes of each controller of each node,
 * by millisecond.  No memory controller counts unless an event is selected: these probes do that.
 */
vfalls:::mem_reads-1ms, vfalls:::mem_writes-1ms
{
	@[args[0]->event, args[0]->name] = sum(args[0]->delta);
}

tick-10ms
{
	exit(0);
}
