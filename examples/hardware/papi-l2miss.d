#!/usr/bin/env -S tally trace -s
/* Level 2 data cache misses by function, under the generic name. */
cpc:::PAPI_l2_dcm-user-10000
/execname == "brendan"/
{
	@[ufunc(arg1)] = count();
}
