#!/usr/bin/env -S tally trace -s
/* The same question to a hardware counter that almost every machine has: who uses the cycles? */
cpc:::PAPI_tot_cyc-user-100000
/execname == "brendan"/
{
	@[ufunc(arg1)] = count();
}
