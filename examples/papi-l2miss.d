#!/usr/bin/env -S tally trace -s
/*
 * The same question as brendan-l2miss.d under a generic name, which means the
 * same on every machine.  "minor_faults" is one of the kernel's own generic
 * names; hardware/papi-l2miss.d has the generic name for level 2 cache misses.
 */
#pragma D option dcpc_min_overflow=500

cpc:::minor_faults-user-503
/execname == "brendan"/
{
	@[ufunc(arg1)] = count();
}
