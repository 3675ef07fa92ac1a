#!/usr/bin/env -S tally trace -s
/* The kernel profiled by the cycles that it uses. */
cpc:::PAPI_tot_cyc-kernel-10000000
{
	@[func(arg0)] = count();
}
