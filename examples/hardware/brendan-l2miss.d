#!/usr/bin/env -S tally trace -s
/*
 * Level 2 cache misses by function, on an AMD family 10h processor, whose own
 * name for the event this is: the mask 0x7 selects misses of instruction
 * fetches, data fetches and page table walks.
 */
cpc:::L2_CACHE_MISS-user-0x7-10000
/execname == "brendan"/
{
	@[ufunc(arg1)] = count();
}
