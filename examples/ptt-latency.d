#!/usr/bin/env -S tally trace -s
/*
 * Which requester waits longest for its reads, and how long?  Ticks from a request to its last completion.
 *
 * On a trace:  tally trace -s examples/ptt-latency.d --on ./trace.perf.data
 */
#pragma D option quiet

ptt:::transaction
{
	@n[args[0]->requester_text] = count();
	@mean[args[0]->requester_text] = avg(args[1]->latency);
	@most[args[0]->requester_text] = max(args[1]->latency);
	@ticks["ticks"] = quantize(args[1]->latency);
}

END
{
	printf("%-10s %10s %8s %8s\n", "REQUESTER", "ANSWERED", "MEAN", "MOST");
	printa("%-10s %@10d %@8d %@8d\n", @n, @mean, @most);
	printa(@ticks);
	trunc(@n);
	trunc(@mean);
	trunc(@most);
	trunc(@ticks);
}
