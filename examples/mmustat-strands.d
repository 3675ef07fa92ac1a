#!/usr/bin/env -S tally trace --on niagara,load=chase -s
/*
 * Which strands lose time to TLB misses?  Permille of each strand's time in which its misses were answered from
 * a TSB: of 1200 cycles in a microsecond, over two milliseconds.
 */
mmustat:::sample-2ms
/args[0]->d_ticks/
{
	@[args[0]->cpu] = sum(args[0]->d_ticks);
}

tick-2ms
{
	normalize(@, 2400);
	exit(0);
}
