#!/usr/bin/env -S tally trace -s
/*
 * Who wastes the link with small writes?  Writes of less than 64 bytes, by requester, and how many bytes of header
 * come with a hundred bytes of payload, on average.
 *
 * On a trace:  tally trace -s examples/ptt-small-writes.d --on ./trace.perf.data
 */
#pragma D option quiet

ptt:::p
/args[0]->bytes > 0 && args[0]->bytes < 64/
{
	@writes[args[0]->requester_text] = count();
	@payload[args[0]->requester_text] = sum(args[0]->bytes);
	@header[args[0]->requester_text] = avg(args[0]->header_dw * 400 / args[0]->bytes);
}

END
{
	printf("%-10s %10s %10s %9s\n", "REQUESTER", "WRITES", "BYTES", "HEADER %");
	printa("%-10s %@10d %@10d %@9d\n", @writes, @payload, @header);
	trunc(@writes);
	trunc(@payload);
	trunc(@header);
}
