#!/usr/bin/env -S tally trace --on power -s
/*
 * Who gets how much processor, and who lives beyond its entitlement?  A line a second
 * for each partition: hundredths of a processor that it consumed, of that what was over its
 * entitlement, and what it gave away.
 *
 * A timebase tick of POWER is 1/512000000 s, so a processor has 5120000 in a hundredth of a second.
 */
#pragma D option quiet

BEGIN
{
	printf("%4s %9s %11s %9s %8s %8s\n", "SEC", "PARTITION", "CONSUMED", "BEYOND", "DONATED", "IDLE");
}

gpci:::entitled-1s
{
	printf("%4d %9d %11d %9d %8d %8d\n", args[0]->ns / 1000000000, args[0]->partition,
	    (args[0]->d_capped + args[0]->d_uncapped) / 5120000, args[0]->d_uncapped / 5120000,
	    args[0]->d_donated / 5120000, args[0]->d_idle / 5120000);
}

tick-3s
{
	exit(0);
}
