#!/usr/bin/env -S tally trace -s
/*
 * Page faults for a service: tally serve -s faults-served.d, then http://127.0.0.1:7347/metrics has
 * tally_faults_total{program="faults-served",execname="..."}, a thousand faults a firing.
 */
#pragma D option dcpc_min_overflow=1000

/* Page faults in user code, in thousands, by program. */
cpc:::page_faults-user-1000
{
	@faults[execname] = count();
}

/* The places of faulting addresses in their pages, in thousands. */
cpc:::page_faults-user-1000
{
	@fault_addresses = lquantize(arg2 & 4095, 0, 4096, 512);
}
