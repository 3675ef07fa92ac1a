#!/usr/bin/env -S tally trace --on niagara,load=mixed -s
/*
 * What do TLB misses cost, and would larger pages help?  TSB hits and the ticks that they took, by page size,
 * side and context (0 is the kernel's).
 */
#pragma D option quiet

mmustat:::sample-2ms
/args[0]->d_hits/
{
	@hits[args[0]->size, args[0]->side, args[0]->context] = sum(args[0]->d_hits);
	@ticks[args[0]->size, args[0]->side, args[0]->context] = sum(args[0]->d_ticks);
}

tick-10ms
{
	printf("%-6s %-4s %-8s %10s %12s\n", "PAGE", "SIDE", "CONTEXT", "HITS", "TICKS");
	printa("%-6s %-4s %-8s %@10d %@12d\n", @hits, @ticks);
	trunc(@hits);
	trunc(@ticks);
	exit(0);
}
