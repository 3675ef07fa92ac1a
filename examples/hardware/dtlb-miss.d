#!/usr/bin/env -S tally trace -s
/* Every 10000th data TLB miss in user mode: which programs cause them? */
cpc:::PAPI_tlb_dm-user-10000
{
	@[execname] = count();
}
