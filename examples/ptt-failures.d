#!/usr/bin/env -S tally trace -s
/*
 * What was answered with an error?  Each completion that is not "successful": when, who had asked, who refused,
 * with which tag.  What the request was is in `tally report`, which puts both together.
 *
 * On a trace:  tally trace -s examples/ptt-failures.d --on ./trace.perf.data
 */
#pragma D option quiet

ptt:::cpl
/args[0]->status != 0/
{
	printf("%12d  %s answered by %02x:%02x.%d with %s, tag %d\n", args[0]->time, args[0]->requester_text,
	    args[0]->completer >> 8, args[0]->completer >> 3 & 31, args[0]->completer & 7, args[0]->statusname,
	    args[0]->tag);
	@[args[0]->statusname] = count();
	failed++;
}

END
/!failed/
{
	printf("no completion has an error\n");
}
